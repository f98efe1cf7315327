//! `std::collections`.

pub use real::collections::*;
