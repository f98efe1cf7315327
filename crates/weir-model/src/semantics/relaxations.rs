//! Any set of relaxations: lazy rewriting (Atig et al. 2012, section 3.3).
//!
//! A process issues its operations into an event structure in which an event is ordered
//! after an earlier one of its process if and only if it may not overtake it. Minimal
//! events take effect. Repeatedly swapping neighbors reaches exactly the orders in which
//! every pair that may not be swapped keeps its order, so this is equivalent to the
//! rewriting semantics. Reads are issued with a guessed value and must find it in memory
//! when they take effect.
//!
//! *Configuration*: control states, memory, and the event structure; with RRWE
//! also the pointers `σ(i,j)` of Atig et al. 2012, section 7.
//!
//! *RLWE* removes a read directly after a write of its value. To bring the two together,
//! each event between them has to move before the write or let the read overtake it. If
//! both are possible, both are tried, since an event that has overtaken another may not
//! be able to move back. For the same reason a read need not use RLWE.
//!
//! *RRWE* is defined in the literature for NSW only. Here the rule is the same: the read
//! takes effect at once, so it must be able to overtake the operations of its process
//! that are under way on other variables.
//!
//! Minimal fences are removed at once.

use super::event_structure::{EventStructure, Pending, Set};
use super::layout::{Events, Layout};
use super::{Event, EventKind, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, VarId};
use crate::memory_model::{Access, MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::system::{Op, Seen, System};

pub(super) struct Relaxed<'s> {
    system: &'s System,
    model: MemoryModel,
    events: Events,
    bound: usize,
}

fn access(event: Event) -> Access<VarId> {
    match event.kind {
        EventKind::Read => Access::Read(event.var),
        EventKind::WriteFence => Access::WriteFence,
        EventKind::ReadFence => Access::ReadFence,
        _ => Access::Write(event.var),
    }
}

impl<'s> Relaxed<'s> {
    pub fn new(system: &'s System, model: MemoryModel, bound: usize) -> Self {
        let events = Events::new(system, model.has(Relaxation::Rrwe));
        Self { system, model, events, bound }
    }

    /// The events of a process that a new one may not overtake.
    fn fixed_before(&self, s: &EventStructure, process: ProcessId, event: Event) -> Set {
        s.set(|e| {
            e.process == process && !self.model.may_overtake(&access(e.event), &access(event))
        })
    }

    fn issue(&self, s: &EventStructure, process: ProcessId, event: Event) -> EventStructure {
        let mut after = s.clone();
        let mut before = self.fixed_before(s, process, event);
        if event.is_on(event.var) {
            before |= s.early(self.events.head, process, event.var);
        }
        after.add(process, event, before);
        after
    }

    /// RLWE: the structures after a read was canceled against the last own
    /// write, one for each way to bring the two together.
    fn read_own_write(
        &self,
        s: &EventStructure,
        process: ProcessId,
        read: Event,
    ) -> Vec<EventStructure> {
        let write = s.own_write(self.events.head, process, read.var, read.value);
        let Some(write) = write.filter(|_| self.model.has(Relaxation::Rlwe)) else {
            return vec![];
        };
        let may_overtake = |first: usize, second: usize| {
            let (a, b) = (s.events[first].event, s.events[second].event);
            !s.is_before(first, second) && self.model.may_overtake(&access(a), &access(b))
        };
        let between: Vec<usize> =
            (write + 1..s.events.len()).filter(|&e| s.events[e].process == process).collect();
        // Whether each event in between moves in front of the write.
        let mut choices: Vec<Vec<bool>> = vec![vec![]];
        for (i, &e) in between.iter().enumerate() {
            let overtaken = self.model.may_overtake(&access(s.events[e].event), &access(read));
            let mut longer = Vec::new();
            for choice in choices {
                let stay = |j: &usize| !choice[*j];
                let moves = may_overtake(write, e)
                    && (0..i).filter(stay).all(|j| may_overtake(between[j], e));
                for option in [(moves, true), (overtaken, false)] {
                    if let (true, front) = option {
                        longer.push(choice.iter().copied().chain([front]).collect());
                    }
                }
            }
            choices = longer;
        }
        choices.iter().map(|choice| self.bring_forward(s, write, &between, choice)).collect()
    }

    /// Moves the chosen events in front of the write. Two events that changed
    /// places and could not change back are in order from now on.
    fn bring_forward(
        &self,
        s: &EventStructure,
        write: usize,
        between: &[usize],
        choice: &[bool],
    ) -> EventStructure {
        let chosen =
            |front| between.iter().zip(choice).filter(move |c| *c.1 == front).map(|c| *c.0);
        let mut after = s.clone();
        for e in chosen(true) {
            for passed in [write].into_iter().chain(chosen(false).filter(|&r| r < e)) {
                let (a, b) = (s.events[e].event, s.events[passed].event);
                if !self.model.may_overtake(&access(a), &access(b)) {
                    after.order(1 << e, passed);
                }
            }
        }
        let slots: Vec<usize> = [write].into_iter().chain(between.iter().copied()).collect();
        let filled = chosen(true).chain([write]).chain(chosen(false));
        let mut order: Vec<usize> = (0..s.events.len()).collect();
        for (slot, e) in slots.into_iter().zip(filled) {
            order[slot] = e;
        }
        after.permute(&order);
        after
    }

    /// Whether a read could happen now as far as other variables go.
    fn is_free(&self, s: &EventStructure, process: ProcessId, read: Event) -> bool {
        self.fixed_before(s, process, read) & !s.accesses(process, read.var) == 0
    }
}

impl Semantics for Relaxed<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        &self.events
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.events.head;
        let s = self.events.read(config);
        let mut complete = true;
        let mut emit = |step: Step, to: Option<u32>, written, mut after: EventStructure| {
            while let Some(fence) = after.minimal().find(|&e| is_fence(&after.events[e])) {
                after.remove(fence);
            }
            scratch.clear();
            scratch.extend_from_slice(&config[..head.len()]);
            if let Some(to) = to {
                scratch[step.process.index()] = to;
            }
            if let Some((x, d)) = written {
                head.set(scratch, x, d);
            }
            self.events.write(after, scratch);
            visit(step, scratch);
        };
        for i in self.system.process_ids() {
            let room = s.has_room(i, 1, self.bound);
            let see = |x, atomic: bool| match atomic {
                true => Seen::One(head.get(config, x)),
                false => Seen::Among(self.system.guesses(x)),
            };
            for (id, t) in self.system.steps(i, control(config, i), see) {
                let to = Some(t.to.0);
                let step = |rule| Step::take(i, rule, id);
                let (rule, event) = match t.op {
                    Op::Nop => {
                        emit(step(Rule::Nop), to, None, s.clone());
                        continue;
                    }
                    Op::Arw(x, d, e) => {
                        let early = s.early(head, i, x) != 0;
                        if s.of(i) == 0 && !early && head.get(config, x) == d {
                            emit(step(Rule::Arw), to, Some((x, e)), s.clone());
                        }
                        continue;
                    }
                    Op::Fence(FenceKind::Full) => {
                        if s.of(i) == 0 {
                            emit(step(Rule::Fence), to, None, s.clone());
                        }
                        continue;
                    }
                    Op::Fence(kind) if !self.model.has(Relaxation::Rwf) => {
                        emit(step(super::fence_rule(kind)), to, None, s.clone());
                        continue;
                    }
                    Op::Fence(FenceKind::Read) => {
                        (Rule::ReadFence, Event::fence(EventKind::ReadFence))
                    }
                    Op::Fence(FenceKind::Write) => {
                        (Rule::WriteFence, Event::fence(EventKind::WriteFence))
                    }
                    Op::Write(x, d) => (Rule::Write, Event::write(x, d)),
                    Op::Read(x, d) => {
                        let read = Event::read(x, d);
                        for (way, after) in (0..).zip(self.read_own_write(&s, i, read)) {
                            emit(Step { way, ..step(Rule::ReadOwnWrite) }, to, None, after);
                        }
                        if self.is_free(&s, i, read) {
                            for (k, e) in s.remote_writes(head, i, x, d) {
                                let mut after = s.clone();
                                after.read_remote(head, i, x, e);
                                let step = step(Rule::ReadRemoteWrite);
                                emit(Step { source: Some(k), ..step }, to, None, after);
                            }
                        }
                        (Rule::Guess, read)
                    }
                };
                if room {
                    emit(step(rule), to, None, self.issue(&s, i, event));
                } else {
                    complete = false;
                }
            }
        }
        for e in s.minimal() {
            let mut after = s.clone();
            let Pending { process, event, .. } = after.remove(e);
            if event.is_write() {
                let written = Some((event.var, event.value));
                emit(Step::memory(process, Rule::Update, event), None, written, after);
            } else if head.get(config, event.var) == event.value {
                emit(Step::memory(process, Rule::Validate, event), None, None, after);
            }
        }
        complete
    }

    /// Without `w->r` there is no such thing as a store buffer: a write that is
    /// under way is one that has not been executed.
    fn is_settled(&self, config: &[Cell]) -> bool {
        let buffered = self.model.has(Relaxation::WriteRead);
        self.events.read(config).set(|e| e.event.kind == EventKind::Read || !buffered) == 0
    }
}

fn is_fence(pending: &Pending) -> bool {
    matches!(pending.event.kind, EventKind::ReadFence | EventKind::WriteFence)
}
