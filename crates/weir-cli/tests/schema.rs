//! Every output in JSON has the shape that its schema in `schema` gives, and only the library makes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use weir_gen::tools::are_installed;

use crate::common::{root, schema_fields, weir, weir_reading};

/// Commands whose lines are JSON: every kind of question, with every verdict that it has.
const COMMANDS: [&str; 41] = [
    "check examples/peterson.weir --format json",
    "check examples/peterson-fenced.weir --verify --format json",
    "check litmus/SB.litmus --format json",
    "check litmus/LB.litmus --model tso+r->w --format json",
    "check litmus/LB.litmus --model tso+r->r+r->w --guesses 1 --format json",
    "check examples/peterson-fenced.weir --engine views --format json",
    "check examples/peterson-fenced.weir --engine backward --format json",
    "check examples/peterson-fenced.weir --engine automata --format json",
    "check examples/live.weir examples/spinlock.weir --format json",
    "check corpus/burns-4-fenced.weir --model nsw --timeout 0.2 --format json",
    "check no-such-file.weir --format json",
    "check examples/peterson.weir --format jsonl",
    "check no-such-file.weir --format jsonl",
    "check examples/rust/mailbox.rs --model c11 --format json",
    "check examples/c/publish-weak.c --model c11 --format json",
    "outcomes litmus/SB.litmus --model c11 --runs --format json",
    "outcomes litmus/SB.litmus --format json",
    "outcomes litmus/SB.litmus --runs --format json",
    "outcomes litmus/SB.litmus --format jsonl",
    "outcomes examples/peterson.weir --format json",
    "compare litmus/SB.litmus examples/peterson.weir --format json",
    "live examples/objects/cas-counter.weir --format json",
    "live examples/objects/spin-lock.weir --model sc --flush-fair --verify --format json",
    "live examples/live.weir --format json",
    "live examples/live.weir --format jsonl",
    "robust examples/peterson.weir --format json",
    "robust examples/peterson-fenced.weir examples/dekker.weir --model tso --model pso --format json",
    "fences examples/peterson.weir --format json",
    "fences examples/peterson-fenced.weir --redundant --format json",
    "fences corpus/hyman-2.weir --format json",
    "fences corpus/bakery-3.weir --timeout 0.3 --format json",
    "game examples/games/handshake.weir --format json",
    "game examples/games/figure-6.weir --fairness process --semantics load-buffer --format json",
    "channel check examples/no-bit.chm --reach wrong --format json",
    "channel check examples/alternating-bit.chm --reach wrong --format json",
    "channel run examples/token.chm --lossy --format json",
    "channel run examples/cpcp/rotation.chm --lossy --again s1 --format json",
    "channel pcp examples/abc.pcp --solve --format json",
    "channel pcp examples/no-match.pcp --solve --format json",
    "models --format json",
    "graph examples/store-buffering.weir --format json",
];

/// A folder for a test.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The file of the schema that an object names, or is known by.
fn schema_of(value: &Value) -> &'static str {
    match value["schema"].as_str() {
        Some("weir-report-2") => "report",
        Some("weir-certify-2") => "certify",
        Some("weir-models-2") => "models",
        Some("weir-graph-2") => "graph",
        Some("weir-observed-2") => "observed",
        None if value["error"].is_object() => "error",
        None if value["file"].is_string() => "row",
        _ => panic!("no schema: {value}"),
    }
}

/// Whether documents have the shape of a schema; what is wrong otherwise.
fn validate(schema: &str, documents: &[PathBuf]) -> Result<(), String> {
    let mut command = Command::new("jsonschema");
    for document in documents {
        command.arg("-i").arg(document);
    }
    let output = command.arg(root().join(format!("schema/{schema}.json"))).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn every_field_of_a_schema_has_a_description() {
    let fields = schema_fields();
    assert!(fields.len() > 150, "only {} fields", fields.len());
    for (name, description) in &fields {
        assert!(description.is_some(), "`{name}` has no description");
    }
}

#[test]
fn every_output_has_the_shape_of_its_schema() {
    if !are_installed(&["jsonschema"]) {
        return;
    }
    let folder = folder();
    let mut documents: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    let mut add = |name: String, line: &str| {
        let value: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        let path = folder.join(name);
        fs::write(&path, line).unwrap();
        documents.entry(schema_of(&value)).or_default().push(path);
    };
    for (number, command) in COMMANDS.iter().enumerate() {
        let words: Vec<&str> = command.split(' ').collect();
        let output = weir(&words);
        assert!(!output.out.trim().is_empty(), "{command}: {}", output.err);
        for (i, line) in output.out.lines().enumerate() {
            add(format!("{number}-{i}.json"), line);
        }
    }
    // Evidence that is accepted, rejected, and checked in part is told in one shape.
    let run = folder.join("run.json");
    let run = run.to_str().unwrap();
    weir(&["check", "litmus/SB.litmus", "--witness", run]);
    for (i, program) in ["litmus/SB.litmus", "litmus/MP.litmus"].into_iter().enumerate() {
        let output = weir(&["certify", run, program, "--format", "json"]);
        add(format!("certify-{i}.json"), output.out.trim());
    }
    let wrong = weir_reading(&["check", "-", "--format", "json"], b"process p { y = 1 }");
    add("wrong.json".to_owned(), wrong.out.trim());
    for (schema, documents) in &documents {
        validate(schema, documents).unwrap_or_else(|why| panic!("{schema}: {why}"));
    }
    let kinds: Vec<&str> = documents.keys().copied().collect();
    assert_eq!(kinds, ["certify", "error", "graph", "models", "report", "row"]);
    // A schema that accepts anything would accept this.
    let broken = folder.join("broken.json");
    let report = fs::read_to_string(&documents["report"][0]).unwrap();
    for (what, by) in [("\"verdict\":", "\"answer\":"), ("\"claim\":", "\"about\":")] {
        fs::write(&broken, report.replace(what, by)).unwrap();
        assert!(validate("report", std::slice::from_ref(&broken)).is_err(), "{what}");
    }
}

/// The rest of JSON in the program is no output of a command: logs, what the page asks the server,
/// and formats of other tools.
const OTHERS: [&str; 6] = ["log.rs", "sarif.rs", "table.rs", "serve.rs", "gallery.rs", "page.rs"];

#[test]
fn no_command_makes_json_by_itself() {
    let mut folders = vec![root().join("crates/weir-cli/src/commands")];
    let mut looked = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.ends_with(".rs") || OTHERS.contains(&name) {
                continue;
            }
            looked += 1;
            let text = fs::read_to_string(&path).unwrap();
            for word in ["Serialize", "json!", "serde_json::to_"] {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
        }
    }
    assert!(looked > 20, "{looked}");
}
