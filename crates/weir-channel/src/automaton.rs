//! Finite automata of guards, by Thompson's construction: one node for each
//! part of the expression, so that an automaton is never larger than its text.
//!
//! ```
//! use weir_channel::automaton::Automaton;
//! use weir_channel::{MessageId, Regex};
//!
//! let automaton = Automaton::new(&Regex::anything());
//! let places = automaton.after(&automaton.start(), MessageId(0));
//! assert!(automaton.accepts_at(&places));
//! ```

use std::collections::BTreeSet;

use crate::ids::MessageId;
use crate::regex::{Class, Node as Part, Regex};

/// A node of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

#[derive(Clone, Debug)]
enum Node {
    /// Reads a message of the class.
    Read(Class, NodeId),
    /// Goes on at either, reading nothing.
    Split(NodeId, NodeId),
    /// The word may end here.
    Accept,
}

/// A nondeterministic automaton.
#[derive(Clone, Debug)]
pub struct Automaton {
    nodes: Vec<Node>,
    start: NodeId,
}

/// Nodes that read or accept: where an automaton can be after a word. Sorted.
pub type Places = Vec<NodeId>;

impl Automaton {
    /// The automaton of an expression.
    pub fn new(regex: &Regex) -> Self {
        let mut automaton = Self { nodes: vec![Node::Accept], start: NodeId(0) };
        automaton.start = automaton.part(regex.node(), NodeId(0));
        automaton
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a part that goes on at `next`; returns where it begins.
    fn part(&mut self, part: &Part, next: NodeId) -> NodeId {
        match part {
            Part::Epsilon => next,
            Part::Class(class) => self.add(Node::Read(class.clone(), next)),
            Part::Concat(parts) => parts.iter().rev().fold(next, |at, p| self.part(p, at)),
            Part::Union(parts) => {
                let begins: Vec<NodeId> = parts.iter().map(|p| self.part(p, next)).collect();
                let split =
                    |a: Option<NodeId>, b| Some(a.map_or(b, |a| self.add(Node::Split(b, a))));
                begins.into_iter().rev().fold(None, split).unwrap_or(next)
            }
            Part::Star(inner) | Part::Plus(inner) => {
                let split = self.add(Node::Split(next, next));
                let body = self.part(inner, split);
                self.nodes[split.0 as usize] = Node::Split(body, next);
                if matches!(part, Part::Star(_)) { split } else { body }
            }
            Part::Optional(inner) => {
                let body = self.part(inner, next);
                self.add(Node::Split(body, next))
            }
        }
    }

    /// The places that are reached from a node without reading.
    pub(crate) fn places(&self, from: impl IntoIterator<Item = NodeId>) -> Places {
        let mut work: Vec<NodeId> = from.into_iter().collect();
        let mut seen = vec![false; self.nodes.len()];
        let mut places = Vec::new();
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            match self.nodes[node.0 as usize] {
                Node::Split(a, b) => work.extend([a, b]),
                Node::Read(..) | Node::Accept => places.push(node),
            }
        }
        places.sort_unstable();
        places
    }

    /// Where it is before it has read anything.
    pub fn start(&self) -> Places {
        self.places([self.start])
    }

    /// What a place reads and where it goes on; `None` if it accepts.
    pub(crate) fn read(&self, place: NodeId) -> Option<(&Class, NodeId)> {
        match &self.nodes[place.0 as usize] {
            Node::Read(class, next) => Some((class, *next)),
            Node::Split(..) | Node::Accept => None,
        }
    }

    /// Where it is after one more message; nowhere if no word of the language goes on so.
    pub fn after(&self, places: &[NodeId], message: MessageId) -> Places {
        let reads = places.iter().filter_map(|p| self.read(*p));
        self.places(reads.filter(|(class, _)| class.contains(message)).map(|(_, next)| next))
    }

    /// Whether the word may end at one of the places.
    pub fn accepts_at(&self, places: &[NodeId]) -> bool {
        // The node that accepts is the first.
        places.first() == Some(&NodeId(0))
    }

    /// Whether a word is in the language.
    pub fn accepts(&self, word: &[MessageId]) -> bool {
        let places = word.iter().fold(self.start(), |places, m| self.after(&places, *m));
        self.accepts_at(&places)
    }

    /// The least weight of a word in the language, if there is one. `lightest` is the
    /// weight of the lightest message of a class, if it has any.
    pub(crate) fn least(&self, lightest: &dyn Fn(&Class) -> Option<usize>) -> Option<usize> {
        let mut best = vec![usize::MAX; self.nodes.len()];
        let mut order = BTreeSet::from([(0, self.start)]);
        best[self.start.0 as usize] = 0;
        while let Some((so_far, at)) = order.pop_first() {
            let mut go = |to: NodeId, total: usize| {
                let known = &mut best[to.0 as usize];
                if total < *known {
                    order.remove(&(*known, to));
                    *known = total;
                    order.insert((total, to));
                }
            };
            match &self.nodes[at.0 as usize] {
                Node::Accept => return Some(so_far),
                Node::Split(a, b) => {
                    go(*a, so_far);
                    go(*b, so_far);
                }
                Node::Read(class, next) => {
                    if let Some(weight) = lightest(class) {
                        go(*next, so_far + weight);
                    }
                }
            }
        }
        None
    }
}
