//! Claims: everything that an answer is about.
//!
//! Evidence for one question may be true of a program with one client and false with two, or true
//! only of runs in which every write reaches memory. So a file of evidence names its whole claim,
//! its checker checks that claim, and `weir certify` prints and compares all of it.

use std::fmt;

use serde::Serialize;
use weir_model::question::Question;

use crate::header::Header;

/// Everything that one answer is about. A finding has one, and so has every question that a file of
/// evidence settles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The name of the program or the channel machine, for the reader.
    pub program: String,
    /// What identifies it.
    pub fingerprint: String,
    /// The memory model, or how channels behave.
    pub model: String,
    /// The name of the question.
    pub question: String,
    /// How many clients the object has; nothing for processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<usize>,
    /// The runs or plays that count, if not all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<String>,
    /// The most reads that a process may have guessed at a time, if that is bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<usize>,
}

/// What a file of evidence claims: questions with their verdicts, all about the same program under
/// the same conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The name of the program or the channel machine, for the reader.
    pub program: String,
    /// What identifies it.
    pub fingerprint: String,
    /// The memory model, or how channels behave.
    pub model: String,
    /// The questions that are settled, each with its verdict.
    pub answers: Vec<Settled>,
    /// How many clients the object has; nothing for processes.
    pub clients: Option<usize>,
    /// The runs or plays that count, if not all do.
    pub fairness: Option<String>,
}

/// A question that is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its name.
    pub question: String,
    /// Its verdict: `holds` or `violated`; of a game, who wins.
    pub verdict: String,
}

impl Settled {
    /// A question with its verdict.
    pub fn new(question: impl Into<String>, verdict: impl Into<String>) -> Self {
        Self { question: question.into(), verdict: verdict.into() }
    }

    /// A question about states, with whether some reachable state settles it.
    pub(crate) fn by_states(question: &Question, is_reached: bool) -> Self {
        Self::new(question.name.clone(), question.verdict(is_reached).name())
    }

    /// A property that holds or is violated.
    pub(crate) fn holds(question: impl Into<String>, holds: bool) -> Self {
        Self::new(question, if holds { "holds" } else { "violated" })
    }
}

/// What a claim can be expected to say, by name.
pub const KEYS: [&str; 7] =
    ["program", "fingerprint", "model", "property", "verdict", "clients", "fairness"];

impl Claims {
    /// A claim about a program that a file of evidence names.
    pub fn new(header: &Header, model: impl Into<String>, answers: Vec<Settled>) -> Self {
        Self {
            program: header.program.clone(),
            fingerprint: header.fingerprint.clone(),
            model: model.into(),
            answers,
            clients: None,
            fairness: None,
        }
    }

    /// Each claim by itself, with its verdict.
    pub fn each(&self) -> impl Iterator<Item = (Claim, &str)> {
        self.answers.iter().map(|answer| {
            let claim = Claim {
                program: self.program.clone(),
                fingerprint: self.fingerprint.clone(),
                model: self.model.clone(),
                question: answer.question.clone(),
                clients: self.clients,
                fairness: self.fairness.clone(),
                guesses: None,
            };
            (claim, answer.verdict.as_str())
        })
    }

    /// What it says about one of [`KEYS`]. `property` and `verdict` may have several values.
    pub fn values(&self, key: &str) -> Vec<String> {
        let none = || "none".to_owned();
        match key {
            "program" => vec![self.program.clone()],
            "fingerprint" => vec![self.fingerprint.clone()],
            "model" => vec![self.model.clone()],
            "property" => self.answers.iter().map(|a| a.question.clone()).collect(),
            "verdict" => self.answers.iter().map(|a| a.verdict.clone()).collect(),
            "clients" => vec![self.clients.map_or_else(none, |n| n.to_string())],
            "fairness" => vec![self.fairness.clone().unwrap_or_else(none)],
            _ => vec![],
        }
    }

    /// Whether it says what is expected: `property` has to be among its questions, every question
    /// has to have the verdict, and the rest has to be equal.
    pub fn is_as_expected(&self, key: &str, value: &str) -> bool {
        let values = self.values(key);
        match key {
            "property" => values.iter().any(|v| v == value),
            _ => !values.is_empty() && values.iter().all(|v| v.eq_ignore_ascii_case(value)),
        }
    }
}

impl fmt::Display for Claims {
    /// ``` `a` holds, `b` is violated, under TSO, with 2 clients, if every write reaches memory```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Settled { question, verdict } in &self.answers {
            let is = if verdict == "holds" { "" } else { "is " };
            write!(f, "`{question}` {is}{verdict}, ")?;
        }
        write!(f, "under {}", self.model)?;
        if let Some(clients) = self.clients {
            write!(f, ", with {clients} client{}", if clients == 1 { "" } else { "s" })?;
        }
        match &self.fairness {
            Some(fairness) => write!(f, ", with {fairness}"),
            None => Ok(()),
        }
    }
}
