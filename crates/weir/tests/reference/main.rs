//! Engines and the reference agree on random programs.
//!
//! `WEIR_SEED` and `WEIR_CASES` change where the random programs start and how many there
//! are; `cargo run --release -p weir --example reference` compares many.

mod compare;

use compare::{Counts, case};
use weir_engine::SearchOptions;
use weir_game::solve;
use weir_gen::reference;
use weir_gen::{Rng, Shape, ask_games, ask_live, program, setting, shrink};
use weir_live::{Options, Question, answers};
use weir_model::answer::Verdict;
use weir_model::game::Player;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::system::System;

#[test]
fn every_engine_says_what_the_reference_says() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 600);
    let mut counts = Counts::default();
    for number in 0..cases {
        match case(seed, number) {
            Ok(more) => counts.add(more),
            Err(found) => {
                panic!("seed {seed}, case {number}: {}\n{}", found.what, found.text)
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(counts.programs > cases / 2, "{counts:?}");
    // Many of each verdict.
    let held = counts.verdicts - counts.violated;
    assert!(counts.violated > cases && held > 2 * cases, "{counts:?}");
}

/// Runs `agree` on random programs; a failure is shrunk before it is shown.
fn on_random(
    cases: u64,
    make: impl Fn(&mut Rng) -> Program,
    mut agree: impl FnMut(&Program) -> Result<bool, String>,
) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", cases);
    let mut compared = 0;
    for number in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let random = make(&mut rng);
        match agree(&random) {
            Ok(was_compared) => compared += u64::from(was_compared),
            Err(_) => {
                let small = shrink(random, |p| agree(p).is_err());
                let why = agree(&small).unwrap_err();
                let text = weir_front::weir::print(&small);
                panic!("seed {seed}, case {number}: {why}\n{text}");
            }
        }
    }
    assert!(compared > cases / 2, "only {compared} were compared");
}

/// A random program with what runs without end can have, under SC and with few states.
fn looping(rng: &mut Rng) -> Program {
    let shape = Shape {
        loops: true,
        locals: true,
        awaits: true,
        labels: 3,
        gotos: true,
        atomics: rng.once_in(2),
        fences: false,
        statements: 2,
        ..Shape::default()
    };
    let mut made = program(rng, &shape);
    made.observed = None;
    made
}

/// Questions about runs without end are answered as the reference answers them, alone and
/// together with others.
#[test]
fn runs_without_end() {
    let (mut holds, mut compared) = (0, 0);
    let agree = |program: &Program| -> Result<(u64, u64), String> {
        let (mut holds, mut compared) = (0, 0);
        let mut answer = |program: &Program, when: &str| {
            let Ok(system) = System::with_rounds(program.clone()) else { return Ok(()) };
            let questions: Vec<_> = program.live.iter().map(|l| Question::Live(&l.kind)).collect();
            let found = answers(&system, &questions, &Options::new(MemoryModel::SC));
            for (i, (live, answer)) in program.live.iter().zip(found).enumerate() {
                let Some(expected) = reference::live(program, &live.kind, 20_000) else { continue };
                compared += 1;
                holds += u64::from(expected);
                if (answer.verdict == Verdict::Holds) != expected {
                    let verdict = answer.verdict.name();
                    return Err(format!("question {i} {when}: {verdict}, expected {expected}"));
                }
            }
            Ok(())
        };
        answer(program, "with the others")?;
        for live in &program.live {
            let alone = Program { live: vec![live.clone()], ..program.clone() };
            answer(&alone, "alone")?;
        }
        Ok((holds, compared))
    };
    on_random(
        400,
        |rng| {
            let mut random = looping(rng);
            ask_live(rng, &mut random, 3);
            random
        },
        |program| {
            let (more_hold, more) = agree(program)?;
            holds += more_hold;
            compared += more;
            Ok(more > 0)
        },
    );
    assert!(holds > compared / 5 && holds < compared * 4 / 5, "{holds} of {compared}");
}

/// Who wins a game does not depend on what other games there are.
#[test]
fn winners_of_games() {
    let wins = |program: &Program| -> Vec<Option<Player>> {
        let Ok(system) = System::new(program.clone()) else { return vec![] };
        let options = weir_game::Options::default();
        let budget = Budget::new().with_store(1 << 24);
        let search = SearchOptions { budget, ..SearchOptions::default() };
        (0..program.games.len())
            .map(|g| solve(&system, g, &options, &search, &mut |_| {}).ok()?.winner)
            .collect()
    };
    let (mut process, mut all) = (0, 0);
    on_random(
        400,
        |rng| {
            let shape = Shape {
                loops: rng.once_in(2),
                locals: true,
                awaits: true,
                choices: true,
                labels: 3,
                gotos: true,
                atomics: false,
                statements: 3,
                ..Shape::default()
            };
            loop {
                let mut random = program(rng, &shape);
                random.observed = None;
                if random.processes.iter().any(|p| !p.labels.is_empty()) {
                    ask_games(rng, &mut random, 3);
                    return random;
                }
            }
        },
        |program| {
            let together = wins(program);
            for (g, winner) in together.iter().enumerate() {
                let alone = Program { games: vec![program.games[g].clone()], ..program.clone() };
                let alone = wins(&alone);
                if alone != [*winner] {
                    return Err(format!("game {g}: {winner:?} with the others, {alone:?} alone"));
                }
                process += u64::from(*winner == Some(Player::Process));
                all += u64::from(winner.is_some());
            }
            Ok(!together.is_empty())
        },
    );
    assert!(process > all / 10 && process < all * 9 / 10, "{process} of {all}");
}
