//! Compares engines with the reference on many random programs.
//!
//! ```text
//! cargo run --release -p weir --example reference -- --seed 1 --count 1000000 --threads 2
//! ```
//!
//! `--seed` says where the programs begin, `--from` which of them is the first, and `--count`
//! how many there are. Every disagreement is printed with its number and a small program, and
//! at the end what was compared. The exit status is 1 if there was a disagreement.

#[path = "../tests/reference/compare.rs"]
mod compare;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use compare::{Counts, case};

/// The number behind an option.
fn option(name: &str, default: u64) -> u64 {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    match words.next().map(|w| w.parse()) {
        Some(Ok(number)) => number,
        Some(Err(_)) => {
            eprintln!("error: {name} wants a number");
            std::process::exit(2)
        }
        None => default,
    }
}

fn main() -> ExitCode {
    let (seed, from) = (option("--seed", 1), option("--from", 0));
    let (count, threads) = (option("--count", 10_000), option("--threads", 1));
    // Panics are disagreements, and are reported as such.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let next = AtomicU64::new(from);
    let total = Mutex::new((Counts::default(), 0u64));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= from + count {
                        return;
                    }
                    let found = case(seed, number);
                    let mut total = total.lock().expect("no thread panics with the counts");
                    match found {
                        Ok(counts) => total.0.add(counts),
                        Err(found) => {
                            total.1 += 1;
                            let (what, text) = (found.what, found.text);
                            println!("seed {seed}, case {number}: {what}\n{text}");
                        }
                    }
                    let done = number + 1 - from;
                    if done.is_multiple_of(10_000) {
                        let seconds = began.elapsed().as_secs();
                        eprintln!("{done} after {seconds} s: {:?}", total.0);
                    }
                }
            });
        }
    });
    let (counts, wrong) = total.into_inner().expect("no thread panics with the counts");
    println!("seed {seed}, cases {from} to {}: {counts:?}, {wrong} wrong", from + count);
    ExitCode::from(u8::from(wrong > 0))
}
