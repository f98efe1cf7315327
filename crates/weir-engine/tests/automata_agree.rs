//! Buffer automata against everything else: on random programs they never contradict
//! `explicit`, `views` or `backward`; sleep sets, acceleration and the order of the search
//! change no answer; and every run and every set of states is checked.

use std::time::Duration;

use weir_check::Witness;
use weir_check::buffers::{self, Buffers};
use weir_engine::{Automata, Backward, Engine, Explicit, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::system::System;

const TSO: MemoryModel = MemoryModel::TSO;

/// A conjunction of two or three equations over memory and registers.
fn formula(rng: &mut Rng, program: &Program) -> Formula {
    let mut atoms: Vec<Atom> = (0..program.vars.len()).map(|v| Atom::Var(VarId::new(v))).collect();
    for (p, process) in program.processes.iter().enumerate() {
        let registers = 0..process.registers.len();
        atoms.extend(registers.map(|r| Atom::Reg(ProcessId::new(p), RegId::new(r))));
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
            1..=3 => PropertyKind::Never(formula(rng, &program)),
            4 => PropertyKind::Final(Quantifier::Exists, formula(rng, &program)),
            _ => PropertyKind::Final(Quantifier::Always, formula(rng, &program)),
        };
        program.properties.push(Property { name: None, kind, span: SpanId::NONE });
    }
    program
}

/// Passes every run and every set of states to the checker, through JSON.
fn check_evidence(system: &System, answers: &[Answer]) -> Result<(), String> {
    for answer in answers {
        let property = answer.property;
        if let Evidence::Buffers(set) = &answer.evidence {
            let set = Buffers::new(system, set, vec![property]);
            let text = serde_json::to_string(&set).map_err(|e| e.to_string())?;
            let read = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            buffers::check(system, &read).map_err(|e| format!("set for {property:?}: {e}"))?;
        }
        if let Evidence::Run(run) = &answer.evidence {
            let witness = Witness::new(system, run, property, &|_| 1);
            weir_check::check(system, &witness)
                .map_err(|e| format!("run for {property:?}: {e}"))?;
        }
    }
    Ok(())
}

fn is_known(answer: &Answer) -> bool {
    answer.verdict != Verdict::Unknown
}

fn compare(name: &str, ours: &[Answer], theirs: &[Answer]) -> Result<(), String> {
    for (a, b) in ours.iter().zip(theirs).filter(|(a, b)| is_known(a) && is_known(b)) {
        if a.verdict != b.verdict {
            let (ours, theirs) = (a.verdict.name(), b.verdict.name());
            return Err(format!(
                "property {}: automata {ours}, {name} {theirs}",
                a.property.index()
            ));
        }
    }
    Ok(())
}

/// What is switched on.
const ALL: [Automata; CHOICES] = [
    Automata::DEFAULT,
    Automata { sleep_sets: false, ..Automata::DEFAULT },
    Automata { acceleration: false, ..Automata::DEFAULT },
    Automata { sleep_sets: false, acceleration: false, ..Automata::DEFAULT },
    // The breadth-first search has its turn at once, or soon.
    Automata { first_turn: 1, ..Automata::DEFAULT },
    Automata { first_turn: 64, ..Automata::DEFAULT },
];

const CHOICES: usize = 6;

/// How many answers there were with each choice of options.
fn agree(program: &Program, bound: Option<usize>, exact: bool) -> Result<[u64; CHOICES], String> {
    let system = System::new(program.clone()).map_err(|e| e.to_string())?;
    let options = SearchOptions {
        bound,
        budget: Budget::new().with_store(1 << 21).with_time(Duration::from_secs(20)),
        certificate: true,
        ..SearchOptions::default()
    };
    let (explicit, _) = Explicit.check(Task::new(&system, TSO, &options), &mut |_| {}).unwrap();
    let (views, _) = Views.check(Task::new(&system, TSO, &options), &mut |_| {}).unwrap();
    let (backward, _) = Backward.check(Task::new(&system, TSO, &options), &mut |_| {}).unwrap();
    let mut known = [0; CHOICES];
    let mut first: Option<Vec<Answer>> = None;
    for (known, engine) in known.iter_mut().zip(ALL) {
        // Without acceleration only what is small ends.
        let memory = if engine.acceleration || exact { 1 << 21 } else { 1 << 16 };
        let options =
            SearchOptions { budget: options.budget.clone().with_store(memory), ..options.clone() };
        let (answers, stats) =
            engine.check(Task::new(&system, TSO, &options), &mut |_| {}).unwrap();
        let named = |e: String| format!("{engine:?}: {e}");
        check_evidence(&system, &answers).map_err(named)?;
        for (name, theirs) in [("explicit", &explicit), ("views", &views), ("backward", &backward)]
        {
            compare(name, &answers, theirs).map_err(named)?;
        }
        if let Some(first) = &first {
            compare("with everything on", &answers, first).map_err(named)?;
        }
        *known = answers.iter().filter(|a| is_known(a)).count() as u64;
        if exact && *known != answers.len() as u64 {
            return Err(format!("{engine:?} leaves something open: {stats:?}"));
        }
        first.get_or_insert(answers);
    }
    Ok(known)
}

fn on_random_programs(
    cases: u64,
    shapes: &[Shape],
    bound: Option<usize>,
    exact: bool,
) -> [u64; CHOICES] {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", cases));
    let mut known = [0; CHOICES];
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(shapes).clone();
        let random = program(&mut rng, &shape);
        let random = with_properties(&mut rng, random);
        match agree(&random, bound, exact) {
            Ok(more) => known.iter_mut().zip(more).for_each(|(all, more)| *all += more),
            Err(_) => {
                let small = shrink(random, |p| agree(p, bound, exact).is_err());
                let why = agree(&small, bound, exact).unwrap_err();
                let text = weir_front::weir::print(&small);
                panic!("seed {seed}, case {case}: {why}\n{text}");
            }
        }
    }
    eprintln!("{known:?} of {}", 6 * cases);
    known
}

/// Everything ends, so every property is answered, whatever is switched on.
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
    on_random_programs(300, &shapes, None, true);
}

#[test]
fn looping_programs() {
    let plain = Shape { statements: 3, loops: true, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { statements: 4, ..plain.clone() },
        Shape { types: true, indices: true, ..plain.clone() },
        Shape { processes: 3, statements: 2, ..plain },
    ];
    let known = on_random_programs(80, &shapes, Some(2), false);
    assert!(known[0] > known[2], "acceleration answers more: {known:?}");
}
