//! What Weir analyses: programs, the finite systems that they stand for,
//! memory models and their semantics, properties and answers.
//!
//! No search and no input or output happens here; see `ARCHITECTURE.md`.

pub mod ids;
pub mod program;
