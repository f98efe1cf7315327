//! Which places occur only positively in a formula: making `p@l` true never makes the
//! formula false.

use std::collections::BTreeSet;

use crate::program::{Atom, BinOp, Expr, Formula, UnOp};

/// The atoms `p@l` that occur only positively.
pub(crate) fn positive_places(formula: &Formula) -> BTreeSet<Atom> {
    let mut negative = BTreeSet::new();
    let mut places = BTreeSet::new();
    // Where a formula has no value it is not false, so nothing is monotone.
    if formula.may_have_no_value() {
        return places;
    }
    truth(formula, true, &mut negative);
    formula.atoms(&mut |a| {
        if matches!(a, Atom::At(..)) && !negative.contains(a) {
            places.insert(*a);
        }
    });
    places
}

/// Collects the places on which the truth of an expression does not depend monotonically
/// in the direction `up`.
fn truth(e: &Formula, up: bool, negative: &mut BTreeSet<Atom>) {
    match e {
        Expr::Unary(UnOp::Not, e) => truth(e, !up, negative),
        Expr::Binary(BinOp::And | BinOp::Or, a, b) => {
            truth(a, up, negative);
            truth(b, up, negative);
        }
        Expr::Binary(BinOp::Ge | BinOp::Gt, a, b) => {
            amount(a, up, negative);
            amount(b, !up, negative);
        }
        Expr::Binary(BinOp::Le | BinOp::Lt, a, b) => {
            amount(a, !up, negative);
            amount(b, up, negative);
        }
        // `count(p@l) == n` is `>= n` where `n` is the number of places that are counted.
        Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => {
            let up = up == (*op == BinOp::Eq);
            let (counted, number) =
                if b.sum_of_places().is_some_and(is_one) { (a, b) } else { (b, a) };
            match (counted.sum_of_places(), number.sum_of_places()) {
                (Some((_, most)), Some((n, m))) if n == m && n >= most => {
                    amount(counted, up, negative);
                }
                (Some((least, _)), Some((n, m))) if n == m && n <= least => {
                    amount(counted, !up, negative);
                }
                _ => all(e, negative),
            }
        }
        // A number counts as true unless it is 0.
        _ => match e.sum_of_places() {
            Some((least, _)) if least >= 0 => amount(e, up, negative),
            _ => all(e, negative),
        },
    }
}

/// The same for the value of an expression.
fn amount(e: &Formula, up: bool, negative: &mut BTreeSet<Atom>) {
    match e {
        Expr::Const(_) => {}
        Expr::Atom(atom) => {
            if !up {
                negative.insert(*atom);
            }
        }
        Expr::Unary(UnOp::Not, _) => truth(e, up, negative),
        Expr::Binary(BinOp::Add | BinOp::Min | BinOp::Max, a, b) => {
            amount(a, up, negative);
            amount(b, up, negative);
        }
        Expr::Binary(
            BinOp::And
            | BinOp::Or
            | BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge,
            ..,
        ) => truth(e, up, negative),
        Expr::Unary(..) | Expr::Binary(..) => all(e, negative),
    }
}

fn all(e: &Formula, negative: &mut BTreeSet<Atom>) {
    e.atoms(&mut |a| {
        negative.insert(*a);
    });
}

fn is_one((least, most): (i128, i128)) -> bool {
    least == most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{LabelId, ProcessId, VarId};
    use crate::program::BinOp::*;

    fn at(p: usize) -> Formula {
        Expr::Atom(Atom::At(ProcessId::new(p), LabelId::new(0)))
    }

    fn two(op: BinOp, a: Formula, b: Formula) -> Formula {
        Expr::binary(op, a, b)
    }

    fn positive(e: &Formula) -> usize {
        positive_places(e).len()
    }

    #[test]
    fn counting_all_is_positive_and_counting_some_is_not() {
        let sum = two(Add, at(0), at(1));
        assert_eq!(positive(&two(Eq, sum.clone(), Expr::Const(2))), 2);
        assert_eq!(positive(&two(Eq, Expr::Const(2), sum.clone())), 2);
        assert_eq!(positive(&two(Eq, sum.clone(), Expr::Const(1))), 0);
        assert_eq!(positive(&two(Eq, sum.clone(), Expr::Const(0))), 0);
        assert_eq!(positive(&two(Ge, sum.clone(), Expr::Const(1))), 2);
        assert_eq!(positive(&two(Lt, sum.clone(), Expr::Const(1))), 0);
        assert_eq!(positive(&two(Ne, sum, Expr::Const(0))), 2);
    }

    #[test]
    fn negation_flips() {
        let x = Expr::Atom(Atom::Var(VarId(0)));
        assert_eq!(positive(&two(And, x.clone(), Expr::unary(UnOp::Not, at(0)))), 0);
        assert_eq!(positive(&two(And, x.clone(), at(0))), 1);
        assert_eq!(positive(&two(And, at(1), Expr::unary(UnOp::Not, at(0)))), 1);
        assert_eq!(positive(&two(Eq, x, at(0))), 0);
        let both = two(And, at(0), Expr::unary(UnOp::Not, at(0)));
        assert_eq!(positive(&both), 0);
    }

    /// On all valuations of random formulas: making a positive place true keeps it true.
    #[test]
    fn positive_means_monotone() {
        let mut seed = 7_u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % n
        };
        let ops = [And, Or, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Min, Max];
        for _ in 0..20_000 {
            let mut pool: Vec<Formula> = (0..3).map(at).collect();
            pool.extend((-1..3).map(Expr::Const));
            for _ in 0..6 {
                let (a, b) =
                    (random(pool.len() as u64) as usize, random(pool.len() as u64) as usize);
                pool.push(match random(6) {
                    0 => Expr::unary(UnOp::Not, pool[a].clone()),
                    1 => Expr::unary(UnOp::Neg, pool[a].clone()),
                    _ => two(
                        ops[random(ops.len() as u64) as usize],
                        pool[a].clone(),
                        pool[b].clone(),
                    ),
                });
            }
            let formula = pool.pop().unwrap();
            let holds = |bits: usize| {
                let value = |a: &Atom| match a {
                    Atom::At(p, _) => (bits >> p.index() & 1) as i128,
                    _ => 0,
                };
                formula.eval(&mut |a| value(a)).is_ok_and(|v| v != 0)
            };
            for place in positive_places(&formula) {
                let Atom::At(p, _) = place else { unreachable!() };
                for bits in 0..8 {
                    assert!(!holds(bits) || holds(bits | 1 << p.index()), "{formula:?}");
                }
            }
        }
    }
}
