//! Replays a run and checks that the model allows it.
//!
//! The run is not executed on buffers. For each process the checker keeps the operations
//! that were issued and have not taken effect, as a *trace*, and applies the rewrite
//! rules of Atig et al. 2012, section 3.3: an operation may take effect now if it may
//! overtake all operations before it (rules 1 and 2); a read takes the value of an own
//! write if the two can be moved next to each other (rule 3). If there are several ways
//! to do that, the checker follows all of them.
//!
//! A read from the history takes effect at an earlier moment: the earliest one with its
//! value such that the read need not have overtaken an operation that it may not
//! overtake. So the checker keeps all memory states of the run, and for each operation
//! the moment of its effect.
//!
//! Steps that only move things inside buffers (`transfer write`, `move pointer`, `fence
//! elimination`, `propagate`, `delete`) have no counterpart in the definition. The
//! checker checks only what they state: a write that moves is under way, and a value that
//! is seen was once in memory.

mod end;
mod reads;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::{Access, MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::semantics::Form;
use weir_model::system::{Op, System};

use crate::execution;
use crate::rejected::Rejected;
use crate::witness::{Configuration, FORMAT, VERSION, Witness, WitnessStep, state_names};

/// The most traces of a process that are followed. A run that needs more is not checked.
const MAX_TRACES: usize = 1 << 16;

/// What is wrong with a part of a run.
enum Wrong {
    /// It is not possible, in words why.
    Impossible(String),
    /// It has more traces than are followed: whether it is possible is not known.
    TooLarge,
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Self::Impossible(reason)
    }
}

impl From<&str> for Wrong {
    fn from(reason: &str) -> Self {
        Self::Impossible(reason.to_owned())
    }
}

impl Wrong {
    /// As a reason of a checker.
    fn rejected(self, of: impl FnOnce(String) -> Rejected) -> Rejected {
        match self {
            Self::Impossible(reason) => of(reason),
            Self::TooLarge => Rejected::TooLarge(format!(
                "the operations under way can be ordered in more than {MAX_TRACES} ways"
            )),
        }
    }
}

type Check<T> = Result<T, Wrong>;

/// Checks that a witness is a run of the system under its model, and that its
/// last state settles its property.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, witness: &Witness) -> Result<(), Rejected> {
    witness.header.check((FORMAT, VERSION), &system.program)?;
    let model: MemoryModel = witness.model.parse().map_err(Rejected::no_model)?;
    if witness.property >= system.questions.len() {
        let reason = format!("the program has no property {}", witness.property);
        return Err(Rejected::Malformed(reason));
    }
    let name = &system.questions[witness.property].name;
    if witness.property_name != *name {
        let reason = format!("property {} is called `{name}`", witness.property);
        return Err(Rejected::Malformed(reason));
    }
    if model == MemoryModel::C11 {
        return execution::check(system, witness);
    }
    let run = (witness.semantics.as_str(), &witness.initial, witness.steps.as_slice());
    let replay = Replay::of_run(system, model, run, &witness.end)?;
    replay.settles(witness.property).map_err(|wrong| wrong.rejected(Rejected::SettlesNothing))
}

/// Checks that steps are a run of the system under a model, by a form of its semantics and from
/// an initial configuration to an end.
///
/// # Errors
/// The first thing that is wrong with it.
pub(crate) fn check_run(
    system: &System,
    model: MemoryModel,
    run: (&str, &Configuration, &[WitnessStep]),
    end: &Configuration,
) -> Result<(), Rejected> {
    Replay::of_run(system, model, run, end).map(|_| ())
}

/// When an operation takes effect: during the memory state with this number,
/// or by bringing it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    state: usize,
    within: bool,
}

/// An operation that was issued.
#[derive(Clone, Copy, Debug)]
struct Issued {
    op: Op,
    effect: Option<Moment>,
    /// Took its value from a write that had not reached memory.
    early: bool,
    /// A write that has moved from the buffer of its variable to the serializing buffer.
    transferred: bool,
}

/// An issued operation, by its process and number.
type Name = (ProcessId, usize);

#[derive(Clone)]
struct Thread {
    state: StateId,
    /// Everything issued, in program order.
    issued: Vec<Issued>,
    /// The traces that what is under way can have been rewritten to. More than
    /// one only if reads were canceled in a way that leaves a choice.
    traces: Vec<Vec<usize>>,
}

struct Replay<'s> {
    system: &'s System,
    model: MemoryModel,
    threads: Vec<Thread>,
    /// All memory states so far.
    memory: Vec<Vec<ValueId>>,
    /// Whether writes move from the buffer of their variable to another before they reach
    /// memory.
    two_levels: bool,
    /// The order of effects that early reads of remote writes impose.
    orders: Vec<(Name, Name)>,
    /// For each process and variable the remote write that it read last.
    seen: Vec<Vec<Option<Name>>>,
}

fn access(op: Op) -> Access<VarId> {
    match op {
        Op::Read(x, _) => Access::Read(x),
        Op::Write(x, _) => Access::Write(x),
        Op::Fence(FenceKind::Read) => Access::ReadFence,
        Op::Fence(FenceKind::Write) => Access::WriteFence,
        Op::Nop | Op::Arw(..) | Op::Fence(FenceKind::Full) => Access::Full,
    }
}

fn is_fence(op: Op) -> bool {
    matches!(op, Op::Fence(_))
}

fn var(op: Op) -> Option<VarId> {
    match op {
        Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..) => Some(x),
        Op::Nop | Op::Fence(_) => None,
    }
}

impl<'s> Replay<'s> {
    fn new(system: &'s System, model: MemoryModel, start: &Configuration) -> Check<Self> {
        let expected: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
        if start.states != state_names(system, &expected) {
            return Err("the run does not begin in the initial control states".into());
        }
        let buffers = vec![Vec::<String>::new(); system.processes.len()];
        if start.buffers != buffers {
            return Err("the run does not begin with empty buffers".into());
        }
        let memory = read_memory(system, start)?;
        let is_initial = |(x, d)| system.vars[x as usize].initial.contains(d);
        if !(0..).zip(&memory).all(is_initial) {
            return Err("the run does not begin with an initial memory".into());
        }
        let thread = |p: &weir_model::system::Automaton| Thread {
            state: p.initial,
            issued: vec![],
            traces: vec![vec![]],
        };
        Ok(Self {
            system,
            model,
            threads: system.processes.iter().map(thread).collect(),
            memory: vec![memory],
            two_levels: false,
            orders: vec![],
            seen: vec![vec![None; system.vars.len()]; system.processes.len()],
        })
    }

    /// A run, replayed to its end.
    fn of_run(
        system: &'s System,
        model: MemoryModel,
        (semantics, initial, steps): (&str, &Configuration, &[WitnessStep]),
        end: &Configuration,
    ) -> Result<Self, Rejected> {
        if !Form::of_system(system, model).iter().any(|form| form.name() == semantics) {
            let reason = format!("{model} has no semantics called `{semantics}`");
            return Err(Rejected::Malformed(reason));
        }
        let mut replay =
            Self::new(system, model, initial).map_err(|wrong| wrong.rejected(Rejected::Start))?;
        replay.two_levels = semantics == Form::Pso.name();
        for (i, step) in steps.iter().enumerate() {
            let step = replay.step(step);
            step.map_err(|wrong| {
                wrong.rejected(|reason| Rejected::Step { number: i + 1, reason })
            })?;
        }
        replay.ends_in(end).map_err(|wrong| wrong.rejected(Rejected::End))?;
        replay.can_drain().map_err(|wrong| wrong.rejected(Rejected::End))?;
        Ok(replay)
    }

    fn now(&self) -> usize {
        self.memory.len() - 1
    }

    fn value(&self, state: usize, x: VarId) -> ValueId {
        self.memory[state][x.index()]
    }

    fn process(&self, name: &str) -> Check<ProcessId> {
        let found = self.system.processes.iter().position(|p| p.name == name);
        found.map(ProcessId::new).ok_or_else(|| format!("there is no process `{name}`").into())
    }

    fn variable(&self, step: &WitnessStep) -> Check<VarId> {
        let name = step.variable.as_deref().ok_or("the step names no variable")?;
        let found = self.system.vars.iter().position(|v| v.name == name);
        found.map(VarId::new).ok_or_else(|| format!("there is no variable `{name}`").into())
    }

    fn step(&mut self, step: &WitnessStep) -> Check<()> {
        let p = self.process(&step.process)?;
        let controls: Vec<StateId> = self.threads.iter().map(|t| t.state).collect();
        if let Some(other) = self.system.in_block(self.model, &controls).filter(|&q| q != p) {
            let name = &self.system.processes[other.index()].name;
            return Err(format!("process `{name}` is in the middle of an atomic block").into());
        }
        if step.newer.is_some() {
            return Err("only an access under C11 has newer writes".into());
        }
        match (step.rule.as_str(), &step.transition) {
            (
                "transfer write" | "move pointer" | "fence elimination" | "propagate" | "delete",
                None,
            ) => {
                step.describes_none()?;
                self.moves_inside(p, step)
            }
            ("update" | "validate", None) => {
                step.describes_none()?;
                let x = self.variable(step)?;
                self.perform_first(p, x, step.rule == "update", step.value)
            }
            (rule, Some(_)) => {
                let op = self.take(p, step)?;
                self.issue(p, op, rule, step)
            }
            (rule, None) => Err(format!("the rule `{rule}` needs a transition").into()),
        }
    }

    /// Checks what a step says that moves something inside a buffer.
    fn moves_inside(&mut self, p: ProcessId, step: &WitnessStep) -> Check<()> {
        if step.rule == "fence elimination" {
            return match (&step.variable, step.value) {
                (None, None) => Ok(()),
                _ => Err("a fence is about no variable".into()),
            };
        }
        let x = self.variable(step)?;
        let value = step.value.ok_or("the step names no value")?;
        let name = &self.system.vars[x.index()].name;
        let d = self.system.vars[x.index()].id(value);
        let (is_so, otherwise) = match step.rule.as_str() {
            "transfer write" => (self.transfer(p, x, d), "no such write is next in its buffer"),
            "propagate" => (self.value(self.now(), x) == d, "memory has another value"),
            _ => (self.was_in_memory(x, d), "memory never had this value"),
        };
        if is_so { Ok(()) } else { Err(format!("`{name}` = {value}: {otherwise}").into()) }
    }

    /// Moves the oldest write in the buffer of a variable on, if it has this value.
    fn transfer(&mut self, p: ProcessId, x: VarId, d: ValueId) -> bool {
        let issued = &mut self.threads[p.index()].issued;
        let waits = |i: &&mut Issued| {
            i.effect.is_none() && !i.transferred && matches!(i.op, Op::Write(y, _) if y == x)
        };
        match issued.iter_mut().find(waits) {
            Some(oldest) if oldest.op == Op::Write(x, d) => {
                oldest.transferred = true;
                true
            }
            _ => false,
        }
    }

    /// Whether memory has had a value.
    fn was_in_memory(&self, x: VarId, d: ValueId) -> bool {
        (0..=self.now()).any(|state| self.value(state, x) == d)
    }

    /// Moves the control state of a process along a transition.
    fn take(&mut self, p: ProcessId, step: &WitnessStep) -> Check<Op> {
        let thread = &mut self.threads[p.index()];
        let transition = step.taken(self.system, p, thread.state).ok_or_else(|| {
            format!("process `{}` has no such transition in its control state", step.process)
        })?;
        step.describes(self.system, transition)?;
        thread.state = transition.to;
        Ok(transition.op)
    }

    fn issue(&mut self, p: ProcessId, op: Op, rule: &str, step: &WitnessStep) -> Check<()> {
        // Where reads and writes stay in order anyway, partial fences do nothing.
        let partial = self.model.normal().has(Relaxation::Rwf);
        match (rule, op) {
            ("nop", Op::Nop) => Ok(()),
            ("read fence", Op::Fence(FenceKind::Read))
            | ("write fence", Op::Fence(FenceKind::Write))
                if !partial =>
            {
                Ok(())
            }
            ("write", Op::Write(..))
            | ("guess", Op::Read(..))
            | ("read fence", Op::Fence(FenceKind::Read))
            | ("write fence", Op::Fence(FenceKind::Write)) => {
                self.append(p, op);
                Ok(())
            }
            ("write memory", Op::Write(..))
            | ("read memory", Op::Read(..))
            | ("atomic read-write", Op::Arw(..))
            | ("fence", Op::Fence(FenceKind::Full)) => {
                let number = self.append(p, op);
                self.perform(p, number)
            }
            ("read history" | "read buffer", Op::Read(x, d)) => self.read_past(p, x, d),
            ("read own write", Op::Read(x, d)) => self.read_own_write(p, x, d),
            ("read remote write", Op::Read(x, d)) => {
                let source = step.source.as_deref().ok_or("the step does not say whose write")?;
                let source = self.process(source)?;
                self.read_remote_write(p, x, d, source)
            }
            _ => Err(format!("the rule `{rule}` does not do {}", self.system.show_op(op)).into()),
        }
    }

    /// Puts an operation at the end of the trace of its process.
    fn append(&mut self, p: ProcessId, op: Op) -> usize {
        let thread = &mut self.threads[p.index()];
        let number = thread.issued.len();
        thread.issued.push(Issued { op, effect: None, early: false, transferred: false });
        for trace in &mut thread.traces {
            trace.push(number);
        }
        self.drop_fences(p);
        if let Some(seen) = var(op).and_then(|x| self.seen[p.index()][x.index()]) {
            self.orders.push((seen, (p, number)));
        }
        number
    }

    fn may_overtake(&self, first: Op, second: Op) -> bool {
        self.model.may_overtake(&access(first), &access(second))
    }

    /// The first operation on a variable that is under way takes effect.
    fn perform_first(
        &mut self,
        p: ProcessId,
        x: VarId,
        write: bool,
        value: Option<i128>,
    ) -> Check<()> {
        let thread = &self.threads[p.index()];
        let first = (0..thread.issued.len()).find(|&i| {
            let issued = thread.issued[i];
            issued.effect.is_none() && !issued.early && var(issued.op) == Some(x)
        });
        let name = &self.system.vars[x.index()].name;
        let first = first.ok_or_else(|| format!("nothing on `{name}` is under way"))?;
        let done = match thread.issued[first].op {
            Op::Write(_, d) if write => d,
            Op::Read(_, d) if !write => d,
            op => return Err(format!("{} comes first on `{name}`", self.system.show_op(op)).into()),
        };
        if value.is_some_and(|v| v != self.system.value(x, done)) {
            return Err(
                format!("the value on its way is {}", self.system.show_value(x, done)).into()
            );
        }
        if write && self.two_levels && !thread.issued[first].transferred {
            return Err(
                format!("the write to `{name}` is still in the buffer of its variable").into()
            );
        }
        self.perform(p, first)
    }

    /// An operation takes effect now.
    fn perform(&mut self, p: ProcessId, number: usize) -> Check<()> {
        self.come_first(p, number)?;
        let op = self.threads[p.index()].issued[number].op;
        if let Op::Arw(x, ..) = op
            && self.seen[p.index()][x.index()].is_some_and(|w| self.is_under_way(w))
        {
            return Err("the process has read a write early that is still under way".into());
        }
        if let Op::Read(x, d) | Op::Arw(x, d, _) = op
            && self.value(self.now(), x) != d
        {
            let found = self.system.show_value(x, self.value(self.now(), x));
            return Err(format!("memory has {found} for {}", self.system.show_op(op)).into());
        }
        let mut within = true;
        if let Op::Write(x, d) | Op::Arw(x, _, d) = op {
            let mut memory = self.memory[self.now()].clone();
            memory[x.index()] = d;
            self.memory.push(memory);
            within = false;
        }
        let state = self.now();
        self.threads[p.index()].issued[number].effect = Some(Moment { state, within });
        Ok(())
    }

    fn is_under_way(&self, (p, number): Name) -> bool {
        self.threads[p.index()].issued[number].effect.is_none()
    }

    /// Takes an operation out of its trace, where it must be able to come first.
    fn come_first(&mut self, p: ProcessId, number: usize) -> Check<()> {
        let op = self.threads[p.index()].issued[number].op;
        let held = self
            .orders
            .iter()
            .any(|(first, second)| *second == (p, number) && self.is_under_way(*first));
        if held {
            return Err("a write that was read early has to come first".into());
        }
        let thread = &self.threads[p.index()];
        let comes_first = |trace: &Vec<usize>| {
            let at = trace.iter().position(|&n| n == number)?;
            let free = |&n: &usize| self.may_overtake(thread.issued[n].op, op);
            trace[..at].iter().all(free).then(|| without(trace, number))
        };
        let traces: Vec<_> = thread.traces.iter().filter_map(comes_first).collect();
        if traces.is_empty() {
            let blocking = thread
                .traces
                .iter()
                .flatten()
                .find(|&&n| n < number && !self.may_overtake(thread.issued[n].op, op));
            let what = blocking.map_or_else(String::new, |&n| {
                format!(" {}", self.system.show_op(thread.issued[n].op))
            });
            let shown = self.system.show_op(op);
            return Err(format!("under {} {shown} may not overtake{what}", self.model).into());
        }
        self.threads[p.index()].traces = traces;
        self.drop_fences(p);
        Ok(())
    }

    /// A partial fence with nothing left to hold back has done its work.
    fn drop_fences(&mut self, p: ProcessId) {
        let Thread { issued, traces, .. } = &mut self.threads[p.index()];
        for trace in traces {
            let mut kept: Vec<usize> = Vec::new();
            for &n in trace.iter() {
                let fence = access(issued[n].op);
                let overtakes = |m: &usize| self.model.may_overtake(&access(issued[*m].op), &fence);
                if fence == Access::Full || !is_fence(issued[n].op) || !kept.iter().all(overtakes) {
                    kept.push(n);
                }
            }
            *trace = kept;
        }
    }
}

fn without(trace: &[usize], number: usize) -> Vec<usize> {
    trace.iter().copied().filter(|&n| n != number).collect()
}

fn read_memory(system: &System, configuration: &Configuration) -> Check<Vec<ValueId>> {
    if configuration.memory.len() != system.vars.len() {
        return Err("the memory does not have the variables of the program".into());
    }
    let value = |x: &weir_model::system::Variable| {
        let value = configuration.memory.get(&x.name);
        let value = value.ok_or_else(|| format!("the memory has no `{}`", x.name))?;
        Ok(x.id(*value))
    };
    system.vars.iter().map(value).collect()
}
