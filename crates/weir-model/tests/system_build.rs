//! From the text of a program to its system: which values and control states there are, and what
//! is refused and why. Programs are written in the Weir language.

use std::time::Duration;

use weir_model::ids::{ProcessId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::system::{Expanded, StateKind, System};

#[track_caller]
fn read(text: &str) -> (Program, weir_front::Source) {
    weir_front::read("test.weir", text, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render("test.weir", text, false)))
}

#[track_caller]
fn build(text: &str) -> System {
    System::new(read(text).0).unwrap_or_else(|e| panic!("{e:?}"))
}

/// The system with all its control states: only of those that have finitely many.
#[track_caller]
fn expanded(system: &System) -> Expanded<'_> {
    let budget = Budget::new().with_time(Duration::from_secs(60));
    system.expanded(&budget).unwrap_or_else(|e| panic!("{e}"))
}

/// The error for a model in which reads are guessed, what was declared, and the text that it
/// points at.
#[track_caller]
fn refused(text: &str) -> (String, String, String) {
    let (program, source) = read(text);
    match System::for_model(program, MemoryModel::GUESS) {
        Ok(_) => panic!("it was built"),
        Err(e) => (e.to_string(), e.declared, source.text_of(e.span).to_owned()),
    }
}

#[track_caller]
fn has_values(text: &str, expected: &[(&str, &[i128])]) {
    let system = build(text);
    for (name, values) in expected {
        let var = system.vars.iter().position(|v| v.name == *name).expect("a variable");
        let var = VarId::new(var);
        let ids = expanded(&system).values(var);
        let found: Vec<i128> = ids.iter().map(|v| system.value(var, *v)).collect();
        assert_eq!(found, *values, "values of {name} in {text}");
    }
}

/// What kinds of control states the first process has.
#[track_caller]
fn kinds(system: &System) -> Vec<StateKind> {
    let p = ProcessId(0);
    expanded(system).states(p).map(|s| system.state(p, s).kind.clone()).collect()
}

#[test]
fn values_are_those_that_can_be_written() {
    has_values("var x process p { x = 7 }", &[("x", &[0, 7])]);
    has_values("var x = 3, y process p { y = x }", &[("x", &[3]), ("y", &[0, 3])]);
    has_values(
        "var x = any(1, 3, 5), y process p { y = x * 2 }",
        &[("x", &[1, 3, 5]), ("y", &[0, 2, 6, 10])],
    );
    has_values("var x process p { choose { x = 1 } or { x = 2 } }", &[("x", &[0, 1, 2])]);
    has_values(
        "var a[2] process p { reg i; i = any(0..1); a[i] = i + 1 }",
        &[("a[0]", &[0, 1]), ("a[1]", &[0, 2])],
    );
    has_values("var x process p { fetch_max(x, 5) }", &[("x", &[0, 5])]);
    has_values("var x: -1..1 process p { x = -x }", &[("x", &[-1, 1])]);
}

#[test]
fn values_behind_a_test_that_fails_are_not_there() {
    has_values(
        "var x, y process p { reg r; r = x; if r == 1 { y = 5 } }",
        &[("x", &[0]), ("y", &[0])],
    );
    has_values(
        "var x, y process p { if x == 1 { y = 5 } } process q { x = 1 }",
        &[("x", &[0, 1]), ("y", &[0, 5])],
    );
    has_values("var y process p { reg r; assume r == 1; y = 5 }", &[("y", &[0])]);
    has_values("var x process p { cas(x, 1, 5) }", &[("x", &[0])]);
}

#[test]
fn loops_with_a_bound_of_their_own_are_finite() {
    has_values("var x process p { loop { x = (x + 1) % 4 } }", &[("x", &[0, 1, 2, 3])]);
    has_values(
        "var x process p { reg r; loop { r = x; if r < 3 { x = r + 1 } } }",
        &[("x", &[0, 1, 2, 3])],
    );
    has_values("var x: 0..2 process p { loop { x = x + 1 } }", &[("x", &[0, 1, 2])]);
}

#[test]
fn increments_that_run_once_add_once() {
    has_values("var x process p { x = x + 1 }", &[("x", &[0, 1])]);
    has_values("var x process p[i: 0..1] { x = x + 1 }", &[("x", &[0, 1, 2])]);
    has_values("var x process p[i: 0..2] { x = x + 1 }", &[("x", &[0, 1, 2, 3])]);
    has_values("var x process p[i: 0..1] { fetch_add(x, 1) }", &[("x", &[0, 1, 2])]);
    has_values("var x process p { x = x + 1; x = x + 1; x = x + 1 }", &[("x", &[0, 1, 2, 3])]);
    // Of two branches one runs.
    has_values("var x process p { choose { x = x + 1 } or { x = x + 1 } }", &[("x", &[0, 1])]);
    // Through a second variable: either store may be the second.
    has_values(
        "var x, y process p { y = x + 1 } process q { x = y + 1 }",
        &[("x", &[0, 1, 2]), ("y", &[0, 1, 2])],
    );
    // Under a lock that is taken in a loop, the increment is in none.
    has_values(
        "var lock, x process p[i: 0..1] { while not cas(lock, 0, 1) { } x = x + 1; lock = 0 }",
        &[("lock", &[0, 1]), ("x", &[0, 1, 2])],
    );
}

/// A read that is guessed may return any value, so there have to be finitely many.
#[test]
fn a_counter_without_bound_is_refused_by_name_where_reads_are_guessed() {
    let (message, declared, at) = refused("var n process p { loop { n = n + 1 } }");
    assert_eq!(message, "variable `n` has no finite domain to guess reads from");
    assert_eq!((declared.as_str(), at.as_str()), ("n", "n"));

    let (message, declared, at) = refused("var a[2] process p { loop { a[1] = a[1] + 1 } }");
    assert_eq!(message, "variable `a[1]` has no finite domain to guess reads from");
    assert_eq!(declared, "a");
    assert!(at.starts_with('a'), "{at}");

    let (message, ..) = refused("var x process p[i: 0..1] { loop { fetch_add(x, 1) } }");
    assert_eq!(message, "variable `x` has no finite domain to guess reads from");

    // What nobody reads need not be guessed.
    let text = "var x process p { reg r; loop { r = r + 1; x = 1 } }";
    System::for_model(read(text).0, MemoryModel::GUESS).expect("`x` has two values");
}

/// Registers that are not needed any more do not count.
#[test]
fn only_live_registers_make_control_states() {
    let system = build(
        "var x
         process p {
             reg a, b, c
             a = any(0..63); x = a % 2
             b = any(0..63); x = b % 2
             c = any(0..63); x = c % 2
         }",
    );
    let count = expanded(&system).states(ProcessId(0)).count();
    assert!(count < 250, "{count}");
}

#[test]
fn values_of_registers_that_compute_for_a_while() {
    has_values(
        "var x process p { reg r = 5, s; while r > 0 { s = s + r; r = r - 1 } x = s }",
        &[("x", &[0, 15])],
    );
    has_values(
        "var x process p { reg r = 1000; while r > 0 { r = r - 1 } x = r + 1 }",
        &[("x", &[0, 1])],
    );
    // Many rounds over few values.
    has_values(
        "var x
         process p {
             reg a, b, c
             while a < 60 {
                 b = 0
                 while b < 60 { b = b + 1; c = (c + 1) % 7 }
                 a = a + 1
             }
             x = c
         }",
        &[("x", &[0, 3600 % 7])],
    );
}

#[test]
fn loops_that_do_nothing_are_built() {
    let system = build("process p { loop { } }");
    assert!(kinds(&system).iter().all(|k| *k == StateKind::Inside));
    assert!(!system.is_loop_free());
    for text in [
        "process p { loop { loop { } } }",
        "process p { reg r; loop { r = (r + 1) % 100 } }",
        "process p { reg r; while true { if r == 0 { continue } } }",
        "process p { again: goto again }",
    ] {
        let system = build(text);
        assert!(kinds(&system).iter().all(|k| *k == StateKind::Inside), "{text}");
        assert_eq!(system.excess(), None, "{text}");
    }
}

#[test]
fn an_assertion_that_fails_is_a_control_state() {
    let system = build("var x process p { assert x == 0 } process q { x = 1 }");
    assert_eq!(kinds(&system).iter().filter(|k| matches!(k, StateKind::Failed(_))).count(), 1);
}
