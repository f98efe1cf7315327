//! What the code of a process may still do, from a place on. What nobody can still do decides what may be
//! forgotten.

use crate::flow::{Flow, Node};
use crate::program::{FenceKind, Order, Place};

/// What may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Locations that may be read or written.
    pub accesses: Vec<bool>,
    /// Locations that may be written.
    pub writes: Vec<bool>,
    /// Locations of which a message may be read such that its view matters.
    pub learns_from: Vec<bool>,
    /// A `seq_cst` operation.
    pub is_seq_cst: bool,
    /// A `seq_cst` fence.
    pub has_seq_cst_fence: bool,
    /// A fence that acquires.
    pub acquires: bool,
    /// An operation that releases.
    pub releases: bool,
    /// A write that does not release by itself: it passes on what the last release fence has.
    pub passes_on: bool,
}

impl Ahead {
    fn nothing(vars: usize) -> Self {
        Self {
            accesses: vec![false; vars],
            writes: vec![false; vars],
            learns_from: vec![false; vars],
            is_seq_cst: false,
            has_seq_cst_fence: false,
            acquires: false,
            releases: false,
            passes_on: false,
        }
    }

    fn join(&mut self, other: &Self) {
        let both = |a: &mut [bool], b: &[bool]| a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
        both(&mut self.accesses, &other.accesses);
        both(&mut self.writes, &other.writes);
        both(&mut self.learns_from, &other.learns_from);
        self.is_seq_cst |= other.is_seq_cst;
        self.has_seq_cst_fence |= other.has_seq_cst_fence;
        self.acquires |= other.acquires;
        self.releases |= other.releases;
        self.passes_on |= other.passes_on;
    }

    fn fence(&mut self, kind: FenceKind) {
        let is_full = kind == FenceKind::Full;
        self.is_seq_cst |= is_full;
        self.has_seq_cst_fence |= is_full;
        self.acquires |= is_full || kind == FenceKind::Read;
        self.releases |= is_full || kind == FenceKind::Write;
    }

    /// An access of an order. What is read matters if it acquires, if a later fence does, or if an atomic
    /// read-write hands it on.
    fn access(&mut self, place: &Place, order: Order, reads: bool, writes: bool) {
        let first = place.first.index();
        let locations = first..first + place.len as usize;
        self.accesses[locations.clone()].fill(true);
        if writes {
            self.writes[locations.clone()].fill(true);
        }
        if reads && (writes || order.acquires() || self.acquires) {
            self.learns_from[locations].fill(true);
        }
        self.is_seq_cst |= order.is_seq_cst();
        self.releases |= writes && order.releases();
        self.passes_on |= writes && !order.releases();
        if order == Order::Fenced {
            self.fence(FenceKind::Full);
        }
    }

    /// For each node of a process what may come from there on, its own operation included.
    pub fn of(flow: &Flow, vars: usize) -> Vec<Self> {
        let mut ahead = vec![Self::nothing(vars); flow.nodes.len()];
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for n in 0..flow.nodes.len() {
                let located = &flow.nodes[n];
                let mut here = ahead[n].clone();
                for next in located.node.successors() {
                    here.join(&ahead[next]);
                }
                let direct = located.is_direct.then_some(Order::Fenced);
                let order = |place: &Place, default| direct.or(place.order).unwrap_or(default);
                match &located.node {
                    Node::Fence(kind, _) => here.fence(*kind),
                    Node::Load(_, place, _) => {
                        let order = order(place, Order::Relaxed);
                        here.access(place, order, true, located.is_direct);
                    }
                    Node::Store(place, ..) => {
                        let order = order(place, Order::Relaxed);
                        here.access(place, order, located.is_direct, true);
                    }
                    Node::Rmw(_, place, ..) => {
                        here.access(place, order(place, Order::Fenced), true, true);
                    }
                    _ => {}
                }
                if here != ahead[n] {
                    ahead[n] = here;
                    is_stable = false;
                }
            }
        }
        ahead
    }
}
