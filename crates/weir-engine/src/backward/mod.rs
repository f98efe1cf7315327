//! The `backward` engine: TSO, PSO and NSW as well-structured systems.
//!
//! *Problem.* As for `views`: reachability with unbounded buffers.
//!
//! *Idea.* The decidability proof (Atig et al. 2012, section 6): begin at the violating
//! states and compute minimal predecessors ([`wsts`]), until an initial state is met or
//! there are no new states.
//!
//! *States.* As in NSW+, writes enter memory in one order, and each process learns of
//! them later, in that order, through its own buffer. NSW+ puts whole memory states
//! there. Here a *message* has one variable and its value, and a process may receive a
//! message about memory at any time (after the dual semantics of Abdulla et al. 2018), so
//! that the backward search need not guess the values of irrelevant variables. For the
//! same reason the value of a variable, in memory or in a message, may be *any*.
//!
//! | NSW+ (Atig et al. 2012, section 6) | here |
//! | --- | --- |
//! | `WB(i,j)`, `j <= m` | `stores`, the last of which is strong |
//! | `WB(i,m+1)` | `future`; the last own message of each variable is strong |
//! | the history buffer with its pointers | `past`: for each variable what can still be read |
//! | Write, Transfer write | the same; the transfer enters memory and tells its own process |
//! | part of Transfer write | [`Step::Tell`]: a process is told of a value in memory |
//! | Memory update | [`Step::See`]: a process sees its oldest message |
//! | Move pointer | nothing: what is in `past` can be lost |
//!
//! TSO has no `stores` and no `past`, PSO no `past`: these are the simpler forms
//! mentioned in Atig et al. 2012, section 5.2.
//!
//! *Targets.* Every process can see all its messages and let its writes enter memory
//! without taking a step, so violating control states can be represented with empty
//! buffers and any memory. Formulas about memory while writes are under way are left to
//! `views`.

mod state;
mod steps;
mod targets;

use std::sync::Arc;

use weir_model::answer::{Answer, Evidence, Run, UpwardSet};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::numbered;
use weir_model::semantics::Form;
use weir_model::system::System;

use crate::concrete::{self, Event};
use crate::engine::{Engine, Task};
use crate::stats::{Progress, Stats, blame};
use crate::wsts::{self, Outcome};
use state::State;
use steps::Dual;
pub use steps::Step;

/// The `backward` engine.
#[derive(Clone, Copy, Debug)]
pub struct Backward;

impl Engine for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn about(&self) -> &'static str {
        "Backward search with unbounded buffers, for TSO, PSO and NSW: slower than `views`"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        matches!(Form::of(model)[0], Form::Tso | Form::Pso | Form::NswFifo)
    }

    /// One question after another.
    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let Task { system, questions, model, options, .. } = task;
        let began = std::time::Instant::now();
        let mut total = Stats { engine: self.name(), within_bound: true, ..Stats::default() };
        let made = system.expanded(&options.budget);
        let made = made.and_then(|all| Ok((all, Dual::new(all, model, &options.budget)?)));
        let (all, dual) = match made {
            Ok(made) => made,
            Err(stop) => {
                total.stopped = Some(stop.to_string());
                total.elapsed = began.elapsed();
                return (task.unknown(&stop), total);
            }
        };
        let mut answers = Vec::new();
        for (i, question) in numbered(questions) {
            let targets = match targets::of(all, question, &options.budget) {
                Ok(targets) => targets,
                Err(reason) => {
                    answers.push(Answer::unknown(i, reason));
                    continue;
                }
            };
            let (outcome, stats) = wsts::backward(&dual, targets, options, progress);
            total.add(stats);
            answers.push(match outcome {
                Outcome::Unreachable(minimal) => {
                    let states = || minimal.iter().map(State::parts).collect();
                    let evidence = match options.certificate {
                        true => Evidence::Upward(Arc::new(UpwardSet { model, states: states() })),
                        false => Evidence::Exhausted,
                    };
                    Answer::excluded(i, question, evidence)
                }
                Outcome::Reached(path) => match run(system, model, &dual, &path, &options.budget) {
                    Ok(Some(run)) => Answer::settled(i, question, run),
                    Err(stop) => Answer::unknown(i, stop),
                    Ok(None) => {
                        Answer::unknown(i, "a path was found that is not a run; please report this")
                    }
                },
                Outcome::Stopped(reason) => Answer::unknown(i, reason),
            });
            answers.last().into_iter().for_each(|answer| task.settled.hand_over(answer));
        }
        total.elapsed = began.elapsed();
        blame(&options.budget, &mut answers);
        (answers, total)
    }
}

/// The run of the store-buffer semantics that a path stands for, from the first
/// initial memory from which there is one.
fn run(
    system: &System,
    model: MemoryModel,
    dual: &Dual<'_>,
    path: &[Step],
    budget: &Budget,
) -> Result<Option<Run>, Stop> {
    let events: Vec<Event> = path.iter().flat_map(|step| dual.events(step)).collect();
    for memory in system.initial_memories() {
        if let Some(run) = concrete::run(system, model, &memory, &events, budget)? {
            return Ok(Some(run));
        }
    }
    Ok(None)
}
