//! One worker of a search, whatever is searched: the protocol of rounds.
//!
//! The search is breadth-first, and finds what the ordinary search finds with one thread: the
//! same configurations from the same parents, the same first configuration that settles a
//! question, and the same counts. This is why:
//!
//! * **Keys.** The ordinary search numbers configurations in the order in which it finds them: by
//!   the number of the configuration that they are reached from, and by the number of the step
//!   there. Here each configuration of a level has a *key*, and keys are in the same order as those
//!   numbers. Of several steps to a fresh configuration the one with the smallest key wins,
//!   in whatever order they arrive. The key of a configuration is made from the key of its parent
//!   and the number of the step. When the numbers become too large for that, they are
//!   replaced by ranks (`rank`).
//! * **Control states and values.** They are numbered when they are first needed, and symmetry
//!   compares their numbers. So a worker expands what it can without creating any. What is left, all
//!   workers expand together in the order of the keys. So every process creates the same numbers
//!   in the same order, as the ordinary search does, and configurations can be sent as they are
//!   stored. (The workers of a process share a system. They all create the same things in the same
//!   order, so it does not matter who is first.)
//! * **The end.** If all questions are settled in a level, the ordinary search stops in the middle
//!   of it, at the key [`Space::end`]. What has been expanded beyond it counts nothing.
//!
//! A level has one round of messages, and one more for each time that something was left to all. In
//! each round every worker reports to all others. A level is over if all reports of a round are
//! of the same level and nothing is left.
//!
//! A [`Space`] is what is searched: configurations (`explicit`) or views (`views`).

use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use weir_engine::Expansion;
use weir_engine::store::numbers::{number, number_as, push_number};
use weir_model::limits::{Budget, INTERVAL};
use weir_model::system::System;

use crate::fault::Fault;
use crate::net::{Net, Packet, Topic};
use crate::rank;
use crate::space::{Count, Halt, Left, Packets, Place, Space, Tried, WorkerStats};

/// How often the progress line may change.
const OFTEN: Duration = Duration::from_millis(200);

/// How many paths are asked for at a time.
const PATHS: usize = 16;

/// Sizes that make no difference to what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The bytes of a packet of configurations.
    pub packet: usize,
    /// The largest key before keys are replaced by ranks.
    pub largest_key: u64,
    /// How many configurations a worker leaves to all at a time.
    pub missed: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { packet: 1 << 16, largest_key: u64::MAX, missed: 256 }
    }
}

/// What the workers of a process share.
#[derive(Clone, Copy)]
pub struct Common<'t> {
    /// The system, which all workers of the process share.
    pub system: &'t System,
    /// The limits of this process.
    pub budget: &'t Budget,
    /// Sizes.
    pub tuning: Tuning,
    /// The bytes that the workers of this process store.
    pub bytes: &'t AtomicUsize,
    /// The number of the process.
    pub process: usize,
}

/// What a worker says about a round. The configurations that it leaves to all follow.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// How often the search began again.
    again: u64,
    level: u64,
    /// How many configurations it has in the level.
    waiting: u64,
    count: Count,
    /// How many configurations it leaves to all here, and whether there are more.
    left: u64,
    more: bool,
    /// Whether the path to one of those is needed.
    needs_paths: bool,
    largest_index: u32,
    largest_key: u64,
    /// What the system has created.
    sizes: u64,
    stopped: Option<String>,
}

/// The report of a worker, and the configurations that it leaves to all.
type Heard = (Report, Vec<u8>);

/// What was found by expanding a configuration, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found(u32);

impl Found {
    /// Nothing yet.
    const NOTHING: Self = Self(u32::MAX);

    fn new(expansion: Expansion) -> Self {
        let steps = u32::try_from(expansion.steps).unwrap_or(u32::MAX).min(u32::MAX / 2 - 1);
        Self(steps << 1 | u32::from(expansion.within_bound))
    }

    fn get(self) -> Option<Expansion> {
        let Self(word) = self;
        let of = || Expansion { steps: (word >> 1) as usize, within_bound: word & 1 == 1 };
        (self != Self::NOTHING).then(of)
    }
}

/// A worker.
pub struct Worker<'c, 'w, S> {
    common: Common<'c>,
    pub net: Net<'w>,
    pub space: S,
    /// The keys of the configurations of the level, and what was found by expanding each.
    keys: Vec<u64>,
    found: Vec<Found>,
    /// How often the search began again.
    again: u64,
    pub level: u64,
    largest_index: u32,
    stats: WorkerStats,
    /// Why this worker stops, which the others may not know yet.
    pub stopping: Option<String>,
    /// Why all stop.
    pub stopped: Option<String>,
    was_cut: bool,
    /// Whether this worker has closed its round: what it sends from then on is of the next one, in
    /// which others may not expect it.
    has_closed: bool,
    /// Reports of the round that have come.
    reports: Vec<(usize, Vec<u8>)>,
    packets: Packets,
    /// How many packets have come from each worker.
    received: Vec<u64>,
    /// The bytes of this worker that the process knows of.
    counted: usize,
    waited: Duration,
    told: Instant,
    counts: Vec<Count>,
}

impl<'c, 'w, S: Space> Worker<'c, 'w, S> {
    /// A worker that has not begun.
    pub fn new(common: Common<'c>, space: S, net: Net<'w>) -> Self {
        let peers = net.peers();
        let process = common.process;
        Self {
            common,
            space,
            keys: vec![],
            found: vec![],
            again: 0,
            level: 0,
            largest_index: 0,
            stats: WorkerStats { process, within_bound: true, ..WorkerStats::default() },
            stopping: None,
            stopped: None,
            was_cut: false,
            has_closed: false,
            reports: vec![],
            packets: Packets::new(peers),
            received: vec![0; peers],
            counted: 0,
            waited: Duration::ZERO,
            told: Instant::now(),
            counts: vec![Count::default(); peers],
            net,
        }
    }

    /// Searches until every question is settled, there is nothing left to see, or a limit is
    /// reached. `progress` hears how far all workers are. Returns whether everything was seen.
    ///
    /// # Errors
    /// If a worker or a connection fails.
    pub fn run(&mut self, progress: &mut dyn FnMut(Count)) -> Result<bool, Fault> {
        loop {
            self.level = 0;
            self.was_cut = false;
            (self.stats.expanded, self.stats.steps) = (0, 0);
            let begun = self.space.begin(self.net.index(), self.net.peers());
            self.keys = self.or_halt(begun)?.unwrap_or_default();
            while self.search_level(progress)? {}
            let has_stopped = self.stopped.is_some();
            let saw_all = !self.was_cut && !has_stopped;
            if !self.space.begins_again(saw_all, has_stopped) {
                return Ok(saw_all);
            }
            self.again += 1;
        }
    }

    /// What this worker did.
    pub fn stats(&self) -> WorkerStats {
        WorkerStats {
            stored: self.space.stored(),
            bytes: self.space.bytes() as u64,
            sent: self.net.sent,
            waited: self.waited.as_millis() as u64,
            stopping: self.stopping.clone(),
            ..self.stats.clone()
        }
    }

    /// A limit that is reached in the middle of a round stops this worker, which says so in its next
    /// report.
    pub fn or_halt<T>(&mut self, done: Result<T, Halt>) -> Result<Option<T>, Fault> {
        match done {
            Ok(value) => Ok(Some(value)),
            Err(Halt::Failed(fault)) => Err(fault),
            Err(Halt::Stopped(reason)) => {
                let process = self.stats.process;
                self.stopping.get_or_insert_with(|| match self.net.peers() {
                    1 => reason,
                    _ => format!("in process {process}: {reason}"),
                });
                Ok(None)
            }
        }
    }

    /// A limit stops all workers, at once if they listen.
    fn or_stop<T>(&mut self, done: Result<T, Halt>) -> Result<Option<T>, Fault> {
        let was_stopping = self.stopping.is_some();
        let done = self.or_halt(done)?;
        if let Some(reason) = self.stopping.as_ref().filter(|_| !was_stopping && !self.has_closed) {
            self.net.tell_others(Topic::Stop, reason.as_bytes());
        }
        Ok(done)
    }

    /// Searches a level; whether there may be another.
    fn search_level(&mut self, progress: &mut dyn FnMut(Count)) -> Result<bool, Fault> {
        self.found.clear();
        self.found.resize(self.keys.len(), Found::NOTHING);
        self.largest_index = 0;
        let mut open: Vec<u32> = (0..self.keys.len() as u32).collect();
        loop {
            let left = self.expand(&open, progress)?;
            let heard = self.report(&left, progress)?;
            if self.stopped.is_some() {
                self.count();
                return Ok(false);
            }
            if heard.iter().all(|(report, _)| report.waiting == 0) {
                // The level before was the last one.
                self.level = self.level.saturating_sub(1);
                return Ok(false);
            }
            match self.replay(&heard, left)? {
                Some(rest) => open = rest,
                None => return self.close_level(&heard),
            }
        }
    }

    fn is_behind_end(&self, key: u64) -> bool {
        self.space.end().is_some_and(|end| key >= end)
    }

    /// Expands configurations of the level without creating anything, and returns those for which
    /// that is not possible, by their keys, each with whether the path to it is needed.
    fn expand(
        &mut self,
        open: &[u32],
        progress: &mut dyn FnMut(Count),
    ) -> Result<Vec<(u32, bool)>, Fault> {
        self.has_closed = false;
        let mut left = Vec::new();
        for (n, &i) in open.iter().enumerate() {
            if n.is_multiple_of(INTERVAL) {
                self.look_at_limits(progress)?;
            }
            // An expansion may take long, so others are heard in between.
            if n.is_multiple_of(INTERVAL / 8) {
                self.hear()?;
            }
            if self.stopping.is_some() {
                break;
            }
            let key = self.keys[i as usize];
            if self.is_behind_end(key) {
                continue;
            }
            let tried = self.space.try_expand(i as usize, key);
            match self.or_stop(tried)? {
                Some(Tried::Expanded(expansion)) => self.route(i, expansion)?,
                Some(Tried::Left { needs_path }) => left.push((i, needs_path)),
                None => {}
            }
        }
        left.sort_unstable_by_key(|(i, _)| self.keys[*i as usize]);
        Ok(left)
    }

    /// Sends what was reached from a configuration of the level to the workers that keep it.
    fn route(&mut self, i: u32, expansion: Expansion) -> Result<(), Fault> {
        self.found[i as usize] = Found::new(expansion);
        self.largest_index = self.largest_index.max(expansion.steps as u32);
        let key = self.keys[i as usize];
        let routed = self.space.route(i as usize, key, &mut self.packets);
        self.or_stop(routed)?;
        match self.packets.largest >= self.common.tuning.packet {
            true => self.post(self.common.tuning.packet),
            false => Ok(()),
        }
    }

    /// Sends packets of at least so many bytes.
    fn post(&mut self, least: usize) -> Result<(), Fault> {
        let me = self.net.index();
        self.packets.largest = 0;
        for to in 0..self.net.peers() {
            if self.packets.outgoing[to].len() < least.max(1) {
                continue;
            }
            let mut bytes = std::mem::take(&mut self.packets.outgoing[to]);
            if to == me {
                self.keep(me, &bytes)?;
                // The space is used again.
                bytes.clear();
                self.packets.outgoing[to] = bytes;
            } else {
                self.net.send(to, Topic::Reached, bytes);
            }
        }
        self.hear()
    }

    /// Deals with what has come.
    fn hear(&mut self) -> Result<(), Fault> {
        if self.net.peers() > 1 {
            self.net.step()?;
            while let Some(packet) = self.net.take() {
                self.receive(&packet)?;
            }
        }
        Ok(())
    }

    /// Deals with a packet. Reports are put aside.
    fn receive(&mut self, packet: &Packet) -> Result<(), Fault> {
        match packet.topic() {
            Some(Topic::Reached) => self.keep(packet.from(), packet.bytes())?,
            Some(Topic::Stop) => {
                let reason = String::from_utf8_lossy(packet.bytes());
                self.stopping.get_or_insert_with(|| reason.into_owned());
            }
            Some(Topic::Progress) => {
                let count = serde_json::from_slice(packet.bytes()).map_err(|_| Fault::garbled())?;
                *self.counts.get_mut(packet.from()).ok_or_else(Fault::garbled)? = count;
            }
            Some(Topic::Report) => self.reports.push((packet.from(), packet.bytes().to_vec())),
            Some(Topic::Data) | None => return Err(Fault::garbled()),
        }
        Ok(())
    }

    /// Keeps what a worker has reached.
    fn keep(&mut self, from: usize, mut bytes: &[u8]) -> Result<(), Fault> {
        // What a number stands for may be told once, so no packet may come before another.
        let sequence = number(&mut bytes).ok_or_else(Fault::garbled)?;
        let expected = self.received.get_mut(from).ok_or_else(Fault::garbled)?;
        if sequence != *expected {
            return Err(Fault::confused());
        }
        *expected += 1;
        if self.stopping.is_none() {
            let kept = self.space.keep(from, bytes);
            self.or_stop(kept)?;
            self.check_memory()?;
        }
        Ok(())
    }

    /// Looks whether what the workers of this process store is within the limits.
    fn check_memory(&mut self) -> Result<(), Fault> {
        let outgoing: usize = self.packets.outgoing.iter().map(Vec::capacity).sum();
        let bytes = self.space.bytes() + outgoing;
        let change = bytes.wrapping_sub(self.counted);
        self.counted = bytes;
        let all = self.common.bytes.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
        let budget = self.common.budget;
        let checked = budget.check_store(all).and_then(|()| budget.check_freeing(all));
        self.or_stop(checked.map_err(|stop| Halt::Stopped(stop.to_string()))).map(drop)
    }

    /// Looks at the limits, and tells how far this worker is.
    fn look_at_limits(&mut self, progress: &mut dyn FnMut(Count)) -> Result<(), Fault> {
        self.check_memory()?;
        if self.told.elapsed() >= OFTEN {
            self.told = Instant::now();
            let count = self.own_count();
            self.counts[self.net.index()] = count;
            if self.net.index() == 0 {
                self.tell(progress);
            } else {
                let bytes = serde_json::to_vec(&count).map_err(|_| Fault::garbled())?;
                self.net.send(0, Topic::Progress, bytes);
            }
        }
        Ok(())
    }

    fn own_count(&self) -> Count {
        let mut count = Count {
            stored: self.space.stored(),
            expanded: self.stats.expanded,
            steps: self.stats.steps,
            depth: self.level,
            bytes: self.space.bytes() as u64,
        };
        for expansion in self.found.iter().filter_map(|found| found.get()) {
            count.expanded += 1;
            count.steps += expansion.steps as u64;
        }
        count
    }

    fn tell(&self, progress: &mut dyn FnMut(Count)) {
        let mut all = Count { depth: self.level, ..Count::default() };
        for count in &self.counts {
            all.stored += count.stored;
            all.expanded += count.expanded;
            all.steps += count.steps;
            all.bytes += count.bytes;
        }
        progress(all);
    }

    /// Ends a round of messages: sends what is left to send and a report, and returns the reports of
    /// all, each with the configurations that are left to all.
    fn report(
        &mut self,
        left: &[(u32, bool)],
        progress: &mut dyn FnMut(Count),
    ) -> Result<Vec<Heard>, Fault> {
        self.post(0)?;
        let me = self.net.index();
        let own = self.own_report(left)?;
        self.net.tell_others(Topic::Report, &own);
        let waiting = Instant::now();
        self.close_round()?;
        self.waited += waiting.elapsed();
        self.reports.push((me, own));
        let mut all: Vec<Option<(Heard, S::Said)>> = (0..self.net.peers()).map(|_| None).collect();
        for (from, bytes) in std::mem::take(&mut self.reports) {
            let mut rest = &bytes[..];
            let len = number_as(&mut rest).ok_or_else(Fault::garbled)?;
            let (head, rest) = rest.split_at_checked(len).ok_or_else(Fault::garbled)?;
            let (report, said) = serde_json::from_slice(head).map_err(|_| Fault::garbled())?;
            let slot = all.get_mut(from).filter(|slot| slot.is_none());
            *slot.ok_or_else(Fault::confused)? = Some(((report, rest.to_vec()), said));
        }
        let all = all.into_iter().collect::<Option<Vec<_>>>().ok_or_else(Fault::confused)?;
        let (all, said): (Vec<Heard>, Vec<S::Said>) = all.into_iter().unzip();
        // All stop for the same reason, in the same round.
        self.stopped = all.iter().find_map(|(report, _)| report.stopped.clone());
        // Nobody says more than what everybody has reported about the same level.
        // A worker that stops has not created what the others have.
        let is_stopping = self.stopped.is_some();
        let sizes = all[0].0.sizes;
        let agrees = |r: &Report| {
            (r.again, r.level) == (self.again, self.level) && (is_stopping || r.sizes == sizes)
        };
        if !all.iter().all(|(report, _)| agrees(report)) {
            return Err(Fault::confused());
        }
        self.counts = all.iter().map(|(report, _)| report.count).collect();
        self.space.hear(said, is_stopping)?;
        if me == 0 && self.told.elapsed() >= OFTEN {
            self.told = Instant::now();
            self.tell(progress);
        }
        Ok(all)
    }

    /// The report of this worker, and the first of the configurations that it leaves to all.
    fn own_report(&mut self, left: &[(u32, bool)]) -> Result<Vec<u8>, Fault> {
        let first = &left[..left.len().min(self.common.tuning.missed)];
        let report = Report {
            again: self.again,
            level: self.level,
            waiting: self.keys.len() as u64,
            count: self.own_count(),
            left: first.len() as u64,
            more: left.len() > first.len(),
            needs_paths: first.iter().any(|(_, needs_path)| *needs_path),
            largest_index: self.largest_index,
            largest_key: self.keys.iter().copied().max().unwrap_or(0),
            sizes: self.sizes(),
            stopped: self.stopping.clone(),
        };
        let head = serde_json::to_vec(&(report, self.space.say())).map_err(|_| Fault::garbled())?;
        let mut bytes = Vec::new();
        push_number(head.len() as u64, &mut bytes);
        bytes.extend(head);
        let mut outbox = S::Outbox::default();
        for &(i, needs_path) in first {
            let id = self.space.id(i as usize);
            push_number(self.keys[i as usize], &mut bytes);
            push_number(u64::from(id), &mut bytes);
            bytes.push(u8::from(needs_path));
            let written = self.space.write(id, &mut outbox, &mut bytes);
            self.or_halt(written)?;
        }
        Ok(bytes)
    }

    /// A number that differs, most likely, where systems have created different numbers of control
    /// states and values.
    fn sizes(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.common.system.sizes().for_each(|size| hasher.write_usize(size));
        hasher.finish()
    }

    fn close_round(&mut self) -> Result<(), Fault> {
        self.has_closed = true;
        self.net.begin_close();
        while !self.net.is_closed()? {
            while let Some(packet) = self.net.take() {
                self.receive(&packet)?;
            }
        }
        while let Some(packet) = self.net.take() {
            self.receive(&packet)?;
        }
        self.net.end_close();
        Ok(())
    }

    /// The configurations that are left to all, in the order of keys, as far as that is known.
    fn left_to_all(&mut self, heard: &[Heard]) -> Result<Vec<Left<S::Config>>, Fault> {
        let mut all: Vec<Left<S::Config>> = Vec::new();
        // What comes behind the last one that somebody has told of may have others before it.
        let mut known = u64::MAX;
        for (worker, (report, bytes)) in heard.iter().enumerate() {
            let mut inbox = S::Inbox::default();
            let mut bytes = &bytes[..];
            for _ in 0..report.left {
                let key = number(&mut bytes).ok_or_else(Fault::garbled)?;
                let id = number_as(&mut bytes).ok_or_else(Fault::garbled)?;
                let needs_path = number(&mut bytes).ok_or_else(Fault::garbled)? != 0;
                let read = self.space.read(&mut inbox, &mut bytes);
                // If this one stops, the others go on, and hear of it in the next round.
                let Some(config) = self.or_halt(read)? else { return Ok(all) };
                let place = Place { worker: worker as u16, id };
                all.push(Left { key, place, needs_path, config });
            }
            if report.more {
                known = known.min(all.last().map_or(0, |left| left.key));
            }
        }
        all.retain(|left| left.key <= known);
        all.sort_unstable_by_key(|left| left.key);
        Ok(all)
    }

    /// Deals with what is left to all: `None` if nothing is left any more that comes before the end,
    /// otherwise those of the own ones that still are.
    fn replay(
        &mut self,
        heard: &[Heard],
        own: Vec<(u32, bool)>,
    ) -> Result<Option<Vec<u32>>, Fault> {
        if heard.iter().all(|(report, _)| report.left == 0) {
            return Ok(None);
        }
        let mut all = self.left_to_all(heard)?;
        if self.stopping.is_none() && all.first().is_none_or(|left| self.is_behind_end(left.key)) {
            return Ok(None);
        }
        let needing = all.iter().enumerate().filter(|(_, left)| left.needs_path);
        let cut = needing.map(|(i, _)| i).nth(PATHS);
        all.truncate(cut.unwrap_or(all.len()));
        // A worker that stops takes part in the rest of the round all the same.
        let ends = match self.stopping {
            None => all.iter().filter(|left| left.needs_path).map(|left| left.place).collect(),
            Some(_) => vec![],
        };
        let mut paths = match heard.iter().any(|(report, _)| report.needs_paths) {
            true => self.paths(ends)?.into_iter(),
            false => vec![].into_iter(),
        };
        let me = self.net.index();
        for left in all {
            if self.stopping.is_some() || self.is_behind_end(left.key) {
                break;
            }
            let path = if left.needs_path { paths.next().flatten() } else { None };
            let ticked = self.common.budget.tick().map_err(|s| Halt::Stopped(s.to_string()));
            let judged = ticked.and_then(|()| self.space.judge(&left, path));
            // If it settles something, as is only known now, the path is asked for in the next round.
            let is_judged = self.or_stop(judged)?.unwrap_or(false);
            // What was reached before the end is still on its way: one more round brings it.
            if !is_judged || self.is_behind_end(left.key) {
                break;
            }
            let expanded = self.space.expand(&left.config);
            if let Some(expansion) = self.or_stop(expanded)?
                && usize::from(left.place.worker) == me
            {
                let n = own.binary_search_by_key(&left.key, |(i, _)| self.keys[*i as usize]);
                let (i, _) = own[n.map_err(|_| Fault::garbled())?];
                self.route(i, expansion)?;
            }
        }
        let rest = own.into_iter().map(|(i, _)| i);
        Ok(Some(rest.filter(|i| self.found[*i as usize] == Found::NOTHING).collect()))
    }

    /// Counts what was expanded in the level before its end.
    fn count(&mut self) {
        self.space.settle();
        for (key, found) in self.keys.iter().zip(&self.found) {
            if let Some(expansion) = found.get().filter(|_| !self.is_behind_end(*key)) {
                self.stats.expanded += 1;
                self.stats.steps += expansion.steps as u64;
                self.stats.within_bound &= expansion.within_bound;
            }
        }
        self.found.clear();
    }

    /// Goes to the next level; whether there may be one.
    fn close_level(&mut self, heard: &[Heard]) -> Result<bool, Fault> {
        self.count();
        self.keys.clear();
        let has_ended = self.space.end().is_some();
        let closed = self.space.close_level();
        let fresh = self.or_halt(closed)?.unwrap_or_default();
        if has_ended {
            return Ok(false);
        }
        let reports = || heard.iter().map(|(report, _)| report);
        let index = reports().map(|r| r.largest_index).max().unwrap_or(0);
        let key = reports().map(|r| r.largest_key).max().unwrap_or(0);
        let steps = u64::from(index) + 1;
        let is_small = key
            .checked_add(1)
            .and_then(|count| count.checked_mul(steps))
            .is_some_and(|count| count - 1 <= self.common.tuning.largest_key);
        self.keys = match is_small {
            true => fresh.iter().map(|k| k.parent * steps + u64::from(k.index)).collect(),
            false => rank::ranks(&mut self.net, &fresh)?,
        };
        self.level += 1;
        if self.space.is_cut(reports().map(|r| r.count.expanded).sum()) {
            // Unless there is nothing left to cut.
            let own = vec![u8::from(!self.keys.is_empty())];
            self.was_cut = self.net.gather(Topic::Data, own)?.iter().any(|has| has == &[1]);
        }
        Ok(!self.was_cut)
    }
}
