//! Operational semantics of memory models.
//!
//! A *configuration* is a flat sequence of 32-bit cells: the control state of each
//! process, the newest memory, and then the other parts of the form (buffers, event
//! structures, histories). Engines use [`Semantics`] only.
//!
//! | form | model | source |
//! | --- | --- | --- |
//! | [`Form::Sc`] | SC | Atig et al. 2012, section 3.2 |
//! | [`Form::Tso`] | TSO | Atig et al. 2010, section 3.2 |
//! | [`Form::Pso`] | PSO, with and without partial fences | Atig et al. 2012, section 5.2 |
//! | [`Form::NswEvents`] | NSW by event structures | Atig et al. 2012, section 4.2 |
//! | [`Form::NswHistory`] | NSW by history buffer | Atig et al. 2012, section 5.1 |
//! | [`Form::NswFifo`] | NSW by two-level FIFO buffers | Atig et al. 2012, section 5.2 |
//! | [`Form::Guess`] | TSO with `r->r` and `r->w` | Atig et al. 2010, section 8.1 |
//! | [`Form::GuessWw`] | the same with `w->w` | Atig et al. 2010, section 8.2 |
//! | [`Form::GuessInOrder`] | TSO with `r->w` | Atig et al. 2012, section 3.4 |
//! | [`Form::NswRemote`] | NSW with RRWE | Atig et al. 2012, section 7 |
//! | [`Form::LoadBuffers`] | TSO by load buffers | Spengler 2024, section 9 |
//! | [`Form::Relaxations`] | any set | Atig et al. 2012, section 3.3 |
//! | [`Form::C11`] | C11, C++20 and Rust | Kang et al. 2017, and the graph of `c11` |
//!
//! Atomic blocks of several steps are in one place for all of them, `undivided`.
//!
//! The tests compare all of them with the definition, [`rewriting`].

mod alphabet;
mod c11;
mod event_structure;
mod fifo;
mod guess;
mod layout;
mod load_buffers;
mod nsw_events;
mod nsw_history;
mod relaxations;
pub mod rewriting;
mod sc;
mod tso;
mod undivided;

use crate::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use crate::limits::Budget;
use crate::memory_model::{MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::symmetry::Automorphism;
use crate::system::{System, Transition};

pub use alphabet::{Alphabet, Event, EventKind};
pub use layout::Layout;

/// What is called with each step from a configuration and the one that it leads to.
pub type Visit<'v> = &'v mut dyn FnMut(Step, &[Cell]);

/// An operational semantics of one system under one model.
pub trait Semantics: Sync {
    /// The system.
    fn system(&self) -> &System;

    /// What its configurations hold behind control states and memory.
    fn layout(&self) -> &dyn Layout;

    /// Appends what an initial configuration holds behind control states and
    /// memory.
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        self.layout().initial_rest(config);
    }

    /// Calls `visit` with every step from `config` and the configuration that
    /// it leads to. `scratch` is space to work in. A step determines where it leads:
    /// two steps from one configuration to different ones are different.
    ///
    /// Returns `false` if some step was left out because a buffer would have
    /// grown past the bound.
    #[must_use]
    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool;

    /// Whether every read that was issued has its value for good. Only then do
    /// the control states mean anything: before, they rest on guesses.
    fn is_settled(&self, _config: &[Cell]) -> bool {
        true
    }

    /// Whether nothing is under way: every write has reached memory.
    fn is_drained(&self, config: &[Cell]) -> bool {
        self.layout().is_drained(config)
    }

    /// What each process has under way, oldest first, for showing.
    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        self.layout().pending(config)
    }

    /// Takes the only transition that leaves the control state of a process, in place, if no other
    /// process can observe or disable it: it commutes with all steps of the others and with those
    /// of the own buffers, or, taken later, it would leave less to read. `None`, and nothing
    /// changed, if it is no such step.
    fn take_quietly(
        &self,
        _config: &mut Vec<Cell>,
        _process: ProcessId,
        _transition: &Transition,
    ) -> Option<Rule> {
        None
    }

    /// Takes a read of the value that [`sees`](Self::sees) tells, in place, where no other process writes the variable any more.
    /// `None`, and nothing changed, if others can observe it.
    fn take_read_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        transition: &Transition,
    ) -> Option<Rule> {
        config[process.index()] = transition.to.0;
        Some(Rule::ReadMemory)
    }

    /// The value that a process reads from a variable, if there is only one and it stays the same
    /// until another process writes the variable; `None` also where that is not known.
    fn sees(&self, _config: &[Cell], _process: ProcessId, _var: VarId) -> Option<ValueId> {
        None
    }

    /// Whether a process has a write to a variable under way, or may have.
    fn has_under_way(&self, _config: &[Cell], _process: ProcessId, _var: VarId) -> bool {
        true
    }

    /// Takes a step of the buffers of a process, in place, that concerns a write to a variable of
    /// which `may` holds: no other process uses the variable, and no question asks for it. `None`,
    /// and nothing changed, if there is none.
    fn update_quietly(
        &self,
        _config: &mut Vec<Cell>,
        _process: ProcessId,
        _may: &dyn Fn(&[Cell], VarId) -> bool,
    ) -> Option<Step> {
        None
    }

    /// Whether a step of the buffers makes no difference before some later step, and so can wait
    /// for it.
    fn can_wait(&self, _config: &[Cell], _step: &Step) -> bool {
        false
    }

    /// Takes, in place, the step of the buffers for which the given step was taken: without it,
    /// that step could have [waited](Self::can_wait). `false` if something was left out because of
    /// the bound. `None`, and nothing changed, if there is no such step.
    fn complete(
        &self,
        _config: &mut Vec<Cell>,
        _step: &Step,
        _space: &mut Vec<Cell>,
    ) -> Option<(Step, bool)> {
        None
    }

    /// Writes what an automorphism of the system makes of a configuration; `None` if there is no
    /// image, or the form has none.
    fn image(
        &self,
        _config: &[Cell],
        _automorphism: &Automorphism,
        _image: &mut Vec<Cell>,
    ) -> Option<()> {
        None
    }

    /// Takes the first step that is wanted, if there is one, and returns it.
    fn take(&self, config: &mut Vec<Cell>, wanted: &dyn Fn(&Step) -> bool) -> Option<Step> {
        let mut found = None;
        let _ = self.successors(config, &mut Vec::new(), &mut |step, next| {
            if found.is_none() && wanted(&step) {
                found = Some((step, next.to_vec()));
            }
        });
        let (step, next) = found?;
        *config = next;
        Some(step)
    }

    /// The initial configurations: one, or one per choice of initial values.
    fn initial(&self) -> Box<dyn Iterator<Item = Vec<Cell>> + '_> {
        Box::new(self.system().initial_memories().map(|memory| self.initial_with(&memory)))
    }

    /// The initial configuration with this memory.
    fn initial_with(&self, memory: &[ValueId]) -> Vec<Cell> {
        let mut config: Vec<Cell> = self.system().processes.iter().map(|p| p.initial.0).collect();
        config.extend(memory.iter().map(|v| v.0));
        self.initial_rest(&mut config);
        config
    }

    /// The control states of a configuration.
    #[inline]
    fn controls<'c>(&self, config: &'c [Cell]) -> &'c [Cell] {
        &config[..self.system().processes.len()]
    }

    /// The newest memory of a configuration.
    #[inline]
    fn memory<'c>(&self, config: &'c [Cell]) -> &'c [Cell] {
        let n = self.system().processes.len();
        &config[n..n + self.system().vars.len()]
    }
}

/// One step of an operational semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose step it is.
    pub process: ProcessId,
    /// The rule.
    pub rule: Rule,
    /// The transition that the process takes, if its control state moves.
    pub transition: Option<TransitionId>,
    /// What left a buffer or moved inside it, if no control state moves.
    pub event: Option<Event>,
    /// Whose write was read, for [`Rule::ReadRemoteWrite`].
    pub source: Option<ProcessId>,
    /// Which one it is of several steps that are alike in everything above and lead
    /// to different configurations.
    pub way: u32,
}

impl Step {
    /// A process takes a transition by a rule.
    pub fn take(process: ProcessId, rule: Rule, transition: TransitionId) -> Self {
        Self { process, rule, transition: Some(transition), event: None, source: None, way: 0 }
    }

    /// A step of the buffers of a process by a rule.
    pub fn memory(process: ProcessId, rule: Rule, event: Event) -> Self {
        Self { process, rule, transition: None, event: Some(event), source: None, way: 0 }
    }
}

/// The rules, by the names that the papers give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Nothing happens.
    Nop,
    /// A write reaches memory at once.
    WriteMemory,
    /// A write is kept for later.
    Write,
    /// A write moves from its variable's buffer to the serializing buffer.
    TransferWrite,
    /// A write reaches memory.
    Update,
    /// A read takes its value from memory.
    ReadMemory,
    /// A read takes the value of the process's own last write.
    ReadOwnWrite,
    /// A read takes the value of another's write that has not reached memory.
    ReadRemoteWrite,
    /// A read takes a value that memory had earlier: the earliest one that the
    /// process may still see.
    ReadHistory,
    /// A pointer into the history moves on.
    MovePointer,
    /// A read is kept for later, its value guessed.
    Guess,
    /// A guessed read finds its value in memory.
    Validate,
    /// An atomic read-write.
    Arw,
    /// A full fence.
    Fence,
    /// A read fence.
    ReadFence,
    /// A write fence.
    WriteFence,
    /// A stored fence has nothing before it any more.
    FenceElimination,
    /// A value of memory enters a load buffer.
    Propagate,
    /// The oldest message of a load buffer goes.
    Delete,
    /// A read takes its value from the head of its load buffer.
    ReadBuffer,
    /// A read takes the value of a write that is not the newest of its location.
    ReadOlder,
    /// A write goes before newer ones in the modification order of its location.
    WriteOlder,
}

impl Rule {
    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nop => "nop",
            Self::WriteMemory => "write memory",
            Self::Write => "write",
            Self::TransferWrite => "transfer write",
            Self::Update => "update",
            Self::ReadMemory => "read memory",
            Self::ReadOwnWrite => "read own write",
            Self::ReadRemoteWrite => "read remote write",
            Self::ReadHistory => "read history",
            Self::MovePointer => "move pointer",
            Self::Guess => "guess",
            Self::Validate => "validate",
            Self::Arw => "atomic read-write",
            Self::Fence => "fence",
            Self::ReadFence => "read fence",
            Self::WriteFence => "write fence",
            Self::FenceElimination => "fence elimination",
            Self::Propagate => "propagate",
            Self::Delete => "delete",
            Self::ReadBuffer => "read buffer",
            Self::ReadOlder => "read older write",
            Self::WriteOlder => "write before newer ones",
        }
    }

    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Nop,
        Self::WriteMemory,
        Self::Write,
        Self::TransferWrite,
        Self::Update,
        Self::ReadMemory,
        Self::ReadOwnWrite,
        Self::ReadRemoteWrite,
        Self::ReadHistory,
        Self::MovePointer,
        Self::Guess,
        Self::Validate,
        Self::Arw,
        Self::Fence,
        Self::ReadFence,
        Self::WriteFence,
        Self::FenceElimination,
        Self::Propagate,
        Self::Delete,
        Self::ReadBuffer,
        Self::ReadOlder,
        Self::WriteOlder,
    ];
}

/// An operational form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Form {
    Sc,
    Tso,
    Pso,
    NswEvents,
    NswHistory,
    NswFifo,
    Guess,
    GuessWw,
    GuessInOrder,
    NswRemote,
    LoadBuffers,
    Relaxations,
    C11,
}

impl Form {
    /// The forms that implement a model. The first one is what engines use.
    pub fn of(model: MemoryModel) -> Vec<Self> {
        if model == MemoryModel::C11 {
            return vec![Self::C11];
        }
        let normal = model.normal();
        let fenceless = normal.without(Relaxation::Rwf);
        let mut forms = match () {
            () if normal == MemoryModel::SC => vec![Self::Sc],
            () if normal == MemoryModel::TSO => vec![Self::Tso, Self::LoadBuffers],
            () if fenceless == MemoryModel::PSO.without(Relaxation::Rwf) => vec![Self::Pso],
            () if fenceless == MemoryModel::NSW.without(Relaxation::Rwf) => {
                vec![Self::NswFifo, Self::NswHistory, Self::NswEvents]
            }
            () if normal == MemoryModel::GUESS => vec![Self::Guess],
            () if normal == MemoryModel::GUESS_WW => vec![Self::GuessWw],
            () if normal == MemoryModel::TSO.with(Relaxation::ReadWrite) => {
                vec![Self::GuessInOrder]
            }
            () if normal == MemoryModel::NSW.with(Relaxation::Rrwe) => vec![Self::NswRemote],
            () => vec![],
        };
        forms.push(Self::Relaxations);
        forms
    }

    /// The forms that a system has under a model. The first one is what engines use.
    ///
    /// With atomic blocks there are no forms in which reads return past values: they might return a
    /// value from the middle of a block.
    pub fn of_system(system: &System, model: MemoryModel) -> Vec<Self> {
        let looks_back =
            |form: &Self| matches!(form, Self::NswFifo | Self::NswHistory | Self::LoadBuffers);
        let mut forms = Self::of(model);
        if system.has_blocks(model) {
            forms.retain(|form| !looks_back(form));
        }
        forms
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "interleaving",
            Self::Tso => "store buffers",
            Self::Pso | Self::NswFifo => "two-level buffers",
            Self::NswEvents => "event structures",
            Self::NswHistory => "history buffer",
            Self::Guess | Self::GuessWw | Self::GuessInOrder => "guess and validate",
            Self::NswRemote => "event structures with remote reads",
            Self::LoadBuffers => "load buffers",
            Self::Relaxations => "relaxations",
            Self::C11 => "messages and views",
        }
    }

    /// What it is called where one is chosen, as with `--form`. The forms of a model have
    /// different words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sc => "interleaving",
            Self::Tso => "store-buffer",
            Self::Pso | Self::NswFifo => "fifo",
            Self::NswEvents | Self::NswRemote => "event-structure",
            Self::NswHistory => "history",
            Self::Guess | Self::GuessWw | Self::GuessInOrder => "guess",
            Self::LoadBuffers => "load-buffer",
            Self::Relaxations => "rewriting",
            Self::C11 => "messages",
        }
    }

    /// The words of all forms.
    pub const WORDS: [&'static str; 9] = [
        "interleaving",
        "store-buffer",
        "load-buffer",
        "fifo",
        "history",
        "event-structure",
        "guess",
        "rewriting",
        "messages",
    ];

    /// Whether memory is ahead of what processes have seen, so that memory and control states
    /// together mean something only when nothing is under way.
    pub fn is_ahead(self) -> bool {
        self == Self::LoadBuffers
    }

    /// Whether reads take place before it is known what they return.
    pub fn guesses(self) -> bool {
        matches!(
            self,
            Self::NswEvents
                | Self::NswRemote
                | Self::Guess
                | Self::GuessWw
                | Self::GuessInOrder
                | Self::Relaxations
        )
    }

    /// The semantics of `system` under `model` in this form. No buffer of a
    /// process, and no word of a history, grows past `bound`.
    ///
    /// A form that [guesses](Form::guesses) needs all values of a system: where they are
    /// not known yet, the system is [expanded](System::expanded) first.
    pub fn semantics<'s>(
        self,
        system: &'s System,
        model: MemoryModel,
        bound: usize,
    ) -> Box<dyn Semantics + 's> {
        if self.guesses() {
            know_values(system);
        }
        let inner: Box<dyn Semantics + 's> = match self {
            Self::Sc => Box::new(sc::Sc::new(system)),
            Self::Tso => Box::new(tso::Tso::new(system, bound)),
            Self::Pso | Self::NswFifo => Box::new(fifo::Fifo::new(system, model, bound)),
            Self::NswEvents | Self::NswRemote => {
                Box::new(nsw_events::NswEvents::new(system, model, bound))
            }
            Self::NswHistory => Box::new(nsw_history::NswHistory::new(system, model, bound)),
            Self::Guess | Self::GuessWw | Self::GuessInOrder => {
                Box::new(guess::Guess::new(system, model, bound, None))
            }
            Self::LoadBuffers => Box::new(load_buffers::LoadBuffers::new(system, bound)),
            Self::Relaxations => Box::new(relaxations::Relaxed::new(system, model, bound)),
            Self::C11 => Box::new(c11::C11::new(system, bound)),
        };
        undivided::Undivided::around(inner, model)
    }
}

/// An over-approximation of C11 with finitely many configurations for finite values: old writes and `seq_cst` operations are
/// folded, the fewer the higher the level. Its configurations have the control states and newest values of all
/// configurations of C11, and what is a deadlock there is one here. Its steps are for searching only.
pub fn folded_c11<'s>(system: &'s System, level: usize) -> Box<dyn Semantics + 's> {
    Box::new(c11::C11::folded(system, level))
}

/// Whether reachability under a model is decided when the guesses of each process are
/// bounded ([`MemoryModel::bounded_guesses`]).
pub fn has_bounded_guesses(model: MemoryModel) -> bool {
    model.bounded_guesses().is_some()
}

/// The guess/validate semantics in which no process has more than so many guessed
/// reads in its buffers (Atig et al. 2010, section 9.2), for models that
/// [`has_bounded_guesses`] names.
pub fn bounded_guesses<'s>(
    system: &'s System,
    model: MemoryModel,
    bound: usize,
    guesses: usize,
) -> Box<dyn Semantics + 's> {
    know_values(system);
    let inner = Box::new(guess::Guess::new(system, model, bound, Some(guesses)));
    undivided::Undivided::around(inner, model)
}

/// Works out what reads may guess.
fn know_values(system: &System) {
    if !system.guesses_reads {
        let all = system.expanded(&Budget::new());
        all.map(|_| ()).expect("a budget without limits is never used up");
    }
}

/// A bound that no buffer of a loop-free system can reach, if there is one: the
/// number of operations that all processes together can put into buffers.
pub fn sufficient_bound(system: &System) -> Option<usize> {
    let mut sum = 1;
    for p in system.process_ids() {
        sum += system.most_operations(p)?;
    }
    Some(sum)
}

/// The control state of a process in a configuration.
#[inline]
fn control(config: &[Cell], process: ProcessId) -> StateId {
    StateId(config[process.index()])
}

/// Memory as cells that start behind the control states.
#[derive(Clone, Copy, Debug)]
struct Head {
    processes: usize,
    vars: usize,
}

impl Head {
    fn new(system: &System) -> Self {
        Self { processes: system.processes.len(), vars: system.vars.len() }
    }

    #[inline]
    fn len(self) -> usize {
        self.processes + self.vars
    }

    #[inline]
    fn get(self, config: &[Cell], var: VarId) -> ValueId {
        ValueId(config[self.processes + var.index()])
    }

    #[inline]
    fn set(self, config: &mut [Cell], var: VarId, value: ValueId) {
        config[self.processes + var.index()] = value.0;
    }
}

/// The rule of a fence that takes effect at once.
#[inline]
fn fence_rule(kind: FenceKind) -> Rule {
    match kind {
        FenceKind::Full => Rule::Fence,
        FenceKind::Read => Rule::ReadFence,
        FenceKind::Write => Rule::WriteFence,
    }
}
