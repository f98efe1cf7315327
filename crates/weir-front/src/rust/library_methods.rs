//! Methods of types that are built in: cells, pointers and integers.

use syn::ExprMethodCall;
use syn::spanned::Spanned;
use weir_model::program::{BinOp, Expr as Code};

use super::calls::Receiver;
use super::reader::{Loc, Reader, Val};
use super::types::{Pointer, Ty, Wrapper};
use crate::lowering::Order;
use crate::lowering::value::{Data, Value, binary};

impl Reader<'_> {
    /// A method of a type that is built in; nothing if the type has no such method.
    pub fn std_method(
        &mut self,
        receiver: &Receiver,
        ty: &Ty,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        match ty {
            Ty::Atomic(inner) => {
                let inner = (**inner).clone();
                self.atomic_method(receiver, &inner, name, call)
            }
            Ty::Wrapper(kind, inner) => {
                let (kind, inner) = (*kind, (**inner).clone());
                self.wrapper_method(receiver, kind, &inner, name, call)
            }
            Ty::Pointer(kind, to) => {
                let (kind, to) = (*kind, (**to).clone());
                self.pointer_method(receiver, kind, &to, name, call)
            }
            Ty::Int(_) | Ty::Var(_, true) => {
                let wants: Vec<Ty> = match name {
                    "pow" | "wrapping_shl" | "wrapping_shr" | "checked_shl" => Vec::new(),
                    _ => vec![ty.clone()],
                };
                if !is_int_method(name) {
                    return None;
                }
                let args = self.values(call.args.iter(), &wants);
                self.at(call);
                self.int_method(receiver, ty, name, &args, call)
            }
            Ty::Bool => match name {
                "then" | "then_some" => {
                    let holds = self.received(receiver);
                    let value = self.expr(call.args.first()?, None);
                    self.then(&holds, value, name == "then", call)
                }
                _ => None,
            },
            Ty::Handle(_) => match name {
                "join" => {
                    let handle = self.received(receiver);
                    Some(self.join_thread(&handle, true))
                }
                "thread" => {
                    let handle = self.received(receiver);
                    Some(handle.with(Ty::Thread))
                }
                "is_finished" => {
                    Some(self.unsupported(call, "`is_finished`", "use an atomic flag"))
                }
                _ => None,
            },
            Ty::Thread => match name {
                "unpark" => {
                    let thread = self.received(receiver);
                    self.unpark(&thread);
                    Some(Val::unit())
                }
                "clone" => Some(self.received(receiver)),
                "id" => Some(self.received(receiver)),
                "name" => Some(Val::number(0, Ty::Opaque)),
                _ => None,
            },
            Ty::Scope => match name {
                "spawn" => {
                    let function = self.expr(call.args.first()?, None);
                    self.at(call);
                    let tag = self.tag(call);
                    Some(self.spawn(function, tag))
                }
                _ => None,
            },
            Ty::Iter(_) => {
                let this = self.received(receiver);
                self.iterator_method(&this, name, call)
            }
            Ty::Vec(_) | Ty::Array(..) => {
                let loc = self.received_at(receiver, call);
                self.list_method(&loc, name, call)
            }
            Ty::Opaque => {
                // `thread::Builder::new().spawn(..)` and `loom::model::Builder`.
                let args = self.values(call.args.iter(), &[]);
                let tag = self.tag(call);
                self.at(call);
                if let Some(function) = args.iter().find(|value| matches!(value.ty, Ty::Function)) {
                    let function = function.clone();
                    return Some(match name {
                        "spawn" => {
                            let handle = self.spawn(function, tag);
                            self.ok(handle)
                        }
                        _ => self.with_threads(&function, Vec::new(), tag),
                    });
                }
                Some(Val::number(0, Ty::Opaque))
            }
            _ => None,
        }
    }

    pub fn then(
        &mut self,
        holds: &Val,
        value: Val,
        is_lazy: bool,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        let tag = self.tag(call);
        let raw = self.raw(holds);
        match self.b.decide(&raw) {
            Ok(false) => {
                let ty = self.unknown((tag, "then"));
                Some(self.option(None, ty))
            }
            Ok(true) => {
                let value = match is_lazy {
                    true => self.call_value(&value, Vec::new(), tag, None),
                    false => value,
                };
                let ty = value.ty.clone();
                Some(self.option(Some(value), ty))
            }
            Err(_) => Some(self.unsupported(call, "`then` with this condition", "write `if`")),
        }
    }

    pub fn wrapper_method(
        &mut self,
        receiver: &Receiver,
        kind: Wrapper,
        inner: &Ty,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        let loc = self.received_at(receiver, call);
        let plain = Loc { lvalue: loc.lvalue.clone(), ty: inner.clone() };
        match (kind, name) {
            (Wrapper::UnsafeCell, "get") | (_, "as_ptr" | "as_mut_ptr") => {
                Some(self.address(&plain, Pointer::Raw))
            }
            (Wrapper::UnsafeCell, "borrow" | "borrow_mut")
            | (_, "get_mut" | "assume_init_ref" | "assume_init_mut" | "as_ref" | "as_mut") => {
                Some(self.address(&plain, Pointer::Ref))
            }
            (Wrapper::UnsafeCell, "with" | "with_mut") => {
                let function = self.expr(call.args.first()?, None);
                self.at(call);
                let pointer = self.address(&plain, Pointer::Raw);
                let tag = self.tag(call);
                Some(self.call_value(&function, vec![pointer], tag, None))
            }
            (_, "into_inner" | "assume_init" | "assume_init_read") | (Wrapper::Cell, "get") => {
                let value = match receiver {
                    Receiver::Value(value) => value.clone().with(inner.clone()),
                    Receiver::Place(_) => self.load(&plain, Order::Plain),
                };
                Some(value)
            }
            (Wrapper::Cell, "set") | (Wrapper::MaybeUninit, "write") => {
                let value = self.expr(call.args.first()?, Some(inner));
                self.at(call);
                self.store(&plain, &value, Order::Plain);
                match name {
                    "set" => Some(Val::unit()),
                    _ => Some(self.address(&plain, Pointer::Ref)),
                }
            }
            (Wrapper::Cell, "replace" | "take") => {
                let tag = self.tag(call);
                let value = match call.args.first() {
                    Some(arg) => self.expr(arg, Some(inner)),
                    None => self.default_of(inner, tag),
                };
                let old = self.load(&plain, Order::Plain);
                let old = self.kept(old);
                self.store(&plain, &value, Order::Plain);
                Some(old)
            }
            (Wrapper::MaybeUninit, "assume_init_drop") => {
                self.drop_place(&plain, 0);
                Some(Val::unit())
            }
            _ => None,
        }
    }

    pub fn pointer_method(
        &mut self,
        receiver: &Receiver,
        kind: Pointer,
        to: &Ty,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        match (kind, name) {
            (Pointer::Shared, "clone") => return Some(self.received(receiver)),
            (Pointer::Shared | Pointer::Box, "as_ref" | "as_mut") => {
                let value = self.received(receiver);
                return Some(value.with(Ty::pointer(Pointer::Ref, to.clone())));
            }
            (Pointer::Raw | Pointer::NonNull, _) => {}
            // A reference that a raw pointer is expected for.
            (Pointer::Ref, "is_null") => return Some(Val::truth(false)),
            _ => return None,
        }
        if !matches!(
            name,
            "is_null"
                | "read"
                | "read_volatile"
                | "write"
                | "write_volatile"
                | "add"
                | "sub"
                | "offset"
                | "cast"
                | "cast_mut"
                | "cast_const"
                | "as_ref"
                | "as_mut"
                | "as_ptr"
                | "clone"
                | "wrapping_add"
                | "replace"
                | "drop_in_place"
                | "addr"
                | "eq"
                | "as_uninit_ref"
                | "byte_add"
                | "expose_provenance"
                | "as_non_null_ptr"
        ) {
            return None;
        }
        let pointer = self.received(receiver);
        let raw = self.raw(&pointer);
        Some(match name {
            "is_null" => {
                let code = match raw.is_true() {
                    Some(known) => Code::Const(i128::from(!known)),
                    None => binary(BinOp::Eq, self.b.to_code(&raw.data), Code::Const(0)),
                };
                Val { data: Data::Code(code), ty: Ty::Bool }
            }
            "read" | "read_volatile" => {
                let loc = self.follow(&pointer);
                self.load(&loc, Order::Plain)
            }
            "write" | "write_volatile" => {
                let value = self.expr(call.args.first()?, Some(to));
                self.at(call);
                let loc = self.follow(&pointer);
                self.store(&loc, &value, Order::Plain);
                Val::unit()
            }
            "replace" => {
                let value = self.expr(call.args.first()?, Some(to));
                let loc = self.follow(&pointer);
                let old = self.load(&loc, Order::Plain);
                let old = self.kept(old);
                self.store(&loc, &value, Order::Plain);
                old
            }
            "add" | "wrapping_add" | "offset" | "sub" => {
                let by = self.expr(call.args.first()?, Some(&Ty::USIZE));
                let by = if name == "sub" { self.negate(&by.with(Ty::named("i64")?)) } else { by };
                self.at(call);
                let by = self.raw(&by);
                let value = self.b.advance(&raw, &by);
                Val { data: value.data, ty: pointer.ty }
            }
            "cast" => {
                let target = match &call.turbofish {
                    Some(list) => match list.args.first() {
                        Some(syn::GenericArgument::Type(ty)) => self.ty(ty),
                        _ => to.clone(),
                    },
                    None => to.clone(),
                };
                pointer.with(Ty::pointer(kind, target))
            }
            "as_ref" | "as_mut" if kind == Pointer::Raw => {
                let option = self.items.option?;
                pointer.with(Ty::Adt(option, vec![Ty::pointer(Pointer::Ref, to.clone())]))
            }
            "as_ref" | "as_mut" => pointer.with(Ty::pointer(Pointer::Ref, to.clone())),
            "as_ptr" | "cast_mut" | "cast_const" => {
                pointer.with(Ty::pointer(Pointer::Raw, to.clone()))
            }
            "drop_in_place" => {
                let loc = self.follow(&pointer);
                self.drop_place(&loc, 0);
                Val::unit()
            }
            "addr" | "expose_provenance" | "map_addr" | "with_addr" => self.pointer_as_number(call),
            _ => pointer,
        })
    }

    pub fn int_method(
        &mut self,
        receiver: &Receiver,
        ty: &Ty,
        name: &str,
        args: &[Val],
        node: &impl Spanned,
    ) -> Option<Val> {
        let this = self.received(receiver);
        let int = self.int_of(ty)?;
        let first = args.first().cloned().unwrap_or_else(Val::unit);
        let op = match name.rsplit('_').next()? {
            "add" => BinOp::Add,
            "sub" => BinOp::Sub,
            "mul" => BinOp::Mul,
            "shl" => BinOp::Shl,
            "shr" => BinOp::Shr,
            "div" => BinOp::Div,
            "rem" => BinOp::Mod,
            "max" => BinOp::Max,
            "min" => BinOp::Min,
            _ => BinOp::Add,
        };
        let (a, b) = (self.b.to_code(&this.data), self.b.to_code(&first.data));
        let code = |code| Some(Val { data: Data::Code(code), ty: ty.clone() });
        match name {
            "wrapping_add" | "wrapping_sub" | "wrapping_mul" | "wrapping_shl" | "wrapping_shr" => {
                Some(self.wrapping(op, &this, &first))
            }
            "wrapping_neg" => Some(self.wrapping(BinOp::Sub, &Val::number(0, ty.clone()), &this)),
            "saturating_add" | "saturating_sub" | "saturating_mul" => {
                let sum = binary(op, a, b);
                let low = binary(BinOp::Max, sum, Code::Const(int.low()));
                code(binary(BinOp::Min, low, Code::Const(int.high())))
            }
            "checked_add" | "checked_sub" | "checked_mul" => {
                let sum = binary(op, a, b);
                let low = binary(BinOp::Ge, sum.clone(), Code::Const(int.low()));
                let high = binary(BinOp::Le, sum.clone(), Code::Const(int.high()));
                let fits = binary(BinOp::And, low, high);
                let option = self.items.option?;
                let tag = Value::code(
                    fits,
                    crate::lowering::types::Type::Int(weir_model::program::IntType::U8),
                );
                let lowered = self.lower(ty);
                let value = Value::code(crate::lowering::access::wrap(int, sum), lowered);
                Some(Val {
                    data: Data::Fields(vec![tag, value]),
                    ty: Ty::Adt(option, vec![ty.clone()]),
                })
            }
            "max" | "min" => code(binary(op, a, b)),
            "abs" => {
                let negative = binary(BinOp::Sub, Code::Const(0), a.clone());
                code(binary(BinOp::Max, a, negative))
            }
            "abs_diff" => {
                let (x, y) = (binary(BinOp::Sub, a.clone(), b.clone()), binary(BinOp::Sub, b, a));
                code(binary(BinOp::Max, x, y))
            }
            "rem_euclid" => code(binary(BinOp::Mod, a, b)),
            "pow" => {
                let exponent = first.known().and_then(|n| u32::try_from(n).ok())?;
                let mut value = Val::number(1, ty.clone());
                for _ in 0..exponent.min(64) {
                    value = self.arithmetic(BinOp::Mul, &value, &this, node);
                }
                Some(value)
            }
            "is_power_of_two" | "next_power_of_two" | "count_ones" | "trailing_zeros"
            | "leading_zeros" => {
                let known = u64::try_from(this.known()?).ok()?;
                let value = match name {
                    "is_power_of_two" => return Some(Val::truth(known.is_power_of_two())),
                    "next_power_of_two" => {
                        return Some(Val::number(
                            i128::from(known.next_power_of_two()),
                            ty.clone(),
                        ));
                    }
                    "count_ones" => known.count_ones(),
                    "trailing_zeros" => known.trailing_zeros().min(int.bits()),
                    _ => known.leading_zeros() - (64 - int.bits()),
                };
                Some(Val::number(i128::from(value), Ty::named("u32")?))
            }
            "get" | "clone" => Some(this),
            "to_string" => Some(Val::number(0, Ty::Opaque)),
            _ => None,
        }
    }

    /// Methods that every type has.
    pub fn any_method(
        &mut self,
        receiver: &Receiver,
        ty: &Ty,
        name: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        match name {
            "clone" | "to_owned" | "into" | "try_into" | "borrow" | "into_iter" => {
                if let (Ty::Adt(id, _), "clone") = (ty, name)
                    && self.items.adts[*id].file != super::items::LIBRARY
                    && self.needs_drop(ty)
                {
                    return Some(self.unsupported(
                        call,
                        "a derived `clone` of this type",
                        "write `impl Clone`",
                    ));
                }
                Some(self.received(receiver))
            }
            "to_string" | "as_str" => Some(Val::number(0, Ty::Opaque)),
            "as_ref" | "as_mut" => {
                let loc = self.received_at(receiver, call);
                Some(self.address(&loc, Pointer::Ref))
            }
            "eq" | "ne" => {
                let this = self.received(receiver);
                let other = self.expr(call.args.first()?, None);
                let other = match self.resolve(&other.ty) {
                    Ty::Pointer(Pointer::Ref, _) => {
                        let loc = self.follow(&other);
                        self.load(&loc, Order::Plain)
                    }
                    _ => other,
                };
                let same = self.equals(&this, &other);
                Some(if name == "eq" { same } else { self.not(&same) })
            }
            _ => None,
        }
    }
}

fn is_int_method(name: &str) -> bool {
    name.starts_with("wrapping_")
        || name.starts_with("saturating_")
        || name.starts_with("checked_")
        || matches!(
            name,
            "max"
                | "min"
                | "abs"
                | "abs_diff"
                | "rem_euclid"
                | "pow"
                | "is_power_of_two"
                | "next_power_of_two"
                | "count_ones"
                | "trailing_zeros"
                | "leading_zeros"
                | "get"
                | "clone"
                | "to_string"
        )
}
