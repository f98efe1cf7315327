//! Table 2 of Linden and Wolper 2010: Dekker's and Peterson's locks by buffer automata, beside
//! the numbers of the paper, and what sleep sets and acceleration save.

use std::time::Duration;

use weir::report::table::Table;
use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::automata::Exploration;
use weir_engine::{Automata, Engine, SearchOptions, Task};
use weir_front::escape;
use weir_model::limits::Budget;

use crate::cli::Bench;
use weir_cli::Status;
use weir_cli::output::{fail, paint, print, write_whole};
use weir_cli::progress::grouped;
use weir_cli::terminal::STRONG;

/// A row of the paper's table 2.
struct Row {
    lock: &'static str,
    entry: &'static str,
    text: &'static str,
    stored: usize,
    visited: usize,
    seconds: f64,
    depth: usize,
    errors: usize,
}

/// A row of the paper, and its program.
macro_rules! row {
    ($lock:literal, $entry:literal, $file:literal: $stored:literal, $visited:literal,
     $seconds:literal, $depth:literal, $errors:literal) => {
        Row {
            lock: $lock,
            entry: $entry,
            text: include_str!(concat!("linden_wolper/", $file, ".weir")),
            stored: $stored,
            visited: $visited,
            seconds: $seconds,
            depth: $depth,
            errors: $errors,
        }
    };
}

const TABLE: [Row; 8] = [
    row!("Dekker", "single", "dekker-single": 183, 301, 2.446, 22, 2),
    row!("Dekker", "single + sync", "dekker-single-sync": 111, 161, 1.194, 22, 0),
    row!("Dekker", "repeated", "dekker-repeated": 3236, 6231, 22.881, 785, 36),
    row!("Dekker", "repeated + sync", "dekker-repeated-sync": 343, 631, 3.016, 79, 0),
    row!("Peterson", "single", "peterson-single": 120, 173, 1.969, 15, 2),
    row!("Peterson", "single + sync", "peterson-single-sync": 54, 66, 0.399, 13, 0),
    row!("Peterson", "repeated", "peterson-repeated": 355, 432, 3.097, 50, 10),
    row!("Peterson", "repeated + sync", "peterson-repeated-sync": 65, 92, 0.392, 22, 0),
];

/// A search that does not end is given up with this much memory.
const LITTLE: usize = 4 << 20;

/// What came out for a row.
struct Outcome {
    verdict: Verdict,
    /// With everything, without sleep sets, and without acceleration.
    explored: [Exploration; 3],
}

impl Row {
    fn run(&self, timeout: Duration) -> Result<Outcome, String> {
        let name = format!("{} {}", self.lock, self.entry);
        let loaded = Loaded::from_text(&name, self.text, weir::Language::named("weir"))
            .map_err(|e| e.render(false))?;
        let budget = || Budget::new().with_time(timeout);
        let options = SearchOptions { budget: budget(), ..SearchOptions::default() };
        let all = Automata::default();
        let task = Task::new(&loaded.system, MemoryModel::TSO, &options);
        let (answers, _) = all.check(task, &mut |_| {}).map_err(|e| e.to_string())?;
        let explored = [
            (all, None),
            (Automata { sleep_sets: false, ..all }, None),
            (Automata { acceleration: false, ..all }, Some(LITTLE)),
        ];
        let explored = explored.map(|(engine, memory)| {
            let budget = match memory {
                Some(bytes) => budget().with_store(bytes),
                None => budget(),
            };
            let options = SearchOptions { budget, ..SearchOptions::default() };
            engine.explore(task.within(&options), &mut |_| {})
        });
        Ok(Outcome { verdict: answers[0].verdict, explored })
    }

    /// What the paper found.
    fn verdict(&self) -> Verdict {
        if self.errors > 0 { Verdict::Violated } else { Verdict::Holds }
    }
}

/// States visited: every step leads to one, and one is the first.
fn visited(explored: &Exploration) -> usize {
    explored.stats.steps + 1
}

/// A number of ours with the paper's behind it.
fn beside(ours: impl std::fmt::Display, theirs: impl std::fmt::Display) -> String {
    format!("{ours} ({theirs})")
}

/// Runs all of it. The status is 1 if a verdict is not the paper's.
pub fn run(args: &Bench) -> Status {
    let mut counts = vec![
        ["lock", "entry", "verdict", "stored", "visited", "seconds", "depth", "errors"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut savings = vec![
        ["lock", "entry", "all on", "no sleep sets", "no acceleration"].map(str::to_owned).to_vec(),
    ];
    let mut status = Status::Fine;
    for row in &TABLE {
        let outcome = match row.run(args.measuring.timeout) {
            Ok(outcome) => outcome,
            Err(message) => return fail(&message),
        };
        let [all, no_sleep, no_fold] = &outcome.explored;
        if outcome.verdict != row.verdict() {
            status = Status::Violated;
        }
        counts.push(vec![
            row.lock.to_owned(),
            row.entry.to_owned(),
            outcome.verdict.name().to_owned(),
            beside(grouped(all.stats.stored), grouped(row.stored)),
            beside(grouped(visited(all)), grouped(row.visited)),
            beside(
                format!("{:.3}", all.stats.elapsed.as_secs_f64()),
                format!("{:.3}", row.seconds),
            ),
            beside(grouped(all.stats.depth), grouped(row.depth)),
            beside(all.errors.iter().sum::<usize>(), row.errors),
        ]);
        let saved = |explored: &Exploration| match &explored.stats.stopped {
            None => format!(
                "{} stored, {} visited",
                grouped(explored.stats.stored),
                grouped(visited(explored))
            ),
            Some(_) => "does not end".to_owned(),
        };
        savings.push(vec![
            row.lock.to_owned(),
            row.entry.to_owned(),
            saved(all),
            saved(no_sleep),
            saved(no_fold),
        ]);
    }
    print(&format!(
        "{}\n\n",
        paint(STRONG, "Linden and Wolper 2010, table 2: results (and those of the paper)")
    ));
    print(&human(&counts));
    print(&format!("\n{}\n\n", paint(STRONG, "What sleep sets and acceleration save")));
    print(&human(&savings));
    for (path, text) in [
        (&args.writing.csv, csv as fn(&[Vec<String>]) -> String),
        (&args.writing.markdown, markdown as fn(&[Vec<String>]) -> String),
    ] {
        if let Some(path) = path {
            let both = format!("{}\n{}", text(&counts), text(&savings));
            status = status.and(write_whole(path, &both));
        }
    }
    status
}

fn human(rows: &[Vec<String>]) -> String {
    let mut table = Table::default();
    rows.iter().for_each(|row| table.row(row.clone()));
    table.lines("  ").into_iter().map(|line| format!("  {line}\n")).collect()
}

fn csv(rows: &[Vec<String>]) -> String {
    rows.iter()
        .map(|row| row.iter().map(|cell| escape::csv(cell)).collect::<Vec<_>>().join(",") + "\n")
        .collect()
}

fn markdown(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
    let rule = "| --- ".repeat(rows[0].len()) + "|\n";
    line(&rows[0]) + &rule + &rows[1..].iter().map(line).collect::<String>()
}
