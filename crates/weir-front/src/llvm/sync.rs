//! Locks, semaphores, barriers and waiting.
//!
//! A lock is a number in memory: 0 if it is free. Locking waits for that, and sets it, in one step.

use weir_model::program::{BinOp, Code, Expr, Order, Rmw, Stmt, StmtKind};

use super::Reader;
use super::explore::{State, code_of};
use super::number::{binary, choose, number};
use super::objects::{Addresses, Val};

impl Reader<'_> {
    /// One atomic step on a word of four bytes. The register that gets what is read is returned, unless the way ends here.
    pub(super) fn word(
        &mut self,
        state: &mut State,
        pointer: Val,
        order: Order,
        rmw: impl FnOnce(Code) -> Rmw,
        out: &mut Vec<Stmt>,
    ) -> Option<Code> {
        let into = self.temporary();
        let rmw = rmw(Expr::Atom(into));
        if self.is_alone
            && let Val::Known(address) = pointer
            && let Some((id, at)) = self.inside(address, 4)
        {
            // Nobody else is there yet.
            let bytes = self.in_memory(id).clone();
            let old = match bytes.over(at, 4)[..] {
                [] => Some(0),
                [(start, 4, Val::Known(n))] if start == at => Some(n),
                _ => None,
            };
            let applied = |code: &Code, old| code.eval(&mut |_| old).ok();
            let new = old.and_then(|old| match &rmw {
                Rmw::Update { when, new } => {
                    (applied(when, old)? != 0).then(|| applied(new, old))?
                }
                Rmw::Cas { expected, new, .. } => {
                    if applied(expected, old)? == old {
                        applied(new, old)
                    } else {
                        Some(old)
                    }
                }
                _ => None,
            });
            if let (Some(old), Some(new)) = (old, new) {
                self.write_scalar(state, pointer, 4, Val::Known(new), order, out)?;
                return Some(number(old));
            }
        }
        let goes_on =
            self.rmw(state, pointer, 4, order, into, (&rmw, &Addresses::default(), None), out)?;
        goes_on.then_some(Expr::Atom(into))
    }

    /// Waits until a word is free and takes it.
    pub(super) fn lock(
        &mut self,
        state: &mut State,
        pointer: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let free = |old| Rmw::Update { when: binary(BinOp::Eq, old, number(0)), new: number(1) };
        self.word(state, pointer, Order::Acquire, free, out).map(drop)
    }

    /// Locks a mutex of POSIX, which may be of a kind that is not read: the kind is behind 16 bytes.
    fn lock_mutex(&mut self, state: &mut State, pointer: Val, out: &mut Vec<Stmt>) -> Option<()> {
        if let Val::Known(address) = pointer
            && let Some((id, at)) = self.inside(address, 20)
            && let [(_, _, Val::Known(kind))] = self.in_memory(id).over(at + 16, 4)[..]
            && kind != 0
        {
            self.refuse(
                "a mutex that a thread may lock twice, or whose errors are told, is not read",
            );
            return None;
        }
        self.lock(state, pointer, out)
    }

    /// Frees a lock.
    pub(super) fn unlock(
        &mut self,
        state: &mut State,
        pointer: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        self.write_scalar(state, pointer, 4, Val::Known(0), Order::Release, out)
    }

    /// Takes a lock if it is free. The result is what was there before.
    pub(super) fn try_lock(
        &mut self,
        state: &mut State,
        pointer: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<Code> {
        let take =
            |_| Rmw::Cas { expected: number(0), new: number(1), failure: Some(Order::Relaxed) };
        self.word(state, pointer, Order::Acquire, take, out)
    }

    /// A wait for a condition variable: a thread may wake without a reason, so this is all that is promised.
    pub(super) fn wait(
        &mut self,
        state: &mut State,
        mutex: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        self.unlock(state, mutex, out)?;
        self.lock(state, mutex, out)
    }

    /// Waits until a word has, or has not, a value.
    pub(super) fn wait_for(
        &mut self,
        state: &mut State,
        pointer: Val,
        value: Val,
        is_equal: bool,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let into = self.temporary();
        let mut block = Vec::new();
        let read = self.read_scalar(state, pointer, 4, Order::Acquire, into, &mut block);
        let Some(read) = read else {
            out.extend(block);
            return None;
        };
        let op = if is_equal { BinOp::Eq } else { BinOp::Ne };
        let is_over = binary(op, code_of(read), code_of(value));
        match is_over {
            Expr::Const(n) if n != 0 => {}
            Expr::Const(_) => {
                self.emit(out, StmtKind::Await(Vec::new(), number(0)));
                return None;
            }
            code => self.emit(out, StmtKind::Await(block, code)),
        }
        Some(())
    }

    /// A barrier: how many threads there are, how many have come, and how many rounds there were.
    pub(super) fn barrier(
        &mut self,
        state: &mut State,
        barrier: Val,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let count = self.moved(barrier, 4, out);
        let round = self.moved(barrier, 8, out);
        let (size, before) = (self.temporary(), self.temporary());
        let before = self.read_scalar(state, round, 4, Order::Relaxed, before, out)?;
        let size = self.read_scalar(state, barrier, 4, Order::Relaxed, size, out)?;
        let more =
            |old: Code| Rmw::Update { when: number(1), new: binary(BinOp::Add, old, number(1)) };
        let arrived = self.word(state, count, Order::AcquireRelease, more, out)?;
        let is_last = binary(BinOp::Eq, binary(BinOp::Add, arrived, number(1)), code_of(size));
        let context = state.top().context;
        let last = self
            .register(super::Home::Local(context, result.unwrap_or(u32::MAX), 0, 300), || {
                "last".into()
            });
        self.emit(out, StmtKind::Assign(last, is_last));
        let (mut then, mut other) = (Vec::new(), Vec::new());
        self.write_scalar(state, count, 4, Val::Known(0), Order::Relaxed, &mut then)?;
        self.word(state, round, Order::AcquireRelease, more, &mut then)?;
        self.wait_for(state, round, before, false, &mut other)?;
        self.emit(out, StmtKind::If(Expr::Atom(last), then, other));
        let value = self
            .register(super::Home::Local(context, result.unwrap_or(u32::MAX), 0, 301), || {
                "serial".into()
            });
        self.emit(out, StmtKind::Assign(value, choose(Expr::Atom(last), number(-1), number(0))));
        Some(Val::Reg(value))
    }

    /// The guard of a variable that is initialized once. The result says whether the caller does it; then it holds the guard.
    pub(super) fn guard(
        &mut self,
        state: &mut State,
        guard: Val,
        result: u32,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let pending = self.moved(guard, 4, out);
        self.lock(state, pending, out)?;
        let into = self.home(state, result, 0);
        let done = self.read_scalar(state, guard, 1, Order::Relaxed, into, out)?;
        match done {
            Val::Known(0) => return Some(Val::Known(1)),
            Val::Known(_) | Val::Undef => {
                self.unlock(state, pending, out)?;
                return Some(Val::Known(0));
            }
            Val::Reg(_) => {}
        }
        let mut free = Vec::new();
        self.unlock(state, pending, &mut free)?;
        self.emit(out, StmtKind::If(code_of(done), free, Vec::new()));
        self.emit(out, StmtKind::Assign(into, super::number::not(code_of(done))));
        Some(Val::Reg(into))
    }

    /// Locks and all that threads wait for. The outer result says whether this is such a function, the inner one whether it goes on.
    pub(super) fn locks(
        &mut self,
        state: &mut State,
        name: &str,
        arguments: &[Val],
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        let zero = |done: Option<()>| Some(done.map(|()| Val::Known(0)));
        let first = argument(0);
        match name {
            "pthread_mutex_lock" => zero(self.lock_mutex(state, first, out)),
            "pthread_spin_lock" | "mtx_lock" | "weir_lock" => zero(self.lock(state, first, out)),
            "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" | "weir_unlock" => {
                zero(self.unlock(state, first, out))
            }
            "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" | "weir_try_lock" => {
                let Some(old) = self.try_lock(state, first, out) else { return Some(None) };
                let code = match name {
                    "weir_try_lock" => binary(BinOp::Eq, old, number(0)),
                    _ => choose(binary(BinOp::Eq, old, number(0)), number(0), number(16)),
                };
                self.given(state, code, result, out)
            }
            "pthread_mutex_init" | "pthread_spin_init" | "mtx_init" | "pthread_rwlock_init" => {
                let is_recursive =
                    name == "mtx_init" && !matches!(argument(1), Val::Known(n) if n & 1 == 0);
                if is_recursive {
                    self.refuse("a mutex that a thread may lock twice is not read");
                    return Some(None);
                }
                zero(self.write_scalar(state, first, 4, Val::Known(0), Order::Relaxed, out))
            }
            "pthread_mutexattr_settype" | "pthread_mutexattr_setrobust" => {
                if argument(1) != Val::Known(0) {
                    self.refuse("a mutex that a thread may lock twice, or whose errors are told, is not read");
                    return Some(None);
                }
                Some(Some(Val::Known(0)))
            }
            "pthread_cond_wait" | "cnd_wait" => zero(self.wait(state, argument(1), out)),
            "pthread_rwlock_rdlock" => {
                let read = |old: Expr<_>| Rmw::Update {
                    when: binary(BinOp::Ge, old.clone(), number(0)),
                    new: binary(BinOp::Add, old, number(1)),
                };
                zero(self.word(state, first, Order::Acquire, read, out).map(drop))
            }
            "pthread_rwlock_wrlock" => {
                let write =
                    |old| Rmw::Update { when: binary(BinOp::Eq, old, number(0)), new: number(-1) };
                zero(self.word(state, first, Order::Acquire, write, out).map(drop))
            }
            "pthread_rwlock_unlock" => {
                let free = |old: Expr<_>| {
                    let is_writer = binary(BinOp::Lt, old.clone(), number(0));
                    let less = binary(BinOp::Sub, old, number(1));
                    Rmw::Update { when: number(1), new: choose(is_writer, number(0), less) }
                };
                zero(self.word(state, first, Order::Release, free, out).map(drop))
            }
            "sem_init" => {
                zero(self.write_scalar(state, first, 4, argument(2), Order::Relaxed, out))
            }
            "sem_wait" => {
                let take = |old: Expr<_>| Rmw::Update {
                    when: binary(BinOp::Gt, old.clone(), number(0)),
                    new: binary(BinOp::Sub, old, number(1)),
                };
                zero(self.word(state, first, Order::Acquire, take, out).map(drop))
            }
            "sem_trywait" => {
                let take = |old: Expr<_>| {
                    let is_free = binary(BinOp::Gt, old.clone(), number(0));
                    Rmw::Update { when: number(1), new: binary(BinOp::Sub, old, is_free) }
                };
                let Some(old) = self.word(state, first, Order::Acquire, take, out) else {
                    return Some(None);
                };
                let code = choose(binary(BinOp::Gt, old, number(0)), number(0), number(-1));
                self.given(state, code, result, out)
            }
            "sem_post" => {
                let post =
                    |old| Rmw::Update { when: number(1), new: binary(BinOp::Add, old, number(1)) };
                zero(self.word(state, first, Order::Release, post, out).map(drop))
            }
            "pthread_barrier_init" => {
                let count = self.moved(first, 4, out);
                let round = self.moved(first, 8, out);
                for (pointer, value) in
                    [(first, argument(2)), (count, Val::Known(0)), (round, Val::Known(0))]
                {
                    if self.write_scalar(state, pointer, 4, value, Order::Relaxed, out).is_none() {
                        return Some(None);
                    }
                }
                Some(Some(Val::Known(0)))
            }
            "pthread_barrier_wait" => Some(self.barrier(state, first, result, out)),
            "weir_wait_ne" | "weir_wait_eq" => {
                zero(self.wait_for(state, first, argument(1), name == "weir_wait_eq", out))
            }
            "__cxa_guard_acquire" => Some(self.guard(state, first, result?, out)),
            "__cxa_guard_release" => {
                let done = self.write_scalar(state, first, 1, Val::Known(1), Order::Release, out);
                let pending = self.moved(first, 4, out);
                zero(done.and_then(|()| self.unlock(state, pending, out)))
            }
            _ => None,
        }
    }
}
