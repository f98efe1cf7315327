//! Findings: what every question gives.
//!
//! A [`Finding`] is a claim with its verdict, and what shows it. A [`Report`] has the findings about one
//! program. Every command, page and call of the library shows reports, and nothing else: the kinds of
//! questions differ only in what a finding rests on, its [`Basis`].

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use weir_check::{Claim, Evidence as File};
use weir_engine::Stats;
use weir_model::answer::{Run as ModelRun, Verdict};
use weir_model::limits::Budget;

use crate::certify::{Unaccepted, accepted};
use crate::error::Error;
use crate::load::Loaded;
use crate::report::run::Layout;
use crate::report::scene::Scene;
use crate::trace::Run;

/// Everything that was found about one program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The kind of question that was asked, such as `check`.
    pub question: &'static str,
    /// The name of the program.
    pub program: String,
    /// The file that it came from.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Under which conditions it was asked, such as `under TSO, 2 clients`.
    pub about: String,
    /// What answers about a program in its language leave open.
    pub caveats: Vec<String>,
    /// The findings, in the order of the questions.
    pub findings: Vec<Finding>,
    /// What else a reader should know.
    pub notes: Vec<Note>,
}

/// Something that a reader should know besides the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What, in words.
    pub text: String,
    /// Whether something that the program asks was not asked.
    pub is_open: bool,
}

/// A claim with its verdict, and what shows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Everything that the verdict is about.
    pub claim: Claim,
    /// What kind of question it is, such as `never`, `live` or `robust`.
    pub kind: &'static str,
    /// The line of the question, from 1; none if the text does not have it.
    pub line: Option<usize>,
    /// The range of bytes of the question in the text.
    pub span: Option<Range<usize>>,
    /// What the question says; empty if the program does not spell it out.
    pub says: String,
    /// What became of it.
    pub verdict: Verdict,
    /// The verdict in the words of the question, if it has others: `allowed`, `not robust`, `the process player wins`.
    pub outcome: Option<String>,
    /// Whether neither verdict is a fault, as for the question whether a final state is allowed.
    pub is_neutral: bool,
    /// Why the verdict says little, if it is true only because nothing happens.
    pub vacuity: Option<String>,
    /// Why it is unknown, if it is; or what a run shows, if that needs words.
    pub reason: Option<String>,
    /// What the search did; findings of one search share it.
    pub statistics: Option<Arc<Stats>>,
    basis: Arc<dyn Basis>,
}

/// What a finding rests on, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// What kind of evidence it is, such as `run`, `lasso` or `inductive set`.
    pub kind: &'static str,
    /// What it is: `an inductive set of 14 configurations`.
    pub what: String,
}

impl Evidence {
    /// Evidence of a kind.
    pub fn new(kind: &'static str, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }
}

/// A run that shows something, with the program that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'b> {
    /// The program.
    pub loaded: &'b Loaded,
    /// The run.
    pub run: &'b ModelRun,
    /// For an infinite run, the index of the step that begins the cycle.
    pub cycle: Option<usize>,
    /// What it shows, for a title: `mutex is violated`.
    pub shows: &'b str,
}

/// A titled text below the table of findings. Blocks with the same lines are shown once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whose block it is; several names may share one.
    pub name: String,
    /// What it shows, behind the name.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// As it is.
    Plain(String),
    /// Something that stands out.
    Strong(String),
    /// Something by the way.
    Quiet(String),
}

impl Block {
    /// A block of plain lines.
    pub fn plain(name: &str, title: impl Into<String>, lines: Vec<String>) -> Self {
        let lines = lines.into_iter().map(Line::Plain).collect();
        Self { name: name.to_owned(), title: title.into(), lines }
    }
}

/// A file of evidence that its checker accepts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proof {
    /// What it is, in a few words.
    pub what: String,
    /// The names of the questions that it settles.
    pub settles: Vec<String>,
    /// Its text, for [`Verifier::certify`](crate::Verifier::certify) and `weir certify`.
    pub text: String,
}

impl Proof {
    /// Evidence as its file, if its checker accepts it. This is the way to all files of evidence.
    ///
    /// # Errors
    /// If its checker rejects it.
    pub fn accepted<E: File>(
        evidence: E,
        subject: &E::Subject,
        threads: usize,
    ) -> Result<Self, Unaccepted> {
        let evidence = accepted(evidence, subject, threads)?;
        let claims = evidence.claim(subject);
        Ok(Self {
            what: evidence.what(),
            settles: claims.answers.into_iter().map(|answer| answer.question).collect(),
            text: evidence.to_json() + "\n",
        })
    }
}

/// Why there is no proof although something is proved.
#[derive(Debug)]
pub enum NoProof {
    /// Something rests on no run, and no engine writes what it rests on.
    None,
    /// A limit was reached before it was made; in words.
    Unmade(String),
    /// It is too large to be checked, so that it is not given; in words.
    TooLarge(String),
    /// The proof is rejected by its checker.
    Rejected(Unaccepted),
}

impl From<Unaccepted> for NoProof {
    fn from(error: Unaccepted) -> Self {
        Self::Rejected(error)
    }
}

/// What findings of one kind of question rest on. A kind of question has one type of basis.
pub trait Basis: Any + fmt::Debug + Send + Sync {
    /// What it is, in words; nothing for what is unknown.
    fn evidence(&self) -> Option<Evidence>;

    /// The run that is drawn and told, if there is one.
    fn run(&self) -> Option<Shown<'_>> {
        None
    }

    /// The file of the evidence that settles this finding alone: a run, a lasso, a strategy. Its
    /// checker has accepted it.
    fn file(&self) -> Option<String> {
        None
    }

    /// What else to say below the finding, line by line.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What stands beside the name of the finding, if it is not what the question says.
    fn column(&self) -> Option<String> {
        None
    }

    /// Texts below the table of findings.
    fn blocks(&self, _layout: Layout) -> Vec<Block> {
        Vec::new()
    }

    /// What only this kind of question has, for programs to read.
    fn details(&self) -> Option<serde_json::Value> {
        None
    }

    /// The proof of this finding and of others in the report that rest on the same, if it needs one.
    ///
    /// # Errors
    /// If it cannot be made, or its checker rejects it.
    fn proof(&self, _report: &Report, _budget: &Budget) -> Result<Option<Proof>, NoProof> {
        Ok(None)
    }

    /// In a line: what the search did, if its statistics do not say it.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// The basis of a finding that is unknown.
#[derive(Debug)]
pub struct Nothing;

impl Basis for Nothing {
    fn evidence(&self) -> Option<Evidence> {
        None
    }
}

impl Finding {
    /// A finding about which nothing is known yet.
    pub fn open(claim: Claim, kind: &'static str) -> Self {
        Self {
            claim,
            kind,
            line: None,
            span: None,
            says: String::new(),
            verdict: Verdict::Unknown,
            outcome: None,
            is_neutral: false,
            vacuity: None,
            reason: None,
            statistics: None,
            basis: Arc::new(Nothing),
        }
    }

    /// The same, with what became of it and what it rests on.
    #[must_use]
    pub fn settled(self, verdict: Verdict, basis: Arc<dyn Basis>) -> Self {
        Self { verdict, basis, ..self }
    }

    /// The same, unknown for a reason.
    #[must_use]
    pub fn unknown(self, reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Unknown,
            outcome: None,
            reason: Some(reason.into()),
            basis: Arc::new(Nothing),
            ..self
        }
    }

    /// What the question is called.
    pub fn name(&self) -> &str {
        &self.claim.question
    }

    /// The verdict in a word or a few.
    pub fn word(&self) -> &str {
        self.outcome.as_deref().unwrap_or(self.verdict.name())
    }

    /// Whether something is wrong with the program.
    pub fn is_violated(&self) -> bool {
        self.verdict == Verdict::Violated && !self.is_neutral
    }

    /// What it rests on, in words; nothing if it is unknown.
    pub fn evidence(&self) -> Option<Evidence> {
        self.basis.evidence()
    }

    /// The run that shows it, as data: how a property is violated, or how what is asked for happens.
    pub fn run(&self) -> Option<Run> {
        let shown = self.basis.run()?;
        let lines = self.blocks(Layout::default()).into_iter().next().map(|block| block.lines);
        let text = |line: Line| match line {
            Line::Plain(text) | Line::Strong(text) | Line::Quiet(text) => text,
        };
        let lines: Vec<String> = lines.into_iter().flatten().map(text).collect();
        Some(Run::new(shown.loaded, shown.run, shown.cycle, &lines))
    }

    /// The run that shows it, state by state.
    pub fn scene(&self) -> Option<Scene> {
        self.shown().map(|shown| Scene::new(shown.loaded, shown.run, shown.cycle))
    }

    /// The run that shows it, with the program that it belongs to.
    pub fn shown(&self) -> Option<Shown<'_>> {
        self.basis.run()
    }

    /// The file of the run, lasso or strategy that shows it, for
    /// [`Verifier::certify`](crate::Verifier::certify) and `weir certify`.
    pub fn file(&self) -> Option<String> {
        self.basis.file()
    }

    /// What else to say about it, line by line.
    pub fn remarks(&self) -> Vec<String> {
        self.basis.remarks()
    }

    /// What stands beside its name.
    pub fn column(&self) -> String {
        self.basis.column().unwrap_or_else(|| self.says.clone())
    }

    /// Texts that show it.
    pub fn blocks(&self, layout: Layout) -> Vec<Block> {
        self.basis.blocks(layout)
    }

    /// What only its kind of question has, for programs to read.
    pub fn details(&self) -> Option<serde_json::Value> {
        self.basis.details()
    }

    /// What it rests on, as its kind of question has it.
    pub fn basis<B: Basis>(&self) -> Option<&B> {
        let basis: &dyn Any = &*self.basis;
        basis.downcast_ref()
    }

    /// In a line: what the search did.
    pub fn summary(&self) -> Option<String> {
        let stats = || self.statistics.as_deref().map(crate::report::statistics::summary);
        self.basis.summary().or_else(stats)
    }
}

impl Report {
    /// A report about a program without findings.
    pub fn new(question: &'static str, loaded: &Loaded, about: impl Into<String>) -> Self {
        Self {
            question,
            program: loaded.system.program.name.clone(),
            file: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            about: about.into(),
            caveats: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether every property holds.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.verdict == Verdict::Holds)
    }

    /// The first finding about a question of this name.
    pub fn finding(&self, name: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.name() == name)
    }

    /// The proof of the findings that rest on no run; of several the first.
    ///
    /// # Errors
    /// If it cannot be made, or its checker rejects it.
    pub fn proof(&self, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let mut is_without = false;
        for finding in self.findings.iter().filter(|f| f.verdict != Verdict::Unknown) {
            match finding.basis.proof(self, budget)? {
                Some(proof) => return Ok(Some(proof)),
                None => is_without |= finding.basis.file().is_none(),
            }
        }
        match is_without {
            true => Err(NoProof::None),
            false => Ok(None),
        }
    }
}

/// What a question tells while it is answered.
#[derive(Debug)]
pub enum Event<'e> {
    /// What is asked: a report in which everything is unknown.
    Asked(&'e Report),
    /// A finding is there, at its place in the report, while others are open. It may come more
    /// than once.
    Found(usize, &'e Finding),
    /// How far a search has got.
    Searching(&'e Stats),
    /// How far it has got, in words.
    Working(String),
}

/// Receives events while a question is answered.
pub type Listener<'l> = &'l (dyn Fn(Event<'_>) + Sync);

/// A question about one program. A kind of question is one type that implements this, and a row of
/// [`QUESTIONS`](crate::question::QUESTIONS).
pub trait Question {
    /// Answers it, and tells what happens meanwhile.
    ///
    /// # Errors
    /// If it cannot be asked of this program.
    fn ask(&self, verifier: &crate::Verifier, tell: Listener<'_>) -> Result<Report, Error>;
}
