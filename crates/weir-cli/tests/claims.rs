//! Evidence names its whole claim, and `weir certify` accepts nothing else and nothing less.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Output, weir};

const LOCK: &str = "examples/objects/spin-lock.weir";

/// A file of evidence that a command writes.
fn written(name: &str, words: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("claims");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name).to_str().unwrap().to_owned();
    let _ = fs::remove_file(&path);
    let words: Vec<&str> =
        words.iter().map(|word| if *word == "@" { &path } else { *word }).collect();
    let done = weir(&words);
    assert!(Path::new(&path).exists(), "{done:?}");
    path
}

fn certify(path: &str, program: &str, more: &[&str]) -> Output {
    weir(&[&["certify", path, program], more].concat())
}

#[test]
fn a_claim_has_clients_and_fairness() {
    let with = |clients: &str, more: &[&str]| {
        let words =
            ["live", LOCK, "--model", "tso", "--property", "wait-free", "--clients", clients];
        written(&format!("lock-{clients}{}.json", more.len()), &[&words, more].concat())
    };
    let one = with("1", &["--certificate", "@"]);
    let accepted = certify(&one, LOCK, &[]);
    assert_eq!(accepted.status, 0, "{accepted:?}");
    assert!(
        accepted.out.ends_with("`wait-free` holds, under TSO, with 1 client\n"),
        "{accepted:?}"
    );
    let fair = with("1", &["--flush-fair", "--certificate", "@"]);
    let accepted = certify(&fair, LOCK, &[]);
    let claim = "`wait-free` holds, under TSO, with 1 client, with every write reaching memory\n";
    assert!(accepted.out.ends_with(claim), "{accepted:?}");
    // With two clients it is violated.
    let two = with("2", &["--witness", "@"]);
    let accepted = certify(&two, LOCK, &[]);
    assert!(
        accepted.out.ends_with("`wait-free` is violated, under TSO, with 2 clients\n"),
        "{accepted:?}"
    );
    let json: Value =
        serde_json::from_str(&certify(&one, LOCK, &["--format", "json"]).out).unwrap();
    let finding = &json["findings"][0];
    assert_eq!((&finding["claim"]["clients"], &finding["verdict"]), (&json!(1), &json!("holds")));
    assert_eq!(finding["claim"]["question"], "wait-free");
}

#[test]
fn an_expectation_is_compared_with_the_claim() {
    let words = ["live", LOCK, "--model", "tso", "--property", "wait-free", "--clients", "1"];
    let one = written("expected.json", &[&words[..], &["--certificate", "@"]].concat());
    for (expected, status) in [
        ("clients=1", 0),
        ("clients=2", 1),
        ("model=TSO", 0),
        ("model=tso", 0),
        ("model=SC", 1),
        ("property=wait-free", 0),
        ("property=lock-free", 1),
        ("verdict=holds", 0),
        ("verdict=violated", 1),
        ("fairness=none", 0),
        ("program=another", 1),
        ("clientz=1", 2),
        ("clients", 2),
    ] {
        let done = certify(&one, LOCK, &["--expect", expected]);
        assert_eq!(done.status, status, "{expected}: {done:?}");
    }
    let done = certify(&one, LOCK, &["--expect", "model=TSO", "--expect", "clients=2"]);
    assert!(done.out.contains("it claims something else: clients is 1, not 2"), "{done:?}");
}

/// What names no property is rejected, in every kind of proof.
#[test]
fn an_empty_claim_is_rejected() {
    let program = "examples/store-buffering.weir";
    let peterson = "examples/peterson-fenced.weir";
    let litmus = "litmus/SB+mfences.litmus";
    for (name, file, engine, field) in [
        ("views", peterson, "views", "properties"),
        ("backward", litmus, "backward", "sets"),
        ("automata", peterson, "automata", "properties"),
        ("explicit", litmus, "explicit", "properties"),
    ] {
        let words = ["check", file, "--model", "tso", "--engine", engine, "--certificate", "@"];
        let path = written(&format!("empty-{name}.json"), &words);
        let mut proof: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        proof[field] = json!([]);
        fs::write(&path, proof.to_string()).unwrap();
        let done = certify(&path, file, &[]);
        assert_eq!(done.status, 1, "{name}: {done:?}");
        assert!(done.out.contains("it names no property"), "{name}: {done:?}");
        assert_eq!(certify(&path, program, &[]).status, 1, "{name}");
    }
}
