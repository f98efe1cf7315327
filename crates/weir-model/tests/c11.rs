//! The machine of C11 reaches what the axioms allow, on random programs without loops: with every order,
//! atomic read-writes, compare-and-swaps that fail, and fences.
//!
//! A disagreement is shrunk and printed. `WEIR_SEED` and `WEIR_CASES` change where the random programs start and
//! how many there are.

use std::collections::{BTreeSet, HashSet};

use weir_gen::reference::{self, Reached};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::ids::Cell;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, Program};
use weir_model::semantics::Form;
use weir_model::system::System;

/// The most graphs of a program.
const LIMIT: usize = 20_000;

/// What the machine reaches: final states, whether something fails, and whether there is a deadlock. `None` if the
/// bound is not sufficient.
pub fn explore(program: &Program, atoms: &[Atom]) -> Option<Reached> {
    let program = Program { observed: Some(atoms.to_vec()), ..program.clone() };
    let system = System::for_model(program, MemoryModel::C11).expect("random programs are finite");
    let semantics = Form::C11.semantics(&system, MemoryModel::C11, 24);
    let mut reached = Reached::default();
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut work: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    while let Some(config) = work.pop() {
        let (controls, memory) = (semantics.controls(&config), semantics.memory(&config));
        let observe = |a: &Atom| system.atom(*a, controls, memory);
        reached.races |= system.raced(controls).is_some();
        reached.fails |= system.failed(controls).is_some();
        if semantics.is_drained(&config) {
            if system.all_ended(controls) {
                reached.finals.insert(atoms.iter().map(observe).collect());
            }
            reached.deadlocks |= system.is_deadlock(controls, memory, &[]);
        }
        let is_complete = semantics.successors(&config, &mut vec![], &mut |_, next| {
            if seen.insert(next.to_vec()) {
                work.push(next.to_vec());
            }
        });
        if !is_complete {
            return None;
        }
    }
    Some(reached)
}

/// Why the two disagree; `None` if there is nothing to compare.
fn compare(program: &Program) -> Option<Result<(), String>> {
    let atoms = program.everything();
    let defined = reference::c11(program, &atoms, LIMIT)?;
    let found = explore(program, &atoms).expect("the bound is sufficient");
    if defined.races {
        let missed = || Err("the accesses race, and the machine has not found it".to_owned());
        return Some(if found.races { Ok(()) } else { missed() });
    }
    let defined = Reached { states: BTreeSet::new(), ..defined };
    Some(match found == defined {
        true => Ok(()),
        false => {
            let only = |a: &Reached, b: &Reached| {
                format!("{:?}", a.finals.difference(&b.finals).collect::<Vec<_>>())
            };
            Err(format!(
                "only the axioms allow {}, only the machine reaches {}; fails {} and {}, deadlocks {} and {}; {atoms:?}",
                only(&defined, &found),
                only(&found, &defined),
                defined.fails,
                found.fails,
                defined.deadlocks,
                found.deadlocks,
            ))
        }
    })
}

fn shapes() -> Vec<Shape> {
    let plain = Shape { orders: true, statements: 5, branches: false, ..Shape::default() };
    let unique = Shape { unique: true, fences: true, atomics: false, ..plain.clone() };
    vec![
        plain.clone(),
        Shape { statements: 7, fences: false, ..plain.clone() },
        Shape { vars: 1, statements: 5, ..plain.clone() },
        Shape { vars: 3, statements: 6, atomics: false, ..plain.clone() },
        Shape {
            branches: true,
            locals: true,
            choices: true,
            gotos: true,
            domains: true,
            ..plain.clone()
        },
        Shape { statements: 6, ..unique.clone() },
        Shape { processes: 3, statements: 4, ..plain.clone() },
        Shape { processes: 3, statements: 4, ..unique.clone() },
        Shape { processes: 4, statements: 3, fences: false, ..unique.clone() },
        Shape { processes: 4, statements: 3, vars: 2, ..plain },
    ]
}

#[test]
fn the_machine_agrees_with_the_axioms() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 250);
    let (mut compared, mut weak) = (0, 0);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(&shapes()).clone();
        // Short processes show little.
        let random = (0..30).map(|_| program(&mut rng, &shape));
        let random = random.max_by_key(|p| p.processes.iter().map(|p| p.body.len()).min()).unwrap();
        let Some(result) = compare(&random) else { continue };
        compared += 1;
        let atoms = random.everything();
        let sc = reference::store_buffers(&random, MemoryModel::SC, &atoms, LIMIT, 64);
        let found = explore(&random, &atoms).expect("the bound is sufficient").finals.len();
        weak += u64::from(sc.is_some_and(|sc| sc.finals.len() < found));
        if result.is_err() {
            let is_wrong = |p: &Program| compare(p).is_some_and(|r| r.is_err());
            let small = shrink(random, is_wrong);
            let why = compare(&small).unwrap().unwrap_err();
            panic!("seed {seed}, case {case}: {why}\n{}", weir_front::weir::print(&small));
        }
    }
    assert!(
        compared * 2 > cases && weak * 10 > cases,
        "{compared} compared, {weak} weak of {cases}"
    );
}
