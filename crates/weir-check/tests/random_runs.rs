//! The checker of runs can tell a run from what is none, on random runs of random programs.
//!
//! * It accepts random runs of every form of every model.
//! * It accepts no run to a state that the model does not have by its definition, however the run
//!   is labeled and changed.
//!
//! A failure is shrunk and printed. `WEIR_SEED` and `WEIR_CASES` change where the random programs
//! start and how many there are.

use std::collections::BTreeMap;

use weir_check::{Witness, check};
use weir_gen::Rng;
use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{QuestionId, SpanId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{Expr, Program, Property, PropertyKind};
use weir_model::semantics::rewriting;
use weir_model::semantics::{Form, Rule, sufficient_bound};
use weir_model::system::{System, Variable};

use crate::common::{
    MODELS, expanded, loop_free, looping, on_random_programs, random_model, show, system, witness,
};

/// A random run in one form, as far as the last configuration that means
/// something. On the way, every step determines the configuration that it leads to,
/// and the run that is replayed is the one that was taken.
fn walk(system: &System, model: MemoryModel, form: Form, rng: &mut Rng) -> Run {
    let bound = sufficient_bound(system).unwrap_or(3);
    let semantics = form.semantics(system, model, bound);
    let mut config = rng.pick(&semantics.initial().collect::<Vec<_>>()).clone();
    let start = Snapshot::new(semantics.as_ref(), &config);
    let (mut steps, mut meaningful) = (vec![], 0);
    let mut states = vec![];
    let mut scratch = vec![];
    while steps.len() < 60 {
        let mut next = vec![];
        let _ = semantics.successors(&config, &mut scratch, &mut |step, config| {
            next.push((step, config.to_vec()));
        });
        if next.is_empty() {
            break;
        }
        for (i, (step, to)) in next.iter().enumerate() {
            let same = next[..i].iter().find(|(s, _)| s == step);
            assert!(same.is_none_or(|(_, other)| other == to), "{form:?}: {step:?} leads to two");
        }
        let (step, after) = next.swap_remove(rng.below(next.len()));
        config = after;
        steps.push(step);
        states.push(Snapshot::new(semantics.as_ref(), &config));
        if semantics.is_settled(&config) {
            meaningful = steps.len();
        }
    }
    steps.truncate(meaningful);
    let run = Run { model, form, bound, start, steps };
    let mut replay = run.replay(system);
    while replay.advance().is_some() {
        assert_eq!(replay.snapshot(), states[replay.taken() - 1], "{form:?}");
    }
    drop(replay);
    run
}

/// Not only the shortest runs of the forms that engines search: random runs of
/// every form of every model.
#[test]
fn random_runs_of_every_form_are_accepted() {
    let mut lengths: BTreeMap<&'static str, usize> = BTreeMap::new();
    let shapes: Vec<_> = loop_free().into_iter().chain(looping()).collect();
    on_random_programs(400, &shapes, |given, start| {
        let mut rng = Rng::new(!start);
        let kind = PropertyKind::Never(Expr::Const(1));
        let always = Property { name: None, kind, span: SpanId::NONE };
        let system = system(&Program { properties: vec![always], ..given.program.clone() });
        let random = [random_model(&mut rng), random_model(&mut rng)];
        for model in MODELS.into_iter().chain(random) {
            for form in Form::of(model) {
                let run = walk(&system, model, form, &mut rng);
                let witness = witness(&system, &run, QuestionId(0));
                if let Err(why) = check(&system, &witness) {
                    return Err(format!("{model}: rejected, {why}\n{}", show(&witness)));
                }
                let longest = lengths.entry(form.name()).or_default();
                *longest = run.steps.len().max(*longest);
            }
        }
        Ok(())
    });
    assert!(lengths.len() >= 9 && lengths.values().all(|&n| n > 9), "{lengths:?}");
}

/// The witness with one thing about its steps changed at random.
fn forge(witness: &mut Witness, rng: &mut Rng) {
    if witness.steps.is_empty() {
        return;
    }
    let i = rng.below(witness.steps.len());
    let j = rng.below(witness.steps.len());
    match rng.below(5) {
        0 => witness.steps.swap(i, j),
        1 => {
            let step = witness.steps.remove(i);
            witness.steps.insert(j, step);
        }
        2 => witness.steps[i].rule = rng.pick(&Rule::ALL).name().to_owned(),
        3 if witness.steps[i].transition.is_none() => {
            witness.steps.remove(i);
        }
        3 | 4 => {
            let copy = witness.steps[i].clone();
            if copy.transition.is_none() {
                witness.steps.insert(j, copy);
            }
        }
        _ => unreachable!(),
    }
}

/// All memories that a witness can claim to end in.
fn memories(system: &System) -> Vec<BTreeMap<String, i128>> {
    let expanded = expanded(system);
    (0..system.vars.len()).map(VarId::new).fold(vec![BTreeMap::new()], |all, x| {
        let each = |m: BTreeMap<String, i128>| {
            expanded.values(x).iter().map(move |v| {
                let mut longer = m.clone();
                longer.insert(system.vars[x.index()].name.clone(), system.value(x, *v));
                longer
            })
        };
        all.into_iter().flat_map(each).collect()
    })
}

/// Runs of any form, relabeled and with their steps shuffled and changed: what
/// is accepted nevertheless ends in a state that the definition has.
#[test]
fn forged_runs_prove_nothing_false() {
    let (mut accepted, mut rejected) = (0, 0);
    on_random_programs(300, &loop_free(), |given, start| {
        let mut rng = Rng::new(!start);
        let kind = PropertyKind::Never(Expr::Const(1));
        let always = Property { name: None, kind, span: SpanId::NONE };
        let system = system(&Program { properties: vec![always], ..given.program.clone() });
        let memories = memories(&system);
        let all: Vec<_> = MemoryModel::all().filter(|m| !m.has(Relaxation::Rrwe)).collect();
        for _ in 0..4 {
            let model = *rng.pick(&all);
            let reached = rewriting::reached(&system, model);
            for _ in 0..20 {
                let of = if rng.once_in(2) { model } else { *rng.pick(&MODELS) };
                let form = *rng.pick(&Form::of(of));
                let run = walk(&system, of, form, &mut rng);
                let mut forged = witness(&system, &run, QuestionId(0));
                forged.model = model.to_string();
                (0..rng.below(4)).for_each(|_| forge(&mut forged, &mut rng));
                for memory in &memories {
                    forged.end.memory.clone_from(memory);
                    if check(&system, &forged).is_err() {
                        rejected += 1;
                        continue;
                    }
                    accepted += 1;
                    let value = |(x, v): (&Variable, &i128)| x.id(*v);
                    // The memory of a witness is by name, as it happens in order.
                    let values = system.vars.iter().zip(memory.values()).map(value).collect();
                    let states = system.process_ids().zip(&forged.end.states);
                    let states = states.map(|(p, s)| system.find_state(p, s).expect("a state"));
                    let states = states.collect();
                    if !reached.states.contains(&(states, values)) {
                        let shown = show(&forged);
                        return Err(format!(
                            "{model} does not reach this, yet it is accepted\n{shown}"
                        ));
                    }
                }
            }
        }
        Ok(())
    });
    assert!(accepted > 100 && rejected > 100, "{accepted} accepted, {rejected} rejected");
}
