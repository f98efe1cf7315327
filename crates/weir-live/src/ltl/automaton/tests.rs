//! Automata against the definition, on random formulas and words.

use weir_model::limits::Budget;
use weir_model::program::{Formula, Ltl};

use super::Automaton;

/// Numbers that look random.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// The letter that is called `n`. It is no constant, so that nothing is simplified.
fn letter(n: u64) -> Ltl {
    let atom = weir_model::program::Atom::Var(weir_model::ids::VarId::new(n as usize));
    Ltl::State(Formula::Atom(atom))
}

fn random(rng: &mut Rng, depth: u64) -> Ltl {
    if depth == 0 || rng.below(6) == 0 {
        return match rng.below(12) {
            0 => Ltl::State(Formula::Const(1)),
            1 => Ltl::State(Formula::Const(0)),
            n => letter(n % 3),
        };
    }
    let kind = rng.below(10);
    let (a, b) = (Box::new(random(rng, depth - 1)), Box::new(random(rng, depth - 1)));
    match kind {
        0 => Ltl::Not(a),
        1 => Ltl::And(a, b),
        2 => Ltl::Or(a, b),
        3 => Ltl::Implies(a, b),
        4 => Ltl::Iff(a, b),
        5 => Ltl::Always(a),
        6 => Ltl::Eventually(a),
        7 => Ltl::Until(a, b),
        8 => Ltl::Unless(a, b),
        _ => Ltl::Release(a, b),
    }
}

/// A word that repeats its end from `back` on.
struct Word {
    letters: Vec<u32>,
    back: usize,
}

impl Word {
    /// The position that is reached after so many steps.
    fn after(&self, from: usize, steps: usize) -> usize {
        let at = from + steps;
        let len = self.letters.len();
        if at < len { at } else { self.back + (at - self.back) % (len - self.back) }
    }

    /// Whether a formula holds at a position: word for word as it is defined. After as many steps
    /// as there are positions nothing new comes.
    fn satisfies(&self, f: &Ltl, at: usize) -> bool {
        let horizon = 0..=2 * self.letters.len();
        let later = |f: &Ltl, steps: usize| self.satisfies(f, self.after(at, steps));
        let until =
            |a: &Ltl, b: &Ltl| horizon.clone().any(|k| later(b, k) && (0..k).all(|j| later(a, j)));
        match f {
            Ltl::State(Formula::Const(c)) => *c != 0,
            Ltl::State(Formula::Atom(weir_model::program::Atom::Var(x))) => {
                self.letters[at] >> x.index() & 1 == 1
            }
            Ltl::State(_) => unreachable!("no other formulas are made"),
            Ltl::Not(a) => !self.satisfies(a, at),
            Ltl::And(a, b) => self.satisfies(a, at) && self.satisfies(b, at),
            Ltl::Or(a, b) => self.satisfies(a, at) || self.satisfies(b, at),
            Ltl::Implies(a, b) => !self.satisfies(a, at) || self.satisfies(b, at),
            Ltl::Iff(a, b) => self.satisfies(a, at) == self.satisfies(b, at),
            Ltl::Always(a) => horizon.clone().all(|k| later(a, k)),
            Ltl::Eventually(a) => horizon.clone().any(|k| later(a, k)),
            Ltl::Until(a, b) => until(a, b),
            Ltl::Unless(a, b) => until(a, b) || horizon.clone().all(|k| later(a, k)),
            Ltl::Release(a, b) => {
                horizon.clone().all(|k| later(b, k) || (0..k).any(|j| later(a, j)))
            }
        }
    }

    /// Whether an automaton has an accepting run on the word: a position and a state that come back
    /// to themselves with every accepting set on the way.
    fn is_accepted(&self, automaton: &Automaton) -> bool {
        // The letters of the automaton are in the order in which it met them.
        let known: Vec<usize> = automaton
            .letters
            .iter()
            .map(|f| match f {
                Formula::Atom(weir_model::program::Atom::Var(x)) => x.index(),
                _ => unreachable!("no other formulas are made"),
            })
            .collect();
        let letter = |at: usize| {
            let bits = known.iter().enumerate();
            bits.fold(0, |word, (i, x)| word | (self.letters[at] >> x & 1) << i)
        };
        let reads = |at: usize, q: u32| automaton.states[q as usize].reads(letter(at));
        let next = |(at, q): (usize, u32)| {
            let to = self.after(at, 1);
            let states = automaton.states[q as usize].next.iter();
            states.filter(|q| reads(to, **q)).map(|q| (to, *q)).collect::<Vec<_>>()
        };
        let reach = |from: Vec<(usize, u32)>| {
            let mut seen: Vec<(usize, u32)> = Vec::new();
            let mut work = from;
            while let Some(node) = work.pop() {
                if !seen.contains(&node) {
                    seen.push(node);
                    work.extend(next(node));
                }
            }
            seen
        };
        let first = automaton.initial.iter().filter(|q| reads(0, **q)).map(|q| (0, *q)).collect();
        let all = reach(first);
        all.iter().any(|node| {
            let on = reach(next(*node));
            let comes_back = on.contains(node);
            // What is in the same component as the node.
            let part: Vec<_> = on.iter().filter(|n| reach(next(**n)).contains(node)).collect();
            comes_back
                && (0..automaton.sets)
                    .all(|set| part.iter().any(|(_, q)| automaton.states[*q as usize].accepts[set]))
        })
    }
}

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let rounds = std::env::var("WEIR_LTL").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    let mut satisfied = 0;
    for round in 0..rounds {
        let formula = random(&mut rng, 1 + round % 3);
        let len = 1 + rng.below(5) as usize;
        let letters = (0..len).map(|_| rng.below(8) as u32).collect();
        let word = Word { letters, back: rng.below(len as u64) as usize };
        let holds = word.satisfies(&formula, 0);
        satisfied += u64::from(holds);
        for wanted in [true, false] {
            let automaton = Automaton::new(&formula, wanted, &Budget::new()).unwrap();
            let found = word.is_accepted(&automaton);
            let (letters, back) = (&word.letters, word.back);
            assert_eq!(found, holds == wanted, "{formula:?} on {letters:?} from {back}");
        }
    }
    assert!(satisfied > rounds / 4 && satisfied < rounds * 3 / 4, "{satisfied} of {rounds}");
}

#[test]
fn automata_of_common_formulas_are_small() {
    let size = |f: &Ltl| Automaton::new(f, true, &Budget::new()).unwrap().states.len();
    let (p, q) = (|| Box::new(letter(0)), || Box::new(letter(1)));
    assert!(size(&Ltl::Always(p())) <= 2);
    assert!(size(&Ltl::Always(Box::new(Ltl::Eventually(p())))) <= 4);
    let answers = Ltl::Implies(p(), Box::new(Ltl::Eventually(q())));
    assert!(size(&Ltl::Always(Box::new(answers))) <= 8);
}
