//! Runs, line by line of the text.

use lsp_types::{InlayHint, InlayHintLabel};
use weir::{MemoryModel, Run};

use crate::document::Document;

/// The most steps that a line shows.
const MOST_STEPS: usize = 4;

/// A run that is shown in the text.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The steps at each line that has some, by the offset of the first of them.
    lines: Vec<(usize, Vec<String>)>,
}

impl Shown {
    /// A run of a document.
    pub fn new(document: &Document, run: &Run) -> Self {
        let mut lines: Vec<(usize, Vec<String>)> = Vec::new();
        for (number, step) in run.steps.iter().enumerate() {
            // A write reaches memory at no line: that is shown in the table only.
            let Some(span) = &step.span else { continue };
            let line = document.line(span.start);
            let text = format!("{}. {}: {}", number + 1, step.process, step.action);
            match lines.iter_mut().find(|(other, _)| document.line(*other) == line) {
                Some((_, steps)) => steps.push(text),
                None => lines.push((span.start, vec![text])),
            }
        }
        lines.sort_unstable();
        Self { lines }
    }

    /// What stands behind the lines in a range of lines, from 0.
    pub fn hints(&self, document: &Document, range: lsp_types::Range) -> Vec<InlayHint> {
        let lines = self.lines.iter().map(|(offset, steps)| (document.line(*offset) - 1, steps));
        let inside =
            lines.filter(|(line, _)| (range.start.line..=range.end.line).contains(&(*line as u32)));
        inside
            .map(|(line, steps)| {
                let end = document.lines.range(&document.text, line).end;
                let mut label = steps[..steps.len().min(MOST_STEPS)].join("   ");
                if steps.len() > MOST_STEPS {
                    label += &format!("   … and {} more", steps.len() - MOST_STEPS);
                }
                InlayHint {
                    position: document.lines.position(&document.text, end),
                    label: InlayHintLabel::String(label),
                    kind: None,
                    text_edits: None,
                    tooltip: None,
                    padding_left: Some(true),
                    padding_right: None,
                    data: None,
                }
            })
            .collect()
    }
}

/// A run as lines of text.
pub fn table(name: &str, model: MemoryModel, says: &str, run: &Run) -> Vec<String> {
    let title = format!("{name} under {model}: {says}");
    let text = run.to_string();
    [title, String::new()].into_iter().chain(text.lines().map(str::to_owned)).collect()
}
