//! Questions about runs without end: what a program asks, and lassos that their checker accepts.

use std::collections::BTreeMap;

use weir_check::lasso::{self, Asked};
use weir_check::live_set::LiveSet;
use weir_check::ltl::is_checked;
use weir_check::unblocked::Unblocked;
use weir_engine::reachable;
use weir_live::fold;
use weir_live::graph::Extent;
use weir_live::{Answer, Evidence, Lasso, Options, Progress, Question};
use weir_model::answer::Verdict;
use weir_model::program::{LiveKind, Program};

use crate::certify::{Unaccepted, accepted};
use crate::load::Loaded;

/// Something that is asked.
#[derive(Clone, Debug)]
pub struct AskedFor<'p> {
    /// What it is called.
    pub name: String,
    /// What is asked.
    pub question: Question<'p>,
    /// How a file of evidence names it.
    pub file: Asked,
}

/// What is asked of a program: of an object the chosen progress properties, all if none is
/// chosen; of processes what their program asks with `live`.
pub fn asked<'p>(program: &'p Program, chosen: &[Progress]) -> Vec<AskedFor<'p>> {
    if program.object.is_none() {
        let live = program.live.iter().enumerate();
        return live
            .map(|(i, live)| AskedFor {
                name: program.live_name(i),
                question: Question::Live(&live.kind),
                file: Asked::Live(i),
            })
            .collect();
    }
    let all = Progress::ALL.into_iter();
    all.filter(|p| chosen.is_empty() || chosen.contains(p))
        .map(|p| AskedFor {
            name: p.name().to_owned(),
            question: Question::Progress(p),
            file: Asked::Progress(p.name().to_owned()),
        })
        .collect()
}

/// Answers what is asked. Every lasso is one that its checker accepts. A lasso that was found for
/// one question is tried on all others that are open, and so is one against
/// obstruction-freedom, which is decidable, if that is not among what is asked.
///
/// # Errors
/// If the checker rejects a lasso.
pub fn answers(
    loaded: &Loaded,
    asked: &[AskedFor<'_>],
    options: &Options,
) -> Result<Vec<Answer>, Unaccepted> {
    answers_with(loaded, asked, options, &mut |_, _| {})
}

/// As [`answers`], and hands over each answer when it is there, by its place: `settled` is told
/// while other questions are open. Every lasso, handed over or returned, is one that its checker
/// accepts.
///
/// # Errors
/// If the checker rejects a lasso.
pub fn answers_with(
    loaded: &Loaded,
    asked: &[AskedFor<'_>],
    options: &Options,
    settled: &mut dyn FnMut(usize, &Answer),
) -> Result<Vec<Answer>, Unaccepted> {
    let questions: Vec<Question<'_>> = asked.iter().map(|a| a.question).collect();
    let mut tell = |i: usize, answer: &Answer| {
        let file = |lasso| lasso_file(loaded, &asked[i], lasso, options.flush_fair);
        let threads = options.search.budget.threads();
        // What is rejected is an error in the end.
        if lasso_of(answer).is_none_or(|lasso| accepted(file(lasso), loaded, threads).is_ok()) {
            settled(i, answer);
        }
    };
    let mut answers = weir_live::answers_with(&loaded.system, &questions, options, &mut tell);
    for (asked, answer) in asked.iter().zip(&answers) {
        let Evidence::Lasso(lasso) = &answer.evidence else { continue };
        let file = lasso_file(loaded, asked, lasso, options.flush_fair);
        accepted(file, loaded, options.search.budget.threads())?;
    }
    let lassos: Vec<Lasso> = answers.iter().filter_map(lasso_of).cloned().collect();
    for lasso in &lassos {
        try_on_open(loaded, asked, &mut answers, lasso, options);
    }
    let alone = Question::Progress(Progress::ObstructionFree);
    let is_open = answers.iter().any(|a| a.verdict == Verdict::Unknown);
    let asks_progress = questions.iter().any(|q| matches!(q, Question::Progress(_)));
    if is_open && asks_progress && !questions.contains(&alone) {
        let found = weir_live::answers(&loaded.system, &[alone], options);
        if let Some(lasso) = found.first().and_then(lasso_of) {
            try_on_open(loaded, asked, &mut answers, lasso, options);
        }
    }
    Ok(answers)
}

fn lasso_of(answer: &Answer) -> Option<&Lasso> {
    match &answer.evidence {
        Evidence::Lasso(lasso) => Some(lasso),
        _ => None,
    }
}

/// Answers each open question that a lasso settles, by the definition that its checker has.
fn try_on_open(
    loaded: &Loaded,
    asked: &[AskedFor<'_>],
    answers: &mut [Answer],
    lasso: &Lasso,
    options: &Options,
) {
    let open = asked.iter().zip(answers).filter(|(_, a)| a.verdict == Verdict::Unknown);
    for (asked, answer) in open {
        let file = lasso_file(loaded, asked, lasso, options.flush_fair);
        if accepted(file, loaded, options.search.budget.threads()).is_ok() {
            *answer = Answer::by_lasso(asked.question, lasso.clone());
        }
    }
}

/// Why a run without a cycle ends, in words, unless every process has ended or waits: a formula has
/// no value there ("division by zero in `a`"), or a process has failed.
pub fn ending(loaded: &Loaded, asked: &AskedFor<'_>, lasso: &Lasso) -> Option<String> {
    if lasso.cycle().is_some() {
        return None;
    }
    let system = &loaded.system;
    let end = lasso.run.end(system);
    if let Some(error) = asked.question.without_value(system, &end.controls, &end.memory) {
        return Some(format!("{error} in `{}`", asked.name));
    }
    let (process, failure) = system.failed(&end.controls)?;
    let (name, state) = (&system.processes[process.index()].name, end.controls[process.index()]);
    let line = loaded.place(system.state(process, state).span);
    Some(format!("`{name}` fails at line {line}: {failure}"))
}

/// How many clients an object has.
pub fn clients(loaded: &Loaded) -> Option<usize> {
    let program = &loaded.system.program;
    program.object.as_ref().map(|_| program.processes.len())
}

/// The file of a lasso.
pub fn lasso_file(
    loaded: &Loaded,
    asked: &AskedFor<'_>,
    found: &Lasso,
    flush_fair: bool,
) -> lasso::Lasso {
    let (clients, asked) = (clients(loaded), asked.file.clone());
    let run = (&found.run, found.stem);
    lasso::Lasso::new(&loaded.system, clients, asked, flush_fair, run, &|span| loaded.line(span))
}

/// A proof about runs without end, as a file.
#[derive(Clone, Debug)]
pub enum Proof {
    /// No blocking pair is reachable.
    Unblocked(Unblocked),
    /// A closed set has no run of the kind that would settle the questions the other way.
    Set(LiveSet),
}

/// The proof that settles most of what is asked, the first of several; none if no answer rests
/// on one. Its checker has not seen it yet.
///
/// # Errors
/// If a limit is reached before its configurations are listed.
pub fn proof(
    loaded: &Loaded,
    asked: &[AskedFor<'_>],
    answers: &[Answer],
    options: &Options,
) -> Result<Option<Proof>, String> {
    let level = |answer: &Answer| match &answer.evidence {
        Evidence::Exhausted(_) => Some(None),
        Evidence::Folded { level, .. } => Some(Some(*level)),
        _ => None,
    };
    let mut sets: BTreeMap<Option<usize>, Vec<Asked>> = BTreeMap::new();
    for (asked, answer) in asked.iter().zip(answers) {
        // The checker follows small formulas only.
        let is_checked = match asked.question {
            Question::Live(LiveKind::Ltl { formula, .. }) => is_checked(formula),
            _ => true,
        };
        if let Some(level) = level(answer).filter(|_| is_checked) {
            sets.entry(level).or_default().push(asked.file.clone());
        }
    }
    let most = sets.iter().rev().max_by_key(|(_, questions)| questions.len());
    let unblocked = answers.iter().find_map(|a| match &a.evidence {
        Evidence::Unblocked(proof) => Some(proof),
        _ => None,
    });
    match (unblocked, most) {
        (Some(found), None) => Ok(Some(Proof::Unblocked(unblocked_file(loaded, found)))),
        (Some(found), Some((_, questions))) if questions.len() == 1 => {
            Ok(Some(Proof::Unblocked(unblocked_file(loaded, found))))
        }
        (_, Some((level, questions))) => {
            let set = live_set(loaded, *level, questions.clone(), options)?;
            Ok(Some(Proof::Set(set)))
        }
        (None, None) => Ok(None),
    }
}

fn live_set(
    loaded: &Loaded,
    level: Option<usize>,
    questions: Vec<Asked>,
    options: &Options,
) -> Result<LiveSet, String> {
    let system = &loaded.system;
    let budget = &options.search.budget;
    let set = match level {
        Some(level) => {
            let extent = Extent::new(budget);
            fold::configurations(system, level, &extent).map_err(|e| e.to_string())?
        }
        None => {
            reachable::configurations(system, options.model, budget).map_err(|e| e.to_string())?
        }
    };
    let about = (options.model, options.flush_fair);
    Ok(LiveSet::new(system, clients(loaded), about, questions, (level, &set)))
}

fn unblocked_file(loaded: &Loaded, found: &weir_live::blocking::Unblocked) -> Unblocked {
    let set = found.invariant.as_ref().map(|(set, stopping)| (&**set, &**stopping));
    Unblocked::new(&loaded.system, &found.stops, set)
}
