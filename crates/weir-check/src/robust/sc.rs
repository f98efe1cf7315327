//! All SC configurations of a program, which several files about robustness contain.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::system::{Op, Seen, Standing, System};

use crate::Rejected;
use crate::witness::is_followed;

/// The SC configurations in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScFile {
    /// For each process the names of its control states. Configurations name them by their
    /// places here, from 0.
    pub states: Vec<Vec<String>>,
    /// The configurations: control states and memory.
    pub configurations: Vec<(Vec<usize>, Vec<i128>)>,
}

impl ScFile {
    /// The configurations, with names.
    pub fn new(system: &System, all: &[(Vec<StateId>, Vec<ValueId>)]) -> Self {
        let mut names = Names::new(system);
        let value = |(x, v): (usize, &ValueId)| system.value(VarId::new(x), *v);
        let configuration = |(states, memory): &(Vec<StateId>, Vec<ValueId>)| {
            (names.controls(states), memory.iter().enumerate().map(value).collect())
        };
        let configurations = all.iter().map(configuration).collect();
        Self { states: names.states, configurations }
    }
}

/// Numbers the control states that a file contains.
pub(super) struct Names<'s> {
    system: &'s System,
    /// For each process and control state its place among the names.
    places: Vec<Vec<Option<usize>>>,
    /// For each process the names.
    pub(super) states: Vec<Vec<String>>,
}

impl<'s> Names<'s> {
    pub(super) fn new(system: &'s System) -> Self {
        let places: Vec<_> = system.process_ids().map(|p| vec![None; system.met(p)]).collect();
        Self { system, states: vec![vec![]; places.len()], places }
    }

    pub(super) fn place(&mut self, p: usize, s: StateId) -> usize {
        let Self { system, places, states } = self;
        *places[p][s.index()].get_or_insert_with(|| {
            states[p].push(system.state_name(ProcessId::new(p), s));
            states[p].len() - 1
        })
    }

    pub(super) fn controls(&mut self, all: &[StateId]) -> Vec<usize> {
        all.iter().enumerate().map(|(p, s)| self.place(p, *s)).collect()
    }
}

/// The SC configurations, with ids.
pub(super) struct ScSet<'s> {
    system: &'s System,
    /// For each process the control states that the file names.
    states: Vec<Vec<StateId>>,
    /// The configurations.
    pub(super) all: BTreeSet<(Vec<StateId>, Vec<ValueId>)>,
}

impl<'s> ScSet<'s> {
    pub(super) fn read(system: &'s System, file: &ScFile) -> Result<Self, Rejected> {
        has_length(file.states.len(), system.processes.len())?;
        let mut states: Vec<Vec<StateId>> = Vec::new();
        for (p, names) in system.process_ids().zip(&file.states) {
            let mut ids = Vec::new();
            for name in names {
                let found = system.find_state(p, name);
                let none = || format!("process {} has no control state {name}", p.index());
                let state = found.ok_or_else(|| Rejected::Malformed(none()))?;
                is_followed(system, p, state)?;
                if system.state(p, state).standing() == Standing::OutOfBounds {
                    return Err(Rejected::Bounds);
                }
                ids.push(state);
            }
            states.push(ids);
        }
        let mut set = Self { system, states, all: BTreeSet::new() };
        for (states, values) in &file.configurations {
            let configuration = (set.controls(states)?, set.memory(values)?);
            if !set.all.insert(configuration) {
                return Err(Rejected::malformed("an SC configuration is there twice"));
            }
        }
        Ok(set)
    }

    pub(super) fn state(&self, p: usize, place: usize) -> Result<StateId, Rejected> {
        let found = self.states[p].get(place).copied();
        found.ok_or_else(|| Rejected::malformed("there is no such control state"))
    }

    pub(super) fn controls(&self, places: &[usize]) -> Result<Vec<StateId>, Rejected> {
        has_length(places.len(), self.states.len())?;
        places.iter().enumerate().map(|(p, s)| self.state(p, *s)).collect()
    }

    pub(super) fn memory(&self, values: &[i128]) -> Result<Vec<ValueId>, Rejected> {
        has_length(values.len(), self.system.vars.len())?;
        Ok(self.system.vars.iter().zip(values).map(|(var, d)| var.id(*d)).collect())
    }

    /// Checks that the set has every initial configuration and is closed under every step.
    pub(super) fn check(&self) -> Result<(), Rejected> {
        let system = self.system;
        let initial: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
        for memory in system.initial_memories() {
            if !self.all.contains(&(initial.clone(), memory)) {
                return Err(Rejected::InitialOutside);
            }
        }
        for (i, (controls, memory)) in self.all.iter().enumerate() {
            for p in system.process_ids() {
                for (op, to, after) in sc_steps(system, p, controls, memory) {
                    let place = || format!("SC configuration {i}");
                    inside(system, self.all.contains(&(to, after)), place, p, op)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks the length of a list.
pub(super) fn has_length(len: usize, expected: usize) -> Result<(), Rejected> {
    match len == expected {
        true => Ok(()),
        false => Err(Rejected::malformed("a list does not have the length that it needs")),
    }
}

/// Checks that a step leads to an element of a set.
pub(super) fn inside(
    system: &System,
    is_inside: bool,
    place: impl Fn() -> String,
    p: ProcessId,
    op: Op,
) -> Result<(), Rejected> {
    if is_inside {
        return Ok(());
    }
    let name = &system.processes[p.index()].name;
    let step = format!("{} of `{name}`", system.show_op(op));
    Err(Rejected::LeadsOut { place: place(), step })
}

/// The steps of a process under SC: what each does, and the control states and memory then.
pub(super) fn sc_steps(
    system: &System,
    p: ProcessId,
    controls: &[StateId],
    memory: &[ValueId],
) -> Vec<(Op, Vec<StateId>, Vec<ValueId>)> {
    let see = |x: VarId, _| Seen::One(memory[x.index()]);
    let mut all = Vec::new();
    for (_, t) in system.steps(p, controls[p.index()], see) {
        let mut after = memory.to_vec();
        match t.op {
            Op::Nop | Op::Fence(_) => {}
            Op::Read(x, d) if memory[x.index()] == d => {}
            Op::Arw(x, d, e) if memory[x.index()] == d => after[x.index()] = e,
            Op::Write(x, d) => after[x.index()] = d,
            Op::Read(..) | Op::Arw(..) => continue,
        }
        let mut to = controls.to_vec();
        to[p.index()] = t.to;
        all.push((t.op, to, after));
    }
    all
}
