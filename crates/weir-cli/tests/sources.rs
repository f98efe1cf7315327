//! The examples in C and Rust answer as their heads say, and what the answers rest on is accepted.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{root, weir};
use weir_gen::tools::are_installed;

const MODELS: [&str; 4] = ["sc", "tso", "pso", "nsw"];

/// The examples in a language, by name.
fn examples(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = root().join("examples").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    assert!(files.len() > 30, "there are {} examples", files.len());
    files
}

/// What a head expects under a model.
fn expected(text: &str, model: &str) -> Option<i32> {
    let head = format!("// expect: {model} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&head))?;
    match line {
        "holds" => Some(0),
        "violated" => Some(1),
        other => panic!("`{other}` is no answer"),
    }
}

#[test]
fn examples_in_c_answer_as_their_heads_say() {
    answer_as_their_heads_say("c", "c");
}

#[test]
fn examples_in_rust_answer_as_their_heads_say() {
    answer_as_their_heads_say("rust", "rs");
}

fn answer_as_their_heads_say(language: &str, ending: &str) {
    let folder = format!("weir-examples-{language}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (witness, certificate) = (path("witness.json"), path("certificate.json"));
    for file in examples(language, ending) {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.to_string_lossy().into_owned();
        for model in MODELS {
            let expected = expected(&text, model);
            let expected = expected.unwrap_or_else(|| panic!("{name} says nothing of {model}"));
            for evidence in [&witness, &certificate] {
                let _ = fs::remove_file(evidence);
            }
            let out = weir(&[
                "check",
                &name,
                "-m",
                model,
                "--witness",
                &witness,
                "--certificate",
                &certificate,
            ]);
            assert_eq!(out.status, expected, "{name} under {model}\n{}{}", out.out, out.err);
            let found = if expected == 0 { &certificate } else { &witness };
            let checked = weir(&["certify", found, &name]);
            assert_eq!(checked.status, 0, "{name} under {model}\n{}{}", checked.out, checked.err);
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn examples_in_c_compile_and_those_that_are_right_on_this_processor_run() {
    let args = ["-std=c11", "-Wall", "-Werror", "-O1", "-pthread"];
    compile_and_run("c", "c", "gcc", &args);
}

#[test]
fn examples_in_rust_compile_and_those_that_are_right_on_this_processor_run() {
    let args = ["--edition", "2024", "-O", "-A", "static_mut_refs", "--crate-name", "example"];
    compile_and_run("rust", "rs", "rustc", &args);
}

fn compile_and_run(language: &str, ending: &str, compiler: &str, args: &[&str]) {
    if !are_installed(&[compiler]) {
        return;
    }
    let folder = format!("weir-compiled-{language}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    fs::create_dir_all(&folder).unwrap();
    for file in examples(language, ending) {
        let text = fs::read_to_string(&file).unwrap();
        let program = folder.join("example");
        let made =
            Command::new(compiler).args(args).arg("-o").arg(&program).arg(&file).output().unwrap();
        let wrong = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{}\n{wrong}", file.display());
        if cfg!(target_arch = "x86_64") && expected(&text, "tso") == Some(0) {
            for _ in 0..20 {
                let run = Command::new(&program).output().unwrap();
                assert!(run.status.success(), "{}", file.display());
            }
        }
    }
    let _ = fs::remove_dir_all(&folder);
}
