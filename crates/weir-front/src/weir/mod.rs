//! Weir's own language, `.weir`: textbook pseudo-code in, a [`Program`] out,
//! and back.
//!
//! Three steps, one folder each:
//!
//! 1. `lexer` and `parse` turn the text into a `tree`: what was written,
//!    with nothing looked up yet;
//! 2. `lower` looks names up, works constants out, writes families out and
//!    makes every access to shared memory a statement of its own;
//! 3. [`print`](mod@print) writes a program as text that [`read`] accepts again.
//!
//! [`format()`] is the usual form of a text.
//!
//! The language is described in `docs/language.md`.

pub(crate) mod fold;
mod foreign;
mod format;
mod lexer;
mod lower;
pub mod names;
mod operators;
mod orders;
mod parse;
pub mod print;
pub(crate) mod tree;

pub use format::format;
pub(crate) use lower::ask;
pub use print::print;

use std::path::Path;

use weir_model::program::Program;

use crate::errors::Errors;
use crate::{Diagnostic, Gap, Language, MAX_TEXT, Source};

/// Weir's own language.
pub static LANGUAGE: Language = Language {
    name: "weir",
    endings: &["weir"],
    looks_like: |_| true,
    read: |name, text, _| read(name, text),
    declare: Some(|name| format!("var {name}: 0..3")),
    gaps,
    orders: orders::orders,
    fence: |kind| Some(kind.name()),
};

/// Where fences can be inserted: before each statement, and at the end of each block.
fn gaps(text: &str) -> Vec<Gap> {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    parsed.gaps.into_iter().map(|(at, like)| Gap::before(text, at, like, "")).collect()
}

/// Reads a program.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    if text.len() > MAX_TEXT {
        let size = format!("the file has {} bytes; at most {MAX_TEXT} are read", text.len());
        return Err(vec![Diagnostic::new(size, 0..0)]);
    }
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    // After an error that may have swallowed declarations, every use of what
    // they declare would look like another error.
    if parsed.lost_names {
        return Err(errors.sorted());
    }
    let taken = tokens.iter().filter(|t| t.kind == lexer::Kind::Name).map(|t| t.text).collect();
    let source = Source::new(name, text);
    lower::file(&stem, &parsed.items, taken, source, errors).map_err(Errors::sorted)
}
