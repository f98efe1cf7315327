//! Files of strategies: how a player wins a game (Spengler 2024), as JSON.
//! `docs/evidence.md` has the format and its meaning; [`check`] checks that a strategy
//! wins.

mod checker;
mod rules;
mod ways;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weir_model::game::{Beyond, Buffers, Configuration, Fairness, Message, Player, Strategy, View};
use weir_model::ids::{ProcessId, TransitionId, VarId};
use weir_model::system::System;

use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, within_bounds};
use crate::header::Header;
use crate::witness::state_names;

pub use checker::check;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-strategy";

/// The version of the format that is written.
pub const VERSION: u32 = 4;

/// How a player wins a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyFile {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// Which game of the program, from 0.
    pub game: usize,
    /// `none`, `update` or `process`.
    pub fairness: String,
    /// `store-buffer` or `load-buffer`.
    pub semantics: String,
    /// Who wins: `process` or `update`.
    pub winner: String,
    /// How.
    pub strategy: Shape,
}

/// The kinds of strategies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// The game begins in a target.
    Nothing,
    /// The process player plays in one process and looks at its view.
    Views {
        /// The process, by its name.
        process: String,
        /// What to do in each view.
        moves: Vec<ViewMove>,
    },
    /// The update player never updates anything.
    NeverUpdate,
    /// The process player looks at configurations.
    Process(Vec<ProcessMove>),
    /// The update player looks at configurations.
    Update(Vec<UpdateMove>),
}

/// What to do in a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewMove {
    /// The local state of the process, by its name ([`System::state_name`]).
    pub state: String,
    /// What the process reads from each variable.
    pub values: BTreeMap<String, i128>,
    /// Whether the process may fence.
    pub fence: bool,
    /// The transitions to take: choices, then an instruction.
    pub transitions: Vec<String>,
}

/// A turn of the process player, in a strategy of the process player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessMove {
    /// The configuration.
    pub at: Place,
    /// What to do, unless the process player has won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The turns that may come next, by their places in the list.
    pub next: Vec<usize>,
}

/// A turn of the process player in a strategy of the update player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateMove {
    /// The configuration.
    pub at: Place,
    /// The answer to each instruction.
    pub replies: Vec<Reply>,
}

/// An instruction of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The process, by its name.
    pub process: String,
    /// The transitions to take: choices, then an instruction.
    pub transitions: Vec<String>,
}

/// What the update player makes of an instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The instruction.
    #[serde(rename = "to")]
    pub action: Action,
    /// The turn that comes next, by its place in the list.
    pub next: usize,
}

/// A configuration with names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The local state of each process, in order, by its name.
    pub states: Vec<String>,
    /// The value of each variable.
    pub memory: BTreeMap<String, i128>,
    /// What is in the buffer of each process, oldest first.
    pub buffers: Vec<Vec<PlaceMessage>>,
    /// For each process, newer messages that are not listed, by the newest own value of each
    /// variable among them; `None` if there are none. Empty if no process has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<Option<BTreeMap<String, i128>>>,
}

/// A message: the variable, its value, whether it is an own-message of a load buffer, and
/// whether it stands for one or more equal adjacent messages of a store buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceMessage(
    pub String,
    pub i128,
    #[serde(default)] pub bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")] pub bool,
);

impl Evidence for StrategyFile {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)?;
        within_bounds(subject.system(), |_| false)
    }

    fn what(&self) -> String {
        format!("a strategy of the {} player", self.winner)
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let system = subject.system();
        let name = (self.game < system.program.games.len()).then(|| system.game_name(self.game));
        let verdict = format!("won by the {} player", self.winner);
        let answers = name.into_iter().map(|name| Settled::new(name, verdict.clone())).collect();
        let fairness = match self.fairness.as_str() {
            "none" => None,
            fairness => Some(format!("{fairness} fairness")),
        };
        Claims { fairness, ..Claims::new(&self.header, &self.semantics, answers) }
    }
}

impl StrategyFile {
    /// The file of a strategy.
    pub fn new(
        system: &System,
        game: usize,
        (fairness, buffers): (Fairness, Buffers),
        winner: Player,
        strategy: &Strategy,
    ) -> Self {
        let action = |p: ProcessId, path: &[TransitionId]| Action {
            process: system.processes[p.index()].name.clone(),
            transitions: names(system, p, path),
        };
        let shape = match strategy {
            Strategy::Nothing => Shape::Nothing,
            Strategy::NeverUpdate => Shape::NeverUpdate,
            Strategy::Views { process, moves } => Shape::Views {
                process: system.processes[process.index()].name.clone(),
                moves: moves
                    .iter()
                    .map(|(view, path)| ViewMove::new(system, *process, view, path))
                    .collect(),
            },
            Strategy::Process(positions) => Shape::Process(
                positions
                    .iter()
                    .map(|p| ProcessMove {
                        at: Place::new(system, &p.at),
                        action: p.action.as_ref().map(|(process, path)| action(*process, path)),
                        next: p.next.clone(),
                    })
                    .collect(),
            ),
            Strategy::Update(positions) => Shape::Update(
                positions
                    .iter()
                    .map(|p| UpdateMove {
                        at: Place::new(system, &p.at),
                        replies: p
                            .replies
                            .iter()
                            .map(|(process, path, next)| Reply {
                                action: action(*process, path),
                                next: *next,
                            })
                            .collect(),
                    })
                    .collect(),
            ),
        };
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            game,
            fairness: fairness.name().to_owned(),
            semantics: buffers.name().to_owned(),
            winner: winner.name().to_owned(),
            strategy: shape,
        }
    }
}

impl ViewMove {
    fn new(system: &System, process: ProcessId, view: &View, path: &[TransitionId]) -> Self {
        Self {
            state: system.state_name(process, view.state),
            values: named(system, &view.values),
            fence: view.fence,
            transitions: names(system, process, path),
        }
    }
}

/// The names of transitions of a process.
fn names(system: &System, process: ProcessId, path: &[TransitionId]) -> Vec<String> {
    let name = |id: &TransitionId| system.transition_name(process, system.transition(process, *id));
    path.iter().map(name).collect()
}

impl Place {
    /// A configuration with names.
    pub fn new(system: &System, at: &Configuration) -> Self {
        let message = |m: &Message| {
            let name = system.vars[m.var.index()].name.clone();
            PlaceMessage(name, system.value(m.var, m.value), m.own, m.more)
        };
        let buffers = at.buffers.iter().map(|b| b.iter().map(message).collect()).collect();
        let newest = |beyond: &Beyond| {
            let each = beyond.iter().enumerate().filter_map(|(x, own)| Some((x, (*own)?)));
            each.map(|(x, d)| (system.vars[x].name.clone(), system.value(VarId::new(x), d)))
                .collect()
        };
        let beyond: Vec<_> = at.beyond.iter().map(|b| b.as_ref().map(newest)).collect();
        let has_beyond = beyond.iter().any(Option::is_some);
        Self {
            states: state_names(system, &at.states),
            memory: named(system, &at.memory),
            buffers,
            beyond: if has_beyond { beyond } else { vec![] },
        }
    }
}

fn named(system: &System, values: &[weir_model::ids::ValueId]) -> BTreeMap<String, i128> {
    let each = values.iter().enumerate();
    each.map(|(x, d)| (system.vars[x].name.clone(), system.value(VarId::new(x), *d))).collect()
}
