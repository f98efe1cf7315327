//! Locks with more and more processes: what they cost under each memory model, and what a
//! second thread saves.

use std::num::NonZeroUsize;
use std::path::Path;

use weir::{ENGINES, Limits, MemoryModel};
use weir_cli::progress::Progress;

use crate::plots::{self, FAMILIES, MOST_PROCESSES, grown};
use crate::rows::{Row, number, table};
use crate::run::{Job, Measured, Scratch, Weir, mebibytes, timeout};

/// The fewest processes of the table. Some models are run with this number only.
const FEWEST_PROCESSES: u32 = 3;

/// The models of the table, and the most processes under each.
const MODELS: [(MemoryModel, u32); 4] = [
    (MemoryModel::SC, MOST_PROCESSES),
    (MemoryModel::TSO, MOST_PROCESSES),
    (MemoryModel::PSO, FEWEST_PROCESSES),
    (MemoryModel::NSW, FEWEST_PROCESSES),
];

/// A search that takes fewer seconds is not repeated with two threads.
const WORTH_THREADS: f64 = 0.5;

/// User time is known to 0.01 s. Ratios to fewer seconds than this are not shown.
const LEAST_COMPARED: f64 = 0.05;

/// A lock with some number of processes under one model.
pub struct Grown {
    lock: &'static str,
    processes: u32,
    /// Whether the corpus has it with this number of processes.
    pub is_in_corpus: bool,
    pub job: Job,
    pub row: Row,
}

/// The locks of the table, and the folder that their programs are in.
pub struct Growth {
    pub runs: Vec<Grown>,
    _scratch: Scratch,
}

/// Runs the locks, with one thread.
///
/// # Errors
/// If a program cannot be written.
pub fn measure(
    corpus: &Path,
    weir: &Weir,
    limits: &Limits,
    runs: u32,
    progress: &mut Progress,
) -> Result<Growth, String> {
    let scratch = Scratch::new("growth")?;
    let limits = limits.clone().threads(NonZeroUsize::MIN);
    let mut all = Vec::new();
    for (lock, program) in FAMILIES {
        let text = std::fs::read_to_string(corpus.join(format!("{program}.weir")));
        let usual = text.ok().and_then(|text| plots::processes(&text));
        for processes in FEWEST_PROCESSES..=MOST_PROCESSES {
            let Some(file) = grown(corpus, &scratch, program, processes)? else { break };
            for (model, _) in MODELS.into_iter().filter(|(_, most)| processes <= *most) {
                let (name, file) = (format!("{lock}, N = {processes}"), file.clone());
                progress.say(&format!("growth: {name} {model}"));
                let job = Job { name, file, model, engine: ENGINES[0], bound: None };
                // Some are not written for so many.
                let Ok(run) = job.median(weir, &limits, runs) else { continue };
                let (row, is_in_corpus) = (Row::new(&job, run), usual == Some(processes));
                all.push(Grown { lock, processes, is_in_corpus, job, row });
            }
        }
    }
    Ok(Growth { runs: all, _scratch: scratch })
}

/// Seconds of user time of a run that is decided.
fn user(run: &Measured) -> Option<f64> {
    run.process.and_then(|p| p.user).filter(|_| run.is_known())
}

/// The text and the table below the plot.
pub fn section(runs: &[Grown], limits: &Limits) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut worst, mut compared): (Option<(f64, &str)>, usize) = (None, 0);
    for (i, first) in runs.iter().enumerate() {
        let same = |r: &&Grown| (r.lock, r.processes) == (first.lock, first.processes);
        if runs[..i].iter().any(|r| same(&r)) {
            continue;
        }
        let under = |model: MemoryModel| {
            runs.iter().filter(same).find(|r| r.job.model == model).map(|r| &r.row.run)
        };
        let mut cells = vec![first.lock.to_owned(), first.processes.to_string()];
        for (model, _) in MODELS {
            cells.extend(match under(model) {
                None => [String::new(), String::new()],
                Some(run) if !run.is_known() => ["unknown".to_owned(), String::new()],
                Some(run) => [
                    user(run).map(|s| format!("{s:.2}")).unwrap_or_default(),
                    number(run.configurations),
                ],
            });
            if model == MemoryModel::TSO {
                let seconds = |model| under(model).and_then(user);
                let ratio = seconds(MemoryModel::TSO)
                    .zip(seconds(MemoryModel::SC).filter(|s| *s >= LEAST_COMPARED))
                    .map(|(tso, sc)| tso / sc);
                if let Some(ratio) = ratio {
                    compared += 1;
                    if worst.is_none_or(|(known, _)| ratio > known) {
                        worst = Some((ratio, &first.job.name));
                    }
                }
                cells.push(ratio.map(|r| format!("{r:.2}")).unwrap_or_default());
            }
        }
        rows.push(cells);
    }
    if rows.is_empty() {
        return String::new();
    }
    let unknown = runs.iter().filter(|r| !r.row.run.is_known()).count();
    let mut head = vec!["lock".to_owned(), "N".to_owned()];
    for (model, _) in MODELS {
        head.extend([format!("{model} s"), format!("{model} configurations")]);
        head.extend((model == MemoryModel::TSO).then(|| "TSO s / SC s".to_owned()));
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut out = format!(
        "The table has the same locks with `N` processes, by the engine `auto` with one thread.\n\
         Seconds are user time of the whole process, known to 0.01 s. A search is `unknown` if\n\
         it reaches {} s or {} MiB: {unknown} of {}. PSO and NSW were run with \
         {FEWEST_PROCESSES} processes only. The ratio\n\
         of TSO to SC is shown where SC takes {LEAST_COMPARED} s or more.",
        timeout(limits).as_secs_f64(),
        mebibytes(limits),
        runs.len(),
    );
    if let Some((ratio, name)) = worst {
        out += &format!(" The largest of {compared} is {ratio:.2} ({name}).");
    }
    out + "\n\n" + &table(&head, 1, &rows) + "\n"
}

/// A search with one thread and with two.
pub struct Pair {
    name: String,
    model: String,
    runs: [Measured; 2],
}

/// Of each lock and model the search with the most processes that is decided, if it is long.
fn longest(runs: &[Grown]) -> impl Iterator<Item = &Grown> {
    let decided = |r: &&Grown| r.row.run.is_known();
    let larger = |r: &Grown, than: &Grown| {
        (r.lock, r.job.model) == (than.lock, than.job.model) && r.processes > than.processes
    };
    runs.iter()
        .filter(decided)
        .filter(move |r| !runs.iter().filter(decided).any(|other| larger(other, r)))
        .filter(|r| user(&r.row.run).unwrap_or(r.row.run.seconds) > WORTH_THREADS)
}

/// Runs the longest searches with one thread and with two.
///
/// # Errors
/// If the number of threads changes a verdict or the number of configurations.
pub fn with_threads(
    found: &[Grown],
    weir: &Weir,
    limits: &Limits,
    runs: u32,
    progress: &mut Progress,
) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for one in longest(found) {
        let mut measure = |threads: usize| {
            progress.say(&format!("threads: {} {} {threads}", one.job.name, one.job.model));
            let threads = NonZeroUsize::new(threads).expect("at least one");
            one.job.median(weir, &limits.clone().threads(threads), runs)
        };
        let runs = [measure(1)?, measure(2)?];
        let (name, model) = (one.job.name.clone(), one.job.model.to_string());
        pairs.push(Pair { name, model, runs }.checked()?);
    }
    Ok(pairs)
}

impl Pair {
    /// Fails if the two runs do not have the same result.
    fn checked(self) -> Result<Self, String> {
        let result = |run: &Measured| (run.verdicts.clone(), run.configurations);
        let [one, two] = self.runs.each_ref().map(result);
        if one == two {
            return Ok(self);
        }
        let shown = |(verdicts, count): (Vec<String>, u64)| {
            format!("{}, {} configurations", verdicts.join(", "), number(count))
        };
        Err(format!(
            "{} {}: one thread says {}, and two say {}",
            self.name,
            self.model,
            shown(one),
            shown(two)
        ))
    }
}

/// The section about threads.
pub fn threads_section(pairs: &[Pair], load: Option<f64>) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut out = format!(
        "## Threads\n\n\
         For each lock and model of the table above: the largest `N` that is decided, if that\n\
         takes more than {WORTH_THREADS} s. Seconds are wall time of the whole process. Verdicts \
         and\n\
         configurations are equal with one thread and with two in each of the {} searches;\n\
         `weir-bench` fails if they are not. Only the `explicit` engine has several threads.\n\
         The machine has {cores} cores.",
        pairs.len(),
    );
    if let Some(load) = load {
        out += &format!(" Its load average before these runs was {load:.2}.");
        if load > cores as f64 {
            out += "\nThat is more than the cores: the threads had to wait for other processes, and the times\n\
                    do not show what a second thread saves on an idle machine.";
        }
    }
    let rows = pairs.iter().map(|pair| {
        let [one, two] = pair.runs.each_ref();
        let wall = |run: &Measured| run.process.map(|p| p.wall);
        let seconds = |run| wall(run).map(|s| format!("{s:.2}")).unwrap_or_default();
        let ratio = wall(two).zip(wall(one)).map(|(two, one)| format!("{:.2}", two / one));
        vec![
            pair.name.clone(),
            pair.model.clone(),
            one.answered.clone(),
            number(one.configurations),
            seconds(one),
            seconds(two),
            ratio.unwrap_or_default(),
        ]
    });
    let head = ["lock", "model", "engine", "configurations", "1 thread s", "2 threads s", "2 / 1"];
    out + "\n\n" + &table(&head, 3, &rows.collect::<Vec<_>>()) + "\n"
}

/// The load average of the last minute, where the system tells it.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::tests::row;
    use crate::run::Seconds;

    fn run(processes: u32, model: MemoryModel, verdict: &str, user: f64) -> Grown {
        let name = format!("ticket, N = {processes}");
        let mut row = row(&name, verdict, 1000 * u64::from(processes), 0);
        row.run.process = Some(Seconds { wall: 2.0 * user, user: Some(user) });
        let file = "ticket.weir".into();
        let job = Job { name, file, model, engine: ENGINES[0], bound: None };
        Grown { lock: "ticket", processes, is_in_corpus: false, job, row }
    }

    fn runs() -> Vec<Grown> {
        vec![
            run(3, MemoryModel::SC, "holds", 0.01),
            run(3, MemoryModel::TSO, "holds", 0.2),
            run(3, MemoryModel::PSO, "holds", 0.3),
            run(3, MemoryModel::NSW, "unknown", 20.0),
            run(4, MemoryModel::SC, "holds", 2.0),
            run(4, MemoryModel::TSO, "holds", 3.0),
            run(5, MemoryModel::SC, "holds", 8.0),
            run(5, MemoryModel::TSO, "unknown", 20.0),
        ]
    }

    #[test]
    fn locks_have_one_row_for_each_number_of_processes() {
        let text = section(&runs(), &Limits::none());
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("| ticket")).collect();
        assert_eq!(
            rows,
            [
                "| ticket | 3 | 0.01 | 3,000 | 0.20 | 3,000 |  | 0.30 | 3,000 | unknown |  |",
                "| ticket | 4 | 2.00 | 4,000 | 3.00 | 4,000 | 1.50 |  |  |  |  |",
                "| ticket | 5 | 8.00 | 5,000 | unknown |  |  |  |  |  |  |",
            ]
        );
        assert!(text.contains("The largest of 1 is 1.50 (ticket, N = 4)."), "{text}");
        assert!(text.contains(": 2 of 8."), "{text}");
        assert_eq!(section(&[], &Limits::none()), "");
    }

    #[test]
    fn threads_are_for_the_largest_that_are_decided() {
        let runs = runs();
        let names: Vec<String> =
            longest(&runs).map(|r| format!("{} {}", r.job.name, r.job.model)).collect();
        assert_eq!(names, ["ticket, N = 4 TSO", "ticket, N = 5 SC"]);
    }

    #[test]
    fn another_result_with_two_threads_is_an_error() {
        let pair = |two: &Grown| {
            let one = run(4, MemoryModel::SC, "holds", 2.0);
            let runs = [one.row.run, two.row.run.clone()];
            Pair { name: one.job.name, model: "SC".to_owned(), runs }.checked()
        };
        let same = pair(&run(4, MemoryModel::SC, "holds", 1.5)).unwrap();
        let text = threads_section(&[same], Some(1.25));
        let line = "| ticket, N = 4 | SC | views | 4,000 | 4.00 | 3.00 | 0.75 |\n";
        assert!(text.contains(line) && text.contains("was 1.25."), "{text}");
        let verdict = pair(&run(4, MemoryModel::SC, "violated", 1.5)).err().unwrap();
        assert!(verdict.contains("two say violated, 4,000 configurations"), "{verdict}");
        let count = pair(&run(5, MemoryModel::SC, "holds", 1.5)).err().unwrap();
        assert!(count.contains("two say holds, 5,000 configurations"), "{count}");
    }
}
