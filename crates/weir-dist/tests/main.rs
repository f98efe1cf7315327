//! The tests of the crate.

mod same;
