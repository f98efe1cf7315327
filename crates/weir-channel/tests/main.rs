//! All tests of this crate in one program, which is linked once.

mod common;

mod agree;
mod basic;
mod cpcp;
mod decide;
mod empty_buffers;
mod evidence;
mod examples;
mod machine_programs;
mod pcp;
mod product;
mod programs;
mod text;
