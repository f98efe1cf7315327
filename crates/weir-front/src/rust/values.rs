//! Values: literals, paths, structs, arrays and closures.

use syn::Expr;
use syn::spanned::Spanned;

use super::expressions::changes;
use super::items::Def;
use super::reader::{Binding, Callable, Closure, Reader, Use, Val};
use super::syntax;
use super::types::Ty;
use crate::errors::quote;
use crate::lowering::Order;
use crate::lowering::value::Data;

impl Reader<'_> {
    pub fn tuple(&mut self, values: Vec<Val>) -> Val {
        let ty = Ty::Tuple(values.iter().map(|value| value.ty.clone()).collect());
        let fields = values.iter().map(|value| self.raw(value)).collect();
        Val { data: Data::Fields(fields), ty }
    }

    pub fn array(&mut self, values: Vec<Val>, node: &impl Spanned) -> Val {
        let mut ty = self.unknown((self.tag(node), "element"));
        for value in &values {
            ty = self.unify(&ty, &value.ty);
        }
        let len = Ty::Const(values.len() as i128);
        let fields = values.iter().map(|value| self.raw(value)).collect();
        Val { data: Data::Fields(fields), ty: Ty::Array(ty.into(), len.into()) }
    }

    pub fn repeat(&mut self, repeat: &syn::ExprRepeat, want: Option<&Ty>) -> Val {
        let element = match want.map(|ty| self.resolve(ty)) {
            Some(Ty::Array(element, _) | Ty::Slice(element)) => Some((*element).clone()),
            _ => None,
        };
        let frame = self.frame();
        let (module, types, file) = (frame.module, frame.types.clone(), frame.file);
        let len = match want.map(|ty| self.resolve(ty)) {
            Some(Ty::Array(_, len)) if matches!(*len, Ty::Const(_)) => (*len).clone(),
            _ => {
                let known = self.expr(&repeat.len, Some(&Ty::USIZE));
                match known.known() {
                    Some(n) => Ty::Const(n),
                    None => self.const_in(&repeat.len, module, &types, file),
                }
            }
        };
        let Ty::Const(n) = len else {
            return Val::never();
        };
        if n > crate::MAX_ARRAY {
            let message =
                format!("this array has {n} elements; at most {} are read", crate::MAX_ARRAY);
            return self.error_at(repeat, &message, None);
        }
        let value = self.expr(&repeat.expr, element.as_ref());
        let raw = self.raw(&value);
        let fields = vec![raw; usize::try_from(n).unwrap_or(0)];
        Val { data: Data::Fields(fields), ty: Ty::Array(value.ty.into(), len.into()) }
    }

    pub fn literal(&mut self, literal: &syn::Lit, want: Option<&Ty>, node: &impl Spanned) -> Val {
        match literal {
            syn::Lit::Int(int) => self.number_literal(int, false, want, node),
            syn::Lit::Bool(value) => Val::truth(value.value),
            syn::Lit::Byte(byte) => {
                Val::number(i128::from(byte.value()), Ty::named("u8").unwrap_or(Ty::Bool))
            }
            syn::Lit::Char(c) => {
                Val::number(c.value() as i128, Ty::named("char").unwrap_or(Ty::Bool))
            }
            _ => Val::number(0, Ty::Opaque),
        }
    }

    /// A number that stands in the text, with a minus sign or without. Its type has to have it.
    pub fn number_literal(
        &mut self,
        literal: &syn::LitInt,
        is_negative: bool,
        want: Option<&Ty>,
        node: &impl Spanned,
    ) -> Val {
        let Ok(value) = literal.base10_parse::<i128>() else {
            return self.error_at(node, "this number is too large", None);
        };
        let value = if is_negative { -value } else { value };
        let ty = match Ty::named(literal.suffix()) {
            Some(ty) => ty,
            None => match want.map(|ty| self.resolve(ty)) {
                Some(ty @ (Ty::Int(_) | Ty::Var(_, true) | Ty::Opaque)) => ty,
                _ => {
                    let key = self.b.key((self.tag(node), "literal"));
                    self.resolve(&Ty::Var(key, true))
                }
            },
        };
        if let Ty::Int(int) = ty
            && !(int.low()..=int.high()).contains(&value)
        {
            let (low, high) = (int.low(), int.high());
            let message = format!("the number {value} is outside of its type, {low} to {high}");
            return self.error_at(node, &message, None);
        }
        Val::number(value, ty)
    }

    /// The value of a path: a variable, a static, a constant, a function.
    pub fn path_value(&mut self, path: &syn::ExprPath, want: Option<&Ty>) -> Val {
        if let Some(name) = path.path.get_ident() {
            let name = name.to_string();
            if let Some(at) = self.find(&name) {
                self.at(path);
                let loc = self.variable(at, Use::Read);
                if self.needs_drop(&loc.ty) {
                    self.moved(at);
                }
                return self.load(&loc, Order::Plain);
            }
            if let Some(Ty::Const(n)) = self.frame().types.get(&name).map(|ty| self.resolve(ty)) {
                return Val::number(n, Ty::USIZE);
            }
        }
        match self.definition(path) {
            Some(Def::Static(id)) => {
                let loc = self.static_object(id);
                self.at(path);
                self.load(&loc, Order::Plain)
            }
            Some(Def::Const(id)) => self.const_value(id),
            Some(Def::Function(id)) => {
                let types = self.turbofish(path, id);
                self.function_value(Callable::Function(id, types))
            }
            Some(Def::Variant(adt, variant)) => {
                if self.items.adts[adt].variants[variant].is_tuple {
                    return self.function_value(Callable::Variant(adt, variant));
                }
                let ty = match want.map(|ty| self.resolve(ty)) {
                    Some(ty @ Ty::Adt(id, _)) if id == adt => ty,
                    _ => {
                        let tag = self.tag(path);
                        self.fresh_adt(adt, tag)
                    }
                };
                self.variant(&ty, variant, Vec::new())
            }
            Some(Def::Std(names)) => self.std_value(&names, path),
            Some(Def::Foreign(name)) => self.foreign(&name, path),
            _ => self.associated_value(path, want),
        }
    }

    pub fn foreign(&mut self, name: &str, node: &impl Spanned) -> Val {
        let message = format!("the crate or module {} is not read", quote(name));
        self.error_at(node, &message, Some("the program may use std, core and loom; copy what it needs into the file, or into a module beside it"))
    }

    /// An enum or struct type with unknown arguments.
    pub fn fresh_adt(&mut self, adt: usize, tag: (usize, usize)) -> Ty {
        let generics = self.items.adts[adt].generics.clone();
        let args = generics.iter().map(|name| self.unknown((tag, name))).collect();
        Ty::Adt(adt, args)
    }

    /// What a path stands for, if it is not a variable.
    pub fn definition(&mut self, path: &syn::ExprPath) -> Option<Def> {
        if path.qself.is_some() {
            return None;
        }
        let mut names: Vec<String> =
            path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        // `Self(..)`, `Self::Variant`
        if names[0] == "Self" {
            let this = self.frame().types.get("Self").cloned();
            let Some(Ty::Adt(adt, _)) = this.map(|ty| self.resolve(&ty)) else { return None };
            return match names.get(1) {
                None => Some(Def::Variant(adt, 0)),
                Some(name) if self.items.adts[adt].is_enum => {
                    let position =
                        self.items.adts[adt].variants.iter().position(|v| v.name == *name)?;
                    Some(Def::Variant(adt, position))
                }
                Some(_) => None,
            };
        }
        // The arguments of a type do not matter here.
        let module = self.frame().module;
        let found = self.items.value(module, &names);
        if let Some(Def::Std(_) | Def::Foreign(_)) | None = &found
            && names.len() > 1
        {
            // A method of a type of the program.
            names.pop();
            if let Some(Def::Adt(_) | Def::Alias(_) | Def::Trait(_)) = self.items.ty(module, &names)
            {
                return None;
            }
        }
        found
    }

    pub fn function_value(&mut self, callable: Callable) -> Val {
        let same = |known: &Callable| match (known, &callable) {
            (Callable::Function(a, x), Callable::Function(b, y)) => a == b && x == y,
            (Callable::Variant(a, i), Callable::Variant(b, j)) => a == b && i == j,
            (Callable::Std(a), Callable::Std(b)) => a == b,
            _ => false,
        };
        let number = match self.callables.iter().position(same) {
            Some(number) => number,
            None => {
                self.callables.push(callable);
                self.callables.len() - 1
            }
        };
        Val::function(number)
    }

    /// A value of a variant of an enum, or of a struct.
    pub fn variant(&mut self, ty: &Ty, variant: usize, values: Vec<Val>) -> Val {
        let ty = self.resolve(ty);
        let Ty::Adt(adt, args) = &ty else { return Val::never() };
        let first = self.first_field(*adt, variant);
        let fields = self.fields(&ty);
        for (i, value) in values.iter().enumerate() {
            if let Some((_, declared)) = fields.get(first + i) {
                self.unify(declared, &value.ty);
            }
        }
        let ty = self.resolve(&ty);
        let args: Vec<Ty> = args.iter().map(|ty| self.resolve(ty)).collect();
        if self.is_niche(*adt, &args) {
            return match values.into_iter().next() {
                Some(value) => value.with(ty),
                None => Val::number(0, ty),
            };
        }
        if self.items.adts[*adt].is_plain_enum() {
            return Val::number(self.discriminant(*adt, variant), ty);
        }
        let fields = self.fields(&ty);
        let mut data = Vec::new();
        for (i, (_, field)) in fields.iter().enumerate() {
            let lowered = self.lower(field);
            data.push(match i {
                0 if self.items.adts[*adt].is_enum => {
                    crate::lowering::value::Value::number(variant as i128, lowered)
                }
                _ => match i.checked_sub(first).and_then(|i| values.get(i)) {
                    Some(value) => {
                        let mut raw = self.raw(value);
                        raw.ty = lowered;
                        raw
                    }
                    None => self.zero(&lowered),
                },
            });
        }
        Val { data: Data::Fields(data), ty }
    }

    /// The number of a variant of an enum without fields.
    pub fn discriminant(&mut self, adt: usize, variant: usize) -> i128 {
        let item = self.items.adts[adt].clone();
        let mut next = 0;
        for (i, this) in item.variants.iter().enumerate() {
            if let Some(expr) = &this.value {
                let ty = Ty::USIZE;
                let value =
                    self.constant(expr, item.module, &super::types::Names::new(), item.file, &ty);
                next = value.known().unwrap_or(next);
            }
            if i == variant {
                return next;
            }
            next += 1;
        }
        next
    }

    pub fn struct_expr(&mut self, literal: &syn::ExprStruct, want: Option<&Ty>) -> Val {
        let names: Vec<String> =
            literal.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let module = self.frame().module;
        let this = self.frame().types.get("Self").cloned();
        let (adt, variant) = match (&names[..], this.map(|ty| self.resolve(&ty))) {
            ([name], Some(Ty::Adt(adt, _))) if name == "Self" => (adt, 0),
            ([name, variant], Some(Ty::Adt(adt, _))) if name == "Self" => {
                let found = self.items.adts[adt].variants.iter().position(|v| v.name == *variant);
                (adt, found.unwrap_or(0))
            }
            _ => match self.items.value(module, &names) {
                Some(Def::Variant(adt, variant)) => (adt, variant),
                _ => match self.items.ty(module, &names) {
                    Some(Def::Adt(adt)) => (adt, 0),
                    Some(Def::Alias(alias)) => {
                        let alias = self.items.aliases[alias].clone();
                        let ty =
                            self.ty_in(&alias.ty, alias.module, &Default::default(), alias.file);
                        match ty {
                            Ty::Adt(adt, _) => (adt, 0),
                            _ => return self.error_at(literal, "this is not a struct", None),
                        }
                    }
                    Some(Def::Foreign(name)) => return self.foreign(&name, literal),
                    _ => {
                        let message = format!("there is no struct {}", quote(&names.join("::")));
                        return self.error_at(literal, &message, None);
                    }
                },
            },
        };
        let ty = match (want.map(|ty| self.resolve(ty)), &names[..]) {
            (Some(ty @ Ty::Adt(..)), _) if matches!(ty, Ty::Adt(id, _) if id == adt) => ty,
            _ => {
                let tag = self.tag(&literal.path);
                self.fresh_adt(adt, tag)
            }
        };
        let item = self.items.adts[adt].clone();
        let first = self.first_field(adt, variant);
        let types = self.fields(&ty);
        let count = item.variants[variant].fields.len();
        let mut values: Vec<Option<Val>> = vec![None; count];
        let hint = self.hint.clone();
        for (i, field) in literal.fields.iter().enumerate() {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let Some(position) = item.variants[variant].fields.iter().position(|f| f.0 == name)
            else {
                continue;
            };
            let want = types.get(first + position).map(|f| f.1.clone());
            self.hint = Some(match &hint {
                Some(hint) => format!("{hint}.{name}"),
                None => name.clone(),
            });
            let value = self.expr(&field.expr, want.as_ref());
            let later = literal.fields.iter().skip(i + 1);
            let value = match later.clone().any(|field| changes(&field.expr)) {
                true => self.kept(value),
                false => value,
            };
            values[position] = Some(value);
        }
        self.hint = hint;
        if let Some(rest) = &literal.rest {
            let base = self.expr(rest, Some(&ty));
            for (i, value) in values.iter_mut().enumerate() {
                if value.is_none() {
                    *value = Some(self.field_of(&base, first + i));
                }
            }
        }
        let values = values.into_iter().map(|value| value.unwrap_or_else(Val::unit)).collect();
        if !self.is_reachable() {
            return Val::never();
        }
        self.variant(&ty, variant, values)
    }

    /// A closure, with the variables that it uses.
    pub fn closure(&mut self, node: &syn::ExprClosure) -> Val {
        let mut names = Vec::new();
        syntax::words(&node.body, &mut |word| {
            if !names.iter().any(|name: &String| name == word) {
                names.push(word.to_owned());
            }
        });
        let is_move = node.capture.is_some();
        let mut bindings = Vec::new();
        for name in names {
            let Some(at) = self.find(&name) else { continue };
            let binding = self.binding(at).clone();
            if !is_move {
                bindings.push(binding);
                continue;
            }
            // A reference is copied by copying the variable that it is in.
            let loc = self.variable(at, Use::Read);
            let value = self.load(&loc, Order::Plain);
            self.moved(at);
            let tag = self.tag(&node.inputs_begin);
            let copy = self.local(&name, &value.ty, tag);
            self.store(&copy, &value, Order::Plain);
            let owner = self.b.thread();
            bindings.push(Binding { name, loc: copy, owner, flag: None, copy_of: None });
        }
        let frame = self.frame();
        let closure = Closure {
            node: node.clone(),
            bindings,
            is_move,
            module: frame.module,
            file: frame.file,
            types: frame.types.clone(),
            function: frame.function,
        };
        self.callables.push(Callable::Closure(closure.into()));
        Val::function(self.callables.len() - 1)
    }

    /// `a..b` as a value.
    pub fn range_value(&mut self, range: &syn::ExprRange, want: Option<&Ty>) -> Val {
        let want = match want.map(|ty| self.resolve(ty)) {
            Some(Ty::Iter(ty)) => Some((*ty).clone()),
            _ => None,
        };
        let bound = |this: &mut Self, expr: &Option<Box<Expr>>, want: Option<&Ty>| {
            expr.as_ref().map(|expr| this.expr(expr, want))
        };
        let start = bound(self, &range.start, want.as_ref());
        let want = start.as_ref().map(|value| value.ty.clone()).or(want);
        let end = bound(self, &range.end, want.as_ref());
        let mut ty = self.unknown((self.tag(range), "range"));
        for value in [&start, &end].into_iter().flatten() {
            ty = self.unify(&ty, &value.ty);
        }
        if start.is_none() && end.is_none() {
            return Val::number(0, Ty::Iter(ty.into()));
        }
        let first = start.map_or(Some(0), |value| value.known());
        let last = end.map_or(Some(i128::MAX), |value| value.known());
        let (Some(first), Some(last)) = (first, last) else {
            return self.error_at(
                range,
                "the bounds of this range are only known when the program runs",
                Some("only `for` loops take such a range"),
            );
        };
        let is_closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        let last = if is_closed { last.saturating_add(1) } else { last };
        self.iterator(super::sequences::Iter::Range(first, last, ty.clone()), ty)
    }
}
