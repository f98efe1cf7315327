//! The memory model of C11, C++20 and Rust by its axioms: all execution graphs of a program without loops.
//!
//! An execution graph has the operations of each thread in their order (*sequenced-before*), for each read the
//! write that it reads (*reads-from*), and for each location an order of its writes (*modification order*).
//! Graphs are built operation by operation, so sequenced-before and reads-from have no cycle together. A graph
//! counts if it is consistent ([`Graph::is_consistent`]), which is C++20, [intro.races] and [atomics.order], by the
//! letter. A part of a consistent graph is consistent, so an inconsistent one is not extended.

use std::collections::HashSet;

use weir_model::ids::VarId;
use weir_model::program::{Atom, FenceKind, Order, Program};

use super::locals::{self, LocalId, Next};
use super::{Reached, memories};

/// An operation. Numbers are those of a graph.
#[derive(Clone, Debug)]
struct Operation {
    /// The thread and how many operations it had before; initial writes have none.
    by: Option<(usize, usize)>,
    what: What,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Write(VarId, i128),
    /// What it reads from.
    Read(VarId, usize),
    Rmw(VarId, usize, i128),
    Fence(FenceKind),
}

#[derive(Clone, Debug)]
struct Graph {
    at: Vec<LocalId>,
    operations: Vec<Operation>,
    /// The writes of each location.
    modifications: Vec<Vec<usize>>,
}

/// See [`Graph::key`].
type Key = (Vec<LocalId>, Vec<(usize, Option<usize>, i128, usize, Order)>, Vec<Vec<usize>>);

/// Whether one operation comes before another: a matrix of bits.
type Relation = Vec<u64>;

/// What a program without loops reaches under C11. Memory is the last write of each location in modification
/// order. After a data race nothing else is meant: [`Reached::races`].
///
/// `None` if there are more than `limit` graphs.
///
/// # Panics
/// If a graph has more than 64 operations, as with loops.
pub fn c11(program: &Program, atoms: &[Atom], limit: usize) -> Option<Reached> {
    let mut locals = locals::all(program);
    let mut reached = Reached::default();
    let mut seen = HashSet::new();
    let mut work = Vec::new();
    for memory in memories(program) {
        let write = |(x, value): (usize, i128)| Operation {
            by: None,
            what: What::Write(VarId::new(x), value),
            order: Order::Relaxed,
        };
        work.push(Graph {
            at: locals.iter().map(|l| l.initial()).collect(),
            modifications: (0..memory.len()).map(|x| vec![x]).collect(),
            operations: memory.into_iter().enumerate().map(write).collect(),
        });
    }
    while let Some(now) = work.pop() {
        if !seen.insert(now.key()) || !now.is_consistent() {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        reached.races |= now.has_race();
        let memory: Vec<i128> =
            now.modifications.iter().map(|all| now.written(*all.last().unwrap())).collect();
        let observed = locals::observe(atoms, &locals, &now.at, &memory);
        let each = || locals.iter().zip(&now.at);
        let has_failed = each().any(|(l, i)| l.get(*i).failed);
        let has_ended = each().all(|(l, i)| l.get(*i).has_ended());
        reached.fails |= has_failed;
        if has_ended {
            reached.finals.insert(observed.clone());
        }
        reached.states.insert(observed);
        let mut goes_on = false;
        for (p, local) in locals.iter_mut().enumerate() {
            let here = now.at[p];
            let mut add = |graph: Graph| {
                goes_on |= graph.is_consistent();
                work.push(graph);
            };
            match local.next(here) {
                Next::None => {}
                Next::Silent(to) => to.into_iter().for_each(|to| add(now.moved(p, to))),
                Next::Fence(kind, to) => {
                    let mut next = now.moved(p, to);
                    next.add(p, What::Fence(kind), Order::SeqCst);
                    add(next);
                }
                Next::Write(x, value, to) => {
                    let order = local.order(here, None);
                    for position in 1..=now.modifications[x.index()].len() {
                        let mut next = now.moved(p, to);
                        let id = next.add(p, What::Write(x, value), order);
                        next.modifications[x.index()].insert(position, id);
                        add(next);
                    }
                }
                Next::Read(x) => {
                    let order = local.order(here, None);
                    for &from in &now.modifications[x.index()] {
                        let mut next = now.moved(p, local.after_read(here, now.written(from)));
                        next.add(p, What::Read(x, from), order);
                        add(next);
                    }
                }
                Next::Rmw(x) => {
                    for (position, &from) in now.modifications[x.index()].iter().enumerate() {
                        let old = now.written(from);
                        let Some((new, to)) = local.after_rmw(here, old) else { continue };
                        let mut next = now.moved(p, to);
                        let order = local.order(here, Some(old));
                        let fence = What::Fence(FenceKind::Full);
                        if order == Order::Fenced {
                            next.add(p, fence, Order::SeqCst);
                        }
                        if local.is_failure(here, old) {
                            next.add(p, What::Read(x, from), order);
                        } else {
                            let id = next.add(p, What::Rmw(x, from, new), order);
                            next.modifications[x.index()].insert(position + 1, id);
                        }
                        if order == Order::Fenced {
                            next.add(p, fence, Order::SeqCst);
                        }
                        add(next);
                    }
                }
            }
        }
        reached.deadlocks |= !goes_on && !has_failed && !has_ended;
    }
    Some(reached)
}

impl Graph {
    /// What tells graphs apart, whatever the order in which they were built: operations by thread and number.
    fn key(&self) -> Key {
        let name = |id: usize| match self.operations[id].by {
            None => id,
            Some((p, n)) => 1000 * (p + 1) + n,
        };
        let mut operations = Vec::new();
        for (id, operation) in self.operations.iter().enumerate() {
            let (reads, value) = match operation.what {
                What::Write(_, value) => (None, value),
                What::Read(_, from) => (Some(name(from)), 0),
                What::Rmw(_, from, value) => (Some(name(from)), value),
                What::Fence(kind) => (None, kind as i128),
            };
            let location = self.location(id).map_or(usize::MAX, VarId::index);
            operations.push((name(id), reads, value, location, operation.order));
        }
        operations.sort_unstable();
        let modifications = self.modifications.iter();
        let modifications =
            modifications.map(|all| all.iter().map(|id| name(*id)).collect()).collect();
        (self.at.clone(), operations, modifications)
    }

    fn moved(&self, p: usize, to: LocalId) -> Self {
        let mut next = self.clone();
        next.at[p] = to;
        next
    }

    fn add(&mut self, p: usize, what: What, order: Order) -> usize {
        let is_of = |o: &&Operation| o.by.is_some_and(|(q, _)| q == p);
        let number = self.operations.iter().filter(is_of).count();
        self.operations.push(Operation { by: Some((p, number)), what, order });
        assert!(self.operations.len() <= 64, "the program has a loop");
        self.operations.len() - 1
    }

    fn written(&self, id: usize) -> i128 {
        match self.operations[id].what {
            What::Write(_, value) | What::Rmw(_, _, value) => value,
            What::Read(..) | What::Fence(_) => unreachable!("only writes are read"),
        }
    }

    fn ids(&self) -> std::ops::Range<usize> {
        0..self.operations.len()
    }

    fn location(&self, id: usize) -> Option<VarId> {
        match self.operations[id].what {
            What::Write(x, _) | What::Read(x, _) | What::Rmw(x, ..) => Some(x),
            What::Fence(_) => None,
        }
    }

    fn is_write(&self, id: usize) -> bool {
        matches!(self.operations[id].what, What::Write(..) | What::Rmw(..))
    }

    fn reads_from(&self, id: usize) -> Option<usize> {
        match self.operations[id].what {
            What::Read(_, from) | What::Rmw(_, from, _) => Some(from),
            What::Write(..) | What::Fence(_) => None,
        }
    }

    fn is_atomic(&self, id: usize) -> bool {
        self.operations[id].order != Order::Plain
    }

    fn is_seq_cst(&self, id: usize) -> bool {
        match self.operations[id].what {
            What::Fence(kind) => kind == FenceKind::Full,
            _ => matches!(self.operations[id].order, Order::SeqCst | Order::Fenced),
        }
    }

    fn is_seq_cst_fence(&self, id: usize) -> bool {
        self.operations[id].what == What::Fence(FenceKind::Full)
    }

    /// Whether an operation of a thread comes before another of the same thread.
    fn is_sequenced(&self, a: usize, b: usize) -> bool {
        match (self.operations[a].by, self.operations[b].by) {
            (Some((p, m)), Some((q, n))) => p == q && m < n,
            _ => false,
        }
    }

    /// The position of a write in modification order.
    fn position(&self, id: usize) -> usize {
        let x = self.location(id).expect("a write").index();
        self.modifications[x].iter().position(|w| *w == id).expect("it is in the order")
    }

    /// The place of an access in the coherence order of its location.
    fn coherence(&self, id: usize) -> usize {
        match self.operations[id].what {
            What::Write(..) | What::Rmw(..) => 2 * self.position(id),
            What::Read(_, from) => 2 * self.position(from) + 1,
            What::Fence(_) => unreachable!("a fence accesses nothing"),
        }
    }

    /// The writes and fences that release by a write: itself if it releases, and release fences before it.
    fn releases_by(&self, write: usize) -> Vec<usize> {
        use Order::{AcquireRelease, Fenced, Release, SeqCst};
        let by_itself =
            matches!(self.operations[write].order, Release | AcquireRelease | SeqCst | Fenced);
        let fences = self.ids().filter(|&f| {
            let what = self.operations[f].what;
            matches!(what, What::Fence(FenceKind::Full | FenceKind::Write))
                && self.is_sequenced(f, write)
        });
        let fences = fences.filter(|_| self.is_atomic(write));
        fences.chain(by_itself.then_some(write)).collect()
    }

    /// The reads and fences that acquire by a read.
    fn acquires_by(&self, read: usize) -> Vec<usize> {
        use Order::{Acquire, AcquireRelease, Fenced, SeqCst};
        let by_itself =
            matches!(self.operations[read].order, Acquire | AcquireRelease | SeqCst | Fenced);
        let fences = self.ids().filter(|&f| {
            let what = self.operations[f].what;
            matches!(what, What::Fence(FenceKind::Full | FenceKind::Read))
                && self.is_sequenced(read, f)
        });
        let fences = fences.filter(|_| self.is_atomic(read));
        fences.chain(by_itself.then_some(read)).collect()
    }

    /// The writes in whose release sequences a write is: itself, and those that read-modify-writes lead back to.
    fn heads(&self, write: usize) -> Vec<usize> {
        let before = |w: &usize| match self.operations[*w].what {
            What::Rmw(_, from, _) => Some(from),
            _ => None,
        };
        std::iter::successors(Some(write), before).collect()
    }

    /// Happens-before: sequenced-before and synchronizes-with, closed; initial writes come first.
    fn happens_before(&self) -> Relation {
        let n = self.operations.len();
        let mut relation = vec![0u64; n];
        for a in self.ids() {
            for b in self.ids() {
                let is_initial = |id: usize| self.operations[id].by.is_none();
                if self.is_sequenced(a, b) || is_initial(a) && !is_initial(b) {
                    relation[a] |= 1 << b;
                }
            }
        }
        for read in self.ids() {
            let Some(from) = self.reads_from(read) else { continue };
            for head in self.heads(from) {
                for release in self.releases_by(head) {
                    for acquire in self.acquires_by(read) {
                        relation[release] |= 1 << acquire;
                    }
                }
            }
        }
        closed(relation)
    }

    /// The axioms.
    fn is_consistent(&self) -> bool {
        let hb = self.happens_before();
        let before = |a: usize, b: usize| hb[a] >> b & 1 == 1;
        let accesses: Vec<usize> = self.ids().filter(|&id| self.location(id).is_some()).collect();
        let pairs = || {
            accesses
                .iter()
                .flat_map(|&a| accesses.iter().map(move |&b| (a, b)))
                .filter(|&(a, b)| a != b && self.location(a) == self.location(b))
        };
        // Happens-before is an order, and coherence agrees with it.
        if self.ids().any(|a| before(a, a))
            || pairs().any(|(a, b)| before(a, b) && self.coherence(a) > self.coherence(b))
        {
            return false;
        }
        // A read-modify-write reads the write directly before it.
        let is_atomic = |id: usize| match self.operations[id].what {
            What::Rmw(_, from, _) => self.position(id) == self.position(from) + 1,
            _ => true,
        };
        self.ids().all(is_atomic) && self.has_seq_cst_order(&hb, &pairs().collect::<Vec<_>>())
    }

    /// Whether the `seq_cst` operations have one order with which strongly-happens-before and the coherence
    /// order agree.
    fn has_seq_cst_order(&self, hb: &Relation, pairs: &[(usize, usize)]) -> bool {
        let before = |a: usize, b: usize| hb[a] >> b & 1 == 1;
        let n = self.operations.len();
        let mut strongly = vec![0u64; n];
        for a in self.ids() {
            for b in self.ids() {
                // sb, or sb; hb; sb
                let around = || {
                    self.ids().any(|x| {
                        self.is_sequenced(a, x)
                            && self.ids().any(|y| before(x, y) && self.is_sequenced(y, b))
                    })
                };
                if self.is_sequenced(a, b) || around() {
                    strongly[a] |= 1 << b;
                }
            }
        }
        let strongly = closed(strongly);
        let mut order = vec![0u64; n];
        for a in self.ids().filter(|&a| self.is_seq_cst(a)) {
            for b in self.ids().filter(|&b| self.is_seq_cst(b)) {
                order[a] |= strongly[a] & 1 << b;
            }
        }
        for &(a, b) in pairs {
            if self.coherence(a) >= self.coherence(b) {
                continue;
            }
            let first = self.ids().filter(|&x| {
                x == a && self.is_seq_cst(a) || self.is_seq_cst_fence(x) && before(x, a)
            });
            for x in first {
                let second = self.ids().filter(|&y| {
                    y == b && self.is_seq_cst(b) || self.is_seq_cst_fence(y) && before(b, y)
                });
                for y in second {
                    order[x] |= 1 << y;
                }
            }
        }
        let order = closed(order);
        self.ids().all(|a| order[a] >> a & 1 == 0)
    }

    /// Whether two conflicting accesses of different threads, one of which is not atomic, are not ordered.
    fn has_race(&self) -> bool {
        let hb = self.happens_before();
        let is_ordered = |a: usize, b: usize| hb[a] >> b & 1 == 1 || hb[b] >> a & 1 == 1;
        self.ids().any(|a| {
            self.ids().any(|b| {
                a < b
                    && self.location(a).is_some()
                    && self.location(a) == self.location(b)
                    && (self.is_write(a) || self.is_write(b))
                    && !(self.is_atomic(a) && self.is_atomic(b))
                    && !is_ordered(a, b)
                    && !self.is_sequenced(a, b)
            })
        })
    }
}

/// The transitive closure.
fn closed(mut relation: Relation) -> Relation {
    for via in 0..relation.len() {
        let beyond = relation[via];
        for row in &mut relation {
            if *row >> via & 1 == 1 {
                *row |= beyond;
            }
        }
    }
    relation
}
