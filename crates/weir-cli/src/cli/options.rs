//! Options that several commands have: memory models, languages, and how to search.

use std::time::Duration;

use clap::{Args, ValueEnum};
use weir::load::read_text;
use weir::{Bound, LoadError, Loaded, MemoryModel, Reading, Solver};
use weir_engine::Limits;

use crate::{limits, output};

#[derive(Debug, Args)]
pub struct ModelArg {
    /// A memory model: `sc`, `tso`, `pso`, `nsw`, or a set of relaxations such
    /// as `tso+r->w` or `w->r,w->w,rlwe,rwf`
    #[arg(long = "model", short, value_parser = model, default_value = "tso")]
    pub model: MemoryModel,
}

#[derive(Debug, Args)]
pub struct LanguageArg {
    /// The input language [default: by the ending of the file, or by its text]
    #[arg(long, value_enum)]
    pub language: Option<Language>,
    /// Search only values in this range, for a variable or register without a domain (may be
    /// given several times); if a run can leave the range, `holds` becomes `unknown`
    #[arg(long = "domain", value_name = "X=0..7", value_delimiter = ',')]
    pub domains: Vec<Bound>,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub language: LanguageArg,
    /// The engine
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// For `explicit`: the maximal size of a buffer [default: enough for a program without
    /// loops, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bound: Option<u16>,
    /// The maximal number of guessed reads of a process at a time, for models in which
    /// writes overtake reads; with such a bound reachability is decidable
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16), value_name = "N")]
    pub guesses: Option<u8>,
    #[command(flatten)]
    pub automata: AutomataArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct AutomataArgs {
    /// For `automata`: explore steps in every order
    #[arg(long)]
    pub no_sleep_sets: bool,
    /// For `automata`: do not accelerate cycles
    #[arg(long)]
    pub no_acceleration: bool,
}

impl AutomataArgs {
    pub fn options(self) -> weir_engine::automata::Options {
        weir_engine::automata::Options {
            sleep_sets: !self.no_sleep_sets,
            acceleration: !self.no_acceleration,
        }
    }
}

impl SearchArgs {
    /// Who answers for a model.
    ///
    /// # Errors
    /// If the engine that was asked for does not decide the model, or there are no
    /// guesses to be bounded.
    pub fn solver(&self, model: MemoryModel) -> Result<Solver, String> {
        let solver = match self.engine.solver() {
            Solver::Engine(weir_engine::Engine::Automata(_)) => {
                Solver::Engine(weir_engine::Engine::Automata(self.automata.options()))
            }
            other => other,
        };
        let guesses = self.guesses.map(usize::from);
        solver.accepts(model, guesses).map_err(|e| output::advise(&e))?;
        Ok(solver)
    }

    pub fn limits(&self) -> Limits {
        Limits {
            bound: self.bound.map(usize::from),
            budget: limits::budget(),
            certificate: false,
            guesses: self.guesses.map(usize::from),
        }
    }
}

/// An engine, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Alternates between `explicit` and `views`, with increasing memory
    Auto,
    /// Breadth-first search, for any memory model, with buffers up to a bound
    Explicit,
    /// Unbounded buffers, for SC, TSO, PSO and NSW: a proof or a run
    Views,
    /// Backward search with unbounded buffers, for TSO, PSO and NSW: slower than `views`
    Backward,
    /// Lossy channel machines, for TSO and PSO, and with --guesses: slow
    Channels,
    /// Buffer contents as automata, for TSO: a proof or a run, or no termination
    Automata,
}

impl Engine {
    /// Who answers.
    fn solver(self) -> Solver {
        match self {
            Self::Auto => Solver::default(),
            Self::Explicit => Solver::Engine(weir_engine::Engine::Explicit),
            Self::Channels => Solver::Channels,
            Self::Views => Solver::Engine(weir_engine::Engine::Views),
            Self::Backward => Solver::Engine(weir_engine::Engine::Backward),
            Self::Automata => Solver::Engine(weir_engine::Engine::Automata(Default::default())),
        }
    }

    /// The engine, if it decides a model.
    ///
    /// # Errors
    /// What it decides, if that is something else.
    pub fn for_model(self, model: MemoryModel) -> Result<Solver, String> {
        let solver = self.solver();
        solver.decides(model).map_err(|e| output::advise(&e))?;
        Ok(solver)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Human,
    /// For a program
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Weir,
    Litmus,
    Rmm,
    Trencher,
    Promela,
}

impl LanguageArg {
    /// How to read a file.
    pub fn reading(&self) -> Reading {
        let language = self.language.map(|l| match l {
            Language::Weir => weir::Language::Weir,
            Language::Litmus => weir::Language::Litmus,
            Language::Rmm => weir::Language::Rmm,
            Language::Trencher => weir::Language::Trencher,
            Language::Promela => weir::Language::Promela,
        });
        let bounds = self.domains.clone();
        Reading { language, bounds, ..limits::reading() }
    }

    /// The language, for a command that has no use for bounds.
    ///
    /// # Errors
    /// If there are bounds.
    pub fn unbounded(&self, command: &str) -> Result<Option<weir::Language>, String> {
        let Reading { language, bounds, .. } = self.reading();
        match bounds.is_empty() {
            true => Ok(language),
            false => Err(format!(
                "`weir {command}` takes no --domain, since a bound would change the program; \
                 declare domains instead"
            )),
        }
    }

    /// Reads a file and builds its system, for questions about these models.
    pub fn load(&self, file: &str, models: &[MemoryModel]) -> Result<Loaded, LoadError> {
        let guessing = models.iter().copied().find(|m| m.guesses_reads());
        let model = guessing.unwrap_or(MemoryModel::SC);
        Loaded::read(file, &read_text(file)?, &Reading { model, ..self.reading() })
    }
}

/// A memory model from its name; an error suggests one.
///
/// # Errors
/// If there is no such model.
pub fn model(text: &str) -> Result<MemoryModel, String> {
    text.parse().map_err(|e: weir_model::memory_model::UnknownModel| {
        let known: Vec<&str> = MemoryModel::words().collect();
        match weir_front::suggest::closest(&e.word, known.iter().copied()) {
            Some(meant) => format!("{e}; did you mean `{meant}`?"),
            None => format!("{e}; Weir knows {}", known.join(", ")),
        }
    })
}

/// A time limit from a number of seconds.
///
/// # Errors
/// If the text is no number, or no time to do anything in.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("a time limit has to be more than 0 seconds".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}
