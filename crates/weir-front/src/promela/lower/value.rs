//! Values and their bounds.

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, IntType, UnOp};

use crate::promela::tree::Type;
use crate::weir::fold;

/// Code, and the least and the greatest that it may be.
#[derive(Clone, Debug)]
pub struct Value {
    pub code: Code,
    pub bounds: Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub low: i128,
    pub high: i128,
}

impl Bounds {
    pub const ANY: Self = Self { low: i128::MIN, high: i128::MAX };
    pub const TRUTH: Self = Self { low: 0, high: 1 };

    pub fn exactly(value: i128) -> Self {
        Self { low: value, high: value }
    }

    pub fn is_within(self, low: i128, high: i128) -> bool {
        low <= self.low && self.high <= high
    }

    pub fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// Those of `a op b`.
    pub fn binary(op: BinOp, a: Self, b: Self) -> Self {
        match op {
            BinOp::Add => {
                Self { low: a.low.saturating_add(b.low), high: a.high.saturating_add(b.high) }
            }
            BinOp::Sub => {
                Self { low: a.low.saturating_sub(b.high), high: a.high.saturating_sub(b.low) }
            }
            BinOp::Mul => {
                let all = [a.low, a.high].map(|x| [b.low, b.high].map(|y| x.saturating_mul(y)));
                let all = all.as_flattened();
                let least = all.iter().min().copied().unwrap_or(i128::MIN);
                Self { low: least, high: all.iter().max().copied().unwrap_or(i128::MAX) }
            }
            BinOp::Div if a.is_natural() && b.is_natural() => Self { low: 0, high: a.high },
            BinOp::Mod if a.is_natural() && b.is_natural() => {
                Self { low: 0, high: a.high.min(b.high.saturating_sub(1).max(0)) }
            }
            BinOp::Mod if b.low > 0 => Self { low: 1 - b.high, high: b.high - 1 },
            BinOp::BitAnd if a.is_natural() && b.is_natural() => {
                Self { low: 0, high: a.high.min(b.high) }
            }
            BinOp::BitAnd if b.is_natural() => Self { low: 0, high: b.high },
            BinOp::BitAnd if a.is_natural() => Self { low: 0, high: a.high },
            BinOp::BitOr | BinOp::BitXor if a.is_natural() && b.is_natural() => {
                let most = a.high.max(b.high);
                let bits = i128::BITS - most.leading_zeros().max(1);
                Self { low: 0, high: if bits >= 127 { i128::MAX } else { (1 << bits) - 1 } }
            }
            BinOp::Shr if a.is_natural() => Self { low: 0, high: a.high },
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Self::TRUTH,
            BinOp::And | BinOp::Or => Self::TRUTH,
            _ => Self::ANY,
        }
    }
}

impl Type {
    /// What it can hold.
    pub fn bounds(self) -> Bounds {
        let (low, high) = match self {
            Self::Bit | Self::Bool => (0, 1),
            Self::Byte | Self::Mtype | Self::Chan => (0, 255),
            Self::Short => (-(1 << 15), (1 << 15) - 1),
            Self::Int => (-(1 << 31), (1 << 31) - 1),
            Self::Unsigned(bits) => (0, (1 << bits) - 1),
        };
        Bounds { low, high }
    }

    /// A number as it is after it was assigned.
    pub fn cut(self, value: i128) -> i128 {
        let Bounds { low, high } = self.bounds();
        (value.wrapping_sub(low) & (high - low)).wrapping_add(low)
    }

    /// The integer type that it is, if it is one.
    pub fn int(self) -> Option<IntType> {
        match self {
            Self::Byte => Some(IntType::U8),
            Self::Short => Some(IntType::I16),
            Self::Int => Some(IntType::I32),
            _ => None,
        }
    }

    /// The value that an assignment stores: the lowest bits, as in Spin.
    pub fn fit(self, value: Value) -> Code {
        let Bounds { low, high } = self.bounds();
        if value.bounds.is_within(low, high) {
            return value.code;
        }
        match self.int() {
            Some(int) => unary(UnOp::Wrap(int), value.code),
            None => binary(BinOp::BitAnd, value.code, Expr::Const(high - low)),
        }
    }

    /// The same for a value that goes to where the type is declared: an unsigned integer
    /// type wraps it there.
    pub fn store(self, value: Value) -> Code {
        match self.int() {
            Some(int) if !int.is_signed() => value.code,
            _ => self.fit(value),
        }
    }
}

impl Value {
    pub fn constant(value: i128) -> Self {
        Self { code: Expr::Const(value), bounds: Bounds::exactly(value) }
    }

    /// The constant that it is, if it is one.
    pub fn known(&self) -> Option<i128> {
        match self.code {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }

    pub fn unary(op: UnOp, e: Self) -> Self {
        let bounds = match op {
            UnOp::Not => Bounds::TRUTH,
            UnOp::Wrap(int) => Bounds { low: int.low(), high: int.high() },
            UnOp::Neg => Bounds::binary(BinOp::Sub, Bounds::exactly(0), e.bounds),
        };
        Self { code: unary(op, e.code), bounds }
    }

    /// `a op b` as C has it.
    pub fn binary(op: BinOp, a: Self, b: Self) -> Self {
        let bounds = Bounds::binary(op, a.bounds, b.bounds);
        let code = match op {
            // What C leaves has the sign of the left operand.
            BinOp::Mod if !(a.bounds.is_natural() && b.bounds.is_natural()) => {
                let whole = binary(BinOp::Div, a.code.clone(), b.code.clone());
                binary(BinOp::Sub, a.code, binary(BinOp::Mul, whole, b.code))
            }
            _ => binary(op, a.code, b.code),
        };
        let bounds = match code {
            Expr::Const(value) => Bounds::exactly(value),
            _ => bounds,
        };
        Self { code, bounds }
    }
}

/// `a op b`, worked out if it is constant and has a value.
pub fn binary(op: BinOp, a: Code, b: Code) -> Code {
    fold::binary(op, a, b).unwrap_or_else(|(_, kept)| kept)
}

/// `op e`, worked out if it is constant and has a value.
fn unary(op: UnOp, e: Code) -> Code {
    fold::unary(op, e).unwrap_or_else(|(_, kept)| kept)
}

/// `not e`
pub fn not(e: Code) -> Code {
    unary(UnOp::Not, e)
}

/// Whether one of these is true: a balanced tree, since there may be many.
pub fn any(list: &[Code]) -> Code {
    match list {
        [] => Expr::Const(0),
        [one] => one.clone(),
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            let (a, b) = (any(a), any(b));
            match (&a, &b) {
                (_, Expr::Const(c)) if *c != 0 => Expr::Const(1),
                (_, Expr::Const(_)) => fold::truth(a),
                _ => binary(BinOp::Or, a, b),
            }
        }
    }
}

/// Whether all of these are true.
pub fn all(list: &[Code]) -> Code {
    let mut made = Expr::Const(1);
    for code in list {
        made = match (made, code) {
            (Expr::Const(0), _) | (_, Expr::Const(0)) => Expr::Const(0),
            (Expr::Const(_), code) => fold::truth(code.clone()),
            (made, Expr::Const(_)) => made,
            (made, code) => binary(BinOp::And, made, code.clone()),
        };
    }
    made
}

/// Code with registers replaced.
pub fn replace(code: &Code, with: &impl Fn(RegId) -> Option<Code>) -> Code {
    match code {
        Expr::Const(c) => Expr::Const(*c),
        Expr::Atom(r) => with(*r).unwrap_or(Expr::Atom(*r)),
        Expr::Unary(op, e) => unary(*op, replace(e, with)),
        Expr::Binary(op, a, b) => binary(*op, replace(a, with), replace(b, with)),
    }
}
