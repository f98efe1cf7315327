//! `weir game` and `weir reduce`, as they are used.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{root, weir, weir_reading};
use serde_json::Value;

fn scratch(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

/// A line `// expect: FAIRNESS SEMANTICS [GAME] WINNER` of an example is what happens,
/// and the strategy is accepted.
#[test]
fn every_game_keeps_its_promise() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("examples/games")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "weir") {
            continue;
        }
        let file = path.to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("// "), "{file} does not say what it is");
        for line in text.lines().filter_map(|l| l.strip_prefix("// expect: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (fairness, semantics, winner) = (words[0], words[1], words[words.len() - 1]);
            let proof = scratch(&format!("promise-{seen}.json"));
            let mut args = vec!["game", file, "--fairness", fairness, "--semantics", semantics];
            args.extend(["--format", "json", "--strategy", &proof]);
            if words.len() == 4 {
                args.extend(["--game", words[2]]);
            }
            let output = weir(&args);
            let report: Value = serde_json::from_str(&output.out).unwrap();
            assert_eq!(
                report["findings"][0]["details"]["winner"], winner,
                "{file}: {line}: {}",
                output.out
            );
            assert_eq!(output.status, i32::from(winner == "update"), "{file}: {line}");
            let checked = weir(&["certify", &proof, file]);
            assert_eq!(checked.status, 0, "{file}: {line}: {}", checked.out);
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} promises");
}

#[test]
fn a_strategy_with_another_move_is_rejected() {
    let file = "examples/games/handshake.weir";
    let proof = scratch("tampered.json");
    let output = weir(&["game", file, "--game", "quick", "--strategy", &proof]);
    assert_eq!(output.status, 0, "{}", output.err);
    let mut strategy: Value = serde_json::from_str(&fs::read_to_string(&proof).unwrap()).unwrap();
    // To fence instead of to read back: the update player never lets it happen.
    let moves = strategy["strategy"]["views"]["moves"].as_array_mut().unwrap();
    let last = moves.iter_mut().find(|m| m["transitions"].as_array().unwrap().len() > 1).unwrap();
    last["transitions"] = serde_json::json!(["nop to 7"]);
    fs::write(&proof, strategy.to_string()).unwrap();
    let checked = weir(&["certify", &proof, file]);
    assert_eq!(checked.status, 1, "{}", checked.out);
    assert!(checked.out.contains("rejected"), "{}", checked.out);
}

#[test]
fn a_person_can_play_either_player() {
    let file = "examples/games/handshake.weir";
    // The strategy wins whatever the update player does.
    let args = ["game", file, "--game", "quick", "--play", "update"];
    let output = weir_reading(&args, b"1\n?\nx\n2\n1\n1\n1\n");
    assert_eq!(output.status, 0, "{}", output.err);
    for part in ["buffer data=1", "A number from 1 to 2", "Type the number", "You lose"] {
        assert!(output.out.contains(part), "{part}: {}", output.out);
    }
    // Against whoever never updates a fence does not come.
    let args = ["game", file, "--game", "careful", "--play", "process"];
    let output = weir_reading(&args, b"1\n1\n1\n1\n1\n");
    assert_eq!(output.status, 0);
    assert!(output.out.contains("update player: nothing"), "{}", output.out);
    assert!(output.out.contains("You lose: no process can go on"), "{}", output.out);
    // The end of the input ends the game, and so does `q`.
    for input in ["", "q\n", "1\nq\n"] {
        let output = weir_reading(&args, input.as_bytes());
        assert_eq!(output.status, 0);
        assert!(output.out.contains("The game is not over."), "{}", output.out);
    }
    let args = ["game", "examples/games/figure-6.weir", "--fairness", "process", "--play"];
    for (player, semantics) in [("process", "store-buffer"), ("update", "load-buffer")] {
        let mut args = args.to_vec();
        args.extend([player, "--semantics", semantics]);
        let output = weir_reading(&args, b"1\n1\n1\n1\n1\n1\n1\n1\n");
        assert_eq!(output.status, 0, "{}", output.err);
        assert!(output.out.contains("turn 3"), "{}", output.out);
    }
}

#[test]
fn channel_systems_become_games() {
    let file = "examples/games/ping.chm";
    for (state, fairness, bound, status) in
        [("done", "update", "4", 0), ("swapped", "update", "4", 1), ("start", "update", "2", 0)]
    {
        let reduced = weir(&["reduce", "pcs", file, "--reach", state, "--fairness", fairness]);
        assert_eq!(reduced.status, 0, "{}", reduced.err);
        let args = ["game", "-", "--language", "weir", "--fairness", fairness, "--bound", bound];
        let played = weir_reading(&args, reduced.out.as_bytes());
        assert_eq!(played.status, status, "{state}: {}{}", played.out, played.err);
    }
    let reduced = weir(&["reduce", "pcs", file, "--reach", "done", "--fairness", "process"]);
    assert!(reduced.out.contains("game avoid proc1@done"), "{}", reduced.out);
}

#[test]
fn what_is_no_channel_system_is_an_error_with_a_place() {
    let text = "machine m; messages a; channels c; states s, t; initial s;\n\
                s -> t do c!a;\ns -> t when c empty do c!a;\n";
    let args = ["reduce", "pcs", "-", "--reach", "t", "--fairness", "update"];
    let output = weir_reading(&args, text.as_bytes());
    assert_eq!(output.status, 2);
    assert!(output.err.contains("no guards") && output.err.contains("-:3"), "{}", output.err);
    let two = text.replace("channels c", "channels c, d").replace("when c empty ", "");
    let two = two.replacen("s -> t do c!a;\n", "", 1);
    let output = weir_reading(&args, two.as_bytes());
    assert_eq!(output.status, 2);
    assert!(output.err.contains("one channel"), "{}", output.err);
    let args =
        ["reduce", "pcs", "examples/games/ping.chm", "--reach", "don", "--fairness", "update"];
    let output = weir(&args);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("did you mean `done`"), "{}", output.err);
}

#[test]
fn wrong_input_ends_with_2() {
    for (text, words) in [
        ("process p { nop }", "has no game"),
        ("var x process p { swap(x, 1) at: } game reach p@at", "atomic"),
        ("process p { at: } game reach x", "places"),
    ] {
        let output = weir_reading(&["game", "-", "--language", "weir"], text.as_bytes());
        assert_eq!(output.status, 2, "{text}");
        assert!(output.err.contains(words), "{text}: {}", output.err);
    }
    // `weir check` has nothing to do with games.
    let text = "process p { at: } game reach p@at";
    let output = weir_reading(&["check", "-", "--language", "weir"], text.as_bytes());
    assert_eq!(output.status, 2);
    assert!(output.err.contains("has only games; use `weir game`"), "{}", output.err);
}

#[test]
fn an_undecided_game_is_unknown() {
    let text = "var x, y
        process p { loop { x = 1  y = 1 } }
        process q { await x == 1  await y == 0  await x == 0  there: }
        game reach q@there";
    let args = ["game", "-", "--language", "weir", "--fairness", "update", "--bound", "2"];
    let output = weir_reading(&args, text.as_bytes());
    assert!(output.status == 3 || output.status == 1, "{}", output.out);
    let limited =
        ["game", "-", "--language", "weir", "--fairness", "update", "--timeout", "0.000001"];
    let text = "var x[8]
        process p[i: 0..3] { loop { x[i] = 1  x[i + 4] = x[(i + 1) % 4] } }
        process q { await x[0] == 2  there: } game reach q@there";
    let output = weir_reading(&limited, text.as_bytes());
    assert_eq!(output.status, 3, "{}", output.out);
    assert!(output.out.contains("time limit"), "{}", output.out);
}

#[test]
fn strategies_are_drawn() {
    let (dot, svg) = (scratch("strategy.dot"), scratch("strategy.svg"));
    for args in [
        vec!["game", "examples/games/handshake.weir", "--game", "quick"],
        vec!["game", "examples/games/handshake.weir", "--game", "careful"],
        vec!["game", "examples/games/figure-6.weir", "--fairness", "process"],
        vec!["game", "examples/games/handshake.weir", "--game", "careful", "--fairness", "update"],
    ] {
        let mut args = args;
        args.extend(["--dot", &dot, "--svg", &svg]);
        let output = weir(&args);
        assert_ne!(output.status, 2, "{}", output.err);
        let text = fs::read_to_string(&dot).unwrap();
        assert!(text.starts_with("digraph strategy {") && text.ends_with("}\n"), "{text}");
        assert_eq!(text.matches('"').count() % 2, 0);
        let text = fs::read_to_string(&svg).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        for tag in ["text", "svg", "defs", "marker"] {
            let (open, close) = (format!("<{tag} "), format!("</{tag}>"));
            let opened = text.matches(&open).count() + text.matches(&format!("<{tag}>")).count();
            assert_eq!(opened, text.matches(&close).count(), "{tag}");
        }
    }
}

/// Who plays is told which game it is, its targets, and what fairness asks.
#[test]
fn a_person_is_told_the_game_and_who_is_due() {
    let program = "var x
        process p { loop { nop } }
        process q { loop { nop } bad: }
        hold: game avoid q@bad";
    let args = ["--fairness", "process", "--play", "process"];
    let play = |moves: &str| {
        let file = scratch("due.weir");
        std::fs::write(&file, program).unwrap();
        weir_reading(&[&["game", &file], &args[..]].concat(), moves.as_bytes()).out
    };
    let out = play("1\n1\nq\n");
    assert!(out.starts_with("hold: game avoid q@bad\nTargets: q@bad.\n"), "{out}");
    assert!(out.contains("Here you lose if you leave one alone 30 times"), "{out}");
    assert!(out.contains("due: q (left alone 1 of 30)"), "{out}");
    assert!(out.contains("due: q (left alone 2 of 30)"), "{out}");
    // Whoever ignores it loses, and whoever does not goes on.
    let out = play(&"1\n".repeat(40));
    assert!(out.contains("You lose: `q` could be played 30 times and was not"), "{out}");
    let out = play(&"1\n2\n".repeat(40));
    assert!(out.contains("turn 80") && out.contains("The game is not over"), "{out}");

    let file = scratch("owed.weir");
    let program = "var x  process p { x = 1  fence  there: }  game reach p@there";
    std::fs::write(&file, program).unwrap();
    let args = ["game", file.as_str(), "--fairness", "update", "--play", "update"];
    let out = weir_reading(&args, b"1\n").out;
    assert!(out.contains("due: an update, since no process can go on"), "{out}");
    assert!(out.contains("You lose: a deadlock with something in a buffer is not fair"), "{out}");
}

/// Rows of a strategy that stand at one line, inside one `await`, are told apart.
#[test]
fn rows_inside_an_await_are_told_apart() {
    let file = scratch("await.weir");
    let program = "var x, y
process p { reg r, s
  x = 1
  await { r = x  s = y } until r == 1 and s == 0
  there: }
game reach p@there";
    std::fs::write(&file, program).unwrap();
    let out = weir(&["game", &file]).out;
    assert!(out.contains("the process player wins"), "{out}");
    let rows: Vec<&str> = out.lines().filter(|line| line.contains("line 4 (")).collect();
    assert!(rows.len() >= 2, "{out}");
    let places = rows.iter().map(|row| row.split(')').next().unwrap());
    let places: std::collections::BTreeSet<&str> = places.collect();
    assert_eq!(places.len(), rows.len(), "{out}");
}
