//! Models in Promela get the answers that they expect, under sequential consistency
//! the same ones from Spin, and what Weir writes as Promela it reads as the same
//! program.
//!
//! A line `// expect: MODEL PROPERTY VERDICT` names a verdict. What needs Spin and a C
//! compiler is skipped where they are not installed, and fails if `CI` is `true`. `WEIR_SPIN=100` compares that many
//! random models.

#[path = "promela/random.rs"]
mod random;
#[path = "promela/spin.rs"]
mod spin;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use weir::report::json::witness;
use weir::{ENGINES, Loaded, MemoryModel};
use weir_engine::{SearchOptions, Task};
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::program::{Expr, Quantifier};
use weir_model::question::{Kind, Question};
use weir_model::system::{Failure, StateKind};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn models() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("corpus/promela"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "pml"))
        .collect();
    files.sort();
    files
}

fn load(name: &str, text: &str) -> Loaded {
    Loaded::from_text(name, text, Some(&weir_front::promela::LANGUAGE))
        .unwrap_or_else(|error| panic!("{}\nin\n{text}", error.render(false)))
}

/// The verdict for each property; every run is checked.
fn verdicts(name: &str, loaded: &Loaded, model: MemoryModel) -> BTreeMap<String, String> {
    let system = &loaded.system;
    let options = SearchOptions::default();
    let (answers, _) = ENGINES[0].check(Task::new(system, model, &options), &mut |_| {}).unwrap();
    let verdict = |answer: weir_model::answer::Answer| {
        let property = system.questions[answer.property].name.clone();
        if let Some(witness) = witness(loaded, &answer) {
            weir_check::check(system, &witness)
                .unwrap_or_else(|e| panic!("{name}: `{property}` under {model}: {e}"));
        }
        (property, answer.verdict.name().to_owned())
    };
    answers.into_iter().map(verdict).collect()
}

/// The expectations of a text: what becomes of each property under each model.
fn expectations(name: &str, text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut expected: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("// expect:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [model, property @ .., verdict] = words.as_slice() else {
            panic!("{name}: `{line}` is no expectation");
        };
        let of_model = expected.entry((*model).to_owned()).or_default();
        of_model.insert(property.join(" "), (*verdict).to_owned());
    }
    expected
}

#[test]
fn every_model_keeps_its_promise() {
    let files = models();
    assert!(files.len() >= 12, "only {} models", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let loaded = load(name, &text);
        let expected = expectations(name, &text);
        assert!(["sc", "tso"].iter().all(|m| expected.contains_key(*m)), "{name}: SC and TSO?");
        for (model, expected) in expected {
            assert_eq!(
                verdicts(name, &loaded, model.parse().unwrap()),
                expected,
                "{name}, {model}"
            );
        }
    }
}

/// Spin says the same of every model under sequential consistency.
#[test]
fn spin_agrees_on_every_model() {
    if !spin::is_there() {
        return;
    }
    for path in models() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        compare(name, &text);
    }
}

/// Compares assertions and, where nothing says that a process may stay somewhere,
/// deadlocks.
fn compare(name: &str, text: &str) {
    let loaded = load(name, text);
    let found = verdicts(name, &loaded, MemoryModel::SC);
    let spin = spin::verify(text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    let holds = |property: &str| found.get(property).map(|v| v == "holds");
    // Who asserts nothing, fails in nothing.
    assert_eq!(holds("assertions").unwrap_or(true), spin.assertions, "{name}: assertions\n{text}");
    // Spin goes on after an assertion that it was told to ignore.
    if let (Some(holds), true) = (holds("no deadlock"), spin.assertions) {
        assert_eq!(holds, spin.end_states, "{name}: no deadlock\n{text}");
    }
}

#[test]
fn spin_agrees_on_random_models() {
    if !spin::is_there() {
        return;
    }
    let count = std::env::var("WEIR_SPIN").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    for seed in 1..=count {
        let (name, text) = (format!("seed {seed}"), random::model(seed));
        // Where a `byte` is counted round and round, there may be too many states.
        if let Err(error) = Loaded::from_text(&name, &text, Some(&weir_front::promela::LANGUAGE)) {
            let error = error.render(false);
            assert!(error.contains("has more than"), "{error}\nin\n{text}");
            continue;
        }
        compare(&name, &text);
    }
}

/// Random models as they are, and as Weir writes them, have the same answers.
#[test]
fn what_is_written_as_promela_is_read_as_the_same() {
    let mut seen = BTreeSet::new();
    for seed in 1..=40 {
        let text = random::model(seed);
        let name = format!("seed {seed}");
        let mut loaded = load(&name, &text);
        // What is written never ends: its processes stay where they ended.
        let (quantifier, formula) = (Quantifier::Exists, Expr::Const(1));
        let kind = Kind::Final { quantifier, formula, filter: None };
        let ends = Question { name: "ends".to_owned(), kind, span: SpanId::NONE };
        loaded.system.questions.push(ends);
        let all = loaded.system.expanded(&Budget::new()).unwrap();
        let Some(written) = weir::report::promela::model(all) else { continue };
        // Where a `byte` is counted round and round, thousands of states are written.
        if written.len() > 40_000 {
            continue;
        }
        let found = verdicts(&name, &loaded, MemoryModel::SC);
        let holds = |property: &str| found.get(property).is_none_or(|v| v == "holds");
        let written = format!("{written}\n// weir: no deadlock\n// weir: assertions\n");
        let again = verdicts(&name, &load(&name, &written), MemoryModel::SC);
        let fails = !holds("assertions");
        assert_eq!(again["assertions"] == "violated", fails, "{name}\n{text}\n{written}");
        let stops = !holds("no deadlock") || found["ends"] == "holds";
        // A process that fails goes no further; one that waits takes steps when it is
        // written down, if it waits for several variables.
        let waits = all.process_ids().any(|p| all.all_transitions(p).any(|t| t.waits));
        if !fails && !waits {
            assert_eq!(again["no deadlock"] == "violated", stops, "{name}\n{text}\n{written}");
        }
        seen.insert((fails, stops));
    }
    assert!(seen.len() >= 3, "the models are too much alike: {seen:?}");
}

#[test]
fn an_index_outside_a_local_array_is_called_that() {
    for (body, index) in [
        ("byte i = 2; i = i + x; i = a[i]", 2),
        ("byte i = 3; i = i + x; a[i] = 1", 3),
        ("byte i = 5; i = i + x; atomic { x = a[i] }", 5),
        ("byte i = 4; i = i + x; atomic { a[i] == 0 -> x = 1 }", 4),
        ("int i; i = x - 1; if :: a[i] -> skip :: else fi", -1),
    ] {
        let text = format!("byte x; active proctype P() {{ byte a[2]; {body} }}");
        let loaded = load("array.pml", &text);
        let all = loaded.system.expanded(&Budget::new()).unwrap();
        let states = all.process_ids().flat_map(|p| all.states(p).map(move |s| (p, s)));
        let mut failures: Vec<_> = states
            .filter_map(|(p, s)| match &all.state(p, s).kind {
                StateKind::Failed(failure) => Some(failure.clone()),
                _ => None,
            })
            .collect();
        failures.dedup();
        assert_eq!(failures, [Failure::Index(index)], "{text}");
    }
}

#[test]
fn the_ending_or_the_first_words_tell() {
    let text = "byte x; active proctype P() { x = 1 }";
    for name in ["a.pml", "a.prom", "a.promela", "a.PML", "a.txt", "a"] {
        assert_eq!(weir_front::detect(name, text), &weir_front::promela::LANGUAGE, "{name}");
    }
    assert_eq!(weir_front::detect("a.weir", text), &weir_front::weir::LANGUAGE);
    for path in fs::read_dir(root().join("corpus"))
        .unwrap()
        .chain(fs::read_dir(root().join("examples")).unwrap())
    {
        let path = path.unwrap().path();
        if path.extension().is_some_and(|e| e == "weir") {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(
                weir_front::detect("a", &text),
                &weir_front::weir::LANGUAGE,
                "{}",
                path.display()
            );
        }
    }
}
