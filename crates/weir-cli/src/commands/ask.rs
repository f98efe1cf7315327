//! Asks a question about a program and shows the report: what all commands that answer questions have in common.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use weir::finding::{Listener, NoProof, Question};
use weir::report::json::{ClusterReport, ProofJson, ReportJson};
use weir::{Error, Event, Finding, LoadError, Proof, Report, Verdict, Verifier};

use super::batch::rows;
use super::evidence::EvidenceFiles;
use super::page::Html;
use super::{Status, complain, internal, note, print, print_json, reject};
use crate::cli::batch::ReportFormat;
use crate::cli::options::EvidenceArgs;
use crate::findings::Findings;
use crate::limits;
use crate::output::{json, print_errors_as_rows};
use crate::progress::Progress;
use crate::report::{self, Printed};

/// Makes the verifier of a file.
pub type MakeVerifier<'m> = dyn Fn(&str) -> Result<Verifier, LoadError> + 'm;

/// Answers a question.
pub type Answer<'a> = dyn Fn(Listener<'_>) -> Result<Report, Error> + 'a;

/// How the reports of a command are shown.
pub struct Asking<'a> {
    pub format: ReportFormat,
    pub printed: Printed,
    pub files: Option<EvidenceFiles<'a>>,
    pub html: Html<'a>,
    /// Whether a property that is violated counts in the status.
    pub is_judging: bool,
    /// The bound on guesses that a table of models names.
    pub guesses: Option<usize>,
    pub status: Status,
}

impl<'a> Asking<'a> {
    pub fn new(command: &'static str, format: ReportFormat, html: &'a Option<PathBuf>) -> Self {
        Self {
            format,
            printed: Printed::default(),
            files: None,
            html: Html::new(command, html),
            is_judging: true,
            guesses: None,
            status: Status::Fine,
        }
    }

    /// The same, with files for evidence.
    pub fn with_evidence(self, args: &'a EvidenceArgs) -> Self {
        let printed = Printed { full: args.full, ..self.printed };
        Self { files: Some(EvidenceFiles::new(args)), printed, ..self }
    }

    /// Asks a question about each file.
    pub fn ask_each(
        &mut self,
        question: &dyn Question,
        files: &[String],
        verifier: &MakeVerifier<'_>,
    ) {
        for file in files {
            match verifier(file) {
                Ok(verifier) => drop(self.ask(question, &verifier)),
                Err(error) => self.status = self.status.and(complain(&error)),
            }
        }
    }

    /// Asks a question about each file under several models, and shows one table of all.
    pub fn compare(
        &mut self,
        question: &dyn Question,
        files: &[String],
        verifier: &MakeVerifier<'_>,
    ) {
        let mut reports: Vec<Report> = Vec::new();
        for file in files {
            let (is_human, known, guesses) =
                (self.format == ReportFormat::Human, reports.clone(), self.guesses);
            let findings = Findings::begin(
                self.status,
                move |report, _| match is_human {
                    true => {
                        let reports: Vec<Report> = known.iter().chain(report).cloned().collect();
                        (!reports.is_empty()).then(|| report::table(guesses, &reports))
                    }
                    false => report.map(line),
                },
                |_| None,
            );
            // Reading may take long, too.
            let verifier = match verifier(file) {
                Ok(verifier) => verifier,
                Err(error) => {
                    drop(findings);
                    self.status = self.status.and(complain(&error));
                    continue;
                }
            };
            let answer = |tell: Listener<'_>| verifier.ask(question, tell);
            let report = match heard(&answer, &findings, &|_, _| {}) {
                Ok(report) => report,
                Err(error) => {
                    drop(findings);
                    self.status = self.status.and(reject(verifier.name_of(), &error));
                    continue;
                }
            };
            let proof = self.proof(&report).unwrap_or_else(|status| {
                self.status = self.status.and(status);
                None
            });
            let _ = findings.end();
            self.status = self.status.and(match status_of(&report) {
                Status::Violated if !self.is_judging => Status::Fine,
                status => status,
            });
            if !is_human {
                print_json(&ReportJson::new(&report, proof.as_ref().map(ProofJson::from), None));
            }
            self.show(&report, proof.as_ref(), None);
            reports.push(report);
        }
        if self.format == ReportFormat::Human && !reports.is_empty() {
            print(&report::table(self.guesses, &reports));
        }
    }

    /// Asks a question about a program. Without a report the status says why there is none.
    pub fn ask(&mut self, question: &dyn Question, verifier: &Verifier) -> Option<Report> {
        let model = verifier.models().first().map(ToString::to_string).unwrap_or_default();
        self.answer(verifier.name_of(), &model, &|tell| verifier.ask(question, tell))
    }

    /// Runs the function that answers, and shows the report.
    pub fn answer(&mut self, name: &str, model: &str, answer: &Answer<'_>) -> Option<Report> {
        let (format, printed) = (self.format, self.printed);
        if format == ReportFormat::Jsonl {
            print_errors_as_rows(name, model);
        }
        let findings = Findings::begin(
            self.status,
            move |report, found| {
                let report = report?;
                Some(match format {
                    ReportFormat::Human => report::text(report, printed, &BTreeSet::new()),
                    // Those that are violated were printed when they came.
                    ReportFormat::Jsonl => row_lines(report, &|i, finding| {
                        !(found.contains(&i) && finding.is_violated())
                    }),
                    _ => line(report),
                })
            },
            move |finding| {
                (format == ReportFormat::Human)
                    .then(|| report::early(finding, printed.full))
                    .flatten()
            },
        );
        let early = Mutex::new(BTreeSet::new());
        let report = heard(answer, &findings, &|number, report| {
            // Violations come first, when they are there.
            if format == ReportFormat::Jsonl {
                early.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
                print(&row_lines(report, &|i, _| i == number));
            }
        });
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                drop(findings);
                self.status = self.status.and(reject(name, &error));
                return None;
            }
        };
        self.status = self.status.and(status_of(&report));
        let proof = match self.proof(&report) {
            Ok(proof) => proof,
            Err(status) => {
                self.status = self.status.and(status);
                None
            }
        };
        let shown = findings.end();
        let early = early.into_inner().unwrap_or_else(PoisonError::into_inner);
        match format {
            ReportFormat::Human => print(&report::text(&report, printed, &shown)),
            ReportFormat::Jsonl => {
                print(&row_lines(&report, &|i, _| !early.contains(&i)));
            }
            _ => print_json(&ReportJson::new(&report, proof.as_ref().map(ProofJson::from), None)),
        }
        self.show(&report, proof.as_ref(), None);
        Some(report)
    }

    /// Adds a report to the page, and writes the files for which there is evidence.
    pub fn show(
        &mut self,
        report: &Report,
        proof: Option<&Proof>,
        workers: Option<&ClusterReport>,
    ) {
        let added = self
            .html
            .add(&report.file, || ReportJson::new(report, proof.map(ProofJson::from), workers));
        self.status = self.status.and(added);
        if let Some(files) = &mut self.files {
            self.status = self.status.and(files.write(report, proof));
        }
    }

    /// The proof of findings that rest on one, if it is to be written or checked.
    ///
    /// # Errors
    /// If its checker rejects it, or it cannot be made: unknown then, and a note says why.
    pub fn proof(&mut self, report: &Report) -> Result<Option<Proof>, Status> {
        let Some(files) = self.files.as_mut().filter(|files| files.need_proof()) else {
            return Ok(None);
        };
        match report.proof(&limits::budget()) {
            Ok(proof) => Ok(proof),
            Err(NoProof::Rejected(error)) => Err(internal(&error)),
            Err(NoProof::Unmade(reason)) => {
                note(&format!("the proof was not made: {reason}"));
                Err(Status::Unknown)
            }
            Err(NoProof::TooLarge(reason)) => {
                if let Some(path) = files.certificate.take() {
                    note(&format!("{reason}, so `{}` was not written", path.display()));
                }
                Ok(None)
            }
            Err(NoProof::None) if files.verify => {
                note("what rests on no run was not verified: the engine has no proof for it");
                Err(Status::Unknown)
            }
            Err(NoProof::None) => Ok(None),
        }
    }

    /// Says which files were not written, and writes the page.
    pub fn end(self) -> Status {
        if self.status != Status::Wrong
            && let Some(files) = &self.files
        {
            files.note_unwritten();
        }
        self.status.and(self.html.write())
    }
}

/// Asks a question. Findings are kept as they come, and `violated` hears of those that are violated, with their numbers in
/// a report of what is known.
pub fn heard(
    answer: &Answer<'_>,
    findings: &Findings,
    violated: &(dyn Fn(usize, &Report) + Sync),
) -> Result<Report, Error> {
    let progress = Mutex::new(Progress::default());
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = Mutex::new(None);
    let found = answer(&|event| match event {
        Event::Asked(report) => {
            findings.asked(report);
            *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.clone());
        }
        Event::Found(number, finding) => {
            if findings.add(number, finding) && finding.is_violated() {
                let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(report) = asked.as_mut() {
                    report.findings[number] = finding.clone();
                    violated(number, report);
                }
            }
        }
        Event::Searching(stats) => progress().update(stats),
        Event::Working(text) => progress().say(&text),
    });
    progress().clear();
    found
}

/// The status of a report.
pub fn status_of(report: &Report) -> Status {
    let findings = report.findings.iter().map(|finding| finding.verdict.into());
    let notes = report.notes.iter().filter(|note| note.is_open).map(|_| Status::Unknown);
    findings.chain(notes).fold(Status::Fine, Status::and)
}

/// A report as a line of JSON.
fn line(report: &Report) -> String {
    let line = json(&ReportJson::new(report, None, None));
    line.map_or_else(|_| String::new(), |line| line + "\n")
}

/// The findings of a report as rows: those that pass.
fn row_lines(report: &Report, passes: &dyn Fn(usize, &Finding) -> bool) -> String {
    let mut some = report.clone();
    let mut number = 0..;
    some.findings.retain(|finding| number.next().is_some_and(|i| passes(i, finding)));
    // A single finding comes without the notes of its report.
    if some.findings.len() < report.findings.len() && some.findings.iter().any(Finding::is_violated)
    {
        some.notes.clear();
    }
    if some.findings.is_empty() && some.notes.iter().all(|note| !note.is_open) {
        return String::new();
    }
    let model = report.findings.first().map_or("", |finding| finding.claim.model.as_str());
    let done = (line(&some), status_of(&some));
    rows::lines(&report.file, model, done, &|_| true)
}

impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Fine,
            Verdict::Violated => Self::Violated,
            Verdict::Unknown => Self::Unknown,
        }
    }
}
