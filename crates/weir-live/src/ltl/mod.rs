//! Formulas of linear temporal logic: runs that do not satisfy one.
//!
//! *Problem.* Given a graph of configurations and a formula, is there a run through the graph that
//! does not satisfy the formula? A run goes on as long as some process can take a step; if it ends,
//! its last configuration is repeated for ever. Waiting is no step: rounds of an `await` do not
//! make a run infinite. If every process can only wait, the run has ended.
//!
//! *Algorithm.* The product of the graph and the [`automaton`] of the words that do not satisfy the
//! formula. A node of it is a configuration, the letter that is read there, and a state of the
//! automaton that reads it. In the middle of an atomic block, which formulas do not observe, the
//! letter is the last one that was read; a formula without `next` cannot count repetitions. A run
//! that does not satisfy the formula is a cycle that visits every set of accepting states and has a
//! step that is not waiting; [`fair`](crate::fair) finds it.

pub(crate) mod automaton;

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, ProcessId, StateId, ValueId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Ltl, Runs};
use weir_model::semantics::{Form, Semantics};
use weir_model::system::System;

use crate::fair::{self, Cycle, CyclePattern, Place, Test};
use crate::graph::{Edge, Extent, Graph, Unfinished, follow};
use crate::lasso::Lasso;
use crate::property::{edge_test, in_block};
use crate::search::MAX_BUFFER;
use automaton::{Automaton, Failed};

/// What is asked, and of which runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'f> {
    pub formula: &'f Ltl,
    pub runs: Runs,
    /// Whether only runs count in which every write reaches memory.
    pub flush_fair: bool,
    /// Whether the graph may have endless flushes without writes, which no run has.
    pub spends: bool,
}

/// A run through a graph that does not satisfy a formula.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    /// Where the run begins.
    start: usize,
    stem: Vec<Edge>,
    /// Nothing if the run ends.
    cycle: Vec<Edge>,
}

/// Finds a run that does not satisfy a formula.
///
/// # Errors
/// If something is too large, or a limit is reached.
pub(crate) fn find(
    graph: &Graph<'_>,
    asked: Asked<'_>,
    budget: &Budget,
) -> Result<Option<Violation>, Unfinished> {
    let stopped = |stop: Stop| Unfinished::stopped(stop, graph.len());
    let automaton =
        Automaton::new(asked.formula, false, budget).map_err(|failed| match failed {
            Failed::TooLarge(reason) => Unfinished::new(reason, graph.len()),
            Failed::Stopped(stop) => stopped(stop),
        })?;
    let moments = Moments::new(graph, &automaton, asked.runs, budget).map_err(stopped)?;
    let product = product(graph, &automaton, &moments, budget)?;
    let pattern = pattern(graph, &automaton, &moments, &product, asked);
    let Some(cycle) = fair::find(&product, &pattern, budget).map_err(stopped)? else {
        return Ok(None);
    };
    Ok(Some(violation(&product, &cycle)))
}

/// What is true of the nodes of a graph.
struct Moments {
    /// The letter of each node; nothing in the middle of an atomic block.
    letters: Vec<Option<u32>>,
    /// Whether a run ends here, because every process can only wait, and such a run counts.
    ends: Vec<bool>,
}

impl Moments {
    fn new(
        graph: &Graph<'_>,
        automaton: &Automaton,
        runs: Runs,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let system = graph.system;
        let (mut letters, mut ends) = (Vec::new(), Vec::new());
        for node in 0..graph.len() {
            budget.tick()?;
            let config = graph.config(node);
            let (controls, rest) = config.split_at(system.processes.len());
            let memory = &rest[..system.vars.len()];
            let is_inside = in_block(system, &config);
            letters.push((!is_inside).then(|| {
                let bits = automaton.letters.iter().enumerate();
                bits.fold(0, |letter, (i, formula)| {
                    letter | u32::from(system.truth(formula, controls, memory) == Ok(true)) << i
                })
            }));
            let is_drained = system.process_ids().all(|p| graph.is_drained(node, p));
            let is_end = || !is_inside && is_drained && is_over(system, controls, memory);
            ends.push(runs != Runs::Endless && is_end());
        }
        Ok(Self { letters, ends })
    }
}

/// Whether no process can do anything but wait, on a memory that does not change any more.
fn is_over(system: &System, controls: &[Cell], memory: &[Cell]) -> bool {
    let memory: Vec<ValueId> = memory.iter().map(|cell| ValueId(*cell)).collect();
    system.process_ids().all(|p| system.is_stuck(p, StateId(controls[p.index()]), &memory))
}

/// The product: its configurations are a node, a letter and a state of the automaton.
fn product<'s>(
    graph: &Graph<'s>,
    automaton: &Automaton,
    moments: &Moments,
    budget: &Budget,
) -> Result<Graph<'s>, Unfinished> {
    let mut initial = Vec::new();
    for node in (0..graph.len()).take_while(|&node| graph.parent(node).is_none()) {
        let letter = moments.letters[node].unwrap_or(0);
        for &state in &automaton.initial {
            if automaton.states[state as usize].reads(letter) {
                initial.push(vec![node as Cell, letter, state]);
            }
        }
    }
    let mut successors = |config: &[Cell], visit: &mut dyn FnMut(Edge, &[Cell])| {
        let [node, letter, state] = *config else { unreachable!("a node of the product") };
        let next = &automaton.states[state as usize].next;
        let mut go = |edge: Edge, to: usize, letter: u32| {
            for &state in next {
                if automaton.states[state as usize].reads(letter) {
                    visit(edge, &[to as Cell, letter, state]);
                }
            }
        };
        for edge in graph.edges(node as usize) {
            let to = edge.to as usize;
            go(*edge, to, moments.letters[to].unwrap_or(letter));
        }
        if moments.ends[node as usize] {
            go(Edge::stutter(), node as usize, letter);
        }
        true
    };
    let mut empty = |config: &[Cell]| graph.drained(config[0] as usize);
    Graph::grow(graph.system, initial, &mut successors, &mut empty, &Extent::new(budget))
}

/// The cycles of the product that are runs which do not satisfy the formula.
fn pattern<'a>(
    graph: &'a Graph<'a>,
    automaton: &'a Automaton,
    moments: &'a Moments,
    product: &'a Graph<'a>,
    asked: Asked<'_>,
) -> CyclePattern<'a> {
    let system = graph.system;
    let mut goals: Vec<Test<'a>> = Vec::new();
    for set in 0..automaton.sets {
        goals.push(Box::new(move |place| match place {
            Place::Node(n) => automaton.states[product.config(n)[2] as usize].accepts[set],
            Place::Edge(..) => false,
        }));
    }
    goals.push(edge_test(|e| e.stutters || !e.waits));
    let mut debts = Vec::new();
    for p in system.process_ids() {
        if asked.runs == Runs::Fair {
            goals.push(takes_part(graph, moments, product, p));
        }
        if asked.flush_fair {
            goals.push(Box::new(move |place| match place {
                Place::Node(n) => product.is_drained(n, p),
                Place::Edge(_, e) => e.process == p && e.updates(),
            }));
        }
        if asked.spends {
            let updates = edge_test(move |e| e.process == p && e.updates());
            let writes = edge_test(move |e| e.process == p && e.writes);
            debts.push((updates, writes));
        }
    }
    CyclePattern { within: Box::new(|_| true), goals, debts }
}

/// A process takes infinitely many steps, or infinitely often has no step, or the run has ended.
fn takes_part<'a>(
    graph: &'a Graph<'a>,
    moments: &'a Moments,
    product: &'a Graph<'a>,
    p: ProcessId,
) -> Test<'a> {
    Box::new(move |place| match place {
        Place::Node(n) => {
            let node = product.config(n)[0] as usize;
            let steps = || graph.edges(node).iter().any(|e| e.process == p && !e.updates());
            // Who is locked out by a block could go on.
            moments.ends[node] || moments.letters[node].is_some() && !steps()
        }
        Place::Edge(_, e) => !e.stutters && e.process == p && !e.updates(),
    })
}

/// The run of a cycle of the product.
fn violation(product: &Graph<'_>, cycle: &Cycle) -> Violation {
    let mut stem = Vec::new();
    let mut node = cycle.start;
    while let Some(parent) = product.parent(node) {
        let step = product.edges(parent).iter().find(|e| e.to as usize == node);
        stem.push(*step.expect("a parent has an edge to its child"));
        node = parent;
    }
    stem.reverse();
    // After the end of a run every process only waits. The cycle may begin in the middle of a
    // round, from where it is not yet the end.
    stem.retain(|edge| !edge.stutters);
    let end = cycle.edges.iter().position(|edge| edge.stutters);
    let cycle = match end {
        Some(end) => {
            stem.extend(&cycle.edges[..end]);
            Vec::new()
        }
        None => cycle.edges.clone(),
    };
    Violation { start: product.config(node)[0] as usize, stem, cycle }
}

impl Violation {
    /// The run as a lasso of a semantics.
    pub fn lasso(
        &self,
        semantics: &dyn Semantics,
        model: MemoryModel,
        graph: &Graph<'_>,
        budget: &Budget,
    ) -> Result<Lasso, Stop> {
        let system = graph.system;
        let head = system.processes.len() + system.vars.len();
        let mut start = graph.config(self.start)[..head].to_vec();
        semantics.initial_rest(&mut start);
        let edges = [self.stem.as_slice(), &self.cycle].concat();
        let (steps, _) = follow(semantics, &start, &edges, budget)?;
        let start = Snapshot::new(semantics, &start);
        let form = Form::of(model)[0];
        Ok(Lasso {
            run: Run { model, form, bound: MAX_BUFFER, start, steps },
            stem: self.stem.len(),
        })
    }
}
