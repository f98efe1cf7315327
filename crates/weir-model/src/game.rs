//! Games between a program and its memory (Spengler 2024).
//!
//! The *process player* picks an instruction, then the *update player* picks which
//! buffered writes reach memory, and so on. This module defines what the solvers and the
//! checker of strategies share: the processes as automata, the configurations, and
//! strategies. It has no rules of play.
//!
//! A process of the paper (section 3) is an automaton over reads `rd(x,d)`, writes
//! `wr(x,d)`, `skip` and the fence `mf`. [`Board`] translates each process of a system to
//! one:
//!
//! * A state with several outgoing transitions has several instructions. In the language
//!   that is `choose`, which is not an instruction: the choice is made together with the
//!   first instruction of the chosen branch. So `choose { await x == 1 … } or { await y
//!   == 1 … }` is a state with two reads. A choice that leads to the end of the process,
//!   to a target, or back to itself without an instruction, is a `skip`.
//! * `await x == 1` is the read `rd(x,1)`, which is disabled while `x` is not 1. An
//!   `await` that reads several variables is several reads; a read is disabled if the
//!   `await` cannot be left with the values that the process can read now
//!   ([`Board::goes_on`]), so waiting is not a move.
//! * `rfence` and `wfence` order nothing under TSO and are `skip`.
//! * Atomic read-writes are rejected. They are not in the paper, and its theorem 4 is
//!   wrong with them: they write to memory without a move of the update player.

use std::collections::HashSet;
use std::fmt;

use crate::graph::components;
use crate::ids::{ProcessId, SpanId, StateId, TransitionId, ValueId, VarId};
use crate::limits::Budget;
use crate::program::{FenceKind, Game, Objective};
use crate::system::{Expanded, Op, StateKind, System, Transition};

/// The two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Player {
    /// Player A: picks instructions.
    Process,
    /// Player B: picks what happens to buffers.
    Update,
}

impl Player {
    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Update => "update",
        }
    }
}

/// What the players have to observe besides the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fairness {
    /// Nothing.
    None,
    /// The update player may not leave the program in a deadlock while there is
    /// something in a buffer (section 7).
    Update,
    /// The process player plays infinitely often in every process that is enabled
    /// infinitely often (section 8).
    Process,
}

impl Fairness {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Update, Self::Process];

    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Update => "update",
            Self::Process => "process",
        }
    }
}

/// What stands between a process and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffers {
    /// Writes on their way to memory (section 3).
    Store,
    /// Values on their way from memory (section 9).
    Load,
}

impl Buffers {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Store, Self::Load];

    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Store => "store-buffer",
            Self::Load => "load-buffer",
        }
    }
}

/// An instruction of a process: a transition of `δ` in section 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does; a read, a write, a full fence or a `nop`.
    pub op: Op,
    /// Where it leads.
    pub to: StateId,
    /// Stays inside one `await`.
    pub waits: bool,
    /// The transitions of the system: choices, then the one that does it.
    pub path: Box<[TransitionId]>,
}

/// Why a program has no game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGame {
    /// What is in the way.
    pub message: String,
    /// Where.
    pub span: SpanId,
}

impl fmt::Display for NoGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoGame {}

/// What a game is played on: the processes as the paper has them, and the targets.
#[derive(Clone, Debug)]
pub struct Board<'s> {
    /// The system.
    pub system: &'s System,
    all: Expanded<'s>,
    /// Which of its games it is.
    pub game: usize,
    /// For each process and local state, its instructions in order.
    instructions: Vec<Vec<Vec<Instruction>>>,
    /// For each process and local state, whether it is in `Q_W`.
    targets: Vec<Vec<bool>>,
    /// For each process and local state, whether a read or a fence may still come.
    looks: Vec<Vec<bool>>,
}

impl<'s> Board<'s> {
    /// The board of one of the games of a system's program.
    ///
    /// # Errors
    /// If a process has an atomic read-write, or a variable has several initial
    /// values: a game begins in one configuration.
    pub fn new(system: &'s System, game: usize) -> Result<Self, NoGame> {
        let all = system.expanded(&Budget::new());
        Self::of(all.expect("a budget without limits is never used up"), game)
    }

    /// The board of one of the games of the program of a system with all its control states.
    ///
    /// # Errors
    /// As for [`Board::new`].
    pub fn of(all: Expanded<'s>, game: usize) -> Result<Self, NoGame> {
        let system = all.system();
        for (x, var) in system.vars.iter().enumerate() {
            if var.initial.len() > 1 {
                let message = format!(
                    "a game begins in one configuration, but `{}` has several initial values",
                    var.name
                );
                let (decl, _) = system.program.decl(VarId::new(x));
                return Err(NoGame { message, span: decl.span });
            }
        }
        let mut transitions = system.process_ids().flat_map(|p| all.all_transitions(p));
        if let Some(t) = transitions.find(|t| matches!(t.op, Op::Arw(..))) {
            let message = "there are no atomic operations in games: they would write to memory \
                           without asking the update player";
            return Err(NoGame { message: message.to_owned(), span: t.span });
        }
        let asked = &system.program.games[game];
        let targets: Vec<Vec<bool>> = system
            .process_ids()
            .map(|p| {
                let is_target = |s: usize| {
                    let labels = &system.state(p, StateId::new(s)).labels;
                    labels.iter().any(|l| asked.targets.contains(&(p, *l)))
                };
                (0..all.state_count(p)).map(is_target).collect()
            })
            .collect();
        let mut room = MAX_CHOICES;
        let mut instructions = Vec::new();
        for p in system.process_ids() {
            instructions.push(instructions_of(all, p, &targets[p.index()], &mut room)?);
        }
        let looks = instructions.iter().map(|of| looks(of)).collect();
        Ok(Self { system, all, game, instructions, targets, looks })
    }

    /// The game.
    pub fn asked(&self) -> &Game {
        &self.system.program.games[self.game]
    }

    /// What the process player is after.
    pub fn objective(&self) -> Objective {
        self.asked().objective
    }

    /// The instructions of a process in a local state.
    #[inline]
    pub fn instructions(&self, process: ProcessId, state: StateId) -> &[Instruction] {
        &self.instructions[process.index()][state.index()]
    }

    /// Whether a local state is one that the game can come to.
    pub fn knows(&self, process: ProcessId, state: StateId) -> bool {
        state.index() < self.instructions[process.index()].len()
    }

    /// Whether a local state is in `Q_W`.
    #[inline]
    pub fn is_target(&self, process: ProcessId, state: StateId) -> bool {
        self.targets[process.index()][state.index()]
    }

    /// Whether a process in a local state may still read or fence. If not, the contents of its load
    /// buffer have no effect any more, and it counts as empty.
    #[inline]
    pub fn looks(&self, process: ProcessId, state: StateId) -> bool {
        self.looks[process.index()][state.index()]
    }

    /// Whether a configuration is in `C_W`: some process is in a target (section 5).
    pub fn is_won(&self, states: &[StateId]) -> bool {
        self.system.process_ids().zip(states).any(|(p, s)| self.is_target(p, *s))
    }

    /// Whether a process inside an `await` gets out of it, given what it reads from
    /// each variable and that nothing changes. An instruction that only waits is
    /// disabled if this is false of where it leads.
    pub fn goes_on(&self, process: ProcessId, state: StateId, reads: &[ValueId]) -> bool {
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(&state) = seen.get(next) {
            next += 1;
            for i in self.instructions(process, state) {
                if matches!(i.op, Op::Read(x, d) if reads[x.index()] != d) {
                    continue;
                }
                if !i.waits {
                    return true;
                }
                if !seen.contains(&i.to) {
                    seen.push(i.to);
                }
            }
        }
        false
    }

    /// An `await` that reads several variables, if there is one.
    pub fn long_wait(&self) -> Option<SpanId> {
        let all = self.all;
        let waits = |p| all.all_transitions(p).filter(|t| t.waits).map(move |t| (p, t));
        // One that has read what it waits for may still stand inside, before it goes on.
        let reads_on = |p, t: &Transition| t.op == Op::Nop || all.reads(p, t.to).is_some();
        let mut waiting = all.process_ids().flat_map(waits);
        waiting.find(|(p, t)| reads_on(*p, t)).map(|(_, t)| t.span)
    }

    /// The configuration that the game begins in; it is the process player's turn.
    pub fn start(&self) -> Configuration {
        let system = self.system;
        Configuration {
            states: system.processes.iter().map(|p| p.initial).collect(),
            memory: system.vars.iter().map(|v| v.initial[0]).collect(),
            buffers: vec![vec![]; system.processes.len()],
            beyond: vec![None; system.processes.len()],
        }
    }
}

/// The most transitions that the instructions of all states may have together. Only
/// long chains of choices come near.
const MAX_CHOICES: usize = 4_000_000;

/// The instructions of a process: choices are made with what follows them.
fn instructions_of(
    system: Expanded<'_>,
    process: ProcessId,
    targets: &[bool],
    room: &mut usize,
) -> Result<Vec<Vec<Instruction>>, NoGame> {
    let count = system.state_count(process);
    let state = |s: StateId| system.state(process, s);
    let choices = |s: usize| -> Vec<usize> {
        let s = StateId::new(s);
        let ways = system.transitions(process, s).map(|(_, t)| t.to.index());
        if state(s).is_choice { ways.collect() } else { vec![] }
    };
    let component = components(count, choices);
    // A choice goes on to the instructions behind it unless it ends something.
    let passes = |from: StateId, to: StateId| {
        state(from).is_choice
            && component[from.index()] != component[to.index()]
            && state(to).kind == StateKind::Inside
            && !targets[to.index()]
    };
    let mut all = Vec::new();
    for s in (0..count).map(StateId::new) {
        let mut found: Vec<Instruction> = Vec::new();
        let mut known = HashSet::new();
        let mut seen = HashSet::from([s]);
        let mut work: Vec<(StateId, Vec<TransitionId>)> = vec![(s, vec![])];
        while let Some((at, path)) = work.pop() {
            for (id, t) in system.transitions(process, at) {
                *room = room.checked_sub(path.len() + 1).ok_or_else(|| NoGame {
                    message: "there are too many choices in a row for a game".to_owned(),
                    span: t.span,
                })?;
                let path: Vec<_> = path.iter().copied().chain([id]).collect();
                if passes(at, t.to) {
                    if seen.insert(t.to) {
                        work.push((t.to, path));
                    }
                    continue;
                }
                let op = match t.op {
                    Op::Fence(FenceKind::Read | FenceKind::Write) => Op::Nop,
                    op => op,
                };
                if known.insert((op, t.to, t.waits)) {
                    found.push(Instruction { op, to: t.to, waits: t.waits, path: path.into() });
                }
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        all.push(found);
    }
    Ok(all)
}

/// The states from which a read or a fence can be reached.
fn looks(instructions: &[Vec<Instruction>]) -> Vec<bool> {
    let mut before = vec![vec![]; instructions.len()];
    let mut looks = vec![false; instructions.len()];
    for (from, all) in instructions.iter().enumerate() {
        all.iter().for_each(|i| before[i.to.index()].push(from));
        looks[from] = all.iter().any(|i| matches!(i.op, Op::Read(..) | Op::Fence(_)));
    }
    let mut work: Vec<usize> = (0..looks.len()).filter(|s| looks[*s]).collect();
    while let Some(state) = work.pop() {
        for &from in &before[state] {
            if !std::mem::replace(&mut looks[from], true) {
                work.push(from);
            }
        }
    }
    looks
}

/// A configuration `⟨S, B, M⟩` (sections 3 and 9), or a set of them that differ in their
/// buffers: a message can stand for several equal ones ([`Message::more`]), and what follows
/// the listed messages can be unknown ([`Configuration::beyond`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The local state of each process.
    pub states: Vec<StateId>,
    /// The value of each variable in memory.
    pub memory: Vec<ValueId>,
    /// The buffer of each process, oldest message first.
    pub buffers: Vec<Vec<Message>>,
    /// For each process, what may follow the listed messages; `None` if nothing does.
    pub beyond: Vec<Option<Beyond>>,
}

/// Newer messages of a buffer that are not listed. The newest own message of each variable among
/// them has this value. A variable without a value has no own message there. In a store buffer,
/// where all messages are own, the others are writes of the process to variables with a value here;
/// in a load buffer they are any messages.
pub type Beyond = Vec<Option<ValueId>>;

/// A message in a buffer: `⟨x,d⟩`, or `⟨x,d,own⟩` in a load buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// The variable.
    pub var: VarId,
    /// The value.
    pub value: ValueId,
    /// The process's own write, in a load buffer. All messages of a store buffer are.
    pub own: bool,
    /// Stands for one or more adjacent messages that are equal to it, in a store buffer.
    pub more: bool,
}

/// A view `⟨S, V, F⟩` of one process (section 6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    /// Its local state.
    pub state: StateId,
    /// What it reads from each variable.
    pub values: Vec<ValueId>,
    /// Whether it may fence.
    pub fence: bool,
}

/// How a player wins, against whatever the other one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The game is won before it begins: it begins in a target.
    Nothing,
    /// The process player plays in one process only, and looks at its view only
    /// (lemma 2 and theorem 7).
    Views {
        /// The process.
        process: ProcessId,
        /// What to do in each view that can come up, sorted.
        moves: Vec<(View, Box<[TransitionId]>)>,
    },
    /// The update player never updates anything (theorem 4).
    NeverUpdate,
    /// The process player looks at configurations. The game begins at the first
    /// position.
    Process(Vec<ProcessPosition>),
    /// The update player looks at configurations. The game begins at the first
    /// position.
    Update(Vec<UpdatePosition>),
}

/// The process player's turn, in a strategy of the process player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessPosition {
    /// The configuration.
    pub at: Configuration,
    /// The process to play in and its transitions; `None` where the process player has won.
    pub action: Option<(ProcessId, Box<[TransitionId]>)>,
    /// The positions that may follow the turn of the update player. Several positions may have the
    /// same configuration and differ in what the strategy remembers.
    pub next: Vec<usize>,
}

/// The process player's turn, in a strategy of the update player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatePosition {
    /// The configuration.
    pub at: Configuration,
    /// For each instruction that the process player may choose, the position that
    /// the update player answers with. Empty where the update player has won.
    pub replies: Vec<(ProcessId, Box<[TransitionId]>, usize)>,
}
