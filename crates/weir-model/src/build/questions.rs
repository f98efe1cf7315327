//! The questions of a program.

use super::abstraction::Abstraction;
use crate::ids::SpanId;
use crate::program::{Atom, Formula, Program, PropertyKind, Quantifier, Stmt, StmtKind};
use crate::question::{Kind, Question};

/// What is asked of a program: its properties, whether it fails if it can, whether a value
/// leaves its bound if one can, and whether the formula of each `final exists` has a value if it
/// may have none. `processes` is what is known of the processes, if anything is.
pub(super) fn ask(program: &Program, processes: &[Abstraction]) -> Vec<Question> {
    let mut asked: Vec<(Option<&String>, Kind, SpanId)> = program
        .properties
        .iter()
        .map(|p| (p.name.as_ref(), kind(program, &p.kind, processes), p.span))
        .collect();
    let asserting = || program.processes.iter().find_map(|p| first_assertion(&p.body));
    if let Some(span) = processes.iter().find_map(|p| p.fails).or_else(asserting)
        && asked.iter().all(|(_, kind, _)| *kind != Kind::Assertions)
    {
        asked.push((None, Kind::Assertions, span));
    }
    if let Some(span) = processes.iter().find_map(|p| p.leaves) {
        asked.push((None, Kind::Bounds, span));
    }
    // Questions without a name are called what they ask, and numbered if there are several.
    let alike = |list: &[(Option<&String>, Kind, SpanId)], of: &Kind| {
        list.iter().filter(|(name, kind, _)| name.is_none() && kind.name() == of.name()).count()
    };
    let question = |(i, (name, kind, span)): (usize, &(Option<&String>, Kind, SpanId))| {
        let name = match name {
            Some(name) => (*name).clone(),
            None if alike(&asked, kind) < 2 => kind.name().to_owned(),
            None => format!("{} #{}", kind.name(), alike(&asked[..=i], kind)),
        };
        Question { name, kind: kind.clone(), span: *span }
    };
    let mut questions: Vec<Question> = asked.iter().enumerate().map(question).collect();
    let valued: Vec<Question> = questions.iter().filter_map(valued).collect();
    questions.extend(valued);
    questions
}

/// Whether the formula of a `final exists` has a value, if it may have none.
fn valued(question: &Question) -> Option<Question> {
    let Kind::Final { quantifier: Quantifier::Exists, formula, filter } = &question.kind else {
        return None;
    };
    let kind = Kind::Valued { formula: formula.clone(), filter: filter.clone() };
    let name = format!("value of {}", question.name);
    let valued = Question { name, kind, span: question.span };
    (!valued.is_excluded()).then_some(valued)
}

/// What a property asks.
fn kind(program: &Program, property: &PropertyKind, processes: &[Abstraction]) -> Kind {
    let known = |formula: &Formula| reachable(formula, processes);
    match property {
        PropertyKind::Never(formula) => Kind::Never(known(formula)),
        PropertyKind::Assertions => Kind::Assertions,
        PropertyKind::NoDeadlock(except) => Kind::NoDeadlock(except.clone()),
        PropertyKind::Final(quantifier, formula) => Kind::Final {
            quantifier: *quantifier,
            formula: known(formula),
            filter: program.filter.clone(),
        },
    }
}

/// A formula without the labels that their processes cannot reach, whatever they read: no
/// process stands there.
fn reachable(formula: &Formula, processes: &[Abstraction]) -> Formula {
    let mut formula = formula.clone();
    formula.replace(&|atom| match atom {
        Atom::At(p, l) if processes.get(p.index()).is_some_and(|p| !p.labels.contains(l)) => {
            Some(Formula::Const(0))
        }
        _ => None,
    });
    formula
}

fn first_assertion(block: &[Stmt]) -> Option<SpanId> {
    block.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Assert(_) => Some(stmt.span),
        kind => kind.blocks().into_iter().find_map(|block| first_assertion(block)),
    })
}
