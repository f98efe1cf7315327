//! Random programs with games.

#![allow(dead_code)]

use weir_gen::{Rng, Shape, program};
use weir_model::ids::{LabelId, ProcessId, RegId, SpanId};
use weir_model::program::{
    BinOp, Expr, FenceKind, Game, Label, Objective, Program, Stmt, StmtKind,
};
use weir_model::system::System;

/// Where the seeds begin, and how many there are: `WEIR_SEED` and `WEIR_CASES`.
pub fn seeds(cases: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let first = number("WEIR_SEED").unwrap_or(0);
    first..first + number("WEIR_CASES").unwrap_or(cases)
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt::new(kind, SpanId::NONE)
}

/// A random program in which buffers stay bounded: loops do not write. It waits, makes
/// choices, and has a game of each kind.
pub fn random(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let shape = Shape {
        processes: 1 + rng.below(3),
        vars: 1 + rng.below(3),
        statements: 3 + rng.below(4),
        atomics: false,
        ..Shape::default()
    };
    let mut made = program(&mut rng, &shape);
    made.observed = None;
    let mut targets = Vec::new();
    for (p, process) in made.processes.iter_mut().enumerate() {
        let mut body = Vec::new();
        for one in std::mem::take(&mut process.body) {
            body.push(match (&one.kind, rng.below(4)) {
                // Some reads wait, some for a value that may never come.
                (StmtKind::Load(r, place), 0 | 1) => {
                    let wanted = Expr::Const(rng.below(2) as i128);
                    let holds = Expr::binary(BinOp::Eq, Expr::Atom(*r), wanted);
                    stmt(StmtKind::Await(vec![stmt(StmtKind::Load(*r, place.clone()))], holds))
                }
                (_, 0) => {
                    let other = match rng.below(3) {
                        0 => vec![],
                        1 => vec![stmt(StmtKind::Fence(FenceKind::Full))],
                        _ => vec![stmt(StmtKind::Nop)],
                    };
                    stmt(StmtKind::Choose(vec![vec![one], other]))
                }
                _ => one,
            });
            if rng.once_in(6) {
                body.push(stmt(StmtKind::Fence(FenceKind::Full)));
            }
        }
        let here = rng.below(body.len() + 1);
        process.labels.push(Label { name: "here".into(), span: SpanId::NONE });
        if rng.once_in(2) {
            let label = stmt(StmtKind::Label(LabelId::new(0)));
            // At the end of the process, at a statement, or in a branch.
            if rng.once_in(3) {
                let branch = vec![label, stmt(StmtKind::Nop)];
                body.insert(here, stmt(StmtKind::Choose(vec![branch, vec![stmt(StmtKind::Nop)]])));
            } else {
                body.insert(here, label);
            }
            targets.push((ProcessId::new(p), LabelId::new(0)));
        }
        // Something to do for ever, for games that are never over.
        if rng.once_in(2) {
            let round = match (rng.below(3), process.registers.first()) {
                (0, Some(_)) if !process.registers.is_empty() => {
                    let place = weir_model::program::Place::var(weir_model::ids::VarId(0));
                    let wanted = Expr::Const(rng.below(2) as i128);
                    let r = RegId::new(0);
                    let holds = Expr::binary(BinOp::Eq, Expr::Atom(r), wanted);
                    StmtKind::Await(vec![stmt(StmtKind::Load(r, place))], holds)
                }
                (1, _) => StmtKind::Fence(FenceKind::Full),
                _ => StmtKind::Nop,
            };
            let at = rng.below(body.len() + 1);
            body.insert(at, stmt(StmtKind::Loop(vec![stmt(round)])));
        }
        process.body = body;
    }
    let game =
        |objective| Game { name: None, objective, targets: targets.clone(), span: SpanId::NONE };
    made.games = vec![game(Objective::Reach), game(Objective::Avoid)];
    made
}

/// The system of a random program, if it has one.
pub fn system(seed: u64) -> System {
    System::new(random(seed)).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"))
}

/// A program of the language.
pub fn read(text: &str) -> System {
    let (program, _) =
        weir_front::read("test.weir", text, None).unwrap_or_else(|e| panic!("{e:?}"));
    System::new(program).unwrap()
}
