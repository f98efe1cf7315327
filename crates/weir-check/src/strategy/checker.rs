//! Checks strategies against every move of the opponent, with buffers of any size.
//!
//! A strategy determines a finite graph of turns of the process player in which only the
//! opponent chooses. The checker makes sure that every move of the opponent leads to a
//! turn of the graph, and then that every path through the graph is won:
//!
//! * to reach a target, there may be no cycle;
//! * to avoid it, every turn needs a move that leads to no target, and under process
//!   fairness (section 8) no cycle may have a process that is enabled in it and never
//!   played;
//! * for the update player the conditions are reversed. A cycle that is fair to all
//!   processes is found by decomposition into components.
//!
//! An answer of the update player may have fewer messages than the rules give: of equal
//! adjacent messages in a store buffer all but one may be missing. With more of them the
//! update player can do the same, by updating them together. In load buffers equal
//! adjacent messages are equivalent to one for both players, and only one is kept; the
//! load buffer of a process that can neither read nor execute a fence any more is empty.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::game::{Board, Buffers, Fairness};
use weir_model::ids::ProcessId;
use weir_model::program::Objective;
use weir_model::system::System;

use crate::Rejected;

use super::rules::{self, Config, Move, ViewKey};
use super::ways::{Turns, no_way_round};
use super::{Action, FORMAT, ProcessMove, Shape, StrategyFile, UpdateMove, VERSION, ViewMove};

/// The most messages and variables in all that one turn of the update player may lead to.
const MAX_TURN: usize = 20_000_000;

/// Checks that a strategy wins a game of a system's program.
///
/// # Errors
/// Why it does not.
pub fn check(system: &System, file: &StrategyFile) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    if file.game >= system.program.games.len() {
        return Err(Rejected::Malformed(format!("the program has no game number {}", file.game)));
    }
    let board = Board::new(system, file.game).map_err(|e| Rejected::Malformed(e.message))?;
    let fairness = Fairness::ALL.into_iter().find(|f| f.name() == file.fairness);
    let fairness = fairness
        .ok_or_else(|| Rejected::Malformed(format!("there is no fairness `{}`", file.fairness)))?;
    let buffers = Buffers::ALL.into_iter().find(|b| b.name() == file.semantics);
    let buffers = buffers.ok_or_else(|| {
        Rejected::Malformed(format!("there is no semantics `{}`", file.semantics))
    })?;
    let objective = board.objective();
    let by_process = match file.winner.as_str() {
        "process" => true,
        "update" => false,
        other => return Err(Rejected::Malformed(format!("there is no player `{other}`"))),
    };
    if fairness == Fairness::Update && (objective == Objective::Avoid || buffers == Buffers::Load) {
        return Err(Rejected::Malformed(
            "update fairness is for `game reach` with store buffers".to_owned(),
        ));
    }
    if buffers == Buffers::Load && board.long_wait().is_some() {
        return Err(Rejected::Malformed(
            "with load buffers an `await` can read only one variable".to_owned(),
        ));
    }
    // Section 8: process fairness has no effect in a reachability game.
    let fairness = match (fairness, objective) {
        (Fairness::Process, Objective::Reach) => Fairness::None,
        (fairness, _) => fairness,
    };
    let begins_in_target = board.is_won(&board.start().states);
    if let Shape::Nothing = file.strategy {
        let wins = (objective == Objective::Reach) == by_process;
        return match begins_in_target {
            true if wins => Ok(()),
            true => {
                Err(Rejected::Loses("the game begins in a target, so the opponent wins".to_owned()))
            }
            false => Err(Rejected::Loses("the game does not begin in a target".to_owned())),
        };
    }
    if begins_in_target {
        return Err(Rejected::Loses("the game begins in a target".to_owned()));
    }
    let plain = fairness == Fairness::None && buffers == Buffers::Store;
    let checker = Checker { board, fairness, buffers };
    match &file.strategy {
        Shape::Nothing => Ok(()),
        Shape::Views { process, moves } if by_process && plain => checker.views(process, moves),
        Shape::NeverUpdate if !by_process && plain => checker.never_update(),
        Shape::Process(turns) if by_process => checker.process(turns),
        Shape::Update(turns) if !by_process => checker.update(turns),
        _ => Err(Rejected::Malformed(
            "this kind of strategy is not one for this player and game".to_owned(),
        )),
    }
}

struct Checker<'s> {
    board: Board<'s>,
    fairness: Fairness,
    buffers: Buffers,
}

impl Checker<'_> {
    fn system(&self) -> &System {
        self.board.system
    }

    fn process_named(&self, name: &str) -> Result<ProcessId, Rejected> {
        let found = self.system().processes.iter().position(|p| p.name == name);
        found
            .map(ProcessId::new)
            .ok_or_else(|| Rejected::Malformed(format!("there is no process `{name}`")))
    }

    fn action(&self, action: &Action) -> Result<Move, Rejected> {
        let process = self.process_named(&action.process)?;
        Ok((process, action.transitions.clone()))
    }

    fn moves(&self, at: &Config) -> Vec<(Move, Config)> {
        let processes = self.system().process_ids();
        processes.flat_map(|p| rules::moves(&self.board, self.buffers, at, p)).collect()
    }

    fn enabled(&self, at: &Config) -> Vec<ProcessId> {
        let can = |p: &ProcessId| !rules::moves(&self.board, self.buffers, at, *p).is_empty();
        self.system().process_ids().filter(can).collect()
    }

    /// Whether the update player has left the process player in a deadlock that update
    /// fairness forbids (section 7).
    fn is_unfair(&self, at: &Config) -> bool {
        let held =
            at.buffers.iter().any(|b| !b.is_empty()) || at.beyond.iter().any(Option::is_some);
        self.fairness == Fairness::Update && held
    }

    /// A view as a configuration of its process alone: memory is what it reads, and one
    /// message that changes nothing keeps it from fencing.
    fn views(&self, process: &str, moves: &[ViewMove]) -> Result<(), Rejected> {
        let process = self.process_named(process)?;
        let mut table: BTreeMap<ViewKey, &ViewMove> = BTreeMap::new();
        for entry in moves {
            let view = rules::view(&self.board, process, entry).ok_or_else(|| {
                Rejected::Malformed(format!("state {} is not of this program", entry.state))
            })?;
            if table.insert(view, entry).is_some() {
                return Err(Rejected::Malformed(format!(
                    "there are two moves for one view of state {}",
                    entry.state
                )));
            }
        }
        let start = rules::start(self.system());
        let first = (start.states[process.index()], start.memory.clone(), true);
        let mut numbers = BTreeMap::from([(first.clone(), 0)]);
        let mut order = vec![first];
        let mut next: Vec<Vec<usize>> = Vec::new();
        while let Some(view) = order.get(next.len()).cloned() {
            let (state, values, fence) = &view;
            let told = table.get(&view).ok_or_else(|| {
                Rejected::Loses(format!("there is no move for a view of state {}", state.0))
            })?;
            let mut config = start.clone();
            config.states[process.index()] = *state;
            config.memory.clone_from(values);
            let read_back = values.first().map(|d| (weir_model::ids::VarId(0), *d, true, false));
            if !fence {
                let message = read_back
                    .ok_or_else(|| Rejected::malformed("a buffer without variables cannot fill"))?;
                config.buffers[process.index()].push(message);
            }
            let can = rules::moves(&self.board, Buffers::Store, &config, process);
            let (_, after) =
                can.into_iter().find(|((_, p), _)| *p == told.transitions).ok_or_else(|| {
                    Rejected::Loses(format!("the move in state {} is not possible there", state.0))
                })?;
            let to = after.states[process.index()];
            if self.board.is_target(process, to) {
                if self.board.objective() == Objective::Avoid {
                    return Err(Rejected::Loses(format!(
                        "the move in state {} leads to a target",
                        state.0
                    )));
                }
                next.push(vec![]);
                continue;
            }
            let mut reads = after.memory.clone();
            after.buffers[process.index()].iter().for_each(|m| reads[m.0.index()] = m.1);
            let empty = after.buffers[process.index()].is_empty();
            // The update player may leave the buffer as it is, or empty it.
            let replies = BTreeSet::from([(to, reads.clone(), empty), (to, reads, true)]);
            let mut follow = Vec::new();
            for reply in replies {
                let fresh = numbers.len();
                let number = *numbers.entry(reply.clone()).or_insert(fresh);
                if number == fresh {
                    order.push(reply);
                }
                follow.push(number);
            }
            next.push(follow);
        }
        match self.board.objective() {
            Objective::Reach => no_way_round(&next),
            Objective::Avoid => Ok(()),
        }
    }

    /// The update player never updates: each process is alone with what it wrote.
    fn never_update(&self) -> Result<(), Rejected> {
        for process in self.system().process_ids() {
            let name = &self.system().processes[process.index()].name;
            let start = rules::start(self.system());
            // Of a buffer that never gets to memory only the newest value of each
            // variable matters, and whether there is anything in it.
            let mut numbers = BTreeMap::from([(start.clone(), 0usize)]);
            let mut order = vec![start];
            let mut next: Vec<Vec<usize>> = Vec::new();
            while let Some(at) = order.get(next.len()).cloned() {
                let mut follow = Vec::new();
                for (_, mut after) in rules::moves(&self.board, Buffers::Store, &at, process) {
                    if self.board.is_target(process, after.states[process.index()]) {
                        if self.board.objective() == Objective::Reach {
                            return Err(Rejected::Loses(format!(
                                "`{name}` reaches a target by itself"
                            )));
                        }
                        continue;
                    }
                    let newest: BTreeMap<_, _> =
                        after.buffers[process.index()].iter().map(|m| (m.0, *m)).collect();
                    after.buffers[process.index()] = newest.into_values().collect();
                    let fresh = numbers.len();
                    let number = *numbers.entry(after.clone()).or_insert(fresh);
                    if number == fresh {
                        order.push(after);
                    }
                    follow.push(number);
                }
                next.push(follow);
            }
            if self.board.objective() == Objective::Avoid && no_way_round(&next).is_err() {
                return Err(Rejected::Loses(format!(
                    "`{name}` can go on for ever without a target"
                )));
            }
        }
        Ok(())
    }

    fn configs<'t>(
        &self,
        places: impl Iterator<Item = &'t super::Place>,
    ) -> Result<Vec<Config>, Rejected> {
        let mut all = Vec::new();
        for (number, place) in places.enumerate() {
            let config = rules::config(&self.board, place).ok_or_else(|| {
                Rejected::Malformed(format!("position {number} is not a configuration"))
            })?;
            if !self.is_known(&config) {
                return Err(Rejected::Malformed(format!(
                    "position {number} does not say what the processes can read"
                )));
            }
            all.push(config);
        }
        match all.first() {
            Some(first) if *first == rules::start(self.system()) => Ok(all),
            _ => Err(Rejected::Malformed(
                "the first position is not where the game begins".to_owned(),
            )),
        }
    }

    /// Whether what a configuration says of its buffers is possible: runs of equal messages
    /// are marked in store buffers only, a store buffer with messages beyond the listed ones
    /// has a newest one, and the oldest message of a load buffer is listed.
    fn is_known(&self, at: &Config) -> bool {
        match self.buffers {
            Buffers::Store => !at.beyond.iter().flatten().any(BTreeMap::is_empty),
            Buffers::Load => {
                rules::is_settled(self.buffers, at) && !at.buffers.iter().flatten().any(|m| m.3)
            }
        }
    }

    fn process(&self, turns: &[ProcessMove]) -> Result<(), Rejected> {
        let configs = self.configs(turns.iter().map(|t| &t.at))?;
        let objective = self.board.objective();
        let (mut next, mut played, mut enabled) = (Vec::new(), Vec::new(), Vec::new());
        for (number, turn) in turns.iter().enumerate() {
            let at = &configs[number];
            let can = self.moves(at);
            enabled.push(self.enabled(at));
            let Some(action) = &turn.action else {
                let won = objective == Objective::Reach && can.is_empty() && self.is_unfair(at);
                if !won {
                    return Err(Rejected::Loses(format!("there is no move at position {number}")));
                }
                next.push(vec![]);
                played.push(vec![]);
                continue;
            };
            let action = self.action(action)?;
            let (_, after) = can.into_iter().find(|(m, _)| *m == action).ok_or_else(|| {
                Rejected::Loses(format!("the move at position {number} is not possible there"))
            })?;
            if self.board.is_won(&after.states) {
                if objective == Objective::Avoid {
                    return Err(Rejected::Loses(format!(
                        "the move at position {number} leads to a target"
                    )));
                }
                next.push(vec![]);
                played.push(vec![]);
                continue;
            }
            // Whatever the update player does has to be covered by what the strategy
            // expects, and goes on from there; so there is an end to it.
            let mut expected = BTreeMap::new();
            for &n in &turn.next {
                let config = configs
                    .get(n)
                    .ok_or_else(|| Rejected::Malformed(format!("there is no position {n}")))?;
                expected.insert(config, n);
            }
            let mut seen = BTreeSet::from([after.clone()]);
            let mut work = vec![after];
            let mut follow = BTreeSet::new();
            while let Some(mut config) = work.pop() {
                self.is_small(seen.len(), &config)?;
                if rules::is_settled(self.buffers, &config) {
                    let covers = |n: &&usize| rules::covers(&configs[**n], &config);
                    let n = expected.get(&config).or_else(|| turn.next.iter().find(covers));
                    let n = *n.ok_or_else(|| {
                        Rejected::Loses(format!(
                            "position {number} does not cover every move of the update player"
                        ))
                    })?;
                    if !follow.insert(n) {
                        continue;
                    }
                    config.clone_from(&configs[n]);
                }
                for one in rules::updates(&self.board, self.buffers, &config) {
                    if seen.insert(one.clone()) {
                        work.push(one);
                    }
                }
            }
            played.push(vec![action.0; follow.len()]);
            next.push(follow.into_iter().collect());
        }
        let turns = Turns { next, played, enabled };
        match (objective, self.fairness) {
            (Objective::Reach, _) => no_way_round(&turns.next),
            (Objective::Avoid, Fairness::Process) => turns.always_fair(self.system()),
            (Objective::Avoid, _) => Ok(()),
        }
    }

    fn update(&self, turns: &[UpdateMove]) -> Result<(), Rejected> {
        let configs = self.configs(turns.iter().map(|t| &t.at))?;
        if let Some(number) = configs.iter().position(|at| !rules::is_exact(at)) {
            return Err(Rejected::Malformed(format!(
                "position {number} does not list all messages, as the update player has to"
            )));
        }
        let objective = self.board.objective();
        let (mut next, mut played, mut enabled) = (Vec::new(), Vec::new(), Vec::new());
        for (number, turn) in turns.iter().enumerate() {
            let at = &configs[number];
            let mut replies: Vec<(Move, usize)> = Vec::new();
            for reply in &turn.replies {
                replies.push((self.action(&reply.action)?, reply.next));
            }
            let can = self.moves(at);
            enabled.push(self.enabled(at));
            if can.is_empty() && self.is_unfair(at) {
                return Err(Rejected::Loses(format!(
                    "position {number} is a deadlock with something in a buffer"
                )));
            }
            let (mut follow, mut by) = (Vec::new(), Vec::new());
            for (action, after) in can {
                if self.board.is_won(&after.states) {
                    if objective == Objective::Reach {
                        return Err(Rejected::Loses(format!(
                            "a move at position {number} leads to a target"
                        )));
                    }
                    continue;
                }
                let (_, n) = replies.iter().find(|(m, _)| *m == action).ok_or_else(|| {
                    Rejected::Loses(format!("position {number} does not answer every move"))
                })?;
                let reply = configs
                    .get(*n)
                    .ok_or_else(|| Rejected::Malformed(format!("there is no position {n}")))?;
                if !self.can_become(&after, reply)? {
                    return Err(Rejected::Loses(format!(
                        "an answer at position {number} is not possible"
                    )));
                }
                follow.push(*n);
                by.push(action.0);
            }
            next.push(follow);
            played.push(by);
        }
        let turns = Turns { next, played, enabled };
        match (objective, self.fairness) {
            (Objective::Reach, _) => Ok(()),
            (Objective::Avoid, Fairness::Process) => turns.never_fair(),
            (Objective::Avoid, _) => no_way_round(&turns.next),
        }
    }

    /// Whether the update player can turn one configuration into another, omitting some of equal
    /// adjacent messages.
    ///
    /// The goal is known, so this terminates: messages only get fewer, and in load buffers none is
    /// added that the wanted buffer does not end with.
    fn can_become(&self, after: &Config, wanted: &Config) -> Result<bool, Rejected> {
        if self.buffers == Buffers::Load {
            return Ok(after.states == wanted.states
                && after.memory == wanted.memory
                && after.buffers.iter().zip(&wanted.buffers).enumerate().all(
                    |(p, (have, want))| {
                        // Some oldest messages go, and loads of memory are added.
                        let looks = self.board.looks(ProcessId::new(p), after.states[p]);
                        (looks || want.is_empty())
                            && (0..=have.len()).any(|gone| {
                                want.strip_prefix(&have[gone..]).is_some_and(|added| {
                                    let mut before = have[gone..].last();
                                    added.iter().all(|m| {
                                        let is_new = before != Some(m);
                                        before = Some(m);
                                        is_new && !m.2 && after.memory[m.0.index()] == m.1
                                    })
                                })
                            })
                    },
                ));
        }
        let mut seen = BTreeSet::from([after.clone()]);
        let mut work = vec![after.clone()];
        while let Some(config) = work.pop() {
            self.is_small(seen.len(), &config)?;
            let same = config.states == wanted.states && config.memory == wanted.memory;
            if same && config.buffers.iter().zip(&wanted.buffers).all(|(h, w)| repeats(h, w)) {
                return Ok(true);
            }
            for one in rules::updates(&self.board, self.buffers, &config) {
                if seen.insert(one.clone()) {
                    work.push(one);
                }
            }
        }
        Ok(false)
    }

    /// Checks that the number of results of one turn of the update player is within the limit.
    fn is_small(&self, seen: usize, at: &Config) -> Result<(), Rejected> {
        let messages: usize = at.buffers.iter().map(Vec::len).sum();
        match seen.saturating_mul(messages + at.memory.len() + 1) > MAX_TURN {
            true => {
                Err(Rejected::TooLarge("the buffers are too long to check every update".to_owned()))
            }
            false => Ok(()),
        }
    }
}

/// Whether `want` is `have` without some of equal adjacent elements.
fn repeats<T: PartialEq>(have: &[T], want: &[T]) -> bool {
    let mut have = have.iter().peekable();
    for (i, message) in want.iter().enumerate() {
        if have.next() != Some(message) {
            return false;
        }
        // The last of the wanted run takes all that is left of it.
        if want.get(i + 1) != Some(message) {
            while have.next_if_eq(&message).is_some() {}
        }
    }
    have.next().is_none()
}
