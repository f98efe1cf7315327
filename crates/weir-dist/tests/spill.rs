//! With closed levels on disk the search finds what it finds without.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use weir::load::Reading;
use weir::{Loaded, MemoryModel};
use weir_dist::Distributed;
use weir_engine::{Engine, Explicit, SearchOptions, Stats, Task};
use weir_model::answer::Verdict;

/// Two processes that count, and a property that the last of all configurations violates: the
/// run goes through all levels.
fn counting() -> String {
    let mut text = "var x\nvar y\n".to_owned();
    for (process, var) in [("p", "x"), ("q", "y")] {
        let writes: Vec<String> = (1..=150).map(|n| format!("{var} = {n}")).collect();
        let _ = writeln!(text, "process {process} {{ {} }}", writes.join("  "));
    }
    text + "never x == 150 and y == 150\n"
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("weir-spill-{name}-{}", std::process::id()))
}

fn found(engine: &dyn Engine, name: &str, text: &str, model: MemoryModel) -> (String, Verdict) {
    let system = Loaded::read(name, text, &Reading::default()).unwrap().system;
    let options = SearchOptions { bound: Some(2), ..SearchOptions::default() };
    let (answers, stats) = engine.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    let stats = Stats { elapsed: Duration::ZERO, bytes: 0, ..stats };
    (format!("{answers:?} {stats:?}"), answers[0].verdict)
}

#[test]
fn answers_runs_and_counts_are_the_same() {
    let burns = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/burns-4-fenced.weir");
    let burns = std::fs::read_to_string(burns).unwrap();
    let folder = folder("same");
    for (name, text, model) in
        [("counting", counting(), MemoryModel::SC), ("burns-4-fenced", burns, MemoryModel::TSO)]
    {
        let (expected, verdict) = found(&Explicit, name, &text, model);
        if name == "counting" {
            assert_eq!(verdict, Verdict::Violated);
        }
        for workers in [1, 2] {
            let plain = Distributed::new(workers);
            let spilling = Distributed::new(workers).with_spill(folder.clone()).unwrap();
            assert!(found(&plain, name, &text, model).0 == expected, "{name} {workers}");
            assert!(found(&spilling, name, &text, model).0 == expected, "{name} {workers}");
            let (plain, spilling) = (plain.report().unwrap(), spilling.report().unwrap());
            for (plain, spilling) in plain.workers.iter().zip(&spilling.workers) {
                assert_eq!((plain.stored, plain.on_disk), (spilling.stored, 0));
                assert!(spilling.on_disk > 0, "nothing was spilled: {spilling:?}");
                assert!(spilling.bytes < plain.bytes, "{plain:?} {spilling:?}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "no file has a name");
    std::fs::remove_dir(folder).unwrap();
}

#[test]
fn on_the_command_line() {
    let folder = folder("words");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("counting.weir");
    std::fs::write(&program, counting()).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir-dist"));
        command.arg("check").arg(&program).args(["--model", "sc", "--engine", "explicit"]);
        let output = command.args(words).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text.into_owned())
    };
    let place = folder.join("levels");
    let place = place.to_str().unwrap();
    for words in [vec!["--workers", "2"], vec!["--processes", "2"]] {
        let (code, text) = run(&[words, vec!["--stats", "--spill", place]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("closed levels on disk"), "{text}");
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
    }
    let (code, text) = run(&["--workers", "2", "--spill", program.to_str().unwrap()]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot keep levels in"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}
