//! What has to be true of every object, on random ones.

use crate::common;

use std::collections::BTreeMap;

use common::{file, five, object, seeds, system, tso};
use weir_gen::{Rng, Shape};
use weir_live::graph::{Extent, Graph};
use weir_live::property::patterns;
use weir_live::{Answer, Evidence, Options, Progress, Question, answers, fair, fold};
use weir_model::answer::Verdict;
use weir_model::ids::{SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, BinOp, Expr, Live, LiveKind, Program};
use weir_model::semantics::Form;
use weir_model::system::System;

fn shown(object: &Program, seed: u64) -> String {
    format!("seed {seed}\n{}", weir_front::weir::print(object))
}

/// No property that holds implies one that is violated, or unknown, and none that is violated
/// is implied by one that is unknown; under SC nothing is unknown.
fn check_implications(answers: &[Answer], place: &str) {
    let verdict =
        |p: Progress| answers[Progress::ALL.iter().position(|q| *q == p).unwrap()].verdict;
    for p in Progress::ALL {
        for q in p.implies() {
            let wrong = verdict(p) == Verdict::Holds && verdict(*q) == Verdict::Violated;
            assert!(!wrong, "{} but not {}: {place}", p.name(), q.name());
            let (strong, weak) = (verdict(p), verdict(*q));
            let is_open = strong == Verdict::Holds && weak == Verdict::Unknown
                || strong == Verdict::Unknown && weak == Verdict::Violated;
            assert!(!is_open, "{} tells of {}: {place}", p.name(), q.name());
        }
    }
}

fn verdict_of(answers: &[Answer], property: usize) -> Verdict {
    answers[property].verdict
}

#[test]
fn implications_hold_and_lassos_are_accepted() {
    let mut verdicts: BTreeMap<_, usize> = BTreeMap::new();
    // How often wait-freedom and lock-freedom, and SC and TSO, are not the same.
    let (mut told_apart, mut differs) = (0, 0);
    for seed in seeds(100) {
        let object = object(seed);
        let place = shown(&object, seed);
        let system = system(&object, 2);
        for flush_fair in [false, true] {
            let mut before = None;
            for options in [Options::new(MemoryModel::SC), tso(2)] {
                let mut options = Options { flush_fair, ..options };
                // Then the runs to blocking pairs come from views.
                options.search.certificate = flush_fair;
                let answers = five(&system, &options);
                check_implications(&answers, &place);
                told_apart += usize::from(verdict_of(&answers, 0) != verdict_of(&answers, 1));
                let now: Vec<_> = answers.iter().map(|a| a.verdict).collect();
                differs += usize::from(before.replace(now.clone()).is_some_and(|b| b != now));
                for (progress, answer) in Progress::ALL.into_iter().zip(&answers) {
                    *verdicts.entry((options.model, answer.verdict)).or_default() += 1;
                    if let Some(file) = file(&system, progress, flush_fair, answer) {
                        let checked = weir_check::lasso::check(&object, &file);
                        assert_eq!(checked, Ok(()), "{}: {place}", progress.name());
                    }
                }
            }
        }
    }
    eprintln!("{verdicts:?} {told_apart} {differs}");
    assert!(told_apart > 4 && differs > 0, "{told_apart} {differs}");
    let count = |model, verdict| verdicts.get(&(model, verdict)).copied().unwrap_or(0);
    assert_eq!(count(MemoryModel::SC, Verdict::Unknown), 0);
    assert!(count(MemoryModel::TSO, Verdict::Holds) > 150, "{verdicts:?}");
    assert!(count(MemoryModel::TSO, Verdict::Violated) > 150, "{verdicts:?}");
}

/// Which properties a graph of TSO with buffers up to a bound violates, and whether
/// it is all there is.
fn violated(system: &System, bound: usize, flush_fair: bool) -> Option<(Vec<bool>, bool)> {
    let semantics = Form::Tso.semantics(system, MemoryModel::TSO, bound);
    let mut extent = Extent::new(&tso(1).search.budget);
    extent.nodes = 20_000;
    let graph = Graph::explore(&*semantics, system, semantics.initial(), None, &extent).ok()?;
    Some(violated_in(&graph, flush_fair))
}

/// The same with buffers that freeze.
fn violated_frozen(system: &System, bound: usize, flush_fair: bool) -> Option<(Vec<bool>, bool)> {
    let mut extent = Extent::new(&tso(1).search.budget);
    extent.nodes = 20_000;
    Some(violated_in(&fold::frozen(system, bound, &extent).ok()?, flush_fair))
}

fn violated_in(graph: &Graph<'_>, flush_fair: bool) -> (Vec<bool>, bool) {
    let all = Progress::ALL.map(|p| {
        let kinds = patterns(graph, Question::Progress(p), flush_fair, false);
        kinds.iter().any(|pattern| fair::find(graph, pattern, &Budget::new()).unwrap().is_some())
    });
    (all.to_vec(), graph.complete)
}

#[test]
fn larger_buffers_have_all_violations_of_smaller_ones() {
    let (mut compared, mut more) = (0, 0);
    for seed in seeds(100) {
        let object = object(seed);
        let system = system(&object, 2);
        for flush_fair in [false, true] {
            let mut before: Option<Vec<bool>> = None;
            for bound in 0..=2 {
                let Some((plain, complete)) = violated(&system, bound, flush_fair) else { break };
                let frozen = violated_frozen(&system, bound, flush_fair);
                let Some((now, all)) = frozen else { break };
                let kept = plain.iter().zip(&now).all(|(b, n)| !b || *n);
                assert!(kept, "frozen at {bound}, {}", shown(&object, seed));
                assert_eq!(all, complete, "{}", shown(&object, seed));
                assert!(!complete || plain == now, "{}", shown(&object, seed));
                if let Some(before) = before {
                    compared += 1;
                    let kept = before.iter().zip(&now).all(|(b, n)| !b || *n);
                    assert!(kept, "bound {bound}, {}", shown(&object, seed));
                    more += usize::from(before != now);
                }
                before = Some(now);
            }
        }
    }
    assert!(compared > 300 && more > 0, "{compared} {more}");
}

/// Blocking pairs and folded graphs against graphs of TSO in which no buffer is ever
/// full: these have all runs.
#[test]
fn blocking_pairs_and_folded_graphs_agree_with_complete_graphs() {
    let obstruction = Progress::ALL.iter().position(|p| *p == Progress::ObstructionFree).unwrap();
    let (mut pairs, mut proofs, mut tries) = ([0, 0], 0, 0);
    for seed in seeds(200) {
        let object = object(seed);
        let system = system(&object, 2);
        let Some((exact, true)) = violated(&system, 3, false) else { continue };
        let question = [Question::Progress(Progress::ObstructionFree)];
        let answer = answers(&system, &question, &tso(1)).remove(0);
        let expected = if exact[obstruction] { Verdict::Violated } else { Verdict::Holds };
        assert_eq!(answer.verdict, expected, "{}", shown(&object, seed));
        pairs[usize::from(exact[obstruction])] += 1;
        let mut extent = Extent::new(&tso(1).search.budget);
        extent.nodes = 20_000;
        for level in 0..=1 {
            let Ok(graph) = fold::graph(&system, level, &extent) else { continue };
            for (p, &violated) in Progress::ALL.into_iter().zip(&exact) {
                let kinds = patterns(&graph, Question::Progress(p), false, true);
                let proof = kinds
                    .iter()
                    .all(|pattern| fair::find(&graph, pattern, &Budget::new()).unwrap().is_none());
                let wrong = proof && violated;
                assert!(!wrong, "level {level}, {}: {}", p.name(), shown(&object, seed));
                proofs += usize::from(proof);
                tries += usize::from(!violated);
            }
        }
    }
    eprintln!("{pairs:?} {proofs} of {tries}");
    assert!(pairs[0] > 30 && pairs[1] > 30, "{pairs:?}");
    assert!(proofs * 2 > tries, "{proofs} of {tries}");
}

#[test]
fn proofs_from_blocking_pairs_are_accepted() {
    let (mut with_set, mut without) = (0, 0);
    for seed in seeds(600) {
        let object = object(seed);
        let system = system(&object, 2);
        let mut options = tso(1);
        options.search.certificate = true;
        let question = [Question::Progress(Progress::ObstructionFree)];
        let answer = answers(&system, &question, &options).remove(0);
        let Evidence::Unblocked(proof) = answer.evidence else { continue };
        let set = proof.invariant.as_ref();
        with_set += usize::from(set.is_some());
        without += usize::from(set.is_none());
        let set = set.map(|(set, stopping)| (&**set, &**stopping));
        let mut file = weir_check::unblocked::Unblocked::new(&system, &proof.stops, set);
        let checked = weir_check::unblocked::check(&object, &file, 2);
        assert_eq!(checked, Ok(()), "{}", shown(&object, seed));
        if let Some(certificate) = &mut file.certificate {
            certificate.configurations.pop();
            assert!(weir_check::unblocked::check(&object, &file, 2).is_err(), "seed {seed}");
            file.certificate = None;
            assert!(weir_check::unblocked::check(&object, &file, 2).is_err(), "seed {seed}");
            file.stops.clear();
            assert!(weir_check::unblocked::check(&object, &file, 2).is_err(), "seed {seed}");
        }
    }
    eprintln!("{with_set} {without}");
    assert!(with_set > 3 && without > 50, "{with_set} {without}");
}

/// A random program with a loop, asked everything that can be asked of processes.
fn processes(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let shape = Shape { statements: 3, loops: true, ..Shape::default() };
    let mut program = weir_gen::program(&mut rng, &shape);
    program.observed = None;
    let one = Expr::binary(BinOp::Eq, Expr::Atom(Atom::Var(VarId(0))), Expr::Const(1));
    let kinds = [
        LiveKind::Exists(one.clone()),
        LiveKind::Never(one.clone()),
        LiveKind::Always(one),
        LiveKind::Terminates,
    ];
    let live = |kind| Live { name: None, kind, span: SpanId::NONE };
    program.live = kinds.map(live).to_vec();
    program
}

/// Every run under SC is one under TSO, and every one that is flush-fair is one.
#[test]
fn processes_under_sc_and_tso() {
    let mut verdicts: BTreeMap<_, usize> = BTreeMap::new();
    for seed in seeds(300) {
        let program = processes(seed);
        let place = shown(&program, seed);
        let system = System::with_rounds(program.clone()).unwrap();
        let questions: Vec<_> =
            system.program.live.iter().map(|l| Question::Live(&l.kind)).collect();
        let ask = |options: Options| {
            let found = answers(&system, &questions, &options);
            for (i, answer) in found.iter().enumerate() {
                let Evidence::Lasso(lasso) = &answer.evidence else { continue };
                let asked = weir_check::lasso::Asked::Live(i);
                let (run, fair) = ((&lasso.run, lasso.stem), options.flush_fair);
                let file = weir_check::lasso::Lasso::new(&system, None, asked, fair, run, &|_| 0);
                assert_eq!(weir_check::lasso::check(&program, &file), Ok(()), "{i}: {place}");
            }
            found.into_iter().map(|a| a.verdict).collect::<Vec<_>>()
        };
        let sc = ask(Options::new(MemoryModel::SC));
        let tso_fair = ask(Options { flush_fair: true, ..tso(2) });
        let tso_all = ask(tso(2));
        assert!(!sc.contains(&Verdict::Unknown), "{place}");
        // From few runs to more: what is there stays there.
        for (few, more) in [(&sc, &tso_fair), (&sc, &tso_all), (&tso_fair, &tso_all)] {
            let exists = few[0] == Verdict::Holds && more[0] == Verdict::Violated;
            assert!(!exists, "{place}");
            for i in 1..4 {
                let lost = few[i] == Verdict::Violated && more[i] == Verdict::Holds;
                assert!(!lost, "{i}: {place}");
            }
        }
        for (i, verdict) in tso_all.iter().enumerate() {
            *verdicts.entry((i, *verdict)).or_default() += 1;
        }
        // `never` is `exists` the other way round.
        for found in [&sc, &tso_fair, &tso_all] {
            let turned = match found[0] {
                Verdict::Holds => Verdict::Violated,
                Verdict::Violated => Verdict::Holds,
                Verdict::Unknown => Verdict::Unknown,
            };
            assert_eq!(found[1], turned, "{place}");
        }
    }
    eprintln!("{verdicts:?}");
    for i in 0..4 {
        for verdict in [Verdict::Holds, Verdict::Violated] {
            assert!(verdicts.get(&(i, verdict)).is_some_and(|n| *n > 20), "{verdicts:?}");
        }
    }
}

/// With three clients the graph of Treiber's stack does not fit into 16 MiB. The violations
/// are found in the part of it that was built.
#[test]
fn violations_are_found_in_a_part_of_a_graph() {
    let file_of = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/objects/treiber-stack.weir");
    let text = std::fs::read_to_string(file_of).unwrap();
    let (object, _) = weir_front::weir::read("treiber-stack.weir", &text).unwrap();
    let system = system(&object, 3);
    let asked = [Progress::WaitFree, Progress::StarvationFree];
    let found = answers(&system, &asked.map(Question::Progress), &tso(4));
    for (progress, answer) in asked.into_iter().zip(&found) {
        let file = file(&system, progress, false, answer).expect("a lasso");
        assert_eq!(weir_check::lasso::check(&object, &file), Ok(()));
    }
    let whole = fold::frozen(&system, 1, &Extent::new(&tso(4).search.budget));
    assert!(whole.is_err(), "it does not fit");
}
