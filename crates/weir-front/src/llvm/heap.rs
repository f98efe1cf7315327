//! Allocation.
//!
//! Each place of the code that allocates has some objects for each thread; using more is a limit. A program may get
//! memory that was never used, so every use of freed memory is found. It may also get memory that was freed, as from an allocator, if that
//! has the same size and was allocated by the same function of the library, such as `Box::<T>::new`: so a pointer may be equal to
//! one that is stale. Freeing memory happens before it is used again.
//!
//! **Sizes that only the run knows.** Such an object has [`MOST`] bytes, and its size is a number in memory, which
//! accesses check.

use std::collections::BTreeSet;

use weir_model::program::{BinOp, Code, Expr, Order, Rmw, Stmt, StmtKind};

use super::Reader;
use super::explore::{State, code_of};
use super::names::plain_name;
use super::number::{binary, number};
use super::objects::{Flag, Key, ObjectId, Origin, Val};
use super::pointer::Targets;

/// How many bytes an object has whose size only the run knows. A program that allocates more reaches a limit.
pub(super) const MOST: u64 = 64;

/// What a program asks of an allocator.
pub(super) struct Request {
    size: Val,
    is_zero: bool,
    /// What is made larger: its address and its size, if that is known.
    old: Option<(Val, Option<Val>)>,
    /// Where the address is written; otherwise it is the result.
    into: Option<Val>,
}

impl Reader<'_> {
    /// What a function asks of the allocator, if it is one that allocates.
    pub(super) fn request(&self, name: &str, arguments: &[Val]) -> Option<Request> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        let is_rust = |word: &str| name.ends_with(word);
        let plain = |size| Request { size, is_zero: false, old: None, into: None };
        let again = |old: Val, size| (old != Val::Known(0)).then_some((old, size));
        Some(match name {
            "malloc"
            | "_Znwm"
            | "_Znam"
            | "_ZnwmSt11align_val_t"
            | "_ZnamSt11align_val_t"
            | "_ZnwmRKSt9nothrow_t" => plain(argument(0)),
            "aligned_alloc" | "memalign" => plain(argument(1)),
            "calloc" => {
                let size = match (argument(0), argument(1)) {
                    (Val::Known(a), Val::Known(b)) => Val::Known(a.checked_mul(b)?),
                    _ => Val::Undef,
                };
                Request { is_zero: true, ..plain(size) }
            }
            "posix_memalign" => Request { into: Some(argument(0)), ..plain(argument(2)) },
            "realloc" => Request { old: again(argument(0), None), ..plain(argument(1)) },
            _ if is_rust("__rust_alloc") => plain(argument(0)),
            _ if is_rust("__rust_alloc_zeroed") => Request { is_zero: true, ..plain(argument(0)) },
            _ if is_rust("__rust_realloc") => {
                Request { old: again(argument(0), Some(argument(1))), ..plain(argument(3)) }
            }
            _ => return None,
        })
    }

    /// Executes a function that frees memory, or has to do with allocation otherwise.
    pub(super) fn freeing(
        &mut self,
        state: &mut State,
        name: &str,
        pointer: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        match name {
            "free"
            | "_ZdlPv"
            | "_ZdaPv"
            | "_ZdlPvm"
            | "_ZdaPvm"
            | "_ZdlPvSt11align_val_t"
            | "_ZdlPvmSt11align_val_t" => {}
            _ if name.ends_with("__rust_dealloc") => {}
            _ if name.contains("__rust_no_alloc_shim_is_unstable") => {
                return Some(Some(Val::Known(0)));
            }
            _ => return None,
        }
        Some(self.free(state, pointer, out).map(|()| Val::Known(0)))
    }

    /// Allocates. Where memory may be used again, each object is a way of its own.
    pub(super) fn allocate(
        &mut self,
        state: &mut State,
        request: &Request,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let size = match request.size {
            Val::Known(size) => u64::try_from(size).unwrap_or(u64::MAX),
            Val::Reg(_) => MOST,
            Val::Undef => {
                self.refuse("how much memory is allocated here is not known");
                return None;
            }
        };
        if size > 1 << 24 {
            self.refuse(format!("{size} bytes are allocated here, which is more than is read"));
            return None;
        }
        let unused: BTreeSet<ObjectId> = match self.is_alone || matches!(request.size, Val::Reg(_))
        {
            true => BTreeSet::new(),
            false => {
                let origin = self.origin(state);
                self.reusable(size, origin)
            }
        };
        if !unused.is_empty() {
            let choice = self.temporary();
            let numbers = (0..=unused.len() as i128).collect();
            self.emit(out, StmtKind::Any(choice, numbers));
            for (number_of, id) in unused.into_iter().enumerate() {
                let mut way = Vec::new();
                self.use_again(state.clone(), id, request, result, &mut way, depth)?;
                let is_it = binary(BinOp::Eq, Expr::Atom(choice), number(number_of as i128 + 1));
                self.emit(out, StmtKind::If(is_it, way, Vec::new()));
            }
        }
        let Some(new) = self.never_used(state, size, request, out) else { return Some(false) };
        self.allocated(state, new, request, result, out, depth)
    }

    /// How memory is allocated.
    fn origin(&self, state: &State) -> Origin {
        let is_library = |function: usize| {
            let name = plain_name(&self.module.functions[function].name);
            let name = name.trim_start_matches('<');
            ["alloc::", "core::", "std::"].iter().any(|part| name.starts_with(part))
        };
        let functions = || state.frames.iter().map(|frame| frame.function);
        let at = functions().rposition(|function| !is_library(function)).unwrap_or(0);
        functions().nth(at + 1)
    }

    /// The objects of a size that may have been freed.
    fn reusable(&mut self, size: u64, origin: Origin) -> BTreeSet<ObjectId> {
        let facts = &mut self.facts;
        let is_alike = |id: &ObjectId| {
            facts.objects[*id as usize].size == size
                && facts.origins.get(id) == Some(&origin)
                && !facts.sized.contains(id)
        };
        let found: BTreeSet<ObjectId> = facts.freed.iter().copied().filter(is_alike).collect();
        for id in &found {
            facts.is_changed |= facts.reused.insert(*id);
        }
        found
    }

    /// Takes an object that was freed, if it was.
    fn use_again(
        &mut self,
        mut state: State,
        id: ObjectId,
        request: &Request,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<()> {
        let free = self.flag(Flag::Free, id as usize);
        let place = self.place(free, 0, 8, Order::AcquireRelease, true);
        let old = self.temporary();
        let failure = Some(Order::Relaxed);
        let take = Rmw::Cas { expected: number(1), new: number(0), failure };
        self.emit(out, StmtKind::Rmw(old, place, take));
        let mut taken = Vec::new();
        let freed = self.flag(Flag::Freed, id as usize);
        let place = self.place(freed, 0, 8, Order::Plain, true);
        self.emit(&mut taken, StmtKind::Store(place, number(0)));
        state.own.remove(&id);
        let new = Val::Known(self.facts.get(id).base);
        let is_over = !request.is_zero || {
            let size = self.facts.get(id).size;
            self.set_bytes(&mut state, new, Val::Known(0), size, &mut taken)?
        };
        if is_over && self.allocated(&mut state, new, request, result, &mut taken, depth + 1)? {
            match state.is_atomic {
                true => self.explore(state, &mut taken, depth + 1),
                false => self.point(state, &mut taken),
            }
        }
        let is_taken = binary(BinOp::Eq, Expr::Atom(old), number(1));
        self.emit(out, StmtKind::If(is_taken, taken, Vec::new()));
        Some(())
    }

    /// Goes on behind an allocation.
    fn allocated(
        &mut self,
        state: &mut State,
        new: Val,
        request: &Request,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        if let Some((old, size)) = request.old {
            let size = match (size, old) {
                (Some(size), _) => size,
                (None, Val::Known(address)) => {
                    let found = self.facts.find(address).map(|(id, _)| id);
                    let known = found.filter(|id| !self.facts.sized.contains(id));
                    known.map_or(Val::Undef, |id| Val::Known(i128::from(self.facts.get(id).size)))
                }
                _ => Val::Undef,
            };
            let goes_on = match (size, request.size) {
                (Val::Known(old_size), Val::Known(size)) => {
                    let size = u64::try_from(old_size.min(size)).ok()?;
                    self.copy(state, new, old, size, out)?
                }
                (Val::Undef, _) | (_, Val::Undef) => {
                    self.refuse(
                        "which memory is made larger here is only known when the program runs",
                    );
                    return None;
                }
                (old_size, size) => {
                    let less = binary(BinOp::Min, code_of(old_size), code_of(size));
                    self.copy_some(state, new, old, less, out)?
                }
            };
            if !goes_on || self.free(state, old, out).is_none() {
                return Some(false);
            }
        }
        let given = match request.into {
            None => new,
            Some(into) => {
                if self.write_scalar(state, into, 8, new, Order::Plain, out).is_none() {
                    return Some(false);
                }
                Val::Known(0)
            }
        };
        if let Some(result) = result {
            state.top().values.insert(result, vec![given]);
        }
        self.behind(state, out, depth)
    }

    /// A new object. Each place that allocates has some for each thread; more than that is a limit.
    fn never_used(
        &mut self,
        state: &mut State,
        size: u64,
        request: &Request,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let top = state.top();
        let (context, function, block, at) = (top.context, top.function, top.block, top.at);
        let site = self.facts.context(context, function, block, at);
        let count = state.allocated.entry((site, block, at as u32)).or_insert(0);
        let number_of = *count;
        *count += 1;
        let pool = if self.is_alone { 10_000 } else { self.options.pool };
        if number_of >= pool {
            self.limit(&format!("a thread needs more than {pool} allocations (`--pool`)"), out);
            return None;
        }
        let known = match request.size {
            Val::Known(_) => Some(size),
            _ => None,
        };
        let key = Key::Heap(self.current, site, known, number_of);
        let id = self.facts.object(key, || "heap".to_owned(), size, false);
        let origin = self.origin(state);
        self.facts.origins.entry(id).or_insert(origin);
        if request.is_zero {
            self.facts.zeroed.insert(id);
        }
        self.memory.remove(&id);
        self.begin_object(state, id);
        self.note_allocation(id, out);
        if let Val::Reg(_) = request.size {
            // All of it is in memory: what the thread knows would depend on the size.
            self.facts.is_changed |= self.facts.sized.insert(id);
            self.facts.escape(id);
            state.own.remove(&id);
            let is_more = binary(BinOp::Gt, code_of(request.size), number(i128::from(MOST)));
            let mut more = Vec::new();
            self.limit(&format!("more than {MOST} bytes are allocated at once"), &mut more);
            self.emit(out, StmtKind::If(is_more, more, Vec::new()));
            let flag = self.flag(Flag::Size, id as usize);
            let place = self.place(flag, 0, 8, Order::Plain, true);
            self.emit(out, StmtKind::Store(place, code_of(request.size)));
        }
        Some(Val::Known(self.facts.get(id).base))
    }

    /// Before a statement accesses bytes of an object: it must not be freed, and have them.
    pub(super) fn check_alive(&mut self, (id, at, size): super::Cell, out: &mut Vec<Stmt>) {
        if self.is_checked {
            return;
        }
        self.check_freed(id, out);
        if self.facts.sized.contains(&id) {
            self.check_size(id, number(i128::from(at + size)), out);
        }
    }

    /// Fails if an object ends before so many bytes.
    pub(super) fn check_size(&mut self, id: ObjectId, end: Code, out: &mut Vec<Stmt>) {
        let size = match self.facts.sized.contains(&id) {
            false => number(i128::from(self.facts.get(id).size)),
            true => {
                let flag = self.flag(Flag::Size, id as usize);
                let has = self.temporary();
                let place = self.place(flag, 0, 8, Order::Plain, false);
                self.emit(out, StmtKind::Load(has, place));
                Expr::Atom(has)
            }
        };
        let name = self.facts.get(id).name.clone();
        let is_inside = binary(BinOp::Le, end, size);
        self.check(is_inside, &format!("an access outside of `{name}`"), out);
    }

    /// In which pieces memory is copied or set of which only the run knows how much it is, and up to where. What is accessed there
    /// is no longer known to this thread alone.
    pub(super) fn some_pieces(
        &mut self,
        state: &mut State,
        pointers: &[Val],
    ) -> (Vec<(u64, u64)>, u64) {
        let mut cuts = BTreeSet::from([0]);
        let mut most = 0;
        for pointer in pointers {
            let held = self.addresses_of(*pointer);
            self.escape(state, &held);
            let addresses: Vec<i128> = match pointer {
                Val::Known(address) => vec![*address],
                Val::Reg(register) => self.targets(*register, 0).addresses,
                Val::Undef => vec![],
            };
            for address in addresses {
                let Some((id, at)) = self.inside(address, 0) else { continue };
                if self.facts.is_private(id) {
                    self.facts.put_in_memory(id);
                }
                let size = self.facts.get(id).size;
                most = (size - at).clamp(most, MOST);
                for (start, length) in self.facts.accesses_of(id) {
                    cuts.extend(
                        [start, start + length].into_iter().filter(|c| *c >= at).map(|c| c - at),
                    );
                }
            }
        }
        cuts.insert(most);
        let cuts: Vec<u64> = cuts.into_iter().filter(|cut| *cut <= most).collect();
        let mut pieces = Vec::new();
        for pair in cuts.windows(2) {
            let (mut at, end) = (pair[0], pair[1]);
            while at < end {
                let fits = |s: &u64| at.is_multiple_of(*s) && at + s <= end;
                let length = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
                pieces.push((at, length));
                at += length;
            }
        }
        (pieces, most)
    }

    /// Checks that so many bytes can be copied or set in pieces: no piece in part, and no more than there is.
    pub(super) fn check_pieces(
        &mut self,
        count: &Code,
        (pieces, most): (&[(u64, u64)], u64),
        out: &mut Vec<Stmt>,
    ) {
        let mut broken = binary(BinOp::Gt, count.clone(), number(i128::from(most)));
        for (at, length) in pieces.iter().filter(|(_, length)| *length > 1) {
            let begins = binary(BinOp::Gt, count.clone(), number(i128::from(*at)));
            let ends = binary(BinOp::Lt, count.clone(), number(i128::from(at + length)));
            broken = binary(BinOp::Or, broken, binary(BinOp::And, begins, ends));
        }
        let mut limit = Vec::new();
        self.limit("memory is copied or set in pieces that are not followed", &mut limit);
        self.emit(out, StmtKind::If(broken, limit, Vec::new()));
    }

    /// Frees memory.
    pub(super) fn free(
        &mut self,
        state: &mut State,
        pointer: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        const NOT_ALLOCATED: &str = "what is freed here is not the beginning of allocated memory";
        const TWICE: &str = "memory is freed twice";
        let one = |this: &mut Self, address: i128, out: &mut Vec<Stmt>| {
            let found = this.facts.find(address);
            let Some((id, 0)) = found else { return this.fail(NOT_ALLOCATED, out) };
            if !matches!(this.facts.get(id).key, Key::Heap(..)) {
                return this.fail(NOT_ALLOCATED, out);
            }
            this.facts.is_changed |= this.facts.freed.insert(id);
            // Not atomic: an access that does not happen before it is a race.
            let flag = this.flag(Flag::Freed, id as usize);
            let is_freed = this.temporary();
            let place = this.place(flag, 0, 8, Order::Plain, false);
            this.emit(out, StmtKind::Load(is_freed, place));
            this.check(super::number::not(Expr::Atom(is_freed)), TWICE, out);
            let place = this.place(flag, 0, 8, Order::Plain, true);
            this.emit(out, StmtKind::Store(place, number(1)));
            if this.facts.reused.contains(&id) {
                let free = this.flag(Flag::Free, id as usize);
                let place = this.place(free, 0, 8, Order::Release, true);
                this.emit(out, StmtKind::Store(place, number(1)));
            }
            Some(true)
        };
        match pointer {
            Val::Known(0) => Some(()),
            Val::Undef => {
                self.fail(NOT_ALLOCATED, out);
                None
            }
            Val::Known(address) => {
                let found = self.facts.find(address);
                if let Some((id, 0)) = found
                    && matches!(self.facts.get(id).key, Key::Heap(..))
                    && (self.is_alone || self.facts.is_private(id))
                {
                    if !state.own.contains_key(&id) && self.facts.reach(id) {
                        return None;
                    }
                    if !state.dead.insert(id) {
                        self.fail(TWICE, out);
                        return None;
                    }
                    self.note_freed(id);
                    state.own.remove(&id);
                    return Some(());
                }
                if let Some((id, _)) = found {
                    if state.dead.contains(&id) {
                        self.fail(TWICE, out);
                        return None;
                    }
                    state.own.remove(&id);
                }
                one(self, address, out).filter(|goes_on| *goes_on).map(drop)
            }
            Val::Reg(register) => {
                self.must_be_set(pointer, out);
                // Only the beginning of an allocation can be freed.
                let held = self.threads[self.current].homes[register.index()].1.clone();
                let found = self.facts.objects_of(&held).into_iter();
                let bases = found.map(|id| self.facts.get(id)).filter(|object| {
                    let is_listed = held.these.contains(&object.base);
                    let is_within = || held.within.contains(&self.facts.by_key[&object.key]);
                    matches!(object.key, Key::Heap(..)) && (is_listed || is_within())
                });
                let mut addresses: Vec<i128> = bases.map(|object| object.base).collect();
                addresses.sort_unstable();
                for address in &addresses {
                    if let Some((id, _)) = self.facts.find(*address) {
                        if self.facts.is_private(id) {
                            self.facts.put_in_memory(id);
                        }
                        state.own.remove(&id);
                    }
                }
                let bases = Targets { addresses, is_partial: held.is_partial || held.is_empty() };
                let (mut some, mut none) = (Vec::new(), Vec::new());
                self.dispatch(register, &bases, &mut some, &mut |this, address, out| {
                    one(this, address, out);
                });
                let is_null = binary(BinOp::Eq, Expr::Atom(register), number(0));
                none.append(&mut some);
                self.emit(out, StmtKind::If(is_null, Vec::new(), none));
                Some(())
            }
        }
    }
}
