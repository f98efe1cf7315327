//! Prints the language of an automaton as a regular expression, by state elimination.

use std::collections::BTreeMap;

use weir_model::answer::BufferAutomaton;
use weir_model::ids::{ValueId, VarId};

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
pub fn of(
    automaton: &BufferAutomaton,
    letter: &dyn Fn(VarId, ValueId) -> String,
) -> Option<String> {
    let number = automaton.states.len();
    if !automaton.states.iter().any(|s| s.is_accepting) {
        return Some("∅".to_owned());
    }
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
    for (from, state) in automaton.states.iter().enumerate() {
        if state.is_accepting {
            add(&mut edges, from, end, empty());
        }
        for (var, value, to) in &state.edges {
            add(&mut edges, from, *to, Expression::atom(letter(*var, *value)));
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
    use weir_model::answer::BufferAutomatonState;

    use super::*;

    /// The expression of an automaton over the stores `a`, `b` and `c`.
    fn shown(states: &[(bool, &[(u32, usize)])]) -> Option<String> {
        let state = |(is_accepting, edges): &(bool, &[(u32, usize)])| BufferAutomatonState {
            is_accepting: *is_accepting,
            edges: edges.iter().map(|(l, to)| (VarId(0), ValueId(*l), *to)).collect(),
        };
        let automaton = BufferAutomaton { states: states.iter().map(state).collect() };
        of(&automaton, &|_, l| ["a", "b", "c"][l.index()].to_owned())
    }

    #[test]
    fn expressions() {
        assert_eq!(shown(&[(false, &[])]).unwrap(), "∅");
        assert_eq!(shown(&[(true, &[])]).unwrap(), "ε");
        assert_eq!(shown(&[(false, &[(0, 1)]), (false, &[(1, 2)]), (true, &[])]).unwrap(), "ab");
        assert_eq!(shown(&[(true, &[(0, 1)]), (false, &[(1, 0)])]).unwrap(), "[ab]*");
        let behind = [(false, &[(0, 1)][..]), (true, &[(1, 2)]), (false, &[(0, 1)])];
        assert_eq!(shown(&behind).unwrap(), "a[ba]*");
        assert_eq!(shown(&[(true, &[(0, 0), (1, 1)]), (false, &[(0, 0)])]).unwrap(), "[a | ba]*");
        let next: Vec<Vec<(u32, usize)>> = (1..=500).map(|to| vec![(0, to)]).collect();
        let mut long: Vec<(bool, &[(u32, usize)])> = next.iter().map(|e| (false, &e[..])).collect();
        long.push((true, &[]));
        assert_eq!(shown(&long), None);
    }
}
