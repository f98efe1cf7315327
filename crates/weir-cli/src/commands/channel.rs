//! `weir channel`

mod certify;
pub mod pcp;
mod programs;

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use weir::LoadError;
use weir::finding::Listener;
use weir::load::read_text;
use weir::question::MachineQuestion;
use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::{
    Machine, SearchOptions, StateId, Translation, TranslationError, product, text, tso,
};
use weir_front::Diagnostic;
use weir_front::suggest::closest;
use weir_model::limits::Stop;
use weir_model::semantics::Form;
use weir_model::system::System;
use weir_theory::{basic, cpcp};

use super::ask::Asking;
use super::evidence::EvidenceFiles;
use super::pictures::Pictures;
use super::{Status, complain, fail, note, print, stopped};
use crate::cli::channel::{
    Channel, ChannelCheck, ChannelCommand, ChannelContents, ChannelOf, ChannelProduct, ChannelRun,
    ChannelSync,
};
use crate::limits;
use crate::report::Printed;

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
fn load(file: &str) -> Result<(Machine, String), LoadError> {
    let text = read_text(file)?;
    match text::read_placed(&text) {
        Ok(text::Placed { machine, repeated, .. }) => {
            warn_of_repeated(file, &text, repeated);
            Ok((machine, text))
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
        Ok((machine, _)) => then(&machine),
        Err(error) => complain(&error),
    }
}

fn multiply(args: &ChannelProduct) -> Status {
    let mut machines = Vec::new();
    for file in &args.files {
        match load(file) {
            Ok((machine, _)) => machines.push(machine),
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
    let mut asking = Asking::new("channel", args.format.into(), &None);
    asking.printed = Printed { stats: args.stats, ..asking.printed };
    asking.files = Some(EvidenceFiles {
        witness: args.witness.as_deref(),
        certificate: args.certificate.as_deref(),
        verify: false,
        pictures: Pictures::default(),
    });
    let asked =
        |machine: &Machine| goal(machine, &args.reach, args.channels).map(MachineQuestion::Reach);
    ask(&mut asking, &args.file, Semantics::Lossy, &limits::search(), &asked);
    asking.end()
}

fn search(args: &ChannelRun) -> Status {
    let mut asking = Asking::new("channel", args.format.into(), &None);
    asking.printed = Printed { stats: args.stats, ..asking.printed };
    let semantics = if args.lossy { Semantics::Lossy } else { Semantics::Perfect };
    let options = SearchOptions { bound: Some(args.bound.into()), ..limits::search() };
    let asked = |machine: &Machine| match (&args.again, &args.reach) {
        (Some(state), _) => control_state(machine, state).map(MachineQuestion::Again),
        (None, Some(state)) => goal(machine, state, args.channels).map(MachineQuestion::Reach),
        (None, None) => Ok(MachineQuestion::All),
    };
    ask(&mut asking, &args.file, semantics, &options, &asked);
    asking.end()
}

/// Asks a question about the machine of a file.
fn ask(
    asking: &mut Asking<'_>,
    file: &str,
    semantics: Semantics,
    options: &SearchOptions,
    asked: &dyn Fn(&Machine) -> Result<MachineQuestion, Status>,
) {
    let (machine, text) = match load(file) {
        Ok(loaded) => loaded,
        Err(error) => {
            asking.status = asking.status.and(complain(&error));
            return;
        }
    };
    let machine = Arc::new(machine);
    match asked(&machine) {
        Ok(question) => {
            let answer = |tell: Listener<'_>| {
                question.ask((file, &text), &machine, semantics, options, tell)
            };
            asking.answer(file, "", &answer);
        }
        Err(status) => asking.status = asking.status.and(status),
    }
}
