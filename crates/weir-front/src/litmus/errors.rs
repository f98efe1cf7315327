//! The errors of one file, as many as a person can use.

use crate::Diagnostic;

/// How many errors are reported. A file that is not a test at all has one per
/// character.
const MAX_ERRORS: usize = 100;

/// The errors that were found.
#[derive(Debug, Default)]
pub(super) struct Errors {
    found: Vec<Diagnostic>,
    left_out: bool,
}

impl Errors {
    /// One more error.
    pub fn push(&mut self, error: Diagnostic) {
        self.push_with(|| error);
    }

    /// One more error, made only if it will be reported: finding out what was
    /// meant takes time.
    pub fn push_with(&mut self, error: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.left_out = true;
        } else {
            self.found.push(error());
        }
    }

    /// Takes the value, or the error.
    pub fn take<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether no more will be reported, so that there is no use in reading on.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_ERRORS
    }

    /// All errors in the order of the text.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|error| (error.range.start, error.range.end));
        if let (Some(last), true) = (self.found.last_mut(), self.left_out) {
            last.help = Some("there are more errors than these".into());
        }
        self.found
    }
}
