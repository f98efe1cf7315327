//! What the first thread asserts after it has joined all others is a question about final states.
//!
//! If the first thread ends with the joins of threads and then only reads memory, computes and
//! asserts, these statements are left out, and each assertion becomes a property of final states,
//! in which all threads have ended and all writes have reached memory. Then threads need not tell
//! that they have ended.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{LabelId, ProcessId, RegId, SpanId};
use weir_model::program::{
    Atom, BinOp, Code, Expr, Formula, Property, PropertyKind, Quantifier, Rmw, Stmt, StmtKind, UnOp,
};

use super::Reader;
use super::objects::{Flag, Key};
use crate::weir::fold;

/// How many ways through the statements are followed.
const MAX_WAYS: usize = 64;

/// How many statements are followed.
const MAX_FOLLOWED: usize = 2_000;

/// How deep formulas nest.
const MAX_DEPTH: usize = 50;

/// One way through the statements: what has to hold on it, and what registers hold.
#[derive(Clone)]
struct Way {
    condition: Formula,
    registers: HashMap<RegId, Formula>,
}

/// The code of the first thread by label.
type Places = HashMap<LabelId, Vec<Stmt>>;

impl Reader<'_> {
    /// The thread whose end a statement waits for.
    fn ended(&self, stmt: &Stmt) -> Option<usize> {
        let StmtKind::Rmw(_, place, Rmw::Update { .. }) = &stmt.kind else { return None };
        match self.facts.get(self.cells[place.first.index()].0).key {
            Key::Flag(Flag::Ended, thread) => Some(thread),
            _ => None,
        }
    }

    /// The properties of final states, if the first thread ends like that.
    pub(super) fn ending(&mut self) -> Vec<Property> {
        self.try_ending().unwrap_or_default()
    }

    fn try_ending(&mut self) -> Option<Vec<Property>> {
        // A limit that is reached there has to be reported.
        if self.limits.iter().any(|limit| limit.0 == 0) {
            return None;
        }
        let mut places = Places::new();
        for code in &self.threads[0].code {
            if let Some(Stmt { kind: StmtKind::Label(label), .. }) = code.first() {
                places.insert(*label, code[1..].to_vec());
            }
        }
        // What is executed one after the other, whatever the run does.
        let mut line = Vec::new();
        let mut code = self.threads[0].code.first()?.clone();
        let mut passed = BTreeSet::new();
        let rest = 'line: loop {
            for (number, stmt) in code.iter().enumerate() {
                match &stmt.kind {
                    StmtKind::Goto(to) => {
                        if !passed.insert(*to) {
                            return None;
                        }
                        code = places.get(to)?.clone();
                        continue 'line;
                    }
                    StmtKind::If(..) | StmtKind::Exit | StmtKind::Await(..) => {
                        break 'line code[number..].to_vec();
                    }
                    _ => line.push(stmt.clone()),
                }
            }
            break Vec::new();
        };
        let last = line.iter().rposition(|stmt| self.ended(stmt).is_some())?;
        let is_between = |stmt: &Stmt| {
            self.ended(stmt).is_some()
                || matches!(
                    stmt.kind,
                    StmtKind::Assign(..) | StmtKind::Fence(_) | StmtKind::Label(_)
                )
        };
        let mut first = last;
        while first > 0 && is_between(&line[first - 1]) {
            first -= 1;
        }
        let all: BTreeSet<usize> = line.iter().filter_map(|stmt| self.ended(stmt)).collect();
        let here: BTreeSet<usize> =
            line[first..=last].iter().filter_map(|stmt| self.ended(stmt)).collect();
        let started = self.threads.iter().filter(|thread| !thread.name.is_empty()).count();
        if all.len() + 1 < started {
            return None;
        }
        // A result is read from memory like anything else.
        let mut tail: Vec<Stmt> =
            line[first..].iter().filter(|stmt| self.ended(stmt).is_none()).cloned().collect();
        tail.extend(rest);
        let mut properties = Vec::new();
        let way = Way { condition: Expr::Const(1), registers: HashMap::new() };
        follow(&tail, &places, vec![way], &mut properties, &mut 0)?;
        let is_single = properties.len() == 1;
        for (i, property) in properties.iter_mut().enumerate() {
            let number = if is_single { String::new() } else { format!("_{}", i + 1) };
            property.name = Some(format!("final_assertion{number}"));
        }
        let mut elsewhere: BTreeSet<usize> =
            line[..first].iter().filter_map(|stmt| self.ended(stmt)).collect();
        for code in self.threads.iter().skip(1).flat_map(|thread| &thread.code) {
            super::finish::visit(code, &mut |stmt| elsewhere.extend(self.ended(stmt)));
        }
        line.truncate(first);
        line.retain(|stmt| !matches!(stmt.kind, StmtKind::Label(_)));
        let mut cells = BTreeSet::new();
        for (number, (object, ..)) in self.cells.iter().enumerate() {
            if let Key::Flag(Flag::Ended, thread) = self.facts.get(*object).key
                && here.contains(&thread)
                && !elsewhere.contains(&thread)
            {
                cells.insert(number);
            }
        }
        self.threads[0].code = vec![line];
        for thread in &mut self.threads[1..] {
            for code in &mut thread.code {
                forget(code, &cells);
            }
        }
        Some(properties)
    }
}

/// Removes the statements that tell what nobody waits for.
fn forget(code: &mut Vec<Stmt>, cells: &BTreeSet<usize>) {
    code.retain(|stmt| !matches!(&stmt.kind, StmtKind::Rmw(_, place, _) if cells.contains(&place.first.index())));
    for stmt in code {
        stmt.kind.blocks_mut().into_iter().for_each(|block| forget(block, cells));
    }
}

/// Follows all ways through statements to their ends; nothing if one does something else than read. Returns the ways that get
/// behind the statements.
fn follow(
    code: &[Stmt],
    places: &Places,
    mut ways: Vec<Way>,
    properties: &mut Vec<Property>,
    steps: &mut usize,
) -> Option<Vec<Way>> {
    for stmt in code {
        *steps += 1;
        if ways.len() > MAX_WAYS || *steps > MAX_FOLLOWED {
            return None;
        }
        match &stmt.kind {
            StmtKind::Nop | StmtKind::Fence(_) | StmtKind::Label(_) => {}
            StmtKind::Assign(register, code) => {
                for way in &mut ways {
                    let value = formula(code, way);
                    way.registers.insert(*register, value);
                }
            }
            StmtKind::Load(register, place) => {
                for way in &mut ways {
                    way.registers.insert(*register, Expr::Atom(Atom::Var(place.first)));
                }
            }
            StmtKind::Assert(code) => {
                for way in &ways {
                    let holds = formula(code, way);
                    ask(&way.condition, holds, stmt.span, properties);
                }
                // Nothing is behind a failure.
                if matches!(code, Expr::Const(0)) {
                    return Some(Vec::new());
                }
            }
            StmtKind::Exit => return Some(Vec::new()),
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
                    if !taken.is_empty() {
                        after.extend(follow(block, places, taken, properties, steps)?);
                    }
                }
                ways = after;
                if ways.is_empty() {
                    return Some(ways);
                }
            }
            StmtKind::Goto(to) => return follow(places.get(to)?, places, ways, properties, steps),
            _ => return None,
        }
        let is_deep = |way: &Way| {
            way.registers.values().any(|f| fold::depth(f) > MAX_DEPTH)
                || fold::depth(&way.condition) > MAX_DEPTH
        };
        if ways.iter().any(is_deep) {
            return None;
        }
    }
    Some(ways)
}

/// Asks for something in all final states that a condition holds in. What is asked at one place
/// on several ways is one property.
fn ask(condition: &Formula, holds: Formula, span: SpanId, properties: &mut Vec<Property>) {
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

fn both(a: Formula, b: Formula) -> Formula {
    match (&a, &b) {
        (Expr::Const(c), _) if *c != 0 => b,
        (_, Expr::Const(c)) if *c != 0 => a,
        _ => fold::binary(BinOp::And, a, b).unwrap_or_else(|(_, formula)| formula),
    }
}

fn not(a: Formula) -> Formula {
    match a {
        Expr::Unary(UnOp::Not, inner) => *inner,
        a => fold::unary(UnOp::Not, a).unwrap_or_else(|(_, formula)| formula),
    }
}

/// Code as a formula about final states.
fn formula(code: &Code, way: &Way) -> Formula {
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
