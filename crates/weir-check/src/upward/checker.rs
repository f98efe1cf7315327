//! Checks that an upward-closed set proves a property.
//!
//! A state has memory, and for each process its waiting writes and the messages that it
//! has not seen. The set represents every state at or above one of its states: the same
//! control states, with longer words. [`check`] checks three conditions:
//!
//! 1. every state that violates the property is in the set,
//! 2. every predecessor of a state of the set is in the set,
//! 3. no initial state is in the set.
//!
//! For 2 it inverts every rule of `docs/certificate.md` on every minimal state, and
//! considers the states above it. The code is short and slow.

use std::collections::BTreeMap;
use std::ops::Range;

use weir_model::answer::{UpwardBuffers, UpwardMessage, UpwardState};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::question::Question;
use weir_model::system::{Access, Expanded, Op, System};

use super::{FORMAT, UpwardSets, VERSION, read, vars};
use crate::Rejected;
use crate::truth::{is_settled, may_settle_at};
use crate::witness::{expanded, is_followed};

/// Checks that each set shows that its property is never settled, or that a
/// `final exists` is not met.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(system: &System, sets: &UpwardSets) -> Result<(), Rejected> {
    sets.header.check((FORMAT, VERSION), &system.program)?;
    let model: MemoryModel = sets.model.parse().map_err(Rejected::no_model)?;
    let names: Vec<String> = system.vars.iter().map(|v| v.name.clone()).collect();
    if sets.variables != names {
        return Err(Rejected::malformed("the variables are not those of the program"));
    }
    let checker = Checker::new(system, model)?;
    for p in system.process_ids() {
        for s in checker.all.states(p) {
            is_followed(system, p, s)?;
        }
    }
    for set in &sets.sets {
        let states: Result<Vec<_>, _> = set.states.iter().map(|s| read(system, s)).collect();
        checker.check(set.property, &states?)?;
    }
    Ok(())
}

struct Checker<'s> {
    system: &'s System,
    all: Expanded<'s>,
    /// All variables: of a control state at no known place nothing is known.
    everything: Vec<bool>,
    /// Writes wait: `w->w`.
    stores: bool,
    /// Reads overtake reads: `r->r`.
    past: bool,
    /// Partial fences do something: RWF.
    partial_fences: bool,
}

/// Where in a process something may be: for each place of its code, by variable.
type Places = Vec<Vec<bool>>;

impl<'s> Checker<'s> {
    fn new(system: &'s System, model: MemoryModel) -> Result<Self, Rejected> {
        let normal = model.normal().with(Relaxation::Rwf);
        let known = [MemoryModel::TSO.with(Relaxation::Rwf), MemoryModel::PSO, MemoryModel::NSW];
        if !known.contains(&normal) {
            return Err(Rejected::Model { what: "upward-closed sets", model: model.to_string() });
        }
        let model = model.normal();
        Ok(Self {
            system,
            all: expanded(system),
            everything: vec![true; system.vars.len()],
            stores: model.has(Relaxation::WriteWrite),
            past: model.has(Relaxation::ReadRead),
            partial_fences: model.has(Relaxation::Rwf),
        })
    }

    fn check(&self, property: usize, states: &[UpwardState]) -> Result<(), Rejected> {
        let question = self.system.questions.get(property);
        let question = question.ok_or_else(Rejected::no_property)?;
        let name = &question.name;
        let mut by_controls: BTreeMap<&[StateId], Vec<&UpwardState>> = BTreeMap::new();
        for state in states {
            by_controls.entry(&state.controls).or_default().push(state);
        }
        let contains = |state: &UpwardState| {
            let stored = by_controls.get(state.controls.as_slice());
            stored.is_some_and(|stored| stored.iter().any(|s| is_below(s, state)))
        };
        for bad in self.bad(question)? {
            if !contains(&bad) {
                return Err(Rejected::Missing { state: format!("a state that settles `{name}`") });
            }
        }
        let rules: Vec<Rules> = self.system.process_ids().map(|p| self.rules(p)).collect();
        for (number, state) in states.iter().enumerate() {
            let place = || format!("state {number} for `{name}`");
            if self.is_initial(state) {
                return Err(Rejected::InitialInside { place: place() });
            }
            for p in self.system.process_ids() {
                for (what, before) in self.before(state, p, &rules[p.index()]) {
                    if !contains(&before) {
                        let process = &self.system.processes[p.index()].name;
                        let step = format!("{what} of `{process}`");
                        return Err(Rejected::LeadsIn { place: place(), step });
                    }
                }
            }
        }
        Ok(())
    }

    /// All states that settle a question, with empty buffers: others can empty
    /// theirs first.
    fn bad(&self, question: &Question) -> Result<Vec<UpwardState>, Rejected> {
        let system = self.system;
        if question.asks_for_memory_under_way() {
            let reason = "upward-closed sets do not speak of memory at a moment";
            return Err(Rejected::SettlesNothing(reason.to_owned()));
        }
        let values = |x: VarId| match question.asks_for(x) {
            true => self.all.values(x).iter().map(|v| Some(*v)).collect(),
            false => vec![None],
        };
        let mut bad = Vec::new();
        for memory in product(&vars(system).map(values).collect::<Vec<_>>()) {
            let known: Vec<ValueId> = memory.iter().map(|v| v.unwrap_or(ValueId(0))).collect();
            let places = system.process_ids().map(|p| {
                let fits = |s: &StateId| may_settle_at(system, question, (p, *s), &known);
                self.all.states(p).filter(fits).collect::<Vec<_>>()
            });
            for controls in product(&places.collect::<Vec<_>>()) {
                if is_settled(system, question, &controls, &known) {
                    bad.push(UpwardState {
                        controls,
                        memory: memory.clone(),
                        buffers: vec![UpwardBuffers::default(); system.processes.len()],
                    });
                }
            }
        }
        Ok(bad)
    }

    fn is_initial(&self, state: &UpwardState) -> bool {
        let system = self.system;
        let may_be = |x: VarId, v: &Option<ValueId>| {
            v.is_none_or(|v| system.vars[x.index()].initial.contains(&v))
        };
        state.buffers.iter().all(|b| *b == UpwardBuffers::default())
            && system.processes.iter().zip(&state.controls).all(|(p, s)| p.initial == *s)
            && vars(system).zip(&state.memory).all(|(x, v)| may_be(x, v))
    }

    fn rules(&self, p: ProcessId) -> Rules {
        let is_full =
            |access: &Access| matches!(access, Access::Arw(_) | Access::Fence(FenceKind::Full));
        let is_for_writes = |access: &Access| {
            is_full(access) || self.partial_fences && *access == Access::Fence(FenceKind::Write)
        };
        let read = |access: &Access| match access {
            Access::Read(range) => range.clone(),
            _ => 0..0,
        };
        let write = |access: &Access| match access {
            Access::Write(range) => range.clone(),
            _ => 0..0,
        };
        Rules {
            readable: self.spread(p, &read, &is_full, false),
            unseen: self.spread(p, &write, &is_full, true),
            waiting: self.spread(p, &write, &is_for_writes, true),
        }
    }

    /// The row of a control state, by its place in the code.
    fn at<'t>(&'t self, rows: &'t Places, p: ProcessId, state: StateId) -> &'t [bool] {
        self.system.state(p, state).place().map_or(&self.everything, |place| &rows[place])
    }

    /// For each place of the code, the variables of the accesses of a kind that
    /// lie ahead, or behind, with nothing between that stops the search.
    fn spread(
        &self,
        p: ProcessId,
        variables: &dyn Fn(&Access) -> Range<usize>,
        stops: &dyn Fn(&Access) -> bool,
        behind: bool,
    ) -> Places {
        let places = self.system.place_count(p);
        let from = |start: usize| {
            let mut found = vec![false; self.system.vars.len()];
            let mut seen = vec![false; places];
            let mut work = vec![start];
            while let Some(place) = work.pop() {
                if std::mem::replace(&mut seen[place], true) {
                    continue;
                }
                for step in self.system.code(p).filter(|s| !stops(&s.access)) {
                    let (here, there) =
                        if behind { (step.to, step.from) } else { (step.from, step.to) };
                    if here == place {
                        found[variables(&step.access)].fill(true);
                        work.push(there);
                    }
                }
            }
            found
        };
        (0..places).map(from).collect()
    }

    /// Minimal predecessors of the upward closure of a state, by a step of a process.
    fn before(
        &self,
        after: &UpwardState,
        p: ProcessId,
        rules: &Rules,
    ) -> Vec<(String, UpwardState)> {
        let mut all = Vec::new();
        let here = after.controls[p.index()];
        let buffers = &after.buffers[p.index()];
        let with = |b: UpwardBuffers| {
            let mut state = after.clone();
            state.buffers[p.index()] = b;
            state
        };
        for (_, t) in self.all.incoming(p, here) {
            for after in self.with_lost(after, p, t.from, rules) {
                for mut before in self.untake(&after, p, t.op, rules) {
                    before.controls[p.index()] = t.from;
                    before.buffers[p.index()].entered = false;
                    all.push((self.system.show_op(t.op), before));
                }
            }
        }
        for x in vars(self.system).filter(|x| self.at(&rules.readable, p, here)[x.index()]) {
            // It saw a message of another, which is now the newest that it can read.
            let past = buffers.past.get(&x).cloned().unwrap_or_default();
            if let Some((value, older)) = past.split_last() {
                let mut b = buffers.clone();
                set(&mut b.past, x, older.to_vec());
                b.future.insert(0, UpwardMessage { var: x, value: *value, own: false });
                all.push((format!("seeing `{}`", self.system.vars[x.index()].name), with(b)));
            }
            // It saw its own, and can read nothing older.
            let has_own = buffers.future.iter().any(|m| m.own && m.var == x);
            if self.at(&rules.unseen, p, here)[x.index()] && !has_own && past.len() <= 1 {
                let mut b = buffers.clone();
                b.past.remove(&x);
                let value = past.first().copied().flatten();
                b.future.insert(0, UpwardMessage { var: x, value, own: true });
                all.push((format!("seeing its `{}`", self.system.vars[x.index()].name), with(b)));
            }
        }
        // It was told of memory.
        if let Some(last) = buffers.future.last().filter(|m| !m.own)
            && let Some(value) = meet(after.memory[last.var.index()], last.value)
        {
            let mut b = buffers.clone();
            b.future.pop();
            let mut before = with(b);
            before.memory[last.var.index()] = value;
            all.push((format!("telling `{}`", self.system.vars[last.var.index()].name), before));
        }
        // A waiting write entered, after another write of the process had.
        for x in
            vars(self.system).filter(|x| self.stores && self.at(&rules.waiting, p, here)[x.index()])
        {
            let mut incoming = self.all.incoming(p, here);
            let wrote_other = incoming.any(|(_, t)| matches!(t.op, Op::Write(y, _) if y != x));
            if !buffers.entered && !wrote_other {
                continue;
            }
            for (value, mut before) in self.unenter(after, p, x, None, rules) {
                let b = &mut before.buffers[p.index()];
                b.entered = true;
                match b.stores.get_mut(&x) {
                    Some((older, _)) => older.insert(0, value),
                    None => drop(b.stores.insert(x, (vec![], value))),
                }
                all.push((format!("a waiting `{}`", self.system.vars[x.index()].name), before));
            }
        }
        all
    }

    /// A process that comes to where it cannot read a variable any more loses
    /// its messages about it. An own one may have been anywhere.
    fn with_lost(
        &self,
        after: &UpwardState,
        p: ProcessId,
        from: StateId,
        rules: &Rules,
    ) -> Vec<UpwardState> {
        let here = after.controls[p.index()];
        let mut all = vec![after.clone()];
        for x in vars(self.system) {
            let lost = self.at(&rules.readable, p, from)[x.index()]
                && !self.at(&rules.readable, p, here)[x.index()]
                && self.at(&rules.unseen, p, from)[x.index()];
            for state in all.clone().into_iter().filter(|_| lost) {
                for place in 0..=state.buffers[p.index()].future.len() {
                    let mut more = state.clone();
                    let message = UpwardMessage { var: x, value: None, own: true };
                    more.buffers[p.index()].future.insert(place, message);
                    all.push(more);
                }
            }
        }
        all
    }

    /// Undoes an operation of a process.
    fn untake(&self, after: &UpwardState, p: ProcessId, op: Op, rules: &Rules) -> Vec<UpwardState> {
        let b = &after.buffers[p.index()];
        let is_empty = b.stores.is_empty() && b.future.is_empty() && b.past.is_empty();
        if b.entered && !matches!(op, Op::Write(..)) {
            return vec![];
        }
        let if_so = |fine: bool| if fine { vec![after.clone()] } else { vec![] };
        match op {
            Op::Nop => if_so(true),
            Op::Fence(FenceKind::Full) => if_so(is_empty),
            Op::Fence(FenceKind::Write) => if_so(!self.partial_fences || b.stores.is_empty()),
            Op::Fence(FenceKind::Read) => if_so(!self.partial_fences || b.past.is_empty()),
            Op::Arw(x, d, e) => {
                let mut before = after.clone();
                before.memory[x.index()] = Some(d);
                let fine = is_empty && meet(after.memory[x.index()], Some(e)).is_some();
                if fine { vec![before] } else { vec![] }
            }
            Op::Read(x, d) => {
                let mut before = after.clone();
                let read = self.unread(&mut before.buffers[p.index()], x, Some(d));
                if read.is_some() { vec![before] } else { vec![] }
            }
            Op::Write(x, d) => match b.stores.get(&x) {
                None => {
                    let entered = self.unenter(after, p, x, Some(d), rules);
                    entered.into_iter().map(|(_, before)| before).collect()
                }
                Some(_) if b.entered => vec![],
                Some((_, last)) if meet(*last, Some(d)).is_none() => vec![],
                Some((older, _)) => {
                    // The write before it became older, or was lost, or was not there.
                    let mut ways = vec![Some((older.clone(), None))];
                    ways.push(older.split_last().map(|(last, older)| (older.to_vec(), *last)));
                    let way = |stores: Option<(Vec<_>, _)>| {
                        let mut before = after.clone();
                        before.buffers[p.index()].stores.remove(&x);
                        stores.into_iter().for_each(|s| {
                            before.buffers[p.index()].stores.insert(x, s);
                        });
                        before
                    };
                    ways.into_iter().map(way).collect()
                }
            },
        }
    }

    /// Undoes that a process read a value, if it could.
    fn unread(&self, b: &mut UpwardBuffers, x: VarId, d: Option<ValueId>) -> Option<()> {
        if let Some((_, last)) = b.stores.get_mut(&x) {
            *last = meet(*last, d)?;
        } else if let Some(own) = b.future.iter_mut().find(|m| m.own && m.var == x) {
            own.value = meet(own.value, d)?;
        } else if self.past {
            let values = b.past.entry(x).or_default();
            match values.first().and_then(|v| meet(*v, d)) {
                Some(v) => values[0] = v,
                None => values.insert(0, d),
            }
        } else {
            let first = b.future.first_mut().filter(|m| m.var == x && !m.own);
            match first.and_then(|m| meet(m.value, d).map(|v| m.value = v)) {
                Some(()) => {}
                None => b.future.insert(0, UpwardMessage { var: x, value: d, own: false }),
            }
        }
        Some(())
    }

    /// Undoes that a write of a process entered memory; returns its value, if known, and the state
    /// before. The message to the process itself is its newest. The previous last own message of
    /// the variable has become an ordinary one.
    fn unenter(
        &self,
        after: &UpwardState,
        p: ProcessId,
        x: VarId,
        d: Option<ValueId>,
        rules: &Rules,
    ) -> Vec<(Option<ValueId>, UpwardState)> {
        let Some(mut value) = meet(after.memory[x.index()], d) else { return vec![] };
        let mut before = after.clone();
        before.memory[x.index()] = None;
        let here = after.controls[p.index()];
        if !self.at(&rules.readable, p, here)[x.index()] {
            return vec![(value, before)];
        }
        match before.buffers[p.index()].future.pop() {
            Some(last) if last.own && last.var == x => match meet(last.value, value) {
                Some(v) => value = v,
                None => return vec![],
            },
            _ => return vec![],
        }
        let future = before.buffers[p.index()].future.clone();
        let mut all = vec![before.clone()];
        for place in 0..=future.len() {
            let mut with_lost = before.clone();
            let own = UpwardMessage { var: x, value: None, own: true };
            with_lost.buffers[p.index()].future.insert(place, own);
            all.push(with_lost);
            if future.get(place).is_some_and(|m| m.var == x) {
                let mut with_own = before.clone();
                with_own.buffers[p.index()].future[place].own = true;
                all.push(with_own);
            }
        }
        all.into_iter().map(|before| (value, before)).collect()
    }
}

/// What can be known of a process from its program alone.
struct Rules {
    /// What it may read before its next full fence.
    readable: Places,
    /// What it may have written since the last full fence.
    unseen: Places,
    /// What it may have written since the last fence for writes.
    waiting: Places,
}

fn set(words: &mut BTreeMap<VarId, Vec<Option<ValueId>>>, x: VarId, word: Vec<Option<ValueId>>) {
    match word.is_empty() {
        true => drop(words.remove(&x)),
        false => drop(words.insert(x, word)),
    }
}

/// What two values, each of which may be any, have in common.
fn meet(a: Option<ValueId>, b: Option<ValueId>) -> Option<Option<ValueId>> {
    match (a, b) {
        (None, v) | (v, None) => Some(v),
        (a, b) => (a == b).then_some(a),
    }
}

/// Every way to take one thing from each place.
fn product<T: Clone>(places: &[Vec<T>]) -> Vec<Vec<T>> {
    places.iter().fold(vec![vec![]], |begun, place| {
        let longer = |start: &Vec<T>| {
            let with = |next: &T| start.iter().chain([next]).cloned().collect();
            place.iter().map(with).collect::<Vec<Vec<T>>>()
        };
        begun.iter().flat_map(longer).collect()
    })
}

/// Whether a state is at or below another, with the same control states.
fn is_below(small: &UpwardState, big: &UpwardState) -> bool {
    let fits = |a: &Option<ValueId>, b: &Option<ValueId>| a.is_none() || a == b;
    let skips = |_: &Option<ValueId>| true;
    let below = |(a, b): (&UpwardBuffers, &UpwardBuffers)| {
        a.entered == b.entered
            && a.stores.keys().eq(b.stores.keys())
            && a.stores.values().zip(b.stores.values()).all(|((older, last), (longer, end))| {
                fits(last, end) && embeds(older, longer, &fits, &skips)
            })
            && a.past
                .iter()
                .all(|(x, word)| embeds(word, b.past.get(x).map_or(&[], |w| w), &fits, &skips))
            && embeds(
                &a.future,
                &b.future,
                &|m, n| m.var == n.var && m.own == n.own && fits(&m.value, &n.value),
                &|m| !m.own,
            )
    };
    small.memory.iter().zip(&big.memory).all(|(a, b)| fits(a, b))
        && small.buffers.iter().zip(&big.buffers).all(below)
}

/// Whether a word is a subword of another one, where only letters that pass `skips` are left out.
fn embeds<T>(
    small: &[T],
    big: &[T],
    fits: &dyn Fn(&T, &T) -> bool,
    skips: &dyn Fn(&T) -> bool,
) -> bool {
    // From the end: which rests of the small word embed into the rest of the big.
    let mut rests = vec![false; small.len() + 1];
    rests[small.len()] = true;
    for b in big.iter().rev() {
        for i in 0..=small.len() {
            let taken = i < small.len() && fits(&small[i], b) && rests[i + 1];
            rests[i] = taken || skips(b) && rests[i];
        }
    }
    rests[0]
}
