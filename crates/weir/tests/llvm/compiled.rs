//! The examples in C as modules that clang has made: they have the answers of their sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir::{MemoryModel, Verdict, Verifier};
use weir_gen::tools::are_installed;

use crate::read;

/// The first of these programs that is installed.
pub(super) fn first_of(programs: &[&'static str]) -> Option<&'static str> {
    let runs = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let found = programs.iter().find(runs).copied();
    if found.is_none() {
        are_installed(&programs[programs.len() - 1..]);
    }
    found
}

/// A text as LLVM IR.
pub(super) fn compile(compiler: &str, flags: &[&str], ending: &str, text: &str) -> String {
    let number = std::process::id();
    let name = flags.concat().replace(|c: char| !c.is_ascii_alphanumeric(), "");
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    let folder = std::env::temp_dir().join(format!("weir-llvm-{number}-{thread}-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let (from, to) = (folder.join(format!("a.{ending}")), folder.join("a.ll"));
    fs::write(&from, text).unwrap();
    let made = Command::new(compiler).args(flags).arg(&from).arg("-o").arg(&to).output().unwrap();
    assert!(made.status.success(), "{}\n{text}", String::from_utf8_lossy(&made.stderr));
    let text = fs::read_to_string(&to).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    text
}

/// The examples in C with their texts, in which the file that one includes is written out.
fn examples() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let written_out = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| match line.strip_prefix("#include \"") {
            Some(name) => fs::read_to_string(folder.join(name.trim_end_matches('"'))).unwrap(),
            None => line.to_owned(),
        });
        (file, lines.map(|line| line + "\n").collect())
    };
    files.into_iter().map(written_out).collect()
}

fn of_c(text: &str, model: MemoryModel) -> Verdict {
    read::verdict("example.c", text, model)
}

#[test]
fn modules_have_the_answers_of_their_sources() {
    let Some(clang) = first_of(&["clang-19", "clang"]) else { return };
    let flags = ["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-S", "-emit-llvm"];
    let files = examples();
    assert!(files.len() > 30);
    for (file, text) in files {
        let module = compile(clang, &flags, "c", &text);
        for model in [MemoryModel::SC, MemoryModel::PSO] {
            let verdict = read::verdict("example.ll", &module, model);
            assert_eq!(verdict, of_c(&text, model), "{} under {model}", file.display());
        }
    }
}

/// A compiler may take away what can go wrong, and adds nothing.
#[test]
fn optimized_examples_add_no_failure() {
    let Some(clang) = first_of(&["clang-19", "clang"]) else { return };
    for (file, text) in examples() {
        let module = compile(clang, &["-O1", "-g", "-S", "-emit-llvm"], "c", &text);
        for model in [MemoryModel::SC, MemoryModel::TSO] {
            let verdict = read::verdict("example.ll", &module, model);
            let before = of_c(&text, model);
            assert!(
                verdict == before || before == Verdict::Violated,
                "{} under {model}: {verdict:?}",
                file.display()
            );
        }
    }
}

#[test]
fn all_that_is_emitted_is_read_and_printed() {
    let Some(clang) = first_of(&["clang-19", "clang"]) else { return };
    for level in ["-O0", "-O1", "-O2"] {
        for (_, text) in examples() {
            let module =
                weir_llvm::parse(&compile(clang, &[level, "-g", "-S", "-emit-llvm"], "c", &text))
                    .unwrap();
            for function in &module.functions {
                assert!(
                    !matches!(function.body, weir_llvm::Body::NotRead(..)),
                    "{:?}",
                    function.body
                );
            }
            let printed = module.to_string();
            assert_eq!(weir_llvm::parse(&printed).unwrap().to_string(), printed);
        }
    }
}

#[test]
fn threads_know_their_lines() {
    let Some(clang) = first_of(&["clang-19", "clang"]) else { return };
    let text = "#include <assert.h>\nint x;\nint main(void) {\n    int *p = &x;\n    assert(*p == 1);\n}\n";
    let module = compile(clang, &["-O0", "-g", "-S", "-emit-llvm"], "c", text);
    let settings = weir_front::Settings {
        files: |path| {
            match path.extension().is_some_and(|e| e == "c") {
            true => Ok("#include <assert.h>\nint x;\nint main(void) {\n    int *p = &x;\n    assert(*p == 1);\n}\n".to_owned()),
            false => Err(std::io::ErrorKind::NotFound.into()),
        }
        },
        ..weir_front::Settings::default()
    };
    let (program, source) = weir_front::read_with("a.ll", &module, None, &settings).unwrap();
    let (span, words) = program.messages.iter().next().unwrap();
    assert_eq!(words, "the assertion `*p == 1` does not hold");
    assert_eq!(source.line(*span), 5);
    assert!(source.file(source.range(*span).start).0.ends_with("a.c"));
    let report = Verifier::new(&module).name("a.ll").check().unwrap();
    assert!(report.findings.iter().any(|finding| finding.verdict == Verdict::Violated));
}
