//! Compilation databases: all sources of a project in C and C++ are one program.
//!
//! `weir_compile::database` compiles the sources. Here it is found out in which of them the program begins.

use std::path::{Path, PathBuf};

use weir_compile::database::{Unit, compile_all, database, joined};
use weir_compile::{Error, Options, Tools};
use weir_front::compiled::Compiled;
use weir_front::suggest::closest;

/// The modules of the program that begins with `entry`, which is `main` by default, and the files that were read. `source` is part
/// of the path of the source to begin in, if several define it.
pub(crate) fn compiled(
    file: &Path,
    source: Option<&str>,
    entry: Option<&str>,
    tools: &Tools,
    options: &Options,
) -> Result<(Compiled, Vec<PathBuf>), Error> {
    let entries = database(file)?;
    if entries.is_empty() {
        let text = "the compilation database lists no source in C or C++";
        return Err(Error::Unsupported(text.to_owned()));
    }
    if let Some(source) = source {
        let names: Vec<String> = entries.iter().map(|e| e.file.display().to_string()).collect();
        if !entries.iter().any(|entry| is_named(&entry.file, source)) {
            return Err(Error::Unsupported(no_source(source, &names)));
        }
    }
    // What is asked for on the command line comes last, and counts.
    let defines = options.defines.iter().map(|define| format!("-D{define}").into());
    let includes = options.includes.iter().map(|folder| format!("-I{}", folder.display()).into());
    let standard = options.standard.iter().map(|standard| format!("-std={standard}").into());
    let flags = defines.chain(includes).chain(standard).chain(options.flags.iter().cloned());
    let options = Options { flags: flags.collect(), ..options.clone() };
    let units = compile_all(&entries, tools, &options)?;
    let reads = units.iter().flat_map(|unit| unit.reads.iter().chain([&unit.file]));
    let reads = reads.cloned().chain([file.to_owned()]).collect();
    let (units, first) = beginning(units, source, entry.unwrap_or("main"))?;
    let name = units[first].file.file_stem().map(|name| name.to_string_lossy().into_owned());
    let modules = joined(units, first).into_iter().map(|m| (m.name, m.text)).collect();
    let entry = Some(entry.unwrap_or("main").to_owned());
    Ok((Compiled { name, modules, entry, tests: Vec::new() }, reads))
}

/// Whether a source is the one that is named: by its path, or the end of it.
fn is_named(file: &Path, name: &str) -> bool {
    file.ends_with(name) || std::path::absolute(name).is_ok_and(|path| path == file)
}

/// The units of the program and the number of the one that it begins in: the others that define its first function are left out.
fn beginning(
    mut units: Vec<Unit>,
    source: Option<&str>,
    entry: &str,
) -> Result<(Vec<Unit>, usize), Error> {
    let names = |units: &[Unit], numbers: &[usize]| -> Vec<String> {
        numbers.iter().map(|&number| units[number].file.display().to_string()).collect()
    };
    let beginnings: Vec<usize> = (0..units.len()).filter(|&n| units[n].defines(entry)).collect();
    let chosen: Vec<usize> = match source {
        None => beginnings.clone(),
        Some(name) => {
            beginnings.iter().copied().filter(|&n| is_named(&units[n].file, name)).collect()
        }
    };
    let error = |text: String| Err(Error::Unsupported(text));
    match (&chosen[..], source) {
        (&[first], _) => {
            let file = units[first].file.clone();
            let mut number = 0;
            units.retain(|_| {
                number += 1;
                number - 1 == first || !beginnings.contains(&(number - 1))
            });
            let first = units.iter().position(|unit| unit.file == file).unwrap_or_default();
            Ok((units, first))
        }
        ([], None) => error(format!(
            "no source in the compilation database defines `{entry}`\n`--entry NAME` names the function that the program begins with"
        )),
        ([], Some(name)) => error(format!("`{name}` does not define `{entry}`")),
        (several, _) => error(format!(
            "{} sources define `{entry}`\nchoose one with `--file`: {}",
            several.len(),
            names(&units, several).join(", ")
        )),
    }
}

fn no_source(name: &str, names: &[String]) -> String {
    let last =
        |path: &'_ str| Path::new(path).file_name().map(|n| n.to_string_lossy().into_owned());
    let files: Vec<String> = names.iter().filter_map(|name| last(name)).collect();
    let all = names.iter().chain(&files).map(String::as_str);
    let help = match closest(name, all) {
        Some(meant) => format!("\ndid you mean `{meant}`?"),
        None => String::new(),
    };
    format!("the compilation database lists no source `{name}`{help}")
}
