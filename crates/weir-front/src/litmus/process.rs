//! From a column of the table to a process: its labels, and its code in order.

use std::collections::HashMap;
use std::ops::Range;

use weir_model::ids::LabelId;
use weir_model::program::{Label, Process, StmtKind};

use super::emit::Emitter;
use super::table::Item;
use super::test::{Layout, Test};
use crate::Diagnostic;
use crate::suggest::closest;

/// Labels are numbered in 16 bits.
const MAX_LABELS: usize = u16::MAX as usize;

/// The process that runs `code` as thread number `thread`.
pub(super) fn process(test: &mut Test, layout: &Layout, thread: usize, code: &[Item]) -> Process {
    let (labels, by_name) = labels(test, code);
    let mut emitter = Emitter::new(test, layout, thread);
    for item in code {
        if let Item::Instruction(instruction) = item {
            emitter.need_flags(instruction);
        }
    }
    for item in code {
        match item {
            Item::Label(name, range) => {
                emitter.move_to(range);
                if let Some(&label) = by_name.get(name.as_str()) {
                    emitter.push(StmtKind::Label(label));
                }
            }
            Item::Instruction(instruction) => {
                emitter.move_to(&instruction.range);
                match &instruction.target {
                    None => emitter.instruction(instruction),
                    Some((name, range)) => match by_name.get(name.as_str()) {
                        Some(&label) => emitter.jump(instruction.operation.condition(), label),
                        None => emitter.error(|| unknown_label(name, range, &labels)),
                    },
                }
            }
        }
    }
    let body = emitter.finish();
    let registers = test.take_registers(thread, layout);
    Process { name: format!("P{thread}"), registers, labels, body }
}

/// The labels of a thread, and each one by its name.
fn labels<'c>(test: &mut Test, code: &'c [Item]) -> (Vec<Label>, HashMap<&'c str, LabelId>) {
    let mut labels = vec![];
    let mut by_name = HashMap::new();
    let mut places: Vec<Range<usize>> = vec![];
    for item in code {
        let Item::Label(name, range) = item else { continue };
        if let Some(LabelId(first)) = by_name.get(name.as_str()) {
            let message = format!("there are two labels `{name:.40}` in this thread");
            let first = places[usize::from(*first)].clone();
            test.errors.push(Diagnostic::new(message, range.clone()).note(first, "the first one"));
        } else if labels.len() == MAX_LABELS {
            let message = format!("at most {MAX_LABELS} labels are read in a thread");
            test.errors.push(Diagnostic::new(message, range.clone()));
            break;
        } else {
            by_name.insert(name.as_str(), LabelId::new(labels.len()));
            labels.push(Label { name: name.clone(), span: test.source.span(range.clone()) });
            places.push(range.clone());
        }
    }
    (labels, by_name)
}

fn unknown_label(name: &str, range: &Range<usize>, labels: &[Label]) -> Diagnostic {
    let error =
        Diagnostic::new(format!("there is no label `{name:.40}` in this thread"), range.clone());
    // Enough of them for any table that a person has written.
    let labels = labels.iter().take(1000).map(|label| label.name.as_str());
    match closest(name, labels) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error,
    }
}
