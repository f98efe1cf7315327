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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use weir_model::answer::Words;
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{Atom, FenceKind, Program, PropertyKind, Quantifier};
use weir_model::system::{Access, CodeStep, Op, Seen, StateKind, System};

use super::{Certificate, FORMAT, VERSION};
use crate::header;
use crate::witness::{find_states, is_followed};

/// Checks that a certificate is an inductive set of the system under its model
/// that shows what it says of its properties.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, certificate: &Certificate) -> Result<(), String> {
    check_for(system, certificate, &system.program)
}

/// The same for a certificate that was made for a program, and is about a system that was
/// made of it.
pub(crate) fn check_for(
    system: &System,
    certificate: &Certificate,
    program: &Program,
) -> Result<(), String> {
    let Certificate { format, version, fingerprint, .. } = certificate;
    header::check((format, *version, fingerprint), (FORMAT, VERSION), program)?;
    let model: MemoryModel = certificate.model.parse().map_err(|e| format!("memory model: {e}"))?;
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
            return Err("an initial configuration is not in the set".to_owned());
        }
    }
    for (number, set) in sets.iter().enumerate() {
        let place = || format!("configuration {number}");
        for (what, next) in checker.successors(set)? {
            if !contains(&next) {
                return Err(format!("{}: {what} leads out of the set", place()));
            }
        }
        for &property in &certificate.properties {
            if checker.settles(set, property)? {
                let name = system.property_name(property);
                return Err(format!("{}: it is one that `{name}` rules out", place()));
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

/// An action, and its result.
type Successor = (String, (State, Vec<Sight>));

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
    ) -> Result<Self, String> {
        let normal = model.normal().with(Relaxation::Rwf);
        let known = [MemoryModel::TSO.with(Relaxation::Rwf), MemoryModel::PSO, MemoryModel::NSW];
        if model.normal() != MemoryModel::SC && !known.contains(&normal) {
            return Err(format!("there are no certificates for {model}"));
        }
        if !(1..=8).contains(&certificate.level) {
            return Err(format!("level {} is not from 1 to 8", certificate.level));
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
        let asked = |&p: &usize| {
            let property = system.program.properties.get(p).ok_or("there is no such property")?;
            Ok(atoms(system, &property.kind))
        };
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
            asked: certificate.properties.iter().map(asked).collect::<Result<_, String>>()?,
        })
    }

    /// Reads the configurations of a certificate.
    fn read(&self, certificate: &Certificate) -> Result<Vec<(State, Vec<Sight>)>, String> {
        let system = self.system;
        let names: Vec<String> = system.vars.iter().map(|v| v.name.clone()).collect();
        if certificate.variables != names {
            return Err("the variables are not those of the program".to_owned());
        }
        let value = |x: VarId, v: i128| Ok::<_, String>(system.vars[x.index()].id(v));
        let variable = |name: &String| {
            let found = names.iter().position(|n| n == name).map(VarId::new);
            found.ok_or_else(|| format!("there is no variable `{name}`"))
        };
        let vars = || (0..system.vars.len()).map(VarId::new);
        let mut letters: Vec<Letter> = Vec::new();
        for letter in &certificate.letters {
            if letter.len() != names.len() {
                return Err("a letter does not have the variables of the program".to_owned());
            }
            let cells = vars().zip(letter).map(|(x, v)| v.map(|v| value(x, v)).transpose());
            letters.push(cells.collect::<Result<_, _>>()?);
        }
        let letter = |&l: &u32| {
            letters.get(l as usize).cloned().ok_or_else(|| format!("there is no letter {l}"))
        };
        let words = |words: &Words| -> Result<Set<Letter>, String> {
            words.iter().map(|w| w.iter().map(letter).collect()).collect::<Result<_, _>>()
        };
        let values = |x: VarId, words: &Vec<Vec<i128>>| -> Result<Set<ValueId>, String> {
            words.iter().map(|w| w.iter().map(|&v| value(x, v)).collect()).collect::<Result<_, _>>()
        };
        let mut all = Vec::new();
        for configuration in &certificate.configurations {
            let n = system.processes.len();
            if configuration.views.len() != n {
                return Err("a configuration does not have the processes of the program".to_owned());
            }
            if configuration.memory.len() != names.len() {
                return Err("a memory does not have the variables of the program".to_owned());
            }
            let memory = vars().zip(&configuration.memory).map(|(x, &v)| value(x, v));
            let state = State {
                controls: find_states(system, &configuration.states)?,
                memory: memory.collect::<Result<_, _>>()?,
            };
            let mut sights = Vec::new();
            for view in &configuration.views {
                if view.segments.len() != view.marks.len() + 1 {
                    return Err("a view needs one more segment than marks".to_owned());
                }
                let mut sight = Sight { first: words(&view.segments[0])?, ..Sight::newest() };
                for (mark, segment) in view.marks.iter().zip(&view.segments[1..]) {
                    let own = (variable(&mark.variable)?, letter(&mark.letter)?, words(segment)?);
                    sight.rest.push(own);
                }
                for past in &view.past {
                    let x = variable(&past.variable)?;
                    sight.past.insert(x, values(x, &past.values)?);
                }
                for stores in &view.stores {
                    let x = variable(&stores.variable)?;
                    let entry = (values(x, &stores.older)?, value(x, stores.last)?);
                    sight.stores.insert(x, entry);
                }
                self.is_closed(&sight)?;
                sights.push(sight);
            }
            all.push((state, sights));
        }
        Ok(all)
    }

    /// Sets of words have to be closed under subwords, within the level.
    fn is_closed(&self, sight: &Sight) -> Result<(), String> {
        fn closed<L: Clone + Ord>(set: &Set<L>, level: usize) -> bool {
            let shorter = |w: &Vec<L>| {
                w.len() <= 1
                    || (0..w.len()).all(|skip| {
                        let mut w = w.clone();
                        w.remove(skip);
                        set.contains(&w)
                    })
            };
            set.iter().all(|w| !w.is_empty() && w.len() <= level && shorter(w))
        }
        let segments = [&sight.first].into_iter().chain(sight.rest.iter().map(|r| &r.2));
        let stores = sight.stores.values().map(|s| &s.0);
        let fine = segments.into_iter().all(|s| closed(s, self.level))
            && sight.past.values().chain(stores).all(|s| closed(s, self.level));
        if fine { Ok(()) } else { Err("a set of words lacks a subword".to_owned()) }
    }

    /// Subwords of `uv`.
    fn concat<L: Clone + Ord>(&self, first: &Set<L>, second: &Set<L>) -> Set<L> {
        let mut all: Set<L> = first.union(second).cloned().collect();
        for u in first {
            for v in second.iter().filter(|v| u.len() + v.len() <= self.level) {
                all.insert(u.iter().chain(v).cloned().collect());
            }
        }
        all
    }

    /// Subwords of `v`, for words `uav` of the set: known are those `v` for which
    /// `av` is in the set, and longer ones all of whose parts are known.
    fn behind<L: Clone + Ord>(&self, set: &Set<L>, letter: &L) -> Set<L> {
        self.beside(set, |v| [letter].into_iter().chain(v).cloned().collect())
    }

    /// Subwords of `u`, for words `uav` of the set.
    fn before<L: Clone + Ord>(&self, set: &Set<L>, letter: &L) -> Set<L> {
        self.beside(set, |u| u.iter().chain([letter]).cloned().collect())
    }

    fn beside<L: Clone + Ord>(&self, set: &Set<L>, joined: impl Fn(&[L]) -> Vec<L>) -> Set<L> {
        let known = |w: &[L]| w.len() >= self.level || set.contains(&joined(w));
        let parts_known = |w: &Vec<L>| {
            (0..w.len()).all(|skip| {
                let mut part = w.clone();
                part.remove(skip);
                known(&part)
            })
        };
        set.iter().filter(|w| known(w) && parts_known(w)).cloned().collect()
    }

    /// What a letter is in a set of words. At level 1 it cannot be told which
    /// values stood together, so it is letters of one variable each.
    fn pieces(&self, letter: &Letter) -> Set<Letter> {
        if self.level > 1 {
            return Set::from([vec![letter.clone()]]);
        }
        let kept = (0..letter.len()).filter(|&x| letter[x].is_some());
        let piece = |x: usize| {
            let mut piece = vec![None; letter.len()];
            piece[x] = letter[x];
            vec![piece]
        };
        kept.map(piece).collect()
    }

    /// What `p` sees of a memory state in a control state.
    fn see(&self, p: ProcessId, state: StateId, memory: &[ValueId]) -> Letter {
        let mask = self.reads(p, state);
        memory.iter().zip(mask).map(|(v, m)| m.then_some(*v)).collect()
    }

    /// What is left of a sight when the process has come to a control state.
    fn narrow(&self, p: ProcessId, state: StateId, sight: Sight) -> Sight {
        let mask = self.reads(p, state);
        let blank =
            |l: &Letter| -> Letter { l.iter().zip(mask).map(|(v, m)| v.filter(|_| *m)).collect() };
        let words = |s: &Set<Letter>| -> Set<Letter> {
            let blanked = s.iter().map(|w| w.iter().map(blank).collect::<Vec<_>>());
            blanked.filter(|w| w.iter().flatten().any(Option::is_some)).collect()
        };
        let mut narrow = Sight { first: words(&sight.first), ..sight.clone() };
        narrow.rest.clear();
        for (x, letter, after) in &sight.rest {
            if mask[x.index()] {
                narrow.rest.push((*x, blank(letter), words(after)));
            } else {
                let here = self.concat(&self.pieces(&blank(letter)), &words(after));
                let last = narrow.last().clone();
                *narrow.last() = self.concat(&last, &here);
            }
        }
        narrow.past.retain(|x, _| mask[x.index()]);
        if !mask.contains(&true) {
            narrow.first.clear();
        }
        narrow
    }

    /// Whether whatever `other` may see `sight` may see as well, having come
    /// past some of its own writes if need be.
    fn covers(&self, sight: &Sight, other: &Sight) -> bool {
        let stores = sight.stores.len() == other.stores.len()
            && sight
                .stores
                .iter()
                .zip(&other.stores)
                .all(|((x, a), (y, b))| x == y && a.1 == b.1 && b.0.is_subset(&a.0));
        let past = other.past.iter().all(|(x, theirs)| {
            theirs.is_empty() || sight.past.get(x).is_some_and(|ours| theirs.is_subset(ours))
        });
        let Some(passed) = sight.rest.len().checked_sub(other.rest.len()) else { return false };
        let first = match passed {
            0 => sight.first.clone(),
            _ => {
                let (_, letter, after) = &sight.rest[passed - 1];
                self.concat(&self.pieces(letter), after)
            }
        };
        let rest = sight.rest[passed..].iter().zip(&other.rest).all(|(ours, theirs)| {
            (ours.0, &ours.1) == (theirs.0, &theirs.1) && theirs.2.is_subset(&ours.2)
        });
        stores && past && rest && other.first.is_subset(&first)
    }

    /// Removes stuttering: drops a set before the same letter.
    fn tidy(&self, mut sight: Sight, newest: &Letter) -> Sight {
        let nexts: Vec<Letter> =
            sight.rest.iter().map(|r| r.1.clone()).chain([newest.clone()]).collect();
        let sets = [&mut sight.first].into_iter().chain(sight.rest.iter_mut().map(|r| &mut r.2));
        for (set, next) in sets.zip(nexts) {
            if set.is_subset(&self.pieces(&next)) {
                set.clear();
            }
        }
        sight
    }

    fn initial(&self) -> Vec<(State, Vec<Sight>)> {
        let mut memories: Vec<Vec<ValueId>> = vec![vec![]];
        for var in self.system.vars.iter() {
            let longer = |m: &Vec<ValueId>| {
                let m = m.clone();
                var.initial.iter().map(move |v| m.iter().copied().chain([*v]).collect())
            };
            memories = memories.iter().flat_map(longer).collect();
        }
        let controls: Vec<StateId> = self.system.processes.iter().map(|p| p.initial).collect();
        let sights = vec![Sight::newest(); controls.len()];
        memories
            .into_iter()
            .map(|memory| (State { controls: controls.clone(), memory }, sights.clone()))
            .collect()
    }

    /// Every step of every process: it goes somewhere by itself and acts, or a
    /// write of it that has waited enters the history.
    fn successors(&self, config: &(State, Vec<Sight>)) -> Result<Vec<Successor>, String> {
        let (state, sights) = config;
        let mut all = Vec::new();
        for p in self.system.process_ids() {
            let name = &self.system.processes[p.index()].name;
            for (control, sight) in self.places(config, p, false) {
                is_followed(self.system, p, control)?;
                let see = |x: VarId, atomic: bool| match atomic || !self.buffers {
                    true => Seen::One(state.memory[x.index()]),
                    false => Seen::Among(vec![]),
                };
                for (_, t) in self.system.steps(p, control, see) {
                    let mut sights = sights.clone();
                    sights[p.index()] = sight.clone();
                    let mut next = state.clone();
                    next.controls[p.index()] = t.to;
                    if let Some(next) = self.act(next, sights, p, t.op) {
                        let what = format!("{} of `{name}`", self.system.show_op(t.op));
                        all.push((what, self.rest(next, p)));
                    }
                }
            }
            for (&x, (older, last)) in &sights[p.index()].stores {
                let write = |value: ValueId, rest: Option<Set<ValueId>>| {
                    let mut sights = sights.clone();
                    let stores = &mut sights[p.index()].stores;
                    let own = rest.is_none();
                    match rest {
                        Some(rest) => stores.insert(x, (rest, *last)),
                        None => stores.remove(&x),
                    };
                    let what = format!(
                        "a waiting {} of `{name}`",
                        self.system.show_op(Op::Write(x, value))
                    );
                    (what, self.rest(self.append(state, &sights, p, (x, value), own), p))
                };
                all.extend(
                    older
                        .iter()
                        .filter(|w| w.len() == 1)
                        .map(|w| write(w[0], Some(self.behind(older, &w[0])))),
                );
                all.push(write(*last, None));
            }
        }
        Ok(all)
    }

    /// Where a process can go by itself. With `ended`, nothing enters the
    /// history any more and it goes on with writes that only it will ever see.
    fn places(
        &self,
        (state, sights): &(State, Vec<Sight>),
        p: ProcessId,
        ended: bool,
    ) -> BTreeSet<(StateId, Sight)> {
        let start = (state.controls[p.index()], sights[p.index()].clone());
        let mut all = BTreeSet::from([start.clone()]);
        let mut work = vec![start];
        while let Some((control, sight)) = work.pop() {
            let see = |x: VarId, atomic: bool| match atomic || !self.buffers {
                true => Seen::Among(vec![]),
                false => Seen::among(
                    self.visible(&sight, x).into_iter().chain([state.memory[x.index()]]),
                ),
            };
            for (_, t) in self.system.steps(p, control, see) {
                let newest = self.see(p, t.to, &state.memory);
                for look in self.alone(&sight, &state.memory, t.op, ended) {
                    // A write that nothing will overtake would not have waited.
                    let writes = self.writes(p, t.to);
                    let overtaken =
                        |x: &VarId| writes.iter().enumerate().any(|(y, w)| *w && y != x.index());
                    if !ended && !look.stores.keys().all(overtaken) {
                        continue;
                    }
                    let place = (t.to, self.tidy(self.narrow(p, t.to, look), &newest));
                    if all.insert(place.clone()) {
                        work.push(place);
                    }
                }
            }
        }
        all
    }

    /// The values of a variable that a process may read, besides that of the newest memory:
    /// what stands in the past and in the word, from an own write to the variable on.
    fn visible(&self, sight: &Sight, x: VarId) -> Vec<ValueId> {
        if let Some((_, last)) = sight.stores.get(&x) {
            return vec![*last];
        }
        let own = sight.rest.iter().position(|(y, ..)| *y == x);
        let rest = &sight.rest[own.unwrap_or(0)..];
        let before = if own.is_none() { Some(&sight.first) } else { None };
        let sets = before.into_iter().chain(rest.iter().map(|(_, _, set)| set));
        let letters = sets.flatten().flatten().chain(rest.iter().map(|(_, letter, _)| letter));
        let past = sight.past.get(&x).filter(|_| own.is_none()).into_iter().flatten().flatten();
        letters.filter_map(|l| l[x.index()]).chain(past.copied()).collect()
    }

    /// The variables that a process may read before its next full fence.
    fn reads(&self, p: ProcessId, state: StateId) -> &[bool] {
        self.at(&self.reads[p.index()], p, state)
    }

    /// The variables that a process may write before its next fence for writes.
    fn writes(&self, p: ProcessId, state: StateId) -> &[bool] {
        self.at(&self.writes[p.index()], p, state)
    }

    fn at<'t>(&'t self, rows: &'t [Vec<bool>], p: ProcessId, state: StateId) -> &'t [bool] {
        self.system.state(p, state).place().map_or(&self.everything, |place| &rows[place])
    }

    /// What a process sees after an operation that other processes do not observe.
    fn alone(&self, sight: &Sight, memory: &[ValueId], op: Op, ended: bool) -> Vec<Sight> {
        let idle = sight.stores.is_empty();
        match op {
            Op::Nop => vec![sight.clone()],
            Op::Read(x, d) if self.buffers => self.look(sight, x, d, memory),
            Op::Write(x, d) if self.stores || ended => {
                let mut sight = sight.clone();
                sight.past.remove(&x);
                let one = |v: ValueId| Set::from([vec![v]]);
                let older = match sight.stores.get(&x) {
                    Some((older, last)) if !ended => self.concat(older, &one(*last)),
                    Some((older, _)) => older.clone(),
                    None => Set::new(),
                };
                sight.stores.insert(x, (older, d));
                vec![self.unmark(sight, x)]
            }
            Op::Fence(FenceKind::Full) if ended && idle => vec![Sight::newest()],
            Op::Fence(FenceKind::Write) if ended || idle || !self.partial_fences => {
                vec![sight.clone()]
            }
            Op::Fence(FenceKind::Read) if self.partial_fences => {
                vec![Sight { past: BTreeMap::new(), ..sight.clone() }]
            }
            Op::Fence(FenceKind::Read) => vec![sight.clone()],
            _ => vec![],
        }
    }

    /// The successor of a configuration, in which a process has moved forward already,
    /// by an operation that depends on when it happens.
    fn act(
        &self,
        state: State,
        mut sights: Vec<Sight>,
        p: ProcessId,
        op: Op,
    ) -> Option<(State, Vec<Sight>)> {
        let sight = &mut sights[p.index()];
        let idle = sight.stores.is_empty();
        match op {
            Op::Read(x, d) if !self.buffers && state.memory[x.index()] == d => {}
            Op::Write(x, d) if !sight.stores.contains_key(&x) => {
                sight.past.remove(&x);
                return Some(self.append(&state, &sights, p, (x, d), true));
            }
            Op::Arw(x, d, e) if idle && state.memory[x.index()] == d => {
                let (state, mut sights) = self.append(&state, &sights, p, (x, e), false);
                sights[p.index()] = Sight::newest();
                return Some((state, sights));
            }
            Op::Fence(FenceKind::Full) if idle => *sight = Sight::newest(),
            _ => return None,
        }
        Some((state, sights))
    }

    /// A process that can do nothing before a full fence may as well be behind
    /// it, if that is no matter to the properties: it lags no less.
    fn rest(
        &self,
        (mut state, mut sights): (State, Vec<Sight>),
        p: ProcessId,
    ) -> (State, Vec<Sight>) {
        // As long as it may take, but not for ever.
        for _ in 0..u8::MAX {
            let here = state.controls[p.index()];
            let mut transitions = self.system.steps(p, here, |_, _| Seen::Among(vec![]));
            let to = match (transitions.next(), transitions.next()) {
                (Some((_, t)), None) if t.op == Op::Fence(FenceKind::Full) => t.to,
                _ => break,
            };
            let told_apart =
                |atoms: &Vec<Atom>| self.kind(atoms, p, here) != self.kind(atoms, p, to);
            if !sights[p.index()].stores.is_empty() || self.asked.iter().any(told_apart) {
                break;
            }
            state.controls[p.index()] = to;
            sights[p.index()] = Sight::newest();
        }
        (state, sights)
    }

    /// All that atoms can tell of where a process is.
    fn kind(&self, atoms: &[Atom], p: ProcessId, control: StateId) -> (Vec<i128>, bool) {
        let mut controls = vec![0; self.system.processes.len()];
        controls[p.index()] = control.0;
        let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
        let values = atoms.iter().filter(own).map(|a| self.system.atom(*a, &controls, &[]));
        let has_failed = matches!(self.system.state(p, control).kind, StateKind::Failed(_));
        (values.collect(), has_failed)
    }

    /// A write enters the history; `own` if its process reads it from now on.
    fn append(
        &self,
        state: &State,
        sights: &[Sight],
        p: ProcessId,
        (x, value): (VarId, ValueId),
        own: bool,
    ) -> (State, Vec<Sight>) {
        let mut next = state.clone();
        next.memory[x.index()] = value;
        let mut seen = sights.to_vec();
        for q in self.system.process_ids() {
            let at = state.controls[q.index()];
            let mut sight = self.narrow(q, at, sights[q.index()].clone());
            let (old, new) = (self.see(q, at, &state.memory), self.see(q, at, &next.memory));
            let mark = own && p == q && self.reads(q, at)[x.index()];
            if mark || old != new {
                let at_mark = sight.rest.last().is_some_and(|r| r.2.is_empty() && r.1 == old);
                if !at_mark {
                    let last = sight.last().clone();
                    *sight.last() = self.concat(&last, &self.pieces(&old));
                }
            }
            if mark {
                sight = self.unmark(sight, x);
                sight.rest.push((x, new.clone(), Set::new()));
            }
            seen[q.index()] = self.tidy(sight, &new);
        }
        (next, seen)
    }

    /// An own write that is not the last any more is a letter like any other.
    fn unmark(&self, mut sight: Sight, x: VarId) -> Sight {
        if let Some(i) = sight.rest.iter().position(|r| r.0 == x) {
            let (_, letter, after) = sight.rest.remove(i);
            let here = self.concat(&self.pieces(&letter), &after);
            let before = if i == 0 { &mut sight.first } else { &mut sight.rest[i - 1].2 };
            *before = self.concat(before, &here);
        }
        sight
    }

    /// A process reads a value: as early in its word as it can.
    fn look(&self, sight: &Sight, x: VarId, d: ValueId, newest: &[ValueId]) -> Vec<Sight> {
        if let Some((_, last)) = sight.stores.get(&x) {
            return if *last == d { vec![sight.clone()] } else { vec![] };
        }
        let has = |l: &Letter| l[x.index()] == Some(d);
        let mut now = sight.clone();
        if let Some(i) = sight.rest.iter().position(|r| r.0 == x) {
            if has(&sight.rest[i].1) {
                return vec![now];
            }
            for _ in 0..=i {
                now = self.pass(now);
            }
            now.past.remove(&x);
        } else if let Some(past) = sight.past.get(&x).filter(|past| past.contains(&vec![d])) {
            let left = self.concat(&Set::from([vec![d]]), &self.behind(past, &d));
            now.past.insert(x, left);
            return vec![now];
        }
        loop {
            let places: Vec<&Letter> =
                now.first.iter().filter(|w| w.len() == 1 && has(&w[0])).map(|w| &w[0]).collect();
            if self.level == 1 && !places.is_empty() {
                return vec![now];
            }
            if !places.is_empty() {
                let stand = |letter: &&Letter| {
                    let before = self.before(&now.first, letter);
                    let mut there = self.remember(Sight { first: before, ..now.clone() });
                    there.past.remove(&x);
                    let left = self.behind(&now.first, letter);
                    there.first = self.concat(&Set::from([vec![(*letter).clone()]]), &left);
                    there
                };
                return places.iter().map(stand).collect();
            }
            let Some((_, letter, _)) = now.rest.first().cloned() else { break };
            now = self.pass(now);
            now.past.remove(&x);
            if has(&letter) {
                now.first = self.concat(&self.pieces(&letter), &now.first);
                return vec![now];
            }
        }
        if newest[x.index()] != d {
            return vec![];
        }
        now = self.remember(now);
        now.past.remove(&x);
        now.first.clear();
        vec![now]
    }

    /// What a process leaves behind it can be read later, if reads overtake.
    fn remember(&self, mut sight: Sight) -> Sight {
        if self.past {
            for x in (0..self.system.vars.len()).map(VarId::new) {
                let values: Set<ValueId> = sight
                    .first
                    .iter()
                    .filter_map(|w| w.iter().map(|l| l[x.index()]).collect::<Option<_>>())
                    .collect();
                if !values.is_empty() {
                    let past = sight.past.remove(&x).unwrap_or_default();
                    sight.past.insert(x, self.concat(&past, &values));
                }
            }
        }
        sight
    }

    /// A process comes past its first own write, which has reached memory.
    fn pass(&self, sight: Sight) -> Sight {
        let mut sight = self.remember(sight);
        let (x, letter, after) = sight.rest.remove(0);
        sight.past.remove(&x);
        sight.first = self.pieces(&letter);
        let mut sight = self.remember(sight);
        sight.first = after;
        sight
    }

    /// Whether processes can go by themselves to where they settle a property.
    fn settles(&self, config: &(State, Vec<Sight>), property: usize) -> Result<bool, String> {
        let system = self.system;
        let property =
            system.program.properties.get(property).ok_or("there is no such property")?;
        let atoms = atoms(system, &property.kind);
        let memory: Vec<u32> = config.0.memory.iter().map(|v| v.0).collect();
        // With buffers, memory at a moment is that of a history that ends then.
        let is_never = matches!(property.kind, PropertyKind::Never(_));
        let ended = self.buffers && is_never && atoms.iter().any(|a| matches!(a, Atom::Var(_)));
        let mut ways: Vec<Vec<u32>> = vec![vec![]];
        for p in system.process_ids() {
            let mut kinds = BTreeMap::new();
            for (control, sight) in self.places(config, p, ended) {
                let kind = self.kind(&atoms, p, control);
                let state = &system.state(p, control).kind;
                let idle = sight.stores.is_empty();
                let kind = match &property.kind {
                    PropertyKind::Never(_) | PropertyKind::Assertions => (kind, false),
                    PropertyKind::Final(..) if idle && *state == StateKind::Ended => (kind, true),
                    PropertyKind::NoDeadlock if idle && system.is_stuck(p, control, &memory) => {
                        (kind, *state == StateKind::Ended)
                    }
                    _ => continue,
                };
                kinds.insert(kind, control.0);
            }
            let with = |way: &Vec<u32>, c: &u32| way.iter().copied().chain([*c]).collect();
            ways = ways.iter().flat_map(|w| kinds.values().map(move |c| with(w, c))).collect();
        }
        Ok(ways.iter().any(|controls| match &property.kind {
            PropertyKind::Never(formula) => system.holds(formula, controls, &memory),
            PropertyKind::Assertions => system.failed(controls).is_some(),
            PropertyKind::NoDeadlock => system.is_deadlock(controls, &memory),
            PropertyKind::Final(quantifier, formula) => {
                let filter = system.program.filter.as_ref();
                system.all_ended(controls)
                    && filter.is_none_or(|f| system.holds(f, controls, &memory))
                    && system.holds(formula, controls, &memory)
                        == (*quantifier != Quantifier::Always)
            }
        }))
    }
}

/// The atoms that a property is about.
fn atoms(system: &System, kind: &PropertyKind) -> Vec<Atom> {
    let formulas = match kind {
        PropertyKind::Never(formula) => vec![formula],
        PropertyKind::Final(_, formula) => {
            [formula].into_iter().chain(&system.program.filter).collect()
        }
        PropertyKind::Assertions | PropertyKind::NoDeadlock => vec![],
    };
    let mut atoms = Vec::new();
    formulas.iter().for_each(|f| f.atoms(&mut |a| atoms.push(*a)));
    atoms
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
