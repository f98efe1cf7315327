//! `weir robust`

use std::fmt::Write as _;

use weir::report::json::RobustReport;
use weir::report::run::{self as run_report, Layout};
use weir::report::table::{MOST_CELL, Table};
use weir::report::{counted, growing};
use weir::robust::{Kind, Proof, Robustness, States, Traces, check, is_decided};
use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;
use weir_front::columns::{shortened, spaces};

use super::evidence::EvidenceFiles;
use super::page::Html;
use super::stats::{details, summary};
use super::{
    Status, accepted_text, complain, fail, note, print, print_json, reject, write_json, write_whole,
};
use crate::cli::Robust;
use crate::cli::options::Format;
use crate::limits;
use crate::output::{HINTS, caveat, paint};
use crate::progress::Progress;
use crate::terminal::{self, QUIET, STRONG, style};

pub fn run(args: &Robust) -> Status {
    let models = args.models.or(&[MemoryModel::TSO]);
    if let Some(model) = models.iter().find(|m| !is_decided(**m)) {
        return fail(&format!("robustness is decided for TSO, PSO and NSW, not for {model}"));
    }
    let mut status = Status::Fine;
    let mut files = EvidenceFiles::new(&args.evidence);
    let mut html = Html::new("robust", &args.page.html);
    let mut rows = Vec::new();
    let is_single = args.programs.files.len() == 1 && models.len() == 1;
    for file in &args.programs.files {
        let loaded = match args.language.load(file, &models) {
            Ok(loaded) => loaded,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        let mut cells = Vec::new();
        for &model in &models {
            let certificate = files.need_proof();
            let options = SearchOptions { certificate, ..limits::search() };
            let mut progress = Progress::default();
            let found = check(&loaded, model, &options, &mut |s| progress.update(s));
            drop(progress);
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    status = status.and(reject(file, &error));
                    break;
                }
            };
            status = status.and(found.verdict().into());
            status = status.and(html.add(file, || RobustReport::new(&loaded, &found)));
            match args.format.of_one() {
                Format::Json => print_json(&RobustReport::new(&loaded, &found)),
                Format::Human if is_single => print(&human(&loaded, &found, args)),
                Format::Human => cells.push((found.kind(), reason(&found))),
            }
            status = status.and(write(&mut files, &loaded, &found, &options));
        }
        rows.push((loaded.source.name.clone(), cells));
    }
    if args.format.of_one() == Format::Human && !is_single && !rows.is_empty() {
        print(&table(&models, &rows));
    }
    if status != Status::Wrong {
        files.note_unwritten();
    }
    status.and(html.write())
}

/// Writes the files for which there is evidence.
fn write(
    files: &mut EvidenceFiles<'_>,
    loaded: &Loaded,
    found: &Robustness,
    options: &SearchOptions,
) -> Status {
    let mut status = match (&found.traces, &found.states) {
        (Traces::Different(shown), _) => {
            files.pictures.draw(loaded, &shown.0, None, "a run that SC does not have")
        }
        (_, States::Different(shown)) => {
            let what = "a state that SC does not have";
            files.pictures.draw(&shown.loaded, &shown.run, None, what)
        }
        _ => Status::Fine,
    };
    if let Some(path) = files.witness {
        // Of a program that is robust by its states, the cycle is no answer.
        let written = match (&found.traces, &found.states) {
            _ if found.kind() != Kind::NotRobust => None,
            (Traces::Different(shown), _) => Some(write_json(path, &shown.1)),
            (_, States::Different(shown)) => Some(write_json(path, &shown.file)),
            _ => None,
        };
        if let Some(written) = written {
            status = status.and(written);
            files.witness = None;
        }
    }
    if !files.need_proof() {
        return status;
    }
    let proof = match found.proof(loaded, &options.budget) {
        Ok(Some(Proof::Traces(proof))) => accepted_text(*proof, loaded),
        Ok(Some(Proof::States(proof, loaded))) => accepted_text(*proof, loaded),
        Ok(None) => return status,
        Err(reason) => {
            note(&format!("the proof was not made: {reason}"));
            return status.and(Status::Unknown);
        }
    };
    match (proof, files.certificate) {
        (Ok(text), Some(path)) => {
            files.certificate = None;
            status.and(write_whole(path, &text))
        }
        (Ok(_), None) => status,
        (Err(wrong), _) => status.and(wrong),
    }
}

/// The answer in a few words.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Shape => "robust by its shape",
        Kind::Traces => "robust",
        Kind::States => "same states as SC",
        Kind::NotRobust => "not robust",
        Kind::Unknown => "unknown",
    }
}

/// The verdict that gives an answer its color.
fn verdict(kind: Kind) -> Verdict {
    match kind {
        Kind::Shape | Kind::Traces | Kind::States => Verdict::Holds,
        Kind::NotRobust => Verdict::Violated,
        Kind::Unknown => Verdict::Unknown,
    }
}

/// Why something is unknown, and what could be done about it.
fn reason(found: &Robustness) -> Option<String> {
    found.reason().map(|reason| growing(reason, &found.stats, HINTS))
}

/// What is known, one fact after another.
fn facts(found: &Robustness) -> Vec<String> {
    let model = found.model;
    let traces = match &found.traces {
        Traces::Shape => "no operation can overtake another one".to_owned(),
        Traces::Same => "every run has the trace of an SC run".to_owned(),
        Traces::Different(_) => "traces: some run has a trace that no SC run has".to_owned(),
        Traces::Unknown(_) => {
            "traces: unknown whether every run has the trace of an SC run".to_owned()
        }
        Traces::Undecided => String::new(),
    };
    let states = match &found.states {
        States::Implied => String::new(),
        States::Same(_) => format!(
            "states: every joint control state and every final memory under {model} is \
             reachable under SC"
        ),
        States::Different(_) => {
            format!("states: some state under {model} is not reachable under SC")
        }
        States::Unknown(_) => {
            format!("states: unknown whether every state under {model} is reachable under SC")
        }
    };
    let reason = reason(found).unwrap_or_default();
    [traces, states, reason].into_iter().filter(|fact| !fact.is_empty()).collect()
}

fn human(loaded: &Loaded, found: &Robustness, args: &Robust) -> String {
    let kind = found.kind();
    let model = found.model;
    let mark = match verdict(kind) {
        Verdict::Holds => "✓",
        Verdict::Violated => "✗",
        Verdict::Unknown => "?",
    };
    let color = style(verdict(kind));
    let name = paint(STRONG, &loaded.source.name);
    let mut out = format!("{name} under {model}\n{}\n", caveat(&loaded.source, model));
    let _ = writeln!(out, "  {} {}", paint(color, mark), paint(color, word(kind)));
    for fact in facts(found) {
        let _ = writeln!(out, "    {fact}");
    }
    // The lines are indented.
    let layout = Layout {
        width: terminal::width() - 2,
        full: args.evidence.full,
        hints: HINTS,
        ..Layout::default()
    };
    let shown = match (&found.traces, &found.states) {
        (Traces::Different(shown), _) => {
            let (run, cycle) = &**shown;
            let title = format!(
                "a cycle of {} in the trace of a run of {} under {model}",
                counted(cycle.cycle.len(), "edge"),
                counted(run.steps.len(), "step"),
            );
            Some((title, run_report::cycle_lines(loaded, run, &cycle.cycle, layout)))
        }
        (_, States::Different(shown)) => {
            let run = &shown.run;
            let count = counted(run.steps.len(), "step");
            let form = run.form.name();
            let title =
                format!("a state that SC does not have, in {count} of {form} under {model}");
            Some((title, run_report::lines(&shown.loaded, run, None, layout)))
        }
        _ => None,
    };
    if let Some((title, lines)) = shown {
        let _ = writeln!(out, "\n{}\n", terminal::title(STRONG, &title));
        for line in lines {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    let _ = writeln!(out, "\n{}", paint(QUIET, &summary(&found.stats)));
    if args.stats {
        out += &details(&found.stats);
    }
    out
}

/// The answers for one file, one for each model, with what is unknown.
type Cells = Vec<(Kind, Option<String>)>;

/// One line for each file, one column for each model.
fn table(models: &[MemoryModel], rows: &[(String, Cells)]) -> String {
    let mut table = Table::default();
    let heads = models.iter().map(ToString::to_string);
    table.row(["program".to_owned()].into_iter().chain(heads));
    let mut notes: Vec<&str> = Vec::new();
    let mut colors = Vec::new();
    for (name, cells) in rows {
        let mut row = vec![shortened(name, MOST_CELL)];
        for (kind, reason) in cells {
            let Some(reason) = reason.as_deref() else {
                row.push(word(*kind).to_owned());
                continue;
            };
            let number = notes.iter().position(|n| *n == reason).unwrap_or_else(|| {
                notes.push(reason);
                notes.len() - 1
            });
            row.push(format!("{} [{}]", word(*kind), number + 1));
        }
        colors.push((row.clone(), cells));
        table.row(row);
    }
    let widths = table.widths();
    let mut out = format!("{}\n", paint(STRONG, &table.lines("  ")[0]));
    for (row, cells) in colors {
        let styles = cells.iter().map(|(kind, _)| style(verdict(*kind)));
        let styles = [anstyle::Style::new()].into_iter().chain(styles);
        let painted = row.iter().zip(styles).zip(&widths).map(|((text, color), width)| {
            paint(color, text) + &spaces(width.saturating_sub(text.chars().count()))
        });
        let _ = writeln!(out, "{}", painted.collect::<Vec<_>>().join("  ").trim_end());
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "{}", paint(QUIET, &format!("[{}] {note}", i + 1)));
    }
    out
}
