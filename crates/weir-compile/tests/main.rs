//! All tests of this crate in one program, which is linked once.

mod common;

mod crates;
mod databases;
mod limits;
mod packages;
mod single;
