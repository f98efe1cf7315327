//! Chooses between an engine and channel machines, and rejects questions that cannot be
//! answered.

use std::fmt;
use std::time::Instant;

use weir_channel::decide;
use weir_engine::explicit::{self, Outcomes};
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
#[non_exhaustive]
pub enum CheckError {
    /// The program of this name has no property.
    NoProperty(String),
    /// The program of this name asks about runs without end only.
    AsksLive(String),
    /// The program of this name asks about games only.
    AsksGames(String),
    /// The solver does not decide the model.
    Undecided {
        /// What it decides, in words.
        decides: String,
        /// The model.
        model: MemoryModel,
    },
    /// There is a bound on guesses, and the model has none.
    NoGuesses(MemoryModel),
    /// The solver decides the model only with a bound on guesses.
    UnboundedGuesses(MemoryModel),
}

impl CheckError {
    /// That a program has no property, if that is so. `name` is what to call it.
    pub fn no_property(name: &str, program: &Program) -> Option<Self> {
        if !program.properties.is_empty() {
            return None;
        }
        Some(Self::no_processes(name, program).unwrap_or_else(|| match program.games.is_empty() {
            true => Self::NoProperty(name.to_owned()),
            false => Self::AsksGames(name.to_owned()),
        }))
    }

    /// That a program asks about runs without end only, if that is so.
    fn no_processes(name: &str, program: &Program) -> Option<Self> {
        let live = program.object.is_some() || !program.live.is_empty();
        live.then(|| Self::AsksLive(name.to_owned()))
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProperty(name) => {
                write!(f, "`{name}` has no property; add one, such as `never p@here and q@there`")
            }
            Self::AsksLive(name) => write!(f, "`{name}` is about infinite runs"),
            Self::AsksGames(name) => write!(f, "`{name}` has only games"),
            Self::Undecided { decides, model } => write!(f, "{decides}, not {model}"),
            Self::NoGuesses(model) => write!(
                f,
                "a bound on guesses is for {} and {}, in which reads are guessed, not for {model}",
                MemoryModel::GUESS,
                MemoryModel::GUESS_WW
            ),
            Self::UnboundedGuesses(model) => {
                write!(f, "channel machines decide {model} only with a bound on guesses")
            }
        }
    }
}

impl std::error::Error for CheckError {}

/// Answers every property of a system's program under a model: there is one answer for
/// each, in their order.
///
/// # Errors
/// If the program has no property.
pub fn check(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
) -> Result<(Vec<Answer>, Stats), CheckError> {
    Solver::default().check(system, model, limits, &mut |_| {})
}

/// Finds all final states of a system under a model.
///
/// # Errors
/// If the program is an object, which has no final states.
pub fn outcomes(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: Progress<'_>,
) -> Result<Outcomes, CheckError> {
    let program = &system.program;
    match program.object.as_ref().and_then(|_| CheckError::no_processes(&program.name, program)) {
        Some(error) => Err(error),
        None => Ok(explicit::outcomes(system, model, limits, progress)),
    }
}

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
            false => Err(CheckError::Undecided { decides: models, model }),
        }
    }

    /// Whether it decides a model with this bound on guesses, or none.
    ///
    /// # Errors
    /// If it does not decide the model, or the model and the bound do not fit.
    pub fn accepts(self, model: MemoryModel, guesses: Option<usize>) -> Result<(), CheckError> {
        let guessed = has_bounded_guesses(model);
        match (self, guesses) {
            (_, Some(_)) if !guessed => Err(CheckError::NoGuesses(model)),
            (Self::Channels, None) if guessed => Err(CheckError::UnboundedGuesses(model)),
            _ => self.decides(model),
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
        self.accepts(model, limits.guesses)?;
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
