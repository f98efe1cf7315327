//! Channel machines (Atig et al. 2010, sections 4.1 and 4.2).
//!
//! A *channel machine* is a tuple `(Q, C, Σ, Λ, Δ)`: control states, channels,
//! messages, labels and transitions. A transition has a label or none, a guard
//! for each channel and an operation for each channel. Here a guard that is
//! missing is the trivial one, and an operation that is missing is the `nop`, so
//! that there is one way to write each.
//!
//! A machine also has the pair `(S, k)` of its lossy semantics (section 4.3): the strong
//! messages, which are never lost, and how many of them a channel may hold. The perfect
//! semantics ignores it.
//!
//! This module uses neither text nor search.

mod builder;

use std::collections::BTreeMap;

pub use builder::{Builder, MachineError};

use crate::ids::{ChannelId, LabelId, MessageId, StateId, TransitionId};
use crate::regex::Regex;

/// The most control states of a machine.
pub const MAX_STATES: usize = 60_000;
/// The most channels of a machine.
pub const MAX_CHANNELS: usize = 1_000;
/// The most messages of a machine.
pub const MAX_MESSAGES: usize = 10_000;
/// The most labels of a machine.
pub const MAX_LABELS: usize = 60_000;
/// The most transitions of a machine.
pub const MAX_TRANSITIONS: usize = 1_000_000;
/// The largest bound on the strong messages of a channel.
pub const MAX_STRONG: usize = 1_000;
/// How deep a guard may nest.
pub const MAX_DEPTH: usize = 4 * weir_front::MAX_NESTING;

/// What a channel holds, the newest message first: `c!a` makes `a·u` of `u`, and
/// `c?a` makes `u` of `u·a`.
pub type Word = Vec<MessageId>;

/// A substitution `σ`, a mapping from `Σ` to `Σ` (Atig et al. 2010, section 2).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Substitution(BTreeMap<MessageId, MessageId>);

impl Substitution {
    /// The one that changes nothing.
    pub fn identity() -> Self {
        Self::default()
    }

    /// With `new` in the place of `old`; the paper writes `new/old`.
    #[must_use]
    pub fn with(mut self, new: MessageId, old: MessageId) -> Self {
        if new == old {
            self.0.remove(&old);
        } else {
            self.0.insert(old, new);
        }
        self
    }

    /// The message that replaces a message.
    #[inline]
    pub fn apply(&self, message: MessageId) -> MessageId {
        self.0.get(&message).copied().unwrap_or(message)
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs of new and old that differ, by the old one.
    pub fn pairs(&self) -> impl Iterator<Item = (MessageId, MessageId)> {
        self.0.iter().map(|(&old, &new)| (new, old))
    }
}

/// An operation on a channel, other than the `nop`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// `c[σ]!a`: applies the substitution to what is in the channel, then adds
    /// the message.
    Send {
        /// Applied to what is there.
        substitution: Substitution,
        /// Added after that.
        message: MessageId,
    },
    /// `c?a`: takes the oldest message, if it is this one.
    Receive(MessageId),
}

impl Op {
    /// `c!a`.
    pub fn send(message: MessageId) -> Self {
        Self::Send { substitution: Substitution::identity(), message }
    }
}

/// A transition `q –ℓ, g, op→ q'`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transition {
    /// Where it begins.
    pub from: StateId,
    /// Where it ends.
    pub to: StateId,
    /// Its label; `None` is `ε`.
    pub label: Option<LabelId>,
    guards: BTreeMap<ChannelId, Regex>,
    ops: BTreeMap<ChannelId, Op>,
}

impl Transition {
    /// A transition without label, guards and operations.
    pub fn new(from: StateId, to: StateId) -> Self {
        Self { from, to, label: None, guards: BTreeMap::new(), ops: BTreeMap::new() }
    }

    /// With a label.
    #[must_use]
    pub fn label(mut self, label: LabelId) -> Self {
        self.label = Some(label);
        self
    }

    /// With the guard `channel ∈ language`.
    #[must_use]
    pub fn guard(mut self, channel: ChannelId, language: Regex) -> Self {
        if language.is_anything() {
            self.guards.remove(&channel);
        } else {
            self.guards.insert(channel, language);
        }
        self
    }

    /// With an operation on a channel.
    #[must_use]
    pub fn op(mut self, channel: ChannelId, op: Op) -> Self {
        self.ops.insert(channel, op);
        self
    }

    /// The guards that are not trivial.
    pub fn guards(&self) -> impl Iterator<Item = (ChannelId, &Regex)> {
        self.guards.iter().map(|(&c, g)| (c, g))
    }

    /// The operations other than `nop`.
    pub fn ops(&self) -> impl Iterator<Item = (ChannelId, &Op)> {
        self.ops.iter().map(|(&c, op)| (c, op))
    }

    /// The guard on a channel, unless it is trivial.
    pub fn guard_on(&self, channel: ChannelId) -> Option<&Regex> {
        self.guards.get(&channel)
    }

    /// The operation on a channel, unless it is `nop`.
    pub fn op_on(&self, channel: ChannelId) -> Option<&Op> {
        self.ops.get(&channel)
    }
}

/// A configuration `⟨q, u⟩`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The control state.
    pub state: StateId,
    /// What each channel holds.
    pub channels: Vec<Word>,
}

/// A channel machine with its strong messages.
///
/// ```
/// use weir_channel::{Machine, Op, Transition};
///
/// let mut machine = Machine::builder("relay");
/// let idle = machine.state("idle").unwrap();
/// let sent = machine.state("sent").unwrap();
/// let wire = machine.channel("wire").unwrap();
/// let hello = machine.message("hello").unwrap();
/// machine.transition(Transition::new(idle, sent).op(wire, Op::send(hello))).unwrap();
/// machine.transition(Transition::new(sent, idle).op(wire, Op::Receive(hello))).unwrap();
/// let machine = machine.build(idle).unwrap();
/// assert!(machine.is_basic());
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    states: Vec<String>,
    channels: Vec<String>,
    messages: Vec<String>,
    labels: Vec<String>,
    /// For each message, whether it is strong.
    strong: Vec<bool>,
    bound: usize,
    initial: StateId,
    transitions: Vec<Transition>,
    /// The transitions in the order of the file, where some may be repeated.
    written: Vec<TransitionId>,
}

impl PartialEq for Machine {
    /// Repeated transitions make no difference.
    fn eq(&self, other: &Self) -> bool {
        let Self { name, states, channels, messages, labels, strong, .. } = self;
        let names = (&other.name, &other.states, &other.channels, &other.messages, &other.labels);
        (name, states, channels, messages, labels) == names
            && *strong == other.strong
            && (self.bound, self.initial) == (other.bound, other.initial)
            && self.transitions == other.transitions
    }
}

impl Eq for Machine {}

macro_rules! table {
    ($ids:ident, $name:ident, $find:ident, $field:ident, $id:ident, $what:literal) => {
        #[doc = concat!("All ", $what, "s.")]
        pub fn $ids(&self) -> impl Iterator<Item = $id> + use<> {
            (0..self.$field.len()).map($id::new)
        }

        #[doc = concat!("The name of a ", $what, ".")]
        pub fn $name(&self, id: $id) -> &str {
            &self.$field[id.index()]
        }

        #[doc = concat!("The ", $what, " of a name.")]
        pub fn $find(&self, name: &str) -> Option<$id> {
            self.$field.iter().position(|n| n == name).map($id::new)
        }
    };
}

impl Machine {
    table!(states, state_name, state, states, StateId, "control state");
    table!(channels, channel_name, channel, channels, ChannelId, "channel");
    table!(messages, message_name, message, messages, MessageId, "message");
    table!(labels, label_name, label, labels, LabelId, "label");

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it begins, with empty channels.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The transitions `Δ`, each once.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// A transition.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// The place of a transition in the file of the machine, from 0; the first one if it is written
    /// several times.
    pub fn place_of(&self, id: TransitionId) -> usize {
        match self.written.len() == self.transitions.len() {
            true => id.index(),
            false => self.written.iter().position(|w| *w == id).unwrap_or_else(|| id.index()),
        }
    }

    /// The transition at a place of the file.
    pub fn at_place(&self, place: usize) -> Option<TransitionId> {
        self.written.get(place).copied()
    }

    /// All transitions.
    pub fn transition_ids(&self) -> impl Iterator<Item = TransitionId> + use<> {
        (0..self.transitions.len()).map(TransitionId::new)
    }

    /// Whether a message is in `S`.
    #[inline]
    pub fn is_strong(&self, message: MessageId) -> bool {
        self.strong[message.index()]
    }

    /// The strong messages `S`.
    pub fn strong(&self) -> impl Iterator<Item = MessageId> {
        self.messages().filter(|m| self.is_strong(*m))
    }

    /// The bound `k`: how many strong messages a channel may hold.
    pub fn strong_bound(&self) -> usize {
        self.bound
    }

    /// Where it begins: `⟨q, ε⟩`.
    pub fn start(&self) -> Configuration {
        Configuration { state: self.initial, channels: vec![vec![]; self.channels.len()] }
    }

    /// Whether it is basic (section 4.3): no strong messages, no guards but the
    /// trivial one, no substitutions but the identity.
    pub fn is_basic(&self) -> bool {
        let plain = |op: &Op| match op {
            Op::Send { substitution, .. } => substitution.is_identity(),
            Op::Receive(_) => true,
        };
        let is_basic = |t: &Transition| t.guards.is_empty() && t.ops.values().all(plain);
        self.strong().next().is_none() && self.transitions.iter().all(is_basic)
    }
}
