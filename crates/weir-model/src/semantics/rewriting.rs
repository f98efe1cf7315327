//! The definition: close each process's traces under the rewrite rules of the
//! model, shuffle, and run on one memory (Atig et al. 2012, section 3.3).
//!
//! This is exponential, short, and close to the text of the paper. The operational forms
//! are tested against it, on loop-free systems. RRWE has no rewrite rule and is not
//! covered.
//!
//! A *state* here is a vector of control states and a memory. A trace takes a process
//! from its initial control state to some control state. All of it is executed, except
//! that in a model with `w->r`, which has store buffers, writes (and fences) at the end
//! may still be buffered: this is reachability with arbitrary buffers (Atig et al. 2010,
//! section 3.4). If every process has ended and nothing is buffered, the state is
//! *final*.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::ids::{ProcessId, StateId, ValueId, VarId};
use crate::limits::Budget;
use crate::memory_model::{Access, MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::system::{Expanded, Op, StateKind, System};

/// What a loop-free system can reach under a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Control states and memory, with writes possibly waiting.
    pub states: BTreeSet<(Vec<StateId>, Vec<ValueId>)>,
    /// Those in which every process has ended and nothing waits.
    pub finals: BTreeSet<(Vec<StateId>, Vec<ValueId>)>,
}

/// A trace of one process, without its nops.
type Trace = Vec<Op>;

/// What a loop-free system can reach.
///
/// # Panics
/// If the system has a loop, or the model RRWE.
pub fn reached(system: &System, model: MemoryModel) -> Reached {
    assert!(system.is_loop_free(), "rewriting is for loop-free systems");
    assert!(!model.has(Relaxation::Rrwe), "RRWE has no rewrite rule");
    let all = system.expanded(&Budget::new()).expect("a budget without limits is never used up");
    let tries: Vec<Trie> = system.process_ids().map(|p| Trie::new(all, p, model)).collect();
    shuffle(system, &tries)
}

/// `T(P, p0, p)` for every control state `p`.
fn traces(system: Expanded<'_>, process: ProcessId) -> BTreeSet<(StateId, Trace)> {
    let mut traces = BTreeSet::new();
    let mut work = vec![(system.processes[process.index()].initial, vec![])];
    while let Some((state, trace)) = work.pop() {
        for (_, t) in system.transitions(process, state) {
            let mut longer = trace.clone();
            if t.op != Op::Nop {
                longer.push(t.op);
            }
            work.push((t.to, longer));
        }
        traces.insert((state, trace));
    }
    traces
}

fn access(op: Op) -> Access<VarId> {
    match op {
        Op::Read(x, _) => Access::Read(x),
        Op::Write(x, _) => Access::Write(x),
        Op::Fence(FenceKind::Read) => Access::ReadFence,
        Op::Fence(FenceKind::Write) => Access::WriteFence,
        Op::Nop | Op::Arw(..) | Op::Fence(FenceKind::Full) => Access::Full,
    }
}

/// `[τ]_R`: everything that the rules rewrite a trace to.
pub fn closure(trace: &[Op], model: MemoryModel) -> BTreeSet<Vec<Op>> {
    let mut closed = BTreeSet::from([trace.to_vec()]);
    let mut work = vec![trace.to_vec()];
    while let Some(trace) = work.pop() {
        for i in 1..trace.len() {
            let (first, second) = (trace[i - 1], trace[i]);
            let mut rewritten = None;
            if model.may_overtake(&access(first), &access(second)) {
                let mut swapped = trace.clone();
                swapped.swap(i - 1, i);
                rewritten = Some(swapped);
            }
            if let (Op::Write(x, d), Op::Read(y, e)) = (first, second)
                && model.has(Relaxation::Rlwe)
                && (x, d) == (y, e)
            {
                let mut canceled = trace.clone();
                canceled.remove(i);
                rewritten = Some(canceled);
            }
            if let Some(rewritten) = rewritten
                && closed.insert(rewritten.clone())
            {
                work.push(rewritten);
            }
        }
    }
    closed
}

/// All rewritten traces of one process, sharing their beginnings.
struct Trie {
    nodes: Vec<TrieNode>,
}

#[derive(Default)]
struct TrieNode {
    next: BTreeMap<Op, usize>,
    /// Where the process can be if this much was executed.
    at: BTreeSet<StateId>,
    /// Where it can be if nothing waits.
    done: BTreeSet<StateId>,
}

impl Trie {
    fn new(system: Expanded<'_>, process: ProcessId, model: MemoryModel) -> Self {
        let mut trie = Self { nodes: vec![TrieNode::default()] };
        let mut closures: HashMap<Trace, BTreeSet<Trace>> = HashMap::new();
        for (state, trace) in traces(system, process) {
            let closed =
                closures.entry(trace).or_insert_with_key(|trace| closure(trace, model)).clone();
            for rewritten in closed {
                trie.insert(state, &rewritten, model.has(Relaxation::WriteRead));
            }
        }
        trie
    }

    fn insert(&mut self, state: StateId, trace: &[Op], buffered: bool) {
        let may_wait = |op: &Op| {
            buffered && matches!(op, Op::Write(..) | Op::Fence(FenceKind::Read | FenceKind::Write))
        };
        let executed = trace.iter().rposition(|op| !may_wait(op)).map_or(0, |i| i + 1);
        let mut node = 0;
        for (i, &op) in trace.iter().enumerate() {
            if i >= executed {
                self.nodes[node].at.insert(state);
            }
            let fresh = self.nodes.len();
            let next = *self.nodes[node].next.entry(op).or_insert(fresh);
            if next == fresh {
                self.nodes.push(TrieNode::default());
            }
            node = next;
        }
        self.nodes[node].at.insert(state);
        self.nodes[node].done.insert(state);
    }
}

/// `d[op⟩d'`: the effect of an operation on memory.
fn execute(op: Op, memory: &[ValueId]) -> Option<Vec<ValueId>> {
    let mut memory = memory.to_vec();
    match op {
        Op::Read(x, d) => (memory[x.index()] == d).then_some(memory),
        Op::Write(x, d) => {
            memory[x.index()] = d;
            Some(memory)
        }
        Op::Arw(x, d, e) => (memory[x.index()] == d).then(|| {
            memory[x.index()] = e;
            memory
        }),
        Op::Nop | Op::Fence(_) => Some(memory),
    }
}

/// Runs every shuffle of the traces on every initial memory.
fn shuffle(system: &System, tries: &[Trie]) -> Reached {
    let mut memories = vec![vec![]];
    for var in system.vars.iter() {
        memories = memories
            .into_iter()
            .flat_map(|m: Vec<ValueId>| {
                var.initial.iter().map(move |v| m.iter().copied().chain([*v]).collect())
            })
            .collect();
    }
    let mut reached = Reached::default();
    let mut seen: BTreeSet<(Vec<usize>, Vec<ValueId>)> =
        memories.into_iter().map(|m| (vec![0; tries.len()], m)).collect();
    let mut work: VecDeque<_> = seen.iter().cloned().collect();
    while let Some((places, memory)) = work.pop_front() {
        let at = |p: usize| &tries[p].nodes[places[p]];
        for controls in product(tries.len(), |p| &at(p).at) {
            reached.states.insert((controls, memory.clone()));
        }
        for controls in product(tries.len(), |p| &at(p).done) {
            let ended = |(p, s): (usize, &StateId)| {
                system.state(ProcessId::new(p), *s).kind == StateKind::Ended
            };
            if controls.iter().enumerate().all(ended) {
                reached.finals.insert((controls, memory.clone()));
            }
        }
        for p in 0..tries.len() {
            for (&op, &next) in &at(p).next {
                if let Some(memory) = execute(op, &memory) {
                    let mut places = places.clone();
                    places[p] = next;
                    if seen.insert((places.clone(), memory.clone())) {
                        work.push_back((places, memory));
                    }
                }
            }
        }
    }
    reached
}

/// Every way to choose one member of each of `n` sets.
fn product<'a>(n: usize, set: impl Fn(usize) -> &'a BTreeSet<StateId>) -> Vec<Vec<StateId>> {
    (0..n).fold(vec![vec![]], |chosen, p| {
        chosen
            .into_iter()
            .flat_map(|c| set(p).iter().map(move |s| c.iter().copied().chain([*s]).collect()))
            .collect()
    })
}
