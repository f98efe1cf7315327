//! Types of the source languages, as far as memory and arithmetic depend on them.

use std::rc::Rc;

use weir_model::program::{Domain, IntType};

weir_model::dense_id!(
    /// A struct type.
    #[derive(Hash)]
    StructId(u32)
);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Nothing, or anything behind a pointer.
    Void,
    /// 0 or 1.
    Bool,
    /// An integer of a width.
    Int(IntType),
    /// A pointer.
    Pointer(Rc<Type>),
    /// A struct or a tuple.
    Struct(StructId),
    /// An array with that many elements.
    Array(Rc<Type>, u32),
    /// What is accessed by atomic operations.
    Atomic(Rc<Type>),
    /// A function or a closure, or a pointer to it.
    Function,
    /// The handle of a thread.
    Thread,
}

impl Type {
    /// `int`, as C has it.
    pub const INT: Self = Self::Int(IntType::I32);

    /// A pointer to a type.
    pub fn pointer(to: Self) -> Self {
        Self::Pointer(Rc::new(to))
    }

    /// The type without the word atomic.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Atomic(inner) => inner.plain(),
            other => other,
        }
    }

    /// Whether it is atomic.
    pub fn is_atomic(&self) -> bool {
        matches!(self, Self::Atomic(_))
    }

    /// Whether a value of it fits a register.
    pub fn is_scalar(&self) -> bool {
        !matches!(self.plain(), Self::Struct(_) | Self::Array(..) | Self::Void)
    }

    /// Whether pointers to two types lead to the same places, as `_Atomic int *` and `int *` do.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self.plain(), other.plain()) {
            (Self::Pointer(a), Self::Pointer(b)) => {
                a.is_like(b) || **a == Self::Void || **b == Self::Void
            }
            (Self::Array(a, n), Self::Array(b, m)) => n == m && a.is_like(b),
            (a, b) => a == b,
        }
    }

    /// The values that a cell or a register of this type may hold.
    pub(super) fn domain(&self) -> Option<Domain> {
        match self.plain() {
            Self::Bool => Some(Domain::Bool),
            Self::Int(int) => Some(Domain::Int(*int)),
            _ => None,
        }
    }
}

/// The struct types of a program.
#[derive(Debug, Default)]
pub struct Structs {
    list: Vec<Struct>,
}

/// A struct type.
#[derive(Debug)]
pub struct Struct {
    /// What it is called.
    pub name: String,
    /// Its fields; empty before it is complete.
    pub fields: Vec<(String, Type)>,
}

impl Structs {
    /// A new struct type, with or without its fields.
    pub fn add(&mut self, name: impl Into<String>, fields: Vec<(String, Type)>) -> StructId {
        self.list.push(Struct { name: name.into(), fields });
        StructId::new(self.list.len() - 1)
    }

    /// A struct type.
    pub fn get(&self, id: StructId) -> &Struct {
        &self.list[id.index()]
    }

    /// Gives a struct its fields.
    pub fn complete(&mut self, id: StructId, fields: Vec<(String, Type)>) {
        self.list[id.index()].fields = fields;
    }

    /// Calls `visit` for each scalar of a type: its fields, how many of it there are because of
    /// arrays around it, and its type. Recursive: types nest no deeper than the text does.
    pub fn leaves(&self, ty: &Type, visit: &mut dyn FnMut(&[usize], u64, &Type)) {
        self.leaves_of(ty, &mut Vec::new(), 1, visit);
    }

    fn leaves_of(
        &self,
        ty: &Type,
        path: &mut Vec<usize>,
        count: u64,
        visit: &mut dyn FnMut(&[usize], u64, &Type),
    ) {
        match ty.plain() {
            Type::Struct(id) => {
                for (i, (_, field)) in self.get(*id).fields.iter().enumerate() {
                    path.push(i);
                    self.leaves_of(field, path, count, visit);
                    path.pop();
                }
            }
            Type::Array(element, n) => {
                self.leaves_of(element, path, count.saturating_mul(u64::from(*n)), visit);
            }
            Type::Void => {}
            _ => visit(path, count, ty),
        }
    }

    /// How many scalars a value of a type has.
    pub fn scalars(&self, ty: &Type) -> usize {
        let mut sum = 0u64;
        self.leaves(ty, &mut |_, count, _| sum = sum.saturating_add(count));
        usize::try_from(sum).unwrap_or(usize::MAX)
    }
}
