//! Atomic read-writes and fences.
//!
//! On memory that only this thread can reach they are computed; otherwise each is one statement.

use std::collections::BTreeSet;

use weir_llvm::{TypeId, Update};
use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, FenceKind, Order, Rmw, Stmt, StmtKind};

use super::Reader;
use super::access::At;
use super::explore::{State, code_of};
use super::memory::FREED;
use super::number::{self, UNSET, binary, choose, compare, number};
use super::objects::{Addresses, ObjectId, Val};
use super::unset::NEVER_SET;

impl Reader<'_> {
    /// What an atomic operation writes.
    pub(super) fn updated(
        &self,
        update: Update,
        bits: u32,
        old: Code,
        value: Code,
    ) -> Option<Code> {
        use weir_llvm::{Binary, Predicate};
        let of = |op| number::result(op, bits, old.clone(), value.clone());
        let is = |predicate| compare(predicate, bits, old.clone(), value.clone());
        Some(match update {
            Update::Xchg => value.clone(),
            Update::Add => of(Binary::Add),
            Update::Sub => of(Binary::Sub),
            Update::And => of(Binary::And),
            Update::Or => of(Binary::Or),
            Update::Xor => of(Binary::Xor),
            Update::Nand => {
                let and = of(Binary::And);
                number::wrap(bits, binary(BinOp::BitXor, and, number(-1)))
            }
            Update::Max => choose(is(Predicate::Sgt), old.clone(), value.clone()),
            Update::Min => choose(is(Predicate::Slt), old.clone(), value.clone()),
            Update::UMax => choose(is(Predicate::Ugt), old.clone(), value.clone()),
            Update::UMin => choose(is(Predicate::Ult), old.clone(), value.clone()),
            _ => return None,
        })
    }

    /// Whether an atomic operation can be computed, because its object is known to this thread only.
    pub(super) fn is_computed(
        &self,
        state: &State,
        pointer: Val,
        size: u64,
    ) -> Option<(ObjectId, u64)> {
        let Val::Known(address) = pointer else { return None };
        let (id, at) = self.inside(address, size)?;
        let is_here = self.is_alone || self.facts.is_private(id) && state.own.contains_key(&id);
        is_here.then_some((id, at))
    }

    pub(super) fn update(
        &mut self,
        state: &mut State,
        (ty, pointer, order): At,
        (update, value): (Update, Val),
        result: u32,
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let (size, _) = self.layout.size(ty)?;
        let bits = self.bits(ty);
        if value == Val::Undef && update != Update::Xchg {
            return self.fail(NEVER_SET, out);
        }
        self.note_order(order);
        let into = self.home(state, result, 0);
        if self.updated(update, bits, number(0), number(0)).is_none() {
            self.refuse("this atomic operation is not read");
            return None;
        }
        if self.is_computed(state, pointer, size).is_some() {
            let Some(old) = self.read_scalar(state, pointer, size, order, into, out) else {
                return Some(false);
            };
            if !self.is_set(old, out) {
                return Some(false);
            }
            state.top().values.insert(result, vec![old]);
            let code = self.updated(update, bits, code_of(old), code_of(value))?;
            let new = self.kept(state, result, code, out);
            if self.write_scalar(state, pointer, size, new, order, out).is_none() {
                return Some(false);
            }
            state.top().at += 1;
            return Some(true);
        }
        let held = match update {
            Update::Xchg => self.addresses_of(value),
            _ => self.facts.blurred(&self.addresses_of(value).set()),
        };
        let new = self.updated(update, bits, Expr::Atom(into), self.copied(value))?;
        let rmw = match update {
            Update::Xchg => Rmw::Swap(self.copied(value)),
            Update::And => Rmw::Fetch(BinOp::BitAnd, code_of(value)),
            Update::Or => Rmw::Fetch(BinOp::BitOr, code_of(value)),
            Update::Xor => Rmw::Fetch(BinOp::BitXor, code_of(value)),
            _ => Rmw::Update { when: number(1), new: new.clone() },
        };
        let ended = self.rmw(state, pointer, size, order, into, (&rmw, &held, Some(&new)), out)?;
        state.top().values.insert(result, vec![Val::Reg(into)]);
        state.top().at += 1;
        Some(ended)
    }

    /// An atomic operation depends on what is there. Returns whether that may have been set.
    fn is_set(&mut self, old: Val, out: &mut Vec<Stmt>) -> bool {
        self.must_be_set(old, out);
        if old == Val::Undef {
            self.fail(NEVER_SET, out);
        }
        old != Val::Undef
    }

    /// A value in a register that belongs to the result of an instruction.
    pub(super) fn kept(
        &mut self,
        state: &mut State,
        result: u32,
        code: Code,
        out: &mut Vec<Stmt>,
    ) -> Val {
        match code {
            Expr::Const(n) => Val::Known(n),
            Expr::Atom(r) => Val::Reg(r),
            code => {
                let context = state.top().context;
                let mut number = 100;
                let register = loop {
                    let register = self
                        .register(super::Home::Local(context, result, 0, number), || "new".into());
                    if !state.uses_register(register) {
                        break register;
                    }
                    number += 1;
                };
                self.emit(out, StmtKind::Assign(register, code));
                Val::Reg(register)
            }
        }
    }

    /// What an atomic operation on flags in addresses makes of them.
    fn flagged(&self, before: &Addresses, rmw: &Rmw) -> Addresses {
        let Rmw::Fetch(op, Expr::Const(flags)) = rmw else { return self.facts.blurred(before) };
        let mut after = Addresses { these: BTreeSet::new(), ..before.clone() };
        let mut open: Vec<i128> = before.these.iter().copied().collect();
        while let Some(address) = open.pop() {
            let image = match op {
                BinOp::BitAnd => address & flags,
                BinOp::BitOr => address | flags,
                _ => address ^ flags,
            };
            if self.facts.find(image).is_some() && after.these.insert(image) {
                open.push(image);
            }
        }
        after
    }

    /// One atomic read-write, wherever the pointer leads. Returns whether execution goes on.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn rmw(
        &mut self,
        state: &mut State,
        pointer: Val,
        size: u64,
        order: Order,
        into: RegId,
        (rmw, held, new): (&Rmw, &Addresses, Option<&Code>),
        out: &mut Vec<Stmt>,
    ) -> Option<bool> {
        let is_atomic = state.is_atomic;
        let one = |this: &mut Self, address: i128, out: &mut Vec<Stmt>| -> Option<()> {
            let (id, at) = this.inside(address, size)?;
            if this.facts.get(id).is_constant {
                this.fail("a constant is written", out);
                return None;
            }
            if this.is_apart((id, at, size), out) {
                return None;
            }
            this.check_alive((id, at, size), out);
            this.give_away(held);
            this.facts.store(id, at, held);
            let mut before = this.facts.read(id, at, size);
            let first = this.in_memory(id).clone();
            for (.., value) in first.over(at, size) {
                before.add(&this.addresses_of(value));
            }
            let is_unset = this.knows_unset && (first.is_unset(at, size) || before.is_unset);
            before = before.set();
            if !before.is_empty() && new.is_some() && !matches!(rmw, Rmw::Swap(_)) {
                // Flags in the low bits of addresses.
                let changed = this.flagged(&before, rmw);
                this.facts.store(id, at, &changed);
                before.add(&changed);
            }
            this.may_hold(into, &before);
            let place = this.one_place((id, at, size), order, true, out)?;
            this.note_access(&place, true, out);
            match (is_atomic, rmw, new) {
                (true, Rmw::Update { .. }, Some(new)) => {
                    this.emit(out, StmtKind::Load(into, place.clone()));
                    this.emit(out, StmtKind::Store(place, new.clone()));
                }
                _ => this.emit(out, StmtKind::Rmw(into, place, rmw.clone())),
            }
            if is_unset {
                let is_set = binary(BinOp::Ne, Expr::Atom(into), number(UNSET));
                this.check(is_set, NEVER_SET, out);
            }
            Some(())
        };
        match pointer {
            Val::Undef => self.fail("a pointer that was never set is followed", out),
            Val::Known(address) => {
                match self.inside(address, size) {
                    None => {
                        let why = self.why_not(address);
                        return self.fail(&why, out);
                    }
                    Some((id, _)) if state.dead.contains(&id) => return self.fail(FREED, out),
                    // A statement works on memory, which a private object is not in.
                    Some((id, _)) if self.facts.is_private(id) && !self.is_alone => {
                        self.facts.escape(id);
                        return Some(false);
                    }
                    Some((id, _)) if state.own.contains_key(&id) => drop(state.own.remove(&id)),
                    Some(_) => {}
                }
                let is_done = one(self, address, out).is_some();
                self.escape(state, held);
                Some(is_done)
            }
            Val::Reg(register) => {
                let targets = self.targets(register, size);
                for address in &targets.addresses {
                    if let Some((id, _)) = self.facts.find(*address)
                        && !self.facts.is_private(id)
                    {
                        state.own.remove(&id);
                    }
                }
                self.escape(state, held);
                self.dispatch(register, &targets, out, &mut |this, address, out| {
                    if this.reached(address) {
                        one(this, address, out);
                    }
                });
                Some(true)
            }
        }
    }

    pub(super) fn compare_exchange(
        &mut self,
        state: &mut State,
        (ty, pointer, (success, failure)): (TypeId, Val, (Order, Order)),
        (expected, new, is_weak): (Val, Val, bool),
        result: u32,
        out: &mut Vec<Stmt>,
        _depth: usize,
    ) -> Option<bool> {
        if expected == Val::Undef {
            return self.fail(NEVER_SET, out);
        }
        let (size, _) = self.layout.size(ty)?;
        self.note_order(success);
        let into = self.home(state, result, 0);
        if self.is_computed(state, pointer, size).is_some() {
            let Some(old) = self.read_scalar(state, pointer, size, success, into, out) else {
                return Some(false);
            };
            if !self.is_set(old, out) {
                return Some(false);
            }
            state.top().values.insert(result, vec![old]);
            let mut is_same = binary(BinOp::Eq, code_of(old), code_of(expected));
            if is_weak && self.options.spurious {
                let chance = self.temporary();
                self.emit(out, StmtKind::Any(chance, vec![0, 1]));
                is_same = binary(BinOp::And, is_same, Expr::Atom(chance));
            }
            let flag = self.kept(state, result, is_same.clone(), out);
            state.top().values.insert(result, vec![old, flag]);
            let mut held = self.addresses_of(old);
            held.add(&self.addresses_of(new));
            let new = self.kept(
                state,
                result,
                choose(code_of(flag), self.copied(new), code_of(old)),
                out,
            );
            self.note(new, &held);
            if self.write_scalar(state, pointer, size, new, success, out).is_none() {
                return Some(false);
            }
            state.top().at += 1;
            return Some(true);
        }
        state.top().values.insert(result, vec![Val::Reg(into)]);
        let flag = {
            let context = state.top().context;
            self.register(super::Home::Local(context, result, 1, 0), || "same".into())
        };
        let held = self.addresses_of(new);
        let rmw =
            Rmw::Cas { expected: code_of(expected), new: self.copied(new), failure: Some(failure) };
        // The register that gets the value may be the one in which the expected one is.
        let mut exchange = Vec::new();
        let goes_on =
            self.rmw(state, pointer, size, success, into, (&rmw, &held, None), &mut exchange)?;
        let is_same = binary(BinOp::Eq, Expr::Atom(into), code_of(expected));
        self.emit(&mut exchange, StmtKind::Assign(flag, is_same));
        match is_weak && self.options.spurious {
            false => out.extend(exchange),
            true => {
                let chance = self.temporary();
                self.emit(out, StmtKind::Any(chance, vec![0, 1]));
                let mut only = Vec::new();
                self.read_scalar(state, pointer, size, failure, into, &mut only)?;
                self.emit(&mut only, StmtKind::Assign(flag, number(0)));
                self.emit(out, StmtKind::If(Expr::Atom(chance), only, exchange));
            }
        }
        state.top().values.insert(result, vec![Val::Reg(into), Val::Reg(flag)]);
        state.top().at += 1;
        Some(goes_on)
    }

    /// A fence of an order.
    pub(super) fn fence(&mut self, order: Order, out: &mut Vec<Stmt>) {
        if self.is_alone {
            return;
        }
        self.note_order(order);
        let kinds: &[FenceKind] = match order {
            Order::Plain | Order::Relaxed => &[],
            Order::Acquire => &[FenceKind::Read],
            Order::Release => &[FenceKind::Write],
            Order::AcquireRelease => &[FenceKind::Read, FenceKind::Write],
            Order::SeqCst | Order::Fenced => &[FenceKind::Full],
        };
        for kind in kinds {
            self.emit(out, StmtKind::Fence(*kind));
            // Two fences of one place are not the same one.
            let span = self.source.span(self.range.clone());
            if let Some(last) = out.last_mut() {
                last.span = span;
            }
        }
    }
}
