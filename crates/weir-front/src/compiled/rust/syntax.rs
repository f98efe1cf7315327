//! From text to a tree: checks how deep the text nests, and parses it.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;

use crate::{Diagnostic, MAX_NESTING};

/// How many tokens may follow each other without anything that separates. Trees nest no deeper.
const MAX_TOKENS: usize = 3000;

/// A text as a tree.
///
/// # Errors
/// The first error.
pub fn parse(text: &str) -> Result<syn::File, Diagnostic> {
    // A first line that names an interpreter is blank, so that offsets stay.
    let blank = match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            let line = text.find('\n').unwrap_or(text.len());
            let spaces: String = text[..line].bytes().map(|_| ' ').collect();
            Some(spaces + &text[line..])
        }
        _ => None,
    };
    let tokens: TokenStream =
        blank.as_deref().unwrap_or(text).parse().map_err(|error: proc_macro2::LexError| {
            Diagnostic::new("this is not a token of Rust", error.span().byte_range())
        })?;
    check(&tokens)?;
    syn::parse2(tokens).map_err(|error| {
        let range = error.span().byte_range();
        // The error is at the end of the text.
        let range = if range == (0..0) { text.len()..text.len() } else { range };
        Diagnostic::new(format!("this is not Rust: {error}"), range)
    })
}

/// Whether a text nests too deep.
fn check(tokens: &TokenStream) -> Result<(), Diagnostic> {
    // Tokens that are left, and how deep the tree may be before them.
    let mut open = vec![(tokens.clone().into_iter().peekable(), 0usize, 0usize)];
    while let Some((rest, start, depth)) = open.last_mut() {
        let Some(token) = rest.next() else {
            open.pop();
            continue;
        };
        *depth += 1;
        let span = token.span();
        match token {
            TokenTree::Punct(p) if matches!(p.as_char(), ';' | ',') => *depth = *start,
            TokenTree::Group(group) => {
                let before = *depth;
                // A block ends a statement unless something goes on behind it.
                let is_end = match rest.peek() {
                    Some(TokenTree::Ident(word)) => *word != "else" && *word != "as",
                    Some(TokenTree::Punct(p)) => matches!(p.as_char(), '#' | '\''),
                    Some(_) => true,
                    None => false,
                };
                if group.delimiter() == Delimiter::Brace && is_end {
                    *depth = *start;
                }
                open.push((group.stream().into_iter().peekable(), before, before));
            }
            _ => {}
        }
        let too_deep = open.len() > MAX_NESTING + 1;
        if too_deep || open.last().is_some_and(|(_, _, depth)| *depth > MAX_TOKENS) {
            let message = if too_deep {
                format!("this nests more than {MAX_NESTING} deep")
            } else {
                format!("this expression has more than {MAX_TOKENS} tokens")
            };
            let range = span.byte_range();
            return Err(Diagnostic::new(message, range.start..range.start + 1));
        }
    }
    Ok(())
}

/// Where something is in its text.
pub fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

/// All tokens of something, also those inside of macros.
pub fn tokens(node: &impl quote::ToTokens, visit: &mut dyn FnMut(&TokenTree)) {
    let mut open = vec![node.to_token_stream().into_iter()];
    while let Some(rest) = open.last_mut() {
        match rest.next() {
            None => {
                open.pop();
            }
            Some(token) => {
                visit(&token);
                if let TokenTree::Group(group) = token {
                    open.push(group.stream().into_iter());
                }
            }
        }
    }
}
