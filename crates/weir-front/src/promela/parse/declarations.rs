//! Parses what stands outside of processes.

use super::{Parsed, Parser, WORDS, misspelt, unsupported};
use crate::errors::quote;
use crate::promela::lexer::Kind;
use crate::promela::tree::{Declared, Model, Name, Proctype, Type};

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
            // It may only start processes, and is none then.
            let gaps = self.gaps.len();
            let body = self.block("after `init`")?;
            self.gaps.truncate(gaps);
            let active = None;
            let parameters = Vec::new();
            model.proctypes.push(Proctype { name, active, parameters, body, is_init: true });
        } else {
            let what = "a declaration, `proctype` or `init`";
            if token.kind != Kind::Name || unsupported(token.text).is_some() {
                return Err(self.expected(what));
            }
            let message = format!("expected {what}, found {}", quote(token.text));
            return Err(self.fail(misspelt(token.error(message), token.text)));
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
        while self.eat(",") {
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
        ["bit", "bool", "byte", "pid", "short", "int", "mtype", "unsigned"]
            .iter()
            .any(|w| kind.is(w))
    }

    /// `byte x = 1, a[2]`
    pub(super) fn declarations(&mut self) -> Parsed<Vec<Declared<'t>>> {
        let kind = self.declared_type()?;
        let mut list = Vec::new();
        loop {
            list.push(self.declared(kind)?);
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    fn declared_type(&mut self) -> Parsed<Type> {
        if ["hidden", "show", "local"].iter().any(|w| self.is(w)) {
            self.tokens.next();
        }
        let kind = match self.tokens.next().text {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" | "pid" => Type::Byte,
            "short" => Type::Short,
            "int" => Type::Int,
            "mtype" => Type::Mtype,
            _ => Type::Unsigned(0),
        };
        if kind == Type::Mtype && self.eat(":") {
            self.name("the name of the set")?;
        }
        Ok(kind)
    }

    fn declared(&mut self, kind: Type) -> Parsed<Declared<'t>> {
        let first = self.tokens.peek();
        let name = self.name("the name of a variable")?;
        let kind = match kind {
            Type::Unsigned(_) => {
                self.expect(":", "and the number of bits")?;
                let bits = self.tokens.next();
                match bits.kind {
                    Kind::Number(n @ 1..=31) => Type::Unsigned(n as u32),
                    _ => return Err(self.fail(bits.error("expected a number of bits, 1 to 31"))),
                }
            }
            kind => kind,
        };
        let len = if self.eat("[") {
            let len = self.expr()?;
            self.expect("]", "after the number of elements")?;
            Some(len)
        } else {
            None
        };
        let init = if self.eat("=") {
            if self.is("{") {
                let error = self.tokens.peek().error("lists of initial values are not supported");
                let error = error.help("all elements begin with the one value that is given");
                return Err(self.fail(error));
            }
            Some(self.expr()?)
        } else {
            None
        };
        Ok(Declared { kind, name, len, init, span: self.span_from(first) })
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
        self.check(self.tokens.peek())?;
        let body = self.block("after the parameters")?;
        Ok(Proctype { name, active, parameters, body, is_init: false })
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
