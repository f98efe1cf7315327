//! All tests of this crate in one program, which is linked once.

mod common;

mod c11;
mod c11_folded;
mod c11_loops;
mod causality;
mod litmus_forms;
mod semantics_agree;
mod system_build;
