//! The definition by rewriting (Atig et al. 2012, section 3.3), on traces of the program.
//!
//! A *trace* of a process is the sequence of its memory operations with values; a read may
//! return any value of the domain of its variable. Traces are closed under the rewrite rules
//! of the model, shuffled, and run on one memory. All of a trace is executed, except that in
//! models with `w->r` the writes and partial fences at its end may still wait.
//!
//! A process that returns to a local state without a write in between has only read.
//! Without these reads the trace leads to the same local state, and every rewriting that
//! was possible is still possible, so such traces are not followed further. A process
//! that returns after a write has infinitely many traces: the program has no reference
//! here.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use weir_model::ids::VarId;
use weir_model::memory_model::{Access, MemoryModel, Relaxation};
use weir_model::program::{Atom, FenceKind, Program, Stmt, StmtKind};

use super::locals::{self, LocalId, Locals, Next};
use super::orders::as_fences;
use super::{Reached, domains, memories};

/// A memory operation with its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Operation {
    Read(VarId, i128),
    Write(VarId, i128),
    ReadWrite(VarId, i128, i128),
    Fence(FenceKind),
}

impl Operation {
    fn access(self) -> Access<VarId> {
        match self {
            Self::Read(x, _) => Access::Read(x),
            Self::Write(x, _) => Access::Write(x),
            Self::Fence(FenceKind::Read) => Access::ReadFence,
            Self::Fence(FenceKind::Write) => Access::WriteFence,
            Self::ReadWrite(..) | Self::Fence(FenceKind::Full) => Access::Full,
        }
    }

    /// Whether it may wait in a store buffer.
    fn may_wait(self) -> bool {
        matches!(self, Self::Write(..) | Self::Fence(FenceKind::Read | FenceKind::Write))
    }

    /// The memory after it, if it is possible.
    fn execute(self, memory: &[i128]) -> Option<Vec<i128>> {
        let (read, written) = match self {
            Self::Read(x, value) => (Some((x, value)), None),
            Self::Write(x, value) => (None, Some((x, value))),
            Self::ReadWrite(x, old, new) => (Some((x, old)), Some((x, new))),
            Self::Fence(_) => (None, None),
        };
        if read.is_some_and(|(x, value)| memory[x.index()] != value) {
            return None;
        }
        let mut memory = memory.to_vec();
        if let Some((x, value)) = written {
            memory[x.index()] = value;
        }
        Some(memory)
    }
}

type Trace = Vec<Operation>;

/// What a program reaches under a model without RRWE, where reads may return the values of
/// [`domains`]. `None` if the program has endlessly many traces or values, or if there are
/// more than `limit` traces or states, or if it has atomic blocks.
pub fn rewriting(
    program: &Program,
    model: MemoryModel,
    atoms: &[Atom],
    limit: usize,
) -> Option<Reached> {
    rewriting_with(program, model, atoms, &domains(program)?, limit)
}

/// The same with the values given that reads may return.
///
/// # Panics
/// If the model has RRWE, which is no rewrite rule.
pub fn rewriting_with(
    program: &Program,
    model: MemoryModel,
    atoms: &[Atom],
    domains: &[BTreeSet<i128>],
    limit: usize,
) -> Option<Reached> {
    assert!(!model.has(Relaxation::Rrwe), "RRWE is no rewrite rule");
    if has_blocks(program) {
        return None;
    }
    let program = &as_fences(program);
    let mut locals = locals::all(program);
    let mut tries = Vec::new();
    for locals in &mut locals {
        let traces = traces(locals, domains, limit)?;
        let mut trie = Trie { nodes: vec![Node::default()] };
        for (trace, ends) in &traces {
            for rewritten in closure(trace, model) {
                trie.insert(&rewritten, ends, model.has(Relaxation::WriteRead));
            }
            if trie.nodes.len() > limit {
                return None;
            }
        }
        tries.push(trie);
    }
    shuffle(program, atoms, &mut locals, &tries, limit)
}

/// Every trace of a process, with the local states that it can lead to.
fn traces(
    locals: &mut Locals<'_>,
    domains: &[BTreeSet<i128>],
    limit: usize,
) -> Option<BTreeMap<Trace, BTreeSet<LocalId>>> {
    /// A trace on the way, with the local states since the last write, and those before.
    struct Way {
        trace: Trace,
        at: LocalId,
        since: Vec<LocalId>,
        before: Vec<LocalId>,
    }
    let mut found: BTreeMap<Trace, BTreeSet<LocalId>> = BTreeMap::new();
    let mut work = vec![Way { trace: vec![], at: locals.initial(), since: vec![], before: vec![] }];
    let mut count = 0;
    while let Some(Way { trace, at, mut since, before }) = work.pop() {
        count += 1;
        if since.contains(&at) {
            continue;
        }
        if before.contains(&at) || count > limit {
            return None;
        }
        found.entry(trace.clone()).or_default().insert(at);
        since.push(at);
        let mut go = |to: LocalId, operation: Option<Operation>| {
            let (mut since, mut before) = (since.clone(), before.clone());
            if let Some(Operation::Write(..) | Operation::ReadWrite(..)) = operation {
                before.append(&mut since);
            }
            let trace = trace.iter().copied().chain(operation).collect();
            work.push(Way { trace, at: to, since, before });
        };
        match locals.next(at) {
            Next::None => {}
            Next::Silent(to) => to.into_iter().for_each(|to| go(to, None)),
            Next::Write(x, value, to) => go(to, Some(Operation::Write(x, value))),
            Next::Fence(kind, to) => go(to, Some(Operation::Fence(kind))),
            Next::Read(x) => {
                for value in &domains[x.index()] {
                    go(locals.after_read(at, *value), Some(Operation::Read(x, *value)));
                }
            }
            Next::Rmw(x) => {
                for old in &domains[x.index()] {
                    if let Some((new, to)) = locals.after_rmw(at, *old) {
                        go(to, Some(Operation::ReadWrite(x, *old, new)));
                    }
                }
            }
        }
    }
    Some(found)
}

/// Everything that the rules rewrite a trace to: neighbors change places where the model
/// allows it, and with RLWE a read right behind a write of its value disappears.
fn closure(trace: &Trace, model: MemoryModel) -> BTreeSet<Trace> {
    let mut closed = BTreeSet::from([trace.clone()]);
    let mut work = vec![trace.clone()];
    while let Some(trace) = work.pop() {
        for i in 1..trace.len() {
            let (first, second) = (trace[i - 1], trace[i]);
            let mut rewritten = Vec::new();
            if model.may_overtake(&first.access(), &second.access()) {
                let mut swapped = trace.clone();
                swapped.swap(i - 1, i);
                rewritten.push(swapped);
            }
            let reads_own = match (first, second) {
                (Operation::Write(x, d), Operation::Read(y, e)) => (x, d) == (y, e),
                _ => false,
            };
            if model.has(Relaxation::Rlwe) && reads_own {
                let mut shorter = trace.clone();
                shorter.remove(i);
                rewritten.push(shorter);
            }
            for trace in rewritten {
                if closed.insert(trace.clone()) {
                    work.push(trace);
                }
            }
        }
    }
    closed
}

/// All rewritten traces of one process, sharing their beginnings.
struct Trie {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    next: BTreeMap<Operation, usize>,
    /// Where the process can be if so much has been executed.
    at: BTreeSet<LocalId>,
    /// Where it can be if nothing waits.
    done: BTreeSet<LocalId>,
}

impl Trie {
    fn insert(&mut self, trace: &[Operation], ends: &BTreeSet<LocalId>, buffered: bool) {
        let waiting = trace.iter().rev().take_while(|o| buffered && o.may_wait()).count();
        let mut node = 0;
        for (i, operation) in trace.iter().enumerate() {
            if i + waiting >= trace.len() {
                self.nodes[node].at.extend(ends);
            }
            let fresh = self.nodes.len();
            let next = *self.nodes[node].next.entry(*operation).or_insert(fresh);
            if next == fresh {
                self.nodes.push(Node::default());
            }
            node = next;
        }
        self.nodes[node].at.extend(ends);
        self.nodes[node].done.extend(ends);
    }
}

/// Runs every shuffle of the traces on every initial memory.
fn shuffle(
    program: &Program,
    atoms: &[Atom],
    locals: &mut [Locals<'_>],
    tries: &[Trie],
    limit: usize,
) -> Option<Reached> {
    let mut reached = Reached::default();
    let start = |memory| (vec![0; tries.len()], memory);
    let mut seen: HashSet<(Vec<usize>, Vec<i128>)> =
        memories(program).into_iter().map(start).collect();
    let mut work: Vec<_> = seen.iter().cloned().collect();
    while let Some((places, memory)) = work.pop() {
        if seen.len() > limit {
            return None;
        }
        let node = |p: usize| &tries[p].nodes[places[p]];
        for at in product(tries.len(), |p| &node(p).at) {
            reached.fails |= locals.iter().zip(&at).any(|(l, i)| l.get(*i).failed);
            reached.states.insert(locals::observe(atoms, locals, &at, &memory));
        }
        for at in product(tries.len(), |p| &node(p).done) {
            if locals.iter().zip(&at).all(|(l, i)| l.get(*i).has_ended()) {
                reached.finals.insert(locals::observe(atoms, locals, &at, &memory));
            }
            reached.deadlocks |= locals::is_deadlock(locals, &at, &memory, false);
        }
        for p in 0..tries.len() {
            for (operation, next) in &node(p).next {
                if let Some(memory) = operation.execute(&memory) {
                    let mut places = places.clone();
                    places[p] = *next;
                    if seen.insert((places.clone(), memory.clone())) {
                        work.push((places, memory));
                    }
                }
            }
        }
    }
    Some(reached)
}

/// Every way to choose one member of each of `n` sets.
fn product<'a>(n: usize, set: impl Fn(usize) -> &'a BTreeSet<LocalId>) -> Vec<Vec<LocalId>> {
    (0..n).fold(vec![vec![]], |chosen, p| {
        let each = chosen.into_iter();
        each.flat_map(|c: Vec<LocalId>| set(p).iter().map(move |i| [&c[..], &[*i]].concat()))
            .collect()
    })
}

/// Whether a program has atomic blocks: no trace says that its operations stand together.
fn has_blocks(program: &Program) -> bool {
    fn inside(block: &[Stmt]) -> bool {
        block.iter().any(|stmt| {
            matches!(stmt.kind, StmtKind::Atomic(..))
                || stmt.kind.blocks().into_iter().any(|block| inside(block))
        })
    }
    program.processes.iter().any(|process| inside(&process.body))
}
