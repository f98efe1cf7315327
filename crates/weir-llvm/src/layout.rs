//! Sizes, alignments and offsets.
//!
//! The layout of 64-bit targets as clang and rustc have them: pointers have 8 bytes, numbers are
//! aligned to their size up to 8 bytes, and `i128` to 16 bytes unless the data layout says nothing of it.

use crate::{Module, Type, TypeId};

/// How deep types may nest.
const MAX_DEPTH: usize = 64;

/// The layout of the types of a module.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'m> {
    module: &'m Module,
    wide: u64,
}

impl<'m> Layout<'m> {
    /// The layout of a module.
    pub fn new(module: &'m Module) -> Self {
        let wide = if module.layout.contains("i128:128") { 16 } else { 8 };
        Self { module, wide }
    }

    /// Size in bytes with padding, and alignment; `None` for what is not in memory.
    pub fn size(&self, ty: TypeId) -> Option<(u64, u64)> {
        self.size_at(ty, 0)
    }

    fn size_at(&self, ty: TypeId, depth: usize) -> Option<(u64, u64)> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match self.module.ty(ty) {
            Type::Int(bits) => {
                let bytes = u64::from(*bits).div_ceil(8);
                let align = bytes.next_power_of_two();
                let align = if align > 8 { self.wide } else { align };
                (bytes.next_multiple_of(align), align)
            }
            Type::Ptr => (8, 8),
            Type::Float(name) => match *name {
                "half" | "bfloat" => (2, 2),
                "float" => (4, 4),
                "double" => (8, 8),
                _ => (16, 16),
            },
            Type::Array(count, element) => {
                let (size, align) = self.size_at(*element, depth + 1)?;
                (size.checked_mul(*count)?, align)
            }
            Type::Vector(count, element) => {
                let (size, _) = self.size_at(*element, depth + 1)?;
                let size = size.checked_mul(*count)?.checked_next_power_of_two()?;
                (size, size)
            }
            Type::Struct { .. } => {
                let (_, size, align) = self.fields_at(ty, depth)?;
                (size, align)
            }
            Type::Named(_) => return self.size_at(*self.module.named.get(&ty)?, depth + 1),
            Type::Void | Type::Function(..) | Type::Other(_) => return None,
        })
    }

    /// The offsets of the fields of a struct.
    pub fn offsets(&self, ty: TypeId) -> Option<Vec<u64>> {
        self.fields_at(self.plain(ty), 0).map(|(offsets, ..)| offsets)
    }

    /// What a named struct stands for.
    pub fn plain(&self, ty: TypeId) -> TypeId {
        let mut ty = ty;
        for _ in 0..MAX_DEPTH {
            match self.module.named.get(&ty) {
                Some(&inner) => ty = inner,
                None => break,
            }
        }
        ty
    }

    fn fields_at(&self, ty: TypeId, depth: usize) -> Option<(Vec<u64>, u64, u64)> {
        let Type::Struct { fields, is_packed } = self.module.ty(ty) else { return None };
        let (mut offsets, mut end, mut most) = (Vec::with_capacity(fields.len()), 0_u64, 1);
        for field in fields {
            let (size, align) = self.size_at(*field, depth + 1)?;
            let align = if *is_packed { 1 } else { align };
            end = end.checked_next_multiple_of(align)?;
            offsets.push(end);
            end = end.checked_add(size)?;
            most = most.max(align);
        }
        Some((offsets, end.checked_next_multiple_of(most)?, most))
    }

    /// The part of a type at an index that is known: its type and its offset.
    pub fn part(&self, ty: TypeId, index: u64) -> Option<(TypeId, u64)> {
        let ty = self.plain(ty);
        match self.module.ty(ty) {
            Type::Array(_, element) | Type::Vector(_, element) => {
                Some((*element, self.size(*element)?.0.checked_mul(index)?))
            }
            Type::Struct { fields, .. } => {
                let index = usize::try_from(index).ok()?;
                Some((*fields.get(index)?, *self.offsets(ty)?.get(index)?))
            }
            _ => None,
        }
    }

    /// The scalars of a type with their offsets, in order; `None` if there are more than `most`, or
    /// if the type is not in memory.
    pub fn scalars(&self, ty: TypeId, most: usize) -> Option<Vec<(u64, TypeId)>> {
        let mut found = Vec::new();
        self.collect(ty, 0, 0, most, &mut found)?;
        Some(found)
    }

    fn collect(
        &self,
        ty: TypeId,
        at: u64,
        depth: usize,
        most: usize,
        found: &mut Vec<(u64, TypeId)>,
    ) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let ty = self.plain(ty);
        match self.module.ty(ty) {
            Type::Array(count, element) | Type::Vector(count, element) => {
                let (size, _) = self.size(*element)?;
                if *count > most as u64 {
                    return None;
                }
                for i in 0..*count {
                    self.collect(*element, at + i * size, depth + 1, most, found)?;
                }
            }
            Type::Struct { fields, .. } => {
                let offsets = self.offsets(ty)?;
                for (field, offset) in fields.iter().zip(offsets) {
                    self.collect(*field, at + offset, depth + 1, most, found)?;
                }
            }
            Type::Void | Type::Function(..) | Type::Other(_) | Type::Named(_) => return None,
            Type::Int(_) | Type::Ptr | Type::Float(_) => found.push((at, ty)),
        }
        (found.len() <= most).then_some(())
    }
}
