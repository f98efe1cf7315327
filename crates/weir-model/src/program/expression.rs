//! Expressions: over the registers of a process, and over the state of a whole program.

use super::IntType;
use crate::ids::{LabelId, ProcessId, RegId, VarId};

/// Code: an expression over the registers of the process that runs it.
pub type Code = Expr<RegId>;

/// A formula: an expression over the state of the whole program.
pub type Formula = Expr<Atom>;

/// What a formula may ask of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// The value of a shared variable in memory.
    Var(VarId),
    /// The value of a register.
    Reg(ProcessId, RegId),
    /// 1 if the process stands at the label, otherwise 0.
    At(ProcessId, LabelId),
}

/// An expression over atoms of some kind. Booleans are the numbers 0 and 1;
/// where a condition is asked for, every number but 0 counts as true.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Expr<A> {
    /// A number.
    Const(i128),
    /// An atom.
    Atom(A),
    /// One operand.
    Unary(UnOp, Box<Expr<A>>),
    /// Two operands.
    Binary(BinOp, Box<Expr<A>>, Box<Expr<A>>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// `-e`
    Neg,
    /// `not e`
    Not,
    /// `u8(e)`: the number of the type that has the same lowest bits.
    Wrap(IntType),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Rounds towards zero.
    Div,
    /// Has the sign of the right operand: `-1 % 4` is 3, as a ring buffer wants it.
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `and`; the right operand is not evaluated where the left one is false.
    And,
    /// `or`; the right operand is not evaluated where the left one is true.
    Or,
    Min,
    Max,
    /// The left operand as an index of an array with as many elements as the right
    /// one says: its value, or a failure if the array has no such element.
    Index,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvalError {
    /// The value does not fit 128 bits.
    Overflow,
    /// Division by zero.
    DivisionByZero,
    /// An index outside its array.
    Index(i128),
}

impl std::fmt::Display for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overflow => write!(f, "a number that does not fit into 128 bits"),
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::Index(index) => write!(f, "index {index} outside of its array"),
        }
    }
}

impl<A> Expr<A> {
    /// `op e`.
    pub fn unary(op: UnOp, e: Self) -> Self {
        Self::Unary(op, Box::new(e))
    }

    /// `a op b`.
    pub fn binary(op: BinOp, a: Self, b: Self) -> Self {
        Self::Binary(op, Box::new(a), Box::new(b))
    }

    /// The value, given the value of each atom.
    ///
    /// Recursive: front ends bound how deep expressions nest.
    ///
    /// # Errors
    /// On overflow, on division by zero, and on an index outside its array.
    pub fn eval(&self, atom: &mut impl FnMut(&A) -> i128) -> Result<i128, EvalError> {
        match self {
            Self::Const(c) => Ok(*c),
            Self::Atom(a) => Ok(atom(a)),
            Self::Unary(op, e) => op.apply(e.eval(atom)?),
            Self::Binary(BinOp::And, a, b) => {
                Ok(i128::from(a.eval(atom)? != 0 && b.eval(atom)? != 0))
            }
            Self::Binary(BinOp::Or, a, b) => {
                Ok(i128::from(a.eval(atom)? != 0 || b.eval(atom)? != 0))
            }
            Self::Binary(op, a, b) => op.apply(a.eval(atom)?, b.eval(atom)?),
        }
    }

    /// Whether there are values of its atoms for which it divides by zero or leaves an array.
    pub(crate) fn may_fail(&self) -> bool {
        match self {
            Self::Const(_) | Self::Atom(_) => false,
            Self::Unary(_, e) => e.may_fail(),
            Self::Binary(BinOp::Div | BinOp::Mod, a, b) => {
                !matches!(**b, Self::Const(c) if c != 0) || a.may_fail()
            }
            Self::Binary(BinOp::Index, ..) => true,
            Self::Binary(_, a, b) => a.may_fail() || b.may_fail(),
        }
    }

    /// Replaces atoms by expressions.
    pub fn replace(&mut self, by: &impl Fn(&A) -> Option<Self>) {
        match self {
            Self::Const(_) => {}
            Self::Atom(a) => {
                if let Some(other) = by(a) {
                    *self = other;
                }
            }
            Self::Unary(_, e) => e.replace(by),
            Self::Binary(_, a, b) => {
                a.replace(by);
                b.replace(by);
            }
        }
    }

    /// Calls `visit` with every atom, left to right.
    pub fn atoms(&self, visit: &mut impl FnMut(&A)) {
        match self {
            Self::Const(_) => {}
            Self::Atom(a) => visit(a),
            Self::Unary(_, e) => e.atoms(visit),
            Self::Binary(_, a, b) => {
                a.atoms(visit);
                b.atoms(visit);
            }
        }
    }
}

impl Formula {
    /// Whether it has a value and is false in every state in which no process is at these places.
    pub fn is_never(&self, unreached: &[Atom]) -> bool {
        self.range(unreached) == (0, 0) && !self.may_have_no_value()
    }

    /// Whether there may be values of its atoms for which it overflows, divides by zero or leaves
    /// an array. Numbers of variables and registers have no bound here.
    pub fn may_have_no_value(&self) -> bool {
        match self {
            Self::Const(_) | Self::Atom(_) => false,
            Self::Unary(UnOp::Not | UnOp::Wrap(_), e) => e.may_have_no_value(),
            Self::Unary(UnOp::Neg, e) => !matches!(**e, Self::Const(c) if c != i128::MIN),
            Self::Binary(op, a, b) => {
                let may_fail = match op {
                    BinOp::Add => self.sum_of_places().is_none(),
                    BinOp::Sub
                    | BinOp::Mul
                    | BinOp::Div
                    | BinOp::Mod
                    | BinOp::Shl
                    | BinOp::Shr
                    | BinOp::Index => true,
                    _ => false,
                };
                may_fail || a.may_have_no_value() || b.may_have_no_value()
            }
        }
    }

    /// The least and the greatest value of a sum of numbers and places; `None` for anything else.
    pub(crate) fn sum_of_places(&self) -> Option<(i128, i128)> {
        match self {
            Self::Const(c) => Some((*c, *c)),
            Self::Atom(Atom::At(..)) => Some((0, 1)),
            Self::Binary(BinOp::Add, a, b) => {
                let ((a, c), (b, d)) = (a.sum_of_places()?, b.sum_of_places()?);
                Some((a.checked_add(b)?, c.checked_add(d)?))
            }
            _ => None,
        }
    }

    /// Bounds of its value, where it has one.
    fn range(&self, unreached: &[Atom]) -> (i128, i128) {
        const ANY: (i128, i128) = (i128::MIN, i128::MAX);
        let truth = |is_true: bool, is_false: bool| match (is_true, is_false) {
            (true, _) => (1, 1),
            (_, true) => (0, 0),
            _ => (0, 1),
        };
        let nonzero = |(low, high): (i128, i128)| low > 0 || high < 0;
        match self {
            Self::Const(c) => (*c, *c),
            Self::Atom(a) if unreached.contains(a) => (0, 0),
            Self::Atom(Atom::At(..)) => (0, 1),
            Self::Atom(_) => ANY,
            Self::Unary(UnOp::Not, e) => {
                let e = e.range(unreached);
                truth(e == (0, 0), nonzero(e))
            }
            Self::Unary(UnOp::Wrap(int), _) => (int.low(), int.high()),
            Self::Unary(UnOp::Neg, _) => ANY,
            Self::Binary(op, a, b) => {
                let (a, b) = (a.range(unreached), b.range(unreached));
                let less = truth(a.1 < b.0, a.0 >= b.1);
                let greater = truth(b.1 < a.0, b.0 >= a.1);
                match op {
                    BinOp::And => truth(nonzero(a) && nonzero(b), a == (0, 0) || b == (0, 0)),
                    BinOp::Or => truth(nonzero(a) || nonzero(b), a == (0, 0) && b == (0, 0)),
                    BinOp::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
                    BinOp::Lt => less,
                    BinOp::Ge => (1 - less.1, 1 - less.0),
                    BinOp::Gt => greater,
                    BinOp::Le => (1 - greater.1, 1 - greater.0),
                    BinOp::Eq | BinOp::Ne => {
                        let apart = a.1 < b.0 || b.1 < a.0;
                        let same = a.0 == a.1 && a == b;
                        if *op == BinOp::Eq { truth(same, apart) } else { truth(apart, same) }
                    }
                    _ => ANY,
                }
            }
        }
    }
}

impl UnOp {
    /// The value of `op e`.
    ///
    /// # Errors
    /// On overflow.
    pub fn apply(self, e: i128) -> Result<i128, EvalError> {
        match self {
            Self::Neg => e.checked_neg().ok_or(EvalError::Overflow),
            Self::Not => Ok(i128::from(e == 0)),
            Self::Wrap(to) => Ok(to.wrap(e)),
        }
    }
}

impl BinOp {
    /// The value of `a op b`.
    ///
    /// # Errors
    /// On overflow, on division by zero, and on an index outside its array.
    pub fn apply(self, a: i128, b: i128) -> Result<i128, EvalError> {
        let shift = || u32::try_from(b).ok().filter(|&b| b < i128::BITS);
        let value = match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div | Self::Mod if b == 0 => return Err(EvalError::DivisionByZero),
            Self::Div => a.checked_div(b),
            Self::Mod => {
                let rest = a.wrapping_rem(b);
                Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
            Self::BitAnd => Some(a & b),
            Self::BitOr => Some(a | b),
            Self::BitXor => Some(a ^ b),
            Self::Shl => {
                shift().and_then(|s| a.checked_mul(1i128.checked_shl(s).filter(|&f| f > 0)?))
            }
            Self::Shr => shift().map(|s| a >> s),
            Self::Eq => Some(i128::from(a == b)),
            Self::Ne => Some(i128::from(a != b)),
            Self::Lt => Some(i128::from(a < b)),
            Self::Le => Some(i128::from(a <= b)),
            Self::Gt => Some(i128::from(a > b)),
            Self::Ge => Some(i128::from(a >= b)),
            Self::And => Some(i128::from(a != 0 && b != 0)),
            Self::Or => Some(i128::from(a != 0 || b != 0)),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Index if !(0..b).contains(&a) => return Err(EvalError::Index(a)),
            Self::Index => Some(a),
        };
        value.ok_or(EvalError::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modulo_has_the_sign_of_the_divisor() {
        for (a, b, want) in [(5, 4, 1), (-1, 4, 3), (-4, 4, 0), (5, -4, -3), (i128::MIN, -1, 0)] {
            assert_eq!(BinOp::Mod.apply(a, b), Ok(want), "{a} % {b}");
        }
        assert_eq!(BinOp::Mod.apply(1, 0), Err(EvalError::DivisionByZero));
        assert_eq!(BinOp::Index.apply(1, 2), Ok(1));
        assert_eq!(BinOp::Index.apply(2, 2), Err(EvalError::Index(2)));
        assert_eq!(BinOp::Index.apply(-1, 2), Err(EvalError::Index(-1)));
    }

    #[test]
    fn arithmetic_never_wraps() {
        for (op, a, b) in [
            (BinOp::Add, i128::MAX, 1),
            (BinOp::Sub, i128::MIN, 1),
            (BinOp::Mul, i128::MAX, 2),
            (BinOp::Div, i128::MIN, -1),
            (BinOp::Shl, 1, 127),
            (BinOp::Shl, 1, -1),
            (BinOp::Shr, 1, 128),
        ] {
            assert_eq!(op.apply(a, b), Err(EvalError::Overflow), "{a} {op:?} {b}");
        }
    }

    #[test]
    fn and_or_do_not_evaluate_what_they_do_not_need() {
        let divide: Expr<RegId> = Expr::binary(BinOp::Div, Expr::Const(1), Expr::Const(0));
        let and = Expr::binary(BinOp::And, Expr::Const(0), divide.clone());
        let or = Expr::binary(BinOp::Or, Expr::Const(7), divide);
        assert_eq!(and.eval(&mut |_| 0), Ok(0));
        assert_eq!(or.eval(&mut |_| 0), Ok(1));
    }
}
