//! Random statements, places and expressions.

use weir_model::ids::{RegId, VarId};
use weir_model::program::{
    AtomicKind, BinOp, Code, Domain, Expr, FenceKind, IntType, Order, Place, Rmw, Stmt, StmtKind,
    UnOp,
};

use super::{Rng, SPAN, Shape};

pub(super) struct Maker<'a> {
    pub rng: &'a mut Rng,
    pub shape: &'a Shape,
    pub next_value: i128,
    pub registers: Vec<String>,
    /// Whether the next statement is in an atomic block.
    pub in_block: bool,
}

impl Maker<'_> {
    /// The body of a method.
    pub(super) fn method(&mut self) -> Vec<Stmt> {
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
                    let rmw = Rmw::Cas { expected: Expr::Atom(old), new, failure: None };
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

    /// Returns if the method has run before.
    pub(super) fn once(&mut self, done: Place) -> Vec<Stmt> {
        let was = self.register();
        let back = vec![Stmt::new(StmtKind::Return(None), SPAN)];
        let claim = StmtKind::Rmw(was, done, Rmw::Swap(Expr::Const(1)));
        let leave = StmtKind::If(Expr::Atom(was), back, vec![]);
        [claim, leave].map(|kind| Stmt::new(kind, SPAN)).to_vec()
    }

    pub(super) fn block(&mut self, depth: usize) -> Vec<Stmt> {
        let most = if depth == 0 { self.shape.statements } else { 2 };
        let count = 1 + self.rng.below(most);
        (0..count).map(|_| Stmt::new(self.statement(depth), SPAN)).collect()
    }

    /// A declared domain, at times; it may be too small.
    pub(super) fn domain(&mut self) -> Option<Domain> {
        if self.shape.types && self.rng.once_in(4) {
            return Some(Domain::Int(*self.rng.pick(&IntType::ALL)));
        }
        let declared = self.shape.domains && self.rng.once_in(3);
        declared.then(|| match self.rng.below(3) {
            0 => Domain::Bool,
            _ => Domain::Range(0, 1 + self.rng.below(self.shape.values as usize) as i128),
        })
    }

    /// A statement other than loops and branches.
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
    pub(super) fn wait(&mut self) -> StmtKind {
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
        if self.shape.blocks && depth < 2 && !self.in_block && self.rng.once_in(3) {
            let kind = *self.rng.pick(&[AtomicKind::Full, AtomicKind::Statement]);
            self.in_block = true;
            let body = self.block(depth + 1);
            self.in_block = false;
            return StmtKind::Atomic(kind, body);
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

    /// An access or a fence.
    pub(super) fn step(&mut self) -> StmtKind {
        let mut step = self.unordered_step();
        if self.shape.orders {
            self.order(&mut step);
        }
        step
    }

    /// Gives an access an order, or none.
    fn order(&mut self, step: &mut StmtKind) {
        use Order::{Acquire, AcquireRelease, Plain, Relaxed, Release, SeqCst};
        if self.rng.once_in(6) {
            return;
        }
        match step {
            StmtKind::Load(_, place) => {
                let orders = [Relaxed, Acquire, SeqCst];
                place.order = Some(*self.rng.pick(&orders));
            }
            StmtKind::Store(place, _) => {
                let orders = [Relaxed, Release, SeqCst];
                place.order = Some(*self.rng.pick(&orders));
            }
            StmtKind::Rmw(_, place, rmw) => {
                let orders = [Relaxed, Acquire, Release, AcquireRelease, SeqCst, SeqCst];
                place.order = Some(*self.rng.pick(&orders));
                if let Rmw::Cas { failure, .. } | Rmw::CasFlag { failure, .. } = rmw
                    && self.rng.once_in(2)
                {
                    *failure = Some(*self.rng.pick(&[Relaxed, Acquire, SeqCst]));
                }
            }
            _ => {}
        }
        if let StmtKind::Load(_, place) | StmtKind::Store(place, _) = step
            && self.rng.once_in(30)
        {
            place.order = Some(Plain);
        }
    }

    fn unordered_step(&mut self) -> StmtKind {
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
                        Rmw::CasFlag { expected: self.value(), new: self.value(), failure: None }
                    }
                    1 if shape.locals && !self.in_block && self.rng.once_in(4) => {
                        let register = self.register();
                        let read = || Expr::Atom(register);
                        let when = Expr::binary(BinOp::Eq, read(), Expr::Const(0));
                        let new = Expr::binary(BinOp::Sub, Expr::Const(1), read());
                        return StmtKind::Rmw(register, place, Rmw::Update { when, new });
                    }
                    0 => Rmw::Cas { expected: self.value(), new: self.value(), failure: None },
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
            return Place::element(VarId(0), self.shape.vars as u32, index);
        }
        Place::var(VarId::new(self.rng.below(self.shape.vars)))
    }

    /// A new register, or at times an old one.
    pub(super) fn register(&mut self) -> RegId {
        if self.registers.len() < 4 && !(self.shape.loops && self.registers.len() > 1) {
            self.registers.push(format!("r{}", self.registers.len()));
            return RegId::new(self.registers.len() - 1);
        }
        RegId::new(self.rng.below(self.registers.len()))
    }

    pub(super) fn value(&mut self) -> Code {
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

    pub(super) fn condition(&mut self) -> Code {
        let register = Expr::Atom(RegId::new(self.rng.below(self.registers.len())));
        Expr::binary(BinOp::Eq, register, Expr::Const(self.rng.below(2) as i128))
    }
}
