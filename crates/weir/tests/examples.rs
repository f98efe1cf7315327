//! Every example says what is expected of it, and gets it.
//!
//! A line `// expect: MODEL PROPERTY VERDICT` names a verdict, or `not-violated`
//! where the truth is `holds` but an engine may not be able to show it. Every
//! property has a line for SC and for TSO at least. Every run that an answer
//! rests on is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use weir::question::witness;
use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;

/// The expectations of a text: the model, the property, what becomes of it.
fn expectations(text: &str) -> Vec<(MemoryModel, String, String)> {
    let lines = text.lines().filter_map(|l| l.trim().strip_prefix("// expect:"));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [model, property @ .., verdict] = words.as_slice() else {
                panic!("`{line}` is no expectation");
            };
            (model.parse().unwrap(), property.join(" "), (*verdict).to_owned())
        })
        .collect()
}

fn fits(expected: &str, found: Verdict) -> bool {
    match expected {
        "not-violated" => found != Verdict::Violated,
        "holds" | "violated" | "unknown" => found.name() == expected,
        other => panic!("`{other}` is no verdict"),
    }
}

#[test]
fn every_example_keeps_its_promise() {
    let mut seen = 0;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        // `weir-channel` looks after the machines, `tests/live.rs` after objects, and
        // `tests/games.rs` after games.
        if name.ends_with(".chm") || name.ends_with(".pcp") || path.is_dir() {
            continue;
        }
        assert!(name.ends_with(".weir"), "{name} is no example");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("// "), "{name} does not say what it is");
        let loaded = Loaded::from_text(&name, &text, None)
            .unwrap_or_else(|error| panic!("{}", error.render(false)));
        one(&name, &text, &loaded);
        seen += 1;
    }
    assert!(seen >= 13, "only {seen} examples");
}

fn one(name: &str, text: &str, loaded: &Loaded) {
    let system = &loaded.system;
    let names: BTreeSet<String> = system.questions.iter().map(|q| q.name.clone()).collect();
    let mut expected: BTreeMap<MemoryModel, BTreeMap<String, String>> = BTreeMap::new();
    for (model, property, verdict) in expectations(text) {
        assert!(names.contains(&property), "{name} has no property `{property}`");
        let before = expected.entry(model).or_default().insert(property.clone(), verdict);
        assert!(before.is_none(), "{name}: two expectations for `{property}` under {model}");
    }
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let found: BTreeSet<String> =
            expected.get(&model).into_iter().flat_map(|e| e.keys().cloned()).collect();
        assert_eq!(found, names, "{name}: expectations under {model}");
    }
    for (model, expected) in expected {
        let (answers, _) = weir::solver::check(system, model, &SearchOptions::default()).unwrap();
        for answer in answers {
            let property = system.questions[answer.property.index()].name.clone();
            if let Some(expected) = expected.get(&property) {
                let found = answer.verdict;
                assert!(
                    fits(expected, found),
                    "{name}: `{property}` under {model} is {}, not {expected}",
                    found.name()
                );
            }
            if let Some(witness) = witness(loaded, &answer) {
                weir_check::check(system, &witness)
                    .unwrap_or_else(|e| panic!("{name}: `{property}` under {model}: {e}"));
            }
        }
    }
}
