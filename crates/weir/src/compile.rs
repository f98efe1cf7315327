//! C, C++ and Rust: the compilers of this machine make modules of a text, or of what a text lists: a Cargo package, or a compilation
//! database.
//!
//! A text is often read several times: for several memory models, or with one order changed and changed back. What was
//! compiled last is kept.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use weir_compile::{Error, Kind, Level, Options, Tools};
use weir_front::compiled::{CARGO, CPP, Compiled, DATABASE, RUST};
use weir_front::{CompilerSettings, Diagnostic, Language, Settings};

/// How many texts are kept as modules.
const KEPT: usize = 16;

/// The most bytes of modules that are kept.
const MAX_KEPT: usize = 64 << 20;

/// All that modules depend on, but for files that a text includes.
#[derive(Clone, PartialEq, Eq)]
struct Task {
    language: &'static str,
    name: String,
    text: String,
    defines: Vec<(String, String)>,
    search: Vec<PathBuf>,
    compiler: CompilerSettings,
    /// Where the program begins, if what is compiled depends on that.
    entry: Option<String>,
}

/// What was compiled, and the files that were read for it.
struct Kept {
    task: Task,
    compiled: Arc<Compiled>,
    reads: Vec<(PathBuf, Option<Stamp>)>,
}

/// What tells that a file was changed: the time and the size.
type Stamp = (SystemTime, u64);

fn stamp(file: &Path) -> Option<Stamp> {
    let about = file.metadata().ok()?;
    Some((about.modified().ok()?, about.len()))
}

static KEPT_MODULES: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

static TOOLS: LazyLock<Tools> = LazyLock::new(Tools::default);

/// Compiles a text with clang or rustc, for [`Settings::compile`].
///
/// # Errors
/// If there is no compiler, or it rejects the text.
pub fn compile(
    language: &Language,
    name: &str,
    text: &str,
    settings: &Settings,
) -> Result<Arc<Compiled>, Vec<Diagnostic>> {
    let task = Task {
        language: language.name,
        name: name.to_owned(),
        text: text.to_owned(),
        defines: settings.defines.clone(),
        search: settings.search.clone(),
        compiler: settings.compiler.clone(),
        entry: settings.entry.clone().filter(|_| language.is_project()),
    };
    let kept = || KEPT_MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |kept: &&Kept| {
        kept.task == task && kept.reads.iter().all(|(file, before)| stamp(file) == *before)
    };
    if let Some(kept) = kept().iter().find(is_same) {
        return Ok(kept.compiled.clone());
    }
    let (compiled, reads) = run(&task).map_err(|error| diagnostics(&error, &task))?;
    let compiled = Arc::new(compiled);
    // Cargo knows what a package depends on.
    let Some(reads) = reads else { return Ok(compiled) };
    let reads = reads.into_iter().map(|file| (file.clone(), stamp(&file))).collect();
    let mut kept = kept();
    kept.retain(|other| other.task != task);
    kept.push_front(Kept { task, compiled: compiled.clone(), reads });
    kept.truncate(KEPT);
    let size = |all: &VecDeque<Kept>| {
        all.iter().flat_map(|kept| &kept.compiled.modules).map(|m| m.1.len()).sum::<usize>()
    };
    while kept.len() > 1 && size(&kept) > MAX_KEPT {
        kept.pop_back();
    }
    Ok(compiled)
}

/// Runs the compiler. Gives what it has made, and the files that it has read, if they are known.
fn run(task: &Task) -> Result<(Compiled, Option<Vec<PathBuf>>), Error> {
    let kind = match task.language {
        language if language == CPP.name => Kind::Cpp,
        language if language == RUST.name => Kind::Rust,
        language if language == CARGO.name => Kind::Cargo,
        _ => Kind::C,
    };
    let define = |(name, value): &(String, String)| match kind {
        Kind::Rust | Kind::Cargo => crate::package::cfg(name, value),
        Kind::C | Kind::Cpp => format!("{name}={value}"),
    };
    let options = Options {
        level: if task.compiler.optimized { Level::Optimized } else { Level::Source },
        defines: task.defines.iter().map(define).collect(),
        includes: task.search.clone(),
        standard: task.compiler.standard.clone(),
        flags: task.compiler.flags.iter().map(Into::into).collect(),
        ..Options::default()
    };
    let (file, entry) = (Path::new(&task.name), task.entry.as_deref());
    if task.language == CARGO.name {
        let package = &task.compiler.package;
        let compiled = crate::package::compiled(file, entry, &TOOLS, &options, package)?;
        return Ok((compiled, package.built.clone().map(|file| vec![file])));
    }
    if task.language == DATABASE.name {
        let source = task.compiler.source.as_deref();
        let (compiled, reads) = crate::database::compiled(file, source, entry, &TOOLS, &options)?;
        return Ok((compiled, Some(reads)));
    }
    let compiled =
        weir_compile::compile_text(kind, Path::new(&task.name), &task.text, &TOOLS, &options)?;
    let made = Compiled {
        name: None,
        modules: compiled.modules.into_iter().map(|m| (m.name, m.text)).collect(),
        entry: compiled.entry,
        tests: compiled.tests.into_iter().map(|test| (test.name, test.symbol)).collect(),
    };
    Ok((made, Some(compiled.reads)))
}

/// What a compiler says, each error at its place.
fn diagnostics(error: &Error, task: &Task) -> Vec<Diagnostic> {
    if let Error::Rejected { text, .. } = error {
        let errors: Vec<_> = parts(text).into_iter().map(|part| diagnostic(part, task)).collect();
        if !errors.is_empty() {
            return errors;
        }
    }
    let text = error.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let error = Diagnostic::new(first, 0..0);
    vec![if rest.is_empty() { error } else { error.help(rest.trim()) }]
}

/// How errors begin, with the message behind: `clang` writes the place before it, `rustc` behind.
fn message(line: &str) -> Option<&str> {
    if line.starts_with("error: aborting due to") {
        return None;
    }
    if let Some(rest) = line.strip_prefix("error") {
        let rest = match rest.strip_prefix('[') {
            Some(code) => code.split_once(']')?.1,
            None => rest,
        };
        return rest.strip_prefix(": ");
    }
    let (place, message) = line.split_once("error: ")?;
    let place = place.strip_suffix("fatal ").unwrap_or(place).strip_suffix(": ")?;
    (!place.starts_with(char::is_whitespace)).then_some(message)
}

/// The errors of a text, each with all that is said of it.
fn parts(text: &str) -> Vec<&str> {
    let (mut starts, mut at, mut before) = (Vec::new(), 0, None);
    for line in text.split_inclusive('\n') {
        if message(line).is_some() {
            starts.push(before.take().unwrap_or(at));
        } else if line.starts_with("In file included from") {
            before = before.or(Some(at));
        } else {
            before = None;
        }
        at += line.len();
    }
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

fn diagnostic(part: &str, task: &Task) -> Diagnostic {
    let range = place(part, task).map_or(0..0, |at| at..at);
    let message = part.lines().find_map(message).unwrap_or("the compiler found errors");
    Diagnostic::new(message, range).as_shown(part)
}

/// The offset of the place in the text that a message names first: `name:line:column`.
fn place(message: &str, task: &Task) -> Option<usize> {
    let behind = message.split_once(&format!("{}:", task.name))?.1;
    let mut numbers = behind.split(|c: char| !c.is_ascii_digit());
    let line: usize = numbers.next()?.parse().ok()?;
    let column: usize = numbers.next()?.parse().ok()?;
    let start: usize =
        task.text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let line = task.text.get(start..)?.lines().next().unwrap_or("");
    let at = line.char_indices().nth(column.checked_sub(1)?).map_or(line.len(), |(at, _)| at);
    Some(start + at)
}

#[cfg(test)]
mod tests {
    use super::{message, parts};

    #[test]
    fn errors_are_told_apart() {
        let clang = "In file included from a.c:1:\n./a.h:2:1: error: one\n    2 | x\na.c:3:7: fatal error: two\n2 errors generated.\n";
        let rustc = "warning: no\n --> a.rs:1:2\n\nerror[E0425]: one\n --> a.rs:3:4\n\nerror: two\n --> a.rs:5:6\n\nerror: aborting due to 2 previous errors\n";
        for text in [clang, rustc] {
            let parts = parts(text);
            let messages: Vec<_> =
                parts.iter().map(|part| part.lines().find_map(message).unwrap()).collect();
            assert_eq!(messages, ["one", "two"]);
            assert_eq!(parts.concat(), text);
        }
    }
}
