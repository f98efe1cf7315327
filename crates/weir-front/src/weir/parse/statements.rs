//! Parses blocks and statements.

use weir_model::program::{AtomicKind, FenceKind, Order};

use super::{Failed, Ordered, Parsed, Parser, is};
use crate::errors::{did_you_mean_at, quote};
use crate::orders::Access;
use crate::weir::foreign;
use crate::weir::lexer::{Kind, STATEMENT_KEYWORDS};
use crate::weir::operators;
use crate::weir::tree::{Block, Expr, ExprKind, Name, Place, Selector, Span, Stmt, StmtKind};
use crate::{Diagnostic, MAX_NESTING};

/// Words that begin a block which is one step; elsewhere they are names.
pub const UNDIVIDED: [(&str, AtomicKind); 2] =
    [("atomic", AtomicKind::Full), ("step", AtomicKind::Statement)];

/// The orders of a load.
pub(super) const LOADS: [Order; 4] = [Order::Plain, Order::Relaxed, Order::Acquire, Order::SeqCst];

/// The orders of a store.
const STORES: [Order; 4] = [Order::Plain, Order::Relaxed, Order::Release, Order::SeqCst];

/// The orders of an atomic operation.
pub(super) const ATOMICS: [Order; 5] =
    [Order::Relaxed, Order::Acquire, Order::Release, Order::AcquireRelease, Order::SeqCst];

/// The orders of a compare-and-swap that fails.
pub(super) const FAILURES: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];

/// The orders of a fence.
const FENCES: [Order; 4] = [Order::Acquire, Order::Release, Order::AcquireRelease, Order::SeqCst];

/// `a, b or c`
fn or(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.join(""),
    }
}

impl<'t> Parser<'_, 't> {
    /// `{ … }`; `context` says after what: "after the condition of `while`".
    pub(super) fn block(&mut self, context: &str) -> Parsed<Block<'t>> {
        let open = self.tokens.peek().span;
        if !self.eat("{") {
            let failed = self.expected(&format!("`{{` {context}"));
            // Go on with the block, wherever it begins: giving up would make
            // its `}` close the block around this one.
            if self.skip_to_brace() {
                self.tokens.next();
            } else {
                while !self.tokens.peek().first && !self.is("}") && !self.seems_statement() {
                    self.tokens.next();
                }
                if !self.seems_statement() {
                    return Err(failed);
                }
            }
        }
        self.blocks += 1;
        if self.blocks > MAX_NESTING {
            return Err(self.too_deep("blocks", open));
        }
        let mut block = Vec::new();
        let first = self.tokens.peek().span.range().start;
        while !self.is_end() && !self.is("}") && !self.begins_item() {
            if self.eat(";") {
                continue;
            }
            let start = self.tokens.at;
            if !self.is("reg") {
                self.gap(&block, first);
            }
            if self.statement(&mut block).is_err() {
                self.skip_statement(start);
            }
        }
        self.blocks -= 1;
        self.gap(&block, first);
        if !self.eat("}") {
            self.lost_names = true;
            if !self.unclosed {
                self.unclosed = true;
                let found = self.tokens.peek();
                let before = match found.kind {
                    Kind::End => "the end of the file".to_owned(),
                    _ => quote(found.text),
                };
                let message = format!("expected `}}` before {before}");
                let error = Diagnostic::new(message, found.span.range())
                    .note(open.range(), "this `{` is not closed");
                self.fail(error);
            }
        }
        Ok(block)
    }

    /// There is a gap here, unless a label stands before it, or a `return`, behind which nothing is reached.
    fn gap(&mut self, block: &Block<'t>, first: usize) {
        let last = block.last().map(|stmt| &stmt.kind);
        if !matches!(last, Some(StmtKind::Label(_) | StmtKind::Return(_))) {
            self.gaps.push((self.tokens.peek().span.range().start, first));
        }
    }

    fn begins_statement(&self) -> bool {
        let token = self.tokens.peek();
        token.kind == Kind::Name || STATEMENT_KEYWORDS.iter().any(|k| is(token, k))
    }

    /// Whether a value may begin here, and no statement does.
    fn begins_value(&self) -> bool {
        let token = self.tokens.peek();
        let ends = self.is("}") || self.is(";") || token.kind == Kind::End;
        !ends && !STATEMENT_KEYWORDS.iter().any(|k| is(token, k))
    }

    /// Whether a statement begins here, even though something else should.
    fn seems_statement(&self) -> bool {
        let after = ["=", ":", "[", "(", "."];
        self.begins_statement()
            && (self.tokens.peek().kind != Kind::Name
                || after.iter().any(|s| is(self.tokens.peek_at(1), s)))
    }

    fn statement(&mut self, block: &mut Block<'t>) -> Parsed<()> {
        let start = self.tokens.peek();
        self.brackets = 0;
        if start.kind == Kind::Name {
            return self.named_statement(block);
        }
        if start.kind != Kind::Keyword || !self.begins_statement() {
            return Err(self.not_a_statement());
        }
        self.tokens.next();
        let mut span = None;
        let kind = match start.text {
            "reg" => StmtKind::Registers(self.declared("register")?),
            "goto" => StmtKind::Goto(self.name("a label after `goto`")?),
            "fence" if self.is("(") => self.ordered_fence(start.span, block)?,
            "fence" => self.fence(start.span, FenceKind::Full, Order::SeqCst),
            "wfence" => self.fence(start.span, FenceKind::Write, Order::Release),
            "rfence" => self.fence(start.span, FenceKind::Read, Order::Acquire),
            "nop" => StmtKind::Nop,
            "break" => StmtKind::Break,
            "continue" => StmtKind::Continue,
            "exit" => StmtKind::Exit,
            // What follows on the same line is what is returned, unless it is a statement.
            "return" if self.tokens.peek().first || !self.begins_value() => StmtKind::Return(None),
            "return" => StmtKind::Return(Some(self.expr()?)),
            "assume" => StmtKind::Assume(self.expr()?),
            "assert" => {
                let condition = self.expr()?;
                let message = if self.eat(",") { Some(self.message()?) } else { None };
                StmtKind::Assert(condition, message)
            }
            "if" => {
                block.push(self.conditional(start.span)?);
                return Ok(());
            }
            "while" => {
                let condition = self.condition()?;
                span = Some(start.span.to(self.last()));
                StmtKind::While(condition, self.block("after the condition of `while`")?)
            }
            "loop" => {
                span = Some(start.span);
                StmtKind::Loop(self.block("after `loop`")?)
            }
            "choose" => {
                span = Some(start.span);
                let mut blocks = vec![self.block("after `choose`")?];
                while self.eat("or") {
                    blocks.push(self.block("after `or`")?);
                }
                StmtKind::Choose(blocks)
            }
            _ if self.is("{") => {
                // Only loads may stand in this block.
                let gaps = self.gaps.len();
                let loads = self.block("after `await`")?;
                self.gaps.truncate(gaps);
                let until = self.expect("until", "and a condition after the block of `await`")?;
                let condition = self.expr()?;
                span = Some(until.to(self.last()));
                StmtKind::Await(loads, condition)
            }
            _ => StmtKind::Await(Vec::new(), self.expr()?),
        };
        let span = span.unwrap_or_else(|| start.span.to(self.last()));
        block.push(Stmt { kind, span });
        Ok(())
    }

    /// `if … { } else if … { } else { }`, after the first `if`.
    fn conditional(&mut self, start: Span) -> Parsed<Stmt<'t>> {
        let condition = self.condition()?;
        let span = start.to(self.last());
        let then = self.block("after the condition of `if`")?;
        let mut other = Vec::new();
        if self.eat("else") {
            let again = self.tokens.peek().span;
            if self.eat("if") {
                // Each further `else if` stands one block deeper in the tree.
                self.blocks += 1;
                if self.blocks > MAX_NESTING {
                    return Err(self.too_deep("`else if`s", again));
                }
                let inner = self.conditional(again);
                self.blocks -= 1;
                other.push(inner?);
            } else {
                other = self.block("or `if` after `else`")?;
            }
        }
        Ok(Stmt { kind: StmtKind::If(condition, then, other), span })
    }

    /// A condition with a block after it. Where the condition is wrong, the
    /// block is still parsed.
    fn condition(&mut self) -> Parsed<Expr<'t>> {
        let start = self.tokens.peek().span;
        self.brackets = 0;
        self.expr().or_else(|failed| {
            if self.skip_to_brace() {
                Ok(Expr { kind: ExprKind::Number(0), span: start, depth: 1 })
            } else {
                Err(failed)
            }
        })
    }

    /// A statement that begins with a name: a label, an assignment or an
    /// atomic operation.
    fn named_statement(&mut self, block: &mut Block<'t>) -> Parsed<()> {
        if self.is_word("for") && self.tokens.peek_at(2).text == "in" {
            block.push(self.counting()?);
            return Ok(());
        }
        if is(self.tokens.peek_at(1), "(") {
            if self.is_word("for") {
                return Err(self.foreign_word());
            }
            let call = self.primary()?;
            if !matches!(call.kind, ExprKind::Atomic(..) | ExprKind::Call(..)) {
                let message = "this value is not used";
                let help = "a statement has to do something: `r = …`, `assume …`";
                return Err(self.fail(Diagnostic::new(message, call.span.range()).help(help)));
            }
            let span = call.span;
            block.push(Stmt { kind: StmtKind::Call(call), span });
            return Ok(());
        }
        let name = self.name("a statement")?;
        let undivided = UNDIVIDED.into_iter().find(|(word, _)| *word == name.text);
        if let Some((_, kind)) = undivided.filter(|_| self.is("{")) {
            let gaps = self.gaps.len();
            let body = self.block(&format!("after `{}`", name.text))?;
            // Everything in it is in order.
            if kind == AtomicKind::Full {
                self.gaps.truncate(gaps);
            }
            block.push(Stmt { kind: StmtKind::Undivided(kind, body), span: name.span });
            return Ok(());
        }
        if self.is(":") && !is(self.tokens.peek_at(1), "=") {
            self.tokens.next();
            block.push(Stmt { kind: StmtKind::Label(name), span: name.span });
            return Ok(());
        }
        let place = self.place(name)?;
        let kind = if self.is_method("store") {
            self.tokens.at += 3;
            let value = self.expr()?;
            self.expect(",", "and the order of the store")?;
            let order = self.order(Access::Store, &STORES)?;
            self.expect(")", "after the order of the store")?;
            StmtKind::Store(place, value, order)
        } else if self.eat("=") {
            let value = self.expr()?;
            self.ordered.push(Ordered::Assigned(place.span, value.span));
            StmtKind::Assign(place, value)
        } else if let Some(op) = operators::updating(self.tokens.peek().text) {
            self.tokens.next();
            StmtKind::Update(place, op, self.expr()?)
        } else {
            return Err(self.not_an_assignment(&place));
        };
        block.push(Stmt { kind, span: name.span.to(self.last()) });
        Ok(())
    }

    /// What an assertion says when it fails.
    fn message(&mut self) -> Parsed<Name<'t>> {
        let token = self.tokens.peek();
        if token.kind != Kind::Text {
            return Err(self.expected("what to say, as in `assert x == 1, \"x is lost\"`"));
        }
        self.tokens.next();
        Ok(Name { text: token.text.trim_matches('"'), span: token.span })
    }

    /// `for i in low..high { … }`
    fn counting(&mut self) -> Parsed<Stmt<'t>> {
        let start = self.tokens.next().span;
        let name = self.name("the name of what is counted")?;
        self.tokens.next();
        let low = self.bound()?;
        self.expect("..", "and the last number of `for`")?;
        let high = self.bound()?;
        let span = start.to(self.last());
        let body = self.block("after the numbers of `for`")?;
        Ok(Stmt { kind: StmtKind::For(name, low, high, body), span })
    }

    /// The rest of a place after its name.
    pub(super) fn place(&mut self, name: Name<'t>) -> Parsed<Place<'t>> {
        let mut selectors = Vec::new();
        loop {
            if self.eat("[") {
                selectors.push(Selector::Index(self.bracketed("]", "after the index")?));
            } else if self.is(".") && !self.is_method("load") && !self.is_method("store") {
                self.tokens.next();
                selectors.push(Selector::Field(self.name("a field or a register after `.`")?));
            } else {
                return Ok(Place { name, selectors, span: name.span.to(self.last()) });
            }
            if selectors.len() > MAX_NESTING {
                return Err(self.too_deep("indices", name.span));
            }
        }
    }

    /// Whether `.word(` comes next.
    pub(super) fn is_method(&self, word: &str) -> bool {
        self.is(".") && self.tokens.peek_at(1).text == word && is(self.tokens.peek_at(2), "(")
    }

    fn fence(&mut self, span: Span, kind: FenceKind, order: Order) -> StmtKind<'t> {
        self.ordered.push(Ordered::Fence(span, order));
        StmtKind::Fence(kind)
    }

    /// `(acquire)` after `fence`. A fence that acquires and releases is one of each.
    fn ordered_fence(&mut self, span: Span, block: &mut Block<'t>) -> Parsed<StmtKind<'t>> {
        self.tokens.next();
        let order = self.order(Access::Fence, &FENCES)?;
        self.expect(")", "after the order of the fence")?;
        self.ordered.pop();
        self.ordered.push(Ordered::Fence(span.to(self.last()), order));
        let kind = match order {
            Order::Acquire => FenceKind::Read,
            Order::AcquireRelease => {
                block.push(Stmt { kind: StmtKind::Fence(FenceKind::Read), span });
                FenceKind::Write
            }
            Order::Release => FenceKind::Write,
            _ => FenceKind::Full,
        };
        Ok(StmtKind::Fence(kind))
    }

    /// The order of an access.
    pub(super) fn order(&mut self, access: Access, allowed: &[Order]) -> Parsed<Order> {
        let token = self.tokens.peek();
        let order = Order::NAMED.into_iter().find(|(word, _)| *word == token.text);
        if let Some((_, order)) = order.filter(|(_, order)| allowed.contains(order)) {
            self.tokens.next();
            self.ordered.push(Ordered::Word(token.span, access, order));
            return Ok(order);
        }
        let access = match access {
            Access::ReadWrite => "atomic operation",
            Access::Failure => "compare-and-swap that fails",
            access => access.name(),
        };
        let names = Order::NAMED.into_iter().filter(|(_, order)| allowed.contains(order));
        let names: Vec<String> = names.map(|(word, _)| format!("`{word}`")).collect();
        let article = if access.starts_with('a') { "an" } else { "a" };
        let message = format!("the order of {article} {access} is {}", or(&names));
        Err(self.fail(Diagnostic::new(message, token.span.range())))
    }

    /// Reports a word of another language, which is the next token.
    fn foreign_word(&mut self) -> Failed {
        let token = self.tokens.peek();
        let message = format!("{} is not a statement", quote(token.text));
        let error = Diagnostic::new(message, token.span.range());
        let help = foreign::instead(token.text);
        self.fail(help.into_iter().fold(error, |error, help| error.help(help)))
    }

    fn not_an_assignment(&mut self, place: &Place<'t>) -> Failed {
        let (token, after) = (self.tokens.peek(), self.tokens.peek_at(1));
        let both = token.span.to(after.span).range();
        if let Some(help) = foreign::instead(place.name.text).filter(|_| !is(token, "==")) {
            let message = format!("{} is not a statement", quote(place.name.text));
            let error = Diagnostic::new(message, place.name.span.range());
            return self.fail(error.help(help));
        }
        let target = if !place.selectors.is_empty() {
            format!("{}[…]", place.name.text)
        } else {
            place.name.text.chars().take(40).collect()
        };
        let adjacent = token.span.range().end == after.span.range().start;
        if adjacent && is(token, ":") && is(after, "=") {
            let error = Diagnostic::new("`:=` is not an operator", both.clone());
            return self.fail(error.help("use `=` to assign").fix(both, "="));
        }
        let updates = operators::infix(token.text).is_some() && token.kind == Kind::Symbol;
        if adjacent && updates && after.text == token.text {
            let op = token.text;
            let message = format!("`{op}{op}` is not an operator");
            let help = format!("write `{target} {op}= 1`");
            return self.fail(Diagnostic::new(message, both).help(help));
        }
        if is(token, "==") {
            let message = "`==` compares; this is not a statement";
            let error = Diagnostic::new(message, token.span.range());
            return self.fail(error.help("use `=` to assign").fix(token.span.range(), "="));
        }
        let after_name = if place.selectors.is_empty() { "`=`, `[` or `:`" } else { "`=`" };
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(token.text),
        };
        let target = quote(place.name.text);
        let message = format!("expected {after_name} after {target}, found {found}");
        let error = Diagnostic::new(message, token.span.range());
        let at = Some(place.name.span.range());
        self.fail(did_you_mean_at(error, place.name.text, at, STATEMENT_KEYWORDS))
    }

    fn not_a_statement(&mut self) -> Failed {
        let token = self.tokens.peek();
        let lone = match token.text {
            "else" => Some("there is no `if` before this `else`"),
            "or" => Some("there is no `choose` before this `or`"),
            "until" => Some("there is no `await` before this `until`"),
            _ => None,
        };
        match lone {
            Some(message) => self.fail(Diagnostic::new(message, token.span.range())),
            None => self.expected("a statement"),
        }
    }
}
