//! Control states and transitions, created when they are needed.

use std::sync::{Arc, LazyLock, OnceLock};

use super::local::{Local, Settled, forget, stopped};
use super::{Key, Rounds, Stop};
use crate::flow::{Located, Node};
use crate::grow::{Cells, may_grow};
use crate::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use crate::program::{Order, Rmw};
use crate::system::{Excess, Failure, Mark, Op, State, StateKind, System, Transition};

/// What a process does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// One of these transitions, whatever is in memory; they are numbered from `first`.
    Free { first: u32, list: Box<[Transition]> },
    /// It reads the variable; what then depends on the value.
    Read {
        var: VarId,
        /// Whether it is an atomic read-write.
        atomic: bool,
        on: Box<OnValue>,
        /// A transition that does not depend on the value: the process may stop here.
        stop: Option<TransitionId>,
    },
}

/// The next step of a process while nothing may be created: none.
static NOTHING: LazyLock<Next> = LazyLock::new(|| Next::Free { first: 0, list: Box::default() });

/// Few variables have more values: they are kept closer.
const CLOSE: usize = 4;

/// A transition with its number; `None` if it waits for another value.
type OnOne = Option<(TransitionId, Box<Transition>)>;

/// For each value the transition that reads it.
#[derive(Debug, Default)]
pub(crate) struct OnValue {
    close: [OnceLock<OnOne>; CLOSE],
    others: OnceLock<Box<Cells<OnOne>>>,
}

impl OnValue {
    #[inline]
    fn get(&self, value: ValueId) -> Option<&OnOne> {
        match self.close.get(value.index()) {
            Some(cell) => cell.get(),
            None => self.others.get()?.get(value.index() - CLOSE),
        }
    }

    #[cold]
    fn get_or_init(&self, value: ValueId, make: impl FnOnce() -> OnOne) -> &OnOne {
        match self.close.get(value.index()) {
            Some(cell) => cell.get_or_init(make),
            None => self.others.get_or_init(Box::default).get_or_init(value.index() - CLOSE, make),
        }
    }
}

impl System {
    fn local(&self, process: ProcessId) -> Local<'_> {
        let flow = &self.processes[process.index()].flow;
        Local { program: &self.program, process, flow, watch: &self.watch }
    }

    /// Finds the initial control states.
    pub(super) fn enter(&mut self) {
        for p in 0..self.processes.len() {
            let process = ProcessId::new(p);
            let registers = self.program.processes[p].registers.iter().map(|r| r.init).collect();
            let local = self.local(process);
            let settled = local.settle(local.flow.entry, registers);
            let initial = self.intern(process, settled.key);
            let processes = Arc::get_mut(&mut self.processes).expect("nobody else has the system");
            processes[p].initial = initial;
        }
    }

    /// The id of a control state, new or known.
    pub(crate) fn intern(&self, process: ProcessId, key: Key) -> StateId {
        let automaton = &self.processes[process.index()];
        let mut ids = automaton.ids.lock().expect("no thread panics while it has the lock");
        if let Some(&id) = ids.get(&key) {
            return id;
        }
        if let Some(Stop::Left(excess @ (Excess::Overflow | Excess::Endless | Excess::Values))) =
            &key.stop
        {
            self.excess.get_or_init(|| excess.to_string());
        }
        let state = self.make_state(process, &key);
        let id = StateId::new(automaton.states.push(state));
        ids.insert(key, id);
        id
    }

    /// The same control state as processes come to it: dead registers are 0, and before an
    /// undefined step the process has failed. `None` if no process stands there.
    pub(super) fn standing(&self, process: ProcessId, mut key: Key) -> Option<Key> {
        let local = self.local(process);
        forget(local.flow, key.node, &mut key.registers, |_| 0);
        if local.flow.is_transparent(key.node) {
            return None;
        }
        if key.stop.is_none() {
            key.stop = local.cannot_stand(key.node, &key.registers).err();
        }
        Some(key)
    }

    fn make_state(&self, process: ProcessId, key: &Key) -> State {
        let flow = &self.processes[process.index()].flow;
        let located = &flow.nodes[key.node];
        let mut labels = located.labels.clone();
        let kind = match &key.stop {
            Some(Stop::Failed(failure)) => StateKind::Failed(failure.clone()),
            Some(Stop::Left(excess)) => {
                if matches!(excess, Excess::Bound { .. }) {
                    labels.clear();
                }
                StateKind::Left(excess.clone())
            }
            None if matches!(located.node, Node::End) => StateKind::Ended,
            None => StateKind::Inside,
        };
        let is_choice =
            kind == StateKind::Inside && matches!(located.node, Node::Choose(_) | Node::Any(..));
        let (registers, labels) = (key.registers[..].into(), labels.into());
        let place = self.processes[process.index()].abstraction.find(key.node, &key.registers);
        State::new(
            (key.node, located.in_call, located.lock.filter(|_| kind == StateKind::Inside)),
            place,
            kind,
            registers,
            labels,
            is_choice,
            located.span,
        )
    }

    /// What a process does next in a control state.
    #[inline]
    pub(crate) fn next(&self, process: ProcessId, state: StateId) -> &Next {
        let automaton = &self.processes[process.index()];
        let next = &automaton.states.get(state.index()).next;
        match next.get() {
            Some(next) => next,
            None => self.first_next(process, state),
        }
    }

    /// The same in a control state that was not left before.
    #[cold]
    #[inline(never)]
    fn first_next(&self, process: ProcessId, state: StateId) -> &Next {
        let next = &self.state(process, state).next;
        match may_grow() {
            true => next.get_or_init(|| self.make_next(process, state)),
            false => &NOTHING,
        }
    }

    fn make_next(&self, process: ProcessId, from: StateId) -> Next {
        let state = self.state(process, from);
        let local = self.local(process);
        let mut made = Vec::new();
        let mut add = |op: Op, to: Settled, mark: Option<Mark>| {
            made.extend(self.transition_to(process, from, op, to, mark));
        };
        let registers = state.registers.to_vec();
        match &state.kind {
            StateKind::Inside if state.is_stop => return self.free(process, from, made),
            StateKind::Inside => {}
            StateKind::Left(excess) => {
                let stop = Some(Stop::Left(excess.clone()));
                let key = Key { node: state.node, registers, stop };
                add(Op::Nop, Settled { key, within: None }, None);
                return self.free(process, from, made);
            }
            StateKind::Ended | StateKind::Failed(_) => {
                return self.free(process, from, made);
            }
        }
        let located = &local.flow.nodes[state.node];
        let is_direct = located.is_direct;
        match &located.node {
            Node::End => {}
            Node::Nop(next) => add(Op::Nop, local.settle(*next, registers), None),
            Node::Fence(kind, next) => add(Op::Fence(*kind), local.settle(*next, registers), None),
            Node::Choose(nexts) => {
                for next in nexts {
                    add(Op::Nop, local.settle(*next, registers.clone()), None);
                }
            }
            Node::Any(reg, values, next) => {
                for &value in values {
                    let to = local.go_on_with(state.node, *reg, value, &registers, *next);
                    add(Op::Nop, to, None);
                }
            }
            Node::Call(ways) => {
                for (method, argument, next) in ways {
                    let Some((reg, values)) = argument else {
                        let mark = Mark::Call(*method, None);
                        add(Op::Nop, local.settle(*next, registers.clone()), Some(mark));
                        continue;
                    };
                    for &value in values {
                        let to = local.go_on_with(state.node, *reg, value, &registers, *next);
                        add(Op::Nop, to, Some(Mark::Call(*method, Some(value))));
                    }
                }
            }
            Node::Return(method, code, next) => {
                match code.as_ref().map(|code| local.eval(code, &registers)).transpose() {
                    Ok(value) => {
                        let mark = Mark::Return(*method, value);
                        add(Op::Nop, local.settle(*next, registers), Some(mark));
                    }
                    Err(stop) => add(Op::Nop, stopped(state.node, registers, stop), None),
                }
            }
            Node::Store(place, code, next) if !is_direct => {
                let var = local.element(place, &registers);
                let stored = var.and_then(|var| {
                    let value = local.eval(code, &registers)?;
                    Ok((var, local.stored(var, value)?))
                });
                let Ok((var, value)) = stored else {
                    unreachable!("a process that cannot store has failed")
                };
                match self.vars[var.index()].try_id(value, self.vars.len()) {
                    Some(value) => {
                        add(Op::Write(var, value), local.settle(*next, registers), None);
                    }
                    None => {
                        let stop = Stop::Left(Excess::Values);
                        add(Op::Nop, stopped(state.node, registers, stop), None);
                    }
                }
            }
            Node::Load(_, place, _) | Node::Store(place, ..) | Node::Rmw(_, place, _, _) => {
                let Ok(var) = local.element(place, &registers) else {
                    unreachable!("a process that cannot read has failed")
                };
                let atomic = is_direct || matches!(located.node, Node::Rmw(..));
                let stop = self.processes[process.index()].stops.get(&from).map(|stop| {
                    let automaton = &self.processes[process.index()];
                    let _lock = automaton.ids.lock().expect("no thread panics with the lock");
                    TransitionId::new(automaton.transitions.push(*stop))
                });
                return Next::Read { var, atomic, on: Box::default(), stop };
            }
            Node::Jump(_)
            | Node::Goto(_)
            | Node::Assign(..)
            | Node::Branch(..)
            | Node::Assume(..)
            | Node::Assert(..) => {
                if let Some(to) = local.step(state.node, registers) {
                    add(Op::Nop, to, None);
                }
            }
        }
        self.free(process, from, made)
    }

    /// Transitions that do not depend on memory.
    fn free(&self, process: ProcessId, from: StateId, mut made: Vec<Transition>) -> Next {
        let automaton = &self.processes[process.index()];
        if let Some(stop) = automaton.stops.get(&from) {
            made.push(*stop);
        }
        let mut kept: Vec<Transition> = Vec::new();
        for t in made {
            let same =
                |k: &Transition| (k.op, k.to, k.waits, k.mark) == (t.op, t.to, t.waits, t.mark);
            if !kept.iter().any(same) {
                kept.push(t);
            }
        }
        // One thread at a time, so that the transitions of a state stand together.
        let _lock = automaton.ids.lock().expect("no thread panics while it has the lock");
        let first = automaton.transitions.len() as u32;
        for t in &kept {
            automaton.transitions.push(*t);
        }
        Next::Free { first, list: kept.into() }
    }

    /// Whether no question distinguishes two control states of a process. A control state that does
    /// not come later in the code counts as different, so that every loop has a place at which the
    /// process stands.
    fn is_quiet(&self, process: ProcessId, from: StateId, to: StateId) -> bool {
        let (from, to) = (self.state(process, from), self.state(process, to));
        let asked = &self.watch.labels[process.index()];
        let left = from.labels.iter().filter(|l| !to.labels.contains(l));
        let entered = to.labels.iter().filter(|l| !from.labels.contains(l));
        // A label that was added later is asked about.
        let labels_differ = left
            .into_iter()
            .any(|l| asked.get(l.index()).is_none_or(|a| a.shows_leaving()))
            || entered.into_iter().any(|l| asked.get(l.index()).is_none_or(|a| a.shows_entering()));
        let registers_differ = (self.watch.always[process.index()].iter())
            .zip(from.registers.iter().zip(&to.registers))
            .any(|(asked, (before, after))| *asked && before != after);
        from.kind == StateKind::Inside
            && !matches!(to.kind, StateKind::Left(_))
            && !labels_differ
            && !registers_differ
            && self.processes[process.index()].flow.is_before(from.node, to.node)
    }

    /// A transition; `None` if it changes nothing and need not be taken.
    fn transition_to(
        &self,
        process: ProcessId,
        from: StateId,
        op: Op,
        to: Settled,
        mark: Option<Mark>,
    ) -> Option<Transition> {
        let state = self.state(process, from);
        let located = &self.processes[process.index()].flow.nodes[state.node];
        let waits = located.within.is_some() && to.within == located.within;
        let to = self.intern(process, to.key);
        // A round of an `await` that changes nothing: no step is needed to wait.
        // Where accesses can race, a round does something.
        let idle = waits && from == to && self.rounds == Rounds::Left && !self.keeps_orders;
        // A process that enters a block locks the others out.
        let in_block = |state| self.is_in_block(process, state);
        // Where writes are buffered, a write that is issued changes no memory.
        let changes_memory =
            self.keeps_orders && matches!(op, Op::Write(x, _) if self.watch.memory[x.index()]);
        let is_quiet = !waits
            && mark.is_none()
            && !changes_memory
            && !in_block(from)
            && !in_block(to)
            && self.is_quiet(process, from, to);
        let (span, order) = (located.span, self.order(located, op));
        (!idle).then_some(Transition { from, op, order, to, waits, is_quiet, mark, span })
    }

    /// What becomes of a transition whose access races with another one: the process fails.
    pub(crate) fn racing(&self, process: ProcessId, id: TransitionId) -> (TransitionId, StateId) {
        let automaton = &self.processes[process.index()];
        let mut races = automaton.races.lock().expect("no thread panics while it has the lock");
        let raced = *races.entry(id).or_insert_with(|| {
            let t = *automaton.transitions.get(id.index());
            let State { node, registers, .. } = self.state(process, t.from);
            let stop = Some(Failure::Race.into());
            let key = Key { node: *node, registers: registers.to_vec(), stop };
            let to = self.intern(process, key);
            let _lock = automaton.ids.lock().expect("no thread panics while it has the lock");
            let raced = Transition { to, waits: false, is_quiet: false, ..t };
            TransitionId::new(automaton.transitions.push(raced))
        });
        (raced, automaton.transitions.get(raced.index()).to)
    }

    /// The memory order of what a process does at a node.
    fn order(&self, located: &Located, op: Op) -> Order {
        match &located.node {
            _ if !self.keeps_orders => Order::Relaxed,
            // A step of a block that is atomic under all models.
            Node::Load(..) | Node::Store(..) if located.is_direct => Order::Fenced,
            Node::Load(_, place, _) | Node::Store(place, ..) => {
                place.order.unwrap_or(Order::Relaxed)
            }
            Node::Rmw(_, place, rmw, _) => {
                let success = place.order.unwrap_or(Order::Fenced);
                match (op, rmw) {
                    (Op::Read(..), Rmw::Cas { failure, .. } | Rmw::CasFlag { failure, .. }) => {
                        failure.unwrap_or(success.of_failure())
                    }
                    _ => success,
                }
            }
            _ => Order::Relaxed,
        }
    }

    /// The transition of a load or an atomic read-write for one value; `None` if it waits
    /// for another.
    #[inline]
    pub(crate) fn on_value<'s>(
        &self,
        process: ProcessId,
        from: StateId,
        var: VarId,
        cells: &'s OnValue,
        value: ValueId,
    ) -> Option<(TransitionId, &'s Transition)> {
        let one = match cells.get(value) {
            Some(one) => one,
            None if !may_grow() => return None,
            None => cells.get_or_init(value, || {
                let made = self.make_read(process, from, var, value)?;
                let automaton = &self.processes[process.index()];
                let _lock = automaton.ids.lock().expect("no thread panics while it has the lock");
                Some((TransitionId::new(automaton.transitions.push(made)), Box::new(made)))
            }),
        };
        one.as_ref().map(|(id, t)| (*id, &**t))
    }

    fn make_read(
        &self,
        process: ProcessId,
        from: StateId,
        var: VarId,
        value: ValueId,
    ) -> Option<Transition> {
        let state = self.state(process, from);
        let local = self.local(process);
        let number = self.value(var, value);
        let (op, to) = match &local.flow.nodes[state.node].node {
            Node::Load(reg, _, next) => {
                let to = local.go_on_with(state.node, *reg, number, &state.registers, *next);
                let op = match local.flow.nodes[state.node].is_direct {
                    true => Op::Arw(var, value, value),
                    false => Op::Read(var, value),
                };
                (op, to)
            }
            Node::Store(_, code, next) => {
                let stored = local.eval(code, &state.registers);
                let stored = stored.and_then(|value| local.stored(var, value));
                let Ok(stored) = stored else {
                    unreachable!("a process that cannot store has failed")
                };
                match self.vars[var.index()].try_id(stored, self.vars.len()) {
                    Some(stored) => {
                        let to = local.settle(*next, state.registers.to_vec());
                        (Op::Arw(var, value, stored), to)
                    }
                    None => {
                        let stop = Stop::Left(Excess::Values);
                        let to = stopped(state.node, state.registers.to_vec(), stop);
                        (Op::Arw(var, value, value), to)
                    }
                }
            }
            Node::Rmw(reg, _, rmw, next) => {
                let written = match local.written(*reg, rmw, number, &state.registers) {
                    // It waits for another value.
                    Ok(None) => return None,
                    Ok(Some(written)) => local.stored(var, written).and_then(|written| {
                        let id = self.vars[var.index()].try_id(written, self.vars.len());
                        id.ok_or(Stop::Left(Excess::Values))
                    }),
                    Err(stop) => Err(stop),
                };
                // A compare-and-swap that does not find what it expects.
                let is_failure = || match rmw {
                    Rmw::Cas { expected, .. } | Rmw::CasFlag { expected, .. } => {
                        local.eval(expected, &state.registers).is_ok_and(|e| e != number)
                    }
                    Rmw::Swap(_) | Rmw::Fetch(..) | Rmw::Update { .. } => false,
                };
                match written {
                    Ok(written) => {
                        let given = match rmw {
                            Rmw::CasFlag { .. } => i128::from(!is_failure()),
                            _ => number,
                        };
                        let to = local.go_on_with(state.node, *reg, given, &state.registers, *next);
                        let op = match self.keeps_orders && is_failure() {
                            true => Op::Read(var, value),
                            false => Op::Arw(var, value, written),
                        };
                        (op, to)
                    }
                    Err(stop) => {
                        let to = stopped(state.node, state.registers.to_vec(), stop);
                        (Op::Arw(var, value, value), to)
                    }
                }
            }
            other => unreachable!("{other:?} reads nothing"),
        };
        self.transition_to(process, from, op, to, None)
    }
}
