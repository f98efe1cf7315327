//! Events, the letters of buffers. Each is encoded in one cell.

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

    /// Whether it is a fence, which has neither variable nor value.
    pub fn is_fence(self) -> bool {
        matches!(self.kind, EventKind::ReadFence | EventKind::WriteFence)
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

/// The letters of a system under a form of its semantics: a cell for each event.
///
/// The fences are 0 and 1. A value `d` of the variable `x`, one of `n`, has the even number
/// `2 + 2 (d n + x)` as the first kind of letter that a buffer may hold and the odd one after
/// it as the second kind. [`Variable::try_id`](crate::system::Variable::try_id) keeps
/// that within 32 bits.
#[derive(Debug)]
pub struct Alphabet {
    vars: u32,
    /// What even and odd numbers stand for.
    kinds: [EventKind; 2],
}

impl Alphabet {
    pub(super) fn new(system: &System, kinds: [EventKind; 2]) -> Self {
        Self { vars: system.vars.len().max(1) as u32, kinds }
    }

    /// The letters of store buffers.
    pub(super) fn of_stores(system: &System) -> Self {
        Self::new(system, [EventKind::Write, EventKind::Read])
    }

    /// The letter of an event.
    #[inline]
    pub fn encode(&self, event: Event) -> u32 {
        match event.kind {
            EventKind::WriteFence => 0,
            EventKind::ReadFence => 1,
            kind => {
                let parity = u32::from(kind != self.kinds[0]);
                2 + 2 * (event.value.0 * self.vars + u32::from(event.var.0)) + parity
            }
        }
    }

    /// The event of a letter.
    #[inline]
    pub fn decode(&self, letter: u32) -> Event {
        if letter < 2 {
            let fences = [EventKind::WriteFence, EventKind::ReadFence];
            return Event::fence(fences[letter as usize]);
        }
        let pair = (letter - 2) / 2;
        Event {
            kind: self.kinds[(letter % 2) as usize],
            var: VarId::new((pair % self.vars) as usize),
            value: ValueId(pair / self.vars),
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
