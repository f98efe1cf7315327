//! The `channels` engine against engines that know nothing of channels: `views` under TSO
//! and PSO, and the explicit one with bounded guesses. On loop-free programs they agree
//! exactly; on looping ones they never contradict one another. Every run is checked.

use std::time::Duration;

use weir_channel::decide::Channels;
use weir_check::Witness;
use weir_engine::{Engine, Explicit, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::system::System;

/// A conjunction of equations over registers, and memory if it is asked for.
fn formula(rng: &mut Rng, program: &Program, memory: bool) -> Formula {
    let mut atoms: Vec<Atom> = Vec::new();
    for (p, process) in program.processes.iter().enumerate() {
        let registers = (0..process.registers.len()).map(RegId::new);
        atoms.extend(registers.map(|r| Atom::Reg(ProcessId::new(p), r)));
    }
    if memory {
        atoms.extend((0..program.vars.len()).map(|v| Atom::Var(VarId::new(v))));
    }
    let mut all = Expr::Const(1);
    for _ in 0..if atoms.is_empty() { 0 } else { 2 } {
        let atom = Expr::Atom(*rng.pick(&atoms));
        let equal = Expr::binary(BinOp::Eq, atom, Expr::Const(rng.below(2) as i128));
        all = Expr::binary(BinOp::And, all, equal);
    }
    all
}

fn with_properties(rng: &mut Rng, mut program: Program) -> Program {
    for i in 0..4 {
        let kind = match i {
            0 => PropertyKind::NoDeadlock(vec![]),
            1 => PropertyKind::Never(formula(rng, &program, false)),
            2 => PropertyKind::Final(Quantifier::Exists, formula(rng, &program, true)),
            _ => PropertyKind::Final(Quantifier::Always, formula(rng, &program, true)),
        };
        program.properties.push(Property { name: None, kind, span: SpanId::NONE });
    }
    program
}

fn check_runs(system: &System, answers: &[Answer]) -> Result<(), String> {
    for answer in answers {
        if let Evidence::Run(run) = &answer.evidence {
            let witness = Witness::new(system, run, answer.property, &|_| 1);
            weir_check::check(system, &witness)
                .map_err(|e| format!("run for property {}: {e}", answer.property.index()))?;
        }
    }
    Ok(())
}

/// How often both said what: not settled, settled, nothing.
type Counts = [u64; 3];

/// Whether two engines agree on a program, and every run is one.
fn agree(
    program: &Program,
    model: MemoryModel,
    guesses: Option<usize>,
    counts: &mut Counts,
) -> Result<(), String> {
    let system = System::for_model(program.clone(), model).map_err(|e| e.to_string())?;
    let options = SearchOptions {
        budget: Budget::new().with_store(1 << 26).with_time(Duration::from_secs(20)),
        guesses,
        ..SearchOptions::default()
    };
    let (answers, _) = Channels.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    let engine: &dyn Engine = if guesses.is_some() { &Explicit } else { &Views };
    let (expected, _) = engine.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    check_runs(&system, &answers)?;
    for (answer, expected) in answers.iter().zip(&expected) {
        match (answer.verdict, expected.verdict) {
            (Verdict::Unknown, _) => {
                let Evidence::Reason(reason) = &answer.evidence else { unreachable!() };
                if reason.contains("no run of the program") {
                    return Err(reason.clone());
                }
                counts[2] += 1;
            }
            (_, Verdict::Unknown) => counts[2] += 1,
            (a, b) if a == b => {
                counts[usize::from(matches!(answer.evidence, Evidence::Run(_)))] += 1
            }
            (a, b) => {
                let property = answer.property.index();
                return Err(format!("property {property}: {}, but {}", a.name(), b.name()));
            }
        }
    }
    Ok(())
}

fn on_random_programs(cases: u64, shape: &Shape, model: MemoryModel, guesses: Option<usize>) {
    let seed = setting("WEIR_SEED", 1);
    let mut counts = [0; 3];
    for case in 0..setting("WEIR_CASES", cases) {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let random = program(&mut rng, shape);
        let random = with_properties(&mut rng, random);
        let Err(error) = agree(&random, model, guesses, &mut counts) else { continue };
        let small = shrink(random, |p| agree(p, model, guesses, &mut [0; 3]).is_err());
        let again = agree(&small, model, guesses, &mut [0; 3]);
        let text = weir_front::weir::print(&small);
        panic!("seed {seed}, case {case}, {model}, {guesses:?}: {error}; {again:?}\n{text}");
    }
    eprintln!("{model}, {guesses:?}: {counts:?}");
    assert!(counts[..2].iter().all(|c| *c > cases / 4), "both happen: {counts:?}");
}

fn loop_free() -> Shape {
    Shape { statements: 3, ..Shape::default() }
}

fn looping() -> Shape {
    Shape { statements: 1, loops: true, ..Shape::default() }
}

#[test]
fn programs_under_tso() {
    on_random_programs(150, &Shape { statements: 2, ..loop_free() }, MemoryModel::TSO, None);
    on_random_programs(100, &looping(), MemoryModel::TSO, None);
}

/// Larger programs, in which processes read what they wrote, pass fences in some branches, and
/// stop reading a variable: what the machine of TSO leaves out depends on that.
#[test]
fn larger_programs_under_tso() {
    let shape = Shape { statements: 4, awaits: true, gotos: true, labels: 2, ..loop_free() };
    on_random_programs(100, &shape, MemoryModel::TSO, None);
    on_random_programs(100, &Shape { statements: 3, ..looping() }, MemoryModel::TSO, None);
    let shape = Shape { processes: 3, statements: 2, vars: 3, ..looping() };
    on_random_programs(60, &shape, MemoryModel::TSO, None);
}

/// Locks that repeat for ever are decided, with few configurations.
#[test]
fn locks_under_tso() {
    for (name, expected) in [
        ("peterson-2", Verdict::Violated),
        ("peterson-2-fenced-tso", Verdict::Holds),
        ("peterson-2-fenced", Verdict::Holds),
        ("dekker-2", Verdict::Violated),
        ("dekker-2-fenced", Verdict::Holds),
        ("szymanski-2", Verdict::Violated),
        ("szymanski-2-fenced", Verdict::Holds),
    ] {
        let file = format!("{}/../../corpus/{name}.weir", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap();
        let (program, _) = weir_front::read(&file, &text, None).unwrap();
        let system = System::for_model(program, MemoryModel::TSO).unwrap();
        let options =
            SearchOptions { budget: Budget::new().with_store(1 << 26), ..SearchOptions::default() };
        let task = Task::new(&system, MemoryModel::TSO, &options);
        let (answers, _) = Channels.check(task, &mut |_| {}).unwrap();
        assert_eq!(answers[0].verdict, expected, "{name}");
        check_runs(&system, &answers).unwrap();
    }
}

#[test]
fn programs_under_pso() {
    on_random_programs(200, &Shape { statements: 2, ..loop_free() }, MemoryModel::PSO, None);
    on_random_programs(150, &looping(), MemoryModel::PSO, None);
}

/// Write fences: the machine with two levels.
#[test]
fn programs_with_write_fences_under_pso() {
    let fenced = |program: &Program| {
        let text = weir_front::weir::print(program);
        text.contains("wfence")
    };
    let seed = setting("WEIR_SEED", 1);
    let (mut counts, mut tried) = ([0; 3], 0);
    for case in 0..setting("WEIR_CASES", 400) {
        let mut rng = Rng::new(seed.wrapping_mul(7_000_003).wrapping_add(case));
        let shape = match case % 3 {
            0 => looping(),
            1 => Shape { statements: 2, ..loop_free() },
            _ => Shape { statements: 3, branches: false, ..loop_free() },
        };
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        if !fenced(&random) || tried >= 300 {
            continue;
        }
        tried += 1;
        let Err(error) = agree(&random, MemoryModel::PSO, None, &mut counts) else { continue };
        let fails =
            |p: &Program| fenced(p) && agree(p, MemoryModel::PSO, None, &mut [0; 3]).is_err();
        let small = shrink(random, fails);
        let text = weir_front::weir::print(&small);
        panic!("seed {seed}, case {case}: {error}\n{text}");
    }
    eprintln!("{tried}: {counts:?}");
    assert!(tried > 50 && counts[..2].iter().all(|c| *c > 20), "both happen: {counts:?}");
}

#[test]
fn loop_free_programs_with_guesses() {
    for guesses in [1, 2] {
        on_random_programs(300, &loop_free(), MemoryModel::GUESS, Some(guesses));
    }
}

#[test]
fn loop_free_programs_with_guesses_and_writes_out_of_order() {
    on_random_programs(200, &loop_free(), MemoryModel::GUESS_WW, Some(1));
    on_random_programs(
        150,
        &Shape { statements: 2, ..loop_free() },
        MemoryModel::GUESS_WW,
        Some(2),
    );
}

/// Reads that are validated in their order: TSO with `r->w`.
#[test]
fn loop_free_programs_with_guesses_in_order() {
    for guesses in [1, 2, 3] {
        on_random_programs(200, &loop_free(), MemoryModel::TSO_RW, Some(guesses));
    }
    let one_process = Shape { statements: 5, branches: false, vars: 3, ..loop_free() };
    on_random_programs(100, &one_process, MemoryModel::TSO_RW, Some(3));
}

#[test]
fn looping_programs_with_guesses() {
    for guesses in [1, 2] {
        on_random_programs(100, &looping(), MemoryModel::TSO_RW, Some(guesses));
        on_random_programs(100, &looping(), MemoryModel::GUESS, Some(guesses));
        on_random_programs(100, &looping(), MemoryModel::GUESS_WW, Some(guesses));
    }
}
