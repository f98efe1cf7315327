//! Builds the C programs of litmus tests and runs them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use weir_front::litmus::native::Native;
use weir_model::limits::{Budget, Stop};

use crate::process::{self, NotEnded};

/// Why a test was not run.
pub enum NotRun {
    /// It cannot be run here.
    Failed(String),
    /// A limit was reached.
    Stopped(Stop),
}

/// How often each final state was observed: the values of the program's atoms.
pub type Histogram = BTreeMap<Vec<i128>, u64>;

/// Whether tests can be run on this kind of machine at all.
///
/// # Errors
/// Why not.
pub fn can_run() -> Result<(), String> {
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Ok(());
    }
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    Err(format!("litmus tests are run on x86_64 with Linux; this is {arch} with {os}"))
}

/// The number of processors that threads can run on.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A directory for programs, which is removed in the end.
pub struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// A new directory.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> Result<Self, String> {
        let name = format!("weir-litmus-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match fs::create_dir(&folder) {
            Ok(()) => Ok(Self { folder }),
            Err(error) => Err(format!("cannot make `{}`: {error}", folder.display())),
        }
    }

    /// Builds a test and runs it this often.
    pub fn run(
        &self,
        native: &Native,
        instances: u64,
        seed: u64,
        budget: &Budget,
    ) -> Result<Histogram, NotRun> {
        let program = self.build(native, budget)?;
        let mut command = Command::new(&program);
        command.args([instances.to_string(), seed.to_string()]);
        let text = output(command, "the program of the test", budget)?;
        histogram(&text, native.atoms.len(), instances).ok_or_else(|| {
            NotRun::Failed("the program of the test printed something else than counts".to_owned())
        })
    }

    fn build(&self, native: &Native, budget: &Budget) -> Result<PathBuf, NotRun> {
        let (source, program) = (self.folder.join("test.c"), self.folder.join("test"));
        fs::write(&source, &native.text).map_err(|error| {
            NotRun::Failed(format!("cannot write `{}`: {error}", source.display()))
        })?;
        let mut command = Command::new("cc");
        command.args(["-O2", "-pthread", "-o"]).args([&program, &source]);
        output(command, "`cc`", budget)?;
        Ok(program)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a command prints. It is ended when a limit is reached.
fn output(mut command: Command, what: &str, budget: &Budget) -> Result<String, NotRun> {
    let ended =
        process::run(&mut command, None, || budget.check(), Duration::ZERO).map_err(|error| {
            match error {
                NotEnded::Stopped(stop) => NotRun::Stopped(stop),
                NotEnded::Failed(error) if error.kind() == io::ErrorKind::NotFound => {
                    let message = "which is not installed";
                    NotRun::Failed(format!(
                        "running a litmus test needs {what}, a C compiler, {message}"
                    ))
                }
                NotEnded::Failed(error) => NotRun::Failed(format!("cannot run {what}: {error}")),
            }
        })?;
    match ended.status.success() {
        true => Ok(ended.out),
        false => Err(NotRun::Failed(format!("{what} failed: {}", ended.err.trim()))),
    }
}

/// What a program printed: lines with a count and values. All instances have to be there.
fn histogram(text: &str, atoms: usize, instances: u64) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let count: u64 = words.next()?.parse().ok()?;
        let values: Option<Vec<i128>> = words.map(|word| word.parse().ok()).collect();
        let mut values = values?;
        // A program that observes nothing prints one value all the same.
        if values.len() != atoms.max(1) {
            return None;
        }
        values.truncate(atoms);
        *histogram.entry(values).or_default() += count;
    }
    (histogram.values().sum::<u64>() == instances).then_some(histogram)
}

/// The file name of a test's C program.
pub fn file_name(test: &str) -> String {
    let stem = Path::new(test).file_stem().map_or(test.into(), |stem| stem.to_string_lossy());
    format!("{stem}.c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_complete() {
        let found = histogram("3 0 -1\n4 1 0\n", 2, 7).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(vec![0, -1], 3), (vec![1, 0], 4)]);
        assert_eq!(histogram("3 0 1\n", 2, 7), None, "instances are missing");
        assert_eq!(histogram("7 0\n", 2, 7), None, "a value is missing");
        assert_eq!(histogram("7 0\n", 0, 7).unwrap(), Histogram::from([(vec![], 7)]));
    }
}
