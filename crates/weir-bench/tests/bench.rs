//! `weir-bench`: its tables and files, what it says of another build, and the models
//! that it gives to Spin. Nothing here looks at how long anything takes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir::report::promela;
use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;
use weir_gen::tools::{are_installed, skip};
use weir_model::ids::Cell;
use weir_model::limits::Budget;
use weir_model::semantics::Form;

const BURNS: &str = "corpus/burns-2.weir";
const TAS: &str = "corpus/tas-2.weir";

/// What a run of the program left behind.
#[derive(Debug)]
struct Output {
    status: i32,
    out: String,
    err: String,
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `weir-bench` at the root of the repository.
fn weir_bench(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir-bench"));
    let output = command.args(args).current_dir(root()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!err.contains("panicked"), "`weir-bench {}`: {err}", args.join(" "));
    Output { status: output.status.code().unwrap(), out, err }
}

/// A place for a file of one test.
fn place(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    if !is_there {
        skip(&format!("`{program}` is not installed"));
    }
    is_there
}

/// Runs two small programs, once each, with these options.
fn bench(options: &[&str]) -> Output {
    let small = [BURNS, TAS, "--runs", "1", "--model", "sc", "--model", "tso"];
    weir_bench(&[&small, options].concat())
}

/// The CSV of two small programs.
fn csv(name: &str, options: &[&str]) -> String {
    let file = place(name);
    let output = bench(&[&["--csv", &file], options].concat());
    assert_eq!(output.status, 0, "{output:?}");
    fs::read_to_string(file).unwrap()
}

/// A CSV with one column changed.
fn doctored(csv: &str, column: &str, change: impl Fn(&str) -> String) -> String {
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = head.iter().position(|c| *c == column).unwrap();
    let mut lines = vec![head.join(",")];
    for line in csv.lines().skip(1) {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[at] = change(&cells[at]);
        lines.push(cells.join(","));
    }
    lines.join("\n") + "\n"
}

/// Compares two small programs with a CSV.
fn against(name: &str, csv: &str, options: &[&str]) -> Output {
    let file = place(name);
    fs::write(&file, csv).unwrap();
    bench(&[&["--baseline", &file], options].concat())
}

#[test]
fn tables_have_their_columns() {
    let (csv, markdown) = (place("bench.csv"), place("bench.md"));
    let output = bench(&["--csv", &csv, "--markdown", &markdown]);
    assert_eq!(output.status, 0, "{output:?}");
    let lines: Vec<&str> = output.out.lines().collect();
    let head: Vec<&str> = lines[0].split_whitespace().collect();
    let expected = "program model verdict engine configurations seconds peak MiB";
    assert_eq!(head.join(" "), expected);
    assert_eq!(lines.len(), 5, "{}", output.out);
    assert!(lines[1].starts_with("burns-2  SC     holds"), "{}", output.out);
    assert!(lines[2].starts_with("burns-2  TSO    violated"), "{}", output.out);
    // Columns line up.
    assert!(lines.iter().all(|l| l.chars().count() == lines[0].chars().count()), "{}", output.out);

    let csv = fs::read_to_string(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "program,model,engine,answered,verdicts,exact,configurations,seconds,peak_mib,\
         instructions,spin_states,spin_seconds"
    );
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(lines[1].starts_with("burns-2,SC,auto,explicit,holds,true,31,"), "{csv}");
    assert!(lines[3].starts_with("tas-2,SC,auto,explicit,holds holds,true,15,"), "{csv}");

    let markdown = fs::read_to_string(markdown).unwrap();
    let lines: Vec<&str> = markdown.lines().collect();
    let expected = "| program | model | verdict | engine | configurations | seconds | peak MiB |";
    assert_eq!(lines[0], expected);
    assert_eq!(lines[1], "| --- | --- | --- | --- | ---: | ---: | ---: |");
    assert!(lines[3].starts_with("| burns-2 | TSO | violated | explicit | "), "{markdown}");
    assert_eq!(lines.len(), 6, "{markdown}");
}

#[test]
fn programs_are_picked_by_name() {
    let output =
        weir_bench(&["--only", "burns-2", "--only", "tas-2", "--model", "sc", "--runs", "1"]);
    assert_eq!(output.status, 0, "{output:?}");
    let programs: Vec<&str> =
        output.out.lines().skip(1).filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(
        programs,
        ["burns-2-fenced", "burns-2", "tas-2-fenced", "tas-2", "ttas-2-fenced", "ttas-2"]
    );
}

#[test]
fn the_same_build_is_not_worse() {
    let csv = csv("same.csv", &[]);
    let output = against("same-baseline.csv", &csv, &[]);
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.contains("4 rows in both"), "{}", output.out);
    assert!(output.out.contains("configurations: × 1.000 over 4 rows"), "{}", output.out);
    assert!(output.out.contains("instructions: nothing to compare"), "{}", output.out);
}

#[test]
fn more_instructions_are_an_error() {
    if !is_installed("valgrind") {
        return;
    }
    let csv = csv("instructions.csv", &["--instructions"]);
    // One program had fewer instructions, and the other one as many.
    let fewer = |cell: &str| (cell.parse::<f64>().unwrap() / 1.2).round().to_string();
    let all = doctored(&csv, "instructions", fewer);
    let row = |(old, new): (&str, &str)| {
        format!("{}\n", if old.starts_with("tas-2") { new } else { old }.to_owned())
    };
    let fewer: String = csv.lines().zip(all.lines()).map(row).collect();
    let output = against("instructions-fewer.csv", &fewer, &["--instructions"]);
    assert_eq!(output.status, 1, "{output:?}");
    for row in ["tas-2 SC auto", "tas-2 TSO auto"] {
        let line = format!("  {row}: instructions × 1.");
        assert!(output.out.contains(&line), "no `{line}` in {}", output.out);
    }
    assert!(!output.out.contains("burns-2 TSO auto: instructions"), "{}", output.out);
}

#[test]
fn more_configurations_are_named() {
    let csv = csv("configurations.csv", &[]);
    let fewer = doctored(&csv, "configurations", |cell| cell.replace("31", "20"));
    let output = against("configurations-fewer.csv", &fewer, &[]);
    assert_eq!(output.status, 0, "{output:?}");
    let line = "worse by more than 5 %:\n  burns-2 SC auto: configurations × 1.550\n";
    assert!(output.out.contains(line), "{}", output.out);
}

#[test]
fn a_changed_verdict_is_an_error() {
    let csv = csv("verdicts.csv", &[]);
    let changed = doctored(&csv, "verdicts", |cell| cell.replace("violated", "holds"));
    let output = against("verdicts-changed.csv", &changed, &[]);
    assert_eq!(output.status, 1, "{output:?}");
    let line = "error: verdicts changed:\n  burns-2 TSO auto: holds → violated\n";
    assert!(output.out.contains(line), "{}", output.out);
}

#[test]
fn another_program_takes_turns() {
    let this = env!("CARGO_BIN_EXE_weir-bench");
    let output = bench(&["--against", this]);
    // Whether one is slower than the other depends on the machine.
    assert!(output.status == 0 || output.status == 1, "{output:?}");
    assert!(output.out.contains(&format!("against {this}: 4 rows")), "{}", output.out);
    assert!(output.out.contains("configurations: × 1.000 over 4 rows"), "{}", output.out);
}

#[test]
fn what_is_wrong_is_said() {
    let head = "program,model,engine,verdicts,configurations,seconds\n";
    for (i, (csv, message)) in [
        (String::new(), "it is empty"),
        ("\u{0}\u{1}garbage".to_owned(), "it has no column `program`"),
        ("program,model\nburns-2,SC\n".to_owned(), "it has no column `engine`"),
        (format!("{head}burns-2,SC\n"), "line 2 has 2 cells"),
        (
            format!("{head}burns-2,SC,auto,holds,many,0.1\n"),
            "`many` is no number of configurations",
        ),
        (format!("{head}burns-2,SC,auto,holds,-1,0.1\n"), "`-1` is no number of configurations"),
        (format!("{head}burns-2,SC,auto,holds,1,inf\n"), "`inf` is no number of seconds"),
        (format!("{head}\"burns-2,SC,auto"), "line 2: a quote is never closed"),
    ]
    .into_iter()
    .enumerate()
    {
        let output = against(&format!("wrong-{i}.csv"), &csv, &[]);
        assert_eq!(output.status, 2, "{output:?}");
        assert_eq!(output.out, "", "{output:?}");
        assert!(output.err.contains("is no CSV of `weir-bench`"), "{}", output.err);
        assert!(output.err.contains(message), "no `{message}` in {}", output.err);
    }
    for (options, message) in [
        (&["--baseline", "no-such.csv"][..], "cannot read `no-such.csv`"),
        (&["--against", "no-such-weir"], "there is no program `no-such-weir`"),
        (&["--only", "no-such-word"], "there is no program to run"),
        (&["--runs", "0"], "0 is not in 1..=1000"),
    ] {
        let output = weir_bench(&[&[BURNS][..], options].concat());
        assert_eq!(output.status, 2, "{output:?}");
        assert!(output.err.contains(message), "no `{message}` in {}", output.err);
    }
    let output = weir_bench(&["--corpus", "no-such-folder"]);
    assert_eq!(output.status, 2, "{output:?}");
    assert!(output.err.contains("cannot read the folder `no-such-folder`"), "{}", output.err);
}

#[test]
fn a_program_that_is_wrong_does_not_stop_the_others() {
    let wrong = place("wrong.weir");
    fs::write(&wrong, "var x y z").unwrap();
    let files = [wrong.as_str(), BURNS, "no-such.weir"];
    let models = ["--model", "sc", "--model", "tso", "--runs", "1"];
    let output = weir_bench(&[&files[..], &models].concat());
    assert_eq!(output.status, 2, "{output:?}");
    assert!(output.out.contains("burns-2  SC"), "{}", output.out);
    // Once for each file, not for each model.
    assert_eq!(output.err.matches("wrong.weir:1:7").count(), 1, "{}", output.err);
    assert_eq!(output.err.matches("cannot read `no-such.weir`").count(), 1, "{}", output.err);
}

/// The rows of a table that begin with the name of a lock.
fn rows(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|l| ["  Dekker ", "  Peterson "].iter().any(|lock| l.starts_with(lock)))
        .collect()
}

#[test]
fn table_2_has_the_verdicts_of_the_paper() {
    let file = place("linden-wolper.csv");
    let output = weir_bench(&["--linden-wolper", "--csv", &file]);
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
    let (table, saved) = output.out.split_once("What sleep sets").unwrap();
    let table = rows(table);
    assert_eq!(table.len(), 8, "{}", output.out);
    for row in table {
        let verdict = if row.contains("sync") { "holds" } else { "violated" };
        assert!(row.contains(verdict), "{row}");
    }
    assert_eq!(saved.matches("does not end").count(), 2, "{saved}");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2 * 9 + 1);
}

#[test]
fn no_control_character_of_the_command_line_is_printed() {
    let hostile = "\x1b[2J\u{202e}\u{9b}";
    for args in [&[hostile][..], &[BURNS, "--baseline", hostile], &[BURNS, "--model", hostile]] {
        let output = weir_bench(args);
        assert_eq!(output.status, 2, "{output:?}");
        let said = output.out + &output.err;
        assert!(!said.contains(['\x1b', '\u{202e}', '\u{9b}']), "{said:?}");
    }
}

/// Commands of `weir-bench` take long. That their options are there is enough.
#[test]
fn commands_of_the_pages_exist() {
    let mut commands = 0;
    for page in ["CONTRIBUTING.md", "crates/weir-bench/README.md", "docs/automata.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        for line in text.lines() {
            let Some(args) = line.strip_prefix("cargo run --profile ship -p weir-bench") else {
                continue;
            };
            let args: Vec<&str> = args.split_whitespace().skip(1).chain(["--help"]).collect();
            let output = weir_bench(&args);
            assert_eq!(output.status, 0, "{page}: `{line}`: {}", output.err);
            commands += 1;
        }
    }
    assert!(commands >= 6, "only {commands} commands");
}

#[test]
fn it_can_be_weir() {
    let output = weir_bench(&["--weir", "check", "--model", "sc", BURNS]);
    assert_eq!(output.status, 0, "{output:?}");
    assert!(output.out.starts_with("corpus/burns-2.weir under SC\n"), "{}", output.out);
    let output = weir_bench(&["--weir", "check", BURNS]);
    assert_eq!(output.status, 1, "{output:?}");
}

/// A small program with every kind of operation, and one that fails.
const SMALL: &str = "
    var lock: bool
    var data: 0..2
    process p[i: 0..1] {
        reg old
        while swap(lock, true) {}
        fence
        old = data
        assert old < 2
        data = old + 1
        lock = false
    }
    assertions
    no deadlock
";

fn small(from: &str, to: &str) -> Loaded {
    Loaded::from_text("small.weir", &SMALL.replace(from, to), None).unwrap()
}

/// The program in Promela.
fn model(loaded: &Loaded) -> Option<String> {
    promela::model(loaded.system.expanded(&Budget::new()).unwrap())
}

#[test]
fn promela_is_as_expected() {
    let process = |name: &str| {
        format!(
            "
active proctype {name}() {{
S0:
    if
    :: d_step {{ v0_lock == 0; v0_lock = 1 }} -> goto S1
    :: v0_lock == 1 -> goto S0
    fi;
S1:
    if
    :: true -> goto S2
    fi;
S2:
    if
    :: v1_data == 0 -> goto S3
    :: v1_data == 1 -> goto S6
    :: v1_data == 2 -> goto end7
    fi;
S3:
    if
    :: v1_data = 1 -> goto S4
    fi;
S4:
    if
    :: v0_lock = 0 -> goto end5
    fi;
end5:
    false;
S6:
    if
    :: v1_data = 2 -> goto S4
    fi;
end7:
    assert(false);
    false;
}}
"
        )
    };
    let head = "/* small */\n\nbyte v0_lock = 0;\nbyte v1_data = 0;\n";
    let text = model(&small("", "")).unwrap();
    assert_eq!(text, format!("{head}{}{}", process("p0_p_0"), process("p1_p_1")));
    // Where nobody asks for deadlocks, a process may wait.
    let text = model(&small("no deadlock", "")).unwrap();
    assert!(text.contains("\nend2:\n    if\n    :: v1_data == 0"), "{text}");
    // Nobody can begin with one of several values there.
    assert_eq!(model(&small("data: 0..2", "data: 0..2 = any(0, 1)")), None);
}

/// What Spin says of a program without its reduction: whether there are errors, and
/// how many states.
fn spin(name: &str, model: &str) -> (bool, usize) {
    let folder = place(&format!("spin-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let folder = Path::new(&folder);
    fs::write(folder.join("model.pml"), model).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run("spin", &["-a", "model.pml"]);
    run("gcc", &["-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    let said = run(folder.join("pan").to_str().unwrap(), &["-m100000"]);
    let line = said.lines().find(|l| l.contains("states, stored")).unwrap();
    let states = line.split_whitespace().next().unwrap().parse().unwrap();
    (!said.contains("errors: 0"), states)
}

/// How many configurations a program reaches under SC, if every step is one.
fn configurations(loaded: &Loaded) -> usize {
    let semantics = Form::Sc.semantics(&loaded.system, MemoryModel::SC, 0);
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut open: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    while let Some(config) = open.pop() {
        let _ = semantics.successors(&config, &mut Vec::new(), &mut |_, next| {
            if seen.insert(next.to_vec()) {
                open.push(next.to_vec());
            }
        });
    }
    seen.len()
}

#[test]
fn spin_agrees() {
    if !are_installed(&["spin", "gcc"]) {
        return;
    }
    // Right, one that fails, and one that waits for ever.
    for (name, loaded, fails) in [
        ("right", small("", ""), false),
        ("fails", small("old < 2", "old < 1"), true),
        ("waits", small("while swap(lock, true) {}", "await data == 2"), true),
    ] {
        let (answers, stats) =
            weir::solver::check(&loaded.system, MemoryModel::SC, &SearchOptions::default())
                .unwrap();
        let violated = answers.iter().any(|a| a.verdict == Verdict::Violated);
        assert_eq!(violated, fails, "{name}: {answers:?}");
        let (errors, states) = spin(name, &model(&loaded).unwrap());
        assert_eq!(errors, fails, "{name}");
        if !fails {
            assert_eq!(states, configurations(&loaded), "{name}");
            assert!(stats.stored <= states, "{name}: {} stored of {states}", stats.stored);
        }
    }
    for name in ["burns-2", "ticket-2", "mcs-2"] {
        let file = root().join(format!("corpus/{name}.weir"));
        let loaded = Loaded::from_file(file.to_str().unwrap(), None).unwrap();
        let (_, stats) =
            weir::solver::check(&loaded.system, MemoryModel::SC, &SearchOptions::default())
                .unwrap();
        assert!(stats.is_exact());
        let (errors, states) = spin(name, &model(&loaded).unwrap());
        assert!(!errors, "{name}");
        assert_eq!(states, configurations(&loaded), "{name}");
        assert!(stats.stored <= states, "{name}: {} stored of {states}", stats.stored);
    }
}
