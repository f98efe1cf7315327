//! Unified diffs of texts into which something was inserted.

use std::fmt::Write as _;

/// So many lines around a change are shown.
const CONTEXT: usize = 3;

/// A line of both texts, of the old one, or of the new one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Both(&'t str),
    Old(&'t str),
    New(&'t str),
}

/// What `patch -p0` needs to turn the text of a file into another one; empty if they are the
/// same. Lines that differ are put against each other in their order, which is right where lines
/// were inserted or changed one by one.
pub fn unified(name: &str, old: &str, new: &str) -> String {
    let lines = compare(&split(old), &split(new));
    let is_changed = |line: &Line<'_>| !matches!(line, Line::Both(_));
    let changed: Vec<usize> = (0..lines.len()).filter(|&i| is_changed(&lines[i])).collect();
    let mut out = String::new();
    let mut done = 0;
    while let Some(&first) = changed.get(done) {
        // A hunk goes on as long as its changes are close to each other.
        let mut last = first;
        while let Some(&next) = changed.get(done).filter(|&&n| n <= last + 2 * CONTEXT) {
            last = next;
            done += 1;
        }
        let range = first.saturating_sub(CONTEXT)..(last + CONTEXT + 1).min(lines.len());
        if out.is_empty() {
            let _ = writeln!(out, "--- {name}\n+++ {name}");
        }
        out += &hunk(&lines, range);
    }
    out
}

/// The lines of a text with their ends.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Puts the lines of two texts against each other: the longest common beginning, then the lines up
/// to the nearest pair that is the same again.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let mut lines = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Both(old[i]));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // The nearest pair, with as few lines as possible before it.
        let rest = (old.len() - i) + (new.len() - j);
        let pair = (1..=rest).find_map(|far| {
            (0..=far).find_map(|skipped| {
                let (a, b) = (i + skipped, j + far - skipped);
                (a < old.len() && b < new.len() && old[a] == new[b]).then_some((a, b))
            })
        });
        let (a, b) = pair.unwrap_or((old.len(), new.len()));
        lines.extend(old[i..a].iter().map(|line| Line::Old(line)));
        lines.extend(new[j..b].iter().map(|line| Line::New(line)));
        (i, j) = (a, b);
    }
    lines
}

fn hunk(lines: &[Line<'_>], range: std::ops::Range<usize>) -> String {
    let count = |lines: &[Line<'_>], is_old: bool| {
        let other = |line: &&Line<'_>| match line {
            Line::Both(_) => true,
            Line::Old(_) => is_old,
            Line::New(_) => !is_old,
        };
        lines.iter().filter(other).count()
    };
    let [before, here] = [&lines[..range.start], &lines[range]];
    let place = |is_old| {
        let (skipped, len) = (count(before, is_old), count(here, is_old));
        // Nothing stands after the line before.
        format!("{},{len}", if len == 0 { skipped } else { skipped + 1 })
    };
    let mut out = format!("@@ -{} +{} @@\n", place(true), place(false));
    for line in here {
        let (sign, text) = match line {
            Line::Both(text) => (' ', text),
            Line::Old(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        let _ = write!(out, "{sign}{text}");
        if !text.ends_with('\n') {
            out += "\n\\ No newline at end of file\n";
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_and_changed_lines_are_shown_with_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let new = "a\nb\nc\nd\nfence\ne\nf\ng\nh\ni\nj\nk2\nl\n";
        let expected = "--- x\n+++ x\n@@ -2,6 +2,7 @@\n b\n c\n d\n+fence\n e\n f\n g\n\
                        @@ -8,5 +9,5 @@\n h\n i\n j\n-k\n+k2\n l\n";
        assert_eq!(unified("x", old, new), expected);
        assert_eq!(unified("x", old, old), "");
    }

    #[test]
    fn a_missing_newline_at_the_end_is_told() {
        let expected = "--- x\n+++ x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a; fence\n\
                        \\ No newline at end of file\n";
        assert_eq!(unified("x", "a", "a; fence"), expected);
    }
}
