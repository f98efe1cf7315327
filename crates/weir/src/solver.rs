//! Asking engines: all questions of a system, or its final states.

use std::sync::{Mutex, PoisonError};

use weir_check::Witness;
use weir_engine::explicit::{self, Outcomes};
use weir_engine::{Engine, Explicit, Progress, SearchOptions, Sink, Stats, Task};
use weir_front::suggest::closest;
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::{QuestionId, SpanId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, BinOp, Expr, Formula, Property, PropertyKind, Quantifier};
use weir_model::question::{Kind, Question};
use weir_model::system::System;

use crate::certify::Unaccepted;
use crate::engines::ENGINES;
use crate::error::Error;
use crate::load::Loaded;
use crate::report::scene::Scene;

/// Answers every question of a system under a model: there is one answer for each, in their
/// order.
///
/// # Errors
/// If the program has no property, or the checker rejects a run.
pub fn check(
    system: &System,
    model: MemoryModel,
    options: &SearchOptions,
) -> Result<(Vec<Answer>, Stats), Error> {
    check_with(ENGINES[0], Task::new(system, model, options), &mut |_| {})
}

/// Has an engine answer. Every run is one that its checker accepts.
///
/// # Errors
/// If the program has no property, the engine cannot be asked, or the checker rejects a run.
pub fn check_with(
    engine: &dyn Engine,
    task: Task<'_>,
    progress: Progress<'_>,
) -> Result<(Vec<Answer>, Stats), Error> {
    let all: Vec<usize> = (0..task.questions.len()).collect();
    check_some(engine, task, &all, None, progress)
}

/// Has an engine answer some of the questions of a system, named by their places in it, and hands
/// over each answer when it is there: `settled` is told while other questions are open,
/// maybe more than once of one. Every run, handed over or returned, is one that its checker accepts.
///
/// # Errors
/// If the program has no property, the engine cannot be asked, or the checker rejects a run.
pub fn check_some(
    engine: &dyn Engine,
    task: Task<'_>,
    chosen: &[usize],
    settled: Option<&(dyn Fn(&Answer) + Sync)>,
    progress: Progress<'_>,
) -> Result<(Vec<Answer>, Stats), Error> {
    let program = &task.system.program;
    if let Some(error) = Error::no_property(&program.name, task.system) {
        return Err(error);
    }
    let questions: Vec<Question> = chosen.iter().map(|&i| task.questions[i].clone()).collect();
    // An answer to a question by its place among all of them.
    let of_all = |answer: &Answer| Answer {
        property: QuestionId::new(chosen[answer.property.index()]),
        ..answer.clone()
    };
    let rejected = Mutex::new(None);
    let accept = |answer: &Answer| {
        let mut answer = of_all(answer);
        match accept_run(task.system, &mut answer) {
            Ok(()) if !answer.is_known() => {}
            Ok(()) => settled.into_iter().for_each(|settled| settled(&answer)),
            Err(error) => {
                let mut rejected = rejected.lock().unwrap_or_else(PoisonError::into_inner);
                rejected.get_or_insert(error);
            }
        }
    };
    let sink = if settled.is_some() { Sink::new(&accept) } else { Sink::NONE };
    let asked = Task { questions: &questions, settled: sink, ..task };
    let found = engine.check(asked, progress);
    if let Some(error) = rejected.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (answers, stats) = found?;
    if let Some(what) = &stats.contradiction {
        return Err(Error::Contradiction(what.clone()));
    }
    let mut answers: Vec<Answer> = answers.iter().map(of_all).collect();
    for answer in &mut answers {
        accept_run(task.system, answer)?;
    }
    Ok((answers, stats))
}

/// The places of the questions with these names, and of the one about bounds, on which all answers
/// depend; of all questions if there are no names.
///
/// # Errors
/// If no question has such a name. The message suggests one.
pub fn chosen(system: &System, names: &[String]) -> Result<Vec<usize>, String> {
    let all = || system.questions.iter().enumerate();
    for name in names {
        if !all().any(|(_, question)| question.name == *name) {
            return Err(no_such_property(name, all().map(|(_, question)| question.name.as_str())));
        }
    }
    let is_chosen = |question: &Question| match &question.kind {
        _ if names.is_empty() || names.contains(&question.name) => true,
        Kind::Bounds | Kind::Races => true,
        Kind::Valued { .. } => names.iter().any(|name| question.name == format!("value of {name}")),
        _ => false,
    };
    Ok(all().filter(|(_, question)| is_chosen(question)).map(|(i, _)| i).collect())
}

/// That there is no property of this name, and which one may be meant.
pub fn no_such_property<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let names: Vec<String> = known.clone().map(|name| format!("`{name}`")).collect();
    match closest(name, known) {
        Some(meant) => format!("there is no property `{name}`; did you mean `{meant}`?"),
        None if names.is_empty() => format!("there is no property `{name}`"),
        None => format!("there is no property `{name}`; there is {}", names.join(", ")),
    }
}

/// Checks the run of an answer, if it rests on one. Without a run that its checker accepts there is
/// no answer: one that is too large to be checked becomes unknown.
pub(crate) fn accept_run(system: &System, answer: &mut Answer) -> Result<(), Error> {
    let Evidence::Run(run) = &answer.evidence else { return Ok(()) };
    let witness = Witness::new(system, run, answer.property, &|_| 0);
    let Err(why) = weir_check::check(system, &witness) else { return Ok(()) };
    let unaccepted = Unaccepted { what: weir_check::Evidence::what(&witness), why };
    if !unaccepted.why.is_unchecked() {
        return Err(Error::Internal(unaccepted));
    }
    *answer = Answer::unknown(answer.property, unaccepted);
    Ok(())
}

/// Finds all final states of a system under a model.
///
/// # Errors
/// If the program is an object, which has no final states.
pub fn outcomes(
    system: &System,
    model: MemoryModel,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<Outcomes, Error> {
    let program = &system.program;
    match program.object.as_ref().and_then(|_| Error::asks_live(&program.name, program)) {
        Some(error) => Err(error),
        None => Ok(explicit::outcomes(Task::new(system, model, options), progress)?),
    }
}

/// A run to each of the first final states of a program, state by state: at most so many, in the
/// order of `found`. A state to which no run was found within the limits has none.
///
/// # Errors
/// If the checker rejects a run.
pub fn runs_to(
    loaded: &Loaded,
    model: MemoryModel,
    found: &Outcomes,
    most: usize,
    options: &SearchOptions,
) -> Result<Vec<Option<Scene>>, Error> {
    let mut program = loaded.system.program.clone();
    let is = |atom: Atom, value: i128| {
        Expr::Binary(BinOp::Eq, Box::new(Expr::Atom(atom)), Box::new(Expr::Const(value)))
    };
    let both = |a: Formula, b: Formula| Expr::Binary(BinOp::And, Box::new(a), Box::new(b));
    let state = |(values, _): &(Vec<i128>, bool)| {
        let all = found.atoms.iter().zip(values).map(|(atom, value)| is(*atom, *value));
        Property {
            name: None,
            kind: PropertyKind::Final(
                Quantifier::Exists,
                all.reduce(both).unwrap_or(Expr::Const(1)),
            ),
            span: SpanId::NONE,
        }
    };
    program.properties = found.states.iter().take(most).map(state).collect();
    let count = program.properties.len();
    program.observed = Some(found.atoms.clone());
    let mut runs: Vec<Option<Scene>> = vec![None; count];
    let Ok(system) = System::for_model_within(program, model, &options.budget) else {
        return Ok(runs);
    };
    if count == 0 {
        return Ok(runs);
    }
    let asking = Loaded { source: loaded.source.clone(), system };
    let task = Task::new(&asking.system, model, options);
    let (answers, _) = check_with(&Explicit, task, &mut |_| {})?;
    for answer in &answers {
        if let (Some(run), Evidence::Run(found)) =
            (runs.get_mut(answer.property.index()), &answer.evidence)
        {
            *run = Some(Scene::new(&asking, found, None));
        }
    }
    Ok(runs)
}
