//! What Weir analyzes: programs, the systems that they are translated to, memory models
//! and their semantics, properties and answers.
//!
//! No search and no input or output happens here; see `ARCHITECTURE.md`.
//!
//! ```
//! use weir_model::memory_model::{MemoryModel, Relaxation};
//! use weir_model::program::{Process, Program};
//! use weir_model::system::System;
//!
//! let idle = Process { name: "p".to_owned(), ..Process::default() };
//! let program = Program { name: "idle".to_owned(), processes: vec![idle], ..Program::default() };
//! let system = System::for_model(program, MemoryModel::TSO)?;
//! assert_eq!(system.processes[0].name, "p");
//! assert!(MemoryModel::TSO.has(Relaxation::WriteRead));
//! assert!(!MemoryModel::TSO.has(Relaxation::WriteWrite));
//! # Ok::<(), weir_model::system::BuildError>(())
//! ```

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
pub mod question;
pub mod run;
pub mod semantics;
pub mod symmetry;
pub mod system;
