//! Asking engines: all questions of a system, or its final states.

use std::fmt;

use weir_engine::explicit::{self, Outcomes};
use weir_engine::{Engine, Limits, Progress, Refusal, Stats, Task};
use weir_model::answer::Answer;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::system::System;

use crate::engines::ENGINES;

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
    /// The engine cannot be asked.
    Refused(Refusal),
}

impl CheckError {
    /// That nothing is asked of a program, if that is so. `name` is what to call it.
    pub fn no_property(name: &str, system: &System) -> Option<Self> {
        if !system.questions.is_empty() {
            return None;
        }
        let program = &system.program;
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
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<Refusal> for CheckError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Answers every question of a system under a model: there is one answer for each, in their
/// order.
///
/// # Errors
/// If the program has no property.
pub fn check(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
) -> Result<(Vec<Answer>, Stats), CheckError> {
    check_with(ENGINES[0], Task::new(system, model, limits), &mut |_| {})
}

/// Has an engine answer.
///
/// # Errors
/// If the program has no property, or the engine cannot be asked.
pub fn check_with(
    engine: &dyn Engine,
    task: Task<'_>,
    progress: Progress<'_>,
) -> Result<(Vec<Answer>, Stats), CheckError> {
    let program = &task.system.program;
    match CheckError::no_property(&program.name, task.system) {
        Some(error) => Err(error),
        None => Ok(engine.check(task, progress)?),
    }
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
        None => Ok(explicit::outcomes(Task::new(system, model, limits), progress)?),
    }
}
