//! The interface of loom 0.7, for programs that Weir reads.
//!
//! Its types are those of `std`. `model` calls its closure once: Weir finds all runs. Functions
//! that guide the search of loom have no effect.

pub mod atomic;
pub mod cell;
pub mod sync;

/// The largest number of threads that loom allows.
pub const MAX_THREADS: usize = 5;

/// `loom::thread`.
pub mod thread {
    pub use crate::thread_local;
    pub use std::thread::*;

    /// Starts a thread. As in loom, what it is given need not be `Send`.
    #[inline]
    pub fn spawn<F, T>(f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        std::thread::spawn_without_send(f)
    }
}

/// `loom::hint`.
pub mod hint {
    pub use std::hint::*;

    /// Fails: what is said to be unreachable was reached.
    #[inline]
    pub unsafe fn unreachable_unchecked() -> ! {
        unreachable!("unreachable_unchecked was reached")
    }
}

/// `loom::alloc`.
pub mod alloc {
    pub use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};

    /// A value whose memory loom would watch. Weir watches all memory.
    #[derive(Debug)]
    pub struct Track<T> {
        value: T,
    }

    impl<T> Track<T> {
        /// Watches a value.
        #[inline]
        pub fn new(value: T) -> Track<T> {
            Track { value }
        }
        /// The value.
        #[inline]
        pub fn get_ref(&self) -> &T {
            &self.value
        }
        /// The value.
        #[inline]
        pub fn get_mut(&mut self) -> &mut T {
            &mut self.value
        }
        /// The value.
        #[inline]
        pub fn into_inner(self) -> T {
            self.value
        }
    }
}

/// `loom::future`.
pub mod future {
    use std::sync::Mutex;
    use std::task::Waker;

    pub use std::tasks::block_on;

    /// A place for one waker.
    #[derive(Debug, Default)]
    pub struct AtomicWaker {
        waker: Mutex<Option<Waker>>,
    }

    impl AtomicWaker {
        /// Without a waker.
        #[inline]
        pub fn new() -> AtomicWaker {
            AtomicWaker { waker: Mutex::new(None) }
        }
        /// Keeps the waker of the current task.
        #[inline]
        pub fn register(&self, waker: Waker) {
            if let Ok(mut place) = self.waker.lock() {
                *place = Some(waker);
            }
        }
        /// Keeps the waker of the current task.
        #[inline]
        pub fn register_by_ref(&self, waker: &Waker) {
            self.register(waker.clone());
        }
        /// Takes the waker.
        #[inline]
        pub fn take_waker(&self) -> Option<Waker> {
            match self.waker.lock() {
                Ok(mut place) => place.take(),
                Err(_) => None,
            }
        }
        /// Wakes the task.
        #[inline]
        pub fn wake(&self) {
            if let Some(waker) = self.take_waker() {
                waker.wake();
            }
        }
    }
}

/// `loom::model`.
pub mod model {
    use std::path::PathBuf;
    use std::time::Duration;

    /// Limits of the search of loom, which have no effect.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub struct Builder {
        pub max_threads: usize,
        pub max_branches: usize,
        pub max_permutations: Option<usize>,
        pub max_duration: Option<Duration>,
        pub preemption_bound: Option<usize>,
        pub checkpoint_file: Option<PathBuf>,
        pub checkpoint_interval: usize,
        pub location: bool,
        pub log: bool,
        pub expect_explicit_explore: bool,
    }

    impl Builder {
        /// The usual limits.
        #[inline]
        pub fn new() -> Builder {
            Builder {
                max_threads: crate::MAX_THREADS,
                max_branches: 1_000,
                max_permutations: None,
                max_duration: None,
                preemption_bound: None,
                checkpoint_file: None,
                checkpoint_interval: 20_000,
                location: false,
                log: false,
                expect_explicit_explore: false,
            }
        }
        /// Without effect.
        #[inline]
        pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
            let _ = file;
            self
        }
        /// Calls `f`.
        #[inline]
        pub fn check<F: Fn() + Sync + Send + 'static>(&self, f: F) {
            f();
        }
    }

    impl Default for Builder {
        #[inline]
        fn default() -> Builder {
            Builder::new()
        }
    }
}

/// Calls `f`.
#[inline]
pub fn model<F: Fn() + Sync + Send + 'static>(f: F) {
    f();
}

/// Without effect.
#[inline]
pub fn stop_exploring() {}

/// Without effect.
#[inline]
pub fn explore() {}

/// Without effect.
#[inline]
pub fn skip_branch() {}

/// `loom::lazy_static`.
pub mod lazy_static {
    use std::ops::Deref;
    use std::sync::OnceLock;

    /// The static is no longer there, which does not happen here.
    #[derive(Debug)]
    pub struct AccessError {
        _private: (),
    }

    /// What a static is made of. As in loom, what it is made of need not be `Sync`.
    pub struct Lazy<T: 'static> {
        #[doc(hidden)]
        pub cell: OnceLock<T>,
        #[doc(hidden)]
        pub init: fn() -> T,
    }

    unsafe impl<T> Sync for Lazy<T> {}

    impl<T> Lazy<T> {
        /// A value that is made when it is used first.
        #[inline]
        pub const fn new(init: fn() -> T) -> Lazy<T> {
            Lazy { cell: OnceLock::new(), init }
        }
        /// The value.
        #[inline]
        pub fn get(&'static self) -> &'static T {
            self.cell.get_or_init(self.init)
        }
        /// The value.
        #[inline]
        pub fn try_get(&'static self) -> Result<&'static T, AccessError> {
            Ok(self.get())
        }
    }

    impl<T> Deref for Lazy<T> {
        type Target = T;
        #[inline]
        fn deref(&self) -> &T {
            self.cell.get_or_init(self.init)
        }
    }
}

/// Variables of each thread.
#[macro_export]
macro_rules! thread_local {
    ($($rest:tt)*) => { ::std::thread_local! { $($rest)* } };
}

/// Statics that are made when they are used first.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident : $t:ty = $e:expr; $($rest:tt)*) => {
        $(#[$attr])*
        $vis static $name: $crate::lazy_static::Lazy<$t> = $crate::lazy_static::Lazy::new(|| $e);
        $crate::lazy_static! { $($rest)* }
    };
}
