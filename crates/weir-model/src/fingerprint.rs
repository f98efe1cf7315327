//! Fingerprints of programs: numbers of 128 bits.
//!
//! Evidence contains the fingerprint of its program, so that it is not mistaken for
//! evidence about another program with the same names. The fingerprint proves nothing: a
//! checker checks the evidence against the program in any case.

use std::hash::{Hash, Hasher};

use crate::program::Program;

/// The FNV-1a hash of 128 bits. It is the same on every machine, and needs no key.
#[derive(Clone, Debug)]
pub struct Fingerprint(u128);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fingerprint {
    /// The number of what was hashed, in 32 hexadecimal digits.
    pub fn digits(&self) -> String {
        format!("{:032x}", self.0)
    }

    /// The fingerprint of a text.
    pub fn of_text(text: &str) -> String {
        let mut hasher = Self::default();
        hasher.write(text.as_bytes());
        hasher.digits()
    }
}

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0 as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u128::from(*byte);
            self.0 = self.0.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    // By default numbers are hashed as the machine stores them.

    fn write_u16(&mut self, number: u16) {
        self.write(&number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.write(&number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

impl Program {
    /// What tells this program from others: everything but its name, which is often
    /// that of its file, and the places of things in the text. So a file may be renamed
    /// and its comments may change.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Fingerprint::default();
        self.hash_meaning(&mut hasher);
        hasher.digits()
    }

    /// Hashes what tells this program from others.
    pub fn hash_meaning(&self, hasher: &mut impl Hasher) {
        let Self {
            name: _,
            vars,
            enums,
            symbols,
            processes,
            object,
            properties,
            live,
            games,
            filter,
            observed,
            bounds,
            // By their places, which do not count.
            messages: _,
            // What reports leave out does not count either.
            bookkeeping: _,
        } = self;
        (vars, enums, symbols, processes, object).hash(hasher);
        (properties, live, games, filter, observed, bounds).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{SpanId, VarId};
    use crate::program::{Decl, Expr, Place, Process, Stmt, StmtKind};

    #[test]
    fn the_hash_is_fnv() {
        // From the test vectors of the authors of FNV.
        assert_eq!(Fingerprint::of_text(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(Fingerprint::of_text("a"), "d228cb696f1a8caf78912b704e4a8964");
    }

    fn program(value: i128, span: u32) -> Program {
        let store = StmtKind::Store(Place::var(VarId(0)), Expr::Const(value));
        Program {
            vars: vec![Decl::scalar("x", 0, SpanId(span))],
            processes: vec![Process {
                name: "p".into(),
                body: vec![Stmt::new(store, SpanId(span))],
                ..Process::default()
            }],
            ..Program::default()
        }
    }

    #[test]
    fn names_of_files_and_places_in_them_do_not_count() {
        let renamed = Program { name: "other".into(), ..program(1, 7) };
        assert_eq!(program(1, 0).fingerprint(), renamed.fingerprint());
        assert_ne!(program(1, 0).fingerprint(), program(2, 0).fingerprint());
    }
}
