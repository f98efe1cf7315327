//! A search on several machines: the engines `explicit` and `views` on timely dataflow.
//!
//! Configurations are divided among *workers* by a hash: each worker keeps some of them, expands
//! them, and sends what it reaches to the workers that keep it. Workers are threads, of one process or
//! of several. Answers, runs and counts are the same for any number of them, and the same as those of
//! [`weir_engine::Explicit`] or [`weir_engine::Views`] with one thread; `worker` and `views` say why.
//!
//! * `net` has rounds of messages, on timely's progress tracking.
//! * `worker` is the search of one worker, `store` keeps its configurations, `spill` those of closed
//!   levels on disk, and `rank` replaces keys by ranks.
//! * `views` is the search of one worker with views.
//! * `listing` writes all configurations, for proofs.
//! * `connect` brings the processes together, `wire` is a connection between two of them.
//! * [`Distributed`] is the engine.

mod connect;
mod fault;
mod listing;
mod net;
mod rank;
mod spill;
mod store;
mod views;
mod wire;
mod worker;

use std::any::Any;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{ProcessBuilder, Thread};
use timely::communication::{Allocator, Hooks};
use timely::worker::Worker;
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
pub use worker::{Tuning, WorkerStats};

use listing::Listing;
use net::Net;
use spill::Spill;
use wire::{Lost, Pulse, Wire};
use worker::{Common, Count, Outcome, Search};

/// How often a process shows that it lives, compared with how long others wait for that.
const BEATS: u32 = 8;

/// An engine on several workers.
pub struct Distributed {
    engine: &'static dyn Engine,
    workers: usize,
    hosts: Option<Hosts>,
    /// Where the other processes connect, from the first search on.
    listener: OnceLock<TcpListener>,
    tuning: Tuning,
    /// Where closed levels go, if not everything is kept in memory.
    spill: Option<PathBuf>,
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

/// What the channels of a worker are made by, in its thread.
enum Builder {
    /// It is the only one.
    Alone,
    /// There are others in this process.
    Process(ProcessBuilder),
    /// There are other processes.
    Tcp(TcpBuilder),
}

impl Builder {
    fn build(self) -> Allocator {
        match self {
            Self::Alone => Allocator::Thread(Thread::default()),
            Self::Process(builder) => Allocator::Process(builder.build()),
            Self::Tcp(builder) => Allocator::Tcp(builder.build()),
        }
    }
}

/// What a worker does in its thread, with its connection to all workers and the number of its process.
type Job<'j, T> = &'j (dyn Fn(Net<'_>, usize, &mut dyn FnMut(Count)) -> Result<T, Fault> + Sync);

/// Connections to the other processes.
struct Connections {
    wires: Vec<Option<Wire>>,
    streams: Vec<std::net::TcpStream>,
    pulses: Vec<Pulse>,
    lost: Lost,
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
            spill: None,
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

    /// Keeps closed levels in files in this folder, which is made if it is not there. The files have
    /// no names, and are gone when the process ends.
    ///
    /// # Errors
    /// If there can be no such file.
    pub fn with_spill(self, folder: PathBuf) -> io::Result<Self> {
        Spill::new(&folder)?;
        Ok(Self { spill: Some(folder), ..self })
    }

    /// What was done in the last search.
    pub fn report(&self) -> Option<ClusterReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let lost = Lost::default();
        let failed = |e: std::io::Error| Fault::Apart(format!("a connection failed: {e}"));
        let mut connections =
            Connections { wires: vec![], streams: vec![], pulses: vec![], lost: lost.clone() };
        for (process, stream) in streams.into_iter().enumerate() {
            let wire = match stream {
                Some((stream, keys)) => {
                    connections.streams.push(stream.try_clone().map_err(failed)?);
                    let name = hosts.name(process);
                    let wire =
                        Wire::new(stream, name, keys, hosts.silence, &lost).map_err(failed)?;
                    connections.pulses.push(wire.pulse());
                    Some(wire)
                }
                None => None,
            };
            connections.wires.push(wire);
        }
        Ok(Some(connections))
    }

    /// Searches with all workers. What is found is the same in all processes.
    fn run<T: Send>(
        &self,
        job: Job<'_, T>,
        connections: Option<Connections>,
        progress: &mut dyn FnMut(Count),
    ) -> Result<T, Fault> {
        silence_panics();
        let process = self.process();
        let Some(Connections { wires, streams, pulses, lost }) = connections else {
            let hooks = Hooks::default();
            let builders = match self.workers {
                1 => vec![Builder::Alone],
                n => ProcessBuilder::new_typed_vector(n, hooks.refill, hooks.spill)
                    .into_iter()
                    .map(Builder::Process)
                    .collect(),
            };
            return work(job, builders, process, &AtomicBool::new(false), progress);
        };
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(
            self.workers,
            hooks.refill.clone(),
            hooks.spill.clone(),
        );
        let (builders, guard) =
            initialize_networking_from_sockets(local, wires, process, self.workers, hooks)
                .map_err(|e| Fault::Lost(format!("the connections failed: {e}")))?;
        let builders = builders.into_iter().map(Builder::Tcp).collect();
        let failed = AtomicBool::new(false);
        let is_over = AtomicBool::new(false);
        let silence = self.hosts.as_ref().map_or(Duration::from_secs(1), |h| h.silence);
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let mut beaten = Instant::now();
                while !is_over.load(Ordering::Relaxed) {
                    if beaten.elapsed() >= silence / BEATS {
                        beaten = Instant::now();
                        pulses.iter().for_each(Pulse::beat);
                    }
                    // A connection that is lost ends the search even if no worker looks.
                    if lost.reason().is_some() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            });
            let outcome = work(job, builders, process, &failed, progress);
            if outcome.is_err() {
                // The threads of timely end when their connections do.
                pulses.iter().zip(&streams).for_each(|(pulse, stream)| pulse.cut(stream));
            }
            close(guard);
            is_over.store(true, Ordering::Relaxed);
            outcome
        });
        let network = pulses.iter().map(Pulse::sent).sum();
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.get_or_insert_default().network = network;
        outcome.map_err(|fault| match lost.reason() {
            Some(reason) => Fault::Lost(reason),
            None => fault,
        })
    }
}

/// Runs the workers of this process.
fn work<T: Send>(
    job: Job<'_, T>,
    builders: Vec<Builder>,
    process: usize,
    failed: &AtomicBool,
    progress: &mut dyn FnMut(Count),
) -> Result<T, Fault> {
    let (sender, receiver) = mpsc::channel::<Count>();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for builder in builders {
            let sender = sender.clone();
            let work = move || {
                let mut worker =
                    Worker::new(WorkerConfig::default(), builder.build(), Some(Instant::now()));
                let net = Net::new(&mut worker, failed);
                let mut tell = |count| {
                    let _ = sender.send(count);
                };
                job(net, process, &mut tell)
            };
            let guarded = move || {
                let done = panic::catch_unwind(AssertUnwindSafe(work));
                let done = done.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
                if done.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                done
            };
            let name = "weir-worker".to_owned();
            match thread::Builder::new().name(name).spawn_scoped(scope, guarded) {
                Ok(thread) => threads.push(thread),
                Err(_) => failed.store(true, Ordering::Relaxed),
            }
        }
        drop(sender);
        while let Ok(count) = receiver.recv() {
            progress(count);
        }
        let mut found = None;
        let mut fault = None;
        for thread in threads {
            match thread.join() {
                Ok(Ok(outcome)) => drop(found.get_or_insert(outcome)),
                // The worker that knows why comes first.
                Ok(Err(other)) => {
                    fault = match fault {
                        None | Some(Fault::Elsewhere) => Some(other),
                        known => known,
                    }
                }
                Err(panic) => fault = Some(panicked(panic.as_ref())),
            }
        }
        match fault {
            Some(fault) => Err(fault),
            None => found.ok_or_else(|| Fault::Lost("a thread could not be started".to_owned())),
        }
    })
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
        let common = Common {
            shared: &shared,
            budget: &options.budget,
            tuning: self.tuning,
            bytes: &bytes,
            spill: self.spill.as_deref(),
            listing: Some(&listing),
        };
        let job = |net: Net<'_>, process: usize, tell: &mut dyn FnMut(Count)| {
            Search::new(&common, net, process).run(tell)
        };
        let found: Result<Outcome, Fault> = self.run(&job, connections, &mut |_| {});
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

/// Waits for the threads of timely. They panic if connections are lost.
fn close(guard: CommsGuard) {
    let _ = panic::catch_unwind(AssertUnwindSafe(|| drop(guard)));
}

/// What a panic says about the search.
fn panicked(panic: &(dyn Any + Send)) -> Fault {
    Fault::Lost(format!("a worker failed: {}", text_of(panic)))
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Timely's threads panic when a connection is lost. What is printed about that is up to us.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_ours = thread::current()
                .name()
                .is_some_and(|name| name.starts_with("timely:") || name == "weir-worker");
            let text = text_of(info.payload());
            let is_expected = text.starts_with("timely communication error")
                || text.starts_with("MergeQueue poisoned")
                || text.starts_with("Clean shutdown followed by data");
            // The guard of the threads says that they panicked.
            let is_guard =
                text.starts_with("Send thread panic") || text.starts_with("Recv thread panic");
            if !(is_ours && is_expected || is_guard) {
                before(info);
            }
        }));
    });
}

impl Distributed {
    /// Searches, and keeps what the workers did.
    fn found<T: Send>(
        &self,
        job: Job<'_, T>,
        stats: &mut Stats,
        progress: Progress<'_>,
        began: Instant,
    ) -> Result<T, Fault> {
        let connections = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let outcome = match self.hosts.is_some() && connections.is_none() {
            true => Err(Fault::Lost("the processes were not connected".to_owned())),
            false => self.run(job, connections, &mut |count| {
                stats.stored = count.stored as usize;
                stats.expanded = count.expanded as usize;
                stats.steps = count.steps as usize;
                stats.depth = count.depth as usize;
                stats.bytes = count.bytes as usize;
                stats.elapsed = began.elapsed();
                progress(stats);
            }),
        };
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let report = report.get_or_insert_default();
        report.processes = self.processes();
        if let Err(fault) = &outcome {
            stats.stopped = Some(fault.to_string());
            stats.elapsed = began.elapsed();
            report.fault = Some(fault.clone());
        }
        outcome
    }

    /// Keeps what the workers did.
    fn keep(&self, workers: Vec<WorkerStats>, rounds: u64) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let report = report.get_or_insert_default();
        report.workers = workers;
        report.rounds = rounds;
    }

    fn search_explicit(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let began = Instant::now();
        let shared = match Shared::new(task) {
            Ok(shared) => shared,
            Err(stop) => {
                drop(self.ready.lock().unwrap_or_else(PoisonError::into_inner).take());
                let stats = Stats { engine: self.name(), ..Stats::default() };
                return (task.unknown(&stop), Stats { stopped: Some(stop.to_string()), ..stats });
            }
        };
        let mut stats = shared.stats();
        let bytes = AtomicUsize::new(0);
        let (budget, tuning) = (&task.options.budget, self.tuning);
        let spill = self.spill.as_deref();
        let common =
            Common { shared: &shared, budget, tuning, bytes: &bytes, spill, listing: None };
        let job = |net: Net<'_>, process: usize, tell: &mut dyn FnMut(Count)| {
            Search::new(&common, net, process).run(tell)
        };
        let outcome: Outcome = match self.found(&job, &mut stats, progress, began) {
            Ok(outcome) => outcome,
            Err(fault) => return (task.unknown(&fault), stats),
        };
        let sum =
            |of: fn(&WorkerStats) -> u64| outcome.workers.iter().map(of).sum::<u64>() as usize;
        stats.stored = sum(|w| w.stored);
        stats.expanded = sum(|w| w.expanded);
        stats.steps = sum(|w| w.steps);
        stats.bytes = sum(|w| w.bytes);
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
        let job = |net: Net<'_>, process: usize, tell: &mut dyn FnMut(Count)| {
            let budget = task.options.budget.apart();
            let options = SearchOptions { budget, ..task.options.clone() };
            let common = views::Common {
                task: task.within(&options),
                tuning: self.tuning,
                bytes: &bytes,
                workers: self.workers,
            };
            views::Search::new(&common, net, process).run(tell)
        };
        let outcome: views::Outcome = match self.found(&job, &mut stats, progress, began) {
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
        *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = connections;
        Ok(())
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        match self.name() == Views.name() {
            true => self.search_views(task, progress),
            false => self.search_explicit(task, progress),
        }
    }
}
