//! Formulas of linear temporal logic, by their definition.
//!
//! `on_word` evaluates a formula on a word that repeats its end for ever: for each position, from
//! small formulas to large ones, `until` as the least solution of its equation and `always` as the
//! greatest. `Tableau` says which truth values the parts of a formula may have at a moment, given what
//! they are at the next one. Neither builds an automaton, which is how runs are searched.

use weir_model::program::{Formula, Ltl};

/// The most parts of a formula with a temporal operator that a `Tableau` may have.
pub const MAX_TEMPORAL: usize = 10;

/// The most formulas about states.
const MAX_STATES: usize = 64;

/// Whether a formula is small enough for the proof that no run violates it to be checked.
pub fn is_checked(formula: &Ltl) -> bool {
    Tableau::new(formula).is_some()
}

/// At which positions of a word a formula holds. The word has `len` positions, and after the last one
/// it goes on at `back`. `state` says whether a formula about states holds at a position.
pub(crate) fn on_word(
    formula: &Ltl,
    (len, back): (usize, usize),
    state: &dyn Fn(&Formula, usize) -> bool,
) -> Vec<bool> {
    let of = |part: &Ltl| on_word(part, (len, back), state);
    let pairs = |a: &Ltl, b: &Ltl, f: fn(bool, bool) -> bool| {
        of(a).into_iter().zip(of(b)).map(|(a, b)| f(a, b)).collect::<Vec<bool>>()
    };
    // The solution of v(i) = f(i, v(i + 1)) that is reached from the same value everywhere.
    let solution = |first: bool, f: &dyn Fn(usize, bool) -> bool| {
        let mut values = vec![first; len];
        loop {
            let mut changed = false;
            for i in (0..len).rev() {
                let next = if i + 1 < len { i + 1 } else { back };
                let value = f(i, values[next]);
                changed |= value != values[i];
                values[i] = value;
            }
            if !changed {
                return values;
            }
        }
    };
    match formula {
        Ltl::State(f) => (0..len).map(|i| state(f, i)).collect(),
        Ltl::Not(a) => of(a).into_iter().map(|a| !a).collect(),
        Ltl::And(a, b) => pairs(a, b, |a, b| a && b),
        Ltl::Or(a, b) => pairs(a, b, |a, b| a || b),
        Ltl::Implies(a, b) => pairs(a, b, |a, b| !a || b),
        Ltl::Iff(a, b) => pairs(a, b, |a, b| a == b),
        Ltl::Always(a) => {
            let a = of(a);
            solution(true, &|i, next| a[i] && next)
        }
        Ltl::Eventually(a) => {
            let a = of(a);
            solution(false, &|i, next| a[i] || next)
        }
        Ltl::Until(a, b) => {
            let (a, b) = (of(a), of(b));
            solution(false, &|i, next| b[i] || a[i] && next)
        }
        Ltl::Unless(a, b) => {
            let (a, b) = (of(a), of(b));
            solution(true, &|i, next| b[i] || a[i] && next)
        }
        Ltl::Release(a, b) => {
            let (a, b) = (of(a), of(b));
            solution(true, &|i, next| b[i] && (a[i] || next))
        }
    }
}

/// A part of a formula; its own parts come before it.
enum Part {
    /// A formula about states, by its number.
    State(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Implies(usize, usize),
    Iff(usize, usize),
    Always(usize),
    Eventually(usize),
    Until(usize, usize),
    Unless(usize, usize),
    Release(usize, usize),
}

/// The parts of a formula.
pub(crate) struct Tableau<'f> {
    parts: Vec<Part>,
    /// Those with a temporal operator, in order.
    temporal: Vec<usize>,
    /// The formulas about states.
    pub(crate) states: Vec<&'f Formula>,
}

/// What is true at a moment, given what is true at the next one. A bit stands for a part with a
/// temporal operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Whether the whole formula holds.
    pub(crate) root: bool,
    /// Which temporal parts hold.
    pub(crate) holds: u32,
    /// Which of them are fulfilled now: the second part of an `until` that holds, or the negation
    /// of the part of an `always` that does not hold.
    pub(crate) settled: u32,
}

impl<'f> Tableau<'f> {
    /// The tableau of a formula; nothing if the formula is too large.
    pub(crate) fn new(formula: &'f Ltl) -> Option<Self> {
        let mut tableau = Self { parts: vec![], temporal: vec![], states: vec![] };
        tableau.add(formula);
        let fits = tableau.temporal.len() <= MAX_TEMPORAL && tableau.states.len() <= MAX_STATES;
        fits.then_some(tableau)
    }

    fn add(&mut self, formula: &'f Ltl) -> usize {
        let mut of = |part: &'f Ltl| self.add(part);
        let (part, is_temporal) = match formula {
            Ltl::State(f) => {
                let known = self.states.iter().position(|known| *known == f);
                let number = known.unwrap_or_else(|| {
                    self.states.push(f);
                    self.states.len() - 1
                });
                (Part::State(number), false)
            }
            Ltl::Not(a) => (Part::Not(of(a)), false),
            Ltl::And(a, b) => (Part::And(of(a), of(b)), false),
            Ltl::Or(a, b) => (Part::Or(of(a), of(b)), false),
            Ltl::Implies(a, b) => (Part::Implies(of(a), of(b)), false),
            Ltl::Iff(a, b) => (Part::Iff(of(a), of(b)), false),
            Ltl::Always(a) => (Part::Always(of(a)), true),
            Ltl::Eventually(a) => (Part::Eventually(of(a)), true),
            Ltl::Until(a, b) => (Part::Until(of(a), of(b)), true),
            Ltl::Unless(a, b) => (Part::Unless(of(a), of(b)), true),
            Ltl::Release(a, b) => (Part::Release(of(a), of(b)), true),
        };
        self.parts.push(part);
        if is_temporal {
            self.temporal.push(self.parts.len() - 1);
        }
        self.parts.len() - 1
    }

    /// How many sets of temporal parts there are.
    pub(crate) fn promises(&self) -> u32 {
        1 << self.temporal.len()
    }

    /// What is true at a moment with a letter, if the temporal parts `promised` hold at the next.
    pub(crate) fn moment(&self, letter: u64, promised: u32) -> Moment {
        let mut values = Vec::with_capacity(self.parts.len());
        let (mut holds, mut settled, mut bit) = (0_u32, 0_u32, 0);
        for part in &self.parts {
            let v = |i: &usize| -> bool { values[*i] };
            let next = promised >> bit & 1 == 1;
            // The value, and for temporal parts whether it is not put off.
            let (value, done) = match part {
                Part::State(number) => (letter >> number & 1 == 1, None),
                Part::Not(a) => (!v(a), None),
                Part::And(a, b) => (v(a) && v(b), None),
                Part::Or(a, b) => (v(a) || v(b), None),
                Part::Implies(a, b) => (!v(a) || v(b), None),
                Part::Iff(a, b) => (v(a) == v(b), None),
                Part::Always(a) => (v(a) && next, Some(!v(a))),
                Part::Eventually(a) => (v(a) || next, Some(v(a))),
                Part::Until(a, b) => (v(b) || v(a) && next, Some(v(b))),
                Part::Unless(a, b) => (v(b) || v(a) && next, Some(!v(a) && !v(b))),
                Part::Release(a, b) => (v(b) && (v(a) || next), Some(!v(b))),
            };
            if let Some(done) = done {
                // A least solution must not be true for ever by itself, nor a greatest one false.
                let least = matches!(part, Part::Eventually(_) | Part::Until(..));
                holds |= u32::from(value) << bit;
                settled |= u32::from(done || value != least) << bit;
                bit += 1;
            }
            values.push(value);
        }
        Moment { root: values.last().is_some_and(|root| *root), holds, settled }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of two letters, as bits, and formulas over them.
    fn at_first(formula: &Ltl, word: &[u64], back: usize) -> bool {
        let state = |f: &Formula, i: usize| match f {
            Formula::Const(n) => word[i] >> n & 1 == 1,
            _ => false,
        };
        on_word(formula, (word.len(), back), &state)[0]
    }

    fn letter(n: i128) -> Box<Ltl> {
        Box::new(Ltl::State(Formula::Const(n)))
    }

    #[test]
    fn the_definitions_on_words() {
        let (p, q) = (|| letter(0), || letter(1));
        let until = Ltl::Until(p(), q());
        assert!(at_first(&until, &[1, 1, 2, 0], 3));
        assert!(!at_first(&until, &[1, 0, 2], 2));
        assert!(!at_first(&until, &[1], 0));
        assert!(at_first(&Ltl::Unless(p(), q()), &[1], 0));
        assert!(at_first(&Ltl::Release(q(), p()), &[1, 3, 0], 2));
        assert!(!at_first(&Ltl::Release(q(), p()), &[1, 2], 1));
        let again = Ltl::Always(Box::new(Ltl::Eventually(p())));
        assert!(at_first(&again, &[0, 0, 1], 1));
        assert!(!at_first(&again, &[1, 1, 0], 2));
        let for_good = Ltl::Eventually(Box::new(Ltl::Always(p())));
        assert!(at_first(&for_good, &[0, 1, 1], 1));
        assert!(!at_first(&for_good, &[1, 1, 0], 0));
    }
}
