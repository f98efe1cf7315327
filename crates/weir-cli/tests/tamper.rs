//! Evidence that was changed is rejected, or still shows something true.
//!
//! Every field of every kind of evidence is changed in several ways. What a checker still
//! accepts is another proof or another run: then what it says has to be what the engines
//! say. Of runs more is asked: a step may not say what it does not do.

use crate::common;
use crate::evidence;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{root, weir};
use evidence::{Sample, samples};
use serde_json::{Value, json};
use weir::certify::{Checked, certify, model};
use weir::{Loaded, MemoryModel, Reading};
use weir_check::Rejected;
use weir_check::claim::Settled;
use weir_check::evidence::certify_as;
use weir_engine::SearchOptions;
use weir_gen::tools::is_slow;

/// The program of a sample, as `weir certify` loads it.
fn load(sample: &Sample) -> Loaded {
    load_text(sample, &fs::read_to_string(root().join(sample.file)).unwrap()).unwrap()
}

fn load_text(sample: &Sample, text: &str) -> Option<Loaded> {
    let model = model(&sample.text).unwrap_or(MemoryModel::SC);
    Loaded::read(sample.file, text, &Reading { model, ..Reading::default() }).ok()
}

/// Every place in a value, as the keys and indices on the way to it.
fn places(value: &Value, at: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    all.push(at.clone());
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        Value::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => vec![],
    };
    for (key, value) in inner {
        at.push(key);
        places(value, at, all);
        at.pop();
    }
}

fn at<'v>(value: &'v mut Value, place: &[String]) -> &'v mut Value {
    place.iter().fold(value, |value, key| match value {
        Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        other => &mut other[key.as_str()],
    })
}

/// All texts that differ from a piece of evidence in one place.
fn changed(original: &Value) -> Vec<(Vec<String>, Value)> {
    let mut all = Vec::new();
    places(original, &mut vec![], &mut all);
    // Strings of the file itself may do in the place of one another.
    let mut words: Vec<String> = Vec::new();
    for place in &all {
        if let Value::String(word) = at(&mut original.clone(), place) {
            words.push(word.clone());
        }
    }
    words.extend(["SC", "TSO", "PSO", "NSW", "update", "", "0"].map(str::to_owned));
    words.sort();
    words.dedup();
    // In a large file not every place is changed, but each kind of place is.
    let step = all.len() / 400 + 1;
    let mut made = Vec::new();
    for place in all.iter().step_by(step) {
        let mut values: Vec<Value> = vec![Value::Null];
        match at(&mut original.clone(), place) {
            Value::Null => values.push(json!(0)),
            Value::Bool(b) => values.push(json!(!*b)),
            Value::Number(n) => {
                let n = n.as_i64().unwrap();
                values.extend([n + 1, n - 1, 0, 1, 60_000, i64::MAX].map(|n| json!(n)));
            }
            Value::String(word) => {
                values.extend(words.iter().map(|w| json!(w)).filter(|w| w != word))
            }
            Value::Array(items) => {
                values.push(json!([]));
                for i in 0..items.len().min(8) {
                    let mut fewer = items.clone();
                    let taken = fewer.remove(i);
                    values.push(fewer.into());
                    let mut more = items.clone();
                    more.insert(i, taken);
                    values.push(more.into());
                    let mut turned = items.clone();
                    turned.rotate_left(i);
                    values.push(turned.into());
                }
            }
            Value::Object(fields) => {
                for key in fields.keys() {
                    let mut fewer = fields.clone();
                    fewer.remove(key);
                    values.push(fewer.into());
                }
                let mut more = fields.clone();
                more.insert("more".to_owned(), json!(1));
                values.push(more.into());
            }
        }
        for value in values {
            let mut whole = original.clone();
            *at(&mut whole, place) = value;
            if whole != *original {
                made.push((place.clone(), whole));
            }
        }
    }
    made
}

/// What engines say, asked once.
#[derive(Default)]
struct Truth {
    asked: BTreeMap<String, Value>,
}

impl Truth {
    /// What the program prints as JSON for a command line.
    fn ask(&mut self, line: &str) -> &Value {
        self.asked.entry(line.to_owned()).or_insert_with(|| {
            let words: Vec<&str> = line.split(' ').chain(["--format", "json"]).collect();
            let done = weir(&words);
            serde_json::from_str(&done.out).unwrap_or_else(|e| panic!("{line}: {e}: {}", done.err))
        })
    }

    /// Whether what evidence says is not contradicted.
    fn bears_out(&mut self, sample: &Sample, loaded: &Loaded, said: &Value, found: &Checked) {
        let file = sample.file;
        let verdict_of = |answer: &Value, name: &str| -> String {
            let all = answer["findings"].as_array().unwrap();
            let one = all.iter().find(|f| f["claim"]["question"] == name).unwrap();
            one["verdict"].as_str().unwrap().to_owned()
        };
        let format = said["format"].as_str().unwrap();
        let claim = found.claim.as_ref().unwrap();
        let model = claim.model.to_lowercase();
        match format {
            "weir-strategy" => {
                let (fairness, semantics) = (&said["fairness"], &said["semantics"]);
                let (fairness, semantics) =
                    (fairness.as_str().unwrap(), semantics.as_str().unwrap());
                let line = format!("game {file} --fairness {fairness} --semantics {semantics}");
                let game = said["game"].as_u64().unwrap() as usize;
                let game = &self.ask(&line)["findings"][game]["details"];
                assert!(game["winner"].is_null() || game["winner"] == said["winner"], "{said}");
            }
            "weir-lasso" | "weir-live-set" | "weir-unblocked" => {
                let fair = if claim.fairness.is_some() { " --flush-fair" } else { "" };
                let clients = claim.clients.map(|n| format!(" --clients {n}")).unwrap_or_default();
                let line = format!("live {file} --model {model}{fair}{clients}");
                for Settled { question, verdict } in &claim.answers {
                    let found = verdict_of(self.ask(&line), question);
                    // What a limit keeps the search from is no contradiction.
                    assert!(found == *verdict || found == "unknown", "{question}: {said}");
                }
            }
            "weir-cycle" | "weir-robust-set" | "weir-states" => {
                let line = format!("robust {file} --model {model}");
                let answer = &self.ask(&line)["findings"][0]["details"];
                let (field, expected) = match format {
                    "weir-cycle" => ("traces", "different"),
                    "weir-robust-set" => ("traces", "same"),
                    _ if said["shown"]["run"].is_null() => ("states", "same"),
                    _ => ("states", "different"),
                };
                // Traces are decided under TSO.
                let is_so = [expected, "undecided"].contains(&answer[field].as_str().unwrap());
                assert!(is_so, "{said}");
            }
            _ => {
                let model: MemoryModel = claim.model.parse().unwrap();
                let system = &loaded.system;
                let (answers, _) =
                    weir::solver::check(system, model, &SearchOptions::default()).unwrap();
                for Settled { question, verdict } in &claim.answers {
                    let index = system.questions.iter().position(|q| q.name == *question).unwrap();
                    assert_eq!(answers[index].verdict.name(), verdict, "{question}: {said}");
                }
            }
        }
    }
}

/// Fields that are never accepted with another value, in any kind of evidence.
const TIED: [&str; 4] = ["format", "version", "fingerprint", "variables"];

/// Fields of steps and configurations of a run in which nothing is accepted but what it
/// does. A rule may have another name for the same, where a model has several forms.
const DONE: [&str; 9] =
    ["process", "transition", "op", "variable", "value", "line", "states", "memory", "buffers"];

#[test]
fn changed_evidence_is_rejected_or_true() {
    let mut truth = Truth::default();
    // One change of three, and another one for the next sample.
    let part = if is_slow() { 1 } else { 3 };
    for (number, sample) in samples("tamper").into_iter().enumerate() {
        if sample.channel {
            continue;
        }
        let loaded = load(&sample);
        let original: Value = serde_json::from_str(&sample.text).unwrap();
        let checked = certify(&sample.text, &loaded, 2).unwrap();
        assert_eq!(checked.reason, None, "{}", sample.name);
        let is_run = ["weir-witness", "weir-lasso", "weir-cycle"]
            .contains(&original["format"].as_str().unwrap());
        let (mut rejected, mut accepted) = (0, 0);
        for (place, changed) in changed(&original).into_iter().skip(number % part).step_by(part) {
            let found = match certify(&changed.to_string(), &loaded, 2) {
                Ok(Checked { reason: None, .. }) if place.is_empty() && changed.is_array() => {
                    panic!("{}: an array", sample.name)
                }
                Ok(found @ Checked { reason: None, .. }) => found,
                _ => {
                    rejected += 1;
                    continue;
                }
            };
            accepted += 1;
            let is_in = |fields: &[&str]| place.iter().any(|key| fields.contains(&key.as_str()));
            let removed = *at(&mut changed.clone(), &place) == Value::Null;
            assert!(!is_in(&TIED), "{}: {place:?} may be changed: {changed}", sample.name);
            assert!(
                !is_run || !is_in(&DONE) || removed,
                "{}: {place:?} may be changed: {changed}",
                sample.name
            );
            truth.bears_out(&sample, &loaded, &changed, &found);
        }
        eprintln!("{}: {rejected} rejected, {accepted} accepted", sample.name);
        assert!(part * rejected > 20, "{}", sample.name);
    }
}

/// Changes that are rejected for one reason each: the sample, the place that is changed, the new
/// value (`null` takes the last element of a list away), and the variant of the reason.
fn rejections() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let mut all = vec![
        ("witness under TSO", "property", json!(9), "Malformed"),
        ("witness under TSO", "initial/buffers/0", json!(["w(x,1)"]), "Start"),
        ("witness under TSO", "steps/0/rule", json!("update"), "Step"),
        ("witness under TSO", "steps/0/line", json!(99), "Step"),
        ("witness under TSO", "final/states/0", json!("99"), "End"),
        ("certificate under TSO", "configurations", json!(null), "LeadsOut"),
        ("certificate under TSO", "configurations", json!([]), "InitialOutside"),
        ("certificate under TSO", "model", json!("TSO+r->w"), "Model"),
        ("upward-closed set", "sets/0/states", json!([]), "Missing"),
        ("upward-closed set", "model", json!("SC"), "Model"),
        ("buffer set", "states", json!([]), "InitialOutside"),
        ("buffer set", "properties", json!([]), "SettlesNothing"),
        ("closed set", "configurations", json!(null), "LeadsOut"),
        ("closed set", "configurations", json!([]), "InitialOutside"),
        ("closed set", "properties", json!([]), "SettlesNothing"),
        ("closed set", "properties", json!([7]), "Malformed"),
        ("closed set", "model", json!("PSO"), "Model"),
        ("closed set", "configurations/0/memory", json!([]), "Malformed"),
        ("live set", "configurations", json!(null), "LeadsOut"),
        ("live set", "configurations", json!([]), "InitialOutside"),
        ("live set", "questions", json!([{ "progress": "wait-free" }]), "RunsForever"),
        ("live set", "questions", json!([{ "progress": "quick" }]), "Malformed"),
        ("live set", "questions", json!([]), "SettlesNothing"),
        ("folded live set", "configurations", json!(null), "LeadsOut"),
        ("folded live set", "model", json!("NSW"), "Model"),
        ("lasso of a program", "cycle", json!([]), "Cycle"),
        ("lasso of a program", "stem", json!(null), "Cycle"),
        ("proof with stops", "stops", json!([]), "RunsForever"),
        ("cycle", "cycle", json!([]), "Cycle"),
        ("cycle", "cycle", json!(null), "Cycle"),
        ("cycle", "cycle/0/relation", json!("co"), "Cycle"),
        ("cycle", "steps/1/rule", json!("read own write"), "Step"),
        ("robust set", "sets/sc/configurations", json!([]), "InitialOutside"),
        ("robust set", "sets/sc/configurations", json!(null), "LeadsOut"),
        ("robust set", "sets/delays", json!(null), "LeadsOut"),
        ("robust set", "sets/chains", json!([]), "LeadsOut"),
        ("robust set", "sets/chains/0/marks", json!("?"), "Malformed"),
        ("robust set", "sets", json!(null), "SettlesNothing"),
        ("robust set", "model", json!("PSO"), "Model"),
        ("robust shape", "model", json!("TSO+r->w"), "Model"),
        ("states under PSO", "model", json!("NSW"), "Malformed"),
        ("states under PSO", "sc/configurations", json!(null), "LeadsOut"),
        ("same states under TSO", "sc/configurations", json!([]), "InitialOutside"),
        ("same states under NSW", "shown/certificate/properties", json!([0]), "SettlesNothing"),
        ("same states under NSW", "shown/certificate/configurations", json!([]), "InitialOutside"),
        ("proof with stops", "certificate/configurations", json!([]), "InitialOutside"),
        ("strategy by views", "game", json!(9), "Malformed"),
        ("strategy by views", "strategy/views/moves", json!([]), "Loses"),
        ("strategy by configurations", "winner", json!("nobody"), "Malformed"),
        ("run of a machine", "steps", json!([]), "End"),
        ("set of a machine", "configurations", json!([]), "Missing"),
    ];
    for name in ["witness under SC", "closed set", "live set", "buffer set", "set of a machine"] {
        all.push((name, "fingerprint", json!("0"), "Other"));
    }
    all
}

#[test]
fn evidence_is_rejected_for_the_right_reason() {
    let samples = samples("reasons");
    for (name, place, value, expected) in rejections() {
        let sample = samples.iter().find(|s| s.name == name).unwrap();
        let mut changed: Value = serde_json::from_str(&sample.text).unwrap();
        let place: Vec<String> = place.split('/').map(str::to_owned).collect();
        match at(&mut changed, &place) {
            Value::Array(items) if value.is_null() => drop(items.pop()),
            found => *found = value.clone(),
        }
        let text = changed.to_string();
        let reason = match sample.channel {
            true => {
                let text_of = fs::read_to_string(root().join(sample.file)).unwrap();
                let machine = weir_channel::text::read(&text_of).unwrap();
                certify_as(&weir_channel::evidence::KINDS, &text, &machine, 2).unwrap().reason
            }
            false => certify(&text, &load(sample), 2).unwrap().reason,
        };
        let reason = reason.unwrap_or_else(|| panic!("{name}: {place:?} = {value} is accepted"));
        let shown = format!("{reason:?}");
        assert!(shown.starts_with(expected), "{name}: {place:?} = {value}: {shown}");
    }
    // Another version is rejected, another format is not read at all.
    for sample in samples.iter().filter(|s| !s.channel) {
        let mut changed: Value = serde_json::from_str(&sample.text).unwrap();
        changed["version"] = json!(99);
        let why = certify(&changed.to_string(), &load(sample), 2).unwrap().reason;
        assert!(matches!(why, Some(Rejected::Format { .. })), "{}: {why:?}", sample.name);
        changed["format"] = json!("weir-none");
        let why = certify(&changed.to_string(), &load(sample), 2).unwrap_err();
        assert!(matches!(why, Rejected::Unreadable(_)), "{}: {why}", sample.name);
    }
}

#[test]
fn changed_evidence_about_machines_is_rejected_or_true() {
    for sample in samples("tamper-machines").iter().filter(|s| s.channel) {
        let text = fs::read_to_string(root().join(sample.file)).unwrap();
        let machine = weir_channel::text::read(&text).unwrap();
        let original: Value = serde_json::from_str(&sample.text).unwrap();
        let check = |text: &str| -> Result<(), String> {
            let read = serde_json::from_str(text).map_err(|e| e.to_string())?;
            weir_channel::evidence::check(&machine, &read).map_err(|why| why.to_string())
        };
        assert_eq!(check(&sample.text), Ok(()));
        let (mut rejected, mut accepted) = (0, 0);
        for (place, changed) in changed(&original) {
            if check(&changed.to_string()).is_err() {
                rejected += 1;
                continue;
            }
            accepted += 1;
            let tied = ["format", "version", "fingerprint", "machine", "transition"];
            assert!(!place.iter().any(|k| tied.contains(&k.as_str())), "{place:?}: {changed}");
            let (state, channels) = (&changed["state"], &changed["channels"]);
            let (state, channels) = (state.as_str().unwrap(), channels.as_str().unwrap());
            let words = ["channel", "check", sample.file, "--reach", state, "--channels", channels];
            let expected = if changed["format"] == "weir-channel-run" { 1 } else { 0 };
            assert_eq!(weir(&words).status, expected, "{changed}");
        }
        eprintln!("{}: {rejected} rejected, {accepted} accepted", sample.name);
        assert!(rejected > 20, "{}", sample.name);
    }
}

/// Another program with the same names: it has one more constant.
fn other_program(text: &str, file: &str) -> String {
    match file.rsplit_once('.').unwrap().1 {
        "litmus" => text.replacen("MOV [x],$1", "MOV [x],$3", 1),
        _ => format!("{text}\nvar added_here\n"),
    }
}

#[test]
fn evidence_is_about_one_program() {
    for sample in samples("other").iter().filter(|s| !s.channel) {
        let text = fs::read_to_string(root().join(sample.file)).unwrap();
        let Some(other) = load_text(sample, &other_program(&text, sample.file)) else {
            // In an object, declarations stand inside.
            let other = text.replacen("method", "var added_here  method", 1);
            let other = load_text(sample, &other).expect(sample.name);
            let reason = certify(&sample.text, &other, 2).unwrap().reason;
            assert_eq!(reason, Some(Rejected::Other { what: "program" }), "{}", sample.name);
            continue;
        };
        let reason = certify(&sample.text, &other, 2).unwrap().reason;
        assert_eq!(reason, Some(Rejected::Other { what: "program" }), "{}", sample.name);

        // A comment at the end, and another name of the file, change nothing.
        if sample.file.ends_with(".weir") {
            let same = load_text(sample, &format!("{text}\n// more\n")).unwrap();
            assert_eq!(certify(&sample.text, &same, 2).unwrap().reason, None, "{}", sample.name);
            // Lines that move do, where the evidence names lines.
            let moved = load_text(sample, &format!("// more\n{text}")).unwrap();
            let reason = certify(&sample.text, &moved, 2).unwrap().reason;
            let names_lines = sample.text.contains("\"line\":");
            assert_eq!(reason.is_some(), names_lines, "{}: {reason:?}", sample.name);
        }
    }
    for sample in samples("other-machines").iter().filter(|s| s.channel) {
        let text = fs::read_to_string(root().join(sample.file)).unwrap();
        let other = text.replacen("messages ", "messages added_here, ", 1);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other.chm");
        let evidence = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other.json");
        fs::write(&path, other).unwrap();
        fs::write(&evidence, &sample.text).unwrap();
        let words = ["channel", "certify", evidence.to_str().unwrap(), path.to_str().unwrap()];
        let done = weir(&words);
        assert_eq!(done.status, 1, "{}", done.err);
        assert!(done.out.contains("it was made for another machine"), "{}", done.out);
    }
}
