//! `weir compare`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use weir::report::json::{CompareReport, CompareRow, kind, outcome};
use weir::report::table::Table;
use weir::{CheckError, Loaded, MemoryModel, Solver, Verdict};
use weir_engine::Stats;
use weir_model::answer::{Answer, Evidence};
use weir_model::program::PropertyKind;

use super::{Status, complain, fail, nothing_known, print, print_json, reject, unbuilt};
use crate::cli::Compare;
use crate::cli::options::Format;
use crate::output::paint;
use crate::progress::Progress;
use crate::terminal::{NEUTRAL, QUIET, STRONG, style};

pub fn run(args: &Compare) -> Status {
    let named: Vec<MemoryModel> = MemoryModel::NAMED.into_iter().map(|(_, m)| m).collect();
    let models = if args.models.is_empty() { named } else { args.models.clone() };
    let solvers: Result<Vec<Solver>, String> =
        models.iter().map(|&model| args.search.solver(model)).collect();
    let solvers = match solvers {
        Ok(solvers) => solvers,
        Err(message) => return fail(&message),
    };
    let mut status = Status::Fine;
    let mut programs = Vec::new();
    for file in &args.files {
        let read = args.search.language.load(file, &models);
        let (loaded, stopped) = match read.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
            Ok(loaded) => loaded,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        let columns = match CheckError::no_property(file, &loaded.system.program) {
            Some(error) => Err(error),
            None => columns(args, &loaded, stopped.as_deref(), &models, &solvers),
        };
        let columns = match columns {
            Ok(columns) => columns,
            Err(error) => {
                status = status.and(reject(file, &error));
                continue;
            }
        };
        let mut cells = columns.iter().flatten();
        if cells.any(|cell| cell.answer.verdict == Verdict::Unknown) {
            status = status.and(Status::Unknown);
        }
        match args.format {
            Format::Json => print_json(&report(&loaded, &models, &columns)),
            Format::Human => programs.push((loaded, columns)),
        }
    }
    if !programs.is_empty() {
        print(&human(&models, &programs));
    }
    status
}

/// The answer to a property under a model, and why it says little, if it does.
struct Cell {
    answer: Answer,
    vacuous: Option<String>,
}

impl Cell {
    /// What a person should know about it.
    fn note(&self) -> Option<&str> {
        match &self.answer.evidence {
            Evidence::Reason(reason) => Some(reason),
            _ => self.vacuous.as_deref(),
        }
    }
}

/// The cells of one model.
type Column = Vec<Cell>;

fn columns(
    args: &Compare,
    loaded: &Loaded,
    stopped: Option<&str>,
    models: &[MemoryModel],
    solvers: &[Solver],
) -> Result<Vec<Column>, CheckError> {
    let limits = args.search.limits();
    let column = |(&model, solver): (&MemoryModel, &Solver)| {
        let mut progress = Progress::default();
        let system = &loaded.system;
        let (answers, vacuous) = match stopped {
            Some(reason) => {
                let (answers, vacuous, _) = nothing_known(loaded, reason);
                (answers, vacuous)
            }
            None => {
                let mut tell = |s: &Stats| progress.update(s);
                let (answers, stats) = solver.check(system, model, &limits, &mut tell)?;
                let vacuous =
                    weir::vacuity::vacuous(system, model, &limits, &answers, &stats, &|s| {
                        loaded.line(s)
                    });
                (answers, vacuous)
            }
        };
        let cells = answers.into_iter().zip(vacuous);
        Ok(cells.map(|(answer, vacuous)| Cell { answer, vacuous }).collect())
    };
    models.iter().zip(solvers).map(column).collect()
}

/// What stands in a cell, and its color. Whether a final state is reachable is a
/// question, and the answer is yes or no.
fn word(kind: &PropertyKind, verdict: Verdict) -> (&'static str, Style) {
    match outcome(kind, verdict) {
        Some(_) if verdict == Verdict::Holds => ("yes", NEUTRAL),
        Some(_) => ("no", NEUTRAL),
        None => (verdict.name(), style(verdict)),
    }
}

/// What tells programs apart: their names, or where two have the same one as much of
/// the end of their paths as it takes.
fn distinct_names(programs: &[(Loaded, Vec<Column>)]) -> Vec<String> {
    let parts = |loaded: &Loaded| -> Vec<String> {
        let path = Path::new(&loaded.source.name);
        path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<_> = programs.iter().map(|(l, _)| (&l.system.program.name, parts(l))).collect();
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

fn human(models: &[MemoryModel], programs: &[(Loaded, Vec<Column>)]) -> String {
    let mut table = Table::default();
    let heads = models.iter().map(ToString::to_string);
    table.row(["program".to_owned(), "property".to_owned()].into_iter().chain(heads));
    let mut rows: Vec<Vec<(String, Style)>> = Vec::new();
    let mut notes: Vec<&str> = Vec::new();
    for ((loaded, columns), shown) in programs.iter().zip(distinct_names(programs)) {
        let system = &loaded.system;
        for (i, property) in system.program.properties.iter().enumerate() {
            let name = system.property_name(i);
            let asks = kind(&property.kind).to_owned();
            let name = if name == system.program.name { asks } else { name };
            let mut row = vec![(shown.clone(), Style::new()), (name, Style::new())];
            for cell in columns.iter().map(|column| &column[i]) {
                let (word, color) = word(&property.kind, cell.answer.verdict);
                let Some(note) = cell.note() else {
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
    let lines = table.lines("  ");
    let mut out = format!("{}\n", paint(STRONG, &lines[0]));
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|((text, color), width)| {
            paint(*color, text) + &" ".repeat(width - text.chars().count())
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

fn report(loaded: &Loaded, models: &[MemoryModel], columns: &[Column]) -> CompareReport {
    let system = &loaded.system;
    let row = |(i, kind_of): (usize, &PropertyKind)| {
        let cells = || models.iter().map(ToString::to_string).zip(columns.iter().map(|c| &c[i]));
        let reasons = cells().filter_map(|(model, cell)| match &cell.answer.evidence {
            Evidence::Reason(reason) => Some((model, reason.clone())),
            _ => None,
        });
        let vacuous = cells().filter_map(|(model, cell)| Some((model, cell.vacuous.clone()?)));
        let verdict = |cell: &Cell| word(kind_of, cell.answer.verdict).0;
        CompareRow {
            name: system.property_name(i),
            kind: kind(kind_of),
            verdicts: cells().map(|(model, cell)| (model, verdict(cell))).collect(),
            reasons: reasons.collect(),
            vacuous: vacuous.collect::<BTreeMap<_, _>>(),
        }
    };
    let properties = system.program.properties.iter().map(|p| &p.kind);
    CompareReport {
        program: system.program.name.clone(),
        file: loaded.source.name.clone(),
        models: models.iter().map(ToString::to_string).collect(),
        properties: properties.enumerate().map(row).collect(),
    }
}
