//! Prints expressions with as few brackets as the reader needs.

use weir_model::program::{Expr, UnOp};

use crate::weir::{fold, operators};

/// How the atoms of an expression are printed.
pub trait Atoms<A> {
    /// An atom.
    fn atom(&self, atom: &A) -> String;

    /// The name of a value, if an atom has values with names.
    fn value(&self, atom: &A, value: i128) -> Option<String>;
}

/// An expression.
pub fn expression<A: Clone>(e: &Expr<A>, atoms: &impl Atoms<A>) -> String {
    text(&folded(e), atoms, 0)
}

/// A number. The lowest one has no text of its own, as the reader takes the
/// sign for an operator.
pub fn number(value: i128) -> String {
    match value {
        i128::MIN => format!("({} - 1)", i128::MIN + 1),
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
fn text<A>(e: &Expr<A>, atoms: &impl Atoms<A>, weakest: u8) -> String {
    let (text, strength) = match e {
        Expr::Const(value) => (number(*value), operators::PRIMARY),
        Expr::Atom(a) => (atoms.atom(a), operators::PRIMARY),
        Expr::Unary(UnOp::Not, e) => {
            (format!("not {}", text(e, atoms, operators::NOT)), operators::NOT)
        }
        Expr::Unary(UnOp::Neg, e) => {
            (format!("-{}", text(e, atoms, operators::SIGN)), operators::SIGN)
        }
        Expr::Unary(UnOp::Wrap(to), e) => {
            (format!("{}({})", to.name(), text(e, atoms, 0)), operators::PRIMARY)
        }
        Expr::Binary(op, a, b) => match operators::infix_text(*op) {
            Some((sign, strength)) => {
                // Operators associate to the left; comparisons do not.
                let left = strength + u8::from(strength == operators::COMPARISON);
                let (a, b) = (text(a, atoms, left), right(a, b, atoms, strength));
                (format!("{a} {sign} {b}"), strength)
            }
            None => {
                let name = operators::called_text(*op);
                let (a, b) = (text(a, atoms, 0), text(b, atoms, 0));
                (format!("{name}({a}, {b})"), operators::PRIMARY)
            }
        },
    };
    if strength < weakest { format!("({text})") } else { text }
}

/// The right operand: what an atom is compared with has its name.
fn right<A>(left: &Expr<A>, e: &Expr<A>, atoms: &impl Atoms<A>, strength: u8) -> String {
    let named = match (left, e) {
        (Expr::Atom(a), Expr::Const(value)) if strength == operators::COMPARISON => {
            atoms.value(a, *value)
        }
        _ => None,
    };
    named.unwrap_or_else(|| text(e, atoms, strength + 1))
}
