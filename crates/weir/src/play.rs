//! A game that a person plays against the other player, who follows a winning strategy if there
//! is one.
//!
//! A turn of the process player is one instruction; a turn of the update player is any number of
//! steps ([`weir_game::rules`]). [`Table`] says what can be played and what the opponent plays; the
//! caller keeps the [`Position`].

use weir_game::coarse::covers;
use weir_game::rules::{Rules, Step};
use weir_game::{Options, Outcome};
use weir_model::game::{
    Board, Configuration, Fairness, Instruction, NoGame, Player, Strategy, View,
};
use weir_model::ids::{ProcessId, TransitionId};
use weir_model::program::Objective;

use crate::load::Loaded;
use crate::report::strategy::{action, message};

/// Where a game stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The configuration.
    pub at: Configuration,
    /// Where the strategy of the opponent is; `None` once the game has left what the strategy
    /// covers.
    pub number: Option<usize>,
}

/// A game with two players: a person and the opponent.
pub struct Table<'l> {
    loaded: &'l Loaded,
    /// The rules.
    pub rules: Rules<'l>,
    /// What the players have to observe.
    pub fairness: Fairness,
    /// Whom the person plays.
    pub person: Player,
    /// The winning strategy of the opponent, if there is one.
    strategy: Option<&'l Strategy>,
}

impl<'l> Table<'l> {
    /// A game in which a person plays one player.
    ///
    /// # Errors
    /// If the program has no such game.
    pub fn new(
        loaded: &'l Loaded,
        game: usize,
        options: &Options,
        outcome: &'l Outcome,
        person: Player,
    ) -> Result<Self, NoGame> {
        let rules = Rules { board: Board::new(&loaded.system, game)?, buffers: options.buffers };
        let strategy = outcome.strategy.as_ref().filter(|_| outcome.winner != Some(person));
        Ok(Self { loaded, rules, fairness: options.fairness, person, strategy })
    }

    /// Where the game begins: it is the process player's turn.
    pub fn start(&self) -> Position {
        Position { at: self.rules.board.start(), number: Some(0) }
    }

    /// The instructions that the process player can play.
    pub fn instructions(&self, at: &Configuration) -> Vec<(ProcessId, Instruction)> {
        let all = self.loaded.system.process_ids();
        all.flat_map(|p| self.rules.enabled(at, p).map(move |i| (p, i.clone()))).collect()
    }

    /// Who has won at the turn of the process player because nothing can be played, and why.
    pub fn stuck(&self, at: &Configuration) -> (Player, &'static str) {
        let held = at.buffers.iter().any(|b| !b.is_empty());
        match self.fairness == Fairness::Update && held {
            true => (Player::Process, "a deadlock with something in a buffer is not fair"),
            false => (Player::Update, "no process can go on"),
        }
    }

    /// Who has won because a process is in a target, if one is, and why.
    pub fn reached(&self, at: &Configuration) -> Option<(Player, &'static str)> {
        let winner = match self.rules.board.objective() {
            Objective::Reach => Player::Process,
            Objective::Avoid => Player::Update,
        };
        self.rules.board.is_won(&at.states).then_some((winner, "a process is in a target"))
    }

    /// Which of the instructions the opponent plays, as the process player.
    pub fn chosen(&self, position: &Position, moves: &[(ProcessId, Instruction)]) -> usize {
        let chosen = match (self.strategy, position.number) {
            (Some(Strategy::Views { process, moves }), _) => {
                let view = view(&position.at, *process);
                let found = moves.iter().find(|(v, _)| *v == view);
                found.map(|(_, path)| (*process, path.clone()))
            }
            (Some(Strategy::Process(positions)), Some(number)) => positions[number].action.clone(),
            _ => None,
        };
        let is_chosen = |(p, i): &(ProcessId, Instruction)| {
            chosen.as_ref().is_some_and(|(process, path)| p == process && i.path == *path)
        };
        moves.iter().position(is_chosen).unwrap_or(0)
    }

    /// The position after an instruction of the person and the reply of the opponent, as the
    /// update player. `after` is the configuration after the instruction.
    pub fn replied(
        &self,
        position: &Position,
        (process, path): (ProcessId, &[TransitionId]),
        after: Configuration,
    ) -> Position {
        if let (Some(Strategy::Update(positions)), Some(number)) = (self.strategy, position.number)
        {
            let replies = positions[number].replies.iter();
            let mut fits = replies.filter(|(p, taken, _)| *p == process && **taken == *path);
            if let Some((_, _, next)) = fits.next() {
                return Position { at: positions[*next].at.clone(), number: Some(*next) };
            }
        }
        Position { at: after, number: position.number }
    }

    /// Whether update fairness does not let the update player end the turn here: no process can go
    /// on, and something is in a buffer.
    pub fn owes_update(&self, at: &Configuration) -> bool {
        self.fairness == Fairness::Update
            && self.rules.board.objective() == Objective::Reach
            && self.instructions(at).is_empty()
            && at.buffers.iter().any(|b| !b.is_empty())
    }

    /// The steps that the update player can take now.
    pub fn steps(&self, at: &Configuration) -> Vec<Step> {
        self.rules.steps(at)
    }

    /// The position after the person, as the update player, has ended the turn.
    pub fn ended(&self, position: &Position) -> Position {
        let mut next = position.clone();
        if let (Some(Strategy::Process(positions)), Some(number)) = (self.strategy, position.number)
        {
            let after = positions[number].next.iter().copied();
            next.number =
                after.into_iter().find(|n| covers(&self.rules, &positions[*n].at, &position.at));
        }
        next
    }

    /// An instruction in words.
    pub fn instruction(&self, process: ProcessId, path: &[TransitionId]) -> String {
        let name = &self.loaded.system.processes[process.index()].name;
        format!("{name} {}", action(self.loaded, process, path))
    }

    /// A step of the update player in words.
    pub fn step(&self, at: &Configuration, step: Step) -> String {
        let system = &self.loaded.system;
        let name = |p: ProcessId| &system.processes[p.index()].name;
        let oldest = |p: ProcessId| {
            let first = at.buffers[p.index()].first();
            first.map_or(String::new(), |m| message(self.loaded, m))
        };
        match step {
            Step::Update(p) => format!("update {} of {}", oldest(p), name(p)),
            Step::Delete(p) => format!("delete {} of {}", oldest(p), name(p)),
            Step::Propagate(p, x) => {
                let value = system.show_value(x, at.memory[x.index()]);
                format!("propagate {}:{value} to {}", system.vars[x.index()].name, name(p))
            }
        }
    }
}

/// What a process sees of a store buffer and memory (Spengler 2024, section 6).
fn view(at: &Configuration, process: ProcessId) -> View {
    let mut values = at.memory.clone();
    let buffer = &at.buffers[process.index()];
    buffer.iter().for_each(|m| values[m.var.index()] = m.value);
    View { state: at.states[process.index()], values, fence: buffer.is_empty() }
}
