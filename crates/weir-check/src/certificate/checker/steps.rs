//! The steps from a configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::program::{Atom, FenceKind};
use weir_model::system::{Op, Seen, Standing};

use super::{Checker, Config, Memory, ProcessView, ProcessViewId, Set};
use crate::Rejected;
use crate::witness::is_followed;

/// An action of a process, and what becomes of the process and of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub op: Op,
    /// It is a write that has waited and enters the history now.
    pub waited: bool,
    pub to: StateId,
    pub view: ProcessViewId,
    pub memory: Memory,
}

impl Move {
    /// Whether a memory state enters the history.
    pub fn writes(&self) -> bool {
        matches!(self.op, Op::Write(..) | Op::Arw(..))
    }
}

/// Where a process is and what it sees.
pub(super) type Place = (StateId, ProcessViewId);

/// All that decides what a process can do: where it is, and the newest memory.
pub(super) type Start = (ProcessId, Place, Memory);

/// Where a process can go by itself.
pub(super) type Places = Arc<[Place]>;

/// What a process can do, unless it is not known.
pub(super) type Moves = Result<Arc<[Move]>, Rejected>;

impl Checker<'_> {
    pub(super) fn initial(&self) -> Vec<Config> {
        let mut memories: Vec<Vec<ValueId>> = vec![vec![]];
        for var in self.system.vars.iter() {
            let longer = |m: &Vec<ValueId>| {
                let m = m.clone();
                var.initial.iter().map(move |v| m.iter().copied().chain([*v]).collect())
            };
            memories = memories.iter().flat_map(longer).collect();
        }
        let controls: Vec<StateId> = self.system.processes.iter().map(|p| p.initial).collect();
        let views = vec![self.views.id(self.newest()); controls.len()];
        let config = |memory| Config {
            controls: controls.clone(),
            memory: self.memories.id(memory),
            views: views.clone(),
        };
        memories.into_iter().map(config).collect()
    }

    /// Every step of a process: it goes somewhere by itself and acts, or a
    /// write of it that has waited enters the history.
    pub(super) fn moves(&self, start: Start) -> Moves {
        self.moved.of(start, || self.find_moves(start))
    }

    fn find_moves(&self, (p, start, memory): Start) -> Moves {
        let mut all = FxHashSet::default();
        let places = self.places((p, start, memory), false);
        // Which control state has which number may differ from run to run.
        let unknown = places.iter().filter_map(|place| is_followed(self.system, p, place.0).err());
        if let Some(reason) = unknown.min_by_key(Rejected::to_string) {
            return Err(reason);
        }
        for &(control, view) in places.iter() {
            let see = |x: VarId, atomic: bool| match atomic || !self.buffers {
                true => Seen::One(self.value(memory, x)),
                false => Seen::Among(vec![]),
            };
            for (_, t) in self.system.steps(p, control, see) {
                if let Some((view, memory)) = self.act(p, (t.to, view), memory, t.op) {
                    let (to, view) = self.rest(p, (t.to, view));
                    all.insert(Move { op: t.op, waited: false, to, view, memory });
                }
            }
        }
        let (control, view) = (start.0, self.views.get(start.1));
        for (&x, (older, last)) in &view.stores {
            let mut enter = |value: ValueId, rest: Option<Set<ValueId>>| {
                let mut view = (*view).clone();
                let own = rest.is_none();
                match rest {
                    Some(rest) => view.stores.insert(x, (rest, *last)),
                    None => view.stores.remove(&x),
                };
                let next = self.write(memory, x, value);
                let mark = own.then_some(x);
                let view = self.append(p, (control, self.views.id(view)), (memory, next), mark);
                let (to, view) = self.rest(p, (control, view));
                all.insert(Move { op: Op::Write(x, value), waited: true, to, view, memory: next });
            };
            for value in self.values.letters(*older) {
                enter(value, Some(self.values.behind(*older, value)));
            }
            enter(*last, None);
        }
        Ok(all.into_iter().collect())
    }

    /// Where a process can go by itself. With `ended`, nothing enters the
    /// history any more and it goes on with writes that only it will ever see.
    pub(super) fn places(&self, start: Start, ended: bool) -> Places {
        self.reached.of((start, ended), || self.find_places(start, ended))
    }

    fn find_places(&self, (p, start, memory): Start, ended: bool) -> Places {
        let mut all = FxHashSet::from_iter([start]);
        let mut work = vec![start];
        while let Some((control, view)) = work.pop() {
            let view = self.views.get(view);
            let see = |x: VarId, atomic: bool| match atomic || !self.buffers {
                true => Seen::Among(vec![]),
                false => {
                    Seen::among(self.visible(&view, x).into_iter().chain([self.value(memory, x)]))
                }
            };
            for (_, t) in self.system.steps(p, control, see) {
                let mask = self.reads(p, t.to);
                let newest = self.see(memory, mask);
                for look in self.alone(&view, memory, t.op, ended) {
                    // A write that nothing will overtake would not have waited.
                    let overtaken = |x: &VarId| {
                        self.masks.with(self.writes(p, t.to), |writes| {
                            writes.iter().enumerate().any(|(y, w)| *w && y != x.index())
                        })
                    };
                    if !ended && !look.stores.keys().all(overtaken) {
                        continue;
                    }
                    let look = self.tidy(self.narrow(&look, mask), newest);
                    let place = (t.to, self.views.id(look));
                    if all.insert(place) {
                        work.push(place);
                    }
                }
            }
        }
        all.into_iter().collect()
    }

    /// What a process sees after an operation that other processes do not observe.
    fn alone(&self, view: &ProcessView, memory: Memory, op: Op, ended: bool) -> Vec<ProcessView> {
        let idle = view.stores.is_empty();
        match op {
            Op::Nop => vec![view.clone()],
            Op::Read(x, d) if self.buffers => self.read_earliest(view, x, d, memory),
            Op::Write(x, d) if self.stores || ended => {
                let mut view = view.clone();
                view.past.remove(&x);
                let older = match view.stores.get(&x) {
                    Some((older, last)) if !ended => {
                        self.values.concat(*older, self.values.one(*last))
                    }
                    Some((older, _)) => *older,
                    None => self.values.empty(),
                };
                view.stores.insert(x, (older, d));
                vec![self.unmark(view, x)]
            }
            Op::Fence(FenceKind::Full) if ended && idle => vec![self.newest()],
            Op::Fence(FenceKind::Write) if ended || idle || !self.partial_fences => {
                vec![view.clone()]
            }
            Op::Fence(FenceKind::Read) if self.partial_fences => {
                vec![ProcessView { past: BTreeMap::new(), ..view.clone() }]
            }
            Op::Fence(FenceKind::Read) => vec![view.clone()],
            _ => vec![],
        }
    }

    /// What a process sees, and the newest memory, after an operation that depends on when it
    /// happens. The process has moved to its next control state already.
    fn act(
        &self,
        p: ProcessId,
        (to, view): Place,
        memory: Memory,
        op: Op,
    ) -> Option<(ProcessViewId, Memory)> {
        let now = self.views.get(view);
        let idle = now.stores.is_empty();
        let newest = || self.views.id(self.newest());
        match op {
            Op::Read(x, d) if !self.buffers && self.value(memory, x) == d => Some((view, memory)),
            Op::Write(x, d) if !now.stores.contains_key(&x) => {
                let mut view = (*now).clone();
                view.past.remove(&x);
                let next = self.write(memory, x, d);
                let place = (to, self.views.id(view));
                Some((self.append(p, place, (memory, next), Some(x)), next))
            }
            Op::Arw(x, d, e) if idle && self.value(memory, x) == d => {
                Some((newest(), self.write(memory, x, e)))
            }
            Op::Fence(FenceKind::Full) if idle => Some((newest(), memory)),
            _ => None,
        }
    }

    /// A process that can do nothing before a full fence moves past the fence, unless a property
    /// can tell the difference.
    fn rest(&self, p: ProcessId, (mut here, mut view): Place) -> Place {
        // As long as it may take, but not for ever.
        for _ in 0..u8::MAX {
            let mut transitions = self.system.steps(p, here, |_, _| Seen::Among(vec![]));
            let to = match (transitions.next(), transitions.next()) {
                (Some((_, t)), None) if t.op == Op::Fence(FenceKind::Full) => t.to,
                _ => break,
            };
            let told_apart =
                |atoms: &Vec<Atom>| self.kind(atoms, p, here) != self.kind(atoms, p, to);
            let idle = self.views.with(view, |view| view.stores.is_empty());
            if !idle || self.asks_all || self.asked.iter().any(told_apart) {
                break;
            }
            (here, view) = (to, self.views.id(self.newest()));
        }
        (here, view)
    }

    /// The values of the atoms that are about where a process is.
    pub(super) fn kind(
        &self,
        atoms: &[Atom],
        p: ProcessId,
        control: StateId,
    ) -> (Vec<i128>, Standing) {
        let state = self.system.state(p, control);
        let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
        let values = atoms.iter().filter(own).map(|a| state.atom(*a));
        (values.collect(), state.standing())
    }

    /// What a process sees after a write has entered the history. `own` is the variable if the
    /// process reads its own write from now on.
    pub(super) fn append(
        &self,
        p: ProcessId,
        (at, view): Place,
        (before, after): (Memory, Memory),
        own: Option<VarId>,
    ) -> ProcessViewId {
        let mask = self.reads(p, at);
        let mark = own.filter(|x| self.masks.with(mask, |reads| reads[x.index()]));
        let (old, new) = (self.see(before, mask), self.see(after, mask));
        self.appended.of((view, mask, old, new, mark), || {
            let mut view = self.narrow(&self.views.get(view), mask);
            if mark.is_some() || old != new {
                // If the last own write made this state, its mark stands for its own value here.
                let here = match view.rest.last() {
                    Some(&(x, letter, after))
                        if after == self.words.empty() && letter == self.mark(old, x) =>
                    {
                        let pieces = self.words.letters(self.pieces(old));
                        let others = pieces.into_iter().filter(|l| *l != letter);
                        self.words.of(others.map(|l| vec![l]))
                    }
                    _ => self.pieces(old),
                };
                let last = view.last();
                *last = self.words.concat(*last, here);
            }
            if let Some(x) = mark {
                view = self.unmark(view, x);
                view.rest.push((x, self.mark(new, x), self.words.empty()));
            }
            self.views.id(self.tidy(view, new))
        })
    }

    /// The value of a variable in a memory state.
    pub(super) fn value(&self, memory: Memory, x: VarId) -> ValueId {
        self.memories.with(memory, |memory| memory[x.index()])
    }

    /// A memory state after a write.
    fn write(&self, memory: Memory, x: VarId, value: ValueId) -> Memory {
        let mut next = self.memories.get(memory).to_vec();
        next[x.index()] = value;
        self.memories.id(next)
    }
}
