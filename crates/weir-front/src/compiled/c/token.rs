//! Tokens of C and C++.

use std::ops::Range;
use std::rc::Rc;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Name,
    /// A number, or what begins like one.
    Number,
    /// A string or a character, with its quotes.
    Text,
    /// Anything else.
    Sign,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub text: Rc<str>,
    /// Where it is in the text.
    pub range: Range<usize>,
    /// Whether it begins a line.
    pub is_first: bool,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        &*self.text == text && self.kind != Kind::Text
    }
}

const LONG_SIGNS: [&str; 23] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
];

/// The tokens of a text that begins at an offset of the source, or the place where one does not
/// end.
pub fn tokens(text: &str, offset: usize) -> Result<Vec<Token>, (Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let mut list = Vec::new();
    let (mut at, mut is_first) = (0, true);
    while at < bytes.len() {
        let rest = &text[at..];
        let start = at;
        match bytes[at] {
            b'\n' => {
                is_first = true;
                at += 1;
                continue;
            }
            b'\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                at += rest.find('\n').unwrap_or(0) + 1;
                continue;
            }
            c if c.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                // A line that ends with a backslash goes on.
                loop {
                    let line = text[at..].find('\n').map_or(bytes.len(), |i| at + i);
                    let goes_on = text[at..line].trim_end_matches('\r').ends_with('\\');
                    at = line;
                    if !goes_on || at >= bytes.len() {
                        break;
                    }
                    at += 1;
                }
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                let Some(end) = rest[2..].find("*/") else {
                    return Err((offset + start..offset + start + 2, "this comment does not end"));
                };
                at += end + 4;
                continue;
            }
            _ => {}
        }
        let c = bytes[at];
        let kind = if c.is_ascii_alphabetic() || c == b'_' || c == b'$' {
            while bytes
                .get(at)
                .is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_' || *c == b'$')
            {
                at += 1;
            }
            // `L"…"` and `u8"…"`
            if matches!(&text[start..at], "L" | "u" | "U" | "u8")
                && matches!(bytes.get(at), Some(b'"' | b'\''))
            {
                at = quoted(bytes, at).ok_or((offset + start..offset + at, "this does not end"))?;
                Kind::Text
            } else {
                Kind::Name
            }
        } else if c.is_ascii_digit()
            || c == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        {
            while let Some(&c) = bytes.get(at) {
                let is_sign = (c == b'+' || c == b'-')
                    && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P')
                    && at > start
                    && !text[start..].starts_with("0x");
                if !c.is_ascii_alphanumeric() && c != b'.' && c != b'_' && !is_sign {
                    break;
                }
                at += 1;
            }
            Kind::Number
        } else if c == b'"' || c == b'\'' {
            at = quoted(bytes, at)
                .ok_or((offset + start..offset + start + 1, "this does not end on its line"))?;
            Kind::Text
        } else {
            let long = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let len =
                long.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |s| s.len());
            at += len;
            Kind::Sign
        };
        let (text, range) = (Rc::from(&text[start..at]), offset + start..offset + at);
        list.push(Token { kind, text, range, is_first });
        is_first = false;
    }
    Ok(list)
}

/// The end of a string or character that begins here.
fn quoted(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            c if c == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}
