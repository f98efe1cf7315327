//! Statements and declarations.

use weir_model::program::{Code, Expr, Rmw, Stmt, StmtKind};

use super::super::lexer::Kind;
use super::expression::{Operand, Value};
use super::{Local, Reader};
use crate::{Diagnostic, MAX_NESTING};

/// How deep statements may nest: a loop becomes two blocks.
const MAX_BLOCKS: usize = MAX_NESTING / 2 - 5;

/// What a statement stands in, for `break` and `continue`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loop {
    While,
    /// `continue` would go to the condition, which stands at its end.
    Do,
}

/// Words that begin statements that are not read.
const REFUSED: [&str; 8] =
    ["for", "switch", "goto", "case", "default", "asm", "__asm__", "typedef"];

/// Words that begin a type and nothing else.
const TYPES: [&str; 17] = [
    "int", "long", "short", "char", "unsigned", "signed", "void", "bool", "_Bool", "volatile",
    "const", "struct", "_Atomic", "static", "register", "__int128", "u64",
];

impl Reader<'_, '_, '_> {
    /// All statements up to the end of the function.
    pub(super) fn statements(&mut self) -> Result<(), Diagnostic> {
        while !self.tokens.is_done() {
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Diagnostic> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            let message = format!("statements nest more than {MAX_BLOCKS} deep");
            return Err(Diagnostic::new(message, self.tokens.range()));
        }
        self.temporaries = 0;
        self.accesses_before = self.accesses;
        self.move_to(self.tokens.range());
        let result = self.any_statement();
        self.blocks -= 1;
        result
    }

    fn any_statement(&mut self) -> Result<(), Diagnostic> {
        if self.tokens.sign(";") {
            return Ok(());
        }
        if self.tokens.sign("{") {
            while !self.tokens.sign("}") {
                self.statement()?;
            }
            // Their scope ends here; they stay registers of the function.
            let depth = self.blocks;
            self.locals
                .values_mut()
                .for_each(|local| local.scope = local.scope.filter(|&s| s <= depth));
            return Ok(());
        }
        let Some(Kind::Word(word)) = self.tokens.peek() else { return self.simple() };
        let start = self.tokens.range();
        match word {
            "if" => self.branch(),
            "while" => self.while_loop(),
            "do" => self.do_loop(),
            "break" | "continue" | "return" => {
                self.tokens.next();
                match (word, self.loops.last()) {
                    ("return", _) => self.push(StmtKind::Exit),
                    ("break", Some(_)) => self.push(StmtKind::Break),
                    ("continue", Some(Loop::While)) => self.push(StmtKind::Continue),
                    ("continue", Some(Loop::Do)) => {
                        let message =
                            "Weir does not read `continue` in `do … while` of a litmus test";
                        return Err(Diagnostic::new(message, start));
                    }
                    _ => return Err(Diagnostic::new(format!("`{word}` is in no loop"), start)),
                }
                self.tokens.expect(";")
            }
            _ if REFUSED.contains(&word) => {
                let message = format!("Weir does not read `{word}` in a litmus test");
                Err(Diagnostic::new(message, start)
                    .help("statements are assignments, calls, `if`, `while` and `do`"))
            }
            _ if self.is_declaration() => self.declaration(),
            _ => self.simple(),
        }
    }

    /// The statements of a branch or a loop, which are collected apart.
    fn block(&mut self) -> Result<Vec<Stmt>, Diagnostic> {
        let outer = std::mem::take(&mut self.body);
        let result = self.statement();
        let block = std::mem::replace(&mut self.body, outer);
        result.map(|()| block)
    }

    fn condition(&mut self) -> Result<Code, Diagnostic> {
        self.tokens.expect("(")?;
        let start = self.at.start;
        let condition = self.number()?;
        self.tokens.expect(")")?;
        // What belongs to the whole statement belongs to its head.
        self.move_to(self.tokens.since(start));
        Ok(condition)
    }

    fn branch(&mut self) -> Result<(), Diagnostic> {
        self.tokens.next();
        let condition = self.condition()?;
        let span = self.span;
        let then = self.block()?;
        let other = match self.tokens.keyword("else") {
            true => self.block()?,
            false => vec![],
        };
        self.body.push(Stmt::new(StmtKind::If(condition, then, other), span));
        Ok(())
    }

    fn while_loop(&mut self) -> Result<(), Diagnostic> {
        self.tokens.next();
        let outer = std::mem::take(&mut self.body);
        let condition = self.condition();
        let mut round = std::mem::replace(&mut self.body, outer);
        let (condition, span) = (condition?, self.span);
        let leave = vec![Stmt::new(StmtKind::Break, span)];
        if condition != Expr::Const(1) {
            round.push(Stmt::new(StmtKind::If(condition, vec![], leave), span));
        }
        self.loops.push(Loop::While);
        let body = self.block();
        self.loops.pop();
        round.extend(body?);
        self.body.push(Stmt::new(StmtKind::Loop(round), span));
        Ok(())
    }

    fn do_loop(&mut self) -> Result<(), Diagnostic> {
        self.tokens.next();
        let start = self.at.start;
        self.loops.push(Loop::Do);
        let body = self.block();
        self.loops.pop();
        let mut round = body?;
        if !self.tokens.keyword("while") {
            return Err(self.tokens.expected("`while`"));
        }
        self.temporaries = 0;
        self.move_to(self.tokens.since(start));
        let outer = std::mem::take(&mut self.body);
        let condition = self.condition();
        round.extend(std::mem::replace(&mut self.body, outer));
        let (condition, span) = (condition?, self.span);
        let leave = vec![Stmt::new(StmtKind::Break, span)];
        round.push(Stmt::new(StmtKind::If(condition, vec![], leave), span));
        self.body.push(Stmt::new(StmtKind::Loop(round), span));
        self.tokens.expect(";")
    }

    /// An assignment, or an expression that is evaluated for what it does.
    fn simple(&mut self) -> Result<(), Diagnostic> {
        let start = self.tokens.range().start;
        self.move_to(start..self.tokens.until(";").max(start));
        if let (Some(Kind::Word(name)), Some(Kind::Sign("="))) =
            (self.tokens.peek(), self.tokens.peek_at(1))
        {
            let range = self.tokens.range();
            if self.parameters.contains_key(name) {
                let message = format!("`{name:.40}` is a parameter, which points to a variable");
                return Err(
                    Diagnostic::new(message, range).help(format!("the variable is `*{name:.40}`"))
                );
            }
            self.tokens.next();
            self.tokens.next();
            let value = self.value()?;
            self.assign(name, range, value);
            return self.tokens.expect(";");
        }
        let operand = self.operand()?;
        match operand {
            Operand::Place(pointer) if self.tokens.sign("=") => {
                let order = self.own_order(&pointer);
                let between = self.accesses;
                let place = self.deref(pointer, self.tokens.since(start))?;
                let value = self.number()?;
                if self.accesses_before < between && between < self.accesses {
                    let message =
                        "both sides access memory, and C leaves open which of them does first";
                    return Err(Diagnostic::new(message, self.tokens.since(start))
                        .help("give each access a statement of its own"));
                }
                self.access(StmtKind::Store(place.ordered(order), value));
            }
            operand => {
                self.read(operand, start)?;
            }
        }
        self.tokens.expect(";")
    }

    /// Assigns to a register, which need not have been declared.
    fn assign(&mut self, name: &str, range: std::ops::Range<usize>, value: Value) {
        let local = match self.locals.get(name) {
            Some(local) => local.register,
            None => self.declare(name, range, None),
        };
        let code = self.code(value);
        // A read goes to its register at once.
        if let (Some(last), Expr::Atom(from)) = (self.body.last_mut(), &code)
            && self.test.is_temporary(self.thread, *from)
        {
            match &mut last.kind {
                StmtKind::Load(to, _) if to == from => return *to = local,
                StmtKind::Rmw(to, _, rmw) if to == from && !matches!(rmw, Rmw::Update { .. }) => {
                    return *to = local;
                }
                _ => {}
            }
        }
        self.push(StmtKind::Assign(local, code));
    }

    fn is_declaration(&self) -> bool {
        let (first, next) = (self.tokens.peek(), self.tokens.peek_at(1));
        let Some(Kind::Word(word)) = first else { return false };
        match next {
            Some(Kind::Word(_)) => true,
            Some(Kind::Sign("(")) => word == "_Atomic",
            Some(Kind::Sign("*")) => {
                let is_name = self.parameters.contains_key(word) || self.locals.contains_key(word);
                !is_name && matches!(self.tokens.peek_at(2), Some(Kind::Word(_) | Kind::Sign("*")))
            }
            _ => false,
        }
    }

    /// `int r0 = e, *r1;`
    fn declaration(&mut self) -> Result<(), Diagnostic> {
        let start = self.tokens.range();
        let first = self.tokens.peek().unwrap_or(Kind::Word(""));
        let is_atomic = super::skip_type(&mut self.tokens);
        if let Kind::Word("float" | "double") = first {
            return Err(Diagnostic::new("Weir reads integers only", start));
        }
        loop {
            let mut stars = 0;
            while self.tokens.sign("*") {
                stars += 1;
            }
            let (name, range) = self.tokens.word("the name of a local variable")?;
            self.move_to(start.start..range.end);
            if self.parameters.contains_key(name) || self.is_open(name) {
                let message = format!("`{name:.40}` is declared already");
                return Err(Diagnostic::new(message, range)
                    .help("a register has one name in its function: choose another one"));
            }
            if let Some(Kind::Sign("[")) = self.tokens.peek() {
                return Err(Diagnostic::new(
                    "Weir does not read local arrays in a litmus test",
                    range,
                )
                .help("declare it in the initial section, and make it a parameter"));
            }
            let points_to_atomic = (stars > 0).then_some(is_atomic && stars == 1);
            // Its scope begins before its value: `int r = (r != r);` is in hundreds of generated tests.
            self.declare(name, range.clone(), points_to_atomic);
            if self.tokens.sign("=") {
                let value = self.value()?;
                self.move_to(self.tokens.since(start.start));
                self.assign(name, range, value);
            }
            if !self.tokens.sign(",") {
                return self.tokens.expect(";");
            }
        }
    }

    /// Whether a local variable of this name is in scope.
    fn is_open(&self, name: &str) -> bool {
        self.locals.get(name).is_some_and(|local| local.scope.is_some())
    }

    fn declare(
        &mut self,
        name: &str,
        range: std::ops::Range<usize>,
        points_to_atomic: Option<bool>,
    ) -> weir_model::ids::RegId {
        let register = self.test.named_register(self.thread, name, false, range);
        let scope = Some(self.blocks);
        self.locals.insert(name.to_owned(), Local { register, points_to_atomic, scope });
        register
    }

    /// Whether a type in parentheses comes next.
    pub(super) fn is_cast(&self) -> bool {
        let (Some(Kind::Sign("(")), Some(Kind::Word(word))) =
            (self.tokens.peek(), self.tokens.peek_at(1))
        else {
            return false;
        };
        if self.parameters.contains_key(word) || self.locals.contains_key(word) {
            return false;
        }
        TYPES.contains(&word)
            || (word.ends_with("_t")
                && matches!(self.tokens.peek_at(2), Some(Kind::Sign(")" | "*"))))
    }

    /// Takes a cast, and says how many stars it has. Values have no size, so it does nothing else.
    pub(super) fn skip_cast(&mut self) -> usize {
        let mut stars = 0;
        while !self.tokens.is_done() && !self.tokens.sign(")") {
            stars += usize::from(self.tokens.peek() == Some(Kind::Sign("*")));
            self.tokens.next();
        }
        stars
    }
}
