//! The tests in a program with the test harness of Rust: the harness lists them.
//!
//! A listing in JSON says in which line each test begins, and is not stable, so the short listing is there for a harness
//! that does not know it. No listing says which tests have to panic (`#[should_panic]`): the lines above the test do.

use crate::process::{self, Limits};
use crate::{Error, Test, symbols};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests of a program, with the symbols of their functions in the modules. Their sources are found from this folder or one
/// above it.
pub(crate) fn tests(
    program: &Path,
    crate_name: &str,
    modules: &[&str],
    folder: &Path,
    limits: Limits,
) -> Result<Vec<Test>, Error> {
    let mut tests = match listed(program, limits)? {
        Some(tests) => tests,
        None => {
            let ignored = list(program, &["--ignored"], limits)?;
            let test =
                |name: String| Test { ignored: ignored.contains(&name), name, ..Test::default() };
            list(program, &[], limits)?.into_iter().map(test).collect()
        }
    };
    let mut texts = HashMap::new();
    for test in &mut tests {
        let mut path = vec![crate_name];
        path.extend(test.name.split("::"));
        test.symbol = modules.iter().find_map(|module| symbols::function(module, &path));
        let Some((file, line)) = test.place.take() else { continue };
        let Some(file) = folder.ancestors().map(|above| above.join(&file)).find(|f| f.is_file())
        else {
            continue;
        };
        let text = texts
            .entry(file.clone())
            .or_insert_with(|| fs::read_to_string(&file).unwrap_or_default());
        test.panics = has_to_panic(text, line);
        test.place = Some((file, line));
    }
    Ok(tests)
}

/// The tests that the harness lists in JSON, if it can.
fn listed(program: &Path, limits: Limits) -> Result<Option<Vec<Test>>, Error> {
    let mut command = Command::new(program);
    command.args(["--list", "-Zunstable-options", "--format=json"]).env("RUSTC_BOOTSTRAP", "1");
    let ended = process::run(command, limits, None)?;
    if !ended.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&ended.stdout);
    let mut tests = Vec::new();
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return Ok(None) };
        if value["event"] != "discovered" || value["type"] != "test" {
            continue;
        }
        let Some(name) = value["name"].as_str() else { return Ok(None) };
        let place = value["source_path"].as_str().zip(value["start_line"].as_u64());
        tests.push(Test {
            name: name.to_owned(),
            ignored: value["ignore"] == true,
            place: place
                .and_then(|(file, line)| Some((PathBuf::from(file), usize::try_from(line).ok()?))),
            ..Test::default()
        });
    }
    Ok(Some(tests))
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

/// Whether the attributes of the test in this line, counted from 1, say that it has to panic: in the line itself, or in the
/// lines of attributes and comments above it.
fn has_to_panic(text: &str, line: usize) -> bool {
    const WORD: &str = "should_panic";
    let lines: Vec<&str> = text.lines().take(line).map(str::trim).collect();
    let Some((own, above)) = lines.split_last() else { return false };
    let is_attribute = |line: &&&str| {
        let is_item = line.contains("fn ") && !line.starts_with("//");
        line.is_empty() || line.starts_with("//") || line.contains("#[") && !is_item
    };
    let before_body = own.split('{').next().unwrap_or(own);
    let in_line = before_body.contains("#[should_panic") || before_body.contains("# [should_panic");
    let attributes = above.iter().rev().take_while(is_attribute);
    in_line || attributes.filter(|line| !line.starts_with("//")).any(|line| line.contains(WORD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_have_to_panic() {
        let text = "#[test]\n#[should_panic(expected = \"x\")]\n// why\nfn first() {}\n\n#[test]\nfn second() {}\n\
                    #[test] #[should_panic] fn third() {}\n// should_panic\n#[test]\nfn fourth() {}";
        let found: Vec<bool> = [4, 7, 8, 11].map(|line| has_to_panic(text, line)).to_vec();
        assert_eq!(found, [true, false, true, false]);
        assert!(!has_to_panic(text, 0) && !has_to_panic("", 9));
    }
}
