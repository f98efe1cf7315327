//! The axioms: C++20, [intro.races] and [atomics.order], on an execution graph.

use weir_model::ids::VarId;
use weir_model::program::{FenceKind, Order};

use super::{Execution, Operation, What};

/// A set of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, member: usize) {
        if self.0.len() <= member / 64 {
            self.0.resize(member / 64 + 1, 0);
        }
        self.0[member / 64] |= 1 << (member % 64);
    }

    fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    fn has(&self, member: usize) -> bool {
        self.0.get(member / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }

    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|member| self.has(*member))
    }
}

impl Execution<'_> {
    /// The place of an access in the coherence order of its location: writes have even numbers, reads of a
    /// write the next one.
    fn coherence(&self, id: usize) -> Option<(VarId, usize)> {
        let What::Access { var, reads, writes } = self.operations[id].what else { return None };
        let place = |write: usize| {
            let all = &self.modifications[var.index()];
            all.iter().position(|w| *w == write).expect("a write is in modification order")
        };
        Some((
            var,
            match (writes, reads) {
                (Some(_), _) => 2 * place(id),
                (None, Some(from)) => 2 * place(from) + 1,
                (None, None) => return None,
            },
        ))
    }

    /// For each operation what happens before it, in the order of the run.
    pub(super) fn happens_before(&self) -> Vec<Set> {
        let mut before: Vec<Set> = Vec::new();
        for id in 0..self.operations.len() {
            let mut set = Set::default();
            let Some(p) = self.operations[id].process else {
                before.push(set);
                continue;
            };
            (0..self.modifications.len()).for_each(|initial| set.insert(initial));
            let mut follow = |earlier: usize| {
                set.insert(earlier);
                set.add(&before[earlier]);
            };
            if let Some(previous) = self.of(p).take_while(|other| *other < id).last() {
                follow(previous);
            }
            self.synchronizes(id).into_iter().for_each(&mut follow);
            before.push(set);
        }
        before
    }

    /// The operations that synchronize with an operation.
    pub(super) fn synchronizes(&self, id: usize) -> Vec<usize> {
        let Operation { process, order, what, .. } = &self.operations[id];
        let reads: Vec<usize> = match what {
            What::Access { reads: Some(_), .. } if order.acquires() => vec![id],
            What::Fence(FenceKind::Full | FenceKind::Read) => {
                let p = process.expect("initial writes read nothing");
                let atomic = |r: &usize| self.operations[*r].order != Order::Plain;
                self.of(p).take_while(|r| *r < id).filter(atomic).collect()
            }
            _ => vec![],
        };
        let mut found = Vec::new();
        for read in reads {
            let What::Access { reads: Some(from), .. } = self.operations[read].what else {
                continue;
            };
            // The write that is read is in the release sequences of those that read-modify-writes lead back to.
            let mut head = Some(from);
            while let Some(write) = head {
                found.extend(self.releases(write));
                head = match self.operations[write].what {
                    What::Access { reads, writes: Some(_), .. } => reads,
                    _ => None,
                };
            }
        }
        found
    }

    /// What releases by a write: itself, and the release fences before it.
    fn releases(&self, write: usize) -> Vec<usize> {
        let Operation { process, order, .. } = &self.operations[write];
        let Some(p) = process else { return vec![] };
        let is_release = |id: &usize| {
            let what = self.operations[*id].what;
            matches!(what, What::Fence(FenceKind::Full | FenceKind::Write))
        };
        let fences = self.of(*p).take_while(|id| *id < write).filter(is_release);
        let fences = fences.filter(|_| *order != Order::Plain);
        fences.chain(order.releases().then_some(write)).collect()
    }

    /// Checks the axioms. Returns what happens before each operation.
    pub(super) fn check_axioms(&self) -> Result<Vec<Set>, String> {
        let before = self.happens_before();
        let keys: Vec<Option<(VarId, usize)>> =
            (0..self.operations.len()).map(|id| self.coherence(id)).collect();
        for (later, set) in before.iter().enumerate() {
            let Some((var, key)) = keys[later] else { continue };
            for earlier in set.members() {
                if keys[earlier].is_some_and(|(x, k)| x == var && k > key) {
                    return Err("an access contradicts one that happens before it".to_owned());
                }
            }
        }
        for (id, operation) in self.operations.iter().enumerate() {
            let What::Access { var, reads: Some(from), writes: Some(_) } = operation.what else {
                continue;
            };
            let all = &self.modifications[var.index()];
            let at = all.iter().position(|w| *w == id);
            if at.is_none_or(|at| at == 0 || all[at - 1] != from) {
                return Err("a write comes between the two parts of an atomic operation".to_owned());
            }
        }
        match self.has_one_order(&before, &keys) {
            true => Ok(before),
            false => Err("the `seq_cst` operations have no order".to_owned()),
        }
    }

    /// For each operation what strongly happens before it: what is sequenced before it, and what is sequenced
    /// before something that happens before something that is sequenced before it.
    fn strongly_before(&self, before: &[Set]) -> Vec<Set> {
        let mut strongly: Vec<Set> = Vec::new();
        for id in 0..self.operations.len() {
            let mut set = Set::default();
            if let Some(p) = self.operations[id].process
                && let Some(previous) = self.of(p).take_while(|other| *other < id).last()
            {
                set.insert(previous);
                for x in before[previous].members() {
                    let Some(q) = self.operations[x].process else { continue };
                    self.of(q).take_while(|other| *other < x).for_each(|a| set.insert(a));
                }
                let all: Vec<usize> = set.members().collect();
                all.into_iter().for_each(|a| set.add(&strongly[a]));
            }
            strongly.push(set);
        }
        strongly
    }

    /// Whether the `seq_cst` operations can be put into one order.
    fn has_one_order(&self, before: &[Set], keys: &[Option<(VarId, usize)>]) -> bool {
        let is_fence = |id: usize| matches!(self.operations[id].what, What::Fence(FenceKind::Full));
        let is_in = |id: &usize| match self.operations[*id].what {
            What::Fence(kind) => kind == FenceKind::Full,
            What::Access { .. } => self.operations[*id].order.is_seq_cst(),
        };
        let nodes: Vec<usize> = (0..self.operations.len()).filter(is_in).collect();
        let strongly = self.strongly_before(before);
        // For each location the first access that has to come after a node, and the last that has to come
        // before it.
        let vars = self.modifications.len();
        let mut first = vec![vec![usize::MAX; vars]; nodes.len()];
        let mut last: Vec<Vec<Option<usize>>> = vec![vec![None; vars]; nodes.len()];
        for (n, &node) in nodes.iter().enumerate() {
            for (id, key) in keys.iter().enumerate() {
                let Some((var, key)) = *key else { continue };
                let x = var.index();
                if id == node || is_fence(node) && before[id].has(node) {
                    first[n][x] = first[n][x].min(key);
                }
                if id == node || is_fence(node) && before[node].has(id) {
                    last[n][x] = last[n][x].max(Some(key));
                }
            }
        }
        let precedes = |a: usize, b: usize| {
            strongly[nodes[b]].has(nodes[a])
                || (0..vars).any(|x| last[b][x].is_some_and(|key| first[a][x] < key))
        };
        // Nodes without a predecessor are taken away until none is left.
        let mut left: Vec<usize> = (0..nodes.len()).collect();
        while !left.is_empty() {
            let count = left.len();
            let all = left.clone();
            left.retain(|&b| all.iter().any(|&a| a != b && precedes(a, b)));
            if left.len() == count {
                return false;
            }
        }
        nodes.iter().enumerate().all(|(n, _)| !precedes(n, n))
    }

    /// Two conflicting accesses of different processes, one of which is not atomic, that nothing orders.
    pub(super) fn race(&self, before: &[Set]) -> Option<(usize, usize)> {
        for b in (0..self.operations.len()).rev() {
            for a in 0..b {
                let (first, second) = (&self.operations[a], &self.operations[b]);
                let (
                    What::Access { var: x, writes: one, .. },
                    What::Access { var: y, writes: other, .. },
                ) = (first.what, second.what)
                else {
                    continue;
                };
                let conflict = x == y && (one.is_some() || other.is_some());
                let plain = first.order == Order::Plain || second.order == Order::Plain;
                let apart = first.process.is_some() && first.process != second.process;
                if conflict && plain && apart && !before[b].has(a) {
                    return Some((a, b));
                }
            }
        }
        None
    }
}
