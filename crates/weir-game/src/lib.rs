//! Games between a program and its memory (Spengler 2024): does the program reach a place
//! whatever the hardware does with its buffers?
//!
//! The *process player* picks instructions, the *update player* picks which buffered
//! writes reach memory. [`solve`] says who wins a game of a program and how.
//!
//! * Plain games are decided by [`views`].
//! * Games with fairness, and games with load buffers, are solved up to a bound by
//!   [`bounded`]: [`rules`] defines the moves, [`arena`] the positions, and [`attractor`]
//!   and [`fair`] are the solvers. [`coarse`] describes buffers beyond the bound.
//!
//! ```
//! use weir_engine::SearchOptions;
//! use weir_game::{Options, solve};
//! use weir_model::game::Player;
//! use weir_model::system::System;
//!
//! // A process that has to read its own write back gets there, whatever is updated.
//! let text = "var x  process p { x = 1  await x == 1  there: }  game reach p@there";
//! let (program, _) = weir_front::read("own.weir", text, None).unwrap();
//! let system = System::new(program).unwrap();
//! let outcome = solve(&system, 0, &Options::default(), &SearchOptions::default(), &mut |_| {}).unwrap();
//! assert_eq!(outcome.winner, Some(Player::Process));
//! ```

pub mod arena;
pub mod attractor;
pub mod bounded;
pub mod coarse;
pub mod counts;
pub mod fair;
pub mod rules;
pub mod views;

use weir_engine::{Progress, SearchOptions, Stats};
use weir_model::game::{Board, Buffers, Fairness, NoGame, Player, Strategy};
use weir_model::program::Objective;
use weir_model::system::System;

use counts::{Counts, Stopped};

/// The bound on buffers if a program can fill them without end.
pub const DEFAULT_BOUND: usize = 4;

/// How a game is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the players have to observe.
    pub fairness: Fairness,
    /// What stands between a process and memory.
    pub buffers: Buffers,
}

impl Default for Options {
    fn default() -> Self {
        Self { fairness: Fairness::None, buffers: Buffers::Store }
    }
}

/// Who wins a game.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Who wins; `None` if unknown.
    pub winner: Option<Player>,
    /// Why that is so, in words.
    pub argument: String,
    /// How the winner wins.
    pub strategy: Option<Strategy>,
    /// What the search did.
    pub stats: Stats,
}

/// Solves one of the games of a system's program.
///
/// # Errors
/// If the program has no such game, or the paper does not say what it would be.
pub fn solve(
    system: &System,
    game: usize,
    options: &Options,
    search: &SearchOptions,
    progress: Progress<'_>,
) -> Result<Outcome, NoGame> {
    let all = match system.expanded(&search.budget) {
        Ok(all) => all,
        Err(stop) => {
            let reason = stop.to_string();
            let stopped = Some(reason.clone());
            let stats = Stats { engine: "views", stopped, ..Stats::default() };
            return Ok(Outcome { winner: None, argument: reason, strategy: None, stats });
        }
    };
    let board = Board::of(all, game)?;
    let Options { fairness, buffers } = *options;
    let objective = board.objective();
    let no = |message: &str| NoGame { message: message.to_owned(), span: board.asked().span };
    match (fairness, buffers, objective) {
        (Fairness::Update, _, Objective::Avoid) => {
            return Err(no(
                "update fairness is for `game reach`: Spengler 2024 defines it for that \
                           alone, and Weir does not decide `game avoid` with it",
            ));
        }
        (Fairness::Update, Buffers::Load, _) => {
            return Err(no(
                "update fairness is about writes that wait in store buffers; Spengler \
                           2024 does not define it for load buffers",
            ));
        }
        _ => {}
    }
    if let (Buffers::Load, Some(span)) = (buffers, board.long_wait()) {
        let message = "with load buffers an `await` can read only one variable";
        return Err(NoGame { message: message.to_owned(), span });
    }
    if board.is_won(&board.start().states) {
        let winner = match objective {
            Objective::Reach => Player::Process,
            Objective::Avoid => Player::Update,
        };
        return Ok(Outcome {
            winner: Some(winner),
            argument: "the game begins in a target".to_owned(),
            strategy: Some(Strategy::Nothing),
            stats: Stats { engine: "views", within_bound: true, ..Stats::default() },
        });
    }
    // A target is reached in finitely many moves, so process fairness has no effect there
    // (section 8).
    let fairness = match (fairness, objective) {
        (Fairness::Process, Objective::Reach) => Fairness::None,
        (fairness, _) => fairness,
    };
    let plain = fairness == Fairness::None && buffers == Buffers::Store;
    let mut counts = Counts::new(if plain { "views" } else { "bounded" }, &search.budget, progress);
    let found = if plain {
        by_views(&board, &mut counts)
    } else {
        let enough = enough(system, buffers);
        let size = search.bound.or(enough).unwrap_or(DEFAULT_BOUND);
        let fits = enough.is_some_and(|enough| enough <= size);
        bounded::solve(&board, fairness, buffers, (size, fits), &mut counts)
    };
    let found = found.unwrap_or_else(|Stopped(reason)| {
        counts.stats.stopped = Some(reason.clone());
        bounded::Found { winner: None, argument: reason, strategy: None }
    });
    let found = match system.excess() {
        Some(excess) => {
            bounded::Found { winner: None, argument: excess.to_owned(), strategy: None }
        }
        None => found,
    };
    let bounded::Found { winner, argument, strategy } = found;
    Ok(Outcome { winner, argument, strategy, stats: counts.finish() })
}

/// Plain games, by theorem 4: one process after the other.
fn by_views(board: &Board<'_>, counts: &mut Counts<'_>) -> Result<bounded::Found, Stopped> {
    for process in board.system.process_ids() {
        let game = views::ViewGame::new(board, process, counts)?;
        if let Some(moves) = game.solve() {
            let name = &board.system.processes[process.index()].name;
            return Ok(bounded::Found {
                winner: Some(Player::Process),
                argument: format!("by playing in `{name}` only"),
                strategy: Some(Strategy::Views { process, moves }),
            });
        }
    }
    Ok(bounded::Found {
        winner: Some(Player::Update),
        argument: "by never updating anything: no process gets there alone".to_owned(),
        strategy: Some(Strategy::NeverUpdate),
    })
}

/// A bound that no buffer exceeds, if there is one.
fn enough(system: &System, buffers: Buffers) -> Option<usize> {
    let mut writes = system.process_ids().map(|p| system.most_writes(p));
    let most = writes.try_fold(1, |most, n| Some(n?.max(most)));
    most.filter(|_| buffers == Buffers::Store)
}
