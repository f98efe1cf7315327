//! What is settled is printed, also if a limit ends the command while something else is open.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use serde_json::Value;

use crate::common::{Output, root, weir};

/// Programs of each command: 40 together.
const EACH: usize = 10;

fn file(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("settled");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Two processes that miss each other's writes under TSO, and processes that count for ever, with
/// more states than anybody sees in a second.
fn program(number: usize) -> String {
    let (workers, most) = (3 + number % 4, 40 + number);
    let counts: String = (0..4 + number % 3)
        .map(|i| format!("        c{i} = (c{i} + {}) % {}\n", 2 * i + 1, most + 1))
        .collect();
    let vars: String =
        (0..4 + number % 3).map(|i| format!("var c{i}: 0..{most}\n")).collect::<String>();
    format!(
        "var x, y\n{vars}process p {{\n    reg r\n    x = 1\n    r = y\n    if r == 0 {{\n    \
         pin:\n        nop\n    }}\n}}\nprocess q {{\n    reg r\n    y = 1\n    r = x\n    \
         if r == 0 {{\n    qin:\n        nop\n    }}\n}}\nprocess w[i: 0..{workers}] {{\n    \
         loop {{\n{counts}    }}\n}}\n"
    )
}

/// Runs the command on all programs, two at a time.
fn all(command: &str, text: impl Fn(usize) -> String, is_right: impl Fn(&Output) -> bool + Sync) {
    let numbers: Vec<usize> = (0..EACH).collect();
    let paths: Vec<String> = numbers
        .iter()
        .map(|i| file(&format!("{command}-{i}.weir"), &text(*i)).display().to_string())
        .collect();
    thread::scope(|scope| {
        for part in paths.chunks(EACH / 2) {
            let is_right = &is_right;
            scope.spawn(move || {
                for path in part {
                    let run = weir(&[command, path, "--timeout", "1"]);
                    assert!(is_right(&run), "`weir {command} {path}`: {run:?}");
                }
            });
        }
    });
}

#[test]
fn check_prints_a_violation_while_another_property_is_open() {
    let ask = "slow: never c0 == 40 and c1 == 39 and c2 == 38 and x == 7\ndead: no deadlock\n\
               quick: never p@pin and q@qin\n";
    all(
        "check",
        |i| program(i) + ask,
        |run| {
            run.status == 1
                && run.out.contains("✗ violated  quick")
                && run.out.contains("? unknown")
        },
    );
}

#[test]
fn fences_prints_a_violation_while_another_property_is_open() {
    let ask = "slow: never c0 == 40 and c1 == 39 and c2 == 38 and x == 7\n\
               quick: never p@pin and q@qin\n";
    all(
        "fences",
        |i| program(i) + ask,
        |run| run.status == 3 && run.out.contains("As it is, quick is violated"),
    );
}

#[test]
fn live_prints_a_violation_while_another_property_is_open() {
    let ask = "slow: live exists c0 == 40 and c1 == 39 and x == 7\n\
               ends: ltl eventually p@pin\n";
    let spin = "process spin { loop { nop } }\n";
    all(
        "live",
        |i| program(i) + spin + ask,
        |run| {
            run.status == 1
                && run.out.contains("✗ violated  ends")
                && run.out.contains("? unknown   slow")
        },
    );
}

/// A game that takes long, one that is won soon, and one that is lost.
fn games(number: usize) -> String {
    let vars: String = (0..4).map(|k| format!("var c{k}: 0..{}\n", 40 + number)).collect();
    let ways = (0..4).map(|k| format!("{{ c{k} = (c{k} + 1) % {} }}", 41 + number));
    let ways = ways.collect::<Vec<_>>().join(" or ");
    format!(
        "{vars}var x\nprocess p {{\nout:\n    x = 1\nin:\n    nop\n}}\nprocess s {{\n    \
         loop {{\n        choose {ways}\n        if x == 7 {{ goto there }}\n    }}\nthere:\n}}\n\
         slow: game reach s@there\nquick: game reach p@in\nlost: game avoid p@out\n"
    )
}

#[test]
fn game_prints_a_winner_while_another_game_is_open() {
    all("game", games, |run| {
        run.status == 1
            && run.out.contains("the process player wins  quick  game reach p@in")
            && run.out.contains("the update player wins   lost   game avoid p@out")
            && run.out.contains("  ? unknown ")
    });
}

/// The thread that watches the limits prints what is known, here while the command waits for
/// standard input, which does not end.
#[test]
fn compare_prints_finished_programs_when_a_limit_ends_it() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["compare", "examples/peterson.weir", "-", "--model", "tso", "--timeout", "4"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let ended = child.wait_with_output().unwrap();
    drop(held);
    let (out, err) =
        (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
    assert!(out.contains("mutex     violated"), "{out}{err}");
    assert!(err.contains("the time limit of 4 s was reached"), "{err}");
    assert_eq!(ended.status.code(), Some(3));
}

/// What a command leaves behind that stood still while its time passed: the status and standard
/// output. The thread that watches the limits is the first one that looks then.
#[cfg(unix)]
fn stopped(args: &[&str]) -> (i32, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(args)
        .args(["--timeout", "3"])
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let signal = |name: &str| {
        let id = child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    thread::sleep(Duration::from_millis(2200));
    signal("-STOP");
    thread::sleep(Duration::from_millis(1800));
    signal("-CONT");
    let ended = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(ended.stdout), text(ended.stderr));
    assert!(out.contains("the time limit of 3 s was reached") || err.contains("3 s"), "{out}{err}");
    (ended.status.code().unwrap(), out)
}

/// A command whose time passes while it looks at nothing prints what it has found, in every format.
#[cfg(unix)]
#[test]
fn a_search_that_does_not_look_at_limits_loses_nothing() {
    let ask = "slow: never c0 == 40 and c1 == 39 and c2 == 38 and x == 7\n\
               quick: never p@pin and q@qin\n";
    let path = file("stopped.weir", &(program(0) + ask)).display().to_string();
    let ask = "slow: live exists c0 == 40 and c1 == 39 and x == 7\nends: ltl eventually p@pin\n";
    let live = program(0) + "process spin { loop { nop } }\n" + ask;
    let live = file("stopped-live.weir", &live).display().to_string();
    let games = file("stopped-game.weir", &games(0)).display().to_string();
    // Under SC nobody misses a write, and few states are there; under the others there are many.
    let columns = "var x, y, c: 0..20, d: 0..20
        process p { reg r  x = 1  r = y  if r == 0 { pin: nop } loop { c = (c + 1) % 21  d = (d + 7) % 21 } }
        process q { reg r  y = 1  r = x  if r == 0 { qin: nop } loop { c = (c + 3) % 21  d = (d + 5) % 21 } }
        quick: never p@pin and q@qin
        slow: never c == 20 and d == 19 and x == 0\n";
    let columns = file("stopped-columns.weir", columns).display().to_string();
    let json = |out: &str| -> Value { serde_json::from_str(out).unwrap() };
    let check = |command: &[&str], is_right: &dyn Fn(i32, &str) -> bool| {
        let (status, out) = stopped(command);
        assert!(is_right(status, &out), "{command:?}: {status} {out}");
    };
    // They wait more than they compute.
    thread::scope(|scope| {
        scope.spawn(|| {
            check(&["check", &path], &|status, out| {
                status == 1
                    && out.contains("✗ violated  quick")
                    && out.contains("? unknown   slow")
                    && out.contains("quick: how it is violated")
            });
            check(&["check", &path, "--format", "json"], &|status, out| {
                let verdict = |i: usize| json(out)["findings"][i]["verdict"].clone();
                status == 1 && verdict(0) == "unknown" && verdict(1) == "violated"
            });
        });
        scope.spawn(|| {
            check(&["fences", &path], &|status, out| {
                status == 3 && out.contains("As it is, quick is violated")
            });
            check(&["fences", &path, "--format", "json"], &|status, out| {
                let broken = json(out)["findings"][0]["details"]["broken"].clone();
                status == 3 && broken.as_array().is_some_and(|all| all.len() == 1)
            });
        });
        scope.spawn(|| {
            check(&["compare", &columns, "-m", "sc", "-m", "nsw"], &|_, out| {
                out.contains("quick     holds") && out.contains("slow      holds  unknown")
            });
        });
        scope.spawn(|| {
            check(&["live", &live], &|status, out| {
                status == 1 && out.contains("✗ violated  ends") && out.contains("? unknown   slow")
            });
            check(&["live", &live, "--format", "json"], &|status, out| {
                let verdict = |i: usize| json(out)["findings"][i]["verdict"].clone();
                status == 1 && verdict(0) == "unknown" && verdict(1) == "violated"
            });
        });
        scope.spawn(|| {
            check(&["game", &games], &|status, out| {
                status == 1
                    && out.contains("the process player wins  quick  game reach p@in")
                    && out.contains("the update player wins   lost   game avoid p@out")
                    && out.contains("unknown                  slow   game reach s@there")
            });
            check(&["game", &games, "--format", "json"], &|status, out| {
                let outcome = |i: usize| json(out)["findings"][i]["outcome"].clone();
                status == 1 && outcome(0).is_null() && outcome(1).is_string()
            });
        });
    });
}

#[test]
fn lines_of_json_come_as_violations_are_found() {
    let ask = "slow: never c0 == 40 and c1 == 39 and c2 == 38 and x == 7\n\
               quick: never p@pin and q@qin\n";
    let path = file("lines.weir", &(program(0) + ask)).display().to_string();
    let run = weir(&["check", &path, "--format", "jsonl", "--timeout", "1"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((lines.len(), run.status), (2, 1), "{run:?}");
    assert!(lines[0].contains(r#""property":"quick""#) && lines[0].contains("violated"), "{run:?}");
    assert!(lines[1].contains(r#""property":"slow""#) && lines[1].contains("unknown"), "{run:?}");
}

#[test]
fn properties_are_chosen_by_name() {
    let ask =
        "dead: no deadlock\nquick: never p@pin and q@qin\nend: final never p.r == 0 and q.r == 0\n";
    let all = program(0);
    let small = all.split("process w").next().unwrap().to_owned();
    let path = file("chosen.weir", &(small + ask)).display().to_string();
    let run = weir(&["check", &path, "--property", "quick"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.contains("quick") && !run.out.contains("deadlock"), "{run:?}");
    let run = weir(&["compare", &path, "--property", "quick", "--model", "sc", "--model", "tso"]);
    assert!(run.out.contains("quick     holds  violated"), "{run:?}");
    assert!(!run.out.contains("dead "), "{run:?}");
    let run = weir(&["fences", &path, "--property", "quick", "--cheapest"]);
    assert!(run.status == 0 && run.out.contains("2 fences repair this"), "{run:?}");
    let run = weir(&["outcomes", &path, "--property", "end"]);
    assert!(run.status == 0, "{run:?}");
    for command in ["check", "compare", "fences"] {
        let run = weir(&[command, &path, "--property", "quik"]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.err.contains("there is no property `quik`; did you mean `quick`?"), "{run:?}");
    }
    let run = weir(&["outcomes", &path, "--property", "ends"]);
    assert!(run.status == 2 && run.err.contains("did you mean `end`?"), "{run:?}");
}

#[test]
fn check_says_which_formulas_it_does_not_ask() {
    let ask = "var x\nprocess p { loop { x = 1\nhere: nop } }\nsafe: never x == 2\n\
               ends: live terminates\nltl always eventually x == 0\n";
    let path = file("formulas.weir", ask).display().to_string();
    let words = format!("2 formulas about infinite runs were not asked: weir live {path}");
    let run = weir(&["check", &path]);
    assert!(run.status == 3 && run.out.contains(&words), "{run:?}");
    assert!(run.out.contains("✓ holds  safe"), "{run:?}");
    let run = weir(&["check", &path, "--format", "json"]);
    assert!(
        run.status == 3 && run.out.contains(&format!("{{\"text\":\"{words}\",\"open\":true}}")),
        "{run:?}"
    );
    for format in ["jsonl", "csv", "junit", "sarif"] {
        let run = weir(&["check", &path, "--format", format]);
        assert!(run.status == 3 && run.out.contains("were not asked"), "{run:?}");
    }
    let run = weir(&["check", &path, "--property", "safe"]);
    assert!(run.status == 0 && !run.out.contains("not asked"), "{run:?}");
}
