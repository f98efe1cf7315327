//! The rules of games, implemented independently of the solver from Spengler 2024, figure
//! 1 and section 9, on configurations with names and numbers. Simple and slow.

use weir_model::game::{Board, Buffers};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::program::FenceKind;
use weir_model::system::{Op, System};

use super::{Place, PlaceMessage, ViewMove};
use crate::witness::find_states;

/// A configuration as the checker has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Config {
    pub states: Vec<StateId>,
    pub memory: Vec<ValueId>,
    /// Variable, value and whether it is own; oldest first.
    pub buffers: Vec<Vec<(VarId, ValueId, bool)>>,
}

/// A move of the process player: the process and the names of the transitions.
pub type Move = (ProcessId, Vec<String>);

fn value(system: &System, var: VarId, number: i128) -> ValueId {
    system.vars[var.index()].id(number)
}

fn variable(system: &System, name: &str) -> Option<VarId> {
    system.vars.iter().position(|v| v.name == name).map(VarId::new)
}

/// The values of all variables, by their names.
fn values(
    system: &System,
    named: &std::collections::BTreeMap<String, i128>,
) -> Option<Vec<ValueId>> {
    let each = system.vars.iter().enumerate();
    let found: Option<Vec<_>> =
        each.map(|(x, var)| Some(value(system, VarId::new(x), *named.get(&var.name)?))).collect();
    found.filter(|_| named.len() == system.vars.len())
}

/// A configuration of a file, if it is one of the system.
pub fn config(board: &Board<'_>, place: &Place) -> Option<Config> {
    let system = board.system;
    let states = find_states(system, &place.states).ok()?;
    let known = |(p, s): (ProcessId, &StateId)| board.knows(p, *s);
    if place.buffers.len() != states.len() || !system.process_ids().zip(&states).all(known) {
        return None;
    }
    let message = |PlaceMessage(name, number, own): &PlaceMessage| {
        let var = variable(system, name)?;
        Some((var, value(system, var, *number), *own))
    };
    let buffer = |b: &Vec<PlaceMessage>| b.iter().map(message).collect::<Option<Vec<_>>>();
    Some(Config {
        states,
        memory: values(system, &place.memory)?,
        buffers: place.buffers.iter().map(buffer).collect::<Option<_>>()?,
    })
}

/// A view of a file as the configuration of one process whose memory is what it reads:
/// with a buffer that is empty, or not.
pub type ViewKey = (StateId, Vec<ValueId>, bool);

/// A view of a file, if it is one of the process.
pub fn view(board: &Board<'_>, process: ProcessId, at: &ViewMove) -> Option<ViewKey> {
    let system = board.system;
    let state = system.find_state(process, &at.state).filter(|s| board.knows(process, *s))?;
    Some((state, values(system, &at.values)?, at.fence))
}

/// The configuration that the game begins in.
pub fn start(system: &System) -> Config {
    Config {
        states: system.processes.iter().map(|p| p.initial).collect(),
        memory: system.vars.iter().map(|v| v.initial[0]).collect(),
        buffers: vec![vec![]; system.processes.len()],
    }
}

/// The moves of a process from a configuration, each with what it leads to.
pub fn moves(
    board: &Board<'_>,
    buffers: Buffers,
    at: &Config,
    process: ProcessId,
) -> Vec<(Move, Config)> {
    let p = process.index();
    let buffer = &at.buffers[p];
    let mut found = Vec::new();
    for i in board.instructions(process, at.states[p]) {
        let mut after = at.clone();
        after.states[p] = i.to;
        match (i.op, buffers) {
            (Op::Nop, _) => {}
            (Op::Fence(FenceKind::Full), _) if buffer.is_empty() => {}
            (Op::Read(x, d), _) => {
                let own = buffer.iter().rev().find(|m| m.0 == x && m.2).map(|m| m.1);
                let otherwise = match buffers {
                    Buffers::Store => Some(at.memory[x.index()]),
                    Buffers::Load => buffer.first().and_then(|m| (m.0 == x && !m.2).then_some(m.1)),
                };
                if own.or(otherwise) != Some(d) {
                    continue;
                }
            }
            (Op::Write(x, d), Buffers::Store) => after.buffers[p].push((x, d, true)),
            (Op::Write(x, d), Buffers::Load) => {
                after.memory[x.index()] = d;
                after.buffers[p].push((x, d, true));
                after.buffers[p].dedup();
            }
            _ => continue,
        }
        if buffers == Buffers::Load && !board.looks(process, i.to) {
            after.buffers[p].clear();
        }
        if i.waits {
            let mut reads = at.memory.clone();
            buffer.iter().for_each(|m| reads[m.0.index()] = m.1);
            if !board.goes_on(process, i.to, &reads) {
                continue;
            }
        }
        found.push(((process, super::names(board.system, process, &i.path)), after));
    }
    found
}

/// What one step of the update player leads to.
pub fn updates(board: &Board<'_>, buffers: Buffers, at: &Config) -> Vec<Config> {
    let mut found = Vec::new();
    for p in 0..at.buffers.len() {
        if let Some((x, d, _)) = at.buffers[p].first().copied() {
            let mut after = at.clone();
            after.buffers[p].remove(0);
            if buffers == Buffers::Store {
                after.memory[x.index()] = d;
            }
            found.push(after);
        }
        let looks = board.looks(ProcessId::new(p), at.states[p]);
        if buffers == Buffers::Load && looks {
            for (x, d) in at.memory.iter().enumerate() {
                let mut after = at.clone();
                after.buffers[p].push((VarId::new(x), *d, false));
                after.buffers[p].dedup();
                if after != *at {
                    found.push(after);
                }
            }
        }
    }
    found
}
