//! `std::thread` on `weir_spawn` and `weir_join`.
//!
//! A thread is its number. A handle (`Thread`) is the number and, if it has one, the name. What a
//! thread needs besides:
//!
//! * **Its closure** is in a box, which the thread frees when it has moved the closure out.
//! * **Its result** is in a second box, which `join` reads and frees after `weir_join`; that call
//!   orders the two. A result without size needs no box, and so a thread that returns nothing has
//!   no memory in common with its handle. If the handle is dropped instead, the result has to be
//!   dropped by whoever comes last; only for results that need it there is an atomic flag, which
//!   both swap.
//! * **Its token** for `park` is a word in a table, by number.

pub use real::thread::Result;

mod builder;
mod handle;
mod local;
mod scoped;
mod start;

pub use builder::Builder;
pub use handle::{Thread, ThreadId};
pub use local::{AccessError, Eager, Lazy, LocalKey};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use start::JoinHandle;

use crate::sys;
use core::num::NonZero;
use core::sync::atomic::Ordering;
use real::io;
use real::time::Duration;

/// Starts a thread.
#[inline]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle(unsafe { start::start(f, None) })
}

/// Starts a thread. What it is given need not be `Send`: loom does not ask for it.
#[doc(hidden)]
#[inline]
pub fn spawn_without_send<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    JoinHandle(unsafe { start::start(f, None) })
}

/// This thread.
#[inline]
pub fn current() -> Thread {
    Thread::new(unsafe { sys::weir_current() }, handle::own_name())
}

/// Lets others go on.
#[inline]
pub fn yield_now() {
    unsafe { sys::weir_spin_hint() }
}

/// A panic ends the program, so no thread is ever panicking.
#[inline]
pub fn panicking() -> bool {
    false
}

/// Time does not pass: others may take any number of steps here anyway.
#[inline]
pub fn sleep(duration: Duration) {
    let _ = duration;
    yield_now();
}

/// The same.
#[inline]
pub fn sleep_ms(ms: u32) {
    let _ = ms;
    yield_now();
}

/// Waits for a token and takes it. The swap reads the last `unpark`, so all that happened before it
/// is seen. A thread may also go on without reason, as the real one says.
#[inline]
pub fn park() {
    let token = handle::token(unsafe { sys::weir_current() });
    if !sys::maybe() {
        unsafe { sys::weir_wait_ne(token.as_ptr(), 0) };
    }
    token.swap(0, Ordering::Acquire);
}

/// Takes the token if there is one. The time may be over at any moment.
#[inline]
pub fn park_timeout(duration: Duration) {
    let _ = duration;
    handle::token(unsafe { sys::weir_current() }).swap(0, Ordering::Acquire);
    yield_now();
}

/// The same.
#[inline]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms as u64));
}

/// Two.
#[inline]
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    Ok(NonZero::new(2).unwrap())
}
