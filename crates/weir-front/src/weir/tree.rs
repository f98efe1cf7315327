//! What was written, before any name is looked up.

use std::ops::Range;

use weir_model::program::{AtomicKind, BinOp, FenceKind, IntType, Objective, Quantifier, UnOp};

/// A range of bytes of the text, small enough to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// From byte `start` up to byte `end`; texts are far shorter than 4 GB.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// From the start of this one to the end of `last`.
    pub fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end.max(self.start) }
    }

    /// As a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A name and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Name<'t> {
    pub text: &'t str,
    pub span: Span,
}

/// A declaration or a property.
#[derive(Debug)]
pub enum Item<'t> {
    Const(Name<'t>, Expr<'t>),
    Enum(Name<'t>, Vec<Name<'t>>),
    Var(Declared<'t>),
    Process(Process<'t>),
    Object(Object<'t>),
    Property(Option<Name<'t>>, Question<'t>, Span),
    Filter(Expr<'t>, Span),
    Observe(Vec<Expr<'t>>, Span),
}

/// A variable, an array or a register.
#[derive(Debug)]
pub struct Declared<'t> {
    pub name: Name<'t>,
    pub len: Option<Expr<'t>>,
    pub domain: Option<Domain<'t>>,
    pub init: Option<Init<'t>>,
    /// All of the declaration but the keyword.
    pub span: Span,
}

/// A set of values.
#[derive(Debug)]
pub enum Domain<'t> {
    Range(Box<Expr<'t>>, Box<Expr<'t>>),
    Bool,
    Enum(Name<'t>),
    Int(IntType),
}

/// What a variable holds at first.
#[derive(Debug)]
pub enum Init<'t> {
    /// `any`: every value of the domain is possible.
    Any(Span),
    Value(Expr<'t>),
    /// `[…]`: one entry for each element of an array.
    List(Vec<Init<'t>>, Span),
}

/// A process, one member of a family, or a whole family.
#[derive(Debug)]
pub struct Process<'t> {
    pub name: Name<'t>,
    pub family: Family<'t>,
    pub body: Block<'t>,
    /// All of it, from its keyword on.
    pub span: Span,
}

/// A concurrent object.
#[derive(Debug)]
pub struct Object<'t> {
    pub name: Name<'t>,
    pub vars: Vec<Declared<'t>>,
    pub methods: Vec<Method<'t>>,
    /// All of it, from its keyword on.
    pub span: Span,
}

/// A method of an object.
#[derive(Debug)]
pub struct Method<'t> {
    pub name: Name<'t>,
    /// It has a domain and no initial value.
    pub argument: Option<Declared<'t>>,
    pub body: Block<'t>,
    /// All of it, from its keyword on.
    pub span: Span,
}

/// What stands between a process's name and its body.
#[derive(Debug)]
pub enum Family<'t> {
    None,
    /// `[2]`: the members 0 and 1
    Count(Expr<'t>),
    /// `[= 2]`: the member 2
    Member(Expr<'t>),
    /// `[i: 0..2]`
    All(Name<'t>, Expr<'t>, Expr<'t>),
}

/// What a property asks.
#[derive(Debug)]
pub enum Question<'t> {
    Never(Expr<'t>),
    /// Except where a process stands at one of these places.
    NoDeadlock(Vec<Expr<'t>>),
    Final(Quantifier, Expr<'t>),
    Assertions,
    Live(Quantifier, Expr<'t>),
    Terminates,
    Game(Objective, Expr<'t>),
}

pub type Block<'t> = Vec<Stmt<'t>>;

/// A statement; its span leaves its blocks out.
#[derive(Debug)]
pub struct Stmt<'t> {
    pub kind: StmtKind<'t>,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind<'t> {
    Label(Name<'t>),
    Registers(Vec<Declared<'t>>),
    Assign(Place<'t>, Expr<'t>),
    /// An atomic operation whose result is dropped.
    Atomic(Expr<'t>),
    Goto(Name<'t>),
    Fence(FenceKind),
    Nop,
    Break,
    Continue,
    Exit,
    If(Expr<'t>, Block<'t>, Block<'t>),
    While(Expr<'t>, Block<'t>),
    Loop(Block<'t>),
    Choose(Vec<Block<'t>>),
    Assume(Expr<'t>),
    Assert(Expr<'t>),
    Await(Block<'t>, Expr<'t>),
    /// `atomic { … }`, `step { … }`
    Undivided(AtomicKind, Block<'t>),
    Return(Option<Expr<'t>>),
}

/// A variable, an array element, or (as the target of `=`) a register.
#[derive(Debug)]
pub struct Place<'t> {
    pub name: Name<'t>,
    pub index: Option<Box<Expr<'t>>>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Expr<'t> {
    pub kind: ExprKind<'t>,
    pub span: Span,
    /// How deep it nests, itself included.
    pub depth: usize,
}

#[derive(Debug)]
pub enum ExprKind<'t> {
    Number(i128),
    /// `x`, `a[e]`, a register or a constant.
    Place(Place<'t>),
    Unary(UnOp, Box<Expr<'t>>),
    Binary(BinOp, Box<Expr<'t>>, Box<Expr<'t>>),
    Any(Choice<'t>),
    Atomic(Atomic, Place<'t>, Vec<Expr<'t>>),
    /// `p@label`
    At(Who<'t>, Name<'t>),
    /// `p.r`
    Register(Who<'t>, Name<'t>),
    /// `count(p@label)`
    Count(Who<'t>, Name<'t>),
}

/// What `any(…)` chooses from.
#[derive(Debug)]
pub enum Choice<'t> {
    Domain(Domain<'t>),
    List(Vec<Expr<'t>>),
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Cas,
    Cmpxchg,
    Swap,
    Fetch(BinOp),
    Update,
}

/// A process as a formula names it.
#[derive(Debug)]
pub struct Who<'t> {
    pub name: Name<'t>,
    pub index: Option<Box<Expr<'t>>>,
    pub span: Span,
}
