//! Places in the user's own texts.
//!
//! A debug location says through which calls an instruction was inlined. The innermost place in a file of the
//! user's own is shown, so code of libraries is shown at the line that calls it. Without a debug location, or if the file cannot
//! be read, the line of the `.ll` text is shown.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use weir_llvm::{MetaId, Module, Place};

use crate::{Settings, Source};

/// Finds places.
pub(super) struct Places<'m> {
    module: &'m Module,
    files: fn(&Path) -> std::io::Result<String>,
    /// The name of the text that reports show, with the offsets of its lines.
    own: (PathBuf, Vec<usize>),
    /// The current folder, from which a user sees files.
    here: PathBuf,
    /// Where the text of each file begins in the source, with the offsets of its lines.
    texts: HashMap<PathBuf, Option<(usize, Vec<usize>, usize)>>,
    known: HashMap<MetaId, Option<Range<usize>>>,
}

/// Whether a file is part of a compiler or a library.
fn is_foreign(place: &Place<'_>) -> bool {
    let path = Path::new(place.directory).join(place.file);
    let path = path.to_string_lossy();
    path.starts_with("/usr/")
        || path.starts_with("/rustc/")
        || ["/rustlib/", "/.cargo/registry/", "/.rustup/"].iter().any(|part| path.contains(part))
}

/// Where the lines of a text begin.
fn lines(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect()
}

impl<'m> Places<'m> {
    pub fn new(module: &'m Module, settings: &Settings, source: &Source) -> Self {
        let own = (PathBuf::from(&source.name), lines(&source.text));
        let here = std::env::current_dir().unwrap_or_default();
        Self {
            module,
            files: settings.files,
            own,
            here,
            texts: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// The range of a debug location in the texts of a source.
    pub fn range(&mut self, location: MetaId, source: &mut Source) -> Option<Range<usize>> {
        if let Some(known) = self.known.get(&location) {
            return known.clone();
        }
        let places = self.module.places(location);
        let own = places.iter().find(|place| place.line > 0 && !is_foreign(place));
        let found = own.and_then(|place| self.in_text(place, source));
        self.known.insert(location, found.clone());
        found
    }

    fn in_text(&mut self, place: &Place<'_>, source: &mut Source) -> Option<Range<usize>> {
        let named = PathBuf::from(place.file);
        let path = Path::new(place.directory).join(place.file);
        let files = self.files;
        let is_own = named == self.own.0;
        let (lines_of_own, length) = (&self.own.1, source.text.len());
        // The file is in the folder of the compiler, which may be another one than that of the user.
        let shown = path.strip_prefix(&self.here).unwrap_or(&path);
        let shown = shown.strip_prefix(".").unwrap_or(shown).to_owned();
        let text = self.texts.entry(path.clone()).or_insert_with(|| {
            if is_own {
                return Some((0, lines_of_own.clone(), length));
            }
            let text = files(&shown).ok()?;
            if text.len() > crate::MAX_TEXT {
                return None;
            }
            let lines = lines(&text);
            let start = source.include(&shown.to_string_lossy(), &text);
            Some((start, lines, text.len()))
        });
        let (start, lines, length) = text.as_ref()?;
        let line = (place.line as usize).checked_sub(1)?;
        let begin = *lines.get(line)?;
        let end = lines.get(line + 1).map_or(*length, |next| next - 1);
        let text = source.text_in(start + begin..start + end);
        let column = (place.column as usize).saturating_sub(1);
        let indent = text.len() - text.trim_start().len();
        let from = text.char_indices().nth(column).map_or(indent, |(at, _)| at);
        let until = text.trim_end().len().max(from);
        Some(start + begin + from..start + begin + until)
    }
}
