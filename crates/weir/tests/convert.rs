//! A program that is converted to `.weir` and read again is the same system.
//!
//! Two systems are *the same* if they have, in the same order,
//!
//! * variables with the same values, the same initial values and the same domain,
//! * processes with the same control states (the same kind of place, and the same
//!   register values), the same initial one, and the same transitions between them
//!   (operation, target, and whether it is waiting),
//! * properties, filter and observed parts that ask the same,
//!
//! and if one can be matched with the other so that a label of one is at a control
//! state exactly where the matching one is. Names and places in the text may differ,
//! and so may the number of an index that fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::{MemoryModel, Verdict};
use weir_engine::{Explicit, SearchOptions, Task};
use weir_gen::mutate::mutate;
use weir_gen::{Rng, Shape, setting};
use weir_model::ids::{LabelId, ProcessId, SpanId, StateId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::{
    Atom, BinOp, Expr, FenceKind, Formula, Place, Program, PropertyKind, Stmt, StmtKind,
};
use weir_model::system::{Excess, Expanded, Failure, Op, StateKind, System};

/// Which label of one system is which of another, by process.
#[derive(Default)]
struct Labels {
    there: BTreeMap<(usize, LabelId), LabelId>,
    back: BTreeMap<(usize, LabelId), LabelId>,
}

impl Labels {
    /// Matches two labels, unless one is matched with another already.
    fn matches(&mut self, process: usize, a: LabelId, b: LabelId) -> bool {
        *self.there.entry((process, a)).or_insert(b) == b
            && *self.back.entry((process, b)).or_insert(a) == a
    }

    fn same_formula(&mut self, a: &Formula, b: &Formula) -> bool {
        match (a, b) {
            (Expr::Atom(a), Expr::Atom(b)) => self.same_atom(*a, *b),
            (Expr::Const(a), Expr::Const(b)) => a == b,
            (Expr::Unary(op, a), Expr::Unary(other, b)) => op == other && self.same_formula(a, b),
            (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => {
                op == other && self.same_formula(a, c) && self.same_formula(b, d)
            }
            _ => false,
        }
    }

    fn same_atom(&mut self, a: Atom, b: Atom) -> bool {
        match (a, b) {
            (Atom::At(p, l), Atom::At(q, m)) => p == q && self.matches(p.index(), l, m),
            _ => a == b,
        }
    }
}

/// What kind of place it is, without names.
fn kind(kind: &StateKind) -> (u8, Option<i128>) {
    match kind {
        StateKind::Inside => (0, None),
        StateKind::Ended => (1, None),
        StateKind::Failed(Failure::Assertion | Failure::Message(_)) => (2, None),
        StateKind::Failed(Failure::DivisionByZero) => (3, None),
        StateKind::Failed(Failure::Index(_)) => (4, None),
        StateKind::Failed(Failure::Domain(_, value)) => (5, Some(*value)),
        StateKind::Failed(Failure::Race) => unreachable!("only models of languages have races"),
        StateKind::Left(Excess::Bound { value, .. }) => (6, Some(*value)),
        StateKind::Left(Excess::Overflow) => (7, None),
        StateKind::Left(Excess::Endless) => (8, None),
        StateKind::Left(Excess::Values) => (9, None),
    }
}

/// What a transition does, in numbers that do not depend on the system.
type Operation = (u8, Option<VarId>, i128, i128);

/// An operation with numbers instead of values: what it does, with which variable, and what it
/// reads and writes.
fn operation(all: Expanded<'_>, op: Op) -> Operation {
    match op {
        Op::Nop => (0, None, 0, 0),
        Op::Read(x, d) => (1, Some(x), all.value(x, d), 0),
        Op::Write(x, d) => (2, Some(x), 0, all.value(x, d)),
        Op::Arw(x, d, e) => (3, Some(x), all.value(x, d), all.value(x, e)),
        Op::Fence(FenceKind::Full) => (4, None, 0, 0),
        Op::Fence(FenceKind::Read) => (5, None, 0, 0),
        Op::Fence(FenceKind::Write) => (6, None, 0, 0),
    }
}

/// The transitions of a process, between places in the list of its control states: operation,
/// target, and whether it is waiting.
fn steps(
    all: Expanded<'_>,
    process: ProcessId,
    states: &[StateId],
) -> Vec<Vec<(Operation, usize, bool)>> {
    let places: BTreeMap<StateId, usize> = states.iter().copied().zip(0..).collect();
    let of = |s: &StateId| {
        let leave = all.transitions(process, *s);
        let mut leave: Vec<_> =
            leave.map(|(_, t)| (operation(all, t.op), places[&t.to], t.waits)).collect();
        leave.sort_unstable();
        leave
    };
    states.iter().map(of).collect()
}

/// The time after which a program counts as one that has no end of control states.
const PATIENCE: Duration = Duration::from_secs(3);

/// In which way two systems differ, if they do; `Err` if one of them has no end.
fn difference(a: &System, b: &System) -> Result<Option<String>, Stop> {
    let budget = Budget::new().with_time(PATIENCE);
    Ok(differs(a.expanded(&budget)?, b.expanded(&budget)?))
}

fn differs(a: Expanded<'_>, b: Expanded<'_>) -> Option<String> {
    let mut labels = Labels::default();
    if a.vars.len() != b.vars.len() || a.processes.len() != b.processes.len() {
        return Some("number of variables or processes".to_owned());
    }
    for (i, (x, y)) in a.vars.iter().zip(b.vars.iter()).enumerate() {
        let var = VarId::new(i);
        let numbers = |all: Expanded<'_>, values: &[ValueId]| -> Vec<i128> {
            values.iter().map(|v| all.value(var, *v)).collect()
        };
        let (of_x, of_y) = (numbers(a, a.values(var)), numbers(b, b.values(var)));
        let same = of_x == of_y
            && numbers(a, &x.initial) == numbers(b, &y.initial)
            && x.domain == y.domain;
        if !same {
            return Some(format!("variable {} {of_x:?}, {} {of_y:?}", x.name, y.name));
        }
    }
    for (p, (x, y)) in a.processes.iter().zip(b.processes.iter()).enumerate() {
        let (process, name) = (ProcessId::new(p), &x.name);
        let of_x: Vec<StateId> = a.states(process).collect();
        let of_y: Vec<StateId> = b.states(process).collect();
        let place = |of: &[StateId], s: StateId| of.iter().position(|t| *t == s);
        if of_x.len() != of_y.len() || place(&of_x, x.initial) != place(&of_y, y.initial) {
            return Some(format!("{} or {} states of {name}", of_x.len(), of_y.len()));
        }
        for (i, (s, t)) in of_x.iter().zip(&of_y).enumerate() {
            let (s, t) = (a.state(process, *s), b.state(process, *t));
            if kind(&s.kind) != kind(&t.kind) || s.registers != t.registers {
                return Some(format!("state {i} of {name}: {s:?}, {t:?}"));
            }
            // By name, where names are the same. Labels that are at the same states cannot
            // be told apart, so that any order that fits everywhere will do.
            let named = |program: &Program, labels: &[LabelId]| {
                let all = &program.processes[p].labels;
                let mut labels: Vec<_> =
                    labels.iter().map(|l| (all[l.index()].name.clone(), *l)).collect();
                labels.sort();
                labels
            };
            let (mut there, mut here) =
                (named(&a.program, &s.labels), named(&b.program, &t.labels));
            if !there.iter().map(|(n, _)| n).eq(here.iter().map(|(n, _)| n)) {
                there.sort_by_key(|(_, label)| *label);
                here.sort_by_key(|(_, label)| *label);
            }
            let fit = there.len() == here.len()
                && there.iter().zip(&here).all(|((_, l), (_, m))| labels.matches(p, *l, *m));
            if !fit {
                return Some(format!("labels of state {i} of {name}"));
            }
        }
        if steps(a, process, &of_x) != steps(b, process, &of_y) {
            return Some(format!("transitions of {name}"));
        }
    }
    let (p, q) = (&a.program, &b.program);
    if p.properties.len() != q.properties.len() {
        return Some("number of properties".to_owned());
    }
    for (i, (x, y)) in p.properties.iter().zip(&q.properties).enumerate() {
        let same = match (&x.kind, &y.kind) {
            (PropertyKind::Never(f), PropertyKind::Never(g)) => labels.same_formula(f, g),
            (PropertyKind::Final(n, f), PropertyKind::Final(m, g)) => {
                n == m && labels.same_formula(f, g)
            }
            (f, g) => f == g,
        };
        if !same {
            return Some(format!("property {i}: {:?}, {:?}", x.kind, y.kind));
        }
    }
    let same = match (&p.filter, &q.filter) {
        (Some(f), Some(g)) => labels.same_formula(f, g),
        (f, g) => f.is_none() && g.is_none(),
    };
    if !same {
        return Some("filter".to_owned());
    }
    // Observing nothing has no text.
    let observed = |p: &Program| p.observed.clone().filter(|o| !o.is_empty());
    let same = match (observed(p), observed(q)) {
        (Some(f), Some(g)) => {
            f.len() == g.len() && f.iter().zip(&g).all(|(f, g)| labels.same_atom(*f, *g))
        }
        (f, g) => f.is_none() && g.is_none(),
    };
    (!same).then(|| "what is observed".to_owned())
}

/// Converts a program and reads it again: it is printed the same, and the systems are the
/// same. Both systems, if they have an end.
fn survives(name: &str, program: Program) -> Option<(System, System)> {
    let text = weir_front::weir::print(&program);
    let read = weir_front::weir::read("converted.weir", &text);
    let again = read.unwrap_or_else(|errors| {
        panic!("{name}: {}\n{text}", errors[0].render("converted.weir", &text, false))
    });
    let printed = weir_front::weir::print(&again.0);
    assert_eq!(code(&printed), code(&text), "{name} is printed in another way");
    let (before, after) = (System::new(program), System::new(again.0));
    match (before, after) {
        (Ok(before), Ok(after)) => {
            return match difference(&before, &after) {
                Ok(None) => Some((before, after)),
                Ok(Some(difference)) => panic!("{name} differs in {difference}\n{text}"),
                Err(_) => None,
            };
        }
        (Err(_), Err(_)) => {}
        (before, after) => panic!("{name}: {:?}, {:?}\n{text}", before.err(), after.err()),
    }
    None
}

/// A text without comments: they say what things were called in another language.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect()
}

/// A program that says what `weir outcomes` shows of it: what a person declared. Converted
/// programs have registers more that nobody declared.
fn observing(mut program: Program) -> Program {
    program.observed = Some(program.observed.take().unwrap_or_else(|| program.everything()));
    program
}

/// Two systems have the same answers and the same final states under SC and TSO, as far as
/// a small search finds them.
fn answer_alike(name: &str, (before, after): &(System, System)) {
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let options = || SearchOptions {
            bound: Some(2),
            budget: Budget::new().with_store(1 << 20),
            ..SearchOptions::default()
        };
        // A program without properties, or an object, has none of these.
        let verdicts = |system: &System| -> Option<Vec<Verdict>> {
            let options = options();
            let task = Task::new(system, model, &options);
            let found = weir::solver::check_with(&Explicit, task, &mut |_| {});
            Some(found.ok()?.0.iter().map(|a| a.verdict).collect())
        };
        assert_eq!(verdicts(before), verdicts(after), "{name} under {model}");
        // Observing nothing has no text.
        if before.program.observed.as_ref().is_none_or(|o| !o.is_empty()) {
            let states = |system: &System| {
                weir::solver::outcomes(system, model, &options(), &mut |_| {})
                    .ok()
                    .map(|o| o.states)
            };
            assert_eq!(states(before), states(after), "{name} under {model}");
        }
    }
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let known = ["weir", "litmus", "pml", "rmm", "txt"];
    files.retain(|f| f.extension().is_some_and(|e| known.contains(&e.to_str().unwrap())));
    files.sort();
    files
}

fn all_of(folder: &str, at_least: usize) {
    let files = files(folder);
    assert!(files.len() >= at_least, "only {} files in {folder}", files.len());
    for path in files {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let read = weir_front::read(&name, &text, None);
        let (program, _) = read.unwrap_or_else(|e| panic!("{}", e[0].render(&name, &text, false)));
        survives(&name, program);
    }
}

#[test]
fn rmm_programs_are_the_same_in_weir() {
    all_of("corpus/rmm", 15);
}

#[test]
fn trencher_programs_are_the_same_in_weir() {
    all_of("corpus/trencher", 8);
}

#[test]
fn promela_models_are_the_same_in_weir() {
    all_of("corpus/promela", 13);
}

#[test]
fn litmus_tests_are_the_same_in_weir() {
    all_of("litmus", 38);
}

#[test]
fn examples_are_the_same_in_weir() {
    all_of("examples", 13);
}

/// Some of the corpus, which is large.
#[test]
fn the_corpus_is_the_same_in_weir() {
    for path in files("corpus").into_iter().step_by(9) {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        survives(&name, weir_front::read(&name, &text, None).unwrap().0);
    }
}

#[test]
fn random_programs_are_the_same_in_weir() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let shape = Shape {
            processes: 1 + rng.below(3),
            vars: 1 + rng.below(3),
            values: 1 + rng.below(3) as i128,
            loops: rng.once_in(2),
            types: rng.once_in(2),
            ..Shape::default()
        };
        let mut program = weir_gen::program(&mut rng, &shape);
        let x = Formula::Atom(Atom::Var(weir_model::ids::VarId(0)));
        let formula = Formula::binary(BinOp::Eq, x, Expr::Const(1));
        let span = SpanId::NONE;
        let kind = PropertyKind::Never(formula);
        program.properties.push(weir_model::program::Property { name: None, kind, span });
        survives(&format!("seed {seed}"), program);
    }
}

/// Everything that a random program can have, with questions.
#[test]
fn rich_programs_answer_alike_in_weir() {
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let mut program = weir_gen::program(&mut rng, &Shape::rich());
        weir_gen::ask(&mut rng, &mut program, 3);
        let name = format!("seed {seed}");
        // In no language does an index range over variables with domains of their own.
        let is_merged = weir_front::weir::print(&program).contains("\nvar mem[");
        if is_merged && program.vars.iter().any(|decl| decl.domain.is_some()) {
            continue;
        }
        if let Some(both) = survives(&name, observing(program)) {
            answer_alike(&name, &both);
        }
    }
}

/// Files of every language with random changes, where they can still be read.
#[test]
fn changed_files_answer_alike_in_weir() {
    for (folder, ending) in [
        ("litmus", "litmus"),
        ("corpus/promela", "pml"),
        ("corpus/rmm", "rmm"),
        ("corpus/trencher", "txt"),
        ("examples", "weir"),
    ] {
        let of_language = |f: &PathBuf| f.extension().is_some_and(|e| e == ending);
        let all = files(folder).into_iter().filter(of_language);
        let texts: Vec<String> = all.map(|f| fs::read_to_string(f).unwrap()).collect();
        let mut right = 0;
        for seed in 0.. {
            let mut rng = Rng::new(seed);
            let text = rng.pick(&texts);
            let text = mutate(&mut rng, text, &texts);
            let name = format!("seed {seed} of {folder}.{ending}");
            let Ok((program, _)) = weir_front::read(&name, &text, None) else { continue };
            if let Some(both) = survives(&name, observing(program))
                && right % 12 == 0
            {
                answer_alike(&name, &both);
            }
            right += 1;
            if right == setting("WEIR_CASES", 24) {
                break;
            }
        }
    }
}

/// What is too large for the Weir language is refused in every other.
#[test]
fn what_is_large_can_be_read_or_is_refused() {
    let variables = |count: usize| (0..count).map(|i| format!("x{i}=0; ")).collect::<String>();
    let domains =
        |count: usize| (0..count).map(|i| format!("x{i} = 0 : [0:1] ")).collect::<String>();
    for count in [1024, 1025] {
        let texts = [
            (
                "a.litmus",
                format!("X86_64 T\n{{ int t[{count}]; }}\n P0 ;\n MOVL $1,(t) ;\nexists (true)\n"),
            ),
            (
                "b.litmus",
                format!(
                    "X86_64 T\n{{ 0:RSI=x0; {}}}\n P0 ;\n MOVL $1,(%rsi) ;\nexists (x0=1)\n",
                    variables(count)
                ),
            ),
            ("c.pml", format!("byte a[{count}]; active proctype p() {{ a[1] = 1 }}")),
            (
                "d.rmm",
                format!(
                    "forbidden L data {}process registers $r = 0 : [0:3] text L: write: [$r] := 1",
                    domains(count)
                ),
            ),
            (
                "e.txt",
                format!(
                    "memory_size {count}\nthread t\ninitial a\nfinal c\ntransition a b read r 1\ntransition b c write r 1\nend\n"
                ),
            ),
        ];
        for (name, text) in texts {
            match weir_front::read(name, &text, None) {
                Ok((program, _)) => {
                    assert_eq!(count, 1024, "{name}");
                    let printed = weir_front::weir::print(&program);
                    let again = weir_front::read("again.weir", &printed, None);
                    assert!(again.is_ok(), "{name}: {}", again.unwrap_err()[0].message);
                }
                Err(errors) => {
                    assert_eq!(count, 1025, "{name}: {}", errors[0].message);
                    assert!(errors[0].message.contains("1024"), "{name}: {}", errors[0].message);
                }
            }
        }
    }
}

/// Indices that range over anything: variables become one array, and what leaves
/// its part of it fails all the same.
#[test]
fn random_indices_are_the_same_in_weir() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let shape = Shape { vars: 4, values: 3, ..Shape::default() };
        let mut program = weir_gen::program(&mut rng, &shape);
        let mut changed = false;
        for stmt in program.processes.iter_mut().flat_map(|p| &mut p.body) {
            if let StmtKind::Load(r, place) = &mut stmt.kind {
                let (first, len) = *rng.pick(&[(0, 3), (1, 2), (1, 3)]);
                let first = weir_model::ids::VarId(first);
                *place = Place::element(first, len, Expr::Atom(*r));
                changed = true;
            }
        }
        if changed {
            survives(&format!("seed {seed}"), program);
        }
    }
}

/// The comparison can fail.
#[test]
fn different_systems_are_told_apart() {
    let read = |text: &str| System::new(weir_front::read("p.weir", text, None).unwrap().0).unwrap();
    let base = "var x process p { x = 1 l: nop m: nop } process q { reg r r = x } never p@l";
    let others = [
        base.replace("x = 1", "x = 2"),
        base.replace("nop m", "fence m"),
        base.replace("never p@l", "never p@m"),
        base.replace("p@l", "p@l and x == 1"),
        base.replace("r = x", "r = x r = x"),
        base.replace("r = x", "await { r = x } until r == 1"),
        base.replace("var x", "var x: 0..1"),
        base.replace("never p@l", "never p@l observe q.r"),
        base.replace("var x", "var x = any(0..1)"),
    ];
    assert_eq!(difference(&read(base), &read(base)), Ok(None));
    let renamed = base.replace('x', "y").replace('l', "k");
    assert_eq!(difference(&read(base), &read(&renamed)), Ok(None));
    for other in others {
        assert!(matches!(difference(&read(base), &read(&other)), Ok(Some(_))), "{other}");
    }
}

/// Marks every label of a program as one that a property asks for.
#[test]
fn every_label_is_kept() {
    for path in files("corpus/trencher").into_iter().chain(files("corpus/rmm")) {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let (mut program, _) = weir_front::read(&name, &text, None).unwrap();
        for p in 0..program.processes.len() {
            let used = labels_of(&program.processes[p].body);
            for label in used {
                let at = Formula::Atom(Atom::At(ProcessId::new(p), label));
                let kind = PropertyKind::Never(at);
                let span = SpanId::NONE;
                program.properties.push(weir_model::program::Property { name: None, kind, span });
            }
        }
        let ends = survives(&name, program).is_some();
        assert_ne!(ends, name.contains("unbounded"), "{name}");
    }
}

/// What follows a selection at the beginning of an option follows every way through it.
#[test]
fn labels_behind_a_nested_selection_are_there_once() {
    for text in [
        "byte x, y; active proctype p() {
            if
            :: if :: x == 0 -> y = 1 :: x == 1 -> y = 2 fi; R: y = y + 3; goto out
            :: x == 7 -> goto R
            fi;
            out: assert(y == 4 || y == 5) }
         active proctype q() { x = 1 }",
        "byte x; active proctype c() { byte a[3]; short s = 0;
            if :: x = 1 -> :: if :: x = 3 :: else fi R: { x > 6 } goto late fi
            if :: skip; late: :: a[0] + a[1] -> assert(false) fi
            do :: s > 8 -> od }",
    ] {
        let (program, _) = weir_front::read("nested.pml", text, None).unwrap();
        let both = survives("nested.pml", observing(program)).expect("it is finite");
        answer_alike("nested.pml", &both);
    }
}

/// A process that divides by a constant 0 fails when it gets there; as a
/// program of Weir it still does.
#[test]
fn constants_without_a_value_fail_when_they_are_reached() {
    let text = "byte x; active proctype p() { if :: x == 1 -> x = 0 / _pid :: else fi }
                active proctype q() { x = 1 }";
    let (program, _) = weir_front::read("zero.pml", text, None).unwrap();
    let both = survives("zero.pml", observing(program)).expect("it is finite");
    answer_alike("zero.pml", &both);
}

fn labels_of(block: &[Stmt]) -> Vec<LabelId> {
    let mut found = Vec::new();
    for stmt in block {
        match &stmt.kind {
            StmtKind::Label(label) => found.push(*label),
            StmtKind::If(_, a, b) => found.extend([labels_of(a), labels_of(b)].concat()),
            StmtKind::Loop(body) => found.extend(labels_of(body)),
            StmtKind::Choose(blocks) => found.extend(blocks.iter().flat_map(|b| labels_of(b))),
            _ => {}
        }
    }
    found
}
