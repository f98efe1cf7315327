//! What a program reaches with any buffers, its translation reaches with empty ones
//! (Atig et al. 2010, section 3.4): on random programs, by engines that know nothing of it.

use crate::common;

use common::with_seeds;
use weir_engine::{Backward, Engine, Explicit, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, program};
use weir_model::answer::Verdict;
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{BinOp, Expr, Formula, Program, Property, PropertyKind};
use weir_model::system::System;
use weir_theory::empty::{EmptyError, empty};

const MODELS: [MemoryModel; 3] = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO];

/// Some values of variables and registers at once.
fn formula(rng: &mut Rng, program: &Program, values: i128) -> Formula {
    let atoms = program.everything();
    let mut equal = || {
        let value = Expr::Const(rng.below(values as usize) as i128);
        Expr::binary(BinOp::Eq, Expr::Atom(*rng.pick(&atoms)), value)
    };
    let first = equal();
    (0..2).fold(first, |e, _| Expr::binary(BinOp::And, e, equal()))
}

fn never(formula: Formula) -> Property {
    Property { name: None, kind: PropertyKind::Never(formula), span: SpanId::NONE }
}

/// The answers, by an engine that decides; `None` if that takes too much.
fn verdicts(
    system: &System,
    model: MemoryModel,
    engine: &'static dyn Engine,
) -> Option<Vec<Verdict>> {
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 24), ..SearchOptions::default() };
    // Under SC there are no buffers, and nothing to look back from.
    let engine = if engine.decides(model) { engine } else { &Explicit };
    let (answers, _) = engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap();
    let verdicts: Vec<Verdict> = answers.iter().map(|a| a.verdict).collect();
    (!verdicts.contains(&Verdict::Unknown)).then_some(verdicts)
}

/// The translation, printed and read again.
fn translated(system: &System) -> (System, String) {
    let printed =
        weir_front::weir::print(&empty(system.expanded(&Budget::new()).unwrap()).unwrap());
    let (again, _) = weir_front::read("again.weir", &printed, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render("again.weir", &printed, false)));
    (System::new(again).unwrap(), printed)
}

fn on_random_programs(cases: u64, shape: &Shape) {
    let counts = std::sync::Mutex::new([0, 0, 0]);
    with_seeds(cases, |rng| {
        let mut random = program(rng, shape);
        random.observed = None;
        random.properties = (0..3).map(|_| never(formula(rng, &random, shape.values))).collect();
        let system = System::new(random).unwrap();
        let (other, printed) = translated(&system);
        for model in MODELS {
            for engine in [&Views as &'static dyn Engine, &Backward] {
                let mut counts = counts.lock().unwrap();
                let before = verdicts(&system, model, &Views);
                let (Some(before), Some(after)) = (before, verdicts(&other, model, engine)) else {
                    counts[2] += 1;
                    continue;
                };
                before.iter().for_each(|v| counts[usize::from(*v == Verdict::Violated)] += 1);
                let text = || weir_front::weir::print(&system.program);
                assert_eq!(before, after, "{model} {engine:?}\n{}\n{printed}", text());
            }
        }
    });
    let [holds, violated, unknown] = counts.into_inner().unwrap();
    assert!(holds > 100 && violated > 100 && unknown < 100, "{holds} {violated} {unknown}");
}

#[test]
fn loop_free_programs() {
    on_random_programs(60, &Shape { statements: 3, ..Shape::default() });
}

#[test]
fn looping_programs() {
    on_random_programs(30, &Shape { statements: 2, loops: true, ..Shape::default() });
}

/// The answers of the translation of a text, under one model after the other.
fn answers(text: &str) -> Vec<Vec<Verdict>> {
    let (program, _) = weir_front::read("test.weir", text, None).unwrap();
    let system = System::new(program).unwrap();
    let (other, printed) = translated(&system);
    MODELS
        .map(|model| {
            let expected = verdicts(&system, model, &Views).unwrap();
            for engine in [&Views as &'static dyn Engine, &Explicit] {
                assert_eq!(verdicts(&other, model, engine).unwrap(), expected, "{printed}");
            }
            expected
        })
        .to_vec()
}

const HOLDS: Verdict = Verdict::Holds;
const VIOLATED: Verdict = Verdict::Violated;

/// Values that are in memory one after the other are not there together.
#[test]
fn memory_is_seen_at_once() {
    let text = "var x, y
        process p { x = 1; y = 1; done: }
        never p@done and x == 0 and y == 1
        never p@done and x == 1 and y == 0
        never p@done and x == 0 and y == 0";
    let expected =
        [[HOLDS, HOLDS, HOLDS], [HOLDS, VIOLATED, VIOLATED], [VIOLATED, VIOLATED, VIOLATED]];
    assert_eq!(answers(text), expected);
}

/// Nobody takes a step after the state that is asked for.
#[test]
fn nobody_goes_on() {
    let text = "var x
        process p { await x == 1; done: }
        process q { x = 1; wrote: }
        never p@done and x == 0
        never q@wrote and x == 0";
    assert_eq!(answers(text), [[HOLDS, HOLDS], [HOLDS, VIOLATED], [HOLDS, VIOLATED]]);
}

#[test]
fn assertions_and_atomics() {
    let text = "var flag: bool, observer[2] = [3, any(4, 5)]
        process p { reg t; t = swap(flag, true); observer[t] = 1; assert observer[1] == 4 }
        process q { fetch_add(observer[0], 1); wfence }
        never p.t == 1 and observer[0] == 4";
    assert_eq!(answers(text), [[HOLDS, VIOLATED], [HOLDS, VIOLATED], [HOLDS, VIOLATED]]);
}

#[test]
fn what_has_no_translation() {
    let read = |text: &str| System::new(weir_front::read("t.weir", text, None).unwrap().0).unwrap();
    let system = read("var x process p { x = 1 } final exists x == 1 no deadlock");
    assert_eq!(empty(system.expanded(&Budget::new()).unwrap()), Err(EmptyError::NothingAsked));
    let system = read("var x process p[i: 0..63] { x = 1 } never x == 2");
    assert_eq!(empty(system.expanded(&Budget::new()).unwrap()), Err(EmptyError::Processes));
}
