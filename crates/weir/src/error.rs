//! Why a question has no answer.

use std::fmt;

use weir_engine::Refusal;
use weir_front::Diagnostic;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{FenceKind, Program};
use weir_model::system::System;

use crate::certify::Unaccepted;
use crate::load::LoadError;

/// Why a question has no answer. That a property is violated or unknown is an answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text is no program.
    Load(LoadError),
    /// The program of this name has no property.
    NoProperty(String),
    /// The program of this name asks about infinite runs only.
    AsksLive(String),
    /// The program of this name asks about games only.
    AsksGames(String),
    /// The program of this name asks nothing about infinite runs.
    NoLive(String),
    /// The program of this name has no game.
    NoGame(String),
    /// There is nothing of a name; in words, what, and which name may be meant.
    NoSuch(String),
    /// The engine cannot be asked.
    Refused(Refusal),
    /// A question is asked under some models only: which question, under which models, and the model that
    /// was named.
    Model(&'static str, &'static str, MemoryModel),
    /// A question takes no bounds on domains.
    Bounded(&'static str),
    /// There are no proofs: of the engine with this name, or of any, under this model.
    NoProofs(Option<&'static str>, MemoryModel),
    /// A language has no fence of this kind.
    NoFence(&'static str, FenceKind),
    /// The question of this name asks where a process does not stand, so that any fence could change the answer.
    Absence(String),
    /// The program with a fence cannot be read: this is a fault of Weir.
    Inserted(LoadError),
    /// A set of fences is not what it was found to be; in words, how. This is a fault of Weir.
    Fences(String),
    /// A text is no evidence; in words, why.
    NotEvidence(String),
    /// What was found is not accepted by its checker.
    Internal(Unaccepted),
    /// Two engines contradict each other; in words, how.
    Contradiction(String),
}

impl Error {
    /// That nothing is asked about the states of a program, if that is so. `name` is what to call it.
    pub fn no_property(name: &str, system: &System) -> Option<Self> {
        if !system.questions.is_empty() {
            return None;
        }
        let program = &system.program;
        Some(Self::asks_live(name, program).unwrap_or_else(|| match program.games.is_empty() {
            true => Self::NoProperty(name.to_owned()),
            false => Self::AsksGames(name.to_owned()),
        }))
    }

    /// That a program asks about infinite runs only, if that is so.
    pub(crate) fn asks_live(name: &str, program: &Program) -> Option<Self> {
        let live = program.object.is_some() || !program.live.is_empty();
        live.then(|| Self::AsksLive(name.to_owned()))
    }

    /// What is wrong with the text, place by place; empty if it is something else.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Load(LoadError::Wrong { errors, .. }) => errors,
            _ => &[],
        }
    }

    /// Whether Weir contradicts itself.
    pub fn is_internal(&self) -> bool {
        match self {
            Self::Internal(error) => !error.why.is_unchecked(),
            Self::Contradiction(_) | Self::Inserted(_) | Self::Fences(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => error.fmt(f),
            Self::NoProperty(name) => {
                write!(f, "`{name}` has no property; add one, such as `never p@here and q@there`")
            }
            Self::AsksLive(name) => write!(f, "`{name}` is about infinite runs"),
            Self::AsksGames(name) => write!(f, "`{name}` has only games"),
            Self::NoLive(name) => {
                write!(f, "`{name}` has no `live` property; add one, such as `live terminates`")
            }
            Self::NoGame(name) => {
                write!(f, "`{name}` has no game; add one, such as `game reach p@there`")
            }
            Self::NoSuch(message) | Self::NotEvidence(message) => f.write_str(message),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Model(what, models, model) => {
                write!(f, "{what} decided for {models}, not for {model}")
            }
            Self::Bounded(what) => write!(
                f,
                "{what} no bounds on domains: how a program goes on beyond a bound is not known; \
                 declare the domains in the program"
            ),
            Self::NoProofs(None, model) => {
                write!(f, "there are certificates for SC, TSO, PSO and NSW, not for {model}")
            }
            Self::NoProofs(Some(engine), model) => {
                write!(f, "the engine `{engine}` has no proofs under {model}")
            }
            Self::NoFence(language, kind) => {
                write!(f, "the language {language} has no {}", kind.name())
            }
            Self::Absence(question) => write!(
                f,
                "`{question}` asks where a process does not stand. Every fence adds a place \
                 where a process can stand, so a fence could change the answer without ordering \
                 anything"
            ),
            Self::Inserted(error) => {
                write!(f, "internal error: the program with fences cannot be read: {error}")
            }
            Self::Fences(what) => write!(f, "internal error: {what}"),
            Self::Internal(error) => error.fmt(f),
            Self::Contradiction(what) => write!(f, "internal error: two engines disagree: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Load(error) | Self::Inserted(error) => Some(error),
            Self::Internal(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Unaccepted> for Error {
    fn from(error: Unaccepted) -> Self {
        Self::Internal(error)
    }
}
