//! Projects in C and C++: compilation databases, and clang's place in a build.

use crate::common::{Folder, has, options};
use std::ffi::OsString;
use weir_compile::database::{cc, compile_entry, database};
use weir_compile::{Error, Kind, Tools};

#[test]
fn entries_are_compiled_in_their_folders() {
    if !has(&[Kind::C, Kind::Cpp]) {
        return;
    }
    let folder = Folder::new("database");
    folder.file("build/inc/n.h", "#define N 5\n");
    folder.file("src/a b.c", "#include <n.h>\nint f(void) { return N + M; }\n");
    folder.file("src/c.cpp", "int g() { throw 1; }\n");
    let build = folder.0.join("build").display().to_string();
    let json = format!(
        "[{{\"directory\": \"{build}\", \"file\": \"../src/a b.c\", \"command\": \"gcc -O2 -Iinc '-DM=2' -c -o a.o '../src/a b.c'\"}},\
          {{\"directory\": \"{build}\", \"file\": \"../src/c.cpp\", \"arguments\": [\"g++\", \"-std=c++17\", \"-flto\", \"../src/c.cpp\"]}},\
          {{\"directory\": \"{build}\", \"file\": \"x.s\", \"arguments\": [\"as\", \"x.s\"]}}]"
    );
    let entries = database(&folder.file("compile_commands.json", &json)).unwrap();
    assert_eq!(entries.len(), 2);
    let compiled = compile_entry(&entries[0], &Tools::default(), &options()).unwrap();
    assert!(compiled.modules[0].text.contains("ret i32 7"));
    let compiled = compile_entry(&entries[1], &Tools::default(), &options()).unwrap();
    assert!(compiled.modules[0].text.contains("__cxa_throw"));
}

#[test]
fn what_is_no_database() {
    let folder = Folder::new("no database");
    for text in
        ["", "{}", "[{}]", "[{\"directory\": \"/\", \"file\": \"a.c\"}]", "[1, [], null]", "\u{0}"]
    {
        let error = database(&folder.file("compile_commands.json", text)).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{text}: {error}");
    }
    assert!(database(&folder.0.join("absent.json")).is_err());
    let deep = "[".repeat(1_000_000);
    assert!(database(&folder.file("compile_commands.json", &deep)).is_err());
}

#[test]
fn clang_in_a_build() {
    if !has(&[Kind::C]) {
        return;
    }
    let folder = Folder::new("cc");
    let source = folder.file("a.c", "int f(void) { return 7; }\n");
    let object = folder.0.join("out.o");
    let words = |list: &[&std::path::Path]| -> Vec<OsString> {
        list.iter().map(|w| w.as_os_str().to_owned()).collect()
    };
    let mut arguments = words(&["-O2".as_ref(), "-c".as_ref(), &source, "-o".as_ref(), &object]);
    let (status, modules) = cc(Kind::C, &arguments, &Tools::default(), &options()).unwrap();
    assert_eq!((status, modules.as_slice()), (0, [folder.0.join("out.ll")].as_slice()));
    assert!(object.exists() && std::fs::read_to_string(&modules[0]).unwrap().contains("ret i32 7"));
    // What only asks, or fails, makes no module.
    assert_eq!(
        cc(Kind::C, &["-fsyntax-only".into(), source.into()], &Tools::default(), &options())
            .unwrap(),
        (0, vec![])
    );
    arguments.push("-Dint=+".into());
    let (status, modules) = cc(Kind::C, &arguments, &Tools::default(), &options()).unwrap();
    assert!(status != 0 && modules.is_empty());
}
