//! `weir live` and the table of objects in `docs/liveness.md`.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{root, weir, weir_reading};
use serde_json::Value;
use weir_gen::tools::is_slow;

const OBJECTS: [&str; 13] = [
    "barrier",
    "cas-counter",
    "double-read",
    "ms-queue",
    "overwrite",
    "peterson",
    "register",
    "seqlock",
    "spin-lock",
    "store-buffering",
    "store-buffering-fenced",
    "ticket-lock",
    "treiber-stack",
];

fn object(name: &str) -> String {
    format!("examples/objects/{name}.weir")
}

fn scratch(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

/// What `--format json` prints.
fn json(args: &[&str]) -> Value {
    let output = weir(&[&["live", "--format", "json"], args].concat());
    assert_ne!(output.status, 2, "{args:?}: {}", output.err);
    serde_json::from_str(&output.out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", output.out))
}

/// The row of an object: its name, an answer for each property, and why.
fn row<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let row = page.lines().find(|l| l.starts_with(&format!("| {name} |")));
    let row = row.unwrap_or_else(|| panic!("there is no row about {name}"));
    row.trim_matches(['|', ' ']).split(" | ").collect()
}

#[test]
fn the_table_is_what_is_printed() {
    let page = fs::read_to_string(root().join("docs/liveness.md")).unwrap();
    let files = fs::read_dir(root().join("examples/objects")).unwrap().count();
    assert_eq!(files, OBJECTS.len(), "every object has a row");
    let properties: Vec<&str> = row(&page, "object")[1..6].to_vec();
    for name in OBJECTS {
        let row = row(&page, name);
        assert_eq!(row.len(), 7, "{name}");
        assert!(row[6].len() > 15, "{name}: no reason");
        for model in ["sc", "tso"] {
            let report = json(&[&object(name), "--model", model]);
            let findings = report["findings"].as_array().unwrap();
            assert_eq!(findings.len(), properties.len(), "{name}");
            for ((property, answer), found) in properties.iter().zip(&row[1..6]).zip(findings) {
                assert_eq!(found["claim"]["question"], *property, "{name}");
                let verdict = match (*answer, model) {
                    ("yes", _) | ("SC", "sc") => "holds",
                    ("no", _) | ("SC", "tso") => "violated",
                    (other, _) => panic!("{name}: `{other}` is no answer"),
                };
                assert_eq!(found["verdict"], verdict, "{name}, {property}, {model}");
                assert_eq!(found["evidence"]["file"].is_object(), verdict == "violated", "{name}");
            }
        }
    }
}

#[test]
fn evidence_is_accepted_and_what_was_changed_is_not() {
    let file = scratch("live-lasso.json");
    for (name, model, property) in [
        ("spin-lock", "sc", "starvation-free"),
        ("treiber-stack", "tso", "wait-free"),
        ("barrier", "tso", "deadlock-free"),
        ("store-buffering", "tso", "obstruction-free"),
    ] {
        let object = object(name);
        let args = ["live", &object, "--model", model, "--property", property, "--witness", &file];
        assert_eq!(weir(&args).status, 1);
        let output = weir(&["certify", &file, &object]);
        assert_eq!((output.status, output.out.contains("accepted")), (0, true), "{output:?}");
        let lasso: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut shorter = lasso.clone();
        shorter["cycle"].as_array_mut().unwrap().pop();
        let mut later = lasso.clone();
        later["stem"].as_array_mut().unwrap().remove(0);
        let mut other = lasso.clone();
        other["property"] = serde_json::json!({"progress": "no-such-thing"});
        for wrong in [shorter, later, other] {
            fs::write(&file, wrong.to_string()).unwrap();
            let output = weir(&["certify", &file, &object]);
            assert_eq!((output.status, output.out.contains("rejected")), (1, true), "{output:?}");
        }
    }
}

#[test]
fn a_lasso_shows_only_what_it_shows() {
    // Both clients wait: that is no run alone, and without flushes not flush-fair.
    let file = scratch("live-other.json");
    let object = object("barrier");
    weir(&["live", &object, "--property", "deadlock-free", "--witness", &file]);
    let lasso: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (field, value, reason) in [
        ("property", serde_json::json!({"progress": "obstruction-free"}), "is obstruction-free"),
        ("flush_fair", Value::Bool(true), "some write never reaches memory"),
        ("clients", Value::from(3), "another program"),
        ("model", Value::from("PSO"), "there are no lassos for PSO"),
        ("property", serde_json::json!({"live": 0}), "does not ask for"),
    ] {
        let mut wrong = lasso.clone();
        wrong[field] = value;
        fs::write(&file, wrong.to_string()).unwrap();
        let output = weir(&["certify", &file, &object]);
        assert_eq!(output.status, 1, "{field}: {output:?}");
        assert!(output.out.contains(reason), "{field}: {}", output.out);
    }
}

#[test]
fn flush_fairness_changes_what_it_should() {
    let verdicts = |args: &[&str]| -> Vec<String> {
        let report = json(args);
        let list = report["findings"].as_array().unwrap();
        list.iter().map(|p| p["verdict"].as_str().unwrap().to_owned()).collect()
    };
    let barrier = object("barrier");
    let args = [barrier.as_str(), "--property", "deadlock-free"];
    assert_eq!(verdicts(&args), ["violated"]);
    assert_eq!(verdicts(&[&args[..], &["--flush-fair"]].concat()), ["holds"]);
    // What the example says at its head.
    let live = "examples/live.weir";
    assert_eq!(verdicts(&[live, "--model", "sc"]), ["holds", "violated", "violated"]);
    assert_eq!(verdicts(&[live]), ["violated", "holds", "violated"]);
    assert_eq!(verdicts(&[live, "--flush-fair"]), ["holds", "holds", "violated"]);
}

#[test]
fn formulas() {
    let verdicts = |args: &[&str]| -> Vec<String> {
        let report = json(args);
        let list = report["findings"].as_array().unwrap();
        list.iter().map(|p| p["verdict"].as_str().unwrap().to_owned()).collect()
    };
    // What the example says at its head.
    let sc = verdicts(&["examples/ltl.weir", "--model", "sc"]);
    assert_eq!(sc, ["holds", "holds", "holds", "violated", "violated"]);
    let tso = verdicts(&["examples/ltl.weir", "--model", "tso"]);
    assert_eq!(tso, sc);
    // A run that ends.
    let text = "var x  process p { x = 1 }  process q { await x == 2 }  ltl eventually x == 2";
    let found =
        weir_reading(&["live", "--language", "weir", "--model", "sc", "-"], text.as_bytes());
    assert_eq!(found.status, 1, "{found:?}");
    assert!(found.out.contains("a run of 1 step that ends"), "{found:?}");
    assert!(found.out.contains("the run ends: no process can go on"), "{found:?}");
    let next = weir_reading(&["live", "--language", "weir", "-"], b"var x  ltl next x == 1");
    assert!(next.err.contains("Weir has no `next` in formulas"), "{next:?}");
}

#[test]
fn termination() {
    let ask = |text: &str, args: &[&str]| {
        let args = [&["live", "--language", "weir", "-"], args].concat();
        weir_reading(&args, text.as_bytes()).status
    };
    let waits = "var x  process p { await x == 1 }  process q { x = 1 }  live terminates";
    assert_eq!(ask(waits, &["--model", "sc"]), 0);
    // The write may stay where it is for ever, unless it is flushed.
    assert_eq!(ask(waits, &[]), 1);
    assert_eq!(ask(waits, &["--flush-fair"]), 0);
    let stuck = "var x  process p { assume x == 1 }  live terminates";
    assert_eq!(ask("process p { loop { } }  live terminates", &[]), 1);
    assert_eq!(ask("process p { await false }  live terminates", &[]), 1);
    assert_eq!(ask(stuck, &[]), 0);
}

#[test]
fn limits_end_in_unknown() {
    let object = object("treiber-stack");
    let output = weir(&["live", &object, "--property", "lock-free", "--timeout", "0.000001"]);
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.out.contains("time limit"), "{output:?}");
    let output = weir(&["live", &object, "--property", "lock-free", "--memory", "1"]);
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.out.contains("memory limit"), "{output:?}");
}

#[test]
fn wrong_input_is_refused() {
    let spin = object("spin-lock");
    for (args, message) in [
        (vec!["live", &spin, "--model", "pso"], "SC and TSO"),
        (vec!["live", &spin, "--clients", "17"], "17"),
        (vec!["live", "examples/peterson.weir"], "live terminates"),
        (vec!["check", &spin], "weir live"),
        (vec!["outcomes", &spin], "weir live"),
        (vec!["check", "examples/live.weir"], "weir live"),
    ] {
        let output = weir(&args);
        assert_eq!(output.status, 2, "{args:?}: {output:?}");
        assert!(output.err.contains(message), "{args:?}: {}", output.err);
    }
}

/// What a property implies is not left open, nor what it is implied by: with little memory many
/// answers are unknown, but one output does not say that a weaker property is violated and a
/// stronger one is unknown.
#[test]
fn implied_answers_are_given() {
    let dir = root().join("examples/objects");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "weir"));
    files.sort();
    let (mut compared, mut unknown) = (0, 0);
    for (number, file) in files.into_iter().enumerate() {
        for (fairness, fair) in [&[][..], &["--flush-fair"]].into_iter().enumerate() {
            // One of the two for each object.
            if number % 2 != fairness && !is_slow() {
                continue;
            }
            let file = file.to_str().unwrap();
            let args = ["live", file, "--clients", "3", "--bound", "1", "--memory", "40"];
            let output = weir(&[&args[..], &["--format", "json"], fair].concat());
            let Ok(report) = serde_json::from_str::<Value>(&output.out) else { continue };
            let properties = report["findings"].as_array().unwrap();
            let verdict = |name: &str| {
                let found = properties.iter().find(|p| p["claim"]["question"] == name).unwrap();
                found["verdict"].as_str().unwrap().to_owned()
            };
            unknown += properties.iter().filter(|p| p["verdict"] == "unknown").count();
            for strong in weir_live::Progress::ALL {
                for weak in strong.implies() {
                    let pair = (verdict(strong.name()), verdict(weak.name()));
                    let pair = (pair.0.as_str(), pair.1.as_str());
                    let is_open = [("unknown", "violated"), ("holds", "unknown")].contains(&pair);
                    assert!(!is_open, "{file}: {pair:?} {} {}", strong.name(), weak.name());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 50 && unknown > 0, "{compared}, {unknown}");
}

/// A lasso against obstruction-freedom, which is decidable, is used for what is asked alone.
#[test]
fn other_properties_help() {
    let args = ["live", "examples/objects/spin-lock.weir", "--property", "lock-free"];
    let output = weir(&[&args[..], &["--format", "json", "--bound", "1"]].concat());
    let report: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(report["findings"][0]["verdict"], "violated", "{report}");
}

/// An object can be looked at with its clients, and lassos name what is there.
#[test]
fn objects_are_shown_with_their_clients() {
    let shown = |args: &[&str]| {
        let file = "examples/objects/spin-lock.weir";
        let output = weir(&[&["show", file], args].concat());
        assert_eq!(output.status, 0, "{}", output.err);
        output.out
    };
    let two = shown(&["--system"]);
    assert!(two.contains("process client[0]: ") && two.contains("process client[1]: "), "{two}");
    assert!(two.contains("call(") && two.contains("return("), "{two}");
    assert!(shown(&["--system", "--clients", "3"]).contains("process client[2]: "));
    assert!(!shown(&[]).contains("client"));
    let output =
        weir(&["live", "examples/objects/spin-lock.weir", "--model", "sc", "--format", "json"]);
    let report: Value = serde_json::from_str(&output.out).unwrap();
    let lasso = &report["findings"][0]["evidence"]["file"];
    let steps = ["stem", "cycle"].map(|part| lasso[part].as_array().unwrap());
    for step in steps.into_iter().flatten() {
        let (op, to) = step["transition"].as_str().unwrap().rsplit_once(" to ").unwrap();
        let named = |line: &str| line.contains(op) && line.ends_with(&format!("→ {to}"));
        assert!(two.lines().any(named), "{step} is not in\n{two}");
    }
}
