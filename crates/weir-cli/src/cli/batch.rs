//! Options of commands that can be asked about many files and memory models at once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, ValueEnum};

use super::options::seconds;
use super::package::OF_PACKAGES;
use super::{Check, Cli, Command, OutcomesFormat};
use crate::commands::batch::{Batch, Style, Test};

/// What the options of batches are called together.
const HEADING: &str = "Many files and models";

#[derive(Debug, Args)]
pub struct BatchArgs {
    /// Work on so many files and models at a time, each in a process of its own [default: 1]
    #[arg(help_heading = HEADING, long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Stop each search after this many seconds; --timeout is for all of them together
    #[arg(help_heading = HEADING, long, value_name = "SECONDS", value_parser = seconds)]
    pub each: Option<Duration>,
    /// Go on after an error or a violated property, which is the default
    #[arg(help_heading = HEADING, long, overrides_with = "fail_fast")]
    pub keep_going: bool,
    /// Begin nothing new after an error or a violated property
    #[arg(help_heading = HEADING, long, overrides_with = "keep_going")]
    pub fail_fast: bool,
    /// Keep results in this file as they come, and take those that it has already
    #[arg(help_heading = HEADING, long, value_name = "LOG")]
    pub resume: Option<PathBuf>,
}

impl BatchArgs {
    /// Whether an option is given that only a batch has.
    pub fn is_given(&self) -> bool {
        let Self { jobs, each, keep_going, fail_fast, resume } = self;
        jobs.is_some() || each.is_some() || *keep_going || *fail_fast || resume.is_some()
    }
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a person
    Human,
    /// For a program: one object per file and model, one line each
    Json,
    /// One small object per property, one line each
    Jsonl,
    /// A table with commas, one row per property
    Csv,
    /// Test results as XML, for continuous integration
    Junit,
    /// Violated properties at their lines, for code hosts and editors
    Sarif,
}

impl ReportFormat {
    /// Whether every line is JSON.
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}

/// The options that a process of a batch is not given: those of the batch itself, and those that
/// are set for each process separately.
const NOT_PASSED: [&str; 13] = [
    "files",
    "models",
    "format",
    "jobs",
    "each",
    "keep_going",
    "fail_fast",
    "resume",
    "timeout",
    "memory",
    "threads",
    "color",
    "help",
];

/// Those of them that `weir watch` passes to each check.
const OF_CHECKS: [&str; 7] =
    ["models", "format", "jobs", "each", "keep_going", "fail_fast", "resume"];

/// The batch that a command line is, if it is one: about several memory models, a directory or a
/// pattern, or with options that only a batch has.
///
/// # Errors
/// If it has options that a batch cannot have.
pub fn of<'a>(cli: &'a Cli, matches: &ArgMatches) -> Result<Option<Batch<'a>>, String> {
    let (command, args, programs, (models, language), style, page, evidence) = match &cli.command {
        Command::Check(a) => {
            let style = style(a.format);
            let read = (&a.models, &a.search.language);
            ("check", &a.batch, &a.programs, read, style, &a.page.html, Some(&a.evidence))
        }
        Command::Robust(a) => {
            let style = style(a.format);
            let read = (&a.models, &a.language);
            ("robust", &a.batch, &a.programs, read, style, &a.page.html, Some(&a.evidence))
        }
        Command::Live(a) => {
            let style = style(a.format);
            let read = (&a.models, &a.language);
            ("live", &a.batch, &a.programs, read, style, &a.page.html, Some(&a.evidence))
        }
        Command::Outcomes(a) => {
            let style = match a.format {
                OutcomesFormat::Human => Style::Text("human"),
                OutcomesFormat::Json => Style::Text("json"),
                OutcomesFormat::Herd => Style::Text("herd"),
                OutcomesFormat::Jsonl => Style::Jsonl,
                OutcomesFormat::Csv => Style::Csv,
            };
            let read = (&a.models, &a.search.language);
            ("outcomes", &a.batch, &a.programs, read, style, &a.page.html, None)
        }
        _ => return Ok(None),
    };
    let models = models.models.clone();
    let writes = [("--html", page)].into_iter().chain(evidence.into_iter().flat_map(|e| {
        [
            ("--witness", &e.witness),
            ("--certificate", &e.certificate),
            ("--svg", &e.svg),
            ("--tikz", &e.tikz),
        ]
    }));
    let written = writes.into_iter().find(|(_, path)| path.is_some());
    // `weir robust` has a table of several models, and `weir live` is about one file.
    let has_many =
        models.len() > 1 && command != "robust" || programs.files.len() > 1 && command == "live";
    // One search prints its rows itself, as answers come.
    let is_one = programs.files.len() == 1 && models.len() <= 1 && !programs.is_expanded;
    let streams = is_one && style == Style::Jsonl && matches!(command, "check" | "live");
    let is_asked = args.is_given() || !matches!(style, Style::Text(_)) && !streams;
    match (has_many || is_asked, written) {
        (true, Some((option, _))) => {
            return Err(format!(
                "{option} is for one memory model, and goes with no option for many files and models"
            ));
        }
        (false, Some(_)) => return Ok(None),
        (false, None) if !programs.is_expanded => return Ok(None),
        _ => {}
    }
    let options = said(matches, &NOT_PASSED);
    let tests = vec![];
    Ok(Some(Batch {
        command,
        options,
        files: &programs.files,
        tests,
        models,
        language,
        args,
        style,
    }))
}

/// The batch of these tests of a package.
///
/// # Errors
/// If it has options that a batch cannot have.
pub fn of_tests<'a>(
    check: &'a Check,
    tests: Vec<Test>,
    matches: &ArgMatches,
) -> Result<Batch<'a>, String> {
    let (args, models) = (&check.batch, check.models.models.clone());
    let is_one = tests.len() == 1 && models.len() <= 1;
    let style = match style(check.format) {
        Style::Text("human") if !is_one => Style::Tests,
        style => style,
    };
    let written = check.evidence.files().into_iter().chain([&check.page.html]).any(Option::is_some);
    if written && !is_one {
        return Err("files are written about one test under one memory model: name one".to_owned());
    }
    if args.resume.is_some() {
        return Err("--resume is for files, and not for the tests of a package".to_owned());
    }
    let options = said(matches, &[&NOT_PASSED[..], &OF_PACKAGES].concat());
    let (files, language) = (&check.programs.files[..], &check.search.language);
    Ok(Batch { command: "check", options, files, tests, models, language, args, style })
}

/// How a batch prints results in a format.
pub fn style(format: ReportFormat) -> Style {
    match format {
        ReportFormat::Human => Style::Text("human"),
        ReportFormat::Json => Style::Text("json"),
        ReportFormat::Jsonl => Style::Jsonl,
        ReportFormat::Csv => Style::Csv,
        ReportFormat::Junit => Style::Junit,
        ReportFormat::Sarif => Style::Sarif,
    }
}

/// The options of each check of `weir watch`, as words again.
pub fn watched(matches: &ArgMatches) -> Vec<OsString> {
    let kept: Vec<&str> = NOT_PASSED.into_iter().filter(|id| !OF_CHECKS.contains(id)).collect();
    said(matches, &[&kept[..], &["interval"]].concat())
}

/// The options on the command line, as words again, without some.
fn said(matches: &ArgMatches, without: &[&str]) -> Vec<OsString> {
    let cli = Cli::command();
    let Some((name, matches)) = matches.subcommand() else { return vec![] };
    let Some(command) = cli.find_subcommand(name) else { return vec![] };
    let mut words = Vec::new();
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        let is_said = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = arg.get_long().filter(|_| is_said && !without.contains(&id)) else {
            continue;
        };
        if !arg.get_action().takes_values() {
            words.push(format!("--{long}").into());
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            word.push(value);
            words.push(word);
        }
    }
    words
}
