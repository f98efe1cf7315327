//! The tests of public crates: how many are found, read and decided, and why others are not.
//!
//! This needs the network and about an hour. The number is the time of each test in seconds:
//! `WEIR_CRATES=20 cargo test -p weir-cli --test all crates:: -- --nocapture`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use weir_gen::tools::{are_installed, setting};

/// What is known of the tests of a crate.
#[derive(Default)]
struct Counts {
    found: usize,
    read: usize,
    decided: usize,
    violated: usize,
}

impl Counts {
    fn row(&self, name: &str) -> String {
        let Counts { found, read, decided, violated } = self;
        format!("{name:28} {found:6} {read:6} {decided:8} {violated:9}")
    }

    fn add(&mut self, other: &Counts) {
        self.found += other.found;
        self.read += other.read;
        self.decided += other.decided;
        self.violated += other.violated;
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

/// The sources of a crate, in a folder of their own.
fn sources(name: &str, version: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates").join(name);
    let fetching = folder.with_file_name(format!("{name}-fetched"));
    fs::create_dir_all(fetching.join("src")).unwrap();
    fs::write(fetching.join("src/lib.rs"), "").unwrap();
    let manifest = format!(
        "[package]\nname = \"fetching\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{name} = \"={version}\"\n[workspace]\n"
    );
    fs::write(fetching.join("Cargo.toml"), manifest).unwrap();
    let fetched = Command::new("cargo").arg("vendor").arg("vendor").current_dir(&fetching).output();
    let fetched = fetched.unwrap();
    assert!(fetched.status.success(), "{name}: {}", String::from_utf8_lossy(&fetched.stderr));
    let _ = fs::remove_dir_all(&folder);
    copy(&fetching.join("vendor").join(name), &folder);
    // It is no part of the workspace around it.
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    if !manifest.contains("[workspace]") {
        fs::write(folder.join("Cargo.toml"), manifest + "\n[workspace]\n").unwrap();
    }
    folder
}

/// A reason without the calls that lead to the place, and without names of the package.
fn reason(message: &str) -> String {
    let message = message.split(", called by").next().unwrap_or(message);
    message.split(" (in ").next().unwrap_or(message).chars().take(100).collect()
}

#[test]
fn tests_of_public_crates() {
    let seconds = setting("WEIR_CRATES", 0);
    if seconds == 0 || !are_installed(&["cargo", "rustc"]) {
        return;
    }
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crates.txt"));
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    // All tests, and those that use loom.
    let mut totals = [Counts::default(), Counts::default()];
    let mut is_loom = false;
    let show = |line: String| eprintln!("{line}");
    show(format!("{:28} {:>6} {:>6} {:>8} {:>9}", "crate", "found", "read", "decided", "violated"));
    for line in list.unwrap().lines().filter(|line| !line.starts_with('#')) {
        if line == "loom:" {
            is_loom = true;
            continue;
        }
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap());
        let folder = sources(name, version);
        let output = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["check", "--format=jsonl", &format!("--each={seconds}")])
            .args(words)
            .arg(&folder)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        // Tests may be refused and violated, but Weir does not contradict itself.
        assert!(!err.contains("panicked") && output.status.code() != Some(4), "{name}: {err}");
        let mut tests: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            match row["file"].as_str() {
                Some(test) => tests.entry(test.to_owned()).or_default().push(row),
                // It cannot be built.
                None => show(format!("{name} {version}: {}", row["error"]["message"])),
            }
        }
        let mut counts = Counts { found: tests.len(), ..Counts::default() };
        for rows in tests.values() {
            let is = |words: &[&str], row: &Value| words.iter().any(|word| row["verdict"] == *word);
            counts.read += usize::from(rows.iter().any(|row| row["kind"].is_string()));
            counts.decided += usize::from(rows.iter().all(|row| is(&["holds", "violated"], row)));
            counts.violated += usize::from(rows.iter().any(|row| is(&["violated"], row)));
            if let Some(row) = rows.iter().find(|row| is(&["error", "unknown"], row)) {
                *reasons.entry(reason(row["message"].as_str().unwrap_or_default())).or_default() +=
                    1;
            }
        }
        show(counts.row(&format!("{name} {version}")));
        totals[0].add(&counts);
        if is_loom {
            totals[1].add(&counts);
        }
    }
    show(totals[0].row("all"));
    show(totals[1].row("with loom"));
    let mut ranked: Vec<(String, usize)> = reasons.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in ranked {
        show(format!("{count:5}  {reason}"));
    }
    for (name, Counts { found, read, .. }) in ["all", "with loom"].iter().zip(&totals) {
        assert!(read * 4 >= *found, "{name}: {read} of {found} tests are read");
    }
}
