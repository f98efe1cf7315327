//! Data races: two accesses of one location by different processes, one of which writes and one of which is not
//! atomic, neither of which happens before the other (C++20, [intro.races]).
//!
//! For each location that can race, each process and each kind of access, a view has a bit: whether the newest
//! such access of the process happens before. Earlier ones are sequenced before it, so they do then as well. An
//! access races if a conflicting one of another process does not happen before it. Accesses are executed in an order
//! with which happens-before agrees, so it is enough to look at those that were executed earlier.

use super::state::{State, View};
use crate::flow::Node;
use crate::ids::VarId;
use crate::program::{Order, Place};
use crate::system::System;

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    PlainRead,
    PlainWrite,
    AtomicRead,
    AtomicWrite,
}

const TOUCHES: usize = 4;

impl Touch {
    pub fn read(order: Order) -> Self {
        if order == Order::Plain { Self::PlainRead } else { Self::AtomicRead }
    }

    pub fn write(order: Order) -> Self {
        if order == Order::Plain { Self::PlainWrite } else { Self::AtomicWrite }
    }

    /// The kinds of access that conflict with it.
    fn conflicts(self) -> &'static [Self] {
        match self {
            Self::PlainRead => &[Self::PlainWrite, Self::AtomicWrite],
            Self::PlainWrite => {
                &[Self::PlainRead, Self::PlainWrite, Self::AtomicRead, Self::AtomicWrite]
            }
            Self::AtomicRead => &[Self::PlainWrite],
            Self::AtomicWrite => &[Self::PlainRead, Self::PlainWrite],
        }
    }
}

/// The bits of the views of a system.
pub(super) struct Races {
    /// The number of each location that can race.
    slots: Vec<Option<usize>>,
    processes: usize,
    count: usize,
}

impl Races {
    pub fn new(system: &System) -> Self {
        let vars = system.vars.len();
        let mut is_plain = vec![false; vars];
        let mut users = vec![0; vars];
        for process in &*system.processes {
            let mut used = vec![false; vars];
            for located in &process.flow.nodes {
                let (Node::Load(_, place, _) | Node::Store(place, ..) | Node::Rmw(_, place, ..)) =
                    &located.node
                else {
                    continue;
                };
                for x in locations(place) {
                    used[x] = true;
                    is_plain[x] |= place.order == Some(Order::Plain);
                }
            }
            users.iter_mut().zip(used).for_each(|(users, used)| *users += usize::from(used));
        }
        let mut count = 0;
        let mut slot = |x: usize| {
            (is_plain[x] && users[x] > 1).then(|| {
                count += 1;
                count - 1
            })
        };
        let slots = (0..vars).map(&mut slot).collect();
        Self { slots, processes: system.processes.len(), count }
    }

    /// How many words the bits take.
    pub fn words(&self) -> usize {
        (self.count * self.processes * TOUCHES).div_ceil(u64::BITS as usize)
    }

    /// Whether accesses of a location can race.
    pub fn can_race(&self, var: VarId) -> bool {
        self.slots[var.index()].is_some()
    }

    fn bit(&self, slot: usize, process: usize, touch: Touch) -> (usize, u64) {
        let bit = (slot * self.processes + process) * TOUCHES + touch as usize;
        (bit / u64::BITS as usize, 1 << (bit % u64::BITS as usize))
    }

    /// Before there are any accesses, all of them happen before.
    pub fn know_all(view: &mut View) {
        view.known.fill(u64::MAX);
    }

    /// Whether an access of a process races with an earlier one.
    pub fn has_race(&self, state: &State, process: usize, var: VarId, touch: Touch) -> bool {
        let Some(slot) = self.slots[var.index()] else { return false };
        let cur = &state.threads[process].cur;
        (0..self.processes).filter(|p| *p != process).any(|p| {
            touch.conflicts().iter().any(|&other| {
                let (word, bit) = self.bit(slot, p, other);
                cur.known[word] & bit == 0
            })
        })
    }

    /// Keeps an access of a process, which happens before nothing but what its process does.
    pub fn keep(&self, state: &mut State, process: usize, var: VarId, touch: Touch) {
        let Some(slot) = self.slots[var.index()] else { return };
        let (word, bit) = self.bit(slot, process, touch);
        for view in state.views() {
            view.known[word] &= !bit;
        }
        state.threads[process].cur.known[word] |= bit;
    }

    /// Forgets the accesses of a location that nobody accesses any more.
    pub fn forget(&self, state: &mut State, var: usize) {
        let Some(slot) = self.slots[var] else { return };
        for process in 0..self.processes {
            for touch in
                [Touch::PlainRead, Touch::PlainWrite, Touch::AtomicRead, Touch::AtomicWrite]
            {
                let (word, bit) = self.bit(slot, process, touch);
                state.views().for_each(|view| view.known[word] &= !bit);
            }
        }
    }
}

fn locations(place: &Place) -> std::ops::Range<usize> {
    place.first.index()..place.first.index() + place.len as usize
}
