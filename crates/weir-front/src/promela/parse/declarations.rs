//! Parses what stands outside of processes.

use weir_model::program::BinOp;

use super::{Parsed, Parser, WORDS, misspelled, unsupported};
use crate::MAX_NESTING;
use crate::errors::quote;
use crate::promela::lexer::{Kind, Token};
use crate::promela::tree::{
    Declared, Expr, ExprKind, Formula, Init, Ltl, Model, Name, Proctype, Record, Shape, Type,
};

const TYPES: [&str; 9] =
    ["bit", "bool", "byte", "pid", "short", "int", "mtype", "unsigned", "chan"];

/// A formula about one state, as far as it is one, with its operators in the expression.
fn joined_states<'t>(formula: Ltl<'t>) -> Ltl<'t> {
    let binary = |op, a: Expr<'t>, b: Expr<'t>| {
        let (token, span, depth) = (a.token, a.span, a.depth.max(b.depth) + 1);
        Ltl::State(Expr { kind: ExprKind::Binary(op, a.into(), b.into()), token, span, depth })
    };
    let not = |e: Expr<'t>| {
        let (token, span, depth) = (e.token, e.span, e.depth + 1);
        Expr { kind: ExprKind::Not(e.into()), token, span, depth }
    };
    match formula {
        Ltl::Not(inner) => match *inner {
            Ltl::State(e) => Ltl::State(not(e)),
            other => Ltl::Not(other.into()),
        },
        Ltl::And(a, b) => match (*a, *b) {
            (Ltl::State(a), Ltl::State(b)) => binary(BinOp::And, a, b),
            (a, b) => Ltl::And(a.into(), b.into()),
        },
        Ltl::Or(a, b) => match (*a, *b) {
            (Ltl::State(a), Ltl::State(b)) => binary(BinOp::Or, a, b),
            (a, b) => Ltl::Or(a.into(), b.into()),
        },
        Ltl::Implies(a, b) => match (*a, *b) {
            (Ltl::State(a), Ltl::State(b)) => binary(BinOp::Or, not(a), b),
            (a, b) => Ltl::Implies(a.into(), b.into()),
        },
        Ltl::Equivalent(a, b) => match (*a, *b) {
            (Ltl::State(a), Ltl::State(b)) => binary(BinOp::Eq, not(a), not(b)),
            (a, b) => Ltl::Equivalent(a.into(), b.into()),
        },
        other => other,
    }
}

impl<'t> Parser<'_, 't> {
    pub(super) fn model(&mut self) -> Model<'t> {
        let mut model = Model::default();
        while !self.is_end() {
            if self.eat(";") {
                continue;
            }
            let start = self.tokens.at;
            if self.unit(&mut model).is_err() {
                self.skip();
                if self.tokens.at == start || self.is("}") || self.is(")") || self.is("]") {
                    self.tokens.next();
                }
            }
        }
        model
    }

    fn unit(&mut self, model: &mut Model<'t>) -> Parsed<()> {
        let token = self.tokens.peek();
        if token.is("mtype") && self.is_enumeration() {
            let members = self.enumeration()?;
            model.mtypes.push(members);
        } else if self.begins_declaration() {
            model.globals.extend(self.declarations()?);
        } else if ["active", "proctype", "D_proctype"].iter().any(|w| token.is(w)) {
            let proctype = self.proctype()?;
            model.proctypes.push(proctype);
        } else if token.is("init") {
            self.tokens.next();
            let name = Name { text: "init", token };
            self.priority()?;
            // An `init` that only starts processes is not a process itself.
            let gaps = self.gaps.len();
            let body = self.block("after `init`")?;
            self.gaps.truncate(gaps);
            let (active, provided, parameters) = (None, None, Vec::new());
            let is_init = true;
            model.proctypes.push(Proctype { name, active, parameters, provided, body, is_init });
        } else if token.is("typedef") {
            self.tokens.next();
            let record = self.record()?;
            model.records.push(record);
        } else if token.is("ltl") {
            self.tokens.next();
            let formula = self.ltl_block()?;
            model.formulas.push(formula);
        } else if ["never", "trace", "notrace"].iter().any(|w| token.is(w)) {
            self.tokens.next();
            if self.tokens.peek().kind == Kind::Name {
                self.tokens.next();
            }
            self.skip_block()?;
            model.claims.push(token);
        } else {
            let what = "a declaration, `proctype` or `init`";
            if token.kind != Kind::Name || unsupported(token.text).is_some() {
                return Err(self.expected(what));
            }
            let message = format!("expected {what}, found {}", quote(token.text));
            return Err(self.fail(misspelled(token.error(message), token.text)));
        }
        Ok(())
    }

    fn is_enumeration(&self) -> bool {
        let subtype = if self.tokens.peek_at(1).is(":") { 2 } else { 0 };
        let next = self.tokens.peek_at(1 + subtype);
        next.is("{") || next.is("=")
    }

    /// `mtype = { a, b }`
    fn enumeration(&mut self) -> Parsed<Vec<Name<'t>>> {
        self.tokens.next();
        if self.eat(":") {
            self.name("the name of the set")?;
        }
        self.eat("=");
        self.expect("{", "and the names")?;
        let mut members = vec![self.name("a name")?];
        // Spin does not insist on commas.
        loop {
            while self.eat(",") {}
            if self.is("}") || self.is_end() {
                break;
            }
            members.push(self.name("a name")?);
        }
        self.expect("}", "after the names")?;
        Ok(members)
    }

    /// Whether a type stands here, perhaps after `hidden`, `show` or `local`.
    pub(super) fn begins_declaration(&self) -> bool {
        let word = |i: usize| self.tokens.peek_at(i);
        let visible = ["hidden", "show", "local"].iter().any(|w| word(0).is(w));
        let kind = word(usize::from(visible));
        let next = word(usize::from(visible) + 1);
        TYPES.iter().any(|w| kind.is(w))
            || kind.kind == Kind::Name
                && next.kind == Kind::Name
                && self.records.contains(&kind.text)
                && !next.is("in")
    }

    /// `byte x = 1, a[2]`
    pub(super) fn declarations(&mut self) -> Parsed<Vec<Declared<'t>>> {
        let shape = self.declared_type()?;
        let mut list = Vec::new();
        loop {
            list.push(self.declared(shape)?);
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    fn declared_type(&mut self) -> Parsed<Shape<'t>> {
        if ["hidden", "show", "local"].iter().any(|w| self.is(w)) {
            self.tokens.next();
        }
        let token = self.tokens.next();
        if token.kind == Kind::Name && !TYPES.contains(&token.text) {
            self.check(token)?;
            return Ok(Shape::Record(Name { text: token.text, token }));
        }
        let kind = match token.text {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" | "pid" => Type::Byte,
            "short" => Type::Short,
            "int" => Type::Int,
            "mtype" => Type::Mtype,
            "chan" => Type::Chan,
            _ => Type::Unsigned(0),
        };
        if kind == Type::Mtype && self.eat(":") {
            self.name("the name of the set")?;
        }
        Ok(Shape::Plain(kind))
    }

    fn declared(&mut self, shape: Shape<'t>) -> Parsed<Declared<'t>> {
        let first = self.tokens.peek();
        let name = self.name("the name of a variable")?;
        let shape = match shape {
            Shape::Plain(_) if self.is(":") => {
                self.expect(":", "and the number of bits")?;
                let bits = self.tokens.next();
                match bits.kind {
                    Kind::Number(n @ 1..=31) => Shape::Plain(Type::Unsigned(n as u32)),
                    _ => return Err(self.fail(bits.error("expected a number of bits, 1 to 31"))),
                }
            }
            Shape::Plain(Type::Unsigned(0)) => {
                return Err(self.expected("`:` and the number of bits"));
            }
            shape => shape,
        };
        let len = if self.eat("[") {
            let len = self.expr()?;
            self.expect("]", "after the number of elements")?;
            Some(len)
        } else {
            None
        };
        let init = match self.eat("=") {
            false => Init::Nothing,
            true if self.is("[") => self.channel()?,
            true if self.eat("{") => {
                let mut values = vec![self.expr()?];
                while self.eat(",") {
                    values.push(self.expr()?);
                }
                self.expect("}", "after the values")?;
                Init::List(values)
            }
            true => Init::Value(self.expr()?),
        };
        Ok(Declared { shape, name, len, init, span: self.span_from(first) })
    }

    fn proctype(&mut self) -> Parsed<Proctype<'t>> {
        let active = match self.tokens.peek() {
            token if self.eat("active") => Some(if self.eat("[") {
                let count = self.expr()?;
                self.expect("]", "after the number of processes")?;
                count
            } else {
                Self::number(1, token)
            }),
            _ => None,
        };
        if !self.eat("proctype") && !self.eat("D_proctype") {
            return Err(self.expected("`proctype`"));
        }
        let name = self.name("the name of the process")?;
        self.expect("(", "after the name")?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            if !self.begins_declaration() {
                return Err(self.expected("the type of a parameter, or `)`"));
            }
            let list = self.declarations_of_parameters()?;
            parameters.extend(list);
        }
        self.tokens.next();
        self.priority()?;
        let provided = match self.eat("provided") {
            true => {
                self.expect("(", "after `provided`")?;
                let e = self.nested(Self::expr)?;
                self.expect(")", "after the condition")?;
                Some(e)
            }
            false => None,
        };
        let body = self.block("after the parameters")?;
        Ok(Proctype { name, active, parameters, provided, body, is_init: false })
    }

    /// Remembers a word that has no effect.
    pub(super) fn unheeded(&mut self, word: Token<'t>) {
        if self.unheeded.iter().all(|w| w.text != word.text) {
            self.unheeded.push(word);
        }
    }

    /// `priority 2`, which is ignored.
    pub(super) fn priority(&mut self) -> Parsed<()> {
        let word = self.tokens.peek();
        if self.eat("priority") {
            self.unheeded(word);
            let token = self.tokens.next();
            if !matches!(token.kind, Kind::Number(_)) {
                return Err(self.fail(token.error("expected a number after `priority`")));
            }
        }
        Ok(())
    }

    /// `[2] of { byte, bit }`
    fn channel(&mut self) -> Parsed<Init<'t>> {
        self.tokens.next();
        let capacity = self.nested(Self::expr)?;
        self.expect("]", "after the capacity")?;
        self.expect("of", "and the types of a message")?;
        self.expect("{", "and the types of a message")?;
        let mut shapes = Vec::new();
        loop {
            let token = self.tokens.peek();
            if token.kind != Kind::Name {
                return Err(self.expected("a type"));
            }
            let shape = self.declared_type()?;
            shapes.push(match shape {
                Shape::Plain(Type::Unsigned(0)) => Shape::Plain(Type::Int),
                shape => shape,
            });
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the types")?;
        Ok(Init::Channel(capacity, shapes))
    }

    /// `typedef T { byte a; bit b[2] }`, after the first word.
    fn record(&mut self) -> Parsed<Record<'t>> {
        let name = self.name("the name of the type")?;
        self.records.push(name.text);
        let open = self.expect("{", "and the fields")?;
        let mut fields = Vec::new();
        while !self.is("}") {
            if self.eat(";") {
                continue;
            }
            if self.is_end() {
                return Err(self.fail(open.error("this block is not closed: `}` is missing")));
            }
            if !self.begins_declaration() {
                return Err(self.expected("the type of a field, or `}`"));
            }
            fields.extend(self.declarations()?);
        }
        self.tokens.next();
        Ok(Record { name, fields })
    }

    /// `{ … }`, whatever is in it.
    fn skip_block(&mut self) -> Parsed<()> {
        let open = self.expect("{", "after this word")?;
        let mut depth = 1usize;
        while depth > 0 {
            if self.is_end() {
                return Err(self.fail(open.error("this block is not closed: `}` is missing")));
            }
            let token = self.tokens.next();
            depth += usize::from(token.is("{"));
            depth -= usize::from(token.is("}"));
        }
        Ok(())
    }

    /// `ltl name { formula }`, after the first word.
    fn ltl_block(&mut self) -> Parsed<Formula<'t>> {
        let first = self.tokens.last();
        let name = match self.is("{") {
            true => None,
            false => Some(self.name("the name of the formula, or `{`")?),
        };
        self.expect("{", "and the formula")?;
        let was = std::mem::replace(&mut self.is_remote, true);
        let formula = self.nested(|this| this.ltl(1));
        self.is_remote = was;
        let formula = match formula {
            Ok(formula) => formula,
            // What is left of it would be no declaration.
            Err(failed) => {
                let mut depth = 0;
                while !self.is_end() && (depth > 0 || !self.is("}")) {
                    let token = self.tokens.next();
                    depth += usize::from(token.is("{"));
                    depth -= usize::from(token.is("}"));
                }
                self.eat("}");
                return Err(failed);
            }
        };
        self.eat(";");
        self.expect("}", "after the formula")?;
        Ok(Formula { name, formula, span: self.span_from(first) })
    }

    /// A formula whose binary operators bind at least so strongly: `->` and `<->`, then `||`, `&&`,
    /// then the temporal ones.
    fn ltl(&mut self, strength: u8) -> Parsed<Ltl<'t>> {
        let mut left = self.ltl_prefix()?;
        let mut depth = 0;
        loop {
            let token = self.tokens.peek();
            let (binds, width) = match token.text {
                "->" | "implies" | "equivalent" => (1, 1),
                "<" if self.joined(&["<", "->"]) => (1, 2),
                "||" => (2, 1),
                "\\" if self.joined(&["\\", "/"]) => (2, 2),
                "&&" => (3, 1),
                "/" if self.joined(&["/", "\\"]) => (3, 2),
                "U" | "until" | "stronguntil" | "W" | "weakuntil" | "V" | "release" => (4, 1),
                _ => return Ok(left),
            };
            depth += 1;
            if binds < strength || matches!(token.kind, Kind::Number(_) | Kind::Text) {
                return Ok(left);
            }
            if depth > MAX_NESTING {
                let message = format!("this formula has more than {MAX_NESTING} parts");
                return Err(self.fail(token.error(message)));
            }
            self.tokens.at += width;
            let right = self.nested(|this| this.ltl(binds + 1))?;
            let (a, b) = (Box::new(left), Box::new(right));
            left = match token.text {
                "->" | "implies" => Ltl::Implies(a, b),
                "<" | "equivalent" => Ltl::Equivalent(a, b),
                "||" | "\\" => Ltl::Or(a, b),
                "&&" | "/" => Ltl::And(a, b),
                "W" | "weakuntil" => Ltl::WeakUntil(a, b),
                "V" | "release" => Ltl::Release(a, b),
                _ => Ltl::Until(a, b),
            };
            left = joined_states(left);
        }
    }

    /// Whether the next tokens are these, with nothing between them.
    fn joined(&self, texts: &[&str]) -> bool {
        texts.iter().enumerate().all(|(i, text)| {
            let (token, before) = (self.tokens.peek_at(i), self.tokens.peek_at(i.max(1) - 1));
            // Tokens of a macro stand where the macro is used.
            let is_next = before.span.range().end == token.span.range().start;
            token.is(text) && (i == 0 || is_next || token.via.is_some())
        })
    }

    fn ltl_prefix(&mut self) -> Parsed<Ltl<'t>> {
        let token = self.tokens.peek();
        let (make, width): (fn(Box<Ltl<'t>>) -> Ltl<'t>, usize) = match token.text {
            "!" => (Ltl::Not, 1),
            "[" if self.joined(&["[", "]"]) => (Ltl::Always, 2),
            "<" if self.joined(&["<", ">"]) => (Ltl::Eventually, 2),
            "always" => (Ltl::Always, 1),
            "eventually" => (Ltl::Eventually, 1),
            "X" | "next" => (Ltl::Next, 1),
            "(" => {
                // A bracket of a formula or of an expression: the longer reading is the right one.
                let start = self.tokens.at;
                let errors = self.errors.len();
                let plain = self.ltl_state();
                if let Ok(state) = plain {
                    return Ok(state);
                }
                self.errors.truncate(errors);
                self.tokens.at = start + 1;
                let inner = self.nested(|this| this.ltl(1))?;
                self.expect(")", "after the formula")?;
                return Ok(inner);
            }
            _ => return self.ltl_state(),
        };
        self.tokens.at += width;
        let inner = self.nested(Self::ltl_prefix)?;
        Ok(joined_states(make(Box::new(inner))))
    }

    /// An expression that binds more strongly than `&&`.
    fn ltl_state(&mut self) -> Parsed<Ltl<'t>> {
        let e = self.infix(3)?;
        // What follows has to be possible after an expression.
        let next = self.tokens.peek();
        let words = ["U", "V", "W", "until", "stronguntil", "weakuntil", "release", "implies"];
        let symbols = ["}", ")", ";", "->", "||", "&&", "<", "/", "\\", "equivalent"];
        match words.iter().chain(&symbols).any(|w| next.is(w)) {
            true => Ok(Ltl::State(e)),
            false => Err(self.expected("an operator, or the end of the formula")),
        }
    }

    /// As other declarations, but after `,` a type may follow.
    fn declarations_of_parameters(&mut self) -> Parsed<Vec<Declared<'t>>> {
        let kind = self.declared_type()?;
        let mut list = Vec::new();
        loop {
            list.push(self.declared(kind)?);
            let more = self.is(",") && {
                let next = self.tokens.peek_at(1);
                next.kind == Kind::Name && !WORDS.contains(&next.text)
            };
            if !more {
                return Ok(list);
            }
            self.tokens.next();
        }
    }
}
