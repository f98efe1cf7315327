//! The one way to ask: a text, how to read it, and a question.

use std::path::PathBuf;

use weir_engine::{Engine, Refusal, SearchOptions};
use weir_front::{Language, Settings};
use weir_game::Options as GameOptions;
use weir_model::game::{Buffers, Fairness};
use weir_model::limits::{Budget, Limits};
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::semantics::Form;

use crate::bounds::Bound;
use crate::certify::{self, Checked};
use crate::engines::ENGINES;
use crate::error::Error;
use crate::finding::{Listener, Question, Report};
use crate::hints::Hints;
use crate::load::{LoadError, Loaded, Reading, usual_model};
use crate::question::properties::has_proofs;
use crate::question::{FinalStates, Games, InfiniteRuns, Properties, Repair, Robustness};

/// The clients of an object by default.
const CLIENTS: usize = 2;

/// Asks about one program. Settings come first, a question last:
///
/// | question | about |
/// | --- | --- |
/// | [`check`](Self::check) | the properties of the program |
/// | [`outcomes`](Self::outcomes) | the final states of a program that ends |
/// | [`live`](Self::live) | infinite runs: progress of objects, termination of programs |
/// | [`games`](Self::games) | who wins the games between the program and its memory |
/// | [`robust`](Self::robust) | whether the memory model adds anything to SC |
/// | [`fences`](Self::fences) | which fences repair the program |
/// | [`ask`](Self::ask) | any [`Question`], with findings as they come |
/// | [`certify`](Self::certify) | whether evidence shows what it says |
///
/// Unless a memory model is named, it is that of C, C++ and Rust for texts in these languages and TSO for others
/// ([`usual_model`]). [`Limits`] are the default ones.
#[derive(Clone, Debug)]
pub struct Verifier {
    text: String,
    name: String,
    language: Option<&'static Language>,
    settings: Settings,
    /// None are those that are usual for the text.
    models: Vec<MemoryModel>,
    engine: &'static dyn Engine,
    bound: Option<usize>,
    guesses: Option<usize>,
    spill: Option<PathBuf>,
    form: Option<&'static str>,
    domains: Vec<Bound>,
    limits: Limits,
    budget: Option<Budget>,
    clients: usize,
    games: GameOptions,
    proofs: bool,
    hints: Hints,
}

impl Verifier {
    /// Asks about a text, in Weir's language or another that its beginning tells.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            name: "program".to_owned(),
            language: None,
            settings: Settings { compile: Some(crate::compile), ..Settings::default() },
            models: vec![],
            engine: ENGINES[0],
            bound: None,
            guesses: None,
            spill: None,
            form: None,
            domains: Vec::new(),
            limits: Limits::default(),
            budget: None,
            clients: CLIENTS,
            games: GameOptions::default(),
            proofs: false,
            hints: Hints::default(),
        }
    }

    /// Asks about a file, whose name tells the language.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn from_file(name: &str) -> Result<Self, Error> {
        Ok(Self::new(crate::load::read_text(name)?).name(name))
    }

    /// Asks about a program that was built and not read
    /// ([`weir_model::program`](crate::parts::model::program)).
    pub fn of_program(program: &Program) -> Self {
        let text = weir_front::weir::print(program);
        Self::new(text).name(program.name.clone()).language(&weir_front::weir::LANGUAGE)
    }

    /// What reports call the text. Its ending (`.weir`, `.litmus`, `.pml`, `.rmm`) tells the
    /// language.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The language of the text.
    #[must_use]
    pub fn language(self, language: impl Into<Option<&'static Language>>) -> Self {
        Self { language: language.into(), ..self }
    }

    /// What the language of the text leaves open, such as the function that the program begins
    /// with.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The memory model.
    #[must_use]
    pub fn model(self, model: MemoryModel) -> Self {
        Self { models: vec![model], ..self }
    }

    /// Several memory models: there are findings for each. None are the one that is usual for the text.
    #[must_use]
    pub fn under(self, models: Vec<MemoryModel>) -> Self {
        Self { models, ..self }
    }

    /// Who answers [`check`](Self::check), in the place of the portfolio.
    #[must_use]
    pub fn engine(self, engine: &'static dyn Engine) -> Self {
        Self { engine, ..self }
    }

    /// The most that a buffer may hold, for searches that have such a bound.
    #[must_use]
    pub fn bound(self, bound: impl Into<Option<usize>>) -> Self {
        Self { bound: bound.into(), ..self }
    }

    /// The most reads that a process may have guessed at a time, for the models in which
    /// writes overtake reads.
    #[must_use]
    pub fn guesses(self, guesses: impl Into<Option<usize>>) -> Self {
        Self { guesses: guesses.into(), ..self }
    }

    /// The form of the semantics that the explicit engine searches, where a model has several
    /// ([`Form::word`]).
    #[must_use]
    pub fn form(self, form: impl Into<Option<&'static str>>) -> Self {
        Self { form: form.into(), ..self }
    }

    /// Keeps the closed levels of an explicit search in files in this folder. The files have no names,
    /// and are gone when the process ends.
    #[must_use]
    pub fn spill(self, folder: impl Into<Option<PathBuf>>) -> Self {
        Self { spill: folder.into(), ..self }
    }

    /// How far to look for a variable or register without a domain; may be given for several.
    #[must_use]
    pub fn domain(mut self, bound: Bound) -> Self {
        self.domains.push(bound);
        self
    }

    /// How much time and memory each question may take.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// A budget that all questions share, in the place of [limits](Self::limits) of each.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// How many clients call the methods of an object, for [`live`](Self::live); 2 by default.
    #[must_use]
    pub fn clients(self, clients: usize) -> Self {
        Self { clients, ..self }
    }

    /// What the players of [`games`](Self::games) have to observe; nothing by default.
    #[must_use]
    pub fn fairness(self, fairness: Fairness) -> Self {
        Self { games: GameOptions { fairness, ..self.games }, ..self }
    }

    /// What stands between processes and memory in [`games`](Self::games); store buffers by
    /// default.
    #[must_use]
    pub fn buffers(self, buffers: Buffers) -> Self {
        Self { games: GameOptions { buffers, ..self.games }, ..self }
    }

    /// Whether [`Report::proof`] is wanted: engines then keep what shows that a property holds.
    #[must_use]
    pub fn proofs(self, proofs: bool) -> Self {
        Self { proofs, ..self }
    }

    /// The options that messages may name; none by default.
    #[must_use]
    pub fn hints(self, hints: Hints) -> Self {
        Self { hints, ..self }
    }

    /// Answers a question. `tell` hears of each finding when it is there, and how far searches have got.
    ///
    /// # Errors
    /// If the text is no program, or the question cannot be asked of it.
    pub fn ask(&self, question: &dyn Question, tell: Listener<'_>) -> Result<Report, Error> {
        question.ask(self, tell)
    }

    /// Answers every property of the program.
    ///
    /// # Errors
    /// If the text is no program, has no property, or the engine does not decide the model.
    pub fn check(&self) -> Result<Report, Error> {
        self.ask(&Properties::default(), &|_| {})
    }

    /// Finds the final states of a program that ends: [`Listed`](crate::question::Listed).
    ///
    /// # Errors
    /// If the text is no program, or an object, which has no final states.
    pub fn outcomes(&self) -> Result<Report, Error> {
        self.ask(&FinalStates::default(), &|_| {})
    }

    /// Answers questions about infinite runs: the five progress properties of an object
    /// under most general clients, or what a program asks with `live`. A violated property has
    /// a run with a cycle.
    ///
    /// # Errors
    /// If the text is no program or asks nothing about infinite runs, or the model is
    /// neither SC nor TSO.
    pub fn live(&self) -> Result<Report, Error> {
        self.ask(&InfiniteRuns::default(), &|_| {})
    }

    /// Says who wins each game of the program, and how: [`Solved`](crate::question::Solved). Games are played
    /// under TSO.
    ///
    /// # Errors
    /// If the text is no program, has no game, or a game is not defined with this fairness and
    /// these buffers.
    pub fn games(&self) -> Result<Report, Error> {
        self.ask(&Games { options: self.games, ..Games::default() }, &|_| {})
    }

    /// Says whether the memory model adds anything to SC: [`Compared`](crate::question::Compared).
    ///
    /// # Errors
    /// If the text is no program or an object, or robustness is not decided for the model.
    pub fn robust(&self) -> Result<Report, Error> {
        self.ask(&Robustness, &|_| {})
    }

    /// Finds the least fences that repair the program: [`Repaired`](crate::question::Repaired).
    ///
    /// # Errors
    /// If the text is no program or has no property.
    pub fn fences(&self) -> Result<Report, Error> {
        self.ask(&Repair::default(), &|_| {})
    }

    /// Checks evidence, as [`Finding::file`](crate::Finding::file), [`Report::proof`] and the program `weir` give
    /// it, with code that shares no search with what found it.
    ///
    /// # Errors
    /// If the text is not a program, or the evidence is not evidence.
    pub fn certify(&self, evidence: &str) -> Result<Checked, Error> {
        let model = certify::model(evidence).unwrap_or(MemoryModel::SC);
        let reading = Reading { model, ..self.reading(false) };
        let loaded = Loaded::read(&self.name, &self.text, &reading)?;
        certify::certify(evidence, &loaded, self.budget().threads())
            .map_err(|error| Error::NotEvidence(format!("this is no evidence: {error}")))
    }

    /// The memory models.
    pub fn models(&self) -> Vec<MemoryModel> {
        match self.models.is_empty() {
            true => vec![usual_model(&self.name, &self.text, self.language)],
            false => self.models.clone(),
        }
    }

    /// The same for questions that only models of processors have: TSO unless others are named.
    pub(crate) fn for_processors(&self) -> Self {
        match self.models.is_empty() {
            true => self.clone().model(MemoryModel::TSO),
            false => self.clone(),
        }
    }

    /// Whether no memory model is named.
    pub(crate) fn is_under_usual_model(&self) -> bool {
        self.models.is_empty()
    }

    /// What reports call the text.
    pub fn name_of(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text_of(&self) -> &str {
        &self.text
    }

    /// The options that messages may name.
    pub fn hints_of(&self) -> Hints {
        self.hints
    }

    /// The bound on guesses, if there is one and reads are guessed.
    pub(crate) fn guesses_of(&self, model: MemoryModel) -> Option<usize> {
        self.guesses.filter(|_| model.guesses_reads())
    }

    /// How much time and memory there is from now on.
    pub fn budget(&self) -> Budget {
        self.budget.clone().unwrap_or_else(|| self.limits.budget())
    }

    /// How to search under a model.
    ///
    /// # Errors
    /// If the model has no form that was asked for.
    pub fn options(&self, model: MemoryModel) -> Result<SearchOptions, Error> {
        let form = match self.form {
            None => None,
            Some(word) => {
                let form = Form::of(model).into_iter().find(|form| form.word() == word);
                Some(form.ok_or(Refusal::OtherForm(model, word))?)
            }
        };
        let (bound, guesses, budget) = (self.bound, self.guesses, self.budget());
        let spill = self.spill.clone();
        Ok(SearchOptions { bound, guesses, form, spill, budget, certificate: self.proofs })
    }

    /// Who answers questions about states under a model, and how.
    ///
    /// # Errors
    /// If the engine cannot be asked about the model, or has no proofs although they are wanted.
    pub fn search(
        &self,
        model: MemoryModel,
    ) -> Result<(&'static dyn Engine, SearchOptions), Error> {
        let options = self.options(model)?;
        self.engine.accepts(model, &options)?;
        if self.proofs {
            has_proofs(self.engine, model)?;
        }
        Ok((self.engine, options))
    }

    /// That there are no bounds on domains.
    ///
    /// # Errors
    /// If there are. `what` begins the message: `a game takes`.
    pub(crate) fn without_bounds(&self, what: &'static str) -> Result<(), Error> {
        match self.domains.is_empty() {
            true => Ok(()),
            false => Err(Error::Bounded(what)),
        }
    }

    /// How the text is read, for questions about all models but that of languages, if there are others.
    pub fn reading(&self, observing: bool) -> Reading {
        let models = self.models();
        let others = || models.iter().copied().filter(|m| *m != MemoryModel::C11);
        let model = others().find(|m| m.guesses_reads()).or_else(|| others().next());
        Reading {
            language: self.language,
            bounds: self.domains.clone(),
            observing,
            model: model.unwrap_or(MemoryModel::C11),
            budget: self.budget(),
            hints: self.hints,
            settings: self.settings.clone(),
        }
    }

    /// The program, and the limit that was reached before it had a system, if that is all that
    /// is known of it and the program asks something.
    pub(crate) fn load(
        &self,
        observing: bool,
        asks: impl Fn(&Program) -> bool,
    ) -> Result<(Loaded, Option<String>), Error> {
        unbuilt(Loaded::read(&self.name, &self.text, &self.reading(observing)), asks)
    }

    /// The same for questions about one of its models: that of languages has a system of its own.
    pub(crate) fn load_for(
        &self,
        model: MemoryModel,
        observing: bool,
        asks: impl Fn(&Program) -> bool,
    ) -> Result<(Loaded, Option<String>), Error> {
        let reading = match model {
            MemoryModel::C11 => Reading { model, ..self.reading(observing) },
            _ => self.reading(observing),
        };
        unbuilt(Loaded::read(&self.name, &self.text, &reading), asks)
    }

    /// The program with its clients, for questions about infinite runs.
    pub(crate) fn load_running(
        &self,
        asks: impl Fn(&Program) -> bool,
    ) -> Result<(Loaded, Option<String>), Error> {
        let how = (self.language, &self.settings);
        unbuilt(Loaded::running(&self.name, &self.text, how, self.clients, &self.budget()), asks)
    }
}

fn unbuilt(
    loaded: Result<Loaded, LoadError>,
    asks: impl Fn(&Program) -> bool,
) -> Result<(Loaded, Option<String>), Error> {
    match loaded {
        Ok(loaded) => Ok((loaded, None)),
        Err(error) => {
            let (loaded, reason) = error.into_unbuilt(asks)?;
            Ok((loaded, Some(reason)))
        }
    }
}
