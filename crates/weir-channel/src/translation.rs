//! Programs as lossy channel machines, and the meaning of their states.

use std::collections::HashMap;
use std::hash::Hash;

use weir_engine::Refusal;
use weir_model::ids::{
    ProcessId, StateId as ProgramState, TransitionId as ProgramTransition, ValueId,
};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Form, has_bounded_guesses};
use weir_model::system::{Expanded, System};

use crate::ids::{StateId, TransitionId};
use crate::machine::{Builder, Configuration, Machine, MachineError, Transition};
use crate::product::{Product, ProductError};
use crate::{guess, pso, tso};

/// The machine of a program: it reaches with empty channels what the program reaches with empty
/// buffers.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The machine.
    pub machine: Machine,
    /// For each control state, where the program is if the channels are empty and all writes
    /// have reached memory. `None` where the channels are not empty, or where processes do
    /// not agree on memory.
    pub places: Vec<Option<Place>>,
    /// For each control state and channel the most letters that may be there, if
    /// something is known of it. The newest of them is then strong.
    pub(crate) room: Vec<Vec<Option<usize>>>,
    /// The transition of a process that a transition of the machine stands for. Those
    /// that stand for none are what memory does.
    pub moves: HashMap<TransitionId, (ProcessId, ProgramTransition)>,
}

/// Where a program is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The control states of its processes.
    pub controls: Vec<ProgramState>,
    /// Memory.
    pub memory: Vec<ValueId>,
}

/// Why a program has no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranslationError {
    /// There is no machine for the memory model.
    Model(MemoryModel),
    /// Reads are guessed under the memory model, and their number is not bounded.
    Unbounded(MemoryModel),
    /// There is a bound on guesses, and the memory model has none.
    NoGuesses(MemoryModel),
    /// The machine is too large.
    Machine(MachineError),
    /// A limit was reached.
    Stopped(Stop),
}

impl std::fmt::Display for TranslationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model(model) => write!(
                f,
                "there are channel machines for TSO, for PSO, and with bounded guesses for \
                 {}, {} and {}, not for {model}",
                MemoryModel::TSO_RW,
                MemoryModel::GUESS,
                MemoryModel::GUESS_WW
            ),
            Self::NoGuesses(model) => Refusal::NoGuesses(*model).fmt(f),
            Self::Unbounded(model) => {
                write!(f, "reads are guessed under {model}, and their number has no bound")
            }
            Self::Stopped(stop) => MachineError::Stopped(*stop).fmt(f),
            Self::Machine(error) => write!(f, "too large for a channel machine: {error}"),
        }
    }
}

impl std::error::Error for TranslationError {}

impl From<MachineError> for TranslationError {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Stopped(stop) => Self::Stopped(stop),
            error => Self::Machine(error),
        }
    }
}

impl From<Stop> for TranslationError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<ProductError> for TranslationError {
    fn from(error: ProductError) -> Self {
        match error {
            ProductError::Machine(error) => error.into(),
            // The machines of a program share nothing and agree on what is strong.
            other => unreachable!("{other}"),
        }
    }
}

impl Translation {
    /// The machine of a program under a memory model, in which no process has more
    /// than `guesses` guessed reads if reads are guessed. Under TSO it is that of the paper.
    ///
    /// # Errors
    /// If there is none, it is too large, or a limit is reached.
    pub fn new(
        system: &System,
        model: MemoryModel,
        guesses: Option<usize>,
        budget: &Budget,
    ) -> Result<Self, TranslationError> {
        if guesses.is_some() && !has_bounded_guesses(model) {
            return Err(TranslationError::NoGuesses(model));
        }
        let system = system.expanded(budget).map_err(TranslationError::Stopped)?;
        match (Form::of(model)[0], guesses) {
            (Form::Tso, _) => tso::translation(system, tso::Sync::Writes, budget),
            (Form::Pso, _) => pso::translation(system, budget),
            (Form::Guess, Some(guesses)) => {
                guess::in_order(system, guesses, guess::Reads::Apart, budget)
            }
            (Form::GuessInOrder, Some(guesses)) => {
                guess::in_order(system, guesses, guess::Reads::InOrder, budget)
            }
            (Form::GuessWw, Some(guesses)) => guess::out_of_order(system, guesses, budget),
            (Form::Guess | Form::GuessWw | Form::GuessInOrder, None) => {
                Err(TranslationError::Unbounded(model))
            }
            _ => Err(TranslationError::Model(model)),
        }
    }

    /// The machine of a program under TSO whose processes agree on the order of updates, in the
    /// place of writes. Its channels are perfect (Proposition 5).
    ///
    /// # Errors
    /// If it is too large, or a limit is reached.
    pub fn by_updates(system: &System, budget: &Budget) -> Result<Self, TranslationError> {
        let system = system.expanded(budget).map_err(TranslationError::Stopped)?;
        tso::translation(system, tso::Sync::Updates, budget)
    }

    /// A machine with the same meaning for a search: under TSO a smaller one, which leaves out
    /// what no process can observe.
    ///
    /// # Errors
    /// As for [`Translation::new`].
    pub fn reduced(
        system: &System,
        model: MemoryModel,
        guesses: Option<usize>,
        budget: &Budget,
    ) -> Result<Self, TranslationError> {
        match Form::of(model)[0] {
            Form::Tso => tso::observed(system.expanded(budget)?, budget),
            _ => Self::new(system, model, guesses, budget),
        }
    }
}

impl Translation {
    /// Whether a configuration may be reached, given how many writes and reads a process can have
    /// under way. This is downward-closed.
    pub(crate) fn is_possible(&self, configuration: &Configuration) -> bool {
        let room = &self.room[configuration.state.index()];
        room.iter().zip(&configuration.channels).all(|(room, word)| match (room, word.first()) {
            (Some(most), Some(newest)) => word.len() <= *most && self.machine.is_strong(*newest),
            (None, _) | (_, None) => true,
        })
    }
}

/// A machine of a program that is being made, from the control states that it begins
/// with on.
pub(crate) struct Draft<'s, C> {
    pub builder: Builder,
    system: Expanded<'s>,
    name: fn(Expanded<'_>, &C) -> String,
    states: HashMap<C, StateId>,
    work: Vec<C>,
    moves: HashMap<TransitionId, (ProcessId, ProgramTransition)>,
}

impl<'s, C: Clone + Eq + Hash> Draft<'s, C> {
    /// Nothing yet. `name` says what a control state will be called.
    pub fn new(
        system: Expanded<'s>,
        name: fn(Expanded<'_>, &C) -> String,
        budget: &Budget,
    ) -> Self {
        Self {
            builder: Machine::builder(system.program.name.clone()).within(budget),
            system,
            name,
            states: HashMap::new(),
            work: vec![],
            moves: HashMap::new(),
        }
    }

    /// A control state. It is made if it is new, and will be looked at then.
    pub fn state(&mut self, control: C) -> Result<StateId, MachineError> {
        if let Some(&id) = self.states.get(&control) {
            return Ok(id);
        }
        let id = self.builder.state((self.name)(self.system, &control))?;
        self.states.insert(control.clone(), id);
        self.work.push(control);
        Ok(id)
    }

    /// The state in which the machine begins: from there it goes to the initial states of the program, of which
    /// `control` makes control states.
    pub fn begin(
        &mut self,
        control: impl Fn(Vec<ProgramState>, Vec<ValueId>) -> C,
    ) -> Result<StateId, MachineError> {
        let (system, start) = (self.system, self.builder.state("start")?);
        for memory in system.initial_memories() {
            let controls = system.processes.iter().map(|p| p.initial).collect();
            let to = self.state(control(controls, memory))?;
            self.builder.transition(Transition::new(start, to))?;
        }
        Ok(start)
    }

    /// A control state to look at.
    pub fn next(&mut self) -> Option<(StateId, C)> {
        let control = self.work.pop()?;
        Some((self.states[&control], control))
    }

    /// Adds what stands for a transition of a process.
    pub fn take(
        &mut self,
        id: (ProcessId, ProgramTransition),
        taken: Transition,
    ) -> Result<(), MachineError> {
        let taken = self.builder.transition(taken)?;
        self.moves.entry(taken).or_insert(id);
        Ok(())
    }

    /// The machine, with what its control states stand for: where the program is, and
    /// the room in channels.
    pub fn finish(
        self,
        start: StateId,
        meaning: impl Fn(C) -> (Option<Place>, Vec<Option<usize>>),
    ) -> Result<Translation, MachineError> {
        let machine = self.builder.build(start)?;
        let mut places = vec![None; machine.states().count()];
        let mut room = vec![vec![]; places.len()];
        for (control, id) in self.states {
            (places[id.index()], room[id.index()]) = meaning(control);
        }
        Ok(Translation { machine, places, room, moves: self.moves })
    }
}

/// The product of the machines of processes, given what their states and transitions
/// stand for.
pub(crate) fn of_product(
    product: Product,
    place: impl Fn(&[StateId]) -> Option<Place>,
    moves: &[HashMap<TransitionId, ProgramTransition>],
) -> Translation {
    let places: Vec<_> = product.states.iter().map(|states| place(states)).collect();
    let moved = |way: &[(usize, TransitionId)]| {
        way.iter().find_map(|(i, t)| Some((ProcessId::new(*i), *moves[*i].get(t)?)))
    };
    let ids = product.machine.transition_ids().zip(&product.transitions);
    let moves = ids.filter_map(|(id, way)| Some((id, moved(way)?))).collect();
    let room = vec![vec![]; places.len()];
    Translation { machine: product.machine, places, room, moves }
}
