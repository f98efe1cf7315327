//! `weir outcomes`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir::load::read_text;
use weir::report::table::Table;
use weir::report::{herd, json};
use weir::solver::{no_such_property, runs_to};
use weir::{LoadError, Loaded, MemoryModel, Reading};
use weir_engine::explicit::Outcomes;
use weir_engine::{Engine as _, Explicit};
use weir_model::program::{Property, PropertyKind};

use super::page::Html;
use super::stats::{guessing, restrictions};
use super::{Status, complain, fail, no_search, note, print, print_json, reject};
use crate::cli::{Outcomes as Args, OutcomesFormat};
use crate::output::{advise, caveat, fail_about, paint};
use crate::progress::{Progress, counted};
use crate::terminal::{QUIET, STRONG};

/// The most final states to which a run is given.
const MOST_RUNS: usize = 64;

pub fn run(args: &Args) -> Status {
    let mut status = Status::Fine;
    let model = args.models.one();
    let options = match args.search.options(model) {
        Ok(options) => options,
        Err(message) => return fail(&message),
    };
    if let Err(refusal) = Explicit.accepts(model, &options) {
        return fail(&advise(&refusal.into()));
    }
    let mut html = Html::new("outcomes", &args.page.html);
    for (i, file) in args.programs.files.iter().enumerate() {
        let reading = Reading { observing: true, model, ..args.search.language.reading() };
        let name = args.search.language.name_of(file);
        let loaded = read_text(file).and_then(|text| Loaded::read(name, &text, &reading));
        let unbuilt = |error: LoadError| {
            let found = error.into_unbuilt(|program| program.object.is_none());
            found.map(|(loaded, reason)| (loaded, Some(reason)))
        };
        let (loaded, stopped) = match loaded.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
            Ok(loaded) => loaded,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        let mut loaded = loaded;
        if let Err(message) = pick(&mut loaded, &args.search.asked.properties) {
            status = status.and(fail_about(file, &message));
            continue;
        }
        let mut progress = Progress::default();
        let found = match stopped {
            Some(reason) => {
                Ok(Outcomes { atoms: vec![], states: BTreeSet::new(), stats: no_search(&reason) })
            }
            None => {
                weir::solver::outcomes(&loaded.system, model, &options, &mut |s| progress.update(s))
            }
        };
        drop(progress);
        let outcomes = match found {
            Ok(outcomes) => outcomes,
            Err(error) => {
                status = status.and(reject(file, &error));
                continue;
            }
        };
        if !outcomes.stats.is_exact() {
            status = status.and(Status::Unknown);
            let name = &loaded.system.program.name;
            let why = outcomes.stats.stopped.as_ref().map_or(String::new(), |s| format!(" ({s})"));
            note(&format!("warning: {name}: not all states were seen{why}, there may be more"));
        }
        let mut report = json::OutcomesReport::new(&loaded, model, &outcomes);
        if args.runs || html.is_wanted() {
            match runs_to(&loaded, model, &outcomes, MOST_RUNS, &options) {
                Ok(runs) => report.runs = Some(runs),
                Err(error) => {
                    status = status.and(reject(file, &error));
                    continue;
                }
            }
        }
        match args.format {
            OutcomesFormat::Human => {
                let gap = if i > 0 { "\n" } else { "" };
                print(&(gap.to_owned() + &human(&loaded, model, &outcomes)));
            }
            OutcomesFormat::Json | OutcomesFormat::Jsonl | OutcomesFormat::Csv => {
                print_json(&report);
            }
            OutcomesFormat::Herd => print(&(herd::block(&loaded, &outcomes) + "\n")),
        }
        status = status.and(html.add(file, || report));
    }
    status.and(html.write())
}

/// Leaves of the properties about final states only the one that is asked for: it picks states.
///
/// # Errors
/// If there is no such property, or several are asked for.
fn pick(loaded: &mut Loaded, names: &[String]) -> Result<(), String> {
    let program = &mut loaded.system.program;
    let is_final = |p: &Property| matches!(p.kind, PropertyKind::Final(..));
    let name = match names {
        [] => return Ok(()),
        [name] => name,
        _ => return Err("`weir outcomes` takes one --property".to_owned()),
    };
    let all = loaded.system.questions.iter().zip(&program.properties).enumerate();
    let finals: Vec<(usize, String)> = all
        .filter(|(_, (_, property))| is_final(property))
        .map(|(i, (question, _))| (i, question.name.clone()))
        .collect();
    let Some((chosen, _)) = finals.iter().find(|(_, known)| known == name) else {
        let known = finals.iter().map(|(_, known)| known.as_str());
        let message = no_such_property(name, known);
        return Err(format!("`{}`: about final states {message}", loaded.source.name));
    };
    program.properties = vec![program.properties[*chosen].clone()];
    Ok(())
}

fn human(loaded: &Loaded, model: MemoryModel, outcomes: &Outcomes) -> String {
    let system = &loaded.system;
    let how = restrictions(model, &outcomes.stats);
    let name = paint(STRONG, &loaded.source.name);
    let mut out = format!("{name} under {model}{how}\n{}\n", caveat(&loaded.source, model));
    if outcomes.states.is_empty() {
        let line = match (outcomes.stats.is_exact(), &system.program.filter) {
            (false, _) => "no final state was found, but there may be some",
            (true, Some(_)) => "no final state: none that is reachable passes the filter",
            (true, None) => "no final state: every run is infinite, deadlocks or fails",
        };
        let _ = writeln!(out, "  {line}");
        return out;
    }
    let asks = json::has_condition(system);
    let mut table = Table::default();
    let names = outcomes.atoms.iter().map(|a| system.atom_name(*a));
    table.row([" ".to_owned()].into_iter().chain(names));
    for (values, picked) in &outcomes.states {
        let mark = if *picked && asks { "*" } else { " " };
        let cells = outcomes.atoms.iter().zip(values);
        let shown = cells.map(|(a, v)| json::show_value(loaded, *a, *v));
        table.row([mark.to_owned()].into_iter().chain(shown));
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "  {line}");
    }
    let picked = outcomes.states.iter().filter(|(_, p)| *p).count();
    let total = outcomes.states.len();
    let all = match (outcomes.stats.is_exact(), outcomes.stats.guesses) {
        (true, Some(most)) => format!("all there are with {}", guessing(most)),
        (true, None) => "all there are".to_owned(),
        (false, _) => "there may be more".to_owned(),
    };
    let condition = match asks {
        true => format!("; the condition picks {picked} (*)"),
        false => String::new(),
    };
    let line = format!("{}, {all}{condition}", counted(total, "final state"));
    let _ = writeln!(out, "\n{}", paint(QUIET, &line));
    out
}
