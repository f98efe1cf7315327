//! Leaks: memory that was allocated, and in the end is neither freed nor led to.
//!
//! In a final state all threads have ended, so only globals, variables of threads and other allocations that are not freed can lead to an
//! allocation. What leads to it may point anywhere into it, and may have flags in its low bits. Allocations that only lead to each
//! other, in a ring, are not found.

use std::collections::BTreeSet;

use weir_model::ids::{SpanId, VarId};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Order, Property, PropertyKind, Quantifier, Stmt, StmtKind, UnOp,
};

use super::Reader;
use super::explore::State;
use super::number::number;
use super::objects::{Flag, Key, ObjectId, Val};

impl Reader<'_> {
    /// An object is allocated here.
    pub(super) fn note_allocation(&mut self, id: ObjectId, out: &mut Vec<Stmt>) {
        if !self.options.leaks {
            return;
        }
        self.allocations.insert(id, self.span);
        // Of what only one thread reaches, that is known when the thread ends.
        if !self.facts.is_private(id) {
            self.tell_allocated(id, out);
        }
    }

    /// An object is allocated, or still is when the thread ends that owns it.
    fn tell_allocated(&mut self, id: ObjectId, out: &mut Vec<Stmt>) {
        let flag = self.flag(Flag::Allocated, id as usize);
        match self.is_alone {
            true => self.in_memory(flag).set(0, 8, Val::Known(1)),
            false => {
                let place = self.place(flag, 0, 8, Order::Relaxed, true);
                self.emit(out, StmtKind::Store(place, number(1)));
            }
        }
    }

    /// A thread ends. What only it reaches is lost, but for what its own variables lead to.
    pub(super) fn note_lost(&mut self, state: &State, out: &mut Vec<Stmt>) {
        if !self.options.leaks {
            return;
        }
        let is = |this: &Self, id: ObjectId, is_variable: bool| match this.facts.get(id).key {
            Key::ThreadLocal(..) => is_variable,
            Key::Heap(..) => !is_variable,
            _ => false,
        };
        let mut kept: BTreeSet<ObjectId> =
            state.own.keys().copied().filter(|id| is(self, *id, true)).collect();
        let mut open: Vec<ObjectId> = kept.iter().copied().collect();
        while let Some(id) = open.pop() {
            for (.., value) in state.own[&id].scalars() {
                let held = self.addresses_of(value);
                if held.is_partial {
                    return;
                }
                for found in self.facts.objects_of(&held) {
                    if state.own.contains_key(&found) && kept.insert(found) {
                        open.push(found);
                    }
                }
            }
        }
        for &id in state.own.keys() {
            let is_lost = is(self, id, false) && !kept.contains(&id) && self.facts.is_private(id);
            if is_lost && self.allocations.contains_key(&id) {
                self.tell_allocated(id, out);
            }
        }
    }

    /// An object is freed before other threads run.
    pub(super) fn note_freed(&mut self, id: ObjectId) {
        if self.allocations.contains_key(&id) {
            let flag = self.flag(Flag::Allocated, id as usize);
            self.in_memory(flag).set(0, 8, Val::Known(0));
        }
    }

    /// The questions: one for each place that allocates.
    pub(super) fn leaks(&mut self) -> Vec<Property> {
        let mut asked: Vec<(SpanId, Formula)> = Vec::new();
        for (id, span) in self.allocations.clone() {
            let Some(is_led_to) = self.is_led_to(id) else { continue };
            let allocated = self.number_in(Flag::Allocated, id);
            let is_over = Expr::unary(UnOp::Not, allocated);
            let mut fine = Expr::binary(BinOp::Or, is_over, is_led_to);
            if self.facts.freed.contains(&id) {
                fine = Expr::binary(BinOp::Or, self.number_in(Flag::Freed, id), fine);
            }
            match asked.iter_mut().find(|(other, _)| *other == span) {
                Some((_, all)) => {
                    let before = std::mem::replace(all, Expr::Const(1));
                    *all = Expr::binary(BinOp::And, before, fine);
                }
                None => asked.push((span, fine)),
            }
        }
        let is_single = asked.len() == 1;
        let name = |i: usize| if is_single { "leak".to_owned() } else { format!("leak_{}", i + 1) };
        let property = |(i, (span, fine))| Property {
            name: Some(name(i)),
            kind: PropertyKind::Final(Quantifier::Always, fine),
            span,
        };
        asked.into_iter().enumerate().map(property).collect()
    }

    /// A number of an object, as a formula.
    fn number_in(&mut self, flag: Flag, id: ObjectId) -> Formula {
        let flag = self.flag(flag, id as usize);
        let cell = self.cell((flag, 0, 8));
        Expr::Atom(Atom::Var(VarId::new(cell)))
    }

    /// Whether something leads to an object; nothing if something always does.
    fn is_led_to(&mut self, id: ObjectId) -> Option<Formula> {
        let (base, size) = (self.facts.get(id).base, self.facts.get(id).size);
        let range = (base, base + i128::from(size));
        let leads = |address: i128| (range.0..=range.1).contains(&address);
        let mut led: Formula = Expr::Const(0);
        for holder in 0..self.facts.objects.len() as ObjectId {
            let is_root =
                matches!(self.facts.get(holder).key, Key::Global(_) | Key::ThreadLocal(..));
            let is_heap = self.allocations.contains_key(&holder);
            if holder == id || !is_root && !is_heap {
                continue;
            }
            let accesses = self.facts.accesses_of(holder);
            // What is never looked at has no address of something that is allocated.
            if accesses.is_empty() && !self.memory.contains_key(&holder) {
                continue;
            }
            let mut here: Formula = Expr::Const(0);
            let mut cells: Vec<u64> = Vec::new();
            for (at, length) in accesses {
                let may_lead = match self.facts.read(holder, at, length) {
                    held if held.is_partial || held.within.contains(&id) => true,
                    held => held.these.into_iter().any(leads),
                };
                if length == 8 && (may_lead || leads(self.first_value(holder, at, 8))) {
                    cells.push(at);
                }
            }
            for &at in &cells {
                let cell = self.cell((holder, at, 8));
                let value = || Expr::Atom(Atom::Var(VarId::new(cell)));
                let above = Expr::binary(BinOp::Ge, value(), Expr::Const(range.0));
                let below = Expr::binary(BinOp::Le, value(), Expr::Const(range.1));
                here = Expr::binary(BinOp::Or, here, Expr::binary(BinOp::And, above, below));
            }
            // What no statement accesses stays what it was.
            let first = self.in_memory(holder).clone();
            let stays = first.scalars().any(|(at, _, value)| {
                matches!(value, Val::Known(n) if leads(n)) && !cells.contains(&at)
            });
            if stays && is_root {
                return None;
            }
            if stays {
                here = Expr::Const(1);
            }
            if is_heap {
                let allocated = self.number_in(Flag::Allocated, holder);
                here = Expr::binary(BinOp::And, allocated, here);
                if self.facts.freed.contains(&holder) {
                    let is_there = Expr::unary(UnOp::Not, self.number_in(Flag::Freed, holder));
                    here = Expr::binary(BinOp::And, is_there, here);
                }
            }
            if here != Expr::Const(0) {
                led = Expr::binary(BinOp::Or, led, here);
            }
        }
        Some(led)
    }
}
