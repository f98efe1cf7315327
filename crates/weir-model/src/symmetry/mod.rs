//! Symmetry: processes that can be exchanged without changing any answer.
//!
//! An *automorphism* of a system exchanges processes, variables and values so that steps lead to
//! steps: if a configuration leads to another, so does its image to the image of the other.
//! [`System::exchanges`] finds those that exchange two processes.
//!
//! Two processes can be exchanged if their codes are alike up to constants and variables. What
//! stands at the same position in both must be exchanged too: with `flag[0] = 1` in one process
//! and `flag[1] = 1` in the other, `flag[0]` and `flag[1]`; with `tail = 1` and `tail = 2`, the
//! values 1 and 2 of `tail`, and of every register and variable that may get its value from
//! there or is compared with it. Values that are exchanged may be copied, compared for equality
//! and used as an index into an array whose elements are exchanged in the same way. A number may
//! also be a set of bits, one for each process; then two bits are exchanged. Two processes cannot
//! be exchanged if other code computes with such values, or asks which is smaller. The code of
//! all other processes, the initial values, the domains and what is asked must stay as they are.

mod formula;
mod kinds;
mod permutation;

use std::collections::HashSet;

use crate::build::Key;
use crate::grow::{Cells, may_grow};
use crate::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use crate::limits::{Budget, Stop};
use crate::question::{Kind as Asked, Question};
use crate::semantics::Event;
use crate::system::{StateKind, System};
use kinds::Kinds;
use permutation::Permutation;

/// An automorphism: exchanges processes, variables and values.
#[derive(Debug)]
pub struct Automorphism {
    /// For each process, the one whose place it takes.
    processes: Vec<ProcessId>,
    vars: Vec<VarId>,
    /// Who takes the place of each process, and of each variable.
    process_sources: Vec<ProcessId>,
    var_sources: Vec<VarId>,
    /// What becomes of the values of each variable.
    values: Vec<Permutation>,
    /// What becomes of the values of each register of each process.
    registers: Vec<Vec<Permutation>>,
    /// The processes that can get another control state, in their order.
    changed: Vec<ProcessId>,
    /// What is known of the images of control states and values.
    states: Vec<Cells<Option<StateId>>>,
    numbers: Vec<Cells<Option<ValueId>>>,
}

impl Automorphism {
    fn new(
        processes: Vec<ProcessId>,
        vars: Vec<VarId>,
        values: Vec<Permutation>,
        registers: Vec<Vec<Permutation>>,
    ) -> Self {
        let moves = |p: &usize| {
            processes[*p].index() != *p || registers[*p].iter().any(|v| !v.is_identity())
        };
        let mut changed: Vec<ProcessId> =
            (0..processes.len()).filter(moves).map(|p| processes[p]).collect();
        changed.sort_unstable();
        let mut process_sources = processes.clone();
        for (p, image) in processes.iter().enumerate() {
            process_sources[image.index()] = ProcessId::new(p);
        }
        let mut var_sources = vars.clone();
        for (x, image) in vars.iter().enumerate() {
            var_sources[image.index()] = VarId::new(x);
        }
        let states = processes.iter().map(|_| Cells::default()).collect();
        let numbers = vars.iter().map(|_| Cells::default()).collect();
        Self {
            processes,
            vars,
            process_sources,
            var_sources,
            values,
            registers,
            changed,
            states,
            numbers,
        }
    }

    /// What changes nothing.
    pub fn identity(system: &System) -> Self {
        let registers = system.program.processes.iter();
        Self::new(
            system.process_ids().collect(),
            (0..system.vars.len()).map(VarId::new).collect(),
            vec![Permutation::default(); system.vars.len()],
            registers.map(|p| vec![Permutation::default(); p.registers.len()]).collect(),
        )
    }

    /// First this, then the other.
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        let of_var =
            |(x, first): (usize, &Permutation)| first.then(&other.values[self.vars[x].index()]);
        let of_process = |(p, first): (usize, &Vec<Permutation>)| {
            let second = &other.registers[self.processes[p].index()];
            first.iter().zip(second).map(|(first, second)| first.then(second)).collect()
        };
        Self::new(
            self.processes.iter().map(|p| other.processes[p.index()]).collect(),
            self.vars.iter().map(|x| other.vars[x.index()]).collect(),
            self.values.iter().enumerate().map(of_var).collect(),
            self.registers.iter().enumerate().map(of_process).collect(),
        )
    }

    /// What becomes of a process.
    #[inline]
    pub fn process(&self, process: ProcessId) -> ProcessId {
        self.processes[process.index()]
    }

    /// What becomes of a variable.
    #[inline]
    pub fn var(&self, var: VarId) -> VarId {
        self.vars[var.index()]
    }

    /// The process that becomes this one.
    #[inline]
    pub fn process_source(&self, process: ProcessId) -> ProcessId {
        self.process_sources[process.index()]
    }

    /// The variable that becomes this one.
    #[inline]
    pub fn var_source(&self, var: VarId) -> VarId {
        self.var_sources[var.index()]
    }

    /// The processes that have another control state in an image, in their order.
    pub fn changed(&self) -> &[ProcessId] {
        &self.changed
    }

    /// What becomes of a control state of a process: one of [`process`](Self::process). `None` if
    /// it has no image, as one in which a process has failed.
    #[inline(always)]
    pub fn state(&self, system: &System, process: ProcessId, state: StateId) -> Option<StateId> {
        let cells = &self.states[process.index()];
        match cells.get(state.index()) {
            Some(image) => *image,
            None if !may_grow() => None,
            None => *cells.get_or_init(state.index(), || self.make_state(system, process, state)),
        }
    }

    fn make_state(&self, system: &System, process: ProcessId, id: StateId) -> Option<StateId> {
        let state = system.state(process, id);
        if !matches!(state.kind, StateKind::Inside | StateKind::Ended) {
            return None;
        }
        let live = &system.processes[process.index()].flow.live[state.node];
        let of = &self.registers[process.index()];
        let image = |((value, live), of): ((&i128, &bool), &Permutation)| match live {
            true => of.image(*value),
            false => *value,
        };
        let registers = state.registers.iter().zip(live).zip(of).map(image).collect();
        let key = Key { node: state.node, registers, stop: None };
        Some(system.intern(self.process(process), key))
    }

    /// What becomes of a value of a variable: one of [`var`](Self::var).
    #[inline(always)]
    pub fn value(&self, system: &System, var: VarId, value: ValueId) -> Option<ValueId> {
        let cells = &self.numbers[var.index()];
        match cells.get(value.index()) {
            Some(image) => *image,
            None if !may_grow() => None,
            None => *cells.get_or_init(value.index(), || {
                let number = system.value(var, value);
                let image = self.values[var.index()].image(number);
                system.vars[self.var(var).index()].try_id(image, system.vars.len())
            }),
        }
    }

    /// What becomes of an event.
    #[inline]
    pub fn event(&self, system: &System, event: Event) -> Option<Event> {
        if event.is_fence() {
            return Some(event);
        }
        let value = self.value(system, event.var, event.value)?;
        Some(Event { var: self.var(event.var), value, ..event })
    }

    /// Appends what becomes of control states and memory; `None` if there is no image.
    pub fn head(&self, system: &System, config: &[Cell], image: &mut Vec<Cell>) -> Option<()> {
        let (begin, n) = (image.len(), system.processes.len());
        image.extend_from_slice(&config[..n + system.vars.len()]);
        for (p, state) in system.process_ids().zip(config) {
            image[begin + self.process(p).index()] = self.state(system, p, StateId(*state))?.0;
        }
        for (x, value) in config[n..n + system.vars.len()].iter().enumerate() {
            let x = VarId::new(x);
            image[begin + n + self.var(x).index()] = self.value(system, x, ValueId(*value))?.0;
        }
        Some(())
    }
}

impl System {
    /// Automorphisms that exchange two processes, for every two that can be exchanged so that
    /// these questions stay the same.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn exchanges(
        &self,
        questions: &[Question],
        budget: &Budget,
    ) -> Result<Vec<Automorphism>, Stop> {
        let has_bounds =
            !(self.program.bounds.vars.is_empty() && self.program.bounds.registers.is_empty());
        let has_stops = self.processes.iter().any(|p| !p.stops.is_empty());
        if has_bounds || has_stops || self.program.object.is_some() {
            return Ok(vec![]);
        }
        // Whether two processes can be exchanged is an equivalence relation.
        let mut classes: Vec<(ProcessId, Vec<Automorphism>)> = Vec::new();
        'next: for p in self.process_ids() {
            for (first, exchanges) in &mut classes {
                if let Some(found) = self.exchange(*first, p, questions, budget)? {
                    exchanges.push(found);
                    continue 'next;
                }
            }
            classes.push((p, vec![]));
        }
        let mut all = Vec::new();
        for (_, with_first) in classes {
            for (i, a) in with_first.iter().enumerate() {
                all.extend(with_first[..i].iter().map(|b| a.then(b).then(a)));
            }
            all.extend(with_first);
        }
        Ok(all)
    }

    /// The automorphism that exchanges two processes, if there is one.
    fn exchange(
        &self,
        a: ProcessId,
        b: ProcessId,
        questions: &[Question],
        budget: &Budget,
    ) -> Result<Option<Automorphism>, Stop> {
        if !self.is_watched_alike(a, b) {
            return Ok(None);
        }
        let mut kinds = Kinds::new(self);
        for p in self.process_ids() {
            let q = if p == a { b } else { p };
            if p != b && kinds.codes(p, q, budget)?.is_none() {
                return Ok(None);
            }
        }
        let Some(mut found) = kinds.solve() else { return Ok(None) };
        found.processes.swap(a.index(), b.index());
        let found = Automorphism::new(found.processes, found.vars, found.values, found.registers);
        let keeps = |q: &Question| match &q.kind {
            Asked::Never(formula) => found.keeps(formula),
            Asked::Final { formula, filter, .. } | Asked::Valued { formula, filter } => {
                found.keeps(formula) && filter.as_ref().is_none_or(|f| found.keeps(f))
            }
            Asked::Assertions | Asked::Races => true,
            Asked::NoDeadlock(except) => {
                let places = |p: ProcessId| {
                    let labels = except.iter().filter(move |place| place.0 == p);
                    labels.map(|place| place.1).collect::<HashSet<_>>()
                };
                places(a) == places(b)
            }
            Asked::Bounds | Asked::Within(_) => false,
        };
        Ok(questions.iter().all(keeps).then_some(found))
    }

    /// Whether the construction of the system treats two processes alike: it depends on what
    /// all questions of the system observe.
    fn is_watched_alike(&self, a: ProcessId, b: ProcessId) -> bool {
        let (a, b, watch) = (a.index(), b.index(), &self.watch);
        watch.labels[a] == watch.labels[b]
            && watch.kept[a] == watch.kept[b]
            && watch.always[a] == watch.always[b]
    }
}
