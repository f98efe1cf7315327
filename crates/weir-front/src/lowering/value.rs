//! Values of expressions, as far as they are known while code is translated.

use weir_model::program::{BinOp, Code, Expr, IntType, UnOp};

use super::memory::Place;
use super::types::Type;
use crate::weir::fold;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// Its type.
    pub ty: Type,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A number that is known or computed from registers. A pointer is the number of an address.
    Code(Code),
    /// A pointer to a place in memory.
    Place(Place),
    /// A pointer to local variables that are registers.
    Local(Locals),
    /// A function or a closure; readers number theirs.
    Function(usize),
    /// The handle of a thread.
    Thread(usize),
    /// A string of the text, by where it stands. Its characters are not read.
    Text(usize),
    /// The fields of a struct or the elements of an array.
    Fields(Vec<Value>),
}

/// Local variables that lie one behind the other: a scalar, a struct, an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locals {
    /// The first slot.
    pub slot: usize,
    /// The first slot of all that were declared together.
    pub(super) first: usize,
    /// One behind the last slot of these.
    pub(super) end: usize,
}

impl Value {
    /// A number.
    pub fn number(value: i128, ty: Type) -> Self {
        Self { data: Data::Code(Expr::Const(value)), ty }
    }

    /// Nothing.
    pub fn void() -> Self {
        Self::number(0, Type::Void)
    }

    /// Code with its type.
    pub fn code(code: Code, ty: Type) -> Self {
        Self { data: Data::Code(code), ty }
    }

    /// A truth value.
    pub fn truth(value: bool, ty: Type) -> Self {
        Self::number(i128::from(value), ty)
    }

    /// The number, if it is known.
    pub fn known(&self) -> Option<i128> {
        match self.data {
            Data::Code(Expr::Const(value)) => Some(value),
            _ => None,
        }
    }

    /// The same value with another type.
    #[must_use]
    pub fn with(self, ty: Type) -> Self {
        Self { ty, ..self }
    }

    /// Whether it is something other than zero, if that is known.
    pub fn is_true(&self) -> Option<bool> {
        match &self.data {
            Data::Code(Expr::Const(value)) => Some(*value != 0),
            Data::Code(_) => None,
            _ => Some(true),
        }
    }
}

impl Data {
    /// Whether it stays what it is, whatever registers hold.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Code(code) => matches!(code, Expr::Const(_)),
            Self::Place(place) => matches!(place.linear, Expr::Const(_)),
            Self::Local(_) | Self::Function(_) | Self::Thread(_) | Self::Text(_) => true,
            Self::Fields(fields) => fields.iter().all(|field| field.data.is_fixed()),
        }
    }
}

/// `a op b`; an operation without a value, such as a division by zero, fails when it is executed.
pub fn binary(op: BinOp, a: Code, b: Code) -> Code {
    match (op, &a, &b) {
        (BinOp::Add | BinOp::Sub, _, Expr::Const(0)) | (BinOp::Mul, _, Expr::Const(1)) => a,
        (BinOp::Add, Expr::Const(0), _) | (BinOp::Mul, Expr::Const(1), _) => b,
        (BinOp::Mul, Expr::Const(0), _) | (BinOp::Mul, _, Expr::Const(0)) => Expr::Const(0),
        // `(p + 2) - 1`
        (BinOp::Add | BinOp::Sub, Expr::Binary(inner, x, y), Expr::Const(c))
            if matches!(inner, BinOp::Add | BinOp::Sub) && matches!(**y, Expr::Const(_)) =>
        {
            let Expr::Const(y) = **y else { unreachable!("a constant, as was just seen") };
            let signed =
                |op: BinOp, c: i128| if op == BinOp::Add { Some(c) } else { c.checked_neg() };
            match (signed(*inner, y), signed(op, *c)) {
                (Some(y), Some(c)) if y.checked_add(c).is_some() => {
                    binary(BinOp::Add, (**x).clone(), Expr::Const(y + c))
                }
                _ => Expr::binary(op, a, b),
            }
        }
        _ => fold::binary(op, a, b).unwrap_or_else(|(_, code)| code),
    }
}

/// A product modulo 2^64, of numbers without sign below that. It is computed in halves, since the
/// whole product need not fit 128 bits with a sign.
pub fn product_of_64_bits(a: Code, b: Code) -> Code {
    let low = |code: Code| binary(BinOp::BitAnd, code, Expr::Const(u32::MAX.into()));
    let upper = binary(BinOp::Shr, b.clone(), Expr::Const(32));
    let upper = binary(BinOp::Shl, low(binary(BinOp::Mul, a.clone(), upper)), Expr::Const(32));
    let sum = binary(BinOp::Add, binary(BinOp::Mul, a, low(b)), upper);
    unary(UnOp::Wrap(IntType::U64), sum)
}

/// `a << by` modulo 2^64, of a number without sign below that: the bits that leave are removed
/// first.
pub fn shift_of_64_bits(a: Code, by: Code) -> Code {
    let left = binary(BinOp::Sub, Expr::Const(64), by.clone());
    let mask = binary(BinOp::Sub, binary(BinOp::Shl, Expr::Const(1), left), Expr::Const(1));
    binary(BinOp::Shl, binary(BinOp::BitAnd, a, mask), by)
}

/// `op e`.
pub fn unary(op: UnOp, e: Code) -> Code {
    match (op, &e) {
        // `not (a == b)`
        (UnOp::Not, Expr::Binary(inner, a, b)) => {
            let opposite = match inner {
                BinOp::Eq => BinOp::Ne,
                BinOp::Ne => BinOp::Eq,
                BinOp::Lt => BinOp::Ge,
                BinOp::Ge => BinOp::Lt,
                BinOp::Gt => BinOp::Le,
                BinOp::Le => BinOp::Gt,
                _ => return Expr::unary(op, e),
            };
            Expr::binary(opposite, (**a).clone(), (**b).clone())
        }
        (UnOp::Not, Expr::Unary(UnOp::Not, inner)) => fold::truth((**inner).clone()),
        _ => fold::unary(op, e).unwrap_or_else(|(_, code)| code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_shifts_wrap_as_machines_do() {
        let numbers = [0, 1, 3, u64::MAX, 1 << 63, 0x9e37_79b9_7f4a_7c15, (1 << 32) - 1, 1 << 32];
        for a in numbers {
            for b in numbers {
                let code = product_of_64_bits(Expr::Const(a.into()), Expr::Const(b.into()));
                assert_eq!(code, Expr::Const(a.wrapping_mul(b).into()), "{a} * {b}");
            }
            for by in [0u32, 1, 31, 32, 63] {
                let code = shift_of_64_bits(Expr::Const(a.into()), Expr::Const(by.into()));
                assert_eq!(code, Expr::Const((a << by).into()), "{a} << {by}");
            }
        }
    }
}
