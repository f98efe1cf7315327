//! The results of a batch in a file, so that an interrupted batch can go on.
//!
//! The first line says which command the results are of, and each further line is a result. Lines
//! are added as results come. A line that is not complete, as after a crash, is not read.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::Status;
use super::run::{Done, Item, Snapshot};
use crate::output::json;

/// What the results of a log are of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    weir: String,
    command: String,
    options: Vec<String>,
    format: String,
}

impl Header {
    pub fn new(command: &str, options: &[OsString], format: &str) -> Self {
        Self {
            weir: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            options: options.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            format: format.to_owned(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Entry {
    file: String,
    /// The SHA-256 of the text that the result is about.
    text: String,
    model: String,
    status: i32,
    seconds: f64,
    out: String,
    err: String,
}

/// The log of a batch, if it has one.
#[derive(Default)]
pub struct MaybeLog(Option<Log>);

impl MaybeLog {
    /// Opens the log, if there is to be one.
    ///
    /// # Errors
    /// If it cannot be read or written, or is of another command.
    pub fn open(path: Option<&Path>, header: &Header) -> Result<Self, String> {
        path.map(|path| Log::open(path, header)).transpose().map(Self)
    }

    /// The results of items that the log has.
    pub fn known(&mut self, items: &[Item]) -> Vec<Option<Done>> {
        items.iter().map(|item| self.0.as_mut().and_then(|log| log.take(item))).collect()
    }

    /// Adds a result, if the log should keep it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&mut self, item: &Item, done: &Done) -> Result<(), String> {
        self.0.as_mut().map_or(Ok(()), |log| log.put(item, done))
    }
}

/// A log that is open.
struct Log {
    path: PathBuf,
    file: File,
    /// Results of earlier runs, by file, SHA-256 of its text, and model.
    old: HashMap<(String, String, String), Done>,
}

impl Log {
    /// Opens a log, and makes a new one if there is none.
    ///
    /// # Errors
    /// If it cannot be read or written, or is of another command.
    fn open(path: &Path, header: &Header) -> Result<Self, String> {
        let shown = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read `{shown}`: {error}")),
        };
        // What a crash left of a line is written over.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let line = json(header).map_err(|error| error.to_string())? + "\n";
        if whole == 0 && !line.starts_with(&text) {
            return Err(format!("`{shown}` is not a log of Weir"));
        }
        let mut lines = text[..whole].lines();
        let mut old = HashMap::new();
        if let Some(first) = lines.next() {
            match serde_json::from_str::<Header>(first) {
                Ok(found) if found == *header => {}
                Ok(found) => {
                    let words = [&[found.command, found.format][..], &found.options].concat();
                    return Err(format!(
                        "`{shown}` is the log of another command or version: weir {} {}",
                        found.weir,
                        words.join(" ")
                    ));
                }
                Err(_) => return Err(format!("`{shown}` is not a log of Weir")),
            }
        }
        for line in lines {
            let Ok(entry) = serde_json::from_str::<Entry>(line) else { continue };
            let Some(status) = Status::from_code(entry.status) else { continue };
            let Entry { file, text, model, seconds, out, err, .. } = entry;
            let digest = Some(text.clone());
            let done = Done { status, out, err, seconds, digest, is_for_log: false };
            old.insert((file, text, model), done);
        }
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            // Another process may have written more by now.
            if whole < text.len() && file.metadata()?.len() == text.len() as u64 {
                file.set_len(whole as u64)?;
            }
            if whole == 0 {
                file.write_all(line.as_bytes())?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| format!("cannot write `{shown}`: {error}"))?;
        Ok(Self { path: path.to_owned(), file, old })
    }

    /// The result of an item, if the log has one about its present text.
    fn take(&mut self, item: &Item) -> Option<Done> {
        let digest = Snapshot::of(item)?.digest?;
        self.old.remove(&(item.file.clone(), digest, item.model.clone()))
    }

    fn put(&mut self, item: &Item, done: &Done) -> Result<(), String> {
        let Some(text) = done.digest.clone().filter(|_| done.is_for_log) else { return Ok(()) };
        let entry = Entry {
            file: item.file.clone(),
            text,
            model: item.model.clone(),
            status: done.status as i32,
            seconds: done.seconds,
            out: done.out.clone(),
            err: done.err.clone(),
        };
        // At once, so that lines of two processes do not mix.
        let line = json(&entry).map(|line| line + "\n").map_err(|error| error.to_string());
        let written = line.and_then(|line| {
            self.file.write_all(line.as_bytes()).map_err(|error| error.to_string())
        });
        written.map_err(|error| format!("cannot write `{}`: {error}", self.path.display()))
    }
}
