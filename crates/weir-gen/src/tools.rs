//! What tests take from their environment: settings, and programs of others to compare with.

use std::path::Path;

/// Whether all of these programs are installed. If one is missing, prints that the test is
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
    println!("skipped: `{missing}` is not installed");
    false
}

/// The number in an environment variable, such as `WEIR_SEED` or `WEIR_CASES`.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}
