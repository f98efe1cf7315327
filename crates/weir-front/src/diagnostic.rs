//! Errors that point at the source.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::escape::{escape, escape_line, is_control};

/// One error: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// Where, as a range of bytes.
    pub range: Range<usize>,
    /// What stands at that place, in a few words; may be empty.
    pub label: Box<str>,
    /// Other places that matter, each with a few words.
    pub notes: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<Box<str>>,
    /// A change of the text that probably corrects it: what to replace, and by what.
    pub fix: Option<Box<(Range<usize>, String)>>,
    /// The name and the text of the file that it is in, if that is an included one.
    pub file: Option<Box<(String, String)>>,
    /// How a compiler shows it, if a compiler has found it.
    pub as_shown: Option<Box<AsShown>>,
}

/// What a compiler has printed of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsShown(pub String);

impl fmt::Display for Diagnostic {
    /// What is wrong; [`Diagnostic::render`] also shows where.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_line(&self.message))
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// An error at a place.
    pub fn new(message: impl Into<String>, range: Range<usize>) -> Self {
        let (label, notes) = (Box::default(), Vec::new());
        Self {
            message: message.into(),
            range,
            label,
            notes,
            help: None,
            fix: None,
            file: None,
            as_shown: None,
        }
    }

    /// As a compiler shows it.
    #[must_use]
    pub fn as_shown(mut self, text: impl Into<String>) -> Self {
        self.as_shown = Some(Box::new(AsShown(text.into())));
        self
    }

    /// About a file as a whole, of which no line is shown.
    #[must_use]
    pub fn of_file(self, name: &str) -> Self {
        if self.file.is_some() || self.as_shown.is_some() || self.range != (0..0) {
            return self;
        }
        let mut text = format!("error: `{name}`: {}", self.message);
        if let Some(help) = &self.help {
            text += &format!("\n  = help: {help}");
        }
        self.as_shown(text)
    }

    /// With words at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into().into_boxed_str();
        self
    }

    /// With another place.
    #[must_use]
    pub fn note(mut self, range: Range<usize>, note: impl Into<String>) -> Self {
        self.notes.push((range, note.into()));
        self
    }

    /// The error as the text says that it is in, if `source` includes others.
    #[must_use]
    pub fn inside(mut self, source: &crate::Source) -> Self {
        let (name, range) = source.file(self.range.start);
        if range.start > 0 {
            let text = source.text_in(range.clone()).to_owned();
            self.file = Some(Box::new((name.to_owned(), text)));
            let within = |r: &Range<usize>| {
                r.start.saturating_sub(range.start)..r.end.saturating_sub(range.start)
            };
            self.range = within(&self.range);
            self.notes.retain(|(note, _)| range.contains(&note.start));
            self.notes.iter_mut().for_each(|(note, _)| *note = within(note));
            self.fix.iter_mut().for_each(|fix| fix.0 = within(&fix.0));
        }
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into().into_boxed_str());
        self
    }

    /// With a change of the text that probably corrects it.
    #[must_use]
    pub fn fix(mut self, range: Range<usize>, by: impl Into<String>) -> Self {
        self.fix = Some(Box::new((range, by.into())));
        self
    }

    /// The line and the column where it is, both from 1, in a text; columns are
    /// characters, without a byte order mark.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let text = self.file.as_ref().map_or(text, |file| &file.1);
        let end = (0..=self.range.start.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
        let before = &text[..end.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before[start..].trim_start_matches('\u{feff}');
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// The error in a text with so many more bytes before it.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        if self.file.is_some() {
            return self;
        }
        let move_it = |range: &mut Range<usize>| *range = range.start + by..range.end + by;
        move_it(&mut self.range);
        self.notes.iter_mut().for_each(|(range, _)| move_it(range));
        self.fix.iter_mut().for_each(|fix| move_it(&mut fix.0));
        self
    }

    /// The error as a person reads it, with the lines of `text` that it is about. No
    /// control character of the text or of a name is in it; the only escape sequences
    /// are those of `color`.
    pub fn render(&self, name: &str, text: &str, color: bool) -> String {
        if let Some(shown) = &self.as_shown {
            let lines: Vec<_> = shown.0.trim_end().lines().map(escape_line).collect();
            return lines.join("\n");
        }
        let (name, text) = self.file.as_deref().map_or((name, text), |(name, text)| (name, text));
        let fit = |range: &Range<usize>| {
            let floor =
                |i: usize| (0..=i.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
            let start = floor(range.start).unwrap_or(0);
            start..floor(range.end).unwrap_or(start).max(start)
        };
        let mut snippet = Snippet::source(text).path(escape_line(name)).annotation(
            AnnotationKind::Primary.span(fit(&self.range)).label(escape_line(&self.label)),
        );
        for (range, note) in &self.notes {
            snippet = snippet
                .annotation(AnnotationKind::Context.span(fit(range)).label(escape_line(note)));
        }
        let mut group = Level::ERROR.primary_title(escape_line(&self.message)).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(escape(help)));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        // The renderer shows a picture of the escape character in a line of the text, so
        // those that are left are its own; of other controls it knows only some.
        let is_shown = |c: char| !is_control(c) || c == '\n' || c == '\x1b';
        let rendered = renderer.render(&[group]);
        rendered.chars().map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_the_line_and_the_advice() {
        let error = Diagnostic::new("there is no `flog`", 4..8)
            .label("not declared")
            .help("did you mean `flag`?");
        let text = error.render("a.weir", "x = flog", false);
        for part in [
            "there is no `flog`",
            "a.weir:1:5",
            "x = flog",
            "^^^^ not declared",
            "did you mean `flag`?",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_position_is_a_line_and_a_column() {
        let at = |start| Diagnostic::new("m", start..start).position("é\nab\n");
        assert_eq!(
            [at(0), at(1), at(2), at(3), at(4), at(99)],
            [(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]
        );
    }

    #[test]
    fn no_control_character_is_rendered() {
        let hostile = "\x1b]0;t\x07\u{9b}2J\u{202e}\u{200f}\u{2028}\r\x7f";
        let text = format!("a {hostile} b\nc");
        let error = Diagnostic::new(hostile, 2..4).label(hostile).note(0..1, hostile).help(hostile);
        let plain = error.render(hostile, &text, false);
        assert!(!plain.contains(|c| is_control(c) && c != '\n'), "{plain:?}");
        let styled = error.render(hostile, &text, true);
        for sequence in styled.split('\x1b').skip(1) {
            let (inside, _) = sequence.split_once('m').unwrap();
            let inside = inside.strip_prefix('[').unwrap();
            assert!(inside.chars().all(|c| c.is_ascii_digit() || c == ';'), "{sequence:?}");
        }
    }

    #[test]
    fn any_range_renders() {
        for text in ["", "é", "a\nb", "\r\n\t€"] {
            for start in 0..6 {
                for end in 0..6 {
                    Diagnostic::new("m", start..end).note(end..start, "n").render("f", text, true);
                }
            }
        }
    }
}
