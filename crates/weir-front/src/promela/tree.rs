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
    pub records: Vec<Record<'t>>,
    /// What runs and what may be run, in the order of the text.
    pub proctypes: Vec<Proctype<'t>>,
    pub formulas: Vec<Formula<'t>>,
    /// What is ignored: `never` claims and `trace`s, `xr`, `xs` and `priority`.
    pub claims: Vec<Token<'t>>,
}

/// A `typedef`.
#[derive(Debug)]
pub struct Record<'t> {
    pub name: Name<'t>,
    pub fields: Vec<Declared<'t>>,
}

/// An `ltl` block.
#[derive(Debug)]
pub struct Formula<'t> {
    pub name: Option<Name<'t>>,
    pub formula: Ltl<'t>,
    pub span: Span,
}

/// A formula of linear temporal logic.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "formulas that are not asked are read all the same")]
#[allow(clippy::large_enum_variant, reason = "a model has few of them")]
pub enum Ltl<'t> {
    /// What is true of a state.
    State(Expr<'t>),
    Not(Box<Ltl<'t>>),
    And(Box<Ltl<'t>>, Box<Ltl<'t>>),
    Or(Box<Ltl<'t>>, Box<Ltl<'t>>),
    Implies(Box<Ltl<'t>>, Box<Ltl<'t>>),
    Equivalent(Box<Ltl<'t>>, Box<Ltl<'t>>),
    Always(Box<Ltl<'t>>),
    Eventually(Box<Ltl<'t>>),
    Next(Box<Ltl<'t>>),
    Until(Box<Ltl<'t>>, Box<Ltl<'t>>),
    WeakUntil(Box<Ltl<'t>>, Box<Ltl<'t>>),
    Release(Box<Ltl<'t>>, Box<Ltl<'t>>),
}

impl<'t> Ltl<'t> {
    /// Calls `visit` with every expression in it.
    ///
    /// Recursive: the parser bounds how deep formulas nest.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr<'t>)) {
        match self {
            Ltl::State(e) => e.visit(visit),
            Ltl::Not(a) | Ltl::Always(a) | Ltl::Eventually(a) | Ltl::Next(a) => a.visit(visit),
            Ltl::And(a, b)
            | Ltl::Or(a, b)
            | Ltl::Implies(a, b)
            | Ltl::Equivalent(a, b)
            | Ltl::Until(a, b)
            | Ltl::WeakUntil(a, b)
            | Ltl::Release(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
        }
    }

    /// Whether it mentions a variable of a process.
    pub fn is_about_locals(&self) -> bool {
        let mut found = false;
        self.visit(&mut |e| found |= matches!(e.kind, ExprKind::Remote(_)));
        found
    }
}

/// A `proctype`, or `init`.
#[derive(Debug)]
pub struct Proctype<'t> {
    pub name: Name<'t>,
    /// How many run from the start.
    pub active: Option<Expr<'t>>,
    pub parameters: Vec<Declared<'t>>,
    /// The process takes steps only while this holds.
    pub provided: Option<Expr<'t>>,
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
    /// The number of a channel.
    Chan,
}

/// A type, or a `typedef`.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'t> {
    Plain(Type),
    Record(Name<'t>),
}

/// A variable or an array.
#[derive(Clone, Debug)]
pub struct Declared<'t> {
    pub shape: Shape<'t>,
    pub name: Name<'t>,
    pub len: Option<Expr<'t>>,
    pub init: Init<'t>,
    pub span: Span,
}

/// What a variable begins with.
#[derive(Clone, Debug)]
pub enum Init<'t> {
    Nothing,
    Value(Expr<'t>),
    /// `{ 1, 2 }`
    List(Vec<Expr<'t>>),
    /// `[2] of { byte, bit }`
    Channel(Expr<'t>, Vec<Shape<'t>>),
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
    /// `{ … } unless { … }`
    Unless(Vec<Stmt<'t>>, Vec<Stmt<'t>>),
    Fence(FenceKind),
    Send(Send<'t>),
    Receive(Receive<'t>),
}

/// `c ! a, b` and `c !! a, b`.
#[derive(Clone, Debug)]
pub struct Send<'t> {
    pub channel: Place<'t>,
    pub values: Vec<Expr<'t>>,
    pub is_sorted: bool,
}

/// `c ? x, 1`, `c ?? x, 1`, `c ? <x, 1>`, and `c ? [x, 1]` in expressions.
#[derive(Clone, Debug)]
pub struct Receive<'t> {
    pub channel: Place<'t>,
    pub patterns: Vec<Pattern<'t>>,
    /// Takes the first message that matches, not only the first.
    pub is_random: bool,
    /// Leaves the message in the channel.
    pub keeps: bool,
}

/// What a field of a message is received by.
#[derive(Clone, Debug)]
pub enum Pattern<'t> {
    /// A variable, or a member of `mtype`.
    Place(Place<'t>),
    /// It has to be this value.
    Value(Expr<'t>),
}

/// A variable, an element of an array, or a field of either.
#[derive(Clone, Debug)]
pub struct Place<'t> {
    pub name: Name<'t>,
    pub index: Option<Box<Expr<'t>>>,
    pub field: Option<Box<Place<'t>>>,
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

/// What is asked of the length of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Len,
    Empty,
    Full,
    Nempty,
    Nfull,
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
    Fill(Fill, Box<Place<'t>>),
    /// `c ? [x, 1]`
    Poll(Box<Receive<'t>>),
    Timeout,
    /// `P[1]@here`
    At(Box<(Name<'t>, Option<Box<Expr<'t>>>, Name<'t>)>),
    /// `P[1]:x`
    Remote(Box<(Name<'t>, Option<Box<Expr<'t>>>, Place<'t>)>),
}

impl<'t> Expr<'t> {
    /// Calls `visit` with every expression in it, from the outside.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr<'t>)) {
        visit(self);
        match &self.kind {
            ExprKind::Number(_) | ExprKind::LastOf(_) | ExprKind::Timeout => {}
            ExprKind::Place(place) => place.visit(visit),
            ExprKind::Fill(_, place) => place.visit(visit),
            ExprKind::Not(e) | ExprKind::Negative(e) | ExprKind::Complement(e) => e.visit(visit),
            ExprKind::Binary(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            ExprKind::Conditional(a, b, c) => {
                a.visit(visit);
                b.visit(visit);
                c.visit(visit);
            }
            ExprKind::Run(_, list) => list.iter().for_each(|e| e.visit(visit)),
            ExprKind::Poll(receive) => {
                receive.channel.visit(visit);
                for pattern in &receive.patterns {
                    match pattern {
                        Pattern::Place(place) => place.visit(visit),
                        Pattern::Value(e) => e.visit(visit),
                    }
                }
            }
            ExprKind::At(at) => at.1.iter().for_each(|e| e.visit(visit)),
            ExprKind::Remote(remote) => {
                remote.1.iter().for_each(|e| e.visit(visit));
                remote.2.visit(visit);
            }
        }
    }
}

impl<'t> Place<'t> {
    /// Calls `visit` with every expression in its indices.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr<'t>)) {
        let mut place = Some(self);
        while let Some(this) = place {
            this.index.iter().for_each(|e| e.visit(visit));
            place = this.field.as_deref();
        }
    }

    /// Its name and those of its fields.
    pub fn path(&self) -> Vec<&'t str> {
        let mut path = vec![self.name.text];
        let mut place = &self.field;
        while let Some(this) = place {
            path.push(this.name.text);
            place = &this.field;
        }
        path
    }

    /// Its indices, from left to right; `None` where there is none.
    pub fn indices(&self) -> Vec<Option<&Expr<'t>>> {
        let mut list = vec![self.index.as_deref()];
        let mut place = &self.field;
        while let Some(this) = place {
            list.push(this.index.as_deref());
            place = &this.field;
        }
        list
    }

    /// How deep it nests.
    pub fn depth(&self) -> usize {
        let deep = |e: Option<&Expr<'t>>| e.map_or(0, |e| e.depth);
        self.indices().into_iter().map(deep).max().unwrap_or(0)
    }
}

impl<'t> Stmt<'t> {
    /// Calls `visit` with this statement and all inside it.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Stmt<'t>)) {
        visit(self);
        match &self.kind {
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().flatten().for_each(|s| s.visit(visit));
            }
            StmtKind::Atomic(body) | StmtKind::Block(body) => {
                body.iter().for_each(|s| s.visit(visit));
            }
            StmtKind::Unless(body, escape) => {
                body.iter().chain(escape).for_each(|s| s.visit(visit));
            }
            _ => {}
        }
    }

    /// Calls `visit` with every expression of this statement, not of those inside it.
    pub fn expressions<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr<'t>)) {
        match &self.kind {
            StmtKind::Declare(list) => {
                for declared in list {
                    match &declared.init {
                        Init::Value(e) => e.visit(visit),
                        Init::List(list) => list.iter().for_each(|e| e.visit(visit)),
                        Init::Nothing | Init::Channel(..) => {}
                    }
                }
            }
            StmtKind::Guard(e) | StmtKind::Assert(e) => e.visit(visit),
            StmtKind::Assign(place, e) => {
                place.visit(visit);
                e.visit(visit);
            }
            StmtKind::Select(place, ends) => {
                place.visit(visit);
                ends.0.visit(visit);
                ends.1.visit(visit);
            }
            StmtKind::Send(send) => {
                send.channel.visit(visit);
                send.values.iter().for_each(|e| e.visit(visit));
            }
            StmtKind::Receive(receive) => {
                receive.channel.visit(visit);
                for pattern in &receive.patterns {
                    match pattern {
                        Pattern::Place(place) => place.visit(visit),
                        Pattern::Value(e) => e.visit(visit),
                    }
                }
            }
            _ => {}
        }
    }
}
