//! All tests of this crate in one program, which is linked once.

mod common;

mod automata;
mod automata_agree;
mod blocks;
mod causality;
mod certificates;
mod engines_agree;
mod litmus_verdicts;
mod packed;
mod reductions;
mod runs_by_hand;
mod runs_check;
mod semantics_agree;
mod symmetry;
mod system_build;
mod upward_sets;
