//! Theorems 4 and 7 of Spengler 2024 on random programs.
//!
//! The reference plays the game of all processes on configurations of the operational
//! semantics of TSO, with buffers that are long enough to be exact, and computes who
//! wins by going over all positions until nothing changes. It knows neither views nor
//! attractors.

use crate::common;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weir_engine::SearchOptions;
use weir_game::rules::Rules;
use weir_game::{Options, solve, views};
use weir_model::game::{Board, Buffers, Configuration, Fairness, Player, View};
use weir_model::ids::{Cell, LabelId, ProcessId, StateId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::Objective;
use weir_model::semantics::{Form, Semantics};
use weir_model::system::{StateKind, System};

use common::{seeds, system};

/// A bound that the stores of a program without stores in loops cannot reach.
const ENOUGH: usize = 30;

type Cells = Vec<Cell>;

struct Reference<'s> {
    system: &'s System,
    semantics: Box<dyn Semantics + 's>,
    objective: Objective,
    targets: &'s [(ProcessId, LabelId)],
    fairness: Fairness,
}

impl<'s> Reference<'s> {
    fn new(system: &'s System, game: usize, fairness: Fairness) -> Self {
        let asked = &system.program.games[game];
        Self {
            system,
            semantics: Form::Tso.semantics(system, MemoryModel::TSO, ENOUGH),
            objective: asked.objective,
            targets: &asked.targets,
            fairness,
        }
    }

    fn in_target(&self, cells: &[Cell]) -> bool {
        let controls = self.semantics.controls(cells);
        self.system.process_ids().any(|p| {
            let state = self.system.state(p, StateId(controls[p.index()]));
            state.labels.iter().any(|l| self.targets.contains(&(p, *l)))
        })
    }

    fn steps(&self, cells: &[Cell]) -> Vec<(Option<ProcessId>, Cells)> {
        let mut found = Vec::new();
        let complete = self.semantics.successors(cells, &mut Vec::new(), &mut |step, after| {
            found.push((step.transition.map(|_| step.process), after.to_vec()));
        });
        assert!(complete, "the bound is not enough");
        found
    }

    /// An instruction, with the choices before it.
    fn process_turn(&self, cells: &[Cell]) -> BTreeSet<Cells> {
        let mut found = BTreeSet::new();
        let mut work = vec![(None, cells.to_vec())];
        while let Some((who, at)) = work.pop() {
            for (process, after) in self.steps(&at) {
                let Some(p) = process.filter(|p| who.is_none_or(|w| w == *p)) else { continue };
                let state = |c: &[Cell]| {
                    self.system.state(p, StateId(self.semantics.controls(c)[p.index()]))
                };
                let goes_on = state(&at).is_choice
                    && state(&after).kind == StateKind::Inside
                    && !self.in_target(&after);
                if goes_on {
                    work.push((Some(p), after));
                } else {
                    found.insert(after);
                }
            }
        }
        found
    }

    /// Any number of updates.
    fn update_turn(&self, cells: &[Cell]) -> BTreeSet<Cells> {
        let mut found = BTreeSet::from([cells.to_vec()]);
        let mut work = vec![cells.to_vec()];
        while let Some(at) = work.pop() {
            for (process, after) in self.steps(&at) {
                if process.is_none() && found.insert(after.clone()) {
                    work.push(after);
                }
            }
        }
        found
    }

    /// Who wins.
    fn winner(&self) -> Player {
        let start = self.semantics.initial().next().expect("one initial configuration");
        // Turns of the process player, and where both turns may lead.
        let mut turns: BTreeMap<Cells, Vec<(Cells, Vec<Cells>)>> = BTreeMap::new();
        let mut work = vec![start.clone()];
        while let Some(at) = work.pop() {
            if turns.contains_key(&at) {
                continue;
            }
            let moves: Vec<_> = if self.in_target(&at) {
                vec![]
            } else {
                let each = self.process_turn(&at).into_iter();
                each.map(|after| {
                    let ends = self.update_turn(&after).into_iter().collect();
                    (after, ends)
                })
                .collect()
            };
            work.extend(moves.iter().flat_map(|(_, ends): &(_, Vec<Cells>)| ends.clone()));
            turns.insert(at, moves);
        }
        // Whether the process player wins; it begins with what is wrong at first for
        // `reach`, and with what is right at first for `avoid`.
        let reach = self.objective == Objective::Reach;
        let mut wins: HashMap<&Cells, bool> = turns.keys().map(|at| (at, !reach)).collect();
        loop {
            let mut changed = false;
            for (at, moves) in &turns {
                let now = if self.in_target(at) {
                    reach
                } else if moves.is_empty() {
                    self.fairness == Fairness::Update && !self.semantics.is_drained(at)
                } else {
                    moves.iter().any(|(after, ends)| match self.in_target(after) {
                        true => reach,
                        false => ends.iter().all(|end| wins[end]),
                    })
                };
                changed |= wins.insert(at, now) != Some(now);
            }
            if !changed {
                break;
            }
        }
        if wins[&start] { Player::Process } else { Player::Update }
    }
}

fn certified(system: &System, game: usize, options: Options, seed: u64) -> Option<Player> {
    let outcome = solve(system, game, &options, &SearchOptions::default(), &mut |_| {})
        .unwrap_or_else(|e| panic!("seed {seed}: {}", e.message));
    let winner = outcome.winner?;
    let strategy = outcome.strategy.expect("whoever wins has a strategy");
    let file = weir_check::strategy::StrategyFile::new(
        system,
        game,
        (options.fairness, options.buffers),
        winner,
        &strategy,
    );
    weir_check::strategy::check(system, &file).unwrap_or_else(|e| {
        panic!("seed {seed}, game {game}, {options:?}: {winner:?} by {strategy:#?}: {e}")
    });
    Some(winner)
}

#[test]
fn concurrent_games_and_games_of_one_process_agree() {
    let mut won = [0; 4];
    for seed in seeds(1000) {
        let system = system(seed);
        for game in 0..2 {
            let expected = Reference::new(&system, game, Fairness::None).winner();
            let found = certified(&system, game, Options::default(), seed);
            assert_eq!(found, Some(expected), "seed {seed}, game {game}");
            won[2 * game + usize::from(expected == Player::Update)] += 1;
        }
    }
    assert!(won.iter().all(|n| *n > 20), "each player wins some games of each kind: {won:?}");
}

#[test]
fn games_with_update_fairness_agree() {
    let mut won = [0; 2];
    let mut differ = 0;
    for seed in seeds(1000) {
        let system = system(seed);
        let options = Options { fairness: Fairness::Update, ..Options::default() };
        let expected = Reference::new(&system, 0, Fairness::Update).winner();
        assert_eq!(certified(&system, 0, options, seed), Some(expected), "seed {seed}");
        won[usize::from(expected == Player::Update)] += 1;
        let plain = certified(&system, 0, Options::default(), seed);
        differ += usize::from(plain != Some(expected));
        assert!(
            expected == Player::Process || plain == Some(Player::Update),
            "seed {seed}: fairness of the other one cannot hurt"
        );
    }
    assert!(won.iter().all(|n| *n > 20) && differ > 10, "{won:?}, {differ} differ");
}

/// The view of a configuration, as section 6 defines it.
fn view_of(at: &Configuration, process: ProcessId) -> View {
    let buffer = &at.buffers[process.index()];
    let values = at.memory.iter().enumerate().map(|(x, memory)| {
        let own = buffer.iter().rev().find(|m| m.var.index() == x);
        own.map_or(*memory, |m| m.value)
    });
    View { state: at.states[process.index()], values: values.collect(), fence: buffer.is_empty() }
}

/// Theorem 7, move by move: on every configuration of a process alone, the moves of
/// both players lead to the same views as those of its view.
#[test]
fn views_are_bisimilar_to_configurations() {
    let mut compared = 0;
    for seed in seeds(1000) {
        let system = system(seed);
        let board = Board::new(&system, 0).unwrap();
        let rules = Rules { board: board.clone(), buffers: Buffers::Store };
        for process in system.process_ids() {
            let mut seen = BTreeSet::new();
            let mut work = vec![board.start()];
            while let Some(at) = work.pop() {
                if !seen.insert(at.clone()) {
                    continue;
                }
                let view = view_of(&at, process);
                // Zig and zag for the process player, label by label.
                let here: BTreeSet<_> = rules
                    .enabled(&at, process)
                    .map(|i| (i.path.clone(), view_of(&rules.after(&at, process, i), process)))
                    .collect();
                let there: BTreeSet<_> = board
                    .instructions(process, view.state)
                    .iter()
                    .filter(|i| views::is_enabled(&board, process, &view, i))
                    .map(|i| (i.path.clone(), views::after(&view, i)))
                    .collect();
                assert_eq!(here, there, "seed {seed}");
                // And for the update player: to keep something, or to empty the buffer.
                let mut ends = BTreeSet::from([at.clone()]);
                let mut updates = vec![at.clone()];
                while let Some(one) = updates.pop() {
                    for step in rules.steps(&one) {
                        let after = rules.take(&one, step);
                        if ends.insert(after.clone()) {
                            updates.push(after);
                        }
                    }
                }
                let here: BTreeSet<_> = ends.iter().map(|c| view_of(c, process)).collect();
                let there = BTreeSet::from([view.clone(), View { fence: true, ..view.clone() }]);
                assert_eq!(here, there, "seed {seed}");
                compared += 1;
                work.extend(ends);
                let enabled = rules.enabled(&at, process).cloned().collect::<Vec<_>>();
                work.extend(enabled.iter().map(|i| rules.after(&at, process, i)));
            }
        }
    }
    assert!(compared > 3000, "only {compared} configurations");
}
