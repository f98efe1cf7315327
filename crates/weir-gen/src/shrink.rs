//! Makes programs small.

use std::collections::BTreeSet;

use weir_model::ids::LabelId;
use weir_model::program::{
    BinOp, Expr, Formula, LiveKind, Program, PropertyKind, Stmt, StmtKind, UnOp,
};

/// The smallest program, by removing parts one at a time, that still `fails`.
pub fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    loop {
        let smaller = candidates(&program).into_iter().find(|c| fails(c));
        match smaller {
            Some(smaller) => program = smaller,
            None => return program,
        }
    }
}

/// Programs with one part less.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Program)| {
        let mut smaller = program.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    for i in 0..program.properties.len() {
        add(&|p| drop(p.properties.remove(i)));
        if let PropertyKind::Never(formula) | PropertyKind::Final(_, formula) =
            &program.properties[i].kind
        {
            for smaller in smaller_formulas(formula) {
                add(&|p| match &mut p.properties[i].kind {
                    PropertyKind::Never(f) | PropertyKind::Final(_, f) => *f = smaller.clone(),
                    _ => unreachable!("it has a formula"),
                });
            }
        }
    }
    for i in 0..program.live.len() {
        add(&|p| drop(p.live.remove(i)));
        if let LiveKind::Exists(formula) | LiveKind::Never(formula) | LiveKind::Always(formula) =
            &program.live[i].kind
        {
            for smaller in smaller_formulas(formula) {
                add(&|p| match &mut p.live[i].kind {
                    LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => {
                        *f = smaller.clone();
                    }
                    LiveKind::Terminates | LiveKind::Ltl { .. } => {
                        unreachable!("it has a formula about states")
                    }
                });
            }
        }
    }
    if program.filter.is_some() {
        add(&|p| p.filter = None);
    }
    for i in 0..program.games.len() {
        add(&|p| drop(p.games.remove(i)));
    }
    let asks = !program.properties.is_empty() || !program.live.is_empty();
    let asks = asks || !program.games.is_empty();
    for p in 0..program.processes.len() {
        if program.processes.len() > 1 && !asks {
            add(&|smaller| {
                smaller.processes.remove(p);
                smaller.observed = Some(smaller.everything());
            });
        }
        for body in smaller_blocks(&program.processes[p].body) {
            if jumps(&body).is_subset(&labels(&body)) {
                add(&|smaller| smaller.processes[p].body = body.clone());
            }
        }
        for r in 0..program.processes[p].registers.len() {
            if program.processes[p].registers[r].domain.is_some() {
                add(&|smaller| smaller.processes[p].registers[r].domain = None);
            }
        }
    }
    for v in 0..program.vars.len() {
        if program.vars[v].domain.is_some() {
            add(&|smaller| smaller.vars[v].domain = None);
        }
    }
    all
}

/// Formulas with one part less.
fn smaller_formulas(formula: &Formula) -> Vec<Formula> {
    match formula {
        Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
            let mut all = vec![(**a).clone(), (**b).clone()];
            let with = |a: Formula, b: Formula| Expr::binary(*op, a, b);
            all.extend(smaller_formulas(a).into_iter().map(|a| with(a, (**b).clone())));
            all.extend(smaller_formulas(b).into_iter().map(|b| with((**a).clone(), b)));
            all
        }
        Expr::Unary(UnOp::Not, e) => {
            smaller_formulas(e).into_iter().map(|e| Expr::unary(UnOp::Not, e)).collect()
        }
        _ => vec![],
    }
}

/// Blocks with one statement less, or a simpler one.
fn smaller_blocks(block: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    for (i, stmt) in block.iter().enumerate() {
        let with = |replacement: &[Stmt]| {
            let mut smaller = block[..i].to_vec();
            smaller.extend_from_slice(replacement);
            smaller.extend_from_slice(&block[i + 1..]);
            smaller
        };
        all.push(with(&[]));
        let rebuilt = |kind| with(&[Stmt::new(kind, stmt.span)]);
        match &stmt.kind {
            StmtKind::If(condition, then, other) => {
                all.push(with(then));
                all.push(with(other));
                let thens = smaller_blocks(then).into_iter();
                all.extend(
                    thens.map(|t| rebuilt(StmtKind::If(condition.clone(), t, other.clone()))),
                );
                let others = smaller_blocks(other).into_iter();
                all.extend(
                    others.map(|o| rebuilt(StmtKind::If(condition.clone(), then.clone(), o))),
                );
            }
            StmtKind::Loop(body) => {
                if !leaves_a_loop(body) {
                    all.push(with(body));
                }
                all.extend(smaller_blocks(body).into_iter().map(|b| rebuilt(StmtKind::Loop(b))));
            }
            StmtKind::Atomic(kind, body) => {
                all.push(with(body));
                let bodies = smaller_blocks(body).into_iter();
                all.extend(bodies.map(|b| rebuilt(StmtKind::Atomic(*kind, b))));
            }
            StmtKind::Choose(blocks) => {
                all.extend(blocks.iter().map(|b| with(b)));
                for (j, block) in blocks.iter().enumerate() {
                    for smaller in smaller_blocks(block) {
                        let mut blocks = blocks.clone();
                        blocks[j] = smaller;
                        all.push(rebuilt(StmtKind::Choose(blocks)));
                    }
                }
            }
            StmtKind::Await(loads, condition) => {
                all.push(with(loads));
                let fewer = smaller_blocks(loads).into_iter();
                all.extend(fewer.map(|l| rebuilt(StmtKind::Await(l, condition.clone()))));
                if let Expr::Binary(BinOp::Or, a, b) = condition {
                    all.push(rebuilt(StmtKind::Await(loads.clone(), (**a).clone())));
                    all.push(rebuilt(StmtKind::Await(loads.clone(), (**b).clone())));
                }
            }
            StmtKind::Any(register, values) if values.len() > 1 => {
                all.push(rebuilt(StmtKind::Any(*register, values[1..].to_vec())));
                all.push(rebuilt(StmtKind::Any(*register, values[..values.len() - 1].to_vec())));
            }
            StmtKind::Store(place, Expr::Atom(_)) => {
                all.push(rebuilt(StmtKind::Store(place.clone(), Expr::Const(1))));
            }
            _ => {}
        }
    }
    all
}

/// Whether a block has a `break` or `continue` of a loop around it.
fn leaves_a_loop(block: &[Stmt]) -> bool {
    block.iter().any(|s| match &s.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Loop(_) => false,
        kind => kind.blocks().into_iter().any(|block| leaves_a_loop(block)),
    })
}

/// The labels that a block goes to.
fn jumps(block: &[Stmt]) -> BTreeSet<LabelId> {
    collect(block, &|kind| match kind {
        StmtKind::Goto(label) => Some(*label),
        _ => None,
    })
}

/// The labels that stand in a block.
fn labels(block: &[Stmt]) -> BTreeSet<LabelId> {
    collect(block, &|kind| match kind {
        StmtKind::Label(label) => Some(*label),
        _ => None,
    })
}

fn collect(block: &[Stmt], find: &impl Fn(&StmtKind) -> Option<LabelId>) -> BTreeSet<LabelId> {
    let mut all = BTreeSet::new();
    for stmt in block {
        all.extend(find(&stmt.kind));
        all.extend(stmt.kind.blocks().into_iter().flat_map(|block| collect(block, find)));
    }
    all
}
