//! Three engines that share no idea: on random loop-free programs they agree
//! exactly; on looping ones they never contradict one another at any bound. Every
//! run and every certificate is checked.

use std::time::Duration;

use weir_check::upward::{self, UpwardSets};
use weir_check::{Certificate, Witness, certificate};
use weir_engine::{Backward, Engine, Explicit, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::system::System;

/// A conjunction of two or three equations over memory and registers.
fn formula(rng: &mut Rng, program: &Program, memory: bool) -> Formula {
    let mut atoms: Vec<Atom> = Vec::new();
    for (p, process) in program.processes.iter().enumerate() {
        for r in 0..process.registers.len() {
            atoms.push(Atom::Reg(ProcessId::new(p), RegId::new(r)));
        }
    }
    if memory || atoms.is_empty() {
        atoms.extend((0..program.vars.len()).map(|v| Atom::Var(VarId::new(v))));
    }
    let mut all = Expr::Const(1);
    for _ in 0..2 + rng.below(2) {
        let atom = Expr::Atom(*rng.pick(&atoms));
        let equal = Expr::binary(BinOp::Eq, atom, Expr::Const(rng.below(2) as i128));
        all = Expr::binary(BinOp::And, all, equal);
    }
    all
}

fn with_properties(rng: &mut Rng, mut program: Program) -> Program {
    for i in 0..6 {
        let kind = match i {
            0 => PropertyKind::NoDeadlock(vec![]),
            1 => PropertyKind::Never(formula(rng, &program, false)),
            2 | 3 => PropertyKind::Never(formula(rng, &program, true)),
            4 => PropertyKind::Final(Quantifier::Exists, formula(rng, &program, true)),
            _ => PropertyKind::Final(Quantifier::Always, formula(rng, &program, true)),
        };
        program.properties.push(Property { name: None, kind, span: SpanId::NONE });
    }
    program
}

/// Passes every run and every inductive set to the checker, through JSON.
fn check_evidence(system: &System, answers: &[Answer]) -> Result<(), String> {
    for answer in answers {
        if let Evidence::Invariant(invariant) = &answer.evidence {
            let certificate = Certificate::new(system, invariant, vec![answer.property]);
            let text = serde_json::to_string(&certificate).map_err(|e| e.to_string())?;
            let read = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            certificate::check(system, &read, 2).map_err(|e| {
                format!("certificate for property {}: {e}", answer.property.index())
            })?;
        }
        if let Evidence::Upward(set) = &answer.evidence {
            let sets = UpwardSets::new(system, set.model, &[(answer.property, &set.states)]);
            let text = serde_json::to_string(&sets).map_err(|e| e.to_string())?;
            let read = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            upward::check(system, &read)
                .map_err(|e| format!("set for property {}: {e}", answer.property.index()))?;
        }
        if let Evidence::Run(run) = &answer.evidence {
            let witness = Witness::new(system, run, answer.property, &|_| 1);
            weir_check::check(system, &witness)
                .map_err(|e| format!("run for property {}: {e}", answer.property.index()))?;
        }
    }
    Ok(())
}

/// How many properties two engines have both decided, if they do not differ.
fn compare(
    (one, ours): (&str, &[Answer]),
    (other, theirs): (&str, &[Answer]),
    model: MemoryModel,
) -> Result<u64, String> {
    let known = |a: &Answer| a.verdict != Verdict::Unknown;
    let both = ours.iter().zip(theirs).filter(|(a, b)| known(a) && known(b));
    let mut decided = 0;
    for (a, b) in both {
        decided += 1;
        if a.verdict != b.verdict {
            let (ours, theirs) = (a.verdict.name(), b.verdict.name());
            let property = a.property.index();
            return Err(format!(
                "property {property} under {model}: {one} say {ours}, {other} {theirs}"
            ));
        }
    }
    Ok(decided)
}

fn agree(
    program: &Program,
    model: MemoryModel,
    bounds: &[Option<usize>],
) -> Result<[u64; 2], String> {
    let system = System::new(program.clone()).map_err(|e| e.to_string())?;
    let options = |bound| SearchOptions {
        bound,
        budget: Budget::new().with_store(1 << 28).with_time(Duration::from_secs(5)),
        certificate: true,
        ..SearchOptions::default()
    };
    let (found, stats) =
        Views.check(Task::new(&system, model, &options(None)), &mut |_| {}).unwrap();
    check_evidence(&system, &found)?;
    let (mut decided, mut backward_decided) = (0, 0);
    if Backward.decides(model) {
        let budget = options(None).budget.with_store(1 << 22);
        let little = SearchOptions { budget, ..options(None) };
        let (answers, _) = Backward.check(Task::new(&system, model, &little), &mut |_| {}).unwrap();
        check_evidence(&system, &answers).map_err(|e| format!("backward: {e}"))?;
        backward_decided += compare(("views", &found), ("backward", &answers), model)?;
    }
    for &bound in bounds {
        let (expected, _) =
            Explicit.check(Task::new(&system, model, &options(bound)), &mut |_| {}).unwrap();
        let undecided = found.iter().find(|a| a.verdict == Verdict::Unknown && bound.is_none());
        if let Some(a) = undecided {
            return Err(format!("property {} undecided: {:?}", a.property.index(), a.evidence));
        }
        let level = stats.level.unwrap_or_default();
        decided += compare(("views", &found), ("explicit", &expected), model)
            .map_err(|e| format!("{e} (level {level})"))?;
    }
    Ok([decided, backward_decided])
}

fn on_random_programs(cases: u64, shapes: &[Shape], bounds: &[Option<usize>]) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", cases);
    let mut decided = [0, 0];
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(shapes).clone();
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        for (_, model) in MemoryModel::NAMED {
            match agree(&random, model, bounds) {
                Ok([views, backward]) => {
                    decided[0] += views;
                    decided[1] += backward;
                }
                Err(_) => {
                    let small = shrink(random, |p| agree(p, model, bounds).is_err());
                    let why = agree(&small, model, bounds).unwrap_err();
                    let text = weir_front::weir::print(&small);
                    panic!("seed {seed}, case {case}: {why}\n{text}");
                }
            }
        }
    }
    assert!(decided.iter().all(|d| *d > cases), "they decide something: {decided:?}");
}

#[test]
fn loop_free_programs() {
    let plain = Shape { statements: 4, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, ..plain.clone() },
        Shape { types: true, indices: true, arithmetic: true, ..plain.clone() },
        Shape { values: 3, statements: 3, ..plain.clone() },
        Shape { processes: 3, statements: 2, ..plain.clone() },
        Shape { statements: 6, fences: false, atomics: false, branches: false, ..plain },
    ];
    on_random_programs(1000, &shapes, &[None]);
}

#[test]
fn looping_programs() {
    let plain = Shape { statements: 3, loops: true, ..Shape::default() };
    let typed = Shape { types: true, indices: true, ..plain.clone() };
    let shapes = [plain.clone(), typed, Shape { statements: 4, ..plain }];
    on_random_programs(200, &shapes, &[Some(1), Some(2)]);
}

/// Every engine lets a process stay where it may, and only there.
#[test]
fn processes_may_stay_at_places() {
    let text = "var x, y
        process server { loop { idle: await x == 1; x = 0 } }
        process p { x = 1; await x == 0; busy: await y == 1 }
        process q { choose { y = 1 } or { nop } }
        no deadlock
        no deadlock except server@idle
        no deadlock except server@idle, p@busy
        no deadlock except p@busy";
    let (program, _) = weir_front::read("test.weir", text, None).expect("a program");
    let printed = weir_front::weir::print(&program);
    let (again, _) = weir_front::read("test.weir", &printed, None).expect("a program");
    assert_eq!(weir_front::weir::print(&again), printed);
    let system = System::new(again).expect("a system");
    for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO] {
        for engine in [&Explicit as &dyn Engine, &Views] {
            let options = SearchOptions::default();
            let found = engine.check(Task::new(&system, model, &options), &mut |_| {});
            let (answers, _) = found.expect("answers");
            check_evidence(&system, &answers).expect("evidence");
            let verdicts: Vec<_> = answers.iter().map(|a| a.verdict).collect();
            let no = Verdict::Violated;
            assert_eq!(verdicts, [no, no, Verdict::Holds, no], "{model}");
        }
    }
}
