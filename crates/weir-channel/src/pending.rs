//! What a process may have in its buffers, by control state.
//!
//! The translations omit transitions that can never be taken. In a forward search that
//! saves little; in a backward search it avoids following writes that no process issued.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op};

use crate::ids::ChannelId;

/// For each control state of a process, the reads and writes that it can have issued
/// since its last full fence or atomic read-write.
pub(crate) fn pending(
    system: Expanded<'_>,
    process: ProcessId,
    budget: &Budget,
) -> Result<Vec<BTreeSet<Op>>, Stop> {
    let mut all = vec![BTreeSet::new(); system.state_count(process)];
    let mut changed = true;
    while changed {
        changed = false;
        for t in system.all_transitions(process) {
            budget.work(1 + all[t.from.index()].len() / 16)?;
            let mut after = match t.op {
                Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
                _ => all[t.from.index()].clone(),
            };
            if matches!(t.op, Op::Read(..) | Op::Write(..)) {
                after.insert(t.op);
            }
            let known = &mut all[t.to.index()];
            let before = known.len();
            known.append(&mut after);
            changed |= known.len() > before;
        }
    }
    Ok(all)
}

/// For each control state of a process and each variable, the most reads and writes of
/// it that the process can have issued since its last full fence or atomic read-write.
/// `None` if there is no telling, because of a loop.
pub(crate) fn room(
    system: Expanded<'_>,
    process: ProcessId,
    budget: &Budget,
) -> Result<Vec<Vec<Option<usize>>>, Stop> {
    /// A process that goes round a loop comes past every number.
    const MANY: usize = 16;
    // Twice: at the end there is a second table.
    let cells = system.state_count(process).saturating_mul(system.vars.len() + 4);
    budget.check_room(cells.saturating_mul(8 + 16))?;
    let mut all = vec![vec![0; system.vars.len()]; system.state_count(process)];
    let mut changed = true;
    while changed {
        changed = false;
        for t in system.all_transitions(process) {
            if matches!(t.op, Op::Arw(..) | Op::Fence(FenceKind::Full)) {
                continue;
            }
            budget.work(1 + system.vars.len() / 64)?;
            let mut after = all[t.from.index()].clone();
            if let Op::Read(x, _) | Op::Write(x, _) = t.op {
                after[x.index()] = (after[x.index()] + 1).min(MANY);
            }
            for (known, after) in all[t.to.index()].iter_mut().zip(after) {
                changed |= after > *known;
                *known = after.max(*known);
            }
        }
    }
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
    let mut all = vec![vec![false; system.vars.len()]; system.state_count(process)];
    let mut changed = true;
    while changed {
        changed = false;
        for t in system.all_transitions(process) {
            if matches!(t.op, Op::Arw(..) | Op::Fence(FenceKind::Full)) {
                continue;
            }
            budget.work(1 + system.vars.len() / 64)?;
            let mut ahead = all[t.to.index()].clone();
            if let Op::Read(x, _) = t.op {
                ahead[x.index()] = true;
            }
            for (known, ahead) in all[t.from.index()].iter_mut().zip(ahead) {
                changed |= ahead && !*known;
                *known |= ahead;
            }
        }
    }
    Ok(all)
}

/// For each control state of a process, the own writes that it can have issued since its last
/// full fence or atomic read-write, of those whose variable was `readable` after the write.
pub(crate) fn strong(
    system: Expanded<'_>,
    process: ProcessId,
    readable: &[Vec<bool>],
    budget: &Budget,
) -> Result<Vec<BTreeSet<(VarId, ValueId)>>, Stop> {
    let mut all = vec![BTreeSet::new(); system.state_count(process)];
    let mut changed = true;
    while changed {
        changed = false;
        for t in system.all_transitions(process) {
            budget.work(1 + all[t.from.index()].len() / 16)?;
            let mut after = match t.op {
                Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
                _ => all[t.from.index()].clone(),
            };
            match t.op {
                Op::Write(x, d) if readable[t.to.index()][x.index()] => {
                    after.insert((x, d));
                }
                _ => {}
            }
            let known = &mut all[t.to.index()];
            let before = known.len();
            known.append(&mut after);
            changed |= known.len() > before;
        }
    }
    Ok(all)
}
