//! One file at a time: C, C++ and Rust.

use crate::common::{Folder, files, has, options, root};
use std::path::Path;
use std::process::Command;
use weir_compile::{Compiled, Error, Kind, Level, Options, Tools, compile, native};

fn compiled(path: &Path, options: &Options) -> Compiled {
    compile(path, &Tools::default(), options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The functions that a module uses and does not define.
fn external(text: &str) -> Vec<&str> {
    let name = |line: &'_ str| line.find('@').map(|at| at + 1);
    text.lines()
        .filter(|l| l.starts_with("declare "))
        .map(|l| l[name(l).unwrap()..].split('(').next().unwrap())
        .collect()
}

#[test]
fn examples_in_c_are_compiled() {
    if !has(&[Kind::C]) {
        return;
    }
    let files = files(&root().join("examples/c"), "c");
    assert!(files.len() >= 35);
    for file in files {
        let compiled = compiled(&file, &options());
        let module = &compiled.modules[0].text;
        assert!(
            module.contains("define dso_local i32 @main()") || module.contains("@main("),
            "{}",
            file.display()
        );
        let external = external(module);
        assert!(
            external.contains(&"__assert_fail") && external.contains(&"pthread_create"),
            "{external:?}"
        );
        assert!(!module.contains("optnone"));
    }
}

#[test]
fn programs_in_cpp_are_compiled() {
    if !has(&[Kind::Cpp]) {
        return;
    }
    let options = Options { standard: Some("c++20".into()), ..options() };
    let files = files(&root().join("crates/weir-compile/tests/programs/cpp"), "cpp");
    assert_eq!(files.len(), 10);
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let module = &compiled(&file, &options).modules[0].text;
        // With exceptions only where there are any.
        assert_eq!(module.contains("landingpad"), source.contains("throw"), "{}", file.display());
        assert!(external(module).contains(&"__assert_fail"), "{}", file.display());
    }
}

#[test]
fn examples_in_rust_are_compiled_and_run() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("examples");
    let files = files(&root().join("examples/rust"), "rs");
    assert!(files.len() >= 35);
    for file in files {
        let compiled = compiled(&file, &options());
        let entry = compiled.entry.expect("a program begins with main");
        let module = &compiled.modules[0].text;
        assert!(module.contains(&format!("@{entry}(")), "{entry}");
        assert!(external(module).contains(&"weir_spawn"));
        // Nothing of the real threads is left.
        assert!(!module.contains("pthread"), "{}", file.display());
        let program = folder.0.join("program");
        native(&file, &program, &Tools::default(), &options()).unwrap();
        // Those that are weak fail on processors that are weaker than the one here, so what they do
        // is not asked.
        if !file.to_string_lossy().contains("-weak") && !file.to_string_lossy().contains("mailbox")
        {
            let output = Command::new(&program).output().unwrap();
            assert!(output.status.success(), "{}: {output:?}", file.display());
        }
    }
}

#[test]
fn programs_that_use_std_run() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("std");
    for file in files(&root().join("crates/weir-compile/tests/programs/rust"), "rs") {
        for level in [Level::Source, Level::Optimized] {
            let options = Options { level, ..options() };
            let module = &compiled(&file, &options).modules[0].text;
            for external in external(module) {
                assert!(
                    !external.contains("4sync6poison") && !external.contains("pthread"),
                    "{external}"
                );
            }
            let program = folder.0.join("program");
            native(&file, &program, &Tools::default(), &options).unwrap();
            for seed in 1..4 {
                let output =
                    Command::new(&program).env("WEIR_SEED", seed.to_string()).output().unwrap();
                assert!(output.status.success(), "{} with seed {seed}: {output:?}", file.display());
            }
        }
    }
}

#[test]
fn what_std_has_compiled_already_has_a_body() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("generics");
    let text = "fn main() { let mut a = vec![1u8]; a.push(2); let mut b = vec![String::new()]; \
        b.push(String::new()); let mut c = vec![vec![0u8]]; c.push(vec![]); }";
    let compiled = compiled(&folder.file("a.rs", text), &options());
    let missing: Vec<&str> = external(&compiled.modules[0].text)
        .into_iter()
        .filter(|name| name.contains("grow_one"))
        .filter(|name| {
            let define = format!("@{name}(");
            !compiled
                .modules
                .iter()
                .any(|m| m.text.lines().any(|l| l.starts_with("define") && l.contains(&define)))
        })
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    // Only the modules that are needed.
    let plain = folder.file("b.rs", "fn main() {}");
    let compiled = compile(&plain, &Tools::default(), &options()).unwrap();
    assert_eq!(compiled.modules.len(), 1);
}

#[test]
fn a_failure_has_the_text_of_its_assertion() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("failures");
    let program = folder.0.join("program");
    for (body, text) in [
        ("assert!(1 + 1 == n)", "assertion failed: 1 + 1 == n"),
        ("assert!(n == 0, \"n is {n}\")", "assertion failed: n == 0: n is {n}"),
        ("assert_eq!(n, 4)", "assertion failed: n == 4"),
        ("assert_ne!(n, 3, \"not {}\", 3)", "assertion failed: n != 3: not {}"),
        ("debug_assert!(n < 3)", "assertion failed: n < 3"),
        ("panic!(\"bad {}\", n)", "panic: bad {}"),
        ("if n == 3 { unreachable!() }", "entered unreachable code"),
        ("if n == 3 { todo!(\"later\") }", "not yet implemented: later"),
        ("std::process::abort()", "process::abort was called"),
    ] {
        let source = folder.file(
            "program.rs",
            &format!("fn main() {{ let n = std::hint::black_box(3); {body}; }}"),
        );
        native(&source, &program, &Tools::default(), &options()).unwrap();
        let output = Command::new(&program).output().unwrap();
        assert!(!output.status.success(), "{body}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), format!("weir: {text}"));
    }
}

#[test]
fn tests_are_listed() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("tests");
    let text = "mod inner { #[test] fn größe() { loom::model(|| assert_eq!(1, 1)); } }\n\
        #[test] #[ignore] fn later() {}\n\
        #[test] fn shuttled() { shuttle::check_random(|| { let n: u8 = kani::any(); weir::assume(n < 3); }, 10) }\n";
    let compiled = compiled(&folder.file("two words.rs", text), &options());
    let tests: Vec<_> = compiled.tests.iter().map(|t| (t.name.as_str(), t.ignored)).collect();
    assert_eq!(tests, [("inner::größe", false), ("later", true), ("shuttled", false)]);
    for test in &compiled.tests {
        let symbol = test.symbol.as_ref().unwrap();
        let define = format!("@{symbol}(");
        assert!(
            compiled.modules[0]
                .text
                .lines()
                .any(|l| l.starts_with("define") && l.contains(&define)),
            "{symbol}"
        );
    }
    assert_eq!(compiled.entry, None);
}

#[test]
fn options_reach_the_compiler() {
    if !has(&[Kind::C]) {
        return;
    }
    let folder = Folder::new("options");
    folder.file("sub folder/answer.h", "#define ANSWER N\n");
    let source = folder.file("ü ö.c", "#include <answer.h>\nint answer(void) { return ANSWER; }\n");
    let mut options = options();
    options.defines = vec!["N=42".into()];
    options.includes = vec![folder.0.join("sub folder")];
    options.standard = Some("c11".into());
    options.flags = vec!["-Wall".into()];
    assert!(compiled(&source, &options).modules[0].text.contains("ret i32 42"));
    options.level = Level::Optimized;
    assert!(compiled(&source, &options).modules[0].text.contains("ret i32 42"));
    options.defines.clear();
    let Err(Error::Rejected { text, .. }) = compile(&source, &Tools::default(), &options) else {
        panic!()
    };
    assert!(text.contains("use of undeclared identifier 'N'"), "{text}");
}

#[test]
fn what_cannot_be_compiled_says_so() {
    let folder = Folder::new("endings");
    let options = options();
    let error = compile(&folder.file("a.py", ""), &Tools::default(), &options).unwrap_err();
    assert!(
        matches!(error, Error::Unsupported(_)) && error.to_string().contains(".cpp"),
        "{error}"
    );
    let error = compile(&folder.0.join("absent.c"), &Tools::default(), &options).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    if has(&[Kind::Rust]) {
        let source = folder.file("wrong.rs", "fn main() { let x: u32 = \"\"; }");
        let Err(Error::Rejected { text, .. }) = compile(&source, &Tools::default(), &options)
        else {
            panic!()
        };
        assert!(text.contains("error[E0308]: mismatched types"), "{text}");
    }
}
