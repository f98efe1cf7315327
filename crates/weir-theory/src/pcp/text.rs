//! Reads instances: a pair of words on each line.

use std::ops::Range;

use weir_front::errors::{Errors, quote};
use weir_front::{Diagnostic, MAX_TEXT};

use super::Instance;

/// The most pairs of an instance.
pub const MAX_PAIRS: usize = 100;

/// The most letters of a word.
pub const MAX_LETTERS: usize = 100;

/// How people write the empty word.
const EMPTY: [&str; 5] = ["-", "\"\"", "''", "ε", "_"];

/// Reads an instance. Each line has a pair of words, with space between them; what
/// follows `#` is a comment. Letters are `a` to `z`, `A` to `Z` and `0` to `9`.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
///
/// ```
/// use weir_theory::pcp::read;
///
/// let instance = read("# two pairs\na   aa\naab b").unwrap();
/// assert_eq!(instance.pairs().collect::<Vec<_>>(), [("a", "aa"), ("aab", "b")]);
/// let errors = read("a aa\nab").unwrap_err();
/// assert_eq!(errors[0].message, "there is only one word here, and no word may be empty");
/// ```
pub fn read(text: &str) -> Result<Instance, Vec<Diagnostic>> {
    if text.len() > MAX_TEXT {
        let size = format!("the file has {} bytes; at most {MAX_TEXT} are read", text.len());
        return Err(vec![Diagnostic::new(size, 0..0)]);
    }
    let mut errors = Errors::default();
    let mut pairs = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = words(line, start);
        start += line.len();
        let wrong = words.iter().filter_map(|(w, at)| Some(Diagnostic::new(fault(w)?, at.clone())));
        let wrong: Vec<Diagnostic> = wrong.collect();
        match &words[..] {
            [] => {}
            _ if !wrong.is_empty() => wrong.into_iter().for_each(|e| errors.push(e)),
            [(_, at)] => errors.push(
                Diagnostic::new(
                    "there is only one word here, and no word may be empty",
                    at.clone(),
                )
                .help("a line has two words, with space between them"),
            ),
            [(u, _), (v, _)] if pairs.len() < MAX_PAIRS => {
                pairs.push([(*u).to_owned(), (*v).to_owned()]);
            }
            [(_, at), _] => {
                let many = format!("there are more than {MAX_PAIRS} pairs");
                errors.push(Diagnostic::new(many, at.clone()));
                break;
            }
            [_, _, (_, at), ..] => errors.push(
                Diagnostic::new("a pair has two words, and this is a third one", at.clone())
                    .help("write each pair on a separate line"),
            ),
        }
        if errors.is_full() {
            break;
        }
    }
    if errors.is_empty() && pairs.is_empty() {
        errors.push(Diagnostic::new("there are no pairs here", 0..0));
    }
    if errors.is_empty() { Ok(Instance { pairs }) } else { Err(errors.sorted()) }
}

/// The words of a line that begins at `start`, each with its place.
fn words(line: &str, start: usize) -> Vec<(&str, Range<usize>)> {
    let line = line.split('#').next().unwrap_or_default();
    let mut at = start;
    let mut found = Vec::new();
    for part in line.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if !word.is_empty() {
            found.push((word, at..at + word.len()));
        }
        at += part.len();
    }
    found
}

/// What is wrong with a word.
fn fault(word: &str) -> Option<String> {
    if EMPTY.contains(&word) {
        return Some("no word may be empty".to_owned());
    }
    if let Some(letter) = word.chars().find(|c| !c.is_ascii_alphanumeric()) {
        return Some(format!(
            "{letter:?} in {} is not a letter; letters are a to z, A to Z and 0 to 9",
            quote(word)
        ));
    }
    (word.len() > MAX_LETTERS).then(|| format!("a word has more than {MAX_LETTERS} letters"))
}
