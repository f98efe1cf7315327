//! The expressions of statements: each shared variable is a load of its own,
//! strictly from left to right, and the right operands of `and` and `or` are
//! evaluated only where they are needed.

use std::mem;

use weir_model::ids::{RegId, VarId};
use weir_model::program::{self, BinOp, Code, Expr, Rmw, StmtKind};

use super::process::Lowering;
use super::value::Values;
use super::{Context, What};
use crate::Diagnostic;
use crate::errors::quote;
use crate::weir::fold;
use crate::weir::tree::{self, Atomic, ExprKind, Place, Span};

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
            _ => {
                let message = "only a property can look into a process";
                self.cx.error_at(message, e.span);
                None
            }
        }
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
            ExprKind::Any(_) | ExprKind::Atomic(..) => true,
            ExprKind::Place(place) => {
                let name = place.name.text;
                let is_global =
                    matches!(self.cx.globals.get(name), Some(g) if matches!(g.what, What::Var(_)));
                is_global && !self.inside.registers.contains_key(name)
            }
            _ => false,
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
            ExprKind::Atomic(Atomic::Update, ..) if self.in_block => {
                let message = "`update` may not stand in a block that is one step";
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
            ExprKind::Atomic(atomic, place, operands) => {
                let (place, rmw) = self.atomic(*atomic, place, operands, e.span)?;
                Box::new(|r| StmtKind::Rmw(r, place, rmw))
            }
            ExprKind::Place(place) => {
                let place = self.place(place, "variable, register or constant")?;
                Box::new(|r| StmtKind::Load(r, place))
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

    fn atomic(
        &mut self,
        atomic: Atomic,
        place: &Place<'t>,
        operands: &[tree::Expr<'t>],
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
            Atomic::Cas => Rmw::CasFlag { expected: operand()?, new: operand()? },
            Atomic::Cmpxchg => Rmw::Cas { expected: operand()?, new: operand()? },
            Atomic::Swap => Rmw::Swap(operand()?),
            Atomic::Fetch(op) => Rmw::Fetch(op, operand()?),
            Atomic::Update => Rmw::Update { when: operand()?, new: operand()? },
        };
        Some((place, rmw))
    }

    fn register_or_constant(&mut self, place: &Place<'t>) -> Option<Code> {
        let name = place.name;
        let local = self.inside.registers.get(name.text).map(|(id, _)| Expr::Atom(*id));
        let parameter = self.parameter.filter(|(p, _)| p.text == name.text);
        let value = local.or(parameter.map(|(_, value)| Expr::Const(value)));
        let value = value.or_else(|| match self.cx.globals.get(name.text)?.what {
            What::Const(value) => Some(Expr::Const(value)),
            _ => None,
        });
        match value {
            Some(value) if place.index.is_none() => Some(value),
            _ => {
                self.place(place, "variable, register or constant");
                None
            }
        }
    }

    /// A variable or an element of an array. `None` after an error; `what` says
    /// what a name could have stood for.
    pub fn place(&mut self, place: &Place<'t>, what: &str) -> Option<program::Place> {
        let index = place.index.as_ref().map(|e| (self.value(e), e.span));
        let (name, quoted) = (place.name, quote(place.name.text));
        let local = self.inside.registers.contains_key(name.text);
        let parameter = self.parameter.is_some_and(|(p, _)| p.text == name.text);
        let global = self.cx.globals.get(name.text).map(|g| (g.span, g.what.clone()));
        let (span, variable) = match global {
            Some((span, What::Var(variable))) => (span, variable),
            Some((_, What::Broken)) => return None,
            Some((span, other)) => {
                let message = format!("{quoted} is {}, not a variable", other.kind());
                let error = Diagnostic::new(message, place.span.range());
                self.cx.error(error.note(span.range(), "it is declared here"));
                return None;
            }
            None if local || parameter => {
                let kind = if local { "a register" } else { "the number of the process" };
                self.cx.error_at(format!("{quoted} is {kind}, not a {what}"), place.span);
                return None;
            }
            None if self.later.contains_key(name.text) => {
                let message = format!("{quoted} is used before it is declared");
                let error = Diagnostic::new(message, name.span.range());
                let declared = self.later[name.text].range();
                self.cx.error(error.note(declared, "it is declared here"));
                return None;
            }
            None => {
                let mut names: Vec<_> = self.inside.registers.keys().copied().collect();
                names.extend(self.parameter.map(|(p, _)| p.text));
                self.cx.unknown(what, name, &names);
                return None;
            }
        };
        let wrong = match (variable.len, index) {
            (None, None) => return Some(program::Place::var(variable.first)),
            (Some(len), Some((index, at))) => {
                return self.element(variable.first, len, index?, at, name.text);
            }
            (Some(_), None) => {
                let example: String = name.text.chars().take(40).collect();
                format!("{quoted} is an array; say which element, as in `{example}[0]`")
            }
            (None, Some(_)) => format!("{quoted} is not an array"),
        };
        let error = Diagnostic::new(wrong, place.span.range());
        self.cx.error(error.note(span.range(), "it is declared here"));
        None
    }

    fn element(
        &mut self,
        first: VarId,
        len: u32,
        index: Code,
        span: Span,
        array: &str,
    ) -> Option<program::Place> {
        if let Expr::Const(value) = index {
            if let Some(element) = u32::try_from(value).ok().filter(|v| *v < len) {
                let var = VarId::new(first.index() + element as usize);
                return Some(program::Place::var(var));
            }
            if self.cx.dead == 0 {
                self.cx.outside(array, len, value, span);
                return None;
            }
        }
        Some(program::Place { first, len, index: Some(index) })
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
