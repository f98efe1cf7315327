//! The packages for editors know all words of the language.

use std::collections::HashSet;
use std::fs;

use weir_front::weir::names::{contextual, keywords, operations};

use crate::root;

/// The files that color words.
const FILES: [&str; 3] = [
    "editors/vscode/syntaxes/weir.tmLanguage.json",
    "editors/vim/syntax/weir.vim",
    "editors/emacs/weir-mode.el",
];

/// The words of a file.
fn words(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

#[test]
fn every_word_of_the_language_has_a_color() {
    for file in FILES {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let words = words(&text);
        for keyword in keywords().chain(contextual().map(|(word, _)| word)) {
            assert!(words.contains(keyword), "{file}: add `{keyword}` to its words");
        }
        for operation in operations() {
            // A pattern covers these.
            let is_fetch = operation.starts_with("fetch_") && words.contains("fetch_");
            assert!(is_fetch || words.contains(operation), "{file}: add `{operation}`");
        }
    }
}

#[test]
fn the_package_has_the_version_of_weir() {
    let text = fs::read_to_string(root().join("editors/vscode/package.json")).unwrap();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    for file in ["snippets/weir.json", "language-configuration.json"] {
        let text = fs::read_to_string(root().join("editors/vscode").join(file)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
    let elisp = fs::read_to_string(root().join("editors/emacs/weir-mode.el")).unwrap();
    assert!(elisp.contains(&format!(";; Version: {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn snippets_are_programs() {
    let path = root().join("editors/vscode/snippets/weir.json");
    let text = fs::read_to_string(path).unwrap();
    let snippets: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    for (name, snippet) in &snippets {
        let lines = snippet["body"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let code = filled(&lines.collect::<Vec<_>>().join("\n"));
        let program = match name.as_str() {
            "Object" => code.replace("{\n\t\t\n\t}", "{ }"),
            "Process" | "Family of processes" => code,
            "Mutual exclusion" => format!("process p[2] {{ critical: nop }}\n{code}"),
            "Property of final states" => format!("var x\nprocess p {{ }}\n{code}"),
            _ => format!("var lock\nprocess p {{\n{code}\n}}"),
        };
        let read = weir_front::weir::read("t.weir", &program);
        assert!(read.is_ok(), "{name}: {:?}\n{program}", read.err());
    }
}

/// A snippet with what it proposes.
fn filled(snippet: &str) -> String {
    let mut out = String::new();
    let mut rest = snippet;
    while let Some((before, after)) = rest.split_once('$') {
        out += before;
        rest = match after.strip_prefix('{') {
            Some(place) => {
                let (inside, behind) = place.split_once('}').unwrap();
                let (_, proposed) = inside.split_once([':', '|']).unwrap();
                out += proposed.split([',', '|']).next().unwrap();
                behind
            }
            None => after.trim_start_matches(|c: char| c.is_ascii_digit()),
        };
    }
    out + rest
}
