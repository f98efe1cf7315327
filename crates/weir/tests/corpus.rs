//! Every program of the corpus says what is expected of it, and gets it.
//!
//! A line `// expect: MODEL PROPERTY VERDICT` names a verdict, or `slow` where
//! it is not known. A fence with `// needed: MODELS` is needed under
//! these: without its line, and with all others, some property is violated.
//! Every run that an answer rests on is checked.
//!
//! What takes more than about four seconds is in [`SLOW`]. It is run only if the
//! environment has `WEIR_SLOW=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use weir::question::witness;
use weir::{ENGINES, Loaded, MemoryModel, Verdict};
use weir_engine::{Engine, SearchOptions, Task};
use weir_gen::tools::is_slow;
use weir_model::answer::Answer;
use weir_model::limits::Budget;

const MODELS: [&str; 4] = ["sc", "tso", "pso", "nsw"];

/// The expectations that are left out unless `WEIR_SLOW=1`: a file and a model.
const SLOW: &[(&str, &str)] = &[("clh-3", "pso"), ("clh-3", "nsw"), ("dijkstra-3-fenced", "pso")];

/// Where nobody has waited for a property, the others are asked with so much
/// memory. It is enough for every bug.
const LITTLE: usize = 32 << 20;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "weir"));
    files.sort();
    files
}

fn load(name: &str, text: &str) -> Loaded {
    Loaded::from_text(name, text, None).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Answers every property, and checks every run.
fn answers(
    name: &str,
    loaded: &Loaded,
    model: MemoryModel,
    engine: &'static dyn Engine,
    options: &SearchOptions,
) -> Vec<Answer> {
    let system = &loaded.system;
    let (answers, _) = engine.check(Task::new(system, model, options), &mut |_| {}).unwrap();
    for answer in &answers {
        if let Some(witness) = witness(loaded, answer) {
            let property = system.questions[answer.property.index()].name.clone();
            weir_check::check(system, &witness)
                .unwrap_or_else(|e| panic!("{name}: `{property}` under {model}: {e}"));
        }
    }
    answers
}

/// Whether some property is violated.
fn is_broken(name: &str, loaded: &Loaded, model: MemoryModel) -> bool {
    let options =
        SearchOptions { budget: Budget::new().with_store(LITTLE), ..SearchOptions::default() };
    let found = answers(name, loaded, model, ENGINES[0], &options);
    found.iter().any(|a| a.verdict == Verdict::Violated)
}

/// For each model, what becomes of each property.
fn expectations(name: &str, text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut expected: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("// expect:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [model, property @ .., verdict] = words.as_slice() else {
            panic!("{name}: `{line}` is no expectation");
        };
        assert!(MODELS.contains(model), "{name}: `{model}` is no model of the corpus");
        assert!(["holds", "violated", "slow"].contains(verdict), "{name}: `{verdict}`");
        let of_model = expected.entry((*model).to_owned()).or_default();
        let before = of_model.insert(property.join(" "), (*verdict).to_owned());
        assert!(before.is_none(), "{name}: two expectations in `{line}`");
    }
    expected
}

/// The fences of a text: the number of the line, and the models.
fn fences(name: &str, text: &str) -> Vec<(usize, Vec<String>)> {
    let mut fences = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        if !["fence", "wfence", "rfence"].contains(&code.trim()) {
            continue;
        }
        let models = comment
            .trim()
            .strip_prefix("needed:")
            .unwrap_or_else(|| panic!("{name}: nobody says who needs the fence in `{line}`"));
        let models: Vec<String> = models.split_whitespace().map(str::to_owned).collect();
        assert!(!models.is_empty(), "{name}: nobody needs the fence in `{line}`");
        assert!(models.iter().all(|m| MODELS.contains(&m.as_str())), "{name}: `{line}`");
        fences.push((number, models));
    }
    fences
}

/// Checks one file and prints its row of the table.
fn one(path: &Path) {
    let began = Instant::now();
    let name = path.file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("// "), "{name} does not say what it is");
    let loaded = load(name, &text);
    let system = &loaded.system;
    let names: BTreeSet<String> = system.questions.iter().map(|q| q.name.clone()).collect();
    let expected = expectations(name, &text);
    let left_out = |model: &str| !is_slow() && SLOW.contains(&(name, model));

    let mut row = format!("{name:24}");
    for model in MODELS {
        let of_model = expected.get(model).unwrap_or_else(|| panic!("{name}: {model}?"));
        let said: BTreeSet<String> = of_model.keys().cloned().collect();
        assert_eq!(said, names, "{name}: expectations under {model}");
        if left_out(model) {
            row += &format!(" {model}: -  ");
            continue;
        }
        let mut letters = String::new();
        let is_slow = of_model.values().any(|v| v == "slow");
        let store = if is_slow { LITTLE } else { usize::MAX };
        let options =
            SearchOptions { budget: Budget::new().with_store(store), ..SearchOptions::default() };
        for answer in answers(name, &loaded, model.parse().unwrap(), ENGINES[0], &options) {
            let property = system.questions[answer.property.index()].name.clone();
            let found = match answer.verdict {
                Verdict::Unknown => "slow",
                known => known.name(),
            };
            assert_eq!(found, of_model[&property], "{name}: `{property}` under {model}");
            letters.push(match answer.verdict {
                Verdict::Holds => '+',
                Verdict::Violated => 'x',
                Verdict::Unknown => '?',
            });
        }
        row += &format!(" {model}: {letters:3}");
    }

    let mut flips = 0;
    for (number, models) in fences(name, &text) {
        let rest: Vec<&str> =
            text.lines().enumerate().filter(|&(n, _)| n != number).map(|(_, l)| l).collect();
        let without = load(name, &rest.join("\n"));
        for model in models {
            assert!(
                is_broken(name, &without, model.parse().unwrap()),
                "{name}: line {} is not needed under {model}",
                number + 1
            );
            flips += 1;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{row} fences: {flips:2}  {seconds:6.2} s");
}

/// Checks the files whose names begin with a letter of this range.
fn between(first: char, last: char) {
    for path in corpus() {
        let letter = path.file_name().unwrap().to_str().unwrap().chars().next().unwrap();
        if (first..=last).contains(&letter) {
            one(&path);
        }
    }
}

#[test]
fn from_a_to_c() {
    between('a', 'c');
}

#[test]
fn from_d_to_k() {
    between('d', 'k');
}

#[test]
fn from_l_to_r() {
    between('l', 'r');
}

#[test]
fn from_s_to_z() {
    between('s', 'z');
}

#[test]
fn the_corpus_is_there() {
    let files = corpus();
    assert!(files.len() >= 190, "only {} programs", files.len());
    let names: Vec<&str> = files.iter().map(|f| f.file_stem().unwrap().to_str().unwrap()).collect();
    for (name, _) in SLOW {
        assert!(names.contains(name), "there is no `{name}`");
    }
}

/// What a file says of itself first, without what it says of its source.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|l| l.strip_prefix("//")).map(str::trim);
    let head = lines.take_while(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    let (mut sentence, mut depth) = (String::new(), 0);
    for (i, c) in head.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '.' | ':' if depth == 0 && head[i + 1..].chars().next().is_none_or(|c| c == ' ') => {
                break;
            }
            _ if depth == 0 => sentence.push(c),
            _ => {}
        }
    }
    sentence.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",")
}

/// The index of the corpus: a row for each file, with what becomes of it.
fn index() -> String {
    let mut page = String::from(
        "# The corpus\n\n\
         Published algorithms, each with the fences that each memory model needs, and the reason for each\n\
         fence. The tests check every `// expect:` line, and that every fence marked `// needed:` is\n\
         needed. A name ends with the number of processes. `-fenced` has the fewest fences for NSW, and\n\
         so for every model; `-fenced-tso` has the fewest for TSO. The sources are in\n\
         [SOURCES.md](SOURCES.md).\n\n\
         | program | what it is | SC | TSO | PSO | NSW |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for path in corpus() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let expected = expectations(name, &text);
        page += &format!("| [{name}]({name}.weir) | {} |", first_sentence(&text));
        for model in MODELS {
            let verdicts = &expected[model];
            let has = |v: &str| verdicts.values().any(|found| found == v);
            let cell = match (has("violated"), has("slow")) {
                (true, _) => "**violated**",
                (false, true) => "unknown",
                (false, false) => "holds",
            };
            page += &format!(" {cell} |");
        }
        page.push('\n');
    }
    page
}

/// `WEIR_WRITE=1` writes it.
#[test]
fn the_index_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/README.md");
    let index = index();
    if std::env::var_os("WEIR_WRITE").is_some_and(|v| v == "1") {
        fs::write(&path, &index).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == index, "corpus/README.md is out of date: run this with WEIR_WRITE=1");
}
