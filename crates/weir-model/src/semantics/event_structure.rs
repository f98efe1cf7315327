//! Event structures: partial orders of the operations under way (Atig et al. 2012,
//! section 4.1).
//!
//! Events are stored in the order in which they were issued, each with the set of its
//! predecessors as a bit set. The order is transitively closed at all times, so an event
//! is minimal if and only if its set is empty. Only minimal events are removed.

use super::Head;
use super::alphabet::{Alphabet, Event};
use crate::ids::{Cell, ProcessId, ValueId, VarId};

/// The most events of all processes together.
pub(super) const MAX_EVENTS: usize = 64;

/// A set of events, by their index.
pub(super) type Set = u64;

/// One event of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub process: ProcessId,
    pub event: Event,
    /// What has to happen before it.
    pub before: Set,
}

/// An event structure over the events of all processes.
#[derive(Clone, Debug, Default)]
pub(super) struct EventStructure {
    pub events: Vec<Pending>,
    /// `σ(i,j)` of Atig et al. 2012, section 7: for each process and variable the write that the
    /// process has read early, if it is still under way. Empty if no process reads early.
    pub sigma: Vec<Option<usize>>,
}

impl EventStructure {
    /// The events that a predicate picks.
    pub fn set(&self, mut picks: impl FnMut(&Pending) -> bool) -> Set {
        self.events.iter().enumerate().filter(|(_, e)| picks(e)).map(|(i, _)| 1 << i).sum()
    }

    /// `E(i,j)`: reads and writes of a variable by a process.
    pub fn accesses(&self, process: ProcessId, var: VarId) -> Set {
        self.set(|e| e.process == process && e.event.is_on(var))
    }

    /// The events of a process.
    pub fn of(&self, process: ProcessId) -> Set {
        self.set(|e| e.process == process)
    }

    /// The last event, as issued, of a set.
    pub fn last(&self, set: Set) -> Option<usize> {
        (set != 0).then(|| 63 - set.leading_zeros() as usize)
    }

    /// Whether `a` has to happen before `b`.
    pub fn is_before(&self, a: usize, b: usize) -> bool {
        self.events[b].before & 1 << a != 0
    }

    /// `S ⊎ [e ← event]` with everything in `after` before it.
    pub fn add(&mut self, process: ProcessId, event: Event, after: Set) -> usize {
        let before = self.down(after);
        self.events.push(Pending { process, event, before });
        self.events.len() - 1
    }

    /// The set with everything that has to happen before its members.
    pub fn down(&self, set: Set) -> Set {
        let members = self.events.iter().enumerate().filter(|(i, _)| set & 1 << i != 0);
        members.fold(set, |all, (_, e)| all | e.before)
    }

    /// `S ⊕ first ≼ second`.
    pub fn order(&mut self, first: Set, second: usize) {
        let first = self.down(first);
        debug_assert!(first & 1 << second == 0, "no cycles");
        for (i, e) in self.events.iter_mut().enumerate() {
            if i == second || e.before & 1 << second != 0 {
                e.before |= first;
            }
        }
    }

    /// `S ⊖ e` for a minimal event.
    pub fn remove(&mut self, at: usize) -> Pending {
        let removed = self.events.remove(at);
        debug_assert_eq!(removed.before, 0, "only minimal events go");
        let low = (1 << at) - 1;
        for e in &mut self.events {
            e.before = e.before & low | e.before >> 1 & !low;
        }
        for pointer in &mut self.sigma {
            *pointer = match *pointer {
                Some(i) if i == at => None,
                Some(i) if i > at => Some(i - 1),
                other => other,
            };
        }
        removed
    }

    /// Lists the events in another order: `order` names them by their old index.
    pub fn permute(&mut self, order: &[usize]) {
        let mut place = [0; MAX_EVENTS];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        self.events = order
            .iter()
            .map(|&i| {
                let mut pending = self.events[i];
                let mut rest = std::mem::take(&mut pending.before);
                while rest != 0 {
                    pending.before |= 1 << place[rest.trailing_zeros() as usize];
                    rest &= rest - 1;
                }
                pending
            })
            .collect();
        for pointer in self.sigma.iter_mut().flatten() {
            *pointer = place[*pointer];
        }
    }

    /// The minimal events.
    pub fn minimal(&self) -> impl Iterator<Item = usize> + use<> {
        let minimal: Vec<usize> =
            (0..self.events.len()).filter(|&i| self.events[i].before == 0).collect();
        minimal.into_iter()
    }

    /// The minimal events, each with how many before it are the same event of the same
    /// process: fences may be.
    pub fn minimal_with_ways(&self) -> Vec<(u32, usize)> {
        let minimal: Vec<usize> = self.minimal().collect();
        let same = |i: usize, j: usize| {
            let (a, b) = (&self.events[i], &self.events[j]);
            (a.process, a.event) == (b.process, b.event)
        };
        let way = |(n, &e): (usize, &usize)| {
            let before = minimal[..n].iter().filter(|f| same(**f, e)).count();
            (before as u32, e)
        };
        minimal.iter().enumerate().map(way).collect()
    }

    /// Whether a process may issue one more event.
    pub fn has_room(&self, process: ProcessId, more: usize, bound: usize) -> bool {
        self.events.len() + more <= MAX_EVENTS
            && self.of(process).count_ones() as usize + more <= bound
    }

    /// `σ(i,j)` as a set.
    pub fn early(&self, head: Head, process: ProcessId, var: VarId) -> Set {
        let pointer = self.sigma.get(process.index() * head.vars + var.index());
        pointer.copied().flatten().map_or(0, |e| 1 << e)
    }

    /// RLWE: the last access of the process to the variable, if it is a write
    /// of this value that comes after whatever the process has read early.
    pub fn own_write(
        &self,
        head: Head,
        process: ProcessId,
        var: VarId,
        value: ValueId,
    ) -> Option<usize> {
        let last = self.last(self.accesses(process, var))?;
        let event = self.events[last].event;
        let after_early =
            self.last(self.early(head, process, var)).is_none_or(|e| !self.is_before(last, e));
        (event.is_write() && event.value == value && after_early).then_some(last)
    }

    /// RRWE: the writes of other processes that a read may take its value from, with the processes;
    /// none if no process reads early.
    pub fn remote_writes(
        &self,
        head: Head,
        reader: ProcessId,
        var: VarId,
        value: ValueId,
    ) -> Vec<(ProcessId, usize)> {
        if self.sigma.is_empty() {
            return vec![];
        }
        let seen = self.accesses(reader, var) | self.early(head, reader, var);
        let others = (0..head.processes).map(ProcessId::new).filter(|k| *k != reader);
        others
            .filter_map(|k| {
                let writes =
                    self.set(|e| e.process == k && e.event.is_on(var) && e.event.is_write());
                let last = self.last(writes)?;
                let blocked = self.down(seen & !(1 << last)) & 1 << last != 0;
                (self.events[last].event.value == value && !blocked).then_some((k, last))
            })
            .collect()
    }

    /// RRWE: a process reads the write `e` of another early.
    pub fn read_remote(&mut self, head: Head, reader: ProcessId, var: VarId, e: usize) {
        let seen = (self.accesses(reader, var) | self.early(head, reader, var)) & !(1 << e);
        self.order(seen, e);
        self.sigma[reader.index() * head.vars + var.index()] = Some(e);
    }

    /// Appends the structure to a configuration, in a form that does not
    /// depend on which process issued first.
    pub fn write(mut self, alphabet: &Alphabet, head: Head, config: &mut Vec<Cell>) {
        let mut order: Vec<usize> = (0..self.events.len()).collect();
        order.sort_by_key(|&i| self.events[i].process);
        self.permute(&order);
        for p in 0..head.processes {
            config.push(self.of(ProcessId::new(p)).count_ones());
        }
        config.extend(self.events.iter().map(|e| alphabet.encode(e.event)));
        let cells = self.events.len().div_ceil(32);
        for e in &self.events {
            config.extend((0..cells).map(|c| (e.before >> (32 * c)) as u32));
        }
        config.extend(self.sigma.iter().map(|s| s.map_or(0, |e| 1 + e as u32)));
    }

    /// Reads what [`EventStructure::write`] wrote at `at`, with `pointers`
    /// early reads; also where the rest of the configuration begins.
    pub fn read(
        alphabet: &Alphabet,
        head: Head,
        config: &[Cell],
        at: usize,
        pointers: usize,
    ) -> (Self, usize) {
        let counts = &config[at..at + head.processes];
        let len: usize = counts.iter().map(|&c| c as usize).sum();
        let letters = at + head.processes;
        let masks = letters + len;
        let cells = len.div_ceil(32);
        let mut processes =
            counts.iter().enumerate().flat_map(|(p, &c)| (0..c).map(move |_| ProcessId::new(p)));
        let events = (0..len)
            .map(|i| Pending {
                process: processes.next().expect("counted"),
                event: alphabet.decode(config[letters + i]),
                before: (0..cells)
                    .map(|c| Set::from(config[masks + i * cells + c]) << (32 * c))
                    .sum(),
            })
            .collect();
        let sigma_at = masks + len * cells;
        let sigma = config[sigma_at..sigma_at + pointers]
            .iter()
            .map(|&s| (s as usize).checked_sub(1))
            .collect();
        (Self { events, sigma }, sigma_at + pointers)
    }

    /// The events of each process, for showing.
    pub fn pending(&self, head: Head) -> Vec<Vec<Event>> {
        let of = |p| self.events.iter().filter(move |e| e.process == ProcessId::new(p));
        (0..head.processes).map(|p| of(p).map(|e| e.event).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SpanId;
    use crate::program::{Decl, Process, Program};
    use crate::system::System;

    #[test]
    fn a_structure_is_read_as_it_was_written() {
        let vars = vec![Decl::scalar("x", 0, SpanId::NONE)];
        let processes = vec![Process::default(), Process::default()];
        let system = System::new(Program { vars, processes, ..Program::default() }).unwrap();
        let (head, alphabet) = (Head::new(&system), Alphabet::of_stores(&system));
        for count in [0, 1, 16, 17, 32, 33, MAX_EVENTS] {
            let event = Event::write(VarId(0), ValueId(0));
            let pending = |i: usize| Pending {
                process: ProcessId::new(usize::from(i >= count / 2)),
                event,
                before: (1_u64 << i) - 1,
            };
            let events: Vec<Pending> = (0..count).map(pending).collect();
            let structure = EventStructure { events: events.clone(), sigma: vec![None, Some(0)] };
            let mut config = vec![];
            structure.write(&alphabet, head, &mut config);
            let (read, end) = EventStructure::read(&alphabet, head, &config, 0, 2);
            assert_eq!((read.events, read.sigma), (events, vec![None, Some(0)]), "{count}");
            assert_eq!(end, config.len());
        }
    }
}
