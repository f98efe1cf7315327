//! Files that compare the states of a memory model with those of SC. The format is in
//! `docs/evidence.md`.
//!
//! Such a file has all SC configurations, and with them one of three things: an inductive set or a
//! closed set whose control states are all control states of SC configurations, and whose final
//! states are all final states of SC; or a run that ends in other control states or another final
//! state. The checker first checks that the SC configurations are closed under every step. Then it
//! asks two questions about the states of the other model: whether all joint control states, and
//! whether all final states, are among those of the SC configurations. What the file has besides
//! is checked as evidence for these two questions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weir_model::answer::{Buffered, Invariant, Run};
use weir_model::ids::{QuestionId, SpanId, StateId, ValueId};
use weir_model::memory_model::MemoryModel;
use weir_model::question::{JointStates, Kind, Question};
use weir_model::system::System;

use super::NAME;
use super::sc::{ScFile, ScSet};
use crate::certificate::Certificate;
use crate::claim::{Claims, Settled};
use crate::closed::ClosedSet;
use crate::evidence::{Evidence, Subject};
use crate::header::Header;
use crate::witness::{Witness, check_lines};
use crate::{Rejected, certificate, closed, replay};

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-states";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// The two questions.
const BOTH: [QuestionId; 2] = [QuestionId(0), QuestionId(1)];

/// A comparison of the states of a memory model with those of SC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSets {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// All SC configurations.
    pub sc: ScFile,
    /// What shows which states the model has.
    pub shown: Shown,
}

/// What shows which states a model has. Its properties are these two questions: whether there are
/// other joint control states than under SC (0), and other final states (1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// An inductive set: no others.
    Certificate(Certificate),
    /// A closed set: no others.
    Closed(ClosedSet),
    /// A run that ends in another one.
    Run(Box<Witness>),
}

/// A system with the two questions about its states, given its SC configurations.
pub fn asked<'a>(
    system: &System,
    sc: impl IntoIterator<Item = (&'a [StateId], &'a [ValueId])>,
) -> System {
    let (mut joint, mut last) = (JointStates::new(false), JointStates::new(true));
    for (controls, memory) in sc {
        joint.insert(system, controls, memory);
        last.insert(system, controls, memory);
    }
    let question = |name: &str, states| Question {
        name: name.to_owned(),
        kind: Kind::Within(Arc::new(states)),
        span: SpanId::NONE,
    };
    system.observing_all(vec![question("control states", joint), question("final states", last)])
}

impl StateSets {
    fn with(system: &System, model: MemoryModel, sc: ScFile, shown: Shown) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: model.to_string(),
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            sc,
            shown,
        }
    }

    /// The file of an inductive set.
    pub fn of_invariant(asked: &System, sc: ScFile, invariant: &Invariant) -> Self {
        let certificate = Certificate::new(asked, invariant, BOTH.to_vec());
        Self::with(asked, invariant.model, sc, Shown::Certificate(certificate))
    }

    /// The file of a closed set.
    pub fn of_closed(asked: &System, model: MemoryModel, sc: ScFile, set: &[Buffered]) -> Self {
        let set = ClosedSet::new(asked, model, BOTH.to_vec(), set);
        Self::with(asked, model, sc, Shown::Closed(set))
    }

    /// The file of a run that settles one of the two questions.
    pub fn of_run(
        asked: &System,
        sc: ScFile,
        (run, question): (&Run, QuestionId),
        line: &dyn Fn(SpanId) -> usize,
    ) -> Self {
        let witness = Witness::new(asked, run, question, line);
        Self::with(asked, run.model, sc, Shown::Run(Box::new(witness)))
    }
}

impl Evidence for StateSets {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self, threads)?;
        match &self.shown {
            Shown::Run(run) => {
                check_lines(subject.system(), &run.steps, &|span| subject.line(span))
            }
            _ => Ok(()),
        }
    }

    fn what(&self) -> String {
        match &self.shown {
            Shown::Certificate(shown) => format!("{} with the states of SC", shown.what()),
            Shown::Closed(shown) => format!("{} with the states of SC", shown.what()),
            Shown::Run(shown) => format!("{} to a state that SC does not have", shown.what()),
        }
    }

    fn claim(&self, _: &dyn Subject) -> Claims {
        let holds = !matches!(self.shown, Shown::Run(_));
        Claims::new(&self.header, &self.model, vec![Settled::holds(NAME, holds)])
    }
}

/// Checks that a file shows what it says.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, file: &StateSets, threads: usize) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    if !file.variables.iter().eq(system.vars.iter().map(|v| &v.name)) {
        return Err(Rejected::malformed("the variables are not those of the program"));
    }
    let sc = ScSet::read(system, &file.sc)?;
    sc.check()?;
    let asked = asked(system, sc.all.iter().map(|(s, m)| (s.as_slice(), m.as_slice())));
    let (model, properties) = match &file.shown {
        Shown::Certificate(shown) => (&shown.model, Some(&shown.properties)),
        Shown::Closed(shown) => (&shown.model, Some(&shown.properties)),
        Shown::Run(shown) => (&shown.model, None),
    };
    if *model != file.model {
        return Err(Rejected::malformed("the parts are about different memory models"));
    }
    if properties.is_some_and(|properties| ![0, 1].iter().all(|p| properties.contains(p))) {
        let reason = "it does not compare both control states and final states";
        return Err(Rejected::SettlesNothing(reason.to_owned()));
    }
    match &file.shown {
        Shown::Certificate(shown) => certificate::check(&asked, shown, threads),
        Shown::Closed(shown) => closed::check(&asked, shown),
        Shown::Run(shown) => replay::check(&asked, shown),
    }
}
