//! Reports for a person: the one renderer of findings as text.
//!
//! A report is a heading, a row for each finding with what has to be said about it, notes, blocks such as runs
//! with a title each, and what the searches did.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anstyle::Style;
use weir::finding::{Block, Line};
use weir::report::run::Layout;
use weir::report::statistics::{details, guessing};
use weir::report::table::{MOST_CELL, Table};
use weir::{Finding, Report, Verdict};
use weir_front::columns::{shortened, spaces};
use weir_front::compiled::CARGO;

use crate::output::{HINTS, paint};
use crate::terminal::{self, NEUTRAL, QUIET, STRONG, style};

/// At most and at least so many characters of a formula are printed beside its verdict.
const MAX_FORMULA: usize = 70;
const MIN_FORMULA: usize = 20;

/// What is printed besides findings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printed {
    /// Whether long runs are printed whole.
    pub full: bool,
    /// Whether everything that was counted is printed.
    pub stats: bool,
}

/// The mark and the color of a finding.
pub fn mark(finding: &Finding) -> (&'static str, Style) {
    match finding.verdict {
        Verdict::Unknown => ("?", style(Verdict::Unknown)),
        _ if finding.is_neutral => ("•", NEUTRAL),
        Verdict::Holds => ("✓", style(Verdict::Holds)),
        Verdict::Violated => ("✗", style(Verdict::Violated)),
    }
}

/// The first lines of a report: what it is about, and what answers leave open.
pub fn heading(report: &Report) -> String {
    let mut out = match CARGO.has_file(&report.file) {
        // The file has many programs.
        true => format!("{} of {} {}\n", paint(STRONG, &report.program), report.file, report.about),
        false => format!("{} {}\n", paint(STRONG, &report.file), report.about),
    };
    for caveat in &report.caveats {
        let _ = writeln!(out, "({})", weir_front::escape::escape_line(caveat));
    }
    out
}

/// A whole report. Blocks of the findings with these numbers were shown before.
pub fn text(report: &Report, printed: Printed, shown: &BTreeSet<usize>) -> String {
    let mut out = heading(report) + "\n";
    let is_first = |f: &&Finding| f.claim.model == report.findings[0].claim.model;
    let of_first = report.findings.iter().take_while(is_first).count();
    let (findings, of_processor) = report.findings.split_at(of_first);
    out += &rows(findings);
    if let Some(finding) = of_processor.first() {
        // What the language leaves unknown is asked of a processor.
        let title = format!("Compiled for x86, under {}:", finding.claim.model);
        let _ = writeln!(out, "\n{}", terminal::title(STRONG, &title));
        out += &rows(of_processor);
    }
    for note in &report.notes {
        let _ = match note.is_open {
            true => writeln!(out, "\n  {}", paint(style(Verdict::Unknown), &note.text)),
            false => writeln!(out, "\n{}", terminal::title(QUIET, &note.text)),
        };
    }
    let open = report.findings.iter().enumerate().filter(|(i, _)| !shown.contains(i));
    out += &blocks(open.flat_map(|(_, finding)| finding.blocks(layout(printed.full))));
    out + &summaries(&report.findings, printed.stats)
}

/// The rows of findings, aligned, each with what else has to be said about it.
fn rows(findings: &[Finding]) -> String {
    let mut table = Table::default();
    // The lines are indented and have a mark.
    let words = findings.iter().map(|f| f.word().chars().count()).max().unwrap_or(0);
    let names = findings.iter().map(|f| name(f).chars().count()).max().unwrap_or(0);
    let used = 4 + words + 2 + names + 2;
    let room = terminal::width().saturating_sub(used).clamp(MIN_FORMULA, MAX_FORMULA);
    for finding in findings {
        let mut beside = finding.column();
        if beside.chars().count() > room {
            beside = beside.chars().take(room - 1).chain(['…']).collect();
        }
        table.row([finding.word().to_owned(), name(finding).to_owned(), beside]);
    }
    let mut out = String::new();
    for (line, finding) in table.lines("  ").iter().zip(findings) {
        let (mark, color) = mark(finding);
        let word = finding.word();
        let rest = line.strip_prefix(word).unwrap_or("");
        let _ = writeln!(out, "  {} {}{rest}", paint(color, mark), paint(color, word));
        if let Some(vacuity) = &finding.vacuity {
            let text = format!("but {vacuity}");
            let _ = writeln!(out, "    {}", paint(style(Verdict::Unknown), &text));
        }
        for remark in finding.remarks() {
            let _ = writeln!(out, "    {remark}");
        }
        if let Some(reason) = &finding.reason {
            let _ = writeln!(out, "    {}", paint(QUIET, reason));
        }
    }
    out
}

/// The name of a finding, unless it is the only one of its kind, which the row says anyway.
fn name(finding: &Finding) -> &str {
    match finding.kind {
        "robust" | "repair" | "final states" => "",
        _ => finding.name(),
    }
}

fn layout(full: bool) -> Layout {
    // The lines are indented.
    Layout { width: terminal::width() - 2, full, hints: HINTS, ..Layout::default() }
}

/// What shows a finding, as it is shown before the search ends.
pub fn early(finding: &Finding, full: bool) -> Option<String> {
    let text = blocks(finding.blocks(layout(full)).into_iter());
    (!text.is_empty()).then(|| format!("{}\n", text.trim_start()))
}

/// Blocks below each other. Those with the same lines are one, with all their names.
pub fn blocks(all: impl Iterator<Item = Block>) -> String {
    let mut merged: Vec<(Vec<String>, Block)> = Vec::new();
    for block in all {
        let same = merged.iter_mut().find(|(_, known)| {
            !block.name.is_empty() && known.title == block.title && known.lines == block.lines
        });
        match same {
            Some((names, _)) => names.push(block.name),
            None => merged.push((vec![block.name.clone()], block)),
        }
    }
    let mut out = String::new();
    for (names, block) in merged {
        let names = names.join(", ");
        let title = match (names.as_str(), block.title.as_str()) {
            ("", title) => title.to_owned(),
            (names, "") => format!("{names}:"),
            (names, title) => format!("{names}: {title}"),
        };
        if !title.is_empty() {
            let _ = writeln!(out, "\n{}", terminal::title(STRONG, &title));
        }
        out.push('\n');
        for line in &block.lines {
            let line = match line {
                Line::Plain(text) => format!("  {text}"),
                Line::Strong(text) => format!("  {}", paint(STRONG, text)),
                Line::Quiet(text) => format!("  {}", paint(QUIET, text)),
            };
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    out
}

/// What the searches did, each once.
fn summaries(findings: &[Finding], all: bool) -> String {
    let mut out = String::new();
    let mut said: Vec<String> = Vec::new();
    let mut counted: Vec<*const weir_engine::Stats> = Vec::new();
    for finding in findings {
        if let Some(stats) = &finding.statistics {
            if counted.contains(&Arc::as_ptr(stats)) {
                continue;
            }
            counted.push(Arc::as_ptr(stats));
        }
        let Some(summary) = finding.summary().filter(|s| !s.is_empty() && !said.contains(s)) else {
            continue;
        };
        let gap = if said.is_empty() { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{}", paint(QUIET, &summary));
        said.push(summary);
        if let Some(stats) = finding.statistics.as_deref().filter(|_| all) {
            out += &details(stats);
        }
    }
    out
}

/// The findings about several programs under several models: a row for each question, a column for each
/// model.
pub fn table(guesses: Option<usize>, reports: &[Report]) -> String {
    let models = models_of(&reports[0]);
    let has_names = reports.iter().flat_map(|r| &r.findings).any(|f| !name(f).is_empty());
    let mut table = Table::default();
    let heads = ["program"].into_iter().chain(has_names.then_some("property"));
    let heads = heads.chain(models.iter().copied());
    table.row(heads);
    let mut rows: Vec<Vec<(String, Style)>> = Vec::new();
    let mut notes: Vec<&str> = Vec::new();
    for (report, shown) in reports.iter().zip(distinct_names(reports)) {
        let mut asked: Vec<&Finding> = Vec::new();
        for finding in &report.findings {
            if !asked.iter().any(|known| is_same(known, finding)) {
                asked.push(finding);
            }
        }
        for question in asked {
            let mut row = vec![(shortened(&shown, MOST_CELL), Style::new())];
            if has_names {
                let is_program = question.name() == report.program;
                let name = if is_program { question.kind } else { question.name() };
                row.push((shortened(name, MOST_CELL), Style::new()));
            }
            for model in &models {
                let mut findings = report.findings.iter().filter(|f| f.claim.model == *model);
                let Some(finding) = findings.find(|finding| is_same(finding, question)) else {
                    // Races are asked in models of languages only.
                    row.push(("-".to_owned(), QUIET));
                    continue;
                };
                let note = finding.reason.as_deref().or(finding.vacuity.as_deref());
                let (word, color) = (cell(finding), mark(finding).1);
                let Some(note) = note else {
                    row.push((word.to_owned(), color));
                    continue;
                };
                let number = notes.iter().position(|n| *n == note).unwrap_or_else(|| {
                    notes.push(note);
                    notes.len() - 1
                });
                row.push((format!("{word} [{}]", number + 1), color));
            }
            table.row(row.iter().map(|(text, _)| text.clone()));
            rows.push(row);
        }
    }
    let widths = table.widths();
    let mut out = match guesses {
        Some(most) => format!("With {}:\n\n", guessing(most)),
        None => String::new(),
    };
    let _ = writeln!(out, "{}", paint(STRONG, &table.lines("  ")[0]));
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|((text, color), width)| {
            paint(*color, text) + &spaces(width.saturating_sub(text.chars().count()))
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "{}", paint(QUIET, &format!("[{}] {note}", i + 1)));
    }
    out
}

/// Whether two findings are about one question, under whatever model.
fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.name(), one.line) == (other.name(), other.line)
}

/// What stands in a cell. Whether a final state is allowed is a question, and the answer is yes or no.
fn cell(finding: &Finding) -> &str {
    match finding.verdict {
        Verdict::Holds if finding.is_neutral => "yes",
        Verdict::Violated if finding.is_neutral => "no",
        _ => finding.word(),
    }
}

/// The models of a report, in order.
fn models_of(report: &Report) -> Vec<&str> {
    let mut models: Vec<&str> = Vec::new();
    for finding in &report.findings {
        if !models.contains(&finding.claim.model.as_str()) {
            models.push(&finding.claim.model);
        }
    }
    models
}

/// What tells programs apart: their names, or where two have the same one as much of
/// the end of their paths as it takes.
fn distinct_names(reports: &[Report]) -> Vec<String> {
    let parts = |file: &str| -> Vec<String> {
        let path = Path::new(file);
        path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<_> = reports.iter().map(|r| (&r.program, parts(&r.file))).collect();
    let end = |path: &[String], count: usize| path[path.len().saturating_sub(count)..].to_vec();
    all.iter()
        .map(|(name, path)| {
            let alike = || all.iter().filter(|(other, p)| other == name && p != path);
            if alike().next().is_none() {
                return (*name).clone();
            }
            let is_enough =
                |&count: &usize| alike().all(|(_, p)| end(p, count) != end(path, count));
            let count = (1..path.len()).find(is_enough).unwrap_or(path.len());
            end(path, count).join("/")
        })
        .collect()
}
