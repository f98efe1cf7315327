//! Random programs and objects, a shrinker, and a reference semantics of programs: for
//! tests only.
//!
//! ```
//! use weir_gen::{Rng, Shape, program, shrink};
//!
//! let mut rng = Rng::new(7);
//! let big = program(&mut rng, &Shape { statements: 4, ..Shape::default() });
//! // Whatever is wrong with it, the smallest program with the same fault is
//! // easier to look at. Here: any process at all.
//! let small = shrink(big, |p| !p.processes.is_empty());
//! assert_eq!(small.processes.len(), 1);
//! assert!(small.processes[0].body.is_empty());
//! ```

mod maker;
pub mod mutate;
mod places;
mod questions;
pub mod reference;
mod rng;
mod shrink;
pub mod tools;

use weir_model::ids::{RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Decl, Domain, Expr, FenceKind, Method, Object, Place, Process, Program, Register, Stmt,
    StmtKind,
};

pub use questions::{ask, ask_games, ask_live, ask_ltl};
pub use rng::Rng;
pub use shrink::shrink;
pub use tools::setting;

use maker::Maker;

/// What random programs look like.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of processes.
    pub processes: usize,
    /// Number of variables.
    pub vars: usize,
    /// At most this many statements per process and block.
    pub statements: usize,
    /// Values are `0..values`.
    pub values: i128,
    /// Fences of all three kinds.
    pub fences: bool,
    /// Atomic read-writes.
    pub atomics: bool,
    /// `if` on registers.
    pub branches: bool,
    /// Loops that may go on for ever.
    pub loops: bool,
    /// Every store writes a value of its own, so that a read tells which write
    /// it saw; no atomics then.
    pub unique: bool,
    /// Assignments, `assume`, `assert`, `exit`, `nop`, results of `cas`, and code that never
    /// runs.
    pub locals: bool,
    /// `choose` and `any`.
    pub choices: bool,
    /// `await`, with one load or two.
    pub awaits: bool,
    /// At most so many labels per process, anywhere.
    pub labels: usize,
    /// `goto`, to a place further on; in loops also `continue`.
    pub gotos: bool,
    /// Some variables and registers have a declared domain, and some variables several initial
    /// values.
    pub domains: bool,
    /// Some accesses have an index, over all variables.
    pub indices: bool,
    /// Values that are computed: without loops only, since they have no bound there.
    pub arithmetic: bool,
    /// Some variables and registers have an integer type, values lie at the ends of such types
    /// and are wrapped, and indices are computed from what was read.
    pub types: bool,
    /// Atomic blocks of both kinds.
    pub blocks: bool,
    /// Accesses have memory orders, and some are not atomic.
    pub orders: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            processes: 2,
            vars: 2,
            statements: 4,
            values: 2,
            fences: true,
            atomics: true,
            branches: true,
            loops: false,
            unique: false,
            locals: false,
            choices: false,
            awaits: false,
            labels: 0,
            gotos: false,
            domains: false,
            indices: false,
            arithmetic: false,
            types: false,
            blocks: false,
            orders: false,
        }
    }
}

impl Shape {
    /// Programs without loops that have everything else that the [`mod@reference`] knows.
    pub fn rich() -> Self {
        Self {
            statements: 3,
            locals: true,
            choices: true,
            awaits: true,
            labels: 3,
            gotos: true,
            domains: true,
            indices: true,
            types: true,
            ..Self::default()
        }
    }
}

const SPAN: SpanId = SpanId::NONE;

/// A random program; all its registers are observed.
pub fn program(rng: &mut Rng, shape: &Shape) -> Program {
    let mut maker = Maker { rng, shape, next_value: 1, registers: vec![], in_block: false };
    let vars = (0..shape.vars)
        .map(|v| {
            let several = shape.domains && maker.rng.once_in(6);
            let init = vec![if several { vec![0, 1] } else { vec![0] }];
            Decl { domain: maker.domain(), init, ..Decl::scalar(format!("x{v}"), 0, SPAN) }
        })
        .collect();
    let processes = (0..shape.processes)
        .map(|p| {
            maker.registers = vec![];
            let mut body = maker.block(0);
            if body.is_empty() {
                body.push(Stmt::new(maker.step(), SPAN));
            }
            let registers = std::mem::take(&mut maker.registers)
                .into_iter()
                .map(|name| Register {
                    display: format!("p{p}.{name}"),
                    name,
                    domain: maker.domain(),
                    init: 0,
                    temporary: false,
                    span: SPAN,
                })
                .collect();
            let mut process = Process { name: format!("p{p}"), registers, labels: vec![], body };
            places::add(maker.rng, shape, &mut process);
            process
        })
        .collect();
    let mut program = Program { name: "random".into(), vars, processes, ..Program::default() };
    program.observed = Some(program.everything());
    program
}

/// A random object: one to three methods, some with an argument, that may wait, loop for ever, try
/// again, and return early. Some run once only.
pub fn object(rng: &mut Rng, shape: &Shape) -> Program {
    let mut vars: Vec<Decl> =
        (0..shape.vars).map(|v| Decl::scalar(format!("x{v}"), 0, SPAN)).collect();
    let count = 1 + rng.below(3);
    let mut maker = Maker { rng, shape, next_value: 1, registers: vec![], in_block: false };
    let methods = (0..count)
        .map(|m| {
            let has_argument = maker.rng.once_in(3);
            maker.registers = if has_argument { vec!["a".to_owned()] } else { vec![] };
            let mut body = maker.method();
            if maker.rng.once_in(3) {
                let done = Place::var(VarId::new(vars.len()));
                vars.push(Decl::scalar(format!("done{m}"), 0, SPAN));
                body.splice(0..0, maker.once(done));
            }
            let named = std::mem::take(&mut maker.registers).into_iter().enumerate();
            let registers = named.map(|(i, name)| Register {
                display: format!("m{m}.{name}"),
                name,
                domain: (i == 0 && has_argument).then_some(Domain::Bool),
                init: 0,
                temporary: false,
                span: SPAN,
            });
            let registers = registers.collect();
            Method { name: format!("m{m}"), has_argument, registers, labels: vec![], body }
        })
        .collect();
    let object = Some(Object { name: "o".into(), methods, span: SPAN });
    Program { name: "random".into(), vars, object, ..Program::default() }
}

/// A random object in which two methods race, once each: one writes, perhaps with a
/// fence, and reads what the other writes; a third waits for what comes of it.
pub fn racing_object(rng: &mut Rng) -> Program {
    let names = ["x0", "x1", "won0", "won1", "done0", "done1"];
    let vars = names.map(|name| Decl::scalar(name, 0, SPAN)).to_vec();
    let var = |v: usize| Place::var(VarId::new(v));
    let is = |r: usize, value: i128| {
        Expr::binary(BinOp::Eq, Expr::Atom(RegId::new(r)), Expr::Const(value))
    };
    let shape = Shape::default();
    let mut maker = Maker { rng, shape: &shape, next_value: 1, registers: vec![], in_block: false };
    let mut methods = Vec::new();
    for m in 0..2 {
        maker.registers = vec![];
        let mut body = maker.once(var(4 + m));
        let mut add = |kind| body.push(Stmt::new(kind, SPAN));
        add(StmtKind::Store(var(m), Expr::Const(1)));
        if maker.rng.once_in(3) {
            add(StmtKind::Fence(FenceKind::Full));
        }
        add(StmtKind::Load(RegId(0), var(1 - m)));
        let wins = vec![Stmt::new(StmtKind::Store(var(2 + m), Expr::Const(1)), SPAN)];
        let asked = maker.rng.below(2) as i128;
        add(StmtKind::If(is(0, asked), wins, vec![]));
        methods.push((format!("m{m}"), body, 1));
    }
    let loads = [(0, 2), (1, 3)];
    let loads = loads.map(|(r, v)| Stmt::new(StmtKind::Load(RegId::new(r), var(v)), SPAN));
    let (a, b) = (maker.rng.below(2) as i128, maker.rng.below(2) as i128);
    let condition = Expr::binary(BinOp::Or, is(0, a), is(1, b));
    let wait = Stmt::new(StmtKind::Await(loads.to_vec(), condition), SPAN);
    methods.push(("wait".to_owned(), vec![wait], 2));
    let register = |method: &str, r: usize| Register {
        name: format!("r{r}"),
        display: format!("{method}.r{r}"),
        domain: None,
        init: 0,
        temporary: false,
        span: SPAN,
    };
    let methods = methods.into_iter().map(|(name, body, registers)| Method {
        registers: (0..registers).map(|r| register(&name, r)).collect(),
        name,
        has_argument: false,
        labels: vec![],
        body,
    });
    let object = Some(Object { name: "o".into(), methods: methods.collect(), span: SPAN });
    Program { name: "random".into(), vars, object, ..Program::default() }
}
