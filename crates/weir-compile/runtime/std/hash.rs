//! `std::hash`: hashing begins with the same numbers in every run.

use core::fmt;
pub use real::hash::*;

/// What makes hashers. All are alike.
#[derive(Clone, Default)]
pub struct RandomState(());

impl RandomState {
    /// All are alike.
    #[inline]
    pub fn new() -> RandomState {
        RandomState(())
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;
    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}

impl fmt::Debug for RandomState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomState").finish_non_exhaustive()
    }
}
