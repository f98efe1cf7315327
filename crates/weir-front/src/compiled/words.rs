//! Where what begins at a place of a text ends: compilers say only where it begins.

use std::ops::Range;

/// The most bytes of what is quoted.
const MAX_LENGTH: usize = 400;

/// The end of the expression or statement that begins at the start of a range: before a semicolon, a comma, a block or a bracket
/// that was opened before. If none is near, the end of the range.
pub fn end(text: &str, range: Range<usize>) -> usize {
    let mut depth = 0_usize;
    let mut quoted = None;
    let mut escaped = false;
    for (at, c) in text[range.start..].char_indices().take_while(|(at, _)| *at < MAX_LENGTH) {
        if let Some(quote) = quoted {
            if c == quote && !escaped {
                quoted = None;
            }
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => quoted = Some(c),
            '{' if depth == 0 => return trimmed(text, range.start, at),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' | ';' | ',' if depth == 0 => return trimmed(text, range.start, at),
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    range.end
}

fn trimmed(text: &str, start: usize, length: usize) -> usize {
    match text[start..start + length].trim_end().len() {
        0 => start + text[start..].chars().next().map_or(0, char::len_utf8),
        length => start + length,
    }
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn ends_of_expressions_and_statements() {
        for (text, found) in [
            ("assert(a == 1 || b == 1);\n", "assert(a == 1 || b == 1)"),
            ("assert(a == 1 ||\n  f(b)); c", "assert(a == 1 ||\n  f(b))"),
            ("X.load(Relaxed), 2);", "X.load(Relaxed)"),
            ("assert_eq!(X.load(Relaxed), 2); }", "assert_eq!(X.load(Relaxed), 2)"),
            ("while !FULL.load(Relaxed) {\n", "while !FULL.load(Relaxed)"),
            ("f(\"a;b\\\")\", x);", "f(\"a;b\\\")\", x)"),
            ("}\nnext", "}"),
            ("", ""),
        ] {
            let line = text.find('\n').unwrap_or(text.len());
            assert_eq!(&text[..end(text, 0..line)], found);
        }
    }
}
