//! A game as a graph of positions, so that a page can be played on.
//!
//! The nodes are the moments at which the person chooses; what the opponent plays in between is
//! part of a move. There are at most 1000 of them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use weir_game::{Options, Outcome};
use weir_model::game::{Buffers, Configuration, NoGame, Player};
use weir_model::ids::VarId;
use weir_model::system::StateKind;

use crate::load::Loaded;
use crate::play::{Position, Table};
use crate::report::strategy::{message, place};

/// The most nodes of a board.
const MAX_NODES: usize = 1000;

/// A game that can be played.
#[derive(Debug, Serialize)]
pub struct Board {
    /// Whom the person plays: `process` or `update`.
    pub person: &'static str,
    /// The processes.
    pub processes: Vec<String>,
    /// What a buffer is called.
    pub buffers: &'static str,
    /// What the opponent plays before the person's first move, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The moments at which the person chooses, or at which the game is over. It begins at the
    /// first.
    pub nodes: Vec<Node>,
}

/// A moment of a game.
#[derive(Debug, Default, Serialize)]
pub struct Node {
    /// Where each process is.
    pub places: Vec<String>,
    /// The line of each process, if it has not ended.
    pub lines: Vec<Option<usize>>,
    /// The messages in the buffer of each process, oldest first.
    pub buffers: Vec<Vec<String>>,
    /// Memory.
    pub memory: BTreeMap<String, String>,
    /// What the person can do. None where the game is over, or where the board ends.
    pub moves: Vec<Move>,
    /// Who has won, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Over>,
}

/// Something that a person can do.
#[derive(Debug, Serialize)]
pub struct Move {
    /// In words.
    pub text: String,
    /// What the opponent does then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The node that it leads to.
    pub to: usize,
}

/// The end of a game.
#[derive(Debug, Serialize)]
pub struct Over {
    /// `process` or `update`.
    pub winner: &'static str,
    /// Why.
    pub why: &'static str,
}

/// A moment before it has a number: the position, and who has won there.
type Moment = (Position, Option<(Player, &'static str)>);

impl Board {
    /// The board on which a person plays against the winner of a game.
    ///
    /// # Errors
    /// If the program has no such game.
    pub fn new(
        loaded: &Loaded,
        game: usize,
        options: &Options,
        outcome: &Outcome,
    ) -> Result<Option<Self>, NoGame> {
        let Some(winner) = outcome.winner else { return Ok(None) };
        let person = match winner {
            Player::Process => Player::Update,
            Player::Update => Player::Process,
        };
        let table = Table::new(loaded, game, options, outcome, person)?;
        let start = table.start();
        let (first, moment) = match (table.reached(&start.at), person) {
            (Some(over), _) => (None, (start, Some(over))),
            (None, Player::Process) => (None, process_turn(&table, start)),
            (None, Player::Update) => opponent(&table, &start),
        };
        let mut numbers: HashMap<Moment, usize> = HashMap::from([(moment.clone(), 0)]);
        let mut open = vec![moment];
        let mut nodes = Vec::new();
        while let Some(moment) = open.get(nodes.len()).cloned() {
            let mut node = shown(loaded, &moment);
            if moment.1.is_none() {
                for (text, reply, next) in moves(&table, &moment.0) {
                    let count = numbers.len();
                    let to = match numbers.get(&next) {
                        Some(to) => *to,
                        None if count >= MAX_NODES => continue,
                        None => {
                            numbers.insert(next.clone(), count);
                            open.push(next);
                            count
                        }
                    };
                    node.moves.push(Move { text, reply, to });
                }
            }
            nodes.push(node);
        }
        Ok(Some(Self {
            person: person.name(),
            processes: loaded.system.processes.iter().map(|p| p.name.clone()).collect(),
            buffers: match options.buffers {
                Buffers::Store => "store buffer",
                Buffers::Load => "load buffer",
            },
            first,
            nodes,
        }))
    }
}

/// The process player's turn of the person.
fn process_turn(table: &Table<'_>, position: Position) -> Moment {
    let over = table.instructions(&position.at).is_empty().then(|| table.stuck(&position.at));
    (position, over)
}

/// The opponent plays as the process player, and it is the person's turn to update.
fn opponent(table: &Table<'_>, position: &Position) -> (Option<String>, Moment) {
    let moves = table.instructions(&position.at);
    if moves.is_empty() {
        return (None, (position.clone(), Some(table.stuck(&position.at))));
    }
    let (process, instruction) = &moves[table.chosen(position, &moves)];
    let at = table.rules.after(&position.at, *process, instruction);
    let over = table.reached(&at);
    let said = table.instruction(*process, &instruction.path);
    (Some(said), (Position { at, number: position.number }, over))
}

/// What a person can do at a moment: in words, what the opponent does then, and what follows.
fn moves(table: &Table<'_>, position: &Position) -> Vec<(String, Option<String>, Moment)> {
    match table.person {
        Player::Process => table
            .instructions(&position.at)
            .into_iter()
            .map(|(process, instruction)| {
                let text = table.instruction(process, &instruction.path);
                let after = table.rules.after(&position.at, process, &instruction);
                if let Some(over) = table.reached(&after) {
                    let position = Position { at: after, number: position.number };
                    return (text, None, (position, Some(over)));
                }
                let next = table.replied(position, (process, &instruction.path), after.clone());
                let reply = if next.at == after { "nothing" } else { "changes the buffers" };
                (text, Some(reply.to_owned()), process_turn(table, next))
            })
            .collect(),
        Player::Update => {
            let steps = table.steps(&position.at).into_iter().map(|step| {
                let at = table.rules.take(&position.at, step);
                let next = Position { at, number: position.number };
                (table.step(&position.at, step), None, (next, None))
            });
            let (reply, next) = opponent(table, &table.ended(position));
            let end = ("end the turn".to_owned(), reply, next);
            std::iter::once(end).chain(steps).collect()
        }
    }
}

fn shown(loaded: &Loaded, (position, over): &Moment) -> Node {
    let system = &loaded.system;
    let Configuration { states, memory, buffers, .. } = &position.at;
    let line = |(p, state)| {
        let state = system.state(p, state);
        (state.kind == StateKind::Inside).then(|| loaded.line(state.span))
    };
    let standing = || system.process_ids().zip(states.iter().copied());
    Node {
        places: standing().map(|(p, state)| place(loaded, p, state)).collect(),
        lines: standing().map(line).collect(),
        buffers: buffers
            .iter()
            .map(|buffer| buffer.iter().map(|m| message(loaded, m)).collect())
            .collect(),
        memory: (0..)
            .map(VarId)
            .zip(memory)
            .map(|(x, value)| (system.vars[x.index()].name.clone(), system.show_value(x, *value)))
            .collect(),
        moves: Vec::new(),
        over: over.map(|(winner, why)| Over { winner: winner.name(), why }),
    }
}
