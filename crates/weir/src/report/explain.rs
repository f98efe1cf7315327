//! Explains a run: the operations that took effect out of program order.
//!
//! Steps are numbered from 1, as in the table of the run. An operation is identified by
//! the step in which its process issued it. The explanation takes one pass over the run,
//! and space linear in the number of steps.

use std::collections::{HashMap, VecDeque};

use weir_model::answer::Run;
use weir_model::ids::{Cell, ProcessId, SpanId, ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;
use weir_model::semantics::{EventKind, Form, Rule};
use weir_model::system::{Op, System};

/// An operation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub op: Op,
    /// Where it stands in the source.
    pub span: SpanId,
    /// The step in which its process came past it.
    pub step: usize,
    /// When it took effect.
    pub effect: Effect,
}

/// When an operation took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// In the step itself.
    Now,
    /// In a later step: a write that reached memory, or a guess that came true.
    Later(usize),
    /// A read of what memory had before this step, which is an earlier one.
    Before(usize),
    /// Not in this run.
    Never,
}

/// An operation that overtook earlier ones of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The process.
    pub process: ProcessId,
    /// The operation.
    pub early: Operation,
    /// The operations that it overtook, in program order.
    pub late: Vec<Operation>,
}

impl Reordering {
    /// The relaxations that allow it, as the papers name them.
    pub fn relaxations(&self) -> Vec<&'static str> {
        let mut names: Vec<_> =
            self.late.iter().map(|late| relaxation(late.op, self.early.op)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The relaxation by which a read or write overtakes an earlier one of its process, as the
/// papers name it.
pub fn relaxation(late: Op, early: Op) -> &'static str {
    match (late, early) {
        (Op::Write(..), Op::Read(..)) => "w->r",
        (Op::Write(..), Op::Write(..)) => "w->w",
        (Op::Read(..), Op::Read(..)) => "r->r",
        _ => "r->w",
    }
}

/// What a weak memory model did in a run.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The reorderings, one for each operation that overtook others. An operation is
    /// said to be overtaken by the first that did.
    pub reorderings: Vec<Reordering>,
    /// The reads that took the value of another process's write before it reached
    /// memory, each with its process and the other one.
    pub remote: Vec<(ProcessId, Operation, ProcessId)>,
    /// The writes that have not reached memory in the end.
    pub under_way: Vec<(ProcessId, Operation)>,
    /// Whether SC has a run with the same end in which each process takes the same
    /// transitions.
    pub is_sequential: bool,
}

/// A time: twice the number of a step, or the odd number before it for what happened
/// between two steps.
type Time = usize;

/// The time of what has not happened.
const LATE: Time = usize::MAX;

/// An operation with the time of its effect.
struct Timed {
    operation: Operation,
    time: Time,
}

/// The values that memory had, for each variable: each with the step that wrote it, 0
/// for the first.
type Past = Vec<Vec<(ValueId, usize)>>;

/// What a weak memory model did in a run.
pub fn explain(system: &System, run: &Run) -> Explanation {
    let mut pass = Pass::new(system, run);
    pass.all();
    let mut reorderings = Vec::new();
    for (p, issued) in system.process_ids().zip(&pass.issued) {
        reorderings.extend(overtaken(p, issued));
    }
    let mut under_way = Vec::new();
    for (p, issued) in system.process_ids().zip(&pass.issued) {
        let never = issued.iter().filter(|i| i.operation.effect == Effect::Never);
        under_way.extend(never.map(|i| (p, i.operation)));
    }
    let is_sequential = reorderings.is_empty() && is_sequential(system, run, &pass.order);
    Explanation { reorderings, remote: pass.remote, under_way, is_sequential }
}

/// The operations of a process that overtook others. The first that overtook an
/// operation is the next one with an earlier effect: one look at each, with a stack of
/// those that nothing has overtaken yet.
fn overtaken(process: ProcessId, issued: &[Timed]) -> Vec<Reordering> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Timed> = Vec::new();
    for early in issued {
        let mut late = Vec::new();
        while let Some(last) = waiting.pop_if(|last| last.time > early.time) {
            late.push(last.operation);
        }
        if !late.is_empty() {
            late.reverse();
            found.push(Reordering { process, early: early.operation, late });
        }
        waiting.push(early);
    }
    found
}

/// Whether SC takes the transitions in the order of their times and ends in the same
/// control states and memory.
fn is_sequential(system: &System, run: &Run, order: &[(Time, ProcessId, usize)]) -> bool {
    let mut order = order.to_vec();
    // Stable: transitions of one process stay in their order.
    order.sort_by_key(|(time, ..)| *time);
    let divided = system.divided();
    let semantics = Form::Sc.semantics(&divided, MemoryModel::SC, 0);
    let start = &run.start;
    let mut config: Vec<Cell> =
        start.controls.iter().map(|s| s.0).chain(start.memory.iter().map(|v| v.0)).collect();
    semantics.initial_rest(&mut config);
    for (_, process, step) in order {
        let transition = run.steps[step - 1].transition;
        let is_it =
            |s: &weir_model::semantics::Step| s.process == process && s.transition == transition;
        if semantics.take(&mut config, &is_it).is_none() {
            return false;
        }
    }
    let end = run.end(system);
    let controls = end.controls.iter().map(|s| s.0);
    let is_end = controls.eq(semantics.controls(&config).iter().copied());
    is_end && end.memory.iter().map(|v| v.0).eq(semantics.memory(&config).iter().copied())
}

/// One pass over a run.
struct Pass<'r> {
    system: &'r System,
    run: &'r Run,
    past: Past,
    /// For each process and variable, the place in `past` from which it may read.
    pointers: Vec<Vec<usize>>,
    /// For each process, the reads and writes that take effect at a time of their own.
    issued: Vec<Vec<Timed>>,
    /// For each process, the operations that wait, by kind, variable and value.
    waiting: Vec<HashMap<(EventKind, VarId, ValueId), VecDeque<usize>>>,
    /// For each process and variable, its last write, as an index into `issued`.
    last_write: Vec<Vec<Option<usize>>>,
    remote: Vec<(ProcessId, Operation, ProcessId)>,
    /// The steps that take a transition, with when they take effect.
    order: Vec<(Time, ProcessId, usize)>,
}

impl<'r> Pass<'r> {
    fn new(system: &'r System, run: &'r Run) -> Self {
        let (n, m) = (system.processes.len(), system.vars.len());
        Self {
            system,
            run,
            past: run.start.memory.iter().map(|v| vec![(*v, 0)]).collect(),
            pointers: vec![vec![0; m]; n],
            issued: (0..n).map(|_| Vec::new()).collect(),
            waiting: vec![HashMap::new(); n],
            last_write: vec![vec![None; m]; n],
            remote: Vec::new(),
            order: Vec::new(),
        }
    }

    fn all(&mut self) {
        // For each process, its transitions with the operation whose time they have.
        let mut taken: Vec<(ProcessId, usize, Option<usize>)> = Vec::new();
        let mut replay = self.run.replay(self.system);
        while let Some(step) = replay.advance() {
            let (p, number) = (step.process, replay.taken());
            if let Some(transition) = step.transition {
                let t = *self.system.transition(p, transition);
                let operation =
                    Operation { op: t.op, span: t.span, step: number, effect: Effect::Now };
                taken.push((p, number, self.take(p, operation, step.rule, step.source)));
            } else if let (Rule::Update | Rule::Validate, Some(event)) = (step.rule, step.event) {
                let key = (event.kind, event.var, event.value);
                let first = self.waiting[p.index()].get_mut(&key).and_then(VecDeque::pop_front);
                if let Some(first) = first {
                    let timed = &mut self.issued[p.index()][first];
                    timed.operation.effect = Effect::Later(number);
                    timed.time = 2 * number;
                }
                if step.rule == Rule::Update {
                    let newest = self.past[event.var.index()].len();
                    self.pointers[p.index()][event.var.index()] = newest - 1;
                }
            }
            for (x, value) in replay.memory().iter().enumerate() {
                let past = &mut self.past[x];
                if past.last().is_some_and(|(v, _)| v.0 != *value) {
                    past.push((ValueId(*value), number));
                    // Who changes memory has seen it.
                    self.pointers[p.index()][x] = past.len() - 1;
                }
            }
        }
        // A transition takes effect when its operation does, and not before those that
        // its process took earlier.
        let mut reached = vec![0; self.issued.len()];
        for (p, step, operation) in taken {
            let own = operation.map_or(2 * step, |i| self.issued[p.index()][i].time);
            reached[p.index()] = own.max(reached[p.index()]);
            self.order.push((reached[p.index()], p, step));
        }
    }

    /// A process takes a transition. Returns the operation whose effect it has to
    /// wait for, if it is not that of the step.
    fn take(
        &mut self,
        p: ProcessId,
        mut operation: Operation,
        rule: Rule,
        source: Option<ProcessId>,
    ) -> Option<usize> {
        let number = operation.step;
        let (var, value) = match operation.op {
            Op::Read(x, d) | Op::Write(x, d) => (x, d),
            Op::Arw(..) | Op::Fence(FenceKind::Full | FenceKind::Read) => {
                for (pointer, past) in self.pointers[p.index()].iter_mut().zip(&self.past) {
                    *pointer = past.len() - 1;
                }
                return None;
            }
            Op::Nop | Op::Fence(FenceKind::Write) => return None,
        };
        let here = self.issued[p.index()].len();
        let mut time = 2 * number;
        match rule {
            Rule::Write | Rule::Guess => {
                let kind = if rule == Rule::Write { EventKind::Write } else { EventKind::Read };
                let queue = self.waiting[p.index()].entry((kind, var, value)).or_default();
                queue.push_back(here);
                operation.effect = Effect::Never;
                time = LATE;
            }
            // It took its value before the write took effect: it has no place of its
            // own in the order.
            Rule::ReadOwnWrite => return self.last_write[p.index()][var.index()],
            Rule::ReadRemoteWrite => {
                self.remote.push((p, operation, source.unwrap_or(p)));
                return None;
            }
            Rule::ReadHistory => {
                let past = &self.past[var.index()];
                let pointer = &mut self.pointers[p.index()][var.index()];
                let found = (*pointer..past.len()).find(|&i| past[i].0 == value);
                *pointer = found.unwrap_or(past.len() - 1);
                if let Some((_, end)) = past.get(*pointer + 1) {
                    operation.effect = Effect::Before(*end);
                    time = 2 * end - 1;
                }
            }
            _ => self.pointers[p.index()][var.index()] = self.past[var.index()].len() - 1,
        }
        if matches!(operation.op, Op::Write(..)) {
            self.last_write[p.index()][var.index()] = Some(here);
        }
        self.issued[p.index()].push(Timed { operation, time });
        Some(here)
    }
}
