//! What is true of the system of a program: which values it reaches, what fails, what counts
//! as a deadlock, and where a process stands.
//!
//! Programs are written in the Weir language. The explicit engine answers, exactly.
//! `weir-model/tests/system_build.rs` is about systems that nobody searches.

use std::time::Duration;

use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_model::answer::{Evidence, Verdict};
use weir_model::ids::QuestionId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::question::Kind;
use weir_model::system::{Failure, System};

#[track_caller]
fn read(text: &str) -> (Program, weir_front::Source) {
    weir_front::read("test.weir", text, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render("test.weir", text, false)))
}

#[track_caller]
fn build(text: &str) -> System {
    System::new(read(text).0).unwrap_or_else(|e| panic!("{e:?}"))
}

/// What is asked first, by a search that may store little: the verdict, and if it is unknown
/// the reason and what has grown.
#[track_caller]
fn within_little(text: &str) -> (Verdict, Option<String>, Option<(String, usize)>) {
    let system = build(text);
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 20), ..SearchOptions::default() };
    let (answers, stats) =
        Explicit.check(Task::new(&system, MemoryModel::SC, &options), &mut |_| {}).unwrap();
    let reason = match &answers[0].evidence {
        Evidence::Reason(reason) => Some(reason.clone()),
        _ => None,
    };
    (answers[0].verdict, reason, stats.growth)
}

/// The verdicts on all properties, exactly.
#[track_caller]
fn verdicts(text: &str, model: MemoryModel) -> Vec<Verdict> {
    let (program, _) = weir_front::read("test.weir", text, None).expect("a program");
    let system = System::for_model(program, model).expect("a system");
    let options = SearchOptions {
        budget: Budget::new().with_time(Duration::from_secs(20)),
        ..SearchOptions::default()
    };
    let (answers, _) = Explicit.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    answers
        .iter()
        .map(|a| {
            assert_ne!(a.verdict, Verdict::Unknown, "{:?}", a.evidence);
            a.verdict
        })
        .collect()
}

/// All properties hold, or none does, under SC and TSO.
#[track_caller]
fn all(expected: Verdict, text: &str) {
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        for (i, found) in verdicts(text, model).into_iter().enumerate() {
            assert_eq!(found, expected, "property {i} under {model} of {text}");
        }
    }
}

/// The failure in the state that violates the assertions.
#[track_caller]
fn failure(text: &str) -> Failure {
    let system = build(text);
    let (answers, _) = Explicit
        .check(Task::new(&system, MemoryModel::SC, &SearchOptions::default()), &mut |_| {})
        .unwrap();
    let is_asked = |i: QuestionId| system.questions[i.index()].kind == Kind::Assertions;
    let answer = answers.iter().find(|a| is_asked(a.property)).expect("assertions are asked about");
    assert_eq!(answer.verdict, Verdict::Violated, "{text}");
    let Evidence::Run(run) = &answer.evidence else { panic!("no run") };
    system.failed(&run.end(&system).controls).expect("somebody failed").1.clone()
}

// ---- values -----------------------------------------------------------------

/// A value that is found by a store that runs once, and then by one in a loop,
/// uses up none of the stores that run once.
#[test]
fn values_come_by_the_shortest_way() {
    for loops in ["loop { nop; x = 1 }", "loop { nop; nop; nop; x = 1; x = 0 }"] {
        let text = format!(
            "var x
             process p {{ reg r; r = fetch_xor(x, 1) }}
             process q {{ {loops} }}"
        );
        all(Verdict::Violated, &format!("{text} never p.r == 1 never p.r == 0"));
        let found = verdicts(&format!("{text} no deadlock"), MemoryModel::SC);
        assert_eq!(found, [Verdict::Holds], "{text}");
    }
    all(
        Verdict::Holds,
        "var x
         process p { reg r; r = fetch_xor(x, 1) }
         process q { reg r; r = cmpxchg(x, 0, 1) }
         no deadlock
         final exists p.r == 1
         final exists q.r == 1",
    );
}

/// Where writes overtake reads, a store may run before the read that it comes
/// after, and so be where the value that is read comes from (Atig et al. 2012, section 3.6).
#[test]
fn stores_may_depend_on_themselves_where_writes_overtake_reads() {
    let text = "
        var x, y
        process p { reg r; r = y; x = max(r, 1) }
        process q { reg r; r = x; y = r }
        never p.r == 1
        final never p.r == 1 and q.r == 1
    ";
    for model in ["SC+r->w", "TSO+r->w", "NSW+r->w"] {
        let found = verdicts(text, model.parse().expect("a model"));
        assert_eq!(found, [Verdict::Violated; 2], "{model}");
    }
    for (name, model) in MemoryModel::NAMED {
        assert_eq!(verdicts(text, model), [Verdict::Holds; 2], "{name}");
    }
}

/// Of two increments, none is too many for the analysis and none is missing.
#[test]
fn values_of_increments_are_reached() {
    all(
        Verdict::Violated,
        "var x process p[i: 0..1] { x = x + 1 } never x == 0 never x == 1 never x == 2",
    );
}

// ---- what has no bound ------------------------------------------------------

/// A search of what has no end finds what there is to find, and otherwise ends where a
/// limit ends it, with the name of what has no bound.
#[test]
fn a_counter_without_bound_is_unknown_by_name() {
    for (text, name) in [
        ("var n process p { loop { n = n + 1 } }", "n"),
        ("var a[2] process p { loop { a[1] = a[1] + 1 } }", "a[1]"),
        ("var x process p { reg r; loop { r = r + 1; x = 1 } }", "p.r"),
        ("var x process p[i: 0..1] { loop { fetch_add(x, 1) } }", "x"),
    ] {
        let never = |value| within_little(&format!("{text} never {name} == {value}"));
        assert_eq!(never(30), (Verdict::Violated, None, None), "{text}");
        let (verdict, reason, growth) = never(-1);
        assert_eq!(verdict, Verdict::Unknown, "{text}");
        assert!(reason.expect("a reason").contains("memory limit"), "{text}");
        let (grown, count) = growth.expect("something grows");
        assert!(grown == name && count > 1000, "{text}: {grown} took {count} values");
    }
}

/// Runs up to there are followed.
#[test]
fn what_does_not_fit_128_bits_is_unknown() {
    for (text, found) in [
        ("var x = 1 process p { loop { x = x * 2 } }", "x == 1024"),
        ("var x = 1 process p { reg r = 1; loop { r = r * 2 } }", "p.r == 1024"),
        ("var x = 1 process p { loop { x = x << 1 } }", "x == 1024"),
        ("var x = 2 process p { loop { x = x * x } }", "x == 256"),
    ] {
        let never = |formula: &str| within_little(&format!("{text} never {formula}"));
        assert_eq!(never(found), (Verdict::Violated, None, None), "{text}");
        let (verdict, reason, _) = never("x == 3");
        assert_eq!(verdict, Verdict::Unknown, "{text}");
        let reason = reason.expect("a reason");
        assert!(reason.contains("a value does not fit 128 bits"), "{text}: {reason}");
    }
}

#[test]
fn too_many_control_states_are_unknown() {
    let (verdict, reason, _) = within_little(
        "var x
         process p {
             reg a, b, c
             a = any(0..63); b = any(0..63); c = any(0..63)
             x = (a + b + c) % 2
         }
         never x == 2",
    );
    assert_eq!(verdict, Verdict::Unknown);
    assert!(reason.as_deref().is_some_and(|r| r.contains("memory limit")), "{reason:?}");
}

#[test]
fn registers_alone_may_compute_for_a_while() {
    all(
        Verdict::Holds,
        "var x process p { reg r = 1000; while r > 0 { r = r - 1 } x = 1 }
         final always x == 1
         final exists x == 1
         no deadlock",
    );
}

// ---- failures ---------------------------------------------------------------

#[test]
fn values_outside_a_declared_domain_fail() {
    let domain = |name: &str, value| Failure::Domain(name.into(), value);
    assert_eq!(failure("var x: 0..1 process p[i: 0..1] { x = x + 1 }"), domain("x", 2));
    assert_eq!(failure("var x: 0..1 process p { loop { x = x + 1 } }"), domain("x", 2));
    assert_eq!(failure("var x: 0..1 process p[i: 0..1] { fetch_add(x, 1) }"), domain("x", 2));
    assert_eq!(failure("var a[2]: bool process p { a[1] = a[0] + 2 }"), domain("a[1]", 2));
    assert_eq!(failure("var x = 2 process p { reg r: 0..1; r = x }"), domain("p.r", 2));
    assert_eq!(failure("process p { reg r, s: 0..3; r = any(0..9); s = r }"), domain("p.s", 4));
    all(Verdict::Holds, "var x: 0..2 process p[i: 0..1] { x = x + 1 } assertions");
    // What cannot be, need not be admitted.
    all(
        Verdict::Holds,
        "var x: 0..1 process p { reg r; r = x; if r == 1 { x = r + 1 } } assertions",
    );
}

#[test]
fn an_index_outside_its_array_fails() {
    assert_eq!(failure("var a[2] process p { reg i; i = any(0..2); a[i] = 1 }"), Failure::Index(2));
    assert_eq!(failure("var a[2], x process p { reg r; r = a[x - 1] }"), Failure::Index(-1));
    assert_eq!(
        failure("var a[2], x = 7 process p { reg r = 5; swap(a[x], r) }"),
        Failure::Index(7)
    );
    all(
        Verdict::Holds,
        "var a[2] process p { reg i; i = any(0..2); if i < 2 { a[i] = 1 } } assertions",
    );
}

#[test]
fn an_index_is_checked_without_an_array() {
    assert_eq!(failure("var x process p { reg i = 3, r; r = index(i, 3) }"), Failure::Index(3));
    assert_eq!(
        failure("var x process p { reg i; i = x - 1; swap(x, index(i, 2)) }"),
        Failure::Index(-1)
    );
    all(
        Verdict::Holds,
        "var x process p { reg i, r; i = any(0..2); r = index(i, 3); x = r } assertions",
    );
}

#[test]
fn a_division_by_zero_fails() {
    assert_eq!(failure("var x, y process p { reg r; r = x; y = 4 / r }"), Failure::DivisionByZero);
    assert_eq!(
        failure("var x, y process p { reg r; r = x; if 4 % r == 0 { y = 1 } } assertions"),
        Failure::DivisionByZero
    );
    assert_eq!(
        failure("var x process p { reg r; fetch_div(x, r) } assertions"),
        Failure::DivisionByZero
    );
    all(
        Verdict::Holds,
        "var x, y
         process p { reg r; r = x; if r != 0 and 4 / r > 1 { y = 4 / r } }
         process q { x = any(0..4) }
         assertions",
    );
}

#[test]
fn an_assertion_fails_in_its_place() {
    assert_eq!(
        failure("var x process p { assert x == 0 } process q { x = 1 }"),
        Failure::Assertion
    );
    // A process that failed is no deadlock, and has not ended.
    let found = verdicts(
        "var x process p { reg r; r = x; assert r == 1; x = 2 }
         assertions no deadlock final exists x == 0 never x == 2",
        MemoryModel::SC,
    );
    assert_eq!(found, [Verdict::Violated, Verdict::Holds, Verdict::Violated, Verdict::Holds]);
}

// ---- deadlocks --------------------------------------------------------------

#[test]
fn waiting_for_what_does_not_come_is_a_deadlock() {
    for text in [
        "var x process p { await x == 1 }",
        "var x process p { await x == 1 } process q { x = 2 }",
        "var x process p { reg r; await { r = x } until r == 1 or r == 2 }",
        "var x, y process p { await x == 1 and y == 1 }",
        "var x, y process p { await x == 1 and y == 1 } process q { x = 1 }",
        "var x, y process p { await x == 1 and y == 1 } process q { y = 1 }",
        "var x, y process p { await x == 1 or y == 1 }",
        "var x, y process p { await x == 1 or y == 1 } process q { x = 2; y = 2 }",
        "var x, y
         process p { await x == 1; y = 1 }
         process q { await y == 1; x = 1 }",
        "var x, y
         process p { await x == 1 and y == 0; y = 1 }
         process q { await y == 1 or x == 2; x = 1 }",
        // What came may be gone.
        "var x process p { await x == 1 } process q { x = 1; x = 0 }",
        "var x process p { assume x == 1 }",
        "var x process p { await x == 1 } process q { loop { await x == 2 } }",
    ] {
        all(Verdict::Violated, &format!("{text} no deadlock"));
    }
}

#[test]
fn waiting_for_what_comes_is_no_deadlock() {
    for text in [
        "var x process p { x = 1 }",
        "var x process p { await x == 1 } process q { x = 1 }",
        "var x, y process p { await x == 1 and y == 1 } process q { x = 1; y = 1 }",
        "var x, y process p { await x == 1 or y == 1 } process q { x = 1 }",
        "var x, y process p { await x == 1 or y == 1 } process q { y = 1 }",
        "var x, y process p { await not (x == 0 and y == 0) } process q { y = 1 }",
    ] {
        all(Verdict::Holds, &format!("{text} no deadlock"));
    }
}

#[test]
fn a_loop_that_goes_on_is_no_deadlock() {
    for text in [
        "var x process p { loop { await x == 0 } }",
        "var x, y process p { loop { await x == 0; await y == 0 } }",
        "var x, y process p { loop { await x == 0 and y == 0 } }",
        "var x, y process p { loop { await x == 0 or y == 1; await y == 0 or x == 1 } }",
        "var x process p { loop { await x == 0; x = 1 } } process q { loop { await x == 1; x = 0 } }",
        "var x process p { while x == 0 { } }",
        "var x process p { loop { } }",
        // One who goes round for ever is not stuck, whoever waits.
        "var x process p { loop { } } process q { await x == 1 }",
        "var x process p { while x == 0 { } } process q { await x == 1 }",
        "var x process p { reg r; loop { r = 1 - r } } process q { await x == 1 }",
    ] {
        all(Verdict::Holds, &format!("{text} no deadlock"));
    }
}

/// The same in models that keep reads for later.
#[test]
fn deadlocks_are_the_same_in_every_model() {
    for (name, model) in MemoryModel::NAMED {
        for (text, expected) in [
            ("var x process p { await x == 1 }", Verdict::Violated),
            ("var x process p { await x == 1 } process q { x = 1 }", Verdict::Holds),
            (
                "var x, y process p { await x == 1; y = 1 } process q { await y == 1; x = 1 }",
                Verdict::Violated,
            ),
        ] {
            assert_eq!(
                verdicts(&format!("{text} no deadlock"), model),
                [expected],
                "{name} {text}"
            );
        }
    }
}

#[test]
fn loops_that_do_nothing_have_no_final_state() {
    all(
        Verdict::Holds,
        "var x process p { loop { } x = 1 } never x == 1 final never x == 0 no deadlock",
    );
}

// ---- labels -----------------------------------------------------------------

/// Each property, and whether some state is as it says, under SC.
#[track_caller]
fn places(program: &str, asked: &[(&str, bool)]) {
    let properties: String = asked.iter().map(|(p, _)| format!("never {p}\n")).collect();
    let found = verdicts(&format!("{program}\n{properties}"), MemoryModel::SC);
    for ((property, expected), found) in asked.iter().zip(found) {
        assert_eq!(found == Verdict::Violated, *expected, "{property} in {program}");
    }
}

#[test]
fn a_process_is_at_the_label_of_its_next_action() {
    places(
        "var x, y process p { a: x = 1; b: y = 1; c: }",
        &[
            ("p@a", true),
            ("p@b", true),
            ("p@c", true),
            ("p@a and x == 1", false),
            ("p@b and x == 0", false),
            ("p@b and y == 1", false),
            ("p@c and y == 0", false),
            ("x == 0 and not p@a", false),
            ("x == 1 and y == 0 and not p@b", false),
            ("y == 1 and not p@c", false),
            ("p@a and p@b or p@b and p@c", false),
        ],
    );
    // An expression with two loads is one action of the statement, in parts.
    places(
        "var x, y process p { a: x = x + 1; b: }",
        &[("p@a and x == 1", false), ("p@b and x == 0", false), ("p@b", true), ("p@a", true)],
    );
}

#[test]
fn labels_before_fences_and_atomics() {
    places(
        "var x process p { a: fence; b: fetch_add(x, 1); c: rfence; d: nop; e: wfence }",
        &[
            ("p@a and p@b", false),
            ("p@a and x == 1", false),
            ("p@b and x == 1", false),
            ("p@c and x == 0", false),
            ("p@a", true),
            ("p@b", true),
            ("p@c", true),
            ("p@d", true),
            ("p@e", true),
        ],
    );
}

#[test]
fn labels_before_if() {
    places(
        "var x, y process p { l: if x == 0 { m: y = 1 } n: }",
        &[
            ("p@l", true),
            ("p@m", true),
            ("p@n", true),
            ("p@l and (p@m or p@n)", false),
            ("p@m and y == 1", false),
            ("p@n and y == 0", false),
        ],
    );
    places(
        "var x, y process p { reg r; l: if r == 0 { x = 1 } else { y = 1 } }",
        &[("p@l", true), ("p@l and x == 1", false), ("y == 1", false)],
    );
}

#[test]
fn labels_around_loops() {
    // Before the loop is its head, to which the process comes back.
    places(
        "var x process p { l: loop { m: x = 1 - x } }",
        &[
            ("p@l and x == 0", true),
            ("p@l and x == 1", true),
            ("p@m and x == 0", true),
            ("p@m and x == 1", true),
        ],
    );
    places(
        "var x process p { loop { x = (x + 1) % 3; l: } }",
        &[("p@l and x == 0", true), ("p@l and x == 1", true), ("p@l and x == 2", true)],
    );
    places(
        "var x process p { loop { if x == 1 { break } x = 1 } l: x = 2 }",
        &[("p@l", true), ("p@l and x != 1", false)],
    );
    places(
        "var x process p { again: if x == 0 { goto again } done: } process q { x = 1 }",
        &[
            ("p@again and x == 0", true),
            ("p@again and x == 1", true),
            ("p@done and x == 0", false),
            ("p@done", true),
        ],
    );
}

#[test]
fn labels_at_the_end_of_a_block() {
    places(
        "var x, y process p { reg r; if r == 0 { x = 1; l: } y = 1 }",
        &[("p@l", true), ("p@l and x == 0", false), ("p@l and y == 1", false)],
    );
    places(
        "var x, y process p { choose { x = 1; l: } or { x = 2 } y = 1 }",
        &[("p@l and x == 1", true), ("p@l and x != 1", false), ("p@l and y == 1", false)],
    );
}

/// A process that ends at a label is there for good.
#[test]
fn labels_at_the_end_of_a_process() {
    all(Verdict::Holds, "var x process p { x = 2; done: } final always p@done final exists p@done");
    all(
        Verdict::Holds,
        "var x
         process p { again: if x == 0 { goto again } x = 2; done: }
         process q { x = 1 }
         final always not p@again and (x == 1 or p@done)",
    );
    // Only where it ends there.
    let found = verdicts(
        "var x
         process p { reg r; r = x; if r == 1 { exit } x = 2; done: also: }
         process q { x = 1 }
         final always p@done
         final exists p@done
         final never p@done and p.r == 1
         final always p@done or p.r == 1
         final never p@done and not p@also or p@also and not p@done",
        MemoryModel::SC,
    );
    let expected =
        [Verdict::Violated, Verdict::Holds, Verdict::Holds, Verdict::Holds, Verdict::Holds];
    assert_eq!(found, expected);
}

/// Labels of one statement are one place.
#[test]
fn several_labels_at_one_statement() {
    for statement in [
        "x = 1",
        "if r == 0 { x = 1 }",
        "loop { x = 1 }",
        "r = 1",
        "choose { x = 1 } or { x = 2 }",
        "r = any(0..1)",
        "await x == 0",
        "assert r == 0",
        "",
    ] {
        places(
            &format!("var x process p {{ reg r; nop; a: b: {statement} }}"),
            &[("p@a", true), ("p@b", true), ("p@a and not p@b", false), ("p@b and not p@a", false)],
        );
    }
}

/// A process whose next action is the statement is at its label, whatever the
/// statement is.
#[test]
fn a_process_is_nowhere_only_between_statements() {
    places(
        "var x process p { l: choose { a: x = 1 } or { b: x = 2 } }",
        &[("not (p@l or p@a or p@b) and x == 0", false)],
    );
    places(
        "var x process p { reg r; l: r = any(0..1); a: x = 1 }",
        &[("not (p@l or p@a) and x == 0", false), ("p@a and p.r == 1", true)],
    );
    places(
        "var x process p { reg r; l: r = 2; a: x = 1 }",
        &[
            ("not (p@l or p@a) and x == 0", false),
            ("p@l and p.r == 2", false),
            ("p@a and p.r == 0", false),
        ],
    );
    // One who is stopped by `assume` stands before it.
    places(
        "var x process p { reg r; l: assume r == 1; x = 1 }",
        &[("p@l", true), ("not p@l", false)],
    );
}

// ---- registers --------------------------------------------------------------

#[test]
fn never_sees_every_value_of_a_register() {
    places(
        "process p { reg r; r = 2; r = 3 }",
        &[("p.r == 0", true), ("p.r == 2", true), ("p.r == 3", true), ("p.r == 1", false)],
    );
    places(
        "process p { reg r = 3; while r > 0 { r = r - 1 } }",
        &[("p.r == 3", true), ("p.r == 2", true), ("p.r == 1", true), ("p.r == 0", true)],
    );
    // Two registers change one after the other.
    places(
        "process p { reg r, s; r = 1; s = 1 }",
        &[("p.r == 1 and p.s == 0", true), ("p.r == 0 and p.s == 1", false)],
    );
    places(
        "var x = 4 process p { reg r; r = x; r = 5; x = r }",
        &[("p.r == 4", true), ("p.r == 5 and x == 4", true), ("p.r == 4 and x == 5", false)],
    );
    places(
        "process p { reg r; r = 1; assume r == 0; r = 2 }",
        &[("p.r == 1", true), ("p.r == 2", false)],
    );
}

/// What a register held last is there at the end, even if nobody uses it.
#[test]
fn final_sees_the_last_value_of_a_register() {
    all(
        Verdict::Holds,
        "var x process p { reg r, s; r = 1; s = 2; r = 3; x = 1 }
         final always p.r == 3 and p.s == 2 and x == 1
         final never p.r == 1",
    );
}
