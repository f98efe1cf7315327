//! The transitions that leave a control state.

use super::{Op, System, Transition};
use crate::build::Next;
use crate::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use crate::program::FenceKind;

/// What a process sees of a variable that it is about to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// This value.
    One(ValueId),
    /// One of these.
    Among(Vec<ValueId>),
}

impl Seen {
    /// One of these, each of which counts once.
    pub fn among(values: impl IntoIterator<Item = ValueId>) -> Self {
        let mut all: Vec<ValueId> = Vec::new();
        for value in values {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        Self::Among(all)
    }
}

impl System {
    /// A transition.
    #[inline]
    pub fn transition(&self, process: ProcessId, id: TransitionId) -> &Transition {
        self.processes[process.index()].transitions.get(id.index())
    }

    /// The transitions that leave a control state, for what the process sees of the variable that
    /// it reads there. `see` is told the variable, and whether it is an atomic read-write.
    #[inline]
    pub fn steps(
        &self,
        process: ProcessId,
        state: StateId,
        see: impl FnOnce(VarId, bool) -> Seen,
    ) -> Steps<'_> {
        match self.next(process, state) {
            Next::Free { first, list, .. } => Steps::Free(*first, list.iter()),
            Next::Read { var, atomic, on, stop } => match see(*var, *atomic) {
                Seen::One(value) if stop.is_none() => {
                    Steps::One(self.on_value(process, state, *var, on, value))
                }
                seen => {
                    let values = match seen {
                        Seen::One(value) => vec![value],
                        Seen::Among(values) => values,
                    };
                    let on = |value| self.on_value(process, state, *var, on, value);
                    let stop = stop.map(|id| (id, self.transition(process, id)));
                    let all = values.into_iter().filter_map(on).chain(stop);
                    Steps::List(all.collect::<Vec<_>>().into_iter())
                }
            },
        }
    }

    /// The same where the process sees one value: semantics with one memory spend most of their
    /// time here.
    #[inline]
    pub fn steps_on(
        &self,
        process: ProcessId,
        state: StateId,
        see: impl FnOnce(VarId, bool) -> ValueId,
    ) -> StepsOn<'_> {
        match self.next(process, state) {
            Next::Free { first, list, .. } => {
                StepsOn { number: *first, free: list.iter(), read: None, stop: None }
            }
            Next::Read { var, atomic, on, stop } => StepsOn {
                number: 0,
                free: [].iter(),
                read: self.on_value(process, state, *var, on, see(*var, *atomic)),
                stop: stop.map(|id| (id, self.transition(process, id))),
            },
        }
    }

    /// The only transition of a process in a control state, whatever is in memory, if it is
    /// quiet.
    #[inline]
    pub fn quiet_step(
        &self,
        process: ProcessId,
        state: StateId,
    ) -> Option<(TransitionId, &Transition)> {
        match self.next(process, state) {
            Next::Free { first, list } => match &**list {
                [t] if t.is_quiet && !self.observes_all => Some((TransitionId(*first), t)),
                _ => None,
            },
            Next::Read { .. } => None,
        }
    }

    /// The only transition of a process that is about to read a value, not atomically, if it is
    /// quiet.
    #[inline]
    pub fn quiet_read(
        &self,
        process: ProcessId,
        state: StateId,
        value: ValueId,
    ) -> Option<(TransitionId, &Transition)> {
        match self.next(process, state) {
            Next::Read { var, atomic: false, on, stop: None } => {
                let step = self.on_value(process, state, *var, on, value);
                step.filter(|(_, t)| t.is_quiet && !self.observes_all)
            }
            _ => None,
        }
    }

    /// Whether a process may pass a write fence next.
    pub fn fences_writes(&self, process: ProcessId, state: StateId) -> bool {
        match self.next(process, state) {
            Next::Free { list, .. } => {
                list.iter().any(|t| matches!(t.op, Op::Fence(FenceKind::Write)))
            }
            Next::Read { .. } => false,
        }
    }

    /// The variable that a process reads next, if it reads one.
    pub fn reads(&self, process: ProcessId, state: StateId) -> Option<VarId> {
        match self.next(process, state) {
            Next::Read { var, .. } => Some(*var),
            Next::Free { .. } => None,
        }
    }
}

/// What [`System::steps`] returns.
pub enum Steps<'s> {
    /// Transitions with the number of the first.
    Free(u32, std::slice::Iter<'s, Transition>),
    /// At most one.
    One(Option<(TransitionId, &'s Transition)>),
    /// Several, one by one.
    List(std::vec::IntoIter<(TransitionId, &'s Transition)>),
}

impl<'s> Iterator for Steps<'s> {
    type Item = (TransitionId, &'s Transition);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Free(number, list) => {
                let id = TransitionId(*number);
                *number += 1;
                list.next().map(|t| (id, t))
            }
            Self::One(one) => one.take(),
            Self::List(list) => list.next(),
        }
    }
}

/// What [`System::steps_on`] returns.
pub struct StepsOn<'s> {
    number: u32,
    free: std::slice::Iter<'s, Transition>,
    read: Option<(TransitionId, &'s Transition)>,
    stop: Option<(TransitionId, &'s Transition)>,
}

impl<'s> Iterator for StepsOn<'s> {
    type Item = (TransitionId, &'s Transition);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.free.next() {
            Some(t) => {
                let id = TransitionId(self.number);
                self.number += 1;
                Some((id, t))
            }
            None => self.read.take().or_else(|| self.stop.take()),
        }
    }
}
