//! The tests of the crate.

mod common;
mod faults;
mod same;
mod shards;
mod spill;
mod views;
