//! TSO by store buffers (Atig et al. 2010, section 3.2): one FIFO of writes per process.
//!
//! *Configuration*: control states, memory, and for each process the length of
//! its buffer and the writes in it, oldest first.
//!
//! Partial fences order nothing here (Atig et al. 2012, section 3.3): writes leave the
//! buffer in order, and reads happen in order anyway. A full fence is an atomic
//! read-write without a variable (Atig et al. 2010, section 1.1).

use std::ops::Range;

use super::alphabet::Alphabet;
use super::layout::{Buffers, Layout};
use super::{Event, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, ValueId, VarId};
use crate::program::FenceKind;
use crate::symmetry::Automorphism;
use crate::system::{Op, System, Transition};

pub(super) struct Tso<'s> {
    system: &'s System,
    buffers: Buffers,
    bound: usize,
}

impl<'s> Tso<'s> {
    pub fn new(system: &'s System, bound: usize) -> Self {
        Self { system, buffers: Buffers::new(system, Alphabet::of_stores(system)), bound }
    }

    /// Where the writes of a process are.
    #[inline]
    fn buffer(&self, config: &[Cell], process: ProcessId) -> Range<usize> {
        let mut at = self.buffers.head.len();
        for _ in 0..process.index() {
            at += 1 + config[at] as usize;
        }
        at + 1..at + 1 + config[at] as usize
    }
}

impl Semantics for Tso<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        &self.buffers
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.buffers.head;
        let mut complete = true;
        let mut at = head.len();
        for p in self.system.process_ids() {
            let len = config[at] as usize;
            let buffer = at + 1..at + 1 + len;
            let own = |x: VarId| {
                let letters = config[buffer.clone()].iter().rev();
                letters.map(|&l| self.buffers.alphabet.decode(l)).find(|e| e.var == x)
            };
            let see = |x: VarId, atomic: bool| {
                let own = own(x).filter(|_| !atomic);
                own.map_or_else(|| head.get(config, x), |e| e.value)
            };
            for (id, t) in self.system.steps_on(p, control(config, p), see) {
                let mut written = None;
                let mut push = None;
                let rule = match t.op {
                    Op::Nop => Rule::Nop,
                    Op::Write(x, d) => {
                        if len >= self.bound {
                            complete = false;
                            continue;
                        }
                        push = Some(self.buffers.alphabet.encode(Event::write(x, d)));
                        Rule::Write
                    }
                    Op::Read(x, d) => match own(x) {
                        Some(w) if w.value == d => Rule::ReadOwnWrite,
                        None if head.get(config, x) == d => Rule::ReadMemory,
                        _ => continue,
                    },
                    Op::Arw(x, d, e) => {
                        if len > 0 || head.get(config, x) != d {
                            continue;
                        }
                        written = Some((x, e));
                        Rule::Arw
                    }
                    Op::Fence(FenceKind::Full) if len > 0 => continue,
                    Op::Fence(kind) => super::fence_rule(kind),
                };
                scratch.clear();
                scratch.extend_from_slice(config);
                scratch[p.index()] = t.to.0;
                if let Some((x, d)) = written {
                    head.set(scratch, x, d);
                }
                if let Some(letter) = push {
                    scratch[at] += 1;
                    scratch.insert(buffer.end, letter);
                }
                visit(Step::take(p, rule, id), scratch);
            }
            if len > 0 {
                let event = self.buffers.alphabet.decode(config[buffer.start]);
                scratch.clear();
                scratch.extend_from_slice(config);
                scratch[at] -= 1;
                scratch.remove(buffer.start);
                head.set(scratch, event.var, event.value);
                visit(Step::memory(p, Rule::Update, event), scratch);
            }
            at = buffer.end;
        }
        complete
    }

    fn image(&self, config: &[Cell], g: &Automorphism, image: &mut Vec<Cell>) -> Option<()> {
        image.clear();
        g.head(self.system, config, image)?;
        for p in self.system.process_ids() {
            let buffer = &config[self.buffer(config, g.process_source(p))];
            image.push(buffer.len() as Cell);
            for &letter in buffer {
                let event = g.event(self.system, self.buffers.alphabet.decode(letter))?;
                image.push(self.buffers.alphabet.encode(event));
            }
        }
        Some(())
    }

    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        let Range { start, end } = self.buffer(config, process);
        let len = end - start;
        let rule = match t.op {
            Op::Nop => Rule::Nop,
            Op::Write(x, d) if len < self.bound => {
                config[start - 1] += 1;
                config.insert(end, self.buffers.alphabet.encode(Event::write(x, d)));
                Rule::Write
            }
            Op::Fence(kind) if kind != FenceKind::Full || len == 0 => super::fence_rule(kind),
            Op::Write(..) | Op::Fence(_) | Op::Read(..) | Op::Arw(..) => return None,
        };
        config[process.index()] = t.to.0;
        Some(rule)
    }

    fn sees(&self, config: &[Cell], process: ProcessId, var: VarId) -> Option<ValueId> {
        let own = config[self.buffer(config, process)].iter().rev();
        let last = own.map(|&l| self.buffers.alphabet.decode(l)).find(|e| e.var == var);
        Some(last.map_or_else(|| self.buffers.head.get(config, var), |e| e.value))
    }

    fn has_under_way(&self, config: &[Cell], process: ProcessId, var: VarId) -> bool {
        config[self.buffer(config, process)]
            .iter()
            .any(|&l| self.buffers.alphabet.decode(l).var == var)
    }

    fn update_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        may: &dyn Fn(&[Cell], VarId) -> bool,
    ) -> Option<Step> {
        let buffer = self.buffer(config, process);
        let event = self.buffers.alphabet.decode(*config[buffer.clone()].first()?);
        if !may(config, event.var) {
            return None;
        }
        config[buffer.start - 1] -= 1;
        config.remove(buffer.start);
        self.buffers.head.set(config, event.var, event.value);
        Some(Step::memory(process, Rule::Update, event))
    }
}
