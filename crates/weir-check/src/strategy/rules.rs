//! The rules of games, implemented independently of the solver from Spengler 2024, figure
//! 1 and section 9, on configurations with names and numbers. Simple and slow.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The messages that are listed, oldest first.
    pub buffers: Vec<Vec<Message>>,
    /// The newest own value of each variable among messages that are not listed.
    pub beyond: Vec<Option<BTreeMap<VarId, ValueId>>>,
}

/// Variable, value, whether it is own, and whether it stands for one or more equal ones.
pub type Message = (VarId, ValueId, bool, bool);

/// A move of the process player: the process and the names of the transitions.
pub type Move = (ProcessId, Vec<String>);

fn value(system: &System, var: VarId, number: i128) -> ValueId {
    system.vars[var.index()].id(number)
}

fn variable(system: &System, name: &str) -> Option<VarId> {
    system.vars.iter().position(|v| v.name == name).map(VarId::new)
}

/// The values of all variables, by their names.
fn values(system: &System, named: &BTreeMap<String, i128>) -> Option<Vec<ValueId>> {
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
    let message = |PlaceMessage(name, number, own, more): &PlaceMessage| {
        let var = variable(system, name)?;
        Some((var, value(system, var, *number), *own, *more))
    };
    let buffer = |b: &Vec<PlaceMessage>| b.iter().map(message).collect::<Option<Vec<_>>>();
    let own = |(name, number): (&String, &i128)| {
        let var = variable(system, name)?;
        Some((var, value(system, var, *number)))
    };
    let newest = |of: &BTreeMap<String, i128>| of.iter().map(own).collect::<Option<_>>();
    let beyond = match place.beyond.as_slice() {
        [] => vec![None; states.len()],
        all if all.len() == states.len() => {
            let each =
                all.iter().map(|of| of.as_ref().map(newest).map_or(Some(None), |b| b.map(Some)));
            each.collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(Config {
        states,
        memory: values(system, &place.memory)?,
        buffers: place.buffers.iter().map(buffer).collect::<Option<_>>()?,
        beyond,
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
        beyond: vec![None; system.processes.len()],
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
    let (buffer, beyond) = (&at.buffers[p], &at.beyond[p]);
    let mut found = Vec::new();
    for i in board.instructions(process, at.states[p]) {
        let mut after = at.clone();
        after.states[p] = i.to;
        match (i.op, buffers) {
            (Op::Nop, _) => {}
            (Op::Fence(FenceKind::Full), _) if buffer.is_empty() && beyond.is_none() => {}
            (Op::Read(x, d), _) => {
                let listed = buffer.iter().rev().find(|m| m.0 == x && m.2).map(|m| m.1);
                let own = beyond.as_ref().and_then(|b| b.get(&x).copied()).or(listed);
                let otherwise = match buffers {
                    Buffers::Store => Some(at.memory[x.index()]),
                    Buffers::Load => buffer.first().and_then(|m| (m.0 == x && !m.2).then_some(m.1)),
                };
                if own.or(otherwise) != Some(d) {
                    continue;
                }
            }
            (Op::Write(x, d), _) => {
                if buffers == Buffers::Load {
                    after.memory[x.index()] = d;
                }
                match &mut after.beyond[p] {
                    Some(newest) => {
                        newest.insert(x, d);
                    }
                    None => after.buffers[p].push((x, d, true, false)),
                }
                if buffers == Buffers::Load {
                    after.buffers[p].dedup();
                }
            }
            _ => continue,
        }
        if buffers == Buffers::Load && !board.looks(process, i.to) {
            after.buffers[p].clear();
            after.beyond[p] = None;
        }
        if i.waits {
            let mut reads = at.memory.clone();
            buffer.iter().for_each(|m| reads[m.0.index()] = m.1);
            beyond.iter().flatten().for_each(|(x, d)| reads[x.index()] = *d);
            if !board.goes_on(process, i.to, &reads) {
                continue;
            }
        }
        found.push(((process, super::names(board.system, process, &i.path)), after));
    }
    found
}

/// The results of one step of the update player. Where messages beyond the listed ones come next,
/// they may be any that can be there. The update player must first say which message of a load
/// buffer is the oldest; this changes no buffer, so no step is lost.
pub fn updates(board: &Board<'_>, buffers: Buffers, at: &Config) -> Vec<Config> {
    let is_open = |p: &usize| at.buffers[*p].is_empty() && at.beyond[*p].is_some();
    if let (Buffers::Load, Some(p)) = (buffers, (0..at.buffers.len()).find(is_open)) {
        let newest = at.beyond[p].clone().unwrap_or_default();
        return oldest(board, at, ProcessId::new(p), &newest);
    }
    let mut found = Vec::new();
    for p in 0..at.buffers.len() {
        let process = ProcessId::new(p);
        match (at.buffers[p].first().copied(), &at.beyond[p], buffers) {
            (Some((x, d, _, more)), _, Buffers::Store) => {
                let mut after = at.clone();
                after.memory[x.index()] = d;
                // Of several equal messages some may be left.
                if more {
                    found.push(after.clone());
                }
                after.buffers[p].remove(0);
                found.push(after);
            }
            (Some(_), _, Buffers::Load) => {
                let mut after = at.clone();
                after.buffers[p].remove(0);
                found.push(after);
            }
            (None, Some(newest), Buffers::Store) => {
                for (x, own) in newest {
                    for d in written(board, process, *x) {
                        let mut after = at.clone();
                        after.memory[x.index()] = d;
                        found.push(after);
                    }
                    let mut after = at.clone();
                    after.memory[x.index()] = *own;
                    let mut left = newest.clone();
                    left.remove(x);
                    after.beyond[p] = (!left.is_empty()).then_some(left);
                    found.push(after);
                }
            }
            (None, Some(_), Buffers::Load) | (None, None, _) => {}
        }
        let looks = board.looks(process, at.states[p]);
        if buffers == Buffers::Load && looks && at.beyond[p].is_none() {
            for (x, d) in at.memory.iter().enumerate() {
                let mut after = at.clone();
                after.buffers[p].push((VarId::new(x), *d, false, false));
                after.buffers[p].dedup();
                if after != *at {
                    found.push(after);
                }
            }
        }
    }
    found
}

/// What the oldest message of a load buffer that lists none can be: a value that memory has held,
/// an own message that is not the newest of its variable, the newest one, or none at all.
fn oldest(
    board: &Board<'_>,
    at: &Config,
    process: ProcessId,
    newest: &BTreeMap<VarId, ValueId>,
) -> Vec<Config> {
    let p = process.index();
    let system = board.system;
    let mut found = Vec::new();
    let listed = |message, left: &BTreeMap<VarId, ValueId>| {
        let mut after = at.clone();
        after.buffers[p].push(message);
        after.beyond[p] = Some(left.clone());
        after
    };
    for x in (0..system.vars.len()).map(VarId::new) {
        let by_all = system.process_ids().flat_map(|q| written(board, q, x));
        let held: BTreeSet<ValueId> =
            by_all.chain(system.vars[x.index()].initial.iter().copied()).collect();
        found.extend(held.into_iter().map(|d| listed((x, d, false, false), newest)));
        if let Some(own) = newest.get(&x) {
            let older = written(board, process, x).into_iter();
            found.extend(older.map(|d| listed((x, d, true, false), newest)));
            let mut left = newest.clone();
            left.remove(&x);
            found.push(listed((x, *own, true, false), &left));
        }
    }
    if newest.is_empty() {
        let mut after = at.clone();
        after.beyond[p] = None;
        found.push(after);
    }
    found
}

/// The values that a process can write to a variable.
fn written(board: &Board<'_>, process: ProcessId, var: VarId) -> BTreeSet<ValueId> {
    let states = (0..).map(StateId::new).take_while(|s| board.knows(process, *s));
    let all = states.flat_map(|s| board.instructions(process, s));
    let values = all.filter_map(|i| match i.op {
        Op::Write(x, d) => (x == var).then_some(d),
        _ => None,
    });
    values.collect()
}

/// Whether it is known what each process can read. In a load buffer that lists no message,
/// nothing may be beyond.
pub fn is_settled(buffers: Buffers, at: &Config) -> bool {
    let mut each = at.buffers.iter().zip(&at.beyond);
    each.all(|(b, beyond)| buffers == Buffers::Store || !b.is_empty() || beyond.is_none())
}

/// Whether a configuration lists all messages.
pub fn is_exact(at: &Config) -> bool {
    at.beyond.iter().all(Option::is_none) && at.buffers.iter().flatten().all(|m| !m.3)
}

/// Whether every configuration that `have` stands for is one that `want` stands for.
pub fn covers(want: &Config, have: &Config) -> bool {
    (&want.states, &want.memory) == (&have.states, &have.memory)
        && (0..want.buffers.len()).all(|p| covers_buffer(want, have, p))
}

fn covers_buffer(want: &Config, have: &Config, p: usize) -> bool {
    let messages = &have.buffers[p];
    // How many messages of `have` the listed messages of `want` may stand for.
    let mut used = BTreeSet::from([0]);
    for wanted in &want.buffers[p] {
        let mut next = BTreeSet::new();
        for from in used {
            let left = messages.get(from..).unwrap_or_default();
            if wanted.3 {
                let is_equal = |m: &&Message| (m.0, m.1, m.2) == (wanted.0, wanted.1, wanted.2);
                let equal = left.iter().take_while(is_equal).count();
                next.extend((1..=equal).map(|count| from + count));
            } else if left.first() == Some(wanted) {
                next.insert(from + 1);
            }
        }
        used = next;
    }
    let Some(newest) = &want.beyond[p] else {
        return have.beyond[p].is_none() && used.contains(&messages.len());
    };
    used.into_iter().any(|from| {
        let listed = messages[from..].iter().filter(|m| m.2).map(|m| (m.0, m.1));
        let beyond = have.beyond[p].iter().flatten().map(|(x, d)| (*x, *d));
        listed.chain(beyond).collect::<BTreeMap<_, _>>() == *newest
    })
}
