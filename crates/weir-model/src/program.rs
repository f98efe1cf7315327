//! Programs: one form for every input language.
//!
//! A [`Program`] is structured code over process-local registers in which *every access
//! to shared memory is a separate statement*: expressions range over registers only. A
//! front end translates `if x == 1 and y == 0 { … }` to loads into registers, so no later
//! phase can treat as atomic what hardware does not execute atomically.
//!
//! A program also has its [`Property`]s.
//!
//! ```
//! use weir_model::program::*;
//! use weir_model::ids::*;
//!
//! // process p { x = 1 }   never x == 2
//! let span = SpanId(0);
//! let program = Program {
//!     name: "example".into(),
//!     vars: vec![Decl::scalar("x", 0, span)],
//!     processes: vec![Process {
//!         name: "p".into(),
//!         body: vec![Stmt::new(StmtKind::Store(Place::var(VarId(0)), Expr::Const(1)), span)],
//!         ..Process::default()
//!     }],
//!     properties: vec![Property {
//!         name: None,
//!         kind: PropertyKind::Never(Expr::binary(
//!             BinOp::Eq,
//!             Expr::Atom(Atom::Var(VarId(0))),
//!             Expr::Const(2),
//!         )),
//!         span,
//!     }],
//!     ..Program::default()
//! };
//! assert_eq!(program.var_name(VarId(0)), "x");
//! ```

use std::collections::BTreeMap;

use crate::ids::{EnumId, LabelId, MethodId, ProcessId, RegId, SpanId, VarId};

/// The most processes of a program: sets of processes are 64 bits.
pub const MAX_PROCESSES: usize = 64;

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Program {
    /// What to call it in reports.
    pub name: String,
    /// Declarations of shared variables and arrays, in order. [`VarId`]s count
    /// the elements of all of them.
    pub vars: Vec<Decl>,
    /// Named sets of constants.
    pub enums: Vec<Enum>,
    /// Values that have a name wherever they turn up (addresses in litmus tests).
    pub symbols: BTreeMap<i128, String>,
    /// The processes, families written out.
    pub processes: Vec<Process>,
    /// The object, where the program is one: then it has no processes before
    /// [`Program::with_clients`] gives it some.
    pub object: Option<Object>,
    /// What is asked.
    pub properties: Vec<Property>,
    /// What is asked about runs without end.
    pub live: Vec<Live>,
    /// Games between the program and its memory.
    pub games: Vec<Game>,
    /// Only final states that satisfy this count (a litmus test's `filter`).
    pub filter: Option<Formula>,
    /// What `outcomes` prints of a final state; registers in this list keep
    /// their value until the end. `None` where only the properties count.
    pub observed: Option<Vec<Atom>>,
    /// How far to look, for what has no domain of its own.
    pub bounds: Bounds,
}

/// Ranges of values beyond which a program is not looked at. They are nothing
/// that the program itself knows: a value outside is no failure, but what
/// comes of it stays unknown.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Bounds {
    /// Of variables.
    pub vars: BTreeMap<VarId, (i128, i128)>,
    /// Of registers.
    pub registers: BTreeMap<(ProcessId, RegId), (i128, i128)>,
}

/// A shared variable or an array of them.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Decl {
    /// Its name.
    pub name: String,
    /// Number of elements for an array, `None` for a single variable.
    pub len: Option<u32>,
    /// The values that it may hold; `None` when they are to be inferred.
    pub domain: Option<Domain>,
    /// The possible initial values of each element: one entry per element,
    /// each with at least one value.
    pub init: Vec<Vec<i128>>,
    /// Where it was declared.
    pub span: SpanId,
}

impl Decl {
    /// A single variable with an inferred domain.
    pub fn scalar(name: impl Into<String>, init: i128, span: SpanId) -> Self {
        Self { name: name.into(), len: None, domain: None, init: vec![vec![init]], span }
    }
}

/// The values that a variable or register may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// `lo..hi`, both included.
    Range(i128, i128),
    /// `false` and `true`, that is 0 and 1.
    Bool,
    /// The members of a named set, numbered from 0.
    Enum(EnumId),
    /// The numbers of an integer type. An unsigned number that does not fit is wrapped, a
    /// signed one is a failure.
    Int(IntType),
}

impl Domain {
    /// Whether what is stored there is made to fit.
    pub fn wraps(self) -> bool {
        matches!(self, Self::Int(int) if !int.is_signed())
    }
}

/// An integer type of a width, as machines have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntType {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

impl IntType {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::U8, Self::U16, Self::U32, Self::U64, Self::I8, Self::I16, Self::I32, Self::I64];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }

    /// The type of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// How many bits its numbers have.
    pub fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 => 32,
            Self::U64 | Self::I64 => 64,
        }
    }

    /// Whether it has negative numbers.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Its lowest number.
    pub fn low(self) -> i128 {
        if self.is_signed() { -(1 << (self.bits() - 1)) } else { 0 }
    }

    /// Its highest number.
    pub fn high(self) -> i128 {
        self.low() + (1 << self.bits()) - 1
    }

    /// The number of the type that has the same lowest bits.
    pub fn wrap(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits()) - 1);
        if low > self.high() { low - (1 << self.bits()) } else { low }
    }
}

/// A named set of constants; member `i` has the value `i`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The names of its members.
    pub members: Vec<String>,
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Process {
    /// Its name: `p`, or `p[0]` for a member of a family.
    pub name: String,
    /// Its registers.
    pub registers: Vec<Register>,
    /// Its labels.
    pub labels: Vec<Label>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// A process-local register.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Register {
    /// Its name inside the process.
    pub name: String,
    /// Its name in reports: `p[0].r`, or `0:EAX` in a litmus test.
    pub display: String,
    /// The values that it may hold; `None` when they are to be inferred.
    pub domain: Option<Domain>,
    /// Its initial value.
    pub init: i128,
    /// Made by the front end to hold a loaded value, not written by a person.
    pub temporary: bool,
    /// Where it was declared.
    pub span: SpanId,
}

/// A named place in a process.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: SpanId,
}

/// A concurrent object: the variables of the program, and methods on them
/// (Wang et al. 2021, section 2.2).
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its methods; a [`MethodId`] is an index here.
    pub methods: Vec<Method>,
    /// Where it was declared.
    pub span: SpanId,
}

/// A method of an object.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Whether it has an argument: then that is its first register, which has a
    /// domain.
    pub has_argument: bool,
    /// Its registers. They have their initial values at every call.
    pub registers: Vec<Register>,
    /// Its labels.
    pub labels: Vec<Label>,
    /// What it does; the end of it is a `return` without a value.
    pub body: Vec<Stmt>,
}

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
    /// Ends the process.
    Exit,
    /// One of these calls, whichever: one step. What comes after is what follows
    /// a `return`.
    Call(Vec<Call>),
    /// Returns from the call around it: one step.
    Return(Option<Code>),
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

/// A shared variable, or an array element that is known when the statement runs.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Place {
    /// The variable, or the array's first element.
    pub first: VarId,
    /// Number of elements that `index` may choose from.
    pub len: u32,
    /// Which element, from 0; an index outside `0..len` is a failure of the
    /// program. `None` is `first` itself.
    pub index: Option<Code>,
}

impl Place {
    /// One variable.
    pub fn var(var: VarId) -> Self {
        Self { first: var, len: 1, index: None }
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
    },
    /// As [`Rmw::Cas`], but the register gets 1 if `new` was written, otherwise 0.
    CasFlag {
        /// The value that lets the write happen.
        expected: Code,
        /// What is written then.
        new: Code,
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

/// Code: an expression over the registers of the process that runs it.
pub type Code = Expr<RegId>;

/// A formula: an expression over the state of the whole program.
pub type Formula = Expr<Atom>;

/// What a formula may ask of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// The value of a shared variable in memory.
    Var(VarId),
    /// The value of a register.
    Reg(ProcessId, RegId),
    /// 1 if the process stands at the label, otherwise 0.
    At(ProcessId, LabelId),
}

/// An expression over atoms of some kind. Booleans are the numbers 0 and 1;
/// where a condition is asked for, every number but 0 counts as true.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Expr<A> {
    /// A number.
    Const(i128),
    /// An atom.
    Atom(A),
    /// One operand.
    Unary(UnOp, Box<Expr<A>>),
    /// Two operands.
    Binary(BinOp, Box<Expr<A>>, Box<Expr<A>>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// `-e`
    Neg,
    /// `not e`
    Not,
    /// `u8(e)`: the number of the type that has the same lowest bits.
    Wrap(IntType),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Rounds towards zero.
    Div,
    /// Has the sign of the right operand: `-1 % 4` is 3, as a ring buffer wants it.
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `and`; the right operand is not evaluated where the left one is false.
    And,
    /// `or`; the right operand is not evaluated where the left one is true.
    Or,
    Min,
    Max,
    /// The left operand as an index of an array with as many elements as the right
    /// one says: its value, or a failure if the array has no such element.
    Index,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvalError {
    /// The value does not fit 128 bits.
    Overflow,
    /// Division by zero.
    DivisionByZero,
    /// An index outside its array.
    Index(i128),
}

impl<A> Expr<A> {
    /// `op e`.
    pub fn unary(op: UnOp, e: Self) -> Self {
        Self::Unary(op, Box::new(e))
    }

    /// `a op b`.
    pub fn binary(op: BinOp, a: Self, b: Self) -> Self {
        Self::Binary(op, Box::new(a), Box::new(b))
    }

    /// The value, given the value of each atom.
    ///
    /// Recursive: front ends bound how deep expressions nest.
    ///
    /// # Errors
    /// On overflow, on division by zero, and on an index outside its array.
    pub fn eval(&self, atom: &mut impl FnMut(&A) -> i128) -> Result<i128, EvalError> {
        match self {
            Self::Const(c) => Ok(*c),
            Self::Atom(a) => Ok(atom(a)),
            Self::Unary(op, e) => op.apply(e.eval(atom)?),
            Self::Binary(BinOp::And, a, b) => {
                Ok(i128::from(a.eval(atom)? != 0 && b.eval(atom)? != 0))
            }
            Self::Binary(BinOp::Or, a, b) => {
                Ok(i128::from(a.eval(atom)? != 0 || b.eval(atom)? != 0))
            }
            Self::Binary(op, a, b) => op.apply(a.eval(atom)?, b.eval(atom)?),
        }
    }

    /// Replaces atoms by expressions.
    pub fn replace(&mut self, by: &impl Fn(&A) -> Option<Self>) {
        match self {
            Self::Const(_) => {}
            Self::Atom(a) => {
                if let Some(other) = by(a) {
                    *self = other;
                }
            }
            Self::Unary(_, e) => e.replace(by),
            Self::Binary(_, a, b) => {
                a.replace(by);
                b.replace(by);
            }
        }
    }

    /// Calls `visit` with every atom, left to right.
    pub fn atoms(&self, visit: &mut impl FnMut(&A)) {
        match self {
            Self::Const(_) => {}
            Self::Atom(a) => visit(a),
            Self::Unary(_, e) => e.atoms(visit),
            Self::Binary(_, a, b) => {
                a.atoms(visit);
                b.atoms(visit);
            }
        }
    }
}

impl Formula {
    /// Whether it is true in no state in which these places are left out, whatever the
    /// processes do. A formula without a value counts as false.
    pub fn is_never(&self, unreached: &[Atom]) -> bool {
        self.range(unreached) == (0, 0)
    }

    /// Bounds of its value, where it has one.
    fn range(&self, unreached: &[Atom]) -> (i128, i128) {
        const ANY: (i128, i128) = (i128::MIN, i128::MAX);
        let truth = |is_true: bool, is_false: bool| match (is_true, is_false) {
            (true, _) => (1, 1),
            (_, true) => (0, 0),
            _ => (0, 1),
        };
        let nonzero = |(low, high): (i128, i128)| low > 0 || high < 0;
        match self {
            Self::Const(c) => (*c, *c),
            Self::Atom(a) if unreached.contains(a) => (0, 0),
            Self::Atom(Atom::At(..)) => (0, 1),
            Self::Atom(_) => ANY,
            Self::Unary(UnOp::Not, e) => {
                let e = e.range(unreached);
                truth(e == (0, 0), nonzero(e))
            }
            Self::Unary(UnOp::Wrap(int), _) => (int.low(), int.high()),
            Self::Unary(UnOp::Neg, _) => ANY,
            Self::Binary(op, a, b) => {
                let (a, b) = (a.range(unreached), b.range(unreached));
                let less = truth(a.1 < b.0, a.0 >= b.1);
                let greater = truth(b.1 < a.0, b.0 >= a.1);
                match op {
                    BinOp::And => truth(nonzero(a) && nonzero(b), a == (0, 0) || b == (0, 0)),
                    BinOp::Or => truth(nonzero(a) || nonzero(b), a == (0, 0) && b == (0, 0)),
                    BinOp::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
                    BinOp::Lt => less,
                    BinOp::Ge => (1 - less.1, 1 - less.0),
                    BinOp::Gt => greater,
                    BinOp::Le => (1 - greater.1, 1 - greater.0),
                    BinOp::Eq | BinOp::Ne => {
                        let apart = a.1 < b.0 || b.1 < a.0;
                        let same = a.0 == a.1 && a == b;
                        if *op == BinOp::Eq { truth(same, apart) } else { truth(apart, same) }
                    }
                    _ => ANY,
                }
            }
        }
    }
}

impl UnOp {
    /// The value of `op e`.
    ///
    /// # Errors
    /// On overflow.
    pub fn apply(self, e: i128) -> Result<i128, EvalError> {
        match self {
            Self::Neg => e.checked_neg().ok_or(EvalError::Overflow),
            Self::Not => Ok(i128::from(e == 0)),
            Self::Wrap(to) => Ok(to.wrap(e)),
        }
    }
}

impl BinOp {
    /// The value of `a op b`.
    ///
    /// # Errors
    /// On overflow, on division by zero, and on an index outside its array.
    pub fn apply(self, a: i128, b: i128) -> Result<i128, EvalError> {
        let shift = || u32::try_from(b).ok().filter(|&b| b < i128::BITS);
        let value = match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div | Self::Mod if b == 0 => return Err(EvalError::DivisionByZero),
            Self::Div => a.checked_div(b),
            Self::Mod => {
                let rest = a.wrapping_rem(b);
                Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
            Self::BitAnd => Some(a & b),
            Self::BitOr => Some(a | b),
            Self::BitXor => Some(a ^ b),
            Self::Shl => {
                shift().and_then(|s| a.checked_mul(1i128.checked_shl(s).filter(|&f| f > 0)?))
            }
            Self::Shr => shift().map(|s| a >> s),
            Self::Eq => Some(i128::from(a == b)),
            Self::Ne => Some(i128::from(a != b)),
            Self::Lt => Some(i128::from(a < b)),
            Self::Le => Some(i128::from(a <= b)),
            Self::Gt => Some(i128::from(a > b)),
            Self::Ge => Some(i128::from(a >= b)),
            Self::And => Some(i128::from(a != 0 && b != 0)),
            Self::Or => Some(i128::from(a != 0 || b != 0)),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Index if !(0..b).contains(&a) => return Err(EvalError::Index(a)),
            Self::Index => Some(a),
        };
        value.ok_or(EvalError::Overflow)
    }
}

/// Something asked of the program.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Property {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What is asked.
    pub kind: PropertyKind,
    /// Where it stands.
    pub span: SpanId,
}

/// What a property asks.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum PropertyKind {
    /// No reachable state satisfies the formula.
    Never(Formula),
    /// No assertion fails, no index leaves its array, no value leaves the
    /// domain that was given for it.
    Assertions,
    /// No reachable state in which some process has not ended and none can go on.
    NoDeadlock,
    /// About the states in which every process has ended and every write has
    /// reached memory.
    Final(Quantifier, Formula),
}

/// Something asked about runs without end.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Live {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What is asked.
    pub kind: LiveKind,
    /// Where it was written.
    pub span: SpanId,
}

/// A game of the program against its memory (Spengler 2024): one player picks
/// instructions, the other picks which buffered writes reach memory.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Game {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What the process player is after.
    pub objective: Objective,
    /// The local states that count, `Q_W`: it is enough that one process is in one.
    pub targets: Vec<(ProcessId, LabelId)>,
    /// Where it stands.
    pub span: SpanId,
}

/// What is asked about runs without end. A run is *fair* if no process that can
/// take a step from some moment on stops taking steps.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum LiveKind {
    /// Some run satisfies the formula infinitely often (repeated reachability,
    /// Atig et al. 2010, section 3.4).
    Exists(Formula),
    /// No run satisfies the formula infinitely often.
    Never(Formula),
    /// Every fair run without end satisfies the formula infinitely often.
    Always(Formula),
    /// There is no fair run without end.
    Terminates,
}

/// What the process player of a game is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objective {
    /// `game reach`: to get to a target, a reachability condition.
    Reach,
    /// `game avoid`: never to get to a target, a safety condition.
    Avoid,
}

/// How many final states have to satisfy a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Exists,
    /// None.
    Never,
    /// All.
    Always,
}

impl Program {
    /// What `outcomes` shows of a final state when nothing else was said: every
    /// register that a person declared and every variable.
    pub fn everything(&self) -> Vec<Atom> {
        let registers = self.processes.iter().enumerate().flat_map(|(p, process)| {
            let declared = process.registers.iter().enumerate().filter(|(_, r)| !r.temporary);
            declared.map(move |(r, _)| Atom::Reg(ProcessId::new(p), RegId::new(r)))
        });
        registers.chain((0..self.var_count()).map(|v| Atom::Var(VarId::new(v)))).collect()
    }

    /// Number of shared variables, array elements counted one by one.
    pub fn var_count(&self) -> usize {
        self.vars.iter().map(|d| d.init.len()).sum()
    }

    /// The declaration that `var` belongs to, and its element number.
    pub fn decl(&self, var: VarId) -> (&Decl, usize) {
        let mut index = var.index();
        for decl in &self.vars {
            if index < decl.init.len() {
                return (decl, index);
            }
            index -= decl.init.len();
        }
        panic!("variable {var:?} of another program")
    }

    /// The name of a variable: `x` or `a[1]`.
    pub fn var_name(&self, var: VarId) -> String {
        match self.decl(var) {
            (decl, _) if decl.len.is_none() => decl.name.clone(),
            (decl, element) => format!("{}[{element}]", decl.name),
        }
    }

    /// A value as a person would write it, given the domain that it lives in.
    pub fn show_value(&self, domain: Option<Domain>, value: i128) -> String {
        let name = match domain {
            Some(Domain::Bool) => match value {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            Some(Domain::Enum(id)) => usize::try_from(value)
                .ok()
                .and_then(|v| self.enums[id.index()].members.get(v).cloned()),
            _ => self.symbols.get(&value).cloned(),
        };
        name.unwrap_or_else(|| value.to_string())
    }

    /// All values of a domain.
    pub fn values(&self, domain: Domain) -> Vec<i128> {
        match domain {
            Domain::Range(lo, hi) => (lo..=hi).collect(),
            Domain::Bool => vec![0, 1],
            Domain::Enum(id) => (0..).take(self.enums[id.index()].members.len()).collect(),
            Domain::Int(int) => (int.low()..=int.high()).collect(),
        }
    }

    /// The number of values of a domain.
    pub fn size(&self, domain: Domain) -> u128 {
        match domain {
            Domain::Range(lo, hi) => hi.abs_diff(lo).saturating_add(1),
            Domain::Bool => 2,
            Domain::Enum(id) => self.enums[id.index()].members.len() as u128,
            Domain::Int(int) => 1 << int.bits(),
        }
    }

    /// Whether `value` belongs to `domain`.
    pub fn admits(&self, domain: Domain, value: i128) -> bool {
        match domain {
            Domain::Range(lo, hi) => (lo..=hi).contains(&value),
            Domain::Bool => value == 0 || value == 1,
            Domain::Enum(id) => {
                usize::try_from(value).is_ok_and(|v| v < self.enums[id.index()].members.len())
            }
            Domain::Int(int) => (int.low()..=int.high()).contains(&value),
        }
    }

    /// What is stored where a domain was declared: an unsigned type wraps a value, all else is
    /// stored as it is if it is [admitted](Self::admits).
    pub fn fit(domain: Option<Domain>, value: i128) -> i128 {
        match domain {
            Some(Domain::Int(int)) if !int.is_signed() => int.wrap(value),
            _ => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modulo_has_the_sign_of_the_divisor() {
        for (a, b, want) in [(5, 4, 1), (-1, 4, 3), (-4, 4, 0), (5, -4, -3), (i128::MIN, -1, 0)] {
            assert_eq!(BinOp::Mod.apply(a, b), Ok(want), "{a} % {b}");
        }
        assert_eq!(BinOp::Mod.apply(1, 0), Err(EvalError::DivisionByZero));
        assert_eq!(BinOp::Index.apply(1, 2), Ok(1));
        assert_eq!(BinOp::Index.apply(2, 2), Err(EvalError::Index(2)));
        assert_eq!(BinOp::Index.apply(-1, 2), Err(EvalError::Index(-1)));
    }

    #[test]
    fn types_wrap_as_machines_do() {
        for value in
            [0, 1, -1, 127, 128, 255, 256, -128, -129, 1 << 31, 1 << 63, 1 << 64, -(1 << 63)]
                .into_iter()
                .chain([i128::MIN, i128::MAX])
        {
            for (int, wrapped) in [
                (IntType::U8, i128::from(value as u8)),
                (IntType::U16, i128::from(value as u16)),
                (IntType::U32, i128::from(value as u32)),
                (IntType::U64, i128::from(value as u64)),
                (IntType::I8, i128::from(value as i8)),
                (IntType::I16, i128::from(value as i16)),
                (IntType::I32, i128::from(value as i32)),
                (IntType::I64, i128::from(value as i64)),
            ] {
                assert_eq!(int.wrap(value), wrapped, "{value} in {}", int.name());
                assert_eq!(IntType::named(int.name()), Some(int));
            }
        }
    }

    #[test]
    fn arithmetic_never_wraps() {
        for (op, a, b) in [
            (BinOp::Add, i128::MAX, 1),
            (BinOp::Sub, i128::MIN, 1),
            (BinOp::Mul, i128::MAX, 2),
            (BinOp::Div, i128::MIN, -1),
            (BinOp::Shl, 1, 127),
            (BinOp::Shl, 1, -1),
            (BinOp::Shr, 1, 128),
        ] {
            assert_eq!(op.apply(a, b), Err(EvalError::Overflow), "{a} {op:?} {b}");
        }
    }

    #[test]
    fn and_or_do_not_evaluate_what_they_do_not_need() {
        let divide: Expr<RegId> = Expr::binary(BinOp::Div, Expr::Const(1), Expr::Const(0));
        let and = Expr::binary(BinOp::And, Expr::Const(0), divide.clone());
        let or = Expr::binary(BinOp::Or, Expr::Const(7), divide);
        assert_eq!(and.eval(&mut |_| 0), Ok(0));
        assert_eq!(or.eval(&mut |_| 0), Ok(1));
    }
}
