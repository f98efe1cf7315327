//! Options of a search, and its statistics.

use std::path::PathBuf;
use std::time::Duration;

use weir_model::answer::Answer;
use weir_model::limits::Budget;
use weir_model::semantics::Form;

/// How a search is done: its bounds, its budget, and what it returns.
#[derive(Clone, Debug, Default)]
pub struct SearchOptions {
    /// The most that a buffer may hold, for engines that have such a bound.
    /// `None`: as much as a loop-free system can need, or
    /// [`DEFAULT_BOUND`](crate::explicit::DEFAULT_BOUND).
    pub bound: Option<usize>,
    /// The most reads that a process may have guessed at a time, for the models in
    /// which reads are guessed (Atig et al. 2010, section 9.2).
    pub guesses: Option<usize>,
    /// The form of the semantics that is searched, for engines that search one; by default the
    /// first one of the model.
    pub form: Option<Form>,
    /// The folder for closed levels, if an explicit search is to keep them on disk.
    pub spill: Option<PathBuf>,
    /// How much time and memory there is.
    pub budget: Budget,
    /// Whether to return what shows that a property holds, if the engine can.
    pub certificate: bool,
}

/// Attributes what is still unknown after several searches to the limit of all of them, if
/// that is reached.
pub fn blame(budget: &Budget, answers: &mut [Answer]) {
    let Err(stop) = budget.check() else { return };
    for answer in answers.iter_mut().filter(|a| !a.is_known()) {
        *answer = Answer::unknown(answer.property, stop);
    }
}

/// What a search did.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// The engine.
    pub engine: &'static str,
    /// Configurations stored.
    pub stored: usize,
    /// Configurations expanded.
    pub expanded: usize,
    /// Configurations met that were stored, or covered by a stored one, already.
    pub covered: usize,
    /// Steps taken.
    pub steps: usize,
    /// The longest shortest run.
    pub depth: usize,
    /// The bound on buffers, if there is one.
    pub bound: Option<usize>,
    /// The bound on guessed reads, if there is one. It is part of the model.
    pub guesses: Option<usize>,
    /// The form of the semantics, if one was chosen.
    pub form: Option<Form>,
    /// Whether no step was left out because of the bound.
    pub within_bound: bool,
    /// The level of folding, if anything is folded.
    pub level: Option<usize>,
    /// The most letters of a view, if there are views.
    pub longest: Option<usize>,
    /// If something is unknown: the variable or register that took most values, and how many.
    pub growth: Option<(String, usize)>,
    /// Why the search stopped early, if it did.
    pub stopped: Option<String>,
    /// How two engines contradict each other, if they do.
    pub contradiction: Option<String>,
    /// Bytes that the configurations take up.
    pub bytes: usize,
    /// Bytes that closed levels take up on disk.
    pub on_disk: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Stats {
    /// Those of a search that did not begin, for a reason.
    pub fn not_begun(reason: &str, budget: &Budget) -> Self {
        let (stopped, elapsed) = (Some(reason.to_owned()), budget.elapsed());
        Self { engine: "none", stopped, elapsed, ..Self::default() }
    }

    /// Adds what another search did, for another property.
    pub fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.expanded += other.expanded;
        self.covered += other.covered;
        self.steps += other.steps;
        self.bytes = self.bytes.max(other.bytes);
        self.stopped = self.stopped.take().or(other.stopped);
        self.contradiction = self.contradiction.take().or(other.contradiction);
    }

    /// Whether every configuration was seen.
    pub fn is_exact(&self) -> bool {
        self.within_bound && self.stopped.is_none()
    }
}

/// Told about now and then while a search runs.
pub type Progress<'p> = &'p mut dyn FnMut(&Stats);
