//! Requests that take time. Each is a process of its own, this program again, with the limits of a
//! request: whatever happens to it, the server and the other requests go on.
//!
//! As many processes run at a time as the machine has processors, one thread each, so that none
//! slows down another; the others wait in line. The page asks about its request several times a
//! second. A request that is not asked about any more is ended.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a request goes on that is not asked about.
const LEASE: Duration = Duration::from_secs(5);

/// The most requests that run or wait, and the most finished ones that are kept.
const MOST_OPEN: usize = 32;
const MOST_KEPT: usize = 16;

/// The most bytes of a report.
const MOST_OUTPUT: u64 = 64 << 20;

/// How often a running process is looked at.
const POLL: Duration = Duration::from_millis(10);

/// What a process is to do.
pub struct Order {
    /// The command, such as `check`.
    pub command: &'static str,
    /// The words of the command line.
    pub words: Vec<String>,
    /// What it reads.
    pub text: String,
    /// What the text is called.
    pub name: String,
    /// The folder that it runs in, if that matters.
    pub folder: Option<PathBuf>,
}

/// What a process left behind.
pub struct Ended {
    /// Its exit status; none if it was ended.
    pub status: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it said.
    pub err: String,
}

/// The state of a request.
pub enum Progress {
    /// It waits for a processor.
    Waiting,
    /// It runs, since so long.
    Running(Duration),
    /// It has ended.
    Ended(Arc<Ended>),
}

struct Job {
    command: &'static str,
    name: String,
    asked: Instant,
    began: Option<Instant>,
    is_cancelled: bool,
    ended: Option<Arc<Ended>>,
}

#[derive(Default)]
struct State {
    next: u64,
    jobs: BTreeMap<u64, Job>,
    running: usize,
    is_closed: bool,
}

/// All requests.
pub struct Jobs {
    state: Mutex<State>,
    changed: Condvar,
    slots: usize,
}

impl Jobs {
    /// None yet.
    pub fn new() -> Self {
        let slots = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { state: Mutex::default(), changed: Condvar::new(), slots }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an order and says its number; none if there are too many.
    pub fn start(self: &Arc<Self>, order: Order) -> Option<u64> {
        let mut state = self.state();
        if state.is_closed || state.jobs.values().filter(|j| j.ended.is_none()).count() >= MOST_OPEN
        {
            return None;
        }
        let ended: Vec<u64> =
            state.jobs.iter().filter(|(_, j)| j.ended.is_some()).map(|(id, _)| *id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MOST_KEPT - 1)) {
            state.jobs.remove(id);
        }
        let id = state.next;
        state.next += 1;
        let job = Job {
            command: order.command,
            name: order.name.clone(),
            asked: Instant::now(),
            began: None,
            is_cancelled: false,
            ended: None,
        };
        state.jobs.insert(id, job);
        drop(state);
        let jobs = self.clone();
        thread::spawn(move || jobs.work(id, order));
        Some(id)
    }

    /// The state of a request, if it is known. Asking keeps the request alive.
    pub fn progress(&self, id: u64) -> Option<Progress> {
        let mut state = self.state();
        let job = state.jobs.get_mut(&id)?;
        job.asked = Instant::now();
        Some(match (&job.ended, job.began) {
            (Some(ended), _) => Progress::Ended(ended.clone()),
            (None, Some(began)) => Progress::Running(began.elapsed()),
            (None, None) => Progress::Waiting,
        })
    }

    /// The command and the name of a request that has ended, and what it left behind.
    pub fn ended(&self, id: u64) -> Option<(&'static str, String, Arc<Ended>)> {
        let state = self.state();
        let job = state.jobs.get(&id)?;
        Some((job.command, job.name.clone(), job.ended.clone()?))
    }

    /// Ends a request.
    pub fn cancel(&self, id: u64) {
        if let Some(job) = self.state().jobs.get_mut(&id) {
            job.is_cancelled = true;
        }
        self.changed.notify_all();
    }

    /// Ends everything, and waits until it has ended.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        while state.running > 0 {
            let wait = self.changed.wait_timeout(state, POLL);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether a request was abandoned: it was not asked about for some time.
    fn is_abandoned(state: &State, id: u64) -> bool {
        let is_left = |job: &Job| job.is_cancelled || job.asked.elapsed() > LEASE;
        state.is_closed || state.jobs.get(&id).is_none_or(is_left)
    }

    fn work(&self, id: u64, order: Order) {
        let mut state = self.state();
        loop {
            if Self::is_abandoned(&state, id) {
                state.jobs.remove(&id);
                return;
            }
            let mut waiting =
                state.jobs.iter().filter(|(_, j)| j.ended.is_none() && j.began.is_none());
            let is_first = waiting.next().is_some_and(|(first, _)| *first == id);
            if is_first && state.running < self.slots {
                break;
            }
            let wait = self.changed.wait_timeout(state, LEASE);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.running += 1;
        if let Some(job) = state.jobs.get_mut(&id) {
            job.began = Some(Instant::now());
        }
        drop(state);
        self.changed.notify_all();
        let ended = self.run(id, order);
        let mut state = self.state();
        state.running -= 1;
        if let Some(job) = state.jobs.get_mut(&id) {
            job.ended = Some(Arc::new(ended));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Runs a process until it ends or its request is abandoned.
    fn run(&self, id: u64, order: Order) -> Ended {
        let failed = |err: String| Ended { status: None, out: String::new(), err };
        let child = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            if let Some(folder) = &order.folder {
                command.current_dir(folder);
            }
            command
                .args(&order.words)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        });
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return failed(format!("cannot begin: {error}")),
        };
        let writer = child.stdin.take().map(|mut input| {
            // A process that ends before it has read everything is no error here.
            thread::spawn(move || drop(input.write_all(order.text.as_bytes())))
        });
        let out = child.stdout.take().map(read);
        let err = child.stderr.take().map(read);
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status.code(),
                Ok(None) if Self::is_abandoned(&self.state(), id) => {
                    end(&mut child);
                    break None;
                }
                Ok(None) => thread::sleep(POLL),
                Err(error) => {
                    end(&mut child);
                    return failed(format!("it was lost: {error}"));
                }
            }
        };
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        let text = |reader: Option<thread::JoinHandle<String>>| {
            reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
        };
        Ended { status, out: text(out), err: text(err) }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads what a process prints, in a thread of its own, up to a limit.
fn read(from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut from = from.take(MOST_OUTPUT);
        let _ = from.read_to_end(&mut bytes);
        // The rest is not kept, but it is read, so that the process does not block.
        let _ = std::io::copy(&mut from.into_inner(), &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
