//! Files that the program writes.
//!
//! A regular file is written under a temporary name beside its target and then renamed,
//! so that it exists whole or not at all. If the target is a symbolic link, the file that
//! it points to is replaced; the mode and the owner of a replaced file are kept. A file
//! that is not regular (`/dev/null`, a FIFO, a terminal) is written directly. A file that
//! is read is never written, under any name.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use weir_front::escape::escape;

use super::{fail, json, plain};
use crate::commands::Status;

/// Identifies a file, whatever name it is opened by.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

/// The regular files that are read.
static READ: OnceLock<Vec<(String, Identity)>> = OnceLock::new();

/// Records the inputs. Checks, before any work is done, that no output is an input and that no two
/// outputs are the same file.
///
/// # Errors
/// The file for which this fails.
pub fn check_targets(read: &[String], written: &[&Path]) -> Result<(), String> {
    let inputs = read.iter().filter_map(|name| Some((name.clone(), identity_of_input(name)?)));
    let inputs = READ.get_or_init(|| inputs.collect());
    let mut regular: Vec<(&Path, PathBuf)> = Vec::new();
    for path in written {
        if *path == Path::new("-") {
            return Err("`-` is not a file to write; `/dev/stdout` is standard output".to_owned());
        }
        let Ok(Target::Regular { path: target, old }) = Target::of(path) else { continue };
        refuse_input(inputs, path, &target, old.as_ref())?;
        if let Some((other, _)) = regular.iter().find(|(_, t)| *t == target) {
            let (path, other) = (path.display(), other.display());
            return Err(match path.to_string() == other.to_string() {
                true => format!("`{path}` cannot be written twice"),
                false => format!("`{other}` and `{path}` are one file, and two are written"),
            });
        }
        regular.push((path, target));
    }
    Ok(())
}

/// Writes a file that is read, whole or not at all.
pub fn rewrite(path: &Path, text: &str) -> Status {
    let written = Target::of(path).and_then(|target| match target {
        Target::Regular { path: target, old } => replace(&target, old.as_ref(), text),
        Target::Output | Target::Error | Target::Special => {
            Err(io::Error::other("it is not a regular file"))
        }
    });
    match written {
        Ok(()) => Status::Fine,
        Err(error) => fail(&format!("cannot write `{}`: {}", path.display(), plain(&error))),
    }
}

/// The most backups of a file.
const BACKUPS: usize = 10_000;

/// Writes a text to `FILE.orig`, or `FILE.orig.1` and so on if that is there: no older backup is
/// replaced. The name that it has.
pub fn write_backup(path: &Path, text: &str) -> Result<PathBuf, Status> {
    let name = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(".orig");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    for number in 0..BACKUPS {
        let backup = name(number);
        match write_new(&backup, text) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let shown = backup.display();
                return Err(fail(&format!("cannot write `{shown}`: {}", plain(&error))));
            }
        }
    }
    Err(fail(&format!("`{}` has {BACKUPS} backups", path.display())))
}

/// Writes a file that is not there, whole or not at all.
///
/// # Errors
/// If it is there, or cannot be written.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = folder(path);
    sweep(folder);
    let part = folder.join(part_name());
    // A link does not replace what is there, and a file system without links is asked to make a file
    // that is not there.
    let written = write_part(&part, None, text).and_then(|()| match fs::hard_link(&part, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_part(path, None, text),
        linked => linked,
    });
    let _ = fs::remove_file(&part);
    written
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> Status {
    let written = Target::of(path).map_err(|e| plain(&e)).and_then(|target| match target {
        Target::Regular { path: target, old } => {
            refuse_input(READ.get().map_or(&[], Vec::as_slice), path, &target, old.as_ref())?;
            replace(&target, old.as_ref(), text).map_err(|e| plain(&e))
        }
        Target::Output => through(&mut io::stdout().lock(), text),
        Target::Error => through(&mut io::stderr().lock(), text),
        Target::Special => {
            let file = OpenOptions::new().write(true).open(path);
            file.map_err(|e| plain(&e)).and_then(|mut file| through(&mut file, text))
        }
    });
    match written {
        Ok(()) => Status::Fine,
        Err(reason) => fail(&format!("cannot write `{}`: {reason}", path.display())),
    }
}

/// Writes a value to a file as a line of JSON.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Status {
    match json(value) {
        Ok(text) => write_whole(path, &(text + "\n")),
        Err(error) => fail(&format!("cannot write `{}`: {error}", path.display())),
    }
}

/// Where a name leads.
enum Target {
    /// A regular file, or none yet.
    Regular {
        /// Its name, which is no symbolic link.
        path: PathBuf,
        /// What is there.
        old: Option<Metadata>,
    },
    /// Standard output, whatever that is: a second handle on it would overwrite what is
    /// printed.
    Output,
    /// Standard error.
    Error,
    /// Something that is no file: `/dev/null`, a FIFO, a terminal.
    Special,
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        let old = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::Regular { path: end_of_links(path)?, old: None });
            }
            Err(error) => return Err(error),
        };
        if old.is_dir() {
            return Err(io::Error::other("it is a directory"));
        }
        let is = |stream: Option<Metadata>| {
            stream.is_some_and(|stream| identity(&stream, path) == identity(&old, path))
        };
        if cfg!(unix) && is(stream_metadata(&io::stdout())) {
            return Ok(Self::Output);
        }
        if cfg!(unix) && is(stream_metadata(&io::stderr())) {
            return Ok(Self::Error);
        }
        match old.is_file() {
            true => Ok(Self::Regular { path: fs::canonicalize(path)?, old: Some(old) }),
            false => Ok(Self::Special),
        }
    }
}

/// Where symbolic links lead that lead to nothing.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = folder(&path).join(next),
            Err(_) => {
                return Ok(folder(&path)
                    .canonicalize()?
                    .join(path.file_name().unwrap_or_default()));
            }
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata, _path: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata, path: &Path) -> Identity {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(unix)]
fn stream_metadata(stream: &impl std::os::fd::AsFd) -> Option<Metadata> {
    let copy = stream.as_fd().try_clone_to_owned().ok()?;
    File::from(copy).metadata().ok()
}

#[cfg(not(unix))]
fn stream_metadata<S>(_stream: &S) -> Option<Metadata> {
    None
}

/// Which regular file an input is; `-` is standard input.
fn identity_of_input(name: &str) -> Option<Identity> {
    let path = Path::new(name);
    let metadata = match name {
        "-" => stream_metadata(&io::stdin())?,
        _ => fs::metadata(path).ok()?,
    };
    metadata.is_file().then(|| identity(&metadata, path))
}

fn refuse_input(
    read: &[(String, Identity)],
    path: &Path,
    target: &Path,
    old: Option<&Metadata>,
) -> Result<(), String> {
    let Some(old) = old else { return Ok(()) };
    let this = identity(old, target);
    match read.iter().find(|(_, input)| *input == this) {
        None => Ok(()),
        Some((name, _)) if name == "-" => {
            Err(format!("`{}` is standard input and would be overwritten", path.display()))
        }
        Some((name, _)) => {
            Err(format!("`{}` is the input `{name}` and would be overwritten", path.display()))
        }
    }
}

/// Writes to what is open already or is no file.
fn through(to: &mut (impl Write + IsTerminal), text: &str) -> Result<(), String> {
    let text = if to.is_terminal() { escape(text) } else { text.into() };
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(|e| plain(&e))
}

/// Puts a new file in the place of an old one.
fn replace(target: &Path, old: Option<&Metadata>, text: &str) -> io::Result<()> {
    // A file that may not be written is not replaced either.
    if old.is_some() {
        OpenOptions::new().write(true).open(target)?;
    }
    let folder = folder(target);
    sweep(folder);
    let part = folder.join(part_name());
    let written = write_part(&part, old, text).and_then(|()| fs::rename(&part, target));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

fn write_part(part: &Path, old: Option<&Metadata>, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(part)?;
    file.write_all(text.as_bytes())?;
    if let Some(old) = old {
        keep_owner(&file, old);
        file.set_permissions(old.permissions())?;
    }
    // Some file systems say only now that there is no room.
    file.sync_all()
}

/// A file that is written in pieces: it has its name when it is finished, and not before. One that is
/// dropped before leaves nothing behind.
pub struct Pieces {
    out: BufWriter<File>,
    part: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl Pieces {
    /// Begins a file, which must not be one that is read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let Target::Regular { path: target, old } = Target::of(path)? else {
            return Err(io::Error::other("it is not a regular file"));
        };
        refuse_input(READ.get().map_or(&[], Vec::as_slice), path, &target, old.as_ref())
            .map_err(io::Error::other)?;
        let folder = folder(&target);
        sweep(folder);
        let part = folder.join(part_name());
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        let out = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { out, part, target, is_finished: false })
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If not everything can be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        fs::rename(&self.part, &self.target)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Gives a new file the owner of the old one, where that is allowed.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _old: &Metadata) {}

/// A name for a file that is being written: short, whatever the target is called, and
/// with the process that writes it.
fn part_name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".weir-{}-{}-{count}.tmp", processes(), std::process::id())
}

/// Identifies the machine or container in which process numbers are unique, and its boot: a folder
/// may be shared with others.
fn processes() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let space: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
    format!("{boot}.{space}")
}

/// Removes what processes that are gone did not finish writing, once for each folder.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let Ok(mut swept) = SWEPT.lock() else { return };
    if swept.iter().any(|s| s == folder) || !Path::new("/proc/self").exists() {
        return;
    }
    swept.push(folder.to_owned());
    let here = processes();
    // Where the machine does not tell which one it is, a file may be another's.
    if here.starts_with('.') {
        return;
    }
    let begin = format!(".weir-{here}-");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|n| n.strip_prefix(&begin)) else { continue };
        let Some((id, _)) = rest.strip_suffix(".tmp").and_then(|r| r.split_once('-')) else {
            continue;
        };
        let is_gone =
            |id: u32| id == std::process::id() || !Path::new("/proc").join(id.to_string()).exists();
        if id.parse().is_ok_and(is_gone) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
