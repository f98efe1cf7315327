//! `weir models`

use std::fmt::Write as _;

use weir::report::models::{Known, ModelRow, ModelsReport};
use weir::report::table::Table;
use weir_model::memory_model::Relaxation;

use super::{Status, print, print_json};
use crate::cli::Models;
use crate::cli::options::Format;
use crate::output::paint;
use crate::terminal::STRONG;

pub fn run(args: &Models) -> Status {
    let report = ModelsReport::default();
    match args.format {
        Format::Json => print_json(&report),
        Format::Human => print(&human(&report.models)),
    }
    Status::Fine
}

/// Prints a table whose first row is its head.
fn add(out: &mut String, table: &Table) {
    for (i, line) in table.lines("  ").iter().enumerate() {
        let line = if i == 0 { paint(STRONG, line) } else { line.clone() };
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn human(rows: &[ModelRow]) -> String {
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
            can grow past the bound (C11: no location has more writes); otherwise a run that is\n\
            found is real, and not to find one is `unknown`.\n\n";
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
        let set = match row.model.as_str() {
            "C11" => "none: it is about memory orders".to_owned(),
            _ => format!("{{{}}}", row.relaxations.join(", ")),
        };
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
            more, but for RWF: partial fences order something only where RWF is in the set. C11\n\
            is the model of C, C++ and Rust, also called c++20 or rust, and takes no relaxation.\n";
    out
}
