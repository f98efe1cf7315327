//! Answers that cannot be misread: what is vacuous says so, questions are not judged,
//! files are told apart, reasons are given, and errors are JSON where the rest is.

use crate::common;

use std::fs;

use common::{root, weir, weir_reading};
use serde_json::{Value, json};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The lines of a report that have this in them.
fn lines<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().filter(|l| l.contains(part)).collect()
}

const STUCK: &str = "var x, y
    process p { await x == 7; cs: y = 1 }
    process q { cs: y = 2 }
    mutex: never p@cs and q@cs
    last: final never y == 1
    two: final exists y == 2";

#[test]
fn what_is_vacuous_says_so() {
    let engines = ["auto", "views", "backward", "automata", "channels"];
    for engine in engines {
        let output = weir_reading(&["check", "--engine", engine, "-"], STUCK.as_bytes());
        assert_eq!(output.status, 1, "{engine}: {output:?}");
        let said = lines(&output.out, "    but ");
        let ends = "    but no final state is reachable";
        assert_eq!(said, ["    but `p@cs` is never reached", ends, ends], "{engine}");
        let args = ["check", "--engine", engine, "--format", "json", "-"];
        let report = json(&weir_reading(&args, STUCK.as_bytes()).out);
        let properties = report["findings"].as_array().unwrap();
        assert_eq!(properties[0]["verdict"], "holds", "{engine}");
        assert_eq!(properties[0]["vacuity"], "`p@cs` is never reached", "{engine}");
        assert_eq!(properties[2]["vacuity"], "no final state is reachable", "{engine}");
    }
    let output = weir_reading(&["compare", "-"], STUCK.as_bytes());
    let rows = lines(&output.out, "mutex");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].matches("holds [1]").count(), 4, "{}", output.out);
    assert!(
        output.out.ends_with("\n[1] `p@cs` is never reached\n[2] no final state is reachable\n")
    );
}

#[test]
fn what_is_not_vacuous_stays_as_it_is() {
    for file in ["examples/peterson-fenced.weir", "examples/dekker.weir", "litmus/SB.litmus"] {
        for model in ["sc", "tso"] {
            let output = weir(&["check", "--format", "json", "--model", model, file]);
            assert!(!output.out.contains("\"vacuous\""), "{file}: {}", output.out);
        }
    }
}

#[test]
fn unknown_is_never_vacuous() {
    let text = "var x, y process p { loop { x = 1 - x } } process r { y = 1 }
                process q { reg a, b; a = y; b = y; if a == 1 and b == 0 { cs: x = 2 } }
                never q@cs and x == 2";
    let args = ["check", "--engine", "explicit", "--format", "json", "-"];
    let output = weir_reading(&args, text.as_bytes());
    assert_eq!(output.status, 3, "{output:?}");
    assert!(!output.out.contains("\"vacuous\""), "{}", output.out);
}

#[test]
fn an_outcome_is_allowed_or_forbidden() {
    let check = |model: &str, format: &str| {
        weir(&[
            "check",
            "--color",
            "always",
            "--model",
            model,
            "--format",
            format,
            "litmus/SB.litmus",
        ])
    };
    for (model, word, verdict, status) in
        [("sc", "forbidden", "violated", 1), ("tso", "allowed", "holds", 0)]
    {
        let output = check(model, "human");
        assert_eq!(output.status, status, "{output:?}");
        assert!(output.out.contains(word) && !output.out.contains(verdict), "{}", output.out);
        // Neither red nor green.
        assert!(!output.out.contains("\x1b[31m") && !output.out.contains("\x1b[32m"));
        let property = &json(&check(model, "json").out)["findings"][0];
        assert_eq!(property["outcome"], word);
        assert_eq!(property["verdict"], verdict);
    }
    let claim = fs::read_to_string(root().join("litmus/SB.litmus")).unwrap();
    let claim = claim.replace("exists (", "~exists (");
    let args = ["check", "--model", "sc", "--language", "litmus", "-"];
    let output = weir_reading(&args, claim.as_bytes());
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.contains("✓ holds"), "{}", output.out);
}

#[test]
fn compare_tells_files_apart() {
    let folder = root().join("target/answers");
    let mut files = Vec::new();
    for part in ["one/deep", "two/deep", "three"] {
        fs::create_dir_all(folder.join(part)).unwrap();
        let path = folder.join(part).join("same.weir");
        fs::write(&path, "var x process p { x = 1 } never x == 2").unwrap();
        files.push(path.display().to_string());
    }
    let output = weir(&["compare", &files[0], &files[1], &files[2], "examples/peterson.weir"]);
    let shown: Vec<&str> =
        output.out.lines().skip(1).filter_map(|l| l.split_whitespace().next()).collect();
    let names = ["one/deep/same.weir", "two/deep/same.weir", "three/same.weir", "peterson"];
    assert_eq!(shown[..4], names, "{}", output.out);
}

#[test]
fn compare_says_why_it_does_not_know() {
    let args = ["compare", "--engine", "explicit", "-m", "tso", "-m", "pso", "-"];
    let text = "var x, y process p { loop { x = 1 - x } } never x == 2 never x == 3";
    let output = weir_reading(&args, text.as_bytes());
    assert_eq!(output.status, 3, "{output:?}");
    assert_eq!(output.out.matches("unknown [1]").count(), 4, "one reason: {}", output.out);
    assert_eq!(lines(&output.out, "[1] nothing found with buffers of up to 4").len(), 1);
    let args = [&args[..], &["--format", "json"]].concat();
    let report = json(&weir_reading(&args, text.as_bytes()).out);
    assert_eq!(report["file"], "-");
    let reason = report["findings"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("nothing found"), "{reason}");
}

#[test]
fn an_engine_that_does_not_decide_a_model_is_an_error() {
    for command in ["check", "compare"] {
        let file = "examples/peterson.weir";
        let output = weir(&[command, "--engine", "automata", "--model", "pso", file]);
        assert_eq!(output.status, 2, "{output:?}");
        assert!(output.err.contains("`automata` is for TSO, not for PSO"), "{}", output.err);
    }
    // SC is among the models if none is named.
    let output = weir(&["compare", "--engine", "backward", "examples/peterson.weir"]);
    assert_eq!(output.status, 2, "{output:?}");
    assert!(
        output.err.contains("`backward` is for TSO, PSO and NSW, not for SC"),
        "{}",
        output.err
    );
}

#[test]
fn errors_are_json_where_the_rest_is() {
    let wrong = b"var flag\nprocess p { x = 1 }\nprocess q { flag = flog }";
    for command in ["check", "outcomes", "compare", "live", "game"] {
        let output = weir_reading(&[command, "--format", "json", "-"], wrong);
        assert_eq!((output.status, output.err.as_str()), (2, ""), "{command}: {output:?}");
        let errors: Vec<Value> = output.out.lines().map(json).collect();
        assert_eq!(errors.len(), 2, "{command}: {}", output.out);
        assert_eq!(
            errors[1],
            json!({"error": {
                "file": "-", "line": 3, "column": 20,
                "message": "there is no variable, register or constant `flog`",
                "help": "did you mean `flag`?",
            }}),
            "{command}"
        );
    }
    for (args, part) in [
        (vec!["check", "no-such.weir"], "there is no such file"),
        (vec!["channel", "check", "--reach", "s", "no-such.chm"], "there is no such file"),
        (vec!["certify", "no-such.json", "examples/peterson.weir"], "there is no such file"),
        (vec!["check", "examples/live.weir"], "weir live"),
        (vec!["check", "--engine", "views", "-m", "tso+r->w", "examples/peterson.weir"], "not for"),
    ] {
        let output = weir(&[&args[..], &["--format", "json"]].concat());
        assert_eq!((output.status, output.err.as_str()), (2, ""), "{args:?}: {output:?}");
        let error = json(&output.out);
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

#[test]
fn a_program_that_never_ends_has_no_outcomes() {
    let text = b"var x process p { loop { x = 1 - x } }";
    let output = weir_reading(&["outcomes", "--model", "sc", "-"], text);
    assert_eq!(output.status, 0, "{output:?}");
    let none = "  • no final state\n    but every run is infinite, deadlocks or fails\n";
    assert!(output.out.ends_with(none), "{}", output.out);
    let args = ["outcomes", "--model", "sc", "--format", "json", "-"];
    let report = json(&weir_reading(&args, text).out);
    let finding = &report["findings"][0];
    assert_eq!(finding["vacuity"], "every run is infinite, deadlocks or fails");
    assert_eq!(finding["details"]["states"], json!([]));
    // Buffers are bounded here, so that nothing is proved.
    let output = weir_reading(&["outcomes", "--model", "tso", "-"], text);
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.out.contains("no final state was found, but there may be some"));
}

#[test]
fn a_family_is_declared_by_its_size() {
    let text = b"var x process p[2] { x = 1; l: } process q[= 3] { x = 2; l: }
        never count(p@l) == 2 and q[3]@l and x == 3";
    let output = weir_reading(&["show", "-"], text);
    for line in ["process p[= 0] {", "process p[= 1] {", "process q[= 3] {"] {
        assert_eq!(lines(&output.out, line).len(), 1, "{}", output.out);
    }
    let again = weir_reading(&["show", "-"], output.out.as_bytes());
    assert_eq!(again.out, output.out);
}

#[test]
fn an_engine_without_proofs_is_refused_before_it_searches() {
    for (engine, model) in [("explicit", "pso"), ("channels", "tso")] {
        let peterson = "corpus/peterson-2-fenced-tso.weir";
        let output = weir(&["check", "--engine", engine, "--model", model, "--verify", peterson]);
        assert_eq!(output.status, 2);
        assert!(output.err.contains(&format!("`{engine}` has no proofs under")), "{}", output.err);
    }
}

#[test]
fn evidence_is_not_read_as_a_program() {
    let output = weir_reading(&["check", "-"], br#"{"format":"weir-witness"}"#);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("this is evidence, not a program"), "{}", output.err);
    assert!(output.err.contains("`weir certify`"), "{}", output.err);
}

#[test]
fn of_many_errors_the_first_ten_are_shown() {
    let stores: String = (0..30).map(|i| format!("  a{i} = 1\n")).collect();
    let output = weir_reading(&["check", "-"], format!("process p {{\n{stores}}}\n").as_bytes());
    assert_eq!(output.status, 2);
    assert_eq!(output.err.matches("error: ").count(), 10, "{}", output.err);
    assert!(output.err.trim_end().ends_with("… and 20 more errors"), "{}", output.err);
}
