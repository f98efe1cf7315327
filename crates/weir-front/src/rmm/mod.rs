//! Memorax's and Dual-TSO's language, `.rmm`.
//!
//! The steps, one file each: `lexer` cuts the text into tokens, `expand` replaces
//! macros by what they stand for, `parse` with `expression` makes a `tree`, `memory`
//! finds out where the variables are, and `lower` makes a program of it all, with
//! `process` for what processes do, `target` for places in memory, and `locked` for
//! what happens at once.
//! `docs/other-inputs.md` says how each construct is read.
//!
//! ```
//! let text = "
//!     forbidden CS CS
//!     data lock = 0 : [0:1]
//!     process(2) text
//!       L0: cas(lock, 0, 1);
//!       CS: write: lock := 0;
//!       goto L0";
//! let (program, _) = weir_front::rmm::read("lock.rmm", text).unwrap();
//! assert_eq!(program.processes.len(), 2);
//! ```

mod expand;
mod expression;
mod lexer;
mod locked;
mod lower;
mod memory;
mod parse;
mod process;
mod target;
mod tree;

use std::path::Path;

use weir_model::program::{FenceKind, Program};

use crate::errors::Errors;
use crate::{Diagnostic, Gap, Language, Read, Settings, Source};

/// The language of Memorax and Dual-TSO.
pub static LANGUAGE: Language = Language {
    name: "rmm",
    endings: &["rmm"],
    looks_like,
    read: read_with,
    declare: Some(|name| format!("{name} = 0 : [0:3]")),
    gaps,
    orders: |_| Vec::new(),
    fence: |kind| {
        Some(match kind {
            FenceKind::Full => "fence",
            FenceKind::Read => "llfence",
            FenceKind::Write => "ssfence",
        })
    },
};

/// Where fences can be inserted: before statements and behind the last one of a list, outside
/// `locked` and macros.
fn gaps(text: &str) -> Vec<Gap> {
    let tokens = lexer::tokens(text, &mut Errors::default());
    let Ok(tokens) = expand::expand(tokens) else { return vec![] };
    let Ok((_, gaps)) = parse::file(&tokens) else { return vec![] };
    let gap = |(at, like, is_end)| match is_end {
        true => Gap::behind(text, at, like),
        false => Gap::before(text, at, like, ";"),
    };
    gaps.into_iter().map(gap).collect()
}

/// Whether a text begins like a file of this language.
pub fn looks_like(text: &str) -> bool {
    let mut errors = Errors::default();
    let start: String = text.chars().take(20_000).collect();
    let tokens = lexer::tokens(&start, &mut errors);
    tokens.first().is_some_and(|t| t.is("forbidden") || t.is("macro"))
}

/// Reads a program.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    read_with(name, text, &Settings::default())
}

fn read_with(name: &str, text: &str, settings: &Settings) -> Read {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = expand::expand(tokens).and_then(|tokens| {
        let (file, _) = parse::file(&tokens)?;
        Ok((tokens, file))
    });
    match parsed {
        Ok((tokens, file)) => {
            let source = Source::new(name, text);
            let read = lower::file(&stem, &tokens, &file, source, errors, &settings.bounds);
            read.map_err(Errors::sorted)
        }
        Err(error) => {
            errors.push(error);
            Err(errors.sorted())
        }
    }
}
