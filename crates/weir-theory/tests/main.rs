//! All tests of this crate in one program, which is linked once.

#[path = "../../weir-channel/tests/common/mod.rs"]
mod common;

mod basic;
mod cpcp;
mod empty_buffers;
mod examples;
mod machine_programs;
mod pcp;
mod reductions;
