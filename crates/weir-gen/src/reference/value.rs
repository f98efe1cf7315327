//! Values of expressions, for the reference alone: it shares no arithmetic with what it is compared
//! with. Numbers are a sign and a size, and every operation is done on these.

use weir_model::program::{BinOp, Expr, IntType, UnOp};

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoValue {
    /// It does not fit into 128 bits.
    TooLarge,
    /// Something is divided by zero, or an index leaves its array.
    Undefined,
}

/// The value of an expression, given the values of its atoms.
pub(super) fn value<A>(e: &Expr<A>, atom: &dyn Fn(&A) -> i128) -> Result<i128, NoValue> {
    match e {
        Expr::Const(number) => Ok(*number),
        Expr::Atom(a) => Ok(atom(a)),
        Expr::Unary(op, e) => {
            let e = value(e, atom)?;
            match op {
                UnOp::Not => Ok((e == 0).into()),
                UnOp::Neg => join(e >= 0, e.unsigned_abs()),
                UnOp::Wrap(int) => Ok(wrap(*int, e)),
            }
        }
        Expr::Binary(BinOp::And, a, b) => Ok((value(a, atom)? != 0 && value(b, atom)? != 0).into()),
        Expr::Binary(BinOp::Or, a, b) => Ok((value(a, atom)? != 0 || value(b, atom)? != 0).into()),
        Expr::Binary(op, a, b) => binary(*op, value(a, atom)?, value(b, atom)?),
    }
}

fn binary(op: BinOp, a: i128, b: i128) -> Result<i128, NoValue> {
    let (size_a, size_b) = (a.unsigned_abs(), b.unsigned_abs());
    let apart = (a < 0) != (b < 0);
    match op {
        BinOp::Add => add(a, b),
        BinOp::Sub if b == i128::MIN => add(add(a, i128::MAX)?, 1).map_err(|_| NoValue::TooLarge),
        BinOp::Sub => add(a, -b),
        BinOp::Mul => join(apart, size_a.checked_mul(size_b).ok_or(NoValue::TooLarge)?),
        BinOp::Div | BinOp::Mod if b == 0 => Err(NoValue::Undefined),
        BinOp::Div => join(apart, size_a / size_b),
        BinOp::Mod => {
            let rest = size_a % size_b;
            match (rest, apart) {
                (0, _) => Ok(0),
                (_, true) => join(b < 0, size_b - rest),
                (_, false) => join(b < 0, rest),
            }
        }
        BinOp::BitAnd => Ok(bits(a, b, |a, b| a && b)),
        BinOp::BitOr => Ok(bits(a, b, |a, b| a || b)),
        BinOp::BitXor => Ok(bits(a, b, |a, b| a != b)),
        BinOp::Shl | BinOp::Shr if !(0..=127).contains(&b) => Err(NoValue::TooLarge),
        BinOp::Shl if b == 127 => Err(NoValue::TooLarge),
        BinOp::Shl => join(a < 0, size_a.checked_mul(1 << b).ok_or(NoValue::TooLarge)?),
        BinOp::Shr if a >= 0 => join(false, size_a >> b),
        // Rounded down.
        BinOp::Shr => join(true, ((size_a - 1) >> b) + 1),
        BinOp::Eq => Ok((a == b).into()),
        BinOp::Ne => Ok((a != b).into()),
        BinOp::Lt => Ok((a < b).into()),
        BinOp::Le => Ok((a <= b).into()),
        BinOp::Gt => Ok((a > b).into()),
        BinOp::Ge => Ok((a >= b).into()),
        BinOp::Min => Ok(std::cmp::min(a, b)),
        BinOp::Max => Ok(std::cmp::max(a, b)),
        BinOp::Index => {
            if a >= 0 && a < b {
                Ok(a)
            } else {
                Err(NoValue::Undefined)
            }
        }
        BinOp::And | BinOp::Or => unreachable!("these do not evaluate both sides"),
    }
}

/// The sum of two numbers.
fn add(a: i128, b: i128) -> Result<i128, NoValue> {
    let (size_a, size_b) = (a.unsigned_abs(), b.unsigned_abs());
    match (a < 0) == (b < 0) {
        true => join(a < 0, size_a.checked_add(size_b).ok_or(NoValue::TooLarge)?),
        false if size_a >= size_b => join(a < 0, size_a - size_b),
        false => join(b < 0, size_b - size_a),
    }
}

/// The number with a sign and a size.
fn join(negative: bool, size: u128) -> Result<i128, NoValue> {
    const TOP: u128 = 1 << 127;
    match (negative, size) {
        (false, size) if size < TOP => Ok(size as i128),
        (true, size) if size < TOP => Ok(-(size as i128)),
        (true, TOP) => Ok(i128::MIN),
        _ => Err(NoValue::TooLarge),
    }
}

/// Bit by bit, in two's complement.
fn bits(a: i128, b: i128, of: fn(bool, bool) -> bool) -> i128 {
    let bit = |number: i128, i: u32| (number as u128) >> i & 1 == 1;
    let all = (0..128).filter(|i| of(bit(a, *i), bit(b, *i))).map(|i| 1u128 << i);
    all.sum::<u128>() as i128
}

/// The number of a type with the same lowest bits.
fn wrap(int: IntType, e: i128) -> i128 {
    match int {
        IntType::U8 => (e as u8).into(),
        IntType::U16 => (e as u16).into(),
        IntType::U32 => (e as u32).into(),
        IntType::U64 => (e as u64).into(),
        IntType::I8 => (e as i8).into(),
        IntType::I16 => (e as i16).into(),
        IntType::I32 => (e as i32).into(),
        IntType::I64 => (e as i64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::ids::RegId;

    /// Numbers at the ends of the range, with every operator, against the evaluation of engines.
    #[test]
    fn every_operator_at_the_ends_of_the_range() {
        let ops = [
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::Mod,
            BinOp::BitAnd,
            BinOp::BitOr,
            BinOp::BitXor,
            BinOp::Shl,
            BinOp::Shr,
            BinOp::Lt,
            BinOp::Index,
        ];
        let numbers =
            [0, 1, -1, 2, -3, 5, 100, 126, 127, 128, i128::MAX, i128::MIN, i128::MIN + 1, 1 << 64];
        for op in ops {
            for a in numbers {
                for b in numbers {
                    let e: Expr<RegId> = Expr::binary(op, Expr::Const(a), Expr::Const(b));
                    let ours = value(&e, &|_| 0).ok();
                    assert_eq!(ours, e.eval(&mut |_| 0).ok(), "{a} {op:?} {b}");
                }
            }
        }
    }
}
