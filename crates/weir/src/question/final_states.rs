//! The final states of a program that ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Number, Value, json};
use weir_engine::explicit::Outcomes;
use weir_engine::{Engine as _, Explicit, SearchOptions, Stats, Task};
use weir_model::answer::Verdict;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, Property, PropertyKind};
use weir_model::question::{Kind, Question as AskedOfStates};
use weir_model::semantics::Form;
use weir_model::system::System;

use super::properties::UNDEFINED;
use super::{caveats, claim, under};
use crate::error::Error;
use crate::finding::{Basis, Block, Event, Evidence, Finding, Listener, Question, Report};
use crate::load::Loaded;
use crate::report::counted;
use crate::report::run::Layout;
use crate::report::scene::Scene;
use crate::report::statistics::{guessing, restrictions};
use crate::report::table::Table;
use crate::solver::{no_such_property, outcomes, runs_to};
use crate::verifier::Verifier;

/// The most final states to which a run is given.
const MOST_RUNS: usize = 64;

/// Asks for all final states of a program.
#[derive(Clone, Debug, Default)]
pub struct FinalStates {
    /// The name of the property about final states that picks some of them; the first if there is no name.
    pub condition: Option<String>,
    /// Whether to find a run to each of the first states.
    pub runs: bool,
}

/// The final states of a program.
#[derive(Debug)]
pub struct Listed {
    /// The program.
    pub loaded: Arc<Loaded>,
    /// The memory model.
    pub model: MemoryModel,
    /// The states.
    pub outcomes: Outcomes,
    /// A run to each of the first states, if they were asked for.
    pub runs: Option<Vec<Option<Scene>>>,
}

impl Question for FinalStates {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        let models = &verifier.models()[..];
        for &model in models {
            Explicit.accepts(model, &verifier.options(model)?)?;
        }
        let mut systems: Vec<(Arc<Loaded>, Option<String>)> = Vec::new();
        for (i, &model) in models.iter().enumerate() {
            let is_c11 = |model: MemoryModel| model == MemoryModel::C11;
            let same = models[..i].iter().position(|other| is_c11(*other) == is_c11(model));
            if let Some(same) = same {
                systems.push(systems[same].clone());
                continue;
            }
            let (mut loaded, stopped) =
                verifier.load_for(model, true, |program| program.object.is_none())?;
            pick(&mut loaded, self.condition.as_deref())?;
            systems.push((Arc::new(loaded), stopped));
        }
        let loaded = &systems[0].0;
        let mut report = Report::new("outcomes", loaded, under(models));
        if let [model] = models {
            report.caveats = caveats(&loaded.source, *model);
        }
        for &model in models {
            let mut claim = claim(loaded, &model, "final states");
            claim.guesses = verifier.guesses_of(model);
            report.findings.push(Finding::open(claim, "final states"));
        }
        tell(Event::Asked(&report));
        for (i, (&model, (loaded, stopped))) in models.iter().zip(&systems).enumerate() {
            let options = verifier.options(model)?;
            let outcomes = match stopped {
                Some(reason) => Outcomes {
                    atoms: vec![],
                    states: BTreeSet::new(),
                    stats: Stats::not_begun(reason, &options.budget),
                },
                None => {
                    let mut progress = |stats: &Stats| tell(Event::Searching(stats));
                    match has_race(loaded, model, &options)? {
                        true => Outcomes {
                            atoms: vec![],
                            states: BTreeSet::new(),
                            stats: Stats::not_begun(UNDEFINED, &options.budget),
                        },
                        false => outcomes(&loaded.system, model, &options, &mut progress)?,
                    }
                }
            };
            if models.len() == 1 {
                report.about += &restrictions(model, &outcomes.stats);
            }
            let runs = match self.runs {
                true => Some(runs_to(loaded, model, &outcomes, MOST_RUNS, &options)?),
                false => None,
            };
            let listed = Listed { loaded: loaded.clone(), model, outcomes, runs };
            let finding = report.findings[i].clone();
            report.findings[i] = listed.finding(finding);
            tell(Event::Found(i, &report.findings[i]));
        }
        Ok(report)
    }
}

/// Whether accesses of a program race, under the model of languages: then its final states are undefined.
fn has_race(loaded: &Loaded, model: MemoryModel, options: &SearchOptions) -> Result<bool, Error> {
    let is_race = |question: &AskedOfStates| question.kind == Kind::Races;
    let races: Vec<AskedOfStates> =
        loaded.system.questions.iter().filter(|q| is_race(q)).cloned().collect();
    if races.is_empty() {
        return Ok(false);
    }
    let task = Task { questions: &races, ..Task::new(&loaded.system, model, options) };
    let (answers, _) = Explicit.check(task, &mut |_| {})?;
    Ok(answers.iter().any(|answer| answer.verdict == Verdict::Violated))
}

/// Leaves of the properties about final states only the one that is asked for: it picks states.
fn pick(loaded: &mut Loaded, name: Option<&str>) -> Result<(), Error> {
    let program = &mut loaded.system.program;
    let is_final = |p: &Property| matches!(p.kind, PropertyKind::Final(..));
    let Some(name) = name else { return Ok(()) };
    let all = loaded.system.questions.iter().zip(&program.properties).enumerate();
    let finals: Vec<(usize, String)> = all
        .filter(|(_, (_, property))| is_final(property))
        .map(|(i, (question, _))| (i, question.name.clone()))
        .collect();
    let Some((chosen, _)) = finals.iter().find(|(_, known)| known == name) else {
        let known = finals.iter().map(|(_, known)| known.as_str());
        let message = no_such_property(name, known);
        return Err(Error::NoSuch(format!(
            "`{}`: about final states {message}",
            loaded.source.name
        )));
    };
    program.properties = vec![program.properties[*chosen].clone()];
    Ok(())
}

impl Listed {
    /// The final states of the first finding of a report, if it lists some.
    pub fn of(report: &Report) -> Option<&Self> {
        report.findings.first().and_then(Finding::basis)
    }

    /// Whether these are all.
    pub fn is_complete(&self) -> bool {
        self.outcomes.stats.is_exact()
    }

    /// Whether accesses race, so that there is nothing to list.
    pub fn is_undefined(&self) -> bool {
        self.outcomes.stats.stopped.as_ref().is_some_and(|why| *why == UNDEFINED)
    }

    fn finding(self, open: Finding) -> Finding {
        let stats = Arc::new(self.outcomes.stats.clone());
        let is_exact = stats.is_exact();
        let outcome = self.headline();
        let is_undefined = self.is_undefined();
        let reason = (!is_exact).then(|| match is_undefined {
            true => UNDEFINED.to_owned(),
            false => {
                let why = stats.stopped.as_ref().map_or(String::new(), |s| format!(" ({s})"));
                format!("not all states were seen{why}, there may be more")
            }
        });
        let why = match &self.loaded.system.program.filter {
            Some(_) => "none that is reachable passes the filter",
            None => "every run is infinite, deadlocks or fails",
        };
        let vacuity = (is_exact && self.outcomes.states.is_empty()).then(|| why.to_owned());
        let verdict = if is_exact { Verdict::Holds } else { Verdict::Unknown };
        let mut finding = open.settled(verdict, Arc::new(self));
        finding.outcome = Some(outcome);
        finding.is_neutral = true;
        finding.reason = reason;
        finding.vacuity = vacuity;
        finding.statistics = Some(stats);
        finding
    }

    /// How many there are, in words.
    fn headline(&self) -> String {
        let (system, Outcomes { states, stats, .. }) = (&self.loaded.system, &self.outcomes);
        if self.is_undefined() {
            return "the final states are undefined".to_owned();
        }
        if states.is_empty() {
            return match stats.is_exact() {
                false => "no final state was found, but there may be some".to_owned(),
                true => "no final state".to_owned(),
            };
        }
        let all = match (stats.is_exact(), stats.guesses) {
            (true, Some(most)) => format!("all there are with {}", guessing(most)),
            (true, None) => "all there are".to_owned(),
            (false, _) => "there may be more".to_owned(),
        };
        let picked = states.iter().filter(|(_, picked)| *picked).count();
        let condition = match has_condition(system) {
            true => format!("; the condition picks {picked} (*)"),
            false => String::new(),
        };
        format!("{}, {all}{condition}", counted(states.len(), "final state"))
    }

    /// The states: what is observed in each, by its name, as a person writes it.
    pub fn states(&self) -> impl Iterator<Item = BTreeMap<String, String>> + '_ {
        let Outcomes { atoms, states, .. } = &self.outcomes;
        states.iter().map(|(values, _)| {
            let cells = atoms.iter().zip(values);
            cells
                .map(|(atom, value)| {
                    let name = self.loaded.system.atom_name(*atom);
                    (name, show_value(&self.loaded, *atom, *value))
                })
                .collect()
        })
    }
}

impl Basis for Listed {
    fn evidence(&self) -> Option<Evidence> {
        let count = counted(self.outcomes.stats.stored, "configuration");
        let is_exact = self.outcomes.stats.is_exact();
        is_exact.then(|| Evidence::new("exhaustive search", format!("all {count}")))
    }

    fn blocks(&self, _: Layout) -> Vec<Block> {
        let (system, Outcomes { atoms, states, .. }) = (&self.loaded.system, &self.outcomes);
        if states.is_empty() {
            return Vec::new();
        }
        let asks = has_condition(system);
        let mut table = Table::default();
        let names = atoms.iter().map(|a| system.atom_name(*a));
        table.row([" ".to_owned()].into_iter().chain(names));
        for (values, picked) in states {
            let mark = if *picked && asks { "*" } else { " " };
            let shown = atoms.iter().zip(values).map(|(a, v)| show_value(&self.loaded, *a, *v));
            table.row([mark.to_owned()].into_iter().chain(shown));
        }
        vec![Block::plain("", "", table.lines("  "))]
    }

    fn details(&self) -> Option<Value> {
        let (system, Outcomes { atoms, states, stats }) = (&self.loaded.system, &self.outcomes);
        let names: Vec<String> = atoms.iter().map(|a| system.atom_name(*a)).collect();
        let state = |values: &Vec<i128>| -> Map<String, Value> {
            let cells = names.iter().zip(atoms).zip(values);
            cells
                .map(|((name, atom), v)| (name.clone(), value_json(&self.loaded, *atom, *v)))
                .collect()
        };
        let mut details = json!({
            "semantics": stats.form.unwrap_or_else(|| Form::of(self.model)[0]).name(),
            "exact": stats.is_exact(),
            "observation": observation(&self.outcomes),
            "states": states.iter().map(|(values, _)| state(values)).collect::<Vec<_>>(),
        });
        if has_condition(system) {
            let all = states.iter().enumerate();
            let picked = all.filter(|(_, (_, picked))| *picked).map(|(i, _)| i);
            details["picked"] = picked.collect();
        }
        if let Some(runs) = &self.runs {
            details["runs"] = serde_json::to_value(runs).ok()?;
        }
        Some(details)
    }

    fn summary(&self) -> Option<String> {
        Some(String::new())
    }
}

/// Whether a program has a condition for its final states.
fn has_condition(system: &System) -> bool {
    system.questions.iter().any(|q| matches!(q.kind, Kind::Final { .. }))
}

/// A number, or a name where the value has one.
pub fn value_json(loaded: &Loaded, atom: Atom, value: i128) -> Value {
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

/// Whether no, some or all states satisfy the condition: `never`, `sometimes` or `always`.
fn observation(outcomes: &Outcomes) -> &'static str {
    let picked = outcomes.states.iter().filter(|(_, picked)| *picked).count();
    match picked {
        0 => "never",
        n if n == outcomes.states.len() => "always",
        _ => "sometimes",
    }
}
