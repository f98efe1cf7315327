//! Büchi automata of formulas of linear temporal logic (Gerth et al. 1995).
//!
//! *Problem.* Given a formula, make an automaton that accepts the infinite words that satisfy it.
//!
//! *Construction.* The formula is in negation normal form, over literals, conjunction, disjunction,
//! `until` and `release`. A state of the automaton is a set of formulas that hold at a moment and a
//! set of formulas that have to hold at the next one. A set of formulas is taken apart: `a until b` is
//! `b`, or `a` and the same again at the next moment; `a release b` is `b` and `a`, or `b` and
//! the same again at the next moment. The literals of a state say which letters it reads. There is a set
//! of accepting states for each `until`: those in which it does not hold or its second part does. A
//! run is accepting if it visits each of these sets infinitely often.
//!
//! There are finitely many sets of subformulas, so it ends; their number is limited all the same.

use std::collections::{BTreeSet, HashMap};

use weir_model::limits::{Budget, Stop};
use weir_model::program::{Formula, Ltl};

/// The most formulas about states that one formula may have: a letter is a word of bits.
pub(crate) const MAX_LETTERS: usize = 32;

/// The most states of an automaton.
const MAX_STATES: usize = 20_000;

/// A formula in negation normal form, by its number.
type Id = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    True,
    False,
    /// A formula about states, by its number, and whether it has to hold.
    Literal(u32, bool),
    And(Id, Id),
    Or(Id, Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// Why there is no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// It would be too large.
    TooLarge(String),
    /// A limit was reached.
    Stopped(Stop),
}

/// A state of an automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Which formulas about states have to hold, and which must not.
    pub holds: u32,
    pub fails: u32,
    /// The states that may follow.
    pub next: Vec<u32>,
    /// In which sets of accepting states it is.
    pub accepts: Vec<bool>,
}

impl State {
    /// Whether it reads a letter.
    pub fn reads(&self, letter: u32) -> bool {
        letter & self.holds == self.holds && letter & self.fails == 0
    }
}

/// An automaton of the words that do not satisfy a formula, or that do.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    pub states: Vec<State>,
    pub initial: Vec<u32>,
    /// How many sets of accepting states there are.
    pub sets: usize,
    /// The formulas about states, in the order of the bits of a letter.
    pub letters: Vec<Formula>,
}

impl Automaton {
    /// The automaton of the words that satisfy a formula, or of those that do not.
    ///
    /// # Errors
    /// If it is too large, or a limit is reached.
    pub fn new(formula: &Ltl, wanted: bool, budget: &Budget) -> Result<Self, Failed> {
        let mut maker = Maker::default();
        let root = maker.normal(formula, wanted)?;
        maker.automaton(root, budget)
    }
}

/// What is being taken apart.
#[derive(Clone, Default)]
struct Open {
    /// What is left.
    new: Vec<Id>,
    old: BTreeSet<Id>,
    next: BTreeSet<Id>,
}

#[derive(Default)]
struct Maker {
    nodes: Vec<Node>,
    numbers: HashMap<Node, Id>,
    letters: Vec<Formula>,
}

impl Maker {
    fn id(&mut self, node: Node) -> Id {
        if let Some(id) = self.numbers.get(&node) {
            return *id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    fn both(&mut self, a: Id, b: Id) -> Id {
        match (&self.nodes[a as usize], &self.nodes[b as usize]) {
            (Node::False, _) | (_, Node::True) => a,
            (Node::True, _) | (_, Node::False) => b,
            _ if a == b => a,
            _ => self.id(Node::And(a, b)),
        }
    }

    fn either(&mut self, a: Id, b: Id) -> Id {
        match (&self.nodes[a as usize], &self.nodes[b as usize]) {
            (Node::True, _) | (_, Node::False) => a,
            (Node::False, _) | (_, Node::True) => b,
            _ if a == b => a,
            _ => self.id(Node::Or(a, b)),
        }
    }

    /// A formula, or its negation, in negation normal form.
    fn normal(&mut self, formula: &Ltl, wanted: bool) -> Result<Id, Failed> {
        Ok(match formula {
            Ltl::State(Formula::Const(c)) => {
                self.id(if (*c != 0) == wanted { Node::True } else { Node::False })
            }
            Ltl::State(f) => {
                let known = self.letters.iter().position(|known| known == f);
                let letter = known.unwrap_or_else(|| {
                    self.letters.push(f.clone());
                    self.letters.len() - 1
                });
                if letter >= MAX_LETTERS {
                    let reason =
                        format!("the formula speaks of more than {MAX_LETTERS} kinds of states");
                    return Err(Failed::TooLarge(reason));
                }
                self.id(Node::Literal(letter as u32, wanted))
            }
            Ltl::Not(a) => self.normal(a, !wanted)?,
            Ltl::And(a, b) | Ltl::Or(a, b) => {
                let (a, b) = (self.normal(a, wanted)?, self.normal(b, wanted)?);
                match matches!(formula, Ltl::And(..)) == wanted {
                    true => self.both(a, b),
                    false => self.either(a, b),
                }
            }
            Ltl::Implies(a, b) => {
                let (a, b) = (self.normal(a, !wanted)?, self.normal(b, wanted)?);
                if wanted { self.either(a, b) } else { self.both(a, b) }
            }
            Ltl::Iff(a, b) => {
                let (yes, no) = (self.normal(a, true)?, self.normal(a, false)?);
                let (same, other) = (self.normal(b, wanted)?, self.normal(b, !wanted)?);
                let (first, second) = (self.both(yes, same), self.both(no, other));
                self.either(first, second)
            }
            Ltl::Always(a) => {
                let constant = self.id(if wanted { Node::False } else { Node::True });
                let a = self.normal(a, wanted)?;
                if wanted { self.release(constant, a) } else { self.until(constant, a) }
            }
            Ltl::Eventually(a) => {
                let constant = self.id(if wanted { Node::True } else { Node::False });
                let a = self.normal(a, wanted)?;
                if wanted { self.until(constant, a) } else { self.release(constant, a) }
            }
            Ltl::Until(a, b) => {
                let (a, b) = (self.normal(a, wanted)?, self.normal(b, wanted)?);
                if wanted { self.until(a, b) } else { self.release(a, b) }
            }
            Ltl::Release(a, b) => {
                let (a, b) = (self.normal(a, wanted)?, self.normal(b, wanted)?);
                if wanted { self.release(a, b) } else { self.until(a, b) }
            }
            // a unless b = b release (a or b); its negation is (not b) until (not a and not b).
            Ltl::Unless(a, b) => {
                let (a, b) = (self.normal(a, wanted)?, self.normal(b, wanted)?);
                let together = if wanted { self.either(a, b) } else { self.both(a, b) };
                if wanted { self.release(b, together) } else { self.until(b, together) }
            }
        })
    }

    fn until(&mut self, a: Id, b: Id) -> Id {
        match &self.nodes[b as usize] {
            Node::True | Node::False => b,
            _ => self.id(Node::Until(a, b)),
        }
    }

    fn release(&mut self, a: Id, b: Id) -> Id {
        match &self.nodes[b as usize] {
            Node::True | Node::False => b,
            _ => self.id(Node::Release(a, b)),
        }
    }

    fn automaton(self, root: Id, budget: &Budget) -> Result<Automaton, Failed> {
        let untils: Vec<(Id, Id)> = (0..)
            .zip(&self.nodes)
            .filter_map(|(id, node)| match node {
                Node::Until(_, b) => Some((id, *b)),
                _ => None,
            })
            .collect();
        let mut states: Vec<State> = Vec::new();
        let mut numbers: HashMap<(BTreeSet<Id>, BTreeSet<Id>), u32> = HashMap::new();
        // The states for each set of formulas that have to hold at a moment.
        let mut known: HashMap<BTreeSet<Id>, Vec<u32>> = HashMap::new();
        let mut work = vec![BTreeSet::from([root])];
        let mut waiting: Vec<(u32, BTreeSet<Id>)> = Vec::new();
        while let Some(set) = work.pop() {
            if known.contains_key(&set) {
                continue;
            }
            let mut found = Vec::new();
            for (old, next) in self.taken_apart(&set, budget)? {
                if let Some(number) = numbers.get(&(old.clone(), next.clone())) {
                    if !found.contains(number) {
                        found.push(*number);
                    }
                    continue;
                }
                let number = states.len() as u32;
                if states.len() >= MAX_STATES {
                    let reason = format!("its automaton has more than {MAX_STATES} states");
                    return Err(Failed::TooLarge(reason));
                }
                let mut state = State::default();
                for id in &old {
                    match self.nodes[*id as usize] {
                        Node::Literal(letter, true) => state.holds |= 1 << letter,
                        Node::Literal(letter, false) => state.fails |= 1 << letter,
                        _ => {}
                    }
                }
                state.accepts =
                    untils.iter().map(|(u, b)| !old.contains(u) || old.contains(b)).collect();
                states.push(state);
                numbers.insert((old, next.clone()), number);
                found.push(number);
                work.push(next.clone());
                waiting.push((number, next));
            }
            known.insert(set, found);
        }
        for (number, next) in waiting {
            budget.tick().map_err(Failed::Stopped)?;
            states[number as usize].next = known[&next].clone();
        }
        let initial = known[&BTreeSet::from([root])].clone();
        Ok(Automaton { states, initial, sets: untils.len(), letters: self.letters })
    }

    /// The ways to satisfy all formulas of a set: what holds now, and what has to hold next.
    #[expect(clippy::type_complexity, reason = "a list of pairs of sets")]
    fn taken_apart(
        &self,
        set: &BTreeSet<Id>,
        budget: &Budget,
    ) -> Result<Vec<(BTreeSet<Id>, BTreeSet<Id>)>, Failed> {
        let mut done = BTreeSet::new();
        let mut work = vec![Open { new: set.iter().copied().collect(), ..Open::default() }];
        while let Some(mut open) = work.pop() {
            budget.tick().map_err(Failed::Stopped)?;
            if work.len() + done.len() > MAX_STATES {
                let reason = format!("its automaton has more than {MAX_STATES} states");
                return Err(Failed::TooLarge(reason));
            }
            let Some(id) = open.new.pop() else {
                done.insert((open.old, open.next));
                continue;
            };
            if open.old.contains(&id) {
                work.push(open);
                continue;
            }
            match self.nodes[id as usize] {
                Node::True => work.push(open),
                Node::False => {}
                Node::Literal(letter, wanted) => {
                    let other = self.numbers.get(&Node::Literal(letter, !wanted));
                    if !other.is_some_and(|other| open.old.contains(other)) {
                        open.old.insert(id);
                        work.push(open);
                    }
                }
                Node::And(a, b) => {
                    open.old.insert(id);
                    open.new.extend([a, b]);
                    work.push(open);
                }
                Node::Or(a, b) => {
                    open.old.insert(id);
                    let mut other = open.clone();
                    open.new.push(a);
                    other.new.push(b);
                    work.extend([open, other]);
                }
                Node::Until(a, b) => {
                    open.old.insert(id);
                    let mut later = open.clone();
                    open.new.push(b);
                    later.new.push(a);
                    later.next.insert(id);
                    work.extend([open, later]);
                }
                Node::Release(a, b) => {
                    open.old.insert(id);
                    let mut later = open.clone();
                    open.new.extend([a, b]);
                    later.new.push(b);
                    later.next.insert(id);
                    work.extend([open, later]);
                }
            }
        }
        Ok(done.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
