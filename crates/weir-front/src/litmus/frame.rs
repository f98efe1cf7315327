//! What all litmus tests have around their code: the header, and where the
//! initial section, the code and the condition begin and end.

use std::ops::Range;
use std::path::Path;

use super::dialect::Dialect;
use super::lexer::{Kind, Token};
use crate::Diagnostic;
use crate::suggest::closest;

/// The architectures that the format knows.
const ARCHITECTURES: [&str; 22] = [
    "X86", "X86_64", "AArch64", "ARM", "PPC", "MIPS", "RISCV", "C", "CPP", "LISA", "Bell", "JAVA",
    "ASL", "BPF", "LK", "PPCGen", "GPU_PTX", "PTX", "Vulkan", "Sparc", "Alpha", "IA64",
];

/// The words that end the code.
const ENDS_OF_CODE: [&str; 8] =
    ["final", "forall", "exists", "cases", "observed", "Observed", "locations", "filter"];

/// The first line of a test.
#[derive(Debug)]
pub(super) struct Header {
    pub dialect: Dialect,
    pub name: String,
    /// Where the `{` of the initial section stands.
    pub body: usize,
}

/// Whether a text (comments painted over) begins like a litmus test.
pub(super) fn is_litmus(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let arch = words.next().is_some_and(|arch| ARCHITECTURES.contains(&arch));
    arch && words.next().is_some_and(|name| is_name(clip(name)))
}

/// Reads the header of a test (comments painted over); `file` is what the file
/// is called. Lines between the header and the initial section are metadata,
/// of which Weir needs none.
pub(super) fn header(text: &str, file: &str) -> Result<Header, Diagnostic> {
    let arch = word(text, 0);
    let dialect = match &text[arch.clone()] {
        "X86" => Dialect::X86,
        "X86_64" => Dialect::X86_64,
        "C" => Dialect::C,
        other => return Err(wrong_architecture(other, arch)),
    };
    let body = text[arch.end..].find('{').map(|at| arch.end + at);
    let name = word(&text[..body.unwrap_or(text.len())], arch.end);
    let name = name.start..name.start + clip(&text[name]).len();
    let clipped = &text[name.clone()];
    if !is_name(clipped) {
        let message = match clipped {
            "" => "the test has no name".to_owned(),
            _ => format!("`{clipped:.40}` is not a test's name"),
        };
        return Err(Diagnostic::new(message, name)
            .help("a name has letters, digits and `_ / . - + [ ]`; `--` stands for the file's"));
    }
    let Some(body) = body else {
        let missing = "there is no initial section `{ … }`";
        return Err(Diagnostic::new(missing, text.len()..text.len()));
    };
    let stem = || Path::new(file).file_stem().map_or(file.into(), |stem| stem.to_string_lossy());
    let name = if clipped == "--" { stem().into_owned() } else { clipped.to_owned() };
    Ok(Header { dialect, name, body })
}

fn wrong_architecture(arch: &str, range: Range<usize>) -> Diagnostic {
    if ARCHITECTURES.contains(&arch) {
        let message = format!("this is a test for {arch}; Weir reads X86, X86_64 and C");
        let help = "its memory models are SC, TSO (that of x86), PSO, and models between and beyond \
                    them that reorder reads and writes; it has none of ARM, POWER or RISC-V";
        return Diagnostic::new(message, range).help(help);
    }
    let message = format!("a litmus test begins with its architecture, not with `{arch:.40}`");
    let meant = closest(arch, ["X86", "X86_64", "C"]);
    Diagnostic::new(message, range).help(match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "the first line is `X86 NAME` or `X86_64 NAME`".to_owned(),
    })
}

/// The first word from `start` on.
fn word(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..];
    let begin = start + (rest.len() - rest.trim_start().len());
    let length = text[begin..].find(char::is_whitespace).unwrap_or(text.len() - begin);
    begin..begin + length
}

/// A name without what may follow it at once: a name for TeX, or `;`.
fn clip(word: &str) -> &str {
    word.split(['(', ';', '{']).next().unwrap_or("")
}

fn is_name(word: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "_/.-+[]".contains(c);
    !word.is_empty() && word.chars().all(belongs)
}

/// Where the sections are, as ranges of tokens.
#[derive(Debug, PartialEq)]
pub(super) struct Sections {
    /// What stands between the braces.
    pub init: Range<usize>,
    /// The table.
    pub code: Range<usize>,
    /// From the first word after the table on.
    pub condition: Range<usize>,
}

/// Finds the sections; the first token is the `{` of the initial section.
pub(super) fn sections(tokens: &[Token<'_>]) -> Result<Sections, Diagnostic> {
    let close = closing_brace(tokens).ok_or_else(|| {
        let open = tokens.first().map_or(0..0, |token| token.range.clone());
        Diagnostic::new("the initial section is not closed", open).help("close it with `}`")
    })?;
    let is = |at: usize, sign| tokens.get(at).is_some_and(|t| t.kind == Kind::Sign(sign));
    let code = close + 1 + usize::from(is(close + 1, ";"));
    let ends = |token: &Token<'_>| match token.kind {
        Kind::Word(word) => ENDS_OF_CODE.contains(&word),
        Kind::Sign(sign) => sign == "~",
        Kind::Number(_) => false,
    };
    let mut end = tokens[code..].iter().position(ends).map_or(tokens.len(), |length| code + length);
    // `not exists` is no condition, but it is no instruction either.
    if end > code && end < tokens.len() && tokens[end - 1].kind == Kind::Word("not") {
        end -= 1;
    }
    Ok(Sections { init: 1..close, code: code..end, condition: end..tokens.len() })
}

/// The token that closes the brace with which the tokens begin.
fn closing_brace(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Sign("{") => depth += 1,
            Kind::Sign("}") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
