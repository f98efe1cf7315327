//! A program outside the workspace uses the library: `tests/external`. It is compiled as far as that finds
//! errors, and with `WEIR_SLOW=1` it is built and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_gen::tools::is_slow;

/// A copy of the program, with the versions of the workspace: whatever the program needs, the
/// workspace has, so that nothing is downloaded.
fn copy() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("external");
    fs::create_dir_all(folder.join("src")).unwrap();
    let source = root.join("tests/external");
    let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
    let library = root.join("crates/weir");
    let here = manifest.replace("../../crates/weir", library.to_str().unwrap());
    assert_ne!(here, manifest, "the program does not use the library");
    for (name, text) in [
        ("Cargo.toml", here),
        ("Cargo.lock", fs::read_to_string(root.join("Cargo.lock")).unwrap()),
        ("src/main.rs", fs::read_to_string(source.join("src/main.rs")).unwrap()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

#[test]
fn a_program_outside_the_workspace_uses_the_library() {
    let folder = copy();
    let is_run = is_slow();
    let output = Command::new(env!("CARGO"))
        .args([if is_run { "run" } else { "check" }, "--offline", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    if !is_run {
        return;
    }
    for line in [
        "both: violated",
        "p w(x,1) Some(1) Some(3)",
        "accepted: true",
        "the process player wins",
        "wait-free: violated",
        "deadlock-free: holds",
    ] {
        assert!(out.lines().any(|l| l == line), "no `{line}` in\n{out}");
    }
    assert!(out.contains("what was reordered:"), "{out}");
    let cancelled = "Unknown: Some(\"the search was interrupted";
    assert!(out.lines().any(|l| l.starts_with(cancelled)), "{out}");
    assert!(out.lines().any(|l| l.starts_with("wrong: ") && l.contains("`y`")), "{out}");
}
