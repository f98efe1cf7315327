//! PSO programs with write fences as lossy channel machines.
//!
//! Atig et al. 2010 have no write fences, and Atig et al. 2012 decide PSO by another
//! well-structured system. A machine follows from the two-level buffers of Atig et al. 2012,
//! section 5.2: writes wait in a buffer for each variable and are *transferred* to one
//! serializing buffer, and a write fence waits until the former are empty. The first level is that
//! of section 5.3 of Atig et al. 2010. The second level is TSO, whose writes are the transfers. As
//! in the translation of programs with guesses ([`guess`](crate::guess)) its direction is reversed: a
//! transferred write is in memory, and a process is *told* of memory later, in order.
//!
//! A process has a channel for each variable, and one of what it is told. A control state has the
//! control states of the processes, and memory.
//!
//! | rule | guard and operation |
//! | --- | --- |
//! | Write to store | in the channel of the variable the strong letter becomes plain, and `d#` is sent |
//! | Transfer | the oldest letter is received there, memory has its value, and `x=d#` is sent to the other channel, where the last own write of `x` becomes plain |
//! | Read | `d#` is in the channel of the variable; or nothing is there and `x=d#` is in the other one; or that has no own write of `x`, and its oldest letter is `x=d` |
//! | Update | the oldest letter of the other channel is received |
//! | write fence | the channels of all variables are empty |
//! | ARW, full fence | all channels of the process are empty |
//! | (told) | `x=d` is sent, where memory has `d` |
//!
//! *Why losses do no harm.* On the second level only letters are lost of which the process need not
//! have been told, and own writes that a later one hides. On the first level a lost write `w` to
//! `x` has a later one `w'` behind it, since the last one is strong. No write fence was passed
//! between the two, since it waits for the channel to be empty. So `w` may as well be transferred
//! right before `w'`: then no process need be told of it, and `w'` hides it from its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weir_model::ids::{ProcessId, TransitionId as ProgramTransition, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp};

use super::{Control, control_name};
use crate::guess::alphabet;
use crate::pending::{pending, readable, room, room_of_channels};
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    ChannelId, Class, MachineError, MessageId, Op, Regex, StateId, Substitution, Transition,
};

/// A transition of a process.
type Move = (ProcessId, ProgramTransition);

/// The letters of a value of a variable.
#[derive(Clone, Copy)]
struct Letters {
    /// In the channel of the variable.
    written: MessageId,
    /// The last one there.
    newest: MessageId,
    /// In the other channel.
    told: MessageId,
    /// The last own write of the variable there.
    own: MessageId,
}

/// One of the letters.
type Letter = fn(&Letters) -> MessageId;

struct Maker<'s> {
    system: Expanded<'s>,
    draft: Draft<'s, Control>,
    /// The first level.
    buffers: HashMap<(ProcessId, VarId), ChannelId>,
    /// The second level, by process.
    told: Vec<ChannelId>,
    /// By variable and value.
    letters: Vec<BTreeMap<ValueId, Letters>>,
    /// By process and control state.
    pending: Vec<Vec<BTreeSet<ProgramOp>>>,
    /// For each process and control state, the variables that it can read before its next full
    /// fence. It need not know of others.
    readable: Vec<Vec<Vec<bool>>>,
}

/// The machine of a program.
pub(super) fn translation(
    system: Expanded<'_>,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let mut maker = Maker::new(system, budget)?;
    let start = maker.draft.begin(|controls, memory| (controls, memory))?;
    while let Some((from, control)) = maker.draft.next() {
        maker.transitions(from, &control)?;
    }
    let known = system.process_ids().map(|p| room(system, p, budget));
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let Maker { draft, buffers, told, .. } = maker;
    Ok(draft.finish(start, |(controls, memory)| {
        let mut room = room_of_channels(&known, &controls, &buffers);
        room.resize(buffers.len() + told.len(), None);
        (Some(Place { controls, memory }), room)
    })?)
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(
            system,
            |system, (c, memory): &Control| control_name(system, c, memory),
            budget,
        );
        let builder = &mut draft.builder;
        let buffers = super::buffers(system, builder)?;
        let told = system.processes.iter().map(|p| builder.channel(p.name.clone()));
        let told = told.collect::<Result<_, _>>()?;
        let letters = alphabet(system, |name| {
            Ok::<_, MachineError>(Letters {
                written: builder.message(format!("w {name}"))?,
                newest: builder.message(format!("w {name}#"))?,
                told: builder.message(name.clone())?,
                own: builder.message(format!("{name}#"))?,
            })
        })?;
        let strong = letters.iter().flat_map(BTreeMap::values);
        let strong = strong.flat_map(|l: &Letters| [l.newest, l.own]).collect::<Vec<_>>();
        builder.strong(strong, system.vars.len())?;
        Ok(Self {
            system,
            draft,
            buffers,
            told,
            letters,
            pending: system
                .process_ids()
                .map(|p| pending(system, p, budget))
                .collect::<Result<_, _>>()?,
            readable: system
                .process_ids()
                .map(|p| readable(system, p, budget))
                .collect::<Result<_, _>>()?,
        })
    }

    fn vars(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.system.vars.len()).map(VarId::new)
    }

    /// Some letter of each value of a variable.
    fn each(&self, x: VarId, letter: Letter) -> Vec<MessageId> {
        self.letters[x.index()].values().map(letter).collect()
    }

    /// No letter of these.
    fn none_of(letters: Vec<MessageId>) -> Regex {
        Regex::class(Class::but(letters)).star()
    }

    /// One letter, and none of these besides.
    fn one_of(letter: MessageId, letters: Vec<MessageId>) -> Regex {
        let others = Self::none_of(letters);
        Regex::concat([others.clone(), Regex::one(letter), others])
    }

    /// The ways to send a strong letter to a channel, where the strong letter of the same kind
    /// becomes plain.
    fn renewed(
        &self,
        transition: &Transition,
        channel: ChannelId,
        x: VarId,
        (message, strong, plain): (MessageId, Letter, Letter),
    ) -> Vec<Transition> {
        let all = self.each(x, strong);
        let first = transition.clone().guard(channel, Self::none_of(all.clone()));
        let mut ways = vec![first.op(channel, Op::send(message))];
        for letters in self.letters[x.index()].values() {
            let substitution = Substitution::identity().with(plain(letters), strong(letters));
            let guard = Self::one_of(strong(letters), all.clone());
            let send = Op::Send { substitution, message };
            ways.push(transition.clone().guard(channel, guard).op(channel, send));
        }
        ways
    }

    fn transitions(&mut self, from: StateId, control: &Control) -> Result<(), MachineError> {
        let system = self.system;
        for p in system.process_ids() {
            for (id, t) in system.transitions(p, control.0[p.index()]) {
                let mut after = control.clone();
                after.0[p.index()] = t.to;
                self.program((p, id), t.op, from, after)?;
            }
            self.memory(p, from, control)?;
        }
        Ok(())
    }

    /// What a process can do: an operation.
    fn program(
        &mut self,
        id: Move,
        op: ProgramOp,
        from: StateId,
        mut after: Control,
    ) -> Result<(), MachineError> {
        let p = id.0;
        match op {
            ProgramOp::Nop | ProgramOp::Fence(FenceKind::Read) => {
                let to = self.draft.state(after)?;
                self.draft.take(id, Transition::new(from, to))
            }
            ProgramOp::Write(x, d) => {
                let write = Transition::new(from, self.draft.state(after)?);
                let channel = self.buffers[&(p, x)];
                let message = self.letters[x.index()][&d].newest;
                for way in self.renewed(&write, channel, x, (message, |l| l.newest, |l| l.written))
                {
                    self.draft.take(id, way)?;
                }
                Ok(())
            }
            ProgramOp::Read(x, d) => {
                let read = Transition::new(from, self.draft.state(after)?);
                let (buffer, told) = (self.buffers[&(p, x)], self.told[p.index()]);
                let letters = self.letters[x.index()][&d];
                let newest = Regex::has(letters.newest);
                self.draft.take(id, read.clone().guard(buffer, newest))?;
                let read = read.guard(buffer, Self::none_of(self.each(x, |l| l.newest)));
                self.draft.take(id, read.clone().guard(told, Regex::has(letters.own)))?;
                let none = Self::none_of(self.each(x, |l| l.own));
                let oldest = Regex::concat([none, Regex::one(letters.told)]);
                self.draft.take(id, read.guard(told, oldest))
            }
            ProgramOp::Arw(x, d, _) if after.1[x.index()] != d => Ok(()),
            ProgramOp::Arw(x, _, e) => {
                after.1[x.index()] = e;
                self.when_empty(id, from, after, true)
            }
            ProgramOp::Fence(FenceKind::Full) => self.when_empty(id, from, after, true),
            ProgramOp::Fence(FenceKind::Write) => self.when_empty(id, from, after, false),
        }
    }

    /// A transition for which the channels of the variables have to be empty, or all.
    fn when_empty(
        &mut self,
        id: Move,
        from: StateId,
        after: Control,
        all: bool,
    ) -> Result<(), MachineError> {
        let mut transition = Transition::new(from, self.draft.state(after)?);
        for x in self.vars() {
            transition = transition.guard(self.buffers[&(id.0, x)], Regex::epsilon());
        }
        if all {
            transition = transition.guard(self.told[id.0.index()], Regex::epsilon());
        }
        self.draft.take(id, transition)
    }

    /// The steps of memory that concern a process.
    fn memory(
        &mut self,
        p: ProcessId,
        from: StateId,
        control: &Control,
    ) -> Result<(), MachineError> {
        let at = control.0[p.index()];
        let told = self.told[p.index()];
        let readable = self.readable[p.index()][at.index()].clone();
        // Transfer.
        for op in self.pending[p.index()][at.index()].clone() {
            let ProgramOp::Write(x, d) = op else { continue };
            let letters = self.letters[x.index()][&d];
            let mut after = control.clone();
            after.1[x.index()] = d;
            let to = self.draft.state(after)?;
            for message in [letters.written, letters.newest] {
                let receive = Op::Receive(message);
                let transfer = Transition::new(from, to).op(self.buffers[&(p, x)], receive);
                let ways = match readable[x.index()] {
                    true => self.renewed(&transfer, told, x, (letters.own, |l| l.own, |l| l.told)),
                    false => vec![transfer],
                };
                for way in ways {
                    self.draft.builder.transition(way)?;
                }
            }
        }
        for x in self.vars() {
            if readable[x.index()] {
                let letter = self.letters[x.index()][&control.1[x.index()]].told;
                let tell = Transition::new(from, from).op(told, Op::send(letter));
                self.draft.builder.transition(tell)?;
            }
            // Update.
            for letters in self.letters[x.index()].clone().into_values() {
                for message in [letters.told, letters.own] {
                    let update = Transition::new(from, from).op(told, Op::Receive(message));
                    self.draft.builder.transition(update)?;
                }
            }
        }
        Ok(())
    }
}
