//! C and C++ by clang.
//!
//! **Level 0** is what the language says: `-O0` with `-disable-O0-optnone`, so that no function is
//! marked as one that must stay as it is. Every access of the source is in the result.
//! **Optimized** is what a compiler makes of it (`-O1`), without vectors and unrolled loops.
//!
//! **Exceptions** make an `invoke` with a second successor of every call in C++ that may throw.
//! Most programs throw nothing and catch nothing. So a source is compiled with `-fno-exceptions`,
//! and again with `-fexceptions` if clang says that it has `throw` or `try`. Without `try` an
//! exception of the library ends the program either way.
//!
//! **The text** comes on standard input, so what is compiled is what Weir has read, also if the file has changed since, or
//! if Weir has changed the text. A `#line` gives it its name.
//!
//! **Assertions** stay calls: with the headers of glibc, `assert` is `__assert_fail(text, file,
//! line, function)`. Fortified functions and stack protectors are off, since they change calls by
//! name.

use crate::process::{self, Ended};
use crate::temporary::Folder;
use crate::{Compiled, Error, Kind, Level, Module, Options, Tool, Tools};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What clang says of `throw` and `try` without exceptions.
const EXCEPTIONS: &str = "with exceptions disabled";

/// Which option chooses whether there are exceptions.
#[derive(Clone, Copy, PartialEq)]
enum Exceptions {
    /// C has none.
    Absent,
    Off,
    On,
}

/// The options that all files are compiled with.
pub(crate) fn flags(level: Level) -> Vec<OsString> {
    let mut flags: Vec<&str> = match level {
        Level::Source => vec!["-O0", "-Xclang", "-disable-O0-optnone"],
        Level::Optimized => {
            vec!["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"]
        }
    };
    flags.extend([
        "-g",
        "-fno-stack-protector",
        "-U_FORTIFY_SOURCE",
        "-fno-color-diagnostics",
        "-S",
        "-emit-llvm",
    ]);
    flags.into_iter().map(OsString::from).collect()
}

/// What is compiled: a file, or a text in its place.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub kind: Kind,
    pub file: &'a Path,
    pub text: Option<&'a str>,
}

/// Compiles a text.
pub(crate) fn compile(
    kind: Kind,
    file: &Path,
    text: &str,
    tools: &Tools,
    options: &Options,
) -> Result<Compiled, Error> {
    let mut user: Vec<OsString> = Vec::new();
    if let Some(standard) = &options.standard {
        user.push(format!("-std={standard}").into());
    }
    for define in &options.defines {
        user.push(format!("-D{define}").into());
    }
    for include in &options.includes {
        let mut flag = OsString::from("-I");
        flag.push(include);
        user.push(flag);
    }
    user.extend(options.flags.iter().cloned());
    let tool = tools.get(kind)?;
    compile_with(Input { kind, file, text: Some(text) }, &tool, &user, None, options)
}

/// Compiles a source with these options of the user, in a folder.
pub(crate) fn compile_with(
    input: Input<'_>,
    tool: &Tool,
    user: &[OsString],
    directory: Option<&Path>,
    options: &Options,
) -> Result<Compiled, Error> {
    let decided = user.iter().any(|f| f == "-fexceptions" || f == "-fno-exceptions");
    let first = match input.kind {
        Kind::Cpp if !decided => Exceptions::Off,
        _ => Exceptions::Absent,
    };
    let folder = Folder::new()?;
    let run = |exceptions| once(input, tool, user, directory, options, exceptions, folder.path());
    let (mut command, mut ended) = run(first)?;
    if first == Exceptions::Off && !ended.status.success() && ended.text().contains(EXCEPTIONS) {
        (command, ended) = run(Exceptions::On)?;
    }
    if !ended.status.success() {
        return Err(crate::rejected(&tool.path, &ended));
    }
    let path = folder.path().join(OUTPUT);
    let text = fs::read_to_string(&path).map_err(|e| Error::file(path, &e))?;
    Ok(Compiled {
        modules: vec![Module { name: input.file.display().to_string(), text }],
        entry: Some("main".to_owned()),
        tests: Vec::new(),
        reads: fs::read_to_string(folder.path().join(READS))
            .map(|text| crate::dependencies(&text))
            .unwrap_or_default(),
        tool: tool.clone(),
        command,
        warnings: ended.text(),
    })
}

const OUTPUT: &str = "module.ll";
/// What clang says of the files that it has read.
const READS: &str = "module.d";

fn once(
    input: Input<'_>,
    tool: &Tool,
    user: &[OsString],
    directory: Option<&Path>,
    options: &Options,
    exceptions: Exceptions,
    folder: &Path,
) -> Result<(Vec<OsString>, Ended), Error> {
    let mut command = Command::new(&tool.path);
    command.env("LC_ALL", "C").env("TMPDIR", folder);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    match exceptions {
        Exceptions::Absent => {}
        Exceptions::Off => drop(command.arg("-fno-exceptions")),
        Exceptions::On => drop(command.arg("-fexceptions")),
    }
    // Ours come last: of two that contradict each other, clang takes the last one.
    command.args(user).args(flags(options.level)).arg("-o").arg(folder.join(OUTPUT));
    command.arg("-MD").arg("-MF").arg(folder.join(READS));
    let Some(text) = input.text else {
        command.arg(as_file(input.file));
        let line = crate::line(&command);
        return Ok((line, process::run(command, options.limits, Some(folder))?));
    };
    if let Some(beside) = crate::folder_of(input.file) {
        command.arg("-iquote").arg(beside);
    }
    // A program is the same whatever its file is called, also where things are in memory.
    let mut unnamed = OsString::from("-fmacro-prefix-map=");
    unnamed.push(input.file);
    unnamed.push("=");
    command.arg(unnamed);
    // Otherwise the name of a file below this folder would lose the folder, and not be the one that Weir knows.
    command.arg("-fdebug-compilation-dir=.");
    command.args(["-x", if input.kind == Kind::Cpp { "c++" } else { "c" }, "-"]);
    let name = input.file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let text = format!("#line 1 \"{}\"\n{text}", name.replace(['\n', '\r'], " "));
    let line = crate::line(&command);
    Ok((line, process::run_with(command, Some(text), options.limits, Some(folder))?))
}

/// A path that cannot be taken for an option.
fn as_file(source: &Path) -> PathBuf {
    if source.as_os_str().to_string_lossy().starts_with('-') {
        Path::new(".").join(source)
    } else {
        source.to_owned()
    }
}
