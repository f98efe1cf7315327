//! How far the library goes before it gives up, and how to stop it from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_model::limits::Budget;

/// How much time and memory a request may take. What is open when a limit is reached is
/// answered with [`Verdict::Unknown`](crate::Verdict::Unknown) and the name of the limit.
///
/// ```
/// use std::time::Duration;
/// use weir::Limits;
///
/// let limits = Limits::default().time(Duration::from_secs(5)).memory(256 << 20);
/// let cancel = limits.cancellation();
/// std::thread::spawn(move || cancel.cancel());
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    time: Option<Duration>,
    memory: Option<usize>,
    cancellation: Cancellation,
}

impl Default for Limits {
    /// One minute, and 1 GiB for what a search stores.
    fn default() -> Self {
        Self::none().time(Duration::from_secs(60)).memory(1 << 30)
    }
}

impl Limits {
    /// No limits: a search whose state space is infinite may not end unless it is cancelled.
    pub fn none() -> Self {
        Self { time: None, memory: None, cancellation: Cancellation::default() }
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

    /// A handle that cancels the requests that have these limits, or clones of them, from
    /// any thread.
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// The limits of a request that begins now.
    pub(crate) fn budget(&self) -> Budget {
        let budget = Budget::new().with_switch(self.cancellation.0.clone());
        let budget = match self.time {
            Some(limit) => budget.with_time(limit),
            None => budget,
        };
        match self.memory {
            Some(bytes) => budget.with_store(bytes),
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
