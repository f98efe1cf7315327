//! The synchronous product (paper 1, section 4.4).
//!
//! Transitions with the same label are taken together, transitions without one
//! alone. `Λ` is the same for all machines: a label that one machine never takes
//! blocks the others. So the traces of the product are those that all machines
//! have (Proposition 2). The paper gives all machines the same `Σ` and the same
//! `(S, k)` as well. Here alphabets are joined, which changes nothing, since a
//! machine puts only its own messages into its own channels.

use std::collections::HashMap;
use std::fmt;

use crate::ids::{ChannelId, LabelId, MessageId, StateId};
use crate::machine::{Builder, Machine, MachineError, Op, Substitution, Transition};

/// Why there is no product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProductError {
    /// There are no machines.
    Nothing,
    /// Two machines have a channel of this name.
    SharedChannel(String),
    /// A message is strong in one machine and not in another that has it.
    Strong(String),
    /// Two machines allow different numbers of strong messages.
    Bound(usize, usize),
    /// The product is no machine, because it is too large.
    Machine(MachineError),
}

impl fmt::Display for ProductError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("there are no machines to multiply"),
            Self::SharedChannel(name) => {
                write!(f, "two machines have a channel `{name}`: in a product each has its own")
            }
            Self::Strong(name) => {
                write!(f, "the message `{name}` is strong in one machine and not in another")
            }
            Self::Bound(a, b) => write!(
                f,
                "one machine allows {a} strong messages in a channel and another {b}; \
                 in a product the bound is the same"
            ),
            Self::Machine(error) => write!(f, "the product is too large: {error}"),
        }
    }
}

impl std::error::Error for ProductError {}

impl From<MachineError> for ProductError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// What the ids of one machine become in the product.
struct Part<'m> {
    machine: &'m Machine,
    channels: Vec<ChannelId>,
    messages: Vec<MessageId>,
    labels: Vec<LabelId>,
    /// For each state, the transitions without and with a label.
    silent: Vec<Vec<Choice<'m>>>,
    loud: Vec<HashMap<LabelId, Vec<Choice<'m>>>>,
}

/// A transition that a machine may take in the product.
type Choice<'m> = &'m Transition;

impl Part<'_> {
    /// Adds the guards and operations of a transition.
    fn gather(&self, of: &Transition, mut into: Transition) -> Transition {
        for (channel, language) in of.guards() {
            into = into.guard(self.channels[channel.index()], language.renamed(&self.messages));
        }
        for (channel, op) in of.ops() {
            let new = |m: MessageId| self.messages[m.index()];
            let op = match op {
                Op::Receive(message) => Op::Receive(new(*message)),
                Op::Send { substitution, message } => {
                    let pairs = substitution.pairs().map(|(to, from)| (new(to), new(from)));
                    let substitution =
                        pairs.fold(Substitution::identity(), |s, (to, from)| s.with(to, from));
                    Op::Send { substitution, message: new(*message) }
                }
            };
            into = into.op(self.channels[channel.index()], op);
        }
        into
    }
}

/// The product of machines.
///
/// # Errors
/// If channels are shared, the machines do not agree on what is strong, or the
/// product is too large.
///
/// ```
/// use weir_channel::{product, text};
///
/// let read = |name: &str, channel: &str| text::read(&format!("
///     machine {name};  messages a;  channels {channel};  labels go;
///     states s, t;  initial s;
///     s -> t on go do {channel}!a;
///     t -> t do {channel}?a;
/// ")).unwrap();
/// let both = product(&[&read("one", "c"), &read("two", "d")]).unwrap();
/// assert_eq!(both.states().count(), 4);
/// // Both go together; each receives alone, wherever the other is.
/// assert_eq!(both.transitions().len(), 1 + 2 + 2);
/// ```
pub fn product(machines: &[&Machine]) -> Result<Machine, ProductError> {
    let names: Vec<&str> = machines.iter().map(|m| m.name()).collect();
    let mut builder = Machine::builder(names.join(" x "));
    let parts = parts(machines, &mut builder)?;
    let sizes: Vec<usize> = machines.iter().map(|m| m.states().count()).collect();
    let total = sizes.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    let total = total.filter(|n| *n <= crate::MAX_STATES);
    let total = total.ok_or(MachineError::TooMany("control state", crate::MAX_STATES))?;

    // The first machine's state changes slowest.
    let split = |mut number: usize| -> Vec<StateId> {
        let mut states: Vec<StateId> = Vec::with_capacity(sizes.len());
        for size in sizes.iter().rev() {
            states.push(StateId::new(number % size));
            number /= size;
        }
        states.reverse();
        states
    };
    let join = |states: &[StateId]| {
        StateId::new(states.iter().zip(&sizes).fold(0, |n, (s, size)| n * size + s.index()))
    };
    for number in 0..total {
        let names: Vec<&str> =
            split(number).iter().zip(machines).map(|(s, m)| m.state_name(*s)).collect();
        fresh(&format!("({})", names.join(", ")), |name| builder.state(name))?;
    }
    for number in 0..total {
        let from = split(number);
        transitions(&parts, &from, &join, &mut builder)?;
    }
    let initial: Vec<StateId> = machines.iter().map(|m| m.initial()).collect();
    Ok(builder.build(join(&initial))?)
}

/// The transitions from one state of the product.
fn transitions(
    parts: &[Part<'_>],
    from: &[StateId],
    join: &dyn Fn(&[StateId]) -> StateId,
    builder: &mut Builder,
) -> Result<(), MachineError> {
    for (i, part) in parts.iter().enumerate() {
        for silent in &part.silent[from[i].index()] {
            let mut to = from.to_vec();
            to[i] = silent.to;
            builder.transition(part.gather(silent, Transition::new(join(from), join(&to))))?;
        }
    }
    let Some((first, others)) = parts.split_first() else { return Ok(()) };
    let mut labels: Vec<&LabelId> = first.loud[from[0].index()].keys().collect();
    labels.sort_unstable();
    for label in labels {
        // One transition of each machine, in all ways.
        let mut ways: Vec<Vec<Choice<'_>>> =
            first.loud[from[0].index()][label].iter().map(|t| vec![*t]).collect();
        for (part, state) in others.iter().zip(&from[1..]) {
            let choices = part.loud[state.index()].get(label).map_or(&[][..], Vec::as_slice);
            if ways.len().saturating_mul(choices.len()) > crate::MAX_TRANSITIONS {
                return Err(MachineError::TooMany("transition", crate::MAX_TRANSITIONS));
            }
            let mut more = Vec::new();
            for way in &ways {
                more.extend(choices.iter().map(|t| [way.as_slice(), &[*t]].concat()));
            }
            ways = more;
        }
        for way in ways {
            let to: Vec<StateId> = way.iter().map(|t| t.to).collect();
            let mut both = Transition::new(join(from), join(&to)).label(*label);
            for (part, transition) in parts.iter().zip(way) {
                both = part.gather(transition, both);
            }
            builder.transition(both)?;
        }
    }
    Ok(())
}

/// Adds channels, messages, labels and what is strong.
fn parts<'m>(
    machines: &[&'m Machine],
    builder: &mut Builder,
) -> Result<Vec<Part<'m>>, ProductError> {
    if machines.is_empty() {
        return Err(ProductError::Nothing);
    }
    let mut messages: HashMap<&str, (MessageId, bool)> = HashMap::new();
    let mut labels: HashMap<&str, LabelId> = HashMap::new();
    let mut strong = Vec::new();
    let mut bound = None;
    let mut parts = Vec::new();
    for machine in machines {
        let mut part = Part {
            machine,
            channels: vec![],
            messages: vec![],
            labels: vec![],
            silent: vec![vec![]; machine.states().count()],
            loud: vec![HashMap::new(); machine.states().count()],
        };
        for channel in machine.channels() {
            part.channels.push(builder.channel(machine.channel_name(channel)).map_err(
                |error| match error {
                    MachineError::Duplicate(_, name) => ProductError::SharedChannel(name),
                    other => other.into(),
                },
            )?);
        }
        for message in machine.messages() {
            let name = machine.message_name(message);
            let is_strong = machine.is_strong(message);
            let id = match messages.get(name) {
                Some((_, other)) if *other != is_strong => {
                    return Err(ProductError::Strong(name.to_owned()));
                }
                Some((id, _)) => *id,
                None => {
                    let id = builder.message(name)?;
                    messages.insert(name, (id, is_strong));
                    strong.extend(is_strong.then_some(id));
                    id
                }
            };
            part.messages.push(id);
        }
        // Where nothing is strong the bound means nothing.
        if machine.strong().next().is_some() {
            let own = machine.strong_bound();
            match *bound.get_or_insert(own) {
                other if other != own => return Err(ProductError::Bound(other, own)),
                _ => {}
            }
        }
        for label in machine.labels() {
            let name = machine.label_name(label);
            let id = match labels.get(name) {
                Some(id) => *id,
                None => builder.label(name)?,
            };
            labels.insert(name, id);
            part.labels.push(id);
        }
        for transition in part.machine.transitions() {
            let from = transition.from.index();
            match transition.label {
                None => part.silent[from].push(transition),
                Some(label) => {
                    let label = part.labels[label.index()];
                    part.loud[from].entry(label).or_default().push(transition);
                }
            }
        }
        parts.push(part);
    }
    builder.strong(strong, bound.unwrap_or(0))?;
    Ok(parts)
}

/// Adds something under a name, or the name with as many primes as it takes.
pub(crate) fn fresh<T>(
    name: &str,
    mut add: impl FnMut(String) -> Result<T, MachineError>,
) -> Result<T, MachineError> {
    let mut name = name.to_owned();
    loop {
        match add(name.clone()) {
            Err(MachineError::Duplicate(..)) => name.push('\''),
            other => return other,
        }
    }
}
