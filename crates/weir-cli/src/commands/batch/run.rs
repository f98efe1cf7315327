//! Starts the processes of a batch, several at a time, and hands over their results in order.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use weir_model::limits::Stop;

use super::super::Status;
use crate::cli::LimitArgs;
use crate::limits;
use crate::process::{self, NotEnded};
use crate::progress::Progress;
use crate::terminal;

/// How long a process has to end by itself after an interrupt, which it gets too.
const GRACE: Duration = Duration::from_millis(700);

/// One search: a file under a model.
#[derive(Clone, Debug)]
pub struct Item {
    pub file: String,
    pub model: String,
    /// The words of the command line.
    pub words: Vec<OsString>,
}

/// How an item ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub status: Status,
    pub out: String,
    pub err: String,
    pub seconds: f64,
    /// Whether a log should keep it: not if a limit on all items together cut it short, and not
    /// if it is from there.
    pub is_for_log: bool,
}

/// How processes run.
pub struct Running {
    pub jobs: usize,
    /// The time of each.
    pub each: Option<Duration>,
    /// The limits of the command; the time is for all together.
    pub limits: LimitArgs,
    /// When the command began.
    pub began: Instant,
}

impl Running {
    /// For a command that began now.
    pub fn new(jobs: Option<u16>, each: Option<Duration>, limits: LimitArgs) -> Self {
        let jobs = jobs.map_or(1, usize::from);
        Self { jobs, each, limits, began: Instant::now() }
    }

    /// The time that is left for one item, if it is limited.
    fn left(&self) -> Option<Duration> {
        let all = self.limits.timeout.map(|limit| limit.saturating_sub(self.began.elapsed()));
        all.into_iter().chain(self.each).min()
    }

    /// Whether the time for all items is over.
    fn is_late(&self) -> bool {
        self.limits.timeout.is_some_and(|limit| self.began.elapsed() >= limit)
    }

    /// Runs one item.
    fn one(&self, item: &Item) -> Done {
        let began = Instant::now();
        let left = self.left();
        let done = |status, out, err| Done {
            status,
            out,
            err,
            seconds: began.elapsed().as_secs_f64(),
            is_for_log: true,
        };
        let cut = |stop: Stop| Done {
            is_for_log: false,
            ..done(
                Status::Unknown,
                String::new(),
                format!("unknown: `{}` under {}: {stop}\n", item.file, item.model),
            )
        };
        if let (Some(limit), Some(Duration::ZERO)) = (self.limits.timeout, left) {
            return cut(Stop::Time(limit));
        }
        let mut command = match std::env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return done(Status::Wrong, String::new(), format!("error: {error}\n")),
        };
        command.args(&item.words).env("COLUMNS", terminal::width().to_string());
        command.args(["--color", if terminal::output_in_color() { "always" } else { "never" }]);
        if let Some(left) = left {
            command.arg(format!("--timeout={}", left.as_secs_f64()));
        }
        if let Some(memory) = self.limits.memory {
            command.arg(format!("--memory={memory}"));
        }
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.limits.threads.map_or((processors / self.jobs).max(1), usize::from);
        command.arg(format!("--threads={threads}"));
        match process::run(&mut command, || limits::budget().check(), GRACE) {
            Ok(ended) => match ended.status.code().and_then(Status::from_code) {
                Some(status) => {
                    let is_for_log = limits::budget().check().is_ok() && !self.is_late();
                    Done { is_for_log, ..done(status, ended.out, ended.err) }
                }
                None => {
                    let err = format!(
                        "{}error: `{}` under {}: the process ended with {}\n",
                        ended.err, item.file, item.model, ended.status
                    );
                    done(Status::Wrong, ended.out, err)
                }
            },
            Err(NotEnded::Stopped(stop)) => cut(stop),
            Err(NotEnded::Failed(error)) => {
                done(Status::Wrong, String::new(), format!("error: cannot begin: {error}\n"))
            }
        }
    }
}

/// What happens to an item, by its number.
enum Event {
    Begun(usize),
    Ended(usize, Box<Done>),
}

/// Runs all items but those that are `known`, and shows each in order, until `show` breaks or an
/// interrupt comes. Returns how many were shown.
pub fn all(
    items: &[Item],
    known: Vec<Option<Done>>,
    running: &Running,
    show: &mut dyn FnMut(&Item, &Done) -> ControlFlow<()>,
) -> usize {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let known = Mutex::new(known);
    let (send, receive) = mpsc::channel();
    let budget = limits::budget();
    thread::scope(|scope| {
        for _ in 0..running.jobs.min(items.len()) {
            let send = send.clone();
            scope.spawn(|| {
                let send = send;
                while !stop.load(Ordering::Relaxed) && budget.check().is_ok() {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let old = known.lock().ok().and_then(|mut known| known[i].take());
                    let _ = send.send(Event::Begun(i));
                    let done = old.unwrap_or_else(|| running.one(item));
                    let _ = send.send(Event::Ended(i, Box::new(done)));
                }
            });
        }
        drop(send);
        let mut progress = Progress::default();
        let mut begun: Vec<usize> = Vec::new();
        let mut waiting: BTreeMap<usize, Box<Done>> = BTreeMap::new();
        let mut shown = 0;
        let mut is_over = false;
        for event in receive {
            match event {
                Event::Begun(i) => begun.push(i),
                Event::Ended(i, done) => {
                    begun.retain(|other| *other != i);
                    waiting.insert(i, done);
                }
            }
            progress.clear();
            while !is_over && let Some(done) = waiting.remove(&shown) {
                is_over = show(&items[shown], &done).is_break();
                shown += 1;
            }
            if is_over {
                stop.store(true, Ordering::Relaxed);
            }
            let now = begun.iter().map(|&i| format!("{} under {}", items[i].file, items[i].model));
            let now: Vec<String> = now.collect();
            let left = items.len() - shown;
            progress.say(&format!("{left} of {} left: {}", items.len(), now.join(", ")));
        }
        shown
    })
}
