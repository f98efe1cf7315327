//! With closed levels on disk the search finds what it finds without.

use std::fmt::Write as _;
use std::path::PathBuf;
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

fn found(
    engine: &dyn Engine,
    name: &str,
    text: &str,
    model: MemoryModel,
    spill: Option<PathBuf>,
) -> (String, Stats, Verdict) {
    let system = Loaded::read(name, text, &Reading::default()).unwrap().system;
    let options = SearchOptions { bound: Some(2), spill, ..SearchOptions::default() };
    let (answers, stats) = engine.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
    let same = Stats { elapsed: Duration::ZERO, bytes: 0, on_disk: 0, ..stats.clone() };
    (format!("{answers:?} {same:?}"), stats, answers[0].verdict)
}

#[test]
fn answers_runs_and_counts_are_the_same() {
    let burns = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/burns-4-fenced.weir");
    let burns = std::fs::read_to_string(burns).unwrap();
    let folder = folder("same");
    for (name, text, model) in
        [("counting", counting(), MemoryModel::SC), ("burns-4-fenced", burns, MemoryModel::TSO)]
    {
        let (expected, plain, verdict) = found(&Explicit, name, &text, model, None);
        if name == "counting" {
            assert_eq!(verdict, Verdict::Violated);
        }
        // Without workers.
        let (same, spilling, _) = found(&Explicit, name, &text, model, Some(folder.clone()));
        assert!(same == expected, "{name}");
        assert!(spilling.on_disk > 0 && spilling.bytes < plain.bytes, "{plain:?} {spilling:?}");
        for workers in [1, 2] {
            let (plain, spilling) = (Distributed::new(workers), Distributed::new(workers));
            assert!(found(&plain, name, &text, model, None).0 == expected, "{name} {workers}");
            let spill = Some(folder.clone());
            assert!(found(&spilling, name, &text, model, spill).0 == expected, "{name} {workers}");
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
