//! One worker of a search.
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
//!   compares their numbers. So a worker expands what it can without creating any. What is left, the
//!   *missed* configurations, all workers expand together in the order of their keys. So every
//!   process creates the same numbers in the same order, as the ordinary search does, and
//!   configurations can be sent as they are stored. (The workers of a process share a system. They
//!   all create the same things in the same order, so it does not matter who is first.)
//! * **The end.** If all questions are settled in a level, the ordinary search stops in the middle
//!   of it, at the key `end`. What has been expanded beyond it counts nothing.
//!
//! A level has one round of messages, and one more for each time that something was missed. In each
//! round every worker reports to all others. A level is over if all reports of a round are
//! of the same level and nothing is missed.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_check::shards::{Listed, Router};
use weir_engine::explicit::shared::{Expansion, Room, Shared};
use weir_engine::store::{pack, unpack};
use weir_model::grow::without_growth;
use weir_model::ids::Cell;
use weir_model::limits::{Budget, INTERVAL};

use crate::fault::Fault;
use crate::listing::Listing;
use crate::net::{Net, Packet, Topic};
use crate::rank;
use crate::spill::Spill;
use crate::store::{Full, Hash, NOWHERE, Place, StepKey, Store};

/// How often the progress line may change.
pub const OFTEN: Duration = Duration::from_millis(200);

/// Sizes that make no difference to what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The bytes of a packet of configurations.
    pub packet: usize,
    /// The largest key before keys are replaced by ranks.
    pub largest_key: u64,
    /// How many missed configurations a worker reports at a time.
    pub missed: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { packet: 1 << 16, largest_key: u64::MAX, missed: 256 }
    }
}

/// What the workers of a process share.
pub struct Common<'t> {
    /// The search.
    pub shared: &'t Shared<'t>,
    /// The limits of this process.
    pub budget: &'t Budget,
    /// Sizes.
    pub tuning: Tuning,
    /// The bytes that the stores of this process take up.
    pub bytes: &'t AtomicUsize,
    /// Where closed levels go, if not everything is kept in memory.
    pub spill: Option<&'t Path>,
    /// Where all configurations are written to, if they are.
    pub listing: Option<&'t Listing<'t>>,
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStats {
    /// The process that it belongs to.
    pub process: usize,
    /// Configurations that it keeps.
    pub stored: u64,
    /// Configurations that it expanded.
    pub expanded: u64,
    /// Steps that it took.
    pub steps: u64,
    /// Whether it left no step out because of the bound.
    pub within_bound: bool,
    /// Bytes that its configurations take up in memory.
    pub bytes: u64,
    /// Bytes that its configurations take up on disk.
    pub on_disk: u64,
    /// Bytes that it sent to other workers.
    pub sent: u64,
    /// Milliseconds that it waited for others.
    pub waited: u64,
    /// The limit that it reached, if it did.
    pub stopping: Option<String>,
}

/// How far the whole search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Configurations stored.
    pub stored: u64,
    /// Configurations expanded.
    pub expanded: u64,
    /// Steps taken.
    pub steps: u64,
    /// The level.
    pub depth: u64,
    /// Bytes that the configurations take up.
    pub bytes: u64,
}

/// What a search found, the same for every worker.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// For each question that was settled, the path to the first configuration that settles it.
    pub paths: Vec<Option<Vec<Vec<Cell>>>>,
    /// The number of levels before the last one.
    pub depth: u64,
    /// Why it stopped early, if it did.
    pub stopped: Option<String>,
    /// What each worker did.
    pub workers: Vec<WorkerStats>,
    /// The number of rounds.
    pub rounds: u64,
    /// What each worker has written, or why it has not, if all configurations are written.
    pub shards: Vec<Result<Listed, String>>,
}

/// What a worker says about a round.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Report {
    level: u64,
    /// How many configurations it has in the level.
    waiting: u64,
    count: (u64, u64, u64, u64),
    /// The questions that it found settled in the level, by which key and configuration first.
    seen: Vec<(usize, u64, u32)>,
    /// The first configurations that it could not expand, by their keys.
    missed: Vec<(u64, u32, Vec<u8>)>,
    /// Whether there are more.
    more: bool,
    largest_index: u32,
    largest_key: u64,
    /// What the system has created.
    sizes: u64,
    stopped: Option<String>,
}

/// A worker.
pub struct Search<'c, 'w> {
    common: &'c Common<'c>,
    net: Net<'w>,
    store: Store,
    /// The configurations of the level: the first one, and the keys of all.
    first: u32,
    keys: Vec<u64>,
    /// For each configuration of the level, what was found by expanding it.
    found: Vec<Found>,
    level: u64,
    /// The first configurations that settled questions in earlier levels.
    settled: Vec<Option<Place>>,
    /// The first ones so far of this level, with their keys.
    seen: Vec<Option<(u64, Place)>>,
    largest_index: u32,
    stats: WorkerStats,
    /// Why this worker stops, which the others may not know yet.
    stopping: Option<String>,
    /// Why all stop.
    stopped: Option<String>,
    /// Reports of the round that have come.
    reports: Vec<(usize, Report)>,
    /// The key at which the search ends, by what was seen so far.
    end: Option<u64>,
    /// For each worker, what is to be sent to it.
    outgoing: Vec<Vec<u8>>,
    /// Who keeps which configuration, if that is not a matter of its packed bytes.
    router: Option<Router<'c>>,
    room: Room,
    config: Vec<Cell>,
    /// What one configuration leads to: where each ends in the bytes.
    reached: Vec<usize>,
    bytes: Vec<u8>,
    /// The bytes of this store that the process knows of.
    counted: usize,
    waited: Duration,
    told: Instant,
    counts: Vec<(u64, u64, u64, u64)>,
}

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

/// Takes the first number of the bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut found = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        found |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(found);
        }
    }
    None
}

fn push_number(mut rest: u64, bytes: &mut Vec<u8>) {
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn fixed<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*head)
}

impl<'c, 'w> Search<'c, 'w> {
    /// A worker that has not begun.
    pub fn new(common: &'c Common<'c>, net: Net<'w>, process: usize) -> Self {
        let questions = common.shared.questions();
        let peers = net.peers();
        let mut store = Store::default();
        let mut stopping = None;
        match common.spill.map(Spill::new) {
            Some(Ok(spill)) => store.spill_to(spill),
            Some(Err(error)) => stopping = Some(disk_failed(process, &error)),
            None => {}
        }
        Self {
            common,
            store,
            first: 0,
            keys: vec![],
            found: vec![],
            level: 0,
            settled: vec![None; questions],
            seen: vec![None; questions],
            largest_index: 0,
            stats: WorkerStats { process, within_bound: true, ..WorkerStats::default() },
            stopping,
            stopped: None,
            reports: vec![],
            end: None,
            outgoing: vec![Vec::new(); peers],
            router: common.listing.map(|listing| listing.router(peers)),
            room: Room::default(),
            config: vec![],
            reached: vec![],
            bytes: vec![],
            counted: 0,
            waited: Duration::ZERO,
            told: Instant::now(),
            counts: vec![(0, 0, 0, 0); peers],
            net,
        }
    }

    /// Searches until every question is settled, there is nothing left to see, or a limit is
    /// reached. `progress` hears how far all workers are.
    ///
    /// # Errors
    /// If a worker or a connection fails.
    pub fn run(mut self, progress: &mut dyn FnMut(Count)) -> Result<Outcome, Fault> {
        let me = self.net.index();
        self.begin();
        while self.search_level(progress)? {}
        let paths = self.paths()?;
        self.stats.stored = match self.stopped {
            // What was reached from beyond the end is not counted.
            Some(_) => self.stats.stored,
            None => u64::from(self.store.len()),
        };
        self.stats.bytes = self.store.bytes() as u64;
        self.stats.on_disk = self.store.bytes_on_disk();
        self.stats.sent = self.net.sent;
        self.stats.waited = self.waited.as_millis() as u64;
        self.stats.stopping = self.stopping.take();
        let own = serde_json::to_vec(&self.stats).map_err(|_| Fault::garbled())?;
        let all = self.net.gather(Topic::Data, own)?;
        let read = |bytes: &Vec<u8>| serde_json::from_slice(bytes).map_err(|_| Fault::garbled());
        let workers = all.iter().map(read).collect::<Result<Vec<WorkerStats>, Fault>>()?;
        // A worker that stopped in the last round has not counted everything.
        let late = workers.iter().find_map(|worker| worker.stopping.clone());
        let mut shards = Vec::new();
        if let Some(listing) = self.common.listing
            && late.is_none()
            && self.stopped.is_none()
            && workers.iter().all(|worker| worker.within_bound)
        {
            let written = listing.write(self.common, &self.store, (me, self.net.peers()));
            let own = serde_json::to_vec(&written).map_err(|_| Fault::garbled())?;
            for bytes in self.net.gather(Topic::Data, own)? {
                shards.push(serde_json::from_slice(&bytes).map_err(|_| Fault::garbled())?);
            }
        }
        let rounds = self.net.round();
        self.net.end();
        let stopped = late.or(self.stopped);
        Ok(Outcome { paths, depth: self.level, stopped, workers, rounds, shards })
    }

    /// Stores the initial configurations.
    fn begin(&mut self) {
        let (me, peers) = (self.net.index(), self.net.peers());
        let mut packed = Vec::new();
        for (i, config) in self.common.shared.initial().enumerate() {
            packed.clear();
            pack(&config, &mut packed);
            let hash = Hash::of(&packed);
            let owner = match &mut self.router {
                Some(router) => router.shard(&self.common.shared.buffered(&config)),
                None => hash.worker(peers),
            };
            // Their keys are their numbers, so this stands in for a step.
            let key = StepKey { parent: i as u64, index: 0 };
            if owner == me
                && let Err(full) = self.store.insert(&packed, hash, key, NOWHERE)
            {
                self.stopping = Some(self.why_full(&full));
            }
            if i.is_multiple_of(INTERVAL)
                && let Err(stop) = self.common.budget.check()
            {
                self.stopping = Some(stop.to_string());
                break;
            }
        }
        let (first, keys) = self.store.take_fresh();
        self.first = first;
        self.keys = keys.into_iter().map(|key| key.parent).collect();
    }

    /// The key at which the search ends, if all questions are settled by what was seen so far: an
    /// upper bound while not everything of the level was seen.
    fn find_end(&self) -> Option<u64> {
        let mut end = None;
        for (settled, seen) in self.settled.iter().zip(&self.seen) {
            if settled.is_none() {
                end = end.max(Some((*seen)?.0));
            }
        }
        end
    }

    fn see(&mut self, question: usize, key: u64, place: Place) {
        let seen = &mut self.seen[question];
        if self.settled[question].is_none() && seen.is_none_or(|(first, _)| key < first) {
            *seen = Some((key, place));
            self.end = self.find_end();
        }
    }

    /// Searches a level; whether there may be another.
    fn search_level(&mut self, progress: &mut dyn FnMut(Count)) -> Result<bool, Fault> {
        // The levels before this one are closed.
        if let Err(error) = self.store.spill_before(self.first) {
            self.stop(disk_failed(self.stats.process, &error));
        }
        self.found.clear();
        self.found.resize(self.keys.len(), Found::NOTHING);
        self.seen.fill(None);
        self.end = None;
        self.largest_index = 0;
        let mut open: Vec<u32> = (0..self.keys.len() as u32).collect();
        loop {
            let missed = self.expand(&open, progress)?;
            let reports = self.report(&missed, progress)?;
            if self.stopped.is_some() {
                self.settle();
                self.count();
                return Ok(false);
            }
            if reports.iter().all(|report| report.waiting == 0) {
                // The level before was the last one.
                self.level = self.level.saturating_sub(1);
                return Ok(false);
            }
            match self.replay(&reports, missed)? {
                Some(rest) => open = rest,
                None => {
                    let largest_index = reports.iter().map(|r| r.largest_index).max();
                    let largest_key = reports.iter().map(|r| r.largest_key).max();
                    return self.close_level(largest_index.zip(largest_key).unwrap_or_default());
                }
            }
        }
    }

    /// Expands configurations of the level without creating anything, and returns those for which
    /// that is not possible, by their keys.
    fn expand(&mut self, open: &[u32], progress: &mut dyn FnMut(Count)) -> Result<Vec<u32>, Fault> {
        let shared = self.common.shared;
        let mut missed = Vec::new();
        for (n, &i) in open.iter().enumerate() {
            let (id, key) = (self.first + i, self.keys[i as usize]);
            if n.is_multiple_of(INTERVAL) {
                self.look_at_limits(progress)?;
            }
            if self.stopping.is_some() {
                break;
            }
            if self.end.is_some_and(|end| key >= end) {
                continue;
            }
            let mut config = std::mem::take(&mut self.config);
            config.clear();
            unpack(&self.store.get(id).map_err(|e| unread(&e))?, &mut config);
            let done = without_growth(|| {
                let is_open = |q: usize| self.settled[q].is_none();
                let seen = shared.look(&config, &is_open);
                (seen, self.steps_from(&config))
            });
            self.config = config;
            match done {
                Some((seen, expansion)) => {
                    let place = self.place(id);
                    for question in seen.into_iter().flatten() {
                        self.see(question, key, place);
                    }
                    self.found[i as usize] = Found::new(expansion);
                    self.route(key, id)?;
                }
                None => missed.push(i),
            }
        }
        missed.sort_unstable_by_key(|i| self.keys[*i as usize]);
        Ok(missed)
    }

    fn place(&self, id: u32) -> Place {
        Place { worker: self.net.index() as u16, id }
    }

    /// Takes every step from a configuration, and packs what is reached.
    fn steps_from(&mut self, config: &[Cell]) -> Expansion {
        let Self { common, room, reached, bytes, .. } = self;
        reached.clear();
        bytes.clear();
        common.shared.expand(config, room, &mut |next| {
            pack(next, bytes);
            reached.push(bytes.len());
        })
    }

    /// Sends what was reached to the workers that keep it.
    fn route(&mut self, key: u64, id: u32) -> Result<(), Fault> {
        let peers = self.net.peers();
        let mut begin = 0;
        let mut is_full = false;
        for (index, &end) in self.reached.iter().enumerate() {
            let packed = &self.bytes[begin..end];
            begin = end;
            let owner = match &mut self.router {
                Some(router) => {
                    self.config.clear();
                    unpack(packed, &mut self.config);
                    router.shard(&self.common.shared.buffered(&self.config))
                }
                None => Hash::of(packed).worker(peers),
            };
            let outgoing = &mut self.outgoing[owner];
            outgoing.extend_from_slice(&key.to_le_bytes());
            outgoing.extend_from_slice(&id.to_le_bytes());
            push_number(index as u64, outgoing);
            push_number(packed.len() as u64, outgoing);
            outgoing.extend_from_slice(packed);
            is_full |= outgoing.len() >= self.common.tuning.packet;
        }
        self.largest_index = self.largest_index.max(self.reached.len() as u32);
        match is_full {
            true => self.post(self.common.tuning.packet),
            false => Ok(()),
        }
    }

    /// Sends packets of at least so many bytes.
    fn post(&mut self, least: usize) -> Result<(), Fault> {
        let me = self.net.index();
        for to in 0..self.outgoing.len() {
            if self.outgoing[to].len() < least.max(1) {
                continue;
            }
            let bytes = std::mem::take(&mut self.outgoing[to]);
            if to == me {
                self.keep(me, &bytes)?;
                // The space is used again.
                self.outgoing[to] = bytes;
                self.outgoing[to].clear();
            } else {
                self.net.send(to, Topic::Reached, bytes);
            }
        }
        self.net.step()?;
        while let Some(packet) = self.net.take() {
            self.receive(&packet)?;
        }
        Ok(())
    }

    /// Deals with a packet. Reports are put aside.
    fn receive(&mut self, packet: &Packet) -> Result<(), Fault> {
        match packet.topic() {
            Some(Topic::Reached) => self.keep(packet.from(), packet.bytes()),
            Some(Topic::Stop) => {
                let reason = String::from_utf8_lossy(packet.bytes());
                self.stopping.get_or_insert_with(|| reason.into_owned());
                Ok(())
            }
            Some(Topic::Progress) => {
                let count = serde_json::from_slice(packet.bytes()).map_err(|_| Fault::garbled())?;
                *self.counts.get_mut(packet.from()).ok_or_else(Fault::garbled)? = count;
                Ok(())
            }
            Some(Topic::Report) => {
                let report =
                    serde_json::from_slice(packet.bytes()).map_err(|_| Fault::garbled())?;
                self.reports.push((packet.from(), report));
                Ok(())
            }
            Some(Topic::Data) | None => Err(Fault::garbled()),
        }
    }

    /// Stores what a worker has reached.
    fn keep(&mut self, from: usize, mut bytes: &[u8]) -> Result<(), Fault> {
        if self.stopping.is_some() {
            return Ok(());
        }
        let worker = u16::try_from(from).map_err(|_| Fault::garbled())?;
        // Several lookups are under way at a time: the memory is slower than the processor.
        const AHEAD: usize = 16;
        let mut ahead = [(&[][..], Hash::of(&[]), StepKey { parent: 0, index: 0 }, 0_u32); AHEAD];
        while !bytes.is_empty() {
            let mut n = 0;
            while n < AHEAD && !bytes.is_empty() {
                let read = |bytes: &mut &'_ [u8]| {
                    let parent = u64::from_le_bytes(fixed(bytes)?);
                    let id = u32::from_le_bytes(fixed(bytes)?);
                    let index = u32::try_from(number(bytes)?).ok()?;
                    let len = usize::try_from(number(bytes)?).ok()?;
                    Some((StepKey { parent, index }, id, len))
                };
                let (key, id, len) = read(&mut bytes).ok_or_else(Fault::garbled)?;
                let (packed, rest) = bytes.split_at_checked(len).ok_or_else(Fault::garbled)?;
                bytes = rest;
                ahead[n] = (packed, Hash::of(packed), key, id);
                n += 1;
            }
            for &(packed, hash, key, id) in &ahead[..n] {
                if let Err(full) = self.store.insert(packed, hash, key, Place { worker, id }) {
                    self.stop(self.why_full(&full));
                    return Ok(());
                }
            }
        }
        self.check_memory();
        Ok(())
    }

    /// Looks whether what the workers of this process store is within the limits.
    fn check_memory(&mut self) {
        let bytes = self.store.bytes();
        let change = bytes.wrapping_sub(self.counted);
        self.counted = bytes;
        let all = self.common.bytes.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
        if let Err(stop) = self.common.budget.check_store(all) {
            let process = self.stats.process;
            let reason = match self.net.peers() {
                1 => stop.to_string(),
                _ => format!("in process {process}: {stop}"),
            };
            self.stop(reason);
        }
    }

    /// Why a configuration was not stored.
    fn why_full(&self, full: &Full) -> String {
        match full {
            Full::Numbers => TOO_MANY.to_owned(),
            Full::Disk(error) => disk_failed(self.stats.process, error),
        }
    }

    /// Stops all workers.
    fn stop(&mut self, reason: String) {
        if self.stopping.is_none() {
            self.net.tell_others(Topic::Stop, reason.as_bytes());
            self.stopping = Some(reason);
        }
    }

    fn look_at_limits(&mut self, progress: &mut dyn FnMut(Count)) -> Result<(), Fault> {
        self.check_memory();
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
            self.post(self.common.tuning.packet)?;
        }
        Ok(())
    }

    fn own_count(&self) -> (u64, u64, u64, u64) {
        let done = self.found.iter().filter_map(|found| found.get());
        let (mut expanded, mut steps) = (self.stats.expanded, self.stats.steps);
        for expansion in done {
            expanded += 1;
            steps += expansion.steps as u64;
        }
        (u64::from(self.store.len()), expanded, steps, self.store.bytes() as u64)
    }

    fn tell(&self, progress: &mut dyn FnMut(Count)) {
        let mut all = Count { depth: self.level, ..Count::default() };
        for (stored, expanded, steps, bytes) in &self.counts {
            all.stored += stored;
            all.expanded += expanded;
            all.steps += steps;
            all.bytes += bytes;
        }
        progress(all);
    }

    /// Ends a round: sends what is left and a report, and returns the reports of all.
    fn report(
        &mut self,
        missed: &[u32],
        progress: &mut dyn FnMut(Count),
    ) -> Result<Vec<Report>, Fault> {
        self.post(0)?;
        let me = self.net.index();
        let most = self.common.tuning.missed;
        let count = self.own_count();
        let own = Report {
            level: self.level,
            waiting: self.keys.len() as u64,
            count,
            seen: (self.seen.iter().enumerate())
                .filter_map(|(q, seen)| seen.map(|(key, place)| (q, key, place)))
                .filter(|(_, _, place)| usize::from(place.worker) == me)
                .map(|(q, key, place)| (q, key, place.id))
                .collect(),
            missed: (missed.iter().take(most))
                .map(|&i| {
                    let id = self.first + i;
                    Ok((self.keys[i as usize], id, self.store.get(id)?.into_owned()))
                })
                .collect::<std::io::Result<_>>()
                .map_err(|e| unread(&e))?,
            more: missed.len() > most,
            largest_index: self.largest_index,
            largest_key: self.keys.iter().copied().max().unwrap_or(0),
            sizes: self.common.shared.sizes(),
            stopped: self.stopping.clone(),
        };
        let bytes = serde_json::to_vec(&own).map_err(|_| Fault::garbled())?;
        self.net.tell_others(Topic::Report, &bytes);
        let waiting = Instant::now();
        self.close_round()?;
        self.waited += waiting.elapsed();
        let mut all: Vec<Option<Report>> = (0..self.net.peers()).map(|_| None).collect();
        all[me] = Some(own);
        for (from, report) in std::mem::take(&mut self.reports) {
            let slot = all.get_mut(from).filter(|slot| slot.is_none());
            *slot.ok_or_else(Fault::confused)? = Some(report);
        }
        let all: Vec<Report> =
            all.into_iter().collect::<Option<_>>().ok_or_else(Fault::confused)?;
        // Nobody says more than what everybody has reported about the same level.
        // A worker that stops has not created what the others have.
        let is_stopping = all.iter().any(|r| r.stopped.is_some());
        let agrees = |r: &Report| r.level == self.level && (is_stopping || r.sizes == all[0].sizes);
        if !all.iter().all(agrees) {
            return Err(Fault::confused());
        }
        for (worker, report) in all.iter().enumerate() {
            self.counts[worker] = report.count;
            for &(question, key, id) in &report.seen {
                if question >= self.seen.len() {
                    return Err(Fault::garbled());
                }
                self.see(question, key, Place { worker: worker as u16, id });
            }
        }
        // All stop for the same reason, in the same round.
        self.stopped = all.iter().find_map(|report| report.stopped.clone());
        if me == 0 && self.told.elapsed() >= OFTEN {
            self.told = Instant::now();
            self.tell(progress);
        }
        Ok(all)
    }

    fn close_round(&mut self) -> Result<(), Fault> {
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

    /// Expands what was missed, as far as its order is known: `None` if nothing is missed any more
    /// that comes before the end, otherwise those of the own ones that are still missed.
    fn replay(&mut self, reports: &[Report], missed: Vec<u32>) -> Result<Option<Vec<u32>>, Fault> {
        let last = |r: &Report| r.missed.last().map(|(key, ..)| *key);
        let known = reports.iter().filter(|r| r.more).filter_map(last).min().unwrap_or(u64::MAX);
        let of = |(worker, report): (usize, &'_ Report)| {
            let all = report.missed.iter().cloned();
            all.map(move |(key, id, bytes)| (key, worker, id, bytes)).collect::<Vec<_>>()
        };
        let mut all: Vec<(u64, usize, u32, Vec<u8>)> =
            reports.iter().enumerate().flat_map(of).filter(|(key, ..)| *key <= known).collect();
        all.sort_unstable();
        let end = self.end.unwrap_or(u64::MAX);
        if all.first().is_none_or(|(key, ..)| *key >= end) {
            return Ok(None);
        }
        let shared = self.common.shared;
        let me = self.net.index();
        for (key, worker, id, bytes) in all {
            if self.end.is_some_and(|end| key >= end) {
                break;
            }
            if let Err(stop) = self.common.budget.tick() {
                self.stop(stop.to_string());
                break;
            }
            let mut config = Vec::new();
            unpack(&bytes, &mut config);
            let place = Place { worker: worker as u16, id };
            // What was settled before this configuration is open no more.
            let is_open = |q: usize| {
                self.settled[q].is_none() && self.seen[q].is_none_or(|(first, _)| first > key)
            };
            for question in shared.look(&config, &is_open).into_iter().flatten() {
                self.see(question, key, place);
            }
            if self.end.is_some_and(|end| key >= end) {
                break;
            }
            let expansion = self.steps_from(&config);
            if worker == me {
                let i = id.checked_sub(self.first).map(|i| i as usize);
                let found = i.and_then(|i| self.found.get_mut(i)).ok_or_else(Fault::garbled)?;
                *found = Found::new(expansion);
                self.route(key, id)?;
            }
        }
        let rest = |i: &u32| self.found[*i as usize] == Found::NOTHING;
        Ok(Some(missed.into_iter().filter(rest).collect()))
    }

    /// Counts what was expanded in the level before its end.
    fn count(&mut self) {
        let end = self.end;
        let before = |key: u64| end.is_none_or(|end| key < end);
        for (key, found) in self.keys.iter().zip(&self.found) {
            if let Some(expansion) = found.get().filter(|_| before(*key)) {
                self.stats.expanded += 1;
                self.stats.steps += expansion.steps as u64;
                self.stats.within_bound &= expansion.within_bound;
            }
        }
        let (first, fresh) = self.store.fresh();
        let counted = fresh.iter().filter(|key| before(key.parent)).count();
        self.stats.stored = u64::from(first) + counted as u64;
    }

    /// What was seen in the level settles questions.
    fn settle(&mut self) {
        for (settled, seen) in self.settled.iter_mut().zip(&self.seen) {
            if settled.is_none() {
                *settled = seen.map(|(_, place)| place);
            }
        }
    }

    /// Goes to the next level; whether there may be one.
    fn close_level(&mut self, (index, key): (u32, u64)) -> Result<bool, Fault> {
        self.count();
        let has_ended = self.end.is_some();
        self.settle();
        if has_ended {
            self.stopped = Some(SETTLED.to_owned());
            return Ok(false);
        }
        let (first, fresh) = self.store.take_fresh();
        let steps = u64::from(index) + 1;
        let is_small = key
            .checked_add(1)
            .and_then(|count| count.checked_mul(steps))
            .is_some_and(|count| count - 1 <= self.common.tuning.largest_key);
        self.keys = match is_small {
            true => fresh.iter().map(|k| k.parent * steps + u64::from(k.index)).collect(),
            false => rank::ranks(&mut self.net, &fresh)?,
        };
        self.first = first;
        self.level += 1;
        Ok(true)
    }

    /// The paths to what settled questions, by asking backwards across workers.
    fn paths(&mut self) -> Result<Vec<Option<Vec<Vec<Cell>>>>, Fault> {
        /// A part of the path to what settles a question: backwards, and where it goes on.
        type Part = (usize, Vec<Vec<u8>>, Option<(u16, u32)>);
        let me = self.net.index() as u16;
        let mut at: Vec<Option<Place>> = self.settled.clone();
        let mut paths: Vec<Option<Vec<Vec<Cell>>>> =
            self.settled.iter().map(|settled| settled.map(|_| Vec::new())).collect();
        while at.iter().any(Option::is_some) {
            let mut parts: Vec<Part> = Vec::new();
            for (question, place) in at.iter().enumerate() {
                let Some(mut place) = place.filter(|place| place.worker == me) else { continue };
                let mut part = Vec::new();
                while place.worker == me {
                    part.push(self.store.get(place.id).map_err(|e| unread(&e))?.into_owned());
                    place = self.store.parent(place.id).map_err(|e| unread(&e))?;
                }
                let next = (place != NOWHERE).then_some((place.worker, place.id));
                parts.push((question, part, next));
            }
            let own = serde_json::to_vec(&parts).map_err(|_| Fault::garbled())?;
            let all = self.net.gather(Topic::Data, own)?;
            at.fill(None);
            for bytes in all {
                let parts: Vec<Part> =
                    serde_json::from_slice(&bytes).map_err(|_| Fault::garbled())?;
                for (question, part, next) in parts {
                    let path = paths.get_mut(question).and_then(Option::as_mut);
                    let path = path.ok_or_else(Fault::garbled)?;
                    path.extend(part.iter().map(|packed| {
                        let mut config = Vec::new();
                        unpack(packed, &mut config);
                        config
                    }));
                    at[question] = next.map(|(worker, id)| Place { worker, id });
                }
            }
        }
        paths.iter_mut().flatten().for_each(|path| path.reverse());
        Ok(paths)
    }
}

/// What is said if closed levels cannot be written to disk or compared with.
fn disk_failed(process: usize, error: &std::io::Error) -> String {
    format!("in process {process}: closed levels cannot be kept on disk: {error}")
}

/// What was on disk is not there any more.
fn unread(error: &std::io::Error) -> Fault {
    Fault::Lost(format!("what was spilled to disk cannot be read: {error}"))
}

/// Why the ordinary search stops when there is nothing more to find.
const SETTLED: &str = "every question was settled";

/// Why a worker stops that has no numbers left.
const TOO_MANY: &str = "there are more configurations than Weir can number";
