//! Random programs with all memory orders, printed as C, as C++, as Rust and as Weir, have the same final states. Compiled and
//! executed, they show no final state that TSO and C11 do not allow.
//!
//! For models of processors the text in Weir is written by the table of orders; for C11 it has the orders.
//!
//! ```sh
//! WEIR_CASES=2000 WEIR_SEED=1 cargo test -p weir --test all sources_agree::c_cpp -- --nocapture
//! WEIR_CASES=5000 WEIR_ROUNDS=10000 cargo test -p weir --test all sources_agree::what_a -- --nocapture
//! ```

mod native;
mod print;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use weir::{MemoryModel, Settings, Verifier};
use weir_gen::Rng;
use weir_gen::tools::{are_installed, setting};

use random::Random;

/// How many programs are compiled together: starting a compiler takes longer than what it does.
const TOGETHER: usize = 6;

const MODELS: [MemoryModel; 5] =
    [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW, MemoryModel::C11];

/// The final states of a program of a text: the values of its variables that are not 0.
fn outcomes(name: &str, text: &str, number: usize, model: MemoryModel) -> BTreeSet<String> {
    let entry = (!name.ends_with(".weir")).then(|| format!("program{number}"));
    let settings = Settings { entry, compile: Some(weir::compile), ..Settings::default() };
    let found = Verifier::new(text).name(name).settings(settings).model(model).outcomes();
    let found = found.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = weir::question::Listed::of(&found).unwrap();
    assert!(found.is_complete(), "program {number} of {name} under {model}:\n{text}");
    let prefix = format!("p{number}_");
    let show = |state: BTreeMap<String, String>| {
        let values = state.iter().filter_map(|(name, value)| {
            let name = name.to_lowercase();
            let name = name.strip_prefix(&prefix)?.to_owned();
            (value != "0").then(|| format!("{name}={value}"))
        });
        let shown: BTreeSet<String> = values.collect();
        shown.into_iter().collect::<Vec<_>>().join(" ")
    };
    found.states().map(show).collect()
}

#[test]
fn c_cpp_rust_and_weir_have_the_same_final_states() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let (seed, cases) = (setting("WEIR_SEED", 20), setting("WEIR_CASES", 12));
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let (mut compared, mut weak, start) = (0, 0, Instant::now());
    while compared < cases as usize {
        let count = TOGETHER.min(cases as usize - compared);
        let programs: Vec<Random> = (0..count).map(|_| Random::new(&mut rng)).collect();
        let texts = [
            ("random.c", print::c(&programs)),
            ("random.cpp", print::cpp(&programs)),
            ("random.rs", print::rust(&programs)),
        ];
        for (number, program) in programs.iter().enumerate() {
            let mut strong = BTreeSet::new();
            for model in MODELS {
                let is_c11 = model == MemoryModel::C11;
                let by_hand = print::weir(program, number, is_c11);
                let expected = outcomes("random.weir", &by_hand, number, model);
                for (name, text) in &texts {
                    let compiled = outcomes(name, text, number, model);
                    let case = compared + number;
                    assert_eq!(expected, compiled, "case {case} under {model}, {name}\n{by_hand}");
                }
                if model == MemoryModel::SC {
                    strong = expected;
                } else {
                    assert!(strong.is_subset(&expected), "SC and {model}\n{by_hand}");
                    weak += usize::from(is_c11 && strong != expected);
                }
            }
        }
        compared += count;
        if cases > 100 {
            println!("{compared} programs, {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    println!("{compared} programs, {weak} of them with final states of C11 that SC does not have");
}

#[test]
fn what_a_processor_shows_is_allowed_under_tso_and_c11() {
    if !cfg!(target_arch = "x86_64") || !are_installed(&["gcc", "clang-19"]) {
        return;
    }
    let (seed, cases) = (setting("WEIR_SEED", 21), setting("WEIR_CASES", 60).div_ceil(10));
    let rounds = setting("WEIR_ROUNDS", 2_000);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let folder = std::env::temp_dir().join(format!("weir-sources-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (mut seen, mut weak, mut done) = (0, 0, 0);
    while done < cases as usize {
        let count = TOGETHER.min(cases as usize - done);
        let programs: Vec<Random> = (0..count).map(|_| Random::new(&mut rng)).collect();
        let text = print::c(&programs);
        // What is not optimized does what the source says, access by access.
        let plain = native::run(&folder, &programs, rounds, "-O0");
        // An optimizer may use what the language allows.
        let optimized = native::run(&folder, &programs, rounds, "-O2");
        for (number, program) in programs.iter().enumerate() {
            let of = |model| outcomes("random.c", &text, number, model);
            let (sc, tso, c11) = (of(MemoryModel::SC), of(MemoryModel::TSO), of(MemoryModel::C11));
            let by_hand = print::weir(program, number, true);
            // x86 implements the language.
            assert!(tso.is_subset(&c11), "TSO and C11\n{by_hand}");
            for state in &plain[number] {
                assert!(tso.contains(state), "`{state}` of\n{by_hand}");
                weak += usize::from(!sc.contains(state));
            }
            for state in &optimized[number] {
                assert!(c11.contains(state), "`{state}`, optimized, of\n{by_hand}");
            }
            seen += plain[number].len();
        }
        done += count;
    }
    println!("{done} programs, {seen} final states seen, {weak} of them not under SC");
    let _ = fs::remove_dir_all(&folder);
}
