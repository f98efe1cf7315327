//! Checkers: runs are checked against the definition of the memory model, and inductive
//! sets against every step.
//!
//! This crate uses programs, systems and memory models, and neither engines nor the
//! operational semantics that they search. A run contains the order in which operations
//! were issued and took effect; [`replay`] checks that the rewrite rules of the model
//! (Atig et al. 2012, section 3.3) allow it and that every read returns the value that
//! memory had at that moment. The code is simple and slow on purpose.
//!
//! ```
//! use weir_check::{Witness, check};
//! use weir_model::answer::{Run, Snapshot};
//! use weir_model::ids::QuestionId;
//! use weir_model::{memory_model::MemoryModel, semantics::Form, system::System};
//!
//! let text = "var x  process p { x = 1 }  never x == 0";
//! let (program, _) = weir_front::read("begins.weir", text, None).unwrap();
//! let system = System::new(program)?;
//! // The run without steps ends where `x` is 0.
//! let (model, form, bound) = (MemoryModel::SC, Form::Sc, 1);
//! let semantics = form.semantics(&system, model, bound);
//! let start = Snapshot::new(&*semantics, &semantics.initial().next().unwrap());
//! let run = Run { model, form, bound, start, steps: vec![] };
//! let mut witness = Witness::new(&system, &run, QuestionId(0), &|_| 1);
//! assert!(check(&system, &witness).is_ok());
//! witness.end.memory.insert("x".to_owned(), 1);
//! assert!(check(&system, &witness).is_err());
//! # Ok::<(), weir_model::system::BuildError>(())
//! ```

pub mod buffers;
pub mod certificate;
pub mod claim;
pub mod closed;
pub mod evidence;
mod execution;
pub mod header;
pub mod lasso;
pub mod live_set;
pub mod ltl;
mod rejected;
pub mod replay;
pub mod robust;
pub mod sha256;
pub mod shards;
pub mod store_buffers;
pub mod strategy;
mod truth;
pub mod unblocked;
pub mod upward;
pub mod witness;

pub use certificate::Certificate;
pub use claim::{Claim, Claims};
pub use evidence::{Checked, Evidence, KINDS, Kind, Subject, certify};
pub use execution::{race, synchronizations};
pub use header::Header;
pub use rejected::Rejected;
pub use replay::check;
pub use witness::{Witness, check_lines};
