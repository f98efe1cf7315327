//! How questions are decided: engines and what they are built from.
//!
//! An engine sees a [`System`](weir_model::system::System) and a
//! [`Semantics`](weir_model::semantics::Semantics), never a syntax, and returns
//! [`Answer`](weir_model::answer::Answer)s. The tests pass every run that an
//! engine returns to `weir-check`.

pub mod explicit;
pub mod store;
pub mod views;
