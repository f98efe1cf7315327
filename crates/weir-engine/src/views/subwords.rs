//! Sets of words, represented by the short subwords of their words.
//!
//! Only the subwords of a long word matter. At *level* `k` a word is represented by its
//! subwords of up to `k` letters, and the representation stands for every word whose
//! subwords of that length are among them: at level 1 a set of letters `S` stands for
//! `S*`; level 2 also determines which letter can follow which.
//!
//! This is why refinement terminates. Every set of words that is closed under subwords is
//! described by finitely many words that it does not contain (Higman's lemma). Once `k`
//! is as long as the longest of these, the representation of a word of the set adds no
//! word from outside the set.

use weir_model::limits::{Budget, Stop};

/// A set of short words, closed under subwords; the empty word is always in it
/// and not written down. A word of up to `k` letters is packed into 64 bits, first letter
/// lowest, each letter one higher than its number and in a place of [`Level::bits`]. Sorted.
pub(super) type Subwords = Vec<u64>;

/// The highest level: at it, two bits are left for a letter.
pub(super) const MAX_LEVEL: usize = 32;

/// The operations at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(pub usize);

/// Whether every word of `a` is in `b`; both are sorted.
pub(super) fn is_subset(a: &[u64], b: &[u64]) -> bool {
    if a.len() > b.len() {
        return false;
    }
    let mut rest = b.iter();
    a.iter().all(|x| rest.any(|y| y == x))
}

/// What is in one of two sets.
pub(super) fn union(a: &[u64], b: &[u64]) -> Subwords {
    let mut all: Subwords = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The word of one letter.
pub(super) fn single(letter: u32) -> u64 {
    u64::from(letter) + 1
}

/// Limits are not checked for sets with fewer words.
const LARGE: usize = 1 << 12;

/// Sorts words and leaves out those that are there twice. A very long list is sorted in parts,
/// which are then merged; limits are checked in between.
fn sort(words: &mut Subwords, budget: &Budget) -> Result<(), Stop> {
    const PART: usize = 1 << 20;
    if words.len() <= PART {
        words.sort_unstable();
        words.dedup();
        return Ok(());
    }
    let mut parts: Vec<Subwords> = Vec::new();
    while !words.is_empty() {
        budget.check()?;
        budget.check_room(8 * PART)?;
        let mut part = words.split_off(words.len().saturating_sub(PART));
        part.sort_unstable();
        part.dedup();
        parts.push(part);
        words.shrink_to_fit();
    }
    while parts.len() > 1 {
        let pairs: Vec<Subwords> = std::mem::take(&mut parts);
        let mut pairs = pairs.into_iter();
        while let Some(first) = pairs.next() {
            let Some(second) = pairs.next() else {
                parts.push(first);
                break;
            };
            budget.check_room(8 * (first.len() + second.len()))?;
            let mut merged = Vec::with_capacity(first.len() + second.len());
            let (mut i, mut j) = (0, 0);
            while i < first.len() || j < second.len() {
                if merged.len().is_multiple_of(LARGE) {
                    budget.tick()?;
                }
                let (a, b) = (first.get(i), second.get(j));
                let least = a.into_iter().chain(b).copied().min().expect("one is not at its end");
                i += usize::from(a == Some(&least));
                j += usize::from(b == Some(&least));
                merged.push(least);
            }
            parts.push(merged);
        }
    }
    *words = parts.pop().unwrap_or_default();
    Ok(())
}

impl Level {
    /// The bits of a letter in a word.
    #[inline]
    fn bits(self) -> usize {
        if self.0 <= 4 { 16 } else { 64 / self.0 }
    }

    /// The least number that is too large for a letter of a word.
    pub fn max_letter(self) -> u32 {
        (1 << self.bits()) - 1
    }

    #[inline]
    fn length(self, word: u64) -> usize {
        let used = 64 - word.leading_zeros() as usize;
        // The usual levels, without a division.
        if self.0 <= 4 { used.div_ceil(16) } else { used.div_ceil(self.bits()) }
    }

    #[inline]
    fn join(self, first: u64, second: u64) -> u64 {
        first | second.unbounded_shl((self.bits() * self.length(first)) as u32)
    }

    /// The letters of a word, in order, each one higher than its number.
    fn places(self, word: u64) -> impl Iterator<Item = u64> {
        let (bits, mask) = (self.bits(), u64::from(self.max_letter()));
        (0..self.length(word)).map(move |i| word >> (bits * i) & mask)
    }

    /// The letters of a set.
    #[inline]
    pub fn letters(self, set: &[u64]) -> impl Iterator<Item = u32> {
        let most = u64::from(self.max_letter());
        set.iter().filter(move |w| **w <= most).map(|w| (w - 1) as u32)
    }

    /// The words of a set, letter by letter.
    pub fn spelled(self, set: &[u64]) -> Vec<Vec<u32>> {
        set.iter().map(|&w| self.places(w).map(|l| (l - 1) as u32).collect()).collect()
    }

    /// Whether a number is a word: no letter before the last is missing.
    pub fn is_word(self, number: u64) -> bool {
        number != 0 && self.length(number) <= self.0 && self.places(number).all(|l| l != 0)
    }

    /// The subwords of `uv`, for `u` in the first set and `v` in the second.
    ///
    /// # Errors
    /// If a limit is reached: there may be very many.
    pub fn concat(self, first: &[u64], second: &[u64], budget: &Budget) -> Result<Subwords, Stop> {
        let mut all: Subwords = first.iter().chain(second).copied().collect();
        if self.0 > 1 {
            let mut up_to = [0_usize; MAX_LEVEL + 1];
            second.iter().for_each(|v| up_to[self.length(*v)] += 1);
            (1..=MAX_LEVEL).for_each(|l| up_to[l] += up_to[l - 1]);
            let joined = first.iter().map(|u| up_to[self.0 - self.length(*u)]).sum::<usize>();
            if joined >= LARGE {
                budget.check_room(joined.saturating_mul(8))?;
            }
            all.reserve_exact(joined);
            for &u in first {
                let room = self.0 - self.length(u);
                budget.work(second.len() / LARGE)?;
                all.extend(
                    second.iter().filter(|v| self.length(**v) <= room).map(|&v| self.join(u, v)),
                );
            }
        }
        sort(&mut all, budget)?;
        Ok(all)
    }

    /// The subwords of `ua`.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn push(self, set: &[u64], letter: u32, budget: &Budget) -> Result<Subwords, Stop> {
        self.concat(set, &[single(letter)], budget)
    }

    /// The subwords of `v`, over all words `uav` that the set stands for: what
    /// is left behind an `a`.
    pub fn behind(self, set: &[u64], letter: u32) -> Subwords {
        self.next_to(set, |v| self.join(single(letter), v))
    }

    /// The subwords of `u`, over all words `uav` that the set stands for: what
    /// comes before an `a`.
    pub fn before(self, set: &[u64], letter: u32) -> Subwords {
        self.next_to(set, |u| self.join(u, single(letter)))
    }

    /// The words of the set that make a word of the set with one letter more;
    /// `joined` adds the letter.
    fn next_to(self, set: &[u64], joined: impl Fn(u64) -> u64) -> Subwords {
        if self.0 == 1 {
            return set.to_vec();
        }
        let fits = |word: u64| set.binary_search(&joined(word)).is_ok();
        let all_fit = |word: &u64| {
            if self.length(*word) < self.0 {
                return fits(*word);
            }
            // Too long for the longer word to be known: its parts have to be.
            let letters: Vec<u64> = self.places(*word).collect();
            (0..letters.len()).all(|skip| {
                let rest = letters.iter().enumerate().filter(|(i, _)| *i != skip);
                fits(rest.fold(0, |word, (_, l)| self.join(word, *l)))
            })
        };
        set.iter().copied().filter(all_fit).collect()
    }

    /// The subwords of `av`, over all words `uav` that the set stands for: what a process at `a`
    /// still sees.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn at_letter(self, set: &[u64], letter: u32, budget: &Budget) -> Result<Subwords, Stop> {
        self.concat(&[single(letter)], &self.behind(set, letter), budget)
    }

    /// The set with its letters replaced.
    pub fn map<E>(
        self,
        set: &[u64],
        mut replace: impl FnMut(u32) -> Result<u32, E>,
    ) -> Result<Subwords, E> {
        let mut all = Vec::with_capacity(set.len());
        for &word in set {
            let mut mapped = 0;
            for letter in self.places(word) {
                mapped = self.join(mapped, single(replace((letter - 1) as u32)?));
            }
            all.push(mapped);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All subwords of up to `k` letters, the slow way.
    fn subwords(word: &[u32], k: usize) -> Subwords {
        let mut all: Subwords = (1..1_u32 << word.len())
            .filter(|pick| pick.count_ones() as usize <= k)
            .map(|pick| {
                let picked = word.iter().enumerate().filter(|(i, _)| pick >> i & 1 == 1);
                picked.fold(0, |w, (_, &l)| Level(k).join(w, single(l)))
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn words() -> Vec<Vec<u32>> {
        let mut all = vec![vec![]];
        for _ in 0..4 {
            let longer = all.iter().flat_map(|w: &Vec<u32>| {
                (0..3).map(move |l| w.iter().copied().chain([l]).collect::<Vec<_>>())
            });
            all = all.iter().cloned().chain(longer).collect();
            all.sort();
            all.dedup();
        }
        all
    }

    #[test]
    fn push_and_concat_are_exact() {
        for k in 1..=8 {
            let level = Level(k);
            for u in words() {
                for a in 0..3 {
                    let longer: Vec<u32> = u.iter().copied().chain([a]).collect();
                    let found = level.push(&subwords(&u, k), a, &Budget::new());
                    assert_eq!(found, Ok(subwords(&longer, k)));
                }
                let both: Vec<u32> = u.iter().chain(&u).copied().collect();
                let found = level.concat(&subwords(&u, k), &subwords(&u, k), &Budget::new());
                assert_eq!(found, Ok(subwords(&both, k)));
            }
        }
    }

    #[test]
    fn at_letter_loses_nothing() {
        for k in 1..=8 {
            for w in words() {
                for (i, &a) in w.iter().enumerate() {
                    let before = Level(k).before(&subwords(&w, k), a);
                    assert!(is_subset(&subwords(&w[..i], k), &before), "{w:?} before {i}");
                    let found = Level(k).at_letter(&subwords(&w, k), a, &Budget::new()).unwrap();
                    assert!(is_subset(&subwords(&w[i..], k), &found), "{w:?} at {i}, level {k}");
                }
            }
        }
        // And at a level that is high enough it adds nothing.
        let found = Level(3).at_letter(&subwords(&[0, 1, 2], 3), 1, &Budget::new());
        assert_eq!(found, Ok(subwords(&[1, 2], 3)));
    }

    #[test]
    fn what_is_long_is_sorted_in_parts() {
        let mut long: Vec<u64> = (0..3_000_000_u64).map(|i| i * 7_919 % 2_500_009).collect();
        let mut expected = long.clone();
        expected.sort_unstable();
        expected.dedup();
        sort(&mut long, &Budget::new()).unwrap();
        assert!(long == expected);
        let stop = Budget::new().with_time(std::time::Duration::ZERO);
        assert!(sort(&mut vec![0; 3_000_000], &stop).is_err());
    }
}
