//! `weir models`

use std::fmt::Write as _;

use serde::Serialize;
use weir::MemoryModel;
use weir::report::table::Table;
use weir_model::memory_model::{Decidability, Relaxation};
use weir_model::semantics::Form;

use super::{Status, print, print_json};
use crate::cli::Models;
use crate::cli::options::Format;
use crate::output::paint;
use crate::terminal::STRONG;

#[derive(Serialize)]
struct Row {
    model: String,
    relaxations: Vec<&'static str>,
    reachability: &'static str,
    reference: Option<&'static str>,
    complexity: Option<Known>,
    bounded_guesses: Option<Known>,
    repeated: Known,
    semantics: Vec<&'static str>,
    forms: Vec<&'static str>,
    decides: &'static str,
}

/// What is known, and who says so.
#[derive(Serialize)]
struct Known {
    known: &'static str,
    reference: Option<&'static str>,
}

impl Known {
    fn by(known: &'static str, reference: &'static str) -> Self {
        Self { known, reference: Some(reference) }
    }
}

impl From<Decidability> for Known {
    fn from(decidability: Decidability) -> Self {
        match decidability {
            Decidability::Decidable(by) => Self::by("decidable", by),
            Decidability::Undecidable(by) => Self::by("undecidable", by),
            Decidability::Open(reference) => Self { known: "open", reference },
        }
    }
}

pub fn run(args: &Models) -> Status {
    let rows: Vec<Row> = MemoryModel::STUDIED.into_iter().map(row).collect();
    match args.format {
        Format::Json => print_json(&rows),
        Format::Human => print(&human(&rows)),
    }
    Status::Fine
}

fn row(model: MemoryModel) -> Row {
    let Known { known: reachability, reference } = model.decidability().into();
    Row {
        model: model.to_string(),
        relaxations: model.relaxations().map(Relaxation::name).collect(),
        reachability,
        reference,
        complexity: model.complexity().map(|(known, by)| Known::by(known, by)),
        bounded_guesses: model.bounded_guesses().map(|by| Known::by("decidable", by)),
        repeated: model.repeated().into(),
        semantics: Form::of(model).into_iter().map(Form::name).collect(),
        forms: Form::of(model).into_iter().map(Form::word).collect(),
        decides: match reachability {
            "decidable" => "everything",
            "undecidable" => {
                "programs without loops, and programs whose buffers stay within the bound; \
                 nothing can decide the rest"
            }
            _ => "programs without loops, and programs whose buffers stay within the bound",
        },
    }
}

/// Prints a table whose first row is its head.
fn add(out: &mut String, table: &Table) {
    for (i, line) in table.lines("  ").iter().enumerate() {
        let line = if i == 0 { paint(STRONG, line) } else { line.clone() };
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn human(rows: &[Row]) -> String {
    let mut out = String::new();
    let mut table = Table::default();
    table.row(["model", "reachability", "by", "Weir decides"]);
    for row in rows {
        let decides = match row.reachability {
            "decidable" => "everything",
            _ => "up to a bound",
        };
        table.row([&row.model, row.reachability, row.reference.unwrap_or(""), decides]);
    }
    add(&mut out, &table);
    out += "\nUp to a bound: answers are exact for programs without loops, and wherever no buffer\n\
            can grow past the bound; otherwise a run that is found is real, and not to find\n\
            one is `unknown`.\n\n";
    let mut table = Table::default();
    table.row(["with --guesses N", "reachability", "by", "Weir decides"]);
    for row in rows {
        if let Some(bounded) = &row.bounded_guesses {
            let by = bounded.reference.unwrap_or("");
            table.row([&row.model, bounded.known, by, "everything"]);
        }
    }
    add(&mut out, &table);
    out.push('\n');
    let mut table = Table::default();
    table.row(["model", "reachability is", "by", "repeated reachability", "by"]);
    for row in rows {
        let (hard, by) = match &row.complexity {
            Some(Known { known, reference }) => (*known, reference.unwrap_or("")),
            None => ("", ""),
        };
        let Known { known, reference } = &row.repeated;
        table.row([&row.model, hard, by, known, reference.unwrap_or("")]);
    }
    add(&mut out, &table);
    out.push('\n');
    let mut table = Table::default();
    table.row(["model", "relaxations", "forms of its semantics (--form)"]);
    for row in rows {
        let set = format!("{{{}}}", row.relaxations.join(", "));
        table.row([row.model.clone(), set, row.forms.join(", ")]);
    }
    add(&mut out, &table);
    out.push('\n');
    let mut table = Table::default();
    for relaxation in Relaxation::ALL {
        table.row([relaxation.name(), relaxation.meaning()]);
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "{line}");
    }
    out += "\nAny set of them is a model: --model tso+r->w, --model \"w->r,w->w,rlwe\". Each allows\n\
            more, but for RWF: partial fences order something only where RWF is in the set.\n";
    out
}
