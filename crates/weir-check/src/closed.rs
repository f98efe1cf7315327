//! Files of closed sets: all configurations of store buffers that a program can reach under SC
//! or TSO, as JSON. The format and what it means are in `docs/closed-set.md`; [`check`] says
//! whether a set shows what it says.
//!
//! The set has to contain every initial configuration, every step from a configuration of it has
//! to lead to one of it, and none may settle one of the properties.

use serde::{Deserialize, Serialize};
use weir_model::answer::{Buffered, StoreBuffer};
use weir_model::ids::QuestionId;
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::system::System;

use crate::Rejected;
use crate::claim::Claims;
use crate::evidence::{Evidence, Subject, counted, excluded, within_bounds};
use crate::header::Header;
use crate::store_buffers::{Closed, Configuration, Rules};
use crate::truth::is_settled;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-closed-set";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// A closed set of configurations that shows what a program cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedSet {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The properties that it settles, by their place in the program, from 0.
    pub properties: Vec<usize>,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// The configurations.
    pub configurations: Vec<Configuration>,
}

impl ClosedSet {
    /// The file of a set that settles some properties.
    pub fn new(
        system: &System,
        model: MemoryModel,
        properties: Vec<QuestionId>,
        set: &[Buffered],
    ) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: model.to_string(),
            properties: properties.into_iter().map(QuestionId::index).collect(),
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            configurations: set.iter().map(|c| Configuration::new(system, c)).collect(),
        }
    }
}

impl Evidence for ClosedSet {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)?;
        within_bounds(subject.system(), |question| self.properties.contains(&question))
    }

    fn what(&self) -> String {
        format!("a closed set of {}", counted(self.configurations.len(), "configuration"))
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let answers = excluded(subject.system(), self.properties.iter().copied());
        Claims::new(&self.header, &self.model, answers)
    }
}

/// Checks that a set is closed and settles its properties.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, file: &ClosedSet) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    let asked = asked(system, &file.properties)?;
    let about = (WHAT, file.model.as_str());
    let contents = (file.variables.as_slice(), file.configurations.as_slice());
    let set = Closed::check(system, about, None, contents, &mut |_, _, _| {})?;
    for (i, config) in set.all.iter().enumerate() {
        if config.buffers.iter().any(|b| b.tail.is_some()) {
            return Err(Rejected::malformed("a closed set has no tails"));
        }
        if let Some(question) = settled(&set.rules, &asked, config) {
            let (place, property) = (format!("configuration {i}"), question.name.clone());
            return Err(Rejected::Settled { place, property });
        }
    }
    Ok(())
}

/// What closed sets are called in errors.
pub(crate) const WHAT: &str = "closed sets";

/// The questions that a set names, of which there has to be one.
pub(crate) fn asked<'s>(
    system: &'s System,
    properties: &[usize],
) -> Result<Vec<&'s Question>, Rejected> {
    if properties.is_empty() {
        return Err(Rejected::SettlesNothing("it names no property".to_owned()));
    }
    let asked = properties.iter().map(|&p| system.questions.get(p));
    asked.collect::<Option<Vec<_>>>().ok_or_else(Rejected::no_property)
}

/// The first of some questions that a configuration settles.
pub(crate) fn settled<'q>(
    rules: &Rules<'_>,
    asked: &[&'q Question],
    config: &Buffered,
) -> Option<&'q Question> {
    let Buffered { controls, memory, buffers } = config;
    let drained = buffers.iter().all(|b| *b == StoreBuffer::default());
    let settles = |question: &&&Question| {
        rules.in_block(config).is_none()
            && (drained || !question.is_about_rest())
            && is_settled(rules.system(), question, controls, memory)
    };
    asked.iter().find(settles).copied()
}
