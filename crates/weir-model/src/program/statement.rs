//! Statements: what a process does.

use super::{BinOp, Code, Order};
use crate::ids::{LabelId, MethodId, RegId, SpanId, VarId};

/// A statement and where it came from.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it came from.
    pub span: SpanId,
}

impl Stmt {
    /// A statement with its place in the source.
    pub fn new(kind: StmtKind, span: SpanId) -> Self {
        Self { kind, span }
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum StmtKind {
    /// Names the place of the statement that follows.
    Label(LabelId),
    /// One step that does nothing.
    Nop,
    /// `r = e`.
    Assign(RegId, Code),
    /// `r = any(…)`: one of these values, whichever.
    Any(RegId, Vec<i128>),
    /// `r = x`: one read.
    Load(RegId, Place),
    /// `x = e`: one write.
    Store(Place, Code),
    /// One atomic read-write; the register gets the value that was read, unless the
    /// operation says otherwise.
    Rmw(RegId, Place, Rmw),
    /// A fence.
    Fence(FenceKind),
    /// Goes on only if the condition holds; otherwise the process stops here.
    Assume(Code),
    /// Fails if the condition does not hold.
    Assert(Code),
    /// Two ways to go on.
    If(Code, Vec<Stmt>, Vec<Stmt>),
    /// For ever, or until `break`.
    Loop(Vec<Stmt>),
    /// Leaves the innermost loop.
    Break,
    /// Goes back to the head of the innermost loop.
    Continue,
    /// Goes to a label of the same process.
    Goto(LabelId),
    /// One of the blocks, whichever.
    Choose(Vec<Vec<Stmt>>),
    /// Runs the block (loads and assignments to temporaries only) until the
    /// condition holds after it. A process in here *waits*: going round is no
    /// progress, which is what tells a deadlock from a loop.
    Await(Vec<Stmt>, Code),
    /// The block as one step: no other process takes a step between its statements, and no question
    /// sees a state between them. There is no block in it, and no [`Rmw::Update`]. An `await` in it
    /// that has to wait interrupts it: the others go on, and the rest is one step again. An
    /// `assume` in a full block before which the block neither writes nor loops is a *guard*: if it
    /// does not hold, this way through the block is no step, and a process without any way waits at
    /// the beginning of the block.
    Atomic(AtomicKind, Vec<Stmt>),
    /// Ends the process.
    Exit,
    /// One of these calls, whichever: one step. What comes after is what follows
    /// a `return`.
    Call(Vec<Call>),
    /// Returns from the call around it: one step.
    Return(Option<Code>),
}

impl StmtKind {
    /// The blocks inside it, in the order of the text.
    pub fn blocks(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Self::If(_, then, other) => vec![then, other],
            Self::Loop(body) | Self::Await(body, _) | Self::Atomic(_, body) => vec![body],
            Self::Choose(blocks) => blocks.iter().collect(),
            Self::Call(calls) => calls.iter().map(|call| &call.body).collect(),
            _ => vec![],
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Self::If(_, then, other) => vec![then, other],
            Self::Loop(body) | Self::Await(body, _) | Self::Atomic(_, body) => vec![body],
            Self::Choose(blocks) => blocks.iter_mut().collect(),
            Self::Call(calls) => calls.iter_mut().map(|call| &mut call.body).collect(),
            _ => vec![],
        }
    }
}

/// A call of a method of the object.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Call {
    /// The method.
    pub method: MethodId,
    /// The register that gets the argument, and the values that it may have.
    pub argument: Option<(RegId, Vec<i128>)>,
    /// What the method does.
    pub body: Vec<Stmt>,
}

/// A shared variable, or an array element that is known when the statement runs, with the order in
/// which the statement accesses it.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Place {
    /// The variable, or the array's first element.
    pub first: VarId,
    /// Number of elements that `index` may choose from.
    pub len: u32,
    /// Which element, from 0; an index outside `0..len` is a failure of the
    /// program. `None` is `first` itself.
    pub index: Option<Code>,
    /// The order, if one was given. Without one a load or store is relaxed, and an atomic
    /// read-write is [`Order::Fenced`].
    pub order: Option<Order>,
}

impl Place {
    /// One variable.
    pub fn var(var: VarId) -> Self {
        Self { first: var, len: 1, index: None, order: None }
    }

    /// One of `len` variables from `first` on.
    pub fn element(first: VarId, len: u32, index: Code) -> Self {
        Self { first, len, index: Some(index), order: None }
    }

    /// The same place in another order.
    #[must_use]
    pub fn ordered(self, order: Order) -> Self {
        Self { order: Some(order), ..self }
    }
}

/// What an atomic read-write does with the value that it reads.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Rmw {
    /// Writes `new` if the value is `expected`, otherwise writes it back as it was.
    Cas {
        /// The value that lets the write happen.
        expected: Code,
        /// What is written then.
        new: Code,
        /// The order of the read if nothing is written; [`Order::of_failure`] by default.
        failure: Option<Order>,
    },
    /// As [`Rmw::Cas`], but the register gets 1 if `new` was written, otherwise 0.
    CasFlag {
        /// The value that lets the write happen.
        expected: Code,
        /// What is written then.
        new: Code,
        /// The order of the read if nothing is written; [`Order::of_failure`] by default.
        failure: Option<Order>,
    },
    /// Writes this value.
    Swap(Code),
    /// Writes `old op e`.
    Fetch(BinOp, Code),
    /// Waits until `when` holds of the value, and writes `new` at once. In both,
    /// the register that gets the value stands for it.
    Update {
        /// What the process waits for.
        when: Code,
        /// What is written then.
        new: Code,
    },
}

/// Where a block is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtomicKind {
    /// Under SC only. Under other models its accesses are those of ordinary statements: a
    /// statement of a language whose statements are steps.
    Statement,
    /// Under all models. Its first access waits until the writes of the process have reached
    /// memory, and all accesses are to memory: each of them is an atomic read-write.
    Full,
}

/// Which operations a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceKind {
    /// `fence`: everything.
    Full,
    /// `rfence`: reads before it with reads after it.
    Read,
    /// `wfence`: writes before it with writes after it.
    Write,
}

impl FenceKind {
    /// What it is called: in Weir's language, in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "fence",
            Self::Read => "rfence",
            Self::Write => "wfence",
        }
    }
}
