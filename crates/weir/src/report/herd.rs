//! The output block of herd, which litmus scripts read: one per test.

use std::fmt::Write;

use weir_model::program::{Atom, Quantifier};
use weir_model::question::Kind;

use crate::question::{Listed, show_value};

/// The block of one test. Counts are of states, where herd counts executions.
///
/// If accesses race there are no states, and the block says `Undef`. It has no `Observation` then: scripts would take
/// `Never` for an answer.
pub fn block(listed: &Listed) -> String {
    let Listed { loaded, outcomes, .. } = listed;
    let system = &loaded.system;
    let name = &system.program.name;
    let quantifier = system.questions.iter().find_map(|q| match q.kind {
        Kind::Final { quantifier, .. } => Some(quantifier),
        _ => None,
    });
    let total = outcomes.states.len();
    let positive = outcomes.states.iter().filter(|(_, picked)| *picked).count();
    let (kind, ok) = match quantifier {
        Some(Quantifier::Exists) => ("Allowed", positive > 0),
        Some(Quantifier::Never) => ("Forbidden", positive == 0),
        Some(Quantifier::Always) | None => ("Required", positive == total),
    };
    let mut states: Vec<String> = outcomes
        .states
        .iter()
        .map(|(values, _)| {
            let cells = outcomes.atoms.iter().zip(values);
            cells.fold(String::new(), |mut line, (atom, value)| {
                let shown = show_value(loaded, *atom, *value);
                let name = system.atom_name(*atom);
                let _ = match atom {
                    Atom::Var(_) => write!(line, "[{name}]={shown}; "),
                    _ => write!(line, "{name}={shown}; "),
                };
                line
            })
        })
        .map(|line| line.trim_end().to_owned())
        .collect();
    states.sort();
    states.dedup();
    let condition = weir_front::litmus::condition_text(&system.program, &loaded.source);
    let observation = match positive {
        0 => "Never",
        n if n == total => "Always",
        _ => "Sometimes",
    };
    let mut block = format!("Test {name} {kind}\nStates {}\n", states.len());
    for state in states {
        block += &state;
        block.push('\n');
    }
    let negative = total - positive;
    let is_undefined = listed.is_undefined();
    let validation = match (is_undefined, ok) {
        (true, _) => "Undef",
        (false, true) => "Ok",
        (false, false) => "No",
    };
    let _ = write!(block, "{validation}\nWitnesses\nPositive: {positive} Negative: {negative}\n");
    if is_undefined {
        block += "Flag *undef*\n";
    }
    let _ = writeln!(block, "Condition {condition}");
    if !is_undefined {
        let _ = writeln!(block, "Observation {name} {observation} {positive} {negative}");
    }
    let _ = writeln!(block, "Time {name} {:.2}", outcomes.stats.elapsed.as_secs_f64());
    block
}
