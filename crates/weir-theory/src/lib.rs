//! Reductions of the theory: machines, programs and games that simulate each other.
//!
//! The verifier does not need them to answer a question about a program. They show how hard the
//! questions are: each translates the instances of a problem to those of another, such that an
//! answer to the one is an answer to the other.
//!
//! * [`basic`] translates any channel machine to a basic one (Atig et al. 2010, Proposition 1).
//! * [`program`] translates lossy channel machines to programs under TSO and PSO (section 7
//!   there).
//! * [`empty`] reduces reachability with arbitrary buffers to reachability with empty ones
//!   (section 3.4 there).
//! * [`pcp`] translates Post's correspondence problem to programs (section 9.1 there).
//! * [`cpcp`] translates the cyclic problem to machines and libraries (Wang et al. 2021,
//!   section 4).
//! * [`reduce`] translates perfect channel systems to games with fairness (Spengler 2024,
//!   sections 7 and 8).
//!
//! ```
//! use weir_channel::text;
//! use weir_model::limits::Budget;
//! use weir_theory::{basic::basic, program::program};
//!
//! // A guard tests that the channel is empty.
//! let machine = text::read("
//!     machine guarded;  messages a;  channels c;  states s, t;  initial s;
//!     s -> t when c empty do c!a;
//! ").unwrap();
//! // Only a basic machine has a program; the basic form rotates the channel instead.
//! assert!(program(&machine, &[]).is_err());
//! let simple = basic(&machine, &Budget::new()).unwrap();
//! assert!(program(&simple, &[]).is_ok());
//! ```

pub mod basic;
mod code;
pub mod cpcp;
pub mod empty;
pub mod pcp;
pub mod program;
pub mod reduce;
