//! `{w->r/w, r->r/w}`: a buffer for each process and variable (section 8.2).
//!
//! As under PSO (section 5.3) the buffers are the channels, and a control state has the
//! control states of the processes, memory, and for each process the number of its
//! guesses. Losing a write corresponds to overwriting it before it is read. So the last
//! write of a channel is strong (`d#`), since its process reads it and the channel does
//! not overwrite it, and so is a write directly before a read (`d!`), since the read
//! needs the memory after it.
//!
//! | rule | guard and operation |
//! | --- | --- |
//! | Write to store | `d#` is sent; another `#` becomes plain |
//! | Update | the oldest letter is received, and memory has its value |
//! | Read own write | `d#` is in the channel |
//! | Guess | `d#` is not; `?d` is sent, and a `#` becomes `!` |
//! | Validate | `?d` is received, and memory has the value |
//! | ARW, full fence | all channels of the process are empty |

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weir_model::ids::{
    ProcessId, StateId as ProgramState, TransitionId as ProgramTransition, ValueId, VarId,
};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp};

use crate::pending::{self, pending, room_of_channels};
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    ChannelId, Class, MachineError, MessageId, Op, Regex, StateId, Substitution, Transition,
};

/// A control state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Control {
    controls: Vec<ProgramState>,
    memory: Vec<ValueId>,
    /// How many reads each process has guessed.
    guesses: Vec<usize>,
}

impl Control {
    fn name(&self, system: Expanded<'_>) -> String {
        let join = |all: Vec<String>| all.join(",");
        let controls = join(self.controls.iter().map(|s| s.0.to_string()).collect());
        let value = |(x, v): (usize, &ValueId)| system.value(VarId::new(x), *v).to_string();
        let memory = join(self.memory.iter().enumerate().map(value).collect());
        let guesses = join(self.guesses.iter().map(usize::to_string).collect());
        format!("({controls}) [{memory}] {guesses}")
    }
}

/// The letters of a variable and a value.
#[derive(Clone, Copy)]
struct Letters {
    plain: MessageId,
    /// The last write.
    last: MessageId,
    /// A write right before a read.
    before: MessageId,
    read: MessageId,
}

struct Maker<'s> {
    system: Expanded<'s>,
    guesses: usize,
    draft: Draft<Control>,
    channels: HashMap<(ProcessId, VarId), ChannelId>,
    /// By variable and value.
    letters: Vec<BTreeMap<ValueId, Letters>>,
    /// By process and control state.
    pending: Vec<Vec<BTreeSet<ProgramOp>>>,
}

/// The machine of a program with bounded guesses.
pub(crate) fn translation(
    system: Expanded<'_>,
    guesses: usize,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let mut maker = Maker::new(system, guesses, budget)?;
    let start = maker.draft.builder.state("start")?;
    for memory in system.initial_memories() {
        let controls = system.processes.iter().map(|p| p.initial).collect();
        let guesses = vec![0; system.processes.len()];
        let to = maker.state(Control { controls, memory, guesses })?;
        maker.draft.builder.transition(Transition::new(start, to))?;
    }
    while let Some((from, control)) = maker.draft.next() {
        maker.transitions(from, &control)?;
    }
    let known = system.process_ids().map(|p| pending::room(system, p, budget));
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let Maker { draft, channels, .. } = maker;
    Ok(draft.finish(start, |Control { controls, memory, guesses }| {
        let room = room_of_channels(&known, &controls, &channels);
        let is_place = guesses.iter().all(|g| *g == 0);
        (is_place.then_some(Place { controls, memory }), room)
    })?)
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, guesses: usize, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(system, budget);
        let builder = &mut draft.builder;
        let mut channels = HashMap::new();
        for (x, var) in system.vars.iter().enumerate() {
            for p in system.process_ids() {
                let name = format!("{} {}", system.processes[p.index()].name, var.name);
                channels.insert((p, VarId::new(x)), builder.channel(name)?);
            }
        }
        let letters = super::alphabet(system, |name| {
            Ok::<_, MachineError>(Letters {
                plain: builder.message(name.clone())?,
                last: builder.message(format!("{name}#"))?,
                before: builder.message(format!("{name}!"))?,
                read: builder.message(format!("{name}?"))?,
            })
        })?;
        let strong = letters
            .iter()
            .flat_map(BTreeMap::values)
            .flat_map(|l: &Letters| [l.last, l.before, l.read]);
        builder.strong(strong.collect::<Vec<_>>(), 1 + 2 * guesses)?;
        let pending = system.process_ids().map(|p| pending(system, p, budget));
        let pending = pending.collect::<Result<_, _>>()?;
        Ok(Self { system, guesses, draft, channels, letters, pending })
    }

    fn state(&mut self, control: Control) -> Result<StateId, MachineError> {
        self.draft.state(control, |control| control.name(self.system))
    }

    /// Adds sends of a message for a transition of a process. If there is a last write
    /// in the channel, it becomes something else, and it may have any value but one.
    ///
    /// There is at most one, and the guards say so: going back, it would otherwise have
    /// to be looked for in many places at once.
    fn send(
        &mut self,
        id: (ProcessId, ProgramTransition),
        taken: &Transition,
        (x, message): (VarId, MessageId),
        (but, to): (Option<ValueId>, impl Fn(&Letters) -> MessageId),
    ) -> Result<(), MachineError> {
        let channel = self.channels[&(id.0, x)];
        let letters = self.letters[x.index()].clone();
        let others = Regex::class(Class::but(letters.values().map(|l| l.last))).star();
        let send = taken.clone().guard(channel, others.clone()).op(channel, Op::send(message));
        self.draft.take(id, send)?;
        for (d, l) in &letters {
            if but != Some(*d) {
                let substitution = Substitution::identity().with(to(l), l.last);
                let guard = Regex::concat([others.clone(), Regex::one(l.last), others.clone()]);
                let send = Op::Send { substitution, message };
                self.draft.take(id, taken.clone().guard(channel, guard).op(channel, send))?;
            }
        }
        Ok(())
    }

    fn transitions(&mut self, from: StateId, control: &Control) -> Result<(), MachineError> {
        for p in self.system.process_ids() {
            self.program(from, control, p)?;
            self.memory(from, control, p)?;
        }
        Ok(())
    }

    /// What a process can do.
    fn program(
        &mut self,
        from: StateId,
        control: &Control,
        p: ProcessId,
    ) -> Result<(), MachineError> {
        let system = self.system;
        let at = control.controls[p.index()];
        for (id, t) in system.transitions(p, at) {
            let id = (p, id);
            let mut after = control.clone();
            after.controls[p.index()] = t.to;
            match t.op {
                ProgramOp::Nop | ProgramOp::Fence(FenceKind::Read | FenceKind::Write) => {
                    let to = self.state(after)?;
                    self.draft.take(id, Transition::new(from, to))?;
                }
                ProgramOp::Write(x, d) => {
                    let message = self.letters[x.index()][&d].last;
                    let write = Transition::new(from, self.state(after)?);
                    self.send(id, &write, (x, message), (None, |l: &Letters| l.plain))?;
                }
                ProgramOp::Read(x, d) => {
                    let channel = self.channels[&(p, x)];
                    let own = self.letters[x.index()][&d].last;
                    let to = self.state(after.clone())?;
                    self.draft
                        .take(id, Transition::new(from, to).guard(channel, Regex::has(own)))?;
                    if control.guesses[p.index()] < self.guesses {
                        after.guesses[p.index()] += 1;
                        let message = self.letters[x.index()][&d].read;
                        let guess = Transition::new(from, self.state(after)?);
                        self.send(id, &guess, (x, message), (Some(d), |l: &Letters| l.before))?;
                    }
                }
                ProgramOp::Arw(x, d, e) => {
                    if control.memory[x.index()] == d {
                        after.memory[x.index()] = e;
                        self.when_empty(from, id, after)?;
                    }
                }
                ProgramOp::Fence(FenceKind::Full) => self.when_empty(from, id, after)?,
            }
        }
        Ok(())
    }

    /// What can happen to a process without its doing: Update and Validate.
    fn memory(
        &mut self,
        from: StateId,
        control: &Control,
        p: ProcessId,
    ) -> Result<(), MachineError> {
        let at = control.controls[p.index()];
        for op in self.pending[p.index()][at.index()].clone() {
            let mut after = control.clone();
            match op {
                ProgramOp::Write(x, d) => {
                    after.memory[x.index()] = d;
                    let to = self.state(after)?;
                    let letters = self.letters[x.index()][&d];
                    for write in [letters.plain, letters.last, letters.before] {
                        let receive = Op::Receive(write);
                        let update = Transition::new(from, to).op(self.channels[&(p, x)], receive);
                        self.draft.builder.transition(update)?;
                    }
                }
                ProgramOp::Read(x, d)
                    if control.memory[x.index()] == d && control.guesses[p.index()] > 0 =>
                {
                    after.guesses[p.index()] -= 1;
                    let to = self.state(after)?;
                    let receive = Op::Receive(self.letters[x.index()][&d].read);
                    let validate = Transition::new(from, to);
                    self.draft.builder.transition(validate.op(self.channels[&(p, x)], receive))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A transition for which all channels of a process have to be empty.
    fn when_empty(
        &mut self,
        from: StateId,
        id: (ProcessId, ProgramTransition),
        after: Control,
    ) -> Result<(), MachineError> {
        if after.guesses[id.0.index()] > 0 {
            return Ok(());
        }
        let mut transition = Transition::new(from, self.state(after)?);
        for x in (0..self.system.vars.len()).map(VarId::new) {
            transition = transition.guard(self.channels[&(id.0, x)], Regex::epsilon());
        }
        self.draft.take(id, transition)
    }
}
