//! Expressions, whatever their atoms are: constants have none, code has
//! registers, formulas have parts of the state. What differs between the three
//! is only what a leaf stands for, and, for code, that the right operand of
//! `and` and `or` may have to be guarded.

use weir_model::program::{BinOp, Expr};

use super::domain::constant;
use super::{Context, What};
use crate::MAX_NESTING;
use crate::errors::quote;
use crate::weir::fold;
use crate::weir::tree::{self, ExprKind, Span};

/// Something that turns expressions into [`Expr`]s over its own atoms.
pub trait Values<'t> {
    /// What stands at the leaves.
    type Atom;

    /// What operators without a value (`1 / 0`) mean: in code the process
    /// fails when it gets there, anywhere else they are an error.
    const FAILS_WHEN_RUN: bool = false;

    /// The program around it.
    fn context(&mut self) -> &mut Context<'t>;

    /// The value of anything but a number or an operator. `None` after an error.
    fn leaf(&mut self, e: &tree::Expr<'t>) -> Option<Expr<Self::Atom>>;

    /// `a and b` or `a or b`. `None` after an error.
    fn logical(
        &mut self,
        op: BinOp,
        a: &tree::Expr<'t>,
        b: &tree::Expr<'t>,
    ) -> Option<Expr<Self::Atom>> {
        let a = self.value(a);
        let decided = a.as_ref().and_then(|a| fold::decided(op, a));
        self.context().dead += usize::from(decided.is_some());
        let b = self.value(b);
        self.context().dead -= usize::from(decided.is_some());
        match decided {
            Some(value) => Some(Expr::Const(value)),
            None => fold::binary(op, a?, b?).ok(),
        }
    }

    /// `c ? a : b`. `None` after an error.
    fn conditional(
        &mut self,
        c: &tree::Expr<'t>,
        a: &tree::Expr<'t>,
        b: &tree::Expr<'t>,
    ) -> Option<Expr<Self::Atom>> {
        let condition = self.value(c);
        let truth = condition.as_ref().and_then(constant).map(|c| c != 0);
        let mut branch = |e: &tree::Expr<'t>, is_dead: bool| {
            self.context().dead += usize::from(is_dead);
            let value = self.value(e);
            self.context().dead -= usize::from(is_dead);
            value
        };
        let (a, b) = (branch(a, truth == Some(false)), branch(b, truth == Some(true)));
        match truth {
            Some(true) => a,
            Some(false) => b,
            None => self.either(condition?, a?, b?, c.span),
        }
    }

    /// `c ? a : b` as an expression, for a condition that is not constant. `None` after an error.
    fn either(
        &mut self,
        c: Expr<Self::Atom>,
        a: Expr<Self::Atom>,
        b: Expr<Self::Atom>,
        span: Span,
    ) -> Option<Expr<Self::Atom>>;

    /// The value of an expression. `None` after an error.
    fn value(&mut self, e: &tree::Expr<'t>) -> Option<Expr<Self::Atom>> {
        let folded = match &e.kind {
            ExprKind::Number(value) => return Some(Expr::Const(*value)),
            ExprKind::Unary(op, inner) => {
                let inner = self.value(inner)?;
                fold::unary(*op, inner)
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => Ok(self.logical(*op, a, b)?),
            ExprKind::Conditional(c, a, b) => Ok(self.conditional(c, a, b)?),
            ExprKind::Binary(op, a, b) => {
                // Both, so that errors in both are found.
                let (a, b) = (self.value(a), self.value(b));
                fold::binary(*op, a?, b?)
            }
            _ => return self.leaf(e),
        };
        match folded {
            Ok(value) => self.bounded(value, e.span),
            Err((_, unfolded)) if Self::FAILS_WHEN_RUN || self.context().dead > 0 => {
                self.bounded(unfolded, e.span)
            }
            Err((error, _)) => {
                self.context().no_value(error, e.span);
                None
            }
        }
    }

    /// `e`, if it does not nest too deep. What is made of an expression can
    /// nest deeper than the expression, as with the sum that `count` stands for.
    fn bounded(&mut self, e: Expr<Self::Atom>, span: Span) -> Option<Expr<Self::Atom>> {
        if fold::depth(&e) <= MAX_NESTING {
            return Some(e);
        }
        let message = format!("operators nest more than {MAX_NESTING} deep here");
        self.context().error_at(message, span);
        None
    }
}

/// Constant expressions: no atoms but a family's parameter.
pub struct Constants<'c, 't> {
    pub cx: &'c mut Context<'t>,
    /// Names that stand for numbers here.
    pub known: Vec<(&'t str, i128)>,
}

/// There is no such thing.
#[derive(Debug)]
pub enum NoAtom {}

impl<'t> Constants<'_, 't> {
    /// The value. `None` after an error.
    pub fn eval(&mut self, e: &tree::Expr<'t>) -> Option<i128> {
        match self.value(e)? {
            Expr::Const(value) => Some(value),
            _ => {
                self.cx.error_at("this constant has no value", e.span);
                None
            }
        }
    }
}

impl<'t> Values<'t> for Constants<'_, 't> {
    type Atom = NoAtom;

    fn context(&mut self) -> &mut Context<'t> {
        self.cx
    }

    fn either(
        &mut self,
        _: Expr<NoAtom>,
        _: Expr<NoAtom>,
        _: Expr<NoAtom>,
        span: Span,
    ) -> Option<Expr<NoAtom>> {
        self.cx.error_at("this has to be a constant", span);
        None
    }

    fn leaf(&mut self, e: &tree::Expr<'t>) -> Option<Expr<NoAtom>> {
        let ExprKind::Place(place) = &e.kind else {
            self.cx.error_at("this has to be a constant", e.span);
            return None;
        };
        let name = place.name;
        if place.selectors.is_empty() {
            if let Some((_, value)) = self.known.iter().rev().find(|(n, _)| *n == name.text) {
                return Some(Expr::Const(*value));
            }
            match self.cx.globals.get(name.text).map(|g| &g.what) {
                Some(What::Const(value)) => return Some(Expr::Const(*value)),
                Some(What::Broken) => return None,
                Some(_) => {}
                None => {
                    let local: Vec<_> = self.known.iter().map(|(name, _)| *name).collect();
                    self.cx.unknown("constant", name, &local);
                    return None;
                }
            }
        }
        self.cx.error_at(format!("{} is not a constant", quote(name.text)), e.span);
        None
    }
}
