//! `std::thread::scope`.
//!
//! A scope has a list of the threads that were started in it, to which threads of the scope may add
//! others. When its closure has returned, it takes the list and joins all threads in it, until the
//! list stays empty: who starts a thread does it before it ends. There is no counter that the
//! threads share.

use super::handle::{Name, Thread};
use super::start::{self, Running};
use crate::sys;
use core::fmt;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use real::boxed::Box;

/// A thread that was started.
struct Started {
    number: usize,
    next: *mut Started,
}

/// A scope in which threads are started that borrow.
pub struct Scope<'scope, 'env: 'scope> {
    /// The threads that have been started and not joined.
    last: AtomicPtr<Started>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope.
pub struct ScopedJoinHandle<'scope, T> {
    running: Running<T>,
    scope: PhantomData<&'scope mut &'scope ()>,
}

/// Calls `f` with a scope, and waits for all threads that are started in it.
#[inline]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope =
        Scope { last: AtomicPtr::new(ptr::null_mut()), scope: PhantomData, env: PhantomData };
    let value = f(&scope);
    loop {
        let mut started = scope.last.load(Ordering::Acquire);
        if started.is_null() {
            return value;
        }
        started = scope.last.swap(ptr::null_mut(), Ordering::Acquire);
        while !started.is_null() {
            let Started { number, next } = unsafe { *Box::from_raw(started) };
            unsafe { sys::weir_join(number) };
            started = next;
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread.
    #[inline]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.start(f, None)
    }

    #[inline]
    pub(super) fn start<F, T>(&'scope self, f: F, name: Option<Name>) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let running = unsafe { start::start(f, name) };
        let mut next = self.last.load(Ordering::Relaxed);
        let started = Box::into_raw(Box::new(Started { number: running.thread.number(), next }));
        while let Err(now) =
            self.last.compare_exchange(next, started, Ordering::Release, Ordering::Relaxed)
        {
            next = now;
            unsafe { (*started).next = next };
        }
        ScopedJoinHandle { running, scope: PhantomData }
    }
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    /// The thread.
    #[inline]
    pub fn thread(&self) -> &Thread {
        &self.running.thread
    }

    /// Waits until the thread has ended.
    #[inline]
    pub fn join(self) -> super::Result<T> {
        Ok(self.running.join())
    }

    /// Whether the thread has ended.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.running.has_ended()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
