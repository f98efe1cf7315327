//! Whether formulas stay the same when processes, variables and values are exchanged.

use super::Automorphism;
use super::permutation::Permutation;
use crate::program::{Atom, BinOp, Expr, Formula};

impl Automorphism {
    /// Whether a formula is true of a state if and only if it is true of the image.
    pub(super) fn keeps(&self, formula: &Formula) -> bool {
        // The order of operands does not matter where a formula has a value in every state.
        self.image(formula).is_some_and(|image| match formula.may_have_no_value() {
            true => image == *formula,
            false => normal(&image) == normal(formula),
        })
    }

    /// The formula that is true of a state if and only if the given one is true of the image of the
    /// state. An exchange is its own inverse.
    fn image(&self, formula: &Formula) -> Option<Formula> {
        let stays = Permutation::default();
        let of = |atom: &Atom| match atom {
            Atom::Var(x) => &self.values[x.index()],
            Atom::Reg(p, r) => &self.registers[p.index()][r.index()],
            Atom::At(..) => &stays,
        };
        let image = |atom: &Atom| match *atom {
            Atom::Var(x) => Atom::Var(self.var(x)),
            Atom::Reg(p, r) => Atom::Reg(self.process(p), r),
            Atom::At(p, l) => Atom::At(self.process(p), l),
        };
        Some(match formula {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Atom(a) => of(a).is_identity().then(|| Expr::Atom(image(a)))?,
            Expr::Unary(op, e) => Expr::unary(*op, self.image(e)?),
            Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => match (&**a, &**b) {
                (Expr::Atom(a), Expr::Atom(b)) if of(a) == of(b) => {
                    Expr::binary(*op, Expr::Atom(image(a)), Expr::Atom(image(b)))
                }
                (Expr::Atom(a), Expr::Const(c)) | (Expr::Const(c), Expr::Atom(a)) => {
                    let c = of(a).image(*c);
                    Expr::binary(*op, Expr::Atom(image(a)), Expr::Const(c))
                }
                _ => Expr::binary(*op, self.image(a)?, self.image(b)?),
            },
            Expr::Binary(op, a, b) => Expr::binary(*op, self.image(a)?, self.image(b)?),
        })
    }
}

/// A text that is the same for formulas that differ in the order of operands only.
fn normal(formula: &Formula) -> String {
    match formula {
        Expr::Const(c) => c.to_string(),
        Expr::Atom(a) => format!("{a:?}"),
        Expr::Unary(op, e) => format!("{op:?}({})", normal(e)),
        Expr::Binary(op, a, b) => {
            let mut parts = Vec::new();
            let commutes = matches!(
                op,
                BinOp::And | BinOp::Or | BinOp::Add | BinOp::Mul | BinOp::Eq | BinOp::Ne
            );
            let is_chain = matches!(op, BinOp::And | BinOp::Or | BinOp::Add | BinOp::Mul);
            let mut open = vec![&**b, &**a];
            while let Some(e) = open.pop() {
                match e {
                    Expr::Binary(same, a, b) if is_chain && same == op => open.extend([&**b, &**a]),
                    _ => parts.push(normal(e)),
                }
            }
            if commutes {
                parts.sort_unstable();
            }
            format!("{op:?}({})", parts.join(", "))
        }
    }
}
