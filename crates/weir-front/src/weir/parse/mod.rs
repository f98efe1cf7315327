//! From tokens to a tree: a recursive-descent parser that goes on after errors.
//!
//! A function that fails has reported why and returns [`Failed`]; the nearest
//! list of statements or declarations then skips to where the next one begins.
//! Recursion is bounded: blocks and brackets are counted, and so is the depth
//! of the trees that long chains of operators make. Past the bound the parser
//! reports that and reads no further, since all that follows would be noise.

mod expressions;
mod items;
mod statements;
mod temporal;

pub use statements::UNDIVIDED;

use weir_model::program::Order;

use super::lexer::{Kind, STATEMENT_KEYWORDS, TOP_KEYWORDS, Token};
use super::tree::{Item, Name, Span};
use crate::errors::{Errors, quote};
use crate::orders::Access;
use crate::tokens::Tokens;
use crate::{Diagnostic, MAX_NESTING};

/// A file that was parsed, perhaps with errors.
pub struct File<'t> {
    /// What could be parsed.
    pub items: Vec<Item<'t>>,
    /// Whether something that declares names may have been skipped.
    pub lost_names: bool,
    /// Where fences can be inserted: before what, and which statement begins the block.
    pub gaps: Vec<(usize, usize)>,
    /// Words of formulas that could be names.
    pub words: Vec<Span>,
    /// What has a memory order, or may have one.
    pub ordered: Vec<Ordered>,
}

/// Where an order is written, or can be. What is only a name may be no access.
#[derive(Clone, Debug)]
pub enum Ordered {
    /// The word of an order of some access.
    Word(Span, Access, Order),
    /// `x` in an expression.
    Read(Span),
    /// `x = e`: the place, and the value.
    Assigned(Span, Span),
    /// `swap(x, 1)`: the name, and the last operand.
    Atomic(Span, Span),
    /// `fence`, `wfence`, `rfence`.
    Fence(Span, Order),
}

/// Parses a whole file.
pub fn file<'t>(tokens: &[Token<'t>], errors: &mut Errors) -> File<'t> {
    let mut parser = Parser {
        tokens: Tokens::new(tokens),
        errors,
        blocks: 0,
        brackets: 0,
        lost_names: false,
        unclosed: false,
        stopped: false,
        gaps: vec![],
        words: vec![],
        ordered: vec![],
    };
    let items = parser.items();
    let Parser { lost_names, gaps, words, ordered, .. } = parser;
    File { items, lost_names, gaps, words, ordered }
}

/// An error that has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'a, 't> {
    /// The last one is [`Kind::End`].
    tokens: Tokens<'a, Token<'t>>,
    errors: &'a mut Errors,
    blocks: usize,
    brackets: usize,
    lost_names: bool,
    /// A missing `}` has been reported for the current declaration.
    unclosed: bool,
    /// Nothing more is read or reported.
    stopped: bool,
    /// As in [`File`].
    gaps: Vec<(usize, usize)>,
    words: Vec<Span>,
    ordered: Vec<Ordered>,
}

impl<'t> Parser<'_, 't> {
    /// The place of the token that was read last.
    fn last(&self) -> Span {
        self.tokens.last().span
    }

    /// Whether the next token is this keyword or symbol.
    fn is(&self, text: &str) -> bool {
        is(self.tokens.peek(), text)
    }

    /// Whether the next token is this word, which elsewhere may be a name.
    fn is_word(&self, word: &str) -> bool {
        let token = self.tokens.peek();
        token.kind == Kind::Name && token.text == word
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.tokens.next();
        }
        found
    }

    /// Takes `text`; `context` says where it was expected: "after the condition".
    fn expect(&mut self, text: &str, context: &str) -> Parsed<Span> {
        if self.is(text) {
            Ok(self.tokens.next().span)
        } else {
            Err(self.expected(&format!("`{text}` {context}")))
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        let token = self.tokens.peek();
        match token.kind {
            Kind::Name => {
                self.tokens.next();
                Ok(Name { text: token.text, span: token.span })
            }
            Kind::Keyword => {
                let message = format!("`{}` is a word of the language, not a name", token.text);
                let label = format!("expected {what}");
                // On the same line it was meant as a name.
                if !token.first {
                    self.tokens.next();
                }
                Err(self.fail(Diagnostic::new(message, token.span.range()).label(label)))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Reports that something else was expected than the next token.
    fn expected(&mut self, what: &str) -> Failed {
        let token = self.tokens.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(token.text),
        };
        let error = match token.kind {
            Kind::Reserved => {
                let message = format!("{found} is reserved for a later version of the language");
                Diagnostic::new(message, token.span.range()).label(format!("expected {what}"))
            }
            _ => Diagnostic::new(format!("expected {what}, found {found}"), token.span.range()),
        };
        self.fail(error)
    }

    fn fail(&mut self, error: Diagnostic) -> Failed {
        if !self.stopped {
            self.errors.push(error);
        }
        Failed
    }

    /// Reports what makes it pointless to read on.
    fn stop(&mut self, error: Diagnostic) -> Failed {
        let failed = self.fail(error);
        self.stopped = true;
        self.lost_names = true;
        self.tokens.skip_all();
        failed
    }

    fn too_deep(&mut self, what: &str, span: Span) -> Failed {
        let message = format!("{what} nest more than {MAX_NESTING} deep here");
        self.stop(Diagnostic::new(message, span.range()))
    }

    /// Skips to where the next statement may begin, at least one token further
    /// than `start`, without leaving the block.
    fn skip_statement(&mut self, start: usize) {
        self.lost_names |= is(self.tokens.get(start), "reg");
        while !self.is_end() && !self.is("}") {
            let token = self.tokens.peek();
            let begins = STATEMENT_KEYWORDS.iter().chain(&TOP_KEYWORDS).any(|k| is(token, k))
                || (token.first && token.kind == Kind::Name);
            if begins && self.tokens.at > start {
                return;
            }
            if self.is("{") {
                self.skip_block();
            } else if self.tokens.next().text == "else" {
                self.eat("if");
            }
        }
    }

    /// Skips a block with all that is in it.
    fn skip_block(&mut self) {
        self.lost_names = true;
        let mut depth = 0usize;
        while !self.is_end() {
            let token = self.tokens.next();
            if is(token, "{") {
                depth += 1;
            } else if is(token, "}") {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 || self.begins_item() {
                return;
            }
        }
    }

    /// Skips to the next `{` if it stands on this line.
    fn skip_to_brace(&mut self) -> bool {
        let ahead = (0..64).find(|&i| {
            let token = self.tokens.peek_at(i);
            is(token, "{") || is(token, "}") || (token.first && i > 0) || token.kind == Kind::End
        });
        match ahead {
            Some(i) if is(self.tokens.peek_at(i), "{") => {
                self.tokens.at += i;
                true
            }
            _ => false,
        }
    }

    fn is_end(&self) -> bool {
        self.tokens.peek().kind == Kind::End
    }

    /// Whether the next token can only begin a declaration or a property.
    fn begins_item(&self) -> bool {
        let named = ["record", "procedure"].iter().any(|word| self.is_word(word));
        TOP_KEYWORDS.iter().any(|k| self.is(k))
            || (named && self.tokens.peek_at(1).kind == Kind::Name)
    }
}

fn is(token: Token<'_>, text: &str) -> bool {
    matches!(token.kind, Kind::Keyword | Kind::Symbol) && token.text == text
}
