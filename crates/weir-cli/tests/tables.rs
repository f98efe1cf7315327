//! What lists things lists what there is: the help and the pages the engines, and
//! `ARCHITECTURE.md` the crates and their modules.

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::{root, weir};
use weir::{ENGINES, LANGUAGES, MemoryModel};

/// The first cells of the rows of the table with this head, without backquotes.
fn rows(page: &str, head: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let cell = |line: &str| line.split('|').nth(1).unwrap().trim().replace('`', "");
    table.take_while(|line| line.starts_with('|')).map(cell).collect()
}

#[test]
fn the_engines_are_those_of_the_table() {
    let names: BTreeSet<String> = ENGINES.iter().map(|e| e.name().to_owned()).collect();
    assert_eq!(names.len(), ENGINES.len(), "two engines have one name");
    for command in ["check", "compare", "outcomes", "graph"] {
        let help = weir(&[command, "--help"]).out;
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for engine in ENGINES {
            let (name, about) = (engine.name(), engine.about());
            assert!(words.contains(&format!("- {name}: {about}")), "{command}: {name}\n{help}");
        }
    }
    assert_eq!(rows("docs/command-line.md", "| engine |"), names);
    let others: BTreeSet<String> = names.into_iter().filter(|n| n != ENGINES[0].name()).collect();
    assert_eq!(rows("docs/engines.md", "| engine |"), others);
}

/// An engine that is asked for what it does not decide says so, everywhere.
#[test]
fn an_engine_that_does_not_decide_a_model_is_an_error() {
    let file = root().join("examples/store-buffering.weir");
    let file = file.to_str().unwrap();
    for engine in ENGINES {
        for (name, model) in MemoryModel::NAMED {
            for command in ["check", "compare", "graph"] {
                let args = [command, file, "--engine", engine.name(), "--model", name];
                let output = weir(&args);
                let reason = format!("the engine `{}` is for", engine.name());
                let refused = output.status == 2 && output.err.contains(&reason);
                assert_eq!(!refused, engine.decides(model), "{args:?}: {}", output.err);
            }
        }
    }
}

#[test]
fn the_languages_are_those_of_the_table() {
    let help = weir(&["check", "--help"]).out;
    for language in LANGUAGES {
        assert!(help.contains(language.name), "{language:?}\n{help}");
    }
}

/// The modules at the top of a crate.
fn modules(of: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(of.join("src")).unwrap();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let names = entries.map(|entry| name(&entry.unwrap().path()));
    names.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

/// What stands in backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A file that `main.rs` leaves out would be compiled by nobody.
#[test]
fn all_files_of_tests_are_run() {
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let tests = folder.unwrap().path().join("tests");
        let Ok(main) = fs::read_to_string(tests.join("main.rs")) else { continue };
        let declared: BTreeSet<&str> =
            main.lines().filter_map(|l| l.strip_prefix("mod ")?.strip_suffix(';')).collect();
        for entry in fs::read_dir(&tests).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if path.extension().is_some_and(|e| e == "rs") && name != "main" {
                assert!(declared.contains(name), "{}", path.display());
            }
        }
    }
}

#[test]
fn the_rooms_are_those_that_there_are() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rooms = page.split_once("## Where to change what").unwrap().0;
    let crates: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(rows("ARCHITECTURE.md", "| crate | what is in it"), crates);
    let sections: Vec<(&str, &str)> =
        rooms.split("\n### ").skip(1).map(|s| s.split_once('\n').unwrap()).collect();
    assert_eq!(
        sections.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(),
        crates
    );
    for (name, text) in sections {
        let path = root().join("crates").join(name);
        let modules = modules(&path);
        let words = quoted(text);
        for module in &modules {
            let is_it = |w: &&str| w.split("::").next() == Some(module);
            assert!(words.iter().any(is_it), "{name}: the module `{module}` is not named");
        }
        // `a::b` of a module `a` is a module in it.
        for word in
            words.iter().filter(|w| !w.contains(|c: char| !c.is_lowercase() && !":_".contains(c)))
        {
            let Some((outer, inner)) = word.split_once("::") else { continue };
            let inside = path.join("src").join(outer).join(inner.replace("::", "/"));
            let exists = inside.is_dir() || inside.with_extension("rs").is_file();
            assert!(!modules.contains(outer) || exists, "{name}: there is no `{word}`");
        }
    }
    // Files are named by their paths.
    for word in quoted(&page).iter().filter(|w| w.starts_with("weir") && w.contains('/')) {
        assert!(root().join("crates").join(word).exists(), "there is no `{word}`");
    }
}
