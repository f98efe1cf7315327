//! `weir compare`

use std::fmt::Write as _;

use weir::report::json::{CompareReport, CompareRow, kind};
use weir::report::table::Table;
use weir::{Loaded, MemoryModel, Verdict};
use weir_model::program::{PropertyKind, Quantifier};

use super::{Status, asks_for_nothing, complain, print, print_json};
use crate::cli::{Compare, Format};
use crate::output::paint;
use crate::progress::Progress;
use crate::terminal::{STRONG, style};

pub fn run(args: &Compare) -> Status {
    let named: Vec<MemoryModel> = MemoryModel::NAMED.into_iter().map(|(_, m)| m).collect();
    let models = if args.models.is_empty() { named } else { args.models.clone() };
    let mut status = Status::Fine;
    let mut rows = Vec::new();
    for file in &args.files {
        let loaded = match args.search.language.load(file, &models) {
            Ok(loaded) => loaded,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        if loaded.system.program.properties.is_empty() {
            status = status.and(asks_for_nothing(file, &loaded.system.program));
            continue;
        }
        let verdicts: Vec<Vec<Verdict>> = models
            .iter()
            .map(|&model| {
                let mut progress = Progress::new();
                let limits = args.search.limits();
                let solver = args.search.solver(model).unwrap_or_default();
                let (answers, _) =
                    solver.check(&loaded.system, model, &limits, &mut |s| progress.update(s));
                answers.into_iter().map(|a| a.verdict).collect()
            })
            .collect();
        if verdicts.iter().flatten().any(|v| *v == Verdict::Unknown) {
            status = status.and(Status::Unknown);
        }
        match args.format {
            Format::Json => print_json(&report(&loaded, &models, &verdicts)),
            Format::Human => rows.extend(human_rows(&loaded, &verdicts)),
        }
    }
    if args.format == Format::Human && !rows.is_empty() {
        print(&human(&models, &rows));
    }
    status
}

/// What stands in a cell. For `exists` the question is whether the state can be
/// reached, so the answer is yes or no.
fn word(kind: &PropertyKind, verdict: Verdict) -> &'static str {
    match (kind, verdict) {
        (_, Verdict::Unknown) => "unknown",
        (PropertyKind::Final(Quantifier::Exists, _), Verdict::Holds) => "yes",
        (PropertyKind::Final(Quantifier::Exists, _), Verdict::Violated) => "no",
        (_, verdict) => verdict.name(),
    }
}

type Cell = (&'static str, Verdict);

fn human_rows(loaded: &Loaded, verdicts: &[Vec<Verdict>]) -> Vec<(Vec<String>, Vec<Cell>)> {
    let system = &loaded.system;
    let properties = system.program.properties.iter().enumerate();
    properties
        .map(|(i, property)| {
            let mut names = vec![system.program.name.clone()];
            let name = system.property_name(i);
            let asks = kind(&property.kind);
            names.push(if name == system.program.name { asks.to_owned() } else { name });
            (names, verdicts.iter().map(|v| (word(&property.kind, v[i]), v[i])).collect())
        })
        .collect()
}

fn human(models: &[MemoryModel], rows: &[(Vec<String>, Vec<Cell>)]) -> String {
    let mut table = Table::default();
    let heads = models.iter().map(ToString::to_string);
    table.row(["program".to_owned(), "property".to_owned()].into_iter().chain(heads));
    for (names, cells) in rows {
        table.row(names.iter().cloned().chain(cells.iter().map(|c| c.0.to_owned())));
    }
    let widths = table.widths();
    let mut out = String::new();
    for (i, line) in table.lines("  ").into_iter().enumerate() {
        if i == 0 {
            let _ = writeln!(out, "{}", paint(STRONG, &line));
            continue;
        }
        let (names, cells) = &rows[i - 1];
        let mut text = Vec::new();
        for (c, name) in names.iter().enumerate() {
            let w = widths[c];
            text.push(format!("{name:w$}"));
        }
        for (c, (word, verdict)) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[names.len() + c] - word.len());
            text.push(paint(style(*verdict), word) + &pad);
        }
        let _ = writeln!(out, "{}", text.join("  ").trim_end());
    }
    out
}

fn report(loaded: &Loaded, models: &[MemoryModel], verdicts: &[Vec<Verdict>]) -> CompareReport {
    let system = &loaded.system;
    let properties = system.program.properties.iter().enumerate();
    CompareReport {
        program: system.program.name.clone(),
        models: models.iter().map(ToString::to_string).collect(),
        properties: properties
            .map(|(i, property)| CompareRow {
                name: system.property_name(i),
                kind: kind(&property.kind),
                verdicts: models
                    .iter()
                    .zip(verdicts)
                    .map(|(m, v)| (m.to_string(), word(&property.kind, v[i])))
                    .collect(),
            })
            .collect(),
    }
}
