//! Questions: what is asked of a system, which states settle it, and which verdict that gives.
//!
//! A program has properties; its [`System`] has one question for each, and two more: whether
//! something fails, and whether a value leaves its bound. Engines, checkers and reports see
//! questions only. To ask something else of a system, make a [`Question`] and hand it to an engine.
//!
//! A state *settles* a question if it alone gives the answer: it is a bad one or, for
//! `final exists`, the one that was looked for. If no reachable state does, the answer is the
//! other one.
//!
//! A formula may have no value in a state: it divides by zero, its value does not fit into 128
//! bits, or an index leaves its array. It is then neither true nor false, and the state violates
//! the property. So such a state settles every question that it can violate. `final exists` is settled by
//! what it looks for; whether its formula has a value in every final state is a question of its
//! own, [`Kind::Valued`].

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::answer::Verdict;
use crate::build::polarity::positive_places;
use crate::ids::{LabelId, ProcessId, QuestionId, SpanId, StateId, ValueId, VarId};
use crate::program::{Atom, EvalError, Formula, Quantifier};
use crate::system::{Standing, State, StateKind, System};

/// A question about the states that a system reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What it is called in reports and files.
    pub name: String,
    /// What is asked.
    pub kind: Kind,
    /// Where it stands.
    pub span: SpanId,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// No reachable state satisfies the formula. States in which a value has left its bound
    /// do not count.
    Never(Formula),
    /// No assertion fails, no index leaves its array, no value leaves the domain that was
    /// given for it.
    Assertions,
    /// No reachable state is a deadlock: no process can take a step, and some process has not ended
    /// and stands at none of these places.
    NoDeadlock(Vec<(ProcessId, LabelId)>),
    /// About the states in which every process has ended and every write has reached memory.
    Final {
        /// How many of them have to satisfy the formula.
        quantifier: Quantifier,
        /// The formula.
        formula: Formula,
        /// Only states that satisfy this count.
        filter: Option<Formula>,
    },
    /// In every final state the filter has a value and, if the state counts, so has the formula.
    Valued {
        /// The formula.
        formula: Formula,
        /// Only states that satisfy this count.
        filter: Option<Formula>,
    },
    /// No two accesses race: a question about models of languages.
    Races,
    /// No value leaves the bound that was given for it.
    Bounds,
    /// Every reachable state is one of these.
    Within(Arc<JointStates>),
}

/// Joint states of a system: the control states of all processes, and memory where it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JointStates {
    /// Whether only final states count, with their memory: every process has ended and every
    /// write has reached memory. Otherwise all states count, and only their control states.
    pub is_final: bool,
    states: FxHashSet<Box<[u32]>>,
}

impl JointStates {
    /// None yet.
    pub fn new(is_final: bool) -> Self {
        Self { is_final, states: FxHashSet::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Adds the control states and the memory of a state, as far as they count.
    pub fn insert(&mut self, system: &System, controls: &[StateId], memory: &[ValueId]) {
        if !self.is_final || system.all_ended(controls) {
            self.states.insert(self.key(controls, memory));
        }
    }

    /// Whether these control states, with this memory where it counts, are one of these.
    pub fn contains(&self, controls: &[StateId], memory: &[ValueId]) -> bool {
        self.states.contains(&self.key(controls, memory))
    }

    /// Whether a state does not count, or is one of these.
    fn allows(
        &self,
        system: &System,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> bool {
        self.is_final && !system.all_ended(controls)
            || self.states.contains(&self.key(controls, memory))
    }

    fn key(
        &self,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> Box<[u32]> {
        let controls = controls.iter().map(|&s| s.into().0);
        let memory = memory.iter().filter(|_| self.is_final).map(|&v| v.into().0);
        controls.chain(memory).collect()
    }
}

impl Kind {
    /// What it is called in files, and in reports where a question has no name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Never(_) => "never",
            Self::Assertions => "assertions",
            Self::NoDeadlock(_) => "no deadlock",
            Self::Final { quantifier: Quantifier::Exists, .. } => "final exists",
            Self::Final { quantifier: Quantifier::Never, .. } => "final never",
            Self::Final { quantifier: Quantifier::Always, .. } => "final always",
            Self::Valued { .. } => "value",
            Self::Races => "races",
            Self::Bounds => "bounds",
            Self::Within(_) => "within",
        }
    }

    /// What it says, where the text of the program does not.
    pub fn text(&self) -> Option<&'static str> {
        match self {
            Self::Assertions => Some("never a failure"),
            Self::Valued { .. } => Some("never a final state in which the formula has no value"),
            Self::Races => Some("never two conflicting accesses that nothing orders"),
            Self::Bounds => Some("never a value outside of its bound"),
            Self::Within(_) => Some("never another state"),
            Self::Never(_) | Self::NoDeadlock(_) | Self::Final { .. } => None,
        }
    }
}

/// Questions with their ids, in their order.
pub fn numbered(questions: &[Question]) -> impl Iterator<Item = (QuestionId, &Question)> {
    questions.iter().enumerate().map(|(i, question)| (QuestionId::new(i), question))
}

impl Question {
    /// Whether a formula is never true.
    pub fn never(name: impl Into<String>, formula: Formula) -> Self {
        Self { name: name.into(), kind: Kind::Never(formula), span: SpanId::NONE }
    }

    /// The verdict if some reachable state settles it, or if none does.
    pub fn verdict(&self, is_settled: bool) -> Verdict {
        match is_settled == self.is_search() {
            true => Verdict::Holds,
            false => Verdict::Violated,
        }
    }

    /// Whether the question asks for a state: neither answer is a fault.
    fn is_search(&self) -> bool {
        matches!(self.kind, Kind::Final { quantifier: Quantifier::Exists, .. })
    }

    /// For a question that looks for a state: whether that state is allowed.
    pub fn outcome(&self, verdict: Verdict) -> Option<&'static str> {
        match verdict {
            Verdict::Holds if self.is_search() => Some("allowed"),
            Verdict::Violated if self.is_search() => Some("forbidden"),
            _ => None,
        }
    }

    /// Whether only states settle it in which every write has reached memory.
    #[inline]
    pub fn is_about_rest(&self) -> bool {
        match &self.kind {
            Kind::NoDeadlock(_) | Kind::Final { .. } | Kind::Valued { .. } => true,
            Kind::Within(states) => states.is_final,
            Kind::Never(_) | Kind::Assertions | Kind::Races | Kind::Bounds => false,
        }
    }

    /// Whether control states and memory settle it, given that every write has reached
    /// memory where [that matters](Self::is_about_rest).
    #[inline]
    pub fn is_settled(
        &self,
        system: &System,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> bool {
        let truth = |formula: &Formula| system.truth(formula, controls, memory);
        match &self.kind {
            Kind::Never(formula) => {
                truth(formula) != Ok(false) && system.out_of_bounds(controls).is_none()
            }
            Kind::Assertions => {
                system.failed(controls).is_some() && system.raced(controls).is_none()
            }
            Kind::Races => system.raced(controls).is_some(),
            Kind::NoDeadlock(except) => system.is_deadlock(controls, memory, except),
            Kind::Final { quantifier, formula, filter } => {
                let counts = || filter.as_ref().map_or(Ok(true), truth);
                system.all_ended(controls)
                    && match quantifier {
                        Quantifier::Exists => counts() == Ok(true) && truth(formula) == Ok(true),
                        Quantifier::Never => {
                            counts().and_then(|c| Ok(c && truth(formula)?)) != Ok(false)
                        }
                        Quantifier::Always => {
                            counts().and_then(|c| Ok(!c || truth(formula)?)) != Ok(true)
                        }
                    }
            }
            Kind::Valued { .. } => {
                system.all_ended(controls) && self.without_value(system, controls, memory).is_some()
            }
            Kind::Bounds => system.out_of_bounds(controls).is_some(),
            Kind::Within(states) => !states.allows(system, controls, memory),
        }
    }

    /// Why a formula of the question has no value in a state that settles it, if that is why the
    /// state settles it.
    pub fn without_value(
        &self,
        system: &System,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> Option<EvalError> {
        let truth = |formula: &Formula| system.truth(formula, controls, memory);
        match &self.kind {
            Kind::Never(formula) => truth(formula).err(),
            Kind::Final { formula, filter, .. } | Kind::Valued { formula, filter } => {
                match filter.as_ref().map_or(Ok(true), truth) {
                    Ok(true) => truth(formula).err(),
                    Ok(false) => None,
                    Err(error) => Some(error),
                }
            }
            Kind::Assertions
            | Kind::Races
            | Kind::NoDeadlock(_)
            | Kind::Bounds
            | Kind::Within(_) => None,
        }
    }

    /// Whether a process may be at a control state in a state that settles it, whatever memory is.
    pub fn may_be_at(&self, state: &State) -> bool {
        match &self.kind {
            Kind::Within(states) if states.is_final => state.kind == StateKind::Ended,
            Kind::Never(_) | Kind::Assertions | Kind::Races | Kind::Bounds | Kind::Within(_) => {
                true
            }
            Kind::NoDeadlock(_) => state.standing() != Standing::Failed,
            Kind::Final { .. } | Kind::Valued { .. } => state.kind == StateKind::Ended,
        }
    }

    /// Whether a process may be at a control state in a state with this memory that settles it.
    pub fn may_be_at_with(
        &self,
        system: &System,
        (process, state): (ProcessId, StateId),
        memory: &[impl Copy + Into<ValueId>],
    ) -> bool {
        self.may_be_at(system.state(process, state))
            && (!matches!(self.kind, Kind::NoDeadlock(_))
                || system.is_stuck(process, state, memory))
    }

    /// Whether a state may settle it because a process stands at none of the places that it
    /// names, while processes still run. Then code that does nothing may change the answer: it
    /// adds places.
    pub fn asks_for_absence(&self) -> bool {
        let Kind::Never(formula) = &self.kind else { return false };
        let positive = positive_places(formula);
        let mut is_absent = false;
        formula.atoms(&mut |a| is_absent |= matches!(a, Atom::At(..)) && !positive.contains(a));
        is_absent
    }

    /// The formulas that decide which states settle it.
    pub fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let (formula, filter) = match &self.kind {
            Kind::Never(formula) => (Some(formula), None),
            Kind::Final { formula, filter, .. } | Kind::Valued { formula, filter } => {
                (Some(formula), filter.as_ref())
            }
            Kind::Assertions
            | Kind::Races
            | Kind::NoDeadlock(_)
            | Kind::Bounds
            | Kind::Within(_) => (None, None),
        };
        formula.into_iter().chain(filter)
    }

    /// The atoms of its formulas.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms = Vec::new();
        self.formulas().for_each(|f| f.atoms(&mut |a| atoms.push(*a)));
        atoms
    }

    /// Whether the value of a variable decides whether a state settles it.
    pub fn asks_for(&self, var: VarId) -> bool {
        match &self.kind {
            Kind::NoDeadlock(_) => true,
            Kind::Within(states) => states.is_final,
            _ => self.atoms().contains(&Atom::Var(var)),
        }
    }

    /// Whether the trace of a run to a state, with all its writes in memory in the end, determines
    /// whether the state settles it.
    ///
    /// The trace determines which transitions each process has taken: it has every access with the
    /// write that was read, and so every value. So it determines the control states and with them
    /// the registers, which processes have failed, and whether all have ended. When all writes
    /// have reached memory, it also determines memory, by the last write to each variable. So it
    /// determines formulas without variables, assertions and final states. It does not determine
    /// memory while writes are under way. Deadlocks and bounds are left out.
    pub fn is_determined_by_traces(&self) -> bool {
        match &self.kind {
            Kind::Never(_) | Kind::Assertions | Kind::Final { .. } | Kind::Valued { .. } => {
                !self.asks_for_memory_under_way()
            }
            Kind::Races | Kind::NoDeadlock(_) | Kind::Bounds | Kind::Within(_) => false,
        }
    }

    /// Whether any two control states of a process may make a difference to it.
    pub fn tells_all_apart(&self) -> bool {
        matches!(self.kind, Kind::Within(_))
    }

    /// Whether it asks for memory while writes may be under way.
    pub fn asks_for_memory_under_way(&self) -> bool {
        let mut asks = false;
        self.formulas().for_each(|f| f.atoms(&mut |a| asks |= matches!(a, Atom::Var(_))));
        asks && !self.is_about_rest()
    }

    /// Whether a process stands at a label in every state that settles it.
    pub fn needs_label(&self) -> bool {
        let Kind::Never(formula) = &self.kind else { return false };
        let only_labels = self.atoms().iter().all(|a| matches!(a, Atom::At(..)));
        only_labels && formula.eval(&mut |_| 0).is_ok_and(|v| v == 0)
    }

    /// Whether no state settles it, whatever the processes do.
    pub fn is_excluded(&self) -> bool {
        match &self.kind {
            Kind::Never(formula) => formula.is_never(&[]),
            Kind::Final { quantifier, formula, filter } => {
                let has_value = filter.as_ref().is_none_or(|f| !f.may_have_no_value());
                let can_be_true = *quantifier == Quantifier::Always || !formula.is_never(&[]);
                !can_be_true && (has_value || *quantifier == Quantifier::Exists)
            }
            Kind::Valued { formula, filter } => {
                let has_value = |f: &Formula| !f.may_have_no_value();
                has_value(formula) && filter.as_ref().is_none_or(has_value)
            }
            Kind::Assertions
            | Kind::Races
            | Kind::NoDeadlock(_)
            | Kind::Bounds
            | Kind::Within(_) => false,
        }
    }
}
