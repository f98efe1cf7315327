//! Sets of configurations of store buffers, for SC and TSO: how files write them, and their
//! steps. Both closed sets ([`crate::closed`]) and sets without bad cycles ([`crate::live_set`])
//! are such sets.
//!
//! Under SC buffers are empty. Under TSO a buffer is a word of writes, oldest first. In a
//! *folded* set of level `k` the writes behind the `k` oldest are known only as a tail: the set
//! of writes that occur there, and the last write to each variable. A configuration of a folded
//! set stands for all those whose buffers are as it says. The steps of a folded configuration
//! are those of all configurations that it stands for:
//!
//! * a write behind `k` others, or behind a tail, goes to the tail and is the last one to its
//!   variable;
//! * a read returns the last write to its variable in the tail, or else the youngest of the
//!   oldest writes, or else memory;
//! * when the oldest write goes to memory, the first write `a` of the tail moves up. Any write of
//!   the tail may be `a`. Either another write to its variable comes after it, and the tail stays
//!   as it is; or `a` is the last write to its variable, and no write to it is left in the tail.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use weir_model::answer::{Buffered, StoreBuffer, StoreTail};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;
use weir_model::system::{Mark, Op, Seen, System};

use crate::Rejected;
use crate::witness::{find_states, is_followed, state_names};

/// A write: the name of the variable, and the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Write(pub String, pub i128);

/// A configuration in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The control state of each process, by its name ([`System::state_name`]).
    pub states: Vec<String>,
    /// The value of each variable, in the order of `variables`.
    pub memory: Vec<i128>,
    /// For each process the writes in its buffer, oldest first.
    pub buffers: Vec<Vec<Write>>,
    /// For each process what follows these writes; left out if nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tails: Vec<Option<Tail>>,
}

/// What is known of the younger writes of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// The writes that occur.
    pub writes: Vec<Write>,
    /// The last write to each variable that occurs.
    pub last: Vec<Write>,
}

impl Configuration {
    /// A configuration, with names.
    pub fn new(system: &System, config: &Buffered) -> Self {
        let write = |x: &VarId, d: &ValueId| {
            Write(system.vars[x.index()].name.clone(), system.value(*x, *d))
        };
        let tail = |tail: &StoreTail| Tail {
            writes: tail.writes.iter().map(|(x, d)| write(x, d)).collect(),
            last: tail.last.iter().map(|(x, d)| write(x, d)).collect(),
        };
        let is_folded = config.buffers.iter().any(|b| b.tail.is_some());
        let tails = config.buffers.iter().filter(|_| is_folded);
        Self {
            states: state_names(system, &config.controls),
            memory: vars(system).zip(&config.memory).map(|(x, d)| system.value(x, *d)).collect(),
            buffers: config
                .buffers
                .iter()
                .map(|b| b.oldest.iter().map(|(x, d)| write(x, d)).collect())
                .collect(),
            tails: tails.map(|b| b.tail.as_ref().map(tail)).collect(),
        }
    }

    fn read(&self, system: &System) -> Result<Buffered, Rejected> {
        let malformed = |what: &str| Err(Rejected::malformed(what));
        let n = system.processes.len();
        if self.buffers.len() != n || !self.tails.is_empty() && self.tails.len() != n {
            return malformed("a configuration does not have a buffer for each process");
        }
        if self.memory.len() != system.vars.len() {
            return malformed("a memory does not have the variables of the program");
        }
        let write = |Write(name, value): &Write| {
            let found = system.vars.iter().position(|v| v.name == *name).map(VarId::new);
            let no_variable = || Rejected::Malformed(format!("there is no variable `{name}`"));
            let var = found.ok_or_else(no_variable)?;
            Ok::<_, Rejected>((var, system.vars[var.index()].id(*value)))
        };
        let mut buffers = Vec::new();
        for (p, writes) in self.buffers.iter().enumerate() {
            let oldest = writes.iter().map(write).collect::<Result<Vec<_>, _>>()?;
            let mut buffer = StoreBuffer { oldest, tail: None };
            if let Some(Some(tail)) = self.tails.get(p) {
                let writes = tail.writes.iter().map(write).collect::<Result<BTreeSet<_>, _>>()?;
                let last = tail.last.iter().map(write).collect::<Result<BTreeMap<_, _>, _>>()?;
                let named: BTreeSet<VarId> = writes.iter().map(|(x, _)| *x).collect();
                if last.is_empty()
                    || last.len() != tail.last.len()
                    || !last.iter().all(|(x, d)| writes.contains(&(*x, *d)))
                    || !named.iter().all(|x| last.contains_key(x))
                {
                    return malformed("a tail does not have one last write to each variable");
                }
                buffer.tail = Some(StoreTail { writes, last });
            }
            buffers.push(buffer);
        }
        let controls = find_states(system, &self.states)?;
        for (p, s) in system.process_ids().zip(&controls) {
            is_followed(system, p, *s)?;
        }
        let memory = system.vars.iter().zip(&self.memory).map(|(var, d)| var.id(*d)).collect();
        Ok(Buffered { controls, memory, buffers })
    }
}

fn vars(system: &System) -> impl Iterator<Item = VarId> + use<> {
    (0..system.vars.len()).map(VarId::new)
}

/// A step.
pub(crate) struct Move {
    /// Whose step it is.
    pub(crate) process: ProcessId,
    /// What it does; nothing if a write goes from the buffer to memory.
    pub(crate) op: Option<Op>,
    /// Whether a call returns.
    pub(crate) returns: bool,
    /// Whether it is a part of a round of an `await`.
    pub(crate) waits: bool,
    /// Where it leads.
    pub(crate) to: Buffered,
}

/// The steps of a system with store buffers.
pub(crate) struct Rules<'s> {
    system: &'s System,
    model: MemoryModel,
    /// Whether there are store buffers: TSO.
    buffered: bool,
    /// How many writes are told apart; all of them if nothing is folded.
    level: usize,
}

/// A set of configurations of a system that is closed under every step.
pub(crate) struct Closed<'s> {
    pub(crate) rules: Rules<'s>,
    /// The configurations, in order.
    pub(crate) all: Vec<Buffered>,
}

impl<'s> Closed<'s> {
    /// Reads a set, and checks that it has every initial configuration and that no step leads
    /// out of it. Calls `visit` with the place of each configuration, and each step with the
    /// place that it leads to.
    pub(crate) fn check(
        system: &'s System,
        about: (&'static str, &str),
        level: Option<usize>,
        (variables, configurations): (&[String], &[Configuration]),
        visit: &mut dyn FnMut(usize, &Move, usize),
    ) -> Result<Self, Rejected> {
        let rules = Rules::new(system, about, level, variables)?;
        let all = configurations.iter().map(|c| c.read(system)).collect::<Result<Vec<_>, _>>()?;
        let set = Self { rules, all };
        let mut places = BTreeMap::new();
        for (i, config) in set.all.iter().enumerate() {
            if places.insert(config, i).is_some() {
                return Err(Rejected::Malformed(format!("configuration {i} is there twice")));
            }
        }
        for config in set.rules.initial() {
            if !places.contains_key(&config) {
                return Err(Rejected::InitialOutside);
            }
        }
        for (i, config) in set.all.iter().enumerate() {
            for step in set.rules.steps(config) {
                let Some(to) = places.get(&step.to) else {
                    let place = format!("configuration {i}");
                    return Err(Rejected::LeadsOut { place, step: set.rules.show(&step) });
                };
                visit(i, &step, *to);
            }
        }
        Ok(set)
    }
}

impl<'s> Rules<'s> {
    /// The steps of a system under SC or TSO, for evidence (its kind, and the model that it
    /// names) with these variables.
    pub(crate) fn new(
        system: &'s System,
        (what, model): (&'static str, &str),
        level: Option<usize>,
        variables: &[String],
    ) -> Result<Self, Rejected> {
        let model: MemoryModel = model.parse().map_err(Rejected::no_model)?;
        let buffered = match model.normal() {
            m if m == MemoryModel::SC => false,
            m if m == MemoryModel::TSO => true,
            _ => return Err(Rejected::Model { what, model: model.to_string() }),
        };
        if !variables.iter().eq(system.vars.iter().map(|v| &v.name)) {
            return Err(Rejected::malformed("the variables are not those of the program"));
        }
        Ok(Self { system, model, buffered, level: level.unwrap_or(usize::MAX) })
    }

    pub(crate) fn system(&self) -> &'s System {
        self.system
    }

    /// What a step is, in words.
    pub(crate) fn show(&self, step: &Move) -> String {
        let name = &self.system.processes[step.process.index()].name;
        match step.op {
            Some(op) => format!("{} of `{name}`", self.system.show_op(op)),
            None => format!("an update of `{name}`"),
        }
    }

    pub(crate) fn initial(&self) -> Vec<Buffered> {
        let controls: Vec<StateId> = self.system.processes.iter().map(|p| p.initial).collect();
        let mut memories: Vec<Vec<ValueId>> = vec![vec![]];
        for var in self.system.vars.iter() {
            let longer = |m: Vec<ValueId>| {
                var.initial.iter().map(move |v| m.iter().copied().chain([*v]).collect())
            };
            memories = memories.into_iter().flat_map(longer).collect();
        }
        let buffers = vec![StoreBuffer::default(); controls.len()];
        let with =
            |memory| Buffered { controls: controls.clone(), memory, buffers: buffers.clone() };
        memories.into_iter().map(with).collect()
    }

    /// The process that is in the middle of an atomic block, if one is.
    pub(crate) fn in_block(&self, at: &Buffered) -> Option<ProcessId> {
        self.system.in_block(self.model, &at.controls)
    }

    /// Every step from a configuration.
    pub(crate) fn steps(&self, at: &Buffered) -> Vec<Move> {
        let mut steps = Vec::new();
        let only = self.in_block(at);
        for process in self.system.process_ids().filter(|p| only.is_none_or(|q| q == *p)) {
            let p = process.index();
            let buffer = &at.buffers[p];
            let is_empty = buffer.oldest.is_empty() && buffer.tail.is_none();
            // An atomic operation reads memory, and its own buffer is empty.
            let see = |x: VarId, atomic: bool| {
                Seen::One(if atomic { at.memory[x.index()] } else { read(at, p, x) })
            };
            for (_, t) in self.system.steps(process, at.controls[p], see) {
                let mut to = at.clone();
                to.controls[p] = t.to;
                match t.op {
                    Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => {}
                    Op::Read(x, d) if read(at, p, x) == d => {}
                    Op::Write(x, d) if self.buffered => self.push(&mut to.buffers[p], (x, d)),
                    Op::Write(x, d) => to.memory[x.index()] = d,
                    Op::Arw(x, d, e) if is_empty && at.memory[x.index()] == d => {
                        to.memory[x.index()] = e;
                    }
                    Op::Fence(FenceKind::Full) if is_empty => {}
                    Op::Read(..) | Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
                }
                let returns = matches!(t.mark, Some(Mark::Return(..)));
                steps.push(Move { process, op: Some(t.op), returns, waits: t.waits, to });
            }
            for ((x, d), rest) in oldest(buffer) {
                let mut to = at.clone();
                to.memory[x.index()] = d;
                to.buffers[p] = rest;
                steps.push(Move { process, op: None, returns: false, waits: false, to });
            }
        }
        steps
    }

    fn push(&self, buffer: &mut StoreBuffer, (x, d): (VarId, ValueId)) {
        if buffer.tail.is_none() && buffer.oldest.len() < self.level {
            buffer.oldest.push((x, d));
            return;
        }
        let tail = buffer.tail.get_or_insert_default();
        tail.writes.insert((x, d));
        tail.last.insert(x, d);
    }
}

/// What a process reads.
fn read(at: &Buffered, p: usize, x: VarId) -> ValueId {
    let StoreBuffer { oldest, tail } = &at.buffers[p];
    let in_tail = tail.as_ref().and_then(|tail| tail.last.get(&x).copied());
    let own = in_tail.or_else(|| oldest.iter().rev().find(|(y, _)| *y == x).map(|(_, d)| *d));
    own.unwrap_or(at.memory[x.index()])
}

/// The writes that may be the oldest, each with what is left of the buffer.
fn oldest(buffer: &StoreBuffer) -> Vec<((VarId, ValueId), StoreBuffer)> {
    let StoreBuffer { oldest, tail } = buffer;
    let Some(tail) = tail else {
        let Some((first, rest)) = oldest.split_first() else { return vec![] };
        return vec![(*first, StoreBuffer { oldest: rest.to_vec(), tail: None })];
    };
    let mut all = Vec::new();
    for (write, left) in firsts(tail) {
        let mut word = oldest.clone();
        word.push(write);
        let first = word.remove(0);
        all.push((first, StoreBuffer { oldest: word, tail: left }));
    }
    all
}

/// The writes that may come first in a tail, each with what is left of it.
fn firsts(tail: &StoreTail) -> Vec<((VarId, ValueId), Option<StoreTail>)> {
    let mut all = Vec::new();
    for &(x, d) in &tail.writes {
        // Another write to the variable comes later.
        all.push(((x, d), Some(tail.clone())));
        if tail.last[&x] == d {
            let mut left = tail.clone();
            left.writes.retain(|(y, _)| *y != x);
            left.last.remove(&x);
            all.push(((x, d), (!left.last.is_empty()).then_some(left)));
        }
    }
    all
}
