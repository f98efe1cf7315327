//! What is searched by the engine `views`.
//!
//! Configurations that can cover each other have the same control states and memory. A hash of these
//! says which worker keeps them, so covering and joining need nobody else. Three things are
//! different from the explicit search (`explicit`):
//!
//! * **Storing.** Which configurations of a bucket are maximal, and which are joined, depends on the
//!   order in which they are stored. So what is reached waits until the level is over, and is then
//!   stored in the order of its keys.
//! * **Paths.** A configuration that may settle a question is left to all workers as well. In the
//!   order of keys they ask backwards for the path to it, and each of them decides whether it is a
//!   run and what made it possible if it is none. So all know the same about every question.
//! * **Again.** If a path is no run, the search begins again and tells more apart. Each worker knows
//!   what all others know, so all begin again together.
//!
//! Each worker has numbers of its own for letters and views, and tells others what a number stands
//! for when it sends it for the first time ([`Outbox`]).

use serde::{Deserialize, Serialize};
use weir_engine::store::numbers::{number, pack};
use weir_engine::store::{Hash, StepKey};
use weir_engine::views::shared::{
    Course, Inbox, Known, Origin, Outbox, Part, Taken, Unread, Way, stats,
};
use weir_engine::{Expansion, Stats, Task};
use weir_model::answer::{Evidence, ViewConfiguration};
use weir_model::grow::without_growth;
use weir_model::ids::Cell;

use crate::fault::Fault;
use crate::net::{Net, Topic};
use crate::round::{Common, Worker};
use crate::space::{Count, Halt, Left, Packets, Place, Space, Tried, WorkerStats};

/// The bytes of a packet of a proof.
const PACKET: usize = 1 << 20;

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

/// What a worker did, with what is only for the sum of all.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Summary {
    worker: WorkerStats,
    /// How many configurations were stored, maximal or not, and how many initial ones it has.
    kept: u64,
    initial: u64,
    longest: u64,
}

/// The configurations of a worker.
struct Configurations<'c> {
    task: Task<'c>,
    course: Course,
    /// The statistics of a search that has not begun.
    fresh: Stats,
    /// None only if a limit was reached before there could be one.
    part: Option<Part<'c>>,
    me: usize,
    peers: usize,
    /// The configurations of the level by their keys, which are in order.
    ids: Vec<u32>,
    initial: u64,
    /// The key at which the search ends.
    end: Option<u64>,
    /// How many configurations that were left to all were decided.
    judged: u64,
    /// What was known before the last decisions: if not all could make them, nobody has.
    before: Option<Course>,
    /// What each worker was told, and what it has told.
    outboxes: Vec<Outbox>,
    inboxes: Vec<Inbox>,
    /// What one configuration leads to.
    reached: Vec<(Taken, Known)>,
    packed: Vec<u8>,
}

impl From<Unread> for Halt {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Garbled => Self::Failed(Fault::garbled()),
            Unread::Halted(reason) => Self::Stopped(reason),
        }
    }
}

/// Searches with one worker, of so many in each process.
///
/// # Errors
/// If a worker or a connection fails.
pub fn search(
    common: Common<'_>,
    task: Task<'_>,
    workers: usize,
    net: Net<'_>,
    progress: &mut dyn FnMut(Count),
) -> Result<Outcome, Fault> {
    let certificate = task.options.certificate;
    let space = Configurations {
        task,
        course: Course::new(task.questions.len()),
        fresh: Stats::default(),
        part: None,
        me: net.index(),
        peers: net.peers(),
        ids: vec![],
        initial: 0,
        end: None,
        judged: 0,
        before: None,
        outboxes: vec![],
        inboxes: vec![],
        reached: vec![],
        packed: vec![],
    };
    let mut worker = Worker::new(common, space, net);
    let saw_all = worker.run(progress)?;
    let proof = match saw_all {
        true if certificate && worker.space.course.needs_proof() => proof(&mut worker, workers)?,
        true => Some(Evidence::Exhausted),
        false => None,
    };
    let part = worker.space.part.as_ref();
    let own = Summary {
        worker: worker.stats(),
        kept: part.map_or(0, Part::len) as u64,
        initial: worker.space.initial,
        longest: part.map_or(0, Part::longest) as u64,
    };
    let all: Vec<Summary> = worker.net.gather_values(&own)?;
    let Worker { net, space: Configurations { course, fresh, .. }, stopped, .. } = worker;
    let rounds = net.round();
    net.end();
    // A worker that stopped in the last round has not stored everything.
    let late = all.iter().find_map(|summary| summary.worker.stopping.clone());
    let sum = |of: fn(&Summary) -> u64| all.iter().map(of).sum::<u64>() as usize;
    let (steps, initial) = (sum(|s| s.worker.steps), sum(|s| s.initial));
    let stats = Stats {
        stored: sum(|s| s.worker.stored),
        expanded: sum(|s| s.worker.expanded),
        steps,
        covered: (initial + steps).saturating_sub(sum(|s| s.kept)),
        longest: all.iter().map(|s| s.longest as usize).max(),
        bytes: sum(|s| s.worker.bytes),
        stopped: late.or(stopped),
        ..fresh
    };
    let proof = proof.filter(|_| stats.stopped.is_none());
    let workers = all.into_iter().map(|summary| summary.worker).collect();
    Ok(Outcome { course, proof, stats, workers, rounds })
}

/// The part of a worker. One that could not begin has stopped for a reason that is known.
fn begun<'p, 'c>(part: &'p mut Option<Part<'c>>) -> Result<&'p mut Part<'c>, Halt> {
    part.as_mut().ok_or_else(|| Halt::Stopped("the search could not begin".to_owned()))
}

impl Space for Configurations<'_> {
    type Config = Known;
    /// The step is the one that leads to the configuration.
    type Link = (Known, Option<Taken>);
    type Outbox = Outbox;
    type Inbox = Inbox;
    /// How many configurations that were left to all were decided.
    type Said = u64;

    fn begin(&mut self, me: usize, peers: usize) -> Result<Vec<u64>, Halt> {
        self.course.begin();
        self.fresh = stats(&self.course);
        self.outboxes = vec![Outbox::default(); peers];
        self.inboxes = vec![Inbox::default(); peers];
        self.part = None;
        self.ids.clear();
        (self.initial, self.end) = (0, None);
        let mut part = Part::new(self.task, &self.course).map_err(Halt::Stopped)?;
        let packed = &mut self.packed;
        let mut is_mine = |state: &[Cell]| worker_of(state, packed, peers) == me;
        let count = part.begin(&mut is_mine).map_err(Halt::Stopped)?;
        let fresh = part.close_level(None).map_err(Halt::Stopped)?;
        self.part = Some(part);
        self.initial = count as u64;
        if self.course.is_done() {
            // Nothing is asked.
            return Ok(vec![]);
        }
        // Their keys are their numbers.
        let keys;
        (self.ids, keys) = fresh.iter().map(|(id, key)| (*id, key.parent)).unzip();
        Ok(keys)
    }

    fn begins_again(&mut self, saw_all: bool, has_stopped: bool) -> bool {
        self.course.close(saw_all, has_stopped, self.task.options.certificate)
    }

    fn try_expand(&mut self, i: usize, _: u64) -> Result<Tried, Halt> {
        let Self { part, course, ids, .. } = self;
        let part = begun(part)?;
        let done = without_growth(|| {
            let config = part.get(ids[i]);
            Ok(match part.may_settle(course, &config)? {
                true => None,
                false => Some(part.expand(&config)?),
            })
        });
        match done.transpose().map_err(Halt::Stopped)? {
            Some(Some(reached)) => {
                let steps = reached.len();
                self.reached = reached;
                Ok(Tried::Expanded(Expansion { steps, within_bound: true }))
            }
            Some(None) => Ok(Tried::Left { needs_path: true }),
            None => Ok(Tried::Left { needs_path: false }),
        }
    }

    fn expand(&mut self, config: &Known) -> Result<Expansion, Halt> {
        self.reached = begun(&mut self.part)?.expand(config).map_err(Halt::Stopped)?;
        Ok(Expansion { steps: self.reached.len(), within_bound: true })
    }

    fn route(&mut self, i: usize, key: u64, packets: &mut Packets) -> Result<(), Halt> {
        let id = self.ids[i];
        let part = begun(&mut self.part)?;
        for (index, (step, next)) in self.reached.drain(..).enumerate() {
            let key = StepKey { parent: key, index: index as u32 };
            let to = worker_of(next.state(), &mut self.packed, self.peers);
            if to == self.me {
                let origin = Origin { worker: to as u16, id, step };
                part.receive(&next, key, Some(origin)).map_err(Halt::Stopped)?;
            } else {
                packets.add(to, key, id, |bytes| {
                    part.write_step(step, bytes);
                    part.write(&next, &mut self.outboxes[to], bytes);
                });
            }
        }
        Ok(())
    }

    /// Keeps what another worker has reached until the level is over.
    fn keep(&mut self, from: usize, mut bytes: &[u8]) -> Result<(), Halt> {
        let worker = u16::try_from(from).map_err(|_| Fault::garbled())?;
        let part = begun(&mut self.part)?;
        while !bytes.is_empty() {
            let (key, id) = Packets::take(&mut bytes).ok_or_else(Fault::garbled)?;
            let step = part.read_step(&mut bytes)?;
            let config = part.read(&mut self.inboxes[from], &mut bytes)?;
            let origin = Origin { worker, id, step };
            part.receive(&config, key, Some(origin)).map_err(Halt::Stopped)?;
        }
        Ok(())
    }

    fn id(&self, i: usize) -> u32 {
        self.ids[i]
    }

    fn write(&self, id: u32, outbox: &mut Outbox, bytes: &mut Vec<u8>) -> Result<(), Halt> {
        if let Some(part) = &self.part {
            part.write(&part.get(id), outbox, bytes);
        }
        Ok(())
    }

    fn read(&mut self, inbox: &mut Inbox, bytes: &mut &[u8]) -> Result<Known, Halt> {
        Ok(begun(&mut self.part)?.read(inbox, bytes)?)
    }

    fn write_link(
        &self,
        id: u32,
        outbox: &mut Outbox,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Place>, Halt> {
        self.write(id, outbox, bytes)?;
        let origin = self.part.as_ref().and_then(|part| part.origin(id));
        bytes.push(u8::from(origin.is_some()));
        if let (Some(part), Some(origin)) = (&self.part, origin) {
            part.write_step(origin.step, bytes);
        }
        Ok(origin.map(|origin| Place { worker: origin.worker, id: origin.id }))
    }

    fn read_link(&mut self, inbox: &mut Inbox, bytes: &mut &[u8]) -> Result<Self::Link, Halt> {
        let part = begun(&mut self.part)?;
        let config = part.read(inbox, bytes)?;
        let has_step = number(bytes).ok_or_else(Fault::garbled)? != 0;
        let step = has_step.then(|| part.read_step(bytes)).transpose()?;
        Ok((config, step))
    }

    fn judge(&mut self, left: &Left<Known>, path: Option<Vec<Self::Link>>) -> Result<bool, Halt> {
        let way = path.map(|links| {
            let (configs, steps): (Vec<_>, Vec<_>) = links.into_iter().unzip();
            Way { configs, steps: steps.into_iter().flatten().collect() }
        });
        if way.is_some() {
            self.before.get_or_insert_with(|| self.course.clone());
        }
        let part = begun(&mut self.part)?;
        let judged = part.judge(&mut self.course, &left.config, way.as_ref());
        let is_judged = judged.map_err(Halt::Stopped)?;
        self.judged += u64::from(is_judged);
        if is_judged && self.course.is_done() {
            self.end = Some(left.key);
        }
        Ok(is_judged)
    }

    fn say(&self) -> u64 {
        self.judged
    }

    fn hear(&mut self, said: Vec<u64>, is_stopping: bool) -> Result<(), Fault> {
        let before = self.before.take();
        if said.iter().any(|judged| *judged != said[0]) {
            if !is_stopping {
                return Err(Fault::confused());
            }
            // Somebody stopped in the middle: what the others have found out since is not known there.
            if let Some(before) = before {
                self.course = before;
            }
        }
        Ok(())
    }

    fn end(&self) -> Option<u64> {
        self.end
    }

    fn settle(&mut self) {}

    fn close_level(&mut self) -> Result<Vec<StepKey>, Halt> {
        self.ids.clear();
        let fresh = begun(&mut self.part)?.close_level(self.end).map_err(Halt::Stopped)?;
        let keys;
        (self.ids, keys) = fresh.into_iter().unzip();
        Ok(keys)
    }

    fn is_cut(&mut self, expanded: u64) -> bool {
        self.course.is_cut(expanded as usize)
    }

    fn stored(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.maximal() as u64)
    }

    fn bytes(&self) -> usize {
        let part = self.part.as_ref().map_or(0, Part::bytes);
        let outboxes: usize = self.outboxes.iter().map(Outbox::bytes).sum();
        let inboxes: usize = self.inboxes.iter().map(Inbox::bytes).sum();
        part + outboxes + inboxes
    }
}

/// The maximal configurations of all workers, for the first worker of each process; nothing for
/// the others.
fn proof(
    worker: &mut Worker<'_, '_, Configurations<'_>>,
    workers: usize,
) -> Result<Option<Evidence>, Fault> {
    let Worker { net, space, stopping, .. } = worker;
    let (me, peers) = (net.index(), net.peers());
    let is_first = me.is_multiple_of(workers);
    let budget = &space.task.options.budget;
    let Some(part) = &mut space.part else { return Ok(None) };
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

/// The worker, of so many, that keeps configurations of a state.
fn worker_of(state: &[Cell], packed: &mut Vec<u8>, peers: usize) -> usize {
    packed.clear();
    pack(state, packed);
    Hash::of(packed).worker(peers)
}
