//! One worker of a search with views.
//!
//! Configurations that can cover each other have the same control states and memory. A hash of these
//! says which worker keeps them, so covering and joining need nobody else. The rest is as in the
//! explicit search (`worker`): the search goes level by level, keys stand for the order of one
//! thread, and what creates control states or values is left to all workers together. Three
//! things are different:
//!
//! * **Storing.** Which configurations of a bucket are maximal, and which are joined, depends on the
//!   order in which they are stored. So what is reached waits until the level is over, and is then
//!   stored in the order of its keys.
//! * **Paths.** A configuration that may settle a question is left to all workers as well. In the
//!   order of keys they ask backwards for the path to it, and each of them decides whether it is a
//!   run and what made it possible if it is none. So all know the same about every question.
//! * **Rounds.** If a path is no run, the search begins again and tells more apart. Each worker knows
//!   what all others know, so all begin again together.
//!
//! Each worker has numbers of its own for letters and views, and tells others what a number stands
//! for when it sends it for the first time ([`Outbox`]).

use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use weir_engine::store::pack;
use weir_engine::views::shared::{
    Course, Inbox, Known, Origin, Outbox, Part, Taken, Unread, Way, number, push_number, stats,
};
use weir_engine::{Stats, Task};
use weir_model::answer::{Evidence, ViewConfiguration};
use weir_model::grow::without_growth;
use weir_model::ids::Cell;
use weir_model::limits::INTERVAL;

use crate::fault::Fault;
use crate::net::{Net, Packet, Topic};
use crate::rank;
use crate::store::{Hash, StepKey};
use crate::worker::{Count, OFTEN, Tuning, WorkerStats};

/// How many paths are asked for at a time.
const PATHS: usize = 16;

/// The bytes of a packet of a proof.
const PACKET: usize = 1 << 20;

/// What the workers of a process share.
pub struct Common<'t> {
    /// What is asked.
    pub task: Task<'t>,
    /// Sizes.
    pub tuning: Tuning,
    /// The bytes that the parts of this process take up.
    pub bytes: &'t AtomicUsize,
    /// The number of workers of each process.
    pub workers: usize,
}

/// What a search found, the same for every worker, but that only the first worker of a process has
/// the proof.
pub struct Outcome {
    /// What is known of the questions.
    pub course: Course,
    /// What shows that nothing else happens, if everything was seen.
    pub proof: Option<Evidence>,
    /// What the last round did, all workers together.
    pub stats: Stats,
    /// What each worker did in the last round.
    pub workers: Vec<WorkerStats>,
    /// The number of rounds of messages.
    pub rounds: u64,
}

/// What a worker says about a round of messages. The configurations that it leaves to all follow.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Report {
    /// How often the search began again.
    again: u64,
    level: u64,
    /// How many configurations it has in the level.
    waiting: u64,
    count: (u64, u64, u64, u64),
    /// How many configurations it leaves to all here, and whether there are more.
    left: u64,
    more: bool,
    /// Whether one of those may settle a question.
    may_settle: bool,
    largest_index: u32,
    largest_key: u64,
    /// What the system has created.
    sizes: u64,
    /// How many configurations that may settle something were decided.
    judged: u64,
    stopped: Option<String>,
}

/// What a worker did, with what is only for the sum of all.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Summary {
    worker: WorkerStats,
    /// How many configurations were stored, maximal or not, and how many initial ones it has.
    kept: u64,
    initial: u64,
    longest: u64,
}

/// A configuration that is left to all workers.
struct Left {
    key: u64,
    worker: usize,
    id: u32,
    /// Whether it may settle a question: then the path to it is needed.
    may_settle: bool,
    config: Known,
}

/// A worker.
pub struct Search<'c, 'w> {
    common: &'c Common<'c>,
    net: Net<'w>,
    course: Course,
    /// How often the search began again.
    again: u64,
    /// The statistics of a round that has not begun.
    fresh: Stats,
    /// None only if a limit was reached before there could be one.
    part: Option<Part<'c>>,
    /// The configurations of the level by their keys, which are in order.
    ids: Vec<u32>,
    keys: Vec<u64>,
    /// For each of them, the number of steps from it if it was expanded.
    found: Vec<Option<u32>>,
    level: u64,
    largest_index: u32,
    initial: u64,
    worker: WorkerStats,
    /// Why this worker stops, which the others may not know yet.
    stopping: Option<String>,
    /// Why all stop.
    stopped: Option<String>,
    /// Whether this worker has closed its round: what it sends from then on is of the next one, in
    /// which others may not expect it.
    has_closed: bool,
    was_cut: bool,
    /// Reports that have come.
    reports: Vec<(usize, Vec<u8>)>,
    /// The key at which the search ends.
    end: Option<u64>,
    judged: u64,
    /// What was known before the last decisions: if not all could make them, nobody has.
    before: Option<Course>,
    /// For each worker, what is to be sent to it, how many packets were, what it was told, and what
    /// it has told.
    outgoing: Vec<Vec<u8>>,
    sent: Vec<u64>,
    received: Vec<u64>,
    outboxes: Vec<Outbox>,
    inboxes: Vec<Inbox>,
    packed: Vec<u8>,
    /// The bytes of this part that the process knows of.
    counted: usize,
    waited: Duration,
    told: Instant,
    counts: Vec<(u64, u64, u64, u64)>,
}

fn fixed<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Fault> {
    let (head, rest) = bytes.split_first_chunk().ok_or_else(Fault::garbled)?;
    *bytes = rest;
    Ok(*head)
}

fn long(bytes: &mut &[u8]) -> Result<u64, Fault> {
    number(bytes).ok_or_else(Fault::garbled)
}

fn small(bytes: &mut &[u8]) -> Result<u32, Fault> {
    u32::try_from(long(bytes)?).map_err(|_| Fault::garbled())
}

impl<'c, 'w> Search<'c, 'w> {
    /// A worker that has not begun.
    pub fn new(common: &'c Common<'c>, net: Net<'w>, process: usize) -> Self {
        let peers = net.peers();
        Self {
            common,
            course: Course::new(common.task.questions.len()),
            again: 0,
            fresh: Stats::default(),
            part: None,
            ids: vec![],
            keys: vec![],
            found: vec![],
            level: 0,
            largest_index: 0,
            initial: 0,
            worker: WorkerStats { process, within_bound: true, ..WorkerStats::default() },
            stopping: None,
            stopped: None,
            has_closed: false,
            was_cut: false,
            reports: vec![],
            end: None,
            judged: 0,
            before: None,
            outgoing: vec![Vec::new(); peers],
            sent: vec![0; peers],
            received: vec![0; peers],
            outboxes: vec![Outbox::default(); peers],
            inboxes: vec![Inbox::default(); peers],
            packed: vec![],
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
        let certificate = self.common.task.options.certificate;
        let saw_all = loop {
            self.course.begin();
            self.begin();
            while self.search_level(progress)? {}
            let has_stopped = self.stopped.is_some();
            let saw_all = !self.was_cut && !has_stopped;
            if !self.course.close(saw_all, has_stopped, certificate) {
                break saw_all;
            }
            self.again += 1;
        };
        let proof = match saw_all {
            true if certificate && self.course.needs_proof() => self.proof()?,
            true => Some(Evidence::Exhausted),
            false => None,
        };
        let part = self.part.as_ref();
        let summary = Summary {
            worker: WorkerStats {
                stored: part.map_or(0, Part::maximal) as u64,
                bytes: part.map_or(0, Part::bytes) as u64,
                sent: self.net.sent,
                waited: self.waited.as_millis() as u64,
                stopping: self.stopping.take(),
                ..self.worker
            },
            kept: part.map_or(0, Part::len) as u64,
            initial: self.initial,
            longest: part.map_or(0, Part::longest) as u64,
        };
        let own = serde_json::to_vec(&summary).map_err(|_| Fault::garbled())?;
        let all = self.net.gather(Topic::Data, own)?;
        let read = |bytes: &Vec<u8>| serde_json::from_slice(bytes).map_err(|_| Fault::garbled());
        let all = all.iter().map(read).collect::<Result<Vec<Summary>, Fault>>()?;
        let rounds = self.net.round();
        self.net.end();
        // A worker that stopped in the last round has not stored everything.
        let late = all.iter().find_map(|summary| summary.worker.stopping.clone());
        let stopped = late.or(self.stopped);
        let sum = |of: fn(&Summary) -> u64| all.iter().map(of).sum::<u64>() as usize;
        let (steps, initial) = (sum(|s| s.worker.steps), sum(|s| s.initial));
        let stats = Stats {
            stored: sum(|s| s.worker.stored),
            expanded: sum(|s| s.worker.expanded),
            steps,
            covered: (initial + steps).saturating_sub(sum(|s| s.kept)),
            longest: all.iter().map(|s| s.longest as usize).max(),
            bytes: sum(|s| s.worker.bytes),
            stopped,
            ..self.fresh
        };
        let proof = proof.filter(|_| stats.stopped.is_none());
        let workers = all.into_iter().map(|summary| summary.worker).collect();
        Ok(Outcome { course: self.course, proof, stats, workers, rounds })
    }

    /// Begins a round of the search: stores the initial configurations.
    fn begin(&mut self) {
        let (me, peers) = (self.net.index(), self.net.peers());
        self.fresh = stats(&self.course);
        self.part = None;
        self.outboxes = vec![Outbox::default(); peers];
        self.inboxes = vec![Inbox::default(); peers];
        self.level = 0;
        self.initial = 0;
        self.was_cut = false;
        self.end = None;
        (self.worker.expanded, self.worker.steps) = (0, 0);
        self.ids.clear();
        self.keys.clear();
        let begun = Part::new(self.common.task, &self.course).and_then(|mut part| {
            let packed = &mut self.packed;
            let count = part.begin(&mut |state| worker_of(state, packed, peers) == me)?;
            let fresh = part.close_level(None)?;
            Ok((part, count, fresh))
        });
        match begun {
            Ok((part, count, fresh)) => {
                self.part = Some(part);
                self.initial = count as u64;
                // Their keys are their numbers.
                (self.ids, self.keys) = fresh.iter().map(|(id, key)| (*id, key.0)).unzip();
            }
            Err(reason) => self.halt(reason),
        }
    }

    /// This worker stops, and says so in its next report.
    fn halt(&mut self, reason: String) {
        let process = self.worker.process;
        self.stopping.get_or_insert_with(|| match self.net.peers() {
            1 => reason,
            _ => format!("in process {process}: {reason}"),
        });
    }

    /// Stops all workers, at once if they listen.
    fn stop(&mut self, reason: String) {
        if self.stopping.is_none() {
            self.halt(reason);
            if let Some(reason) = self.stopping.as_ref().filter(|_| !self.has_closed) {
                self.net.tell_others(Topic::Stop, reason.as_bytes());
            }
        }
    }

    /// Searches a level; whether there may be another.
    fn search_level(&mut self, progress: &mut dyn FnMut(Count)) -> Result<bool, Fault> {
        self.found.clear();
        self.found.resize(self.ids.len(), None);
        self.largest_index = 0;
        if self.course.is_done() {
            // Nothing is asked.
            return Ok(false);
        }
        let mut open: Vec<u32> = (0..self.ids.len() as u32).collect();
        loop {
            // What is left when the search has ended comes behind the end.
            let left = match self.end {
                None => self.expand(&open, progress)?,
                Some(_) => vec![],
            };
            let (reports, blobs) = self.report(&left, progress)?;
            if self.stopped.is_some() {
                self.count();
                return Ok(false);
            }
            if reports.iter().all(|report| report.waiting == 0) {
                return Ok(false);
            }
            match self.replay(&reports, &blobs, left)? {
                Some(rest) => open = rest,
                None => return self.close_level(&reports),
            }
        }
    }

    /// Expands configurations of the level that settle nothing, without creating anything, and returns
    /// the others: whether they may settle something.
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
            let Some(part) = self.part.as_mut().filter(|_| self.stopping.is_none()) else { break };
            let course = &self.course;
            let done = without_growth(|| {
                let config = part.get(self.ids[i as usize]);
                Ok(match part.may_settle(course, &config)? {
                    true => None,
                    false => Some(part.expand(&config)?),
                })
            });
            match done {
                Some(Ok(Some(reached))) => self.route(i, reached)?,
                Some(Ok(None)) => left.push((i, true)),
                None => left.push((i, false)),
                Some(Err(reason)) => self.stop(reason),
            }
        }
        Ok(left)
    }

    /// Sends what was reached from a configuration of the level to the workers that keep it.
    fn route(&mut self, i: u32, reached: Vec<(Taken, Known)>) -> Result<(), Fault> {
        let (me, peers) = (self.net.index(), self.net.peers());
        let (key, id) = (self.keys[i as usize], self.ids[i as usize]);
        self.found[i as usize] = Some(u32::try_from(reached.len()).unwrap_or(u32::MAX));
        self.largest_index = self.largest_index.max(reached.len() as u32);
        let mut is_full = false;
        for (index, (step, next)) in reached.into_iter().enumerate() {
            let Some(part) = &mut self.part else { break };
            let to = worker_of(next.state(), &mut self.packed, peers);
            if to == me {
                let origin = Origin { worker: me as u16, id, step };
                if let Err(reason) = part.receive(&next, (key, index as u32), Some(origin)) {
                    self.stop(reason);
                    break;
                }
                continue;
            }
            let outgoing = &mut self.outgoing[to];
            if outgoing.is_empty() {
                push_number(self.sent[to], outgoing);
                self.sent[to] += 1;
            }
            push_number(key, outgoing);
            push_number(u64::from(id), outgoing);
            push_number(index as u64, outgoing);
            part.write_step(step, outgoing);
            part.write(&next, &mut self.outboxes[to], outgoing);
            is_full |= outgoing.len() >= self.common.tuning.packet;
        }
        match is_full {
            true => self.post(self.common.tuning.packet),
            false => Ok(()),
        }
    }

    /// Sends packets of at least so many bytes.
    fn post(&mut self, least: usize) -> Result<(), Fault> {
        for to in 0..self.outgoing.len() {
            if self.outgoing[to].len() >= least.max(1) {
                let bytes = std::mem::take(&mut self.outgoing[to]);
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
                self.reports.push((packet.from(), packet.bytes().to_vec()));
                Ok(())
            }
            Some(Topic::Data) | None => Err(Fault::garbled()),
        }
    }

    /// Keeps what another worker has reached until the level is over.
    fn keep(&mut self, from: usize, mut bytes: &[u8]) -> Result<(), Fault> {
        let worker = u16::try_from(from).map_err(|_| Fault::garbled())?;
        // What a number stands for is told once, so no packet may come before another.
        let sequence = long(&mut bytes)?;
        let expected = self.received.get_mut(from).ok_or_else(Fault::garbled)?;
        if sequence != *expected {
            return Err(Fault::confused());
        }
        *expected += 1;
        while !bytes.is_empty() {
            let Some(part) = self.part.as_mut().filter(|_| self.stopping.is_none()) else { break };
            let key = long(&mut bytes)?;
            let (id, index) = (small(&mut bytes)?, small(&mut bytes)?);
            let step = part.read_step(&mut bytes).map_err(|_| Fault::garbled())?;
            let inbox = &mut self.inboxes[from];
            let kept = part.read(inbox, &mut bytes).and_then(|config| {
                let origin = Origin { worker, id, step };
                part.receive(&config, (key, index), Some(origin)).map_err(Unread::Halted)
            });
            match kept {
                Ok(()) => {}
                Err(Unread::Halted(reason)) => self.stop(reason),
                Err(Unread::Garbled) => return Err(Fault::garbled()),
            }
        }
        self.check_memory();
        Ok(())
    }

    fn bytes(&self) -> usize {
        let part = self.part.as_ref().map_or(0, Part::bytes);
        let outgoing: usize = self.outgoing.iter().map(Vec::capacity).sum();
        let outboxes: usize = self.outboxes.iter().map(Outbox::bytes).sum();
        let inboxes: usize = self.inboxes.iter().map(Inbox::bytes).sum();
        part + outgoing + outboxes + inboxes
    }

    /// Looks whether what the workers of this process store is within the limits.
    fn check_memory(&mut self) {
        let bytes = self.bytes();
        let change = bytes.wrapping_sub(self.counted);
        self.counted = bytes;
        let all = self.common.bytes.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
        let budget = &self.common.task.options.budget;
        if let Err(stop) = budget.check_store(all).and_then(|()| budget.check_freeing(all)) {
            self.stop(stop.to_string());
        }
    }

    /// Looks at the limits, and tells how far this worker is.
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
        }
        Ok(())
    }

    fn own_count(&self) -> (u64, u64, u64, u64) {
        let (mut expanded, mut steps) = (self.worker.expanded, self.worker.steps);
        for found in self.found.iter().flatten() {
            expanded += 1;
            steps += u64::from(*found);
        }
        let part = self.part.as_ref();
        let stored = part.map_or(0, |part| part.maximal() as u64);
        (stored, expanded, steps, part.map_or(0, |part| part.bytes() as u64))
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

    /// Ends a round of messages: sends what is left to send and a report, and returns the reports of
    /// all, each with the configurations that are left to all.
    fn report(
        &mut self,
        left: &[(u32, bool)],
        progress: &mut dyn FnMut(Count),
    ) -> Result<(Vec<Report>, Vec<Vec<u8>>), Fault> {
        self.post(0)?;
        let me = self.net.index();
        let most = self.common.tuning.missed;
        let own = Report {
            again: self.again,
            level: self.level,
            waiting: self.ids.len() as u64,
            count: self.own_count(),
            left: left.len().min(most) as u64,
            more: left.len() > most,
            may_settle: left.iter().take(most).any(|(_, may_settle)| *may_settle),
            largest_index: self.largest_index,
            largest_key: self.keys.last().copied().unwrap_or(0),
            sizes: sizes(self.common.task),
            judged: self.judged,
            stopped: self.stopping.clone(),
        };
        let head = serde_json::to_vec(&own).map_err(|_| Fault::garbled())?;
        let mut bytes = Vec::new();
        push_number(head.len() as u64, &mut bytes);
        bytes.extend(head);
        let mut outbox = Outbox::default();
        for &(i, may_settle) in left.iter().take(most) {
            let Some(part) = &self.part else { break };
            let id = self.ids[i as usize];
            push_number(self.keys[i as usize], &mut bytes);
            push_number(u64::from(id), &mut bytes);
            bytes.push(u8::from(may_settle));
            part.write(&part.get(id), &mut outbox, &mut bytes);
        }
        self.net.tell_others(Topic::Report, &bytes);
        let waiting = Instant::now();
        self.close_round()?;
        self.waited += waiting.elapsed();
        let mut all: Vec<Option<(Report, Vec<u8>)>> = (0..self.net.peers()).map(|_| None).collect();
        self.reports.push((me, bytes));
        for (from, bytes) in std::mem::take(&mut self.reports) {
            let mut rest = &bytes[..];
            let len = usize::try_from(long(&mut rest)?).map_err(|_| Fault::garbled())?;
            let (head, rest) = rest.split_at_checked(len).ok_or_else(Fault::garbled)?;
            let report = serde_json::from_slice(head).map_err(|_| Fault::garbled())?;
            let slot = all.get_mut(from).filter(|slot| slot.is_none());
            *slot.ok_or_else(Fault::confused)? = Some((report, rest.to_vec()));
        }
        let all = all.into_iter().collect::<Option<Vec<_>>>().ok_or_else(Fault::confused)?;
        let (all, blobs): (Vec<Report>, Vec<Vec<u8>>) = all.into_iter().unzip();
        // All stop for the same reason, in the same round.
        self.stopped = all.iter().find_map(|report| report.stopped.clone());
        // Nobody says more than what everybody has reported about the same level.
        // A worker that stops has not created what the others have.
        let is_stopping = self.stopped.is_some();
        let agrees = |r: &Report| {
            (r.again, r.level) == (self.again, self.level)
                && (is_stopping || (r.sizes, r.judged) == (all[0].sizes, all[0].judged))
        };
        if !all.iter().all(agrees) {
            return Err(Fault::confused());
        }
        if all.iter().any(|r| r.judged != all[0].judged)
            && let Some(before) = self.before.take()
        {
            // Somebody stopped in the middle: what the others have found out since is not known there.
            self.course = before;
        }
        self.before = None;
        for (worker, report) in all.iter().enumerate() {
            self.counts[worker] = report.count;
        }
        if me == 0 && self.told.elapsed() >= OFTEN {
            self.told = Instant::now();
            self.tell(progress);
        }
        Ok((all, blobs))
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
    fn left_to_all(&mut self, reports: &[Report], blobs: &[Vec<u8>]) -> Result<Vec<Left>, Fault> {
        let mut all: Vec<Left> = Vec::new();
        // What comes behind the last one that somebody has told of may have others before it.
        let mut known = u64::MAX;
        for (worker, (report, blob)) in reports.iter().zip(blobs).enumerate() {
            let mut inbox = Inbox::default();
            let mut bytes = &blob[..];
            for _ in 0..report.left {
                let (key, id) = (long(&mut bytes)?, small(&mut bytes)?);
                let [may_settle] = fixed(&mut bytes)?;
                let Some(part) = &mut self.part else { return Ok(vec![]) };
                match part.read(&mut inbox, &mut bytes) {
                    Ok(config) => {
                        all.push(Left { key, worker, id, may_settle: may_settle != 0, config });
                    }
                    Err(Unread::Garbled) => return Err(Fault::garbled()),
                    Err(Unread::Halted(reason)) => {
                        // The others go on, and hear of it in the next round.
                        self.halt(reason);
                        return Ok(all);
                    }
                }
            }
            if report.more {
                known = known.min(all.last().map_or(0, |left| left.key));
            }
        }
        all.retain(|left| left.key <= known);
        all.sort_unstable_by_key(|left| left.key);
        Ok(all)
    }

    /// Deals with what is left to all: `None` if nothing is left any more, otherwise those of the own
    /// ones that still are.
    fn replay(
        &mut self,
        reports: &[Report],
        blobs: &[Vec<u8>],
        own: Vec<(u32, bool)>,
    ) -> Result<Option<Vec<u32>>, Fault> {
        if reports.iter().all(|report| report.left == 0) {
            return Ok(None);
        }
        let mut all = self.left_to_all(reports, blobs)?;
        let mut paths = 0;
        let cut = all.iter().position(|left| {
            paths += usize::from(left.may_settle);
            paths > PATHS
        });
        all.truncate(cut.unwrap_or(all.len()));
        // A worker that stops takes part in the rest of the round all the same.
        let ends = |left: &Left| left.may_settle.then_some((left.worker as u16, left.id));
        let ends: Vec<Option<(u16, u32)>> = match self.stopping {
            None => all.iter().filter_map(|left| ends(left).map(Some)).collect(),
            Some(_) => vec![],
        };
        let mut ways = match reports.iter().any(|report| report.may_settle) {
            true => self.ways(ends)?.into_iter(),
            false => vec![].into_iter(),
        };
        if ways.len() > 0 {
            self.before = Some(self.course.clone());
        }
        let me = self.net.index();
        for left in all {
            if self.stopping.is_some() {
                break;
            }
            let way = if left.may_settle { ways.next().flatten() } else { None };
            let Some(part) = &mut self.part else { break };
            if let Err(stop) = self.common.task.options.budget.tick() {
                self.stop(stop.to_string());
                break;
            }
            match part.judge(&mut self.course, &left.config, way.as_ref()) {
                Ok(true) => self.judged += 1,
                // It settles something, as is only known now: the path is asked for in the next round.
                Ok(false) => break,
                Err(reason) => {
                    self.stop(reason);
                    break;
                }
            }
            if self.course.is_done() {
                // What was reached before is still on its way: one more round brings it.
                self.end = Some(left.key);
                break;
            }
            match part.expand(&left.config) {
                Ok(reached) if left.worker == me => {
                    let i = self.keys.binary_search(&left.key).map_err(|_| Fault::garbled())?;
                    self.route(i as u32, reached)?;
                }
                Ok(_) => {}
                Err(reason) => {
                    self.stop(reason);
                    break;
                }
            }
        }
        let rest = own.into_iter().map(|(i, _)| i).filter(|i| self.found[*i as usize].is_none());
        Ok(Some(rest.collect()))
    }

    /// The ways to configurations, by asking backwards across workers.
    fn ways(&mut self, mut at: Vec<Option<(u16, u32)>>) -> Result<Vec<Option<Way>>, Fault> {
        let me = self.net.index() as u16;
        let mut ways: Vec<Way> =
            at.iter().map(|_| Way { configs: vec![], steps: vec![] }).collect();
        // Where a path goes on, or that it does not.
        const ON: u8 = 1;
        loop {
            let mut own = Vec::new();
            let mut outbox = Outbox::default();
            for (n, end) in at.iter().enumerate() {
                let Some((_, mut id)) = end.filter(|(worker, _)| *worker == me) else { continue };
                let Some(part) = &self.part else { break };
                let mut is_here = true;
                while is_here {
                    push_number(n as u64, &mut own);
                    part.write(&part.get(id), &mut outbox, &mut own);
                    let Some(origin) = part.origin(id) else {
                        own.push(0);
                        break;
                    };
                    own.push(ON);
                    part.write_step(origin.step, &mut own);
                    push_number(u64::from(origin.worker), &mut own);
                    push_number(u64::from(origin.id), &mut own);
                    id = origin.id;
                    is_here = origin.worker == me;
                }
            }
            let all = self.net.gather(Topic::Data, own)?;
            // A worker that stops goes on listening, as long as others ask.
            if all.iter().all(Vec::is_empty) {
                break;
            }
            at.fill(None);
            for bytes in &all {
                let mut bytes = &bytes[..];
                let mut inbox = Inbox::default();
                while !bytes.is_empty() && self.stopping.is_none() {
                    let n = long(&mut bytes)? as usize;
                    let (way, at) =
                        ways.get_mut(n).zip(at.get_mut(n)).ok_or_else(Fault::garbled)?;
                    let Some(part) = &mut self.part else { break };
                    match part.read(&mut inbox, &mut bytes) {
                        Ok(config) => way.configs.push(config),
                        Err(Unread::Garbled) => return Err(Fault::garbled()),
                        Err(Unread::Halted(reason)) => {
                            self.halt(reason);
                            break;
                        }
                    }
                    *at = match fixed(&mut bytes)? {
                        [ON] => {
                            let step = part.read_step(&mut bytes);
                            way.steps.push(step.map_err(|_| Fault::garbled())?);
                            let worker = u16::try_from(long(&mut bytes)?);
                            Some((worker.map_err(|_| Fault::garbled())?, small(&mut bytes)?))
                        }
                        _ => None,
                    };
                }
            }
        }
        for way in &mut ways {
            way.configs.reverse();
            way.steps.reverse();
        }
        let is_whole = |way: &Way| way.configs.len() == way.steps.len() + 1;
        Ok(ways.into_iter().map(|way| Some(way).filter(is_whole)).collect())
    }

    /// Counts what was expanded in the level before its end.
    fn count(&mut self) {
        for (key, found) in self.keys.iter().zip(&self.found) {
            if let Some(steps) = found.filter(|_| self.end.is_none_or(|end| *key < end)) {
                self.worker.expanded += 1;
                self.worker.steps += u64::from(steps);
            }
        }
        self.found.clear();
    }

    /// Stores what was reached, and goes to the next level; whether there may be one.
    fn close_level(&mut self, reports: &[Report]) -> Result<bool, Fault> {
        self.count();
        self.ids.clear();
        self.keys.clear();
        let fresh = self.part.as_mut().map_or(Ok(vec![]), |part| part.close_level(self.end));
        let fresh = fresh.unwrap_or_else(|reason| {
            self.halt(reason);
            vec![]
        });
        if self.end.is_some() {
            return Ok(false);
        }
        let index = reports.iter().map(|r| r.largest_index).max().unwrap_or(0);
        let key = reports.iter().map(|r| r.largest_key).max().unwrap_or(0);
        let steps = u64::from(index) + 1;
        let is_small = key
            .checked_add(1)
            .and_then(|count| count.checked_mul(steps))
            .is_some_and(|count| count - 1 <= self.common.tuning.largest_key);
        self.keys = match is_small {
            true => fresh.iter().map(|(_, (key, i))| key * steps + u64::from(*i)).collect(),
            false => {
                let key = |(_, (parent, index)): &(u32, (u64, u32))| StepKey {
                    parent: *parent,
                    index: *index,
                };
                rank::ranks(&mut self.net, &fresh.iter().map(key).collect::<Vec<_>>())?
            }
        };
        self.ids = fresh.into_iter().map(|(id, _)| id).collect();
        self.level += 1;
        let expanded = reports.iter().map(|r| r.count.1).sum::<u64>();
        if self.course.is_cut(expanded as usize) {
            // Unless there is nothing left to cut.
            let own = vec![u8::from(!self.ids.is_empty())];
            self.was_cut = self.net.gather(Topic::Data, own)?.iter().any(|has| has == &[1]);
            return Ok(!self.was_cut);
        }
        Ok(true)
    }

    /// The maximal configurations of all workers, for the first worker of each process; nothing for
    /// the others.
    fn proof(&mut self) -> Result<Option<Evidence>, Fault> {
        let (me, peers, workers) = (self.net.index(), self.net.peers(), self.common.workers);
        let is_first = me.is_multiple_of(workers);
        let Self { part, net, stopping, common, .. } = self;
        let Some(part) = part else { return Ok(None) };
        let mut configurations: Vec<ViewConfiguration> = Vec::new();
        let (mut outbox, mut bytes) = (Outbox::default(), Vec::new());
        let ids: Vec<u32> = part.maximal_ids().collect();
        for (n, &id) in ids.iter().enumerate() {
            let config = part.get(id);
            if is_first {
                configurations.push(part.parts(&config));
            }
            part.write(&config, &mut outbox, &mut bytes);
            if bytes.len() >= PACKET || n + 1 == ids.len() {
                for to in (0..peers).step_by(workers).filter(|to| *to != me) {
                    net.send(to, Topic::Data, bytes.clone());
                }
                bytes.clear();
            }
        }
        let budget = &common.task.options.budget;
        let mut inboxes = vec![Inbox::default(); peers];
        net.close(&mut |_, packet| {
            let inbox = inboxes.get_mut(packet.from()).ok_or_else(Fault::garbled)?;
            let mut bytes = packet.bytes();
            while !bytes.is_empty() && stopping.is_none() {
                let limit = budget.tick().map_err(|stop| Unread::Halted(stop.to_string()));
                match limit.and_then(|()| part.read(inbox, &mut bytes)) {
                    Ok(config) => configurations.push(part.parts(&config)),
                    Err(Unread::Garbled) => return Err(Fault::garbled()),
                    Err(Unread::Halted(reason)) => *stopping = Some(reason),
                }
            }
            Ok(())
        })?;
        Ok((is_first && stopping.is_none()).then(|| part.proof(configurations)))
    }
}

/// The worker, of so many, that keeps configurations of a state.
fn worker_of(state: &[Cell], packed: &mut Vec<u8>, peers: usize) -> usize {
    packed.clear();
    pack(state, packed);
    Hash::of(packed).worker(peers)
}

/// A number that differs, most likely, where systems have created different numbers of control
/// states and values.
fn sizes(task: Task<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    task.system.sizes().for_each(|size| hasher.write_usize(size));
    hasher.finish()
}
