//! Results as tables: CSV and JSON lines.

use serde::Serialize;
use weir_front::escape;

use super::rows::Row;
use super::run::{Done, Item};
use crate::output::json;

/// The first line of a table in CSV.
pub fn csv_heading() -> &'static str {
    "file,model,property,kind,line,verdict,message,seconds\n"
}

/// The rows of a search in CSV (RFC 4180).
pub fn csv(item: &Item, rows: &[Row], done: &Done) -> String {
    let line = |row: &Row| {
        let number = row.line.map(|line| line.to_string()).unwrap_or_default();
        let seconds = format!("{:.3}", done.seconds);
        let cells = [
            &item.file,
            &item.model,
            &row.property,
            &row.kind,
            &number,
            &row.verdict,
            &row.message,
            &seconds,
        ];
        cells.map(|cell| escape::csv(cell).into_owned()).join(",") + "\n"
    };
    rows.iter().map(line).collect()
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    property: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    verdict: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    seconds: f64,
}

/// The rows of a search as JSON, one object in a line each.
pub fn jsonl(item: &Item, rows: &[Row], done: &Done) -> String {
    let line = |row: &Row| {
        let line = Line {
            file: &item.file,
            model: &item.model,
            property: &row.property,
            kind: &row.kind,
            line: row.line,
            verdict: &row.verdict,
            message: &row.message,
            seconds: (done.seconds * 1000.0).round() / 1000.0,
        };
        json(&line).expect("rows have a form in JSON") + "\n"
    };
    rows.iter().map(line).collect()
}
