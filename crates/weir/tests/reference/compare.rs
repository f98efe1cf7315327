//! Compares every engine with the reference on one random program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use weir::{ENGINES, TURNS};
use weir_engine::{SearchOptions, Task};
use weir_gen::reference::{self, Reached};
use weir_gen::{Rng, Shape, ask, program, shrink};
use weir_model::answer::{Answer, Verdict};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Program, PropertyKind};
use weir_model::question::Kind;
use weir_model::system::System;

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Programs that were compared with the reference.
    pub programs: u64,
    /// Programs without a reference: too large, or with endlessly many values or traces.
    pub skipped: u64,
    /// Verdicts of engines that were compared.
    pub verdicts: u64,
    /// How many of these were `violated`.
    pub violated: u64,
    /// Properties that an engine did not decide.
    pub unknown: u64,
}

impl Counts {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.skipped += other.skipped;
        self.verdicts += other.verdicts;
        self.violated += other.violated;
        self.unknown += other.unknown;
    }
}

/// The models that random programs are compared under.
pub fn models() -> Vec<MemoryModel> {
    let of = |text: &str| text.parse::<MemoryModel>().expect("a memory model");
    let sets = ["sc", "tso", "pso", "nsw", "r->w", "tso+r->w", "tso+r->r/w", "nsw+r->w"];
    let mut models: Vec<MemoryModel> = sets.into_iter().map(of).collect();
    models.extend(["w->w", "w->r", "r->r, r->w", "pso+r->w", "tso+r->r/w+w->w"].map(of));
    models
}

/// A random program with everything that the reference knows, and properties.
pub fn random(rng: &mut Rng, model: MemoryModel) -> Program {
    let rich = Shape::rich();
    let has_loops = !model.guesses_reads() && rng.once_in(4);
    let shape = match rng.below(6) {
        _ if has_loops => Shape { loops: true, ..rich },
        5 if !model.guesses_reads() => {
            Shape { arithmetic: true, statements: 3 + rng.below(3), ..rich }
        }
        0 => Shape { statements: 2, vars: 1, values: 3, ..rich },
        1 => Shape { statements: 2, processes: 3, ..rich },
        2 => Shape { choices: false, awaits: false, ..rich },
        _ => rich,
    };
    let mut made = program(rng, &shape);
    if rng.once_in(2) {
        made.observed = None;
    }
    let count = 1 + rng.below(4);
    ask(rng, &mut made, count);
    made
}

/// What the reference says: by store buffers where there are some, else by rewriting.
pub fn meaning(program: &Program, model: MemoryModel) -> Option<Reached> {
    let atoms = reference::atoms(program);
    let buffers = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO];
    if buffers.contains(&model) {
        return reference::store_buffers(program, model, &atoms, 100_000, 6);
    }
    reference::rewriting(program, model, &atoms, 30_000)
}

fn options() -> SearchOptions {
    let budget = Budget::new().with_time(Duration::from_secs(5)).with_store(1 << 24);
    SearchOptions { budget, ..SearchOptions::default() }
}

/// Every engine that decides something under a model, with its name.
fn answers(system: &System, model: MemoryModel) -> Vec<(&'static str, Vec<Answer>)> {
    // With bounded guesses a property that holds may not hold without.
    let engines = ENGINES.into_iter().chain(TURNS).filter(|e| e.accepts(model, &options()).is_ok());
    engines
        .map(|engine| {
            let bytes = if engine.name() == "channels" { 1 << 20 } else { 1 << 24 };
            let options = SearchOptions { budget: options().budget.with_store(bytes), ..options() };
            let (answers, _) =
                engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap();
            (engine.name(), answers)
        })
        .collect()
}

/// Compares what is answered to the properties of a program with the reference.
fn compare_answers(
    system: &System,
    asked: &Program,
    model: MemoryModel,
    found: &[(&'static str, Vec<Answer>)],
    reached: &Reached,
    counts: &mut Counts,
) -> Result<(), String> {
    let atoms = reference::atoms(asked);
    for (engine, answers) in found {
        for answer in answers {
            let question = &system.questions[answer.property.index()];
            let expected = match (asked.properties.get(answer.property.index()), &question.kind) {
                (Some(property), _) => reached.holds(asked, &atoms, &property.kind),
                (None, Kind::Assertions) => reached.holds(asked, &atoms, &PropertyKind::Assertions),
                (None, Kind::Valued { .. }) => {
                    let of = |name: &str| question.name == format!("value of {name}");
                    let exists = system.questions.iter().position(|q| of(&q.name));
                    let asked_for = exists.map(|i| &asked.properties[i].kind);
                    let Some(PropertyKind::Final(_, formula)) = asked_for else {
                        return Err(format!("`{}` is about no property", question.name));
                    };
                    reached.is_without_value(asked, &atoms, formula).map(|lacks| !lacks)
                }
                (None, _) => continue,
            };
            match (expected, answer.verdict) {
                // A turn of the portfolio leaves open what others decide.
                (_, Verdict::Unknown) if engine.starts_with("auto-") => {}
                (_, Verdict::Unknown) => counts.unknown += 1,
                (None, _) => {}
                (Some(holds), verdict) => {
                    counts.verdicts += 1;
                    counts.violated += u64::from(!holds);
                    if holds != (verdict == Verdict::Holds) {
                        let name = &question.name;
                        let expected = if holds { "holds" } else { "violated" };
                        let verdict = verdict.name();
                        return Err(format!(
                            "under {model} the reference says that `{name}` is {expected}, \
                             the engine {engine} says {verdict}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Compares every engine with the reference, all properties at once; then each property
/// asked alone.
pub fn compare(program: &Program, model: MemoryModel) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let (Some(reached), Ok(system)) =
        (meaning(program, model), System::for_model(program.clone(), model))
    else {
        counts.skipped += 1;
        return Ok(counts);
    };
    counts.programs += 1;
    let found = answers(&system, model);
    compare_answers(&system, program, model, &found, &reached, &mut counts)?;
    if program.properties.len() > 1 {
        for i in 0..program.properties.len() {
            let mut alone = program.clone();
            alone.properties = vec![program.properties[i].clone()];
            let Some(reached) = meaning(&alone, model) else { continue };
            let system = System::for_model(alone.clone(), model)
                .map_err(|e| format!("property {i} alone: {e}"))?;
            let answers =
                ENGINES[0].check(Task::new(&system, model, &options()), &mut |_| {}).unwrap().0;
            compare_answers(&system, &alone, model, &[("auto", answers)], &reached, &mut counts)
                .map_err(|e| format!("property {i} alone: {e}"))?;
        }
    }
    Ok(counts)
}

/// A disagreement: what is wrong, and the smallest program that shows it.
#[derive(Debug)]
pub struct Disagreement {
    /// What is wrong.
    pub what: String,
    /// The program, as text.
    pub text: String,
}

/// One random program under one random model. The same numbers give the same case.
pub fn case(seed: u64, number: u64) -> Result<Counts, Disagreement> {
    let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let model = *rng.pick(&models());
    let random = random(&mut rng, model);
    // A panic is a disagreement as well.
    let run = |p: &Program| {
        let result = catch_unwind(AssertUnwindSafe(|| compare(p, model)));
        result.unwrap_or_else(|_| Err("something panics".to_owned()))
    };
    run(&random).map_err(|_| {
        let small = shrink(random, |p| run(p).is_err());
        let what = run(&small).expect_err("it was made small by that");
        Disagreement { what, text: weir_front::weir::print(&small) }
    })
}
