//! Folders that are removed when they are no longer used.

use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder, which only this user can read. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Folder {
    /// In the folder of the system for such things.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> Result<Folder, Error> {
        Folder::inside(&std::env::temp_dir())
    }

    /// In another folder.
    pub(crate) fn inside(parent: &Path) -> Result<Folder, Error> {
        let process = std::process::id();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("weir-{process}-{number}"));
            match create(&path) {
                Ok(()) => return Ok(Folder(path)),
                // A folder that a process of the same number has left.
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && number < u32::MAX => {}
                Err(error) => return Err(Error::file(path, &error)),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Moves it, so that it stays. Whether that was possible.
    pub(crate) fn move_to(self, path: &Path) -> bool {
        fs::rename(&self.0, path).is_ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it was moved there is nothing to remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> std::io::Result<()> {
    fs::create_dir(path)
}
