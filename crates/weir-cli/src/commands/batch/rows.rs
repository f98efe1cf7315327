//! What tables say about a search: one row for each property, taken from its report in JSON.

use serde_json::Value;

use super::super::Status;
use super::run::{Done, Item};
use super::table;
use crate::limits;

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Row {
    pub property: String,
    /// What kind of property it is; empty if there is none.
    pub kind: String,
    pub line: Option<u64>,
    /// The verdict in a word.
    pub verdict: String,
    pub status: Status,
    /// What the property says, or why there is no answer.
    pub message: String,
    /// Of a run that violates it, what happens in the end.
    pub failure: Option<String>,
}

/// The rows of a report as lines of JSON: of those whose places among them pass. The report is
/// printed by this process, so the time is that of the command.
pub fn lines(
    file: &str,
    model: &str,
    (out, status): (String, Status),
    passes: &dyn Fn(usize) -> bool,
) -> String {
    let (file, model) = (file.to_owned(), model.to_owned());
    let item = Item { file, model, words: vec![], is_snapped: false, place: None };
    let seconds = limits::budget().elapsed().as_secs_f64();
    let done = Done { status, out, err: String::new(), seconds, digest: None, is_for_log: false };
    let rows = of(&item, &done).into_iter().enumerate();
    let rows: Vec<Row> = rows.filter(|(i, _)| passes(*i)).map(|(_, row)| row).collect();
    table::jsonl(&item, &rows, &done)
}

/// The rows of a search.
pub fn of(item: &Item, done: &Done) -> Vec<Row> {
    let values: Vec<Value> =
        done.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut rows: Vec<Row> = values.iter().flat_map(of_value).collect();
    if rows.is_empty() {
        let reason = done.err.trim().trim_start_matches("unknown: ");
        let message = match reason {
            "" => format!("`{}` under {} has no answer", item.file, item.model),
            _ => reason.to_owned(),
        };
        rows.push(row_without_answer(done.status, None, message));
    }
    // An error in a report of a limit is no error of the input.
    for row in &mut rows {
        if row.kind.is_empty() && done.status == Status::Unknown {
            *row = row_without_answer(Status::Unknown, row.line, row.message.clone());
        }
    }
    rows
}

fn row_without_answer(status: Status, line: Option<u64>, message: String) -> Row {
    let verdict = if status == Status::Unknown { "unknown" } else { "error" };
    let status = if status == Status::Fine { Status::Wrong } else { status };
    Row {
        property: String::new(),
        kind: String::new(),
        line,
        verdict: verdict.to_owned(),
        status,
        message,
        failure: None,
    }
}

fn of_value(value: &Value) -> Vec<Row> {
    if let Some(error) = value.get("error") {
        let message = text(error, "message");
        return vec![row_without_answer(Status::Wrong, error["line"].as_u64(), message)];
    }
    let findings = value["findings"].as_array().into_iter().flatten();
    let open = value["notes"].as_array().into_iter().flatten().filter(|note| note["open"] == true);
    let not_asked = open.map(|note| Row {
        kind: "live".to_owned(),
        ..row_without_answer(Status::Unknown, None, text(note, "text"))
    });
    findings.flat_map(of_finding).chain(not_asked).collect()
}

fn of_finding(finding: &Value) -> Vec<Row> {
    let verdict = text(finding, "verdict");
    let status = match verdict.as_str() {
        "holds" => Status::Fine,
        "violated" => Status::Violated,
        _ => Status::Unknown,
    };
    if finding["kind"] == "final states" {
        return states(&finding["details"], status);
    }
    let shown = finding["outcome"].as_str().map_or(verdict, str::to_owned);
    let reasons = ["reason", "vacuity", "says"];
    let message = reasons.iter().map(|field| text(finding, field)).find(|text| !text.is_empty());
    let message = message.unwrap_or_else(|| match status {
        Status::Violated => text(&finding["evidence"], "what"),
        _ => String::new(),
    });
    vec![Row {
        property: text(&finding["claim"], "question"),
        kind: text(finding, "kind"),
        line: finding["line"].as_u64(),
        verdict: shown,
        status,
        message,
        failure: failure(&finding["evidence"]["scene"]),
    }]
}

/// Why a process cannot go on after a run.
fn failure(scene: &Value) -> Option<String> {
    let failure = |of: &Value| of["place"]["failure"].as_str().map(str::to_owned);
    // A step changes the place of its process, and a process may fail without one.
    let steps = scene["steps"].as_array()?.iter().rev();
    let processes = scene["start"]["processes"].as_array()?.iter();
    steps.chain(processes).find_map(failure)
}

/// A row for each final state. The condition of the program picks some of them.
fn states(report: &Value, status: Status) -> Vec<Row> {
    let picked: Vec<u64> =
        report["picked"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let states = report["states"].as_array().into_iter().flatten();
    let row = |(state, place): (&Value, u64)| {
        let cells = state.as_object().into_iter().flatten();
        let shown: Vec<String> = cells
            .map(|(name, value)| match value {
                Value::String(text) => format!("{name}={text};"),
                other => format!("{name}={other};"),
            })
            .collect();
        let verdict = if picked.contains(&place) { "picked" } else { "reachable" };
        Row {
            property: shown.join(" "),
            kind: "final state".to_owned(),
            line: None,
            verdict: verdict.to_owned(),
            status,
            message: String::new(),
            failure: None,
        }
    };
    states.zip(0..).map(row).collect()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
