//! Parsers and printers: one module per input language, with one entry point for all.
//!
//! [`read`] parses the text of a file into a [`Program`] and a [`Source`], which maps
//! each [`SpanId`](weir_model::ids::SpanId) to a range of characters, or returns all
//! errors that it finds. A front end uses neither memory models nor engines.
//!
//! ```
//! let (program, _source) = weir_front::read("example.weir", "var x\nprocess p { x = 1 }", None).unwrap();
//! assert_eq!(program.processes[0].name, "p");
//!
//! let errors = weir_front::read("example.weir", "process p { y = 1 }", None).unwrap_err();
//! assert!(errors[0].message.contains("`y`"));
//! ```

pub mod diagnostic;
pub mod errors;
pub mod escape;
pub mod litmus;
mod locked;
pub mod promela;
pub mod rmm;
pub mod source;
pub mod suggest;
pub mod trencher;
pub mod weir;

pub use diagnostic::Diagnostic;
pub use source::Source;

use weir_model::program::Program;

/// An input language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Weir's own, `.weir`.
    Weir,
    /// Litmus tests in the X86 and X86_64 dialects, `.litmus`.
    Litmus,
    /// Memorax's and Dual-TSO's, `.rmm`.
    Rmm,
    /// Trencher's, `.txt`.
    Trencher,
    /// Promela, the language of Spin, `.pml`.
    Promela,
}

/// How deep blocks and expressions may nest. Everything that walks a program
/// recurses at most this deep, so no input can overflow the stack.
pub const MAX_NESTING: usize = 100;

/// How many elements an array may have, and how many variables an address may choose from: the
/// same in every language, so that what is converted can be read.
pub const MAX_ARRAY: i128 = 1024;

/// The largest text that is read, in bytes.
pub const MAX_TEXT: usize = 4 << 20;

/// Which language a file is in, by its ending or else by how it begins.
pub fn detect(name: &str, text: &str) -> Language {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("weir") => Language::Weir,
        Some("litmus") => Language::Litmus,
        Some("rmm") => Language::Rmm,
        Some("pml" | "prom" | "promela") => Language::Promela,
        _ if litmus::looks_like(text) => Language::Litmus,
        _ if promela::looks_like(text) => Language::Promela,
        _ if rmm::looks_like(text) => Language::Rmm,
        _ if trencher::looks_like(text) => Language::Trencher,
        _ => Language::Weir,
    }
}

/// Reads a program. `name` is what reports call the file; `language` overrides
/// what [`detect`] finds.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(
    name: &str,
    text: &str,
    language: Option<Language>,
) -> Result<(Program, Source), Vec<Diagnostic>> {
    if text.len() > MAX_TEXT {
        let size = format!("the file has {} bytes; at most {MAX_TEXT} are read", text.len());
        return Err(vec![Diagnostic::new(size, 0..0)]);
    }
    let read = escape::without_mark(text);
    if read.trim().is_empty() {
        return Err(vec![Diagnostic::new("the file is empty", 0..0)]);
    }
    let result = match language.unwrap_or_else(|| detect(name, read)) {
        Language::Weir => weir::read(name, read),
        Language::Litmus => litmus::read(name, read),
        Language::Rmm => rmm::read(name, read),
        Language::Trencher => trencher::read(name, read),
        Language::Promela => promela::read(name, read),
    };
    // Errors say where they are in the text that was given, with its mark.
    result.map_err(|errors| {
        errors.into_iter().map(|error| error.moved(text.len() - read.len())).collect()
    })
}
