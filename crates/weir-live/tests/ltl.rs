//! Formulas of linear temporal logic: by hand, and on random programs against the reference, the
//! checker of lassos and the checker of live sets.

use weir_check::lasso::{Asked, Lasso};
use weir_check::live_set::{self, LiveSet};
use weir_engine::reachable;
use weir_gen::{Rng, Shape, ask_ltl, program, reference};
use weir_live::graph::Extent;
use weir_live::{Evidence, Options, Question, answers, fold};
use weir_model::answer::Verdict;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, LiveKind, Program, Runs};
use weir_model::system::System;

use crate::common::{seeds, tso};

/// The answers to the questions of a program. What they rest on is checked.
fn checked(program: &Program, options: &Options) -> Vec<(Verdict, &'static str)> {
    let system = System::with_rounds(program.clone()).unwrap();
    let questions: Vec<_> = program.live.iter().map(|l| Question::Live(&l.kind)).collect();
    let found = answers(&system, &questions, options);
    let mut verdicts = Vec::new();
    for (i, answer) in found.into_iter().enumerate() {
        let asked = Asked::Live(i);
        let about = (options.model, options.flush_fair);
        let what = match &answer.evidence {
            Evidence::Lasso(lasso) => {
                let run = (&lasso.run, lasso.stem);
                let file = Lasso::new(&system, None, asked, options.flush_fair, run, &|_| 0);
                let accepted = weir_check::lasso::check(program, &file);
                assert_eq!(accepted, Ok(()), "{}", shown(program));
                if file.cycle.is_empty() { "ends" } else { "cycle" }
            }
            Evidence::Exhausted(_) => {
                let set =
                    reachable::configurations(&system, options.model, &Budget::new()).unwrap();
                let file = LiveSet::new(&system, None, about, vec![asked], (None, &set));
                assert_eq!(live_set::check(&system, &file), Ok(()), "{}", shown(program));
                "all"
            }
            Evidence::Folded { level, .. } => {
                let set = fold::configurations(&system, *level, &Extent::new(&Budget::new()));
                let set = set.unwrap();
                let file = LiveSet::new(&system, None, about, vec![asked], (Some(*level), &set));
                assert_eq!(live_set::check(&system, &file), Ok(()), "{}", shown(program));
                "folded"
            }
            _ => "unknown",
        };
        verdicts.push((answer.verdict, what));
    }
    verdicts
}

fn shown(program: &Program) -> String {
    weir_front::weir::print(program)
}

fn sc() -> Options {
    Options::new(MemoryModel::SC)
}

/// The verdicts of a text, and those of the reference.
fn by_hand(text: &str, expected: &[bool]) {
    let (program, _) = weir_front::weir::read("t.weir", text).unwrap();
    let found = checked(&program, &sc());
    let holds: Vec<bool> = found.iter().map(|(v, _)| *v == Verdict::Holds).collect();
    assert_eq!(holds, expected, "{text}");
    for (live, expected) in program.live.iter().zip(expected) {
        assert_eq!(reference::live(&program, &live.kind, 20_000), Some(*expected), "{text}");
    }
}

#[test]
fn runs_that_end_stay_in_their_last_state() {
    by_hand(
        "var x
         process p { x = 1  x = 2 }
         ltl eventually x == 2
         ltl eventually always x == 2
         ltl always x == 2
         ltl x == 0 until x == 1
         ltl x < 2 until x == 2
         ltl always eventually x == 1
         ltl x == 0 and not eventually x == 3",
        &[true, true, false, true, true, false, true],
    );
}

#[test]
fn a_deadlock_is_the_end_of_a_run_and_waiting_is_no_step() {
    // Nobody ever sets y. That p goes round waiting does not keep q from its step.
    by_hand(
        "var x, y
         process p { await y == 1 }
         process q { x = 1 }
         ltl eventually x == 1
         ltl eventually y == 1
         ltl eventually always (x == 1 and y == 0)",
        &[true, false, true],
    );
    // The same with an `await` of two reads, and with a loop that is no `await`.
    by_hand(
        "var x, y
         process p { await y == 1 and x == 1 }
         process q { x = 1 }
         ltl eventually x == 1",
        &[true],
    );
    by_hand(
        "var x, y
         process p { while y == 0 { } }
         process q { x = 1 }
         ltl eventually x == 1
         ltl fair eventually x == 1",
        &[false, true],
    );
    by_hand(
        "var x
         process p { assume x == 1 }
         ltl eventually x == 1
         ltl always x == 0",
        &[false, true],
    );
}

#[test]
fn a_lock_without_and_with_fairness() {
    let text = "
        var lock
        process p { loop { wait: await cas(lock, 0, 1)  in: lock = 0 } }
        process q { loop { wait: await cas(lock, 0, 1)  in: lock = 0 } }
        ltl always not (p@in and q@in)
        ltl always (p@wait implies eventually p@in)
        ltl fair always (p@wait implies eventually p@in)
        ltl fair always eventually (p@in or q@in)
        ltl always eventually (p@in or q@in)
        ltl always (p@in implies (p@in unless p@wait))
        ltl [] (p@in -> !q@in U !p@in)
        ltl <>[] lock == 0 <-> false";
    let text = text.replace("await cas(lock, 0, 1)", "held = update(lock, held == 0, 1)");
    let text = text.replace("process p {", "process p { reg held");
    let text = text.replace("process q {", "process q { reg held");
    // Who waits is not always able to go on, so weak fairness does not help.
    by_hand(&text, &[true, false, false, true, true, true, true, true]);
}

#[test]
fn nothing_is_seen_in_the_middle_of_a_block() {
    by_hand(
        "var x, y
         process p { loop { atomic { x = 1  y = 1 } atomic { x = 0  y = 0 } } }
         ltl always x == y
         ltl always eventually x == 1
         ltl always (x == 1 implies y == 1 until x == 0)",
        &[true, true, true],
    );
}

/// A process that waits in a block goes through the middle of it in every round.
#[test]
fn a_run_ends_in_an_await_of_a_block() {
    by_hand(
        "var x, y
         process p { reg r, s
             atomic {
                 await { r = x  s = y } until r == 0 or s == 1
                 await { r = x  s = x } until r == 1
             }
         }
         ltl eventually x == 1
         ltl always x == 0",
        &[false, true],
    );
}

#[test]
fn under_tso() {
    // Under TSO a write may stay in its buffer for ever while its process goes round.
    let text = "
        var x, y
        process p { x = 1  loop { nop } }
        process q { y = 1 }
        ltl fair eventually x == 1
        ltl fair eventually y == 1
        ltl always (x == 1 implies always x == 1)";
    let (program, _) = weir_front::weir::read("t.weir", text).unwrap();
    let verdicts = |options: &Options| -> Vec<Verdict> {
        checked(&program, options).into_iter().map(|(verdict, _)| verdict).collect()
    };
    use Verdict::{Holds, Violated};
    assert_eq!(verdicts(&sc()), [Holds, Holds, Holds]);
    assert_eq!(verdicts(&tso(2)), [Violated, Violated, Holds]);
    let flushed = Options { flush_fair: true, ..tso(2) };
    assert_eq!(verdicts(&flushed), [Holds, Holds, Holds]);
    // Store buffering: both read 0 in the end.
    let text = "
        var x, y
        process p { reg r  x = 1  r = y  end: }
        process q { reg r  y = 1  r = x  end: }
        ltl always (p@end and q@end implies p.r == 1 or q.r == 1)";
    let (program, _) = weir_front::weir::read("t.weir", text).unwrap();
    assert_eq!(checked(&program, &sc())[0].0, Holds);
    assert_eq!(checked(&program, &tso(2))[0].0, Violated);
}

fn random(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let shape = Shape {
        loops: true,
        locals: true,
        awaits: true,
        labels: 3,
        gotos: true,
        atomics: rng.once_in(2),
        fences: false,
        blocks: rng.once_in(3),
        statements: 2 + rng.below(2),
        ..Shape::default()
    };
    let mut made = program(rng, &shape);
    made.observed = None;
    made.properties.clear();
    made.filter = None;
    ask_ltl(rng, &mut made, 3);
    made
}

#[test]
fn random_formulas_on_random_programs() {
    let (mut compared, mut holds, mut ended) = (0, 0, 0);
    for seed in seeds(150) {
        let program = random(seed);
        let Ok(_) = System::with_rounds(program.clone()) else { continue };
        let (again, _) = weir_front::weir::read("p.weir", &shown(&program)).unwrap();
        let again = Program { name: program.name.clone(), ..again };
        assert_eq!(shown(&again), shown(&program));
        let found = checked(&program, &sc());
        for (live, (verdict, what)) in program.live.iter().zip(found) {
            assert_ne!(verdict, Verdict::Unknown, "seed {seed}\n{}", shown(&program));
            let Some(expected) = reference::live(&program, &live.kind, 3_000) else { continue };
            compared += 1;
            holds += usize::from(expected);
            ended += usize::from(what == "ends");
            let LiveKind::Ltl { formula, .. } = &live.kind else { unreachable!() };
            let agrees = (verdict == Verdict::Holds) == expected;
            assert!(agrees, "seed {seed}: {formula:?} {expected}\n{}", shown(&program));
        }
    }
    eprintln!("{compared} compared, {holds} hold, {ended} are violated by runs that end");
    assert!(compared > 200 && holds > compared / 5 && holds < compared * 4 / 5, "{holds}");
    assert!(ended > 10, "{ended}");
}

/// A violation under SC is one under TSO, and what holds under TSO holds under SC.
#[test]
fn random_formulas_under_tso() {
    let (mut differ, mut known, mut compared) = (0, 0, 0);
    for seed in seeds(150) {
        let program = random(seed);
        let Ok(_) = System::with_rounds(program.clone()) else { continue };
        // What is one step under SC only shows more states under TSO.
        if shown(&program).contains("step {") {
            continue;
        }
        let strong = checked(&program, &sc());
        let mut options = tso(2);
        options.search.budget = Budget::new();
        let weak = checked(&program, &options);
        for ((live, (sc, _)), (tso, _)) in program.live.iter().zip(strong).zip(weak) {
            let LiveKind::Ltl { formula, runs } = &live.kind else { unreachable!() };
            if tso == Verdict::Unknown {
                continue;
            }
            known += 1;
            // Under TSO a process leaves a place before its write is in memory, and another run is
            // fair. Only memory is always seen in the same order in some run.
            let mut only_memory = *runs != Runs::Fair;
            formula.states(&mut |f| f.atoms(&mut |a| only_memory &= matches!(a, Atom::Var(_))));
            if !only_memory {
                continue;
            }
            compared += 1;
            differ += usize::from(sc != tso);
            assert!(sc == tso || sc == Verdict::Holds, "seed {seed}\n{}", shown(&program));
        }
    }
    eprintln!("{known} known, {compared} compared, {differ} differ");
    assert!(known > 150 && compared > 20, "{known} {compared}");
}
