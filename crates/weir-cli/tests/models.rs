//! What is said of memory models, and what they allow.

use crate::common;

use common::{weir, weir_reading};
use serde_json::Value;

/// Each line of `weir models` has its source.
#[test]
fn every_line_has_its_source() {
    let output = weir(&["models"]);
    assert_eq!(output.status, 0);
    let lines: Vec<Vec<&str>> =
        output.out.lines().map(|line| line.split("  ").map(str::trim).collect()).collect();
    for row in [
        ["TSO", "decidable", "Atig et al. 2010, theorem 1", "everything"],
        ["TSO+w->w", "decidable", "Atig et al. 2010, theorem 2", "everything"],
        ["PSO", "decidable", "Atig et al. 2012, corollary 12", "everything"],
        [
            "TSO+r->r",
            "decidable",
            "Atig et al. 2012, corollary 12, with write fences",
            "everything",
        ],
        ["TSO+w->w+r->r+r->w", "undecidable", "Atig et al. 2010, theorem 7", "up to a bound"],
        ["TSO+RRWE", "open", "Atig et al. 2012, section 8", "up to a bound"],
    ] {
        let is_row = |line: &Vec<&str>| line.iter().filter(|cell| !cell.is_empty()).eq(&row);
        assert!(lines.iter().any(is_row), "{row:?}\n{}", output.out);
    }
    let rows: Value = serde_json::from_str(&weir(&["models", "--format", "json"]).out).unwrap();
    let rows = rows["models"].as_array().unwrap();
    for row in rows {
        let known = row["reachability"] == "open" || !row["reference"].is_null();
        assert!(known, "{row}");
        for field in ["complexity", "bounded_guesses"] {
            assert!(row[field].is_null() || !row[field]["reference"].is_null(), "{row}");
        }
    }
    let of = |name: &str| rows.iter().find(|row| row["model"] == name).unwrap();
    assert_eq!(of("TSO")["repeated"]["reference"], "Atig et al. 2010, theorem 4");
    assert_eq!(of("PSO")["repeated"]["reference"], "Atig et al. 2010, theorem 5");
    assert_eq!(of("TSO+r->r+r->w")["bounded_guesses"]["reference"], "Atig et al. 2010, theorem 8");
}

/// RWF is the relaxation that can forbid something.
#[test]
fn partial_fences_order_only_with_rwf() {
    let program = "var x, y
        process p { x = 1  wfence  y = 1 }
        process q { reg a, b  a = y  b = x }
        passed: final exists q.a == 1 and q.b == 0";
    let ask = |model: &str| {
        let output = weir_reading(&["check", "-", "--model", model], program.as_bytes());
        assert_eq!(output.err, "");
        output.out.contains("allowed")
    };
    assert!(ask("tso+w->w"));
    assert!(!ask("pso"));
}

/// Atig et al. 2012, section 7, to the letter.
#[test]
fn remote_reads() {
    let is_allowed = |file: &str| {
        let output = weir(&["check", file, "--model", "nsw+rrwe"]);
        assert_eq!(output.err, "");
        output.out.contains("• allowed")
    };
    assert!(is_allowed("litmus/LB.litmus"));
    let program = "var x, y
        process p { reg a, b  a = x  fence  b = y }
        process q { reg a, b  a = y  fence  b = x }
        process r { x = 1 }
        process s { y = 1 }
        seen: final exists p.a == 1 and p.b == 0 and q.a == 1 and q.b == 0";
    let ask = |model: &str| {
        let output = weir_reading(&["check", "-", "--model", model], program.as_bytes());
        assert_eq!(output.err, "");
        output.out.contains("• allowed")
    };
    assert!(ask("nsw+rrwe") && !ask("nsw"));
}

/// `--form` is for models that have the form, and for engines that search one.
#[test]
fn forms_are_chosen() {
    let outcomes = |model: &str, form: &str| {
        let args = ["outcomes", "litmus/MP.litmus", "--model", model, "--form", form];
        let output = weir(&args);
        assert_eq!(output.status, 0, "{model} {form}: {}", output.err);
        output.out
    };
    let first = outcomes("nsw", "fifo");
    assert!(first.starts_with("litmus/MP.litmus under NSW\n"), "{first}");
    for (form, name) in [
        ("history", "history buffer"),
        ("event-structure", "event structures"),
        ("rewriting", "relaxations"),
    ] {
        let found = outcomes("nsw", form);
        assert_eq!(found.replacen(&format!(" by {name}"), "", 1), first);
        let args = ["--model", "nsw", "--form", form, "--format", "json"];
        for command in ["check", "outcomes"] {
            let output = weir(&[&[command, "litmus/MP.litmus"], &args[..]].concat());
            let json: Value = serde_json::from_str(&output.out).unwrap();
            assert_eq!(json["findings"][0]["details"]["semantics"], name, "{command}");
        }
    }
    let output = weir(&["check", "litmus/SB.litmus", "--form", "load-buffer"]);
    assert!(output.out.contains("steps of load buffers under TSO"), "{}", output.out);
    let output = weir(&["graph", "litmus/SB.litmus", "--form", "load-buffer", "--most", "5000"]);
    assert_eq!(output.status, 0, "{}", output.err);
    let output = weir_reading(
        &["check", "-", "--form", "load-buffer"],
        b"var x  process p { x = 1 there: }  never p@there and x == 0",
    );
    assert_eq!(output.status, 3);
    assert!(output.out.contains("memory is ahead of the processes"), "{}", output.out);
    for args in [
        &["check", "litmus/SB.litmus", "--form", "history"][..],
        &["step", "litmus/SB.litmus", "--form", "history"],
        &["outcomes", "litmus/SB.litmus", "--form", "fifo"],
        &["check", "litmus/SB.litmus", "--form", "load-buffer", "--engine", "views"],
    ] {
        let output = weir(args);
        assert_eq!(output.status, 2, "{args:?}");
        assert!(output.err.contains("form"), "{}", output.err);
    }
}
