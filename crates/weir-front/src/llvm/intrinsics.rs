//! The intrinsics of LLVM, inline assembly, and copies of memory.

use std::collections::BTreeSet;

use weir_llvm::{Binary, Call, Predicate};
use weir_model::program::{BinOp, Code, Expr, Order, Stmt, StmtKind};

use super::Reader;
use super::explore::{State, code_of};
use super::number::{self, binary, choose, compare, not, number, within};
use super::objects::{ObjectId, Val};

/// The most pieces in which memory is copied.
const MAX_PIECES: usize = 4096;

impl<'m> Reader<'m> {
    /// The type of the result, from the last part of the name: its bits.
    fn width(&self, call: &Call) -> u32 {
        call.arguments.first().map_or(64, |(ty, _)| self.bits(*ty))
    }

    pub(super) fn intrinsic(
        &mut self,
        state: &mut State,
        name: &str,
        call: &'m Call,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let mut arguments = Vec::new();
        for (ty, value) in &call.arguments {
            arguments
                .push(self.value(state, *ty, value, out)?.first().copied().unwrap_or(Val::Undef));
        }
        for value in &arguments {
            self.must_be_set(*value, out);
        }
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Undef);
        let bits = self.width(call);
        let part = |i: usize| name.split('.').nth(i).unwrap_or("");
        let (a, b) = (argument(0), argument(1));
        let (x, y) = (code_of(a), code_of(b));
        let values: Vec<Val> = match part(1) {
            "memcpy" | "memmove" => {
                let goes_on = match argument(2) {
                    Val::Known(size) => self.copy(state, a, b, u64::try_from(size).ok()?, out)?,
                    Val::Reg(size) => self.copy_some(state, a, b, Expr::Atom(size), out)?,
                    Val::Undef => return self.fail("how much is copied was never set", out),
                };
                if !goes_on {
                    return Some(false);
                }
                vec![]
            }
            "memset" => {
                // An array of values that are set later is filled with what is nothing yet.
                if let Val::Reg(_) = b {
                    self.refuse("to what memory is set here is only known when the program runs");
                    return None;
                }
                let goes_on = match argument(2) {
                    Val::Known(size) => {
                        self.set_bytes(state, a, b, u64::try_from(size).ok()?, out)?
                    }
                    Val::Reg(size) => self.set_some(state, a, b, Expr::Atom(size), out)?,
                    Val::Undef => return self.fail("how much is set was never set", out),
                };
                if !goes_on {
                    return Some(false);
                }
                vec![]
            }
            "expect" | "launder" | "strip" | "ptr" | "ssa" | "annotation" => vec![a],
            "threadlocal" => vec![a],
            "assume" | "prefetch" | "stacksave" | "stackrestore" | "donothing" | "sideeffect"
            | "pseudoprobe" | "x86" | "experimental" | "var" => {
                if part(1) == "x86" && !name.contains("pause") {
                    self.refuse(format!("`{name}` is not read"));
                    return None;
                }
                if result.is_some() { vec![Val::Known(0)] } else { vec![] }
            }
            "is" => vec![Val::Known(0)],
            "objectsize" => vec![Val::Known(if b == Val::Known(1) { 0 } else { -1 })],
            "trap" | "ubsantrap" | "debugtrap" => return self.fail("the program is aborted", out),
            "sadd" | "uadd" | "ssub" | "usub" | "smul" | "umul" => {
                if a == Val::Undef || b == Val::Undef {
                    vec![Val::Undef, Val::Undef]
                } else {
                    return self.with_overflow(
                        state,
                        (part(1), part(2)),
                        bits,
                        (a, b),
                        result?,
                        out,
                    );
                }
            }
            "smax" | "smin" | "umax" | "umin" | "abs" | "fshl" | "fshr" | "ctpop" | "ctlz"
            | "cttz" | "bswap" | "bitreverse" | "scmp" | "ucmp"
                if arguments.contains(&Val::Undef) =>
            {
                vec![Val::Undef]
            }
            "smax" | "smin" | "umax" | "umin" => {
                let predicate = match part(1) {
                    "smax" => Predicate::Sgt,
                    "smin" => Predicate::Slt,
                    "umax" => Predicate::Ugt,
                    _ => Predicate::Ult,
                };
                let code = choose(compare(predicate, bits, x.clone(), y.clone()), x, y);
                vec![self.made(state, code, result, out)?]
            }
            "scmp" | "ucmp" => {
                let (more, less) = match part(1) {
                    "scmp" => (Predicate::Sgt, Predicate::Slt),
                    _ => (Predicate::Ugt, Predicate::Ult),
                };
                let more = compare(more, bits, x.clone(), y.clone());
                let code = binary(BinOp::Sub, more, compare(less, bits, x, y));
                vec![self.made(state, code, result, out)?]
            }
            "abs" => {
                let negative = binary(BinOp::Lt, x.clone(), number(0));
                let code = number::wrap(
                    bits,
                    choose(negative, binary(BinOp::Sub, number(0), x.clone()), x),
                );
                vec![self.made(state, code, result, out)?]
            }
            "ctpop" | "ctlz" | "cttz" | "bswap" | "bitreverse" | "fshl" | "fshr" => {
                vec![self.bit_trick(state, (part(1), bits), &arguments, result, out)?]
            }
            _ => {
                self.refuse(format!("`{name}` is not read"));
                return None;
            }
        };
        if let Some(result) = result {
            state.top().values.insert(result, values);
        }
        state.top().at += 1;
        Some(true)
    }

    /// Sums and products that say whether they overflow, or that stop at the end of the range.
    fn with_overflow(
        &mut self,
        state: &mut State,
        (what, how): (&str, &str),
        bits: u32,
        (a, b): (Val, Val),
        result: u32,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let is_known = matches!((a, b), (Val::Known(_), Val::Known(_)));
        if bits > 64 && !is_known || bits > 126 {
            self.refuse(format!("numbers of {bits} bits are not read"));
            return None;
        }
        let op = match &what[1..] {
            "add" => Binary::Add,
            "sub" => Binary::Sub,
            _ => Binary::Mul,
        };
        let is_signed = what.starts_with('s');
        let operand =
            |v: Val| if is_signed { code_of(v) } else { number::unsigned(bits, code_of(v)) };
        let range = if is_signed { number::range(bits) } else { (0, (1 << bits) - 1) };
        let exact = number::exact(op, bits, operand(a), operand(b));
        let exact = self.in_register(exact, out);
        let values = if how == "sat" {
            let low = binary(BinOp::Max, exact, number(range.0));
            let code = number::wrap(bits, binary(BinOp::Min, low, number(range.1)));
            vec![self.made(state, code, Some(result), out)?]
        } else {
            let mut held = self.addresses_of(a);
            held.add(&self.addresses_of(b));
            let held = self.facts.blurred(&held.set());
            let wrapped = number::wrap(bits, exact.clone());
            let value = self.made(state, wrapped, Some(result), out)?;
            self.note(value, &held);
            state.top().values.insert(result, vec![value]);
            let flag = match not(within(exact, range)) {
                Expr::Const(n) => Val::Known(n),
                code => {
                    let context = state.top().context;
                    let register = self
                        .register(super::Home::Local(context, result, 1, 0), || "overflow".into());
                    self.emit(out, weir_model::program::StmtKind::Assign(register, code));
                    Val::Reg(register)
                }
            };
            vec![value, flag]
        };
        state.top().values.insert(result, values);
        state.top().at += 1;
        Some(true)
    }

    /// Operations on bits, of known numbers.
    fn bit_trick(
        &mut self,
        state: &mut State,
        (what, bits): (&str, u32),
        arguments: &[Val],
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let mut known = Vec::new();
        for argument in arguments {
            match argument {
                Val::Known(n) if bits <= 64 => known.push(*n as u64 & (u64::MAX >> (64 - bits))),
                _ => {
                    return self.count_bits(
                        state,
                        what,
                        bits,
                        arguments.first().copied()?,
                        result,
                        out,
                    );
                }
            }
        }
        let n = *known.first()?;
        let value = match what {
            "ctpop" => u64::from(n.count_ones()),
            "ctlz" => u64::from(n.leading_zeros() - (64 - bits)),
            "cttz" => u64::from(n.trailing_zeros().min(bits)),
            "bswap" => n.swap_bytes() >> (64 - bits),
            "bitreverse" => n.reverse_bits() >> (64 - bits),
            _ => {
                let by = (*known.get(2)? % u64::from(bits)) as u32;
                let both = (u128::from(n) << bits) | u128::from(*known.get(1)?);
                match what {
                    "fshl" => ((both << by) >> bits) as u64,
                    _ => (both >> by) as u64,
                }
            }
        };
        Some(Val::Known(weir_llvm::wrap(i128::from(value), bits)))
    }

    /// Counts bits of a number that only the run knows: a sum over all places.
    fn count_bits(
        &mut self,
        state: &mut State,
        what: &str,
        bits: u32,
        value: Val,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let unsigned = number::unsigned(bits, code_of(value));
        let unsigned = self.in_register(unsigned, out);
        let at = |place: u32| {
            let moved = |by: u32| binary(BinOp::Shr, unsigned.clone(), number(i128::from(by)));
            let low = |count: u32| {
                let mask = number((1 << count) - 1);
                binary(BinOp::BitAnd, unsigned.clone(), mask)
            };
            Some(match what {
                "ctpop" => binary(BinOp::BitAnd, moved(place), number(1)),
                "ctlz" => binary(BinOp::Eq, moved(place), number(0)),
                "cttz" => binary(BinOp::Eq, low(place + 1), number(0)),
                _ => return None,
            })
        };
        if bits > 64 || at(0).is_none() {
            self.refuse(format!("`llvm.{what}` of a number that only the run knows is not read"));
            return None;
        }
        let mut sum = number(0);
        for place in 0..bits {
            sum = binary(BinOp::Add, sum, at(place)?);
        }
        self.made(state, sum, result, out)
    }

    /// `memcmp`: below 0, 0, or above 0.
    pub(super) fn compare_bytes(
        &mut self,
        state: &mut State,
        arguments: &[Val],
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        let [a, b, size] = *arguments else { return None };
        let size = match size {
            Val::Known(size) => size,
            Val::Reg(count) => return self.compare_some(state, [a, b], count, result, out),
            Val::Undef => {
                self.fail("how much memory is compared was never set", out);
                return Some(None);
            }
        };
        let mut parts = Vec::new();
        for (at, length) in self.pieces(state, &[a, b], u64::try_from(size).ok()?)? {
            let Some(both) = self.both(state, [a, b], (at, length), out) else {
                return Some(None);
            };
            parts.push(both);
        }
        let code = parts.into_iter().rev().fold(number(0), |rest, both| ordered(both, rest));
        self.given(state, code, result, out)
    }

    /// Reads bytes at two places, as numbers of which the first byte counts most. Nothing if this way has ended.
    fn both(
        &mut self,
        state: &mut State,
        pointers: [Val; 2],
        (at, length): (u64, u64),
        out: &mut Vec<Stmt>,
    ) -> Option<[Code; 2]> {
        let mut one = |pointer| {
            let pointer = self.moved(pointer, at, out);
            let into = self.temporary();
            let value = self.read_scalar(state, pointer, length, Order::Plain, into, out)?;
            self.must_be_set(value, out);
            let code = (0..length).fold(number(0), |sum, byte| {
                let moved = binary(BinOp::Shr, code_of(value), number(i128::from(8 * byte)));
                let one = binary(BinOp::BitAnd, moved, number(255));
                let place = number(i128::from(8 * (length - 1 - byte)));
                binary(BinOp::BitOr, sum, binary(BinOp::Shl, one, place))
            });
            Some(self.in_register(code, out))
        };
        let [a, b] = pointers;
        Some([one(a)?, one(b)?])
    }

    /// `memcmp` of as many bytes as a register says: piece by piece, until two differ.
    fn compare_some(
        &mut self,
        state: &mut State,
        pointers: [Val; 2],
        count: weir_model::ids::RegId,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        let count = Expr::Atom(count);
        let (pieces, most) = self.some_pieces(state, &pointers);
        self.check_pieces(&count, (&pieces, most), out);
        let order = self.temporary();
        self.emit(out, StmtKind::Assign(order, number(0)));
        for (at, length) in pieces {
            let mut block = Vec::new();
            if let Some(both) = self.both(state, pointers, (at, length), &mut block) {
                let code = ordered(both, number(0));
                self.emit(&mut block, StmtKind::Assign(order, code));
            }
            let is_there = binary(BinOp::Ge, count.clone(), number(i128::from(at + length)));
            let is_open = binary(BinOp::Eq, Expr::Atom(order), number(0));
            let test = binary(BinOp::And, is_there, is_open);
            self.emit(out, StmtKind::If(test, block, Vec::new()));
        }
        self.given(state, Expr::Atom(order), result, out)
    }

    /// In which pieces memory is copied or set: those in which it is accessed elsewhere.
    fn pieces(&mut self, state: &State, pointers: &[Val], size: u64) -> Option<Vec<(u64, u64)>> {
        let mut cuts = BTreeSet::from([0, size]);
        for pointer in pointers {
            let addresses: Vec<i128> = match pointer {
                Val::Known(address) => vec![*address],
                Val::Reg(register) => self.targets(*register, size).addresses,
                Val::Undef => vec![],
            };
            for address in addresses {
                let Some((id, at)) = self.inside(address, size) else { continue };
                let accesses = self.facts.accesses_of(id);
                let mut add = |start: u64, length: u64| {
                    cuts.extend(
                        [start, start + length]
                            .into_iter()
                            .filter(|c| (at..at + size).contains(c))
                            .map(|c| c - at),
                    );
                };
                accesses.into_iter().for_each(|(start, length)| add(start, length));
                let known = [state.own.get(&id), self.memory.get(&id)];
                for bytes in known.into_iter().flatten() {
                    bytes
                        .over(at, size)
                        .into_iter()
                        .for_each(|(start, length, _)| add(start, length));
                }
            }
        }
        let cuts: Vec<u64> = cuts.into_iter().collect();
        let mut pieces = Vec::new();
        for pair in cuts.windows(2) {
            let (mut at, end) = (pair[0], pair[1]);
            while at < end {
                let fits = |s: &u64| at.is_multiple_of(*s) && at + s <= end;
                let length = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
                pieces.push((at, length));
                at += length;
                if pieces.len() > MAX_PIECES {
                    self.refuse("more memory is copied or set at once than is read");
                    return None;
                }
            }
        }
        Some(pieces)
    }

    /// Copies memory. Returns whether execution goes on.
    pub(super) fn copy(
        &mut self,
        state: &mut State,
        to: Val,
        from: Val,
        size: u64,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let pieces = self.pieces(state, &[to, from], size)?;
        let mut values = Vec::new();
        for &(at, length) in &pieces {
            let pointer = self.moved(from, at, out);
            // What it holds may stay in the copy, so the register belongs to this place.
            let (context, block, number_of) = {
                let top = state.top();
                (top.context, top.block, top.at as u32)
            };
            let mut alternative = 0;
            let into = loop {
                let home = super::Home::Local(
                    context,
                    u32::MAX - 1 - block,
                    number_of,
                    (at as u32) << 4 | alternative,
                );
                let register = self.register(home, || "copy".into());
                if !state.uses_register(register) || alternative > 14 {
                    break register;
                }
                alternative += 1;
            };
            let Some(value) = self.read_scalar(state, pointer, length, Order::Plain, into, out)
            else {
                return Some(false);
            };
            values.push(value);
        }
        for (&(at, length), value) in pieces.iter().zip(values) {
            let pointer = self.moved(to, at, out);
            if self.write_scalar(state, pointer, length, value, Order::Plain, out).is_none() {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Sets memory to a byte, or to what was never set. Returns whether execution goes on.
    pub(super) fn set_bytes(
        &mut self,
        state: &mut State,
        to: Val,
        byte: Val,
        size: u64,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        for (at, length) in self.pieces(state, &[to], size)? {
            let pointer = self.moved(to, at, out);
            let value = repeated(byte, length);
            if self.write_scalar(state, pointer, length, value, Order::Plain, out).is_none() {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Sets as many bytes as code says. Returns whether execution goes on.
    fn set_some(
        &mut self,
        state: &mut State,
        to: Val,
        byte: Val,
        count: Code,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let (pieces, most) = self.some_pieces(state, &[to]);
        self.check_pieces(&count, (&pieces, most), out);
        let mut some = Vec::new();
        self.each_target(to, &mut some, &mut |this, address, out| {
            let Some((id, from)) = this.some_bytes(address, &count, out) else { return };
            for &(at, length) in &pieces {
                let mut block = Vec::new();
                let value = repeated(byte, length);
                this.write(None, (id, from + at, length), value, Order::Plain, &mut block);
                this.if_within(&count, (id, from + at, length), at, block, out);
            }
        });
        self.emit(out, StmtKind::If(count, some, Vec::new()));
        Some(true)
    }

    /// Copies as many bytes as code says. Returns whether execution goes on.
    pub(super) fn copy_some(
        &mut self,
        state: &mut State,
        to: Val,
        from: Val,
        count: Code,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let count = self.in_register(count, out);
        let (pieces, most) = self.some_pieces(state, &[to, from]);
        self.check_pieces(&count, (&pieces, most), out);
        let registers: Vec<_> = pieces.iter().map(|_| self.temporary()).collect();
        let mut some = Vec::new();
        // All is read before anything is written: what is copied may overlap.
        self.each_target(from, &mut some, &mut |this, address, out| {
            let Some((id, from)) = this.some_bytes(address, &count, out) else { return };
            for (&(at, length), &into) in pieces.iter().zip(&registers) {
                let (mut block, cell) = (Vec::new(), (id, from + at, length));
                if let Some(value) = this.read(None, cell, Order::Plain, into, &mut block)
                    && value != Val::Reg(into)
                {
                    let held = this.addresses_of(value);
                    this.may_hold(into, &held);
                    let code = this.copied(value);
                    this.emit(&mut block, StmtKind::Assign(into, code));
                }
                this.if_within(&count, cell, at, block, out);
            }
        });
        self.each_target(to, &mut some, &mut |this, address, out| {
            let Some((id, to)) = this.some_bytes(address, &count, out) else { return };
            for (&(at, length), &value) in pieces.iter().zip(&registers) {
                let (mut block, cell) = (Vec::new(), (id, to + at, length));
                this.write(None, cell, Val::Reg(value), Order::Plain, &mut block);
                this.if_within(&count, cell, at, block, out);
            }
        });
        self.emit(out, StmtKind::If(count, some, Vec::new()));
        Some(true)
    }

    /// Does something with each address that a pointer may be.
    fn each_target(
        &mut self,
        pointer: Val,
        out: &mut Vec<Stmt>,
        leaf: &mut dyn FnMut(&mut Self, i128, &mut Vec<Stmt>),
    ) {
        match pointer {
            Val::Known(address) => leaf(self, address, out),
            Val::Undef => drop(self.fail("a pointer that was never set is followed", out)),
            Val::Reg(register) => {
                let targets = self.targets(register, 0);
                self.dispatch(register, &targets, out, leaf);
            }
        }
        self.is_checked = false;
    }

    /// The object of which as many bytes as code says are accessed from an address on, once it is known that it has them.
    fn some_bytes(
        &mut self,
        address: i128,
        count: &Code,
        out: &mut Vec<Stmt>,
    ) -> Option<(ObjectId, u64)> {
        let Some((id, at)) = self.inside(address, 0).filter(|_| self.reached(address)) else {
            let why = self.why_not(address);
            self.fail(&why, out);
            return None;
        };
        self.is_checked = false;
        self.check_freed(id, out);
        let end = binary(BinOp::Add, count.clone(), number(i128::from(at)));
        self.check_size(id, end, out);
        self.is_checked = true;
        Some((id, at))
    }

    /// Does something with bytes that are `at` bytes behind the first, if there are so many.
    fn if_within(
        &mut self,
        count: &Code,
        (id, start, length): super::Cell,
        at: u64,
        block: Vec<Stmt>,
        out: &mut Vec<Stmt>,
    ) {
        if start + length <= self.facts.get(id).size {
            let is_within = binary(BinOp::Ge, count.clone(), number(i128::from(at + length)));
            self.emit(out, StmtKind::If(is_within, block, Vec::new()));
        }
    }

    /// Inline assembly, by its text.
    pub(super) fn assembly(
        &mut self,
        state: &mut State,
        text: &str,
        constraints: &str,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let words: Vec<&str> =
            text.split([';', '\n', '\t', ' ']).filter(|word| !word.is_empty()).collect();
        match words[..] {
            // Only the compiler must not move accesses, and it has not.
            [] if result.is_none() => {}
            ["pause" | "nop"] | ["rep", "nop"] | ["rep", "ret"] | ["yield"] if result.is_none() => {
            }
            ["mfence"] | ["dmb", "ish"] => self.fence(Order::SeqCst, out),
            ["lock", "addl", ..]
                if constraints.contains("memory") && result.is_none() && text.contains("$0,") =>
            {
                self.fence(Order::SeqCst, out);
            }
            ["lfence"] => self.fence(Order::Acquire, out),
            ["sfence"] => self.fence(Order::Release, out),
            _ => {
                self.refuse(format!("the inline assembly `{}` is not read", words.join(" ")));
                return None;
            }
        }
        state.top().at += 1;
        Some(true)
    }
}

/// Which of two numbers is less, or what holds if they are equal.
fn ordered([a, b]: [Code; 2], rest: Code) -> Code {
    let is_less = binary(BinOp::Lt, a.clone(), b.clone());
    let is_more = binary(BinOp::Gt, a, b);
    choose(is_less, number(-1), choose(is_more, number(1), rest))
}

/// A number of so many bytes that are all the same.
fn repeated(byte: Val, length: u64) -> Val {
    let Val::Known(byte) = byte else { return byte };
    let value = (0..length).fold(0, |all, i| all | (byte & 255) << (8 * i));
    Val::Known(weir_llvm::wrap(value, length as u32 * 8))
}
