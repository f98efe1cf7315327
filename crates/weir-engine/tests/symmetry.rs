//! Symmetry makes no difference: on random families of processes, a search that stores one of
//! several images answers as one that stores every configuration, and its runs are runs.

use std::collections::BTreeSet;

use weir_check::{replay, witness::Witness};
use weir_engine::explicit::outcomes;
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_gen::{Rng, setting};
use weir_model::answer::Evidence;
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::common::whole;

const MODELS: [MemoryModel; 5] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW, MemoryModel::C11];

const BOUND: usize = 2;

/// Statements of a member `i` of a family. Some keep the symmetry, others break it.
const STATEMENTS: [&str; 33] = [
    "x = 1",
    "x = i + 1",
    "r = x",
    "r = y",
    "y = i",
    "y = N",
    "a[i] = 1",
    "r = a[i]",
    "s = y",
    "if s != N { r = a[s] }",
    "if s != N { a[s] = 1 }",
    "r = swap(y, i)",
    "s = swap(y, N)",
    "if cas(y, N, i) { r = 1 }",
    "if r == i { x = 0 }",
    "bits = bits ^ (1 << i)",
    "r = bits; t = r >> i & 1",
    "assert t == 0",
    "assert r != i",
    "fence",
    "fetch_add(x, 1)",
    "b[i] = i",
    "r = b[i]; s = r",
    "if r > i { x = 1 }",
    "await y != i",
    "choose { x = 1 } or { r = i }",
    "a[i].store(1, release)",
    "x.store(i + 1, seq_cst)",
    "r = y.load(acquire)",
    "b[i].store(i, plain)",
    "r = b[0].load(plain)",
    "if i == 0 { x.store(1, release) } else { x.store(1, relaxed) }",
    "if cas(y, N, i, acq_rel, relaxed) { fence(release) }",
];

const QUESTIONS: [&str; 6] = [
    "never count(p@there) >= 2",
    "never p[0]@there and p[1]@there",
    "never x == 1 and y == 0",
    "never y == N and x == 1",
    "final exists p[0].r == p[1].r",
    "final never x == 0 and y == N",
];

fn text(rng: &mut Rng) -> String {
    let mut body = String::new();
    let count = 2 + rng.below(4);
    let place = rng.below(count);
    for n in 0..count {
        if n == place {
            body += "  there:\n";
        }
        let all = rng.pick(&STATEMENTS).split("; ");
        body.extend(all.map(|s| format!("    {s}\n")));
    }
    let others = match rng.below(3) {
        0 => "process q { reg r\n r = x\n if r == 1 { y = N } }\n",
        1 => "process q { reg r\n r = y\n if r == 1 { x = 0 } }\n",
        _ => "",
    };
    let first = ["N", "N", "0"][rng.below(3)];
    let mut text = format!(
        "const N = 3\nvar x\nvar y = {first}\nvar a[N]\nvar b[N] = N\nvar bits: 0..7\n\
         process p[i: 0..N - 1] {{\n    reg r, s, t\n{body}}}\n{others}no deadlock\nassertions\n"
    );
    for _ in 0..2 {
        let question = rng.pick(&QUESTIONS);
        // A name of its own, since a question may come twice.
        text += &format!("q{}: {question}\n", text.len());
    }
    text
}

#[test]
fn one_of_many_answers_for_all() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 120);
    let (mut symmetric, mut runs, mut excluded) = (0, 0, 0);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let text = text(&mut rng);
        let (mut program, _) = weir_front::read("family.weir", &text, None)
            .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        program.observed = Some(program.everything());
        for model in MODELS {
            let system = System::for_model(program.clone(), model).unwrap();
            let exchanges = system.exchanges(&system.questions, &Budget::new()).unwrap();
            symmetric += usize::from(!exchanges.is_empty());
            let Some(whole) = whole(&system, model, BOUND) else { continue };
            let options = SearchOptions { bound: Some(BOUND), ..SearchOptions::default() };
            let (answers, stats) =
                Explicit.search(Task::new(&system, model, &options), &mut |_| {});
            let found = outcomes(Task::new(&system, model, &options), &mut |_| {}).unwrap();
            let found: BTreeSet<Vec<i128>> = found.states.into_iter().map(|(v, _)| v).collect();
            assert_eq!(found, whole.finals, "seed {seed}, case {case}, {model}\n{text}");
            for ((question, answer), expected) in
                system.questions.iter().zip(&answers).zip(whole.settled)
            {
                let found = answer.has_run();
                let context =
                    || format!("seed {seed}, case {case}, {model}, `{}`\n{text}", question.name);
                assert_eq!(found, expected, "{}", context());
                match &answer.evidence {
                    Evidence::Run(run) => {
                        runs += 1;
                        let lines = |_: SpanId| 1;
                        let witness = Witness::new(&system, run, answer.property, &lines);
                        let checked = replay::check(&system, &witness);
                        assert_eq!(checked, Ok(()), "{}", context());
                    }
                    _ => excluded += usize::from(stats.is_exact()),
                }
            }
        }
    }
    let counts = (symmetric, runs, excluded);
    let enough = cases as usize;
    assert!(symmetric > enough / 2 && runs > enough && excluded > enough, "{counts:?}");
}
