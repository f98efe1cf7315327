//! Memory that is lost: allocated, not freed, and in the end nothing leads to it.

use weir::{Lowering, MemoryModel, Settings, Verdict, Verifier};
use weir_gen::tools::are_installed;

use crate::read;

/// The lines of allocations that are lost, and whether the question is asked at all.
fn leaks(name: &str, text: &str) -> (bool, Vec<usize>) {
    let lowering = Lowering { leaks: true, ..Lowering::default() };
    let settings = Settings { lowering, compile: Some(weir::compile), ..Settings::default() };
    let asked = Verifier::new(text).name(name).settings(settings).model(MemoryModel::SC);
    let report = asked.check().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (mut is_asked, mut lines) = (false, Vec::new());
    for finding in &report.findings {
        let is_leak = finding.name().starts_with("leak");
        is_asked |= is_leak;
        assert_ne!(finding.verdict, Verdict::Unknown, "{text}");
        if is_leak && finding.verdict == Verdict::Violated {
            lines.push(finding.line.unwrap_or(0));
        }
    }
    lines.sort_unstable();
    (is_asked, lines)
}

#[test]
fn lost_memory_is_found_in_c() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let text = |code: &str, after: &str| {
        read::c(&format!(
            "struct n {{ struct n *next; }}; struct n *_Atomic top;\n\
             void *w(void *a) {{\n{code}\nreturn 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); {after} }}"
        ))
    };
    // The line of the code above.
    let line = text("", "").lines().position(|line| line.starts_with("void *w")).unwrap() + 2;
    for (code, after, lost) in [
        ("malloc(8);", "", true),
        ("free(malloc(8));", "", false),
        ("top = malloc(8);", "", false),
        ("top = malloc(8);", "free(top);", false),
        ("top = malloc(8);", "top = 0;", true),
        ("struct n *n = malloc(8); n->next = 0; top = n;", "top = top->next;", true),
        // What is lost leads to it, so only the first one counts.
        ("struct n *n = malloc(8); n->next = malloc(8); top = n;", "top = 0;", true),
        ("struct n *n = malloc(8); n->next = malloc(8); top = n;", "free(top);", true),
        (
            "struct n *n = malloc(8); n->next = malloc(8); top = n;",
            "free(top->next); free(top);",
            false,
        ),
        ("if (top) malloc(8);", "", false),
        // Only one thread reaches it.
        ("int *p = malloc(4); *p = 1; assert(*p == 1);", "", true),
        ("int *p = malloc(4); *p = 1; free(p);", "", false),
        ("static _Thread_local int *p; p = malloc(4); *p = 1;", "", false),
    ] {
        let text = text(code, after);
        let (_, lines) = leaks("test.c", &text);
        assert_eq!(lines, if lost { vec![line] } else { vec![] }, "{text}");
    }
}

#[test]
fn rust_and_cpp_free_what_they_own() {
    if !are_installed(&["clang-19", "rustc"]) {
        return;
    }
    let rust = |end: &str| {
        format!(
            "use std::sync::{{Arc, Mutex}}; use std::thread;\nfn main() {{\n    let m = Arc::new(Mutex::new(1));\n    let n = m.clone();\n\
             \x20   let t = thread::spawn(move || *n.lock().unwrap() += 1);\n    t.join().unwrap();\n    {end}\n}}\n"
        )
    };
    assert_eq!(leaks("test.rs", &rust("drop(m);")), (true, vec![]));
    assert_eq!(leaks("test.rs", &rust("std::mem::forget(m);")), (true, vec![3]));
    let cpp = |drop: &str| {
        format!(
            "#include <memory>\n#include <thread>\nint main() {{\n  auto p = std::make_unique<int>(1);\n\
             \x20 std::thread t([q = p.get()] {{ *q = 2; }});\n  t.join();\n  {drop}\n}}\n"
        )
    };
    assert_eq!(leaks("test.cpp", &cpp("")), (true, vec![]));
    let two = "#include <thread>\nint n;\nint main() {\n  std::thread a([] { n = 1; });\n  std::thread b([] {});\n  a.join();\n  b.join();\n}\n";
    assert_eq!(leaks("test.cpp", two), (true, vec![]));
    assert!(!leaks("test.cpp", &cpp("p.release();")).1.is_empty());
}
