//! Many files and models at once: order, tables, logs.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{root, weir, weir_reading};
use serde_json::Value;
use weir_gen::tools::are_installed;

const FILES: &str = "corpus/peterson-2*.weir";

/// A directory of a test, new and empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-batch-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// An output without times.
fn timeless(out: &str) -> String {
    let is_time = |text: &str| text.strip_suffix(" s").is_some_and(|t| t.parse::<f64>().is_ok());
    let lines = out.lines().map(|line| match line.rsplit_once(", ") {
        Some((start, time)) if is_time(time) => start,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn results_come_in_order_for_any_number_of_jobs() {
    let check = |jobs: &str| {
        let args = ["check", FILES, "-m", "sc", "-m", "tso", "--jobs", jobs, "--format", "csv"];
        let output = weir(&args);
        assert_eq!(output.status, 1, "{output:?}");
        let cut = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
        output.out.lines().map(cut).collect::<Vec<_>>()
    };
    let one = check("1");
    assert_eq!(one, check("3"));
    let begins = [
        "file,model,property",
        "corpus/peterson-2-fenced-tso.weir,SC,mutex,never,33,holds",
        "corpus/peterson-2-fenced-tso.weir,TSO,mutex,never,33,holds",
        "corpus/peterson-2-fenced.weir,SC,mutex,never,34,holds",
        "corpus/peterson-2-fenced.weir,TSO,mutex,never,34,holds",
        "corpus/peterson-2.weir,SC,mutex,never,32,holds",
        "corpus/peterson-2.weir,TSO,mutex,never,32,violated",
    ];
    assert_eq!(one.len(), begins.len(), "{one:?}");
    for (line, begin) in one.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
}

#[test]
fn a_batch_prints_what_single_checks_print_and_a_summary() {
    let output = weir(&["check", FILES]);
    let mut single = String::new();
    for file in ["peterson-2-fenced-tso", "peterson-2-fenced", "peterson-2"] {
        single += &weir(&["check", &format!("corpus/{file}.weir")]).out;
        single += "\n";
    }
    single += "3 results: 2 fine, 1 violated\n";
    assert_eq!(timeless(&output.out), timeless(&single));
    assert_eq!(output.status, 1);
}

#[test]
fn other_commands_take_many_files_and_models() {
    let output = weir(&[
        "live",
        "examples/objects/spin-lock.weir",
        "-m",
        "sc",
        "-m",
        "tso",
        "--format",
        "jsonl",
    ]);
    let rows: Vec<Value> = output.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows.len(), 10, "{}", output.out);
    assert!(rows.iter().all(|row| row["verdict"].is_string()), "{}", output.out);

    let output = weir(&["robust", "examples/peterson*.weir", "--format", "csv", "--jobs", "2"]);
    assert_eq!(output.status, 1, "{output:?}");
    assert!(
        output.out.contains("examples/peterson.weir,TSO,robust,robust,,not robust,"),
        "{}",
        output.out
    );

    let output =
        weir(&["outcomes", "litmus/SB.litmus", "-m", "sc", "-m", "tso", "--format", "csv"]);
    let picked: Vec<&str> = output.out.lines().filter(|line| line.contains(",picked,")).collect();
    assert_eq!(output.out.lines().count(), 1 + 3 + 4, "{}", output.out);
    assert_eq!(picked.len(), 1);
    assert!(
        picked[0].starts_with("litmus/SB.litmus,TSO,0:EAX=0; 1:EAX=0;,final state"),
        "{picked:?}"
    );

    let output = weir(&[
        "outcomes",
        "litmus/SB.litmus",
        "litmus/MP.litmus",
        "--format",
        "herd",
        "--jobs",
        "2",
    ]);
    let tests: Vec<&str> = output.out.lines().filter(|line| line.starts_with("Test ")).collect();
    assert_eq!(tests, ["Test SB Allowed", "Test MP Allowed"]);
}

/// Programs that hold, are violated, are unknown, and cannot be read, with names and texts that
/// need escapes.
fn awkward(name: &str) -> PathBuf {
    let folder = folder(name);
    let write = |file: &str, text: &str| fs::write(folder.join(file), text).unwrap();
    write(
        "a & b.weir",
        "var x\nprocess p { x = 1 }\nsmall: never x < 1 and x > 1\nzero: never x > 0\n",
    );
    write("é.weir", "var x\nprocess p { loop { x = x + 1 } }\nnever x < 0\n");
    write("wrong.weir", "process p {\n  y = \u{1b}1\n}\n");
    folder
}

#[test]
fn junit_is_valid() {
    let folder = awkward("junit");
    let path = folder.to_str().unwrap();
    let output = weir(&["check", path, "--format", "junit", "--each", "1", "--jobs", "2"]);
    assert_eq!(output.status, 2, "{output:?}");
    for part in [
        "failures=\"1\"",
        "zero",
        "<failure message=\"violated: never x &gt; 0\"",
        "a &amp; b.weir",
        "type=\"unknown\"",
        "type=\"error\"",
    ] {
        assert!(output.out.contains(part), "{part}: {}", output.out);
    }
    if are_installed(&["xmllint"]) {
        validates("xmllint", &["--noout", "--schema"], "junit-4.xsd", &folder, &output.out);
        let broken = output.out.replacen("tests=", "rests=", 1);
        assert!(!is_valid("xmllint", &["--noout", "--schema"], "junit-4.xsd", &folder, &broken));
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn sarif_is_valid() {
    let folder = awkward("sarif");
    let path = folder.to_str().unwrap();
    let output = weir(&["check", path, "--format", "sarif", "--each", "1"]);
    assert_eq!(output.status, 2, "{output:?}");
    let document: Value = serde_json::from_str(&output.out).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    let mut rules: Vec<&str> = results.iter().map(|r| r["ruleId"].as_str().unwrap()).collect();
    // A file may have several errors.
    rules.dedup();
    assert_eq!(rules, ["violated", "error", "unknown"], "{}", output.out);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 4);
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.starts_with("file:///") && uri.ends_with("/a%20%26%20b.weir"), "{uri}");
    if are_installed(&["jsonschema"]) {
        validates("jsonschema", &["-i"], "sarif-2.1.0.json", &folder, &output.out);
        let broken = output.out.replacen("\"text\"", "\"test\"", 1);
        assert!(!is_valid("jsonschema", &["-i"], "sarif-2.1.0.json", &folder, &broken));
    }
    fs::remove_dir_all(folder).unwrap();
}

fn validates(program: &str, options: &[&str], schema: &str, folder: &Path, text: &str) {
    assert!(is_valid(program, options, schema, folder, text), "{program}: {text}");
}

/// Whether a validator accepts a document. `xmllint` has the schema first, `jsonschema` last.
fn is_valid(program: &str, options: &[&str], schema: &str, folder: &Path, text: &str) -> bool {
    let document = folder.join("document");
    fs::write(&document, text).unwrap();
    let schema = root().join("crates/weir-cli/tests/schemas").join(schema);
    let files = match program {
        "xmllint" => [schema, document],
        _ => [document, schema],
    };
    Command::new(program).args(options).args(files).output().unwrap().status.success()
}

#[test]
fn a_log_is_resumed() {
    let folder = folder("resume");
    let log = folder.join("log");
    let log_name = log.to_str().unwrap();
    let program = folder.join("p.weir");
    fs::copy(root().join("examples/peterson.weir"), &program).unwrap();
    let file = program.to_str().unwrap();
    let check = |more: &[&str]| {
        weir(&[&["check", file, "-m", "sc", "-m", "tso", "--resume", log_name], more].concat())
    };
    let first = check(&[]);
    assert_eq!(first.status, 1, "{first:?}");
    let lines = fs::read_to_string(&log).unwrap();
    assert_eq!(lines.lines().count(), 3, "a heading and two results: {lines}");

    // What is in the log is not searched again.
    let marked = lines.replace("under SC", "under SC, from the log");
    let half = &marked[..marked.len() - 10];
    fs::write(&log, half).unwrap();
    let second = check(&[]);
    assert_eq!(
        timeless(&second.out),
        timeless(&first.out.replace("under SC", "under SC, from the log"))
    );
    assert_eq!(second.status, 1);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 3, "the lost line is back");

    // Another text is another question.
    fs::copy(root().join("examples/peterson-fenced.weir"), &program).unwrap();
    let third = check(&[]);
    assert_eq!(third.status, 0, "{third:?}");
    assert!(!third.out.contains("from the log"));

    let other = check(&["--engine", "views"]);
    assert_eq!(other.status, 2);
    assert!(other.err.contains("is the log of another command"), "{}", other.err);
    fs::write(&log, "no log\n").unwrap();
    assert!(check(&[]).err.contains("is not a log of Weir"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_batch_stops_where_it_is_told_to() {
    let args = ["check", "examples/peterson.weir", "-m", "tso", "-m", "sc", "--format", "csv"];
    let all = weir(&args);
    assert_eq!(all.out.lines().count(), 3, "{}", all.out);
    for jobs in ["1", "2"] {
        let fast = weir(&[&args[..], &["--fail-fast", "--jobs", jobs]].concat());
        assert_eq!((fast.status, fast.out.lines().count()), (1, 2), "{}", fast.out);
    }
    let going = weir(&[&args[..], &["--fail-fast", "--keep-going"]].concat());
    assert_eq!(going.out.lines().count(), 3, "{}", going.out);
}

#[test]
fn limits_are_for_all_or_for_each() {
    let folder = folder("limits");
    let program = folder.join("endless.weir");
    fs::write(&program, "var x\nprocess p { loop { x = x + 1 } }\nnever x < 0\n").unwrap();
    let file = program.to_str().unwrap();
    let each =
        weir(&["check", file, "-m", "sc", "-m", "tso", "--each", "0.3", "--format", "jsonl"]);
    assert_eq!(each.status, 3, "{each:?}");
    assert_eq!(each.out.matches("\"verdict\":\"unknown\"").count(), 2, "{}", each.out);
    assert_eq!(each.out.matches("the time limit of 0.3 s was reached").count(), 2, "{}", each.out);
    let all =
        weir(&["check", file, "-m", "sc", "-m", "tso", "--timeout", "0.3", "--format", "jsonl"]);
    assert_eq!(all.status, 3, "{all:?}");
    assert_eq!(all.out.matches("\"verdict\":\"unknown\"").count(), 2, "{}", all.out);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_batch_cannot_do_is_an_error() {
    let refused = |args: &[&str], why: &str| {
        let output = weir_reading(args, b"process p { }  no deadlock");
        assert_eq!(output.status, 2, "{args:?}: {output:?}");
        assert!(output.err.contains(why), "{args:?}: {}", output.err);
    };
    refused(&["check", "-", "-m", "sc", "-m", "tso"], "standard input cannot be one of many");
    let many = ["check", "examples/peterson.weir", "-m", "sc", "-m", "tso"];
    refused(&[&many[..], &["--html", "page.html"]].concat(), "--html is for one memory model");
    refused(&[&many[..], &["--witness", "run.json"]].concat(), "--witness is for one");
    refused(&["check", "examples/*.none"], "no file matches");
    refused(&["check", "crates/weir-cli/tests/schemas"], "there is no program in");
}
