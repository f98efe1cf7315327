//! The statistics of a search, in words.

use weir_engine::Stats;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::Form;

use super::table::Table;
use super::{counted, grouped, peak_memory};

/// What restricts or specializes a model in a search, for a headline: a bound on guesses, and the
/// form of the semantics if one was chosen.
pub fn restrictions(model: MemoryModel, stats: &Stats) -> String {
    let guesses = stats.guesses.map(|most| format!(", {}", guessing(most))).unwrap_or_default();
    guesses + &stats.form.map(|form| form_words(form, model)).unwrap_or_default()
}

/// The form of a semantics, for a headline, if it is not the first one of the model.
pub fn form_words(form: Form, model: MemoryModel) -> String {
    match form == Form::of(model)[0] {
        true => String::new(),
        false => format!(" by {}", form.name()),
    }
}

/// A bound on guesses in words.
pub fn guessing(most: usize) -> String {
    match most {
        1 => "at most 1 guess at a time".to_owned(),
        most => format!("at most {most} guesses at a time"),
    }
}

/// In a line: the engine that answered last, and how much it stored.
pub fn summary(stats: &Stats) -> String {
    let (what, exact) = match (stats.engine, stats.is_exact(), stats.level) {
        ("backward" | "channels", ..) => ("minimal state", ""),
        ("letters", ..) => ("lead", ""),
        ("automata", true, _) => ("state", ", which stand for all there are"),
        ("automata", false, _) => ("state", ""),
        (_, true, None) => ("configuration", ", all there are"),
        (_, true, Some(_)) => ("configuration", ", which stand for all there are"),
        (_, false, _) => ("configuration", ""),
    };
    if stats.engine == "code" {
        return "no search: the code of the processes alone shows it".to_owned();
    }
    let exact = match stats.guesses {
        Some(most) if !exact.is_empty() => format!("{exact} with {}", guessing(most)),
        _ => exact.to_owned(),
    };
    let seconds = stats.elapsed.as_secs_f64();
    format!("{}: {}{exact}, {seconds:.3} s", stats.engine, counted(stats.stored, what))
}

/// In a table: everything that was counted.
pub fn details(stats: &Stats) -> String {
    let mut table = Table::default();
    let rate = stats.expanded as f64 / stats.elapsed.as_secs_f64().max(1e-9);
    table.row(["  stored".to_owned(), grouped(stats.stored)]);
    table.row(["  expanded".to_owned(), grouped(stats.expanded)]);
    table.row(["  covered".to_owned(), grouped(stats.covered)]);
    table.row(["  steps".to_owned(), grouped(stats.steps)]);
    if let Some(bound) = stats.bound {
        table.row(["  bound".to_owned(), bound.to_string()]);
        table.row(["  depth".to_owned(), grouped(stats.depth)]);
    }
    if stats.engine == "automata" {
        table.row(["  depth".to_owned(), grouped(stats.depth)]);
    }
    if let Some(level) = stats.level {
        table.row(["  level k".to_owned(), level.to_string()]);
    }
    if let Some(longest) = stats.longest {
        table.row(["  longest word".to_owned(), grouped(longest)]);
    }
    table.row(["  bytes each".to_owned(), (stats.bytes / stats.stored.max(1)).to_string()]);
    table.row(["  MiB".to_owned(), format!("{:.1}", stats.bytes as f64 / f64::from(1 << 20))]);
    if stats.on_disk > 0 {
        let on_disk = stats.on_disk as f64 / f64::from(1 << 20);
        table.row(["  MiB on disk".to_owned(), format!("{on_disk:.1}")]);
    }
    if let Some(peak) = peak_memory() {
        table.row(["  peak MiB".to_owned(), format!("{:.1}", peak as f64 / f64::from(1 << 20))]);
    }
    table.row(["  expanded/s".to_owned(), grouped(rate as usize)]);
    table.lines("  ").join("\n") + "\n"
}
