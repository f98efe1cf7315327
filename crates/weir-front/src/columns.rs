//! Texts in columns. The widths that `format!` takes end at 65,535, and names of programs may be
//! longer.

/// A text with spaces behind it, so that it is at least so many characters wide.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", spaces(width.saturating_sub(text.chars().count())))
}

/// A text with spaces before it, so that it is at least so many characters wide.
pub fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", spaces(width.saturating_sub(text.chars().count())))
}

/// So many spaces.
pub fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// A text of at most so many characters: of a longer one the beginning and the end.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let begin: String = text.chars().take(kept - kept / 2).collect();
    let end: String = text.chars().skip(count - kept / 2).collect();
    format!("{begin}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_will_do() {
        assert_eq!((pad("ä", 3), pad_left("ä", 3)), ("ä  ".to_owned(), "  ä".to_owned()));
        assert_eq!(pad("abc", 2), "abc");
        assert_eq!(pad("a", 70_000).len(), 70_000);
        assert_eq!(pad_left("a", 70_000).len(), 70_000);
        assert_eq!(shortened("abcdefg", 4), "ab…g");
        assert_eq!((shortened("abc", 3), shortened("abc", 1)), ("abc".to_owned(), "…".to_owned()));
        assert_eq!(shortened("abc", 0), "…");
    }
}
