//! Atomic types.

use syn::ExprMethodCall;
use syn::spanned::Spanned;
use weir_model::program::BinOp;

use super::calls::Receiver;
use super::library_calls::ORDERS;
use super::reader::{Loc, Reader, Val};
use super::types::{Pointer, Ty};
use crate::lowering::Order;
use crate::lowering::access::Update;
use crate::lowering::value::{Data, Value, binary};

impl Reader<'_> {
    /// The memory order that a value is.
    pub fn order(&mut self, value: &Val) -> Order {
        match value.known().and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n < ORDERS.len() => ORDERS[n].1,
            _ => {
                self.fault("the memory order has to be known before the program runs");
                Order::SeqCst
            }
        }
    }

    /// Follows pointers to an atomic.
    pub fn atomic_place(&mut self, mut loc: Loc, node: &impl Spanned) -> Option<Loc> {
        for _ in 0..20 {
            if !self.is_reachable() {
                return None;
            }
            match self.resolve(&loc.ty) {
                Ty::Atomic(_) => return Some(loc),
                _ => loc = self.deref(&loc, node)?,
            }
        }
        None
    }

    pub fn atomic_method(
        &mut self,
        receiver: &Receiver,
        inner: &Ty,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        let loc = self.received_at(receiver, call);
        let plain = Loc { lvalue: loc.lvalue.clone(), ty: inner.clone() };
        let wants = [inner.clone(), inner.clone()];
        let args = |this: &mut Self| {
            let wants = match name {
                "load" => &wants[2..],
                "store" | "swap" => &wants[..1],
                _ if name.starts_with("compare") => &wants[..],
                _ => &wants[..1],
            };
            let args = this.values(call.args.iter(), wants);
            this.at(call);
            args
        };
        match name {
            "load" => {
                let args = args(self);
                let order = self.order(args.first()?);
                if matches!(order, Order::Release | Order::AcquireRelease) {
                    return Some(self.fault("a load cannot have this order"));
                }
                Some(self.load(&plain, order))
            }
            "store" => {
                let args = args(self);
                let order = self.order(args.get(1)?);
                if matches!(order, Order::Acquire | Order::AcquireRelease) {
                    return Some(self.fault("a store cannot have this order"));
                }
                self.store(&plain, args.first()?, order);
                Some(Val::unit())
            }
            "swap" => {
                let args = args(self);
                let value = self.raw(args.first()?);
                let order = self.order(args.get(1)?);
                Some(self.updated(&loc, &Update::Swap(value), order, inner))
            }
            "compare_exchange" | "compare_exchange_weak" | "compare_and_swap" => {
                let args = args(self);
                let (expected, new) = (args.first()?.clone(), args.get(1)?.clone());
                let success = self.order(args.get(2)?);
                let failure = match args.get(3) {
                    Some(order) => self.order(order),
                    None => success.of_failure(),
                };
                self.unify(inner, &expected.ty);
                self.unify(inner, &new.ty);
                let weak = name == "compare_exchange_weak" && self.b.options.spurious;
                Some(self.compare_exchange(
                    &loc,
                    &expected,
                    &new,
                    inner,
                    (success, failure),
                    weak,
                    name == "compare_and_swap",
                    call,
                ))
            }
            "fetch_add" | "fetch_sub" | "fetch_and" | "fetch_or" | "fetch_xor" | "fetch_max"
            | "fetch_min" => {
                let args = args(self);
                let value = args.first()?.clone();
                let order = self.order(args.get(1)?);
                self.unify(inner, &value.ty);
                let op = match name {
                    "fetch_add" => BinOp::Add,
                    "fetch_sub" => BinOp::Sub,
                    "fetch_and" => BinOp::BitAnd,
                    "fetch_or" => BinOp::BitOr,
                    "fetch_xor" => BinOp::BitXor,
                    "fetch_max" => BinOp::Max,
                    _ => BinOp::Min,
                };
                let value = self.raw(&value);
                Some(self.updated(&loc, &Update::Fetch(op, value), order, inner))
            }
            "fetch_nand" | "fetch_not" => {
                let what = format!("`{name}`");
                Some(self.unsupported(call, &what, "write a loop with `compare_exchange`"))
            }
            "get_mut" => Some(self.address(&plain, Pointer::Ref)),
            "as_ptr" => Some(self.address(&plain, Pointer::Raw)),
            "into_inner" => Some(self.load(&plain, Order::Plain)),
            // loom
            "unsync_load" => Some(self.load(&plain, Order::Relaxed)),
            "with_mut" => {
                let function = self.expr(call.args.first()?, None);
                let pointer = self.address(&plain, Pointer::Ref);
                let tag = self.tag(call);
                Some(self.call_value(&function, vec![pointer], tag, None))
            }
            _ => None,
        }
    }

    pub fn updated(&mut self, loc: &Loc, update: &Update, order: Order, ty: &Ty) -> Val {
        let old = self.b.update(&loc.lvalue, update, order);
        Val { data: old.data, ty: ty.clone() }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn compare_exchange(
        &mut self,
        loc: &Loc,
        expected: &Val,
        new: &Val,
        ty: &Ty,
        (success, failure): (Order, Order),
        is_weak: bool,
        is_old: bool,
        call: &ExprMethodCall,
    ) -> Val {
        let tag = self.tag(call);
        let (raw_expected, raw_new) = (self.raw(expected), self.raw(new));
        let mut failed: Option<Value> = None;
        let old = if is_weak {
            // Fails for no reason, as a choice: then it only reads.
            let lowered = self.lower(ty);
            let key = self.b.key((tag, "old"));
            let result = self.b.local("old", &lowered, key);
            let key = self.b.key((tag, "failed"));
            let flag = self.b.local("failed", &crate::lowering::types::Type::Bool, key);
            let chance = self.b.any(vec![0, 1], &crate::lowering::types::Type::Bool);
            if let Err(code) = self.b.decide(&chance) {
                self.b.begin_if(code);
                let value = self.b.load(&loc.lvalue, failure);
                let value = self.b.copied(&value);
                self.b.store(&result, &value, Order::Plain);
                self.b.store(
                    &flag,
                    &Value::number(1, crate::lowering::types::Type::Bool),
                    Order::Plain,
                );
                self.b.begin_else();
                let update = Update::CompareExchange(raw_expected.clone(), raw_new, failure);
                let value = self.b.update(&loc.lvalue, &update, success);
                let code = self.b.to_code(&value.data);
                let expected = self.b.to_code(&raw_expected.data);
                self.b.store(&result, &value, Order::Plain);
                let differs = Value::code(
                    binary(BinOp::Ne, code, expected),
                    crate::lowering::types::Type::Bool,
                );
                self.b.store(&flag, &differs, Order::Plain);
                self.b.end_if();
            }
            failed = Some(self.b.load(&flag, Order::Plain));
            self.b.load(&result, Order::Plain)
        } else {
            let update = Update::CompareExchange(raw_expected, raw_new, failure);
            self.b.update(&loc.lvalue, &update, success)
        };
        let old = Val { data: old.data, ty: ty.clone() };
        if is_old {
            return old;
        }
        let failed = match failed {
            Some(failed) => failed.data,
            None => {
                let same = match ty {
                    Ty::Pointer(..) => {
                        let (a, b) = (self.raw(&old), self.raw(expected));
                        Val { data: Data::Code(self.b.same_pointer(&a, &b)), ty: Ty::Bool }
                    }
                    _ => self.equals(&old, expected),
                };
                self.not(&same).data
            }
        };
        let module = self.items.library;
        let Some(super::items::Def::Variant(adt, _)) = self.items.value(module, &["Ok".to_owned()])
        else {
            return Val::never();
        };
        let ty = Ty::Adt(adt, vec![ty.clone(), ty.clone()]);
        let raw = self.raw(&old);
        let tag_ty = crate::lowering::types::Type::Int(weir_model::program::IntType::U8);
        let fields = vec![Value { data: failed, ty: tag_ty }, raw.clone(), raw];
        Val { data: Data::Fields(fields), ty }
    }
}
