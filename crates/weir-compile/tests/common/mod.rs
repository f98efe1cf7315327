//! What tests share: the compilers, folders, and leaving out tests whose compiler is missing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use weir_compile::{Kind, Options, Tools};

/// Whether there are these compilers. Where `CI` is set, they have to be there.
pub fn has(kinds: &[Kind]) -> bool {
    for &kind in kinds {
        if let Err(error) = Tools::default().get(kind) {
            assert!(std::env::var_os("CI").is_none(), "a compiler is missing: {error}");
            eprintln!("left out: {error}");
            return false;
        }
    }
    true
}

/// A folder for one test, which is removed in the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir()
            .join(format!("weir compile ü {name} {} {number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Options with the cache that all tests share.
pub fn options() -> Options {
    Options { cache: Some(root().join("target/weir-compile-cache")), ..Options::default() }
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files of a folder with an ending, in order.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    files.sort();
    files
}
