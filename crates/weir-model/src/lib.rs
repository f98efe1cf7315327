//! What Weir analyzes: programs, the systems that they are translated to, memory models
//! and their semantics, properties and answers.
//!
//! No search and no input or output happens here; see `ARCHITECTURE.md`.

pub mod answer;
mod build;
pub mod fingerprint;
mod flow;
pub mod game;
pub mod graph;
pub mod grow;
pub mod ids;
pub mod limits;
pub mod memory_model;
pub mod object;
pub mod program;
pub mod run;
pub mod semantics;
pub mod system;
