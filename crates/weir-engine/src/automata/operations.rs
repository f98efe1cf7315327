//! The operations of a program on states whose buffers are languages (Linden and Wolper
//! 2010, section 3).

use std::ops::Range;

use weir_model::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op};

use super::language::{LanguageId, Languages, Letter, Unmade};

/// Control states, memory, and for each process the set of its buffer contents. It
/// stands for all configurations with one of these contents for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Control states, then memory.
    pub head: Box<[Cell]>,
    /// None of them is empty.
    pub buffers: Box<[LanguageId]>,
}

/// A transition of the paper: a process takes one of its own, or its oldest store
/// reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A process takes a transition.
    Take(ProcessId, TransitionId),
    /// The oldest store of a process, which is this one, reaches memory.
    Commit(ProcessId, Letter),
}

impl Action {
    /// Whose it is.
    pub fn process(self) -> ProcessId {
        match self {
            Self::Take(p, _) | Self::Commit(p, _) => p,
        }
    }
}

/// The states of a system, and the languages in them.
#[derive(Debug)]
pub struct Space<'s> {
    /// The system.
    pub system: Expanded<'s>,
    /// All languages.
    pub languages: Languages,
    /// The first letter of each variable, and one past the last letter.
    first: Vec<u32>,
}

impl<'s> Space<'s> {
    /// The space of a system.
    pub fn new(system: Expanded<'s>, budget: &Budget) -> Self {
        let mut first = vec![0];
        for x in 0..system.vars.len() {
            first.push(first[x] + system.value_count(VarId::new(x)) as u32);
        }
        Self { system, languages: Languages::new(budget), first }
    }

    /// The letter of a store.
    pub fn letter(&self, var: VarId, value: ValueId) -> Letter {
        Letter(self.first[var.index()] + value.0)
    }

    /// The store that a letter is.
    pub fn store_of(&self, letter: Letter) -> (VarId, ValueId) {
        let var = self.first.partition_point(|first| *first <= letter.0) - 1;
        (VarId::new(var), ValueId(letter.0 - self.first[var]))
    }

    /// The letters of a variable.
    fn group(&self, var: VarId) -> Range<u32> {
        self.first[var.index()]..self.first[var.index() + 1]
    }

    /// The initial states: one, or one per choice of initial values.
    pub fn initial(&self) -> impl Iterator<Item = State> + use<'s> {
        let system = self.system.system();
        system.initial_memories().map(|memory| {
            let controls = system.processes.iter().map(|p| p.initial.0);
            let buffers = vec![LanguageId::EMPTY_WORD; system.processes.len()];
            State {
                head: controls.chain(memory.iter().map(|v| v.0)).collect(),
                buffers: buffers.into(),
            }
        })
    }

    /// The control states.
    pub fn controls<'t>(&self, state: &'t State) -> &'t [Cell] {
        &state.head[..self.system.processes.len()]
    }

    /// Memory.
    pub fn memory<'t>(&self, state: &'t State) -> &'t [Cell] {
        &state.head[self.system.processes.len()..]
    }

    /// Whether all buffers may be empty.
    pub fn may_be_drained(&self, state: &State) -> bool {
        state.buffers.iter().all(|b| self.languages.get(*b).accepts_at(0))
    }

    /// All that can happen in a state, and where it leads, process by process, so that one process
    /// completes its cycles before another moves.
    ///
    /// # Errors
    /// If an automaton is too large.
    pub fn successors(&mut self, state: &State) -> Result<Vec<(Action, State)>, Unmade> {
        let mut all = Vec::new();
        let system = self.system;
        for p in system.process_ids() {
            let first = self.languages.first(state.buffers[p.index()]);
            let commits = first.into_iter().map(|letter| Action::Commit(p, letter));
            let transitions = system.transitions(p, StateId(state.head[p.index()]));
            for action in commits.chain(transitions.map(|(id, _)| Action::Take(p, id))) {
                if let Some(next) = self.successor(state, action)? {
                    all.push((action, next));
                }
            }
        }
        Ok(all)
    }

    /// Where an action leads, if it is possible. This is exact: every configuration
    /// there comes from one of `state`.
    ///
    /// # Errors
    /// If an automaton is too large.
    pub fn successor(&mut self, state: &State, action: Action) -> Result<Option<State>, Unmade> {
        let p = action.process();
        let buffer = state.buffers[p.index()];
        let mut next = state.clone();
        let left = match action {
            Action::Commit(_, letter) => {
                let (var, value) = self.store_of(letter);
                next.head[self.system.processes.len() + var.index()] = value.0;
                self.languages.suffix(buffer, letter)?
            }
            Action::Take(_, id) => {
                let taken = self.system.transition(p, id);
                if taken.from.0 != state.head[p.index()] {
                    return Ok(None);
                }
                next.head[p.index()] = taken.to.0;
                match taken.op {
                    Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => buffer,
                    Op::Write(x, d) => self.store(buffer, x, d)?,
                    Op::Read(x, d) => {
                        let memory = ValueId(self.memory(state)[x.index()]);
                        self.load(buffer, x, d, memory)?
                    }
                    Op::Fence(FenceKind::Full) => self.sync(buffer),
                    Op::Arw(x, d, e) => {
                        if self.memory(state)[x.index()] != d.0 {
                            return Ok(None);
                        }
                        next.head[self.system.processes.len() + x.index()] = e.0;
                        self.sync(buffer)
                    }
                }
            }
        };
        next.buffers[p.index()] = left;
        Ok((left != LanguageId::NONE).then_some(next))
    }

    /// `store(p, m, d)`: the letter comes behind every word.
    fn store(&mut self, buffer: LanguageId, x: VarId, d: ValueId) -> Result<LanguageId, Unmade> {
        let letter = self.letter(x, d);
        self.languages.append(buffer, letter)
    }

    /// `load(p, m, d)`: the words whose last store to the variable has the value, and
    /// those without one if memory has it.
    ///
    /// # Errors
    /// If an automaton is too large.
    pub fn load(
        &mut self,
        buffer: LanguageId,
        x: VarId,
        d: ValueId,
        memory: ValueId,
    ) -> Result<LanguageId, Unmade> {
        self.languages.last(buffer, self.group(x), self.letter(x, d), memory == d)
    }

    /// `sync`: the empty word, if it is there. Stores get to memory by commits only.
    fn sync(&self, buffer: LanguageId) -> LanguageId {
        match self.languages.get(buffer).accepts_at(0) {
            true => LanguageId::EMPTY_WORD,
            false => LanguageId::NONE,
        }
    }

    /// Whether two actions are independent in a state where both are possible: each
    /// stays possible, and their order does not matter.
    ///
    /// # Errors
    /// If an automaton is too large.
    pub fn are_independent(&mut self, state: &State, a: Action, b: Action) -> Result<bool, Unmade> {
        if a.process() == b.process() {
            return Ok(false);
        }
        let (writes_a, writes_b) = (self.memory_write(a), self.memory_write(b));
        let clash = |write: Option<VarId>, other: Option<VarId>| write.is_some() && write == other;
        Ok(!clash(writes_a, writes_b)
            && !clash(writes_a, self.memory_read(state, b)?)
            && !clash(writes_b, self.memory_read(state, a)?))
    }

    /// The variable that an action changes in memory.
    fn memory_write(&self, action: Action) -> Option<VarId> {
        match action {
            Action::Commit(_, letter) => Some(self.store_of(letter).0),
            Action::Take(p, id) => match self.system.transition(p, id).op {
                Op::Arw(x, ..) => Some(x),
                _ => None,
            },
        }
    }

    /// The variable that an action may read in memory: a load does not if every
    /// content of the buffer has a store to the variable.
    fn memory_read(&mut self, state: &State, action: Action) -> Result<Option<VarId>, Unmade> {
        let Action::Take(p, id) = action else { return Ok(None) };
        match self.system.transition(p, id).op {
            Op::Arw(x, ..) => Ok(Some(x)),
            Op::Read(x, _) => {
                let buffer = state.buffers[p.index()];
                let without = self.languages.without(buffer, self.group(x))?;
                Ok((without != LanguageId::NONE).then_some(x))
            }
            _ => Ok(None),
        }
    }
}
