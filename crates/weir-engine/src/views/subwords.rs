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
/// and not written down. A word is packed into 16-bit places, first letter
/// lowest, each letter one higher than its number. Sorted.
pub(super) type Subwords = Vec<u64>;

/// The highest level: as many letters as fit a packed word.
pub(super) const MAX_LEVEL: usize = 4;

/// The operations at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(pub usize);

fn length(word: u64) -> usize {
    (64 - word.leading_zeros() as usize).div_ceil(16)
}

fn join(first: u64, second: u64) -> u64 {
    first | second.unbounded_shl(16 * length(first) as u32)
}

/// The letters of a set.
pub(super) fn letters(set: &[u64]) -> impl Iterator<Item = u32> {
    set.iter().filter(|w| length(**w) == 1).map(|w| (w - 1) as u32)
}

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

/// The letters of a word, in order.
fn spell(word: u64) -> impl Iterator<Item = u64> {
    (0..length(word)).map(move |i| word >> (16 * i) & 0xffff)
}

/// The words of a set, letter by letter.
pub(super) fn spelt(set: &[u64]) -> Vec<Vec<u32>> {
    set.iter().map(|&w| spell(w).map(|l| (l - 1) as u32).collect()).collect()
}

/// Sets of fewer words are worked on without a look at the limits.
const LARGE: usize = 1 << 12;

/// Sorts words and leaves out those that are there twice. What is very long is sorted in
/// parts, which are then merged, with a look at the limits in between.
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
    /// The subwords of `uv`, for `u` in the first set and `v` in the second.
    ///
    /// # Errors
    /// If a limit is reached: there may be very many.
    pub fn concat(self, first: &[u64], second: &[u64], budget: &Budget) -> Result<Subwords, Stop> {
        let mut all: Subwords = first.iter().chain(second).copied().collect();
        if self.0 > 1 {
            let mut up_to = [0_usize; MAX_LEVEL + 1];
            second.iter().for_each(|v| up_to[length(*v)] += 1);
            (1..=MAX_LEVEL).for_each(|l| up_to[l] += up_to[l - 1]);
            let joined = first.iter().map(|u| up_to[self.0 - length(*u)]).sum::<usize>();
            if joined >= LARGE {
                budget.check_room(joined.saturating_mul(8))?;
            }
            all.reserve_exact(joined);
            for &u in first {
                let room = self.0 - length(u);
                budget.work(second.len() / LARGE)?;
                all.extend(second.iter().filter(|v| length(**v) <= room).map(|&v| join(u, v)));
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
        self.next_to(set, |v| join(single(letter), v))
    }

    /// The subwords of `u`, over all words `uav` that the set stands for: what
    /// comes before an `a`.
    pub fn before(self, set: &[u64], letter: u32) -> Subwords {
        self.next_to(set, |u| join(u, single(letter)))
    }

    /// The words of the set that make a word of the set with one letter more;
    /// `joined` adds the letter.
    fn next_to(self, set: &[u64], joined: impl Fn(u64) -> u64) -> Subwords {
        if self.0 == 1 {
            return set.to_vec();
        }
        let fits = |word: u64| set.binary_search(&joined(word)).is_ok();
        let all_fit = |word: &u64| {
            if length(*word) < self.0 {
                return fits(*word);
            }
            // Too long for the longer word to be known: its parts have to be.
            let letters: Vec<u64> = spell(*word).collect();
            (0..letters.len()).all(|skip| {
                let rest = letters.iter().enumerate().filter(|(i, _)| *i != skip);
                fits(rest.fold(0, |word, (_, l)| join(word, *l)))
            })
        };
        set.iter().copied().filter(all_fit).collect()
    }

    /// The subwords of `av`, over all words `uav` that the set stands for: what
    /// is there for somebody who stands at `a`.
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
            for letter in spell(word) {
                mapped = join(mapped, single(replace((letter - 1) as u32)?));
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
                picked.fold(0, |w, (_, &l)| join(w, single(l)))
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
        for k in 1..=MAX_LEVEL {
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
        for k in 1..=MAX_LEVEL {
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
