//! Why an answer is believed: checks runs against the definition of the memory
//! model, and inductive sets against every step.
//!
//! This crate knows programs, systems and memory models, and nothing of the
//! engines or of the operational semantics that they search. A run says in
//! which order operations were issued and took effect; [`replay`] checks that
//! the rewrite rules of the model (Atig et al. 2012, section 3.3) allow it and that every read
//! has the value that memory had at that moment. It is naive on purpose.

pub mod buffers;
pub mod certificate;
mod header;
pub mod lasso;
pub mod replay;
pub mod strategy;
pub mod unblocked;
pub mod upward;
pub mod witness;

pub use certificate::Certificate;
pub use replay::{Rejected, check};
pub use witness::{Witness, check_lines};
