//! Escapes characters that a terminal interprets.
//!
//! Names of files, threads and tests come from the input. They may contain escape
//! sequences that recolor, erase or retitle a terminal, or Unicode controls that change
//! the order of text. All printed text goes through [`escape`] or [`escape_line`].

use std::borrow::Cow;

/// The byte order mark, which some editors put before a text.
pub const MARK: char = '\u{feff}';

/// Whether a terminal obeys a character: the control characters, the marks, embeddings,
/// overrides and isolates of bidirectional text, line and paragraph separators, and the
/// byte order mark, which cannot be seen.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}' | MARK)
}

/// A text with every control character but line feeds and tabs spelled out: `\u{1b}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    spell(text, |c| is_control(c) && c != '\n' && c != '\t')
}

/// A text with every control character spelled out, so that it stays on its line.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    spell(text, is_control)
}

fn spell(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_spelled(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text as it stands in XML and HTML, also in an attribute: no character of it means anything there,
/// and none is left that XML does not allow.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_line(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A text as a cell of CSV, in quotes where it needs them.
pub fn csv(cell: &str) -> Cow<'_, str> {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")).into(),
        false => cell.into(),
    }
}

/// A text without the byte order mark that it may begin with.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_spelled_out() {
        for (text, whole, line) in [
            ("plain é €", "plain é €", "plain é €"),
            ("\x1b[31mred", "\\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\nb\tc\rd", "a\nb\tc\\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c", "a\\u{202e}b\\u{2066}c"),
        ] {
            assert_eq!(escape(text), whole);
            assert_eq!(escape_line(text), line);
        }
    }

    #[test]
    fn markup_and_cells_mean_nothing() {
        let text = "a<b & \"c\"\u{1b}\u{ffff}'";
        assert_eq!(markup(text), "a&lt;b &amp; &quot;c&quot;\\u{1b}\u{fffd}&#39;");
        assert_eq!(csv("a b"), "a b");
        assert_eq!(csv("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
    }

    #[test]
    fn only_the_first_mark_goes() {
        assert_eq!(without_mark("\u{feff}\u{feff}a"), "\u{feff}a");
        assert_eq!(without_mark("a"), "a");
    }
}
