//! Strongly connected components, without recursion.

use crate::limits::{Budget, Stop};

/// The components of a graph whose nodes are `0..n`: for each node the number
/// of its component. Components are numbered so that an edge never leads to a
/// component with a larger number (sinks first).
///
/// Tarjan's algorithm with its stack written out, so that the depth of a graph
/// is bounded by memory and not by the thread's stack.
pub fn components(n: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    components_within(n, successors, &Budget::new()).expect("there are no limits")
}

/// As [`components`], within limits.
///
/// # Errors
/// If a limit is reached.
pub fn components_within(
    n: usize,
    successors: impl Fn(usize) -> Vec<usize>,
    budget: &Budget,
) -> Result<Vec<usize>, Stop> {
    budget.check_room(n.saturating_mul(3 * size_of::<usize>()))?;
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; n];
    let mut low = vec![0; n];
    let mut component = vec![UNSEEN; n];
    let mut open = Vec::new();
    let mut next_order = 0;
    let mut next_component = 0;
    for root in 0..n {
        if order[root] != UNSEEN {
            continue;
        }
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                budget.tick()?;
                order[node] = next_order;
                low[node] = next_order;
                next_order += 1;
                open.push(node);
                path.push((node, successors(node)));
            }
            let Some((node, rest)) = path.last_mut() else { break };
            let node = *node;
            match rest.pop() {
                Some(next) if order[next] == UNSEEN => enter = Some(next),
                Some(next) if component[next] == UNSEEN => low[node] = low[node].min(order[next]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                    if low[node] == order[node] {
                        while let Some(member) = open.pop() {
                            component[member] = next_component;
                            if member == node {
                                break;
                            }
                        }
                        next_component += 1;
                    }
                }
            }
        }
    }
    Ok(component)
}

/// For each node of a graph, given as edges with weights, the largest weight of a path
/// from there on; `None` if there is no bound.
pub(crate) fn longest(edges: &[Vec<(usize, usize)>]) -> Vec<Option<usize>> {
    let n = edges.len();
    let component = components(n, |s| edges[s].iter().map(|e| e.0).collect());
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&s| component[s]);
    // Sinks first: what a node leads to outside its component is known already.
    let mut best: Vec<Option<usize>> = vec![Some(0); n];
    for members in order.chunk_by(|&a, &b| component[a] == component[b]) {
        let mut value = Some(0);
        for &s in members {
            for &(to, weight) in &edges[s] {
                let beyond = if component[to] == component[s] {
                    if weight == 0 { Some(0) } else { None }
                } else {
                    best[to].map(|b| b + weight)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes are in one component iff each reaches the other; checked
    /// against plain reachability on all graphs with three nodes and some with
    /// more.
    #[test]
    fn components_are_mutual_reachability() {
        let mut seed = 0x9e37_79b9_u64;
        for case in 0..2000_u64 {
            let n = if case < 512 { 3 } else { 1 + (case as usize % 7) };
            let edges = if case < 512 {
                case
            } else {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed >> 13 & seed >> 7
            };
            let has = |a: usize, b: usize| edges >> (a * n + b) & 1 == 1;
            let successors = |a: usize| (0..n).filter(|&b| has(a, b)).collect::<Vec<_>>();
            let found = components(n, successors);
            let mut reach = vec![vec![false; n]; n];
            for (a, reach) in reach.iter_mut().enumerate() {
                reach[a] = true;
                let mut work = vec![a];
                while let Some(b) = work.pop() {
                    for c in successors(b) {
                        if !reach[c] {
                            reach[c] = true;
                            work.push(c);
                        }
                    }
                }
            }
            for a in 0..n {
                for b in 0..n {
                    assert_eq!(found[a] == found[b], reach[a][b] && reach[b][a], "case {case}");
                    assert!(!has(a, b) || found[b] <= found[a], "case {case}: order");
                }
            }
        }
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        let n = 1_000_000;
        let found = components(n, |a| if a + 1 < n { vec![a + 1] } else { vec![] });
        assert_eq!(found[0], n - 1);
    }
}
