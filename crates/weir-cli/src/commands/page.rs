//! The page that a command writes with `--html`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use weir::report::page::Page;

use super::{Status, fail, note, write_whole};

/// A page and the file that it is for, if one was asked for.
pub struct Html<'a> {
    path: Option<&'a Path>,
    page: Page,
}

impl<'a> Html<'a> {
    /// For the reports of a command.
    pub fn new(command: &'static str, path: &'a Option<PathBuf>) -> Self {
        Self { path: path.as_deref(), page: Page::new(command) }
    }

    /// Whether a page is to be written.
    pub fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Adds a report about a file, which is made only if a page is wanted.
    pub fn add<R: Serialize>(&mut self, file: &str, report: impl FnOnce() -> R) -> Status {
        if !self.is_wanted() {
            return Status::Fine;
        }
        match self.page.report(file, &report()) {
            Ok(()) => Status::Fine,
            Err(error) => fail(&format!("the page cannot be written: {error}")),
        }
    }

    /// Writes the page.
    pub fn write(self) -> Status {
        let Some(path) = self.path else { return Status::Fine };
        if self.page.is_empty() {
            note(&format!("there is nothing to show, so `{}` was not written", path.display()));
            return Status::Fine;
        }
        write_whole(path, &self.page.html())
    }
}
