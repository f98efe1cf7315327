//! The workers of one process, as threads, and their connections to those of other processes.

use std::any::Any;
use std::net::TcpStream;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, mpsc};
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

use crate::connect::{Greeted, Hosts};
use crate::fault::Fault;
use crate::net::Net;
use crate::space::Count;
use crate::wire::{Lost, Pulse, Wire};

/// How often a process shows that it lives, compared with how long others wait for that.
const BEATS: u32 = 8;

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

/// What a worker does in its thread, with its connection to all workers.
pub type Job<'j, T> = &'j (dyn Fn(Net<'_>, &mut dyn FnMut(Count)) -> Result<T, Fault> + Sync);

/// Connections to the other processes.
pub struct Connections {
    /// The number of this process.
    me: usize,
    /// How long another process may be silent.
    silence: Duration,
    wires: Vec<Option<Wire>>,
    streams: Vec<TcpStream>,
    pulses: Vec<Pulse>,
    lost: Lost,
}

impl Connections {
    /// Connections on streams to all processes but this one, each with the keys of its messages.
    ///
    /// # Errors
    /// If a stream fails.
    pub fn new(hosts: &Hosts, streams: Vec<Option<Greeted>>) -> Result<Self, Fault> {
        let failed = |e: std::io::Error| Fault::Apart(format!("a connection failed: {e}"));
        let Hosts { me, silence, .. } = *hosts;
        let (wires, streams_of, pulses, lost) = (vec![], vec![], vec![], Lost::default());
        let mut all = Self { me, silence, wires, streams: streams_of, pulses, lost };
        for (process, stream) in streams.into_iter().enumerate() {
            let Some((stream, keys)) = stream else {
                all.wires.push(None);
                continue;
            };
            all.streams.push(stream.try_clone().map_err(failed)?);
            let wire = Wire::new(stream, hosts.name(process), keys, silence, &all.lost);
            let wire = wire.map_err(failed)?;
            all.pulses.push(wire.pulse());
            all.wires.push(Some(wire));
        }
        Ok(all)
    }
}

/// Runs so many workers in this process. What is found is the same in all processes.
///
/// # Errors
/// If a worker or a connection fails.
pub fn run<T: Send>(
    workers: usize,
    job: Job<'_, T>,
    progress: &mut dyn FnMut(Count),
) -> Result<T, Fault> {
    silence_panics();
    let hooks = Hooks::default();
    let builders = match workers {
        1 => vec![Builder::Alone],
        n => ProcessBuilder::new_typed_vector(n, hooks.refill, hooks.spill)
            .into_iter()
            .map(Builder::Process)
            .collect(),
    };
    work(job, builders, &AtomicBool::new(false), progress)
}

/// The same where there are other processes. Also returns the bytes that were sent to them.
pub fn run_connected<T: Send>(
    workers: usize,
    job: Job<'_, T>,
    Connections { me, silence, wires, streams, pulses, lost }: Connections,
    progress: &mut dyn FnMut(Count),
) -> (Result<T, Fault>, u64) {
    silence_panics();
    let hooks = Hooks::default();
    let local =
        ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone());
    let (builders, guard) =
        match initialize_networking_from_sockets(local, wires, me, workers, hooks) {
            Ok(made) => made,
            Err(e) => return (Err(Fault::Lost(format!("the connections failed: {e}"))), 0),
        };
    let builders = builders.into_iter().map(Builder::Tcp).collect();
    let (failed, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
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
        let outcome = work(job, builders, &failed, progress);
        if outcome.is_err() {
            // The threads of timely end when their connections do.
            pulses.iter().zip(&streams).for_each(|(pulse, stream)| pulse.cut(stream));
        }
        close(guard);
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let outcome = outcome.map_err(|fault| lost.reason().map_or(fault, Fault::Lost));
    (outcome, pulses.iter().map(Pulse::sent).sum())
}

/// Runs the workers of this process.
fn work<T: Send>(
    job: Job<'_, T>,
    builders: Vec<Builder>,
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
                job(net, &mut tell)
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
