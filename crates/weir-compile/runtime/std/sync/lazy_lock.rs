//! `LazyLock`: a [`Once`], and the closure until it has been called, and its value afterwards.

use super::Once;
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

union Data<T, F> {
    value: ManuallyDrop<T>,
    f: ManuallyDrop<F>,
}

/// A value that is made when it is used first.
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    data: UnsafeCell<Data<T, F>>,
}

unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: core::panic::RefUnwindSafe + core::panic::UnwindSafe, F: core::panic::UnwindSafe>
    core::panic::RefUnwindSafe for LazyLock<T, F>
{
}
impl<T: core::panic::UnwindSafe, F: core::panic::UnwindSafe> core::panic::UnwindSafe
    for LazyLock<T, F>
{
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` makes.
    #[inline]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock { once: Once::new(), data: UnsafeCell::new(Data { f: ManuallyDrop::new(f) }) }
    }

    /// The value. Makes it if it has not been made.
    #[inline]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.once.call_once(|| {
            let data = unsafe { &mut *this.data.get() };
            let f = unsafe { ManuallyDrop::take(&mut data.f) };
            data.value = ManuallyDrop::new(f());
        });
        unsafe { &(*this.data.get()).value }
    }

    /// The same, for who owns it.
    #[inline]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        unsafe { &mut this.data.get_mut().value }
    }

    /// The value, or the closure that would make it.
    #[inline]
    pub fn into_inner(this: Self) -> Result<T, F> {
        let this = ManuallyDrop::new(this);
        let data = unsafe { core::ptr::read(&this.data) }.into_inner();
        if this.once.is_completed() {
            Ok(ManuallyDrop::into_inner(unsafe { data.value }))
        } else {
            Err(ManuallyDrop::into_inner(unsafe { data.f }))
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it has been made.
    #[inline]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        if this.once.is_completed() { Some(unsafe { &(*this.data.get()).value }) } else { None }
    }

    /// The same.
    #[inline]
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        if this.once.is_completed() {
            Some(unsafe { &mut this.data.get_mut().value })
        } else {
            None
        }
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    #[inline]
    fn drop(&mut self) {
        let data = self.data.get_mut();
        if self.once.is_completed() {
            unsafe { ManuallyDrop::drop(&mut data.value) }
        } else {
            unsafe { ManuallyDrop::drop(&mut data.f) }
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[inline]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T, F> From<T> for LazyLock<T, F> {
    #[inline]
    fn from(value: T) -> LazyLock<T, F> {
        let this = LazyLock {
            once: Once::new(),
            data: UnsafeCell::new(Data { value: ManuallyDrop::new(value) }),
        };
        this.once.end();
        this
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("LazyLock");
        match LazyLock::get(self) {
            Some(v) => d.field(v),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}
