//! Weir: a verifier for concurrent programs on weak memory.
//!
//! Weir reads a program of processes that share variables, takes a memory model (a set of
//! relaxations: SC, TSO, PSO, NSW or any other), and decides for each property of the
//! program whether it *holds*, is *violated*, or is *unknown*, with evidence.
//!
//! A [`Verifier`] has a program and answers questions about it:
//!
//! ```
//! use weir::{MemoryModel, Verdict, Verifier};
//!
//! let text = "
//!     var x, y
//!     process p { reg r   x = 1   r = y }
//!     process q { reg r   y = 1   r = x }
//!     both: final never p.r == 0 and q.r == 0
//! ";
//! let report = Verifier::new(text).model(MemoryModel::TSO).check()?;
//! let both = report.answer("both").unwrap();
//! assert_eq!(both.verdict, Verdict::Violated);
//!
//! // Each process reads the old value while its own write waits in a store buffer.
//! let run = both.run.as_ref().unwrap();
//! let first = &run.steps[0];
//! assert_eq!((first.process.as_str(), first.rule, first.line), ("p", "write", Some(3)));
//! println!("{run}");
//!
//! assert!(Verifier::new(text).model(MemoryModel::SC).check()?.holds());
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! * [`Verifier`] also lists final states, checks infinite runs, and solves games.
//! * [`Report`], [`Answer`] and [`Run`] are data: names, numbers and lines.
//! * [`Limits`] bound time and memory, and cancel a request from another thread.
//! * [`Machine`] is a channel machine.
//! * [`Error`] says why a question cannot be answered. `unknown` is an answer, with its reason.
//!
//! A program without a property is an error.
//!
//! ```
//! let error = weir::Verifier::new("var x  process p { x = 1 }").check().unwrap_err();
//! assert!(error.to_string().contains("has no property; add one, such as"));
//! ```
//!
//! The modules below, and [`parts`], are the building blocks of the program `weir`. To work with
//! systems and engines directly, begin with [`load::Loaded`] and [`ENGINES`].

pub mod bounds;
pub mod certify;
mod engines;
mod error;
pub mod fences;
mod hints;
pub mod live;
pub mod load;
mod machine;
pub mod play;
mod portfolio;
pub mod report;
pub mod robust;
pub mod solver;
mod trace;
pub mod vacuity;
mod verifier;
pub mod walk;

pub use bounds::Bound;
pub use certify::Checked;
pub use engines::{ENGINES, TURNS, automata, engine};
pub use error::Error;
pub use hints::Hints;
pub use load::{LoadError, Loaded, Reading, included};
pub use machine::{Machine, MachineStep, Reached};
pub use solver::CheckError;
pub use trace::{Pending, ProcessState, Run, State, Step};
pub use verifier::{Answer, Game, Outcomes, Report, Verifier};
pub use weir_engine::Engine;
pub use weir_front::{Diagnostic, LANGUAGES, Language, Lowering, Settings};
pub use weir_model::answer::Verdict;
pub use weir_model::game::{Buffers, Fairness, Player};
pub use weir_model::limits::{Cancellation, Limits};
pub use weir_model::memory_model::MemoryModel;
pub use weir_model::program::Objective;

/// The crates that the library is made of.
pub mod parts {
    pub use weir_channel as channel;
    pub use weir_check as check;
    pub use weir_engine as engine;
    pub use weir_front as front;
    pub use weir_game as game;
    pub use weir_live as live;
    pub use weir_model as model;
}
