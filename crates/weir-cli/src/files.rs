//! Which files a command reads: those that are named, those of directories, and those that match
//! a pattern.
//!
//! A directory stands for the programs in it and below, in the order of their names. A name with
//! `*`, `?` or `**` that is no file is a pattern: `*` and `?` stand for characters of one name,
//! `**` for any number of directories.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use weir::LANGUAGES;
use weir_front::MAX_TEXT;

use crate::output::pass_over;

/// The file that says what a Cargo package is.
pub const MANIFEST: &str = "Cargo.toml";

/// The `Cargo.toml` of a directory that is a Cargo package.
pub fn manifest_in(word: &str) -> Option<String> {
    let manifest = match word {
        "." | "./" => PathBuf::from(MANIFEST),
        word => Path::new(word).join(MANIFEST),
    };
    manifest.is_file().then(|| manifest.to_string_lossy().into_owned())
}

/// The files that the arguments name, and whether a directory or a pattern is among the arguments.
///
/// # Errors
/// What cannot be read, or stands for no file.
pub fn expand(
    words: &[String],
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<(Vec<String>, bool), String> {
    let mut files = Vec::new();
    let mut several = false;
    for word in words {
        let path = Path::new(word);
        let is_pattern = word.contains(['*', '?']) && !path.exists();
        if word == "-" || !(path.is_dir() || is_pattern) {
            files.push(word.clone());
            continue;
        }
        several = true;
        let found = match is_pattern {
            true => matches(word)?,
            false => below(path, is_wanted)?,
        };
        if found.is_empty() {
            return Err(match is_pattern {
                true => format!("no file matches `{word}`"),
                false => format!("there is no program in `{word}`"),
            });
        }
        files.extend(found);
    }
    Ok((files, several))
}

/// The option of a process that reads a text for another process: it includes only files of this
/// folder, or [`NOTHING`].
pub const ONLY_BELOW: &str = "only-below";
pub const NOTHING: &str = "-";

/// The folder whose files may be included, if only those may.
static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();

/// From now on only files of this folder are included.
pub fn include_only_below(folder: &Path) {
    let folder = Some(folder).filter(|folder| *folder != Path::new(NOTHING));
    let _ = FOLDER.set(folder.and_then(|folder| fs::canonicalize(folder).ok()));
}

/// The text of a file that a text includes, if it may be included. Links do not lead out of the
/// folder.
///
/// # Errors
/// If it may not, or cannot be read.
pub fn included(path: &Path) -> io::Result<String> {
    let Some(folder) = FOLDER.get() else { return weir::included(path) };
    let path = fs::canonicalize(path)?;
    match folder.as_ref().is_some_and(|folder| path.starts_with(folder)) {
        true => weir::included(&path),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Whether a file is a program of one of the languages, by its ending. A text file has to look like
/// one, too.
pub fn is_program(path: &Path) -> bool {
    let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else { return false };
    let of_ending = LANGUAGES.iter().filter(|language| language.endings.contains(&ending));
    let mut of_ending = of_ending.peekable();
    if of_ending.peek().is_none() || ending != "txt" {
        return of_ending.peek().is_some();
    }
    // Opening a FIFO would wait for a writer.
    let is_short = |about: fs::Metadata| about.is_file() && about.len() <= MAX_TEXT as u64;
    if !fs::metadata(path).is_ok_and(is_short) {
        return false;
    }
    let Ok(text) = fs::read_to_string(path) else { return false };
    of_ending.any(|language| (language.looks_like)(&text))
}

/// The wanted files in a directory and below, by their names. Hidden ones do not count. A directory is
/// read once, also if links lead to it again.
fn below(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    // Directories that have been found and not been read, the next one last.
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if !path.is_dir() {
            files.extend(name(&path));
            continue;
        }
        if !seen.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
            continue;
        }
        let mut entries = entries(&path)?;
        entries.retain(|entry| !is_hidden(entry) && (entry.is_dir() || is_wanted(entry)));
        open.extend(entries.into_iter().rev());
    }
    Ok(files)
}

/// The files that match a pattern, by their names.
fn matches(pattern: &str) -> Result<Vec<String>, String> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let fixed = parts.iter().take_while(|part| !part.contains(['*', '?'])).count();
    let start = parts[..fixed].join("/");
    let start = match (fixed, start.as_str()) {
        (0, _) => PathBuf::from("."),
        (_, "") => PathBuf::from("/"),
        _ => PathBuf::from(start),
    };
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![(start, fixed)];
    while let Some((path, at)) = open.pop() {
        let Some(part) = parts.get(at) else {
            if path.is_file() {
                files.extend(name(&path));
            }
            continue;
        };
        if !path.is_dir() {
            continue;
        }
        // Links may lead to a directory again.
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if *part == "**" && !seen.insert((real, at)) {
            continue;
        }
        let mut next = Vec::new();
        if *part == "**" {
            next.push((path.clone(), at + 1));
        }
        for entry in entries(&path)? {
            let file = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if *part == "**" {
                if entry.is_dir() && !is_hidden(&entry) {
                    next.push((entry, at));
                }
            } else if is_match(part.as_bytes(), file.as_bytes()) {
                next.push((entry, at + 1));
            }
        }
        open.extend(next.into_iter().rev());
    }
    let begins = |file: &String| file.strip_prefix("./").map_or(file.clone(), str::to_owned);
    let mut files: Vec<String> = match fixed {
        0 => files.iter().map(begins).collect(),
        _ => files,
    };
    files.sort();
    files.dedup();
    Ok(files)
}

/// Whether a name matches a pattern of one name. Stars are tried from the shortest match on; only
/// the last one has to be tried again.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
    };
    let mut entries =
        read().map_err(|error| format!("cannot read `{}`: {error}", folder.display()))?;
    entries.sort();
    Ok(entries)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The name of a file, if it is UTF-8. Otherwise the file is passed over, and the command says so.
fn name(path: &Path) -> Option<String> {
    if path.to_str().is_none() {
        let shown = path.display();
        pass_over(&format!("the name `{shown}` is not UTF-8, so the file is passed over"));
    }
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_characters() {
        let is = |pattern: &str, name: &str| is_match(pattern.as_bytes(), name.as_bytes());
        assert!(is("*.weir", "a.weir") && is("a*b*c", "abbc") && is("?.c", "x.c") && is("*", "a"));
        assert!(
            !is("*.weir", "a.weir2") && !is("a*b*c", "acb") && !is("?.c", ".c") && !is("", "a")
        );
        assert!(!is("*", ".hidden") && is(".*", ".hidden"));
    }

    #[test]
    fn directories_and_patterns_are_in_order() {
        let folder = std::env::temp_dir().join(format!("weir-files-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for name in ["b.weir", "a/z.litmus", "a/deep/y.weir", ".git/x.weir", "notes.md", "t.txt"] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "no program").unwrap();
        }
        let word = folder.to_str().unwrap().to_owned();
        let found = |word: &str| {
            let (files, several) = expand(&[word.to_owned()], &is_program).unwrap();
            assert!(several);
            let short = |file: &String| file[folder.to_str().unwrap().len() + 1..].to_owned();
            files.iter().map(short).collect::<Vec<_>>()
        };
        assert_eq!(found(&word), ["a/deep/y.weir", "a/z.litmus", "b.weir"]);
        assert_eq!(found(&format!("{word}/**/*.weir")), ["a/deep/y.weir", "b.weir"]);
        assert_eq!(found(&format!("{word}/*/*")), ["a/z.litmus"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&folder, folder.join("a/loop")).unwrap();
            assert_eq!(found(&word), ["a/deep/y.weir", "a/z.litmus", "b.weir"]);
            assert_eq!(found(&format!("{word}/**/*.weir")), ["a/deep/y.weir", "b.weir"]);
        }
        assert!(expand(&[format!("{word}/*.pml")], &is_program).is_err(), "nothing matches");
        assert_eq!(expand(&["-".to_owned()], &is_program), Ok((vec!["-".to_owned()], false)));
        fs::remove_dir_all(folder).unwrap();
    }
}
