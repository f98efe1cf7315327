//! What need not be kept: messages, nodes and views that make no difference any more, and rounds of loops that
//! only read.

use super::ahead::Ahead;
use super::state::{Node as Operation, State, Thread, position, read_key};
use super::{C11, Op};
use crate::flow::{Flow, Node};
use crate::graph;
use crate::ids::{Cell, ProcessId, StateId};
use crate::program::Rmw;
use crate::system::Transition;

impl C11<'_> {
    /// Forgets what makes no difference any more.
    pub(super) fn forget(&self, controls: &[Cell], state: &mut State) {
        let ahead: Vec<&Ahead> =
            controls.iter().enumerate().map(|(p, &control)| self.ahead(p, control)).collect();
        for x in 0..self.shape.vars {
            let counts = |p: &usize| ahead[*p].accesses[x] || ahead[*p].has_seq_cst_fence;
            let newest = state.messages[x].len() - 1;
            let seen = (0..ahead.len()).filter(counts);
            let oldest = seen.map(|p| position(state.threads[p].cur.keys[x])).min();
            state.drop_messages(x, oldest.unwrap_or(newest));
            if !ahead.iter().any(|a| a.accesses[x]) {
                self.races.forget(state, x);
            }
            if !ahead.iter().any(|a| a.learns_from[x]) {
                for message in &mut state.messages[x] {
                    message.view.clear();
                }
            }
        }
        for (thread, ahead) in state.threads.iter_mut().zip(&ahead) {
            Self::forget_thread(thread, ahead);
        }
        self.forget_nodes(&ahead, state);
    }

    fn forget_thread(thread: &mut Thread, ahead: &Ahead) {
        let Thread { cur, acq, rel } = thread;
        if !ahead.releases && !ahead.has_seq_cst_fence {
            for (key, is_used) in cur.keys.iter_mut().zip(&ahead.accesses) {
                *key *= u32::from(*is_used);
            }
            if !ahead.is_seq_cst {
                cur.strong = 0;
            }
            if !ahead.accesses.contains(&true) {
                cur.clear();
            }
        }
        if !ahead.acquires {
            acq.clear();
        }
        if !ahead.passes_on {
            rel.clear();
        }
    }

    fn forget_nodes(&self, ahead: &[&Ahead], state: &mut State) {
        // An access to a location can still come before what has this key.
        let is_open = |state: &State, x: usize, key: u32| {
            let mut threads = state.threads.iter().zip(ahead);
            threads.any(|(thread, ahead)| {
                ahead.accesses[x] && read_key(position(thread.cur.keys[x])) < key
            })
        };
        loop {
            let can_go = |node: &Operation| {
                node.before == 0 && (0..self.shape.vars).all(|x| !is_open(state, x, node.before(x)))
            };
            let Some(n) = state.nodes.iter().position(can_go) else { return };
            state.remove_node(n);
        }
    }

    /// Keeps where a process was. `false` if it comes back to where it was and has only read meanwhile: it has
    /// learned something, which excludes steps and allows none, so whatever follows can follow without that round.
    pub(super) fn follow_trail(
        &self,
        state: &mut State,
        process: ProcessId,
        t: &Transition,
    ) -> bool {
        let spins = |s: StateId| self.spins[process.index()][self.system.state(process, s).node];
        let trail = &mut state.trails[process.index()];
        let only_reads = matches!(t.op, Op::Nop | Op::Read(..));
        if only_reads && spins(t.from) {
            trail.push(t.from);
        }
        if !only_reads || !spins(t.to) {
            trail.clear();
        }
        !trail.contains(&t.to)
    }
}

/// For each node of the code whether a process may come back to it by nodes that only read. A compare-and-swap
/// may fail, and only reads then.
pub(super) fn spins(flow: &Flow) -> Vec<bool> {
    let reads = |n: &usize| match &flow.nodes[*n].node {
        Node::Store(..) | Node::Fence(..) => false,
        Node::Rmw(_, _, rmw, _) => matches!(rmw, Rmw::Cas { .. } | Rmw::CasFlag { .. }),
        _ => true,
    };
    let edges: Vec<Vec<usize>> = (0..flow.nodes.len())
        .map(|n| match reads(&n) {
            true => flow.nodes[n].node.successors().into_iter().filter(|m| reads(m)).collect(),
            false => vec![],
        })
        .collect();
    let component = graph::components(edges.len(), |n| edges[n].clone());
    let mut sizes = vec![0; edges.len()];
    component.iter().for_each(|c| sizes[*c] += 1);
    let is_cycle = |n: usize| sizes[component[n]] > 1 || edges[n].contains(&n);
    (0..edges.len()).map(is_cycle).collect()
}
