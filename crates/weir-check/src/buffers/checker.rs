//! Checks that a set of states with buffer automata proves properties.
//!
//! A state has control states, memory, and a set of words for the buffer of each process.
//! It represents every configuration of TSO with these control states, this memory, and
//! words from these sets. [`check`] checks three conditions:
//!
//! 1. every initial configuration is in the set,
//! 2. every step from a state of the set leads into one state of the set,
//! 3. no configuration of the set settles one of the properties.
//!
//! For 2 it takes every step of the store-buffer semantics (Atig et al. 2010, section
//! 3.2) on all words at once. The code is short and slow.

use std::collections::BTreeMap;

use weir_model::ids::{ProcessId, StateId, ValueId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::question::Question;
use weir_model::system::{Expanded, Op, System};

use super::automaton::Automaton;
use super::{Buffers, FORMAT, State, VERSION, read, value, vars};
use crate::Rejected;
use crate::truth::is_settled;
use crate::witness::{expanded, find_states, is_followed};

/// Checks that a set shows that its properties are never settled, or that a `final
/// exists` is not met.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(system: &System, set: &Buffers) -> Result<(), Rejected> {
    set.header.check((FORMAT, VERSION), &system.program)?;
    let model: MemoryModel = set.model.parse().map_err(Rejected::no_model)?;
    if model.normal().without(Relaxation::Rwf) != MemoryModel::TSO.normal() {
        let what = "sets of buffer contents";
        return Err(Rejected::Model { what, model: model.to_string() });
    }
    let names: Vec<String> = system.vars.iter().map(|v| v.name.clone()).collect();
    if set.variables != names {
        return Err(Rejected::malformed("the variables are not those of the program"));
    }
    if set.properties.is_empty() {
        return Err(Rejected::SettlesNothing("it names no property".to_owned()));
    }
    let automata: Result<Vec<_>, _> = set.automata.iter().map(|a| read(system, a)).collect();
    let checker = Checker { system, all: expanded(system), automata: automata? };
    let mut states = Vec::new();
    for state in &set.states {
        states.push(checker.read(state)?);
    }
    checker.check(&set.properties, &states)
}

/// Control states and memory.
type Head = (Vec<StateId>, Vec<ValueId>);

/// A state, with the automaton of each process.
type Read<'s> = (Head, Vec<&'s Automaton>);

/// What a step leads to, and the buffer that changed.
type Step = (Head, Automaton);

struct Checker<'s> {
    system: &'s System,
    all: Expanded<'s>,
    automata: Vec<Automaton>,
}

impl Checker<'_> {
    fn read(&self, state: &State) -> Result<Read<'_>, Rejected> {
        let system = self.system;
        let n = system.processes.len();
        if state.buffers.len() != n {
            return Err(Rejected::malformed("a state does not have the processes of the program"));
        }
        if state.memory.len() != system.vars.len() {
            return Err(Rejected::malformed("a memory does not have the variables of the program"));
        }
        let controls = find_states(system, &state.states)?;
        for (p, s) in system.process_ids().zip(&controls) {
            is_followed(system, p, *s)?;
        }
        let automaton = |i: &usize| {
            let found = self.automata.get(*i);
            found.ok_or_else(|| Rejected::Malformed(format!("there is no automaton {i}")))
        };
        let memory = vars(system).zip(&state.memory).map(|(x, v)| value(system, x, *v));
        let memory = memory.collect();
        let buffers: Result<Vec<_>, _> = state.buffers.iter().map(automaton).collect();
        Ok(((controls, memory), buffers?))
    }

    fn check(&self, properties: &[usize], states: &[Read<'_>]) -> Result<(), Rejected> {
        let system = self.system;
        let mut stored: BTreeMap<&Head, Vec<&[&Automaton]>> = BTreeMap::new();
        for (head, buffers) in states {
            stored.entry(head).or_default().push(buffers);
        }
        // A state with these buffers is in the set if one state of the set has them all.
        let contains = |head: &Head, buffers: &[&Automaton]| {
            let alike = stored.get(head).into_iter().flatten();
            { alike }.any(|s| {
                let pairs = buffers.iter().zip(s.iter());
                { pairs }.all(|(small, big)| std::ptr::eq(*small, *big) || small.is_within(big))
            })
        };
        let empty = Automaton::of_nothing_stored();
        let controls: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
        for memory in initial_memories(system) {
            if !contains(&(controls.clone(), memory), &vec![&empty; controls.len()]) {
                return Err(Rejected::InitialOutside);
            }
        }
        for property in properties {
            let question = system.questions.get(*property).ok_or_else(Rejected::no_property)?;
            if let Some(i) = states.iter().position(|s| self.settles(s, question)) {
                let property = question.name.clone();
                return Err(Rejected::Settled { place: format!("state {i}"), property });
            }
        }
        for (i, state) in states.iter().enumerate() {
            for p in system.process_ids() {
                for (what, (head, buffer)) in self.steps(state, p) {
                    let mut buffers = state.1.clone();
                    buffers[p.index()] = &buffer;
                    if !contains(&head, &buffers) {
                        let process = &system.processes[p.index()].name;
                        let step = format!("{what} of `{process}`");
                        return Err(Rejected::LeadsOut { place: format!("state {i}"), step });
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether some configuration of a state settles a question.
    fn settles(&self, ((controls, memory), buffers): &Read<'_>, question: &Question) -> bool {
        let may_be_drained = || buffers.iter().all(|b| b.accepts_nothing_stored());
        (!question.is_about_rest() || may_be_drained())
            && is_settled(self.system, question, controls, memory)
    }

    /// Every step of a process from a state: its name, and the resulting state.
    fn steps(&self, state: &Read<'_>, p: ProcessId) -> Vec<(String, Step)> {
        let ((controls, memory), buffers) = state;
        let buffer = buffers[p.index()];
        let mut steps = Vec::new();
        for (_, t) in self.all.transitions(p, controls[p.index()]) {
            let mut controls = controls.clone();
            let mut memory = memory.clone();
            controls[p.index()] = t.to;
            let next = match t.op {
                Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => buffer.clone(),
                Op::Write(x, d) => buffer.with((x, d)),
                Op::Read(x, d) => buffer.loading(x, d, memory[x.index()]),
                Op::Fence(FenceKind::Full) | Op::Arw(..) if !buffer.accepts_nothing_stored() => {
                    continue;
                }
                Op::Fence(FenceKind::Full) => Automaton::of_nothing_stored(),
                Op::Arw(x, d, _) if memory[x.index()] != d => continue,
                Op::Arw(x, _, e) => {
                    memory[x.index()] = e;
                    Automaton::of_nothing_stored()
                }
            };
            if next.accepts_something() {
                steps.push((self.system.show_op(t.op), ((controls, memory), next)));
            }
        }
        for (x, d) in buffer.first() {
            let mut memory = memory.clone();
            memory[x.index()] = d;
            let what = format!("the commit of {}", self.system.show_op(Op::Write(x, d)));
            steps.push((what, ((controls.clone(), memory), buffer.behind((x, d)))));
        }
        steps
    }
}

/// All initial memories.
fn initial_memories(system: &System) -> Vec<Vec<ValueId>> {
    let mut memories: Vec<Vec<ValueId>> = vec![vec![]];
    for var in system.vars.iter() {
        let longer = |m: Vec<ValueId>| {
            var.initial.iter().map(move |v| m.iter().copied().chain([*v]).collect())
        };
        memories = memories.into_iter().flat_map(longer).collect();
    }
    memories
}
