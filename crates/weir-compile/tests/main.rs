//! All tests of this crate in one program, which is linked once.

mod common;

mod databases;
mod limits;
mod packages;
mod single;
