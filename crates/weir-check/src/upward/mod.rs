//! Files of upward-closed sets, the proofs of backward search, as JSON.
//! `docs/certificate.md` has the format and its meaning; [`check`] checks a set.

mod checker;

use serde::{Deserialize, Serialize};
use weir_model::answer::{UpwardBuffers, UpwardMessage, UpwardState};
use weir_model::ids::{QuestionId, ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::Rejected;
use crate::claim::Claims;
use crate::evidence::{Evidence, Subject, counted, excluded, within_bounds};
use crate::header::Header;
use crate::witness::{find_states, state_names};

pub use checker::check;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-upward-set";

/// The version of the format that is written.
pub const VERSION: u32 = 3;

/// Sets of states that show what a program cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpwardSets {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// A set for each property.
    pub sets: Vec<Set>,
}

/// A set for a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The property, by its place in the program, from 0.
    pub property: usize,
    /// The minimal states.
    pub states: Vec<Minimal>,
}

/// A minimal state. `null` stands for any value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minimal {
    /// The control state of each process, by its name ([`System::state_name`]).
    pub states: Vec<String>,
    /// Memory.
    pub memory: Vec<Option<i128>>,
    /// The buffers of each process.
    pub buffers: Vec<Buffers>,
}

/// The buffers of a process, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffers {
    /// Writes that wait in the buffer of their variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Stores>,
    /// Messages that the process has not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub future: Vec<Message>,
    /// What it can still read of variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Past>,
    /// Whether the last that it did is a write that entered memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub entered: bool,
}

/// The waiting writes to a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stores {
    /// The variable.
    pub variable: String,
    /// Values that come before the last.
    pub older: Vec<Option<i128>>,
    /// The last value.
    pub last: Option<i128>,
}

/// A message: a variable has a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The variable.
    pub variable: String,
    /// Its value.
    pub value: Option<i128>,
    /// Whether it is the last own write to the variable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

/// The values of a variable that can still be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// The variable.
    pub variable: String,
    /// The values.
    pub values: Vec<Option<i128>>,
}

impl Evidence for UpwardSets {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)?;
        within_bounds(subject.system(), |question| self.sets.iter().any(|s| s.property == question))
    }

    fn what(&self) -> String {
        let states = self.sets.iter().map(|set| set.states.len()).sum();
        format!("an upward-closed set of {}", counted(states, "minimal state"))
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let answers = excluded(subject.system(), self.sets.iter().map(|set| set.property));
        Claims::new(&self.header, &self.model, answers)
    }
}

impl UpwardSets {
    /// The file of some sets, each for a property.
    pub fn new(system: &System, model: MemoryModel, sets: &[(QuestionId, &[UpwardState])]) -> Self {
        let minimal = |state: &UpwardState| Minimal {
            states: state_names(system, &state.controls),
            memory: vars(system)
                .zip(&state.memory)
                .map(|(x, v)| v.map(|v| system.value(x, v)))
                .collect(),
            buffers: state.buffers.iter().map(|b| write(system, b)).collect(),
        };
        let set = |&(property, states): &(QuestionId, &[UpwardState])| Set {
            property: property.index(),
            states: states.iter().map(minimal).collect(),
        };
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: model.to_string(),
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            sets: sets.iter().map(set).collect(),
        }
    }
}

fn vars(system: &System) -> impl Iterator<Item = VarId> + use<> {
    (0..system.vars.len()).map(VarId::new)
}

fn write(system: &System, buffers: &UpwardBuffers) -> Buffers {
    let name = |x: VarId| system.vars[x.index()].name.clone();
    let value = |x: VarId, v: Option<ValueId>| v.map(|v| system.value(x, v));
    let values = |x: VarId, all: &[Option<ValueId>]| all.iter().map(|v| value(x, *v)).collect();
    Buffers {
        stores: buffers
            .stores
            .iter()
            .map(|(x, (older, last))| Stores {
                variable: name(*x),
                older: values(*x, older),
                last: value(*x, *last),
            })
            .collect(),
        future: buffers
            .future
            .iter()
            .map(|m| Message { variable: name(m.var), value: value(m.var, m.value), own: m.own })
            .collect(),
        past: buffers
            .past
            .iter()
            .map(|(x, all)| Past { variable: name(*x), values: values(*x, all) })
            .collect(),
        entered: buffers.entered,
    }
}

/// Reads a minimal state, whose processes and values have to be the program's.
fn read(system: &System, minimal: &Minimal) -> Result<UpwardState, Rejected> {
    let variable = |name: &String| {
        let found = system.vars.iter().position(|v| v.name == *name).map(VarId::new);
        found.ok_or_else(|| Rejected::Malformed(format!("there is no variable `{name}`")))
    };
    let value =
        |x: VarId, v: Option<i128>| Ok::<_, Rejected>(v.map(|v| system.vars[x.index()].id(v)));
    let values = |x: VarId, all: &[Option<i128>]| {
        all.iter().map(|v| value(x, *v)).collect::<Result<Vec<_>, Rejected>>()
    };
    let n = system.processes.len();
    if minimal.buffers.len() != n {
        return Err(Rejected::malformed("a state does not have the processes of the program"));
    }
    if minimal.memory.len() != system.vars.len() {
        return Err(Rejected::malformed("a memory does not have the variables of the program"));
    }
    let mut buffers = Vec::new();
    for read in &minimal.buffers {
        let mut found = UpwardBuffers { entered: read.entered, ..UpwardBuffers::default() };
        for stores in &read.stores {
            let x = variable(&stores.variable)?;
            found.stores.insert(x, (values(x, &stores.older)?, value(x, stores.last)?));
        }
        for message in &read.future {
            let var = variable(&message.variable)?;
            let value = value(var, message.value)?;
            if message.own && found.future.iter().any(|m| m.own && m.var == var) {
                return Err(Rejected::malformed("a process has two own messages of one variable"));
            }
            found.future.push(UpwardMessage { var, value, own: message.own });
        }
        for past in &read.past {
            let x = variable(&past.variable)?;
            found.past.insert(x, values(x, &past.values)?);
        }
        buffers.push(found);
    }
    let memory = vars(system).zip(&minimal.memory).map(|(x, v)| value(x, *v));
    Ok(UpwardState {
        controls: find_states(system, &minimal.states)?,
        memory: memory.collect::<Result<_, _>>()?,
        buffers,
    })
}
