//! Deterministic automata in canonical form: minimal, without dead states, numbered
//! breadth-first with letters in order. Two of them accept the same words if and only if
//! they are equal.

use std::fmt;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use weir_model::limits::{Budget, Stop};

/// A letter of a buffer: a variable and a value, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(pub u32);

/// Why there is no automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmade {
    /// It would have more than `MOST_STATES`.
    TooLarge,
    /// A limit was reached.
    Stopped(Stop),
}

impl From<Stop> for Unmade {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl fmt::Display for Unmade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => {
                write!(f, "the automaton of a buffer would have more than {MOST_STATES} states")
            }
            Self::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Unmade {}

/// Larger automata are not made.
pub const MOST_STATES: usize = 1 << 10;

/// A canonical automaton. It starts in state 0; without states it accepts nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dfa {
    states: Box<[State]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    is_accepting: bool,
    /// In the order of letters.
    edges: Box<[(Letter, u32)]>,
}

impl Dfa {
    /// The canonical form of a deterministic automaton that is given by its start,
    /// the edges of a state, and which states accept.
    ///
    /// # Errors
    /// If it has too many states, or a limit is reached.
    pub fn build<S: Clone + Eq + Hash>(
        start: S,
        mut edges: impl FnMut(&S) -> Vec<(Letter, S)>,
        accepts: impl Fn(&S) -> bool,
        budget: &Budget,
    ) -> Result<Self, Unmade> {
        let mut numbers: FxHashMap<S, u32> = FxHashMap::default();
        let mut states = vec![start.clone()];
        numbers.insert(start, 0);
        let mut raw: Vec<State> = Vec::new();
        while let Some(state) = states.get(raw.len()).cloned() {
            let mut out = Vec::new();
            for (letter, to) in edges(&state) {
                budget.tick()?;
                let number = *numbers.entry(to.clone()).or_insert_with(|| {
                    states.push(to);
                    (states.len() - 1) as u32
                });
                out.push((letter, number));
            }
            if states.len() > MOST_STATES {
                return Err(Unmade::TooLarge);
            }
            out.sort_unstable();
            raw.push(State { is_accepting: accepts(&state), edges: out.into() });
        }
        Ok(canonical(raw, budget)?)
    }

    /// The automaton of the empty word alone, or of no word.
    pub(super) fn of_the_empty_word(is_accepting: bool) -> Self {
        let state = State { is_accepting, edges: Box::new([]) };
        Self { states: if is_accepting { Box::new([state]) } else { Box::new([]) } }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether it accepts nothing.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether a state accepts.
    pub fn accepts_at(&self, state: u32) -> bool {
        self.states[state as usize].is_accepting
    }

    /// The edges of a state, in the order of letters.
    pub fn edges(&self, state: u32) -> &[(Letter, u32)] {
        &self.states[state as usize].edges
    }

    /// Where a letter leads.
    pub fn step(&self, state: u32, letter: Letter) -> Option<u32> {
        let edges = self.edges(state);
        let at = edges.binary_search_by_key(&letter, |(l, _)| *l).ok()?;
        Some(edges[at].1)
    }

    /// Whether it accepts a word.
    pub fn accepts(&self, word: &[Letter]) -> bool {
        if self.is_empty() {
            return false;
        }
        let end = word.iter().try_fold(0, |state, letter| self.step(state, *letter));
        end.is_some_and(|state| self.accepts_at(state))
    }

    /// The first of the shortest words, if there is one.
    pub fn shortest(&self) -> Option<Vec<Letter>> {
        let mut before: Vec<Option<(u32, Letter)>> = vec![None; self.len()];
        let mut queue: Vec<u32> = (0..self.len().min(1) as u32).collect();
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            next += 1;
            if self.accepts_at(state) {
                let mut word = Vec::new();
                let mut at = state;
                while let Some((from, letter)) = before[at as usize] {
                    word.push(letter);
                    at = from;
                }
                word.reverse();
                return Some(word);
            }
            for &(letter, to) in self.edges(state) {
                if to != 0 && before[to as usize].is_none() {
                    before[to as usize] = Some((state, letter));
                    queue.push(to);
                }
            }
        }
        None
    }

    /// About what it takes up, in bytes.
    pub fn bytes(&self) -> usize {
        let edges: usize = self.states.iter().map(|s| s.edges.len()).sum();
        size_of::<Self>() + self.len() * size_of::<State>() + edges * size_of::<(Letter, u32)>()
    }
}

/// The canonical form of an automaton that starts in state 0.
fn canonical(raw: Vec<State>, budget: &Budget) -> Result<Dfa, Stop> {
    let raw = without_dead(raw);
    if raw.is_empty() {
        return Ok(Dfa { states: Box::new([]) });
    }
    let class = classes(&raw, budget)?;
    // One state of each class is enough; those that are reached get their numbers.
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    let mut order = vec![0u32];
    number.insert(class[0], 0);
    let mut states = Vec::new();
    while let Some(&state) = order.get(states.len()) {
        let State { is_accepting, edges } = &raw[state as usize];
        let edges = edges.iter().map(|&(letter, to)| {
            let to_number = *number.entry(class[to as usize]).or_insert_with(|| {
                order.push(to);
                (order.len() - 1) as u32
            });
            (letter, to_number)
        });
        states.push(State { is_accepting: *is_accepting, edges: edges.collect() });
    }
    Ok(Dfa { states: states.into() })
}

/// Leaves out states from which no word is accepted. The start may be one: then
/// nothing is left.
fn without_dead(raw: Vec<State>) -> Vec<State> {
    let mut sources: Vec<Vec<u32>> = vec![vec![]; raw.len()];
    for (from, state) in raw.iter().enumerate() {
        for (_, to) in &state.edges {
            sources[*to as usize].push(from as u32);
        }
    }
    let mut lives: Vec<bool> = raw.iter().map(|s| s.is_accepting).collect();
    let mut queue: Vec<usize> = (0..raw.len()).filter(|&s| lives[s]).collect();
    while let Some(state) = queue.pop() {
        for &from in &sources[state] {
            if !std::mem::replace(&mut lives[from as usize], true) {
                queue.push(from as usize);
            }
        }
    }
    if raw.is_empty() || !lives[0] {
        return vec![];
    }
    let mut number = vec![0u32; raw.len()];
    let mut count = 0;
    for (n, lives) in number.iter_mut().zip(&lives) {
        *n = count;
        count += u32::from(*lives);
    }
    let kept = raw.into_iter().zip(&lives).filter(|(_, lives)| **lives);
    let renumbered = kept.map(|(state, _)| {
        let edges = state.edges.iter().filter(|(_, to)| lives[*to as usize]);
        let edges = edges.map(|&(letter, to)| (letter, number[to as usize])).collect();
        State { edges, ..state }
    });
    renumbered.collect()
}

/// States of one class accept the same words (Moore's refinement).
fn classes(raw: &[State], budget: &Budget) -> Result<Vec<u32>, Stop> {
    let mut class: Vec<u32> = raw.iter().map(|s| u32::from(s.is_accepting)).collect();
    let mut count = 0;
    loop {
        type Signature = (u32, Vec<(Letter, u32)>);
        let mut numbers: FxHashMap<Signature, u32> = FxHashMap::default();
        let mut finer: Vec<u32> = Vec::with_capacity(raw.len());
        for (s, state) in raw.iter().enumerate() {
            budget.work(1 + state.edges.len() / 64)?;
            let edges = state.edges.iter().map(|&(l, to)| (l, class[to as usize])).collect();
            let next = numbers.len() as u32;
            finer.push(*numbers.entry((class[s], edges)).or_insert(next));
        }
        class = finer;
        if numbers.len() == count {
            return Ok(class);
        }
        count = numbers.len();
    }
}
