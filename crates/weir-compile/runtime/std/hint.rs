//! `std::hint`.

pub use real::hint::*;

/// Tells Weir that this loop waits for another thread.
#[inline]
pub fn spin_loop() {
    unsafe { crate::sys::weir_spin_hint() }
}
