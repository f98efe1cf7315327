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
use weir_model::system::{Expanded, Op as ProgramOp};

use crate::translation::Draft;
use crate::{MachineError, StateId, Transition};

pub(crate) use in_order::translation as in_order;
pub(crate) use out_of_order::translation as out_of_order;

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

/// The rules of a translation, each of which adds transitions to the machine.
trait Rules {
    /// What a control state knows of the guessed reads.
    type Reads: Clone + Eq + Hash;

    fn draft(&mut self) -> &mut Draft<Control<Self::Reads>>;

    fn state(&mut self, control: Control<Self::Reads>) -> Result<StateId, MachineError>;

    /// What a process can do: an operation. In `after`, the process has taken its
    /// transition, and nothing else has changed.
    fn program(
        &mut self,
        from: StateId,
        id: Move,
        op: ProgramOp,
        after: Control<Self::Reads>,
    ) -> Result<(), MachineError>;

    /// What can happen to a process without its doing.
    fn memory(
        &mut self,
        from: StateId,
        control: &Control<Self::Reads>,
        p: ProcessId,
    ) -> Result<(), MachineError>;

    /// A transition without guards and operations.
    fn pass(
        &mut self,
        from: StateId,
        id: Move,
        after: Control<Self::Reads>,
    ) -> Result<(), MachineError> {
        let to = self.state(after)?;
        self.draft().take(id, Transition::new(from, to))
    }
}

/// Adds the control states that can be reached from the initial ones, which have these
/// guessed reads, and their transitions. Returns the state that the machine starts in.
fn explore<M: Rules>(
    maker: &mut M,
    system: Expanded<'_>,
    reads: &M::Reads,
) -> Result<StateId, MachineError> {
    let start = maker.draft().builder.state("start")?;
    for memory in system.initial_memories() {
        let controls = system.processes.iter().map(|p| p.initial).collect();
        let to = maker.state(Control { controls, memory, reads: reads.clone() })?;
        maker.draft().builder.transition(Transition::new(start, to))?;
    }
    while let Some((from, control)) = maker.draft().next() {
        for p in system.process_ids() {
            for (id, t) in system.transitions(p, control.controls[p.index()]) {
                let mut after = control.clone();
                after.controls[p.index()] = t.to;
                maker.program(from, (p, id), t.op, after)?;
            }
            maker.memory(from, &control, p)?;
        }
    }
    Ok(start)
}

/// For each variable and each of its values what `letters` makes of the name `x=1`.
fn alphabet<L, E>(
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
