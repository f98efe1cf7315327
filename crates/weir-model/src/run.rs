//! Runs: an initial configuration and steps.
//!
//! A run of thousands of steps may have thousands of writes in its buffers, so it does
//! not store its configurations: [`Run::replay`] takes the steps again and keeps one
//! configuration at a time. That works because a step determines the configuration that
//! it leads to (see [`Semantics::successors`]).

use crate::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use crate::memory_model::MemoryModel;
use crate::program::FenceKind;
use crate::semantics::{Event, Form, Semantics, Step};
use crate::system::{Op, System, Transition};

/// A run of an operational semantics.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model.
    pub model: MemoryModel,
    /// The form of its semantics.
    pub form: Form,
    /// The bound on buffers of the semantics whose steps these are.
    pub bound: usize,
    /// Where it begins: nothing is under way.
    pub start: Snapshot,
    /// Its steps.
    pub steps: Vec<Step>,
}

impl Run {
    /// Takes the steps again, from the first on.
    pub fn replay<'r>(&'r self, system: &'r System) -> Replay<'r> {
        let semantics = self.form.semantics(system, self.model, self.bound);
        let config = self.start.drained(&*semantics);
        Replay { semantics, config, steps: &self.steps, taken: 0 }
    }

    /// Where it ends.
    pub fn end(&self, system: &System) -> Snapshot {
        let mut replay = self.replay(system);
        while replay.advance().is_some() {}
        replay.snapshot()
    }
}

/// A run that is taken again, step by step, and the configuration that it has got to.
pub struct Replay<'r> {
    semantics: Box<dyn Semantics + 'r>,
    config: Vec<Cell>,
    steps: &'r [Step],
    taken: usize,
}

impl Replay<'_> {
    /// Takes the next step; `None` at the end.
    ///
    /// # Panics
    /// If the semantics has no such step: then it is not a run of this system.
    pub fn advance(&mut self) -> Option<Step> {
        let step = *self.steps.get(self.taken)?;
        let taken = self.semantics.take(&mut self.config, &|s| *s == step);
        assert!(taken.is_some(), "step {} is not possible: {step:?}", self.taken + 1);
        self.taken += 1;
        Some(step)
    }

    /// The step that comes next; `None` at the end.
    pub fn next_step(&self) -> Option<Step> {
        self.steps.get(self.taken).copied()
    }

    /// Whether the run would go on in the same way if a process passed a fence instead of taking
    /// this transition, which does nothing: the fence waits for nothing, and changes nothing but
    /// the control state. `false` also where that is not known.
    pub fn passes(&self, process: ProcessId, transition: &Transition, kind: FenceKind) -> bool {
        let take = |op| {
            let mut config = self.config.clone();
            let transition = Transition { op, ..*transition };
            self.semantics.take_quietly(&mut config, process, &transition).map(|_| config)
        };
        take(Op::Fence(kind)).is_some_and(|fenced| take(Op::Nop) == Some(fenced))
    }

    /// How many steps have been taken.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The control states.
    pub fn controls(&self) -> &[Cell] {
        self.semantics.controls(&self.config)
    }

    /// The newest memory.
    pub fn memory(&self) -> &[Cell] {
        self.semantics.memory(&self.config)
    }

    /// What each process has under way.
    pub fn pending(&self) -> Vec<Vec<Event>> {
        self.semantics.pending(&self.config)
    }

    /// See [`Layout::transferred`](crate::semantics::Layout::transferred).
    pub fn transferred(&self) -> Option<Vec<usize>> {
        self.semantics.layout().transferred(&self.config)
    }

    /// See [`Layout::unread`](crate::semantics::Layout::unread).
    pub fn unread(&self) -> Option<Vec<Vec<(VarId, usize)>>> {
        self.semantics.layout().unread(&self.config)
    }

    /// The configuration, decoded.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&*self.semantics, &self.config)
    }
}

/// A decoded configuration.
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
    pub fn new(semantics: &dyn Semantics, config: &[Cell]) -> Self {
        Self {
            controls: semantics.controls(config).iter().map(|&s| StateId(s)).collect(),
            memory: semantics.memory(config).iter().map(|&v| ValueId(v)).collect(),
            pending: semantics.pending(config),
        }
    }

    /// The configuration with these control states and this memory in which nothing
    /// is under way.
    fn drained(&self, semantics: &dyn Semantics) -> Vec<Cell> {
        let controls = self.controls.iter().map(|s| s.0);
        let mut config: Vec<Cell> = controls.chain(self.memory.iter().map(|v| v.0)).collect();
        semantics.initial_rest(&mut config);
        config
    }
}
