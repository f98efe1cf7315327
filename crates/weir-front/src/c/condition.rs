//! Conditions of `#if`.

use super::token::{Kind, Token};
use crate::{Diagnostic, MAX_NESTING};

/// Binary operators by how strongly they bind, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Condition<'t> {
    list: &'t [Token],
    at: usize,
    word: &'t Token,
    depth: usize,
}

/// The value of a condition; names that are no macros are 0.
pub fn value(list: &[Token], word: &Token) -> Result<i128, Diagnostic> {
    let mut this = Condition { list, at: 0, word, depth: 0 };
    let value = this.choice()?;
    match this.list.get(this.at) {
        None => Ok(value),
        Some(token) => Err(Diagnostic::new("this does not belong here", token.range.clone())),
    }
}

impl Condition<'_> {
    fn is(&self, text: &str) -> bool {
        self.list.get(self.at).is_some_and(|t| t.is(text))
    }

    fn choice(&mut self) -> Result<i128, Diagnostic> {
        let condition = self.level(0)?;
        if !self.is("?") {
            return Ok(condition);
        }
        self.at += 1;
        let then = self.choice()?;
        self.expect(":")?;
        let other = self.choice()?;
        Ok(if condition != 0 { then } else { other })
    }

    fn level(&mut self, level: usize) -> Result<i128, Diagnostic> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(op) = operators.iter().find(|op| self.is(op)) {
            self.at += 1;
            let right = self.level(level + 1)?;
            let truth = i128::from;
            let shift = u32::try_from(right).unwrap_or(64).min(64);
            left = match *op {
                "||" => truth(left != 0 || right != 0),
                "&&" => truth(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => truth(left == right),
                "!=" => truth(left != right),
                "<" => truth(left < right),
                ">" => truth(left > right),
                "<=" => truth(left <= right),
                ">=" => truth(left >= right),
                "<<" => left.wrapping_shl(shift),
                ">>" => left >> shift,
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right).unwrap_or(0),
                _ => left.checked_rem(right).unwrap_or(0),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i128, Diagnostic> {
        let Some(token) = self.list.get(self.at) else {
            return Err(Diagnostic::new("this condition is not complete", self.word.range.clone()));
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > 10 * MAX_NESTING {
            return Err(Diagnostic::new("this condition is too long", token.range.clone()));
        }
        match (&*token.text, token.kind) {
            ("!", _) => Ok(i128::from(self.unary()? == 0)),
            ("-", _) => Ok(self.unary()?.wrapping_neg()),
            ("+", _) => self.unary(),
            ("~", _) => Ok(!self.unary()?),
            ("(", _) => {
                let value = self.choice()?;
                self.expect(")")?;
                Ok(value)
            }
            (text, Kind::Number) => Ok(number(text).unwrap_or(0)),
            (_, Kind::Name) => {
                // `__has_include(…)` and the like
                if self.is("(") {
                    while !self.is(")") && self.at < self.list.len() {
                        self.at += 1;
                    }
                    self.expect(")")?;
                }
                Ok(0)
            }
            _ => Err(Diagnostic::new("this does not belong here", token.range.clone())),
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if self.is(text) {
            self.at += 1;
            return Ok(());
        }
        let message = format!("`{text}` is missing in this condition");
        Err(Diagnostic::new(message, self.word.range.clone()))
    }
}

/// The number that a text is, without its suffix.
pub fn number(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let (digits, base) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        _ => (text, 10),
    };
    i128::from_str_radix(digits, base).ok()
}
