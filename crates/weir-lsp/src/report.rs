//! What an editor shows by itself: errors, lenses over properties, and fixes.

use std::collections::HashMap;
use std::ops::Range;

use lsp_types::{
    CodeAction, CodeActionKind, CodeLens, Command, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, Location, Uri, WorkspaceEdit,
};
use serde_json::json;
use weir::MemoryModel;
use weir_front::errors::quote;
use weir_front::weir::names::SymbolKind;

use crate::checks::{Answer, Judgment, Repair};
use crate::document::Document;

/// Shows a run: `[address, model, property]`.
pub const SHOW_RUN: &str = "weir.showRun";
/// Removes the run from the text: `[address]`.
pub const HIDE_RUN: &str = "weir.hideRun";
/// Checks again, perhaps for longer: `[address, seconds]`.
pub const CHECK: &str = "weir.check";

/// The time limit, in seconds, of a check that a person asks for by a click.
const LONG_CHECK: u64 = 60;

/// The most steps that a diagnostic lists.
const MOST_STEPS: usize = 30;

/// What is wrong with a text: its errors, or the properties that are violated.
pub fn diagnostics(document: &Document) -> Vec<Diagnostic> {
    let mut list: Vec<Diagnostic> = document.errors().iter().map(|e| error(document, e)).collect();
    for answers in &document.answers {
        let is_shown = |a: &&Answer| matches!(a.judgment, Judgment::Violated | Judgment::Refused);
        let violated = answers.list.iter().filter(is_shown);
        list.extend(violated.map(|answer| violation(document, answers.model, answer)));
    }
    list
}

/// An error with all its places.
fn error(document: &Document, error: &weir::Diagnostic) -> Diagnostic {
    let mut message = error.message.clone();
    let mut range = error.range.clone();
    let mut notes = &error.notes[..];
    if let Some(file) = &error.file {
        let (line, _) = error.position(&document.text);
        message = format!("in {}, line {line}: {message}", quote(&file.0));
        (range, notes) = (0..0, &[]);
    }
    let label = Some(&*error.label).filter(|label| !label.is_empty());
    for more in [label, error.help.as_deref()] {
        message.extend(more.map(|more| format!("\n{more}")));
    }
    let note = |(range, text): &(Range<usize>, String)| DiagnosticRelatedInformation {
        location: Location::new(document.uri.clone(), document.span(range)),
        message: text.clone(),
    };
    Diagnostic {
        range: document.span(&visible(document, range)),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("weir".to_owned()),
        message,
        related_information: Some(notes.iter().map(note).collect()),
        ..Diagnostic::default()
    }
}

/// A range with at least one character, where there is one.
fn visible(document: &Document, range: Range<usize>) -> Range<usize> {
    let next = || document.text.get(range.start..).and_then(|rest| rest.chars().next());
    match range.is_empty().then(next).flatten() {
        Some(c) => range.start..range.start + c.len_utf8(),
        None => range,
    }
}

/// A property that is violated, with the steps of the run.
fn violation(document: &Document, model: MemoryModel, answer: &Answer) -> Diagnostic {
    let span = place(document, answer);
    let step = |(number, step): (usize, &weir::Step)| {
        let place = step.span.as_ref()?;
        Some(DiagnosticRelatedInformation {
            location: Location::new(document.uri.clone(), document.span(place)),
            message: format!("step {}: {}: {}", number + 1, step.process, step.action),
        })
    };
    let steps = answer.run.iter().flat_map(|run| run.steps.iter().enumerate().filter_map(step));
    let why = answer.remark.as_ref().map_or(String::new(), |why| format!(": {why}"));
    Diagnostic {
        range: document.span(&span),
        severity: Some(DiagnosticSeverity::WARNING),
        source: Some("weir".to_owned()),
        message: format!("{}: {} under {model}{why}", answer.name, answer.says),
        related_information: Some(steps.take(MOST_STEPS).collect()),
        ..Diagnostic::default()
    }
}

/// Where an answer is shown: at its property, or at the object.
fn place(document: &Document, answer: &Answer) -> Range<usize> {
    match &answer.span {
        Some(span) => span.clone(),
        None => {
            let names = document.names();
            let object = names.symbols.iter().find(|s| s.kind == SymbolKind::Object);
            object.and_then(|o| o.declarations.first()).map_or(0..0, |d| d.name.clone())
        }
    }
}

/// A line over each property for each model: its answer, which shows its run.
pub fn lenses(document: &Document) -> Vec<CodeLens> {
    let mut lenses = Vec::new();
    let lens = |range: &Range<usize>, title: String, command: &str, words| CodeLens {
        range: document.span(range),
        command: Some(Command::new(title, command.to_owned(), words)),
        data: None,
    };
    for answers in &document.answers {
        for answer in &answers.list {
            let mut title = format!("{}: {}", answers.model, answer.says);
            // A property of an object has no text of its own.
            if answer.span.is_none() {
                title = format!("{} {title}", answer.name);
            }
            if let Some(remark) = &answer.remark {
                title += &format!(" ({remark})");
            }
            let address = document.uri.as_str();
            let model = answers.model.to_string();
            let (command, words) = match (&answer.run, answer.judgment) {
                (Some(_), _) => {
                    (SHOW_RUN, Some(vec![json!(address), json!(model), json!(answer.name)]))
                }
                (None, Judgment::Unknown) => (CHECK, Some(vec![json!(address), json!(LONG_CHECK)])),
                (None, _) => ("", None),
            };
            lenses.push(lens(&place(document, answer), title, command, words));
        }
    }
    let models = document.check.iter().flat_map(|check| &check.models);
    for model in models.filter(|model| document.answers.iter().all(|a| a.model != **model)) {
        for asked in &document.names().asked {
            lenses.push(lens(&asked.range, format!("{model}: checking …"), "", None));
        }
    }
    lenses
}

/// Changes that correct what is wrong in a range.
pub fn fixes(document: &Document, range: &Range<usize>) -> Vec<CodeAction> {
    let touches = |other: &Range<usize>| other.start <= range.end && range.start <= other.end;
    let mut actions = Vec::new();
    for wrong in document.errors().iter().filter(|error| error.file.is_none()) {
        let Some((place, by)) = wrong.fix.as_deref() else { continue };
        if !touches(&wrong.range) && !touches(place) {
            continue;
        }
        let title = format!("Replace {} by {}", quote(document.text_of(place)), quote(by));
        let edits = vec![(place.clone(), by.clone())];
        actions.push(action(document, title, &edits, vec![error(document, wrong)]));
    }
    for repair in &document.repairs {
        let answers = document.answers.iter().filter(|answers| answers.model == repair.model);
        let violated = answers.flat_map(|a| &a.list).filter(|a| a.may_need_fences());
        let violated: Vec<&Answer> = violated.collect();
        let is_at_property = violated.iter().any(|answer| touches(&place(document, answer)));
        if !is_at_property && !repair.edits.iter().any(|(at, _)| is_on_line(document, range, at)) {
            continue;
        }
        let solved = violated.iter().map(|answer| violation(document, repair.model, answer));
        let title = repair_title(document, repair);
        actions.push(action(document, title, &repair.edits, solved.collect()));
    }
    actions
}

fn is_on_line(document: &Document, range: &Range<usize>, at: &Range<usize>) -> bool {
    let line = document.line(at.start);
    (document.line(range.start)..=document.line(range.end)).contains(&line)
}

fn repair_title(document: &Document, repair: &Repair) -> String {
    let lines = repair.edits.iter().map(|(range, _)| document.line(range.start).to_string());
    let mut lines: Vec<String> = lines.collect();
    lines.dedup();
    let what = match (repair.fences, repair.orders) {
        (1, 0) => "Insert the missing fence".to_owned(),
        (n, 0) => format!("Insert the {n} missing fences"),
        (_, 1) => "Make an order stronger".to_owned(),
        (_, n) => format!("Make {n} orders stronger"),
    };
    let line = if lines.len() == 1 { "line" } else { "lines" };
    let lines = lines.join(", ");
    format!("{what} at {line} {lines}: then nothing is violated under {}", repair.model)
}

fn action(
    document: &Document,
    title: String,
    edits: &[(Range<usize>, String)],
    solved: Vec<Diagnostic>,
) -> CodeAction {
    let edits = edits.iter().map(|(range, by)| document.edit(range, by.clone())).collect();
    #[allow(clippy::mutable_key_type, reason = "the address is not changed, and the type is given")]
    let changes: HashMap<Uri, _> = HashMap::from([(document.uri.clone(), edits)]);
    CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(solved),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(true),
        ..CodeAction::default()
    }
}
