//! Atomic blocks: the explicit engine, which takes their accesses one by one and locks the others
//! out, agrees with the reference, which executes a block at once.

use weir_check::Witness;
use weir_check::closed::{self, ClosedSet};
use weir_engine::{Engine, Explicit, SearchOptions, Task, reachable};
use weir_gen::{Rng, Shape, ask, program, reference, setting, shrink};
use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::semantics::Form;
use weir_model::system::System;

const BUFFERED: [MemoryModel; 3] = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO];

/// Programs with loops may fill buffers without end.
fn little() -> Budget {
    Budget::new().with_store(1 << 22)
}

fn answers(system: &System, model: MemoryModel, form: Option<Form>) -> Result<Vec<Answer>, String> {
    let budget = little();
    let options = SearchOptions { form, budget, ..SearchOptions::default() };
    let found = Explicit.check(Task::new(system, model, &options), &mut |_| {});
    let (answers, _) = found.map_err(|e| e.to_string())?;
    for answer in &answers {
        if let Evidence::Run(run) = &answer.evidence {
            let witness = Witness::new(system, run, answer.property, &|_| 1);
            let checked = weir_check::check(system, &witness);
            checked.map_err(|e| format!("{model}: run for {}: {e}", answer.property.index()))?;
        }
    }
    Ok(answers)
}

/// How many properties were compared.
fn agree(program: &Program) -> Result<u64, String> {
    let system = System::new(program.clone()).map_err(|e| e.to_string())?;
    let atoms = reference::atoms(program);
    let is_loop_free = system.is_loop_free();
    let mut compared = 0;
    for model in BUFFERED {
        let Some(reached) = reference::store_buffers(program, model, &atoms, 20_000, 8) else {
            continue;
        };
        let ours = answers(&system, model, None)?;
        let mut holding = Vec::new();
        for (i, (property, answer)) in program.properties.iter().zip(&ours).enumerate() {
            let expected = reached.holds(program, &atoms, &property.kind);
            let found = match answer.verdict {
                Verdict::Holds => Some(true),
                Verdict::Violated => Some(false),
                Verdict::Unknown => None,
            };
            if let (Some(expected), Some(found)) = (expected, found) {
                compared += 1;
                if expected != found {
                    return Err(format!("{model}: property {i} holds: {expected}, not {found}"));
                }
            }
            if !answer.has_run() && answer.is_known() {
                holding.push(answer.property);
            }
        }
        let is_listed = model == MemoryModel::SC || model == MemoryModel::TSO && is_loop_free;
        if is_listed
            && !holding.is_empty()
            && let Ok(all) = reachable::configurations(&system, model, &little())
        {
            let set = ClosedSet::new(&system, model, holding, &all);
            closed::check(&system, &set).map_err(|e| format!("{model}: closed set: {e}"))?;
        }
    }
    Ok(compared)
}

fn on_random(cases: u64, shape: &Shape, agree: impl Fn(&Program) -> Result<u64, String>) {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", cases));
    let mut compared = 0;
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let mut random = program(&mut rng, shape);
        ask(&mut rng, &mut random, 5);
        match agree(&random) {
            Ok(some) => compared += some,
            Err(_) => {
                let small = shrink(random, |p| agree(p).is_err());
                let why = agree(&small).unwrap_err();
                let text = weir_front::weir::print(&small);
                panic!("seed {seed}, case {case}: {why}\n{text}");
            }
        }
    }
    assert!(compared > cases, "they have something to compare: {compared}");
}

#[test]
fn loop_free_programs() {
    on_random(600, &Shape { blocks: true, ..Shape::rich() }, agree);
}

#[test]
fn looping_programs() {
    let shape = Shape { blocks: true, loops: true, domains: false, types: false, ..Shape::rich() };
    on_random(200, &shape, agree);
}

/// The forms of a model say the same of programs with blocks, as far as they have them.
#[test]
fn forms_agree() {
    let shape = Shape { blocks: true, statements: 3, awaits: true, ..Shape::default() };
    let models = [MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW, MemoryModel::GUESS];
    on_random(100, &shape, |program| {
        let mut compared = 0;
        for model in models {
            let system = System::for_model(program.clone(), model).map_err(|e| e.to_string())?;
            let forms = Form::of_system(&system, model);
            let first = answers(&system, model, Some(forms[0]))?;
            for &form in &forms[1..] {
                let other = answers(&system, model, Some(form))?;
                for (a, b) in first.iter().zip(&other).filter(|(a, b)| a.is_known() && b.is_known())
                {
                    compared += 1;
                    if a.verdict != b.verdict {
                        let (one, word, i) = (forms[0].word(), form.word(), a.property.index());
                        return Err(format!("{model}: `{one}` and `{word}` differ on {i}"));
                    }
                }
            }
        }
        Ok(compared)
    });
}

/// A process that fails in an `await` or at the beginning of a block does not wait.
#[test]
fn to_fail_is_not_to_wait() {
    for body in ["await 1 / x == 1", "atomic { r = x assume 1 / r == 1 x = 1 }"] {
        let text = format!("var x process p {{ reg r {body} }} no deadlock assertions");
        let (program, _) = weir_front::read("test.weir", &text, None).expect("a program");
        let system = System::new(program).expect("small");
        for model in BUFFERED {
            let verdicts: Vec<Verdict> =
                answers(&system, model, None).unwrap().iter().map(|a| a.verdict).collect();
            assert_eq!(verdicts, [Verdict::Holds, Verdict::Violated], "{model}: {body}");
        }
    }
}
