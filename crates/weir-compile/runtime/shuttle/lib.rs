//! The interface of shuttle 0.8, for programs that Weir reads.
//!
//! Its types are those of `std`. A check calls its closure once: Weir finds all runs. Random
//! numbers may be any numbers.

use std::sync::Arc;

/// `shuttle::sync`.
pub mod sync {
    pub use std::sync::*;
}

/// `shuttle::thread`.
pub mod thread {
    pub use std::thread::*;
    pub use std::thread_local;
}

/// `shuttle::hint`.
pub mod hint {
    pub use std::hint::*;
}

/// `shuttle::current`.
pub mod current {
    /// Without effect.
    #[inline]
    pub fn reset_step_count() {}
    /// None are counted.
    #[inline]
    pub fn context_switches() -> usize {
        0
    }
}

/// `shuttle::future`.
pub mod future {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::{Arc, Condvar, Mutex};
    use std::task::{Context, Poll, Waker};

    pub use std::tasks::block_on;

    /// A task has ended without a value.
    #[derive(Debug)]
    pub enum JoinError {
        /// It was ended.
        Cancelled,
    }

    impl std::fmt::Display for JoinError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("task was cancelled")
        }
    }
    impl std::error::Error for JoinError {}

    struct Slot<T> {
        state: Mutex<(Option<T>, Option<Waker>)>,
        done: Condvar,
    }

    /// A task, which is a thread here.
    pub struct JoinHandle<T> {
        slot: Arc<Slot<T>>,
    }

    /// Starts a task in a thread of its own.
    #[inline]
    pub fn spawn<F>(f: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let slot = Arc::new(Slot { state: Mutex::new((None, None)), done: Condvar::new() });
        let result = slot.clone();
        std::thread::spawn(move || {
            let value = block_on(f);
            let waker = {
                let Ok(mut state) = result.state.lock() else { return };
                state.0 = Some(value);
                state.1.take()
            };
            result.done.notify_all();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        JoinHandle { slot }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;
        #[inline]
        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
            let Ok(mut state) = self.slot.state.lock() else { return Poll::Pending };
            match state.0.take() {
                Some(value) => Poll::Ready(Ok(value)),
                None => {
                    state.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        }
    }

    /// Lets other tasks go on.
    #[inline]
    pub async fn yield_now() {
        std::thread::yield_now();
    }
}

/// `shuttle::rand`: numbers that may be any.
pub mod rand {
    /// A source of numbers.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct ThreadRng;

    /// A source of numbers.
    #[inline]
    pub fn thread_rng() -> ThreadRng {
        ThreadRng
    }

    /// A range of numbers.
    pub trait SampleRange<T> {
        #[doc(hidden)]
        fn sample(self) -> T;
    }
    impl<T: weir::Number> SampleRange<T> for std::ops::RangeInclusive<T> {
        #[inline]
        fn sample(self) -> T {
            weir::any_in(self)
        }
    }
    impl<T: weir::Number> SampleRange<T> for std::ops::Range<T> {
        #[inline]
        fn sample(self) -> T {
            assert!(self.start < self.end, "cannot sample empty range");
            weir::any_in(self.start..=T::from_i64(self.end.to_i64().wrapping_sub(1)))
        }
    }

    /// `rand::Rng`.
    pub trait Rng {
        /// Any value.
        #[inline]
        fn r#gen<T: weir::Arbitrary>(&mut self) -> T {
            T::any()
        }
        /// Any value of a range.
        #[inline]
        fn gen_range<T, R: SampleRange<T>>(&mut self, range: R) -> T {
            range.sample()
        }
        /// Either.
        #[inline]
        fn gen_bool(&mut self, p: f64) -> bool {
            let _ = p;
            weir::any()
        }
        /// Either.
        #[inline]
        fn gen_ratio(&mut self, numerator: u32, denominator: u32) -> bool {
            let _ = (numerator, denominator);
            weir::any()
        }
    }
    impl Rng for ThreadRng {}

    /// `rand::rngs`.
    pub mod rngs {
        pub use super::ThreadRng;
    }
    /// `rand::prelude`.
    pub mod prelude {
        pub use super::{Rng, ThreadRng, thread_rng};
    }
}

/// `shuttle::scheduler`: how shuttle would choose who goes on. Weir tries all.
pub mod scheduler {
    use super::*;

    macro_rules! schedulers {
        ($($name:ident($($arg:ident: $t:ty),*))+) => {$(
            /// Without effect.
            #[derive(Debug, Clone, Default)]
            pub struct $name;
            impl $name {
                /// Without effect.
                #[inline]
                pub fn new($($arg: $t),*) -> $name {
                    let _ = ($($arg,)*);
                    $name
                }
            }
        )+};
    }
    schedulers! {
        RandomScheduler(iterations: usize)
        RoundRobinScheduler(iterations: usize)
        PctScheduler(depth: usize, iterations: usize)
        DfsScheduler(iterations: Option<usize>, allow_random_data: bool)
        UniformRandomScheduler(iterations: usize)
    }

    /// How a check is configured, and by whom threads are chosen.
    #[derive(Debug, Clone)]
    pub struct Runner<S> {
        scheduler: Arc<S>,
    }

    impl<S> Runner<S> {
        /// Without effect.
        #[inline]
        pub fn new(scheduler: S, config: Config) -> Runner<S> {
            let _ = config;
            Runner { scheduler: Arc::new(scheduler) }
        }
        /// Calls `f`.
        #[inline]
        pub fn run<F: Fn() + Send + Sync + 'static>(self, f: F) -> usize {
            drop(self.scheduler);
            f();
            1
        }
    }
}

pub use scheduler::Runner;

/// What to do when a run has too many steps.
#[derive(Clone, Debug, Copy)]
#[non_exhaustive]
pub enum MaxSteps {
    None,
    FailAfter(usize),
    ContinueAfter(usize),
}

/// What to do with the schedule of a run that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    None,
    Print,
    File(Option<std::path::PathBuf>),
}

/// How a check is configured, which has no effect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    pub stack_size: usize,
    pub failure_persistence: FailurePersistence,
    pub max_steps: MaxSteps,
    pub max_time: Option<std::time::Duration>,
    pub silence_warnings: bool,
    pub record_steps_in_span: bool,
}

impl Config {
    /// The usual one.
    #[inline]
    pub fn new() -> Config {
        Config {
            stack_size: 0x8000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
        }
    }
}

impl Default for Config {
    #[inline]
    fn default() -> Config {
        Config::new()
    }
}

/// Calls `f`.
#[inline]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    f();
}

/// Calls `f`.
#[inline]
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    let _ = iterations;
    f();
}

/// Calls `f`.
#[inline]
pub fn check_random_with_seed<F: Fn() + Send + Sync + 'static>(f: F, seed: u64, iterations: usize) {
    let _ = (seed, iterations);
    f();
}

/// Calls `f`.
#[inline]
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize, depth: usize) {
    let _ = (iterations, depth);
    f();
}

/// Calls `f`.
#[inline]
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: Option<usize>) {
    let _ = max_iterations;
    f();
}

/// Calls `f`.
#[inline]
pub fn check_uncontrolled_nondeterminism<F: Fn() + Send + Sync + 'static>(
    f: F,
    max_iterations: usize,
) {
    let _ = max_iterations;
    f();
}

/// Calls `f`.
#[inline]
pub fn replay<F: Fn() + Send + Sync + 'static>(f: F, schedule: &str) {
    let _ = schedule;
    f();
}

/// Statics that are made when they are used first.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident : $t:ty = $e:expr; $($rest:tt)*) => {
        $(#[$attr])*
        $vis static $name: ::std::sync::LazyLock<$t> = ::std::sync::LazyLock::new(|| $e);
        $crate::lazy_static! { $($rest)* }
    };
}

/// Variables of each thread.
#[macro_export]
macro_rules! thread_local {
    ($($rest:tt)*) => { ::std::thread_local! { $($rest)* } };
}

/// Without effect: other threads may go on anywhere.
#[inline]
pub fn context_switch() {
    std::hint::spin_loop();
}
