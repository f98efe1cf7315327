//! Expressions, blocks and statements.

use syn::spanned::Spanned;
use syn::{Expr, Stmt};
use weir_model::program::{BinOp, UnOp};

use super::reader::{Reader, Use, Val};
use super::types::{Pointer, Ty};
use crate::lowering::Order;
use crate::lowering::value::{Data, unary};

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
            // `;`
            Stmt::Expr(Expr::Verbatim(tokens), _) if tokens.is_empty() => Val::unit(),
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

    /// Executes an expression whose value is not used.
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

    /// Reports that a value is needed that Weir does not know.
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
                    if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(literal), .. }) = &*this.expr
                    {
                        return self.number_literal(literal, true, want, expr);
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
