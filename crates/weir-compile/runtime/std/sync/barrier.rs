//! `Barrier`: a count under a lock, and the number of the round, for which threads wait.

use crate::sys;
use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// Threads wait until a number of them has arrived.
pub struct Barrier {
    lock: UnsafeCell<u32>,
    arrived: UnsafeCell<usize>,
    /// It changes while the lock is held, so who holds the lock reads the newest.
    round: AtomicU32,
    threads: usize,
}

unsafe impl Sync for Barrier {}
impl core::panic::RefUnwindSafe for Barrier {}

/// Whether a thread was the last to arrive.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was.
    #[inline]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// For this many threads.
    #[inline]
    pub const fn new(n: usize) -> Barrier {
        Barrier {
            lock: UnsafeCell::new(0),
            arrived: UnsafeCell::new(0),
            round: AtomicU32::new(0),
            threads: n,
        }
    }

    /// Waits until all have arrived.
    #[inline]
    pub fn wait(&self) -> BarrierWaitResult {
        unsafe {
            sys::weir_lock(self.lock.get());
            let arrived = self.arrived.get();
            let round = self.round.load(Ordering::Relaxed);
            *arrived += 1;
            if *arrived < self.threads {
                sys::weir_unlock(self.lock.get());
                sys::weir_wait_ne(self.round.as_ptr(), round);
                BarrierWaitResult(false)
            } else {
                *arrived = 0;
                // Release: all threads that have arrived held the lock before.
                self.round.store(round.wrapping_add(1), Ordering::Release);
                sys::weir_unlock(self.lock.get());
                BarrierWaitResult(true)
            }
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
