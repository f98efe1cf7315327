//! Threads.
//!
//! A thread that is started before the first one has taken any step runs from the beginning; any other one
//! waits until it is started. A thread that ends says so, if some thread waits for that. Starting and ending are atomic
//! read-writes, so all that was done before happens before what follows.
//!
//! A thread is identified by the thread that starts it, how many that one has started before, and by the function and its argument,
//! if it is known. An argument that only the run knows is passed through memory.

use std::collections::BTreeMap;

use weir_model::program::{BinOp, Expr, Order, Rmw, Stmt, StmtKind};

use super::explore::{Frame, State, Then, code_of};
use super::number::{binary, number};
use super::objects::{Bytes, Flag, Key, ObjectId, Val};
use super::{Reader, Thread};

/// What a thread is told that is never started; 1 starts it.
const NEVER: i128 = 2;

/// What starts a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadKey {
    parent: usize,
    ordinal: u32,
    function: usize,
    argument: Option<i128>,
    /// What is called when the function has returned: a destructor.
    then: Then,
}

impl<'m> Reader<'m> {
    /// Translates the first thread from this function on, and all threads that are started.
    pub(super) fn program(&mut self, first: usize) {
        if self.facts.threads.is_empty() {
            self.facts.threads.push(ThreadKey {
                parent: usize::MAX,
                ordinal: 0,
                function: first,
                argument: None,
                then: Then::Forget,
            });
        }
        self.threads.push(Thread { name: "main".to_owned(), ..Thread::default() });
        let mut state = State::nothing();
        let parameters = &self.module.functions[first].parameters;
        // `argc` is 1, and nobody looks at `argv`.
        let values =
            (0..parameters.len()).map(|i| (i as u32, vec![Val::Known(i128::from(i == 0))]));
        state.frames[0] =
            Frame { function: first, values: values.collect(), ..state.frames[0].clone() };
        let Some(constructors) = self.constructors() else { return };
        for function in constructors.into_iter().rev() {
            let context = self.facts.context(0, function, u32::MAX, 1);
            let values = Default::default();
            state.frames.push(Frame {
                context,
                function,
                block: 0,
                at: 0,
                values,
                then: Then::Once,
            });
        }
        self.translate(state);
        let mut next = 0;
        while next < self.waiting.len() && !self.is_stopped() {
            let thread = self.waiting[next];
            next += 1;
            self.run(thread);
        }
    }

    /// The functions that run before the first one.
    fn constructors(&mut self) -> Option<Vec<usize>> {
        use weir_llvm::Value;
        let module = self.module;
        let Some(global) = self.globals.get("llvm.global_ctors").map(|g| &module.globals[*g])
        else {
            return Some(Vec::new());
        };
        let Some(Value::Aggregate(all)) = &global.init else { return Some(Vec::new()) };
        let mut found = Vec::new();
        for (_, one) in all {
            let function = match one {
                Value::Aggregate(parts) => match parts.get(1) {
                    Some((_, Value::Global(symbol))) => {
                        self.functions.get(module.symbol(*symbol)).copied()
                    }
                    _ => None,
                },
                _ => None,
            };
            match function {
                Some(function) => found.push(function),
                None => {
                    self.refuse("a constructor of global variables is not known");
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Starts a thread. Returns its number.
    pub(super) fn start(
        &mut self,
        state: &mut State,
        function: usize,
        argument: Val,
        then: Then,
        out: &mut Vec<Stmt>,
    ) -> Option<usize> {
        if self.threads.iter().filter(|t| !t.name.is_empty()).count() > self.options.threads {
            let most = self.options.threads;
            self.refuse(format!("this program starts more than {most} threads"));
            return None;
        }
        let waits = self.current != 0 || self.thread().has_stepped;
        let known = match argument {
            Val::Known(n) => Some(n),
            Val::Undef => Some(0),
            Val::Reg(_) => None,
        };
        let key = ThreadKey {
            parent: self.current,
            ordinal: state.begun.len() as u32,
            function,
            argument: known,
            then,
        };
        let number_of = match self.facts.threads.iter().position(|t| *t == key) {
            Some(number) => number,
            None => {
                self.facts.threads.push(key);
                self.facts.threads.len() - 1
            }
        };
        state.begun.push(number_of);
        if waits {
            self.facts.is_changed |= self.facts.waiting.insert(number_of);
        }
        while self.threads.len() <= number_of {
            self.threads.push(Thread::default());
        }
        if self.threads[number_of].name.is_empty() {
            let base = super::names::thread_name(&self.module.functions[function].name);
            let before = self.threads.iter().filter(|t| t.base() == base).count();
            let total = self.facts.thread_names.entry(base.clone()).or_insert(0);
            if *total < before + 1 {
                *total = before + 1;
                self.facts.is_changed = true;
            }
            let name = if *total > 1 { format!("{base}[{before}]") } else { base };
            self.threads[number_of].name = name;
            self.threads[number_of].waits = waits;
            self.waiting.push(number_of);
        }
        let given = self.gift(state, argument);
        let mut held = self.addresses_of(argument);
        held.these.retain(|address| {
            self.facts.find(*address).is_none_or(|(id, _)| !given.contains_key(&id))
        });
        let is_first = !self.threads[number_of].is_given;
        if is_first {
            self.threads[number_of].given = given;
            self.threads[number_of].is_given = true;
        } else if self.threads[number_of].given != given {
            // It is started at two places, and owns something else there.
            for id in given.into_keys().chain(self.threads[number_of].given.clone().into_keys()) {
                self.facts.escape(id);
            }
        }
        self.escape(state, &held);
        // What comes now is no longer alone.
        self.is_alone = false;
        if known.is_none() {
            let cell = self.flag(Flag::Argument, number_of);
            self.facts.store(cell, 0, &held);
            let place = self.place(cell, 0, 8, Order::Relaxed, true);
            self.emit(out, StmtKind::Store(place, code_of(argument)));
        }
        if waits {
            let started = self.flag(Flag::Started, number_of);
            self.tell(started, out);
        }
        Some(number_of)
    }

    /// The allocations that a thread is given with its argument: those that only the thread that starts it can reach, and of which all
    /// is known. They are no longer its own.
    fn gift(&mut self, state: &mut State, argument: Val) -> BTreeMap<ObjectId, Bytes> {
        let mut given = BTreeMap::new();
        let mut open = vec![argument];
        while let Some(value) = open.pop() {
            let Val::Known(address) = value else { continue };
            let Some((id, _)) = self.facts.find(address) else { continue };
            let is_allocation = matches!(self.facts.get(id).key, Key::Heap(..));
            if !is_allocation || !self.facts.is_private(id) {
                continue;
            }
            let Some(bytes) = state.own.get(&id) else { continue };
            let values = || bytes.scalars().map(|(.., value)| value);
            if values().any(|value| matches!(value, Val::Reg(_))) {
                continue;
            }
            open.extend(values());
            let bytes = state.own.remove(&id).expect("it was found");
            self.facts.given.insert(id);
            given.insert(id, bytes);
        }
        // What they lead to otherwise, others may reach too.
        for bytes in given.values() {
            for (.., value) in bytes.scalars() {
                let mut held = self.addresses_of(value);
                held.these.retain(|address| {
                    self.facts.find(*address).is_some_and(|(id, _)| !given.contains_key(&id))
                });
                self.escape(state, &held);
            }
        }
        given
    }

    /// Sets a flag.
    fn tell(&mut self, flag: ObjectId, out: &mut Vec<Stmt>) {
        let place = self.place(flag, 0, 8, Order::Release, true);
        let old = self.temporary();
        self.emit(out, StmtKind::Rmw(old, place, Rmw::Swap(number(1))));
    }

    /// Waits until the thread is started. It ends if it never will be.
    fn begin(&mut self, thread: usize, out: &mut Vec<Stmt>) {
        let started = self.flag(Flag::Started, thread);
        let place = self.place(started, 0, 8, Order::Acquire, true);
        let old = self.temporary();
        let when = binary(BinOp::Ne, Expr::Atom(old), number(0));
        self.emit(out, StmtKind::Rmw(old, place, Rmw::Update { when, new: Expr::Atom(old) }));
        let is_never = binary(BinOp::Eq, Expr::Atom(old), number(NEVER));
        let exit = vec![Stmt::new(StmtKind::Exit, self.span)];
        self.emit(out, StmtKind::If(is_never, exit, Vec::new()));
    }

    /// Tells the threads that the current one could have started, and has not, that it never will.
    fn give_up(&mut self, begun: &[usize], out: &mut Vec<Stmt>) {
        let current = self.current;
        let is_child = |thread: &usize| self.facts.threads[*thread].parent == current;
        let waiting = self.facts.waiting.iter().copied().filter(is_child);
        let never: Vec<usize> = waiting.filter(|thread| !begun.contains(thread)).collect();
        for thread in never {
            let started = self.flag(Flag::Started, thread);
            let place = self.place(started, 0, 8, Order::Relaxed, true);
            let old = self.temporary();
            self.emit(out, StmtKind::Rmw(old, place, Rmw::Swap(number(NEVER))));
        }
    }

    /// Waits for a flag.
    fn hear(&mut self, flag: ObjectId, out: &mut Vec<Stmt>) {
        let place = self.place(flag, 0, 8, Order::Acquire, true);
        let old = self.temporary();
        let when = binary(BinOp::Eq, Expr::Atom(old), number(1));
        self.emit(out, StmtKind::Rmw(old, place, Rmw::Update { when, new: number(1) }));
    }

    /// Translates a thread.
    fn run(&mut self, thread: usize) {
        self.current = thread;
        let ThreadKey { function, argument, then, .. } = self.facts.threads[thread].clone();
        let mut state = State::nothing();
        let mut begin = Vec::new();
        if self.threads[thread].waits {
            self.begin(thread, &mut begin);
        }
        let mut values = BTreeMap::new();
        if !self.module.functions[function].parameters.is_empty() {
            let value = match argument {
                Some(n) => Val::Known(n),
                None => {
                    let cell = self.flag(Flag::Argument, thread);
                    let register =
                        self.register(super::Home::Local(0, 0, 0, 0), || "argument".into());
                    let held = self.facts.read(cell, 0, 8);
                    self.may_hold(register, &held);
                    let place = self.place(cell, 0, 8, Order::Relaxed, false);
                    self.emit(&mut begin, StmtKind::Load(register, place));
                    Val::Reg(register)
                }
            };
            values.insert(0, vec![value]);
        }
        state.frames[0] = Frame { function, values, then, ..state.frames[0].clone() };
        state.own.clone_from(&self.threads[thread].given);
        self.translate(state);
        if let Some(code) = self.threads[thread].code.first_mut() {
            begin.append(code);
            *code = begin;
        }
    }

    /// The current thread ends.
    pub(super) fn end_thread(&mut self, result: Option<Val>, begun: &[usize], out: &mut Vec<Stmt>) {
        let thread = self.current;
        self.give_up(begun, out);
        if thread > 0 && self.facts.joined.contains(&thread) {
            if self.facts.asked.contains(&thread) {
                let value = result.unwrap_or(Val::Known(0));
                let held = self.addresses_of(value);
                let cell = self.flag(Flag::Result, thread);
                self.give_away(&held);
                self.facts.store(cell, 0, &held);
                let place = self.place(cell, 0, 8, Order::Relaxed, true);
                let code = self.copied(value);
                self.emit(out, StmtKind::Store(place, code));
            }
            let ended = self.flag(Flag::Ended, thread);
            self.tell(ended, out);
        }
        self.emit_end(out);
    }

    fn emit_end(&mut self, out: &mut Vec<Stmt>) {
        out.push(Stmt::new(StmtKind::Exit, self.span));
    }

    /// Waits for the end of a thread, and reads what it returned if that is asked for.
    pub(super) fn join(
        &mut self,
        handle: Val,
        into: Option<u32>,
        state: &mut State,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let one = |this: &mut Self,
                   thread: usize,
                   register: Option<weir_model::ids::RegId>,
                   out: &mut Vec<Stmt>| {
            this.facts.is_changed |= this.facts.joined.insert(thread);
            let ended = this.flag(Flag::Ended, thread);
            this.hear(ended, out);
            if let Some(register) = register {
                this.facts.is_changed |= this.facts.asked.insert(thread);
                let cell = this.flag(Flag::Result, thread);
                let held = this.facts.read(cell, 0, 8);
                this.may_hold(register, &held);
                let place = this.place(cell, 0, 8, Order::Relaxed, false);
                this.emit(out, StmtKind::Load(register, place));
            }
        };
        let register = into.map(|part| {
            let context = state.top().context;
            self.register(super::Home::Local(context, part, 0, 200), || "result".into())
        });
        let is_thread = |this: &Self, n: usize| {
            n > 0 && this.threads.get(n).is_some_and(|t| !t.name.is_empty())
        };
        match handle {
            Val::Known(n) => match usize::try_from(n) {
                Ok(n) if is_thread(self, n) => one(self, n, register, out),
                _ => {
                    self.fail("a thread is joined that was not started", out);
                    return None;
                }
            },
            Val::Undef => {
                self.fail("a thread is joined that was not started", out);
                return None;
            }
            Val::Reg(handle) => {
                let mut rest = Vec::new();
                self.fail("a thread is joined that was not started", &mut rest);
                for thread in 1..self.facts.threads.len() {
                    let mut here = Vec::new();
                    one(self, thread, register, &mut here);
                    let is_it = binary(BinOp::Eq, Expr::Atom(handle), number(thread as i128));
                    let mut choice = Vec::new();
                    self.emit(&mut choice, StmtKind::If(is_it, here, rest));
                    rest = choice;
                }
                out.extend(rest);
            }
        }
        Some(register.map_or(Val::Known(0), Val::Reg))
    }
}

impl Thread {
    /// The name without its number.
    pub(super) fn base(&self) -> &str {
        match self.name.rsplit_once('[') {
            Some((base, _)) => base,
            None => &self.name,
        }
    }
}
