//! Answers as JSON. The shapes are described in `docs/json.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Number, Value};
use weir_check::buffers::Buffers;
use weir_check::closed::ClosedSet;
use weir_check::robust::states::Shown;
use weir_check::robust::{Cycle, RobustSets};
use weir_check::upward::UpwardSets;
use weir_check::{Certificate, Witness};
use weir_engine::Stats;
use weir_engine::explicit::Outcomes;
use weir_engine::reachable::{self, NotListed};
use weir_engine::robust::attack;
use weir_front::escape::is_control;
use weir_model::answer::{Answer, Evidence};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Atom;
use weir_model::question::Kind;
use weir_model::semantics::Form;
use weir_model::system::System;

use crate::Hints;
use crate::load::{LoadError, Loaded};
use crate::report::scene::Scene;
use crate::report::{counted, reason, says};
use crate::robust::{Robustness, States, Traces};
use crate::vacuity::no_final_state;

/// The version of the shape of reports. Fields are added without a new version.
pub const VERSION: u32 = 1;

/// A value as a line of JSON in which every control character is escaped.
///
/// # Errors
/// If the value has no form in JSON.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_control) {
        return Ok(text);
    }
    // Outside of strings JSON has none, and all of ours fit 16 bits.
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            true => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            false => out.push(c),
        }
    }
    Ok(out)
}

/// The answers of one program under one model.
#[derive(Debug, Serialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The file it came from.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The memory model.
    pub model: String,
    /// The most reads that a process may have guessed at a time, if that is bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<usize>,
    /// The engine.
    pub engine: &'static str,
    /// The form of the model's semantics that was searched.
    pub semantics: &'static str,
    /// The properties, in the order of the program.
    pub properties: Vec<PropertyReport>,
    /// That formulas of the program were not asked, and which command asks them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_asked: Option<String>,
    /// The proof of the properties that rest on no run, if one was made and checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<ProofReport>,
    /// What the search did.
    pub stats: StatsReport,
}

/// A proof that its checker accepts.
#[derive(Clone, Debug, Serialize)]
pub struct ProofReport {
    /// What it is, in a few words.
    pub what: String,
    /// How large its file is.
    pub bytes: usize,
}

/// The answer to one property.
#[derive(Debug, Serialize)]
pub struct PropertyReport {
    /// What it is called.
    pub name: String,
    /// `never`, `assertions`, `no deadlock`, `final exists`, `final never` or
    /// `final always`.
    pub kind: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What it says; empty if the program does not spell it out.
    pub says: String,
    /// `holds`, `violated` or `unknown`.
    pub verdict: &'static str,
    /// `allowed` or `forbidden`, for `final exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// Why the answer says little, if it is true only because nothing happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the answer rests on, in words, if it is no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The run that settles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// The same run, state by state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
}

/// What a search did.
#[derive(Debug, Serialize)]
pub struct StatsReport {
    /// Whether every configuration was seen.
    pub exact: bool,
    /// Configurations stored.
    pub configurations: usize,
    /// Steps taken.
    pub steps: usize,
    /// The longest shortest run.
    pub depth: usize,
    /// The bound on buffers, if the engine has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// The level of folding, if the engine folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
    /// Bytes of the store.
    pub bytes: usize,
    /// The most bytes that the process has had, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<usize>,
    /// How long it took.
    pub seconds: f64,
    /// What the workers did, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterReport>,
}

/// What the workers of a search did, which are threads of one process or of several.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterReport {
    /// The number of processes.
    pub processes: usize,
    /// The number of rounds of messages.
    pub rounds: u64,
    /// The workers, in the order of their numbers.
    pub workers: Vec<WorkerReport>,
}

/// What a worker did.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerReport {
    /// The process that it belongs to.
    pub process: usize,
    /// Configurations that it keeps.
    pub stored: u64,
    /// Configurations that it expanded.
    pub expanded: u64,
    /// Steps that it took.
    pub steps: u64,
    /// Bytes that its configurations take up.
    pub bytes: u64,
    /// Bytes that it sent to other workers.
    pub sent: u64,
    /// Seconds that it waited for others.
    pub waited: f64,
}

impl StatsReport {
    /// For the report.
    pub fn new(stats: &Stats) -> Self {
        Self {
            exact: stats.is_exact(),
            configurations: stats.stored,
            steps: stats.steps,
            depth: stats.depth,
            bound: stats.bound,
            level: stats.level,
            bytes: stats.bytes,
            peak: super::peak_memory(),
            seconds: stats.elapsed.as_secs_f64(),
            cluster: None,
        }
    }
}

impl Report {
    /// The report of a check; `vacuous` is what [`vacuous`](crate::vacuity::vacuous) says of the answers.
    pub fn new(
        loaded: &Loaded,
        model: MemoryModel,
        answers: &[Answer],
        vacuous: &[Option<String>],
        (stats, hints): (&Stats, Hints),
    ) -> Self {
        let system = &loaded.system;
        let properties = answers
            .iter()
            .zip(vacuous)
            .map(|(answer, vacuous)| {
                let question = &system.questions[answer.property];
                PropertyReport {
                    name: question.name.clone(),
                    kind: question.kind.name(),
                    line: loaded.line(question.span),
                    says: says(loaded, question),
                    verdict: answer.verdict.name(),
                    outcome: question.outcome(answer.verdict),
                    vacuous: vacuous.clone(),
                    reason: reason(answer, stats, hints),
                    evidence: rests_on(answer, stats),
                    witness: witness(loaded, answer),
                    scene: scene(loaded, answer),
                }
            })
            .collect();
        Self {
            version: VERSION,
            program: system.program.name.clone(),
            file: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            model: model.to_string(),
            guesses: stats.guesses,
            engine: stats.engine,
            semantics: stats.form.unwrap_or_else(|| Form::of(model)[0]).name(),
            properties,
            not_asked: None,
            certificate: None,
            stats: StatsReport::new(stats),
        }
    }
}

/// What an answer rests on, in words, if it is known and rests on no run.
fn rests_on(answer: &Answer, stats: &Stats) -> Option<String> {
    Some(match &answer.evidence {
        Evidence::Run(_) | Evidence::Reason(_) => return None,
        Evidence::Exhausted if stats.stored == 0 => "the code alone".to_owned(),
        Evidence::Exhausted => format!("all {}", counted(stats.stored, "configuration")),
        Evidence::Invariant(set) => {
            format!("an inductive set of {}", counted(set.configurations.len(), "configuration"))
        }
        Evidence::Upward(set) => {
            format!("an upward-closed set with {}", counted(set.states.len(), "minimal state"))
        }
        Evidence::Buffers(set) => {
            format!("{} with buffer automata", counted(set.states.len(), "state"))
        }
        Evidence::Robust => "robustness: every run has the trace of an SC run".to_owned(),
    })
}

/// The witness of an answer, if it rests on a run.
pub fn witness(loaded: &Loaded, answer: &Answer) -> Option<Witness> {
    let Evidence::Run(run) = &answer.evidence else { return None };
    Some(Witness::new(&loaded.system, run, answer.property, &|span| loaded.line(span)))
}

/// The run of an answer, if it rests on one, state by state.
pub fn scene(loaded: &Loaded, answer: &Answer) -> Option<Scene> {
    let Evidence::Run(run) = &answer.evidence else { return None };
    Some(Scene::new(loaded, run, None))
}

/// The certificate of all answers that rest on an inductive set, if any does.
pub fn certificate(loaded: &Loaded, answers: &[Answer]) -> Option<Certificate> {
    let shown = answers.iter().filter_map(|a| match &a.evidence {
        Evidence::Invariant(invariant) => Some((a.property, invariant)),
        _ => None,
    });
    let shown: Vec<_> = shown.collect();
    let properties = shown.iter().map(|(property, _)| *property).collect();
    Some(Certificate::new(&loaded.system, shown.first()?.1, properties))
}

/// The upward-closed sets of all answers that rest on one, if any does.
pub fn upward_sets(loaded: &Loaded, answers: &[Answer]) -> Option<UpwardSets> {
    let shown = answers.iter().filter_map(|a| match &a.evidence {
        Evidence::Upward(set) => Some((a.property, set)),
        _ => None,
    });
    let shown: Vec<_> = shown.collect();
    let model = shown.first()?.1.model;
    let sets: Vec<_> = shown.iter().map(|(i, set)| (*i, set.states.as_slice())).collect();
    Some(UpwardSets::new(&loaded.system, model, &sets))
}

/// The states with sets of buffer contents of the answers that rest on the same as the
/// first that does, if any does.
pub fn buffers(loaded: &Loaded, answers: &[Answer]) -> Option<Buffers> {
    let shown = answers.iter().filter_map(|a| match &a.evidence {
        Evidence::Buffers(set) => Some((a.property, set)),
        _ => None,
    });
    let shown: Vec<_> = shown.collect();
    let (_, first) = shown.first()?;
    let same = shown.iter().filter(|(_, set)| Arc::ptr_eq(set, first));
    Some(Buffers::new(&loaded.system, first, same.map(|(property, _)| *property).collect()))
}

/// The sets that show that a program is robust, for all answers that rest on it, if any does.
///
/// # Errors
/// If a limit is reached before the sets are complete.
pub fn robust_sets(
    loaded: &Loaded,
    answers: &[Answer],
    budget: &Budget,
) -> Result<Option<RobustSets>, String> {
    let shown = answers.iter().filter(|a| matches!(a.evidence, Evidence::Robust));
    let properties: Vec<usize> = shown.map(|a| a.property).collect();
    if properties.is_empty() {
        return Ok(None);
    }
    let sets = attack::closed_sets(&loaded.system, budget)?;
    Ok(Some(RobustSets::new(&loaded.system, &sets, properties)))
}

/// The properties whose answers rest on an exhaustive search, if the memory model has closed sets.
pub fn exhausted(model: MemoryModel, answers: &[Answer]) -> Vec<usize> {
    let shown = answers.iter().filter(|a| matches!(a.evidence, Evidence::Exhausted));
    shown.filter(|_| reachable::is_listed(model)).map(|a| a.property).collect()
}

/// The closed set of all answers that rest on an exhaustive search, if any does and the memory
/// model has closed sets.
///
/// # Errors
/// If a limit is reached before all configurations are listed.
pub fn closed_set(
    loaded: &Loaded,
    model: MemoryModel,
    answers: &[Answer],
    budget: &Budget,
) -> Result<Option<ClosedSet>, NotListed> {
    let properties = exhausted(model, answers);
    if properties.is_empty() {
        return Ok(None);
    }
    let set = reachable::configurations(&loaded.system, model, budget)?;
    Ok(Some(ClosedSet::new(&loaded.system, model, properties, &set)))
}

/// All final states of one program under one model.
#[derive(Debug, Serialize)]
pub struct OutcomesReport {
    /// [`VERSION`].
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The file it came from.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The memory model.
    pub model: String,
    /// The most reads that a process had guessed at a time, if there was a bound: it is part of
    /// the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<usize>,
    /// The form of the semantics that was searched.
    pub semantics: &'static str,
    /// Whether these are all.
    pub exact: bool,
    /// That there are none, if these are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<&'static str>,
    /// Whether no, some or all states satisfy the condition.
    pub observation: &'static str,
    /// What is observed, in each final state.
    pub states: Vec<Map<String, Value>>,
    /// The states that satisfy the condition, by their places in `states`; none if the program
    /// has no condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<Vec<usize>>,
    /// A run to each of the first states, state by state, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<Option<Scene>>>,
}

impl OutcomesReport {
    /// The report of a search for final states.
    pub fn new(loaded: &Loaded, model: MemoryModel, outcomes: &Outcomes) -> Self {
        let system = &loaded.system;
        let names: Vec<String> = outcomes.atoms.iter().map(|a| system.atom_name(*a)).collect();
        let state = |values: &Vec<i128>| {
            let cells = names.iter().zip(&outcomes.atoms).zip(values);
            cells
                .map(|((name, atom), value)| (name.clone(), json_value(loaded, *atom, *value)))
                .collect()
        };
        Self {
            version: VERSION,
            program: system.program.name.clone(),
            file: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            model: model.to_string(),
            guesses: outcomes.stats.guesses,
            semantics: outcomes.stats.form.unwrap_or_else(|| Form::of(model)[0]).name(),
            exact: outcomes.stats.is_exact(),
            vacuous: (outcomes.stats.is_exact() && outcomes.states.is_empty())
                .then(|| no_final_state(system)),
            observation: observation(outcomes),
            states: outcomes.states.iter().map(|(values, _)| state(values)).collect(),
            picked: has_condition(system).then(|| {
                let all = outcomes.states.iter().enumerate();
                all.filter(|(_, (_, picked))| *picked).map(|(i, _)| i).collect()
            }),
            runs: None,
        }
    }
}

/// Whether a program has a condition for its final states.
pub fn has_condition(system: &System) -> bool {
    system.questions.iter().any(|q| matches!(q.kind, Kind::Final { .. }))
}

/// A number, or a name where the value has one.
pub fn json_value(loaded: &Loaded, atom: Atom, value: i128) -> Value {
    let shown = show_value(loaded, atom, value);
    match shown.parse::<i128>() {
        // A number that no JSON reader can be expected to hold is text.
        Ok(number) => Number::from_i128(number).map_or_else(|| shown.into(), Value::Number),
        Err(_) if shown == "true" => 1.into(),
        Err(_) if shown == "false" => 0.into(),
        Err(_) => shown.into(),
    }
}

/// The value of an atom as a person would write it.
pub fn show_value(loaded: &Loaded, atom: Atom, value: i128) -> String {
    let system = &loaded.system;
    let domain = match atom {
        Atom::Var(x) => system.vars[x.index()].domain,
        Atom::Reg(p, r) => system.register(p, r).domain,
        Atom::At(..) => None,
    };
    system.program.show_value(domain, value)
}

/// `never`, `sometimes` or `always`.
pub fn observation(outcomes: &Outcomes) -> &'static str {
    let picked = outcomes.states.iter().filter(|(_, picked)| *picked).count();
    match picked {
        0 => "never",
        n if n == outcomes.states.len() => "always",
        _ => "sometimes",
    }
}

/// The verdicts of one program under several models.
#[derive(Debug, Serialize)]
pub struct CompareReport {
    /// [`VERSION`].
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The file it came from.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The models.
    pub models: Vec<String>,
    /// The most reads that a process had guessed at a time, if there was a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<usize>,
    /// The properties, each with its verdict per model.
    pub properties: Vec<CompareRow>,
}

/// The verdicts of one property.
#[derive(Debug, Serialize)]
pub struct CompareRow {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What it says; empty if the program does not spell it out.
    pub says: String,
    /// Its verdict per model.
    pub verdicts: BTreeMap<String, &'static str>,
    /// Why it is unknown, per model where it is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, String>,
    /// Why the verdict says little, per model where it is vacuous.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vacuous: BTreeMap<String, String>,
    /// The run that settles it, state by state, per model where there is one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scenes: BTreeMap<String, Scene>,
}

/// One thing that is wrong with the input.
#[derive(Debug, Serialize)]
pub struct ErrorReport {
    error: ErrorParts,
}

#[derive(Debug, Serialize)]
struct ErrorParts {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl ErrorReport {
    /// An error that is nowhere in a file.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { error: ErrorParts { file: None, line: None, column: None, message, help: None } }
    }

    /// About a file.
    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        self.error.file = Some(name.to_owned());
        self
    }

    /// Everything that is wrong with a file.
    pub fn of_load(error: &LoadError) -> Vec<Self> {
        match error {
            LoadError::Unreadable { name, reason } => {
                vec![Self::new(format!("cannot read `{name}`: {reason}")).file(name)]
            }
            LoadError::Stopped { name, reason, .. } => {
                vec![Self::new(reason.clone()).file(name)]
            }
            LoadError::Bound { name, reason } => {
                vec![Self::new(reason.clone()).file(name)]
            }
            LoadError::Wrong { name, text, errors } => errors
                .iter()
                .map(|e| {
                    let (line, column) = e.position(text);
                    let mut report = Self::new(e.message.clone()).file(name);
                    report.error.line = Some(line);
                    report.error.column = Some(column);
                    report.error.help = e.help.clone();
                    report
                })
                .collect(),
        }
    }
}

/// Whether a program is robust against a model.
#[derive(Debug, Serialize)]
pub struct RobustReport {
    /// [`VERSION`].
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The file it came from.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The memory model.
    pub model: String,
    /// `shape`, `traces`, `states`, `not robust` or `unknown`.
    pub verdict: &'static str,
    /// Whether every run has the trace of an SC run: `same`, `different`, `unknown`, or
    /// `undecided` for a model other than TSO.
    pub traces: &'static str,
    /// Whether every state is reachable under SC: `same`, `different` or `unknown`.
    pub states: &'static str,
    /// Why something is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A run whose trace has a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// A run to a state that SC does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Witness>,
    /// The run with the cycle, or the other one, state by state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<Scene>,
    /// What the last search did.
    pub stats: StatsReport,
}

impl RobustReport {
    /// The report of an answer.
    pub fn new(loaded: &Loaded, found: &Robustness) -> Self {
        let (traces, cycle) = match &found.traces {
            Traces::Shape | Traces::Same => ("same", None),
            Traces::Different(shown) => ("different", Some(shown.1.clone())),
            Traces::Unknown(_) => ("unknown", None),
            Traces::Undecided => ("undecided", None),
        };
        let (states, run) = match &found.states {
            States::Implied | States::Same(_) => ("same", None),
            States::Different(shown) => match &shown.file.shown {
                Shown::Run(run) => ("different", Some((**run).clone())),
                _ => ("different", None),
            },
            States::Unknown(_) => ("unknown", None),
        };
        let scene = match (&found.traces, &found.states) {
            (Traces::Different(shown), _) => Some(Scene::new(loaded, &shown.0, None)),
            (_, States::Different(shown)) => Some(Scene::new(&shown.loaded, &shown.run, None)),
            _ => None,
        };
        Self {
            version: VERSION,
            program: loaded.system.program.name.clone(),
            file: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            model: found.model.to_string(),
            verdict: found.kind().name(),
            traces,
            states,
            reason: found.reason().map(ToOwned::to_owned),
            cycle,
            run,
            scene,
            stats: StatsReport::new(&found.stats),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same() {
        let text = "a\u{9b}\x1b\u{202e}\u{7f}é";
        let written = line(&text).unwrap();
        assert!(!written.contains(is_control), "{written:?}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
