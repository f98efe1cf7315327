//! Collects the errors of one text.

use weir_front::Diagnostic;
use weir_front::suggest::closest;

/// How many errors one run reports.
const MAX_ERRORS: usize = 50;

/// How many names are compared with a misspelt one.
const MAX_CANDIDATES: usize = 500;

/// The errors so far, at most one for each place.
#[derive(Default)]
pub struct Errors(Vec<Diagnostic>);

impl Errors {
    /// Adds an error.
    pub fn push(&mut self, error: Diagnostic) {
        if self.0.len() < MAX_ERRORS && self.0.iter().all(|e| e.range != error.range) {
            self.0.push(error);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no more are reported.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MAX_ERRORS
    }

    /// All of them, in the order of the text.
    pub fn sorted(self) -> Vec<Diagnostic> {
        let mut list = self.0;
        list.sort_by_key(|e| (e.range.start, e.range.end));
        list
    }
}

/// A name as it stands in a message: short even if it is not.
pub fn quote(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((cut, _)) => format!("`{}…`", &name[..cut]),
        None => format!("`{name}`"),
    }
}

/// `error` with the candidate that was probably meant, if there is one.
pub fn did_you_mean<'a>(
    error: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let near = |c: &&str| c.len().abs_diff(name.len()) <= (name.len() / 3).max(1);
    let mut candidates: Vec<&str> = candidates.into_iter().filter(near).collect();
    candidates.sort_unstable();
    match closest(name, candidates.into_iter().take(MAX_CANDIDATES)) {
        // Every letter is close to every other.
        Some(meant) if name.len() > 1 => error.help(format!("did you mean {}?", quote(meant))),
        _ => error,
    }
}
