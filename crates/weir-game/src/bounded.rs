//! Games that are undecidable (Spengler 2024, theorems 8 and 9), with buffers up to a bound.
//!
//! Several bounded games are solved, one after the other (`games`). In each, a win of one
//! player is a win in the unbounded game: of the process player if the process player keeps
//! the buffers within the bound or if what is beyond the bound may be anything, and of the
//! update player if the update player keeps the buffers within the bound. [`crate::arena`]
//! says why. If no move was removed from a game or added to it, it is the unbounded game, and
//! its winner wins. If no game tells, the winner is unknown.
//!
//! With load buffers the game in which the process player keeps the bound is not finite: the
//! update player may propagate for ever.

use std::collections::{HashMap, VecDeque};

use weir_model::game::{
    Board, Buffers, Fairness, Player, ProcessPosition, Strategy, UpdatePosition,
};
use weir_model::program::Objective;

use crate::arena::{Arena, Bound, Limit, Position};
use crate::attractor::{Graph, Set};
use crate::counts::{Counts, Stopped};
use crate::fair::{Memory, Pairs, Plan};
use crate::rules::Rules;

/// Who wins, and what the bound has to do with it.
pub struct Found {
    /// Who wins the game without a bound; `None` if unknown.
    pub winner: Option<Player>,
    /// Why that is so.
    pub argument: String,
    /// How the winner wins.
    pub strategy: Option<Strategy>,
}

/// The bounded games that are solved for a bound, in order. `fits` says that no buffer
/// exceeds the bound.
///
/// Where the process player has to play in a process that writes in a loop, only the game in
/// which what is beyond the bound may be anything can show a win of the process player. It
/// is small if few messages are listed, so it comes first. Without process fairness the process
/// player reaches a target in finitely many turns or not at all, so buffers stay
/// bounded, and this game is solved only for load buffers.
fn games(fairness: Fairness, buffers: Buffers, size: usize, fits: bool) -> Vec<Bound> {
    let beyond = (1..=size.max(1)).map(|size| Bound { limit: Limit::Neither, size });
    let of = |limit| Bound { limit, size };
    match buffers {
        Buffers::Store if fits || fairness != Fairness::Process => {
            vec![of(Limit::Process), of(Limit::Update)]
        }
        Buffers::Store => beyond.chain([of(Limit::Process), of(Limit::Update)]).collect(),
        Buffers::Load => {
            let first = beyond.clone().take(1);
            first.chain([of(Limit::Update)]).chain(beyond.skip(1)).collect()
        }
    }
}

/// Solves a game with buffers up to `size`. `fits` says that no buffer exceeds it.
///
/// # Errors
/// If a limit is reached.
pub fn solve(
    board: &Board<'_>,
    fairness: Fairness,
    buffers: Buffers,
    (size, fits): (usize, bool),
    counts: &mut Counts<'_>,
) -> Result<Found, Stopped> {
    counts.stats.bound = Some(size);
    for bound in games(fairness, buffers, size, fits) {
        let Bound { limit, size } = bound;
        let rules = Rules { board: board.clone(), buffers };
        let arena = Arena::new(rules, fairness, bound, counts)?;
        let solved = Solved::new(&Graph::new(&arena), fairness, counts)?;
        counts.stats.within_bound = arena.is_exact;
        let winner = solved.winner();
        if arena.is_exact || winner == limit.proves() {
            let argument = match (arena.is_exact, limit) {
                (true, _) => {
                    format!("no buffer needs more than {size}, so this is the game without a bound")
                }
                (false, Limit::Process) => format!(
                    "the strategy holds at most {size} in a buffer, and the moves of the update \
                     player are not restricted"
                ),
                (false, Limit::Update) => format!(
                    "the strategy holds at most {size} in a buffer, and the moves of the process \
                     player are not restricted"
                ),
                (false, Limit::Neither) => {
                    let messages = match size {
                        1 => "oldest message".to_owned(),
                        _ => format!("{size} oldest messages"),
                    };
                    format!("what a buffer holds after its {messages} may be anything")
                }
            };
            let strategy = Some(solved.strategy(&Graph::new(&arena), fairness, counts)?);
            return Ok(Found { winner: Some(winner), argument, strategy });
        }
    }
    let argument = format!("neither player wins within buffers of {size}; a larger bound may tell");
    Ok(Found { winner: None, argument, strategy: None })
}

/// Who wins where in an arena.
struct Solved {
    /// Where the process player wins.
    mine: Set,
    /// Where to go, for the positions of the winner.
    choice: Vec<Option<Position>>,
}

impl Solved {
    fn new(
        graph: &Graph<'_, '_>,
        fairness: Fairness,
        counts: &mut Counts<'_>,
    ) -> Result<Self, Stopped> {
        let arena = graph.arena;
        if arena.rules.board.objective() == Objective::Reach {
            let reached = graph.reach();
            let mut choice = reached.mine.choice;
            for (kept, other) in choice.iter_mut().zip(reached.other) {
                *kept = kept.or(other);
            }
            return Ok(Self { mine: reached.mine.set, choice });
        }
        let everything = vec![true; arena.len()];
        let ends = (0..arena.len() as Position)
            .filter(|p| arena.ends[*p as usize] == Some(Player::Update));
        let lost = graph.attract(&everything, Player::Update, ends);
        let mut mine: Set = lost.set.iter().map(|lost| !lost).collect();
        let mut choice = lost.choice;
        if fairness == Fairness::Process {
            let processes: Vec<_> = arena.rules.board.system.process_ids().collect();
            let mut pairs = Pairs { graph, choice };
            mine = pairs.solve(mine, &processes, counts)?;
            choice = pairs.choice;
        }
        // To stay in the winning region is all that the process player has to do without
        // fairness.
        for p in Graph::positions(&mine).filter(|p| arena.turn(*p) == Player::Process) {
            let stays = |to: &&Position| mine[**to as usize];
            choice[p as usize] = arena.next(p).iter().find(stays).copied();
        }
        Ok(Self { mine, choice })
    }

    fn winner(&self) -> Player {
        if self.mine[0] { Player::Process } else { Player::Update }
    }

    fn strategy(
        &self,
        graph: &Graph<'_, '_>,
        fairness: Fairness,
        counts: &mut Counts<'_>,
    ) -> Result<Strategy, Stopped> {
        if !self.mine[0] {
            return Ok(self.update_strategy(graph));
        }
        let objective = graph.arena.rules.board.objective();
        let plan = if fairness == Fairness::Process && objective == Objective::Avoid {
            let processes: Vec<_> = graph.arena.rules.board.system.process_ids().collect();
            Some(
                Pairs { graph, choice: vec![None; graph.arena.len()] }
                    .plan(&self.mine, &processes, counts)?,
            )
        } else {
            None
        };
        self.process_strategy(graph, plan.as_ref(), counts)
    }

    fn process_strategy(
        &self,
        graph: &Graph<'_, '_>,
        plan: Option<&Plan>,
        counts: &mut Counts<'_>,
    ) -> Result<Strategy, Stopped> {
        let arena = graph.arena;
        let mut known: HashMap<(Position, Memory), usize> = HashMap::new();
        let mut order = vec![(0, Memory::new())];
        known.insert((0, Memory::new()), 0);
        let mut positions = Vec::new();
        let mut ways = 0;
        while let Some((position, memory)) = order.get(positions.len()).cloned() {
            counts.tick(ways * size_of::<usize>())?;
            let at = arena.configuration(position);
            let chosen = match plan {
                Some(plan) => plan.advise(graph, position, &memory),
                None => self.choice[position as usize].map(|to| (to, Memory::new())),
            };
            let Some((to, memory)) = chosen else {
                positions.push(ProcessPosition { at, action: None, next: vec![] });
                continue;
            };
            let which = arena.next(position).iter().position(|t| *t == to);
            let (process, number) = arena.moves(position)[which.expect("the choice is an edge")];
            let state = at.states[process.index()];
            let path = arena.rules.board.instructions(process, state)[number].path.clone();
            let mut next = Vec::new();
            for end in turn_ends(arena, to) {
                let key = (end, memory.clone());
                let number = *known.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    order.len() - 1
                });
                next.push(number);
            }
            ways += next.len();
            positions.push(ProcessPosition { at, action: Some((process, path)), next });
        }
        Ok(Strategy::Process(positions))
    }

    fn update_strategy(&self, graph: &Graph<'_, '_>) -> Strategy {
        let arena = graph.arena;
        let mut known: HashMap<Position, usize> = HashMap::from([(0, 0)]);
        let mut order: Vec<Position> = vec![0];
        let mut positions = Vec::new();
        while let Some(&position) = order.get(positions.len()) {
            let at = arena.configuration(position);
            let mut replies = Vec::new();
            for (&to, (process, number)) in arena.next(position).iter().zip(arena.moves(position)) {
                let mut end = to;
                // The update player follows the choice until it is the other's turn, or until
                // a target decides.
                while arena.turn(end) == Player::Update && arena.ends[end as usize].is_none() {
                    end = self.choice[end as usize]
                        .expect("the winner has a choice in its winning region");
                }
                if arena.turn(end) == Player::Update {
                    continue;
                }
                let number_of_end = *known.entry(end).or_insert_with(|| {
                    order.push(end);
                    order.len() - 1
                });
                let state = at.states[process.index()];
                let path = arena.rules.board.instructions(process, state)[number].path.clone();
                replies.push((process, path, number_of_end));
            }
            positions.push(UpdatePosition { at, replies });
        }
        Strategy::Update(positions)
    }
}

/// The positions at which a turn of the update player may end.
fn turn_ends(arena: &Arena<'_>, start: Position) -> Vec<Position> {
    let mut seen = std::collections::HashSet::from([start]);
    let mut work = VecDeque::from([start]);
    let mut ends = Vec::new();
    while let Some(position) = work.pop_front() {
        if arena.turn(position) == Player::Process {
            ends.push(position);
            continue;
        }
        work.extend(arena.next(position).iter().copied().filter(|to| seen.insert(*to)));
    }
    ends
}
