//! The memory model of C11, C++20 and Rust: what the literature says of small programs, locks, races, and
//! random programs whose runs are checked and tampered with.

use weir::question::Listed;
use weir::{MemoryModel, Verdict, Verifier};
use weir_check::{Witness, check};
use weir_engine::{Engine as _, Explicit, SearchOptions, Task};
use weir_gen::{Rng, Shape, program, reference, setting, shrink};
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::SpanId;
use weir_model::program::{Atom, Expr, Program, Property, PropertyKind, Quantifier};
use weir_model::program::{BinOp, Formula};
use weir_model::system::System;

fn verdicts(text: &str, model: MemoryModel) -> Vec<(String, Verdict)> {
    let report = Verifier::new(text).model(model).check().unwrap_or_else(|e| panic!("{e}\n{text}"));
    report.findings.iter().map(|f| (f.name().to_owned(), f.verdict)).collect()
}

/// Whether the final state of a test is allowed.
fn is_allowed(code: &str, state: &str) -> bool {
    let text = format!("var x, y, z\n{code}\nfinal exists {state}\n");
    match verdicts(&text, MemoryModel::C11)[..] {
        [(_, Verdict::Holds)] => true,
        [(_, Verdict::Violated)] => false,
        ref other => panic!("{other:?}\n{text}"),
    }
}

/// Two processes, three or four, each with two registers.
fn test(processes: &[&str]) -> String {
    let process = |(i, body): (usize, &&str)| format!("process p{i} {{ reg r, s  {body} }}\n");
    processes.iter().enumerate().map(process).collect()
}

/// Replaces orders: `W` and `R` are those of writes and reads.
fn with(code: &str, write: &str, read: &str) -> String {
    code.replace(", W)", &format!(", {write})")).replace("(R)", &format!("({read})"))
}

#[test]
fn the_tables_of_the_literature() {
    let sb = test(&["x.store(1, W) r = y.load(R)", "y.store(1, W) r = x.load(R)"]);
    let mp = test(&["x.store(1, W) y.store(1, W)", "r = y.load(R) s = x.load(R)"]);
    let lb = test(&["r = x.load(R) y.store(1, W)", "r = y.load(R) x.store(1, W)"]);
    let two = test(&["x.store(1, W) y.store(2, W)", "y.store(1, W) x.store(2, W)"]);
    let r = test(&["x.store(1, W) y.store(1, W)", "y.store(2, W) r = x.load(R)"]);
    let s = test(&["x.store(2, W) y.store(1, W)", "r = y.load(R) x.store(1, W)"]);
    let iriw = test(&[
        "x.store(1, W)",
        "y.store(1, W)",
        "r = x.load(R) s = y.load(R)",
        "r = y.load(R) s = x.load(R)",
    ]);
    let wrc =
        test(&["x.store(1, W)", "r = x.load(R) y.store(1, W)", "r = y.load(R) s = x.load(R)"]);
    let corr = test(&["x.store(1, W)", "r = x.load(R) s = x.load(R)"]);
    let weak = ("relaxed", "relaxed");
    let sync = ("release", "acquire");
    let sc = ("seq_cst", "seq_cst");
    // (name, code, state, allowed with relaxed, with release and acquire, with seq_cst)
    let rows: [(&str, &str, &str, [bool; 3]); 9] = [
        ("SB", &sb, "p0.r == 0 and p1.r == 0", [true, true, false]),
        ("MP", &mp, "p1.r == 1 and p1.s == 0", [true, false, false]),
        ("LB", &lb, "p0.r == 1 and p1.r == 1", [false, false, false]),
        ("2+2W", &two, "x == 1 and y == 1", [true, true, false]),
        ("R", &r, "y == 2 and p1.r == 0", [true, true, false]),
        ("S", &s, "x == 2 and p1.r == 1", [true, false, false]),
        ("IRIW", &iriw, "p2.r == 1 and p2.s == 0 and p3.r == 1 and p3.s == 0", [true, true, false]),
        ("WRC", &wrc, "p1.r == 1 and p2.r == 1 and p2.s == 0", [true, false, false]),
        ("CoRR", &corr, "p1.r == 1 and p1.s == 0", [false, false, false]),
    ];
    for (name, code, state, expected) in rows {
        for ((write, read), expected) in [weak, sync, sc].into_iter().zip(expected) {
            let found = is_allowed(&with(code, write, read), state);
            assert_eq!(found, expected, "{name} with {write} and {read}");
        }
    }
    // Half of what is needed is not enough.
    let mp =
        |write: &str, read: &str| is_allowed(&with(&mp, write, read), "p1.r == 1 and p1.s == 0");
    assert!(mp("release", "relaxed") && mp("relaxed", "acquire") && !mp("seq_cst", "acquire"));
    let sb =
        |write: &str, read: &str| is_allowed(&with(&sb, write, read), "p0.r == 0 and p1.r == 0");
    assert!(sb("seq_cst", "acquire") && sb("release", "seq_cst"));
    let iriw = with(&iriw, "seq_cst", "acquire");
    assert!(is_allowed(&iriw, "p2.r == 1 and p2.s == 0 and p3.r == 1 and p3.s == 0"));
}

#[test]
fn fences_and_release_sequences() {
    let state = "p0.r == 0 and p1.r == 0";
    let sb = |fence: &str| {
        let one = format!("x = 1 {fence} r = y");
        let other = format!("y = 1 {fence} r = x");
        is_allowed(&test(&[&one, &other]), state)
    };
    assert!(!sb("fence") && !sb("fence(seq_cst)"));
    assert!(sb("fence(acq_rel)") && sb("rfence wfence"));
    let state = "p1.r == 1 and p1.s == 0";
    let mp = |before: &str, behind: &str| {
        let one = format!("x = 1 {before} y = 1");
        let other = format!("r = y {behind} s = x");
        is_allowed(&test(&[&one, &other]), state)
    };
    assert!(!mp("wfence", "rfence") && !mp("fence(release)", "fence(acquire)"));
    assert!(mp("wfence", "") && mp("", "rfence") && mp("rfence", "wfence"));
    // A relaxed read-modify-write continues a release sequence; a store of the same thread does not (C++20).
    let state = "p2.r == 2 and p2.s == 0";
    let rmw =
        ["x = 1 y.store(1, release)", "r = fetch_add(y, 1, relaxed)", "r = y.load(acquire) s = x"];
    assert!(!is_allowed(&test(&rmw), state));
    let store = ["x = 1 y.store(1, release) y.store(2, relaxed)", "r = y.load(acquire) s = x"];
    assert!(is_allowed(&test(&store), "p1.r == 2 and p1.s == 0"));
    // An atomic operation without an order is a full fence, also for others' accesses.
    let atomics = ["x = 1 r = fetch_add(z, 1) r = y", "y = 1 r = fetch_add(z, 1) r = x"];
    assert!(!is_allowed(&test(&atomics), "p0.r == 0 and p1.r == 0"));
}

/// The machine of Kang et al. 2017 has one global view of `seq_cst` operations, which forbids these; C++20 allows
/// them.
#[test]
fn the_order_of_seq_cst_operations_is_not_that_of_execution() {
    let code = test(&[
        "y.store(1, seq_cst) x.store(1, relaxed)",
        "r = x.load(relaxed) s = y.load(seq_cst)",
    ]);
    assert!(is_allowed(&code, "p1.r == 1 and p1.s == 0"));
    // Z6.U (Lahav et al. 2017, figure 1)
    let code = test(&[
        "x.store(1, seq_cst) y.store(1, release)",
        "r = fetch_add(y, 1, seq_cst) s = y.load(relaxed)",
        "y.store(3, seq_cst) r = x.load(seq_cst)",
    ]);
    assert!(is_allowed(&code, "p1.r == 1 and p1.s == 3 and p2.r == 0"));
}

#[test]
fn compare_and_swaps_that_fail_are_reads() {
    // A failing compare-and-swap may read something old, and acquires by its second order.
    let code = |failure: &str| {
        let reader = format!("r = cmpxchg(y, 7, 8, relaxed, {failure}) s = x");
        test(&["x = 1 y.store(1, release)", &reader])
    };
    assert!(is_allowed(&code("relaxed"), "p1.r == 1 and p1.s == 0"));
    assert!(!is_allowed(&code("acquire"), "p1.r == 1 and p1.s == 0"));
    let two = test(&["x = 1 x = 2 y.store(1, relaxed)", "r = y s = cmpxchg(x, 7, 8, relaxed)"]);
    assert!(is_allowed(&two, "p1.r == 1 and p1.s == 1"));
    // One that succeeds reads what it writes behind.
    let both = test(&["r = cas(x, 0, 1, relaxed)", "r = cas(x, 0, 2, relaxed)"]);
    assert!(!is_allowed(&both, "p0.r == 1 and p1.r == 1"));
}

/// For models of processors an order stands for fences.
#[test]
fn orders_are_fences_elsewhere() {
    let ordered = test(&[
        "x.store(1, W) y.store(1, W)",
        "r = y.load(R) s = x.load(R)",
        "x.store(2, W) r = y.load(R)",
    ]);
    let pairs = [
        ("relaxed", "relaxed", "", "", ""),
        ("release", "acquire", "wfence", "", "rfence"),
        ("seq_cst", "seq_cst", "wfence", "fence", "rfence"),
    ];
    for (write, read, before, behind, behind_load) in pairs {
        let store = |x: &str, v: usize| format!("{before} {x} = {v} {behind}");
        let load = |r: &str, x: &str| format!("{r} = {x} {behind_load}");
        let fenced = test(&[
            &(store("x", 1) + " " + &store("y", 1)),
            &(load("r", "y") + " " + &load("s", "x")),
            &(store("x", 2) + " " + &load("r", "y")),
        ]);
        for model in ["sc", "tso", "pso", "nsw"] {
            let states = |code: &str| {
                let text = format!("var x, y\n{code}");
                let verifier = Verifier::new(text).model(model.parse().unwrap());
                let report = verifier.outcomes().unwrap();
                Listed::of(&report).unwrap().states().collect::<Vec<_>>()
            };
            let same = states(&with(&ordered, write, read)) == states(&fenced);
            assert!(same, "{write} and {read} under {model}");
        }
    }
}

fn peterson(rounds: usize, store: &str, load: &str, fence: &str) -> String {
    format!(
        "var flag[2], turn, inside
        process p[i: 0..1] {{
            for round in 1..{rounds} {{
                flag[i].store(1, {store})
                turn.store(1 - i, {store})
                {fence}
                loop {{
                    if flag[1 - i].load({load}) == 0 {{ break }}
                    if turn.load({load}) == i {{ break }}
                }}
                critical: nop
                flag[i].store(0, {store})
            }}
        }}
        mutex: never p[0]@critical and p[1]@critical
        "
    )
}

#[test]
fn locks() {
    let mutex = |text: &str, model: MemoryModel| verdicts(text, model)[0].1;
    let strong = peterson(2, "seq_cst", "seq_cst", "");
    assert_eq!(mutex(&strong, MemoryModel::C11), Verdict::Holds, "all seq_cst");
    // The one fence that TSO needs is not enough.
    let fenced = peterson(2, "relaxed", "relaxed", "fence");
    assert_eq!(mutex(&fenced, MemoryModel::TSO), Verdict::Holds);
    assert_eq!(mutex(&fenced, MemoryModel::C11), Verdict::Violated);
}

#[test]
fn races() {
    let mp = |store: &str, load: &str| {
        format!(
            "var data, flag
            process p {{ data.store(1, plain)  flag.store(1, {store}) }}
            process q {{ reg r  await flag.load({load}) == 1  r = data.load(plain)  assert r == 1 }}"
        )
    };
    let all = |store: &str, load: &str| verdicts(&mp(store, load), MemoryModel::C11);
    let named =
        |a: Verdict, b: Verdict| vec![("assertions".to_owned(), a), ("races".to_owned(), b)];
    assert_eq!(all("release", "acquire"), named(Verdict::Holds, Verdict::Holds));
    // Nothing is said of a program with a race but that it has one.
    for (store, load) in [("relaxed", "acquire"), ("release", "relaxed"), ("relaxed", "relaxed")] {
        assert_eq!(all(store, load), named(Verdict::Unknown, Verdict::Violated), "{store} {load}");
    }
    // Who waits may race in a round that changes nothing else.
    for wait in ["await x.load(plain) == 5", "loop { if x.load(plain) == 5 { break } }"] {
        for store in ["plain", "seq_cst"] {
            let text = format!(
                "var x process p {{ x.store(1, {store}) }} process q {{ {wait} }} never x == 3"
            );
            let found = verdicts(&text, MemoryModel::C11);
            assert_eq!(found[1], ("races".to_owned(), Verdict::Violated), "{wait} {store}");
        }
    }
    let text = "var x process p { x.store(1, plain) } process q { await x.load(acquire) == 5 } never x == 3";
    assert_eq!(verdicts(text, MemoryModel::C11)[1].1, Verdict::Violated);
    // Only models of languages ask for it.
    assert_eq!(verdicts(&mp("relaxed", "relaxed"), MemoryModel::TSO).len(), 1);
    // Final states of such a program are undefined.
    let verifier = Verifier::new(mp("relaxed", "relaxed")).model(MemoryModel::C11);
    let report = verifier.outcomes().unwrap();
    assert_eq!(report.findings[0].verdict, Verdict::Unknown);
    assert!(Listed::of(&report).is_some_and(|listed| listed.outcomes.states.is_empty()));
}

/// Locks that are taken again and again, without end: their writes pile up, and folding old ones proves them.
#[test]
fn locks_without_end() {
    let endless =
        |order: &str| peterson(1, order, order, "").replace("for round in 1..1 {", "loop {");
    let spin = |exchange: &str, store: &str| {
        format!(
            "var l
            process p[i: 0..2] {{
                reg r
                loop {{
                    loop {{
                        r = swap(l, 1, {exchange})
                        if r == 0 {{ break }}
                    }}
                    critical: nop
                    l.store(0, {store})
                }}
            }}
            mutex: never count(p@critical) >= 2
            no deadlock
            "
        )
    };
    // The lock itself needs no orders; what it protects does.
    let protects = |exchange: &str, store: &str| {
        let text = spin(exchange, store).replace("var l", "var l, d: 0..1");
        text.replace("critical: nop", "critical: d.store(1 - d.load(plain), plain)")
    };
    for text in [spin("acquire", "release"), spin("relaxed", "relaxed")] {
        for (name, verdict) in verdicts(&text, MemoryModel::C11) {
            assert_eq!(verdict, Verdict::Holds, "{name} of {text}");
        }
    }
    assert_eq!(endless("seq_cst").matches("loop {").count(), 2);
    assert_eq!(verdicts(&endless("seq_cst"), MemoryModel::C11)[0].1, Verdict::Holds);
    assert_eq!(verdicts(&endless("relaxed"), MemoryModel::C11)[0].1, Verdict::Violated);
    for (exchange, store, expected) in [
        ("acquire", "release", Verdict::Holds),
        ("acquire", "relaxed", Verdict::Violated),
        ("relaxed", "release", Verdict::Violated),
    ] {
        let found = verdicts(&protects(exchange, store), MemoryModel::C11);
        let races = found.iter().find(|(name, _)| name == "races").unwrap();
        assert_eq!(races.1, expected, "{exchange} {store}");
    }
}

/// A run of a program is no run of the same program with orders that forbid it.
#[test]
fn runs_of_weaker_programs_are_rejected() {
    let shapes: [(&str, &[&str]); 4] = [
        (
            "var x, y process p { x.store(1, A) y.store(1, B) }
            process q { reg a, b a = y.load(C) b = x.load(D) }
            w: final exists q.a == 1 and q.b == 0",
            &["release", "release", "acquire", "acquire"],
        ),
        (
            "var x, y process p { reg a x.store(1, A) a = y.load(B) }
            process q { reg b y.store(1, C) b = x.load(D) }
            w: final exists p.a == 0 and q.b == 0",
            &["seq_cst"; 4],
        ),
        (
            "var x, y process p { x.store(1, A) y.store(2, B) } process q { y.store(1, C) x.store(2, D) }
            w: final exists x == 1 and y == 1",
            &["seq_cst"; 4],
        ),
        (
            "var x, y process p { x.store(1, A) } process q { reg a a = x.load(relaxed) y.store(a, B) }
            process s { reg b, c b = y.load(C) c = x.load(D) }
            w: final exists s.b == 1 and s.c == 0",
            &["relaxed", "release", "acquire", "relaxed"],
        ),
    ];
    for (text, strong) in shapes {
        let with = |orders: &[&str]| {
            let names = ["A)", "B)", "C)", "D)"];
            // The second question has a run whatever the orders are.
            let text = format!("{text} ends: final exists 0 == 0");
            let text = names
                .iter()
                .zip(orders)
                .fold(text, |text, (name, order)| text.replace(name, &format!("{order})")));
            let (program, _) = weir_front::read("shape.weir", &text, None).unwrap();
            System::for_model(program, MemoryModel::C11).unwrap()
        };
        let (weak, strong) = (with(&["relaxed"; 4]), with(strong));
        let options = SearchOptions::default();
        let find =
            |system| Explicit.search(Task::new(system, MemoryModel::C11, &options), &mut |_| {});
        let (answers, _) = find(&weak);
        let witness =
            |system, answers: &[Answer], question: usize| match &answers[question].evidence {
                Evidence::Run(run) => Witness::new(system, run, answers[question].property, &|_| 0),
                _ => panic!("{text}"),
            };
        let mut weakest = witness(&weak, &answers, 0);
        assert!(check(&weak, &weakest).is_ok());
        assert!(check(&strong, &weakest).is_err(), "another program");
        // Even where it says that it is about the other program.
        let (answers, _) = find(&strong);
        weakest.header = witness(&strong, &answers, 1).header;
        assert!(check(&strong, &weakest).is_err(), "{text}");
        assert!(!answers[0].has_run(), "{text}");
    }
}

/// Where writes pile up without end and every property is about how many there are, nothing is guessed; where loops only
/// read, the answer is complete.
#[test]
fn loops_that_write_without_end_are_unknown() {
    let text = "var x, y process p { loop { x.store(1, release) x.store(0, release) } }
        process q { reg r loop { r = x.load(acquire) } } process s { y = 1 }
        never y == 2 and q.r == 5";
    let report = Verifier::new(text).model(MemoryModel::C11).check().unwrap();
    // The code alone excludes it, or the bound was reached: never a guess.
    assert_ne!(report.findings[0].verdict, Verdict::Violated);
    let text =
        "var x process p { x.store(1, release) } process q { loop { await x.load(acquire) == 1 } }
        never x == 2 or x == 3";
    assert_eq!(verdicts(text, MemoryModel::C11)[0].1, Verdict::Holds);
}

/// Every final state that the axioms allow has a run, and no run can be changed without being rejected or meaning
/// something else that the axioms allow.
#[test]
fn runs_are_execution_graphs() {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", 60));
    let shapes = [
        Shape { orders: true, statements: 4, branches: false, ..Shape::default() },
        Shape { orders: true, processes: 3, statements: 3, ..Shape::default() },
        Shape { orders: true, vars: 1, statements: 4, ..Shape::default() },
    ];
    let (mut runs, mut tampered, mut rejected) = (0, 0, 0);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(&shapes).clone();
        let random = program(&mut rng, &shape);
        let is_wrong = |p: &Program| match all_runs(p, &mut Rng::new(case)) {
            Some(Err(why)) => Some(why),
            _ => None,
        };
        if is_wrong(&random).is_some() {
            let small = shrink(random, |p| is_wrong(p).is_some());
            let why = is_wrong(&small).unwrap();
            panic!("seed {seed}, case {case}: {why}\n{}", weir_front::weir::print(&small));
        }
        let Some(Ok(counts)) = all_runs(&random, &mut Rng::new(case)) else { continue };
        runs += counts.0;
        tampered += counts.1;
        rejected += counts.2;
    }
    assert!(runs > 2 * cases && rejected * 4 > tampered, "{runs} {tampered} {rejected}");
}

/// How many runs there were, how many were changed, and how many of those were rejected.
fn all_runs(program: &Program, rng: &mut Rng) -> Option<Result<(u64, u64, u64), String>> {
    let atoms = program.everything();
    let reached = reference::c11(program, &atoms, 5_000).filter(|r| !r.races && !r.fails)?;
    let is = |(a, v): (&Atom, &i128)| -> Formula {
        Expr::binary(BinOp::Eq, Expr::Atom(*a), Expr::Const(*v))
    };
    let both = |a, b| Expr::binary(BinOp::And, a, b);
    let exists = |values: &Vec<i128>| Property {
        name: None,
        kind: PropertyKind::Final(
            Quantifier::Exists,
            atoms.iter().zip(values).map(is).reduce(both).unwrap_or(Expr::Const(1)),
        ),
        span: SpanId::NONE,
    };
    let properties = reached.finals.iter().map(exists).collect();
    let asked = Program { properties, observed: Some(atoms.clone()), ..program.clone() };
    let system = System::for_model(asked, MemoryModel::C11).ok()?;
    let options = SearchOptions::default();
    let task = Task::new(&system, MemoryModel::C11, &options);
    let (answers, _) = match weir::solver::check_with(&Explicit, task, &mut |_| {}) {
        Ok(found) => found,
        Err(error) => return Some(Err(error.to_string())),
    };
    let (mut tampered, mut rejected) = (0, 0);
    for answer in answers.iter().take(reached.finals.len()) {
        let Evidence::Run(run) = &answer.evidence else {
            return Some(Err(format!("{:?} has no run", answer.property)));
        };
        let witness = Witness::new(&system, run, answer.property, &|_| 0);
        if witness.steps.is_empty() {
            continue;
        }
        // Another write is read, a write moves in modification order, or two steps are exchanged.
        let mut changed = witness.clone();
        let at = rng.below(changed.steps.len());
        match rng.below(3) {
            0 if at > 0 => changed.steps.swap(at - 1, at),
            1 => changed.steps[at].newer = changed.steps[at].newer.map(|n| n + 1),
            _ => changed.steps[at].newer = changed.steps[at].newer.map(|n| n.wrapping_sub(1)),
        }
        if changed == witness {
            continue;
        }
        tampered += 1;
        rejected += u64::from(check(&system, &changed).is_err());
    }
    Some(Ok((reached.finals.len() as u64, tampered, rejected)))
}

/// Who waits sees the newest write in the end, also if it is not the one that is waited for: what is a deadlock under SC is one here.
#[test]
fn waiting_for_what_was_overwritten_may_take_for_ever() {
    let text = |order: (&str, &str), flag: &str| {
        let (store, load) = order;
        format!(
            "var flag, z process a {{ flag.store(1, relaxed) {flag} z.store(1, {store}) }} \
             process b {{ await z.load({load}) == 1 await flag.load({load}) == 1 }} no deadlock"
        )
    };
    for order in [("relaxed", "relaxed"), ("release", "acquire"), ("seq_cst", "seq_cst")] {
        let overwritten = text(order, "flag.store(0, relaxed)");
        for model in [MemoryModel::SC, MemoryModel::C11] {
            assert_eq!(
                verdicts(&overwritten, model)[0].1,
                Verdict::Violated,
                "{model}: {overwritten}"
            );
        }
        let stays = text(order, "");
        assert_eq!(verdicts(&stays, MemoryModel::C11)[0].1, Verdict::Holds, "{stays}");
    }
}

/// To free an object is an access that is not atomic.
#[test]
fn freeing_races_with_accesses_that_do_not_happen_before_it() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust/refcount.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let races = |text: &str| {
        let report =
            Verifier::new(text).name("refcount.rs").model(MemoryModel::C11).check().unwrap();
        report.findings.iter().any(|f| f.name() == "races" && f.verdict == Verdict::Violated)
    };
    assert!(!races(&text));
    assert!(races(&text.replace("fetch_sub(1, Release)", "fetch_sub(1, Relaxed)")));
    assert!(races(&text.replace("fence(Acquire);", "")));
}
