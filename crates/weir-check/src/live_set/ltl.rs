//! Whether a closed set has a run that does not satisfy a formula of linear temporal logic.
//!
//! The graph of the set is combined with the tableau of the formula: a node is a configuration,
//! what is true of it, and which temporal parts of the formula hold at the next moment. An edge
//! leads to where just these parts hold. A run that does not satisfy the formula is a path from a
//! node in which the formula does not hold, along which no part is put off for ever. Where every
//! process can only wait, the run has ended and stays in this state. In the middle of an atomic
//! block the truth values are those before it.

use std::collections::HashMap;
use std::rc::Rc;

use weir_model::answer::{Buffered, StoreBuffer};
use weir_model::graph::components;
use weir_model::ids::ProcessId;
use weir_model::program::{Ltl, Runs};

use super::{Edge, Graph};
use crate::ltl::{Moment, Tableau};
use crate::truth::{is_stuck, truth};

/// A configuration, the letter that is read there, and what holds at the next moment.
type Node = (usize, u64, u32);

/// An edge of the product: where it leads from and to, and the step, if it is one.
#[derive(Clone, Copy)]
struct Arc {
    from: usize,
    to: usize,
    step: Option<Edge>,
}

/// What the tableau says of a letter.
struct Table {
    moments: Vec<Moment>,
    /// What may hold at the next moment, by what holds at this one.
    by_holding: HashMap<u32, Vec<u32>>,
}

/// What is asked, and of which runs.
pub(super) struct Asked<'f> {
    pub(super) formula: &'f Ltl,
    pub(super) runs: Runs,
}

/// A configuration of a run that does not satisfy the formula, if there is one.
///
/// # Errors
/// If the formula is too large.
pub(super) fn find(
    graph: &Graph<'_>,
    initial: &[usize],
    asked: &Asked<'_>,
) -> Result<Option<usize>, String> {
    let tableau = Tableau::new(asked.formula).ok_or("the formula is too large to be checked")?;
    let mut product = Product::new(graph, &tableau, asked.runs);
    for &config in initial {
        let letter = product.letters[config].unwrap_or(0);
        let table = product.table(letter);
        for (promised, moment) in table.moments.iter().enumerate() {
            if !moment.root {
                product.node((config, letter, promised as u32));
            }
        }
    }
    let mut next = 0;
    while next < product.nodes.len() {
        product.expand(next);
        next += 1;
    }
    Ok(product.violation(asked.runs == Runs::Fair))
}

struct Product<'g, 's, 'f> {
    graph: &'g Graph<'s>,
    tableau: &'g Tableau<'f>,
    /// For each configuration its letter, unless it is in the middle of an atomic block.
    letters: Vec<Option<u64>>,
    /// For each configuration whether a run ends there that counts.
    ends: Vec<bool>,
    tables: HashMap<u64, Rc<Table>>,
    nodes: Vec<Node>,
    numbers: HashMap<Node, usize>,
    arcs: Vec<Arc>,
}

impl<'g, 's, 'f> Product<'g, 's, 'f> {
    fn new(graph: &'g Graph<'s>, tableau: &'g Tableau<'f>, runs: Runs) -> Self {
        let system = graph.system;
        let letter = |n: usize| {
            let Buffered { controls, memory, .. } = &graph.nodes[n];
            let bits = tableau.states.iter().enumerate();
            bits.fold(0, |letter, (i, formula)| {
                letter | u64::from(truth(system, formula, controls, memory) == Some(true)) << i
            })
        };
        let ends = |n: usize| {
            let Buffered { controls, memory, buffers } = &graph.nodes[n];
            runs != Runs::Endless
                && !graph.in_block[n]
                && buffers.iter().all(|buffer| *buffer == StoreBuffer::default())
                && system.process_ids().all(|p| is_stuck(system, p, controls[p.index()], memory))
        };
        let all = 0..graph.nodes.len();
        Self {
            graph,
            tableau,
            letters: all.clone().map(|n| (!graph.in_block[n]).then(|| letter(n))).collect(),
            ends: all.map(ends).collect(),
            tables: HashMap::new(),
            nodes: Vec::new(),
            numbers: HashMap::new(),
            arcs: Vec::new(),
        }
    }

    fn table(&mut self, letter: u64) -> Rc<Table> {
        let tableau = self.tableau;
        let table = self.tables.entry(letter).or_insert_with(|| {
            let moments: Vec<Moment> =
                (0..tableau.promises()).map(|promised| tableau.moment(letter, promised)).collect();
            let mut by_holding: HashMap<u32, Vec<u32>> = HashMap::new();
            for (promised, moment) in (0..).zip(&moments) {
                by_holding.entry(moment.holds).or_default().push(promised);
            }
            Rc::new(Table { moments, by_holding })
        });
        Rc::clone(table)
    }

    fn node(&mut self, node: Node) -> usize {
        let fresh = self.nodes.len();
        let number = *self.numbers.entry(node).or_insert(fresh);
        if number == fresh {
            self.nodes.push(node);
        }
        number
    }

    fn expand(&mut self, from: usize) {
        let (config, letter, promised) = self.nodes[from];
        let steps = self.graph.edges_from(config).iter().map(|e| (e.to, Some(*e)));
        let stays = self.ends[config].then_some((config, None));
        for (to, step) in steps.chain(stays).collect::<Vec<_>>() {
            let letter = self.letters[to].unwrap_or(letter);
            let table = self.table(letter);
            for &next in table.by_holding.get(&promised).into_iter().flatten() {
                let to = self.node((to, letter, next));
                self.arcs.push(Arc { from, to, step });
            }
        }
    }

    /// A configuration of a run along which nothing is put off for ever.
    fn violation(&mut self, fair: bool) -> Option<usize> {
        let mut work = vec![self.arcs.clone()];
        while let Some(arcs) = work.pop() {
            for part in self.parts(&arcs) {
                if !self.is_run(&part, fair) {
                    continue;
                }
                let steps = || part.iter().filter_map(|arc| arc.step);
                let spends = |p: ProcessId| {
                    steps().any(|e| e.process == p && e.updates)
                        && !steps().any(|e| e.process == p && e.writes)
                };
                // Exact buffers have no such parts: they would come back to fewer writes.
                let is_left =
                    |arc: &&Arc| arc.step.is_none_or(|e| !e.updates || !spends(e.process));
                let left: Vec<Arc> = part.iter().filter(is_left).copied().collect();
                match left.len() == part.len() {
                    true => return Some(self.nodes[part[0].from].0),
                    false => work.push(left),
                }
            }
        }
        None
    }

    /// The strongly connected components with at least one edge, as their edges.
    fn parts(&self, arcs: &[Arc]) -> Vec<Vec<Arc>> {
        let mut next: Vec<Vec<usize>> = vec![vec![]; self.nodes.len()];
        arcs.iter().for_each(|arc| next[arc.from].push(arc.to));
        let component = components(self.nodes.len(), |node| next[node].clone());
        let mut parts: HashMap<usize, Vec<Arc>> = HashMap::new();
        for arc in arcs.iter().filter(|arc| component[arc.from] == component[arc.to]) {
            parts.entry(component[arc.from]).or_default().push(*arc);
        }
        parts.into_values().collect()
    }

    /// Whether a run can take all these edges again and again.
    fn is_run(&mut self, part: &[Arc], fair: bool) -> bool {
        let mut settled = 0;
        for arc in part {
            let (_, letter, promised) = self.nodes[arc.from];
            settled |= self.table(letter).moments[promised as usize].settled;
        }
        let graph = self.graph;
        let steps = || part.iter().filter_map(|arc| arc.step);
        let configs = || part.iter().map(|arc| self.nodes[arc.from].0);
        let goes_on = part.iter().any(|arc| arc.step.is_none_or(|e| !e.waits));
        let takes_part = |p: ProcessId| {
            let acts = |e: &Edge| e.process == p && !e.updates;
            // Who is locked out by a block could go on.
            let rests = |n: usize| {
                self.ends[n] || !graph.in_block[n] && !graph.edges_from(n).iter().any(acts)
            };
            steps().any(|e| acts(&e)) || configs().any(rests)
        };
        let reaches_memory = |p: ProcessId| {
            steps().any(|e| e.process == p && e.updates)
                || configs().any(|n| graph.nodes[n].buffers[p.index()] == StoreBuffer::default())
        };
        settled == self.tableau.promises() - 1
            && goes_on
            && (!fair || graph.system.process_ids().all(takes_part))
            && (!graph.flush_fair || graph.system.process_ids().all(reaches_memory))
    }
}
