//! The programs that the page lists: those of the repository, which are embedded, and those
//! that the command names. A program is asked for by its number, so that no request names a path.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use weir::load::read_text;
use weir::{Diagnostic, LANGUAGES, Language, LoadError};

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The most files of a directory that are listed, and how deep they may be.
const MOST_FILES: usize = 500;
const MOST_DEPTH: usize = 4;

/// Programs to pick from.
pub struct Gallery {
    entries: Vec<Entry>,
}

/// A program.
#[derive(Serialize)]
pub struct Entry {
    /// What it belongs to.
    group: String,
    /// Its name.
    pub name: String,
    #[serde(skip)]
    text: Text,
}

enum Text {
    Embedded(&'static str),
    File(PathBuf),
}

impl Gallery {
    /// The embedded programs, after the file or those of the directory that is named.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn new(target: Option<&Path>) -> Result<Self, LoadError> {
        let mut entries = Vec::new();
        if let Some(target) = target {
            match target.is_dir() {
                true => entries.extend(listed(target)),
                false => {
                    let name = target.to_string_lossy().into_owned();
                    let text = read_text(&name)?;
                    let language = weir_front::detect(&name, &text);
                    if language.is_compiled() {
                        return Err(compiled(name, text, language));
                    }
                    let text = Text::File(target.to_owned());
                    entries.push(Entry { group: "this file".to_owned(), name, text });
                }
            }
        }
        entries.extend(PROGRAMS.iter().map(|(group, name, text)| Entry {
            group: (*group).to_owned(),
            name: (*name).to_owned(),
            text: Text::Embedded(text),
        }));
        Ok(Self { entries })
    }

    /// All programs.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The text of the program with this number.
    ///
    /// # Errors
    /// If it cannot be read any more.
    pub fn text(&self, number: usize) -> Option<Result<String, String>> {
        Some(match &self.entries.get(number)?.text {
            Text::Embedded(text) => Ok((*text).to_owned()),
            Text::File(path) => read_text(&path.to_string_lossy()).map_err(|e| e.to_string()),
        })
    }
}

/// Why a program is not served: what a compiler reads could include any file.
fn compiled(name: String, text: String, language: &Language) -> LoadError {
    let what = language.called();
    let error = format!("a text in {what} is read through a compiler, and the page runs none");
    let help = format!("`weir check {name} --html page.html` writes a page");
    LoadError::Wrong { name, text, errors: vec![Diagnostic::new(error, 0..0).help(help)] }
}

/// The programs of a directory that are read without a compiler, by the endings of their names. Links are not followed.
fn listed(folder: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((at, depth)) = open.pop() {
        let entries = fs::read_dir(&at).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let is_hidden = path.file_name().is_none_or(|n| n.to_string_lossy().starts_with('.'));
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            if is_hidden || found.len() >= MOST_FILES {
                continue;
            }
            if about.is_dir() && depth < MOST_DEPTH {
                open.push((path, depth + 1));
            } else if about.is_file() && is_program(&path) {
                let shown = path.strip_prefix(folder).unwrap_or(&path);
                found.push(Entry {
                    group: folder.to_string_lossy().into_owned(),
                    name: shown.to_string_lossy().into_owned(),
                    text: Text::File(path),
                });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn is_program(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    LANGUAGES.iter().any(|l| l.endings.contains(&ending) && !l.is_compiled())
}
