//! All tests of this crate in one program, which is linked once.

mod common;

mod ltl;
mod random;
mod reference;
