//! Minimal predecessors of words.
//!
//! *Problem.* Given a guard `c ∈ L`, an operation `op` and a word `w`: which words `v` of
//! `L` does `op` take to a word above `w`? Every word above such a `v` can lose the rest
//! and take the step, so the backward search needs only the minimal ones.
//!
//! *Idea.* Read `v` from its newest message on with the automaton of `L`, and count how
//! much of `w` has been found in `op(v)`. If two prefixes reach the same state of the
//! automaton and have found the same part of `w`, every completion of one completes the
//! other: the larger one is dropped. Prefixes are tried by length, and only finitely many
//! are not above another, since `⪯ₛᵏ` is a well-quasi-order (Atig et al. 2010, section
//! 4.5).

use std::collections::{HashMap, HashSet, VecDeque};

use weir_model::limits::{Budget, Stop};

use crate::automaton::{Automaton, NodeId};
use crate::ids::MessageId;
use crate::machine::{Machine, Op, Word};

/// Where the reading of a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct At {
    place: NodeId,
    /// How much of the word after the step has been found.
    found: usize,
    /// Whether the message that is received, the last one, has been read.
    last: bool,
}

/// The words with which a place was visited. They come in the order of their lengths.
#[derive(Default)]
struct Known {
    shorter: Vec<Word>,
    /// The words of the length that is visited now: among them only equal ones are subwords.
    newest: HashSet<Word>,
    length: usize,
}

impl Known {
    /// Adds a word, unless it has a subword here.
    fn adds(&mut self, machine: &Machine, word: &Word) -> bool {
        if word.len() > self.length {
            self.shorter.extend(self.newest.drain());
            self.length = word.len();
        }
        !self.newest.contains(word)
            && !self.shorter.iter().any(|b| machine.is_subword(b, word))
            && self.newest.insert(word.clone())
    }
}

/// Why minimal words are not known.
pub(crate) enum Unlisted {
    /// A limit was reached.
    Stopped(Stop),
    /// There are too many.
    TooMany,
}

impl From<Stop> for Unlisted {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// The minimal words before a guard that is not trivial, or a substitution, unless more than so
/// many words have to be read to find them.
pub(crate) fn guarded(
    machine: &Machine,
    guard: &Automaton,
    op: Option<&Op>,
    after: &[MessageId],
    most: usize,
    budget: &Budget,
) -> Result<Vec<Word>, Unlisted> {
    let receives = matches!(op, Some(Op::Receive(_)));
    let begun = match op {
        Some(Op::Send { message, .. }) => advance(machine, after, 0, *message),
        Some(Op::Receive(_)) | None => Some(0),
    };
    let Some(begun) = begun else { return Ok(vec![]) };
    let mut known: HashMap<At, Known> = HashMap::new();
    let mut queue: VecDeque<(At, Word)> = VecDeque::new();
    let mut found = Vec::new();
    let mut visit = |at: At, word: &Word, queue: &mut VecDeque<(At, Word)>| {
        let known = known.entry(at).or_default();
        budget.work(1 + known.shorter.len() / 8)?;
        if known.adds(machine, word) {
            queue.push_back((at, word.clone()));
        }
        Ok::<(), Stop>(())
    };
    for place in guard.start() {
        visit(At { place, found: begun, last: false }, &vec![], &mut queue)?;
    }
    let mut read = 0;
    while let Some((at, word)) = queue.pop_front() {
        read += 1;
        if read > most {
            return Err(Unlisted::TooMany);
        }
        let Some((class, next)) = guard.read(at.place) else {
            if at.found == after.len() && at.last == receives {
                add_minimal(machine, &mut found, word);
            }
            continue;
        };
        if at.last {
            continue;
        }
        let full = machine.strong_in(&word) == machine.strong_bound();
        let places = guard.places([next]);
        for message in machine.messages().filter(|m| class.contains(*m)) {
            if full && machine.is_strong(message) {
                continue;
            }
            let becomes = match op {
                Some(Op::Send { substitution, .. }) => substitution.apply(message),
                Some(Op::Receive(_)) | None => message,
            };
            let kept = advance(machine, after, at.found, becomes).map(|found| (found, false));
            let taken = (op == Some(&Op::Receive(message))).then_some((at.found, true));
            let mut longer = word.clone();
            longer.push(message);
            for (found, last) in kept.into_iter().chain(taken) {
                for &place in &places {
                    visit(At { place, found, last }, &longer, &mut queue)?;
                }
            }
        }
    }
    Ok(found)
}

/// How much of `after` is found once one more message is there; `None` if the
/// message is strong and should not be there.
fn advance(
    machine: &Machine,
    after: &[MessageId],
    found: usize,
    message: MessageId,
) -> Option<usize> {
    match after.get(found) {
        Some(next) if *next == message => Some(found + 1),
        _ => (!machine.is_strong(message)).then_some(found),
    }
}

fn add_minimal(machine: &Machine, words: &mut Vec<Word>, word: Word) {
    if !words.iter().any(|w| machine.is_subword(w, &word)) {
        words.retain(|w| !machine.is_subword(&word, w));
        words.push(word);
    }
}

/// The minimal word before an operation without guard and substitution, if there
/// is one: the rules of Abdulla and Jonsson 1996a for basic machines.
pub(crate) fn unguarded(machine: &Machine, op: Option<&Op>, after: &[MessageId]) -> Option<Word> {
    match op {
        None => Some(after.to_vec()),
        Some(Op::Receive(message)) => {
            let mut word = after.to_vec();
            word.push(*message);
            (machine.strong_in(&word) <= machine.strong_bound()).then_some(word)
        }
        Some(Op::Send { message, .. }) => match after.split_first() {
            Some((first, rest)) if first == message => Some(rest.to_vec()),
            _ => (!machine.is_strong(*message)).then(|| after.to_vec()),
        },
    }
}
