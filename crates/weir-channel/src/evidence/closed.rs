//! Checks that a set of configurations proves that a control state is not reached.
//!
//! The set represents its upward closure by `⪯ₛᵏ` (Atig et al. 2010, section 4.3). It is
//! a proof if
//!
//! 1. the configurations with the state in question are in it,
//! 2. all its predecessors are in it, and
//! 3. the initial configuration is not in it.
//!
//! A lossy step ends with losses, so for 2 it suffices to consider steps to the minimal
//! configurations; and it begins with losses, so it suffices to consider the words to
//! which a transition is applied. There are infinitely many of these words, but finitely
//! many minimal ones: [`words_before`] computes them.
//!
//! This module shares no code with the searches. Guards are matched message by message
//! (Antimirov's partial derivatives), not with automata.

use std::collections::{BTreeMap, BTreeSet};

use weir_check::Rejected;

use crate::ids::{MessageId, StateId};
use crate::machine::{Configuration, Machine, Op, Transition, Word};
use crate::regex::{Class, Node, Regex};
use crate::replay::is_below;
use crate::semantics::{Contents, Goal};

/// How many words may be compared, in all.
const MAX_WORK: usize = 100_000_000;

/// The work that a prefix of a word counts for.
const WORK_EACH: usize = 100;

/// What is left of [`MAX_WORK`].
struct Work(usize);

impl Work {
    fn spend(&mut self, words: usize) -> Result<(), Rejected> {
        self.0 = self
            .0
            .checked_sub(words + 1)
            .ok_or_else(|| Rejected::TooLarge("it is too much work to check it".to_owned()))?;
        Ok(())
    }
}

/// The configurations of a set by their control states.
struct Set<'s> {
    machine: &'s Machine,
    by_state: BTreeMap<StateId, Vec<&'s Configuration>>,
}

impl Set<'_> {
    /// Whether something is above a configuration of the set.
    fn has(&self, state: StateId, channels: &[Word], work: &mut Work) -> Result<bool, Rejected> {
        let Some(some) = self.by_state.get(&state) else { return Ok(false) };
        work.spend(some.len())?;
        let is_below_it = |c: &Configuration| {
            let mut words = c.channels.iter().zip(channels);
            words.all(|(small, big)| is_below(self.machine, small, big))
        };
        Ok(some.iter().any(|c| is_below_it(c)))
    }
}

pub(super) fn check(
    machine: &Machine,
    minimal: &[Configuration],
    goal: &Goal,
) -> Result<(), Rejected> {
    let mut by_state: BTreeMap<StateId, Vec<&Configuration>> = BTreeMap::new();
    minimal.iter().for_each(|c| by_state.entry(c.state).or_default().push(c));
    let set = Set { machine, by_state };
    let mut work = Work(MAX_WORK);

    for channels in asked(machine, goal.contents, &mut work)? {
        if !set.has(goal.state, &channels, &mut work)? {
            let state = format!(
                "{}, which has the state in question,",
                show(machine, goal.state, &channels)
            );
            return Err(Rejected::Missing { state });
        }
    }
    for transition in machine.transitions() {
        let after = set.by_state.get(&transition.to).map_or(&[][..], Vec::as_slice);
        for after in after {
            for channels in before(machine, transition, &after.channels, &mut work)? {
                if !set.has(transition.from, &channels, &mut work)? {
                    let place = show(machine, transition.to, &after.channels);
                    let step = format!("a step of {}", show(machine, transition.from, &channels));
                    return Err(Rejected::LeadsIn { place, step });
                }
            }
        }
    }
    let start = machine.start();
    if set.has(start.state, &start.channels, &mut work)? {
        return Err(Rejected::InitialInside { place: show(machine, start.state, &start.channels) });
    }
    Ok(())
}

fn show(machine: &Machine, state: StateId, channels: &[Word]) -> String {
    let word = |(c, word): (crate::ids::ChannelId, &Word)| {
        let names: Vec<&str> = word.iter().map(|m| machine.message_name(*m)).collect();
        format!(" with {} in `{}`", names.join(" "), machine.channel_name(c))
    };
    let full = machine.channels().zip(channels).filter(|(_, w)| !w.is_empty());
    format!("`{}`{}", machine.state_name(state), full.map(word).collect::<String>())
}

/// The minimal contents that are asked for: words of strong messages only.
fn asked(
    machine: &Machine,
    contents: Contents,
    work: &mut Work,
) -> Result<Vec<Vec<Word>>, Rejected> {
    let channels = machine.channels().count();
    if contents == Contents::Empty {
        return Ok(vec![vec![vec![]; channels]]);
    }
    let strong: Vec<MessageId> = machine.strong().collect();
    let mut words: Vec<Word> = vec![vec![]];
    for length in 1..=machine.strong_bound() {
        let shorter = words.iter().filter(|w| w.len() == length - 1).cloned().collect::<Vec<_>>();
        work.spend(shorter.len() * strong.len() * length)?;
        for word in shorter {
            words.extend(strong.iter().map(|m| [word.as_slice(), &[*m]].concat()));
        }
    }
    one_of_each(&vec![words; channels], work)
}

/// All ways to take one word of each list.
fn one_of_each(lists: &[Vec<Word>], work: &mut Work) -> Result<Vec<Vec<Word>>, Rejected> {
    let mut all: Vec<Vec<Word>> = vec![vec![]];
    for words in lists {
        work.spend(all.len().saturating_mul(words.len()).saturating_mul(lists.len()))?;
        let longer = |begun: &Vec<Word>| -> Vec<Vec<Word>> {
            words.iter().map(|w| begun.iter().chain([w]).cloned().collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}

/// Minimal channel contents that a transition takes to the upward closure of `after`.
fn before(
    machine: &Machine,
    transition: &Transition,
    after: &[Word],
    work: &mut Work,
) -> Result<Vec<Vec<Word>>, Rejected> {
    let mut lists = Vec::new();
    for channel in machine.channels() {
        let after = &after[channel.index()];
        let (guard, op) = (transition.guard_on(channel), transition.op_on(channel));
        lists.push(match (guard, op) {
            (None, None) => vec![after.clone()],
            _ => words_before(machine, guard, op, after, work)?,
        });
    }
    one_of_each(&lists, work)
}

/// What is left of a guard: expressions that have to follow, the next one last.
type Rest = Vec<Node>;

/// Minimal words of the guard that the operation takes to the upward closure of `after`.
///
/// Words are built from their newest message on, shorter ones first. If two prefixes leave the same
/// rest of the guard and have found the same part of `after`, every completion of one completes the
/// other; so a prefix that is above another one is dropped.
fn words_before(
    machine: &Machine,
    guard: Option<&Regex>,
    op: Option<&Op>,
    after: &Word,
    work: &mut Work,
) -> Result<Vec<Word>, Rejected> {
    let anything = Regex::anything();
    let start = vec![guard.unwrap_or(&anything).node().clone()];
    let sent = match op {
        Some(Op::Send { message, .. }) => vec![*message],
        Some(Op::Receive(_)) | None => vec![],
    };
    let mut found: Vec<Word> = Vec::new();
    let mut known: BTreeMap<(Rest, usize), Vec<Word>> = BTreeMap::new();
    let mut level: BTreeSet<(Word, Rest)> = BTreeSet::from([(vec![], start)]);
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for (word, rest) in level {
            work.spend(WORK_EACH)?;
            let (ends, goes_on) = derivatives(&rest);
            // What the operation makes of the word, but for what it takes away.
            let kept = word.iter().map(|m| match op {
                Some(Op::Send { substitution, .. }) => substitution.apply(*m),
                _ => *m,
            });
            let made: Word = sent.iter().copied().chain(kept).collect();
            let complete = match (op, word.split_last()) {
                (Some(Op::Receive(message)), Some((last, kept))) => {
                    last == message && is_below(machine, after, kept)
                }
                (Some(Op::Receive(_)), None) => false,
                _ => is_below(machine, after, &made),
            };
            if ends && complete {
                found.push(word.clone());
            }
            // How much of `after` is there; none of it if something strong is too much.
            let part = (0..=after.len()).rev().find(|n| is_below(machine, &after[..*n], &made));
            let Some(part) = part else { continue };
            let places = known.entry((rest, part)).or_default();
            work.spend(places.len())?;
            if places.iter().any(|w| is_below(machine, w, &word)) {
                continue;
            }
            places.push(word.clone());
            for (class, rest) in goes_on {
                for message in machine.messages().filter(|m| class.contains(*m)) {
                    let longer = [word.as_slice(), &[message]].concat();
                    if is_below(machine, &longer, &longer) {
                        next.insert((longer, rest.clone()));
                    }
                }
            }
        }
        level = next;
    }
    Ok(found)
}

/// Whether what is left of a guard accepts nothing more, and what it leaves after one
/// more message of a class.
fn derivatives(rest: &Rest) -> (bool, Vec<(Class, Rest)>) {
    let mut ends = false;
    let mut found = Vec::new();
    let mut seen: BTreeSet<Rest> = BTreeSet::new();
    let mut todo = vec![rest.clone()];
    while let Some(mut rest) = todo.pop() {
        if !seen.insert(rest.clone()) {
            continue;
        }
        let Some(node) = rest.pop() else {
            ends = true;
            continue;
        };
        let with = |nodes: &[Node]| {
            rest.iter().cloned().chain(nodes.iter().rev().cloned()).collect::<Rest>()
        };
        match node {
            Node::Epsilon => todo.push(rest),
            Node::Class(class) => found.push((class, rest)),
            Node::Concat(nodes) => todo.push(with(&nodes)),
            Node::Union(nodes) => todo.extend(nodes.iter().map(|n| with(std::slice::from_ref(n)))),
            Node::Optional(inner) => todo.extend([with(&[*inner]), rest.clone()]),
            Node::Plus(inner) => {
                todo.push(with(&[(*inner).clone(), Node::Star(inner)]));
            }
            Node::Star(inner) => {
                todo.push(with(&[(*inner).clone(), Node::Star(inner)]));
                todo.push(rest.clone());
            }
        }
    }
    (ends, found)
}
