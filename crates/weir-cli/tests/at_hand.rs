//! `weir test`, `weir watch`, `weir explain`, `weir completions` and `weir man`.

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{root, weir};
use weir_gen::tools::are_installed;

/// A directory of a test, new and empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-at-hand-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The exercises, by the names of their files.
fn exercises(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|e| e == "weir" || e == "c"));
    let mut names: Vec<String> =
        files.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn exercises_have_solutions() {
    let names = exercises("examples/exercises");
    assert!(names.len() >= 8, "{names:?}");
    assert_eq!(names, exercises("examples/exercises/solutions"));
    let solved = weir(&["test", "examples/exercises/solutions"]);
    assert_eq!(solved.status, 0, "{}", solved.out);
    assert_eq!(solved.out.matches("ok examples").count(), names.len(), "{}", solved.out);
    for name in names {
        let file = format!("examples/exercises/{name}");
        let open = weir(&["test", &file]);
        assert_eq!(open.status, 1, "{name} needs no change: {}", open.out);
        assert!(open.out.starts_with(&format!("NOT MET {file}\n")), "{}", open.out);
        assert!(open.out.contains("expected holds, is violated"), "{}", open.out);
        let readme = fs::read_to_string(root().join("examples/exercises/README.md")).unwrap();
        assert!(readme.contains(&name), "{name} is not in the list");
    }
}

#[test]
fn expectations_of_every_language_are_read() {
    let files = [
        "corpus/rmm/unbounded.rmm",
        "corpus/promela/deadlock.pml",
        "examples/c/peterson.c",
        "examples/rust/peterson.rs",
        "examples/vacuous.weir",
    ];
    let output = weir(&[&["test", "--jobs", "2"], &files[..]].concat());
    assert_eq!(output.status, 0, "{output:?}");
    assert_eq!(output.out.lines().filter(|line| line.starts_with("ok ")).count(), files.len());
    let csv = weir(&["test", "examples/peterson.weir", "--model", "tso", "--format", "csv"]);
    assert!(csv.out.lines().nth(1).unwrap().contains(",TSO,mutex,expectation,"), "{}", csv.out);
    let junit = weir(&["test", "examples/exercises/1-store-buffering.weir", "--format", "junit"]);
    assert!(
        junit.out.contains("<failure message=\"not met: expected holds, is violated\""),
        "{}",
        junit.out
    );
    assert_eq!(junit.status, 1);
}

#[test]
fn wrong_expectations_are_errors() {
    let folder = folder("expectations");
    let file = folder.join("p.weir");
    let test = |comment: &str| {
        let text = format!("// {comment}\nvar x\nprocess p {{ x = 1 }}\nzero: never x == 1\n");
        fs::write(&file, text).unwrap();
        weir(&["test", file.to_str().unwrap()])
    };
    assert_eq!(test("expect: tso zero violated").status, 0);
    assert_eq!(test("expect: tso zero holds").status, 1);
    let output = test("expect: tso one holds");
    assert_eq!(output.status, 2);
    assert!(output.out.contains("there is no such property, only `zero`"), "{}", output.out);
    for (comment, why) in [
        ("expect: tso zero perhaps", "line 1: `perhaps` is no verdict"),
        ("expect: tos zero holds", "line 1"),
        ("nothing", "no program here has an expectation"),
        ("options: --html page.html\n// expect: tso holds", "cannot ask for `--html`"),
    ] {
        let output = test(comment);
        assert_eq!(output.status, 2, "{comment}: {output:?}");
        assert!(output.err.contains(why), "{comment}: {}", output.err);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_changed_file_is_checked_again() {
    if !are_installed(&["kill"]) {
        return;
    }
    let folder = folder("watch");
    let file = folder.join("p.weir");
    fs::copy(root().join("examples/peterson.weir"), &file).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["watch", file.to_str().unwrap(), "--interval", "0.02", "--model", "tso"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The lines up to the one that says that it waits.
    let mut report = || {
        let mut text = String::new();
        for line in lines.by_ref() {
            assert!(!line.contains('\x1b'), "no terminal reads this: {line}");
            if line.starts_with("watching ") {
                return text;
            }
            text += &(line + "\n");
        }
        panic!("it ended: {text}");
    };
    assert!(report().contains("✗ violated  mutex"));
    fs::copy(root().join("examples/peterson-fenced.weir"), &file).unwrap();
    // A check may have begun while the file was written.
    let mut last = report();
    while !last.contains("✓ holds") {
        last = report();
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn terms_are_explained() {
    let list = weir(&["explain"]);
    assert_eq!(list.status, 0);
    for line in list.out.lines().take_while(|line| !line.is_empty()) {
        let name = line.trim_start().split("  ").next().unwrap();
        let output = weir(&["explain", name]);
        assert_eq!(output.status, 0, "{name}: {output:?}");
        // Commands that are shown work.
        for command in output.out.lines().filter_map(|line| line.strip_prefix("Try: weir ")) {
            let words: Vec<String> =
                command.split_whitespace().map(|word| word.replace('"', "")).collect();
            let tried = weir(&words);
            assert!([0, 1].contains(&tried.status), "{command}: {tried:?}");
        }
        // Pages that are named exist.
        let words = output.out.split(|c: char| c.is_whitespace() || c == ',');
        for page in words.filter(|word| word.starts_with("docs/")) {
            assert!(root().join(page.trim_end_matches('.')).is_file(), "{name}: {page}");
        }
    }
    assert_eq!(weir(&["explain", "No", "Deadlock"]).out, weir(&["explain", "deadlock"]).out);
    let wrong = weir(&["explain", "tsi"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("did you mean `tso`?"), "{}", wrong.err);
}

#[test]
fn shells_and_man_know_every_command() {
    let help = weir(&["--help"]).out;
    let list = help.split_once("Commands:\n").unwrap().1;
    let commands: Vec<&str> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = weir(&["completions", shell]);
        assert_eq!(script.status, 0, "{shell}");
        for command in &commands {
            assert!(script.out.contains(command), "{shell}: {command}");
        }
    }
    let page = weir(&["man"]).out;
    assert!(page.contains(".TH weir 1"), "{page}");
    let folder = folder("man");
    let written = weir(&["man", "--output", folder.to_str().unwrap()]);
    assert_eq!(written.status, 0, "{written:?}");
    for command in commands {
        let text = fs::read_to_string(folder.join(format!("weir-{command}.1"))).unwrap();
        assert!(text.contains(&format!(".TH weir-{command} 1")), "{text:.200}");
    }
    assert!(folder.join("weir-litmus-run.1").is_file());
    fs::remove_dir_all(folder).unwrap();
}
