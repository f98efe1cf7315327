//! What searches leave out makes no difference, on random programs:
//!
//! * the final states are those of a search without quiet steps; under C11 also what settles a question;
//! * what no state of a slice settles, no state of the system settles; where nothing fails the
//!   converse is true as well;
//! * a search that was paused a few times answers as one that was not.

use std::collections::BTreeSet;

use weir_engine::explicit::{self, Asked};
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::{Answer, Verdict};
use weir_model::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::question::{Kind, Question};
use weir_model::semantics::sufficient_bound;
use weir_model::system::System;

use crate::common::whole;

const MODELS: [MemoryModel; 4] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];

/// One or two equations over memory, registers and labels.
fn formula(rng: &mut Rng, program: &Program) -> Formula {
    let mut atoms: Vec<Atom> = (0..program.var_count()).map(|v| Atom::Var(VarId::new(v))).collect();
    for (p, process) in program.processes.iter().enumerate() {
        let p = ProcessId::new(p);
        atoms.extend((0..process.registers.len()).map(|r| Atom::Reg(p, RegId::new(r))));
        atoms.extend((0..process.labels.len()).map(|l| Atom::At(p, LabelId::new(l))));
    }
    let mut all = Expr::Const(1);
    for _ in 0..1 + rng.below(2) {
        let atom = Expr::Atom(*rng.pick(&atoms));
        let equal = Expr::binary(BinOp::Eq, atom, Expr::Const(rng.below(2) as i128));
        all = Expr::binary(BinOp::And, all, equal);
    }
    all
}

fn with_properties(rng: &mut Rng, mut program: Program) -> Program {
    let kinds = [
        PropertyKind::NoDeadlock(vec![]),
        PropertyKind::Assertions,
        PropertyKind::Never(formula(rng, &program)),
        PropertyKind::Never(formula(rng, &program)),
        PropertyKind::Final(Quantifier::Exists, formula(rng, &program)),
        PropertyKind::Final(Quantifier::Always, formula(rng, &program)),
    ];
    let property = |kind| Property { name: None, kind, span: SpanId::NONE };
    program.properties.extend(kinds.into_iter().map(property));
    program
}

fn ask(system: &System, questions: &[Question], model: MemoryModel) -> Vec<Answer> {
    let budget = Budget::new().with_store(1 << 26);
    let options = SearchOptions { budget, ..SearchOptions::default() };
    let task = Task { questions, ..Task::new(system, model, &options) };
    Explicit.search(task, &mut |_| {}).0
}

/// How many slices there were, and how many of them were not settled.
fn slices(program: &Program, model: MemoryModel) -> Result<[usize; 2], String> {
    let system = System::new(program.clone()).map_err(|e| e.to_string())?;
    let whole = ask(&system, &system.questions, model);
    let fails = system.questions.iter().zip(&whole).any(|(question, answer)| {
        question.kind == Kind::Assertions && answer.verdict != Verdict::Holds
    });
    let mut counts = [0, 0];
    for (question, expected) in system.questions.iter().zip(&whole) {
        let asked = std::slice::from_ref(question);
        let slice = system.slice(asked, &Budget::new()).map_err(|e| e.to_string())?;
        let Some(slice) = slice.filter(|_| expected.is_known()) else { continue };
        let found = &ask(&slice, asked, model)[0];
        counts[0] += 1;
        counts[1] += usize::from(found.is_known() && !found.has_run());
        let is_lost = found.is_known() && !found.has_run() && expected.has_run();
        let is_new = found.has_run() && !expected.has_run() && !fails;
        if is_lost || is_new {
            let (found, expected) = (found.verdict.name(), expected.verdict.name());
            return Err(format!(
                "`{}` under {model}: {found} in the slice, {expected} in the system",
                question.name
            ));
        }
    }
    Ok(counts)
}

#[test]
fn slices_lose_no_answer() {
    let seed = std::env::var("WEIR_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1_u64);
    let cases = std::env::var("WEIR_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(600_u64);
    let plain = Shape { statements: 4, locals: true, labels: 2, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, awaits: true, ..plain.clone() },
        Shape { types: true, indices: true, arithmetic: true, ..plain.clone() },
        Shape { domains: true, choices: true, gotos: true, ..plain.clone() },
        Shape { processes: 3, vars: 4, statements: 3, ..plain },
    ];
    let mut counts = [0, 0];
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(&shapes).clone();
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        for model in MODELS {
            match slices(&random, model) {
                Ok([made, excluded]) => {
                    counts[0] += made;
                    counts[1] += excluded;
                }
                Err(_) => {
                    let small = shrink(random, |p| slices(p, model).is_err());
                    let why = slices(&small, model).unwrap_err();
                    let text = weir_front::weir::print(&small);
                    panic!("seed {seed}, case {case}: {why}\n{text}");
                }
            }
        }
    }
    let enough = cases as usize;
    assert!(counts.iter().all(|c| *c > enough), "there are slices of both kinds: {counts:?}");
}

#[test]
fn paused_searches_answer_alike() {
    let shape = Shape { processes: 3, statements: 4, loops: true, labels: 2, ..Shape::default() };
    let mut paused = 0;
    for case in 0..100 {
        let mut rng = Rng::new(case);
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        let system = System::new(random).unwrap();
        for model in MODELS {
            let budget = Budget::new().with_store(1 << 24);
            let options = SearchOptions { bound: Some(2), budget, ..SearchOptions::default() };
            let task = Task::new(&system, model, &options);
            let (expected, whole) = Explicit.search(task, &mut |_| {});
            let mut search = Asked::new(task).unwrap();
            for kib in [1, 8, 9, 64] {
                search.go_on(&Budget::new().with_store(kib << 10), &mut |_| {});
                paused += usize::from(search.stats().stopped.is_some());
            }
            search.go_on(&options.budget, &mut |_| {});
            let (found, stats) = search.answers(&options.budget);
            let shown = (format!("{found:?}"), format!("{expected:?}"));
            assert_eq!(shown.0, shown.1, "case {case} under {model}");
            let counts = |s: &weir_engine::Stats| (s.stored, s.expanded, s.steps, s.depth);
            assert_eq!(counts(&stats), counts(&whole), "case {case} under {model}");
        }
    }
    assert!(paused > 200, "searches were paused {paused} times");
}

#[test]
fn quiet_steps_lose_no_final_state() {
    let plain = Shape { statements: 3, locals: true, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, ..plain.clone() },
        Shape { fences: false, atomics: false, statements: 5, ..plain.clone() },
        Shape { choices: true, gotos: true, indices: true, ..plain.clone() },
        Shape { processes: 3, vars: 3, statements: 2, ..plain },
    ];
    let mut states = 0;
    for case in 0..400 {
        let mut rng = Rng::new(77_000 + case);
        let shape = rng.pick(&shapes).clone();
        let mut random = program(&mut rng, &shape);
        random.observed = Some(random.everything());
        for model in MODELS {
            let system = System::new(random.clone()).unwrap();
            let options = SearchOptions::default();
            let outcomes = explicit::outcomes(Task::new(&system, model, &options), &mut |_| {});
            let outcomes = outcomes.unwrap();
            assert!(outcomes.stats.is_exact(), "case {case} under {model}");
            let found: BTreeSet<Vec<i128>> =
                outcomes.states.into_iter().map(|(values, _)| values).collect();
            let bound = sufficient_bound(&system).unwrap();
            let whole = whole(&system, model, bound).expect("small programs");
            assert!(whole.is_complete, "nothing exceeds a sufficient bound");
            let expected = whole.finals;
            let text = weir_front::weir::print(&random);
            assert_eq!(found, expected, "case {case} under {model}:\n{text}");
            states += found.len();
        }
    }
    assert!(states > 2000, "there are only {states} final states");
}

/// Where a search under C11 differs from one that takes every step; `None` if that takes too long.
fn c11_differs(program: &Program) -> Option<Result<[usize; 2], String>> {
    const BOUND: usize = 6;
    let program = Program { observed: Some(program.everything()), ..program.clone() };
    let system = System::for_model(program, MemoryModel::C11).ok()?;
    let whole = whole(&system, MemoryModel::C11, BOUND).filter(|whole| whole.is_complete)?;
    let options = SearchOptions { bound: Some(BOUND), ..SearchOptions::default() };
    let task = Task::new(&system, MemoryModel::C11, &options);
    let (answers, stats) = Explicit.search(task, &mut |_| {});
    let mut counts = [0, 0];
    // What a program with a race does besides is undefined.
    let is_race = |question: &Question| question.kind == Kind::Races;
    let all = system.questions.iter().zip(&answers).zip(whole.settled.iter().copied());
    let has_raced = all.clone().any(|((question, _), settled)| is_race(question) && settled);
    for ((question, answer), expected) in all.filter(|((q, _), _)| !has_raced || is_race(q)) {
        counts[usize::from(expected)] += 1;
        if answer.has_run() != expected {
            let found = answer.verdict.name();
            return Some(Err(format!("`{}`: {found}, settled: {expected}", question.name)));
        }
    }
    let found = explicit::outcomes(task, &mut |_| {}).ok()?;
    let found: BTreeSet<Vec<i128>> = found.states.into_iter().map(|(values, _)| values).collect();
    if !has_raced && found != whole.finals {
        return Some(Err(format!("final states {found:?} and {:?}", whole.finals)));
    }
    (stats.is_exact() || answers.iter().all(|a| a.has_run())).then_some(Ok(counts))
}

#[test]
fn reductions_of_c11_lose_nothing() {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", 300));
    let plain = Shape { orders: true, statements: 5, locals: true, labels: 2, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, awaits: true, ..plain.clone() },
        Shape { vars: 4, atomics: false, statements: 6, ..plain.clone() },
        Shape { choices: true, gotos: true, domains: true, ..plain.clone() },
        Shape { loops: true, statements: 3, atomics: false, ..plain.clone() },
        Shape { processes: 3, vars: 4, statements: 3, ..plain },
    ];
    let mut counts = [0, 0];
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(&shapes).clone();
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        match c11_differs(&random) {
            None => {}
            Some(Ok(more)) => (0..2).for_each(|n| counts[n] += more[n]),
            Some(Err(_)) => {
                let small = shrink(random, |p| c11_differs(p).is_some_and(|r| r.is_err()));
                let why = c11_differs(&small).unwrap().unwrap_err();
                let text = weir_front::weir::print(&small);
                panic!("seed {seed}, case {case}: {why}\n{text}");
            }
        }
    }
    assert!(counts.iter().all(|n| *n as u64 > cases), "both answers occur: {counts:?}");
}
