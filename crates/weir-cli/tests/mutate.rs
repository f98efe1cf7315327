//! No text makes a reader panic or hang, no evidence its checker, no message the language server and
//! no request the web server.
//!
//! Texts of every language, evidence of every kind, streams of messages and requests are changed at
//! random and read; what is read is sometimes built, printed and read again, and errors are rendered.
//! Sums that overflow panic.
//!
//! ```sh
//! WEIR_MUTANTS=10000000 WEIR_SEED=1 cargo test --profile fuzz -p weir-cli --test all mutate:: -- --nocapture
//! ```
//!
//! `WEIR_MUTANTS` is how many texts, `WEIR_SEED` where they begin. A text that makes something
//! panic is made small and printed with the seed that made it; one that takes too long ends
//! the test.

use crate::common;
use crate::evidence;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::root;
use serde_json::json;
use weir::certify::{certify, model};
use weir::{Language, Loaded, MemoryModel, Reading};
use weir_channel::text;
use weir_front::Diagnostic;
use weir_gen::mutate::{mutate, shrink_text};
use weir_gen::{Rng, setting};
use weir_model::limits::Budget;
use weir_theory::{cpcp, pcp};

/// How many texts are tried if nothing is said.
const FEW: u64 = 20_000;

/// Longer than any text may take, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// The time that building a system may take.
const BUILDING: Duration = Duration::from_millis(200);

/// The longest text that is changed.
const LONGEST: usize = 4_000;

/// The first of the readers are those of languages.
const LANGUAGES: usize = 9;

/// The stack of the thread that reads: that of a program's main thread.
const STACK: usize = 8 << 20;

/// Makes a text.
type Make = Box<dyn Fn(&mut Rng) -> String + Send>;

/// Reads a text; the numbers decide what else is done with it. Whether it is right.
type Read = Box<dyn Fn(&str, &mut Rng) -> bool + Send>;

/// Something that reads texts of a kind.
struct Reader {
    name: String,
    make: Make,
    read: Read,
}

impl Reader {
    /// A reader of texts that are changed without a look at what they mean.
    fn new(
        name: &str,
        texts: Vec<String>,
        read: impl Fn(&str, &mut Rng) -> bool + Send + 'static,
    ) -> Self {
        let make = move |rng: &mut Rng| {
            let text = rng.pick(&texts);
            mutate(rng, text, &texts)
        };
        Self { name: name.to_owned(), make: Box::new(make), read: Box::new(read) }
    }
}

/// The texts of files with an ending in some folders, without what is long.
fn texts(folders: &[&str], ending: &str) -> Vec<String> {
    let files = |folder: &&str| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<PathBuf>>()
    };
    let mut files: Vec<PathBuf> = folders.iter().flat_map(files).collect();
    files.sort();
    files.retain(|f| f.extension().is_some_and(|e| e == ending));
    let mut texts: Vec<String> = files.iter().map(|f| fs::read_to_string(f).unwrap()).collect();
    texts.retain(|text| text.len() <= LONGEST);
    assert!(!texts.is_empty(), "{folders:?} {ending}");
    texts
}

/// Errors can be shown.
fn render(errors: &[Diagnostic], text: &str, rng: &mut Rng) {
    assert!(!errors.is_empty(), "no error says what is wrong");
    if rng.once_in(8) {
        let color = rng.once_in(2);
        for error in errors.iter().take(3) {
            let shown = error.render("mutant", text, color);
            assert!(color || !shown.contains('\x1b'), "a control character is shown");
        }
    }
}

/// The lines of a text that are no comments, which say what things were called in another
/// language.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// A language of programs.
fn language(name: &str, language: &'static Language, texts: Vec<String>) -> Reader {
    let read = move |text: &str, rng: &mut Rng| {
        let program = match weir_front::read("mutant", text, Some(language)) {
            Ok((program, _)) => program,
            Err(errors) => {
                render(&errors, text, rng);
                return false;
            }
        };
        if rng.once_in(4) {
            // What is printed can be read, and is printed the same.
            let printed = weir_front::weir::print(&program);
            let again = weir_front::read("again.weir", &printed, None);
            let (again, _) = again.unwrap_or_else(|errors| {
                panic!("what is printed is wrong: {}\n{printed}", errors[0].message)
            });
            let twice = weir_front::weir::print(&again);
            assert!(code(&twice).eq(code(&printed)), "it is printed in another way");
        }
        if rng.once_in(16) {
            let budget = Budget::new().with_time(BUILDING);
            let reading = Reading { language: Some(language), budget, ..Reading::default() };
            if let Err(error) = Loaded::read("mutant", text, &reading) {
                error.render(false);
            }
        }
        true
    };
    Reader::new(name, texts, read)
}

fn machines() -> Reader {
    let read = |mutant: &str, rng: &mut Rng| match text::read(mutant) {
        Ok(machine) => {
            let printed = text::print(&machine);
            let again = text::read(&printed);
            let again = again.unwrap_or_else(|e| panic!("{}\n{printed}", e[0].message));
            assert_eq!(text::print(&again), printed, "it is printed in another way");
            true
        }
        Err(errors) => {
            render(&errors, mutant, rng);
            false
        }
    };
    let texts = texts(&["examples", "examples/games", "examples/cpcp"], "chm");
    Reader::new("machines", texts, read)
}

/// Post's correspondence problem; `cyclic` is what else is made of an instance.
fn instances(name: &str, cyclic: bool) -> Reader {
    let read = move |mutant: &str, rng: &mut Rng| match pcp::read(mutant) {
        Ok(instance) => {
            if rng.once_in(8) && mutant.len() < 200 {
                match cyclic {
                    true => {
                        let machine = cpcp::machine(&instance);
                        let _ = machine.and_then(|m| cpcp::one_channel(&m));
                        let _ = cpcp::library(&instance);
                    }
                    false => {
                        let printed = weir_front::weir::print(&pcp::program(&instance));
                        assert!(weir_front::read("pcp.weir", &printed, None).is_ok());
                    }
                }
            }
            true
        }
        Err(errors) => {
            render(&errors, mutant, rng);
            false
        }
    };
    let folder = if cyclic { "examples/cpcp" } else { "examples" };
    let texts = texts(&[folder], "pcp");
    Reader::new(name, texts, read)
}

/// Changes one number, word or list in JSON.
fn change(value: &mut serde_json::Value, rng: &mut Rng, words: &[String]) {
    use serde_json::Value;
    match value {
        Value::Array(items) if !items.is_empty() && !rng.once_in(6) => {
            let at = rng.below(items.len());
            match rng.below(8) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                2 => items.swap(at, 0),
                _ => change(&mut items[at], rng, words),
            }
        }
        Value::Object(fields) if !fields.is_empty() && !rng.once_in(20) => {
            let key = fields.keys().nth(rng.below(fields.len())).unwrap().clone();
            match rng.once_in(20) {
                true => drop(fields.remove(&key)),
                false => change(fields.get_mut(&key).unwrap(), rng, words),
            }
        }
        Value::Number(n) if !rng.once_in(4) => {
            let n = n.as_i64().unwrap_or(0);
            *value = (n.wrapping_add([1, -1, 2][rng.below(3)])).into();
        }
        _ => {
            *value = match rng.below(6) {
                0 => Value::Null,
                1 => rng.once_in(2).into(),
                2 => [0, 1, -1, 65_535, 65_536, i64::MIN, i64::MAX][rng.below(7)].into(),
                3 => Value::Array(vec![]),
                _ => rng.pick(words).clone().into(),
            };
        }
    }
}

/// All strings in JSON.
fn words(value: &serde_json::Value, all: &mut Vec<String>) {
    match value {
        serde_json::Value::String(word) => all.push(word.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|v| words(v, all)),
        serde_json::Value::Object(fields) => {
            all.extend(fields.keys().cloned());
            fields.values().for_each(|v| words(v, all));
        }
        _ => {}
    }
}

/// What reads evidence of a format; whether it can be read.
fn parser(format: &str) -> fn(&str) -> bool {
    fn reads<T: serde::de::DeserializeOwned>(text: &str) -> bool {
        serde_json::from_str::<T>(text).is_ok()
    }
    match format {
        weir_check::witness::FORMAT => reads::<weir_check::Witness>,
        weir_check::certificate::FORMAT => reads::<weir_check::Certificate>,
        weir_check::upward::FORMAT => reads::<weir_check::upward::UpwardSets>,
        weir_check::buffers::FORMAT => reads::<weir_check::buffers::Buffers>,
        weir_check::closed::FORMAT => reads::<weir_check::closed::ClosedSet>,
        weir_check::live_set::FORMAT => reads::<weir_check::live_set::LiveSet>,
        weir_check::lasso::FORMAT => reads::<weir_check::lasso::Lasso>,
        weir_check::unblocked::FORMAT => reads::<weir_check::unblocked::Unblocked>,
        weir_check::strategy::FORMAT => reads::<weir_check::strategy::StrategyFile>,
        weir_check::robust::cycle::FORMAT => reads::<weir_check::robust::Cycle>,
        weir_check::robust::sets::FORMAT => reads::<weir_check::robust::RobustSets>,
        weir_check::robust::states::FORMAT => reads::<weir_check::robust::StateSets>,
        weir_channel::evidence::RUN | weir_channel::evidence::SET => {
            reads::<weir_channel::evidence::Evidence>
        }
        other => panic!("nothing reads {other}"),
    }
}

fn evidence_readers() -> Vec<Reader> {
    let reader = |sample: evidence::Sample| {
        let text = fs::read_to_string(root().join(sample.file)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&sample.text).unwrap();
        let mut known = Vec::new();
        words(&value, &mut known);
        let check: Box<dyn Fn(&str) -> bool + Send> = match sample.channel {
            true => {
                let machine = weir_channel::text::read(&text).unwrap();
                Box::new(move |mutant| {
                    let read = serde_json::from_str(mutant);
                    read.is_ok_and(|e| weir_channel::evidence::check(&machine, &e).is_ok())
                })
            }
            false => {
                let model = model(&sample.text).unwrap_or(MemoryModel::SC);
                let reading = Reading { model, ..Reading::default() };
                let loaded = Loaded::read(sample.file, &text, &reading).unwrap();
                Box::new(move |mutant| {
                    certify(mutant, &loaded, 2).is_ok_and(|c| c.reason.is_none())
                })
            }
        };
        let parse = parser(value["format"].as_str().unwrap());
        assert!(parse(&sample.text) && check(&sample.text), "{}", sample.name);
        let texts = [sample.text];
        let make = move |rng: &mut Rng| {
            // Few texts are JSON after a change, so most changes are made to what they mean.
            if rng.once_in(4) {
                return mutate(rng, &texts[0], &texts);
            }
            let mut changed = value.clone();
            for _ in 0..1 + rng.below(2) {
                change(&mut changed, rng, &known);
            }
            changed.to_string()
        };
        Reader {
            name: sample.name.to_owned(),
            make: Box::new(make),
            // Checkers are slow, and most of what can go wrong goes wrong in reading.
            read: Box::new(move |mutant, rng| match rng.once_in(4) {
                true => check(mutant),
                false => parse(mutant),
            }),
        }
    };
    evidence::samples("mutate").into_iter().map(reader).collect()
}

fn readers() -> Vec<Reader> {
    let weir = texts(&["corpus", "examples", "examples/objects", "examples/games"], "weir");
    let modules = texts(&["crates/weir/tests/llvm", "crates/weir-llvm/tests"], "ll");
    let mut readers = vec![
        language("weir", &weir_front::weir::LANGUAGE, weir),
        language("litmus", &weir_front::litmus::LANGUAGE, texts(&["litmus"], "litmus")),
        language("promela", &weir_front::promela::LANGUAGE, texts(&["corpus/promela"], "pml")),
        language("rmm", &weir_front::rmm::LANGUAGE, texts(&["corpus/rmm"], "rmm")),
        language("trencher", &weir_front::trencher::LANGUAGE, texts(&["corpus/trencher"], "txt")),
        // What compilers make of C, C++ and Rust.
        language("llvm", &weir_front::llvm::LANGUAGE, modules),
        machines(),
        instances("pcp", false),
        instances("cpcp", true),
    ];
    assert_eq!(readers.len(), LANGUAGES);
    readers.extend(evidence_readers());
    readers.extend([requests(), messages()]);
    readers
}

/// Requests to the web server. None of them starts a process.
fn requests() -> Reader {
    let request = |line: &str, rest: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\n{rest}\r\n"
        )
    };
    let texts = vec![
        request("GET /token/", "Accept: */*\r\n"),
        request("GET /token/text/0", ""),
        request("GET /token/job/0", "Connection: close\r\n"),
        request("GET /token/job/0/page", ""),
        request("POST /token/job/0/cancel", "Content-Length: 2\r\n") + "{}",
        request("POST /token/nothing", "Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n",
        request("DELETE /other/", "Content-Length: 99999999999999999999\r\n"),
    ];
    Reader::new("requests", texts, |mutant, _| {
        let answer = weir_cli::answer_request(mutant.as_bytes());
        let line = answer.map(|bytes| String::from_utf8_lossy(&bytes[..12]).into_owned());
        assert!(line.as_ref().is_none_or(|line| line.starts_with("HTTP/1.1 ")), "{line:?}");
        line.is_some_and(|line| line.ends_with("200"))
    })
}

/// Streams of messages to the language server. The text has no property, so nothing is searched.
fn messages() -> Reader {
    const TEXT: &str = "var x  process p { reg r  r = x  x = r + 1 }";
    let place = json!({ "textDocument": { "uri": "file:///a.weir" }, "position": { "line": 0, "character": 4 } });
    let asked = |id: i64, method: &str| {
        let mut params = place.clone();
        params["newName"] = "y".into();
        params["context"] = json!({ "includeDeclaration": true });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    };
    let opened = json!({ "textDocument":
        { "uri": "file:///a.weir", "languageId": "weir", "version": 1, "text": TEXT } });
    let changed = json!({ "textDocument": { "uri": "file:///a.weir", "version": 2 }, "contentChanges":
        [{ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } }, "text": "var" }] });
    let all = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": opened }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": changed }),
        asked(2, "textDocument/hover"),
        asked(3, "textDocument/completion"),
        asked(4, "textDocument/references"),
        asked(5, "textDocument/rename"),
        asked(6, "textDocument/documentSymbol"),
        asked(7, "textDocument/semanticTokens/full"),
        asked(8, "textDocument/codeLens"),
        asked(9, "textDocument/formatting"),
        json!({ "jsonrpc": "2.0", "id": 10, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ];
    let framed = |message: &serde_json::Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let texts = vec![all.iter().map(framed).collect::<String>()];
    let mut known = Vec::new();
    all.iter().for_each(|message| words(message, &mut known));
    let make = move |rng: &mut Rng| {
        if rng.once_in(3) {
            return mutate(rng, &texts[0], &texts);
        }
        let mut messages = all.to_vec();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(messages.len());
            change(&mut messages[at], rng, &known);
        }
        messages.iter().map(framed).collect()
    };
    let read = |mutant: &str, _: &mut Rng| {
        let input = std::io::Cursor::new(mutant.as_bytes().to_vec());
        let ended = weir_lsp::serve(input, Vec::new(), weir_lsp::Settings::default());
        matches!(ended, Ok(weir_lsp::Ended::Properly))
    };
    Reader { name: "messages".to_owned(), make: Box::new(make), read: Box::new(read) }
}

/// What is being read, for how long.
type Watched = Arc<Mutex<Option<(Instant, u64, String)>>>;

/// Ends the test if a text takes too long.
fn watch(watched: &Watched) {
    let watched = watched.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            if let Some((began, seed, text)) = &*watched.lock().unwrap()
                && began.elapsed() > PATIENCE
            {
                eprintln!("WEIR_SEED={seed}: this text does not come to an end:\n{text}");
                std::process::exit(101);
            }
        }
    });
}

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Reads a text; where it panics, if it does.
fn panics(reader: &Reader, text: &str, rng: &Rng) -> Result<bool, String> {
    let read = AssertUnwindSafe(|| (reader.read)(text, &mut rng.clone()));
    panic::catch_unwind(read).map_err(|_| PANIC.lock().unwrap().clone())
}

fn run(readers: &[Reader], first: u64, count: u64, watched: &Watched) -> Vec<String> {
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let mut counts = vec![(0_u64, 0_u64, Duration::ZERO); readers.len()];
    let began = Instant::now();
    for seed in first..first + count {
        let start = Instant::now();
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // As many texts of languages as of evidence.
        let number = match rng.once_in(2) {
            true => rng.below(LANGUAGES),
            false => LANGUAGES + rng.below(readers.len() - LANGUAGES),
        };
        // The reader of Rust takes as long as all others together.
        let is_passed_over = readers[number].name == "rust" && !rng.once_in(8);
        let number = if is_passed_over { 0 } else { number };
        let reader = &readers[number];
        let text = (reader.make)(&mut rng);
        *watched.lock().unwrap() = Some((start, seed, text.clone()));
        counts[number].0 += 1;
        match panics(reader, &text, &rng) {
            Ok(is_right) => counts[number].1 += u64::from(is_right),
            Err(place) => {
                let name = &reader.name;
                failures.entry(place.clone()).or_insert_with(|| {
                    let same = |t: &str| panics(reader, t, &rng).is_err_and(|p| p == place);
                    let small = shrink_text(&text, same);
                    let failure = format!("WEIR_SEED={seed}, {name}: {place}\n{small:?}\n{small}");
                    eprintln!("{failure}");
                    failure
                });
            }
        }
        counts[number].2 += start.elapsed();
        if (seed - first + 1).is_multiple_of(1_000_000) {
            let (done, so_far) = (seed - first + 1, began.elapsed().as_secs());
            eprintln!("{done} texts in {so_far} s, {} failures", failures.len());
        }
    }
    *watched.lock().unwrap() = None;
    for (reader, (tried, right, time)) in readers.iter().zip(counts) {
        let (name, time) = (&reader.name, time.as_secs_f64());
        eprintln!("{name:28} {tried:9} texts, {right:9} of them right, {time:8.2} s");
    }
    eprintln!("{count} texts from seed {first} in {:.1} s", began.elapsed().as_secs_f64());
    failures.into_values().collect()
}

#[test]
fn nothing_panics() {
    let readers = readers();
    let (first, count) = (setting("WEIR_SEED", 1), setting("WEIR_MUTANTS", FEW));
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let said = info.payload_as_str().unwrap_or_default();
        let said = said.lines().next().unwrap_or_default();
        // What else is said differs from text to text.
        let said = said.split(['`', ':']).next().unwrap_or_default();
        *PANIC.lock().unwrap() = format!("{place}: {said}");
    }));
    let watched = Watched::default();
    watch(&watched);
    let work = move || run(&readers, first, count, &watched);
    let failures = thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join();
    panic::set_hook(hook);
    let failures = failures.unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
