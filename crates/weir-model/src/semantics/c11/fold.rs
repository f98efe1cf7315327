//! An over-approximation with finitely many configurations, for programs whose writes pile up without end.
//!
//! The machine keeps every write that somebody may still read and every `seq_cst` operation that may still be part of a
//! cycle. Where a process is not scheduled for long, both grow. So only so many are kept exactly:
//!
//! * *Messages.* The oldest message of a location that has too many is folded: its value is added to a set, its place in the
//!   modification order and its view are forgotten. A process that may still read it has the key 0 there. It may read any
//!   value of the set, as often as it likes, and synchronizes with nobody by it. What it writes there is added to the set. Only
//!   whether an atomic read-write may read such a value is kept: not if one has read every folded message that has it.
//! * *Operations.* The oldest node of a process that has too many is removed. What comes before it still comes before
//!   what comes after it.
//!
//! Both forget reasons why a step cannot be taken and why two accesses are ordered, and add none: a smaller view
//! allows more steps and more races, a missing edge closes no cycle, and the key 0 is smaller than that of every message that
//! is kept, as it was before. So every run of the machine is one of the folded machine, with the same control
//! states and the same newest values. What the folded machine does not reach, the machine does not reach.
//!
//! *Deadlocks.* A process that is stuck in the machine stays so whatever it reads, and so does one that reads the
//! newest message each time, which it always may: such a read comes after all accesses of its location, so it closes no
//! cycle. The newest values are the same in the folded machine. There a process counts as stuck if it is as long as it reads the
//! newest messages.
//!
//! With sets of values that are finite, so are the configurations, and the search ends. Nothing is known of a run that it
//! finds; more messages and operations may exclude it.

use super::state::State;
use crate::ids::{ValueId, VarId};

/// How much is kept exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Messages of each location.
    messages: usize,
    /// `seq_cst` operations of each process.
    operations: usize,
}

/// The choice of a folded message, instead of its position.
pub(super) const FOLDED: usize = usize::MAX;

impl Fold {
    /// The steps of precision: 1 is the coarsest.
    pub fn of(level: usize) -> Self {
        Self { messages: level.max(1), operations: (2 * level).clamp(2, 6) }
    }

    /// Folds what is more than is kept.
    pub fn fold(self, state: &mut State) {
        for x in 0..state.messages.len() {
            while state.messages[x].len() > self.messages {
                state.fold_message(x);
            }
        }
        for process in 0..state.threads.len() {
            let own = |state: &State| {
                let is_own = |n: &usize| state.nodes[*n].process as usize == process;
                let mut nodes = (0..state.nodes.len()).filter(is_own);
                let first = nodes.next();
                first.filter(|_| nodes.count() >= self.operations)
            };
            while let Some(oldest) = own(state) {
                state.bridge_node(oldest);
            }
        }
    }
}

impl State {
    /// Folds the oldest message of a location.
    fn fold_message(&mut self, x: usize) {
        let value = self.messages[x][0].value;
        let is_free = self.messages[x].get(1).is_none_or(|next| !next.is_glued);
        self.add_folded(x, value, is_free);
        self.drop_messages(x, 1);
    }

    /// Adds a value to those of folded messages.
    pub fn add_folded(&mut self, x: usize, value: ValueId, is_free: bool) {
        match self.folded[x].binary_search_by_key(&value.0, |(v, _)| v.0) {
            Ok(at) => self.folded[x][at].1 |= is_free,
            Err(at) => self.folded[x].insert(at, (value, is_free)),
        }
    }

    /// Whether a process may read the folded messages of a location.
    pub fn reads_folded(&self, process: usize, x: usize) -> bool {
        !self.folded[x].is_empty() && self.threads[process].cur.keys[x] == 0
    }

    /// The values of folded messages that a process may read.
    pub fn folded_for(&self, process: usize, var: VarId) -> &[(ValueId, bool)] {
        match self.reads_folded(process, var.index()) {
            true => &self.folded[var.index()],
            false => &[],
        }
    }
}
