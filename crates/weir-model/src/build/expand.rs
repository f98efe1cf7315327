//! All control states at once, for engines that need them.
//!
//! The value analysis and the expansion are one work list. A load has a transition for
//! each value that its variable is known to take, and a store adds a value, which sends
//! every state that loads the variable back to work. The result over-approximates: a value
//! is kept if some process could write it, were every read to return any kept value.
//!
//! So `x = x + 1` would produce infinitely many values even where it runs once. To
//! terminate in such cases, each state and value has a *depth*: the number of stores that
//! run at most once (they are in no loop) on a chain of writes and reads that leads to
//! it. A chain cannot use such a store twice, so no real state or value is deeper than
//! the number of these stores. The work list is ordered by depth, so the depth that is
//! found first is the least.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Deref;

use super::depth;
use super::on_demand::Next;
use crate::flow::Flow;
use crate::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use crate::limits::{Budget, Stop};
use crate::system::{Op, System, Transition};

/// Every control state, transition and value of a system.
#[derive(Debug)]
pub struct Expansion {
    /// The values of each variable, smallest first.
    values: Vec<Vec<ValueId>>,
    processes: Vec<ExpandedProcess>,
}

impl Expansion {
    pub(crate) fn values(&self, var: VarId) -> &[ValueId] {
        &self.values[var.index()]
    }
}

#[derive(Debug, Default)]
struct ExpandedProcess {
    /// The control states, in the order in which they were found.
    states: Vec<StateId>,
    /// For each control state by number where its transitions are.
    ranges: Vec<(u32, u32)>,
    transitions: Vec<TransitionId>,
    /// For each control state by number the transitions that lead there.
    incoming: Vec<Vec<TransitionId>>,
}

/// A system with all its control states: what [`System::expanded`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Expanded<'s> {
    system: &'s System,
    expansion: &'s Expansion,
}

impl Deref for Expanded<'_> {
    type Target = System;

    fn deref(&self) -> &System {
        self.system
    }
}

impl<'s> Expanded<'s> {
    pub(crate) fn new(system: &'s System, expansion: &'s Expansion) -> Self {
        Self { system, expansion }
    }

    /// The system.
    pub fn system(self) -> &'s System {
        self.system
    }

    /// The transitions that leave a control state.
    #[inline]
    pub fn transitions(
        self,
        process: ProcessId,
        state: StateId,
    ) -> impl Iterator<Item = (TransitionId, &'s Transition)> {
        let of = &self.expansion.processes[process.index()];
        let (first, count) = of.ranges.get(state.index()).copied().unwrap_or_default();
        let ids = &of.transitions[first as usize..(first + count) as usize];
        let system = self.system;
        ids.iter().map(move |&id| (id, system.transition(process, id)))
    }

    /// The transitions that lead to a control state.
    #[inline]
    pub fn incoming(
        self,
        process: ProcessId,
        state: StateId,
    ) -> impl Iterator<Item = (TransitionId, &'s Transition)> {
        let of = &self.expansion.processes[process.index()];
        let ids = of.incoming.get(state.index()).map_or(&[][..], |ids| ids);
        let system = self.system;
        ids.iter().map(move |&id| (id, system.transition(process, id)))
    }

    /// All transitions of a process, in the order of the states that they leave.
    pub fn all_transitions(
        self,
        process: ProcessId,
    ) -> impl DoubleEndedIterator<Item = &'s Transition> {
        let system = self.system;
        let ids = &self.expansion.processes[process.index()].transitions;
        ids.iter().map(move |&id| system.transition(process, id))
    }

    /// The control states of a process.
    pub fn states(self, process: ProcessId) -> impl Iterator<Item = StateId> + use<'s> {
        self.expansion.processes[process.index()].states.iter().copied()
    }

    /// One more than the largest number of a control state of a process.
    pub fn state_count(self, process: ProcessId) -> usize {
        self.expansion.processes[process.index()].ranges.len()
    }

    /// The values of a variable, smallest first.
    pub fn values(self, var: VarId) -> &'s [ValueId] {
        self.expansion.values(var)
    }

    /// One more than the largest number of a value of a variable.
    pub fn value_count(self, var: VarId) -> usize {
        self.values(var).iter().map(|v| v.index() + 1).max().unwrap_or(0)
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Expand(ProcessId, StateId),
    /// A state that loads from the variable learns of a value.
    Learn(ProcessId, StateId, VarId, ValueId),
}

struct Expanding<'s> {
    system: &'s System,
    /// The values of each variable, with their depth.
    values: Vec<BTreeMap<ValueId, usize>>,
    /// The states that load from each variable.
    readers: Vec<Vec<(ProcessId, StateId)>>,
    /// The control states of each process, in order of arrival.
    states: Vec<Vec<StateId>>,
    /// The depth of each control state that was met.
    depths: Vec<Vec<Option<usize>>>,
    outgoing: Vec<Vec<Vec<TransitionId>>>,
    /// What is to be done, least depth first, then in the order of arrival.
    work: BinaryHeap<Reverse<(usize, usize, Task)>>,
    arrivals: usize,
    /// The depth of what is being done.
    depth: usize,
    /// For each process and node, 1 for a store that runs at most once.
    weights: Vec<Vec<usize>>,
    /// No depth is larger than this.
    max_depth: usize,
}

pub(crate) fn expand(system: &System, budget: &Budget) -> Result<Expansion, Stop> {
    let flows: Vec<&Flow> = system.processes.iter().map(|p| &p.flow).collect();
    let (weights, max_depth) = depth::weigh(&flows);
    let n = system.processes.len();
    let initial = |var: &crate::system::Variable| -> BTreeMap<ValueId, usize> {
        match system.guesses_reads {
            true => (0..var.count()).map(|v| (ValueId::new(v), 0)).collect(),
            false => var.initial.iter().map(|v| (*v, 0)).collect(),
        }
    };
    let mut expanding = Expanding {
        system,
        values: system.vars.iter().map(initial).collect(),
        readers: vec![vec![]; system.vars.len()],
        states: vec![vec![]; n],
        depths: vec![vec![]; n],
        outgoing: vec![vec![]; n],
        work: BinaryHeap::new(),
        arrivals: 0,
        depth: 0,
        weights,
        max_depth,
    };
    for p in system.process_ids() {
        expanding.meet(p, system.processes[p.index()].initial);
    }
    while let Some(Reverse((depth, _, task))) = expanding.work.pop() {
        budget.tick()?;
        expanding.depth = depth;
        match task {
            Task::Expand(p, s) => expanding.expand(p, s),
            Task::Learn(p, s, x, v) => expanding.learn(p, s, x, v),
        }
    }
    Ok(expanding.finish())
}

impl Expanding<'_> {
    /// Puts off a task.
    fn later(&mut self, depth: usize, task: Task) {
        self.arrivals += 1;
        self.work.push(Reverse((depth, self.arrivals, task)));
    }

    fn meet(&mut self, process: ProcessId, state: StateId) {
        let depths = &mut self.depths[process.index()];
        if depths.len() <= state.index() {
            depths.resize(state.index() + 1, None);
        }
        if depths[state.index()].is_none() {
            depths[state.index()] = Some(self.depth);
            self.states[process.index()].push(state);
            self.later(self.depth, Task::Expand(process, state));
        }
    }

    fn add(&mut self, process: ProcessId, id: TransitionId) {
        let Transition { from, to, .. } = *self.system.transition(process, id);
        let outgoing = &mut self.outgoing[process.index()];
        if outgoing.len() <= from.index() {
            outgoing.resize(from.index() + 1, vec![]);
        }
        outgoing[from.index()].push(id);
        self.meet(process, to);
    }

    /// Adds the transitions of a state that do not depend on what is read.
    fn expand(&mut self, process: ProcessId, state: StateId) {
        let system = self.system;
        match system.next(process, state) {
            Next::Free { first, list, .. } => {
                for id in *first..first + list.len() as u32 {
                    let id = TransitionId(id);
                    let possible = match system.transition(process, id).op {
                        Op::Write(x, d) => self.write(process, state, x, d),
                        _ => true,
                    };
                    if possible {
                        self.add(process, id);
                    }
                }
            }
            Next::Read { var, stop, .. } => {
                if let Some(stop) = stop {
                    self.add(process, *stop);
                }
                self.readers[var.index()].push((process, state));
                for (value, depth) in self.values[var.index()].clone() {
                    let depth = depth.max(self.depth);
                    self.later(depth, Task::Learn(process, state, *var, value));
                }
            }
        }
    }

    /// Adds the transition of a load or an atomic read-write for one value.
    fn learn(&mut self, process: ProcessId, state: StateId, var: VarId, value: ValueId) {
        let system = self.system;
        let Next::Read { on, .. } = system.next(process, state) else { return };
        let Some((id, t)) = system.on_value(process, state, var, on, value) else { return };
        let possible = match t.op {
            Op::Arw(x, _, e) => self.write(process, state, x, e),
            _ => true,
        };
        if possible
            && !self.outgoing[process.index()].get(state.index()).is_some_and(|o| o.contains(&id))
        {
            self.add(process, id);
        }
    }

    /// A process writes a value to a variable; `false` if the value is too deep to be real.
    fn write(&mut self, process: ProcessId, from: StateId, var: VarId, value: ValueId) -> bool {
        let node = self.system.state(process, from).node;
        let depth = self.depth + self.weights[process.index()][node];
        let values = &mut self.values[var.index()];
        // A store in a loop may find a shorter way than one that runs once did.
        if values.get(&value).is_some_and(|known| *known <= depth) {
            return true;
        }
        // What is there may be written at any depth: where writes overtake reads,
        // what a process reads may come from what it writes later.
        if depth > self.max_depth {
            return false;
        }
        values.insert(value, depth);
        for (process, state) in self.readers[var.index()].clone() {
            let known = self.depths[process.index()][state.index()].unwrap_or_default();
            self.later(depth.max(known), Task::Learn(process, state, var, value));
        }
        true
    }

    fn finish(self) -> Expansion {
        let system = self.system;
        let number = |x: VarId, v: ValueId| system.value(x, v);
        let sorted = |(x, values): (usize, BTreeMap<ValueId, usize>)| {
            let mut values: Vec<ValueId> = values.into_keys().collect();
            values.sort_by_key(|v| number(VarId::new(x), *v));
            values
        };
        let order = |op: Op| match op {
            Op::Nop => (0, VarId(0), 0, 0),
            Op::Read(x, d) => (1, x, number(x, d), 0),
            Op::Write(x, d) => (2, x, number(x, d), 0),
            Op::Arw(x, d, e) => (3, x, number(x, d), number(x, e)),
            Op::Fence(kind) => (4, VarId(0), kind as i128, 0),
        };
        let processes = (self.states.into_iter().zip(self.outgoing).enumerate())
            .map(|(p, (states, outgoing))| {
                let p = ProcessId::new(p);
                let mut made = ExpandedProcess { states, ..ExpandedProcess::default() };
                let count = made.states.iter().map(|s| s.index() + 1).max().unwrap_or(0);
                made.ranges = vec![(0, 0); count];
                made.incoming = vec![vec![]; count];
                for (from, mut ids) in outgoing.into_iter().enumerate() {
                    ids.sort_by_key(|id| {
                        let t = system.transition(p, *id);
                        (order(t.op), t.to, t.mark)
                    });
                    made.ranges[from] = (made.transitions.len() as u32, ids.len() as u32);
                    for id in &ids {
                        made.incoming[system.transition(p, *id).to.index()].push(*id);
                    }
                    made.transitions.extend(ids);
                }
                made
            })
            .collect();
        Expansion { values: self.values.into_iter().enumerate().map(sorted).collect(), processes }
    }
}
