//! What was written, with nothing looked up yet. Places are the numbers of tokens.

use weir_model::program::Expr;

/// The number of a token.
pub type At = usize;

/// An expression; its atoms are tokens that name registers.
pub type Value = Expr<At>;

/// A file.
#[derive(Debug, Default)]
pub struct File {
    /// Each entry is a label or `*`.
    pub forbidden: Vec<Vec<At>>,
    pub data: Vec<Decl>,
    pub processes: Vec<Process>,
    /// Whether there are accesses of the model VIPS.
    pub has_sync: bool,
}

/// `x = 0 : [0:1]`
#[derive(Debug)]
pub struct Decl {
    pub name: At,
    /// `None` is `*`.
    pub init: Option<i128>,
    /// `None` is `Z`.
    pub domain: Option<(i128, i128)>,
}

/// A process, or several that are the same.
#[derive(Debug)]
pub struct Process {
    pub copies: usize,
    pub data: Vec<Decl>,
    pub registers: Vec<Decl>,
    pub text: Vec<Labeled>,
}

/// A statement, perhaps with a label before it.
#[derive(Debug)]
pub struct Labeled {
    pub label: Option<At>,
    pub stmt: Stmt,
    /// Its first token, and the one after its last.
    pub from: At,
    pub to: At,
}

#[derive(Debug)]
pub enum Stmt {
    Nop,
    Assign(At, Value),
    Assume(Value),
    /// `read: x = e`
    Await(Loc, Value),
    /// `read: $r := x`
    Read(At, Loc),
    Write(Write, Loc, Value),
    Cas(Loc, Value, Value),
    Fence(weir_model::program::FenceKind),
    If(Value, Box<Labeled>, Option<Box<Labeled>>),
    While(Value, Box<Labeled>),
    Goto(At),
    Either(Vec<Vec<Labeled>>),
    Locked(Vec<Vec<Labeled>>),
    Block(Vec<Labeled>),
}

/// How a write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Plain,
    Locked,
    StoreLocked,
}

/// A place in memory.
#[derive(Debug)]
pub enum Loc {
    /// `x`
    Global(At),
    /// `x[my]`
    Mine(At),
    /// `x[1]`
    Other(At, usize),
    /// `[e]`, and where that stands.
    Pointer(Value, At),
}
