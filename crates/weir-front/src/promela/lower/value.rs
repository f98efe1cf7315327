//! Values and their bounds.

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, UnOp};

use crate::promela::tree::Type;
use crate::weir::fold;

/// How far an `int` may be counted past 32 bits before it is cut off: no value gets
/// there in steps so small, since a variable has far fewer values.
const SMALL: i64 = 1024;

/// Code, and the least and the greatest that it may be.
#[derive(Clone, Debug)]
pub struct Value {
    pub code: Code,
    pub bounds: Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub low: i64,
    pub high: i64,
}

impl Bounds {
    pub const ANY: Self = Self { low: i64::MIN, high: i64::MAX };
    pub const TRUTH: Self = Self { low: 0, high: 1 };

    pub fn exactly(value: i64) -> Self {
        Self { low: value, high: value }
    }

    pub fn is_within(self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// Whether all from `low` to `high` lie between.
    pub fn covers(self, low: i64, high: i64) -> bool {
        self.low <= low && high <= self.high
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
                let least = all.iter().min().copied().unwrap_or(i64::MIN);
                Self { low: least, high: all.iter().max().copied().unwrap_or(i64::MAX) }
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
                let bits = 64 - most.leading_zeros().max(1);
                Self { low: 0, high: if bits >= 63 { i64::MAX } else { (1 << bits) - 1 } }
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
            Self::Byte | Self::Mtype => (0, 255),
            Self::Short => (-(1 << 15), (1 << 15) - 1),
            Self::Int => (-(1 << 31), (1 << 31) - 1),
            Self::Unsigned(bits) => (0, (1 << bits) - 1),
        };
        Bounds { low, high }
    }

    /// A number as it is after it was assigned.
    pub fn cut(self, value: i64) -> i64 {
        let Bounds { low, high } = self.bounds();
        (value.wrapping_sub(low) & (high - low)).wrapping_add(low)
    }

    /// What becomes of a value that is assigned: the lowest bits, as in Spin.
    pub fn fit(self, value: Value) -> Code {
        let Bounds { low, high } = self.bounds();
        let slack = if self == Self::Int { SMALL } else { 0 };
        if value.bounds.is_within(low - slack, high + slack) {
            return value.code;
        }
        let mask = Expr::Const(high - low);
        if low == 0 {
            return binary(BinOp::BitAnd, value.code, mask);
        }
        let shifted = binary(BinOp::Add, value.code, Expr::Const(-low));
        let masked = binary(BinOp::BitAnd, shifted, mask);
        binary(BinOp::Add, masked, Expr::Const(low))
    }
}

impl Value {
    pub fn constant(value: i64) -> Self {
        Self { code: Expr::Const(value), bounds: Bounds::exactly(value) }
    }

    /// The constant that it is, if it is one.
    pub fn known(&self) -> Option<i64> {
        match self.code {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }

    pub fn unary(op: UnOp, e: Self) -> Self {
        let bounds = match op {
            UnOp::Not => Bounds::TRUTH,
            UnOp::Neg => Bounds::binary(BinOp::Sub, Bounds::exactly(0), e.bounds),
        };
        Self { code: fold::unary(op, e.code).unwrap_or_else(|(_, kept)| kept), bounds }
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

/// `not e`
pub fn not(e: Code) -> Code {
    fold::unary(UnOp::Not, e).unwrap_or_else(|(_, kept)| kept)
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

/// Code with registers replaced.
pub fn replace(code: &Code, with: &impl Fn(RegId) -> Option<Code>) -> Code {
    match code {
        Expr::Const(c) => Expr::Const(*c),
        Expr::Atom(r) => with(*r).unwrap_or(Expr::Atom(*r)),
        Expr::Unary(op, e) => fold::unary(*op, replace(e, with)).unwrap_or_else(|(_, kept)| kept),
        Expr::Binary(op, a, b) => binary(*op, replace(a, with), replace(b, with)),
    }
}

/// Whether code uses a register.
pub fn uses(code: &Code, register: RegId) -> bool {
    let mut found = false;
    code.atoms(&mut |r| found |= *r == register);
    found
}
