//! Functions and methods of the standard library that are built in.

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};
use weir_model::program::{BinOp, Expr as Code};

use super::calls::Receiver;
use super::reader::{Loc, Reader, Val};
use super::types::{Pointer, Ty, Wrapper};
use crate::errors::quote;
use crate::lowering::Order;
use crate::lowering::access::Update;
use crate::lowering::value::{Data, Value, binary};

/// The memory orders by their numbers.
const ORDERS: [(&str, Order); 5] = [
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
    /// The memory order that a value is.
    fn order(&mut self, value: &Val) -> Order {
        match value.known().and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n < ORDERS.len() => ORDERS[n].1,
            _ => {
                self.fault("the memory order has to be known before the program runs");
                Order::SeqCst
            }
        }
    }

    /// A value of the standard library.
    pub fn std_value(&mut self, path: &[String], node: &impl Spanned) -> Val {
        let name = path.last().map_or("", String::as_str);
        if let Some(number) = ORDERS.iter().position(|(order, _)| *order == name) {
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
            // Model checkers call the function for every execution.
            (
                _,
                "model"
                | "check"
                | "check_random"
                | "check_dfs"
                | "check_pct"
                | "check_uncontrolled_nondeterminism",
            ) => self.call_value(&first, Vec::new(), tag, None),
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
                self.b.update(&loc.lvalue, &Update::WaitFor(old, new));
                Val::unit()
            }
            (_, "weir_wait_to_read") => {
                let loc = self.follow(&first);
                self.b.update(&loc.lvalue, &Update::WaitToCount);
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

    /// A method of a type that is built in; nothing if the type has no such method.
    pub fn std_method(
        &mut self,
        receiver: &Receiver,
        ty: &Ty,
        name: &str,
        call: &ExprMethodCall,
        want: Option<&Ty>,
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
                        _ => self.call_value(&function, Vec::new(), tag, want),
                    });
                }
                Some(Val::number(0, Ty::Opaque))
            }
            _ => None,
        }
    }

    fn then(
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

    fn atomic_method(
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
                Some(self.updated(&loc, &Update::Swap(value), inner))
            }
            "compare_exchange" | "compare_exchange_weak" | "compare_and_swap" => {
                let args = args(self);
                let (expected, new) = (args.first()?.clone(), args.get(1)?.clone());
                self.unify(inner, &expected.ty);
                self.unify(inner, &new.ty);
                let weak = name == "compare_exchange_weak" && self.b.options.spurious;
                Some(self.compare_exchange(
                    &loc,
                    &expected,
                    &new,
                    inner,
                    weak,
                    name == "compare_and_swap",
                    call,
                ))
            }
            "fetch_add" | "fetch_sub" | "fetch_and" | "fetch_or" | "fetch_xor" | "fetch_max"
            | "fetch_min" => {
                let args = args(self);
                let value = args.first()?.clone();
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
                Some(self.updated(&loc, &Update::Fetch(op, value), inner))
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

    fn updated(&mut self, loc: &Loc, update: &Update, ty: &Ty) -> Val {
        let old = self.b.update(&loc.lvalue, update);
        Val { data: old.data, ty: ty.clone() }
    }

    #[allow(clippy::too_many_arguments)]
    fn compare_exchange(
        &mut self,
        loc: &Loc,
        expected: &Val,
        new: &Val,
        ty: &Ty,
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
                let value = self.b.update(
                    &loc.lvalue,
                    &Update::Fetch(BinOp::BitOr, Value::number(0, lowered.clone())),
                );
                self.b.store(&result, &value, Order::Plain);
                self.b.store(
                    &flag,
                    &Value::number(1, crate::lowering::types::Type::Bool),
                    Order::Plain,
                );
                self.b.begin_else();
                let value = self
                    .b
                    .update(&loc.lvalue, &Update::CompareExchange(raw_expected.clone(), raw_new));
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
            self.b.update(&loc.lvalue, &Update::CompareExchange(raw_expected, raw_new))
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

    fn wrapper_method(
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

    fn pointer_method(
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
            "addr" | "expose_provenance" => {
                let code = self.b.to_code(&raw.data);
                Val { data: Data::Code(code), ty: Ty::USIZE }
            }
            _ => pointer,
        })
    }

    fn int_method(
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
