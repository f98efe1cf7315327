//! `weir lsp`, as an editor talks to it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_gen::tools::are_installed;

use crate::common::root;

/// Longer than anything takes, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor: a running server and what it has said.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<Value>,
    /// What was said that nobody has asked for yet.
    kept: VecDeque<Value>,
    requests: u64,
    uri: String,
    /// The text, as the editor has it.
    text: String,
    version: i32,
}

impl Editor {
    /// Starts a server, which has not been initialized.
    fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
            .arg("lsp")
            .args(options)
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (say, said) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = message(&mut output) {
                if say.send(message).is_err() {
                    return;
                }
            }
        });
        let uri = "file:///tmp/program.weir".to_owned();
        let (kept, text) = (VecDeque::new(), String::new());
        Self { child, input, said, kept, requests: 0, uri, text, version: 0 }
    }

    /// Starts a server and opens a text.
    fn open(options: &[&str], text: &str) -> Self {
        let mut editor = Self::start(options);
        editor.initialize();
        editor.open_as("file:///tmp/program.weir", "weir", text);
        editor
    }

    fn initialize(&mut self) -> Value {
        let refresh = json!({"refreshSupport": true});
        let capabilities = json!({"workspace": {"codeLens": refresh, "inlayHint": refresh}});
        let able = self.ask("initialize", &json!({"capabilities": capabilities}));
        self.tell("initialized", &json!({}));
        able
    }

    fn open_as(&mut self, uri: &str, language: &str, text: &str) {
        (self.uri, self.text, self.version) = (uri.to_owned(), text.to_owned(), 1);
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message that fits; the others are kept.
    fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(i) = self.kept.iter().position(&fits) {
            return self.kept.remove(i).unwrap();
        }
        loop {
            let message = self.said.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|_| panic!("no {what}; kept: {:?}", self.kept));
            if fits(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The answer to a request, or the error.
    fn try_ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.requests += 1;
        let id = json!(self.requests);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut answer = self.wait(method, |m| m["id"] == id && m.get("method").is_none());
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap().to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Asks about the document, with other parameters beside it.
    fn ask_about(&mut self, method: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({"uri": self.uri});
        self.ask(&format!("textDocument/{method}"), &params)
    }

    /// The position of a place in the text: counted here in another way than the server does.
    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        let line = before.rsplit('\n').next().unwrap();
        json!({"line": before.matches('\n').count(), "character": line.encode_utf16().count()})
    }

    fn range(&self, part: &str) -> Value {
        let at = self.text.find(part).unwrap_or_else(|| panic!("there is no `{part}`"));
        json!({"start": self.position(at), "end": self.position(at + part.len())})
    }

    /// Asks about the first place of a part of the text.
    fn ask_at(&mut self, method: &str, part: &str) -> Value {
        let position = self.range(part)["start"].clone();
        self.ask_about(method, json!({"position": position}))
    }

    /// Changes a part of the text.
    fn type_over(&mut self, part: &str, by: &str) {
        let range = self.range(part);
        self.version += 1;
        self.text = self.text.replacen(part, by, 1);
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!([{"range": range, "text": by}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.tell("textDocument/didChange", &params);
    }

    /// Makes the changes that the server proposes.
    fn apply(&mut self, changes: &Value) {
        let mut edits = changes[&self.uri].as_array().unwrap().clone();
        let place = |edit: &Value| {
            let start = &edit["range"]["start"];
            (start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
        };
        edits.sort_by_key(place);
        for edit in edits.iter().rev() {
            let [start, end] = ["start", "end"].map(|end| self.offset(&edit["range"][end]));
            let by = edit["newText"].as_str().unwrap().to_owned();
            self.text.replace_range(start..end, &by);
            // The position is counted in the text before the change.
            let range = edit["range"].clone();
            self.version += 1;
            let document = json!({"uri": self.uri, "version": self.version});
            let changes = json!([{"range": range, "text": by}]);
            let params = json!({"textDocument": document, "contentChanges": changes});
            self.tell("textDocument/didChange", &params);
        }
    }

    fn offset(&self, position: &Value) -> usize {
        let line = position["line"].as_u64().unwrap() as usize;
        let start: usize = self.text.split_inclusive('\n').take(line).map(str::len).sum();
        let units = position["character"].as_u64().unwrap() as usize;
        let mut left = units;
        let rest = self.text[start..].chars().take_while(|c| {
            let fits = left > 0;
            left = left.saturating_sub(c.len_utf16());
            fits
        });
        start + rest.map(char::len_utf8).sum::<usize>()
    }

    /// What is wrong with the text as it is now, once the server says something that fits.
    fn diagnostics(&mut self, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let (uri, version) = (json!(self.uri), json!(self.version));
        let list = |m: &Value| m["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
        let is_it = |m: &Value| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && m["params"]["version"] == version
                && fits(&list(m))
        };
        list(&self.wait("diagnostics", is_it))
    }

    /// The titles of the lenses, once all answers are there.
    fn lenses(&mut self) -> Vec<Value> {
        loop {
            let lenses = self.ask_about("codeLens", json!({}));
            let list = lenses.as_array().unwrap().clone();
            if !list.is_empty() && list.iter().all(|l| !title(l).ends_with("checking …")) {
                return list;
            }
            self.wait("refresh", |m| m["method"] == "workspace/codeLens/refresh");
        }
    }

    fn actions(&mut self, part: &str) -> Vec<Value> {
        let params = json!({"range": self.range(part), "context": {"diagnostics": []}});
        self.ask_about("codeAction", params).as_array().unwrap().clone()
    }

    /// The same, once there are some: they are looked for in the background.
    fn actions_found(&mut self, part: &str) -> Vec<Value> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let actions = self.actions(part);
            if !actions.is_empty() {
                return actions;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("there is no quick fix for `{part}`");
    }

    /// Ends the server. Returns its exit status.
    fn end(mut self) -> i32 {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.input.take());
        // It has ended, unless the test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse::<usize>().ok(),
            None => break,
        }
    }
    let mut bytes = vec![0; length?];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn title(lens: &Value) -> &str {
    lens["command"]["title"].as_str().unwrap()
}

fn titles(lenses: &[Value]) -> Vec<&str> {
    lenses.iter().map(title).collect()
}

/// Store buffering, with characters of one to four bytes before names.
const PROGRAM: &str = "\
// é€😀
var x, y /* 😀 */, unused: 0..2
process p { /* é */ reg r
    /* 😀 */ x = 1
    r = y
}
process q { reg r
    y = 1
    r = x
}
both: final never p.r == 0 and q.r == 0
";

#[test]
fn an_exchange_from_open_to_exit() {
    let mut editor = Editor::open(&[], PROGRAM);
    assert_eq!(editor.diagnostics(|_| true), [] as [Value; 0]);

    // An error is shown where it is, and what was meant is a quick fix.
    editor.type_over("r = y\n", "r = unusde\n");
    let errors = editor.diagnostics(|list| !list.is_empty());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["range"], editor.range("unusde"));
    assert_eq!(errors[0]["severity"], 1);
    let said = errors[0]["message"].as_str().unwrap();
    assert_eq!(said, "there is no variable, register or constant `unusde`\ndid you mean `unused`?");
    let actions = editor.actions("unusde");
    assert_eq!(actions[0]["title"], "Replace `unusde` by `unused`");
    let context = json!({"diagnostics": [], "only": ["source.fixAll"]});
    let params = json!({"range": editor.range("unusde"), "context": context});
    assert_eq!(editor.ask_about("codeAction", params), json!([]));
    editor.apply(&actions[0]["edit"]["changes"]);
    assert!(editor.text.contains("r = unused\n"), "{}", editor.text);
    assert_eq!(editor.diagnostics(|_| true), [] as [Value; 0]);
    editor.type_over("r = unused", "r = y");

    // The answers stand over the property, and a violated one is a warning.
    let warnings = editor.diagnostics(|list| !list.is_empty());
    assert_eq!(warnings[0]["range"], editor.range("both: final never p.r == 0 and q.r == 0"));
    assert_eq!(warnings[0]["message"], "both: violated in 6 steps under TSO");
    let steps = warnings[0]["relatedInformation"].as_array().unwrap().clone();
    assert_eq!(steps[0]["message"], "step 1: p: x = 1");
    assert_eq!(steps[0]["location"]["range"], editor.range("x = 1"));
    let lenses = editor.lenses();
    assert_eq!(titles(&lenses), ["SC: holds", "TSO: violated in 6 steps"]);

    // The run is shown beside the text and in it.
    let command = lenses[1]["command"].clone();
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    let run = editor.ask("workspace/executeCommand", &params);
    let lines: Vec<&str> =
        run["lines"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    assert_eq!(lines[0], "both under TSO: violated in 6 steps");
    assert!(lines.iter().any(|line| line.contains("read y → 0")), "{lines:#?}");
    editor.wait("refresh", |m| m["method"] == "workspace/inlayHint/refresh");
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = editor.ask_about("inlayHint", json!({"range": whole}));
    assert_eq!(hints[0]["label"], "1. p: x = 1");
    assert_eq!(hints[0]["position"], editor.range("x = 1")["end"]);

    // Fences repair it.
    let actions = editor.actions_found("both");
    let said = actions[0]["title"].as_str().unwrap();
    assert!(said.starts_with("Insert the 2 missing fences at lines 5, 9"), "{said}");
    editor.apply(&actions[0]["edit"]["changes"]);
    assert!(editor.text.contains("x = 1\n    fence\n    r = y"), "{}", editor.text);
    assert_eq!(titles(&editor.lenses()), ["SC: holds", "TSO: holds"]);
    assert_eq!(editor.actions("both"), [] as [Value; 0]);

    // A name is changed wherever it stands for the same.
    let mut params = json!({"position": editor.range("r = y")["start"], "newName": "seen"});
    params["textDocument"] = json!({"uri": editor.uri});
    let changes = editor.ask("textDocument/rename", &params)["changes"].clone();
    editor.apply(&changes);
    let renamed = "process p { /* é */ reg seen\n    /* 😀 */ x = 1\n    fence\n    seen = y\n}";
    assert!(editor.text.contains(renamed), "{}", editor.text);
    assert!(editor.text.contains("never p.seen == 0 and q.r == 0"), "{}", editor.text);
    assert_eq!(titles(&editor.lenses()), ["SC: holds", "TSO: holds"]);
    for (name, why) in [("x", "a shared variable already"), ("while", "is not a name")] {
        params["newName"] = json!(name);
        params["position"] = editor.range("seen = y")["start"].clone();
        let error = editor.try_ask("textDocument/rename", &params).unwrap_err();
        assert!(error.contains(why), "{error}");
    }

    // The usual form, once.
    let options = json!({"options": {"tabSize": 4, "insertSpaces": true}});
    editor.type_over("seen = y", "seen=y");
    let edits = editor.ask_about("formatting", options.clone());
    editor.apply(&json!({editor.uri.clone(): edits}));
    assert!(editor.text.contains("    fence\n    seen = y\n}"), "{}", editor.text);
    assert_eq!(editor.ask_about("formatting", options), json!([]));
    assert_eq!(editor.end(), 0);
}

#[test]
fn what_is_no_message_does_not_end_the_server() {
    let mut editor = Editor::start(&[]);
    // Before anything else, requests are rejected.
    let error = editor.try_ask("textDocument/hover", &json!({})).unwrap_err();
    assert_eq!(error, "`initialize` has to come first");
    editor.initialize();
    let frame = |body: &[u8]| {
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        [header.as_bytes(), body].concat()
    };
    let deep = "[".repeat(100_000);
    let wrong: [&[u8]; 8] =
        [b"", b"{", b"null", b"[]", b"\xff\xfe", b"{\"id\":{}}", b"{}", deep.as_bytes()];
    for body in wrong {
        editor.send_bytes(&frame(body));
    }
    editor.send_bytes(b"Content-Type: x\r\ncontent-length:2\r\n\r\n{}");
    let nothing = [Value::Null, json!([]), json!(7), json!({"textDocument": {"uri": "a b"}})];
    for params in &nothing {
        for method in ["didOpen", "didChange", "didClose"] {
            editor.tell(&format!("textDocument/{method}"), params);
        }
        editor.tell("workspace/didChangeConfiguration", params);
        editor.tell("$/unknown", params);
        for method in ["hover", "rename", "codeAction", "codeLens", "completion", "inlayHint"] {
            let error = editor.try_ask(&format!("textDocument/{method}"), params);
            assert!(error.is_err(), "{method} {params}");
        }
        assert!(editor.try_ask("workspace/executeCommand", params).is_err());
        assert!(editor.try_ask("unknown/method", params).is_err());
        assert!(editor.try_ask("initialize", params).is_err());
    }
    // Positions that are nowhere.
    editor.open_as("file:///tmp/a.weir", "weir", PROGRAM);
    let far = json!({"line": 4_000_000_000u32, "character": 4_000_000_000u32});
    for method in ["hover", "definition", "completion", "documentHighlight", "prepareRename"] {
        editor.ask_about(method, json!({"position": far}));
    }
    let backward = json!({"start": far, "end": {"line": 0, "character": 0}});
    let uri = json!({"uri": editor.uri, "version": 2});
    let changes = json!([{"range": backward, "text": "é"}, {"text": PROGRAM}]);
    let params = json!({"textDocument": uri, "contentChanges": changes});
    editor.tell("textDocument/didChange", &params);
    editor.version = 2;
    assert_eq!(titles(&editor.lenses()), ["SC: holds", "TSO: violated in 6 steps"]);
    assert_eq!(editor.end(), 0);
}

#[test]
fn input_without_messages_ends_the_server() {
    for input in ["", "nonsense", "Content-Length: 99999999999\r\n\r\n{}", "a: b\r\n\r\n"] {
        let output = crate::common::weir_reading(&["lsp"], input.as_bytes());
        assert_eq!((output.status, output.out.as_str()), (1, ""), "{input}");
    }
}

/// The text that is shown about a part of the text.
fn hover(editor: &mut Editor, part: &str) -> String {
    let hover = editor.ask_at("hover", part);
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn names_and_fences_are_explained() {
    let text = "\
const N = 2
enum Color { red, green }
var level: 0..N = 1, color: Color, free
var flags[2]: bool = [false, true]
process p {
    reg old = 3
begin:
    old = fetch_add(level, 1)
    wfence
    rfence
    fence
    flags[0] = color == green
    goto begin
unused:
}
never_up: never p@begin and level == 2
";
    let options = ["--model", "sc", "--model", "tso", "--model", "pso"];
    let mut editor = Editor::open(&options, text);
    editor.lenses();
    let expected: [(&str, &[&str]); 12] = [
        (
            "level: 0",
            &[
                "var level: 0..N = 1",
                "Values: 0, 1, 2. At first: 1.",
                "at once: `p` (line 8)",
                "`never_up` (line 16)",
            ],
        ),
        (
            "color: C",
            &["shared variable", "Values: red, green. At first: red.", "Read: `p` (line 12)"],
        ),
        ("free", &["No domain: it may hold any number. At first: 0."]),
        ("flags[2]", &["shared array", "At first: [false, true]", "Written: `p` (line 12)"]),
        ("old = 3", &["register of process `p`", "At first: 3.", "Written: `p` (line 8)"]),
        (
            "begin:",
            &[
                "label of process `p`",
                "Asked about: `never_up` (line 16)",
                "Jumped to: `p` (line 13)",
            ],
        ),
        ("unused:", &["No property and no `goto` names it."]),
        ("green }", &["member of an enum of enum `Color`", "Its value is 1."]),
        ("fetch_add", &["in one step, and is a full fence"]),
        (
            "fence\n    flags",
            &[
                "* SC: changes nothing.",
                "* TSO: reads after it overtake no write",
                "* PSO: reads after it overtake no write before it; writes after it overtake no write",
            ],
        ),
        (
            "wfence",
            &["* TSO: changes nothing.", "* PSO: writes after it overtake no write before it."],
        ),
        ("never_up", &["property", "* SC: violated", "* PSO: violated"]),
    ];
    for (part, says) in expected {
        let shown = hover(&mut editor, part);
        for said in says {
            assert!(shown.contains(said), "{part}: {said} is not in\n{shown}");
        }
    }
    assert_eq!(hover(&mut editor, "{"), "");
    // Definitions, references, outline.
    let defined = editor.ask_at("definition", "begin and");
    assert_eq!(defined[0]["range"]["start"], editor.range("begin:")["start"]);
    let position = editor.range("level: 0")["start"].clone();
    for (with_declaration, count) in [(true, 3), (false, 2)] {
        let context = json!({"includeDeclaration": with_declaration});
        let found =
            editor.ask_about("references", json!({"position": position, "context": context}));
        assert_eq!(found.as_array().unwrap().len(), count);
    }
    let outline = editor.ask_about("documentSymbol", json!({}));
    let name = |symbol: &Value| symbol["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = outline.as_array().unwrap().iter().map(name).collect();
    assert_eq!(names, ["N", "Color", "level", "color", "free", "flags", "p", "never_up"]);
    let inner: Vec<String> = outline[6]["children"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(inner, ["old", "begin", "unused"]);
    assert_eq!(editor.end(), 0);
}

#[test]
fn completion_knows_where_it_is() {
    let text =
        "var x\nprocess p { reg r\nl: x = 1 }\nprocess q { goto m\nm: }\nnever p@l and p.r == 1\n";
    let mut editor = Editor::open(&[], text);
    let labels = |editor: &mut Editor, part: &str| -> Vec<String> {
        let found = editor.ask_at("completion", part);
        let label = |item: &Value| item["label"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(label).collect()
    };
    assert_eq!(labels(&mut editor, "l and"), ["l"]);
    assert_eq!(labels(&mut editor, "r == 1"), ["r"]);
    assert_eq!(labels(&mut editor, "m\nm"), ["m"]);
    let inside = labels(&mut editor, "x = 1");
    for word in ["x", "r", "fence", "cas", "while"] {
        assert!(inside.iter().any(|w| w == word), "{word}: {inside:?}");
    }
    assert!(!inside.iter().any(|w| w == "process"), "{inside:?}");
    let outside = labels(&mut editor, "never");
    for word in ["x", "p", "never", "process"] {
        assert!(outside.iter().any(|w| w == word), "{word}: {outside:?}");
    }
    assert!(!outside.iter().any(|w| ["r", "fence"].contains(&w.as_str())), "{outside:?}");
    // A process whose end is not written yet.
    editor.type_over("\nm: }\nnever p@l and p.r == 1\n", "\n    ");
    let at = editor.position(editor.text.len());
    let found = editor.ask_about("completion", json!({"position": at}));
    assert!(found.as_array().unwrap().iter().any(|i| i["label"] == "fence"), "{found}");
    assert_eq!(editor.end(), 0);
}

/// A program with far more states than can be searched while a test waits.
const LARGE: &str = "\
var a[8]: 0..9
process p[i: 0..7] { reg r  loop { r = a[(i + 1) % 8]  a[i] = (r + any(0..9)) % 10 } }
large: never p[0].r == 9 and p[1].r == 8 and p[2].r == 7 and a[3] == 10
";

#[test]
fn a_change_cancels_the_check_that_runs() {
    let mut editor = Editor::open(&["--timeout", "3600"], LARGE);
    editor.diagnostics(|_| true);
    assert_eq!(
        titles(editor.ask_about("codeLens", json!({})).as_array().unwrap()),
        ["SC: checking …", "TSO: checking …"]
    );
    // The server still answers.
    assert!(hover(&mut editor, "a[8]").contains("shared array"));
    editor.version += 1;
    editor.text = PROGRAM.to_owned();
    let document = json!({"uri": editor.uri, "version": editor.version});
    let params = json!({"textDocument": document, "contentChanges": [{"text": PROGRAM}]});
    editor.tell("textDocument/didChange", &params);
    assert_eq!(titles(&editor.lenses()), ["SC: holds", "TSO: violated in 6 steps"]);
    assert_eq!(editor.end(), 0);
}

#[test]
fn a_limit_is_an_answer_and_can_be_raised() {
    let mut editor = Editor::open(&["--timeout", "0.05", "--model", "tso"], LARGE);
    let lenses = editor.lenses();
    assert!(title(&lenses[0]).starts_with("TSO: unknown (the time limit of 0.05 s"), "{lenses:?}");
    assert_eq!(lenses[0]["command"]["command"], "weir.check");
    let params = json!({"command": "weir.check", "arguments": [editor.uri, 0.1]});
    editor.ask("workspace/executeCommand", &params);
    editor.wait("check", |m| m["method"] == "workspace/codeLens/refresh");
    let again = editor.lenses();
    assert!(title(&again[0]).contains("the time limit of 0."), "{again:?}");
    assert_eq!(editor.end(), 0);
}

#[test]
fn models_are_configured() {
    let mut editor = Editor::open(&["--model", "sc"], PROGRAM);
    assert_eq!(titles(&editor.lenses()), ["SC: holds"]);
    let settings = json!({"weir": {"models": ["pso", "nonsense", "PSO"], "timeout": 50}});
    editor.tell("workspace/didChangeConfiguration", &json!({"settings": settings}));
    let said = editor.wait("warning", |m| m["method"] == "window/showMessage");
    let said = said["params"]["message"].as_str().unwrap();
    assert_eq!(said, "weir.models: `nonsense` is neither a memory model nor a relaxation");
    editor.diagnostics(|list| !list.is_empty());
    assert_eq!(titles(&editor.lenses()), ["PSO: violated in 8 steps"]);
    assert_eq!(editor.end(), 0);
}

#[test]
fn other_questions_have_lenses_too() {
    let text = "\
var x
process p { x = 1  if x == 2 { assert x == 3 } }
found: final exists x == 1
ends: live terminates
empty: never x == 7 and x == 8
";
    let mut editor = Editor::open(&["--model", "tso"], text);
    let lenses = editor.lenses();
    let over = |lens: &Value| lens["range"]["start"]["line"].as_u64().unwrap();
    let mut all: Vec<_> = lenses.iter().map(|lens| (over(lens), title(lens))).collect();
    all.sort_unstable();
    assert!(
        all.iter().any(|(line, t)| *line == 2 && t.starts_with("TSO: allowed, in ")),
        "{all:?}"
    );
    assert!(all.iter().any(|(line, t)| *line == 3 && t.starts_with("TSO: holds")), "{all:?}");
    assert_eq!(editor.end(), 0);
}

#[test]
fn other_languages_have_errors_only() {
    let mut editor = Editor::start(&[]);
    editor.initialize();
    let broken: [(&str, &str, &str); 6] = [
        ("c", "a.c", "int main(void) { return é; }"),
        ("rust", "a.rs", "fn main() { let x = ; }"),
        ("promela", "a.pml", "active proctype p() { x = 1 }"),
        ("litmus", "a.litmus", "X86 sb\n{ x=0; }\n P0 ;\n MOV [x],€1 ;\nexists (x=1)\n"),
        ("rmm", "a.rmm", "forbidden nothing\n"),
        ("plaintext", "a.weir", "var x process p { y = 1 }"),
    ];
    for (language, file, text) in broken {
        editor.open_as(&format!("file:///tmp/{file}"), language, text);
        let errors = editor.diagnostics(|_| true);
        assert_eq!(errors[0]["severity"], 1, "{file}: {errors:?}");
    }
    for file in ["examples/c/dekker.c", "litmus/3.SB.litmus"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        editor.open_as(&format!("file://{}", root().join(file).display()), "plaintext", &text);
        assert_eq!(editor.diagnostics(|_| true), [] as [Value; 0], "{file}");
        assert_eq!(editor.ask_about("codeLens", json!({})), json!([]));
        assert_eq!(editor.ask_about("documentSymbol", json!({})), json!([]));
    }
    assert_eq!(editor.end(), 0);
}

#[test]
fn hostile_texts_do_not_end_the_server() {
    let mut editor = Editor::start(&[]);
    editor.initialize();
    let texts = [
        "x".repeat(5 << 20),
        format!("process p {{ x = {} }}", "(".repeat(200_000)),
        "process p { ".repeat(50_000),
        "never 1\n".repeat(60_000),
        "/*".repeat(300_000),
        "\u{feff}var x\r\nprocess p { x = \u{202e}1 }\r\n".to_owned(),
        "😀".repeat(100_000),
        format!(
            "{}\nprocess p {{ x0 = 1 }}",
            (0..30_000).map(|i| format!("var x{i}\n")).collect::<String>()
        ),
    ];
    for text in &texts {
        editor.open_as("file:///tmp/hostile.weir", "weir", text);
        editor.diagnostics(|_| true);
        for method in ["documentSymbol", "semanticTokens/full", "codeLens"] {
            editor.ask_about(method, json!({}));
        }
        for method in ["hover", "completion", "definition"] {
            editor.ask_about(method, json!({"position": {"line": 0, "character": 13}}));
        }
    }
    editor.open_as("file:///tmp/program.weir", "weir", PROGRAM);
    assert_eq!(titles(&editor.lenses()), ["SC: holds", "TSO: violated in 6 steps"]);
    assert_eq!(editor.end(), 0);
}

#[test]
fn a_mark_at_the_beginning_moves_nothing() {
    let mut editor = Editor::open(&[], &format!("\u{feff}{}", &PROGRAM["// é€😀\n".len()..]));
    let warnings = editor.diagnostics(|list| !list.is_empty());
    assert_eq!(warnings[0]["range"], editor.range("both: final never p.r == 0 and q.r == 0"));
    editor.type_over("var x, y", "var x");
    let errors = editor.diagnostics(|list| !list.is_empty());
    let at = editor.text.find("r = y").unwrap() + 4;
    assert_eq!(errors[0]["range"]["start"], editor.position(at));
    assert_eq!(editor.end(), 0);
}

/// The page about editors shows what the server says.
#[test]
fn the_page_shows_what_an_editor_shows() {
    let page = std::fs::read_to_string(root().join("docs/howto-editor.md")).unwrap();
    let program = std::fs::read_to_string(root().join("examples/peterson.weir")).unwrap();
    let mut editor = Editor::open(&[], &program[program.find("var flag").unwrap()..]);
    let warnings = editor.diagnostics(|list| !list.is_empty());
    let mut shown = vec![format!("warning: {}", warnings[0]["message"].as_str().unwrap())];
    let lenses = editor.lenses();
    shown.extend(lenses.iter().map(|lens| format!("▸ {}", title(lens))));
    let command = lenses[1]["command"].clone();
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    editor.ask("workspace/executeCommand", &params);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = editor.ask_about("inlayHint", json!({"range": whole}));
    let hints = hints.as_array().unwrap().clone();
    assert_eq!(hints.len(), 3);
    shown.extend(hints.iter().map(|hint| format!("◂ {}", hint["label"].as_str().unwrap())));
    let actions = editor.actions_found("mutex");
    shown.push(format!("quick fix: {}", actions[0]["title"].as_str().unwrap()));
    for part in shown {
        assert!(page.contains(&part), "{part}");
    }
    for (number, line) in editor.text.lines().enumerate() {
        let line = format!("{:3}  {line}", number + 1);
        assert!(page.contains(line.trim_end()), "{line}");
    }
    assert_eq!(editor.end(), 0);
}

/// Runs a test of the package for Visual Studio Code.
fn node(test: &str) {
    if !are_installed(&["node"]) {
        return;
    }
    let output = Command::new("node")
        .arg(root().join("editors/vscode/test").join(test))
        .arg(env!("CARGO_BIN_EXE_weir"))
        .arg(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// All programs of the repository look like what the lexer says that they are.
#[test]
fn the_grammar_agrees_with_the_lexer() {
    node("grammar.mjs");
}

#[test]
fn the_extension_starts_the_server_and_shows_runs() {
    node("extension.cjs");
}

#[cfg(target_os = "linux")]
#[test]
fn a_text_that_takes_any_memory_is_read_in_a_process_with_limits() {
    let mut editor = Editor::start(&["--memory", "20", "--timeout", "5"]);
    editor.initialize();
    editor.open_as("file:///tmp/large.weir", "weir", &crate::serve::large());
    let said = editor.wait("diagnostics", |m| {
        m["method"] == "textDocument/publishDiagnostics"
            && m["params"]["diagnostics"].as_array().is_some_and(|all| !all.is_empty())
    });
    let message = said["params"]["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("cannot be read within 5 s and 20 MiB"), "{said}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 200 << 10, "the server took {kib} KiB");
}
