//! Witness files: a run as JSON. The schema is in `docs/evidence.md`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{ProcessId, QuestionId, SpanId, StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Event, EventKind, Rule, Step};
use weir_model::system::{Excess, Expanded, Op, Seen, StateKind, System, Transition};

use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted};
use crate::header::Header;

/// What `format` says in a witness file.
pub const FORMAT: &str = "weir-witness";

/// The version of the format that is written.
pub const VERSION: u32 = 3;

/// A run that settles a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
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
    /// The control state of each process, in order, by its name
    /// ([`System::state_name`]).
    pub states: Vec<String>,
    /// The newest value of each variable.
    pub memory: BTreeMap<String, i128>,
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
    /// The transition that the process takes, if its control state moves, by its name
    /// ([`System::transition_name`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
    /// The operation, as the papers write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The variable, for everything but fences and `nop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The value read, or written if nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i128>,
    /// Under C11: how many writes of the variable are newer in modification order than the one that is read, or
    /// than the one that is written if nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<u32>,
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
        property: QuestionId,
        line: &dyn Fn(SpanId) -> usize,
    ) -> Self {
        let steps = run.steps.iter().map(|s| WitnessStep::new(system, s, line)).collect();
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: run.model.to_string(),
            semantics: run.form.name().to_owned(),
            property: property.index(),
            property_name: system.questions[property.index()].name.clone(),
            initial: Configuration::new(system, &run.start),
            steps,
            end: Configuration::new(system, &run.end(system)),
        }
    }
}

impl Evidence for Witness {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        crate::check(subject.system(), self)?;
        check_lines(subject.system(), &self.steps, &|span| subject.line(span))
    }

    fn what(&self) -> String {
        format!("a run of {}", counted(self.steps.len(), "step"))
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let question = subject.system().questions.get(self.property);
        let answers = question.map(|question| Settled::by_states(question, true));
        Claims::new(&self.header, &self.model, answers.into_iter().collect())
    }
}

impl WitnessStep {
    /// A step, with names.
    pub fn new(system: &System, step: &Step, line: &dyn Fn(SpanId) -> usize) -> Self {
        let is_c11 = system.serves(MemoryModel::C11);
        let name = |p: ProcessId| system.processes[p.index()].name.clone();
        let variable = |x: VarId| system.vars[x.index()].name.clone();
        let taken = step.transition.map(|t| system.transition(step.process, t));
        let place = match taken {
            Some(taken) => place(taken.op),
            None => step.event.filter(|e| !e.is_fence()).map(|e| (e.var, e.value)),
        };
        Self {
            process: name(step.process),
            rule: step.rule.name().to_owned(),
            transition: taken.map(|t| system.transition_name(step.process, t)),
            op: taken.map(|t| system.show_transition(t)),
            variable: place.map(|(x, _)| variable(x)),
            value: place.map(|(x, d)| system.value(x, d)),
            newer: (is_c11 && place.is_some()).then_some(step.way),
            source: step.source.map(name),
            line: taken.map(|t| line(t.span)),
        }
    }
}

/// The variable and the value that a step with an operation names: the value is the one
/// read, or written if nothing is read.
fn place(op: Op) -> Option<(VarId, ValueId)> {
    match op {
        Op::Read(x, d) | Op::Write(x, d) | Op::Arw(x, d, _) => Some((x, d)),
        Op::Nop | Op::Fence(_) => None,
    }
}

impl WitnessStep {
    /// The transition that the process takes from a control state, if it has one of that name.
    pub(crate) fn taken<'s>(
        &self,
        system: &'s System,
        process: ProcessId,
        from: StateId,
    ) -> Option<&'s Transition> {
        let name = self.transition.as_ref()?;
        let see = |x: VarId, _| match self.value {
            Some(value) => Seen::One(system.vars[x.index()].id(value)),
            None => Seen::Among(vec![]),
        };
        let mut all = system.steps(process, from, see).map(|(_, t)| t);
        all.find(|t| system.transition_name(process, t) == *name)
    }

    /// Checks that what the step says besides its transition is true of it. What it leaves
    /// out is not wrong.
    pub(crate) fn describes(&self, system: &System, taken: &Transition) -> Result<(), String> {
        let shown = system.show_transition(taken);
        if self.op.as_ref().is_some_and(|op| *op != shown) {
            return Err(format!("the transition does {shown}, the step says otherwise"));
        }
        let place = place(taken.op);
        let variable = place.map(|(x, _)| &system.vars[x.index()].name);
        if self.variable.is_some() && self.variable.as_ref() != variable {
            return Err(format!("{shown} is not about the variable that the step names"));
        }
        let value = place.map(|(x, d)| system.value(x, d));
        if self.value.is_some() && self.value != value {
            return Err(format!("{shown} does not have the value that the step names"));
        }
        match self.source.is_some() && self.rule != Rule::ReadRemoteWrite.name() {
            true => Err("the step names a source and reads no remote write".to_owned()),
            false => Ok(()),
        }
    }

    /// Checks that a step without a transition says nothing that only one with a
    /// transition can say.
    pub(crate) fn describes_none(&self) -> Result<(), String> {
        match (&self.op, &self.source, self.line) {
            (None, None, None) => Ok(()),
            _ => Err("the step has no transition, but an operation or a value".to_owned()),
        }
    }
}

/// Checks that steps name the lines of their transitions.
///
/// # Errors
/// The first step that does not.
pub fn check_lines(
    system: &System,
    steps: &[WitnessStep],
    line: &dyn Fn(SpanId) -> usize,
) -> Result<(), Rejected> {
    let mut controls: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
    for (number, step) in steps.iter().enumerate() {
        let Some(p) = system.processes.iter().position(|p| p.name == step.process) else {
            continue;
        };
        let Some(taken) = step.taken(system, ProcessId::new(p), controls[p]) else { continue };
        controls[p] = taken.to;
        let Some(named) = step.line else { continue };
        let found = line(taken.span);
        if named != found {
            let reason = format!("it is on line {found}, not {named}");
            return Err(Rejected::Step { number: number + 1, reason });
        }
    }
    Ok(())
}

/// A system with all its control states. A caller with limits expands it before.
pub(crate) fn expanded(system: &System) -> Expanded<'_> {
    system.expanded(&Budget::new()).expect("a budget without limits is never used up")
}

/// The names of the control states of all processes.
pub(crate) fn state_names(system: &System, controls: &[StateId]) -> Vec<String> {
    system.process_ids().zip(controls).map(|(p, s)| system.state_name(p, *s)).collect()
}

/// The control states of all processes, by their names.
///
/// # Errors
/// If there are not as many as processes, or one has no such control state.
pub(crate) fn find_states(system: &System, names: &[String]) -> Result<Vec<StateId>, Rejected> {
    if names.len() != system.processes.len() {
        return Err(Rejected::malformed("there is not one control state for each process"));
    }
    let find = |(p, name): (ProcessId, &String)| {
        let found = system.find_state(p, name);
        found.ok_or_else(|| {
            Rejected::Malformed(format!("process {} has no control state {name}", p.index()))
        })
    };
    system.process_ids().zip(names).map(find).collect()
}

/// Checks that a process goes on from a control state as its code says. Where Weir cannot
/// follow it, a set that is closed under the steps of the system says nothing of the program.
///
/// # Errors
/// Why it is not known how the process goes on.
pub(crate) fn is_followed(system: &System, p: ProcessId, state: StateId) -> Result<(), Rejected> {
    match &system.state(p, state).kind {
        StateKind::Left(excess) if !matches!(excess, Excess::Bound { .. }) => {
            let name = &system.processes[p.index()].name;
            Err(Rejected::NotFollowed(format!(
                "the transitions of process `{name}` are not known: {excess}"
            )))
        }
        _ => Ok(()),
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
            states: state_names(system, &snapshot.controls),
            memory,
            buffers: snapshot.pending.iter().map(show).collect(),
        }
    }
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
