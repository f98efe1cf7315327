//! Engines, which decide properties, and their building blocks.
//!
//! An engine sees a [`System`](weir_model::system::System) and a
//! [`MemoryModel`](weir_model::memory_model::MemoryModel), never a syntax, and returns
//! [`Answer`](weir_model::answer::Answer)s. Engines are independent of each other; they
//! meet in the [`portfolio`]. The tests pass every run that an engine returns to
//! `weir-check`.

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
