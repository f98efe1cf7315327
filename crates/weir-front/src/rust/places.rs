//! Places: what an expression that can be assigned to stands for, and assignments.

use syn::Expr;
use syn::spanned::Spanned;

use super::items::Def;
use super::reader::{Loc, Reader, Use, Val};
use super::types::{Pointer, Ty};
use crate::errors::quote;
use crate::lowering::{Lvalue, Order};

impl Reader<'_> {
    pub fn assign(&mut self, assign: &syn::ExprAssign) -> Val {
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
                        self.drop_if(&flag, &loc);
                    }
                    self.owned(at);
                }
                None => self.drop_place(&loc, 0),
            }
        }
        self.store(&loc, &value, Order::Plain);
        Val::unit()
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
    pub fn type_of_place(&self, expr: &Expr) -> Option<Ty> {
        let at = self.local_of(expr)?;
        Some(self.resolve(&self.binding(at).loc.ty))
    }

    /// A value is moved out of a place.
    pub fn moved_from(&mut self, expr: &Expr) {
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

    pub fn field_value(&mut self, base: Val, field: &syn::ExprField) -> Val {
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

    pub fn find_field(&mut self, mut loc: Loc, field: &syn::ExprField) -> Option<Loc> {
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

    pub fn place_within(&mut self, expr: &Expr, wanted: Use) -> Option<Loc> {
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

    pub fn value_place(&mut self, expr: &Expr) -> Option<Loc> {
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

    pub fn element(&mut self, mut loc: Loc, index: &syn::ExprIndex) -> Option<Loc> {
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
}
