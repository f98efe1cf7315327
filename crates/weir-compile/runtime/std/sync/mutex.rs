//! `Mutex`: a word for `weir_lock`, and the value. It is never poisoned, since a panic ends the
//! program.

use super::{LockResult, TryLockError, TryLockResult};
use crate::sys;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// A value that one thread at a time can use.
pub struct Mutex<T: ?Sized> {
    held: UnsafeCell<u32>,
    value: UnsafeCell<T>,
}

unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> core::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> core::panic::RefUnwindSafe for Mutex<T> {}

/// The right to use the value of a `Mutex`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    pub(super) lock: &'a Mutex<T>,
}

impl<T: ?Sized> !Send for MutexGuard<'_, T> {}
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    #[inline]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { held: UnsafeCell::new(0), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody holds it.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        unsafe { sys::weir_lock(self.held.get()) };
        Ok(MutexGuard { lock: self })
    }

    /// Does not wait.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if unsafe { sys::weir_try_lock(self.held.get()) } {
            Ok(MutexGuard { lock: self })
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// No.
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        false
    }

    /// Without effect.
    #[inline]
    pub fn clear_poison(&self) {}

    /// The value.
    #[inline]
    pub fn into_inner(self) -> LockResult<T>
    where
        T: Sized,
    {
        Ok(self.value.into_inner())
    }

    /// The value. Nobody else can hold the mutex.
    #[inline]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut())
    }

    /// Where the value is.
    #[inline]
    pub const fn data_ptr(&self) -> *mut T {
        self.value.get()
    }

    #[inline]
    pub(super) fn held(&self) -> *mut u32 {
        self.held.get()
    }
}

impl<T> From<T> for Mutex<T> {
    #[inline]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[inline]
    fn default() -> Mutex<T> {
        Mutex::new(Default::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => d.field("data", &&*guard),
            Err(_) => d.field("data", &format_args!("<locked>")),
        };
        d.field("poisoned", &false).finish_non_exhaustive()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// A guard of a part of the value.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(
        orig: Self,
        f: F,
    ) -> MappedMutexGuard<'a, U> {
        let orig = ManuallyDrop::new(orig);
        let value = NonNull::from(f(unsafe { &mut *orig.lock.value.get() }));
        MappedMutexGuard { value, held: orig.lock.held(), lifetime: PhantomData }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unsafe { sys::weir_unlock(self.lock.held.get()) };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The right to use a part of the value of a `Mutex`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized + 'a> {
    value: NonNull<T>,
    held: *mut u32,
    lifetime: PhantomData<&'a mut T>,
}

impl<T: ?Sized> !Send for MappedMutexGuard<'_, T> {}
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// A guard of a part of the part.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(
        orig: Self,
        f: F,
    ) -> MappedMutexGuard<'a, U> {
        let mut orig = ManuallyDrop::new(orig);
        let value = NonNull::from(f(unsafe { orig.value.as_mut() }));
        MappedMutexGuard { value, held: orig.held, lifetime: PhantomData }
    }
}

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unsafe { sys::weir_unlock(self.held) };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
