//! Allocation.
//!
//! Each place of the code that allocates has some objects for each thread. Memory is never used twice, so every use of
//! freed memory is found. Using more than the pool is a limit.

use weir_model::program::{BinOp, Expr, Order, Stmt, StmtKind};

use super::Reader;
use super::explore::State;
use super::number::{binary, number};
use super::objects::{Flag, Key, Val};

impl Reader<'_> {
    /// Allocation. The results are those of [`Self::locks`].
    pub(super) fn allocation(
        &mut self,
        state: &mut State,
        name: &str,
        arguments: &[Val],
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        let is_rust = |word: &str| name.ends_with(word);
        let size = match name {
            "malloc"
            | "_Znwm"
            | "_Znam"
            | "_ZnwmSt11align_val_t"
            | "_ZnamSt11align_val_t"
            | "_ZnwmRKSt9nothrow_t" => argument(0),
            "aligned_alloc" | "memalign" => argument(1),
            "calloc" => match (argument(0), argument(1)) {
                (Val::Known(a), Val::Known(b)) => Val::Known(a.checked_mul(b)?),
                _ => Val::Undef,
            },
            "posix_memalign" => argument(2),
            "realloc" => argument(1),
            _ if is_rust("__rust_alloc") || is_rust("__rust_alloc_zeroed") => argument(0),
            _ if is_rust("__rust_realloc") => argument(3),
            "free"
            | "_ZdlPv"
            | "_ZdaPv"
            | "_ZdlPvm"
            | "_ZdaPvm"
            | "_ZdlPvSt11align_val_t"
            | "_ZdlPvmSt11align_val_t" => {
                return Some(self.free(state, argument(0), out).map(|()| Val::Known(0)));
            }
            _ if is_rust("__rust_dealloc") => {
                return Some(self.free(state, argument(0), out).map(|()| Val::Known(0)));
            }
            _ if name.contains("__rust_no_alloc_shim_is_unstable") => {
                return Some(Some(Val::Known(0)));
            }
            _ => return None,
        };
        let Val::Known(bytes) = size else {
            self.refuse("how much memory is allocated here is only known when the program runs");
            return Some(None);
        };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if bytes > 1 << 24 {
            self.refuse(format!("{bytes} bytes are allocated here, which is more than is read"));
            return Some(None);
        }
        let Some(new) =
            self.allocate(state, bytes, name.contains("calloc") || name.contains("zeroed"), out)
        else {
            return Some(None);
        };
        let is_again = name == "realloc" || is_rust("__rust_realloc");
        if is_again && argument(0) != Val::Known(0) {
            let old = match argument(0) {
                Val::Known(address) => {
                    self.facts.find(address).map(|(id, _)| self.facts.get(id).size)
                }
                _ => None,
            };
            let Some(old) = old else {
                self.refuse("which memory is made larger here is only known when the program runs");
                return Some(None);
            };
            match self.copy(state, new, argument(0), old.min(bytes), out) {
                Some(true) => {}
                _ => return Some(None),
            }
            if self.free(state, argument(0), out).is_none() {
                return Some(None);
            }
        }
        if name == "posix_memalign" {
            let done = self.write_scalar(state, argument(0), 8, new, Order::Plain, out);
            return Some(done.map(|()| Val::Known(0)));
        }
        Some(Some(new))
    }

    /// A new object. Each place that allocates has some for each thread; more than that is a limit.
    pub(super) fn allocate(
        &mut self,
        state: &mut State,
        size: u64,
        is_zero: bool,
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
            self.limit("allocated", out);
            return None;
        }
        let key = Key::Heap(self.current, site, 0, number_of);
        let id = self.facts.object(key, || "heap".to_owned(), size, false);
        self.memory.remove(&id);
        self.begin_object(state, id);
        if !is_zero && let Some(bytes) = state.own.get_mut(&id) {
            bytes.rest = Val::Undef;
        }
        Some(Val::Known(self.facts.get(id).base))
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
            let flag = this.flag(Flag::Freed, id as usize);
            let is_freed = this.temporary();
            let place = this.place(flag, 0, 8, Order::Relaxed, false);
            this.emit(out, StmtKind::Load(is_freed, place));
            this.check(super::number::not(Expr::Atom(is_freed)), TWICE, out);
            let place = this.place(flag, 0, 8, Order::Relaxed, true);
            this.emit(out, StmtKind::Store(place, number(1)));
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
                let addresses: Vec<i128> = self.targets(register, 0).addresses;
                let bases = addresses.into_iter().filter(|a| {
                    let found = self.facts.find(*a);
                    matches!(found, Some((id, 0)) if matches!(self.facts.get(id).key, Key::Heap(..)))
                });
                let bases: Vec<i128> = bases.collect();
                for address in &bases {
                    if let Some((id, _)) = self.facts.find(*address) {
                        if self.facts.is_private(id) {
                            self.facts.put_in_memory(id);
                        }
                        state.own.remove(&id);
                    }
                }
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
