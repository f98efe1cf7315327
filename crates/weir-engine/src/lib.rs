//! Engines, which decide properties, and their building blocks.
//!
//! An engine sees a [`System`](weir_model::system::System), questions about it and a
//! [`MemoryModel`](weir_model::memory_model::MemoryModel), never a syntax, and
//! returns [`Answer`](weir_model::answer::Answer)s. What all engines have in common is
//! [`Engine`]; they do not know of one another. The tests pass every run that an engine
//! returns to `weir-check`.
//!
//! ```
//! use weir_engine::{Engine, SearchOptions, Task, Views};
//! use weir_model::answer::Verdict;
//! use weir_model::ids::{SpanId, VarId};
//! use weir_model::memory_model::MemoryModel;
//! use weir_model::program::{Atom, Decl, Expr, Program};
//! use weir_model::question::Question;
//! use weir_model::system::System;
//!
//! // One variable, which nobody writes: it is never true.
//! let vars = vec![Decl::scalar("x", 0, SpanId::NONE)];
//! let system = System::new(Program { vars, ..Program::default() })?;
//! let questions = [Question::never("unwritten", Expr::Atom(Atom::Var(VarId(0))))];
//! let options = SearchOptions::default();
//! let task = Task { questions: &questions, ..Task::new(&system, MemoryModel::TSO, &options) };
//! let (answers, _) = Views.check(task, &mut |_| {}).unwrap();
//! assert_eq!(answers[0].verdict, Verdict::Holds);
//! # Ok::<(), weir_model::system::BuildError>(())
//! ```

pub mod ahead;
pub mod automata;
pub mod backward;
mod concrete;
mod engine;
pub mod explicit;
pub mod graph;
pub mod guided;
pub mod reachable;
pub mod robust;
mod stats;
pub mod store;
pub mod views;
pub mod wsts;

pub use automata::Automata;
pub use backward::Backward;
pub use engine::{Engine, Refusal, Sink, Task};
pub use explicit::Explicit;
pub use explicit::shared::Expansion;
pub use stats::{Progress, SearchOptions, Stats, blame};
pub use views::Views;
