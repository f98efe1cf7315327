//! Prints formulas of linear temporal logic with as few brackets as the reader needs.

use weir_model::program::{Atom, BinOp, Expr, Formula, Ltl, UnOp};

use super::expression::{Atoms, expression};

/// How strongly operators bind; see the parser.
const IMPLIES: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const UNTIL: u8 = 3;
const UNARY: u8 = 4;
const STATE: u8 = 5;

/// A formula, in brackets if it binds more weakly than `weakest`.
pub fn text(formula: &Ltl, atoms: &impl Atoms<Atom>, weakest: u8) -> String {
    let infix = |a: &Ltl, word: &str, b: &Ltl, strength: u8, right: bool| {
        // Those that associate to the left have a stronger one on the right.
        let (left, other) = if right { (strength + 1, strength) } else { (strength, strength + 1) };
        (format!("{} {word} {}", text(a, atoms, left), text(b, atoms, other)), strength)
    };
    let prefix = |word: &str, a: &Ltl| (format!("{word} {}", text(a, atoms, UNARY)), UNARY);
    let (text, strength) = match formula {
        Ltl::State(f) => (expression(f, atoms), strength_of(f)),
        Ltl::Not(a) => prefix("not", a),
        Ltl::Always(a) => prefix("always", a),
        Ltl::Eventually(a) => prefix("eventually", a),
        Ltl::And(a, b) => infix(a, "and", b, AND, false),
        Ltl::Or(a, b) => infix(a, "or", b, OR, false),
        Ltl::Implies(a, b) => infix(a, "implies", b, IMPLIES, true),
        Ltl::Iff(a, b) => infix(a, "<->", b, IMPLIES, true),
        Ltl::Until(a, b) => infix(a, "until", b, UNTIL, true),
        Ltl::Unless(a, b) => infix(a, "unless", b, UNTIL, true),
        Ltl::Release(a, b) => infix(a, "release", b, UNTIL, true),
    };
    if strength < weakest { format!("({text})") } else { text }
}

fn strength_of(formula: &Formula) -> u8 {
    match formula {
        Expr::Binary(BinOp::Or, ..) => OR,
        Expr::Binary(BinOp::And, ..) => AND,
        Expr::Unary(UnOp::Not, _) => UNARY,
        _ => STATE,
    }
}
