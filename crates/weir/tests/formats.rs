//! Every program that is written in another tool's language says what is expected
//! of it, and gets it.
//!
//! `expect: MODEL PROPERTY VERDICT` in a comment names a verdict, under SC and under
//! TSO at least. `options:` are `--domain`s. Every run that an answer rests on is
//! checked, and engines that answer agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use weir::question::witness;
use weir::{Bound, ENGINES, Loaded, MemoryModel, Reading, Verdict};
use weir_engine::{Backward, Engine, Explicit, SearchOptions, Task, Views};
use weir_model::limits::Budget;

/// The folders, with the ending of their files and what they are.
const FOLDERS: [(&str, &str, &str); 2] = [
    (
        "rmm",
        "rmm",
        "Programs for Memorax and Dual-TSO. `docs/other-inputs.md` says how they are read.",
    ),
    ("trencher", "txt", "Programs for Trencher. `docs/other-inputs.md` says how they are read."),
];

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == ending));
    files.sort();
    files
}

/// What stands after a word at the beginning of comment lines.
fn lines<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let line = line.trim().trim_start_matches(['#', '/', '*', ' ']);
        Some(line.strip_prefix(word)?.trim().trim_end_matches("*/").trim())
    })
}

fn reading(text: &str) -> Reading {
    let domains = lines(text, "options:").flat_map(|l| l.split("--domain").skip(1));
    let bounds = domains.map(|d| d.trim().trim_end_matches(',').parse::<Bound>().unwrap());
    Reading { bounds: bounds.collect(), ..Reading::default() }
}

type Expected = BTreeMap<String, BTreeMap<String, String>>;

fn expectations(text: &str) -> Expected {
    let mut expected = Expected::new();
    for line in lines(text, "expect:") {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [model, property, verdict] = words.as_slice() else { panic!("`{line}`") };
        let verdicts = expected.entry((*model).to_owned()).or_default();
        assert!(verdicts.insert((*property).to_owned(), (*verdict).to_owned()).is_none());
    }
    expected
}

fn one(path: &Path) {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).unwrap();
    let loaded = Loaded::read(&name, &text, &reading(&text))
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    let system = &loaded.system;
    let names: BTreeSet<String> = system.questions.iter().map(|q| q.name.clone()).collect();
    let expected = expectations(&text);
    for model in ["sc", "tso"] {
        assert!(expected.contains_key(model), "{name}: {model}?");
    }
    for (model, verdicts) in expected {
        let said: BTreeSet<String> = verdicts.keys().cloned().collect();
        assert_eq!(said, names, "{name} under {model}");
        let model: MemoryModel = model.parse().unwrap();
        let engines = [ENGINES[0], &Explicit, &Views, &Backward];
        for engine in engines.into_iter().filter(|e| e.decides(model)) {
            let store = if engine.name() == ENGINES[0].name() { usize::MAX } else { 64 << 20 };
            let options = SearchOptions {
                budget: Budget::new().with_store(store),
                ..SearchOptions::default()
            };
            // What is large for a second opinion is left out.
            if engine.name() == Backward.name() && system.processes.len() > 2 {
                continue;
            }
            let (answers, _) =
                engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap();
            for answer in answers {
                let property = system.questions[answer.property.index()].name.clone();
                let found = answer.verdict.name();
                let ok = found == verdicts[&property]
                    || engine.name() != ENGINES[0].name() && answer.verdict == Verdict::Unknown;
                assert!(ok, "{name}: `{property}` under {model} is {found} by {engine:?}");
                if let Some(witness) = witness(&loaded, &answer) {
                    weir_check::check(system, &witness)
                        .unwrap_or_else(|e| panic!("{name}: `{property}` under {model}: {e}"));
                }
            }
        }
    }
}

#[test]
fn every_rmm_program_keeps_its_promise() {
    let files = files("rmm", "rmm");
    assert!(files.len() >= 15);
    files.iter().for_each(|path| one(path));
}

#[test]
fn every_trencher_program_keeps_its_promise() {
    let files = files("trencher", "txt");
    assert!(files.len() >= 8);
    files.iter().for_each(|path| one(path));
}

/// The first sentence of the first comment.
fn about(text: &str) -> String {
    let first = text.lines().next().unwrap_or("").trim_start_matches(['#', '/', '*', ' ']);
    first.trim_end_matches('.').to_owned()
}

/// `WEIR_WRITE=1` writes them.
#[test]
fn the_indices_are_true() {
    for (folder, ending, what) in FOLDERS {
        let mut page = format!("# {folder}\n\n{what}\n\n| program | what it is | SC | TSO |\n");
        page += "| --- | --- | --- | --- |\n";
        for path in files(folder, ending) {
            let text = fs::read_to_string(&path).unwrap();
            let (stem, name) = (path.file_stem().unwrap(), path.file_name().unwrap());
            let (stem, name) = (stem.to_str().unwrap(), name.to_str().unwrap());
            let expected = expectations(&text);
            let verdict = |model: &str| {
                let verdicts = &expected[model];
                verdicts.get("forbidden").or(verdicts.get("ends")).unwrap().as_str()
            };
            let (sc, tso) = (verdict("sc"), verdict("tso"));
            page += &format!("| [{stem}]({name}) | {} | {sc} | {tso} |\n", about(&text));
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../corpus")
            .join(folder)
            .join("README.md");
        if std::env::var_os("WEIR_WRITE").is_some_and(|v| v == "1") {
            fs::write(&file, &page).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == page, "{} is out of date: run this with WEIR_WRITE=1", file.display());
    }
}
