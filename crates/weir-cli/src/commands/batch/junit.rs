//! Results as test results in the XML of JUnit: a suite for each file and model, and a case for each
//! property.

use std::fmt::Write as _;

use weir_front::escape::markup;

use super::super::Status;
use super::rows::Row;
use super::run::Item;

/// How many cases there are of each kind. None is skipped.
#[derive(Clone, Copy, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
    }

    fn of(rows: &[Row]) -> Self {
        let count = |is: fn(Status) -> bool| rows.iter().filter(|row| is(row.status)).count();
        Self {
            tests: rows.len(),
            failures: count(|status| status == Status::Violated),
            errors: count(|status| {
                matches!(status, Status::Wrong | Status::Internal | Status::Unknown)
            }),
        }
    }

    fn attributes(self) -> String {
        let Self { tests, failures, errors } = self;
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
    }
}

/// The document of all results.
pub fn document(results: &[(Item, Vec<Row>, f64)]) -> String {
    let mut total = Counts::default();
    let mut time = 0.0;
    let mut suites = String::new();
    for (item, rows, seconds) in results {
        let counts = Counts::of(rows);
        total.add(counts);
        time += seconds;
        let name = markup(&format!("{} under {}", item.file, item.model));
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" {} time=\"{seconds:.3}\">",
            counts.attributes()
        );
        for row in rows {
            suites += &case(item, row);
        }
        suites += "  </testsuite>\n";
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"weir\" {} time=\"{time:.3}\">\n{suites}</testsuites>\n",
        total.attributes()
    )
}

fn case(item: &Item, row: &Row) -> String {
    let name = if row.property.is_empty() { "answer" } else { &row.property };
    let file = item.place.as_ref().map_or(&item.file, |(file, _)| file);
    let (name, file) = (markup(name), markup(file));
    let class = markup(&format!("{}.{}", item.file, item.model));
    let start = format!("    <testcase name=\"{name}\" classname=\"{class}\" file=\"{file}\"");
    let element = match row.status {
        Status::Fine => return format!("{start}/>\n"),
        Status::Violated => "failure",
        Status::Unknown | Status::Wrong | Status::Internal => "error",
    };
    let place = row.line.map(|line| format!(":{line}")).unwrap_or_default();
    let message = markup(&format!("{}: {}", row.verdict, row.message));
    let kind = markup(&row.verdict);
    let body = markup(&format!("{}{place}: {}", item.file, row.message));
    format!(
        "{start}>\n      <{element} message=\"{message}\" type=\"{kind}\">{body}</{element}>\n    </testcase>\n"
    )
}
