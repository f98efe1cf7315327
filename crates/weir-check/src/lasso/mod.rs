//! Lasso files: an infinite run as JSON. `docs/evidence.md` has the format and its meaning;
//! [`check`] checks a lasso.

mod checker;

use serde::{Deserialize, Serialize};
use weir_model::answer::Run;
use weir_model::ids::SpanId;
use weir_model::program::{LiveKind, Program};
use weir_model::system::System;

use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted, within_bounds};
use crate::header::Header;
use crate::witness::{Configuration, WitnessStep, check_lines};

pub use checker::check;

/// What `format` says in a lasso file.
pub const FORMAT: &str = "weir-lasso";

/// The version of the format that is written.
pub const VERSION: u32 = 3;

/// A run that settles what was asked about infinite runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasso {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// How many clients the object has; nothing for processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<usize>,
    /// The memory model.
    pub model: String,
    /// What was asked: a progress property, or `live` and its place in the program.
    pub property: Asked,
    /// Whether every write has to reach memory.
    pub flush_fair: bool,
    /// Where the run begins.
    pub initial: Configuration,
    /// The steps to the cycle.
    pub stem: Vec<WitnessStep>,
    /// The steps of the cycle.
    pub cycle: Vec<WitnessStep>,
    /// Where the cycle begins.
    pub turn: Configuration,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Asked {
    /// A progress property of an object, by its name.
    #[serde(rename = "progress")]
    Progress(String),
    /// What the program asks about infinite runs, from 0.
    #[serde(rename = "live")]
    Live(usize),
}

impl Asked {
    /// What the question is called.
    pub fn name(&self, program: &Program) -> String {
        match self {
            Self::Progress(name) => name.clone(),
            Self::Live(index) => program.live_name(*index),
        }
    }

    /// Whether the question asks for a run, rather than forbids it.
    pub(crate) fn wants_run(&self, program: &Program) -> bool {
        let Self::Live(index) = self else { return false };
        program.live.get(*index).is_some_and(|live| matches!(live.kind, LiveKind::Exists(_)))
    }
}

/// The fairness of a claim about runs in which every write reaches memory.
pub fn flush_fairness(flush_fair: bool) -> Option<String> {
    flush_fair.then(|| FLUSH_FAIR.to_owned())
}

/// What the fairness of a claim is called if only runs count in which every write reaches memory.
const FLUSH_FAIR: &str = "every write reaching memory";

impl Evidence for Lasso {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        let program = &subject.system().program;
        check(program, self)?;
        let steps = [self.stem.as_slice(), &self.cycle].concat();
        check_lines(&system(program, self.clients)?, &steps, &|span| subject.line(span))?;
        // Past a bound a process loops in a sink state that is not of the program.
        within_bounds(subject.system(), |_| false)
    }

    fn what(&self) -> String {
        let stem = counted(self.stem.len(), "step");
        format!("a lasso of {stem} and a cycle of {}", self.cycle.len())
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let program = &subject.system().program;
        // A run that ends shows that something is violated.
        let is_wanted = !self.cycle.is_empty() && self.property.wants_run(program);
        let answer = Settled::holds(self.property.name(program), is_wanted);
        let claim = Claims::new(&self.header, &self.model, vec![answer]);
        Claims { clients: self.clients, fairness: flush_fairness(self.flush_fair), ..claim }
    }
}

impl Lasso {
    /// The file of a run whose steps from `stem` on are the cycle.
    pub fn new(
        system: &System,
        clients: Option<usize>,
        property: Asked,
        flush_fair: bool,
        (run, stem): (&Run, usize),
        line: &dyn Fn(SpanId) -> usize,
    ) -> Self {
        let mut steps: Vec<WitnessStep> =
            run.steps.iter().map(|s| WitnessStep::new(system, s, line)).collect();
        let stem = stem.min(steps.len());
        let cycle = steps.split_off(stem);
        let mut replay = run.replay(system);
        while replay.taken() < stem && replay.advance().is_some() {}
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            clients,
            model: run.model.to_string(),
            property,
            flush_fair,
            initial: Configuration::new(system, &run.start),
            stem: steps,
            cycle,
            turn: Configuration::new(system, &replay.snapshot()),
        }
    }
}

/// The system that a file about infinite runs speaks of.
///
/// # Errors
/// If the program has none with so many clients.
pub fn system(program: &Program, clients: Option<usize>) -> Result<System, Rejected> {
    let program = match (clients, &program.object) {
        (Some(count), Some(_)) => {
            let with = program.with_clients(count);
            with.ok_or_else(|| {
                Rejected::Malformed(format!("an object cannot have {count} clients"))
            })?
        }
        (None, None) => program.clone(),
        (Some(_), None) => {
            return Err(Rejected::malformed("the program is not an object and has no clients"));
        }
        (None, Some(_)) => {
            return Err(Rejected::malformed("the program is an object: it needs clients"));
        }
    };
    System::with_rounds(program).map_err(|e| Rejected::NotFollowed(e.to_string()))
}
