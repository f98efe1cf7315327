//! Post's correspondence problem.

use std::fmt::Write as _;

use serde::Serialize;
use weir::certify::{Unaccepted, accepted};
use weir::load::read_text;
use weir::report::json::StatsReport;
use weir::report::table::Table;
use weir::{LoadError, Loaded, Reading, Verdict};
use weir_channel::pcp::{Instance, Solved, is_asked_under, program, read, solve};
use weir_channel::{SearchOptions, Stats};
use weir_check::Witness;
use weir_model::answer::Run;

use super::counts;
use crate::cli::channel::ChannelPcp;
use crate::cli::options::Format;
use crate::commands::{Status, complain, fail, internal, note, print, print_json, write_json};
use crate::limits;
use crate::output::paint;
use crate::progress::Progress;
use crate::terminal::{QUIET, STRONG, style};

pub fn run(args: &ChannelPcp) -> Status {
    let instance = match load(&args.file) {
        Ok(instance) => instance,
        Err(error) => return complain(&error),
    };
    let printed = weir_front::weir::print(&program(&instance));
    if !args.solve {
        print(&printed);
        return Status::Fine;
    }
    if !is_asked_under(args.model) {
        return fail(&format!(
            "the program stands for the problem under TSO+r->r+r->w, with w->w or without, not \
             under {}",
            args.model
        ));
    }
    let reading = Reading { model: args.model, ..limits::reading() };
    match Loaded::read("pcp.weir", &printed, &reading) {
        Ok(loaded) => search(args, &instance, &loaded),
        Err(error) => complain(&error),
    }
}

/// Reads an instance.
pub fn load(file: &str) -> Result<Instance, LoadError> {
    let text = read_text(file)?;
    read(&text).map_err(|errors| LoadError::Wrong { name: file.to_owned(), text, errors })
}

fn search(args: &ChannelPcp, instance: &Instance, loaded: &Loaded) -> Status {
    let options = SearchOptions { bound: args.bound.map(usize::from), ..limits::search() };
    let mut progress = Progress::default();
    let (solved, stats) =
        solve(instance, &loaded.system, args.model, &options, &mut |s| progress.update(s));
    drop(progress);
    match solved {
        Solved::Solution(indices, run) => match witness(loaded, &run) {
            Ok(witness) => {
                report(args, instance, Found::Solution(&indices), &stats);
                match &args.witness {
                    Some(path) => write_json(path, &witness),
                    None => Status::Fine,
                }
            }
            Err(error) => internal(&error),
        },
        Solved::Nothing(_) => {
            unwritten(args);
            report(args, instance, Found::Nothing, &stats)
        }
        Solved::Unknown(reason) => {
            unwritten(args);
            report(args, instance, Found::Unknown(&reason), &stats)
        }
    }
}

/// Says that there is no run to write, if one was asked for.
fn unwritten(args: &ChannelPcp) {
    if let Some(path) = &args.witness {
        note(&format!("no run was found, so `{}` was not written", path.display()));
    }
}

/// What is reported.
#[derive(Clone, Copy)]
enum Found<'f> {
    Solution(&'f [usize]),
    Nothing,
    Unknown(&'f str),
}

/// The witness of a run, which its checker accepts.
fn witness(loaded: &Loaded, run: &Run) -> Result<Witness, Unaccepted> {
    accepted(
        Witness::new(&loaded.system, run, 0, &|span| loaded.line(span)),
        loaded,
        limits::budget().threads(),
    )
}

#[derive(Serialize)]
struct Report<'r> {
    file: &'r str,
    model: String,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<&'r [usize]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<String>,
    stats: StatsReport,
}

fn report(args: &ChannelPcp, instance: &Instance, found: Found<'_>, stats: &Stats) -> Status {
    let (answer, verdict, status) = match found {
        Found::Solution(_) => ("solved", Verdict::Holds, Status::Fine),
        Found::Nothing => ("no solution", Verdict::Violated, Status::Violated),
        Found::Unknown(_) => ("unknown", Verdict::Unknown, Status::Unknown),
    };
    let (solution, reason) = match found {
        Found::Solution(indices) => (Some(indices), None),
        Found::Nothing => (None, Some("every sequence of pairs was tried, letter by letter")),
        Found::Unknown(reason) => (None, Some(reason)),
    };
    let word = solution.and_then(|indices| instance.spell(indices));
    if args.format == Format::Json {
        print_json(&Report {
            file: &args.file,
            model: args.model.to_string(),
            answer,
            reason,
            solution,
            word,
            stats: StatsReport::new(stats),
        });
        return status;
    }
    let mut out = format!("{} under {}\n\n", paint(STRONG, &args.file), args.model);
    let answer = paint(style(verdict), answer);
    match solution {
        Some(indices) => {
            let _ = writeln!(out, "  {answer}  {}\n", word.unwrap_or_default());
            for line in columns(instance, indices).lines("  ") {
                let _ = writeln!(out, "  {line}");
            }
        }
        None => {
            let reason = reason.unwrap_or_default();
            let _ = writeln!(out, "  {answer}\n    {}", paint(QUIET, reason));
        }
    }
    out += &counts(stats, args.stats);
    print(&out);
    status
}

/// The indices of a solution and their words, one below the other.
fn columns(instance: &Instance, indices: &[usize]) -> Table {
    let pairs: Vec<(&str, &str)> = instance.pairs().collect();
    let chosen = || indices.iter().map(|i| pairs[i - 1]);
    let mut table = Table::default();
    table.row(std::iter::once("pair".to_owned()).chain(indices.iter().map(usize::to_string)));
    table.row(std::iter::once("u".to_owned()).chain(chosen().map(|(u, _)| u.to_owned())));
    table.row(std::iter::once("v".to_owned()).chain(chosen().map(|(_, v)| v.to_owned())));
    table
}
