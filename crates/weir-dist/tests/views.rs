//! Any number of workers and processes finds with views what the ordinary engine finds with one
//! thread: the same answers, runs, certificates and counts.

use std::time::Duration;

use weir::load::Reading;
use weir::{Loaded, MemoryModel};
use weir_check::certificate::{self, Certificate};
use weir_dist::{Distributed, Tuning};
use weir_engine::{Engine, SearchOptions, Stats, Task, Views};
use weir_model::answer::{Answer, Evidence};
use weir_model::system::System;

use crate::common::{SMALL, cases, in_processes, random, seed};

/// Everything that has to be the same.
fn told(found: &(Vec<Answer>, Stats)) -> String {
    let (answers, stats) = found;
    let stats = Stats { elapsed: Duration::ZERO, bytes: 0, ..stats.clone() };
    format!("{answers:#?}\n{stats:#?}")
}

fn check(engine: &dyn Engine, system: &System, model: MemoryModel, certificate: bool) -> String {
    let options = SearchOptions { certificate, ..SearchOptions::default() };
    told(&engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap())
}

/// What each process of several finds; each has a system of its own.
fn with_processes(
    make: &(dyn Fn() -> System + Sync),
    (model, certificate): (MemoryModel, bool),
    (processes, workers): (usize, usize),
    tuning: Tuning,
) -> Vec<String> {
    let engine = || Distributed::views(workers).with_tuning(tuning);
    in_processes(processes, &engine, &|engine| check(engine, &make(), model, certificate))
}

const MODELS: [MemoryModel; 4] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];

#[test]
fn random_programs_with_any_number_of_workers() {
    let (mut known, mut runs) = (0, 0);
    for seed in seed()..seed() + cases(80) {
        let make = || System::new(random(seed));
        let Ok(system) = make() else { continue };
        for model in MODELS.into_iter().filter(|model| !system.has_blocks(*model)) {
            let certificate = seed % 2 == 0;
            let one = check(&Views, &make().unwrap(), model, certificate);
            known += one.matches("Holds").count();
            runs += one.matches("Violated").count();
            for (workers, tuning) in
                [(1, Tuning::default()), (1, SMALL), (2, SMALL), (3, SMALL), (2, Tuning::default())]
            {
                let engine = Distributed::views(workers).with_tuning(tuning);
                let found = check(&engine, &make().unwrap(), model, certificate);
                assert_eq!(one, found, "seed {seed}, {model}, {workers}, {tuning:?}");
            }
        }
    }
    assert!(known >= 20 && runs >= 20, "{known} hold, {runs} are violated");
}

#[test]
fn random_programs_with_any_number_of_processes() {
    for seed in seed()..seed() + cases(24) {
        let Ok(system) = System::new(random(seed)) else { continue };
        let make = || System::new(random(seed)).unwrap();
        let model = MODELS[seed as usize % MODELS.len()];
        if system.has_blocks(model) {
            continue;
        }
        let one = check(&Views, &make(), model, true);
        for (processes, workers) in [(2, 1), (3, 1), (2, 2), (3, 2)] {
            let all = with_processes(&make, (model, true), (processes, workers), SMALL);
            for found in all {
                assert_eq!(one, found, "seed {seed}, {model}, {processes} x {workers}");
            }
        }
    }
}

/// Programs of the corpus: with loops, registers, violations, spurious paths and higher levels.
const CORPUS: [&str; 10] = [
    "dekker-2",
    "peterson-2",
    "peterson-2-fenced",
    "burns-3",
    "bakery-2",
    "mcs-2",
    "szymanski-2",
    "lamport-fast-2",
    "treiber-2",
    "dcl-2",
];

fn corpus() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus");
    let read = |name: &&str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.weir")).ok()?;
        Some(((*name).to_owned(), text))
    };
    let found: Vec<_> = CORPUS.iter().filter_map(read).collect();
    assert!(found.len() >= 8, "the corpus has {} of the programs", found.len());
    found
}

#[test]
fn programs_of_the_corpus() {
    let mut levels = 0;
    for (name, text) in corpus() {
        let make = || Loaded::read(&name, &text, &Reading::default()).unwrap().system;
        for model in [MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW] {
            let one = check(&Views, &make(), model, true);
            levels += usize::from(one.contains("level: Some(\n        2"));
            for workers in [1, 2, 3] {
                let found = check(&Distributed::views(workers), &make(), model, true);
                assert_eq!(one, found, "{name}, {model}, {workers}");
            }
            for (processes, workers) in [(2, 1), (3, 1)] {
                let tuning = Tuning::default();
                for found in with_processes(&make, (model, true), (processes, workers), tuning) {
                    assert_eq!(one, found, "{name}, {model}, {processes} x {workers}");
                }
            }
        }
    }
    assert!(levels > 0, "no program needs level 2");
}

/// What several workers prove is accepted by the checker, which shares nothing with them.
#[test]
fn certificates_are_accepted() {
    let mut accepted = 0;
    for (name, text) in corpus() {
        let system = Loaded::read(&name, &text, &Reading::default()).unwrap().system;
        for model in [MemoryModel::TSO, MemoryModel::NSW] {
            let options = SearchOptions { certificate: true, ..SearchOptions::default() };
            let task = Task::new(&system, model, &options);
            let (answers, _) = Distributed::views(3).check(task, &mut |_| {}).unwrap();
            for answer in answers {
                if let Evidence::Invariant(set) = &answer.evidence {
                    let proof = Certificate::new(&system, set, vec![answer.property]);
                    certificate::check(&system, &proof, 1).unwrap();
                    accepted += 1;
                }
            }
        }
    }
    assert!(accepted >= 5, "{accepted}");
}
