//! Reports: answers as text, JSON and other formats.

pub mod board;
pub mod diff;
pub mod draw;
pub mod explain;
pub mod graph;
pub mod hardware;
pub mod herd;
pub mod json;
pub mod models;
pub mod page;
pub mod picture;
pub mod promela;
pub mod run;
pub mod scene;
pub mod statistics;
pub mod strategy;
pub mod table;

use weir_engine::Stats;
use weir_front::RACES;
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::SpanId;
use weir_model::question::Question;

use crate::{Hints, Loaded};

pub use weir_check::evidence::{counted, grouped};

/// A report mentions a variable or register that takes at least so many values.
const MANY: usize = 1000;

/// Why there is no answer, and what could be done about it.
pub fn reason(answer: &Answer, stats: &Stats, hints: Hints) -> Option<String> {
    let Evidence::Reason(reason) = &answer.evidence else { return None };
    Some(growing(reason, stats, hints))
}

/// A reason for which there is no answer, with what grew during the search.
pub fn growing(reason: &str, stats: &Stats, hints: Hints) -> String {
    match &stats.growth {
        Some((name, count)) if *count >= MANY => format!(
            "{reason}; `{name}` took more than {} values: {}",
            10_usize.pow(count.ilog10()),
            hints.bounding(name)
        ),
        _ => reason.to_owned(),
    }
}

/// What the question about data races says. It is asked of the interleavings of a memory model, and not
/// of the happens-before order of the language.
const BY_INTERLEAVINGS: &str = "by interleavings, never two conflicting accesses at once";

/// What a property says, in one line and without its name; nothing if the program does not
/// spell it out.
pub fn says(loaded: &Loaded, question: &Question) -> String {
    let written = || {
        let words = loaded.source.text_of(question.span).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    let text = match question.kind.text() {
        Some(text) => text.to_owned(),
        None if question.span == SpanId::NONE && question.name == RACES => {
            BY_INTERLEAVINGS.to_owned()
        }
        None => written(),
    };
    // An assertion of a compiled program that is asked of final states.
    if question.name.starts_with("final_assertion") && !text.starts_with(&question.name) {
        return format!("line {}: {text}", loaded.line(question.span));
    }
    match text.strip_prefix(&question.name).and_then(|rest| rest.trim().strip_prefix(':')) {
        Some(rest) => rest.trim().to_owned(),
        None => text,
    }
}

/// The most memory that this process has had, in bytes, where the system tells.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
