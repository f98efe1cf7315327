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
//! let both = report.finding("both").unwrap();
//! assert_eq!(both.verdict, Verdict::Violated);
//!
//! // Each process reads the old value while its own write waits in a store buffer.
//! let run = both.run().unwrap();
//! let first = &run.steps[0];
//! assert_eq!((first.process.as_str(), first.rule, first.line), ("p", "write", Some(3)));
//! println!("{run}");
//!
//! assert!(Verifier::new(text).model(MemoryModel::SC).check()?.holds());
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! Every question gives a [`Report`] with [`Finding`]s: a claim, its verdict, and what shows it. There are six kinds
//! of [questions](question):
//!
//! ```
//! use weir::question::{Listed, Repaired};
//! # let text = "
//! #     var x, y
//! #     process p { reg r   x = 1   r = y }
//! #     process q { reg r   y = 1   r = x }
//! #     both: final never p.r == 0 and q.r == 0
//! # ";
//! let verifier = weir::Verifier::new(text).name("sb.weir");
//!
//! // All final states.
//! let report = verifier.outcomes()?;
//! let states = report.findings[0].basis::<Listed>().unwrap();
//! assert_eq!(states.states().count(), 4);
//!
//! // Fences that repair the program.
//! let report = verifier.fences()?;
//! assert_eq!(report.findings[0].word(), "2 fences repair this; there is one minimal set");
//! let repaired = report.findings[0].basis::<Repaired>().unwrap();
//! assert!(repaired.text().unwrap().contains("x = 1   fence"));
//!
//! // Whether TSO adds anything to sequential consistency.
//! assert_eq!(verifier.robust()?.findings[0].word(), "not robust");
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! A violated property has a run, and one that holds can have a proof. Both are files that independent code
//! checks:
//!
//! ```
//! let text = "var x: 0..1  process p { loop { x = 1 - x } }  low: always x < 2";
//! let verifier = weir::Verifier::new(text).proofs(true);
//! let report = verifier.check()?;
//! let proof = report.proof(&verifier.budget()).unwrap().unwrap();
//! assert!(verifier.certify(&proof.text)?.reason.is_none());
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! [`Verifier::ask`] hands findings over one by one as they are settled, and tells how far a search has got:
//!
//! ```
//! use std::sync::Mutex;
//! use weir::question::Properties;
//! use weir::{Event, Verifier};
//!
//! let settled = Mutex::new(Vec::new());
//! let text = "var x  process p { x = 1 }  a: never x == 1  b: never x == 2";
//! Verifier::new(text).ask(&Properties::default(), &|event| {
//!     if let Event::Found(_, finding) = event {
//!         settled.lock().unwrap().push(finding.name().to_owned());
//!     }
//! })?;
//! assert!(settled.into_inner().unwrap().contains(&"a".to_owned()));
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! * [`Report`], [`Finding`] and [`Run`] are data: names, numbers and lines.
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
mod compile;
mod database;
mod engines;
mod error;
pub mod fences;
pub mod finding;
mod hints;
pub mod live;
pub mod load;
mod machine;
pub mod package;
pub mod play;
mod portfolio;
pub mod question;
pub mod report;
pub mod robust;
pub mod solver;
mod trace;
pub mod vacuity;
mod verifier;
pub mod walk;

pub use bounds::Bound;
pub use certify::Checked;
pub use compile::compile;
pub use engines::{ENGINES, TURNS, automata, engine};
pub use error::Error;
pub use finding::{Event, Evidence, Finding, Proof, Question, Report};
pub use hints::Hints;
pub use load::{LoadError, Loaded, Reading, included, usual_model};
pub use machine::{Machine, MachineStep};
pub use trace::{Pending, ProcessState, Run, State, Step};
pub use verifier::Verifier;
pub use weir_check::Claim;
pub use weir_engine::Engine;
pub use weir_front::{
    CompilerSettings, Diagnostic, LANGUAGES, Language, Lowering, PackageSettings, Settings,
};
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
    pub use weir_theory as theory;
}
