//! Programs that a compiler reads: C++, and C on request. Needs clang.

use std::fs;
use std::path::{Path, PathBuf};

use weir_gen::tools::are_installed;

use crate::common::weir;

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
    assert!(weak.out.contains("spsc.cpp:18"), "{}", weak.out);
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

#[test]
fn compiled_c_has_the_answers_of_its_text() {
    if !are_installed(&CLANG) {
        return;
    }
    for (file, status) in [("seqlock", 0), ("seqlock-weak", 1), ("clh", 0), ("clh-weak", 1)] {
        let file = format!("examples/c/{file}.c");
        for model in ["sc", "tso", "c11"] {
            let [read, compiled] = [&[][..], &["--compiled"]]
                .map(|more| weir(&[&["check", &file, "--model", model], more].concat()).status);
            assert_eq!(read, compiled, "{file} under {model}");
        }
        assert_eq!(weir(&["check", &file, "--compiled"]).status, status, "{file}");
    }
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
    // There is no text to change: what is read is what the compiler has made of it.
    let fences = weir(&["fences", "examples/cpp/spsc-weak.cpp", "--write"]);
    assert_eq!(fences.status, 2, "{}{}", fences.out, fences.err);
    assert!(fences.err.contains("is read through its compiler"), "{}", fences.err);
    // What is not understood is refused by name.
    let file = folder("compiled-unknown").join("unknown.cpp");
    fs::write(&file, "extern \"C\" void elsewhere();\nint main() { elsewhere(); }\n").unwrap();
    let unknown = weir(&["check", file.to_str().unwrap()]);
    assert_eq!(unknown.status, 2, "{}", unknown.out);
    assert!(unknown.err.contains("elsewhere"), "{}", unknown.err);
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
