//! The expressions of statements: each shared variable is a load of its own,
//! strictly from left to right, and the right operands of `and` and `or` are
//! evaluated only where they are needed.

use std::mem;
use std::ops::Range;

use weir_model::ids::{RegId, VarId};
use weir_model::program::{self, BinOp, Code, Expr, Order, Rmw, StmtKind};

use super::layout::{Cell, Layout, Where};
use super::process::{Local, Lowering};
use super::value::Values;
use super::{Context, What};
use crate::Diagnostic;
use crate::errors::quote;
use crate::weir::fold;
use crate::weir::tree::{self, Atomic, ExprKind, Place, Span};

/// What a place stands for.
#[derive(Clone, Debug)]
pub enum Target {
    /// A variable, or one of several.
    Shared(program::Place),
    /// A register.
    Register(RegId),
    /// One of several registers.
    Registers { first: RegId, len: u32, index: Code },
}

impl Target {
    fn of_memory(place: Where<VarId>) -> Self {
        Self::Shared(match place {
            Where::One(var) => program::Place::var(var),
            Where::Several { first, len, index } => program::Place::element(first, len, index),
        })
    }
}

/// The sum of expressions, balanced: there may be as many as expressions may nest deep.
fn sum(list: &[Code]) -> Code {
    match list {
        [one] => one.clone(),
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            Expr::binary(BinOp::Add, sum(a), sum(b))
        }
    }
}

impl<'t> Values<'t> for Lowering<'_, 't> {
    type Atom = RegId;

    const FAILS_WHEN_RUN: bool = true;

    fn context(&mut self) -> &mut Context<'t> {
        self.cx
    }

    fn leaf(&mut self, e: &tree::Expr<'t>) -> Option<Code> {
        if self.is_effect(e) {
            return self.effect(e, None, e.span).map(Expr::Atom);
        }
        match &e.kind {
            ExprKind::Place(place) => self.register_or_constant(place),
            ExprKind::Call(name, arguments) => self.call(*name, arguments, true, e.span),
            ExprKind::Quantified(quantified) => {
                let message = "`exists` and `forall` belong in properties";
                let error = Diagnostic::new(message, quantified.word.range());
                self.cx.error(error.help("write a loop: `for i in 0..3 { … }`"));
                None
            }
            _ => {
                let message = "only a property can look into a process";
                self.cx.error_at(message, e.span);
                None
            }
        }
    }

    /// `if c { t = a } else { t = b }`: only one of the two is evaluated.
    fn conditional(
        &mut self,
        c: &tree::Expr<'t>,
        a: &tree::Expr<'t>,
        b: &tree::Expr<'t>,
    ) -> Option<Code> {
        let (span, free) = (a.span.to(b.span), self.in_use);
        let condition = self.value(c);
        if let Some(Expr::Const(value)) = condition {
            let (taken, other) = if value != 0 { (a, b) } else { (b, a) };
            self.discarded(|this| this.value(other));
            return self.value(taken);
        }
        self.in_use = free;
        let result = self.temporary(span)?;
        let in_use = self.in_use;
        let mut branch = |e: &tree::Expr<'t>| {
            self.in_use = in_use;
            let (block, value) = self.nested(|this| {
                let value = this.value(e)?;
                this.set(result, value, e.span);
                Some(())
            });
            value.map(|()| block)
        };
        let (then, other) = (branch(a), branch(b));
        self.in_use = in_use;
        self.emit(StmtKind::If(condition?, then?, other?), span);
        Some(Expr::Atom(result))
    }

    fn either(&mut self, _: Code, _: Code, _: Code, _: Span) -> Option<Code> {
        None
    }

    /// Where the right operand loads: `if a { …; t = b } else { t = 0 }` for
    /// `and`, `if a { t = 1 } else { …; t = b }` for `or`.
    fn logical(&mut self, op: BinOp, a: &tree::Expr<'t>, b: &tree::Expr<'t>) -> Option<Code> {
        let (span, free) = (a.span.to(b.span), self.in_use);
        let left = self.value(a);
        if let Some(decided) = left.as_ref().and_then(|a| fold::decided(op, a)) {
            self.discarded(|this| this.value(b));
            return Some(Expr::Const(decided));
        }
        if let Some(Expr::Const(_)) = left {
            let right = self.value(b)?;
            return fold::binary(op, left?, right).ok();
        }
        // Where the right operand loads, the left one has been used by then.
        let left_in_use = mem::replace(&mut self.in_use, free);
        let (loads, right) = self.nested(|this| this.value(b));
        let (left, right) = (left?, right?);
        if loads.is_empty() {
            self.in_use = left_in_use;
            return fold::binary(op, left, right).ok();
        }
        self.in_use = free;
        let result = self.temporary(span)?;
        let (long, ()) = self.nested(|this| {
            this.out = loads;
            this.set(result, fold::truth(right), b.span);
        });
        let known = i128::from(op == BinOp::Or);
        let (short, ()) = self.nested(|this| this.set(result, Expr::Const(known), a.span));
        let (then, other) = if op == BinOp::And { (long, short) } else { (short, long) };
        self.emit(StmtKind::If(left, then, other), span);
        Some(Expr::Atom(result))
    }
}

impl<'t> Lowering<'_, 't> {
    /// Whether an expression is one access to memory or one choice, whose
    /// value may go to any register.
    pub fn is_effect(&self, e: &tree::Expr<'t>) -> bool {
        match &e.kind {
            ExprKind::Any(_) | ExprKind::Atomic(..) | ExprKind::Load(..) => true,
            ExprKind::Place(place) => self.is_shared(place),
            _ => false,
        }
    }

    /// Whether a place is in memory.
    pub fn is_shared(&self, place: &Place<'t>) -> bool {
        let name = place.name.text;
        match self.local(name) {
            Some(local) => matches!(local, Local::Variable(_) | Local::Cell(Target::Shared(_))),
            None => self.cx.globals.get(name).is_some_and(|g| matches!(g.what, What::Var(_))),
        }
    }

    /// Writes a load, an atomic operation or a choice; the value goes to
    /// `target` or else to a temporary. `None` after an error.
    pub fn effect(
        &mut self,
        e: &tree::Expr<'t>,
        target: Option<RegId>,
        span: Span,
    ) -> Option<RegId> {
        let free = self.in_use;
        let write: Box<dyn FnOnce(RegId) -> StmtKind> = match &e.kind {
            ExprKind::Any(choice) => {
                self.check_not_waiting("`any`", e.span)?;
                let values = self.constants().choice(choice, e.span)?;
                Box::new(|r| StmtKind::Any(r, values))
            }
            ExprKind::Atomic(Atomic::Update, ..) if self.in_block && !self.at_step => {
                let message = "in a block that is one step, `update` may only be the first statement of a `step`";
                let help = "write `await` and an assignment";
                self.cx.error(Diagnostic::new(message, e.span.range()).help(help));
                return None;
            }
            ExprKind::Atomic(Atomic::Update, ..) if target.is_none() => {
                let message = "`update` needs a register for what it reads";
                let help = "write it as a statement: `r = update(x, r == 0, r + 1)`";
                self.cx.error(Diagnostic::new(message, e.span.range()).help(help));
                return None;
            }
            ExprKind::Atomic(atomic, place, operands, order, failure) => {
                let (mut place, rmw) = self.atomic(*atomic, place, operands, *failure, e.span)?;
                place.order = *order;
                Box::new(|r| StmtKind::Rmw(r, place, rmw))
            }
            ExprKind::Place(place) => {
                let place = self.place(place, "variable, register or constant")?;
                Box::new(|r| StmtKind::Load(r, place))
            }
            ExprKind::Load(place, order) => {
                let Target::Shared(target) = self.target(place, "shared variable")? else {
                    self.no_order(place);
                    return None;
                };
                let target = target.ordered(*order);
                Box::new(|r| StmtKind::Load(r, target))
            }
            _ => return None,
        };
        // The operands are read before the result is written.
        let target = match target {
            Some(target) => target,
            None => {
                self.in_use = free;
                self.temporary(e.span)?
            }
        };
        self.emit(write(target), span);
        Some(target)
    }

    /// Reports an order of something that is not in memory.
    pub fn no_order(&mut self, place: &Place<'t>) {
        let name = quote(place.name.text);
        let message = format!("{name} is a register: only an access to memory has an order");
        self.cx.error_at(message, place.span);
    }

    fn atomic(
        &mut self,
        atomic: Atomic,
        place: &Place<'t>,
        operands: &[tree::Expr<'t>],
        failure: Option<Order>,
        span: Span,
    ) -> Option<(program::Place, Rmw)> {
        let waiting = self.check_not_waiting("an atomic operation", span);
        let place = self.place(place, "shared variable");
        let before = self.out.len();
        let operands: Vec<_> = operands.iter().map(|e| self.value(e)).collect();
        if atomic == Atomic::Update && self.out.len() > before {
            self.cx.error_at("`update` waits with registers and constants only", span);
        }
        let place = place?;
        waiting?;
        let mut operands = operands.into_iter();
        let mut operand = || operands.next().flatten();
        let rmw = match atomic {
            Atomic::Cas => Rmw::CasFlag { expected: operand()?, new: operand()?, failure },
            Atomic::Cmpxchg => Rmw::Cas { expected: operand()?, new: operand()?, failure },
            Atomic::Swap => Rmw::Swap(operand()?),
            Atomic::Fetch(op) => Rmw::Fetch(op, operand()?),
            Atomic::Update => Rmw::Update { when: operand()?, new: operand()? },
        };
        Some((place, rmw))
    }

    fn register_or_constant(&mut self, place: &Place<'t>) -> Option<Code> {
        let name = place.name;
        if place.selectors.is_empty() {
            let constant = match self.local(name.text) {
                Some(Local::Constant(value)) => Some(*value),
                Some(_) => None,
                None => match self.cx.globals.get(name.text).map(|g| &g.what) {
                    Some(What::Const(value)) => Some(*value),
                    _ => None,
                },
            };
            if let Some(value) = constant {
                return Some(Expr::Const(value));
            }
        }
        let target = self.target(place, "variable, register or constant")?;
        self.read(&target, place.span)
    }

    /// The value of a variable or register. `None` after an error.
    pub fn read(&mut self, target: &Target, span: Span) -> Option<Code> {
        match target {
            Target::Register(register) => Some(Expr::Atom(*register)),
            Target::Shared(place) => {
                let register = self.temporary(span)?;
                self.emit(StmtKind::Load(register, place.clone()), span);
                Some(Expr::Atom(register))
            }
            // The sum of all of them, each times whether it is the one.
            Target::Registers { first, len, index } => {
                let index = self.checked(index.clone(), *len, span)?;
                let elements: Vec<Code> = (0..*len)
                    .map(|i| {
                        let test = Expr::Const(i128::from(i));
                        let is_it = Expr::binary(BinOp::Eq, Expr::Atom(index), test);
                        let element = Expr::Atom(first.plus(i as usize));
                        Expr::binary(BinOp::Mul, is_it, element)
                    })
                    .collect();
                Some(sum(&elements))
            }
        }
    }

    /// An index, in a temporary, after it was found to be inside.
    fn checked(&mut self, index: Code, len: u32, span: Span) -> Option<RegId> {
        let register = self.temporary(span)?;
        let index = Expr::binary(BinOp::Index, index, Expr::Const(i128::from(len)));
        let index = self.bounded(index, span)?;
        self.set(register, index, span);
        Some(register)
    }

    /// Writes a variable or register. `None` after an error.
    pub fn write(&mut self, target: Target, value: Code, span: Span) -> Option<()> {
        match target {
            Target::Register(register) => self.set(register, value, span),
            Target::Shared(place) => self.emit(StmtKind::Store(place, value), span),
            Target::Registers { first, len, index } => {
                let index = self.checked(index, len, span)?;
                self.write_one(first, 0..len, index, &value, span);
            }
        }
        Some(())
    }

    /// Writes the register with a number out of a range.
    fn write_one(&mut self, first: RegId, range: Range<u32>, i: RegId, value: &Code, span: Span) {
        if range.len() == 1 {
            return self.set(first.plus(range.start as usize), value.clone(), span);
        }
        let middle = range.start + (range.end - range.start) / 2;
        let is_lower = Expr::binary(BinOp::Lt, Expr::Atom(i), Expr::Const(i128::from(middle)));
        let mut half =
            |range: Range<u32>| self.nested(|this| this.write_one(first, range, i, value, span)).0;
        let (low, high) = (half(range.start..middle), half(middle..range.end));
        self.emit(StmtKind::If(is_lower, low, high), span);
    }

    /// A shared variable or an element of an array. `None` after an error; `what` says
    /// what a name could have stood for.
    pub fn place(&mut self, place: &Place<'t>, what: &str) -> Option<program::Place> {
        match self.target(place, what)? {
            Target::Shared(place) => Some(place),
            _ => {
                let quoted = quote(place.name.text);
                self.cx.error_at(format!("{quoted} is a register, not a {what}"), place.span);
                None
            }
        }
    }

    /// What a place stands for. `None` after an error; `what` says what a name could have stood
    /// for.
    pub fn target(&mut self, place: &Place<'t>, what: &str) -> Option<Target> {
        let (name, quoted) = (place.name, quote(place.name.text));
        match self.local(name.text).cloned() {
            Some(Local::Registers(layout)) => {
                return Some(match self.located(&layout, place, None)? {
                    Where::One(register) => Target::Register(register),
                    Where::Several { first, len, index } => Target::Registers { first, len, index },
                });
            }
            Some(Local::Variable(layout)) => {
                return self.located(&layout, place, None).map(Target::of_memory);
            }
            Some(Local::Cell(target)) => {
                if !place.selectors.is_empty() {
                    self.cx.error_at(format!("{quoted} is not an array"), place.span);
                    return None;
                }
                return Some(target);
            }
            Some(Local::Constant(_)) => {
                let kind = match self.in_procedure() {
                    true => "a parameter",
                    false => "the number of the process",
                };
                self.cx.error_at(format!("{quoted} is {kind}, not a {what}"), place.span);
                return None;
            }
            None => {}
        }
        let global = self.cx.globals.get(name.text).map(|g| (g.span, g.what.clone()));
        match global {
            Some((span, What::Var(layout))) => {
                return self.located(&layout, place, Some(span)).map(Target::of_memory);
            }
            Some((_, What::Broken)) => {}
            Some((_, What::Process(_))) if !place.selectors.is_empty() => {
                let message = "only a property can look into a process";
                self.cx.error_at(message, place.span);
            }
            Some((span, other)) => {
                let message = format!("{quoted} is {}, not a variable", other.kind());
                let error = Diagnostic::new(message, place.span.range());
                self.cx.error(error.note(span.range(), "it is declared here"));
            }
            None => match self.frame().later.get(name.text).copied() {
                Some(declared) => {
                    let is_later = declared.range().start > name.span.range().start;
                    let message = match is_later {
                        true => format!("{quoted} is used before it is declared"),
                        false => format!("{quoted} is not known here: it is declared in a block"),
                    };
                    let error = Diagnostic::new(message, name.span.range());
                    self.cx.error(error.note(declared.range(), "it is declared here"));
                }
                None => {
                    let names = self.local_names();
                    self.cx.unknown(what, name, &names);
                }
            },
        }
        None
    }

    /// The cells that a place chooses from, after its indices.
    fn located<C: Cell>(
        &mut self,
        layout: &Layout<'t, C>,
        place: &Place<'t>,
        declared: Option<Span>,
    ) -> Option<Where<C>> {
        let selectors = &place.selectors;
        let selected = layout.select(self.cx, place.name, selectors, place.span, declared)?;
        let values: Vec<_> = selected.indices.iter().map(|e| self.value(e)).collect();
        let values: Option<Vec<Code>> = values.into_iter().collect();
        selected.locate(self.cx, values?)
    }

    fn check_not_waiting(&mut self, what: &str, span: Span) -> Option<()> {
        if !self.awaiting {
            return Some(());
        }
        let error = Diagnostic::new(format!("{what} is not allowed in `await`"), span.range());
        self.cx.error(error.help("write a loop: `loop { … if … { break } }`"));
        None
    }
}

impl Context<'_> {
    /// Reports a constant index outside of its array.
    pub fn outside(&mut self, array: &str, len: u32, index: i128, span: Span) {
        let elements = if len == 1 { "1 element".to_owned() } else { format!("{len} elements") };
        let array = quote(array);
        self.error_at(format!("index {index} is outside of {array}, which has {elements}"), span);
    }
}
