//! The searches agree: the backward one, which decides, the explicit one, and one
//! that is nothing but the definition.
//!
//! `WEIR_SEED` and `WEIR_CASES` change where the random machines start and how
//! many there are.

use crate::common;

use std::collections::BTreeSet;

use common::{SHAPES, machine, with_seeds};
use weir_channel::explicit::search;
use weir_channel::lossy::{Reach, reach};
use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::text::print;
use weir_channel::{Configuration, Machine, Op, SearchOptions, StateId, Word, replay};

const BOUND: usize = 3;

/// All subwords that keep what is strong.
fn subwords(machine: &Machine, word: &Word) -> Vec<Word> {
    word.iter().fold(vec![vec![]], |begun: Vec<Word>, m| {
        let kept = begun.iter().map(|w| [w.as_slice(), &[*m]].concat());
        let lost = begun.iter().filter(|_| !machine.is_strong(*m)).cloned();
        kept.chain(lost).collect()
    })
}

/// All ways to lose something in every channel.
fn losses(machine: &Machine, at: &Configuration) -> Vec<Configuration> {
    at.channels.iter().fold(
        vec![Configuration { state: at.state, channels: vec![] }],
        |begun, word| {
            let mut all = Vec::new();
            for c in begun {
                for word in subwords(machine, word) {
                    let mut c = c.clone();
                    c.channels.push(word);
                    all.push(c);
                }
            }
            all
        },
    )
}

/// Section 4.3, word by word: `v ⪯ u`, a perfect step to `v'`, `u' ⪯ v'`. Only
/// configurations within the bound are kept.
fn by_definition(machine: &Machine, semantics: Semantics) -> BTreeSet<Configuration> {
    let lossy = semantics == Semantics::Lossy;
    let mut seen = BTreeSet::from([machine.start()]);
    let mut work = vec![machine.start()];
    let within = |c: &Configuration| {
        !lossy || c.channels.iter().all(|w| machine.strong_in(w) <= machine.strong_bound())
    };
    while let Some(u) = work.pop() {
        let smaller = if lossy { losses(machine, &u) } else { vec![u] };
        for v in smaller {
            for t in machine.transitions().iter().filter(|t| t.from == v.state) {
                if !t.guards().all(|(c, guard)| guard.accepts(&v.channels[c.index()])) {
                    continue;
                }
                let mut after = Configuration { state: t.to, channels: v.channels.clone() };
                let mut done = true;
                for (c, op) in t.ops() {
                    let word = &mut after.channels[c.index()];
                    match op {
                        Op::Send { substitution, message } => {
                            *word = word.iter().map(|m| substitution.apply(*m)).collect();
                            word.insert(0, *message);
                        }
                        Op::Receive(message) => done &= word.pop() == Some(*message),
                    }
                }
                if !done || !within(&after) {
                    continue;
                }
                let ends = if lossy { losses(machine, &after) } else { vec![after] };
                for end in ends {
                    let fits = end.channels.iter().all(|w| w.len() <= BOUND);
                    if fits && seen.insert(end.clone()) {
                        work.push(end);
                    }
                }
            }
        }
    }
    seen
}

#[test]
fn explicit_search_is_the_definition() {
    for (_, shape) in SHAPES {
        with_seeds(200, |rng| {
            let machine = machine(rng, &shape, "c");
            for semantics in [Semantics::Perfect, Semantics::Lossy] {
                let options = SearchOptions { bound: Some(BOUND), ..SearchOptions::default() };
                let found = search(&machine, semantics, None, &options, &mut |_| {});
                let defined = by_definition(&machine, semantics);
                let states: BTreeSet<StateId> = defined.iter().map(|c| c.state).collect();
                let shown = print(&machine);
                assert_eq!(found.states, Vec::from_iter(states), "{semantics:?}\n{shown}");
                assert_eq!(found.stats.stored, defined.len(), "{semantics:?}\n{shown}");
            }
        });
    }
}

/// The longest word of a run.
fn longest(run: &weir_channel::semantics::Run) -> usize {
    let words = run.steps.iter().flat_map(|s| &s.after.channels);
    words.map(Vec::len).max().unwrap_or(0)
}

fn one(machine: &Machine, state: StateId, contents: Contents) -> (bool, bool) {
    let goal = Goal { state, contents };
    let options = SearchOptions { bound: Some(BOUND), ..SearchOptions::default() };
    let (decided, _) = reach(machine, &goal, &options, &mut |_| {});
    let tried = search(machine, Semantics::Lossy, Some(&goal), &options, &mut |_| {});
    let shown = || format!("{goal:?}\n{decided:?}\n{:?}\n{}", tried.goal, print(machine));
    match (&decided, tried.goal.as_ref().unwrap()) {
        (Reach::Unknown(_), _) => panic!("{}", shown()),
        (Reach::Reached(run), other) => {
            replay(machine, run, &goal).unwrap_or_else(|e| panic!("{e}\n{}", shown()));
            match other {
                Reach::Reached(short) => {
                    replay(machine, short, &goal).unwrap_or_else(|e| panic!("{e}\n{}", shown()));
                }
                // The explicit search has to find what is within its bound.
                _ => assert!(longest(run) > BOUND, "{}", shown()),
            }
            (true, true)
        }
        (Reach::NotReached(minimal), other) => {
            assert!(!matches!(other, Reach::Reached(_)), "{}", shown());
            assert!(!minimal.contains(&machine.start()), "{}", shown());
            (false, matches!(other, Reach::NotReached(_)))
        }
    }
}

#[test]
fn backward_search_agrees_with_explicit_search() {
    for (name, shape) in SHAPES {
        let counts = std::sync::Mutex::new([0usize; 3]);
        with_seeds(300, |rng| {
            let machine = machine(rng, &shape, "c");
            for state in machine.states() {
                for contents in [Contents::Empty, Contents::Any] {
                    let (reached, settled) = one(&machine, state, contents);
                    let mut counts = counts.lock().unwrap();
                    counts[usize::from(!reached)] += 1;
                    counts[2] += usize::from(settled);
                }
            }
        });
        let [reached, not, settled] = *counts.lock().unwrap();
        println!("{name}: {reached} reached, {not} not, {settled} settled by both");
        // Random machines that never reach anything, or always, would show nothing.
        if std::env::var("WEIR_CASES").is_err() {
            assert!(reached.min(not) > 150, "{name}: {reached} and {not}");
        }
    }
}

/// What the backward search returns when nothing is reached is closed: no step
/// leads into it from outside, as far as the bound lets us see.
#[test]
fn what_excludes_a_state_is_closed() {
    for (_, shape) in SHAPES {
        with_seeds(200, |rng| {
            let machine = machine(rng, &shape, "c");
            for state in machine.states() {
                let goal = Goal { state, contents: Contents::Empty };
                let (answer, _) = reach(&machine, &goal, &SearchOptions::default(), &mut |_| {});
                let Reach::NotReached(minimal) = answer else { continue };
                let is_above = |c: &Configuration| {
                    minimal.iter().any(|m| {
                        let mut words = m.channels.iter().zip(&c.channels);
                        m.state == c.state && words.all(|(m, c)| machine.is_subword(m, c))
                    })
                };
                for c in by_definition(&machine, Semantics::Lossy) {
                    assert!(!is_above(&c), "{c:?} reaches {state:?}\n{}", print(&machine));
                }
            }
        });
    }
}
