//! The one way to ask: a text, how to read it, and a question.

use std::collections::BTreeMap;
use std::ops::Range;

use weir_check::strategy::StrategyFile;
use weir_check::{Evidence as _, Witness};
use weir_engine::{Engine, SearchOptions, Stats, Task};
use weir_front::{Language, Settings};
use weir_live::Evidence as LiveEvidence;
use weir_model::answer::{Answer as EngineAnswer, Evidence, Verdict};
use weir_model::game::{Buffers, Fairness, NoGame, Player};
use weir_model::limits::{Budget, Limits};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Objective, Program};

use crate::bounds::Bound;
use crate::certify::{self, Checked, accepted};
use crate::engines::ENGINES;
use crate::error::Error;
use crate::hints::Hints;
use crate::live;
use crate::load::{LoadError, Loaded, Reading};
use crate::report::run::{Layout, lasso_lines, lines};
use crate::report::{json, strategy};
use crate::solver::{self, CheckError};
use crate::trace::Run;
use crate::vacuity::vacuous;

/// The clients of an object if nobody says how many.
const CLIENTS: usize = 2;

/// Asks about one program. Settings come first, a question last:
///
/// | question | about |
/// | --- | --- |
/// | [`check`](Self::check) | the properties of the program |
/// | [`outcomes`](Self::outcomes) | the final states of a program that ends |
/// | [`live`](Self::live) | runs without end: progress of objects, termination of programs |
/// | [`games`](Self::games) | who wins the games between the program and its memory |
/// | [`certify`](Self::certify) | whether evidence shows what it says |
///
/// The memory model is TSO unless another one is named, and [`Limits`] are the default ones.
#[derive(Clone, Debug)]
pub struct Verifier {
    text: String,
    name: String,
    language: Option<&'static Language>,
    settings: Settings,
    model: MemoryModel,
    engine: &'static dyn Engine,
    bound: Option<usize>,
    guesses: Option<usize>,
    domains: Vec<Bound>,
    limits: Limits,
    clients: usize,
    fairness: Fairness,
    buffers: Buffers,
}

/// The answers to questions about one program under one memory model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The name of the program.
    pub program: String,
    /// The memory model.
    pub model: MemoryModel,
    /// One answer for each property, in the order of the program.
    pub answers: Vec<Answer>,
}

/// The answer to one property.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What the property is called.
    pub name: String,
    /// The line of the property, from 1; none for a progress property, which no text has.
    pub line: Option<usize>,
    /// The range of bytes of the property in the text; none if it has no line.
    pub span: Option<Range<usize>>,
    /// What became of it.
    pub verdict: Verdict,
    /// `allowed` or `forbidden`, if a final state is looked for: either is as good.
    pub outcome: Option<&'static str>,
    /// Why it is unknown, if it is.
    pub reason: Option<String>,
    /// Why the answer says little, if it is true only because nothing happens.
    pub vacuous: Option<String>,
    /// The run that shows it: how a property is violated, or how what is asked for happens.
    pub run: Option<Run>,
    /// The same run as a file, for [`Verifier::certify`] and `weir certify`.
    pub witness: Option<String>,
}

/// The final states of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcomes {
    /// The final states: the value of each variable and register that is observed, as a
    /// person writes it.
    pub states: Vec<BTreeMap<String, String>>,
    /// Whether these are all.
    pub complete: bool,
    /// Why they may not be all, if a limit was reached.
    pub reason: Option<String>,
}

/// Who wins a game.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Game {
    /// What it is called.
    pub name: String,
    /// Whether the process player wants to reach a target, or to avoid it.
    pub objective: Objective,
    /// Its line, from 1.
    pub line: usize,
    /// Its range of bytes in the text.
    pub span: Range<usize>,
    /// Who wins; none if it is unknown.
    pub winner: Option<Player>,
    /// Why, in words.
    pub argument: String,
    /// How the winner plays, position by position, with names instead of ids.
    pub strategy: Option<StrategyFile>,
    /// The same as the lines of a table.
    pub table: Vec<String>,
}

impl Report {
    /// Whether every property holds.
    pub fn holds(&self) -> bool {
        self.answers.iter().all(|answer| answer.verdict == Verdict::Holds)
    }

    /// The answer to the property with this name.
    pub fn answer(&self, name: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.name == name)
    }
}

impl Verifier {
    /// Asks about a text, in Weir's language or another that its beginning tells.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            name: "program".to_owned(),
            language: None,
            settings: Settings::default(),
            model: MemoryModel::TSO,
            engine: ENGINES[0],
            bound: None,
            guesses: None,
            domains: Vec::new(),
            limits: Limits::default(),
            clients: CLIENTS,
            fairness: Fairness::None,
            buffers: Buffers::Store,
        }
    }

    /// Asks about a file, whose name tells the language.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn from_file(name: &str) -> Result<Self, Error> {
        Ok(Self::new(crate::load::read_text(name)?).name(name))
    }

    /// What reports call the text. Its ending (`.weir`, `.litmus`, `.pml`, `.rmm`) tells the
    /// language.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The language of the text.
    #[must_use]
    pub fn language(self, language: &'static Language) -> Self {
        Self { language: Some(language), ..self }
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
        Self { model, ..self }
    }

    /// Who answers [`check`](Self::check), in the place of the portfolio.
    #[must_use]
    pub fn engine(self, engine: &'static dyn Engine) -> Self {
        Self { engine, ..self }
    }

    /// The most that a buffer may hold, for searches that have such a bound.
    #[must_use]
    pub fn bound(self, bound: usize) -> Self {
        Self { bound: Some(bound), ..self }
    }

    /// The most reads that a process may have guessed at a time, for the models in which
    /// writes overtake reads.
    #[must_use]
    pub fn guesses(self, guesses: usize) -> Self {
        Self { guesses: Some(guesses), ..self }
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

    /// How many clients call the methods of an object, for [`live`](Self::live); 2 by default.
    #[must_use]
    pub fn clients(self, clients: usize) -> Self {
        Self { clients, ..self }
    }

    /// What the players of [`games`](Self::games) have to observe; nothing by default.
    #[must_use]
    pub fn fairness(self, fairness: Fairness) -> Self {
        Self { fairness, ..self }
    }

    /// What stands between processes and memory in [`games`](Self::games); store buffers by
    /// default.
    #[must_use]
    pub fn buffers(self, buffers: Buffers) -> Self {
        Self { buffers, ..self }
    }

    /// Answers every property of the program.
    ///
    /// # Errors
    /// If the text is no program, has no property, or the engine does not decide the model.
    pub fn check(&self) -> Result<Report, Error> {
        let search = self.search_options();
        self.engine.accepts(self.model, &search).map_err(CheckError::from)?;
        let (loaded, stopped) =
            self.load(false, &search.budget, |program| !program.properties.is_empty())?;
        let program = &loaded.system.program;
        if let Some(error) = CheckError::no_property(&self.name, &loaded.system) {
            return Err(error.into());
        }
        let task = Task::new(&loaded.system, self.model, &search);
        let (answers, said_little) = match stopped {
            Some(reason) => {
                let answers = task.unknown(&reason);
                let nothing = vec![None; answers.len()];
                (answers, nothing)
            }
            None => {
                let (answers, stats) = solver::check_with(self.engine, task, &mut |_| {})?;
                let said_little = vacuous(task, &answers, &stats, &|span| loaded.line(span));
                (answers, said_little)
            }
        };
        let answers = answers.iter().zip(said_little);
        let answers = answers.map(|(answer, vacuous)| named(&loaded, answer, vacuous)).collect();
        Ok(Report { program: program.name.clone(), model: self.model, answers })
    }

    /// Finds the final states of a program that ends.
    ///
    /// # Errors
    /// If the text is no program, or an object, which has no final states.
    pub fn outcomes(&self) -> Result<Outcomes, Error> {
        let search = self.search_options();
        let (loaded, stopped) = self.load(true, &search.budget, |p| p.object.is_none())?;
        if let Some(reason) = stopped {
            return Ok(Outcomes { states: vec![], complete: false, reason: Some(reason) });
        }
        let found = solver::outcomes(&loaded.system, self.model, &search, &mut |_| {})?;
        let state = |(values, _): &(Vec<i128>, bool)| {
            let cells = found.atoms.iter().zip(values);
            cells
                .map(|(a, v)| (loaded.system.atom_name(*a), json::show_value(&loaded, *a, *v)))
                .collect()
        };
        Ok(Outcomes {
            states: found.states.iter().map(state).collect(),
            complete: found.stats.is_exact(),
            reason: found.stats.stopped.clone(),
        })
    }

    /// Answers questions about runs without end: the five progress properties of an object
    /// under most general clients, or what a program asks with `live`. A violated property has
    /// a run with a cycle.
    ///
    /// # Errors
    /// If the text is no program or asks nothing about runs without end, or the model is
    /// neither SC nor TSO.
    pub fn live(&self) -> Result<Report, Error> {
        if !weir_live::is_supported(self.model) {
            return Err(Error::unsupported(format!(
                "runs without end are asked about under SC and TSO, not {}",
                self.model
            )));
        }
        self.no_domains("a question about runs without end")?;
        let search = self.search_options();
        let loaded = Loaded::running(
            &self.name,
            &self.text,
            (self.language, &self.settings),
            self.clients,
            &search.budget,
        );
        let (loaded, stopped) = unbuilt(loaded, |program| !live::asked(program, &[]).is_empty())?;
        let program = &loaded.system.program;
        let asked = live::asked(program, &[]);
        if asked.is_empty() {
            return Err(Error::unsupported(format!(
                "`{}` has no `live` property; add `live terminates`, or check it",
                self.name
            )));
        }
        let (model, engine) = (self.model, ENGINES[0]);
        let options = weir_live::Options { model, flush_fair: false, engine, search };
        let found = match stopped {
            Some(reason) => {
                let evidence = LiveEvidence::Reason(reason);
                let unknown = weir_live::Answer { verdict: Verdict::Unknown, evidence };
                vec![unknown; asked.len()]
            }
            None => live::answers(&loaded, &asked, &options)?,
        };
        let answers = asked.iter().zip(found).enumerate().map(|(i, (asked, found))| {
            let (mut reason, mut run, mut witness) = (None, None, None);
            match &found.evidence {
                LiveEvidence::Lasso(lasso) => {
                    reason = live::ending(&loaded, asked, lasso);
                    let shown = lasso_lines(&loaded, lasso, reason.as_deref(), Layout::default());
                    run = Some(Run::new(&loaded, &lasso.run, lasso.cycle(), &shown));
                    let file = live::lasso_file(&loaded, asked, lasso, options.flush_fair);
                    witness = Some(file.to_json());
                }
                LiveEvidence::Reason(why) => reason = Some(why.clone()),
                _ => {}
            }
            let line = program.live.get(i).filter(|_| program.object.is_none());
            Answer {
                name: asked.name.clone(),
                line: line.map(|live| loaded.line(live.span)),
                span: line.map(|live| loaded.source.range(live.span)),
                verdict: found.verdict,
                outcome: None,
                reason,
                vacuous: None,
                run,
                witness,
            }
        });
        let answers = answers.collect();
        Ok(Report { program: program.name.clone(), model: self.model, answers })
    }

    /// Says who wins each game of the program, and how. Games are played under TSO.
    ///
    /// # Errors
    /// If the text is no program, has no game, or a game is not defined with this fairness and
    /// these buffers.
    pub fn games(&self) -> Result<Vec<Game>, Error> {
        self.no_domains("a game")?;
        let search = self.search_options();
        let (loaded, stopped) =
            self.load(false, &search.budget, |program| !program.games.is_empty())?;
        let program = &loaded.system.program;
        if program.games.is_empty() {
            return Err(Error::unsupported(format!(
                "`{}` has no game; add one, such as `game reach p@there`",
                self.name
            )));
        }
        let options = weir_game::Options { fairness: self.fairness, buffers: self.buffers };
        let game = |(i, game): (usize, &weir_model::program::Game)| {
            let outcome = match &stopped {
                Some(reason) => weir_game::Outcome {
                    winner: None,
                    argument: reason.clone(),
                    strategy: None,
                    stats: Stats::default(),
                },
                None => weir_game::solve(&loaded.system, i, &options, &search, &mut |_| {})
                    .map_err(|NoGame { message, .. }| Error::unsupported(message))?,
            };
            let how = (self.fairness, self.buffers);
            let found = outcome.winner.zip(outcome.strategy.as_ref());
            Ok(Game {
                name: loaded.system.game_name(i),
                objective: game.objective,
                line: loaded.line(game.span),
                span: loaded.source.range(game.span),
                winner: outcome.winner,
                argument: outcome.argument,
                strategy: found
                    .map(|(winner, strategy)| {
                        let file = StrategyFile::new(&loaded.system, i, how, winner, strategy);
                        accepted(file, &loaded, self.limits.threads.get())
                    })
                    .transpose()?,
                table: found.map_or_else(Vec::new, |(_, found)| strategy::lines(&loaded, found)),
            })
        };
        program.games.iter().enumerate().map(game).collect()
    }

    /// Checks evidence, as [`check`](Self::check), [`live`](Self::live) and the program `weir`
    /// write it, with code that shares no search with what found it.
    ///
    /// # Errors
    /// If the text is no program, or the evidence is none.
    pub fn certify(&self, evidence: &str) -> Result<Checked, Error> {
        let model = certify::model(evidence).unwrap_or(MemoryModel::SC);
        let loaded = Self { model, ..self.clone() }.loaded(false, &self.limits.budget())?;
        certify::certify(evidence, &loaded, self.limits.threads.get())
            .map_err(|error| Error::unsupported(format!("this is no evidence: {error}")))
    }

    fn search_options(&self) -> SearchOptions {
        SearchOptions {
            bound: self.bound,
            guesses: self.guesses,
            budget: self.limits.budget(),
            form: None,
            certificate: false,
        }
    }

    fn no_domains(&self, what: &str) -> Result<(), Error> {
        match self.domains.is_empty() {
            true => Ok(()),
            false => Err(Error::unsupported(format!(
                "{what} takes no bounds on domains: how a program goes on beyond a bound is not \
                 known; declare the domains in the program"
            ))),
        }
    }

    fn loaded(&self, observing: bool, budget: &Budget) -> Result<Loaded, LoadError> {
        let reading = Reading {
            language: self.language,
            bounds: self.domains.clone(),
            observing,
            model: self.model,
            budget: budget.clone(),
            hints: Hints::default(),
            settings: self.settings.clone(),
        };
        Loaded::read(&self.name, &self.text, &reading)
    }

    /// The program, and the limit that was reached before it had a system, if that is all that
    /// is known of it.
    fn load(
        &self,
        observing: bool,
        budget: &Budget,
        asks: impl Fn(&Program) -> bool,
    ) -> Result<(Loaded, Option<String>), Error> {
        unbuilt(self.loaded(observing, budget), asks)
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

/// An answer with names.
fn named(loaded: &Loaded, answer: &EngineAnswer, vacuous: Option<String>) -> Answer {
    let system = &loaded.system;
    let question = &system.questions[answer.property];
    let mut named = Answer {
        name: question.name.clone(),
        line: Some(loaded.line(question.span)),
        span: Some(loaded.source.range(question.span)),
        verdict: answer.verdict,
        outcome: question.outcome(answer.verdict),
        reason: None,
        vacuous,
        run: None,
        witness: None,
    };
    match &answer.evidence {
        Evidence::Run(run) => {
            let line = |span| loaded.line(span);
            let witness = Witness::new(system, run, answer.property, &line);
            let shown = lines(loaded, run, answer.property, Layout::default());
            named.run = Some(Run::new(loaded, run, None, &shown));
            named.witness = Some(witness.to_json());
        }
        Evidence::Reason(reason) => named.reason = Some(reason.clone()),
        _ => {}
    }
    named
}
