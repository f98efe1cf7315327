//! A search on several machines: the engines `explicit` and `views` on timely dataflow.
//!
//! Configurations are divided among *workers* by a hash: each worker keeps some of them, expands
//! them, and sends what it reaches to the workers that keep it. Workers are threads, of one process or
//! of several. Answers, runs and counts are the same for any number of them, and the same as those of
//! [`weir_engine::Explicit`] or [`weir_engine::Views`] with one thread; `round` says why.
//!
//! * `net` has rounds of messages, on timely's progress tracking.
//! * `round` is the search of one worker, whatever is searched; `rank` replaces keys by ranks, and
//!   `paths` finds the paths to configurations.
//! * `space` says what can be searched: `explicit` or `views`.
//! * `listing` writes all configurations, for proofs.
//! * `connect` brings the processes together, `wire` is a connection between two of them, and
//!   `threads` runs the workers of a process.
//! * [`Distributed`] is the engine.

mod connect;
mod explicit;
mod fault;
mod listing;
mod net;
mod paths;
mod rank;
mod round;
mod space;
mod threads;
mod views;
mod wire;

use std::fmt;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use weir_check::sha256::Sha256;
use weir_check::shards::{Folder, Listed, MANIFEST, Manifest, shard_name};
use weir_engine::explicit::shared::Shared;
use weir_engine::reachable::{self, NotListed};
use weir_engine::{Engine, Explicit, Progress, Refusal, SearchOptions, Stats, Task, Views};
use weir_model::answer::Answer;
use weir_model::memory_model::MemoryModel;

pub use connect::{Hosts, SHORTEST_SECRET, Subject, hex, unhex};
pub use fault::Fault;
pub use listing::NoShards;
pub use round::Tuning;
pub use space::WorkerStats;

use explicit::Asked;
use listing::Listing;
use net::Net;
use round::Common;
use space::Count;
use threads::{Connections, Job, run, run_connected};

/// An engine on several workers.
pub struct Distributed {
    engine: &'static dyn Engine,
    workers: usize,
    hosts: Option<Hosts>,
    /// Where the other processes connect, from the first search on.
    listener: OnceLock<TcpListener>,
    tuning: Tuning,
    searches: AtomicU64,
    /// The connections for the next search.
    ready: Mutex<Option<Connections>>,
    report: Mutex<Option<ClusterReport>>,
}

/// What the processes of a search did, for statistics.
#[derive(Clone, Debug, Default)]
pub struct ClusterReport {
    /// What each worker did.
    pub workers: Vec<WorkerStats>,
    /// The number of processes.
    pub processes: usize,
    /// The number of rounds in which workers exchanged messages.
    pub rounds: u64,
    /// The bytes that this process sent to others.
    pub network: u64,
    /// What went wrong, if something did.
    pub fault: Option<Fault>,
}

impl fmt::Debug for Distributed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workers, hosts, .. } = self;
        let processes = hosts.as_ref().map_or(1, |hosts| hosts.addresses.len());
        f.debug_struct("Distributed")
            .field("workers", workers)
            .field("processes", &processes)
            .finish_non_exhaustive()
    }
}

impl Distributed {
    /// The engine `explicit` with so many workers in this process.
    pub fn new(workers: usize) -> Self {
        Self {
            engine: &Explicit,
            workers: workers.max(1),
            hosts: None,
            listener: OnceLock::new(),
            tuning: Tuning::default(),
            searches: AtomicU64::new(0),
            ready: Mutex::new(None),
            report: Mutex::new(None),
        }
    }

    /// The engine `views` with so many workers in this process.
    pub fn views(workers: usize) -> Self {
        Self { engine: &Views, ..Self::new(workers) }
    }

    /// With other processes, of which each has as many workers.
    #[must_use]
    pub fn with_hosts(self, hosts: Hosts) -> Self {
        Self { hosts: (hosts.addresses.len() > 1).then_some(hosts), ..self }
    }

    /// With a socket at which this process is listening already.
    #[must_use]
    pub fn with_listener(self, listener: TcpListener) -> Self {
        Self { listener: OnceLock::from(listener), ..self }
    }

    /// With other sizes, which make no difference to what is found.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        Self { tuning, ..self }
    }

    /// What was done in the last search.
    pub fn report(&self) -> Option<ClusterReport> {
        lock(&self.report).clone()
    }

    fn process(&self) -> usize {
        self.hosts.as_ref().map_or(0, |hosts| hosts.me)
    }

    fn processes(&self) -> usize {
        self.hosts.as_ref().map_or(1, |hosts| hosts.addresses.len())
    }

    /// Connects to the other processes.
    fn connect(&self, task: Task<'_>) -> Result<Option<Connections>, Fault> {
        let Some(hosts) = &self.hosts else { return Ok(None) };
        let listener = match self.listener.get() {
            Some(listener) => listener,
            None => {
                let listener = hosts.listen()?;
                self.listener.get_or_init(|| listener)
            }
        };
        let Task { system, questions, model, options, .. } = task;
        let asked = (options.bound, options.guesses, options.form, options.certificate);
        let asked = format!("{} {model} {asked:?} {questions:?}", self.name());
        let subject = Subject {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hosts: hosts.addresses.clone(),
            workers: self.workers,
            program: Sha256::of_program(&system.program),
            task: Sha256::of(asked.as_bytes()),
            search: self.searches.fetch_add(1, Ordering::Relaxed),
        };
        let streams = hosts.connect(listener, &subject)?;
        Connections::new(hosts, streams).map(Some)
    }
}

impl Distributed {
    /// Writes all configurations of a program in shards, one for each worker, as a proof of these
    /// properties. Every process writes its own shards, and the same manifest. Only SC and TSO have
    /// such proofs.
    ///
    /// # Errors
    /// If the configurations are not all known, or a file cannot be written by some process. Then
    /// there is no manifest.
    pub fn write_shards(
        &self,
        task: Task<'_>,
        properties: Vec<usize>,
        folder: &dyn Folder,
    ) -> Result<Manifest, NoShards> {
        let Task { system, model, options, .. } = task;
        let failed = |name: &str| {
            let name = name.to_owned();
            move |error| NoShards::Unwritten(format!("cannot write `{name}`: {error}"))
        };
        // Whatever is there is not about what is written from now on.
        folder.remove(MANIFEST).map_err(failed(MANIFEST))?;
        let options = reachable::listing_options(model, options)?;
        let task = Task { questions: &[], ..Task::new(system, model, &options) };
        let unknown = |reason: &dyn fmt::Display| NoShards::Unknown(reason.to_string());
        let connections = self.connect(task).map_err(|fault| unknown(&fault))?;
        let shared = Shared::listing(task).map_err(|stop| unknown(&stop))?;
        let listing = Listing { system, model, folder };
        let bytes = AtomicUsize::new(0);
        let asked =
            Asked { shared: &shared, spill: options.spill.as_deref(), listing: Some(&listing) };
        let job = self.explicit_job(task, asked, &bytes);
        let found = match connections {
            None => run(self.workers, &job, &mut |_| {}),
            Some(connections) => run_connected(self.workers, &job, connections, &mut |_| {}).0,
        };
        let outcome = found.map_err(|fault| unknown(&fault))?;
        if let Some(reason) = outcome.stopped {
            return Err(NoShards::Unknown(reason));
        }
        if !outcome.workers.iter().all(|worker| worker.within_bound) {
            return Err(NotListed::Unbounded.into());
        }
        let shards: Result<Vec<Listed>, String> = outcome.shards.into_iter().collect();
        let written = shards.map_err(NoShards::Unwritten).and_then(|shards| {
            let manifest = Manifest::new(system, model, properties, shards);
            let written = manifest.write(folder);
            written.map_err(|error| NoShards::Unwritten(error.to_string()))?;
            Ok(manifest)
        });
        if written.is_err() {
            // Shards without a manifest are nothing.
            let first = self.process() * self.workers;
            for shard in first..first + self.workers {
                let _ = folder.remove(&shard_name(shard));
            }
        }
        written
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Distributed {
    fn common<'t>(&self, task: Task<'t>, bytes: &'t AtomicUsize) -> Common<'t> {
        let (system, budget, process) = (task.system, &task.options.budget, self.process());
        Common { system, budget, tuning: self.tuning, bytes, process }
    }

    /// What each worker of an explicit search does.
    fn explicit_job<'t>(
        &self,
        task: Task<'t>,
        asked: Asked<'t>,
        bytes: &'t AtomicUsize,
    ) -> impl Fn(Net<'_>, &mut dyn FnMut(Count)) -> Result<explicit::Outcome, Fault> + Sync {
        let common = self.common(task, bytes);
        move |net, tell| {
            let budget = common.budget.apart();
            explicit::search(Common { budget: &budget, ..common }, asked, net, tell)
        }
    }

    /// Searches, and keeps what the workers did.
    fn found<T: Send>(
        &self,
        job: Job<'_, T>,
        stats: &mut Stats,
        progress: Progress<'_>,
        began: Instant,
    ) -> Result<T, Fault> {
        let connections = lock(&self.ready).take();
        let mut report = ClusterReport { processes: self.processes(), ..ClusterReport::default() };
        let mut tell = |count: Count| {
            stats.stored = count.stored as usize;
            stats.expanded = count.expanded as usize;
            stats.steps = count.steps as usize;
            stats.depth = count.depth as usize;
            stats.bytes = count.bytes as usize;
            stats.elapsed = began.elapsed();
            progress(stats);
        };
        let outcome = match connections {
            Some(connections) => {
                let (outcome, sent) = run_connected(self.workers, job, connections, &mut tell);
                report.network = sent;
                outcome
            }
            None if self.hosts.is_some() => {
                Err(Fault::Lost("the processes were not connected".to_owned()))
            }
            None => run(self.workers, job, &mut tell),
        };
        if let Err(fault) = &outcome {
            stats.stopped = Some(fault.to_string());
            stats.elapsed = began.elapsed();
            report.fault = Some(fault.clone());
        }
        *lock(&self.report) = Some(report);
        outcome
    }

    /// Keeps what the workers did.
    fn keep(&self, workers: Vec<WorkerStats>, rounds: u64) {
        if let Some(report) = lock(&self.report).as_mut() {
            (report.workers, report.rounds) = (workers, rounds);
        }
    }

    fn search_explicit(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let began = Instant::now();
        let shared = match Shared::new(task) {
            Ok(shared) => shared,
            Err(stop) => {
                drop(lock(&self.ready).take());
                let stats = Stats { engine: self.name(), ..Stats::default() };
                return (task.unknown(&stop), Stats { stopped: Some(stop.to_string()), ..stats });
            }
        };
        let mut stats = shared.stats();
        let bytes = AtomicUsize::new(0);
        let spill = task.options.spill.as_deref();
        let job = self.explicit_job(task, Asked { shared: &shared, spill, listing: None }, &bytes);
        let outcome = match self.found(&job, &mut stats, progress, began) {
            Ok(outcome) => outcome,
            Err(fault) => return (task.unknown(&fault), stats),
        };
        let sum =
            |of: fn(&WorkerStats) -> u64| outcome.workers.iter().map(of).sum::<u64>() as usize;
        stats.stored = sum(|w| w.stored);
        stats.expanded = sum(|w| w.expanded);
        stats.steps = sum(|w| w.steps);
        stats.bytes = sum(|w| w.bytes);
        stats.on_disk = sum(|w| w.on_disk) as u64;
        stats.covered = stats.steps.saturating_sub(stats.stored);
        stats.depth = outcome.depth as usize;
        stats.within_bound = outcome.workers.iter().all(|w| w.within_bound);
        stats.stopped = outcome.stopped;
        let answers = shared.answers(&outcome.paths, &stats, &task.options.budget);
        self.keep(outcome.workers, outcome.rounds);
        stats.elapsed = began.elapsed();
        (answers, stats)
    }

    fn search_views(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let began = Instant::now();
        let mut stats = Stats { engine: self.name(), within_bound: true, ..Stats::default() };
        let bytes = AtomicUsize::new(0);
        let job = |net: Net<'_>, tell: &mut dyn FnMut(Count)| {
            let budget = task.options.budget.apart();
            let options = SearchOptions { budget, ..task.options.clone() };
            let task = task.within(&options);
            views::search(self.common(task, &bytes), task, self.workers, net, tell)
        };
        let outcome = match self.found(&job, &mut stats, progress, began) {
            Ok(outcome) => outcome,
            Err(fault) => return (task.unknown(&fault), stats),
        };
        self.keep(outcome.workers, outcome.rounds);
        let answers = outcome.course.answers(task, outcome.proof.as_ref(), &outcome.stats);
        (answers, Stats { elapsed: began.elapsed(), ..outcome.stats })
    }
}

impl Engine for Distributed {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn about(&self) -> &'static str {
        "A search with several workers, on one machine or more"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        self.engine.decides(model)
    }

    fn has_forms(&self) -> bool {
        self.engine.has_forms()
    }

    fn follows_blocks(&self) -> bool {
        self.engine.follows_blocks()
    }

    fn prepare(&self, task: Task<'_>) -> Result<(), Refusal> {
        let connections = self.connect(task).map_err(|fault| Refusal::Apart(fault.to_string()))?;
        *lock(&self.ready) = connections;
        Ok(())
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        match self.name() == Views.name() {
            true => self.search_views(task, progress),
            false => self.search_explicit(task, progress),
        }
    }
}
