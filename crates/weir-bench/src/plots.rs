//! The data of the plots: time by number of processes, and by the number of buffered
//! writes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::{ENGINES, Engine, Limits, MemoryModel};
use weir_engine::{Explicit, Views};

use crate::chart::{Chart, Line, Point};
use crate::run::{Job, Scratch, Weir, timeout};
use weir_cli::progress::Progress;

/// The families of the first plot, and the programs that they are made of: those of
/// the corpus that take any number of processes.
pub const FAMILIES: [(&str, &str); 8] = [
    ("bakery", "bakery-3-fenced"),
    ("burns", "burns-4-fenced"),
    ("clh", "clh-3-fenced"),
    ("dijkstra", "dijkstra-3-fenced"),
    ("filter", "filter-4-fenced"),
    ("mcs", "mcs-3-fenced"),
    ("szymanski", "szymanski-3-fenced"),
    ("ticket", "ticket-4-fenced"),
];

/// Every line of a plot ends with a search that is given up, so this is less than for
/// tables.
pub const LONGEST: Duration = Duration::from_secs(10);

/// The most processes of the first plot.
pub const MOST_PROCESSES: u32 = 5;

/// The most writes of the second plot.
const MOST_WRITES: u32 = 12;

/// No program of the second plot has more in a buffer.
const BOUND: u16 = 64;

/// The names of the files.
pub const FILES: [&str; 2] = ["processes.svg", "buffers.svg"];

/// A program with another number of processes, if it is written for any number: it
/// has a line `const N = …`.
pub fn with_processes(text: &str, n: u32) -> Option<String> {
    let mut found = false;
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.strip_prefix("const N = ") {
            Some(_) => {
                found = true;
                format!("const N = {n}")
            }
            None => line.to_owned(),
        })
        .collect();
    found.then(|| lines.join("\n") + "\n")
}

/// Writes a program of the corpus with another number of processes, if it is there and
/// written for any number.
pub fn grown(
    corpus: &Path,
    scratch: &Scratch,
    program: &str,
    n: u32,
) -> Result<Option<PathBuf>, String> {
    let text = std::fs::read_to_string(corpus.join(format!("{program}.weir"))).ok();
    let text = text.and_then(|text| with_processes(&text, n));
    text.map(|text| scratch.write(&format!("{program}-{n}.weir"), &text)).transpose()
}

/// How many processes a program is written for.
pub fn processes(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|l| l.strip_prefix("const N = "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Two processes that look whether they are alone, each behind a fence. Before that
/// each writes `n` times: what waits in a buffer at the fence is up to `n` writes, in
/// 2^(n-1) ways.
fn pressure(n: u32) -> String {
    let data = "        data[i] = any(0..1)\n".repeat(n.saturating_sub(1) as usize);
    format!(
        "var data[2]: 0..1\nvar flag[2]: bool\n\n\
         process p[i: 0..1] {{\n    loop {{\n{data}        flag[i] = true\n        fence\n\
         \x20       if not flag[1 - i] {{\n        critical:\n            nop\n        }}\n\
         \x20       flag[i] = false\n    }}\n}}\n\n\
         mutex: never p[0]@critical and p[1]@critical\n"
    )
}

/// Makes and runs the programs of the plots.
pub struct Plotter<'p> {
    pub weir: &'p Weir,
    pub corpus: &'p Path,
    pub limits: &'p Limits,
    pub runs: u32,
    pub progress: &'p mut Progress,
}

impl Plotter<'_> {
    /// Both plots, as names of files and SVG.
    pub fn plots(&mut self) -> Result<Vec<(&'static str, String)>, String> {
        let scratch = Scratch::new("plots")?;
        let mut plots = Vec::new();
        let families = self.families(&scratch)?;
        if !families.is_empty() {
            plots.push((
                FILES[0],
                self.chart("Time by number of processes, fenced, TSO", "processes", families),
            ));
        }
        let lines = self.buffers(&scratch)?;
        plots.push((
            FILES[1],
            self.chart("Time by writes between fences", "writes between fences", lines),
        ));
        Ok(plots)
    }

    fn chart(&self, title: &str, across: &str, lines: Vec<Line>) -> String {
        let limit = timeout(self.limits).as_secs_f64();
        Chart { title: title.to_owned(), across: across.to_owned(), limit, lines }.svg()
    }

    fn families(&mut self, scratch: &Scratch) -> Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        for (family, program) in FAMILIES {
            let mut points = Vec::new();
            for n in 2..=MOST_PROCESSES {
                let Some(file) = grown(self.corpus, scratch, program, n)? else { break };
                let job = job(file, MemoryModel::TSO, ENGINES[0], None);
                // Some are not written for so many.
                let Ok(point) = self.point(&job, n) else { continue };
                points.push(point);
                if point.cut {
                    break;
                }
            }
            if points.len() > 1 {
                lines.push(Line { name: family.to_owned(), points });
            }
        }
        Ok(lines)
    }

    fn buffers(&mut self, scratch: &Scratch) -> Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        for engine in [&Explicit as &'static dyn Engine, &Views] {
            for model in [MemoryModel::TSO, MemoryModel::PSO] {
                let bound = (engine.name() == Explicit.name()).then_some(BOUND);
                let mut points = Vec::new();
                for n in 1..=MOST_WRITES {
                    let file = scratch.write(&format!("buffers-{n}.weir"), &pressure(n))?;
                    let point = self.point(&job(file, model, engine, bound), n)?;
                    points.push(point);
                    if point.cut {
                        break;
                    }
                }
                lines.push(Line { name: format!("{}, {model}", engine.name()), points });
            }
        }
        Ok(lines)
    }

    fn point(&mut self, job: &Job, x: u32) -> Result<Point, String> {
        self.progress.say(&format!("plot: {} {} {}", job.name, job.model, job.engine.name()));
        let run = job.median(self.weir, self.limits, self.runs)?;
        Ok(Point { x, seconds: run.seconds, cut: !run.is_known() })
    }
}

fn job(file: PathBuf, model: MemoryModel, engine: &'static dyn Engine, bound: Option<u16>) -> Job {
    let name = crate::bench::stem(&file);
    Job { name, file, model, engine, bound }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_plots_are_programs() {
        for n in [1, 2, MOST_WRITES] {
            let text = pressure(n);
            let loaded = weir::Loaded::from_text("buffers.weir", &text, None).unwrap();
            assert_eq!(loaded.system.processes.len(), 2);
        }
    }

    #[test]
    fn another_number_of_processes() {
        let text = "// two\nconst N = 2   // processes\nvar x[N]\n";
        assert_eq!(processes(text), Some(2));
        let more = with_processes(text, 5).unwrap();
        assert_eq!(more, "// two\nconst N = 5\nvar x[N]\n");
        assert_eq!(with_processes("var x\n", 5), None);
    }
}
