//! The library as its users see it: answers are data, what cannot be asked is an error, and
//! limits end in `unknown`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use weir::question::{Answered, Listed, Properties, QUESTIONS, Repaired, Solved};
use weir::report::run::Layout;
use weir::{
    Buffers, Error, Event, Fairness, Finding, Limits, Machine, MemoryModel, Player, Report,
    Verdict, Verifier,
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
    report.finding(name).unwrap_or_else(|| panic!("there is no `{name}`")).verdict
}

#[test]
fn a_run_has_names_values_and_places() {
    let report = Verifier::new(STORE_BUFFERING).model(MemoryModel::TSO).check().unwrap();
    assert_eq!(report.about, "under TSO");
    assert!(!report.holds());
    let both = report.finding("both").unwrap();
    assert_eq!((both.verdict, both.line), (Verdict::Violated, Some(5)));
    let run = both.run().unwrap();
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
    let reached = report.finding("reached").unwrap().run().unwrap();
    let p = reached.end.process("p").unwrap();
    assert_eq!((p.labels.as_slice(), p.line), (&["here".to_owned()][..], Some(3)));
    let pending: Vec<_> = p.buffer.iter().map(|e| (e.variable.as_deref(), e.value)).collect();
    assert!(pending.is_empty() || pending == [(Some("x"), Some(1))], "{pending:?}");

    // The same answers by an engine that is named, and what they rest on is accepted.
    let views = Verifier::new(STORE_BUFFERING).engine(&Views);
    assert_eq!(verdict(&views.check().unwrap(), "both"), Verdict::Violated);
    let checked = views.certify(&both.file().unwrap()).unwrap();
    assert_eq!(checked.reason, None);
    assert_eq!(checked.claim.unwrap().to_string(), "`both` is violated, under TSO");
    let other = Verifier::new(STORE_BUFFERING.replace("x = 1", "x = 2"));
    assert!(other.certify(&both.file().unwrap()).unwrap().reason.is_some());
}

#[test]
fn final_states_are_names_and_values() {
    let verifier = Verifier::new(STORE_BUFFERING);
    for (model, count) in [(MemoryModel::SC, 3), (MemoryModel::TSO, 4)] {
        let found = verifier.clone().model(model).outcomes().unwrap();
        assert_eq!(found.findings[0].verdict, Verdict::Holds, "{found:?}");
        let listed = found.findings[0].basis::<Listed>().unwrap();
        let states: Vec<_> = listed.states().collect();
        assert_eq!(states.len(), count, "{found:?}");
        assert!(states.iter().all(|state| state.contains_key("p.r")));
    }
}

#[test]
fn objects_games_and_machines_are_asked_the_same_way() {
    let report = Verifier::new(LOCK).model(MemoryModel::SC).clients(2).live().unwrap();
    let verdicts = ["wait-free", "deadlock-free"].map(|name| verdict(&report, name));
    assert_eq!(verdicts, [Verdict::Violated, Verdict::Holds]);
    let answer = report.finding("wait-free").unwrap();
    let run = answer.run().unwrap();
    assert!(run.cycle.is_some_and(|first| first < run.steps.len()));
    let checked = Verifier::new(LOCK).certify(&answer.file().unwrap()).unwrap();
    assert_eq!(checked.reason, None);

    let games = Verifier::new(GAME).games().unwrap();
    let solved = games.findings[0].basis::<Solved>().unwrap();
    assert_eq!(solved.outcome.winner, Some(Player::Process));
    let strategy = games.findings[0].file().unwrap();
    assert_eq!(Verifier::new(GAME).certify(&strategy).unwrap().reason, None);
    assert!(!games.findings[0].blocks(Layout::default()).is_empty());

    let machine = Machine::new(MACHINE).unwrap();
    assert_eq!(machine.states().collect::<Vec<_>>(), ["idle", "sent", "lost"]);
    let lost = machine.reaches("lost", &Limits::default()).unwrap();
    assert_eq!(lost.findings[0].word(), "reached");
    assert_eq!(Machine::run(&lost).unwrap().last().unwrap().state, "lost");
    let perfect = machine.reaches_without_loss("lost", 2, &Limits::default()).unwrap();
    assert_eq!(perfect.findings[0].verdict, Verdict::Unknown);
    assert!(perfect.findings[0].reason.is_some());
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
        (Verifier::new(LOCK).model(MemoryModel::PSO).live().unwrap_err(), "for SC and TSO"),
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
        let answer = &report.findings[0];
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert!(answer.reason.as_ref().unwrap().contains(reason), "{answer:?}");
    }
    let outcomes = Verifier::new(STORE_BUFFERING).limits(cancelled.clone()).outcomes().unwrap();
    let states = &outcomes.findings[0];
    assert!(states.verdict == Verdict::Unknown && states.reason.is_some(), "{outcomes:?}");
    let report = Verifier::new(LOCK).limits(cancelled).live().unwrap();
    assert!(report.findings.iter().all(|a| a.verdict == Verdict::Unknown && a.reason.is_some()));
}

#[test]
fn every_error_is_an_error() {
    fn is_error<E: std::error::Error>() {}
    is_error::<Error>();
    is_error::<weir::LoadError>();
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
    is_error::<weir_theory::reduce::ReduceError>();
    is_error::<weir_channel::MachineError>();
    is_error::<weir_channel::ProductError>();
    is_error::<weir_channel::ReplayError>();
    is_error::<weir_channel::TranslationError>();
}

/// Every kind of question gives findings with a claim, a verdict and, if it is known, evidence.
#[test]
fn every_kind_of_question_gives_findings() {
    let texts = [STORE_BUFFERING, STORE_BUFFERING, LOCK, GAME, STORE_BUFFERING, STORE_BUFFERING];
    assert_eq!(QUESTIONS.len(), texts.len(), "each kind has a text");
    for (kind, text) in QUESTIONS.iter().zip(texts) {
        let verifier = Verifier::new(text).name("program.weir");
        let asked = Mutex::new(0);
        let report = (kind.ask)(&verifier, &|event| {
            if let Event::Asked(report) = event {
                let is_open = |f: &Finding| f.verdict == Verdict::Unknown;
                assert!(report.findings.iter().all(is_open), "{}", kind.name);
                *asked.lock().unwrap() = report.findings.len();
            }
        })
        .unwrap();
        assert_eq!(report.question, kind.name);
        assert_eq!(asked.into_inner().unwrap(), report.findings.len(), "{}", kind.name);
        for finding in &report.findings {
            assert!(!finding.claim.fingerprint.is_empty() && !finding.name().is_empty());
            let is_known = finding.verdict != Verdict::Unknown;
            assert_eq!(finding.evidence().is_some(), is_known, "{}: {finding:?}", kind.name);
        }
    }
}

/// The library gives what the command line gives: proofs, fences, robustness.
#[test]
fn proofs_and_repairs_are_data() {
    let fenced =
        STORE_BUFFERING.replace("x = 1 ", "x = 1 fence ").replace("y = 1 ", "y = 1 fence ");
    let verifier = Verifier::new(fenced).engine(&Views).proofs(true);
    let question = Properties { names: vec!["both".to_owned()] };
    let report = verifier.ask(&question, &|_| {}).unwrap();
    assert!(report.holds());
    let proof = report.proof(&verifier.budget()).unwrap().unwrap();
    assert_eq!(proof.settles, ["both"]);
    let checked = verifier.certify(&proof.text).unwrap();
    assert_eq!(checked.reason, None);
    let (claim, verdict) = checked.claim.as_ref().unwrap().each().next().unwrap();
    assert_eq!((&claim, verdict), (&report.findings[0].claim, "holds"));
    assert!(report.findings[0].basis::<Answered>().is_some());

    let broken = STORE_BUFFERING.replace("reached: never p@here", "");
    let report = Verifier::new(broken.clone()).name("sb.weir").fences().unwrap();
    let repaired = report.findings[0].basis::<Repaired>().unwrap();
    let text = repaired.text().unwrap();
    assert!(Verifier::new(text).check().unwrap().holds());
    assert_eq!(Verifier::new(broken).robust().unwrap().findings[0].word(), "not robust");
}

/// A program that was built is asked about like one that was read.
#[test]
fn programs_need_no_text() {
    let (program, _) = weir_front::weir::read("sb.weir", STORE_BUFFERING).unwrap();
    let report = Verifier::of_program(&program).check().unwrap();
    assert_eq!(verdict(&report, "both"), Verdict::Violated);
}
