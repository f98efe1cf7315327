//! Checks files of evidence about a program, each kind with its checker.

use serde::Deserialize;
use weir_check::buffers::Buffers;
use weir_check::check_lines;
use weir_check::lasso::{Asked, Lasso};
use weir_check::strategy::StrategyFile;
use weir_check::unblocked::Unblocked;
use weir_check::upward::UpwardSets;
use weir_check::{Certificate, Witness};
use weir_model::memory_model::MemoryModel;

use crate::Loaded;
use crate::report::{counted, live_name};

/// What every kind of evidence says first.
#[derive(Deserialize)]
struct Kind {
    format: String,
    model: Option<String>,
}

/// The memory model that evidence is about, where it says one: the system of a program
/// depends on it.
pub fn model(text: &str) -> Option<MemoryModel> {
    serde_json::from_str::<Kind>(text).ok()?.model?.parse().ok()
}

/// Checks evidence about a program.
///
/// # Errors
/// If the text is no evidence.
pub fn certify(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let kind: Kind = serde_json::from_str(text)?;
    let known = KINDS.into_iter().find(|(format, _)| *format == kind.format);
    let check = known.map_or(witness as Check, |(_, check)| check);
    Ok(within_bounds(check(text, loaded)?))
}

/// Checks one kind of evidence about a program.
type Check = fn(&str, &Loaded) -> serde_json::Result<Checked>;

/// The kinds of evidence, by what their files call themselves. A file that is none of these
/// is rejected as a witness.
const KINDS: [(&str, Check); 7] = [
    (weir_check::witness::FORMAT, witness),
    (weir_check::certificate::FORMAT, certificate),
    (weir_check::upward::FORMAT, upward_sets),
    (weir_check::lasso::FORMAT, lasso),
    (weir_check::unblocked::FORMAT, unblocked),
    (weir_check::buffers::FORMAT, buffers),
    (weir_check::strategy::FORMAT, strategy),
];

/// What became of a piece of evidence.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Whether it shows that no value leaves its bound, or need not.
    within_bounds: bool,
    /// Why it is rejected; nothing if it is accepted.
    pub reason: Option<String>,
    /// What it is, in a few words.
    pub what: String,
    /// The memory model that it is about.
    pub model: String,
    /// The names of the properties that it settles.
    pub properties: Vec<String>,
}

/// That something holds is shown only together with that nothing leaves its
/// bound; a run shows what it shows.
fn within_bounds(mut checked: Checked) -> Checked {
    if !checked.within_bounds && checked.reason.is_none() {
        checked.reason = Some("it does not show that no value leaves its bound".to_owned());
    }
    checked
}

fn witness(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let witness: Witness = serde_json::from_str(text)?;
    Ok(Checked {
        within_bounds: true,
        reason: weir_check::check(&loaded.system, &witness)
            .map_err(|rejected| rejected.to_string())
            .and_then(|()| check_lines(&loaded.system, &witness.steps, &|span| loaded.line(span)))
            .err(),
        what: format!("a run of {}", counted(witness.steps.len(), "step")),
        model: witness.model,
        properties: vec![witness.property_name],
    })
}

fn certificate(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let certificate: Certificate = serde_json::from_str(text)?;
    let known = loaded.system.questions.len();
    let bounds = loaded.system.bounds_question();
    let names = certificate.properties.iter().filter(|p| **p < known);
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| certificate.properties.contains(&b)),
        reason: weir_check::certificate::check(&loaded.system, &certificate).err(),
        what: format!(
            "an inductive set of {}",
            counted(certificate.configurations.len(), "configuration")
        ),
        properties: names.map(|p| loaded.system.questions[*p].name.clone()).collect(),
        model: certificate.model,
    })
}

fn lasso(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let lasso: Lasso = serde_json::from_str(text)?;
    let property = match &lasso.property {
        Asked::Progress(name) => name.clone(),
        Asked::Live(index) => live_name(&loaded.system.program, *index),
    };
    let (stem, cycle) = (lasso.stem.len(), lasso.cycle.len());
    Ok(Checked {
        // Past a bound the process loops in a sink state.
        within_bounds: loaded.system.bounds_question().is_none(),
        reason: weir_check::lasso::check(&loaded.system.program, &lasso)
            .and_then(|()| weir_check::lasso::system(&loaded.system.program, lasso.clients))
            .and_then(|system| {
                let steps = [lasso.stem.as_slice(), &lasso.cycle].concat();
                check_lines(&system, &steps, &|span| loaded.line(span))
            })
            .err(),
        what: format!("a lasso of {} and a cycle of {cycle}", counted(stem, "step")),
        model: lasso.model,
        properties: vec![property],
    })
}

fn unblocked(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let file: Unblocked = serde_json::from_str(text)?;
    let stops = file.stops.len();
    Ok(Checked {
        within_bounds: loaded.system.bounds_question().is_none(),
        reason: weir_check::unblocked::check(&loaded.system.program, &file).err(),
        what: match stops {
            0 => "the absence of blocking pairs".to_owned(),
            _ => format!("a proof for blocking pairs at {}", counted(stops, "control state")),
        },
        model: "TSO".to_owned(),
        properties: vec!["obstruction-free".to_owned()],
    })
}

fn strategy(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let file: StrategyFile = serde_json::from_str(text)?;
    let known = file.game < loaded.system.program.games.len();
    Ok(Checked {
        within_bounds: loaded.system.bounds_question().is_none(),
        reason: weir_check::strategy::check(&loaded.system, &file).err(),
        what: format!("a strategy of the {} player", file.winner),
        properties: known.then(|| loaded.system.game_name(file.game)).into_iter().collect(),
        model: match file.fairness.as_str() {
            "none" => file.semantics,
            fairness => format!("{} and {fairness} fairness", file.semantics),
        },
    })
}

fn upward_sets(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let sets: UpwardSets = serde_json::from_str(text)?;
    let known = loaded.system.questions.len();
    let bounds = loaded.system.bounds_question();
    let names = sets.sets.iter().map(|s| s.property).filter(|p| *p < known);
    let states: usize = sets.sets.iter().map(|s| s.states.len()).sum();
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| sets.sets.iter().any(|s| s.property == b)),
        reason: weir_check::upward::check(&loaded.system, &sets).err(),
        what: format!("an upward-closed set of {}", counted(states, "minimal state")),
        properties: names.map(|p| loaded.system.questions[p].name.clone()).collect(),
        model: sets.model,
    })
}

fn buffers(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let set: Buffers = serde_json::from_str(text)?;
    let known = loaded.system.questions.len();
    let bounds = loaded.system.bounds_question();
    let names = set.properties.iter().filter(|p| **p < known);
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| set.properties.contains(&b)),
        reason: weir_check::buffers::check(&loaded.system, &set).err(),
        what: format!("a set of {} with buffer automata", counted(set.states.len(), "state")),
        properties: names.map(|p| loaded.system.questions[*p].name.clone()).collect(),
        model: set.model,
    })
}
