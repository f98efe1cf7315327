//! Prints a language as a regular expression, by state elimination.

use std::collections::BTreeMap;

use super::dfa::{Dfa, Letter};

/// Longer expressions are not worth reading.
const LONGEST: usize = 400;

/// An expression, and how tightly its outermost operator binds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expression {
    text: String,
    binds: Binds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Sum,
    Product,
    Atom,
}

const EMPTY_WORD: &str = "ε";

impl Expression {
    fn atom(text: String) -> Self {
        Self { text, binds: Binds::Atom }
    }

    fn is_empty_word(&self) -> bool {
        self.text == EMPTY_WORD
    }

    /// In parentheses if it binds less tightly.
    fn within(&self, binds: Binds) -> String {
        if self.binds < binds { format!("[{}]", self.text) } else { self.text.clone() }
    }

    fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let is_star = |e: &Self| e.binds == Binds::Atom && e.text.ends_with('*');
        match () {
            () if other.is_empty_word() && is_star(&self) => self,
            () if self.is_empty_word() && is_star(&other) => other,
            () => Self { text: format!("{} | {}", self.text, other.text), binds: Binds::Sum },
        }
    }

    fn then(&self, other: &Self) -> Self {
        match () {
            () if self.is_empty_word() => other.clone(),
            () if other.is_empty_word() => self.clone(),
            () => Self {
                text: self.within(Binds::Product) + &other.within(Binds::Product),
                binds: Binds::Product,
            },
        }
    }

    fn star(&self) -> Self {
        match self.is_empty_word() {
            true => self.clone(),
            false => Self::atom(self.within(Binds::Atom) + "*"),
        }
    }
}

/// The regular expression of an automaton; `None` if it is long.
pub fn of(dfa: &Dfa, letter: &dyn Fn(Letter) -> String) -> Option<String> {
    if dfa.is_empty() {
        return Some("∅".to_owned());
    }
    let number = dfa.len();
    let (start, end) = (number, number + 1);
    let mut edges: BTreeMap<(usize, usize), Expression> = BTreeMap::new();
    let add = |edges: &mut BTreeMap<_, Expression>, from, to, e: Expression| {
        let sum = match edges.remove(&(from, to)) {
            Some(before) => before.or(e),
            None => e,
        };
        edges.insert((from, to), sum);
    };
    let empty = || Expression::atom(EMPTY_WORD.to_owned());
    add(&mut edges, start, 0, empty());
    for state in 0..number as u32 {
        let from = state as usize;
        if dfa.accepts_at(state) {
            add(&mut edges, from, end, empty());
        }
        for (l, to) in dfa.edges(state) {
            add(&mut edges, from, *to as usize, Expression::atom(letter(*l)));
        }
    }
    let mut left: Vec<usize> = (0..number).collect();
    // First what lies on the fewest ways: that keeps expressions short.
    let ways = |edges: &BTreeMap<(usize, usize), Expression>, state: usize| {
        let others = || edges.keys().filter(|at| at.0 != at.1);
        others().filter(|at| at.1 == state).count() * others().filter(|at| at.0 == state).count()
    };
    while let Some(state) = left.iter().copied().min_by_key(|s| ways(&edges, *s)) {
        left.retain(|s| *s != state);
        let around = edges.remove(&(state, state)).map_or_else(empty, |e| e.star());
        let touching = |at: &(usize, usize)| (at.0 == state) != (at.1 == state);
        let found: Vec<_> = edges.keys().copied().filter(touching).collect();
        let mut taken = |is_in: bool| -> Vec<(usize, Expression)> {
            let side = found.iter().filter(|at| (at.1 == state) == is_in);
            let other = |at: &(usize, usize)| if is_in { at.0 } else { at.1 };
            side.filter_map(|at| Some((other(at), edges.remove(at)?))).collect()
        };
        let (into, out) = (taken(true), taken(false));
        for (from, first) in &into {
            for (to, last) in &out {
                let way = first.then(&around).then(last);
                if way.text.len() > LONGEST {
                    return None;
                }
                add(&mut edges, *from, *to, way);
            }
        }
    }
    edges.remove(&(start, end)).map(|e| e.text).filter(|text| text.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::super::language::{LanguageId, Languages};
    use super::*;

    #[test]
    fn expressions() {
        let mut all = Languages::default();
        let name = |l: Letter| ["a", "b", "c"][l.0 as usize].to_owned();
        let show = |all: &Languages, id| of(all.get(id), &name).unwrap();
        let (a, b) = (Letter(0), Letter(1));
        assert_eq!(show(&all, LanguageId::NONE), "∅");
        assert_eq!(show(&all, LanguageId::EMPTY_WORD), "ε");
        let ab = all.word(&[a, b]).unwrap();
        assert_eq!(show(&all, ab), "ab");
        let repeated = all.then_star(LanguageId::EMPTY_WORD, ab).unwrap();
        assert_eq!(show(&all, repeated), "[ab]*");
        let one = all.word(&[a]).unwrap();
        let ba = all.word(&[b, a]).unwrap();
        let more = all.then_star(one, ba).unwrap();
        assert_eq!(show(&all, more), "a[ba]*");
        let either = all.union(one, ba).unwrap();
        let either = all.then_star(LanguageId::EMPTY_WORD, either).unwrap();
        assert_eq!(show(&all, either), "[a | ba]*");
        let long = all.word(&vec![a; 500]).unwrap();
        assert_eq!(of(all.get(long), &name), None);
    }
}
