//! Finite graphs of configurations, with labeled edges.
//!
//! A node is a configuration, an edge a step. Edges and nodes are labeled with what
//! progress depends on: whose step it is, whether a call returns with it, whether a write
//! enters or leaves a buffer, and in which nodes which buffers are empty. If a node
//! represents one configuration, its edges are steps of the semantics and its cycles are
//! real; `fold` builds graphs in which a node represents many.

use std::fmt;

use weir_engine::store::Store;
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId};
use weir_model::limits::{Budget, INTERVAL, Stop};
use weir_model::semantics::{Rule, Semantics, Step};
use weir_model::system::{Mark, Op, System};

/// A step as an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it leads.
    pub to: u32,
    /// Whose step it is.
    pub process: ProcessId,
    /// The transition, unless a write leaves the buffer.
    pub transition: Option<TransitionId>,
    /// Whether it is a return.
    pub returns: bool,
    /// Whether a write enters the buffer.
    pub writes: bool,
    /// Whether it is a part of a round of an `await`.
    pub waits: bool,
    /// Whether it is no step: a run that has ended stays where it is.
    pub stutters: bool,
}

impl Edge {
    /// An edge that takes a transition, or one along which a write leaves a buffer.
    pub fn new(
        system: &System,
        process: ProcessId,
        transition: Option<TransitionId>,
        to: u32,
    ) -> Self {
        let taken = transition.map(|t| system.transition(process, t));
        Self {
            to,
            process,
            transition,
            returns: taken.is_some_and(|t| matches!(t.mark, Some(Mark::Return(..)))),
            writes: taken.is_some_and(|t| matches!(t.op, Op::Write(..))),
            waits: taken.is_some_and(|t| t.waits),
            stutters: false,
        }
    }

    /// No step.
    pub(crate) fn stutter() -> Self {
        let (process, transition) = (ProcessId(0), None);
        let (returns, writes, waits) = (false, false, false);
        Self { to: 0, process, transition, returns, writes, waits, stutters: true }
    }

    /// Whether a write leaves the buffer.
    pub fn updates(&self) -> bool {
        self.transition.is_none() && !self.stutters
    }
}

/// A finite graph of configurations.
pub struct Graph<'s> {
    /// The system.
    pub system: &'s System,
    /// The nodes.
    pub(crate) store: Store,
    edges: Vec<Edge>,
    /// Where the edges of each node end in `edges`.
    ends: Vec<usize>,
    /// For each node a bit for each process whose buffer is empty.
    empty: Vec<u64>,
    /// Whether no step was left out because of a bound on buffers, or on nodes.
    pub complete: bool,
    /// Why it was not finished, if it is only a part: nodes that were not expanded have no
    /// edges, so all cycles are real.
    pub(crate) unfinished: Option<Unfinished>,
}

/// How far a graph may grow.
#[derive(Clone, Debug)]
pub struct Extent {
    /// How much time and memory there is.
    pub budget: Budget,
    /// The most nodes that it may have. A later search may be given more.
    pub nodes: usize,
    /// Whether a graph with more nodes is returned as far as it was built. If not, that is
    /// an error.
    pub partial: bool,
}

/// Why a graph was not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// In words.
    pub reason: String,
    /// How many configurations it had by then.
    pub nodes: usize,
    /// Whether a larger [`Extent::nodes`] would let it go on.
    pub can_grow: bool,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unfinished {}

impl Unfinished {
    /// A limit was reached when there were so many configurations.
    pub(crate) fn stopped(stop: Stop, nodes: usize) -> Self {
        Self::new(stop.to_string(), nodes)
    }

    pub(crate) fn new(reason: impl Into<String>, nodes: usize) -> Self {
        Self { reason: reason.into(), nodes, can_grow: false }
    }
}

impl Extent {
    /// Any number of nodes within a budget.
    pub fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), nodes: usize::MAX, partial: false }
    }

    /// # Errors
    /// If something of this size is too large, or a limit is reached.
    fn check(&self, nodes: usize, bytes: usize) -> Result<(), Unfinished> {
        self.budget.check_store(bytes).map_err(|stop| Unfinished::stopped(stop, nodes))?;
        if nodes >= self.nodes {
            let stopped = Unfinished::new("the graph was too large", nodes);
            return Err(Unfinished { can_grow: true, ..stopped });
        }
        Ok(())
    }
}

/// What makes the successors of a node: calls back with each edge (its end is
/// filled in) and the configuration that it leads to. `false` if a step was left
/// out because of a bound.
pub(crate) type Successors<'a> = &'a mut dyn FnMut(&[Cell], &mut dyn FnMut(Edge, &[Cell])) -> bool;

impl<'s> Graph<'s> {
    /// Everything that can be reached from some configurations of a semantics. If
    /// only some process is to move, it is named.
    ///
    /// # Errors
    /// If a limit is hit.
    pub fn explore(
        semantics: &dyn Semantics,
        system: &'s System,
        initial: impl IntoIterator<Item = Vec<Cell>>,
        only: Option<ProcessId>,
        extent: &Extent,
    ) -> Result<Self, Unfinished> {
        let mut scratch = Vec::new();
        let mut successors = |config: &[Cell], visit: &mut dyn FnMut(Edge, &[Cell])| {
            semantics.successors(config, &mut scratch, &mut |step: Step, next| {
                if only.is_none_or(|p| p == step.process) {
                    visit(Edge::new(system, step.process, step.transition, 0), next);
                }
            })
        };
        let mut empty = |config: &[Cell]| {
            if semantics.is_drained(config) {
                return u64::MAX;
            }
            mask(semantics.pending(config).iter().map(Vec::is_empty))
        };
        Self::grow(system, initial, &mut successors, &mut empty, extent)
    }

    /// Everything that can be reached by a function of successors.
    pub(crate) fn grow(
        system: &'s System,
        initial: impl IntoIterator<Item = Vec<Cell>>,
        successors: Successors<'_>,
        empty: &mut dyn FnMut(&[Cell]) -> u64,
        extent: &Extent,
    ) -> Result<Self, Unfinished> {
        let mut graph = Self {
            system,
            store: Store::within(&extent.budget),
            edges: Vec::new(),
            ends: Vec::new(),
            empty: Vec::new(),
            complete: true,
            unfinished: None,
        };
        let budget = &extent.budget;
        for config in initial {
            graph.store.insert(&config, None).map_err(|e| Unfinished::new(e.to_string(), 0))?;
        }
        let mut next: Vec<(Edge, Vec<Cell>)> = Vec::new();
        while let Some(id) = graph.store.take_next() {
            let nodes = graph.ends.len();
            if nodes.is_multiple_of(INTERVAL)
                && let Err(unfinished) = extent.check(nodes, graph.bytes())
            {
                if !(unfinished.can_grow && extent.partial) {
                    return Err(unfinished);
                }
                graph.complete = false;
                graph.ends.resize(graph.store.len(), graph.edges.len());
                graph.empty.resize(graph.store.len(), 0);
                graph.unfinished = Some(unfinished);
                break;
            }
            let room =
                budget.check_growth(graph.edges.len(), graph.edges.capacity(), size_of::<Edge>());
            room.and_then(|()| budget.tick()).map_err(|stop| Unfinished::stopped(stop, nodes))?;
            let config = graph.store.get(id);
            graph.empty.push(empty(&config));
            next.clear();
            graph.complete &= successors(&config, &mut |edge, to| next.push((edge, to.to_vec())));
            for (edge, to) in next.drain(..) {
                let numbered = graph.store.number(&to, Some(id));
                let (to, _) = numbered.map_err(|e| Unfinished::new(e.to_string(), nodes))?;
                graph.edges.push(Edge { to: to.index() as u32, ..edge });
            }
            graph.ends.push(graph.edges.len());
        }
        Ok(graph)
    }

    fn bytes(&self) -> usize {
        self.store.bytes()
            + self.edges.capacity() * size_of::<Edge>()
            + (self.ends.capacity() + self.empty.capacity()) * 8
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The edges that leave a node.
    pub fn edges(&self, node: usize) -> &[Edge] {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.edges[start..self.ends[node]]
    }

    /// The configuration of a node; its first cells are control states and memory.
    pub fn config(&self, node: usize) -> Vec<Cell> {
        self.store.get(self.store.id(node).expect("a node of this graph"))
    }

    /// Whether a process has a pending call in a node.
    pub fn is_pending(&self, node: usize, process: ProcessId) -> bool {
        let control = StateId(self.config(node)[process.index()]);
        self.system.state(process, control).is_pending()
    }

    /// Whether the buffer of a process is empty in a node.
    pub fn is_drained(&self, node: usize, process: ProcessId) -> bool {
        self.empty[node] >> process.index() & 1 == 1
    }

    /// A bit for each process whose buffer is empty in a node.
    pub(crate) fn drained(&self, node: usize) -> u64 {
        self.empty[node]
    }

    /// The node from which a node was reached first.
    pub fn parent(&self, node: usize) -> Option<usize> {
        self.store.parent(self.store.id(node)?).map(|p| p.index())
    }
}

/// A bit for each process.
pub(crate) fn mask(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |mask, (i, bit)| mask | u64::from(bit) << i)
}

/// The steps from one configuration along edges, as a semantics takes them.
///
/// # Errors
/// If a limit is reached.
///
/// # Panics
/// If the semantics has no such step, which takes a graph of another semantics.
pub(crate) fn follow(
    semantics: &dyn Semantics,
    from: &[Cell],
    edges: &[Edge],
    budget: &Budget,
) -> Result<(Vec<Step>, Vec<Cell>), Stop> {
    let mut config = from.to_vec();
    let mut steps = Vec::new();
    for edge in edges {
        budget.tick()?;
        let step = semantics.take(&mut config, &|step| {
            let same = step.process == edge.process && step.transition == edge.transition;
            same && (step.transition.is_some() || step.rule == Rule::Update)
        });
        steps.push(step.expect("a step of this semantics"));
    }
    Ok((steps, config))
}
