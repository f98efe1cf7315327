//! Reports as JSON. The shapes are described in `docs/json.md`, and by the schemas in `schema`, which the tests
//! compare with every output.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use weir_check::{Checked, Claim};
use weir_engine::Stats;
use weir_front::escape::is_control;

use crate::finding::{Finding, Note, Proof, Report};
use crate::load::LoadError;
use crate::report::scene::Scene;

/// The schema of reports. Fields are added without a new one.
pub const SCHEMA: &str = "weir-report-2";

/// A value as a line of JSON in which every control character is escaped.
///
/// # Errors
/// If the value has no form in JSON.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_control) {
        return Ok(text);
    }
    // Outside of strings JSON has none, and all of ours fit 16 bits.
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            true => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            false => out.push(c),
        }
    }
    Ok(out)
}

/// Everything that was found about one program.
#[derive(Debug, Serialize)]
pub struct ReportJson<'r> {
    /// [`SCHEMA`].
    schema: &'static str,
    /// The kind of question.
    command: &'static str,
    /// The program's name.
    program: &'r str,
    /// The file it came from.
    file: &'r str,
    /// Its text.
    text: &'r str,
    /// What answers about a program in its language leave open.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    caveats: &'r [String],
    /// The findings.
    findings: Vec<FindingJson<'r>>,
    /// What else a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<NoteJson<'r>>,
    /// The proof of findings that rest on no run, if one was made and checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofJson>,
}

#[derive(Debug, Serialize)]
struct FindingJson<'r> {
    claim: &'r Claim,
    kind: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    says: &'r str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vacuity: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<StatsReport>,
}

/// What a finding rests on.
#[derive(Debug, Serialize)]
struct EvidenceJson {
    kind: &'static str,
    what: String,
    /// The file of a run, a lasso or a strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Box<RawValue>>,
    /// A run, state by state.
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<Scene>,
}

#[derive(Debug, Serialize)]
struct NoteJson<'r> {
    text: &'r str,
    /// Whether something was not asked.
    open: bool,
}

/// A proof that its checker accepts.
#[derive(Clone, Debug, Serialize)]
pub struct ProofJson {
    /// What it is, in a few words.
    pub what: String,
    /// The questions that it settles.
    pub settles: Vec<String>,
    /// How large its file is.
    pub bytes: usize,
}

impl From<&Proof> for ProofJson {
    fn from(proof: &Proof) -> Self {
        let (what, settles) = (proof.what.clone(), proof.settles.clone());
        Self { what, settles, bytes: proof.text.len() }
    }
}

/// Files of evidence that are larger are not a part of reports.
const MOST_FILE: usize = 8 << 20;

impl<'r> ReportJson<'r> {
    /// A report, with what is known about its proof and about the workers that searched.
    pub fn new(
        report: &'r Report,
        proof: Option<ProofJson>,
        workers: Option<&ClusterReport>,
    ) -> Self {
        let finding = |finding: &'r Finding| FindingJson {
            claim: &finding.claim,
            kind: finding.kind,
            line: finding.line,
            says: &finding.says,
            verdict: finding.verdict.name(),
            outcome: finding.outcome.as_deref(),
            vacuity: finding.vacuity.as_deref(),
            reason: finding.reason.as_deref(),
            evidence: finding.evidence().map(|evidence| EvidenceJson {
                kind: evidence.kind,
                what: evidence.what,
                file: finding
                    .file()
                    .filter(|file| file.len() <= MOST_FILE)
                    .and_then(|file| RawValue::from_string(file.trim_end().to_owned()).ok()),
                scene: finding.scene(),
            }),
            details: finding.details(),
            statistics: finding
                .statistics
                .as_deref()
                .map(|stats| StatsReport { cluster: workers.cloned(), ..StatsReport::new(stats) }),
        };
        let note = |Note { text, is_open }: &'r Note| NoteJson { text, open: *is_open };
        Self {
            schema: SCHEMA,
            command: report.question,
            program: &report.program,
            file: &report.file,
            text: &report.text,
            caveats: &report.caveats,
            findings: report.findings.iter().map(finding).collect(),
            notes: report.notes.iter().map(note).collect(),
            proof,
        }
    }
}

/// What became of a file of evidence.
#[derive(Debug, Serialize)]
pub struct CertifyJson<'c> {
    schema: &'static str,
    /// Whether the evidence is valid and claims what is expected.
    accepted: bool,
    /// What was checked, if that is a part only.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<&'c str>,
    /// Why it is not accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'c str>,
    /// What it claims.
    findings: Vec<ClaimedJson<'c>>,
}

#[derive(Debug, Serialize)]
struct ClaimedJson<'c> {
    claim: Claim,
    verdict: &'c str,
}

impl<'c> CertifyJson<'c> {
    /// What a checker says, in a part of the evidence only if `part` says which.
    pub fn new(checked: &'c Checked, part: Option<&'c str>, reason: Option<&'c str>) -> Self {
        let claims = checked.claim.as_ref().into_iter().flat_map(|claims| claims.each());
        Self {
            schema: "weir-certify-2",
            accepted: part.is_none() && reason.is_none(),
            checked: part,
            reason,
            findings: claims.map(|(claim, verdict)| ClaimedJson { claim, verdict }).collect(),
        }
    }
}

/// What a search did.
#[derive(Debug, Serialize)]
pub struct StatsReport {
    /// The engine.
    pub engine: &'static str,
    /// Whether every configuration was seen.
    pub exact: bool,
    /// Configurations stored.
    pub configurations: usize,
    /// Steps taken.
    pub steps: usize,
    /// The longest shortest run.
    pub depth: usize,
    /// The bound on buffers, if the engine has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// The level of folding, if the engine folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
    /// Bytes of the store.
    pub bytes: usize,
    /// The most bytes that the process has had, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<usize>,
    /// How long it took.
    pub seconds: f64,
    /// What the workers did, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterReport>,
}

/// What the workers of a search did, which are threads of one process or of several.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterReport {
    /// The number of processes.
    pub processes: usize,
    /// The number of rounds of messages.
    pub rounds: u64,
    /// The workers, in the order of their numbers.
    pub workers: Vec<WorkerReport>,
}

/// What a worker did.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerReport {
    /// The process that it belongs to.
    pub process: usize,
    /// Configurations that it keeps.
    pub stored: u64,
    /// Configurations that it expanded.
    pub expanded: u64,
    /// Steps that it took.
    pub steps: u64,
    /// Bytes that its configurations take up.
    pub bytes: u64,
    /// Bytes that it sent to other workers.
    pub sent: u64,
    /// Seconds that it waited for others.
    pub waited: f64,
}

impl StatsReport {
    /// For the report.
    pub fn new(stats: &Stats) -> Self {
        Self {
            engine: stats.engine,
            exact: stats.is_exact(),
            configurations: stats.stored,
            steps: stats.steps,
            depth: stats.depth,
            bound: stats.bound,
            level: stats.level,
            bytes: stats.bytes,
            peak: super::peak_memory(),
            seconds: stats.elapsed.as_secs_f64(),
            cluster: None,
        }
    }
}

/// One thing that is wrong with the input.
#[derive(Debug, Serialize)]
pub struct ErrorReport {
    error: ErrorParts,
}

#[derive(Debug, Serialize)]
struct ErrorParts {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl ErrorReport {
    /// An error that is nowhere in a file.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { error: ErrorParts { file: None, line: None, column: None, message, help: None } }
    }

    /// About a file.
    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        self.error.file = Some(name.to_owned());
        self
    }

    /// Everything that is wrong with a file.
    pub fn of_load(error: &LoadError) -> Vec<Self> {
        match error {
            LoadError::Unreadable { name, reason } => {
                vec![Self::new(format!("cannot read `{name}`: {reason}")).file(name)]
            }
            LoadError::Stopped { name, reason, .. } | LoadError::Bound { name, reason } => {
                vec![Self::new(reason.clone()).file(name)]
            }
            LoadError::Wrong { name, text, errors } => errors
                .iter()
                .map(|e| {
                    let (line, column) = e.position(text);
                    let mut report = Self::new(e.message.clone()).file(name);
                    report.error.line = Some(line);
                    report.error.column = Some(column);
                    report.error.help = e.help.as_deref().map(str::to_owned);
                    report
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same() {
        let text = "a\u{9b}\x1b\u{202e}\u{7f}é";
        let written = line(&text).unwrap();
        assert!(!written.contains(is_control), "{written:?}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
