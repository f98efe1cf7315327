//! A text that is open in the editor, and what is known of it.

use std::cell::OnceCell;
use std::ops::Range;

use lsp_types::{Position, TextDocumentContentChangeEvent, TextEdit, Uri};
use weir::{Cancellation, Diagnostic, Language, MemoryModel};
use weir_front::weir::names::{Names, Word, names, words};
use weir_model::program::Program;

use crate::checks::{Answers, Repair};
use crate::lines::Lines;
use crate::runs::Shown;

/// The longest text, in bytes, whose names are looked up. A longer one has errors and answers
/// only.
pub const MAX_NAMED: usize = 1 << 20;

/// An open text.
pub struct Document {
    /// Its address.
    pub uri: Uri,
    /// Its file, or what else reports call it.
    pub name: String,
    /// Its language.
    pub language: &'static Language,
    /// The number that the editor gives to each state of the text.
    pub version: i32,
    /// The text.
    pub text: String,
    /// Where its lines begin.
    pub lines: Lines,
    names: OnceCell<Names>,
    words: OnceCell<Vec<Word>>,
    /// The program, or all errors, once the text has been read.
    pub read: Option<Result<Program, Vec<Diagnostic>>>,
    /// What has been answered so far.
    pub answers: Vec<Answers>,
    /// The check that runs or waits.
    pub check: Option<Running>,
    /// Fences that were found.
    pub repairs: Vec<Repair>,
    /// The run that is shown in the text.
    pub shown: Option<Shown>,
}

/// A check that has not ended.
pub struct Running {
    /// Its number.
    pub number: u64,
    /// Its memory models.
    pub models: Vec<MemoryModel>,
    /// What cancels it.
    pub cancellation: Cancellation,
}

impl Document {
    /// A text that was just opened. The editor names its language, which counts if Weir knows the
    /// name; otherwise the name of the file or the text itself tells.
    pub fn new(uri: Uri, language: &str, version: i32, text: String) -> Self {
        let name = file_name(uri.as_str());
        let language =
            Language::named(language).unwrap_or_else(|| weir_front::detect(&name, &text));
        Self {
            uri,
            name,
            language,
            version,
            lines: Lines::new(&text),
            text,
            names: OnceCell::new(),
            words: OnceCell::new(),
            read: None,
            answers: Vec::new(),
            check: None,
            repairs: Vec::new(),
            shown: None,
        }
    }

    /// Whether it is in Weir's own language.
    pub fn is_weir(&self) -> bool {
        *self.language == weir_front::weir::LANGUAGE
    }

    /// Changes the text. Nothing that was known is true of the new one.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let range = self.lines.offsets(&self.text, range);
                    self.text.replace_range(range, &change.text);
                }
            }
            self.lines = Lines::new(&self.text);
        }
        self.version = version;
        (self.names, self.words) = (OnceCell::new(), OnceCell::new());
        self.read = None;
        self.forget_answers();
    }

    /// Forgets the answers and what follows from them, and cancels the check that runs.
    pub fn forget_answers(&mut self) {
        self.answers.clear();
        self.repairs.clear();
        self.shown = None;
        if let Some(check) = self.check.take() {
            check.cancellation.cancel();
        }
    }

    /// Its names; none if it is in another language or too long.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| match self.has_names() {
            true => names(&self.text),
            false => Names::default(),
        })
    }

    /// Its words; none if it is in another language or too long.
    pub fn words(&self) -> &[Word] {
        self.words.get_or_init(|| match self.has_names() {
            true => words(&self.text),
            false => Vec::new(),
        })
    }

    fn has_names(&self) -> bool {
        self.is_weir() && self.text.len() <= MAX_NAMED
    }

    /// The program, if the text is one.
    pub fn program(&self) -> Option<&Program> {
        self.read.as_ref()?.as_ref().ok()
    }

    /// Its errors, as far as it has been read.
    pub fn errors(&self) -> &[Diagnostic] {
        self.read.as_ref().and_then(|read| read.as_ref().err()).map_or(&[], |errors| errors)
    }

    /// The word at an offset, or right before it.
    pub fn word_at(&self, offset: usize) -> Option<&Word> {
        let words = self.words();
        let after = words.partition_point(|word| word.range.start <= offset);
        words[..after].last().filter(|word| offset <= word.range.end)
    }

    /// The offset of a position.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(&self.text, position)
    }

    /// The positions of a range of bytes.
    pub fn span(&self, range: &Range<usize>) -> lsp_types::Range {
        self.lines.span(&self.text, range)
    }

    /// The number, from 1, of the line of an offset.
    pub fn line(&self, offset: usize) -> usize {
        self.lines.line(offset) + 1
    }

    /// The text of a range of bytes.
    pub fn text_of(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// A change of the text.
    pub fn edit(&self, range: &Range<usize>, by: impl Into<String>) -> TextEdit {
        TextEdit::new(self.span(range), by.into())
    }

    /// The text with blanks in the place of a byte order mark, so that all offsets are those of
    /// the document.
    pub fn unmarked(&self) -> String {
        let rest = weir_front::escape::without_mark(&self.text);
        " ".repeat(self.text.len() - rest.len()) + rest
    }
}

/// The file of an address, if it is one.
fn file_name(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%');
        let byte = escaped
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // `file:///C:/a.weir` is `C:/a.weir`.
    match path.strip_prefix('/') {
        Some(drive) if drive.as_bytes().get(1) == Some(&b':') => drive.to_owned(),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn document(text: &str) -> Document {
        Document::new("file:///t.weir".parse().unwrap(), "weir", 1, text.to_owned())
    }

    #[test]
    fn addresses_become_files() {
        for (uri, name) in [
            ("file:///a/b.weir", "/a/b.weir"),
            ("file:///a%20b/%C3%A9.weir", "/a b/é.weir"),
            ("file:///C%3A/a.weir", "C:/a.weir"),
            ("file:///100%", "/100%"),
            ("untitled:One", "untitled:One"),
        ] {
            assert_eq!(file_name(uri), name);
        }
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let change = |from: (u32, u32), to: (u32, u32), text: &str| {
            let position = |(line, character)| Position::new(line, character);
            TextDocumentContentChangeEvent {
                range: Some(lsp_types::Range::new(position(from), position(to))),
                range_length: None,
                text: text.to_owned(),
            }
        };
        let mut document = document("// é😀x\nvar y\n");
        document.change(2, vec![change((0, 6), (0, 7), "z\nvar w"), change((2, 4), (2, 5), "v")]);
        assert_eq!(document.text, "// é😀z\nvar w\nvar v\n");
        document.change(3, vec![change((9, 9), (9, 9), "end"), change((0, 0), (1, 0), "")]);
        assert_eq!(document.text, "var w\nvar v\nend");
    }

    #[test]
    fn a_text_that_is_too_long_has_no_names() {
        let long = format!("var x\n//{}\n", "x".repeat(MAX_NAMED));
        assert!(document(&long).names().symbols.is_empty());
        assert_eq!(document("var x").names().symbols.len(), 1);
    }
}
