//! What a declared name consists of: one cell, an array, a record, or an array of records.
//!
//! A *cell* is a shared variable or a register. The cells of a field are next to each other, in
//! the order of the indices, the last one fastest: those of `f` in `nodes[2]: Node` are
//! `nodes[0].f`, `nodes[1].f`. So an element that is known only when the code runs is a number
//! among cells that are next to each other.

use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Code, Expr};

use super::Context;
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::fold;
use crate::weir::tree::{self, Name, Selector, Span};

/// A number of a cell.
pub trait Cell: Copy {
    /// The cell that is so many further.
    fn plus(self, cells: usize) -> Self;
}

impl Cell for VarId {
    fn plus(self, cells: usize) -> Self {
        Self::new(self.index() + cells)
    }
}

impl Cell for RegId {
    fn plus(self, cells: usize) -> Self {
        Self::new(self.index() + cells)
    }
}

/// What a name consists of.
#[derive(Clone, Debug)]
pub struct Layout<'t, C> {
    /// How many elements it has, in each dimension; none if it is no array.
    pub dims: Vec<u32>,
    /// The fields of a record, or the one part of anything else, which has no name.
    pub parts: Vec<Part<'t, C>>,
}

/// A field of a record, or all of something else.
#[derive(Clone, Debug)]
pub struct Part<'t, C> {
    pub field: Option<&'t str>,
    /// The dimensions of the field.
    pub dims: Vec<u32>,
    pub first: C,
}

/// Some cells, and the indices that choose one of them.
pub struct Selected<'e, 't, C> {
    pub first: C,
    pub dims: Vec<u32>,
    pub indices: Vec<&'e tree::Expr<'t>>,
    name: Name<'t>,
}

/// One cell, or one of several.
pub enum Where<C> {
    One(C),
    Several { first: C, len: u32, index: Code },
}

impl<'t, C: Cell> Layout<'t, C> {
    /// One cell.
    pub fn one(cell: C) -> Self {
        Self::array(cell, Vec::new())
    }

    /// An array without fields.
    pub fn array(first: C, dims: Vec<u32>) -> Self {
        Self { dims, parts: vec![Part { field: None, dims: Vec::new(), first }] }
    }

    pub fn is_record(&self) -> bool {
        self.parts.iter().any(|part| part.field.is_some())
    }

    /// What it is, for messages that say what it is not.
    pub fn kind(&self, one: &'static str) -> &'static str {
        match (self.dims.is_empty(), self.is_record()) {
            (true, true) => "a record",
            (true, false) => one,
            (false, _) => "an array",
        }
    }

    /// The cells that a place chooses from. `None` after an error.
    pub fn select<'e>(
        &self,
        cx: &mut Context<'t>,
        name: Name<'t>,
        selectors: &'e [Selector<'t>],
        span: Span,
        declared: Option<Span>,
    ) -> Option<Selected<'e, 't, C>> {
        let quoted = quote(name.text);
        let short: String = name.text.chars().take(40).collect();
        let indices = |list: &'e [Selector<'t>]| -> (Vec<&'e tree::Expr<'t>>, &'e [Selector<'t>]) {
            let count = list.iter().take_while(|s| matches!(s, Selector::Index(_))).count();
            let (indices, rest) = list.split_at(count);
            let index = |s: &'e Selector<'t>| match s {
                Selector::Index(e) => Some(e),
                Selector::Field(_) => None,
            };
            (indices.iter().filter_map(index).collect(), rest)
        };
        let (mut chosen, rest) = indices(selectors);
        let (part, after) = match (rest, &self.parts[..]) {
            ([], [part]) if part.field.is_none() => (Some(part), Vec::new()),
            ([Selector::Field(field), rest @ ..], parts) if self.is_record() => {
                let Some(part) = parts.iter().find(|p| p.field == Some(field.text)) else {
                    let message = format!("{quoted} has no field {}", quote(field.text));
                    let error = Diagnostic::new(message, field.span.range());
                    let names = parts.iter().filter_map(|p| p.field);
                    cx.error(did_you_mean(error, field.text, names));
                    return None;
                };
                let (after, rest) = indices(rest);
                if let [Selector::Field(field), ..] = rest {
                    let message = format!("{} is not a record", quote(part.field.unwrap_or("")));
                    cx.error_at(message, field.span);
                    return None;
                }
                (Some(part), after)
            }
            ([Selector::Field(field), ..], _) => {
                cx.error_at(format!("{quoted} is not a record"), field.span);
                return None;
            }
            _ => (None, Vec::new()),
        };
        let wrong = match part {
            _ if chosen.len() > self.dims.len() && self.dims.is_empty() => {
                format!("{quoted} is not an array")
            }
            _ if chosen.len() < self.dims.len() => {
                let example: String = "[0]".repeat(self.dims.len());
                format!("{quoted} is an array; say which element, as in `{short}{example}`")
            }
            _ if chosen.len() > self.dims.len() => {
                let count = self.dims.len();
                let indices =
                    if count == 1 { "1 index".to_owned() } else { format!("{count} indices") };
                format!("{quoted} takes {indices}, not {}", chosen.len())
            }
            None => {
                let field = self.parts.iter().find_map(|p| p.field).unwrap_or("field");
                let field: String = field.chars().take(40).collect();
                let index = "[0]".repeat(self.dims.len());
                format!("{quoted} is a record; name a field, as in `{short}{index}.{field}`")
            }
            Some(part) if after.len() != part.dims.len() => {
                let field = quote(part.field.unwrap_or(name.text));
                match (after.len(), part.dims.len()) {
                    (_, 0) => format!("{field} is not an array"),
                    (0, _) => format!("{field} is an array; say which element"),
                    (given, wanted) => format!("{field} takes {wanted} indices, not {given}"),
                }
            }
            Some(part) => {
                chosen.extend(after);
                let dims = self.dims.iter().chain(&part.dims).copied().collect();
                return Some(Selected { first: part.first, dims, indices: chosen, name });
            }
        };
        let error = Diagnostic::new(wrong, span.range());
        let note = declared.map(|span| (span.range(), "it is declared here"));
        cx.error(note.into_iter().fold(error, |e, (at, text)| e.note(at, text)));
        None
    }
}

impl<'t, C: Cell> Selected<'_, 't, C> {
    /// The cell, given the value of each index. `None` after an error.
    ///
    /// An index that is constant is checked here, unless the code cannot run, and the others where
    /// the code runs: the first by the range of the cells, the others on their own.
    pub fn locate(self, cx: &mut Context<'t>, values: Vec<Code>) -> Option<Where<C>> {
        let mut first = self.first;
        let mut len: u32 = self.dims.iter().product();
        let mut index: Option<Code> = None;
        let mut wrong = false;
        for (i, (value, &size)) in values.into_iter().zip(&self.dims).enumerate() {
            let stride: u32 = self.dims[i + 1..].iter().product();
            if let Expr::Const(value) = value {
                if let Some(element) = u32::try_from(value).ok().filter(|v| *v < size) {
                    match &mut index {
                        // The cells before it are left out.
                        None => {
                            first = first.plus((element * stride) as usize);
                            len = stride;
                        }
                        Some(index) => {
                            let offset = Expr::Const(i128::from(element * stride));
                            *index = sum(index.clone(), offset);
                        }
                    }
                    continue;
                }
                if cx.dead == 0 {
                    let array = self.name.text;
                    cx.outside(array, size, value, self.indices[i].span);
                    wrong = true;
                    continue;
                }
            }
            let value = match index {
                None => value,
                Some(_) => binary(BinOp::Index, value, Expr::Const(i128::from(size))),
            };
            let part = match stride {
                1 => value,
                _ => binary(BinOp::Mul, value, Expr::Const(i128::from(stride))),
            };
            index = Some(match index {
                None => part,
                Some(index) => sum(index, part),
            });
        }
        match index {
            _ if wrong => None,
            None => Some(Where::One(first)),
            Some(index) => Some(Where::Several { first, len, index }),
        }
    }
}

fn sum(a: Code, b: Code) -> Code {
    if b == Expr::Const(0) { a } else { binary(BinOp::Add, a, b) }
}

fn binary(op: BinOp, a: Code, b: Code) -> Code {
    fold::binary(op, a, b).unwrap_or_else(|(_, unfolded)| unfolded)
}
