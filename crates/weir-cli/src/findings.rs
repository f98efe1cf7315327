//! What a command has found before it ends.
//!
//! A search hands over each answer when it is there. If a limit ends the command before it can
//! print its report, the thread that watches the limits prints a report of these answers instead
//! ([`last_words`]). On a terminal a violation is shown while the search goes on ([`show_late`]).

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::limits::Stop;

use crate::commands::Status;
use crate::output::print;

/// A finding is shown at once if the search goes on for so long after it: a report that comes sooner
/// has it in its place.
const LATE: Duration = Duration::from_millis(300);

/// Findings of the search that runs, by number.
pub struct Findings<T: Clone + Send + 'static> {
    list: Arc<Mutex<List<T>>>,
}

struct List<T> {
    found: Vec<(usize, T, Instant)>,
    shown: BTreeSet<usize>,
}

/// The report of findings when a limit ends the command, and its status.
type Report<T> = dyn Fn(&[(usize, T)], Stop) -> (String, Status) + Send;
/// A finding as it is shown at once, if it is to be.
type Show<T> = dyn Fn(usize, &T) -> Option<String> + Send;

/// The findings of the search that runs, for the thread that watches the limits.
trait Speaker: Send {
    fn last_words(&self, stop: Stop) -> (String, Status);
    fn show_late(&self);
}

struct Speech<T> {
    list: Arc<Mutex<List<T>>>,
    report: Box<Report<T>>,
    show: Box<Show<T>>,
}

enum Now {
    Nothing,
    Searching(Box<dyn Speaker>),
    /// The command is over; the watching thread has said what there is to say.
    Over,
}

static NOW: Mutex<Now> = Mutex::new(Now::Nothing);

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Goes on only if the command is not over.
fn set(now: Now) {
    let mut held = lock(&NOW);
    while matches!(*held, Now::Over) {
        drop(held);
        thread::park();
        held = lock(&NOW);
    }
    *held = now;
}

impl<T: Clone + Send + 'static> Findings<T> {
    /// Begins a search. `report` makes the report of what was found when a limit ends the
    /// command, and `show` what is shown of a finding at once.
    pub fn begin(
        report: impl Fn(&[(usize, T)], Stop) -> (String, Status) + Send + 'static,
        show: impl Fn(usize, &T) -> Option<String> + Send + 'static,
    ) -> Self {
        let list = Arc::new(Mutex::new(List { found: Vec::new(), shown: BTreeSet::new() }));
        let (report, show) = (Box::new(report), Box::new(show));
        set(Now::Searching(Box::new(Speech { list: list.clone(), report, show })));
        Self { list }
    }

    /// Adds a finding, if it is the first of its number. Whether it is.
    pub fn add(&self, number: usize, finding: T) -> bool {
        let mut list = lock(&self.list);
        let is_new = list.found.iter().all(|(known, ..)| *known != number);
        if is_new {
            list.found.push((number, finding, Instant::now()));
        }
        is_new
    }

    /// What was found so far, by number.
    pub fn all(&self) -> Vec<(usize, T)> {
        let list = lock(&self.list);
        list.found.iter().map(|(number, finding, _)| (*number, finding.clone())).collect()
    }

    /// Ends the search, before its report is printed: the numbers of what was shown at once. Does
    /// not return if the command is over.
    pub fn end(self) -> BTreeSet<usize> {
        set(Now::Nothing);
        std::mem::take(&mut lock(&self.list).shown)
    }
}

impl<T: Clone + Send + 'static> Drop for Findings<T> {
    fn drop(&mut self) {
        set(Now::Nothing);
    }
}

impl<T: Clone + Send> Speaker for Speech<T> {
    fn last_words(&self, stop: Stop) -> (String, Status) {
        let list = lock(&self.list);
        let mut found: Vec<(usize, T)> =
            list.found.iter().map(|(number, finding, _)| (*number, finding.clone())).collect();
        drop(list);
        found.sort_by_key(|(number, _)| *number);
        (self.report)(&found, stop)
    }

    fn show_late(&self) {
        let mut list = lock(&self.list);
        let List { found, shown } = &mut *list;
        for (number, finding, since) in found {
            if since.elapsed() >= LATE && !shown.contains(number) {
                if let Some(text) = (self.show)(*number, finding) {
                    clear_progress();
                    print(&text);
                    shown.insert(*number);
                } else {
                    // It is looked at once.
                    *since = Instant::now() + Duration::from_secs(3600);
                }
            }
        }
    }
}

/// Removes the progress line, which is on the same terminal.
fn clear_progress() {
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
}

/// Prints what was found, after which the command is over. The status of it; none if nothing is
/// being searched.
pub fn last_words(stop: Stop) -> Option<Status> {
    let mut now = lock(&NOW);
    let speaker = std::mem::replace(&mut *now, Now::Over);
    let Now::Searching(speaker) = speaker else { return None };
    let (text, status) = speaker.last_words(stop);
    clear_progress();
    print(&text);
    Some(status.and(Status::Unknown))
}

/// Shows what was found a while ago, if a terminal reads it.
pub fn show_late() {
    if io::stdout().is_terminal()
        && let Ok(now) = NOW.try_lock()
        && let Now::Searching(speaker) = &*now
    {
        speaker.show_late();
    }
}
