//! What lies ahead of and behind a control state, up to the next fence.

use weir_model::ids::{ProcessId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::FenceKind;
use weir_model::system::{Op, System};

/// For each control state, whether something is so of each variable.
pub type ByState = Vec<Box<[bool]>>;

/// Which way to look from a control state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Ahead,
    Behind,
}

/// For each control state, the variables of which some operation lies ahead or
/// behind that `concerns` them, with nothing between that `stops`.
fn spread(
    system: &System,
    process: ProcessId,
    look: Look,
    concerns: impl Fn(Op, VarId) -> bool,
    stops: impl Fn(Op) -> bool,
    budget: &Budget,
) -> Result<ByState, Stop> {
    let automaton = &system.processes[process.index()];
    budget.check_room(automaton.states.len().saturating_mul(system.vars.len() + 32))?;
    let mut all = vec![vec![false; system.vars.len()].into_boxed_slice(); automaton.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for t in automaton.transitions.iter().rev().filter(|t| !stops(t.op)) {
            budget.work(1 + system.vars.len() / 64)?;
            let (here, beyond) = match look {
                Look::Ahead => (t.from, t.to),
                Look::Behind => (t.to, t.from),
            };
            let beyond = all[beyond.index()].clone();
            for (x, here) in all[here.index()].iter_mut().enumerate() {
                let found = beyond[x] || concerns(t.op, VarId::new(x));
                changed |= found && !*here;
                *here |= found;
            }
        }
    }
    Ok(all)
}

fn is_full(op: Op) -> bool {
    matches!(op, Op::Arw(..) | Op::Fence(FenceKind::Full))
}

/// Whether an operation needs that no write of its process waits.
fn empties_stores(op: Op, partial_fences: bool) -> bool {
    is_full(op) || partial_fences && op == Op::Fence(FenceKind::Write)
}

/// For each control state, the variables that can be read from there on before
/// the next full fence or atomic read-write.
///
/// # Errors
/// If a limit is reached.
pub fn readable(system: &System, process: ProcessId, budget: &Budget) -> Result<ByState, Stop> {
    let reads = |op, x| matches!(op, Op::Read(y, _) if y == x);
    spread(system, process, Look::Ahead, reads, is_full, budget)
}

/// For each control state, the variables of which a waiting write may yet be
/// overtaken: some other variable can be written before a fence that would need
/// the write to have left.
pub(crate) fn overtakes(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
    budget: &Budget,
) -> Result<ByState, Stop> {
    let writes_other = |op, x| matches!(op, Op::Write(y, _) if y != x);
    let stops = |op| empties_stores(op, partial_fences);
    spread(system, process, Look::Ahead, writes_other, stops, budget)
}

/// For each control state, the variables that may have been written since the
/// last full fence.
pub(crate) fn unseen(
    system: &System,
    process: ProcessId,
    budget: &Budget,
) -> Result<ByState, Stop> {
    let writes = |op, x| matches!(op, Op::Write(y, _) if y == x);
    spread(system, process, Look::Behind, writes, is_full, budget)
}

/// For each control state, the variables of which a write may be waiting there.
pub(crate) fn waiting(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
    budget: &Budget,
) -> Result<ByState, Stop> {
    let writes = |op, x| matches!(op, Op::Write(y, _) if y == x);
    let stops = |op| empties_stores(op, partial_fences);
    spread(system, process, Look::Behind, writes, stops, budget)
}
