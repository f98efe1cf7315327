//! What a command has found before it ends.
//!
//! A question hands over each finding when it is there. If a limit ends the command before it can
//! print its report, the thread that watches the limits prints a report of these findings instead
//! ([`last_words`]). On a terminal a violation is shown while the search goes on ([`show_late`]).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use weir::{Finding, Report};
use weir_model::limits::Stop;

use crate::commands::Status;
use crate::output::print;

/// A finding is shown at once if the search goes on for so long after it: a report that comes sooner
/// has it in its place.
const LATE: Duration = Duration::from_millis(300);

/// How long a command that is past its limit may take to print the report of a search that has ended.
pub const REPORTING: Duration = Duration::from_secs(1);

/// How often to look whether it has.
const POLL: Duration = Duration::from_millis(10);

/// The report of findings when a limit ends the command, if there is something to say. It is given what is asked, if
/// that is known, and the numbers of what was found.
type Render = dyn Fn(Option<&Report>, &BTreeSet<usize>) -> Option<String> + Send;
/// A finding as it is shown at once, if it is to be.
type Show = dyn Fn(&Finding) -> Option<String> + Send;

/// The findings of the question that is asked.
pub struct Findings {
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    /// What is known so far: the rest is unknown.
    report: Option<Report>,
    /// When each finding was there first.
    found: BTreeMap<usize, Instant>,
    shown: BTreeSet<usize>,
}

/// The findings for the thread that watches the limits.
struct Speaker {
    known: Arc<Mutex<Known>>,
    earlier: Status,
    render: Box<Render>,
    show: Box<Show>,
}

enum Now {
    Nothing,
    Searching(Speaker),
    /// The search has ended a while ago, and the command prints its report.
    Reporting(Instant),
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

impl Findings {
    /// Begins a question. `earlier` is the status so far, `render` makes the report of what was found when a limit ends the
    /// command, and `show` what is shown of a finding at once.
    pub fn begin(
        earlier: Status,
        render: impl Fn(Option<&Report>, &BTreeSet<usize>) -> Option<String> + Send + 'static,
        show: impl Fn(&Finding) -> Option<String> + Send + 'static,
    ) -> Self {
        let known = Arc::new(Mutex::new(Known::default()));
        let (render, show) = (Box::new(render), Box::new(show));
        set(Now::Searching(Speaker { known: known.clone(), earlier, render, show }));
        Self { known }
    }

    /// What is asked: a report in which everything is unknown.
    pub fn asked(&self, report: &Report) {
        lock(&self.known).report = Some(report.clone());
    }

    /// Adds a finding. Whether it is the first of its number.
    pub fn add(&self, number: usize, finding: &Finding) -> bool {
        let mut known = lock(&self.known);
        let Some(report) = &mut known.report else { return false };
        report.findings[number] = finding.clone();
        let is_new = !known.found.contains_key(&number);
        known.found.entry(number).or_insert_with(Instant::now);
        is_new
    }

    /// Ends the question, before its report is printed: the numbers of what was shown at once. Does
    /// not return if the command is over.
    pub fn end(self) -> BTreeSet<usize> {
        set(Now::Reporting(Instant::now()));
        std::mem::take(&mut lock(&self.known).shown)
    }
}

impl Drop for Findings {
    fn drop(&mut self) {
        set(Now::Reporting(Instant::now()));
    }
}

impl Speaker {
    fn last_words(&self, stop: Stop) -> Option<(String, Status)> {
        let known = lock(&self.known);
        let mut report = known.report.clone();
        let found: BTreeSet<usize> = known.found.keys().copied().collect();
        drop(known);
        let mut status = self.earlier;
        let findings = report.iter_mut().flat_map(|report| report.findings.iter_mut());
        for (i, finding) in findings.enumerate() {
            if !found.contains(&i) {
                *finding = finding.clone().unknown(stop.to_string());
            } else if finding.verdict == weir::Verdict::Unknown {
                finding.reason = Some(stop.to_string());
            }
            status = status.and(finding.verdict.into());
        }
        Some(((self.render)(report.as_ref(), &found)?, status))
    }

    fn show_late(&self) {
        let mut known = lock(&self.known);
        let Known { report: Some(report), found, shown } = &mut *known else { return };
        for (number, since) in found {
            if since.elapsed() >= LATE && !shown.contains(number) {
                let finding = &report.findings[*number];
                if let Some(text) = finding.is_violated().then(|| (self.show)(finding)).flatten() {
                    clear_progress();
                    print(&text);
                    shown.insert(*number);
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

/// Prints what was found, after which the command is over. The status of it; none if nothing was
/// asked. A command that prints its report by itself ends by itself, if it does so soon.
pub fn last_words(stop: Stop) -> Option<Status> {
    let mut now = lock(&NOW);
    while matches!(*now, Now::Reporting(since) if since.elapsed() < REPORTING) {
        drop(now);
        thread::sleep(POLL);
        now = lock(&NOW);
    }
    let speaker = std::mem::replace(&mut *now, Now::Over);
    let Now::Searching(speaker) = speaker else { return None };
    let (text, status) = speaker.last_words(stop)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the end of a search and its report nothing is handed over; the command may print.
    #[test]
    fn a_report_that_is_being_printed_is_waited_for() {
        Findings::begin(Status::Fine, |_, _| Some(String::new()), |_| None).end();
        let began = Instant::now();
        assert!(last_words(Stop::Cancelled).is_none());
        assert!(began.elapsed() > REPORTING / 2, "{:?}", began.elapsed());
        *lock(&NOW) = Now::Nothing;
    }
}
