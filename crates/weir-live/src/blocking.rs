//! Obstruction-freedom under TSO, by blocking pairs (Wang et al. 2021, section 5.2).
//!
//! *Problem.* Is there a run under TSO in which from some moment on one process
//! takes all steps and its call does not return? Buffers have no bound.
//!
//! *Blocking pairs.* A control state `q` of a client and a memory `d` are a blocking pair
//! if the client alone, from `q` with memory `d`, has an infinite run without a return
//! under SC. There is a violation if and only if a configuration with a blocking pair and
//! all buffers empty is reachable (Lemma 2). Any memory may be `d`, so pairs are computed
//! by executing the client alone on a memory whose values are fixed only when they are
//! read: a node is a control state, the values that the first reads have found, and the
//! current values. The set of found values only grows, so it is constant along a cycle:
//! `q` with the values found on the way to a cycle without a return is a *cube* of
//! blocking pairs, and there are no others.
//!
//! *Reachability.* An infinite run alone reaches a control state on a cycle of the
//! client's automaton, again with a blocking pair and, after flushes, empty buffers; so
//! only these states are targets. To ask whether a client reaches `q` with an empty
//! buffer while memory is `d`, it gets a `fence` from `q` to a new state
//! ([`System::with_stops`]): there it has an empty buffer, and `views` decides `never (it
//! is there and memory is d)`. Other clients may still have buffered writes. As in the
//! proof of Lemma 2, what such a client did from its first unflushed write on can be
//! removed: no other process has observed it. All clients have the same code, so one of
//! them is checked.
//!
//! *Flush fairness* makes no difference: the violation that is constructed here has empty
//! buffers when the other clients stop, and flushes every write at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use weir_engine::{Engine, SearchOptions, Task};
use weir_model::answer::{Evidence as Shown, Invariant, Run, Snapshot, Verdict};
use weir_model::graph::{components, components_within};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, BinOp, Expr, Formula};
use weir_model::question::Question as Reaches;
use weir_model::semantics::{Form, Rule};
use weir_model::system::{Expanded, Mark, Op, System};

use crate::graph::{Edge, Extent, Graph, follow};
use crate::lasso::Lasso;
use crate::property::{Progress, Question, patterns};
use crate::search::{MAX_BUFFER, find_any};
use crate::{Answer, Evidence};

/// The client that is asked about.
const CLIENT: ProcessId = ProcessId(0);

/// The most nodes of one client alone.
const MAX_ALONE: usize = 500_000;

/// The most tests in the formula that describes the pairs.
const MAX_TESTS: usize = 100_000;

/// What shows that no blocking pair is reachable.
#[derive(Clone, Debug)]
pub struct Unblocked {
    /// The control states of the first client that have blocking pairs and are on
    /// a cycle without return. If there are none, there is nothing else to show.
    pub stops: Vec<StateId>,
    /// How many cubes of blocking pairs they have.
    pub cubes: usize,
    /// The inductive set of the system with stops, and that system, if it was asked for.
    pub invariant: Option<(Arc<Invariant>, Arc<System>)>,
}

/// Values of some variables: all memories that have them.
type Cube = BTreeMap<VarId, ValueId>;

/// Decides obstruction-freedom of an object and its clients under TSO. The engine says
/// whether blocking pairs are reachable.
///
/// # Errors
/// Why it could not be decided within the limits.
pub fn check(
    system: &System,
    engine: &dyn Engine,
    search: &SearchOptions,
) -> Result<Answer, String> {
    let budget = &search.budget;
    let mut pairs = Vec::new();
    let mut left = MAX_ALONE;
    let all = system.expanded(budget).map_err(|stop| stop.to_string())?;
    for state in on_cycles(all) {
        let cubes = cubes(all, state, &mut left, budget)?;
        if !cubes.is_empty() {
            pairs.push((state, cubes));
        }
    }
    let stops: Vec<StateId> = pairs.iter().map(|(q, _)| *q).collect();
    let cubes = pairs.iter().map(|(_, cubes)| cubes.len()).sum();
    let holds = |invariant: Option<(Arc<Invariant>, Arc<System>)>| Answer {
        verdict: Verdict::Holds,
        evidence: Evidence::Unblocked(Unblocked { stops: stops.clone(), cubes, invariant }),
    };
    if pairs.is_empty() {
        return Ok(holds(None));
    }
    let rebuilt = System::with_rounds_within(system.program.clone(), budget)
        .map_err(|unbuilt| unbuilt.to_string())?;
    let again = |q: &StateId| rebuilt.find_state(CLIENT, &system.state_name(CLIENT, *q));
    let at: Option<Vec<StateId>> = stops.iter().map(again).collect();
    let at = at.ok_or("a control state was not found again")?;
    let (mut stopping, labels) = rebuilt.with_stops(CLIENT, &at);
    let mut tests = 0;
    let mut asked = Vec::new();
    for ((_, cubes), label) in pairs.iter().zip(labels) {
        let tree = Tree::new(all, cubes.iter().cloned().collect(), 0, &mut tests, budget)?;
        let here = Expr::Atom(Atom::At(CLIENT, label));
        asked.push(Expr::binary(BinOp::And, here, tree.formula(all)));
    }
    stopping.questions = vec![Reaches::never("blocking pair", join(BinOp::Or, asked))];
    let task = Task::new(&stopping, MemoryModel::TSO, search);
    let (found, _) = engine.check(task, &mut |_| {}).map_err(|refusal| refusal.to_string())?;
    match found.into_iter().next().map(|a| a.evidence) {
        Some(Shown::Run(run)) => {
            let evidence = Evidence::Lasso(lasso(system, &stopping, &run, budget)?);
            Ok(Answer { verdict: Verdict::Violated, evidence })
        }
        Some(Shown::Exhausted | Shown::Robust) => Ok(holds(None)),
        Some(Shown::Invariant(set)) => Ok(holds(Some((set, Arc::new(stopping))))),
        Some(Shown::Reason(reason)) => Err(reason),
        Some(Shown::Upward(_) | Shown::Buffers(_)) | None => {
            Err("the search said nothing".to_owned())
        }
    }
}

/// The control states of the client that are on a cycle without return, in a call.
fn on_cycles(system: Expanded<'_>) -> Vec<StateId> {
    let states = system.state_count(CLIENT);
    let pending = |s: &usize| system.state(CLIENT, StateId::new(*s)).is_pending();
    let next = |s: usize| {
        let all = system.transitions(CLIENT, StateId::new(s));
        all.filter(|(_, t)| t.mark.is_none()).map(|(_, t)| t.to.index()).collect::<Vec<_>>()
    };
    let component = components(states, next);
    let mut sizes = vec![0; states];
    component.iter().for_each(|&c| sizes[c] += 1);
    let is_on_cycle = |s: &usize| sizes[component[*s]] > 1 || next(*s).contains(s);
    (0..states).filter(pending).filter(is_on_cycle).map(StateId::new).collect()
}

/// The cubes of blocking pairs of a control state. `left` is how many nodes may
/// still be made.
fn cubes(
    system: Expanded<'_>,
    state: StateId,
    left: &mut usize,
    budget: &Budget,
) -> Result<BTreeSet<Cube>, String> {
    /// A control state, what the first reads have found, and what is known of
    /// memory now.
    type Node = (StateId, Cube, Cube);
    let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
    let mut nodes: Vec<Node> = Vec::new();
    let mut edges: Vec<Vec<usize>> = Vec::new();
    let start: Node = (state, Cube::new(), Cube::new());
    numbers.insert(start.clone(), 0);
    nodes.push(start);
    while let Some((control, found, now)) = nodes.get(edges.len()).cloned() {
        budget.tick().map_err(|stop| stop.to_string())?;
        let mut out = Vec::new();
        for (_, t) in system.transitions(CLIENT, control) {
            if matches!(t.mark, Some(Mark::Return(..))) {
                continue;
            }
            let (mut found, mut now) = (found.clone(), now.clone());
            if let Op::Read(x, d) | Op::Arw(x, d, _) = t.op {
                match now.get(&x) {
                    Some(&known) if known != d => continue,
                    Some(_) => {}
                    None => {
                        found.insert(x, d);
                        now.insert(x, d);
                    }
                }
            }
            if let Op::Write(x, d) | Op::Arw(x, _, d) = t.op {
                now.insert(x, d);
            }
            let node = (t.to, found, now);
            let next = nodes.len();
            let number = *numbers.entry(node.clone()).or_insert(next);
            if number == next {
                *left = left.checked_sub(1).ok_or("one client alone has too many states")?;
                nodes.push(node);
            }
            out.push(number);
        }
        edges.push(out);
    }
    let component = components_within(nodes.len(), |n| edges[n].clone(), budget)
        .map_err(|stop| stop.to_string())?;
    let mut sizes = vec![0; nodes.len()];
    component.iter().for_each(|&c| sizes[c] += 1);
    let turns = |n: &usize| sizes[component[*n]] > 1 || edges[*n].contains(n);
    Ok((0..nodes.len()).filter(turns).map(|n| nodes[n].1.clone()).collect())
}

/// A set of memories: variables are asked for in their order, and only where the
/// answer matters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tree {
    All,
    None,
    Ask(VarId, Vec<Tree>),
}

impl Tree {
    /// The union of cubes, of which only the variables from `from` on are left.
    fn new(
        system: Expanded<'_>,
        cubes: Vec<Cube>,
        from: usize,
        tests: &mut usize,
        budget: &Budget,
    ) -> Result<Self, String> {
        budget.work(1 + cubes.len() / 64).map_err(|stop| stop.to_string())?;
        if cubes.is_empty() {
            return Ok(Self::None);
        }
        if cubes.iter().any(Cube::is_empty) {
            return Ok(Self::All);
        }
        *tests += 1;
        if *tests > MAX_TESTS {
            return Err("there are too many blocking pairs to ask for".to_owned());
        }
        let var = VarId::new(from);
        let mut children = Vec::new();
        for &value in system.values(var) {
            let agrees = |cube: &&Cube| cube.get(&var).is_none_or(|d| *d == value);
            let without = |cube: &Cube| {
                cube.iter().filter(|(x, _)| **x != var).map(|(x, d)| (*x, *d)).collect()
            };
            let some = cubes.iter().filter(agrees).map(without).collect();
            children.push(Self::new(system, some, from + 1, tests, budget)?);
        }
        if children.iter().all(|c| *c == children[0]) {
            return Ok(children.swap_remove(0));
        }
        Ok(Self::Ask(var, children))
    }

    fn formula(&self, system: Expanded<'_>) -> Formula {
        match self {
            Self::All => Expr::Const(1),
            Self::None => Expr::Const(0),
            Self::Ask(var, children) => {
                let mut ways = Vec::new();
                for (value, child) in system.values(*var).iter().zip(children) {
                    let number = system.value(*var, *value);
                    let test =
                        Expr::binary(BinOp::Eq, Expr::Atom(Atom::Var(*var)), Expr::Const(number));
                    match child {
                        Self::None => {}
                        Self::All => ways.push(test),
                        Self::Ask(..) => {
                            ways.push(Expr::binary(BinOp::And, test, child.formula(system)));
                        }
                    }
                }
                join(BinOp::Or, ways)
            }
        }
    }
}

/// `a op b op …`, as flat as it can be; not of nothing.
fn join(op: BinOp, mut all: Vec<Formula>) -> Formula {
    if all.len() == 1 {
        return all.swap_remove(0);
    }
    let right = all.split_off(all.len() / 2);
    Expr::binary(op, join(op, all), join(op, right))
}

/// The violation that goes on from a run to a blocking pair.
fn lasso(system: &System, stopping: &System, run: &Run, budget: &Budget) -> Result<Lasso, String> {
    let far = Form::Tso.semantics(system, MemoryModel::TSO, MAX_BUFFER);
    let stopped = |stop: Stop| stop.to_string();
    let start = far
        .initial()
        .find(|c| Snapshot::new(&*far, c) == run.start)
        .ok_or("the run does not begin where the object does")?;
    let all = system.expanded(budget).map_err(stopped)?;
    let edges = flushed(all, stopping, run)?;
    let (mut steps, end) = follow(&*far, &start, &edges, budget).map_err(stopped)?;
    // Bounded by one, every write is flushed before the next: that is SC.
    let near = Form::Tso.semantics(system, MemoryModel::TSO, 1);
    let alone = Graph::explore(&*near, system, [end], Some(CLIENT), &Extent::new(budget))
        .map_err(|e| e.reason)?;
    let question = Question::Progress(Progress::ObstructionFree);
    let cycle = find_any(&alone, &patterns(&alone, question, true, false), budget)
        .map_err(stopped)?
        .ok_or("the client does not block where it should")?;
    let rest = Lasso::new(&*near, MemoryModel::TSO, &alone, &cycle, budget).map_err(stopped)?;
    let stem = steps.len() + rest.stem;
    steps.extend(rest.run.steps);
    Ok(Lasso { run: Run { start: run.start.clone(), steps, ..rest.run }, stem })
}

/// The steps of a run without the `fence` to the stop, and without what the other
/// clients did from their first write on that was not flushed.
fn flushed(all: Expanded<'_>, stopping: &System, run: &Run) -> Result<Vec<Edge>, String> {
    let system = all.system();
    let n = system.processes.len();
    let mut flushes = vec![0_usize; n];
    for step in &run.steps {
        flushes[step.process.index()] += usize::from(step.rule == Rule::Update);
    }
    let mut writes = vec![0_usize; n];
    let mut edges = Vec::new();
    for step in &run.steps {
        let p = step.process.index();
        let Some(id) = step.transition else {
            edges.push(Edge::new(system, step.process, None, 0));
            continue;
        };
        let taken = stopping.transition(step.process, id);
        if matches!(taken.op, Op::Write(..)) {
            writes[p] += 1;
        }
        // From here on it does nothing but flush.
        if writes[p] > flushes[p] {
            continue;
        }
        if stopping.state(step.process, taken.to).is_stop {
            continue;
        }
        let from = system.find_state(step.process, &stopping.state_name(step.process, taken.from));
        let name = stopping.transition_name(step.process, taken);
        let same = from.and_then(|from| all.find_transition(step.process, from, &name));
        let id = same.ok_or("the run takes a step that the object does not have")?;
        edges.push(Edge::new(system, step.process, Some(id), 0));
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the others have not flushed is left out, as in the proof of Lemma 2.
    #[test]
    fn a_run_with_full_buffers_becomes_a_lasso_with_empty_ones() {
        let text = "object o {
            var held: bool, junk: 0..1
            method enter { while not cas(held, 0, 1) { }   held = 0 }
            method mark { reg r; junk = 1; r = held; return r }
        }";
        let object = weir_front::weir::read("o.weir", text).unwrap().0.with_clients(2).unwrap();
        let system = System::with_rounds(object.clone()).unwrap();
        let budget = Budget::new();
        let stops = on_cycles(system.expanded(&budget).unwrap());
        let rebuilt = System::with_rounds(object).unwrap();
        let again = |q: &StateId| rebuilt.find_state(CLIENT, &system.state_name(CLIENT, *q));
        let stops: Vec<StateId> = stops.iter().map(|q| again(q).unwrap()).collect();
        let (stopping, _) = rebuilt.with_stops(CLIENT, &stops);
        let tso = Form::Tso.semantics(&stopping, MemoryModel::TSO, 2);
        let initial: Vec<_> = tso.initial().collect();
        let extent = Extent::new(&budget);
        let graph = Graph::explore(&*tso, &stopping, initial.clone(), None, &extent).unwrap();
        let mut tried = 0;
        for node in 0..graph.len() {
            let config = graph.config(node);
            let (stopped, held) =
                (stopping.state(CLIENT, StateId(config[0])).is_stop, config[2] == 1);
            if !stopped || !held || graph.is_drained(node, ProcessId(1)) {
                continue;
            }
            let mut edges = Vec::new();
            let mut at = node;
            while let Some(parent) = graph.parent(at) {
                edges.extend(graph.edges(parent).iter().find(|e| e.to as usize == at));
                at = parent;
            }
            edges.reverse();
            let (steps, _) = follow(&*tso, &initial[0], &edges, &budget).unwrap();
            let start = Snapshot::new(&*tso, &initial[0]);
            let run = Run { model: MemoryModel::TSO, form: Form::Tso, bound: 2, start, steps };
            let lasso = lasso(&system, &stopping, &run, &budget).unwrap();
            assert!(lasso.run.end(&system).pending.iter().all(Vec::is_empty));
            tried += 1;
        }
        assert!(tried > 0);
    }
}
