//! The `channels` engine: programs through their channel machines.
//!
//! *Problem.* Reachability under TSO, PSO, and with bounded guesses (Atig et al. 2010,
//! theorems 1, 2 and 8).
//!
//! *Idea.* Translate the program to a lossy channel machine ([`Translation::reduced`]), and
//! decide that ([`lossy`](crate::lossy)). The machine reaches a control state with empty channels if
//! and only if the program reaches it with empty buffers. This suffices for violating
//! control states, since buffers can always drain; it does not for formulas about memory
//! while writes are under way.
//!
//! *Evidence.* A run of the machine determines the transitions of each process, and
//! [`guided`] finds a run of the program with these transitions.

use std::time::Instant;

use weir_engine::{Engine, Progress, Stats, Task, blame, guided};
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::TransitionId as ProgramTransition;
use weir_model::memory_model::MemoryModel;
use weir_model::question::{Question, numbered};
use weir_model::semantics::{Form, has_bounded_guesses};
use weir_model::system::System;

use crate::lossy::{Reach, reach_within};
use crate::machine::Configuration;
use crate::semantics::{Contents, Goal, Run};
use crate::translation::{Place, Translation};

/// The `channels` engine.
///
/// ```
/// use weir_channel::{SearchOptions, decide::Channels};
/// use weir_engine::{Engine, Refusal, Task};
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
/// let verdict = |model, options: &SearchOptions| {
///     let (answers, _) = Channels.check(Task::new(&system, model, options), &mut |_| {})?;
///     Ok::<_, Refusal>(answers[0].verdict)
/// };
///
/// assert_eq!(verdict(MemoryModel::TSO, &SearchOptions::default()), Ok(Verdict::Holds));
/// // With one guess a write overtakes a read.
/// let options = SearchOptions { guesses: Some(1), ..SearchOptions::default() };
/// assert_eq!(verdict(MemoryModel::GUESS, &options), Ok(Verdict::Violated));
/// let without = verdict(MemoryModel::GUESS, &SearchOptions::default());
/// assert_eq!(without, Err(Refusal::Unbounded(MemoryModel::GUESS)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Channels;

impl Engine for Channels {
    fn name(&self) -> &'static str {
        "channels"
    }

    fn about(&self) -> &'static str {
        "Lossy channel machines, for TSO and PSO, and with bounded guesses"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        matches!(Form::of(model)[0], Form::Tso | Form::Pso) || has_bounded_guesses(model)
    }

    fn needs_bounded_guesses(&self, model: MemoryModel) -> bool {
        has_bounded_guesses(model)
    }

    /// One question after another.
    fn has_proofs(&self, _model: MemoryModel) -> bool {
        false
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let Task { system, questions, model, options, .. } = task;
        let began = Instant::now();
        let guesses = options.guesses.filter(|_| has_bounded_guesses(model));
        let mut total =
            Stats { engine: self.name(), guesses, within_bound: true, ..Stats::default() };
        let made = Translation::reduced(system, model, options.guesses, &options.budget);
        let translation = match made {
            Ok(translation) => translation,
            Err(error) => {
                total.stopped = Some(error.to_string());
                return (task.unknown(&error), total);
            }
        };
        let mut answers = Vec::new();
        for (i, question) in numbered(questions) {
            if question.asks_for_memory_under_way() {
                let reason = "the engine `channels` does not decide formulas about memory while writes \
                              are under way";
                answers.push(Answer::unknown(i, reason));
                continue;
            }
            let goals = goals(system, &translation, question);
            let possible = |at: &Configuration| translation.is_possible(at);
            let (found, stats) =
                reach_within(&translation.machine, &goals, &possible, options, progress);
            total.add(stats);
            answers.push(match found {
                Reach::NotReached(_) => Answer::excluded(i, question, Evidence::Exhausted),
                Reach::Reached(run) => {
                    let taken = taken(system, &translation, &run);
                    match guided::run(system, model, &taken, question, options) {
                        Ok(Some(run)) => Answer::settled(i, question, run),
                        Err(stop) => Answer::unknown(i, stop),
                        Ok(None) => Answer::unknown(
                            i,
                            "the machine reaches the state, but no run of the program was found",
                        ),
                    }
                }
                Reach::Unknown(reason) => Answer::unknown(i, reason),
            });
            answers.last().into_iter().for_each(|answer| task.settled.hand_over(answer));
        }
        total.elapsed = began.elapsed();
        blame(&options.budget, &mut answers);
        (answers, total)
    }
}

/// Where a question is settled.
fn goals(system: &System, translation: &Translation, question: &Question) -> Vec<Goal> {
    let settles =
        |Place { controls, memory }: &Place| question.is_settled(system, controls, memory);
    let states = translation.machine.states().zip(&translation.places);
    let found = states.filter(|(_, place)| place.as_ref().is_some_and(settles));
    found.map(|(state, _)| Goal { state, contents: Contents::Empty }).collect()
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
