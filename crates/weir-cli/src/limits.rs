//! The limits of the program: one clock, one meter and one switch for the whole command.
//!
//! Every phase is given a [`Budget`] and stops by itself when a limit is reached. A
//! second thread enforces the limits if a phase does not check them for long, such as
//! while it waits for standard input: it prints what was found so far ([`findings`]) and ends the
//! program shortly after the limit.

use std::alloc::System;
use std::num::NonZeroUsize;
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cap::Cap;
use weir::Reading;
use weir_engine::SearchOptions;
use weir_model::limits::{Budget, Meter, Stop};

use crate::cli::LimitArgs;
use crate::commands::Status;
use crate::findings;
use crate::output::{HINTS, note};

/// Counts the bytes that are allocated.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const MIB: usize = 1 << 20;

/// The limit on memory if a person gives none and the machine has enough.
const DEFAULT_MEMORY: usize = 8192 * MIB;

/// What the process may use besides what it has allocated: code, stacks, and what the
/// allocator keeps for later.
const OVERHEAD: usize = 32 * MIB;

/// How much more memory than the limit, and how much more time, ends the program.
const LAST_MEMORY: usize = 52 * MIB;
const LAST_TIME: Duration = Duration::from_millis(350);

/// How long a phase has after it was interrupted.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often the second thread looks.
const WATCH: Duration = Duration::from_millis(2);

/// The exit status after a second interrupt, as shells have it.
const INTERRUPTED: i32 = 130;

struct Settings {
    began: Instant,
    time: Option<Duration>,
    /// What searches may store, and what the process may use.
    store: usize,
    memory: usize,
    threads: NonZeroUsize,
    cancelled: Arc<AtomicBool>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Sets the limits of the command, once, and begins to watch them.
pub fn set(args: LimitArgs) {
    let given = args.memory.map(|mib| mib as usize * MIB);
    let share = physical_memory().map_or(usize::MAX, |bytes| bytes / 4 * 3);
    let settings = SETTINGS.get_or_init(|| Settings {
        began: Instant::now(),
        time: args.timeout,
        store: given.unwrap_or(DEFAULT_MEMORY),
        memory: given.unwrap_or(DEFAULT_MEMORY.min(share)),
        threads: args
            .threads
            .and_then(|n| NonZeroUsize::new(n.into()))
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN),
        cancelled: Arc::default(),
    });
    // The first interrupt ends with what is known so far, the second one at once.
    let cancelled = settings.cancelled.clone();
    let handler = move || {
        if cancelled.swap(true, Ordering::Relaxed) {
            exit(INTERRUPTED);
        }
    };
    if ctrlc::set_handler(handler).is_err() {
        note("warning: an interrupt will end Weir without a report");
    }
    thread::spawn(|| watch(settings));
}

/// The limits of the command as a budget. Time counts from the beginning of the command.
pub fn budget() -> Budget {
    let Some(settings) = SETTINGS.get() else { return Budget::new() };
    let budget = Budget::since(settings.began)
        .with_store(settings.store)
        .with_ceiling(settings.memory)
        .with_meter(used)
        .with_threads(settings.threads)
        .with_switch(settings.cancelled.clone());
    match settings.time {
        Some(limit) => budget.with_time(limit),
        None => budget,
    }
}

/// The bytes that the process may use, and what tells how many it uses.
pub fn ceiling() -> Option<(usize, Meter)> {
    SETTINGS.get().map(|settings| (settings.memory, used as Meter))
}

/// The options of a search within the limits of the command.
pub fn search() -> SearchOptions {
    SearchOptions { budget: budget(), ..SearchOptions::default() }
}

/// How to read a text within the limits of the command.
pub fn reading() -> Reading {
    Reading { budget: budget(), hints: HINTS, ..Reading::default() }
}

/// Ends the program if a limit is passed by far.
fn watch(settings: &Settings) {
    let mut cancelled = None;
    loop {
        thread::sleep(WATCH);
        findings::show_late();
        if settings.cancelled.load(Ordering::Relaxed) {
            cancelled.get_or_insert_with(Instant::now);
        }
        let late = settings.time.filter(|t| settings.began.elapsed() > t.saturating_add(LAST_TIME));
        let stop = match (late, cancelled) {
            (Some(limit), _) => Stop::Time(limit),
            (None, Some(since)) if since.elapsed() > LAST_WORDS => Stop::Cancelled,
            _ if resident() > settings.memory.saturating_add(LAST_MEMORY) => {
                Stop::Memory(settings.memory)
            }
            _ => continue,
        };
        let status = last_words(stop);
        note(&format!("unknown: {stop}, and the command did not end in time to say more"));
        exit(status as i32);
    }
}

/// Prints what was found so far, in a thread of its own: it does not end if nobody reads what is
/// printed.
fn last_words(stop: Stop) -> Status {
    let (send, receive) = mpsc::channel();
    let speaking = thread::Builder::new().spawn(move || send.send(findings::last_words(stop)));
    let patience = LAST_WORDS + findings::REPORTING;
    let spoken = speaking.ok().and_then(|_| receive.recv_timeout(patience).ok());
    spoken.flatten().unwrap_or(Status::Unknown)
}

/// The bytes that count against the limit: those allocated, or those that the process has
/// without what it may have besides.
fn used() -> usize {
    /// What was allocated and resident when that was last looked at.
    static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
    static RESIDENT: AtomicUsize = AtomicUsize::new(0);
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    let allocated = ALLOCATOR.allocated();
    let looks = LOOKS.fetch_add(1, Ordering::Relaxed);
    // To ask the system takes long.
    if allocated.abs_diff(ALLOCATED.load(Ordering::Relaxed)) >= MIB || looks.is_multiple_of(256) {
        ALLOCATED.store(allocated, Ordering::Relaxed);
        RESIDENT.store(resident(), Ordering::Relaxed);
    }
    allocated.max(RESIDENT.load(Ordering::Relaxed).saturating_sub(OVERHEAD))
}

/// The bytes that the process has in memory; 0 where the system does not tell.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    const PAGE: usize = 4096;
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let Some(file) = FILE.get_or_init(|| File::open("/proc/self/statm").ok()) else { return 0 };
    let mut buffer = [0; 128];
    let Ok(read) = file.read_at(&mut buffer, 0) else { return 0 };
    let text = std::str::from_utf8(&buffer[..read]).unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * PAGE
}

/// The bytes that the process has in memory; 0 where the system does not tell.
#[cfg(not(target_os = "linux"))]
fn resident() -> usize {
    0
}

/// The memory of the machine, or of the container that the process is in.
fn physical_memory() -> Option<usize> {
    let read = |path| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
    });
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let contained = files.into_iter().find_map(read).and_then(|text| text.trim().parse().ok());
    total.into_iter().chain(contained).min()
}
