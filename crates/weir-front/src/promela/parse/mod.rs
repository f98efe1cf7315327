//! From tokens to a tree: a recursive-descent parser that goes on after errors.
//!
//! A function that fails has reported why and returns [`Failed`]; the nearest list of
//! statements or declarations then skips to where the next one may begin. Recursion
//! is bounded: blocks and brackets are counted, and so is the depth of the trees that
//! long chains of operators make.

mod declarations;
mod expressions;
mod statements;

use super::lexer::{Kind, Token, Via};
use super::tree::{Model, Name};
use crate::errors::{Errors, did_you_mean, quote};
use crate::tokens::Tokens;
use crate::weir::tree::Span;
use crate::{Diagnostic, MAX_NESTING};

/// Where a fence can be inserted: before or behind what, which statement begins the sequence,
/// and whether it is the end of it.
pub type Place = (usize, usize, bool);

/// Parses a whole model, and finds where fences can be inserted. The result is complete only if
/// there were no errors.
pub fn model<'t>(tokens: &[Token<'t>], errors: &mut Errors) -> (Model<'t>, Vec<Place>) {
    let tokens = Tokens::new(tokens);
    let records = vec![];
    let mut parser = Parser {
        tokens,
        errors,
        nesting: 0,
        guard: None,
        gaps: vec![],
        records,
        in_message: false,
        is_remote: false,
        unheeded: vec![],
    };
    let mut model = parser.model();
    model.claims.append(&mut parser.unheeded);
    (model, parser.gaps)
}

/// An error that has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'a, 't> {
    /// The last one is [`Kind::End`].
    tokens: Tokens<'a, Token<'t>>,
    errors: &'a mut Errors,
    /// Open blocks and brackets.
    nesting: usize,
    /// The token that begins the guard of an option.
    guard: Option<usize>,
    gaps: Vec<Place>,
    /// The names of `typedef`s.
    records: Vec<&'t str>,
    /// Whether a bracket after a name may begin the rest of a message.
    in_message: bool,
    /// Whether `P:x` is a variable of a process, as in formulas and assertions.
    is_remote: bool,
    /// What is read and has no effect: its first use.
    unheeded: Vec<Token<'t>>,
}

/// What belongs to Promela and not to Weir, and what to do instead.
const UNSUPPORTED: [(&str, &str); 12] = [
    ("c_code", "C code is not supported"),
    ("c_decl", "C code is not supported"),
    ("c_expr", "C code is not supported"),
    ("c_state", "C code is not supported"),
    ("c_track", "C code is not supported"),
    ("_last", "`_last` is not supported"),
    ("np_", "`np_` is not supported: ask `weir live` about progress"),
    ("enabled", "`enabled` is not supported"),
    ("pc_value", "`pc_value` is not supported"),
    ("get_priority", "priorities that change are not supported"),
    ("set_priority", "priorities that change are not supported"),
    ("_priority", "priorities that change are not supported"),
];

/// Words that are no names.
const WORDS: [&str; 54] = [
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "D_proctype",
    "d_step",
    "do",
    "else",
    "empty",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "od",
    "of",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];

/// Whether a word is no name.
pub fn is_word(word: &str) -> bool {
    WORDS.contains(&word)
}

/// Why a word cannot be used, if it cannot.
fn unsupported(word: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|(w, _)| *w == word).map(|(_, why)| *why)
}

impl<'t> Parser<'_, 't> {
    fn is(&self, text: &str) -> bool {
        self.tokens.peek().is(text)
    }

    fn is_end(&self) -> bool {
        self.tokens.peek().kind == Kind::End
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.tokens.next();
        }
        found
    }

    /// Takes `text`; `context` says where it was expected: "after the condition".
    fn expect(&mut self, text: &str, context: &str) -> Parsed<Token<'t>> {
        if self.is(text) {
            Ok(self.tokens.next())
        } else {
            Err(self.expected(&format!("`{text}` {context}")))
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        let token = self.tokens.peek();
        if token.kind != Kind::Name {
            return Err(self.expected(what));
        }
        self.check(token)?;
        if WORDS.contains(&token.text) {
            let message = format!("`{}` is a word of the language, not a name", token.text);
            return Err(self.fail(token.error(message).label(format!("expected {what}"))));
        }
        self.tokens.next();
        Ok(Name { text: token.text, token })
    }

    /// Reports a word that is not supported.
    fn check(&mut self, token: Token<'t>) -> Parsed<()> {
        match unsupported(token.text).filter(|_| token.kind == Kind::Name) {
            Some(why) => Err(self.fail(token.error(why))),
            None => Ok(()),
        }
    }

    /// Reports that something else was expected than the next token.
    fn expected(&mut self, what: &str) -> Failed {
        let token = self.tokens.peek();
        if self.check(token).is_err() {
            return Failed;
        }
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(token.text),
        };
        self.fail(token.error(format!("expected {what}, found {found}")))
    }

    fn fail(&mut self, error: Diagnostic) -> Failed {
        self.errors.push(error);
        Failed
    }

    /// What `parse` reads, one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            let error =
                self.tokens.peek().error(format!("this nests more than {MAX_NESTING} deep"));
            // All that follows would be noise.
            self.tokens.skip_all();
            return Err(self.fail(error));
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    /// From `first` to the token that was read last, if both stand in one place.
    fn span_from(&self, first: Token<'t>) -> Span {
        let last = self.tokens.last();
        let together = match (first.via, last.via) {
            (None, None) | (Some(Via::Macro(_)) | None, Some(Via::Macro(_)) | None) => true,
            (a, b) => a == b,
        };
        let in_order = first.span.range().start <= last.span.range().start;
        if together && in_order { first.span.to(last.span) } else { first.span }
    }

    /// Skips to the end of a statement or a declaration, not out of its block.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while !self.is_end() {
            let token = self.tokens.peek();
            let opens = ["{", "(", "[", "if", "do"].iter().any(|t| token.is(t));
            let closes = ["}", ")", "]", "fi", "od"].iter().any(|t| token.is(t));
            if depth == 0 && (closes || [";", "->", "::"].iter().any(|t| token.is(t))) {
                return;
            }
            if depth == 1 && closes && token.is("}") {
                self.tokens.next();
                return;
            }
            depth += usize::from(opens);
            depth = depth.saturating_sub(usize::from(closes));
            self.tokens.next();
        }
    }
}

/// The error for a word that was probably meant to be another one.
fn misspelled(error: Diagnostic, word: &str) -> Diagnostic {
    did_you_mean(error, word, WORDS.iter().copied())
}
