//! Random objects with clients.

use weir_gen::{Rng, Shape};
use weir_live::{Answer, Evidence, Options, Progress, Question, answers};
use weir_model::answer::Verdict;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::system::System;

/// The seeds of so many objects, unless `WEIR_SEED` and `WEIR_CASES` say others.
pub fn seeds(cases: u64) -> std::ops::Range<u64> {
    let setting = |name: &str, default| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
    };
    let first = setting("WEIR_SEED", 0);
    first..first + setting("WEIR_CASES", cases)
}

/// A random object, small enough to look at all of its runs.
pub fn object(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    if seed.is_multiple_of(5) {
        return weir_gen::racing_object(&mut rng);
    }
    let shape = Shape {
        vars: 1 + rng.below(2),
        statements: 3,
        loops: true,
        atomics: true,
        ..Shape::default()
    };
    weir_gen::object(&mut rng, &shape)
}

/// The system of an object with clients.
pub fn system(object: &Program, clients: usize) -> System {
    System::with_rounds(object.with_clients(clients).unwrap()).unwrap()
}

/// All five answers.
#[allow(dead_code, reason = "not every test asks for all")]
pub fn five(system: &System, options: &Options) -> Vec<Answer> {
    answers(system, &Progress::ALL.map(Question::Progress), options)
}

/// TSO with buffers, and folding, up to a bound.
#[allow(dead_code, reason = "not every test is about TSO")]
pub fn tso(bound: usize) -> Options {
    let mut options = Options::new(MemoryModel::TSO);
    options.search.bound = Some(bound);
    options.search.budget = Budget::new().with_store(16 << 20);
    options
}

/// The lasso file of an answer, if it rests on one.
#[allow(dead_code, reason = "not every test looks at lassos")]
pub fn file(
    system: &System,
    progress: Progress,
    flush_fair: bool,
    answer: &Answer,
) -> Option<weir_check::lasso::Lasso> {
    let Evidence::Lasso(lasso) = &answer.evidence else { return None };
    assert_eq!(answer.verdict, Verdict::Violated);
    Some(weir_check::lasso::Lasso::new(
        system,
        Some(system.processes.len()),
        weir_check::lasso::Asked::Progress(progress.name().to_owned()),
        flush_fair,
        (&lasso.run, lasso.stem),
        &|_| 0,
    ))
}
