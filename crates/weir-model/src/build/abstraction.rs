//! What can happen before and after a place of the code, computed before any search.
//!
//! The analysis follows each process separately. A read returns any value that some
//! process may have written, as far as the analysis has followed the processes. A
//! variable to which too many values are written may hold *anything*. A register is
//! *tracked* if its value is part of an abstract state; a register that may hold anything
//! is not tracked. If there are too many abstract states, the register with the most
//! values is no longer tracked.
//!
//! The analysis over-approximates: every place of every run of the process is in it, with
//! the values of the tracked registers, and no steps are merged. So what it excludes
//! cannot happen, and an operation that it finds before every fence does come before it.

mod explorer;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::explorer::Explorer;
use super::domain::Set;
use crate::flow::{Flow, NodeId};
use crate::graph;
use crate::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{FenceKind, Program};

/// More states of all processes together are too many.
const MAX_STATES: usize = 10_000;

/// More values that are read on the way are too many.
const MAX_READ: usize = 200_000;

/// A variable with a declared range to which more values are written may hold anything.
const MAX_WRITTEN: usize = 256;

/// The same for one without a range: it may be counted without end.
const MAX_COUNTED: usize = 16;

/// A value that may be anything is one of the values of its domain, if there are at most so many.
const FEW: u128 = 64;

/// What a step of the code of a process does with memory; variables by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Local,
    /// Reads one of these variables.
    Read(Range<usize>),
    /// Writes one of these variables.
    Write(Range<usize>),
    /// Reads and writes one of these variables.
    Arw(Range<usize>),
    /// Passes a fence.
    Fence(FenceKind),
}

/// A step of the code of a process, from one place to another.
#[derive(Clone, Debug)]
pub struct CodeStep {
    /// The place that it leaves.
    pub from: usize,
    /// What it does with memory.
    pub access: Access,
    /// The place that it enters.
    pub to: usize,
}

type Registers = Arc<[Option<i128>]>;

/// One process, looked at by itself.
#[derive(Debug)]
pub(crate) struct Abstraction {
    tracked: Vec<bool>,
    ids: FxHashMap<(NodeId, Registers), usize>,
    pub steps: Vec<CodeStep>,
    /// Reads after which it does not go on, whatever they return, by their places: it fails.
    pub last_reads: Vec<(usize, Access)>,
    /// Labels at which it may stand.
    pub labels: BTreeSet<LabelId>,
    /// A place where it may do what a program must not do, if there is one.
    pub fails: Option<SpanId>,
    /// A place where a value may leave its bound, if there is one.
    pub leaves: Option<SpanId>,
    /// Every `await` to which it may come, by its test, and whether it may pass it.
    pub awaits: BTreeMap<NodeId, bool>,
}

impl Abstraction {
    /// The number of states.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The state of a process at a node with these registers, if it can come there.
    pub fn find(&self, node: NodeId, registers: &[i128]) -> Option<usize> {
        let known = registers.iter().zip(&self.tracked).map(|(v, t)| t.then_some(*v));
        self.ids.get(&(node, known.collect())).copied()
    }

    /// For each state, the most steps accepted by `count` that the process can still do; `None`
    /// if there is no bound, which takes a loop.
    pub fn longest(&self, count: impl Fn(&Access) -> bool) -> Vec<Option<usize>> {
        let n = self.len();
        let mut edges = vec![vec![]; n];
        for step in &self.steps {
            edges[step.from].push((step.to, usize::from(count(&step.access))));
        }
        graph::longest(&edges)
    }
}

/// Why processes cannot be followed in this way.
enum Much {
    Stopped(Stop),
    /// Too many values are written to a variable.
    Written(VarId),
    /// A register may get anything.
    Anything(ProcessId, RegId),
    /// There are too many states.
    States,
}

impl From<Stop> for Much {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Each process by itself, and the values that each variable may have. Those are `known`
/// beforehand where reads are guessed.
///
/// # Errors
/// If a limit is reached.
pub(super) fn explore(
    program: &Program,
    flows: &[Flow],
    known: Option<Vec<BTreeSet<i128>>>,
    budget: &Budget,
) -> Result<(Vec<Abstraction>, Vec<Set>), Stop> {
    let follows_writes = known.is_none();
    let initial = || program.vars.iter().flat_map(|d| &d.init);
    let mut begin: Vec<Set> = match known {
        Some(known) => known.into_iter().map(Some).collect(),
        None => initial().map(|values| Some(values.iter().copied().collect())).collect(),
    };
    let mut tracked: Vec<Vec<bool>> =
        program.processes.iter().map(|p| vec![true; p.registers.len()]).collect();
    let mut most = MAX_STATES;
    let mut rounds = 0;
    loop {
        let sets = RefCell::new(begin.clone());
        let mut explorers: Vec<Explorer<'_>> = Vec::with_capacity(flows.len());
        for (p, flow) in flows.iter().enumerate() {
            let alone = Explorer::new(program, flow, ProcessId::new(p), &sets, &tracked[p]);
            explorers.push(Explorer { follows_writes, ..alone });
        }
        match follow(&mut explorers, &sets, most, budget) {
            Ok(()) => {
                let found = explorers.into_iter().map(|e| e.found).collect();
                return Ok((found, sets.into_inner()));
            }
            Err(Much::Stopped(stop)) => return Err(stop),
            Err(Much::Written(x)) => begin[x.index()] = None,
            Err(Much::Anything(p, r)) => tracked[p.index()][r.index()] = false,
            Err(Much::States) => {
                // One register at a time, but not hundreds of times.
                let count = 1 << (rounds / 8);
                rounds += 1;
                let widest = widest(&explorers, count);
                if widest.is_empty() {
                    // Without registers there are no more states than nodes.
                    most = usize::MAX;
                }
                for (p, r) in widest {
                    tracked[p][r] = false;
                }
            }
        }
    }
}

/// Follows all processes until nothing new is written.
fn follow(
    explorers: &mut [Explorer<'_>],
    sets: &RefCell<Vec<Set>>,
    most: usize,
    budget: &Budget,
) -> Result<(), Much> {
    let written = || sets.borrow().iter().flatten().map(BTreeSet::len).sum::<usize>();
    loop {
        let before = written();
        for i in 0..explorers.len() {
            let all: usize = explorers.iter().map(|e| e.states.len()).sum();
            explorers[i].most = most.saturating_add(explorers[i].states.len()).saturating_sub(all);
            explorers[i].go_on(budget)?;
        }
        if before == written() {
            return Ok(());
        }
    }
}

/// The tracked registers with the most values.
fn widest(explorers: &[Explorer<'_>], count: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (p, explorer) in explorers.iter().enumerate() {
        for r in (0..explorer.found.tracked.len()).filter(|r| explorer.found.tracked[*r]) {
            let values: FxHashSet<_> = explorer.states.iter().map(|(_, v)| v[r]).collect();
            all.push((values.len(), (p, r)));
        }
    }
    // Of two with as many, the last one.
    all.reverse();
    all.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    all.into_iter().take(count).map(|(_, register)| register).collect()
}
