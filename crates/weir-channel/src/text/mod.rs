//! The `.chm` format: channel machines as text. `docs/channel-machines.md` has the
//! grammar.

mod guard;
mod lexer;
mod parse;
mod print;

pub use parse::{Placed, read, read_placed};
pub use print::{print, show_regex, show_transition};

/// Words of the language. A name that is one of them stands in quotation marks.
pub(crate) const KEYWORDS: [&str; 18] = [
    "machine", "messages", "channels", "labels", "states", "strong", "at", "most", "initial", "on",
    "when", "do", "in", "empty", "has", "only", "eps", "nop",
];

/// The most parts of a guard.
pub(crate) const MAX_PARTS: usize = 10_000;
