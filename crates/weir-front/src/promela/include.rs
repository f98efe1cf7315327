//! Files that a model includes: `#include "other.pml"`.
//!
//! All files are read first. Then the tokens of each take the place of the line that includes it; what
//! stands between `#ifdef` and `#endif` and does not count is left out later, with its lines.

use std::path::{Path, PathBuf};

use super::lexer::{self, Kind, Token};
use crate::errors::Errors;
use crate::weir::tree::Span;
use crate::{MAX_TEXT, Settings, Source};

/// How deep files may include each other.
const MAX_INCLUDES: usize = 16;
/// How many files a model may include.
const MAX_FILES: usize = 200;
/// How many tokens all of them may have.
const MAX_TOKENS: usize = 400_000;

/// A file that is included: what it is called there, its text, and where that begins in the source.
pub struct File {
    written: String,
    text: String,
    start: usize,
}

/// Reads all files that a text includes, and those that they include.
pub fn files(name: &str, text: &str, settings: &Settings, source: &mut Source) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut open: Vec<(String, PathBuf)> = vec![(text.to_owned(), Path::new(name).to_owned())];
    let mut size = 0;
    while let Some((text, path)) = open.pop() {
        for written in text.lines().filter_map(included) {
            if files.len() >= MAX_FILES || files.iter().any(|file| file.written == written) {
                continue;
            }
            let next = path.parent().map(|folder| folder.join(written));
            let elsewhere = settings.search.iter().map(|folder| folder.join(written));
            let mut places = next.into_iter().chain(elsewhere);
            let found = places.find_map(|p| (settings.files)(&p).ok().map(|text| (text, p)));
            let Some((text, found)) = found else { continue };
            size += text.len();
            if size > MAX_TEXT {
                continue;
            }
            let text = crate::escape::without_mark(&text).to_owned();
            let start = source.include(&found.to_string_lossy(), &text);
            open.push((text.clone(), found));
            files.push(File { written: written.to_owned(), text, start });
        }
    }
    files
}

/// The file that a line includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let rest = rest.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(name, _)| name)
}

/// The tokens of a text, with those of definitions before it and of the files that it includes.
pub fn tokens<'t>(
    defines: &'t str,
    text: &[Token<'t>],
    files: &'t [File],
    errors: &mut Errors,
) -> Vec<Token<'t>> {
    let mut out = Vec::new();
    if !defines.is_empty() {
        let mut ignored = Errors::default();
        let made = lexer::tokens(defines, &mut ignored).tokens;
        let nowhere = |t: Token<'t>| Token { span: Span::new(0, 0), ..t };
        out.extend(made.into_iter().filter(|t| t.kind != Kind::End).map(nowhere));
    }
    splice(text, files, 0, &mut out, errors);
    out
}

fn splice<'t>(
    text: &[Token<'t>],
    files: &'t [File],
    depth: usize,
    out: &mut Vec<Token<'t>>,
    errors: &mut Errors,
) {
    let mut at = 0;
    while let Some(token) = text.get(at) {
        let line = &text[at..];
        let file = match line {
            [hash, word, name, ..]
                if hash.first && hash.is("#") && word.is("include") && name.kind == Kind::Text =>
            {
                let written = name.text.trim_matches('"');
                files.iter().find(|file| file.written == written)
            }
            _ => None,
        };
        match file {
            Some(file) if depth < MAX_INCLUDES && out.len() < MAX_TOKENS => {
                let mut found = Errors::default();
                let tokens = lexer::tokens(&file.text, &mut found).tokens;
                let moved = |span: Span| {
                    Span::new(span.range().start + file.start, span.range().end + file.start)
                };
                for error in found.sorted() {
                    errors.push(error.moved(file.start));
                }
                let tokens: Vec<Token<'t>> = tokens
                    .into_iter()
                    .filter(|t| t.kind != Kind::End)
                    .map(|t| Token { span: moved(t.span), ..t })
                    .collect();
                splice(&tokens, files, depth + 1, out, errors);
                at += 3;
            }
            _ => {
                out.push(*token);
                at += 1;
            }
        }
    }
}
