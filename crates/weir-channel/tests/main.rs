//! All tests of this crate in one program, which is linked once.

mod common;

mod again;
mod agree;
mod decide;
mod evidence;
mod examples;
mod product;
mod programs;
mod text;
