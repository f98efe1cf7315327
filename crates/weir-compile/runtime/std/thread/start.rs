//! Starting threads and joining them. See the module above for what is shared.

use super::handle::{self, Name, Thread};
use crate::sys;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use core::sync::atomic::{AtomicU8, Ordering};
use real::boxed::Box;

/// Where a thread leaves its result.
struct Slot<T> {
    /// Whether the thread has ended, or the handle was dropped: who comes second drops the result
    /// and frees the slot.
    first: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// What a thread is given.
struct Start<F, T> {
    f: F,
    slot: *mut Slot<T>,
    name: Option<Name>,
}

/// A thread that can be joined, and its result.
pub(super) struct Running<T> {
    pub(super) thread: Thread,
    slot: *mut Slot<T>,
    result: PhantomData<T>,
}

/// Whether the memory of a result is shared.
const fn has_slot<T>() -> bool {
    size_of::<T>() != 0 || needs_drop::<T>()
}

/// What a thread executes.
unsafe extern "C" fn run<F: FnOnce() -> T, T>(data: *mut u8) {
    let Start { f, slot, name } = unsafe { *Box::from_raw(data.cast::<Start<F, T>>()) };
    if let Some(name) = name {
        handle::set_own_name(name);
    }
    let value = f();
    if has_slot::<T>() {
        unsafe { (*(*slot).value.get()).write(value) };
    }
    super::local::drop_all();
    if needs_drop::<T>() && unsafe { &*slot }.first.swap(1, Ordering::AcqRel) != 0 {
        unsafe { discard(slot) };
    }
}

/// Drops a result that nobody wants, and frees its memory.
unsafe fn discard<T>(slot: *mut Slot<T>) {
    unsafe {
        let slot = Box::from_raw(slot);
        (*slot.value.get()).assume_init_drop();
    }
}

/// Starts a thread. What `f` borrows has to live until it is joined.
#[inline]
pub(super) unsafe fn start<F: FnOnce() -> T, T>(f: F, name: Option<Name>) -> Running<T> {
    let slot = if has_slot::<T>() {
        Box::into_raw(Box::new(Slot {
            first: AtomicU8::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }))
    } else {
        core::ptr::dangling_mut()
    };
    let data = Box::into_raw(Box::new(Start { f, slot, name }));
    let number = unsafe { sys::weir_spawn(run::<F, T>, data.cast()) };
    Running { thread: Thread::new(number, name), slot, result: PhantomData }
}

impl<T> Running<T> {
    #[inline]
    pub(super) fn join(self) -> T {
        let this = ManuallyDrop::new(self);
        unsafe { sys::weir_join(this.thread.number()) };
        if has_slot::<T>() {
            let slot = unsafe { Box::from_raw(this.slot) };
            unsafe { (*slot.value.get()).assume_init_read() }
        } else {
            // A value without size, which the thread has made.
            unsafe { MaybeUninit::uninit().assume_init() }
        }
    }

    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        unsafe { sys::weir_has_ended(self.thread.number()) }
    }
}

impl<T> Drop for Running<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() && unsafe { &*self.slot }.first.swap(1, Ordering::AcqRel) != 0 {
            unsafe { discard(self.slot) };
        }
    }
}

unsafe impl<T> Send for Running<T> {}
unsafe impl<T> Sync for Running<T> {}

/// A thread that can be joined. It goes on by itself if this is dropped.
pub struct JoinHandle<T>(pub(super) Running<T>);

impl<T> JoinHandle<T> {
    /// The thread.
    #[inline]
    pub fn thread(&self) -> &Thread {
        &self.0.thread
    }

    /// Waits until the thread has ended.
    #[inline]
    pub fn join(self) -> super::Result<T> {
        Ok(self.0.join())
    }

    /// Whether the thread has ended.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.0.has_ended()
    }

    #[inline]
    pub(crate) fn number(&self) -> usize {
        self.0.thread.number()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
