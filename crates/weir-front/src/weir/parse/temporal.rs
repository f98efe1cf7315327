//! Parses formulas of linear temporal logic, by binding strength.
//!
//! From weak to strong: `implies` and `<->` (to the right), `or`, `and`, then `until`, `unless` and
//! `release` (to the right), then `not`, `always` and `eventually`. What is about one state is an
//! expression without `and`, `or` and `not`, which mean the same outside of it. The signs of Spin
//! stand for the same words.

use weir_model::program::Ltl;

use super::{Parsed, Parser, is};
use crate::weir::lexer::Kind;
use crate::weir::operators;
use crate::weir::tree::Expr;
use crate::{Diagnostic, MAX_NESTING};

type Formula<'t> = Ltl<Expr<'t>>;

impl<'t> Parser<'_, 't> {
    /// A formula.
    pub(super) fn ltl(&mut self) -> Parsed<Formula<'t>> {
        let formula = self.implication()?;
        if formula.depth() > MAX_NESTING / 2 {
            let span = self.last();
            return Err(self.too_deep("operators", span));
        }
        Ok(formula)
    }

    /// Whether the token so many behind the next one is an operator between two operands, or
    /// belongs to the name before it.
    pub(super) fn is_operand_at(&self, ahead: usize) -> bool {
        let token = self.tokens.peek_at(ahead);
        is_operator(token.text) && is(token, token.text)
            || ["@", ".", "["].iter().any(|sign| is(token, sign))
            || self.is_word_at(ahead, &["implies", "unless", "release", "U", "V", "R", "W"])
            || ["and", "or", "until", "&&", "||"].iter().any(|word| is(token, word))
    }

    fn is_word_at(&self, ahead: usize, words: &[&str]) -> bool {
        let token = self.tokens.peek_at(ahead);
        token.kind == Kind::Name && words.contains(&token.text)
    }

    /// Reads a word of formulas, which may be a name elsewhere.
    pub(super) fn word(&mut self) {
        let token = self.tokens.next();
        if token.kind == Kind::Name {
            self.words.push(token.span);
        }
    }

    /// Reads one of these words or signs.
    fn one_of(&mut self, words: &[&str]) -> bool {
        let token = self.tokens.peek();
        let found = words.contains(&token.text)
            && matches!(token.kind, Kind::Name | Kind::Keyword | Kind::Symbol);
        if found {
            self.word();
        }
        found
    }

    /// Runs `parse` one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.brackets += 1;
        if self.brackets > MAX_NESTING / 2 {
            let span = self.tokens.peek().span;
            return Err(self.too_deep("brackets", span));
        }
        let parsed = parse(self)?;
        self.brackets -= 1;
        Ok(parsed)
    }

    fn implication(&mut self) -> Parsed<Formula<'t>> {
        let left = self.disjunction()?;
        if self.one_of(&["implies", "->"]) {
            let right = self.deeper(Self::implication)?;
            return Ok(Ltl::Implies(Box::new(left), Box::new(right)));
        }
        if self.one_of(&["<->"]) {
            let right = self.deeper(Self::implication)?;
            return Ok(Ltl::Iff(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn disjunction(&mut self) -> Parsed<Formula<'t>> {
        let mut left = self.conjunction()?;
        while self.one_of(&["or", "||"]) {
            let right = self.conjunction()?;
            left = self.joined(Ltl::Or(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Formula<'t>> {
        let mut left = self.until()?;
        while self.one_of(&["and", "&&"]) {
            let right = self.until()?;
            left = self.joined(Ltl::And(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// Long chains nest deep.
    fn joined(&mut self, formula: Formula<'t>) -> Parsed<Formula<'t>> {
        if formula.depth() > MAX_NESTING / 2 {
            let span = self.last();
            return Err(self.too_deep("operators", span));
        }
        Ok(formula)
    }

    fn until(&mut self) -> Parsed<Formula<'t>> {
        let left = self.unary()?;
        let make: fn(Box<Formula<'t>>, Box<Formula<'t>>) -> Formula<'t> =
            if self.one_of(&["until", "U"]) {
                Ltl::Until
            } else if self.one_of(&["unless", "W"]) {
                Ltl::Unless
            } else if self.one_of(&["release", "V", "R"]) {
                Ltl::Release
            } else {
                return Ok(left);
            };
        let right = self.deeper(Self::until)?;
        Ok(make(Box::new(left), Box::new(right)))
    }

    fn unary(&mut self) -> Parsed<Formula<'t>> {
        let is_next = self.is_word_at(0, &["next", "X"]) && !self.is_end_at(1);
        if is_next && !self.is_operand_at(1) && !is(self.tokens.peek_at(1), ")") {
            let at = self.tokens.peek().span.range();
            let error = Diagnostic::new("Weir has no `next` in formulas", at);
            let help = "Weir merges steps that no question can tell apart, so the next state \
                        depends on how it does so; say what has to hold with `until`";
            return Err(self.fail(error.help(help)));
        }
        if self.one_of(&["not", "!"]) {
            return Ok(Ltl::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.one_of(&["always", "[]"]) {
            return Ok(Ltl::Always(Box::new(self.deeper(Self::unary)?)));
        }
        let eventually = self.is_word_at(0, &["eventually"]) && !self.is_operand_at(1);
        if eventually || self.is("<>") {
            self.word();
            return Ok(Ltl::Eventually(Box::new(self.deeper(Self::unary)?)));
        }
        if self.is("(") && self.is_group() {
            self.tokens.next();
            let inner = self.deeper(Self::implication)?;
            self.expect(")", "to close the bracket")?;
            return Ok(inner);
        }
        Ok(Ltl::State(self.infix(operators::COMPARISON)?))
    }

    fn is_end_at(&self, ahead: usize) -> bool {
        self.tokens.peek_at(ahead).kind == Kind::End
    }

    /// Whether the bracket that is next is around a formula, and not around a part of an
    /// expression: then an operator of expressions follows it.
    fn is_group(&self) -> bool {
        let mut depth = 0_usize;
        let mut ahead = 0;
        loop {
            let token = self.tokens.peek_at(ahead);
            ahead += 1;
            if token.kind == Kind::End {
                return true;
            } else if is(token, "(") {
                depth += 1;
            } else if is(token, ")") {
                depth -= 1;
                if depth == 0 {
                    let next = self.tokens.peek_at(ahead);
                    return !(is_operator(next.text) && is(next, next.text));
                }
            }
        }
    }
}

/// Whether it is an operator of expressions about one state.
fn is_operator(text: &str) -> bool {
    operators::infix(text).is_some_and(|(_, strength)| strength >= operators::COMPARISON)
}
