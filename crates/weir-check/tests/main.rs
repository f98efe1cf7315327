//! All tests of this crate in one program, which is linked once.

mod common;

mod random_runs;
mod runs_by_hand;
