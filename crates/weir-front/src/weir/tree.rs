//! What was written, before any name is looked up.

use std::ops::Range;

use weir_model::program::{
    AtomicKind, BinOp, FenceKind, IntType, Ltl, Objective, Order, Quantifier, Runs, UnOp,
};

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
    Record(Record<'t>),
    Procedure(Procedure<'t>),
    Process(Process<'t>),
    Object(Object<'t>),
    Property(Option<Name<'t>>, Question<'t>, Span),
    Filter(Expr<'t>, Span),
    Observe(Vec<Expr<'t>>, Span),
}

/// A variable, a register, an array of them, or a field of a record.
#[derive(Debug)]
pub struct Declared<'t> {
    pub name: Name<'t>,
    /// How many elements an array has, in each dimension.
    pub lens: Vec<Expr<'t>>,
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
    /// An enum or, where something is declared, a record.
    Named(Name<'t>),
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

/// Fields that belong together.
#[derive(Debug)]
pub struct Record<'t> {
    pub name: Name<'t>,
    pub fields: Vec<Declared<'t>>,
    /// All of it, from its keyword on.
    pub span: Span,
}

/// Code that is written once, and stands wherever it is called.
#[derive(Debug)]
pub struct Procedure<'t> {
    pub name: Name<'t>,
    pub parameters: Vec<Parameter<'t>>,
    pub body: Block<'t>,
    /// All of it, from its keyword on.
    pub span: Span,
}

/// A parameter of a procedure.
#[derive(Debug)]
pub struct Parameter<'t> {
    pub name: Name<'t>,
    /// Whether it stands for what is named in the call, and not for its value.
    pub by_name: bool,
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
    /// The runs that the formula is about, and the formula.
    Ltl(Runs, Ltl<Expr<'t>>),
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
    /// `x += e`
    Update(Place<'t>, BinOp, Expr<'t>),
    /// `x.store(e, release)`
    Store(Place<'t>, Expr<'t>, Order),
    /// An atomic operation or a call of a procedure, whose result is dropped.
    Call(Expr<'t>),
    Goto(Name<'t>),
    Fence(FenceKind),
    Nop,
    Break,
    Continue,
    Exit,
    If(Expr<'t>, Block<'t>, Block<'t>),
    While(Expr<'t>, Block<'t>),
    Loop(Block<'t>),
    /// `for i in low..high`
    For(Name<'t>, Expr<'t>, Expr<'t>, Block<'t>),
    Choose(Vec<Block<'t>>),
    Assume(Expr<'t>),
    /// With what is said if it fails.
    Assert(Expr<'t>, Option<Name<'t>>),
    Await(Block<'t>, Expr<'t>),
    /// `atomic { … }`, `step { … }`
    Undivided(AtomicKind, Block<'t>),
    Return(Option<Expr<'t>>),
}

/// `x`, `a[e]`, `a[e][e]`, `n.f`, `a[e].f`: something in memory, a register or a constant; in a
/// formula also `p.r` and `p[0].r`, a register of a process.
#[derive(Debug)]
pub struct Place<'t> {
    pub name: Name<'t>,
    pub selectors: Vec<Selector<'t>>,
    pub span: Span,
}

/// What says which part of something is meant.
#[derive(Debug)]
pub enum Selector<'t> {
    Index(Expr<'t>),
    Field(Name<'t>),
}

impl Place<'_> {
    /// How deep its indices nest.
    pub fn depth(&self) -> usize {
        let depth = |s: &Selector<'_>| match s {
            Selector::Index(e) => e.depth,
            Selector::Field(_) => 0,
        };
        self.selectors.iter().map(depth).max().unwrap_or(0)
    }
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
    Place(Place<'t>),
    Unary(UnOp, Box<Expr<'t>>),
    Binary(BinOp, Box<Expr<'t>>, Box<Expr<'t>>),
    /// `c ? a : b`
    Conditional(Box<Expr<'t>>, Box<Expr<'t>>, Box<Expr<'t>>),
    Any(Choice<'t>),
    /// Its order, and that of a compare-and-swap that fails, if they are given.
    Atomic(Atomic, Place<'t>, Vec<Expr<'t>>, Option<Order>, Option<Order>),
    /// `x.load(acquire)`
    Load(Place<'t>, Order),
    /// A call of a procedure.
    Call(Name<'t>, Vec<Expr<'t>>),
    /// `exists i: e`, `forall i in low..high: e`
    Quantified(Quantified<'t>),
    /// `p@label`
    At(Who<'t>, Name<'t>),
    /// `count(p@label)`
    Count(Who<'t>, Name<'t>),
}

/// Something about several numbers at once.
#[derive(Debug)]
pub struct Quantified<'t> {
    /// `forall`; otherwise `exists`.
    pub is_all: bool,
    pub name: Name<'t>,
    /// The numbers; otherwise they follow from what `name` is an index of.
    pub range: Option<Box<(Expr<'t>, Expr<'t>)>>,
    pub body: Box<Expr<'t>>,
    /// The first word.
    pub word: Span,
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
