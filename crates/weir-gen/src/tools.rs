//! What tests take from their environment: settings, and programs of others to compare with.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Whether all of these programs are installed. If one is missing, [says](skip) that the test is
/// skipped.
///
/// # Panics
/// If one is missing and the environment variable `CI` is `true`: there, nothing is skipped.
pub fn are_installed(programs: &[&str]) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&paths).collect();
    let is_missing =
        |program: &&&str| !folders.iter().any(|f: &_| Path::join(f, program).is_file());
    let Some(missing) = programs.iter().find(is_missing) else { return true };
    let must = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!must, "`{missing}` is not installed, and CI is `true`");
    skip(&format!("`{missing}` is not installed"));
    false
}

/// The file that lists what was skipped, in the folder of what is built. `.ci/run` prints it.
const SKIPPED: &str = "skipped-tests";

/// Says why something was not tested: on standard error, also if the output of tests is captured, and
/// as a line of a file.
pub fn skip(why: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(why.to_owned()) {
        return;
    }
    let _ = writeln!(io::stderr(), "skipped: {why}");
    // Programs of tests are in `target/debug/deps`.
    let program = std::env::current_exe().unwrap_or_default();
    if let Some(target) = program.ancestors().nth(3) {
        let file = OpenOptions::new().create(true).append(true).open(target.join(SKIPPED));
        let _ = file.and_then(|mut file| file.write_all(format!("{why}\n").as_bytes()));
    }
}

/// Whether tests that take long are wanted: `WEIR_SLOW` is 1.
pub fn is_slow() -> bool {
    std::env::var_os("WEIR_SLOW").is_some_and(|value| value == "1")
}

/// The number in an environment variable, such as `WEIR_SEED` or `WEIR_CASES`.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}
