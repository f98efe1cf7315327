//! Builds expressions, working out on the way what is constant.

use weir_model::program::{BinOp, EvalError, Expr, UnOp};

/// Whether the left operand alone decides `a op b`, and what it says.
pub fn decided<A>(op: BinOp, a: &Expr<A>) -> Option<i128> {
    match (op, a) {
        (BinOp::And, Expr::Const(0)) => Some(0),
        (BinOp::Or, Expr::Const(a)) if *a != 0 => Some(1),
        _ => None,
    }
}

/// An expression, or why it has no value although it is constant; then the
/// expression stands as it was written.
pub type Folded<A> = Result<Expr<A>, (EvalError, Expr<A>)>;

/// `op e`.
pub fn unary<A>(op: UnOp, e: Expr<A>) -> Folded<A> {
    match (op, e) {
        (op, Expr::Const(c)) => match op.apply(c) {
            Ok(value) => Ok(Expr::Const(value)),
            Err(error) => Err((error, Expr::unary(op, Expr::Const(c)))),
        },
        (op, e) => Ok(Expr::unary(op, e)),
    }
}

/// `a op b`.
pub fn binary<A>(op: BinOp, a: Expr<A>, b: Expr<A>) -> Folded<A> {
    if let Some(value) = decided(op, &a) {
        return Ok(Expr::Const(value));
    }
    match (op, a, b) {
        (op, Expr::Const(a), Expr::Const(b)) => match op.apply(a, b) {
            Ok(value) => Ok(Expr::Const(value)),
            Err(error) => Err((error, Expr::binary(op, Expr::Const(a), Expr::Const(b)))),
        },
        // The left operand does not decide it, so the right one does.
        (BinOp::And | BinOp::Or, Expr::Const(_), b) => Ok(truth(b)),
        (op, a, b) => Ok(Expr::binary(op, a, b)),
    }
}

/// `e` as 0 or 1.
pub fn truth<A>(e: Expr<A>) -> Expr<A> {
    let is_truth = match &e {
        Expr::Const(c) => return Expr::Const(i128::from(*c != 0)),
        Expr::Unary(op, _) => *op == UnOp::Not,
        Expr::Binary(op, ..) => is_truth(*op),
        Expr::Atom(_) => false,
    };
    if is_truth { e } else { Expr::binary(BinOp::Ne, e, Expr::Const(0)) }
}

/// Whether an operation gives 0 or 1.
pub fn is_truth(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::And
            | BinOp::Or
    )
}

/// How deep an expression nests.
pub fn depth<A>(e: &Expr<A>) -> usize {
    match e {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, e) => 1 + depth(e),
        Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
    }
}
