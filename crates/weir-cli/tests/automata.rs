//! The engine with buffer automata and `weir graph`, from the command line.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::weir;

fn scratch(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

#[test]
fn it_is_for_tso_only() {
    for model in ["sc", "pso", "nsw", "tso+r->w"] {
        let args = ["check", "--engine", "automata", "--model", model, "examples/peterson.weir"];
        let output = weir(&args);
        assert_eq!(output.status, 2);
        assert!(output.err.contains("`automata` is for TSO"), "{}", output.err);
    }
    let output =
        weir(&["graph", "--engine", "automata", "--model", "pso", "examples/peterson.weir"]);
    assert_eq!(output.status, 2);
}

#[test]
fn proofs_are_certified_and_tampered_ones_are_not() {
    let (file, program) = (scratch("buffers.json"), "examples/peterson-fenced.weir");
    let output = weir(&["check", "--engine", "automata", "--certificate", &file, program]);
    assert_eq!(output.status, 0, "{}", output.err);
    let output = weir(&["certify", &file, program]);
    assert_eq!(output.status, 0, "{}", output.out);
    assert!(output.out.contains("with buffer automata"), "{}", output.out);
    let other = weir(&["certify", &file, "examples/peterson.weir"]);
    assert_eq!(other.status, 1, "{}", other.out);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"accepting\":true", "\"accepting\":false", 1)).unwrap();
    let output = weir(&["certify", &file, program]);
    assert_eq!(output.status, 1, "{}", output.out);
    fs::write(&file, text.replace("\"states\":", "\"state\":")).unwrap();
    assert_eq!(weir(&["certify", &file, program]).status, 2);
}

#[test]
fn what_is_switched_off_changes_no_answer() {
    for program in ["examples/peterson-fenced.weir", "examples/store-buffering.weir"] {
        let all = weir(&["check", "--engine", "automata", program]);
        for off in ["--no-sleep-sets", "--no-acceleration"] {
            assert_eq!(weir(&["check", "--engine", "automata", off, program]).status, all.status);
        }
    }
}

#[test]
fn graphs() {
    let program = "examples/store-buffering.weir";
    for engine in ["explicit", "views", "automata"] {
        let args = ["graph", "--engine", engine, program];
        let (one, two) = (weir(&args), weir(&args));
        assert_eq!(one.status, 0, "{}", one.err);
        assert_eq!(one.out, two.out);
        assert!(one.out.starts_with("digraph states {") && one.out.ends_with("}\n"));
        assert!(one.out.contains("! one_sees"), "{engine}: the violation is marked");
        let json = weir(&["graph", "--engine", engine, "--format", "json", program]);
        let graph: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        let states = graph["states"].as_array().unwrap().len();
        let boxes = one.out.lines().filter(|l| l.contains("[label=\"") && !l.contains(" -> "));
        assert_eq!(states, boxes.count());
        let steps = graph["steps"].as_array().unwrap();
        assert!(steps.iter().all(|s| s["to"].as_u64().unwrap() < states as u64));
    }
    let file = scratch("graph.dot");
    assert_eq!(weir(&["graph", program, "--output", &file]).status, 0);
    assert!(fs::read_to_string(&file).unwrap().starts_with("digraph"));
}

#[test]
fn graphs_that_cannot_be_drawn() {
    let refused = |args: &[&str], reason: &str| {
        let output = weir(args);
        assert_eq!(output.status, 2, "{args:?}");
        assert!(output.err.contains(reason), "{args:?}: {}", output.err);
    };
    let big = "examples/peterson.weir";
    for engine in ["explicit", "views", "automata"] {
        refused(&["graph", "--engine", engine, "--most", "3", big], "more than 3 states");
    }
    refused(&["graph", "--engine", "backward", big], "explores no graph");
    refused(&["graph", big, "--output", "graph.xyz"], "ends in none of");
    refused(&["graph", "no such file"], "cannot read");
}

/// With Graphviz there is a picture, without it a message that says what to do.
#[test]
fn pictures() {
    let output = weir(&["graph", "examples/store-buffering.weir", "--format", "svg"]);
    match output.status {
        0 => assert!(output.out.contains("<svg")),
        status => {
            assert_eq!(status, 2);
            assert!(output.err.contains("Graphviz"), "{}", output.err);
        }
    }
}
