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
//! let (answers, _) = weir::check(&loaded.system, MemoryModel::SC, &Limits::default()).unwrap();
//! assert_eq!(answers[0].verdict, Verdict::Holds);
//!
//! let (answers, _) = weir::check(&loaded.system, MemoryModel::TSO, &Limits::default()).unwrap();
//! assert_eq!(answers[0].verdict, Verdict::Violated);
//! ```
//!
//! No answer is no success: a program without a property is an error.
//!
//! ```
//! # use weir::{Limits, Loaded, MemoryModel};
//! let loaded = Loaded::from_text("p.weir", "var x  process p { x = 1 }", None).unwrap();
//! let error = weir::check(&loaded.system, MemoryModel::SC, &Limits::default()).unwrap_err();
//! assert!(error.to_string().starts_with("`p` has no property; add one, such as"));
//! ```

pub mod bounds;
pub mod certify;
pub mod load;
pub mod report;
mod solver;
mod vacuity;

pub use bounds::Bound;
pub use load::{LoadError, Loaded, Reading};
pub use solver::{CheckError, Solver};
pub use vacuity::vacuous;
pub use weir_check::{Certificate, Witness};
pub use weir_engine::explicit::Outcomes;
pub use weir_engine::{Engine, Limits, Stats};
pub use weir_front::Language;
pub use weir_model::answer::{Answer, Evidence, Run, Verdict};
pub use weir_model::limits::{Budget, Stop};
pub use weir_model::memory_model::MemoryModel;
pub use weir_model::system::System;

/// Answers every property of a system's program under a model: there is one answer for
/// each, in their order.
///
/// # Errors
/// If the program has no property.
pub fn check(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
) -> Result<(Vec<Answer>, Stats), CheckError> {
    Solver::default().check(system, model, limits, &mut |_| {})
}

/// Finds all final states of a system under a model.
///
/// # Errors
/// If the program is an object, which has no final states.
pub fn outcomes(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: &mut dyn FnMut(&Stats),
) -> Result<Outcomes, CheckError> {
    let program = &system.program;
    match program.object.as_ref().and_then(|_| CheckError::no_processes(&program.name, program)) {
        Some(error) => Err(error),
        None => Ok(weir_engine::explicit::outcomes(system, model, limits, progress)),
    }
}
