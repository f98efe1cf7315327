//! One measured run: a process of its own, with limits.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir::{Engine, Limits, MemoryModel};

/// The first word with which this program is `weir`.
pub const AS_WEIR: &str = "--weir";

/// A `weir` to run.
#[derive(Clone, Debug)]
pub struct Weir {
    path: PathBuf,
    /// Whether it is a `weir-bench`, which is `weir` only if told so.
    is_bench: bool,
    /// Whether it can be told how many threads to use.
    has_threads: bool,
}

impl Weir {
    /// That of this build.
    pub fn this() -> Result<Self, String> {
        let path = std::env::current_exe().map_err(|e| format!("where is this program? {e}"))?;
        Ok(Self { path, is_bench: true, has_threads: true })
    }

    /// Another one, which may be a `weir-bench` by its name.
    pub fn other(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_bench = name.starts_with("weir-bench");
        let mut other = Self { path: path.to_owned(), is_bench, has_threads: false };
        let help = other.command().args(["check", "--help"]).output();
        other.has_threads =
            help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--threads"));
        other
    }

    /// A command that is this `weir`.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.is_bench.then_some(AS_WEIR));
        command
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the program is called in tables.
    pub name: String,
    /// The program.
    pub file: PathBuf,
    /// The memory model.
    pub model: MemoryModel,
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The bound on buffers, where not the usual one.
    pub bound: Option<u16>,
}

/// How long a measured process may search. Every one has a limit.
pub fn timeout(limits: &Limits) -> Duration {
    limits.time.unwrap_or(Duration::MAX)
}

/// The most MiB of configurations that a measured process may store.
pub fn mebibytes(limits: &Limits) -> usize {
    limits.memory.unwrap_or(usize::MAX) >> 20
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The engine that answered last.
    pub answered: String,
    /// What became of each property.
    pub verdicts: Vec<String>,
    /// Whether every configuration was seen.
    pub exact: bool,
    /// Configurations stored.
    pub configurations: u64,
    /// How long the search took.
    pub seconds: f64,
    /// The most MiB that the process had.
    pub peak: Option<f64>,
    /// Seconds of the whole process, where they were measured.
    pub process: Option<Seconds>,
}

/// How long a process took, from its start to its end.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// Wall time.
    pub wall: f64,
    /// User time of all threads, to 0.01 s, where the system tells it.
    pub user: Option<f64>,
}

/// What a process left behind.
pub struct Left {
    /// The exit status, unless a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// How long it took.
    pub seconds: Seconds,
}

/// How long a process may take to read, to free memory and to print, on top of its
/// search.
pub const SLACK: Duration = Duration::from_secs(30);

impl Job {
    /// What is asked of a program, with no limit on time.
    fn arguments(&self, weir: &Weir, limits: &Limits) -> Command {
        let memory = mebibytes(limits);
        let mut command = weir.command();
        if weir.has_threads {
            command.args(["--threads", &limits.threads.to_string()]);
        }
        command.args(["check", "--format", "json", "--model", &self.model.to_string()]);
        command.args(["--engine", self.engine.name(), "--memory", &memory.to_string()]);
        if let Some(bound) = self.bound {
            command.args(["--bound", &bound.to_string()]);
        }
        command
    }

    /// The search, with all limits. More options may be added, and then the file.
    pub fn search(&self, weir: &Weir, limits: &Limits) -> Command {
        let mut command = self.arguments(weir, limits);
        command.args(["--timeout", &timeout(limits).as_secs_f64().to_string()]);
        command
    }

    /// Runs it once.
    pub fn measure(&self, weir: &Weir, limits: &Limits) -> Result<Measured, String> {
        let mut command = self.search(weir, limits);
        command.arg("--").arg(&self.file);
        let left = finish(&mut command, timeout(limits).saturating_add(SLACK))?;
        Measured::read(&left).ok_or_else(|| match left.err.trim() {
            "" => format!("`{}` printed no answer of `{}`", weir.path.display(), self.name),
            said => {
                let first = said.lines().next().unwrap_or_default();
                first.strip_prefix("error: ").unwrap_or(first).to_owned()
            }
        })
    }

    /// Runs it up to `runs` times and takes the run with the median time. One that
    /// takes long is not repeated.
    pub fn median(&self, weir: &Weir, limits: &Limits, runs: u32) -> Result<Measured, String> {
        let mut all = vec![self.measure(weir, limits)?];
        while all.len() < runs as usize && all[0].seconds < LONG {
            all.push(self.measure(weir, limits)?);
        }
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(all.swap_remove(all.len() / 2))
    }

    /// The instructions of a run, counted by Valgrind. There is no limit on the time
    /// of the search, and nothing of the environment: they would change the count.
    pub fn instructions(&self, weir: &Weir, limits: &Limits) -> Option<u64> {
        let inner = self.arguments(weir, limits);
        let mut command = Command::new("valgrind");
        command.args(["--tool=cachegrind", "--cache-sim=no", "--branch-sim=no"]);
        command.args(["--cachegrind-out-file=/dev/null", "--log-fd=1"]);
        command.arg(&weir.path).args(inner.get_args()).arg("--").arg(&self.file);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let left = finish(&mut command, timeout(limits).saturating_mul(4).saturating_add(SLACK));
        count(&left.ok()?.out)
    }
}

/// A run that takes more seconds is not repeated.
pub const LONG: f64 = 2.0;

/// The count in what Valgrind prints: `==42== I   refs:      1,234`.
fn count(text: &str) -> Option<u64> {
    let line = text.lines().rev().find(|l| l.starts_with("==") && l.contains("refs:"))?;
    let digits: String = line.split_once("refs:")?.1.chars().filter(|c| *c != ',').collect();
    digits.trim().parse().ok()
}

impl Measured {
    /// From what `weir check --format json` prints.
    fn read(left: &Left) -> Option<Self> {
        let report: Value = serde_json::from_str(&left.out).ok()?;
        let verdict = |p: &Value| p["verdict"].as_str().map(str::to_owned);
        let stats = &report["findings"][0]["statistics"];
        Some(Self {
            answered: stats["engine"].as_str()?.to_owned(),
            verdicts: report["findings"].as_array()?.iter().map(verdict).collect::<Option<_>>()?,
            exact: stats["exact"].as_bool()?,
            configurations: stats["configurations"].as_u64()?,
            seconds: stats["seconds"].as_f64()?,
            peak: stats["peak"].as_f64().map(|bytes| bytes / f64::from(1 << 20)),
            process: Some(left.seconds),
        })
    }

    /// Whether every property got an answer.
    pub fn is_known(&self) -> bool {
        !self.verdicts.iter().any(|v| v == "unknown")
    }
}

/// Runs a process to its end, or ends it when patience is over.
pub fn finish(command: &mut Command, patience: Duration) -> Result<Left, String> {
    finish_with(command, patience, |_| {})
}

/// The same for a process that starts others, which have to end with it. They do not
/// hear an interrupt from the terminal, so this is for what does not take long.
pub fn finish_all(command: &mut Command, patience: Duration) -> Result<Left, String> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    finish_with(command, patience, |leader| {
        let group = format!("-{leader}");
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    })
}

fn finish_with(
    command: &mut Command,
    patience: Duration,
    end_others: impl FnOnce(u32),
) -> Result<Left, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (began, before) = (Instant::now(), user_time());
    let mut child = command.spawn().map_err(|e| format!("cannot run `{name}`: {e}"))?;
    let (done, ended) = mpsc::channel::<()>();
    let out = child.stdout.take().map(|from| thread::spawn(move || (text(from), drop(done)).0));
    let err = child.stderr.take().map(|from| thread::spawn(move || text(from)));
    // The channel closes when standard output does.
    let late = ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
    if late {
        end_others(child.id());
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| format!("cannot wait for `{name}`: {e}"))?;
    let joined = |t: Option<thread::JoinHandle<String>>| t.and_then(|t| t.join().ok());
    let (out, err) = (joined(out).unwrap_or_default(), joined(err).unwrap_or_default());
    if late {
        return Err(format!("`{name}` did not end within {} s", patience.as_secs()));
    }
    let user = user_time().zip(before).map(|(now, before)| now - before);
    let seconds = Seconds { wall: began.elapsed().as_secs_f64(), user };
    Ok(Left { code: status.code(), out, err, seconds })
}

/// Seconds of user time of all child processes that have ended. Linux says it in `cutime`, the
/// sixteenth field of `/proc/self/stat`, in hundredths of a second.
fn user_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in parentheses, which may have spaces in it.
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(13)?.parse().ok()?;
    Some(ticks / 100.0)
}

/// Runs a command up to `runs` times: the shortest wall time, and what it printed. Returns
/// nothing if it fails or takes more than `longest`. A run of more than 1 s is not repeated.
pub fn shortest(
    command: impl Fn() -> Command,
    longest: Duration,
    runs: u32,
) -> Option<(f64, String)> {
    let mut best: Option<(f64, String)> = None;
    for _ in 0..runs {
        let left = finish(&mut command(), longest.saturating_add(SLACK)).ok()?;
        let seconds = left.seconds.wall;
        if !matches!(left.code, Some(0 | 1)) || seconds > longest.as_secs_f64() {
            return None;
        }
        if best.as_ref().is_none_or(|(known, _)| seconds < *known) {
            best = Some((seconds, left.out));
        }
        if seconds > 1.0 {
            break;
        }
    }
    best
}

fn text(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a program is installed.
pub fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// A folder for files that are not kept.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new one.
    pub fn new(name: &str) -> Result<Self, String> {
        // Others may write to the folder of temporary files: a folder that is there
        // already may be theirs.
        for count in 0..100 {
            let folder = format!("weir-bench-{}-{name}-{count}", std::process::id());
            let path = std::env::temp_dir().join(folder);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(format!("cannot make `{}`: {e}", path.display())),
            }
        }
        Err(format!("cannot make a folder in `{}`", std::env::temp_dir().display()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        std::fs::write(&path, text)
            .map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts() {
        let text = "{\"a\":1}\n==7== \n==7== I   refs:      74,762,478\n";
        assert_eq!(super::count(text), Some(74_762_478));
        assert_eq!(super::count("==7== nothing"), None);
    }
}
