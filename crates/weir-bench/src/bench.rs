//! Runs the command.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::load::read_text;
use weir::{Engine, Limits, Loaded, MemoryModel};

use crate::cli::Bench;
use crate::compare::Turns;
use crate::rows::Row;
use crate::run::{Job, Weir};
use crate::{
    compare, costs, engines, families, growth, html, linden_wolper, page, plots, rounds, rows, run,
    spin,
};
use weir_cli::Status;
use weir_cli::output::{complain, fail, print, write_whole};
use weir_cli::progress::Progress;

/// Runs that take more seconds are not counted by Valgrind, which makes them 50 times
/// as long.
const COUNTED: f64 = 0.5;

/// How far each engine may go where all are compared.
fn for_engines() -> Limits {
    let limits = Limits::none().time(Duration::from_secs(60)).memory(2048 << 20);
    limits.threads(NonZeroUsize::MIN)
}

/// Where `--docs` writes.
const DOCS: &str = "docs";

pub fn run(args: &Bench) -> Status {
    if args.linden_wolper {
        return linden_wolper::run(args);
    }
    if args.families {
        return match families::run(args) {
            Ok(()) => Status::Fine,
            Err(message) => fail(&message),
        };
    }
    if args.rounds {
        return match rounds::run(args) {
            Ok(()) => Status::Fine,
            Err(message) => fail(&message),
        };
    }
    match bench(args) {
        Ok(status) => status,
        Err(message) => fail(&message),
    }
}

fn bench(args: &Bench) -> Result<Status, String> {
    let this = Weir::this()?;
    let jobs = jobs(args)?;
    // What is wrong is said before hours are spent.
    if args.measuring.instructions && !run::is_installed("valgrind") {
        return Err("`--instructions` needs `valgrind`, which is not installed".to_owned());
    }
    if args.measuring.spin && !spin::is_there() {
        return Err("`--spin` needs `spin` and `gcc`, which are not installed".to_owned());
    }
    if let Some(other) = args.against.as_deref().filter(|other| !other.is_file()) {
        return Err(format!("there is no program `{}`", other.display()));
    }
    if args.writing.docs && !Path::new(DOCS).is_dir() {
        return Err(format!("there is no folder `{DOCS}` here; run this at the root"));
    }
    let baseline = match &args.baseline {
        None => None,
        Some(path) => {
            let name = path.to_string_lossy();
            let text = match read_text(&name) {
                Ok(text) => text,
                Err(error) => return Ok(complain(&error)),
            };
            let wrong = |e| format!("`{name}` is no CSV of `weir-bench`: {e}");
            Some((rows::read_csv(&text).map_err(wrong)?, name.into_owned()))
        }
    };

    let (jobs, mut status) = sound(jobs);
    if jobs.is_empty() {
        return Ok(status);
    }
    let memory = (args.measuring.memory as usize) << 20;
    let threads = NonZeroUsize::new(args.measuring.threads.into()).expect("at least one");
    let limits = Limits::none().time(args.measuring.timeout).memory(memory).threads(threads);
    let mut progress = Progress::default();
    let (mut rows, mut turns) = (Vec::new(), Vec::new());
    for (i, job) in jobs.iter().enumerate() {
        let (name, model, engine) = (&job.name, job.model, job.engine.name());
        progress.say(&format!("{} of {}: {name} {model} {engine}", i + 1, jobs.len()));
        match row(args, job, &this, &limits, &mut turns) {
            Ok(row) => rows.push(row),
            Err(message) => {
                progress.say("");
                status = status.and(fail(&format!("{name} {model} {engine}: {message}")));
            }
        }
    }
    drop(progress);
    if !args.growth {
        print(&rows::human(&rows));
    }
    if let Some((mean, count)) = page::spin_mean(&rows) {
        print(&format!("\nWeir / Spin: geometric mean {mean:.2} over {count}\n"));
    }
    for (path, text) in [
        (&args.writing.csv, rows::csv as fn(&[Row]) -> String),
        (&args.writing.markdown, rows::markdown as fn(&[Row]) -> String),
        (&args.writing.html, html::html as fn(&[Row]) -> String),
    ] {
        if let Some(path) = path {
            status = status.and(write_whole(path, &text(&rows)));
        }
    }
    if args.growth {
        let mut progress = Progress::default();
        let tables = Tables::measure(args, &jobs, &rows, &this, &limits, &mut progress)?;
        drop(progress);
        let heading = if tables.growth.is_empty() { "" } else { page::MORE_PROCESSES };
        print(&format!("{heading}{}{}", tables.growth, tables.costs));
        return Ok(status);
    }
    if let Some(other) = &args.against {
        let (text, is) = compare::with_other(&turns, other);
        print(&text);
        status = status.and(is);
    }
    if let Some((baseline, name)) = &baseline {
        let (text, is) = compare::with_baseline(&rows, baseline, name);
        print(&text);
        status = status.and(is);
    }
    Ok(status.and(pictures(args, &jobs, &rows, &this, &limits)?))
}

/// What is to be run: every program under every model by every engine.
fn jobs(args: &Bench) -> Result<Vec<Job>, String> {
    let mut files = args.selection.files.clone();
    if files.is_empty() {
        let wrong =
            |e| format!("cannot read the folder `{}`: {e}", args.selection.corpus.display());
        let entries = std::fs::read_dir(&args.selection.corpus).map_err(wrong)?;
        let paths = entries.filter_map(|e| e.ok().map(|e| e.path()));
        files.extend(paths.filter(|p| p.extension().is_some_and(|e| e == "weir")));
        files.sort();
    }
    let wanted = |f: &PathBuf| {
        args.selection.only.is_empty() || args.selection.only.iter().any(|w| stem(f).contains(w))
    };
    files.retain(wanted);
    if files.is_empty() {
        return Err("there is no program to run".to_owned());
    }
    let named: Vec<MemoryModel> = MemoryModel::NAMED.into_iter().map(|(_, m)| m).collect();
    let models = if args.selection.models.is_empty() { &named } else { &args.selection.models };
    let mut jobs = Vec::new();
    for file in &files {
        // Programs are known by the names of their files, and by where they are only
        // if that does not tell them apart.
        let twins = files.iter().filter(|f| stem(f) == stem(file)).count() > 1;
        let name = if twins { file.display().to_string() } else { stem(file) };
        for &model in models {
            // Not every engine decides every model.
            let decides = |e: &&&'static dyn Engine| e.decides(model);
            for &engine in args.selection.engines.iter().filter(decides) {
                let (name, file) = (name.clone(), file.clone());
                jobs.push(Job { name, file, model, engine, bound: None });
            }
        }
    }
    if jobs.is_empty() {
        return Err("no engine that was asked for decides one of these models".to_owned());
    }
    Ok(jobs)
}

/// The jobs whose programs can be read; what is wrong with the others is said once
/// for each.
fn sound(mut jobs: Vec<Job>) -> (Vec<Job>, Status) {
    let mut status = Status::Fine;
    let files: BTreeSet<PathBuf> = jobs.iter().map(|job| job.file.clone()).collect();
    for file in files {
        if let Err(error) = Loaded::from_file(&file.to_string_lossy(), None) {
            status = status.and(complain(&error));
            jobs.retain(|job| job.file != file);
        }
    }
    (jobs, status)
}

/// The name of a file without its folder and its ending.
pub fn stem(file: &Path) -> String {
    file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs one job, and whatever else is asked of it.
fn row(
    args: &Bench,
    job: &Job,
    weir: &Weir,
    limits: &Limits,
    turns: &mut Vec<Turns>,
) -> Result<Row, String> {
    let mut row = match &args.against {
        Some(other) => {
            let taken = Turns::take(job, [weir, &Weir::other(other)], limits, args.measuring.runs)?;
            let row = taken.this.clone();
            turns.push(taken);
            row
        }
        None => Row::new(job, job.median(weir, limits, args.measuring.runs)?),
    };
    if args.measuring.instructions && row.run.seconds < COUNTED {
        row.instructions = job.instructions(weir, limits);
    }
    if args.measuring.spin && spin::is_comparable(&row) {
        row.spin = spin::measure(job, limits, args.measuring.runs)?;
    }
    Ok(row)
}

/// The tables of the page that are about growth and costs.
struct Tables {
    /// More processes, below the plot, and threads.
    growth: String,
    /// Proofs, memory, and slow programs.
    costs: String,
}

impl Tables {
    fn measure(
        args: &Bench,
        jobs: &[Job],
        rows: &[Row],
        weir: &Weir,
        limits: &Limits,
        progress: &mut Progress,
    ) -> Result<Self, String> {
        let (corpus, runs) = (args.selection.corpus.as_path(), args.measuring.runs);
        let grown = growth::measure(corpus, weir, limits, runs, progress)?;
        let load = growth::load();
        let pairs = growth::with_threads(&grown.runs, weir, limits, runs, progress)?;
        let proofs = costs::prove(jobs, rows, weir, limits, runs, progress)?;
        let memory = costs::remember(jobs, rows, &grown.runs, weir, limits, progress)?;
        progress.say("");
        Ok(Self {
            growth: growth::section(&grown.runs, limits) + &growth::threads_section(&pairs, load),
            costs: costs::proofs_section(&proofs, limits)
                + &costs::memory_section(&memory)
                + &costs::slow_section(rows),
        })
    }
}

/// The plots and the page, if they are asked for.
fn pictures(
    args: &Bench,
    jobs: &[Job],
    rows: &[Row],
    weir: &Weir,
    limits: &Limits,
) -> Result<Status, String> {
    let in_docs = args.writing.docs.then(|| Path::new(DOCS).join("plots"));
    let Some(folder) = args.writing.plots.clone().or(in_docs) else { return Ok(Status::Fine) };
    let mut progress = Progress::default();
    std::fs::create_dir_all(&folder)
        .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    let (corpus, runs) = (args.selection.corpus.as_path(), args.measuring.runs);
    let short = limits.clone().time(run::timeout(limits).min(plots::LONGEST));
    let plotter = plots::Plotter { weir, corpus, limits: &short, runs, progress: &mut progress };
    let plots = { plotter }.plots()?;
    let mut status = Status::Fine;
    for (name, svg) in &plots {
        status = status.and(write_whole(&folder.join(name), svg));
    }
    if args.writing.docs {
        let (spun, wrong) = match spin::is_there() {
            true => page::with_spin(jobs, rows, weir, limits, args.measuring.runs, &mut progress)?,
            false => Default::default(),
        };
        let lines =
            engines::measure(jobs, weir, &for_engines(), args.measuring.runs, &mut progress);
        progress.say("");
        for message in wrong {
            status = status.and(fail(&message));
        }
        let names: Vec<&str> = plots.iter().map(|(name, _)| *name).collect();
        progress.say("litmus tests");
        let engines = engines::section(&lines, &for_engines())
            + &families::section(args)?
            + &rounds::section(args)?;
        let tables = Tables::measure(args, jobs, rows, weir, limits, &mut progress)?;
        let sections = engines + &tables.costs;
        let page = page::page(args, rows, &spun, &names, &tables.growth, &sections);
        status = status.and(write_whole(&Path::new(DOCS).join("benchmarks.md"), &page));
        status = status.and(write_whole(&Path::new(DOCS).join(page::CSV), &rows::csv(rows)));
    }
    Ok(status)
}
