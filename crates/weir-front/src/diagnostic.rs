//! Errors that point at the source.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// One error: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// Where, as a range of bytes.
    pub range: Range<usize>,
    /// What stands at that place, in a few words; may be empty.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub notes: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(message: impl Into<String>, range: Range<usize>) -> Self {
        Self { message: message.into(), range, label: String::new(), notes: Vec::new(), help: None }
    }

    /// With words at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With another place.
    #[must_use]
    pub fn note(mut self, range: Range<usize>, note: impl Into<String>) -> Self {
        self.notes.push((range, note.into()));
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error as a person reads it, with the lines of `text` that it is about.
    pub fn render(&self, name: &str, text: &str, color: bool) -> String {
        let fit = |range: &Range<usize>| {
            let floor =
                |i: usize| (0..=i.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
            let start = floor(range.start).unwrap_or(0);
            start..floor(range.end).unwrap_or(start).max(start)
        };
        let mut snippet = Snippet::source(text)
            .path(name)
            .annotation(AnnotationKind::Primary.span(fit(&self.range)).label(self.label.as_str()));
        for (range, note) in &self.notes {
            snippet =
                snippet.annotation(AnnotationKind::Context.span(fit(range)).label(note.as_str()));
        }
        let mut group = Level::ERROR.primary_title(self.message.as_str()).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
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
