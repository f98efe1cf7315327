//! Events, the letters of buffers: each is one cell.

use super::Head;
use crate::ids::{ValueId, VarId};
use crate::system::{Op, System};

/// Something that a process has issued and that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// Its variable; 0 for a fence.
    pub var: VarId,
    /// Its value; 0 for a fence.
    pub value: ValueId,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A write that has not reached memory.
    Write,
    /// A read whose value is guessed.
    Read,
    /// A stored write fence.
    WriteFence,
    /// A stored read fence.
    ReadFence,
    /// A value of memory on its way to a process (see `load_buffers`).
    Load,
    /// A process's own write in its load buffer.
    Own,
}

impl Event {
    pub(super) fn write(var: VarId, value: ValueId) -> Self {
        Self { kind: EventKind::Write, var, value }
    }

    pub(super) fn read(var: VarId, value: ValueId) -> Self {
        Self { kind: EventKind::Read, var, value }
    }

    pub(super) fn fence(kind: EventKind) -> Self {
        Self { kind, var: VarId(0), value: ValueId(0) }
    }

    /// A read or write that waits.
    pub fn waiting(op: Op) -> Option<Self> {
        match op {
            Op::Write(var, value) => Some(Self::write(var, value)),
            Op::Read(var, value) => Some(Self::read(var, value)),
            Op::Nop | Op::Arw(..) | Op::Fence(_) => None,
        }
    }

    /// Whether it is a write to memory that is yet to come.
    pub fn is_write(self) -> bool {
        self.kind == EventKind::Write
    }

    /// Whether it is a read or write of the variable.
    pub(super) fn is_on(self, var: VarId) -> bool {
        self.var == var && !matches!(self.kind, EventKind::WriteFence | EventKind::ReadFence)
    }
}

/// The letters of a system: a cell for each event.
///
/// With `C` pairs of a variable and a value, the first kind of letter that a
/// buffer may hold is `0..C` and the second `C..2C`; the fences follow. A system has at most [`MAX_CELLS`](crate::system::MAX_CELLS) pairs,
/// so that all fit 16 bits.
#[derive(Debug)]
pub(super) struct Alphabet {
    first: Vec<u16>,
    pairs: Vec<(VarId, ValueId)>,
    /// What the two ranges stand for.
    kinds: [EventKind; 2],
}

impl Alphabet {
    pub fn new(system: &System, kinds: [EventKind; 2]) -> Self {
        let mut first = Vec::new();
        let mut pairs = Vec::new();
        for (x, var) in system.vars.iter().enumerate() {
            first.push(u16::try_from(pairs.len()).expect("cells are limited"));
            pairs.extend((0..var.values.len()).map(|v| (VarId::new(x), ValueId::new(v))));
        }
        Self { first, pairs, kinds }
    }

    /// The letters of store buffers.
    pub fn of_stores(system: &System) -> Self {
        Self::new(system, [EventKind::Write, EventKind::Read])
    }

    #[inline]
    pub fn encode(&self, event: Event) -> u16 {
        let count = self.pairs.len() as u16;
        match event.kind {
            EventKind::WriteFence => 2 * count,
            EventKind::ReadFence => 2 * count + 1,
            kind => {
                let range = self.kinds.iter().position(|k| *k == kind).expect("of this alphabet");
                range as u16 * count + self.first[event.var.index()] + event.value.0
            }
        }
    }

    #[inline]
    pub fn decode(&self, letter: u16) -> Event {
        let count = self.pairs.len();
        let letter = usize::from(letter);
        if letter >= 2 * count {
            let fences = [EventKind::WriteFence, EventKind::ReadFence];
            return Event::fence(fences[letter - 2 * count]);
        }
        let (var, value) = self.pairs[letter % count];
        Event { kind: self.kinds[letter / count], var, value }
    }

    /// The buffers of a configuration that keeps one per process behind its
    /// memory: a length and that many letters, oldest first.
    pub fn read_buffers(&self, config: &[u16], head: Head) -> Vec<Vec<Event>> {
        let mut at = head.len();
        let mut next = || {
            let len = usize::from(config[at]);
            let buffer = &config[at + 1..at + 1 + len];
            at += 1 + len;
            buffer.iter().map(|&l| self.decode(l)).collect()
        };
        (0..head.processes).map(|_| next()).collect()
    }

    /// Replaces everything behind the memory by these buffers.
    pub fn write_buffers(&self, buffers: &[Vec<Event>], head: Head, config: &mut Vec<u16>) {
        config.truncate(head.len());
        for buffer in buffers {
            config.push(buffer.len() as u16);
            config.extend(buffer.iter().map(|&e| self.encode(e)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SpanId;
    use crate::program::{Decl, Program};

    #[test]
    fn letters_are_events() {
        let span = SpanId::NONE;
        let mut y = Decl::scalar("y", 0, span);
        y.init = vec![vec![3, 4, 5]];
        let vars = vec![Decl::scalar("x", 0, span), y];
        let system = System::new(Program { vars, ..Program::default() }).unwrap();
        let alphabet = Alphabet::of_stores(&system);
        for letter in 0..2 * 4 + 2 {
            assert_eq!(alphabet.encode(alphabet.decode(letter)), letter);
        }
    }
}
