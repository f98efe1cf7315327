//! A bound that a person gives makes things unknown, never wrong.
//!
//! Random programs with few values are asked without bounds, which is exact, and with
//! bounds that are too small. What is still known then is what was known before.

use crate::common;

use common::weir;
use weir::{Bound, ENGINES, Loaded, MemoryModel, Reading, Verdict};
use weir_engine::{Backward, Engine, Explicit, SearchOptions, Task, Views, explicit};
use weir_gen::{Rng, Shape};
use weir_model::ids::{ProcessId, QuestionId, RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Place, Program, Property, PropertyKind, Quantifier, Register, Stmt,
    StmtKind,
};
use weir_model::system::StateKind;
use weir_model::system::System;

const SPAN: SpanId = SpanId::NONE;

/// A random program that is asked everything that can be asked.
fn program(rng: &mut Rng) -> Program {
    let shape = Shape { values: 4, statements: 4, loops: rng.once_in(3), ..Shape::default() };
    let mut program = weir_gen::program(rng, &shape);
    let wait = |register: RegId, value: i128| {
        let load = StmtKind::Load(register, Place::var(VarId(0)));
        let ends = Expr::binary(BinOp::Eq, Expr::Atom(register), Expr::Const(value));
        Stmt::new(StmtKind::Await(vec![Stmt::new(load, SPAN)], ends), SPAN)
    };
    for process in &mut program.processes {
        let register = RegId::new(process.registers.len());
        process.registers.push(Register {
            name: "w".to_owned(),
            display: format!("{}.w", process.name),
            domain: None,
            init: 0,
            temporary: true,
            span: SPAN,
        });
        if rng.once_in(3) {
            let at = rng.below(process.body.len() + 1);
            process.body.insert(at, wait(register, rng.below(4) as i128));
        }
        if rng.once_in(3) {
            let test = Expr::binary(BinOp::Ne, Expr::Atom(RegId(0)), Expr::Const(2));
            process.body.push(Stmt::new(StmtKind::Assert(test), SPAN));
        }
    }
    let is =
        |atom: Atom, value: i128| Formula::binary(BinOp::Eq, Expr::Atom(atom), Expr::Const(value));
    let x = is(Atom::Var(VarId(0)), rng.below(4) as i128);
    let y = is(Atom::Var(VarId(1)), rng.below(4) as i128);
    let r = is(Atom::Reg(ProcessId(0), RegId(0)), rng.below(4) as i128);
    let both = Formula::binary(BinOp::And, x.clone(), r.clone());
    for kind in [
        PropertyKind::Never(x.clone()),
        PropertyKind::Never(both),
        PropertyKind::NoDeadlock(vec![]),
        PropertyKind::Final(Quantifier::Exists, y.clone()),
        PropertyKind::Final(Quantifier::Always, r),
        PropertyKind::Final(Quantifier::Never, y),
    ] {
        program.properties.push(Property { name: None, kind, span: SPAN });
    }
    program
}

fn bounded(mut program: Program, rng: &mut Rng) -> Program {
    let high = rng.below(3) as i128;
    for x in 0..program.var_count() {
        if rng.once_in(2) {
            program.bounds.vars.insert(VarId::new(x), (0, high));
        }
    }
    for (p, process) in program.processes.iter().enumerate() {
        for r in 0..process.registers.len() {
            if rng.once_in(3) {
                let register = (ProcessId::new(p), RegId::new(r));
                program.bounds.registers.insert(register, (0, high));
            }
        }
    }
    program
}

#[test]
fn what_is_known_with_bounds_is_so_without_them() {
    let mut counts = [0u32; 3];
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let program = program(&mut rng);
        let small = System::new(bounded(program.clone(), &mut rng)).unwrap();
        let whole = System::new(program).unwrap();
        let options = SearchOptions::default();
        for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO] {
            let (exact, _) =
                ENGINES[0].check(Task::new(&whole, model, &options), &mut |_| {}).unwrap();
            let engines = [ENGINES[0], &Explicit, &Views, &Backward];
            for engine in engines.into_iter().filter(|e| e.decides(model)) {
                let budget = Budget::new().with_store(8 << 20);
                let little = SearchOptions { budget, ..options.clone() };
                let (found, _) =
                    engine.check(Task::new(&small, model, &little), &mut |_| {}).unwrap();
                for (i, answer) in found.iter().enumerate() {
                    if Some(QuestionId::new(i)) == small.bounds_question() {
                        assert_ne!(answer.verdict, Verdict::Violated, "seed {seed}");
                        continue;
                    }
                    // `assertions` may be missing where nothing can fail any more.
                    let twin = whole.questions.get(i);
                    if twin.is_none_or(|twin| twin.name != small.questions[i].name) {
                        continue;
                    }
                    let exact = exact[i].verdict;
                    let known = [answer.verdict, exact].iter().all(|v| *v != Verdict::Unknown);
                    let ok = !known || answer.verdict == exact;
                    assert!(
                        ok,
                        "seed {seed}: property {i} under {model} by {engine:?}: {answer:?}"
                    );
                    counts[answer.verdict as usize] += 1;
                }
            }
        }
    }
    assert!(counts.iter().all(|c| *c > 500), "{counts:?}");
}

#[test]
fn final_states_within_bounds_are_final_states() {
    let mut exact = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let program = program(&mut rng);
        let small = System::new(bounded(program.clone(), &mut rng)).unwrap();
        let whole = System::new(program).unwrap();
        let options = SearchOptions::default();
        let some =
            explicit::outcomes(Task::new(&small, MemoryModel::TSO, &options), &mut |_| {}).unwrap();
        let all =
            explicit::outcomes(Task::new(&whole, MemoryModel::TSO, &options), &mut |_| {}).unwrap();
        assert!(some.states.is_subset(&all.states), "seed {seed}");
        if some.stats.is_exact() {
            assert_eq!(some.states, all.states, "seed {seed}");
            exact += 1;
        }
    }
    assert!((50..280).contains(&exact), "{exact}");
}

fn load(text: &str, bounds: &[&str]) -> Result<Loaded, String> {
    let bounds = bounds.iter().map(|b| b.parse::<Bound>().unwrap()).collect();
    let reading = Reading { bounds, ..Reading::default() };
    Loaded::read("p.weir", text, &reading).map_err(|e| e.render(false))
}

const COUNTER: &str = "var x, a[2], b: 0..3
    process p { reg r  loop { r = x  x = r + 1 } }
    process q { reg r  r = a[0]  a[1] = r }
    never x == 3";

#[test]
fn an_unbounded_variable_is_named_with_the_option_that_bounds_it() {
    let text = COUNTER.replace("x == 3", "x == -1");
    let loaded = load(&text, &[]).unwrap();
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 20), ..SearchOptions::default() };
    let (answers, stats) = weir::solver::check(&loaded.system, MemoryModel::SC, &options).unwrap();
    assert_eq!(answers[0].verdict, Verdict::Unknown);
    for (bound, hint) in [(Some("--domain"), "`--domain x=0..7`"), (None, "a bound on `x`")] {
        let hints = weir::Hints { bound, ..weir::Hints::default() };
        let reason = weir::report::reason(&answers[0], &stats, hints).expect("a reason");
        assert!(reason.contains("`x` took more than 10000 values"), "{reason}");
        assert!(reason.contains(hint), "{reason}");
    }
    // What is found is found.
    let loaded = load(COUNTER, &[]).unwrap();
    let (answers, _) = weir::solver::check(&loaded.system, MemoryModel::SC, &options).unwrap();
    assert_eq!(answers[0].verdict, Verdict::Violated);
}

#[test]
fn a_value_outside_shows_in_the_system() {
    let loaded = load(COUNTER, &["x=0..7"]).unwrap();
    let system = &loaded.system;
    let all = system.expanded(&Budget::new()).unwrap();
    let values = all.values(VarId(0)).iter().map(|v| system.value(VarId(0), *v));
    assert!(values.eq(0..8));
    let left: Vec<String> = all
        .states(ProcessId(0))
        .filter_map(|s| match &system.state(ProcessId(0), s).kind {
            StateKind::Left(excess) => Some(excess.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(left, ["x gets 8, which is outside its bound 0..7"]);
    let (answers, _) =
        weir::solver::check(system, MemoryModel::SC, &SearchOptions::default()).unwrap();
    assert_eq!(answers[0].verdict, Verdict::Violated);
    assert_eq!(answers[1].verdict, Verdict::Unknown);
}

#[test]
fn bounds_name_what_they_bound() {
    for bounds in [["a=0..1", "x=0..7"], ["a[1]=0..1", "p.r=0..7"], ["r=0..7", "x=0..9"]] {
        load(COUNTER, &bounds).unwrap();
    }
    for (bound, message) in [
        ("y=0..1", "there is no variable or register `y`"),
        ("q.rr=0..1", "did you mean `q.r`?"),
        ("b=0..1", "`b` has a domain of its own"),
        ("x=1..2", "`x` begins with 0, outside 1..2"),
    ] {
        let error = load(COUNTER, &[bound]).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    for wrong in ["x", "x=", "x=1", "x=..", "=0..1", "x=a..b", "x=2..1"] {
        assert!(wrong.parse::<Bound>().is_err(), "{wrong}");
    }
    assert_eq!("x=0..=3".parse::<Bound>().unwrap().high, 3);
}

#[test]
fn every_command_knows_bounds() {
    let file = "corpus/rmm/unbounded.rmm";
    for (args, status, out) in [
        (
            vec!["check", file, "--timeout", "0.5"],
            3,
            "say how far to look, with `--domain count=0..7`",
        ),
        (vec!["check", file, "--domain", "count=0..7"], 3, "count gets 8"),
        (vec!["check", file, "--domain", "count=0..7", "--engine", "views"], 3, "count gets 8"),
        (vec!["check", file, "--domain", "count=0..3,$c=0..3", "--format", "json"], 3, "bounds"),
        (vec!["compare", file, "--domain", "count=0..7"], 3, "unknown"),
        (vec!["outcomes", file, "--domain", "count=0..3"], 3, "there may be some"),
        (vec!["show", file, "--domain", "count=0..3"], 0, "only while count is in 0..3"),
        (vec!["show", "--system", file, "--domain", "count=0..3"], 0, "outside its bound"),
        (vec!["convert", file, "--domain", "count=0..3"], 0, "only while count is in 0..3"),
        (vec!["convert", file, "--domain", "nothing=0..3"], 2, ""),
        (vec!["channel", "of", file, "--domain", "count=0..3"], 2, ""),
    ] {
        let output = weir(&args);
        assert_eq!(output.status, status, "{args:?}: {}{}", output.out, output.err);
        assert!(output.out.contains(out), "{args:?}: {}", output.out);
    }
}

/// A proof of something else does not show that nothing leaves its bound.
#[test]
fn a_certificate_has_to_show_the_bounds() {
    let text = "var x process p { reg r  loop { r = x  x = r + 1 } } never x == 10";
    let loaded = load(text, &["x=0..7"]).unwrap();
    let options = SearchOptions { certificate: true, ..SearchOptions::default() };
    // What the engine itself finds, which knows nothing of bounds.
    let (answers, _) =
        Views.search(Task::new(&loaded.system, MemoryModel::TSO, &options), &mut |_| {});
    assert_eq!(answers[0].verdict, Verdict::Holds);
    let proof = weir::question::certificate(&loaded, &answers[..1]).unwrap();

    let folder = std::env::temp_dir().join(format!("weir-bounds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (program, file) = (folder.join("p.weir"), folder.join("proof.json"));
    std::fs::write(&program, text).unwrap();
    std::fs::write(&file, serde_json::to_string(&proof).unwrap()).unwrap();
    let (program, file) = (program.to_str().unwrap(), file.to_str().unwrap());
    let rejected = weir(&["certify", file, program, "--domain", "x=0..7"]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(rejected.status, 1, "{}{}", rejected.out, rejected.err);
    assert!(rejected.out.contains("no value leaves its bound"), "{}", rejected.out);
}
