//! One file of Rust, by `rustc`.
//!
//! A file with a function `main` is a program. One with tests and without `main` is compiled with
//! the test harness, and each test is a program; any other one is a library, all of whose functions
//! are kept.

use crate::stand_in::{self, StandIn};
use crate::temporary::Folder;
use crate::{Compiled, Error, Kind, Level, Module, Options, Tools, join, process, symbols};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a file is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Program,
    Tests,
    Library,
}

/// The name of the crate, whatever the file is called.
const CRATE: &str = "program";

/// Compiles a text, which comes on standard input: what is compiled is what Weir has read.
pub(crate) fn compile(
    file: &Path,
    text: &str,
    tools: &Tools,
    options: &Options,
) -> Result<Compiled, Error> {
    let rustc = tools.get(Kind::Rust)?;
    let stand_in = StandIn::get(&rustc, options.cache.as_deref())?;
    let folder = Folder::new()?;
    let form = form(text);
    let module = folder.path().join("module.ll");
    let program = folder.path().join("program");

    let reads = folder.path().join("reads.d");
    let mut emit = OsString::from("--emit=dep-info=");
    emit.push(&reads);
    emit.push(",llvm-ir=");
    emit.push(&module);
    if form == Form::Tests {
        // The names of tests are what the harness says.
        emit.push(",link=");
        emit.push(&program);
    }
    let mut command = command(&rustc, &stand_in, form, options, folder.path(), emit);
    command.arg("-");
    // A program is the same whatever its file is called, also where things are in memory.
    command.arg("-Zlocation-detail=none");
    // The compiler gives a text these names, for tests in documentation. What it includes is looked for beside them.
    command.env("UNSTABLE_RUSTDOC_TEST_PATH", file).env("UNSTABLE_RUSTDOC_TEST_LINE", "0");
    let line = crate::line(&command);
    let ended =
        process::run_with(command, Some(text.to_owned()), options.limits, Some(folder.path()))?;
    if !ended.status.success() {
        return Err(crate::rejected(&rustc.path, &ended));
    }
    let text = fs::read_to_string(&module).map_err(|e| Error::file(&module, &e))?;
    let entry =
        (form == Form::Program).then(|| symbols::function(&text, &[CRATE, "main"])).flatten();
    let tests = match form {
        Form::Tests => {
            let here = Path::new("");
            crate::harness::tests(&program, CRATE, &[&text], here, options.limits)?
        }
        _ => Vec::new(),
    };
    let mut modules = vec![Module { name: file.display().to_string(), text }];
    modules.extend(stand_in.modules()?);
    let modules = join::only_needed(modules);
    let reads = fs::read_to_string(&reads).map(|text| crate::dependencies(&text));
    let reads = reads.unwrap_or_default();
    Ok(Compiled {
        modules,
        entry,
        tests,
        reads,
        tool: rustc,
        command: line,
        warnings: ended.text(),
    })
}

/// Compiles a source to a program that runs here, with real threads.
pub(crate) fn native(
    source: &Path,
    output: &Path,
    tools: &Tools,
    options: &Options,
) -> Result<(), Error> {
    let rustc = tools.get(Kind::Rust)?;
    let text = fs::read_to_string(source).map_err(|e| Error::file(source, &e))?;
    let stand_in = StandIn::get(&rustc, options.cache.as_deref())?;
    let folder = Folder::new()?;
    let program = folder.path().join("program");
    let mut emit = OsString::from("--emit=link=");
    emit.push(&program);
    let mut command = command(&rustc, &stand_in, form(&text), options, folder.path(), emit);
    command.arg("--").arg(source);
    let ended = process::run(command, options.limits, Some(folder.path()))?;
    if !ended.status.success() {
        return Err(crate::rejected(&rustc.path, &ended));
    }
    crate::put(&program, output)
}

fn command(
    rustc: &crate::Tool,
    stand_in: &StandIn,
    form: Form,
    options: &Options,
    folder: &Path,
    emit: OsString,
) -> Command {
    let mut command = stand_in::rustc_command(rustc);
    command.env("TMPDIR", folder);
    // Otherwise the current folder has them, under names that another compiler may use at the same time.
    let mut temporary = OsString::from("-Ztemps-dir=");
    temporary.push(folder);
    command.arg(temporary);
    command.arg(format!("--crate-name={CRATE}"));
    let has =
        |name: &str| options.flags.iter().any(|flag| flag.to_string_lossy().starts_with(name));
    if !has("--edition") {
        command.arg(format!("--edition={}", options.standard.as_deref().unwrap_or("2021")));
    }
    match form {
        Form::Program => drop(command.arg("--crate-type=bin")),
        Form::Tests => drop(command.args(["--test", "-Zpanic-abort-tests"])),
        Form::Library => drop(command.args(["--crate-type=lib", "-Clink-dead-code=yes"])),
    }
    // Lints are errors in some sources, and what they are about is of no interest here. Warnings of
    // the stand-in do not exist.
    command.arg("--cap-lints=warn");
    for define in &options.defines {
        command.arg("--cfg").arg(define);
    }
    for name in stand_in::EXTERN {
        command.arg("--extern").arg(stand_in.library(name));
    }
    command.args(&options.flags).args(stand_in::FLAGS).args(stand_in.flags());
    command.arg(level(options.level));
    command.args(if options.level == Level::Optimized { OPTIMIZED } else { &[] });
    command.arg(emit).arg("--color=never");
    command
}

/// An optimizer that makes no vectors.
const OPTIMIZED: &[&str] = &["-Cno-vectorize-loops", "-Cno-vectorize-slp"];

pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Source => "-Copt-level=0",
        Level::Optimized => "-Copt-level=1",
    }
}

/// What a text is. Comments and strings are left out, as far as that can be seen line by line; a
/// wrong guess leads to an error of the compiler.
fn form(text: &str) -> Form {
    let mut tests = false;
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with("//") {
            continue;
        }
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|w| !w.is_empty())
            .collect();
        if words.windows(2).any(|w| w == ["fn", "main"]) || line.starts_with("include!") {
            return Form::Program;
        }
        tests |= line.starts_with("#[test]");
    }
    if tests { Form::Tests } else { Form::Library }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(form("// fn main\nfn other() {}"), Form::Library);
        assert_eq!(form("#[test]\nfn a() {}"), Form::Tests);
        assert_eq!(form("#[test]\nfn a() {}\npub fn main() {}"), Form::Program);
        assert_eq!(form("const A: u8 = 1;\ninclude!(\"other.rs\");"), Form::Program);
    }
}
