//! Parsers and printers: one module per input language, with one entry point for all.
//!
//! [`read`] parses the text of a file into a [`Program`] and a [`Source`], which maps
//! each [`SpanId`](weir_model::ids::SpanId) to a range of characters, or returns all
//! errors that it finds. A front end uses neither memory models nor engines.
//!
//! ```
//! let (program, _source) = weir_front::read("example.weir", "var x\nprocess p { x = 1 }", None).unwrap();
//! assert_eq!(program.processes[0].name, "p");
//!
//! let errors = weir_front::read("example.weir", "process p { y = 1 }", None).unwrap_err();
//! assert!(errors[0].message.contains("`y`"));
//! ```

mod choice;
pub mod columns;
pub mod compiled;
pub mod diagnostic;
pub mod errors;
pub mod escape;
pub mod gaps;
pub mod litmus;
pub mod llvm;
mod locked;
pub mod orders;
pub mod promela;
pub mod rmm;
pub mod source;
pub mod suggest;
mod tokens;
pub mod trencher;
pub mod weir;

pub use diagnostic::Diagnostic;
pub use gaps::Gap;
pub use llvm::{Lowering, RACES};
pub use orders::OrderPlace;
pub use source::Source;

use std::path::{Path, PathBuf};
use std::{fmt, io};

use weir_model::program::{FenceKind, Program};

/// What reading a text gives: a program and its places in the text, or all errors.
pub type Read = Result<(Program, Source), Vec<Diagnostic>>;

/// How a text is read, for languages that leave something open.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The function that the program begins with.
    pub entry: Option<String>,
    /// Macros that are defined before the text, with what they stand for.
    pub defines: Vec<(String, String)>,
    /// Where files that the text includes are looked for, besides next to it.
    pub search: Vec<PathBuf>,
    /// Reads a file that the text includes.
    pub files: fn(&Path) -> io::Result<String>,
    /// Compiles a text in C, C++ or Rust, if there is a compiler.
    pub compile: Option<compiled::Compile>,
    /// What the compiler is told.
    pub compiler: CompilerSettings,
    /// Bounds for what has no domain: a variable `x`, a register `r` of every process or `p.r` of
    /// one, with its lowest and its highest value. Where a text leaves open what something is at
    /// first, it is any of these values.
    pub bounds: Vec<(String, i128, i128)>,
    /// Bounds and questions for programs with threads.
    pub lowering: Lowering,
    /// Whether every access is a step of its own under SC too, in languages whose statements are
    /// steps.
    pub is_split: bool,
    /// Whether every place of a process of a Promela model has a label, so that states can be counted as
    /// Spin does.
    pub places: bool,
}

/// What a compiler is told about a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompilerSettings {
    /// Whether it optimizes a little. What is read is then its output, and not what the text says.
    pub optimized: bool,
    /// The standard of the language, such as `c++20`; for Rust the edition.
    pub standard: Option<String>,
    /// More options for it.
    pub flags: Vec<String>,
    /// What Cargo is told, for a package.
    pub package: PackageSettings,
    /// Of the sources of a compilation database that define where a program begins, the one to take.
    pub source: Option<String>,
}

/// What Cargo is told about a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackageSettings {
    /// Options of `cargo test`.
    pub cargo: Vec<String>,
    /// Whether `--cfg loom` is set.
    pub loom: bool,
    /// Where it keeps what it builds, if that is not in the cache.
    pub target: Option<PathBuf>,
    /// A file that describes a program with tests that has been built before. Nothing is built then.
    pub built: Option<PathBuf>,
}

impl Default for Settings {
    /// No file is included.
    fn default() -> Self {
        Self {
            entry: None,
            defines: Vec::new(),
            search: Vec::new(),
            files: |_| Err(io::Error::new(io::ErrorKind::PermissionDenied, "no files are read")),
            compile: None,
            compiler: CompilerSettings::default(),
            bounds: Vec::new(),
            lowering: Lowering::default(),
            is_split: false,
            places: false,
        }
    }
}

/// An input language.
pub struct Language {
    /// Its name, on the command line and in reports.
    pub name: &'static str,
    /// The endings of its files, or whole names of files, such as `Cargo.toml`.
    pub endings: &'static [&'static str],
    /// Whether a text looks like one, where the ending does not tell.
    pub looks_like: fn(&str) -> bool,
    /// Reads a text. The first argument is what reports call the file.
    pub read: fn(&str, &str, &Settings) -> Read,
    /// How to declare a variable with a domain, if the language can.
    pub declare: Option<fn(&str) -> String>,
    /// Where fences can be inserted into a text that can be read.
    pub gaps: fn(&str) -> Vec<Gap>,
    /// Where memory orders are written in a text that can be read, or can be written.
    pub orders: fn(&str) -> Vec<OrderPlace>,
    /// How a fence is written, if the language has it.
    pub fence: fn(FenceKind) -> Option<&'static str>,
}

/// The languages, in the order in which a text without a known ending is tried.
pub static LANGUAGES: [&Language; 11] = [
    &litmus::LANGUAGE,
    &promela::LANGUAGE,
    &rmm::LANGUAGE,
    &trencher::LANGUAGE,
    &compiled::CPP,
    &compiled::C,
    &compiled::RUST,
    &compiled::CARGO,
    &compiled::DATABASE,
    &llvm::LANGUAGE,
    &weir::LANGUAGE,
];

impl Language {
    /// Whether its accesses have memory orders, so that a fence of the program may be the order
    /// of an access.
    pub fn has_orders(&self) -> bool {
        self.is_compiled() || *self == llvm::LANGUAGE
    }

    /// Whether a compiler reads its texts.
    pub fn is_compiled(&self) -> bool {
        self.is_project() || [&compiled::C, &compiled::CPP, &compiled::RUST].contains(&self)
    }

    /// Whether a text lists what a program is compiled from, and is not compiled itself.
    pub fn is_project(&self) -> bool {
        [&compiled::CARGO, &compiled::DATABASE].contains(&self)
    }

    /// Whether the name of a file says that it is in this language.
    pub fn has_file(&self, name: &str) -> bool {
        let file = name.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(name);
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        let is_one = |e: &&str| *e == file || ending.is_some_and(|own| own.eq_ignore_ascii_case(e));
        self.endings.iter().any(is_one)
    }

    /// What people call it.
    pub fn called(&self) -> &'static str {
        match self.name {
            "c" => "C",
            "cpp" => "C++",
            "rust" => "Rust",
            "cargo" => "a Cargo package",
            "compile-commands" => "a compilation database",
            "llvm" => "LLVM IR",
            "promela" => "Promela",
            "weir" => "Weir",
            name => name,
        }
    }

    /// Whether a text in this language means what the memory model of C, C++ and Rust says.
    pub fn has_model_of_c(&self, text: &str) -> bool {
        self.has_orders() || self.name == litmus::LANGUAGE.name && litmus::is_in_c(text)
    }

    /// The language of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        LANGUAGES.into_iter().find(|language| language.name == name)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a person asks besides deadlocks of a program that asks nothing.
pub(crate) const BESIDES: &str = "the file asks nothing itself; `weir robust` says whether the program \
    has only the behavior of SC, and `weir outcomes` lists its final states";

/// How deep blocks and expressions may nest. Everything that walks a program
/// recurses at most this deep, so no input can overflow the stack.
pub const MAX_NESTING: usize = 100;

/// How many elements an array may have, and how many variables an address may choose from: the
/// same in every language, so that what is converted can be read.
pub const MAX_ARRAY: i128 = 1024;

/// The largest text that is read, in bytes.
pub const MAX_TEXT: usize = 4 << 20;

/// The largest text that a compiler has written and that is read, in bytes.
pub const MAX_MODULE: usize = 64 << 20;

/// The largest text that is read of a file of this name, in bytes: what other programs have written may be longer.
pub fn most_bytes(name: &str) -> usize {
    let is_written = llvm::LANGUAGE.has_file(name) || compiled::DATABASE.has_file(name);
    if is_written { MAX_MODULE } else { MAX_TEXT }
}

/// Which language a file is in, by its ending or else by how it begins.
pub fn detect(name: &str, text: &str) -> &'static Language {
    let by_ending = LANGUAGES.into_iter().find(|language| language.has_file(name));
    let by_text = || LANGUAGES.into_iter().find(|language| (language.looks_like)(text));
    by_ending.or_else(by_text).unwrap_or(&weir::LANGUAGE)
}

/// Reads a program. `name` is what reports call the file; `language` overrides
/// what [`detect`] finds.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str, language: Option<&Language>) -> Read {
    read_with(name, text, language, &Settings::default())
}

/// Reads a program with settings.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read_with(name: &str, text: &str, language: Option<&Language>, settings: &Settings) -> Read {
    let is_module = language.is_some_and(|language| *language == llvm::LANGUAGE);
    let most = if is_module { MAX_MODULE } else { most_bytes(name) };
    if text.len() > most {
        let size = format!("the file has {} bytes; at most {most} are read", text.len());
        return Err(vec![Diagnostic::new(size, 0..0)]);
    }
    let read = escape::without_mark(text);
    if read.trim().is_empty() {
        return Err(vec![Diagnostic::new("the file is empty", 0..0)]);
    }
    let language = language.unwrap_or_else(|| detect(name, read));
    let result = (language.read)(name, read, settings);
    // Errors say where they are in the text that was given, with its mark.
    result.map_err(|errors| {
        errors.into_iter().map(|error| error.moved(text.len() - read.len())).collect()
    })
}
