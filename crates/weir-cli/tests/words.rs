//! Words of reports that must not mislead.

use std::fs;
use std::path::Path;

use crate::common::{Output, weir};

fn about(name: &str, text: &str, words: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("words");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    weir(&[&[words[0], path.to_str().unwrap()], &words[1..]].concat())
}

/// The line of a report about a property.
fn line<'a>(run: &'a Output, property: &str) -> &'a str {
    let words = |line: &&str| line.split_whitespace().any(|word| word == property);
    run.out.lines().find(words).unwrap_or_else(|| panic!("{property}: {run:?}"))
}

#[test]
fn a_violated_claim_does_not_read_as_if_it_held() {
    let run = about("fails.weir", "var x\nprocess p { x = 1  assert x == 2 }\n", &["check"]);
    assert_eq!(line(&run, "assertions").trim(), "✗ violated  assertions  never a failure");
}

#[test]
fn races_are_told_by_interleavings() {
    let ring = "use std::sync::atomic::{AtomicU32, Ordering::*}; use std::thread; use std::cell::UnsafeCell;\n\
        struct Ring { slot: UnsafeCell<u32>, head: AtomicU32 } unsafe impl Sync for Ring {}\n\
        static RING: Ring = Ring { slot: UnsafeCell::new(0), head: AtomicU32::new(0) };\n\
        fn main() { let t = thread::spawn(|| { unsafe { *RING.slot.get() = 1; } RING.head.store(1, Relaxed); });\n\
        if RING.head.load(Relaxed) == 1 { unsafe { assert!(*RING.slot.get() == 1); } } t.join().unwrap(); }\n";
    let run = about("ring.rs", ring, &["check", "--races", "--model", "tso"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.contains("ring.rs under TSO\n"), "{run:?}");
    assert!(run.out.contains("(memory orders are read as x86 (TSO) has them"), "{run:?}");
    let line = line(&run, "races");
    assert!(line.contains("by interleavings, never two conflicting accesses at once"), "{line}");
    assert!(!line.contains('…'), "{line}");
}

/// What the first thread asserts in the end is asked of final states, under a name that says so.
#[test]
fn an_assertion_in_the_end_is_named() {
    let text = "use std::sync::atomic::{AtomicU32, Ordering::*}; use std::thread; static X: AtomicU32 = AtomicU32::new(0);\n\
        fn main() { let t = thread::spawn(|| { X.store(1, Relaxed); }); t.join().unwrap();\n\
        assert_eq!(X.load(Relaxed), 2); }\n";
    let run = about("end.rs", text, &["check"]);
    assert_eq!(run.status, 1, "{run:?}");
    let line = line(&run, "final_assertion");
    assert!(line.contains("✗ violated") && line.contains("line 3: assert_eq!("), "{line}");
}

#[test]
fn a_run_that_ends_with_a_failure_says_so() {
    let text = "var x\nprocess p {\n    x = 1\n    assert x == 2\n    x = 7\n}\nb: ltl eventually x == 7\n";
    for model in ["sc", "tso"] {
        let run = about("ends.weir", text, &["live", "--model", model]);
        assert_eq!(run.status, 1, "{run:?}");
        let why = "`p` fails at line 4: the assertion does not hold";
        let line = line(&run, "b");
        assert!(line.contains("✗ violated") && line.ends_with("that ends"), "{run:?}");
        assert!(run.out.contains(&format!("\n    {why}\n")), "{run:?}");
        assert!(run.out.contains(&format!("the run ends: {why}")), "{run:?}");
    }
}

#[test]
fn every_exit_status_is_in_the_help() {
    let run = weir(&["--help"]);
    let help = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("4 a checker rejects what Weir found, which is a fault of Weir"),
        "{help}"
    );
}

/// Under update fairness the process player may win by waiting, or may not: it is not decided.
#[test]
fn a_refusal_has_a_true_reason() {
    let text = "var x\nprocess p {\nout:\n    x = 1\nin:\n    nop\n}\ngame avoid p@in\n";
    let run = about("avoid.weir", text, &["game", "--fairness", "update"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.err.contains("Weir does not decide `game avoid` with it"), "{run:?}");
    assert!(!run.err.contains("already wins"), "{run:?}");
}
