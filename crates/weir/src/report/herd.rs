//! The output block of herd, which litmus scripts read: one per test.

use std::fmt::Write;

use weir_engine::explicit::Outcomes;
use weir_model::program::{Atom, Quantifier};
use weir_model::question::Kind;

use crate::load::Loaded;
use crate::question::show_value;

/// The block of one test. Counts are of states, where herd counts executions.
pub fn block(loaded: &Loaded, outcomes: &Outcomes) -> String {
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
    let _ = write!(
        block,
        "{}\nWitnesses\nPositive: {positive} Negative: {}\nCondition {condition}\n\
         Observation {name} {observation} {positive} {}\nTime {name} {:.2}\n",
        if ok { "Ok" } else { "No" },
        total - positive,
        total - positive,
        outcomes.stats.elapsed.as_secs_f64(),
    );
    block
}
