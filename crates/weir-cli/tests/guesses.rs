//! Models in which reads are guessed, with a bound on guesses: channel machines decide
//! the litmus tests and small algorithms, and agree with the explicit search where that is
//! exact.

use crate::common;

use std::time::Duration;

use common::weir;
use weir::{Loaded, MemoryModel, Verdict};
use weir_channel::decide::Channels;
use weir_check::Witness;
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_front::litmus::generate::{Filling, family};
use weir_model::answer::{Answer, Evidence};
use weir_model::limits::Budget;

fn litmus_tests() -> Vec<String> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus");
    let files = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path().display().to_string());
    let mut files: Vec<String> = files.filter(|f| f.ends_with(".litmus")).collect();
    files.sort();
    files
}

fn load(file: &str) -> Result<Loaded, weir::LoadError> {
    Loaded::for_model(file, &weir::load::read_text(file)?, MemoryModel::GUESS)
}

fn agree(file: &str, model: MemoryModel, guesses: usize) -> Vec<Verdict> {
    let loaded = load(file).unwrap_or_else(|_| panic!("{file}"));
    agree_on(&loaded, model, guesses)
}

fn check_runs(loaded: &Loaded, answers: &[Answer]) {
    for answer in answers {
        if let Evidence::Run(run) = &answer.evidence {
            let witness = Witness::new(&loaded.system, run, answer.property, &|_| 1);
            let checked = weir_check::check(&loaded.system, &witness);
            checked.unwrap_or_else(|e| panic!("{}: {e}", loaded.source.name));
        }
    }
}

fn agree_on(loaded: &Loaded, model: MemoryModel, guesses: usize) -> Vec<Verdict> {
    let file = &loaded.source.name;
    let options = SearchOptions {
        guesses: Some(guesses),
        budget: Budget::new().with_time(Duration::from_secs(120)),
        ..SearchOptions::default()
    };
    let task = Task::new(&loaded.system, model, &options);
    let ask = |engine: &dyn Engine| engine.check(task, &mut |_| {}).unwrap().0;
    let channels = ask(&Channels);
    let explicit = ask(&Explicit);
    for (a, b) in channels.iter().zip(&explicit) {
        let where_ = format!("{file}, {model}, {guesses}");
        if let Evidence::Reason(reason) = &a.evidence {
            panic!("{where_}: {reason}");
        }
        assert!(b.verdict == Verdict::Unknown || a.verdict == b.verdict, "{where_}: {a:?} {b:?}");
    }
    check_runs(loaded, &channels);
    channels.iter().map(|a| a.verdict).collect()
}

/// Tests that add to what they read: whatever the control flow, there is no end to it.
const INFINITE: [&str; 4] = ["cmpxchg-64", "inc", "lock-inc", "xadd"];

#[test]
fn litmus_tests_are_decided() {
    for file in litmus_tests() {
        if INFINITE.iter().any(|name| file.ends_with(&format!("/{name}.litmus"))) {
            let error = load(&file).expect_err("it has no finite domain").render(false);
            assert!(error.contains("has no finite domain to guess reads from"), "{error}");
            continue;
        }
        for guesses in [1, 2] {
            agree(&file, MemoryModel::GUESS, guesses);
            agree(&file, MemoryModel::GUESS_WW, guesses);
        }
    }
}

/// Every cycle of two threads, and some of three: what tells models apart. Each has to be
/// told from the next.
#[test]
fn generated_litmus_tests_are_decided() {
    let models = [
        (MemoryModel::GUESS, 1),
        (MemoryModel::GUESS, 2),
        (MemoryModel::GUESS_WW, 1),
        (MemoryModel::GUESS_WW, 2),
    ];
    let fillings = [Filling::Plain, Filling::MFence, Filling::Forward, Filling::SameLocation];
    let two = family(2..=2, &fillings).into_iter();
    let cycles = two.chain(family(3..=3, &[Filling::Plain]).into_iter().step_by(5));
    let mut allowed = [0; 4];
    let mut asked = 0;
    for cycle in cycles {
        let name = format!("{}.litmus", cycle.name());
        let loaded = Loaded::for_model(&name, &cycle.text(), MemoryModel::GUESS)
            .unwrap_or_else(|e| panic!("{}", e.render(false)));
        for (allowed, (model, guesses)) in allowed.iter_mut().zip(models) {
            *allowed += usize::from(agree_on(&loaded, model, guesses)[0] == Verdict::Holds);
        }
        asked += 1;
    }
    println!("{asked} cycles: {allowed:?}");
    let [one, two, one_ww, two_ww] = allowed;
    assert!(one < two && one < one_ww && two < two_ww && one_ww < two_ww, "{allowed:?}");
}

/// Locks of the corpus for ever, with buffers that nothing bounds but fences. Not all of
/// the fences are enough here: a write may overtake the reads before it.
#[test]
fn algorithms_are_decided() {
    let file = |name: &str| format!("{}/../../corpus/{name}.weir", env!("CARGO_MANIFEST_DIR"));
    let mutex = |name: &str, model, guesses| {
        let loaded = load(&file(name)).unwrap_or_else(|_| panic!("{name}"));
        let options = SearchOptions { guesses: Some(guesses), ..SearchOptions::default() };
        let (answers, _) = weir::solver::check(&loaded.system, model, &options).unwrap();
        check_runs(&loaded, &answers);
        answers[0].verdict
    };
    for guesses in [1, 2] {
        for model in [MemoryModel::GUESS, MemoryModel::GUESS_WW] {
            for name in ["peterson-2", "dekker-2", "burns-2"] {
                assert_eq!(mutex(name, model, guesses), Verdict::Violated, "{name}, {model}");
            }
            let expected = match model {
                MemoryModel::GUESS => Verdict::Holds,
                _ => Verdict::Violated,
            };
            assert_eq!(mutex("peterson-2-fenced", model, guesses), expected, "{model}");
        }
        assert_eq!(mutex("dekker-2-fenced", MemoryModel::GUESS, guesses), Verdict::Holds);
        // Here nothing else decides.
        let burns = agree(&file("burns-2-fenced"), MemoryModel::GUESS, guesses);
        assert_eq!(burns[0], Verdict::Holds);
    }
}

#[test]
fn guesses_have_to_make_sense() {
    let wrong = |args: &[&str], words: &str| {
        let output = weir(args);
        assert_eq!(output.status, 2, "{args:?}: {}", output.out);
        assert!(output.err.contains(words), "{args:?}: {}", output.err);
    };
    let file = "litmus/SB.litmus";
    wrong(&["check", file, "--guesses", "1"], "in which reads are guessed");
    wrong(&["check", file, "--guesses", "0", "--model", "tso+r->r/w"], "1..=16");
    wrong(
        &["check", file, "--engine", "channels", "--model", "nsw"],
        "the engine `channels` is for TSO",
    );
    wrong(&["check", file, "--engine", "channels", "--model", "tso+r->r/w"], "--guesses N");
    wrong(&["channel", "of", file, "--model", "tso+r->r/w"], "--guesses");
    wrong(&["channel", "of", file, "--model", "pso", "--process", "P0"], "one machine");
}

/// What guesses are for: with one a write overtakes a read, with two a read does.
#[test]
fn guesses_are_worth_something() {
    let file = |name: &str| format!("{}/../../litmus/{name}.litmus", env!("CARGO_MANIFEST_DIR"));
    let verdict = |name: &str, guesses| agree(&file(name), MemoryModel::GUESS, guesses)[0];
    let tso = |name: &str| {
        let loaded = load(&file(name)).unwrap_or_else(|_| panic!("{name}"));
        weir::solver::check(&loaded.system, MemoryModel::TSO, &SearchOptions::default()).unwrap().0
            [0]
        .verdict
    };
    // Each litmus test asks whether its state is reached.
    assert_eq!(tso("LB"), Verdict::Violated);
    assert_eq!(verdict("LB", 1), Verdict::Holds);
    assert_eq!(tso("MP"), Verdict::Violated);
    assert_eq!(verdict("MP", 1), Verdict::Violated);
    assert_eq!(verdict("MP", 2), Verdict::Holds);
}

/// A bound on guesses is refused where no reads are guessed, by every command that takes one, and
/// reports say that there was one.
#[test]
fn a_bound_on_guesses_is_part_of_the_answer() {
    let sb = "litmus/SB.litmus";
    for command in [
        &["check", sb, "--model", "tso"][..],
        &["outcomes", sb, "--model", "nsw"],
        &["compare", sb],
        &["compare", sb, "--model", "tso+r->w", "--model", "nsw+rrwe"],
        &["channel", "of", sb],
        &["channel", "of", sb, "--model", "pso"],
    ] {
        let output = weir(&[command, &["--guesses", "2"]].concat());
        assert_eq!(output.status, 2, "{command:?}: {}", output.out);
        assert!(output.err.contains("a bound on guesses is for TSO+r->w, "), "{}", output.err);
    }
    let lb = "litmus/LB.litmus";
    for model in ["tso+r->w", "tso+r->r/w", "tso+w->w+r->r/w"] {
        let ask = |command: &str, guesses: &str, format: &str| {
            let args = [command, lb, "--model", model, "--guesses", guesses, "--format", format];
            weir(&args).out
        };
        let outcomes = ask("outcomes", "1", "human");
        assert!(outcomes.contains(", at most 1 guess at a time\n"), "{outcomes}");
        assert!(outcomes.contains("all there are with at most 1 guess at a time"), "{outcomes}");
        let checked = ask("check", "2", "human");
        assert!(checked.contains(", at most 2 guesses at a time\n"), "{checked}");
        let compared = ask("compare", "2", "human");
        assert!(compared.starts_with("With at most 2 guesses at a time:\n"), "{compared}");
        for command in ["outcomes", "check", "compare"] {
            let json: serde_json::Value = serde_json::from_str(&ask(command, "2", "json")).unwrap();
            assert_eq!(json["findings"][0]["claim"]["guesses"], 2, "{command}");
        }
    }
    // The bound matters: one guess lets a write overtake a read, but no read a read.
    let states = |guesses: &str| {
        let args = ["outcomes", "litmus/MP.litmus", "--model", "tso+r->r/w", "--format", "herd"];
        weir(&[&args[..], &["--guesses", guesses]].concat()).out
    };
    assert!(states("1").contains("States 3") && states("2").contains("States 4"));
}

/// The engine for bounded guesses decides programs with loops under TSO with `r->w`.
#[test]
fn tso_with_read_write_is_decided() {
    let program = "var x, y
        process p { reg r   loop { r = x   y = 1   assert r != 2 } }
        process q { reg r   r = y   x = 1 }";
    let args = ["check", "-", "--model", "tso+r->w", "--guesses", "2", "--engine", "channels"];
    let output = common::weir_reading(&args, program.as_bytes());
    assert_eq!(output.status, 0, "{} {}", output.out, output.err);
    let output =
        weir(&["check", "litmus/LB.litmus", "--model", "tso+r->w", "--engine", "channels"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("--guesses N"), "{}", output.err);
}
