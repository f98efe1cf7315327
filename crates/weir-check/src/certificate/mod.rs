//! Certificate files: an inductive set of views as JSON. `docs/certificate.md` has the
//! format and its meaning; [`check`] checks a certificate.

mod checker;

use serde::{Deserialize, Serialize};
use weir_model::answer::{Invariant, ViewParts, Words};
use weir_model::ids::{QuestionId, ValueId, VarId};
use weir_model::system::System;

use crate::Rejected;
use crate::claim::Claims;
use crate::evidence::{Evidence, Subject, counted, excluded, within_bounds};
use crate::header::Header;
use crate::witness::state_names;

pub use checker::check;
pub(crate) use checker::check_for;

/// What `format` says in a certificate file.
pub const FORMAT: &str = "weir-certificate";

/// The version of the format that is written.
pub const VERSION: u32 = 5;

/// An inductive set that shows what a program cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The properties that it is about, by their place in the program, from 0.
    pub properties: Vec<usize>,
    /// Sets of words hold all subwords of up to this many letters.
    pub level: usize,
    /// The variables, in the order of letters and memories.
    pub variables: Vec<String>,
    /// Memory states; `null` for what does not matter.
    pub letters: Vec<Vec<Option<i128>>>,
    /// The configurations.
    pub configurations: Vec<Configuration>,
}

/// A configuration of views, in which every process rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The control state of each process, by its name ([`System::state_name`]).
    pub states: Vec<String>,
    /// The newest memory.
    pub memory: Vec<i128>,
    /// What each process sees.
    pub views: Vec<View>,
}

/// What one process sees. Words are lists of numbers of letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Sets of words: before, between and after the marks.
    pub segments: Vec<Words>,
    /// Own writes that the process has not come past.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Sets of words of values that can still be read from the past.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Past>,
    /// Writes that wait in the buffer of their variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Stores>,
}

/// An own write and the memory state that it made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The variable.
    pub variable: String,
    /// The letter.
    pub letter: u32,
}

/// The past values of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// The variable.
    pub variable: String,
    /// Words of values.
    pub values: Vec<Vec<i128>>,
}

/// The waiting writes to a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stores {
    /// The variable.
    pub variable: String,
    /// Words of values that may come before the last.
    pub older: Vec<Vec<i128>>,
    /// The last value.
    pub last: i128,
}

impl Evidence for Certificate {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self, threads)?;
        within_bounds(subject.system(), |question| self.properties.contains(&question))
    }

    fn what(&self) -> String {
        format!("an inductive set of {}", counted(self.configurations.len(), "configuration"))
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let answers = excluded(subject.system(), self.properties.iter().copied());
        Claims::new(&self.header, &self.model, answers)
    }
}

impl Certificate {
    /// The certificate file of an inductive set.
    pub fn new(system: &System, invariant: &Invariant, properties: Vec<QuestionId>) -> Self {
        let name = |x: VarId| system.vars[x.index()].name.clone();
        let values = |x: VarId, words: &Words| -> Vec<Vec<i128>> {
            let value = |&v: &u32| system.value(x, ValueId(v));
            words.iter().map(|w| w.iter().map(value).collect()).collect()
        };
        let view = |parts: &ViewParts| View {
            segments: parts.segments.clone(),
            marks: parts
                .marks
                .iter()
                .map(|&(x, letter)| Mark { variable: name(x), letter })
                .collect(),
            past: parts
                .past
                .iter()
                .map(|(x, words)| Past { variable: name(*x), values: values(*x, words) })
                .collect(),
            stores: parts
                .stores
                .iter()
                .map(|(x, words, last)| Stores {
                    variable: name(*x),
                    older: values(*x, words),
                    last: system.value(*x, *last),
                })
                .collect(),
        };
        let vars = || (0..system.vars.len()).map(VarId::new);
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: invariant.model.to_string(),
            properties: properties.into_iter().map(QuestionId::index).collect(),
            level: invariant.level,
            variables: vars().map(name).collect(),
            letters: invariant
                .letters
                .iter()
                .map(|l| vars().zip(l).map(|(x, v)| v.map(|v| system.value(x, v))).collect())
                .collect(),
            configurations: invariant
                .configurations
                .iter()
                .map(|c| Configuration {
                    states: state_names(system, &c.controls),
                    memory: vars().zip(&c.memory).map(|(x, v)| system.value(x, *v)).collect(),
                    views: c.views.iter().map(view).collect(),
                })
                .collect(),
        }
    }
}
