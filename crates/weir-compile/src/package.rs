//! The tests of a Cargo package, each a program of its own.
//!
//! Cargo builds the tests as `cargo test --no-run` does, with a script in place of `rustc`
//! (`runtime/wrapper.sh`). The script adds the options of `stand_in` to what is compiled for the
//! target; since a target is named, build scripts and macros are not, and are compiled as usual.
//! Every crate of the graph then has a module beside its library. For the crates `loom` and
//! `shuttle` the script compiles the stand-ins in place of their sources, so that any version works
//! and no lock file changes.
//!
//! What has been built is kept in a folder of its own, and Cargo builds again only what has
//! changed.

use crate::join::{self, Symbols};
use crate::process::{self, Limits};
use crate::stand_in::{self, StandIn};
use crate::{Error, Kind, Level, Module, Options, Test, Tool, Tools, harness, rust, symbols};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How a package is built, besides [`Options`]: those of Cargo.
#[derive(Clone, Debug)]
pub struct PackageOptions {
    /// Options of `cargo test`, such as `-p NAME`, `--lib`, `--tests`, `--features NAME`.
    pub cargo: Vec<OsString>,
    /// Whether `--cfg loom` is set, as for tests with loom.
    pub loom: bool,
    /// Where Cargo keeps what it builds. By default in the cache.
    pub target: Option<PathBuf>,
    /// Whether Cargo must not use the network.
    pub offline: bool,
    /// Limits on Cargo. Those of [`Options`] are for one compiler.
    pub limits: Limits,
}

impl Default for PackageOptions {
    /// All tests, and an hour.
    fn default() -> PackageOptions {
        let limits = Limits { time: Duration::from_secs(3600), ..Limits::default() };
        PackageOptions { cargo: Vec::new(), loom: false, target: None, offline: false, limits }
    }
}

/// The tests of a package.
#[derive(Clone, Debug)]
pub struct Package {
    /// One for each target with tests: the library, each file in `tests`.
    pub binaries: Vec<TestBinary>,
    /// The modules of all libraries, by the crates that are used.
    pub libraries: Vec<PathBuf>,
    /// The modules of the stand-ins.
    pub stand_ins: Vec<Module>,
    /// What Cargo and the compiler wrote.
    pub warnings: String,
}

/// A program with tests.
#[derive(Clone, Debug)]
pub struct TestBinary {
    /// The package, as Cargo names it.
    pub package: String,
    /// The name of the target.
    pub name: String,
    /// What the target is: `lib`, `test`, `bin`, `example`.
    pub kind: String,
    /// The program itself, which runs natively.
    pub program: PathBuf,
    /// Its own module.
    pub module: PathBuf,
    /// Its tests.
    pub tests: Vec<Test>,
    /// The symbol of its `main`, if it is without the test harness.
    pub entry: Option<String>,
}

/// Builds the tests of the package of a manifest.
///
/// # Errors
/// If Cargo or a compiler is missing or rejects something, or a limit is reached.
pub fn package(
    manifest: &Path,
    tools: &Tools,
    options: &Options,
    package: &PackageOptions,
) -> Result<Package, Error> {
    if cfg!(not(unix)) {
        return Err(Error::Unsupported(
            "packages need a shell, which is not there on this system".to_owned(),
        ));
    }
    let cargo = tools.get(Kind::Cargo)?;
    let rustc = tools.get(Kind::Rust)?;
    let manifest = manifest.canonicalize().map_err(|e| Error::file(manifest, &e))?;
    let stand_in = StandIn::get(&rustc, options.cache.as_deref())?;
    let target = match &package.target {
        Some(target) => target.clone(),
        None => target_folder(&manifest, options)?,
    };
    // The folder of the stand-ins has their version in its name: with others, all is built again.
    let version = stand_in
        .folder()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let level = if options.level == Level::Optimized { "optimized" } else { "source" };
    let target = target.join(format!("{version}-{level}"));
    let host = rustc.text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    if host.is_empty() {
        let text = "it does not say for which system it compiles".to_owned();
        return Err(Error::Failed { program: rustc.path.clone(), text });
    }

    let mut command = command(&cargo, &rustc, &stand_in, &manifest, options, package);
    command.arg("--target").arg(host).arg("--target-dir").arg(&target);
    command.args(&package.cargo);
    let ended = process::run(command, package.limits, None)?;
    if !ended.status.success() {
        return Err(crate::rejected(&cargo.path, &ended));
    }
    let messages = String::from_utf8_lossy(&ended.stdout);
    let mut built = Package {
        binaries: Vec::new(),
        libraries: Vec::new(),
        stand_ins: stand_in.modules()?,
        warnings: String::from_utf8_lossy(&ended.stderr).into_owned(),
    };
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if message["reason"] == "compiler-artifact" {
            artifact(&message, &target.join(host), options, &mut built)?;
        }
    }
    built.libraries.sort();
    built.libraries.dedup();
    built
        .binaries
        .sort_by(|a, b| (&a.package, &a.kind, &a.name).cmp(&(&b.package, &b.kind, &b.name)));
    Ok(built)
}

/// The modules of a test, read: its own, and those of libraries and stand-ins that define what it
/// uses.
///
/// # Errors
/// If a file cannot be read.
pub fn modules(package: &Package, binary: &TestBinary) -> Result<Vec<Module>, Error> {
    let mut symbols = vec![Symbols::of(&read(&binary.module)?)];
    // Only the symbols are kept: what is not needed can be large.
    for library in &package.libraries {
        symbols.push(Symbols::of(&read(library)?));
    }
    symbols.extend(package.stand_ins.iter().map(|module| Symbols::of(&module.text)));
    let mut modules = Vec::new();
    for number in join::needed(&symbols) {
        let path =
            if number == 0 { Some(&binary.module) } else { package.libraries.get(number - 1) };
        modules.push(match path {
            Some(path) => {
                let name =
                    path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                Module { name, text: read(path)? }
            }
            None => package.stand_ins[number - 1 - package.libraries.len()].clone(),
        });
    }
    Ok(modules)
}

/// The largest module that is read.
const MAX_MODULE: u64 = 1 << 30;

/// The text of a module.
fn read(path: &Path) -> Result<String, Error> {
    let size = path.metadata().map_err(|e| Error::file(path, &e))?.len();
    if size > MAX_MODULE {
        let text = format!("it has more than {MAX_MODULE} bytes");
        return Err(Error::File { path: path.to_owned(), text });
    }
    fs::read_to_string(path).map_err(|e| Error::file(path, &e))
}

/// The command that builds all tests.
fn command(
    cargo: &Tool,
    rustc: &Tool,
    stand_in: &StandIn,
    manifest: &Path,
    options: &Options,
    package: &PackageOptions,
) -> Command {
    let mut flags = stand_in::FLAGS.join(" ");
    flags.push(' ');
    flags.push_str(rust::level(options.level));
    let mut command = Command::new(&cargo.path);
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics", "--color=never"]);
    command.arg("--manifest-path").arg(manifest);
    if package.offline {
        command.arg("--offline");
    }
    if let Some(folder) = manifest.parent() {
        command.current_dir(folder);
    }
    // The user's own flags are kept, and come first.
    let mut rustflags = std::env::var("RUSTFLAGS").unwrap_or_default();
    for define in options.defines.iter().map(String::as_str).chain(package.loom.then_some("loom")) {
        rustflags.push_str(" --cfg ");
        rustflags.push_str(define);
    }
    command
        .env("RUSTFLAGS", rustflags)
        .env("RUSTC", &rustc.path)
        .env("RUSTC_WRAPPER", stand_in.folder().join(stand_in::WRAPPER))
        .env("WEIR_FLAGS", flags)
        .env("CARGO_INCREMENTAL", "0")
        .env("LC_ALL", "C")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTC_BOOTSTRAP");
    command
}

/// Takes what was built from a message of Cargo.
fn artifact(
    message: &Value,
    target: &Path,
    options: &Options,
    built: &mut Package,
) -> Result<(), Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let crate_name = text(&message["target"]["name"]).replace('-', "_");
    if let Some(program) = message["executable"].as_str() {
        // Binaries and examples are built for the tests, and are none.
        if message["profile"]["test"] != true {
            return Ok(());
        }
        let program = PathBuf::from(program);
        let module = beside(&program, "");
        let ir = read(&module)?;
        let harness = ir.contains("test_main_static");
        let (tests, entry) = if harness {
            (harness::tests(&program, &crate_name, &[&ir], options.limits)?, None)
        } else {
            (Vec::new(), symbols::function(&ir, &[&crate_name, "main"]))
        };
        built.binaries.push(TestBinary {
            package: text(&message["package_id"]),
            name: text(&message["target"]["name"]),
            kind: text(&message["target"]["kind"][0]),
            program,
            module,
            tests,
            entry,
        });
        return Ok(());
    }
    for file in message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let file = Path::new(file);
        // What was built for this machine, such as build scripts, lies elsewhere and has no module.
        if file.extension().is_some_and(|e| e == "rlib") && file.starts_with(target) {
            let module = beside(file, "lib");
            // Of a library that was put at a second place, the module is at the first.
            if module.is_file() {
                built.libraries.push(module);
            } else {
                return Err(Error::Failed {
                    program: PathBuf::from("cargo"),
                    text: format!("{} has no module: {}", file.display(), module.display()),
                });
            }
        }
    }
    Ok(())
}

/// The module beside a library or a program.
fn beside(file: &Path, prefix: &str) -> PathBuf {
    let stem = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    file.with_file_name(format!("{}.ll", stem.strip_prefix(prefix).unwrap_or(&stem)))
}

/// A folder in the cache for what is built of a manifest.
fn target_folder(manifest: &Path, options: &Options) -> Result<PathBuf, Error> {
    let Some(cache) = options.cache.clone().or_else(stand_in::default_cache) else {
        return Err(Error::Unsupported(
            "there is no folder for what is built: set HOME, or name one".to_owned(),
        ));
    };
    let hash = Sha256::digest(manifest.as_os_str().as_encoded_bytes());
    let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(cache.join("packages").join(name))
}
