//! Guess and validate: writes that overtake reads (Atig et al. 2010, section 8).
//!
//! A read enters the buffer of its process with a guessed value, and is *validated* when
//! it leaves the buffer and memory has that value.
//!
//! *Configuration*: control states, memory, and for each process the length of
//! its buffer and the reads and writes in it, oldest first.
//!
//! Three models share the rules. They differ in which operations may leave the buffer:
//!
//! | | Update of `w(x,d)` needs before it | Validate of `r(x,d)` needs before it |
//! | --- | --- | --- |
//! | 8.1, `{w->r, r->r, r->w}` | no write, no read of `x` | nothing on `x` |
//! | 8.2, the same with `w->w` | nothing on `x` | nothing on `x` |
//! | `{w->r, r->w}` (Atig et al. 2012, section 3.4) | no write, no read of `x` | no read, no write to `x` |
//!
//! The number of reads that a process has in its buffers can be bounded, which makes
//! reachability decidable (Atig et al. 2010, section 9.2, for the first two models; the
//! argument covers the third, see `weir_channel::guess`). A
//! read that takes its value from memory is guessed and validated, so with a bound of 1
//! only writes overtake reads, and with a bound of 2 reads overtake reads as well.
//!
//! In section 8.2 of the paper there is a buffer per variable. Here the buffer is one
//! sequence ordered by variable, which is equivalent.
//!
//! Neither paper defines the third model operationally. In it, *Read own write* needs
//! care. A read may take the value of the last own write `w` only if it can be moved next
//! to it (Atig et al. 2012, rule 3). It cannot overtake the reads after `w`, so those
//! must be able to move before `w`, which a write to the same variable in between
//! forbids. (They need not stay there: `w` may overtake them again.)

use super::alphabet::Alphabet;
use super::layout::{Buffers, Layout};
use super::{Event, EventKind, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId};
use crate::memory_model::{MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::system::{Op, Seen, System, Transition};

pub(super) struct Guess<'s> {
    system: &'s System,
    buffers: Buffers,
    bound: usize,
    /// The most reads that a process may have in its buffers.
    guesses: Option<usize>,
    /// `w->w`: one buffer per variable.
    write_write: bool,
    /// `r->r` is missing: reads are validated in order.
    in_order: bool,
}

impl<'s> Guess<'s> {
    pub fn new(
        system: &'s System,
        model: MemoryModel,
        bound: usize,
        guesses: Option<usize>,
    ) -> Self {
        Self {
            system,
            buffers: Buffers::new(system, Alphabet::of_stores(system)),
            bound,
            guesses,
            write_write: model.has(Relaxation::WriteWrite),
            in_order: !model.has(Relaxation::ReadRead),
        }
    }

    /// Puts an event behind those that it must not overtake.
    fn push(&self, buffer: &mut Vec<Event>, event: Event) {
        let at = if self.write_write {
            buffer.iter().position(|e| e.var > event.var).unwrap_or(buffer.len())
        } else {
            buffer.len()
        };
        buffer.insert(at, event);
    }

    /// Whether the event at `at` may leave its buffer.
    fn may_leave(&self, buffer: &[Event], at: usize) -> bool {
        let event = buffer[at];
        let before = &buffer[..at];
        let same = before.iter().any(|e| e.var == event.var);
        let reads = before.iter().any(|e| e.kind == EventKind::Read);
        let writes = before.iter().any(|e| e.is_write());
        match event.kind {
            EventKind::Read => !(same || self.in_order && reads),
            _ => !same && (self.write_write || !writes),
        }
    }

    /// Whether no more reads may be guessed.
    fn has_guessed_enough(&self, buffer: &[Event]) -> bool {
        let reads = buffer.iter().filter(|e| e.kind == EventKind::Read).count();
        self.guesses.is_some_and(|most| reads >= most)
    }

    /// Whether a read can take its value from the last own write to the variable.
    fn reads_own_write(&self, buffer: &[Event], read: Event) -> bool {
        let Some(at) = buffer.iter().rposition(|e| e.var == read.var) else { return false };
        let write = buffer[at];
        let behind = &buffer[at + 1..];
        let stuck = |(i, e): (usize, &Event)| {
            e.kind == EventKind::Read && behind[..i].iter().any(|w| w.is_write() && w.var == e.var)
        };
        write.is_write()
            && write.value == read.value
            && !(self.in_order && behind.iter().enumerate().any(stuck))
    }
}

impl Semantics for Guess<'_> {
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
            let see = |x, atomic: bool| match atomic {
                true => Seen::One(head.get(config, x)),
                false => Seen::Among(self.system.guesses(x)),
            };
            for (id, t) in self.system.steps(p, control(config, p), see) {
                let mut after = buffer.clone();
                let mut written = None;
                let rule = match t.op {
                    Op::Nop => Rule::Nop,
                    Op::Write(x, d) => {
                        self.push(&mut after, Event::write(x, d));
                        Rule::Write
                    }
                    Op::Read(x, d) if self.reads_own_write(&buffer, Event::read(x, d)) => {
                        Rule::ReadOwnWrite
                    }
                    Op::Read(..) if self.has_guessed_enough(&buffer) => continue,
                    Op::Read(x, d) => {
                        self.push(&mut after, Event::read(x, d));
                        Rule::Guess
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
                if after.len() > self.bound {
                    complete = false;
                    continue;
                }
                buffers[p.index()] = after;
                scratch.clear();
                scratch.extend_from_slice(config);
                scratch[p.index()] = t.to.0;
                if let Some((x, d)) = written {
                    head.set(scratch, x, d);
                }
                self.buffers.write(&buffers, scratch);
                visit(Step::take(p, rule, id), scratch);
            }
            for at in (0..buffer.len()).filter(|&at| self.may_leave(&buffer, at)) {
                let event = buffer[at];
                let rule = if event.is_write() { Rule::Update } else { Rule::Validate };
                if rule == Rule::Validate && head.get(config, event.var) != event.value {
                    continue;
                }
                let mut shorter = buffer.clone();
                shorter.remove(at);
                buffers[p.index()] = shorter;
                scratch.clear();
                scratch.extend_from_slice(config);
                head.set(scratch, event.var, event.value);
                self.buffers.write(&buffers, scratch);
                visit(Step::memory(p, rule, event), scratch);
            }
            buffers[p.index()] = buffer;
        }
        complete
    }

    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        let mut buffers = self.buffers.read(config);
        let buffer = &mut buffers[process.index()];
        let rule = match t.op {
            Op::Nop => Rule::Nop,
            Op::Write(x, d) if buffer.len() < self.bound => {
                self.push(buffer, Event::write(x, d));
                Rule::Write
            }
            Op::Fence(kind) if kind != FenceKind::Full || buffer.is_empty() => {
                super::fence_rule(kind)
            }
            Op::Write(..) | Op::Fence(_) | Op::Read(..) | Op::Arw(..) => return None,
        };
        config[process.index()] = t.to.0;
        self.buffers.write(&buffers, config);
        Some(rule)
    }

    fn is_settled(&self, config: &[Cell]) -> bool {
        self.buffers.read(config).iter().flatten().all(|e| e.is_write())
    }
}
