//! Calls of functions and methods.

use std::rc::Rc;

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::expressions::{changes, is_place};
use super::items::{Def, Function, Head};
use super::reader::{Callable, Loc, Reader, Use, Val};
use super::types::{Names, Pointer, Ty};
use crate::errors::quote;
use crate::lowering::Order;

/// What a method is called on.
#[derive(Clone, Debug)]
pub enum Receiver {
    Value(Val),
    Place(Loc),
}

impl Reader<'_> {
    pub fn call(&mut self, call: &ExprCall, want: Option<&Ty>) -> Val {
        let mut function = &*call.func;
        while let Expr::Paren(inner) = function {
            function = &inner.expr;
        }
        let Expr::Path(path) = function else {
            let callee = self.expr(function, None);
            return self.call_with(&callee, call, want);
        };
        if let Some(at) = self.local_of(function) {
            let loc = self.variable(at, Use::Read);
            let callee = self.load(&loc, Order::Plain);
            return self.call_with(&callee, call, want);
        }
        match self.definition(path) {
            Some(Def::Function(id)) => {
                let types = self.turbofish(path, id);
                self.call_item(id, types, None, &call.args, call, want)
            }
            Some(Def::Variant(adt, variant)) => {
                let ty = match want.map(|ty| self.resolve(ty)) {
                    Some(ty @ Ty::Adt(id, _)) if id == adt => ty,
                    _ => {
                        let tag = self.tag(call);
                        self.fresh_adt(adt, tag)
                    }
                };
                let first = self.first_field(adt, variant);
                let fields = self.fields(&ty);
                let wants: Vec<Ty> = fields.iter().skip(first).map(|f| f.1.clone()).collect();
                let args = self.values(call.args.iter(), &wants);
                if !self.is_reachable() {
                    return Val::never();
                }
                self.variant(&ty, variant, args)
            }
            Some(Def::Std(names)) => self.std_call(&names, path, call, want),
            Some(Def::Foreign(name)) => self.foreign(&name, call),
            Some(Def::Static(id)) => {
                let loc = self.static_object(id);
                let callee = self.load(&loc, Order::Plain);
                self.call_with(&callee, call, want)
            }
            Some(Def::Const(id)) => {
                let callee = self.const_value(id);
                self.call_with(&callee, call, want)
            }
            _ => self.associated_call(path, call, want),
        }
    }

    fn call_with(&mut self, callee: &Val, call: &ExprCall, want: Option<&Ty>) -> Val {
        let args = self.values(call.args.iter(), &[]);
        self.at(call);
        let tag = self.tag(call);
        self.call_value(callee, args, tag, want)
    }

    /// The types that a path gives to the parameters of a function.
    pub fn turbofish(&mut self, path: &syn::ExprPath, id: usize) -> Names {
        let mut types = Names::new();
        let Some(segment) = path.path.segments.last() else { return types };
        self.explicit(&segment.arguments, id, &mut types);
        types
    }

    fn explicit(&mut self, arguments: &syn::PathArguments, id: usize, types: &mut Names) {
        let function = self.items.functions[id].clone();
        let names: Vec<String> = parameters(&function);
        if let syn::PathArguments::AngleBracketed(list) = arguments {
            let mut names = names.into_iter();
            for arg in &list.args {
                match arg {
                    syn::GenericArgument::Type(ty) => {
                        if let Some(name) = names.next() {
                            let ty = self.ty(ty);
                            types.insert(name, ty);
                        }
                    }
                    syn::GenericArgument::Const(expr) => {
                        if let Some(name) = names.next() {
                            let value = self.expr(expr, Some(&Ty::USIZE));
                            types.insert(name, Ty::Const(value.known().unwrap_or(0)));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Calls a function of the program with arguments that are evaluated now.
    fn call_item(
        &mut self,
        id: usize,
        mut types: Names,
        this: Option<Val>,
        args: &syn::punctuated::Punctuated<Expr, syn::Token![,]>,
        node: &impl Spanned,
        want: Option<&Ty>,
    ) -> Val {
        let function: Rc<Function> = self.items.functions[id].clone();
        let tag = self.tag(node);
        for name in parameters(&function) {
            let ty = self.unknown((tag, &name, "parameter"));
            types.entry(name).or_insert(ty);
        }
        if let (syn::ReturnType::Type(_, ty), Some(want)) = (&function.signature.output, want)
            && !matches!(self.resolve(want), Ty::Var(..))
        {
            let returns = self.ty_in(ty, function.module, &types, function.file);
            self.unify(&returns, want);
        }
        let mut wants = Vec::new();
        self.b.enter((tag, "parameters"));
        for input in &function.signature.inputs {
            match input {
                syn::FnArg::Receiver(_) if this.is_some() => {}
                syn::FnArg::Receiver(_) => wants.push(Ty::Never),
                syn::FnArg::Typed(typed) => {
                    let ty = self.ty_in(&typed.ty, function.module, &types, function.file);
                    wants.push(ty);
                }
            }
        }
        self.b.leave();
        let mut values = Vec::new();
        if let Some(this) = this {
            let this = match args.iter().any(changes) {
                true => self.kept(this),
                false => this,
            };
            values.push(this);
        }
        values.extend(self.values(args.iter(), &wants));
        if !self.is_reachable() {
            return Val::never();
        }
        self.at(node);
        self.call_function(id, types, values, tag)
    }

    /// The type that a path begins with, and the name of what is asked of it.
    fn associated(&mut self, path: &syn::ExprPath) -> Option<(Ty, String)> {
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let name = names.last()?.clone();
        if let Some(qself) = &path.qself {
            return Some((self.ty(&qself.ty), name));
        }
        let [before @ .., _] = &names[..] else { return None };
        let [first, ..] = before else { return None };
        if before.len() == 1
            && let Some(ty) = self.frame().types.get(first)
        {
            return Some((self.resolve(&ty.clone()), name));
        }
        let mut prefix = path.path.clone();
        prefix.segments.pop();
        // `a::b::` ends with the separator that `pop` leaves.
        prefix.segments.pop_punct();
        let module = self.frame().module;
        if let Some(Def::Trait(_)) = self.items.ty(module, before) {
            return Some((Ty::Never, name));
        }
        if let [single] = before
            && matches!(
                single.as_str(),
                "Default" | "Clone" | "Drop" | "Iterator" | "Deref" | "From" | "Into" | "PartialEq"
            )
        {
            return Some((Ty::Never, name));
        }
        let ty = syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: prefix });
        Some((self.ty(&ty), name))
    }

    /// `Type::name` as a value: a constant or a method.
    pub fn associated_value(&mut self, path: &syn::ExprPath, want: Option<&Ty>) -> Val {
        let Some((ty, name)) = self.associated(path) else {
            let text = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            let message = format!("there is no {}", quote(&text));
            return self.error_at(path, &message, None);
        };
        if !self.is_reachable() {
            return Val::never();
        }
        let ty = self.resolve(&ty);
        if let Some(&id) = self.items.associated.get(&(ty.head(), name.clone())) {
            return self.const_value(id);
        }
        if let Some(&id) = self.items.methods.get(&(ty.head(), name.clone())) {
            let item = self.items.functions[id].clone();
            let tag = self.tag(path);
            let types = self.impl_types(&item, &ty, tag);
            return self.function_value(Callable::Function(id, types));
        }
        if let Some(value) = self.std_constant(&ty, &name, want) {
            return value;
        }
        let head = match &ty {
            Ty::Pointer(Pointer::Box, _) => "Box",
            Ty::Pointer(Pointer::Shared, _) => "Arc",
            Ty::Atomic(_) => "Atomic",
            Ty::Wrapper(..) => "UnsafeCell",
            _ => "",
        };
        if !head.is_empty() {
            return self.function_value(Callable::Std(vec![head.to_owned(), name]));
        }
        let message = format!("there is no {}", quote(&name));
        self.error_at(path, &message, None)
    }

    fn associated_call(&mut self, path: &syn::ExprPath, call: &ExprCall, want: Option<&Ty>) -> Val {
        let Some((ty, name)) = self.associated(path) else {
            let text = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            let message = format!("there is no function {}", quote(&text));
            return self.error_at(path, &message, None);
        };
        if !self.is_reachable() {
            return Val::never();
        }
        let ty = self.resolve(&ty);
        // The trait of a method: what it is called on says which one.
        if matches!(ty, Ty::Never | Ty::Var(..)) {
            if let (true, Some(want)) = (call.args.is_empty(), want) {
                let want = self.resolve(want);
                return self.std_associated(&want, &name, call, Some(&want));
            }
            let mut args = call.args.iter();
            let Some(first) = args.next() else {
                return self.error_at(call, "the type of this is not known here", None);
            };
            let this = self.expr(first, None);
            let rest: Vec<Expr> = args.cloned().collect();
            return self.method_with(Receiver::Value(this), &name, &rest, call, want);
        }
        if let Some(&id) = self.items.methods.get(&(ty.head(), name.clone())) {
            let item = self.items.functions[id].clone();
            let tag = self.tag(call);
            let mut types = self.impl_types(&item, &ty, tag);
            if let Some(segment) = path.path.segments.last() {
                self.explicit(&segment.arguments, id, &mut types);
            }
            return self.call_item(id, types, None, &call.args, call, want);
        }
        self.std_associated(&ty, &name, call, want)
    }

    pub fn method_call(&mut self, call: &ExprMethodCall, want: Option<&Ty>) -> Val {
        let receiver = match is_place(&call.receiver) {
            true => Receiver::Place(self.base(&call.receiver, Use::Address)),
            false => Receiver::Value(self.expr(&call.receiver, None)),
        };
        if !self.is_reachable() {
            return Val::never();
        }
        self.method(receiver, call, want)
    }

    /// A method of a value.
    pub fn method_of(&mut self, value: Val, call: &ExprMethodCall, want: Option<&Ty>) -> Val {
        self.method(Receiver::Value(value), call, want)
    }

    /// A method that is called by its path.
    fn method_with(
        &mut self,
        receiver: Receiver,
        name: &str,
        args: &[Expr],
        node: &ExprCall,
        want: Option<&Ty>,
    ) -> Val {
        let call = ExprMethodCall {
            attrs: Vec::new(),
            receiver: Box::new((*node.func).clone()),
            dot_token: Default::default(),
            method: syn::Ident::new(name, node.paren_token.span.open()),
            turbofish: None,
            paren_token: node.paren_token,
            args: args.iter().cloned().collect(),
        };
        self.method(receiver, &call, want)
    }

    fn method(&mut self, receiver: Receiver, call: &ExprMethodCall, want: Option<&Ty>) -> Val {
        let name = call.method.to_string();
        let mut receiver = receiver;
        let mut pointer: Option<Val> = None;
        let mut is_direct = true;
        for _ in 0..20 {
            if !self.is_reachable() {
                return Val::never();
            }
            let ty = match &receiver {
                Receiver::Value(value) => self.resolve(&value.ty),
                Receiver::Place(loc) => self.resolve(&loc.ty),
            };
            self.at(call);
            if let Some(value) = self.quick(&receiver, &ty, &name) {
                return value;
            }
            if let Some(id) = self.method_id(&ty, &name) {
                return self.own_method(id, receiver, &ty, pointer, is_direct, call, want);
            }
            if let Some(value) = self.std_method(&receiver, &ty, &name, call) {
                if is_direct
                    && takes_self(&ty, &name)
                    && let Some(at) = self.local_of(&call.receiver)
                {
                    self.moved(at);
                }
                return value;
            }
            let loc = match &receiver {
                Receiver::Place(loc) => loc.clone(),
                Receiver::Value(value) => {
                    let value = value.clone();
                    let tag = self.tag(&call.receiver);
                    self.temporary(&value, tag)
                }
            };
            if let Ty::Pointer(..) = &ty {
                pointer = Some(self.load(&loc, Order::Plain));
            }
            match self.deref(&loc, call) {
                Some(inner) => receiver = Receiver::Place(inner),
                None => break,
            }
            is_direct = false;
        }
        if !self.is_reachable() {
            return Val::never();
        }
        let ty = match &receiver {
            Receiver::Value(value) => self.resolve(&value.ty),
            Receiver::Place(loc) => self.resolve(&loc.ty),
        };
        if let Some(value) = self.any_method(&receiver, &ty, &name, call) {
            return value;
        }
        if matches!(ty, Ty::Var(..)) {
            let message = format!(
                "the type of what the method {} is called on is not known here",
                quote(&name)
            );
            return self.error_at(
                call,
                &message,
                Some("give the variable a type: `let x: Type = ..`"),
            );
        }
        let what = format!("the method {}", quote(&name));
        self.unsupported(
            &call.method,
            &what,
            "docs/rust.md lists what is read; write out what it does",
        )
    }

    fn method_id(&self, ty: &Ty, name: &str) -> Option<usize> {
        let found = self.items.methods.get(&(ty.head(), name.to_owned())).copied()?;
        let function = &self.items.functions[found];
        let is_method = function.signature.receiver().is_some();
        (is_method && ty.head() != Head::Named("?")).then_some(found)
    }

    #[allow(clippy::too_many_arguments)]
    fn own_method(
        &mut self,
        id: usize,
        receiver: Receiver,
        ty: &Ty,
        pointer: Option<Val>,
        is_direct: bool,
        call: &ExprMethodCall,
        want: Option<&Ty>,
    ) -> Val {
        let function = self.items.functions[id].clone();
        let tag = self.tag(call);
        let mut types = self.impl_types(&function, ty, tag);
        if let Some(turbofish) = &call.turbofish {
            let arguments = syn::PathArguments::AngleBracketed(turbofish.clone());
            self.explicit(&arguments, id, &mut types);
        }
        let by_value = match function.signature.receiver().map(|receiver| &receiver.kind) {
            Some(syn::ReceiverKind::Reference(..)) => false,
            Some(syn::ReceiverKind::Typed(_, ty)) => {
                !matches!(**ty, syn::Type::Reference(_)) && pointer.is_none()
            }
            _ => true,
        };
        let is_typed = matches!(
            function.signature.receiver().map(|receiver| &receiver.kind),
            Some(syn::ReceiverKind::Typed(_, ty)) if !matches!(**ty, syn::Type::Reference(_))
        );
        let this = match (&receiver, by_value) {
            _ if is_typed && pointer.is_some() => match pointer {
                Some(pointer) => pointer,
                None => return Val::never(),
            },
            (Receiver::Value(value), true) => value.clone(),
            (Receiver::Place(loc), true) => {
                if is_direct
                    && let Some(at) = self.local_of(&call.receiver)
                    && self.needs_drop(&loc.ty)
                {
                    self.moved(at);
                }
                self.load(&loc.clone(), Order::Plain)
            }
            (Receiver::Value(value), false) => {
                let value = value.clone();
                let tag = self.tag(&call.receiver);
                let loc = self.temporary(&value, tag);
                self.address(&loc, Pointer::Ref)
            }
            (Receiver::Place(loc), false) => self.address(&loc.clone(), Pointer::Ref),
        };
        self.call_item(id, types, Some(this), &call.args, call, want)
    }

    /// What a receiver holds.
    pub fn received(&mut self, receiver: &Receiver) -> Val {
        match receiver {
            Receiver::Value(value) => value.clone(),
            Receiver::Place(loc) => self.load(loc, Order::Plain),
        }
    }

    /// Where a receiver is.
    pub fn received_at(&mut self, receiver: &Receiver, call: &ExprMethodCall) -> Loc {
        match receiver {
            Receiver::Place(loc) => loc.clone(),
            Receiver::Value(value) => {
                let tag = self.tag(&call.receiver);
                self.temporary(&value.clone(), tag)
            }
        }
    }

    /// Methods of `Option` and `Result` that only look at a value.
    fn quick(&mut self, receiver: &Receiver, ty: &Ty, name: &str) -> Option<Val> {
        let Ty::Adt(adt, _) = ty else { return None };
        let names: Vec<String> =
            self.items.adts[*adt].variants.iter().map(|v| v.name.clone()).collect();
        let is_std = self.items.adts[*adt].file == super::items::LIBRARY;
        let variant = match (name, is_std) {
            ("is_ok" | "is_some", true) => 0,
            ("is_err" | "is_none", true) => 1,
            ("unwrap" | "expect" | "unwrap_unchecked", true) => 2,
            ("unwrap_err" | "expect_err", true) => 3,
            _ => return None,
        };
        let position = |wanted: &str| names.iter().position(|n| n == wanted);
        let good = position("Ok").or(position("Some"))?;
        let value = self.received(receiver);
        match variant {
            0 => Some(self.is_variant(&value, good)),
            1 => Some(self.is_variant(&value, 1 - good)),
            other => {
                let wanted = if other == 2 { good } else { 1 - good };
                let holds = self.is_variant(&value, wanted);
                let raw = self.raw(&holds);
                self.b.assert(&raw);
                let first = self.first_field(*adt, wanted);
                Some(self.field_of(&value, first))
            }
        }
    }
}

/// Whether a method of the library takes what it is called on.
fn takes_self(ty: &Ty, name: &str) -> bool {
    match ty {
        Ty::Handle(_) => name == "join",
        Ty::Pointer(Pointer::Box, _) => matches!(name, "into_inner"),
        _ => name.starts_with("into_"),
    }
}

/// The parameters of a function that are types or numbers.
fn parameters(function: &Function) -> Vec<String> {
    let params = function.signature.generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(param.ident.to_string()),
        syn::GenericParam::Const(param) => Some(param.ident.to_string()),
        syn::GenericParam::Lifetime(_) => None,
    });
    params.collect()
}
