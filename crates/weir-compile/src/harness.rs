//! The tests in a program with the test harness of Rust: the harness lists them.

use crate::process::{self, Limits};
use crate::{Error, Test, symbols};
use std::path::Path;
use std::process::Command;

/// The tests of a program, with the symbols of their functions in the modules.
pub(crate) fn tests(
    program: &Path,
    crate_name: &str,
    modules: &[&str],
    limits: Limits,
) -> Result<Vec<Test>, Error> {
    let ignored = list(program, &["--ignored"], limits)?;
    let mut tests = Vec::new();
    for name in list(program, &[], limits)? {
        let mut path = vec![crate_name];
        path.extend(name.split("::"));
        let symbol = modules.iter().find_map(|module| symbols::function(module, &path));
        tests.push(Test { ignored: ignored.contains(&name), symbol, name });
    }
    Ok(tests)
}

/// The names that the harness lists.
fn list(program: &Path, options: &[&str], limits: Limits) -> Result<Vec<String>, Error> {
    let mut command = Command::new(program);
    command.args(["--list", "--format=terse"]).args(options);
    let ended = process::run(command, limits, None)?;
    if !ended.status.success() {
        return Err(Error::Failed {
            program: program.to_owned(),
            text: format!("cannot list its tests: {}", ended.text()),
        });
    }
    let text = String::from_utf8_lossy(&ended.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
