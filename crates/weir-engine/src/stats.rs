//! How far a search may go, and what it did.

use std::time::Duration;

use weir_model::answer::{Answer, Evidence, Verdict};

/// How far a search may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The most that a buffer may hold, for engines that have such a bound.
    /// `None`: as much as a loop-free system can need, or
    /// [`DEFAULT_BOUND`](crate::explicit::DEFAULT_BOUND).
    pub bound: Option<usize>,
    /// The most reads that a process may have guessed at a time, for the models in
    /// which reads are guessed (paper 1, 9.2).
    pub guesses: Option<usize>,
    /// The longest that it may take.
    pub timeout: Option<Duration>,
    /// The most bytes that the configurations may take up.
    pub memory: Option<usize>,
    /// Whether to return what shows that a property holds, if the engine can.
    pub certificate: bool,
}

impl Limits {
    /// Which limit a search has hit, if any, in words.
    pub fn hit(&self, stats: &Stats) -> Option<String> {
        if let Some(limit) = self.timeout.filter(|t| stats.elapsed >= *t) {
            return Some(format!("the time limit of {} s was reached", limit.as_secs_f64()));
        }
        let limit = self.memory.filter(|m| stats.bytes >= *m)?;
        Some(format!("the memory limit of {} MiB was reached", limit >> 20))
    }
}

/// Where several searches shared the time, what is still unknown after it is because
/// of the whole of it.
pub fn blame_time(limits: &Limits, elapsed: Duration, answers: &mut [Answer]) {
    let Some(limit) = limits.timeout.filter(|t| elapsed >= *t) else { return };
    let reason = format!("the time limit of {} s was reached", limit.as_secs_f64());
    for answer in answers.iter_mut().filter(|a| a.verdict == Verdict::Unknown) {
        answer.evidence = Evidence::Reason(reason.clone());
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
    /// Whether no step was left out because of the bound.
    pub within_bound: bool,
    /// The level of folding, if anything is folded.
    pub level: Option<usize>,
    /// The most letters of a view, if there are views.
    pub longest: Option<usize>,
    /// Why the search stopped early, if it did.
    pub stopped: Option<String>,
    /// Bytes that the configurations take up.
    pub bytes: usize,
    /// How long it took.
    pub elapsed: Duration,
}

impl Stats {
    /// Adds what another search did, for another property.
    pub fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.expanded += other.expanded;
        self.covered += other.covered;
        self.steps += other.steps;
        self.bytes = self.bytes.max(other.bytes);
        self.stopped = self.stopped.take().or(other.stopped);
    }

    /// Whether every configuration was seen.
    pub fn is_exact(&self) -> bool {
        self.within_bound && self.stopped.is_none()
    }
}

/// Told about now and then while a search runs.
pub type Progress<'p> = &'p mut dyn FnMut(&Stats);
