//! `RwLock`: a word that is 0 if it is free, 1 if a writer holds it, and twice the number of
//! readers otherwise.
//!
//! A writer is therefore a holder of `weir_lock`. A reader adds 2 if the word is not 1; it tries
//! again only if another thread has changed the word.

use super::{LockResult, TryLockError, TryLockResult};
use crate::sys;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

const WRITER: u32 = 1;
const READER: u32 = 2;

/// A value that one writer or several readers can use.
pub struct RwLock<T: ?Sized> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> core::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> core::panic::RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    #[inline]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { state: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds it.
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let mut before = 0;
        while let Err(now) = self.state.compare_exchange(
            before,
            before + READER,
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            if now == WRITER {
                unsafe { sys::weir_wait_ne(self.state.as_ptr(), WRITER) };
                before = 0;
            } else {
                before = now;
            }
        }
        Ok(self.reader())
    }

    /// Does not wait.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let mut before = 0;
        while let Err(now) = self.state.compare_exchange(
            before,
            before + READER,
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            if now == WRITER {
                return Err(TryLockError::WouldBlock);
            }
            before = now;
        }
        Ok(self.reader())
    }

    /// Waits until nobody holds it.
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        unsafe { sys::weir_lock(self.state.as_ptr()) };
        Ok(RwLockWriteGuard { lock: self })
    }

    /// Does not wait.
    #[inline]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if unsafe { sys::weir_try_lock(self.state.as_ptr()) } {
            Ok(RwLockWriteGuard { lock: self })
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    #[inline]
    fn reader(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            value: unsafe { NonNull::new_unchecked(self.value.get()) },
            state: &self.state,
            lifetime: PhantomData,
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

    /// The value. Nobody else can hold the lock.
    #[inline]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut())
    }

    /// Where the value is.
    #[inline]
    pub const fn data_ptr(&self) -> *mut T {
        self.value.get()
    }
}

impl<T> From<T> for RwLock<T> {
    #[inline]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[inline]
    fn default() -> RwLock<T> {
        RwLock::new(Default::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => d.field("data", &&*guard),
            Err(_) => d.field("data", &format_args!("<locked>")),
        };
        d.field("poisoned", &false).finish_non_exhaustive()
    }
}

/// The right to read the value of a `RwLock`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    value: NonNull<T>,
    state: &'a AtomicU32,
    lifetime: PhantomData<&'a T>,
}

/// The right to write the value of a `RwLock`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
}

/// The right to read a part of the value of a `RwLock`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct MappedRwLockReadGuard<'a, T: ?Sized + 'a> {
    value: NonNull<T>,
    state: &'a AtomicU32,
    lifetime: PhantomData<&'a T>,
}

/// The right to write a part of the value of a `RwLock`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized + 'a> {
    value: NonNull<T>,
    state: &'a AtomicU32,
    lifetime: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// A guard of a part of the value.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&T) -> &U>(orig: Self, f: F) -> MappedRwLockReadGuard<'a, U> {
        let orig = ManuallyDrop::new(orig);
        let value = NonNull::from(f(unsafe { orig.value.as_ref() }));
        MappedRwLockReadGuard { value, state: orig.state, lifetime: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader. Nobody else holds the lock, so a store is enough.
    #[inline]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let lock = ManuallyDrop::new(s).lock;
        lock.state.store(READER, Ordering::Release);
        lock.reader()
    }

    /// A guard of a part of the value.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(
        orig: Self,
        f: F,
    ) -> MappedRwLockWriteGuard<'a, U> {
        let lock = ManuallyDrop::new(orig).lock;
        let value = NonNull::from(f(unsafe { &mut *lock.value.get() }));
        MappedRwLockWriteGuard { value, state: &lock.state, lifetime: PhantomData }
    }
}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    /// A guard of a part of the part.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&T) -> &U>(orig: Self, f: F) -> MappedRwLockReadGuard<'a, U> {
        let orig = ManuallyDrop::new(orig);
        let value = NonNull::from(f(unsafe { orig.value.as_ref() }));
        MappedRwLockReadGuard { value, state: orig.state, lifetime: PhantomData }
    }
}

impl<'a, T: ?Sized> MappedRwLockWriteGuard<'a, T> {
    /// A guard of a part of the part.
    #[inline]
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(
        orig: Self,
        f: F,
    ) -> MappedRwLockWriteGuard<'a, U> {
        let mut orig = ManuallyDrop::new(orig);
        let value = NonNull::from(f(unsafe { orig.value.as_mut() }));
        MappedRwLockWriteGuard { value, state: orig.state, lifetime: PhantomData }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}
impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}
impl<T: ?Sized> DerefMut for MappedRwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        unsafe { self.value.as_mut() }
    }
}
impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unsafe { sys::weir_unlock(self.lock.state.as_ptr()) };
    }
}
impl<T: ?Sized> Drop for MappedRwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unsafe { sys::weir_unlock(self.state.as_ptr()) };
    }
}

macro_rules! part {
    ($($guard:ident)+) => {$(
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            #[inline]
            fn deref(&self) -> &T {
                unsafe { self.value.as_ref() }
            }
        }
    )+};
}
part! { RwLockReadGuard MappedRwLockReadGuard MappedRwLockWriteGuard }

macro_rules! reader {
    ($($guard:ident)+) => {$(
        impl<T: ?Sized> Drop for $guard<'_, T> {
            #[inline]
            fn drop(&mut self) {
                self.state.fetch_sub(READER, Ordering::Release);
            }
        }
    )+};
}
reader! { RwLockReadGuard MappedRwLockReadGuard }

macro_rules! guard {
    ($($guard:ident)+) => {$(
        impl<T: ?Sized> !Send for $guard<'_, T> {}
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )+};
}
guard! { RwLockReadGuard RwLockWriteGuard MappedRwLockReadGuard MappedRwLockWriteGuard }
