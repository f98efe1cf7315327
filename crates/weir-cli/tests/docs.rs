//! What the pages show is what the program does.
//!
//! * A `console` block holds commands, `$ weir …`, and what they print. A line `…`
//!   stands for any number of lines; times and counts of configurations may differ.
//!   `run.json`, `proof.json` and `page.html` are files that the block writes.
//! * A `weir` block is a program.
//! * In `docs/json.md` a `json` block is what the `sh` block before it prints.
//! * In `docs/evidence.md` the `json` block is a witness for the `weir` block.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{root, weir, weir_reading};
use serde_json::Value;
use weir::Loaded;
use weir_check::Witness;

/// The pages of the guide, but for its table of contents.
fn guide() -> Vec<String> {
    let files = fs::read_dir(root().join("docs")).unwrap().map(|f| f.unwrap().file_name());
    let names = files.map(|f| f.into_string().unwrap());
    let pages = names.filter(|f| f.ends_with(".md") && f != "SUMMARY.md");
    let mut pages: Vec<String> = pages.map(|f| format!("docs/{f}")).collect();
    pages.sort();
    pages
}

/// The pages whose commands are run.
fn pages() -> Vec<String> {
    let beside = ["README.md", "CONTRIBUTING.md"].map(str::to_owned);
    beside.into_iter().chain(guide()).collect()
}

pub fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The code blocks of a page: the language and the text.
pub fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            found.push((language.to_owned(), block.join("\n") + "\n"));
        }
    }
    found
}

/// The words of a command; quotes keep words together.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('"').enumerate();
    quoted
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// What pages call the files that their commands write.
const WRITTEN: [&str; 3] = ["run.json", "proof.json", "page.html"];

/// Where such a file of a page is.
fn scratch(page: &str, file: &str) -> String {
    let name = format!("{}.{file}", page.replace('/', "-"));
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

/// Runs a command of a page; it must not be wrong.
fn run(page: &str, command: &str) -> String {
    let arguments = command.strip_prefix("weir ").unwrap_or_else(|| panic!("{page}: {command}"));
    let place = |w: String| if WRITTEN.contains(&w.as_str()) { scratch(page, &w) } else { w };
    let arguments: Vec<String> = words(arguments).into_iter().map(place).collect();
    let output = weir(&arguments);
    assert_ne!(output.status, 2, "{page}: `{command}`: {}", output.err);
    let said = output.out + &output.err;
    WRITTEN.iter().fold(said, |said, file| said.replace(&scratch(page, file), file))
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    let line = line.trim_end();
    if line.contains(" configurations") && line.ends_with(" s") {
        return "configurations".to_owned();
    }
    if line.ends_with(" s") && (line.starts_with("views: ") || line.starts_with("bounded: ")) {
        return "positions".to_owned();
    }
    if let Some((counts, time)) = line.rsplit_once(", ")
        && time.strip_suffix(" s").is_some_and(|t| t.parse::<f64>().is_ok())
    {
        return counts.to_owned();
    }
    // A test of a package: its verdict, its time, its name.
    if let Some((verdict, rest)) = line.split_once(" s  ")
        && let Some((verdict, time)) = verdict.rsplit_once(' ')
        && ["✓ holds", "✗ violated", "? unknown", "! error"].contains(&verdict.trim_end())
        && time.parse::<f64>().is_ok()
    {
        return format!("{} {rest}", verdict.trim_end());
    }
    match line.strip_prefix("Time ").and_then(|l| l.rsplit_once(' ')) {
        Some((name, _)) => format!("Time {name}"),
        None => line.to_owned(),
    }
}

/// Whether lines are those of a page, where `…` stands for any number.
pub fn matches(shown: &[String], real: &[String]) -> bool {
    match shown.split_first() {
        None => real.is_empty(),
        Some((dots, rest)) if dots == "…" => (0..=real.len()).any(|n| matches(rest, &real[n..])),
        Some((line, rest)) => real.first() == Some(line) && matches(rest, &real[1..]),
    }
}

pub fn lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(steady).collect()
}

#[test]
fn what_the_pages_show_is_what_is_printed() {
    let mut commands = 0;
    for name in &pages() {
        for (language, text) in blocks(&page(name)) {
            if language != "console" {
                continue;
            }
            assert!(text.starts_with("$ "), "{name}: a console block begins with a command");
            for part in format!("\n{text}").split("\n$ ").skip(1) {
                let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
                let real = run(name, command);
                assert!(
                    matches(&lines(shown), &lines(&real)),
                    "{name}: `{command}` is shown as\n{shown}\nand prints\n{real}"
                );
                commands += 1;
            }
        }
    }
    assert!(commands >= 12, "only {commands} commands");
}

#[test]
fn commands_of_the_pages_exist() {
    for name in &pages() {
        for (language, text) in blocks(&page(name)) {
            if language != "sh" {
                continue;
            }
            for line in text.lines().filter(|l| !l.contains("run.json")) {
                let setting = |w: &&str| !matches!(*w, "cargo" | "weir");
                let plain: Vec<&str> = line.split_whitespace().skip_while(setting).collect();
                match plain.as_slice() {
                    ["weir", ..] => drop(run(name, line)),
                    ["cargo", "run", "--release", "-p", "weir", "--example", example, ..] => {
                        let file = format!("crates/weir/examples/{example}.rs");
                        assert!(root().join(file).exists(), "{name}: there is no {example}");
                    }
                    ["cargo", "run", "--release", "--", rest @ ..] => {
                        run(name, &format!("weir {}", rest.join(" ")));
                    }
                    // Its own tests look after these.
                    ["cargo", "run", "--profile", "ship", "-p", "weir-bench", ..] => {}
                    ["cargo", "fmt" | "clippy" | "doc" | "test" | "deny" | "package", ..] => {}
                    _ => panic!("{name}: what is `{line}`?"),
                }
            }
        }
    }
}

#[test]
fn the_commands_of_ci_are_in_the_pages() {
    let script = page(".ci/run");
    assert!(page("README.md").contains("\ncargo test --workspace\n"));
    assert!(script.contains("\ncargo test --workspace\n"));
    for line in script.lines().filter(|l| l.contains("cargo ")) {
        assert!(page("CONTRIBUTING.md").contains(line), "CONTRIBUTING.md does not name `{line}`");
    }
    for setting in ["WEIR_SEED", "WEIR_CASES"] {
        let tests = fs::read_dir(root().join("crates/weir-engine/tests")).unwrap();
        let mut texts = tests.map(|t| fs::read_to_string(t.unwrap().path()).unwrap());
        assert!(texts.any(|t| t.contains(&format!("\"{setting}\""))), "nobody reads {setting}");
    }
}

/// The targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchors of a page: its headings as links name them.
fn anchors(text: &str) -> Vec<String> {
    let legal = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    let slug = |line: &str| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        heading.chars().filter(legal).collect::<String>().replace(' ', "-")
    };
    text.lines().filter(|line| line.starts_with('#')).map(slug).collect()
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    let beside = ["ARCHITECTURE.md", "CHANGELOG.md", "docs/SUMMARY.md"].map(str::to_owned);
    for name in pages().into_iter().chain(beside) {
        let text = page(&name);
        let folder = root().join(&name).parent().unwrap().to_owned();
        for link in links(&text).filter(|link| !link.is_empty() && !link.starts_with("http")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            assert!(file.exists(), "{name}: {link} is not there");
            if !heading.is_empty() {
                let anchors = anchors(&fs::read_to_string(&file).unwrap());
                assert!(anchors.iter().any(|a| a == heading), "{name}: {link} is no heading");
            }
        }
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = page("docs/SUMMARY.md");
    let listed: Vec<String> =
        links(&summary).filter(|l| !l.is_empty()).map(|l| format!("docs/{l}")).collect();
    for name in guide() {
        let times = listed.iter().filter(|l| **l == name).count();
        assert_eq!(times, 1, "docs/SUMMARY.md lists {name} {times} times");
    }
    assert_eq!(listed.len(), guide().len(), "{listed:?}");
}

/// The text files below a directory.
fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            texts(&path, found);
        } else if ["rs", "md", "weir", "pml", "rmm", "chm", "pcp", "litmus"].contains(&ending) {
            found.push(path);
        }
    }
}

/// The words of every text of the repository that people read, without comment signs.
fn words_of_the_tree() -> Vec<(String, Vec<String>)> {
    let mut files = Vec::new();
    for directory in ["crates", "docs", "examples", "corpus", "litmus"] {
        texts(&root().join(directory), &mut files);
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        files.push(root().join(name));
    }
    files.sort();
    let sign = |word: &&str| !matches!(*word, "//" | "///" | "//!" | "*" | "/*" | "*/" | "#");
    let words = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let words = text.split_whitespace().filter(sign).map(str::to_owned).collect();
        (path.display().to_string(), words)
    };
    files.into_iter().map(words).collect()
}

/// The citations in some words: an author, `A and B` or `A et al.`, and a year.
fn citations(words: &[String]) -> Vec<String> {
    let name = |word: &str| {
        let word = word.trim_start_matches(['(', '"', '*']);
        let lower = word.chars().skip(1).any(char::is_lowercase);
        let whole = word.chars().all(|c| c.is_alphabetic() || c == '-');
        (lower && whole && word.starts_with(char::is_uppercase)).then(|| word.to_owned())
    };
    let year = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let digits = word.trim_end_matches(['a', 'b']);
        let recent = digits.parse().is_ok_and(|y: u32| (1930..2100).contains(&y));
        (recent && digits.len() == 4).then(|| word.to_owned())
    };
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let Some(year) = year(word) else { continue };
        let before = |n: usize| i.checked_sub(n).map_or("", |i| words[i].as_str());
        let authors = match (before(2), before(1)) {
            ("et", "al.") => name(before(3)).map(|first| format!("{first} et al.")),
            ("and", _) => name(before(1)).zip(name(before(3))).map(|(b, a)| format!("{a} and {b}")),
            _ => name(before(1)),
        };
        found.extend(authors.map(|authors| format!("{authors} {year}")));
    }
    found
}

#[test]
fn sources_are_in_the_bibliography() {
    let bibliography = page("docs/bibliography.md");
    let keys: Vec<&str> =
        bibliography.split("**").skip(1).step_by(2).map(|key| key.trim_end_matches('.')).collect();
    assert!(keys.contains(&"Atig et al. 2010"), "{keys:?}");
    let mut cited = 0;
    for (file, words) in words_of_the_tree() {
        if file.ends_with("bibliography.md") || file.contains("/corpus/") {
            continue;
        }
        for citation in citations(&words) {
            assert!(keys.contains(&citation.as_str()), "{file}: {citation} has no entry");
            cited += 1;
        }
    }
    assert!(cited > 150, "only {cited} citations");
}

#[test]
fn no_source_is_cited_by_a_number() {
    for (file, words) in words_of_the_tree() {
        for pair in words.windows(2) {
            let word = pair[0].trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
            let number = pair[1].starts_with(|c: char| ('1'..='5').contains(&c));
            assert!(
                !(number && matches!(word.as_str(), "paper" | "papers")),
                "{file}: `{} {}`: cite the author and the year",
                pair[0],
                pair[1]
            );
        }
    }
}

#[test]
fn the_embedded_program_is_the_example() {
    let text = page("docs/howto-library.md");
    let (_, shown) = blocks(&text).into_iter().find(|(l, _)| l == "rust").unwrap();
    assert_eq!(shown, page("crates/weir/examples/check.rs"));
}

#[test]
fn programs_of_the_pages_are_programs() {
    let mut programs = 0;
    for name in &pages() {
        for (_, text) in blocks(&page(name)).into_iter().filter(|(l, _)| l == "weir") {
            let output = weir_reading(&["show", "--language", "weir", "-"], text.as_bytes());
            assert_eq!(output.status, 0, "{name}: {output:?}");
            programs += 1;
        }
    }
    assert!(programs > 25, "only {programs} programs");
}

#[test]
fn the_program_of_the_readme_holds() {
    let (_, text) = blocks(&page("README.md")).into_iter().find(|(l, _)| l == "weir").unwrap();
    let output = weir_reading(&["check", "--language", "weir", "-"], text.as_bytes());
    assert_eq!(output.status, 0, "{output:?}");
}

/// JSON without what differs from run to run.
fn steady_json(mut value: Value) -> Value {
    for finding in value.get_mut("findings").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(stats) = finding.get_mut("statistics").and_then(Value::as_object_mut) {
            stats.values_mut().filter(|v| v.is_number()).for_each(|v| *v = 0.into());
        }
        // Too long for a page.
        if let Some(evidence) = finding.get_mut("evidence").and_then(Value::as_object_mut) {
            evidence.remove("file");
            evidence.remove("scene");
        }
    }
    // Too long for a page.
    if let Some(text) = value.get_mut("text") {
        *text = "…".into();
    }
    value
}

#[test]
fn json_is_as_documented() {
    let name = "docs/json.md";
    let text = page(name);
    run(name, "weir check litmus/SB.litmus --witness run.json");
    let mut command = None;
    let mut checked = 0;
    for (language, block) in blocks(&text) {
        match language.as_str() {
            "sh" => command = Some(block.trim().to_owned()),
            "json" => {
                let command = command.take().expect("a command before the JSON");
                let shown: Value = serde_json::from_str(&block).unwrap();
                let real: Value = serde_json::from_str(&run(name, &command)).unwrap();
                assert_eq!(steady_json(shown), steady_json(real), "{command}");
                checked += 1;
            }
            _ => {}
        }
    }
    assert_eq!(checked, 2);
}

#[test]
fn the_picture_of_the_pages_is_what_is_drawn() {
    let name = "docs/pictures/peterson.svg";
    run(name, "weir check examples/peterson.weir --svg run.json");
    let drawn = fs::read_to_string(scratch(name, "run.json")).unwrap();
    assert_eq!(drawn, page(name));
}

#[test]
fn the_documented_scene_is_one() {
    let text = page("docs/json.md");
    let block = |(language, block): (String, String)| {
        (language == "text" && block.contains("\"buffers\"")).then_some(block)
    };
    let block = blocks(&text).into_iter().find_map(block).unwrap();
    let shown: Value = serde_json::from_str(&block).unwrap();
    let command = "weir check --format json examples/store-buffering.weir";
    let mut real: Value = serde_json::from_str(&run("scene", command)).unwrap();
    let scene = &mut real["findings"][0]["evidence"]["scene"];
    let steps = scene["steps"].as_array_mut().unwrap();
    assert_eq!(steps.len(), 6);
    steps.truncate(2);
    assert_eq!(shown, *scene);
}

/// The names that a page has in the first column of its tables.
fn documented(text: &str) -> Vec<&str> {
    let first =
        |line: &'_ str| line.strip_prefix("| `").and_then(|l| l.split(" | ").next().map(str::len));
    text.lines()
        .filter_map(|line| first(line).map(|n| &line[2..2 + n + 1]))
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.trim().trim_matches('`'))
        .collect()
}

/// Every key of a value, inside and out, but those of objects that map names.
fn keys<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.push(key);
                if !matches!(
                    key.as_str(),
                    "memory"
                        | "verdicts"
                        | "states"
                        | "registers"
                        | "waiting"
                        | "positions"
                        | "history"
                        | "scenes"
                ) {
                    keys(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|v| keys(v, found)),
        _ => {}
    }
}

/// Fields of scenes that a sentence of `docs/json.md` describes.
const WITHIN_A_SENTENCE: [&str; 9] =
    ["id", "kind", "value", "name", "labels", "ended", "failure", "step", "relaxation"];

#[test]
fn every_field_is_documented() {
    // The schemas describe all fields but those of scenes and of evidence.
    let both = page("docs/json.md") + &page("docs/evidence.md");
    let fields = common::schema_fields();
    let mut documented = documented(&both);
    documented.extend(fields.iter().map(|(name, _)| name.as_str()));
    documented.extend(WITHIN_A_SENTENCE);
    for command in [
        "weir check --format json examples/peterson.weir",
        "weir check --format json --model nsw --engine explicit examples/dekker.weir",
        "weir check --format json --model nsw+rrwe litmus/IRIW.litmus",
        "weir outcomes --format json litmus/SB.litmus",
        "weir compare --format json litmus/SB.litmus",
        "weir models --format json",
    ] {
        let value: Value = serde_json::from_str(&run("fields", command)).unwrap();
        let mut found = Vec::new();
        keys(&value, &mut found);
        for key in found {
            assert!(documented.contains(&key), "`{key}` of `{command}` is not documented");
        }
    }
}

#[test]
fn every_rule_is_documented() {
    let text = page("docs/evidence.md");
    let documented = documented(&text);
    for rule in weir_model::semantics::Rule::ALL {
        assert!(documented.contains(&rule.name()), "`{}` is not documented", rule.name());
    }
}

#[test]
fn the_documented_witness_is_one() {
    let text = page("docs/evidence.md");
    let block = |language: &str| {
        let found: Vec<String> =
            blocks(&text).into_iter().filter(|(l, _)| l == language).map(|(_, b)| b).collect();
        assert_eq!(found.len(), 1, "one {language} block");
        found[0].clone()
    };
    let witness: Witness = serde_json::from_str(&block("json")).unwrap();
    let loaded = Loaded::from_text("store-buffering.weir", &block("weir"), None).unwrap();
    weir_check::check(&loaded.system, &witness).unwrap();

    // It is the one that the program writes, and the program is the example.
    run("docs/evidence.md", "weir check examples/store-buffering.weir --witness run.json");
    let written = fs::read_to_string(scratch("docs/evidence.md", "run.json")).unwrap();
    assert_eq!(serde_json::from_str::<Witness>(&written).unwrap(), witness);
    let example = fs::read_to_string(root().join("examples/store-buffering.weir")).unwrap();
    for line in block("weir").lines() {
        assert!(example.contains(line), "the example has no `{line}`");
    }
}

#[test]
fn witnesses_need_no_more_than_is_documented() {
    let text = page("docs/evidence.md");
    let json = blocks(&text).into_iter().find(|(l, _)| l == "json").unwrap().1;
    let mut value: Value = serde_json::from_str(&json).unwrap();
    for step in value["steps"].as_array_mut().unwrap() {
        let step = step.as_object_mut().unwrap();
        step.remove("line");
        step.remove("op");
        if step.contains_key("transition") {
            step.remove("variable");
        }
        // Where a read leads depends on its value.
        if step.get("rule").is_some_and(|rule| rule != "read memory") {
            step.remove("value");
        }
    }
    let witness: Witness = serde_json::from_value(value).unwrap();
    let example = root().join("examples/store-buffering.weir");
    let loaded = Loaded::from_file(example.to_str().unwrap(), None).unwrap();
    weir_check::check(&loaded.system, &witness).unwrap();
}

/// Every path that the page about the papers names exists, and so does every test.
#[test]
fn the_papers_are_where_the_page_says() {
    let text = page("docs/papers.md");
    let crates = root().join("crates");
    let mut named = [0; 2];
    for cell in text.lines().filter(|l| l.starts_with('|')).flat_map(|line| line.split(" | ")) {
        for quoted in cell.split('`').skip(1).step_by(2) {
            let (path, test) = match quoted.split_once(": ") {
                Some((path, test)) => (path, Some(test)),
                None => (quoted, None),
            };
            if !path.ends_with(".rs") {
                continue;
            }
            let code = fs::read_to_string(crates.join(path));
            let code = code.unwrap_or_else(|e| panic!("{path}: {e}"));
            named[0] += 1;
            if let Some(test) = test {
                let header = format!("#[test]\nfn {test}() {{");
                assert!(code.contains(&header), "{path} has no test `{test}`");
                named[1] += 1;
            }
        }
    }
    assert!(named[0] > 120 && named[1] > 60, "{named:?}");
    // Every numbered statement of the papers has a row.
    let rows = |paper: &str| {
        let after = text.split_once(&format!("## {paper}")).unwrap().1;
        after.split("\n## ").next().unwrap().to_owned()
    };
    let has = |paper: &str, kind: &str, numbers: &[usize]| {
        let rows = rows(paper);
        let firsts = rows.lines().filter_map(|l| l.strip_prefix("| ")?.split(" | ").next());
        let firsts: Vec<&str> = firsts.collect();
        for number in numbers {
            let found = firsts.iter().any(|cell| {
                cell.split(", ").any(|part| {
                    let words: Vec<&str> = part.split([' ']).collect();
                    words[0].trim_end_matches('s') == kind && words.contains(&&*number.to_string())
                })
            });
            assert!(found, "{paper}: {kind} {number} has no row");
        }
    };
    has("Atig et al. 2010", "theorem", &[1, 2, 3, 4, 5, 6, 7, 8]);
    has("Atig et al. 2010", "proposition", &[1, 2, 3, 4, 5, 6, 7]);
    has("Atig et al. 2010", "lemma", &[1, 2, 3, 4, 5]);
    has("Atig et al. 2012", "theorem", &[1, 2, 3, 4, 5, 6, 7, 11, 13]);
    has("Atig et al. 2012", "lemma", &[8, 9, 10]);
    has("Atig et al. 2012", "corollary", &[12]);
    has("Linden and Wolper 2010", "algorithm", &[1, 2, 3]);
    has("Spengler 2024", "theorem", &[4, 7, 8, 9]);
    has("Spengler 2024", "lemma", &[1, 2, 5, 6]);
    has("Wang et al. 2021", "theorem", &[1, 2]);
    has("Wang et al. 2021", "lemma", &[1, 2]);
}
