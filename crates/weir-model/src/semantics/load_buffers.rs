//! TSO by load buffers (Spengler 2024, section 9, after Abdulla et al. 2018).
//!
//! The direction of the buffers is reversed: a write reaches memory at once, and
//! processes see the contents of memory late.
//!
//! *Configuration*: control states, memory, and for each process the length of
//! its buffer and the messages in it, oldest first: *loads*, values of memory
//! on their way to the process, and *own* messages, its own writes.
//!
//! A run may propagate for ever, so even a loop-free program has infinitely many
//! configurations. A message that is never read is only deleted again. So a value is
//! propagated only while the buffer holds fewer loads than the number of reads that the
//! process can still do, and only for variables that it reads at all.

use super::alphabet::Alphabet;
use super::layout::{Buffers, Layout};
use super::{Event, EventKind, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, StateId, VarId};
use crate::program::FenceKind;
use crate::system::{Op, Seen, System};

pub(super) struct LoadBuffers<'s> {
    system: &'s System,
    buffers: Buffers,
    bound: usize,
    /// For each process and control state, how many reads may still come.
    reads: Vec<Vec<Option<usize>>>,
    /// For each process, the variables that it reads.
    vars: Vec<Vec<VarId>>,
}

impl<'s> LoadBuffers<'s> {
    pub fn new(system: &'s System, bound: usize) -> Self {
        Self {
            system,
            buffers: Buffers::new(system, Alphabet::new(system, [EventKind::Own, EventKind::Load])),
            bound,
            reads: system.process_ids().map(|p| system.most_reads(p)).collect(),
            vars: system.process_ids().map(|p| system.accesses(p).reads).collect(),
        }
    }
}

impl Semantics for LoadBuffers<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        &self.buffers
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.buffers.head;
        let mut buffers = self.buffers.read(config);
        let mut complete = true;
        for p in self.system.process_ids() {
            let buffer = std::mem::take(&mut buffers[p.index()]);
            let mut emit = |step: Step, to: Option<StateId>, written, after: Vec<Event>| {
                buffers[p.index()] = after;
                scratch.clear();
                scratch.extend_from_slice(config);
                if let Some(to) = to {
                    scratch[p.index()] = to.0;
                }
                if let Some((x, d)) = written {
                    head.set(scratch, x, d);
                }
                self.buffers.write(&buffers, scratch);
                visit(step, scratch);
            };
            let see = |x: VarId, atomic: bool| {
                if atomic {
                    return Seen::One(head.get(config, x));
                }
                let own = buffer.iter().rev().find(|e| e.kind == EventKind::Own && e.var == x);
                match (own, buffer.first()) {
                    (Some(own), _) => Seen::One(own.value),
                    (None, Some(first)) if first.var == x => Seen::One(first.value),
                    _ => Seen::One(head.get(config, x)),
                }
            };
            for (id, t) in self.system.steps(p, control(config, p), see) {
                let mut written = None;
                let mut after = buffer.clone();
                let rule = match t.op {
                    Op::Nop => Rule::Nop,
                    Op::Write(x, d) => {
                        if buffer.len() >= self.bound {
                            complete = false;
                            continue;
                        }
                        written = Some((x, d));
                        after.push(Event { kind: EventKind::Own, var: x, value: d });
                        Rule::WriteMemory
                    }
                    Op::Read(x, d) => {
                        let own =
                            buffer.iter().rev().find(|e| e.kind == EventKind::Own && e.var == x);
                        match (own, buffer.first()) {
                            (Some(own), _) if own.value == d => Rule::ReadOwnWrite,
                            (None, Some(first)) if (first.var, first.value) == (x, d) => {
                                Rule::ReadBuffer
                            }
                            _ => continue,
                        }
                    }
                    Op::Arw(x, d, e) => {
                        if !buffer.is_empty() || head.get(config, x) != d {
                            continue;
                        }
                        written = Some((x, e));
                        Rule::Arw
                    }
                    Op::Fence(FenceKind::Full) if !buffer.is_empty() => continue,
                    Op::Fence(kind) => super::fence_rule(kind),
                };
                emit(Step::take(p, rule, id), Some(t.to), written, after);
            }
            // Read propagation
            let loads = buffer.iter().filter(|e| e.kind == EventKind::Load).count();
            let place = self.system.state(p, control(config, p)).place;
            let useful = place.and_then(|place| self.reads[p.index()][place]);
            if useful.is_none_or(|useful| loads < useful) {
                for &var in &self.vars[p.index()] {
                    if buffer.len() >= self.bound {
                        complete = false;
                        break;
                    }
                    let event = Event { kind: EventKind::Load, var, value: head.get(config, var) };
                    let mut after = buffer.clone();
                    after.push(event);
                    emit(Step::memory(p, Rule::Propagate, event), None, None, after);
                }
            }
            // Delete
            if let Some(&oldest) = buffer.first() {
                let step = Step::memory(p, Rule::Delete, oldest);
                emit(step, None, None, buffer[1..].to_vec());
            }
            buffers[p.index()] = buffer;
        }
        complete
    }
}
