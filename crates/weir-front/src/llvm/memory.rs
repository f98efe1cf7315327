//! Memory: what objects hold, who can reach them, and the scalars that statements access.
//!
//! What only this thread can reach now is in its state. What another thread may reach is divided into scalars: ranges of
//! bytes that no access divides. When an address gets to where another thread may find it, the object *escapes*, with all
//! that can be reached from it.

use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Expr, Order, Place, Stmt, StmtKind};

use super::explore::{State, code_of};
use super::number::{self, UNSET, binary, not, number};
use super::objects::{Addresses, Bytes, Flag, Key, ObjectId, Val};
use super::{Access, Reader};

pub(super) const NULL: &str = "a null pointer is followed";
pub(super) const OUTSIDE: &str = "an address outside of every object is accessed";
pub(super) const UNKNOWN: &str = "what a pointer leads to is not known";
pub(super) const FREED: &str = "memory is used after it was freed";

impl Reader<'_> {
    /// An object of the stack.
    pub(super) fn stack_object(
        &mut self,
        context: u32,
        function: usize,
        local: u32,
        size: u64,
    ) -> ObjectId {
        let thread = self.current;
        let of = self.threads[thread].name.clone();
        let name = self.variable_name(function, local);
        self.facts.object(
            Key::Stack(thread, context, local),
            || format!("{of}.{name}"),
            size,
            false,
        )
    }

    pub(super) fn variable_name(&self, function: usize, local: u32) -> String {
        let name = self.module.functions[function].locals.get(local as usize);
        match name {
            Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name.clone(),
            _ => "local".to_owned(),
        }
    }

    /// An object of this thread is there from now on.
    pub(super) fn begin_object(&mut self, state: &mut State, id: ObjectId) {
        let bytes = self.initial(id);
        if self.is_alone {
            let mut first = bytes.clone();
            if !self.knows_unset && matches!(self.facts.get(id).key, Key::Heap(..)) {
                first.rest = Val::Known(0);
            }
            self.memory.insert(id, first);
        }
        state.own.insert(id, bytes);
    }

    /// What an object holds before other threads run.
    pub(super) fn in_memory(&mut self, id: ObjectId) -> &mut Bytes {
        if !self.memory.contains_key(&id) {
            let mut bytes = self.initial(id);
            if !self.knows_unset {
                bytes.rest = Val::Known(0);
            }
            self.memory.insert(id, bytes);
        }
        self.memory.entry(id).or_insert_with(|| Bytes::new(Val::Known(0)))
    }

    /// Why bytes cannot be accessed at a known address.
    pub(super) fn why_not(&self, address: i128) -> String {
        if address == 0 {
            return NULL.to_owned();
        }
        match self.facts.find(address) {
            Some((id, _)) => format!("an access outside of `{}`", self.facts.get(id).name),
            None if (0..4096).contains(&address) => NULL.to_owned(),
            None => OUTSIDE.to_owned(),
        }
    }

    /// A scalar made of others that overlap it.
    pub(super) fn compose(
        &mut self,
        bytes: &Bytes,
        at: u64,
        size: u64,
        into: Option<RegId>,
        out: &mut Vec<Stmt>,
    ) -> Val {
        let parts = bytes.over(at, size);
        match parts[..] {
            [] => return bytes.rest,
            [(start, length, value)] if start == at && length == size => return value,
            _ if parts.iter().all(|(.., value)| *value == Val::Undef) => return Val::Undef,
            _ => {}
        }
        let mut held = Addresses::default();
        let mut code = number(0);
        for (start, length, value) in parts {
            held.add(&self.facts.blurred(&self.addresses_of(value)).set());
            let part = match self.may_be_unset(value) {
                true => number::set_or(code_of(value), number(0), code_of(value)),
                false => code_of(value),
            };
            // A number of 128 bits has the sign of its last part.
            let part = match size >= 16 && start + length == at + size {
                true => part,
                false => number::unsigned(length as u32 * 8, part),
            };
            let part = match start.checked_sub(at) {
                Some(behind) => binary(BinOp::Shl, part, number(i128::from(behind * 8))),
                None => binary(BinOp::Shr, part, number(i128::from((at - start) * 8))),
            };
            code = binary(BinOp::BitOr, code, part);
        }
        match number::wrap(size as u32 * 8, code) {
            Expr::Const(n) => Val::Known(n),
            code => {
                let register = into.unwrap_or_else(|| self.temporary());
                self.emit(out, StmtKind::Assign(register, code));
                self.may_hold(register, &held);
                Val::Reg(register)
            }
        }
    }

    /// Writes a scalar to bytes; what is left of those that it overlaps stays.
    pub(super) fn put(
        &mut self,
        id: ObjectId,
        bytes: &mut Bytes,
        at: u64,
        size: u64,
        value: Val,
        out: &mut Vec<Stmt>,
    ) {
        for (start, length, old) in bytes.over(at, size) {
            bytes.forget(start);
            let before = (start, at.saturating_sub(start));
            let behind = (at + size, (start + length).saturating_sub(at + size));
            for (from, count) in [before, behind] {
                for byte in from..from + count {
                    let part = match old {
                        Val::Undef => Val::Undef,
                        old => {
                            let moved = binary(
                                BinOp::Shr,
                                code_of(old),
                                number(i128::from((byte - start) * 8)),
                            );
                            match number::wrap(8, moved) {
                                Expr::Const(n) => Val::Known(n),
                                code => {
                                    let is_set = !self.may_be_unset(old);
                                    let code = match is_set {
                                        true => code,
                                        false => number::set_or(code_of(old), number(UNSET), code),
                                    };
                                    let register = self
                                        .register(super::Home::Bytes(id, byte, 1), || {
                                            "byte".into()
                                        });
                                    self.emit(out, StmtKind::Assign(register, code));
                                    if !is_set {
                                        let held = self.addresses_of(Val::Undef);
                                        self.may_hold(register, &held);
                                    }
                                    Val::Reg(register)
                                }
                            }
                        }
                    };
                    bytes.set(byte, 1, part);
                }
            }
        }
        bytes.set(at, size, value);
    }

    /// Before a statement accesses an object: it must not be freed.
    pub(super) fn check_freed(&mut self, id: ObjectId, out: &mut Vec<Stmt>) {
        if !self.facts.freed.contains(&id) {
            return;
        }
        let flag = self.flag(Flag::Freed, id as usize);
        let is_freed = self.temporary();
        let place = self.place(flag, 0, 8, Order::Plain, false);
        self.emit(out, StmtKind::Load(is_freed, place));
        self.check(not(Expr::Atom(is_freed)), FREED, out);
    }

    /// A number between threads.
    pub(super) fn flag(&mut self, flag: Flag, of: usize) -> ObjectId {
        let name = match flag {
            Flag::Allocated => {
                format!("{}.allocated", self.facts.get(of as ObjectId).name)
            }
            Flag::Freed => format!("{}.freed", self.facts.get(of as ObjectId).name),
            Flag::Free => format!("{}.free", self.facts.get(of as ObjectId).name),
            Flag::Size => format!("{}.size", self.facts.get(of as ObjectId).name),
            flag => {
                let word = match flag {
                    Flag::Started => "started",
                    Flag::Ended => "ended",
                    Flag::Argument => "argument",
                    _ => "result",
                };
                format!("{}.{word}", self.threads.get(of).map_or("thread", |t| &t.name))
            }
        };
        self.facts.object(Key::Flag(flag, of), || name, 8, false)
    }

    /// A scalar as a place of a statement.
    pub(super) fn place(
        &mut self,
        id: ObjectId,
        at: u64,
        size: u64,
        order: Order,
        is_write: bool,
    ) -> Place {
        self.facts.access(id, at, size, is_write, self.is_loose);
        let cell = self.cell((id, at, size));
        Place::var(VarId::new(cell)).ordered(order)
    }

    /// The place of an access that has to be one scalar. If only the run knows whether there is such an access, it is a
    /// limit that it is not.
    pub(super) fn one_place(
        &mut self,
        (id, at, size): super::Cell,
        order: Order,
        is_write: bool,
        out: &mut Vec<Stmt>,
    ) -> Option<Place> {
        if !self.is_loose {
            self.facts.keep_whole(id, at, size);
        }
        let cuts = self.facts.access(id, at, size, is_write, self.is_loose);
        if cuts.len() > 1 {
            let name = self.facts.get(id).name.clone();
            let shown = |(start, length): &(u64, u64)| match length {
                1 => format!("byte {start}"),
                _ => format!("bytes {start} to {}", start + length - 1),
            };
            let parts: Vec<String> = cuts.iter().map(shown).collect();
            let (whole, parts) = (shown(&(at, size)), parts.join(", "));
            let words = format!(
                "{whole} of `{name}` are accessed atomically, and in parts elsewhere ({parts})"
            );
            match self.is_loose {
                true => self.limit(&words, out),
                false => self.error(words + ", which is not read"),
            }
            return None;
        }
        Some(self.place(id, at, size, order, is_write))
    }

    /// Whether an access through an unknown pointer would divide a scalar that is accessed atomically. If the
    /// run gets there, what follows is not known.
    pub(super) fn is_apart(&mut self, (id, at, size): super::Cell, out: &mut Vec<Stmt>) -> bool {
        let is_apart = self.is_loose && self.facts.divides(id, at, size);
        if is_apart {
            // Noted, so that it counts as soon as nothing has to be whole there.
            self.facts.access(id, at, size, false, true);
            let name = self.facts.get(id).name.clone();
            self.limit(&format!("`{name}` is accessed in parts, and atomically elsewhere"), out);
        }
        is_apart
    }

    /// Remembers an access for the question about races.
    pub(super) fn note_access(&mut self, place: &Place, is_write: bool, out: &mut Vec<Stmt>) {
        if !self.options.races {
            return;
        }
        let label = self.label("access_");
        self.emit(out, StmtKind::Label(label));
        let is_plain = place.order == Some(Order::Plain);
        let (thread, cell) = (self.current, place.first.index());
        self.accesses.push(Access { thread, label, cell, is_write, is_plain });
    }

    /// Whether the thread itself knows what an object holds.
    pub(super) fn is_own(&self, state: &State, id: ObjectId) -> bool {
        state.own.contains_key(&id)
    }

    /// Addresses get to where another thread may find them.
    pub(super) fn give_away(&mut self, held: &Addresses) {
        for id in self.facts.objects_of(held) {
            self.give_away_object(id);
        }
    }

    pub(super) fn give_away_object(&mut self, id: ObjectId) {
        if matches!(self.facts.get(id).key, Key::Stack(..) | Key::Heap(..) | Key::ThreadLocal(..)) {
            self.facts.escape(id);
        }
    }

    /// From now on other threads may reach these addresses, and all that is behind them.
    pub(super) fn escape(&mut self, state: &mut State, held: &Addresses) {
        let mut open: Vec<ObjectId> = self.facts.objects_of(held).into_iter().collect();
        open.iter().for_each(|id| self.give_away_object(*id));
        while let Some(id) = open.pop() {
            let Some(bytes) = state.own.remove(&id) else { continue };
            for (.., value) in bytes.scalars() {
                let held = self.addresses_of(value);
                for id in self.facts.objects_of(&held) {
                    self.give_away_object(id);
                    open.push(id);
                }
            }
        }
    }
}
