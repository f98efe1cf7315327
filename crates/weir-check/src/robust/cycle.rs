//! Files of runs whose trace has a cycle: no run under SC has the same trace. The format is in
//! `docs/evidence.md`.

use serde::{Deserialize, Serialize};
use weir_model::answer::Run;
use weir_model::ids::SpanId;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use super::NAME;
use super::trace::{Relation, Trace};
use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted};
use crate::header::Header;
use crate::replay::check_run;
use crate::witness::{Configuration, WitnessStep, check_lines};

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-cycle";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// A run whose trace has a cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The form of its semantics that the run is one of.
    pub semantics: String,
    /// Where the run begins.
    pub initial: Configuration,
    /// Its steps.
    pub steps: Vec<WitnessStep>,
    /// Where it ends.
    #[serde(rename = "final")]
    pub end: Configuration,
    /// The cycle, edge by edge.
    pub cycle: Vec<Edge>,
}

/// An edge of a cycle. The accesses are named by the steps with which they were done, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// The relation.
    pub relation: Relation,
    /// Where it ends.
    pub to: usize,
}

impl Cycle {
    /// The file of a run with a cycle.
    pub fn new(
        system: &System,
        run: &Run,
        cycle: Vec<Edge>,
        line: &dyn Fn(SpanId) -> usize,
    ) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: run.model.to_string(),
            semantics: run.form.name().to_owned(),
            initial: Configuration::new(system, &run.start),
            steps: steps(system, run, line),
            end: Configuration::new(system, &run.end(system)),
            cycle,
        }
    }
}

/// The steps of a run, as files have them.
pub fn steps(system: &System, run: &Run, line: &dyn Fn(SpanId) -> usize) -> Vec<WitnessStep> {
    run.steps.iter().map(|s| WitnessStep::new(system, s, line)).collect()
}

impl Evidence for Cycle {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)?;
        check_lines(subject.system(), &self.steps, &|span| subject.line(span))
    }

    fn what(&self) -> String {
        let edges = counted(self.cycle.len(), "edge");
        format!("a run of {} with a cycle of {edges}", counted(self.steps.len(), "step"))
    }

    fn claim(&self, _: &dyn Subject) -> Claims {
        Claims::new(&self.header, &self.model, vec![Settled::holds(NAME, false)])
    }
}

/// Checks that a run is possible and that its trace has the cycle.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, file: &Cycle) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    let model: MemoryModel = file.model.parse().map_err(Rejected::no_model)?;
    let run = (file.semantics.as_str(), &file.initial, file.steps.as_slice());
    check_run(system, model, run, &file.end)?;
    let trace = Trace::new(system, &file.steps).map_err(Rejected::Cycle)?;
    let (Some(first), Some(last)) = (file.cycle.first(), file.cycle.last()) else {
        return Err(Rejected::Cycle("there is no cycle".to_owned()));
    };
    if last.to != first.from {
        return Err(Rejected::Cycle("the cycle does not end where it begins".to_owned()));
    }
    for pair in file.cycle.windows(2) {
        if pair[0].to != pair[1].from {
            let reason = format!("no edge of the cycle leaves step {}", pair[0].to);
            return Err(Rejected::Cycle(reason));
        }
    }
    for Edge { from, relation, to } in &file.cycle {
        let found = trace.of_step(*from).zip(trace.of_step(*to));
        if !found.is_some_and(|(a, b)| trace.related(a, *relation, b)) {
            let reason = format!("steps {from} and {to} are not in the relation {relation}");
            return Err(Rejected::Cycle(reason));
        }
    }
    Ok(())
}
