//! `weir step`: sessions with commands from a pipe.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{Output, root, weir, weir_reading};

const PETERSON: &str = "examples/peterson.weir";

fn session(args: &[&str], commands: &str) -> Output {
    let args: Vec<&str> = ["step"].iter().chain(args).copied().collect();
    weir_reading(&args, commands.as_bytes())
}

/// What was printed after a command, up to the next one.
fn after<'o>(output: &'o Output, command: &str) -> Vec<&'o str> {
    let lines = output.out.lines().skip_while(|line| *line != format!("> {command}"));
    lines.skip(1).take_while(|line| !line.starts_with("> ")).collect()
}

#[test]
fn the_documented_session_is_one() {
    let text = fs::read_to_string(root().join("docs/command-line.md")).unwrap();
    let shown = text.split("$ weir step examples/peterson.weir\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    let commands: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let output = session(&[PETERSON], &commands.join("\n"));
    assert_eq!((output.out.as_str(), output.status), (shown, 0), "{}", output.err);
}

#[test]
fn steps_are_taken_and_taken_back() {
    let commands = "show\n1\n3\nu\nb 0\nu 2\nr 9 5\nb 2\nb 0\nr 9 5\nrun\n";
    let output = session(&[PETERSON], commands);
    let start = after(&output, "show");
    assert_eq!(start.len(), 6, "{start:?}");
    let one = after(&output, "1");
    assert!(one.contains(&"p[0]    line 18  [flag[0]=true]"), "{one:?}");
    assert_eq!(after(&output, "u"), one);
    assert_eq!(after(&output, "b 0"), start);
    assert_eq!(after(&output, "u 2"), ["no step was taken yet"]);
    assert_eq!(output.status, 2);
    // The same seed picks the same steps, and the same session prints the same.
    let walks: Vec<&str> = output.out.split("> r 9 5\n").skip(1).collect();
    let state = |walk: &str| walk.split("> ").next().unwrap().to_owned();
    assert_eq!(state(walks[0]), state(walks[1]));
    assert!(state(walks[0]).contains("step 9: "), "{}", walks[0]);
    assert_eq!(session(&[PETERSON], commands).out, output.out);
    assert_ne!(session(&[PETERSON], "r 9\n").out, session(&[PETERSON, "--seed", "3"], "r 9\n").out);
}

#[test]
fn what_is_wrong_is_said() {
    for (command, said) in [
        ("what", "there is no command `what`; `help` lists them"),
        ("0", "a step has a number from 1 to 2"),
        ("3", "a step has a number from 1 to 2"),
        ("1 2", "a command takes one step; `r` takes several"),
        ("99999999999999999999", "there is no command `99999999999999999999`; `help` lists them"),
        ("u", "no step was taken yet"),
        ("u x", "`u` takes a number of steps"),
        ("b", "`b` takes the number of a step"),
        ("b 1", "no step was taken yet"),
        ("r", "`r` takes a number of steps, and the seed of random numbers"),
        ("r 1 x", "`r` takes a number of steps, and the seed of random numbers"),
        ("go mutx", "there is no property `mutx`; did you mean `mutex`?"),
        ("go nowhere", "there is no property `nowhere`; there is `mutex`"),
        ("start 2", "`start` takes the number of an initial memory, from 1"),
        ("save", "`save` takes the name of a file"),
        ("save /nowhere/w.json", "not saved: no property is settled in this state"),
    ] {
        let output = session(&[PETERSON], command);
        assert_eq!(after(&output, command), [said]);
        assert_eq!((output.status, output.err.as_str()), (2, ""), "{command}");
    }
    let holds = session(&["examples/peterson-fenced.weir"], "go");
    assert_eq!(after(&holds, "go"), ["mutex holds: no run leads to a state that settles it"]);
    let none = session(&["examples/objects/register.weir"], "1");
    assert_eq!((none.status, none.out.as_str()), (2, ""), "{none:?}");
    assert_eq!(session(&["-"], "1").status, 2);
    let output = weir_reading(&["step", PETERSON], b"1\n\xff\xff\n1\n");
    assert!(output.out.ends_with("a command is text in UTF-8\n"), "{}", output.out);
    assert_eq!(output.status, 2);
    let control = session(&[PETERSON], "\u{1b}[2J");
    assert!(!control.out.contains('\u{1b}'), "{:?}", control.out);
}

#[test]
fn the_input_is_not_overwritten() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("step-input.weir");
    let text = fs::read_to_string(root().join(PETERSON)).unwrap();
    fs::write(&file, &text).unwrap();
    let file_name = file.to_str().unwrap();
    let output = session(&[file_name], &format!("go\nsave {file_name}\n"));
    assert_eq!(output.status, 2, "{}", output.out);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn saved_runs_are_accepted() {
    let mut saved = 0;
    for (number, model) in ["sc", "tso", "pso", "nsw", "tso+r->w", "nsw+rrwe"].iter().enumerate() {
        for test in ["SB", "MP", "LB", "IRIW"] {
            let program = format!("litmus/{test}.litmus");
            let name = format!("step-{number}-{test}.json");
            let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
            let _ = fs::remove_file(&file);
            let file = file.to_str().unwrap();
            // Back and forward again, and then to the end by itself.
            let commands = format!("go\nu\nr 9 1\nsave {file}\ngo\nsave {file}\n");
            let output = session(&[&program, "-m", model], &commands);
            let is_allowed = output.out.contains("is allowed here");
            assert_eq!(fs::exists(file).unwrap(), is_allowed, "{program} {model}: {}", output.out);
            if is_allowed {
                let checked = weir(&["certify", file, &program]);
                assert_eq!(checked.status, 0, "{program} {model}: {}", checked.out);
                saved += 1;
            } else {
                assert!(
                    output.out.contains(" is forbidden: "),
                    "{program} {model}: {}",
                    output.out
                );
            }
        }
    }
    assert!(saved > 8, "{saved}");
}

#[test]
fn other_initial_memories_can_be_picked() {
    let text = "var x: 0..2 = any  process p { reg r  r = x }  final exists p.r == 2";
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("step-start.weir");
    fs::write(&file, text).unwrap();
    let output = session(&[file.to_str().unwrap()], "start 3\n1\nstart 4\n");
    assert!(output.out.contains("3 initial memories; `start N` picks one"), "{}", output.out);
    assert!(after(&output, "start 3").contains(&"memory  x=2"), "{}", output.out);
    assert!(after(&output, "1").iter().any(|l| l.ends_with("is allowed here")), "{}", output.out);
    assert_eq!(output.status, 2);
}
