//! The crates that stand in for `std`, `loom`, `shuttle` and `kani`, compiled for one compiler.
//!
//! Their sources are part of this program. They are compiled when they are first needed, into a
//! folder whose name is a hash of the compiler's version, the sources and the options; the folder
//! is made under another name and renamed when it is complete, so that nobody ever sees half of it.
//! If the cache cannot be written, they are compiled into a temporary folder.
//!
//! `std` is given to a compiler by `--extern noprelude:std=…`: the crate that the compiler itself
//! names `std` is then ours. That option is unstable, and `RUSTC_BOOTSTRAP=1` allows it to a stable
//! compiler.

use crate::process::{self, Limits};
use crate::temporary::Folder;
use crate::{Error, Module, Tool, generics};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The files of a crate: their places, and their texts.
type Sources = &'static [(&'static str, &'static str)];

macro_rules! sources {
    ($($path:literal)+) => { &[$(($path, include_str!(concat!("../runtime/", $path)))),+] };
}

const SOURCES: Sources = sources! {
    "native/lib.rs"
    "std/lib.rs" "std/collections.rs" "std/env.rs" "std/hash.rs" "std/hint.rs" "std/macros.rs" "std/os.rs" "std/panic.rs" "std/prelude.rs"
    "std/process.rs" "std/sys.rs" "std/tasks.rs" "std/time.rs"
    "std/sync/mod.rs" "std/sync/barrier.rs" "std/sync/condvar.rs" "std/sync/lazy_lock.rs" "std/sync/mpsc.rs"
    "std/sync/mutex.rs" "std/sync/once.rs" "std/sync/once_lock.rs" "std/sync/rwlock.rs"
    "std/thread/mod.rs" "std/thread/builder.rs" "std/thread/handle.rs" "std/thread/local.rs" "std/thread/scoped.rs"
    "std/thread/start.rs"
    "weir/lib.rs" "kani/lib.rs"
    "loom/lib.rs" "loom/cell.rs" "loom/sync.rs" "loom/atomic.rs"
    "shuttle/lib.rs" "generics/lib.rs"
};

/// The script that Cargo runs in place of `rustc`.
pub(crate) const WRAPPER: &str = "wrapper.sh";
const WRAPPER_TEXT: &str = include_str!("../runtime/wrapper.sh");

/// The crates, in the order in which they are compiled. Those after `std` use it.
const CRATES: [&str; 7] = ["native", "std", "weir", "kani", "loom", "shuttle", "generics"];

/// The crates that a program can name.
pub(crate) const EXTERN: [&str; 4] = ["weir", "kani", "loom", "shuttle"];

/// The options that all crates are compiled with, also those of the user.
///
/// `share-generics=no` keeps what is generic in the module that uses it. `ub-checks=no` leaves out
/// tests of preconditions, which the reader of the module does itself. `overflow-checks` makes sums
/// that overflow fail, as in tests.
pub(crate) const FLAGS: &[&str] = &[
    "-Cpanic=abort",
    "-Coverflow-checks=on",
    "-Cdebug-assertions=on",
    "-Cdebuginfo=1",
    "-Ccodegen-units=1",
    "-Csymbol-mangling-version=v0",
    "-Zshare-generics=no",
    "-Zub-checks=no",
];

/// Compiled stand-ins.
#[derive(Debug)]
pub(crate) struct StandIn {
    folder: PathBuf,
    /// If the cache cannot be written.
    _temporary: Option<Folder>,
}

static ONE: Mutex<()> = Mutex::new(());

impl StandIn {
    /// Finds them in the cache, or compiles them.
    pub(crate) fn get(rustc: &Tool, cache: Option<&Path>) -> Result<StandIn, Error> {
        // One thread of this process compiles, and others find what it has compiled.
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(rustc);
        let cache = cache.map(Path::to_owned).or_else(default_cache);
        if let Some(cache) = &cache {
            let folder = cache.join(&key);
            if folder.join(COMPLETE).is_file() {
                return Ok(StandIn { folder, _temporary: None });
            }
            let writable = fs::create_dir_all(cache).is_ok();
            if let Some(made) = writable.then(|| Folder::inside(cache)).and_then(Result::ok) {
                build(rustc, made.path())?;
                // If somebody else was quicker, theirs is the same. One that lost a file is of no
                // use.
                if folder.exists() && !folder.join(COMPLETE).is_file() {
                    let _ = fs::remove_dir_all(&folder);
                }
                if made.move_to(&folder) || folder.join(COMPLETE).is_file() {
                    return Ok(StandIn { folder, _temporary: None });
                }
            }
        }
        let made = Folder::new()?;
        build(rustc, made.path())?;
        Ok(StandIn { folder: made.path().to_owned(), _temporary: Some(made) })
    }

    /// Where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The options that give `std` to a compiler.
    pub(crate) fn flags(&self) -> Vec<OsString> {
        let mut std = OsString::from("noprelude:std=");
        std.push(self.folder.join("libstd.rlib"));
        let mut dependencies = OsString::from("dependency=");
        dependencies.push(&self.folder);
        vec!["-Zunstable-options".into(), "--extern".into(), std, "-L".into(), dependencies]
    }

    /// The option that makes one of the other crates known.
    pub(crate) fn library(&self, name: &str) -> OsString {
        let mut text = OsString::from(format!("{name}="));
        text.push(self.folder.join(format!("lib{name}.rlib")));
        text
    }

    /// The modules of the stand-ins, to be joined with that of a program.
    pub(crate) fn modules(&self) -> Result<Vec<Module>, Error> {
        let read = |(name, path): (&str, PathBuf)| {
            let text = fs::read_to_string(&path).map_err(|e| Error::file(path, &e))?;
            Ok(Module { name: name.to_owned(), text })
        };
        self.files().map(read).collect()
    }

    /// The names and the files of these modules.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let crates = CRATES.into_iter().filter(|name| *name != "native");
        crates.map(|name| (name, self.folder.join(format!("{name}.ll"))))
    }

    /// Whether they have been compiled for this compiler.
    pub(crate) fn is_there(rustc: &Tool, cache: Option<&Path>) -> bool {
        let cache = cache.map(Path::to_owned).or_else(default_cache);
        cache.is_some_and(|cache| cache.join(key(rustc)).join(COMPLETE).is_file())
    }
}

/// A file that is there when all others are.
const COMPLETE: &str = "complete";

/// `$XDG_CACHE_HOME/weir`, or `.cache/weir` at home.
pub(crate) fn default_cache() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("weir"))
}

/// A name for the compiler, the sources and the options.
fn key(rustc: &Tool) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(&rustc.text);
    FLAGS.iter().copied().for_each(&mut add);
    add(WRAPPER_TEXT);
    for (path, text) in SOURCES {
        add(path);
        add(text);
    }
    let hash = hash.finalize();
    let hex: String = hash.iter().take(10).map(|byte| format!("{byte:02x}")).collect();
    format!("rust-{}-{hex}", rustc.version)
}

/// Compiles all crates into a folder.
fn build(rustc: &Tool, folder: &Path) -> Result<(), Error> {
    let sources = folder.join("src");
    for (path, text) in SOURCES {
        let path = sources.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| Error::file(parent, &e))?;
        }
        fs::write(&path, text).map_err(|e| Error::file(&path, &e))?;
    }
    let made = StandIn { folder: folder.to_owned(), _temporary: None };
    for name in CRATES {
        let mut command = rustc_command(rustc);
        command.args(["--edition=2024", "--crate-type=rlib", "--cap-lints=allow"]);
        command.args(["-Cmetadata=weir", "-Copt-level=0"]).arg("--out-dir").arg(folder);
        let mut crate_name = name;
        if name == "native" {
            crate_name = "weir_native";
            command.arg("--emit=link");
        } else {
            // Where it was compiled is of no interest, and the cache would depend on it.
            let mut remap = OsString::from("--remap-path-prefix=");
            remap.push(&sources);
            remap.push("=/weir");
            command.arg(remap).args(FLAGS).arg("--emit=llvm-ir,link");
            if name == "std" {
                command.arg("--extern").arg(made.library("weir_native"));
            } else {
                command.args(made.flags());
                if name == "kani" || name == "loom" || name == "shuttle" {
                    command.arg("--extern").arg(made.library("weir"));
                }
            }
        }
        command.arg(format!("--crate-name={crate_name}")).arg(sources.join(name).join("lib.rs"));
        let ended = process::run(command, Limits::default(), None)?;
        if !ended.status.success() {
            let text = format!("cannot compile the stand-in for `{name}`:\n{}", ended.text());
            return Err(Error::Failed { program: rustc.path.clone(), text });
        }
    }
    let path = folder.join("generics.ll");
    let text = fs::read_to_string(&path).map_err(|e| Error::file(&path, &e))?;
    fs::write(&path, generics::complete(&text)).map_err(|e| Error::file(path, &e))?;
    let wrapper = folder.join(WRAPPER);
    fs::write(&wrapper, WRAPPER_TEXT)
        .and_then(|()| executable(&wrapper))
        .map_err(|e| Error::file(wrapper, &e))?;
    let complete = folder.join(COMPLETE);
    fs::write(&complete, &rustc.text).map_err(|e| Error::file(complete, &e))
}

/// A compiler that accepts unstable options. Flags for other programs are not inherited.
pub(crate) fn rustc_command(rustc: &Tool) -> Command {
    let mut command = Command::new(&rustc.path);
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WRAPPER")
        .env("LC_ALL", "C");
    command
}

#[cfg(unix)]
fn executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
