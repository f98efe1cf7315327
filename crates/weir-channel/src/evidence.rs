//! Evidence about a lossy machine: files of runs and of upward-closed sets.
//! `docs/channel-machines.md` has the formats. [`check`] checks a file, with code that is
//! independent of the searches.

mod closed;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_model::fingerprint::Fingerprint;

use crate::ids::{MessageId, StateId, TransitionId};
use crate::machine::{Configuration, Machine, Word};
use crate::replay::replay;
use crate::semantics::{Contents, Goal, Run, Semantics, Step};
use crate::text;

/// What `format` says in the file of a run.
pub const RUN: &str = "weir-channel-run";

/// What `format` says in the file of an upward-closed set.
pub const SET: &str = "weir-channel-set";

/// The version of both formats that is written.
pub const VERSION: u32 = 2;

/// What a file shows of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// [`RUN`] or [`SET`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The name of the machine.
    pub machine: String,
    /// The machine that it was made for: the fingerprint of what `weir channel show`
    /// prints of it.
    pub fingerprint: String,
    /// The control state that was asked for.
    pub state: String,
    /// What the channels may hold there: `empty` or `any`.
    pub channels: String,
    /// How channels behave in a run: `perfect` or `lossy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantics: Option<String>,
    /// The steps of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Taken>>,
    /// The minimal configurations of a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configurations: Option<Vec<Held>>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The transition, by its place in the file of the machine, from 0.
    pub transition: usize,
    /// Where it leads, after losses.
    pub after: Held,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// The control state.
    pub state: String,
    /// What each channel holds, the newest message first; nothing if it is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, Vec<String>>,
}

impl Evidence {
    /// The file of a run that ends where it should.
    pub fn of_run(machine: &Machine, goal: &Goal, run: &Run) -> Self {
        let semantics = match run.semantics {
            Semantics::Perfect => "perfect",
            Semantics::Lossy => "lossy",
        };
        let taken = |step: &Step| Taken {
            transition: step.transition.index(),
            after: Held::new(machine, &step.after),
        };
        Self {
            semantics: Some(semantics.to_owned()),
            steps: Some(run.steps.iter().map(taken).collect()),
            ..Self::new(RUN, machine, goal)
        }
    }

    /// The file of the minimal configurations from which alone a goal can be reached.
    pub fn of_set(machine: &Machine, goal: &Goal, minimal: &[Configuration]) -> Self {
        let held = minimal.iter().map(|c| Held::new(machine, c));
        Self { configurations: Some(held.collect()), ..Self::new(SET, machine, goal) }
    }

    fn new(format: &str, machine: &Machine, goal: &Goal) -> Self {
        let channels = match goal.contents {
            Contents::Empty => "empty",
            Contents::Any => "any",
        };
        Self {
            format: format.to_owned(),
            version: VERSION,
            machine: machine.name().to_owned(),
            fingerprint: Fingerprint::of_text(&text::print(machine)),
            state: machine.state_name(goal.state).to_owned(),
            channels: channels.to_owned(),
            semantics: None,
            steps: None,
            configurations: None,
        }
    }
}

impl Held {
    fn new(machine: &Machine, at: &Configuration) -> Self {
        let name = |m: &MessageId| machine.message_name(*m).to_owned();
        let words = machine.channels().zip(&at.channels).filter(|(_, word)| !word.is_empty());
        Self {
            state: machine.state_name(at.state).to_owned(),
            channels: words
                .map(|(c, w)| (machine.channel_name(c).to_owned(), w.iter().map(name).collect()))
                .collect(),
        }
    }
}

/// Checks that a file shows what it says of a machine: that a run is one and ends where
/// it should, or that nothing outside a set leads into it, that it has all that is asked
/// for, and that the machine does not begin in it.
///
/// # Errors
/// Why it does not.
///
/// ```
/// use weir_channel::evidence::{Evidence, check};
/// use weir_channel::lossy::{Reach, reach};
/// use weir_channel::semantics::{Contents, Goal};
/// use weir_channel::{Limits, text};
///
/// let machine = text::read("
///     machine order;  messages a, b;  channels c;  states s, t, u, v;  initial s;
///     s -> t do c!a;  t -> u do c?b;  u -> v do c!b;
/// ").unwrap();
/// let goal = Goal { state: machine.state("v").unwrap(), contents: Contents::Empty };
/// let (answer, _) = reach(&machine, &goal, &Limits::default(), &mut |_| {});
/// let Reach::NotReached(minimal) = answer else { panic!() };
/// let mut evidence = Evidence::of_set(&machine, &goal, &minimal);
/// assert_eq!(check(&machine, &evidence), Ok(()));
/// evidence.configurations.as_mut().unwrap().pop();
/// assert!(check(&machine, &evidence).is_err());
/// ```
pub fn check(machine: &Machine, evidence: &Evidence) -> Result<(), String> {
    if evidence.version != VERSION {
        return Err(format!("it has version {}, and only {VERSION} is known", evidence.version));
    }
    if evidence.machine != machine.name() {
        return Err(format!("it is about the machine `{}`", evidence.machine));
    }
    if evidence.fingerprint != Fingerprint::of_text(&text::print(machine)) {
        return Err("it was made for another machine".to_owned());
    }
    let names = Names::new(machine);
    let contents = match evidence.channels.as_str() {
        "empty" => Contents::Empty,
        "any" => Contents::Any,
        other => return Err(format!("`channels` is `{other}`, not `empty` or `any`")),
    };
    let goal = Goal { state: names.state(&evidence.state)?, contents };
    match (evidence.format.as_str(), &evidence.steps, &evidence.configurations) {
        (RUN, Some(steps), None) => run(machine, &names, evidence, steps, &goal),
        (SET, None, Some(configurations)) => {
            let set = configurations.iter().map(|held| names.configuration(held));
            closed::check(machine, &set.collect::<Result<Vec<_>, _>>()?, &goal)
        }
        (RUN, ..) => Err("a run has `steps` and no `configurations`".to_owned()),
        (SET, ..) => Err("a set has `configurations` and no `steps`".to_owned()),
        (other, ..) => Err(format!("unknown format `{other}`")),
    }
}

fn run(
    machine: &Machine,
    names: &Names<'_>,
    evidence: &Evidence,
    steps: &[Taken],
    goal: &Goal,
) -> Result<(), String> {
    let semantics = match evidence.semantics.as_deref() {
        Some("perfect") => Semantics::Perfect,
        Some("lossy") => Semantics::Lossy,
        _ => return Err("`semantics` of a run is `perfect` or `lossy`".to_owned()),
    };
    let step = |taken: &Taken| match taken.transition < machine.transitions().len() {
        true => {
            let transition = TransitionId::new(taken.transition);
            Ok(Step { transition, after: names.configuration(&taken.after)? })
        }
        false => Err(format!("there is no transition {}", taken.transition)),
    };
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    replay(machine, &Run { semantics, steps }, goal).map_err(|error| error.to_string())
}

/// The names of a machine, to be looked up often.
struct Names<'m> {
    machine: &'m Machine,
    states: BTreeMap<&'m str, StateId>,
    messages: BTreeMap<&'m str, MessageId>,
}

impl<'m> Names<'m> {
    fn new(machine: &'m Machine) -> Self {
        Self {
            machine,
            states: machine.states().map(|q| (machine.state_name(q), q)).collect(),
            messages: machine.messages().map(|m| (machine.message_name(m), m)).collect(),
        }
    }

    fn state(&self, name: &str) -> Result<StateId, String> {
        self.states.get(name).copied().ok_or_else(|| format!("there is no control state `{name}`"))
    }

    fn configuration(&self, held: &Held) -> Result<Configuration, String> {
        let message = |name: &String| {
            let id = self.messages.get(name.as_str()).copied();
            id.ok_or_else(|| format!("there is no message `{name}`"))
        };
        let mut channels = vec![vec![]; self.machine.channels().count()];
        for (name, word) in &held.channels {
            let channel = self.machine.channel(name);
            let channel = channel.ok_or_else(|| format!("there is no channel `{name}`"))?;
            channels[channel.index()] = word.iter().map(message).collect::<Result<Word, _>>()?;
        }
        Ok(Configuration { state: self.state(&held.state)?, channels })
    }
}
