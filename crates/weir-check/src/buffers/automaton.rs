//! Automata over stores, in their simplest form.

use std::collections::BTreeSet;

use weir_model::ids::{ValueId, VarId};

/// A store in a buffer.
pub type Letter = (VarId, ValueId);

/// An automaton over stores that starts at place 0. Several edges of a place may have
/// the same letter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Automaton {
    /// For each place, whether it accepts, and its edges.
    pub places: Vec<(bool, Vec<(Letter, usize)>)>,
}

impl Automaton {
    /// All places that can be reached from some.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(at) = todo.pop().filter(|at| *at < self.places.len()) {
            if seen.insert(at) {
                todo.extend(self.places[at].1.iter().map(|(_, to)| *to));
            }
        }
        seen
    }

    /// Whether there is a word that it accepts.
    pub fn accepts_something(&self) -> bool {
        self.reached(0).iter().any(|at| self.places[*at].0)
    }

    /// Whether it accepts the empty word.
    pub fn accepts_nothing_stored(&self) -> bool {
        self.places.first().is_some_and(|(accepting, _)| *accepting)
    }

    /// The automaton of the empty word.
    pub fn of_nothing_stored() -> Self {
        Self { places: vec![(true, vec![])] }
    }

    /// The letters that words begin with.
    pub fn first(&self) -> BTreeSet<Letter> {
        let edges = self.places.first().map_or(&[][..], |(_, edges)| edges);
        let leads = |to: usize| self.reached(to).iter().any(|at| self.places[*at].0);
        edges.iter().filter(|(_, to)| leads(*to)).map(|(letter, _)| *letter).collect()
    }

    /// What is left of words that begin with a letter. Start places are numbered 0, so
    /// all others move up by one.
    pub fn behind(&self, letter: Letter) -> Self {
        let after = self.places[0].1.iter().filter(|(l, _)| *l == letter).map(|(_, to)| *to);
        let after: Vec<usize> = after.collect();
        let moved = |(l, to): &(Letter, usize)| (*l, to + 1);
        let mut places = vec![(
            after.iter().any(|at| self.places[*at].0),
            after.iter().flat_map(|at| &self.places[*at].1).map(moved).collect(),
        )];
        for (accepting, edges) in &self.places {
            places.push((*accepting, edges.iter().map(moved).collect()));
        }
        Self { places }
    }

    /// All words with a letter behind them.
    pub fn with(&self, letter: Letter) -> Self {
        let mut places = self.places.clone();
        let end = places.len();
        for (accepting, edges) in &mut places {
            if std::mem::take(accepting) {
                edges.push((letter, end));
            }
        }
        places.push((true, vec![]));
        Self { places }
    }

    /// The words in which a load of the variable gives the value: three copies of the
    /// automaton, for no store to the variable so far, the right one, and another.
    pub fn loading(&self, var: VarId, value: ValueId, memory: ValueId) -> Self {
        let number = self.places.len();
        let mut places = Vec::new();
        for copy in 0..3 {
            let gives = [memory == value, true, false][copy];
            for (accepting, edges) in &self.places {
                let edge = |(letter, to): &(Letter, usize)| {
                    let next = match *letter {
                        (x, _) if x != var => copy,
                        (_, v) if v == value => 1,
                        _ => 2,
                    };
                    (*letter, to + next * number)
                };
                places.push((*accepting && gives, edges.iter().map(edge).collect()));
            }
        }
        Self { places }
    }

    /// Whether every word is one of `big`, whose places have one edge for a letter at
    /// most.
    pub fn is_within(&self, big: &Self) -> bool {
        // Where both are; `big` may have got lost.
        let mut seen = BTreeSet::new();
        let mut todo = vec![(0, (!big.places.is_empty()).then_some(0))];
        while let Some((at, there)) = todo.pop() {
            if at >= self.places.len() || !seen.insert((at, there)) {
                continue;
            }
            let (accepting, edges) = &self.places[at];
            if *accepting && !there.is_some_and(|there: usize| big.places[there].0) {
                return false;
            }
            for (letter, to) in edges {
                let step = |there: usize| big.places[there].1.iter().find(|(l, _)| l == letter);
                todo.push((*to, there.and_then(step).map(|(_, to)| *to)));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Letter = (VarId(0), ValueId(0));
    const B: Letter = (VarId(0), ValueId(1));
    const C: Letter = (VarId(1), ValueId(0));

    fn accepts(automaton: &Automaton, word: &[Letter]) -> bool {
        let mut at: BTreeSet<usize> = [0].into();
        for letter in word {
            let edges = at.iter().flat_map(|a| &automaton.places[*a].1);
            at = edges.filter(|(l, _)| l == letter).map(|(_, to)| *to).collect();
        }
        at.iter().any(|a| automaton.places[*a].0)
    }

    /// `(ab)*` with `c`s anywhere.
    fn example() -> Automaton {
        Automaton { places: vec![(true, vec![(A, 1), (C, 0)]), (false, vec![(B, 0), (C, 1)])] }
    }

    fn words() -> Vec<Vec<Letter>> {
        let mut all = vec![vec![]];
        for i in 0.. {
            let word: Vec<Letter> = match all.get(i) {
                Some(word) if word.len() < 4 => Vec::clone(word),
                _ => return all,
            };
            all.extend([A, B, C].map(|l| [word.clone(), vec![l]].concat()));
        }
        all
    }

    #[test]
    fn operations_do_what_they_say() {
        let all = example();
        assert_eq!(all.first(), [A, C].into());
        for word in words() {
            let is = accepts(&all, &word);
            assert_eq!(accepts(&all.behind(A), &word), accepts(&all, &[&[A], &word[..]].concat()));
            assert_eq!(accepts(&all.with(C), &[&word[..], &[C]].concat()), is);
            for memory in [A.1, B.1] {
                let last = word.iter().rev().find(|l| l.0 == VarId(0)).map_or(memory, |l| l.1);
                let loaded = all.loading(VarId(0), B.1, memory);
                assert_eq!(accepts(&loaded, &word), is && last == B.1, "{word:?}");
            }
        }
    }

    #[test]
    fn inclusion() {
        let all = example();
        assert!(all.is_within(&all));
        assert!(all.loading(VarId(0), B.1, A.1).is_within(&all));
        assert!(!all.with(A).is_within(&all));
        assert!(!all.is_within(&Automaton::of_nothing_stored()));
        assert!(!Automaton::default().accepts_something());
    }
}
