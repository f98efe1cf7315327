//! `weir robust`: answers, exit statuses, tables, files.

use crate::common;

use std::path::PathBuf;

use common::{root, weir, weir_reading};
use serde_json::Value;

const BUFFERING: &str = "examples/store-buffering.weir";

/// Robust by its traces, and not by its shape: nobody writes what is read early.
const TRACES: &str = "var x, y, z
    process p { reg r  x = 1  r = y }
    process q { reg r  z = 1  fence  r = x }";

/// Other traces than SC, but the same states: nobody looks at what is read early.
const STATES: &str = "var x, y
    process p { reg r  x = 1  r = y  r = 0 }
    process q { reg s  y = 1  s = x  s = 0 }";

/// Without end, and the model adds states.
const LARGE: &str = "
    var a[4]: 0..9
    process p[i: 0..3] { loop { a[i] = any(0..9)  a[(i + 1) % 4] = a[(i + 2) % 4] } }";

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path.to_str().unwrap().to_owned()
}

fn json(args: &[&str], input: &str) -> (i32, Value) {
    let done = weir_reading(&[args, &["--format", "json"]].concat(), input.as_bytes());
    (done.status, serde_json::from_str(&done.out).unwrap_or_else(|e| panic!("{e}: {done:?}")))
}

#[test]
fn every_answer_has_its_status() {
    let of = |program: &str, model: &str| {
        let (status, answer) = json(&["robust", "-", "--model", model], program);
        let details = &answer["findings"][0]["details"];
        let field = |name: &str| details[name].as_str().unwrap().to_owned();
        (status, field("shows"), field("traces"), field("states"))
    };
    let expect = |status: i32, verdict: &str, traces: &str, states: &str| {
        (status, verdict.to_owned(), traces.to_owned(), states.to_owned())
    };
    let text = std::fs::read_to_string(root().join(BUFFERING)).unwrap();
    assert_eq!(of(&text, "sc"), expect(0, "shape", "same", "same"));
    assert_eq!(of(&text, "tso"), expect(1, "not robust", "different", "different"));
    assert_eq!(of(&text, "nsw"), expect(1, "not robust", "undecided", "different"));
    assert_eq!(of(TRACES, "tso"), expect(0, "traces", "same", "same"));
    assert_eq!(of(STATES, "tso"), expect(0, "states", "different", "same"));
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let done = weir(&["robust", BUFFERING, "--model", "tso+r->w"]);
    assert_eq!(done.status, 2);
    assert!(done.err.contains("decided for TSO, PSO and NSW"), "{}", done.err);
    let done = weir(&["robust", "examples/objects/register.weir"]);
    assert_eq!(done.status, 2);
    assert!(done.err.contains("use `weir live`"), "{}", done.err);
    assert_eq!(weir(&["robust", "no-such-file.weir", BUFFERING]).status, 2);
}

#[test]
fn a_limit_is_unknown_with_its_reason() {
    let done =
        weir_reading(&["robust", "-", "--model", "pso", "--timeout", "0.2"], LARGE.as_bytes());
    assert_eq!(done.status, 3, "{done:?}");
    assert!(done.out.contains("? unknown"), "{}", done.out);
    assert!(done.out.contains("0.2 s"), "{}", done.out);
}

#[test]
fn evidence_is_written_and_accepted() {
    let program = file("states.weir");
    std::fs::write(&program, STATES).unwrap();
    let traces = file("traces.weir");
    std::fs::write(&traces, TRACES).unwrap();
    let cases = [
        (BUFFERING, "tso", "--witness", "a run of 6 steps with a cycle of 4 edges"),
        (BUFFERING, "pso", "--witness", "to a state that SC does not have"),
        (&*traces, "tso", "--certificate", "a closed set of"),
        (&*program, "tso", "--certificate", "with the states of SC"),
        (&*program, "nsw", "--certificate", "with the states of SC"),
        ("examples/peterson-fenced.weir", "pso", "--certificate", "the shape of the code"),
    ];
    for (i, (program, model, option, what)) in cases.into_iter().enumerate() {
        let path = file(&format!("evidence-{i}.json"));
        let done = weir(&["robust", program, "--model", model, option, &path]);
        assert!(done.status < 2, "{done:?}");
        let done = weir(&["certify", &path, program]);
        assert_eq!(done.status, 0, "{done:?}");
        assert!(
            done.out.contains(what) && done.out.contains("shows that `robust` "),
            "{}",
            done.out
        );
        // It is about one program only.
        let done = weir(&["certify", &path, "examples/spinlock.weir"]);
        assert_eq!(done.status, 1, "{done:?}");
    }
    let unwritten = file("unwritten.json");
    let done = weir(&["robust", BUFFERING, "--certificate", &unwritten]);
    assert!(done.err.contains("no proof was found"), "{}", done.err);
    assert_eq!(weir(&["robust", &program, "--verify"]).status, 0);
}

#[test]
fn trencher_files_need_no_property() {
    let done = weir(&["robust", "corpus/trencher/store-buffering.txt"]);
    assert_eq!(done.status, 1, "{done:?}");
    assert!(done.out.contains("a cycle of 4 edges"), "{}", done.out);
    assert_eq!(weir(&["robust", "corpus/trencher/store-buffering-fenced.txt"]).status, 0);
}
