//! Files of runs and of sets: those of the search are accepted, and those that someone
//! has changed are not.

use crate::common;

use std::sync::Mutex;

use common::{SHAPES, machine, with_seeds};
use weir_channel::evidence::{Evidence, check};
use weir_channel::lossy::{Reach, reach};
use weir_channel::semantics::{Contents, Goal};
use weir_channel::{Configuration, Machine, MessageId, SearchOptions, text};
use weir_check::Rejected;
use weir_gen::Rng;

fn answer(machine: &Machine, goal: &Goal) -> Reach {
    reach(machine, goal, &SearchOptions::default(), &mut |_| {}).0
}

/// All questions about a machine.
fn goals(machine: &Machine) -> Vec<Goal> {
    let both = [Contents::Empty, Contents::Any];
    machine.states().flat_map(|state| both.map(|contents| Goal { state, contents })).collect()
}

/// What is written and read again is the same, and accepted.
fn accepted(machine: &Machine, evidence: &Evidence) {
    let json = serde_json::to_string(evidence).unwrap();
    let again: Evidence = serde_json::from_str(&json).unwrap();
    assert_eq!(again, *evidence);
    if let Err(reason) = check(machine, &again) {
        panic!("{reason}\n{json}\n{}", text::print(machine));
    }
}

fn rejected(machine: &Machine, evidence: &Evidence, how: &str) {
    if check(machine, evidence).is_ok() {
        let json = serde_json::to_string(evidence).unwrap();
        panic!("accepted: {how}\n{json}\n{}", text::print(machine));
    }
}

/// Changes a set so that it shows nothing any more.
fn tampered(machine: &Machine, goal: &Goal, minimal: &[Configuration], rng: &mut Rng) {
    let file = |set: &[Configuration]| Evidence::of_set(machine, goal, set);
    for at in 0..minimal.len() {
        let without = [&minimal[..at], &minimal[at + 1..]].concat();
        rejected(machine, &file(&without), &format!("without {:?}", minimal[at]));
        // A word that is longer stands for less.
        let weak: Vec<MessageId> = machine.messages().filter(|m| !machine.is_strong(*m)).collect();
        if !weak.is_empty() && machine.channels().count() > 0 {
            let mut longer = minimal.to_vec();
            let channel = rng.below(longer[at].channels.len());
            longer[at].channels[channel].push(*rng.pick(&weak));
            rejected(machine, &file(&longer), &format!("{:?} is longer", minimal[at]));
        }
    }
    let initial = [minimal, &[machine.start()]].concat();
    rejected(machine, &file(&initial), "with the initial configuration");
}

#[test]
fn of_random_machines() {
    let counts = Mutex::new([0, 0]);
    with_seeds(30, |rng| {
        for (_, shape) in SHAPES {
            let machine = machine(rng, &shape, "m");
            let mut sets = Vec::new();
            let mut reached = Vec::new();
            for goal in goals(&machine) {
                match answer(&machine, &goal) {
                    Reach::NotReached(minimal) => {
                        accepted(&machine, &Evidence::of_set(&machine, &goal, &minimal));
                        tampered(&machine, &goal, &minimal, rng);
                        sets.push(minimal);
                    }
                    Reach::Reached(run) => {
                        let evidence = Evidence::of_run(&machine, &goal, &run);
                        accepted(&machine, &evidence);
                        for at in 0..run.steps.len() {
                            let mut shorter = run.clone();
                            shorter.steps.remove(at);
                            // Without a step it may be another run to the same place.
                            if weir_channel::replay(&machine, &shorter, &goal).is_err() {
                                let evidence = Evidence::of_run(&machine, &goal, &shorter);
                                rejected(&machine, &evidence, "a step is missing");
                            }
                        }
                        reached.push(goal);
                    }
                    Reach::Unknown(_) => {}
                }
            }
            let mut counts = counts.lock().unwrap();
            counts[0] += sets.len();
            counts[1] += reached.len();
            // No set shows that something is not reached that is.
            for goal in reached {
                for minimal in &sets {
                    let at = Configuration { state: goal.state, ..machine.start() };
                    let more = [minimal.as_slice(), &[at]].concat();
                    rejected(&machine, &Evidence::of_set(&machine, &goal, &more), "it is reached");
                }
            }
        }
    });
    let counts = counts.into_inner().unwrap();
    assert!(counts.iter().all(|c| *c > 200), "{counts:?}");
}

const MACHINE: &str = "machine m; messages a, s, t; strong s at most 2; channels c, d;
    states q, r, u; initial q;
    q -> r when c only [a s] do c[a/s]!t, d!s; r -> r when c in t+ a* do d?s; r -> u do c?s;";

/// Everything in a file is looked at.
#[test]
fn what_does_not_fit() {
    let machine = text::read(MACHINE).unwrap();
    let goal = Goal { state: machine.state("u").unwrap(), contents: Contents::Any };
    let Reach::NotReached(minimal) = answer(&machine, &goal) else { panic!("it is reached") };
    let set = Evidence::of_set(&machine, &goal, &minimal);
    accepted(&machine, &set);
    let goal = Goal { state: machine.state("r").unwrap(), contents: Contents::Empty };
    let Reach::Reached(run) = answer(&machine, &goal) else { panic!("it is not reached") };
    let run = Evidence::of_run(&machine, &goal, &run);
    accepted(&machine, &run);

    let changed = |from: &Evidence, change: &dyn Fn(&mut Evidence)| {
        let mut evidence = from.clone();
        change(&mut evidence);
        check(&machine, &evidence).unwrap_err()
    };
    let set = |change: &dyn Fn(&mut Evidence)| changed(&set, change);
    let run = |change: &dyn Fn(&mut Evidence)| changed(&run, change);
    let first = |e: &mut Evidence| e.configurations.as_mut().unwrap()[0].clone();
    for (reason, expected) in [
        (
            set(&|e| e.version = 1),
            "this is weir-channel-set version 1, not weir-channel-set version 2",
        ),
        (set(&|e| e.machine = "n".into()), "it was made for another machine"),
        (set(&|e| e.state = "v".into()), "there is no control state `v`"),
        (set(&|e| e.channels = "full".into()), "`channels` is `full`, not `empty` or `any`"),
        (set(&|e| e.format = "weir".into()), "unknown format `weir`"),
        (set(&|e| e.configurations = None), "a set has `configurations` and no `steps`"),
        (set(&|e| e.steps = Some(vec![])), "a set has `configurations` and no `steps`"),
        (set(&|e| e.state = "r".into()), "`r`, which has the state in question, is not in the set"),
        (
            set(&|e| {
                let mut held = first(e);
                held.channels.insert("e".into(), vec!["a".into()]);
                e.configurations = Some(vec![held]);
            }),
            "there is no channel `e`",
        ),
        (
            set(&|e| {
                let mut held = first(e);
                held.channels.insert("c".into(), vec!["b".into()]);
                e.configurations = Some(vec![held]);
            }),
            "there is no message `b`",
        ),
        (run(&|e| e.semantics = None), "`semantics` of a run is `perfect` or `lossy`"),
        (run(&|e| e.configurations = Some(vec![])), "a run has `steps` and no `configurations`"),
        (run(&|e| e.steps.as_mut().unwrap()[0].transition = 9), "there is no transition 9"),
        (run(&|e| e.steps = Some(vec![])), "the run does not end where it should"),
        (run(&|e| e.state = "u".into()), "the run does not end where it should"),
    ] {
        assert_eq!(reason.to_string(), expected);
    }
}

#[test]
fn endless_work_is_refused() {
    let letters: Vec<String> = (0..8).map(|i| format!("m{i}")).collect();
    let guard = vec![format!("({})", letters.join(" | ")); 12].join(" ");
    let text = format!(
        "machine m; messages {}; channels c; states s, t; initial s; s -> t when c in {guard};",
        letters.join(", ")
    );
    let machine = text::read(&text).unwrap();
    let goal = Goal { state: machine.state("t").unwrap(), contents: Contents::Empty };
    let target = Configuration { state: goal.state, ..machine.start() };
    let reason = check(&machine, &Evidence::of_set(&machine, &goal, &[target])).unwrap_err();
    assert!(matches!(reason, Rejected::TooLarge(_)), "{reason}");
}
