//! All tests of this crate in one program, which is linked once.

mod common;

mod limits;
mod single;
