//! Starts the processes of a batch, several at a time, and hands over their results in order.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weir_check::sha256::Sha256;
use weir_front::MAX_TEXT;
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
    /// Whether the process is given the bytes of the file, so that it is known which text the
    /// result is about.
    pub is_snapped: bool,
    /// The file and the line of a test of a package: a code host shows its results there.
    pub place: Option<(String, u64)>,
}

/// The bytes of a file, as they were read once.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub bytes: Arc<[u8]>,
    /// Their SHA-256; none if the text may include other files, which are not in the snapshot.
    pub digest: Option<String>,
}

impl Snapshot {
    /// Reads a file; nothing if it is no regular file, or one that is too large for a program.
    pub fn of(item: &Item) -> Option<Self> {
        let file = &item.file;
        let about = fs::metadata(file).ok()?;
        if !about.is_file() || about.len() > MAX_TEXT as u64 {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(file).ok()?.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let is_folder = |word: &OsString| word.to_string_lossy().starts_with("--include");
        let has_folders = item.words.iter().any(is_folder);
        let digest = (!may_include(&text, has_folders)).then(|| Sha256::of(&bytes));
        Some(Self { bytes: bytes.into(), digest })
    }
}

/// Whether a text may include other files, in any of the languages: what follows the word decides.
/// Headers in angle brackets are built in, unless an option names folders to look for them.
fn may_include(text: &str, has_folders: bool) -> bool {
    let text = text.replace("\\\n", "").replace("\\\r\n", "");
    let is_header = |rest: &str| !has_folders && rest.trim_start().starts_with('<');
    let includes = text.split("include").skip(1).any(|rest| !is_header(rest));
    let is_module = |rest: &str| {
        let name = rest.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        rest.starts_with(char::is_whitespace) && name.trim_start().starts_with(';')
    };
    includes || text.split("mod").skip(1).any(is_module)
}

/// How an item ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub status: Status,
    pub out: String,
    pub err: String,
    pub seconds: f64,
    /// The SHA-256 of the text that it is about, if that is known.
    pub digest: Option<String>,
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
        let snapshot = item.is_snapped.then(|| Snapshot::of(item)).flatten();
        let digest = snapshot.as_ref().and_then(|snapshot| snapshot.digest.clone());
        let done = |status, out, err| Done {
            status,
            out,
            err,
            seconds: began.elapsed().as_secs_f64(),
            digest: digest.clone(),
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
        let words = item.words.iter().map(|word| match &snapshot {
            Some(_) if word.as_os_str() == item.file.as_str() => "-".into(),
            _ => word.clone(),
        });
        command.args(words).env("COLUMNS", terminal::width().to_string());
        command.args(["--color", if terminal::output_in_color() { "always" } else { "never" }]);
        if snapshot.is_some() {
            command.arg(format!("--stdin-name={}", item.file));
        }
        if let Some(left) = left {
            command.arg(format!("--timeout={}", left.as_secs_f64()));
        }
        if let Some(memory) = self.limits.memory {
            command.arg(format!("--memory={memory}"));
        }
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.limits.threads.map_or((processors / self.jobs).max(1), usize::from);
        command.arg(format!("--threads={threads}"));
        let input = snapshot.map(|snapshot| snapshot.bytes);
        match process::run(&mut command, input, || limits::budget().check(), GRACE) {
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

#[cfg(test)]
mod tests {
    use super::may_include;

    #[test]
    fn texts_that_include_others_are_told() {
        for text in ["#include \"a.h\"", "#inc\\\nlude \"a\"", "include!(\"a.rs\");", "pub mod a ;"]
        {
            assert!(may_include(text, false), "{text}");
        }
        for text in ["#include <stdatomic.h>\nint x;", "var x", "mod a { }", "x = modulus;"] {
            assert!(!may_include(text, false), "{text}");
        }
        assert!(may_include("#include <a.h>", true));
    }
}
