//! Twenty algorithms are there in C, in C++ and in Rust, each right and with an order that is too weak, and the three give the same
//! answer to each question under each model. Weir's own language has most of them too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use weir::{MemoryModel, Verdict, Verifier};
use weir_gen::tools::are_installed;

/// The algorithms, with those in Weir's own language: right, and weakened in the same place.
const ALGORITHMS: [(&str, Option<&str>, Option<&str>); 20] = [
    ("barrier", Some("barrier-2-fenced"), Some("barrier-2")),
    ("chase-lev", Some("chase-lev-2-fenced"), Some("chase-lev-2")),
    ("clh", Some("clh-2-fenced"), Some("clh-2")),
    ("dekker", Some("dekker-2-fenced"), Some("dekker-2")),
    ("lazy", Some("dcl-2-fenced"), Some("dcl-2")),
    // It has relaxed accesses, and no other form.
    ("mailbox", Some("mp-flag-2"), None),
    ("mcs", Some("mcs-2-fenced"), Some("mcs-2")),
    ("mpmc", Some("mpmc-2-fenced"), Some("mpmc-2")),
    ("msqueue", Some("ms-queue-2-fenced"), None),
    ("parking", None, None),
    ("peterson", Some("peterson-2-fenced"), Some("peterson-2")),
    ("publish", None, None),
    ("refcount", Some("arc-2-fenced"), None),
    ("rwlock", Some("rwlock-3-fenced"), Some("rwlock-3")),
    ("seqlock", Some("seqlock-2-fenced"), Some("seqlock-2")),
    ("spinlock-tas", Some("tas-3-fenced"), Some("tas-3")),
    ("spinlock-ttas", Some("ttas-2-fenced"), Some("ttas-2")),
    ("spsc", Some("spsc-ring-2-fenced"), Some("spsc-ring-2")),
    ("ticket", Some("ticket-2-fenced"), Some("ticket-2")),
    ("treiber", Some("treiber-2-fenced"), None),
];

const LANGUAGES: [(&str, &str); 3] = [("c", "c"), ("cpp", "cpp"), ("rust", "rs")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the head of a text expects under each model: `violated` if that is expected of one property.
fn expected(file: &Path) -> BTreeMap<String, bool> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut expected = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("// expect: ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_violated = words.last() == Some(&"violated");
        *expected.entry(words[0].to_owned()).or_insert(false) |= is_violated;
    }
    expected
}

/// The answers to the questions that every program with threads is asked. What is asserted in the end is a question of its own where
/// nothing comes after it, and an assertion otherwise.
fn answers(name: &str, text: &str, model: MemoryModel) -> BTreeMap<&'static str, Verdict> {
    let report = Verifier::new(text).name(name).model(model).check();
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let mut answers = BTreeMap::new();
    for finding in &report.findings {
        let question = match finding.name() {
            "no deadlock" => "no deadlock",
            "races" => "races",
            name if name == "assertions" || name.starts_with("final_assertion") => "assertions",
            // Some have a limit, and none reaches it.
            "bounds" if finding.verdict == Verdict::Holds => continue,
            "bounds" => "bounds",
            other => panic!("{name} is asked `{other}`"),
        };
        let answer = answers.entry(question).or_insert(finding.verdict);
        if *answer != Verdict::Violated && finding.verdict != Verdict::Holds {
            *answer = finding.verdict;
        }
    }
    // What a program with a data race does is undefined, so nothing else can be asked of it.
    if answers.get("races") == Some(&Verdict::Violated) {
        answers.retain(|question, _| *question == "races");
    }
    // It is asked only where there are accesses that are not atomic.
    answers.retain(|question, answer| *question != "races" || *answer == Verdict::Violated);
    assert!(!answers.values().any(|answer| *answer == Verdict::Unknown), "{name} under {model}");
    answers
}

/// Whether answers are the same. A program in one language may have a data race where that in another one has atomic accesses that
/// are too weak: then both are wrong.
fn agree(one: &BTreeMap<&str, Verdict>, other: &BTreeMap<&str, Verdict>) -> bool {
    let is_wrong = |answers: &BTreeMap<&str, Verdict>| {
        answers.values().any(|answer| *answer == Verdict::Violated)
    };
    let is_racy =
        |answers: &BTreeMap<&str, Verdict>| answers.get("races") == Some(&Verdict::Violated);
    match is_racy(one) || is_racy(other) {
        true => is_wrong(one) && is_wrong(other),
        false => one == other,
    }
}

#[test]
fn three_languages_give_the_same_answers() {
    if !are_installed(&["clang-19", "rustc"]) {
        return;
    }
    let models = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::C11];
    let mut compared = 0;
    for (algorithm, ..) in ALGORITHMS {
        for form in ["", "-weak"] {
            if algorithm == "mailbox" && form == "-weak" {
                continue;
            }
            let mut first: BTreeMap<MemoryModel, BTreeMap<&str, Verdict>> = BTreeMap::new();
            for (language, ending) in LANGUAGES {
                let file = root().join(format!("examples/{language}/{algorithm}{form}.{ending}"));
                let text = fs::read_to_string(&file).unwrap();
                let name = file.display().to_string();
                for model in models {
                    let found = answers(&name, &text, model);
                    match first.get(&model) {
                        None => drop(first.insert(model, found)),
                        Some(before) => assert!(
                            agree(before, &found),
                            "{name} under {model}: {found:?}, not {before:?}"
                        ),
                    }
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, (2 * ALGORITHMS.len() - 1) * LANGUAGES.len() * models.len());
}

/// What is expected of the texts is the same, also of those in Weir's own language. Other tests check that it is so.
#[test]
fn four_languages_expect_the_same() {
    let corpus = |name: &str| expected(&root().join(format!("corpus/{name}.weir")));
    for (algorithm, right, weak) in ALGORITHMS {
        for (form, own) in [("", right), ("-weak", weak)] {
            if algorithm == "mailbox" && form == "-weak" {
                continue;
            }
            let of = |(language, ending): (&str, &str)| {
                expected(&root().join(format!("examples/{language}/{algorithm}{form}.{ending}")))
            };
            let all = LANGUAGES.map(of);
            assert_eq!(all[0].len(), 5, "{algorithm}{form}");
            assert!(all[1] == all[0] && all[2] == all[0], "{algorithm}{form}: {all:?}");
            if let Some(own) = own {
                let own_expected = corpus(own);
                for model in ["sc", "tso", "pso"] {
                    assert_eq!(own_expected[model], all[0][model], "{own} under {model}");
                }
            }
        }
    }
}
