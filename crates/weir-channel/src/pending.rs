//! What a process may have in its buffers, by control state.
//!
//! The translations omit transitions that can never be taken. In a forward search that
//! saves little; in a backward search it avoids following writes that no process issued.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op, Transition};

use crate::ids::ChannelId;

/// What a fixpoint computes for each control state.
trait Join: Clone {
    /// Adds another one, and says whether that changes anything.
    fn join(&mut self, other: Self) -> bool;

    /// How much work it is to copy it and add it to another one.
    fn work(&self) -> usize;
}

impl<T: Clone + Ord> Join for BTreeSet<T> {
    fn join(&mut self, mut other: Self) -> bool {
        let before = self.len();
        self.append(&mut other);
        self.len() > before
    }

    fn work(&self) -> usize {
        1 + self.len() / 16
    }
}

/// The maximum of each cell.
impl<T: Copy + Ord> Join for Vec<T> {
    fn join(&mut self, other: Self) -> bool {
        let mut changed = false;
        for (known, other) in self.iter_mut().zip(other) {
            changed |= other > *known;
            *known = other.max(*known);
        }
        changed
    }

    fn work(&self) -> usize {
        1 + self.len() / 64
    }
}

/// In which direction values pass through transitions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forward,
    Backward,
}

/// The least fixpoint: each control state has `least`, and what comes through each transition
/// of the process, changed by `step`. Nothing passes a full fence or an atomic read-write.
fn fixpoint<T: Join>(
    (system, process): (Expanded<'_>, ProcessId),
    pass: Pass,
    least: T,
    step: impl Fn(&Transition, &mut T),
    budget: &Budget,
) -> Result<Vec<T>, Stop> {
    let mut all = vec![least; system.state_count(process)];
    let mut changed = true;
    while changed {
        changed = false;
        for t in system.all_transitions(process) {
            if matches!(t.op, Op::Arw(..) | Op::Fence(FenceKind::Full)) {
                continue;
            }
            let (from, to) = match pass {
                Pass::Forward => (t.from, t.to),
                Pass::Backward => (t.to, t.from),
            };
            budget.work(all[from.index()].work())?;
            let mut passed = all[from.index()].clone();
            step(t, &mut passed);
            changed |= all[to.index()].join(passed);
        }
    }
    Ok(all)
}

/// For each control state of a process, the reads and writes that it can have issued
/// since its last full fence or atomic read-write.
pub(crate) fn pending(
    system: Expanded<'_>,
    process: ProcessId,
    budget: &Budget,
) -> Result<Vec<BTreeSet<Op>>, Stop> {
    let step = |t: &Transition, issued: &mut BTreeSet<Op>| {
        if matches!(t.op, Op::Read(..) | Op::Write(..)) {
            issued.insert(t.op);
        }
    };
    fixpoint((system, process), Pass::Forward, BTreeSet::new(), step, budget)
}

/// For each control state of a process and each variable, the most reads and writes of it that the
/// process can have issued since its last full fence or atomic read-write. `None` if a loop makes
/// that unbounded.
pub(crate) fn room(
    system: Expanded<'_>,
    process: ProcessId,
    budget: &Budget,
) -> Result<Vec<Vec<Option<usize>>>, Stop> {
    /// A process in a loop exceeds every number: larger counts are unbounded.
    const MANY: usize = 16;
    // Twice: at the end there is a second table.
    let cells = system.state_count(process).saturating_mul(system.vars.len() + 4);
    budget.check_room(cells.saturating_mul(8 + 16))?;
    let step = |t: &Transition, counts: &mut Vec<usize>| {
        if let Op::Read(x, _) | Op::Write(x, _) = t.op {
            counts[x.index()] = (counts[x.index()] + 1).min(MANY);
        }
    };
    let none = vec![0; system.vars.len()];
    let all = fixpoint((system, process), Pass::Forward, none, step, budget)?;
    let known = |n: usize| (n < MANY).then_some(n);
    Ok(all.into_iter().map(|of| of.into_iter().map(known).collect()).collect())
}

/// The room in channels of processes and variables at some control states, in the order
/// of the channels. PSO and its like have those.
pub(crate) fn room_of_channels(
    room: &[Vec<Vec<Option<usize>>>],
    controls: &[StateId],
    channels: &HashMap<(ProcessId, VarId), ChannelId>,
) -> Vec<Option<usize>> {
    let mut all = vec![None; channels.len()];
    for ((p, x), channel) in channels {
        let at = controls[p.index()].index();
        all[channel.index()] = room[p.index()][at][x.index()];
    }
    all
}

/// For each control state of a process, the variables that it can read from there on before
/// its next full fence or atomic read-write.
pub(crate) fn readable(
    system: Expanded<'_>,
    process: ProcessId,
    budget: &Budget,
) -> Result<Vec<Vec<bool>>, Stop> {
    let cells = system.state_count(process).saturating_mul(system.vars.len() + 24);
    budget.check_room(cells)?;
    let step = |t: &Transition, ahead: &mut Vec<bool>| {
        if let Op::Read(x, _) = t.op {
            ahead[x.index()] = true;
        }
    };
    fixpoint((system, process), Pass::Backward, vec![false; system.vars.len()], step, budget)
}

/// For each control state of a process, the own writes that it can have issued since its last
/// full fence or atomic read-write, of those whose variable was `readable` after the write.
pub(crate) fn strong(
    system: Expanded<'_>,
    process: ProcessId,
    readable: &[Vec<bool>],
    budget: &Budget,
) -> Result<Vec<BTreeSet<(VarId, ValueId)>>, Stop> {
    let step = |t: &Transition, issued: &mut BTreeSet<(VarId, ValueId)>| match t.op {
        Op::Write(x, d) if readable[t.to.index()][x.index()] => {
            issued.insert((x, d));
        }
        _ => {}
    };
    fixpoint((system, process), Pass::Forward, BTreeSet::new(), step, budget)
}
