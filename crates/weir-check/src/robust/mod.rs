//! Evidence about robustness (Bouajjani et al. 2013): whether a memory model adds
//! anything to SC.
//!
//! [`trace`] is the definition of traces. [`cycle`] is a run whose trace has a cycle, [`sets`]
//! shows that no run under TSO has one. [`states`] compares the states of a model with those of SC,
//! which [`sc`] lists.

pub mod cycle;
pub mod sc;
pub mod sets;
pub mod states;
pub mod trace;

pub use cycle::Cycle;
pub use sets::RobustSets;
pub use states::StateSets;

/// What such evidence settles, where other evidence settles a property of the program.
pub const NAME: &str = "robust";
