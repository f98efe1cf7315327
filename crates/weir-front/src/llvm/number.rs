//! Arithmetic of LLVM on the numbers of programs.
//!
//! A number of `n` bits is held as the signed number with these bits, except that one bit is 0 or 1.
//! Addresses are numbers of 64 bits.

use weir_llvm::{Binary, Predicate};
use weir_model::program::{BinOp, Code, Expr, IntType, UnOp};

use crate::weir::fold;

/// What memory holds that was never set. Only copying keeps it; whatever else is done with it is a failure. Memory holds signed numbers of
/// 64 bits, so it is none of them, and files of evidence can have it.
pub(super) const UNSET: i128 = (1 << 63) + (1 << 40) + 1;

pub(super) fn binary(op: BinOp, a: Code, b: Code) -> Code {
    match (op, &a, &b) {
        (BinOp::Add | BinOp::Sub | BinOp::BitOr | BinOp::Shl | BinOp::Shr, _, Expr::Const(0)) => a,
        (BinOp::Add | BinOp::BitOr, Expr::Const(0), _) => b,
        (BinOp::Mul | BinOp::Div, _, Expr::Const(1)) => a,
        _ => fold::binary(op, a, b).unwrap_or_else(|(_, code)| code),
    }
}

pub(super) fn unary(op: UnOp, a: Code) -> Code {
    fold::unary(op, a).unwrap_or_else(|(_, code)| code)
}

pub(super) fn number(n: i128) -> Code {
    Expr::Const(n)
}

pub(super) fn not(code: Code) -> Code {
    unary(UnOp::Not, code)
}

/// Code for a value that was set, and another for one that was not.
pub(super) fn set_or(value: Code, unset: Code, set: Code) -> Code {
    choose(binary(BinOp::Eq, value, number(UNSET)), unset, set)
}

/// The number with the same lowest bits that a type of so many bits has.
pub(super) fn wrap(bits: u32, code: Code) -> Code {
    let int = match bits {
        8 => IntType::I8,
        16 => IntType::I16,
        32 => IntType::I32,
        64 => IntType::I64,
        0 | 128.. => return code,
        1 => return binary(BinOp::BitAnd, code, number(1)),
        bits => {
            let half = number(1 << (bits - 1));
            let moved = binary(BinOp::Add, code, half.clone());
            let low = binary(BinOp::BitAnd, moved, number((1 << bits) - 1));
            return binary(BinOp::Sub, low, half);
        }
    };
    unary(UnOp::Wrap(int), code)
}

/// The same bits as an unsigned number.
pub(super) fn unsigned(bits: u32, code: Code) -> Code {
    match bits {
        0 | 1 | 127.. => code,
        bits => binary(BinOp::BitAnd, code, number((1 << bits) - 1)),
    }
}

/// The same bits as a signed number: only one bit is not one already.
pub(super) fn signed(bits: u32, code: Code) -> Code {
    match bits {
        1 => unary(UnOp::Neg, code),
        _ => code,
    }
}

/// The lowest and the highest signed number.
pub(super) fn range(bits: u32) -> (i128, i128) {
    let bits = bits.clamp(1, 126);
    (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
}

/// Whether a number is in a range.
pub(super) fn within(code: Code, (low, high): (i128, i128)) -> Code {
    let above = binary(BinOp::Ge, code.clone(), number(low));
    binary(BinOp::And, above, binary(BinOp::Le, code, number(high)))
}

/// The result before it is made to fit; for sums and products the exact one.
pub(super) fn exact(op: Binary, bits: u32, a: Code, b: Code) -> Code {
    let u = |code| unsigned(bits, code);
    match op {
        Binary::Add => binary(BinOp::Add, a, b),
        Binary::Sub => binary(BinOp::Sub, a, b),
        Binary::Mul => binary(BinOp::Mul, a, b),
        Binary::UDiv => binary(BinOp::Div, u(a), u(b)),
        Binary::URem => binary(BinOp::Mod, u(a), u(b)),
        Binary::SDiv => binary(BinOp::Div, signed(bits, a), signed(bits, b)),
        Binary::SRem => {
            let (a, b) = (signed(bits, a), signed(bits, b));
            let quotient = binary(BinOp::Div, a.clone(), b.clone());
            binary(BinOp::Sub, a, binary(BinOp::Mul, quotient, b))
        }
        Binary::Shl => binary(BinOp::Shl, a, u(b)),
        Binary::LShr => binary(BinOp::Shr, u(a), u(b)),
        Binary::AShr => binary(BinOp::Shr, signed(bits, a), u(b)),
        Binary::And => binary(BinOp::BitAnd, a, b),
        Binary::Or => binary(BinOp::BitOr, a, b),
        Binary::Xor => binary(BinOp::BitXor, a, b),
    }
}

/// The result.
pub(super) fn result(op: Binary, bits: u32, a: Code, b: Code) -> Code {
    let code = exact(op, bits, a, b);
    match op {
        Binary::And | Binary::Or | Binary::Xor => code,
        _ => wrap(bits, code),
    }
}

/// The comparison of signed numbers that has the order of an unsigned one.
pub(super) fn signed_order(predicate: Predicate) -> Option<Predicate> {
    Some(match predicate {
        Predicate::Ugt => Predicate::Sgt,
        Predicate::Uge => Predicate::Sge,
        Predicate::Ult => Predicate::Slt,
        Predicate::Ule => Predicate::Sle,
        _ => return None,
    })
}

/// The result for known numbers of 128 bits, as the machine computes it, and whether it overflows as a signed number. Nothing if it
/// is not defined.
pub(super) fn wide(op: Binary, a: i128, b: i128) -> Option<(i128, bool)> {
    let (u, v) = (a as u128, b as u128);
    let by = u32::try_from(b).ok().filter(|by| *by < 128);
    let unsigned = |n: u128| (n as i128, false);
    Some(match op {
        Binary::Add => a.overflowing_add(b),
        Binary::Sub => a.overflowing_sub(b),
        Binary::Mul => a.overflowing_mul(b),
        Binary::UDiv => unsigned(u.checked_div(v)?),
        Binary::URem => unsigned(u.checked_rem(v)?),
        Binary::SDiv => (a.checked_div(b)?, false),
        Binary::SRem => (a.checked_rem(b)?, false),
        Binary::Shl => (a << by?, false),
        Binary::LShr => unsigned(u >> by?),
        Binary::AShr => (a >> by?, false),
        Binary::And => (a & b, false),
        Binary::Or => (a | b, false),
        Binary::Xor => (a ^ b, false),
    })
}

/// A comparison: 0 or 1.
pub(super) fn compare(predicate: Predicate, bits: u32, a: Code, b: Code) -> Code {
    let (op, is_unsigned) = match predicate {
        Predicate::Eq => (BinOp::Eq, true),
        Predicate::Ne => (BinOp::Ne, true),
        Predicate::Ugt => (BinOp::Gt, true),
        Predicate::Uge => (BinOp::Ge, true),
        Predicate::Ult => (BinOp::Lt, true),
        Predicate::Ule => (BinOp::Le, true),
        Predicate::Sgt => (BinOp::Gt, false),
        Predicate::Sge => (BinOp::Ge, false),
        Predicate::Slt => (BinOp::Lt, false),
        Predicate::Sle => (BinOp::Le, false),
    };
    match (op, is_unsigned) {
        (BinOp::Eq | BinOp::Ne, _) => binary(op, a, b),
        (op, true) => binary(op, unsigned(bits, a), unsigned(bits, b)),
        (op, false) => binary(op, signed(bits, a), signed(bits, b)),
    }
}

/// `condition ? a : b`, where the condition is 0 or 1.
pub(super) fn choose(condition: Code, a: Code, b: Code) -> Code {
    match &condition {
        Expr::Const(0) => b,
        Expr::Const(_) => a,
        _ if a == b => a,
        _ => {
            let difference = binary(BinOp::Sub, a, b.clone());
            binary(BinOp::Add, b, binary(BinOp::Mul, condition, difference))
        }
    }
}
