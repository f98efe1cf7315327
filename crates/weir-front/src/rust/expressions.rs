//! Expressions, blocks and statements.

use syn::spanned::Spanned;
use syn::{Expr, Stmt};
use weir_model::program::{BinOp, UnOp};

use super::items::Def;
use super::reader::{Binding, Callable, Closure, Loc, Reader, Use, Val};
use super::syntax;
use super::types::{Pointer, Ty};
use crate::errors::quote;
use crate::lowering::value::{Data, unary};
use crate::lowering::{Lvalue, Order};

impl Reader<'_> {
    /// Executes a block. Its value is that of its last expression.
    pub fn block(&mut self, block: &syn::Block, want: Option<&Ty>) -> Val {
        if !self.is_reachable() || !self.deeper(&block.brace_token.span.open()) {
            return Val::never();
        }
        let outer = self.frame().module;
        let file = self.frame().file;
        if let Some(module) = self.items.block(block, outer, file) {
            self.frame_mut().module = module;
            if let Some(error) = self.items.errors.pop() {
                self.b.errors.push(error);
            }
        }
        self.open(false);
        let mut value = Val::unit();
        for (i, stmt) in block.stmts.iter().enumerate() {
            if !self.is_reachable() {
                value = Val::never();
                break;
            }
            let is_last = i + 1 == block.stmts.len();
            value = self.statement(stmt, if is_last { want } else { None });
        }
        if !self.is_reachable() {
            value = Val::never();
        }
        self.close();
        self.frame_mut().module = outer;
        self.depth -= 1;
        value
    }

    /// Executes a statement; only the last one of a block has a value.
    fn statement(&mut self, stmt: &Stmt, want: Option<&Ty>) -> Val {
        match stmt {
            Stmt::Local(local) => {
                if self.items.is_on(&local.attrs) {
                    self.let_statement(local);
                }
                Val::unit()
            }
            Stmt::Item(_) => Val::unit(),
            Stmt::Expr(expr, semi) => {
                self.open(true);
                let value = match semi {
                    None => self.expr(expr, want),
                    Some(_) => {
                        self.discard(expr);
                        Val::unit()
                    }
                };
                self.close();
                value
            }
            Stmt::Macro(stmt) => {
                if !self.items.is_on(&stmt.attrs) {
                    return Val::unit();
                }
                self.open(true);
                let value = self.macro_value(&stmt.mac, want);
                self.close();
                if stmt.semi_token.is_some() { Val::unit() } else { value }
            }
        }
    }

    /// Executes an expression whose value nobody needs.
    fn discard(&mut self, expr: &Expr) {
        // The result of a thread is only fetched if it is used.
        let mut inner = expr;
        while let Expr::MethodCall(call) = inner {
            let name = call.method.to_string();
            if name == "join" && call.args.is_empty() {
                let handle = self.expr(&call.receiver, None);
                if matches!(self.resolve(&handle.ty), Ty::Handle(_)) {
                    self.at(expr);
                    self.join_thread(&handle, false);
                } else if self.is_reachable() {
                    let value = self.method_of(handle, call, None);
                    let tag = self.tag(expr);
                    self.drop_value(&value, tag);
                }
                return;
            }
            if !matches!(name.as_str(), "unwrap" | "expect" | "ok") {
                break;
            }
            inner = &call.receiver;
        }
        let value = match expr {
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Unsafe(_) => {
                self.expr(expr, Some(&Ty::UNIT))
            }
            _ => self.expr(expr, None),
        };
        let is_place = is_place(expr);
        if !is_place && self.is_reachable() {
            let tag = self.tag(expr);
            self.drop_value(&value, tag);
        }
    }

    fn let_statement(&mut self, local: &syn::Local) {
        let (pat, declared) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(self.ty(&typed.ty))),
            pat => (pat, None),
        };
        let Some(init) = &local.init else {
            // Assigned later.
            let tag = self.tag(pat);
            let ty = match declared {
                Some(ty) => ty,
                None => self.unknown((tag, "let")),
            };
            let syn::Pat::Ident(ident) = pat else {
                self.unsupported(pat, "a pattern without a value", "declare one name at a time");
                return;
            };
            let name = ident.ident.to_string();
            let loc = self.local(&name, &ty, tag);
            self.bind(&name, loc);
            if let Some(at) = self.find(&name) {
                self.moved(at);
            }
            return;
        };
        self.open(true);
        let hint = match pat {
            syn::Pat::Ident(ident) => Some(ident.ident.to_string()),
            _ => None,
        };
        let hint = std::mem::replace(&mut self.hint, hint);
        let is_wild = matches!(pat, syn::Pat::Wild(_));
        if is_wild && is_place(&init.expr) {
            self.place(&init.expr, Use::Read);
        } else if let Expr::Reference(reference) = &*init.expr
            && !is_place(&reference.expr)
            && !is_wild
        {
            // What is referred to lives as long as the reference.
            let want = match &declared {
                Some(Ty::Pointer(_, to)) => Some((**to).clone()),
                _ => None,
            };
            let value = self.expr(&reference.expr, want.as_ref());
            let tag = self.tag(&reference.expr);
            let loc = self.declare("", &value, tag);
            let value = self.address(&loc, Pointer::Ref);
            self.let_value(pat, value, declared);
        } else {
            let value = self.expr(&init.expr, declared.as_ref());
            match (&init.diverge, is_wild) {
                (Some((_, otherwise)), _) => {
                    self.let_else(pat, &value, otherwise);
                }
                (None, true) => {
                    let tag = self.tag(&init.expr);
                    self.drop_value(&value, tag);
                }
                (None, false) => self.let_value(pat, value, declared),
            }
        }
        self.hint = hint;
        self.close();
    }

    fn let_value(&mut self, pat: &syn::Pat, value: Val, declared: Option<Ty>) {
        if !self.is_reachable() {
            return;
        }
        let value = match declared {
            Some(declared) => {
                let ty = self.unify(&declared, &value.ty);
                value.with(ty)
            }
            None => value,
        };
        self.bind_pattern_value(pat, value);
    }

    fn let_else(&mut self, pat: &syn::Pat, value: &Val, otherwise: &Expr) {
        if !self.is_reachable() {
            return;
        }
        let test = self.matches_value(pat, value);
        let raw = self.raw(&test);
        match self.b.decide(&raw) {
            Ok(true) => {}
            Ok(false) => {
                self.expr(otherwise, None);
                return;
            }
            Err(code) => {
                self.b.begin_if(unary(UnOp::Not, code));
                self.expr(otherwise, None);
                self.b.begin_else();
                self.b.end_if();
            }
        }
        self.bind_pattern_value(pat, value.clone());
    }

    /// The value of an expression. `want` is its type, where that is known.
    pub fn expr(&mut self, expr: &Expr, want: Option<&Ty>) -> Val {
        if !self.is_reachable() || !self.deeper(expr) {
            return Val::never();
        }
        let value = self.expr_within(expr, want);
        self.depth -= 1;
        if let Some(want) = want
            && matches!(value.ty, Ty::Opaque)
            && matches!(self.resolve(want), Ty::Bool | Ty::Int(_) | Ty::Adt(..) | Ty::Ordering)
        {
            return self.opaque(expr);
        }
        value
    }

    /// A value that nobody knows is needed.
    pub fn opaque(&mut self, node: &impl Spanned) -> Val {
        self.unsupported(
            node,
            "the value of a string, of a floating-point number or of a time",
            "use integers for what the program decides by",
        )
    }

    fn expr_within(&mut self, expr: &Expr, want: Option<&Ty>) -> Val {
        match expr {
            Expr::Paren(inner) => self.expr(&inner.expr, want),
            Expr::Group(inner) => self.expr(&inner.expr, want),
            Expr::Lit(literal) => self.literal(&literal.lit, want, expr),
            Expr::Path(path) => self.path_value(path, want),
            Expr::Block(block) => match &block.label {
                None => self.block(&block.block, want),
                Some(label) => self.labeled_block(label, &block.block, want),
            },
            Expr::Unsafe(block) => self.block(&block.block, want),
            Expr::Const(block) => self.block(&block.block, want),
            Expr::If(branch) => self.if_expr(branch, want),
            Expr::Match(this) => self.match_expr(this, want),
            Expr::Loop(this) => self.loop_expr(this, want),
            Expr::While(this) => self.while_expr(this),
            Expr::ForLoop(this) => self.for_expr(this),
            Expr::Let(this) => {
                let value = self.expr(&this.expr, None);
                self.matches_value(&this.pat, &value)
            }
            Expr::Assign(assign) => self.assign(assign),
            Expr::Binary(binary) => self.binary_expr(binary, want),
            Expr::Unary(this) => match this.op {
                syn::UnOp::Deref(_) => {
                    let loc = self.place(expr, Use::Read);
                    self.at(expr);
                    self.load(&loc, Order::Plain)
                }
                syn::UnOp::Not(_) => {
                    let value = self.expr(&this.expr, want);
                    self.at(expr);
                    self.not(&value)
                }
                _ => {
                    if let Expr::Lit(literal) = &*this.expr {
                        let value = self.literal(&literal.lit, want, expr);
                        if let Some(known) = value.known() {
                            return Val::number(-known, value.ty);
                        }
                    }
                    let value = self.expr(&this.expr, want);
                    self.at(expr);
                    self.negate(&value)
                }
            },
            Expr::Reference(reference) => {
                let want = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Pointer(_, to)) => Some((*to).clone()),
                    _ => None,
                };
                let loc = match is_place(&reference.expr) {
                    true => self.place(&reference.expr, Use::Address),
                    false => {
                        let value = self.expr(&reference.expr, want.as_ref());
                        let tag = self.tag(&reference.expr);
                        self.temporary(&value, tag)
                    }
                };
                self.address(&loc, Pointer::Ref)
            }
            Expr::RawAddr(raw) => {
                let loc = self.place(&raw.expr, Use::Address);
                self.address(&loc, Pointer::Raw)
            }
            Expr::Field(field) if !is_place(&field.base) => {
                let base = self.expr(&field.base, None);
                self.field_value(base, field)
            }
            Expr::Field(_) | Expr::Index(_) => {
                let loc = self.place(expr, Use::Read);
                if !self.is_reachable() {
                    return Val::never();
                }
                self.at(expr);
                if self.needs_drop(&loc.ty) {
                    self.moved_from(expr);
                }
                self.load(&loc, Order::Plain)
            }
            Expr::Call(call) => self.call(call, want),
            Expr::MethodCall(call) => self.method_call(call, want),
            Expr::Closure(closure) => self.closure(closure),
            Expr::Macro(this) => self.macro_value(&this.mac, want),
            Expr::Tuple(tuple) => {
                let wants = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Tuple(list)) => list,
                    _ => Vec::new(),
                };
                let values = self.values(tuple.elems.iter(), &wants);
                if values.is_empty() {
                    return Val::unit();
                }
                self.tuple(values)
            }
            Expr::Array(array) => {
                let want = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Array(element, _) | Ty::Slice(element)) => Some((*element).clone()),
                    _ => None,
                };
                let wants: Vec<Ty> = want.into_iter().cycle().take(array.elems.len()).collect();
                let values = self.values(array.elems.iter(), &wants);
                self.array(values, expr)
            }
            Expr::Repeat(repeat) => self.repeat(repeat, want),
            Expr::Struct(literal) => self.struct_expr(literal, want),
            Expr::Cast(cast) => {
                let to = self.ty(&cast.ty);
                let value = self.expr(&cast.expr, None);
                self.at(expr);
                self.cast(value, &to, cast)
            }
            Expr::Return(this) => {
                let returns = self.frame().returns.clone();
                let value = match &this.expr {
                    Some(value) => self.expr(value, Some(&returns)),
                    None => Val::unit(),
                };
                if self.is_reachable() {
                    self.at(expr);
                    self.return_value(&value, expr);
                }
                Val::never()
            }
            Expr::Break(this) => {
                self.break_expr(this);
                Val::never()
            }
            Expr::Continue(this) => {
                let Some(target) = self.target(this.label.as_ref()) else {
                    return self.error_at(expr, "there is no loop to go on with", None);
                };
                let target = self.frame().targets[target].clone();
                self.at(expr);
                self.drop_scopes(target.scopes);
                if let Some(head) = target.head {
                    self.b.jump(head);
                }
                Val::never()
            }
            Expr::Range(range) => self.range_value(range, want),
            Expr::Try(this) => self.try_expr(this),
            Expr::Async(_) | Expr::Await(_) | Expr::Yield(_) | Expr::TryBlock(_) => {
                self.unsupported(expr, "asynchronous code", "write it with threads")
            }
            _ => self.unsupported(expr, "this expression", "docs/rust.md lists what is read"),
        }
    }

    /// Values of several expressions, from left to right.
    pub fn values<'e>(&mut self, list: impl Iterator<Item = &'e Expr>, wants: &[Ty]) -> Vec<Val> {
        let list: Vec<&Expr> = list.collect();
        let mut values = Vec::new();
        for (i, expr) in list.iter().enumerate() {
            let value = self.expr(expr, wants.get(i));
            let value = match list[i + 1..].iter().any(|later| changes(later)) {
                true => self.kept(value),
                false => value,
            };
            values.push(value);
        }
        values
    }

    /// A value that stays the same if local variables change.
    pub fn kept(&mut self, value: Val) -> Val {
        let raw = self.raw(&value);
        let raw = self.b.copied(&raw);
        Val { data: raw.data, ty: value.ty }
    }

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

    fn repeat(&mut self, repeat: &syn::ExprRepeat, want: Option<&Ty>) -> Val {
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

    fn literal(&mut self, literal: &syn::Lit, want: Option<&Ty>, node: &impl Spanned) -> Val {
        match literal {
            syn::Lit::Int(int) => {
                let Ok(value) = int.base10_parse::<i128>() else {
                    return self.error_at(node, "this number is too large", None);
                };
                let ty = match Ty::named(int.suffix()) {
                    Some(ty) => ty,
                    None => match want.map(|ty| self.resolve(ty)) {
                        Some(ty @ (Ty::Int(_) | Ty::Var(_, true) | Ty::Opaque)) => ty,
                        _ => {
                            let key = self.b.key((self.tag(node), "literal"));
                            self.resolve(&Ty::Var(key, true))
                        }
                    },
                };
                Val::number(value, ty)
            }
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

    /// The value of a path: a variable, a static, a constant, a function.
    fn path_value(&mut self, path: &syn::ExprPath, want: Option<&Ty>) -> Val {
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

    fn struct_expr(&mut self, literal: &syn::ExprStruct, want: Option<&Ty>) -> Val {
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

    fn assign(&mut self, assign: &syn::ExprAssign) -> Val {
        if matches!(*assign.left, Expr::Infer(_)) {
            let value = self.expr(&assign.right, None);
            let tag = self.tag(&assign.right);
            self.drop_value(&value, tag);
            return Val::unit();
        }
        if let Expr::Tuple(tuple) = &*assign.left {
            let value = self.expr(&assign.right, None);
            let value = self.kept(value);
            for (i, left) in tuple.elems.iter().enumerate() {
                let part = self.field_of(&value, i);
                if matches!(left, Expr::Infer(_)) {
                    continue;
                }
                let loc = self.place(left, Use::Address);
                self.at(assign);
                self.store(&loc, &part, Order::Plain);
            }
            return Val::unit();
        }
        let want = self.type_of_place(&assign.left);
        let value = self.expr(&assign.right, want.as_ref());
        if !self.is_reachable() {
            return Val::never();
        }
        let loc = self.place(&assign.left, Use::Address);
        self.at(assign);
        if self.needs_drop(&loc.ty) {
            match self.local_of(&assign.left) {
                Some(at) => {
                    let binding = self.binding(at).clone();
                    if let Some(flag) = &binding.flag {
                        let flag = flag.clone();
                        self.drop_flagged(&flag, &loc);
                    }
                    self.owned(at);
                }
                None => self.drop_place(&loc, 0),
            }
        }
        self.store(&loc, &value, Order::Plain);
        Val::unit()
    }

    fn drop_flagged(&mut self, flag: &Lvalue, loc: &Loc) {
        let is_owned = self.b.load(flag, Order::Plain);
        match self.b.decide(&is_owned) {
            Ok(false) => {}
            Ok(true) => self.drop_place(loc, 0),
            Err(code) => {
                self.b.begin_if(code);
                self.drop_place(loc, 0);
                self.b.begin_else();
                self.b.end_if();
            }
        }
    }

    /// The variable that an expression names.
    pub fn local_of(&self, expr: &Expr) -> Option<(usize, usize)> {
        match expr {
            Expr::Paren(inner) => self.local_of(&inner.expr),
            Expr::Path(path) => self.find(&path.path.get_ident()?.to_string()),
            _ => None,
        }
    }

    /// The type of a variable, to know the type of a literal that is assigned to it.
    fn type_of_place(&self, expr: &Expr) -> Option<Ty> {
        let at = self.local_of(expr)?;
        Some(self.resolve(&self.binding(at).loc.ty))
    }

    /// A value is moved out of a place.
    fn moved_from(&mut self, expr: &Expr) {
        let mut root = expr;
        loop {
            root = match root {
                Expr::Field(field) => &field.base,
                Expr::Paren(inner) => &inner.expr,
                _ => break,
            };
        }
        if let Some(at) = self.local_of(root)
            && !matches!(self.resolve(&self.binding(at).loc.ty), Ty::Pointer(..))
        {
            self.moved(at);
        }
    }

    fn field_value(&mut self, base: Val, field: &syn::ExprField) -> Val {
        let ty = self.resolve(&base.ty);
        if let Some(index) = self.field_index(&ty, &field.member) {
            return self.field_of(&base, index);
        }
        let tag = self.tag(&field.base);
        let loc = self.temporary(&base, tag);
        let Some(loc) = self.find_field(loc, field) else { return Val::never() };
        self.at(field);
        self.load(&loc, Order::Plain)
    }

    pub fn field_index(&mut self, ty: &Ty, member: &syn::Member) -> Option<usize> {
        let name = match member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        if let Ty::Adt(adt, _) = ty
            && self.items.adts[*adt].is_enum
        {
            return None;
        }
        self.fields(ty).iter().position(|(field, _)| *field == name)
    }

    fn find_field(&mut self, mut loc: Loc, field: &syn::ExprField) -> Option<Loc> {
        for _ in 0..20 {
            if !self.is_reachable() {
                return None;
            }
            let ty = self.resolve(&loc.ty);
            if let Some(index) = self.field_index(&ty, &field.member) {
                return Some(self.field(&loc, index));
            }
            self.at(field);
            match self.deref(&loc, field) {
                Some(inner) => loc = inner,
                None => break,
            }
        }
        if self.is_reachable() {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            self.error_at(
                field,
                &format!("the type of what has the field {} is not known here", quote(&name)),
                Some("give the variable a type: `let x: Type = ..`"),
            );
        }
        None
    }

    /// What `*` leads to: a pointer, or what a type of the program says.
    pub fn deref(&mut self, loc: &Loc, node: &impl Spanned) -> Option<Loc> {
        let ty = self.resolve(&loc.ty);
        match &ty {
            Ty::Pointer(..) => {
                let pointer = self.load(loc, Order::Plain);
                Some(self.follow(&pointer))
            }
            Ty::Wrapper(super::types::Wrapper::ManuallyDrop, inner) => {
                Some(Loc { lvalue: loc.lvalue.clone(), ty: (**inner).clone() })
            }
            Ty::Adt(..) => {
                let name = ["deref_mut", "deref"].into_iter().find_map(|name| {
                    self.items.methods.get(&(ty.head(), name.to_owned())).copied()
                })?;
                let this = self.address(loc, Pointer::Ref);
                let function = self.items.functions[name].clone();
                let tag = self.tag(node);
                let types = self.impl_types(&function, &ty, tag);
                let pointer = self.call_function(name, types, vec![this], tag);
                Some(self.follow(&pointer))
            }
            _ => None,
        }
    }

    /// The place that an expression stands for; a value is kept to the end of the statement.
    pub fn place(&mut self, expr: &Expr, wanted: Use) -> Loc {
        let nothing = Loc { lvalue: Lvalue::nothing(), ty: Ty::Never };
        if !self.is_reachable() || !self.deeper(expr) {
            return nothing;
        }
        let loc = self.place_within(expr, wanted).unwrap_or(nothing);
        self.depth -= 1;
        loc
    }

    fn place_within(&mut self, expr: &Expr, wanted: Use) -> Option<Loc> {
        match expr {
            Expr::Paren(inner) => Some(self.place(&inner.expr, wanted)),
            Expr::Group(inner) => Some(self.place(&inner.expr, wanted)),
            Expr::Path(path) => {
                if let Some(at) = self.local_of(expr) {
                    return Some(self.variable(at, wanted));
                }
                if let Some(Def::Static(id)) = self.definition(path) {
                    return Some(self.static_object(id));
                }
                self.value_place(expr)
            }
            Expr::Field(field) => {
                let base = self.base(&field.base, wanted);
                self.find_field(base, field)
            }
            Expr::Index(index) => {
                let base = self.base(&index.expr, wanted);
                self.element(base, index)
            }
            Expr::Unary(this) if matches!(this.op, syn::UnOp::Deref(_)) => {
                let inner = self.base(&this.expr, wanted);
                self.at(expr);
                match self.deref(&inner, expr) {
                    Some(loc) => Some(loc),
                    None if self.is_reachable() => {
                        self.error_at(
                            expr,
                            "the type of this pointer is not known here",
                            Some("give the variable a type: `let x: *mut Type = ..`"),
                        );
                        None
                    }
                    None => None,
                }
            }
            _ => self.value_place(expr),
        }
    }

    fn value_place(&mut self, expr: &Expr) -> Option<Loc> {
        let value = self.expr(expr, None);
        if !self.is_reachable() {
            return None;
        }
        let tag = self.tag(expr);
        Some(self.temporary(&value, tag))
    }

    /// A place that something is part of, or that leads to it: a pointer is only read.
    pub fn base(&mut self, expr: &Expr, wanted: Use) -> Loc {
        let is_pointer = self.local_of(expr).is_some_and(|at| {
            matches!(
                self.resolve(&self.binding(at).loc.ty),
                Ty::Pointer(..) | Ty::Vec(_) | Ty::Handle(_) | Ty::Function
            )
        });
        self.place(expr, if is_pointer { Use::Read } else { wanted })
    }

    fn element(&mut self, mut loc: Loc, index: &syn::ExprIndex) -> Option<Loc> {
        for _ in 0..20 {
            if !self.is_reachable() {
                return None;
            }
            let ty = self.resolve(&loc.ty);
            match &ty {
                Ty::Array(element, _) => {
                    let value = self.expr(&index.index, Some(&Ty::USIZE));
                    if matches!(value.ty, Ty::Iter(_)) {
                        return Some(loc);
                    }
                    self.at(index);
                    let raw = self.raw(&value);
                    let lvalue = self.b.index(&loc.lvalue, &raw);
                    return Some(Loc { lvalue, ty: (**element).clone() });
                }
                Ty::Vec(_) => {
                    let value = self.expr(&index.index, Some(&Ty::USIZE));
                    self.at(index);
                    if matches!(value.ty, Ty::Iter(_)) {
                        return Some(loc);
                    }
                    return self.list_element(&loc, &value, index);
                }
                Ty::Adt(..)
                    if self.items.methods.contains_key(&(ty.head(), "index".to_owned())) =>
                {
                    let function = self.items.methods[&(ty.head(), "index".to_owned())];
                    let value = self.expr(&index.index, None);
                    self.at(index);
                    let this = self.address(&loc, Pointer::Ref);
                    let item = self.items.functions[function].clone();
                    let tag = self.tag(index);
                    let types = self.impl_types(&item, &ty, tag);
                    let pointer = self.call_function(function, types, vec![this, value], tag);
                    return Some(self.follow(&pointer));
                }
                _ => match self.deref(&loc, index) {
                    Some(inner) => loc = inner,
                    None => break,
                },
            }
        }
        if self.is_reachable() {
            self.error_at(
                index,
                "the type of what is indexed here is not known",
                Some("give the variable a type"),
            );
        }
        None
    }

    /// A closure, with the variables that it uses.
    fn closure(&mut self, node: &syn::ExprClosure) -> Val {
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
    fn range_value(&mut self, range: &syn::ExprRange, want: Option<&Ty>) -> Val {
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

    /// `e?`: returns what is not a value.
    fn try_expr(&mut self, this: &syn::ExprTry) -> Val {
        let value = self.expr(&this.expr, None);
        if !self.is_reachable() {
            return Val::never();
        }
        let ty = self.resolve(&value.ty);
        let Ty::Adt(adt, _) = &ty else {
            return self.error_at(this, "the type of this value is not known here", None);
        };
        let names: Vec<String> =
            self.items.adts[*adt].variants.iter().map(|v| v.name.clone()).collect();
        let (good, bad) =
            match (names.iter().position(|n| n == "Ok"), names.iter().position(|n| n == "Some")) {
                (Some(ok), _) => (ok, 1 - ok),
                (_, Some(some)) => (some, 1 - some),
                _ => return self.unsupported(this, "`?` here", "write a `match`"),
            };
        let value = self.kept(value);
        let test = self.is_variant(&value, bad);
        let raw = self.raw(&test);
        let leave = |reader: &mut Self| {
            let returns = reader.frame().returns.clone();
            let first = reader.first_field(*adt, bad);
            let values = match names[bad].as_str() {
                "Err" => vec![reader.field_of(&value, first)],
                _ => Vec::new(),
            };
            let result = reader.variant(&returns, bad, values);
            reader.return_value(&result, this);
        };
        match self.b.decide(&raw) {
            Ok(true) => {
                leave(self);
                return Val::never();
            }
            Ok(false) => {}
            Err(code) => {
                self.b.begin_if(code);
                leave(self);
                self.b.begin_else();
                self.b.end_if();
            }
        }
        let first = self.first_field(*adt, good);
        self.field_of(&value, first)
    }

    fn binary_expr(&mut self, this: &syn::ExprBinary, want: Option<&Ty>) -> Val {
        use syn::BinOp as Op;
        match this.op {
            Op::And(_) | Op::Or(_) => return self.lazy(this),
            _ => {}
        }
        let (op, is_assign) = match this.op {
            Op::Add(_) => (BinOp::Add, false),
            Op::Sub(_) => (BinOp::Sub, false),
            Op::Mul(_) => (BinOp::Mul, false),
            Op::Div(_) => (BinOp::Div, false),
            Op::Rem(_) => (BinOp::Mod, false),
            Op::BitXor(_) => (BinOp::BitXor, false),
            Op::BitAnd(_) => (BinOp::BitAnd, false),
            Op::BitOr(_) => (BinOp::BitOr, false),
            Op::Shl(_) => (BinOp::Shl, false),
            Op::Shr(_) => (BinOp::Shr, false),
            Op::Eq(_) => (BinOp::Eq, false),
            Op::Lt(_) => (BinOp::Lt, false),
            Op::Le(_) => (BinOp::Le, false),
            Op::Ne(_) => (BinOp::Ne, false),
            Op::Ge(_) => (BinOp::Ge, false),
            Op::Gt(_) => (BinOp::Gt, false),
            Op::AddAssign(_) => (BinOp::Add, true),
            Op::SubAssign(_) => (BinOp::Sub, true),
            Op::MulAssign(_) => (BinOp::Mul, true),
            Op::DivAssign(_) => (BinOp::Div, true),
            Op::RemAssign(_) => (BinOp::Mod, true),
            Op::BitXorAssign(_) => (BinOp::BitXor, true),
            Op::BitAndAssign(_) => (BinOp::BitAnd, true),
            Op::BitOrAssign(_) => (BinOp::BitOr, true),
            Op::ShlAssign(_) => (BinOp::Shl, true),
            Op::ShrAssign(_) => (BinOp::Shr, true),
            _ => return self.unsupported(this, "this operator", "docs/rust.md lists what is read"),
        };
        if is_assign {
            let want = self.type_of_place(&this.left);
            let right = self.expr(&this.right, want.as_ref());
            if !self.is_reachable() {
                return Val::never();
            }
            let loc = self.place(&this.left, Use::Address);
            self.at(this);
            let left = self.load(&loc, Order::Plain);
            if !matches!(op, BinOp::Shl | BinOp::Shr) {
                self.unify(&left.ty, &right.ty);
            }
            let value = self.arithmetic(op, &left, &right, this);
            self.store(&loc, &value, Order::Plain);
            return Val::unit();
        }
        let is_comparison =
            matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let left = self.expr(&this.left, if is_comparison { None } else { want });
        if !self.is_reachable() {
            return Val::never();
        }
        let left = if changes(&this.right) { self.kept(left) } else { left };
        let is_shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let want = if is_shift { None } else { Some(left.ty.clone()) };
        let right = self.expr(&this.right, want.as_ref());
        if !self.is_reachable() {
            return Val::never();
        }
        self.at(this);
        if !is_shift {
            self.unify(&left.ty, &right.ty);
        }
        match op {
            BinOp::Eq => self.equals(&left, &right),
            BinOp::Ne => {
                let equal = self.equals(&left, &right);
                self.not(&equal)
            }
            _ if is_comparison => self.compare(op, &left, &right, this),
            _ => self.arithmetic(op, &left, &right, this),
        }
    }

    /// `&&` and `||`: the right side is only evaluated if it matters.
    fn lazy(&mut self, this: &syn::ExprBinary) -> Val {
        let is_and = matches!(this.op, syn::BinOp::And(_));
        let left = self.expr(&this.left, Some(&Ty::Bool));
        if !self.is_reachable() {
            return Val::never();
        }
        let raw = self.raw(&left);
        let code = match self.b.decide(&raw) {
            Ok(known) if known == is_and => return self.expr(&this.right, Some(&Ty::Bool)),
            Ok(known) => return Val::truth(known),
            Err(code) => code,
        };
        let op = if is_and { BinOp::And } else { BinOp::Or };
        if is_pure(&this.right) || (self.is_eager && only_reads(&this.right)) {
            let right = self.expr(&this.right, Some(&Ty::Bool));
            let right = self.b.to_code(&right.data);
            let code = crate::lowering::value::binary(op, code, right);
            return Val { data: Data::Code(code), ty: Ty::Bool };
        }
        let tag = self.tag(this);
        let result = self.local("both", &Ty::Bool, tag);
        self.b.begin_if(if is_and { code } else { unary(UnOp::Not, code) });
        let right = self.expr(&this.right, Some(&Ty::Bool));
        self.store(&result, &right, Order::Plain);
        self.b.begin_else();
        self.store(&result, &Val::truth(!is_and), Order::Plain);
        self.b.end_if();
        self.load(&result, Order::Plain)
    }
}

/// Whether an expression names a place.
pub fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Path(_) | Expr::Index(_) => true,
        Expr::Field(field) => is_place(&field.base) || !matches!(*field.base, Expr::Call(_)),
        Expr::Unary(this) => matches!(this.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}

/// Whether an expression may change local variables.
pub fn changes(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => false,
        Expr::Paren(inner) => changes(&inner.expr),
        Expr::Field(field) => changes(&field.base),
        Expr::Index(index) => changes(&index.expr) || changes(&index.index),
        Expr::Unary(this) => changes(&this.expr),
        Expr::Cast(cast) => changes(&cast.expr),
        Expr::Reference(reference) => changes(&reference.expr),
        Expr::Binary(this) => {
            let is_assign = matches!(
                this.op,
                syn::BinOp::AddAssign(_)
                    | syn::BinOp::SubAssign(_)
                    | syn::BinOp::MulAssign(_)
                    | syn::BinOp::DivAssign(_)
                    | syn::BinOp::RemAssign(_)
                    | syn::BinOp::BitXorAssign(_)
                    | syn::BinOp::BitAndAssign(_)
                    | syn::BinOp::BitOrAssign(_)
                    | syn::BinOp::ShlAssign(_)
                    | syn::BinOp::ShrAssign(_)
            );
            is_assign || changes(&this.left) || changes(&this.right)
        }
        Expr::MethodCall(call) if is_atomic(&call.method.to_string()) => {
            changes(&call.receiver) || call.args.iter().any(changes)
        }
        _ => true,
    }
}

fn is_atomic(name: &str) -> bool {
    matches!(
        name,
        "load"
            | "store"
            | "swap"
            | "is_ok"
            | "is_err"
            | "clone"
            | "wrapping_add"
            | "wrapping_sub"
            | "get"
            | "len"
    ) || name.starts_with("fetch_")
        || name.starts_with("compare_")
}

/// Whether an expression reads local variables at most.
fn is_pure(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
            name.to_string().starts_with(|c: char| c.is_lowercase() || c == '_')
        }),
        Expr::Paren(inner) => is_pure(&inner.expr),
        Expr::Unary(this) => !matches!(this.op, syn::UnOp::Deref(_)) && is_pure(&this.expr),
        Expr::Binary(this) => {
            matches!(
                this.op,
                syn::BinOp::Eq(_)
                    | syn::BinOp::Ne(_)
                    | syn::BinOp::Lt(_)
                    | syn::BinOp::Le(_)
                    | syn::BinOp::Gt(_)
                    | syn::BinOp::Ge(_)
                    | syn::BinOp::And(_)
                    | syn::BinOp::Or(_)
            ) && is_pure(&this.left)
                && is_pure(&this.right)
        }
        _ => false,
    }
}

/// Whether an expression only reads atomics and local variables.
fn only_reads(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            call.method == "load" && only_reads(&call.receiver) && call.args.iter().all(only_reads)
        }
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(inner) => only_reads(&inner.expr),
        Expr::Field(field) => only_reads(&field.base),
        Expr::Index(index) => only_reads(&index.expr) && is_pure(&index.index),
        Expr::Unary(this) => only_reads(&this.expr),
        Expr::Cast(cast) => only_reads(&cast.expr),
        Expr::Binary(this) => !changes(expr) && only_reads(&this.left) && only_reads(&this.right),
        _ => false,
    }
}
