//! Cuts a text into tokens.

use std::ops::Range;
use std::rc::Rc;

use crate::Diagnostic;
use crate::errors::{Errors, quote};

/// What kind of token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword, a label, a variable or a macro.
    Word,
    /// `$r`
    Register,
    Number(i128),
    Symbol,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Where a person would look for it: in the text itself, or, for what a macro
    /// stands for, where the macro is used.
    pub range: Range<usize>,
    /// Where in which macro it stands, if it comes from one.
    pub inside: Option<Rc<Inside>>,
}

/// A place in the body of a macro.
#[derive(Debug)]
pub struct Inside {
    /// The macro.
    pub name: String,
    /// The place.
    pub range: Range<usize>,
}

impl Token<'_> {
    /// An error at this token. Inside a macro it points at the use, and says
    /// what in the macro is wrong.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        let error = Diagnostic::new(message, self.range.clone());
        match &self.inside {
            Some(inside) => {
                let note = format!("this is in macro {}", quote(&inside.name));
                error.label("used here").note(inside.range.clone(), note)
            }
            None => error,
        }
    }

    /// Whether it is this word or symbol.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Symbol) && self.text == text
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 22] = [
    ":=", "&&", "||", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "(", ")", "[", "]", "{", "}",
    ":", ";", ",", "/",
];

/// The tokens of a text, the last one being [`Kind::End`].
pub fn tokens<'t>(text: &'t str, errors: &mut Errors) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_';
    loop {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { kind: Kind::End, text: "", range: at..at, inside: None });
            return tokens;
        };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                let message = "this comment is not closed: `*/` is missing";
                errors.push(Diagnostic::new(message, at..at + 2));
                at = text.len();
                continue;
            };
            at += end + 2;
            continue;
        }
        let word_at = usize::from(first == '$');
        let word = rest[word_at..].find(|c| !belongs(c)).unwrap_or(rest.len() - word_at);
        let (kind, length) = if word > 0 && first == '$' {
            (Kind::Register, word + 1)
        } else if first.is_ascii_digit() {
            (number(&rest[..word], at, errors), word)
        } else if word > 0 && first != '$' {
            (Kind::Word, word)
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            (Kind::Symbol, symbol.len())
        } else {
            let foreign = |c: char| !c.is_whitespace() && !belongs(c) && !c.is_ascii_punctuation();
            let length = rest.find(|c| !foreign(c)).unwrap_or(rest.len()).max(first.len_utf8());
            let message = format!("{} is not part of the language", quote(&rest[..length]));
            errors.push(Diagnostic::new(message, at..at + length));
            at += length;
            continue;
        };
        let range = at..at + length;
        tokens.push(Token { kind, text: &text[range.clone()], range, inside: None });
        at += length;
    }
}

fn number(word: &str, at: usize, errors: &mut Errors) -> Kind {
    let value = word.parse().unwrap_or_else(|_| {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        let why = if is_number { "does not fit into 128 bits" } else { "is not a number" };
        let message = format!("{} {why}", quote(word));
        errors.push(Diagnostic::new(message, at..at + word.len()));
        0
    });
    Kind::Number(value)
}
