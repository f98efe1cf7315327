//! Who answers: an engine, or channel machines; and what nobody can be asked.

use std::fmt;
use std::time::Instant;

use weir_channel::decide;
use weir_engine::{
    Engine, Limits, Progress, Stats, automata, backward, blame, respect_bounds, views,
};
use weir_model::answer::{Answer, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
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

/// Why a question cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The program has no property; in words, what to do about it.
    NoProperty(String),
    /// The engine does not decide the model; in words, which ones it does.
    Undecided(String),
}

impl CheckError {
    /// That a program has no property, if that is so. `name` is what to call it.
    pub fn no_property(name: &str, program: &Program) -> Option<Self> {
        if !program.properties.is_empty() {
            return None;
        }
        Some(Self::no_processes(name, program).unwrap_or_else(|| {
            let reason = match program.games.is_empty() {
                false => "asks about games: use `weir game`",
                true => {
                    "has no property; add one, such as `never p@here and q@there`, \
                     or use `weir outcomes`"
                }
            };
            Self::NoProperty(format!("`{name}` {reason}"))
        }))
    }

    /// That a program asks about runs without end only, if that is so.
    pub(crate) fn no_processes(name: &str, program: &Program) -> Option<Self> {
        let live = program.object.is_some() || !program.live.is_empty();
        let reason = "asks about runs without end: use `weir live`";
        live.then(|| Self::NoProperty(format!("`{name}` {reason}")))
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NoProperty(reason) | Self::Undecided(reason)) = self;
        f.write_str(reason)
    }
}

impl std::error::Error for CheckError {}

impl Solver {
    /// Whether it decides a model.
    ///
    /// # Errors
    /// Which models it decides, if this is none of them.
    pub fn decides(self, model: MemoryModel) -> Result<(), CheckError> {
        let (decides, models) = match self {
            Self::Engine(Engine::Auto | Engine::Explicit) => return Ok(()),
            Self::Engine(Engine::Views) => {
                (views::is_decided(model), "views decide SC, TSO, PSO and NSW".to_owned())
            }
            Self::Engine(Engine::Backward) => {
                (backward::is_decided(model), "backward search decides TSO, PSO and NSW".to_owned())
            }
            Self::Engine(Engine::Automata(_)) => {
                (automata::is_decided(model), "buffer automata are for TSO".to_owned())
            }
            Self::Channels => (
                decide::is_decided(model),
                format!(
                    "channel machines decide TSO, PSO, {} and {}",
                    MemoryModel::GUESS,
                    MemoryModel::GUESS_WW
                ),
            ),
        };
        match decides {
            true => Ok(()),
            false => Err(CheckError::Undecided(format!(
                "{models}, not {model}; use --engine explicit, or name other models with --model"
            ))),
        }
    }

    /// Answers every property of the system's program.
    ///
    /// # Errors
    /// If the program has no property, or the engine does not decide the model.
    pub fn check(
        self,
        system: &System,
        model: MemoryModel,
        limits: &Limits,
        progress: Progress<'_>,
    ) -> Result<(Vec<Answer>, Stats), CheckError> {
        self.decides(model)?;
        if let Some(error) = CheckError::no_property(&system.program.name, &system.program) {
            return Err(error);
        }
        let (mut answers, stats) = match self {
            Self::Channels => decide::check(system, model, limits, progress),
            Self::Engine(Engine::Auto)
                if limits.guesses.is_some() && has_bounded_guesses(model) =>
            {
                guessed(system, model, limits, progress)
            }
            Self::Engine(engine) => {
                return Ok(weir_engine::check(system, model, engine, limits, progress));
            }
        };
        respect_bounds(system, &mut answers);
        Ok((answers, stats))
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
