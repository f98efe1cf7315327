//! Blocks of closed levels, on disk.
//!
//! Each store has a file of its own, which has no name: it is gone when the process ends, however it
//! ends. Blocks are written once and then read in small pieces, at given places. The system keeps in
//! memory what is read often, as far as it has room. (To map the file would need `unsafe`, which
//! Weir does not use.)

use std::fs::File;
use std::io;
use std::path::Path;

/// A file of blocks.
pub struct Spill {
    file: File,
    len: u64,
}

impl Spill {
    /// A file in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    #[cfg(unix)]
    pub fn new(folder: &Path) -> io::Result<Self> {
        use std::fs::{self, OpenOptions};
        use std::os::unix::fs::OpenOptionsExt;
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        fs::create_dir_all(folder)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".weir-spill-{}-{count}", std::process::id()));
        // What is there by this name is of a process that was killed before it removed it.
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Self { file, len: 0 })
    }

    /// A file in a folder.
    ///
    /// # Errors
    /// Always: files without a name are a matter of Unix.
    #[cfg(not(unix))]
    pub fn new(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "--spill is not for this system"))
    }

    /// A file that is there already.
    #[cfg(test)]
    pub fn of(file: File) -> Self {
        Self { file, len: 0 }
    }

    /// The bytes of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Adds bytes, and returns where they begin.
    ///
    /// # Errors
    /// If they cannot be written: then nothing is added.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.len;
        write_at(&self.file, bytes, at)?;
        self.len += bytes.len() as u64;
        Ok(at)
    }

    /// Reads bytes that were added.
    ///
    /// # Errors
    /// If they cannot be read.
    #[inline]
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        read_at(&self.file, bytes, at)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
#[inline]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
