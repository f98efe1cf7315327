//! Answers that depend on what a formula, a model or a checker means where that is easy to get wrong.

use std::time::Duration;

use weir::{ENGINES, Limits, MemoryModel, TURNS, Verdict, Verifier, engine};
use weir_check::{Witness, check};
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_gen::{Rng, Shape, program, setting};
use weir_model::answer::Evidence;
use weir_model::ids::QuestionId;
use weir_model::system::System;

fn model(name: &str) -> MemoryModel {
    name.parse().unwrap()
}

fn system(text: &str, model: MemoryModel) -> System {
    let (program, _) = weir_front::read("answers.weir", text, None).unwrap();
    System::for_model(program, model).unwrap()
}

/// Verdicts of all questions by an engine, every run and proof accepted by its checker.
fn verdicts(text: &str, model: MemoryModel, engine: &'static dyn Engine) -> Vec<(String, Verdict)> {
    let report = Verifier::new(text).model(model).engine(engine).check().unwrap();
    report.findings.iter().map(|f| (f.name().to_owned(), f.verdict)).collect()
}

/// A state in which a formula has no value violates the property, whatever the engine.
#[test]
fn a_formula_without_a_value_violates_its_property() {
    let text = "
        var x, y
        process p { x = 1  x = 2 }
        divides: always 1 / x >= 0
        negated: never not (1 / x >= 0)
        large: always x * 170141183460469231731687303715884105727 >= 0
        small: never x * 170141183460469231731687303715884105727 < 0
        shifts: always 1 << 100 * x >= 0
        last: final always 1 / (x - 2) >= 0
        lastly: final never not (1 / (x - 2) >= 0)
        guarded: always x == 0 or 1 / x >= 0
        once: final exists 1 / (x - 2) == 7
        fine: final exists x == 2
    ";
    for name in ["sc", "tso", "pso", "nsw", "tso+r->r"] {
        let model = model(name);
        for engine in ENGINES.into_iter().filter(|e| e.decides(model)) {
            let expected = |name: &str| match name {
                "guarded" | "fine" => Verdict::Holds,
                _ => Verdict::Violated,
            };
            let found = verdicts(text, model, engine);
            assert_eq!(found.len(), 11, "{found:?}");
            for (question, verdict) in found {
                // These engines leave memory while writes are under way to others.
                let may_be_unknown = ["backward", "channels"].contains(&engine.name());
                assert!(
                    verdict == expected(&question) || verdict == Verdict::Unknown && may_be_unknown,
                    "{question} under {name} by {}: {verdict:?}",
                    engine.name()
                );
            }
        }
    }
    let report = Verifier::new(text).check().unwrap();
    let run = report.finding("divides").unwrap().run().unwrap().to_string();
    assert!(run.contains("division by zero in `divides`"), "{run}");
    let run = report.finding("value of once").unwrap().run().unwrap().to_string();
    assert!(run.contains("division by zero in `once`"), "{run}");
}

/// The same for formulas about runs without end.
#[test]
fn a_temporal_formula_without_a_value_is_violated() {
    let text = "
        var x, y
        process p { x = 1  loop { y = 1 - y } }
        a: ltl always 1 / x == 1
        b: ltl eventually not (1 / x == 1)
        c: live exists 1 / x == 1
        d: live never 1 / x == 5
        e: live always x == 1 or 1 / x == 1
        f: ltl always (x == 0 or 1 / x == 1)
        g: live exists x != 0 and 1 / x == 1
    ";
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let report = Verifier::new(text).model(model).live().unwrap();
        for answer in &report.findings {
            let expected = match answer.name() {
                "f" | "g" => Verdict::Holds,
                _ => Verdict::Violated,
            };
            assert_eq!(answer.verdict, expected, "{} under {model}", answer.name());
            if expected == Verdict::Violated {
                let run = answer.run().unwrap().to_string();
                assert!(run.contains("division by zero in"), "{run}");
            }
        }
    }
}

/// A process that toggles `x` and loops, and one that waits for one toggle more.
fn toggles(count: usize, over_memory: bool) -> String {
    let value = |i: usize| 1 - i % 2;
    let writes: String = (0..count).map(|i| format!("x = {}  ", value(i))).collect();
    let waits: String = (0..=count).map(|i| format!("await x == {}  ", value(i))).collect();
    let (last, asked) = match over_memory {
        true => ("bad = 1", "bad == 1"),
        false => ("there: nop", "q@there"),
    };
    format!(
        "var x: bool, y: bool, bad: bool
         process p {{ {writes} loop {{ y = 1  y = 0 }} }}
         process q {{ {waits} {last} }}
         never {asked}"
    )
}

#[test]
fn long_histories_are_decided() {
    for count in [4, 5, 12] {
        for over_memory in [false, true] {
            let text = toggles(count, over_memory);
            for name in ["tso", "pso", "nsw", "tso+r->r", "w->r", "w->r, w->w"] {
                let found = verdicts(&text, model(name), ENGINES[0]);
                let verdict = found[0].1;
                assert_eq!(verdict, Verdict::Holds, "{count} toggles under {name}: {text}");
            }
            let reached = text.replace(&"await x == 1  ".to_owned(), "");
            for name in ["tso", "pso", "nsw", "tso+r->r"] {
                let verdict = verdicts(&reached, model(name), ENGINES[0])[0].1;
                assert_eq!(verdict, Verdict::Violated, "{count} toggles under {name}: {reached}");
            }
        }
    }
}

/// What holds under NSW holds under every set of relaxations inside it.
#[test]
fn sets_inside_nsw_are_decided_through_it() {
    let text = "
        var x, y
        process p { loop { x = 1  x = 0 } }
        process q { reg r  loop { r = x  y = r } }
        never y == 2
    ";
    for model in MemoryModel::all() {
        let is_inside = model.relaxations().all(|r| MemoryModel::NSW.has(r));
        if is_inside {
            assert_eq!(verdicts(text, model, ENGINES[0])[0].1, Verdict::Holds, "{model}");
        }
    }
    // Without RWF a fence orders nothing: NSW is asked about the program without it.
    let fenced = "
        var x, y
        process p { loop { x = 1  wfence  y = 1 } }
        process q { reg r, s  loop { r = y  rfence  s = x  here: nop } }
        never q@here and q.r == 1 and q.s == 0
    ";
    let of = |name: &str| verdicts(fenced, model(name), ENGINES[0])[0].1;
    assert_eq!(of("nsw"), Verdict::Holds);
    assert_eq!(of("w->w, r->r, rwf"), Verdict::Holds);
    assert_eq!(of("w->w, r->r"), Verdict::Violated);
    // TSO keeps writes in order, also with r->r.
    assert_eq!(of("tso+r->r"), Verdict::Violated);
    assert_eq!(of("tso+r->r+rwf"), Verdict::Holds);
}

/// Each turn of the portfolio answers what it decides as the others do.
#[test]
fn turns_can_be_asked_alone() {
    let text = "
        var x, y
        process p { x = 1  fence  y = 1 }
        process q { reg r  r = y  fence  r = x }
        never y == 2
    ";
    for turn in TURNS {
        let name = turn.name();
        assert_eq!(engine(name).map(Engine::name), Some(name));
        let model = if name == "auto-inclusion" { model("tso+r->r") } else { MemoryModel::TSO };
        assert_ne!(verdicts(text, model, turn)[0].1, Verdict::Violated, "{name}");
    }
    assert!(ENGINES.iter().all(|e| TURNS.iter().all(|turn| turn.name() != e.name())));
}

/// The checker follows every order in which operations can have been brought together.
#[test]
fn a_run_with_many_orders_is_accepted() {
    let writes = |name: &str| -> String { (1..=16).map(|i| format!("{name} = {i}  ")).collect() };
    let text = format!(
        "var x, y, z
         process p {{ reg r, s  x = 1  {} {} r = y  s = x  done: }}
         process q {{ y = 99 }}
         never p@done and p.r == 99 and p.s == 1 and x == 0",
        writes("z"),
        writes("y")
    );
    let model = model("w->r, w->w, r->w, rlwe");
    let system = system(&text, model);
    let options = SearchOptions { bound: Some(40), ..SearchOptions::default() };
    let (answers, _) = Explicit.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    let Evidence::Run(run) = &answers[0].evidence else { panic!("{answers:?}") };
    check(&system, &Witness::new(&system, run, QuestionId(0), &|_| 0)).unwrap();
}

/// What could not be looked at is listed with what may be violated.
#[test]
fn what_is_asked_does_not_depend_on_limits() {
    for text in [
        "var a[2], i  process p { reg r  r = i  a[r] = 1  i = 2 }  process q { reg r  r = i  a[r] = 1 }
         never a[0] == 7",
        "var x: 0..1  process p { reg r  r = x  x = r + 1 }  never x == 7",
        "var x  process p { reg r  r = x  x = 1 / r }  never x == 7",
    ] {
        let names = |limits: Limits| -> Vec<String> {
            let report = Verifier::new(text).limits(limits).check().unwrap();
            report.findings.iter().map(|f| f.name().to_owned()).collect()
        };
        let none = Limits::default().time(Duration::ZERO);
        assert_eq!(names(none), ["never", "assertions"], "{text}");
        assert_eq!(names(Limits::default()), ["never", "assertions"], "{text}");
        assert_eq!(asked(&unbuilt(text)), ["never", "assertions"], "{text}");
    }
    // What the text settles is not asked.
    let text = "var x: 0..1  process p { x = 1 }  never x == 7";
    assert_eq!(asked(&unbuilt(text)), ["never"]);
}

/// The questions of a program whose system a limit kept from being built.
fn unbuilt(text: &str) -> System {
    System::unbuilt(weir_front::read("answers.weir", text, None).unwrap().0)
}

fn asked(system: &System) -> Vec<&str> {
    system.questions.iter().map(|question| question.name.as_str()).collect()
}

/// Whatever is asked of a program is asked as well if a limit keeps its system from being built.
#[test]
fn everything_that_may_be_violated_is_asked_without_a_system() {
    let mut more = 0;
    let seed = setting("WEIR_SEED", 1);
    for case in seed..seed + setting("WEIR_CASES", 300) {
        let program =
            program(&mut Rng::new(case), &Shape { locals: case % 2 == 0, ..Shape::rich() });
        let text = weir_front::weir::print(&program);
        let all = System::unbuilt(program.clone());
        let Ok(system) = System::for_model(program, MemoryModel::TSO) else { continue };
        let listed = asked(&all);
        let missing = asked(&system).into_iter().find(|name| !listed.contains(name));
        assert_eq!(missing, None, "WEIR_SEED={case}: {listed:?}\n{text}");
        more += usize::from(asked(&system).contains(&"assertions"));
    }
    assert!(more > 0, "nothing fails in any program");
}

/// A state in which a process has failed is no deadlock.
#[test]
fn a_failure_is_no_deadlock() {
    let text = "
        var x
        process p { assert x == 1 }
        process q { await x == 2 }
        no deadlock
    ";
    for engine in ENGINES.into_iter().filter(|engine| engine.decides(MemoryModel::TSO)) {
        let found = verdicts(text, MemoryModel::TSO, engine);
        assert_eq!(found[0].1, Verdict::Holds, "{}", engine.name());
        assert_eq!(found[1].1, Verdict::Violated, "{}", engine.name());
    }
    let page = include_str!("../../../docs/language.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("A state in which a process has failed is no deadlock"));
}

/// A process that fails whatever it reads reads all the same: what others write matters to it.
#[test]
fn a_read_that_always_fails_is_a_read() {
    for (write, domain) in [("fetch_add(x, 3)", "bool"), ("swap(x, 9)", "0..3")] {
        for before in ["", "y = 1  r = y  "] {
            let text = format!(
                "var x: {domain}, y
                 process p {{ x = 1 }}
                 process q {{ reg r  {before} r = {write} }}
                 never y == 2"
            );
            for engine in ENGINES.into_iter().filter(|engine| engine.decides(MemoryModel::TSO)) {
                let found = verdicts(&text, MemoryModel::TSO, engine);
                assert_eq!(found[1].1, Verdict::Violated, "{text} by {}", engine.name());
            }
        }
    }
}
