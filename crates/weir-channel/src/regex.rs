//! Regular expressions over messages: the languages of guards.
//!
//! They are kept in a normal form that the parser reads back unchanged from the output of
//! the printer: no concatenation inside a concatenation, no union inside a union, no
//! repetition of a repetition.

use crate::ids::MessageId;

/// A set of messages, given by what is in it or by what is not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    negated: bool,
    /// Sorted, each once.
    messages: Vec<MessageId>,
}

impl Class {
    /// These messages.
    pub fn of(messages: impl IntoIterator<Item = MessageId>) -> Self {
        Self { negated: false, messages: sorted(messages) }
    }

    /// All messages but these.
    pub fn but(messages: impl IntoIterator<Item = MessageId>) -> Self {
        Self { negated: true, messages: sorted(messages) }
    }

    /// All messages, `Σ`.
    pub fn all() -> Self {
        Self::but([])
    }

    /// Whether a message is in it.
    #[inline]
    pub fn contains(&self, message: MessageId) -> bool {
        self.messages.binary_search(&message).is_ok() != self.negated
    }

    /// Whether [`Class::messages`] are those that are not in it.
    pub fn is_negated(&self) -> bool {
        self.negated
    }

    /// The messages that it is given by, in order.
    pub fn messages(&self) -> &[MessageId] {
        &self.messages
    }
}

fn sorted(messages: impl IntoIterator<Item = MessageId>) -> Vec<MessageId> {
    let mut messages: Vec<MessageId> = messages.into_iter().collect();
    messages.sort_unstable();
    messages.dedup();
    messages
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Node {
    /// The empty word.
    Epsilon,
    /// One message of a class.
    Class(Class),
    /// One after the other: at least two.
    Concat(Vec<Node>),
    /// One of several: at least two.
    Union(Vec<Node>),
    /// Any number of times.
    Star(Box<Node>),
    /// At least once.
    Plus(Box<Node>),
    /// Once or not at all.
    Optional(Box<Node>),
}

/// A regular expression over messages.
///
/// The word of a channel is written with the newest message first, as in the paper: `c!a` makes
/// `a·u` of `u` (Atig et al. 2010, section 4.1). An expression reads the word in the same order.
///
/// ```
/// use weir_channel::{Class, Machine, Regex};
///
/// let mut machine = Machine::builder("example");
/// let a = machine.message("a").unwrap();
/// let b = machine.message("b").unwrap();
/// // One `a`, then any number of `b`.
/// let regex = Regex::concat([Regex::one(a), Regex::one(b).star()]);
/// assert!(regex.accepts(&[a, b, b]));
/// assert!(!regex.accepts(&[b, a]));
/// assert!(Regex::class(Class::all()).star().accepts(&[b, a]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Regex(Node);

impl Regex {
    /// The empty word only.
    pub fn epsilon() -> Self {
        Self(Node::Epsilon)
    }

    /// One message.
    pub fn one(message: MessageId) -> Self {
        Self::class(Class::of([message]))
    }

    /// One message of a class.
    pub fn class(class: Class) -> Self {
        Self(Node::Class(class))
    }

    /// One after the other.
    pub fn concat(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut nodes = Vec::new();
        for part in parts {
            match part.0 {
                Node::Concat(inner) => nodes.extend(inner),
                node => nodes.push(node),
            }
        }
        match nodes.len() {
            0 => Self::epsilon(),
            1 => Self(nodes.remove(0)),
            _ => Self(Node::Concat(nodes)),
        }
    }

    /// One of several; none at all accepts nothing.
    pub fn union(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut nodes = Vec::new();
        for part in parts {
            match part.0 {
                Node::Union(inner) => nodes.extend(inner),
                node => nodes.push(node),
            }
        }
        match nodes.len() {
            0 => Self::class(Class::of([])),
            1 => Self(nodes.remove(0)),
            _ => Self(Node::Union(nodes)),
        }
    }

    /// Any number of times.
    #[must_use]
    pub fn star(self) -> Self {
        match self.0 {
            Node::Star(inner) | Node::Plus(inner) | Node::Optional(inner) => {
                Self(Node::Star(inner))
            }
            node => Self(Node::Star(Box::new(node))),
        }
    }

    /// At least once.
    #[must_use]
    pub fn plus(self) -> Self {
        match self.0 {
            Node::Star(inner) | Node::Optional(inner) => Self(Node::Star(inner)),
            Node::Plus(inner) => Self(Node::Plus(inner)),
            node => Self(Node::Plus(Box::new(node))),
        }
    }

    /// Once or not at all.
    #[must_use]
    pub fn optional(self) -> Self {
        match self.0 {
            Node::Star(inner) | Node::Plus(inner) => Self(Node::Star(inner)),
            Node::Optional(inner) => Self(Node::Optional(inner)),
            node => Self(Node::Optional(Box::new(node))),
        }
    }

    /// All words, `Σ*`: the guard that is trivial.
    pub fn anything() -> Self {
        Self::class(Class::all()).star()
    }

    /// The paper's `a ∈ c`: the message is somewhere.
    pub fn has(message: MessageId) -> Self {
        Self::concat([Self::anything(), Self::one(message), Self::anything()])
    }

    /// Whether it is written `Σ*`.
    pub fn is_anything(&self) -> bool {
        matches!(&self.0, Node::Star(inner) if **inner == Node::Class(Class::all()))
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0
    }

    /// The words of it, read from the other end.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self(self.0.mirrored())
    }

    /// With other messages in the place of its own.
    pub(crate) fn renamed(&self, new: &[MessageId]) -> Self {
        let mut node = self.0.clone();
        node.each_class(&mut |class| {
            class.messages = sorted(class.messages.iter().map(|m| new[m.index()]));
        });
        Self(node)
    }

    /// The largest message that it names.
    pub(crate) fn largest(&self) -> Option<MessageId> {
        let mut largest = None;
        let mut node = self.0.clone();
        node.each_class(&mut |class| largest = largest.max(class.messages.last().copied()));
        largest
    }

    /// How deep it nests.
    pub(crate) fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Whether a word is in its language. By the definition and without an
    /// automaton, so that the replay of runs shares nothing with the search.
    pub fn accepts(&self, word: &[MessageId]) -> bool {
        let mut from = vec![false; word.len() + 1];
        from[0] = true;
        self.0.ends(word, &from)[word.len()]
    }
}

impl Node {
    fn mirrored(&self) -> Self {
        let all = |nodes: &[Self]| nodes.iter().map(Self::mirrored).collect::<Vec<_>>();
        match self {
            Self::Epsilon | Self::Class(_) => self.clone(),
            Self::Concat(nodes) => Self::Concat(all(nodes).into_iter().rev().collect()),
            Self::Union(nodes) => Self::Union(all(nodes)),
            Self::Star(inner) => Self::Star(Box::new(inner.mirrored())),
            Self::Plus(inner) => Self::Plus(Box::new(inner.mirrored())),
            Self::Optional(inner) => Self::Optional(Box::new(inner.mirrored())),
        }
    }

    fn each_class(&mut self, visit: &mut dyn FnMut(&mut Class)) {
        match self {
            Self::Epsilon => {}
            Self::Class(class) => visit(class),
            Self::Concat(nodes) | Self::Union(nodes) => {
                nodes.iter_mut().for_each(|n| n.each_class(visit));
            }
            Self::Star(inner) | Self::Plus(inner) | Self::Optional(inner) => {
                inner.each_class(visit)
            }
        }
    }

    fn depth(&self) -> usize {
        1 + match self {
            Self::Epsilon | Self::Class(_) => 0,
            Self::Concat(nodes) | Self::Union(nodes) => {
                nodes.iter().map(Self::depth).max().unwrap_or(0)
            }
            Self::Star(inner) | Self::Plus(inner) | Self::Optional(inner) => inner.depth(),
        }
    }

    /// Where in the word it can end if it begins at one of the places `from`.
    fn ends(&self, word: &[MessageId], from: &[bool]) -> Vec<bool> {
        let or = |mut a: Vec<bool>, b: &[bool]| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
            a
        };
        match self {
            Self::Epsilon => from.to_vec(),
            Self::Class(class) => {
                let mut to = vec![false; from.len()];
                for (i, &message) in word.iter().enumerate() {
                    to[i + 1] = from[i] && class.contains(message);
                }
                to
            }
            Self::Concat(nodes) => nodes.iter().fold(from.to_vec(), |at, n| n.ends(word, &at)),
            Self::Union(nodes) => {
                nodes.iter().fold(vec![false; from.len()], |to, n| or(n.ends(word, from), &to))
            }
            Self::Optional(inner) => or(inner.ends(word, from), from),
            Self::Star(inner) => inner.repeated(word, from),
            Self::Plus(inner) => inner.repeated(word, &inner.ends(word, from)),
        }
    }

    /// Where any number of repetitions can end.
    fn repeated(&self, word: &[MessageId], from: &[bool]) -> Vec<bool> {
        let mut all = from.to_vec();
        loop {
            let more = self.ends(word, &all);
            let before = all.clone();
            all.iter_mut().zip(&more).for_each(|(a, m)| *a |= m);
            if all == before {
                return all;
            }
        }
    }
}
