//! `weir litmus`

mod native;
mod orders;
mod run;

use std::fmt::Write as _;
use std::path::Path;

use weir::report::table::Table;
use weir::{LoadError, Loaded, MemoryModel, Reading, Verdict};
use weir_front::litmus::generate::{Cycle, Edge, Filling, GenerateError};
use weir_model::limits::Stop;

use super::{Status, complain, fail, print, reject, stopped, write_whole};
use crate::cli::litmus::{Litmus, LitmusCommand, LitmusGen};
use crate::limits;
use crate::output::paint;
use crate::progress::counted;
use crate::terminal::STRONG;

pub fn run(args: &Litmus) -> Status {
    match &args.command {
        LitmusCommand::Gen(args) => generate(args),
        LitmusCommand::Run(args) => run::run(args),
        LitmusCommand::Orders(args) => orders::run(args),
    }
}

fn generate(args: &LitmusGen) -> Status {
    let cycles = match cycles(args) {
        Ok(cycles) => cycles,
        Err(error) => return fail(&error.to_string()),
    };
    if cycles.is_empty() {
        return fail("no cycle has these edges only; add `po`");
    }
    match (&args.output, cycles.as_slice()) {
        (Some(folder), _) => write(folder, &cycles),
        (None, _) if args.verdicts => table(&cycles, &MemoryModel::NAMED),
        (None, [only]) if !args.cycle.is_empty() && !args.list => {
            print(&only.text());
            Status::Fine
        }
        (None, _) => table(&cycles, &[]),
    }
}

fn cycles(args: &LitmusGen) -> Result<Vec<Cycle>, GenerateError> {
    if args.cycle.is_empty() {
        return Ok(args.family.cycles(&Filling::CRITICAL));
    }
    // A whole cycle may come as one argument.
    let words = args.cycle.iter().flat_map(|argument| argument.split_whitespace());
    let edges: Result<Vec<Edge>, _> = words.map(str::parse).collect();
    Ok(vec![Cycle::new(&edges?)?])
}

/// One file for each test.
fn write(folder: &Path, cycles: &[Cycle]) -> Status {
    if let Err(error) = std::fs::create_dir_all(folder) {
        return fail(&format!("cannot make `{}`: {error}", folder.display()));
    }
    for cycle in cycles {
        let path = folder.join(format!("{}.litmus", cycle.name()));
        let status = write_whole(&path, &cycle.text());
        if status != Status::Fine {
            return status;
        }
    }
    print(&format!("{} in {}\n", counted(cycles.len(), "test"), folder.display()));
    Status::Fine
}

/// One row for each test, with a column for each model, and how many there are.
fn table(cycles: &[Cycle], models: &[(&str, MemoryModel)]) -> Status {
    let mut table = Table::default();
    let heading = models.iter().map(|(name, _)| *name);
    table.row(["name"].into_iter().chain(heading).chain(["cycle"]));
    let mut status = Status::Fine;
    for cycle in cycles {
        let verdicts = match verdicts(cycle, models) {
            Ok(verdicts) => verdicts,
            Err(status) => return status,
        };
        if verdicts.contains(&Verdict::Unknown) {
            status = Status::Unknown;
        }
        let cells = verdicts.into_iter().map(|verdict| shown(verdict).to_owned());
        table.row([cycle.name()].into_iter().chain(cells).chain([cycle.to_string()]));
    }
    let mut out = String::new();
    for (i, line) in table.lines("  ").iter().enumerate() {
        let _ = writeln!(out, "{}", if i == 0 { paint(STRONG, line) } else { line.clone() });
    }
    let _ = writeln!(out, "{}", counted(cycles.len(), "test"));
    print(&out);
    status
}

/// What each model says of a cycle's test.
fn verdicts(cycle: &Cycle, models: &[(&str, MemoryModel)]) -> Result<Vec<Verdict>, Status> {
    if models.is_empty() {
        return Ok(vec![]);
    }
    let name = format!("{}.litmus", cycle.name());
    let guessing = models.iter().map(|(_, model)| *model).find(|m| m.guesses_reads());
    let reading = Reading { model: guessing.unwrap_or(MemoryModel::SC), ..limits::reading() };
    let loaded = Loaded::read(&name, &cycle.text(), &reading);
    let loaded = loaded.map_err(|error| complain(&error))?;
    let options = limits::search();
    let ask = |(_, model): &(&str, MemoryModel)| {
        let answers = weir::solver::check(&loaded.system, *model, &options);
        answers.map(|(answers, _)| answers[0].verdict).map_err(|error| reject(&name, &error))
    };
    let verdicts = models.iter().map(ask).collect::<Result<_, _>>()?;
    // The limits are those of all tests together: after this one there is nothing left.
    let stopped = |stop: Stop| {
        let name = name.clone();
        complain(&LoadError::Stopped { name, reason: stop.to_string(), unbuilt: None })
    };
    options.budget.check().map_err(stopped)?;
    Ok(verdicts)
}

/// Whether a model lets a cycle happen, in a word.
fn shown(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "yes",
        Verdict::Violated => "no",
        Verdict::Unknown => "unknown",
    }
}
