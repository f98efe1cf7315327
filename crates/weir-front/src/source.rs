//! Source texts and the places in them.

use std::ops::Range;

use weir_model::ids::SpanId;

/// A source text and the places in it that a program refers to.
#[derive(Clone, Debug)]
pub struct Source {
    /// What reports call the file.
    pub name: String,
    /// All of its text.
    pub text: String,
    spans: Vec<Range<usize>>,
    line_starts: Vec<usize>,
}

impl Source {
    /// A text with no places yet.
    pub fn new(name: &str, text: &str) -> Self {
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { name: name.to_owned(), text: text.to_owned(), spans: Vec::new(), line_starts }
    }

    /// The id of a place, given as a range of bytes.
    pub fn span(&mut self, range: Range<usize>) -> SpanId {
        self.spans.push(range);
        SpanId::new(self.spans.len() - 1)
    }

    /// The range of bytes of a place; empty for [`SpanId::NONE`].
    pub fn range(&self, span: SpanId) -> Range<usize> {
        self.spans.get(span.index()).cloned().unwrap_or(0..0)
    }

    /// The line, counted from 1, on which a place begins.
    pub fn line(&self, span: SpanId) -> usize {
        let start = self.range(span).start;
        self.line_starts.partition_point(|&l| l <= start)
    }

    /// Where a place begins and ends: line and column of its first character, and of the one
    /// after its last, counted from 1 in lines and characters.
    pub fn corners(&self, span: SpanId) -> [usize; 4] {
        let Range { start, end } = self.range(span);
        let corner = |at: usize| {
            let line = self.line_starts.partition_point(|&l| l <= at);
            [line, self.text[self.line_starts[line - 1]..at].chars().count() + 1]
        };
        let ([line, column], [end_line, end_column]) = (corner(start), corner(end));
        [line, column, end_line, end_column]
    }

    /// The text of a place.
    pub fn text_of(&self, span: SpanId) -> &str {
        &self.text[self.range(span)]
    }
}
