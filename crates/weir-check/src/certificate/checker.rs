//! Checks a certificate: an inductive set of configurations of views.
//!
//! In a configuration of views the history of memory states ends with `memory`; each
//! process has a position in it and may still see, in this order, the memory states of
//! its word. The set represents every configuration whose words are among those given, or
//! subwords of them, or suffixes of such subwords.
//!
//! Every process *rests*: its last action was a write that entered the history, an atomic
//! read-write or a full fence. Only these depend on the moment at which they happen; all
//! other actions can be delayed, since the process sees no less later. [`check`] checks
//! three conditions:
//!
//! 1. every initial configuration is in the set,
//! 2. if a process moves by itself and then takes one of these actions, the result is in
//!    the set, and so is the result when a waiting write enters,
//! 3. in no configuration can processes, each by itself, reach places that violate one of
//!    the properties.
//!
//! Sets of words are stored as in the file, as sets of words of letters; the code is
//! short and slow.

mod read;
mod sight;
mod steps;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{Atom, FenceKind, Program};
use weir_model::system::{Access, CodeStep, StateKind, System};

use super::{Certificate, FORMAT, VERSION};
use crate::Rejected;

/// Checks that a certificate is an inductive set of the system under its model
/// that shows what it says of its properties.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, certificate: &Certificate) -> Result<(), Rejected> {
    check_for(system, certificate, &system.program)
}

/// The same for a certificate that was made for a program, and is about a system that was
/// made of it.
pub(crate) fn check_for(
    system: &System,
    certificate: &Certificate,
    program: &Program,
) -> Result<(), Rejected> {
    certificate.header.check((FORMAT, VERSION), program)?;
    let model: MemoryModel = certificate.model.parse().map_err(Rejected::no_model)?;
    let checker = Checker::new(system, model, certificate)?;
    let sets = checker.read(certificate)?;
    let mut by_state: BTreeMap<&State, Vec<&Vec<Sight>>> = BTreeMap::new();
    for (state, sights) in &sets {
        by_state.entry(state).or_default().push(sights);
    }
    let contains = |(state, sights): &(State, Vec<Sight>)| {
        by_state.get(state).is_some_and(|stored| {
            stored.iter().any(|s| s.iter().zip(sights).all(|(a, b)| checker.covers(a, b)))
        })
    };
    for initial in checker.initial() {
        if !contains(&initial) {
            return Err(Rejected::InitialOutside);
        }
    }
    for (number, set) in sets.iter().enumerate() {
        let place = || format!("configuration {number}");
        for (what, next) in checker.successors(set)? {
            if !contains(&next) {
                return Err(Rejected::LeadsOut { place: place(), step: what });
            }
        }
        for &property in &certificate.properties {
            if checker.settles(set, property)? {
                let property = system.questions[property].name.clone();
                return Err(Rejected::Settled { place: place(), property });
            }
        }
    }
    Ok(())
}

/// A memory state; `None` for what does not matter to who looks at it.
type Letter = Vec<Option<ValueId>>;

/// A set of words, closed under subwords; the empty word is always meant.
type Set<L> = BTreeSet<Vec<L>>;

/// Control states and newest memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    controls: Vec<StateId>,
    memory: Vec<ValueId>,
}

/// What one process sees: a first set, then own writes, each with the set of
/// what comes after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sight {
    first: Set<Letter>,
    rest: Vec<(VarId, Letter, Set<Letter>)>,
    past: BTreeMap<VarId, Set<ValueId>>,
    stores: BTreeMap<VarId, (Set<ValueId>, ValueId)>,
}

impl Sight {
    fn newest() -> Self {
        Self { first: Set::new(), rest: vec![], past: BTreeMap::new(), stores: BTreeMap::new() }
    }

    /// The last set of the word.
    fn last(&mut self) -> &mut Set<Letter> {
        self.rest.last_mut().map_or(&mut self.first, |r| &mut r.2)
    }
}

struct Checker<'s> {
    system: &'s System,
    level: usize,
    /// There are store buffers: `w->r`.
    buffers: bool,
    /// There is one per variable: `w->w`.
    stores: bool,
    /// Reads overtake reads: `r->r`.
    past: bool,
    /// Partial fences do something: RWF.
    partial_fences: bool,
    /// All variables: of a control state at no known place nothing is known.
    everything: Vec<bool>,
    /// For each process and place of its code, the variables that it may read
    /// before its next full fence.
    reads: Vec<Vec<Vec<bool>>>,
    /// For each process and place of its code, the variables that it may write
    /// before its next fence for writes.
    writes: Vec<Vec<Vec<bool>>>,
    /// The atoms of each property that the certificate is about.
    asked: Vec<Vec<Atom>>,
}

impl<'s> Checker<'s> {
    fn new(
        system: &'s System,
        model: MemoryModel,
        certificate: &Certificate,
    ) -> Result<Self, Rejected> {
        let normal = model.normal().with(Relaxation::Rwf);
        let known = [MemoryModel::TSO.with(Relaxation::Rwf), MemoryModel::PSO, MemoryModel::NSW];
        if model.normal() != MemoryModel::SC && !known.contains(&normal) {
            return Err(Rejected::Model { what: "certificates", model: model.to_string() });
        }
        if !(1..=8).contains(&certificate.level) {
            let reason = format!("level {} is not from 1 to 8", certificate.level);
            return Err(Rejected::Malformed(reason));
        }
        let buffers = model.has(Relaxation::WriteRead);
        let (partial_fences, stores) =
            (model.has(Relaxation::Rwf), model.has(Relaxation::WriteWrite));
        let is_full =
            |access: &Access| matches!(access, Access::Arw(_) | Access::Fence(FenceKind::Full));
        let is_for_writes = |access: &Access| {
            is_full(access) || partial_fences && *access == Access::Fence(FenceKind::Write)
        };
        let read = |access: &Access| match access {
            Access::Read(range) => range.clone(),
            _ => 0..0,
        };
        let written = |access: &Access| match access {
            Access::Write(range) => range.clone(),
            _ => 0..0,
        };
        let all = |asks: bool, f: &dyn Fn(ProcessId) -> Vec<Vec<bool>>| {
            let nothing =
                |p: ProcessId| vec![vec![false; system.vars.len()]; system.place_count(p)];
            system.process_ids().map(|p| if asks { f(p) } else { nothing(p) }).collect()
        };
        let asked =
            |&p: &usize| Ok(system.questions.get(p).ok_or_else(Rejected::no_property)?.atoms());
        Ok(Self {
            system,
            level: certificate.level,
            buffers,
            stores,
            past: model.has(Relaxation::ReadRead),
            partial_fences,
            everything: vec![true; system.vars.len()],
            reads: all(buffers, &|p| ahead(system, p, &read, &is_full)),
            writes: all(stores, &|p| ahead(system, p, &written, &is_for_writes)),
            asked: certificate.properties.iter().map(asked).collect::<Result<_, Rejected>>()?,
        })
    }

    /// Whether processes can go by themselves to where they settle a property.
    fn settles(&self, config: &(State, Vec<Sight>), property: usize) -> Result<bool, Rejected> {
        let system = self.system;
        let question = system.questions.get(property).ok_or_else(Rejected::no_property)?;
        let atoms = question.atoms();
        let memory = &config.0.memory;
        // With buffers, memory at a moment is that of a history that ends then.
        let ended = self.buffers && question.asks_for_memory_under_way();
        let mut ways: Vec<Vec<StateId>> = vec![vec![]];
        for p in system.process_ids() {
            let mut kinds = BTreeMap::new();
            for (control, sight) in self.places(config, p, ended) {
                let is_idle = sight.stores.is_empty();
                if question.is_about_rest() && !is_idle
                    || !question.may_be_at_with(system, (p, control), memory)
                {
                    continue;
                }
                let has_ended = system.state(p, control).kind == StateKind::Ended;
                kinds.insert((self.kind(&atoms, p, control), has_ended), control);
            }
            let with = |way: &Vec<StateId>, c: &StateId| way.iter().copied().chain([*c]).collect();
            ways = ways.iter().flat_map(|w| kinds.values().map(move |c| with(w, c))).collect();
        }
        Ok(ways.iter().any(|controls| question.is_settled(system, controls, memory)))
    }
}

/// For each place of the code of a process, the variables of the accesses that it
/// may come to before one that stops it: by searching forward from each.
fn ahead(
    system: &System,
    p: ProcessId,
    variables: &dyn Fn(&Access) -> Range<usize>,
    stops: &dyn Fn(&Access) -> bool,
) -> Vec<Vec<bool>> {
    let mut next: Vec<Vec<&CodeStep>> = vec![vec![]; system.place_count(p)];
    for step in system.code(p).filter(|s| !stops(&s.access)) {
        next[step.from].push(step);
    }
    let from = |start: usize| {
        let mut found = vec![false; system.vars.len()];
        let mut seen = vec![false; next.len()];
        let mut work = vec![start];
        while let Some(place) = work.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            for step in &next[place] {
                found[variables(&step.access)].fill(true);
                work.push(step.to);
            }
        }
        found
    };
    (0..next.len()).map(from).collect()
}
