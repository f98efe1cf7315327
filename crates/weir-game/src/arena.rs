//! The game on configurations with buffers up to a bound, as a finite graph.
//!
//! A *position* is a configuration with the player whose turn it is. The turn of the
//! update player is split into single steps and a last one that ends the turn, and a
//! position of the update player records the process in which the process player has just
//! played. That gives the same turns as `up*` (Spengler 2024, section 5) with far fewer
//! edges. A turn has to end; where it could continue for ever (load buffers),
//! [`crate::attractor`] makes sure that it ends.
//!
//! There are three ways to keep the graph finite ([`Limit`]). In the first two only moves of
//! one player are removed; in the third, moves of the update player are added:
//!
//! * *Process*: the process player does not write into a full buffer, unless that write leads
//!   to a target, which ends the game. All else is as in the unbounded game, so a win of the
//!   process player here is a win there.
//! * *Update*: the update player may not end a turn while a buffer holds more than the bound. If
//!   the process player writes a message that is equal to the newest message of a full
//!   store buffer, the new message is dropped: with `m m` the update player can do all
//!   that is possible with `m`, by updating both instead of one. So a win of the update
//!   player here is a win in the unbounded game. With load buffers the update player does
//!   not propagate into a full buffer either.
//! * *Neither*: what does not fit into a buffer is forgotten, and may be anything afterward
//!   ([`crate::coarse`]). That adds moves of the update player, so a win of the process player here
//!   is a win in the unbounded game.
//!
//! If no move was removed or added, the graph is the unbounded game.

use weir_engine::store::{ConfigId, Store};
use weir_model::game::{Buffers, Configuration, Fairness, Message, Player};
use weir_model::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use weir_model::program::Objective;
use weir_model::system::Op;

use crate::coarse::{Coarse, is_settled};
use crate::counts::{Counts, Stopped};
use crate::rules::{Rules, Step, is_empty};

/// What keeps buffers within the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Moves of the process player are left out.
    Process,
    /// Moves of the update player are left out.
    Update,
    /// No player is restricted: messages beyond the bound are forgotten and may be anything.
    Neither,
}

impl Limit {
    /// The player whose win here is a win in the unbounded game.
    pub fn proves(self) -> Player {
        match self {
            Self::Process | Self::Neither => Player::Process,
            Self::Update => Player::Update,
        }
    }
}

/// A bound on buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What keeps buffers within it.
    pub limit: Limit,
    /// The most messages of a buffer.
    pub size: usize,
}

/// The number of a position.
pub type Position = u32;

/// The positions of a game and where they lead.
pub struct Arena<'s> {
    /// The rules.
    pub rules: Rules<'s>,
    bound: Bound,
    /// Steps of buffers that are not known in full, with [`Limit::Neither`].
    coarse: Option<Coarse>,
    positions: Store,
    /// Where the edges of each position begin, and of one more.
    first: Vec<u32>,
    to: Vec<Position>,
    /// Who has won where play ends.
    pub ends: Vec<Option<Player>>,
    /// The processes that are enabled, as bits, where it is the process player's turn.
    enabled: Vec<u64>,
    /// Whether nothing was left out or added.
    pub is_exact: bool,
}

impl<'s> Arena<'s> {
    /// All positions that can come up. The first one is the start.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        rules: Rules<'s>,
        fairness: Fairness,
        bound: Bound,
        counts: &mut Counts<'_>,
    ) -> Result<Self, Stopped> {
        let start = rules.board.start();
        let is_coarse = bound.limit == Limit::Neither;
        let coarse = is_coarse.then(|| Coarse::new(&rules.board, bound.size));
        let mut arena = Self {
            rules,
            bound,
            coarse,
            positions: Store::within(&counts.budget),
            first: vec![0],
            to: Vec::new(),
            ends: Vec::new(),
            enabled: Vec::new(),
            is_exact: true,
        };
        arena.number(&start, None)?;
        let before = counts.stats.stored;
        while let Some(id) = arena.positions.take_next() {
            arena.expand(id.index() as Position, fairness)?;
            arena.first.push(u32::try_from(arena.to.len()).map_err(|_| Stopped::full())?);
            counts.stats.stored = before + arena.positions.len();
            counts.stats.expanded += 1;
            counts.tick(arena.bytes())?;
        }
        Ok(arena)
    }

    fn bytes(&self) -> usize {
        self.positions.bytes() + self.to.capacity() * 4 + self.first.capacity() * 13
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none. There is always one.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Where a position leads.
    pub fn next(&self, position: Position) -> &[Position] {
        let p = position as usize;
        &self.to[self.first[p] as usize..self.first[p + 1] as usize]
    }

    /// Whose turn it is.
    pub fn turn(&self, position: Position) -> Player {
        match self.cells(position)[0] {
            0 => Player::Process,
            _ => Player::Update,
        }
    }

    /// The process that was played in, where it is the update player's turn.
    pub fn played(&self, position: Position) -> Option<ProcessId> {
        let turn = self.cells(position)[0] as usize;
        turn.checked_sub(1).map(ProcessId::new)
    }

    /// Whether a process is enabled in the unbounded game, where it is the process player's turn. A
    /// full buffer does not disable a process.
    pub fn is_enabled(&self, position: Position, process: ProcessId) -> bool {
        self.enabled[position as usize] >> process.index() & 1 == 1
    }

    /// The moves of the process player, in the order of the edges.
    pub fn moves(&self, position: Position) -> Vec<(ProcessId, usize)> {
        let (moves, _) = self.allowed(&self.configuration(position));
        moves
    }

    /// The moves within the bound, and whether there are others.
    fn allowed(&self, at: &Configuration) -> (Vec<(ProcessId, usize)>, bool) {
        let board = &self.rules.board;
        let (mut moves, mut others) = (Vec::new(), false);
        for p in board.system.process_ids() {
            let full = at.buffers[p.index()].len() >= self.bound.size;
            let instructions = board.instructions(p, at.states[p.index()]).iter().enumerate();
            for (number, i) in instructions.filter(|(_, i)| self.rules.is_enabled(at, p, i)) {
                let writes = matches!(i.op, Op::Write(..));
                let ends = board.is_target(p, i.to);
                if self.bound.limit == Limit::Process && writes && full && !ends {
                    others = true;
                } else {
                    moves.push((p, number));
                }
            }
        }
        (moves, others)
    }

    fn expand(&mut self, position: Position, fairness: Fairness) -> Result<(), Stopped> {
        let at = self.configuration(position);
        self.ends.push(None);
        self.enabled.push(0);
        let index = position as usize;
        if self.rules.board.is_won(&at.states) {
            self.ends[index] = Some(match self.rules.board.objective() {
                Objective::Reach => Player::Process,
                Objective::Avoid => Player::Update,
            });
            return Ok(());
        }
        match self.played(position) {
            None => self.process_turn(index, &at, fairness),
            Some(played) => self.update_turn(&at, played),
        }
    }

    fn process_turn(
        &mut self,
        index: usize,
        at: &Configuration,
        fairness: Fairness,
    ) -> Result<(), Stopped> {
        let processes = self.rules.board.system.process_ids();
        let is_enabled = |p: &ProcessId| self.rules.enabled(at, *p).next().is_some();
        let enabled = processes.filter(is_enabled).fold(0, |bits, p| bits | 1 << p.index());
        self.enabled[index] = enabled;
        let (moves, others) = self.allowed(at);
        self.is_exact &= !others;
        if moves.is_empty() {
            // A player in a deadlock loses (section 4), unless the
            // update player has caused it against update fairness (section 7).
            let unfair = enabled == 0
                && fairness == Fairness::Update
                && self.rules.board.system.process_ids().any(|p| !is_empty(at, p));
            self.ends[index] = Some(if unfair { Player::Process } else { Player::Update });
        }
        for (p, number) in moves {
            let instruction = &self.rules.board.instructions(p, at.states[p.index()])[number];
            let mut after = self.rules.after(at, p, instruction);
            if let [.., one, two] = after.buffers[p.index()].as_slice()
                && self.bound.limit == Limit::Update
                && self.rules.buffers == Buffers::Store
                && after.buffers[p.index()].len() > self.bound.size
                && after.buffers[p.index()].len() > at.buffers[p.index()].len()
                && one == two
            {
                after.buffers[p.index()].pop();
                self.is_exact = false;
            }
            if let Some(coarse) = &self.coarse {
                self.is_exact &= !coarse.shorten(&self.rules, &mut after, p);
            }
            let to = self.number(&after, Some(p))?;
            self.to.push(to);
        }
        Ok(())
    }

    fn update_turn(&mut self, at: &Configuration, played: ProcessId) -> Result<(), Stopped> {
        let size = self.bound.size;
        if let Some(coarse) = &self.coarse {
            let (all, is_exact) = coarse.updates(&self.rules, at);
            self.is_exact &= is_exact;
            if is_settled(&self.rules, at) {
                let to = self.number(at, None)?;
                self.to.push(to);
            }
            for after in all {
                let to = self.number(&after, Some(played))?;
                self.to.push(to);
            }
            return Ok(());
        }
        if self.bound.limit == Limit::Update && at.buffers.iter().any(|b| b.len() > size) {
            self.is_exact = false;
        } else {
            // The end of the turn comes first: to do nothing is the simplest.
            let to = self.number(at, None)?;
            self.to.push(to);
        }
        for step in self.rules.steps(at) {
            if let Step::Propagate(p, _) = step
                && at.buffers[p.index()].len() >= size
            {
                self.is_exact = false;
                continue;
            }
            let after = self.rules.take(at, step);
            let to = self.number(&after, Some(played))?;
            self.to.push(to);
        }
        Ok(())
    }

    fn number(
        &mut self,
        at: &Configuration,
        played: Option<ProcessId>,
    ) -> Result<Position, Stopped> {
        let mut cells = vec![played.map_or(0, |p| p.index() as u32 + 1)];
        cells.extend(at.states.iter().map(|s| s.0));
        cells.extend(at.memory.iter().map(|v| v.0));
        for (buffer, beyond) in at.buffers.iter().zip(&at.beyond) {
            cells.push(u32::try_from(buffer.len()).map_err(|_| Stopped::full())?);
            cells.extend(buffer.iter().flat_map(|m| {
                let kind = u32::from(m.own) * 2 + u32::from(m.more);
                [u32::from(m.var.0) * 4 + kind, m.value.0]
            }));
            cells.push(u32::from(beyond.is_some()));
            let newest = beyond.iter().flatten();
            cells.extend(newest.map(|own| own.map_or(0, |value| value.0 + 1)));
        }
        let (id, _) = self.positions.number(&cells, None)?;
        Ok(id.index() as Position)
    }

    fn cells(&self, position: Position) -> Vec<Cell> {
        let id: ConfigId = self.positions.id(position as usize).expect("a position of this arena");
        self.positions.get(id)
    }

    /// The configuration of a position.
    pub fn configuration(&self, position: Position) -> Configuration {
        let system = self.rules.board.system;
        let cells = self.cells(position);
        let (states, rest) = cells[1..].split_at(system.processes.len());
        let (memory, mut rest) = rest.split_at(system.vars.len());
        let (mut buffers, mut beyond) = (Vec::new(), Vec::new());
        for _ in states {
            let (messages, after) = rest[1..].split_at(2 * rest[0] as usize);
            let message = |m: &[Cell]| Message {
                var: VarId::new(m[0] as usize / 4),
                own: m[0] & 2 != 0,
                more: m[0] & 1 != 0,
                value: ValueId(m[1]),
            };
            buffers.push(messages.chunks(2).map(message).collect());
            let has_beyond = after[0] == 1;
            let count = if has_beyond { memory.len() } else { 0 };
            let (newest, after) = after[1..].split_at(count);
            let own = |cell: &Cell| cell.checked_sub(1).map(ValueId);
            beyond.push(has_beyond.then(|| newest.iter().map(own).collect()));
            rest = after;
        }
        Configuration {
            states: states.iter().map(|s| StateId(*s)).collect(),
            memory: memory.iter().map(|v| ValueId(*v)).collect(),
            buffers,
            beyond,
        }
    }
}
