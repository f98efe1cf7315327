//! Quiet steps: which processes and buffers go on by themselves, without being seen.

use weir_model::ids::{Cell, ProcessId, StateId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::Atom;
use weir_model::question::Question;
use weir_model::semantics::{Semantics, Step, sufficient_bound};
use weir_model::system::{Access, System};

use crate::ahead::{self, ByPlace};

/// What makes steps of a system quiet, besides those that always are.
pub(super) struct Quiet {
    /// For each process, the variables that some other process writes somewhere.
    foreign: Vec<Vec<bool>>,
    /// What lies ahead of every place, where there are no loops: only there can a process be
    /// done with a variable.
    ends: Option<Ends>,
}

struct Ends {
    /// For each process and place, the variables that it may write from there on.
    written: Vec<ByPlace>,
    /// For each process and place, the variables that it may read or write from there on.
    used: Vec<ByPlace>,
    /// The variables that a question asks for while writes may be under way.
    asked: Vec<bool>,
}

impl Quiet {
    pub fn new(system: &System, questions: &[Question], budget: &Budget) -> Result<Self, Stop> {
        let mut foreign = vec![vec![false; system.vars.len()]; system.processes.len()];
        for q in system.process_ids() {
            for step in system.code(q) {
                let (Access::Write(vars) | Access::Arw(vars)) = &step.access else { continue };
                let others = foreign.iter_mut().enumerate().filter(|(p, _)| *p != q.index());
                others.for_each(|(_, foreign)| foreign[vars.clone()].fill(true));
            }
        }
        let ends = match sufficient_bound(system) {
            Some(_) => {
                let mut asked = vec![false; system.vars.len()];
                let under_way = questions.iter().filter(|q| q.asks_for_memory_under_way());
                for atom in under_way.flat_map(Question::atoms) {
                    if let Atom::Var(x) = atom {
                        asked[x.index()] = true;
                    }
                }
                let all = |look: fn(&System, ProcessId, &Budget) -> Result<ByPlace, Stop>| {
                    let of = |p| look(system, p, budget);
                    system.process_ids().map(of).collect::<Result<Vec<_>, Stop>>()
                };
                Some(Ends { written: all(ahead::written)?, used: all(ahead::used)?, asked })
            }
            None => None,
        };
        Ok(Self { foreign, ends })
    }

    /// Whether the step of a process that has just moved may be followed by quiet ones.
    #[inline]
    pub fn may_follow(&self, system: &System, process: ProcessId, config: &[Cell]) -> bool {
        self.ends.is_some() || {
            let state = StateId(config[process.index()]);
            system.quiet_step(process, state).is_some()
                || system
                    .reads(process, state)
                    .is_some_and(|x| !self.foreign[process.index()][x.index()])
        }
    }

    /// Takes quiet steps until no process has one. If only the process `moved` has stepped since the
    /// others came to rest, only it is asked.
    pub fn rest(
        &self,
        semantics: &dyn Semantics,
        config: &mut Vec<Cell>,
        moved: Option<ProcessId>,
        taken: &mut dyn FnMut(Step),
    ) {
        let system = semantics.system();
        match moved.filter(|_| self.ends.is_none()) {
            Some(process) => while self.go_on(semantics, config, process, taken) {},
            None => {
                while system.process_ids().fold(false, |any, p| {
                    let mut has_moved = false;
                    while self.go_on(semantics, config, p, taken) {
                        has_moved = true;
                    }
                    any | has_moved
                }) {}
            }
        }
    }

    /// Takes a quiet step of a process or of its buffers, if there is one.
    fn go_on(
        &self,
        semantics: &dyn Semantics,
        config: &mut Vec<Cell>,
        process: ProcessId,
        taken: &mut dyn FnMut(Step),
    ) -> bool {
        let system = semantics.system();
        let state = StateId(config[process.index()]);
        if let Some((id, t)) = system.quiet_step(process, state)
            && let Some(rule) = semantics.take_quietly(config, process, t)
        {
            taken(Step::take(process, rule, id));
            return true;
        }
        if let Some(x) = system.reads(process, state)
            && !self.may_change(semantics, config, process, x)
            && let Some(value) = semantics.sees(config, process, x)
            && let Some((id, t)) = system.quiet_read(process, state, value)
            && let Some(rule) = semantics.take_read_quietly(config, process, t)
        {
            taken(Step::take(process, rule, id));
            return true;
        }
        let Some(ends) = &self.ends else { return false };
        let may = |config: &[Cell], x: VarId| {
            !ends.asked[x.index()]
                && others(system, process).all(|q| {
                    let state = StateId(config[q.index()]);
                    !ends.used[q.index()].at(system, q, state)[x.index()]
                        && !semantics.has_under_way(config, q, x)
                })
        };
        match semantics.update_quietly(config, process, &may) {
            Some(step) => {
                taken(step);
                true
            }
            None => false,
        }
    }

    /// Whether somebody else may still change a variable.
    fn may_change(
        &self,
        semantics: &dyn Semantics,
        config: &[Cell],
        process: ProcessId,
        x: VarId,
    ) -> bool {
        let system = semantics.system();
        let may_write = |q: ProcessId| match &self.ends {
            Some(ends) => {
                let state = StateId(config[q.index()]);
                ends.written[q.index()].at(system, q, state)[x.index()]
                    || semantics.has_under_way(config, q, x)
            }
            None => true,
        };
        self.foreign[process.index()][x.index()] && others(system, process).any(may_write)
    }
}

fn others(system: &System, process: ProcessId) -> impl Iterator<Item = ProcessId> {
    system.process_ids().filter(move |q| *q != process)
}
