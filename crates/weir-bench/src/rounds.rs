//! Locks and objects under C11 whose processes do something a number of times. Other tools for this memory model enumerate the
//! executions of such programs, so these rows can be compared with theirs. And the examples in C and Rust.

use std::num::NonZeroUsize;
use std::path::Path;

use weir::{ENGINES, Limits, MemoryModel};
use weir_cli::output::print;
use weir_cli::progress::Progress;

use crate::cli::Bench;
use crate::rows::{Row, number, table};
use crate::run::{Job, Scratch, Weir, mebibytes, timeout};

/// A program, and for how many rounds it is run.
struct Rounds {
    name: &'static str,
    processes: usize,
    text: &'static str,
    rounds: &'static [u32],
}

macro_rules! rounds {
    ($name:literal, $processes:literal, $file:literal, $rounds:expr) => {
        Rounds {
            name: $name,
            processes: $processes,
            text: include_str!(concat!("rounds/", $file, ".weir")),
            rounds: &$rounds,
        }
    };
}

const PROGRAMS: [Rounds; 8] = [
    rounds!("store and load", 2, "exchange", [2, 4]),
    rounds!("Peterson", 2, "peterson", [3, 5]),
    rounds!("Dekker", 2, "dekker", [3, 5]),
    rounds!("Szymanski", 2, "szymanski", [3, 5]),
    rounds!("MCS", 3, "mcs", [1, 2]),
    rounds!("Treiber's stack", 2, "treiber", [2, 3]),
    rounds!("queue of Michael and Scott", 2, "ms-queue", [2, 3]),
    rounds!("deque of Chase and Lev", 2, "chase-lev", [3, 5]),
];

/// The line of a program that says for how many rounds it is.
const ROUNDS: &str = "const K = ";

impl Rounds {
    /// The program for a number of rounds.
    fn with(&self, rounds: u32) -> String {
        let line = |line: &str| match line.starts_with(ROUNDS) {
            true => format!("{ROUNDS}{rounds}\n"),
            false => format!("{line}\n"),
        };
        self.text.lines().map(line).collect()
    }
}

/// What is run, and how many processes and rounds it has.
struct Asked {
    job: Job,
    size: [String; 2],
}

/// The programs with rounds, and the examples beside the corpus.
fn asked(scratch: &Scratch, corpus: &Path) -> Result<Vec<Asked>, String> {
    let job = |name: &str, file| Job {
        name: name.to_owned(),
        file,
        model: MemoryModel::C11,
        engine: ENGINES[0],
        bound: None,
    };
    let mut all = Vec::new();
    for program in &PROGRAMS {
        for rounds in program.rounds {
            let name = format!("{}-{rounds}.weir", program.name.replace([' ', '\''], "-"));
            let file = scratch.write(&name, &program.with(*rounds))?;
            let size = [program.processes.to_string(), rounds.to_string()];
            all.push(Asked { job: job(program.name, file), size });
        }
    }
    for language in ["c", "rust"] {
        let Ok(folder) = corpus.join("../examples").join(language).read_dir() else { continue };
        let mut files: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".c") || name.ends_with(".rs") {
                all.push(Asked { job: job(&name, file), size: [String::new(), String::new()] });
            }
        }
    }
    Ok(all)
}

/// The rows of the table.
fn measure(args: &Bench) -> Result<(Vec<[String; 6]>, Limits), String> {
    let memory = (args.measuring.memory as usize) << 20;
    let limits = Limits::none().time(args.measuring.timeout).memory(memory);
    let limits = limits.threads(NonZeroUsize::MIN);
    let (weir, scratch) = (Weir::this()?, Scratch::new("rounds")?);
    let mut progress = Progress::default();
    let mut rows = Vec::new();
    for Asked { job, size: [processes, rounds] } in asked(&scratch, &args.selection.corpus)? {
        progress.say(&format!("rounds: {} {rounds}", job.name));
        // Without the compiler an example is not there.
        let Ok(run) = job.median(&weir, &limits, args.measuring.runs) else { continue };
        let run = Row::new(&job, run).run;
        let mut verdicts = run.verdicts.clone();
        verdicts.sort();
        verdicts.dedup();
        rows.push([
            job.name,
            processes,
            rounds,
            verdicts.join(", "),
            number(run.configurations),
            format!("{:.3}", run.seconds),
        ]);
    }
    progress.say("");
    Ok((rows, limits))
}

/// The section of the page.
pub fn section(args: &Bench) -> Result<String, String> {
    let (rows, limits) = measure(args)?;
    let (sized, examples): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| !row[1].is_empty());
    let mut out = format!(
        "## Rounds under C11\n\n\
         Locks and objects under C11 whose processes do the same `K` times, with one thread and at most {} s and {} MiB.\n\
         Seconds are of all searches that were tried.\n\n",
        timeout(&limits).as_secs_f64(),
        mebibytes(&limits),
    );
    let cells = |rows: &[[String; 6]]| rows.iter().map(|r| r.to_vec()).collect::<Vec<_>>();
    let head = ["program", "processes", "K", "verdicts", "configurations", "seconds"];
    out += &table(&head, 1, &cells(&sized));
    if let Some(slowest) = examples.iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b))) {
        let total: f64 = examples.iter().map(seconds).sum();
        out += &format!(
            "\nThe {} examples in C and Rust take {total:.2} s together. The slowest is `{}` with {} s.\n",
            examples.len(),
            slowest[0],
            slowest[5],
        );
    }
    out.push('\n');
    Ok(out)
}

fn seconds(row: &[String; 6]) -> f64 {
    row[5].parse().unwrap_or_default()
}

/// Prints the section.
pub fn run(args: &Bench) -> Result<(), String> {
    print(&section(args)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_for_every_number_of_rounds() {
        for program in &PROGRAMS {
            for rounds in program.rounds {
                let text = program.with(*rounds);
                assert!(text.contains(&format!("{ROUNDS}{rounds}\n")), "{text}");
                let (read, _) = weir_front::read("p.weir", &text, None).unwrap_or_else(|errors| {
                    panic!("{errors:?}\n{text}");
                });
                assert_eq!(read.processes.len(), program.processes, "{text}");
            }
        }
    }
}
