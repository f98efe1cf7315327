//! Types of Rust, as far as they are needed to find methods and to lay out memory.
//!
//! A program that compiles is well typed, so nothing is checked. What is not known, such as the
//! type of `0`, is a variable that is solved when the value meets a type that is known; the
//! program is then read again from its beginning, with the solution. Solutions stay, so this ends.

use std::collections::HashMap;
use std::rc::Rc;

use weir_model::program::IntType;

use super::items::Head;
use super::reader::Reader;
use crate::lowering::types::{StructId, Type};
use crate::lowering::value::{Data, Value};
use crate::lowering::{self, Key};

/// What owns or refers to a value somewhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// `&T` and `&mut T`.
    Ref,
    /// `*const T` and `*mut T`.
    Raw,
    /// `NonNull<T>`.
    NonNull,
    /// `Box<T>`.
    Box,
    /// `Arc<T>` and `Rc<T>`.
    Shared,
}

/// A cell that is where its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// `UnsafeCell<T>`.
    UnsafeCell,
    /// `Cell<T>`.
    Cell,
    /// `MaybeUninit<T>`.
    MaybeUninit,
    /// `ManuallyDrop<T>`.
    ManuallyDrop,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Not known yet; whether it is an integer type.
    Var(Key, bool),
    /// Of what never returns.
    Never,
    Bool,
    Int(IntType),
    /// The argument of a generic type that is a number.
    Const(i128),
    /// Something that is not looked at, such as a string or a duration.
    Opaque,
    Pointer(Pointer, Rc<Ty>),
    Atomic(Rc<Ty>),
    Wrapper(Wrapper, Rc<Ty>),
    /// Also `()`.
    Tuple(Vec<Ty>),
    Array(Rc<Ty>, Rc<Ty>),
    Slice(Rc<Ty>),
    /// A struct or an enum that is declared, also in the library.
    Adt(usize, Vec<Ty>),
    /// A function or a closure.
    Function,
    /// `Vec<T>`, which is known element by element.
    Vec(Rc<Ty>),
    /// An iterator.
    Iter(Rc<Ty>),
    /// `JoinHandle<T>`.
    Handle(Rc<Ty>),
    /// What `thread::scope` passes on.
    Scope,
    /// `Thread`, as `thread::current()` gives it.
    Thread,
    /// A memory order.
    Ordering,
}

impl Ty {
    pub const UNIT: Self = Self::Tuple(Vec::new());
    pub const USIZE: Self = Self::Int(IntType::U64);

    pub fn reference(self) -> Self {
        Self::Pointer(Pointer::Ref, Rc::new(self))
    }

    pub fn pointer(kind: Pointer, to: Self) -> Self {
        Self::Pointer(kind, Rc::new(to))
    }

    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(list) if list.is_empty())
    }

    /// The integer type of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "usize" => Self::USIZE,
            "isize" => Self::Int(IntType::I64),
            "char" => Self::Int(IntType::U32),
            "str" | "String" | "f32" | "f64" => Self::Opaque,
            _ => Self::Int(IntType::named(name)?),
        })
    }

    /// What methods are found by.
    pub fn head(&self) -> Head {
        match self {
            Self::Adt(id, _) => Head::Adt(*id),
            Self::Bool => Head::Named("bool"),
            Self::Int(int) => Head::Named(int.name()),
            Self::Pointer(Pointer::Ref, _) => Head::Named("&"),
            Self::Pointer(Pointer::Raw, _) => Head::Named("*"),
            Self::Pointer(Pointer::NonNull, _) => Head::Named("NonNull"),
            Self::Pointer(Pointer::Box, _) => Head::Named("Box"),
            Self::Pointer(Pointer::Shared, _) => Head::Named("Arc"),
            Self::Atomic(_) => Head::Named("Atomic"),
            Self::Wrapper(..) => Head::Named("UnsafeCell"),
            Self::Tuple(_) => Head::Named("()"),
            Self::Array(..) | Self::Slice(_) => Head::Named("[]"),
            Self::Vec(_) => Head::Named("Vec"),
            Self::Thread => Head::Named("Thread"),
            _ => Head::Named("?"),
        }
    }
}

/// What is known of a program from earlier passes.
#[derive(Debug, Default)]
pub struct Known {
    solutions: HashMap<Key, Ty>,
    /// Threads whose result is used.
    pub wanted: std::collections::HashSet<Key>,
    /// Whether this pass has found out something.
    pub is_changed: bool,
}

impl Reader<'_> {
    /// A type that is not known yet. `tag` tells it from others here.
    pub fn unknown(&mut self, tag: impl std::hash::Hash) -> Ty {
        let key = self.b.key((tag, "type"));
        self.resolve(&Ty::Var(key, false))
    }

    /// A type with what is known of it.
    pub fn resolve(&self, ty: &Ty) -> Ty {
        self.resolve_within(ty, 0)
    }

    fn resolve_within(&self, ty: &Ty, depth: usize) -> Ty {
        if depth > 50 {
            return ty.clone();
        }
        let one = |inner: &Rc<Ty>| Rc::new(self.resolve_within(inner, depth + 1));
        let all = |list: &[Ty]| list.iter().map(|ty| self.resolve_within(ty, depth + 1)).collect();
        match ty {
            Ty::Var(key, _) => match self.known.solutions.get(key) {
                Some(known) => self.resolve_within(known, depth + 1),
                None => ty.clone(),
            },
            Ty::Pointer(kind, to) => Ty::Pointer(*kind, one(to)),
            Ty::Atomic(inner) => Ty::Atomic(one(inner)),
            Ty::Wrapper(kind, inner) => Ty::Wrapper(*kind, one(inner)),
            Ty::Tuple(list) => Ty::Tuple(all(list)),
            Ty::Array(inner, len) => Ty::Array(one(inner), one(len)),
            Ty::Slice(inner) => Ty::Slice(one(inner)),
            Ty::Adt(id, list) => Ty::Adt(*id, all(list)),
            Ty::Vec(inner) => Ty::Vec(one(inner)),
            Ty::Iter(inner) => Ty::Iter(one(inner)),
            Ty::Handle(inner) => Ty::Handle(one(inner)),
            _ => ty.clone(),
        }
    }

    /// Two types are the same: solves variables. Returns the one that says more.
    pub fn unify(&mut self, a: &Ty, b: &Ty) -> Ty {
        let (a, b) = (self.resolve(a), self.resolve(b));
        self.unify_within(&a, &b, 0);
        let (a, b) = (self.resolve(&a), self.resolve(&b));
        match (&a, &b) {
            (Ty::Var(..) | Ty::Never, _) => b,
            (Ty::Slice(_), Ty::Array(..) | Ty::Vec(_)) => b,
            // `&mut T` becomes `*mut T`.
            (Ty::Pointer(Pointer::Raw, _), Ty::Pointer(_, to)) => {
                Ty::Pointer(Pointer::Raw, to.clone())
            }
            (Ty::Pointer(kind, x), Ty::Pointer(_, y)) if matches!(**x, Ty::Slice(_)) => {
                Ty::Pointer(*kind, y.clone())
            }
            _ => a,
        }
    }

    fn unify_within(&mut self, a: &Ty, b: &Ty, depth: usize) {
        if depth > 50 || a == b {
            return;
        }
        match (a, b) {
            (Ty::Never, _) | (_, Ty::Never) => {}
            (Ty::Var(x, true), Ty::Var(y, false)) => self.solve(*y, &Ty::Var(*x, true)),
            (Ty::Var(key, true), Ty::Int(_)) => self.solve(*key, b),
            (Ty::Int(_), Ty::Var(key, true)) => self.solve(*key, a),
            (Ty::Var(_, true), Ty::Var(key, true)) => self.solve(*key, a),
            (Ty::Var(_, true), _) | (_, Ty::Var(_, true)) if !is_var(a) && !is_var(b) => {}
            (Ty::Var(key, false), other) | (other, Ty::Var(key, false)) => self.solve(*key, other),
            (Ty::Pointer(_, a), Ty::Pointer(_, b))
            | (Ty::Atomic(a), Ty::Atomic(b))
            | (Ty::Wrapper(_, a), Ty::Wrapper(_, b))
            | (Ty::Slice(a), Ty::Slice(b) | Ty::Array(b, _) | Ty::Vec(b))
            | (Ty::Array(a, _) | Ty::Vec(a), Ty::Slice(b))
            | (Ty::Vec(a), Ty::Vec(b))
            | (Ty::Iter(a), Ty::Iter(b))
            | (Ty::Handle(a), Ty::Handle(b)) => {
                let (a, b) = (self.resolve(a), self.resolve(b));
                self.unify_within(&a, &b, depth + 1);
            }
            (Ty::Array(a, n), Ty::Array(b, m)) => {
                for (a, b) in [(a, b), (n, m)] {
                    let (a, b) = (self.resolve(a), self.resolve(b));
                    self.unify_within(&a, &b, depth + 1);
                }
            }
            (Ty::Tuple(x), Ty::Tuple(y)) => self.unify_all(x, y, depth),
            (Ty::Adt(i, x), Ty::Adt(j, y)) if i == j => self.unify_all(x, y, depth),
            _ => {}
        }
    }

    fn unify_all(&mut self, a: &[Ty], b: &[Ty], depth: usize) {
        for (a, b) in a.iter().zip(b) {
            let (a, b) = (self.resolve(a), self.resolve(b));
            self.unify_within(&a, &b, depth + 1);
        }
    }

    fn solve(&mut self, key: Key, ty: &Ty) {
        if !self.mentions(ty, key, 0) {
            self.known.solutions.insert(key, ty.clone());
            self.known.is_changed = true;
        }
    }

    fn mentions(&self, ty: &Ty, key: Key, depth: usize) -> bool {
        if depth > 50 {
            return true;
        }
        match ty {
            Ty::Var(other, _) => *other == key,
            Ty::Pointer(_, inner)
            | Ty::Atomic(inner)
            | Ty::Wrapper(_, inner)
            | Ty::Slice(inner)
            | Ty::Vec(inner)
            | Ty::Iter(inner)
            | Ty::Handle(inner) => self.mentions(inner, key, depth + 1),
            Ty::Array(inner, len) => {
                self.mentions(inner, key, depth + 1) || self.mentions(len, key, depth + 1)
            }
            Ty::Tuple(list) | Ty::Adt(_, list) => {
                list.iter().any(|ty| self.mentions(ty, key, depth + 1))
            }
            _ => false,
        }
    }

    /// How a value of a type is laid out.
    pub fn lower(&mut self, ty: &Ty) -> Type {
        let ty = self.resolve(ty);
        self.lower_within(&ty, 0)
    }

    fn lower_within(&mut self, ty: &Ty, depth: usize) -> Type {
        if depth > 50 {
            self.b.error("this type contains itself");
            return Type::Void;
        }
        match ty {
            Ty::Var(_, true) => Type::INT,
            Ty::Var(_, false) | Ty::Never | Ty::Const(_) | Ty::Opaque | Ty::Scope => Type::Void,
            Ty::Bool => Type::Bool,
            Ty::Int(int) => Type::Int(*int),
            Ty::Ordering => Type::Int(IntType::U8),
            Ty::Pointer(_, to) => Type::pointer(self.lower_target(to, depth)),
            Ty::Atomic(inner) => Type::Atomic(self.lower_within(inner, depth + 1).into()),
            Ty::Wrapper(_, inner) => self.lower_within(inner, depth + 1),
            Ty::Tuple(list) if list.is_empty() => Type::Void,
            Ty::Array(inner, len) => {
                let len = match **len {
                    Ty::Const(n) => u32::try_from(n).unwrap_or(u32::MAX),
                    _ => 0,
                };
                Type::Array(self.lower_within(inner, depth + 1).into(), len)
            }
            Ty::Slice(inner) => self.lower_within(inner, depth + 1),
            Ty::Function | Ty::Vec(_) | Ty::Iter(_) => Type::Function,
            Ty::Handle(_) | Ty::Thread => Type::Thread,
            Ty::Adt(id, args) if self.is_niche(*id, args) => {
                let Some(first) = args.first() else { return Type::Void };
                self.lower_within(&first.clone(), depth + 1)
            }
            Ty::Adt(id, _) if self.items.adts[*id].is_plain_enum() => Type::Int(IntType::U8),
            Ty::Adt(..) | Ty::Tuple(_) => Type::Struct(self.struct_of(ty, depth)),
        }
    }

    /// What a pointer leads to: a struct may contain a pointer to itself.
    fn lower_target(&mut self, ty: &Ty, depth: usize) -> Type {
        let around = std::mem::take(&mut self.around);
        let lowered = self.lower_within(ty, depth + 1);
        self.around = around;
        lowered
    }

    fn struct_of(&mut self, ty: &Ty, depth: usize) -> StructId {
        if self.around.contains(ty) {
            self.fault("this type contains itself");
        }
        if let Some(id) = self.structs.get(ty) {
            return *id;
        }
        let name = match ty {
            Ty::Adt(id, _) => self.items.adts[*id].name.clone(),
            _ => "tuple".to_owned(),
        };
        let id = self.b.learned.struct_at(lowering::hash(&("rust", ty)), &name);
        self.structs.insert(ty.clone(), id);
        let mut fields = Vec::new();
        self.around.push(ty.clone());
        for (name, field) in self.fields(ty) {
            let field = self.resolve(&field);
            // What contains itself has no layout.
            let lowered = match self.is_reachable() {
                true => self.lower_within(&field, depth + 1),
                false => Type::Void,
            };
            fields.push((name, lowered));
        }
        self.around.pop();
        if !self.b.errors.is_empty() {
            fields.clear();
        }
        self.b.learned.structs.complete(id, fields);
        id
    }

    /// Whether an enum is a pointer that is null in one variant.
    pub fn is_niche(&self, adt: usize, args: &[Ty]) -> bool {
        self.items.option == Some(adt)
            && args.first().is_some_and(
                |ty| matches!(self.resolve(ty), Ty::Pointer(kind, _) if kind != Pointer::Raw),
            )
    }

    /// The fields of a struct, a tuple or an enum; of an enum, the first one says which variant
    /// it is, and those of all variants follow.
    pub fn fields(&mut self, ty: &Ty) -> Vec<(String, Ty)> {
        match self.resolve(ty) {
            Ty::Tuple(list) => {
                list.into_iter().enumerate().map(|(i, ty)| (i.to_string(), ty)).collect()
            }
            Ty::Adt(id, args) => {
                let adt = self.items.adts[id].clone();
                let types: HashMap<String, Ty> =
                    adt.generics.iter().cloned().zip(args.iter().cloned()).collect();
                let mut fields = Vec::new();
                if adt.is_enum {
                    fields.push(("variant".to_owned(), Ty::Int(IntType::U8)));
                }
                for variant in &adt.variants {
                    for (name, ty) in &variant.fields {
                        let ty = self.ty_in(ty, adt.module, &types, adt.file);
                        let name = match adt.is_enum {
                            true => format!("{}.{name}", variant.name),
                            false => name.clone(),
                        };
                        fields.push((name, ty));
                    }
                }
                fields
            }
            _ => Vec::new(),
        }
    }

    /// Where the fields of a variant begin.
    pub fn first_field(&self, adt: usize, variant: usize) -> usize {
        let adt = &self.items.adts[adt];
        let before: usize = adt.variants[..variant].iter().map(|v| v.fields.len()).sum();
        before + usize::from(adt.is_enum)
    }

    /// A value of zeros.
    pub fn zero(&mut self, ty: &Type) -> Value {
        let data = match ty.plain() {
            Type::Struct(id) => {
                let fields: Vec<Type> =
                    self.b.learned.structs.get(*id).fields.iter().map(|f| f.1.clone()).collect();
                Data::Fields(fields.iter().map(|ty| self.zero(ty)).collect())
            }
            Type::Array(element, n) => {
                let zero = self.zero(element);
                Data::Fields(vec![zero; (*n).min(crate::MAX_ARRAY as u32) as usize])
            }
            _ => Data::Code(weir_model::program::Expr::Const(0)),
        };
        Value { data, ty: ty.plain().clone() }
    }

    /// A type as it is written, in the function that is executed.
    pub fn ty(&mut self, ty: &syn::Type) -> Ty {
        let frame = self.frame();
        let (module, types, file) = (frame.module, frame.types.clone(), frame.file);
        self.ty_in(ty, module, &types, file)
    }

    /// A type as it is written somewhere.
    pub fn ty_in(&mut self, ty: &syn::Type, module: usize, types: &Names, file: usize) -> Ty {
        let of = |this: &mut Self, ty: &syn::Type| this.ty_in(ty, module, types, file);
        match ty {
            syn::Type::Array(array) => {
                let element = of(self, &array.elem);
                let len = self.const_in(&array.len, module, types, file);
                Ty::Array(element.into(), len.into())
            }
            syn::Type::FnPtr(_) => Ty::Function,
            syn::Type::Group(group) => of(self, &group.elem),
            syn::Type::Paren(paren) => of(self, &paren.elem),
            syn::Type::Never(_) => Ty::Never,
            syn::Type::Path(path) => self.path_ty(path, module, types, file),
            syn::Type::Ptr(pointer) => {
                let to = of(self, &pointer.elem);
                Ty::pointer(Pointer::Raw, to)
            }
            syn::Type::Reference(reference) => of(self, &reference.elem).reference(),
            syn::Type::Slice(slice) => Ty::Slice(of(self, &slice.elem).into()),
            syn::Type::Tuple(tuple) => {
                Ty::Tuple(tuple.elems.iter().map(|ty| of(self, ty)).collect())
            }
            other => self.unknown((file, super::syntax::range(other))),
        }
    }

    /// A number that is part of a type.
    pub fn const_in(&mut self, expr: &syn::Expr, module: usize, types: &Names, file: usize) -> Ty {
        if let syn::Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident()
            && let Some(ty) = types.get(&name.to_string())
        {
            return self.resolve(ty);
        }
        if matches!(expr, syn::Expr::Infer(_)) {
            return self.unknown((file, super::syntax::range(expr)));
        }
        let value = self.constant(expr, module, types, file, &Ty::USIZE);
        match value.known() {
            Some(n) => Ty::Const(n),
            None => {
                self.error_at(expr, "this number has to be known before the program runs", None);
                Ty::Const(1)
            }
        }
    }

    fn path_ty(&mut self, path: &syn::TypePath, module: usize, types: &Names, file: usize) -> Ty {
        let names: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [name] = &names[..]
            && let Some(ty) = types.get(name)
        {
            return ty.clone();
        }
        if path.qself.is_some() || names[0] == "Self" || types.contains_key(&names[0]) {
            // `Self::Target`, `T::Item`: found by what it meets.
            let associated = names.last().cloned().unwrap_or_default();
            if let Some(ty) = types.get(&format!("Self::{associated}")) {
                return ty.clone();
            }
            return self.unknown((file, super::syntax::range(path)));
        }
        let mut args = Vec::new();
        if let Some(segment) = path.path.segments.last()
            && let syn::PathArguments::AngleBracketed(list) = &segment.arguments
        {
            for arg in &list.args {
                match arg {
                    syn::GenericArgument::Type(ty) => {
                        // A name may also be that of a number.
                        let ty = match self.const_named(ty, module, types, file) {
                            Some(number) => number,
                            None => self.ty_in(ty, module, types, file),
                        };
                        args.push(ty);
                    }
                    syn::GenericArgument::Const(expr) => {
                        args.push(self.const_in(expr, module, types, file));
                    }
                    _ => {}
                }
            }
        }
        let tag = (file, super::syntax::range(path));
        self.named_ty(&names, args, module, tag, path)
    }

    fn const_named(
        &mut self,
        ty: &syn::Type,
        module: usize,
        types: &Names,
        file: usize,
    ) -> Option<Ty> {
        let syn::Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?.to_string();
        let super::items::Def::Const(id) = self.items.value(module, std::slice::from_ref(&name))?
        else {
            return None;
        };
        let _ = (types, file);
        let value = self.const_value(id);
        value.known().map(Ty::Const)
    }

    /// The type of a path with arguments; arguments that are missing are found later.
    pub fn named_ty(
        &mut self,
        names: &[String],
        mut args: Vec<Ty>,
        module: usize,
        tag: (usize, std::ops::Range<usize>),
        node: &impl syn::spanned::Spanned,
    ) -> Ty {
        use super::items::Def;
        if let [name] = names
            && let Some(ty) = Ty::named(name)
        {
            return ty;
        }
        match self.items.ty(module, names) {
            Some(Def::Adt(id)) => {
                let adt = self.items.adts[id].clone();
                for i in args.len()..adt.generics.len() {
                    let ty = self.unknown((tag.clone(), i));
                    args.push(ty);
                }
                Ty::Adt(id, args)
            }
            Some(Def::Alias(id)) => {
                let alias = self.items.aliases[id].clone();
                let types: HashMap<String, Ty> = alias.generics.iter().cloned().zip(args).collect();
                if !self.deeper(node) {
                    return Ty::Never;
                }
                let ty = self.ty_in(&alias.ty, alias.module, &types, alias.file);
                self.depth -= 1;
                ty
            }
            Some(Def::Std(path)) => self.std_ty(&path, args, tag, node),
            _ => {
                let name = names.join("::");
                let text = format!("there is no type {}", crate::errors::quote(&name));
                self.error_at(node, &text, None);
                Ty::Never
            }
        }
    }

    fn std_ty(
        &mut self,
        path: &[String],
        args: Vec<Ty>,
        tag: (usize, std::ops::Range<usize>),
        node: &impl syn::spanned::Spanned,
    ) -> Ty {
        let name = path.last().map_or("", String::as_str);
        let arg = |this: &mut Self| match args.first() {
            Some(ty) => ty.clone(),
            None => this.unknown((tag.clone(), name)),
        };
        let int = |name: &str| Ty::named(&name.to_lowercase());
        match name {
            "AtomicBool" => Ty::Atomic(Ty::Bool.into()),
            "AtomicPtr" => {
                let to = arg(self);
                Ty::Atomic(Ty::pointer(Pointer::Raw, to).into())
            }
            "Atomic" => Ty::Atomic(arg(self).into()),
            "Arc" | "Rc" => Ty::pointer(Pointer::Shared, arg(self)),
            "Box" => Ty::pointer(Pointer::Box, arg(self)),
            "NonNull" => Ty::pointer(Pointer::NonNull, arg(self)),
            "Pin" | "Wrapping" | "CachePadded" => arg(self),
            "UnsafeCell" | "SyncUnsafeCell" | "RefCell" => {
                Ty::Wrapper(Wrapper::UnsafeCell, arg(self).into())
            }
            "Cell" => Ty::Wrapper(Wrapper::Cell, arg(self).into()),
            "MaybeUninit" => Ty::Wrapper(Wrapper::MaybeUninit, arg(self).into()),
            "ManuallyDrop" => Ty::Wrapper(Wrapper::ManuallyDrop, arg(self).into()),
            "PhantomData" | "PhantomPinned" => Ty::UNIT,
            "Vec" | "VecDeque" => Ty::Vec(arg(self).into()),
            "JoinHandle" | "ScopedJoinHandle" => Ty::Handle(arg(self).into()),
            "Scope" => Ty::Scope,
            "Thread" => Ty::Thread,
            "Ordering" => Ty::Ordering,
            "String" | "Duration" | "Instant" | "str" => Ty::Opaque,
            _ => {
                if let Some(ty) = name.strip_prefix("Atomic").and_then(int) {
                    return Ty::Atomic(ty.into());
                }
                if let Some(ty) =
                    name.strip_prefix("NonZero").and_then(int).or_else(|| Ty::named(name))
                {
                    return ty;
                }
                let full = path.join("::");
                let text = format!("the type {} is not read", crate::errors::quote(&full));
                self.error_at(node, &text, Some("docs/rust.md lists the types that are read"));
                Ty::Never
            }
        }
    }
}

/// Types by their names: what generic parameters stand for.
pub type Names = HashMap<String, Ty>;

fn is_var(ty: &Ty) -> bool {
    matches!(ty, Ty::Var(_, false))
}
