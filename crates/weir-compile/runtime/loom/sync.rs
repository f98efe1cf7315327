//! `loom::sync`.

pub use crate::atomic;
pub use std::sync::*;

/// What one thread waits for and another one says.
#[derive(Debug)]
pub struct Notify {
    notified: std::sync::atomic::AtomicU32,
}

impl Notify {
    /// Nobody has said it.
    #[inline]
    pub const fn new() -> Notify {
        Notify { notified: std::sync::atomic::AtomicU32::new(0) }
    }

    /// Waits, and takes the notification.
    #[inline]
    pub fn wait(&self) {
        unsafe { std::sys::weir_wait_ne(self.notified.as_ptr(), 0) };
        self.notified.swap(0, std::sync::atomic::Ordering::Acquire);
    }

    /// Says it.
    #[inline]
    pub fn notify(&self) {
        self.notified.store(1, std::sync::atomic::Ordering::Release);
    }
}

impl Default for Notify {
    #[inline]
    fn default() -> Notify {
        Notify::new()
    }
}
