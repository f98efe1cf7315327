//! Programs with guessed reads as lossy channel machines (Atig et al. 2010, section 9.2).
//!
//! With `r->r` and `r->w` a read waits in the buffer with a guessed value, and is
//! validated when memory has that value (section 8). If no process has more than `N` such
//! reads at a time, reachability is decidable: "it suffices to consider that the stored
//! read operations in the channels are strong symbols". This is not quite sufficient: the
//! writes that order a read within its process must not be lost either:
//!
//! * the last own write *before* a guessed read, to its variable: the read is validated
//!   after it,
//! * the first own write *after* it, to its variable: the read is validated before it.
//!
//! These are strong as well. There are at most two for each read.
//!
//! The paper has two models, with and without `w->w`. [`in_order`] also has the one without
//! `r->r`.
//!
//! `N` counts all reads in the buffers of a process, also one that is validated as
//! soon as it is guessed. A read of the last own write is not guessed (rule *Read own
//! write*).

mod in_order;
mod out_of_order;

use std::collections::BTreeMap;
use std::hash::Hash;

use weir_model::ids::{
    ProcessId, StateId as ProgramState, TransitionId as ProgramTransition, ValueId, VarId,
};
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp};

use crate::translation::Draft;
use crate::{MachineError, StateId, Transition};

pub(crate) use in_order::translation as in_order;
pub(crate) use out_of_order::translation as out_of_order;

/// How the guessed reads of a process are validated, where writes reach memory in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Those of different variables in any order (`r->r`).
    Apart,
    /// In their order.
    InOrder,
}

/// A control state of the machine: those of the processes, memory, and what has to be
/// known of the guessed reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Control<R> {
    controls: Vec<ProgramState>,
    memory: Vec<ValueId>,
    reads: R,
}

/// A transition of a process.
type Move = (ProcessId, ProgramTransition);

/// A transition of a process from a state of the machine.
struct Step<R> {
    from: StateId,
    id: Move,
    /// The process has taken its transition, and nothing else has changed.
    after: Control<R>,
}

/// The rules of a translation, each of which adds transitions to the machine.
trait Rules<'s> {
    /// What a control state knows of the guessed reads.
    type Reads: Clone + Eq + Hash;

    fn draft(&mut self) -> &mut Draft<'s, Control<Self::Reads>>;

    /// Write to store: of a value to a variable.
    fn write(
        &mut self,
        step: Step<Self::Reads>,
        write: (VarId, ValueId),
    ) -> Result<(), MachineError>;

    /// Read own write, and Guess: of a value from a variable.
    fn read(&mut self, step: Step<Self::Reads>, read: (VarId, ValueId))
    -> Result<(), MachineError>;

    /// ARW and full fence, for which the buffers of the process have to be empty.
    fn when_empty(&mut self, step: Step<Self::Reads>) -> Result<(), MachineError>;

    /// Update and Validate: the steps of memory that concern a process.
    fn memory(
        &mut self,
        from: StateId,
        control: &Control<Self::Reads>,
        p: ProcessId,
    ) -> Result<(), MachineError>;

    /// A transition without guards and operations.
    fn pass(&mut self, step: Step<Self::Reads>) -> Result<(), MachineError> {
        let to = self.draft().state(step.after)?;
        self.draft().take(step.id, Transition::new(step.from, to))
    }

    /// What a process can do: an operation.
    fn program(&mut self, op: ProgramOp, mut step: Step<Self::Reads>) -> Result<(), MachineError> {
        match op {
            ProgramOp::Nop | ProgramOp::Fence(FenceKind::Read | FenceKind::Write) => {
                self.pass(step)
            }
            ProgramOp::Write(x, d) => self.write(step, (x, d)),
            ProgramOp::Read(x, d) => self.read(step, (x, d)),
            ProgramOp::Arw(x, d, _) if step.after.memory[x.index()] != d => Ok(()),
            ProgramOp::Arw(x, _, e) => {
                step.after.memory[x.index()] = e;
                self.when_empty(step)
            }
            ProgramOp::Fence(FenceKind::Full) => self.when_empty(step),
        }
    }
}

/// Adds the control states that can be reached from the initial ones, which have these
/// guessed reads, and their transitions. Returns the state that the machine starts in.
fn explore<'s, M: Rules<'s>>(
    maker: &mut M,
    system: Expanded<'s>,
    reads: &M::Reads,
) -> Result<StateId, MachineError> {
    let control = |controls, memory| Control { controls, memory, reads: reads.clone() };
    let start = maker.draft().begin(control)?;
    while let Some((from, control)) = maker.draft().next() {
        for p in system.process_ids() {
            for (id, t) in system.transitions(p, control.controls[p.index()]) {
                let mut after = control.clone();
                after.controls[p.index()] = t.to;
                maker.program(t.op, Step { from, id: (p, id), after })?;
            }
            maker.memory(from, &control, p)?;
        }
    }
    Ok(start)
}

/// For each variable and each of its values what `letters` makes of the name `x=1`.
pub(crate) fn alphabet<L, E>(
    system: Expanded<'_>,
    mut letters: impl FnMut(String) -> Result<L, E>,
) -> Result<Vec<BTreeMap<ValueId, L>>, E> {
    let mut of_var = |x: VarId| {
        let named = |&value: &ValueId| {
            let var = &system.vars[x.index()].name;
            Ok((value, letters(format!("{var}={}", system.value(x, value)))?))
        };
        system.values(x).iter().map(named).collect()
    };
    (0..system.vars.len()).map(|x| of_var(VarId::new(x))).collect()
}
