//! All tests of this crate in one program, which is linked once.

mod corpus;
mod editors;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The programs in Weir's language below a folder, with their texts.
fn programs(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "weir") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

/// The programs of the corpus and the examples.
fn all_programs() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["corpus", "examples"] {
        programs(&root().join(folder), &mut found);
    }
    assert!(found.len() > 100, "only {} programs", found.len());
    found
}
