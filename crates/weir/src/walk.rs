//! A walk through the states of a program, step by step: what a person picks, or chance.
//!
//! A walk is a run of the semantics that engines search, without any reduction: every step of the
//! memory model is one that can be picked.

use weir_engine::{Engine, SearchOptions, Stats, Task, explicit};
use weir_model::answer::{Answer, Evidence, Run, Snapshot};
use weir_model::ids::{Cell, QuestionId};
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Form, Semantics, Step};
use weir_model::system::System;

use crate::error::Error;
use crate::load::Loaded;
use crate::report::run::words;
use crate::solver::accept_run;

/// The default bound on buffers.
pub const BOUND: usize = 1000;

/// A step that can be taken.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The name of the process.
    pub process: String,
    /// The line of the statement, from 1; none for a step of the memory.
    pub line: Option<usize>,
    /// What the step does, in a few words.
    pub text: String,
    step: Step,
    config: Vec<Cell>,
}

/// A run that is being made.
pub struct Walk<'l> {
    loaded: &'l Loaded,
    model: MemoryModel,
    form: Form,
    bound: usize,
    semantics: Box<dyn Semantics + 'l>,
    /// The configurations: before the first step, and after each.
    configs: Vec<Vec<Cell>>,
    steps: Vec<Step>,
}

impl<'l> Walk<'l> {
    /// A walk that begins in the first initial state, in the form of the semantics that the
    /// options name, or else the first one of the model. No buffer grows past the bound.
    ///
    /// # Errors
    /// If a limit is reached before all values are known that reads may guess.
    ///
    /// # Panics
    /// Never: a system has an initial state.
    pub fn new(
        loaded: &'l Loaded,
        model: MemoryModel,
        bound: usize,
        options: &SearchOptions,
    ) -> Result<Self, Stop> {
        let forms = Form::of_system(&loaded.system, model);
        let form = options.form.unwrap_or(forms[0]);
        if form.guesses() {
            loaded.system.expanded(&options.budget)?;
        }
        let semantics = form.semantics(&loaded.system, model, bound);
        let first = semantics.initial().next().expect("a system has an initial state");
        Ok(Self { loaded, model, form, bound, semantics, configs: vec![first], steps: vec![] })
    }

    fn system(&self) -> &'l System {
        &self.loaded.system
    }

    fn config(&self) -> &[Cell] {
        self.configs.last().expect("there is the first one")
    }

    /// How many steps have been taken.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether no step has been taken.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The form of the semantics.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The most that a buffer holds.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Begins again in the initial state with this number, from 0, if there is one.
    pub fn begin(&mut self, number: usize) -> bool {
        let found = self.semantics.initial().nth(number);
        if let Some(config) = &found {
            self.configs = vec![config.clone()];
            self.steps.clear();
        }
        found.is_some()
    }

    /// How many initial states there are; counted up to `most`.
    pub fn beginnings(&self, most: usize) -> usize {
        self.system().initial_memories().take(most).count()
    }

    /// The steps that can be taken, and whether one is missing because a buffer is full.
    pub fn choices(&self) -> (Vec<Choice>, bool) {
        let system = self.system();
        let mut choices = Vec::new();
        let is_complete =
            self.semantics.successors(self.config(), &mut Vec::new(), &mut |step, config| {
                let taken = step.transition.map(|t| system.transition(step.process, t));
                choices.push(Choice {
                    process: system.processes[step.process.index()].name.clone(),
                    line: taken.and_then(|t| self.loaded.line_of(t.span)),
                    text: words::action(system, &step),
                    step,
                    config: config.to_vec(),
                });
            });
        (choices, !is_complete)
    }

    /// Takes a step, one of the present choices.
    pub fn take(&mut self, choice: Choice) {
        self.steps.push(choice.step);
        self.configs.push(choice.config);
    }

    /// Takes back all steps after the first so many.
    pub fn back(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.configs.truncate(steps + 1);
    }

    /// The walk as a run.
    pub fn run(&self) -> Run {
        Run {
            model: self.model,
            form: self.form,
            bound: self.bound,
            start: Snapshot::new(&*self.semantics, &self.configs[0]),
            steps: self.steps.clone(),
        }
    }

    /// The questions that the present state settles, by their numbers.
    pub fn settled(&self) -> Vec<usize> {
        let questions = self.system().questions.iter().enumerate();
        let settles = |question| explicit::settles(&*self.semantics, self.config(), question);
        questions.filter(|(_, question)| settles(question)).map(|(number, _)| number).collect()
    }

    /// Searches for a run that settles a question, and walks it if there is one. The answer is about
    /// all runs from the initial states.
    ///
    /// # Errors
    /// If the engine cannot be asked, or the checker rejects the run.
    pub fn go(
        &mut self,
        question: usize,
        engine: &dyn Engine,
        options: &SearchOptions,
    ) -> Result<(Answer, Stats), Error> {
        let system = self.system();
        let questions = &system.questions[question..=question];
        let task = Task { questions, ..Task::new(system, self.model, options) };
        let (answers, stats) = engine.check(task, &mut |_| {})?;
        let found = answers.into_iter().next();
        let id = QuestionId::new(question);
        let answer = found.unwrap_or_else(|| Answer::unknown(id, "nothing was answered"));
        let mut answer = Answer { property: id, ..answer };
        accept_run(system, &mut answer)?;
        if let Evidence::Run(run) = &answer.evidence {
            self.follow(run);
        }
        Ok((answer, stats))
    }

    /// Walks a run. If it has a smaller bound and needs it, that is the bound from now on: past
    /// a bound, a history is shortened.
    fn follow(&mut self, run: &Run) {
        for bound in [self.bound.max(run.bound), run.bound] {
            let semantics = run.form.semantics(self.system(), run.model, bound);
            let mut config = semantics.initial_with(&run.start.memory);
            let mut configs = vec![config.clone()];
            let is_possible = run.steps.iter().all(|step| {
                let taken = semantics.take(&mut config, &|s| s == step);
                configs.push(config.clone());
                taken.is_some()
            });
            let end = Snapshot::new(&*semantics, &config);
            let expected = || run.end(self.system());
            if is_possible && (bound == run.bound || end == expected()) {
                let (form, steps) = (run.form, run.steps.clone());
                (self.form, self.bound, self.semantics) = (form, bound, semantics);
                (self.configs, self.steps) = (configs, steps);
                return;
            }
        }
    }
}
