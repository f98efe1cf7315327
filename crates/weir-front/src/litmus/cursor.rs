//! A place in a list of tokens, with the few questions that every parser asks.

use std::ops::Range;

use super::lexer::{Kind, Token};
use crate::Diagnostic;

/// A place in a list of tokens.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
    /// Where the text of these tokens ends: the place of what is missing there.
    end: usize,
}

impl<'a, 't> Cursor<'a, 't> {
    /// At the first of `tokens`, which end at byte `end`.
    pub fn new(tokens: &'a [Token<'t>], end: usize) -> Self {
        Self { tokens, at: 0, end: tokens.last().map_or(end, |last| last.range.end) }
    }

    /// What comes next.
    pub fn peek(&self) -> Option<Kind<'t>> {
        self.peek_at(0)
    }

    /// What comes `ahead` tokens later.
    pub fn peek_at(&self, ahead: usize) -> Option<Kind<'t>> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The place of the next token.
    pub fn range(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |token| token.range.clone())
    }

    /// From byte `start` to the end of the last token that was taken.
    pub fn since(&self, start: usize) -> Range<usize> {
        let end = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].range.end);
        start..end.max(start)
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Option<&'a Token<'t>> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    /// Where the next such sign ends, or everything.
    pub fn until(&self, sign: &str) -> usize {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let found = rest.iter().find(|t| matches!(t.kind, Kind::Sign(next) if next == sign));
        found.map_or(self.end, |token| token.range.end)
    }

    /// Takes the sign if it is next.
    pub fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Sign(next)) if next == sign);
        self.at += usize::from(found);
        found
    }

    /// Takes the keyword if it is next.
    pub fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Word(next)) if next == word);
        self.at += usize::from(found);
        found
    }

    /// Takes the sign, which has to be next.
    pub fn expect(&mut self, sign: &str) -> Result<(), Diagnostic> {
        if self.sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Takes a word, which has to be next; `what` says what it stands for.
    pub fn word(&mut self, what: &str) -> Result<(&'t str, Range<usize>), Diagnostic> {
        match self.peek() {
            Some(Kind::Word(word)) => {
                let range = self.range();
                self.at += 1;
                Ok((word, range))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes a number with an optional sign if one is next.
    pub fn number(&mut self) -> Option<i128> {
        match (self.peek(), self.peek_at(1)) {
            (Some(Kind::Number(value)), _) => {
                self.at += 1;
                Some(value)
            }
            (Some(Kind::Sign("-")), Some(Kind::Number(value))) => {
                self.at += 2;
                Some(-value)
            }
            _ => None,
        }
    }

    /// Nothing may be left.
    pub fn finish(&self) -> Result<(), Diagnostic> {
        if self.is_done() { Ok(()) } else { Err(self.expected("the end")) }
    }

    /// The error that `what` should stand here.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Some(Kind::Word(word)) => format!("`{word:.40}`"),
            Some(Kind::Number(value)) => format!("`{value}`"),
            Some(Kind::Sign(sign)) => format!("`{sign}`"),
            None => "nothing".to_owned(),
        };
        Diagnostic::new(format!("{what} is expected here, not {found}"), self.range())
    }
}
