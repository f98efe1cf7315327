//! Functions and methods of the standard library that are built in.

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::calls::Receiver;
use super::items::LIBRARY;
use super::reader::{Reader, Val};
use super::types::{Pointer, Ty, Wrapper};
use crate::errors::quote;
use crate::lowering::Order;
use crate::lowering::access::Update;
use crate::lowering::value::Data;

/// The memory orders by their numbers.
pub const ORDERS: [(&str, Order); 5] = [
    ("Relaxed", Order::Relaxed),
    ("Acquire", Order::Acquire),
    ("Release", Order::Release),
    ("AcqRel", Order::AcquireRelease),
    ("SeqCst", Order::SeqCst),
];

/// Functions that glob imports may bring, by their modules.
pub const FUNCTIONS: [(&str, &[&str]); 8] = [
    ("thread", &["spawn", "scope", "yield_now", "sleep", "park", "park_timeout", "current"]),
    ("atomic", &["fence", "compiler_fence", "spin_loop_hint"]),
    ("hint", &["spin_loop", "black_box"]),
    ("mem", &["swap", "replace", "take", "drop", "forget"]),
    ("ptr", &["null", "null_mut", "eq", "read", "write", "drop_in_place"]),
    ("process", &["abort", "exit"]),
    ("genmc", &["spawn_pthread_closure", "spawn_pthread", "join_pthread", "join_pthreads"]),
    ("utils", &["miri_genmc_assume"]),
];

impl Reader<'_> {
    /// A value of the standard library.
    pub fn std_value(&mut self, path: &[String], node: &impl Spanned) -> Val {
        let name = path.last().map_or("", String::as_str);
        if let Some(number) = ORDERS.iter().position(|(order, _)| *order == name) {
            if self.frame().file != LIBRARY {
                self.b.note_order(ORDERS[number].1);
            }
            return Val::number(number as i128, Ty::Ordering);
        }
        if let [.., ty, _] = path
            && let Some(ty) = Ty::named(ty)
            && let Some(value) = self.std_constant(&ty, name, None)
        {
            return value;
        }
        if name == "PhantomData" || name == "PhantomPinned" {
            return Val::unit();
        }
        if name.starts_with(|c: char| c.is_lowercase()) {
            return self.function_value(super::reader::Callable::Std(path.to_vec()));
        }
        if name.to_uppercase() == name && name.len() > 1 {
            // `ATOMIC_USIZE_INIT`
            return Val::number(0, Ty::Opaque);
        }
        let what = quote(&path.join("::"));
        self.unsupported(node, &what, "docs/rust.md lists what is read")
    }

    /// `u32::MAX` and the like.
    pub fn std_constant(&mut self, ty: &Ty, name: &str, _want: Option<&Ty>) -> Option<Val> {
        let int = self.int_of(ty)?;
        let value = match name {
            "MAX" => int.high(),
            "MIN" => int.low(),
            "BITS" => return Some(Val::number(i128::from(int.bits()), Ty::named("u32")?)),
            _ => return None,
        };
        Some(Val::number(value, ty.clone()))
    }

    /// A call of a function of the standard library.
    pub fn std_call(
        &mut self,
        path: &[String],
        node: &syn::ExprPath,
        call: &ExprCall,
        want: Option<&Ty>,
    ) -> Val {
        let [.., name] = path else { return Val::never() };
        // `Type::function` of a type that is built in.
        if let [.., ty, _] = path
            && (ty.starts_with(|c: char| c.is_uppercase()) || Ty::named(ty).is_some())
        {
            let ty = self.std_type_of(node, path);
            if !self.is_reachable() {
                return Val::never();
            }
            return self.std_associated(&ty, name, call, want);
        }
        let wants = match (path, name.as_str()) {
            (_, "null" | "null_mut") => {
                let to = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Pointer(_, to)) => (*to).clone(),
                    _ => self.turbofish_of(node).unwrap_or_else(|| {
                        let tag = self.tag(call);
                        self.unknown((tag, "null"))
                    }),
                };
                return Val::number(0, Ty::pointer(Pointer::Raw, to));
            }
            (_, "size_of" | "align_of") => {
                return self.unsupported(call, "the size of a type", "write the number");
            }
            _ => Vec::new(),
        };
        let args = self.values(call.args.iter(), &wants);
        if !self.is_reachable() {
            return Val::never();
        }
        self.at(call);
        let tag = self.tag(call);
        self.std_function(path, args, tag, want)
    }

    fn turbofish_of(&mut self, path: &syn::ExprPath) -> Option<Ty> {
        let segment = path.path.segments.last()?;
        match &segment.arguments {
            syn::PathArguments::AngleBracketed(list) => match list.args.first()? {
                syn::GenericArgument::Type(ty) => Some(self.ty(ty)),
                _ => None,
            },
            _ => None,
        }
    }

    fn std_type_of(&mut self, path: &syn::ExprPath, names: &[String]) -> Ty {
        let mut prefix = path.path.clone();
        if prefix.segments.len() > 1 {
            prefix.segments.pop();
            prefix.segments.pop_punct();
            let ty =
                syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: prefix });
            return self.ty(&ty);
        }
        let name = &names[names.len() - 2];
        Ty::named(name).unwrap_or(Ty::Opaque)
    }

    /// A function of the standard library with its arguments.
    pub fn std_function(
        &mut self,
        path: &[String],
        args: Vec<Val>,
        tag: (usize, usize),
        want: Option<&Ty>,
    ) -> Val {
        let name = path.last().map_or("", String::as_str);
        let module = path.len().checked_sub(2).map_or("", |i| path[i].as_str());
        let first = args.first().cloned().unwrap_or_else(Val::unit);
        let second = args.get(1).cloned().unwrap_or_else(Val::unit);
        match (module, name) {
            ("thread" | "rt", "spawn") | (_, "spawn_pthread_closure" | "spawn_pthread") => {
                self.spawn(first, tag)
            }
            ("thread", "scope") => self.scope(&first, tag),
            (_, "join_pthread") => self.join_thread(&first, false),
            (_, "join_pthreads") => {
                if let Data::Fields(list) = &first.data {
                    for handle in list.clone() {
                        let handle = Val { data: handle.data, ty: Ty::Handle(Ty::UNIT.into()) };
                        self.join_thread(&handle, false);
                    }
                }
                Val::unit()
            }
            ("thread", "yield_now" | "sleep" | "sleep_ms")
            | ("hint", "spin_loop" | "black_box")
            | ("atomic", "spin_loop_hint" | "compiler_fence") => match name {
                "black_box" => first,
                _ => Val::unit(),
            },
            ("thread", "park" | "park_timeout") => {
                self.park();
                Val::unit()
            }
            ("thread", "current") => Val { data: Data::Thread(self.b.thread()), ty: Ty::Thread },
            ("thread", "panicking") => Val::truth(false),
            (_, "fence") => {
                let order = self.order(&first);
                if order == Order::Relaxed {
                    return self.fault("a fence cannot be relaxed");
                }
                self.b.fence(order);
                Val::unit()
            }
            ("hint", "unreachable_unchecked") | ("process", "abort") => {
                self.b.fail();
                Val::never()
            }
            ("process", "exit") => {
                match first.known() {
                    Some(0) => self.b.stop(),
                    _ => self.b.fail(),
                }
                Val::never()
            }
            (_, "miri_genmc_assume" | "assume") => {
                let raw = self.raw(&first);
                self.b.assume(&raw);
                Val::unit()
            }
            ("mem", "drop") => {
                self.drop_value(&first, tag);
                Val::unit()
            }
            ("mem", "forget") => Val::unit(),
            ("mem", "replace" | "take") => {
                let loc = self.follow(&first);
                let old = self.load(&loc, Order::Plain);
                let old = self.kept(old);
                let new = match name {
                    "replace" => second,
                    _ => self.default_of(&loc.ty.clone(), tag),
                };
                self.store(&loc, &new, Order::Plain);
                old
            }
            ("mem", "swap") => {
                let (a, b) = (self.follow(&first), self.follow(&second));
                let x = self.load(&a, Order::Plain);
                let x = self.kept(x);
                let y = self.load(&b, Order::Plain);
                self.store(&a, &y, Order::Plain);
                self.store(&b, &x, Order::Plain);
                Val::unit()
            }
            ("mem", "zeroed" | "uninitialized") => {
                let ty = match want {
                    Some(ty) => ty.clone(),
                    None => self.unknown((tag, "zeroed")),
                };
                self.zeroed(&ty)
            }
            ("ptr", "eq" | "addr_eq") => {
                let (a, b) = (self.raw(&first), self.raw(&second));
                let code = self.b.same_pointer(&a, &b);
                Val { data: Data::Code(code), ty: Ty::Bool }
            }
            ("ptr", "read" | "read_volatile") => {
                let loc = self.follow(&first);
                self.load(&loc, Order::Plain)
            }
            ("ptr", "write" | "write_volatile") => {
                let loc = self.follow(&first);
                self.store(&loc, &second, Order::Plain);
                Val::unit()
            }
            ("ptr", "drop_in_place") => {
                let loc = self.follow(&first);
                self.drop_place(&loc, 0);
                Val::unit()
            }
            ("ptr", "from_ref" | "from_mut") => match self.resolve(&first.ty) {
                Ty::Pointer(_, to) => first.with(Ty::Pointer(Pointer::Raw, to)),
                _ => first,
            },
            ("array", "from_fn") => {
                let Some(Ty::Array(_, len)) = want.map(|ty| self.resolve(ty)) else {
                    return self.fault("the length of this array is not known here");
                };
                let Ty::Const(n) = self.resolve(&len) else {
                    return self.fault("the length of this array is not known here");
                };
                let mut values = Vec::new();
                for i in 0..n.min(crate::MAX_ARRAY) {
                    self.b.enter((tag, i, "element"));
                    let number = Val::number(i, Ty::USIZE);
                    values.push(self.call_value(&first, vec![number], tag, None));
                    self.b.leave();
                }
                let element = values.first().map_or(Ty::UNIT, |value| value.ty.clone());
                let len = Ty::Const(values.len() as i128);
                let fields = values.iter().map(|value| self.raw(value)).collect();
                Val { data: Data::Fields(fields), ty: Ty::Array(element.into(), len.into()) }
            }
            // Model checkers call the function for every execution, which ends with its threads.
            (
                _,
                "model"
                | "check"
                | "check_random"
                | "check_dfs"
                | "check_pct"
                | "check_uncontrolled_nondeterminism",
            ) => self.with_threads(&first, Vec::new(), tag),
            // What this reader's own library uses.
            (_, "weir_read") => {
                let loc = self.follow(&first);
                let value = self.load(&loc, Order::Plain);
                self.kept(value)
            }
            (_, "weir_write") => {
                let loc = self.follow(&first);
                self.store(&loc, &second, Order::Plain);
                Val::unit()
            }
            (_, "weir_uninit") => {
                let ty = match want {
                    Some(ty) => ty.clone(),
                    None => self.unknown((tag, "uninit")),
                };
                self.zeroed(&ty)
            }
            (_, "weir_wait_for") => {
                let loc = self.follow(&first);
                let Ty::Atomic(inner) = self.resolve(&loc.ty) else { return Val::never() };
                let new = args.get(2).cloned().unwrap_or_else(Val::unit);
                let (old, new) = (second.with((*inner).clone()), new.with((*inner).clone()));
                let (old, new) = (self.raw(&old), self.raw(&new));
                self.b.update(&loc.lvalue, &Update::WaitFor(old, new), Order::AcquireRelease);
                Val::unit()
            }
            (_, "weir_wait_to_read") => {
                let loc = self.follow(&first);
                self.b.update(&loc.lvalue, &Update::WaitToCount, Order::Acquire);
                Val::unit()
            }
            ("Box", "new")
            | ("Arc", "new")
            | ("Atomic", _)
            | ("UnsafeCell", _)
            | ("Box", _)
            | ("Arc", _) => self.constructor(module, name, first, tag),
            _ => {
                let message = format!("the function {} is not read", quote(&path.join("::")));
                self.fault_with(&message, "docs/rust.md lists what is read; write out what it does")
            }
        }
    }

    /// Constructors that are used as values, as in `.map(Box::new)`.
    fn constructor(&mut self, module: &str, name: &str, value: Val, tag: (usize, usize)) -> Val {
        match (module, name) {
            ("Box", "new") => self.boxed(value, Pointer::Box, tag),
            ("Arc", "new") => self.boxed(value, Pointer::Shared, tag),
            ("Box", "into_raw") => match self.resolve(&value.ty) {
                Ty::Pointer(_, to) => value.with(Ty::Pointer(Pointer::Raw, to)),
                _ => value,
            },
            ("Atomic", "new") => {
                let ty = Ty::Atomic(value.ty.clone().into());
                value.with(ty)
            }
            ("UnsafeCell", "new") => {
                let ty = Ty::Wrapper(Wrapper::UnsafeCell, value.ty.clone().into());
                value.with(ty)
            }
            ("Arc", "clone") => {
                let loc = self.follow(&value);
                self.load(&loc, Order::Plain)
            }
            _ => self.fault("this function cannot be a value here"),
        }
    }

    /// A value of zeros of a type.
    pub fn zeroed(&mut self, ty: &Ty) -> Val {
        let lowered = self.lower(ty);
        Val { data: self.zero(&lowered).data, ty: self.resolve(ty) }
    }

    /// A new object with a value in it.
    pub fn boxed(&mut self, value: Val, kind: Pointer, tag: (usize, usize)) -> Val {
        if !self.is_reachable() {
            return Val::never();
        }
        let name = match self.resolve(&value.ty) {
            _ if self.hint.is_some() => self.hint.clone().unwrap_or_default(),
            Ty::Adt(id, _) => self.items.adts[id].name.to_lowercase(),
            _ => "value".to_owned(),
        };
        let lowered = self.lower(&value.ty);
        if lowered == crate::lowering::types::Type::Void {
            // Nothing to store; the pointer is not null.
            let lowered = crate::lowering::types::Type::Bool;
            let pointer = self.b.allocate(&name, &lowered, tag);
            return Val { data: pointer.data, ty: Ty::pointer(kind, value.ty) };
        }
        let pointer = self.b.allocate(&name, &lowered, tag);
        let ty = Ty::pointer(kind, value.ty.clone());
        let pointer = Val { data: pointer.data, ty };
        let loc = self.follow(&pointer);
        self.store(&loc, &value, Order::Plain);
        pointer
    }

    /// `Default::default()`.
    pub fn default_of(&mut self, ty: &Ty, tag: (usize, usize)) -> Val {
        let ty = self.resolve(ty);
        let key = (ty.head(), "default".to_owned());
        if let Some(&id) = self.items.methods.get(&key) {
            let item = self.items.functions[id].clone();
            let types = self.impl_types(&item, &ty, tag);
            return self.call_function(id, types, Vec::new(), tag);
        }
        match &ty {
            Ty::Vec(element) => self.empty_list((**element).clone()),
            Ty::Pointer(kind @ (Pointer::Box | Pointer::Shared), to) => {
                let value = self.default_of(&to.clone(), tag);
                self.boxed(value, *kind, tag)
            }
            Ty::Adt(id, _) if !self.items.adts[*id].is_enum => {
                let fields = self.fields(&ty);
                let values = fields
                    .iter()
                    .enumerate()
                    .map(|(i, (_, field))| self.default_of(field, (tag.0, tag.1 + i)))
                    .collect();
                self.variant(&ty, 0, values)
            }
            _ => self.zeroed(&ty),
        }
    }

    /// `Type::name(..)` of a type that is built in.
    pub fn std_associated(
        &mut self,
        ty: &Ty,
        name: &str,
        call: &ExprCall,
        want: Option<&Ty>,
    ) -> Val {
        let ty = self.resolve(ty);
        let tag = self.tag(call);
        let inner = |want: Option<&Ty>, this: &Self| match (want.map(|ty| this.resolve(ty)), &ty) {
            (Some(Ty::Pointer(_, a)), Ty::Pointer(..)) => Some((*a).clone()),
            (Some(Ty::Atomic(a)), Ty::Atomic(_)) => Some((*a).clone()),
            (Some(Ty::Wrapper(_, a)), Ty::Wrapper(..)) => Some((*a).clone()),
            (_, Ty::Pointer(_, a) | Ty::Atomic(a) | Ty::Wrapper(_, a)) => Some((**a).clone()),
            _ => None,
        };
        let wants: Vec<Ty> = match name {
            "new" | "from" | "pin" => inner(want, self).into_iter().collect(),
            _ => Vec::new(),
        };
        if let (Some(want), "new") = (want, name) {
            self.unify(&ty, want);
        }
        let args = self.values(call.args.iter(), &wants);
        if !self.is_reachable() {
            return Val::never();
        }
        self.at(call);
        let first = args.first().cloned().unwrap_or_else(Val::unit);
        let second = args.get(1).cloned().unwrap_or_else(Val::unit);
        match (&ty, name) {
            (Ty::Atomic(inner), "new" | "from") => {
                let inner = self.unify(inner, &first.ty);
                first.with(Ty::Atomic(inner.into()))
            }
            (Ty::Wrapper(kind, inner), "new" | "from") => {
                let inner = self.unify(inner, &first.ty);
                first.with(Ty::Wrapper(*kind, inner.into()))
            }
            (Ty::Wrapper(Wrapper::MaybeUninit, _), "uninit" | "zeroed") => {
                let ty = match want {
                    Some(want) => self.unify(&ty, want),
                    None => ty.clone(),
                };
                self.zeroed(&ty)
            }
            (Ty::Wrapper(Wrapper::MaybeUninit, _), "uninit_array") => self.unsupported(
                call,
                "`uninit_array`",
                "write `[const { MaybeUninit::uninit() }; N]`",
            ),
            (Ty::Wrapper(Wrapper::ManuallyDrop, _), "take" | "into_inner") => {
                let value = match self.resolve(&first.ty) {
                    Ty::Pointer(..) => {
                        let loc = self.follow(&first);
                        self.load(&loc, Order::Plain)
                    }
                    _ => first,
                };
                match self.resolve(&value.ty) {
                    Ty::Wrapper(_, inner) => value.with((*inner).clone()),
                    _ => value,
                }
            }
            (Ty::Wrapper(_, _), "raw_get") => match self.resolve(&first.ty) {
                Ty::Pointer(_, to) => match &*to {
                    Ty::Wrapper(_, inner) => first.with(Ty::Pointer(Pointer::Raw, inner.clone())),
                    _ => first,
                },
                _ => first,
            },
            (Ty::Pointer(kind @ (Pointer::Box | Pointer::Shared), _), "new" | "pin" | "from") => {
                self.unify(&ty, &Ty::pointer(*kind, first.ty.clone()));
                self.boxed(first, *kind, tag)
            }
            (Ty::Pointer(kind @ (Pointer::Box | Pointer::Shared), _), "from_raw") => {
                match self.resolve(&first.ty) {
                    Ty::Pointer(_, to) => first.with(Ty::Pointer(*kind, to)),
                    _ => first,
                }
            }
            (Ty::Pointer(_, _), "into_raw" | "leak" | "as_ptr" | "as_mut_ptr") => {
                let kind = if name == "leak" { Pointer::Ref } else { Pointer::Raw };
                match self.resolve(&first.ty) {
                    // `Arc::as_ptr(&arc)`
                    Ty::Pointer(Pointer::Ref, to) if name.starts_with("as_") => {
                        let loc = self.follow(&first);
                        let inner = self.load(&loc, Order::Plain);
                        match &*to {
                            Ty::Pointer(_, to) => inner.with(Ty::Pointer(kind, to.clone())),
                            _ => inner,
                        }
                    }
                    Ty::Pointer(_, to) => first.with(Ty::Pointer(kind, to)),
                    _ => first,
                }
            }
            (Ty::Pointer(Pointer::Shared, _), "clone") => {
                let loc = self.follow(&first);
                match self.resolve(&loc.ty) {
                    Ty::Pointer(Pointer::Shared, _) => self.load(&loc, Order::Plain),
                    _ => first,
                }
            }
            (Ty::Pointer(Pointer::Shared, _), "ptr_eq") => {
                let (a, b) = (self.follow(&first), self.follow(&second));
                let (a, b) = (self.load(&a, Order::Plain), self.load(&b, Order::Plain));
                let (a, b) = (self.raw(&a), self.raw(&b));
                let code = self.b.same_pointer(&a, &b);
                Val { data: Data::Code(code), ty: Ty::Bool }
            }
            (
                Ty::Pointer(Pointer::Shared, _),
                "strong_count" | "weak_count" | "try_unwrap" | "get_mut" | "downgrade"
                | "into_inner",
            ) => {
                let what = format!("`Arc::{name}`");
                self.unsupported(
                    call,
                    &what,
                    "the count of an `Arc` is not kept; write your own with an atomic",
                )
            }
            (Ty::Pointer(Pointer::NonNull, _), "new") => {
                let Ty::Pointer(_, to) = self.resolve(&first.ty) else { return Val::never() };
                let pointer = Ty::Pointer(Pointer::NonNull, to);
                let Some(option) = self.items.option else { return Val::never() };
                first.with(Ty::Adt(option, vec![pointer]))
            }
            (Ty::Pointer(Pointer::NonNull, _), "new_unchecked" | "from") => {
                match self.resolve(&first.ty) {
                    Ty::Pointer(_, to) => first.with(Ty::Pointer(Pointer::NonNull, to)),
                    _ => first,
                }
            }
            (Ty::Pointer(Pointer::NonNull, _), "dangling") => Val::number(0, ty.clone()),
            (Ty::Vec(element), "new" | "with_capacity") => {
                let element = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Vec(element)) => (*element).clone(),
                    _ => (**element).clone(),
                };
                self.empty_list(element)
            }
            (_, "default") => {
                let ty = match (&ty, want) {
                    (Ty::Never | Ty::Var(..), Some(want)) => want.clone(),
                    _ => ty.clone(),
                };
                self.default_of(&ty, tag)
            }
            (Ty::Int(_), "from") => self.cast(first, &ty, call),
            (Ty::Int(_) | Ty::Bool, "new") => first.with(ty.clone()),
            // `Wrapping(1)`, `Pin::new(x)`
            (_, "new") if !matches!(ty, Ty::Opaque | Ty::Adt(..)) => first,
            (Ty::Int(_), _) => {
                let receiver = Receiver::Value(first);
                let rest: Vec<Val> = args.into_iter().skip(1).collect();
                match self.int_method(&receiver, &ty, name, &rest, call) {
                    Some(value) => value,
                    None => self.unsupported(
                        call,
                        &format!("the function {}", quote(name)),
                        "write out what it does",
                    ),
                }
            }
            (Ty::Opaque, _) => Val::number(0, Ty::Opaque),
            (
                Ty::Atomic(_)
                | Ty::Pointer(..)
                | Ty::Wrapper(..)
                | Ty::Adt(..)
                | Ty::Vec(_)
                | Ty::Handle(_)
                | Ty::Thread,
                _,
            ) if !call.args.is_empty() => {
                // A method that is called by its path: `AtomicUsize::load(&x, ..)`.
                let rest: Vec<Expr> = call.args.iter().skip(1).cloned().collect();
                let method = ExprMethodCall {
                    attrs: Vec::new(),
                    receiver: Box::new(call.args[0].clone()),
                    dot_token: Default::default(),
                    method: syn::Ident::new(name, call.paren_token.span.open()),
                    turbofish: None,
                    paren_token: call.paren_token,
                    args: rest.into_iter().collect(),
                };
                self.method_of(first, &method, want)
            }
            _ => {
                let what = format!("the function {}", quote(name));
                self.unsupported(call, &what, "docs/rust.md lists what is read")
            }
        }
    }
}
