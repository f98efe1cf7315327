//! Cargo packages: each test is a program.
//!
//! `weir_compile::package` builds the tests. Here a name is resolved to one of them, and its modules are read.

use std::path::Path;

use weir_compile::package::{PackageOptions, Program, TestBinary, package};
use weir_compile::{Error, Options, Tools};
use weir_front::PackageSettings;
use weir_front::compiled::Compiled;
use weir_front::suggest::closest;

/// At most so many names are in an error.
const MOST_NAMES: usize = 10;

/// What Cargo is told.
pub fn options(settings: &PackageSettings) -> PackageOptions {
    PackageOptions {
        cargo: settings.cargo.iter().map(Into::into).collect(),
        loom: settings.loom,
        target: settings.target.clone(),
        ..PackageOptions::default()
    }
}

/// A macro that the user defines, as `--cfg` of Rust has it: without a value by default.
pub fn cfg(name: &str, value: &str) -> String {
    match value {
        "1" => name.to_owned(),
        value => format!("{name}=\"{value}\""),
    }
}

/// The program of a name: that of its path with or without its crate, or the end of a path.
///
/// # Errors
/// If there is none, or there are several.
pub fn find<'p, 'b>(programs: &'p [Program<'b>], name: &str) -> Result<&'p Program<'b>, Error> {
    let is_end = |program: &&Program<'_>| {
        program.name.strip_suffix(name).is_some_and(|before| before.ends_with("::"))
    };
    let ways: [&dyn Fn(&&Program<'_>) -> bool; 3] =
        [&|program| program.name == name, &|program| program.test.name == name, &is_end];
    for way in ways {
        let found: Vec<&Program<'_>> = programs.iter().filter(way).collect();
        match found[..] {
            [] => {}
            [program] => return Ok(program),
            _ => {
                let mut names: Vec<&str> = found.iter().map(|p| &*p.name).collect();
                names.dedup();
                let help = match names.len() {
                    // The same path in two packages.
                    1 => "`-p` chooses the package".to_owned(),
                    _ => format!("choose one: {}", list(&names)),
                };
                let text = format!("there are {} tests `{name}`\n{help}", found.len());
                return Err(Error::Unsupported(text));
            }
        }
    }
    let last = |p: &'p Program<'b>| p.test.name.rsplit("::").next().unwrap_or_default();
    let names: Vec<&str> =
        programs.iter().flat_map(|p| [&*p.name, &*p.test.name, last(p)]).collect();
    let help = match closest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if programs.is_empty() => "the package has no tests".to_owned(),
        None => {
            let names: Vec<&str> = programs.iter().map(|p| &*p.name).collect();
            format!("there are: {}", list(&names))
        }
    };
    Err(Error::Unsupported(format!("there is no test `{name}`\n{help}")))
}

/// Names, if there are not too many.
fn list(names: &[&str]) -> String {
    let mut text = names[..names.len().min(MOST_NAMES)].join(", ");
    if names.len() > MOST_NAMES {
        text += &format!(" and {} more", names.len() - MOST_NAMES);
    }
    text
}

/// The modules of a test of a package. Without a name there has to be one test.
pub(crate) fn compiled(
    manifest: &Path,
    entry: Option<&str>,
    tools: &Tools,
    options: &Options,
    settings: &PackageSettings,
) -> Result<Compiled, Error> {
    let binaries = match &settings.built {
        Some(file) => vec![TestBinary::open(file)?],
        None => package(manifest, tools, options, &self::options(settings))?.binaries,
    };
    let programs: Vec<Program<'_>> = binaries.iter().flat_map(TestBinary::programs).collect();
    let program = match (entry, &programs[..]) {
        (Some(name), _) => find(&programs, name)?,
        (None, [program]) => program,
        (None, []) => {
            return Err(Error::Unsupported("the package has no tests".to_owned()));
        }
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|p| &*p.name).collect();
            let text = format!(
                "there are {} tests\nchoose one with `--entry`: {}",
                names.len(),
                list(&names)
            );
            return Err(Error::Unsupported(text));
        }
    };
    let Some(symbol) = program.test.symbol.clone() else {
        let text = format!("the function of the test `{}` is not found", program.name);
        return Err(Error::Unsupported(text));
    };
    Ok(Compiled {
        name: Some(program.name.clone()),
        modules: program.binary.read(&symbol)?.into_iter().map(|m| (m.name, m.text)).collect(),
        entry: Some(symbol),
        tests: Vec::new(),
    })
}
