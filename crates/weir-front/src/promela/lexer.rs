//! From text to tokens, and the comments that ask Weir something.

use crate::Diagnostic;
use crate::errors::{Errors, quote};
use crate::weir::tree::Span;

/// What a token is. Words of the language are names here: the parser tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    Number(i128),
    /// `"…"`, as in `printf`.
    Text,
    Symbol,
    End,
}

/// Where a token comes from that does not stand where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// It stands in the body of a macro, here; its span is where the macro is used.
    Macro(Span),
    /// It stands in the body of an `inline` that is called here.
    Inline(Span),
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub span: Span,
    pub via: Option<Via>,
    /// The first one on its line.
    pub first: bool,
}

impl Token<'_> {
    /// Whether this is that word or symbol.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Name | Kind::Symbol) && self.text == text
    }

    /// An error here; says where the token came from.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        let error = Diagnostic::new(message, self.span.range());
        match self.via {
            Some(Via::Macro(body)) => error.note(body.range(), "it is in this macro"),
            Some(Via::Inline(call)) => error.note(call.range(), "this is called here"),
            None => error,
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 44] = [
    "...", "..", "->", "::", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "++", "--", "!!",
    "??", "{", "}", "(", ")", "[", "]", ",", ";", ":", "=", "<", ">", "+", "-", "*", "/", "%", "&",
    "|", "^", "!", "~", ".", "?", "@", "#", "$", "\\",
];

/// What a text is made of.
pub struct Lexed<'t> {
    /// The last one is [`Kind::End`].
    pub tokens: Vec<Token<'t>>,
    /// What stands after `weir:` in comments, as ranges of bytes.
    pub questions: Vec<Span>,
}

/// The tokens of a text.
pub fn tokens<'t>(text: &'t str, errors: &mut Errors) -> Lexed<'t> {
    let mut lexer = Lexer { text, at: 0, first: true, questions: Vec::new(), errors };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let first = std::mem::take(&mut lexer.first);
        let kind = lexer.token();
        let span = Span::new(start, lexer.at);
        let text = &text[start..lexer.at];
        tokens.push(Token { kind, text, span, via: None, first: first || kind == Kind::End });
        if kind == Kind::End {
            return Lexed { tokens, questions: lexer.questions };
        }
    }
}

struct Lexer<'t, 'e> {
    text: &'t str,
    at: usize,
    /// Whether a line began since the last token.
    first: bool,
    questions: Vec<Span>,
    errors: &'e mut Errors,
}

impl<'t> Lexer<'t, '_> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips white space, comments and, with an error, what no token begins with.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.question(&rest[2..end]);
                self.at += end;
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/");
                if end.is_none() {
                    let message = "this comment is not closed: `*/` is missing";
                    self.errors.push(Diagnostic::new(message, self.at..self.at + 2));
                }
                self.question(&comment[..end.unwrap_or(comment.len())]);
                self.at += end.map_or(rest.len(), |e| e + 4);
            } else if let Some(rest) = rest.strip_prefix('\\')
                && let Some(line) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))
            {
                // A line that goes on.
                self.at = self.text.len() - line.len();
            } else if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace()) {
                self.first |= c == '\n';
                self.at += c.len_utf8();
            } else if rest.starts_with(|c| !begins_token(c)) {
                let end = rest.find(|c: char| c.is_whitespace() || begins_token(c));
                let end = end.unwrap_or(rest.len());
                let message = format!("{} is not part of Promela", quote(&rest[..end]));
                self.errors.push(Diagnostic::new(message, self.at..self.at + end));
                self.at += end;
            } else {
                return;
            }
        }
    }

    /// Keeps what a comment asks; `comment` begins two bytes further.
    fn question(&mut self, comment: &str) {
        if let Some(asked) = comment.trim_start().strip_prefix("weir:") {
            let end = self.at + 2 + comment.len();
            self.questions.push(Span::new(end - asked.len(), end));
        }
    }

    fn token(&mut self) -> Kind {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Kind::End };
        if first.is_ascii_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let word = &rest[..end.unwrap_or(rest.len())];
            self.at += word.len();
            return if first.is_ascii_digit() { self.number(word) } else { Kind::Name };
        }
        if first == '"' || first == '\'' {
            let inside = &rest[1..];
            let end = self.closing(inside, first);
            if end.is_none() {
                let message = format!("this text is not closed: `{first}` is missing");
                self.errors.push(Diagnostic::new(message, self.at..self.at + 1));
            }
            let line = || inside.find('\n').unwrap_or(inside.len());
            self.at += end.map_or_else(|| line() + 1, |e| e + 2);
            let escaped = |c: u8| match c {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'f' => 12,
                c => c,
            };
            return match end.map(|end| &inside.as_bytes()[..end]) {
                Some([c]) if first == '\'' => Kind::Number(i128::from(*c)),
                Some([b'\\', c]) if first == '\'' => Kind::Number(i128::from(escaped(*c))),
                _ => Kind::Text,
            };
        }
        let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s));
        self.at += symbol.map_or(0, |s| s.len());
        symbol.map_or(Kind::End, |_| Kind::Symbol)
    }

    /// Where a text ends that began with this quote, on the same line; `\` takes the meaning from
    /// what follows it.
    fn closing(&self, inside: &str, quote: char) -> Option<usize> {
        let mut is_escaped = false;
        for (at, c) in inside.char_indices() {
            match c {
                '\n' => return None,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                c if c == quote => return Some(at),
                _ => {}
            }
        }
        None
    }

    fn number(&mut self, word: &str) -> Kind {
        let hexadecimal = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        let (digits, radix) = hexadecimal.map_or((word, 10), |digits| (digits, 16));
        let value = i128::from_str_radix(digits, radix).ok().filter(|v| *v <= i128::from(u32::MAX));
        Kind::Number(value.unwrap_or_else(|| {
            let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let why = if is_number { "does not fit into 32 bits" } else { "is not a number" };
            let message = format!("{} {why}", quote(word));
            self.errors.push(Diagnostic::new(message, self.at - word.len()..self.at));
            0
        }))
    }
}

fn begins_token(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || c == '_'
        || c == '"'
        || c == '\''
        || SYMBOLS.iter().any(|s| s.starts_with(c))
}
