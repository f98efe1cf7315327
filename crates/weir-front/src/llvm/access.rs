//! Reads and writes.
//!
//! What only this thread can reach now is in its state, and is read from there. If another thread may reach it
//! later, each write is a statement as well. What another thread may reach now is read and written by
//! statements, scalar by scalar: a scalar is a range of bytes that no access divides. An access of several scalars is
//! several statements, unless it is atomic: then it is refused.

use weir_llvm::{TypeId, Update};
use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Code, Expr, FenceKind, Order, Place, Rmw, Stmt, StmtKind};

use super::explore::{State, code_of};
use super::number::{self, binary, choose, compare, not, number};
use super::objects::{Addresses, Bytes, Flag, Key, ObjectId, Val};
use super::{Access, Reader};

const NULL: &str = "a null pointer is followed";
const OUTSIDE: &str = "an address outside of every object is accessed";
const FREED: &str = "memory is used after it was freed";

/// Where a scalar is read or written: type, pointer and order.
type At = (TypeId, Val, Order);

impl Reader<'_> {
    /// An object of the stack.
    pub(super) fn stack_object(&mut self, context: u32, function: usize, local: u32, size: u64) -> ObjectId {
        let thread = self.current;
        let of = self.threads[thread].name.clone();
        let name = self.variable_name(function, local);
        self.facts.object(Key::Stack(thread, context, local), || format!("{of}.{name}"), size, false)
    }

    fn variable_name(&self, function: usize, local: u32) -> String {
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
            self.memory.insert(id, bytes.clone());
        }
        state.own.insert(id, bytes);
    }

    /// What an object holds before other threads run.
    pub(super) fn in_memory(&mut self, id: ObjectId) -> &mut Bytes {
        if !self.memory.contains_key(&id) {
            let mut bytes = self.initial(id);
            bytes.rest = Val::Known(0);
            self.memory.insert(id, bytes);
        }
        self.memory.entry(id).or_insert_with(|| Bytes::new(Val::Known(0)))
    }

    /// Why bytes cannot be accessed at a known address.
    fn why_not(&self, address: i128) -> String {
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
    fn compose(&mut self, bytes: &Bytes, at: u64, size: u64, into: Option<RegId>, out: &mut Vec<Stmt>) -> Val {
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
            if !self.addresses_of(value).is_empty() {
                held = Addresses::Any;
            }
            let part = number::unsigned(length as u32 * 8, code_of(value));
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
    fn put(&mut self, id: ObjectId, bytes: &mut Bytes, at: u64, size: u64, value: Val, out: &mut Vec<Stmt>) {
        for (start, length, old) in bytes.over(at, size) {
            bytes.scalars.remove(&start);
            let before = (start, at.saturating_sub(start));
            let behind = (at + size, (start + length).saturating_sub(at + size));
            for (from, count) in [before, behind] {
                for byte in from..from + count {
                    let part = match old {
                        Val::Undef => Val::Undef,
                        old => {
                            let moved = binary(BinOp::Shr, code_of(old), number(i128::from((byte - start) * 8)));
                            match number::wrap(8, moved) {
                                Expr::Const(n) => Val::Known(n),
                                code => {
                                    let register = self.register(super::Home::Bytes(id, byte, 1), || "byte".into());
                                    self.emit(out, StmtKind::Assign(register, code));
                                    Val::Reg(register)
                                }
                            }
                        }
                    };
                    bytes.scalars.insert(byte, (1, part));
                }
            }
        }
        bytes.scalars.insert(at, (size, value));
    }

    /// Before a statement accesses an object: it must not be freed.
    fn check_freed(&mut self, id: ObjectId, out: &mut Vec<Stmt>) {
        if !self.facts.freed.contains(&id) {
            return;
        }
        let flag = self.flag(Flag::Freed, id as usize);
        let is_freed = self.temporary();
        let place = self.place(flag, 0, 8, Order::Relaxed, false);
        self.emit(out, StmtKind::Load(is_freed, place));
        self.check(not(Expr::Atom(is_freed)), FREED, out);
    }

    /// A number between threads.
    pub(super) fn flag(&mut self, flag: Flag, of: usize) -> ObjectId {
        let name = match flag {
            Flag::Freed => format!("{}.freed", self.facts.get(of as ObjectId).name),
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
    pub(super) fn place(&mut self, id: ObjectId, at: u64, size: u64, order: Order, is_write: bool) -> Place {
        self.facts.access(id, at, size, is_write, self.is_loose);
        let cell = self.cell((id, at, size));
        Place::var(VarId::new(cell)).ordered(order)
    }

    /// The place of an access that has to be one scalar.
    fn one_place(&mut self, id: ObjectId, at: u64, size: u64, order: Order, is_write: bool) -> Option<Place> {
        if !self.is_loose {
            self.facts.keep_whole(id, at, size);
        }
        let cuts = self.facts.access(id, at, size, is_write, self.is_loose);
        if cuts.len() > 1 {
            let name = self.facts.get(id).name.clone();
            self.error(format!("`{name}` is accessed atomically as a whole here, and in parts elsewhere, which is not read"));
            return None;
        }
        Some(self.place(id, at, size, order, is_write))
    }

    /// Whether an access through an unknown pointer would divide a scalar that is accessed atomically. If the
    /// run gets there, what follows is not known.
    fn is_apart(&mut self, (id, at, size): super::Cell, out: &mut Vec<Stmt>) -> bool {
        let is_apart = self.is_loose && self.facts.divides(id, at, size);
        if is_apart {
            // Noted, so that it counts as soon as nothing has to be whole there.
            self.facts.access(id, at, size, false, true);
            self.limit("part_of_an_atomic", out);
        }
        is_apart
    }

    /// Remembers an access for the question about races.
    fn note_access(&mut self, place: &Place, is_write: bool, out: &mut Vec<Stmt>) {
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
    fn is_own(&self, state: &State, id: ObjectId) -> bool {
        state.own.contains_key(&id)
    }

    /// Reads a scalar of an object into a register if it is not known. `own` is the state, unless the object is found by an
    /// unknown pointer.
    fn read(&mut self, own: Option<&State>, (id, at, size): (ObjectId, u64, u64), order: Order, into: RegId, out: &mut Vec<Stmt>) -> Option<Val> {
        if let Some(state) = own {
            if state.dead.contains(&id) {
                self.fail(FREED, out);
                return None;
            }
            if let Some(bytes) = state.own.get(&id) {
                let bytes = bytes.clone();
                return Some(self.compose(&bytes, at, size, Some(into), out));
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
                self.check_freed(id, out);
            }
            return Some(self.compose(&bytes, at, size, Some(into), out));
        }
        if self.is_apart((id, at, size), out) {
            return None;
        }
        self.check_freed(id, out);
        let mut held = self.facts.read(id, at, size);
        for (.., value) in self.in_memory(id).clone().over(at, size) {
            held.add(&self.addresses_of(value));
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
                self.one_place(id, at, size, order, false)?;
            }
            let mut code = number(0);
            for (start, length) in cuts {
                let part = self.temporary();
                let place = self.place(id, start, length, order, false);
                self.note_access(&place, false, out);
                self.emit(out, StmtKind::Load(part, place));
                let bits = number::unsigned(length as u32 * 8, Expr::Atom(part));
                let moved = binary(BinOp::Shl, bits, number(i128::from((start - at) * 8)));
                code = binary(BinOp::BitOr, code, moved);
            }
            self.emit(out, StmtKind::Assign(into, number::wrap(size as u32 * 8, code)));
        }
        self.may_hold(into, &held);
        Some(Val::Reg(into))
    }

    /// Writes a scalar of an object.
    fn write(&mut self, own: Option<&mut State>, (id, at, size): (ObjectId, u64, u64), value: Val, order: Order, out: &mut Vec<Stmt>) -> Option<()> {
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
            let known = if value == Val::Undef { Val::Known(0) } else { value };
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
            self.check_freed(id, out);
        }
        if order != Order::Plain && !self.is_loose {
            self.facts.keep_whole(id, at, size);
        }
        let cuts = self.facts.access(id, at, size, true, self.is_loose);
        if cuts.len() > 1 && order != Order::Plain {
            self.one_place(id, at, size, order, true)?;
        }
        let is_one = cuts.len() == 1;
        for (start, length) in cuts {
            let code = match is_one {
                true => code_of(value),
                false => {
                    let moved = binary(BinOp::Shr, code_of(value), number(i128::from((start - at) * 8)));
                    number::wrap(length as u32 * 8, moved)
                }
            };
            let place = self.place(id, start, length, order, true);
            self.note_access(&place, true, out);
            self.emit(out, StmtKind::Store(place, code));
        }
        Some(())
    }

    /// Addresses get to where another thread may find them.
    pub(super) fn give_away(&mut self, held: &Addresses) {
        match held {
            Addresses::These(all) => {
                for address in all {
                    if let Some((id, _)) = self.facts.find(*address) {
                        self.give_away_object(id);
                    }
                }
            }
            Addresses::Any => {
                for id in 0..self.facts.objects.len() as ObjectId {
                    self.give_away_object(id);
                }
            }
        }
    }

    fn give_away_object(&mut self, id: ObjectId) {
        if matches!(self.facts.get(id).key, Key::Stack(..) | Key::Heap(..) | Key::ThreadLocal(..)) {
            self.facts.escape(id);
        }
    }

    /// From now on other threads may reach these addresses, and all that is behind them.
    pub(super) fn escape(&mut self, state: &mut State, held: &Addresses) {
        self.give_away(held);
        let mut open: Vec<ObjectId> = match held {
            Addresses::These(all) => all.iter().filter_map(|a| Some(self.facts.find(*a)?.0)).collect(),
            Addresses::Any => state.own.keys().copied().collect(),
        };
        while let Some(id) = open.pop() {
            let Some(bytes) = state.own.remove(&id) else { continue };
            for (_, value) in bytes.scalars.values() {
                let held = self.addresses_of(*value);
                self.give_away(&held);
                match held {
                    Addresses::These(all) => {
                        open.extend(all.iter().filter_map(|a| Some(self.facts.find(*a)?.0)));
                    }
                    Addresses::Any => open.extend(state.own.keys().copied()),
                }
            }
        }
    }

    /// A choice among the addresses that a register may hold.
    pub(super) fn dispatch(
        &mut self,
        pointer: RegId,
        addresses: &[i128],
        out: &mut Vec<Stmt>,
        leaf: &mut dyn FnMut(&mut Self, i128, &mut Vec<Stmt>),
    ) {
        let p = || Expr::Atom(pointer);
        match addresses {
            [] => {
                let (mut null, mut outside) = (Vec::new(), Vec::new());
                self.fail(NULL, &mut null);
                self.fail(OUTSIDE, &mut outside);
                let is_null = number::within(p(), (0, 4095));
                self.emit(out, StmtKind::If(is_null, null, outside));
            }
            [address] => {
                let (mut here, mut wild) = (Vec::new(), Vec::new());
                let is_loose = std::mem::replace(&mut self.is_loose, true);
                leaf(self, *address, &mut here);
                self.is_loose = is_loose;
                self.dispatch(pointer, &[], &mut wild, leaf);
                let is_it = binary(BinOp::Eq, p(), number(*address));
                self.emit(out, StmtKind::If(is_it, here, wild));
            }
            _ => {
                let (low, high) = addresses.split_at(addresses.len() / 2);
                let (mut below, mut above) = (Vec::new(), Vec::new());
                self.dispatch(pointer, low, &mut below, leaf);
                self.dispatch(pointer, high, &mut above, leaf);
                let is_below = binary(BinOp::Lt, p(), number(high[0]));
                self.emit(out, StmtKind::If(is_below, below, above));
            }
        }
    }

    /// Notes that objects are accessed by an unknown pointer.
    fn reached(&mut self, address: i128) -> bool {
        let Some((id, _)) = self.facts.find(address) else { return false };
        if self.facts.is_private(id) {
            self.facts.put_in_memory(id);
            return false;
        }
        true
    }

    /// Reads one scalar; nothing if this way has ended.
    pub(super) fn read_scalar(&mut self, state: &mut State, pointer: Val, size: u64, order: Order, into: RegId, out: &mut Vec<Stmt>) -> Option<Val> {
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
                let addresses = self.targets(register, size).addresses;
                // The pointer may be in the register that gets the value.
                self.dispatch(register, &addresses, out, &mut |this, address, out| {
                    let Some((id, at)) = this.inside(address, size) else { return };
                    if !this.reached(address) {
                        return;
                    }
                    if let Some(value) = this.read(None, (id, at, size), order, into, out)
                        && value != Val::Reg(into)
                    {
                        let held = this.addresses_of(value);
                        this.may_hold(into, &held);
                        this.emit(out, StmtKind::Assign(into, code_of(value)));
                    }
                });
                Some(Val::Reg(into))
            }
        }
    }

    /// Writes one scalar.
    pub(super) fn write_scalar(&mut self, state: &mut State, pointer: Val, size: u64, value: Val, order: Order, out: &mut Vec<Stmt>) -> Option<()> {
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
                let addresses = self.targets(register, size).addresses;
                self.lose(state, &addresses, value);
                self.dispatch(register, &addresses, out, &mut |this, address, out| {
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
    fn lose(&mut self, state: &mut State, addresses: &[i128], value: Val) {
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

    pub(super) fn load(&mut self, state: &mut State, (ty, pointer, order): At, result: u32, out: &mut Vec<Stmt>) -> Option<bool> {
        let scalars = self.scalars(ty);
        let mut values = Vec::new();
        for (part, (offset, scalar)) in scalars.into_iter().enumerate() {
            let (size, _) = self.layout.size(scalar)?;
            let pointer = self.moved(pointer, offset, out);
            let into = self.home(state, result, part as u32);
            let Some(value) = self.read_scalar(state, pointer, size, order, into, out) else { return Some(false) };
            let bits = self.bits(scalar);
            let value = match value {
                Val::Known(n) => Val::Known(weir_llvm::wrap(n, bits)),
                Val::Reg(r) if u64::from(bits) < size * 8 => {
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
                self.emit(out, StmtKind::Assign(register, binary(BinOp::Add, Expr::Atom(r), number(i128::from(offset)))));
                self.may_hold(register, &held);
                Val::Reg(register)
            }
            pointer => pointer,
        }
    }

    pub(super) fn store(&mut self, state: &mut State, (ty, pointer, order): At, values: &[Val], out: &mut Vec<Stmt>) -> Option<bool> {
        for ((offset, scalar), value) in self.scalars(ty).into_iter().zip(values) {
            let (size, _) = self.layout.size(scalar)?;
            let pointer = self.moved(pointer, offset, out);
            if self.write_scalar(state, pointer, size, *value, order, out).is_none() {
                return Some(false);
            }
        }
        state.top().at += 1;
        Some(true)
    }

    /// What an atomic operation writes.
    fn updated(&self, update: Update, bits: u32, old: Code, value: Code) -> Option<Code> {
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
    fn is_computed(&self, state: &State, pointer: Val, size: u64) -> Option<(ObjectId, u64)> {
        let Val::Known(address) = pointer else { return None };
        let (id, at) = self.inside(address, size)?;
        let is_here = self.is_alone || self.facts.is_private(id) && state.own.contains_key(&id);
        is_here.then_some((id, at))
    }

    pub(super) fn update(&mut self, state: &mut State, (ty, pointer, order): At, (update, value): (Update, Val), result: u32, out: &mut Vec<Stmt>) -> Option<bool> {
        let (size, _) = self.layout.size(ty)?;
        let bits = self.bits(ty);
        self.note_order(order);
        let into = self.home(state, result, 0);
        if self.updated(update, bits, number(0), number(0)).is_none() {
            self.refuse("this atomic operation is not read");
            return None;
        }
        if self.is_computed(state, pointer, size).is_some() {
            let Some(old) = self.read_scalar(state, pointer, size, order, into, out) else { return Some(false) };
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
            _ if self.addresses_of(value).is_empty() => Addresses::default(),
            _ => Addresses::Any,
        };
        let new = self.updated(update, bits, Expr::Atom(into), code_of(value))?;
        let rmw = match update {
            Update::Xchg => Rmw::Swap(code_of(value)),
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

    /// A value in a register that belongs to the result of an instruction.
    fn kept(&mut self, state: &mut State, result: u32, code: Code, out: &mut Vec<Stmt>) -> Val {
        match code {
            Expr::Const(n) => Val::Known(n),
            Expr::Atom(r) => Val::Reg(r),
            code => {
                let context = state.top().context;
                let mut number = 100;
                let register = loop {
                    let register = self.register(super::Home::Local(context, result, 0, number), || "new".into());
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

    /// One atomic read-write, wherever the pointer leads. Returns whether execution goes on.
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
            this.check_freed(id, out);
            this.give_away(held);
            this.facts.store(id, at, held);
            let mut before = this.facts.read(id, at, size);
            for (.., value) in this.in_memory(id).clone().over(at, size) {
                before.add(&this.addresses_of(value));
            }
            if !before.is_empty() && new.is_some() && !matches!(rmw, Rmw::Swap(_)) {
                // Flags in the low bits of addresses.
                this.facts.store(id, at, &Addresses::Any);
                before = Addresses::Any;
            }
            this.may_hold(into, &before);
            let place = this.one_place(id, at, size, order, true)?;
            this.note_access(&place, true, out);
            match (is_atomic, rmw, new) {
                (true, Rmw::Update { .. }, Some(new)) => {
                    this.emit(out, StmtKind::Load(into, place.clone()));
                    this.emit(out, StmtKind::Store(place, new.clone()));
                }
                _ => this.emit(out, StmtKind::Rmw(into, place, rmw.clone())),
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
                    Some((id, _)) if state.own.contains_key(&id) => drop(state.own.remove(&id)),
                    Some(_) => {}
                }
                let is_done = one(self, address, out).is_some();
                self.escape(state, held);
                Some(is_done)
            }
            Val::Reg(register) => {
                let addresses = self.targets(register, size).addresses;
                for address in &addresses {
                    if let Some((id, _)) = self.facts.find(*address)
                        && !self.facts.is_private(id)
                    {
                        state.own.remove(&id);
                    }
                }
                self.escape(state, held);
                self.dispatch(register, &addresses, out, &mut |this, address, out| {
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
        let (size, _) = self.layout.size(ty)?;
        self.note_order(success);
        let into = self.home(state, result, 0);
        if self.is_computed(state, pointer, size).is_some() {
            let Some(old) = self.read_scalar(state, pointer, size, success, into, out) else { return Some(false) };
            state.top().values.insert(result, vec![old]);
            let is_same = binary(BinOp::Eq, code_of(old), code_of(expected));
            let flag = self.kept(state, result, is_same.clone(), out);
            state.top().values.insert(result, vec![old, flag]);
            let mut held = self.addresses_of(old);
            held.add(&self.addresses_of(new));
            let new = self.kept(state, result, choose(code_of(flag), code_of(new), code_of(old)), out);
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
        let rmw = Rmw::Cas { expected: code_of(expected), new: code_of(new), failure: Some(failure) };
        // The register that gets the value may be the one in which the expected one is.
        let mut exchange = Vec::new();
        let goes_on = self.rmw(state, pointer, size, success, into, (&rmw, &held, None), &mut exchange)?;
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

