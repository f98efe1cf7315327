//! Cargo packages, compilation databases, and `weir cc` in a build. Needs cargo and rustc, or clang and cc.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;
use weir_gen::tools::are_installed;

use crate::common::Output;

const RUST: [&str; 2] = ["cargo", "rustc"];
const CLANG: [&str; 1] = ["clang-19"];

/// A new folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Runs a program in a folder.
fn run(program: &str, folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    // Settings of the build that runs this test.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "COLUMNS", "MAKEFLAGS"] {
        command.env_remove(name);
    }
    let output = command.args(args).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!err.contains("panicked"), "{args:?}: {err}");
    let status = output.status.code().unwrap();
    Output { status, out, err, elapsed: Default::default(), peak: 0, work: Default::default() }
}

fn weir(folder: &Path, args: &[&str]) -> Output {
    run(env!("CARGO_BIN_EXE_weir"), folder, args)
}

/// Checks a package that needs no network, and keeps in its folder what is built.
fn check(folder: &Path, args: &[&str]) -> Output {
    weir(folder, &[&["check", "Cargo.toml", "--offline", "--target-dir", "built"], args].concat())
}

/// `cargo weir` as cargo runs it.
fn cargo_weir(folder: &Path, args: &[&str]) -> Output {
    let words = [&["weir", "--offline", "--target-dir", "built"], args].concat();
    run(env!("CARGO_BIN_EXE_cargo-weir"), folder, &words)
}

/// The lines of a table of tests, without their times.
fn table(output: &Output) -> Vec<String> {
    let lines = output.out.lines().take_while(|line| !line.is_empty());
    let without_time = |line: &str| {
        let (verdict, rest) = line.split_at(line.find(|c: char| c.is_ascii_digit()).unwrap());
        format!("{} {}", verdict.trim(), rest.split_once(" s  ").unwrap().1)
    };
    lines.map(without_time).collect()
}

/// A workspace with two packages, one of which depends on the other one.
fn workspace(name: &str) -> PathBuf {
    folder(
        name,
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"flag\", \"user\"]\nresolver = \"2\"\n"),
            (
                "flag/Cargo.toml",
                "[package]\nname = \"flag\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nweak = []\n",
            ),
            (
                "flag/src/lib.rs",
                "use std::sync::atomic::{AtomicUsize, Ordering};\n\
                 pub struct Flag { data: AtomicUsize, ready: AtomicUsize }\n\
                 const PUBLISH: Ordering = if cfg!(feature = \"weak\") { Ordering::Relaxed } else { Ordering::Release };\n\
                 impl Flag {\n\
                 \x20   pub const fn new() -> Self { Flag { data: AtomicUsize::new(0), ready: AtomicUsize::new(0) } }\n\
                 \x20   pub fn publish(&self, value: usize) {\n\
                 \x20       self.data.store(value, Ordering::Relaxed);\n\
                 \x20       self.ready.store(1, PUBLISH);\n\
                 \x20   }\n\
                 \x20   pub fn read(&self) -> Option<usize> {\n\
                 \x20       (self.ready.load(Ordering::Acquire) == 1).then(|| self.data.load(Ordering::Relaxed))\n\
                 \x20   }\n\
                 }\n\
                 #[test]\nfn fresh_flags_are_empty() { assert_eq!(Flag::new().read(), None); }\n",
            ),
            (
                "user/Cargo.toml",
                "[package]\nname = \"two-users\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                 [features]\nweak = [\"flag/weak\"]\n[dependencies]\nflag = { path = \"../flag\" }\n",
            ),
            (
                "user/src/lib.rs",
                "#[cfg(test)]\nmod tests {\n    use flag::Flag;\n\
                 \x20   #[test]\n    fn publishes() {\n        let flag = Flag::new();\n        std::thread::scope(|s| {\n\
                 \x20           s.spawn(|| flag.publish(42));\n\
                 \x20           if let Some(value) = flag.read() { assert_eq!(value, 42); }\n        });\n    }\n\
                 \x20   #[test]\n    fn misses() {\n        let flag = Flag::new();\n        std::thread::scope(|s| {\n\
                 \x20           s.spawn(|| flag.publish(42));\n            assert!(flag.read().is_some());\n        });\n    }\n\
                 \x20   #[test]\n    #[ignore]\n    fn later() {}\n\
                 \x20   #[test]\n    #[should_panic]\n    fn panics() { panic!() }\n}\n",
            ),
            (
                "user/tests/whole.rs",
                "use std::sync::{Arc, Mutex};\n#[test]\nfn counts() {\n    let m = Arc::new(Mutex::new(0));\n\
                 \x20   let other = m.clone();\n    let t = std::thread::spawn(move || *other.lock().unwrap() += 1);\n\
                 \x20   *m.lock().unwrap() += 1;\n    t.join().unwrap();\n    assert_eq!(*m.lock().unwrap(), 2);\n}\n",
            ),
        ],
    )
}

/// The modules below a folder, and when they were written.
fn modules(folder: &Path) -> Vec<(PathBuf, SystemTime)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "ll") {
                let time = path.metadata().unwrap().modified().unwrap();
                found.push((path, time));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn each_test_of_a_workspace_is_a_program() {
    if !are_installed(&RUST) {
        return;
    }
    let folder = workspace("package workspace");
    let all = check(&folder, &[]);
    assert_eq!(all.status, 1, "{}{}", all.out, all.err);
    assert_eq!(
        table(&all),
        [
            "✓ holds flag::fresh_flags_are_empty",
            "✗ violated two_users::tests::misses     assertions: assertion failed: flag.read().is_some()",
            "✓ holds two_users::tests::publishes",
            "✓ holds whole::counts",
        ]
    );
    assert!(all.out.contains("\n4 results: 3 fine, 1 violated, "), "{}", all.out);
    assert!(all.err.contains("compiling the tests with a stand-in for std"), "{}", all.err);
    let left = "left out: 1 test with `#[ignore]`, 1 test with `#[should_panic]`";
    assert!(all.err.contains(left), "{}", all.err);
    // Nothing is compiled again, and nothing is said about it.
    let before = modules(&folder.join("built"));
    assert!(before.len() >= 5, "{before:?}");
    let again = check(&folder, &["--jobs", "2"]);
    assert_eq!(table(&again), table(&all));
    assert!(!again.err.contains("compiling"), "{}", again.err);
    assert_eq!(modules(&folder.join("built")), before);
    // What is changed is compiled.
    let file = folder.join("user/tests/whole.rs");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace(", 2)", ", 3)")).unwrap();
    let changed = check(&folder, &["--test", "whole"]);
    assert_eq!(changed.status, 1, "{}{}", changed.out, changed.err);

    // Packages, targets and features are those of Cargo.
    let user =
        check(&folder, &["-p", "two-users", "--lib", "--features", "weak", "--skip", "misses"]);
    assert_eq!(
        (user.status, user.out.lines().next().unwrap()),
        (1, "two_users::tests::publishes of Cargo.toml under C11")
    );
    let both = check(
        &folder,
        &[
            "-p",
            "two-users",
            "--lib",
            "--format",
            "csv",
            "-m",
            "sc",
            "-m",
            "c11",
            "--features=weak",
        ],
    );
    let verdicts: Vec<&str> =
        both.out.lines().filter(|line| line.contains(",assertions,assertions,")).collect();
    let expected = [
        "two_users::tests::misses,SC,assertions,assertions,,violated,",
        "two_users::tests::misses,C11,assertions,assertions,,violated,",
        "two_users::tests::publishes,SC,assertions,assertions,,holds,",
        "two_users::tests::publishes,C11,assertions,assertions,,violated,",
    ];
    assert_eq!(verdicts.len(), 4, "{}", both.out);
    assert!(
        verdicts.iter().zip(expected).all(|(row, begin)| row.starts_with(begin)),
        "{}",
        both.out
    );
    let ignored = check(&folder, &["--ignored"]);
    assert!(
        ignored.out.starts_with("two_users::tests::later of"),
        "{}{}",
        ignored.out,
        ignored.err
    );
}

#[test]
fn a_single_test_has_a_full_report_with_lines_of_the_user() {
    if !are_installed(&RUST) {
        return;
    }
    let folder = workspace("package single");
    let one = check(&folder, &["--entry", "misses"]);
    assert_eq!(one.status, 1, "{}{}", one.out, one.err);
    for part in [
        "two_users::tests::misses of Cargo.toml under C11",
        "✗ violated  assertions",
        "main  fails: assertion failed: flag.read().is_some()",
        "lib.rs:11",
    ] {
        assert!(one.out.contains(part), "{part}\n{}", one.out);
    }
    // Evidence and pages are those of any program.
    let witness =
        check(&folder, &["--entry", "misses", "--witness", "run.json", "--html", "page.html"]);
    assert_eq!(witness.status, 1, "{}", witness.err);
    assert!(folder.join("page.html").is_file());
    let settings = ["--offline", "--target-dir", "built"];
    let certified = ["certify", "run.json", "Cargo.toml", "--entry", "misses"];
    let certified = weir(&folder, &[&certified[..], &settings].concat());
    assert_eq!(certified.status, 0, "{}{}", certified.out, certified.err);
    // Other commands ask about a test, too.
    let shown =
        weir(&folder, &[&["compare", "Cargo.toml", "--entry", "counts"][..], &settings].concat());
    assert!(shown.out.contains("whole::counts  assertions   holds"), "{}{}", shown.out, shown.err);
    // The directory of a package is the package.
    let directory = weir(
        &folder,
        &["check", "user", "--filter", "counts", "--offline", "--target-dir", "built"],
    );
    assert!(
        directory.out.starts_with("whole::counts of user/Cargo.toml under C11"),
        "{}{}",
        directory.out,
        directory.err
    );
}

#[test]
fn cargo_weir_is_used_as_cargo_test() {
    if !are_installed(&RUST) {
        return;
    }
    let folder = workspace("package cargo");
    let all = cargo_weir(&folder, &["test", "--workspace", "--format", "junit"]);
    assert_eq!(all.status, 1, "{}{}", all.out, all.err);
    assert!(
        all.out.contains("<testsuites name=\"weir\" tests=\"")
            && all.out.contains("failures=\"1\" errors=\"0\""),
        "{}",
        all.out
    );
    assert!(
        all.out.contains("<testsuite name=\"two_users::tests::misses under C11\""),
        "{}",
        all.out
    );
    assert!(all.out.contains("file=\"user/src/lib.rs\""), "{}", all.out);
    // The manifest is found from a folder inside of the package.
    let inside = folder.join("user/src");
    let words =
        ["weir", "miss", "counts", "--offline", "--target-dir", "../../built", "--format", "sarif"];
    let sarif = run(env!("CARGO_BIN_EXE_cargo-weir"), &inside, &words);
    assert_eq!(sarif.status, 1, "{}{}", sarif.out, sarif.err);
    let sarif: Value = serde_json::from_str(&sarif.out).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:?}");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("lib.rs"), "{place}");
    assert_eq!(place["region"]["startLine"], 13);
    assert!(
        results[0]["message"]["text"].as_str().unwrap().starts_with("two_users::tests::misses: ")
    );
    // Names are parts of names, or whole ones.
    let parts = cargo_weir(&folder, &["publish", "counts"]);
    assert_eq!(table(&parts), ["✓ holds two_users::tests::publishes", "✓ holds whole::counts"]);
    let exact = cargo_weir(&folder, &["tests::publishes", "counts", "--", "--exact"]);
    assert_eq!(table(&exact), table(&parts));
    let one = cargo_weir(&folder, &["publish"]);
    assert_eq!(
        (one.status, one.out.lines().next().unwrap()),
        (0, "two_users::tests::publishes of Cargo.toml under C11")
    );
    let json =
        cargo_weir(&folder, &["--manifest-path", "user/Cargo.toml", "--format", "json", "tests"]);
    let programs: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> =
        programs.iter().map(|value| value["program"].as_str().unwrap()).collect();
    assert_eq!(names, ["two_users::tests::misses", "two_users::tests::publishes"]);
    let help = cargo_weir(&folder, &["--help"]);
    assert!(help.status == 0 && help.out.contains("Usage: cargo weir"), "{}", help.out);
}

#[test]
fn tests_with_loom_are_read_with_a_stand_in() {
    if !are_installed(&RUST) {
        return;
    }
    let folder = folder(
        "package loom",
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"cell\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                 [target.'cfg(loom)'.dependencies]\nloom = { path = \"loom\" }\n[lints.rust]\nunexpected_cfgs = \"allow\"\n[workspace]\n",
            ),
            (
                "src/lib.rs",
                "#[cfg(loom)]\n#[test]\nfn modelled() {\n    use loom::sync::{atomic::{AtomicUsize, Ordering}, Arc};\n    loom::model(|| {\n\
                 \x20       let a = Arc::new(AtomicUsize::new(0));\n        let b = a.clone();\n\
                 \x20       let t = loom::thread::spawn(move || b.store(b.load(Ordering::SeqCst) + 1, Ordering::SeqCst));\n\
                 \x20       a.store(a.load(Ordering::SeqCst) + 1, Ordering::SeqCst);\n        t.join().unwrap();\n\
                 \x20       assert_eq!(a.load(Ordering::SeqCst), 2);\n    });\n}\n\
                 #[cfg(not(loom))]\n#[test]\nfn usual() {}\n",
            ),
            (
                "loom/Cargo.toml",
                "[package]\nname = \"loom\"\nversion = \"0.7.2\"\nedition = \"2018\"\n",
            ),
            ("loom/src/lib.rs", "compile_error!(\"the stand-in takes its place\");"),
        ],
    );
    let usual = check(&folder, &[]);
    assert_eq!(
        (usual.status, usual.out.lines().next().unwrap()),
        (0, "cell::usual of Cargo.toml under C11")
    );
    let loom = check(&folder, &["--loom"]);
    assert_eq!(loom.status, 1, "{}{}", loom.out, loom.err);
    assert!(
        loom.out.contains("cell::modelled of Cargo.toml")
            && loom.out.contains("✗ violated  assertions"),
        "{}",
        loom.out
    );
}

#[test]
fn what_is_wrong_with_a_package_is_said() {
    if !are_installed(&RUST) {
        return;
    }
    let folder = workspace("package wrong");
    let wrong = |args: &[&str], words: &[&str]| {
        let output = check(&folder, args);
        assert_eq!(output.status, 2, "{args:?}: {}{}", output.out, output.err);
        for word in words {
            assert!(output.err.contains(word), "{args:?}: {word}\n{}", output.err);
        }
    };
    wrong(
        &["--filter", "publishs"],
        &["`Cargo.toml`: there is no test `publishs`; did you mean `publishes`?"],
    );
    wrong(&["--entry", "cuonts"], &["there is no test `cuonts`", "did you mean `counts`?"]);
    wrong(&["--entry", "xyz"], &["there is no test `xyz`", "flag::fresh_flags_are_empty"]);
    wrong(&["--features", "absent"], &["cargo cannot build its tests", "absent"]);
    wrong(&["--test", "whale"], &["no test target named `whale`"]);
    wrong(&["--filter", "later"], &["there are no other tests than 1 test with `#[ignore]`"]);
    wrong(&["--resume", "log"], &["--resume is for files"]);
    wrong(&["--html", "page.html"], &["files are written about one test"]);
    fs::write(folder.join("flag/src/lib.rs"), "pub fn wrong() -> u32 { \"\" }").unwrap();
    wrong(
        &[],
        &["cargo cannot build its tests", "error[E0308]: mismatched types", "flag/src/lib.rs:1:25"],
    );
    fs::write(folder.join("Cargo.toml"), "[workspace\n").unwrap();
    wrong(&[], &["cargo cannot build its tests"]);

    let missing = weir(&folder, &["check", "absent/Cargo.toml"]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.err.contains("cannot read `absent/Cargo.toml`: there is no such file"),
        "{}",
        missing.err
    );
    let two = weir(&folder, &["check", "Cargo.toml", "user/Cargo.toml"]);
    assert!(two.status == 2 && two.err.contains("a package is checked by itself"), "{}", two.err);
    let nowhere = std::env::temp_dir();
    let none = run(env!("CARGO_BIN_EXE_cargo-weir"), &nowhere, &["weir"]);
    assert!(none.status == 2 && none.err.contains("there is no `Cargo.toml` in"), "{}", none.err);
    let text = folder.join("described.json");
    fs::write(&text, "{}").unwrap();
    let described =
        weir(&folder, &["check", "Cargo.toml", "--built", "described.json", "--entry", "x"]);
    assert!(
        described.status == 2 && described.err.contains("does not describe a program with tests"),
        "{}",
        described.err
    );
}

/// Two sources of a program, and one of another program.
fn sources(name: &str) -> PathBuf {
    let entry = |file: &str, more: &str| {
        format!(
            "{{\"directory\": \".\", \"file\": \"src/{file}\", \"command\": \"cc -O2 {more} -c src/{file}\"}}"
        )
    };
    let database = format!(
        "[{},\n {},\n {}]\n",
        entry("main.c", ""),
        entry("flag.c", "-DORDER=memory_order_release"),
        entry("other.c", "")
    );
    folder(
        name,
        &[
            ("compile_commands.json", &database),
            (
                "src/flag.h",
                "#include <stdatomic.h>\nextern atomic_int ready;\nextern int data;\nvoid publish(int value);\n",
            ),
            (
                "src/flag.c",
                "#include \"flag.h\"\natomic_int ready;\nint data;\nvoid publish(int value) {\n  data = value;\n\
                 \x20 atomic_store_explicit(&ready, 1, ORDER);\n}\n",
            ),
            (
                "src/main.c",
                "#include \"flag.h\"\n#include <assert.h>\n#include <pthread.h>\n\
                 static void *writer(void *arg) { publish(42); return arg; }\nint main(void) {\n  pthread_t t;\n\
                 \x20 pthread_create(&t, 0, writer, 0);\n\
                 \x20 if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 42);\n  pthread_join(t, 0);\n}\n",
            ),
            (
                "src/other.c",
                "static int publish(void) { return 1; }\nint main(void) { return publish(); }\n",
            ),
        ],
    )
}

#[test]
fn the_sources_of_a_compilation_database_are_one_program() {
    if !are_installed(&CLANG) {
        return;
    }
    let folder = sources("database of two");
    let check =
        |args: &[&str]| weir(&folder, &[&["check", "compile_commands.json"], args].concat());
    let several = check(&[]);
    assert_eq!(several.status, 2, "{}", several.out);
    for part in [
        "`compile_commands.json`: 2 sources define `main`",
        "choose one with `--file`: ",
        "src/main.c, ",
        "src/other.c",
    ] {
        assert!(several.err.contains(part), "{part}\n{}", several.err);
    }
    let right = check(&["--file", "main.c"]);
    assert_eq!(right.status, 0, "{}{}", right.out, right.err);
    assert!(right.out.contains("✓ holds  races"), "{}", right.out);
    let weak = check(&["--file", "src/main.c", "-D", "ORDER=memory_order_relaxed"]);
    assert_eq!(weak.status, 1, "{}{}", weak.out, weak.err);
    assert!(weak.out.contains("flag.c:5") && weak.out.contains("main.c:8"), "{}", weak.out);
    let entry = check(&["--entry", "publish"]);
    assert_eq!(entry.status, 0, "{}{}", entry.out, entry.err);
    let misspelt = check(&["--file", "mian.c"]);
    assert!(
        misspelt.status == 2 && misspelt.err.contains("did you mean `main.c`?"),
        "{}",
        misspelt.err
    );
    let absent = check(&["--entry", "absent"]);
    assert!(
        absent.status == 2
            && absent.err.contains("no source in the compilation database defines `absent`"),
        "{}",
        absent.err
    );
    fs::write(folder.join("src/other.c"), "int main(void) { return }\n").unwrap();
    let wrong = check(&["--file", "main.c"]);
    assert!(wrong.status == 2 && wrong.err.contains("other.c:1:"), "{}", wrong.err);
    for text in ["[]", "{}", "[{}]"] {
        fs::write(folder.join("compile_commands.json"), text).unwrap();
        assert_eq!(check(&[]).status, 2, "{text}");
    }
}

#[test]
fn a_build_with_weir_in_the_place_of_clang_leaves_a_program() {
    if !are_installed(&CLANG) {
        return;
    }
    let folder = sources("build with cc");
    let cc = |args: &[&str]| {
        let built = weir(&folder, &[&["cc"], args].concat());
        assert_eq!((built.status, built.err.as_str()), (0, ""), "{args:?}: {}", built.out);
    };
    cc(&["-O2", "-c", "src/main.c", "-o", "main.o"]);
    cc(&["-O2", "-DORDER=memory_order_release", "-c", "src/flag.c", "-o", "flag.o"]);
    cc(&["-o", "prog", "main.o", "flag.o", "-lpthread"]);
    // The program is the one that clang builds.
    assert!(Command::new(folder.join("prog")).status().unwrap().success());
    let right = weir(&folder, &["check", "prog.ll"]);
    assert_eq!(right.status, 0, "{}{}", right.out, right.err);
    cc(&["-DORDER=memory_order_relaxed", "src/main.c", "src/flag.c", "-o", "weak", "-lpthread"]);
    let weak = weir(&folder, &["check", "weak.ll"]);
    assert_eq!(weak.status, 1, "{}{}", weak.out, weak.err);
    assert!(weak.out.contains("flag.c:5") && weak.out.contains("main.c:8"), "{}", weak.out);
    // All words are for clang, and so is the status.
    let version = weir(&folder, &["cc", "--version"]);
    assert!(version.status == 0 && version.out.contains("clang version"), "{}", version.out);
    let wrong = weir(&folder, &["cc", "-c", "src/flag.c", "-o", "wrong.o"]);
    assert!(wrong.status == 1 && wrong.err.contains("ORDER"), "{}", wrong.err);
    fs::remove_file(folder.join("flag.o.ll")).unwrap();
    let partly = weir(&folder, &["cc", "-o", "prog", "main.o", "flag.o", "-lpthread"]);
    assert_eq!(partly.status, 0);
    assert!(partly.err.contains("flag.o has no module beside it"), "{}", partly.err);
    let unknown = weir(&folder, &["check", "prog.ll"]);
    assert!(
        unknown.status == 2 && unknown.err.contains("is defined elsewhere"),
        "{}{}",
        unknown.out,
        unknown.err
    );
}
