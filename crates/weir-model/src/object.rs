//! Concurrent objects and their clients (Wang et al. 2021, section 2.2).
//!
//! An object runs under *most general clients*: each of a number of processes calls any
//! method with any argument, again and again, or stops for ever.
//! [`Program::with_clients`] builds the program of an object and its clients. A call and
//! a return are one step each, marked ([`Mark`](crate::system::Mark)) in the system.
//!
//! ```
//! use weir_model::{ids::*, object::MAX_CLIENTS, program::*, system::System};
//!
//! // object counter { var c: bool   method flip { c = 1 } }
//! let span = SpanId::NONE;
//! let mut c = Decl::scalar("c", 0, span);
//! c.domain = Some(Domain::Bool);
//! let set = StmtKind::Store(Place::var(VarId(0)), Expr::Const(1));
//! let flip = Method { name: "flip".into(), body: vec![Stmt::new(set, span)], ..Method::default() };
//! let object = Object { name: "counter".into(), methods: vec![flip], span };
//! let program = Program { vars: vec![c], object: Some(object), ..Program::default() };
//!
//! let system = System::with_rounds(program.with_clients(2).unwrap()).unwrap();
//! assert_eq!(system.processes.len(), 2);
//! // in the client, before the store, before the return
//! let all = system.expanded(&weir_model::limits::Budget::new()).unwrap();
//! assert_eq!(all.states(weir_model::ids::ProcessId(0)).count(), 3);
//! assert!(program.with_clients(MAX_CLIENTS + 1).is_none());
//! ```

use crate::ids::{LabelId, MethodId, RegId, SpanId};
use crate::program::{
    Call, Code, Expr, Label, Method, Object, Place, Process, Program, Register, Rmw, Stmt, StmtKind,
};

/// The most clients that an object may have.
pub const MAX_CLIENTS: usize = 16;

/// The most registers, and the most labels, that all methods have together.
pub const MAX_NUMBERED: usize = 60_000;

impl Program {
    /// The program of an object and `count` most general clients. `None` if the
    /// program is no object, if `count` is not within 1 to [`MAX_CLIENTS`], or if
    /// the methods have more than [`MAX_NUMBERED`] registers or labels.
    pub fn with_clients(&self, count: usize) -> Option<Self> {
        let object = self.object.as_ref()?;
        let most = |number: fn(&Method) -> usize| object.methods.iter().map(number).sum::<usize>();
        let fits = most(|m| m.registers.len()).max(most(|m| m.labels.len())) <= MAX_NUMBERED;
        if !(1..=MAX_CLIENTS).contains(&count) || !fits {
            return None;
        }
        let processes = (0..count).map(|i| self.client(object, &format!("client[{i}]"))).collect();
        Some(Self { processes, ..self.clone() })
    }

    /// `loop { one of the calls }`.
    fn client(&self, object: &Object, name: &str) -> Process {
        let mut registers: Vec<Register> = Vec::new();
        let mut labels: Vec<Label> = Vec::new();
        let mut calls = Vec::new();
        for (number, method) in object.methods.iter().enumerate() {
            let place = Moved { registers: registers.len(), labels: labels.len() };
            let argument = method.registers.first().filter(|_| method.has_argument);
            let values = argument.and_then(|r| r.domain).map(|d| self.values(d));
            let given = usize::from(method.has_argument);
            // Every call begins with the initial values.
            let fresh = method.registers.iter().enumerate().skip(given);
            let fresh = fresh.map(|(r, register)| {
                let set =
                    StmtKind::Assign(place.register(RegId::new(r)), Expr::Const(register.init));
                Stmt::new(set, register.span)
            });
            let body = fresh.chain(place.block(&method.body)).collect();
            calls.push(Call {
                method: MethodId::new(number),
                argument: values.map(|values| (place.register(RegId(0)), values)),
                body,
            });
            registers.extend(method.registers.iter().map(|r| Register {
                display: format!("{name}.{}.{}", method.name, r.name),
                ..r.clone()
            }));
            labels.extend(method.labels.iter().cloned());
        }
        let span = if calls.is_empty() { SpanId::NONE } else { object.span };
        let call = Stmt::new(StmtKind::Call(calls), span);
        let body = vec![Stmt::new(StmtKind::Loop(vec![call]), span)];
        Process { name: name.to_owned(), registers, labels, body }
    }
}

/// Where the registers and labels of a method are among those of a client.
#[derive(Clone, Copy)]
struct Moved {
    registers: usize,
    labels: usize,
}

impl Moved {
    fn register(self, r: RegId) -> RegId {
        RegId::new(self.registers + r.index())
    }

    fn label(self, l: LabelId) -> LabelId {
        LabelId::new(self.labels + l.index())
    }

    fn code(self, code: &Code) -> Code {
        match code {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Atom(r) => Expr::Atom(self.register(*r)),
            Expr::Unary(op, e) => Expr::unary(*op, self.code(e)),
            Expr::Binary(op, a, b) => Expr::binary(*op, self.code(a), self.code(b)),
        }
    }

    fn place(self, place: &Place) -> Place {
        let index = place.index.as_ref().map(|e| self.code(e));
        Place { index, ..place.clone() }
    }

    /// Recursive: front ends bound how deep blocks nest.
    fn block(self, block: &[Stmt]) -> Vec<Stmt> {
        block.iter().map(|s| Stmt::new(self.statement(&s.kind), s.span)).collect()
    }

    fn statement(self, stmt: &StmtKind) -> StmtKind {
        match stmt {
            StmtKind::Label(l) => StmtKind::Label(self.label(*l)),
            StmtKind::Goto(l) => StmtKind::Goto(self.label(*l)),
            StmtKind::Assign(r, e) => StmtKind::Assign(self.register(*r), self.code(e)),
            StmtKind::Any(r, values) => StmtKind::Any(self.register(*r), values.clone()),
            StmtKind::Load(r, place) => StmtKind::Load(self.register(*r), self.place(place)),
            StmtKind::Store(place, e) => StmtKind::Store(self.place(place), self.code(e)),
            StmtKind::Rmw(r, place, rmw) => {
                let rmw = match rmw {
                    Rmw::Cas { expected, new, failure } => {
                        let (expected, new) = (self.code(expected), self.code(new));
                        Rmw::Cas { expected, new, failure: *failure }
                    }
                    Rmw::CasFlag { expected, new, failure } => {
                        let (expected, new) = (self.code(expected), self.code(new));
                        Rmw::CasFlag { expected, new, failure: *failure }
                    }
                    Rmw::Swap(e) => Rmw::Swap(self.code(e)),
                    Rmw::Fetch(op, e) => Rmw::Fetch(*op, self.code(e)),
                    Rmw::Update { when, new } => {
                        Rmw::Update { when: self.code(when), new: self.code(new) }
                    }
                };
                StmtKind::Rmw(self.register(*r), self.place(place), rmw)
            }
            StmtKind::Assume(e) => StmtKind::Assume(self.code(e)),
            StmtKind::Assert(e) => StmtKind::Assert(self.code(e)),
            StmtKind::If(e, then, other) => {
                StmtKind::If(self.code(e), self.block(then), self.block(other))
            }
            StmtKind::Loop(body) => StmtKind::Loop(self.block(body)),
            StmtKind::Choose(blocks) => {
                StmtKind::Choose(blocks.iter().map(|b| self.block(b)).collect())
            }
            StmtKind::Atomic(kind, body) => StmtKind::Atomic(*kind, self.block(body)),
            StmtKind::Await(block, e) => StmtKind::Await(self.block(block), self.code(e)),
            StmtKind::Return(e) => StmtKind::Return(e.as_ref().map(|e| self.code(e))),
            StmtKind::Nop
            | StmtKind::Fence(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Exit
            | StmtKind::Call(_) => stmt.clone(),
        }
    }
}
