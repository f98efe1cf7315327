//! Public crates about concurrency, which have to compile with the stand-in for `std`.
//!
//! This needs the network and a few minutes: `WEIR_SLOW=1 cargo test -p weir-compile crates`.
#![cfg(unix)]

use crate::common::{Folder, has, options, root};
use std::fmt::Write;
use weir_compile::package::{PackageOptions, package};
use weir_compile::{Kind, Tools};

#[test]
fn public_crates_compile() {
    // It fetches the crates and compiles all of them.
    let is_slow = std::env::var_os("WEIR_SLOW").is_some_and(|value| value == "1");
    if !is_slow || !has(&[Kind::Rust, Kind::Cargo]) {
        return;
    }
    let list = root().join("crates/weir-compile/tests/programs/crates.txt");
    let list = std::fs::read_to_string(list).unwrap();
    let mut manifest =
        "[package]\nname = \"all\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n"
            .to_owned();
    let mut names = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap());
        let features: Vec<&str> = words.collect();
        writeln!(manifest, "{name} = {{ version = \"={version}\", features = {features:?} }}")
            .unwrap();
        names.push(name.replace('-', "_"));
    }
    assert!(names.len() >= 50);
    let folder = Folder::new("crates");
    folder.file("src/lib.rs", "#[test] fn none() {}");
    let manifest = folder.file("Cargo.toml", &manifest);
    let built =
        package(&manifest, &Tools::default(), &options(), &PackageOptions::default()).unwrap();
    for name in names {
        let of = |path: &std::path::PathBuf| {
            path.file_stem().unwrap().to_str().unwrap().starts_with(&format!("{name}-"))
        };
        // Some crates name their library otherwise.
        if !built.libraries.iter().any(of) {
            eprintln!("{name} has no library of that name");
        }
    }
    assert!(built.libraries.len() >= 50);
}
