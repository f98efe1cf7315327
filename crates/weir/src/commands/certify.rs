//! `weir certify`

use serde::Deserialize;
use weir::load::read_evidence;
use weir::{Certificate, Loaded, Verdict, Witness};
use weir_check::buffers::Buffers;
use weir_check::lasso::{Asked, Lasso};
use weir_check::strategy::StrategyFile;
use weir_check::unblocked::Unblocked;
use weir_check::upward::UpwardSets;

use super::live::live_name;
use super::{Status, complain, fail, print, print_json};
use crate::cli::{Certify, Format};
use crate::limits;
use crate::output::paint;
use crate::progress::counted;
use crate::terminal::style;

/// What every kind of evidence says first.
#[derive(Deserialize)]
struct Kind {
    format: String,
    model: Option<String>,
}

pub fn run(args: &Certify) -> Status {
    let file = &args.evidence;
    let text = match read_evidence(file, &limits::budget()) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    if text.trim().is_empty() {
        return fail(&format!("`{file}` is empty: it is neither a witness nor a certificate"));
    }
    let kind = serde_json::from_str::<Kind>(&text);
    let model = kind.as_ref().ok().and_then(|k| k.model.as_ref()?.parse().ok());
    let loaded = match args.language.load(&args.file, model.as_slice()) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    let checked = match kind {
        Ok(kind) if kind.format == weir_check::certificate::FORMAT => certificate(&text, &loaded),
        Ok(kind) if kind.format == weir_check::upward::FORMAT => upward_sets(&text, &loaded),
        Ok(kind) if kind.format == weir_check::lasso::FORMAT => lasso(&text, &loaded),
        Ok(kind) if kind.format == weir_check::unblocked::FORMAT => unblocked(&text, &loaded),
        Ok(kind) if kind.format == weir_check::buffers::FORMAT => buffers(&text, &loaded),
        Ok(kind) if kind.format == weir_check::strategy::FORMAT => strategy(&text, &loaded),
        Ok(_) => witness(&text, &loaded),
        Err(error) => Err(error),
    };
    let checked = match checked {
        Ok(checked) => within_bounds(checked),
        Err(error) => {
            return fail(&format!("`{file}` is neither a witness nor a certificate: {error}"));
        }
    };
    let accepted = checked.reason.is_none();
    match args.format {
        Format::Json => print_json(&serde_json::json!({
            "accepted": accepted,
            "reason": checked.reason,
            "model": checked.model,
            "properties": checked.properties,
        })),
        Format::Human => print(&match checked.reason {
            None => format!(
                "{} {file}: {} that settles {} under {}\n",
                paint(style(Verdict::Holds), "accepted"),
                checked.what,
                quoted(&checked.properties),
                checked.model,
            ),
            Some(reason) => {
                format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
            }
        }),
    }
    if accepted { Status::Fine } else { Status::Violated }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// What became of a piece of evidence.
struct Checked {
    /// Whether it shows that no value leaves its bound, or need not.
    within_bounds: bool,
    reason: Option<String>,
    what: String,
    model: String,
    properties: Vec<String>,
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
        reason: weir_check::check(&loaded.system, &witness).err().map(|r| r.to_string()),
        what: format!("a run of {}", counted(witness.steps.len(), "step")),
        model: witness.model,
        properties: vec![witness.property_name],
    })
}

fn certificate(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let certificate: Certificate = serde_json::from_str(text)?;
    let known = loaded.system.program.properties.len();
    let bounds = loaded.system.bounds_property();
    let names = certificate.properties.iter().filter(|p| **p < known);
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| certificate.properties.contains(&b)),
        reason: weir_check::certificate::check(&loaded.system, &certificate).err(),
        what: format!(
            "an inductive set of {}",
            counted(certificate.configurations.len(), "configuration")
        ),
        properties: names.map(|p| loaded.system.property_name(*p)).collect(),
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
        // Beyond a bound a process goes round in a place that is none of the program's.
        within_bounds: loaded.system.bounds_property().is_none(),
        reason: weir_check::lasso::check(&loaded.system.program, &lasso).err(),
        what: format!("a lasso of {} and a cycle of {cycle}", counted(stem, "step")),
        model: lasso.model,
        properties: vec![property],
    })
}

fn unblocked(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let file: Unblocked = serde_json::from_str(text)?;
    let stops = file.stops.len();
    Ok(Checked {
        within_bounds: loaded.system.bounds_property().is_none(),
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
        within_bounds: loaded.system.bounds_property().is_none(),
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
    let known = loaded.system.program.properties.len();
    let bounds = loaded.system.bounds_property();
    let names = sets.sets.iter().map(|s| s.property).filter(|p| *p < known);
    let states: usize = sets.sets.iter().map(|s| s.states.len()).sum();
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| sets.sets.iter().any(|s| s.property == b)),
        reason: weir_check::upward::check(&loaded.system, &sets).err(),
        what: format!("an upward-closed set of {}", counted(states, "minimal state")),
        properties: names.map(|p| loaded.system.property_name(p)).collect(),
        model: sets.model,
    })
}

fn buffers(text: &str, loaded: &Loaded) -> serde_json::Result<Checked> {
    let set: Buffers = serde_json::from_str(text)?;
    let known = loaded.system.program.properties.len();
    let bounds = loaded.system.bounds_property();
    let names = set.properties.iter().filter(|p| **p < known);
    Ok(Checked {
        within_bounds: bounds.is_none_or(|b| set.properties.contains(&b)),
        reason: weir_check::buffers::check(&loaded.system, &set).err(),
        what: format!("a set of {} with buffer automata", counted(set.states.len(), "state")),
        properties: names.map(|p| loaded.system.property_name(*p)).collect(),
        model: set.model,
    })
}
