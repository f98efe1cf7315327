//! Repeated reachability: the search against the definition.

use crate::common;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use common::{BASIC, Shape, with_seeds};
use weir_channel::explicit::{Again, again};
use weir_channel::semantics::Semantics;
use weir_channel::{Configuration, Machine, Op, SearchOptions, StateId, Word};

fn asked(machine: &Machine, semantics: Semantics, state: StateId, bound: usize) -> Again {
    let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
    again(machine, semantics, state, &options, &mut |_| {}).0
}

/// All subwords of a word, with itself.
fn subwords(word: &Word) -> BTreeSet<Word> {
    let mut all = BTreeSet::from([vec![]]);
    for message in word {
        let longer: Vec<Word> = all.iter().map(|w| [&w[..], &[*message]].concat()).collect();
        all.extend(longer);
    }
    all
}

/// All configurations that channels with these words can become by losses.
fn smaller(at: &Configuration) -> Vec<Configuration> {
    let mut all = vec![Configuration { state: at.state, channels: vec![] }];
    for word in &at.channels {
        let with = |c: &Configuration, w: Word| {
            let channels = c.channels.iter().cloned().chain([w]).collect();
            Configuration { state: c.state, channels }
        };
        all = all.iter().flat_map(|c| subwords(word).into_iter().map(|w| with(c, w))).collect();
    }
    all
}

/// The steps of a basic machine from a configuration, as section 4.1 has them.
fn naive(
    machine: &Machine,
    lossy: bool,
    bound: usize,
    at: &Configuration,
) -> BTreeSet<Configuration> {
    let mut found = BTreeSet::new();
    let before = if lossy { smaller(at) } else { vec![at.clone()] };
    for t in machine.transitions().iter().filter(|t| t.from == at.state) {
        'next: for v in &before {
            let mut after = Configuration { state: t.to, channels: v.channels.clone() };
            for (c, op) in t.ops() {
                let word = &mut after.channels[c.index()];
                match op {
                    Op::Send { message, .. } => word.insert(0, *message),
                    Op::Receive(message) if word.last() == Some(message) => drop(word.pop()),
                    Op::Receive(_) => continue 'next,
                }
            }
            let ends = if lossy { smaller(&after) } else { vec![after] };
            found.extend(ends.into_iter().filter(|c| c.channels.iter().all(|w| w.len() <= bound)));
        }
    }
    found
}

/// All that can be reached in one step or more.
fn reached(
    graph: &BTreeMap<Configuration, BTreeSet<Configuration>>,
    from: &Configuration,
) -> BTreeSet<Configuration> {
    let mut found = BTreeSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        for next in &graph[at] {
            if found.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    found
}

/// The search for cycles against one by the definition, on random machines.
#[test]
fn again_agrees_with_the_definition() {
    let counts = std::sync::Mutex::new(BTreeMap::<(bool, &str), usize>::new());
    with_seeds(60, |rng| {
        let shape = Shape { channels: 1 + rng.below(2), transitions: 5, ..BASIC };
        let machine = common::machine(rng, &shape, "");
        for lossy in [false, true] {
            let mut graph = BTreeMap::new();
            let mut work = vec![machine.start()];
            while let Some(at) = work.pop() {
                if let Entry::Vacant(entry) = graph.entry(at) {
                    let next = naive(&machine, lossy, 2, entry.key());
                    work.extend(next.iter().cloned());
                    entry.insert(next);
                }
            }
            for state in machine.states() {
                let mut there = graph.keys().filter(|c| c.state == state);
                let expected = there.any(|c| reached(&graph, c).contains(c));
                let semantics = if lossy { Semantics::Lossy } else { Semantics::Perfect };
                let answer = asked(&machine, semantics, state, 2);
                assert_eq!(matches!(answer, Again::Visited(_)), expected, "{answer:?}");
                let word = match answer {
                    Again::Visited(_) => "visited",
                    Again::NotVisited => "not visited",
                    Again::Unknown(_) => "unknown",
                };
                *counts.lock().unwrap().entry((lossy, word)).or_default() += 1;
                // What is said of all runs is so with longer channels too.
                if word == "not visited" {
                    assert_eq!(asked(&machine, semantics, state, 3), Again::NotVisited);
                }
            }
        }
    });
    assert_eq!(counts.into_inner().unwrap().len(), 6);
}
