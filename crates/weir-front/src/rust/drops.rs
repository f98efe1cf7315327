//! Drops: what happens when a value is not needed any more.

use std::ops::Range;

use super::reader::{Loc, Reader, Val};
use super::types::{Pointer, Ty, Wrapper};
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value};
use crate::lowering::{Lvalue, Order};

impl Reader<'_> {
    /// The flag that says that a variable still has to be dropped.
    pub fn flag(&mut self, loc: &Loc, name: &str) -> Option<Lvalue> {
        if !self.needs_drop(&loc.ty) {
            return None;
        }
        let count: usize = self.frame().scopes.iter().map(|scope| scope.bindings.len()).sum();
        let key = self.b.key((name, count, self.frame().scopes.len(), "drop"));
        let flag = self.b.local("owned", &Type::Bool, key);
        self.b.store(&flag, &Value::number(1, Type::Bool), Order::Plain);
        Some(flag)
    }

    /// Drops what is in all scopes from one on, the last one first.
    pub fn drop_scopes(&mut self, from: usize) {
        for scope in (from..self.frame().scopes.len()).rev() {
            for binding in (0..self.frame().scopes[scope].bindings.len()).rev() {
                if !self.is_reachable() {
                    return;
                }
                let binding = self.frame().scopes[scope].bindings[binding].clone();
                if binding.owner == self.b.thread()
                    && let Some(flag) = &binding.flag
                {
                    self.drop_if(flag, &binding.loc);
                }
            }
        }
    }

    pub fn drop_if(&mut self, flag: &Lvalue, loc: &Loc) {
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

    /// A variable has been moved: it is not dropped any more.
    pub fn moved(&mut self, at: (usize, usize)) {
        let binding = self.binding(at);
        if let Some(flag) = binding.flag.clone()
            && binding.owner == self.b.thread()
        {
            self.b.store(&flag, &Value::number(0, Type::Bool), Order::Plain);
        }
    }

    /// A variable has a value again.
    pub fn owned(&mut self, at: (usize, usize)) {
        let binding = self.binding(at);
        if let Some(flag) = binding.flag.clone()
            && binding.owner == self.b.thread()
        {
            self.b.store(&flag, &Value::number(1, Type::Bool), Order::Plain);
        }
    }

    /// Whether something happens when a value of a type is dropped.
    pub fn needs_drop(&mut self, ty: &Ty) -> bool {
        let ty = self.resolve(ty);
        self.needs_drop_within(&ty, 0)
    }

    pub fn needs_drop_within(&mut self, ty: &Ty, depth: usize) -> bool {
        if depth > 8 {
            return false;
        }
        match ty {
            Ty::Pointer(Pointer::Box, _) => true,
            Ty::Wrapper(Wrapper::UnsafeCell | Wrapper::Cell, inner) => {
                self.needs_drop_within(&self.resolve(inner), depth + 1)
            }
            Ty::Array(inner, _) => self.needs_drop_within(&self.resolve(inner), depth + 1),
            Ty::Adt(..) | Ty::Tuple(_) => {
                if self.drop_function(ty).is_some() {
                    return true;
                }
                self.fields(ty).iter().any(|(_, field)| {
                    let field = self.resolve(field);
                    self.needs_drop_within(&field, depth + 1)
                })
            }
            _ => false,
        }
    }

    pub fn drop_function(&self, ty: &Ty) -> Option<usize> {
        self.items.methods.get(&(ty.head(), "drop".to_owned())).copied()
    }

    /// Drops what is at a place.
    pub fn drop_place(&mut self, loc: &Loc, depth: usize) {
        let ty = self.resolve(&loc.ty);
        if depth > 8 || !self.is_reachable() || !self.needs_drop(&ty) {
            return;
        }
        if let Some(function) = self.drop_function(&ty) {
            let this = self.address(loc, Pointer::Ref);
            let function_item = self.items.functions[function].clone();
            let types = self.impl_types(&function_item, &ty, (depth, 1));
            self.call_function(function, types, vec![this], (depth, 0));
        }
        match &ty {
            Ty::Pointer(Pointer::Box, _) => {
                let pointer = self.load(loc, Order::Plain);
                if matches!(pointer.data, Data::Function(_)) {
                    return;
                }
                let inner = self.follow(&pointer);
                self.drop_place(&inner, depth + 1);
                let raw = self.raw(&pointer);
                self.b.free(&raw);
            }
            Ty::Wrapper(_, inner) => {
                let loc = Loc { lvalue: loc.lvalue.clone(), ty: (**inner).clone() };
                self.drop_place(&loc, depth + 1);
            }
            Ty::Array(inner, len) => {
                let Ty::Const(n) = self.resolve(len) else { return };
                for i in 0..n {
                    let index = Value::number(i, Type::INT);
                    let lvalue = self.b.index(&loc.lvalue, &index);
                    self.drop_place(&Loc { lvalue, ty: (**inner).clone() }, depth + 1);
                }
            }
            Ty::Adt(id, args) if self.is_niche(*id, args) => {
                let pointer = self.load(loc, Order::Plain);
                let inner = Loc { lvalue: loc.lvalue.clone(), ty: args[0].clone() };
                let raw = self.raw(&pointer);
                match self.b.decide(&raw) {
                    Ok(true) => self.drop_place(&inner, depth + 1),
                    Ok(false) => {}
                    Err(code) => {
                        self.b.begin_if(code);
                        self.drop_place(&inner, depth + 1);
                        self.b.begin_else();
                        self.b.end_if();
                    }
                }
            }
            Ty::Adt(id, _) if self.items.adts[*id].is_enum => {
                let adt = self.items.adts[*id].clone();
                for (i, variant) in adt.variants.iter().enumerate() {
                    let first = self.first_field(*id, i);
                    let fields = self.fields(&ty);
                    let has_drop = (first..first + variant.fields.len())
                        .any(|field| self.needs_drop(&fields[field].1));
                    if !has_drop {
                        continue;
                    }
                    let tag = self.field(loc, 0);
                    let tag = self.load(&tag, Order::Plain);
                    let is_this = self.equals(&tag, &Val::number(i as i128, tag.ty.clone()));
                    let raw = self.raw(&is_this);
                    let fields = first..first + variant.fields.len();
                    match self.b.decide(&raw) {
                        Ok(false) => {}
                        Ok(true) => self.drop_fields(loc, fields, depth),
                        Err(code) => {
                            self.b.begin_if(code);
                            self.drop_fields(loc, fields, depth);
                            self.b.begin_else();
                            self.b.end_if();
                        }
                    }
                }
            }
            Ty::Adt(..) | Ty::Tuple(_) => {
                let count = self.fields(&ty).len();
                self.drop_fields(loc, 0..count, depth);
            }
            _ => {}
        }
    }

    pub fn drop_fields(&mut self, loc: &Loc, fields: Range<usize>, depth: usize) {
        for field in fields {
            let field = self.field(loc, field);
            self.drop_place(&field, depth + 1);
        }
    }

    /// Drops a value that was not bound to a variable.
    pub fn drop_value(&mut self, value: &Val, tag: (usize, usize)) {
        if self.is_reachable() && self.needs_drop(&value.ty) {
            let loc = self.local("dropped", &value.ty, tag);
            self.store(&loc, value, Order::Plain);
            self.drop_place(&loc, 0);
        }
    }
}
