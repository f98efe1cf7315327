//! Compiles C, C++ and Rust to the intermediate representation of LLVM, with the compilers that are
//! installed.
//!
//! ```text
//!  .c  ──> clang ────┐
//!  .cc ──> clang++ ──┼──> modules as text ──> a reader of modules
//!  .rs ──> rustc ────┘
//! ```
//!
//! * [`Tools`] finds compilers and says which of them are supported.
//! * [`compile`] compiles one file. The result has all modules that have to be read, and says where
//!   the program begins.
//! * [`package`](mod@package) builds the tests of a Cargo package, with a module for every crate of
//!   its graph.
//! * [`database`] compiles the sources of a project in C or C++, and can take the place of clang in
//!   a build.
//! * [`native`] compiles a file of Rust to a program that runs here, for comparison.
//!
//! # Rust
//! The standard library cannot be analyzed as it is: it calls the operating system to start threads
//! and to wait. A crate of this one (`runtime/std`) stands in for it. It re-exports the real one
//! and replaces what concerns threads, waiting, time and output; all of that is written with
//! sixteen functions, `weir_…`, whose meaning the reader knows (`runtime/std/sys.rs`). They have
//! native bodies as well (`runtime/native`), so what is analyzed can also be run. Crates that stand
//! in for `loom` and `shuttle` have the types of that `std`; their `model(f)` calls `f` once, since
//! it is Weir that finds all runs.
//!
//! # Limits
//! A compiler runs in a process group of its own, with a limit on time and on what it writes
//! ([`Limits`]), and with a temporary folder that is removed. Its errors are returned as they are
//! ([`Error::Rejected`]).
//!
//! ```no_run
//! use weir_compile::{Options, Tools, compile};
//!
//! let compiled = compile("queue.cpp".as_ref(), &Tools::default(), &Options::default())?;
//! println!("{} begins at {:?}", compiled.modules[0].name, compiled.entry);
//! # Ok::<(), weir_compile::Error>(())
//! ```

mod clang;
pub mod database;
mod error;
mod generics;
mod harness;
mod join;
pub mod package;
mod process;
mod prune;
mod rust;
mod stand_in;
mod symbols;
mod temporary;
mod tools;

pub use error::Error;
pub use process::Limits;
pub use temporary::Folder;
pub use tools::{Kind, LLVM, Names, RUSTC, Row, Tool, Tools};

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much the compiler optimizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Not at all: the module says what the source says. For questions about the language.
    #[default]
    Source,
    /// A little: the module is what a compiler makes of the source. Accesses that are not atomic
    /// may be gone or moved.
    Optimized,
}

/// How a file is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much the compiler optimizes.
    pub level: Level,
    /// `-D` for C and C++, such as `N=3`; `--cfg` for Rust.
    pub defines: Vec<String>,
    /// `-I` for C and C++.
    pub includes: Vec<PathBuf>,
    /// `-std` for C and C++, such as `c++20`; the edition for Rust.
    pub standard: Option<String>,
    /// More options for the compiler.
    pub flags: Vec<OsString>,
    /// Limits on each run of a compiler.
    pub limits: Limits,
    /// Where what is compiled once is kept: by default `$XDG_CACHE_HOME/weir`, or `~/.cache/weir`.
    pub cache: Option<PathBuf>,
}

/// A module in the intermediate representation of LLVM, as text.
#[derive(Clone, Debug)]
pub struct Module {
    /// The source, or the name of the crate that it is from.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A test of Rust, which is a program of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// Its path in its crate, such as `tests::first`.
    pub name: String,
    /// The symbol of its function, if a module has it.
    pub symbol: Option<String>,
    /// Whether it is left out unless it is asked for.
    pub ignored: bool,
    /// Whether it passes if it panics.
    pub panics: bool,
    /// The file and the line, from 1, in which it begins, if the harness tells.
    pub place: Option<(PathBuf, usize)>,
}

/// What a compiler has made of a file.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The modules, to be joined by symbol. The first one is that of the file.
    pub modules: Vec<Module>,
    /// The symbol of the function that the program begins with. A library has none.
    pub entry: Option<String>,
    /// The tests in it, if it has no such function.
    pub tests: Vec<Test>,
    /// The files that the compiler has read, besides the source itself.
    pub reads: Vec<PathBuf>,
    /// The compiler.
    pub tool: Tool,
    /// The command that was run.
    pub command: Vec<OsString>,
    /// What the compiler wrote.
    pub warnings: String,
}

/// The kind of compiler for a file, by its ending.
///
/// # Errors
/// If the ending is of no language that is compiled.
pub fn kind_of(source: &Path) -> Result<Kind, Error> {
    match source.extension().and_then(|e| e.to_str()) {
        Some("c") => Ok(Kind::C),
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "CPP") => Ok(Kind::Cpp),
        Some("rs") => Ok(Kind::Rust),
        _ => {
            let text = format!(
                "{}: no compiler is known for this ending (.c, .cc, .cpp, .cxx, .rs)",
                source.display()
            );
            Err(Error::Unsupported(text))
        }
    }
}

/// Compiles a file of C, C++ or Rust.
///
/// # Errors
/// If there is no compiler, or it rejects the file, or a limit is reached.
pub fn compile(source: &Path, tools: &Tools, options: &Options) -> Result<Compiled, Error> {
    let text = fs::read_to_string(source).map_err(|e| Error::file(source, &e))?;
    compile_text(kind_of(source)?, source, &text, tools, options)
}

/// Compiles a text in C, C++ or Rust as if the file of this name held it: what it includes is looked for beside that file,
/// which need not be there.
///
/// # Errors
/// If there is no compiler, or it rejects the text, or a limit is reached.
pub fn compile_text(
    kind: Kind,
    name: &Path,
    text: &str,
    tools: &Tools,
    options: &Options,
) -> Result<Compiled, Error> {
    match kind {
        Kind::C | Kind::Cpp => clang::compile(kind, name, text, tools, options),
        Kind::Rust | Kind::Cargo => rust::compile(name, text, tools, options),
    }
}

/// The folder of a file, if it is not the current one.
fn folder_of(file: &Path) -> Option<&Path> {
    file.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// Compiles a file of Rust to a program that runs here, with real threads and the same stand-in for
/// `std`.
///
/// # Errors
/// If there is no compiler, or it rejects the file, or a limit is reached.
pub fn native(source: &Path, output: &Path, tools: &Tools, options: &Options) -> Result<(), Error> {
    match kind_of(source)? {
        Kind::Rust => rust::native(source, output, tools, options),
        _ => Err(Error::Unsupported(format!(
            "{}: only programs in Rust are built to run",
            source.display()
        ))),
    }
}

/// The error for a compiler that has ended without success.
fn rejected(program: &Path, ended: &process::Ended) -> Error {
    let text = ended.text();
    let text = if text.trim().is_empty() { ended.status.to_string() } else { text };
    Error::Rejected { program: program.to_owned(), text }
}

/// The words of a command.
fn line(command: &Command) -> Vec<OsString> {
    std::iter::once(command.get_program()).chain(command.get_args()).map(OsString::from).collect()
}

/// The files that a text for `make` names as what a target depends on.
fn dependencies(text: &str) -> Vec<PathBuf> {
    let Some((_, files)) = text.split_once(": ") else { return Vec::new() };
    // The first line that has no backslash at its end ends the rule.
    let mut files = files.replace("\\\n", " ");
    files.truncate(files.find('\n').unwrap_or(files.len()));
    let words = files.replace("\\ ", "\0");
    let words = words.split_whitespace().map(|word| PathBuf::from(word.replace('\0', " ")));
    words.filter(|path| path.is_file()).collect()
}

/// Copies a file to its place, which it has whole or not at all.
fn put(from: &Path, to: &Path) -> Result<(), Error> {
    let mut beside = to.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let copied = fs::copy(from, &beside).and_then(|_| fs::rename(&beside, to));
    copied.map_err(|e| {
        let _ = fs::remove_file(&beside);
        Error::file(to, &e)
    })
}
