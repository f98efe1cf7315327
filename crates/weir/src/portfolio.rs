//! The `auto` engine: which engine answers.
//!
//! Nearly every real bug shows with buffers that hold one write, and a search that never
//! filled its buffers is a proof; `views` proves the rest. It is not known in advance
//! which of the two is faster, so [`Auto`] alternates between them, each time with more
//! memory. Memory and not time decides when to switch, so that the same input gives the
//! same answers.
//!
//! Where reads are guessed and the number of guesses is bounded, channel machines prove what
//! a short explicit search leaves open.

use std::time::Instant;

use weir_channel::decide::Channels;
use weir_engine::graph::{Graph, NoGraph};
use weir_engine::{Engine, Explicit, Limits, Progress, Stats, Task, Views, blame, views};
use weir_model::answer::Answer;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::has_bounded_guesses;

/// A search with less than all the memory there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Explicit {
        bound: Option<usize>,
        bytes: usize,
    },
    Views {
        bytes: usize,
    },
    /// Views, with any two processes at a time.
    Pairs {
        bytes: usize,
    },
}

/// Short runs are found first. Then what small sets of views prove or refute;
/// then bugs that need two processes of many; then whatever takes longer.
const STAGES: [Stage; 11] = [
    Stage::Explicit { bound: Some(2), bytes: 1 << 20 },
    Stage::Explicit { bound: None, bytes: 1 << 20 },
    Stage::Views { bytes: 16 << 20 },
    Stage::Pairs { bytes: 16 << 20 },
    Stage::Explicit { bound: Some(1), bytes: 64 << 20 },
    Stage::Views { bytes: 256 << 20 },
    Stage::Explicit { bound: Some(1), bytes: 512 << 20 },
    Stage::Views { bytes: 1 << 30 },
    Stage::Explicit { bound: Some(2), bytes: 1 << 30 },
    Stage::Views { bytes: usize::MAX },
    Stage::Explicit { bound: None, bytes: usize::MAX },
];

impl Stage {
    /// The same search with so much memory at most.
    fn within(self, most: usize) -> Self {
        match self {
            Self::Explicit { bound, bytes } => Self::Explicit { bound, bytes: bytes.min(most) },
            Self::Views { bytes } => Self::Views { bytes: bytes.min(most) },
            Self::Pairs { bytes } => Self::Pairs { bytes: bytes.min(most) },
        }
    }
}

/// More processes than this are not tried two by two.
const MOST_TO_PAIR: usize = 8;

/// With bounded guesses, the explicit search goes first with so many bytes.
const SHORT: usize = 16 << 20;

/// The `auto` engine.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn about(&self) -> &'static str {
        "Alternates between `explicit` and `views`, with increasing memory"
    }

    fn decides(&self, _: MemoryModel) -> bool {
        true
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        if task.limits.guesses.is_some() && has_bounded_guesses(task.model) {
            return guessed(task, progress);
        }
        if !Views.decides(task.model) {
            return Explicit.search(task, progress);
        }
        if task.limits.certificate {
            return Views.search(task, progress);
        }
        if task.model.normal() == MemoryModel::SC {
            return Explicit.search(task, progress);
        }
        in_turns(task, progress)
    }

    /// That of the explicit engine.
    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        Explicit.graph(task, most)
    }
}

/// The explicit search and views in turns.
fn in_turns(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let limits = task.limits;
    let began = Instant::now();
    let mut answers: Vec<Answer> = Vec::new();
    let mut stats = Stats::default();
    let most = limits.budget.store().unwrap_or(usize::MAX);
    for (i, stage) in STAGES.into_iter().enumerate() {
        // With little memory some stages are the same as earlier ones.
        if STAGES[..i].iter().any(|s| s.within(most) == stage.within(most)) {
            continue;
        }
        let within = |bytes: usize, bound: Option<usize>| Limits {
            bound: limits.bound.or(bound),
            budget: limits.budget.clone().with_store(bytes),
            ..limits.clone()
        };
        let (found, last) = match stage.within(most) {
            Stage::Explicit { bound, bytes } => {
                Explicit.search(task.within(&within(bytes, bound)), progress)
            }
            Stage::Views { bytes } => Views.search(task.within(&within(bytes, None)), progress),
            Stage::Pairs { bytes } => match pairs(task.within(&within(bytes, None)), progress) {
                Some(found) => found,
                None => continue,
            },
        };
        stats = last;
        replace_unknown(&mut answers, found);
        if answers.iter().all(Answer::is_known) || limits.budget.check().is_err() {
            break;
        }
    }
    stats.elapsed = began.elapsed();
    blame(&limits.budget, &mut answers);
    (answers, stats)
}

/// Looks for runs of any two processes, if there are others.
fn pairs(task: Task<'_>, progress: Progress<'_>) -> Option<(Vec<Answer>, Stats)> {
    let all: Vec<_> = task.system.process_ids().collect();
    if !(3..=MOST_TO_PAIR).contains(&all.len()) {
        return None;
    }
    let mut answers = Vec::new();
    let mut stats = Stats::default();
    for (i, p) in all.iter().enumerate() {
        for q in &all[i + 1..] {
            let (found, last) = views::check_some(task, &[*p, *q], progress);
            replace_unknown(&mut answers, found);
            stats = last;
            if answers.iter().all(Answer::is_known) || task.limits.budget.check().is_err() {
                return Some((answers, stats));
            }
        }
    }
    Some((answers, stats))
}

/// A short explicit search, and channel machines for what it leaves open.
fn guessed(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let began = Instant::now();
    let limits = task.limits;
    let store = limits.budget.store().unwrap_or(SHORT).min(SHORT);
    let short = Limits { budget: limits.budget.clone().with_store(store), ..limits.clone() };
    let (mut answers, mut stats) = Explicit.search(task.within(&short), progress);
    if !answers.iter().all(Answer::is_known) {
        let (found, last) = Channels.search(task, progress);
        replace_unknown(&mut answers, found);
        stats = last;
    }
    stats.elapsed = began.elapsed();
    blame(&limits.budget, &mut answers);
    (answers, stats)
}

/// Takes over what is known now; a reason that comes later says more.
fn replace_unknown(answers: &mut Vec<Answer>, by: Vec<Answer>) {
    if answers.is_empty() {
        *answers = by;
        return;
    }
    for (answer, better) in answers.iter_mut().zip(by) {
        if !answer.is_known() {
            *answer = better;
        }
    }
}
