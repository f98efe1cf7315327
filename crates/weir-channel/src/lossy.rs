//! Control-state reachability of `(S, k)`-lossy machines (Atig et al. 2010, section 4.5).
//!
//! *Problem.* Is there a lossy run from `⟨q, ε⟩` to `⟨q', ε⟩`?
//!
//! *Idea.* The paper mentions two ways. One is Proposition 1, see
//! `basic` of `weir-theory`. The other is used here: `⪯ₛᵏ` is a well-quasi-order on words
//! with at most `k` strong messages, and a larger configuration can do what a smaller one
//! can, since a step begins with losses. So the backward search over well-structured
//! systems decides reachability ([`wsts`]). Guards need no special treatment: they test
//! the word after those losses, so the minimal predecessors of a word are the minimal
//! words of a regular language (`before`). There may be very many of them, so the letters of a
//! configuration are sets of messages here, and one configuration stands for many.
//!
//! A short forward search looks for a run first (`forward`). If a guard or a substitution then
//! has more than a few thousand words to try, the backward search is put off, and a longer forward
//! search comes before it.
//!
//! *Termination.* By Higman's lemma. No primitive recursive function bounds the time
//! (Schnoebelen 2002).
//!
//! *Evidence.* A run, which [`replay`](crate::replay()) has checked, or the minimal
//! configurations from which the state can be reached, none of them initial.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use weir_engine::wsts::{self, Outcome, WellStructured};
use weir_engine::{Progress, SearchOptions, Stats};
use weir_model::limits::{Budget, Stop};

use crate::automaton::Automaton;
use crate::before::{SetId, SetWord, Sets, Unlisted, forward, guarded, unguarded};
use crate::explicit::FOUND;
use crate::forward::{Order, short};
use crate::ids::{ChannelId, MessageId, StateId, TransitionId};
use crate::machine::{Configuration, Machine, Op, Word};
use crate::regex::Regex;
use crate::replay::replay;
use crate::semantics::{Compiled, Contents, Goal, Run, Semantics, Step};

/// How many targets there may be: one for each way to fill channels with strong
/// messages.
const MAX_TARGETS: usize = 100_000;

/// What is known of a control state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is reached, by this run.
    Reached(Run),
    /// It is not reached. The minimal configurations from which it can be, if the
    /// answer comes from a backward search and there are not too many to list them.
    NotReached(Vec<Configuration>),
    /// It is unknown, for this reason.
    Unknown(String),
}

/// The most minimal configurations that are listed.
const MAX_LISTED: usize = 200_000;

/// A configuration with words of sets. It stands for all configurations with a message of each set
/// in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbolic {
    state: StateId,
    channels: Vec<SetWord>,
}

struct Lossy<'m> {
    compiled: Compiled<'m>,
    sets: RefCell<Sets<'m>>,
    /// The automaton of the trivial guard.
    anything: Automaton,
    /// An over-approximation of the reachable configurations. It is downward-closed, and depends
    /// only on the lengths of words and on strong messages.
    possible: &'m dyn Fn(&Configuration) -> bool,
    /// How many words may be read to find minimal ones.
    most_words: usize,
    /// Whether there were more.
    has_too_many: Cell<bool>,
}

impl Lossy<'_> {
    fn machine(&self) -> &Machine {
        self.compiled.machine
    }

    /// The minimal words that a channel can hold before a transition.
    fn before(
        &self,
        id: TransitionId,
        channel: ChannelId,
        after: &[SetId],
        budget: &Budget,
    ) -> Result<Vec<SetWord>, Stop> {
        let op = self.machine().transition(id).op_on(channel);
        let substitutes =
            matches!(op, Some(Op::Send { substitution, .. }) if !substitution.is_identity());
        let sets = &mut self.sets.borrow_mut();
        match self.compiled.guard(id, channel) {
            None if !substitutes => Ok(unguarded(sets, op, after).into_iter().collect()),
            guard => {
                let guard = guard.unwrap_or(&self.anything);
                let found = guarded(sets, guard, op, after, self.most_words, budget);
                found.map_err(|unlisted| match unlisted {
                    Unlisted::Stopped(stop) => stop,
                    Unlisted::TooMany => {
                        self.has_too_many.set(true);
                        Stop::Cancelled
                    }
                })
            }
        }
    }

    /// The minimal configurations before a transition.
    fn back(
        &self,
        id: TransitionId,
        after: &Symbolic,
        budget: &Budget,
    ) -> Result<Vec<Symbolic>, Stop> {
        let transition = self.machine().transition(id);
        budget.tick()?;
        let mut found = vec![Symbolic { state: transition.from, channels: after.channels.clone() }];
        for channel in self.touched(id) {
            let words = self.before(id, channel, &after.channels[channel.index()], budget)?;
            let mut more = Vec::new();
            for configuration in &found {
                for word in &words {
                    budget.tick()?;
                    let mut before = configuration.clone();
                    before.channels[channel.index()].clone_from(word);
                    more.push(before);
                }
            }
            found = more;
        }
        Ok(found)
    }

    /// The channels that a transition tests or changes.
    fn touched(&self, id: TransitionId) -> Vec<ChannelId> {
        let transition = self.machine().transition(id);
        let all = transition.guards().map(|(c, _)| c).chain(transition.ops().map(|(c, _)| c));
        let mut touched: Vec<ChannelId> = all.collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// One of the configurations that it stands for.
    fn one_of(&self, at: &Symbolic) -> Configuration {
        let sets = self.sets.borrow();
        let word = |word: &SetWord| word.iter().map(|id| sets.messages(*id)[0]).collect();
        Configuration { state: at.state, channels: at.channels.iter().map(word).collect() }
    }

    /// All configurations that some stand for, each once; none if they are too many.
    fn listed(&self, all: &[Rc<Symbolic>]) -> Vec<Configuration> {
        let sets = self.sets.borrow();
        let mut listed = BTreeSet::new();
        for at in all {
            let mut ways: Vec<Vec<Word>> = vec![vec![]];
            for word in &at.channels {
                let mut words: Vec<Word> = vec![vec![]];
                for &set in word {
                    let messages = sets.messages(set);
                    if words.len() * messages.len() > MAX_LISTED {
                        return vec![];
                    }
                    let longer = |w: &Word| {
                        messages.iter().map(|m| [w.as_slice(), &[*m]].concat()).collect::<Vec<_>>()
                    };
                    words = words.iter().flat_map(longer).collect();
                }
                if ways.len() * words.len() > MAX_LISTED {
                    return vec![];
                }
                let longer = |begun: &Vec<Word>| {
                    let with =
                        |word: &Word| [begun.as_slice(), std::slice::from_ref(word)].concat();
                    words.iter().map(with).collect::<Vec<_>>()
                };
                ways = ways.iter().flat_map(longer).collect();
            }
            listed.extend(ways.into_iter().map(|channels| (at.state, channels)));
            if listed.len() > MAX_LISTED {
                return vec![];
            }
        }
        let all = listed.into_iter().map(|(state, channels)| Configuration { state, channels });
        all.collect()
    }

    /// The run along a path, with one message for each set.
    fn run(&self, path: Vec<(TransitionId, Rc<Symbolic>)>) -> Option<Run> {
        let sets = self.sets.borrow();
        let mut at = self.machine().start();
        let mut steps: Vec<Step> = Vec::new();
        for (transition, next) in path {
            let state = self.machine().transition(transition).to;
            let mut after = Configuration { state, channels: at.channels.clone() };
            for channel in self.touched(transition) {
                let op = self.machine().transition(transition).op_on(channel);
                let guard = self.compiled.guard(transition, channel).unwrap_or(&self.anything);
                let word = &at.channels[channel.index()];
                let wanted = &next.channels[channel.index()];
                let (less, left) = forward(&sets, guard, op, word, wanted)?;
                // What is lost before a step is lost after the one before.
                if let Some(step) = steps.last_mut() {
                    step.after.channels[channel.index()] = less;
                }
                after.channels[channel.index()] = left;
            }
            steps.push(Step { transition, after: after.clone() });
            at = after;
        }
        Some(Run { semantics: Semantics::Lossy, steps })
    }
}

impl WellStructured for Lossy<'_> {
    type State = Rc<Symbolic>;
    type Step = (TransitionId, Rc<Symbolic>);
    /// The state and the strong messages of each channel.
    type Key = (StateId, Vec<SetWord>);

    fn key(&self, at: &Self::State) -> Self::Key {
        let sets = self.sets.borrow();
        let strong = |word: &SetWord| {
            word.iter().copied().filter(|set| sets.is_strong(*set)).collect::<SetWord>()
        };
        (at.state, at.channels.iter().map(strong).collect())
    }

    fn is_below(&self, small: &Self::State, big: &Self::State) -> bool {
        let words = || small.channels.iter().zip(&big.channels);
        let sets = self.sets.borrow();
        words().all(|(s, b)| s.len() <= b.len()) && words().all(|(s, b)| sets.is_below(s, b))
    }

    fn predecessors(
        &self,
        after: &Self::State,
        budget: &Budget,
        visit: &mut dyn FnMut(Self::Step, Self::State),
    ) -> Result<(), Stop> {
        for &id in &self.compiled.incoming[after.state.index()] {
            for before in self.back(id, after, budget)? {
                budget.tick()?;
                if (self.possible)(&self.one_of(&before)) {
                    visit((id, after.clone()), Rc::new(before));
                }
            }
        }
        Ok(())
    }

    fn is_initial(&self, at: &Self::State) -> bool {
        at.state == self.machine().initial() && at.channels.iter().all(Vec::is_empty)
    }

    fn bytes(&self, at: &Self::State) -> usize {
        let words = at.channels.iter().map(|w| size_of::<SetWord>() + w.capacity() * 4);
        size_of::<Symbolic>() + 16 + words.sum::<usize>()
    }
}

/// The smallest configurations that are asked for; `None` if they are too many.
fn targets(machine: &Machine, goal: &Goal) -> Option<Vec<Rc<Symbolic>>> {
    let at = |channels| Symbolic { state: goal.state, channels };
    let channels = machine.channels().count();
    if goal.contents == Contents::Empty {
        return Some(vec![Rc::new(at(vec![vec![]; channels]))]);
    }
    // All words of at most `k` strong messages, for each channel.
    let strong: Vec<MessageId> = machine.strong().collect();
    let mut words: Vec<SetWord> = vec![vec![]];
    let mut longest = 0..1;
    for _ in 0..machine.strong_bound() {
        for i in longest.clone() {
            for &message in &strong {
                let mut word = words[i].clone();
                word.push(message.into());
                words.push(word);
            }
            if words.len() > MAX_TARGETS {
                return None;
            }
        }
        longest = longest.end..words.len();
    }
    let mut all: Vec<Vec<SetWord>> = vec![vec![]];
    for _ in 0..channels {
        if all.len() * words.len() > MAX_TARGETS {
            return None;
        }
        let more = |begun: Vec<SetWord>| {
            words.iter().map(move |w| begun.iter().chain([w]).cloned().collect::<Vec<SetWord>>())
        };
        all = all.into_iter().flat_map(more).collect();
    }
    Some(all.into_iter().map(|c| Rc::new(at(c))).collect())
}

/// Whether a control state of a lossy machine can be reached.
///
/// ```
/// use weir_channel::semantics::{Contents, Goal};
/// use weir_channel::{SearchOptions, lossy, text};
///
/// let machine = text::read("
///     machine relay;
///     messages hello, bye;
///     channels wire;
///     states idle, sent, lost;
///     initial idle;
///     idle -> sent do wire!hello;
///     sent -> sent do wire!bye;
///     sent -> lost do wire?bye;  // `hello` was lost
/// ").unwrap();
/// let goal = Goal { state: machine.state("lost").unwrap(), contents: Contents::Empty };
/// let (answer, _) = lossy::reach(&machine, &goal, &SearchOptions::default(), &mut |_| {});
/// assert!(matches!(answer, lossy::Reach::Reached(run) if run.steps.len() == 3));
/// ```
pub fn reach(
    machine: &Machine,
    goal: &Goal,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Reach, Stats) {
    reach_any(machine, std::slice::from_ref(goal), options, progress)
}

/// Whether a lossy machine reaches one of some control states, by one search.
pub fn reach_any(
    machine: &Machine,
    goals: &[Goal],
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Reach, Stats) {
    let began = Instant::now();
    let forward = |extent| {
        // A limit that is reached here is reached again in what follows.
        let found = short(machine, goals, extent, &options.budget);
        let Ok((Some(run), stored)) = found else { return None };
        goals.iter().find(|goal| replay(machine, &run, goal).is_ok())?;
        let (stopped, elapsed) = (Some(FOUND.to_owned()), began.elapsed());
        let stats = Stats { engine: "forward", stored, stopped, elapsed, ..Stats::default() };
        Some((Reach::Reached(run), stats))
    };
    if let Some(found) = forward((FEW, Order::Breadth)) {
        return found;
    }
    match backward(machine, goals, &|_| true, MANY_WORDS, options, progress) {
        Some(found) => found,
        None => forward((MANY, Order::Seldom))
            .unwrap_or_else(|| reach_within(machine, goals, &|_| true, options, progress)),
    }
}

/// The most configurations of the first, and of the second forward search.
const FEW: usize = 1 << 10;
const MANY: usize = 1 << 16;

/// The number of words of a guard from which the backward search is postponed.
const MANY_WORDS: usize = 1 << 12;

/// The same where only configurations that are `possible` can be reached. `possible` must be
/// downward-closed, so that a minimal configuration that is not possible has no possible one above it. It may
/// depend on the lengths of words and on strong messages only.
pub(crate) fn reach_within(
    machine: &Machine,
    goals: &[Goal],
    possible: &dyn Fn(&Configuration) -> bool,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Reach, Stats) {
    let found = backward(machine, goals, possible, usize::MAX, options, progress);
    found.unwrap_or_else(|| {
        let reason = format!(
            "there are more than {MAX_TARGETS} ways to fill the channels with strong messages, and \
             no short run was found"
        );
        let stopped = Some(reason.clone());
        let stats = Stats { engine: "backward", stopped, ..Stats::default() };
        (Reach::Unknown(reason), stats)
    })
}

/// The backward search. `None` if there are too many targets, or too many words have to be read to
/// find the minimal ones of a guard.
fn backward(
    machine: &Machine,
    goals: &[Goal],
    possible: &dyn Fn(&Configuration) -> bool,
    most_words: usize,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Option<(Reach, Stats)> {
    let targets: Option<Vec<_>> = goals.iter().map(|goal| targets(machine, goal)).collect();
    let targets = targets?.concat();
    let system = Lossy {
        compiled: Compiled::new(machine),
        sets: RefCell::new(Sets::new(machine)),
        anything: Automaton::new(&Regex::anything()),
        possible,
        most_words,
        has_too_many: Cell::new(false),
    };
    let (outcome, mut stats) = wsts::backward(&system, targets, options, progress);
    if system.has_too_many.get() {
        return None;
    }
    let answer = match outcome {
        Outcome::Reached(path) => {
            stats.stopped = Some(FOUND.to_owned());
            let run = system.run(path);
            let check = |run: &Run| goals.iter().find_map(|goal| replay(machine, run, goal).ok());
            match run.filter(|run| check(run).is_some()) {
                Some(run) => Reach::Reached(run),
                None => Reach::Unknown("the run that was found is not valid".to_owned()),
            }
        }
        Outcome::Unreachable(minimal) => Reach::NotReached(system.listed(&minimal)),
        Outcome::Stopped(reason) => Reach::Unknown(reason),
    };
    Some((answer, stats))
}
