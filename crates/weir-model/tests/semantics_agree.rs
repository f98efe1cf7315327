//! Every operational form reaches what the definition says: on random loop-free
//! programs, the states and final states of each form are those of rewriting.
//!
//! A disagreement is shrunk and printed. `WEIR_SEED` and `WEIR_CASES` change
//! where the random programs start and how many there are.

use std::collections::BTreeSet;

use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::Program;
use weir_model::semantics::rewriting::{self, Reached};
use weir_model::semantics::{Form, sufficient_bound};
use weir_model::system::System;

use crate::common;

/// What one form of a model reaches with buffers that are long enough.
fn explore(system: &System, model: MemoryModel, form: Form) -> Reached {
    let bound = sufficient_bound(system).expect("loop-free");
    let (reached, is_complete) = common::explore(system, model, form, bound);
    assert!(is_complete, "the bound is sufficient");
    reached
}

fn system(program: &Program) -> System {
    System::for_model(program.clone(), MemoryModel::GUESS).expect("random programs are finite")
}

/// What one semantics reaches and another does not.
fn difference(a: &Reached, b: &Reached) -> String {
    let only = |x: &BTreeSet<_>, y: &BTreeSet<_>| format!("{:?}", x.difference(y).next());
    format!(
        "states only in the first {}, only in the second {}; finals {} and {}",
        only(&a.states, &b.states),
        only(&b.states, &a.states),
        only(&a.finals, &b.finals),
        only(&b.finals, &a.finals),
    )
}

/// Runs `agree` on random programs; a failure is shrunk before it is shown.
fn on_random_programs(cases: u64, shapes: &[Shape], agree: impl Fn(&System) -> Result<(), String>) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", cases);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(shapes).clone();
        let random = program(&mut rng, &shape);
        if agree(&system(&random)).is_err() {
            let small = shrink(random, |p| agree(&system(p)).is_err());
            let text = weir_front::weir::print(&small);
            let why = agree(&system(&small)).unwrap_err();
            panic!("seed {seed}, case {case}: {why}\n{text}");
        }
    }
}

fn shapes() -> Vec<Shape> {
    let plain = Shape { statements: 4, ..Shape::default() };
    vec![
        plain.clone(),
        Shape { vars: 3, statements: 4, ..plain.clone() },
        Shape { types: true, indices: true, ..plain.clone() },
        Shape { statements: 5, fences: false, atomics: false, branches: false, ..plain.clone() },
        Shape { statements: 3, values: 3, ..plain.clone() },
        Shape { processes: 3, statements: 2, branches: false, ..plain.clone() },
        Shape { processes: 3, statements: 2, vars: 1, values: 3, ..plain },
    ]
}

fn forms_equal_rewriting(model: MemoryModel, cases: u64) {
    on_random_programs(cases, &shapes(), |system| {
        let reference = rewriting::reached(system, model);
        for form in Form::of(model) {
            let found = explore(system, model, form);
            if form == Form::LoadBuffers {
                // Memory is ahead of the processes there: only control states
                // and what is left in the end can be compared.
                let controls = |r: &Reached| -> BTreeSet<_> {
                    r.states.iter().map(|(c, _)| c.clone()).collect()
                };
                if found.finals == reference.finals && controls(&found) == controls(&reference) {
                    continue;
                }
            }
            if found != reference {
                let what = difference(&reference, &found);
                return Err(format!("rewriting and {form:?} differ under {model}: {what}"));
            }
        }
        Ok(())
    });
}

#[test]
fn sc() {
    forms_equal_rewriting(MemoryModel::SC, 1000);
}

#[test]
fn tso() {
    forms_equal_rewriting(MemoryModel::TSO, 1000);
}

#[test]
fn pso() {
    forms_equal_rewriting(MemoryModel::PSO, 1000);
    forms_equal_rewriting(MemoryModel::PSO.without(Relaxation::Rwf), 200);
}

#[test]
fn nsw() {
    forms_equal_rewriting(MemoryModel::NSW, 1000);
    forms_equal_rewriting(MemoryModel::NSW.without(Relaxation::Rwf), 200);
}

#[test]
fn guess_and_validate() {
    forms_equal_rewriting(MemoryModel::GUESS, 1000);
    forms_equal_rewriting(MemoryModel::GUESS_WW, 1000);
}

#[test]
fn tso_with_read_write() {
    forms_equal_rewriting(MemoryModel::TSO.with(Relaxation::ReadWrite), 1000);
}

/// Sets without a name have the form that is driven by the relaxations.
#[test]
fn every_set_of_relaxations() {
    for model in MemoryModel::all().filter(|m| !m.has(Relaxation::Rrwe)) {
        forms_equal_rewriting(model, 40);
    }
}

/// RRWE has no rewriting: the two forms that know it are compared.
#[test]
fn nsw_with_rrwe() {
    let model = MemoryModel::NSW.with(Relaxation::Rrwe);
    on_random_programs(500, &shapes(), |system| {
        let a = explore(system, model, Form::NswRemote);
        let b = explore(system, model, Form::Relaxations);
        if a == b { Ok(()) } else { Err(format!("forms differ: {}", difference(&a, &b))) }
    });
}

/// Each named model has the states of the one before it. (RWF is in PSO and NSW only, and TSO
/// keeps the order of writes and of reads without partial fences.)
#[test]
fn models_are_monotone() {
    on_random_programs(300, &shapes(), |system| {
        let mut last = Reached::default();
        for (name, model) in MemoryModel::NAMED {
            let now = rewriting::reached(system, model);
            if !last.finals.is_subset(&now.finals) || !last.states.is_subset(&now.states) {
                return Err(format!("{name} loses a state"));
            }
            last = now;
        }
        Ok(())
    });
}
