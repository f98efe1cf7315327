//! Random changes to texts, and a shrinker for them: for tests of parsers.
//!
//! Most of a changed text stays valid, so that a parser gets past its first lines.
//! Changes use pieces of the text itself and of others of its kind, and inputs that
//! parsers often get wrong: numbers at the ends of ranges, unclosed brackets, characters
//! of several bytes, control characters.

use crate::Rng;

/// Numbers at the ends of ranges.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "63",
    "64",
    "255",
    "256",
    "65535",
    "65536",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
];

/// Characters and words that readers often get wrong.
const PIECES: [&str; 32] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ";",
    ",",
    ":",
    "=",
    "-",
    "/",
    "*",
    "\"",
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{feff}",
    "\u{202e}",
    "é",
    "𝕏",
    "\u{301}",
];

/// The longest text that is made.
const LONGEST: usize = 20_000;

/// A text with one or a few random changes; pieces of `others` may be in it.
pub fn mutate(rng: &mut Rng, text: &str, others: &[String]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let changes = if rng.once_in(3) { 1 + rng.below(6) } else { 1 };
    for _ in 0..changes {
        change(rng, &mut chars, others);
        chars.truncate(LONGEST);
    }
    chars.into_iter().collect()
}

fn change(rng: &mut Rng, chars: &mut Vec<char>, others: &[String]) {
    let at = rng.below(chars.len() + 1);
    match rng.below(12) {
        // Take out a few characters, a word, a line.
        0 => drop(chars.drain(few(rng, chars, at))),
        1 => drop(chars.drain(word(chars, at))),
        2 => drop(chars.drain(line(chars, at))),
        // The end is missing.
        3 if rng.once_in(4) => chars.truncate(at),
        // A word or a line of the text somewhere else, or in the place of another.
        3 | 4 => {
            let from = rng.below(chars.len() + 1);
            let piece = chars[word(chars, from)].to_vec();
            let range = if rng.once_in(2) { at..at } else { word(chars, at) };
            drop(chars.splice(range, piece));
        }
        5 => {
            let from = rng.below(chars.len() + 1);
            let piece = chars[line(chars, from)].to_vec();
            let at = line(chars, at).start;
            drop(chars.splice(at..at, piece));
        }
        // The same piece again and again.
        6 => {
            let range = few(rng, chars, at);
            let times = if rng.once_in(20) { 200 } else { 3 };
            let piece = chars[range.clone()].repeat(1 + rng.below(times));
            drop(chars.splice(range, piece));
        }
        7 => {
            let piece = rng.pick(&PIECES).chars();
            let times = if rng.once_in(20) { 200 } else { 1 };
            let piece: Vec<char> = std::iter::repeat_n(piece, times).flatten().collect();
            drop(chars.splice(at..at, piece));
        }
        8 => drop(chars.splice(few(rng, chars, at), rng.pick(&PIECES).chars())),
        // Another number.
        9 => {
            if let Some(range) = number(chars, at) {
                drop(chars.splice(range, rng.pick(&NUMBERS).chars()));
            }
        }
        // A piece of another text.
        10 => {
            let Some(other) = others.get(rng.below(others.len().max(1))) else { return };
            let other: Vec<char> = other.chars().collect();
            let from = rng.below(other.len() + 1);
            let piece = match rng.below(3) {
                0 => word(&other, from),
                1 => line(&other, from),
                _ => from..other.len(),
            };
            drop(chars.splice(at..at, other[piece].to_vec()));
        }
        _ => {
            if let Some(c) = chars.get_mut(at) {
                let number = if rng.once_in(4) { rng.below(0x2_ffff) } else { rng.below(128) };
                *c = char::from_u32(number as u32).unwrap_or('\u{fffd}');
            }
        }
    }
}

/// Up to eight characters from a place on.
fn few(rng: &mut Rng, chars: &[char], at: usize) -> std::ops::Range<usize> {
    at..(at + 1 + rng.below(8)).min(chars.len()).max(at)
}

/// The word, the number or the single character at a place.
fn word(chars: &[char], at: usize) -> std::ops::Range<usize> {
    around(chars, at, |c| c.is_alphanumeric() || c == '_')
}

/// The line at a place, with its end.
fn line(chars: &[char], at: usize) -> std::ops::Range<usize> {
    let range = around(chars, at, |c| c != '\n');
    range.start..(range.end + 1).min(chars.len())
}

/// The next number from a place on.
fn number(chars: &[char], at: usize) -> Option<std::ops::Range<usize>> {
    let begin = at + chars.get(at..)?.iter().position(char::is_ascii_digit)?;
    Some(around(chars, begin, |c| c.is_ascii_digit()))
}

fn around(chars: &[char], at: usize, is_in: impl Fn(char) -> bool) -> std::ops::Range<usize> {
    let start = chars[..at].iter().rposition(|c| !is_in(*c)).map_or(0, |i| i + 1);
    let length = chars[at..].iter().position(|c| !is_in(*c)).unwrap_or(chars.len() - at);
    let end = at + length;
    if start == end { start..(end + 1).min(chars.len()) } else { start..end }
}

/// A smaller text that still fails: pieces are left out while it does.
pub fn shrink_text(text: &str, mut fails: impl FnMut(&str) -> bool) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let mut size = chars.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < chars.len() {
            let mut shorter = chars.clone();
            shorter.drain(at..(at + size).min(chars.len()));
            if fails(&shorter.iter().collect::<String>()) {
                chars = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_text() {
        let others = ["var y: 0..3\n".to_owned()];
        let text = "var x\nprocess p { x = 10 }\n";
        let made = |seed| mutate(&mut Rng::new(seed), text, &others);
        let all: std::collections::BTreeSet<String> = (0..500).map(made).collect();
        assert!(all.len() > 300, "{}", all.len());
        assert_eq!((0..500).map(made).collect::<std::collections::BTreeSet<String>>(), all);
        // An empty text can be changed too.
        for seed in 0..500 {
            mutate(&mut Rng::new(seed), "", &[]);
        }
    }

    #[test]
    fn what_fails_becomes_small() {
        let small = shrink_text(&"abc\n".repeat(100), |t| t.matches('b').count() >= 2);
        assert_eq!(small, "bb");
    }
}
