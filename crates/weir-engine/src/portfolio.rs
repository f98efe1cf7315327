//! Which engine answers.
//!
//! Nearly every real bug shows with buffers that hold one write, and a search that never
//! filled its buffers is a proof; `views` proves the rest. It is not known in advance
//! which of the two is faster, so [`Engine::Auto`] alternates between them, each time
//! with more memory. Memory and not time decides when to switch, so that the same input
//! gives the same answers.

use std::time::Instant;

use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Property, PropertyKind, Quantifier};
use weir_model::system::System;

use crate::stats::{Limits, Progress, Stats, blame};
use crate::{automata, backward, explicit, views};

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
    /// Backward from what is asked for: buffers of any size, for TSO, PSO and NSW.
    Backward,
    /// Buffer contents as automata: buffers of any size, for TSO.
    Automata(automata::Options),
}

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

/// Answers every property of the system's program. [`Engine::Views`] is for
/// models that [`views::is_decided`] names; others are left to the explicit
/// engine, and so is SC, which has no buffers.
pub fn check(
    system: &System,
    model: MemoryModel,
    engine: Engine,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    let known = known_from_code(system);
    if !limits.certificate
        && let Some(answers) = known.iter().cloned().collect::<Option<Vec<_>>>()
    {
        return (answers, Stats { engine: "code", within_bound: true, ..Stats::default() });
    }
    let (mut answers, stats) = search(system, model, engine, limits, progress);
    respect_bounds(system, &mut answers);
    for (answer, known) in answers.iter_mut().zip(known) {
        if let Some(known) = known.filter(|_| !is_known(answer)) {
            *answer = known;
        }
    }
    name_growth(system, &mut answers);
    (answers, stats)
}

/// Answers that need no search: no process can come to the places that a formula asks for,
/// whatever it reads.
fn known_from_code(system: &System) -> Vec<Option<Answer>> {
    let answer = |(property, asked): (usize, &Property)| {
        let verdict = match &asked.kind {
            _ if system.bounds_property().is_some() => return None,
            PropertyKind::Never(f) | PropertyKind::Final(Quantifier::Never, f)
                if f.is_never(&[]) =>
            {
                Verdict::Holds
            }
            PropertyKind::Final(Quantifier::Exists, f) if f.is_never(&[]) => Verdict::Violated,
            _ => return None,
        };
        Some(Answer { property, verdict, evidence: Evidence::Exhausted })
    };
    system.program.properties.iter().enumerate().map(answer).collect()
}

/// So many values of one variable or register are worth a word.
const MANY: usize = 1000;

/// A search that a limit has ended names what took most values, if those were many.
fn name_growth(system: &System, answers: &mut [Answer]) {
    if answers.iter().all(is_known) {
        return;
    }
    let Some((name, count)) = system.growth().filter(|(_, count)| *count >= MANY) else { return };
    let about = 10_usize.pow(count.ilog10());
    for answer in answers.iter_mut().filter(|a| !is_known(a)) {
        if let Evidence::Reason(reason) = &mut answer.evidence {
            *reason += &format!(
                "; `{name}` took more than {about} values: say how far to look, with \
                 `--domain {name}=0..7`"
            );
        }
    }
}

/// Engines see no bounds, only processes that loop in a sink state after a value left one.
/// While such a place can be reached, a run still shows what it shows, but that
/// there is none shows nothing.
///
/// The same goes for a process that stopped because Weir cannot follow it
/// ([`System::excess`]).
pub fn respect_bounds(system: &System, answers: &mut [Answer]) {
    if let Some(reason) = system.excess() {
        for answer in answers.iter_mut() {
            if is_known(answer) && !matches!(answer.evidence, Evidence::Run(_)) {
                answer.verdict = Verdict::Unknown;
                answer.evidence = Evidence::Reason(reason.to_owned());
            }
        }
    }
    let Some(bounds) = system.bounds_property() else { return };
    let reason = match (&answers[bounds].verdict, &answers[bounds].evidence) {
        (Verdict::Holds, _) => return,
        (_, Evidence::Reason(reason)) => {
            format!("it is not known whether a value leaves its bound: {reason}")
        }
        (_, Evidence::Run(run)) => {
            let controls: Vec<u32> = run.end(system).controls.iter().map(|s| s.0).collect();
            system.left(&controls).map_or_else(String::new, ToString::to_string)
        }
        _ => "a value may leave its bound".to_owned(),
    };
    for (i, answer) in answers.iter_mut().enumerate() {
        let shown = matches!(answer.evidence, Evidence::Run(_));
        if i == bounds || is_known(answer) && !shown {
            answer.verdict = Verdict::Unknown;
            answer.evidence = Evidence::Reason(reason.clone());
        }
    }
}

fn search(
    system: &System,
    model: MemoryModel,
    engine: Engine,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    let is_finite = model.normal() == MemoryModel::SC;
    if engine == Engine::Explicit || !views::is_decided(model) {
        return explicit::check(system, model, limits, progress);
    }
    if engine == Engine::Backward && backward::is_decided(model) {
        return backward::check(system, model, limits, progress);
    }
    if let Engine::Automata(options) = engine
        && automata::is_decided(model)
    {
        return automata::check(system, model, options, limits, progress);
    }
    if engine == Engine::Views || limits.certificate {
        return views::check(system, model, limits, progress);
    }
    if is_finite {
        return explicit::check(system, model, limits, progress);
    }
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
                explicit::check(system, model, &within(bytes, bound), progress)
            }
            Stage::Views { bytes } => views::check(system, model, &within(bytes, None), progress),
            Stage::Pairs { bytes } => match pairs(system, model, &within(bytes, None), progress) {
                Some(found) => found,
                None => continue,
            },
        };
        stats = last;
        replace_unknown(&mut answers, found);
        if answers.iter().all(is_known) || limits.budget.check().is_err() {
            break;
        }
    }
    stats.elapsed = began.elapsed();
    blame(&limits.budget, &mut answers);
    (answers, stats)
}

/// Looks for runs of any two processes, if there are others.
fn pairs(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: Progress<'_>,
) -> Option<(Vec<Answer>, Stats)> {
    let all: Vec<_> = system.process_ids().collect();
    if !(3..=MOST_TO_PAIR).contains(&all.len()) {
        return None;
    }
    let mut answers = Vec::new();
    let mut stats = Stats::default();
    for (i, p) in all.iter().enumerate() {
        for q in &all[i + 1..] {
            let (found, last) = views::check_some(system, model, &[*p, *q], limits, progress);
            replace_unknown(&mut answers, found);
            stats = last;
            if answers.iter().all(is_known) || limits.budget.check().is_err() {
                return Some((answers, stats));
            }
        }
    }
    Some((answers, stats))
}

fn is_known(answer: &Answer) -> bool {
    answer.verdict != Verdict::Unknown
}

/// Takes over what is known now; a reason that comes later says more.
fn replace_unknown(answers: &mut Vec<Answer>, by: Vec<Answer>) {
    if answers.is_empty() {
        *answers = by;
        return;
    }
    for (answer, better) in answers.iter_mut().zip(by) {
        if !is_known(answer) {
            *answer = better;
        }
    }
}
