//! Threads.
//!
//! What the first thread does before it starts another one is computed. A thread that is started
//! before the first thread has taken any step runs from the beginning; any other one waits until
//! it is started. Starting a thread drains the store buffer of the thread that does it, and a
//! thread that ends drains its own before others can know of its end.

use std::hash::Hash;

use weir_model::program::Expr;

use super::access::{Order, Update};
use super::control::Join;
use super::lvalue::Lvalue;
use super::slots::{Held, Slot};
use super::types::Type;
use super::value::{Data, Locals, Value};
use super::{Builder, Key, Process, hash};

/// What the flags of threads are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Flag {
    Started,
    Ended,
}

impl Builder {
    pub(super) fn new_process(&mut self, name: String, key: Key) {
        self.processes.push(Process {
            name,
            key,
            registers: Vec::new(),
            types: Vec::new(),
            labels: Vec::new(),
            blocks: vec![Vec::new()],
            statements: 0,
            loops: 0,
            slots: Vec::new(),
            state: Some(Vec::new()),
            joins: Vec::new(),
            straight: None,
            branches: Vec::new(),
            path: Vec::new(),
            names: Default::default(),
            counters: Default::default(),
            is_repeated: false,
            joined: Vec::new(),
        });
        self.current = self.processes.len() - 1;
        // The end of the process, where `exit_thread` goes.
        let end = self.join(hash(&"end"));
        debug_assert_eq!(end, Join::END);
        let counters = self.learned.counters.iter().filter(|((of, _), _)| *of == key);
        let counters: Vec<(Key, String)> =
            counters.map(|((_, counter), name)| (*counter, name.clone())).collect();
        for (counter, name) in counters {
            let process = self.process_mut();
            let slot = process.slots.len();
            process.slots.push(Slot {
                key: counter,
                declared: counter,
                name,
                ty: Type::Void,
                register: None,
            });
            if let Some(state) = &mut process.state {
                state.push(Held::Fixed(Data::Code(Expr::Const(0))));
            }
            process.counters.insert(counter, slot);
        }
    }

    /// A number that counts something in this process, all through it.
    pub(super) fn counter(&mut self, key: Key, what: &str) -> Lvalue {
        let line = self.source.line(self.span);
        let process = self.process();
        match process.counters.get(&key) {
            Some(&slot) => Lvalue::Locals(
                Locals { slot, first: slot, end: slot + 1 },
                Type::pointer(Type::Void),
            ),
            None => {
                let id = (process.key, key);
                self.learned.counters.insert(id, format!("{what}_at_line_{line}"));
                self.learned.is_changed = true;
                self.local(what, &Type::pointer(Type::Void), key)
            }
        }
    }

    /// A value as another thread sees it; nothing if it depends on what this thread does.
    pub fn for_thread(&mut self, value: &Value) -> Option<Value> {
        match &value.data {
            Data::Local(locals) => {
                self.needs_memory(*locals);
                Some(Value::number(0, value.ty.clone()))
            }
            Data::Fields(fields) => {
                let fields: Option<Vec<Value>> =
                    fields.iter().map(|field| self.for_thread(field)).collect();
                Some(Value { data: Data::Fields(fields?), ty: value.ty.clone() })
            }
            data => data.is_fixed().then(|| value.clone()),
        }
    }

    /// Begins a thread. The reader translates what it does, and then calls
    /// [`Builder::end_thread`] with what is returned here, which is also its handle.
    pub fn begin_thread(&mut self, name: &str, tag: impl Hash) -> usize {
        if self.process().blocks.len() > 1 || self.process().is_repeated {
            self.error(
                "whether this thread is started, or how often, is only known when the program runs",
            );
        }
        if self.processes.len() > self.options.threads {
            let most = self.options.threads;
            self.error(format!("this program starts more than {most} threads"));
        }
        let key = self.key((tag, "thread"));
        let before = self.processes.iter().filter(|p| base(&p.name) == name).count();
        let total = self.learned.thread_names.entry(name.to_owned()).or_insert(0);
        if *total < before + 1 {
            *total = before + 1;
            self.learned.is_changed = true;
        }
        let full = if *total > 1 { format!("{name}[{before}]") } else { name.to_owned() };
        let waits = self.current != 0 || self.process().statements > 0;
        if waits {
            let flag = self.flag(&full, key, Flag::Started);
            let one = Value::number(1, Type::Bool);
            self.update(&flag, &Update::Swap(one), Order::Release);
        }
        self.waiting.push(self.current);
        self.new_process(full.clone(), key);
        if waits {
            let flag = self.flag(&full, key, Flag::Started);
            let one = Value::number(1, Type::Bool);
            self.update(&flag, &Update::WaitFor(one.clone(), one), Order::Acquire);
        }
        self.current
    }

    /// Ends the code of a thread.
    pub fn end_thread(&mut self) {
        self.place(Join::END);
        let (name, key) = (self.process().name.clone(), self.process().key);
        if self.learned.joined.contains(&key) && self.process().state.is_some() {
            let flag = self.flag(&name, key, Flag::Ended);
            let one = Value::number(1, Type::Bool);
            self.update(&flag, &Update::Swap(one), Order::Release);
        }
        self.current = self.waiting.pop().unwrap_or(0);
    }

    /// Ends the thread that is executed.
    pub fn exit_thread(&mut self) {
        self.jump(Join::END);
    }

    /// Waits for the end of a thread.
    pub fn join_thread(&mut self, thread: usize) {
        let Some(process) = self.processes.get(thread) else { return };
        if thread == 0 {
            return self.error("a thread waits for the end of the first one, which is not read");
        }
        let (name, key) = (process.name.clone(), process.key);
        if self.is_straight() {
            self.process_mut().joined.push(thread);
        }
        if self.learned.joined.insert(key) {
            self.learned.is_changed = true;
        }
        let flag = self.flag(&name, key, Flag::Ended);
        // What holds the flag is written by the thread, whatever this pass knows of it.
        if let Lvalue::Memory { targets, .. } = &flag {
            let cell = self.objects[targets[0].place.object].leaves[0].first;
            self.make_live(cell..cell + 1);
        }
        let one = Value::number(1, Type::Bool);
        self.update(&flag, &Update::WaitFor(one.clone(), one), Order::Acquire);
    }

    fn flag(&mut self, name: &str, key: Key, flag: Flag) -> Lvalue {
        let word = match flag {
            Flag::Started => "started",
            Flag::Ended => "ended",
        };
        let ty = Type::Atomic(Type::Bool.into());
        let object = self.object(hash(&(key, flag)), &format!("{name}.{word}"), &ty);
        let cell = self.objects[object].leaves[0].first;
        self.make_live(cell..cell + 1);
        Lvalue::place(self.whole(object))
    }

    /// Whether a cell is the flag of a thread, and of which one.
    pub(super) fn flag_of(&self, cell: usize) -> Option<(usize, Flag)> {
        let object = self.objects.iter().find(|o| o.leaves.iter().any(|l| l.first == cell))?;
        for (thread, process) in self.processes.iter().enumerate() {
            for flag in [Flag::Started, Flag::Ended] {
                if object.key == hash(&(process.key, flag)) {
                    return Some((thread, flag));
                }
            }
        }
        None
    }

    /// What a thread is called.
    pub fn thread_name(&self, thread: usize) -> &str {
        self.processes.get(thread).map_or("main", |process| &process.name)
    }

    /// Whether all that a thread has done so far comes before what is executed here: it is this thread, it has
    /// started this one, or it has been waited for.
    pub fn is_over(&self, thread: usize) -> bool {
        let mut known: Vec<usize> = self.waiting.clone();
        known.push(self.current);
        let mut next = 0;
        while next < known.len() {
            for joined in &self.processes[known[next]].joined {
                if !known.contains(joined) {
                    known.push(*joined);
                }
            }
            next += 1;
        }
        known.contains(&thread)
    }

    /// Which process is executed.
    pub fn thread(&self) -> usize {
        self.current
    }
}

/// The name of a thread without its number.
fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}
