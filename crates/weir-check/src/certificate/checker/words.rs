//! Sets of words, closed under subwords and cut to the level of the certificate.

use super::{Checker, Letter, Set};

impl Checker<'_> {
    /// Subwords of `uv`.
    pub(super) fn concat<L: Copy + Ord>(&self, first: &Set<L>, second: &Set<L>) -> Set<L> {
        let mut all: Set<L> = first.union(second).cloned().collect();
        for u in first {
            for v in second.iter().filter(|v| u.len() + v.len() <= self.level) {
                all.insert(u.iter().chain(v).copied().collect());
            }
        }
        all
    }

    /// Subwords of `v`, for words `uav` of the set: known are those `v` for which
    /// `av` is in the set, and longer ones all of whose parts are known.
    pub(super) fn behind<L: Copy + Ord>(&self, set: &Set<L>, letter: L) -> Set<L> {
        self.beside(set, |v| [letter].into_iter().chain(v.iter().copied()).collect())
    }

    /// Subwords of `u`, for words `uav` of the set.
    pub(super) fn before<L: Copy + Ord>(&self, set: &Set<L>, letter: L) -> Set<L> {
        self.beside(set, |u| u.iter().copied().chain([letter]).collect())
    }

    pub(super) fn beside<L: Copy + Ord>(
        &self,
        set: &Set<L>,
        joined: impl Fn(&[L]) -> Vec<L>,
    ) -> Set<L> {
        let known = |w: &[L]| w.len() >= self.level || set.contains(&joined(w));
        let parts_known = |w: &Vec<L>| {
            (0..w.len()).all(|skip| {
                let mut part = w.clone();
                part.remove(skip);
                known(&part)
            })
        };
        set.iter().filter(|w| known(w) && parts_known(w)).cloned().collect()
    }

    /// What a letter is in a set of words. At level 1 it cannot be told which
    /// values stood together, so it is letters of one variable each.
    pub(super) fn pieces(&self, letter: Letter) -> Set<Letter> {
        if self.level > 1 {
            return Set::from([vec![letter]]);
        }
        let cells = self.letters.get(letter);
        let kept = (0..cells.len()).filter(|&x| cells[x].is_some());
        let piece = |x: usize| {
            let mut piece = vec![None; cells.len()];
            piece[x] = cells[x];
            vec![self.letters.id(piece)]
        };
        kept.map(piece).collect()
    }
}
