//! What the explicit engine says can be believed, and the checker of runs can
//! tell its runs from what is none.
//!
//! * Every run that the engine returns, for random programs, random properties
//!   and many models, goes to a file and back and is accepted by `weir-check`.
//! * What the checker accepts is settled: no run is accepted under a model for
//!   which the exact engine says that there is none, however the run is labeled.
//! * A run that was tampered with is rejected.
//! * On loop-free programs the engine's verdicts are those of the definition.
//! * The same question gets the same answer, count by count and step by step.
//!
//! A failure is shrunk and printed. `WEIR_SEED` and `WEIR_CASES` change where
//! the random programs start and how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use weir_check::{Witness, check};
use weir_engine::{Engine, Explicit, SearchOptions, Stats, Task, explicit};
use weir_gen::{Rng, Shape, setting};
use weir_model::answer::{Answer, Evidence, Run, Snapshot, Verdict};
use weir_model::ids::{ProcessId, SpanId, StateId, ValueId};
use weir_model::limits::Budget;
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Program, Property, PropertyKind, Quantifier,
};
use weir_model::semantics::Form;
use weir_model::semantics::rewriting::{self, Reached};
use weir_model::system::System;

use crate::questions::{
    MODELS, asking, expanded, loop_free, looping, on_random_programs, random_model, show, system,
    witness,
};

// ---- asking the engine ------------------------------------------------------

fn answers(system: &System, model: MemoryModel, options: &SearchOptions) -> (Vec<Answer>, Stats) {
    Explicit.check(Task::new(system, model, options), &mut |_| {}).unwrap()
}

fn run_of(answer: &Answer) -> Option<&Run> {
    if let Evidence::Run(run) = &answer.evidence { Some(run) } else { None }
}

fn accepts_all(
    system: &System,
    model: MemoryModel,
    options: &SearchOptions,
) -> Result<usize, String> {
    let mut runs = 0;
    for answer in answers(system, model, options).0 {
        let exists = matches!(
            system.program.properties[answer.property.index()].kind,
            PropertyKind::Final(Quantifier::Exists, _)
        );
        let Some(run) = run_of(&answer) else { continue };
        runs += 1;
        let shown = if exists { Verdict::Holds } else { Verdict::Violated };
        if answer.verdict != shown {
            return Err(format!("{model}: a run shows {:?}", answer.verdict));
        }
        let witness = witness(system, run, answer.property);
        if let Err(why) = check(system, &witness) {
            let name = &witness.property_name;
            return Err(format!("{model}, {name}: rejected, {why}\n{}", show(&witness)));
        }
    }
    Ok(runs)
}

#[test]
fn runs_of_loop_free_programs_are_accepted() {
    let mut runs = 0;
    on_random_programs(250, &loop_free(), |system, start| {
        let mut rng = Rng::new(!start);
        let random = [random_model(&mut rng), random_model(&mut rng), random_model(&mut rng)];
        for model in MODELS.into_iter().chain(random) {
            runs += accepts_all(system, model, &SearchOptions::default())?;
        }
        Ok(())
    });
    assert!(runs > 100, "only {runs} runs");
}

/// Every set of relaxations, RRWE included.
#[test]
fn runs_of_every_set_of_relaxations_are_accepted() {
    let small = Shape { statements: 3, ..Shape::default() };
    let shapes = [small.clone(), Shape { vars: 3, ..small.clone() }];
    on_random_programs(16, &shapes, |system, _| {
        for model in MemoryModel::all() {
            accepts_all(system, model, &SearchOptions::default())?;
        }
        Ok(())
    });
}

#[test]
fn runs_of_looping_programs_are_accepted() {
    let mut runs = 0;
    on_random_programs(120, &looping(), |system, start| {
        let mut rng = Rng::new(!start);
        let random = [random_model(&mut rng), random_model(&mut rng)];
        for model in MODELS.into_iter().chain(random) {
            let options = SearchOptions {
                bound: Some(1 + rng.below(3)),
                budget: Budget::new().with_store(1 << 18).with_time(Duration::from_secs(5)),
                ..SearchOptions::default()
            };
            runs += accepts_all(system, model, &options)?;
        }
        Ok(())
    });
    assert!(runs > 100, "only {runs} runs");
}

// ---- what the checker accepts is so -----------------------------------------

/// The program, asking for final states that some of the models have and some
/// have not.
fn telling_apart(program: &Program, models: &[MemoryModel]) -> Program {
    let mut asking = Program { properties: vec![], filter: None, ..program.clone() };
    let plain = system(&asking);
    let finals: Vec<_> = models
        .iter()
        .map(|&m| {
            explicit::outcomes(Task::new(&plain, m, &SearchOptions::default()), &mut |_| {})
                .unwrap()
        })
        .collect();
    let all: BTreeSet<_> = finals.iter().flat_map(|o| &o.states).collect();
    let some = all.into_iter().filter(|s| !finals.iter().all(|o| o.states.contains(s)));
    for (values, _) in some.take(8) {
        let equal = |(&atom, &value): (&Atom, &i128)| {
            Expr::binary(BinOp::Eq, Expr::Atom(atom), Expr::Const(value))
        };
        let state = finals[0].atoms.iter().zip(values).map(equal);
        let state = state.reduce(|a, b| Expr::binary(BinOp::And, a, b));
        let kind = PropertyKind::Final(Quantifier::Exists, state.unwrap_or(Expr::Const(1)));
        asking.properties.push(Property { name: None, kind, span: SpanId::NONE });
    }
    asking
}

/// A run is accepted only under models for which the exact engine finds one too.
#[test]
fn no_run_is_accepted_under_a_model_that_has_none() {
    let (mut accepted, mut rejected, mut had_to) = (0, 0, 0);
    let bare = Shape { statements: 5, atomics: false, branches: false, ..Shape::default() };
    let mut shapes = loop_free();
    shapes.extend([bare.clone(), Shape { processes: 3, statements: 3, ..bare }]);
    on_random_programs(1000, &shapes, |given, start| {
        let mut rng = Rng::new(!start);
        let random = [random_model(&mut rng), random_model(&mut rng), random_model(&mut rng)];
        let models: Vec<_> = MODELS.into_iter().chain(random).collect();
        let apart = system(&telling_apart(&given.program, &models));
        for system in [given, &apart] {
            let all: Vec<_> =
                models.iter().map(|&m| answers(system, m, &SearchOptions::default()).0).collect();
            for answer in all.iter().flatten() {
                let Some(run) = run_of(answer) else { continue };
                for (&model, theirs) in models.iter().zip(&all) {
                    let mut relabeled = witness(system, run, answer.property);
                    relabeled.model = model.to_string();
                    let settled = run_of(&theirs[answer.property.index()]).is_some();
                    match check(system, &relabeled) {
                        Ok(()) if !settled => {
                            let of = run.model;
                            let shown = show(&relabeled);
                            return Err(format!(
                                "a run of {of} is accepted under {model}, which has none\n{shown}"
                            ));
                        }
                        Err(why) if model == run.model => {
                            let shown = show(&relabeled);
                            return Err(format!("{model}: rejected, {why}\n{shown}"));
                        }
                        Ok(()) => accepted += 1,
                        Err(_) if settled => rejected += 1,
                        Err(_) => had_to += 1,
                    }
                }
            }
        }
        Ok(())
    });
    println!("{accepted} accepted, {rejected} and {had_to} not");
    assert!(accepted > 100 && had_to > 100, "{accepted} accepted, {rejected} and {had_to} not");
}

/// Whether a last state can settle a question at all; buffers are not asked.
fn may_settle(system: &System, run: &Run, kind: &PropertyKind) -> bool {
    let Snapshot { controls, memory, .. } = run.end(system);
    match kind {
        PropertyKind::Never(f) => system.truth(f, &controls, &memory) != Ok(false),
        PropertyKind::Assertions => system.failed(&controls).is_some(),
        PropertyKind::NoDeadlock(except) => system.is_deadlock(&controls, &memory, except),
        PropertyKind::Final(q, f) => {
            system.all_ended(&controls) && final_settles(system, (&controls, &memory), *q, f)
        }
    }
}

/// Every way to tamper with a witness in one place, each with its name.
fn tampered(
    system: &System,
    run: &Run,
    witness: &Witness,
    rng: &mut Rng,
) -> Vec<(&'static str, Witness)> {
    let mut all = Vec::new();
    let expanded = expanded(system);
    for (i, step) in witness.steps.iter().enumerate() {
        let (p, transition) = (run.steps[i].process, run.steps[i].transition);
        let (Some(transition), Some(name)) = (transition, &step.transition) else {
            // Memory changes if an update changes it and is left out.
            continue;
        };
        let taken = *system.transition(p, transition);
        // In a loop of one state nobody can tell how often it was gone round.
        if taken.from != taken.to {
            let mut changed = witness.clone();
            changed.steps.remove(i);
            all.push(("a step is gone", changed));
        }
        let names = |p: ProcessId| -> Vec<String> {
            expanded.all_transitions(p).map(|t| system.transition_name(p, t)).collect()
        };
        let chosen = rng.pick(&names(p)).clone();
        if chosen != *name {
            let mut changed = witness.clone();
            changed.steps[i].transition = Some(chosen);
            all.push(("another transition", changed));
        }
        if system.processes.len() > 1 {
            let others: Vec<_> = system.process_ids().filter(|other| *other != p).collect();
            let stranger = *rng.pick(&others);
            let mut changed = witness.clone();
            changed.steps[i].process.clone_from(&system.processes[stranger.index()].name);
            // With another's step this one is missing its own.
            if taken.from != taken.to && !names(stranger).contains(name) {
                all.push(("another process", changed));
            }
        }
    }
    for (name, value) in &witness.end.memory {
        let mut changed = witness.clone();
        changed.end.memory.insert(name.clone(), value + 1);
        all.push(("another memory in the end", changed));
    }
    for p in system.process_ids() {
        let states = expanded.states(p).map(|s| system.state_name(p, s));
        let other = states.filter(|s| *s != witness.end.states[p.index()]);
        // One that the process has, and one that it has not.
        let other: Vec<String> = other.collect();
        let known = (!other.is_empty()).then(|| rng.pick(&other).clone());
        for name in known.into_iter().chain(["999".to_owned()]) {
            let mut changed = witness.clone();
            changed.end.states[p.index()] = name;
            all.push(("another control state in the end", changed));
        }
    }
    for (index, property) in system.program.properties.iter().enumerate() {
        if !may_settle(system, run, &property.kind) {
            let mut changed = witness.clone();
            changed.property = index;
            changed.property_name = system.questions[index].name.clone();
            all.push(("another property", changed));
        }
    }
    all
}

#[test]
fn what_was_tampered_with_is_rejected() {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let shapes: Vec<_> = loop_free().into_iter().chain(looping()).collect();
    on_random_programs(150, &shapes, |system, start| {
        let mut rng = Rng::new(!start);
        let options = if system.is_loop_free() { None } else { Some(1) }.map_or(
            SearchOptions::default(),
            |b| SearchOptions {
                bound: Some(b),
                budget: Budget::new().with_store(1 << 18),
                ..SearchOptions::default()
            },
        );
        for model in MODELS.into_iter().chain([random_model(&mut rng)]) {
            for answer in answers(system, model, &options).0 {
                let Some(run) = run_of(&answer) else { continue };
                let witness = witness(system, run, answer.property);
                for (how, changed) in tampered(system, run, &witness, &mut rng) {
                    if check(system, &changed).is_ok() {
                        let shown = show(&changed);
                        return Err(format!("{model}: {how}, and it is accepted\n{shown}"));
                    }
                    *counts.entry(how).or_default() += 1;
                }
            }
        }
        Ok(())
    });
    for how in [
        "a step is gone",
        "another transition",
        "another process",
        "another memory in the end",
        "another control state in the end",
        "another property",
    ] {
        let count = counts.get(how).copied().unwrap_or(0);
        assert!(count > 100, "{how}: only {count} were rejected");
    }
}

// ---- the definition ---------------------------------------------------------

/// Whether some run settles a question, by the definition of the model.
fn settled_by_definition(system: &System, reached: &Reached, kind: &PropertyKind) -> bool {
    let states = || reached.states.iter();
    match kind {
        PropertyKind::Never(f) => states().any(|(c, m)| system.truth(f, c, m) != Ok(false)),
        PropertyKind::Assertions => states().any(|(c, _)| system.failed(c).is_some()),
        // A loop-free program is stuck only at an `assume`: in a control state
        // that nothing leaves, whatever is in memory.
        PropertyKind::NoDeadlock(_) => states().any(|(c, _)| {
            system.failed(c).is_none()
                && !system.all_ended(c)
                && system
                    .process_ids()
                    .all(|p| expanded(system).transitions(p, c[p.index()]).next().is_none())
        }),
        PropertyKind::Final(q, f) => {
            reached.finals.iter().any(|(c, m)| final_settles(system, (c, m), *q, f))
        }
    }
}

/// Whether a final state settles a property. One in which a formula has no value violates it.
fn final_settles(
    system: &System,
    (controls, memory): (&[StateId], &[ValueId]),
    quantifier: Quantifier,
    formula: &Formula,
) -> bool {
    let filter = system.program.filter.as_ref();
    match filter.map_or(Ok(true), |f| system.truth(f, controls, memory)) {
        Ok(false) => false,
        Err(_) => quantifier != Quantifier::Exists,
        Ok(true) => match (system.truth(formula, controls, memory), quantifier) {
            (Err(_), quantifier) => quantifier != Quantifier::Exists,
            (Ok(is_true), quantifier) => is_true == (quantifier != Quantifier::Always),
        },
    }
}

#[test]
fn verdicts_are_those_of_the_definition() {
    let (mut yes, mut no) = (0, 0);
    on_random_programs(250, &loop_free(), |system, start| {
        let mut rng = Rng::new(!start);
        let random = random_model(&mut rng);
        let models = MODELS.into_iter().chain([random]).filter(|m| !m.has(Relaxation::Rrwe));
        for model in models {
            let reached = rewriting::reached(system, model);
            for answer in answers(system, model, &SearchOptions::default()).0 {
                let kind = &system.program.properties[answer.property.index()].kind;
                let settled = settled_by_definition(system, &reached, kind);
                *if settled { &mut yes } else { &mut no } += 1;
                let exists = matches!(kind, PropertyKind::Final(Quantifier::Exists, _));
                let expected = if settled == exists { Verdict::Holds } else { Verdict::Violated };
                if answer.verdict != expected || run_of(&answer).is_some() != settled {
                    let name = system.questions[answer.property.index()].name.clone();
                    let found = answer.verdict;
                    return Err(format!("{model}, {name}: {found:?}, should be {expected:?}"));
                }
            }
        }
        Ok(())
    });
    assert!(yes > 100 && no > 100, "{yes} settled, {no} not");
}

// ---- the same each time -----------------------------------------------------

#[test]
fn the_same_question_gets_the_same_answer() {
    let shapes: Vec<_> = loop_free().into_iter().chain(looping()).collect();
    on_random_programs(60, &shapes, |system, start| {
        let mut rng = Rng::new(!start);
        for model in MODELS.into_iter().chain([random_model(&mut rng)]) {
            let options = SearchOptions {
                bound: Some(2),
                budget: Budget::new().with_store(1 << 18),
                ..SearchOptions::default()
            };
            let all = |system: &System| {
                let (answers, stats) = answers(system, model, &options);
                let counts = (stats.stored, stats.expanded, stats.steps, stats.depth, stats.bytes);
                let stopped = format!("{counts:?} {:?} {}", stats.stopped, stats.within_bound);
                let named = |a: &Answer| match run_of(a) {
                    Some(run) => format!("{:?} {:?}", a.verdict, witness(system, run, a.property)),
                    None => format!("{a:?}"),
                };
                let named: Vec<_> = answers.iter().map(named).collect();
                (format!("{stopped} {named:?}"), format!("{answers:?}"))
            };
            let fresh = || self::system(&system.program);
            let (first, second) = (all(&fresh()), all(&fresh()));
            if first != second {
                return Err(format!("{model}: {first:?}\nand then {second:?}"));
            }
            // In a system that was searched before, control states have other numbers.
            let later = all(system);
            if first.0 != later.0 {
                return Err(format!("{model}: {}\nand later {}", first.0, later.0));
            }
        }
        Ok(())
    });
}

/// The final states and the verdicts are the same in every form of a model, and every run is
/// accepted. With load buffers nothing is said of variables while processes run.
#[test]
fn forms_agree() {
    let seed = setting("WEIR_SEED", 1);
    let (mut compared, mut unanswered) = (0, 0);
    for case in 0..setting("WEIR_CASES", 120) {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(&loop_free()).clone();
        let random = asking(&mut rng, &shape);
        let system = system(&random);
        let text = || weir_front::weir::print(&random);
        for model in MODELS {
            let mut first = None;
            for form in Form::of(model) {
                let options = SearchOptions { form: Some(form), ..SearchOptions::default() };
                let task = Task::new(&system, model, &options);
                let outcomes = explicit::outcomes(task, &mut |_| {}).unwrap();
                assert!(outcomes.stats.is_exact());
                let (answers, _) = Explicit.check(task, &mut |_| {}).unwrap();
                for answer in &answers {
                    if let Evidence::Run(run) = &answer.evidence {
                        assert_eq!(run.form, form);
                        let witness = Witness::new(&system, run, answer.property, &|_| 1);
                        check(&system, &witness).unwrap_or_else(|e| panic!("{e}\n{}", text()));
                    }
                }
                let verdicts: Vec<Verdict> = answers.iter().map(|a| a.verdict).collect();
                let Some((states, expected)) = &first else {
                    first = Some((outcomes.states, verdicts));
                    continue;
                };
                assert_eq!(&outcomes.states, states, "{model}, {form:?}\n{}", text());
                for (i, (found, expected)) in verdicts.iter().zip(expected).enumerate() {
                    if form.is_ahead() && system.questions[i].asks_for_memory_under_way() {
                        assert_eq!(*found, Verdict::Unknown);
                        unanswered += 1;
                        continue;
                    }
                    assert_eq!(found, expected, "{model}, {form:?}, {i}\n{}", text());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 0 && unanswered > 0, "{compared}, {unanswered}");
}

#[test]
fn forms_of_other_models_are_refused() {
    let system = system(&asking(&mut Rng::new(1), &Shape::default()));
    for model in MODELS {
        for form in [Form::LoadBuffers, Form::NswHistory, Form::NswEvents, Form::Guess] {
            let options = SearchOptions { form: Some(form), ..SearchOptions::default() };
            let task = Task::new(&system, model, &options);
            let is_one = Form::of(model).contains(&form);
            assert_eq!(Explicit.check(task, &mut |_| {}).is_ok(), is_one, "{model} {form:?}");
            assert_eq!(explicit::outcomes(task, &mut |_| {}).is_ok(), is_one, "{model} {form:?}");
        }
    }
}
