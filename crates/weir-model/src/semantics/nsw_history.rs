//! NSW by event structures of writes and a history buffer (Atig et al. 2012, section 5.1).
//!
//! *Configuration*: control states, memory, an event structure of writes and
//! write fences, and the history `H`: the number of memory states before the
//! newest, those states, oldest first, and the pointers `π(i,j)` as indices
//! into the history with the newest state last. States before every pointer
//! are dropped, as the paper says they may be.
//!
//! Pointers move in separate steps (rule 5), exactly as in the paper: this form exists
//! for comparison with the others and is not optimized.

use super::alphabet::Alphabet;
use super::event_structure::EventStructure;
use super::layout::Layout;
use super::{Event, EventKind, Head, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, ValueId, VarId};
use crate::memory_model::{MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::system::{Op, Seen, System};

pub(super) struct NswHistory<'s> {
    system: &'s System,
    head: Head,
    alphabet: Alphabet,
    bound: usize,
    partial_fences: bool,
}

#[derive(Clone)]
struct History {
    /// Memory states, the newest last; never empty.
    states: Vec<Vec<Cell>>,
    /// `π(i,j)`.
    pointers: Vec<usize>,
}

impl History {
    fn newest(&self) -> usize {
        self.states.len() - 1
    }

    /// `B' = add(B, d[j ← d])`.
    fn add(&mut self, var: VarId, value: ValueId) {
        let mut state = self.states[self.newest()].clone();
        state[var.index()] = value.0;
        self.states.push(state);
    }

    fn trim(&mut self) {
        let oldest = self.pointers.iter().copied().min().unwrap_or(self.newest());
        self.states.drain(..oldest);
        for pointer in &mut self.pointers {
            *pointer -= oldest;
        }
    }
}

impl<'s> NswHistory<'s> {
    pub fn new(system: &'s System, model: MemoryModel, bound: usize) -> Self {
        Self {
            system,
            head: Head::new(system),
            alphabet: Alphabet::of_stores(system),
            bound,
            partial_fences: model.has(Relaxation::Rwf),
        }
    }

    fn decode(&self, config: &[Cell]) -> (EventStructure, History) {
        let head = self.head;
        let (s, at) = EventStructure::read(&self.alphabet, head, config, head.len(), 0);
        let past = config[at] as usize;
        let pointers = at + 1 + past * head.vars;
        let mut states: Vec<Vec<Cell>> = (0..past)
            .map(|k| config[at + 1 + k * head.vars..at + 1 + (k + 1) * head.vars].to_vec())
            .collect();
        states.push(config[head.processes..head.len()].to_vec());
        let pointers = config[pointers..].iter().map(|&p| p as usize).collect();
        (s, History { states, pointers })
    }

    fn encode(&self, s: EventStructure, mut history: History, out: &mut Vec<Cell>) {
        history.trim();
        let newest = history.newest();
        out.truncate(self.head.processes);
        out.extend_from_slice(&history.states[newest]);
        s.write(&self.alphabet, self.head, out);
        out.push(newest as u32);
        out.extend(history.states[..newest].iter().flatten());
        out.extend(history.pointers.iter().map(|&p| p as u32));
    }

    fn pointer(&self, process: ProcessId, var: VarId) -> usize {
        process.index() * self.head.vars + var.index()
    }
}

impl Layout for NswHistory<'_> {
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        EventStructure::default().write(&self.alphabet, self.head, config);
        config.push(0);
        config.extend((0..self.head.processes * self.head.vars).map(|_| 0));
    }

    fn is_drained(&self, config: &[Cell]) -> bool {
        self.decode(config).0.events.is_empty()
    }

    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        self.decode(config).0.pending(self.head)
    }
}

impl Semantics for NswHistory<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        self
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.head;
        let (s, h) = self.decode(config);
        let mut complete = true;
        let at_newest = |i: ProcessId| {
            let pointers = i.index() * head.vars..(i.index() + 1) * head.vars;
            h.pointers[pointers].iter().all(|&p| p == h.newest())
        };
        let mut emit = |step: Step, to: Option<u32>, s: EventStructure, h: History| {
            scratch.clear();
            scratch.extend_from_slice(&config[..head.processes]);
            if let Some(to) = to {
                scratch[step.process.index()] = to;
            }
            self.encode(s, h, scratch);
            visit(step, scratch);
        };
        for i in self.system.process_ids() {
            let wfences = s.set(|e| e.process == i && e.event.kind == EventKind::WriteFence);
            let see = |x: VarId, atomic: bool| {
                let at = if atomic { h.newest() } else { h.pointers[self.pointer(i, x)] };
                match s.last(s.accesses(i, x)).filter(|_| !atomic) {
                    Some(w) => Seen::One(s.events[w].event.value),
                    None => Seen::One(ValueId(h.states[at][x.index()])),
                }
            };
            for (id, t) in self.system.steps(i, control(config, i), see) {
                let (mut s2, mut h2) = (s.clone(), h.clone());
                let rule = match t.op {
                    // 1.
                    Op::Nop => Rule::Nop,
                    // 2.
                    Op::Write(x, d) => {
                        if !s.has_room(i, 1, self.bound) {
                            complete = false;
                            continue;
                        }
                        s2.add(i, Event::write(x, d), s.accesses(i, x) | wfences);
                        Rule::Write
                    }
                    // 4. RLWE, 6. Read
                    Op::Read(x, d) => match s.last(s.accesses(i, x)) {
                        Some(w) if s.events[w].event.value == d => Rule::ReadOwnWrite,
                        Some(_) => continue,
                        None => {
                            let pointer = h.pointers[self.pointer(i, x)];
                            if h.states[pointer][x.index()] != d.0 {
                                continue;
                            }
                            Rule::ReadHistory
                        }
                    },
                    // 8. ARW
                    Op::Arw(x, d, e) => {
                        let value = h.states[h.newest()][x.index()];
                        if s.of(i) != 0 || !at_newest(i) || value != d.0 {
                            continue;
                        }
                        if h.newest() >= self.bound {
                            complete = false;
                            continue;
                        }
                        h2.add(x, e);
                        for j in 0..head.vars {
                            h2.pointers[self.pointer(i, VarId::new(j))] = h2.newest();
                        }
                        Rule::Arw
                    }
                    Op::Fence(FenceKind::Full) if s.of(i) != 0 || !at_newest(i) => continue,
                    Op::Fence(FenceKind::Full) => Rule::Fence,
                    Op::Fence(kind) if !self.partial_fences => super::fence_rule(kind),
                    // 7. Read fence
                    Op::Fence(FenceKind::Read) if !at_newest(i) => continue,
                    Op::Fence(FenceKind::Read) => Rule::ReadFence,
                    // 3. Write fence
                    Op::Fence(FenceKind::Write) => {
                        if !s.has_room(i, 1, self.bound) {
                            complete = false;
                            continue;
                        }
                        s2.add(i, Event::fence(EventKind::WriteFence), s.of(i));
                        Rule::WriteFence
                    }
                };
                emit(Step::take(i, rule, id), Some(t.to.0), s2, h2);
            }
            // 5. Move pointer
            for j in (0..head.vars).map(VarId::new) {
                let pointer = self.pointer(i, j);
                for (way, e) in (0..).zip(h.pointers[pointer] + 1..=h.newest()) {
                    let mut h2 = h.clone();
                    h2.pointers[pointer] = e;
                    let seen = Event::read(j, ValueId(h.states[e][j.index()]));
                    let step = Step { way, ..Step::memory(i, Rule::MovePointer, seen) };
                    emit(step, None, s.clone(), h2);
                }
            }
        }
        for (way, e) in s.minimal_with_ways() {
            let (mut s2, mut h2) = (s.clone(), h.clone());
            let removed = s2.remove(e);
            let event = removed.event;
            let rule = if event.is_write() {
                // 9. Memory update
                if h.newest() >= self.bound {
                    complete = false;
                    continue;
                }
                h2.add(event.var, event.value);
                h2.pointers[self.pointer(removed.process, event.var)] = h2.newest();
                Rule::Update
            } else {
                // 10. Write fence elimination
                Rule::FenceElimination
            };
            emit(Step { way, ..Step::memory(removed.process, rule, event) }, None, s2, h2);
        }
        complete
    }
}
