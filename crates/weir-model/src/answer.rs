//! Answers: what an engine says of a property, and what it shows for it.

use crate::ids::{StateId, ValueId};
use crate::memory_model::MemoryModel;
use crate::semantics::{Event, Form, Semantics, Step};

/// What became of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Violated,
    /// Nobody knows.
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

/// What an engine says of one property.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The property, as an index into the program's properties.
    pub property: usize,
    /// What became of it.
    pub verdict: Verdict,
    /// What shows it.
    pub evidence: Evidence,
}

/// What shows an answer.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A run that ends in the state that settles the question: a bad one, or
    /// for `final exists` the one that was looked for.
    Run(Run),
    /// Every configuration was looked at and none settles it the other way.
    Exhausted,
    /// Why there is no answer.
    Reason(String),
}

/// A run of an operational semantics.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model.
    pub model: MemoryModel,
    /// The form of its semantics.
    pub form: Form,
    /// Where it begins.
    pub start: Snapshot,
    /// Its steps, each with the configuration that it leads to.
    pub steps: Vec<(Step, Snapshot)>,
}

impl Run {
    /// Where it ends.
    pub fn end(&self) -> &Snapshot {
        self.steps.last().map_or(&self.start, |(_, snapshot)| snapshot)
    }
}

/// A configuration, taken apart for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// The newest memory.
    pub memory: Vec<ValueId>,
    /// What each process has under way, oldest first.
    pub pending: Vec<Vec<Event>>,
}

impl Snapshot {
    /// Takes a configuration apart.
    pub fn new(semantics: &dyn Semantics, config: &[u16]) -> Self {
        Self {
            controls: semantics.controls(config).iter().map(|&s| StateId(s)).collect(),
            memory: semantics.memory(config).iter().map(|&v| ValueId(v)).collect(),
            pending: semantics.pending(config),
        }
    }
}
