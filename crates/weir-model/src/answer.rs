//! Answers: the verdict of an engine on a question, and the evidence for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{ProcessId, QuestionId, StateId, ValueId, VarId};
use crate::memory_model::MemoryModel;
use crate::question::Question;

pub use crate::run::{Replay, Run, Snapshot};

/// The verdict on a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Violated,
    /// Neither was proved.
    Unknown,
}

impl Verdict {
    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
        }
    }
}

/// What an engine says of one question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question, among those that were asked.
    pub property: QuestionId,
    /// What became of it.
    pub verdict: Verdict,
    /// What shows it.
    pub evidence: Evidence,
}

impl Answer {
    /// A run ends in a state that settles a question.
    pub fn settled(property: QuestionId, question: &Question, run: Run) -> Self {
        Self { property, verdict: question.verdict(true), evidence: Evidence::Run(run) }
    }

    /// No reachable state settles a question, as this shows.
    pub fn excluded(property: QuestionId, question: &Question, evidence: Evidence) -> Self {
        Self { property, verdict: question.verdict(false), evidence }
    }

    /// Why there is no answer.
    pub fn unknown(property: QuestionId, reason: impl ToString) -> Self {
        let evidence = Evidence::Reason(reason.to_string());
        Self { property, verdict: Verdict::Unknown, evidence }
    }

    /// Whether there is an answer.
    pub fn is_known(&self) -> bool {
        self.verdict != Verdict::Unknown
    }

    /// Whether a run shows it.
    pub fn has_run(&self) -> bool {
        matches!(self.evidence, Evidence::Run(_))
    }
}

/// What shows an answer.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A run that ends in the state that settles the question: a bad one, or
    /// for `final exists` the one that was looked for.
    Run(Run),
    /// All configurations were searched, and none gives the opposite verdict.
    Exhausted,
    /// A set of configurations that contains the initial ones, is closed under every step, and has
    /// none that gives the opposite verdict.
    Invariant(Arc<Invariant>),
    /// An upward-closed set of states that contains every state that settles it and all its own
    /// predecessors, and no initial state.
    Upward(Arc<UpwardSet>),
    /// A set of states with sets of buffer contents that contains the initial ones, is closed under
    /// every step, and has none that gives the opposite verdict.
    Buffers(Arc<BufferSet>),
    /// Every run has the trace of an SC run, and no SC configuration gives the opposite verdict.
    Robust,
    /// Why there is no answer.
    Reason(String),
}

/// An inductive set of configurations of views: what each process may still see
/// of the history of memory states. What it means is described in
/// `docs/certificate.md`.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// The model.
    pub model: MemoryModel,
    /// Words are given by their subwords of up to this many letters.
    pub level: usize,
    /// The letters: memory states in which the variables that do not matter are
    /// left out.
    pub letters: Vec<Vec<Option<ValueId>>>,
    /// The configurations.
    pub configurations: Vec<ViewConfiguration>,
}

/// A configuration of views.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ViewConfiguration {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// The newest memory.
    pub memory: Vec<ValueId>,
    /// What each process sees.
    pub views: Vec<ViewParts>,
}

/// A set of words, each a list of letters or of values.
pub type Words = Vec<Vec<u32>>;

/// What one process sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ViewParts {
    /// What it may see before, between and after its own writes.
    pub segments: Vec<Words>,
    /// Its own writes that it has not come past: the variable, and the letter
    /// that the write made.
    pub marks: Vec<(VarId, u32)>,
    /// For each variable the values that it may still see from the past.
    pub past: Vec<(VarId, Words)>,
    /// For each variable the writes that wait: earlier values, and the last.
    pub stores: Vec<(VarId, Words, ValueId)>,
}

/// An upward-closed set of states of the load-buffer semantics, by its minimal states. What it
/// means is described in `docs/certificate.md`. `None` stands for any value.
#[derive(Clone, Debug)]
pub struct UpwardSet {
    /// The model.
    pub model: MemoryModel,
    /// The minimal states.
    pub states: Vec<UpwardState>,
}

/// A minimal state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpwardState {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<Option<ValueId>>,
    /// The buffers of each process.
    pub buffers: Vec<UpwardBuffers>,
}

/// The buffers of a process, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpwardBuffers {
    /// For each variable the writes that wait: earlier values, and the last.
    pub stores: BTreeMap<VarId, (Vec<Option<ValueId>>, Option<ValueId>)>,
    /// Messages that have not been seen.
    pub future: Vec<UpwardMessage>,
    /// For each variable the values that can still be read.
    pub past: BTreeMap<VarId, Vec<Option<ValueId>>>,
    /// Whether the last that the process did is a write that entered memory.
    pub entered: bool,
}

/// A message: a variable has a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpwardMessage {
    /// The variable.
    pub var: VarId,
    /// Its value.
    pub value: Option<ValueId>,
    /// Whether it is the last own write to the variable.
    pub own: bool,
}

/// A set of states of TSO whose buffers are given by automata. What it means is
/// described in `docs/certificate.md`.
#[derive(Clone, Debug)]
pub struct BufferSet {
    /// The model.
    pub model: MemoryModel,
    /// The automata of buffer contents.
    pub automata: Vec<BufferAutomaton>,
    /// The states.
    pub states: Vec<BufferState>,
}

/// A deterministic automaton over stores. It starts in its first state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferAutomaton {
    /// Its states.
    pub states: Vec<BufferAutomatonState>,
}

/// A state of an automaton over stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferAutomatonState {
    /// Whether what was read so far is a content of the buffer.
    pub is_accepting: bool,
    /// Where a store leads.
    pub edges: Vec<(VarId, ValueId, usize)>,
}

/// Control states, memory, and for each process an automaton for its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferState {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// For each process an index into the automata.
    pub buffers: Vec<usize>,
}

/// A configuration of store buffers under SC or TSO, for sets of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffered {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// The buffer of each process.
    pub buffers: Vec<StoreBuffer>,
}

/// The contents of a store buffer, or a set of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreBuffer {
    /// The oldest writes, oldest first; all of them if there is no tail.
    pub oldest: Vec<(VarId, ValueId)>,
    /// What is known of the writes behind them, if there are any.
    pub tail: Option<StoreTail>,
}

/// Every word over a set of writes in which these and no others are the last writes to their
/// variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreTail {
    /// The writes that occur.
    pub writes: BTreeSet<(VarId, ValueId)>,
    /// The last write to each variable that occurs.
    pub last: BTreeMap<VarId, ValueId>,
}

/// The three sets that show that no run under TSO has a cycle in its trace. What they mean is
/// described in `docs/evidence.md`.
#[derive(Clone, Debug)]
pub struct AttackSets {
    /// All SC configurations: control states and memory.
    pub sc: Vec<(Vec<StateId>, Vec<ValueId>)>,
    /// The states in which one process delays its writes.
    pub delays: Vec<AttackDelay>,
    /// The states in which that process has stopped, and the others go on after its last read.
    pub chains: Vec<AttackChain>,
}

/// One process delays its writes, and no other process moves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttackDelay {
    /// The process that delays.
    pub attacker: ProcessId,
    /// The variable of the first delayed write.
    pub first: VarId,
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// The last delayed value of each variable that has one.
    pub own: Vec<Option<ValueId>>,
}

/// The process that delays has stopped, and the others do what happens after its last read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttackChain {
    /// The process that delays.
    pub attacker: ProcessId,
    /// The variable of the first delayed write.
    pub first: VarId,
    /// The control state of each process; that of the attacker has no meaning.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// Whether each process has done something after the read.
    pub infected: Vec<bool>,
    /// What was done to each variable after the read, or by it.
    pub marks: Vec<AttackMark>,
}

/// What was done to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttackMark {
    /// Nothing.
    None,
    /// It was read.
    Read,
    /// It was written.
    Written,
}
