//! Projects in C and C++: `compile_commands.json`, and clang's place in a build.
//!
//! A compilation database lists for each source in which folder and with which command it is
//! compiled. [`database`] takes the options that matter from the commands, [`compile_all`] compiles each source
//! to a module, and [`joined`] picks those that belong to one program.
//!
//! [`cc`] takes the place of clang in a build: it does what it is told, and also writes the module of each source beside its
//! object. `a.o` has its module in `a.o.ll`. When it links a program, it writes all modules of the program, one after the other,
//! to one file: those of `prog` are in `prog.ll`.
//!
//! Options that say what is written, or how much is optimized, are left out, since those of
//! [`Options`] count. Also left out are plugins and options for other compilers' passes, with their
//! values.

use crate::join::{self, Symbols};
use crate::tools::{Kind, Tool, Tools};
use crate::{Compiled, Error, Module, Options, clang, kind_of};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The largest database that is read.
const MAX_DATABASE: u64 = 256 << 20;

/// One source of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the command is run.
    pub directory: PathBuf,
    /// The source.
    pub file: PathBuf,
    /// The options that matter.
    pub flags: Vec<OsString>,
}

/// The entries of a compilation database. Those of other languages than C and C++ are left out.
///
/// # Errors
/// If it cannot be read, or is none.
pub fn database(path: &Path) -> Result<Vec<Entry>, Error> {
    let data = path.metadata().map_err(|e| Error::file(path, &e))?;
    if data.len() > MAX_DATABASE {
        return Err(Error::File {
            path: path.to_owned(),
            text: format!("it has more than {MAX_DATABASE} bytes"),
        });
    }
    let text = fs::read_to_string(path).map_err(|e| Error::file(path, &e))?;
    let wrong = |text: String| Error::File { path: path.to_owned(), text };
    let value: Value =
        serde_json::from_str(&text).map_err(|e| wrong(format!("no compilation database: {e}")))?;
    let list = value
        .as_array()
        .ok_or_else(|| wrong("no compilation database: it is no list".to_owned()))?;
    // Commands are run in other folders.
    let path_here = std::path::absolute(path).map_err(|e| Error::file(path, &e))?;
    let base = path_here.parent().unwrap_or(Path::new("/"));
    let mut entries = Vec::new();
    for (number, item) in list.iter().enumerate() {
        let field = |name: &str| item[name].as_str();
        let (Some(directory), Some(file)) = (field("directory"), field("file")) else {
            return Err(wrong(format!("entry {number} has no `directory` or no `file`")));
        };
        let words: Vec<String> = match (item["arguments"].as_array(), field("command")) {
            (Some(list), _) => {
                list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
            }
            (None, Some(command)) => words(command),
            (None, None) => {
                return Err(wrong(format!("entry {number} has no `arguments` and no `command`")));
            }
        };
        // Without `.` in the middle, which users would see.
        let directory: PathBuf = base.join(directory).components().collect();
        if !matches!(kind_of(Path::new(file)), Ok(Kind::C | Kind::Cpp)) {
            continue;
        }
        let words: Vec<OsString> = words.into_iter().skip(1).map(OsString::from).collect();
        let parts = Parts::of(&words);
        entries.push(Entry { file: directory.join(file), directory, flags: parts.flags });
    }
    Ok(entries)
}

/// Compiles a source of a project.
///
/// # Errors
/// As [`compile`](crate::compile).
pub fn compile_entry(entry: &Entry, tools: &Tools, options: &Options) -> Result<Compiled, Error> {
    let kind = kind_of(&entry.file)?;
    let mut flags = entry.flags.clone();
    flags.extend(options.flags.iter().cloned());
    let input = clang::Input { kind, file: &entry.file, text: None };
    clang::compile_with(input, &tools.get(kind)?, &flags, Some(&entry.directory), options)
}

/// A source of a project, compiled.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The source.
    pub file: PathBuf,
    /// What the compiler has read for it.
    pub reads: Vec<PathBuf>,
    module: Module,
    symbols: Vec<String>,
}

impl Unit {
    /// Whether it defines a function of this name, which other sources can call. In C++ the name may be a part of the symbol.
    pub fn defines(&self, function: &str) -> bool {
        let last = function.rsplit("::").next().unwrap_or(function);
        let mangled = format!("{}{last}", last.len());
        let is_it = |symbol: &String| {
            symbol == function || symbol.starts_with("_Z") && symbol.contains(&mangled)
        };
        self.symbols.iter().any(is_it)
    }
}

/// Compiles sources of a project, several at a time. A source that is listed twice is compiled once, as it is listed first.
///
/// # Errors
/// As [`compile`](crate::compile), for the first source in the list that has an error.
pub fn compile_all(
    entries: &[Entry],
    tools: &Tools,
    options: &Options,
) -> Result<Vec<Unit>, Error> {
    let mut files = HashSet::new();
    let entries: Vec<&Entry> = entries.iter().filter(|entry| files.insert(&entry.file)).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let jobs = thread::available_parallelism().map_or(1, usize::from).min(entries.len());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((number, entry)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    entries.get(number).map(|entry| (number, entry))
                } {
                    let unit =
                        compile_entry(entry, tools, options).map(|compiled| unit(entry, compiled));
                    let is_wrong = unit.is_err();
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, unit));
                    if is_wrong {
                        // Sources before it are being compiled, and none after it is of interest.
                        next.store(entries.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, unit)| unit).collect()
}

fn unit(entry: &Entry, compiled: Compiled) -> Unit {
    let mut modules = compiled.modules.into_iter();
    let module = modules.next().unwrap_or(Module { name: String::new(), text: String::new() });
    let symbols = Symbols::of(&module.text).defined;
    Unit { file: entry.file.clone(), reads: compiled.reads, module, symbols }
}

/// The modules of a program that begins in one of these sources: its own comes first, then those that define what it uses.
pub fn joined(units: Vec<Unit>, first: usize) -> Vec<Module> {
    let mut modules: Vec<Module> = units.into_iter().map(|unit| unit.module).collect();
    if first < modules.len() {
        modules[..=first].rotate_right(1);
    }
    join::only_needed(modules)
}

/// What [`cc`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The status of clang.
    pub status: i32,
    /// The modules that were written: one for each source that was compiled to an object, or the one of a program.
    pub modules: Vec<PathBuf>,
    /// What is not in them, and why. The build goes on.
    pub notes: Vec<String>,
}

/// Does what clang is told, and writes the modules of sources and programs.
///
/// # Errors
/// If there is no clang.
pub fn cc(
    kind: Kind,
    arguments: &[OsString],
    tools: &Tools,
    options: &Options,
) -> Result<Built, Error> {
    let tool = tools.get(kind)?;
    // The build sees what clang writes, and has no time limit here.
    let status = Command::new(&tool.path)
        .args(arguments)
        .status()
        .map_err(|e| Error::Failed { program: tool.path.clone(), text: e.to_string() })?;
    let mut built = Built { status: status.code().unwrap_or(1), ..Built::default() };
    let parts = Parts::of(arguments);
    if built.status != 0 || parts.no_object {
        return Ok(built);
    }
    let mut program = String::new();
    for source in &parts.sources {
        let compiled = kind_of(source).and_then(|kind| {
            let input = clang::Input { kind, file: source, text: None };
            let compiler = compiler(source, &tool, tools)?;
            clang::compile_with(input, &compiler, &parts.flags, None, options)
        });
        let text = match &compiled {
            Ok(compiled) => &compiled.modules[0].text,
            Err(error) => {
                built.notes.push(format!("{} has no module: {error}", source.display()));
                continue;
            }
        };
        if parts.links {
            program += text;
            program.push('\n');
            continue;
        }
        let object = parts.output.clone().unwrap_or_else(|| {
            PathBuf::from(source.file_name().unwrap_or_default()).with_extension("o")
        });
        put_module(module_of(&object), text, &mut built);
    }
    if parts.links {
        for object in &parts.objects {
            match fs::read_to_string(module_of(object)) {
                Ok(text) => {
                    program += &text;
                    program.push('\n');
                }
                Err(_) => built.notes.push(format!(
                    "{} has no module beside it: what it defines is unknown to Weir",
                    object.display()
                )),
            }
        }
        if !program.is_empty() {
            let output = parts.output.clone().unwrap_or_else(|| PathBuf::from("a.out"));
            put_module(module_of(&output), &program, &mut built);
        }
    }
    Ok(built)
}

/// The file of the module of an object or a program: it has `.ll` behind its name.
fn module_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".ll");
    PathBuf::from(name)
}

/// Writes a module.
fn put_module(path: PathBuf, text: &str, built: &mut Built) {
    match write(&path, text) {
        Ok(()) => built.modules.push(path),
        Err(error) => built.notes.push(format!("a module cannot be written: {error}")),
    }
}

/// The compiler for one of several sources: clang compiles C++ by its ending, too.
fn compiler(source: &Path, tool: &Tool, tools: &Tools) -> Result<Tool, Error> {
    match kind_of(source)? {
        Kind::Cpp if tool.kind == Kind::C => tools.get(Kind::Cpp),
        _ => Ok(tool.clone()),
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = crate::temporary::Folder::new()?;
    let made = folder.path().join("module.ll");
    fs::write(&made, text).map_err(|e| Error::file(&made, &e))?;
    crate::put(&made, path)
}

/// What the arguments of clang say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    flags: Vec<OsString>,
    sources: Vec<PathBuf>,
    /// What is linked besides: objects and archives.
    objects: Vec<PathBuf>,
    output: Option<PathBuf>,
    /// Nothing is compiled to an object: `-E`, `-M`, `-fsyntax-only`, `--version`.
    no_object: bool,
    /// A program is made, or a shared library: there is no `-c` and no `-S`.
    links: bool,
}

/// Options that are left out, and the word after them too.
const WITH_VALUE: &[&str] =
    &["-MF", "-MT", "-MQ", "-MJ", "-arch", "-Xlinker", "-Xassembler", "-T", "-u", "-z", "-dumpdir"];
/// Options whose value is the next word, and which are kept.
const KEPT_WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-target",
    "-x",
    "-iprefix",
];

impl Parts {
    fn of(words: &[OsString]) -> Parts {
        let mut parts = Parts { links: true, ..Parts::default() };
        let mut words = words.iter();
        let mut only_files = false;
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if only_files || !text.starts_with('-') || text == "-" {
                let path = PathBuf::from(word);
                if matches!(kind_of(&path), Ok(Kind::C | Kind::Cpp)) {
                    parts.sources.push(path);
                } else if path.extension().is_some_and(|e| e == "o" || e == "a") {
                    parts.objects.push(path);
                }
                continue;
            }
            match &*text {
                "--" => only_files = true,
                "-o" => parts.output = words.next().map(PathBuf::from),
                "-E" | "-M" | "-MM" | "-fsyntax-only" | "--version" | "-v" | "-###" | "-dM" => {
                    parts.no_object = true
                }
                // For the compiler's inside: kept only if it has nothing to do with plugins.
                "-Xclang" => {
                    let Some(value) = words.next() else { continue };
                    let text = value.to_string_lossy();
                    if !text.contains("plugin") && text != "-load" && !text.ends_with(".so") {
                        parts.flags.extend([word.clone(), value.clone()]);
                    }
                }
                "-mllvm" => drop(words.next()),
                option if WITH_VALUE.contains(&option) => drop(words.next()),
                option if KEPT_WITH_VALUE.contains(&option) => {
                    parts.flags.push(word.clone());
                    parts.flags.extend(words.next().cloned());
                }
                option if option.starts_with("-o") => {
                    parts.output = Some(PathBuf::from(&option[2..]));
                }
                "-c" | "-S" => parts.links = false,
                "-emit-llvm" | "-MD" | "-MMD" | "-MP" | "-MG" | "-MV" | "-flto" | "-pipe" => {}
                option if leaves_out(option) => {}
                _ => parts.flags.push(word.clone()),
            }
        }
        parts
    }
}

/// Optimization, debugging, linking, sanitizers, profiles and plugins.
fn leaves_out(option: &str) -> bool {
    const STARTS: &[&str] = &[
        "-O",
        "-g",
        "-l",
        "-L",
        "-Wl,",
        "-Wa,",
        "-MF",
        "-MT",
        "-flto=",
        "-fsanitize",
        "-fprofile",
        "-fcoverage",
        "-fplugin",
        "-fpass-plugin",
        "-ftest-coverage",
        "--coverage",
    ];
    STARTS.iter().any(|start| option.starts_with(start))
}

/// The words of a command, as a shell separates them: by spaces, with quotes and backslashes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_by_a_shell() {
        assert_eq!(
            words(r#"clang -DA='x y' "-DB=\"q\"" a\ b.c  '' "#),
            ["clang", "-DA=x y", "-DB=\"q\"", "a b.c", ""]
        );
        assert_eq!(words("clang 'unclosed"), ["clang", "unclosed"]);
        assert!(words(" \\").len() <= 1);
    }

    #[test]
    fn what_matters_of_a_command() {
        let words: Vec<OsString> = words(
            "-O2 -g3 -std=c11 -DN=3 -I inc -include x.h -Wall -MD -MF a.d -Xclang -load -Xclang p.so -mllvm -x1 \
             -fsanitize=thread -lm -c -o out/a.o a.c b.o",
        )
        .into_iter()
        .map(OsString::from)
        .collect();
        let parts = Parts::of(&words);
        assert_eq!(
            parts.flags,
            ["-std=c11", "-DN=3", "-I", "inc", "-include", "x.h", "-Wall"].map(OsString::from)
        );
        assert_eq!(parts.sources, [PathBuf::from("a.c")]);
        assert_eq!(parts.objects, [PathBuf::from("b.o")]);
        assert_eq!(parts.output, Some(PathBuf::from("out/a.o")));
        assert!(!parts.no_object && !parts.links);
        assert!(Parts::of(&["-E".into(), "a.c".into()]).no_object);
    }
}
