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

mod asked;
mod domain;
mod expression;
mod fenced;
mod ltl;
mod order;
mod statement;

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{ProcessId, RegId, SpanId, VarId};

pub use asked::{Game, Live, LiveKind, Objective, Property, PropertyKind, Quantifier, Runs};
pub use domain::{Domain, Enum, IntType};
pub use expression::{Atom, BinOp, Code, EvalError, Expr, Formula, UnOp};
pub use ltl::Ltl;
pub use order::Order;
pub use statement::{AtomicKind, Call, FenceKind, Place, Rmw, Stmt, StmtKind};

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
    /// What is asked about infinite runs.
    pub live: Vec<Live>,
    /// Games between the program and its memory.
    pub games: Vec<Game>,
    /// Only final states that satisfy this count (a litmus test's `filter`).
    pub filter: Option<Formula>,
    /// What `outcomes` prints of a final state; registers in this list keep
    /// their value until the end. `None` where only the properties count.
    pub observed: Option<Vec<Atom>>,
    /// Bounds of the search, for variables and registers without a domain.
    pub bounds: Bounds,
    /// What assertions say when they fail, by the place of the assertion.
    pub messages: BTreeMap<SpanId, String>,
    /// Variables for what a text does not name, such as whether memory was freed. Reports leave them out.
    pub bookkeeping: BTreeSet<VarId>,
}

/// Ranges of values to which a search is restricted. They do not change what the program does: a
/// value outside is no failure, but what follows it is unknown.
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
    /// Its methods; a [`MethodId`](crate::ids::MethodId) is an index here.
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
}
