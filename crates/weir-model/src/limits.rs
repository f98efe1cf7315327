//! Time and memory: one clock and one memory meter for all phases.
//!
//! A [`Budget`] limits the time and the memory of a piece of work. It is created once and
//! passed by reference to the front ends, to the construction of systems, to the
//! translations, and to every engine. A loop over something that can be large checks it
//! regularly and stops with a [`Stop`].
//!
//! Two quantities are measured. The *meter* is a function that returns how many bytes the
//! whole process uses; the program installs one, and it enforces the limit of the user.
//! The *store* is the number of bytes that the configurations of a search take up. It is
//! the same on every machine, so it may influence which engine answers. Without a meter
//! only the store is limited.
//!
//! [`Limits`] are what a caller sets. Each request turns them into a budget when it begins.
//!
//! ```
//! use std::time::Duration;
//! use weir_model::limits::{Budget, Stop};
//!
//! let budget = Budget::new().with_time(Duration::ZERO);
//! assert_eq!(budget.check(), Err(Stop::Time(Duration::ZERO)));
//! assert_eq!(budget.check().unwrap_err().to_string(), "the time limit of 0 s was reached");
//! ```

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Tells how many bytes are in use.
pub type Meter = fn() -> usize;

/// Why something stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The limit on time was reached.
    Time(Duration),
    /// The limit on memory, in bytes, was reached.
    Memory(usize),
    /// It was interrupted.
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => {
                write!(f, "the time limit of {} s was reached", limit.as_secs_f64())
            }
            Self::Memory(limit) => {
                write!(f, "the memory limit of {} MiB was reached", limit >> 20)
            }
            Self::Cancelled => f.write_str("the search was interrupted"),
        }
    }
}

impl std::error::Error for Stop {}

/// How many configurations a search expands between two looks at what it stores. It is a count
/// and not a time, so that a search with too little room ends at the same configuration on every
/// machine.
pub const INTERVAL: usize = 1 << 8;

/// How many units of work lie between two looks at the clock and the meter.
const TICKS: u32 = 64;

/// How much time and memory there is, and how many threads may be used.
///
/// A clone has the same clock, meter and switch.
#[derive(Clone, Debug)]
pub struct Budget {
    began: Instant,
    time: Option<Duration>,
    memory: Option<usize>,
    store: Option<usize>,
    meter: Option<Meter>,
    cancelled: Arc<AtomicBool>,
    ticks: Arc<AtomicU32>,
    threads: NonZeroUsize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// A budget without limits that begins now.
    pub fn new() -> Self {
        Self::since(Instant::now())
    }

    /// A budget without limits that began earlier.
    pub fn since(began: Instant) -> Self {
        Self {
            began,
            time: None,
            memory: None,
            store: None,
            meter: None,
            cancelled: Arc::default(),
            ticks: Arc::default(),
            threads: NonZeroUsize::MIN,
        }
    }

    /// Limits the time, counted from when the budget began.
    #[must_use]
    pub fn with_time(self, limit: Duration) -> Self {
        Self { time: Some(limit), ..self }
    }

    /// Limits the memory, in bytes: what the meter tells, and what a search stores.
    #[must_use]
    pub fn with_memory(self, limit: usize) -> Self {
        Self { memory: Some(limit), ..self.with_store(limit) }
    }

    /// Limits what the meter tells, in bytes, beside what a search stores.
    #[must_use]
    pub fn with_ceiling(self, limit: usize) -> Self {
        let memory = Some(self.memory.map_or(limit, |known| known.min(limit)));
        Self { memory, ..self }
    }

    /// Limits what a search stores, in bytes, by its own account.
    #[must_use]
    pub fn with_store(self, limit: usize) -> Self {
        Self { store: Some(limit), ..self }
    }

    /// Measures memory with this.
    #[must_use]
    pub fn with_meter(self, meter: Meter) -> Self {
        Self { meter: Some(meter), ..self }
    }

    /// Stops when this becomes true.
    #[must_use]
    pub fn with_switch(self, cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..self }
    }

    /// Lets a search use so many threads. The answer, its evidence and all counts are the
    /// same for any number.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// The same limits for another thread, which counts its work by itself: threads that count
    /// together slow each other down.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { ticks: Arc::default(), ..self.clone() }
    }

    /// How many threads a search may use; one if nothing else was said.
    pub fn threads(&self) -> usize {
        self.threads.get()
    }

    /// The most bytes that the program may have.
    pub fn memory(&self) -> Option<usize> {
        self.memory
    }

    /// The most bytes that a search may store, by its own account.
    pub fn store(&self) -> Option<usize> {
        self.store
    }

    /// The time since it began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// A unit of work is done, which took much less than a millisecond. Looks at the
    /// limits once in a while.
    ///
    /// # Errors
    /// If a limit is reached.
    #[inline]
    pub fn tick(&self) -> Result<(), Stop> {
        self.work(1)
    }

    /// So many units of work are done, each of which took much less than a millisecond.
    ///
    /// # Errors
    /// If a limit is reached.
    #[inline]
    pub fn work(&self, units: usize) -> Result<(), Stop> {
        // Two threads may count one tick together: then the next look comes a little later.
        let before = self.ticks.load(Ordering::Relaxed);
        let after = before.saturating_add(u32::try_from(units).unwrap_or(u32::MAX));
        if after < TICKS {
            self.ticks.store(after, Ordering::Relaxed);
            return Ok(());
        }
        self.ticks.store(0, Ordering::Relaxed);
        self.check()
    }

    /// Looks at the limits now.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        if let Some(limit) = self.time.filter(|limit| self.elapsed() >= *limit) {
            return Err(Stop::Time(limit));
        }
        self.check_room(0)
    }

    /// Looks at the limits now; a search stores so many bytes, by its own account.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn check_store(&self, bytes: usize) -> Result<(), Stop> {
        self.check()?;
        match self.store.filter(|limit| bytes >= *limit) {
            Some(limit) => Err(Stop::Memory(limit)),
            None => Ok(()),
        }
    }

    /// Looks whether there is time left to free so many bytes that were allocated in small pieces:
    /// about a nanosecond for each.
    ///
    /// # Errors
    /// If there is not.
    pub fn check_freeing(&self, bytes: usize) -> Result<(), Stop> {
        let freeing = Duration::from_nanos(bytes as u64);
        match self.time.filter(|limit| self.elapsed().saturating_add(freeing) >= *limit) {
            Some(limit) => Err(Stop::Time(limit)),
            None => Ok(()),
        }
    }

    /// Looks whether so many more bytes can be taken: a table is about to grow.
    ///
    /// # Errors
    /// If they would pass the limit.
    pub fn check_room(&self, bytes: usize) -> Result<(), Stop> {
        let Some((limit, meter)) = self.memory.zip(self.meter) else { return Ok(()) };
        match meter().saturating_add(bytes) > limit {
            true => Err(Stop::Memory(limit)),
            false => Ok(()),
        }
    }

    /// Looks whether a hash table with this many entries, room for `capacity`, and
    /// entries of this size can take one more: it doubles when it is full.
    ///
    /// # Errors
    /// If the larger table would pass the limit.
    #[inline]
    pub fn check_growth(&self, len: usize, capacity: usize, entry: usize) -> Result<(), Stop> {
        match len < capacity || capacity < SMALL {
            true => Ok(()),
            // A hash table is at most 7/8 full, and has a byte more for each entry.
            false => self.check_room(capacity.saturating_mul(2).saturating_mul(entry + 1) / 7 * 8),
        }
    }
}

/// Tables with fewer entries may grow without asking.
const SMALL: usize = 1 << 14;

/// How much time and memory a request may take. What is open when a limit is reached is
/// answered with [`Verdict::Unknown`](crate::answer::Verdict::Unknown) and the name of the limit.
///
/// ```
/// use std::time::Duration;
/// use weir_model::limits::Limits;
///
/// let limits = Limits::default().time(Duration::from_secs(5)).memory(256 << 20);
/// let cancel = limits.cancellation();
/// std::thread::spawn(move || cancel.cancel());
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// The time from reading the text to the report.
    pub time: Option<Duration>,
    /// The bytes that a search stores, by its own account.
    pub memory: Option<usize>,
    /// How many threads a search may use.
    pub threads: NonZeroUsize,
    ceiling: Option<(usize, Meter)>,
    cancellation: Cancellation,
}

impl Default for Limits {
    /// One minute, 1 GiB for what a search stores, and a thread for each processor.
    fn default() -> Self {
        Self::none().time(Duration::from_secs(60)).memory(1 << 30)
    }
}

impl Limits {
    /// No limits: a search whose state space is infinite may not end unless it is cancelled.
    pub fn none() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let cancellation = Cancellation::default();
        Self { time: None, memory: None, threads, ceiling: None, cancellation }
    }

    /// Lets a search use so many threads. The answer is the same for any number.
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Limits the time of one request, from reading the text to the report.
    #[must_use]
    pub fn time(self, limit: Duration) -> Self {
        Self { time: Some(limit), ..self }
    }

    /// Limits the bytes that a search stores, by its own account. The process as a whole
    /// takes more.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// Limits the bytes of the whole process, as a meter tells them.
    #[must_use]
    pub fn ceiling(self, bytes: usize, meter: Meter) -> Self {
        Self { ceiling: Some((bytes, meter)), ..self }
    }

    /// A handle that cancels the requests that have these limits, or clones of them, from
    /// any thread.
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// The limits of a request that begins now.
    pub fn budget(&self) -> Budget {
        let budget =
            Budget::new().with_switch(self.cancellation.0.clone()).with_threads(self.threads);
        let budget = match self.time {
            Some(limit) => budget.with_time(limit),
            None => budget,
        };
        let budget = match self.memory {
            Some(bytes) => budget.with_store(bytes),
            None => budget,
        };
        match self.ceiling {
            Some((bytes, meter)) => budget.with_ceiling(bytes).with_meter(meter),
            None => budget,
        }
    }
}

/// Cancels requests; see [`Limits::cancellation`].
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Cancels all requests with these limits, those that run and those to come. They return
    /// soon, with what they know.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_without_limits_never_stops() {
        let budget = Budget::new();
        assert_eq!(budget.check(), Ok(()));
        assert_eq!(budget.check_store(usize::MAX), Ok(()));
        assert_eq!(budget.check_room(usize::MAX), Ok(()));
    }

    #[test]
    fn work_is_looked_at_once_in_a_while() {
        let budget = Budget::new().with_time(Duration::ZERO);
        let stopped = (0..TICKS).find_map(|_| budget.tick().err());
        assert_eq!(stopped, Some(Stop::Time(Duration::ZERO)));
    }

    #[test]
    fn the_meter_stops_what_the_store_does_not() {
        let budget = Budget::new().with_memory(10 << 20).with_meter(|| 7 << 20);
        assert_eq!(budget.check_store(9 << 20), Ok(()));
        assert_eq!(budget.check_store(10 << 20), Err(Stop::Memory(10 << 20)));
        assert_eq!(budget.check_room(3 << 20), Ok(()));
        assert_eq!(budget.check_room(4 << 20), Err(Stop::Memory(10 << 20)));
        let message = budget.check_room(4 << 20).unwrap_err().to_string();
        assert_eq!(message, "the memory limit of 10 MiB was reached");
        // A stage of a search may store less; the meter's limit stays.
        let less = budget.with_store(1 << 20);
        assert_eq!(less.check_store(2 << 20), Err(Stop::Memory(1 << 20)));
        assert_eq!(less.check(), Ok(()));
        assert_eq!(less.with_meter(|| 11 << 20).check(), Err(Stop::Memory(10 << 20)));
    }

    #[test]
    fn a_request_has_a_ceiling_beside_what_it_stores() {
        let limits = Limits::none().memory(1 << 20).ceiling(8 << 20, || 7 << 20);
        let budget = limits.budget();
        assert_eq!(budget.check_store(1), Ok(()));
        assert_eq!(budget.check_room(2 << 20), Err(Stop::Memory(8 << 20)));
        assert_eq!(budget.check_store(1 << 20), Err(Stop::Memory(1 << 20)));
    }

    #[test]
    fn a_table_asks_before_it_doubles() {
        let budget = Budget::new().with_memory(1 << 20).with_meter(|| 0);
        assert_eq!(budget.check_growth(1 << 15, (1 << 15) + 1, 1 << 10), Ok(()));
        assert_eq!(budget.check_growth(1 << 15, 1 << 15, 7), Ok(()));
        assert_eq!(budget.check_growth(1 << 15, 1 << 15, 16), Err(Stop::Memory(1 << 20)));
    }

    #[test]
    fn a_switch_stops_all_clones() {
        let switch = Arc::new(AtomicBool::new(false));
        let budget = Budget::new().with_switch(switch.clone());
        let clone = budget.clone();
        assert_eq!(clone.check(), Ok(()));
        switch.store(true, Ordering::Relaxed);
        assert_eq!((budget.check(), clone.check()), (Err(Stop::Cancelled), Err(Stop::Cancelled)));
    }
}
