//! Cyclic instances of Post's problem as machines.

use crate::common;

use std::collections::BTreeSet;

use common::{BASIC, Shape, is_reached, with_seeds};
use weir_channel::explicit::{Again, Lasso, again};
use weir_channel::semantics::{Contents, Semantics};
use weir_channel::{Machine, Op, SearchOptions, StateId, Transition};
use weir_gen::Rng;
use weir_theory::{cpcp, pcp};

fn asked(machine: &Machine, semantics: Semantics, state: StateId, bound: usize) -> Again {
    let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
    again(machine, semantics, state, &options, &mut |_| {}).0
}

fn visits(machine: &Machine, bound: usize) -> Option<Lasso> {
    let s1 = machine.state(cpcp::AGAIN).unwrap();
    match asked(machine, Semantics::Lossy, s1, bound) {
        Again::Visited(lasso) => Some(lasso),
        Again::NotVisited | Again::Unknown(_) => None,
    }
}

/// One or two pairs of short words.
fn pairs(rng: &mut Rng, letters: &[char], longest: usize) -> String {
    let mut word = || -> String {
        let length = 1 + rng.below(longest);
        (0..length).map(|_| *rng.pick(letters)).collect()
    };
    let mut lines = vec![format!("{} {}", word(), word())];
    lines.push(format!("{} {}", word(), word()));
    lines.truncate(1 + rng.below(2));
    lines.join("\n")
}

/// Whether indices, from 0, are a cyclic solution, by the definition.
fn is_solution(instance: &pcp::Instance, indices: &[usize]) -> bool {
    let pairs: Vec<(&str, &str)> = instance.pairs().collect();
    let alpha: String = indices.iter().map(|i| pairs[*i].0).collect();
    let beta: String = indices.iter().map(|i| pairs[*i].1).collect();
    !indices.is_empty()
        && (0..=alpha.len()).any(|n| format!("{}{}", &alpha[n..], &alpha[..n]) == beta)
}

/// The pairs that are checked in the cycle of a lasso of the machine with two channels.
fn checked(machine: &Machine, lasso: &Lasso) -> Vec<usize> {
    let cycle = &lasso.run.steps[lasso.stem..];
    let transition = |t| machine.transition(t);
    let ends = cycle.iter().filter(|s| machine.state_name(s.after.state) == cpcp::AGAIN);
    let last = ends.map(|s| machine.state_name(transition(s.transition).from));
    let number = |name: &str| {
        let middle = name.strip_prefix("check ").and_then(|n| n.split_once('.')).unwrap();
        middle.0.parse::<usize>().unwrap() - 1
    };
    last.map(number).collect()
}

/// A cycle through `s1` is a solution, and a solution is a cycle.
#[test]
fn cycles_are_solutions() {
    let solved = std::sync::Mutex::new([0, 0]);
    with_seeds(40, |rng| {
        let text = pairs(rng, &['a', 'b'], 2);
        let instance = pcp::read(&text).unwrap();
        let machine = cpcp::machine(&instance).unwrap();
        let lasso = visits(&machine, 4);
        if let Some(lasso) = &lasso {
            let indices = checked(&machine, lasso);
            assert!(is_solution(&instance, &indices), "{text}: {indices:?}");
        }
        // A solution with one index and words of up to two letters needs no longer channels.
        let count = instance.pairs().count();
        if (0..count).any(|i| is_solution(&instance, &[i])) {
            assert!(lasso.is_some(), "{text}");
        }
        solved.lock().unwrap()[usize::from(lasso.is_some())] += 1;
    });
    let [unknown, visited] = solved.into_inner().unwrap();
    assert!(unknown > 5 && visited > 5, "{unknown} {visited}");
}

/// With one channel it is the same. It holds what both hold, and two delimiters.
#[test]
fn one_channel_agrees_with_two() {
    let mut found = BTreeSet::new();
    for text in ["a a", "a b", "a aa", "aa a", "a a\na b", "a b\nb a", "ab ba"] {
        let two = cpcp::machine(&pcp::read(text).unwrap()).unwrap();
        let one = cpcp::one_channel(&two).unwrap();
        let [of_two, of_one] = [visits(&two, 3), visits(&one, 8)].map(|lasso| lasso.is_some());
        assert_eq!(of_two, of_one, "{text}");
        found.insert(of_two);
    }
    assert_eq!(found.len(), 2);
}

/// What lossy machines reach is decided, so the two forms can be compared exactly.
#[test]
fn one_channel_reaches_what_several_reach() {
    let counts = std::sync::Mutex::new([0, 0]);
    with_seeds(150, |rng| {
        let shape = Shape { channels: 1 + rng.below(3), transitions: 6, ..BASIC };
        let machine = common::machine(rng, &shape, "");
        let one = cpcp::one_channel(&machine).unwrap();
        for state in machine.states() {
            let same = one.state(machine.state_name(state)).unwrap();
            let expected = is_reached(&machine, state, Contents::Any);
            assert_eq!(
                is_reached(&one, same, Contents::Any),
                expected,
                "{}",
                machine.state_name(state)
            );
            counts.lock().unwrap()[usize::from(expected)] += 1;
        }
    });
    assert!(counts.into_inner().unwrap().iter().all(|n| *n > 30));
}

/// No scan goes on for ever, whatever is in the channel and whatever is lost: without the
/// control states of the first machine there is no cycle.
#[test]
fn scans_end() {
    for text in ["a a", "ab ba"] {
        let two = cpcp::machine(&pcp::read(text).unwrap()).unwrap();
        let one = cpcp::one_channel(&two).unwrap();
        let is_inner = |s: StateId| two.state(one.state_name(s)).is_none();
        let mut builder = Machine::builder("scans");
        for state in one.states() {
            builder.state(one.state_name(state)).unwrap();
        }
        let c = builder.channel("c").unwrap();
        let load = builder.state("load").unwrap();
        for message in one.messages() {
            let message = builder.message(one.message_name(message)).unwrap();
            builder.transition(Transition::new(load, load).op(c, Op::send(message))).unwrap();
        }
        for state in one.states().filter(|s| is_inner(*s)) {
            builder.transition(Transition::new(load, state)).unwrap();
        }
        for transition in one.transitions().iter().filter(|t| is_inner(t.from)) {
            builder.transition(transition.clone()).unwrap();
        }
        let scans = builder.build(load).unwrap();
        for state in one.states() {
            let answer = asked(&scans, Semantics::Lossy, state, 3);
            assert!(!matches!(answer, Again::Visited(_)), "{text}: {answer:?}");
        }
    }
}
