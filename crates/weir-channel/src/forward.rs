//! A short forward search for a run of a lossy machine.
//!
//! *Idea.* The backward search decides, but a guard with many minimal words, or a substitution
//! that many words come from, gives it thousands of predecessors before the first step back. A
//! run that reaches the state is often short. So runs are tried first in which nothing is lost before a guard or a receive needs it, and then as little as possible: a larger
//! configuration can do what a smaller one can.
//!
//! In a longer search configurations whose control state was visited seldom come first. Otherwise a
//! loop that sends would use up all configurations before anything is received.
//!
//! Of several ways to lose as little as possible a few are tried, and only so many configurations
//! are visited. So the search can miss a run, and an unsuccessful search proves nothing. A run that
//! is found is real: [`replay`](crate::replay()) checks it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use weir_model::limits::{Budget, Stop};

use crate::automaton::{Automaton, NodeId};
use crate::ids::{MessageId, TransitionId};
use crate::machine::{Configuration, Machine, Op, Word};
use crate::regex::Regex;
use crate::semantics::{Compiled, Contents, Goal, Run, Semantics, Step};

/// The most messages of a channel.
const LONGEST: usize = 64;

/// How many ways to lose as little as possible are tried.
const WAYS: usize = 3;

/// In which order configurations are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Breadth-first: runs are short.
    Breadth,
    /// Those whose control state was visited seldom first.
    Seldom,
}

/// A configuration, and how it was reached: from which other one, what that had become after
/// losses, and the transition.
struct Node {
    at: Configuration,
    from: Option<(usize, Configuration, TransitionId)>,
}

/// A run to one of some goals, if a short one is found among at most so many configurations, and how
/// many were visited.
///
/// # Errors
/// If a limit is reached.
pub(crate) fn short(
    machine: &Machine,
    goals: &[Goal],
    (most, order): (usize, Order),
    budget: &Budget,
) -> Result<(Option<Run>, usize), Stop> {
    let compiled = Compiled::new(machine);
    let anything = Automaton::new(&Regex::anything());
    let mut nodes = vec![Node { at: machine.start(), from: None }];
    let mut known: HashSet<Configuration> = HashSet::from([machine.start()]);
    // How often each control state is among the nodes.
    let mut counts = vec![0usize; machine.states().count()];
    let mut queue = BinaryHeap::from([Reverse((0, 0))]);
    while let Some(Reverse((_, number))) = queue.pop() {
        let at = nodes[number].at.clone();
        if let Some(goal) = goals.iter().find(|goal| is_met(machine, goal, &at)) {
            return Ok((Some(run(machine, &nodes, number, goal)), nodes.len()));
        }
        for &id in &compiled.outgoing[at.state.index()] {
            for (less, after) in steps(&compiled, &anything, &at, id, budget)? {
                budget.tick()?;
                let fits = after.channels.iter().all(|word| word.len() <= LONGEST);
                if fits && nodes.len() < most && known.insert(after.clone()) {
                    let count = &mut counts[after.state.index()];
                    *count += 1;
                    let rank = if order == Order::Seldom { *count } else { 0 };
                    queue.push(Reverse((rank, nodes.len())));
                    nodes.push(Node { at: after, from: Some((number, less, id)) });
                }
            }
        }
    }
    Ok((None, nodes.len()))
}

/// Whether a configuration is what was asked for, or can become it by losses.
fn is_met(machine: &Machine, goal: &Goal, at: &Configuration) -> bool {
    let can_be_empty = || at.channels.iter().all(|word| machine.strong_in(word) == 0);
    at.state == goal.state && (goal.contents == Contents::Any || can_be_empty())
}

/// The run to a configuration that is what was asked for.
fn run(machine: &Machine, nodes: &[Node], end: usize, goal: &Goal) -> Run {
    let mut last = nodes[end].at.clone();
    if goal.contents == Contents::Empty {
        last.channels.iter_mut().for_each(Vec::clear);
    }
    let mut steps = Vec::new();
    let (mut at, mut after) = (end, last);
    while let Some((before, less, transition)) = &nodes[at].from {
        // What is lost before a transition is lost after the one before it.
        steps.push(Step {
            transition: *transition,
            after: std::mem::replace(&mut after, less.clone()),
        });
        at = *before;
    }
    debug_assert_eq!(after, machine.start());
    steps.reverse();
    Run { semantics: Semantics::Lossy, steps }
}

/// Ways to take a transition: what the configuration becomes by losses, and what the transition
/// makes of that.
fn steps(
    compiled: &Compiled<'_>,
    anything: &Automaton,
    at: &Configuration,
    id: TransitionId,
    budget: &Budget,
) -> Result<Vec<(Configuration, Configuration)>, Stop> {
    let machine = compiled.machine;
    let transition = machine.transition(id);
    let mut ways = vec![at.clone()];
    for channel in machine.channels() {
        let (op, guard) = (transition.op_on(channel), compiled.guard(id, channel));
        let received = match op {
            Some(Op::Receive(message)) => Some(*message),
            Some(Op::Send { .. }) | None => None,
        };
        if guard.is_none() && received.is_none() {
            continue;
        }
        let word = &at.channels[channel.index()];
        let words = largest(machine, guard.unwrap_or(anything), word, received, budget)?;
        let with = |way: &Configuration, word: &Word| {
            let mut way = way.clone();
            way.channels[channel.index()].clone_from(word);
            way
        };
        let all = ways.iter().flat_map(|way| words.iter().map(move |word| with(way, word)));
        ways = all.collect();
    }
    let fits = |after: &Configuration| {
        after.channels.iter().all(|word| machine.strong_in(word) <= machine.strong_bound())
    };
    let taken = ways.into_iter().filter_map(|less| {
        let after = compiled.step(&less, id).filter(fits)?;
        Some((less, after))
    });
    Ok(taken.collect())
}

/// Where the reading of a word stands: how many messages have been read, where the automaton is,
/// and the message that was kept last.
type At = (usize, NodeId, Option<MessageId>);

/// The largest words of a language that a word becomes by losses, a few of them, and whose last
/// message is the one that is received, if one is.
fn largest(
    machine: &Machine,
    language: &Automaton,
    word: &[MessageId],
    received: Option<MessageId>,
    budget: &Budget,
) -> Result<Vec<Word>, Stop> {
    let mut found: Vec<Word> = Vec::new();
    let mut visits: HashMap<At, usize> = HashMap::new();
    let mut least = None;
    let mut order = BinaryHeap::new();
    for place in language.start() {
        order.push(Reverse((0usize, 0usize, place, Vec::<MessageId>::new())));
    }
    while let Some(Reverse((lost, read, place, kept))) = order.pop() {
        budget.tick()?;
        if least.is_some_and(|least| lost > least) || found.len() >= WAYS {
            break;
        }
        let visited = visits.entry((read, place, kept.last().copied())).or_default();
        *visited += 1;
        if *visited > WAYS {
            continue;
        }
        let next = language.read(place);
        let Some(&message) = word.get(read) else {
            let is_taken = received.is_none() || kept.last().copied() == received;
            if next.is_none() && is_taken && !found.contains(&kept) {
                least = Some(lost);
                found.push(kept);
            }
            continue;
        };
        if let Some((class, next)) = next
            && class.contains(message)
        {
            let longer = [kept.as_slice(), &[message]].concat();
            for place in language.places([next]) {
                order.push(Reverse((lost, read + 1, place, longer.clone())));
            }
        }
        if !machine.is_strong(message) {
            order.push(Reverse((lost + 1, read + 1, place, kept)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn as_little_as_possible_is_lost() {
        let machine = text::read(
            "machine m;  messages a, b, s;  strong s at most 1;  channels c;  states q;
             initial q;  q -> q when c in (a b)*;",
        )
        .unwrap();
        let [a, b, s] = [0, 1, 2].map(MessageId::new);
        let guard = machine.transitions()[0].guards().next().unwrap().1;
        let automaton = Automaton::new(guard);
        let ways = |word: &[MessageId], received| {
            largest(&machine, &automaton, word, received, &Budget::new()).unwrap()
        };
        assert_eq!(ways(&[a, b, a, b], None), [vec![a, b, a, b]]);
        assert_eq!(ways(&[b, a, b, a], None), [vec![a, b]]);
        assert_eq!(ways(&[a, b, b], Some(b)), [vec![a, b]]);
        assert_eq!(ways(&[a, s, b], None), Vec::<Word>::new());
        assert_eq!(ways(&[a, b], Some(a)), Vec::<Word>::new());
    }
}
