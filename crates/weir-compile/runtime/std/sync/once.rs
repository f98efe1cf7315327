//! `Once`: a word that is 0 before, 1 while the closure runs, and 2 after it.

use crate::sys;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

const NEW: u32 = 0;
const RUNNING: u32 = 1;
const DONE: u32 = 2;

/// Something that is done once.
pub struct Once {
    state: AtomicU32,
}

/// What a closure is told: nothing is ever poisoned.
pub struct OnceState(());

/// The first state.
pub const ONCE_INIT: Once = Once::new();

impl core::panic::UnwindSafe for Once {}
impl core::panic::RefUnwindSafe for Once {}

impl Once {
    /// Not done.
    #[inline]
    pub const fn new() -> Once {
        Once { state: AtomicU32::new(NEW) }
    }

    /// Calls `f`, unless that has been done, and waits until it is done.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() && self.begin() {
            f();
            self.end();
        }
    }

    /// The same.
    #[inline]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if !self.is_completed() && self.begin() {
            f(&OnceState(()));
            self.end();
        }
    }

    /// Whether it is done. If so, all that the closure did happens before.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.state.load(Ordering::Acquire) == DONE
    }

    /// Waits until it is done.
    #[inline]
    pub fn wait(&self) {
        unsafe { sys::weir_wait_eq(self.state.as_ptr(), DONE) };
    }

    /// The same.
    #[inline]
    pub fn wait_force(&self) {
        self.wait();
    }

    /// Whether this thread is the one that does it. If not, it is done.
    #[inline]
    pub(super) fn begin(&self) -> bool {
        if self.state.compare_exchange(NEW, RUNNING, Ordering::Acquire, Ordering::Acquire).is_ok() {
            return true;
        }
        self.wait();
        false
    }

    #[inline]
    pub(super) fn end(&self) {
        self.state.store(DONE, Ordering::Release);
    }

    /// Undoes `begin`: the closure gave nothing.
    #[inline]
    pub(super) fn give_up(&self) {
        self.state.store(NEW, Ordering::Release);
    }

    /// Whether this thread is the one that does it. Waits while another one does; that one may give
    /// up.
    #[inline]
    pub(super) fn begin_again(&self) -> bool {
        loop {
            match self.state.compare_exchange(NEW, RUNNING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return true,
                Err(DONE) => return false,
                Err(_) => unsafe { sys::weir_wait_ne(self.state.as_ptr(), RUNNING) },
            }
        }
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl OnceState {
    /// No.
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        false
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &false).finish()
    }
}
