//! Models in which reads are guessed, with a bound on guesses: channel machines decide
//! the litmus tests, and agree with the explicit search, which is exact there.

use std::time::Duration;

use weir::{Engine, Evidence, Limits, Loaded, MemoryModel, Solver, Verdict, Witness};

fn litmus_tests() -> Vec<String> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus");
    let files = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path().display().to_string());
    let mut files: Vec<String> = files.filter(|f| f.ends_with(".litmus")).collect();
    files.sort();
    files
}

fn agree(file: &str, model: MemoryModel, guesses: usize) -> Vec<Verdict> {
    let loaded = Loaded::from_file(file, None).unwrap_or_else(|_| panic!("{file}"));
    let limits = Limits {
        guesses: Some(guesses),
        timeout: Some(Duration::from_secs(120)),
        ..Limits::default()
    };
    let ask = |solver: Solver| solver.check(&loaded.system, model, &limits, &mut |_| {}).0;
    let channels = ask(Solver::Channels);
    let explicit = ask(Solver::Engine(Engine::Explicit));
    for (a, b) in channels.iter().zip(&explicit) {
        let where_ = format!("{file}, {model}, {guesses}");
        if let Evidence::Reason(reason) = &a.evidence {
            panic!("{where_}: {reason}");
        }
        assert!(b.verdict == Verdict::Unknown || a.verdict == b.verdict, "{where_}: {a:?} {b:?}");
        if let Evidence::Run(run) = &a.evidence {
            let witness = Witness::new(&loaded.system, run, a.property, &|_| 1);
            weir_check::check(&loaded.system, &witness).unwrap_or_else(|e| panic!("{where_}: {e}"));
        }
    }
    channels.iter().map(|a| a.verdict).collect()
}

#[test]
fn litmus_tests_are_decided() {
    for file in litmus_tests() {
        for guesses in [1, 2] {
            agree(&file, MemoryModel::GUESS, guesses);
            agree(&file, MemoryModel::GUESS_WW, guesses);
        }
    }
}

/// What guesses are for: with one a write overtakes a read, with two a read does.
#[test]
fn guesses_are_worth_something() {
    let file = |name: &str| format!("{}/../../litmus/{name}.litmus", env!("CARGO_MANIFEST_DIR"));
    let verdict = |name: &str, guesses| agree(&file(name), MemoryModel::GUESS, guesses)[0];
    let tso = |name: &str| {
        let loaded = Loaded::from_file(&file(name), None).unwrap_or_else(|_| panic!("{name}"));
        weir::check(&loaded.system, MemoryModel::TSO, &Limits::default()).0[0].verdict
    };
    // Each litmus test asks whether its state is reached.
    assert_eq!(tso("LB"), Verdict::Violated);
    assert_eq!(verdict("LB", 1), Verdict::Holds);
    assert_eq!(tso("MP"), Verdict::Violated);
    assert_eq!(verdict("MP", 1), Verdict::Violated);
    assert_eq!(verdict("MP", 2), Verdict::Holds);
}
