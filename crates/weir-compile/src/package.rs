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
//! changed. A program with tests can be described in a file ([`TestBinary::write`]), so that other processes read its
//! modules without Cargo.

use crate::join::{self, Symbols};
use crate::process::{self, Limits};
use crate::stand_in::{self, StandIn};
use crate::{
    Error, Kind, Level, Module, Options, Test, Tool, Tools, harness, prune, rust, symbols,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
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
    /// Is called before Cargo runs if nothing of the package has been built before, which takes long.
    pub first: fn(),
}

impl Default for PackageOptions {
    /// All tests, and an hour.
    fn default() -> PackageOptions {
        let limits = Limits { time: Duration::from_secs(3600), ..Limits::default() };
        let first = || {};
        PackageOptions {
            cargo: Vec::new(),
            loom: false,
            target: None,
            offline: false,
            limits,
            first,
        }
    }
}

/// The tests of a package.
#[derive(Debug)]
pub struct Package {
    /// One for each target with tests: the library, each file in `tests`.
    pub binaries: Vec<TestBinary>,
    /// The modules of all libraries, by the crates that are used.
    pub libraries: Vec<PathBuf>,
    /// What Cargo and the compiler wrote.
    pub warnings: String,
    /// The stand-ins, whose modules may be in a temporary folder.
    _stand_in: StandIn,
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
    /// The modules of its tests: its own comes first, then those of libraries and stand-ins that define what it uses.
    pub modules: Vec<PathBuf>,
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
    let target = match &package.target {
        Some(target) => std::path::absolute(target).map_err(|e| Error::file(target, &e))?,
        None => target_folder(&manifest, options)?,
    };
    let has_stand_in = StandIn::is_there(&rustc, options.cache.as_deref());
    if !has_stand_in {
        (package.first)();
    }
    let stand_in = StandIn::get(&rustc, options.cache.as_deref())?;
    // The folder of the stand-ins has their version in its name: with others, all is built again.
    let version = stand_in
        .folder()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let level = if options.level == Level::Optimized { "optimized" } else { "source" };
    let target = target.join(format!("{version}-{level}"));
    if has_stand_in && !target.is_dir() {
        (package.first)();
    }
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
        warnings: String::from_utf8_lossy(&ended.stderr).into_owned(),
        _stand_in: stand_in,
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
    find_modules(&mut built)?;
    Ok(built)
}

/// Finds out which modules the tests of each program need.
fn find_modules(built: &mut Package) -> Result<(), Error> {
    let stand_ins = built._stand_in.files().map(|(_, path)| path);
    let shared: Vec<PathBuf> = built.libraries.iter().cloned().chain(stand_ins).collect();
    // Only the symbols are kept: what is not needed can be large.
    let symbols = |path: &PathBuf| Ok(Symbols::of(&read(path)?));
    let mut all = vec![Symbols::default()];
    for path in &shared {
        all.push(symbols(path)?);
    }
    for binary in &mut built.binaries {
        all[0] = symbols(&binary.modules[0])?;
        let needed = join::needed(&all).into_iter().filter_map(|number| number.checked_sub(1));
        binary.modules.extend(needed.map(|number| shared[number].clone()));
    }
    Ok(())
}

/// A program of a package: a test, or a target without the test harness.
#[derive(Clone, Debug)]
pub struct Program<'b> {
    /// Its path with the name of its crate, such as `queue::tests::first`, or `queue::main`.
    pub name: String,
    /// The target that it is in.
    pub binary: &'b TestBinary,
    /// The test, as its harness describes it. Without a harness, the path of `main` and its symbol.
    pub test: Test,
}

impl TestBinary {
    /// Its tests, or itself if it has no test harness.
    pub fn programs(&self) -> impl Iterator<Item = Program<'_>> {
        let main = self.entry.as_ref().map(|symbol| Test {
            name: "main".to_owned(),
            symbol: Some(symbol.clone()),
            ..Test::default()
        });
        let crate_name = self.name.replace('-', "_");
        self.tests.iter().cloned().chain(main).map(move |test| Program {
            name: format!("{crate_name}::{}", test.name),
            binary: self,
            test,
        })
    }

    /// Reads what the program needs that begins with the function of this symbol.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(&self, symbol: &str) -> Result<Vec<Module>, Error> {
        let module = |path: &PathBuf| {
            let name = path.file_stem().map(|n| n.to_string_lossy().into_owned());
            Ok(Module { name: name.unwrap_or_default(), text: read(path)? })
        };
        let modules: Vec<Module> = self.modules.iter().map(module).collect::<Result<_, _>>()?;
        Ok(prune::reachable(modules, symbol))
    }

    /// Describes it in a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let tests = self.tests.iter().map(|test| {
            let place = test.place.as_ref().map(|(file, line)| json!([shown(file), line]));
            json!({ "name": test.name, "symbol": test.symbol, "ignored": test.ignored, "panics": test.panics, "place": place })
        });
        let value = json!({
            "package": self.package,
            "name": self.name,
            "kind": self.kind,
            "program": shown(&self.program),
            "modules": self.modules.iter().map(|path| shown(path)).collect::<Vec<_>>(),
            "tests": tests.collect::<Vec<_>>(),
            "entry": self.entry,
        });
        fs::write(path, value.to_string()).map_err(|e| Error::file(path, &e))
    }

    /// Reads such a description.
    ///
    /// # Errors
    /// If the file cannot be read, or is none.
    pub fn open(path: &Path) -> Result<TestBinary, Error> {
        let text = fs::read_to_string(path).map_err(|e| Error::file(path, &e))?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let found = described(&value);
        found.ok_or_else(|| Error::File {
            path: path.to_owned(),
            text: "it does not describe a program with tests".to_owned(),
        })
    }
}

fn described(value: &Value) -> Option<TestBinary> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let test = |value: &Value| {
        let place = value["place"][0].as_str().zip(value["place"][1].as_u64());
        Some(Test {
            name: text(&value["name"])?,
            symbol: text(&value["symbol"]),
            ignored: value["ignored"] == true,
            panics: value["panics"] == true,
            place: place.and_then(|(file, line)| Some((file.into(), usize::try_from(line).ok()?))),
        })
    };
    let modules = value["modules"].as_array()?;
    Some(TestBinary {
        package: text(&value["package"])?,
        name: text(&value["name"])?,
        kind: text(&value["kind"])?,
        program: text(&value["program"])?.into(),
        modules: modules.iter().map(|path| Some(text(path)?.into())).collect::<Option<_>>()?,
        tests: value["tests"].as_array()?.iter().map(test).collect::<Option<_>>()?,
        entry: text(&value["entry"]),
    })
}

/// The largest module that is read, in bytes.
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
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics", "--color=never"]);
    command.arg("--manifest-path").arg(manifest);
    if package.offline {
        command.arg("--offline");
    }
    if let Some(folder) = manifest.parent() {
        command.current_dir(folder);
    }
    // The user's own flags are kept, and come first. Cargo takes flags from one place only: without any, those of its configuration
    // count.
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut flags_of_all: Vec<OsString> = own.split_whitespace().map(OsString::from).collect();
    for define in options.defines.iter().map(String::as_str).chain(package.loom.then_some("loom")) {
        flags_of_all.extend(["--cfg".into(), define.into()]);
    }
    flags_of_all.extend(options.flags.iter().cloned());
    if !flags_of_all.is_empty() {
        command.env("CARGO_ENCODED_RUSTFLAGS", flags_of_all.join(OsStr::new("\u{1f}")));
    } else if std::env::var_os("RUSTFLAGS").is_some() {
        command.env_remove("RUSTFLAGS");
    }
    command
        .env("RUSTC", &rustc.path)
        .env("RUSTC_WRAPPER", stand_in.folder().join(stand_in::WRAPPER))
        .env("WEIR_FLAGS", flags)
        .env("CARGO_INCREMENTAL", "0")
        .env("LC_ALL", "C")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
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
            let manifest = text(&message["manifest_path"]);
            let folder = Path::new(&manifest).parent().unwrap_or(Path::new(""));
            (harness::tests(&program, &crate_name, &[&ir], folder, options.limits)?, None)
        } else {
            (Vec::new(), symbols::function(&ir, &[&crate_name, "main"]))
        };
        built.binaries.push(TestBinary {
            package: text(&message["package_id"]),
            name: text(&message["target"]["name"]),
            kind: text(&message["target"]["kind"][0]),
            program,
            modules: vec![module],
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
