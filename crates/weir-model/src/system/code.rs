//! What the code of a process says by itself, whatever is read.

use super::{Automaton, System};
use crate::build::{Access, CodeStep};
use crate::ids::{ProcessId, SpanId, VarId};

impl System {
    /// The code of a process by itself, as steps between places: every run of the process goes
    /// along them, whatever it reads.
    pub fn code(&self, process: ProcessId) -> impl Iterator<Item = &CodeStep> {
        self.processes[process.index()].abstraction.steps.iter()
    }

    /// The reads of a process after which it fails, whatever they return, by their places: no step of
    /// its code begins with them.
    pub fn last_reads(&self, process: ProcessId) -> &[(usize, Access)] {
        &self.processes[process.index()].abstraction.last_reads
    }

    /// How many places the code of a process has.
    pub fn place_count(&self, process: ProcessId) -> usize {
        self.processes[process.index()].abstraction.len()
    }

    /// The variables that a process may read or write somewhere.
    pub fn accesses(&self, process: ProcessId) -> Accesses {
        let mut found = Accesses { reads: vec![], writes: vec![] };
        for step in &self.processes[process.index()].abstraction.steps {
            let (list, range) = match &step.access {
                Access::Read(range) => (&mut found.reads, range),
                Access::Write(range) => (&mut found.writes, range),
                Access::Arw(_) | Access::Fence(_) | Access::Local => continue,
            };
            list.extend(range.clone().map(VarId::new));
        }
        for list in [&mut found.reads, &mut found.writes] {
            list.sort_unstable();
            list.dedup();
        }
        found
    }

    /// Every `await` to which its process may come and which it never passes, whatever it reads.
    /// Empty if a value may leave its bound, since the process might pass an `await` then.
    pub fn never_passed(&self) -> Vec<(ProcessId, SpanId)> {
        let mut all = Vec::new();
        for p in self.process_ids().filter(|_| !self.may_leave_a_bound() && self.excess().is_none())
        {
            let Automaton { flow, abstraction, .. } = &self.processes[p.index()];
            let blocked = abstraction.awaits.iter().filter(|(_, passes)| !**passes);
            all.extend(blocked.map(|(test, _)| (p, flow.nodes[*test].span)));
        }
        all
    }

    /// Whether no process has a loop.
    pub fn is_loop_free(&self) -> bool {
        self.process_ids().all(|p| self.longest(p, |_| true).is_some())
    }

    /// The most operations that a run of a process can do, `nop`s left out; `None` if there is
    /// no bound, which takes a loop.
    pub fn most_operations(&self, process: ProcessId) -> Option<usize> {
        self.longest(process, |access| *access != Access::Local)
    }

    /// The most stores that a run of a process can do; `None` if there is no bound.
    pub fn most_writes(&self, process: ProcessId) -> Option<usize> {
        self.longest(process, |access| matches!(access, Access::Write(_)))
    }

    /// For each place of the code, the most loads that a process can still do.
    pub(crate) fn most_reads(&self, process: ProcessId) -> Vec<Option<usize>> {
        let abstraction = &self.processes[process.index()].abstraction;
        abstraction.longest(|access| matches!(access, Access::Read(_)))
    }

    /// The most steps of a process by itself that `count` accepts.
    fn longest(&self, process: ProcessId, count: impl Fn(&Access) -> bool) -> Option<usize> {
        let automaton = &self.processes[process.index()];
        let at = self.state(process, automaton.initial).place?;
        automaton.abstraction.longest(count)[at]
    }
}

/// What [`System::accesses`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Variables that are read, by loads.
    pub reads: Vec<VarId>,
    /// Variables that are written, by stores.
    pub writes: Vec<VarId>,
}
