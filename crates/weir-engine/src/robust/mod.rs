//! Robustness: whether a memory model adds anything to SC.
//!
//! Two notions, of which the first implies the second:
//!
//! * *Traces* (Shasha and Snir 1988). The trace of a run is the graph of its accesses with program
//!   order, the order of writes to each variable, reads-from and from-reads. A program is robust
//!   if every run has the trace of some SC run, which is so if no trace has a cycle.
//! * *States*. Every joint control state, registers included, that is reachable under the model
//!   is reachable under SC, and so is every final memory.
//!
//! [`shape`] decides traces by the code alone, where that is enough. [`attack`] decides them under
//! TSO by searches under SC. For states, the questions are those of [`JointStates`], and any engine
//! may answer them.
//!
//! An atomic operation that leaves its variable as it was, such as a compare-and-swap that
//! fails, counts as a read: it has the same effect as a full fence and a read. The rounds of an
//! `await` that wait are no accesses of a run; the round that ends it is.
//!
//! [`JointStates`]: weir_model::question::JointStates

pub mod attack;
pub mod shape;

use weir_model::ids::VarId;
use weir_model::system::Op;

/// The variable that an operation accesses, and whether the operation changes it.
pub(crate) fn access(op: Op) -> Option<(VarId, bool)> {
    match op {
        Op::Read(x, _) => Some((x, false)),
        Op::Write(x, _) => Some((x, true)),
        Op::Arw(x, d, e) => Some((x, d != e)),
        Op::Nop | Op::Fence(_) => None,
    }
}
