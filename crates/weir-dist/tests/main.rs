//! The tests of the crate.

mod faults;
mod same;
mod shards;
