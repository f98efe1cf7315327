//! What one process sees, and what becomes of that.

use std::collections::BTreeMap;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};

use super::{Checker, Letter, Mask, Memory, Set, Sight, SightId};

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

    /// What is left of a sight when the process may read some variables only.
    pub(super) fn narrow(&self, sight: &Sight, mask: Mask) -> Sight {
        let reads = self.masks.get(mask);
        let words = |set: Set<Letter>| self.narrow_words(set, mask);
        let mut narrow = Sight {
            first: words(sight.first),
            rest: vec![],
            past: sight.past.clone(),
            stores: sight.stores.clone(),
        };
        for (x, letter, after) in &sight.rest {
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
    pub(super) fn newest(&self) -> Sight {
        let first = self.words.empty();
        Sight { first, rest: vec![], past: BTreeMap::new(), stores: BTreeMap::new() }
    }

    /// Whether whatever `other` may see `sight` may see as well, having come
    /// past some of its own writes if need be.
    pub(super) fn covers(&self, sight: SightId, other: SightId) -> bool {
        sight == other
            || self.covered.of((sight, other), || {
                self.covers_sight(&self.sights.get(sight), &self.sights.get(other))
            })
    }

    fn covers_sight(&self, sight: &Sight, other: &Sight) -> bool {
        let stores =
            sight.stores.len() == other.stores.len()
                && sight.stores.iter().zip(&other.stores).all(|((x, a), (y, b))| {
                    x == y && a.1 == b.1 && self.values.is_subset(b.0, a.0)
                });
        let past = other.past.iter().all(|(x, theirs)| {
            let ours = sight.past.get(x).copied().unwrap_or(self.values.empty());
            self.values.is_subset(*theirs, ours)
        });
        let Some(passed) = sight.rest.len().checked_sub(other.rest.len()) else { return false };
        let rest = sight.rest[passed..].iter().zip(&other.rest).all(|(ours, theirs)| {
            (ours.0, ours.1) == (theirs.0, theirs.1) && self.words.is_subset(theirs.2, ours.2)
        });
        let first = || match passed {
            0 => sight.first,
            _ => {
                let (_, letter, after) = sight.rest[passed - 1];
                self.words.concat(self.pieces(letter), after)
            }
        };
        stores && past && rest && self.words.is_subset(other.first, first())
    }

    /// Removes stuttering: drops a set before the same letter.
    pub(super) fn tidy(&self, mut sight: Sight, newest: Letter) -> Sight {
        let nexts: Vec<Letter> = sight.rest.iter().map(|r| r.1).chain([newest]).collect();
        let sets = [&mut sight.first].into_iter().chain(sight.rest.iter_mut().map(|r| &mut r.2));
        for (set, next) in sets.zip(nexts) {
            if self.words.is_subset(*set, self.pieces(next)) {
                *set = self.words.empty();
            }
        }
        sight
    }

    /// The values of a variable that a process may read, besides that of the newest memory:
    /// what stands in the past and in the word, from an own write to the variable on.
    pub(super) fn visible(&self, sight: &Sight, x: VarId) -> Vec<ValueId> {
        if let Some((_, last)) = sight.stores.get(&x) {
            return vec![*last];
        }
        let own = sight.rest.iter().position(|(y, ..)| *y == x);
        let rest = &sight.rest[own.unwrap_or(0)..];
        let before = if own.is_none() { Some(sight.first) } else { None };
        let mut seen: Vec<ValueId> = rest.iter().filter_map(|r| self.cell(r.1, x)).collect();
        for set in before.into_iter().chain(rest.iter().map(|r| r.2)) {
            self.words.with(set, |words| {
                seen.extend(words.iter().flatten().filter_map(|l| self.cell(*l, x)));
            });
        }
        if let Some(past) = sight.past.get(&x).filter(|_| own.is_none()) {
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
    pub(super) fn unmark(&self, mut sight: Sight, x: VarId) -> Sight {
        if let Some(i) = sight.rest.iter().position(|r| r.0 == x) {
            let (_, letter, after) = sight.rest.remove(i);
            let here = self.words.concat(self.pieces(letter), after);
            let before = if i == 0 { &mut sight.first } else { &mut sight.rest[i - 1].2 };
            *before = self.words.concat(*before, here);
        }
        sight
    }

    /// A process reads a value: as early in its word as it can.
    pub(super) fn look(&self, sight: &Sight, x: VarId, d: ValueId, newest: Memory) -> Vec<Sight> {
        if let Some((_, last)) = sight.stores.get(&x) {
            return if *last == d { vec![sight.clone()] } else { vec![] };
        }
        let has = |l: Letter| self.cell(l, x) == Some(d);
        let has_been = |past: &Set<ValueId>| self.values.is_subset(self.values.one(d), *past);
        let mut now = sight.clone();
        if let Some(i) = sight.rest.iter().position(|r| r.0 == x) {
            if has(sight.rest[i].1) {
                return vec![now];
            }
            for _ in 0..=i {
                now = self.pass(now);
            }
            now.past.remove(&x);
        } else if let Some(past) = sight.past.get(&x).filter(|past| has_been(past)) {
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
                    let mut there = self.remember(Sight { first: before, ..now.clone() });
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
    pub(super) fn remember(&self, mut sight: Sight) -> Sight {
        if self.past {
            for x in (0..self.system.vars.len()).map(VarId::new) {
                let values = self.remembered.of((sight.first, x), || {
                    let word = |w: &Vec<Letter>| w.iter().map(|l| self.cell(*l, x)).collect();
                    let all = |words: &[Vec<Letter>]| words.iter().filter_map(word).collect();
                    self.values.of(self.words.with::<Vec<_>>(sight.first, all))
                });
                if values != self.values.empty() {
                    let past = sight.past.remove(&x).unwrap_or(self.values.empty());
                    sight.past.insert(x, self.values.concat(past, values));
                }
            }
        }
        sight
    }

    /// A process comes past its first own write, which has reached memory.
    pub(super) fn pass(&self, sight: Sight) -> Sight {
        let mut sight = self.remember(sight);
        let (x, letter, after) = sight.rest.remove(0);
        sight.past.remove(&x);
        sight.first = self.pieces(letter);
        let mut sight = self.remember(sight);
        sight.first = after;
        sight
    }
}
