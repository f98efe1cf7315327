//! What was written, before any name is looked up.

use weir_model::program::{BinOp, FenceKind};

use super::lexer::Token;
use crate::weir::tree::Span;

/// A name and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Name<'t> {
    pub text: &'t str,
    pub token: Token<'t>,
}

/// A whole model.
#[derive(Debug, Default)]
pub struct Model<'t> {
    /// Members of `mtype`, in the order of the text.
    pub mtypes: Vec<Vec<Name<'t>>>,
    pub globals: Vec<Declared<'t>>,
    /// What runs and what may be run, in the order of the text.
    pub proctypes: Vec<Proctype<'t>>,
}

/// A `proctype`, or `init`.
#[derive(Debug)]
pub struct Proctype<'t> {
    pub name: Name<'t>,
    /// How many run from the start.
    pub active: Option<Expr<'t>>,
    pub parameters: Vec<Declared<'t>>,
    pub body: Vec<Stmt<'t>>,
    pub is_init: bool,
}

/// The types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Mtype,
    /// With so many bits.
    Unsigned(u32),
}

/// A variable or an array.
#[derive(Clone, Debug)]
pub struct Declared<'t> {
    pub kind: Type,
    pub name: Name<'t>,
    pub len: Option<Expr<'t>>,
    pub init: Option<Expr<'t>>,
    pub span: Span,
}

/// A statement. Its span leaves out what is inside it.
#[derive(Clone, Debug)]
pub struct Stmt<'t> {
    pub kind: StmtKind<'t>,
    pub token: Token<'t>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind<'t> {
    Declare(Vec<Declared<'t>>),
    Label(Name<'t>),
    /// A condition: blocks until it holds.
    Guard(Expr<'t>),
    Else,
    Assign(Place<'t>, Expr<'t>),
    Assert(Expr<'t>),
    /// `skip`, `printf`: one step that does nothing.
    Skip,
    Goto(Name<'t>),
    Break,
    If(Vec<Vec<Stmt<'t>>>),
    Do(Vec<Vec<Stmt<'t>>>),
    /// `select (x : low .. high)`
    Select(Place<'t>, Box<(Expr<'t>, Expr<'t>)>),
    /// `atomic` and `d_step`.
    Atomic(Vec<Stmt<'t>>),
    Block(Vec<Stmt<'t>>),
    Fence(FenceKind),
}

/// A variable, or an element of an array.
#[derive(Clone, Debug)]
pub struct Place<'t> {
    pub name: Name<'t>,
    pub index: Option<Box<Expr<'t>>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Expr<'t> {
    pub kind: ExprKind<'t>,
    pub token: Token<'t>,
    pub span: Span,
    /// How deep it nests, itself included.
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub enum ExprKind<'t> {
    Number(i128),
    Place(Place<'t>),
    Not(Box<Expr<'t>>),
    Negative(Box<Expr<'t>>),
    /// `~e`
    Complement(Box<Expr<'t>>),
    Binary(BinOp, Box<Expr<'t>>, Box<Expr<'t>>),
    /// `(a -> b : c)`
    Conditional(Box<Expr<'t>>, Box<Expr<'t>>, Box<Expr<'t>>),
    Run(Name<'t>, Vec<Expr<'t>>),
    /// The last index of an array.
    LastOf(Name<'t>),
}
