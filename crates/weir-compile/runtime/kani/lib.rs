//! The functions of Kani that programs call, for Weir.

pub use weir::{Arbitrary, any, assume};

/// Any value for which a condition holds.
#[inline]
pub fn any_where<T: Arbitrary, F: FnOnce(&T) -> bool>(f: F) -> T {
    let value = T::any();
    assume(f(&value));
    value
}

/// Fails if the condition does not hold.
#[inline]
pub fn assert(condition: bool, message: &'static str) {
    if !condition {
        std::sys::fail(message)
    }
}

/// Without effect: a question that is not asked here.
#[inline]
pub const fn cover(condition: bool, message: &'static str) {
    let _ = (condition, message);
}

/// Any slice of an array.
#[inline]
pub fn any_slice_of_array<T, const LENGTH: usize>(array: &[T; LENGTH]) -> &[T] {
    let from = weir::any_in(0..=LENGTH);
    let to = weir::any_in(from..=LENGTH);
    &array[from..to]
}

/// Without effect.
#[macro_export]
macro_rules! cover {
    ($($rest:tt)*) => {
        ()
    };
}

/// Leaves out all runs in which the condition is false.
#[macro_export]
macro_rules! implies {
    ($premise:expr => $conclusion:expr) => {
        !($premise) || ($conclusion)
    };
}
