//! PSO programs as lossy channel machines (Atig et al. 2010, section 5.3).
//!
//! Here the store buffers are the channels, one for each process and variable, and a
//! control state has the control states of all processes and memory. Losing a write to a
//! variable corresponds to overwriting it before it is read, so all writes may be lost
//! except the last one of each channel, which its process reads: it is strong (`#`).
//!
//! | rule | guard and operation |
//! | --- | --- |
//! | Write to store | the strong letter becomes plain, and the new one is sent |
//! | Update | the oldest letter is received, and memory has its value |
//! | Read | the strong letter has the value, or there is none and memory has it |
//! | ARW, full fence | all channels of the process are empty |
//!
//! Atig et al. 2010 have no write fences. Waiting for empty channels would order reads as
//! well. So programs with write fences have a machine with two levels (`fenced`).

mod fenced;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weir_model::ids::{
    ProcessId, StateId as ProgramState, TransitionId as ProgramTransition, ValueId, VarId,
};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp, System};

use crate::pending::{self, pending, room_of_channels};
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    Builder, ChannelId, Class, Machine, MachineError, MessageId, Op, Regex, StateId, Substitution,
    Transition,
};

/// A control state: those of the processes, and memory.
type Control = (Vec<ProgramState>, Vec<ValueId>);

/// The machine of a program under PSO. It reaches a control state with empty channels, named by
/// [`control_name`], if and only if the program reaches the corresponding state with empty buffers.
///
/// # Errors
/// If the machine is too large, or a limit is reached.
pub fn pso(system: &System, budget: &Budget) -> Result<Machine, TranslationError> {
    let system = system.expanded(budget).map_err(TranslationError::Stopped)?;
    Ok(translation(system, budget)?.machine)
}

/// The same with what it stands for.
pub(crate) fn translation(
    system: Expanded<'_>,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let is_write_fence = |op| op == ProgramOp::Fence(FenceKind::Write);
    if system.process_ids().any(|p| system.all_transitions(p).any(|t| is_write_fence(t.op))) {
        return fenced::translation(system, budget);
    }
    let mut maker = Maker::new(system, budget)?;
    let start = maker.draft.begin(|controls, memory| (controls, memory))?;
    while let Some((from, control)) = maker.draft.next() {
        maker.transitions(from, &control)?;
    }
    let known = system.process_ids().map(|p| pending::room(system, p, budget));
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let Maker { draft, channels, .. } = maker;
    Ok(draft.finish(start, |(controls, memory)| {
        let room = room_of_channels(&known, &controls, &channels);
        (Some(Place { controls, memory }), room)
    })?)
}

/// The name of a control state.
pub fn control_name(system: Expanded<'_>, controls: &[ProgramState], memory: &[ValueId]) -> String {
    let controls = control_names(system, controls);
    let value = |(x, v): (usize, &ValueId)| system.value(VarId::new(x), *v).to_string();
    let memory: Vec<String> = memory.iter().enumerate().map(value).collect();
    format!("({}) [{}]", controls.join(","), memory.join(","))
}

/// The names that a system has for the control states of its processes
/// ([`System::state_name`](weir_model::system::System::state_name)).
pub(crate) fn control_names(system: Expanded<'_>, controls: &[ProgramState]) -> Vec<String> {
    let named = system.process_ids().zip(controls);
    named.map(|(process, state)| system.state_name(process, *state)).collect()
}

struct Maker<'s> {
    system: Expanded<'s>,
    draft: Draft<'s, Control>,
    channels: HashMap<(ProcessId, VarId), ChannelId>,
    /// The letters of each value, plain and strong.
    letters: BTreeMap<i128, [MessageId; 2]>,
    /// By process and control state.
    pending: Vec<Vec<BTreeSet<ProgramOp>>>,
}

/// A channel for the buffer of each process and variable.
fn buffers(
    system: Expanded<'_>,
    builder: &mut Builder,
) -> Result<HashMap<(ProcessId, VarId), ChannelId>, MachineError> {
    let mut buffers = HashMap::new();
    for p in system.process_ids() {
        for (j, var) in system.vars.iter().enumerate() {
            let name = format!("{} {}", system.processes[p.index()].name, var.name);
            buffers.insert((p, VarId::new(j)), builder.channel(name)?);
        }
    }
    Ok(buffers)
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(
            system,
            |system, (c, memory): &Control| control_name(system, c, memory),
            budget,
        );
        let builder = &mut draft.builder;
        let channels = buffers(system, builder)?;
        let values: BTreeSet<i128> = (0..system.vars.len())
            .map(VarId::new)
            .flat_map(|x| system.values(x).iter().map(move |v| system.value(x, *v)))
            .collect();
        let mut letters = BTreeMap::new();
        for d in values {
            let ids = [builder.message(format!("{d}"))?, builder.message(format!("{d}#"))?];
            letters.insert(d, ids);
        }
        builder.strong(letters.values().map(|l| l[1]), 1)?;
        let pending = system.process_ids().map(|p| pending(system, p, budget));
        let pending = pending.collect::<Result<_, _>>()?;
        Ok(Self { system, draft, channels, letters, pending })
    }

    /// No write waits in a channel.
    fn without_strong(&self) -> Regex {
        Regex::class(Class::but(self.letters.values().map(|l| l[1]))).star()
    }

    fn transitions(&mut self, from: StateId, control: &Control) -> Result<(), MachineError> {
        let system = self.system;
        let (controls, memory) = control;
        for p in system.process_ids() {
            let at = controls[p.index()];
            for (id, t) in system.transitions(p, at) {
                let id = (p, id);
                let mut after = control.clone();
                after.0[p.index()] = t.to;
                match t.op {
                    ProgramOp::Nop | ProgramOp::Fence(FenceKind::Read | FenceKind::Write) => {
                        let to = self.draft.state(after)?;
                        self.draft.take(id, Transition::new(from, to))?;
                    }
                    ProgramOp::Write(j, d) => {
                        let channel = self.channels[&(p, j)];
                        let message = self.letters[&system.value(j, d)][1];
                        let write = Transition::new(from, self.draft.state(after)?);
                        for [plain, strong] in self.letters.clone().into_values() {
                            let substitution = Substitution::identity().with(plain, strong);
                            let send = Op::Send { substitution, message };
                            let guard = Regex::has(strong);
                            self.draft
                                .take(id, write.clone().guard(channel, guard).op(channel, send))?;
                        }
                        let guard = self.without_strong();
                        let send = Op::send(message);
                        self.draft.take(id, write.guard(channel, guard).op(channel, send))?;
                    }
                    ProgramOp::Read(j, d) => {
                        let channel = self.channels[&(p, j)];
                        let read = Transition::new(from, self.draft.state(after)?);
                        let own = Regex::has(self.letters[&system.value(j, d)][1]);
                        self.draft.take(id, read.clone().guard(channel, own))?;
                        if memory[j.index()] == d {
                            let guard = self.without_strong();
                            self.draft.take(id, read.guard(channel, guard))?;
                        }
                    }
                    ProgramOp::Arw(j, d, e) => {
                        if memory[j.index()] == d {
                            after.1[j.index()] = e;
                            self.when_empty(from, id, after)?;
                        }
                    }
                    ProgramOp::Fence(FenceKind::Full) => self.when_empty(from, id, after)?,
                }
            }
            // Update.
            for op in self.pending[p.index()][at.index()].clone() {
                let ProgramOp::Write(j, d) = op else { continue };
                let mut after = control.clone();
                after.1[j.index()] = d;
                let to = self.draft.state(after)?;
                for message in self.letters[&system.value(j, d)] {
                    let receive = Op::Receive(message);
                    let update = Transition::new(from, to).op(self.channels[&(p, j)], receive);
                    self.draft.builder.transition(update)?;
                }
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
        let mut transition = Transition::new(from, self.draft.state(after)?);
        for j in (0..self.system.vars.len()).map(VarId::new) {
            transition = transition.guard(self.channels[&(id.0, j)], Regex::epsilon());
        }
        self.draft.take(id, transition)
    }
}
