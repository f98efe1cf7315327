//! Data races: two accesses of one location by different processes, one of which writes and one of which is not
//! atomic, neither of which happens before the other (C++20, [intro.races]).
//!
//! For each location that can race, each process and each kind of access, a view has a bit: whether the newest
//! such access of the process happens before. Earlier ones are sequenced before it, so they do then as well. An
//! access races if a conflicting one of another process does not happen before it. Accesses are executed in an order
//! with which happens-before agrees, so it is enough to look at those that were executed earlier.

use super::state::{State, View};
use crate::flow::Node;
use crate::ids::{ProcessId, VarId};
use crate::program::{Order, Place};
use crate::symmetry::Automorphism;
use crate::system::System;

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    PlainRead,
    PlainWrite,
    AtomicRead,
    AtomicWrite,
}

const TOUCHES: [Touch; 4] =
    [Touch::PlainRead, Touch::PlainWrite, Touch::AtomicRead, Touch::AtomicWrite];

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
        (self.count * self.processes * TOUCHES.len()).div_ceil(u64::BITS as usize)
    }

    /// Whether accesses of a location can race.
    pub fn can_race(&self, var: VarId) -> bool {
        self.slots[var.index()].is_some()
    }

    fn bit(&self, slot: usize, process: usize, touch: Touch) -> (usize, u64) {
        let bit = (slot * self.processes + process) * TOUCHES.len() + touch as usize;
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

    /// Forgets which accesses happen before, in views that tell nobody anything new by it: everybody who may still access the
    /// location, by `uses`, knows it.
    pub fn forget_common(&self, state: &mut State, uses: impl Fn(usize, usize) -> bool) {
        for word in 0..self.words() {
            let used = |p: usize| {
                let slots = self.slots.iter().enumerate().filter(|(x, _)| uses(p, *x));
                slots.filter_map(|(_, slot)| *slot).fold(0, |all, slot| all | self.bits(slot, word))
            };
            let used: Vec<u64> = (0..self.processes).map(used).collect();
            let threads = state.threads.iter().zip(&used);
            let common = threads.fold(u64::MAX, |all, (t, used)| all & (t.cur.known[word] | !used));
            for message in state.messages.iter_mut().flatten() {
                message.view.known[word] &= !common;
            }
            for (thread, used) in state.threads.iter_mut().zip(&used) {
                thread.acq.known[word] &= !common;
                thread.rel.known[word] &= !common;
                thread.cur.known[word] &= !common | used;
            }
        }
    }

    /// What becomes of the bits of a view if processes and locations are exchanged.
    pub fn image(&self, known: &[u64], g: &Automorphism) -> Vec<u64> {
        let mut image = vec![0; known.len()];
        for (x, slot) in self.slots.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            // Code of processes that can be exchanged accesses locations in the same way.
            let to = self.slots[g.var(VarId::new(x)).index()].expect("it can race as well");
            for process in 0..self.processes {
                let image_of = g.process(ProcessId::new(process)).index();
                for touch in TOUCHES {
                    let (word, bit) = self.bit(slot, process, touch);
                    if known[word] & bit != 0 {
                        let (word, bit) = self.bit(to, image_of, touch);
                        image[word] |= bit;
                    }
                }
            }
        }
        image
    }

    /// The bits of a location within a word.
    fn bits(&self, slot: usize, word: usize) -> u64 {
        let per_slot = self.processes * TOUCHES.len();
        let bits = slot * per_slot..(slot + 1) * per_slot;
        let of_word = word * u64::BITS as usize..(word + 1) * u64::BITS as usize;
        let common = bits.start.max(of_word.start)..bits.end.min(of_word.end);
        common.fold(0, |all, bit| all | 1 << (bit % u64::BITS as usize))
    }

    /// Forgets the accesses of a location that nobody accesses any more.
    pub fn forget(&self, state: &mut State, var: usize) {
        let Some(slot) = self.slots[var] else { return };
        for process in 0..self.processes {
            for touch in TOUCHES {
                let (word, bit) = self.bit(slot, process, touch);
                state.views().for_each(|view| view.known[word] &= !bit);
            }
        }
    }
}

fn locations(place: &Place) -> std::ops::Range<usize> {
    place.first.index()..place.first.index() + place.len as usize
}
