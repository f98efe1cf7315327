//! Checks runs under the memory model of C11, C++20 and Rust: the axioms by the letter.
//!
//! A run says, for each access, how many writes of its location are newer than the one that it reads, or than
//! the one that it writes. That gives an execution graph: the operations of each process in their order
//! (sequenced-before), what each read reads (reads-from), and the order of the writes of each location (modification
//! order). The graph has to be consistent: C++20, [intro.races] and [atomics.order], without cycles in sequenced-before
//! and reads-from, which a run cannot have. No view and no message of the machine is used here.

mod axioms;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::program::{FenceKind, Order};
use weir_model::question::Kind;
use weir_model::semantics::{Form, Rule};
use weir_model::system::{Op, Seen, System, Transition};

use crate::rejected::Rejected;
use crate::truth;
use crate::witness::{Configuration, Witness, WitnessStep, state_names};

/// More operations than a checker of graphs follows.
const MAX_OPERATIONS: usize = 4096;

/// An operation of a process, or an initial write.
#[derive(Clone, Debug)]
struct Operation {
    process: Option<ProcessId>,
    /// The step of the run, from 1.
    step: usize,
    order: Order,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Access {
        var: VarId,
        /// The write that it reads.
        reads: Option<usize>,
        /// What it writes.
        writes: Option<ValueId>,
    },
    Fence(FenceKind),
}

/// Where a process waits, and which writes it has read.
type Waiting = (StateId, Vec<Option<usize>>);

#[derive(Clone)]
struct Execution<'s> {
    system: &'s System,
    controls: Vec<StateId>,
    /// In the order of the run; the initial writes come first.
    operations: Vec<Operation>,
    /// For each location its writes in modification order.
    modifications: Vec<Vec<usize>>,
    /// The process whose access has raced.
    raced: Option<ProcessId>,
    /// How many steps were taken.
    steps: usize,
}

/// Checks a run under C11.
pub(crate) fn check(system: &System, witness: &Witness) -> Result<(), Rejected> {
    if witness.semantics != Form::C11.name() {
        let reason = format!("C11 has no semantics called `{}`", witness.semantics);
        return Err(Rejected::Malformed(reason));
    }
    let mut execution = Execution::new(system, &witness.initial)?;
    for (i, step) in witness.steps.iter().enumerate() {
        let wrong = |reason| Rejected::Step { number: i + 1, reason };
        if execution.raced.is_some() {
            return Err(wrong("after a race nothing is defined".to_owned()));
        }
        execution.step(step).map_err(wrong)?;
        if execution.operations.len() > MAX_OPERATIONS {
            let reason = format!("the run has more than {MAX_OPERATIONS} operations");
            return Err(Rejected::TooLarge(reason));
        }
    }
    execution.ends_in(&witness.end)?;
    let before = execution.check_axioms().map_err(Rejected::End)?;
    match (execution.raced, execution.race(&before)) {
        (Some(p), Some((_, b))) if execution.operations[b].process == Some(p) => {}
        (Some(_), _) => return Err(Rejected::End("the last access does not race".to_owned())),
        (None, Some(_)) => {
            let reason = "two of its accesses race, and then nothing is defined";
            return Err(Rejected::End(reason.to_owned()));
        }
        (None, None) => {}
    }
    match execution.settles(witness.property) {
        true => Ok(()),
        false => Err(Rejected::SettlesNothing("its last state does not settle it".to_owned())),
    }
}

/// The steps of two accesses of a run that race, from 1.
pub fn race(system: &System, witness: &Witness) -> Option<(usize, usize)> {
    let mut execution = Execution::new(system, &witness.initial).ok()?;
    for step in &witness.steps {
        execution.step(step).ok()?;
    }
    let (a, b) = execution.race(&execution.happens_before())?;
    Some((execution.operations[a].step, execution.operations[b].step))
}

/// Which steps of a run synchronize with which later ones of other processes, from 1: what happens before the first happens
/// before the second.
pub fn synchronizations(system: &System, witness: &Witness) -> Vec<(usize, usize)> {
    let Ok(mut execution) = Execution::new(system, &witness.initial) else { return vec![] };
    if witness.steps.iter().any(|step| execution.step(step).is_err()) {
        return vec![];
    }
    let operations = &execution.operations;
    let with = |id: usize| execution.synchronizes(id).into_iter().map(move |first| (first, id));
    let between = |(a, b): &(usize, usize)| operations[*a].process != operations[*b].process;
    let all = (0..operations.len()).flat_map(with).filter(between);
    let mut steps: Vec<_> = all.map(|(a, b)| (operations[a].step, operations[b].step)).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

impl<'s> Execution<'s> {
    fn new(system: &'s System, start: &Configuration) -> Result<Self, Rejected> {
        let wrong = |reason: &str| Rejected::Start(reason.to_owned());
        let controls: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
        if start.states != state_names(system, &controls) {
            return Err(wrong("the run does not begin in the initial control states"));
        }
        let mut operations = Vec::new();
        for (x, var) in system.vars.iter().enumerate() {
            let value = start.memory.get(&var.name);
            let value = value.ok_or_else(|| wrong("a variable has no value"))?;
            let value = var.id(*value);
            if !var.initial.contains(&value) {
                return Err(wrong("the run does not begin with an initial memory"));
            }
            let what = What::Access { var: VarId::new(x), reads: None, writes: Some(value) };
            operations.push(Operation { process: None, step: 0, order: Order::Relaxed, what });
        }
        if start.memory.len() != system.vars.len() || start.buffers.iter().any(|b| !b.is_empty()) {
            return Err(wrong("there are buffers, or variables that the program does not have"));
        }
        let modifications = (0..system.vars.len()).map(|x| vec![x]).collect();
        Ok(Self { system, controls, operations, modifications, raced: None, steps: 0 })
    }

    fn step(&mut self, step: &WitnessStep) -> Result<(), String> {
        self.steps += 1;
        let p = self.system.processes.iter().position(|p| p.name == step.process);
        let p = ProcessId::new(p.ok_or_else(|| format!("there is no process `{}`", step.process))?);
        let (t, raced) = self.transition(p, step)?;
        step.describes(self.system, &t)?;
        let newer = step.newer.map(|newer| newer as usize);
        let (rule, expects) = match (t.op, newer) {
            (Op::Nop, None) => (Rule::Nop, None),
            (Op::Fence(FenceKind::Full), None) => (Rule::Fence, None),
            (Op::Fence(FenceKind::Read), None) => (Rule::ReadFence, None),
            (Op::Fence(FenceKind::Write), None) => (Rule::WriteFence, None),
            (Op::Read(..), Some(0)) => (Rule::ReadMemory, newer),
            (Op::Read(..), Some(_)) => (Rule::ReadOlder, newer),
            (Op::Write(..), Some(0)) => (Rule::WriteMemory, newer),
            (Op::Write(..), Some(_)) => (Rule::WriteOlder, newer),
            (Op::Arw(..), Some(_)) => (Rule::Arw, newer),
            _ => return Err("it has to say how many writes are newer if it is an access".into()),
        };
        if step.rule != rule.name() {
            return Err(format!("the rule is `{}`", rule.name()));
        }
        self.add(p, t.op, t.order, expects)?;
        self.controls[p.index()] = t.to;
        if raced {
            self.raced = Some(p);
        }
        Ok(())
    }

    /// The transition of a step, and whether it ends in a race. Where it races, its process stays at its place.
    fn transition(&self, p: ProcessId, step: &WitnessStep) -> Result<(Transition, bool), String> {
        let from = self.controls[p.index()];
        if let Some(t) = step.taken(self.system, p, from) {
            return Ok((*t, false));
        }
        let none = || format!("process `{}` has no such transition", step.process);
        let at = format!("{}!race", self.system.state_name(p, from));
        let to = self.system.find_state(p, &at).ok_or_else(none)?;
        let value = step.value.ok_or_else(none)?;
        let see = |x: VarId, _| Seen::One(self.system.vars[x.index()].id(value));
        let raced = |t: &Transition| Transition { to, ..*t };
        let mut all = self.system.steps(p, from, see).map(|(_, t)| raced(t));
        let named = all.find(|t| Some(self.system.transition_name(p, t)) == step.transition);
        named.map(|t| (t, true)).ok_or_else(none)
    }

    /// Adds what an operation does. Between fences it is three operations.
    fn add(
        &mut self,
        p: ProcessId,
        op: Op,
        order: Order,
        newer: Option<usize>,
    ) -> Result<(), String> {
        let is_fenced = order == Order::Fenced && matches!(op, Op::Read(..) | Op::Arw(..));
        if is_fenced {
            self.push(p, order, What::Fence(FenceKind::Full));
        }
        match (op, newer) {
            (Op::Nop, _) => {}
            (Op::Fence(kind), _) => {
                self.push(p, order, What::Fence(kind));
            }
            (Op::Read(var, value), Some(newer)) => {
                let reads = Some(self.source(var, value, newer)?);
                self.push(p, order, What::Access { var, reads, writes: None });
            }
            (Op::Write(var, value), Some(newer)) => {
                let writes = self.modifications[var.index()].len();
                let at = writes.checked_sub(newer).filter(|at| *at > 0);
                let at = at.ok_or("so many writes are not newer")?;
                let access = What::Access { var, reads: None, writes: Some(value) };
                let id = self.push(p, order, access);
                self.modifications[var.index()].insert(at, id);
            }
            (Op::Arw(var, old, new), Some(newer)) => {
                let reads = Some(self.source(var, old, newer)?);
                let access = What::Access { var, reads, writes: Some(new) };
                let id = self.push(p, order, access);
                let at = self.modifications[var.index()].len() - newer;
                self.modifications[var.index()].insert(at, id);
            }
            (_, None) => return Err("an access says how many writes are newer".to_owned()),
        }
        if is_fenced {
            self.push(p, order, What::Fence(FenceKind::Full));
        }
        Ok(())
    }

    /// The write of a location than which so many are newer.
    fn source(&self, var: VarId, value: ValueId, newer: usize) -> Result<usize, String> {
        let all = &self.modifications[var.index()];
        let at = all.len().checked_sub(newer + 1).ok_or("so many writes are not newer")?;
        match self.operations[all[at]].what {
            What::Access { writes: Some(written), .. } if written == value => Ok(all[at]),
            _ => Err("that write has another value".to_owned()),
        }
    }

    fn push(&mut self, p: ProcessId, order: Order, what: What) -> usize {
        let step = self.steps;
        self.operations.push(Operation { process: Some(p), step, order, what });
        self.operations.len() - 1
    }

    /// The operations of a process.
    fn of(&self, p: ProcessId) -> impl Iterator<Item = usize> + '_ {
        (0..self.operations.len()).filter(move |id| self.operations[*id].process == Some(p))
    }

    fn memory(&self) -> Vec<ValueId> {
        let last = |all: &Vec<usize>| match self.operations[all[all.len() - 1]].what {
            What::Access { writes: Some(value), .. } => value,
            _ => unreachable!("only writes are in modification order"),
        };
        self.modifications.iter().map(last).collect()
    }

    fn ends_in(&self, end: &Configuration) -> Result<(), Rejected> {
        let named = |(x, value): (usize, &ValueId)| {
            let var = &self.system.vars[x];
            (var.name.clone(), self.system.value(VarId::new(x), *value))
        };
        let memory = self.memory().iter().enumerate().map(named).collect();
        let is_same = end.states == state_names(self.system, &self.controls)
            && end.memory == memory
            && end.buffers.iter().all(Vec::is_empty);
        match is_same {
            true => Ok(()),
            false => Err(Rejected::End("the run ends in another state".to_owned())),
        }
    }

    /// Whether the last state settles a question.
    fn settles(&self, question: usize) -> bool {
        let question = &self.system.questions[question];
        let is_settled = truth::is_settled(self.system, question, &self.controls, &self.memory());
        match question.kind {
            Kind::NoDeadlock(_) => {
                is_settled && self.system.process_ids().all(|p| self.is_stuck(p))
            }
            _ => is_settled,
        }
    }

    /// Whether a process may go no further: it has no step, or it can take rounds of an `await` after which no others
    /// lead out of it.
    fn is_stuck(&self, p: ProcessId) -> bool {
        let mut seen: Vec<(Waiting, Self)> = vec![self.waiting(p)];
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        let mut leaves: Vec<bool> = Vec::new();
        while rounds.len() < seen.len() {
            let now = seen[rounds.len()].1.clone();
            let from = now.controls[p.index()];
            let see = |x: VarId, _| {
                let values = now.modifications[x.index()].iter();
                Seen::among(values.filter_map(|w| match now.operations[*w].what {
                    What::Access { writes, .. } => writes,
                    What::Fence(_) => None,
                }))
            };
            let (mut to, mut is_left) = (Vec::new(), false);
            for (_, t) in now.system.steps(p, from, see) {
                let choices = match t.op {
                    Op::Nop | Op::Fence(_) => vec![None],
                    Op::Write(x, _) | Op::Read(x, _) | Op::Arw(x, ..) => {
                        (0..now.modifications[x.index()].len()).map(Some).collect()
                    }
                };
                for newer in choices {
                    let mut next = now.clone();
                    next.controls[p.index()] = t.to;
                    if next.add(p, t.op, t.order, newer).is_err() || next.check_axioms().is_err() {
                        continue;
                    }
                    if !t.waits {
                        is_left = true;
                        continue;
                    }
                    let next = next.waiting(p);
                    let known = seen.iter().position(|(key, _)| *key == next.0);
                    to.push(known.unwrap_or(seen.len()));
                    if known.is_none() {
                        seen.push(next);
                    }
                }
            }
            rounds.push(to);
            leaves.push(is_left);
        }
        // What leads out does, and what leads there.
        for _ in 0..rounds.len() {
            for n in 0..rounds.len() {
                leaves[n] |= rounds[n].iter().any(|to| leaves[*to]);
            }
        }
        leaves.contains(&false)
    }

    /// An execution in which a process waits, with what tells it from others: where the process is, and which writes it has
    /// read. Who has read the newest of everything reads it again.
    fn waiting(&self, p: ProcessId) -> (Waiting, Self) {
        let read = |id: usize| match self.operations[id].what {
            What::Access { reads, .. } => reads,
            What::Fence(_) => None,
        };
        let mut sources: Vec<Option<usize>> = self.of(p).map(read).collect();
        sources.sort_unstable();
        sources.dedup();
        ((self.controls[p.index()], sources), self.clone())
    }
}
