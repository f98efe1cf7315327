//! Programs that a compiler reads: C, C++ and Rust.

use std::fs;
use std::path::{Path, PathBuf};

use weir_gen::tools::are_installed;

use crate::common::{root, weir};

const CLANG: [&str; 1] = ["clang-19"];

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn cpp_is_compiled_and_checked_under_the_model_of_the_language() {
    if !are_installed(&CLANG) {
        return;
    }
    let right = weir(&["check", "examples/cpp/spsc.cpp"]);
    assert_eq!(right.status, 0, "{}{}", right.out, right.err);
    assert!(right.out.contains("spsc.cpp under C11"), "{}", right.out);
    assert!(right.out.contains("✓ holds  assertions"), "{}", right.out);
    let weak = weir(&["check", "examples/cpp/spsc-weak.cpp"]);
    assert_eq!(weak.status, 1, "{}{}", weak.out, weak.err);
    assert!(weak.out.contains("✗ violated  races"), "{}", weak.out);
    // Lines are those of the user's file.
    assert!(weak.out.contains("spsc.cpp:23"), "{}", weak.out);
    let defined =
        weir(&["check", "examples/cpp/spsc.cpp", "-D", "PUBLISH=std::memory_order_relaxed"]);
    assert_eq!(defined.status, 1, "{}{}", defined.out, defined.err);
    let optimized = weir(&["check", "examples/cpp/spsc.cpp", "--optimized", "--model", "tso"]);
    assert_eq!(optimized.status, 0, "{}{}", optimized.out, optimized.err);
    let compared = weir(&["compare", "examples/cpp/spsc.cpp", "--std", "c++17"]);
    assert!(
        compared.out.lines().next().is_some_and(|line| line.ends_with("C11")),
        "{}",
        compared.out
    );
}

/// Optimized C has the answers that the heads of the examples say, but where the compiler removes what is asked: that a variable
/// still has the value that was just stored.
#[test]
fn optimized_c_answers_as_its_heads_say() {
    if !are_installed(&CLANG) {
        return;
    }
    for file in fs::read_dir(root().join("examples/c")).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        for model in ["sc", "tso", "pso"] {
            let is_removed = file.ends_with("ticket-weak.c") && model == "pso";
            let holds = text.contains(&format!("// expect: {model} holds")) || is_removed;
            let name = file.to_str().unwrap();
            let out = weir(&["check", name, "--model", model, "--optimized"]);
            assert_eq!(out.status, i32::from(!holds), "{name} {model}\n{}{}", out.out, out.err);
            assert!(out.out.contains("(the code as the compiler emitted it"), "{}", out.out);
        }
    }
    let whole = weir(&["check", "examples/c/ticket-weak.c", "--model", "pso"]);
    assert_eq!(whole.status, 1, "{}", whole.out);
    assert!(whole.out.contains("(each access as it stands in the source"), "{}", whole.out);
}

#[test]
fn errors_of_compilers_are_shown_as_they_are() {
    if !are_installed(&CLANG) {
        return;
    }
    let file = folder("compiled").join("wrong file.cpp");
    fs::write(&file, "int main( {\n").unwrap();
    let wrong = weir(&["check", file.to_str().unwrap()]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("wrong file.cpp:1:"), "{}", wrong.err);
    assert!(wrong.err.contains("errors generated"), "{}", wrong.err);
    assert!(wrong.out.is_empty());
    let missing = weir(&["check", "examples/cpp/no-such-file.cpp"]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.err.contains("`examples/cpp/no-such-file.cpp`: there is no such file"),
        "{}",
        missing.err
    );
    // Each error is one of its own.
    let file = folder("compiled-errors").join("errors.rs");
    fs::write(&file, "fn main() {\n    one();\n    two();\n}\n").unwrap();
    let wrong = weir(&["check", file.to_str().unwrap(), "--format", "json"]);
    let errors: Vec<&str> = wrong.out.lines().collect();
    assert_eq!(errors.len(), 2, "{}", wrong.out);
    for (line, error) in (2..).zip(&errors) {
        assert!(error.contains("cannot find function"), "{error}");
        assert!(error.contains(&format!("\"line\":{line},\"column\":5")), "{error}");
    }
    // What is not understood is refused by name.
    let file = folder("compiled-unknown").join("unknown.cpp");
    fs::write(&file, "extern \"C\" void elsewhere();\nint main() { elsewhere(); }\n").unwrap();
    let unknown = weir(&["check", file.to_str().unwrap()]);
    assert_eq!(unknown.status, 2, "{}", unknown.out);
    assert!(unknown.err.contains("elsewhere"), "{}", unknown.err);
}

#[test]
fn orders_of_cpp_are_changed() {
    if !are_installed(&CLANG) {
        return;
    }
    let folder = folder("compiled-orders");
    for name in ["spsc.cpp", "spsc-weak.cpp"] {
        fs::copy(root().join("examples/cpp").join(name), folder.join(name)).unwrap();
    }
    let file = folder.join("spsc-weak.cpp");
    let file = file.to_str().unwrap();
    assert_eq!(weir(&["check", file]).status, 1);
    let written = weir(&["fences", file, "--write"]);
    assert_eq!(written.status, 0, "{}{}", written.out, written.err);
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("#define PUBLISH std::memory_order_release"), "{text}");
    assert_eq!(weir(&["check", file]).status, 0);
}

/// Library steps are left out of a run, and names are those of the text.
#[test]
fn runs_of_rust_have_the_steps_of_the_text() {
    let file = "examples/rust/mailbox.rs";
    let run = weir(&["check", file]).out;
    for line in ["1    17  MESSAGE = 42", "4    25  ·             read MESSAGE → 0 (old)"] {
        assert!(run.contains(line), "{run}");
    }
    let file = "examples/rust/barrier-weak.rs";
    let run = weir(&["check", file]).out;
    assert!(run.contains("steps of the library are not shown (`--full` shows them)"), "{run}");
    assert!(!run.contains(".freed") && !run.contains(".started"), "{run}");
    let full = weir(&["check", file, "--full"]).out;
    assert!(full.contains(".freed") && !full.contains("not shown"), "{full}");
}

#[test]
fn the_doctor_lists_compilers() {
    if !are_installed(&CLANG) {
        return;
    }
    let listed = weir(&["doctor"]);
    assert_eq!(listed.status, 0);
    for kind in ["clang", "clang++", "rustc", "cargo"] {
        assert!(listed.out.lines().any(|line| line.starts_with(kind)), "{}", listed.out);
    }
    assert!(listed.out.contains("clang++-19") && listed.out.contains("used"), "{}", listed.out);
}
