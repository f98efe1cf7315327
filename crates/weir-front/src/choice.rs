//! Choices between branches that may wait.
//!
//! In Trencher and `.rmm`, a process takes one of the branches that it *can* take. In Weir `choose`
//! takes any, and a process that has chosen a branch that cannot go on waits there. [`among`]
//! translates the former to the latter: it first tests what the branches wait for.

use weir_model::ids::SpanId;
use weir_model::program::{BinOp, Code, Expr, Stmt, StmtKind};

/// The most branches for which all combinations of conditions are written, and the most statements of
/// all of them.
const MAX_BRANCHES: usize = 5;
const MAX_STATEMENTS: usize = 40;

/// The statements for a choice among branches, of which only those are taken that can be.
pub fn among(branches: Vec<Vec<Stmt>>, span: SpanId) -> Vec<Stmt> {
    let choose = |branches: Vec<Vec<Stmt>>| vec![Stmt::new(StmtKind::Choose(branches), span)];
    match branches.len() {
        0 => return vec![Stmt::new(StmtKind::Assume(Expr::Const(0)), span)],
        1 => return branches.into_iter().flatten().collect(),
        n if n > MAX_BRANCHES
            || !can_be_copied(&branches)
            || !branches.iter().any(|branch| may_wait(branch)) =>
        {
            return choose(branches);
        }
        _ => {}
    }
    // All wait for the same variable: one load tells who may go on.
    let load = |branch: &Vec<Stmt>| match branch.first().map(|stmt| &stmt.kind) {
        Some(StmtKind::Await(loads, _)) => match loads.as_slice() {
            [Stmt { kind: StmtKind::Load(register, place), .. }] => {
                Some((*register, place.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    let first = load(&branches[0]);
    if let (Some(first), Some(StmtKind::Await(loads, _))) =
        (first, branches[0].first().map(|stmt| &stmt.kind))
        && branches.iter().all(|branch| load(branch).as_ref() == Some(&first))
    {
        let loads = loads.clone();
        let (conditions, rests) = split(branches);
        let any = conditions.iter().cloned().reduce(|a, b| Expr::binary(BinOp::Or, a, b));
        let mut made = vec![Stmt::new(StmtKind::Await(loads, any.unwrap_or(Expr::Const(1))), span)];
        made.extend(decide(&conditions, &rests, Vec::new(), span));
        return made;
    }
    // Whether they can be taken depends on registers.
    let is_known = |branch: &Vec<Stmt>| match branch.first().map(|stmt| &stmt.kind) {
        Some(StmtKind::Assume(_)) => true,
        _ => !may_wait(branch),
    };
    if branches.iter().all(is_known) {
        let (conditions, rests) = split(branches);
        return decide(&conditions, &rests, Vec::new(), span);
    }
    choose(branches)
}

/// Whether a process may wait in a branch of a choice although another branch is open. Then a
/// deadlock of the translation need not be a deadlock of the text.
pub fn is_hasty(body: &[Stmt]) -> bool {
    let mut blocks = vec![body];
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Choose(branches) => {
                    if branches.iter().any(|branch| may_wait(branch)) {
                        return true;
                    }
                    blocks.extend(branches.iter().map(Vec::as_slice));
                }
                StmtKind::If(_, then, other) => blocks.extend([then.as_slice(), other.as_slice()]),
                StmtKind::Loop(inner) | StmtKind::Atomic(_, inner) => blocks.push(inner),
                _ => {}
            }
        }
    }
    false
}

/// Whether branches are short, and have no label, which stands for one place.
fn can_be_copied(branches: &[Vec<Stmt>]) -> bool {
    let mut count = 0;
    let mut blocks: Vec<&[Stmt]> = branches.iter().map(Vec::as_slice).collect();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            count += 1;
            match &stmt.kind {
                StmtKind::Label(_) => return false,
                StmtKind::Choose(branches) => blocks.extend(branches.iter().map(Vec::as_slice)),
                StmtKind::If(_, then, other) => blocks.extend([then.as_slice(), other.as_slice()]),
                StmtKind::Loop(inner) | StmtKind::Await(inner, _) | StmtKind::Atomic(_, inner) => {
                    blocks.push(inner);
                }
                _ => {}
            }
        }
    }
    count <= MAX_STATEMENTS
}

/// Whether the first statement may have to wait.
fn may_wait(branch: &[Stmt]) -> bool {
    match branch.first().map(|stmt| &stmt.kind) {
        Some(StmtKind::Assume(_) | StmtKind::Await(..) | StmtKind::Atomic(..)) => true,
        Some(StmtKind::Choose(branches)) => branches.iter().any(|branch| may_wait(branch)),
        Some(StmtKind::If(_, then, other)) => may_wait(then) || may_wait(other),
        _ => false,
    }
}

/// What each branch waits for, and what is left of it.
fn split(branches: Vec<Vec<Stmt>>) -> (Vec<Code>, Vec<Vec<Stmt>>) {
    let of = |mut branch: Vec<Stmt>| match branch.first().map(|stmt| stmt.kind.clone()) {
        Some(StmtKind::Assume(condition) | StmtKind::Await(_, condition)) => {
            // What is left may be nothing, which is no branch.
            branch[0].kind = StmtKind::Nop;
            if branch.len() > 1 {
                branch.remove(0);
            }
            (condition, branch)
        }
        _ => (Expr::Const(1), branch),
    };
    branches.into_iter().map(of).unzip()
}

/// Looks at one condition after the other, and chooses among those that hold.
///
/// Recursive: the number of branches is bounded.
fn decide(conditions: &[Code], rests: &[Vec<Stmt>], open: Vec<usize>, span: SpanId) -> Vec<Stmt> {
    let next = rests.len() - conditions.len();
    let with = |open: &[usize]| [open, &[next]].concat();
    match conditions {
        [] => match open.as_slice() {
            [] => vec![Stmt::new(StmtKind::Assume(Expr::Const(0)), span)],
            [one] => rests[*one].clone(),
            several => {
                let branches = several.iter().map(|i| rests[*i].clone()).collect();
                vec![Stmt::new(StmtKind::Choose(branches), span)]
            }
        },
        [Expr::Const(1), rest @ ..] => decide(rest, rests, with(&open), span),
        [condition, rest @ ..] => {
            let yes = decide(rest, rests, with(&open), span);
            let no = decide(rest, rests, open, span);
            vec![Stmt::new(StmtKind::If(condition.clone(), yes, no), span)]
        }
    }
}
