//! `weir test`: compares the answers about programs with what the programs expect.
//!
//! An expectation is a comment line `expect: MODEL PROPERTY VERDICT`. A comment line
//! `options: --domain x=0..7, --unroll 3` has options of the searches.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;

use weir::{MemoryModel, Verdict};

use super::batch::log::{Header, MaybeLog};
use super::batch::rows::{self, Row};
use super::batch::run::{self, Done, Item, Running};
use super::batch::{Printer, Style};
use super::{Status, fail, print};
use crate::cli::LimitArgs;
use crate::cli::batch::style;
use crate::cli::test::Test;
use crate::output::{fail_about, paint};
use crate::progress::counted;
use crate::terminal::{QUIET, style as color};

/// Words that begin expectations about games and channel machines, which other commands answer.
const OTHERS: [&str; 5] = ["none", "process", "update", "perfect", "lossy"];

/// What a program expects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    line: u64,
    model: MemoryModel,
    /// The property; all together if none is named.
    property: Option<String>,
    verdict: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Is(Verdict),
    NotViolated,
    /// It takes too long to be asked.
    Slow,
}

impl Expected {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "holds" | "allowed" | "not-reached" => Self::Is(Verdict::Holds),
            "violated" | "forbidden" | "reached" => Self::Is(Verdict::Violated),
            "unknown" => Self::Is(Verdict::Unknown),
            "not-violated" => Self::NotViolated,
            "slow" => Self::Slow,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::Is(verdict) => verdict.name(),
            Self::NotViolated => "not-violated",
            Self::Slow => "slow",
        }
    }

    fn is_met_by(self, found: Verdict) -> bool {
        match self {
            Self::Is(verdict) => verdict == found,
            Self::NotViolated => found != Verdict::Violated,
            Self::Slow => true,
        }
    }
}

/// The options that a program may ask for: those that say what it means and how to search, and
/// none that writes a file.
const OPTIONS: [&str; 13] = [
    "--bound",
    "--define",
    "--domain",
    "--engine",
    "--entry",
    "--guesses",
    "--leaks",
    "--overflow",
    "--pool",
    "--races",
    "--spurious",
    "--threads-bound",
    "--unroll",
];

/// A line without what begins and ends a comment.
fn comment(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "/#*(-".contains(c));
    line.trim_end_matches(|c: char| c.is_whitespace() || "*/)".contains(c))
}

/// The options that a text asks for, as words.
///
/// # Errors
/// The line of an option that it may not ask for, and what is wrong.
fn options(text: &str) -> Result<Vec<OsString>, (u64, String)> {
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(rest) = comment(line).strip_prefix("options:") else { continue };
        for word in rest.split_whitespace().map(|word| word.trim_end_matches(',')) {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            if word.starts_with('-') && !OPTIONS.contains(&name) {
                let message =
                    format!("a program cannot ask for `{name}`, only for {}", OPTIONS.join(", "));
                return Err((number, message));
            }
            words.push(word.into());
        }
    }
    Ok(words)
}

/// The expectations of a text.
///
/// # Errors
/// The first that cannot be read: its line and what is wrong.
fn expectations(text: &str) -> Result<Vec<Expectation>, (u64, String)> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(rest) = comment(line).strip_prefix("expect:") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [model, property @ .., verdict] = words.as_slice() else {
            let message = "an expectation is `expect: MODEL PROPERTY VERDICT`".to_owned();
            return Err((number, message));
        };
        if OTHERS.contains(model) {
            continue;
        }
        let model = crate::cli::options::model(model).map_err(|error| (number, error))?;
        let verdict = Expected::of(verdict).ok_or_else(|| {
            (number, format!("`{verdict}` is no verdict: `holds`, `violated` or `unknown` is"))
        })?;
        let property = (!property.is_empty()).then(|| property.join(" "));
        found.push(Expectation { line: number, model, property, verdict });
    }
    Ok(found)
}

pub fn run(args: &Test, limits: LimitArgs) -> Status {
    let mut status = Status::Fine;
    let mut asked: Vec<(Item, Vec<Expectation>)> = Vec::new();
    let (mut slow, mut silent) = (0, 0);
    for file in &args.programs.files {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                status = status.and(fail_about(file, &format!("cannot read `{file}`: {error}")));
                continue;
            }
        };
        let read = expectations(&text).and_then(|expected| Ok((expected, options(&text)?)));
        let (mut expected, options) = match read {
            Ok(read) => read,
            Err((line, message)) => {
                let message = format!("`{file}`, line {line}: {message}");
                status = status.and(fail_about(file, &message));
                continue;
            }
        };
        if !args.models.models.is_empty() {
            expected.retain(|expectation| args.models.models.contains(&expectation.model));
        }
        silent += usize::from(expected.is_empty());
        let all = expected.len();
        expected.retain(|expectation| expectation.verdict != Expected::Slow);
        slow += all - expected.len();
        asked.extend(items(file, expected, &options));
    }
    if asked.is_empty() {
        return status
            .and(fail("no program here has an expectation, such as `// expect: tso mutex holds`"));
    }
    let running = Running::new(args.batch.jobs, args.batch.each, limits);
    let shown = Printer::new(style(args.format));
    let mut tests =
        Tests { asked: &asked, next: 0, met: 0, failed: 0, printer: shown, open: vec![] };
    let items: Vec<Item> = asked.iter().map(|(item, _)| item.clone()).collect();
    let header = Header::new("test", &[], "json");
    let mut log = match MaybeLog::open(args.batch.resume.as_deref(), &header) {
        Ok(log) => log,
        Err(message) => return fail(&message),
    };
    let known = log.known(&items);
    let count = run::all(&items, known, &running, &mut |item, done| {
        if let Err(message) = log.put(item, done) {
            status = status.and(fail(&message));
            return ControlFlow::Break(());
        }
        let of_item = tests.add(done);
        status = status.and(of_item);
        match args.batch.fail_fast && of_item != Status::Fine {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    if count < items.len() {
        status = status.and(Status::Unknown);
    }
    tests.finish(slow, silent);
    status
}

/// The searches that answer what a file expects: one for each model.
fn items(
    file: &str,
    expected: Vec<Expectation>,
    options: &[OsString],
) -> Vec<(Item, Vec<Expectation>)> {
    let mut items: Vec<(Item, Vec<Expectation>)> = Vec::new();
    for expectation in expected {
        let model = expectation.model.to_string();
        match items.iter_mut().find(|(item, _)| item.model == model) {
            Some((_, of_model)) => of_model.push(expectation),
            None => {
                let words = ["check", file, "--model", &model, "--format", "json"];
                let words =
                    words.map(Into::into).into_iter().chain(options.iter().cloned()).collect();
                let file = file.to_owned();
                let item = Item { file, model, words, is_snapped: true, place: None };
                items.push((item, vec![expectation]));
            }
        }
    }
    items
}

struct Tests<'a> {
    asked: &'a [(Item, Vec<Expectation>)],
    next: usize,
    met: usize,
    failed: usize,
    printer: Printer,
    /// What is wrong with the file whose results come.
    open: Vec<String>,
}

impl Tests<'_> {
    fn add(&mut self, done: &Done) -> Status {
        let (item, expected) = &self.asked[self.next];
        self.next += 1;
        let rows = judge(item, expected, done);
        let failed = rows.iter().filter(|row| row.status != Status::Fine);
        self.failed += failed.clone().count();
        self.met += rows.len() - failed.clone().count();
        self.open.extend(failed.map(|row| {
            let line = row.line.map_or_else(String::new, |line| format!("line {line}: "));
            format!("{line}{} {}: {}", item.model, row.property, row.message)
        }));
        let status = rows.iter().fold(Status::Fine, |status, row| status.and(row.status));
        if self.printer.style != Style::Text("human") {
            self.printer.add_rows(item, rows, done);
            return status;
        }
        let is_last = self.asked.get(self.next).is_none_or(|(next, _)| next.file != item.file);
        if is_last {
            let problems = std::mem::take(&mut self.open);
            let (word, verdict) = match problems.is_empty() {
                true => ("ok", Verdict::Holds),
                false => ("NOT MET", Verdict::Violated),
            };
            let mut out = format!(
                "{} {}\n",
                paint(color(verdict), word),
                paint(Default::default(), &item.file)
            );
            for problem in problems {
                let _ = writeln!(out, "  {}", paint(Default::default(), &problem));
            }
            print(&out);
        }
        status
    }

    fn finish(&self, slow: usize, silent: usize) {
        if self.printer.style != Style::Text("human") {
            return self.printer.finish(self.asked.len(), 0.0);
        }
        let mut text = format!(
            "{}: {} met, {} not",
            counted(self.met + self.failed, "expectation"),
            self.met,
            self.failed
        );
        let left: usize = self.asked[self.next..].iter().map(|(_, expected)| expected.len()).sum();
        for (count, what) in [(left, "not asked"), (slow, "slow and not asked")] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        if silent > 0 {
            let _ = write!(text, "; {} without expectations", counted(silent, "file"));
        }
        print(&format!("\n{}\n", paint(QUIET, &text)));
    }
}

/// What becomes of each expectation.
fn judge(item: &Item, expected: &[Expectation], done: &Done) -> Vec<Row> {
    let found = rows::of(item, done);
    let error = found.iter().find(|row| row.kind.is_empty());
    let judged = |expectation: &Expectation| {
        let property = expectation.property.clone().unwrap_or_default();
        let row = |status: Status, message: String| Row {
            property: property.clone(),
            kind: "expectation".to_owned(),
            line: Some(expectation.line),
            verdict: if status == Status::Fine { "met" } else { "not met" }.to_owned(),
            status,
            message,
            failure: None,
        };
        if let Some(error) = error {
            return row(error.status, error.message.clone());
        }
        let about: Vec<&Row> =
            found.iter().filter(|r| property.is_empty() || r.property == property).collect();
        if about.is_empty() {
            let names: Vec<String> = found.iter().map(|r| format!("`{}`", r.property)).collect();
            let message = format!("there is no such property, only {}", names.join(", "));
            return row(Status::Wrong, message);
        }
        let worst = about.iter().fold(Status::Fine, |status, r| status.and(r.status));
        let verdict = match worst {
            Status::Fine => Verdict::Holds,
            Status::Violated => Verdict::Violated,
            _ => Verdict::Unknown,
        };
        let wanted = expectation.verdict;
        if wanted.is_met_by(verdict) {
            return row(Status::Fine, String::new());
        }
        let message = format!("expected {}, is {}", wanted.word(), verdict.name());
        match verdict {
            Verdict::Unknown => {
                let reason = about.iter().find(|r| r.status == Status::Unknown);
                let reason = reason.map(|r| format!(": {}", r.message)).unwrap_or_default();
                row(Status::Unknown, message + &reason)
            }
            _ => row(Status::Violated, message),
        }
    };
    expected.iter().map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_stand_in_comments_of_any_language() {
        let text = "// expect: sc  no deadlock holds\n# expect: tso violated\n\
             /* expect: pso reached */\n   expect: nsw not-reached */\n(* expect: tso x allowed *)\n\
             // expect: none store-buffer process\nprint(\"expect: tso x holds\")\n";
        let found = expectations(text).unwrap();
        let shown: Vec<(u64, String, &str)> = found
            .iter()
            .map(|e| (e.line, e.property.clone().unwrap_or_default(), e.verdict.word()))
            .collect();
        let row = |line, property: &str, verdict| (line, property.to_owned(), verdict);
        assert_eq!(
            shown,
            [
                row(1, "no deadlock", "holds"),
                row(2, "", "violated"),
                row(3, "", "violated"),
                row(4, "", "holds"),
                row(5, "x", "holds"),
            ]
        );
        assert_eq!(found[0].model, MemoryModel::SC);
    }

    #[test]
    fn wrong_expectations_are_errors() {
        assert_eq!(expectations("\n// expect: holds").unwrap_err().0, 2);
        assert!(expectations("// expect: tsu mutex holds").unwrap_err().1.contains("`TSO`"));
        assert!(expectations("// expect: tso mutex maybe").unwrap_err().1.contains("`maybe`"));
    }

    #[test]
    fn options_write_no_files() {
        let words = options("/* options: --domain x=0..7, --unroll=3 */").unwrap();
        assert_eq!(words, ["--domain", "x=0..7", "--unroll=3"]);
        for bad in ["--html a", "--html=a", "-o a", "--bound 3 --witness w"] {
            assert!(options(&format!("// options: {bad}")).is_err(), "{bad}");
        }
    }
}
