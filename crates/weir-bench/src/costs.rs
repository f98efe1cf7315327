//! What answers cost: the time to check proofs, the memory of configurations, and the
//! programs that take long.

use std::path::Path;

use weir::{Engine, Limits, MemoryModel};
use weir_cli::progress::Progress;
use weir_engine::Views;

use crate::growth::Grown;
use crate::rows::{Row, number, table};
use crate::run::{Job, Measured, Scratch, Weir, shortest, timeout};

/// The proofs of searches that take fewer seconds are not checked.
const WORTH_CHECKING: f64 = 0.05;

/// Searches that take more seconds are listed.
const SLOW: f64 = 5.0;

/// How many searches the table of memory has.
const LARGEST: usize = 5;

/// How many searches the table of proofs has.
const LISTED: usize = 10;

/// A program that has nothing to search.
const EMPTY: &str = "var x: bool\n\nprocess p {\n    x = true\n}\n\nnone: never x and not x\n";

/// A search that writes a proof, and the check of the proof.
pub struct Proof {
    name: String,
    model: MemoryModel,
    /// Seconds of the search without a proof.
    plain: f64,
    /// Seconds of the search with one.
    search: f64,
    /// Seconds of the check, unless it was given up.
    check: Option<f64>,
}

impl Proof {
    fn ratio(&self) -> Option<f64> {
        Some(self.check? / self.search)
    }
}

/// The searches that take long enough and find that something holds.
fn to_prove<'j>(jobs: &'j [Job], rows: &[Row]) -> Vec<&'j Job> {
    let worth = |row: &Row| {
        row.run.seconds > WORTH_CHECKING && row.run.verdicts.iter().any(|v| v == "holds")
    };
    jobs.iter().filter(|job| rows.iter().any(|row| is_of(row, job) && worth(row))).collect()
}

/// Whether a row is the result of a job.
fn is_of(row: &Row, job: &Job) -> bool {
    row.key() == (&*job.name, &*job.model.to_string(), job.engine.name())
}

/// What was found about proofs.
pub struct Proofs {
    /// How many searches were asked for a proof.
    asked: usize,
    found: Vec<Proof>,
}

/// Searches again with a certificate, and checks it.
///
/// # Errors
/// If a certificate is rejected.
pub fn prove(
    jobs: &[Job],
    rows: &[Row],
    weir: &Weir,
    limits: &Limits,
    runs: u32,
    progress: &mut Progress,
) -> Result<Proofs, String> {
    let scratch = Scratch::new("proofs")?;
    let file = scratch.path().join("proof.json");
    let (mut asked, mut found) = (0, Vec::new());
    for job in to_prove(jobs, rows) {
        let (name, model) = (job.name.clone(), job.model);
        progress.say(&format!("proofs: {name} {model}"));
        let search = |proof: Option<&Path>| {
            let search = || {
                let mut command = job.search(weir, limits);
                command.args(proof.map(|_| "--certificate")).args(proof);
                command.arg("--").arg(&job.file);
                command
            };
            shortest(search, timeout(limits), runs).map(|(seconds, _)| seconds)
        };
        // The run of the table may have taken long because of other processes.
        let Some(plain) = search(None).filter(|s| *s > WORTH_CHECKING) else { continue };
        asked += 1;
        // The file may be of the search before.
        let _ = std::fs::remove_file(&file);
        let Some(search) = search(Some(&file)) else { continue };
        if !file.is_file() {
            continue;
        }
        let check = || {
            let mut command = weir.command();
            command.arg("certify").arg("--").arg(&file).arg(&job.file);
            command
        };
        let check = shortest(check, timeout(limits), runs);
        if let Some((_, said)) = check.as_ref().filter(|(_, said)| !said.starts_with("accepted")) {
            return Err(format!("the proof of {name} {model} is not accepted: {}", said.trim()));
        }
        let check = check.map(|(seconds, _)| seconds);
        found.push(Proof { name, model, plain, search, check });
    }
    Ok(Proofs { asked, found })
}

/// The section about proofs.
pub fn proofs_section(proofs: &Proofs, limits: &Limits) -> String {
    let Proofs { asked, found } = proofs;
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "## Proofs\n\n\
         `weir check --certificate` searches and writes a proof, and `weir certify` checks the\n\
         proof. {asked} searches of the corpus take more than {WORTH_CHECKING} s and find a \
         property that holds;\n\
         {} of them write a proof within {} s. Seconds are wall time of the whole process, the\n\
         shortest run. Without a certificate `auto` may try other engines first, so a search with\n\
         a proof can be the shorter one. Every proof that was checked to its end is accepted;\n\
         `weir-bench` fails if one is not. The table has the searches with proof that take longest.\n\n",
        found.len(),
        timeout(limits).as_secs_f64(),
    );
    let ended = || found.iter().filter_map(|p| Some((p.ratio()?, p)));
    let fast = ended().filter(|(ratio, _)| *ratio <= 1.0).count();
    out += &format!(
        "The check takes at most as long as the search with proof for {fast} of {}.",
        found.len()
    );
    if let Some((ratio, worst)) = ended().max_by(|a, b| a.0.total_cmp(&b.0)) {
        let Proof { name, model, .. } = worst;
        out += &format!(" The worst ratio is\n{ratio:.2} ({name} under {model}).");
    }
    let late = found.len() - ended().count();
    if late > 0 {
        out += &format!(" Checks that were given up: {late}.");
    }
    let seconds = |s: f64| format!("{s:.3}");
    let mut longest: Vec<&Proof> = found.iter().collect();
    longest.sort_by(|a, b| b.search.total_cmp(&a.search));
    let rows = longest.into_iter().take(LISTED).map(|proof| {
        let (check, ratio) = match proof.check.zip(proof.ratio()) {
            Some((check, ratio)) => (seconds(check), format!("{ratio:.2}")),
            None => ("unknown".to_owned(), String::new()),
        };
        let (name, model) = (proof.name.clone(), proof.model.to_string());
        vec![name, model, seconds(proof.plain), seconds(proof.search), check, ratio]
    });
    let head = [
        "program",
        "model",
        "search s",
        "search with proof s",
        "certify s",
        "certify / search with proof",
    ];
    out + "\n\n" + &table(&head, 2, &rows.collect::<Vec<_>>()) + "\n"
}

/// The largest searches by `views` that are decided.
fn largest<'a>(all: impl Iterator<Item = (&'a Job, &'a Row)>) -> Vec<&'a Job> {
    let by_views = |(_, row): &(&Job, &Row)| row.run.answered == Views.name() && row.run.is_known();
    let mut all: Vec<(&Job, &Row)> = all.filter(by_views).collect();
    // Searches of the same size stay in the order of the tables.
    all.sort_by_key(|(_, row)| std::cmp::Reverse(row.run.configurations));
    all.into_iter().map(|(job, _)| job).take(LARGEST).collect()
}

/// The memory of some searches.
pub struct Memory {
    /// Peak MiB of a process that has nothing to search.
    empty: f64,
    searches: Vec<Row>,
}

/// Runs the largest searches by `views`, without other engines.
///
/// # Errors
/// If a search cannot be run, or the system does not tell the peak memory of a process.
pub fn remember(
    jobs: &[Job],
    rows: &[Row],
    grown: &[Grown],
    weir: &Weir,
    limits: &Limits,
    progress: &mut Progress,
) -> Result<Memory, String> {
    let job_of = |row: &Row| jobs.iter().find(|job| is_of(row, job));
    let corpus = rows.iter().filter_map(|row| Some((job_of(row)?, row)));
    let grown = grown.iter().filter(|g| !g.is_in_corpus).map(|g| (&g.job, &g.row));
    let largest = largest(corpus.chain(grown));
    let scratch = Scratch::new("memory")?;
    let file = scratch.write("empty.weir", EMPTY)?;
    let (name, model) = ("empty".to_owned(), MemoryModel::TSO);
    let empty = Job { name, file, model, engine: &Views, bound: None }.measure(weir, limits)?;
    let mut searches = Vec::new();
    for job in largest {
        progress.say(&format!("memory: {} {}", job.name, job.model));
        let job = Job { engine: &Views, ..job.clone() };
        searches.push(Row::new(&job, job.measure(weir, limits)?));
    }
    let empty = empty.peak.ok_or("the system does not tell the peak memory of a process")?;
    Ok(Memory { empty, searches })
}

/// Bytes for each configuration, above those of an empty process.
fn bytes_each(run: &Measured, empty: f64) -> Option<f64> {
    let bytes = (run.peak? - empty) * f64::from(1 << 20);
    Some(bytes / run.configurations as f64).filter(|b| b.is_finite())
}

/// The section about memory.
pub fn memory_section(memory: &Memory) -> String {
    let Memory { empty, searches } = memory;
    if searches.is_empty() {
        return String::new();
    }
    let rows = searches.iter().map(|row| {
        let each = bytes_each(&row.run, *empty);
        vec![
            row.program.clone(),
            row.model.clone(),
            row.run.verdicts.join(", "),
            number(row.run.configurations),
            row.run.peak.map(|p| format!("{p:.1}")).unwrap_or_default(),
            each.map(|b| number(b.round().max(0.0) as u64)).unwrap_or_default(),
        ]
    });
    let head =
        ["program", "model", "verdict", "configurations", "peak MiB", "bytes per configuration"];
    format!(
        "## Memory\n\n\
         The {} largest searches that `auto` decides by `views`, among the corpus and the locks\n\
         with more processes, run again with `--engine views`. A process that has nothing to search\n\
         has a peak of {empty:.1} MiB. Bytes are the peak above that, divided by the configurations.\n\n{}\n",
        searches.len(),
        table(&head, 3, &rows.collect::<Vec<_>>()),
    )
}

/// The section about programs that take long.
pub fn slow_section(rows: &[Row]) -> String {
    let slow = rows.iter().filter(|r| !r.run.is_known() || r.run.seconds > SLOW);
    let slow = slow.map(|row| {
        let (verdicts, seconds) = (row.run.verdicts.join(", "), format!("{:.1}", row.run.seconds));
        vec![row.program.clone(), row.model.clone(), verdicts, seconds]
    });
    let slow: Vec<Vec<String>> = slow.collect();
    let count = slow.len();
    let mut out = format!(
        "## Slow programs\n\n\
         {count} of {} searches of the corpus are unknown or take more than {SLOW} s.\n\n",
        rows.len(),
    );
    if count > 0 {
        out += &table(&["program", "model", "verdict", "seconds"], 3, &slow);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::tests::row;

    fn job(name: &str) -> Job {
        let (name, file, engine) = (name.to_owned(), "p.weir".into(), weir::ENGINES[0]);
        Job { name, file, model: MemoryModel::TSO, engine, bound: None }
    }

    #[test]
    fn what_holds_and_takes_long_is_proved() {
        let jobs = ["short", "long", "violated", "both"].map(job);
        let mut short = row("short", "holds", 1, 0);
        short.run.seconds = WORTH_CHECKING;
        let rows = [
            short,
            row("long", "holds", 1, 0),
            row("violated", "violated", 1, 0),
            row("both", "violated holds", 1, 0),
        ];
        let names: Vec<&str> = to_prove(&jobs, &rows).iter().map(|j| &*j.name).collect();
        assert_eq!(names, ["long", "both"]);
    }

    #[test]
    fn proofs_are_summed_up() {
        let proof = |name: &str, search, check| {
            let name = name.to_owned();
            Proof { name, model: MemoryModel::TSO, plain: 0.25, search, check }
        };
        let found =
            vec![proof("a", 1.0, Some(0.5)), proof("b", 0.5, Some(1.5)), proof("c", 4.0, None)];
        let text = proofs_section(&Proofs { asked: 7, found }, &Limits::none());
        for line in [
            "as long as the search with proof for 1 of 3. The worst ratio is\n3.00 (b under TSO). Checks",
            "| a | TSO | 0.250 | 1.000 | 0.500 | 0.50 |\n",
            "| b | TSO | 0.250 | 0.500 | 1.500 | 3.00 |\n",
            "| c | TSO | 0.250 | 4.000 | unknown |  |\n",
        ] {
            assert!(text.contains(line), "no `{line}` in {text}");
        }
    }

    #[test]
    fn the_largest_searches_come_first() {
        let jobs: Vec<Job> = (0..9).map(|i| job(&i.to_string())).collect();
        let mut rows: Vec<Row> =
            (0..9u64).map(|i| row(&i.to_string(), "holds", 10 * (i / 2), 0)).collect();
        rows[8].run.verdicts = vec!["unknown".to_owned()];
        rows[7].run.answered = "explicit".to_owned();
        let names: Vec<&str> = largest(jobs.iter().zip(&rows)).iter().map(|j| &*j.name).collect();
        assert_eq!(names, ["6", "4", "5", "2", "3"]);
    }

    #[test]
    fn memory_is_above_that_of_an_empty_process() {
        let text =
            memory_section(&Memory { empty: 3.0, searches: vec![row("p", "holds", 1024, 0)] });
        assert!(text.contains("| p | TSO | holds | 1,024 | 4.0 | 1,024 |\n"), "{text}");
        assert!(weir::Loaded::from_text("empty.weir", EMPTY, None).is_ok());
    }

    #[test]
    fn slow_programs_have_names() {
        let mut rows = [
            row("fast", "holds", 1, 0),
            row("slow", "holds violated", 1, 0),
            row("lost", "unknown", 1, 0),
        ];
        rows[1].run.seconds = 5.25;
        let text = slow_section(&rows);
        let table: Vec<&str> = text.lines().filter(|l| l.starts_with('|')).skip(2).collect();
        assert_eq!(
            table,
            ["| slow | TSO | holds, violated | 5.2 |", "| lost | TSO | unknown | 0.5 |"]
        );
        assert!(
            slow_section(&rows[..1])
                .ends_with("0 of 1 searches of the corpus are unknown or take more than 5 s.\n\n")
        );
    }
}
