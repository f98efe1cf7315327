//! `std::panic`: a panic ends the program with a failure, so there is nothing to catch and no hook
//! is called.

use real::any::Any;
use real::boxed::Box;
pub use real::panic::*;

/// Calls `f`. A panic in it is a failure of the program.
#[inline]
pub fn catch_unwind<F: FnOnce() -> R + UnwindSafe, R>(f: F) -> crate::thread::Result<R> {
    Ok(f())
}

/// Fails.
#[inline]
pub fn resume_unwind(payload: Box<dyn Any + Send>) -> ! {
    let _ = core::mem::ManuallyDrop::new(payload);
    crate::sys::fail("panic: resume_unwind")
}

/// Fails.
#[inline]
pub fn panic_any<M: 'static + Any + Send>(message: M) -> ! {
    let _ = core::mem::ManuallyDrop::new(message);
    crate::sys::fail("panic: panic_any")
}

/// The hook is dropped, since nothing calls it.
#[inline]
pub fn set_hook(hook: Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>) {
    drop(hook);
}

/// A hook that does nothing.
#[inline]
pub fn take_hook() -> Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static> {
    Box::new(|_| {})
}
