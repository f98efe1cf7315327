//! The steps from a configuration.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::program::{Atom, FenceKind};
use weir_model::system::{Op, Seen, Standing};

use super::{Checker, Set, Sight, State};
use crate::Rejected;
use crate::witness::is_followed;

/// An action, and its result.
pub(super) type Successor = (String, (State, Vec<Sight>));

impl Checker<'_> {
    pub(super) fn initial(&self) -> Vec<(State, Vec<Sight>)> {
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
    pub(super) fn successors(
        &self,
        config: &(State, Vec<Sight>),
    ) -> Result<Vec<Successor>, Rejected> {
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
    pub(super) fn places(
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

    /// What a process sees after an operation that other processes do not observe.
    pub(super) fn alone(
        &self,
        sight: &Sight,
        memory: &[ValueId],
        op: Op,
        ended: bool,
    ) -> Vec<Sight> {
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
    pub(super) fn act(
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
    pub(super) fn rest(
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
    pub(super) fn kind(
        &self,
        atoms: &[Atom],
        p: ProcessId,
        control: StateId,
    ) -> (Vec<i128>, Standing) {
        let state = self.system.state(p, control);
        let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
        let values = atoms.iter().filter(own).map(|a| state.atom(*a));
        (values.collect(), state.standing())
    }

    /// A write enters the history; `own` if its process reads it from now on.
    pub(super) fn append(
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
}
