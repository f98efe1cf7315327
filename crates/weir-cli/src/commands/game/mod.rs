//! `weir game`

mod play;

use weir::question::{Games, Solved};
use weir::report::draw;
use weir::{Finding, Verifier};

use super::ask::{Asking, heard};
use super::{Status, complain, fail, note, reject, stopped, write_whole};
use crate::cli::game::Game;
use crate::findings::Findings;

pub fn run(args: &Game) -> Status {
    let question = Games { name: args.game.clone(), options: args.options() };
    let verifier = match args.language.verifier(&args.file, vec![weir::MemoryModel::TSO]) {
        Ok(verifier) => verifier.bound(args.bound.map(usize::from)),
        Err(error) => return complain(&error),
    };
    if let Some(player) = args.play {
        return play(args, &question, &verifier, player.into());
    }
    let mut asking = Asking::new("game", args.format.into(), &args.page.html);
    if let Some(report) = asking.ask(&question, &verifier)
        && let Some(finding) = report.findings.first()
    {
        asking.status = asking.status.and(write(args, finding));
    }
    asking.end()
}

/// Plays the first game.
fn play(args: &Game, question: &Games, verifier: &Verifier, player: weir::Player) -> Status {
    let findings = Findings::begin(Status::Fine, |_, _| None, |_| None);
    let report = match heard(&|tell| verifier.ask(question, tell), &findings, &|_, _| {}) {
        Ok(report) => report,
        Err(error) => return reject(&args.file, &error),
    };
    let _ = findings.end();
    let Some(finding) = report.findings.first() else { return Status::Fine };
    match finding.basis::<Solved>() {
        Some(solved) => play::run(solved, player),
        None => stopped(finding.reason.as_deref().unwrap_or_default()),
    }
}

/// Writes the files that were asked for.
fn write(args: &Game, finding: &Finding) -> Status {
    let mut status = Status::Fine;
    let solved = finding.basis::<Solved>();
    let strategy = solved.and_then(|solved| Some((solved, solved.outcome.strategy.as_ref()?)));
    let (Some(file), Some((solved, strategy))) = (finding.file(), strategy) else {
        for path in [&args.strategy, &args.dot, &args.svg].into_iter().flatten() {
            note(&format!("the winner is unknown, so `{}` was not written", path.display()));
        }
        return status;
    };
    if let Some(path) = &args.strategy {
        status = status.and(write_whole(path, &file));
    }
    let graph = || draw::Graph::new(&solved.loaded, solved.game, strategy);
    if let Some(path) = &args.dot {
        status = status.and(write_whole(path, &graph().dot()));
    }
    if let Some(path) = &args.svg {
        status = status.and(match graph().svg() {
            Ok(text) => write_whole(path, &text),
            Err(message) => fail(&format!("{message}; use --dot or --strategy")),
        });
    }
    status
}
