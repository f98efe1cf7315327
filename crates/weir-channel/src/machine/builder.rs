//! Builds machines, and rejects descriptions that are not machines.

use std::collections::{HashMap, HashSet};
use std::fmt;

use weir_model::limits::{Budget, Stop};

use super::{
    MAX_CHANNELS, MAX_DEPTH, MAX_LABELS, MAX_MESSAGES, MAX_STATES, MAX_STRONG, MAX_TRANSITIONS,
    Machine, Op, Substitution, Transition,
};
use crate::automaton::Automaton;
use crate::ids::{ChannelId, LabelId, MessageId, StateId, TransitionId};
use crate::regex::Class;

/// Why a description is not a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineError {
    /// A name that is empty, or has a quotation mark or a control character.
    Name(&'static str, String),
    /// A name that another thing of the kind has.
    Duplicate(&'static str, String),
    /// More things of a kind than there may be.
    TooMany(&'static str, usize),
    /// An id that is not of this machine.
    Foreign(&'static str),
    /// A guard that nests too deep.
    TooDeep,
    /// The bound on strong messages is too large.
    Bound,
    /// Whatever the channel holds, this puts more strong messages there than it
    /// may hold.
    PastBound(TransitionId, ChannelId),
    /// The guard asks for more strong messages than the channel may hold.
    NeverHolds(TransitionId, ChannelId),
    /// A limit was reached while it was made.
    Stopped(Stop),
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(kind, name) => write!(f, "{name:?} cannot be the name of a {kind}"),
            Self::Duplicate(kind, name) => write!(f, "there are two {kind}s `{name}`"),
            Self::TooMany(kind, most) => write!(f, "there are more than {most} {kind}s"),
            Self::Foreign(kind) => write!(f, "a {kind} is not of this machine"),
            Self::TooDeep => write!(f, "a guard nests more than {MAX_DEPTH} deep"),
            Self::Bound => write!(f, "a channel may hold at most {MAX_STRONG} strong messages"),
            Self::PastBound(..) => f.write_str(
                "this always puts more strong messages into the channel than it may hold",
            ),
            Self::NeverHolds(..) => {
                f.write_str("this requires more strong messages than the channel may hold")
            }
            Self::Stopped(stop) => write!(f, "{stop} while making the channel machine"),
        }
    }
}

impl std::error::Error for MachineError {}

impl MachineError {
    /// The limit that was reached, if that is it.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Stopped(stop) => Some(*stop),
            _ => None,
        }
    }
}

impl From<Stop> for MachineError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Whether a text can be written as a name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c == '"' || c.is_control())
}

/// The names of one kind, each with its number.
#[derive(Clone, Debug, Default)]
struct Names {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    fn add(
        &mut self,
        kind: &'static str,
        most: usize,
        name: String,
    ) -> Result<usize, MachineError> {
        if self.list.len() >= most {
            return Err(MachineError::TooMany(kind, most));
        }
        if !is_name(&name) {
            return Err(MachineError::Name(kind, name));
        }
        let number = self.list.len();
        if self.numbers.insert(name.clone(), number).is_some() {
            return Err(MachineError::Duplicate(kind, name));
        }
        self.list.push(name);
        Ok(number)
    }
}

/// Adds something under a name, or the name with as many primes as it takes.
fn fresh<T>(
    mut name: String,
    mut add: impl FnMut(String) -> Result<T, MachineError>,
) -> Result<T, MachineError> {
    loop {
        match add(name.clone()) {
            Err(MachineError::Duplicate(..)) => name.push('\''),
            other => return other,
        }
    }
}

/// A machine that is being made.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    states: Names,
    channels: Names,
    messages: Names,
    labels: Names,
    strong: HashSet<MessageId>,
    bound: usize,
    transitions: Vec<Transition>,
    /// The transitions as they are written.
    written: Vec<TransitionId>,
    known: HashMap<Transition, TransitionId>,
    budget: Budget,
}

impl Machine {
    /// Begins a machine.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder {
            name: name.into(),
            states: Names::default(),
            channels: Names::default(),
            messages: Names::default(),
            labels: Names::default(),
            strong: HashSet::new(),
            bound: 0,
            transitions: Vec::new(),
            written: Vec::new(),
            known: HashMap::new(),
            budget: Budget::new(),
        }
    }
}

impl Builder {
    /// Makes the machine within limits: what adds to it stops when one is reached.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..self }
    }

    /// How much time and memory there is.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Calls the machine something else.
    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Adds a control state.
    ///
    /// # Errors
    /// If the name is taken or cannot be written, or there are too many.
    pub fn state(&mut self, name: impl Into<String>) -> Result<StateId, MachineError> {
        self.budget.tick()?;
        self.states.add("control state", MAX_STATES, name.into()).map(StateId::new)
    }

    /// Adds a control state under a name, or under the name with as many primes as it takes
    /// to be new.
    ///
    /// # Errors
    /// If the name cannot be written, or there are too many.
    pub fn fresh_state(&mut self, name: impl Into<String>) -> Result<StateId, MachineError> {
        fresh(name.into(), |name| self.state(name))
    }

    /// Adds a channel.
    ///
    /// # Errors
    /// If the name is taken or cannot be written, or there are too many.
    pub fn channel(&mut self, name: impl Into<String>) -> Result<ChannelId, MachineError> {
        self.channels.add("channel", MAX_CHANNELS, name.into()).map(ChannelId::new)
    }

    /// Adds a message.
    ///
    /// # Errors
    /// If the name is taken or cannot be written, or there are too many.
    pub fn message(&mut self, name: impl Into<String>) -> Result<MessageId, MachineError> {
        self.budget.tick()?;
        self.messages.add("message", MAX_MESSAGES, name.into()).map(MessageId::new)
    }

    /// Adds a message under a name, or under the name with as many primes as it takes to be
    /// new.
    ///
    /// # Errors
    /// If the name cannot be written, or there are too many.
    pub fn fresh_message(&mut self, name: impl Into<String>) -> Result<MessageId, MachineError> {
        fresh(name.into(), |name| self.message(name))
    }

    /// Adds a label.
    ///
    /// # Errors
    /// If the name is taken or cannot be written, or there are too many.
    pub fn label(&mut self, name: impl Into<String>) -> Result<LabelId, MachineError> {
        self.budget.tick()?;
        self.labels.add("label", MAX_LABELS, name.into()).map(LabelId::new)
    }

    /// Makes these messages strong, and no others: the pair `(S, k)`. Without
    /// messages the bound means nothing and is 0.
    ///
    /// # Errors
    /// If a message is not of this machine, or the bound is too large.
    pub fn strong(
        &mut self,
        messages: impl IntoIterator<Item = MessageId>,
        bound: usize,
    ) -> Result<(), MachineError> {
        let strong: HashSet<MessageId> = messages.into_iter().collect();
        if strong.iter().any(|m| m.index() >= self.messages.list.len()) {
            return Err(MachineError::Foreign("message"));
        }
        if bound > MAX_STRONG {
            return Err(MachineError::Bound);
        }
        self.bound = if strong.is_empty() { 0 } else { bound };
        self.strong = strong;
        Ok(())
    }

    /// Adds a transition. `Δ` is a set, so adding it twice changes nothing.
    ///
    /// # Errors
    /// If it has an id that is not of this machine, a guard nests too deep, or
    /// there are too many.
    pub fn transition(&mut self, transition: Transition) -> Result<TransitionId, MachineError> {
        self.budget.tick()?;
        if let Some(id) = self.known.get(&transition) {
            return Ok(*id);
        }
        self.check(&transition)?;
        if self.transitions.len() >= MAX_TRANSITIONS {
            return Err(MachineError::TooMany("transition", MAX_TRANSITIONS));
        }
        let (len, capacity) = (self.known.len(), self.known.capacity());
        self.budget.check_growth(len, capacity, size_of::<(Transition, TransitionId)>())?;
        let id = TransitionId::new(self.transitions.len());
        self.written.push(id);
        self.known.insert(transition.clone(), id);
        self.transitions.push(transition);
        Ok(id)
    }

    /// If the transition exists, records that the file repeats it. Returns whether it exists.
    pub fn is_again(&mut self, transition: &Transition) -> bool {
        let known = self.known.get(transition).copied();
        self.written.extend(known);
        known.is_some()
    }

    fn check(&self, transition: &Transition) -> Result<(), MachineError> {
        let within = |kind, index: usize, names: &Names| match index < names.list.len() {
            true => Ok(()),
            false => Err(MachineError::Foreign(kind)),
        };
        within("control state", transition.from.index(), &self.states)?;
        within("control state", transition.to.index(), &self.states)?;
        if let Some(label) = transition.label {
            within("label", label.index(), &self.labels)?;
        }
        for (channel, language) in transition.guards() {
            within("channel", channel.index(), &self.channels)?;
            if let Some(message) = language.largest() {
                within("message", message.index(), &self.messages)?;
            }
            if language.depth() > MAX_DEPTH {
                return Err(MachineError::TooDeep);
            }
        }
        for (channel, op) in transition.ops() {
            within("channel", channel.index(), &self.channels)?;
            let (Op::Receive(message) | Op::Send { message, .. }) = op;
            within("message", message.index(), &self.messages)?;
            if let Op::Send { substitution, .. } = op {
                for (new, old) in substitution.pairs() {
                    within("message", new.index(), &self.messages)?;
                    within("message", old.index(), &self.messages)?;
                }
            }
        }
        Ok(())
    }

    /// The machine, which begins in `initial`.
    ///
    /// # Errors
    /// If the name of the machine cannot be written, the state is not of this machine,
    /// or a transition can never be taken
    /// because of the bound on strong messages.
    pub fn build(self, initial: StateId) -> Result<Machine, MachineError> {
        if !is_name(&self.name) {
            return Err(MachineError::Name("machine", self.name));
        }
        if initial.index() >= self.states.list.len() {
            return Err(MachineError::Foreign("control state"));
        }
        let messages = (0..self.messages.list.len()).map(MessageId::new);
        let weak: Vec<MessageId> = messages.filter(|m| !self.strong.contains(m)).collect();
        for (number, transition) in self.transitions.iter().enumerate() {
            self.budget.work(1 + weak.len() / 64)?;
            self.check_bound(TransitionId::new(number), transition, &weak)?;
        }
        let strong =
            (0..self.messages.list.len()).map(|m| self.strong.contains(&MessageId::new(m)));
        Ok(Machine {
            name: self.name,
            strong: strong.collect(),
            states: self.states.list,
            channels: self.channels.list,
            messages: self.messages.list,
            labels: self.labels.list,
            bound: self.bound,
            initial,
            transitions: self.transitions,
            written: self.written,
        })
    }

    /// Every step leaves a channel with at most `k` strong messages and begins
    /// with as many (section 4.3). What the guard and the operation alone rule
    /// out is a mistake; what the run rules out just does not happen.
    fn check_bound(
        &self,
        id: TransitionId,
        transition: &Transition,
        weak: &[MessageId],
    ) -> Result<(), MachineError> {
        if self.strong.is_empty() {
            return Ok(());
        }
        for (channel, language) in transition.guards() {
            let lightest = |class: &Class| self.lightest(class, &Substitution::identity(), weak);
            let least = Automaton::new(language).least(&lightest);
            if least.is_some_and(|least| least > self.bound) {
                return Err(MachineError::NeverHolds(id, channel));
            }
        }
        for (channel, op) in transition.ops() {
            let Op::Send { substitution, message } = op else { continue };
            let lightest = |class: &Class| self.lightest(class, substitution, weak);
            let kept = match transition.guard_on(channel) {
                Some(language) => Automaton::new(language).least(&lightest),
                None => Some(0),
            };
            let added = usize::from(self.strong.contains(message));
            if kept.is_some_and(|kept| kept + added > self.bound) {
                return Err(MachineError::PastBound(id, channel));
            }
        }
        Ok(())
    }

    /// Whether every message of a class is strong after a substitution: 1 or 0.
    /// `None` if the class is empty. It does not look at all messages: there may be
    /// many, and many classes.
    fn lightest(
        &self,
        class: &Class,
        substitution: &Substitution,
        weak: &[MessageId],
    ) -> Option<usize> {
        let weight = |m: MessageId| usize::from(self.strong.contains(&substitution.apply(m)));
        if !class.is_negated() {
            return class.messages().iter().map(|m| weight(*m)).min();
        }
        let replaced = substitution.pairs().map(|(_, old)| old);
        let mut candidates = weak.iter().copied().chain(replaced);
        if candidates.any(|m| class.contains(m) && weight(m) == 0) {
            return Some(0);
        }
        (class.messages().len() < self.messages.list.len()).then_some(1)
    }
}
