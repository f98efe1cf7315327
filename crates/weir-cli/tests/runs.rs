//! What reports say of runs: explanation and table speak of the same steps, long runs
//! stay small, and what is said in the end is so.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use common::{root, weir, weir_reading};
use weir::report::run::{Layout, lines};
use weir::{Hints, Loaded, MemoryModel};
use weir_engine::SearchOptions;
use weir_model::answer::{Answer, Evidence, Run};
use weir_model::memory_model::Relaxation;

/// The models of which the papers say something, and models that have no semantics of their own.
fn models() -> Vec<MemoryModel> {
    let write_write = MemoryModel::SC.with(Relaxation::WriteWrite);
    let read_read = MemoryModel::SC.with(Relaxation::ReadRead);
    let others = [write_write, read_read.with(Relaxation::ReadWrite)];
    MemoryModel::STUDIED.into_iter().chain(others).collect()
}

/// One line for each step, as long as it takes.
const LIST: Layout = Layout {
    width: 900,
    lanes: false,
    full: false,
    hints: Hints { bound: None, full: None, live: None, strategy: None },
};

/// A row of a table with one line for each step: the line of the source, the process
/// and what it does.
struct Row<'t> {
    line: &'t str,
    process: &'t str,
    action: &'t str,
}

/// The rows of a table, by their steps.
fn rows(lines: &[String]) -> BTreeMap<usize, Row<'_>> {
    let header = &lines[0];
    let column = |name: &str| header.find(name).unwrap();
    let [at_line, at_process, at_action] = ["line", "process", "action"].map(column);
    // Columns are in characters, of which `→` is the only long one, in actions.
    let end = header.find("under way").unwrap_or(header.len());
    let width = end - at_action;
    let mut rows = BTreeMap::new();
    for line in lines[2..].iter().take_while(|l| !l.is_empty()) {
        let Some(Ok(step)) = line.get(..at_line).map(|s| s.trim().parse()) else {
            continue;
        };
        let action = &line[at_action..];
        let cut = action.char_indices().nth(width).map_or(action.len(), |(i, _)| i);
        let row = Row {
            line: line[at_line..at_process].trim(),
            process: line[at_process..at_action].trim(),
            action: action[..cut].trim(),
        };
        rows.insert(step, row);
    }
    rows
}

/// An operation that an explanation names: what it is, where, and in which steps.
struct Named<'t> {
    is_read: bool,
    variable: &'t str,
    value: &'t str,
    line: &'t str,
    step: usize,
    rest: &'t str,
}

/// The operation in a text such as `the read of x as 0 (line 5, step 8, …) …`.
fn named(text: &str) -> Named<'_> {
    let (what, rest) = text.split_once(" (line ").unwrap_or_else(|| panic!("{text}"));
    let (place, _) = rest.split_once(')').unwrap();
    let (line, rest) = place.split_once(", step ").unwrap();
    let (step, rest) = rest.split_once(", ").unwrap_or((rest, ""));
    let read = what.strip_prefix("the read of ").and_then(|w| w.split_once(" as "));
    let write = what.strip_prefix("the write ").and_then(|w| w.split_once(" = "));
    let (variable, value) = read.or(write).unwrap_or_else(|| panic!("{text}"));
    Named { is_read: read.is_some(), variable, value, line, step: step.parse().unwrap(), rest }
}

/// The explanation at the end of a report.
fn explanation(lines: &[String]) -> &[String] {
    let title = lines.iter().position(|l| l == "what was reordered:");
    title.map_or(&[], |i| &lines[i + 1..])
}

/// Every step that an explanation names is in the table, and is the operation that it
/// names. Returns how many of each kind there were.
fn check_steps(lines: &[String], counts: &mut BTreeMap<&'static str, usize>) {
    let rows = rows(lines);
    let mut process = "";
    for text in explanation(lines) {
        let text = text.trim();
        let operation = match text.split_once(": ") {
            Some((name, operation)) => {
                process = name;
                operation
            }
            None => text,
        };
        let Named { is_read, variable, value, line, step, rest } = named(operation);
        let row = &rows[&step];
        let action = match is_read {
            true => format!("read {variable} → {value}"),
            false => format!("{variable} = {value}"),
        };
        let remark = row.action.strip_prefix(&action);
        assert!(
            remark.is_some_and(|r| r.is_empty() || r.starts_with(" (")),
            "{text}: {}",
            row.action
        );
        assert_eq!((row.process, row.line), (process, line), "{text}");
        let (kind, other) = match rest.rsplit_once(' ') {
            None => {
                *counts.entry("in the step").or_default() += 1;
                continue;
            }
            Some((kind, other)) => (kind, other),
        };
        let other: usize = other.parse().unwrap_or_else(|_| panic!("{text}"));
        let effect = &rows[&other];
        let kind = match kind {
            "reached memory in step" => {
                assert!(other > step, "{text}");
                assert_eq!(effect.process, process, "{text}");
                assert_eq!(effect.action, format!("{variable} = {value} reaches memory"));
                "later"
            }
            "came true in step" => {
                assert!(other > step, "{text}");
                assert_eq!(effect.process, process, "{text}");
                assert_eq!(effect.action, format!("{variable}={value}? (guess comes true)"));
                "true"
            }
            "from before step" => {
                // Somebody changes the variable there.
                assert!(other < step, "{text}");
                let write = format!("{variable} = ");
                let changes = effect.action.starts_with(&write)
                    && !effect.action.starts_with(&action)
                    || effect.action.starts_with(&format!("atomic {variable}: {value} → "));
                assert!(changes, "{text}: {}", effect.action);
                "before"
            }
            _ => panic!("{text}"),
        };
        *counts.entry(kind).or_default() += 1;
    }
}

/// All tests in `litmus/`, with the run that settles them under each model.
fn on_litmus_runs(mut visit: impl FnMut(&Loaded, MemoryModel, &Answer, &Run)) {
    let mut files: Vec<_> =
        fs::read_dir(root().join("litmus")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "litmus")) {
        let text = fs::read_to_string(file).unwrap();
        let plain = Loaded::from_text(file.to_str().unwrap(), &text, None).unwrap();
        for model in models() {
            // With a loop there is no end of what could be reordered or guessed.
            if model.name().is_none() && !plain.system.is_loop_free() {
                continue;
            }
            let loaded = Loaded::for_model(file.to_str().unwrap(), &text, model);
            // An increment of a guess may have any value.
            let Ok(loaded) = loaded else {
                assert!(model.guesses_reads(), "{}", file.display());
                continue;
            };
            let (answers, _) =
                weir::solver::check(&loaded.system, model, &SearchOptions::default()).unwrap();
            for answer in &answers {
                if let Evidence::Run(run) = &answer.evidence {
                    visit(&loaded, model, answer, run);
                }
            }
        }
    }
}

/// What every report of a run has to keep to.
#[test]
fn reports_of_litmus_tests() {
    let (mut runs, mut sequential) = (0, 0);
    let mut counts = BTreeMap::new();
    on_litmus_runs(|loaded, model, answer, run| {
        explains_steps_of_the_table(loaded, answer, run, &mut counts);
        fits_80_columns(loaded, model, answer, run);
        sequential += usize::from(is_right_about_sc(loaded, model, answer, run));
        runs += 1;
    });
    assert!(runs > 150, "only {runs} runs");
    assert!(sequential > 3, "only {sequential} runs of SC");
    let seen: Vec<_> = counts.iter().filter(|(_, n)| **n > 9).map(|(kind, _)| *kind).collect();
    assert_eq!(seen, ["before", "in the step", "later", "true"], "{counts:?}");
}

fn explains_steps_of_the_table(
    loaded: &Loaded,
    answer: &Answer,
    run: &Run,
    counts: &mut BTreeMap<&'static str, usize>,
) {
    // A wide explanation has one line for each operation.
    check_steps(&lines(loaded, run, answer.property, LIST), counts);
}

/// Both layouts say the same of each step, and no line is wider than it may be.
fn fits_80_columns(loaded: &Loaded, model: MemoryModel, answer: &Answer, run: &Run) {
    let name = &loaded.source.name;
    for width in [40, 80] {
        for line in lines(loaded, run, answer.property, Layout { width, ..Layout::default() }) {
            assert!(line.chars().count() <= width, "{name} under {model}: {line}");
        }
    }
    let list = lines(loaded, run, answer.property, LIST);
    let columns = lines(loaded, run, answer.property, Layout { lanes: true, ..LIST });
    for (step, row) in rows(&list) {
        let start = format!("{step:>4}");
        let line = columns.iter().find(|l| l.starts_with(&start)).unwrap();
        assert!(line.contains(row.action), "{name} under {model}: {line}, {}", row.action);
    }
}

/// If a report says that its run is possible under SC too, SC has such a run; and if SC
/// has none, something was reordered. Returns whether it says so.
fn is_right_about_sc(loaded: &Loaded, model: MemoryModel, answer: &Answer, run: &Run) -> bool {
    let lines = lines(loaded, run, answer.property, Layout::default());
    let claim = "no step was reordered: this run is possible under SC too";
    let claims = lines.iter().any(|l| l == claim);
    if model == MemoryModel::SC {
        assert!(!claims);
        return false;
    }
    let (sc, _) =
        weir::solver::check(&loaded.system, MemoryModel::SC, &SearchOptions::default()).unwrap();
    let under_sc = matches!(sc[answer.property.index()].evidence, Evidence::Run(_));
    assert!(!claims || under_sc, "{} under {model}", loaded.source.name);
    assert!(under_sc || lines.iter().any(|l| l == "what was reordered:"));
    claims
}

/// A counter, and a question that only its last value settles.
fn counter(most: usize, question: &str) -> String {
    format!(
        "var x: 0..{most}\n\
         process p {{ reg i; while i < {most} {{ i = i + 1; x = i }} done: nop }}\n\
         never {question}\n"
    )
}

fn check(text: &str, options: &[&str]) -> String {
    let args: Vec<&str> = ["check", "-"].into_iter().chain(options.iter().copied()).collect();
    let output = weir_reading(&args, text.as_bytes());
    assert_eq!(output.status, 1, "{}", output.err);
    output.out
}

/// The steps of a table, in order.
fn steps(report: &str) -> Vec<usize> {
    let first = |line: &str| line.split_whitespace().next().and_then(|w| w.parse().ok());
    report.lines().filter(|l| l.starts_with("  ")).filter_map(first).collect()
}

/// Names of all lengths, values of 128 bits, an array, and several processes.
fn wide() -> String {
    let [variable, process, label] = ["v", "p", "l"].map(|name| name.repeat(150));
    format!(
        "var {variable}, y, {array}[20]
        process {process} {{ reg r  {variable} = {big}  {array}[3] = 1  r = y
            {label}: nop }}
        process q {{ reg r  y = 1  r = {variable}  await r == 1 }}
        process other {{ reg r  r = {array}[1] }}
        {variable}_{label}: never {process}@{label} and y == 1 and {variable} == 0
        no deadlock",
        array = "a".repeat(90),
        big = i128::MAX
    )
}

#[test]
fn nothing_is_wider_than_the_columns() {
    let text = wide();
    for columns in [40, 63, 80, 200] {
        for options in [&["check"][..], &["check", "-m", "pso"], &["check", "-m", "nsw", "--full"]]
        {
            let mut child = Command::new(env!("CARGO_BIN_EXE_weir"));
            child.args(options).arg("-").env("COLUMNS", columns.to_string());
            let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(1));
            let out = String::from_utf8(output.stdout).unwrap();
            assert!(out.contains("how it is") && out.contains("what was"), "{out}");
            // The lines of runs: those behind the first title.
            let runs = out.lines().skip_while(|line| !line.contains("how it is"));
            for line in runs {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn columns_say_how_wide_lines_are() {
    let run = |columns: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(["check", "examples/store-buffering.weir"]).current_dir(root());
        let output = command.env("COLUMNS", columns).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let has_lanes = |columns: &str| !run(columns).contains("process  action");
    assert_eq!(["50", "200"].map(has_lanes), [false, true]);
    // What is no width is none.
    for columns in ["", "0", "-5", "wide"] {
        assert_eq!(has_lanes(columns), has_lanes("80"), "{columns}");
    }
}

#[test]
fn long_runs_are_shortened() {
    let text = counter(3000, "x == 3000");
    let short = check(&text, &[]);
    assert!(short.contains("in 6,000 steps of store buffers"), "{short}");
    assert!(short.contains(" 5,970 steps left out (`--full` shows them)\n"), "{short}");
    assert_eq!(steps(&short), (1..=15).chain(5986..=6000).collect::<Vec<_>>());
    assert!(short.len() < 5_000, "{} bytes", short.len());
    let full = check(&text, &["--full"]);
    assert_eq!(steps(&full), (1..=6000).collect::<Vec<_>>());
}

#[test]
fn long_buffers_are_shortened() {
    let text = counter(2000, "p@done and x == 0");
    let short = check(&text, &[]);
    assert!(short.contains("x = 2000  [x=1, x=2, x=3, … 1,995 more, x=1999, x=2000]"), "{short}");
    assert!(short.len() < 5_000, "{} bytes", short.len());
    let small = counter(100, "p@done and x == 0");
    let full = check(&small, &["--full"]);
    let words: Vec<&str> = full.split_whitespace().collect();
    assert!(words.join(" ").contains("x=49, x=50, x=51,") && !full.contains('…'), "{full}");
    assert_eq!(steps(&full).len(), 100);
}

/// JSON has every step once and no configuration but the first and the last, and
/// memory does not hold more: a copy of each buffer would take 48 MB here.
#[test]
fn files_and_memory_are_linear_in_the_steps() {
    let report = |most: usize| check(&counter(most, "p@done and x == 0"), &["--format", "json"]);
    let (half, whole) = (report(2000), report(4000));
    assert!(whole.len() < half.len() * 21 / 10, "{} and {} bytes", half.len(), whole.len());
    let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(value["findings"][0]["evidence"]["file"]["steps"].as_array().unwrap().len(), 4000);
    if let Some(peak) = value["findings"][0]["statistics"]["peak"].as_u64() {
        assert!(peak < 40 << 20, "{peak} bytes");
    }
}

#[test]
fn the_steps_of_an_explanation_are_not_left_out() {
    // The write of `y` is overtaken by the last read, thousands of steps later.
    let text = "var x: 0..1000, y
        process p { reg i, r; while i < 1000 { i = i + 1; x = i; fence }
                    y = 1; r = x; r = 0; done: nop }
        never p@done and y == 0";
    let shown = check(text, &[]);
    assert!(shown.contains("what was reordered:"), "{shown}");
    let long = "var x: 0..1000, y
        process p { reg i, r; y = 1; r = x; while i < 1000 { i = i + 1; x = i } done: nop }
        never p@done and y == 0 and x == 0";
    let shown = check(long, &[]);
    let all = steps(&shown);
    for part in shown.split(", step ").skip(1) {
        let step: String = part.chars().take_while(char::is_ascii_digit).collect();
        assert!(all.contains(&step.parse().unwrap()), "step {step} of {shown}");
    }
}

#[test]
fn a_deadlock_says_who_waits_where_for_what() {
    let text = "var x, a[3]
process p { reg r = 2; await x == 1 or a[r] == 1 }
process q { reg k
    k = x
    assume k == 2 }
process e { x = 0 }
no deadlock";
    let report = check(text, &["--model", "sc"]);
    let p = "  p  waits at line 2 for `x == 1 or a[r] == 1`; x is 0, a[2] is 0";
    for line in [p, "  q  waits at line 5 for `k == 2`; k is 0", "  e  has ended"] {
        assert!(report.lines().any(|l| l.starts_with(line)), "{line}: {report}");
    }
}

#[test]
fn a_cas_that_fails_is_shown_as_failed() {
    let text = "var x = 1
process p { reg a, b, c; a = cas(x, 0, 2); b = cas(x, 1, 1); c = cas(x, 1, 3); done: nop }
never p@done and p.a == 0";
    let report = check(text, &[]);
    for action in ["cas x fails: 1, not 0\n", "atomic x: 1 → 1\n", "atomic x: 1 → 3"] {
        assert!(report.contains(action), "{action}: {report}");
    }
    // What the property asks for is shown where it is 0 too.
    assert!(report.contains("  p  is at done  a=0"), "{report}");
}

#[test]
fn one_step_is_one_step() {
    let report = check("var x process p { x = 1 } never x == 1", &["--model", "sc"]);
    assert!(report.contains("in 1 step of interleaving"), "{report}");
}

#[test]
fn two_level_buffers_are_explained_where_they_are() {
    let report = weir(&["check", "--model", "pso", "litmus/MP.litmus"]).out;
    // In program order, whatever the order of the variables.
    assert!(report.contains("y=1 (next in line)  [x=1, y=1]"), "{report}");
    assert!(report.contains("\n  next in line: "), "{report}");
    let report = weir(&["check", "--model", "tso", "litmus/SB.litmus"]).out;
    assert!(!report.contains("next in line"), "{report}");
}
