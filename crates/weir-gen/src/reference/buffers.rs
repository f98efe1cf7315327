//! SC, TSO and PSO with store buffers.

use std::collections::HashSet;

use weir_model::ids::VarId;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, FenceKind, Program};

use super::locals::{self, LocalId, Next};
use super::orders::as_fences;
use super::{Reached, memories};

/// What waits in a store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Write(VarId, i128),
    /// A write fence, in PSO only.
    Fence,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Configuration {
    at: Vec<LocalId>,
    memory: Vec<i128>,
    /// Oldest first.
    buffers: Vec<Vec<Entry>>,
}

/// What a program reaches under SC, TSO or PSO. A write enters the buffer of its process
/// and leaves it for memory later: in order under TSO; under PSO as soon as no earlier write
/// to the same variable and no earlier write fence is in the buffer. A read takes the value
/// of the newest write to its variable in the own buffer, or else of memory. Full fences and
/// atomic read-writes wait until the buffer is empty. Under SC writes go to memory at once.
///
/// An atomic block is executed at once. The process is seen in the middle of it only where it
/// waits or stops.
///
/// `None` if there are more than `limit` configurations. Buffers hold up to `capacity`
/// writes and fences; [`Reached::is_cut`] says whether that was too few.
///
/// # Panics
/// For other models.
pub fn store_buffers(
    program: &Program,
    model: MemoryModel,
    atoms: &[Atom],
    limit: usize,
    capacity: usize,
) -> Option<Reached> {
    let (is_sc, is_pso) = (model == MemoryModel::SC, model == MemoryModel::PSO);
    assert!(is_sc || is_pso || model == MemoryModel::TSO, "{model} has no store buffers here");
    let program = &as_fences(program);
    let mut locals = locals::all(program);
    let mut reached = Reached::default();
    let start = |memory| Configuration {
        at: locals.iter().map(|l| l.initial()).collect(),
        memory,
        buffers: vec![vec![]; locals.len()],
    };
    let mut seen: HashSet<Configuration> = memories(program).into_iter().map(start).collect();
    let mut work: Vec<Configuration> = seen.iter().cloned().collect();
    while let Some(now) = work.pop() {
        if seen.len() > limit {
            return None;
        }
        let observed = locals::observe(atoms, &locals, &now.at, &now.memory);
        let each = || locals.iter().zip(&now.at);
        reached.fails |= each().any(|(l, i)| l.get(*i).failed);
        if now.buffers.iter().all(Vec::is_empty) {
            if each().all(|(l, i)| l.get(*i).has_ended()) {
                reached.finals.insert(observed.clone());
            }
            reached.deadlocks |= locals::is_deadlock(&mut locals, &now.at, &now.memory, is_sc);
        }
        reached.states.insert(observed);
        for (p, local) in locals.iter_mut().enumerate() {
            let buffer = &now.buffers[p];
            let is_undivided = local.is_undivided(now.at[p], is_sc);
            if is_undivided {
                let may_begin = buffer.is_empty();
                let ends = local.after_block(now.at[p], &now.memory);
                for (to, memory) in ends.into_iter().filter(|_| may_begin) {
                    let mut after = now.clone();
                    after.at[p] = to;
                    after.memory = memory;
                    if seen.insert(after.clone()) {
                        work.push(after);
                    }
                }
            }
            let mut add = |to: LocalId, written: Option<(VarId, i128)>, pushed: Option<Entry>| {
                let mut after = now.clone();
                after.at[p] = to;
                if let Some((x, value)) = written {
                    after.memory[x.index()] = value;
                }
                if let Some(entry) = pushed {
                    after.buffers[p].push(entry);
                    settle(&mut after.buffers[p], is_pso);
                    if after.buffers[p].len() > capacity {
                        reached.is_cut = true;
                        return;
                    }
                }
                if seen.insert(after.clone()) {
                    work.push(after);
                }
            };
            match local.next(now.at[p]) {
                _ if is_undivided => {}
                Next::None => {}
                Next::Silent(to) => to.into_iter().for_each(|to| add(to, None, None)),
                Next::Read(x) => {
                    let own = buffer.iter().rev().find_map(|e| match e {
                        Entry::Write(y, value) if *y == x => Some(*value),
                        _ => None,
                    });
                    let value = own.unwrap_or(now.memory[x.index()]);
                    add(local.after_read(now.at[p], value), None, None);
                }
                Next::Write(x, value, to) if is_sc => add(to, Some((x, value)), None),
                Next::Write(x, value, to) => add(to, None, Some(Entry::Write(x, value))),
                Next::Rmw(x) if buffer.is_empty() => {
                    if let Some((new, to)) = local.after_rmw(now.at[p], now.memory[x.index()]) {
                        add(to, Some((x, new)), None);
                    }
                }
                Next::Rmw(_) => {}
                Next::Fence(FenceKind::Full, to) => {
                    if buffer.is_empty() {
                        add(to, None, None);
                    }
                }
                Next::Fence(FenceKind::Write, to) if is_pso => {
                    let waits = (!buffer.is_empty()).then_some(Entry::Fence);
                    add(to, None, waits);
                }
                Next::Fence(_, to) => add(to, None, None),
            }
            for (i, entry) in buffer.iter().enumerate() {
                let Entry::Write(x, value) = *entry else { break };
                let overtakes = |e: &Entry| is_pso && matches!(e, Entry::Write(y, _) if *y != x);
                if buffer[..i].iter().all(overtakes) {
                    let mut after = now.clone();
                    after.memory[x.index()] = value;
                    after.buffers[p].remove(i);
                    settle(&mut after.buffers[p], is_pso);
                    if seen.insert(after.clone()) {
                        work.push(after);
                    }
                }
            }
        }
    }
    Some(reached)
}

/// Drops fences that no write waits before, and those right behind another. The order of writes
/// to different variables between two fences makes no difference in PSO: they are sorted.
fn settle(buffer: &mut Vec<Entry>, is_pso: bool) {
    let fences = buffer.iter().take_while(|e| **e == Entry::Fence).count();
    buffer.drain(..fences);
    if is_pso {
        buffer.dedup_by(|a, b| *a == Entry::Fence && a == b);
        for part in buffer.split_mut(|e| *e == Entry::Fence) {
            part.sort_by_key(|e| match e {
                Entry::Write(x, _) => *x,
                Entry::Fence => unreachable!("the parts are between fences"),
            });
        }
    }
}
