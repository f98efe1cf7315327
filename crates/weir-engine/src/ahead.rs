//! What lies before and behind a control state, up to the next fence.

use weir_model::ids::ProcessId;
use weir_model::program::FenceKind;
use weir_model::system::{Op, System};

/// For each control state, the variables that can be read from there on before
/// the next full fence or atomic read-write.
pub(crate) fn readable(system: &System, process: ProcessId) -> Vec<Box<[bool]>> {
    let automaton = &system.processes[process.index()];
    let mut masks = vec![vec![false; system.vars.len()]; automaton.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for t in automaton.transitions.iter().rev() {
            let beyond = match t.op {
                Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
                _ => masks[t.to.index()].clone(),
            };
            let mask = &mut masks[t.from.index()];
            let before = mask.clone();
            mask.iter_mut().zip(beyond).for_each(|(m, b)| *m |= b);
            if let Op::Read(x, _) = t.op {
                mask[x.index()] = true;
            }
            changed |= before != *mask;
        }
    }
    masks.into_iter().map(Into::into).collect()
}

/// Whether an operation needs that no write of its process waits.
fn empties_stores(op: Op, partial_fences: bool) -> bool {
    match op {
        Op::Arw(..) | Op::Fence(FenceKind::Full) => true,
        Op::Fence(FenceKind::Write) => partial_fences,
        _ => false,
    }
}

/// For each control state, the variables of which a waiting write may yet be
/// overtaken: some other variable can be written before a fence that would need
/// the write to have left.
pub(crate) fn overtakes(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
) -> Vec<Box<[bool]>> {
    let automaton = &system.processes[process.index()];
    let mut all = vec![vec![false; system.vars.len()]; automaton.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for t in automaton.transitions.iter().rev() {
            if empties_stores(t.op, partial_fences) {
                continue;
            }
            let beyond = all[t.to.index()].clone();
            let here = &mut all[t.from.index()];
            for (x, beyond) in beyond.into_iter().enumerate() {
                let by_this = matches!(t.op, Op::Write(y, _) if y.index() != x);
                changed |= !here[x] && (beyond || by_this);
                here[x] |= beyond || by_this;
            }
        }
    }
    all.into_iter().map(Into::into).collect()
}

/// For each control state, the variables of which a write may be waiting there.
pub(crate) fn waiting(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
) -> Vec<Box<[bool]>> {
    let automaton = &system.processes[process.index()];
    let mut all = vec![vec![false; system.vars.len()]; automaton.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for t in &automaton.transitions {
            if empties_stores(t.op, partial_fences) {
                continue;
            }
            let before = all[t.from.index()].clone();
            let here = &mut all[t.to.index()];
            for (x, before) in before.into_iter().enumerate() {
                let by_this = matches!(t.op, Op::Write(y, _) if y.index() == x);
                changed |= !here[x] && (before || by_this);
                here[x] |= before || by_this;
            }
        }
    }
    all.into_iter().map(Into::into).collect()
}
