//! The synchronous product (Atig et al. 2010, section 4.4).
//!
//! Transitions with the same label are taken together, transitions without one alone. `Λ`
//! is the same for all machines: a label that one machine never takes blocks the others.
//! So the traces of the product are those that all machines have (Proposition 2). In the
//! paper all machines also have the same `Σ` and the same `(S, k)`. Here alphabets are
//! joined, which makes no difference, since a machine sends only its own messages to its
//! own channels.

use std::collections::HashMap;
use std::fmt;

use weir_model::limits::{Budget, Stop};

use crate::ids::{ChannelId, LabelId, MessageId, StateId, TransitionId};
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

impl ProductError {
    /// The limit that was reached, if that is it.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Machine(error) => error.stop(),
            _ => None,
        }
    }
}

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
type Choice<'m> = (TransitionId, &'m Transition);

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
/// product is too large, or a limit is reached.
///
/// ```
/// use weir_channel::{product, text};
/// use weir_model::limits::Budget;
///
/// let read = |name: &str, channel: &str| text::read(&format!("
///     machine {name};  messages a;  channels {channel};  labels go;
///     states s, t;  initial s;
///     s -> t on go do {channel}!a;
///     t -> t do {channel}?a;
/// ")).unwrap();
/// let machines = [&read("one", "c"), &read("two", "d")];
/// let both = product(&machines, &Budget::new()).unwrap();
/// assert_eq!(both.states().count(), 4);
/// // Both go together; each receives alone, wherever the other is.
/// assert_eq!(both.transitions().len(), 1 + 2 + 2);
/// ```
pub fn product(machines: &[&Machine], budget: &Budget) -> Result<Machine, ProductError> {
    let sizes = machines.iter().map(|m| m.states().count());
    let total = sizes.clone().try_fold(1usize, |all, n| all.checked_mul(n));
    if total.is_none_or(|n| n > crate::MAX_STATES) {
        return Err(MachineError::TooMany("control state", crate::MAX_STATES).into());
    }
    // The state of the first machine changes slowest.
    let all = machines.iter().fold(vec![vec![]], |begun: Vec<Vec<StateId>>, machine| {
        let longer = |b: &Vec<StateId>| {
            machine.states().map(move |s| [b.as_slice(), &[s]].concat()).collect()
        };
        begun.iter().flat_map(|b| -> Vec<Vec<StateId>> { longer(b) }).collect()
    });
    Ok(Product::with(machines, all, budget)?.machine)
}

/// A product that knows what it is made of.
pub(crate) struct Product {
    pub machine: Machine,
    /// For each control state, those of the machines.
    pub states: Vec<Vec<StateId>>,
    /// For each transition, those of the machines that take part.
    pub transitions: Vec<Vec<(usize, TransitionId)>>,
}

impl Product {
    /// The part of the product to which transitions lead, whatever channels hold.
    pub fn new(machines: &[&Machine], budget: &Budget) -> Result<Self, ProductError> {
        Self::with(machines, vec![], budget)
    }

    /// The same, with some control states in any case.
    fn with(
        machines: &[&Machine],
        first: Vec<Vec<StateId>>,
        budget: &Budget,
    ) -> Result<Self, ProductError> {
        let names: Vec<&str> = machines.iter().map(|m| m.name()).collect();
        let mut builder = Machine::builder(names.join(" x ")).within(budget);
        let parts = parts(machines, &mut builder)?;
        let mut maker = Maker {
            parts: &parts,
            builder,
            numbers: HashMap::new(),
            states: vec![],
            transitions: vec![],
        };
        for states in first {
            maker.state(states)?;
        }
        let initial = maker.state(machines.iter().map(|m| m.initial()).collect())?;
        let mut number = 0;
        while number < maker.states.len() {
            maker.leave(StateId::new(number))?;
            number += 1;
        }
        let Maker { builder, states, transitions, .. } = maker;
        Ok(Self { machine: builder.build(initial)?, states, transitions })
    }
}

struct Maker<'p, 'm> {
    parts: &'p [Part<'m>],
    builder: Builder,
    numbers: HashMap<Vec<StateId>, StateId>,
    states: Vec<Vec<StateId>>,
    transitions: Vec<Vec<(usize, TransitionId)>>,
}

impl<'m> Maker<'_, 'm> {
    fn state(&mut self, states: Vec<StateId>) -> Result<StateId, MachineError> {
        if let Some(id) = self.numbers.get(&states) {
            return Ok(*id);
        }
        let name = |(s, part): (&StateId, &Part<'m>)| part.machine.state_name(*s);
        let names: Vec<&str> = states.iter().zip(self.parts).map(name).collect();
        let id = self.builder.fresh_state(format!("({})", names.join(", ")))?;
        self.numbers.insert(states.clone(), id);
        self.states.push(states);
        Ok(id)
    }

    /// Adds the transitions from a state.
    fn leave(&mut self, from: StateId) -> Result<(), MachineError> {
        let states = self.states[from.index()].clone();
        let parts = self.parts;
        for (i, part) in parts.iter().enumerate() {
            for choice in &part.silent[states[i].index()] {
                self.transition(from, None, &[(i, *choice)])?;
            }
        }
        let Some((first, others)) = parts.split_first() else { return Ok(()) };
        let mut labels: Vec<&LabelId> = first.loud[states[0].index()].keys().collect();
        labels.sort_unstable();
        for label in labels {
            // One transition of each machine, in all ways.
            let mut ways: Vec<Vec<(usize, Choice<'m>)>> =
                first.loud[states[0].index()][label].iter().map(|t| vec![(0, *t)]).collect();
            for (i, (part, state)) in others.iter().zip(&states[1..]).enumerate() {
                let choices = part.loud[state.index()].get(label).map_or(&[][..], Vec::as_slice);
                if ways.len().saturating_mul(choices.len()) > crate::MAX_TRANSITIONS {
                    return Err(MachineError::TooMany("transition", crate::MAX_TRANSITIONS));
                }
                let mut more = Vec::new();
                for way in &ways {
                    self.builder.budget().work(1 + choices.len())?;
                    more.extend(choices.iter().map(|t| [way.as_slice(), &[(i + 1, *t)]].concat()));
                }
                ways = more;
            }
            for way in ways {
                self.transition(from, Some(*label), &way)?;
            }
        }
        Ok(())
    }

    /// Adds a transition that some of the machines take.
    fn transition(
        &mut self,
        from: StateId,
        label: Option<LabelId>,
        way: &[(usize, Choice<'m>)],
    ) -> Result<(), MachineError> {
        let mut to = self.states[from.index()].clone();
        for (i, (_, t)) in way {
            to[*i] = t.to;
        }
        let mut both = Transition::new(from, self.state(to)?);
        both.label = label;
        for (i, (_, t)) in way {
            both = self.parts[*i].gather(t, both);
        }
        let id = self.builder.transition(both)?;
        if id.index() == self.transitions.len() {
            self.transitions.push(way.iter().map(|(i, (id, _))| (*i, *id)).collect());
        }
        Ok(())
    }
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
        for (id, transition) in part.machine.transition_ids().zip(part.machine.transitions()) {
            let from = transition.from.index();
            match transition.label {
                None => part.silent[from].push((id, transition)),
                Some(label) => {
                    let label = part.labels[label.index()];
                    part.loud[from].entry(label).or_default().push((id, transition));
                }
            }
        }
        parts.push(part);
    }
    builder.strong(strong, bound.unwrap_or(0))?;
    Ok(parts)
}
