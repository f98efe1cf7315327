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

pub mod mutate;
mod places;
mod questions;
pub mod reference;
mod shrink;
pub mod tools;

use weir_model::ids::{RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Code, Decl, Domain, Expr, FenceKind, IntType, Method, Object, Place, Process, Program,
    Register, Rmw, Stmt, StmtKind, UnOp,
};

pub use questions::{ask, ask_games, ask_live};
pub use shrink::shrink;

/// A small deterministic source of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A source that always gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

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
    let mut maker = Maker { rng, shape, next_value: 1, registers: vec![] };
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

/// A random object: one to three methods, some with an argument, that may wait, loop
/// for ever, try again, and return early. Some run once only, whoever calls them.
pub fn object(rng: &mut Rng, shape: &Shape) -> Program {
    let mut vars: Vec<Decl> =
        (0..shape.vars).map(|v| Decl::scalar(format!("x{v}"), 0, SPAN)).collect();
    let count = 1 + rng.below(3);
    let mut maker = Maker { rng, shape, next_value: 1, registers: vec![] };
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
    let mut maker = Maker { rng, shape: &shape, next_value: 1, registers: vec![] };
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

struct Maker<'a> {
    rng: &'a mut Rng,
    shape: &'a Shape,
    next_value: i128,
    registers: Vec<String>,
}

impl Maker<'_> {
    /// The body of a method.
    fn method(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(self.shape.statements) {
            let kind = match self.rng.below(8) {
                0 => {
                    let register = self.register();
                    let place = Place::var(VarId::new(self.rng.below(self.shape.vars)));
                    let load = Stmt::new(StmtKind::Load(register, place), SPAN);
                    let value = Expr::Const(self.rng.below(2) as i128);
                    let condition = Expr::binary(BinOp::Eq, Expr::Atom(register), value);
                    StmtKind::Await(vec![load], condition)
                }
                1 if !self.registers.is_empty() => {
                    let back = Stmt::new(StmtKind::Return(Some(Expr::Const(1))), SPAN);
                    StmtKind::If(self.condition(), vec![back], vec![])
                }
                2 => {
                    let place = Place::var(VarId::new(self.rng.below(self.shape.vars)));
                    let (old, found) = (self.register(), self.register());
                    let new = Expr::Const(self.rng.below(2) as i128);
                    let rmw = Rmw::Cas { expected: Expr::Atom(old), new };
                    let same = Expr::binary(BinOp::Eq, Expr::Atom(old), Expr::Atom(found));
                    let back = vec![Stmt::new(StmtKind::Return(None), SPAN)];
                    let round = [
                        StmtKind::Load(old, place.clone()),
                        StmtKind::Rmw(found, place, rmw),
                        StmtKind::If(same, back, vec![]),
                    ];
                    StmtKind::Loop(round.map(|kind| Stmt::new(kind, SPAN)).to_vec())
                }
                3 if !self.registers.is_empty() && self.rng.once_in(4) => {
                    StmtKind::Assume(self.condition())
                }
                _ => self.statement(0),
            };
            body.push(Stmt::new(kind, SPAN));
        }
        body
    }

    /// Returns unless nobody has been here.
    fn once(&mut self, done: Place) -> Vec<Stmt> {
        let was = self.register();
        let back = vec![Stmt::new(StmtKind::Return(None), SPAN)];
        let claim = StmtKind::Rmw(was, done, Rmw::Swap(Expr::Const(1)));
        let leave = StmtKind::If(Expr::Atom(was), back, vec![]);
        [claim, leave].map(|kind| Stmt::new(kind, SPAN)).to_vec()
    }

    fn block(&mut self, depth: usize) -> Vec<Stmt> {
        let most = if depth == 0 { self.shape.statements } else { 2 };
        let count = 1 + self.rng.below(most);
        (0..count).map(|_| Stmt::new(self.statement(depth), SPAN)).collect()
    }

    /// A declared domain, at times; it may be too small.
    fn domain(&mut self) -> Option<Domain> {
        if self.shape.types && self.rng.once_in(4) {
            return Some(Domain::Int(*self.rng.pick(&IntType::ALL)));
        }
        let declared = self.shape.domains && self.rng.once_in(3);
        declared.then(|| match self.rng.below(3) {
            0 => Domain::Bool,
            _ => Domain::Range(0, 1 + self.rng.below(self.shape.values as usize) as i128),
        })
    }

    /// A statement that loops and branches have no part in.
    fn special(&mut self, depth: usize) -> Option<StmtKind> {
        let shape = self.shape;
        if shape.awaits && self.rng.once_in(7) {
            return Some(self.wait());
        }
        if shape.choices && self.rng.once_in(8) {
            if depth < 2 && self.rng.once_in(2) {
                let other = if self.rng.once_in(3) { vec![] } else { self.block(depth + 1) };
                return Some(StmtKind::Choose(vec![self.block(depth + 1), other]));
            }
            let values = [0, 1, 2][..1 + self.rng.below(3)].to_vec();
            return Some(StmtKind::Any(self.register(), values));
        }
        if !shape.locals || !self.rng.once_in(4) {
            return None;
        }
        Some(match self.rng.below(9) {
            0 if depth > 0 => StmtKind::Exit,
            0 | 1 => StmtKind::Nop,
            2 if !self.registers.is_empty() => StmtKind::Assert(self.condition()),
            3 if !self.registers.is_empty() => StmtKind::Assume(self.condition()),
            4 => {
                let place = Place::var(VarId::new(self.rng.below(shape.vars)));
                let dead = StmtKind::Store(place, Expr::Const(shape.values));
                StmtKind::If(Expr::Const(0), vec![Stmt::new(dead, SPAN)], vec![])
            }
            5 if !self.registers.is_empty() => {
                let from = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
                let code = match self.rng.below(3) {
                    0 => Expr::binary(BinOp::Sub, Expr::Const(1), from),
                    1 => Expr::binary(BinOp::Mod, from, self.value()),
                    _ => from,
                };
                StmtKind::Assign(self.register(), code)
            }
            _ => StmtKind::Assign(self.register(), self.value()),
        })
    }

    /// `await` of one or two variables.
    fn wait(&mut self) -> StmtKind {
        let mut loads = Vec::new();
        let mut condition = Expr::Const(0);
        for _ in 0..1 + usize::from(self.rng.once_in(3)) {
            let register = self.register();
            let place = Place::var(VarId::new(self.rng.below(self.shape.vars)));
            loads.push(Stmt::new(StmtKind::Load(register, place), SPAN));
            let wanted = Expr::Const(self.rng.below(2) as i128);
            let holds = Expr::binary(BinOp::Eq, Expr::Atom(register), wanted);
            condition = match condition {
                Expr::Const(_) => holds,
                other => Expr::binary(BinOp::Or, other, holds),
            };
        }
        StmtKind::Await(loads, condition)
    }

    fn statement(&mut self, depth: usize) -> StmtKind {
        if let Some(special) = self.special(depth) {
            return special;
        }
        if self.shape.branches && depth < 2 && !self.registers.is_empty() && self.rng.once_in(7) {
            let condition = self.condition();
            let then = self.block(depth + 1);
            let other = if self.rng.once_in(2) { self.block(depth + 1) } else { vec![] };
            return StmtKind::If(condition, then, other);
        }
        if self.shape.loops && depth < 2 && self.rng.once_in(4) {
            let mut body = self.block(depth + 1);
            if self.shape.gotos && !self.registers.is_empty() && self.rng.once_in(4) {
                let back = vec![Stmt::new(StmtKind::Continue, SPAN)];
                let at = self.rng.below(body.len() + 1);
                body.insert(at, Stmt::new(StmtKind::If(self.condition(), back, vec![]), SPAN));
            }
            if !self.registers.is_empty() && self.rng.once_in(2) {
                let condition = self.condition();
                body.push(Stmt::new(
                    StmtKind::If(condition, vec![Stmt::new(StmtKind::Break, SPAN)], vec![]),
                    SPAN,
                ));
            }
            return StmtKind::Loop(body);
        }
        self.step()
    }

    fn step(&mut self) -> StmtKind {
        let shape = self.shape;
        let place = self.place();
        match self.rng.below(12) {
            0 if shape.fences => {
                let kinds = [FenceKind::Full, FenceKind::Read, FenceKind::Write];
                StmtKind::Fence(*self.rng.pick(&kinds))
            }
            1 if shape.fences => {
                let kinds = [FenceKind::Read, FenceKind::Write];
                StmtKind::Fence(*self.rng.pick(&kinds))
            }
            2 if shape.atomics && !shape.unique => {
                let rmw = match self.rng.below(3) {
                    0 if shape.locals && self.rng.once_in(2) => {
                        Rmw::CasFlag { expected: self.value(), new: self.value() }
                    }
                    1 if shape.locals && self.rng.once_in(4) => {
                        let register = self.register();
                        let read = || Expr::Atom(register);
                        let when = Expr::binary(BinOp::Eq, read(), Expr::Const(0));
                        let new = Expr::binary(BinOp::Sub, Expr::Const(1), read());
                        return StmtKind::Rmw(register, place, Rmw::Update { when, new });
                    }
                    0 => Rmw::Cas { expected: self.value(), new: self.value() },
                    1 => Rmw::Swap(self.value()),
                    _ if shape.types && shape.arithmetic && !shape.loops => {
                        Rmw::Fetch(BinOp::Add, Expr::Const([1, 255][self.rng.below(2)]))
                    }
                    _ => Rmw::Fetch(BinOp::BitXor, Expr::Const(1)),
                };
                StmtKind::Rmw(self.register(), place, rmw)
            }
            3..=6 => StmtKind::Store(place, self.value()),
            _ => StmtKind::Load(self.register(), place),
        }
    }

    /// A variable, at times by an index, which may be wrong.
    fn place(&mut self) -> Place {
        if self.shape.indices && !self.registers.is_empty() && self.rng.once_in(8) {
            let register = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
            let index = match self.rng.below(4) {
                0 if self.shape.types => {
                    let count = Expr::Const(self.shape.vars as i128);
                    Expr::binary(BinOp::Mod, register, count)
                }
                1 if self.shape.types => {
                    let byte = Expr::unary(UnOp::Wrap(IntType::U8), register);
                    Expr::binary(BinOp::Div, byte, Expr::Const(128))
                }
                _ => register,
            };
            return Place { first: VarId(0), len: self.shape.vars as u32, index: Some(index) };
        }
        Place::var(VarId::new(self.rng.below(self.shape.vars)))
    }

    /// A new register, or at times an old one.
    fn register(&mut self) -> RegId {
        if self.registers.len() < 4 && !(self.shape.loops && self.registers.len() > 1) {
            self.registers.push(format!("r{}", self.registers.len()));
            return RegId::new(self.registers.len() - 1);
        }
        RegId::new(self.rng.below(self.registers.len()))
    }

    fn value(&mut self) -> Code {
        if self.shape.unique {
            self.next_value += 1;
            return Expr::Const(self.next_value - 1);
        }
        if self.shape.arithmetic && !self.registers.is_empty() && self.rng.once_in(4) {
            let register = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
            return Expr::binary(BinOp::Add, register, Expr::Const(1));
        }
        if self.shape.types && self.rng.once_in(5) {
            return self.wide_value();
        }
        if !self.registers.is_empty() && self.rng.once_in(5) {
            return Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
        }
        Expr::Const(self.rng.below(self.shape.values as usize) as i128)
    }

    /// A value at the end of a type, or one that is computed. What is computed without
    /// `arithmetic`, or in a loop, comes back after a few rounds.
    fn wide_value(&mut self) -> Code {
        let int = *self.rng.pick(&IntType::ALL);
        if self.registers.is_empty() || self.rng.once_in(3) {
            let end = if self.rng.once_in(2) { int.low() } else { int.high() };
            return Expr::Const(end + self.rng.below(3) as i128 - 1);
        }
        let register = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
        if self.shape.loops || !self.shape.arithmetic {
            let int = *self.rng.pick(&[IntType::U8, IntType::I8]);
            let half = Expr::Const(128);
            let aligned = Expr::binary(BinOp::BitAnd, register, half.clone());
            let sum = Expr::binary(BinOp::Add, aligned, half);
            return Expr::unary(UnOp::Wrap(int), sum);
        }
        let by = Expr::Const([1, 2, 128, 255, -1][self.rng.below(5)]);
        let op = *self.rng.pick(&[BinOp::Add, BinOp::Sub, BinOp::Mul]);
        let value = Expr::binary(op, register, by);
        if self.rng.once_in(2) { Expr::unary(UnOp::Wrap(int), value) } else { value }
    }

    fn condition(&mut self) -> Code {
        let register = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
        Expr::binary(BinOp::Eq, register, Expr::Const(self.rng.below(2) as i128))
    }
}
