//! The examples in C, C++ and Rust answer as their heads say, and what the answers rest on is accepted.

use crate::common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{root, weir, weir_reading};
use weir_gen::tools::{are_installed, is_slow};

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
fn examples_in_cpp_answer_as_their_heads_say() {
    answer_as_their_heads_say("cpp", "cpp");
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

/// Under the model of the language the examples hold, those that are called weak do not, and what is right on x86
/// alone is found out.
#[test]
fn examples_answer_under_c11() {
    for (language, ending) in [("c", "c"), ("cpp", "cpp"), ("rust", "rs")] {
        for file in examples(language, ending) {
            let name = file.to_string_lossy().into_owned();
            let witness = format!("weir-c11-{}-{language}.json", std::process::id());
            let witness = std::env::temp_dir().join(witness).to_string_lossy().into_owned();
            let out = weir(&["check", &name, "-m", "c11", "--witness", &witness]);
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let expected = match stem.as_str() {
                "mailbox" | "peterson-x86" => 1,
                weak if weak.ends_with("-weak") => 1,
                _ => 0,
            };
            assert_eq!(out.status, expected, "{name}\n{}{}", out.out, out.err);
            if expected == 1 {
                let checked = weir(&["certify", &witness, &name]);
                assert_eq!(checked.status, 0, "{name}\n{}{}", checked.out, checked.err);
            }
        }
    }
}

#[test]
fn examples_in_c_compile_and_those_that_are_right_on_this_processor_run() {
    let args = ["-std=c11", "-Wall", "-Werror", "-O1", "-pthread"];
    compile_and_run("c", "c", "gcc", &args);
}

#[test]
fn examples_in_cpp_compile_and_those_that_are_right_on_this_processor_run() {
    let args = ["-std=c++20", "-Wall", "-Werror", "-O1", "-pthread"];
    compile_and_run("cpp", "cpp", "g++", &args);
}

#[test]
fn examples_in_rust_compile_and_those_that_are_right_on_this_processor_run() {
    let level = if is_slow() { "opt-level=2" } else { "opt-level=0" };
    let args =
        ["--edition", "2024", "-C", level, "-A", "static_mut_refs", "--crate-name", "example"];
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
            for _ in 0..if is_slow() { 20 } else { 5 } {
                let run = Command::new(&program).output().unwrap();
                assert!(run.status.success(), "{}", file.display());
            }
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Checks a text in C under SC, with options.
fn check(text: &str, options: &[&str]) -> common::Output {
    let args = ["check", "-", "--stdin-name", "test.c", "-m", "sc"];
    let args: Vec<&str> = args.iter().chain(options).copied().collect();
    weir_reading(&args, text.as_bytes())
}

#[test]
fn limits_make_holds_unknown_and_say_where() {
    let head =
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <assert.h>\n";
    let pool = format!(
        "{head}struct n {{ struct n *next; }};\n_Atomic(struct n *) top;\nvoid *w(void *a) {{\n\
         for (int i = 0; i < 6; i++) {{\nstruct n *n = malloc(sizeof *n); n->next = top; top = n; }}\n\
         return 0; }}\nint main() {{ pthread_t t; pthread_create(&t, 0, w, 0); \
         pthread_join(t, 0); assert(top != NULL); }}\n"
    );
    let few = check(&pool, &[]);
    assert_eq!(few.status, 3, "{}{}", few.out, few.err);
    assert!(
        few.out.contains("a thread needs more than 4 allocations (`--pool`) in line 9"),
        "{}",
        few.out
    );
    assert_eq!(check(&pool, &["--pool", "6"]).status, 0);
    let rounds = format!(
        "{head}atomic_int x, stop;\nvoid *w(void *a) {{\nwhile (!stop) x++;\nreturn 0; }}\n\
         int main() {{ pthread_t t; pthread_create(&t, 0, w, 0); stop = 1; \
         pthread_join(t, 0); assert(x < 2); }}\n"
    );
    // A run that is found is one, whatever the limit.
    assert_eq!(check(&rounds, &["--unroll", "3"]).status, 1);
    let less = check(&rounds.replace("x < 2", "x < 9"), &["--unroll", "3"]);
    assert_eq!(less.status, 3, "{}{}", less.out, less.err);
    assert!(less.out.contains("a loop has more than 3 rounds in line 7"), "{}", less.out);
    let threads = check(&pool, &["--threads-bound", "1"]);
    assert_eq!(threads.status, 3, "{}{}", threads.out, threads.err);
}

#[test]
fn options_say_how_c_is_read() {
    let text = "#include <assert.h>\n#ifndef N\n#define N 1\n#endif\n\
                int main() { assert(N == 1); }\nint other() { assert(N == 2); return 0; }\n";
    assert_eq!(check(text, &[]).status, 0);
    assert_eq!(check(text, &["-D", "N=2"]).status, 1);
    assert_eq!(check(text, &["--entry", "other"]).status, 1);
    assert_eq!(check(text, &["--entry", "other", "-D", "N=2"]).status, 0);
    let missing = check(text, &["--entry", "mian"]);
    assert_eq!(missing.status, 2);
    assert!(missing.err.contains("did you mean `main`?"), "{}", missing.err);
    let sum = "#include <assert.h>\nint main() { int x = 2147483647; x++; assert(x < 0); }\n";
    assert_eq!(check(sum, &[]).status, 1);
    assert_eq!(check(sum, &["--overflow", "wrap"]).status, 0);
    let race = "#include <pthread.h>\nint x; void *w(void *a) { x = 1; return 0; }\n\
                int main() { pthread_t t, u; pthread_create(&t, 0, w, 0); \
                pthread_create(&u, 0, w, 0); }\n";
    assert_eq!(check(race, &[]).status, 0);
    assert_eq!(check(race, &["--races"]).status, 1);
    assert_eq!(check(&race.replace("int x;", "_Atomic int x;"), &["--races"]).status, 0);
    let weak = "#include <assert.h>\n#include <stdatomic.h>\nint main() { atomic_int x = 0; int e = 0; \
                assert(atomic_compare_exchange_weak(&x, &e, 1)); }\n";
    assert_eq!(check(weak, &[]).status, 0);
    assert_eq!(check(weak, &["--spurious"]).status, 1);
}

#[test]
fn fences_of_c_are_inserted_and_orders_that_are_not_needed_are_found() {
    let out = weir(&["fences", "examples/c/mailbox.c", "-m", "nsw", "--patch"]);
    assert!(out.out.contains("+    atomic_thread_fence(memory_order_release);"), "{}", out.out);
    assert!(out.out.contains("+    atomic_thread_fence(memory_order_acquire);"), "{}", out.out);
    let out = weir(&["fences", "examples/c/peterson.c", "-m", "tso", "--redundant"]);
    let needed: Vec<&str> = out
        .out
        .lines()
        .filter(|line| line.contains(" needed") && !line.contains("not needed"))
        .collect();
    assert_eq!(needed.len(), 1, "{}", out.out);
    assert!(needed[0].contains("line 27") && needed[0].contains("seq_cst"), "{}", out.out);
    let out = weir(&["fences", "examples/c/peterson-weak.c", "-m", "tso"]);
    assert!(
        out.out.contains("places between accesses were skipped in examples/c/peterson.c"),
        "{}",
        out.out
    );
}
