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
    semantics: Vec<&'static str>,
    decides: &'static str,
}

pub fn run(args: &Models) -> Status {
    let rows: Vec<Row> = MemoryModel::FIGURE_2.into_iter().map(row).collect();
    match args.format {
        Format::Json => print_json(&rows),
        Format::Human => print(&human(&rows)),
    }
    Status::Fine
}

fn row(model: MemoryModel) -> Row {
    let (reachability, reference, decides) = match model.decidability() {
        Decidability::Decidable(by) => ("decidable", Some(by), "everything"),
        Decidability::Undecidable(by) => (
            "undecidable",
            Some(by),
            "programs without loops, and programs whose buffers stay within the bound; \
             nothing can decide the rest",
        ),
        Decidability::Open => ("open", None, "programs without loops"),
    };
    Row {
        model: model.to_string(),
        relaxations: model.relaxations().map(Relaxation::name).collect(),
        reachability,
        reference,
        semantics: Form::of(model).into_iter().map(Form::name).collect(),
        decides,
    }
}

fn human(rows: &[Row]) -> String {
    let mut out = String::new();
    let mut table = Table::default();
    table.row(["model", "relaxations", "reachability", "by", "Weir decides"]);
    for row in rows {
        table.row([
            row.model.clone(),
            format!("{{{}}}", row.relaxations.join(", ")),
            row.reachability.to_owned(),
            row.reference.unwrap_or("").to_owned(),
            match row.reachability {
                "decidable" => "everything",
                _ => "up to a bound: nothing decides it",
            }
            .to_owned(),
        ]);
    }
    for (i, line) in table.lines("  ").iter().enumerate() {
        let _ = writeln!(out, "{}", if i == 0 { paint(STRONG, line) } else { line.clone() });
    }
    out += "\nUp to a bound: answers are exact for programs without loops, and wherever no buffer\n\
            can grow past the bound; otherwise a run that is found is real, and not to find\n\
            one is `unknown`.\n\n";
    let mut table = Table::default();
    for relaxation in Relaxation::ALL {
        table.row([relaxation.name(), relaxation.meaning()]);
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "{line}");
    }
    out += "\nAny set of them is a model: --model tso+r->w, --model \"w->r,w->w,rlwe\"\n";
    out
}
