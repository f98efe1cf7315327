//! Many files and memory models: each pair is a process of its own, this program again, and the
//! results are printed in order as they come.
//!
//! `run` starts the processes, `log` keeps results for a later run, `rows` takes from a report
//! what tables say, and `table`, `tests`, `junit` and `sarif` print it.

mod junit;
pub mod log;
pub mod rows;
pub mod run;
mod sarif;
mod table;
mod tests;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use weir::MemoryModel;

use super::{Status, fail, note};
use crate::cli::batch::BatchArgs;
use crate::cli::options::LanguageArg;
use crate::limits;
use crate::output::{paint, print, print_again, say_again};
use crate::progress::counted;
use crate::terminal::QUIET;
use log::{Header, MaybeLog};
use rows::Row;
use run::{Done, Item, Running};

/// How the results of a batch are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As each process prints them, in this format.
    Text(&'static str),
    Jsonl,
    Csv,
    Junit,
    Sarif,
    /// A line for each test of a package.
    Tests,
}

impl Style {
    /// The format that each process prints.
    fn format(self) -> &'static str {
        match self {
            Self::Text(format) => format,
            _ => "json",
        }
    }
}

/// What a batch is about.
pub struct Batch<'a> {
    /// The command, such as `check`.
    pub command: &'a str,
    /// The options of every process.
    pub options: Vec<OsString>,
    pub files: &'a [String],
    /// The tests, if the file is a package.
    pub tests: Vec<Test>,
    /// None are the one that is usual for each file.
    pub models: Vec<MemoryModel>,
    pub language: &'a LanguageArg,
    pub args: &'a BatchArgs,
    pub style: Style,
}

/// A test of a package, which has been built.
pub struct Test {
    pub name: String,
    /// The file that describes the program that it is in.
    pub built: PathBuf,
    /// The file and the line in which it begins.
    pub place: Option<(String, u64)>,
}

impl Batch<'_> {
    pub fn run(self, running: &Running) -> Status {
        if self.files.iter().any(|file| file == "-") {
            return fail("standard input cannot be one of many: name a file");
        }
        let models: Vec<Option<MemoryModel>> = match &self.models[..] {
            [] => vec![None],
            models => models.iter().copied().map(Some).collect(),
        };
        let mut items: Vec<Item> = Vec::new();
        for test in &self.tests {
            items.extend(models.iter().map(|&model| self.item_of_test(test, model)));
        }
        if self.tests.is_empty() {
            for file in self.files {
                items.extend(models.iter().map(|&model| self.item(file, model)));
            }
        }
        let header = Header::new(self.command, &self.options, self.style.format());
        let mut log = match MaybeLog::open(self.args.resume.as_deref(), &header) {
            Ok(log) => log,
            Err(message) => return fail(&message),
        };
        let known = log.known(&items);
        let mut printer = Printer::new(self.style);
        if self.style == Style::Tests {
            printer.names = tests::Names::of(&items, models.len() > 1);
        }
        printer.is_single = self.tests.len() == 1 && items.len() == 1;
        let mut status = Status::Fine;
        let began = std::time::Instant::now();
        let run = run::all(&items, known, running, &mut |item, done| {
            if let Err(message) = log.put(item, done) {
                status = status.and(fail(&message));
                return ControlFlow::Break(());
            }
            status = status.and(done.status);
            printer.add(item, done);
            let is_bad = !matches!(done.status, Status::Fine | Status::Unknown);
            match self.args.fail_fast && is_bad {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let is_interrupted = limits::budget().check().is_err();
        if is_interrupted {
            note(&format!("interrupted: {} of {} results", run, items.len()));
            status = status.and(Status::Unknown);
        }
        printer.finish(items.len(), began.elapsed().as_secs_f64());
        status
    }

    fn item(&self, file: &str, named: Option<MemoryModel>) -> Item {
        let mut words: Vec<OsString> = vec![self.command.into(), file.into()];
        words.extend(self.options.iter().cloned());
        words.extend(named.into_iter().flat_map(|m| ["--model".into(), m.to_string().into()]));
        words.extend(["--format".into(), self.style.format().into()]);
        let is_snapped = self.args.resume.is_some();
        let model = match self.command {
            "robust" | "live" => named.unwrap_or(MemoryModel::TSO),
            _ => self.language.model_of(file, named),
        };
        let (file, model) = (file.to_owned(), model.to_string());
        Item { file, model, words, is_snapped, place: None }
    }

    fn item_of_test(&self, test: &Test, named: Option<MemoryModel>) -> Item {
        let mut item = self.item(&self.files[0], named);
        item.words.extend(["--entry".into(), test.name.clone().into(), "--built".into()]);
        item.words.push(test.built.clone().into());
        Item { file: test.name.clone(), is_snapped: false, place: test.place.clone(), ..item }
    }
}

/// Prints results as they come, or all together in the end.
pub struct Printer {
    pub style: Style,
    /// How many ended with each status.
    counts: [usize; 5],
    /// For a line for each test.
    pub names: tests::Names,
    /// Whether there is one result, so that nothing is summed up.
    pub is_single: bool,
    rows: Vec<(Item, Vec<Row>, f64)>,
}

impl Printer {
    /// Nothing is printed yet.
    pub fn new(style: Style) -> Self {
        if style == Style::Csv {
            print(table::csv_heading());
        }
        let names = tests::Names::default();
        Self { style, counts: [0; 5], names, is_single: false, rows: Vec::new() }
    }

    fn add(&mut self, item: &Item, done: &Done) {
        let is_first = self.counts.iter().all(|count| *count == 0);
        self.counts[done.status as usize] += 1;
        let Style::Text(format) = self.style else {
            let rows = rows::of(item, done);
            return self.add_rows(item, rows, done);
        };
        let gap = format == "human" && !is_first && !done.out.is_empty();
        print_again(&format!("{}{}", if gap { "\n" } else { "" }, done.out));
        say_again(&done.err);
    }

    /// Adds rows about an item.
    pub fn add_rows(&mut self, item: &Item, rows: Vec<Row>, done: &Done) {
        match self.style {
            Style::Text(_) | Style::Jsonl => print(&table::jsonl(item, &rows, done)),
            Style::Csv => print(&table::csv(item, &rows, done)),
            Style::Tests => print(&tests::line(item, &rows, done, &self.names)),
            Style::Junit | Style::Sarif => self.rows.push((item.clone(), rows, done.seconds)),
        }
    }

    /// Prints what comes after all results.
    pub fn finish(&self, asked: usize, seconds: f64) {
        match self.style {
            Style::Text("human") if self.is_single => {}
            Style::Text("human") | Style::Tests => {
                print(&format!("\n{}\n", paint(QUIET, &self.summary(asked, seconds))));
            }
            Style::Junit => print(&junit::document(&self.rows)),
            Style::Sarif => print(&sarif::document(&self.rows)),
            _ => {}
        }
    }

    fn summary(&self, asked: usize, seconds: f64) -> String {
        let [fine, violated, wrong, unknown, internal] = self.counts;
        let total = self.counts.iter().sum::<usize>();
        let mut text = format!("{}: {fine} fine", counted(total, "result"));
        for (count, word) in [
            (violated, "violated"),
            (unknown, "unknown"),
            (wrong, "with errors"),
            (internal, "with internal errors"),
        ] {
            if count > 0 {
                text += &format!(", {count} {word}");
            }
        }
        if asked > total {
            text += &format!(", {} not begun", asked - total);
        }
        text + &format!(", {seconds:.1} s")
    }
}
