//! Arithmetic, comparisons and casts.

use syn::spanned::Spanned;
use weir_model::program::{BinOp, Expr as Code, IntType, UnOp};

use super::items::LIBRARY;
use super::reader::{Reader, Val};
use super::types::{Pointer, Ty};
use crate::lowering::access::wrap;
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value, binary, product_of_64_bits, shift_of_64_bits, unary};

impl Reader<'_> {
    fn code(&mut self, value: &Val) -> Code<weir_model::ids::RegId> {
        self.b.to_code(&value.data)
    }

    /// The integer type of a value; one that is not known yet counts as `i32`.
    pub fn int_of(&self, ty: &Ty) -> Option<IntType> {
        match self.resolve(ty) {
            Ty::Int(int) => Some(int),
            Ty::Var(_, true) => Some(IntType::I32),
            _ => None,
        }
    }

    /// `!value`.
    pub fn not(&mut self, value: &Val) -> Val {
        let ty = self.resolve(&value.ty);
        let code = self.code(value);
        let code = match self.int_of(&ty) {
            Some(int) if int.is_signed() => binary(BinOp::Sub, Code::Const(-1), code),
            Some(int) => binary(BinOp::Sub, Code::Const(int.high()), code),
            None => unary(UnOp::Not, code),
        };
        Val { data: Data::Code(code), ty }
    }

    /// `-value`.
    pub fn negate(&mut self, value: &Val) -> Val {
        let ty = self.resolve(&value.ty);
        let Some(int) = self.int_of(&ty) else { return value.clone() };
        let code = self.code(value);
        let code = unary(UnOp::Neg, code);
        self.fitted(int, code, ty)
    }

    /// A number that may be too large or too small: fails, or wraps if that was asked for.
    fn fitted(&mut self, int: IntType, code: Code<weir_model::ids::RegId>, ty: Ty) -> Val {
        if let Code::Const(value) = code {
            if (int.low()..=int.high()).contains(&value) {
                return Val::number(value, ty);
            }
            if self.is_wrapping {
                return Val::number(int.wrap(value), ty);
            }
            self.b.fail();
            return Val::never();
        }
        if self.is_wrapping {
            return Val { data: Data::Code(wrap(int, code)), ty };
        }
        if self.frame().file != LIBRARY {
            let low = binary(BinOp::Ge, code.clone(), Code::Const(int.low()));
            let high = binary(BinOp::Le, code.clone(), Code::Const(int.high()));
            // Which side can be left is often known.
            let fits = match &code {
                Code::Binary(BinOp::Add, a, b) if is_number(a) && is_natural(b, int) => high,
                Code::Binary(BinOp::Add, a, b) if is_natural(a, int) && is_number(b) => high,
                Code::Binary(BinOp::Sub, a, b) if is_number(a) && is_natural(b, int) => low,
                _ => binary(BinOp::And, low, high),
            };
            self.b.assert(&Value::code(fits, Type::Bool));
        }
        Val { data: Data::Code(code), ty }
    }

    pub fn arithmetic(&mut self, op: BinOp, a: &Val, b: &Val, node: &impl Spanned) -> Val {
        let (a, b) = (&self.pointed(a), &self.pointed(b));
        if !matches!(op, BinOp::Shl | BinOp::Shr) {
            self.unify(&a.ty, &b.ty);
        }
        let ty = self.resolve(&a.ty);
        let ty = match &ty {
            Ty::Var(_, true) if !matches!(op, BinOp::Shl | BinOp::Shr) => self.resolve(&b.ty),
            _ => ty,
        };
        if let Ty::Adt(..) = &ty {
            let name = match op {
                BinOp::Add => "add",
                BinOp::Sub => "sub",
                BinOp::Mul => "mul",
                BinOp::BitOr => "bitor",
                BinOp::BitAnd => "bitand",
                _ => "",
            };
            if let Some(&function) = self.items.methods.get(&(ty.head(), name.to_owned())) {
                let item = self.items.functions[function].clone();
                let tag = self.tag(node);
                let types = self.impl_types(&item, &ty, tag);
                return self.call_function(function, types, vec![a.clone(), b.clone()], tag);
            }
        }
        if let Ty::Bool = ty {
            let (a, b) = (self.code(a), self.code(b));
            return Val { data: Data::Code(binary(op, a, b)), ty };
        }
        let Some(int) = self.int_of(&ty) else {
            if matches!(ty, Ty::Opaque | Ty::Never | Ty::Var(..)) {
                // Nobody looks at it, or the type is found later.
                return Val::number(0, ty);
            }
            return self.unsupported(node, "arithmetic with this type", "use integers");
        };
        let (a, b) = (self.code(a), self.code(b));
        match op {
            BinOp::Mul if int == IntType::U64 && self.b.options.wraps => {
                Val { data: Data::Code(product_of_64_bits(a, b)), ty }
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let code = binary(op, a, b);
                self.fitted(int, code, ty)
            }
            BinOp::Div => {
                let code = binary(op, a, b);
                if int.is_signed() {
                    self.fitted(int, code, ty)
                } else {
                    Val { data: Data::Code(code), ty }
                }
            }
            BinOp::Mod if int.is_signed() => {
                let quotient = binary(BinOp::Div, a.clone(), b.clone());
                let product = binary(BinOp::Mul, quotient, b);
                Val { data: Data::Code(binary(BinOp::Sub, a, product)), ty }
            }
            BinOp::Shl | BinOp::Shr => {
                let bits = Code::Const(i128::from(int.bits()));
                match &b {
                    Code::Const(n) if (0..i128::from(int.bits())).contains(n) => {}
                    Code::Const(_) => {
                        self.b.fail();
                        return Val::never();
                    }
                    _ => {
                        let fits = binary(BinOp::Lt, b.clone(), bits);
                        self.b.assert(&Value::code(fits, Type::Bool));
                    }
                }
                let code = match op {
                    BinOp::Shl if int == IntType::U64 => shift_of_64_bits(a, b),
                    BinOp::Shl => wrap(int, binary(op, a, b)),
                    op => binary(op, a, b),
                };
                Val { data: Data::Code(code), ty }
            }
            _ => Val { data: Data::Code(binary(op, a, b)), ty },
        }
    }

    /// A number, or the one that a reference leads to.
    fn pointed(&mut self, value: &Val) -> Val {
        match self.resolve(&value.ty) {
            Ty::Pointer(Pointer::Ref, _) => {
                let loc = self.follow(value);
                self.load(&loc, crate::lowering::Order::Plain)
            }
            _ => value.clone(),
        }
    }

    /// Arithmetic that wraps.
    pub fn wrapping(&mut self, op: BinOp, a: &Val, b: &Val) -> Val {
        let ty = self.resolve(&a.ty);
        let int = self.int_of(&ty).unwrap_or(IntType::I32);
        let (a, b) = (self.code(a), self.code(b));
        let code = match op {
            BinOp::Mul if int == IntType::U64 => product_of_64_bits(a, b),
            op => wrap(int, binary(op, a, b)),
        };
        Val { data: Data::Code(code), ty }
    }

    /// `<`, `<=`, `>`, `>=`.
    pub fn compare(&mut self, op: BinOp, a: &Val, b: &Val, node: &impl Spanned) -> Val {
        let ty = self.resolve(&a.ty);
        match ty {
            Ty::Adt(id, _) if !self.items.adts[id].is_plain_enum() => {
                self.unsupported(node, "an order of structs", "compare the fields")
            }
            Ty::Tuple(_) | Ty::Array(..) => {
                self.unsupported(node, "an order of tuples", "compare the fields")
            }
            Ty::Opaque => self.opaque(node),
            Ty::Pointer(Pointer::Ref | Pointer::Box | Pointer::Shared, _) => {
                let (x, y) = (self.follow(a), self.follow(b));
                let x = self.load(&x, crate::lowering::Order::Plain);
                let y = self.load(&y, crate::lowering::Order::Plain);
                self.compare(op, &x, &y, node)
            }
            _ => {
                let (a, b) = (self.code(a), self.code(b));
                Val { data: Data::Code(binary(op, a, b)), ty: Ty::Bool }
            }
        }
    }

    /// `a == b`.
    pub fn equals(&mut self, a: &Val, b: &Val) -> Val {
        let truth = |code| Val { data: Data::Code(code), ty: Ty::Bool };
        let ty = self.resolve(&a.ty);
        match &ty {
            Ty::Opaque => self.fault("strings, floating-point numbers and times are not compared"),
            Ty::Never => Val::truth(true),
            Ty::Pointer(Pointer::Raw | Pointer::NonNull, _) => {
                let (a, b) = (self.raw(a), self.raw(b));
                truth(self.b.same_pointer(&a, &b))
            }
            Ty::Pointer(_, _) => {
                let (x, y) = (self.follow(a), self.follow(b));
                let x = self.load(&x, crate::lowering::Order::Plain);
                let y = self.load(&y, crate::lowering::Order::Plain);
                self.equals(&x, &y)
            }
            Ty::Wrapper(_, inner) => {
                let inner = (**inner).clone();
                self.equals(&a.clone().with(inner.clone()), &b.clone().with(inner))
            }
            Ty::Adt(id, args) if self.is_niche(*id, args) => {
                let (a, b) = (self.raw(a), self.raw(b));
                truth(self.b.same_pointer(&a, &b))
            }
            Ty::Adt(..) if self.items.methods.contains_key(&(ty.head(), "eq".to_owned())) => {
                let function = self.items.methods[&(ty.head(), "eq".to_owned())];
                let count = self.depth;
                let x = self.temporary(a, (count, 1));
                let y = self.temporary(b, (count, 2));
                let args = vec![self.address(&x, Pointer::Ref), self.address(&y, Pointer::Ref)];
                let item = self.items.functions[function].clone();
                let types = self.impl_types(&item, &ty, (count, 4));
                self.call_function(function, types, args, (count, 3))
            }
            Ty::Adt(id, _)
                if self.items.adts[*id].is_enum && !self.items.adts[*id].is_plain_enum() =>
            {
                let (x, y) = (self.field_of(a, 0), self.field_of(b, 0));
                let mut all = self.equals(&x, &y);
                let adt = self.items.adts[*id].clone();
                for (i, variant) in adt.variants.iter().enumerate() {
                    let first = self.first_field(*id, i);
                    for field in first..first + variant.fields.len() {
                        let (p, q) = (self.field_of(a, field), self.field_of(b, field));
                        let same = self.equals(&p, &q);
                        let other = binary(BinOp::Ne, self.code(&x), Code::Const(i as i128));
                        let same = binary(BinOp::Or, other, self.code(&same));
                        all = truth(binary(BinOp::And, self.code(&all), same));
                    }
                }
                all
            }
            Ty::Adt(id, _) if self.items.adts[*id].is_plain_enum() => {
                let (a, b) = (self.code(a), self.code(b));
                truth(binary(BinOp::Eq, a, b))
            }
            Ty::Adt(..) | Ty::Tuple(_) => {
                let mut all = Val::truth(true);
                for i in 0..self.fields(&ty).len() {
                    let (p, q) = (self.field_of(a, i), self.field_of(b, i));
                    let same = self.equals(&p, &q);
                    all = truth(binary(BinOp::And, self.code(&all), self.code(&same)));
                }
                all
            }
            Ty::Array(element, len) => {
                let Ty::Const(n) = self.resolve(len) else { return Val::never() };
                let mut all = Val::truth(true);
                for i in 0..usize::try_from(n).unwrap_or(0) {
                    let part = |value: &Val| match &value.data {
                        Data::Fields(list) => list.get(i).map(|v| v.data.clone()),
                        _ => None,
                    };
                    let (Some(p), Some(q)) = (part(a), part(b)) else { return Val::never() };
                    let ty = (**element).clone();
                    let same = self.equals(&Val { data: p, ty: ty.clone() }, &Val { data: q, ty });
                    all = truth(binary(BinOp::And, self.code(&all), self.code(&same)));
                }
                all
            }
            Ty::Vec(_) => self.equal_lists(a, b),
            _ => {
                if let (Data::Function(a), Data::Function(b)) = (&a.data, &b.data) {
                    return Val::truth(a == b);
                }
                if let (Data::Thread(a), Data::Thread(b)) = (&a.data, &b.data) {
                    return Val::truth(a == b);
                }
                let (a, b) = (self.code(a), self.code(b));
                truth(binary(BinOp::Eq, a, b))
            }
        }
    }

    /// `value as to`.
    pub fn pointer_as_number(&mut self, node: &impl Spanned) -> Val {
        let help = "keep a flag beside the pointer instead of a bit in it, and point to a variable of its own instead of a number";
        let message = "a pointer as a number is not read: addresses have no bits here";
        self.error_at(node, message, Some(help))
    }

    pub fn cast(&mut self, value: Val, to: &Ty, node: &impl Spanned) -> Val {
        let from = self.resolve(&value.ty);
        let to = self.resolve(to);
        match (&from, &to) {
            (_, Ty::Var(..)) => {
                let ty = self.unify(&to, &from);
                value.with(ty)
            }
            (Ty::Var(_, true), Ty::Int(int)) => match value.known() {
                Some(known) => Val::number(int.wrap(known), to),
                None => {
                    self.unify(&from, &Ty::Int(IntType::I32));
                    let code = self.code(&value);
                    Val { data: Data::Code(wrap(*int, code)), ty: to }
                }
            },
            (Ty::Int(source), Ty::Int(int)) => {
                let code = self.code(&value);
                let fits = int.low() <= source.low() && source.high() <= int.high();
                let code = if fits { code } else { wrap(*int, code) };
                Val { data: Data::Code(code), ty: to }
            }
            (Ty::Bool | Ty::Adt(..), Ty::Int(_)) => value.with(to),
            (Ty::Pointer(..), Ty::Int(_)) => self.pointer_as_number(node),
            (Ty::Pointer(_, inner), Ty::Pointer(kind, target)) => {
                let inner_is_void = target.is_unit() || matches!(**target, Ty::Opaque);
                let inner = if inner_is_void { inner.clone() } else { target.clone() };
                let ty = match &*inner {
                    Ty::Var(..) => {
                        self.unify(&from, &to);
                        self.resolve(&to)
                    }
                    // `&mut [T; N] as *mut T`
                    _ => Ty::Pointer(*kind, inner),
                };
                value.with(ty)
            }
            (Ty::Int(_) | Ty::Var(_, true), Ty::Pointer(..)) if value.known() != Some(0) => {
                self.pointer_as_number(node)
            }
            (Ty::Int(_) | Ty::Var(_, true), Ty::Pointer(..)) | (Ty::Function, _) => value.with(to),
            (_, Ty::Opaque) => Val::number(0, to),
            (Ty::Opaque, _) => self.opaque(node),
            (Ty::Never, _) => Val::never(),
            (a, b) if a == b => value,
            _ => self.unsupported(node, "this cast", "cast between integers or between pointers"),
        }
    }
}

/// Whether a value is a register or a number, so that it fits its type.
fn is_number(code: &Code<weir_model::ids::RegId>) -> bool {
    matches!(code, Code::Const(_) | Code::Atom(_))
}

/// Whether a value is a register or a number of the type, and not negative.
fn is_natural(code: &Code<weir_model::ids::RegId>, int: IntType) -> bool {
    match code {
        Code::Const(value) => (0..=int.high()).contains(value),
        Code::Atom(_) => !int.is_signed(),
        _ => false,
    }
}
