//! `OnceLock`: a [`Once`] and the value.

use super::Once;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A value that is written once.
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<MaybeUninit<T>>,
    owned: PhantomData<T>,
}

unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
unsafe impl<T: Send> Send for OnceLock<T> {}
impl<T: core::panic::RefUnwindSafe + core::panic::UnwindSafe> core::panic::RefUnwindSafe
    for OnceLock<T>
{
}
impl<T: core::panic::UnwindSafe> core::panic::UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Without a value.
    #[inline]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            once: Once::new(),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            owned: PhantomData,
        }
    }

    #[inline]
    unsafe fn value(&self) -> &T {
        unsafe { (*self.value.get()).assume_init_ref() }
    }

    /// The value, if it has been written.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { Some(unsafe { self.value() }) } else { None }
    }

    /// The same.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.once.is_completed() {
            Some(unsafe { self.value.get_mut().assume_init_mut() })
        } else {
            None
        }
    }

    /// Waits until the value has been written.
    #[inline]
    pub fn wait(&self) -> &T {
        self.once.wait();
        unsafe { self.value() }
    }

    /// Writes the value, or returns it if there is one.
    #[inline]
    pub fn set(&self, value: T) -> Result<(), T> {
        match self.try_insert(value) {
            Ok(_) => Ok(()),
            Err((_, value)) => Err(value),
        }
    }

    /// The same, with the value that is there.
    #[inline]
    pub fn try_insert(&self, value: T) -> Result<&T, (&T, T)> {
        let mut value = Some(value);
        let found = self.get_or_init(|| unsafe { value.take().unwrap_unchecked() });
        match value {
            None => Ok(found),
            Some(value) => Err((found, value)),
        }
    }

    /// The value. Writes it if there is none.
    #[inline]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        if !self.once.is_completed() && self.once.begin_again() {
            unsafe { (*self.value.get()).write(f()) };
            self.once.end();
        }
        unsafe { self.value() }
    }

    /// The same, if `f` makes one.
    #[inline]
    pub fn get_or_try_init<F: FnOnce() -> Result<T, E>, E>(&self, f: F) -> Result<&T, E> {
        if !self.once.is_completed() && self.once.begin_again() {
            match f() {
                Ok(value) => {
                    unsafe { (*self.value.get()).write(value) };
                    self.once.end();
                }
                Err(error) => {
                    self.once.give_up();
                    return Err(error);
                }
            }
        }
        Ok(unsafe { self.value() })
    }

    /// The same, for who owns the lock.
    #[inline]
    pub fn get_mut_or_init<F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        self.get_or_init(f);
        unsafe { self.value.get_mut().assume_init_mut() }
    }

    /// The value.
    #[inline]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        if self.once.is_completed() {
            self.once = Once::new();
            Some(unsafe { (*self.value.get()).assume_init_read() })
        } else {
            None
        }
    }
}

impl<T> Drop for OnceLock<T> {
    #[inline]
    fn drop(&mut self) {
        if core::mem::needs_drop::<T>() && self.once.is_completed() {
            unsafe { (*self.value.get()).assume_init_drop() };
        }
    }
}

impl<T> Default for OnceLock<T> {
    #[inline]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("OnceLock");
        match self.get() {
            Some(v) => d.field(v),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[inline]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    #[inline]
    fn from(value: T) -> Self {
        let cell = Self::new();
        unsafe { (*cell.value.get()).write(value) };
        cell.once.end();
        cell
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[inline]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}
impl<T: Eq> Eq for OnceLock<T> {}
