//! `loom::cell`: cells whose content is reached in closures. Weir finds races by itself.

use std::fmt;

/// A cell that gives pointers to closures.
#[derive(Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell.
    #[inline]
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(data))
    }
    /// The value.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` to read.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.0.get())
    }
    /// Calls `f` to write.
    #[inline]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.0.get())
    }
    /// A pointer to read.
    #[inline]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { ptr: self.0.get() }
    }
    /// A pointer to write.
    #[inline]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { ptr: self.0.get() }
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[inline]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// A pointer to read what is in a cell.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    ptr: *const T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    #[inline]
    pub unsafe fn deref(&self) -> &T {
        unsafe { &*self.ptr }
    }
    /// Calls `f`.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.ptr)
    }
}

/// A pointer to write what is in a cell.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    ptr: *mut T,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        unsafe { &mut *self.ptr }
    }
    /// Calls `f`.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.ptr)
    }
}

/// A cell.
pub struct Cell<T>(std::cell::Cell<T>);

impl<T> Cell<T> {
    /// A cell.
    #[inline]
    pub const fn new(value: T) -> Cell<T> {
        Cell(std::cell::Cell::new(value))
    }
    /// Sets the value.
    #[inline]
    pub fn set(&self, value: T) {
        self.0.set(value);
    }
    /// Swaps the values of two cells.
    #[inline]
    pub fn swap(&self, other: &Cell<T>) {
        self.0.swap(&other.0);
    }
    /// Replaces the value.
    #[inline]
    pub fn replace(&self, value: T) -> T {
        self.0.replace(value)
    }
    /// The value.
    #[inline]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.0.get()
    }
    /// Takes the value.
    #[inline]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.0.take()
    }
}

impl<T: Default> Default for Cell<T> {
    #[inline]
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
