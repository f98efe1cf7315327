//! Declarations: types, and variables with their first values.

use std::rc::Rc;

use lang_c::ast::{
    ArraySize, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator,
    Designator, EnumType, Expression, Initializer, InitializerListItem, PointerQualifier,
    SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructKind, StructType, TypeName,
    TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span};
use weir_model::program::IntType;

use super::{Name, Reader, ThreadLocal};
use crate::errors::quote;
use crate::lowering::types::{StructId, Type};
use crate::lowering::value::{Data, Value};
use crate::lowering::{Lvalue, Order};

/// The largest array that is read.
const MAX_ELEMENTS: i128 = crate::MAX_ARRAY;

/// Part of a type: a specifier or a qualifier.
pub enum Part<'u> {
    Specifier(&'u TypeSpecifier, Span),
    Qualifier(&'u TypeQualifier),
}

/// The part of a type that a specifier of a declaration is.
pub fn specifier(node: &Node<DeclarationSpecifier>) -> Option<Part<'_>> {
    match &node.node {
        DeclarationSpecifier::TypeSpecifier(t) => Some(Part::Specifier(&t.node, t.span)),
        DeclarationSpecifier::TypeQualifier(q) => Some(Part::Qualifier(&q.node)),
        _ => None,
    }
}

fn qualifier(node: &Node<SpecifierQualifier>) -> Option<Part<'_>> {
    match &node.node {
        SpecifierQualifier::TypeSpecifier(t) => Some(Part::Specifier(&t.node, t.span)),
        SpecifierQualifier::TypeQualifier(q) => Some(Part::Qualifier(&q.node)),
        SpecifierQualifier::Extension(_) => None,
    }
}

/// The name that a declarator declares.
pub fn name_of(declarator: &Declarator) -> Option<&str> {
    match &declarator.kind.node {
        DeclaratorKind::Identifier(name) => Some(&name.node.name),
        DeclaratorKind::Declarator(inner) => name_of(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}

impl<'u> Reader<'u, '_> {
    /// The type that specifiers and qualifiers name.
    pub(super) fn base_type(&mut self, parts: impl Iterator<Item = Part<'u>>) -> Type {
        let (mut is_atomic, mut is_unsigned) = (false, false);
        let (mut longs, mut is_short, mut is_char) = (0, false, false);
        let mut found = None;
        for part in parts {
            let (specifier, span) = match part {
                Part::Qualifier(qualifier) => {
                    is_atomic |= *qualifier == TypeQualifier::Atomic;
                    continue;
                }
                Part::Specifier(specifier, span) => (specifier, span),
            };
            match specifier {
                TypeSpecifier::Void => found = Some(Type::Void),
                TypeSpecifier::Bool => found = Some(Type::Bool),
                TypeSpecifier::Char => is_char = true,
                TypeSpecifier::Short => is_short = true,
                TypeSpecifier::Int | TypeSpecifier::Signed => {}
                TypeSpecifier::Long => longs += 1,
                TypeSpecifier::Unsigned => is_unsigned = true,
                TypeSpecifier::Atomic(inner) => {
                    is_atomic = true;
                    found = Some(self.type_name(&inner.node));
                }
                TypeSpecifier::Struct(structure) => {
                    found = Some(self.struct_type(&structure.node, structure.span));
                }
                TypeSpecifier::Enum(list) => {
                    self.enum_type(&list.node);
                    found = Some(Type::INT);
                }
                TypeSpecifier::TypedefName(name) => {
                    found = Some(match &*name.node.name {
                        "pthread_t" | "thrd_t" => Type::Thread,
                        other => match self.lookup(other) {
                            Some(Name::Type(ty)) => ty.clone(),
                            _ => {
                                let message = format!("there is no type {}", quote(other));
                                self.error(span, message);
                                Type::INT
                            }
                        },
                    });
                }
                TypeSpecifier::TypeOf(of) => {
                    found = Some(match &of.node {
                        TypeOf::Expression(e) => self.type_of(e),
                        TypeOf::Type(name) => self.type_name(&name.node),
                    });
                }
                TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_) => {
                    self.not_read(span, "a floating-point number", "use an integer");
                    found = Some(Type::INT);
                }
                TypeSpecifier::Complex => {
                    self.not_read(span, "a complex number", "");
                    found = Some(Type::INT);
                }
            }
        }
        let ty = found.unwrap_or(Type::Int(match (is_char, is_short, longs, is_unsigned) {
            (true, _, _, false) => IntType::I8,
            (true, _, _, true) => IntType::U8,
            (_, true, _, false) => IntType::I16,
            (_, true, _, true) => IntType::U16,
            (_, _, 0, false) => IntType::I32,
            (_, _, 0, true) => IntType::U32,
            (.., false) => IntType::I64,
            (.., true) => IntType::U64,
        }));
        if is_atomic && !ty.is_atomic() { Type::Atomic(Rc::new(ty)) } else { ty }
    }

    /// The type of a cast or of `sizeof`.
    pub(super) fn type_name(&mut self, name: &'u TypeName) -> Type {
        let base = self.base_type(name.specifiers.iter().filter_map(qualifier));
        match &name.declarator {
            Some(declarator) => self.declared(base, &declarator.node),
            None => base,
        }
    }

    /// The type that a declarator makes of a type.
    pub(super) fn declared(&mut self, base: Type, declarator: &'u Declarator) -> Type {
        let mut ty = base;
        let is_pointer = |d: &&Node<DerivedDeclarator>| {
            matches!(d.node, DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_))
        };
        for derived in declarator.derived.iter().filter(is_pointer) {
            let DerivedDeclarator::Pointer(qualifiers) = &derived.node else { continue };
            ty = match ty {
                Type::Function => Type::Function,
                ty => Type::pointer(ty),
            };
            let is_atomic = qualifiers.iter().any(|q| {
                matches!(&q.node, PointerQualifier::TypeQualifier(t) if t.node == TypeQualifier::Atomic)
            });
            if is_atomic {
                ty = Type::Atomic(Rc::new(ty));
            }
        }
        for derived in declarator.derived.iter().rev().filter(|d| !is_pointer(d)) {
            ty = match &derived.node {
                DerivedDeclarator::Array(array) => {
                    let len = match &array.node.size {
                        ArraySize::VariableExpression(e) | ArraySize::StaticExpression(e) => {
                            self.length(e)
                        }
                        // The first value tells.
                        ArraySize::Unknown | ArraySize::VariableUnknown => 0,
                    };
                    Type::Array(Rc::new(ty), len)
                }
                _ => Type::Function,
            };
        }
        match &declarator.kind.node {
            DeclaratorKind::Declarator(inner) => self.declared(ty, &inner.node),
            _ => ty,
        }
    }

    fn length(&mut self, e: &'u Node<Expression>) -> u32 {
        let value = self.value(e);
        match value.known() {
            Some(n) if (0..=MAX_ELEMENTS).contains(&n) => n as u32,
            Some(n) => {
                let message = format!("an array has {n} elements; at most {MAX_ELEMENTS} are read");
                self.error(e.span, message);
                1
            }
            None => {
                self.not_read(e.span, "an array whose length is not a constant", "");
                1
            }
        }
    }

    fn struct_type(&mut self, structure: &'u StructType, span: Span) -> Type {
        let tag = structure.identifier.as_ref().map(|name| &*name.node.name);
        let key = match tag {
            Some(tag) => crate::lowering::hash(&("tag", tag)),
            None => crate::lowering::hash(&("anonymous", span.start)),
        };
        let id = match tag.and_then(|tag| self.tags.get(tag)) {
            Some(id) => *id,
            None => {
                let id = self.b.learned.struct_at(key, tag.unwrap_or("struct"));
                if let Some(tag) = tag {
                    self.tags.insert(tag.to_owned(), id);
                }
                id
            }
        };
        let Some(declarations) = &structure.declarations else { return Type::Struct(id) };
        if !self.complete.insert(id) {
            return Type::Struct(id);
        }
        let mut fields = Vec::new();
        for declaration in declarations {
            let StructDeclaration::Field(field) = &declaration.node else { continue };
            let base = self.base_type(field.node.specifiers.iter().filter_map(qualifier));
            if field.node.declarators.is_empty() {
                // An anonymous struct.
                fields.push((String::new(), base.clone()));
            }
            for declarator in &field.node.declarators {
                if declarator.node.bit_width.is_some() {
                    self.not_read(declarator.span, "a bit-field", "use an ordinary field");
                }
                let Some(declarator) = &declarator.node.declarator else { continue };
                let ty = self.declared(base.clone(), &declarator.node);
                let name = name_of(&declarator.node).unwrap_or("").to_owned();
                if self.contains(&ty, id) {
                    self.error(declarator.span, "a struct cannot contain itself");
                    continue;
                }
                if matches!(ty, Type::Array(_, 0)) {
                    let what = "an array without a length in a struct";
                    self.not_read(declarator.span, what, "give it a length");
                }
                fields.push((name, ty));
            }
        }
        if structure.kind.node == StructKind::Union && fields.len() > 1 {
            self.not_read(span, "a union", "use a struct, or one of its members alone");
        }
        self.b.learned.structs.complete(id, fields);
        Type::Struct(id)
    }

    /// Whether a type contains a struct that is not complete yet.
    fn contains(&self, ty: &Type, id: StructId) -> bool {
        match ty.plain() {
            Type::Struct(other) => *other == id || !self.complete.contains(other),
            Type::Array(element, _) => self.contains(element, id),
            _ => false,
        }
    }

    fn enum_type(&mut self, list: &'u EnumType) {
        let mut next = 0;
        for enumerator in &list.enumerators {
            if let Some(e) = &enumerator.node.expression {
                match self.value(e).known() {
                    Some(value) => next = value,
                    None => self.error(e.span, "this is not a constant"),
                }
            }
            self.define(&enumerator.node.identifier.node.name, Name::Constant(next));
            next += 1;
        }
    }

    /// A declaration in a function or outside of all.
    pub(super) fn declaration(
        &mut self,
        declaration: &'u Declaration,
        span: Span,
        is_global: bool,
    ) {
        self.at(span);
        let base = self.base_type(declaration.specifiers.iter().filter_map(specifier));
        let has = |class: StorageClassSpecifier| {
            declaration.specifiers.iter().any(
                |s| matches!(&s.node, DeclarationSpecifier::StorageClass(c) if c.node == class),
            )
        };
        let is_typedef = has(StorageClassSpecifier::Typedef);
        let is_static = has(StorageClassSpecifier::Static);
        let is_extern = has(StorageClassSpecifier::Extern);
        let is_of_thread = has(StorageClassSpecifier::ThreadLocal);
        for declarator in &declaration.declarators {
            let Some(name) = name_of(&declarator.node.declarator.node) else { continue };
            let span = declarator.span;
            let ty = self.declared(base.clone(), &declarator.node.declarator.node);
            if is_typedef {
                self.define(name, Name::Type(ty));
                continue;
            }
            let is_prototype = declarator.node.declarator.node.derived.iter().any(|d| {
                matches!(d.node, DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
            }) && !matches!(
                declarator.node.declarator.node.kind.node,
                DeclaratorKind::Declarator(_)
            );
            if is_prototype {
                continue;
            }
            self.at(span);
            let init = declarator.node.initializer.as_ref();
            let ty = match (&ty, init.map(|i| &i.node)) {
                (Type::Array(element, 0), Some(Initializer::List(list))) => {
                    Type::Array(element.clone(), list.len() as u32)
                }
                _ => ty,
            };
            if ty == Type::Void {
                self.error(span, format!("{} has no type", quote(name)));
                continue;
            }
            if is_of_thread && !is_global {
                self.not_read(span, "a thread-local variable of a function", "declare it outside");
            } else if is_of_thread {
                let init = init.map(|init| self.initial(&init.node, &ty));
                let number = self.thread_locals.len();
                self.thread_locals.push(ThreadLocal { name: name.to_owned(), ty, init });
                self.define(name, Name::ThreadLocal(number));
            } else if is_global || is_static || is_extern {
                // Declared more than once it is still one variable.
                if let (true, Some(Name::Variable(place)), None) =
                    (is_global, self.globals.get(name), init)
                    && (place.ty().is_like(&ty) || is_extern)
                {
                    continue;
                }
                let key = match is_static && !is_global {
                    true => crate::lowering::hash(&("static", span.start)),
                    false => crate::lowering::hash(&("global", name)),
                };
                let object = self.b.object(key, name, &ty);
                let place = self.b.whole(object);
                self.define(name, Name::Variable(Lvalue::place(place.clone())));
                if let Some(init) = init
                    && self.statics.insert(key)
                {
                    let value = self.initial(&init.node, &ty);
                    self.at(span);
                    if !is_constant(&value) {
                        self.error(
                            span,
                            "the first value of a global variable has to be a constant",
                        );
                    }
                    self.b.initialize(&place, &value);
                }
            } else {
                let key = self.b.key(("local", span.start));
                let place = self.b.local(name, &ty, key);
                match init {
                    Some(init) => {
                        self.define(name, Name::Variable(place.clone()));
                        let value = self.initial(&init.node, &ty);
                        self.at(span);
                        self.b.store(&place, &value, Order::Plain);
                    }
                    None => {
                        self.define(name, Name::Variable(place.clone()));
                        // In another round of a loop it begins anew.
                        if matches!(place, Lvalue::Locals(..)) {
                            let zero = self.zero(&ty);
                            self.b.store(&place, &zero, Order::Plain);
                        }
                    }
                }
            }
        }
    }

    /// The value that an initializer gives.
    pub(super) fn initial(&mut self, init: &'u Initializer, ty: &Type) -> Value {
        match init {
            Initializer::Expression(e) => {
                if let (Expression::StringLiteral(_), Type::Array(..)) = (&e.node, ty.plain()) {
                    self.not_read(
                        e.span,
                        "an array that begins with a string",
                        "list its characters",
                    );
                }
                let value = self.value_for(e, ty);
                self.at(e.span);
                match ty.plain() {
                    Type::Array(..) | Type::Struct(_) => value,
                    _ => self.convert(value, ty),
                }
            }
            Initializer::List(items) => self.list(items, ty),
        }
    }

    pub(super) fn list(&mut self, items: &'u [Node<InitializerListItem>], ty: &Type) -> Value {
        let mut value = self.zero(ty);
        let Data::Fields(fields) = &mut value.data else {
            // `int x = {0}`
            return match items.first() {
                Some(item) => self.initial(&item.node.initializer.node, ty),
                None => value,
            };
        };
        let mut fields = std::mem::take(fields);
        let mut next = 0;
        for item in items {
            let mut last = next;
            for designator in &item.node.designation {
                match &designator.node {
                    Designator::Index(e) => {
                        next = self
                            .value(e)
                            .known()
                            .and_then(|i| usize::try_from(i).ok())
                            .unwrap_or(0);
                        last = next;
                    }
                    Designator::Range(range) => {
                        let mut end =
                            |e| self.value(e).known().and_then(|i| usize::try_from(i).ok());
                        next = end(&range.node.from).unwrap_or(0);
                        last = end(&range.node.to).unwrap_or(next);
                    }
                    Designator::Member(name) => {
                        let found = match ty.plain() {
                            Type::Struct(id) => {
                                let fields = &self.b.learned.structs.get(*id).fields;
                                fields.iter().position(|(field, _)| *field == name.node.name)
                            }
                            _ => None,
                        };
                        match found {
                            Some(field) => (next, last) = (field, field),
                            None => {
                                let message =
                                    format!("there is no field {}", quote(&name.node.name));
                                self.error(name.span, message);
                            }
                        }
                    }
                }
            }
            last = last.max(next);
            if last >= fields.len() {
                self.error(item.span, "there are more values than elements");
                break;
            }
            let of = fields[next].ty.clone();
            let given = self.initial(&item.node.initializer.node, &of);
            for field in &mut fields[next..=last] {
                *field = given.clone();
            }
            next = last + 1;
        }
        Value { data: Data::Fields(fields), ty: ty.plain().clone() }
    }

    /// Zeros.
    pub(super) fn zero(&mut self, ty: &Type) -> Value {
        match ty.plain() {
            Type::Struct(id) => {
                let types: Vec<Type> =
                    self.b.learned.structs.get(*id).fields.iter().map(|f| f.1.clone()).collect();
                let fields = types.iter().map(|ty| self.zero(ty)).collect();
                Value { data: Data::Fields(fields), ty: ty.plain().clone() }
            }
            Type::Array(element, len) => {
                let zero = self.zero(element);
                let fields = vec![zero; *len as usize];
                Value { data: Data::Fields(fields), ty: ty.plain().clone() }
            }
            plain => Value::number(0, plain.clone()),
        }
    }
}

fn is_constant(value: &Value) -> bool {
    match &value.data {
        Data::Code(_) => value.known().is_some(),
        Data::Fields(fields) => fields.iter().all(is_constant),
        Data::Place(place) => matches!(place.linear, weir_model::program::Expr::Const(_)),
        _ => true,
    }
}
