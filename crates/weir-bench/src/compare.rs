//! Compares this build with another: with an earlier CSV, or by running another program
//! in turns.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::rows::{Row, aligned};
use crate::run::{Job, LONG, Measured, Weir};
use weir::Limits;
use weir_cli::Status;
use weir_cli::progress::counted;

/// What is worse by more than this is reported.
const WORSE: f64 = 1.05;

/// The times of searches that take fewer seconds are not compared.
const SHORTEST: f64 = 0.001;

/// Runs with fewer instructions mostly start and read: a slower search hardly shows
/// in them. They do not go into the mean if there are others.
const MOSTLY_START: u64 = 20_000_000;

/// A geometric mean, and how far apart its values are.
struct Mean {
    count: usize,
    mean: f64,
    /// Between these is the middle half of the values.
    half: (f64, f64),
}

impl Mean {
    fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut logs: Vec<f64> =
            values.into_iter().map(f64::ln).filter(|l| l.is_finite()).collect();
        logs.sort_by(f64::total_cmp);
        let last = logs.len().checked_sub(1)?;
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let half = (logs[last / 4].exp(), logs[last - last / 4].exp());
        Some(Self { count: logs.len(), mean: mean.exp(), half })
    }

    fn line(&self, what: &str) -> String {
        let Self { count, mean, half: (low, high) } = self;
        let rows = counted(*count, "row");
        format!("  {what}: {} over {rows}, half of them within {low:.3} to {high:.3}", times(*mean))
    }
}

/// The geometric mean of some ratios.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Mean::of(values).map(|m| m.mean)
}

fn times(ratio: f64) -> String {
    format!("× {ratio:.3}")
}

fn ratio(now: f64, before: f64) -> Option<f64> {
    Some(now / before).filter(|r| r.is_finite() && *r > 0.0)
}

/// The middle of some times.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How the verdicts changed, in words, and whether the change is an error. Answering what was
/// unknown is not an error.
fn changed(now: &Row, before: &Row) -> Option<(String, bool)> {
    let (now_is, was) = (&now.run.verdicts, &before.run.verdicts);
    if now_is == was {
        return None;
    }
    let gained = now_is.len() == was.len()
        && now_is.iter().zip(was).all(|(now, was)| now == was || was == "unknown");
    let change = format!("{} → {}", was.join(", "), now_is.join(", "));
    Some((format!("  {}: {change}", now.title()), !gained))
}

/// What is said of verdicts that changed, and whether any is an error.
fn verdicts<'r>(pairs: impl Iterator<Item = (&'r Row, &'r Row)>) -> (String, bool) {
    let changes: Vec<(String, bool)> = pairs.filter_map(|(a, b)| changed(a, b)).collect();
    let mut out = String::new();
    for (errors, title) in [(true, "error: verdicts changed"), (false, "answered now")] {
        let lines: Vec<&str> =
            changes.iter().filter(|c| c.1 == errors).map(|c| c.0.as_str()).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{title}:\n{}", lines.join("\n"));
        }
    }
    (out, changes.iter().any(|c| c.1))
}

/// Compares rows with those of an earlier CSV.
pub fn with_baseline(rows: &[Row], baseline: &[Row], name: &str) -> (String, Status) {
    let before: HashMap<_, &Row> = baseline.iter().rev().map(|r| (r.key(), r)).collect();
    let pairs: Vec<(&Row, &Row)> =
        rows.iter().filter_map(|r| before.get(&r.key()).map(|b| (r, *b))).collect();
    let mut out = format!("\nagainst {name}: {} in both", counted(pairs.len(), "row"));
    if rows.len() > pairs.len() {
        let _ = write!(out, ", {} only here", rows.len() - pairs.len());
    }
    out.push('\n');
    let (text, mut is_worse) = verdicts(pairs.iter().copied());
    out += &text;

    let mut table = Vec::new();
    let mut worse = Vec::new();
    let (mut instructions, mut configurations, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for (now, was) in &pairs {
        let counts = now.instructions.zip(was.instructions);
        let of_instructions = counts.and_then(|(a, b)| ratio(a as f64, b as f64));
        // How far a search gets in its time says nothing.
        let known = now.run.is_known() && was.run.is_known();
        let of_configurations =
            ratio(now.run.configurations as f64, was.run.configurations as f64).filter(|_| known);
        let long = now.run.seconds.min(was.run.seconds) >= SHORTEST;
        let of_seconds = ratio(now.run.seconds, was.run.seconds).filter(|_| known && long);
        let mut grew = Vec::new();
        for (what, ratio) in
            [("instructions", of_instructions), ("configurations", of_configurations)]
        {
            if let Some(ratio) = ratio.filter(|r| *r > WORSE) {
                grew.push(format!("{what} {}", times(ratio)));
            }
        }
        if !grew.is_empty() {
            worse.push(format!("  {}: {}", now.title(), grew.join(", ")));
        }
        if let (Some(ratio), Some((_, was))) = (of_instructions, counts) {
            instructions.push((was, ratio));
        }
        configurations.extend(of_configurations);
        seconds.extend(of_seconds);
        let cell = |r: Option<f64>| r.map(|r| format!("{r:.3}")).unwrap_or_default();
        let (program, model, engine) = now.key();
        let mut cells = vec![program.to_owned(), model.to_owned(), engine.to_owned()];
        cells.extend([cell(of_instructions), cell(of_configurations), cell(of_seconds)]);
        table.push(cells);
    }
    if !worse.is_empty() {
        let _ = writeln!(out, "\nworse by more than 5 %:\n{}", worse.join("\n"));
    }
    if !table.is_empty() {
        let head = ["program", "model", "engine", "instructions", "configurations", "seconds"];
        let _ = write!(out, "\nratios, now over then:\n{}", aligned(&head, 3, &table));
    }

    let large = instructions.iter().any(|(was, _)| *was >= MOSTLY_START);
    let counted = instructions.iter().filter(|(was, _)| !large || *was >= MOSTLY_START);
    let of_instructions = Mean::of(counted.map(|(_, ratio)| *ratio));
    out += "\ngeometric means, now over then:\n";
    for (what, mean) in [
        ("instructions", of_instructions.as_ref()),
        ("configurations", Mean::of(configurations).as_ref()),
        ("seconds", Mean::of(seconds).as_ref()),
    ] {
        match mean {
            Some(mean) => out += &mean.line(what),
            None => out += &format!("  {what}: nothing to compare"),
        }
        out.push('\n');
    }
    is_worse |= of_instructions.is_some_and(|m| m.mean > WORSE);
    (out, if is_worse { Status::Violated } else { Status::Fine })
}

/// The runs of one job by this program and another, in turns.
pub struct Turns {
    /// The median run of this program.
    pub this: Row,
    other: Row,
    seconds: [Vec<f64>; 2],
}

/// Seconds that each program runs in all, if its runs are short.
const ENOUGH: f64 = 0.2;

/// The fewest turns, but for runs that take long, and the most.
const FEWEST_TURNS: usize = 5;
const MOST_TURNS: usize = 60;

impl Turns {
    /// Runs a job by two programs. They take turns, and take turns at being first, so
    /// that whatever else the machine does hits both.
    pub fn take(
        job: &Job,
        programs: [&Weir; 2],
        limits: &Limits,
        runs: u32,
    ) -> Result<Self, String> {
        let mut all: [Vec<Measured>; 2] = [Vec::new(), Vec::new()];
        let fewest = FEWEST_TURNS.max(runs as usize);
        let sum = |runs: &[Measured]| runs.iter().map(|r| r.seconds).sum::<f64>();
        for turn in 0..MOST_TURNS {
            for side in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
                all[side].push(job.measure(programs[side], limits)?);
            }
            let least = sum(&all[0]).min(sum(&all[1]));
            let longest = all[0][0].seconds.max(all[1][0].seconds);
            // Nothing is learned from a run too short for the clock.
            if longest < SHORTEST / 2.0 && turn > 0 {
                break;
            }
            if longest > LONG || turn + 1 >= fewest && least >= ENOUGH {
                break;
            }
        }
        let seconds = [0, 1].map(|side| all[side].iter().map(|r: &Measured| r.seconds).collect());
        let [this, other] = all.map(|mut runs| {
            runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            Row::new(job, runs.swap_remove(runs.len() / 2))
        });
        Ok(Self { this, other, seconds })
    }

    fn medians(&self) -> [f64; 2] {
        [0, 1].map(|side| median(&self.seconds[side]))
    }

    /// The median of the ratios of each turn. A machine that is slow for a while is
    /// slow for both runs of a turn, so this says more than the ratio of medians.
    fn by_turn(&self) -> f64 {
        let [this, other] = &self.seconds;
        let ratios: Vec<f64> = this.iter().zip(other).map(|(a, b)| a / b).collect();
        median(&ratios)
    }

    /// The ratio of the fastest runs: noise only ever makes a run slower.
    fn by_fastest(&self) -> f64 {
        let fastest = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
        fastest(&self.seconds[0]) / fastest(&self.seconds[1])
    }

    /// Whether its times are a measure: long enough for the clock, and not cut off.
    fn counts(&self) -> bool {
        let [a, b] = self.medians();
        a.min(b) >= SHORTEST && self.this.run.is_known() && self.other.run.is_known()
    }
}

/// Compares the times of this program with those of another. This one is slower if it
/// is by both measures: turn by turn, and by the fastest runs.
pub fn with_other(turns: &[Turns], other: &Path) -> (String, Status) {
    let mut out = format!("\nagainst {}: {}\n", other.display(), counted(turns.len(), "row"));
    let (text, mut is_worse) = verdicts(turns.iter().map(|t| (&t.this, &t.other)));
    out += &text;
    let mut table = Vec::new();
    for t in turns {
        let (program, model, engine) = t.this.key();
        let [this, other] = t.medians();
        let ratio = if t.counts() { format!("{:.3}", t.by_turn()) } else { "too short".to_owned() };
        let configurations = ratio_of_counts(t).map(|r| format!("{r:.3}")).unwrap_or_default();
        let mut cells = vec![program.to_owned(), model.to_owned(), engine.to_owned()];
        cells.extend([t.seconds[0].len().to_string(), format!("{this:.4}"), format!("{other:.4}")]);
        cells.extend([if t.this.run.is_known() { ratio } else { String::new() }, configurations]);
        table.push(cells);
    }
    let head =
        ["program", "model", "engine", "turns", "this s", "other s", "ratio", "configurations"];
    let _ = writeln!(out, "\n{}", aligned(&head, 3, &table));
    out += "geometric means, this over the other:\n";
    let long = || turns.iter().filter(|t| t.counts());
    let by_turn = Mean::of(long().map(Turns::by_turn));
    let fastest = Mean::of(long().map(Turns::by_fastest));
    let known = turns.iter().filter_map(ratio_of_counts);
    for (what, mean) in [
        ("times, turn by turn", by_turn.as_ref()),
        ("fastest times", fastest.as_ref()),
        ("configurations", Mean::of(known).as_ref()),
    ] {
        match mean {
            Some(mean) => out += &mean.line(what),
            None => out += &format!("  {what}: every run is too short to compare"),
        }
        out.push('\n');
    }
    let slower = |mean: Option<Mean>| mean.is_some_and(|m| m.mean > WORSE);
    is_worse |= slower(by_turn) && slower(fastest);
    (out, if is_worse { Status::Violated } else { Status::Fine })
}

fn ratio_of_counts(turns: &Turns) -> Option<f64> {
    let (this, other) = (&turns.this.run, &turns.other.run);
    let known = this.is_known() && other.is_known();
    ratio(this.configurations as f64, other.configurations as f64).filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::tests::row;

    #[test]
    fn the_same_is_fine() {
        let rows = [row("a", "holds", 10, 1_000), row("b", "violated", 20, 2_000)];
        let (text, status) = with_baseline(&rows, &rows, "old.csv");
        assert_eq!(status, Status::Fine, "{text}");
        assert!(text.contains("instructions: × 1.000 over 2 rows"), "{text}");
        assert!(!text.contains("worse"), "{text}");
    }

    #[test]
    fn more_instructions_are_worse() {
        let before = [row("a", "holds", 10, 1_000), row("b", "violated", 20, 2_000)];
        let now = [row("a", "holds", 10, 1_200), row("b", "violated", 20, 2_400)];
        let (text, status) = with_baseline(&now, &before, "old.csv");
        assert_eq!(status, Status::Violated, "{text}");
        assert!(text.contains("a TSO auto: instructions × 1.200\n"), "{text}");
        assert!(text.contains("b TSO auto: instructions × 1.200\n"), "{text}");
    }

    #[test]
    fn short_runs_do_not_hide_a_slow_search() {
        let before = [row("a", "holds", 10, 1_000_000), row("b", "holds", 20, 100_000_000)];
        let now = [row("a", "holds", 10, 1_000_000), row("b", "holds", 20, 120_000_000)];
        assert_eq!(with_baseline(&now, &before, "old.csv").1, Status::Violated);
    }

    #[test]
    fn verdicts_come_first() {
        let before = [row("a", "holds holds", 10, 0), row("b", "unknown", 20, 0)];
        let now = [row("a", "holds violated", 30, 0), row("b", "holds", 20, 0)];
        let (text, status) = with_baseline(&now, &before, "old.csv");
        assert_eq!(status, Status::Violated, "{text}");
        let error = "error: verdicts changed:\n  a TSO auto: holds, holds → holds, violated\n";
        let at = text.find(error).unwrap_or_else(|| panic!("{text}"));
        assert!(at < text.find("worse by more").unwrap(), "{text}");
        assert!(text.contains("answered now:\n  b TSO auto: unknown → holds\n"), "{text}");
    }

    #[test]
    fn what_was_unknown_may_be_answered() {
        let before = [row("b", "unknown", 20, 0)];
        let (text, status) = with_baseline(&[row("b", "holds", 40, 0)], &before, "old.csv");
        assert_eq!(status, Status::Fine, "{text}");
        let (text, status) = with_baseline(&before, &[row("b", "holds", 40, 0)], "old.csv");
        assert_eq!(status, Status::Violated, "{text}");
    }
}
