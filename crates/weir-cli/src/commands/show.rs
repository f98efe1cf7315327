//! `weir show`

use std::fmt::Write as _;

use weir::load::{program, read_text};
use weir::report::table::Table;
use weir::{LoadError, Loaded};
use weir_model::ids::{ValueId, VarId};
use weir_model::system::{Expanded, StateKind};

use super::{Status, complain, print};
use crate::cli::Show;
use crate::limits;

pub fn run(args: &Show) -> Status {
    if args.system {
        return match load(args) {
            Ok(loaded) => match loaded.expanded(&limits::budget()) {
                Ok(all) => {
                    print(&system(&loaded, all));
                    Status::Fine
                }
                Err(error) => complain(&error),
            },
            Err(error) => complain(&error),
        };
    }
    let reading = args.language.reading();
    let read = read_text(&args.file)
        .and_then(|text| program(args.language.name_of(&args.file), &text, &reading));
    match read {
        Ok((program, _)) => {
            print(&weir_front::weir::print(&program));
            Status::Fine
        }
        Err(error) => complain(&error),
    }
}

/// The system of a program, or of an object with its most general clients, which is what
/// `weir live` searches and lassos refer to.
fn load(args: &Show) -> Result<Loaded, LoadError> {
    let text = read_text(&args.file)?;
    let (name, reading) = (args.language.name_of(&args.file), args.language.reading());
    match program(name, &text, &reading)?.0.object {
        Some(_) => Loaded::running(
            name,
            &text,
            (reading.language, &reading.settings),
            args.clients.into(),
            &limits::budget(),
        ),
        None => Loaded::read(name, &text, &reading),
    }
}

/// The automata: domains, then the transitions of each process.
fn system(loaded: &Loaded, all: Expanded<'_>) -> String {
    let system = &loaded.system;
    let mut out = String::new();
    let mut table = Table::default();
    for (x, var) in system.vars.iter().enumerate() {
        let x = VarId::new(x);
        let show = |v: &ValueId| system.show_value(x, *v);
        let values: Vec<String> = all.values(x).iter().map(show).collect();
        let initial: Vec<String> = var.initial.iter().map(show).collect();
        table.row([
            format!("var {}", var.name),
            format!("in {{{}}}", values.join(", ")),
            format!("initially {}", initial.join(" or ")),
        ]);
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "{line}");
    }
    for (p, automaton) in system.process_ids().zip(system.processes.iter()) {
        let _ = writeln!(
            out,
            "\nprocess {}: {} control states, {} transitions",
            automaton.name,
            all.states(p).count(),
            all.all_transitions(p).count()
        );
        let mut table = Table::default();
        for s in all.states(p) {
            let state = system.state(p, s);
            let labels: Vec<&str> = state
                .labels
                .iter()
                .map(|l| system.program.processes[p.index()].labels[l.index()].name.as_str())
                .collect();
            let mark = match &state.kind {
                StateKind::Inside => labels.join(", "),
                StateKind::Ended => "ended".to_owned(),
                StateKind::Failed(failure) => failure.to_string(),
                StateKind::Left(excess) => excess.to_string(),
            };
            let line = loaded.line(state.span).to_string();
            let name = system.state_name(p, s);
            let mut first = true;
            for (_, t) in all.transitions(p, s) {
                let from = if first { name.clone() } else { String::new() };
                let mark = if first { mark.clone() } else { String::new() };
                table.row([
                    format!("{from:>6}"),
                    format!("{:>4}", if first { line.as_str() } else { "" }),
                    system.show_transition(t),
                    format!("→ {}", system.state_name(p, t.to)),
                    mark,
                ]);
                first = false;
            }
            if first {
                let line = if state.kind == StateKind::Ended { String::new() } else { line };
                table.row([
                    format!("{name:>6}"),
                    format!("{line:>4}"),
                    String::new(),
                    String::new(),
                    mark,
                ]);
            }
        }
        for line in table.lines("  ") {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}
