//! All tests of this crate in one program, which is linked once.

mod common;

mod beyond;
mod boards;
mod fairness;
mod growth;
mod reference;
