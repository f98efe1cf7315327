//! Who answers: an engine, or channel machines.

use std::time::Instant;

use weir_channel::decide;
use weir_engine::{Engine, Limits, Progress, Stats, blame, respect_bounds};
use weir_model::answer::{Answer, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::has_bounded_guesses;
use weir_model::system::System;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// An engine that sees the system.
    Engine(Engine),
    /// A translation to channel machines, for TSO, PSO, and with bounded guesses.
    Channels,
}

impl Default for Solver {
    fn default() -> Self {
        Self::Engine(Engine::Auto)
    }
}

/// With bounded guesses, the explicit search goes first with so many bytes.
const SHORT: usize = 16 << 20;

impl Solver {
    /// Answers every property of the system's program.
    pub fn check(
        self,
        system: &System,
        model: MemoryModel,
        limits: &Limits,
        progress: Progress<'_>,
    ) -> (Vec<Answer>, Stats) {
        let (mut answers, stats) = match self {
            Self::Channels => decide::check(system, model, limits, progress),
            Self::Engine(Engine::Auto)
                if limits.guesses.is_some() && has_bounded_guesses(model) =>
            {
                guessed(system, model, limits, progress)
            }
            Self::Engine(engine) => {
                return weir_engine::check(system, model, engine, limits, progress);
            }
        };
        respect_bounds(system, &mut answers);
        (answers, stats)
    }
}

/// A short explicit search, and channel machines for what it leaves open.
fn guessed(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    let began = Instant::now();
    let store = limits.budget.store().unwrap_or(SHORT).min(SHORT);
    let short = Limits { budget: limits.budget.clone().with_store(store), ..limits.clone() };
    let (mut answers, mut stats) =
        weir_engine::check(system, model, Engine::Explicit, &short, progress);
    if answers.iter().any(|a| a.verdict == Verdict::Unknown) {
        let (found, last) = decide::check(system, model, limits, progress);
        for (answer, better) in answers.iter_mut().zip(found) {
            if answer.verdict == Verdict::Unknown {
                *answer = better;
            }
        }
        stats = last;
    }
    stats.elapsed = began.elapsed();
    blame(&limits.budget, &mut answers);
    (answers, stats)
}
