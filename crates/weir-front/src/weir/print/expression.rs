//! Prints expressions with as few brackets as the reader needs.

use weir_model::program::{BinOp, Expr, UnOp};

use crate::weir::{fold, operators};

/// An expression; `atom` prints its atoms.
pub fn expression<A: Clone>(e: &Expr<A>, atom: &impl Fn(&A) -> String) -> String {
    text(&folded(e), atom, 0)
}

/// A number. The lowest one has no text of its own, as the reader takes the
/// sign for an operator.
pub fn number(value: i64) -> String {
    match value {
        i64::MIN => format!("({} - 1)", i64::MIN + 1),
        _ => value.to_string(),
    }
}

/// With constant parts worked out, as the reader would.
fn folded<A: Clone>(e: &Expr<A>) -> Expr<A> {
    match e {
        Expr::Const(_) | Expr::Atom(_) => e.clone(),
        Expr::Unary(op, e) => fold::unary(*op, folded(e)).unwrap_or_else(|(_, e)| e),
        Expr::Binary(op, a, b) => {
            fold::binary(*op, folded(a), folded(b)).unwrap_or_else(|(_, e)| e)
        }
    }
}

/// In brackets if it binds more weakly than `weakest`.
fn text<A>(e: &Expr<A>, atom: &impl Fn(&A) -> String, weakest: u8) -> String {
    let (text, strength) = match e {
        Expr::Const(value) => (number(*value), operators::PRIMARY),
        Expr::Atom(a) => (atom(a), operators::PRIMARY),
        Expr::Unary(UnOp::Not, e) => {
            (format!("not {}", text(e, atom, operators::NOT)), operators::NOT)
        }
        Expr::Unary(UnOp::Neg, e) => {
            (format!("-{}", text(e, atom, operators::SIGN)), operators::SIGN)
        }
        Expr::Binary(op, a, b) => match operators::infix_text(*op) {
            Some((sign, strength)) => {
                // Operators associate to the left; comparisons do not.
                let left = strength + u8::from(strength == operators::COMPARISON);
                let (a, b) = (text(a, atom, left), text(b, atom, strength + 1));
                (format!("{a} {sign} {b}"), strength)
            }
            None => {
                let name = if *op == BinOp::Min { "min" } else { "max" };
                let (a, b) = (text(a, atom, 0), text(b, atom, 0));
                (format!("{name}({a}, {b})"), operators::PRIMARY)
            }
        },
    };
    if strength < weakest { format!("({text})") } else { text }
}
