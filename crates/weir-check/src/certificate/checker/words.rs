//! Sets of words, closed under subwords and cut to the level of the certificate.

use std::hash::Hash;

use weir_model::ids::VarId;

use super::numbered::{Id, Memo, Numbered};
use super::{Checker, Letter};

/// A set of words, in order; the empty word is always meant.
pub(super) type Set<L> = Id<[Vec<L>]>;

/// Sets of words with their numbers, and what their operations give.
#[derive(Clone)]
pub(super) struct Sets<L> {
    level: usize,
    all: Numbered<[Vec<L>]>,
    empty: Set<L>,
    joined: Memo<(Set<L>, Set<L>), Set<L>>,
    behind: Memo<(Set<L>, L), Set<L>>,
    before: Memo<(Set<L>, L), Set<L>>,
    within: Memo<(Set<L>, Set<L>), bool>,
}

impl<L: Copy + Ord + Hash> Sets<L> {
    pub fn new(level: usize) -> Self {
        let all = Numbered::default();
        Self {
            level,
            empty: all.id(vec![]),
            all,
            joined: Memo::default(),
            behind: Memo::default(),
            before: Memo::default(),
            within: Memo::default(),
        }
    }

    /// The set of some words.
    pub fn of(&self, words: impl IntoIterator<Item = Vec<L>>) -> Set<L> {
        let mut words: Vec<Vec<L>> = words.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        self.all.id(words)
    }

    /// The set of one word of one letter.
    pub fn one(&self, letter: L) -> Set<L> {
        self.of([vec![letter]])
    }

    pub fn empty(&self) -> Set<L> {
        self.empty
    }

    /// Something about the words of a set, which are in order.
    pub fn with<R>(&self, set: Set<L>, part: impl FnOnce(&[Vec<L>]) -> R) -> R {
        self.all.with(set, part)
    }

    /// The words of one letter.
    pub fn letters(&self, set: Set<L>) -> Vec<L> {
        self.with(set, |words| words.iter().filter(|w| w.len() == 1).map(|w| w[0]).collect())
    }

    /// Whether all words of one set are in another.
    pub fn is_subset(&self, set: Set<L>, of: Set<L>) -> bool {
        set == of
            || set == self.empty
            || self.within.of((set, of), || {
                self.with(set, |set| {
                    self.with(of, |of| {
                        set.len() <= of.len() && set.iter().all(|w| of.binary_search(w).is_ok())
                    })
                })
            })
    }

    /// Subwords of `uv`.
    pub fn concat(&self, first: Set<L>, second: Set<L>) -> Set<L> {
        if first == self.empty {
            return second;
        }
        if second == self.empty {
            return first;
        }
        self.joined.of((first, second), || {
            let (first, second) = (self.all.get(first), self.all.get(second));
            let mut all: Vec<Vec<L>> = first.iter().chain(second.iter()).cloned().collect();
            for u in first.iter() {
                for v in second.iter().filter(|v| u.len() + v.len() <= self.level) {
                    all.push(u.iter().chain(v).copied().collect());
                }
            }
            self.of(all)
        })
    }

    /// Subwords of `v`, for words `uav` of the set: known are those `v` for which
    /// `av` is in the set, and longer ones all of whose parts are known.
    pub fn behind(&self, set: Set<L>, letter: L) -> Set<L> {
        self.behind.of((set, letter), || {
            self.beside(set, |v, word| {
                word.push(letter);
                word.extend(v);
            })
        })
    }

    /// Subwords of `u`, for words `uav` of the set.
    pub fn before(&self, set: Set<L>, letter: L) -> Set<L> {
        self.before.of((set, letter), || {
            self.beside(set, |u, word| {
                word.extend(u);
                word.push(letter);
            })
        })
    }

    fn beside(&self, set: Set<L>, join: impl Fn(&[L], &mut Vec<L>)) -> Set<L> {
        let words = self.all.get(set);
        let (mut joined, mut part) = (Vec::new(), Vec::new());
        let mut known = |w: &[L]| {
            joined.clear();
            join(w, &mut joined);
            w.len() >= self.level || words.binary_search(&joined).is_ok()
        };
        let mut parts_known = |w: &[L]| {
            known(w)
                && (0..w.len()).all(|skip| {
                    part.clear();
                    part.extend(w[..skip].iter().chain(&w[skip + 1..]));
                    known(&part)
                })
        };
        self.of(words.iter().filter(|w| parts_known(w)).cloned())
    }

    /// Whether a set is closed under subwords, within the level.
    pub fn is_closed(&self, set: Set<L>) -> bool {
        self.with(set, |words| {
            let shorter = |w: &Vec<L>| {
                w.len() <= 1
                    || (0..w.len()).all(|skip| {
                        let mut w = w.clone();
                        w.remove(skip);
                        words.binary_search(&w).is_ok()
                    })
            };
            words.iter().all(|w| !w.is_empty() && w.len() <= self.level && shorter(w))
        })
    }
}

impl Checker<'_> {
    /// What a letter is in a set of words. At level 1 it cannot be told which
    /// values stood together, so it is letters of one variable each.
    pub(super) fn pieces(&self, letter: Letter) -> Set<Letter> {
        self.piece.of(letter, || {
            if self.level > 1 {
                return self.words.one(letter);
            }
            let cells = self.letters.get(letter);
            let kept = (0..cells.len()).filter(|&x| cells[x].is_some());
            let piece = |x: usize| {
                let mut piece = vec![None; cells.len()];
                piece[x] = cells[x];
                vec![self.letters.id(piece)]
            };
            self.words.of(kept.map(piece))
        })
    }

    /// The letter of the mark of an own write to a variable that made a memory state. At level 1
    /// it has the value of that variable only; the other values are in the set behind it.
    pub(super) fn mark(&self, letter: Letter, x: VarId) -> Letter {
        if self.level > 1 {
            return letter;
        }
        let cells = self.letters.get(letter);
        let own = |y: usize| cells[y].filter(|_| y == x.index());
        self.letters.id((0..cells.len()).map(own).collect::<Vec<_>>())
    }
}
