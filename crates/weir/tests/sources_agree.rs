//! Random programs of two threads and three variables with all memory orders, printed as C, as C++, as
//! Rust and as Weir, have the same final states. Compiled and executed, they show no final state
//! that TSO does not allow.
//!
//! For models of processors the text in Weir is written by the table of orders; for C11 it has the orders.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use weir::{MemoryModel, Verifier};
use weir_gen::Rng;
use weir_gen::tools::{are_installed, setting};

const VARIABLES: [&str; 3] = ["x", "y", "z"];
const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// What a thread does.
#[derive(Clone, Debug)]
enum Op {
    Load(usize, &'static str),
    Store(usize, u64, &'static str),
    Add(usize, u64, &'static str),
    Swap(usize, u64, &'static str),
    Exchange(usize, u64, u64),
    Fence(&'static str),
}

struct Random {
    threads: Vec<Vec<Op>>,
}

/// One of the words.
fn one_of(rng: &mut Rng, words: &[&'static str]) -> &'static str {
    words[rng.below(words.len())]
}

impl Random {
    fn new(rng: &mut Rng) -> Self {
        let op = |rng: &mut Rng| {
            let (variable, value) = (rng.below(3), 1 + rng.below(2) as u64);
            match rng.below(10) {
                0..4 => Op::Load(variable, one_of(rng, &["relaxed", "acquire", "seq_cst"])),
                4..7 => Op::Store(variable, value, one_of(rng, &["relaxed", "release", "seq_cst"])),
                7 if rng.once_in(2) => Op::Add(variable, value, one_of(rng, &ORDERS)),
                7 => Op::Swap(variable, value, one_of(rng, &ORDERS)),
                8 => Op::Exchange(variable, rng.below(2) as u64, value),
                _ => Op::Fence(one_of(rng, &["acquire", "release", "acq_rel", "seq_cst"])),
            }
        };
        let threads = (0..2).map(|_| (0..2 + rng.below(3)).map(|_| op(rng)).collect()).collect();
        Self { threads }
    }

    /// The results of a thread: its operations that read.
    fn results(&self, thread: usize) -> Vec<usize> {
        let reads = |op: &Op| !matches!(op, Op::Store(..) | Op::Fence(_));
        let ops = self.threads[thread].iter().enumerate();
        ops.filter(|(_, op)| reads(op)).map(|(i, _)| i).collect()
    }

    fn weir(&self) -> String {
        let mut out = String::from("var x, y, z\n");
        for (t, ops) in self.threads.iter().enumerate() {
            for i in self.results(t) {
                let _ = writeln!(out, "var o{t}{i}");
            }
            let _ = writeln!(out, "process t{t} {{");
            for i in self.results(t) {
                let _ = writeln!(out, "  reg r{i}");
            }
            for (i, op) in ops.iter().enumerate() {
                match op {
                    Op::Load(v, order) => {
                        let _ = writeln!(out, "  r{i} = {}", VARIABLES[*v]);
                        if *order != "relaxed" {
                            out += "  rfence\n";
                        }
                    }
                    Op::Store(v, value, order) => {
                        if *order != "relaxed" {
                            out += "  wfence\n";
                        }
                        let _ = writeln!(out, "  {} = {value}", VARIABLES[*v]);
                        if *order == "seq_cst" {
                            out += "  fence\n";
                        }
                    }
                    Op::Add(v, value, _) => {
                        let _ = writeln!(out, "  r{i} = fetch_add({}, {value})", VARIABLES[*v]);
                    }
                    Op::Swap(v, value, _) => {
                        let _ = writeln!(out, "  r{i} = swap({}, {value})", VARIABLES[*v]);
                    }
                    Op::Exchange(v, old, new) => {
                        let name = VARIABLES[*v];
                        let _ = writeln!(out, "  r{i} = cmpxchg({name}, {old}, {new})");
                    }
                    Op::Fence(order) => {
                        out += match *order {
                            "acquire" => "  rfence\n",
                            "release" => "  wfence\n",
                            "acq_rel" => "  rfence\n  wfence\n",
                            _ => "  fence\n",
                        };
                    }
                }
            }
            for i in self.results(t) {
                let _ = writeln!(out, "  o{t}{i} = r{i}");
            }
            out += "}\n";
        }
        out
    }

    /// The same with memory orders, for C11.
    fn weir_ordered(&self) -> String {
        let mut out = String::from("var x, y, z\n");
        for (t, ops) in self.threads.iter().enumerate() {
            for i in self.results(t) {
                let _ = writeln!(out, "var o{t}{i}");
            }
            let _ = writeln!(out, "process t{t} {{");
            for i in self.results(t) {
                let _ = writeln!(out, "  reg r{i}");
            }
            for (i, op) in ops.iter().enumerate() {
                let _ = match op {
                    Op::Load(v, o) => writeln!(out, "  r{i} = {}.load({o})", VARIABLES[*v]),
                    Op::Store(v, n, o) => writeln!(out, "  {}.store({n}, {o})", VARIABLES[*v]),
                    Op::Add(v, n, o) => {
                        writeln!(out, "  r{i} = fetch_add({}, {n}, {o})", VARIABLES[*v])
                    }
                    Op::Swap(v, n, o) => {
                        writeln!(out, "  r{i} = swap({}, {n}, {o})", VARIABLES[*v])
                    }
                    Op::Exchange(v, old, new) => writeln!(
                        out,
                        "  r{i} = cmpxchg({}, {old}, {new}, seq_cst, seq_cst)",
                        VARIABLES[*v]
                    ),
                    Op::Fence(o) => writeln!(out, "  fence({o})"),
                };
            }
            for i in self.results(t) {
                let _ = writeln!(out, "  o{t}{i}.store(r{i}, plain)");
            }
            out += "}\n";
        }
        out
    }

    /// The threads in C++.
    fn cpp(&self) -> String {
        let mut out =
            String::from("#include <atomic>\n#include <thread>\nstd::atomic<int> x, y, z;\n");
        for (t, ops) in self.threads.iter().enumerate() {
            for i in self.results(t) {
                let _ = writeln!(out, "int o{t}{i};");
            }
            let _ = writeln!(out, "static void t{t}() {{");
            for (i, op) in ops.iter().enumerate() {
                let order = |o: &str| format!("std::memory_order_{o}");
                let _ = match op {
                    Op::Load(v, o) => {
                        writeln!(out, "  int r{i} = {}.load({});", VARIABLES[*v], order(o))
                    }
                    Op::Store(v, n, o) => {
                        writeln!(out, "  {}.store({n}, {});", VARIABLES[*v], order(o))
                    }
                    Op::Add(v, n, o) => {
                        writeln!(
                            out,
                            "  int r{i} = {}.fetch_add({n}, {});",
                            VARIABLES[*v],
                            order(o)
                        )
                    }
                    Op::Swap(v, n, o) => {
                        writeln!(out, "  int r{i} = {}.exchange({n}, {});", VARIABLES[*v], order(o))
                    }
                    Op::Exchange(v, old, new) => writeln!(
                        out,
                        "  int r{i} = {old};\n  {}.compare_exchange_strong(r{i}, {new});",
                        VARIABLES[*v]
                    ),
                    Op::Fence(o) => writeln!(out, "  std::atomic_thread_fence({});", order(o)),
                };
            }
            for i in self.results(t) {
                let _ = writeln!(out, "  o{t}{i} = r{i};");
            }
            out += "}\n";
        }
        out + "int main() {\n  std::thread a(t0), b(t1);\n  a.join();\n  b.join();\n}\n"
    }

    /// The threads in C.
    fn c_threads(&self) -> String {
        let mut out = String::from(
            "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
             atomic_int x, y, z;\n",
        );
        for (t, ops) in self.threads.iter().enumerate() {
            for i in self.results(t) {
                let _ = writeln!(out, "int o{t}{i};");
            }
            let _ = writeln!(out, "void *t{t}(void *unused) {{");
            for (i, op) in ops.iter().enumerate() {
                let _ = match op {
                    Op::Load(v, order) => writeln!(
                        out,
                        "  int r{i} = atomic_load_explicit(&{}, memory_order_{order});",
                        VARIABLES[*v]
                    ),
                    Op::Store(v, value, order) => writeln!(
                        out,
                        "  atomic_store_explicit(&{}, {value}, memory_order_{order});",
                        VARIABLES[*v]
                    ),
                    Op::Add(v, value, order) => writeln!(
                        out,
                        "  int r{i} = atomic_fetch_add_explicit(&{}, {value}, memory_order_{order});",
                        VARIABLES[*v]
                    ),
                    Op::Swap(v, value, order) => writeln!(
                        out,
                        "  int r{i} = atomic_exchange_explicit(&{}, {value}, memory_order_{order});",
                        VARIABLES[*v]
                    ),
                    Op::Exchange(v, old, new) => writeln!(
                        out,
                        "  int r{i} = {old};\n  atomic_compare_exchange_strong(&{}, &r{i}, {new});",
                        VARIABLES[*v]
                    ),
                    Op::Fence(order) => {
                        writeln!(out, "  atomic_thread_fence(memory_order_{order});")
                    }
                };
            }
            for i in self.results(t) {
                let _ = writeln!(out, "  o{t}{i} = r{i};");
            }
            out += "  return NULL;\n}\n";
        }
        out
    }

    fn c(&self) -> String {
        self.c_threads()
            + "int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, NULL, t0, NULL);\n  \
               pthread_create(&b, NULL, t1, NULL);\n  pthread_join(a, NULL);\n  \
               pthread_join(b, NULL);\n}\n"
    }

    /// A program that executes the threads again and again, and prints each final state.
    fn c_runs(&self, rounds: u64) -> String {
        let names = self.names();
        let mut out = self.c_threads();
        out += "atomic_int go;\n";
        for t in 0..2 {
            let _ = writeln!(
                out,
                "void *wait{t}(void *u) {{ atomic_fetch_add(&go, 1); for (int n = 0; atomic_load(&go) < 2; \
                 n++) if (n > 1000) sched_yield(); return t{t}(u); }}"
            );
        }
        let _ = writeln!(out, "int main(void) {{ for (int n = 0; n < {rounds}; n++) {{");
        for name in names.iter().map(String::as_str).chain(["go"]) {
            let _ = writeln!(out, "  {name} = 0;");
        }
        out += "  pthread_t a, b;\n  pthread_create(&a, NULL, wait0, NULL);\n  \
                pthread_create(&b, NULL, wait1, NULL);\n  pthread_join(a, NULL);\n  \
                pthread_join(b, NULL);\n  printf(\"";
        out += &names.iter().map(|name| format!("{name}=%d ")).collect::<String>();
        let _ = writeln!(out, "\\n\", {});\n}} }}", names.join(", "));
        out
    }

    /// The variables in the order in which runs print them.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = VARIABLES.iter().map(|&name| name.to_owned()).collect();
        for t in 0..2 {
            names.extend(self.results(t).into_iter().map(|i| format!("o{t}{i}")));
        }
        names
    }

    fn rust(&self) -> String {
        let order = |order: &str| match order {
            "relaxed" => "Relaxed",
            "acquire" => "Acquire",
            "release" => "Release",
            "acq_rel" => "AcqRel",
            _ => "SeqCst",
        };
        let mut out = String::from(
            "use std::sync::atomic::{AtomicI32, Ordering, fence};\nuse std::thread;\n",
        );
        for name in self.names() {
            let _ = writeln!(out, "static {}: AtomicI32 = AtomicI32::new(0);", name.to_uppercase());
        }
        out += "fn main() {\n";
        for (t, ops) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "    let h{t} = thread::spawn(|| {{");
            for (i, op) in ops.iter().enumerate() {
                let name = |v: &usize| VARIABLES[*v].to_uppercase();
                let _ = match op {
                    Op::Load(v, o) => {
                        writeln!(out, "let r{i} = {}.load(Ordering::{});", name(v), order(o))
                    }
                    Op::Store(v, value, o) => {
                        writeln!(out, "{}.store({value}, Ordering::{});", name(v), order(o))
                    }
                    Op::Add(v, value, o) => writeln!(
                        out,
                        "let r{i} = {}.fetch_add({value}, Ordering::{});",
                        name(v),
                        order(o)
                    ),
                    Op::Swap(v, value, o) => {
                        writeln!(
                            out,
                            "let r{i} = {}.swap({value}, Ordering::{});",
                            name(v),
                            order(o)
                        )
                    }
                    Op::Exchange(v, old, new) => writeln!(
                        out,
                        "let r{i} = match {}.compare_exchange({old}, {new}, Ordering::SeqCst, \
                         Ordering::SeqCst) {{ Ok(v) => v, Err(v) => v }};",
                        name(v)
                    ),
                    Op::Fence(o) => writeln!(out, "fence(Ordering::{});", order(o)),
                };
            }
            for i in self.results(t) {
                let _ = writeln!(out, "O{t}{i}.store(r{i}, Ordering::Relaxed);");
            }
            out += "    });\n";
        }
        out + "    h0.join().unwrap();\n    h1.join().unwrap();\n}\n"
    }
}

/// The final states: the values of all variables that are not 0.
fn outcomes(name: &str, text: &str, model: MemoryModel) -> BTreeSet<String> {
    let found = Verifier::new(text).name(name).model(model).outcomes();
    let found = found.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = weir::question::Listed::of(&found).unwrap();
    assert!(found.is_complete(), "{name}: {text}");
    let show = |state: std::collections::BTreeMap<String, String>| {
        let values = state.iter().filter(|(name, value)| *value != "0" && !name.contains('.'));
        let shown: BTreeSet<String> =
            values.map(|(name, value)| format!("{}={value}", name.to_lowercase())).collect();
        shown.into_iter().collect::<Vec<_>>().join(" ")
    };
    found.states().map(show).collect()
}

const MODELS: [MemoryModel; 5] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW, MemoryModel::C11];

#[test]
fn c_cpp_rust_and_weir_have_the_same_final_states() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let (seed, cases) = (setting("WEIR_SEED", 20), setting("WEIR_CASES", 12));
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for case in 0..cases {
        let random = Random::new(&mut rng);
        for model in MODELS {
            let by_hand = match model {
                MemoryModel::C11 => random.weir_ordered(),
                _ => random.weir(),
            };
            let by_hand = outcomes("random.weir", &by_hand, model);
            for (name, text) in [
                ("random.c", random.c()),
                ("random.cpp", random.cpp()),
                ("random.rs", random.rust()),
            ] {
                let compiled = outcomes(name, &text, model);
                assert_eq!(by_hand, compiled, "case {case} under {model}, {name}\n{text}");
            }
        }
    }
}

#[test]
fn what_a_processor_shows_is_allowed_under_tso() {
    if !cfg!(target_arch = "x86_64") || !are_installed(&["gcc"]) {
        return;
    }
    let (seed, cases) = (setting("WEIR_SEED", 21), setting("WEIR_CASES", 60).div_ceil(10));
    let rounds = setting("WEIR_ROUNDS", 2_000);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let folder = std::env::temp_dir().join(format!("weir-sources-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (mut seen, mut weak) = (0, 0);
    for case in 0..cases {
        let random = Random::new(&mut rng);
        let allowed = outcomes("random.c", &random.c(), MemoryModel::TSO);
        let strong = outcomes("random.c", &random.c(), MemoryModel::SC);
        let (file, program) = (folder.join("random.c"), folder.join("random"));
        fs::write(&file, random.c_runs(rounds)).unwrap();
        let made = Command::new("gcc")
            .arg("-O0")
            .arg("-pthread")
            .arg("-o")
            .arg(&program)
            .arg(&file)
            .output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let run = Command::new(&program).output().unwrap();
        let shown: BTreeSet<String> = String::from_utf8_lossy(&run.stdout)
            .lines()
            .map(|line| {
                let values = line.split_whitespace().filter(|value| !value.ends_with("=0"));
                let values: BTreeSet<&str> = values.collect();
                values.into_iter().collect::<Vec<_>>().join(" ")
            })
            .collect();
        for state in &shown {
            assert!(allowed.contains(state), "case {case}: `{state}` of\n{}", random.c());
            weak += usize::from(!strong.contains(state));
        }
        seen += shown.len();
    }
    println!("{seen} final states seen, {weak} of them not under SC");
    let _ = fs::remove_dir_all(&folder);
}
