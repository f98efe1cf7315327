//! Parses expressions, by binding strength.

use weir_model::program::{IntType, UnOp};

use super::statements::{ATOMICS, FAILURES, LOADS};
use super::{Ordered, Parsed, Parser, is};
use crate::orders::Access;
use crate::weir::lexer::Kind;
use crate::weir::operators;
use crate::weir::tree::{
    Atomic, Choice, Domain, Expr, ExprKind, Name, Quantified, Selector, Span, Who,
};
use crate::{Diagnostic, MAX_NESTING};

impl<'t> Parser<'_, 't> {
    /// A whole expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr<'t>> {
        let expr = self.infix(0)?;
        let expr = if self.is("?") { self.conditional_value(expr)? } else { expr };
        while self.is("=") {
            let at = self.tokens.peek().span.range();
            let error = Diagnostic::new("`=` assigns; it is not allowed here", at.clone());
            self.fail(error.help("use `==` to compare").fix(at, "=="));
            self.tokens.next();
            self.infix(0)?;
        }
        Ok(expr)
    }

    /// `c ? a : b`, after `c`.
    fn conditional_value(&mut self, condition: Expr<'t>) -> Parsed<Expr<'t>> {
        let mark = self.tokens.next().span;
        self.enter(mark)?;
        let then = self.expr()?;
        self.expect(":", "and the value otherwise")?;
        let other = self.expr()?;
        self.brackets -= 1;
        let span = condition.span.to(other.span);
        let depth = 1 + condition.depth.max(then.depth).max(other.depth);
        let parts = [condition, then, other].map(Box::new);
        let [condition, then, other] = parts;
        self.node(ExprKind::Conditional(condition, then, other), span, depth)
    }

    /// Whether `exists i: …` or `forall i in …` begins here.
    fn begins_quantified(&self) -> bool {
        (self.is("exists") || self.is_word("forall"))
            && self.tokens.peek_at(1).kind == Kind::Name
            && (is(self.tokens.peek_at(2), ":") || self.tokens.peek_at(2).text == "in")
    }

    fn quantified(&mut self) -> Parsed<Expr<'t>> {
        let word = self.tokens.next();
        self.enter(word.span)?;
        let name = self.name("a name")?;
        let mut range = None;
        if !self.is(":") {
            self.tokens.next();
            let low = self.bound()?;
            self.expect("..", "and the last number")?;
            range = Some(Box::new((low, self.bound()?)));
        }
        self.expect(":", &format!("and a formula after `{} …`", word.text))?;
        let body = Box::new(self.expr()?);
        self.brackets -= 1;
        let (span, depth) = (word.span.to(body.span), 1 + body.depth);
        let is_all = word.text == "forall";
        let word = word.span;
        self.node(ExprKind::Quantified(Quantified { is_all, name, range, body, word }), span, depth)
    }

    /// Operands joined by operators that bind at least as strongly as `weakest`.
    pub(super) fn infix(&mut self, weakest: u8) -> Parsed<Expr<'t>> {
        let mut left = self.prefix(weakest)?;
        let mut compared = false;
        loop {
            let token = self.tokens.peek();
            let operator = operators::infix(token.text).filter(|_| is(token, token.text));
            let Some((op, strength)) = operator.filter(|(_, s)| *s >= weakest) else {
                return Ok(left);
            };
            if strength == operators::COMPARISON && std::mem::replace(&mut compared, true) {
                let error =
                    Diagnostic::new("comparisons do not chain; use `and`", token.span.range());
                self.fail(error.help("write `a < b and b < c`"));
            }
            compared &= strength >= operators::COMPARISON;
            self.tokens.next();
            let right = self.infix(strength + 1)?;
            let span = left.span.to(right.span);
            let depth = 1 + left.depth.max(right.depth);
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = self.node(kind, span, depth)?;
        }
    }

    fn prefix(&mut self, weakest: u8) -> Parsed<Expr<'t>> {
        let token = self.tokens.peek();
        let (op, operand) = if self.is("not") || self.is("!") {
            if weakest > operators::NOT {
                let help = format!("put it in brackets: `({} …)`", token.text);
                let message =
                    format!("`{}` binds more weakly than the operator before it", token.text);
                return Err(self.fail(Diagnostic::new(message, token.span.range()).help(help)));
            }
            (UnOp::Not, operators::NOT)
        } else if self.is("-") {
            (UnOp::Neg, operators::SIGN)
        } else if self.begins_quantified() {
            return self.quantified();
        } else {
            return self.primary();
        };
        self.tokens.next();
        self.enter(token.span)?;
        let inner = self.infix(operand)?;
        self.brackets -= 1;
        let (span, depth) = (token.span.to(inner.span), 1 + inner.depth);
        self.node(ExprKind::Unary(op, Box::new(inner)), span, depth)
    }

    pub(super) fn node(
        &mut self,
        kind: ExprKind<'t>,
        span: Span,
        depth: usize,
    ) -> Parsed<Expr<'t>> {
        if depth > MAX_NESTING {
            return Err(self.too_deep("operators", span));
        }
        Ok(Expr { kind, span, depth })
    }

    pub(super) fn enter(&mut self, span: Span) -> Parsed<()> {
        self.brackets += 1;
        if self.brackets > MAX_NESTING {
            return Err(self.too_deep("brackets", span));
        }
        Ok(())
    }

    /// An expression and the bracket that closes it; the opening one is read.
    pub(super) fn bracketed(&mut self, close: &str, context: &str) -> Parsed<Expr<'t>> {
        let open = self.last();
        self.enter(open)?;
        let inner = self.expr()?;
        self.brackets -= 1;
        self.expect(close, context)?;
        Ok(inner)
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr<'t>> {
        let token = self.tokens.peek();
        let leaf = |kind| Ok(Expr { kind, span: token.span, depth: 1 });
        match (token.kind, token.text) {
            (Kind::Number(value), _) => {
                self.tokens.next();
                leaf(ExprKind::Number(value))
            }
            (Kind::Keyword, "true" | "false") => {
                self.tokens.next();
                leaf(ExprKind::Number(i128::from(token.text == "true")))
            }
            (Kind::Keyword, "any") => self.any(),
            (Kind::Keyword, name) if IntType::named(name).is_some() => self.wrapped(),
            (Kind::Symbol, "(") => {
                self.tokens.next();
                let inner = self.bracketed(")", "to close the bracket")?;
                Ok(Expr { span: token.span.to(self.last()), ..inner })
            }
            (Kind::Name, _) => {
                let name = self.name("a name")?;
                if self.is("(") { self.call(name) } else { self.named(name) }
            }
            _ => Err(self.expected("an expression")),
        }
    }

    /// `x`, `a[e]`, `p@label`, `p[0].r`, `x.load(acquire)`, after the name.
    fn named(&mut self, name: Name<'t>) -> Parsed<Expr<'t>> {
        let place = self.place(name)?;
        let depth = 1 + place.depth();
        let span = place.span;
        if self.is_method("load") {
            self.tokens.at += 3;
            let order = self.order(Access::Load, &LOADS)?;
            self.expect(")", "after the order of the load")?;
            return self.node(ExprKind::Load(place, order), span.to(self.last()), depth);
        }
        if self.is_method("store") {
            let message = "a store has no value";
            let error = Diagnostic::new(message, self.tokens.peek_at(1).span.range());
            return Err(self.fail(error.help("write it as a statement: `x.store(1, release)`")));
        }
        if !self.eat("@") {
            self.ordered.push(Ordered::Read(span));
            return self.node(ExprKind::Place(place), span, depth);
        }
        let mut selectors = place.selectors.into_iter();
        let index = match (selectors.next(), selectors.next()) {
            (None, _) => None,
            (Some(Selector::Index(index)), None) => Some(Box::new(index)),
            _ => {
                let error = Diagnostic::new("only a process has places", span.range());
                return Err(self.fail(error));
            }
        };
        let who = Who { name, index, span };
        let kind = ExprKind::At(who, self.name("a label after `@`")?);
        let span = span.to(self.last());
        self.node(kind, span, depth)
    }

    /// `u8(e)`
    fn wrapped(&mut self) -> Parsed<Expr<'t>> {
        let start = self.tokens.peek().span;
        let Some(int) = self.int_type() else { return Err(self.expected("a type")) };
        self.expect("(", &format!("and a number after `{}`", int.name()))?;
        let inner = self.bracketed(")", "to close the bracket")?;
        let (span, depth) = (start.to(self.last()), 1 + inner.depth);
        self.node(ExprKind::Unary(UnOp::Wrap(int), Box::new(inner)), span, depth)
    }

    fn any(&mut self) -> Parsed<Expr<'t>> {
        let start = self.tokens.next().span;
        self.expect("(", "and what to choose from after `any`")?;
        self.enter(start)?;
        let choice = self.choice()?;
        self.brackets -= 1;
        let end = self.expect(")", "after what `any` chooses from")?;
        self.node(ExprKind::Any(choice), start.to(end), 1)
    }

    fn choice(&mut self) -> Parsed<Choice<'t>> {
        if self.eat("bool") {
            return Ok(Choice::Domain(Domain::Bool));
        }
        if IntType::named(self.tokens.peek().text).is_some() && !is(self.tokens.peek_at(1), "(") {
            return Ok(Choice::Domain(self.domain()?));
        }
        let first = self.bound()?;
        if self.eat("..") {
            let range = Domain::Range(Box::new(first), Box::new(self.bound()?));
            return Ok(Choice::Domain(range));
        }
        let mut list = vec![first];
        while self.eat(",") {
            list.push(self.bound()?);
        }
        Ok(Choice::List(list))
    }

    /// A call, after its name.
    fn call(&mut self, name: Name<'t>) -> Parsed<Expr<'t>> {
        self.tokens.next();
        self.enter(name.span)?;
        let (kind, depth) = match operators::called(name.text) {
            _ if name.text == "count" => (self.count()?, 1),
            Some(op) => {
                let a = self.expr()?;
                self.expect(",", &format!("and the second value of `{}`", name.text))?;
                let b = self.expr()?;
                let depth = 1 + a.depth.max(b.depth);
                (ExprKind::Binary(op, Box::new(a), Box::new(b)), depth)
            }
            None => match operators::atomic(name.text) {
                Some(atomic) => self.atomic(name, atomic)?,
                None => self.procedure_call(name)?,
            },
        };
        self.brackets -= 1;
        let end = self.expect(")", &format!("to close `{}(`", name.text))?;
        self.node(kind, name.span.to(end), depth)
    }

    fn count(&mut self) -> Parsed<ExprKind<'t>> {
        let start = self.tokens.peek().span;
        match self.primary()?.kind {
            ExprKind::At(who, label) => Ok(ExprKind::Count(who, label)),
            _ => {
                let range = start.to(self.last()).range();
                let message = "`count` needs a place in a process, as in `count(p@label)`";
                Err(self.fail(Diagnostic::new(message, range)))
            }
        }
    }

    /// The operands of an atomic operation.
    fn atomic(&mut self, name: Name<'t>, atomic: Atomic) -> Parsed<(ExprKind<'t>, usize)> {
        let target = self.name(&format!("a shared variable in `{}(`", name.text))?;
        let place = self.place(target)?;
        let operands: &[&str] = match atomic {
            Atomic::Cas | Atomic::Cmpxchg => &["expected value", "new value"],
            Atomic::Swap | Atomic::Fetch(_) => &["operand"],
            Atomic::Update => &["condition", "new value"],
        };
        let mut depth = place.depth();
        let mut values = Vec::new();
        for operand in operands {
            self.expect(",", &format!("and the {operand} in `{}(`", name.text))?;
            let value = self.expr()?;
            depth = depth.max(value.depth);
            values.push(value);
        }
        let order = match self.eat(",") {
            true => Some(self.order(Access::ReadWrite, &ATOMICS)?),
            false => {
                self.ordered.push(Ordered::Atomic(name.span, self.last()));
                None
            }
        };
        let has_failure = order.is_some() && matches!(atomic, Atomic::Cas | Atomic::Cmpxchg);
        let failure = match has_failure && self.eat(",") {
            true => Some(self.order(Access::Failure, &FAILURES)?),
            false => None,
        };
        Ok((ExprKind::Atomic(atomic, place, values, order, failure), depth + 1))
    }

    /// The arguments of a procedure.
    fn procedure_call(&mut self, name: Name<'t>) -> Parsed<(ExprKind<'t>, usize)> {
        let mut arguments = Vec::new();
        let mut depth = 0;
        while !self.is(")") {
            let argument = self.expr()?;
            depth = depth.max(argument.depth);
            arguments.push(argument);
            if !self.eat(",") {
                break;
            }
        }
        Ok((ExprKind::Call(name, arguments), depth + 1))
    }
}
