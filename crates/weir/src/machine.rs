//! Channel machines, by the names of their states, messages and channels.

use std::collections::BTreeMap;

use weir_channel::lossy::{Reach, reach};
use weir_channel::semantics::{Contents, Goal, Semantics, Step};
use weir_channel::text::show_transition;
use weir_channel::{Configuration, explicit, text};
use weir_engine::SearchOptions;
use weir_front::suggest::closest;
use weir_model::limits::Limits;

use crate::error::Error;
use crate::load::LoadError;

/// A channel machine: finite control, and channels that are perfect or lose messages.
///
/// ```
/// use weir::{Limits, Machine};
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
/// assert_eq!(lossy.reached, Some(true));
/// assert_eq!(lossy.run.unwrap().last().unwrap().state, "lost");
/// let perfect = machine.reaches_without_loss("lost", 3, &Limits::default())?;
/// assert_eq!(perfect.reached, None);
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine(weir_channel::Machine);

/// Whether a control state is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// Whether it is; none if it is unknown.
    pub reached: Option<bool>,
    /// The run that reaches it.
    pub run: Option<Vec<MachineStep>>,
    /// Why it is unknown, if it is.
    pub reason: Option<String>,
}

/// A step of a channel machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineStep {
    /// The transition, as machines write it.
    pub transition: String,
    /// The control state after it.
    pub state: String,
    /// The messages in each channel after it, newest first.
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
        Ok(Self(text::read(machine).map_err(wrong)?))
    }

    /// The names of its control states.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.0.states().map(|s| self.0.state_name(s))
    }

    /// Whether it reaches a control state if all but the strong messages can be lost. This is
    /// decided, within the limits.
    ///
    /// # Errors
    /// If there is no such control state.
    pub fn reaches(&self, state: &str, limits: &Limits) -> Result<Reached, Error> {
        let goal = self.goal(state)?;
        let options = SearchOptions { budget: limits.budget(), ..SearchOptions::default() };
        let (answer, _) = reach(&self.0, &goal, &options, &mut |_| {});
        Ok(self.reached(answer))
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
    ) -> Result<Reached, Error> {
        let goal = self.goal(state)?;
        let budget = limits.budget();
        let options = SearchOptions { bound: Some(bound), budget, ..SearchOptions::default() };
        let found =
            explicit::search(&self.0, Semantics::Perfect, Some(&goal), &options, &mut |_| {});
        let unknown = || Reach::Unknown("the search has no answer".to_owned());
        Ok(self.reached(found.goal.unwrap_or_else(unknown)))
    }

    fn goal(&self, name: &str) -> Result<Goal, Error> {
        let Some(state) = self.0.state(name) else {
            let message = format!("there is no control state `{name}`");
            return Err(Error::unsupported(match closest(name, self.states()) {
                Some(meant) => format!("{message}; did you mean `{meant}`?"),
                None => message,
            }));
        };
        Ok(Goal { state, contents: Contents::Any })
    }

    fn reached(&self, answer: Reach) -> Reached {
        match answer {
            Reach::Reached(run) => {
                let run = run.steps.iter().map(|step| self.step(step)).collect();
                Reached { reached: Some(true), run: Some(run), reason: None }
            }
            Reach::NotReached(_) => Reached { reached: Some(false), run: None, reason: None },
            Reach::Unknown(reason) => Reached { reached: None, run: None, reason: Some(reason) },
        }
    }

    fn step(&self, step: &Step) -> MachineStep {
        let machine = &self.0;
        let Configuration { state, channels } = &step.after;
        let words = machine.channels().zip(channels).map(|(channel, word)| {
            let messages = word.iter().map(|m| machine.message_name(*m).to_owned());
            (machine.channel_name(channel).to_owned(), messages.collect())
        });
        MachineStep {
            transition: show_transition(machine, step.transition),
            state: machine.state_name(*state).to_owned(),
            channels: words.collect(),
        }
    }
}
