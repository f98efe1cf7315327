//! Files of states with buffer automata, the proofs of the engine `automata`, as JSON.
//! `docs/certificate.md` has the format and its meaning; [`check`] checks a set.

mod automaton;
mod checker;

use serde::{Deserialize, Serialize};
use weir_model::answer::{BufferAutomaton, BufferSet};
use weir_model::ids::{QuestionId, ValueId, VarId};
use weir_model::system::System;

use crate::Rejected;
use crate::claim::Claims;
use crate::evidence::{Evidence, Subject, counted, excluded, within_bounds};
use crate::header::Header;
use crate::witness::state_names;

use automaton::{Automaton, Letter};
pub use checker::check;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-buffer-set";

/// The version of the format that is written.
pub const VERSION: u32 = 3;

/// A set of states that shows what a program cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffers {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The properties that it settles, by their place in the program, from 0.
    pub properties: Vec<usize>,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// The automata of buffer contents.
    pub automata: Vec<Vec<Place>>,
    /// The states.
    pub states: Vec<State>,
}

/// A state of an automaton. The first of each is where it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Whether what was read so far is a content of the buffer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepting: bool,
    /// Where stores lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
}

/// An edge of an automaton: a variable, its value, and the place that it leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge(pub String, pub i128, pub usize);

/// Control states, memory, and for each process an automaton for its buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The control state of each process, by its name ([`System::state_name`]).
    pub states: Vec<String>,
    /// Memory.
    pub memory: Vec<i128>,
    /// For each process the place of its automaton in `automata`, from 0.
    pub buffers: Vec<usize>,
}

impl Evidence for Buffers {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)?;
        within_bounds(subject.system(), |question| self.properties.contains(&question))
    }

    fn what(&self) -> String {
        format!("a set of {} with buffer automata", counted(self.states.len(), "state"))
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let answers = excluded(subject.system(), self.properties.iter().copied());
        Claims::new(&self.header, &self.model, answers)
    }
}

impl Buffers {
    /// The file of a set that settles some properties.
    pub fn new(system: &System, set: &BufferSet, properties: Vec<QuestionId>) -> Self {
        let state = |state: &weir_model::answer::BufferState| State {
            states: state_names(system, &state.controls),
            memory: vars(system).zip(&state.memory).map(|(x, v)| system.value(x, *v)).collect(),
            buffers: state.buffers.clone(),
        };
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: set.model.to_string(),
            properties: properties.into_iter().map(QuestionId::index).collect(),
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            automata: set.automata.iter().map(|a| write(system, a)).collect(),
            states: set.states.iter().map(state).collect(),
        }
    }
}

fn vars(system: &System) -> impl Iterator<Item = VarId> + use<> {
    (0..system.vars.len()).map(VarId::new)
}

fn write(system: &System, automaton: &BufferAutomaton) -> Vec<Place> {
    let edge = |(x, v, to): &(VarId, ValueId, usize)| {
        Edge(system.vars[x.index()].name.clone(), system.value(*x, *v), *to)
    };
    let states = automaton.states.iter();
    let places = states
        .map(|s| Place { accepting: s.is_accepting, edges: s.edges.iter().map(edge).collect() });
    places.collect()
}

fn value(system: &System, x: VarId, value: i128) -> ValueId {
    system.vars[x.index()].id(value)
}

/// Reads an automaton, whose variables and values have to be the program's.
fn read(system: &System, places: &[Place]) -> Result<Automaton, Rejected> {
    let mut read = Automaton::default();
    for place in places {
        let mut edges: Vec<(Letter, usize)> = Vec::new();
        for Edge(name, number, to) in &place.edges {
            let var = system.vars.iter().position(|v| v.name == *name).map(VarId::new);
            let var =
                var.ok_or_else(|| Rejected::Malformed(format!("there is no variable `{name}`")))?;
            let letter = (var, value(system, var, *number));
            if *to >= places.len() {
                return Err(Rejected::Malformed(format!("an automaton has no place {to}")));
            }
            if edges.iter().any(|(l, _)| *l == letter) {
                return Err(Rejected::Malformed(format!(
                    "two edges of one place are for `{name}` = {number}"
                )));
            }
            edges.push((letter, *to));
        }
        read.places.push((place.accepting, edges));
    }
    if !read.accepts_something() {
        return Err(Rejected::malformed("an automaton accepts nothing"));
    }
    Ok(read)
}
