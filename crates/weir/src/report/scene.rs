//! A run as a sequence of states of the machine, in names: what a picture or a page draws.
//!
//! A [`Scene`] has the state before the first step, and of each step what it changes, so its
//! size is linear in the length of the run. [`State::apply`] makes a step. The shape of the JSON is
//! described in `docs/json.md`.
//!
//! What is under way has an identity: the number of the step that issued it. So one write can
//! be followed from its issue to memory. The identities are found by comparing what is under
//! way before and after a step. That needs no knowledge of the rules, because operations
//! of one process that are alike take effect in the order in which they were issued. Where the
//! semantics stores a fence together with a read, the number of the fence is one that no step has.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde::{Deserialize, Serialize};
use weir_model::answer::{Replay, Run};
use weir_model::ids::{Cell, ProcessId, RegId, SpanId, StateId, ValueId, VarId};
use weir_model::semantics::{Event, EventKind, Form, Rule, Step as ModelStep};
use weir_model::system::{Op, StateKind, System};

use crate::load::Loaded;
use crate::report::explain::{Effect, explain, relaxation};
use crate::report::run::words;

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
        }
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
    /// For [`Buffers::History`]: all values that each variable has had, oldest first.
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
    /// For [`Buffers::History`]: for each variable that it reads, the index in the history of the
    /// oldest value that it may still read.
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
    /// If the step is none of the scene's.
    pub fn apply(&mut self, scene: &Scene, step: &Step) {
        for (variable, value) in &step.memory {
            self.memory.insert(variable.clone(), value.clone());
            if let Some(values) = self.history.get_mut(variable) {
                values.push(value.clone());
            }
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

/// What a process has under way, by what it is: the identities of those that are alike,
/// oldest first.
type Alike = BTreeMap<Event, VecDeque<usize>>;

/// A run while its scene is made: the state after the steps so far.
struct Machine<'l> {
    loaded: &'l Loaded,
    /// The scene, without its steps.
    scene: Scene,
    /// For each process, its registers that are shown.
    shown: Vec<Vec<RegId>>,
    alike: Vec<Alike>,
    /// What each process has under way, and memory, as the replay has them.
    pending: Vec<Vec<Event>>,
    memory: Vec<Cell>,
    /// How many values each variable has had.
    values: Vec<usize>,
    state: State,
    taken: usize,
    /// A number that nothing under way has, past those of the steps.
    free: usize,
}

impl<'l> Machine<'l> {
    fn new(loaded: &'l Loaded, run: &Run, replay: &Replay<'_>) -> Self {
        let system = &loaded.system;
        let shown: Vec<Vec<RegId>> = system
            .program
            .processes
            .iter()
            .map(|p| {
                let all = (0..p.registers.len()).map(RegId::new);
                all.filter(|r| !p.registers[r.index()].temporary).collect()
            })
            .collect();
        let actor = |p: ProcessId| Actor {
            name: system.processes[p.index()].name.clone(),
            registers: register_names(system, p, &shown[p.index()]),
        };
        let scene = Scene {
            version: VERSION,
            model: run.model.to_string(),
            semantics: run.form.name().to_owned(),
            buffers: Buffers::of(run.form),
            variables: system.vars.iter().map(|x| x.name.clone()).collect(),
            processes: system.process_ids().map(actor).collect(),
            start: State::default(),
            steps: vec![],
            cycle: None,
        };
        let alike = vec![Alike::new(); system.processes.len()];
        let values = vec![1; system.vars.len()];
        let (state, free) = (State::default(), run.steps.len() + 1);
        let (pending, memory) = (replay.pending(), replay.memory().to_vec());
        let mut machine =
            Self { loaded, scene, shown, alike, pending, memory, values, state, taken: 0, free };
        machine.scene.start = machine.start(replay);
        machine.state = machine.scene.start.clone();
        machine
    }

    fn start(&self, replay: &Replay<'_>) -> State {
        let system = &self.loaded.system;
        let memory: BTreeMap<String, String> = (0..)
            .zip(replay.memory())
            .map(|(x, value)| {
                let var = VarId(x);
                (self.variable(var), system.show_value(var, ValueId(*value)))
            })
            .collect();
        let history = match self.scene.buffers {
            Buffers::History => {
                memory.iter().map(|(x, value)| (x.clone(), vec![value.clone()])).collect()
            }
            _ => BTreeMap::new(),
        };
        let positions = self.positions(replay);
        let processes = system
            .process_ids()
            .zip(replay.controls())
            .zip(positions)
            .map(|((p, control), positions)| Process {
                place: self.place(p, StateId(*control)),
                registers: self.registers(p, StateId(*control)),
                buffer: Vec::new(),
                waiting: BTreeMap::new(),
                positions,
            })
            .collect();
        State { memory, history, processes }
    }

    fn variable(&self, var: VarId) -> String {
        self.loaded.system.vars[var.index()].name.clone()
    }

    fn place(&self, p: ProcessId, control: StateId) -> Place {
        let system = &self.loaded.system;
        let state = system.state(p, control);
        let labels = &system.program.processes[p.index()].labels;
        let span = (state.span != SpanId::NONE).then_some(state.span);
        Place {
            line: span.map(|span| self.loaded.line(span)),
            span: span.map(|span| self.loaded.source.corners(span)),
            labels: state.labels.iter().map(|l| labels[l.index()].name.clone()).collect(),
            ended: state.kind == StateKind::Ended,
            failure: match &state.kind {
                StateKind::Failed(failure) => Some(failure.to_string()),
                StateKind::Left(excess) => Some(excess.to_string()),
                StateKind::Inside | StateKind::Ended => None,
            },
        }
    }

    fn registers(&self, p: ProcessId, control: StateId) -> BTreeMap<String, Option<String>> {
        let system = &self.loaded.system;
        let state = system.state(p, control);
        let names = self.scene.processes[p.index()].registers.iter().cloned();
        let value = |r: RegId| {
            let domain = system.register(p, r).domain;
            let value = state.registers[r.index()];
            system.keeps(p, control, r).then(|| system.program.show_value(domain, value))
        };
        names.zip(self.shown[p.index()].iter().map(|r| value(*r))).collect()
    }

    /// For each process, its positions in the history.
    fn positions(&self, replay: &Replay<'_>) -> Vec<BTreeMap<String, usize>> {
        let position = |(x, unread): (VarId, usize)| {
            (self.variable(x), self.values[x.index()].saturating_sub(1 + unread))
        };
        let unread = match self.scene.buffers {
            Buffers::History => replay.unread(),
            _ => None,
        };
        let Some(unread) = unread else { return vec![BTreeMap::new(); self.scene.processes.len()] };
        unread.into_iter().map(|one| one.into_iter().map(position).collect()).collect()
    }

    /// What a step that was just taken did.
    fn step(&mut self, step: &ModelStep, replay: &Replay<'_>) -> Step {
        self.taken += 1;
        let system = &self.loaded.system;
        let (p, name) = (step.process, self.scene.processes[step.process.index()].name.clone());
        let taken = step.transition.map(|t| system.transition(p, t));
        let var = match (taken.map(|t| t.op), step.event) {
            (Some(Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..)), _) => Some(x),
            (None, Some(event)) if !event.is_fence() => Some(event.var),
            _ => None,
        };
        let entry = self.read(step, var);
        let (enters, leaves) = self.under_way(p, replay);
        let moves: Vec<usize> = match (step.rule, step.event) {
            (Rule::TransferWrite, Some(event)) => {
                self.oldest_waiting(p, event).into_iter().collect()
            }
            _ => vec![],
        };
        let entry = entry.or_else(|| {
            let first = enters.first().map(|e| e.id);
            first.or_else(|| moves.first().copied()).or_else(|| leaves.first().copied())
        });
        let mut memory = BTreeMap::new();
        for (x, value) in (0..).map(VarId).zip(replay.memory()) {
            if std::mem::replace(&mut self.memory[x.index()], *value) != *value {
                self.values[x.index()] += 1;
                memory.insert(self.variable(x), system.show_value(x, ValueId(*value)));
            }
        }
        let control = StateId(replay.controls()[p.index()]);
        let before = &self.state.processes[p.index()];
        let place = Some(self.place(p, control)).filter(|place| *place != before.place);
        let mut registers = self.registers(p, control);
        registers.retain(|register, value| before.registers[register] != *value);
        let mut positions = BTreeMap::new();
        for (i, mut found) in self.positions(replay).into_iter().enumerate() {
            found.retain(|x, position| self.state.processes[i].positions[x] != *position);
            if !found.is_empty() {
                positions.insert(self.scene.processes[i].name.clone(), found);
            }
        }
        let shown = Step {
            process: name,
            rule: step.rule.name().to_owned(),
            text: words::action(system, step),
            line: taken.map(|t| self.loaded.line(t.span)),
            span: taken.map(|t| self.loaded.source.corners(t.span)),
            variable: var.map(|x| self.variable(x)),
            entry,
            source: step.source.map(|q| self.scene.processes[q.index()].name.clone()),
            overtakes: vec![],
            memory,
            place,
            registers,
            enters,
            moves,
            leaves,
            positions,
        };
        self.state.apply(&self.scene, &shown);
        shown
    }

    /// Whose value a step reads before it is in memory: the last write to the variable that the
    /// process, or the other one, has under way.
    fn read(&self, step: &ModelStep, var: Option<VarId>) -> Option<usize> {
        let whose = match step.rule {
            Rule::ReadOwnWrite => step.process,
            Rule::ReadRemoteWrite => step.source?,
            _ => return None,
        };
        let writes = self.alike[whose.index()].iter().filter(|(event, _)| {
            Some(event.var) == var && matches!(event.kind, EventKind::Write | EventKind::Own)
        });
        writes.filter_map(|(_, ids)| ids.back().copied()).max()
    }

    /// The oldest write of a process, of those that are alike, that waits in the queue of its
    /// variable.
    fn oldest_waiting(&self, p: ProcessId, event: Event) -> Option<usize> {
        let queue = self.state.processes[p.index()].waiting.get(&self.variable(event.var))?;
        queue.first().map(|entry| entry.id)
    }

    /// Compares what is under way with what was before.
    fn under_way(&mut self, p: ProcessId, replay: &Replay<'_>) -> (Vec<Entry>, Vec<usize>) {
        let (mut enters, mut leaves) = (Vec::new(), Vec::new());
        let before = std::mem::replace(&mut self.pending, replay.pending());
        for (q, before) in self.loaded.system.process_ids().zip(before) {
            for (event, more) in difference(&before, &self.pending[q.index()]) {
                let ids = self.alike[q.index()].entry(event).or_default();
                for _ in more..0 {
                    leaves.extend(ids.pop_front());
                }
                debug_assert!(more <= 0 || more == 1 && p == q, "a step issues one operation");
                if more > 0 {
                    // Events are ordered by their kind: fences come last.
                    let id = if enters.is_empty() { self.taken } else { self.free };
                    self.free += usize::from(!enters.is_empty());
                    ids.push_back(id);
                    enters.push(self.entry(id, event));
                }
            }
        }
        leaves.sort_unstable();
        (enters, leaves)
    }

    /// What enters a buffer in this step.
    fn entry(&self, id: usize, event: Event) -> Entry {
        let kind = match event.kind {
            EventKind::Write => "write",
            EventKind::Read => "read",
            EventKind::WriteFence => "write fence",
            EventKind::ReadFence => "read fence",
            EventKind::Load => "load",
            EventKind::Own => "own",
        };
        let place = (!event.is_fence()).then_some((event.var, event.value));
        Entry {
            id,
            kind: kind.to_owned(),
            variable: place.map(|(x, _)| self.variable(x)),
            value: place.map(|(x, d)| self.loaded.system.show_value(x, d)),
        }
    }
}

/// How many more of each event there are in the second list than in the first, where that is not
/// none. What both begin and end with is the same.
fn difference(before: &[Event], after: &[Event]) -> BTreeMap<Event, isize> {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let same = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[..before.len() - same], &after[..after.len() - same]);
    let mut more = BTreeMap::new();
    for event in after {
        *more.entry(*event).or_default() += 1;
    }
    for event in before {
        *more.entry(*event).or_default() -= 1;
    }
    more.retain(|_, count| *count != 0);
    more
}

/// The names of registers, made unique by their numbers where two have the same.
fn register_names(system: &System, p: ProcessId, shown: &[RegId]) -> Vec<String> {
    let name = |r: &RegId| &system.register(p, *r).name;
    shown
        .iter()
        .map(|r| match shown.iter().filter(|other| name(other) == name(r)).count() {
            1 => name(r).clone(),
            _ => format!("{}#{}", name(r), r.index()),
        })
        .collect()
}
