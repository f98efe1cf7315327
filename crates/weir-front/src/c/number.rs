//! The arithmetic of C.

use weir_model::program::{BinOp, Code, Expr, IntType, UnOp};

use super::Reader;
use crate::lowering::access::wrap;
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value, binary, product_of_64_bits, shift_of_64_bits, unary};
use crate::weir::fold;

/// How deep an expression of registers may nest before it is computed.
const MAX_DEPTH: usize = 40;

/// The type of an operand after promotion.
pub fn promoted(ty: &Type) -> Type {
    match ty.plain() {
        Type::Int(int) if int.bits() >= 32 => Type::Int(*int),
        Type::Bool | Type::Int(_) => Type::INT,
        other => other.clone(),
    }
}

/// The type of `c ? a : b`.
pub fn either(a: &Type, b: &Type) -> Type {
    match (a.plain(), b.plain()) {
        (Type::Bool | Type::Int(_), Type::Bool | Type::Int(_)) => common(a, b),
        // `c ? p : NULL`
        (Type::Pointer(to), Type::Pointer(_)) if **to == Type::Void => b.plain().clone(),
        (Type::Bool | Type::Int(_), other) | (other, _) => other.clone(),
    }
}

/// The type that two operands are converted to.
pub fn common(a: &Type, b: &Type) -> Type {
    match (promoted(a), promoted(b)) {
        (Type::Int(a), Type::Int(b)) => Type::Int(match a.bits().cmp(&b.bits()) {
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Equal if a.is_signed() => b,
            std::cmp::Ordering::Equal => a,
        }),
        (Type::Int(_), other) | (other, _) => other,
    }
}

/// Whether all numbers of a type fit another one.
fn fits(from: &Type, to: IntType) -> bool {
    match from.plain() {
        Type::Bool => true,
        Type::Int(from) => from.low() >= to.low() && from.high() <= to.high(),
        _ => false,
    }
}

impl Reader<'_, '_> {
    /// A value as a value of another type.
    pub(super) fn convert(&mut self, value: Value, ty: &Type) -> Value {
        let ty = ty.plain().clone();
        if value.ty.plain() == &ty {
            return value.with(ty);
        }
        let is_address = match (&value.data, value.ty.plain()) {
            (Data::Place(_) | Data::Local(_), _) => true,
            (Data::Code(Expr::Const(_)), _) => false,
            (Data::Code(_), Type::Pointer(to)) => **to != Type::Void || self.b.may_be_address(),
            _ => false,
        };
        let is_untyped = matches!(&ty, Type::Pointer(to) if **to == Type::Void);
        if is_untyped && is_address {
            self.b.forget_type(&value);
        }
        let is_number = match &value.data {
            Data::Code(Expr::Const(c)) => *c != 0,
            Data::Code(_) => matches!(value.ty.plain(), Type::Int(_) | Type::Bool),
            _ => false,
        };
        let is_pointer = matches!(&ty, Type::Pointer(to) if **to != Type::Void);
        if is_address && matches!(ty, Type::Int(_)) || is_number && is_pointer {
            let help = "keep a flag beside the pointer instead of a bit in it, and point to a variable of its own instead of a number";
            let message = "a pointer as a number is not read: addresses have no bits here";
            self.b.errors.push(crate::Diagnostic::new(message, self.b.range()).help(help));
            return Value::number(0, ty);
        }
        let data = match (&value.data, &ty) {
            (Data::Code(code), Type::Int(int)) => match code {
                Expr::Const(c) => Data::Code(Expr::Const(int.wrap(*c))),
                _ if fits(&value.ty, *int) || matches!(value.ty.plain(), Type::Pointer(_)) => {
                    value.data.clone()
                }
                code => Data::Code(wrap(*int, code.clone())),
            },
            (Data::Code(code), Type::Bool) => Data::Code(fold::truth(code.clone())),
            (_, Type::Bool) => Data::Code(Expr::Const(1)),
            (Data::Fields(_), Type::Int(_) | Type::Pointer(_)) => {
                self.b.error("a struct is used where a number is expected");
                Data::Code(Expr::Const(0))
            }
            _ => value.data.clone(),
        };
        Value { data, ty }
    }

    /// `a op b` of numbers.
    pub(super) fn arithmetic(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let is_shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let ty = if is_shift { promoted(&a.ty) } else { common(&a.ty, &b.ty) };
        let (a, b) = if is_shift {
            (self.convert(a, &ty), b)
        } else {
            (self.convert(a, &ty), self.convert(b, &ty))
        };
        let (x, y) = (self.b.to_code(&a.data), self.b.to_code(&b.data));
        let is_comparison =
            matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        if is_comparison {
            return Value::code(binary(op, x, y), Type::INT);
        }
        let Type::Int(int) = ty else {
            self.b.error("this needs numbers");
            return Value::number(0, Type::INT);
        };
        let code = match op {
            // The rest has the sign of the dividend.
            BinOp::Mod if int.is_signed() => {
                let x = self.repeatable(x, &ty);
                let y = self.repeatable(y, &ty);
                let quotient = binary(BinOp::Div, x.clone(), y.clone());
                binary(BinOp::Sub, x, binary(BinOp::Mul, quotient, y))
            }
            BinOp::Mul if int == IntType::U64 => {
                let (x, y) = (self.repeatable(x, &ty), self.repeatable(y, &ty));
                product_of_64_bits(x, y)
            }
            BinOp::Shl if int == IntType::U64 => {
                let y = self.repeatable(y, &ty);
                shift_of_64_bits(x, y)
            }
            op => binary(op, x, y),
        };
        let value = self.fitted(code, op, int);
        match &value.data {
            Data::Code(code) if fold::depth(code) > MAX_DEPTH => self.b.copied(&value),
            _ => value,
        }
    }

    /// The result of an operation in a type: it wraps, or it fails when it does not fit.
    fn fitted(&mut self, code: Code, op: BinOp, int: IntType) -> Value {
        let ty = Type::Int(int);
        let can_leave = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl);
        match &code {
            Expr::Const(c) if !(int.low()..=int.high()).contains(c) => {
                if int.is_signed() && !self.b.options.wraps && op != BinOp::Shl {
                    self.b.fail();
                }
                Value::number(int.wrap(*c), ty)
            }
            Expr::Const(_) => Value::code(code, ty),
            _ if can_leave && (!int.is_signed() || self.b.options.wraps || op == BinOp::Shl) => {
                Value::code(wrap(int, code), ty)
            }
            // Where it is stored, it has to fit.
            _ => Value::code(code, ty),
        }
    }

    /// Code that can be evaluated twice.
    fn repeatable(&mut self, code: Code, ty: &Type) -> Code {
        let value = self.b.copied(&Value::code(code, ty.clone()));
        self.b.to_code(&value.data)
    }

    /// `op e`.
    pub(super) fn negated(&mut self, value: Value) -> Value {
        let zero = Value::number(0, promoted(&value.ty));
        self.arithmetic(BinOp::Sub, zero, value)
    }

    /// `~e`.
    pub(super) fn complement(&mut self, value: Value) -> Value {
        let minus = self.negated(value);
        let one = Value::number(1, minus.ty.clone());
        self.arithmetic(BinOp::Sub, minus, one)
    }

    /// `!e`.
    pub(super) fn not(&mut self, value: &Value) -> Value {
        match self.b.decide(value) {
            Ok(known) => Value::truth(!known, Type::INT),
            Err(code) => Value::code(unary(UnOp::Not, code), Type::INT),
        }
    }

    /// A value as 0 or 1.
    pub(super) fn truth(&mut self, value: &Value) -> Value {
        match self.b.decide(value) {
            Ok(known) => Value::truth(known, Type::INT),
            Err(code) => Value::code(fold::truth(code), Type::INT),
        }
    }
}
