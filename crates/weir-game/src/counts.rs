//! Statistics of a search, and its budget.

use std::fmt;
use std::time::Instant;

use weir_engine::store::Full;
use weir_engine::{Progress, Stats};
use weir_model::limits::{Budget, Stop};

/// Why a search stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

impl Stopped {
    /// There are no numbers left.
    pub fn full() -> Self {
        Self("there are more positions than Weir can number".to_owned())
    }
}

impl From<Stop> for Stopped {
    fn from(stop: Stop) -> Self {
        Self(stop.to_string())
    }
}

impl From<Full> for Stopped {
    fn from(full: Full) -> Self {
        match full {
            Full::Numbers => Self::full(),
            full => Self(full.to_string()),
        }
    }
}

/// The number of positions between two checks of the memory limit.
const CHECK_EVERY: usize = 1 << 10;

/// The counts of a search, and the budget that it has.
pub struct Counts<'p> {
    began: Instant,
    /// How much time and memory there is.
    pub budget: Budget,
    ticks: usize,
    /// What was done.
    pub stats: Stats,
    progress: Progress<'p>,
}

impl<'p> Counts<'p> {
    /// A search that begins now.
    pub fn new(engine: &'static str, budget: &Budget, progress: Progress<'p>) -> Self {
        let stats = Stats { engine, within_bound: true, ..Stats::default() };
        Self { began: Instant::now(), budget: budget.clone(), ticks: 0, stats, progress }
    }

    /// Counts a position, and checks the limits once in a while; `bytes` are in use.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn tick(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.ticks += 1;
        self.stats.bytes = self.stats.bytes.max(bytes);
        self.budget.tick()?;
        if self.ticks.is_multiple_of(CHECK_EVERY) { self.now() } else { Ok(()) }
    }

    /// Checks the limits now, after something that takes long.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn now(&mut self) -> Result<(), Stopped> {
        self.stats.elapsed = self.began.elapsed();
        (self.progress)(&self.stats);
        Ok(self.budget.check_store(self.stats.bytes)?)
    }

    /// The counts, at the end.
    pub fn finish(mut self) -> Stats {
        self.stats.elapsed = self.began.elapsed();
        self.stats
    }
}
