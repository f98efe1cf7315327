//! The questions of a program.

use super::Orders;
use super::abstraction::Abstraction;
use crate::ids::{RegId, SpanId};
use crate::program::{
    Atom, Bounds, Code, Domain, Expr, Formula, Order, Place, Process, Program, PropertyKind,
    Quantifier, Stmt, StmtKind,
};
use crate::question::{Kind, Question};

/// What is asked of a program: its properties, whether it fails if it can, whether a value
/// leaves its bound if one can, whether accesses race where the model is that of a language, and whether the formula of each `final exists` has a value if it
/// may have none. `known` is what is known of the processes. Without it everything is asked that the
/// text of the program leaves open, so that nothing that may be violated is missing from a report.
pub(super) fn ask(
    program: &Program,
    known: Option<&[Abstraction]>,
    orders: Orders,
) -> Vec<Question> {
    let processes = known.unwrap_or_default();
    let mut asked: Vec<(Option<&String>, Kind, SpanId)> = program
        .properties
        .iter()
        .map(|p| (p.name.as_ref(), kind(program, &p.kind, processes), p.span))
        .collect();
    let in_text = || {
        let of = |p: &Process| find(&p.body, &|stmt| matches!(stmt.kind, StmtKind::Assert(_)));
        let asserting = program.processes.iter().find_map(of);
        let may_fail = |p: &Process| find(&p.body, &|stmt| may_fail(program, p, stmt));
        asserting.or_else(|| match known {
            Some(_) => None,
            None => program.processes.iter().find_map(may_fail),
        })
    };
    if let Some(span) = processes.iter().find_map(|p| p.fails).or_else(in_text)
        && asked.iter().all(|(_, kind, _)| *kind != Kind::Assertions)
    {
        asked.push((None, Kind::Assertions, span));
    }
    let is_plain = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Load(_, place) | StmtKind::Store(place, _) => place.order == Some(Order::Plain),
        _ => false,
    };
    let plain = program.processes.iter().find_map(|p| find(&p.body, &is_plain));
    if let Some(span) = plain.filter(|_| orders == Orders::Kept) {
        asked.push((None, Kind::Races, span));
    }
    let has_bounds = known.is_none() && program.bounds != Bounds::default();
    let leaves = processes.iter().find_map(|p| p.leaves);
    if let Some(span) = leaves.or(has_bounds.then_some(SpanId::NONE)) {
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

/// The place of the first statement of a kind.
fn find(block: &[Stmt], is: &dyn Fn(&Stmt) -> bool) -> Option<SpanId> {
    block.iter().find_map(|stmt| match is(stmt) {
        true => Some(stmt.span),
        false => stmt.kind.blocks().into_iter().find_map(|block| find(block, is)),
    })
}

/// Whether the text leaves open whether a statement fails: it divides, has an index, or stores a
/// value in something with a domain.
fn may_fail(program: &Program, process: &Process, stmt: &Stmt) -> bool {
    let divides = |code: &Code| code.may_fail();
    let misses = |domain: Option<Domain>, code: Option<&Code>| match (domain, code) {
        (None, _) => false,
        // An unsigned type wraps.
        (Some(Domain::Int(int)), _) if !int.is_signed() => false,
        (Some(domain), Some(Expr::Const(value))) => !program.admits(domain, *value),
        (Some(_), _) => true,
    };
    let misses_reg =
        |r: RegId, code: Option<&Code>| misses(process.registers[r.index()].domain, code);
    let misses_var = |place: &Place, code: Option<&Code>| {
        let mut first = 0;
        let decl = program.vars.iter().find(|decl| {
            first += decl.init.len();
            place.first.index() < first
        });
        place.index.is_some() || misses(decl.and_then(|decl| decl.domain), code)
    };
    match &stmt.kind {
        StmtKind::Assign(r, code) => divides(code) || misses_reg(*r, Some(code)),
        StmtKind::Any(r, values) => {
            values.iter().any(|value| misses_reg(*r, Some(&Expr::Const(*value))))
        }
        StmtKind::Load(r, place) => place.index.is_some() || misses_reg(*r, None),
        StmtKind::Store(place, code) => divides(code) || misses_var(place, Some(code)),
        StmtKind::Rmw(..) | StmtKind::Return(Some(_)) | StmtKind::Call(_) => true,
        StmtKind::Assume(code)
        | StmtKind::Assert(code)
        | StmtKind::If(code, ..)
        | StmtKind::Await(_, code) => divides(code),
        _ => false,
    }
}
