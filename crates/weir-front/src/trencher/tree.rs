//! What a Trencher file says.

use std::ops::Range;

use weir_model::program::Expr;

/// A word and where it stands.
#[derive(Clone, Debug)]
pub struct Word<'t> {
    pub text: &'t str,
    pub range: Range<usize>,
}

/// An expression over names: registers or addresses.
pub type Value<'t> = Expr<Word<'t>>;

/// A file.
#[derive(Debug)]
pub struct File<'t> {
    /// How many addresses there are that are numbers.
    pub memory_size: usize,
    pub threads: Vec<Thread<'t>>,
}

#[derive(Debug)]
pub struct Thread<'t> {
    pub name: Word<'t>,
    pub initial: Word<'t>,
    pub end: Option<Word<'t>>,
    pub transitions: Vec<Transition<'t>>,
}

#[derive(Debug)]
pub struct Transition<'t> {
    pub from: Word<'t>,
    pub to: Word<'t>,
    pub instruction: Instruction<'t>,
    /// Where it stands.
    pub range: Range<usize>,
}

#[derive(Debug)]
pub enum Instruction<'t> {
    /// The value, then the address.
    Write(Value<'t>, Value<'t>),
    Read(Word<'t>, Value<'t>),
    Fence,
    Local(Word<'t>, Value<'t>),
    Check(Value<'t>),
    Nop,
    Lock,
    Unlock,
}
