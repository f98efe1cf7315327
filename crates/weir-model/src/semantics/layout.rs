//! Layouts: what the cells of a configuration are, behind control states and memory.

use super::Head;
use super::alphabet::{Alphabet, Event};
use super::event_structure::EventStructure;
use crate::ids::{Cell, VarId};
use crate::system::System;

/// What lies behind the control states and the memory of a configuration.
pub trait Layout {
    /// Appends what an initial configuration holds there.
    fn initial_rest(&self, config: &mut Vec<Cell>);

    /// Whether nothing is under way.
    fn is_drained(&self, config: &[Cell]) -> bool;

    /// What each process has under way, oldest first.
    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>>;

    /// Where writes pass two buffers: how many of those that each process has under way are in
    /// the second one. They come first in [`pending`](Self::pending).
    fn transferred(&self, _config: &[Cell]) -> Option<Vec<usize>> {
        None
    }

    /// Where processes read from a history: for each process and each variable that it reads, how
    /// many values of the variable before the newest it may still read. A value that was written
    /// over with the same one counts once.
    fn unread(&self, _config: &[Cell]) -> Option<Vec<Vec<(VarId, usize)>>> {
        None
    }
}

/// One buffer for each process: its length and that many letters, oldest first.
pub(super) struct Buffers {
    pub head: Head,
    pub alphabet: Alphabet,
}

impl Buffers {
    pub fn new(system: &System, alphabet: Alphabet) -> Self {
        Self { head: Head::new(system), alphabet }
    }

    /// The buffers of a configuration.
    pub fn read(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        let mut at = self.head.len();
        let mut next = || {
            let len = config[at] as usize;
            let buffer = &config[at + 1..at + 1 + len];
            at += 1 + len;
            buffer.iter().map(|&l| self.alphabet.decode(l)).collect()
        };
        (0..self.head.processes).map(|_| next()).collect()
    }

    /// Replaces the buffers of a configuration.
    pub fn write(&self, buffers: &[Vec<Event>], config: &mut Vec<Cell>) {
        config.truncate(self.head.len());
        for buffer in buffers {
            config.push(buffer.len() as Cell);
            config.extend(buffer.iter().map(|&e| self.alphabet.encode(e)));
        }
    }
}

impl Layout for Buffers {
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        config.extend((0..self.head.processes).map(|_| 0));
    }

    // If all buffers are empty, there are only lengths.
    fn is_drained(&self, config: &[Cell]) -> bool {
        config[self.head.len()..].iter().all(|&len| len == 0)
    }

    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        self.read(config)
    }
}

/// One event structure.
pub(super) struct Events {
    pub head: Head,
    pub alphabet: Alphabet,
    /// How many reads of remote writes it records.
    pointers: usize,
}

impl Events {
    /// `remote` if processes read the writes of others early.
    pub fn new(system: &System, remote: bool) -> Self {
        let head = Head::new(system);
        let pointers = if remote { head.processes * head.vars } else { 0 };
        Self { head, alphabet: Alphabet::of_stores(system), pointers }
    }

    /// The event structure of a configuration.
    pub fn read(&self, config: &[Cell]) -> EventStructure {
        let at = self.head.len();
        EventStructure::read(&self.alphabet, self.head, config, at, self.pointers).0
    }

    /// Appends an event structure to control states and memory.
    pub fn write(&self, structure: EventStructure, config: &mut Vec<Cell>) {
        structure.write(&self.alphabet, self.head, config);
    }
}

impl Layout for Events {
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        self.write(EventStructure { events: vec![], sigma: vec![None; self.pointers] }, config);
    }

    fn is_drained(&self, config: &[Cell]) -> bool {
        self.read(config).events.is_empty()
    }

    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        self.read(config).pending(self.head)
    }
}
