//! Cuts the text into tokens.
//!
//! Newlines mean nothing to the grammar, but each token knows whether it is the
//! first on its line: that is where the parser resumes after an error.

use weir_model::program::IntType;

use super::tree::Span;
use crate::Diagnostic;
use crate::errors::{Errors, quote};

/// What kind of token it is; its text says which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name that the program chooses.
    Name,
    /// A word of the language.
    Keyword,
    /// A word that a later version of the language will need.
    Reserved,
    /// A number and its value.
    Number(i128),
    /// Punctuation.
    Symbol,
    /// A text in quotes.
    Text,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    /// What kind.
    pub kind: Kind,
    /// The text itself.
    pub text: &'t str,
    /// Where it stands.
    pub span: Span,
    /// Whether it is the first on its line.
    pub first: bool,
}

/// Words that begin a declaration or a property: none of them can stand inside
/// a process, so they show where a forgotten `}` should have been.
pub const TOP_KEYWORDS: [&str; 15] = [
    "const",
    "enum",
    "var",
    "process",
    "object",
    "method",
    "never",
    "no",
    "final",
    "live",
    "ltl",
    "assertions",
    "game",
    "filter",
    "observe",
];

/// Words that begin a statement.
pub const STATEMENT_KEYWORDS: [&str; 17] = [
    "reg", "goto", "fence", "wfence", "rfence", "nop", "break", "continue", "exit", "return", "if",
    "while", "loop", "choose", "assume", "assert", "await",
];

const OTHER_KEYWORDS: [&str; 14] = [
    "else", "until", "or", "and", "not", "any", "true", "false", "bool", "deadlock", "exists",
    "always", "reach", "avoid",
];

const RESERVED: [&str; 1] = ["call"];

/// Longer ones first.
const SYMBOLS: [&str; 47] = [
    "<->", "->", "<>", "[]", "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "..",
    "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "(", ")", "[", "]", ",", ";", ":",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", ".", "@", "?",
];

/// The words of the language that a program may use.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    let words = TOP_KEYWORDS.into_iter().chain(STATEMENT_KEYWORDS).chain(OTHER_KEYWORDS);
    words.chain(IntType::ALL.map(IntType::name))
}

/// Whether a name may not be chosen by a program.
pub fn is_taken_word(word: &str) -> bool {
    TOP_KEYWORDS.contains(&word)
        || STATEMENT_KEYWORDS.contains(&word)
        || OTHER_KEYWORDS.contains(&word)
        || RESERVED.contains(&word)
        || IntType::named(word).is_some()
}

/// The tokens of `text`, the last one being [`Kind::End`].
pub fn tokens<'t>(text: &'t str, errors: &mut Errors) -> Vec<Token<'t>> {
    let mut lexer = Lexer { text, at: 0, errors };
    let mut tokens = Vec::new();
    let mut line_of_last = None;
    let mut lines = 0;
    let mut seen = 0;
    loop {
        lexer.skip_blanks();
        lines += text[seen..lexer.at].matches('\n').count();
        seen = lexer.at;
        let start = lexer.at;
        let Some(kind) = lexer.token() else {
            let span = Span::new(start, start);
            tokens.push(Token { kind: Kind::End, text: "", span, first: true });
            return tokens;
        };
        let first = line_of_last != Some(lines);
        line_of_last = Some(lines);
        let span = Span::new(start, lexer.at);
        tokens.push(Token { kind, text: &text[start..lexer.at], span, first });
    }
}

struct Lexer<'t, 'e> {
    text: &'t str,
    at: usize,
    errors: &'e mut Errors,
}

impl Lexer<'_, '_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips white space, comments and, with an error, what no token begins with.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.skip_comment();
            } else if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace()) {
                self.at += c.len_utf8();
            } else if rest.starts_with(|c| !begins_token(c)) {
                self.skip_foreign();
            } else {
                return;
            }
        }
    }

    fn skip_comment(&mut self) {
        let open = self.at;
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            let Some(next) = rest.find(['/', '*']) else {
                self.at = self.text.len();
                let message = "this comment is not closed: `*/` is missing";
                return self.errors.push(Diagnostic::new(message, open..open + 2));
            };
            let rest = &rest[next..];
            let (step, now) = match () {
                () if rest.starts_with("/*") => (2, depth + 1),
                () if rest.starts_with("*/") => (2, depth - 1),
                () => (1, depth),
            };
            self.at += next + step;
            depth = now;
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_foreign(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || begins_token(c)).unwrap_or(rest.len());
        let message = format!("{} is not part of the language", quote(&rest[..end]));
        let range = self.at..self.at + end;
        self.at = range.end;
        self.errors.push(Diagnostic::new(message, range));
    }

    /// The next token, if there is one; blanks have been skipped.
    fn token(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first.is_ascii_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let word = &self.text[self.at..self.at + end.unwrap_or(rest.len())];
            self.at += word.len();
            return Some(if first.is_ascii_digit() { self.number(word) } else { kind_of(word) });
        }
        if first == '"' {
            let end = rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 1);
            let is_closed = rest[end..].starts_with('"');
            let start = self.at;
            self.at += end + usize::from(is_closed);
            if !is_closed {
                let message = "this text is not closed: `\"` is missing";
                self.errors.push(Diagnostic::new(message, start..self.at));
            }
            return Some(Kind::Text);
        }
        let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s))?;
        self.at += symbol.len();
        Some(Kind::Symbol)
    }

    fn number(&mut self, word: &str) -> Kind {
        let (digits, radix) = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (word, 10),
        };
        let digits = digits.replace('_', "");
        let value = i128::from_str_radix(&digits, radix).unwrap_or_else(|_| {
            let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let why = if is_number { "does not fit into 128 bits" } else { "is not a number" };
            let message = format!("{} {why}", quote(word));
            self.errors.push(Diagnostic::new(message, self.at - word.len()..self.at));
            0
        });
        Kind::Number(value)
    }
}

fn begins_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '"' || SYMBOLS.iter().any(|s| s.starts_with(c))
}

fn kind_of(word: &str) -> Kind {
    match word {
        _ if RESERVED.contains(&word) => Kind::Reserved,
        _ if is_taken_word(word) => Kind::Keyword,
        _ => Kind::Name,
    }
}
