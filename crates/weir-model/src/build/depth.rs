//! The length of chains of writes and reads through stores that run at most once.

use crate::flow::{Flow, Node, NodeId};
use crate::graph;
use crate::program::{Code, Rmw};

/// For each process and node, 1 for a store that runs at most once; and how many
/// of them there can be in one run.
pub(super) fn weigh(flows: &[&Flow]) -> (Vec<Vec<usize>>, usize) {
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
