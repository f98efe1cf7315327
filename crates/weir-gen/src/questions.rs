//! Random properties.

use weir_model::ids::{LabelId, ProcessId, RegId, VarId};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Game, Live, LiveKind, Ltl, Objective, Process, Program, Property,
    PropertyKind, Quantifier, Runs, UnOp,
};

use crate::{Rng, SPAN};

/// Adds so many random properties to a program, about memory, registers and places, and at
/// times a filter.
pub fn ask(rng: &mut Rng, program: &mut Program, count: usize) {
    for _ in 0..count {
        let kind = match rng.below(12) {
            0 => PropertyKind::NoDeadlock(vec![]),
            1 => PropertyKind::Assertions,
            2 => PropertyKind::Final(Quantifier::Exists, formula(rng, program)),
            3 => PropertyKind::Final(Quantifier::Never, formula(rng, program)),
            4 => PropertyKind::Final(Quantifier::Always, formula(rng, program)),
            _ => PropertyKind::Never(formula(rng, program)),
        };
        program.properties.push(Property { name: None, kind, span: SPAN });
    }
    if rng.once_in(8) {
        program.filter = Some(formula(rng, program));
    }
}

/// Adds so many random questions about infinite runs to a program.
pub fn ask_live(rng: &mut Rng, program: &mut Program, count: usize) {
    for _ in 0..count {
        let kind = match rng.below(5) {
            0 => LiveKind::Terminates,
            1 => LiveKind::Exists(formula(rng, program)),
            2 => LiveKind::Never(formula(rng, program)),
            _ => LiveKind::Always(formula(rng, program)),
        };
        program.live.push(Live { name: None, kind, span: SPAN });
    }
}

/// Adds so many random formulas of linear temporal logic to a program.
pub fn ask_ltl(rng: &mut Rng, program: &mut Program, count: usize) {
    for _ in 0..count {
        let depth = 2 + rng.below(2);
        let runs = match rng.below(8) {
            0 | 1 => Runs::Fair,
            2 | 3 => Runs::Endless,
            _ => Runs::All,
        };
        let kind = LiveKind::Ltl { runs, formula: ltl(rng, program, depth).folded() };
        program.live.push(Live { name: None, kind, span: SPAN });
    }
}

/// A formula of linear temporal logic that nests so deep.
fn ltl(rng: &mut Rng, program: &Program, depth: usize) -> Ltl {
    if depth == 0 {
        return Ltl::State(literal(rng, program));
    }
    let mut part = || Box::new(ltl(rng, program, depth - 1));
    let (a, b) = (part(), part());
    match rng.below(13) {
        0 => Ltl::Not(a),
        1 => Ltl::And(a, b),
        2 => Ltl::Or(a, b),
        3 => Ltl::Implies(a, b),
        4 => Ltl::Iff(a, b),
        5..=6 => Ltl::Always(a),
        7..=8 => Ltl::Eventually(a),
        9 => Ltl::Until(a, b),
        10 => Ltl::Unless(a, b),
        11 => Ltl::Release(a, b),
        _ => *a,
    }
}

/// Adds so many random games to a program that has labels.
pub fn ask_games(rng: &mut Rng, program: &mut Program, count: usize) {
    let places = places(program);
    for _ in 0..count {
        let objective = *rng.pick(&[Objective::Reach, Objective::Avoid]);
        let targets = (0..1 + rng.below(2)).map(|_| *rng.pick(&places)).collect();
        program.games.push(Game { name: None, objective, targets, span: SPAN });
    }
}

/// Every label of every process.
fn places(program: &Program) -> Vec<(ProcessId, LabelId)> {
    let processes = (0..).map(ProcessId::new).zip(&program.processes);
    let labels = |(p, process): (ProcessId, &Process)| {
        (0..process.labels.len()).map(move |l| (p, LabelId::new(l)))
    };
    processes.flat_map(labels).collect()
}

/// One to three literals, mostly joined by `and`.
fn formula(rng: &mut Rng, program: &Program) -> Formula {
    let mut formula = literal(rng, program);
    for _ in 0..rng.below(3) {
        let op = if rng.once_in(5) { BinOp::Or } else { BinOp::And };
        formula = Expr::binary(op, formula, literal(rng, program));
    }
    formula
}

/// A place, a register or a variable, at times negated.
fn literal(rng: &mut Rng, program: &Program) -> Formula {
    let processes = || (0..).map(ProcessId::new).zip(&program.processes);
    let places: Vec<Atom> = places(program).into_iter().map(|(p, l)| Atom::At(p, l)).collect();
    let registers: Vec<Atom> = processes()
        .flat_map(|(p, process)| {
            (0..process.registers.len()).map(move |r| Atom::Reg(p, RegId::new(r)))
        })
        .collect();
    let vars: Vec<Atom> = (0..program.var_count()).map(|v| Atom::Var(VarId::new(v))).collect();
    let (atoms, is_place) = match rng.below(5) {
        0..=1 if !places.is_empty() => (places, true),
        2 if !registers.is_empty() => (registers, false),
        _ => (vars, false),
    };
    let atom = Expr::Atom(*rng.pick(&atoms));
    if !is_place && rng.once_in(12) {
        let other = Expr::Atom(*rng.pick(&atoms));
        return partial(rng, atom, other);
    }
    match (is_place, rng.once_in(2)) {
        (true, true) => Expr::unary(UnOp::Not, atom),
        (true, false) => atom,
        (false, _) => {
            let op = if rng.once_in(4) { BinOp::Ne } else { BinOp::Eq };
            Expr::binary(op, atom, Expr::Const(rng.below(3) as i128))
        }
    }
}

/// A literal that has no value for some numbers: it divides, or its value may be too large.
fn partial(rng: &mut Rng, a: Formula, b: Formula) -> Formula {
    let number = |rng: &mut Rng| Expr::Const(rng.below(3) as i128);
    let value = match rng.below(5) {
        0 => Expr::binary(BinOp::Div, number(rng), a),
        1 => Expr::binary(BinOp::Mod, b, a),
        2 => Expr::binary(BinOp::Mul, a, Expr::Const(i128::MAX)),
        3 => Expr::binary(BinOp::Shl, b, Expr::binary(BinOp::Mul, a, Expr::Const(64))),
        _ => Expr::binary(BinOp::Index, a, number(rng)),
    };
    let op = *rng.pick(&[BinOp::Eq, BinOp::Ne, BinOp::Lt]);
    let literal = Expr::binary(op, value, number(rng));
    match rng.below(3) {
        0 => Expr::unary(UnOp::Not, literal),
        _ => literal,
    }
}
