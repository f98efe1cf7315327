//! Collects the errors of one text, and helps to word them.

use std::collections::HashSet;
use std::ops::Range;

use crate::{Diagnostic, suggest};

/// How many errors one run reports; what comes after that many is noise.
const MAX_ERRORS: usize = 50;

/// How many names are compared with a misspelled one.
const MAX_CANDIDATES: usize = 500;

/// The errors found so far: at most one for each place, because the first one
/// is the cause of the others, and the copies of a family repeat each other's.
#[derive(Debug, Default)]
pub struct Errors {
    list: Vec<Diagnostic>,
    places: HashSet<(usize, usize)>,
}

impl Errors {
    /// Adds an error.
    pub fn push(&mut self, error: Diagnostic) {
        let place = (error.range.start, error.range.end);
        if self.list.len() < MAX_ERRORS && self.places.insert(place) {
            self.list.push(error);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets all but the first ones.
    pub fn truncate(&mut self, len: usize) {
        for error in self.list.drain(len.min(self.list.len())..) {
            self.places.remove(&(error.range.start, error.range.end));
        }
    }

    /// Whether no more are reported.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order of the text.
    pub fn sorted(self) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort_by_key(|e| (e.range.start, e.range.end));
        list
    }
}

/// A name as it stands in a message: in backquotes, and short even if it is not.
pub fn quote(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((cut, _)) => format!("`{}…`", &name[..cut]),
        None => format!("`{name}`"),
    }
}

/// `1 process`, `2 processes`.
pub fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// `error` with the candidate that was probably meant, if there is one. If the name is what the
/// error points at, the candidate can replace it.
pub fn did_you_mean<'a>(
    error: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let place = Some(error.range.clone()).filter(|range| range.len() == name.len());
    did_you_mean_at(error, name, place, candidates)
}

/// `error` with the candidate that was probably meant, if there is one. It can replace what stands
/// at `place`.
pub fn did_you_mean_at<'a>(
    error: Diagnostic,
    name: &str,
    place: Option<Range<usize>>,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let near = |c: &&str| c.len().abs_diff(name.len()) <= (name.len() / 3).max(1);
    let mut candidates: Vec<_> = candidates.into_iter().filter(near).collect();
    // Tables of names have no order, but messages are always the same.
    candidates.sort_unstable();
    match suggest::closest(name, candidates.into_iter().take(MAX_CANDIDATES)) {
        // Every letter is close to every other.
        Some(meant) if name.len() > 1 => {
            let error = error.help(format!("did you mean {}?", quote(meant)));
            match place {
                Some(place) => error.fix(place, meant),
                None => error,
            }
        }
        _ => error,
    }
}
