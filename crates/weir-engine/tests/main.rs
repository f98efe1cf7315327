//! All tests of this crate in one program, which is linked once.

mod common;
#[path = "../../weir-check/tests/common/mod.rs"]
mod questions;

mod automata;
mod automata_agree;
mod blocks;
mod certificates;
mod engines_agree;
mod litmus_verdicts;
mod reductions;
mod runs_check;
mod symmetry;
mod system_build;
mod upward_sets;
