//! Infinite runs: does every call return, does the program terminate, does it visit a
//! place infinitely often?
//!
//! An object runs under most general clients ([`weir_model::object`]); its properties are
//! the five progress properties of Wang et al. 2021. Programs with processes have `live`
//! properties ([`weir_model::program::Live`]).
//!
//! * Under SC everything is decided on the finite graph of configurations ([`graph`],
//!   [`fair`]): a property is violated by a kind of cycle ([`property`]).
//! * Under TSO obstruction-freedom is decided by [`blocking`] pairs.
//! * Under TSO the rest is undecidable. Violations are searched with buffers up to a
//!   growing bound, and proofs on [`fold`]ed graphs, which over-approximate the runs.
//!
//! ```
//! use weir_live::{Answer, Evidence, Options, Progress, Question, answers};
//! use weir_model::{answer::Verdict, memory_model::MemoryModel, system::System};
//!
//! let text = "
//!     object lock {
//!         var held: bool
//!         method enter { while not cas(held, 0, 1) { }   held = 0 }
//!     }
//! ";
//! let (object, _) = weir_front::weir::read("lock.weir", text).unwrap();
//! let system = System::with_rounds(object.with_clients(2).unwrap()).unwrap();
//! let questions = Progress::ALL.map(Question::Progress);
//! let found = answers(&system, &questions, &Options::new(MemoryModel::SC));
//! let held: Vec<bool> = found.iter().map(|a| a.verdict == Verdict::Holds).collect();
//! // It is deadlock-free, and that is all.
//! assert_eq!(held, [false, false, false, false, true]);
//! ```

pub mod blocking;
pub mod fair;
pub mod fold;
pub mod graph;
mod lasso;
mod ltl;
pub mod property;
mod search;

use weir_engine::{Engine, SearchOptions, Views};
use weir_model::answer::Verdict;
use weir_model::memory_model::MemoryModel;

pub use lasso::Lasso;
pub use property::{Progress, Question};
pub use search::{answers, answers_with, is_supported};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// The memory model: SC or TSO.
    pub model: MemoryModel,
    /// Whether only runs count in which every write reaches memory.
    pub flush_fair: bool,
    /// What decides which states are reachable under TSO.
    pub engine: &'static dyn Engine,
    /// How far to go. The bound is the most that a buffer holds in a search for
    /// cycles, and the highest level of folding.
    pub search: SearchOptions,
}

/// The bound on buffers where none was given.
pub const DEFAULT_BOUND: usize = 4;

impl Options {
    /// A search without limits.
    pub fn new(model: MemoryModel) -> Self {
        Self { model, flush_fair: false, engine: &Views, search: SearchOptions::default() }
    }
}

/// What became of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer.
    pub verdict: Verdict,
    /// What shows it.
    pub evidence: Evidence,
}

/// What shows an answer.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// An infinite run: a stem and a cycle.
    Lasso(Lasso),
    /// All runs were searched, and none gives the opposite verdict.
    Exhausted(Seen),
    /// No run of the folded graph gives the opposite verdict. All runs of the program are among
    /// them.
    Folded {
        /// How many of the oldest writes of a buffer were told apart.
        level: usize,
        /// The graph.
        seen: Seen,
    },
    /// No blocking pair is reachable.
    Unblocked(blocking::Unblocked),
    /// Why there is no answer: what was tried, and how far.
    Reason(String),
}

/// The size of the searched graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Configurations.
    pub nodes: usize,
    /// Steps.
    pub edges: usize,
}
