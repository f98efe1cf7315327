//! Litmus tests from cycles, as diy makes them (Alglave et al. 2014).
//!
//! A cycle is a sequence of edges, each of which is a reason why one access comes before
//! the next. Under SC no cycle is possible. A weaker model allows it if it does not
//! guarantee one of the edges, so a cycle gives a test.
//!
//! | edge | from, to |
//! | --- | --- |
//! | `Rfe`, `Rfi` | a write, a read that sees it |
//! | `Fre`, `Fri` | a read, a write that it does not see yet |
//! | `Coe`, `Coi` | a write, a later one to the same location; `Wse`, `Wsi` are the same |
//! | `PodWR` | two accesses of a thread to different locations, here a write and a read |
//! | `PosWR` | the same, to one location |
//! | `MFencedWR`, `MFencesWR` | with `MFENCE` between them |
//! | `SFencedWW`, `SFencesWW` | with `SFENCE` between them |
//! | `LFencedRR`, `LFencesRR` | with `LFENCE` between them |
//!
//! `e` is for two threads and `i` for one. A write may be atomic, which is an `XCHG`.
//! Two letters at the end of an edge say so, `P` for plain and `A` for atomic:
//! `PodWRAP` is an atomic write and a plain read. Of the two edges that meet at a
//! write it is enough if one says it.
//!
//! [`Cycle`] is one cycle, [`family`] enumerates cycles. The steps, one file each: `edge`
//! and `cycle` define cycles, `name` names them, `values` computes the values that
//! accesses write and read, `print` prints the test.
//!
//! ```
//! use weir_front::litmus::generate::Cycle;
//!
//! let cycle: Cycle = "PodWR Fre PodWR Fre".parse().unwrap();
//! assert_eq!(cycle.name(), "SB");
//! let (program, _) = weir_front::litmus::read("SB.litmus", &cycle.text()).unwrap();
//! assert_eq!(program.name, "SB");
//! ```

mod cycle;
mod edge;
mod error;
mod family;
mod name;
mod print;
mod values;

pub use cycle::Cycle;
pub use edge::{Access, Barrier, Direction, Edge, Link, Place, Scope};
pub use error::GenerateError;
pub use family::{Filling, family};

/// The most edges that a cycle may have: each has a letter for its location.
pub const MAX_EDGES: usize = 26;

/// The most threads that a cycle may have.
pub const MAX_THREADS: usize = 8;

/// The registers that a thread of a test may use.
const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];
