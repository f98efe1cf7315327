//! `weir check` of a Cargo package: builds the tests once, and checks each in a process of its own.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use weir::load::read_text;
use weir::{Diagnostic, LoadError, package};
use weir_compile::package::{Program, TestBinary, package as build};
use weir_compile::{Error, Level, Limits, Options, Tools};
use weir_front::compiled::CARGO;
use weir_front::suggest::closest;

use super::batch::Test;
use super::batch::run::Running;
use super::{Status, complain, fail, note};
use crate::cli::package::TestsArgs;
use crate::cli::{Check, LimitArgs, batch};
use crate::files::MANIFEST;
use crate::limits;
use crate::progress::counted;

/// Whether the command is about a package whose tests have not been built. The names of tests of `cargo weir` become filters.
///
/// # Errors
/// If there is no package, or something besides.
pub fn is_about(check: &mut Check) -> Result<bool, String> {
    if check.tests.as_cargo {
        check.tests.filters.append(&mut check.programs.files);
        check.programs.files = vec![manifest(check.tests.manifest_path.as_deref())?];
    }
    let language = check.search.language.language;
    let is_package = |file: &String| {
        language.map_or_else(|| CARGO.has_file(file), |language| *language == CARGO)
    };
    if check.search.language.sources.package.built.is_some()
        || !check.programs.files.iter().any(is_package)
    {
        return Ok(false);
    }
    match check.programs.files.len() {
        1 => Ok(true),
        _ => Err("a package is checked by itself: name no other file".to_owned()),
    }
}

/// The `Cargo.toml` that is named, or that of this folder or the nearest one above.
fn manifest(named: Option<&str>) -> Result<String, String> {
    if let Some(named) = named {
        return Ok(crate::files::manifest_in(named).unwrap_or_else(|| named.to_owned()));
    }
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let folder = here.ancestors().find(|folder| folder.join(MANIFEST).is_file());
    let folder = folder.ok_or_else(|| {
        format!("there is no `{MANIFEST}` in `{}` or a folder above it", here.display())
    })?;
    let file = match folder == here {
        true => PathBuf::from(MANIFEST),
        false => folder.join(MANIFEST),
    };
    Ok(file.to_string_lossy().into_owned())
}

/// Builds the tests and checks them.
pub fn run(check: &Check, matches: &ArgMatches, limits: LimitArgs) -> Status {
    let file = &check.programs.files[0];
    if let Err(error) = read_text(file) {
        return complain(&error);
    }
    let sources = &check.search.language.sources;
    let settings = sources.settings();
    let options = Options {
        level: if sources.optimized { Level::Optimized } else { Level::Source },
        defines: settings.defines.iter().map(|(name, value)| package::cfg(name, value)).collect(),
        flags: sources.flags.iter().map(Into::into).collect(),
        ..Options::default()
    };
    let mut told = package::options(&settings.compiler.package);
    told.limits = Limits { stop: || limits::budget().check().is_err(), ..told.limits };
    told.first = || {
        note(
            "compiling the tests with a stand-in for std; later only what has changed is compiled",
        );
    };
    let built = match build(Path::new(file), &Tools::default(), &options, &told) {
        Ok(built) => built,
        Err(error) => return complain(&unbuilt(file, &error)),
    };
    let programs: Vec<Program<'_>> = built.binaries.iter().flat_map(TestBinary::programs).collect();
    let picked = match picked(&programs, sources.entry.as_deref(), &check.tests) {
        Ok(picked) => picked,
        Err(reason) => {
            return complain(&wrong(file, reason));
        }
    };
    // Each process of a test reads what is described here.
    let folder = match weir_compile::Folder::new() {
        Ok(folder) => folder,
        Err(error) => return fail(&error.to_string()),
    };
    let mut tests = Vec::new();
    for program in picked {
        let number = built.binaries.iter().position(|binary| std::ptr::eq(binary, program.binary));
        let described = folder.path().join(format!("{}.json", number.unwrap_or_default()));
        if !described.is_file()
            && let Err(error) = program.binary.write(&described)
        {
            return fail(&error.to_string());
        }
        let place = program.test.place.as_ref().map(|(file, line)| (shown(file), *line as u64));
        tests.push(Test { name: program.name.clone(), built: described, place });
    }
    match batch::of_tests(check, tests, matches) {
        Ok(batch) => {
            let (jobs, each) = (batch.args.jobs, batch.args.each);
            batch.run(&Running::new(jobs, each, limits))
        }
        Err(message) => fail(&message),
    }
}

/// A path as it is from the current folder.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).to_string_lossy().into_owned()
}

/// The tests to check.
fn picked<'p, 'b>(
    programs: &'p [Program<'b>],
    entry: Option<&str>,
    args: &TestsArgs,
) -> Result<Vec<&'p Program<'b>>, String> {
    if let Some(entry) = entry {
        let found = package::find(programs, entry).map_err(|error| error.to_string())?;
        return Ok(vec![found]);
    }
    let is_named = |program: &Program<'_>, names: &[String]| {
        names.iter().any(|name| match args.exact {
            true => program.name == *name || program.test.name == *name,
            false => program.test.name.contains(name.as_str()) || program.name == *name,
        })
    };
    let mut picked: Vec<&Program<'_>> = programs.iter().collect();
    if !args.filters.is_empty() {
        picked.retain(|program| is_named(program, &args.filters));
        if picked.is_empty() {
            return Err(no_match(programs, &args.filters));
        }
    }
    picked.retain(|program| !is_named(program, &args.skip));
    let before = picked.len();
    let is_asked = |ignored: bool| args.include_ignored || args.ignored == ignored;
    picked.retain(|program| is_asked(program.test.ignored));
    let ignored = before - picked.len();
    let before = picked.len();
    picked.retain(|program| !program.test.panics);
    let panic = before - picked.len();
    let mut left = Vec::new();
    if ignored > 0 {
        let why = if args.ignored { "without `#[ignore]`" } else { "with `#[ignore]`" };
        left.push(format!("{} {why}", counted(ignored, "test")));
    }
    if panic > 0 {
        left.push(format!("{} with `#[should_panic]`", counted(panic, "test")));
    }
    match (picked.is_empty(), left.is_empty()) {
        (true, true) => Err("there are no tests".to_owned()),
        (true, false) => Err(format!("there are no other tests than {}", left.join(", "))),
        (false, true) => Ok(picked),
        (false, false) => {
            note(&format!("left out: {}", left.join(", ")));
            Ok(picked)
        }
    }
}

/// That no name of a test is as was asked.
fn no_match(programs: &[Program<'_>], filters: &[String]) -> String {
    let quoted: Vec<String> = filters.iter().map(|filter| format!("`{filter}`")).collect();
    let message = format!("there is no test {}", quoted.join(", "));
    // A person may have meant any part of a name.
    let parts = |p: &Program<'_>| -> Vec<String> {
        let last = p.test.name.rsplit("::").next().unwrap_or_default().to_owned();
        vec![p.name.clone(), p.test.name.clone(), last]
    };
    let names: Vec<String> = programs.iter().flat_map(parts).collect();
    match closest(&filters[0], names.iter().map(String::as_str)) {
        Some(meant) => format!("{message}; did you mean `{meant}`?"),
        None => message,
    }
}

/// That a package cannot be built.
fn unbuilt(file: &str, error: &Error) -> LoadError {
    let reason = match error {
        Error::Rejected { text, .. } => {
            // Before the first error stands what Cargo does, and warnings.
            let is_error = |line: &&str| line.starts_with("error");
            let first = text.lines().find(is_error).and_then(|line| text.find(line));
            format!("cargo cannot build its tests\n{}", text[first.unwrap_or(0)..].trim_end())
        }
        error => error.to_string(),
    };
    wrong(file, reason)
}

/// What is wrong with a package as a whole.
fn wrong(file: &str, reason: String) -> LoadError {
    let error = Diagnostic::new(reason.clone(), 0..0);
    let error = error.as_shown(format!("error: `{file}`: {reason}"));
    LoadError::Wrong { name: file.to_owned(), text: String::new(), errors: vec![error] }
}
