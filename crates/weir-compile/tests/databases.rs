//! Projects in C and C++: compilation databases, and clang's place in a build.

use crate::common::{Folder, has, options};
use std::ffi::OsString;
use weir_compile::database::{Built, cc, compile_all, compile_entry, database, joined};
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
    let module = folder.0.join("out.o.ll");
    let built = cc(Kind::C, &arguments, &Tools::default(), &options()).unwrap();
    assert_eq!((built.status, built.modules.as_slice()), (0, [module.clone()].as_slice()));
    assert!(object.exists() && std::fs::read_to_string(&module).unwrap().contains("ret i32 7"));
    // A program has the modules of its objects and its sources.
    let main = folder.file("main.c", "int f(void); int main(void) { return f(); }\n");
    let program = folder.0.join("prog");
    let link = words(&[&main, &object, "-o".as_ref(), &program]);
    let built = cc(Kind::C, &link, &Tools::default(), &options()).unwrap();
    assert_eq!((built.status, built.modules), (0, vec![folder.0.join("prog.ll")]));
    let text = std::fs::read_to_string(folder.0.join("prog.ll")).unwrap();
    assert!(text.contains("ret i32 7") && text.contains("@main()"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("; ModuleID")).count(), 2);
    // An object that was not compiled so is named, and the build goes on.
    std::fs::remove_file(&module).unwrap();
    let built = cc(Kind::C, &link, &Tools::default(), &options()).unwrap();
    assert!(built.status == 0 && built.notes[0].contains("out.o"), "{built:?}");
    // What only asks, or fails, makes no module.
    let asking = ["-fsyntax-only".into(), source.into()];
    let built = cc(Kind::C, &asking, &Tools::default(), &options()).unwrap();
    assert_eq!(built, Built::default());
    arguments.push("-Dint=+".into());
    let built = cc(Kind::C, &arguments, &Tools::default(), &options()).unwrap();
    assert!(built.status != 0 && built.modules.is_empty());
}

#[test]
fn a_program_of_several_sources() {
    if !has(&[Kind::C]) {
        return;
    }
    let folder = Folder::new("program");
    folder.file(
        "main.c",
        "int f(void); static int g(void) { return 1; } int main(void) { return f() + g(); }\n",
    );
    folder.file("f.c", "int f(void) { return 7; }\n");
    folder.file("other.c", "static int f(void) { return 8; } int main(void) { return f(); }\n");
    let entry = |file: &str| {
        let here = folder.0.display();
        format!(
            "{{\"directory\": \"{here}\", \"file\": \"{file}\", \"command\": \"cc -c {file}\"}}"
        )
    };
    let list = ["f.c", "main.c", "other.c", "f.c"].map(entry).join(",");
    let entries = database(&folder.file("compile_commands.json", &format!("[{list}]"))).unwrap();
    let units = compile_all(&entries, &Tools::default(), &options()).unwrap();
    let mains: Vec<bool> = units.iter().map(|unit| unit.defines("main")).collect();
    assert_eq!(mains, [false, true, true]);
    let modules = joined(units, 1);
    let names: Vec<bool> = modules.iter().map(|module| module.name.ends_with("main.c")).collect();
    assert_eq!(names, [true, false]);
    folder.file("f.c", "int f(void) { return }\n");
    let wrong = compile_all(&entries, &Tools::default(), &options()).unwrap_err();
    assert!(matches!(wrong, Error::Rejected { .. }), "{wrong}");
}
