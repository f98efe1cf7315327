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

use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::system::{Expanded, Op as ProgramOp};

use super::{Control, Move, Rules, Step, alphabet, explore};
use crate::pending::{self, pending, room_of_channels};
use crate::pso::control_name;
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    ChannelId, Class, MachineError, MessageId, Op, Regex, StateId, Substitution, Transition,
};

/// How many reads each process has guessed.
type Reads = Vec<usize>;

impl Control<Reads> {
    fn name(system: Expanded<'_>, control: &Self) -> String {
        let reads: Vec<String> = control.reads.iter().map(usize::to_string).collect();
        let name = control_name(system, &control.controls, &control.memory);
        format!("{name} {}", reads.join(","))
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
    draft: Draft<'s, Control<Reads>>,
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
    let start = explore(&mut maker, system, &vec![0; system.processes.len()])?;
    let known = system.process_ids().map(|p| pending::room(system, p, budget));
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let Maker { draft, channels, .. } = maker;
    Ok(draft.finish(start, |Control { controls, memory, reads }| {
        let room = room_of_channels(&known, &controls, &channels);
        let is_place = reads.iter().all(|n| *n == 0);
        (is_place.then_some(Place { controls, memory }), room)
    })?)
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, guesses: usize, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(system, Control::<Reads>::name, budget);
        let builder = &mut draft.builder;
        let mut channels = HashMap::new();
        for (x, var) in system.vars.iter().enumerate() {
            for p in system.process_ids() {
                let name = format!("{} {}", system.processes[p.index()].name, var.name);
                channels.insert((p, VarId::new(x)), builder.channel(name)?);
            }
        }
        let letters = alphabet(system, |name| {
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

    /// Adds sends of a message for a transition of a process. A last write in the channel becomes
    /// another letter; it may have any value but one.
    ///
    /// The guards require that there is at most one last write. This keeps the number of
    /// predecessors small in a backward search.
    fn send(
        &mut self,
        id: Move,
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
}

impl<'s> Rules<'s> for Maker<'s> {
    type Reads = Reads;

    fn draft(&mut self) -> &mut Draft<'s, Control<Reads>> {
        &mut self.draft
    }

    fn write(
        &mut self,
        Step { from, id, after }: Step<Reads>,
        (x, d): (VarId, ValueId),
    ) -> Result<(), MachineError> {
        let message = self.letters[x.index()][&d].last;
        let write = Transition::new(from, self.draft.state(after)?);
        self.send(id, &write, (x, message), (None, |l: &Letters| l.plain))
    }

    fn read(
        &mut self,
        Step { from, id, mut after }: Step<Reads>,
        (x, d): (VarId, ValueId),
    ) -> Result<(), MachineError> {
        let p = id.0;
        let letters = self.letters[x.index()][&d];
        let to = self.draft.state(after.clone())?;
        let own = Regex::has(letters.last);
        self.draft.take(id, Transition::new(from, to).guard(self.channels[&(p, x)], own))?;
        if after.reads[p.index()] < self.guesses {
            after.reads[p.index()] += 1;
            let guess = Transition::new(from, self.draft.state(after)?);
            self.send(id, &guess, (x, letters.read), (Some(d), |l: &Letters| l.before))?;
        }
        Ok(())
    }

    fn when_empty(&mut self, Step { from, id, after }: Step<Reads>) -> Result<(), MachineError> {
        if after.reads[id.0.index()] > 0 {
            return Ok(());
        }
        let mut transition = Transition::new(from, self.draft.state(after)?);
        for x in (0..self.system.vars.len()).map(VarId::new) {
            transition = transition.guard(self.channels[&(id.0, x)], Regex::epsilon());
        }
        self.draft.take(id, transition)
    }

    fn memory(
        &mut self,
        from: StateId,
        control: &Control<Reads>,
        p: ProcessId,
    ) -> Result<(), MachineError> {
        let at = control.controls[p.index()];
        for op in self.pending[p.index()][at.index()].clone() {
            let mut after = control.clone();
            match op {
                ProgramOp::Write(x, d) => {
                    after.memory[x.index()] = d;
                    let to = self.draft.state(after)?;
                    let letters = self.letters[x.index()][&d];
                    for write in [letters.plain, letters.last, letters.before] {
                        let receive = Op::Receive(write);
                        let update = Transition::new(from, to).op(self.channels[&(p, x)], receive);
                        self.draft.builder.transition(update)?;
                    }
                }
                ProgramOp::Read(x, d)
                    if control.memory[x.index()] == d && control.reads[p.index()] > 0 =>
                {
                    after.reads[p.index()] -= 1;
                    let to = self.draft.state(after)?;
                    let receive = Op::Receive(self.letters[x.index()][&d].read);
                    let validate = Transition::new(from, to);
                    self.draft.builder.transition(validate.op(self.channels[&(p, x)], receive))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
