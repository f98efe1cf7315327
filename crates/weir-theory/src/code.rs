//! Finite processes as code, for the translations to programs.
//!
//! The sources define processes as automata; programs are structured code. A control
//! state becomes a label, and its transitions a `choose` after it. A read `r(x, d)` waits
//! until `x` is `d`, so that the system of the program has exactly this operation and no
//! dead end.

use weir_model::ids::{EnumId, LabelId, RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Code, Domain, Enum, Expr, Label, Place, Process, Register, Stmt, StmtKind,
};

/// A process that is being written.
pub(crate) struct Writer {
    process: Process,
    domain: Option<Domain>,
}

impl Writer {
    /// A process whose first register holds what it has read last.
    pub fn new(name: impl Into<String>, domain: Option<Domain>) -> Self {
        let process = Process { name: name.into(), ..Process::default() };
        let mut writer = Self { process, domain };
        writer.register("t");
        writer
    }

    /// Adds a register.
    pub fn register(&mut self, name: &str) -> RegId {
        let id = RegId::new(self.process.registers.len());
        self.process.registers.push(Register {
            name: name.to_owned(),
            display: format!("{}.{name}", self.process.name),
            domain: self.domain,
            init: 0,
            temporary: false,
            span: SpanId::NONE,
        });
        id
    }

    /// Adds a name for a place; where it is, [`at`] says.
    pub fn label(&mut self, name: impl Into<String>) -> LabelId {
        let id = LabelId::new(self.process.labels.len());
        self.process.labels.push(Label { name: name.into(), span: SpanId::NONE });
        id
    }

    /// Adds code.
    pub fn add(&mut self, code: impl IntoIterator<Item = Stmt>) {
        self.process.body.extend(code);
    }

    /// The process.
    pub fn finish(self) -> Process {
        self.process
    }
}

/// What a process has read last.
pub(crate) const LAST: RegId = RegId(0);

/// A statement.
pub(crate) fn stmt(kind: StmtKind) -> Stmt {
    Stmt::new(kind, SpanId::NONE)
}

/// A comparison with what was read last.
pub(crate) fn last(op: BinOp, value: i128) -> Code {
    Expr::binary(op, Expr::Atom(LAST), Expr::Const(value))
}

/// Waits until what is read from a variable fits.
pub(crate) fn wait(x: VarId, until: Code) -> Stmt {
    stmt(StmtKind::Await(vec![stmt(StmtKind::Load(LAST, Place::var(x)))], until))
}

/// `r(x, d)`.
pub(crate) fn read(x: VarId, d: i128) -> Stmt {
    wait(x, last(BinOp::Eq, d))
}

/// Goes on if what is read from a variable fits; otherwise the process takes no more steps. So an
/// infinite run does not consist of waiting. A run in which a process reads too early is one more
/// finite run.
pub(crate) fn test(x: VarId, fits: Code) -> [Stmt; 2] {
    [stmt(StmtKind::Load(LAST, Place::var(x))), stmt(StmtKind::Assume(fits))]
}

/// `w(x, d)`.
pub(crate) fn write(x: VarId, d: i128) -> Stmt {
    stmt(StmtKind::Store(Place::var(x), Expr::Const(d)))
}

/// The place that a label names.
pub(crate) fn at(label: LabelId) -> Stmt {
    stmt(StmtKind::Label(label))
}

/// Goes to a label.
pub(crate) fn goto(label: LabelId) -> Stmt {
    stmt(StmtKind::Goto(label))
}

/// One of several ways to go on; with none the process has ended.
pub(crate) fn choose(ways: Vec<Vec<Stmt>>) -> Stmt {
    stmt(if ways.is_empty() { StmtKind::Exit } else { StmtKind::Choose(ways) })
}

/// The domain of the first enum of a program.
pub(crate) const FIRST_ENUM: Domain = Domain::Enum(EnumId(0));

/// An enum.
pub(crate) fn members(name: &str, members: impl IntoIterator<Item = String>) -> Enum {
    Enum { name: name.to_owned(), members: members.into_iter().collect() }
}
