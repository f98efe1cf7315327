//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use weir::{ENGINES, Engine, MemoryModel};
use weir_cli::{Color, engines, model, seconds};

/// Measure time, memory and instructions of Weir, and compare them with another build
#[derive(Debug, Parser)]
#[command(name = "weir-bench", version, max_term_width = 100)]
#[command(after_help = "\
Exit status: 1 if a verdict changed, or the geometric mean is worse by more than
5 %: of instructions with --baseline, of times with --against.

`weir-bench --weir …` is `weir …` of the same build.

Examples: weir-bench --only burns --only ticket
          weir-bench --instructions --csv before.csv
          weir-bench --instructions --baseline before.csv")]
pub struct Bench {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub writing: Writing,
    /// Compare with an earlier CSV
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Compare with another `weir` or `weir-bench`: both run everything, in turns
    #[arg(long, value_name = "WEIR")]
    pub against: Option<PathBuf>,
    /// Run the locks of Linden and Wolper 2010 instead, and print their table 2 beside the results
    #[arg(long, conflicts_with_all = ["files", "only", "models", "against", "baseline", "spin", "docs", "plots", "instructions"])]
    pub linden_wolper: bool,
    /// Run families of litmus tests of growing size instead, and herd7 beside if it is installed
    #[arg(long, conflicts_with_all = ["files", "only", "models", "against", "baseline", "spin", "docs", "plots", "instructions", "linden_wolper"])]
    pub families: bool,
    /// Run locks and objects under C11 with a number of rounds for each process instead, and the examples in C and Rust
    #[arg(long, conflicts_with_all = ["files", "only", "models", "against", "baseline", "spin", "docs", "plots", "instructions", "linden_wolper", "families"])]
    pub rounds: bool,
    /// Run the corpus and locks with more processes, and print only the tables about them as
    /// Markdown: more processes, threads, proofs, memory and slow programs
    #[arg(long, conflicts_with_all = ["against", "baseline", "spin", "docs", "plots", "instructions", "linden_wolper", "families", "rounds"])]
    pub growth: bool,
    /// When to use color
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// What to run.
#[derive(Debug, Args)]
pub struct Selection {
    /// Programs (`.weir`, `.litmus`, `.pml`, `.rmm`, `.txt`); without them, all of the corpus
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the corpus is
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,
    /// Only programs with this word in their names (may be given several times)
    #[arg(long, value_name = "WORD")]
    pub only: Vec<String>,
    /// The memory models (may be given several times) [default: sc, tso, pso, nsw]
    #[arg(long = "model", short, value_parser = model, value_name = "MODEL")]
    pub models: Vec<MemoryModel>,
    /// The engines (may be given several times)
    #[arg(long = "engine", value_parser = engines(), value_name = "ENGINE", default_value = ENGINES[0].name())]
    pub engines: Vec<&'static dyn Engine>,
}

/// How to run it.
#[derive(Debug, Args)]
pub struct Measuring {
    /// Give up a search after this many seconds
    #[arg(long, value_parser = seconds, value_name = "SECONDS", default_value = "20")]
    pub timeout: Duration,
    /// Give up a search when its configurations take up this many MiB
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "MIB", default_value_t = 2048)]
    pub memory: u32,
    /// How often to run each; the median counts
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N", default_value_t = 3)]
    pub runs: u32,
    /// How many threads a search has
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N", default_value_t = 1)]
    pub threads: u16,
    /// Count the instructions of runs that are not long, with Valgrind
    #[arg(long)]
    pub instructions: bool,
    /// Run Spin on what holds under SC
    #[arg(long)]
    pub spin: bool,
}

/// What to write.
#[derive(Debug, Args)]
pub struct Writing {
    /// Write the results to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the results to this file as a Markdown table
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the results to this file as a page for a browser, with a plot to point at
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Run programs of growing size, and plot their times into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "docs")]
    pub plots: Option<PathBuf>,
    /// Write `docs/benchmarks.md`, its plots and its CSV
    #[arg(long)]
    pub docs: bool,
}

impl Bench {
    /// The files that are read, and those that are written.
    pub fn targets(&self) -> (Vec<String>, Vec<&Path>) {
        let read = self.selection.files.iter().chain(&self.baseline).chain(&self.against);
        let read = read.map(|f| f.to_string_lossy().into_owned()).collect();
        (
            read,
            [&self.writing.csv, &self.writing.markdown, &self.writing.html]
                .into_iter()
                .filter_map(|p| p.as_deref())
                .collect(),
        )
    }
}
