//! Reads guards and their regular expressions.

use weir_front::{Diagnostic, MAX_NESTING};

use super::MAX_PARTS;
use super::lexer::Kind;
use super::parse::{Parsed, Places, Reader};
use crate::ids::StateId;
use crate::machine::Transition;
use crate::regex::{Class, Regex};
use weir_front::errors::quote;

impl Reader<'_, '_> {
    /// A guard; false if a name in it is wrong.
    pub(super) fn guard(
        &mut self,
        transition: &mut Transition,
        places: &mut Places,
    ) -> Parsed<bool> {
        let name = self.name("channel")?;
        let channel = self.channel(&name);
        self.parts = 0;
        let errors = self.errors.len();
        let language = if self.eat("empty") {
            Regex::epsilon()
        } else if self.eat("has") {
            let message = self.name("message")?;
            self.message(&message).map_or_else(Regex::epsilon, Regex::has)
        } else if self.eat("only") {
            Regex::class(self.class()?).star()
        } else if self.eat("in") {
            self.regex()?
        } else {
            return Err(self.expected("`in`, `empty`, `has` or `only` after the channel"));
        };
        let range = name.range.start..self.tokens[self.at - 1].range.end;
        let Some(channel) = channel else { return Ok(false) };
        if let Some((_, first)) = places.guards.iter().find(|(c, _)| *c == channel) {
            let message = format!("there are two guards on {}", quote(name.text));
            let error = Diagnostic::new(message, range).note(first.clone(), "the first one");
            return Err(self.fail(error));
        }
        places.guards.push((channel, range));
        *transition = std::mem::replace(transition, Transition::new(StateId(0), StateId(0)))
            .guard(channel, language);
        Ok(self.errors.len() == errors)
    }

    fn regex(&mut self) -> Parsed<Regex> {
        let mut parts = vec![self.sequence()?];
        while self.eat("|") {
            parts.push(self.sequence()?);
        }
        Ok(Regex::union(parts))
    }

    fn sequence(&mut self) -> Parsed<Regex> {
        let mut parts = vec![self.repeated()?];
        while self.peek().kind == Kind::Name
            || ["(", "[", ".", "eps"].into_iter().any(|t| self.is(t))
        {
            parts.push(self.repeated()?);
        }
        Ok(Regex::concat(parts))
    }

    fn repeated(&mut self) -> Parsed<Regex> {
        let mut regex = self.atom()?;
        loop {
            if self.eat("*") {
                regex = regex.star();
            } else if self.eat("+") {
                regex = regex.plus();
            } else if self.eat("?") {
                regex = regex.optional();
            } else {
                return Ok(regex);
            }
        }
    }

    fn atom(&mut self) -> Parsed<Regex> {
        self.parts += 1;
        let token = self.peek();
        if self.parts > MAX_PARTS {
            let message = format!("this guard has more than {MAX_PARTS} parts");
            return Err(self.fail(Diagnostic::new(message, token.range)));
        }
        if self.eat("eps") {
            return Ok(Regex::epsilon());
        }
        if self.eat("(") {
            if self.brackets == MAX_NESTING {
                let message = format!("brackets nest more than {MAX_NESTING} deep here");
                self.brackets = 0;
                return Err(self.fail(Diagnostic::new(message, token.range)));
            }
            self.brackets += 1;
            let inner = self.regex();
            self.brackets = self.brackets.saturating_sub(1);
            let inner = inner?;
            if !self.eat(")") {
                let error =
                    Diagnostic::new("this bracket is not closed: `)` is missing", token.range)
                        .note(self.peek().range, "expected before this");
                return Err(self.fail(error));
            }
            return Ok(inner);
        }
        if ["*", "+", "?"].into_iter().any(|t| self.is(t)) {
            let message = format!("there is nothing before `{}` to repeat", token.text);
            let error = Diagnostic::new(message, token.range)
                .label("no regular expression")
                .help("`.*` is any number of any messages");
            return Err(self.fail(error));
        }
        if token.kind == Kind::Name || self.is("[") || self.is(".") {
            return Ok(Regex::class(self.class()?));
        }
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(token.text),
        };
        let error = Diagnostic::new(
            format!("expected a part of a regular expression, found {found}"),
            token.range,
        )
        .help("that is a message, `.`, `[a b]`, `[^a b]`, `eps`, or an expression in brackets");
        Err(self.fail(error))
    }

    /// `a`, `.`, `[a b]` or `[^a b]`.
    fn class(&mut self) -> Parsed<Class> {
        if self.eat(".") {
            return Ok(Class::all());
        }
        let open = self.peek();
        if !self.eat("[") {
            let name = self.name("message")?;
            return Ok(Class::of(self.message(&name)));
        }
        let negated = self.eat("^");
        let mut messages = Vec::new();
        while !self.eat("]") {
            if self.peek().kind != Kind::Name {
                let error = Diagnostic::new("this set is not closed: `]` is missing", open.range)
                    .note(self.peek().range, "expected a message or `]` here");
                return Err(self.fail(error));
            }
            let name = self.next();
            messages.extend(self.message(&name));
        }
        Ok(if negated { Class::but(messages) } else { Class::of(messages) })
    }
}
