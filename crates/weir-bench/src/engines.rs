//! Compares the engines, for the page.

use weir::{ENGINES, Engine, Limits, MemoryModel};

use crate::run::{Job, Measured, Weir, mebibytes, timeout};
use weir_cli::progress::{Progress, grouped};

/// Programs of the corpus that every engine can do something with.
const PROGRAMS: [&str; 10] = [
    "burns-2",
    "burns-2-fenced",
    "dekker-2",
    "dekker-2-fenced",
    "dekker-once-2",
    "dekker-once-2-fenced",
    "peterson-2",
    "peterson-2-fenced",
    "szymanski-2",
    "szymanski-2-fenced",
];

/// A program under TSO, by every engine that decides it.
pub struct Line {
    program: String,
    runs: Vec<Option<Measured>>,
}

/// The engines, each a column.
fn engines() -> impl Iterator<Item = &'static dyn Engine> {
    ENGINES.into_iter().skip(1).filter(|e| e.decides(MemoryModel::TSO))
}

/// Runs the programs that are among the jobs.
pub fn measure(
    jobs: &[Job],
    weir: &Weir,
    limits: &Limits,
    runs: u32,
    progress: &mut Progress,
) -> Vec<Line> {
    let wanted = |j: &&Job| j.model == MemoryModel::TSO && PROGRAMS.contains(&j.name.as_str());
    let mut lines: Vec<Line> = Vec::new();
    for job in jobs.iter().filter(wanted) {
        if lines.iter().any(|l| l.program == job.name) {
            continue;
        }
        progress.say(&format!("engines: {}", job.name));
        let run = |engine| Job { engine, ..job.clone() }.median(weir, limits, runs).ok();
        lines.push(Line { program: job.name.clone(), runs: engines().map(run).collect() });
    }
    lines
}

/// The section of the page.
pub fn section(lines: &[Line], limits: &Limits) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "## Engines\n\n\
         Locks of two processes under TSO by every engine, with {} s and {} MiB: the verdict, and for\n\
         each engine what it stored (configurations, minimal states, or sets of buffer contents) and\n\
         seconds. *Unknown* marks an engine with another verdict: `explicit` has a bound on buffers.\n\n\
         | program | verdict |",
        timeout(limits).as_secs_f64(),
        mebibytes(limits),
    );
    for engine in engines() {
        out += &format!(" `{}` | |", engine.name());
    }
    out += "\n| --- | --- |";
    out += &" ---: | ---: |".repeat(engines().count());
    out.push('\n');
    for line in lines {
        let known = line.runs.iter().flatten().find(|run| run.is_known());
        let verdicts = known.map(|run| run.verdicts.join(", ")).unwrap_or_default();
        out += &format!("| {} | {verdicts} |", line.program);
        for run in &line.runs {
            out += &match run {
                Some(run) => format!(
                    " {}{} | {:.3} |",
                    if run.is_known() { "" } else { "unknown, " },
                    grouped(run.configurations as usize),
                    run.seconds
                ),
                None => " | |".to_owned(),
            };
        }
        out.push('\n');
    }
    out.push('\n');
    out
}
