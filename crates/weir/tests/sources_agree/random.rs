//! Small random programs.

use weir_gen::Rng;

pub const VARIABLES: [&str; 3] = ["x", "y", "z"];
const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// What a thread does. A number says where the result of an operation goes.
#[derive(Clone, Debug)]
pub enum Op {
    Load(usize, usize, &'static str),
    Store(usize, u64, &'static str),
    /// Stores a result and one more.
    Copy(usize, usize, &'static str),
    Add(usize, usize, u64, &'static str),
    Swap(usize, usize, u64, &'static str),
    Exchange(usize, usize, u64, u64),
    Fence(&'static str),
    /// What happens if a result is 1, and what otherwise.
    If(usize, Vec<Op>, Vec<Op>),
}

/// What the threads of a program do.
pub struct Random {
    pub threads: Vec<Vec<Op>>,
    /// How many results each has.
    pub results: Vec<usize>,
}

/// One of the words.
fn one_of(rng: &mut Rng, words: &[&'static str]) -> &'static str {
    words[rng.below(words.len())]
}

/// An operation on some of the variables. `results` counts results.
fn op(rng: &mut Rng, variables: usize, results: &mut usize, can_nest: bool) -> Op {
    let (variable, value) = (rng.below(variables), 1 + rng.below(2) as u64);
    let known = *results;
    let mut result = || {
        *results += 1;
        *results - 1
    };
    let load = ["relaxed", "acquire", "seq_cst"];
    let store = ["relaxed", "release", "seq_cst"];
    match rng.below(12) {
        0..4 => Op::Load(result(), variable, one_of(rng, &load)),
        4..6 => Op::Store(variable, value, one_of(rng, &store)),
        6 if known > 0 => Op::Copy(variable, rng.below(known), one_of(rng, &store)),
        6 => Op::Store(variable, value, one_of(rng, &store)),
        7 if rng.once_in(2) => Op::Add(result(), variable, value, one_of(rng, &ORDERS)),
        7 => Op::Swap(result(), variable, value, one_of(rng, &ORDERS)),
        8 => Op::Exchange(result(), variable, rng.below(2) as u64, value),
        9 | 10 if can_nest && known > 0 => {
            let of = rng.below(known);
            let then = (0..1 + rng.below(2)).map(|_| op(rng, variables, results, false)).collect();
            let other = (0..rng.below(2)).map(|_| op(rng, variables, results, false)).collect();
            Op::If(of, then, other)
        }
        9 => Op::Load(result(), variable, one_of(rng, &load)),
        _ => Op::Fence(one_of(rng, &["acquire", "release", "acq_rel", "seq_cst"])),
    }
}

impl Random {
    pub fn new(rng: &mut Rng) -> Self {
        // Three threads are shorter.
        let count = if rng.once_in(4) { 3 } else { 2 };
        // With fewer variables, threads meet more often.
        let variables = if rng.once_in(4) { VARIABLES.len() } else { 2 };
        let (mut threads, mut results) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let length = match count {
                2 => 2 + rng.below(3),
                _ => 1 + rng.below(2),
            };
            let mut counted = 0;
            threads.push((0..length).map(|_| op(rng, variables, &mut counted, true)).collect());
            results.push(counted);
        }
        Self { threads, results }
    }

    /// All variables: those that are shared, and one for each result.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = VARIABLES.iter().map(|&name| name.to_owned()).collect();
        for (thread, results) in self.results.iter().enumerate() {
            names.extend((0..*results).map(|i| format!("o{thread}{i}")));
        }
        names
    }
}
