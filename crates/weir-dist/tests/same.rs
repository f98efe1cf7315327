//! Any number of workers and processes finds what the ordinary engine finds with one thread.

use std::time::Duration;

use weir::load::Reading;
use weir::{Loaded, MemoryModel};
use weir_dist::{Distributed, Tuning};
use weir_engine::{Engine, Explicit, SearchOptions, Stats, Task};
use weir_model::answer::Answer;
use weir_model::system::System;

use crate::common::{SMALL, cases, in_processes, random, seed};

/// Everything that has to be the same.
fn told(found: &(Vec<Answer>, Stats)) -> String {
    let (answers, stats) = found;
    let stats = Stats { elapsed: Duration::ZERO, bytes: 0, ..stats.clone() };
    format!("{answers:#?}\n{stats:#?}")
}

fn options() -> SearchOptions {
    SearchOptions { bound: Some(2), ..SearchOptions::default() }
}

fn check(engine: &dyn Engine, system: &System, model: MemoryModel) -> String {
    let options = options();
    told(&engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap())
}

/// What each process of several finds; each has a system of its own.
fn with_processes(
    make: &(dyn Fn() -> System + Sync),
    model: MemoryModel,
    processes: usize,
    workers: usize,
    tuning: Tuning,
) -> Vec<String> {
    let engine = || Distributed::new(workers).with_tuning(tuning);
    in_processes(processes, &engine, &|engine| check(engine, &make(), model))
}

const MODELS: [MemoryModel; 4] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];

#[test]
fn random_programs_with_any_number_of_workers() {
    for seed in seed()..seed() + cases(40) {
        let make = || System::new(random(seed));
        if make().is_err() {
            continue;
        }
        for model in MODELS {
            let one = check(&Explicit, &make().unwrap(), model);
            for (workers, tuning) in
                [(1, Tuning::default()), (1, SMALL), (2, SMALL), (3, SMALL), (2, Tuning::default())]
            {
                let engine = Distributed::new(workers).with_tuning(tuning);
                let found = check(&engine, &make().unwrap(), model);
                assert_eq!(one, found, "seed {seed}, {model}, {workers}, {tuning:?}");
            }
        }
    }
}

#[test]
fn random_programs_with_any_number_of_processes() {
    for seed in seed()..seed() + cases(12) {
        if System::new(random(seed)).is_err() {
            continue;
        }
        let make = || System::new(random(seed)).unwrap();
        let model = MODELS[seed as usize % MODELS.len()];
        let one = check(&Explicit, &make(), model);
        for (processes, workers) in [(2, 1), (3, 1), (2, 2), (3, 2)] {
            for found in with_processes(&make, model, processes, workers, SMALL) {
                assert_eq!(one, found, "seed {seed}, {model}, {processes} x {workers}");
            }
        }
    }
}

/// Programs of the corpus, with symmetry, loops, registers and violations.
const CORPUS: [&str; 12] = [
    "dekker-2",
    "peterson-2",
    "peterson-2-fenced",
    "burns-3",
    "bakery-2",
    "ticket-3",
    "anderson-2",
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
    for (name, text) in corpus() {
        let make = || Loaded::read(&name, &text, &Reading::default()).unwrap().system;
        for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO] {
            let one = check(&Explicit, &make(), model);
            for workers in [1, 2, 3] {
                let found = check(&Distributed::new(workers), &make(), model);
                assert_eq!(one, found, "{name}, {model}, {workers}");
            }
            if model == MemoryModel::TSO {
                for (processes, workers) in [(2, 1), (3, 1), (2, 2)] {
                    let all = with_processes(&make, model, processes, workers, Tuning::default());
                    for found in all {
                        assert_eq!(one, found, "{name}, {model}, {processes} x {workers}");
                    }
                }
            }
        }
    }
}
