//! What searches leave out makes no difference, on random programs:
//!
//! * the final states are those of a search without quiet steps;
//! * what no state of a slice settles, no state of the system settles; where nothing fails the
//!   converse is true as well;
//! * a search that was paused a few times answers as one that was not.

use std::collections::{BTreeSet, HashSet};

use weir_engine::explicit::{self, Asked};
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_gen::{Rng, Shape, program, shrink};
use weir_model::answer::{Answer, Verdict};
use weir_model::ids::{Cell, LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::question::{Kind, Question};
use weir_model::semantics::{Form, sufficient_bound};
use weir_model::system::System;

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

/// The final states, by all steps one after another.
fn final_states(system: &System, model: MemoryModel) -> BTreeSet<Vec<i128>> {
    let atoms = system.program.everything();
    let bound = sufficient_bound(system).unwrap();
    let semantics = Form::of(model)[0].semantics(system, model, bound);
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut open: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    let mut found = BTreeSet::new();
    let mut scratch = Vec::new();
    while let Some(config) = open.pop() {
        let (controls, memory) = (semantics.controls(&config), semantics.memory(&config));
        if system.all_ended(controls) && semantics.is_drained(&config) {
            found.insert(atoms.iter().map(|a| system.atom(*a, controls, memory)).collect());
        }
        let is_whole = semantics.successors(&config, &mut scratch, &mut |_, next| {
            if seen.insert(next.to_vec()) {
                open.push(next.to_vec());
            }
        });
        assert!(is_whole, "nothing exceeds a sufficient bound");
    }
    found
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
            let expected = final_states(&system, model);
            let text = weir_front::weir::print(&random);
            assert_eq!(found, expected, "case {case} under {model}:\n{text}");
            states += found.len();
        }
    }
    assert!(states > 2000, "there are only {states} final states");
}
