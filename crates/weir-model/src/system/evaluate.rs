//! What is true of a state of a system: control states and memory.

use super::{Excess, Failure, Seen, StateKind, System};
use crate::ids::{LabelId, ProcessId, StateId, ValueId, VarId};
use crate::program::{Atom, EvalError, Formula};

impl System {
    /// The number that a value stands for.
    #[inline]
    pub fn value(&self, var: VarId, value: ValueId) -> i128 {
        *self.vars[var.index()].numbers.get(value.index())
    }

    /// The value of an atom in a state: control states and memory.
    #[inline]
    pub fn atom(
        &self,
        atom: Atom,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> i128 {
        let state = |p: ProcessId| self.state(p, controls[p.index()].into());
        match atom {
            Atom::Var(var) => self.value(var, memory[var.index()].into()),
            Atom::Reg(process, _) | Atom::At(process, _) => state(process).atom(atom),
        }
    }

    /// Whether a formula holds in a state.
    ///
    /// # Errors
    /// Why the formula has no value there. It is then neither true nor false, and the state violates
    /// the property that asks for it.
    #[inline]
    pub fn truth(
        &self,
        formula: &Formula,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> Result<bool, EvalError> {
        Ok(formula.eval(&mut |a| self.atom(*a, controls, memory))? != 0)
    }

    /// Whether every process has ended.
    #[inline]
    pub fn all_ended(&self, controls: &[impl Copy + Into<StateId>]) -> bool {
        self.process_ids()
            .all(|p| self.state(p, controls[p.index()].into()).kind == StateKind::Ended)
    }

    /// The failure of the first process that has failed.
    #[inline]
    pub fn failed(&self, controls: &[impl Copy + Into<StateId>]) -> Option<(ProcessId, &Failure)> {
        self.process_ids().find_map(|p| match &self.state(p, controls[p.index()].into()).kind {
            StateKind::Failed(failure) => Some((p, failure)),
            _ => None,
        })
    }

    /// The first process whose access has raced with another one.
    pub fn raced(&self, controls: &[impl Copy + Into<StateId>]) -> Option<ProcessId> {
        let is_race = |kind: &StateKind| *kind == StateKind::Failed(Failure::Race);
        self.process_ids().find(|p| is_race(&self.state(*p, controls[p.index()].into()).kind))
    }

    /// Why the first process that Weir cannot follow any further is in its sink state.
    pub fn left(&self, controls: &[impl Copy + Into<StateId>]) -> Option<&Excess> {
        self.process_ids().find_map(|p| match &self.state(p, controls[p.index()].into()).kind {
            StateKind::Left(excess) => Some(excess),
            _ => None,
        })
    }

    /// How the first value that has left its bound has left it.
    #[inline]
    pub fn out_of_bounds(&self, controls: &[impl Copy + Into<StateId>]) -> Option<&Excess> {
        self.process_ids().find_map(|p| match &self.state(p, controls[p.index()].into()).kind {
            StateKind::Left(excess @ Excess::Bound { .. }) => Some(excess),
            _ => None,
        })
    }

    /// Whether a process is blocked on a memory that does not change any
    /// more, with its buffers empty: no operation is possible, or only the
    /// rounds of an `await` whose condition does not come true.
    ///
    /// This is about memory alone, so it is the same question in every model.
    pub fn is_stuck(
        &self,
        process: ProcessId,
        state: StateId,
        memory: &[impl Copy + Into<ValueId>],
    ) -> bool {
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(&state) = seen.get(next) {
            next += 1;
            let see = |x: VarId, _| Seen::One(memory[x.index()].into());
            for (_, t) in self.steps(process, state, see) {
                if !t.waits {
                    return false;
                }
                if !seen.contains(&t.to) {
                    seen.push(t.to);
                }
            }
        }
        true
    }

    /// Whether a process that cannot go on may stay where it is: it has ended, or it stands at one
    /// of these places.
    pub fn may_stay(
        &self,
        process: ProcessId,
        state: StateId,
        except: &[(ProcessId, LabelId)],
    ) -> bool {
        let state = self.state(process, state);
        state.kind == StateKind::Ended
            || except.iter().any(|(p, label)| *p == process && state.labels.contains(label))
    }

    /// Whether no further step is possible and some process has not ended and stands at none of
    /// these places, given that all buffers are empty.
    pub fn is_deadlock(
        &self,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
        except: &[(ProcessId, LabelId)],
    ) -> bool {
        let may_stay = |p: ProcessId| self.may_stay(p, controls[p.index()].into(), except);
        self.failed(controls).is_none()
            && !self.process_ids().all(may_stay)
            && self.process_ids().all(|p| self.is_stuck(p, controls[p.index()].into(), memory))
    }
}
