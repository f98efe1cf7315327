//! The `channels` engine: programs through their channel machines.
//!
//! *Problem.* Reachability under TSO, PSO, and with bounded guesses (Atig et al. 2010,
//! theorems 2, 3 and 8).
//!
//! *Idea.* Translate the program to a lossy channel machine, and decide that
//! ([`lossy`](crate::lossy)). The machine reaches a control state with empty channels if
//! and only if the program reaches it with empty buffers. This suffices for violating
//! control states, since buffers can always drain; it does not for formulas about memory
//! while writes are under way.
//!
//! *Evidence.* A run of the machine determines the transitions of each process, and
//! [`guided`] finds a run of the program with these transitions.

use std::time::Instant;

use weir_engine::{Limits, Progress, Stats, blame, guided};
use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::ids::TransitionId as ProgramTransition;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, PropertyKind, Quantifier};
use weir_model::semantics::{Form, has_bounded_guesses};
use weir_model::system::System;

use crate::lossy::{Reach, reach_within};
use crate::machine::Configuration;
use crate::semantics::{Contents, Goal, Run};
use crate::translation::{Place, Translation};

/// Whether this engine decides reachability under a model, if guesses are bounded.
pub fn is_decided(model: MemoryModel) -> bool {
    matches!(Form::of(model)[0], Form::Tso | Form::Pso | Form::Guess | Form::GuessWw)
}

/// Answers every property of the system's program, one after another.
///
/// ```
/// use weir_channel::{Limits, decide};
/// use weir_model::{answer::Verdict, memory_model::MemoryModel, system::System};
///
/// let text = "
///     var x, y
///     process p { reg r   r = x   y = 1 }
///     process q { reg r   r = y   x = 1 }
///     final never p.r == 1 and q.r == 1
/// ";
/// let (program, _) = weir_front::read("load-buffering.weir", text, None).unwrap();
/// let system = System::for_model(program, MemoryModel::GUESS).unwrap();
///
/// let (answers, _) = decide::check(&system, MemoryModel::TSO, &Limits::default(), &mut |_| {});
/// assert_eq!(answers[0].verdict, Verdict::Holds);
/// // With one guess a write overtakes a read.
/// let limits = Limits { guesses: Some(1), ..Limits::default() };
/// let (answers, _) = decide::check(&system, MemoryModel::GUESS, &limits, &mut |_| {});
/// assert_eq!(answers[0].verdict, Verdict::Violated);
/// ```
pub fn check(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    if !system.serves(model) {
        return weir_engine::explicit::unserved(system, model);
    }
    let began = Instant::now();
    let guesses = limits.guesses.filter(|_| has_bounded_guesses(model));
    let mut total = Stats { engine: "channels", guesses, within_bound: true, ..Stats::default() };
    let properties = &system.program.properties;
    let unknown = |property, reason: String| {
        let evidence = Evidence::Reason(reason);
        Answer { property, verdict: Verdict::Unknown, evidence }
    };
    let translation = match Translation::new(system, model, limits.guesses, &limits.budget) {
        Ok(translation) => translation,
        Err(error) => {
            let reason = error.to_string();
            total.stopped = Some(reason.clone());
            let answers = (0..properties.len()).map(|p| unknown(p, reason.clone()));
            return (answers.collect(), total);
        }
    };
    let mut answers = Vec::new();
    for (property, asked) in properties.iter().enumerate() {
        let Some(goals) = goals(system, &translation, &asked.kind) else {
            let reason = "the engine `channels` does not decide formulas about memory while writes are under way";
            answers.push(unknown(property, reason.to_owned()));
            continue;
        };
        let possible = |at: &Configuration| translation.is_possible(at);
        let (found, stats) =
            reach_within(&translation.machine, &goals, &possible, limits, progress);
        total.add(stats);
        let exists = matches!(asked.kind, PropertyKind::Final(Quantifier::Exists, _));
        let (unreached, reached) = match exists {
            true => (Verdict::Violated, Verdict::Holds),
            false => (Verdict::Holds, Verdict::Violated),
        };
        answers.push(match found {
            Reach::NotReached(_) => {
                Answer { property, verdict: unreached, evidence: Evidence::Exhausted }
            }
            Reach::Reached(run) => {
                let taken = taken(system, &translation, &run);
                match guided::run(system, model, &taken, &asked.kind, limits) {
                    Ok(Some(run)) => {
                        Answer { property, verdict: reached, evidence: Evidence::Run(run) }
                    }
                    Err(stop) => unknown(property, stop.to_string()),
                    Ok(None) => unknown(
                        property,
                        "the machine reaches the state, but no run of the program was found"
                            .to_owned(),
                    ),
                }
            }
            Reach::Unknown(reason) => unknown(property, reason),
        });
    }
    total.elapsed = began.elapsed();
    blame(&limits.budget, &mut answers);
    (answers, total)
}

/// Where a property is settled; `None` if it asks for memory with writes under way.
fn goals(system: &System, translation: &Translation, kind: &PropertyKind) -> Option<Vec<Goal>> {
    if let PropertyKind::Never(formula) = kind {
        let mut memory = false;
        formula.atoms(&mut |atom| memory |= matches!(atom, Atom::Var(_)));
        if memory {
            return None;
        }
    }
    let settles = |Place { controls, memory }: &Place| match kind {
        PropertyKind::Never(formula) => system.holds(formula, controls, memory),
        PropertyKind::Assertions => system.failed(controls).is_some(),
        PropertyKind::NoDeadlock => system.is_deadlock(controls, memory),
        PropertyKind::Final(quantifier, formula) => {
            let filter = system.program.filter.as_ref();
            system.all_ended(controls)
                && filter.is_none_or(|f| system.holds(f, controls, memory))
                && system.holds(formula, controls, memory) == (*quantifier != Quantifier::Always)
        }
    };
    let states = translation.machine.states().zip(&translation.places);
    let found = states.filter(|(_, place)| place.as_ref().is_some_and(settles));
    Some(found.map(|(state, _)| Goal { state, contents: Contents::Empty }).collect())
}

/// What each process does in a run of the machine.
fn taken(system: &System, translation: &Translation, run: &Run) -> Vec<Vec<ProgramTransition>> {
    let mut taken = vec![vec![]; system.processes.len()];
    for step in &run.steps {
        if let Some((p, id)) = translation.moves.get(&step.transition) {
            taken[p.index()].push(*id);
        }
    }
    taken
}
