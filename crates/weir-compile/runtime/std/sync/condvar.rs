//! `Condvar`: the set of threads that wait, as bits of a word, and one word for each thread that
//! says whether it waits.
//!
//! * **Waiting.** With the mutex held, a thread sets its word and adds itself to the set; then it
//!   frees the mutex and waits until its word is 0. Who notifies takes a thread out of the set and
//!   makes its word 0. A notification that comes between freeing the mutex and waiting is therefore
//!   not lost, and a thread that begins to wait later cannot take it.
//! * **`notify_one`** takes any thread out of the set: which one is chosen by `weir_any`. It must
//!   not wake more than one: a program that needs `notify_all` would then seem to have no deadlock.
//! * **Waking without reason** is allowed, and programs that wait without a loop are wrong because
//!   of it. A thread that wakes so never enters the set; a notification that comes meanwhile is for
//!   another thread, as if it had come after. Whether it happens is chosen by `weir_any`, so a
//!   deadlock in which nobody wakes is found as well.
//! * **A time limit** may be over at any moment, so nobody waits for ever: the thread takes itself out of the set,
//!   unless somebody has done that before.

use super::{LockResult, MutexGuard};
use crate::sys;
use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use real::time::Duration;

/// How many threads may have been started when one waits.
const THREADS: usize = 64;

/// Whether a thread waits, by its number. A thread waits for one variable at a time.
static WAITS: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

#[inline]
fn waits(number: usize) -> &'static AtomicU32 {
    unsafe { &*(&raw const WAITS).cast::<AtomicU32>().add(number) }
}

/// Threads wait until another one says that something has changed.
pub struct Condvar {
    waiting: AtomicU64,
}

/// Whether a wait ended because of its time limit.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was over.
    #[inline]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl core::panic::UnwindSafe for Condvar {}
impl core::panic::RefUnwindSafe for Condvar {}

impl Condvar {
    /// A variable that nobody waits for.
    #[inline]
    pub const fn new() -> Condvar {
        Condvar { waiting: AtomicU64::new(0) }
    }

    /// Frees the mutex, waits, and locks the mutex again.
    #[inline]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.sleep(guard.lock.held(), sys::maybe());
        Ok(guard)
    }

    /// Waits while `condition` holds.
    #[inline]
    pub fn wait_while<'a, T, F>(
        &self,
        guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut guard = guard;
        while condition(&mut *guard) {
            self.sleep(guard.lock.held(), sys::maybe());
        }
        Ok(guard)
    }

    /// Waits, or until the time is over.
    #[inline]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let _ = duration;
        let over = self.sleep_for(guard.lock.held());
        Ok((guard, WaitTimeoutResult(over)))
    }

    /// The same.
    #[inline]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let _ = ms;
        let over = self.sleep_for(guard.lock.held());
        Ok((guard, !over))
    }

    /// Waits while `condition` holds, or until the time is over.
    #[inline]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let _ = duration;
        let mut guard = guard;
        while condition(&mut *guard) {
            if self.sleep_for(guard.lock.held()) {
                // The real one evaluates the condition once more.
                let over = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(over)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one thread, if any waits.
    #[inline]
    pub fn notify_one(&self) {
        let mut waiting = self.waiting.load(Ordering::Relaxed);
        while waiting != 0 {
            let number = one_of(waiting);
            let rest = waiting & !(1 << number);
            match self.waiting.compare_exchange(waiting, rest, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return waits(number as usize).store(0, Ordering::Release),
                Err(now) => waiting = now,
            }
        }
    }

    /// Wakes all threads that wait.
    #[inline]
    pub fn notify_all(&self) {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut waiting = self.waiting.swap(0, Ordering::Acquire);
        while waiting != 0 {
            let number = waiting.trailing_zeros();
            waiting &= waiting - 1;
            waits(number as usize).store(0, Ordering::Release);
        }
    }

    /// Frees the mutex, waits unless it wakes without reason, and locks it again.
    #[inline]
    fn sleep(&self, held: *mut u32, awake: bool) {
        if awake {
            unsafe {
                sys::weir_unlock(held);
                sys::weir_lock(held);
            }
            return;
        }
        let (_, word) = self.enter();
        unsafe {
            sys::weir_unlock(held);
            sys::weir_wait_eq(word.as_ptr(), 0);
            sys::weir_lock(held);
        }
    }

    /// Frees the mutex, waits for some time, and locks it again. Whether the time is over.
    #[inline]
    fn sleep_for(&self, held: *mut u32) -> bool {
        let (bit, word) = self.enter();
        unsafe { sys::weir_unlock(held) };
        // Any time may pass here.
        let is_waiting = self.waiting.fetch_and(!bit, Ordering::AcqRel) & bit != 0;
        if !is_waiting {
            // Who has taken this thread out of the set is about to wake it.
            unsafe { sys::weir_wait_eq(word.as_ptr(), 0) };
        }
        unsafe { sys::weir_lock(held) };
        // If nobody has, it may also have woken without reason.
        is_waiting && sys::maybe()
    }

    /// Adds this thread to the set. Its bit, and the word that becomes 0 when it is taken out.
    #[inline]
    fn enter(&self) -> (u64, &'static AtomicU32) {
        let me = unsafe { sys::weir_current() };
        if me >= THREADS {
            sys::fail("a thread waits for a Condvar, and more than 64 have been started")
        }
        let word = waits(me);
        word.store(1, Ordering::Relaxed);
        // Release, and acquire in `notify_one`: who takes this thread out of the set writes its
        // word after the store above.
        self.waiting.fetch_or(1 << me, Ordering::Release);
        (1 << me, word)
    }
}

/// Any of the bits of a word that is not 0.
#[inline]
fn one_of(mut bits: u64) -> u32 {
    while bits & (bits - 1) != 0 {
        if sys::maybe() {
            break;
        }
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}

impl Default for Condvar {
    #[inline]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
