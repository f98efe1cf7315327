//! `weir compare`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anstyle::Style;
use weir::report::json::{CompareReport, CompareRow, VERSION, scene};
use weir::report::scene::Scene;
use weir::report::table::{MOST_CELL, Table};
use weir::report::{reason, says};
use weir::solver::check_some;
use weir::vacuity::vacuous;
use weir::{CheckError, Loaded, MemoryModel, Verdict};
use weir_engine::{Engine, SearchOptions, Stats, Task};
use weir_front::columns::{shortened, spaces};
use weir_model::answer::Answer;
use weir_model::limits::Stop;
use weir_model::question::Question;

use super::page::Html;
use super::stats::guessing;
use super::{Status, complain, fail, nothing_known, print, print_json, reject, unbuilt};
use crate::cli::Compare;
use crate::cli::options::Format;
use crate::findings::Findings;
use crate::output::{HINTS, fail_about, json as json_line, paint};
use crate::progress::Progress;
use crate::terminal::{NEUTRAL, QUIET, STRONG, style};

pub fn run(args: &Compare) -> Status {
    let named: Vec<MemoryModel> = MemoryModel::NAMED.into_iter().map(|(_, m)| m).collect();
    let models = args.models.or(&named);
    let ask = |&model: &MemoryModel| Ok((args.search.engine(model)?, args.search.options(model)?));
    let engines: Result<Vec<(&dyn Engine, SearchOptions)>, String> =
        models.iter().map(ask).collect();
    let engines = match engines {
        Ok(engines) => engines,
        Err(message) => return fail(&message),
    };
    let mut status = Status::Fine;
    let mut html = Html::new("compare", &args.page.html);
    let mut programs = Vec::new();
    let guesses = args.search.guesses.map(usize::from);
    for file in &args.programs.files {
        let reading = findings(args, guesses, None, &models, (programs.clone(), status));
        let read = args.search.language.load(file, &models);
        let (loaded, stopped) = match read.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
            Ok(loaded) => loaded,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        let loaded = Arc::new(loaded);
        if let Some(error) = CheckError::no_property(file, &loaded.system) {
            status = status.and(reject(file, &error));
            continue;
        }
        let chosen = match args.search.asked.of(&loaded) {
            Ok(chosen) => chosen,
            Err(message) => {
                status = status.and(fail_about(file, &message));
                continue;
            }
        };
        let program = Program { loaded, chosen };
        let earlier = (programs.clone(), status);
        drop(reading);
        let findings = findings(args, guesses, Some(&program), &models, earlier);
        let columns = columns(args, &program, stopped.as_deref(), &models, &engines, &findings);
        drop(findings);
        let columns = match columns {
            Ok(columns) => columns,
            Err(error) => {
                status = status.and(reject(file, &error));
                continue;
            }
        };
        let mut cells = columns.iter().flatten();
        if cells.any(|cell| cell.verdict == Verdict::Unknown) {
            status = status.and(Status::Unknown);
        }
        let report = || report(guesses, &program, &models, &columns);
        status = status.and(html.add(file, report));
        match args.format {
            Format::Json => print_json(&report()),
            Format::Human => programs.push((program, columns)),
        }
    }
    if !programs.is_empty() {
        print(&human(guesses, &models, &programs));
    }
    status.and(html.write())
}

/// A program, and the places of the questions that are asked of it.
#[derive(Clone)]
struct Program {
    loaded: Arc<Loaded>,
    chosen: Vec<usize>,
}

/// What is printed if a limit ends the command: the programs that are finished, and of the next one,
/// once it is read, the answers that are there, numbered by model and question.
fn findings(
    args: &Compare,
    guesses: Option<usize>,
    program: Option<&Program>,
    models: &[MemoryModel],
    (programs, status): (Vec<(Program, Vec<Column>)>, Status),
) -> Findings<Cell> {
    let (format, program, models) = (args.format, program.cloned(), models.to_vec());
    let last_words = move |found: &[(usize, Cell)], stop: Stop| {
        let Some(program) = &program else {
            // The reports of earlier programs are printed already as JSON.
            let is_said = programs.is_empty() || format == Format::Json;
            return match is_said {
                true => (String::new(), status),
                false => (human(guesses, &models, &programs), status),
            };
        };
        let count = program.chosen.len();
        let cell = |number: usize| {
            let known = found.iter().find(|(known, _)| *known == number);
            let unknown = || Cell {
                verdict: Verdict::Unknown,
                reason: Some(stop.to_string()),
                vacuous: None,
                scene: None,
            };
            known.map_or_else(unknown, |(_, cell)| cell.clone())
        };
        let column = |model: usize| (0..count).map(|i| cell(model * count + i)).collect();
        let columns: Vec<Column> = (0..models.len()).map(column).collect();
        let text = match format {
            Format::Json => {
                let line = json_line(&report(guesses, program, &models, &columns));
                line.map_or_else(|_| String::new(), |line| line + "\n")
            }
            Format::Human => {
                let mut programs = programs.clone();
                programs.push((program.clone(), columns));
                human(guesses, &models, &programs)
            }
        };
        (text, status)
    };
    Findings::begin(last_words, |_, _| None)
}

/// The answer to a property under a model, and why it says little, if it does.
#[derive(Clone)]
struct Cell {
    verdict: Verdict,
    reason: Option<String>,
    vacuous: Option<String>,
    /// The run that it rests on, if it is printed.
    scene: Option<Scene>,
}

impl Cell {
    /// What a person should know about it.
    fn note(&self) -> Option<&str> {
        self.reason.as_deref().or(self.vacuous.as_deref())
    }
}

/// The cells of one model.
type Column = Vec<Cell>;

fn columns(
    args: &Compare,
    Program { loaded, chosen }: &Program,
    stopped: Option<&str>,
    models: &[MemoryModel],
    engines: &[(&dyn Engine, SearchOptions)],
    findings: &Findings<Cell>,
) -> Result<Vec<Column>, CheckError> {
    let needs_scenes = args.format == Format::Json || args.page.html.is_some();
    let scene_of = |answer: &Answer| needs_scenes.then(|| scene(loaded, answer)).flatten();
    let column = |(number, (&model, (engine, options))): (
        usize,
        (&MemoryModel, &(&dyn Engine, SearchOptions)),
    )| {
        let place = |answer: &Answer| {
            let place = chosen.iter().position(|i| *i == answer.property).unwrap_or_default();
            number * chosen.len() + place
        };
        let settled = |answer: &Answer| {
            let (verdict, scene) = (answer.verdict, scene_of(answer));
            findings.add(place(answer), Cell { verdict, reason: None, vacuous: None, scene });
        };
        let mut progress = Progress::default();
        let task = Task::new(&loaded.system, model, options);
        let (answers, vacuous, stats) = match stopped {
            Some(reason) => nothing_known(chosen, reason),
            None => {
                let mut tell = |s: &Stats| progress.update(s);
                let settled: &(dyn Fn(&Answer) + Sync) = &settled;
                let (answers, stats) = check_some(*engine, task, chosen, Some(settled), &mut tell)?;
                answers.iter().filter(|a| a.is_known()).for_each(settled);
                let vacuous = vacuous(task, &answers, &stats, &|s| loaded.line(s));
                (answers, vacuous, stats)
            }
        };
        let cell = |(answer, vacuous): (&Answer, Option<String>)| Cell {
            verdict: answer.verdict,
            reason: reason(answer, &stats, HINTS),
            vacuous,
            scene: scene_of(answer),
        };
        Ok(answers.iter().zip(vacuous).map(cell).collect())
    };
    models.iter().zip(engines).enumerate().map(column).collect()
}

/// What stands in a cell, and its color. Whether a final state is reachable is a
/// question, and the answer is yes or no.
fn word(question: &Question, verdict: Verdict) -> (&'static str, Style) {
    match question.outcome(verdict) {
        Some(_) if verdict == Verdict::Holds => ("yes", NEUTRAL),
        Some(_) => ("no", NEUTRAL),
        None => (verdict.name(), style(verdict)),
    }
}

/// What tells programs apart: their names, or where two have the same one as much of
/// the end of their paths as it takes.
fn distinct_names(programs: &[(Program, Vec<Column>)]) -> Vec<String> {
    let parts = |loaded: &Loaded| -> Vec<String> {
        let path = Path::new(&loaded.source.name);
        path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<_> =
        programs.iter().map(|(p, _)| (&p.loaded.system.program.name, parts(&p.loaded))).collect();
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

fn human(
    guesses: Option<usize>,
    models: &[MemoryModel],
    programs: &[(Program, Vec<Column>)],
) -> String {
    let mut table = Table::default();
    let heads = models.iter().map(ToString::to_string);
    table.row(["program".to_owned(), "property".to_owned()].into_iter().chain(heads));
    let mut rows: Vec<Vec<(String, Style)>> = Vec::new();
    let mut notes: Vec<&str> = Vec::new();
    for ((Program { loaded, chosen }, columns), shown) in
        programs.iter().zip(distinct_names(programs))
    {
        let system = &loaded.system;
        for (i, question) in chosen.iter().map(|&i| &system.questions[i]).enumerate() {
            let is_program = question.name == system.program.name;
            let name = if is_program { question.kind.name() } else { &question.name };
            let names = [&shown, name].map(|name| (shortened(name, MOST_CELL), Style::new()));
            let mut row = names.to_vec();
            for cell in columns.iter().map(|column| &column[i]) {
                let (word, color) = word(question, cell.verdict);
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
    let mut out = match guesses {
        Some(most) => format!("With {}:\n\n", guessing(most)),
        None => String::new(),
    };
    let _ = writeln!(out, "{}", paint(STRONG, &lines[0]));
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

fn report(
    guesses: Option<usize>,
    Program { loaded, chosen }: &Program,
    models: &[MemoryModel],
    columns: &[Column],
) -> CompareReport {
    let system = &loaded.system;
    let row = |(i, question): (usize, &Question)| {
        let cells = || models.iter().map(ToString::to_string).zip(columns.iter().map(|c| &c[i]));
        let reasons = cells().filter_map(|(model, cell)| Some((model, cell.reason.clone()?)));
        let vacuous = cells().filter_map(|(model, cell)| Some((model, cell.vacuous.clone()?)));
        let scenes = cells().filter_map(|(model, cell)| Some((model, cell.scene.clone()?)));
        let verdict = |cell: &Cell| word(question, cell.verdict).0;
        CompareRow {
            name: question.name.clone(),
            kind: question.kind.name(),
            line: loaded.line(question.span),
            says: says(loaded, question),
            verdicts: cells().map(|(model, cell)| (model, verdict(cell))).collect(),
            reasons: reasons.collect(),
            vacuous: vacuous.collect::<BTreeMap<_, _>>(),
            scenes: scenes.collect(),
        }
    };
    CompareReport {
        version: VERSION,
        program: system.program.name.clone(),
        file: loaded.source.name.clone(),
        text: loaded.source.text.clone(),
        models: models.iter().map(ToString::to_string).collect(),
        guesses,
        properties: chosen.iter().map(|&i| &system.questions[i]).enumerate().map(row).collect(),
    }
}
