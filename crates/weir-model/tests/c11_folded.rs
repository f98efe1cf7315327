//! The over-approximation of C11 covers the machine: on random programs, with and without loops, whatever control states and
//! newest values the machine reaches are reached with folding at every level, and so are races and deadlocks.
//!
//! `WEIR_SEED` and `WEIR_CASES` change where the random programs start and how many there are.

use std::collections::HashSet;

use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::ids::Cell;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::semantics::{Form, Semantics, folded_c11};
use weir_model::system::System;

use super::c11_loops::{add_loops, shapes};

/// How many configurations are looked at.
const MOST: usize = 5_000;

/// What can be observed of a configuration: control states and newest values, and whether it is a deadlock.
type Observed = (Vec<Cell>, bool);

/// What is reached, and whether that is everything.
fn explore(semantics: &dyn Semantics) -> (HashSet<Observed>, bool) {
    let system = semantics.system();
    let mut reached = HashSet::new();
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut work: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    let mut is_complete = true;
    while let Some(config) = work.pop() {
        let (controls, memory) = (semantics.controls(&config), semantics.memory(&config));
        let visible = controls.len() + memory.len();
        reached.insert((config[..visible].to_vec(), false));
        if semantics.is_drained(&config) {
            let is_deadlock = system.is_deadlock(controls, memory, &[]);
            reached.insert((config[..visible].to_vec(), is_deadlock));
        }
        if seen.len() > MOST {
            return (reached, false);
        }
        is_complete &= semantics.successors(&config, &mut vec![], &mut |_, next| {
            if seen.insert(next.to_vec()) {
                work.push(next.to_vec());
            }
        });
    }
    (reached, is_complete)
}

/// What folding misses; `None` if a program is too large to be compared.
fn missed(program: &Program) -> Option<Vec<usize>> {
    let system = System::for_model(program.clone(), MemoryModel::C11).ok()?;
    let exact = Form::C11.semantics(&system, MemoryModel::C11, 6);
    let (reached, _) = explore(exact.as_ref());
    let mut levels = vec![];
    for level in 1..=3 {
        let (found, is_complete) = explore(folded_c11(&system, level).as_ref());
        if !is_complete {
            return None;
        }
        if !reached.is_subset(&found) {
            levels.push(level);
        }
    }
    Some(levels)
}

#[test]
fn folding_covers_the_machine() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 60);
    let mut compared = 0;
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = Shape { statements: 3, ..rng.pick(&shapes()).clone() };
        let mut random = program(&mut rng, &shape);
        add_loops(&mut rng, &mut random);
        if !rng.once_in(3) {
            random.processes.iter_mut().for_each(repeat_for_ever);
        }
        let Some(levels) = missed(&random) else { continue };
        compared += 1;
        if !levels.is_empty() {
            let is_wrong = |p: &Program| missed(p).is_some_and(|levels| !levels.is_empty());
            let small = shrink(random, is_wrong);
            let levels = missed(&small).unwrap();
            let text = weir_front::weir::print(&small);
            panic!("seed {seed}, case {case}: something is missed at levels {levels:?}\n{text}");
        }
    }
    println!("seed {seed}: {compared} of {cases} compared");
    assert!(compared * 2 > cases, "{compared} of {cases}");
}

/// `loop { BODY }`
fn repeat_for_ever(process: &mut weir_model::program::Process) {
    use weir_model::ids::SpanId;
    use weir_model::program::{Stmt, StmtKind};
    let body = std::mem::take(&mut process.body);
    process.body = vec![Stmt::new(StmtKind::Loop(body), SpanId::NONE)];
}
