//! Channel machines, by the names of their states, messages and channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::text;
use weir_engine::SearchOptions;
use weir_front::suggest::closest;
use weir_model::limits::Limits;

use crate::error::Error;
use crate::finding::Report;
use crate::load::LoadError;
use crate::question::{MachineQuestion, MachineRun};

/// A channel machine: finite control, and channels that are perfect or lose messages.
///
/// ```
/// use weir::{Limits, Machine, Verdict};
///
/// let machine = Machine::new("
///     machine letters;
///     messages hello, bye;
///     channels wire;
///     states idle, sent, lost;
///     initial idle;
///     idle -> sent do wire!hello;
///     sent -> sent do wire!bye;
///     sent -> lost do wire?bye;  // `hello` was lost
/// ")?;
/// let lossy = machine.reaches("lost", &Limits::default())?;
/// assert_eq!(lossy.findings[0].word(), "reached");
/// assert_eq!(Machine::run(&lossy).unwrap().last().unwrap().state, "lost");
/// let perfect = machine.reaches_without_loss("lost", 3, &Limits::default())?;
/// assert_eq!(perfect.findings[0].verdict, Verdict::Unknown);
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    machine: Arc<weir_channel::Machine>,
    text: String,
}

/// A step of a channel machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineStep {
    /// The transition, as machines write it.
    pub transition: String,
    /// The control state after it.
    pub state: String,
    /// The messages in each channel after it, newest first; channels that are empty are left out.
    pub channels: BTreeMap<String, Vec<String>>,
}

impl Machine {
    /// Reads a machine.
    ///
    /// # Errors
    /// If the text is no machine.
    pub fn new(machine: &str) -> Result<Self, Error> {
        let wrong =
            |errors| LoadError::Wrong { name: "machine".into(), text: machine.into(), errors };
        let read = text::read(machine).map_err(wrong)?;
        Ok(Self { machine: Arc::new(read), text: machine.to_owned() })
    }

    /// The names of its control states.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.machine.states().map(|s| self.machine.state_name(s))
    }

    /// Whether it reaches a control state if all but the strong messages can be lost. This is
    /// decided, within the limits. A state that is reached is `violated`.
    ///
    /// # Errors
    /// If there is no such control state.
    pub fn reaches(&self, state: &str, limits: &Limits) -> Result<Report, Error> {
        self.ask(state, Semantics::Lossy, None, limits)
    }

    /// Whether it reaches a control state with perfect channels of at most `bound` messages.
    /// Where a channel can be filled further, that it does not is unknown.
    ///
    /// # Errors
    /// If there is no such control state.
    pub fn reaches_without_loss(
        &self,
        state: &str,
        bound: usize,
        limits: &Limits,
    ) -> Result<Report, Error> {
        self.ask(state, Semantics::Perfect, Some(bound), limits)
    }

    fn ask(
        &self,
        name: &str,
        semantics: Semantics,
        bound: Option<usize>,
        limits: &Limits,
    ) -> Result<Report, Error> {
        let Some(state) = self.machine.state(name) else {
            let message = format!("there is no control state `{name}`");
            return Err(Error::NoSuch(match closest(name, self.states()) {
                Some(meant) => format!("{message}; did you mean `{meant}`?"),
                None => message,
            }));
        };
        let options = SearchOptions { bound, budget: limits.budget(), ..SearchOptions::default() };
        let goal = Goal { state, contents: Contents::Any };
        let source = ("machine", self.text.as_str());
        MachineQuestion::Reach(goal).ask(source, &self.machine, semantics, &options, &|_| {})
    }

    /// The run of the first finding, if it has one.
    pub fn run(report: &Report) -> Option<Vec<MachineStep>> {
        let run = report.findings.first()?.basis::<MachineRun>()?;
        let step = |step: crate::question::MachineStepReport<'_>| MachineStep {
            transition: step.text,
            state: step.state.to_owned(),
            channels: step
                .channels
                .into_iter()
                .map(|(channel, word)| {
                    (channel.to_owned(), word.into_iter().map(str::to_owned).collect())
                })
                .collect(),
        };
        Some(run.steps()?.into_iter().map(step).collect())
    }
}
