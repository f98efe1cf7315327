//! From text to tokens.
//!
//! Comments may stand anywhere and may nest, so they are painted over with
//! blanks first ([`without_comments`]): every later step sees a text in which
//! each character still has its place. Tokens are then cut from the `{` of the
//! initial section on; what comes before it is read line by line in `frame`.

use std::ops::Range;

use super::errors::Errors;
use crate::Diagnostic;

/// The text with comments, and the strings before the initial section, painted
/// over with blanks. Places in it are places in `text`.
///
/// # Errors
/// If a comment is not closed.
pub(super) fn without_comments(text: &str) -> Result<String, Diagnostic> {
    paint(text, false)
}

/// The same up to the initial section only: what follows may have other comments. A comment
/// that is not closed stays.
pub(super) fn without_comments_before(text: &str) -> String {
    paint(text, true).unwrap_or_else(|_| text.to_owned())
}

fn paint(text: &str, is_preamble_only: bool) -> Result<String, Diagnostic> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut blank = |range: Range<usize>| {
        out[range].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    };
    let mut in_preamble = true;
    let mut at = 0;
    if text.starts_with('\u{feff}') {
        blank(0..3);
        at = 3;
    }
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'(' if bytes.get(at + 1) == Some(&b'*') => {
                at = comment_end(bytes, at).ok_or_else(|| {
                    Diagnostic::new("this comment is not closed", start..start + 2)
                        .help("close it with `*)`; comments nest, so each `(*` needs its own")
                })?;
                blank(start..at);
            }
            b'"' if in_preamble => {
                let close = bytes[at + 1..].iter().position(|&b| b == b'"');
                at = close.map_or(at + 1, |length| at + 1 + length + 1);
                blank(start..at);
            }
            b'{' if is_preamble_only => break,
            byte => {
                in_preamble &= byte != b'{';
                at += 1;
            }
        }
    }
    Ok(String::from_utf8(out).expect("whole characters are replaced by ASCII"))
}

/// Where the comment that opens at `at` ends.
fn comment_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0;
    loop {
        match bytes.get(at..at + 2)? {
            b"(*" => (depth, at) = (depth + 1, at + 2),
            b"*)" if depth == 1 => return Some(at + 2),
            b"*)" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub kind: Kind<'t>,
    pub range: Range<usize>,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    /// A name of anything: variable, register, instruction, keyword.
    Word(&'t str),
    /// A number without its sign.
    Number(i128),
    /// A sign, from [`SIGNS`].
    Sign(&'static str),
}

/// All signs, longer ones before their beginnings.
const SIGNS: [&str; 23] = [
    "/\\", "\\/", "=>", "==", "!=", "<>", "{", "}", "[", "]", "(", ")", ";", "|", ",", ":", "=",
    "~", "$", "%", "-", "*", "&",
];

/// The signs of C.
pub(super) const C_SIGNS: [&str; 44] = [
    "<<=", ">>=", "<<", ">>", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "&&", "||", "==", "!=", "<=", ">=", "{", "}", "[", "]", "(", ")", ";", ",", ":", "?", "=", "~",
    "%", "-", "+", "*", "/", "&", "|", "^", "!", "<", ">",
];

/// The tokens of `text` (comments painted over) from byte `start` on. Ends
/// before `<<`: what follows are settings of other tools.
///
/// Whatever is no token goes to `errors` and is left out.
pub(super) fn tokens<'t>(text: &'t str, start: usize, errors: &mut Errors) -> Vec<Token<'t>> {
    tokens_of(text, start, &SIGNS, errors)
}

/// The same with other signs. Where `<<` is a sign it ends nothing.
pub(super) fn tokens_of<'t>(
    text: &'t str,
    start: usize,
    signs: &[&'static str],
    errors: &mut Errors,
) -> Vec<Token<'t>> {
    let mut tokens = vec![];
    let mut at = start;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("<<") && !signs.contains(&"<<") {
            break;
        }
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first.is_ascii_digit() {
            let length = length_while(rest, |c| c.is_ascii_alphanumeric());
            match number(&rest[..length]) {
                Ok(value) => {
                    tokens.push(Token { kind: Kind::Number(value), range: at..at + length })
                }
                Err(message) => errors.push(Diagnostic::new(message, at..at + length)),
            }
            length
        } else if first.is_ascii_alphabetic() || first == '_' || first == '.' {
            let length =
                length_while(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
            tokens.push(Token { kind: Kind::Word(&rest[..length]), range: at..at + length });
            length
        } else if let Some(sign) = signs.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token { kind: Kind::Sign(sign), range: at..at + sign.len() });
            sign.len()
        } else {
            let line_comment = first == '#' || rest.starts_with("//");
            let length = if line_comment {
                length_while(rest, |c| c != '\n')
            } else {
                length_while(rest, is_stray).max(first.len_utf8())
            };
            let shown: String = rest[..length].chars().take(20).collect();
            let message = format!("`{}` has no meaning here", shown.trim_end().escape_debug());
            let error = Diagnostic::new(message, at..at + length);
            errors.push(if line_comment {
                error.help("comments are written `(* … *)`")
            } else {
                error
            });
            length
        };
        at += length;
    }
    tokens
}

/// Characters that begin no token.
fn is_stray(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_ascii_alphanumeric()
        && !matches!(c, '_' | '.' | '<' | '!' | '/' | '\\')
        && !SIGNS.iter().any(|sign| sign.starts_with(c))
}

fn length_while(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// The value of a decimal or hexadecimal number.
fn number(digits: &str) -> Result<i128, String> {
    let (radix, rest) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(rest) => (16, rest),
        None => (10, digits),
    };
    if rest.is_empty() || !rest.chars().all(|c| c.is_digit(radix)) {
        return Err(format!("`{digits:.40}` is not a number"));
    }
    let value = i64::from_str_radix(rest, radix).map(i128::from);
    value.map_err(|_| format!("`{digits:.40}` does not fit 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> (Vec<Kind<'_>>, Vec<String>) {
        let mut errors = Errors::default();
        let kinds = tokens(text, 0, &mut errors).into_iter().map(|t| t.kind).collect();
        (kinds, errors.finish().into_iter().map(|e| e.message).collect())
    }

    #[test]
    fn comments_nest_and_keep_places() {
        let text = "a (* é (* b *) *)\n\"(*\" {\"(* c *)";
        assert_eq!(without_comments(text).unwrap(), "a                 \n     {\"       ");
        assert_eq!(without_comments("(* (* *)").unwrap_err().range, 0..2);
    }

    #[test]
    fn cuts_words_numbers_and_signs() {
        use Kind::{Number, Sign, Word};
        let (found, errors) = kinds("0x1F:EAX =x.y$1 /\\ $-1 << é");
        let want = [Number(31), Sign(":"), Word("EAX"), Sign("="), Word("x.y$1"), Sign("/\\")];
        assert_eq!(found[..6], want);
        assert_eq!(found[6..], [Sign("$"), Sign("-"), Number(1)]);
        assert!(errors.is_empty());
    }

    #[test]
    fn names_what_is_no_token() {
        let (found, errors) = kinds("x ?? 1x 99999999999999999999 // a b");
        assert_eq!(found, [Kind::Word("x")]);
        assert_eq!(
            errors,
            [
                "`??` has no meaning here",
                "`1x` is not a number",
                "`99999999999999999999` does not fit 64 bits",
                "`// a b` has no meaning here"
            ]
        );
    }
}
