//! Compilers that hang, write too much, or cannot be used; caches that cannot be written.
#![cfg(unix)]

use crate::common::{Folder, has, options};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use weir_compile::{Error, Kind, Limits, Names, Options, Tools, compile};

/// Scripts in place of clang and rustc. They give the version that is asked for, and otherwise do
/// `body`.
fn fake(folder: &Folder, version: &str, body: &str) -> Tools {
    let path = folder.file(
        "bin/clang",
        &format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\n{body}\n"),
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Tools::new(Names { c: Some(path), ..Names::default() })
}

fn limited(seconds: u64, bytes: u64) -> Options {
    Options {
        limits: Limits { time: Duration::from_secs(seconds), bytes, ..Limits::default() },
        ..options()
    }
}

#[test]
fn a_compiler_that_hangs_is_ended_with_what_it_started() {
    let folder = Folder::new("hangs");
    let source = folder.file("a.c", "");
    let mark = folder.0.join("mark");
    // What it starts would write a file, and holds the outputs open.
    let body = format!("(sleep 3; touch '{}') & sleep 1000", mark.display());
    let tools = fake(&folder, "clang version 19.0.0", &body);
    let error = compile(&source, &tools, &limited(1, 1 << 20)).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    std::thread::sleep(Duration::from_secs(4));
    assert!(!mark.exists());
}

#[test]
fn a_compiler_that_leaves_something_behind_is_not_waited_for() {
    let folder = Folder::new("leaves");
    let source = folder.file("a.c", "");
    let tools = fake(&folder, "clang version 19.0.0", "sleep 1000 &\nexit 0");
    let error = compile(&source, &tools, &limited(2, 1 << 20)).unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error}");
}

#[test]
fn a_compiler_that_writes_too_much_is_ended() {
    let folder = Folder::new("writes");
    let source = folder.file("a.c", "");
    for body in [
        "yes",
        "yes 1>&2",
        "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && yes | head -c 200000000 > \"$2\"; shift; done; sleep 100",
    ] {
        let tools = fake(&folder, "clang version 19.0.0", body);
        let error = compile(&source, &tools, &limited(60, 10 << 20)).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{body}: {error}");
    }
}

#[test]
fn a_compiler_that_fails_without_a_word() {
    let folder = Folder::new("silent");
    let source = folder.file("a.c", "");
    let error =
        compile(&source, &fake(&folder, "clang version 19.0.0", "exit 3"), &options()).unwrap_err();
    assert!(matches!(&error, Error::Rejected { text, .. } if text.contains('3')), "{error}");
    // It says that it has compiled, and has not.
    let error =
        compile(&source, &fake(&folder, "clang version 19.0.0", "exit 0"), &options()).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    // No text.
    let body = "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && printf '\\377' > \"$2\"; shift; done";
    let error =
        compile(&source, &fake(&folder, "clang version 19.0.0", body), &options()).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}

#[test]
fn compilers_that_are_not_supported() {
    let folder = Folder::new("old");
    let source = folder.file("a.c", "");
    let tools = fake(&folder, "clang version 14.0.6", "exit 0");
    let error = compile(&source, &tools, &options()).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }));
    let text = error.to_string();
    assert!(
        text.contains("LLVM 14 is older than 15") && text.contains("apt install clang"),
        "{text}"
    );
    let rows = tools.rows();
    let row = rows.iter().find(|r| r.kind == Kind::C).unwrap();
    assert!(
        !row.used && row.to_string().contains("not supported: LLVM 14 is older than 15"),
        "{row}"
    );

    let tools = Tools::new(Names { c: Some(PathBuf::from("/nowhere/clang")), ..Names::default() });
    let error = compile(&source, &tools, &options()).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }), "{error}");
    let tools = fake(&folder, "clang version 19.0.0", "exit 0");
    assert!(
        tools
            .rows()
            .iter()
            .any(|r| r.used && r.kind == Kind::C && r.to_string().contains("LLVM 19"))
    );
}

#[test]
fn a_cache_that_cannot_be_written_is_not_needed() {
    if !has(&[Kind::Rust]) {
        return;
    }
    let folder = Folder::new("cache");
    let source = folder.file("a.rs", "fn main() { std::thread::spawn(|| ()).join().unwrap() }");
    // A file in place of the folder: nobody can write into it, whatever rights there are.
    let cache = folder.file("file", "");
    let options = Options { cache: Some(cache.join("cache")), ..Options::default() };
    let compiled = compile(&source, &Tools::default(), &options).unwrap();
    assert!(compiled.modules.iter().any(|m| m.name == "std"));
    // One that was left half-made is not used.
    let cache = folder.0.join("half");
    let options = Options { cache: Some(cache.clone()), ..Options::default() };
    compile(&source, &Tools::default(), &options).unwrap();
    let entries: Vec<_> = fs::read_dir(&cache).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    fs::remove_file(entries[0].join("complete")).unwrap();
    fs::remove_file(entries[0].join("libstd.rlib")).unwrap();
    compile(&source, &Tools::default(), &options).unwrap();
    assert!(entries[0].join("libstd.rlib").exists());
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
}
