//! `docs/benchmarks.md`

use std::process::Command;

use weir::{Limits, MemoryModel};
use weir_engine::Explicit;

use crate::cli::Bench;
use crate::compare::geometric_mean;
use crate::plots::{processes, with_processes};
use crate::rows::{self, Row};
use crate::run::{Job, Scratch, Weir};
use crate::spin::{self, Spin};
use weir_cli::progress::Progress;

/// Programs with fewer configurations take too little time to measure.
const ENOUGH: u64 = 40_000;

/// Programs with fewer configurations have too few with one process more, too; those
/// with more have too many.
const WORTH_GROWING: std::ops::Range<u64> = 2_000..100_000;

/// Runs Spin on what is large enough: programs of the corpus, and those with one
/// process more. Returns what went wrong as well.
pub fn with_spin(
    jobs: &[Job],
    found: &[Row],
    weir: &Weir,
    limits: &Limits,
    runs: u32,
    progress: &mut Progress,
) -> Result<(Vec<Row>, Vec<String>), String> {
    let scratch = Scratch::new("grown")?;
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for job in jobs.iter().filter(|j| j.model == MemoryModel::SC) {
        let mut ask = |job: &Job, row: &Row| {
            progress.say(&format!("spin: {}", job.name));
            match spin::measure(job, limits, runs) {
                Ok(Some(spin)) => all.push(Row { spin: Some(spin), ..row.clone() }),
                Ok(None) => {}
                Err(message) => wrong.push(message),
            }
        };
        let same = |r: &&Row| r.program == job.name && r.model == "SC" && spin::is_comparable(r);
        let Some(row) = found.iter().find(same) else { continue };
        if row.run.configurations >= ENOUGH {
            ask(job, row);
        }
        if !WORTH_GROWING.contains(&row.run.configurations) {
            continue;
        }
        let text = std::fs::read_to_string(&job.file).unwrap_or_default();
        let Some(n) = processes(&text).and_then(|n| n.checked_add(1)) else { continue };
        let larger = job.name.replace(&format!("-{}", n - 1), &format!("-{n}"));
        if larger != job.name && jobs.iter().any(|j| j.name == larger) {
            continue;
        }
        let Some(text) = with_processes(&text, n) else { continue };
        let name = format!("{}, N = {n}", job.name);
        let file = scratch.write(&format!("{}+1.weir", job.name), &text)?;
        let grown = Job { name, file, engine: &Explicit, ..job.clone() };
        // Some are not written for so many.
        let Ok(run) = grown.median(weir, limits, runs) else { continue };
        let row = Row::new(&grown, run);
        if spin::is_comparable(&row) && row.run.configurations >= ENOUGH {
            ask(&grown, &row);
        }
    }
    Ok((all, wrong))
}

/// The mean of how the explicit engine compares with Spin, and over how many.
pub fn spin_mean(rows: &[Row]) -> Option<(f64, usize)> {
    let long = rows.iter().filter(|r| r.spin.as_ref().is_some_and(Spin::is_long));
    let ratios: Vec<f64> = long.filter_map(Row::over_spin).collect();
    Some((geometric_mean(ratios.iter().copied())?, ratios.len()))
}

/// The file beside the page that has every run.
pub const CSV: &str = "benchmarks.csv";

/// The heading of the section whose plot and table show more processes.
pub const MORE_PROCESSES: &str = "## More processes\n\n";

/// The page. `spun` are the rows with Spin, `plots` the files of the plots, `growth` is what
/// follows the first of them, and `sections` what follows the last.
pub fn page(
    args: &Bench,
    rows: &[Row],
    spun: &[Row],
    plots: &[&str],
    growth: &str,
    sections: &str,
) -> String {
    let (timeout, memory, runs) =
        (args.measuring.timeout.as_secs_f64(), args.measuring.memory, args.measuring.runs);
    let unknown = rows.iter().filter(|r| !r.run.is_known()).count();
    let mut out = format!(
        "# Benchmarks\n\n\
         `cargo run --profile ship -p weir-bench -- --docs` made this page: every program of the corpus\n\
         under every named model, one process per run, one at a time, with a limit of {timeout} s and\n\
         {memory} MiB. Of {runs} runs the one with the median time counts; one that takes more than 2 s\n\
         is not repeated. *Configurations* are those that the last engine stored. *Seconds* are for all\n\
         engines that were tried. Times on a shared machine are noisy; configurations are not. Of {}\n\
         runs, {unknown} leave a property unknown.\n\n{}\n",
        rows.len(),
        machine(),
    );
    if plots.contains(&crate::plots::FILES[0]) {
        out += &format!(
            "{MORE_PROCESSES}\
             The fenced forms of some locks under TSO, with the constant `N` of the program\n\
             changed. A hollow mark is a search that was given up.\n\n\
             ![Time by number of processes](plots/{})\n\n{growth}",
            crate::plots::FILES[0],
        );
    }
    if plots.contains(&crate::plots::FILES[1]) {
        out += &format!(
            "## Fuller buffers\n\n\
             Two processes that write `n` times, pass a fence, and look whether the other is\n\
             there, for ever. All writes but the last write 0 or 1, so that a buffer can be\n\
             filled in 2^(n-1) ways. The `explicit` engine has no bound that matters here, and\n\
             both engines prove that the property holds.\n\n\
             ![Time by writes between fences](plots/{})\n\n",
            crate::plots::FILES[1],
        );
    }
    out += sections;
    out += &against_spin(spun);
    out + &by_model(rows)
}

/// The section about the corpus: sums by memory model, and where the runs are.
fn by_model(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for model in MemoryModel::NAMED.map(|(name, _)| name) {
        let of_model: Vec<&Row> = rows.iter().filter(|r| r.model == model).collect();
        let some = |verdict: &str| {
            of_model.iter().filter(|r| r.run.verdicts.iter().any(|v| v == verdict)).count()
        };
        let seconds = of_model.iter().map(|r| r.run.seconds);
        let sum = seconds.clone().sum::<f64>();
        let longest = seconds.fold(0.0, f64::max);
        let counts = [of_model.len(), some("violated"), some("unknown")].map(|n| n.to_string());
        let times = [sum, longest].map(|s| format!("{s:.1}"));
        lines.push([model.to_owned()].into_iter().chain(counts).chain(times).collect());
    }
    let head = ["model", "runs", "with a violation", "with an unknown", "seconds", "longest s"];
    format!(
        "## The corpus\n\n\
         [benchmarks.csv]({CSV}) has one row for each run: verdicts, engine, configurations,\n\
         seconds and peak memory.\n\n{}",
        rows::table(&head, 1, &lines),
    )
}

fn against_spin(spun: &[Row]) -> String {
    let Some((mean, count)) = spin_mean(spun) else { return String::new() };
    let head = ["program", "configurations", "Weir s", "Spin states", "Spin s", "Weir / Spin"];
    let lines: Vec<Vec<String>> = spun
        .iter()
        .filter_map(|row| {
            let spin = row.spin.as_ref()?;
            let ratio = row.over_spin().filter(|_| spin.is_long());
            Some(vec![
                row.program.clone(),
                rows::number(row.run.configurations),
                format!("{:.3}", row.run.seconds),
                rows::number(spin.states),
                format!("{:.2}", spin.seconds),
                ratio.map(|r| format!("{r:.2}")).unwrap_or_default(),
            ])
        })
        .collect();
    format!(
        "## Spin\n\n\
         The `explicit` engine under SC, and [Spin](https://spinroot.com) on the same automata, where\n\
         all properties hold, so that both search everything. `N = …` is a program of the corpus with\n\
         one process more. Each transition is one step of Spin, which runs with its partial-order\n\
         reduction (`spin -a`, `gcc -O2 -DSAFETY`, `pan -m1000000 -w…`, with a hash table of one slot\n\
         for each state). Both have one thread. Spin does not check the `never` properties. Its times\n\
         are those that it prints, without the time to compile.\n\n\
         Geometric mean of Weir's seconds over Spin's: {mean:.2}, over {count} programs.\n\n{}\n",
        rows::table(&head, 1, &lines),
    )
}

/// The machine, the commit and the compiler.
fn machine() -> String {
    let shell = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output().ok();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        text.filter(|t| !t.is_empty()).unwrap_or_else(|| "unknown".to_owned())
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map_or("unknown", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "| | |\n| --- | --- |\n| machine | {cpu}, {cores} cores |\n| system | {} |\n\
         | compiler | {} |\n| commit | {} |\n",
        shell("uname", &["-sr"]),
        shell("rustc", &["--version"]),
        shell("git", &["rev-parse", "--short", "HEAD"]),
    )
}
