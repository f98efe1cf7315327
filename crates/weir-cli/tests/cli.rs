//! The program as a person or a script meets it: exit statuses, formats, and
//! what becomes of input that is wrong, hostile or too large.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{Output, root, weir, weir_reading};
use serde_json::{Value, json};

const PETERSON: &str = "examples/peterson.weir";

/// A program that nobody searches to the end in a moment: four processes, and
/// buffers that they can fill with anything.
const LARGE: &str = "
    var a[4]: 0..9
    process p[i: 0..3] { loop { a[i] = any(0..9)  a[(i + 1) % 4] = any(0..9) } }
    never a[0] + a[1] + a[2] + a[3] == 37
";

/// A program whose buffers have no bound, and of which the property holds.
const UNBOUNDED: &str = "
    var x
    process p { loop { x = 1  x = 2 } }
    never x == 3
";

/// A file for one test.
fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The status is 2, nothing is on standard output, and the message says this.
fn is_wrong(output: &Output, message: &str) {
    assert_eq!(output.status, 2, "{output:?}");
    assert_eq!(output.out, "", "{output:?}");
    assert!(output.err.contains(message), "no `{message}` in {}", output.err);
    assert!(output.err.starts_with("error: "), "{}", output.err);
}

// Exit statuses.

#[test]
fn status_0_when_everything_holds() {
    let output = weir(&["check", "--model", "sc", PETERSON]);
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.contains("✓ holds  mutex"), "{}", output.out);
    assert_eq!(output.err, "");
}

#[test]
fn status_1_when_something_is_violated() {
    let output = weir(&["check", PETERSON]);
    assert_eq!(output.status, 1, "{output:?}");
    assert!(output.out.contains("✗ violated  mutex"), "{}", output.out);
}

#[test]
fn status_2_without_a_command() {
    let output = weir::<&str>(&[]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("Usage: weir"), "{}", output.err);
    for command in ["weir check FILE", "weir explain tso", "weir serve"] {
        assert!(output.err.contains(command), "{}", output.err);
    }
    for args in [&["frobnicate"][..], &["check"], &["check", "--frobnicate", PETERSON]] {
        is_wrong(&weir(args), "Usage: weir");
    }
}

#[test]
fn status_3_when_something_is_unknown() {
    let args = ["check", "--engine", "explicit", "--bound", "2", "-"];
    let output = weir_reading(&args, UNBOUNDED.as_bytes());
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.out.contains("? unknown"), "{}", output.out);
    assert!(output.out.contains("buffers of up to 2"), "{}", output.out);
}

#[test]
fn the_worst_status_counts() {
    let unknown = file("worst.weir", UNBOUNDED);
    let status = |files: &[&str]| {
        weir(&[&["check", "--engine", "explicit", "--bound", "2"], files].concat()).status
    };
    let fine = "examples/final-holds.weir";
    assert_eq!(status(&[fine, &unknown]), 3);
    assert_eq!(status(&[&unknown, PETERSON, fine]), 1);
    assert_eq!(status(&[PETERSON, "no-such-file.weir", &unknown]), 2);
}

// Input that is wrong.

#[test]
fn files_that_cannot_be_read() {
    for command in ["check", "outcomes", "compare", "show"] {
        is_wrong(&weir(&[command, "no-such-file.weir"]), "there is no such file");
        let folder = match command {
            "show" => "it is a directory",
            _ => "there is no program in",
        };
        is_wrong(&weir(&[command, "docs"]), folder);
        is_wrong(&weir(&[command, &file("empty.weir", "")]), "the file is empty");
        is_wrong(&weir(&[command, &file("bytes.weir", b"var x\xff")]), "it is not UTF-8");
        if cfg!(unix) {
            is_wrong(&weir(&[command, "/dev/zero"]), "it is larger than 4 MiB");
        }
    }
}

#[test]
fn one_wrong_file_does_not_stop_the_others() {
    let output = weir(&["check", "no-such-file.weir", PETERSON]);
    assert_eq!(output.status, 2);
    assert!(output.out.contains("violated  mutex"), "{}", output.out);
    assert!(output.err.contains("no-such-file.weir"), "{}", output.err);
}

#[test]
fn errors_point_at_the_text() {
    let output =
        weir_reading(&["check", "-"], b"var flag\nprocess p { falg = 1 }\nnever flag == 1");
    is_wrong(&output, "`falg`");
    assert!(output.err.contains("2 | process p { falg = 1 }"), "{}", output.err);
    assert!(output.err.contains("`flag`"), "no suggestion: {}", output.err);
}

#[test]
fn deep_nesting() {
    let deep = "(".repeat(100_000) + "1" + &")".repeat(100_000);
    let output =
        weir_reading(&["check", "-"], format!("var x process p {{ x = {deep} }}").as_bytes());
    is_wrong(&output, "100 deep");
    assert!(output.err.len() < 2_000, "{} characters of complaint", output.err.len());
}

#[test]
fn many_control_states() {
    let text = "
        var x
        process p {
            reg a, b, c, d
            loop { a = any(0..31)  b = any(0..31)  c = any(0..31)  d = any(0..31)  x = a + b + c + d }
        }
        never x == 200
    ";
    // A million of them are no reason to refuse a program, only to come to a limit.
    let output = weir_reading(&["check", "-", "--timeout", "0.5"], text.as_bytes());
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.out.contains("the time limit of 0.5 s was reached"), "{}", output.out);
}

#[test]
fn a_counter_without_a_bound() {
    let text = b"var x process p { loop { x = x + 1 } } never x == 3 never x == -1";
    let output = weir_reading(&["check", "-", "--timeout", "0.5"], text);
    assert_eq!(output.status, 1, "{output:?}");
    let reason = "values: say how far to look, with `--domain x=0..7`";
    assert!(output.out.contains(reason), "{}", output.out);
}

#[test]
fn a_program_that_asks_for_nothing() {
    let output = weir_reading(&["check", "-"], b"var x process p { x = 1 }");
    is_wrong(&output, "`-` has no property; add one, such as");
    let output = weir_reading(&["outcomes", "-"], b"var x process p { x = 1 }");
    assert_eq!(output.status, 0, "{output:?}");
}

#[test]
fn options_that_are_wrong() {
    let with = |option: &str, value: &str| weir(&["check", PETERSON, &format!("{option}={value}")]);
    is_wrong(&with("--bound", "0"), "0 is not in 1..=60000");
    is_wrong(&with("--bound", "-1"), "-1");
    is_wrong(&with("--bound", "many"), "invalid");
    is_wrong(&with("--model", "tos"), "did you mean `TSO`?");
    is_wrong(&with("--model", "tso+w->x"), "`w->x` is neither a memory model nor a relaxation");
    is_wrong(&with("--model", ""), "memory model");
    is_wrong(&with("--engine", "steam"), "explicit");
    is_wrong(&with("--format", "xml"), "json");
    for time in ["0", "-1", "nan", "inf", "soon"] {
        is_wrong(&with("--timeout", time), "--timeout");
    }
    is_wrong(&with("--memory", "0"), "--memory");
}

// Limits.

#[test]
fn limits_end_a_search() {
    for (limit, value, reason) in [
        ("--timeout", "0.001", "the time limit of 0.001 s"),
        ("--memory", "1", "the memory limit of 1 MiB"),
    ] {
        let args = ["check", "--engine", "explicit", limit, value, "-"];
        let output = weir_reading(&args, LARGE.as_bytes());
        assert_eq!(output.status, 3, "{limit}: {output:?}");
        assert!(output.out.contains("? unknown  never"), "{limit}: {}", output.out);
        assert!(output.out.contains(reason), "{limit}: {}", output.out);

        let output = weir_reading(&[&args[..], &["--format", "json"]].concat(), LARGE.as_bytes());
        assert_eq!(output.status, 3, "{limit}: {output:?}");
        let report = json(&output.out);
        assert_eq!(report["findings"][0]["verdict"], "unknown");
        assert!(report["findings"][0]["reason"].as_str().unwrap().contains(reason));
        assert_eq!(report["findings"][0]["statistics"]["exact"], false);
    }
}

#[test]
fn outcomes_say_when_there_may_be_more() {
    let args = ["outcomes", "--engine", "explicit", "--timeout", "0.001", "--format", "json", "-"];
    let output = weir_reading(&args, LARGE.as_bytes());
    assert_eq!(output.status, 3, "{output:?}");
    let finding = &json(&output.out)["findings"][0];
    assert_eq!(
        (&finding["verdict"], &finding["details"]["exact"]),
        (&json!("unknown"), &json!(false))
    );
    assert!(finding["reason"].as_str().unwrap().contains("there may be more"), "{finding}");
}

// Formats.

/// The text of a litmus test.
fn text(test: &str) -> String {
    fs::read_to_string(root().join(format!("litmus/{test}.litmus"))).unwrap()
}

#[test]
fn check_as_json() {
    let output = weir(&["check", "--format", "json", PETERSON]);
    assert_eq!(output.status, 1);
    assert_eq!(output.out.lines().count(), 1);
    let report = json(&output.out);
    assert_eq!(keys(&report), ["command", "file", "findings", "program", "schema", "text"]);
    assert_eq!((&report["schema"], &report["command"]), (&json!("weir-report-2"), &json!("check")));
    assert_eq!(report["program"], "peterson");
    assert_eq!(report["file"], PETERSON);
    let property = &report["findings"][0];
    let fields = ["claim", "details", "evidence", "kind", "line", "says", "statistics", "verdict"];
    assert_eq!(keys(property), fields);
    assert_eq!(keys(&property["claim"]), ["fingerprint", "model", "program", "question"]);
    assert_eq!(property["claim"]["model"], "TSO");
    assert_eq!(property["claim"]["question"], "mutex");
    assert_eq!(keys(&property["evidence"]), ["file", "kind", "scene", "what"]);
    assert_eq!(property["kind"], "never");
    assert_eq!(property["says"], "never p[0]@critical and p[1]@critical");
    assert_eq!(property["verdict"], "violated");
    let line = property["line"].as_u64().unwrap() as usize;
    let text = fs::read_to_string(root().join(PETERSON)).unwrap();
    assert_eq!(report["text"], text);
    assert!(text.lines().nth(line - 1).unwrap().starts_with("mutex: never"));
    assert_eq!(property["evidence"]["file"]["format"], "weir-witness");
    for key in ["exact", "configurations", "steps", "depth", "bound", "bytes", "seconds"] {
        assert!(!property["statistics"][key].is_null(), "no {key}");
    }
    // One line per file.
    let output = weir(&["check", "-m", "sc", "--format", "json", PETERSON, "litmus/SB.litmus"]);
    let programs: Vec<Value> = output.out.lines().map(|l| json(l)["program"].clone()).collect();
    assert_eq!(programs, ["peterson", "SB"]);
}

#[test]
fn outcomes_as_json() {
    let states = |model: &str| {
        let output = weir(&["outcomes", "--model", model, "--format", "json", "litmus/SB.litmus"]);
        assert_eq!(output.status, 0, "{output:?}");
        assert_eq!(output.err, "");
        json(&output.out)
    };
    let both = json!([
        {"0:EAX": 0, "1:EAX": 0},
        {"0:EAX": 0, "1:EAX": 1},
        {"0:EAX": 1, "1:EAX": 0},
        {"0:EAX": 1, "1:EAX": 1},
    ]);
    let tso = states("tso");
    assert_eq!((&tso["program"], &tso["text"]), (&json!("SB"), &json!(text("SB"))));
    let finding = &tso["findings"][0];
    assert_eq!(finding["outcome"], "4 final states, all there are; the condition picks 1 (*)");
    assert_eq!(
        finding["details"],
        json!({
            "semantics": "store buffers", "exact": true,
            "observation": "sometimes", "states": both, "picked": [0],
        })
    );
    let sc = &states("sc")["findings"][0];
    assert_eq!(sc["claim"]["model"], "SC");
    assert_eq!(sc["details"]["observation"], "never");
    assert_eq!(sc["details"]["states"].as_array().unwrap()[..], both.as_array().unwrap()[1..]);
}

#[test]
fn outcomes_as_herd_blocks() {
    let files = ["litmus/MP.litmus", "litmus/SB.litmus", "litmus/2+2W.litmus", "litmus/LB.litmus"];
    let output = weir(&[&["outcomes", "--format", "herd"], &files[..]].concat());
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.ends_with("\n\n"), "a block ends in an empty line");
    let blocks: Vec<&str> = output.out.trim_end().split("\n\n").collect();
    let heads: Vec<&str> = blocks.iter().map(|b| b.lines().next().unwrap()).collect();
    assert_eq!(
        heads,
        ["Test MP Allowed", "Test SB Allowed", "Test 2+2W Allowed", "Test LB Allowed"]
    );
    let (block, time) = blocks[1].rsplit_once('\n').unwrap();
    assert_eq!(
        block,
        r"Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\ 1:EAX=0)
Observation SB Sometimes 1 3"
    );
    let seconds = time.strip_prefix("Time SB ").unwrap();
    assert!(seconds.parse::<f64>().is_ok(), "{time}");
}

#[test]
fn compare_as_json() {
    let files = ["litmus/SB.litmus", "examples/message-passing.weir"];
    let output = weir(&["compare", "--format", "json", files[0], files[1]]);
    assert_eq!(output.status, 0, "{output:?}");
    let reports: Vec<Value> = output.out.lines().map(json).collect();
    let answers = |report: &Value| -> Vec<(String, String, String, bool)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .map(|f| {
                let has_scene = f["evidence"]["scene"].is_object();
                (text(&f["claim"]["model"]), text(&f["verdict"]), text(&f["outcome"]), has_scene)
            })
            .collect()
    };
    let cell = |model: &str, verdict: &str, outcome: &str, has_scene: bool| {
        (model.to_owned(), verdict.to_owned(), outcome.to_owned(), has_scene)
    };
    assert_eq!(
        answers(&reports[0]),
        [
            cell("SC", "violated", "forbidden", false),
            cell("TSO", "holds", "allowed", true),
            cell("PSO", "holds", "allowed", true),
            cell("NSW", "holds", "allowed", true),
        ]
    );
    assert_eq!(reports[1]["findings"][0]["claim"]["question"], "no_old_news");
    // All questions of the first model come first.
    let verdicts = |report: &Value| -> Vec<String> {
        let first = &report["findings"][0]["claim"]["question"];
        let findings = report["findings"].as_array().unwrap().iter();
        let same = findings.filter(|f| f["claim"]["question"] == *first);
        same.map(|f| f["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verdicts(&reports[1]), ["holds", "holds", "violated", "violated"]);
    let output =
        weir(&["compare", "--format", "json", "-m", "sc", "-m", "tso+r->w", "litmus/LB.litmus"]);
    assert_eq!(verdicts(&json(&output.out)), ["violated", "holds"]);
}

#[test]
fn models_as_json() {
    let output = weir(&["models", "--format", "json"]);
    assert_eq!(output.status, 0);
    let rows = json(&output.out)["models"].clone();
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|r| r["model"].as_str().unwrap()).collect();
    for name in ["SC", "TSO", "PSO", "NSW", "C11"] {
        assert!(names.contains(&name), "no {name}");
    }
    for row in rows.as_array().unwrap() {
        assert_eq!(
            keys(row),
            [
                "bounded_guesses",
                "complexity",
                "decides",
                "forms",
                "model",
                "reachability",
                "reference",
                "relaxations",
                "repeated",
                "semantics"
            ]
        );
    }
    assert_eq!(rows[1]["relaxations"], json!(["w->r", "RLWE"]));
}

#[test]
fn color_only_when_asked_for() {
    for args in [
        &["check", PETERSON][..],
        &["compare", "litmus/SB.litmus"],
        &["outcomes", "litmus/SB.litmus"],
        &["models"],
        &["check", "no-such-file.weir"],
        &["check", "docs"],
    ] {
        let output = weir(args);
        assert!(!output.out.contains('\x1b') && !output.err.contains('\x1b'), "{output:?}");
        let output = weir(&[args, &["--color", "never"]].concat());
        assert!(!output.out.contains('\x1b') && !output.err.contains('\x1b'), "{output:?}");
    }
    for args in [&["check", PETERSON][..], &["compare", "litmus/SB.litmus"], &["models"]] {
        assert!(weir(&[args, &["--color", "always"]].concat()).out.contains('\x1b'), "{args:?}");
    }
    let wrong = weir_reading(&["check", "--color", "always", "-"], b"process");
    assert!(wrong.err.contains('\x1b'), "{}", wrong.err);
    let report = weir(&["check", "--color", "always", "--format", "json", PETERSON]);
    json(&report.out);
}

// Witnesses.

/// Writes a witness of Peterson's failure and returns its path and content.
fn peterson_witness(name: &str) -> (String, Value) {
    let path = file(name, "");
    let output = weir(&["check", "--witness", &path, PETERSON]);
    assert_eq!(output.status, 1, "{output:?}");
    let witness = json(&fs::read_to_string(&path).unwrap());
    (path, witness)
}

#[test]
fn a_witness_is_accepted() {
    let (path, witness) = peterson_witness("accepted.json");
    let output = weir(&["certify", &path, PETERSON]);
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.starts_with("accepted "), "{}", output.out);
    assert!(output.out.contains("shows that `mutex` is violated, under TSO"), "{}", output.out);

    let output = weir(&["certify", "--format", "json", &path, PETERSON]);
    assert_eq!(
        json(&output.out),
        json!({"schema": "weir-certify-2", "accepted": true, "findings": [{
            "claim": {
                "program": "peterson",
                "fingerprint": witness["fingerprint"],
                "model": "TSO",
                "question": "mutex",
            },
            "verdict": "violated",
        }]})
    );
    let report = json(&weir(&["check", "--format", "json", PETERSON]).out);
    assert_eq!(report["findings"][0]["evidence"]["file"], witness);
}

#[test]
fn a_witness_for_every_model() {
    for model in ["tso", "pso", "nsw", "tso+r->w", "tso+r->r/w", "nsw+rrwe", "w->r"] {
        let path = file("every-model.json", "");
        let output = weir(&["check", "-m", model, "--witness", &path, PETERSON]);
        assert_eq!(output.status, 1, "{model}: {output:?}");
        let output = weir(&["certify", &path, PETERSON]);
        assert_eq!(output.status, 0, "{model}: {output:?}");
    }
}

type Tamper = Box<dyn Fn(&mut Value)>;

#[test]
fn a_witness_that_was_tampered_with_is_rejected() {
    let (path, witness) = peterson_witness("tampered.json");
    let steps = witness["steps"].as_array().unwrap().len();
    let tampered: Vec<(&str, Tamper)> = vec![
        ("another model", Box::new(|w| w["model"] = json!("SC"))),
        ("no model", Box::new(|w| w["model"] = json!("tos"))),
        ("another property", Box::new(|w| w["property"] = json!(1))),
        ("another version", Box::new(|w| w["version"] = json!(1))),
        ("another program", Box::new(|w| w["fingerprint"] = json!("0".repeat(32)))),
        ("another beginning", Box::new(|w| w["initial"]["memory"]["turn"] = json!(1))),
        ("another end", Box::new(|w| w["final"]["memory"]["turn"] = json!(1))),
        ("a value nobody writes", Box::new(|w| w["initial"]["memory"]["turn"] = json!(7))),
        ("no steps", Box::new(|w| w["steps"] = json!([]))),
        (
            "one step less",
            Box::new(move |w| drop(w["steps"].as_array_mut().unwrap().remove(steps - 1))),
        ),
        ("a step of nobody", Box::new(|w| w["steps"][0]["process"] = json!("r"))),
        ("another rule", Box::new(|w| w["steps"][0]["rule"] = json!("write memory"))),
        (
            "no such transition",
            Box::new(|w| w["steps"][0]["transition"] = json!("w(turn,7) to 99")),
        ),
        ("another operation", Box::new(|w| w["steps"][0]["op"] = json!("w(turn,0)"))),
    ];
    for (what, tamper) in tampered {
        let mut changed = witness.clone();
        tamper(&mut changed);
        assert_ne!(changed, witness, "{what}");
        fs::write(&path, changed.to_string()).unwrap();
        let output = weir(&["certify", &path, PETERSON]);
        assert_eq!(output.status, 1, "{what}: {output:?}");
        assert!(output.out.starts_with("rejected "), "{what}: {}", output.out);
        let output = weir(&["certify", "--format", "json", &path, PETERSON]);
        let report = json(&output.out);
        assert_eq!(report["accepted"], false, "{what}");
        assert!(!report["reason"].as_str().unwrap().is_empty(), "{what}");
    }
}

#[test]
fn a_witness_of_another_program_is_rejected() {
    let (path, _) = peterson_witness("another.json");
    for other in ["examples/peterson-fenced.weir", "examples/dekker.weir", "litmus/SB.litmus"] {
        let output = weir(&["certify", &path, other]);
        assert_eq!(output.status, 1, "{other}: {output:?}");
    }
}

#[test]
fn files_that_are_no_witnesses() {
    let (path, witness) = peterson_witness("broken.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    is_wrong(&weir(&["certify", &path, PETERSON]), "is neither a witness nor a certificate");
    is_wrong(&weir(&["certify", PETERSON, PETERSON]), "is neither a witness nor a certificate");
    is_wrong(
        &weir(&["certify", &file("empty.json", ""), PETERSON]),
        "is neither a witness nor a certificate",
    );
    is_wrong(&weir(&["certify", "no-such-file.json", PETERSON]), "there is no such file");
    let deep = file("deep.json", "[".repeat(100_000));
    is_wrong(&weir(&["certify", &deep, PETERSON]), "is neither a witness nor a certificate");
    let mut more = witness;
    more["comment"] = json!("what is this?");
    fs::write(&path, more.to_string()).unwrap();
    is_wrong(&weir(&["certify", &path, PETERSON]), "unknown field `comment`");
}

#[test]
fn no_witness_where_no_run_was_found() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("none.json");
    let output = weir(&["check", "-m", "sc", "--witness", path.to_str().unwrap(), PETERSON]);
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.err.contains("was not written"), "{}", output.err);
    assert!(!path.exists());
    let output = weir(&["check", "--witness", "no-such-directory/w.json", PETERSON]);
    assert_eq!(output.status, 2, "{output:?}");
    assert!(output.err.contains("cannot write"), "{}", output.err);
}

// Standard input, and printing back.

#[test]
fn standard_input() {
    let text = fs::read(root().join(PETERSON)).unwrap();
    let output = weir_reading(&["check", "-"], &text);
    assert_eq!(output.status, 1, "{output:?}");
    let litmus = fs::read(root().join("litmus/SB.litmus")).unwrap();
    let output = weir_reading(&["outcomes", "--format", "json", "-"], &litmus);
    assert_eq!(json(&output.out)["program"], "SB");
    let output = weir_reading(&["check", "--language", "litmus", "-"], &litmus);
    assert_eq!(output.status, 0, "{output:?}");
    let output = weir_reading(&["check", "--language", "weir", "-"], &litmus);
    assert_eq!(output.status, 2, "{output:?}");
}

#[test]
fn what_show_prints_parses_back() {
    let files = [PETERSON, "examples/ticket-lock.weir", "examples/deadlock-holds.weir"];
    let verdicts = |report: &Value| -> Vec<Value> {
        report["findings"].as_array().unwrap().iter().map(|p| p["verdict"].clone()).collect()
    };
    for file in files.into_iter().chain(["litmus/SB.litmus", "litmus/MP.litmus"]) {
        let shown = weir(&["show", file]);
        assert_eq!(shown.status, 0, "{file}: {shown:?}");
        let again = weir_reading(&["show", "--language", "weir", "-"], shown.out.as_bytes());
        assert_eq!(again.out, shown.out, "{file}");
        let one = weir(&["check", "--format", "json", file]);
        let check = ["check", "--format", "json", "--language", "weir", "-"];
        let two = weir_reading(&check, shown.out.as_bytes());
        assert_eq!(verdicts(&json(&one.out)), verdicts(&json(&two.out)), "{file}");
    }
}

#[test]
fn show_the_system() {
    let output = weir(&["show", "--system", "examples/store-buffering.weir"]);
    assert_eq!(output.status, 0);
    assert!(output.out.contains("var x  in {0, 1}  initially 0"), "{}", output.out);
    assert!(output.out.contains("w(x,1)"), "{}", output.out);
}

#[test]
fn what_is_no_program_is_said_to_be_none() {
    for (file, what) in [("games/ping.chm", "a channel machine"), ("abc.pcp", "Post's problem")] {
        let output = weir(&["check", &format!("examples/{file}")]);
        assert_eq!(output.status, 2, "{file}");
        assert!(output.err.contains(what) && output.err.contains("weir channel"), "{}", output.err);
    }
}
