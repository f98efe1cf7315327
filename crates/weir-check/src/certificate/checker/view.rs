//! What one process sees, and what becomes of that.

use std::collections::BTreeMap;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};

use super::{Checker, Letter, Mask, Memory, ProcessView, ProcessViewId, Set};

impl Checker<'_> {
    /// What a process sees of a memory state, by the variables that it may read.
    pub(super) fn see(&self, memory: Memory, mask: Mask) -> Letter {
        self.seen.of((memory, mask), || {
            let (memory, mask) = (self.memories.get(memory), self.masks.get(mask));
            let cells = memory.iter().zip(mask.iter()).map(|(v, m)| m.then_some(*v));
            self.letters.id(cells.collect::<Vec<_>>())
        })
    }

    /// What is left of a letter for a process that may read some variables only.
    fn blank(&self, letter: Letter, mask: Mask) -> Letter {
        self.blanked.of((letter, mask), || {
            let (letter, mask) = (self.letters.get(letter), self.masks.get(mask));
            let cells = letter.iter().zip(mask.iter()).map(|(v, m)| v.filter(|_| *m));
            self.letters.id(cells.collect::<Vec<_>>())
        })
    }

    /// The value of a variable in a letter, if it matters.
    fn cell(&self, letter: Letter, x: VarId) -> Option<ValueId> {
        self.letters.with(letter, |letter| letter[x.index()])
    }

    /// What is left of a view when the process may read some variables only.
    pub(super) fn narrow(&self, view: &ProcessView, mask: Mask) -> ProcessView {
        let reads = self.masks.get(mask);
        let words = |set: Set<Letter>| self.narrow_words(set, mask);
        let mut narrow = ProcessView {
            first: words(view.first),
            rest: vec![],
            past: view.past.clone(),
            stores: view.stores.clone(),
        };
        for (x, letter, after) in &view.rest {
            if reads[x.index()] {
                narrow.rest.push((*x, self.blank(*letter, mask), words(*after)));
            } else {
                let letter = self.pieces(self.blank(*letter, mask));
                let here = self.words.concat(letter, words(*after));
                let last = narrow.last();
                *last = self.words.concat(*last, here);
            }
        }
        narrow.past.retain(|x, _| reads[x.index()]);
        if !reads.contains(&true) {
            narrow.first = self.words.empty();
        }
        narrow
    }

    /// What is left of a set of words when the process may read some variables only.
    fn narrow_words(&self, set: Set<Letter>, mask: Mask) -> Set<Letter> {
        self.narrowed.of((set, mask), || {
            let is_blank = |l: &Letter| self.letters.with(*l, |l| l.iter().all(Option::is_none));
            let blank = |w: &Vec<Letter>| w.iter().map(|l| self.blank(*l, mask)).collect();
            let blanked: Vec<Vec<Letter>> =
                self.words.with(set, |words| words.iter().map(blank).collect());
            self.words.of(blanked.into_iter().filter(|w| !w.iter().all(is_blank)))
        })
    }

    /// What a process sees that has come to the newest memory.
    pub(super) fn newest(&self) -> ProcessView {
        let first = self.words.empty();
        ProcessView { first, rest: vec![], past: BTreeMap::new(), stores: BTreeMap::new() }
    }

    /// Whether `view` covers `other`, possibly after passing some of its own writes.
    pub(super) fn covers(&self, view: ProcessViewId, other: ProcessViewId) -> bool {
        view == other
            || self.covered.of((view, other), || {
                self.covers_sight(&self.views.get(view), &self.views.get(other))
            })
    }

    fn covers_sight(&self, view: &ProcessView, other: &ProcessView) -> bool {
        let stores =
            view.stores.len() == other.stores.len()
                && view.stores.iter().zip(&other.stores).all(|((x, a), (y, b))| {
                    x == y && a.1 == b.1 && self.values.is_subset(b.0, a.0)
                });
        let past = other.past.iter().all(|(x, theirs)| {
            let ours = view.past.get(x).copied().unwrap_or(self.values.empty());
            self.values.is_subset(*theirs, ours)
        });
        let Some(passed) = view.rest.len().checked_sub(other.rest.len()) else { return false };
        let rest = view.rest[passed..].iter().zip(&other.rest).all(|(ours, theirs)| {
            (ours.0, ours.1) == (theirs.0, theirs.1) && self.words.is_subset(theirs.2, ours.2)
        });
        let first = || match passed {
            0 => view.first,
            _ => {
                let (_, letter, after) = view.rest[passed - 1];
                self.words.concat(self.pieces(letter), after)
            }
        };
        stores && past && rest && self.words.is_subset(other.first, first())
    }

    /// Removes stuttering: drops a set before the same letter.
    pub(super) fn tidy(&self, mut view: ProcessView, newest: Letter) -> ProcessView {
        let nexts: Vec<Letter> = view.rest.iter().map(|r| r.1).chain([newest]).collect();
        let sets = [&mut view.first].into_iter().chain(view.rest.iter_mut().map(|r| &mut r.2));
        for (set, next) in sets.zip(nexts) {
            if self.words.is_subset(*set, self.pieces(next)) {
                *set = self.words.empty();
            }
        }
        view
    }

    /// The values of a variable that a process may read, besides that of the newest memory:
    /// what stands in the past and in the word, from an own write to the variable on.
    pub(super) fn visible(&self, view: &ProcessView, x: VarId) -> Vec<ValueId> {
        if let Some((_, last)) = view.stores.get(&x) {
            return vec![*last];
        }
        let own = view.rest.iter().position(|(y, ..)| *y == x);
        let rest = &view.rest[own.unwrap_or(0)..];
        let before = if own.is_none() { Some(view.first) } else { None };
        let mut seen: Vec<ValueId> = rest.iter().filter_map(|r| self.cell(r.1, x)).collect();
        for set in before.into_iter().chain(rest.iter().map(|r| r.2)) {
            self.words.with(set, |words| {
                seen.extend(words.iter().flatten().filter_map(|l| self.cell(*l, x)));
            });
        }
        if let Some(past) = view.past.get(&x).filter(|_| own.is_none()) {
            self.values.with(*past, |words| seen.extend(words.iter().flatten()));
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    /// The variables that a process may read before its next full fence.
    pub(super) fn reads(&self, p: ProcessId, state: StateId) -> Mask {
        self.at(&self.reads[p.index()], p, state)
    }

    /// The variables that a process may write before its next fence for writes.
    pub(super) fn writes(&self, p: ProcessId, state: StateId) -> Mask {
        self.at(&self.writes[p.index()], p, state)
    }

    fn at(&self, places: &[Mask], p: ProcessId, state: StateId) -> Mask {
        self.system.state(p, state).place().map_or(self.everything, |place| places[place])
    }

    /// An own write that is not the last any more is a letter like any other.
    pub(super) fn unmark(&self, mut view: ProcessView, x: VarId) -> ProcessView {
        if let Some(i) = view.rest.iter().position(|r| r.0 == x) {
            let (_, letter, after) = view.rest.remove(i);
            let here = self.words.concat(self.pieces(letter), after);
            let before = if i == 0 { &mut view.first } else { &mut view.rest[i - 1].2 };
            *before = self.words.concat(*before, here);
        }
        view
    }

    /// The view after a process has read a value, at the earliest position of its word that has it.
    pub(super) fn read_earliest(
        &self,
        view: &ProcessView,
        x: VarId,
        d: ValueId,
        newest: Memory,
    ) -> Vec<ProcessView> {
        if let Some((_, last)) = view.stores.get(&x) {
            return if *last == d { vec![view.clone()] } else { vec![] };
        }
        let has = |l: Letter| self.cell(l, x) == Some(d);
        let has_been = |past: &Set<ValueId>| self.values.is_subset(self.values.one(d), *past);
        let mut now = view.clone();
        if let Some(i) = view.rest.iter().position(|r| r.0 == x) {
            if has(view.rest[i].1) {
                return vec![now];
            }
            for _ in 0..=i {
                now = self.pass(now);
            }
            now.past.remove(&x);
        } else if let Some(past) = view.past.get(&x).filter(|past| has_been(past)) {
            let left = self.values.concat(self.values.one(d), self.values.behind(*past, d));
            now.past.insert(x, left);
            return vec![now];
        }
        loop {
            let mut places = self.words.letters(now.first);
            places.retain(|letter| has(*letter));
            if self.level == 1 && !places.is_empty() {
                return vec![now];
            }
            if !places.is_empty() {
                let stand = |letter: &Letter| {
                    let before = self.words.before(now.first, *letter);
                    let mut there = self.remember(ProcessView { first: before, ..now.clone() });
                    there.past.remove(&x);
                    let left = self.words.behind(now.first, *letter);
                    there.first = self.words.concat(self.words.one(*letter), left);
                    there
                };
                return places.iter().map(stand).collect();
            }
            let Some(&(_, letter, _)) = now.rest.first() else { break };
            now = self.pass(now);
            now.past.remove(&x);
            if self.level == 1 || has(letter) {
                // It can stand where its write reached memory.
                now.first = self.words.concat(self.pieces(letter), now.first);
            }
            if has(letter) {
                return vec![now];
            }
        }
        if self.value(newest, x) != d {
            return vec![];
        }
        now = self.remember(now);
        now.past.remove(&x);
        now.first = self.words.empty();
        vec![now]
    }

    /// What a process leaves behind it can be read later, if reads overtake.
    pub(super) fn remember(&self, mut view: ProcessView) -> ProcessView {
        if self.past {
            for x in (0..self.system.vars.len()).map(VarId::new) {
                let values = self.remembered.of((view.first, x), || {
                    let word = |w: &Vec<Letter>| w.iter().map(|l| self.cell(*l, x)).collect();
                    let all = |words: &[Vec<Letter>]| words.iter().filter_map(word).collect();
                    self.values.of(self.words.with::<Vec<_>>(view.first, all))
                });
                if values != self.values.empty() {
                    let past = view.past.remove(&x).unwrap_or(self.values.empty());
                    view.past.insert(x, self.values.concat(past, values));
                }
            }
        }
        view
    }

    /// A process comes past its first own write, which has reached memory.
    pub(super) fn pass(&self, view: ProcessView) -> ProcessView {
        let mut view = self.remember(view);
        let (x, letter, after) = view.rest.remove(0);
        view.past.remove(&x);
        view.first = self.pieces(letter);
        let mut view = self.remember(view);
        view.first = after;
        view
    }
}
