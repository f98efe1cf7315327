//! Folders with the shards of a proof.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use weir_check::shards::{Folder, Unfinished};

use super::Pieces;

/// A folder of files. Each is written whole or not at all.
#[derive(Clone, Debug)]
pub struct ShardFolder(PathBuf);

impl ShardFolder {
    /// A folder that is there.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// A folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self::new(path))
    }

    /// The name of a file in it, for messages.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Folder for ShardFolder {
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let path = self.0.join(name);
        // Opening a FIFO would wait for a writer.
        if !fs::metadata(&path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(Box::new(File::open(path)?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Unfinished>> {
        Ok(Box::new(Pieces::create(&self.0.join(name))?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Unfinished for Pieces {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Self::finish(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_there_when_it_is_finished() {
        let path = std::env::temp_dir().join(format!("weir-folder-{}", std::process::id()));
        let folder = ShardFolder::make(&path.join("deep")).unwrap();
        let mut file = folder.create("a").unwrap();
        file.write_all(b"one").unwrap();
        assert!(folder.open("a").is_err());
        file.finish().unwrap();
        let mut text = String::new();
        folder.open("a").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
        let mut file = folder.create("a").unwrap();
        file.write_all(b"two").unwrap();
        drop(file);
        folder.remove("b").unwrap();
        let left = fs::read_dir(path.join("deep")).unwrap().count();
        assert_eq!(left, 1, "what was not finished is gone");
        assert!(folder.open(".").is_err());
        folder.remove("a").unwrap();
        assert!(folder.open("a").is_err());
        fs::remove_dir_all(path).unwrap();
    }
}
