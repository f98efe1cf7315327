//! Evidence about a lossy machine: files of runs and of upward-closed sets.
//! `docs/channel-machines.md` has the formats. [`check`] checks a file, with code that is
//! independent of the searches.

mod closed;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weir_check::claim::{Claims, Settled};
use weir_check::evidence::counted;
use weir_check::{Kind, Rejected};
use weir_model::fingerprint::Fingerprint;

use crate::ids::{MessageId, StateId};
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

/// What identifies a machine: the fingerprint of its text in its usual form.
pub fn fingerprint(machine: &Machine) -> String {
    Fingerprint::of_text(&text::print(machine))
}

impl Evidence {
    /// The file of a run that ends where it should.
    pub fn of_run(machine: &Machine, goal: &Goal, run: &Run) -> Self {
        let semantics = match run.semantics {
            Semantics::Perfect => "perfect",
            Semantics::Lossy => "lossy",
        };
        let taken = |step: &Step| Taken {
            transition: machine.place_of(step.transition),
            after: Held::new(machine, &step.after),
        };
        Self {
            semantics: Some(semantics.to_owned()),
            steps: Some(run.steps.iter().map(taken).collect()),
            ..Self::new(RUN, machine, goal)
        }
    }

    /// The file of the minimal configurations of an upward-closed set that contains the goal and
    /// all its predecessors.
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
            fingerprint: fingerprint(machine),
            state: machine.state_name(goal.state).to_owned(),
            channels: channels.to_owned(),
            semantics: None,
            steps: None,
            configurations: None,
        }
    }
}

impl weir_check::Evidence for Evidence {
    type Subject = Machine;
    const FORMATS: &'static [&'static str] = &[RUN, SET];
    const VERSION: u32 = VERSION;

    fn check(&self, machine: &Machine, _threads: usize) -> Result<(), Rejected> {
        check(machine, self)
    }

    fn what(&self) -> String {
        match (&self.steps, &self.configurations) {
            (Some(steps), _) => format!("a run of {}", counted(steps.len(), "step")),
            (None, set) => {
                let count = set.as_ref().map_or(0, Vec::len);
                format!("a closed set of {}", counted(count, "minimal configuration"))
            }
        }
    }

    fn claim(&self, machine: &Machine) -> Claims {
        let verdict = if self.steps.is_some() { "reached" } else { "unreachable" };
        Claims {
            program: machine.name().to_owned(),
            fingerprint: self.fingerprint.clone(),
            model: format!("{} channels", self.semantics.as_deref().unwrap_or("lossy")),
            answers: vec![Settled::new(
                format!("{} with {} channels", self.state, self.channels),
                verdict,
            )],
            clients: None,
            fairness: None,
        }
    }
}

/// All kinds of evidence about machines.
pub static KINDS: [Kind<Machine>; 1] = [Kind::of::<Evidence>()];

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

/// Checks that a file shows what it says of a machine: that a run is valid and reaches the goal; or
/// that a set is closed under predecessors, contains the goal, and does not contain the initial
/// configuration.
///
/// # Errors
/// Why it does not.
///
/// ```
/// use weir_channel::evidence::{Evidence, check};
/// use weir_channel::lossy::{Reach, reach};
/// use weir_channel::semantics::{Contents, Goal};
/// use weir_channel::{SearchOptions, text};
///
/// let machine = text::read("
///     machine order;  messages a, b;  channels c;  states s, t, u, v;  initial s;
///     s -> t do c!a;  t -> u do c?b;  u -> v do c!b;
/// ").unwrap();
/// let goal = Goal { state: machine.state("v").unwrap(), contents: Contents::Empty };
/// let (answer, _) = reach(&machine, &goal, &SearchOptions::default(), &mut |_| {});
/// let Reach::NotReached(minimal) = answer else { panic!() };
/// let mut evidence = Evidence::of_set(&machine, &goal, &minimal);
/// assert_eq!(check(&machine, &evidence), Ok(()));
/// evidence.configurations.as_mut().unwrap().pop();
/// assert!(check(&machine, &evidence).is_err());
/// ```
pub fn check(machine: &Machine, evidence: &Evidence) -> Result<(), Rejected> {
    if evidence.version != VERSION {
        let format = if evidence.format == SET { SET } else { RUN };
        let found = (evidence.format.clone(), evidence.version);
        return Err(Rejected::Format { found, expected: (format, VERSION) });
    }
    if evidence.machine != machine.name() || evidence.fingerprint != fingerprint(machine) {
        return Err(Rejected::Other { what: "machine" });
    }
    let names = Names::new(machine);
    let contents = match evidence.channels.as_str() {
        "empty" => Contents::Empty,
        "any" => Contents::Any,
        other => {
            return Err(Rejected::Malformed(format!(
                "`channels` is `{other}`, not `empty` or `any`"
            )));
        }
    };
    let goal = Goal { state: names.state(&evidence.state)?, contents };
    match (evidence.format.as_str(), &evidence.steps, &evidence.configurations) {
        (RUN, Some(steps), None) => run(machine, &names, evidence, steps, &goal),
        (SET, None, Some(configurations)) => {
            let set = configurations.iter().map(|held| names.configuration(held));
            closed::check(machine, &set.collect::<Result<Vec<_>, _>>()?, &goal)
        }
        (RUN, ..) => Err(Rejected::malformed("a run has `steps` and no `configurations`")),
        (SET, ..) => Err(Rejected::malformed("a set has `configurations` and no `steps`")),
        (other, ..) => Err(Rejected::Malformed(format!("unknown format `{other}`"))),
    }
}

fn run(
    machine: &Machine,
    names: &Names<'_>,
    evidence: &Evidence,
    steps: &[Taken],
    goal: &Goal,
) -> Result<(), Rejected> {
    let semantics = match evidence.semantics.as_deref() {
        Some("perfect") => Semantics::Perfect,
        Some("lossy") => Semantics::Lossy,
        _ => return Err(Rejected::malformed("`semantics` of a run is `perfect` or `lossy`")),
    };
    let step = |taken: &Taken| match machine.at_place(taken.transition) {
        Some(transition) => Ok(Step { transition, after: names.configuration(&taken.after)? }),
        None => Err(Rejected::Malformed(format!("there is no transition {}", taken.transition))),
    };
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    let count = steps.len();
    replay(machine, &Run { semantics, steps }, goal).map_err(|error| match error.step {
        number if number <= count => Rejected::Step { number, reason: error.reason },
        _ => Rejected::End(error.reason),
    })
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

    fn state(&self, name: &str) -> Result<StateId, Rejected> {
        self.states
            .get(name)
            .copied()
            .ok_or_else(|| Rejected::Malformed(format!("there is no control state `{name}`")))
    }

    fn configuration(&self, held: &Held) -> Result<Configuration, Rejected> {
        let message = |name: &String| {
            let id = self.messages.get(name.as_str()).copied();
            id.ok_or_else(|| Rejected::Malformed(format!("there is no message `{name}`")))
        };
        let mut channels = vec![vec![]; self.machine.channels().count()];
        for (name, word) in &held.channels {
            let channel = self.machine.channel(name);
            let channel = channel
                .ok_or_else(|| Rejected::Malformed(format!("there is no channel `{name}`")))?;
            channels[channel.index()] = word.iter().map(message).collect::<Result<Word, _>>()?;
        }
        Ok(Configuration { state: self.state(&held.state)?, channels })
    }
}
