//! What is known before a search for fences ends: how the program itself is broken, and sets that
//! repair it.

use serde::Serialize;
use weir::fences::Broken;
use weir::report::json::VERSION;
use weir::{Loaded, MemoryModel};
use weir_model::answer::{Answer, Evidence};
use weir_model::limits::Stop;
use weir_model::program::FenceKind;

use super::human::{run_lines, shown};
use super::json::RunReport;
use crate::cli::fences::Fences;
use crate::cli::options::Format;
use crate::commands::Status;
use crate::findings::Findings;
use crate::output::{json, paint};
use crate::terminal::STRONG;

/// Something that is known.
#[derive(Clone)]
pub enum Early {
    /// The program as it is violates a property, or has a final state that is looked for: in words,
    /// with the lines of the run, and as JSON.
    Broken { shows: String, lines: String, report: serde_json::Value },
    /// A set of fences that repairs it, each with its line.
    Set(Vec<(FenceKind, usize)>),
}

impl Early {
    /// As a person reads it.
    pub fn text(&self) -> String {
        match self {
            Self::Broken { shows, lines, .. } => format!("\n  As it is, {shows}:\n\n{lines}"),
            Self::Set(fences) => {
                let fence =
                    |(kind, line): &(FenceKind, usize)| format!("a {} at line {line}", kind.name());
                let fences: Vec<String> = fences.iter().map(fence).collect();
                format!("\n  A set that repairs it: {}\n", fences.join(", "))
            }
        }
    }
}

/// A run of the program as it is.
pub fn broken(loaded: &Loaded, answer: &Answer, args: &Fences) -> Option<Early> {
    let Evidence::Run(run) = &answer.evidence else { return None };
    let broken = Broken { question: Some(answer.property), run: run.clone(), cycle: vec![] };
    let report = serde_json::to_value(RunReport::new(loaded, &broken)).unwrap_or_default();
    let lines = run_lines(loaded, &broken, args.full);
    Some(Early::Broken { shows: shown(loaded, &broken), lines, report })
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    file: &'a str,
    text: &'a str,
    model: String,
    verdict: &'static str,
    headline: &'a str,
    reason: String,
    complete: bool,
    /// Runs of the program as it is.
    broken: Vec<serde_json::Value>,
    /// Sets that repair it.
    found: Vec<Vec<FoundFence>>,
}

#[derive(Serialize)]
struct FoundFence {
    kind: &'static str,
    line: usize,
}

/// Keeps what is known, for a limit that ends the command.
pub fn findings(name: &str, text: &str, model: MemoryModel, args: &Fences) -> Findings<Early> {
    let (name, text, is_json) = (name.to_owned(), text.to_owned(), args.format == Format::Json);
    let last_words = move |found: &[(usize, Early)], stop: Stop| {
        let all = || found.iter().map(|(_, early)| early);
        let headline = "it is not known which fences repair this";
        let out = if is_json {
            let report = Report {
                version: VERSION,
                file: &name,
                text: &text,
                model: model.to_string(),
                verdict: "unknown",
                headline,
                reason: stop.to_string(),
                complete: false,
                broken: all()
                    .filter_map(|early| match early {
                        Early::Broken { report, .. } => Some(report.clone()),
                        Early::Set(_) => None,
                    })
                    .collect(),
                found: all()
                    .filter_map(|early| match early {
                        Early::Set(fences) => Some(fences),
                        Early::Broken { .. } => None,
                    })
                    .map(|fences| {
                        let fence = |&(kind, line): &(FenceKind, usize)| FoundFence {
                            kind: kind.name(),
                            line,
                        };
                        fences.iter().map(fence).collect()
                    })
                    .collect(),
            };
            json(&report).map_or_else(|_| String::new(), |line| line + "\n")
        } else {
            let title = format!("{} under {model}\n\n  {headline}\n", paint(STRONG, &name));
            all().fold(title, |out, early| out + &early.text())
        };
        (out, Status::Unknown)
    };
    Findings::begin(last_words, |_, _| None)
}
