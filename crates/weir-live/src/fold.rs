//! TSO with folded buffers: a finite abstraction of the configurations.
//!
//! *Problem.* Four of the five progress properties are undecidable under TSO (Wang et al.
//! 2021, Theorem 1), and so is repeated reachability (Atig et al. 2010, theorem 4):
//! buffers have no bound. But a graph that over-approximates the runs of the program and
//! has no violating cycle proves that there is no violation.
//!
//! *Folding.* A buffer that holds more than `k` writes is represented by its `k` oldest
//! writes and a *tail*: the set of writes in the rest, and for each variable among them
//! the last write to it. A tail stands for every word over its set with these last
//! writes. So the representation determines what a process reads from its own buffer,
//! whether the buffer is empty, and which steps the process can take. It does not
//! determine which write of a tail comes next, nor whether that is the only one left to
//! its variable.
//!
//! *Soundness.* Let a folded configuration represent all configurations that its tails
//! allow. If a configuration takes a step, every folded configuration that represents it
//! has a step of the same process, by the same transition or a flush, to one that
//! represents the result:
//!
//! * `w(x,d)` after `k` writes or a tail adds the write to the set and makes it the last
//!   one to `x`; otherwise it appends to the word.
//! * `r(x,d)` reads the last write to `x` of the tail, otherwise the youngest among the
//!   `k`, otherwise memory: the same value as in the configuration.
//! * `arw` and `fence` need an empty buffer; a folded buffer is empty if and only if the
//!   buffer that it represents is.
//! * A flush takes the oldest of the `k`; the first write `a` of the rest moves up. Some
//!   write of the set is `a`. Either another write to the same variable follows it, and
//!   then the set and the last writes still describe the rest; or it is the last one, and
//!   then no write to its variable is left. Both are tried for every `a`.
//!
//! So an infinite run has a folded run with the same steps, the same control states and
//! memories, and buffers that are empty at the same moments: it is fair, flush-fair and
//! violating if the run is. A process that flushes infinitely often also writes
//! infinitely often, as every configuration holds finitely many writes. Folded runs for
//! which this is not so are excluded ([`patterns`](crate::property::patterns) with `spends`);
//! otherwise a tail could be flushed for ever.
//!
//! *Freezing* ([`frozen`]) under-approximates: a process whose buffer holds more than `k`
//! writes never flushes again. Then only the last write to each variable of its buffer
//! matters, so there are finitely many nodes, and every run through them is a run of the
//! program. In a cycle in which such a process writes, its buffer grows with every
//! iteration.
//!
//! `k` is raised until a proof or a violation is found or the limits are reached.

use weir_model::answer::{Buffered, StoreBuffer, StoreTail};
use weir_model::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use weir_model::program::FenceKind;
use weir_model::system::{Op, Seen, System};

use crate::graph::{Edge, Extent, Graph, Unfinished, mask};

/// The folded graph of a system under TSO that tells the `level` oldest writes of
/// each buffer apart.
///
/// # Errors
/// If a limit is hit.
pub fn graph<'s>(
    system: &'s System,
    level: usize,
    extent: &Extent,
) -> Result<Graph<'s>, Unfinished> {
    Fold::new(system, level, Tails::Folded).graph(extent)
}

/// The graph of a system under TSO in which a process does not flush any more once
/// its buffer holds more than `bound` writes. It is complete if none ever did.
///
/// # Errors
/// If a limit is hit.
pub fn frozen<'s>(
    system: &'s System,
    bound: usize,
    extent: &Extent,
) -> Result<Graph<'s>, Unfinished> {
    Fold::new(system, bound, Tails::Frozen).graph(extent)
}

/// The configurations of the folded graph of a system under TSO, in its order.
///
/// # Errors
/// If a limit is hit.
pub fn configurations(
    system: &System,
    level: usize,
    extent: &Extent,
) -> Result<Vec<Buffered>, Unfinished> {
    let fold = Fold::new(system, level, Tails::Folded);
    let graph = fold.graph(extent)?;
    Ok((0..graph.len()).map(|node| fold.buffered(&graph.config(node))).collect())
}

/// The rest of a buffer after its oldest writes, abstracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tails {
    /// Any write that occurs there may come next.
    Folded,
    /// None does.
    Frozen,
}

/// A folded buffer. Writes are letters, numbered so that those to one variable
/// are next to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Buffer {
    /// The oldest writes, oldest first.
    oldest: Vec<u32>,
    /// The writes that occur in the tail, in order; none if it is frozen.
    set: Vec<u32>,
    /// The last write to each variable that occurs in the tail, in order.
    last: Vec<u32>,
}

impl Buffer {
    fn is_empty(&self) -> bool {
        self.oldest.is_empty() && self.last.is_empty()
    }
}

struct Fold<'s> {
    system: &'s System,
    level: usize,
    tails: Tails,
}

impl<'s> Fold<'s> {
    fn new(system: &'s System, level: usize, tails: Tails) -> Self {
        Self { system, level, tails }
    }

    fn graph(&self, extent: &Extent) -> Result<Graph<'s>, Unfinished> {
        let mut successors = |config: &[Cell], visit: &mut dyn FnMut(Edge, &[Cell])| {
            self.successors(config, visit);
            // What is not frozen leaves nothing out.
            let is_frozen = |b: &Buffer| self.tails == Tails::Frozen && !b.last.is_empty();
            !self.buffers(config).iter().any(is_frozen)
        };
        let mut empty = |config: &[Cell]| mask(self.buffers(config).iter().map(Buffer::is_empty));
        Graph::grow(self.system, self.initial(), &mut successors, &mut empty, extent)
    }

    fn letter(&self, x: VarId, d: ValueId) -> u32 {
        d.0 * self.system.vars.len() as u32 + u32::from(x.0)
    }

    fn var(&self, letter: u32) -> VarId {
        VarId::new(letter as usize % self.system.vars.len())
    }

    fn value(&self, letter: u32) -> ValueId {
        ValueId(letter / self.system.vars.len() as u32)
    }

    /// Control states, memory, and for each process the three parts of its buffer,
    /// each after its length.
    fn initial(&self) -> impl Iterator<Item = Vec<Cell>> {
        self.system.initial_memories().map(|memory| {
            let processes = &self.system.processes;
            let empty = std::iter::repeat_n(0, 3 * processes.len());
            let controls = processes.iter().map(|p| p.initial.0);
            controls.chain(memory.iter().map(|v| v.0)).chain(empty).collect()
        })
    }

    fn buffers(&self, config: &[Cell]) -> Vec<Buffer> {
        let mut at = self.system.processes.len() + self.system.vars.len();
        let mut part = || {
            let len = config[at] as usize;
            let cells = config[at + 1..at + 1 + len].to_vec();
            at += 1 + len;
            cells
        };
        let all = self.system.processes.iter();
        all.map(|_| Buffer { oldest: part(), set: part(), last: part() }).collect()
    }

    /// A configuration as data.
    fn buffered(&self, config: &[Cell]) -> Buffered {
        let n = self.system.processes.len();
        let write = |letter: &u32| (self.var(*letter), self.value(*letter));
        let tail = |buffer: &Buffer| StoreTail {
            writes: buffer.set.iter().map(write).collect(),
            last: buffer.last.iter().map(write).collect(),
        };
        let buffer = |buffer: &Buffer| StoreBuffer {
            oldest: buffer.oldest.iter().map(write).collect(),
            tail: (!buffer.last.is_empty()).then(|| tail(buffer)),
        };
        Buffered {
            controls: config[..n].iter().map(|s| StateId(*s)).collect(),
            memory: config[n..n + self.system.vars.len()].iter().map(|d| ValueId(*d)).collect(),
            buffers: self.buffers(config).iter().map(buffer).collect(),
        }
    }

    fn write_out(&self, head: &[Cell], buffers: &[Buffer], out: &mut Vec<Cell>) {
        out.clear();
        out.extend_from_slice(head);
        for buffer in buffers {
            for part in [&buffer.oldest, &buffer.set, &buffer.last] {
                out.push(part.len() as u32);
                out.extend_from_slice(part);
            }
        }
    }

    fn successors(&self, config: &[Cell], visit: &mut dyn FnMut(Edge, &[Cell])) {
        let n = self.system.processes.len();
        let mut head = config[..n + self.system.vars.len()].to_vec();
        let mut buffers = self.buffers(config);
        let mut out = Vec::new();
        for p in self.system.process_ids() {
            let control = head[p.index()];
            let see = |x: VarId, atomic: bool| match atomic {
                true => Seen::One(ValueId(head[n + x.index()])),
                false => Seen::One(self.lookup(&buffers[p.index()], &head[n..], x)),
            };
            for (id, t) in self.system.steps(p, StateId(control), see) {
                let buffer = &buffers[p.index()];
                let mut written = None;
                let mut pushed = None;
                match t.op {
                    Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => {}
                    Op::Read(x, d) if self.lookup(buffer, &head[n..], x) == d => {}
                    Op::Write(x, d) => pushed = Some(self.push(buffer, self.letter(x, d))),
                    Op::Arw(x, d, e) if buffer.is_empty() && head[n + x.index()] == d.0 => {
                        written = Some((x, e));
                    }
                    Op::Fence(FenceKind::Full) if buffer.is_empty() => {}
                    Op::Read(..) | Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
                }
                head[p.index()] = t.to.0;
                let before = written.map(|(x, e)| std::mem::replace(&mut head[n + x.index()], e.0));
                let old = pushed.map(|new| std::mem::replace(&mut buffers[p.index()], new));
                self.write_out(&head, &buffers, &mut out);
                visit(Edge::new(self.system, p, Some(id), 0), &out);
                if let Some(old) = old {
                    buffers[p.index()] = old;
                }
                if let (Some((x, _)), Some(before)) = (written, before) {
                    head[n + x.index()] = before;
                }
                head[p.index()] = control;
            }
            self.flushes(p, &mut head, &mut buffers, &mut out, visit);
        }
    }

    fn flushes(
        &self,
        p: ProcessId,
        head: &mut [Cell],
        buffers: &mut [Buffer],
        out: &mut Vec<Cell>,
        visit: &mut dyn FnMut(Edge, &[Cell]),
    ) {
        let n = self.system.processes.len();
        let buffer = buffers[p.index()].clone();
        for (letter, rest) in self.pop(&buffer) {
            let x = self.var(letter);
            let before = std::mem::replace(&mut head[n + x.index()], self.value(letter).0);
            buffers[p.index()] = rest;
            self.write_out(head, buffers, out);
            visit(Edge::new(self.system, p, None, 0), out);
            head[n + x.index()] = before;
        }
        buffers[p.index()] = buffer;
    }

    /// What a process reads.
    fn lookup(&self, buffer: &Buffer, memory: &[Cell], x: VarId) -> ValueId {
        let in_tail = buffer.last.iter().find(|&&l| self.var(l) == x);
        let own = in_tail.or_else(|| buffer.oldest.iter().rev().find(|&&l| self.var(l) == x));
        own.map_or(ValueId(memory[x.index()]), |&l| self.value(l))
    }

    fn push(&self, buffer: &Buffer, letter: u32) -> Buffer {
        let mut new = buffer.clone();
        if new.last.is_empty() && new.oldest.len() < self.level {
            new.oldest.push(letter);
            return new;
        }
        if let (Tails::Folded, Err(at)) = (self.tails, new.set.binary_search(&letter)) {
            new.set.insert(at, letter);
        }
        new.last.retain(|&l| self.var(l) != self.var(letter));
        let at = new.last.partition_point(|&l| l < letter);
        new.last.insert(at, letter);
        new
    }

    /// The writes that may be the oldest, each with what is left.
    fn pop(&self, buffer: &Buffer) -> Vec<(u32, Buffer)> {
        if self.tails == Tails::Frozen && !buffer.last.is_empty() {
            return vec![];
        }
        let Some((&oldest, rest)) = buffer.oldest.split_first() else {
            return self.heads(buffer);
        };
        let rest = Buffer { oldest: rest.to_vec(), ..buffer.clone() };
        if rest.last.is_empty() {
            return vec![(oldest, rest)];
        }
        let moved = self.heads(&rest).into_iter().map(|(letter, mut left)| {
            left.oldest.push(letter);
            (oldest, left)
        });
        moved.collect()
    }

    /// The writes that may come first in the tail, each with what is left of it.
    fn heads(&self, buffer: &Buffer) -> Vec<(u32, Buffer)> {
        let mut all = Vec::new();
        for &letter in &buffer.set {
            all.push((letter, buffer.clone()));
            if buffer.last.contains(&letter) {
                let mut left = buffer.clone();
                left.set.retain(|&l| self.var(l) != self.var(letter));
                left.last.retain(|&l| l != letter);
                all.push((letter, left));
            }
        }
        all
    }
}
