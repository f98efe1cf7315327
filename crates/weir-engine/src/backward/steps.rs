//! The predecessor rules: minimal predecessors of the upward closure of a state.
//!
//! Each rule is described forward and then inverted. Elements of the upward closure that
//! are not in the state matter in one place only: a write that becomes the last own write
//! of its variable takes this rank from another one, whose position is arbitrary.
//!
//! A write waits in the buffer of its variable only to be overtaken by a later one of its
//! process: otherwise the process could have issued it when it entered memory. So a write
//! enters at once or waits, and before a waiting one enters, the last action of its
//! process was that another one entered (`entered`); all other actions can come after.

use weir_model::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op};

use super::state::{ANY, Buffers, Message, State, Stores, both};
use crate::ahead::{ByPlace, readable, unseen, waiting};
use crate::concrete::Event;
use crate::wsts::WellStructured;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A process takes a transition; a write waits, if there are buffers for it.
    Take(ProcessId, TransitionId),
    /// A process writes a variable, which enters memory at once.
    Enter(ProcessId, TransitionId, VarId),
    /// The oldest waiting write to a variable enters memory: its value, or the
    /// last write.
    Transfer(ProcessId, VarId, Option<ValueId>),
    /// A process is told of a variable in memory.
    Tell(ProcessId, VarId),
    /// A process sees its oldest message.
    See(ProcessId),
}

/// A system with load buffers.
pub(super) struct Dual<'s> {
    system: Expanded<'s>,
    /// `w->w`: writes wait in a buffer of their variable.
    waits: bool,
    /// `r->r`: older values can be read.
    keeps_past: bool,
    /// RWF.
    partial_fences: bool,
    /// For each process and control state, the variables that it can still read
    /// before its next full fence. Messages about others are lost.
    readable: Vec<ByPlace>,
    /// For each process and control state, the variables of which an own message
    /// may not have been seen, those of which a write may be waiting, and those
    /// that may just have been written.
    unseen: Vec<ByPlace>,
    waiting: Vec<ByPlace>,
    written: Vec<Vec<Box<[bool]>>>,
}

impl<'s> Dual<'s> {
    pub fn new(system: Expanded<'s>, model: MemoryModel, budget: &Budget) -> Result<Self, Stop> {
        let model = model.normal();
        let partial_fences = model.has(Relaxation::Rwf);
        let written = |p: ProcessId| {
            let states = system.state_count(p);
            budget.check_room(states * (system.vars.len() + 32))?;
            let mut found = vec![vec![false; system.vars.len()]; states];
            for t in system.all_transitions(p) {
                if let Op::Write(x, _) = t.op {
                    found[t.to.index()][x.index()] = true;
                }
            }
            Ok(found.into_iter().map(Into::into).collect())
        };
        let all = || system.process_ids();
        Ok(Self {
            system,
            waits: model.has(Relaxation::WriteWrite),
            keeps_past: model.has(Relaxation::ReadRead),
            partial_fences,
            readable: all().map(|p| readable(&system, p, budget)).collect::<Result<_, _>>()?,
            unseen: all().map(|p| unseen(&system, p, budget)).collect::<Result<_, _>>()?,
            waiting: all()
                .map(|p| waiting(&system, p, partial_fences, budget))
                .collect::<Result<_, _>>()?,
            written: all().map(written).collect::<Result<_, _>>()?,
        })
    }

    /// What a step is in a history of memory states.
    pub fn events(&self, step: &Step) -> Vec<Event> {
        match *step {
            Step::Enter(p, id, x) if self.waits => {
                vec![Event::Take(p, id), Event::Transfer(p, x, None)]
            }
            Step::Take(p, id) | Step::Enter(p, id, _) => vec![Event::Take(p, id)],
            Step::Transfer(p, x, Some(ANY)) => vec![Event::TransferOne(p, x)],
            Step::Transfer(p, x, value) => vec![Event::Transfer(p, x, value)],
            Step::Tell(..) | Step::See(_) => vec![],
        }
    }

    fn vars(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.system.vars.len()).map(VarId::new)
    }

    /// Whether a process can still read a variable before its next full fence.
    fn can_read(&self, state: &State, p: ProcessId, x: VarId) -> bool {
        self.readable[p.index()].at(&self.system, p, state.controls[p.index()])[x.index()]
    }

    /// Undoes that a process lost the own messages that it cannot read any more,
    /// having come to another control state: they may have been anywhere.
    fn find_lost(
        &self,
        after: &State,
        p: ProcessId,
        from: StateId,
        budget: &Budget,
    ) -> Result<Vec<State>, Stop> {
        let mut all = vec![after.clone()];
        let own = self.unseen[p.index()].at(&self.system, p, from);
        let readable = self.readable[p.index()].at(&self.system, p, from);
        for x in self.vars().filter(|x| own[x.index()]) {
            if self.can_read(after, p, x) || !readable[x.index()] {
                continue;
            }
            let message = Message { var: x, value: ANY, own: true };
            for i in 0..all.len() {
                for place in 0..=all[i].processes[p.index()].future.len() {
                    budget.tick()?;
                    let mut before = all[i].clone();
                    before.processes[p.index()].future.insert(place, message);
                    all.push(before);
                }
            }
        }
        Ok(all)
    }

    /// Undoes a transition of a process that has come to where it is by it.
    fn untake(&self, after: &State, p: ProcessId, op: Op, visit: &mut dyn FnMut(State)) {
        let buffers = &after.processes[p.index()];
        let same = |visit: &mut dyn FnMut(State)| visit(after.clone());
        match op {
            Op::Nop => same(visit),
            Op::Read(x, d) => {
                if let Some(before) = self.unread(buffers, x, d) {
                    visit(with(after, p, before));
                }
            }
            // The write enters at once.
            Op::Write(x, d) if buffers.stores_of(x).is_none() => {
                self.unenter(after, p, x, d, &mut |_, before| visit(before));
            }
            // The write waits. It is the last one; the one before it becomes older.
            Op::Write(x, d) => {
                let Some(stores) = buffers.stores_of(x).filter(|_| !buffers.entered) else {
                    return;
                };
                if both(stores.last, d).is_none() {
                    return;
                }
                let mut put = |stores: Option<Stores>| {
                    let mut before = buffers.clone();
                    before.set_stores(x, stores);
                    visit(with(after, p, before));
                };
                let older = &stores.older;
                match older.split_last() {
                    None => put(None),
                    Some((last, older)) => {
                        put(Some(Stores { var: x, older: older.to_vec(), last: *last }));
                    }
                }
                // Or the one before it was lost.
                put(Some(Stores { var: x, older: older.clone(), last: ANY }));
            }
            // Memory has the new value, and the other processes are told later.
            Op::Arw(x, d, e) => {
                if buffers.is_empty() && both(after.memory[x.index()], e).is_some() {
                    let mut before = after.clone();
                    before.memory[x.index()] = d;
                    visit(before);
                }
            }
            Op::Fence(FenceKind::Full) if buffers.is_empty() => same(visit),
            Op::Fence(FenceKind::Full) => {}
            Op::Fence(FenceKind::Write) if self.partial_fences => {
                if buffers.stores.is_empty() {
                    same(visit);
                }
            }
            Op::Fence(FenceKind::Read) if self.partial_fences => {
                if buffers.past.is_empty() {
                    same(visit);
                }
            }
            Op::Fence(_) => same(visit),
        }
    }

    /// The buffers before a process read a value: from its last waiting write,
    /// its own message, or the oldest that it knows.
    fn unread(&self, after: &Buffers, x: VarId, d: ValueId) -> Option<Buffers> {
        let mut before = after.clone();
        if let Some(stores) = before.stores.iter_mut().find(|s| s.var == x) {
            stores.last = both(stores.last, d)?;
        } else if let Some(i) = before.own(x) {
            before.future[i].value = both(before.future[i].value, d)?;
        } else if self.keeps_past {
            let mut values = before.past_of(x).to_vec();
            match values.first().copied().and_then(|v| both(v, d)) {
                Some(v) => values[0] = v,
                None => values.insert(0, d),
            }
            before.set_past(x, values);
        } else {
            let first = before.future.first().filter(|m| m.var == x && !m.own);
            match first.and_then(|m| both(m.value, d)) {
                Some(v) => before.future[0].value = v,
                None => before.future.insert(0, Message { var: x, value: d, own: false }),
            }
        }
        Some(before)
    }

    /// Undoes that a write of a process enters memory: its own message is the
    /// newest one. Whichever was the last own one before may have been anywhere.
    fn unenter(
        &self,
        after: &State,
        p: ProcessId,
        x: VarId,
        d: ValueId,
        visit: &mut dyn FnMut(ValueId, State),
    ) {
        let Some(value) = both(after.memory[x.index()], d) else { return };
        let mut before = after.clone();
        before.memory[x.index()] = ANY;
        if !self.can_read(after, p, x) {
            visit(value, before);
            return;
        }
        let future = &mut before.processes[p.index()].future;
        let last = future.pop().filter(|m| m.own && m.var == x);
        let Some(value) = last.and_then(|m| both(m.value, value)) else { return };
        let rest = future.clone();
        for (i, _) in rest.iter().enumerate().filter(|(_, m)| m.var == x) {
            let mut before = before.clone();
            before.processes[p.index()].future[i].own = true;
            visit(value, before);
        }
        for i in 0..=rest.len() {
            let mut before = before.clone();
            let own = Message { var: x, value: ANY, own: true };
            before.processes[p.index()].future.insert(i, own);
            visit(value, before);
        }
        visit(value, before);
    }

    /// Undoes that a process saw its oldest message.
    fn unsee(&self, after: &State, p: ProcessId, visit: &mut dyn FnMut(State)) {
        let buffers = &after.processes[p.index()];
        let mut put = |message: Message, past: Option<Vec<ValueId>>| {
            let mut before = buffers.clone();
            before.future.insert(0, message);
            if let Some(values) = past {
                before.set_past(message.var, values);
            }
            visit(with(after, p, before));
        };
        let control = after.controls[p.index()];
        for x in self.vars().filter(|&x| self.can_read(after, p, x)) {
            let past = buffers.past_of(x);
            // What it saw of others can still be read if reads overtake; else it
            // is of no use, and the state before is above this one.
            if let Some((&value, older)) = past.split_last() {
                put(Message { var: x, value, own: false }, Some(older.to_vec()));
            }
            // Its own write: nothing older of the variable can be read any more.
            let may_own = self.unseen[p.index()].at(&self.system, p, control)[x.index()]
                && buffers.own(x).is_none();
            if may_own && past.len() <= 1 {
                let value = past.first().copied().unwrap_or(ANY);
                put(Message { var: x, value, own: true }, Some(vec![]));
            }
        }
    }
}

/// A state with other buffers of a process.
fn with(state: &State, p: ProcessId, buffers: Buffers) -> State {
    let mut state = state.clone();
    state.processes[p.index()] = buffers;
    state
}

impl WellStructured for Dual<'_> {
    type State = State;
    type Step = Step;
    type Key = Box<[StateId]>;

    fn key(&self, state: &State) -> Box<[StateId]> {
        state.controls.clone()
    }

    fn is_below(&self, small: &State, big: &State) -> bool {
        small.is_below(big)
    }

    fn predecessors(
        &self,
        after: &State,
        budget: &Budget,
        visit: &mut dyn FnMut(Step, State),
    ) -> Result<(), Stop> {
        for p in self.system.process_ids() {
            for (id, t) in self.system.incoming(p, after.controls[p.index()]) {
                budget.tick()?;
                let must_enter = after.processes[p.index()].entered;
                if must_enter && !matches!(t.op, Op::Write(..)) {
                    continue;
                }
                let step = match t.op {
                    Op::Write(x, _) if after.processes[p.index()].stores_of(x).is_none() => {
                        Step::Enter(p, id, x)
                    }
                    _ => Step::Take(p, id),
                };
                for after in self.find_lost(after, p, t.from, budget)? {
                    budget.tick()?;
                    self.untake(&after, p, t.op, &mut |mut before| {
                        before.processes[p.index()].entered = false;
                        before.controls[p.index()] = t.from;
                        visit(step, before);
                    });
                }
            }
            self.unsee(after, p, &mut |before| visit(Step::See(p), before));
            // It is told of a value: that is its newest message.
            if let Some(last) = after.processes[p.index()].future.last().filter(|m| !m.own)
                && let Some(value) = both(after.memory[last.var.index()], last.value)
            {
                let mut before = after.clone();
                before.memory[last.var.index()] = value;
                before.processes[p.index()].future.pop();
                visit(Step::Tell(p, last.var), before);
            }
            // A waiting write, the oldest of its variable, entered memory.
            let control = after.controls[p.index()];
            let waiting = self.waiting[p.index()].at(&self.system, p, control);
            for x in self.vars().filter(|x| self.waits && waiting[x.index()]) {
                let written = &self.written[p.index()][control.index()];
                let other = self.vars().any(|y| y != x && written[y.index()]);
                if !other && !after.processes[p.index()].entered {
                    continue;
                }
                self.unenter(after, p, x, ANY, &mut |value, mut before| {
                    let buffers = &mut before.processes[p.index()];
                    let rest = buffers.stores_of(x).cloned();
                    let is_last = rest.is_none();
                    let stores = match rest {
                        None => Stores { var: x, older: vec![], last: value },
                        Some(mut stores) => {
                            stores.older.insert(0, value);
                            stores
                        }
                    };
                    buffers.set_stores(x, Some(stores));
                    buffers.entered = true;
                    let value = (!is_last).then_some(value);
                    visit(Step::Transfer(p, x, value), before);
                });
            }
        }
        Ok(())
    }

    fn is_initial(&self, state: &State) -> bool {
        let initial =
            |(x, &v): (usize, &ValueId)| v == ANY || self.system.vars[x].initial.contains(&v);
        self.system.process_ids().all(|p| {
            let control = self.system.processes[p.index()].initial;
            state.controls[p.index()] == control && state.processes[p.index()] == Buffers::default()
        }) && state.memory.iter().enumerate().all(initial)
    }

    fn bytes(&self, state: &State) -> usize {
        state.bytes()
    }
}
