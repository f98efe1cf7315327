//! The machine of C11 reaches what the axioms allow, on random programs with loops.
//!
//! The axioms are about programs without loops, so they are evaluated on the program with its loops unrolled:
//!
//! * A loop that changes nothing before its last round (it reads, has fences, or exchanges a value for itself) becomes that
//!   round, which has to end the loop. The rounds before it leave nothing behind in registers, since every round reads all of
//!   them again. They have seen writes and synchronized, which forbids executions and allows none. So the final states,
//!   the failures and the races are the same.
//! * A counted loop becomes its rounds.
//!
//! Deadlocks differ: a last round that does not end its loop stops the unrolled program, where the loop reads again. But whoever waits
//! for ever in the loop is stopped there, too.
//!
//! `WEIR_SEED` and `WEIR_CASES` change where the random programs start and how many there are.

use std::collections::BTreeSet;

use weir_gen::reference::{self, Reached};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::ids::{RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Code, Expr, FenceKind, Order, Place, Process, Program, Register, Rmw, Stmt, StmtKind,
};

use super::c11::explore;

/// The most graphs of a program.
const LIMIT: usize = 10_000;

fn stmt(kind: StmtKind) -> Stmt {
    Stmt::new(kind, SpanId::NONE)
}

fn equals(register: RegId, value: i128) -> Code {
    Expr::binary(BinOp::Eq, Expr::Atom(register), Expr::Const(value))
}

fn differs(register: RegId, value: i128) -> Code {
    Expr::binary(BinOp::Ne, Expr::Atom(register), Expr::Const(value))
}

/// Puts a fence somewhere, once in a while.
fn fenced(rng: &mut Rng, body: &mut Vec<Stmt>) {
    if rng.once_in(3) {
        let kind = *rng.pick(&[FenceKind::Full, FenceKind::Read, FenceKind::Write]);
        let at = rng.below(body.len() + 1);
        body.insert(at, stmt(StmtKind::Fence(kind)));
    }
}

/// `loop { BODY; if CONDITION { break } }`
fn until(mut body: Vec<Stmt>, condition: Code) -> StmtKind {
    body.push(stmt(StmtKind::If(condition, vec![stmt(StmtKind::Break)], vec![])));
    StmtKind::Loop(body)
}

/// A new register, whose initial value is 0.
fn counter(process: &mut Process) -> RegId {
    let name = format!("i{}", process.registers.len());
    process.registers.push(Register {
        display: format!("{}.{name}", process.name),
        name,
        domain: None,
        init: 0,
        temporary: false,
        span: SpanId::NONE,
    });
    RegId::new(process.registers.len() - 1)
}

/// Repeats some statements of a program: loads and compare-and-swaps until they read something, exchanges until they
/// change something, others and these a few times.
pub fn add_loops(rng: &mut Rng, program: &mut Program) {
    for process in &mut program.processes {
        for statement in std::mem::take(&mut process.body) {
            let repeated = repeat(rng, process, &statement.kind);
            process.body.push(repeated.map_or(statement, stmt));
        }
    }
    program.observed = Some(program.everything());
}

fn repeat(rng: &mut Rng, process: &mut Process, kind: &StmtKind) -> Option<StmtKind> {
    let body = || vec![stmt(kind.clone())];
    let is_spin = !rng.once_in(3);
    match kind {
        StmtKind::Load(r, _) if is_spin => {
            let mut body = body();
            let mut condition = equals(*r, rng.below(2) as i128);
            if rng.once_in(4) {
                let other = counter(process);
                let order = *rng.pick(&[Order::Relaxed, Order::Acquire, Order::SeqCst]);
                let place = Place { order: Some(order), ..Place::var(VarId(0)) };
                body.push(stmt(StmtKind::Load(other, place)));
                let also = equals(other, rng.below(2) as i128);
                let op = *rng.pick(&[BinOp::And, BinOp::Or]);
                condition = Expr::binary(op, condition, also);
            }
            fenced(rng, &mut body);
            Some(until(body, condition))
        }
        StmtKind::Rmw(r, _, Rmw::Swap(Expr::Const(new))) if is_spin => {
            let mut body = body();
            fenced(rng, &mut body);
            Some(until(body, differs(*r, *new)))
        }
        StmtKind::Rmw(r, _, Rmw::Cas { expected: Expr::Const(wanted), .. }) if is_spin => {
            Some(until(body(), equals(*r, *wanted)))
        }
        StmtKind::Rmw(r, _, Rmw::CasFlag { expected: Expr::Const(_), .. }) if is_spin => {
            Some(until(body(), equals(*r, 1)))
        }
        StmtKind::Load(..) | StmtKind::Store(..) | StmtKind::Rmw(..) if rng.once_in(4) => {
            let i = counter(process);
            let mut body = body();
            let next = Expr::binary(BinOp::Add, Expr::Atom(i), Expr::Const(1));
            body.push(stmt(StmtKind::Assign(i, next)));
            Some(until(body, equals(i, 2)))
        }
        _ => None,
    }
}

/// The block without loops; `None` if it has others than those of [`add_loops`].
fn unroll(block: &[Stmt]) -> Option<Vec<Stmt>> {
    let mut out = Vec::new();
    for statement in block {
        match &statement.kind {
            StmtKind::Await(loads, condition) => {
                out.extend(loads.iter().cloned());
                out.push(stmt(StmtKind::Assume(condition.clone())));
            }
            StmtKind::Loop(body) => {
                let (last, rest) = body.split_last()?;
                let StmtKind::If(condition, _, _) = &last.kind else { return None };
                let is_end = last.kind == until_end(condition);
                let is_straight = rest.iter().all(|s| s.kind.blocks().is_empty());
                if !is_end || !is_straight {
                    return None;
                }
                let rounds = match rest.last().map(|s| &s.kind) {
                    Some(StmtKind::Assign(..)) => 2,
                    _ if rest.iter().all(|s| changes_nothing(&s.kind, condition)) => 1,
                    _ => return None,
                };
                for _ in 0..rounds {
                    out.extend(rest.iter().cloned());
                }
                out.push(stmt(StmtKind::Assume(condition.clone())));
            }
            kind => {
                let mut kind = kind.clone();
                for block in kind.blocks_mut() {
                    *block = unroll(block)?;
                }
                out.push(stmt(kind));
            }
        }
    }
    Some(out)
}

fn until_end(condition: &Code) -> StmtKind {
    StmtKind::If(condition.clone(), vec![stmt(StmtKind::Break)], vec![])
}

/// Whether a statement changes nothing in each round but the last, which ends a loop by this condition.
fn changes_nothing(kind: &StmtKind, condition: &Code) -> bool {
    match kind {
        StmtKind::Load(..) | StmtKind::Fence(_) => true,
        StmtKind::Rmw(r, _, Rmw::Swap(Expr::Const(new))) => *condition == differs(*r, *new),
        StmtKind::Rmw(r, _, Rmw::Cas { expected: Expr::Const(wanted), .. }) => {
            *condition == equals(*r, *wanted)
        }
        StmtKind::Rmw(r, _, Rmw::CasFlag { .. }) => *condition == equals(*r, 1),
        _ => false,
    }
}

/// Why the two disagree; `None` if there is nothing to compare.
fn compare(looping: &Program) -> Option<Result<(), String>> {
    let mut unrolled = looping.clone();
    for process in &mut unrolled.processes {
        process.body = unroll(&process.body)?;
    }
    let atoms = looping.everything();
    let defined = reference::c11(&unrolled, &atoms, LIMIT)?;
    // An exchange of a location that can race is kept in every round.
    let found = explore(looping, &atoms)?;
    if defined.races {
        let missed = || Err("the accesses race, and the machine has not found it".to_owned());
        return Some(if found.races { Ok(()) } else { missed() });
    }
    if found.deadlocks && !defined.deadlocks {
        return Some(Err("only the machine deadlocks".to_owned()));
    }
    let defined = Reached { states: BTreeSet::new(), deadlocks: found.deadlocks, ..defined };
    Some(match found == defined {
        true => Ok(()),
        false => {
            let only = |a: &Reached, b: &Reached| {
                format!("{:?}", a.finals.difference(&b.finals).collect::<Vec<_>>())
            };
            Err(format!(
                "only the axioms allow {}, only the machine reaches {}; fails {} and {}, races {} and {}; {atoms:?}",
                only(&defined, &found),
                only(&found, &defined),
                defined.fails,
                found.fails,
                defined.races,
                found.races,
            ))
        }
    })
}

pub fn shapes() -> Vec<Shape> {
    let plain = Shape { orders: true, statements: 4, branches: false, ..Shape::default() };
    vec![
        plain.clone(),
        Shape { vars: 1, ..plain.clone() },
        Shape { statements: 5, fences: false, ..plain.clone() },
        Shape { awaits: true, branches: true, ..plain.clone() },
        Shape { awaits: true, locals: true, ..plain.clone() },
        Shape { locals: true, choices: true, ..plain.clone() },
        Shape { processes: 3, statements: 3, ..plain.clone() },
        Shape { processes: 3, statements: 3, atomics: false, awaits: true, ..plain },
    ]
}

#[test]
fn the_machine_agrees_with_the_axioms_on_loops() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 200);
    let (mut compared, mut looping, mut ended) = (0, 0, 0);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_033).wrapping_add(case));
        let shape = rng.pick(&shapes()).clone();
        // Short processes show little.
        let random = (0..10).map(|_| program(&mut rng, &shape));
        let mut random =
            random.max_by_key(|p| p.processes.iter().map(|p| p.body.len()).min()).unwrap();
        add_loops(&mut rng, &mut random);
        let Some(result) = compare(&random) else { continue };
        compared += 1;
        let is_loop = |s: &Stmt| matches!(s.kind, StmtKind::Loop(_) | StmtKind::Await(..));
        let mut bodies = random.processes.iter().map(|p| &p.body);
        looping += u64::from(bodies.any(|body| body.iter().any(is_loop)));
        let found = explore(&random, &random.everything());
        ended += u64::from(found.is_some_and(|found| !found.finals.is_empty()));
        if result.is_err() {
            let is_wrong = |p: &Program| compare(p).is_some_and(|r| r.is_err());
            let small = shrink(random, is_wrong);
            let why = compare(&small).unwrap().unwrap_err();
            panic!("seed {seed}, case {case}: {why}\n{}", weir_front::weir::print(&small));
        }
    }
    println!("seed {seed}: {compared} of {cases} compared, {looping} with loops, {ended} end");
    assert!(
        compared * 2 > cases && looping * 2 > cases && ended * 5 > cases,
        "{compared} compared, {looping} with loops, {ended} end of {cases}"
    );
}
