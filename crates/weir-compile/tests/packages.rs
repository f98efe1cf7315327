//! Cargo packages: their tests, the modules of a test, what is built for this machine, and
//! stand-ins for loom.
#![cfg(unix)]

use crate::common::{Folder, has, options};
use std::path::PathBuf;
use std::process::Command;
use weir_compile::package::{Package, PackageOptions, TestBinary, package};
use weir_compile::{Error, Kind, Level, Options, Tools};

/// A package with a dependency, a build script, a macro crate, and tests of all kinds.
fn project() -> (Folder, PathBuf) {
    let folder = Folder::new("package");
    let manifest = folder.file(
        "Cargo.toml",
        "[package]\nname = \"two-words\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nextra = []\n\
         [lib]\npath = \"src/lib.rs\"\n\
         [dependencies]\ncell = { path = \"cell\" }\nunused = { path = \"unused\" }\nmaker = { path = \"maker\" }\n\
         [target.'cfg(loom)'.dependencies]\nloom = { path = \"loom\" }\n\
         [[test]]\nname = \"bare\"\nharness = false\n[lints.rust]\nunexpected_cfgs = \"allow\"\n",
    );
    // The build script sees the environment of a normal build, and no unstable compiler.
    folder.file(
        "build.rs",
        "fn main() { assert!(std::env::var_os(\"RUSTC_BOOTSTRAP\").is_none()); println!(\"cargo::rerun-if-changed=build.rs\\ncargo::rustc-cfg=built\"); }",
    );
    folder.file(
        "src/lib.rs",
        "pub use cell::Counter;\n#[cfg(test)] mod tests {\n\
         #[test] fn counts() { let c = super::Counter::default(); std::thread::scope(|s| { s.spawn(|| c.add()); c.add(); }); \
         assert_eq!(c.get(), maker::two!()); }\n\
         #[cfg(built)] #[test] fn built() {}\n#[cfg(feature = \"extra\")] #[test] fn extra() {}\n\
         #[cfg(loom)] #[test] fn modelled() { loom::model(|| { let a = loom::sync::Arc::new(loom::sync::atomic::AtomicU32::new(1)); \
         let b = a.clone(); let t = loom::thread::spawn(move || b.with_it()); t.join().unwrap(); assert_eq!(unsafe { a.unsync_load() }, 2); }) }\n\
         #[cfg(loom)] trait With { fn with_it(&self); }\n\
         #[cfg(loom)] impl With for loom::sync::atomic::AtomicU32 { fn with_it(&self) { self.fetch_add(1, loom::sync::atomic::Ordering::SeqCst); } } }\n",
    );
    folder.file(
        "tests/outer.rs",
        "#[test] #[ignore] fn later() { two_words::Counter::default().add(); }",
    );
    folder.file("tests/bare.rs", "fn main() { std::fs::write(\"was-run\", \"\").unwrap(); }");
    folder.file(
        "cell/Cargo.toml",
        "[package]\nname = \"cell\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    folder.file(
        "cell/src/lib.rs",
        "#[derive(Default)] pub struct Counter(std::sync::Mutex<u32>);\n\
         impl Counter { pub fn add(&self) { *self.0.lock().unwrap() += 1 } pub fn get(&self) -> u32 { *self.0.lock().unwrap() } }",
    );
    folder.file(
        "unused/Cargo.toml",
        "[package]\nname = \"unused\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    folder.file("unused/src/lib.rs", "pub fn unused() {}");
    let maker = "[package]\nname = \"maker\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n";
    folder.file("maker/Cargo.toml", maker);
    folder.file(
        "maker/src/lib.rs",
        "extern crate proc_macro;\n#[proc_macro] pub fn two(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"2\".parse().unwrap() }",
    );
    folder.file(
        "loom/Cargo.toml",
        "[package]\nname = \"loom\"\nversion = \"0.7.2\"\nedition = \"2018\"\n",
    );
    folder.file("loom/src/lib.rs", "compile_error!(\"the stand-in takes its place\");");
    (folder, manifest)
}

fn build(
    manifest: &std::path::Path,
    folder: &Folder,
    options: &Options,
    loom: bool,
    cargo: &[&str],
) -> Result<Package, Error> {
    let cargo = cargo.iter().map(std::ffi::OsString::from).collect();
    let target = Some(folder.0.join("built here"));
    package(
        manifest,
        &Tools::default(),
        options,
        &PackageOptions { cargo, loom, target, offline: true, ..PackageOptions::default() },
    )
}

/// The names of the tests of each target.
fn names(built: &Package) -> Vec<(String, Vec<String>)> {
    let tests =
        |b: &weir_compile::package::TestBinary| b.tests.iter().map(|t| t.name.clone()).collect();
    built.binaries.iter().map(|b| (format!("{} {}", b.kind, b.name), tests(b))).collect()
}

fn expected(list: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    list.iter()
        .map(|(target, tests)| {
            ((*target).to_owned(), tests.iter().map(|t| (*t).to_owned()).collect())
        })
        .collect()
}

#[test]
fn all_tests_of_a_package() {
    if !has(&[Kind::Rust, Kind::Cargo]) {
        return;
    }
    let (folder, manifest) = project();
    let built = build(&manifest, &folder, &options(), false, &[]).unwrap();
    assert_eq!(
        names(&built),
        expected(&[
            ("lib two_words", &["tests::built", "tests::counts"]),
            ("test bare", &[]),
            ("test outer", &["later"]),
        ])
    );
    // A target without the harness is a program, and is not run to find that out.
    let bare = &built.binaries[1];
    assert!(
        bare.entry.as_ref().unwrap().ends_with("4bare4main") && !folder.0.join("was-run").exists()
    );
    assert!(built.binaries[2].tests[0].ignored);
    // The modules of a test: its own, those of its dependencies, and the stand-ins; not what it
    // does not use.
    let library = &built.binaries[0];
    let counts = library.tests.iter().find(|test| test.name == "tests::counts").unwrap();
    let modules = library.read(counts.symbol.as_ref().unwrap()).unwrap();
    let names: Vec<&str> = modules.iter().map(|m| m.name.as_str()).collect();
    assert!(names[0].starts_with("two_words-") && names.contains(&"std"), "{names:?}");
    assert!(
        names.iter().any(|n| n.starts_with("cell-"))
            && !names.iter().any(|n| n.starts_with("unused-")),
        "{names:?}"
    );
    for test in &library.tests {
        let modules = library.read(test.symbol.as_ref().unwrap()).unwrap();
        let symbol = format!("@{}(", test.symbol.as_ref().unwrap());
        let is_own = |line: &str| line.starts_with("define") && line.contains(&symbol);
        assert!(modules[0].text.lines().any(is_own));
        // What belongs to other tests is left out.
        let other = library.tests.iter().find(|other| other.name != test.name).unwrap();
        assert!(!modules[0].text.contains(other.symbol.as_ref().unwrap()));
    }
    // Another process reads what is described in a file.
    let file = folder.0.join("described.json");
    library.write(&file).unwrap();
    let again = TestBinary::open(&file).unwrap();
    assert_eq!((&again.modules, &again.tests), (&library.modules, &library.tests));
    let (place, line) = again.tests[1].place.clone().unwrap();
    assert_eq!((place, line), (folder.0.canonicalize().unwrap().join("src/lib.rs"), 3));
    for text in ["", "{}", "[1]", "{\"package\": 1}"] {
        assert!(TestBinary::open(&folder.file("wrong.json", text)).is_err());
    }
    // It runs here, too.
    let output = Command::new(&library.program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // Nothing is built a second time.
    let again = build(&manifest, &folder, &options(), false, &[]).unwrap();
    assert!(!again.warnings.contains("Compiling"), "{}", again.warnings);
    assert_eq!(again.binaries.len(), 3);
}

#[test]
fn options_of_cargo_and_loom() {
    if !has(&[Kind::Rust, Kind::Cargo]) {
        return;
    }
    let (folder, manifest) = project();
    let built =
        build(&manifest, &folder, &options(), true, &["--lib", "--features", "extra"]).unwrap();
    let all = ["tests::built", "tests::counts", "tests::extra", "tests::modelled"];
    assert_eq!(names(&built), expected(&[("lib two_words", &all)]));
    let output = Command::new(&built.binaries[0].program).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let optimized = Options { level: Level::Optimized, ..options() };
    let built = build(&manifest, &folder, &optimized, false, &["--test", "outer"]).unwrap();
    assert_eq!(names(&built), expected(&[("test outer", &["later"])]));
}

#[test]
fn what_cargo_rejects() {
    if !has(&[Kind::Rust, Kind::Cargo]) {
        return;
    }
    let (folder, manifest) = project();
    let Err(Error::Rejected { text, .. }) =
        build(&manifest, &folder, &options(), false, &["--features", "absent"])
    else {
        panic!()
    };
    assert!(text.contains("absent"), "{text}");
    folder.file("src/lib.rs", "pub fn wrong() -> u32 { \"\" }");
    let Err(Error::Rejected { text, .. }) = build(&manifest, &folder, &options(), false, &[])
    else {
        panic!()
    };
    assert!(text.contains("E0308"), "{text}");
    let error =
        build(&folder.0.join("absent/Cargo.toml"), &folder, &options(), false, &[]).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}
