//! A line for each test of a package: its verdict, its time, its name, and why it is not fine.

use weir::Verdict;
use weir_front::columns::{shortened, spaces};
use weir_front::escape::escape_line;

use super::super::Status;
use super::rows::Row;
use super::run::{Done, Item};
use crate::output::paint;
use crate::terminal::{QUIET, style};

/// The widest column of names.
const MOST_NAME: usize = 60;

/// How names are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    width: usize,
    /// Whether the models are named.
    are_under: bool,
}

impl Names {
    /// For these tests, under several models or one.
    pub fn of(items: &[Item], are_under: bool) -> Self {
        let names = Self { width: 0, are_under };
        let width = items.iter().map(|item| names.shown(item).chars().count()).max().unwrap_or(0);
        Self { width: width.min(MOST_NAME), are_under }
    }

    fn shown(self, item: &Item) -> String {
        match self.are_under {
            true => format!("{} under {}", escape_line(&item.file), item.model),
            false => escape_line(&item.file).into_owned(),
        }
    }
}

/// The line of a test.
pub fn line(item: &Item, rows: &[Row], done: &Done, names: &Names) -> String {
    let (mark, word, color) = match done.status {
        Status::Fine => ("✓", "holds", style(Verdict::Holds)),
        Status::Violated => ("✗", "violated", style(Verdict::Violated)),
        Status::Unknown => ("?", "unknown", style(Verdict::Unknown)),
        Status::Wrong | Status::Internal => ("!", "error", style(Verdict::Violated)),
    };
    let name = names.shown(item);
    let reason = reason(rows, done);
    let gap = match reason.is_empty() {
        true => String::new(),
        false => spaces(names.width.saturating_sub(name.chars().count())),
    };
    let reason = if reason.is_empty() { reason } else { format!("  {}", paint(QUIET, &reason)) };
    let word = format!("{} {}{}", paint(color, mark), paint(color, word), spaces(8 - word.len()));
    format!("{word} {:>7.2} s  {name}{gap}{reason}\n", done.seconds)
}

/// Why a test is not fine: what is said of the first row with its status.
fn reason(rows: &[Row], done: &Done) -> String {
    if done.status == Status::Fine {
        return String::new();
    }
    let Some(row) = rows.iter().find(|row| row.status == done.status) else { return String::new() };
    let message = match (row.failure.as_deref(), row.message.lines().next()) {
        (Some(failure), _) => failure,
        (None, message) => message.unwrap_or_default(),
    };
    let parts = [row.property.as_str(), message].into_iter().filter(|part| !part.is_empty());
    shortened(&parts.collect::<Vec<_>>().join(": "), 200)
}
