//! Evidence of every kind, as the program writes it.

use std::fs;
use std::path::Path;

use crate::common::weir;

/// A file of evidence and what it is about.
pub struct Sample {
    /// What it is called in messages.
    pub name: &'static str,
    /// The program or the machine.
    pub file: &'static str,
    /// The text.
    pub text: String,
    /// Whether it is about a channel machine.
    pub channel: bool,
}

/// How to make each: its name, the command, the program, the option that writes it, and
/// more options.
const ALL: [(&str, &str, &str, &str, &str); 31] = [
    ("witness under SC", "check", "examples/deadlock-violated.weir", "--witness", "--model sc"),
    ("witness under TSO", "check", "examples/store-buffering.weir", "--witness", "--model tso"),
    ("witness under PSO", "check", "examples/spinlock.weir", "--witness", "--model pso"),
    ("witness under NSW", "check", "examples/message-passing.weir", "--witness", "--model nsw"),
    (
        "witness with guesses",
        "check",
        "litmus/LB.litmus",
        "--witness",
        "--model tso+r->r+r->w --engine explicit",
    ),
    (
        "certificate under TSO",
        "check",
        "examples/peterson-fenced.weir",
        "--certificate",
        "--model tso --engine views",
    ),
    (
        "certificate under NSW",
        "check",
        "corpus/mp-flag-2-fenced.weir",
        "--certificate",
        "--model nsw --engine views",
    ),
    (
        "upward-closed set",
        "check",
        "litmus/SB+mfences.litmus",
        "--certificate",
        "--model tso --engine backward",
    ),
    (
        "buffer set",
        "check",
        "examples/peterson-fenced.weir",
        "--certificate",
        "--model tso --engine automata",
    ),
    (
        "closed set",
        "check",
        "litmus/SB+mfences.litmus",
        "--certificate",
        "--model tso --engine explicit",
    ),
    (
        "live set",
        "live",
        "examples/objects/spin-lock.weir",
        "--certificate",
        "--model sc --property deadlock-free",
    ),
    (
        "folded live set",
        "live",
        "examples/objects/overwrite.weir",
        "--certificate",
        "--model tso --clients 1 --property lock-free",
    ),
    (
        "live set with one client",
        "live",
        "examples/objects/spin-lock.weir",
        "--certificate",
        "--model sc --clients 1 --property wait-free",
    ),
    (
        "live set if every write reaches memory",
        "live",
        "examples/objects/spin-lock.weir",
        "--certificate",
        "--model tso --flush-fair --clients 1 --property starvation-free",
    ),
    (
        "lasso with one client",
        "live",
        "examples/objects/barrier.weir",
        "--witness",
        "--model tso --clients 1",
    ),
    ("lasso of a program", "live", "examples/live.weir", "--witness", "--model tso"),
    ("lasso of a formula", "live", "examples/ltl.weir", "--witness", "--model sc"),
    ("live set of formulas", "live", "examples/ltl.weir", "--certificate", "--model sc"),
    ("lasso of an object", "live", "examples/objects/overwrite.weir", "--witness", "--model tso"),
    (
        "proof without stops",
        "live",
        "examples/objects/register.weir",
        "--certificate",
        "--property obstruction-free",
    ),
    (
        "proof with stops",
        "live",
        "examples/objects/store-buffering-fenced.weir",
        "--certificate",
        "--property obstruction-free",
    ),
    ("strategy by views", "game", "examples/games/handshake.weir", "--strategy", "--game quick"),
    (
        "strategy by configurations",
        "game",
        "examples/games/figure-6.weir",
        "--strategy",
        "--fairness process --semantics load-buffer",
    ),
    ("cycle", "robust", "examples/store-buffering.weir", "--witness", "--model tso"),
    ("robust set", "robust", "corpus/arc-2.weir", "--certificate", "--model tso"),
    ("robust shape", "robust", "examples/peterson-fenced.weir", "--certificate", "--model tso"),
    ("states under PSO", "robust", "examples/message-passing.weir", "--witness", "--model pso"),
    (
        "same states under TSO",
        "robust",
        "corpus/burns-2-fenced.weir",
        "--certificate",
        "--model tso",
    ),
    (
        "same states under NSW",
        "robust",
        "corpus/mp-flag-2-fenced.weir",
        "--certificate",
        "--model nsw",
    ),
    (
        "run of a machine",
        "channel check",
        "examples/no-bit.chm",
        "--witness",
        "--reach wrong --channels any",
    ),
    (
        "set of a machine",
        "channel check",
        "examples/alternating-bit.chm",
        "--certificate",
        "--reach wrong",
    ),
];

/// Makes all samples, in a folder of this name.
pub fn samples(folder: &str) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let make = |(number, &(name, command, file, option, more)): (usize, &_)| {
        let path = folder.join(format!("{number}.json"));
        let _ = fs::remove_file(&path);
        let words = [command, file, option, path.to_str().unwrap(), more];
        let words: Vec<&str> = words.iter().flat_map(|w| w.split(' ')).collect();
        let done = weir(&words);
        assert!(done.status < 2, "{name}: {}{}", done.out, done.err);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        Sample { name, file, text, channel: command.starts_with("channel") }
    };
    ALL.iter().enumerate().map(make).collect()
}
