//! Upward-closed sets that were tampered with are rejected.
//!
//! The stored states are minimal, and each is there because it settles the
//! property or a step leads from it to another that no other is below. So a set
//! without one of them is not closed any more.

use crate::common;

use common::{DOUBLING, FENCED, HANDOVER, system};
use weir_check::Rejected;
use weir_check::upward::{Message, UpwardSets, check};
use weir_engine::{Backward, Engine, SearchOptions, Task};
use weir_model::answer::Evidence;
use weir_model::ids::QuestionId;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

const MODELS: [MemoryModel; 3] = [MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];

fn sets(system: &System, model: MemoryModel) -> UpwardSets {
    let options = SearchOptions { certificate: true, ..SearchOptions::default() };
    let (answers, _) = Backward.search(Task::new(system, model, &options), &mut |_| {});
    let Evidence::Upward(set) = &answers[0].evidence else { panic!("{model}: {:?}", answers[0]) };
    UpwardSets::new(system, model, &[(QuestionId(0), &set.states)])
}

#[test]
fn without_a_state() {
    for (system, model) in
        [system(FENCED), system(HANDOVER)].iter().flat_map(|s| MODELS.map(|m| (s, m)))
    {
        let whole = sets(system, model);
        assert_eq!(check(system, &whole), Ok(()));
        // Some of them, all over the set.
        let number = whole.sets[0].states.len();
        for i in (0..number).step_by(1 + number / 20) {
            let mut less = whole.clone();
            less.sets[0].states.remove(i);
            let why = check(system, &less).expect_err("a state is missing");
            assert!(
                matches!(why, Rejected::Missing { .. } | Rejected::LeadsIn { .. }),
                "{model} without {i}: {why}"
            );
        }
    }
}

/// A longer word stands for less: then something is missing, unless the longer
/// one is above another.
#[test]
fn with_a_longer_word() {
    let system = system(FENCED);
    for model in MODELS {
        let whole = sets(&system, model);
        let number = whole.sets[0].states.len();
        for i in (0..number).step_by(1 + number / 20) {
            let mut tampered = whole.clone();
            let state = &mut tampered.sets[0].states[i];
            let plain = Message { variable: "turn".to_owned(), value: Some(0), own: false };
            state.buffers[0].future.insert(0, plain);
            assert!(check(&system, &tampered).is_err(), "{model}: state {i}");
        }
    }
}

#[test]
fn for_something_else() {
    let fenced = system(FENCED);
    let whole = sets(&fenced, MemoryModel::TSO);
    let unfenced = system(&FENCED.replace("            fence\n", "            nop\n"));
    let why = check(&unfenced, &whole).expect_err("the fence is missing");
    assert_eq!(why, Rejected::Other { what: "program" });
    let mut relabeled = whole.clone();
    relabeled.header.fingerprint = unfenced.program.fingerprint();
    let why = check(&unfenced, &relabeled).expect_err("the fence is missing");
    assert!(matches!(why, Rejected::Missing { .. } | Rejected::LeadsIn { .. }), "{why}");
    let bad = |change: &dyn Fn(&mut UpwardSets), reason: &str| {
        let mut tampered = whole.clone();
        change(&mut tampered);
        let why = check(&fenced, &tampered).expect_err(reason);
        assert!(why.to_string().contains(reason), "{reason}: {why}");
    };
    bad(&|s| s.header.format = "weir-witness".to_owned(), "not weir-upward-set");
    bad(&|s| s.header.version = 9, "version 9");
    bad(&|s| s.model = "SC".to_owned(), "no upward-closed sets");
    bad(&|s| s.model = "x86".to_owned(), "memory model");
    bad(&|s| s.variables.reverse(), "variables");
    bad(&|s| s.sets[0].property = 7, "no such property");
    bad(&|s| s.sets[0].states.clear(), "is not in the set");
    bad(&|s| drop(s.sets[0].states[0].buffers.pop()), "processes");
    bad(&|s| s.sets[0].states[0].memory.clear(), "a memory does not have");
    bad(&|s| s.sets[0].states[0].memory[0] = Some(9), "the set");
    bad(&|s| s.sets[0].states[0].states[0] = "999".to_owned(), "no control state 999");
    bad(&|s| drop(s.sets[0].states[0].states.pop()), "one control state for each process");
    let twice = |s: &mut UpwardSets| {
        let own = Message { variable: "turn".to_owned(), value: None, own: true };
        s.sets[0].states[0].buffers[0].future = vec![own.clone(), own];
    };
    bad(&twice, "two own messages");
    let initial = |s: &mut UpwardSets| {
        let first = s.sets[0].states[0].clone();
        let empty = weir_check::upward::Minimal {
            states: fenced
                .process_ids()
                .map(|p| fenced.state_name(p, fenced.processes[p.index()].initial))
                .collect(),
            memory: vec![None; first.memory.len()],
            buffers: vec![weir_check::upward::Buffers::default(); 2],
        };
        s.sets[0].states.insert(0, empty);
    };
    bad(&initial, "it is initial");
}

/// A set that is closed under the steps of the system is none of the program where that goes
/// on otherwise.
#[test]
fn for_what_is_not_followed() {
    let doubling = system(&DOUBLING.replace("never", "final never"));
    let why = check(&doubling, &sets(&doubling, MemoryModel::TSO)).unwrap_err();
    assert!(matches!(&why, Rejected::NotFollowed(_)), "{why}");
    assert!(why.to_string().contains("a value does not fit 128 bits"), "{why}");
}

/// A set for a strong model is none for a weaker one under which the property is
/// violated.
#[test]
fn for_a_weaker_model() {
    let text = "var x, y process p { x = 1 y = 1 } process q { reg r, s r = y s = x }
        final never q.r == 1 and q.s == 0";
    let system = system(text);
    let mut claim = sets(&system, MemoryModel::TSO);
    assert_eq!(check(&system, &claim), Ok(()));
    claim.model = "PSO".to_owned();
    assert!(check(&system, &claim).is_err());
}
