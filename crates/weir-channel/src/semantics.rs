//! Perfect and lossy steps of machines (Atig et al. 2010, sections 4.2 and 4.3).
//!
//! A *perfect* step checks the guard of every channel and does the operation of
//! every channel. A *lossy* step loses messages, takes a perfect step, and loses
//! messages again: `⟨q, u⟩ → ⟨q', u'⟩` if there are `v` and `v'` with `v ⪯ u`, a
//! perfect step from `v` to `v'`, and `u' ⪯ v'`. Here `⪯` is `⪯ₛᵏ`: a subword
//! with the same strong messages, and at most `k` of them. Both ends are within the
//! bound, so a step that would put too many strong messages into a channel does
//! not happen.

use crate::automaton::Automaton;
use crate::ids::{ChannelId, MessageId, TransitionId};
use crate::machine::{Configuration, Machine, Op, Word};

/// How channels behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// Nothing is lost, and there are no strong messages.
    Perfect,
    /// All but the strong messages can be lost.
    Lossy,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transition that was taken.
    pub transition: TransitionId,
    /// The configuration after the transition and its losses.
    pub after: Configuration,
}

/// A run from the initial state with empty channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How channels behave in it.
    pub semantics: Semantics,
    /// Its steps. The losses of a step come after its transition; losses before the next transition
    /// are equivalent.
    pub steps: Vec<Step>,
}

/// What the channels may hold in the state that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Nothing, as the paper has it (section 4.5). In a lossy machine it is enough
    /// that there is no strong message: the others can be lost.
    Empty,
    /// Anything.
    Any,
}

/// A question: can this control state be reached?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Goal {
    /// The control state.
    pub state: crate::ids::StateId,
    /// What the channels may hold there.
    pub contents: Contents,
}

impl Goal {
    /// Whether a configuration is what was asked for.
    pub fn is_met(&self, at: &Configuration) -> bool {
        let fits = self.contents == Contents::Any || at.channels.iter().all(Vec::is_empty);
        at.state == self.state && fits
    }
}

/// A machine with the automata of its guards.
#[derive(Clone, Debug)]
pub(crate) struct Compiled<'m> {
    pub machine: &'m Machine,
    /// For each transition, its guards.
    pub guards: Vec<Vec<(ChannelId, Automaton)>>,
    pub outgoing: Vec<Vec<TransitionId>>,
    pub incoming: Vec<Vec<TransitionId>>,
}

impl<'m> Compiled<'m> {
    pub fn new(machine: &'m Machine) -> Self {
        let mut outgoing = vec![vec![]; machine.states().count()];
        let mut incoming = outgoing.clone();
        for id in machine.transition_ids() {
            outgoing[machine.transition(id).from.index()].push(id);
            incoming[machine.transition(id).to.index()].push(id);
        }
        let automata = |t: &crate::machine::Transition| {
            t.guards().map(|(c, g)| (c, Automaton::new(g))).collect()
        };
        let guards = machine.transitions().iter().map(automata).collect();
        Self { machine, guards, outgoing, incoming }
    }

    /// The automaton of a guard, unless it is trivial.
    pub fn guard(&self, id: TransitionId, channel: ChannelId) -> Option<&Automaton> {
        self.guards[id.index()].iter().find(|(c, _)| *c == channel).map(|(_, a)| a)
    }

    /// The perfect step of a transition, if its guards and operations allow it.
    pub fn step(&self, at: &Configuration, id: TransitionId) -> Option<Configuration> {
        let transition = self.machine.transition(id);
        let holds = |(c, a): &(ChannelId, Automaton)| a.accepts(&at.channels[c.index()]);
        if transition.from != at.state || !self.guards[id.index()].iter().all(holds) {
            return None;
        }
        let mut after = Configuration { state: transition.to, channels: at.channels.clone() };
        for (channel, op) in transition.ops() {
            apply(op, &mut after.channels[channel.index()])?;
        }
        Some(after)
    }
}

/// Does an operation, if it can be done.
fn apply(op: &Op, word: &mut Word) -> Option<()> {
    match op {
        Op::Send { substitution, message } => {
            word.iter_mut().for_each(|m| *m = substitution.apply(*m));
            word.insert(0, *message);
        }
        Op::Receive(message) => {
            word.pop_if(|m| m == message)?;
        }
    }
    Some(())
}

/// What a step of a run has lost in each channel.
///
/// Where a message stands more than once it is not known which of them was lost;
/// the oldest counts.
pub fn losses(machine: &Machine, before: &Configuration, step: &Step) -> Vec<Word> {
    let transition = machine.transition(step.transition);
    let mut all = before.channels.clone();
    for (channel, op) in transition.ops() {
        // A run has done it, so it can be done.
        let _ = apply(op, &mut all[channel.index()]);
    }
    let lost = |(all, kept): (&Word, &Word)| {
        let mut kept = kept.iter().peekable();
        all.iter().copied().filter(|m| kept.next_if_eq(&m).is_none()).collect()
    };
    all.iter().zip(&step.after.channels).map(lost).collect()
}

impl Machine {
    /// How many strong messages a word has.
    pub fn strong_in(&self, word: &[MessageId]) -> usize {
        word.iter().filter(|m| self.is_strong(**m)).count()
    }

    /// Whether `small ⪯ₛ big`: a subword that has the same strong messages.
    pub fn is_subword(&self, small: &[MessageId], big: &[MessageId]) -> bool {
        // Matching each message as early as possible loses nothing:
        // strong ones have no choice, and nothing is skipped past them.
        let mut rest = small;
        for message in big {
            match rest.split_first() {
                Some((first, others)) if first == message => rest = others,
                _ if self.is_strong(*message) => return false,
                _ => {}
            }
        }
        rest.is_empty()
    }
}
