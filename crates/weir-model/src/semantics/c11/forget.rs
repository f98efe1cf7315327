//! What need not be kept: messages, nodes and views that make no difference any more, and rounds of loops that
//! change nothing.

use super::ahead::Ahead;
use super::state::{Key, Node as Operation, State, Thread, View, position, read_key, write_key};
use super::{C11, Op};
use crate::flow::{Flow, Node};
use crate::graph;
use crate::ids::{Cell, ProcessId, StateId};
use crate::system::Transition;

impl C11<'_> {
    /// Forgets what makes no difference any more.
    pub(super) fn forget(&self, controls: &[Cell], state: &mut State) {
        let ahead: Vec<&Ahead> =
            controls.iter().enumerate().map(|(p, &control)| self.ahead(p, control)).collect();
        for x in 0..self.shape.vars {
            let counts = |p: &usize| ahead[*p].accesses[x] || ahead[*p].has_seq_cst_fence;
            let newest = state.messages[x].len() - 1;
            if !(0..ahead.len()).filter(counts).any(|p| state.reads_folded(p, x)) {
                state.folded[x].clear();
                let seen = (0..ahead.len()).filter(counts);
                let oldest = seen.map(|p| position(state.threads[p].cur.keys[x])).min();
                state.drop_messages(x, oldest.unwrap_or(newest));
            }
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
        self.forget_common(&ahead, state);
        if let Some(fold) = self.fold {
            fold.fold(state);
        }
    }

    /// Forgets what a view has that nobody can learn from it.
    ///
    /// A key of a location matters to whoever may still access the location, and to whoever may execute a `seq_cst` fence. If all of
    /// them have seen as much, it says nothing new to anybody, through however many views it is handed on. What `acq` has beyond
    /// `cur` is all that an acquire fence adds. And where no `seq_cst` operation is left, nobody distinguishes having
    /// read a message from having written it.
    fn forget_common(&self, ahead: &[&Ahead], state: &mut State) {
        let counts = |p: usize, x: usize| ahead[p].accesses[x] || ahead[p].has_seq_cst_fence;
        for x in 0..self.shape.vars {
            let keys = state.threads.iter().enumerate().filter(|(p, _)| counts(*p, x));
            let least = keys.map(|(_, thread)| thread.cur.keys[x]).min().unwrap_or(Key::MAX);
            let forget = |view: &mut View| {
                if view.keys[x] <= least {
                    view.keys[x] = 0;
                }
            };
            state.messages.iter_mut().flatten().for_each(|message| forget(&mut message.view));
            for (p, thread) in state.threads.iter_mut().enumerate() {
                forget(&mut thread.rel);
                forget(&mut thread.acq);
                if !counts(p, x) {
                    forget(&mut thread.cur);
                }
            }
        }
        self.races.forget_common(state, |p, x| ahead[p].accesses[x]);
        for Thread { cur, acq, .. } in &mut state.threads {
            acq.forget_all_in(cur);
        }
        if state.nodes.is_empty() && !ahead.iter().any(|ahead| ahead.is_seq_cst) {
            for key in state.views().flat_map(|view| &mut view.keys).filter(|key| **key > 0) {
                *key = write_key(position(*key));
            }
        }
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
            let least = |p: usize| match state.reads_folded(p, x) {
                true => 0,
                false => read_key(position(state.threads[p].cur.keys[x])),
            };
            ahead.iter().enumerate().any(|(p, ahead)| ahead.accesses[x] && least(p) < key)
        };
        loop {
            let can_go = |node: &Operation| {
                node.before == 0 && (0..self.shape.vars).all(|x| !is_open(state, x, node.before(x)))
            };
            let Some(n) = state.nodes.iter().position(can_go) else { return };
            state.remove_node(n);
        }
    }

    /// Keeps where a process was. `false` if it comes back to where it was and has changed nothing meanwhile: then
    /// whatever follows can follow without that round.
    ///
    /// A round changes nothing if it has only reads, fences, and atomic read-writes that write the value that they
    /// have read, as the exchange of a spin lock that is taken. Without it, whoever has read from such an atomic
    /// read-write reads from the message before it instead: the value is the same, and the next atomic read-write stands directly
    /// behind that message. No two accesses that remain are ordered otherwise than before, and fewer happen before each
    /// other. So every axiom still holds. An atomic read-write that can race is kept, since it may race with a read
    /// of another round that is left out.
    pub(super) fn follow_trail(
        &self,
        state: &mut State,
        process: ProcessId,
        t: &Transition,
    ) -> bool {
        let spins = |s: StateId| self.spins[process.index()][self.system.state(process, s).node];
        let trail = &mut state.trails[process.index()];
        let changes_nothing = match t.op {
            Op::Nop | Op::Read(..) | Op::Fence(_) => true,
            Op::Write(..) => false,
            Op::Arw(x, old, new) => old == new && !self.races.can_race(x),
        };
        if changes_nothing && spins(t.from) {
            trail.push(t.from);
        }
        if !changes_nothing || !spins(t.to) {
            trail.clear();
        }
        !trail.contains(&t.to)
    }
}

/// For each node of the code whether a process may come back to it by nodes that may change nothing.
pub(super) fn spins(flow: &Flow) -> Vec<bool> {
    let is_harmless = |n: &usize| !matches!(flow.nodes[*n].node, Node::Store(..));
    let edges: Vec<Vec<usize>> = (0..flow.nodes.len())
        .map(|n| match is_harmless(&n) {
            true => flow.nodes[n].node.successors().into_iter().filter(is_harmless).collect(),
            false => vec![],
        })
        .collect();
    let component = graph::components(edges.len(), |n| edges[n].clone());
    let mut sizes = vec![0; edges.len()];
    component.iter().for_each(|c| sizes[*c] += 1);
    let is_cycle = |n: usize| sizes[component[n]] > 1 || edges[n].contains(&n);
    (0..edges.len()).map(is_cycle).collect()
}
