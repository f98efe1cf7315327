//! NSW by event structures with stored reads (Atig et al. 2012, section 4.2), and NSW
//! with RRWE, which extends it (Atig et al. 2012, section 7).
//!
//! *Configuration*: control states, memory, and an event structure of reads,
//! writes and write fences under way; with RRWE also the pointers `σ(i,j)`.
//!
//! *Deviation from the paper*: its rule 4 (*Read*) requires that the process has no write
//! on the variable, or one of another value. After `w(x,1) r(x,2)` a read `r(x,1)` could
//! then neither take the value of the write (rule 3 forbids it, since a read lies
//! between) nor be stored, so later reads could not overtake it, as rewriting allows.
//! Here a read is stored whenever rule 3 does not apply.
//!
//! *RRWE*: a read of process `i` may take its value from the last write `e` of
//! another process to the variable, if `e` need not happen before a write that
//! `i` has read early (`σ`) or before an access of `i` to the variable. From
//! then on `e` comes after all of these and before the later accesses of `i`.

use super::event_structure::EventStructure;
use super::layout::{Events, Layout};
use super::{Event, EventKind, Rule, Semantics, Step, Visit, control};
use crate::ids::Cell;
use crate::memory_model::{MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::system::{Op, Seen, System};

pub(super) struct NswEvents<'s> {
    system: &'s System,
    events: Events,
    bound: usize,
    partial_fences: bool,
}

impl<'s> NswEvents<'s> {
    pub fn new(system: &'s System, model: MemoryModel, bound: usize) -> Self {
        Self {
            system,
            events: Events::new(system, model.has(Relaxation::Rrwe)),
            // The fence that comes with each read does not count.
            bound: 2 * bound,
            partial_fences: model.has(Relaxation::Rwf),
        }
    }
}

impl Semantics for NswEvents<'_> {
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
        for i in self.system.process_ids() {
            let wfences = s.set(|e| e.process == i && e.event.kind == EventKind::WriteFence);
            let reads = s.set(|e| e.process == i && e.event.kind == EventKind::Read);
            let see = |x, atomic: bool| match atomic {
                true => Seen::One(head.get(config, x)),
                false => Seen::Among(self.system.guesses(x)),
            };
            for (id, t) in self.system.steps(i, control(config, i), see) {
                let mut emit = |step, after: EventStructure, written| {
                    scratch.clear();
                    scratch.extend_from_slice(&config[..head.len()]);
                    scratch[i.index()] = t.to.0;
                    if let Some((x, d)) = written {
                        head.set(scratch, x, d);
                    }
                    self.events.write(after, scratch);
                    visit(step, scratch);
                };
                let mut after = s.clone();
                let mut written = None;
                let rule = match t.op {
                    // 1.
                    Op::Nop => Rule::Nop,
                    // 2.
                    Op::Write(x, d) => {
                        if !s.has_room(i, 1, self.bound) {
                            complete = false;
                            continue;
                        }
                        let before = s.accesses(i, x) | wfences | s.early(head, i, x);
                        after.add(i, Event::write(x, d), before);
                        Rule::Write
                    }
                    Op::Read(x, d) => {
                        for (k, e) in s.remote_writes(head, i, x, d) {
                            let mut after = s.clone();
                            after.read_remote(head, i, x, e);
                            let step = Step::take(i, Rule::ReadRemoteWrite, id);
                            emit(Step { source: Some(k), ..step }, after, None);
                        }
                        if s.own_write(head, i, x, d).is_some() {
                            // 3. RLWE
                            Rule::ReadOwnWrite
                        } else {
                            // 4. Read
                            if !s.has_room(i, 2, self.bound) {
                                complete = false;
                                continue;
                            }
                            let before = s.accesses(i, x) | s.early(head, i, x);
                            let e = after.add(i, Event::read(x, d), before);
                            after.add(i, Event::fence(EventKind::WriteFence), 1 << e);
                            Rule::Guess
                        }
                    }
                    // 5.
                    Op::Arw(x, d, e) => {
                        let early = s.early(head, i, x) != 0;
                        if s.of(i) != 0 || early || head.get(config, x) != d {
                            continue;
                        }
                        written = Some((x, e));
                        Rule::Arw
                    }
                    Op::Fence(FenceKind::Full) if s.of(i) != 0 => continue,
                    Op::Fence(FenceKind::Full) => Rule::Fence,
                    Op::Fence(kind) if !self.partial_fences => super::fence_rule(kind),
                    // 6.
                    Op::Fence(FenceKind::Read) if reads != 0 => continue,
                    Op::Fence(FenceKind::Read) => Rule::ReadFence,
                    // 7.
                    Op::Fence(FenceKind::Write) => {
                        if !s.has_room(i, 1, self.bound) {
                            complete = false;
                            continue;
                        }
                        after.add(i, Event::fence(EventKind::WriteFence), s.of(i));
                        Rule::WriteFence
                    }
                };
                emit(Step::take(i, rule, id), after, written);
            }
        }
        for (way, e) in s.minimal_with_ways() {
            let mut after = s.clone();
            let removed = after.remove(e);
            let event = removed.event;
            let rule = match event.kind {
                // 10.
                EventKind::WriteFence => Rule::FenceElimination,
                // 9.
                EventKind::Read if head.get(config, event.var) != event.value => continue,
                EventKind::Read => Rule::Validate,
                // 8.
                _ => Rule::Update,
            };
            scratch.clear();
            scratch.extend_from_slice(&config[..head.len()]);
            if rule == Rule::Update {
                head.set(scratch, event.var, event.value);
            }
            self.events.write(after, scratch);
            visit(Step { way, ..Step::memory(removed.process, rule, event) }, scratch);
        }
        complete
    }

    fn is_settled(&self, config: &[Cell]) -> bool {
        self.events.read(config).set(|e| e.event.kind == EventKind::Read) == 0
    }
}
