//! How questions are decided: engines and what they are built from.
//!
//! An engine sees a [`System`](weir_model::system::System) and a
//! [`MemoryModel`](weir_model::memory_model::MemoryModel), never a syntax, and
//! returns [`Answer`](weir_model::answer::Answer)s. Engines do not know of one
//! another; they meet in the [`portfolio`]. The tests pass every run that an
//! engine returns to `weir-check`.

pub mod ahead;
pub mod automata;
pub mod backward;
mod concrete;
pub mod explicit;
pub mod graph;
pub mod guided;
pub mod portfolio;
mod stats;
pub mod store;
pub mod views;
pub mod wsts;

pub use portfolio::{Engine, check, respect_bounds};
pub use stats::{Limits, Progress, Stats, blame, unknown_all};
