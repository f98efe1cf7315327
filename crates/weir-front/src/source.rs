//! Source texts and the places in them.

use std::collections::BTreeSet;
use std::ops::Range;

use weir_model::ids::{SpanId, VarId};

/// A source text and the places in it that a program refers to.
#[derive(Clone, Debug)]
pub struct Source {
    /// What reports call the file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What reports say first: what answers about a program in this language leave open.
    pub caveat: Option<&'static str>,
    /// Whether it has memory orders weaker than sequential consistency.
    pub has_weak_orders: bool,
    /// What else there is to say about how the text was read.
    pub notes: Vec<String>,
    /// What else a person would ask of a program that asks nothing itself.
    pub besides: Option<&'static str>,
    /// Variables that the text does not have: those of its library, such as whether a thread has started. Reports of runs leave
    /// out what concerns only these.
    pub internal: BTreeSet<VarId>,
    spans: Vec<Range<usize>>,
    line_starts: Vec<usize>,
    /// The text, and behind it the texts that it includes.
    whole: String,
    /// Where each of these begins, and its name.
    included: Vec<(usize, String)>,
}

impl Source {
    /// A text with no places yet.
    pub fn new(name: &str, text: &str) -> Self {
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        let (spans, included) = (Vec::new(), Vec::new());
        let (name, text) = (name.to_owned(), text.to_owned());
        let whole = text.clone();
        let notes = Vec::new();
        Self {
            name,
            text,
            caveat: None,
            has_weak_orders: false,
            notes,
            besides: None,
            internal: BTreeSet::new(),
            spans,
            line_starts,
            whole,
            included,
        }
    }

    /// Appends a text that is included. Returns where it begins.
    pub fn include(&mut self, name: &str, text: &str) -> usize {
        if !self.whole.ends_with('\n') {
            self.whole.push('\n');
        }
        let start = self.whole.len();
        self.included.push((start, name.to_owned()));
        self.whole += text;
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1));
        self.line_starts.retain(|line| *line < start);
        self.line_starts.extend(lines.map(|line| start + line));
        start
    }

    /// The text of a range.
    pub fn text_in(&self, range: Range<usize>) -> &str {
        &self.whole[range]
    }

    /// The text that a place is in: its name, where it begins and where it ends.
    pub fn file(&self, at: usize) -> (&str, Range<usize>) {
        let number = self.included.partition_point(|(start, _)| *start <= at);
        let end = self.included.get(number).map_or(self.whole.len(), |(start, _)| *start);
        match number.checked_sub(1) {
            None => (&self.name, 0..end),
            Some(before) => (&self.included[before].1, self.included[before].0..end),
        }
    }

    /// The places of a text that was made of this one, in this one: `before` says which place an offset stands for.
    #[must_use]
    pub fn with_places_of(&self, made: &Self, before: impl Fn(usize) -> usize) -> Self {
        let behind = |at: usize| (at - made.text.len()) + self.text.len();
        let place = |at: usize| match at < made.text.len() {
            true => before(at),
            false => behind(at).min(self.whole.len()),
        };
        let spans = made.spans.iter().map(|range| {
            let start = place(range.start);
            start..place(range.end).max(start)
        });
        Self { spans: spans.collect(), internal: made.internal.clone(), ..self.clone() }
    }

    /// Changes the ranges of places in the text itself.
    pub(crate) fn map_ranges(&mut self, range: impl Fn(&str, Range<usize>) -> Range<usize>) {
        for place in &mut self.spans {
            if *place != (0..0) && place.end <= self.text.len() {
                *place = range(&self.text, place.clone());
            }
        }
    }

    /// The id of a place, given as a range of bytes.
    pub fn span(&mut self, range: Range<usize>) -> SpanId {
        self.spans.push(range);
        SpanId::new(self.spans.len() - 1)
    }

    /// How many places there are.
    pub fn span_count(&self) -> usize {
        self.spans.len()
    }

    /// The range of bytes of a place; empty for [`SpanId::NONE`].
    pub fn range(&self, span: SpanId) -> Range<usize> {
        self.spans.get(span.index()).cloned().unwrap_or(0..0)
    }

    /// Whether it is known where a place is.
    pub fn is_placed(&self, span: SpanId) -> bool {
        self.range(span) != (0..0)
    }

    /// The line, counted from 1, on which a place begins.
    pub fn line(&self, span: SpanId) -> usize {
        self.line_at(self.range(span).start)
    }

    /// The line of an offset, counted from 1 in the text that it is in.
    fn line_at(&self, at: usize) -> usize {
        let before = self.file(at).1.start;
        let lines = |at: usize| self.line_starts.partition_point(|&line| line <= at);
        lines(at) - lines(before) + 1
    }

    /// Where a place begins and ends: line and column of its first character, and of the one
    /// after its last, counted from 1 in lines and characters.
    pub fn corners(&self, span: SpanId) -> [usize; 4] {
        let Range { start, end } = self.range(span);
        let corner = |at: usize| {
            let line = self.line_starts.partition_point(|&l| l <= at);
            let column = self.whole[self.line_starts[line - 1]..at].chars().count() + 1;
            [self.line_at(at), column]
        };
        let ([line, column], [end_line, end_column]) = (corner(start), corner(end));
        [line, column, end_line, end_column]
    }

    /// The text of a place.
    pub fn text_of(&self, span: SpanId) -> &str {
        &self.whole[self.range(span)]
    }
}
