//! Runs as data: names, numbers and lines, no ids.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use weir_check::witness::show_event;
use weir_model::answer::{Run as ModelRun, Snapshot};
use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::semantics::{Event, Step as ModelStep};
use weir_model::system::{Op, StateKind, System};

use crate::load::Loaded;
use crate::report::run::words;

/// A run of the memory model's operational semantics. It displays as a table of its steps,
/// with where it ends and what was reordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// The semantics that it is a run of, such as `store buffers`.
    pub semantics: &'static str,
    /// Where it begins.
    pub start: State,
    /// Its steps.
    pub steps: Vec<Step>,
    /// For a run without end: the index of the step that begins the cycle, which is repeated
    /// for ever. The end is the state after one round.
    pub cycle: Option<usize>,
    /// Where it ends.
    pub end: State,
    text: String,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The process whose step it is.
    pub process: String,
    /// The rule of the semantics, such as `write`, `update` or `read own write`.
    pub rule: &'static str,
    /// The operation as the literature writes it, such as `w(x,1)`; for a step of the memory
    /// itself, what moves.
    pub operation: String,
    /// What happens, in the words of reports, such as `read x → 1`.
    pub action: String,
    /// The variable, if there is one.
    pub variable: Option<String>,
    /// The value read, or written if nothing is read.
    pub value: Option<i128>,
    /// The value that an atomic read-write writes.
    pub written: Option<i128>,
    /// The line of the statement, from 1; none for a step of the memory itself.
    pub line: Option<usize>,
    /// The statement's range of bytes in the text.
    pub span: Option<Range<usize>>,
}

/// A configuration of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// The newest value of each variable.
    pub memory: BTreeMap<String, i128>,
    /// The processes, in the order of the program.
    pub processes: Vec<ProcessState>,
}

/// Where a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessState {
    /// Its name.
    pub name: String,
    /// The labels at which it stands.
    pub labels: Vec<String>,
    /// The line of the statement that is next, from 1; none if it has ended.
    pub line: Option<usize>,
    /// Whether it has ended.
    pub ended: bool,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// What it has under way, oldest first.
    pub buffer: Vec<Pending>,
}

/// Something that a process has issued and that has not taken effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// What it is, such as `w(x,1)`.
    pub operation: String,
    /// Its variable; none for a fence.
    pub variable: Option<String>,
    /// Its value; none for a fence.
    pub value: Option<i128>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Run {
    /// A run with names; `lines` is how it is displayed.
    pub(crate) fn new(
        loaded: &Loaded,
        run: &ModelRun,
        cycle: Option<usize>,
        lines: &[String],
    ) -> Self {
        Self {
            semantics: run.form.name(),
            start: State::new(loaded, &run.start),
            steps: run.steps.iter().map(|step| Step::new(loaded, step)).collect(),
            cycle,
            end: State::new(loaded, &run.end(&loaded.system)),
            text: lines.iter().map(|line| format!("{}\n", line.trim_end())).collect(),
        }
    }
}

impl Step {
    fn new(loaded: &Loaded, step: &ModelStep) -> Self {
        let system = &loaded.system;
        let taken = step.transition.map(|t| system.transition(step.process, t));
        let name = |x: VarId| system.vars[x.index()].name.clone();
        let (variable, value, written) = match (taken.map(|t| t.op), step.event) {
            (Some(Op::Read(x, d) | Op::Write(x, d)), _) => {
                (Some(name(x)), Some(system.value(x, d)), None)
            }
            (Some(Op::Arw(x, old, new)), _) => {
                (Some(name(x)), Some(system.value(x, old)), Some(system.value(x, new)))
            }
            (None, Some(e)) if !e.is_fence() => {
                (Some(name(e.var)), Some(system.value(e.var, e.value)), None)
            }
            _ => (None, None, None),
        };
        let operation = match (taken, step.event) {
            (Some(taken), _) => system.show_transition(taken),
            (None, Some(event)) => show_event(system, event),
            (None, None) => step.rule.name().to_owned(),
        };
        Self {
            process: system.processes[step.process.index()].name.clone(),
            rule: step.rule.name(),
            operation,
            action: words::action(system, step),
            variable,
            value,
            written,
            line: taken.and_then(|t| loaded.line_of(t.span)),
            span: taken
                .filter(|t| loaded.source.is_placed(t.span))
                .map(|t| loaded.source.range(t.span)),
        }
    }
}

impl State {
    fn new(loaded: &Loaded, at: &Snapshot) -> Self {
        let system = &loaded.system;
        let value = |(x, d): (usize, ValueId)| {
            (system.vars[x].name.clone(), system.value(VarId::new(x), d))
        };
        let processes = system.process_ids().map(|p| ProcessState::new(loaded, at, p));
        Self {
            memory: at.memory.iter().copied().enumerate().map(value).collect(),
            processes: processes.collect(),
        }
    }

    /// A process by its name.
    pub fn process(&self, name: &str) -> Option<&ProcessState> {
        self.processes.iter().find(|p| p.name == name)
    }
}

impl ProcessState {
    fn new(loaded: &Loaded, at: &Snapshot, p: ProcessId) -> Self {
        let system = &loaded.system;
        let state = system.state(p, at.controls[p.index()]);
        let labels = &system.program.processes[p.index()].labels;
        Self {
            name: system.processes[p.index()].name.clone(),
            labels: state.labels.iter().map(|l| labels[l.index()].name.clone()).collect(),
            line: loaded.line_of(state.span),
            ended: state.kind == StateKind::Ended,
            failure: match &state.kind {
                StateKind::Failed(failure) => Some(failure.to_string()),
                _ => None,
            },
            buffer: at.pending[p.index()].iter().map(|e| Pending::new(system, *e)).collect(),
        }
    }
}

impl Pending {
    fn new(system: &System, event: Event) -> Self {
        let place = (!event.is_fence()).then_some((event.var, event.value));
        Self {
            operation: show_event(system, event),
            variable: place.map(|(x, _)| system.vars[x.index()].name.clone()),
            value: place.map(|(x, d)| system.value(x, d)),
        }
    }
}
