//! Weir: what concurrent programs can do on weak memory.
//!
//! Weir reads a program of processes that share variables, takes a memory model
//! (a set of relaxations: SC, TSO, PSO, NSW or any other), and says of each
//! property of the program whether it *holds*, is *violated*, or is *unknown*,
//! with something to show for it.
//!
//! This crate is the façade: it puts the others together. The words:
//!
//! * a **program** is what a person writes ([`weir_model::program`]),
//! * a **system** is the program as finite automata ([`weir_model::system`]),
//! * a **memory model** is a set of relaxations ([`weir_model::memory_model`]),
//! * a **configuration** is a state of an operational semantics of the model
//!   ([`weir_model::semantics`]),
//! * a **witness** is a run that shows an answer, and a second program checks it
//!   ([`weir_check`]).
//!
//! ```
//! use weir::{Loaded, Limits, MemoryModel, Verdict};
//!
//! let text = "
//!     var x, y
//!     process p { reg r   x = 1   r = y }
//!     process q { reg r   y = 1   r = x }
//!     final never p.r == 0 and q.r == 0
//! ";
//! let loaded = Loaded::from_text("store-buffering.weir", text, None).unwrap();
//!
//! let (answers, _) = weir::check(&loaded.system, MemoryModel::SC, &Limits::default());
//! assert_eq!(answers[0].verdict, Verdict::Holds);
//!
//! let (answers, _) = weir::check(&loaded.system, MemoryModel::TSO, &Limits::default());
//! assert_eq!(answers[0].verdict, Verdict::Violated);
//! ```

pub mod bounds;
pub mod load;
pub mod report;
mod solver;

pub use bounds::Bound;
pub use load::{LoadError, Loaded, Reading};
pub use solver::Solver;
pub use weir_check::{Certificate, Witness};
pub use weir_engine::explicit::Outcomes;
pub use weir_engine::{Engine, Limits, Stats};
pub use weir_front::Language;
pub use weir_model::answer::{Answer, Evidence, Run, Verdict};
pub use weir_model::limits::{Budget, Stop};
pub use weir_model::memory_model::MemoryModel;
pub use weir_model::system::System;

/// Answers every property of a system's program under a model.
pub fn check(system: &System, model: MemoryModel, limits: &Limits) -> (Vec<Answer>, Stats) {
    Solver::default().check(system, model, limits, &mut |_| {})
}

/// Finds all final states of a system under a model.
pub fn outcomes(system: &System, model: MemoryModel, limits: &Limits) -> Outcomes {
    weir_engine::explicit::outcomes(system, model, limits, &mut |_| {})
}
