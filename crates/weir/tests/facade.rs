//! The library as its users see it: answers are data, what cannot be asked is an error, and
//! limits end in `unknown`.

use std::collections::BTreeMap;
use std::time::Duration;

use weir::{
    Buffers, Error, Fairness, Limits, Machine, MemoryModel, Player, Report, Verdict, Verifier,
};
use weir_channel::decide::Channels;
use weir_engine::Views;

const STORE_BUFFERING: &str = "
var x, y
process p { reg r   x = 1   r = y   here: nop }
process q { reg r   y = 1   r = x }
both: final never p.r == 0 and q.r == 0
reached: never p@here
";

/// A counter without a bound.
const ENDLESS: &str = "var x   process p { loop { x = x + 1 } }   never x == -1";

const LOCK: &str = "
object lock {
    var held: bool
    method enter { while not cas(held, 0, 1) { }   held = 0 }
}
";

const GAME: &str = "var x   process p { x = 1  await x == 1  there: }   game reach p@there";

const MACHINE: &str = "
machine letters;
messages hello, bye;
channels wire;
states idle, sent, lost;
initial idle;
idle -> sent do wire!hello;
sent -> sent do wire!bye;
sent -> lost do wire?bye;
";

fn verdict(report: &Report, name: &str) -> Verdict {
    report.answer(name).unwrap_or_else(|| panic!("there is no `{name}`")).verdict
}

#[test]
fn a_run_has_names_values_and_places() {
    let report = Verifier::new(STORE_BUFFERING).model(MemoryModel::TSO).check().unwrap();
    assert_eq!(report.model, MemoryModel::TSO);
    assert!(!report.holds());
    let both = report.answer("both").unwrap();
    assert_eq!((both.verdict, both.line), (Verdict::Violated, Some(5)));
    let run = both.run.as_ref().unwrap();
    assert_eq!(run.cycle, None);
    assert_eq!(run.start.memory, BTreeMap::from([("x".to_owned(), 0), ("y".to_owned(), 0)]));
    let write = run.steps.iter().find(|s| s.process == "p" && s.rule == "write").unwrap();
    assert_eq!(write.variable.as_deref(), Some("x"));
    assert_eq!((write.value, write.line), (Some(1), Some(3)));
    let span = write.span.clone().unwrap();
    assert_eq!(&STORE_BUFFERING[span], "x = 1");
    let update = run.steps.iter().find(|s| s.rule == "update").unwrap();
    assert_eq!((update.value, update.line, &update.span), (Some(1), None, &None));
    assert_eq!(run.end.memory, BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), 1)]));
    assert!(
        run.end.processes.iter().all(|p| p.ended && p.line.is_none() && p.buffer.is_empty()),
        "{:?}",
        run.end
    );
    assert!(run.to_string().contains("what was reordered:"), "{run}");

    // A run that ends inside: a label, and a write under way.
    let reached = report.answer("reached").unwrap().run.as_ref().unwrap();
    let p = reached.end.process("p").unwrap();
    assert_eq!((p.labels.as_slice(), p.line), (&["here".to_owned()][..], Some(3)));
    let pending: Vec<_> = p.buffer.iter().map(|e| (e.variable.as_deref(), e.value)).collect();
    assert!(pending.is_empty() || pending == [(Some("x"), Some(1))], "{pending:?}");

    // The same answers by an engine that is named, and what they rest on is accepted.
    let views = Verifier::new(STORE_BUFFERING).engine(&Views);
    assert_eq!(verdict(&views.check().unwrap(), "both"), Verdict::Violated);
    let checked = views.certify(both.witness.as_ref().unwrap()).unwrap();
    assert_eq!(checked.reason, None);
    assert_eq!(checked.claim.unwrap().to_string(), "`both` is violated, under TSO");
    let other = Verifier::new(STORE_BUFFERING.replace("x = 1", "x = 2"));
    assert!(other.certify(both.witness.as_ref().unwrap()).unwrap().reason.is_some());
}

#[test]
fn final_states_are_names_and_values() {
    let verifier = Verifier::new(STORE_BUFFERING);
    for (model, count) in [(MemoryModel::SC, 3), (MemoryModel::TSO, 4)] {
        let found = verifier.clone().model(model).outcomes().unwrap();
        assert_eq!((found.states.len(), found.complete), (count, true), "{found:?}");
        assert!(found.states.iter().all(|state| state.contains_key("p.r")), "{found:?}");
    }
}

#[test]
fn objects_games_and_machines_are_asked_the_same_way() {
    let report = Verifier::new(LOCK).model(MemoryModel::SC).clients(2).live().unwrap();
    let verdicts = ["wait-free", "deadlock-free"].map(|name| verdict(&report, name));
    assert_eq!(verdicts, [Verdict::Violated, Verdict::Holds]);
    let answer = report.answer("wait-free").unwrap();
    let run = answer.run.as_ref().unwrap();
    assert!(run.cycle.is_some_and(|first| first < run.steps.len()));
    let checked = Verifier::new(LOCK).certify(answer.witness.as_ref().unwrap()).unwrap();
    assert_eq!(checked.reason, None);

    let games = Verifier::new(GAME).games().unwrap();
    assert_eq!(games[0].winner, Some(Player::Process));
    let strategy = serde_json::to_string(games[0].strategy.as_ref().unwrap()).unwrap();
    assert_eq!(Verifier::new(GAME).certify(&strategy).unwrap().reason, None);
    assert!(!games[0].table.is_empty());

    let machine = Machine::new(MACHINE).unwrap();
    assert_eq!(machine.states().collect::<Vec<_>>(), ["idle", "sent", "lost"]);
    let lost = machine.reaches("lost", &Limits::default()).unwrap();
    assert_eq!(lost.reached, Some(true));
    let perfect = machine.reaches_without_loss("lost", 2, &Limits::default()).unwrap();
    assert_eq!(perfect.reached, None);
    assert!(perfect.reason.is_some());
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let sb = || Verifier::new(STORE_BUFFERING);
    let guess: MemoryModel = "tso+r->r+r->w".parse().unwrap();
    let avoid = "var x   process p { x = 1  there: }   game avoid p@there";
    let errors: Vec<(Error, &str)> = vec![
        (Verifier::new("").check().unwrap_err(), "the file is empty"),
        (Verifier::new("process p { y = 1 }").check().unwrap_err(), "`y`"),
        (Verifier::new("var x  process p { x = 1 }").check().unwrap_err(), "has no property"),
        (Verifier::new(LOCK).check().unwrap_err(), "is about infinite runs"),
        (Verifier::new(GAME).check().unwrap_err(), "has only games"),
        (Verifier::new(LOCK).outcomes().unwrap_err(), "is about infinite runs"),
        (Verifier::new(LOCK).games().unwrap_err(), "has no game"),
        (sb().live().unwrap_err(), "has no `live` property"),
        (sb().games().unwrap_err(), "has no game"),
        (Verifier::new(LOCK).model(MemoryModel::PSO).live().unwrap_err(), "under SC and TSO"),
        (Verifier::new(LOCK).clients(0).live().unwrap_err(), "0 clients"),
        (Verifier::new(LOCK).clients(usize::MAX).live().unwrap_err(), "clients"),
        (sb().engine(&Channels).model(MemoryModel::NSW).check().unwrap_err(), "not for NSW"),
        (sb().engine(&Channels).model(guess).check().unwrap_err(), "bound on guesses"),
        (sb().guesses(1).check().unwrap_err(), "a bound on guesses is for"),
        (sb().domain("z=0..1".parse().unwrap()).check().unwrap_err(), "`z`"),
        (Verifier::new(GAME).domain("x=0..1".parse().unwrap()).games().unwrap_err(), "bounds"),
        (Verifier::new(avoid).fairness(Fairness::Update).games().unwrap_err(), "update fairness"),
        (
            Verifier::new(GAME)
                .fairness(Fairness::Update)
                .buffers(Buffers::Load)
                .games()
                .unwrap_err(),
            "load buffers",
        ),
        (sb().certify("{}").unwrap_err(), "this is no evidence"),
        (Verifier::from_file("no-such-file.weir").unwrap_err(), "there is no such file"),
        (Machine::new("machine").unwrap_err(), "error"),
        (
            Machine::new(MACHINE).unwrap().reaches("losst", &Limits::default()).unwrap_err(),
            "did you mean `lost`?",
        ),
    ];
    for (error, message) in errors {
        assert!(error.to_string().contains(message), "no `{message}` in `{error}`");
    }
    let error = Verifier::new("process p { y = 1 }").check().unwrap_err();
    assert_eq!(error.diagnostics()[0].position("process p { y = 1 }"), (1, 13));
}

#[test]
fn limits_end_in_unknown() {
    let cancelled = Limits::none();
    cancelled.cancellation().cancel();
    assert!(cancelled.cancellation().is_cancelled());
    for (limits, reason) in [
        (Limits::default().time(Duration::ZERO), "the time limit of 0 s was reached"),
        (Limits::none().memory(1), "the memory limit of 0 MiB was reached"),
        (cancelled.clone(), "the search was interrupted"),
    ] {
        let report = Verifier::new(ENDLESS).limits(limits.clone()).check().unwrap();
        let answer = &report.answers[0];
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert!(answer.reason.as_ref().unwrap().contains(reason), "{answer:?}");
    }
    let outcomes = Verifier::new(STORE_BUFFERING).limits(cancelled.clone()).outcomes().unwrap();
    assert!(!outcomes.complete && outcomes.reason.is_some(), "{outcomes:?}");
    let report = Verifier::new(LOCK).limits(cancelled).live().unwrap();
    assert!(report.answers.iter().all(|a| a.verdict == Verdict::Unknown && a.reason.is_some()));
}

#[test]
fn every_error_is_an_error() {
    fn is_error<E: std::error::Error>() {}
    is_error::<Error>();
    is_error::<weir::LoadError>();
    is_error::<weir::CheckError>();
    is_error::<weir::bounds::BoundError>();
    is_error::<weir::Diagnostic>();
    is_error::<weir_model::limits::Stop>();
    is_error::<weir_model::memory_model::UnknownModel>();
    is_error::<weir_model::system::BuildError>();
    is_error::<weir_model::system::Unbuilt>();
    is_error::<weir_model::game::NoGame>();
    is_error::<weir_engine::graph::NoGraph>();
    is_error::<weir_engine::store::Full>();
    is_error::<weir_check::Rejected>();
    is_error::<weir_live::graph::Unfinished>();
    is_error::<weir_game::counts::Stopped>();
    is_error::<weir_game::reduce::ReduceError>();
    is_error::<weir_channel::MachineError>();
    is_error::<weir_channel::ProductError>();
    is_error::<weir_channel::ReplayError>();
    is_error::<weir_channel::TranslationError>();
}
