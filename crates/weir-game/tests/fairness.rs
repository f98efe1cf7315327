//! Process fairness and load buffers.

use crate::common;

use weir_check::strategy::{Shape, StrategyFile, check};
use weir_engine::SearchOptions;
use weir_game::{Options, Outcome, solve};
use weir_model::game::{Buffers, Fairness, Player};
use weir_model::ids::{ProcessId, TransitionId};
use weir_model::system::System;

use common::{read, seeds, system};

fn play(system: &System, game: usize, fairness: Fairness, buffers: Buffers) -> Outcome {
    let options = Options { fairness, buffers };
    solve(system, game, &options, &SearchOptions::default(), &mut |_| {})
        .unwrap_or_else(|e| panic!("{e:?}"))
}

fn file(system: &System, game: usize, how: (Fairness, Buffers), outcome: &Outcome) -> StrategyFile {
    let (winner, strategy) = (outcome.winner.unwrap(), outcome.strategy.as_ref().unwrap());
    StrategyFile::new(system, game, how, winner, strategy)
}

/// Figure 6, as its text describes it.
const FIGURE_6: &str = include_str!("../../../examples/games/figure-6.weir");

#[test]
fn figure_6_has_two_winners() {
    let system = read(FIGURE_6);
    for (buffers, winner) in [(Buffers::Store, Player::Update), (Buffers::Load, Player::Process)] {
        let outcome = play(&system, 0, Fairness::Process, buffers);
        assert_eq!(outcome.winner, Some(winner), "{buffers:?}: {}", outcome.argument);
        check(&system, &file(&system, 0, (Fairness::Process, buffers), &outcome)).unwrap();
    }
}

/// Every strategy is checked by code that shares nothing with the solver, and in these
/// programs buffers are bounded, so somebody wins for sure.
#[test]
fn games_with_process_fairness_have_a_winner_and_a_strategy() {
    let mut won = [0; 2];
    let mut differ = 0;
    for seed in seeds(500) {
        let system = system(seed);
        let outcome = play(&system, 1, Fairness::Process, Buffers::Store);
        let winner = outcome.winner.unwrap_or_else(|| panic!("seed {seed}: {}", outcome.argument));
        let file = file(&system, 1, (Fairness::Process, Buffers::Store), &outcome);
        check(&system, &file).unwrap_or_else(|e| panic!("seed {seed}: {winner:?}: {e}"));
        won[usize::from(winner == Player::Update)] += 1;
        let plain = play(&system, 1, Fairness::None, Buffers::Store).winner;
        differ += usize::from(plain != Some(winner));
        assert!(
            winner == Player::Update || plain == Some(Player::Process),
            "seed {seed}: fairness cannot help the player who has to be fair"
        );
    }
    assert!(won.iter().all(|n| *n > 20) && differ > 10, "{won:?}, {differ} differ");
}

#[test]
fn strategies_with_load_buffers_are_accepted() {
    let mut won = [0; 3];
    for seed in seeds(600) {
        let system = system(seed);
        // Everything may be propagated everywhere, so only small games are quick.
        if system.vars.len() * system.processes.len() > 2 {
            continue;
        }
        for (game, fairness) in [(0, Fairness::None), (1, Fairness::None), (1, Fairness::Process)] {
            let options = Options { fairness, buffers: Buffers::Load };
            let search = SearchOptions { bound: Some(2), ..SearchOptions::default() };
            let outcome = solve(&system, game, &options, &search, &mut |_| {}).unwrap();
            match outcome.winner {
                Some(winner) => {
                    let file = file(&system, game, (fairness, Buffers::Load), &outcome);
                    check(&system, &file).unwrap_or_else(|e| {
                        panic!("seed {seed}, {game}, {fairness:?}: {winner:?}: {e}")
                    });
                    won[usize::from(winner == Player::Update)] += 1;
                }
                None => won[2] += 1,
            }
        }
    }
    let all: usize = won.iter().sum();
    assert!(won[0] > 10 && won[1] > 10 && won[2] * 20 < all, "{won:?}");
}

/// The process player has to play in `q`, which makes `p` go on to the target.
#[test]
fn fairness_makes_a_difference() {
    let text = "
        var x
        process p { await x == 1  bad: }
        process q { x = 1 }
        process r { loop { nop } }
        game avoid p@bad
    ";
    let system = read(text);
    let plain = play(&system, 0, Fairness::None, Buffers::Store);
    assert_eq!(plain.winner, Some(Player::Process));
    let fair = play(&system, 0, Fairness::Process, Buffers::Store);
    assert_eq!(fair.winner, Some(Player::Update));
}

/// A buffer that is filled for ever: the update player does without what is too much.
#[test]
fn an_endless_writer_does_not_hide_the_winner() {
    let text = "
        var x, y
        process w { loop { x = 1 } }
        process p { await x == 1  y = 1  bad: }
        game avoid p@bad
    ";
    let system = read(text);
    let outcome = play(&system, 0, Fairness::Process, Buffers::Store);
    assert_eq!(outcome.winner, Some(Player::Update), "{}", outcome.argument);
    check(&system, &file(&system, 0, (Fairness::Process, Buffers::Store), &outcome)).unwrap();
    // With update fairness a writer who waits for itself gets there.
    let text = "
        var x
        process w { loop { x = 1  fence  there: nop } }
        game reach w@there
    ";
    let system = read(text);
    assert_eq!(play(&system, 0, Fairness::None, Buffers::Store).winner, Some(Player::Update));
    let outcome = play(&system, 0, Fairness::Update, Buffers::Store);
    assert_eq!(outcome.winner, Some(Player::Process), "{}", outcome.argument);
    check(&system, &file(&system, 0, (Fairness::Update, Buffers::Store), &outcome)).unwrap();
}

/// One move of a strategy changed to another one that is possible: if the new one
/// loses, the checker says so. In these games every other move loses.
#[test]
fn a_strategy_with_a_losing_move_is_rejected() {
    let texts = [
        "var x  process p { choose { x = 1 } or { x = 2  assume false }  await x == 1  there: }
         game reach p@there",
        "var x  process p { choose { loop { nop } } or { x = 1 } }  game avoid p@end_
         process q { end_: nop  end_2: }",
    ];
    for (text, avoid) in texts.into_iter().zip([false, true]) {
        let text = if avoid { text.replace("p@end_", "q@end_2") } else { text.to_owned() };
        let system = read(&text);
        let outcome = play(&system, 0, Fairness::None, Buffers::Store);
        let mut file = file(&system, 0, (Fairness::None, Buffers::Store), &outcome);
        assert_eq!(check(&system, &file), Ok(()), "{text}");
        let Shape::Views { process, moves } = &mut file.strategy else { panic!("views") };
        let p = system.processes.iter().position(|a| a.name == *process).unwrap();
        let board = weir_model::game::Board::new(&system, 0).unwrap();
        let (p, initial) = (ProcessId::new(p), system.processes[p].initial);
        let start = system.state_name(p, initial);
        let first = moves.iter_mut().find(|m| m.state == start).unwrap();
        let name = |t: &TransitionId| system.transition_name(p, system.transition(p, *t));
        let all = board.instructions(p, initial).iter();
        let mut all = all.map(|i| i.path.iter().map(name).collect::<Vec<_>>());
        first.transitions = all.find(|path| *path != first.transitions).unwrap();
        assert!(check(&system, &file).is_err(), "{text}");
    }
}

/// The same for strategies on configurations: any answer of either player in a game
/// with fairness that is replaced by one that the player may not make is rejected.
#[test]
fn strategies_on_configurations_are_checked_everywhere() {
    let system = read(FIGURE_6);
    for buffers in [Buffers::Store, Buffers::Load] {
        let outcome = play(&system, 0, Fairness::Process, buffers);
        let good = file(&system, 0, (Fairness::Process, buffers), &outcome);
        let turns = match &good.strategy {
            Shape::Update(turns) => turns.len(),
            Shape::Process(turns) => turns.len(),
            _ => panic!("a strategy on configurations"),
        };
        for turn in 0..turns {
            let mut bad = good.clone();
            let changed = match &mut bad.strategy {
                Shape::Update(turns) => turns[turn].replies.pop().is_some(),
                Shape::Process(turns) => turns[turn].next.pop().is_some(),
                _ => false,
            };
            assert!(!changed || check(&system, &bad).is_err(), "turn {turn}");
        }
        let mut bad = good.clone();
        bad.winner = if good.winner == "process" { "update" } else { "process" }.to_owned();
        assert!(check(&system, &bad).is_err());
        let mut bad = good;
        bad.fairness = "none".to_owned();
        // Without fairness the process player just waits.
        assert_eq!(check(&system, &bad).is_ok(), buffers == Buffers::Load);
    }
}
