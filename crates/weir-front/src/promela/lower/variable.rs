//! Variables: where their parts are.
//!
//! A variable of a `typedef` is one variable or array for each plain field, and so on inside it. All
//! elements of such a *leaf* stand one after the other, those of the last index closest together.

use weir_model::ids::{RegId, VarId};

use crate::promela::tree::{Place, Type};
use crate::weir::tree::Span;

/// A variable with all its parts.
#[derive(Clone, Debug)]
pub struct Variable<'t> {
    pub leaves: Vec<Leaf<'t>>,
    /// The number of its elements, if it is an array.
    pub len: Option<u32>,
    pub span: Span,
}

/// A plain variable or array.
#[derive(Clone, Debug)]
pub struct Leaf<'t> {
    /// The fields that lead to it, without the name of the variable.
    pub path: Vec<&'t str>,
    /// The number of elements of the variable and of each field; `None` for one that is no array.
    pub dims: Vec<Option<u32>>,
    pub kind: Type,
    pub storage: Storage,
}

/// Where the elements of a leaf are.
#[derive(Clone, Debug)]
pub enum Storage {
    /// From this variable on; the declaration is that number in `Program::vars`.
    Global(VarId, usize),
    Registers(Vec<RegId>),
    /// They never change.
    Constants(Vec<i128>),
}

impl<'t> Variable<'t> {
    /// The leaf that a place means, or `None` if it has no such field.
    pub fn leaf(&self, place: &Place<'t>) -> Option<&Leaf<'t>> {
        let path = place.path();
        self.leaves.iter().find(|leaf| leaf.path[..] == path[1..])
    }

    /// Whether it is a plain variable or array.
    pub fn is_plain(&self) -> bool {
        self.leaves.len() == 1 && self.leaves[0].path.is_empty()
    }
}

impl Leaf<'_> {
    /// The number of its elements.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|d| d.unwrap_or(1) as usize).product()
    }
}
