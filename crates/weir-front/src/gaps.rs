//! Gaps of a text: the places between two statements at which a fence can be inserted.
//!
//! Each language finds its own gaps ([`Language::gaps`](crate::Language)) and says how its fences
//! are written. A block has a gap before each of its statements and one at its end. There is none
//! between a label and its statement: the label would then stand for the fence, and a property
//! that names the label would say less than before. A gap inside a family, or another part of a
//! text that stands for several processes, is one gap.

use std::ops::Range;

use weir_model::program::FenceKind;

/// A place at which a fence can be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What the fence stands before or behind, as an offset into the text.
    pub at: usize,
    /// Whether it stands behind that.
    pub is_behind: bool,
    /// The changes that insert it.
    pub edits: Vec<Edit>,
}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty if something is only inserted.
    pub range: Range<usize>,
    /// What comes in its place, up to the fence.
    pub before: String,
    /// Whether the fence follows here. It does in one edit of each gap.
    pub has_fence: bool,
    /// The rest.
    pub after: String,
}

impl Gap {
    /// The gap before what stands at an offset: on a line of its own if that begins a line, with
    /// the indentation of what is `like` it, and otherwise on the same line. `separator` stands
    /// between two statements.
    pub(crate) fn before(text: &str, at: usize, like: usize, separator: &str) -> Self {
        let edit = match (line_begun_by(text, at), line_begun_by(text, like)) {
            (Some(line), like) => {
                let like = like.unwrap_or(line.clone());
                let range = line.start..line.start;
                let (before, after) = (text[like].to_owned(), format!("{separator}\n"));
                Edit { range, before, has_fence: true, after }
            }
            (None, _) => {
                let separator = if separator.is_empty() { ";" } else { separator };
                let after = format!("{separator} ");
                Edit { range: at..at, before: String::new(), has_fence: true, after }
            }
        };
        Self { at, is_behind: false, edits: vec![edit] }
    }

    /// The gap before what stands at an offset, on the same line.
    pub(crate) fn inline(at: usize) -> Self {
        let edit =
            Edit { range: at..at, before: String::new(), has_fence: true, after: "; ".to_owned() };
        Self { at, is_behind: false, edits: vec![edit] }
    }

    /// The gap before a statement that is a body without braces: it gets some.
    pub(crate) fn braced(at: usize, end: usize) -> Self {
        let begin = Edit {
            range: at..at,
            before: "{ ".to_owned(),
            has_fence: true,
            after: "; ".to_owned(),
        };
        let close = Edit {
            range: end..end,
            before: " }".to_owned(),
            has_fence: false,
            after: String::new(),
        };
        Self { at, is_behind: false, edits: vec![begin, close] }
    }

    /// The gap at the end of a list whose last statement ends at an offset and has no separator
    /// behind it: on a line of its own if what is `like` it begins a line.
    pub(crate) fn behind(text: &str, end: usize, like: usize) -> Self {
        let before = match line_begun_by(text, like) {
            Some(line) => format!(";\n{}", &text[line]),
            None => "; ".to_owned(),
        };
        let edit = Edit { range: end..end, before, has_fence: true, after: String::new() };
        Self { at: end, is_behind: false, edits: vec![edit] }
    }
}

/// From the beginning of a line to an offset, if there is nothing but blanks.
fn line_begun_by(text: &str, at: usize) -> Option<Range<usize>> {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    text[start..at].chars().all(|c| c == ' ' || c == '\t').then_some(start..at)
}

/// A text with fences in some of its gaps.
#[derive(Clone, Debug)]
pub struct Inserted {
    /// The text.
    pub text: String,
    /// Where each fence stands in it, in the order in which they were given.
    pub fences: Vec<Range<usize>>,
    /// Where parts of the text before begin, in this text and in that one.
    parts: Vec<(usize, usize)>,
}

impl Inserted {
    /// The place in the text before that an offset stands for.
    pub fn before(&self, at: usize) -> usize {
        let number = self.parts.partition_point(|(start, _)| *start <= at);
        let Some((start, before)) = number.checked_sub(1).map(|n| self.parts[n]) else { return 0 };
        let end = self.parts.get(number).map_or(usize::MAX, |(_, before)| *before);
        (before + (at - start)).min(end)
    }
}

/// Inserts fences, each given by the number of its gap and its kind. `word` says how a fence is
/// written.
pub fn insert(
    text: &str,
    gaps: &[Gap],
    fences: &[(usize, FenceKind)],
    word: impl Fn(FenceKind) -> &'static str,
) -> Inserted {
    let mut edits: Vec<(&Edit, usize)> = Vec::new();
    for (number, (gap, _)) in fences.iter().enumerate() {
        edits.extend(gaps[*gap].edits.iter().map(|edit| (edit, number)));
    }
    edits.sort_by_key(|(edit, _)| (edit.range.start, edit.range.end));
    let mut inserted =
        Inserted { text: String::new(), fences: vec![0..0; fences.len()], parts: vec![(0, 0)] };
    let mut done = 0;
    for (edit, number) in edits {
        inserted.text += &text[done..edit.range.start.max(done)];
        inserted.text += &edit.before;
        if edit.has_fence {
            let start = inserted.text.len();
            inserted.text += word(fences[number].1);
            inserted.fences[number] = start..inserted.text.len();
        }
        inserted.text += &edit.after;
        done = done.max(edit.range.end);
        inserted.parts.push((inserted.text.len(), done));
    }
    inserted.text += &text[done..];
    inserted
}

/// A text in which ranges are replaced, none of which overlap. Of several that are inserted at one place, the
/// first of the list comes first.
pub fn replaced(text: &str, edits: &[(Range<usize>, String)]) -> Inserted {
    let mut edits: Vec<&(Range<usize>, String)> = edits.iter().collect();
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut new = Inserted { text: String::new(), fences: vec![], parts: vec![(0, 0)] };
    let mut done = 0;
    for (range, by) in edits {
        new.text += &text[done..range.start.max(done)];
        new.text += by;
        done = done.max(range.end);
        new.parts.push((new.text.len(), done));
    }
    new.text += &text[done..];
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_stand_on_lines_of_their_own_where_statements_do() {
        let text = "p {\n    x = 1\n    y = 1; z = 2\n}\n";
        let at = |word: &str| text.find(word).unwrap();
        let gaps = [
            Gap::before(text, at("y"), at("x"), ""),
            Gap::before(text, at("z"), at("x"), ""),
            Gap::before(text, at("}"), at("x"), ""),
        ];
        let all = [(0, FenceKind::Full), (1, FenceKind::Write), (2, FenceKind::Full)];
        let word = |kind| if kind == FenceKind::Full { "fence" } else { "wfence" };
        let Inserted { text, fences, .. } = insert(text, &gaps, &all, word);
        assert_eq!(text, "p {\n    x = 1\n    fence\n    y = 1; wfence; z = 2\n    fence\n}\n");
        let words: Vec<&str> = fences.into_iter().map(|range| &text[range]).collect();
        assert_eq!(words, ["fence", "wfence", "fence"]);
    }
}
