//! The litmus tests of the repository have the verdicts that the models say.
//!
//! The table below was worked out by hand from the sets of relaxations: which
//! pairs of neighbors may change places, and that there is one memory. Each
//! verdict is exact and, where a state is reachable, comes with a run that
//! `weir-check` accepts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weir_check::Witness;
use weir_engine::{Engine, Explicit, SearchOptions, Task, explicit};
use weir_model::answer::{Evidence, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{PropertyKind, Quantifier};
use weir_model::system::System;

/// The file, whether what its condition asks about can be seen under SC, TSO,
/// PSO and NSW, and why. What `forall` asks about is a state that violates it.
const VERDICTS: &[(&str, [bool; 4], &str)] = {
    const NOWHERE: [bool; 4] = [false; 4];
    /// A read overtakes a write.
    const WR: [bool; 4] = [false, true, true, true];
    /// A write overtakes a write.
    const WW: [bool; 4] = [false, false, true, true];
    /// A read overtakes a read.
    const RR: [bool; 4] = [false, false, false, true];
    &[
        ("2+2W", WW, "y=1 and x=1 both overtake"),
        ("3.LB", NOWHERE, "no write overtakes a read"),
        ("3.SB", WR, "each read overtakes the write before it"),
        ("CoRR", NOWHERE, "reads of one variable stay in order"),
        ("CoRW", NOWHERE, "a read and a write of one variable stay in order"),
        ("CoWR", NOWHERE, "once x=2 is seen, x=1 is in memory and overwritten"),
        ("IRIW", RR, "one reader reads y before x, the other x before y"),
        ("IRIW+lfences", NOWHERE, "one memory, and the reads are in order"),
        ("IRIW+mfences", NOWHERE, "one memory, and the reads are in order"),
        ("ISA2", WW, "y=1 overtakes x=1; the rest happens in between"),
        ("LB", NOWHERE, "no write overtakes a read"),
        ("MP", WW, "y=1 overtakes x=1"),
        ("MP+po+lfence", WW, "y=1 overtakes x=1"),
        ("MP+sfence+lfence", NOWHERE, "writes are in order, and reads are"),
        ("MP+sfence+po", RR, "writes are in order; the read of x overtakes that of y"),
        ("MP+xchg", RR, "the atomic write is a fence; the read of x overtakes that of y"),
        ("R", WR, "the read of x overtakes y=2"),
        ("R+po+mfence", WW, "y=1 overtakes x=1; y=2 and the read of x happen in between"),
        ("RWC", WR, "the read of x overtakes y=1"),
        ("S", WW, "y=1 overtakes x=2; the other thread runs in between"),
        ("SB", WR, "each read overtakes the write before it"),
        ("SB+mfence+po", WR, "one read overtakes; that is enough"),
        ("SB+mfences", NOWHERE, "nothing overtakes a fence"),
        ("SB+rfi-pos", WR, "the first read is served by the own write, the second overtakes it"),
        ("SB+xchgs", NOWHERE, "an atomic write is a fence"),
        ("WRC", RR, "the read of x overtakes that of y"),
        ("array", WW, "message passing"),
        ("causality", NOWHERE, "no write overtakes a read"),
        ("cmpxchg", NOWHERE, "only one can find 0"),
        ("cmpxchg-64", WW, "the release of the lock overtakes the increment"),
        ("copy", WW, "y=1 overtakes x=1; the branch is message passing still"),
        ("filter", WR, "store buffering"),
        ("forall", WW, "message passing"),
        ("inc", [true; 4], "both load before either stores"),
        ("lock-inc", NOWHERE, "an atomic increment cannot be lost"),
        ("pointer", WW, "the pointer overtakes the data"),
        ("spin-handover", WW, "the flag overtakes the data"),
        ("xadd", NOWHERE, "the second adds to what the first left"),
    ]
};

/// Verdicts under sets that are not in the table.
///
/// With RRWE a read may be served by a write that is under way, whatever that
/// write itself waits for (Atig et al. 2012, section 7): reads that its process has guessed, as
/// in LB, or writes before a fence, as in MP+sfence+lfence.
const MORE: &[(&str, &str, bool)] = &[
    ("LB", "tso+r->w", true),
    ("LB", "sc+r->w", true),
    ("LB", "nsw+rrwe", true),
    ("3.LB", "tso+r->w", true),
    ("causality", "sc+r->w", true),
    ("S", "tso+r->w", true),
    ("S", "sc+r->w", true),
    ("IRIW+lfences", "nsw+rrwe", true),
    ("WRC", "tso+rrwe", true),
    ("MP+sfence+lfence", "nsw+rrwe", true),
    ("CoRR", "nsw+rrwe", false),
    ("CoRW", "nsw+rrwe", false),
    ("CoWR", "nsw+rrwe", false),
    ("MP+sfence+lfence", "nsw+r->w", false),
    ("MP", "r->r", true),
    ("MP", "w->w", true),
    ("MP", "tso+r->r", true),
    ("MP+sfence+lfence", "w->r, w->w, r->r, rlwe", true),
    ("SB", "w->r", true),
    ("SB", "w->w, r->r, r->w, rlwe, rwf", false),
    ("SB+rfi-pos", "w->r", false),
    ("SB+rfi-pos", "w->r, r->r", true),
    ("2+2W", "w->w", true),
    ("CoRR", "nsw+r->w", false),
    ("CoWR", "nsw+r->w", false),
    ("CoRW", "nsw+r->w", false),
    ("SB+mfences", "nsw+r->w", false),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus")
}

fn read(name: &str, model: MemoryModel) -> System {
    let path = folder().join(format!("{name}.litmus"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let (program, _) = weir_front::read(&path.to_string_lossy(), &text, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render(name, &text, false)));
    System::for_model(program, model).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Whether a state that the condition asks about is reachable; the answer is
/// exact, and a run that shows it is accepted.
fn is_reachable(name: &str, system: &System, model: MemoryModel) -> bool {
    let (answers, stats) =
        Explicit.check(Task::new(system, model, &SearchOptions::default()), &mut |_| {}).unwrap();
    let answer = &answers[0];
    let PropertyKind::Final(quantifier, _) = &system.program.properties[0].kind else {
        panic!("{name} has no condition");
    };
    let exists = *quantifier == Quantifier::Exists;
    let reachable = match (&answer.evidence, answer.verdict) {
        (Evidence::Run(run), Verdict::Holds | Verdict::Violated) => {
            assert_eq!(answer.verdict == Verdict::Holds, exists, "{name} under {model}");
            let witness = Witness::new(system, run, answer.property, &|_| 1);
            let accepted = weir_check::check(system, &witness);
            assert_eq!(accepted, Ok(()), "{name} under {model}");
            true
        }
        (Evidence::Exhausted, Verdict::Holds | Verdict::Violated) => {
            assert_eq!(answer.verdict == Verdict::Violated, exists, "{name} under {model}");
            assert!(stats.is_exact(), "{name} under {model}: {:?}", stats.stopped);
            false
        }
        other => panic!("{name} under {model}: {other:?}"),
    };
    // No test computes an address that is none.
    for answer in &answers[1..] {
        assert_eq!(answer.verdict, Verdict::Holds, "{name} under {model}: assertions");
    }
    // All outcomes: exact too, and the same verdict.
    let outcomes =
        explicit::outcomes(Task::new(system, model, &SearchOptions::default()), &mut |_| {})
            .unwrap();
    assert!(outcomes.stats.is_exact(), "{name} under {model}: {:?}", outcomes.stats.stopped);
    let wanted = *quantifier != Quantifier::Always;
    let found = outcomes.states.iter().any(|(_, holds)| *holds == wanted);
    assert_eq!(found, reachable, "{name} under {model}: check and outcomes");
    reachable
}

#[test]
fn every_file_has_a_verdict() {
    let files = std::fs::read_dir(folder()).expect("the litmus tests are there");
    let found: BTreeSet<String> = files
        .map(|f| f.expect("readable").path())
        .filter(|p| p.extension().is_some_and(|e| e == "litmus"))
        .map(|p| p.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    let known: BTreeSet<String> = VERDICTS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(found, known);
}

#[test]
fn verdicts_under_named_models() {
    let mut wrong = vec![];
    for (name, expected, why) in VERDICTS {
        let system = read(name, MemoryModel::SC);
        for ((shown, model), expected) in MemoryModel::NAMED.into_iter().zip(*expected) {
            if is_reachable(name, &system, model) != expected {
                wrong.push(format!("{name} under {shown}: should be {expected}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn verdicts_under_other_models() {
    let mut wrong = vec![];
    for (name, model, expected) in MORE {
        let of = model.parse().expect("a model");
        if is_reachable(name, &read(name, of), of) != *expected {
            wrong.push(format!("{name} under {model}: should be {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
