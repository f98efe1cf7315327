//! Parses statements.

use weir_model::program::{BinOp, FenceKind};

use super::{Parsed, Parser};
use crate::promela::lexer::{Kind, Token, Via};
use crate::promela::tree::{Expr, ExprKind, Place, Receive, Send, Stmt, StmtKind};

/// Whether a token comes from a macro, so that it does not stand in the text where it is used.
fn is_macro(token: &Token<'_>) -> bool {
    matches!(token.via, Some(Via::Macro(_)))
}

/// Whether what comes next has a label.
fn ends_in_label(list: &[Stmt<'_>]) -> bool {
    matches!(list.last(), Some(Stmt { kind: StmtKind::Label(_), .. }))
}

/// Words that begin expressions.
const EXPRESSIONS: [&str; 9] =
    ["true", "false", "run", "timeout", "len", "empty", "full", "nempty", "nfull"];

impl<'t> Parser<'_, 't> {
    /// `{ … }`
    pub(super) fn block(&mut self, context: &str) -> Parsed<Vec<Stmt<'t>>> {
        let begins_guard = self.guard == Some(self.tokens.at);
        let open = self.expect("{", context)?;
        if begins_guard {
            self.guard = Some(self.tokens.at);
        }
        let body = self.nested(Self::sequence)?;
        if !self.eat("}") {
            self.check(self.tokens.peek())?;
            let error = match self.is_end() {
                true => open.error("this block is not closed: `}` is missing"),
                false => return Err(self.expected("`;` or `}`")),
            };
            return Err(self.fail(error));
        }
        Ok(body)
    }

    /// Statements up to what closes them.
    fn sequence(&mut self) -> Parsed<Vec<Stmt<'t>>> {
        let mut list = Vec::new();
        let like = self.tokens.peek().span.range().start;
        loop {
            while self.eat(";") || self.eat("->") {}
            if self.is_end() || ["}", "::", "fi", "od"].iter().any(|t| self.is(t)) {
                self.end_gap(&list, like);
                return Ok(list);
            }
            let start = self.tokens.at;
            let first = self.tokens.peek();
            let is_guard = self.guard == Some(start);
            if !is_guard && !ends_in_label(&list) && !self.begins_declaration() && !is_macro(&first)
            {
                self.gaps.push((first.span.range().start, like, false));
            }
            if self.statement(&mut list).is_err() {
                self.skip();
                if self.tokens.at == start {
                    self.tokens.next();
                }
                continue;
            }
            let block_ends =
                ["}", "fi", "od", ":", "else"].iter().any(|t| self.tokens.last().is(t));
            let more = [";", "->", "}", "::", "fi", "od"].iter().any(|t| self.is(t));
            if !more && !block_ends && !self.is_end() {
                self.expected("`;` between two statements");
                self.skip();
            }
        }
    }

    /// The gap at the end of a sequence.
    fn end_gap(&mut self, list: &[Stmt<'t>], like: usize) {
        let (last, next) = (self.tokens.last(), self.tokens.peek());
        if list.is_empty() || ends_in_label(list) || is_macro(&last) || is_macro(&next) {
            return;
        }
        let is_written = !last.span.range().is_empty();
        self.gaps.push(match (last.is(";") || last.is("->")) && is_written {
            true => (next.span.range().start, like, false),
            false => (last.span.range().end, like, true),
        });
    }

    fn statement(&mut self, list: &mut Vec<Stmt<'t>>) -> Parsed<()> {
        let first = self.tokens.peek();
        self.check(first)?;
        if self.begins_declaration() {
            let declared = self.declarations()?;
            return self.push(list, StmtKind::Declare(declared), first);
        }
        if first.kind == Kind::Name && self.tokens.peek_at(1).is(":") {
            let begins_guard = self.guard == Some(self.tokens.at);
            let name = self.name("a label")?;
            self.tokens.next();
            if begins_guard {
                self.guard = Some(self.tokens.at);
            }
            return self.push(list, StmtKind::Label(name), first);
        }
        let kind = match first.text {
            _ if first.kind != Kind::Name && !first.is("{") => self.plain()?,
            "{" => StmtKind::Block(self.block("")?),
            "atomic" | "d_step" => {
                self.tokens.next();
                let span = first.span;
                let gaps = self.gaps.len();
                let body = self.block("after this word")?;
                self.gaps.truncate(gaps);
                list.push(Stmt { kind: StmtKind::Atomic(body), token: first, span });
                return self.unless(list);
            }
            "if" | "do" => {
                self.tokens.next();
                let options = self.nested(|this| this.options(first))?;
                let is_if = first.is("if");
                let kind = if is_if { StmtKind::If(options) } else { StmtKind::Do(options) };
                list.push(Stmt { kind, token: first, span: first.span });
                return self.unless(list);
            }
            "for" => {
                self.for_loop(list)?;
                return self.unless(list);
            }
            "xr" | "xs" => {
                self.tokens.next();
                self.unheeded(first);
                self.place()?;
                while self.eat(",") {
                    self.place()?;
                }
                return Ok(());
            }
            "select" => {
                self.tokens.next();
                self.expect("(", "after `select`")?;
                let (place, low, high) = self.range()?;
                self.expect(")", "after the range")?;
                StmtKind::Select(place, Box::new((low, high)))
            }
            "goto" => {
                self.tokens.next();
                StmtKind::Goto(self.name("a label")?)
            }
            "break" => self.word(StmtKind::Break),
            "else" => self.word(StmtKind::Else),
            "skip" => self.word(StmtKind::Skip),
            "assert" => {
                self.tokens.next();
                let was = std::mem::replace(&mut self.is_remote, true);
                let e = self.expr();
                self.is_remote = was;
                StmtKind::Assert(e?)
            }
            "printf" | "printm" => {
                self.tokens.next();
                self.skip_brackets()?;
                StmtKind::Skip
            }
            "fence" | "sync" if self.is_alone() => self.fence(FenceKind::Full)?,
            "rfence" if self.is_alone() => self.fence(FenceKind::Read)?,
            "wfence" if self.is_alone() => self.fence(FenceKind::Write)?,
            "store" | "load" if self.tokens.peek_at(1).is("(") => self.access(first)?,
            _ => self.plain()?,
        };
        self.push(list, kind, first)?;
        self.unless(list)
    }

    fn push(&self, list: &mut Vec<Stmt<'t>>, kind: StmtKind<'t>, token: Token<'t>) -> Parsed<()> {
        list.push(Stmt { kind, token, span: self.span_from(token) });
        Ok(())
    }

    /// `unless` and a statement, after the last one of the list.
    fn unless(&mut self, list: &mut Vec<Stmt<'t>>) -> Parsed<()> {
        let token = self.tokens.peek();
        if !self.eat("unless") {
            return Ok(());
        }
        let body: Vec<Stmt<'t>> = list.pop().into_iter().collect();
        let mut escape = Vec::new();
        let gaps = self.gaps.len();
        self.nested(|this| this.statement(&mut escape))?;
        self.gaps.truncate(gaps);
        list.push(Stmt { kind: StmtKind::Unless(body, escape), token, span: token.span });
        Ok(())
    }

    fn word(&mut self, kind: StmtKind<'t>) -> StmtKind<'t> {
        self.tokens.next();
        kind
    }

    /// Whether the next word is a whole statement, perhaps with `()`.
    fn is_alone(&self) -> bool {
        let after = self.tokens.peek_at(1);
        [";", "->", "}", "::", "fi", "od", "("].iter().any(|t| after.is(t))
    }

    fn fence(&mut self, kind: FenceKind) -> Parsed<StmtKind<'t>> {
        self.tokens.next();
        if self.eat("(") {
            self.expect(")", "after `(`")?;
        }
        Ok(StmtKind::Fence(kind))
    }

    /// `store(x, v)` writes; `load(x, v)` reads, and waits until that gives `v`
    /// (Linden and Wolper 2010, section 2).
    fn access(&mut self, word: Token<'t>) -> Parsed<StmtKind<'t>> {
        self.tokens.next();
        self.tokens.next();
        let first = self.tokens.peek();
        let place = self.place()?;
        self.expect(",", "and a value")?;
        let value = self.expr()?;
        self.expect(")", "after the value")?;
        if word.is("store") {
            return Ok(StmtKind::Assign(place, value));
        }
        let depth = value.depth.max(place.depth() + 1);
        let span = place.span;
        let read = Expr { kind: ExprKind::Place(place), token: first, span, depth };
        let kind = ExprKind::Binary(BinOp::Eq, read.into(), value.into());
        Ok(StmtKind::Guard(Expr {
            kind,
            token: word,
            span: self.span_from(word),
            depth: depth + 1,
        }))
    }

    fn skip_brackets(&mut self) -> Parsed<()> {
        self.expect("(", "after this word")?;
        let mut depth = 1usize;
        while depth > 0 {
            if self.is_end() {
                return Err(self.expected("`)`"));
            }
            let token = self.tokens.next();
            depth += usize::from(token.is("("));
            depth -= usize::from(token.is(")"));
        }
        Ok(())
    }

    /// The options of `if` or `do`, and what closes it.
    fn options(&mut self, open: Token<'t>) -> Parsed<Vec<Vec<Stmt<'t>>>> {
        let close = if open.is("if") { "fi" } else { "od" };
        let mut options = Vec::new();
        while self.eat("::") {
            self.guard = Some(self.tokens.at);
            options.push(self.sequence()?);
            if options.last().is_some_and(Vec::is_empty) {
                let error = self.tokens.peek().error("an option needs a statement");
                return Err(self.fail(error));
            }
        }
        if options.is_empty() {
            return Err(self.expected("`::` and an option"));
        }
        if self.eat(close) {
            return Ok(options);
        }
        if self.is_end() {
            let error = open.error(format!("this is not closed: `{close}` is missing"));
            return Err(self.fail(error));
        }
        Err(self.expected(&format!("`::` or `{close}`")))
    }

    /// `x : low .. high`
    fn range(&mut self) -> Parsed<(Place<'t>, Expr<'t>, Expr<'t>)> {
        let place = self.place()?;
        self.expect(":", "and a range")?;
        let low = self.expr()?;
        self.expect("..", "and the last value")?;
        Ok((place, low, self.expr()?))
    }

    /// `for (i : low .. high) { … }` and `for (i in a) { … }`, as Spin takes them:
    /// `i = low; do :: i <= high -> …; i++ :: else -> break od`.
    fn for_loop(&mut self, list: &mut Vec<Stmt<'t>>) -> Parsed<()> {
        let first = self.tokens.next();
        self.expect("(", "after `for`")?;
        let start = self.tokens.at;
        let place = self.place()?;
        let (place, low, high) = if self.is("in") {
            let token = self.tokens.next();
            let array = self.place()?;
            if array.index.is_some() || array.field.is_some() {
                let message = "only an array that is a variable of its own is allowed here";
                return Err(self.fail(array.name.token.error(message)));
            }
            let kind = ExprKind::LastOf(array.name);
            (place, Self::number(0, token), Expr { kind, token, span: token.span, depth: 1 })
        } else {
            self.tokens.at = start;
            self.range()?
        };
        self.expect(")", "after the range")?;
        self.eat(";");
        let span = self.span_from(first);
        let body = self.block("after the range")?;
        let stmt = |kind| Stmt { kind, token: first, span };
        let read = Self::read(&place, first);
        let guard = self.binary(BinOp::Le, read.clone(), high, first);
        let up = self.binary(BinOp::Add, read, Self::number(1, first), first);
        let round = vec![
            stmt(StmtKind::Guard(guard)),
            stmt(StmtKind::Block(body)),
            stmt(StmtKind::Assign(place.clone(), up)),
        ];
        let leave = vec![stmt(StmtKind::Else), stmt(StmtKind::Break)];
        let rest = stmt(StmtKind::Do(vec![round, leave]));
        let begin = stmt(StmtKind::Assign(place, low));
        list.push(stmt(StmtKind::Block(vec![begin, rest])));
        Ok(())
    }

    fn read(place: &Place<'t>, token: Token<'t>) -> Expr<'t> {
        let depth = place.depth() + 1;
        Expr { kind: ExprKind::Place(place.clone()), token, span: place.span, depth }
    }

    fn binary(&self, op: BinOp, a: Expr<'t>, b: Expr<'t>, token: Token<'t>) -> Expr<'t> {
        let (depth, span) = (a.depth.max(b.depth) + 1, self.span_from(token));
        Expr { kind: ExprKind::Binary(op, a.into(), b.into()), token, span, depth }
    }

    /// An assignment or a condition.
    fn plain(&mut self) -> Parsed<StmtKind<'t>> {
        let first = self.tokens.peek();
        if first.kind == Kind::Name && !EXPRESSIONS.contains(&first.text) {
            let start = self.tokens.at;
            let place = self.place()?;
            let token = self.tokens.peek();
            if self.eat("!") || self.eat("!!") {
                let (values, is_sorted) = (self.message()?, token.is("!!"));
                return Ok(StmtKind::Send(Send { channel: place, values, is_sorted }));
            }
            if (token.is("?") || token.is("??")) && !self.tokens.peek_at(1).is("[") {
                self.tokens.next();
                let keeps = self.eat("<");
                let patterns = self.patterns()?;
                if keeps {
                    self.expect(">", "after the message")?;
                }
                let is_random = token.is("??");
                let receive = Receive { channel: place, patterns, is_random, keeps };
                return Ok(StmtKind::Receive(receive));
            }
            if self.eat("=") {
                let value = self.expr()?;
                // What is written to `_` is nowhere.
                return Ok(match place.name.text {
                    "_" => StmtKind::Skip,
                    _ => StmtKind::Assign(place, value),
                });
            }
            for (symbol, op) in [("++", BinOp::Add), ("--", BinOp::Sub)] {
                if self.eat(symbol) {
                    let one = Self::number(1, first);
                    let value = self.binary(op, Self::read(&place, first), one, first);
                    return Ok(StmtKind::Assign(place, value));
                }
            }
            self.tokens.at = start;
        }
        Ok(StmtKind::Guard(self.expr()?))
    }
}
