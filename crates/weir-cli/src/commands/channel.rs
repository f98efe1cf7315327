//! `weir channel`

mod again;
mod certify;
pub mod pcp;
mod programs;

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use weir::LoadError;
use weir::load::read_text;
use weir::report::json::StatsReport;
use weir::report::table::Table;
use weir_channel::evidence::Evidence;
use weir_channel::lossy::{Reach, reach};
use weir_channel::semantics::{Contents, Goal, Run, Semantics, losses};
use weir_channel::text::show_transition;
use weir_channel::{
    Machine, SearchOptions, StateId, Stats, Translation, TranslationError, Word, basic, cpcp,
    explicit, product, text, tso,
};
use weir_check::{Evidence as CheckedEvidence, Rejected};
use weir_front::Diagnostic;
use weir_front::suggest::closest;
use weir_model::limits::Stop;
use weir_model::semantics::Form;
use weir_model::system::System;

use super::stats::{details, summary};
use super::{Status, accepted_text, complain, fail, note, print, print_json, stopped, write_whole};
use crate::cli::channel::{
    Channel, ChannelCheck, ChannelCommand, ChannelContents, ChannelOf, ChannelProduct, ChannelRun,
    ChannelSync,
};
use crate::cli::options::Format;
use crate::limits;
use crate::output::paint;
use crate::progress::Progress;
use crate::terminal::{QUIET, STRONG};

pub fn run(args: &Channel) -> Status {
    match &args.command {
        ChannelCommand::Check(args) => check(args),
        ChannelCommand::Run(args) => search(args),
        ChannelCommand::Product(args) => multiply(args),
        ChannelCommand::Of(args) => of(args),
        ChannelCommand::Program(args) => programs::of_machine(args),
        ChannelCommand::Empty(args) => programs::with_empty_buffers(args),
        ChannelCommand::Pcp(args) => pcp::run(args),
        ChannelCommand::Certify(args) => certify::run(args),
        ChannelCommand::Show(args) => with(&args.file, |machine| {
            print(&text::print(machine));
            Status::Fine
        }),
        ChannelCommand::OneChannel(args) => {
            with(&args.file, |machine| match cpcp::one_channel(machine) {
                Ok(one) => {
                    print(&text::print(&one));
                    Status::Fine
                }
                Err(error) => fail(&format!("`{}`: {error}", args.file)),
            })
        }
        ChannelCommand::Basic(args) => {
            with(&args.file, |machine| match basic::basic(machine, &limits::budget()) {
                Ok(simple) => {
                    print(&text::print(&simple));
                    Status::Fine
                }
                Err(error) => refuse(&error, error.stop()),
            })
        }
    }
}

/// Reads a machine.
fn load(file: &str) -> Result<Machine, LoadError> {
    let text = read_text(file)?;
    match text::read_placed(&text) {
        Ok(text::Placed { machine, repeated, .. }) => {
            warn_of_repeated(file, &text, repeated);
            Ok(machine)
        }
        Err(errors) => Err(LoadError::Wrong { name: file.to_owned(), text, errors }),
    }
}

/// Says of each transition that is written twice that it is one transition.
pub fn warn_of_repeated(file: &str, text: &str, repeated: Vec<Range<usize>>) {
    for range in repeated {
        let message = "this transition is written twice; it counts once";
        let (line, _) = Diagnostic::new(message, range).position(text);
        note(&format!("warning: {file}:{line}: {message}"));
    }
}

/// Does something with the machine of a file.
fn with(file: &str, then: impl FnOnce(&Machine) -> Status) -> Status {
    match load(file) {
        Ok(machine) => then(&machine),
        Err(error) => complain(&error),
    }
}

fn multiply(args: &ChannelProduct) -> Status {
    let mut machines = Vec::new();
    for file in &args.files {
        match load(file) {
            Ok(machine) => machines.push(machine),
            Err(error) => return complain(&error),
        }
    }
    match product(&machines.iter().collect::<Vec<_>>(), &limits::budget()) {
        Ok(machine) => {
            print(&text::print(&machine));
            Status::Fine
        }
        Err(error) => refuse(&error, error.stop()),
    }
}

/// Says why there is no machine: something is wrong, or a limit was reached.
fn refuse(error: &impl Display, stop: Option<Stop>) -> Status {
    match stop {
        Some(stop) => stopped(&stop.to_string()),
        None => fail(&error.to_string()),
    }
}

/// Prints the machine of a program.
fn of(args: &ChannelOf) -> Status {
    let loaded = match args.language.load(&args.file, &[args.model]) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    if loaded.system.bounds_question().is_some() {
        return fail("a value can leave its bound, and a channel machine cannot say so");
    }
    match translated(&loaded.system, args) {
        Ok(machine) => {
            print(&text::print(&machine));
            Status::Fine
        }
        Err(status) => status,
    }
}

fn translated(system: &System, args: &ChannelOf) -> Result<Machine, Status> {
    let model = args.model;
    let is_tso = Form::of(model)[0] == Form::Tso && args.guesses.is_none();
    if args.sync == ChannelSync::Updates && !is_tso {
        return Err(fail(&format!(
            "under {model} there is one machine for all processes, which \
                                  agree on nothing"
        )));
    }
    let Some(name) = &args.process else {
        let made = match args.sync {
            ChannelSync::Updates => Translation::by_updates(system, &limits::budget()),
            ChannelSync::Writes => {
                Translation::new(system, model, args.guesses.map(usize::from), &limits::budget())
            }
        };
        return made.map(|t| t.machine).map_err(|error| {
            let stop = match &error {
                TranslationError::Stopped(stop) => Some(*stop),
                _ => None,
            };
            let advice = match &error {
                TranslationError::Unbounded(_) => ": --guesses N",
                _ => "",
            };
            refuse(&format!("`{}`: {error}{advice}", args.file), stop)
        });
    };
    if args.guesses.is_some() {
        return Err(fail("with --guesses there is one machine for all processes"));
    }
    if Form::of(model)[0] != Form::Tso {
        return Err(fail(&format!("under {model} there is one machine for all processes")));
    }
    let sync = match args.sync {
        ChannelSync::Writes => tso::Sync::Writes,
        ChannelSync::Updates => tso::Sync::Updates,
    };
    let mut machines = tso::tso(system, sync, &limits::budget()).map_err(|error| {
        let message = format!("`{}`: too large for a channel machine: {error}", args.file);
        refuse(&message, error.stop())
    })?;
    let names = system.processes.iter().map(|p| p.name.as_str());
    match system.processes.iter().position(|p| p.name == *name) {
        Some(index) => Ok(machines.swap_remove(index)),
        None => Err(fail(&match closest(name, names) {
            Some(meant) => format!("there is no process `{name}`; did you mean `{meant}`?"),
            None => format!("there is no process `{name}`"),
        })),
    }
}

/// What is asked for; says so if there is no such state.
fn goal(machine: &Machine, state: &str, contents: ChannelContents) -> Result<Goal, Status> {
    let contents = match contents {
        ChannelContents::Empty => Contents::Empty,
        ChannelContents::Any => Contents::Any,
    };
    Ok(Goal { state: control_state(machine, state)?, contents })
}

/// The control state of a name; says so if there is none.
fn control_state(machine: &Machine, state: &str) -> Result<StateId, Status> {
    let names = machine.states().map(|s| machine.state_name(s));
    machine.state(state).ok_or_else(|| {
        fail(&match closest(state, names) {
            Some(meant) => format!("there is no control state `{state}`; did you mean `{meant}`?"),
            None => format!("there is no control state `{state}`; `weir channel show` lists them"),
        })
    })
}

fn check(args: &ChannelCheck) -> Status {
    with(&args.file, |machine| {
        let goal = match goal(machine, &args.reach, args.channels) {
            Ok(goal) => goal,
            Err(status) => return status,
        };
        let mut progress = Progress::default();
        let (answer, stats) = reach(machine, &goal, &limits::search(), &mut |s| progress.update(s));
        drop(progress);
        let about = About { machine, file: &args.file, semantics: Semantics::Lossy };
        let status = about.report(&goal, &answer, &stats, args.format, args.stats);
        status.and(write(args, machine, &goal, &answer))
    })
}

/// Writes what shows an answer, where that was asked for.
fn write(args: &ChannelCheck, machine: &Machine, goal: &Goal, answer: &Reach) -> Status {
    let (run, proof) = match answer {
        Reach::Reached(run) => (Some(Evidence::of_run(machine, goal, run)), None),
        Reach::NotReached(minimal) if minimal.is_empty() => (None, None),
        Reach::NotReached(minimal) => (None, Some(Evidence::of_set(machine, goal, minimal))),
        Reach::Unknown(_) => (None, None),
    };
    let mut status = Status::Fine;
    for (path, evidence, what) in [(&args.witness, run, "run"), (&args.certificate, proof, "proof")]
    {
        match (path, evidence) {
            (Some(path), Some(evidence)) => {
                // The checker lists the words of guards, which the search does not.
                if let Err(Rejected::TooLarge(_)) = CheckedEvidence::check(&evidence, machine, 1) {
                    let why = format!("the {what} is too much work to check");
                    note(&format!("{why}, so `{}` was not written", path.display()));
                    continue;
                }
                status = status.and(match accepted_text(evidence, machine) {
                    Ok(text) => write_whole(path, &text),
                    Err(wrong) => wrong,
                });
            }
            (Some(path), None) => {
                let why = match answer {
                    Reach::NotReached(_) if what == "proof" => {
                        format!("the {what} has too many configurations")
                    }
                    _ => format!("no {what} was found"),
                };
                note(&format!("{why}, so `{}` was not written", path.display()));
            }
            (None, _) => {}
        }
    }
    status
}

fn search(args: &ChannelRun) -> Status {
    if let Some(state) = &args.again {
        return again::run(args, state);
    }
    with(&args.file, |machine| {
        let goal = match &args.reach {
            None => None,
            Some(state) => match goal(machine, state, args.channels) {
                Ok(goal) => Some(goal),
                Err(status) => return status,
            },
        };
        let semantics = if args.lossy { Semantics::Lossy } else { Semantics::Perfect };
        let options = SearchOptions { bound: Some(args.bound.into()), ..limits::search() };
        let mut progress = Progress::default();
        let found = explicit::search(machine, semantics, goal.as_ref(), &options, &mut |s| {
            progress.update(s);
        });
        drop(progress);
        let about = About { machine, file: &args.file, semantics };
        match (&goal, &found.goal) {
            (Some(goal), Some(answer)) => {
                about.report(goal, answer, &found.stats, args.format, args.stats)
            }
            _ => about.list(&found, args.format, args.stats),
        }
    })
}

/// The words of a channel by its name.
type Words<'m> = BTreeMap<&'m str, Vec<&'m str>>;

#[derive(Serialize)]
struct Report<'m> {
    machine: &'m str,
    file: &'m str,
    semantics: &'static str,
    state: &'m str,
    channels: &'static str,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Vec<StepReport<'m>>>,
    stats: StatsReport,
}

#[derive(Serialize)]
struct StepReport<'m> {
    transition: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'m str>,
    state: &'m str,
    channels: Words<'m>,
    lost: Words<'m>,
}

#[derive(Serialize)]
struct ListReport<'m> {
    machine: &'m str,
    file: &'m str,
    semantics: &'static str,
    reached: Vec<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    stats: StatsReport,
}

/// What a report is about.
struct About<'m> {
    machine: &'m Machine,
    file: &'m str,
    semantics: Semantics,
}

impl<'m> About<'m> {
    fn semantics(&self) -> &'static str {
        match self.semantics {
            Semantics::Perfect => "perfect",
            Semantics::Lossy => "lossy",
        }
    }

    fn report(
        &self,
        goal: &Goal,
        answer: &Reach,
        stats: &Stats,
        format: Format,
        all_stats: bool,
    ) -> Status {
        let (word, reason, status) = match answer {
            Reach::Reached(_) => ("reached", None, Status::Violated),
            Reach::NotReached(_) => ("not reached", None, Status::Fine),
            Reach::Unknown(reason) => ("unknown", Some(reason.as_str()), Status::Unknown),
        };
        let run = match answer {
            Reach::Reached(run) => Some(run),
            Reach::NotReached(_) | Reach::Unknown(_) => None,
        };
        let state = self.machine.state_name(goal.state);
        match format {
            Format::Json => print_json(&Report {
                machine: self.machine.name(),
                file: self.file,
                semantics: self.semantics(),
                state,
                channels: match goal.contents {
                    Contents::Empty => "empty",
                    Contents::Any => "any",
                },
                answer: word,
                reason,
                run: run.map(|run| self.steps(run)),
                stats: StatsReport::new(stats),
            }),
            Format::Human => {
                let color = match answer {
                    Reach::Reached(_) => AnsiColor::Red,
                    Reach::NotReached(_) => AnsiColor::Green,
                    Reach::Unknown(_) => AnsiColor::Yellow,
                };
                let style: Style = color.on_default().bold();
                let title = format!("{}, {}", self.file, self.semantics());
                let mut out = format!("{}\n\n", paint(STRONG, &title));
                let channels = match goal.contents {
                    Contents::Empty => "with empty channels",
                    Contents::Any => "with anything in the channels",
                };
                let _ = writeln!(out, "  {}  {state}  {channels}", paint(style, word));
                if let Some(reason) = reason {
                    let _ = writeln!(out, "    {}", paint(QUIET, reason));
                }
                if let Some(run) = run.filter(|run| !run.steps.is_empty()) {
                    out.push('\n');
                    out += &self.table(run, None);
                }
                out += &counts(stats, all_stats);
                print(&out);
            }
        }
        status
    }

    /// All control states that a search has reached.
    fn list(&self, found: &explicit::Found, format: Format, all_stats: bool) -> Status {
        let stats = &found.stats;
        let reason = match (&stats.stopped, stats.bound) {
            (Some(reason), _) => Some(reason.clone()),
            (None, Some(bound)) if !stats.within_bound => {
                Some(format!("channels held up to {bound}, but the machine can fill them further"))
            }
            _ => None,
        };
        let status = if reason.is_some() { Status::Unknown } else { Status::Fine };
        let reached: Vec<&str> = found.states.iter().map(|s| self.machine.state_name(*s)).collect();
        if format == Format::Json {
            print_json(&ListReport {
                machine: self.machine.name(),
                file: self.file,
                semantics: self.semantics(),
                reached,
                reason,
                stats: StatsReport::new(stats),
            });
            return status;
        }
        let title = format!("{}, {}", self.file, self.semantics());
        let mut out = format!("{}\n\n", paint(STRONG, &title));
        for state in self.machine.states().map(|s| self.machine.state_name(s)) {
            let word = match (reached.contains(&state), &reason) {
                (true, _) => "reached",
                (false, None) => "not reached",
                (false, Some(_)) => "unknown",
            };
            let _ = writeln!(out, "  {word:11}  {state}");
        }
        if let Some(reason) = &reason {
            let _ = writeln!(out, "\n  {}", paint(QUIET, reason));
        }
        out += &counts(stats, all_stats);
        print(&out);
        status
    }

    fn word(&self, word: &Word) -> Vec<&'m str> {
        word.iter().map(|m| self.machine.message_name(*m)).collect()
    }

    /// Words by channel; those that are empty are left out.
    fn words(&self, words: &[Word]) -> Words<'m> {
        let all = self.machine.channels().zip(words);
        let full = all.filter(|(_, w)| !w.is_empty());
        full.map(|(c, w)| (self.machine.channel_name(c), self.word(w))).collect()
    }

    fn steps(&self, run: &Run) -> Vec<StepReport<'m>> {
        let mut at = self.machine.start();
        let mut steps = Vec::new();
        for step in &run.steps {
            let label = self.machine.transition(step.transition).label;
            steps.push(StepReport {
                transition: self.machine.place_of(step.transition),
                text: show_transition(self.machine, step.transition),
                label: label.map(|l| self.machine.label_name(l)),
                state: self.machine.state_name(step.after.state),
                channels: self.words(&step.after.channels),
                lost: self.words(&losses(self.machine, &at, step)),
            });
            at = step.after.clone();
        }
        steps
    }

    /// A run: transitions, what the channels hold after each, and what was lost. If it
    /// goes round for ever, it says after how many steps that begins.
    fn table(&self, run: &Run, stem: Option<usize>) -> String {
        let machine = self.machine;
        let mut table = Table::default();
        // The oldest message is the last one, next to where it comes out.
        let heads = machine.channels().map(|c| format!("{} →", machine.channel_name(c)));
        let head = ["step".to_owned(), "transition".to_owned()];
        table.row(head.into_iter().chain(heads).chain(["lost".to_owned()]));
        for (number, step) in self.steps(run).into_iter().enumerate() {
            let held = machine.channels().map(|c| {
                step.channels.get(machine.channel_name(c)).map_or("·".to_owned(), |w| w.join(" "))
            });
            let lost = step.lost.iter().map(|(c, w)| format!("{} of {c}", w.join(" ")));
            let lost: Vec<String> = lost.collect();
            let begin = [format!("{:>4}", number + 1), step.text.clone()];
            table.row(begin.into_iter().chain(held).chain([lost.join(", ")]));
        }
        let mut out = String::new();
        let width = table.widths().iter().sum::<usize>() + 2 * (table.widths().len() - 1);
        for (number, line) in table.lines("  ").iter().enumerate() {
            let _ = writeln!(out, "  {line}");
            if number == 0 {
                let _ = writeln!(out, "  {}", "─".repeat(width));
            }
            if stem == Some(number) {
                let _ = writeln!(out, "  {}", ruled("again and again", width));
            }
        }
        if let Some(stem) = stem {
            let _ = writeln!(out, "  {}", ruled(&format!("back to step {}", stem + 1), width));
        }
        out
    }
}

/// Words in a line across a table.
fn ruled(words: &str, width: usize) -> String {
    format!("── {words} {}", "─".repeat(width.saturating_sub(words.len() + 4)))
}

fn counts(stats: &Stats, all: bool) -> String {
    let details = if all { details(stats) } else { String::new() };
    format!("\n{}\n{details}", paint(QUIET, &summary(stats)))
}
