//! Promela, the language of Spin: `.pml`.
//!
//! Four steps:
//!
//! 1. `lexer` makes tokens of the text, and finds what comments ask of Weir;
//! 2. `expand` replaces macros and calls of `inline`s;
//! 3. `parse` turns the tokens into a `tree`;
//! 4. `lower` says which processes there are, builds the steps of each as Spin does, and writes them
//!    as statements.
//!
//! What is read how is described in `docs/promela.md`.

mod expand;
mod include;
mod lexer;
mod lower;
mod parse;
mod tree;

use std::path::Path;

use weir_model::program::{Program, Property, PropertyKind};

use crate::errors::Errors;
use crate::{Diagnostic, Gap, Language, Settings, Source, weir};

/// Reads a model.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
///
/// ```
/// let text = "byte x; active [2] proctype P() { x = x + 1 }";
/// let (program, _) = weir_front::promela::read("two.pml", text).unwrap();
/// assert_eq!(program.processes[1].name, "P[1]");
///
/// let errors = weir_front::promela::read("code.pml", "c_code { int x; }").unwrap_err();
/// assert!(errors[0].message.contains("C code is not supported"));
/// ```
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    read_with(name, text, &Settings::default())
}

/// Reads a model with settings.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read_with(
    name: &str,
    text: &str,
    settings: &Settings,
) -> Result<(Program, Source), Vec<Diagnostic>> {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let mut errors = Errors::default();
    let lexed = lexer::tokens(text, &mut errors);
    let mut source = Source::new(name, text);
    let files = include::files(name, text, settings, &mut source);
    let defines: Vec<String> =
        settings.defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
    let defines = defines.concat();
    let tokens = include::tokens(&defines, &lexed.tokens, &files, &mut errors);
    let expanded = expand::expand(&tokens, &mut errors);
    let tokens = expand::semicolons(&expanded.tokens, parse::is_word);
    let (model, _) = parse::model(&tokens, &mut errors);
    let inside = |errors: Errors, source: &Source| -> Vec<Diagnostic> {
        errors.sorted().into_iter().map(|error| error.inside(source)).collect()
    };
    // After an error that may have swallowed declarations, every use of what they
    // declare would look like another one.
    if !errors.is_empty() {
        return Err(inside(errors, &source));
    }
    let plain = source.clone();
    let asks_labels = lexed.questions.iter().any(|q| notices_gaps(&text[q.range()]));
    let made = lower::model(&stem, &model, settings, source, asks_labels, errors);
    let (program, source, observed) = made.map_err(|errors| inside(errors, &plain))?;
    // What is asked, at the place where it stands.
    let mut asked = vec![b' '; text.len()];
    for question in &lexed.questions {
        asked[question.range()].copy_from_slice(&text.as_bytes()[question.range()]);
    }
    let asked = String::from_utf8(asked).unwrap_or_default();
    let made = weir::ask(&asked, &expanded.constants, program, source);
    let (mut program, source) = made.map_err(Errors::sorted)?;
    observed.apply(&mut program);
    // Who asks for deadlocks need not be asked by us.
    let properties = &mut program.properties;
    let is_deadlock = |p: &Property| matches!(p.kind, PropertyKind::NoDeadlock(_));
    if properties.iter().filter(|p| is_deadlock(p)).count() > 1
        && let Some(ours) = properties.iter().position(is_deadlock)
    {
        properties.remove(ours);
    }
    Ok((program, source))
}

/// Whether a question can observe that a process is at no label. One that labels can only make
/// false, such as `never P@cs and Q@cs`, cannot.
fn notices_gaps(question: &str) -> bool {
    let only_falsifies = question.contains("never")
        && !["not", "!", "=", "<", "implies", "->"].iter().any(|word| question.contains(word));
    question.contains('@') && !only_falsifies
}

/// Promela, the language of Spin.
pub static LANGUAGE: Language = Language {
    name: "promela",
    endings: &["pml", "prom", "promela"],
    looks_like,
    read: read_with,
    declare: None,
    gaps,
    orders: |_| Vec::new(),
    fence: |kind| Some(kind.name()),
};

/// Where fences can be inserted: before statements that are no guards, and at the end of
/// sequences, outside `atomic` and macros.
fn gaps(text: &str) -> Vec<Gap> {
    let mut errors = Errors::default();
    let lexed = lexer::tokens(text, &mut errors);
    let expanded = expand::expand(&lexed.tokens, &mut errors);
    let tokens = expand::semicolons(&expanded.tokens, parse::is_word);
    let (_, mut gaps) = parse::model(&tokens, &mut errors);
    // The body of an `inline` is parsed at each of its calls.
    gaps.sort_unstable();
    gaps.dedup();
    // What stands between the brackets of a macro stays as it is.
    gaps.retain(|&(at, _, is_end)| {
        let next = lexed.tokens.partition_point(|token| token.span.range().start < at);
        let is = |number: usize, all: &[&str]| {
            let token = lexed.tokens.get(number);
            token.is_some_and(|token| all.iter().any(|text| token.is(text)))
        };
        let is_called = is_end && is(next, &["("]);
        !is_called && !is(next.wrapping_sub(1), &["(", ","]) && !is(next, &[")", ","])
    });
    let gap = |(at, like, is_end)| match is_end {
        true => Gap::behind(text, at, like),
        false => Gap::before(text, at, like, ";"),
    };
    gaps.into_iter().map(gap).collect()
}

/// Whether a text looks like Promela rather than like one of the other languages.
pub fn looks_like(text: &str) -> bool {
    let mut errors = Errors::default();
    let head = text.char_indices().nth(1 << 16).map_or(text, |(cut, _)| &text[..cut]);
    let lexed = lexer::tokens(head, &mut errors);
    let tokens = &lexed.tokens;
    tokens.iter().zip(&tokens[1..]).any(|(a, b)| {
        (a.is("proctype") || a.is("mtype") || a.is("inline")) && b.kind == lexer::Kind::Name
            || a.is("init") && b.is("{")
            || a.is("mtype") && (b.is("=") || b.is("{"))
    })
}
