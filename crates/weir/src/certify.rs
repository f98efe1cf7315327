//! Evidence about programs: whether a file shows what it says, and the rule that nothing is
//! shown that its checker has not accepted.

use std::fmt;
use weir_check::{Evidence, Rejected, Subject};
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::Loaded;

pub use weir_check::Checked;

impl Subject for Loaded {
    fn system(&self) -> &System {
        &self.system
    }

    fn line(&self, span: SpanId) -> usize {
        Self::line(self, span)
    }
}

/// The memory model that evidence is about, where it says one: the system of a program
/// depends on it.
pub fn model(text: &str) -> Option<MemoryModel> {
    weir_check::evidence::model_of(text)?.parse().ok()
}

/// Checks evidence about a program, with up to so many threads. The result does not depend on
/// their number.
///
/// # Errors
/// If the text is no evidence.
pub fn certify(text: &str, loaded: &Loaded, threads: usize) -> Result<Checked, Rejected> {
    if weir_check::evidence::keeps_registers(text)
        && let Ok(kept) = loaded.keeping_registers(&Budget::new())
    {
        return weir_check::certify(text, &kept, threads);
    }
    weir_check::certify(text, loaded, threads)
}

/// Evidence that was found and that its checker does not accept: it rejects it, which is a mistake in
/// Weir, or cannot check it to its end. There is no answer then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unaccepted {
    /// What was found, in a few words.
    pub what: String,
    /// Why its checker rejects it.
    pub why: Rejected,
}

impl fmt::Display for Unaccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, why } = self;
        match why.is_unchecked() {
            true => write!(f, "{what} was found that is too large to be checked: {why}"),
            false => write!(f, "internal error: the checker rejects {what} that was found: {why}"),
        }
    }
}

impl std::error::Error for Unaccepted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}

/// Evidence that its checker accepts. All that is shown or written goes through here.
///
/// # Errors
/// If its checker rejects it.
pub fn accepted<E: Evidence>(
    evidence: E,
    subject: &E::Subject,
    threads: usize,
) -> Result<E, Unaccepted> {
    match evidence.certify(subject, threads) {
        Ok(_) => Ok(evidence),
        Err(why) => Err(Unaccepted { what: evidence.what(), why }),
    }
}
