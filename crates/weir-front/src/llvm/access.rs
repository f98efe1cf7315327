//! Reads and writes.
//!
//! What only this thread can reach now is in its state, and is read from there. If another thread may reach it
//! later, each write is a statement as well. What another thread may reach now is read and written by
//! statements, scalar by scalar: a scalar is a range of bytes that no access divides. An access of several scalars is
//! several statements, unless it is atomic: then it is refused.

use weir_llvm::TypeId;
use weir_model::ids::RegId;
use weir_model::program::{BinOp, Expr, Order, Stmt, StmtKind};

use super::Reader;
use super::explore::{State, code_of};
use super::memory::{FREED, NULL, OUTSIDE, UNKNOWN};
use super::number::{self, UNSET, binary, number};
use super::objects::{ObjectId, Val};
use super::pointer::Targets;

/// Where a scalar is read or written: type, pointer and order.
pub(super) type At = (TypeId, Val, Order);

impl Reader<'_> {
    /// Reads a scalar of an object into a register if it is not known. `own` is the state, unless the object is found by an
    /// unknown pointer.
    pub(super) fn read(
        &mut self,
        own: Option<&State>,
        (id, at, size): (ObjectId, u64, u64),
        order: Order,
        into: RegId,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        if let Some(state) = own {
            if state.dead.contains(&id) {
                self.fail(FREED, out);
                return None;
            }
            if let Some(bytes) = state.own.get(&id) {
                let bytes = bytes.clone();
                return Some(self.compose(&bytes, at, size, Some(into), out));
            }
            if self.facts.reach(id) {
                return None;
            }
            if self.facts.is_private(id) && !self.is_alone {
                self.fail("memory of a function that has returned is used", out);
                return None;
            }
        }
        let is_fixed = self.facts.get(id).is_constant
            || (!self.facts.is_written(id, at, size) && !order.acquires());
        if self.is_alone || is_fixed {
            let bytes = self.in_memory(id).clone();
            if !self.is_alone {
                self.check_alive((id, at, size), out);
            }
            return Some(self.compose(&bytes, at, size, Some(into), out));
        }
        if self.is_apart((id, at, size), out) {
            return None;
        }
        self.check_alive((id, at, size), out);
        let mut held = self.facts.read(id, at, size);
        let first = self.in_memory(id).clone();
        for (.., value) in first.over(at, size) {
            held.add(&self.addresses_of(value));
        }
        if first.is_unset(at, size) {
            held.add(&self.addresses_of(Val::Undef));
        }
        if order != Order::Plain && !self.is_loose {
            self.facts.keep_whole(id, at, size);
        }
        let cuts = self.facts.access(id, at, size, false, self.is_loose);
        if cuts.len() == 1 {
            let place = self.place(id, at, size, order, false);
            self.note_access(&place, false, out);
            self.emit(out, StmtKind::Load(into, place));
        } else {
            if order != Order::Plain {
                self.one_place((id, at, size), order, false, out)?;
            }
            let (mut code, mut is_unset) = (number(0), number(1));
            let may_be_unset = self.knows_unset && held.is_unset;
            for (start, length) in cuts {
                let part = self.temporary();
                let place = self.place(id, start, length, order, false);
                self.note_access(&place, false, out);
                self.emit(out, StmtKind::Load(part, place));
                let mut bits = Expr::Atom(part);
                if may_be_unset {
                    // What was set in part is a value whose other bits are 0.
                    self.reads_zero = true;
                    let unset = binary(BinOp::Eq, Expr::Atom(part), number(UNSET));
                    is_unset = binary(BinOp::And, is_unset, unset);
                    bits = number::set_or(bits.clone(), number(0), bits);
                }
                // A number of 128 bits has the sign of its last part.
                if size < 16 || start + length != at + size {
                    bits = number::unsigned(length as u32 * 8, bits);
                }
                let moved = binary(BinOp::Shl, bits, number(i128::from((start - at) * 8)));
                code = binary(BinOp::BitOr, code, moved);
            }
            let code = number::wrap(size as u32 * 8, code);
            let code = match may_be_unset {
                true => number::choose(is_unset, number(UNSET), code),
                false => code,
            };
            self.emit(out, StmtKind::Assign(into, code));
        }
        self.may_hold(into, &held);
        Some(Val::Reg(into))
    }

    /// Writes a scalar of an object.
    pub(super) fn write(
        &mut self,
        own: Option<&mut State>,
        (id, at, size): (ObjectId, u64, u64),
        value: Val,
        order: Order,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        if self.facts.get(id).is_constant {
            self.fail("a constant is written", out);
            return None;
        }
        let held = self.addresses_of(value);
        let is_private = self.facts.is_private(id);
        if !is_private {
            self.give_away(&held);
            self.facts.store(id, at, &held);
        }
        if self.is_alone {
            let mut bytes = self.in_memory(id).clone();
            let is_zero = value == Val::Undef && !self.knows_unset;
            let known = if is_zero { Val::Known(0) } else { value };
            self.put(id, &mut bytes, at, size, known, out);
            self.memory.insert(id, bytes);
        }
        if let Some(state) = own {
            if state.dead.contains(&id) {
                self.fail(FREED, out);
                return None;
            }
            match state.own.remove(&id) {
                Some(mut bytes) => {
                    self.put(id, &mut bytes, at, size, value, out);
                    state.own.insert(id, bytes);
                    if is_private {
                        return Some(());
                    }
                }
                None if self.facts.reach(id) => return None,
                None if is_private && !self.is_alone => {
                    self.fail("memory of a function that has returned is used", out);
                    return None;
                }
                None => self.escape(state, &held),
            }
        }
        if self.is_alone {
            return Some(());
        }
        if self.is_apart((id, at, size), out) {
            return None;
        }
        if !is_private {
            self.check_alive((id, at, size), out);
        }
        if order != Order::Plain && !self.is_loose {
            self.facts.keep_whole(id, at, size);
        }
        let cuts = self.facts.access(id, at, size, true, self.is_loose);
        if cuts.len() > 1 && order != Order::Plain {
            self.one_place((id, at, size), order, true, out)?;
        }
        let is_one = cuts.len() == 1;
        for (start, length) in cuts {
            let code = match is_one {
                true => self.copied(value),
                false if value == Val::Undef => self.copied(value),
                false => {
                    let moved =
                        binary(BinOp::Shr, code_of(value), number(i128::from((start - at) * 8)));
                    let code = number::wrap(length as u32 * 8, moved);
                    match self.may_be_unset(value) {
                        true => number::set_or(code_of(value), number(UNSET), code),
                        false => code,
                    }
                }
            };
            let place = self.place(id, start, length, order, true);
            self.note_access(&place, true, out);
            self.emit(out, StmtKind::Store(place, code));
        }
        Some(())
    }

    /// A choice among the addresses that a register may hold. To follow another one is a failure, or a limit if the pointer may
    /// lead there.
    pub(super) fn dispatch(
        &mut self,
        pointer: RegId,
        targets: &Targets,
        out: &mut Vec<Stmt>,
        leaf: &mut dyn FnMut(&mut Self, i128, &mut Vec<Stmt>),
    ) {
        self.choice(pointer, &targets.addresses, targets.is_partial, out, leaf);
    }

    fn choice(
        &mut self,
        pointer: RegId,
        addresses: &[i128],
        is_partial: bool,
        out: &mut Vec<Stmt>,
        leaf: &mut dyn FnMut(&mut Self, i128, &mut Vec<Stmt>),
    ) {
        let p = || Expr::Atom(pointer);
        match addresses {
            [] => {
                let (mut null, mut outside) = (Vec::new(), Vec::new());
                self.fail(NULL, &mut null);
                match is_partial {
                    true => self.limit(UNKNOWN, &mut outside),
                    false => drop(self.fail(OUTSIDE, &mut outside)),
                }
                let is_null = number::within(p(), (0, 4095));
                self.emit(out, StmtKind::If(is_null, null, outside));
            }
            [address] => {
                let (mut here, mut wild) = (Vec::new(), Vec::new());
                let is_loose = std::mem::replace(&mut self.is_loose, true);
                leaf(self, *address, &mut here);
                self.is_loose = is_loose;
                self.choice(pointer, &[], is_partial, &mut wild, leaf);
                let is_it = binary(BinOp::Eq, p(), number(*address));
                self.emit(out, StmtKind::If(is_it, here, wild));
            }
            _ => {
                let (low, high) = addresses.split_at(addresses.len() / 2);
                let (mut below, mut above) = (Vec::new(), Vec::new());
                self.choice(pointer, low, is_partial, &mut below, leaf);
                self.choice(pointer, high, is_partial, &mut above, leaf);
                let is_below = binary(BinOp::Lt, p(), number(high[0]));
                self.emit(out, StmtKind::If(is_below, below, above));
            }
        }
    }

    /// Notes that objects are accessed by an unknown pointer.
    pub(super) fn reached(&mut self, address: i128) -> bool {
        let Some((id, _)) = self.facts.find(address) else { return false };
        if self.facts.is_private(id) {
            self.facts.put_in_memory(id);
            return false;
        }
        true
    }

    /// Reads one scalar; nothing if this way has ended.
    pub(super) fn read_scalar(
        &mut self,
        state: &mut State,
        pointer: Val,
        size: u64,
        order: Order,
        into: RegId,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        self.note_order(order);
        match pointer {
            Val::Undef => {
                self.fail("a pointer that was never set is followed", out);
                None
            }
            Val::Known(address) => match self.inside(address, size) {
                Some((id, at)) => {
                    let state = &*state;
                    self.read(Some(state), (id, at, size), order, into, out)
                }
                None => {
                    let why = self.why_not(address);
                    self.fail(&why, out);
                    None
                }
            },
            Val::Reg(register) => {
                let targets = self.targets(register, size);
                // The pointer may be in the register that gets the value.
                self.dispatch(register, &targets, out, &mut |this, address, out| {
                    let Some((id, at)) = this.inside(address, size) else { return };
                    if !this.reached(address) {
                        return;
                    }
                    if let Some(value) = this.read(None, (id, at, size), order, into, out)
                        && value != Val::Reg(into)
                    {
                        let held = this.addresses_of(value);
                        this.may_hold(into, &held);
                        let code = this.copied(value);
                        this.emit(out, StmtKind::Assign(into, code));
                    }
                });
                Some(Val::Reg(into))
            }
        }
    }

    /// Writes one scalar.
    pub(super) fn write_scalar(
        &mut self,
        state: &mut State,
        pointer: Val,
        size: u64,
        value: Val,
        order: Order,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        self.note_order(order);
        match pointer {
            Val::Undef => {
                self.fail("a pointer that was never set is followed", out);
                None
            }
            Val::Known(address) => match self.inside(address, size) {
                Some((id, at)) => self.write(Some(state), (id, at, size), value, order, out),
                None => {
                    let why = self.why_not(address);
                    self.fail(&why, out);
                    None
                }
            },
            Val::Reg(register) => {
                let targets = self.targets(register, size);
                self.lose(state, &targets.addresses, value);
                self.dispatch(register, &targets, out, &mut |this, address, out| {
                    let Some((id, at)) = this.inside(address, size) else { return };
                    if this.reached(address) {
                        this.write(None, (id, at, size), value, order, out);
                    }
                });
                Some(())
            }
        }
    }

    /// What was known of objects is lost: one of them is written by an unknown pointer.
    pub(super) fn lose(&mut self, state: &mut State, addresses: &[i128], value: Val) {
        let mut is_shared = false;
        for address in addresses {
            let Some((id, _)) = self.facts.find(*address) else { continue };
            is_shared |= !self.is_own(state, id);
            if !self.facts.is_private(id) {
                state.own.remove(&id);
            }
        }
        if is_shared {
            let held = self.addresses_of(value);
            self.escape(state, &held);
        }
    }

    pub(super) fn load(
        &mut self,
        state: &mut State,
        (ty, pointer, order): At,
        result: u32,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let scalars = self.scalars(ty);
        let mut values = Vec::new();
        for (part, (offset, scalar)) in scalars.into_iter().enumerate() {
            let size = self.bytes(scalar)?;
            let pointer = self.moved(pointer, offset, out);
            let into = self.home(state, result, part as u32);
            let Some(value) = self.read_scalar(state, pointer, size, order, into, out) else {
                return Some(false);
            };
            let bits = self.bits(scalar);
            let value = match value {
                Val::Known(n) => Val::Known(weir_llvm::wrap(n, bits)),
                Val::Reg(r) if u64::from(bits) < size * 8 => {
                    self.must_be_set(value, out);
                    self.emit(out, StmtKind::Assign(r, number::wrap(bits, Expr::Atom(r))));
                    Val::Reg(r)
                }
                value => value,
            };
            values.push(value);
            // Parts that are read later must not get the same register.
            state.top().values.insert(result, values.clone());
        }
        state.top().values.insert(result, values);
        state.top().at += 1;
        Some(true)
    }

    /// A pointer a known distance further.
    pub(super) fn moved(&mut self, pointer: Val, offset: u64, out: &mut Vec<Stmt>) -> Val {
        match pointer {
            Val::Known(n) => Val::Known(n + i128::from(offset)),
            Val::Reg(r) if offset > 0 => {
                let held = self.mapped(pointer, Val::Known(i128::from(offset)), |a, b| Some(a + b));
                let register = self.temporary();
                self.emit(
                    out,
                    StmtKind::Assign(
                        register,
                        binary(BinOp::Add, Expr::Atom(r), number(i128::from(offset))),
                    ),
                );
                self.may_hold(register, &held);
                Val::Reg(register)
            }
            pointer => pointer,
        }
    }

    pub(super) fn store(
        &mut self,
        state: &mut State,
        (ty, pointer, order): At,
        values: &[Val],
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        for ((offset, scalar), value) in self.scalars(ty).into_iter().zip(values) {
            let size = self.bytes(scalar)?;
            let pointer = self.moved(pointer, offset, out);
            if self.write_scalar(state, pointer, size, *value, order, out).is_none() {
                return Some(false);
            }
        }
        state.top().at += 1;
        Some(true)
    }
}
