//! Cuts the text into tokens.

use std::ops::Range;

use weir_front::Diagnostic;

use super::KEYWORDS;
use weir_front::errors::{Errors, quote};

/// What kind of token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name; its text is without quotation marks.
    Name,
    /// A word of the language.
    Keyword,
    /// Punctuation.
    Symbol,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub range: Range<usize>,
}

/// Longer ones first.
const SYMBOLS: [&str; 15] =
    ["->", ";", ",", "!", "?", "[", "]", "(", ")", "|", "*", "+", ".", "^", "/"];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// Whether a name can stand without quotation marks.
pub fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_word) && !KEYWORDS.contains(&name)
}

/// The tokens of a text, the last one being the end.
pub fn tokens<'t>(text: &'t str, errors: &mut Errors) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let take = |test: &dyn Fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let mut push = |kind, text, length| {
            tokens.push(Token { kind, text, range: at..at + length });
            length
        };
        at += if first.is_whitespace() {
            take(&char::is_whitespace)
        } else if rest.starts_with("//") {
            take(&|c| c != '\n')
        } else if is_word(first) {
            let length = take(&is_word);
            let word = &rest[..length];
            let kind = if KEYWORDS.contains(&word) { Kind::Keyword } else { Kind::Name };
            push(kind, word, length)
        } else if first == '"' {
            match rest[1..].find(|c: char| c == '"' || c.is_control()) {
                Some(0) if rest[1..].starts_with('"') => {
                    errors.push(Diagnostic::new("a name cannot be empty", at..at + 2));
                    2
                }
                Some(length) if rest[1 + length..].starts_with('"') => {
                    push(Kind::Name, &rest[1..=length], length + 2)
                }
                end => {
                    let length = 1 + end.unwrap_or(rest.len() - 1);
                    let message = "this name is not closed: `\"` is missing";
                    errors.push(Diagnostic::new(message, at..at + length));
                    length
                }
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            push(Kind::Symbol, &rest[..symbol.len()], symbol.len())
        } else {
            let foreign = |c: char| {
                !c.is_whitespace()
                    && !is_word(c)
                    && c != '"'
                    && !SYMBOLS.iter().any(|s| s.starts_with(c))
            };
            // What begins like a symbol but is not one is reported as one character.
            let length = take(&foreign).max(first.len_utf8());
            let what = quote(&rest[..length]);
            let message = format!("{what} is not part of the language");
            errors.push(Diagnostic::new(message, at..at + length));
            length
        };
    }
    tokens.push(Token { kind: Kind::End, text: "", range: at..at });
    tokens
}
