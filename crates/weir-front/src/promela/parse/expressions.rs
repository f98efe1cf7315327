//! Parses expressions: C's operators with C's precedence, and `(a -> b : c)`.

use weir_model::program::BinOp;

use super::{Parsed, Parser};
use crate::MAX_NESTING;
use crate::promela::lexer::{Kind, Token};
use crate::promela::tree::{Expr, ExprKind, Fill, Name, Pattern, Place, Receive};

/// Infix operators, and how strongly they bind.
const INFIX: [(&str, BinOp, u8); 18] = [
    ("||", BinOp::Or, 1),
    ("&&", BinOp::And, 2),
    ("|", BinOp::BitOr, 3),
    ("^", BinOp::BitXor, 4),
    ("&", BinOp::BitAnd, 5),
    ("==", BinOp::Eq, 6),
    ("!=", BinOp::Ne, 6),
    ("<", BinOp::Lt, 7),
    ("<=", BinOp::Le, 7),
    (">", BinOp::Gt, 7),
    (">=", BinOp::Ge, 7),
    ("<<", BinOp::Shl, 8),
    (">>", BinOp::Shr, 8),
    ("+", BinOp::Add, 9),
    ("-", BinOp::Sub, 9),
    ("*", BinOp::Mul, 10),
    ("/", BinOp::Div, 10),
    ("%", BinOp::Mod, 10),
];

impl<'t> Parser<'_, 't> {
    pub(super) fn expr(&mut self) -> Parsed<Expr<'t>> {
        self.infix(1)
    }

    /// A number that is not in the text.
    pub(super) fn number(value: i128, token: Token<'t>) -> Expr<'t> {
        Expr { kind: ExprKind::Number(value), token, span: token.span, depth: 1 }
    }

    fn made(&mut self, kind: ExprKind<'t>, first: Token<'t>, below: usize) -> Parsed<Expr<'t>> {
        if below >= MAX_NESTING {
            let message = format!("this expression nests more than {MAX_NESTING} deep");
            self.tokens.skip_all();
            return Err(self.fail(first.error(message)));
        }
        Ok(Expr { kind, token: first, span: self.span_from(first), depth: below + 1 })
    }

    pub(super) fn infix(&mut self, strength: u8) -> Parsed<Expr<'t>> {
        let first = self.tokens.peek();
        let mut left = self.prefix()?;
        loop {
            let token = self.tokens.peek();
            let known = INFIX.iter().find(|(text, _, s)| token.is(text) && *s >= strength);
            let Some(&(_, op, binds)) = known else { return Ok(left) };
            // `<->` is of formulas.
            if token.is("<") && self.tokens.peek_at(1).is("->") {
                return Ok(left);
            }
            self.tokens.next();
            let right = self.nested(|this| this.infix(binds + 1))?;
            let depth = left.depth.max(right.depth);
            left = self.made(ExprKind::Binary(op, left.into(), right.into()), first, depth)?;
        }
    }

    fn prefix(&mut self) -> Parsed<Expr<'t>> {
        let first = self.tokens.peek();
        let make: fn(Box<Expr<'t>>) -> ExprKind<'t> = match first.text {
            "!" => ExprKind::Not,
            "-" => ExprKind::Negative,
            "~" => ExprKind::Complement,
            _ => return self.primary(),
        };
        if first.kind != Kind::Symbol {
            return self.primary();
        }
        self.tokens.next();
        let inner = self.nested(Self::prefix)?;
        let depth = inner.depth;
        self.made(make(inner.into()), first, depth)
    }

    fn primary(&mut self) -> Parsed<Expr<'t>> {
        let first = self.tokens.peek();
        match (first.kind, first.text) {
            (Kind::Number(value), _) => {
                self.tokens.next();
                self.made(ExprKind::Number(value), first, 0)
            }
            (Kind::Name, "true" | "skip") => {
                self.tokens.next();
                self.made(ExprKind::Number(1), first, 0)
            }
            (Kind::Name, "false") => {
                self.tokens.next();
                self.made(ExprKind::Number(0), first, 0)
            }
            (Kind::Name, "run") => {
                self.tokens.next();
                let name = self.name("the name of a `proctype`")?;
                self.expect("(", "after the name")?;
                let arguments = self.nested(|this| {
                    let mut list = Vec::new();
                    while !this.is(")") {
                        list.push(this.expr()?);
                        if !this.eat(",") {
                            break;
                        }
                    }
                    Ok(list)
                })?;
                self.expect(")", "after the arguments")?;
                self.priority()?;
                let depth = arguments.iter().map(|a| a.depth).max().unwrap_or(0);
                self.made(ExprKind::Run(name, arguments), first, depth)
            }
            (Kind::Symbol, "(") => {
                self.tokens.next();
                let inner = self.nested(Self::bracketed)?;
                self.expect(")", "after the expression")?;
                Ok(Expr { span: self.span_from(first), token: first, ..inner })
            }
            (Kind::Name, "timeout") => {
                self.tokens.next();
                self.made(ExprKind::Timeout, first, 0)
            }
            (Kind::Name, "len" | "empty" | "full" | "nempty" | "nfull") => {
                self.tokens.next();
                let fill = match first.text {
                    "len" => Fill::Len,
                    "empty" => Fill::Empty,
                    "full" => Fill::Full,
                    "nempty" => Fill::Nempty,
                    _ => Fill::Nfull,
                };
                self.expect("(", "after this word")?;
                let place = self.nested(Self::place)?;
                self.expect(")", "after the channel")?;
                let depth = place.depth();
                self.made(ExprKind::Fill(fill, place.into()), first, depth)
            }
            (Kind::Name, _) => self.named(first),

            _ => Err(self.expected("an expression")),
        }
    }

    /// What stands in brackets: `e` or `a -> b : c`.
    fn bracketed(&mut self) -> Parsed<Expr<'t>> {
        let first = self.tokens.peek();
        let condition = self.expr()?;
        if !self.eat("->") {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.expect(":", "and what it is otherwise")?;
        let no = self.expr()?;
        let depth = condition.depth.max(yes.depth).max(no.depth);
        let kind = ExprKind::Conditional(condition.into(), yes.into(), no.into());
        self.made(kind, first, depth)
    }

    /// `x` or `a[e]`
    pub(super) fn place(&mut self) -> Parsed<Place<'t>> {
        let first = self.tokens.peek();
        let name = self.name("an expression")?;
        let index = if self.eat("[") {
            let index = self.nested(Self::expr)?;
            self.expect("]", "after the index")?;
            Some(Box::new(index))
        } else {
            None
        };
        let field = match self.eat(".") {
            true => Some(Box::new(self.nested(Self::place)?)),
            false => None,
        };
        if self.is("(") && index.is_none() && !self.in_message {
            return Err(self.unknown_call(name));
        }
        Ok(Place { name, index, field, span: self.span_from(first) })
    }

    /// What begins with a name: a variable, a test of a channel, or something of another process.
    fn named(&mut self, first: Token<'t>) -> Parsed<Expr<'t>> {
        let place = self.place()?;
        let depth = place.depth();
        let is_random = self.is("??");
        if (is_random || self.is("?")) && self.tokens.peek_at(1).is("[") {
            self.tokens.next();
            self.tokens.next();
            let patterns = self.nested(Self::patterns)?;
            self.expect("]", "after the message")?;
            let receive = Receive { channel: place, patterns, is_random, keeps: true };
            return self.made(ExprKind::Poll(receive.into()), first, depth);
        }
        if place.field.is_none() && self.eat("@") {
            let label = self.name("a label")?;
            return self.made(
                ExprKind::At(Box::new((place.name, place.index, label))),
                first,
                depth,
            );
        }
        if place.field.is_none()
            && self.is(":")
            && (place.index.is_some() || self.is_remote)
            && self.tokens.peek_at(1).kind == Kind::Name
        {
            self.tokens.next();
            let inner = self.nested(Self::place)?;
            let depth = depth.max(inner.depth());
            return self.made(
                ExprKind::Remote(Box::new((place.name, place.index, inner))),
                first,
                depth,
            );
        }
        self.made(ExprKind::Place(place), first, depth)
    }

    /// What a message is received by: `x, 1, eval(y)`, `m(x, y)` or `(x, y)`.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern<'t>>> {
        let was = std::mem::replace(&mut self.in_message, true);
        let patterns = self.pattern_list();
        self.in_message = was;
        patterns
    }

    fn pattern_list(&mut self) -> Parsed<Vec<Pattern<'t>>> {
        let mut list = Vec::new();
        loop {
            let token = self.tokens.peek();
            if self.eat("(") {
                list.extend(self.nested(Self::pattern_list)?);
                self.expect(")", "after the message")?;
            } else if self.eat("eval") {
                self.expect("(", "after `eval`")?;
                let was = std::mem::replace(&mut self.in_message, false);
                let e = self.nested(Self::expr);
                self.in_message = was;
                list.push(Pattern::Value(e?));
                self.expect(")", "after the value")?;
            } else if matches!(token.kind, Kind::Number(_))
                || ["-", "true", "false", "skip"].iter().any(|t| token.is(t))
            {
                list.push(Pattern::Value(self.prefix()?));
            } else {
                list.push(Pattern::Place(self.place()?));
            }
            if self.is("(") {
                continue;
            }
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    /// The fields of a message that is sent: `a, b` or `m(a, b)`.
    pub(super) fn message(&mut self) -> Parsed<Vec<Expr<'t>>> {
        let was = std::mem::replace(&mut self.in_message, true);
        let first = self.expr();
        self.in_message = was;
        let mut list = vec![first?];
        if self.eat("(") {
            list.push(self.nested(Self::expr)?);
            while self.eat(",") {
                list.push(self.nested(Self::expr)?);
            }
            self.expect(")", "after the message")?;
            return Ok(list);
        }
        while self.eat(",") {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    fn unknown_call(&mut self, name: Name<'t>) -> super::Failed {
        let message = format!("there is no `inline` or macro {}", crate::errors::quote(name.text));
        self.fail(name.token.error(message).help("declare it before its first use"))
    }
}
