//! Which engine answers.
//!
//! Nearly every real bug shows with small buffers, and a search that never
//! filled them is a proof; so [`Engine::Auto`] first gives the explicit engine a
//! little memory. What it leaves open goes to the views, and what they leave open
//! to the explicit engine again, with all the memory there is.

use weir_model::answer::{Answer, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::stats::{Limits, Progress, Stats};
use crate::{explicit, views};

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Whatever answers first.
    #[default]
    Auto,
    /// Breadth-first over configurations, buffers up to a bound.
    Explicit,
    /// Views: buffers of any size, for SC, TSO, PSO and NSW.
    Views,
}

/// The buffers of the first, short search.
const SHALLOW_BOUND: usize = 2;

/// The memory of the first, short search.
const SHALLOW_BYTES: usize = 1 << 20;

/// Answers every property of the system's program. [`Engine::Views`] is for
/// models that [`views::is_decided`] names; others are left to the explicit
/// engine.
pub fn check(
    system: &System,
    model: MemoryModel,
    engine: Engine,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    if engine == Engine::Explicit || !views::is_decided(model) {
        return explicit::check(system, model, limits, progress);
    }
    if engine == Engine::Views || limits.certificate {
        return views::check(system, model, limits, progress);
    }
    let shallow = Limits {
        bound: limits.bound.or(Some(SHALLOW_BOUND)),
        memory: Some(limits.memory.unwrap_or(usize::MAX).min(SHALLOW_BYTES)),
        ..*limits
    };
    let (mut answers, stats) = explicit::check(system, model, &shallow, progress);
    if answers.iter().all(|a| a.verdict != Verdict::Unknown) {
        return (answers, stats);
    }
    let (proved, mut stats) = views::check(system, model, limits, progress);
    replace_unknown(&mut answers, proved);
    // Where folding is too coarse, buffers up to a bound may still be enough.
    if answers.iter().any(|a| a.verdict == Verdict::Unknown) && stats.stopped.is_none() {
        let (found, deeper) = explicit::check(system, model, limits, progress);
        replace_unknown(&mut answers, found);
        stats = deeper;
    }
    (answers, stats)
}

fn replace_unknown(answers: &mut [Answer], by: Vec<Answer>) {
    for (answer, better) in answers.iter_mut().zip(by) {
        if answer.verdict == Verdict::Unknown {
            *answer = better;
        }
    }
}
