//! `loom::sync::atomic`: the atomics of `std`, with the functions that only loom has.

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

use std::fmt;
use std::ops::Deref;

/// This loop waits.
#[inline]
pub fn spin_loop_hint() {
    std::hint::spin_loop();
}

macro_rules! atomics {
    ($($name:ident: $t:ty),+) => {$(
        /// An atomic variable. All that `std` has is reached through `Deref`.
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        impl $name {
            /// A variable with a value.
            #[inline]
            pub const fn new(value: $t) -> $name {
                $name(std::sync::atomic::$name::new(value))
            }
            /// The value, read without an order.
            #[inline]
            pub unsafe fn unsync_load(&self) -> $t {
                unsafe { *self.0.as_ptr() }
            }
            /// Calls `f` with the value.
            #[inline]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $t) -> R) -> R {
                f(self.0.get_mut())
            }
            /// The value.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $t {
                self.0.get_mut()
            }
            /// The value.
            #[inline]
            pub fn into_inner(self) -> $t {
                self.0.into_inner()
            }
        }

        impl Deref for $name {
            type Target = std::sync::atomic::$name;
            #[inline]
            fn deref(&self) -> &std::sync::atomic::$name {
                &self.0
            }
        }
        impl Default for $name {
            #[inline]
            fn default() -> $name {
                $name(Default::default())
            }
        }
        impl From<$t> for $name {
            #[inline]
            fn from(value: $t) -> $name {
                $name::new(value)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}
atomics! {
    AtomicBool: bool, AtomicU8: u8, AtomicU16: u16, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize,
    AtomicI8: i8, AtomicI16: i16, AtomicI32: i32, AtomicI64: i64, AtomicIsize: isize
}

/// An atomic pointer.
#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// A variable with a value.
    #[inline]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr(std::sync::atomic::AtomicPtr::new(value))
    }
    /// The value, read without an order.
    #[inline]
    pub unsafe fn unsync_load(&self) -> *mut T {
        unsafe { *self.0.as_ptr() }
    }
    /// Calls `f` with the value.
    #[inline]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.0.get_mut())
    }
    /// The value.
    #[inline]
    pub fn get_mut(&mut self) -> &mut *mut T {
        self.0.get_mut()
    }
    /// The value.
    #[inline]
    pub fn into_inner(self) -> *mut T {
        self.0.into_inner()
    }
}

impl<T> Deref for AtomicPtr<T> {
    type Target = std::sync::atomic::AtomicPtr<T>;
    #[inline]
    fn deref(&self) -> &std::sync::atomic::AtomicPtr<T> {
        &self.0
    }
}
impl<T> Default for AtomicPtr<T> {
    #[inline]
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
impl<T> From<*mut T> for AtomicPtr<T> {
    #[inline]
    fn from(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr::new(value)
    }
}
impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
