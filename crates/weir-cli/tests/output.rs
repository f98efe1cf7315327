//! What the program prints and writes is not lost, overwrites nothing that it should not,
//! and holds no control character of an input.

#![cfg(unix)]

use crate::common;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::{root, weir, weir_reading};
use weir_gen::tools::skip;

const SB: &str = "examples/store-buffering.weir";
const RMM: &str = "corpus/rmm/store-buffering.rmm";
const TRENCHER: &str = "corpus/trencher/store-buffering.txt";
const PROMELA: &str = "corpus/promela/store-buffering.pml";

/// A new empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("output").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Every command that prints, in every format: words of a command line each.
fn commands() -> Vec<Vec<String>> {
    // Tests run at the same time, and the files are written once.
    static COMMANDS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    COMMANDS.get_or_init(all_commands).clone()
}

fn all_commands() -> Vec<Vec<String>> {
    let folder = folder("commands");
    let witness = folder.join("w.json");
    let set = folder.join("set.json");
    weir(&["check", "--model", "tso", SB, "--witness", text(&witness)]);
    let abp = "examples/alternating-bit.chm";
    weir(&["channel", "check", abp, "--reach", "wrong", "--certificate", text(&set)]);
    let (witness, set) = (text(&witness), text(&set));
    [
        format!("check {SB}"),
        format!("check {SB} --format json"),
        format!("check {SB} --stats"),
        format!("outcomes {SB}"),
        format!("outcomes {SB} --format json"),
        format!("outcomes {SB} --format herd"),
        format!("compare {SB}"),
        format!("compare {SB} --format json"),
        format!("fences {SB}"),
        format!("fences {SB} --format json"),
        format!("fences {SB} --patch"),
        format!("fences {SB} --redundant"),
        format!("robust {SB}"),
        format!("robust {SB} --format json"),
        format!("certify {witness} {SB}"),
        format!("certify {witness} {SB} --format json"),
        "live examples/objects/register.weir --model sc".to_owned(),
        "live examples/objects/register.weir --model sc --format json".to_owned(),
        format!("step {SB}"),
        format!("show {SB}"),
        format!("show {SB} --system"),
        format!("convert {SB}"),
        format!("graph {SB}"),
        format!("graph {SB} --format json"),
        "doctor".to_owned(),
        "litmus orders CoWW".to_owned(),
        "models".to_owned(),
        "models --format json".to_owned(),
        "litmus gen PodWR Fre PodWR Fre".to_owned(),
        "litmus gen PodWR Fre PodWR Fre --list".to_owned(),
        "litmus gen PodWR Fre PodWR Fre --verdicts".to_owned(),
        format!("litmus gen PodWR Fre PodWR Fre --output {}", text(&folder)),
        format!("channel check {abp} --reach wrong"),
        format!("channel check {abp} --reach wrong --format json"),
        format!("channel run {abp} --bound 1"),
        format!("channel run {abp} --bound 1 --format json"),
        format!("channel run {abp} --bound 1 --again wrong"),
        format!("channel basic {abp}"),
        format!("channel one-channel {abp}"),
        "channel product examples/meet-left.chm examples/meet-right.chm".to_owned(),
        format!("channel show {abp}"),
        format!("channel of {SB}"),
        "channel program examples/games/ping.chm".to_owned(),
        "channel pcp examples/abc.pcp".to_owned(),
        "channel pcp examples/abc.pcp --solve".to_owned(),
        "channel pcp examples/abc.pcp --solve --format json".to_owned(),
        "channel empty examples/peterson.weir".to_owned(),
        format!("channel certify {set} {abp}"),
        format!("channel certify {set} {abp} --format json"),
        "litmus run litmus/SB.litmus --instances 1000".to_owned(),
        "check examples/peterson.weir examples/dekker.weir --jobs 2".to_owned(),
        "check examples/peterson.weir --format junit".to_owned(),
        "check examples/peterson.weir --format sarif".to_owned(),
        "outcomes litmus/SB.litmus --format csv".to_owned(),
        "test examples/exercises".to_owned(),
        "explain".to_owned(),
        "explain tso".to_owned(),
        "fmt --check examples/peterson.weir corpus".to_owned(),
        "completions bash".to_owned(),
        "man".to_owned(),
        "game examples/games/handshake.weir".to_owned(),
        "game examples/games/handshake.weir --format json".to_owned(),
        "game examples/games/handshake.weir --play update".to_owned(),
        "reduce pcs examples/games/ping.chm --reach done --fairness update".to_owned(),
        "reduce cpcp examples/cpcp/rotation.pcp".to_owned(),
        "help".to_owned(),
        "--help".to_owned(),
        "check --help".to_owned(),
        "channel --help".to_owned(),
        "--version".to_owned(),
    ]
    .iter()
    .map(|line| line.split(' ').map(str::to_owned).collect())
    .collect()
}

/// The commands that a page of help lists.
fn listed(page: &[&str]) -> Vec<String> {
    let help = weir(page).out;
    let list = help.split_once("Commands:\n").unwrap().1;
    let list = list.lines().take_while(|l| !l.is_empty());
    list.filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .map(|l| l.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_list_of_commands_is_complete() {
    let tried: BTreeSet<String> = commands().iter().map(|words| words.join(" ")).collect();
    for group in [None, Some("litmus"), Some("channel"), Some("reduce")] {
        let page: Vec<&str> = group.into_iter().chain(["--help"]).collect();
        for command in listed(&page) {
            let begin = format!("{}{command}", group.map(|g| format!("{g} ")).unwrap_or_default());
            let is_there = tried.iter().any(|line| line.starts_with(&begin));
            // `serve` and `watch` do not end by themselves, and `lsp` prints nothing by itself:
            // `tests/serve.rs`, `tests/at_hand.rs` and `tests/editor.rs` try them. What `cc` and `c++` print is what
            // clang prints: `tests/packages.rs`.
            let excused = ["help", "serve", "watch", "lsp", "cc", "c++"];
            let is_excused = excused.contains(&command.as_str());
            assert!(is_there || is_excused, "`{begin}` is not tried");
        }
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(words).current_dir(root()).stdin(Stdio::null());
    command
}

fn full() -> Option<File> {
    let full = OpenOptions::new().write(true).open("/dev/full").ok();
    if full.is_none() {
        skip("there is no /dev/full");
    }
    full
}

#[test]
fn lost_output_is_an_error() {
    for words in commands() {
        let Some(full) = full() else { return };
        let output = command(&words).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {err}");
        let said = "error: cannot write to standard output: No space left on device\n";
        assert_eq!(err.matches(said).count(), 1, "{words:?}: {err}");
        assert!(!err.contains("panicked"), "{words:?}: {err}");
    }
}

#[test]
fn nobody_panics_when_errors_cannot_be_said() {
    let missing = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all = commands();
    all.push(missing("check nowhere.weir"));
    all.push(missing("check --model nothing examples/peterson.weir"));
    all.push(missing("convert examples/peterson.weir -o /dev/full"));
    for words in all {
        let (Some(out), Some(err)) = (full(), full()) else { return };
        let status = command(&words).stdout(out).stderr(err).status().unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for words in commands() {
        let mut piped = command(&words);
        let child = piped.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let closed = child.wait().unwrap().code();
        let whole = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(closed, whole.code(), "{words:?}: {err}");
        assert!(!err.contains("error") && !err.contains("panicked"), "{words:?}: {err}");
    }
}

// Files.

/// Converts a program to a file, and says what is wrong if that does not work.
fn convert(input: &str, output: &Path) -> Result<(), String> {
    let done = weir(&["convert", input, "--output", text(output)]);
    assert_eq!(done.out, "");
    match done.status {
        0 => Ok(()),
        2 => Err(done.err),
        other => panic!("status {other}: {}", done.err),
    }
}

fn converted(input: &str) -> String {
    weir(&["convert", input]).out
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name());
    let mut all: Vec<String> = all.map(|n| n.into_string().unwrap()).collect();
    all.sort();
    all
}

#[test]
fn what_is_no_file_is_written_through() {
    let folder = folder("special");
    convert(SB, Path::new("/dev/null")).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());

    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    if made.is_ok_and(|s| s.success()) {
        let reader = {
            let fifo = fifo.clone();
            std::thread::spawn(move || fs::read_to_string(fifo).unwrap())
        };
        convert(SB, &fifo).unwrap();
        assert_eq!(reader.join().unwrap(), converted(SB));
        assert_eq!(names(&folder), ["fifo"]);
    }

    // Standard output, when it is a pipe and when it is a file that is written to besides.
    let done = weir(&["convert", SB, "--output", "/dev/stdout"]);
    assert_eq!((done.status, done.out), (0, converted(SB)));
    let out = folder.join("out");
    let words = ["check", SB, "--model", "tso", "--witness", "/dev/stdout"].map(str::to_owned);
    let status = command(&words).stdout(File::create(&out).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let both = fs::read_to_string(&out).unwrap();
    assert!(both.starts_with(SB) && both.contains("\"format\":\"weir-witness\""), "{both}");

    let why = convert(SB, &folder).unwrap_err();
    assert!(why.contains("it is a directory"), "{why}");
    if full().is_some() {
        let why = convert(SB, Path::new("/dev/full")).unwrap_err();
        assert!(why.contains("cannot write `/dev/full`: No space left on device"), "{why}");
    }
}

#[test]
fn links_stay_and_their_targets_are_replaced() {
    let folder = folder("links");
    let (target, link) = (folder.join("target"), folder.join("link"));
    fs::write(&target, "old").unwrap();
    symlink("target", &link).unwrap();
    convert(SB, &link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), converted(SB));

    // A link to a link to a file that is not there yet, in another folder.
    fs::create_dir(folder.join("inside")).unwrap();
    symlink("inside/second", folder.join("first")).unwrap();
    symlink("../new", folder.join("inside/second")).unwrap();
    convert(SB, &folder.join("first")).unwrap();
    assert_eq!(fs::read_to_string(folder.join("new")).unwrap(), converted(SB));
    assert!(fs::symlink_metadata(folder.join("inside/second")).unwrap().is_symlink());

    symlink("round", folder.join("round")).unwrap();
    assert!(convert(SB, &folder.join("round")).is_err());
    assert_eq!(names(&folder), ["first", "inside", "link", "new", "round", "target"]);
}

#[test]
fn the_mode_is_kept() {
    let folder = folder("mode");
    let file = folder.join("file");
    fs::write(&file, "old").unwrap();
    for mode in [0o600, 0o640, 0o755] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        convert(SB, &file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, mode);
    }
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = folder("input");
    let input = folder.join("input.weir");
    fs::copy(root().join(SB), &input).unwrap();
    let before = fs::read_to_string(&input).unwrap();
    symlink("input.weir", folder.join("symbolic")).unwrap();
    fs::hard_link(&input, folder.join("hard")).unwrap();
    let dotted = folder.join(".").join("input.weir");
    for output in [&input, &folder.join("symbolic"), &folder.join("hard"), &dotted] {
        let why = convert(text(&input), output).unwrap_err();
        assert!(why.contains("would be overwritten"), "{why}");
        for option in ["--witness", "--certificate"] {
            let done = weir(&["check", SB, text(&input), option, text(output)]);
            assert_eq!((done.status, done.out.as_str()), (2, ""), "{}", done.err);
            assert!(done.err.contains("would be overwritten"), "{}", done.err);
        }
    }
    // Through standard input, too.
    let words = ["convert", "-", "--output", text(&input)].map(str::to_owned);
    let mut reading = command(&words);
    let done = reading.stdin(File::open(&input).unwrap()).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&input).unwrap(), before);
    assert_eq!(names(&folder), ["hard", "input.weir", "symbolic"]);

    // What is no regular file may be both.
    let done = weir(&["convert", "/dev/null", "--output", "/dev/null"]);
    assert!(done.err.contains("the file is empty"), "{}", done.err);
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder("two");
    let one = folder.join("one");
    symlink("one", folder.join("link")).unwrap();
    let (one, link) = (text(&one).to_owned(), text(&folder.join("link")).to_owned());
    let done = weir(&["check", SB, "--witness", &one, "--certificate", &link]);
    assert_eq!((done.status, done.out.as_str()), (2, ""));
    assert!(done.err.contains("are one file"), "{}", done.err);
    let done = weir(&["check", SB, "--witness", "/dev/null", "--certificate", "/dev/null"]);
    assert_eq!(done.status, 1, "{}", done.err);
}

#[test]
fn names_may_be_as_long_as_the_system_has_them() {
    let folder = folder("long");
    let long = folder.join("n".repeat(255));
    convert(SB, &long).unwrap();
    assert_eq!(fs::read_to_string(&long).unwrap(), converted(SB));
    assert_eq!(names(&folder).len(), 1);
    let why = convert(SB, &folder.join("n".repeat(256))).unwrap_err();
    assert!(why.contains("File name too long"), "{why}");
    assert_eq!(names(&folder).len(), 1);
}

#[test]
fn what_a_killed_run_left_behind_is_removed() {
    if !Path::new("/proc/self/ns/pid").exists() {
        skip("there is no /proc");
        return;
    }
    let folder = folder("killed");
    let space = fs::read_link("/proc/self/ns/pid").unwrap();
    let space: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
    // No process has this number: it is larger than the kernel gives.
    let gone = folder.join(format!(".weir-{boot}.{space}-4194305-0.tmp"));
    let alive = folder.join(format!(".weir-{boot}.{space}-{}-0.tmp", std::process::id()));
    let elsewhere = folder.join(format!(".weir-{boot}.1-4194305-0.tmp"));
    // Another machine with the same numbers.
    let host =
        folder.join(format!(".weir-{}.{space}-4194305-0.tmp", boot.replace(['0', 'a'], "7")));
    let old = folder.join(format!(".weir-{space}-4194305-0.tmp"));
    let other = folder.join(".weir-notes.tmp");
    let stay = [&alive, &elsewhere, &host, &old, &other];
    for path in stay.into_iter().chain([&gone]) {
        fs::write(path, "half").unwrap();
    }
    convert(SB, &folder.join("out")).unwrap();
    for (path, stays) in stay.map(|path| (path, true)).into_iter().chain([(&gone, false)]) {
        assert_eq!(path.exists(), stays, "{}", path.display());
    }
}

#[test]
fn a_file_that_cannot_be_written_stays_as_it_is() {
    let folder = folder("failed");
    let done = convert(SB, &folder.join("missing/file")).unwrap_err();
    assert!(done.contains("No such file or directory"), "{done}");
    // Root may write everything.
    if fs::metadata("/proc/self").is_ok_and(|m| m.uid() != 0) {
        let file = folder.join("locked");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        let why = convert(SB, &file).unwrap_err();
        assert!(why.contains("Permission denied"), "{why}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    }
}

// Control characters.

/// Escape sequences, a bell, a C1 control, and marks that turn text round.
const HOSTILE: &str = "\x1b]0;title\x07\x1b[2J\u{9b}31m\u{202e}\u{2066}\u{200f}";

fn is_control(c: char) -> bool {
    weir_front::escape::is_control(c) && c != '\n'
}

/// Nothing that is printed with these words and this input is a control character; with
/// color there are only escape sequences that set colors.
fn is_harmless(words: &[&str], input: &[u8]) {
    let done = weir_reading(words, input);
    for text in [&done.out, &done.err] {
        let found = text.find(|c| is_control(c) && c != '\t');
        assert_eq!(found, None, "{words:?}: {text:?}");
    }
    let with_color: Vec<&str> = words.iter().copied().chain(["--color", "always"]).collect();
    let done = weir_reading(&with_color, input);
    for text in [&done.out, &done.err] {
        for (i, part) in text.split('\x1b').enumerate() {
            let rest = match i {
                0 => part,
                _ => {
                    let (codes, rest) = part.split_once('m').unwrap();
                    let codes = codes.strip_prefix('[').unwrap_or("no color");
                    assert!(
                        codes.chars().all(|c| c.is_ascii_digit() || c == ';'),
                        "{words:?}: {text:?}"
                    );
                    rest
                }
            };
            let found = rest.find(|c| is_control(c) && c != '\t');
            assert_eq!(found, None, "{words:?}: {text:?}");
        }
        assert!(!text.contains("\x1b[2J"), "{words:?}: {text:?}");
    }
}

/// Texts of every language with hostile names, strings and characters, right and wrong.
fn hostile_texts() -> Vec<(&'static str, String)> {
    let word = format!("a{HOSTILE}b");
    let mut all = Vec::new();
    let texts: [(&str, Vec<String>); 7] = [
        (
            "weir",
            vec![
                format!("var {word}\nprocess p {{ {word} = 1 }}\nnever {word} == 1"),
                format!("var x // {word}\nprocess p {{ x = 1 }}\nnever x == 1"),
                format!("var x\nprocess p {{ y{word} = 1 }}"),
                format!("\"{word}\"\nvar x\nprocess p {{ x = 1 }}\nnever x == 1"),
            ],
        ),
        (
            "litmus",
            vec![
                format!("X86 {word}\n{{ }}\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n"),
                format!("X86 T\n\"{word}\"\n{{ x=0; }}\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n"),
                format!("X86 T\n{{ {word}=0; }}\n P0 ;\n MOV [{word}],$1 ;\nexists (x=1)\n"),
            ],
        ),
        (
            "rmm",
            vec![
                format!("data\n  {word} = 0 : [0:1]\nprocess\ntext\n  write: {word} := 1;\n"),
                format!(
                    "forbidden * {word}\ndata\n  x = 0 : [0:1]\nprocess\ntext\n  write: x := 1;\n"
                ),
            ],
        ),
        (
            "txt",
            vec![format!(
                "thread {word}\ninitial s{word}\ntransition s{word} t{word} write x{word} 1\n"
            )],
        ),
        (
            "pml",
            vec![
                format!("byte {word}; active proctype p() {{ {word} = 1 }}"),
                format!(
                    "byte x; active proctype p() {{ printf(\"{word}\"); x = 1; assert(x == 2) }}"
                ),
            ],
        ),
        (
            "chm",
            vec![format!("machine {word};\nmessages a;\nchannels c;\nstates s;\ninitial s;\n")],
        ),
        ("pcp", vec![format!("{word} b\n")]),
    ];
    for (ending, of_language) in texts {
        all.extend(of_language.into_iter().map(|text| (ending, text)));
    }
    all
}

#[test]
fn no_control_character_of_an_input_is_printed() {
    let folder = folder("hostile");
    for (number, (ending, content)) in hostile_texts().into_iter().enumerate() {
        let file = folder.join(format!("{number}{HOSTILE}.{ending}").replace('/', ""));
        fs::write(&file, &content).unwrap();
        let file = text(&file);
        match ending {
            "chm" => {
                is_harmless(&["channel", "show", file], b"");
                is_harmless(&["channel", "check", file, "--reach", HOSTILE], b"");
            }
            "pcp" => is_harmless(&["channel", "pcp", file, "--solve", "--timeout", "1"], b""),
            _ => {
                for command in ["check", "outcomes", "compare", "show", "convert", "live"] {
                    is_harmless(&[command, file], b"");
                }
                is_harmless(&["show", "--system", file], b"");
                is_harmless(&["graph", file], b"");
                is_harmless(&["check", "--format", "json", file], b"");
                is_harmless(&["outcomes", "--format", "json", file], b"");
                is_harmless(&["outcomes", "--format", "herd", file], b"");
                is_harmless(&["check", "--domain", &format!("{HOSTILE}=0..1"), file], b"");
            }
        }
    }
}

#[test]
fn no_control_character_of_the_command_line_is_printed() {
    for words in [
        &["check", HOSTILE][..],
        &["check", "--model", HOSTILE, SB],
        &["check", "--domain", HOSTILE, SB],
        &["check", "--domain", "\x1b[2J=0..1", SB],
        &["check", HOSTILE, "--format", HOSTILE],
        &[HOSTILE],
        &["convert", SB, "--output", &format!("{HOSTILE}/x/y")],
        &["litmus", "gen", HOSTILE],
        &["channel", "of", SB, "--process", HOSTILE],
        &["graph", SB, "--output", HOSTILE],
        &["game", "examples/games/handshake.weir", "--game", HOSTILE],
    ] {
        is_harmless(words, b"");
        let done = weir(words);
        assert_eq!(done.status, 2, "{words:?}");
        // A name stays on its line.
        assert_ne!(done.err.trim(), "", "{words:?}");
    }
    let split = weir(&["check", "a\nerror: b"]);
    assert_eq!(split.err.lines().count(), 1, "{}", split.err);
}

#[test]
fn no_control_character_of_evidence_is_printed() {
    let folder = folder("evidence");
    let file = folder.join("witness.json");
    weir(&["check", "--model", "tso", SB, "--witness", text(&file)]);
    let witness: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for field in ["format", "program", "model", "semantics", "property_name"] {
        let mut hostile = witness.clone();
        hostile[field] = HOSTILE.into();
        fs::write(&file, hostile.to_string()).unwrap();
        is_harmless(&["certify", text(&file), SB], b"");
        is_harmless(&["certify", text(&file), SB, "--format", "json"], b"");
    }
    for field in ["process", "rule", "op", "variable", "source"] {
        let mut hostile = witness.clone();
        hostile["steps"][0][field] = HOSTILE.into();
        fs::write(&file, hostile.to_string()).unwrap();
        is_harmless(&["certify", text(&file), SB], b"");
    }
    fs::write(&file, format!("{{\"{HOSTILE}\": 1}}")).unwrap();
    is_harmless(&["certify", text(&file), SB], b"");
    let mut out = File::create(&file).unwrap();
    out.write_all(HOSTILE.as_bytes()).unwrap();
    is_harmless(&["certify", text(&file), SB], b"");
}

#[test]
fn nothing_is_read_that_is_too_large() {
    // Files that are all holes take no room.
    let folder = folder("large");
    let large = |name: &str, length: u64| {
        let path = folder.join(name);
        File::create(&path).unwrap().set_len(length).unwrap();
        path
    };
    let evidence = large("evidence.json", (1 << 30) + 1);
    let done = weir(&["certify", text(&evidence), SB]);
    assert_eq!(done.status, 2);
    assert!(done.err.contains("it is larger than 1024 MiB"), "{}", done.err);
    let done = weir(&["channel", "certify", text(&evidence), "examples/no-bit.chm"]);
    assert!(done.err.contains("it is larger than 1024 MiB"), "{}", done.err);
    let program = large("program.weir", (4 << 20) + 1);
    let done = weir(&["check", text(&program)]);
    assert!(done.err.contains("it is larger than 4 MiB"), "{}", done.err);
    // What has no length has a limit too.
    let done = weir(&["check", "/dev/zero"]);
    assert!(done.err.contains("it is larger than 4 MiB"), "{}", done.err);
}

#[test]
fn a_byte_order_mark_is_read_everywhere() {
    let folder = folder("mark");
    let marked = |from: &str| {
        let to = folder.join(Path::new(from).file_name().unwrap());
        let text = fs::read_to_string(root().join(from)).unwrap();
        fs::write(&to, format!("\u{feff}{text}")).unwrap();
        text_of(&to)
    };
    fn text_of(path: &Path) -> String {
        path.to_str().unwrap().to_owned()
    }
    let same = |words: &[&str], file: &str| {
        let with_mark = marked(file);
        let plain: Vec<&str> = words.iter().copied().chain([file]).collect();
        let mark: Vec<&str> = words.iter().copied().chain([with_mark.as_str()]).collect();
        let (plain, mark) = (weir(&plain), weir(&mark));
        assert!(!plain.out.is_empty(), "{file}: {}", plain.err);
        assert_eq!((plain.status, plain.out), (mark.status, mark.out), "{file}: {}", mark.err);
    };
    for file in [SB, "litmus/SB.litmus", RMM, TRENCHER, PROMELA] {
        same(&["convert"], file);
    }
    // Without its ending the text has to tell the language.
    for file in ["litmus/SB.litmus", TRENCHER] {
        let text = format!("\u{feff}{}", fs::read_to_string(root().join(file)).unwrap());
        let read = weir_reading(&["convert", "-"], text.as_bytes());
        assert_eq!(read.status, 0, "{file}: {}", read.err);
    }
    same(&["channel", "show"], "examples/alternating-bit.chm");
    same(&["channel", "pcp"], "examples/abc.pcp");
    same(&["reduce", "cpcp"], "examples/cpcp/rotation.pcp");

    let witness = folder.join("witness.json");
    weir(&["check", "--model", "tso", SB, "--witness", text(&witness)]);
    let witness = marked(text(&witness));
    assert_eq!(weir(&["certify", &witness, SB]).status, 0);

    // An error is where it is without the mark.
    let wrong = folder.join("wrong.weir");
    fs::write(&wrong, "\u{feff}var x\nprocess p { y = 1 }\n").unwrap();
    let done = weir(&["check", text(&wrong)]);
    assert!(done.err.contains("wrong.weir:2:13"), "{}", done.err);
    let (text, name) = ("\u{feff}process p { y = 1 }", "a.weir");
    let errors = weir_front::read(name, text, None).unwrap_err();
    let shown = errors[0].render(name, text, false);
    assert!(shown.lines().any(|l| l.trim_start().starts_with("| ") && l.contains('^')), "{shown}");
    assert_eq!(&text[errors[0].range.clone()], "y");
}
