//! Searches with several workers: `weir` leaves them to another program, `weir-dist`, so that
//! `weir` itself does not depend on what they need.
//!
//! `weir-dist` is this program again, with an engine that has workers ([`run_with`]).

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use weir::ENGINES;
use weir::report::json::ClusterReport;
use weir_check::shards::{Folder, Manifest};
use weir_engine::{Engine, Explicit, Task, Views};

use crate::cli::Check;
pub use crate::cli::cluster::ClusterArgs;
use crate::output;
use crate::output::plain;

/// The name of the other program.
const PROGRAM: &str = "weir-dist";

/// An engine with workers.
pub struct Cluster {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Whether this process reports; the others only take part.
    pub reports: bool,
    /// What the workers did, for `--stats`.
    pub details: Box<dyn Fn() -> String + Send + Sync>,
    /// The same for JSON.
    pub stats: Box<dyn Fn() -> Option<ClusterReport> + Send + Sync>,
    /// What went wrong in the last search, if something did.
    pub fault: Box<dyn Fn() -> Option<String> + Send + Sync>,
    /// Writes the proof that some properties hold, in shards.
    pub write_shards: Box<WriteShards>,
}

/// Writes all configurations of a program in shards, as a proof of these properties. Every process
/// calls it.
pub type WriteShards =
    dyn Fn(Task<'_>, Vec<usize>, &dyn Folder) -> Result<Manifest, Unmade> + Send + Sync;

/// Why a proof was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmade {
    /// A limit was reached, or a process was lost.
    Unknown(String),
    /// A file cannot be written.
    Unwritten(String),
}

/// Makes an engine with workers: that of a name, `explicit` or `views`.
pub type Start = fn(&ClusterArgs, &'static str) -> Result<Cluster, String>;

static START: OnceLock<Start> = OnceLock::new();

/// Runs `weir` with these words, as [`run`](crate::run) does, with what makes engines with workers.
pub fn run_with(words: impl IntoIterator<Item = OsString>, start: Start) -> ExitCode {
    START.get_or_init(|| start);
    crate::run(words)
}

/// Whether this program has engines with workers.
pub fn is_here() -> bool {
    START.get().is_some()
}

/// The workers that `weir check` is to use, if it is to use any.
///
/// # Errors
/// If they cannot be used for this.
pub fn of(args: &Check) -> Result<Option<Cluster>, String> {
    let Some(start) = START.get().filter(|_| args.cluster.is_given()) else { return Ok(None) };
    let name = args.search.engine.name();
    let engine = match name == Views.name() {
        true => Views.name(),
        false => Explicit.name(),
    };
    if name != ENGINES[0].name() && name != engine {
        return Err(format!(
            "a search with several workers is done by the engine `explicit` or `views`, not by `{name}`"
        ));
    }
    if args.programs.files.len() != 1 || args.programs.is_expanded || args.models.models.len() > 1 {
        return Err(
            "a search with several workers is about one program and one memory model".to_owned()
        );
    }
    let has_shards = engine == Explicit.name();
    if let Some(path) = args.evidence.certificate.as_ref().filter(|_| has_shards)
        && path.exists()
        && !path.is_dir()
    {
        return Err(format!(
            "with several workers a proof is a folder of shards, and `{}` is a file",
            path.display()
        ));
    }
    if has_shards && args.evidence.verify && args.cluster.hosts.is_some() {
        return Err(
            "the shards of several machines are not verified by the search: `weir certify` checks them"
                .to_owned(),
        );
    }
    if args.programs.files[0] == "-" && args.cluster.processes.is_some_and(|n| n > 1) {
        return Err("several processes cannot read the program from standard input".to_owned());
    }
    start(&args.cluster, engine).map(Some)
}

/// Has the other program do what these words say.
pub fn delegate(words: &[OsString]) -> ExitCode {
    let beside = std::env::current_exe().ok().and_then(|path| {
        let path = path.with_file_name(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
        path.is_file().then_some(path)
    });
    let mut command = Command::new(beside.unwrap_or_else(|| PathBuf::from(PROGRAM)));
    command.args(words.get(1..).unwrap_or_default());
    let error = match start(&mut command) {
        Ok(status) => return status,
        Err(error) => error,
    };
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "a search with several workers needs the program `{PROGRAM}`, which is neither beside \
             `weir` nor in a folder of PATH; `cargo install --path crates/{PROGRAM}` installs it"
        ),
        _ => format!("cannot start `{PROGRAM}`: {}", plain(&error)),
    };
    output::fail(&message).into()
}

/// Becomes the other program, so that signals reach it.
#[cfg(unix)]
fn start(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> std::io::Result<ExitCode> {
    let status = command.status()?;
    Ok(u8::try_from(status.code().unwrap_or(3)).map_or(ExitCode::FAILURE, ExitCode::from))
}
