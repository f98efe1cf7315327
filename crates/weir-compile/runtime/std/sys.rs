//! The functions that Weir knows, and nothing else does what they do.
//!
//! They have native bodies too (the crate `weir_native`), so that the same program also runs.

unsafe extern "C" {
    /// Starts a thread that calls `f(data)`, and returns its number: 1, 2, …
    pub fn weir_spawn(f: unsafe extern "C" fn(*mut u8), data: *mut u8) -> usize;
    /// Waits until the thread has ended. All that it did happens before.
    pub fn weir_join(id: usize);
    /// Whether the thread has ended. If so, all that it did happens before.
    pub fn weir_has_ended(id: usize) -> bool;
    /// The number of this thread. The first one is 0.
    pub fn weir_current() -> usize;
    /// Waits until `*l` is 0 and makes it 1, in one step, with acquire.
    pub fn weir_lock(l: *mut u32);
    /// The same without waiting. Whether it was 0.
    pub fn weir_try_lock(l: *mut u32) -> bool;
    /// Makes `*l` 0, with release.
    pub fn weir_unlock(l: *mut u32);
    /// Waits until an acquire load of `*p` is not `v`.
    pub fn weir_wait_ne(p: *const u32, v: u32);
    /// Waits until an acquire load of `*p` is `v`.
    pub fn weir_wait_eq(p: *const u32, v: u32);
    /// Leaves out all runs in which `b` is false.
    pub fn weir_assume(b: bool);
    /// Any number from `lo` to `hi`, both included.
    pub fn weir_any(lo: i64, hi: i64) -> i64;
    /// The program has failed.
    pub fn weir_fail(text: *const u8, len: usize) -> !;
    /// Ends this thread.
    pub fn weir_exit() -> !;
    /// This thread is in a loop that waits. Without effect.
    pub fn weir_spin_hint();
    /// From here on nobody else takes a step.
    pub fn weir_atomic_begin();
    /// Others take steps again.
    pub fn weir_atomic_end();
}

/// Fails with a text: at run time by [`weir_fail`], in a constant by an error of the compiler.
#[inline]
#[track_caller]
pub const fn fail(text: &'static str) -> ! {
    const fn when_compiled(text: &'static str) -> ! {
        real::panic!("{}", text)
    }
    #[inline]
    fn when_run(text: &'static str) -> ! {
        unsafe { weir_fail(text.as_ptr(), text.len()) }
    }
    core::intrinsics::const_eval_select((text,), when_compiled, when_run)
}

/// Fails with a text that may be known at run time only.
#[inline]
pub const fn fail_with(text: &str) -> ! {
    const fn when_compiled(text: &str) -> ! {
        real::panic!("{}", text)
    }
    #[inline]
    fn when_run(text: &str) -> ! {
        unsafe { weir_fail(text.as_ptr(), text.len()) }
    }
    core::intrinsics::const_eval_select((text,), when_compiled, when_run)
}

/// Either of two things happens.
#[inline]
pub fn maybe() -> bool {
    unsafe { weir_any(0, 1) != 0 }
}

/// Ends the whole program: no thread takes a step after it.
#[inline]
pub fn end_of_program() -> ! {
    unsafe {
        weir_assume(false);
        weir_exit()
    }
}
