//! What every kind of evidence has in common, and the table of all kinds.
//!
//! A kind is one module with a type that implements [`Evidence`], and one line in [`KINDS`].
//! [`certify`] reads a text of any kind and checks it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_model::ids::SpanId;
use weir_model::system::System;

use crate::Rejected;
use crate::buffers::Buffers;
use crate::certificate::Certificate;
use crate::claim::{Claims, Settled};
use crate::closed::ClosedSet;
use crate::lasso::Lasso;
use crate::live_set::LiveSet;
use crate::robust::{Cycle, RobustSets, StateSets};
use crate::strategy::StrategyFile;
use crate::unblocked::Unblocked;
use crate::upward::UpwardSets;
use crate::witness::Witness;

/// A program that evidence is about: its system, and where it stands in its text.
pub trait Subject {
    /// The system of the program.
    fn system(&self) -> &System;

    /// The line of a span, from 1.
    fn line(&self, span: SpanId) -> usize;
}

/// Evidence for an answer, as a file that its checker reads without trusting who wrote it.
pub trait Evidence: Serialize + DeserializeOwned {
    /// What it is about: a program ([`Subject`]), or a channel machine.
    type Subject: ?Sized;

    /// The names of its formats: one, or one for each form that the type has.
    const FORMATS: &'static [&'static str];

    /// The version of its format that is written and read.
    const VERSION: u32;

    /// Checks that it shows what it says, with up to so many threads. The result does not
    /// depend on their number.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    fn check(&self, subject: &Self::Subject, threads: usize) -> Result<(), Rejected>;

    /// What it is, in a few words.
    fn what(&self) -> String;

    /// Everything that it claims.
    fn claim(&self, subject: &Self::Subject) -> Claims;

    /// Checks that it shows all that it claims, and that it claims something.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    fn certify(&self, subject: &Self::Subject, threads: usize) -> Result<Claims, Rejected> {
        self.check(subject, threads)?;
        let claim = self.claim(subject);
        match claim.answers.is_empty() {
            true => Err(Rejected::SettlesNothing("it names no property".to_owned())),
            false => Ok(claim),
        }
    }

    /// Reads it from JSON.
    ///
    /// # Errors
    /// If it has another format or version, or is not built as its format says.
    fn from_json(text: &str) -> Result<Self, Rejected> {
        Opening::read(text)?.check::<Self>()?;
        serde_json::from_str(text).map_err(|e| Rejected::Unreadable(e.to_string()))
    }

    /// Writes it as JSON.
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are always written")
    }
}

/// What a file of evidence is, by its first fields.
#[derive(Deserialize)]
struct Opening {
    format: String,
    version: u32,
    model: Option<String>,
}

impl Opening {
    fn read(text: &str) -> Result<Self, Rejected> {
        serde_json::from_str(text).map_err(|e| Rejected::Unreadable(e.to_string()))
    }

    /// Checks that it is that of a kind of evidence, in the version that is read.
    fn check<E: Evidence>(&self) -> Result<(), Rejected> {
        if !E::FORMATS.contains(&self.format.as_str()) || self.version != E::VERSION {
            let found = (self.format.clone(), self.version);
            return Err(Rejected::Format { found, expected: (E::FORMATS[0], E::VERSION) });
        }
        Ok(())
    }
}

/// Whether evidence is about a program in which every declared register keeps its value until the
/// end: that is so where joint states are compared.
pub fn keeps_registers(text: &str) -> bool {
    Opening::read(text).is_ok_and(|o| StateSets::FORMATS.contains(&o.format.as_str()))
}

/// The name of the memory model that evidence is about, where it names one.
pub fn model_of(text: &str) -> Option<String> {
    Opening::read(text).ok()?.model
}

/// What became of a piece of evidence.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Why it is rejected; nothing if it is accepted.
    pub reason: Option<Rejected>,
    /// What it is, in a few words.
    pub what: String,
    /// What it claims; nothing if it is of another version.
    pub claim: Option<Claims>,
}

/// Reads a text of one kind, whose opening is known, and checks it with so many threads.
type Check<S> = fn((Opening, &str), &S, usize) -> Result<Checked, Rejected>;

/// A kind of evidence, as the table has it.
#[derive(Debug)]
pub struct Kind<S: ?Sized + 'static> {
    /// The names of its formats.
    pub formats: &'static [&'static str],
    check: Check<S>,
}

impl<S: ?Sized + 'static> Kind<S> {
    /// The kind of a type.
    pub const fn of<E: Evidence<Subject = S>>() -> Self {
        Self { formats: E::FORMATS, check: read_and_check::<E> }
    }
}

fn read_and_check<E: Evidence>(
    (opening, text): (Opening, &str),
    subject: &E::Subject,
    threads: usize,
) -> Result<Checked, Rejected> {
    if let Err(reason) = opening.check::<E>() {
        let what = "evidence of another version".to_owned();
        return Ok(Checked { reason: Some(reason), what, claim: None });
    }
    let evidence: E =
        serde_json::from_str(text).map_err(|e| Rejected::Unreadable(e.to_string()))?;
    Ok(Checked {
        reason: evidence.certify(subject, threads).err(),
        what: evidence.what(),
        claim: Some(evidence.claim(subject)),
    })
}

/// All kinds of evidence about programs.
pub static KINDS: [Kind<dyn Subject>; 12] = [
    Kind::of::<Witness>(),
    Kind::of::<Certificate>(),
    Kind::of::<UpwardSets>(),
    Kind::of::<Buffers>(),
    Kind::of::<ClosedSet>(),
    Kind::of::<Lasso>(),
    Kind::of::<LiveSet>(),
    Kind::of::<Unblocked>(),
    Kind::of::<StrategyFile>(),
    Kind::of::<Cycle>(),
    Kind::of::<RobustSets>(),
    Kind::of::<StateSets>(),
];

/// Checks evidence of any kind about a program, with up to so many threads.
///
/// # Errors
/// If the text is no evidence.
pub fn certify(
    text: &str,
    subject: &(dyn Subject + 'static),
    threads: usize,
) -> Result<Checked, Rejected> {
    certify_as(&KINDS, text, subject, threads)
}

/// Checks evidence of one of some kinds, with up to so many threads.
///
/// # Errors
/// If the text is no evidence of these kinds.
pub fn certify_as<S: ?Sized>(
    kinds: &[Kind<S>],
    text: &str,
    subject: &S,
    threads: usize,
) -> Result<Checked, Rejected> {
    let opening = Opening::read(text)?;
    let kind = kinds.iter().find(|kind| kind.formats.contains(&opening.format.as_str()));
    let kind = kind.ok_or_else(|| {
        let format = &opening.format;
        Rejected::Unreadable(format!("there is no evidence with the format `{format}`"))
    })?;
    (kind.check)((opening, text), subject, threads)
}

/// Rejects evidence for what holds only within bounds, unless it excludes the question whether
/// a value leaves its bound.
pub(crate) fn within_bounds(
    system: &System,
    excludes: impl Fn(usize) -> bool,
) -> Result<(), Rejected> {
    match system.bounds_question() {
        Some(question) if !excludes(question.index()) => Err(Rejected::Bounds),
        _ => Ok(()),
    }
}

/// Questions of a system that no reachable state settles.
pub(crate) fn excluded(
    system: &System,
    questions: impl IntoIterator<Item = usize>,
) -> Vec<Settled> {
    let found = questions.into_iter().filter_map(|i| system.questions.get(i));
    found.map(|question| Settled::by_states(question, false)).collect()
}

/// A number with its thousands apart.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things: `1 step`, `2 steps`.
pub fn counted(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(super::grouped(n), text);
        }
    }

    #[test]
    fn formats_are_told_apart() {
        let mut names: Vec<&str> = super::KINDS.iter().flat_map(|k| k.formats).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
