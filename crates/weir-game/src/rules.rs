//! The rules of play on configurations, with buffers of any size.
//!
//! A turn of the process player is one instruction. A turn of the update player is
//! `up*`: any number of [steps](Rules::steps), each one message.
//!
//! *Store buffers* are figure 1 of Spengler 2024. *Load buffers* are its section 9: a
//! write reaches memory at once and leaves an own message; the update player puts values
//! of memory into buffers and deletes the oldest message. A deleted message has no
//! effect, so two equal adjacent messages are equivalent to one, and load buffers are
//! kept without such repeats. The load buffer of a process that can neither read nor
//! execute a fence any more is not kept either. Neither changes who wins.

use weir_model::game::{Board, Buffers, Configuration, Instruction, Message};
use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::program::FenceKind;
use weir_model::system::Op;

/// The rules of a game.
#[derive(Clone, Debug)]
pub struct Rules<'s> {
    /// What it is played on.
    pub board: Board<'s>,
    /// What stands between a process and memory.
    pub buffers: Buffers,
}

/// A step of the update player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The oldest write of a store buffer reaches memory, `up`.
    Update(ProcessId),
    /// The value of a variable enters a load buffer.
    Propagate(ProcessId, VarId),
    /// The oldest message of a load buffer is deleted.
    Delete(ProcessId),
}

impl Rules<'_> {
    /// What a process reads from a variable, if it can.
    pub fn read(&self, at: &Configuration, process: ProcessId, var: VarId) -> Option<ValueId> {
        let buffer = &at.buffers[process.index()];
        let beyond = at.beyond[process.index()].as_ref().and_then(|newest| newest[var.index()]);
        let listed = || buffer.iter().rev().find(|m| m.own && m.var == var).map(|m| m.value);
        match (beyond.or_else(listed), self.buffers) {
            (Some(own), _) => Some(own),
            (None, Buffers::Store) => Some(at.memory[var.index()]),
            (None, Buffers::Load) => buffer.first().filter(|m| m.var == var).map(|m| m.value),
        }
    }

    /// Whether an instruction of a process can be executed.
    pub fn is_enabled(&self, at: &Configuration, process: ProcessId, i: &Instruction) -> bool {
        let possible = match i.op {
            Op::Read(x, d) => self.read(at, process, x) == Some(d),
            Op::Fence(FenceKind::Full) => is_empty(at, process),
            Op::Nop | Op::Write(..) => true,
            Op::Fence(_) | Op::Arw(..) => unreachable!("boards have no such instruction"),
        };
        possible && (!i.waits || self.board.goes_on(process, i.to, &self.reads(at, process)))
    }

    /// What a process with a store buffer reads from each variable.
    fn reads(&self, at: &Configuration, process: ProcessId) -> Vec<ValueId> {
        let mut reads = at.memory.clone();
        for message in &at.buffers[process.index()] {
            reads[message.var.index()] = message.value;
        }
        let newest = at.beyond[process.index()].iter().flatten();
        reads.iter_mut().zip(newest).for_each(|(read, own)| *read = own.unwrap_or(*read));
        reads
    }

    /// The enabled instructions of a process.
    pub fn enabled<'r>(
        &'r self,
        at: &'r Configuration,
        process: ProcessId,
    ) -> impl Iterator<Item = &'r Instruction> {
        let all = self.board.instructions(process, at.states[process.index()]).iter();
        all.filter(move |i| self.is_enabled(at, process, i))
    }

    /// The configuration after an instruction.
    pub fn after(&self, at: &Configuration, process: ProcessId, i: &Instruction) -> Configuration {
        let mut after = at.clone();
        after.states[process.index()] = i.to;
        if let Op::Write(var, value) = i.op {
            let buffer = &mut after.buffers[process.index()];
            let message = Message { var, value, own: true, more: false };
            match (&mut after.beyond[process.index()], self.buffers) {
                (Some(newest), _) => newest[var.index()] = Some(value),
                (None, Buffers::Store) => buffer.push(message),
                (None, Buffers::Load) => push_once(buffer, message),
            }
            if self.buffers == Buffers::Load {
                after.memory[var.index()] = value;
            }
        }
        if self.buffers == Buffers::Load && !self.board.looks(process, i.to) {
            after.buffers[process.index()].clear();
            after.beyond[process.index()] = None;
        }
        after
    }

    /// The steps of the update player that change something.
    pub fn steps(&self, at: &Configuration) -> Vec<Step> {
        let mut steps = Vec::new();
        for (p, buffer) in self.board.system.process_ids().zip(&at.buffers) {
            match self.buffers {
                Buffers::Store if buffer.is_empty() => {}
                Buffers::Store => steps.push(Step::Update(p)),
                Buffers::Load if !self.board.looks(p, at.states[p.index()]) => {}
                Buffers::Load => {
                    if !buffer.is_empty() {
                        steps.push(Step::Delete(p));
                    }
                    for (x, value) in at.memory.iter().enumerate() {
                        let var = VarId::new(x);
                        let message = Message { var, value: *value, own: false, more: false };
                        if buffer.last() != Some(&message) {
                            steps.push(Step::Propagate(p, var));
                        }
                    }
                }
            }
        }
        steps
    }

    /// The configuration after a step that is possible.
    pub fn take(&self, at: &Configuration, step: Step) -> Configuration {
        let mut after = at.clone();
        match step {
            Step::Update(p) => {
                let message = after.buffers[p.index()].remove(0);
                after.memory[message.var.index()] = message.value;
            }
            Step::Delete(p) => {
                after.buffers[p.index()].remove(0);
            }
            Step::Propagate(p, var) => {
                let value = at.memory[var.index()];
                let message = Message { var, value, own: false, more: false };
                push_once(&mut after.buffers[p.index()], message);
            }
        }
        after
    }
}

/// Whether there is nothing in the buffer of a process.
pub fn is_empty(at: &Configuration, process: ProcessId) -> bool {
    at.buffers[process.index()].is_empty() && at.beyond[process.index()].is_none()
}

fn push_once(buffer: &mut Vec<Message>, message: Message) {
    if buffer.last() != Some(&message) {
        buffer.push(message);
    }
}
