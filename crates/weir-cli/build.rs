//! Embeds the programs of the repository, for `weir serve`. A crate that is built elsewhere has
//! none.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the programs of a folder are called, and the folder.
const GROUPS: [(&str, &str); 6] = [
    ("examples", "examples"),
    ("games", "examples/games"),
    ("objects", "examples/objects"),
    ("litmus tests", "litmus"),
    ("Promela", "corpus/promela"),
    ("corpus", "corpus"),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut out = String::from("pub const PROGRAMS: &[(&str, &str, &str)] = &[\n");
    for (group, folder) in GROUPS {
        let folder = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        let found = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if !["weir", "litmus", "pml"].contains(&ending) {
                continue;
            }
            let file = file.canonicalize().expect("a file that was listed exists");
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(out, "    ({group:?}, {name:?}, include_str!({file:?})),");
        }
    }
    out += "];\n";
    let target = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&target).join("programs.rs"), out).expect("cargo made the folder");
}
