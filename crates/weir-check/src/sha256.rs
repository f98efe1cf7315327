//! SHA-256, for files that are divided among machines: what one machine has checked is what the
//! others have.

use std::fmt::Write as _;
use std::hash::Hasher;

use sha2::Digest;
use weir_model::program::Program;

/// A message that is being hashed.
#[derive(Clone, Debug, Default)]
pub struct Sha256 {
    hash: sha2::Sha256,
    /// The number of bytes so far.
    len: u64,
}

impl Sha256 {
    /// The digest of some bytes, in 64 hexadecimal digits.
    pub fn of(bytes: &[u8]) -> String {
        let mut hash = Self::default();
        hash.add(bytes);
        hash.digits()
    }

    /// The digest of what tells a program from others.
    pub fn of_program(program: &Program) -> String {
        let mut hash = Self::default();
        program.hash_meaning(&mut hash);
        hash.digits()
    }

    /// The number of bytes so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there were no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds bytes to the message.
    pub fn add(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// The digest of the message, in 64 hexadecimal digits.
    pub fn digits(self) -> String {
        self.hash.finalize().iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }
}

impl Hasher for Sha256 {
    /// The hash of 64 bits is not used: only the digest is.
    fn finish(&self) -> u64 {
        self.len
    }

    fn write(&mut self, bytes: &[u8]) {
        self.add(bytes);
    }

    // By default numbers are hashed as the machine stores them.

    fn write_u16(&mut self, number: u16) {
        self.add(&number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(&number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(&number.to_le_bytes());
    }

    fn write_u128(&mut self, number: u128) {
        self.add(&number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::Sha256;

    #[test]
    fn the_examples_of_the_standard() {
        for (text, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(Sha256::of(text.as_bytes()), digest);
        }
        let million = vec![b'a'; 1_000_000];
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
        assert_eq!(Sha256::of(&million), digest);
        // In pieces of every size.
        for size in 1..200 {
            let mut hash = Sha256::default();
            million[..5000].chunks(size).for_each(|piece| hash.add(piece));
            assert_eq!(hash.digits(), Sha256::of(&million[..5000]));
        }
    }
}
