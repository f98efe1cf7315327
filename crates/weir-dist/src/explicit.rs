//! What is searched by the explicit engine: configurations, which a hash of their bytes divides among
//! the workers.
//!
//! A configuration is stored when it arrives. What was reached in the present level is *fresh*: it
//! also has the key of the step by which it was reached first, and a smaller key may come later.

use std::path::Path;

use weir_check::shards::{Listed, Router};
use weir_engine::Expansion;
use weir_engine::explicit::shared::{Room, Shared};
use weir_engine::store::numbers::{number_as, pack, push_number, unpack};
use weir_engine::store::{ConfigId, Full, Hash, StepKey, Store};
use weir_model::grow::without_growth;
use weir_model::ids::Cell;
use weir_model::limits::Budget;

use crate::fault::Fault;
use crate::listing::Listing;
use crate::net::Net;
use crate::round::{Common, Worker};
use crate::space::{Count, Halt, Left, Packets, Place, Space, Tried, WorkerStats};

/// What is searched.
#[derive(Clone, Copy)]
pub struct Asked<'t> {
    /// The search.
    pub shared: &'t Shared<'t>,
    /// Where closed levels go, if not everything is kept in memory.
    pub spill: Option<&'t Path>,
    /// Where all configurations are written to, if they are.
    pub listing: Option<&'t Listing<'t>>,
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

/// The configurations of a worker.
struct Configurations<'c> {
    asked: Asked<'c>,
    store: Store<Place>,
    me: u16,
    peers: usize,
    /// The first configuration of the level.
    first: u32,
    /// The first fresh one, and for each the key of the first step to it.
    first_fresh: u32,
    fresh: Vec<StepKey>,
    /// The configurations of closed levels in the order of their keys, which does not depend on when
    /// they arrived, if they are listed.
    order: Vec<u32>,
    /// How many are stored, without those that were reached from behind the end.
    counted: u64,
    /// The first configurations that settled questions in earlier levels.
    settled: Vec<Option<Place>>,
    /// The first ones so far of this level, with their keys.
    seen: Vec<Option<(u64, Place)>>,
    /// The key at which the search ends, by what was seen so far.
    end: Option<u64>,
    /// Who keeps which configuration, if that is not a matter of its packed bytes.
    router: Option<Router<'c>>,
    room: Room,
    config: Vec<Cell>,
    /// What one configuration leads to: where each ends in the bytes.
    reached: Vec<usize>,
    bytes: Vec<u8>,
}

impl From<Full> for Halt {
    fn from(full: Full) -> Self {
        Self::Stopped(full.to_string())
    }
}

/// What was on disk is not there any more.
impl From<std::io::Error> for Halt {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(Fault::Lost(format!("what was spilled to disk cannot be read: {error}")))
    }
}

/// Searches with one worker.
///
/// # Errors
/// If a worker or a connection fails.
pub fn search(
    common: Common<'_>,
    asked: Asked<'_>,
    net: Net<'_>,
    progress: &mut dyn FnMut(Count),
) -> Result<Outcome, Fault> {
    let (me, peers) = (net.index(), net.peers());
    let questions = asked.shared.questions();
    let space = Configurations {
        asked,
        store: Store::within(common.budget),
        me: me as u16,
        peers,
        first: 0,
        first_fresh: 0,
        fresh: vec![],
        order: vec![],
        counted: 0,
        settled: vec![None; questions],
        seen: vec![None; questions],
        end: None,
        router: asked.listing.map(|listing| listing.router(peers)),
        room: Room::default(),
        config: vec![],
        reached: vec![],
        bytes: vec![],
    };
    let mut worker = Worker::new(common, space, net);
    worker.run(progress)?;
    let settled = worker.space.settled.clone();
    let mut found = worker.paths(settled.iter().flatten().copied().collect())?.into_iter();
    let paths = settled.iter().map(|s| s.and_then(|_| found.next().flatten())).collect();
    let space = &worker.space;
    let own = WorkerStats {
        stored: space.counted,
        on_disk: space.store.bytes_on_disk(),
        ..worker.stats()
    };
    let workers: Vec<WorkerStats> = worker.net.gather_values(&own)?;
    // A worker that stopped in the last round has not counted everything.
    let late = workers.iter().find_map(|worker| worker.stopping.clone());
    let has_ended = worker.space.end.map(|_| SETTLED.to_owned());
    let stopped = late.or(worker.stopped.take()).or(has_ended);
    let mut shards = Vec::new();
    if let Some(listing) = asked.listing
        && stopped.is_none()
        && workers.iter().all(|worker| worker.within_bound)
    {
        let written = worker.space.list(listing, common.budget);
        shards = worker.net.gather_values(&written)?;
    }
    let (depth, rounds) = (worker.level, worker.net.round());
    worker.net.end();
    Ok(Outcome { paths, depth, stopped, workers, rounds, shards })
}

impl Configurations<'_> {
    fn owner(&mut self, packed: &[u8], hash: Hash) -> usize {
        let Some(router) = &mut self.router else { return hash.worker(self.peers) };
        self.config.clear();
        unpack(packed, &mut self.config);
        router.shard(&self.asked.shared.buffered(&self.config))
    }

    /// Stores a configuration, unless it is there. If it is fresh and this step comes before the one
    /// that it has, this is the step by which it was reached.
    #[inline]
    fn insert(
        &mut self,
        packed: &[u8],
        hash: Hash,
        key: StepKey,
        parent: Option<Place>,
    ) -> Result<(), Full> {
        let (id, is_new) = self.store.number_packed(packed, hash, parent)?;
        if is_new {
            self.fresh.push(key);
        } else if let Some(i) = id.0.checked_sub(self.first_fresh)
            && key < self.fresh[i as usize]
            && let Some(parent) = parent
        {
            self.fresh[i as usize] = key;
            self.store.set_parent(id, parent);
        }
        Ok(())
    }

    /// The fresh configurations are those of the level.
    fn take_fresh(&mut self) -> Vec<StepKey> {
        if self.asked.listing.is_some() {
            let begin = self.order.len();
            self.order.extend(self.first_fresh..self.store.len() as u32);
            let key = |id: &u32| self.fresh[(id - self.first_fresh) as usize];
            self.order[begin..].sort_unstable_by_key(key);
        }
        self.first = std::mem::replace(&mut self.first_fresh, self.store.len() as u32);
        std::mem::take(&mut self.fresh)
    }

    /// Takes every step from a configuration, and packs what is reached.
    fn steps_from(&mut self, config: &[Cell]) -> Expansion {
        let Self { asked, room, reached, bytes, .. } = self;
        reached.clear();
        bytes.clear();
        asked.shared.expand(config, room, &mut |next| {
            pack(next, bytes);
            reached.push(bytes.len());
        })
    }

    fn see(&mut self, question: usize, key: u64, place: Place) {
        let seen = &mut self.seen[question];
        if self.settled[question].is_none() && seen.is_none_or(|(first, _)| key < first) {
            *seen = Some((key, place));
            self.end = self.find_end();
        }
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

    /// Writes all configurations of this worker.
    fn list(&self, listing: &Listing<'_>, budget: &Budget) -> Result<Listed, String> {
        listing.write((usize::from(self.me), self.peers), &mut |add| {
            let mut config = Vec::new();
            for &id in &self.order {
                budget.tick().map_err(|stop| stop.to_string())?;
                config.clear();
                let packed = self.store.packed(ConfigId(id)).map_err(|error| error.to_string())?;
                unpack(&packed, &mut config);
                add(&self.asked.shared.buffered(&config))?;
            }
            Ok(())
        })
    }
}

/// What a worker has seen: the questions that it found settled in the level, by which key and
/// configuration first.
type Seen = Vec<(usize, u64, u32)>;

impl Space for Configurations<'_> {
    type Config = Vec<Cell>;
    type Link = Vec<Cell>;
    type Outbox = ();
    type Inbox = ();
    type Said = Seen;

    fn begin(&mut self, me: usize, _: usize) -> Result<Vec<u64>, Halt> {
        if let Some(folder) = self.asked.spill {
            self.store.spill_to(folder).map_err(Full::from)?;
        }
        let shared = self.asked.shared;
        let mut packed = Vec::new();
        for (i, config) in shared.initial().enumerate() {
            packed.clear();
            pack(&config, &mut packed);
            let hash = Hash::of(&packed);
            if self.owner(&packed, hash) == me {
                // Their keys are their numbers, so this stands in for a step.
                let key = StepKey { parent: i as u64, index: 0 };
                self.insert(&packed, hash, key, None)?;
            }
        }
        Ok(self.take_fresh().into_iter().map(|key| key.parent).collect())
    }

    fn try_expand(&mut self, i: usize, key: u64) -> Result<Tried, Halt> {
        let id = self.id(i);
        let shared = self.asked.shared;
        let mut config = std::mem::take(&mut self.config);
        self.store.read(ConfigId(id), &mut config);
        let done = without_growth(|| {
            let seen = shared.look(&config, &|q| self.settled[q].is_none());
            (seen, self.steps_from(&config))
        });
        self.config = config;
        let Some((seen, expansion)) = done else { return Ok(Tried::Left { needs_path: false }) };
        for question in seen.into_iter().flatten() {
            self.see(question, key, Place { worker: self.me, id });
        }
        Ok(Tried::Expanded(expansion))
    }

    fn expand(&mut self, config: &Vec<Cell>) -> Result<Expansion, Halt> {
        Ok(self.steps_from(config))
    }

    fn route(&mut self, i: usize, key: u64, packets: &mut Packets) -> Result<(), Halt> {
        let id = self.id(i);
        let (reached, bytes) = (std::mem::take(&mut self.reached), std::mem::take(&mut self.bytes));
        let mut begin = 0;
        for (index, &end) in reached.iter().enumerate() {
            let packed = &bytes[begin..end];
            begin = end;
            let to = self.owner(packed, Hash::of(packed));
            packets.add(to, StepKey { parent: key, index: index as u32 }, id, |bytes| {
                push_number(packed.len() as u64, bytes);
                bytes.extend_from_slice(packed);
            });
        }
        (self.reached, self.bytes) = (reached, bytes);
        Ok(())
    }

    fn keep(&mut self, from: usize, mut bytes: &[u8]) -> Result<(), Halt> {
        let worker = u16::try_from(from).map_err(|_| Fault::garbled())?;
        // Several lookups are under way at a time: the memory is slower than the processor.
        const AHEAD: usize = 16;
        let mut ahead = [(&[][..], Hash::of(&[]), StepKey { parent: 0, index: 0 }, 0_u32); AHEAD];
        while !bytes.is_empty() {
            let mut n = 0;
            while n < AHEAD && !bytes.is_empty() {
                let (key, id) = Packets::take(&mut bytes).ok_or_else(Fault::garbled)?;
                let len = number_as(&mut bytes).ok_or_else(Fault::garbled)?;
                let (packed, rest) = bytes.split_at_checked(len).ok_or_else(Fault::garbled)?;
                bytes = rest;
                ahead[n] = (packed, Hash::of(packed), key, id);
                n += 1;
            }
            for &(packed, hash, key, id) in &ahead[..n] {
                self.insert(packed, hash, key, Some(Place { worker, id }))?;
            }
        }
        Ok(())
    }

    fn id(&self, i: usize) -> u32 {
        self.first + i as u32
    }

    fn write(&self, id: u32, (): &mut (), bytes: &mut Vec<u8>) -> Result<(), Halt> {
        let packed = self.store.packed(ConfigId(id))?;
        push_number(packed.len() as u64, bytes);
        bytes.extend_from_slice(&packed);
        Ok(())
    }

    fn read(&mut self, (): &mut (), bytes: &mut &[u8]) -> Result<Vec<Cell>, Halt> {
        let len = number_as(bytes).ok_or_else(Fault::garbled)?;
        let (packed, rest) = bytes.split_at_checked(len).ok_or_else(Fault::garbled)?;
        *bytes = rest;
        let mut config = Vec::new();
        unpack(packed, &mut config);
        Ok(config)
    }

    fn write_link(
        &self,
        id: u32,
        out: &mut (),
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Place>, Halt> {
        self.write(id, out, bytes)?;
        Ok(self.store.origin(ConfigId(id))?)
    }

    fn read_link(&mut self, inbox: &mut (), bytes: &mut &[u8]) -> Result<Vec<Cell>, Halt> {
        self.read(inbox, bytes)
    }

    fn judge(&mut self, left: &Left<Vec<Cell>>, _: Option<Vec<Vec<Cell>>>) -> Result<bool, Halt> {
        // What was settled before this configuration is open no more.
        let is_open = |q: usize| {
            self.settled[q].is_none() && self.seen[q].is_none_or(|(first, _)| first > left.key)
        };
        let seen = self.asked.shared.look(&left.config, &is_open);
        for question in seen.into_iter().flatten() {
            self.see(question, left.key, left.place);
        }
        Ok(true)
    }

    fn say(&self) -> Seen {
        let seen = self.seen.iter().enumerate().filter_map(|(q, seen)| seen.map(|seen| (q, seen)));
        seen.filter(|(_, (_, place))| place.worker == self.me)
            .map(|(q, (key, place))| (q, key, place.id))
            .collect()
    }

    fn hear(&mut self, said: Vec<Seen>, _: bool) -> Result<(), Fault> {
        for (worker, seen) in said.into_iter().enumerate() {
            for (question, key, id) in seen {
                if question >= self.seen.len() {
                    return Err(Fault::garbled());
                }
                self.see(question, key, Place { worker: worker as u16, id });
            }
        }
        Ok(())
    }

    fn end(&self) -> Option<u64> {
        self.end
    }

    fn settle(&mut self) {
        for (settled, seen) in self.settled.iter_mut().zip(&mut self.seen) {
            *settled = settled.or(seen.take().map(|(_, place)| place));
        }
        let is_before = |key: &&StepKey| self.end.is_none_or(|end| key.parent < end);
        let fresh = self.fresh.iter().filter(is_before).count();
        self.counted = u64::from(self.first_fresh) + fresh as u64;
    }

    fn close_level(&mut self) -> Result<Vec<StepKey>, Halt> {
        let fresh = self.take_fresh();
        // The levels before the next one are closed.
        self.store.close_before(self.first as usize)?;
        Ok(fresh)
    }

    fn stored(&self) -> u64 {
        self.store.len() as u64
    }

    fn bytes(&self) -> usize {
        self.store.bytes()
            + self.fresh.capacity() * size_of::<StepKey>()
            + self.order.capacity() * 4
    }
}

/// Why the ordinary search stops when there is nothing more to find.
const SETTLED: &str = "every question was settled";
