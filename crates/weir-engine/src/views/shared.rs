//! The search without its queue, for workers that share it: each keeps the buckets that fall
//! to it, and somebody else says in which order things happen.
//!
//! A round goes level by level, as that of one thread does. What a worker keeps of the levels so far
//! is its [`Part`]. It expands the configurations of a level, and what is reached goes to the
//! workers that keep its buckets, with a key that says where the step stands in the order of one thread.
//! What arrives waits until the level is over. Then each worker stores it in the order of the keys
//! ([`Part::close_level`]). Covering and joining happen within a bucket, so this gives what one
//! thread stores.
//!
//! Letters and views have other numbers in each part. Nothing that is found depends on these
//! numbers.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use weir_model::answer::{Evidence, ViewConfiguration};
use weir_model::ids::{Cell, ProcessId};

use super::letters::Halt;
use super::packed::push_step;
use super::space::{Config, Space, Step};
use super::store::Store;
use super::table::ViewId;
use crate::engine::Task;
use crate::stats::Stats;
use crate::store::StepKey;

pub use super::course::Course;
pub use super::packed::{Inbox, Outbox, Unread};

/// A configuration, as it stands in one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known(Config);

impl Known {
    /// What configurations have in common that can be compared: control states and memory.
    pub fn state(&self) -> &[Cell] {
        &self.0.state
    }
}

/// A step between two configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken(Step);

/// Where a configuration was reached from: the worker that keeps it, its number there, and the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The worker.
    pub worker: u16,
    /// The number of the configuration there.
    pub id: u32,
    /// The step from it.
    pub step: Taken,
}

/// The way to a configuration: its first one, and each step with the configuration that it leads to.
#[derive(Clone, Debug)]
pub struct Way {
    /// From an initial configuration on.
    pub configs: Vec<Known>,
    /// The steps between them.
    pub steps: Vec<Taken>,
}

/// What was reached in a level and is not stored yet.
#[derive(Clone, Copy)]
struct Pending {
    key: StepKey,
    origin: Option<Origin>,
    bucket: u32,
}

/// What one worker keeps of a round.
pub struct Part<'t> {
    space: Space<'t>,
    store: Store<Option<Origin>>,
    pending: Vec<Pending>,
    /// The views of all that is pending, one after another.
    pending_views: Vec<ViewId>,
    /// What is pending, by bucket and views.
    pending_ids: HashTable<u32>,
}

/// The statistics of a round that has not begun.
pub fn stats(course: &Course) -> Stats {
    Stats {
        engine: "views",
        level: Some(course.precision().level.0),
        within_bound: true,
        ..Stats::default()
    }
}

fn told(halt: Halt) -> String {
    halt.to_string()
}

impl<'t> Part<'t> {
    /// A part of a round in which nothing has been found yet.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(task: Task<'t>, course: &Course) -> Result<Self, String> {
        let active: Vec<ProcessId> = task.system.process_ids().collect();
        let level = course.precision().level;
        let mut space = Space::new(task, &active, level).map_err(|stop| stop.to_string())?;
        let store = Store::new(&mut space, course.precision());
        Ok(Self {
            space,
            store,
            pending: vec![],
            pending_views: vec![],
            pending_ids: HashTable::new(),
        })
    }

    /// Receives the initial configurations of which `is_mine` says that this worker keeps them,
    /// by their states. Returns how many there are.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn begin(&mut self, is_mine: &mut dyn FnMut(&[Cell]) -> bool) -> Result<usize, String> {
        let mut count = 0;
        let initial = self.space.initial().map_err(|stop| stop.to_string())?;
        for (i, config) in initial.enumerate() {
            self.space.budget().tick().map_err(|stop| stop.to_string())?;
            if is_mine(&config.state) {
                count += 1;
                self.receive(&Known(config), StepKey { parent: i as u64, index: 0 }, None)?;
            }
        }
        Ok(count)
    }

    /// How many configurations were stored.
    pub fn len(&self) -> usize {
        self.store.kept.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them are maximal.
    pub fn maximal(&self) -> usize {
        self.store.maximal
    }

    /// The maximal ones.
    pub fn maximal_ids(&self) -> impl Iterator<Item = u32> + use<'_, 't> {
        self.store.maximal()
    }

    /// The most letters of a view.
    pub fn longest(&self) -> usize {
        self.store.longest
    }

    /// About what the part takes up, in bytes.
    pub fn bytes(&self) -> usize {
        self.store.bytes()
            + self.space.bytes()
            + self.pending.capacity() * size_of::<Pending>()
            + self.pending_views.capacity() * size_of::<ViewId>()
            + self.pending_ids.allocation_size()
    }

    /// A stored configuration.
    pub fn get(&self, id: u32) -> Known {
        Known(self.store.kept.get(id))
    }

    /// Where a stored configuration was reached from; nowhere if it is an initial one.
    pub fn origin(&self, id: u32) -> Option<Origin> {
        self.store.parents[id as usize]
    }

    /// Whether processes may come to places that settle an open question.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn may_settle(&mut self, course: &Course, config: &Known) -> Result<bool, String> {
        for question in (0..course.questions()).filter(|&q| course.is_open(q)) {
            if self.space.settling(&config.0, question).map_err(told)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks which open questions a configuration settles, as one thread does when its turn has
    /// come. Returns `false` if the way to it is needed, and not there.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn judge(
        &mut self,
        course: &mut Course,
        config: &Known,
        way: Option<&Way>,
    ) -> Result<bool, String> {
        for question in 0..course.questions() {
            if !course.is_open(question) {
                continue;
            }
            let Some(ways) = self.space.settling(&config.0, question).map_err(told)? else {
                continue;
            };
            let Some(way) = way else { return Ok(false) };
            let configs = way.configs.iter().map(|known| known.0.clone()).collect();
            let steps = way.steps.iter().map(|taken| taken.0).collect();
            let mut path = self.space.path(configs, steps).map_err(told)?;
            path.events.extend(ways);
            course.judge(&mut self.space, question, &path).map_err(told)?;
        }
        Ok(true)
    }

    /// The steps from a configuration, in the order of one thread.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn expand(&mut self, config: &Known) -> Result<Vec<(Taken, Known)>, String> {
        let mut reached = Vec::new();
        self.space
            .successors(&config.0, &mut |step, next| reached.push((Taken(step), Known(next))))
            .map_err(told)?;
        Ok(reached)
    }

    /// Receives a configuration that was reached in this level, and keeps it until the level is over.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn receive(
        &mut self,
        config: &Known,
        key: StepKey,
        origin: Option<Origin>,
    ) -> Result<(), String> {
        let Config { state, views } = &config.0;
        let kept = &mut self.store.kept;
        let bucket = kept.bucket_of(state, &self.space.table.letters.budget);
        let bucket = bucket.map_err(|stop| stop.to_string())?;
        let n = views.len();
        let hash = |bucket: u32, views: &[ViewId]| FxBuildHasher.hash_one((bucket, views));
        let (pending, all) = (&mut self.pending, &mut self.pending_views);
        let same = |&i: &u32| {
            pending[i as usize].bucket == bucket && all[i as usize * n..][..n] == **views
        };
        let hashed = hash(bucket, views);
        if let Some(&i) = self.pending_ids.find(hashed, same) {
            let known = &mut pending[i as usize];
            if key < known.key {
                (known.key, known.origin) = (key, origin);
            }
            return Ok(());
        }
        // What was covered before the level is covered for good.
        let covering = self.store.covering(&mut self.space, bucket, views, 0).map_err(told)?;
        if covering.is_some() {
            return Ok(());
        }
        let i = u32::try_from(pending.len()).map_err(|_| TOO_MANY)?;
        pending.push(Pending { key, origin, bucket });
        all.extend_from_slice(views);
        let of = |&i: &u32| hash(pending[i as usize].bucket, &all[i as usize * n..][..n]);
        self.pending_ids.insert_unique(hashed, i, of);
        Ok(())
    }

    /// Stores what was reached in the level, in the order of keys, as far as it was reached from
    /// configurations with keys before `end`. Returns those that are maximal, in this order.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn close_level(&mut self, end: Option<u64>) -> Result<Vec<(u32, StepKey)>, String> {
        let n = self.space.system.processes.len();
        let since = self.store.kept.len() as u32;
        let mut order: Vec<u32> = (0..self.pending.len() as u32).collect();
        order.retain(|&i| end.is_none_or(|end| self.pending[i as usize].key.parent < end));
        order.sort_unstable_by_key(|&i| self.pending[i as usize].key);
        let mut fresh: Vec<(u32, StepKey)> = Vec::new();
        for i in order {
            let i = i as usize;
            let Pending { key, origin, bucket } = self.pending[i];
            let views = &self.pending_views[i * n..][..n];
            let (space, store) = (&mut self.space, &mut self.store);
            if store.covering(space, bucket, views, since).map_err(told)?.is_none() {
                if store.kept.len() == u32::MAX as usize {
                    return Err(TOO_MANY.to_owned());
                }
                fresh.push((store.add(space, bucket, views, origin).map_err(told)?, key));
            }
        }
        self.pending.clear();
        self.pending_views.clear();
        self.pending_ids.clear();
        fresh.retain(|(id, _)| !self.store.kept.is_covered(*id));
        Ok(fresh)
    }

    /// Appends a configuration to a message for a worker that was told what is in the outbox.
    pub fn write(&self, config: &Known, outbox: &mut Outbox, bytes: &mut Vec<u8>) {
        self.space.write(&config.0, outbox, bytes);
    }

    /// Takes a configuration from a message of a worker that has told what is in the inbox.
    ///
    /// # Errors
    /// If there is none, or a limit is reached.
    pub fn read(&mut self, inbox: &mut Inbox, bytes: &mut &[u8]) -> Result<Known, Unread> {
        self.space.read(inbox, bytes).map(Known)
    }

    /// Appends a step to a message.
    pub fn write_step(&self, step: Taken, bytes: &mut Vec<u8>) {
        push_step(step.0, bytes);
    }

    /// Takes a step from a message.
    ///
    /// # Errors
    /// If there is none.
    pub fn read_step(&self, bytes: &mut &[u8]) -> Result<Taken, Unread> {
        self.space.read_step(bytes).map(Taken)
    }

    /// A configuration for a proof.
    pub fn parts(&self, config: &Known) -> ViewConfiguration {
        self.space.parts(&config.0)
    }

    /// The proof that all maximal configurations of all workers are.
    pub fn proof(&self, configurations: Vec<ViewConfiguration>) -> Evidence {
        Evidence::Invariant(self.space.invariant(configurations).into())
    }
}

/// Why a part ends that has no numbers left.
const TOO_MANY: &str = "there are more configurations than Weir can number";

#[cfg(test)]
mod tests {
    use weir_gen::Rng;
    use weir_model::memory_model::MemoryModel;
    use weir_model::system::System;

    use super::*;
    use crate::stats::SearchOptions;

    const TEXT: &str = "
        var x: 0..3
        var y: 0..3
        process p { x = 1 y = 2 x = 3 y = 1 }
        process q { reg r loop { y = 3 r = x x = r fence } }
        never x == 3 and y == 3
    ";

    fn system() -> System {
        System::new(weir_front::read("test.weir", TEXT, None).unwrap().0).unwrap()
    }

    /// All configurations of the first levels.
    fn some(part: &mut Part<'_>) -> Vec<Known> {
        part.begin(&mut |_| true).unwrap();
        let mut all = Vec::new();
        for _ in 0..8 {
            for (id, key) in part.close_level(None).unwrap() {
                let config = part.get(id);
                for (index, (step, next)) in part.expand(&config).unwrap().into_iter().enumerate() {
                    let origin = Some(Origin { worker: 0, id, step });
                    part.receive(
                        &next,
                        StepKey { parent: key.parent, index: index as u32 },
                        origin,
                    )
                    .unwrap();
                }
                all.push(config);
            }
        }
        all
    }

    /// A configuration that was written is read as the same one, by somebody who has met other
    /// letters first.
    #[test]
    fn what_is_written_is_read() {
        let (system, options) = (system(), SearchOptions::default());
        for model in [MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW] {
            let task = Task::new(&system, model, &options);
            let course = Course::new(1);
            let [mut here, mut there] = [(), ()].map(|()| Part::new(task, &course).unwrap());
            let all = some(&mut here);
            assert!(all.len() > 5, "{}", all.len());
            let (mut outbox, mut inbox) = (Outbox::default(), Inbox::default());
            let (mut back_outbox, mut back_inbox) = (Outbox::default(), Inbox::default());
            for config in all.iter().rev() {
                let mut bytes = Vec::new();
                here.write(config, &mut outbox, &mut bytes);
                let mut rest = &bytes[..];
                let read = there.read(&mut inbox, &mut rest).unwrap();
                assert!(rest.is_empty());
                assert_eq!(read.state(), config.state());
                let mut bytes = Vec::new();
                there.write(&read, &mut back_outbox, &mut bytes);
                let again = here.read(&mut back_inbox, &mut &bytes[..]).unwrap();
                assert_eq!(again, *config);
            }
        }
    }

    /// Whatever comes is read or refused.
    #[test]
    fn garbled_bytes_are_refused() {
        let (system, options) = (system(), SearchOptions::default());
        let task = Task::new(&system, MemoryModel::NSW, &options);
        let course = Course::new(1);
        let mut part = Part::new(task, &course).unwrap();
        let all = some(&mut part);
        let mut rng = Rng::new(3);
        let mut refused = 0;
        for n in 0..4000 {
            let config = &all[n % all.len()];
            let mut bytes = Vec::new();
            part.write(config, &mut Outbox::default(), &mut bytes);
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(bytes.len());
                bytes[at] = rng.below(256) as u8;
            }
            if rng.below(2) == 0 {
                bytes.truncate(rng.below(bytes.len()));
            }
            let read = part.read(&mut Inbox::default(), &mut &bytes[..]);
            refused += usize::from(read.is_err());
            let step = part.read_step(&mut &bytes[..]);
            refused += usize::from(step.is_err());
        }
        assert!(refused > 1000, "{refused}");
    }
}
