//! When to stop.

use std::time::Instant;

use weir_engine::{Limits, Progress, Stats};

/// Why a search stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub String);

impl Stopped {
    /// There are no numbers left.
    pub fn full() -> Self {
        Self("there are more positions than Weir can number".to_owned())
    }
}

/// Looks at the limits now and then, and counts.
pub struct Clock<'p> {
    began: Instant,
    limits: Limits,
    looks: usize,
    /// What was done.
    pub stats: Stats,
    progress: Progress<'p>,
}

impl<'p> Clock<'p> {
    /// A clock that begins now.
    pub fn new(engine: &'static str, limits: Limits, progress: Progress<'p>) -> Self {
        let stats = Stats { engine, within_bound: true, ..Stats::default() };
        Self { began: Instant::now(), limits, looks: 0, stats, progress }
    }

    /// Another position is done; `bytes` are in use.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn look(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.looks += 1;
        self.stats.bytes = self.stats.bytes.max(bytes);
        if !self.looks.is_multiple_of(1024) {
            return Ok(());
        }
        self.now()
    }

    /// Something long was done.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn now(&mut self) -> Result<(), Stopped> {
        self.stats.elapsed = self.began.elapsed();
        (self.progress)(&self.stats);
        match self.limits.hit(&self.stats) {
            Some(reason) => Err(Stopped(reason)),
            None => Ok(()),
        }
    }

    /// The counts, at the end.
    pub fn finish(mut self) -> Stats {
        self.stats.elapsed = self.began.elapsed();
        self.stats
    }
}
