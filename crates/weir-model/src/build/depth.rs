//! Longest ways through control flow and through automata.

use crate::flow::{Flow, Node, NodeId};
use crate::graph;
use crate::program::{Code, Rmw};
use crate::system::{Automaton, Op};

/// For each process and node, 1 for a store that runs at most once; and how many
/// of them there can be in one run.
pub(super) fn weigh(flows: &[Flow<'_>]) -> (Vec<Vec<usize>>, usize) {
    let mut all = Vec::new();
    let mut max_depth = 0;
    for flow in flows {
        let nodes = &flow.nodes;
        let successors = |n: NodeId| nodes[n].node.successors();
        let component = graph::components(nodes.len(), successors);
        let mut sizes = vec![0; nodes.len()];
        component.iter().for_each(|&c| sizes[c] += 1);
        let is_once = |n: NodeId| sizes[component[n]] == 1 && !successors(n).contains(&n);
        // What writes constants only brings about finitely many values anyway.
        let computes = |n: NodeId| match &nodes[n].node {
            Node::Store(_, code, _) => !is_constant(code),
            Node::Rmw(
                _,
                _,
                Rmw::Cas { new, .. }
                | Rmw::CasFlag { new, .. }
                | Rmw::Swap(new)
                | Rmw::Update { new, .. },
                _,
            ) => !is_constant(new),
            Node::Rmw(_, _, Rmw::Fetch(..), _) => true,
            _ => false,
        };
        let weights: Vec<usize> =
            (0..nodes.len()).map(|n| usize::from(computes(n) && is_once(n))).collect();
        // Sinks have the smallest numbers, so what comes after is known.
        let mut order: Vec<NodeId> = (0..nodes.len()).collect();
        order.sort_by_key(|&n| component[n]);
        let mut longest = vec![0; nodes.len()];
        for &n in &order {
            let c = component[n];
            let after = successors(n).into_iter().map(|m| longest[component[m]]).max();
            longest[c] = longest[c].max(weights[n] + after.unwrap_or(0));
        }
        max_depth += longest[component[flow.entry]];
        all.push(weights);
    }
    (all, max_depth)
}

/// Whether code has the same value whatever is in the registers.
fn is_constant(code: &Code) -> bool {
    let mut constant = true;
    code.atoms(&mut |_| constant = false);
    constant
}

/// See [`System::longest`].
pub(crate) fn longest(automaton: &Automaton, count: impl Fn(Op) -> bool) -> Vec<Option<usize>> {
    let n = automaton.states.len();
    let mut edges = vec![vec![]; n];
    for t in &automaton.transitions {
        edges[t.from.index()].push((t.to.index(), usize::from(count(t.op))));
    }
    let component = graph::components(n, |s| edges[s].iter().map(|e| e.0).collect());
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&s| component[s]);
    // Sinks first: what a state leads to outside its component is known already.
    let mut best: Vec<Option<usize>> = vec![Some(0); n];
    for members in order.chunk_by(|&a, &b| component[a] == component[b]) {
        let mut value = Some(0);
        for &s in members {
            for &(to, counts) in &edges[s] {
                let beyond = if component[to] == component[s] {
                    if counts == 0 { Some(0) } else { None }
                } else {
                    best[to].map(|b| b + counts)
                };
                value = value.zip(beyond).map(|(a, b)| a.max(b));
            }
        }
        for &s in members {
            best[s] = value;
        }
    }
    best
}
