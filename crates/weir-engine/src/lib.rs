//! Engines, which decide properties, and their building blocks.
//!
//! An engine sees a [`System`](weir_model::system::System), questions about it and a
//! [`MemoryModel`](weir_model::memory_model::MemoryModel), never a syntax, and
//! returns [`Answer`](weir_model::answer::Answer)s. What all engines have in common is
//! [`Engine`]; they do not know of one another. The tests pass every run that an engine
//! returns to `weir-check`.

pub mod ahead;
pub mod automata;
pub mod backward;
mod concrete;
mod engine;
pub mod explicit;
pub mod graph;
pub mod guided;
pub mod reachable;
mod stats;
pub mod store;
pub mod views;
pub mod wsts;

pub use automata::Automata;
pub use backward::Backward;
pub use engine::{Engine, Refusal, Task};
pub use explicit::Explicit;
pub use stats::{Progress, SearchOptions, Stats, blame};
pub use views::Views;
