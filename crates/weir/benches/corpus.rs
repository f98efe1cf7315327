//! Runs the corpus under SC, TSO, PSO and NSW, one process per run, and prints
//! a table: program, model, verdict, engine, configurations, seconds, MiB.
//!
//! `cargo bench -p weir` prints it; `cargo bench -p weir -- --write` also writes
//! `docs/benchmarks.md`; any other words pick the files whose names contain one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const MODELS: [&str; 4] = ["sc", "tso", "pso", "nsw"];

/// Seconds after which a run is given up.
const TIMEOUT: &str = "20";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let write = std::env::args().any(|a| a == "--write");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("corpus"))
        .expect("the corpus")
        .map(|f| f.expect("a file").path())
        .filter(|f| f.extension().is_some_and(|e| e == "weir"))
        .filter(|f| words.is_empty() || words.iter().any(|w| name(f).contains(w)))
        .collect();
    files.sort();
    let mut table = String::from(
        "| program | model | verdict | engine | configurations | seconds | MiB |\n\
         | --- | --- | --- | --- | ---: | ---: | ---: |\n",
    );
    print!("{table}");
    for file in &files {
        for model in MODELS {
            let row = row(file, model);
            println!("{row}");
            let _ = writeln!(table, "{row}");
        }
    }
    if write {
        let page = root.join("docs/benchmarks.md");
        std::fs::write(&page, self::page(&table)).expect("docs/benchmarks.md");
        println!("\nwrote {}", page.display());
    }
}

fn name(file: &Path) -> String {
    file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn row(file: &Path, model: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["check", "--format", "json", "--timeout", TIMEOUT, "--model", model])
        .arg(file)
        .output()
        .expect("weir runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdicts: Vec<String> = report["properties"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|p| p["verdict"].as_str().unwrap_or("?").to_owned())
        .collect();
    let stats = &report["stats"];
    let number = |key: &str| stats[key].as_f64().unwrap_or(f64::NAN);
    format!(
        "| {} | {} | {} | {} | {} | {:.3} | {:.1} |",
        name(file),
        model.to_uppercase(),
        verdicts.join(", "),
        report["engine"].as_str().unwrap_or("?"),
        number("configurations"),
        number("seconds"),
        number("bytes") / f64::from(1 << 20),
    )
}

fn page(table: &str) -> String {
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
    format!(
        "# Benchmarks\n\n\
         `cargo bench -p weir -- --write` made this page: every program of the corpus under\n\
         every named model, by `weir check` with `--engine auto`, one core, one process per\n\
         run, at most {TIMEOUT} s each. *Seconds* is the whole search; *configurations* and\n\
         *MiB* are those of the engine that had the last word. Times on a shared machine are\n\
         noisy; configurations are not.\n\n\
         Machine: {cpu}. Commit: {}. Compiler: {}.\n\n{table}",
        shell("git", &["rev-parse", "--short", "HEAD"]),
        shell("rustc", &["--version"]),
    )
}
