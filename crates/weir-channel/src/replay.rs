//! Checks a run against the definition, step by step (Atig et al. 2010, sections 4.1 to
//! 4.3).
//!
//! This module shares no code with the searches: guards are matched by derivatives of
//! regular expressions, not with automata, and the order is implemented as in the paper.
//! So a mistake in a search is not repeated here.

use std::fmt;

use crate::ids::MessageId;
use crate::machine::{Machine, Op};
use crate::semantics::{Goal, Run, Semantics};

/// Why a sequence of steps is not a run of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The step, from 1; the number of steps and 1 if the end is wrong.
    pub step: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for ReplayError {}

/// Checks that a run is one of the machine and ends where it should.
///
/// # Errors
/// The first step that is wrong.
pub fn replay(machine: &Machine, run: &Run, goal: &Goal) -> Result<(), ReplayError> {
    let lossy = run.semantics == Semantics::Lossy;
    let mut at = machine.start();
    for (number, step) in run.steps.iter().enumerate() {
        let wrong = |reason: String| Err(ReplayError { step: number + 1, reason });
        let Some(transition) = machine.transitions().get(step.transition.index()) else {
            return wrong("there is no such transition".to_owned());
        };
        if transition.from != at.state || transition.to != step.after.state {
            return wrong("the transition does not lead from the state to the next".to_owned());
        }
        if step.after.channels.len() != at.channels.len() {
            return wrong("it has another number of channels".to_owned());
        }
        for channel in machine.channels() {
            let name = machine.channel_name(channel);
            let before = &at.channels[channel.index()];
            let after = &step.after.channels[channel.index()];
            // u ⊨ g
            if transition.guard_on(channel).is_some_and(|guard| !guard.accepts(before)) {
                return wrong(format!("the guard of `{name}` does not hold"));
            }
            // ⟦op⟧(u, u')
            let perfect: Vec<MessageId> = match transition.op_on(channel) {
                None => before.clone(),
                Some(Op::Send { substitution, message }) => {
                    let kept = before.iter().map(|m| substitution.apply(*m));
                    std::iter::once(*message).chain(kept).collect()
                }
                Some(Op::Receive(message)) => match before.split_last() {
                    Some((last, rest)) if last == message => rest.to_vec(),
                    _ => return wrong(format!("`{name}` has another oldest message")),
                },
            };
            if lossy {
                if !is_below(machine, before, before) {
                    return wrong(format!("`{name}` holds too many strong messages before"));
                }
                if !is_below(machine, after, &perfect) {
                    return wrong(format!("`{name}` does not become this word by losses"));
                }
            } else if *after != perfect {
                return wrong(format!("`{name}` becomes something else"));
            }
        }
        at = step.after.clone();
    }
    if goal.is_met(&at) {
        Ok(())
    } else {
        let reason = "the run does not end where it should".to_owned();
        Err(ReplayError { step: run.steps.len() + 1, reason })
    }
}

/// `u ⪯ₛᵏ v`: a subword, with the same strong messages, at most `k` of them.
pub(crate) fn is_below(machine: &Machine, u: &[MessageId], v: &[MessageId]) -> bool {
    let strong = |word: &[MessageId]| -> Vec<MessageId> {
        word.iter().copied().filter(|m| machine.is_strong(*m)).collect()
    };
    let mut rest = v.iter();
    u.iter().all(|m| rest.any(|n| n == m))
        && strong(u) == strong(v)
        && strong(u).len() <= machine.strong_bound()
}
