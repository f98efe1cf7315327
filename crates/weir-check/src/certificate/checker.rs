//! Checks a certificate: an inductive set of configurations of views.
//!
//! In a configuration of views the history of memory states ends with `memory`; each
//! process has a position in it and may still see, in this order, the memory states of
//! its word. The set represents every configuration whose words are among those given, or
//! subwords of them, or suffixes of such subwords.
//!
//! Every process *rests*: its last action was a write that entered the history, an atomic
//! read-write or a full fence. Only these depend on the moment at which they happen; all other
//! actions can be delayed, since the process can still read the same values later. [`check`] checks
//! three conditions:
//!
//! 1. every initial configuration is in the set,
//! 2. if a process moves by itself and then takes one of these actions, the result is in
//!    the set, and so is the result when a waiting write enters,
//! 3. in no configuration can processes, each by itself, reach places that violate one of
//!    the properties.
//!
//! The steps are computed as they are defined. Each is computed once: what a process can do
//! depends on its control state, what it sees and the newest memory only, and many
//! configurations share these.

mod cover;
mod numbered;
mod read;
mod steps;
mod view;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{Atom, FenceKind, Program};
use weir_model::question::Question;
use weir_model::system::{Access, CodeStep, StateKind, System};

use self::cover::Cover;
use self::numbered::{Id, Memo, Numbered};
use self::steps::{Move, Moves, Place, Places, Start};
use self::words::{Set, Sets};
use super::{Certificate, FORMAT, VERSION};
use crate::Rejected;
use crate::truth::{is_settled, may_settle_at};

/// Checks that a certificate is an inductive set of the system under its model
/// that shows what it says of its properties, with up to so many threads.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, certificate: &Certificate, threads: usize) -> Result<(), Rejected> {
    check_for(system, certificate, &system.program, threads)
}

/// The same for a certificate that was made for a program, and is about a system that was
/// made of it.
pub(crate) fn check_for(
    system: &System,
    certificate: &Certificate,
    program: &Program,
    threads: usize,
) -> Result<(), Rejected> {
    certificate.header.check((FORMAT, VERSION), program)?;
    let model: MemoryModel = certificate.model.parse().map_err(Rejected::no_model)?;
    let checker = Checker::new(system, model, certificate)?;
    let configs = checker.read(certificate)?;
    let cover = Cover::new(&configs);
    let mut key = Vec::new();
    for initial in checker.initial() {
        if !cover.contains(&checker, &initial, &mut key) {
            return Err(Rejected::InitialOutside);
        }
    }
    first_rejection(&checker, threads, configs.len(), &|checker, number| {
        checker.stays(&cover, number, &configs[number], &certificate.properties)
    })
}

/// Checks configurations by their numbers. Each thread has a checker of its own.
///
/// # Errors
/// What is wrong with the first that is rejected.
fn first_rejection(
    checker: &Checker<'_>,
    threads: usize,
    count: usize,
    check: &(dyn Fn(&Checker<'_>, usize) -> Result<(), Rejected> + Sync),
) -> Result<(), Rejected> {
    let threads = threads.min(count / FEW).max(1);
    let block = count.div_ceil(threads * BLOCKS).max(1);
    let next = AtomicUsize::new(0);
    let first: Mutex<Option<(usize, Rejected)>> = Mutex::new(None);
    let lock = || first.lock().expect("no thread panics while it has the lock");
    // Blocks are taken in order: whatever comes before a rejected configuration is checked.
    let work = |checker: &Checker<'_>| {
        loop {
            let start = next.fetch_add(block, Ordering::Relaxed);
            if start >= count || lock().as_ref().is_some_and(|(number, _)| *number < start) {
                return;
            }
            for number in start..count.min(start + block) {
                if let Err(reason) = check(checker, number) {
                    let mut first = lock();
                    if first.as_ref().is_none_or(|(known, _)| number < *known) {
                        *first = Some((number, reason));
                    }
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let checker = checker.clone();
            let work = &work;
            scope.spawn(move || work(&checker));
        }
        work(checker);
    });
    let rejected = first.into_inner().expect("no thread panics while it has the lock");
    rejected.map_or(Ok(()), |(_, reason)| Err(reason))
}

/// For fewer configurations than this a thread is not worth its start.
const FEW: usize = 16;

/// The number of blocks into which the configurations of one thread are divided.
const BLOCKS: usize = 8;

/// A memory state; `None` for variables that do not matter to the process.
type Letter = Id<[Option<ValueId>]>;

/// The newest memory state.
type Memory = Id<[ValueId]>;

/// Some of the variables.
type Mask = Id<[bool]>;

/// What one process sees.
type ProcessViewId = Id<ProcessView>;

/// Control states of one process, one for each kind that a question can tell apart.
type Kinds = Id<[StateId]>;

/// A configuration: control states, newest memory, and what each process sees.
#[derive(Clone, Debug)]
struct Config {
    controls: Vec<StateId>,
    memory: Memory,
    views: Vec<ProcessViewId>,
}

impl Config {
    /// Control states and memory, in one list.
    fn write_key(&self, key: &mut Vec<u32>) {
        key.clear();
        key.extend(self.controls.iter().map(|c| c.0));
        key.push(self.memory.number());
    }
}

/// What one process sees: a first set, then own writes, each with the set of
/// what comes after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ProcessView {
    first: Set<Letter>,
    rest: Vec<(VarId, Letter, Set<Letter>)>,
    past: BTreeMap<VarId, Set<ValueId>>,
    stores: BTreeMap<VarId, (Set<ValueId>, ValueId)>,
}

impl ProcessView {
    /// The last set of the word.
    fn last(&mut self) -> &mut Set<Letter> {
        self.rest.last_mut().map_or(&mut self.first, |r| &mut r.2)
    }
}

#[derive(Clone)]
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
    everything: Mask,
    /// For each process and place of its code, the variables that it may read
    /// before its next full fence.
    reads: Vec<Vec<Mask>>,
    /// For each process and place of its code, the variables that it may write
    /// before its next fence for writes.
    writes: Vec<Vec<Mask>>,
    /// Whether some property tells all control states of a process apart.
    asks_all: bool,
    /// The atoms of each property that the certificate is about.
    asked: Vec<Vec<Atom>>,
    letters: Numbered<[Option<ValueId>]>,
    words: Sets<Letter>,
    values: Sets<ValueId>,
    memories: Numbered<[ValueId]>,
    masks: Numbered<[bool]>,
    views: Numbered<ProcessView>,
    /// The control states of a process that stand for all of their kind.
    kinds: Numbered<[StateId]>,
    piece: Memo<Letter, Set<Letter>>,
    narrowed: Memo<(Set<Letter>, Mask), Set<Letter>>,
    remembered: Memo<(Set<Letter>, VarId), Set<ValueId>>,
    seen: Memo<(Memory, Mask), Letter>,
    blanked: Memo<(Letter, Mask), Letter>,
    covered: Memo<(ProcessViewId, ProcessViewId), bool>,
    appended: Memo<(ProcessViewId, Mask, Letter, Letter, Option<VarId>), ProcessViewId>,
    reached: Memo<(Start, bool), Places>,
    moved: Memo<Start, Moves>,
    kinds_reached: Memo<(usize, Start), Kinds>,
    settled: Memo<(usize, Memory, Vec<Kinds>), bool>,
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
        if !(1..=64).contains(&certificate.level) {
            let reason = format!("level {} is not from 1 to 64", certificate.level);
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
        let masks = Numbered::default();
        let all = |asks: bool, f: &dyn Fn(ProcessId) -> Vec<Vec<bool>>| {
            let nothing =
                |p: ProcessId| vec![vec![false; system.vars.len()]; system.place_count(p)];
            let rows = |p: ProcessId| if asks { f(p) } else { nothing(p) };
            let numbered = |p: ProcessId| rows(p).into_iter().map(|row| masks.id(row)).collect();
            system.process_ids().map(numbered).collect()
        };
        let asked =
            |&p: &usize| Ok(system.questions.get(p).ok_or_else(Rejected::no_property)?.atoms());
        let asks_all = |&p: &usize| system.questions.get(p).is_some_and(Question::tells_all_apart);
        Ok(Self {
            system,
            level: certificate.level,
            buffers,
            stores,
            past: model.has(Relaxation::ReadRead),
            partial_fences,
            everything: masks.id(vec![true; system.vars.len()]),
            reads: all(buffers, &|p| ahead(system, p, &read, &is_full)),
            writes: all(stores, &|p| ahead(system, p, &written, &is_for_writes)),
            asks_all: certificate.properties.iter().any(asks_all),
            asked: certificate.properties.iter().map(asked).collect::<Result<_, Rejected>>()?,
            letters: Numbered::default(),
            words: Sets::new(certificate.level),
            values: Sets::new(certificate.level),
            memories: Numbered::default(),
            masks,
            views: Numbered::default(),
            kinds: Numbered::default(),
            piece: Memo::default(),
            narrowed: Memo::default(),
            remembered: Memo::default(),
            seen: Memo::default(),
            blanked: Memo::default(),
            covered: Memo::default(),
            appended: Memo::default(),
            reached: Memo::default(),
            moved: Memo::default(),
            kinds_reached: Memo::default(),
            settled: Memo::default(),
        })
    }

    /// Checks that every step from a configuration leads into the set, and that it settles no
    /// property.
    fn stays(
        &self,
        cover: &Cover<'_>,
        number: usize,
        config: &Config,
        properties: &[usize],
    ) -> Result<(), Rejected> {
        let place = || format!("configuration {number}");
        let here = |p: ProcessId| (config.controls[p.index()], config.views[p.index()]);
        let moves = |p| self.moves((p, here(p), config.memory));
        let moves = self.system.process_ids().map(moves).collect::<Result<Vec<_>, _>>()?;
        for (p, moves) in self.system.process_ids().zip(&moves) {
            let leaves = self.leaving(cover, config, p, moves);
            // Which control state has which number may differ from run to run.
            if let Some(step) = leaves.iter().map(|m| self.show(p, m)).min() {
                return Err(Rejected::LeadsOut { place: place(), step });
            }
        }
        for (i, &property) in properties.iter().enumerate() {
            if self.settles(config, i, property)? {
                let property = self.system.questions[property].name.clone();
                return Err(Rejected::Settled { place: place(), property });
            }
        }
        Ok(())
    }

    /// The moves of a process that lead out of the set.
    fn leaving<'m>(
        &self,
        cover: &Cover<'_>,
        config: &Config,
        p: ProcessId,
        moves: &'m [Move],
    ) -> Vec<&'m Move> {
        let mut key = Vec::new();
        let mut next = config.clone();
        let mut leaves = Vec::new();
        for m in moves {
            for q in self.system.process_ids().filter(|q| *q != p) {
                let view = config.views[q.index()];
                next.views[q.index()] = match m.writes() {
                    true => {
                        let place = (config.controls[q.index()], view);
                        self.append(q, place, (config.memory, m.memory), None)
                    }
                    false => view,
                };
            }
            next.controls[p.index()] = m.to;
            next.views[p.index()] = m.view;
            next.memory = m.memory;
            if !cover.contains(self, &next, &mut key) {
                leaves.push(m);
            }
        }
        leaves
    }

    /// A move in words.
    fn show(&self, p: ProcessId, m: &Move) -> String {
        let name = &self.system.processes[p.index()].name;
        let waiting = if m.waited { "a waiting " } else { "" };
        format!("{waiting}{} of `{name}`", self.system.show_op(m.op))
    }

    /// Whether processes can go by themselves to where they settle a property, which is the
    /// `i`-th of the certificate.
    fn settles(&self, config: &Config, i: usize, property: usize) -> Result<bool, Rejected> {
        let question = self.system.questions.get(property).ok_or_else(Rejected::no_property)?;
        let kinds = |p: ProcessId| {
            let place = (config.controls[p.index()], config.views[p.index()]);
            let key = (i, (p, place, config.memory));
            self.kinds_reached.of(key, || self.kinds_from(question, p, place, config.memory))
        };
        let kinds: Vec<Kinds> = self.system.process_ids().map(kinds).collect();
        Ok(self.settled.of((i, config.memory, kinds.clone()), || {
            let memory = self.memories.get(config.memory);
            let mut ways: Vec<Vec<StateId>> = vec![vec![]];
            for kinds in &kinds {
                let kinds = self.kinds.get(*kinds);
                let with =
                    |way: &Vec<StateId>, c: &StateId| way.iter().copied().chain([*c]).collect();
                ways = ways.iter().flat_map(|w| kinds.iter().map(move |c| with(w, c))).collect();
            }
            ways.iter().any(|controls| is_settled(self.system, question, controls, &memory))
        }))
    }

    /// The control states, one of each kind, to which a process can go by itself, as far as
    /// they may settle a question.
    fn kinds_from(&self, question: &Question, p: ProcessId, place: Place, memory: Memory) -> Kinds {
        let system = self.system;
        let atoms = question.atoms();
        let values = self.memories.get(memory);
        // With buffers, memory at a moment is that of a history that ends then.
        let ended = self.buffers && question.asks_for_memory_under_way();
        let mut kinds = BTreeMap::new();
        for &(control, view) in self.places((p, place, memory), ended).iter() {
            let is_idle = self.views.with(view, |view| view.stores.is_empty());
            if question.is_about_rest() && !is_idle
                || !may_settle_at(system, question, (p, control), &values)
            {
                continue;
            }
            let has_ended = system.state(p, control).kind == StateKind::Ended;
            let itself = question.tells_all_apart().then_some(control);
            let kind = kinds.entry((self.kind(&atoms, p, control), has_ended, itself));
            let known = kind.or_insert(control);
            *known = control.min(*known);
        }
        self.kinds.id(kinds.into_values().collect::<Vec<StateId>>())
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
