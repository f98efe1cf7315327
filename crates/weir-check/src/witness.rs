//! Witness files: a run as JSON. The schema is in `docs/witness.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{ProcessId, SpanId, VarId};
use weir_model::semantics::{Event, EventKind, Step};
use weir_model::system::{Op, System};

/// What `format` says in a witness file.
pub const FORMAT: &str = "weir-witness";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// A run that settles a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The name of the program.
    pub program: String,
    /// The memory model.
    pub model: String,
    /// The form of its semantics that the run is one of.
    pub semantics: String,
    /// The property, by its place among the program's properties, from 0.
    pub property: usize,
    /// What the property is called.
    pub property_name: String,
    /// Where the run begins.
    pub initial: Configuration,
    /// Its steps.
    pub steps: Vec<WitnessStep>,
    /// Where it ends.
    #[serde(rename = "final")]
    pub end: Configuration,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The control state of each process, in order.
    pub states: Vec<u16>,
    /// The newest value of each variable.
    pub memory: BTreeMap<String, i64>,
    /// What each process has under way, in order, oldest first.
    pub buffers: Vec<Vec<String>>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WitnessStep {
    /// Whose step it is, by its name.
    pub process: String,
    /// The rule.
    pub rule: String,
    /// The transition that the process takes, if its control state moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<u32>,
    /// The operation, as the papers write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The variable, for everything but fences and `nop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The value read, or written if nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// Whose write was read, for "read remote write".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The line of the source, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Witness {
    /// The witness file of a run that settles a property.
    pub fn new(
        system: &System,
        run: &Run,
        property: usize,
        line: &dyn Fn(SpanId) -> usize,
    ) -> Self {
        let steps = run.steps.iter().map(|s| WitnessStep::new(system, s, line)).collect();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: system.program.name.clone(),
            model: run.model.to_string(),
            semantics: run.form.name().to_owned(),
            property,
            property_name: system.property_name(property),
            initial: Configuration::new(system, &run.start),
            steps,
            end: Configuration::new(system, &run.end(system)),
        }
    }
}

impl WitnessStep {
    /// A step, with names.
    pub fn new(system: &System, step: &Step, line: &dyn Fn(SpanId) -> usize) -> Self {
        let name = |p: ProcessId| system.processes[p.index()].name.clone();
        let variable = |x: VarId| system.vars[x.index()].name.clone();
        let taken =
            step.transition.map(|t| &system.processes[step.process.index()].transitions[t.index()]);
        let place = match taken.map(|t| t.op) {
            Some(Op::Read(x, d) | Op::Write(x, d) | Op::Arw(x, d, _)) => Some((x, d)),
            Some(Op::Nop | Op::Fence(_)) => None,
            None => step.event.filter(|e| !is_fence(*e)).map(|e| (e.var, e.value)),
        };
        Self {
            process: name(step.process),
            rule: step.rule.name().to_owned(),
            transition: step.transition.map(|t| t.0),
            op: taken.map(|t| system.show_transition(t)),
            variable: place.map(|(x, _)| variable(x)),
            value: place.map(|(x, d)| system.value(x, d)),
            source: step.source.map(name),
            line: taken.map(|t| line(t.span)),
        }
    }
}

impl Configuration {
    /// A snapshot, with names.
    pub fn new(system: &System, snapshot: &Snapshot) -> Self {
        let memory = snapshot
            .memory
            .iter()
            .enumerate()
            .map(|(x, d)| (system.vars[x].name.clone(), system.value(VarId::new(x), *d)))
            .collect();
        let show = |events: &Vec<Event>| events.iter().map(|e| show_event(system, *e)).collect();
        Self {
            states: snapshot.controls.iter().map(|s| s.0).collect(),
            memory,
            buffers: snapshot.pending.iter().map(show).collect(),
        }
    }
}

fn is_fence(event: Event) -> bool {
    matches!(event.kind, EventKind::ReadFence | EventKind::WriteFence)
}

/// An event as it is shown: `w(x,1)`, `r(x,1)`.
pub fn show_event(system: &System, event: Event) -> String {
    let place = || {
        let name = &system.vars[event.var.index()].name;
        format!("({name},{})", system.show_value(event.var, event.value))
    };
    match event.kind {
        EventKind::Write => format!("w{}", place()),
        EventKind::Read => format!("r{}", place()),
        EventKind::Load => format!("load{}", place()),
        EventKind::Own => format!("own{}", place()),
        EventKind::WriteFence => "wfence".to_owned(),
        EventKind::ReadFence => "rfence".to_owned(),
    }
}
