//! What the first thread asserts after it has joined all others is a question about final states.
//!
//! If the first thread ends with the joins of threads and then only reads memory, computes and
//! asserts, these statements are left out, and each assertion becomes a property of final states,
//! in which all threads have ended and all writes have reached memory. Then threads need not tell
//! that they have ended.

use std::collections::{HashMap, HashSet};

use weir_model::ids::{ProcessId, RegId, SpanId};
use weir_model::program::{
    Atom, BinOp, Code, Domain, Expr, Formula, Property, PropertyKind, Quantifier, Stmt, StmtKind,
    UnOp,
};

use super::Builder;
use super::threads::Flag;
use crate::weir::fold;

/// How many ways through the statements are followed.
const MAX_WAYS: usize = 64;

/// One way through the statements: what has to hold on it, and what registers hold.
#[derive(Clone)]
pub(crate) struct Way {
    pub condition: Formula,
    pub registers: HashMap<RegId, Formula>,
}

impl Builder {
    /// The properties of final states, if the first thread ends like that.
    pub(super) fn ending(&mut self) -> Vec<Property> {
        let body = &self.processes[0].blocks[0];
        let joined = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Rmw(_, place, _) => match self.flag_of(place.first.index()) {
                Some((thread, Flag::Ended)) => Some(thread),
                _ => None,
            },
            _ => None,
        };
        let Some(last) = body.iter().rposition(|stmt| joined(stmt).is_some()) else {
            return Vec::new();
        };
        // A join is a fence itself.
        let is_between = |stmt: &Stmt| {
            joined(stmt).is_some() || matches!(stmt.kind, StmtKind::Assign(..) | StmtKind::Fence(_))
        };
        let mut first = last;
        while first > 0 && is_between(&body[first - 1]) {
            first -= 1;
        }
        let all: HashSet<usize> = body.iter().filter_map(joined).collect();
        let here: HashSet<usize> = body[first..=last].iter().filter_map(joined).collect();
        if all.len() + 1 < self.processes.len() {
            return Vec::new();
        }
        let mut rest: Vec<Stmt> =
            body[first..].iter().filter(|stmt| joined(stmt).is_none()).cloned().collect();
        let mut elsewhere: HashSet<usize> = body[..first].iter().filter_map(joined).collect();
        for process in &self.processes[1..] {
            let all = process.blocks[0].split_last().map_or(&[][..], |(_, before)| before);
            visit(all, &mut |stmt| elsewhere.extend(joined(stmt)));
        }
        let mut properties = Vec::new();
        let way = Way { condition: Expr::Const(1), registers: HashMap::new() };
        if self.follow_ways(&mut rest, vec![way], &mut properties).is_none() {
            return Vec::new();
        }
        // What is asked is an assertion of the text.
        let is_single = properties.len() == 1;
        for (i, property) in properties.iter_mut().enumerate() {
            let number = if is_single { String::new() } else { format!("_{}", i + 1) };
            property.name = Some(format!("final_assertion{number}"));
        }
        self.processes[0].blocks[0].truncate(first);
        // Who is not waited for any more need not tell its end.
        for thread in here.difference(&elsewhere) {
            let body = &self.processes[*thread].blocks[0];
            let last = body.last().and_then(|stmt| match &stmt.kind {
                StmtKind::Rmw(_, place, _) => Some(place.first.index()),
                _ => None,
            });
            if let Some(cell) = last.filter(|&c| self.flag_of(c) == Some((*thread, Flag::Ended))) {
                self.processes[*thread].blocks[0].pop();
                self.cells[cell].is_used = false;
            }
        }
        properties
    }

    /// Follows all ways through statements; nothing if one does something else than read.
    fn follow_ways(
        &self,
        stmts: &mut Vec<Stmt>,
        mut ways: Vec<Way>,
        properties: &mut Vec<Property>,
    ) -> Option<Vec<Way>> {
        for stmt in stmts {
            if ways.len() > MAX_WAYS {
                return None;
            }
            match &mut stmt.kind {
                StmtKind::Nop | StmtKind::Fence(_) => {}
                StmtKind::Assign(register, code) => {
                    let (register, code) = (*register, code.clone());
                    for way in &mut ways {
                        let value = formula(&code, way);
                        let value = self.stored(register, value, way, stmt.span, properties);
                        way.registers.insert(register, value);
                    }
                }
                StmtKind::Load(register, place) => {
                    for way in &mut ways {
                        let index = match &place.index {
                            None => 0,
                            Some(code) => match formula(code, way) {
                                Expr::Const(i) => usize::try_from(i).ok()?,
                                _ => return None,
                            },
                        };
                        if index >= place.len as usize {
                            return None;
                        }
                        let var = weir_model::ids::VarId::new(place.first.index() + index);
                        way.registers.insert(*register, Expr::Atom(Atom::Var(var)));
                    }
                }
                StmtKind::Assert(code) => {
                    for way in &ways {
                        let holds = formula(code, way);
                        ask(&way.condition, holds, stmt.span, properties);
                    }
                }
                StmtKind::Assume(code) => {
                    for way in &mut ways {
                        let holds = formula(code, way);
                        way.condition = both(way.condition.clone(), holds);
                    }
                }
                StmtKind::If(code, then, other) => {
                    let mut after = Vec::new();
                    for (block, is_then) in [(then, true), (other, false)] {
                        let mut taken = Vec::new();
                        for way in &ways {
                            let holds = formula(code, way);
                            let holds = if is_then { holds } else { not(holds) };
                            let condition = both(way.condition.clone(), holds);
                            if condition != Expr::Const(0) {
                                taken.push(Way { condition, registers: way.registers.clone() });
                            }
                        }
                        after.extend(self.follow_ways(block, taken, properties)?);
                    }
                    ways = after;
                }
                _ => return None,
            }
            if ways.iter().any(|way| way.registers.values().any(|f| fold::depth(f) > 50)) {
                return None;
            }
        }
        Some(ways)
    }

    /// What a register holds after it was given a value; asks that the value fits.
    fn stored(
        &self,
        register: RegId,
        value: Formula,
        way: &Way,
        span: SpanId,
        properties: &mut Vec<Property>,
    ) -> Formula {
        match self.processes[0].types[register.index()].domain() {
            Some(Domain::Int(int)) if int.is_signed() => {
                if can_leave(&value) {
                    let low = fold::binary(BinOp::Ge, value.clone(), Expr::Const(int.low()));
                    let high = fold::binary(BinOp::Le, value.clone(), Expr::Const(int.high()));
                    let (low, high) = (low.unwrap_or_else(|e| e.1), high.unwrap_or_else(|e| e.1));
                    ask(&way.condition, both(low, high), span, properties);
                }
                value
            }
            Some(Domain::Int(int)) => {
                fold::unary(UnOp::Wrap(int), value).unwrap_or_else(|(_, formula)| formula)
            }
            _ => value,
        }
    }
}

/// Visits all statements.
fn visit(block: &[Stmt], look: &mut impl FnMut(&Stmt)) {
    for stmt in block {
        look(stmt);
        stmt.kind.blocks().into_iter().for_each(|block| visit(block, look));
    }
}

/// Asks for something in all final states that a condition holds in. What is asked at one place
/// on several ways is one property.
pub(crate) fn ask(
    condition: &Formula,
    holds: Formula,
    span: SpanId,
    properties: &mut Vec<Property>,
) {
    let formula = match (condition, holds) {
        (_, Expr::Const(c)) if c != 0 => return,
        (Expr::Const(_), holds) => holds,
        (condition, Expr::Const(_)) => not(condition.clone()),
        (condition, holds) => Expr::binary(BinOp::Or, not(condition.clone()), holds),
    };
    let same = properties.iter_mut().find(|property| property.span == span);
    if let Some(Property { kind: PropertyKind::Final(_, before), .. }) = same {
        *before = both(before.clone(), formula);
        return;
    }
    let kind = PropertyKind::Final(Quantifier::Always, formula);
    properties.push(Property { name: None, kind, span });
}

pub(crate) fn both(a: Formula, b: Formula) -> Formula {
    match (&a, &b) {
        (Expr::Const(c), _) if *c != 0 => b,
        (_, Expr::Const(c)) if *c != 0 => a,
        _ => fold::binary(BinOp::And, a, b).unwrap_or_else(|(_, formula)| formula),
    }
}

pub(crate) fn not(a: Formula) -> Formula {
    match a {
        Expr::Unary(UnOp::Not, inner) => *inner,
        a => fold::unary(UnOp::Not, a).unwrap_or_else(|(_, formula)| formula),
    }
}

/// Whether a value may be outside the type of its operands.
fn can_leave(value: &Formula) -> bool {
    match value {
        Expr::Binary(op, ..) => {
            matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Shl)
        }
        Expr::Unary(op, _) => *op == UnOp::Neg,
        _ => false,
    }
}

/// Code as a formula about final states.
pub(crate) fn formula(code: &Code, way: &Way) -> Formula {
    match code {
        Expr::Const(c) => Expr::Const(*c),
        Expr::Atom(r) => match way.registers.get(r) {
            Some(formula) => formula.clone(),
            None => Expr::Atom(Atom::Reg(ProcessId::new(0), *r)),
        },
        Expr::Unary(op, e) => {
            fold::unary(*op, formula(e, way)).unwrap_or_else(|(_, formula)| formula)
        }
        Expr::Binary(op, a, b) => fold::binary(*op, formula(a, way), formula(b, way))
            .unwrap_or_else(|(_, formula)| formula),
    }
}
