//! What an engine is: one entry, the models that it decides, and what it is called.
//!
//! [`Engine::check`] is how engines are asked, all of them. Around the search of an engine it does
//! what is the same for all engines: it refuses what the engine cannot decide, answers what needs
//! no search, and respects bounds.

use std::fmt;

use weir_model::answer::{Answer, Evidence, Verdict};
use weir_model::ids::QuestionId;
use weir_model::memory_model::MemoryModel;
use weir_model::question::{Kind, Question, numbered};
use weir_model::semantics::{Form, has_bounded_guesses};
use weir_model::system::System;

use crate::graph::{Graph, NoGraph};
use crate::stats::{Progress, SearchOptions, Stats};

/// What an engine is asked.
#[derive(Clone, Copy, Debug)]
pub struct Task<'t> {
    /// The system.
    pub system: &'t System,
    /// What is asked of it: some of its own questions, or others about places at which its
    /// processes are seen.
    pub questions: &'t [Question],
    /// The memory model.
    pub model: MemoryModel,
    /// How far to go.
    pub options: &'t SearchOptions,
    /// Receives answers to these questions before the search ends.
    pub settled: Sink<'t>,
}

/// Takes answers as they are found, while other questions are still open. Answers are numbered as
/// the questions of their task, and there may be several to one question.
#[derive(Clone, Copy, Default)]
pub struct Sink<'t>(Option<&'t (dyn Fn(&Answer) + Sync)>);

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sink").field(&self.0.is_some()).finish()
    }
}

impl<'t> Sink<'t> {
    /// No receiver.
    pub const NONE: Self = Self(None);

    /// Tells a function.
    pub fn new(take: &'t (dyn Fn(&Answer) + Sync)) -> Self {
        Self(Some(take))
    }

    /// Whether there is a receiver.
    pub fn is_told(&self) -> bool {
        self.0.is_some()
    }

    /// Hands an answer over, if it is one.
    pub fn hand_over(&self, answer: &Answer) {
        if let Some(take) = self.0.filter(|_| answer.is_known()) {
            take(answer);
        }
    }
}

impl<'t> Task<'t> {
    /// All questions of a system.
    pub fn new(system: &'t System, model: MemoryModel, options: &'t SearchOptions) -> Self {
        Self { system, questions: &system.questions, model, options, settled: Sink::NONE }
    }

    /// Whether the system has every read of the model, and the form that is asked for.
    ///
    /// # Errors
    /// If it has not.
    pub fn is_served(&self) -> Result<(), Refusal> {
        if !self.system.serves(self.model) {
            return Err(Refusal::Unserved(self.model));
        }
        if self.model == MemoryModel::C11 && self.system.has_blocks(self.model) {
            return Err(Refusal::BlocksInForm(Form::C11));
        }
        match self.options.form {
            Some(form) if !Form::of_system(self.system, self.model).contains(&form) => {
                Err(Refusal::BlocksInForm(form))
            }
            _ => Ok(()),
        }
    }

    /// Every question is unknown for this reason.
    pub fn unknown(&self, reason: &impl ToString) -> Vec<Answer> {
        numbered(self.questions).map(|(i, _)| Answer::unknown(i, reason.to_string())).collect()
    }

    /// The same within other limits.
    #[must_use]
    pub fn within(self, options: &'t SearchOptions) -> Self {
        Self { options, ..self }
    }
}

/// An engine: a way to answer questions about the reachable states of a system.
pub trait Engine: fmt::Debug + Sync {
    /// Its name, on the command line and in reports.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn about(&self) -> &'static str;

    /// Whether it is for a model.
    fn decides(&self, model: MemoryModel) -> bool;

    /// Whether it decides a model only if the number of guessed reads is bounded.
    fn needs_bounded_guesses(&self, _model: MemoryModel) -> bool {
        false
    }

    /// Whether it searches a semantics whose form can be chosen.
    fn has_forms(&self) -> bool {
        false
    }

    /// Whether it follows atomic blocks of several steps.
    fn follows_blocks(&self) -> bool {
        false
    }

    /// Whether what it proves under a model can be written as a file. There are files for SC, TSO, PSO and NSW
    /// only.
    fn has_proofs(&self, _model: MemoryModel) -> bool {
        true
    }

    /// Answers questions, each with what shows the answer. The model is one that it
    /// [decides](Self::decides), and the system has every read of it. [`check`](Self::check)
    /// is what others call.
    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats);

    /// The states that it explores, if that is what it does, to the end even if questions are
    /// settled.
    ///
    /// # Errors
    /// If it has no such graph, the graph has more than `most` states, or a limit is reached.
    fn graph(&self, _task: Task<'_>, _most: usize) -> Result<Graph, NoGraph> {
        Err(NoGraph::None)
    }

    /// Gets ready for a task: it is called before each search.
    ///
    /// # Errors
    /// If there can be no search.
    fn prepare(&self, _task: Task<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether it can be asked about a model within limits.
    ///
    /// # Errors
    /// Why not, if it cannot.
    fn accepts(&self, model: MemoryModel, options: &SearchOptions) -> Result<(), Refusal> {
        if !self.decides(model) {
            return Err(Refusal::undecided(self.name(), |model| self.decides(model), model));
        }
        if let Some(form) = options.form {
            if !self.has_forms() {
                return Err(Refusal::NoForms(self.name()));
            }
            if !Form::of(model).contains(&form) {
                return Err(Refusal::OtherForm(model, form.word()));
            }
            if options.guesses.is_some() && form != Form::of(model)[0] {
                return Err(Refusal::NoGuessesInForm(form));
            }
        }
        match options.guesses {
            Some(_) if !has_bounded_guesses(model) => Err(Refusal::NoGuesses(model)),
            None if self.needs_bounded_guesses(model) => Err(Refusal::Unbounded(model)),
            _ => Ok(()),
        }
    }

    /// Answers questions: there is one answer for each, in their order.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn check(
        &self,
        task: Task<'_>,
        progress: Progress<'_>,
    ) -> Result<(Vec<Answer>, Stats), Refusal> {
        self.accepts(task.model, task.options)?;
        task.is_served()?;
        if !self.follows_blocks() && task.system.has_blocks(task.model) {
            return Err(Refusal::Blocks(self.name()));
        }
        let known = known_from_code(task);
        if !task.options.certificate
            && let Some(answers) = known.iter().cloned().collect::<Option<Vec<_>>>()
        {
            let guesses = task.options.guesses;
            let stats = Stats { engine: "code", guesses, within_bound: true, ..Stats::default() };
            return Ok((answers, stats));
        }
        self.prepare(task)?;
        known.iter().flatten().for_each(|answer| task.settled.hand_over(answer));
        let allowed = |answer: &Answer| {
            if is_final(task, answer) {
                task.settled.hand_over(answer);
            }
        };
        let settled = if task.settled.is_told() { Sink::new(&allowed) } else { Sink::NONE };
        let (mut answers, mut stats) = self.search(Task { settled, ..task }, progress);
        respect_bounds(task, &mut answers);
        for (answer, known) in answers.iter_mut().zip(known) {
            if let Some(known) = known.filter(|_| !answer.is_known()) {
                *answer = known;
            }
        }
        if !answers.iter().all(Answer::is_known) {
            stats.growth = task.system.growth();
        }
        Ok((answers, stats))
    }
}

/// Why an engine cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not for the model.
    Undecided {
        /// The engine.
        engine: &'static str,
        /// The models that it is for, of those that have names or are studied.
        decides: Vec<MemoryModel>,
        /// The model.
        model: MemoryModel,
    },
    /// The system was built without the guessed reads of the model.
    Unserved(MemoryModel),
    /// Reads are guessed under the model, and this engine needs a bound on how many.
    Unbounded(MemoryModel),
    /// There is a bound on guesses, and the model has none.
    NoGuesses(MemoryModel),
    /// A form of the semantics is chosen, and the engine of this name searches none.
    NoForms(&'static str),
    /// The program has atomic blocks of several accesses, which the engine of this name does
    /// not follow.
    Blocks(&'static str),
    /// The program has atomic blocks of several accesses, which the form does not follow.
    BlocksInForm(Form),
    /// The model has no such form.
    OtherForm(MemoryModel, &'static str),
    /// There is a bound on guesses, and the form has no rule for it.
    NoGuessesInForm(Form),
    /// The processes that were to search together did not come together, for this reason.
    Apart(String),
}

impl Refusal {
    fn undecided(
        engine: &'static str,
        decides: impl Fn(MemoryModel) -> bool,
        model: MemoryModel,
    ) -> Self {
        let named = MemoryModel::NAMED.into_iter().map(|(_, model)| model);
        let guessing = MemoryModel::STUDIED.into_iter().filter(|m| has_bounded_guesses(*m));
        let decides =
            named.chain(guessing).chain([MemoryModel::C11]).filter(|m| decides(*m)).collect();
        Self::Undecided { engine, decides, model }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecided { engine, decides, model } => {
                write!(f, "the engine `{engine}` is for ")?;
                for (i, known) in decides.iter().enumerate() {
                    let before = match i {
                        0 => "",
                        _ if i + 1 == decides.len() => " and ",
                        _ => ", ",
                    };
                    write!(f, "{before}{known}")?;
                }
                write!(f, ", not for {model}")
            }
            Self::Unserved(model) => {
                write!(f, "the system was built without the guessed reads of {model}")
            }
            Self::Unbounded(model) => {
                write!(f, "this engine decides {model} only with a bound on guesses")
            }
            Self::NoGuesses(model) => write!(
                f,
                "a bound on guesses is for {}, {} and {}, in which reads are guessed, not for \
                 {model}",
                MemoryModel::TSO_RW,
                MemoryModel::GUESS,
                MemoryModel::GUESS_WW
            ),
            Self::Apart(reason) => f.write_str(reason),
            Self::NoForms(engine) => write!(
                f,
                "the engine `{engine}` searches no form of a semantics that can be chosen; \
                 `explicit` does"
            ),
            Self::Blocks(engine) => write!(
                f,
                "the engine `{engine}` does not follow atomic blocks of several accesses; \
                 `explicit` does"
            ),
            Self::BlocksInForm(form) => write!(
                f,
                "the form `{}` does not follow atomic blocks of several accesses",
                form.word()
            ),
            Self::OtherForm(model, word) => {
                let words: Vec<&str> = Form::of(*model).into_iter().map(Form::word).collect();
                write!(f, "{model} has no form `{word}`; it has {}", words.join(", "))
            }
            Self::NoGuessesInForm(form) => {
                write!(f, "guesses cannot be bounded in the form `{}`", form.word())
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Answers that need no search: no process can come to the places that a formula asks for,
/// whatever it reads.
fn known_from_code(task: Task<'_>) -> Vec<Option<Answer>> {
    let bounded = task.system.bounds_question().is_some();
    let answer = |(i, question): (QuestionId, &Question)| {
        let is_known = !bounded && question.is_excluded();
        is_known.then(|| Answer::excluded(i, question, Evidence::Exhausted))
    };
    numbered(task.questions).map(answer).collect()
}

/// Whether an answer of a search stays as it is, whatever is found later: bounds are respected at
/// the end ([`respect_bounds`]).
fn is_final(task: Task<'_>, answer: &Answer) -> bool {
    let has_bounds = task.system.bounds_question().is_some();
    match answer.has_run() {
        true => task.questions[answer.property.index()].kind != Kind::Bounds,
        false => !has_bounds && task.system.excess().is_none(),
    }
}

/// Searches see no bounds, only processes that loop where a value left one. While such a
/// place can be reached, runs stay valid; `holds` becomes `unknown`.
///
/// The same goes for a process that stopped because Weir cannot follow it
/// ([`System::excess`]).
fn respect_bounds(task: Task<'_>, answers: &mut [Answer]) {
    if let Some(reason) = task.system.excess() {
        for answer in answers.iter_mut().filter(|a| a.is_known() && !a.has_run()) {
            *answer = Answer::unknown(answer.property, reason);
        }
    }
    if task.system.bounds_question().is_none() {
        return;
    }
    let bounds = task.questions.iter().position(|q| q.kind == Kind::Bounds);
    let reason = match bounds.map(|i| (&answers[i].verdict, &answers[i].evidence)) {
        Some((Verdict::Holds, _)) => return,
        Some((_, Evidence::Reason(reason))) => {
            format!("it is not known whether a value leaves its bound: {reason}")
        }
        Some((_, Evidence::Run(run))) => {
            let controls = run.end(task.system).controls;
            task.system.out_of_bounds(&controls).map_or_else(String::new, ToString::to_string)
        }
        _ => "a value may leave its bound".to_owned(),
    };
    for answer in answers.iter_mut() {
        if Some(answer.property.index()) == bounds || answer.is_known() && !answer.has_run() {
            *answer = Answer::unknown(answer.property, &reason);
        }
    }
}
