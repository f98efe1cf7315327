//! Cycles that meet conditions: the search for all properties.
//!
//! *Problem.* Given a finite graph, find a cycle that meets several *goals*, each by one
//! of its nodes or edges, and *debts*: a cycle with an edge of the first kind must have
//! an edge of the second kind as well. An infinite run through a finite graph stays in
//! one strongly connected component from some moment on, and the edges that it takes
//! infinitely often are strongly connected; so there is such a run if and only if there
//! is such a cycle.
//!
//! *Algorithm.* Compute the strongly connected components (Tarjan 1972, without
//! recursion). A component that misses a goal has no such cycle. A component that meets
//! all goals and pays all debts has one: through a node or edge for each. If a component
//! does not pay a debt, a cycle cannot use edges of the first kind: they are removed, and
//! the rest is decomposed again (the usual algorithm for Streett conditions). It
//! terminates, since there are fewer edges each time.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use weir_model::graph::components_within;
use weir_model::limits::{Budget, Stop};

use crate::graph::{Edge, Graph};

/// A node, or an edge with the node that it leaves.
#[derive(Clone, Copy)]
pub enum Place<'e> {
    /// A node.
    Node(usize),
    /// An edge.
    Edge(usize, &'e Edge),
}

/// A test of a place.
pub type Test<'a> = Box<dyn Fn(Place<'_>) -> bool + 'a>;

/// The kind of cycle that is looked for.
pub struct CyclePattern<'a> {
    /// Which nodes and edges it may use.
    pub within: Test<'a>,
    /// For each, it has a node or an edge that passes.
    pub goals: Vec<Test<'a>>,
    /// For each, if it has a place that passes the first, it has one that passes
    /// the second.
    pub debts: Vec<(Test<'a>, Test<'a>)>,
}

/// A cycle: the node where it begins, and its edges.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The node with the shortest way to it.
    pub start: usize,
    /// The edges, the last of which leads back.
    pub edges: Vec<Edge>,
}

/// A part of the graph that is still to be looked at.
struct Part {
    /// In order.
    nodes: Vec<usize>,
    /// The debts whose first kind may not be used.
    closed: Vec<bool>,
}

/// The cycle of a kind that begins nearest to the initial nodes, if there is one.
///
/// # Errors
/// If a limit is reached.
pub fn find(
    graph: &Graph<'_>,
    pattern: &CyclePattern<'_>,
    budget: &Budget,
) -> Result<Option<Cycle>, Stop> {
    let nodes = (0..graph.len()).filter(|&n| (pattern.within)(Place::Node(n))).collect();
    let mut work = vec![Part { nodes, closed: vec![false; pattern.debts.len()] }];
    let mut best: Option<Piece<'_, '_>> = None;
    while let Some(part) = work.pop() {
        for nodes in part.components(graph, pattern, budget)? {
            budget.work(1 + nodes.len() / 64)?;
            let piece = Piece { graph, pattern, budget, closed: part.closed.clone(), nodes };
            let is_nearer = best.as_ref().is_none_or(|b| piece.nodes[0] < b.nodes[0]);
            if !is_nearer || !pattern.goals.iter().all(|goal| piece.place(goal).is_some()) {
                continue;
            }
            let unpaid = |(first, second): &(Test<'_>, Test<'_>)| {
                piece.place(first).is_some() && piece.place(second).is_none()
            };
            let unpaid: Vec<bool> = pattern.debts.iter().map(unpaid).collect();
            if unpaid.contains(&true) {
                let closed = unpaid.iter().zip(&part.closed).map(|(a, b)| a | b).collect();
                work.push(Part { nodes: piece.nodes, closed });
            } else {
                best = Some(piece);
            }
        }
    }
    best.map(|piece| piece.cycle()).transpose()
}

impl Part {
    /// The components with an edge inside, each with its nodes in order.
    fn components(
        &self,
        graph: &Graph<'_>,
        pattern: &CyclePattern<'_>,
        budget: &Budget,
    ) -> Result<Vec<Vec<usize>>, Stop> {
        let inner = |i: usize| {
            let node = self.nodes[i];
            let open = graph.edges(node).iter().filter(|e| is_open(pattern, &self.closed, node, e));
            open.filter_map(|e| self.nodes.binary_search(&(e.to as usize)).ok()).collect::<Vec<_>>()
        };
        let component = components_within(self.nodes.len(), inner, budget)?;
        let mut sizes = vec![0_usize; self.nodes.len()];
        component.iter().for_each(|&c| sizes[c] += 1);
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, &c) in component.iter().enumerate() {
            budget.tick()?;
            if sizes[c] > 1 || inner(i).contains(&i) {
                parts.entry(c).or_default().push(self.nodes[i]);
            }
        }
        Ok(parts.into_values().collect())
    }
}

fn is_open(pattern: &CyclePattern<'_>, closed: &[bool], node: usize, edge: &Edge) -> bool {
    let place = Place::Edge(node, edge);
    (pattern.within)(place)
        && pattern.debts.iter().zip(closed).all(|((first, _), &closed)| !closed || !first(place))
}

/// A component.
struct Piece<'g, 'h> {
    graph: &'g Graph<'g>,
    pattern: &'h CyclePattern<'h>,
    budget: &'h Budget,
    closed: Vec<bool>,
    /// In order, at least one.
    nodes: Vec<usize>,
}

impl Piece<'_, '_> {
    /// The edges of a node that stay inside.
    fn edges(&self, node: usize) -> impl Iterator<Item = &Edge> {
        self.graph.edges(node).iter().filter(move |e| {
            self.nodes.binary_search(&(e.to as usize)).is_ok()
                && is_open(self.pattern, &self.closed, node, e)
        })
    }

    /// The first place that passes: the node, and the edge if it is one.
    fn place(&self, test: &Test<'_>) -> Option<(usize, Option<Edge>)> {
        self.nodes.iter().find_map(|&n| {
            if test(Place::Node(n)) {
                return Some((n, None));
            }
            let edge = self.edges(n).find(|e| test(Place::Edge(n, e)));
            edge.map(|e| (n, Some(*e)))
        })
    }

    /// A cycle with a place for each goal and each debt that is to be paid.
    fn cycle(&self) -> Result<Cycle, Stop> {
        let start = self.nodes[0];
        let owed = self.pattern.debts.iter().filter(|(first, _)| self.place(first).is_some());
        let mut way = Way { at: start, steps: Vec::new() };
        for test in self.pattern.goals.iter().chain(owed.map(|(_, second)| second)) {
            if way.meets(test) {
                continue;
            }
            if let Some((node, edge)) = self.place(test) {
                self.go(&mut way, node)?;
                way.extend(edge);
            }
        }
        if way.steps.is_empty() {
            way.extend(self.edges(start).next().copied());
        }
        self.go(&mut way, start)?;
        Ok(Cycle { start, edges: way.steps.into_iter().map(|(_, edge)| edge).collect() })
    }

    /// Goes the shortest way to a node.
    fn go(&self, way: &mut Way, to: usize) -> Result<(), Stop> {
        let mut from: FxHashMap<usize, (usize, Edge)> = FxHashMap::default();
        let mut queue = VecDeque::from([way.at]);
        while let Some(node) = queue.pop_front().filter(|&n| n != to) {
            self.budget.tick()?;
            for edge in self.edges(node) {
                let next = edge.to as usize;
                if next != way.at && !from.contains_key(&next) {
                    from.insert(next, (node, *edge));
                    queue.push_back(next);
                }
            }
        }
        let mut back = Vec::new();
        let mut node = to;
        while node != way.at {
            let (before, edge) = from[&node];
            back.push(edge);
            node = before;
        }
        way.extend(back.into_iter().rev());
        Ok(())
    }
}

/// The beginning of a cycle.
struct Way {
    at: usize,
    steps: Vec<(usize, Edge)>,
}

impl Way {
    fn meets(&self, test: &Test<'_>) -> bool {
        let met = |(n, e): &(usize, Edge)| test(Place::Node(*n)) || test(Place::Edge(*n, e));
        test(Place::Node(self.at)) || self.steps.iter().any(met)
    }

    fn extend(&mut self, edges: impl IntoIterator<Item = Edge>) {
        for edge in edges {
            self.steps.push((self.at, edge));
            self.at = edge.to as usize;
        }
    }
}
