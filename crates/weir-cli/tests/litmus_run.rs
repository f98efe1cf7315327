//! `weir litmus run`: tests on this machine, and a machine that is not TSO.

use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use common::{root, weir};
use serde_json::Value;

/// Whether tests with two threads can be run here.
fn can_run() -> bool {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let has_compiler = Command::new("cc").arg("--version").output().is_ok();
    cfg!(all(target_arch = "x86_64", target_os = "linux")) && processors >= 2 && has_compiler
}

/// A directory of a test, new and empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-test-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `weir` with this search path for programs.
fn weir_with_path(path: &str, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(args)
        .current_dir(root())
        .env("PATH", path)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A compiler whose programs print these lines.
fn compiler(name: &str, lines: &[&str]) -> PathBuf {
    let folder = folder(name);
    let path = folder.join("cc");
    let prints: String = lines.iter().map(|line| format!("echo {line}\n")).collect();
    let script = format!(
        "#!/bin/sh\nset -e\n\
         while [ \"$1\" != -o ]; do shift; done\n\
         printf '#!/bin/sh\\n{}' > \"$2\"\n/bin/chmod +x \"$2\"\n",
        prints.replace('\n', "\\n")
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn this_machine_is_tso() {
    if !can_run() {
        return;
    }
    let files = ["litmus/SB.litmus", "litmus/MP.litmus", "litmus/cmpxchg.litmus"];
    let mut args = vec!["litmus", "run", "--instances", "20000", "--format", "json"];
    args.extend(files);
    let output = weir(&args);
    assert_eq!(output.status, 0, "{output:?}");
    let reports: Vec<Value> =
        output.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), files.len());
    for report in &reports {
        let states = report["states"].as_array().unwrap();
        let counts = states.iter().map(|state| state["count"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), 20_000, "{report}");
        assert_eq!(report["outside_tso"], 0);
    }
    // SC forbids one of the four final states of store buffering.
    let allowed = |state: &Value, model: &str| state["allowed"][model].as_bool().unwrap();
    let states = reports[0]["states"].as_array().unwrap();
    assert_eq!(states.iter().filter(|state| allowed(state, "TSO")).count(), 4);
    assert_eq!(states.iter().filter(|state| allowed(state, "SC")).count(), 3);
}

#[test]
fn a_state_outside_tso_is_an_alarm() {
    // A read sees the flag and not the message.
    let folder = compiler("outside", &["99 0 0", "1 1 0"]);
    let args = ["litmus", "run", "litmus/MP.litmus", "--instances", "100"];
    let (status, out, err) = weir_with_path(folder.to_str().unwrap(), &args);
    assert_eq!(status, 1, "{out}{err}");
    assert!(out.contains("outside TSO"), "{out}");
    assert!(out.contains("1 outside TSO; the condition (*) was met 1 times"), "{out}");
    let all = ["litmus", "run", "--all", "--processes", "2", "--edges", "po", "--instances", "100"];
    let (status, out, _) = weir_with_path(folder.to_str().unwrap(), &all);
    assert_eq!(status, 1, "{out}");
    assert!(
        out.lines().any(|line| line.starts_with("MP ") && line.ends_with("outside TSO")),
        "{out}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn counts_that_are_not_all_there_are_an_error() {
    let folder = compiler("missing", &["99 0 0"]);
    let args = ["litmus", "run", "litmus/MP.litmus", "--instances", "100"];
    let (status, _, err) = weir_with_path(folder.to_str().unwrap(), &args);
    assert_eq!(status, 2);
    assert!(err.contains("something else than counts"), "{err}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn without_a_compiler_there_is_a_message() {
    let folder = folder("empty");
    let path = folder.to_str().unwrap();
    let (status, _, err) = weir_with_path(path, &["litmus", "run", "litmus/SB.litmus"]);
    assert_eq!(status, 2);
    assert!(err.contains("needs `cc`, a C compiler, which is not installed"), "{err}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn programs_are_kept() {
    let folder = compiler("kept", &["100 0 0"]);
    let kept = folder.join("programs");
    let keep = kept.to_str().unwrap();
    let args = ["litmus", "run", "litmus/SB.litmus", "--instances", "100", "--keep", keep];
    let (status, out, err) = weir_with_path(folder.to_str().unwrap(), &args);
    assert_eq!(status, 0, "{out}{err}");
    let text = fs::read_to_string(kept.join("SB.c")).unwrap();
    assert!(text.contains("\"movl $1, %[v0]\\n\\t\""), "{text}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_run_says_why() {
    for (file, why) in [
        ("litmus/pointer.litmus", "addresses"),
        ("litmus/copy.litmus", "at most one operand in memory"),
    ] {
        let output = weir(&["litmus", "run", file]);
        assert_eq!(output.status, 2, "{output:?}");
        assert!(output.err.contains(why), "{file}: {}", output.err);
    }
    let output = weir(&["litmus", "run"]);
    assert_eq!(output.status, 2);
    let output = weir(&["litmus", "run", "litmus/SB.litmus", "--edges", "po"]);
    assert_eq!(output.status, 2, "--edges is for --all");
}
