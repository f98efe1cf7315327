//! A run as a sequence of states of the machine, in names: what a picture or a page draws.
//!
//! A [`Scene`] has the state before the first step, and of each step what it changes, so its
//! size is linear in the length of the run. [`State::apply`] makes a step. The shape of the JSON is
//! described in `docs/json.md`.
//!
//! What is under way has an identity: the number of the step that issued it. So one write can
//! be followed from its issue to memory.

mod machine;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use weir_check::Witness;
use weir_model::answer::Run;
use weir_model::ids::QuestionId;
use weir_model::semantics::Form;

use crate::load::Loaded;
use crate::report::explain::{Effect, explain, relaxation};
use machine::Machine;

/// The version of the shape of scenes.
pub const VERSION: u32 = 1;

/// A run, state by state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// [`VERSION`].
    pub version: u32,
    /// The memory model.
    pub model: String,
    /// The form of its semantics that the run is one of.
    pub semantics: String,
    /// What the machine has between a process and memory.
    pub buffers: Buffers,
    /// The variables, in the order of the program.
    pub variables: Vec<String>,
    /// The processes, in the order of the program.
    pub processes: Vec<Actor>,
    /// The state before the first step.
    pub start: State,
    /// The steps.
    pub steps: Vec<Step>,
    /// For an infinite run: the number of the step, from 1, that begins the cycle. It follows
    /// the last step again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<usize>,
}

/// What the machine has between a process and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Buffers {
    /// Nothing: SC.
    None,
    /// A queue of writes: TSO.
    Store,
    /// A queue of writes for each variable, and behind these one queue for all: PSO.
    TwoLevel,
    /// The same, and a history of the values of each variable, in which each process has a
    /// position: NSW.
    History,
    /// A queue of messages from memory to the process.
    Load,
    /// Operations that wait, and are only partly ordered.
    Pool,
    /// Nothing waits; a process may read older writes: C11.
    Messages,
}

impl Buffers {
    fn of(form: Form) -> Self {
        match form {
            Form::Sc => Self::None,
            Form::Tso => Self::Store,
            Form::Pso => Self::TwoLevel,
            Form::NswFifo => Self::History,
            Form::LoadBuffers => Self::Load,
            Form::NswEvents
            | Form::NswHistory
            | Form::Guess
            | Form::GuessWw
            | Form::GuessInOrder
            | Form::NswRemote
            | Form::Relaxations => Self::Pool,
            Form::C11 => Self::Messages,
        }
    }

    /// Whether older values can be read.
    pub fn has_history(self) -> bool {
        matches!(self, Self::History | Self::Messages)
    }

    /// Whether a write waits in the buffer of its variable first.
    pub fn has_two_levels(self) -> bool {
        matches!(self, Self::TwoLevel | Self::History)
    }
}

/// What is the same of a process in all states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Its name.
    pub name: String,
    /// Its registers, in the order of the program.
    pub registers: Vec<String>,
}

/// A state of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The newest value of each variable.
    pub memory: BTreeMap<String, String>,
    /// For [`Buffers::History`]: all values that each variable has had, oldest first. For [`Buffers::Messages`]: the
    /// values that were written to it, in modification order.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub history: BTreeMap<String, Vec<String>>,
    /// The processes, in the order of [`Scene::processes`].
    pub processes: Vec<Process>,
}

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Where it stands.
    pub place: Place,
    /// Its registers. One whose value no longer matters has none.
    pub registers: BTreeMap<String, Option<String>>,
    /// What it has under way, oldest first. With two levels: the queue for all variables.
    pub buffer: Vec<Entry>,
    /// With two levels: the queue of each variable that has one, oldest first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting: BTreeMap<String, Vec<Entry>>,
    /// For [`Buffers::History`] and [`Buffers::Messages`]: for each variable that it reads, the index in the
    /// history of the oldest value that it may still read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub positions: BTreeMap<String, usize>,
}

/// Where a process stands: the statement that is next, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Line and column of its first character, and of the one after its last, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 4]>,
    /// The labels there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Whether the process has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Why it cannot go on: it has failed, or a value has left its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.failure, self.ended, self.line) {
            (Some(failure), ..) => write!(f, "fails: {failure}"),
            (_, true, _) => f.write_str("has ended"),
            (.., Some(line)) if self.labels.is_empty() => write!(f, "line {line}"),
            (.., Some(line)) => write!(f, "line {line} at {}", self.labels.join(", ")),
            (.., None) => f.write_str(&self.labels.join(", ")),
        }
    }
}

/// Something under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the step that issued it. A fence that the semantics adds to a read has a
    /// number past that of the last step.
    pub id: usize,
    /// `write`, `read`, `write fence`, `read fence`; in a load buffer `load` or `own`.
    pub kind: String,
    /// Its variable; none for a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Its value; none for a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A step, with what it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whose step it is.
    pub process: String,
    /// The rule of the semantics.
    pub rule: String,
    /// What it does, in a few words.
    pub text: String,
    /// The line of the statement, from 1; none for a step of the memory itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Where the statement is, as in [`Place::span`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 4]>,
    /// The variable that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// What is under way that it is about: what enters, moves, leaves or is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<usize>,
    /// Whose write is read, if it is one of another process that has not reached memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The earlier operations of its process that it overtakes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overtakes: Vec<Overtaken>,
    /// The new values in memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, String>,
    /// Where its process stands after it, if that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The registers of its process that change.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub registers: BTreeMap<String, Option<String>>,
    /// What its process has under way from now on, at the end: of the queue of the variable with
    /// two levels, otherwise of the buffer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enters: Vec<Entry>,
    /// What moves from the queue of its variable to the end of the queue for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<usize>,
    /// What is no longer under way, of any process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<usize>,
    /// The positions that change, by process and variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub positions: BTreeMap<String, BTreeMap<String, usize>>,
    /// For [`Buffers::Messages`]: what it writes, and where that stands in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// For [`Buffers::Messages`]: the index in the history of the value that it reads, before it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<usize>,
    /// For [`Buffers::Messages`]: the steps of other processes that synchronize with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synchronizes: Vec<usize>,
}

/// A value in the history of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its index.
    pub position: usize,
    /// The value.
    pub value: String,
}

/// An operation that a later one of its process overtakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overtaken {
    /// The number of the step that issued it.
    pub step: usize,
    /// The relaxation that allows it: `w->r`, `w->w`, `r->r` or `r->w`.
    pub relaxation: String,
}

impl Scene {
    /// The scene of a run. The steps of an infinite one repeat from the step with the index
    /// `cycle` on.
    pub fn new(loaded: &Loaded, run: &Run, cycle: Option<usize>) -> Self {
        let mut replay = run.replay(&loaded.system);
        let mut machine = Machine::new(loaded, run, &replay);
        let mut steps = Vec::with_capacity(run.steps.len());
        while let Some(step) = replay.advance() {
            steps.push(machine.step(&step, &replay));
        }
        for reordering in &explain(&loaded.system, run).reorderings {
            let early = reordering.early;
            // A write overtakes when it reaches memory, a guess when it comes true.
            let at = match early.effect {
                Effect::Later(step) => step,
                Effect::Now | Effect::Before(_) | Effect::Never => early.step,
            };
            steps[at - 1].overtakes.extend(reordering.late.iter().map(|late| Overtaken {
                step: late.step,
                relaxation: relaxation(late.op, early.op).to_owned(),
            }));
        }
        if run.form == Form::C11 {
            // Any question will do: only the steps matter.
            let witness = Witness::new(&loaded.system, run, QuestionId(0), &|_| 0);
            for (first, second) in weir_check::synchronizations(&loaded.system, &witness) {
                steps[second - 1].synchronizes.push(first);
            }
        }
        Self { steps, cycle: cycle.map(|stem| stem + 1), ..machine.scene }
    }

    /// The states: the one before the first step, and the one after each.
    pub fn states(&self) -> impl Iterator<Item = State> + '_ {
        let mut state = self.start.clone();
        let mut steps = self.steps.iter();
        let mut is_first = true;
        std::iter::from_fn(move || {
            if !std::mem::take(&mut is_first) {
                state.apply(self, steps.next()?);
            }
            Some(state.clone())
        })
    }

    fn index(&self, process: &str) -> usize {
        let found = self.processes.iter().position(|p| p.name == process);
        found.expect("a step names a process of its scene")
    }
}

impl State {
    /// Makes a step.
    ///
    /// # Panics
    /// If the step is not a step of the scene.
    pub fn apply(&mut self, scene: &Scene, step: &Step) {
        for (variable, value) in &step.memory {
            self.memory.insert(variable.clone(), value.clone());
            if scene.buffers == Buffers::History
                && let Some(values) = self.history.get_mut(variable)
            {
                values.push(value.clone());
            }
        }
        if let (Some(Message { position, value }), Some(variable)) = (&step.message, &step.variable)
            && let Some(values) = self.history.get_mut(variable)
        {
            values.insert(*position, value.clone());
        }
        for process in &mut self.processes {
            for id in &step.leaves {
                process.take(*id);
            }
        }
        let process = &mut self.processes[scene.index(&step.process)];
        if let Some(place) = &step.place {
            process.place = place.clone();
        }
        for (register, value) in &step.registers {
            process.registers.insert(register.clone(), value.clone());
        }
        for entry in &step.enters {
            let queue = match &entry.variable {
                Some(x) if scene.buffers.has_two_levels() => {
                    process.waiting.entry(x.clone()).or_default()
                }
                _ => &mut process.buffer,
            };
            queue.push(entry.clone());
        }
        for id in &step.moves {
            let moved = process.take(*id);
            process.buffer.extend(moved);
        }
        for (name, positions) in &step.positions {
            let process = &mut self.processes[scene.index(name)];
            for (variable, position) in positions {
                process.positions.insert(variable.clone(), *position);
            }
        }
    }
}

impl Process {
    /// Takes out what has an identity.
    fn take(&mut self, id: usize) -> Option<Entry> {
        if let Some(at) = self.buffer.iter().position(|e| e.id == id) {
            return Some(self.buffer.remove(at));
        }
        let (variable, at) = self.waiting.iter().find_map(|(variable, queue)| {
            Some((variable.clone(), queue.iter().position(|e| e.id == id)?))
        })?;
        let queue = self.waiting.get_mut(&variable)?;
        let taken = queue.remove(at);
        if queue.is_empty() {
            self.waiting.remove(&variable);
        }
        Some(taken)
    }
}
