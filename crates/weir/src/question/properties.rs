//! Properties of a program: questions about reachable states.

use std::sync::Arc;

use weir_check::buffers::Buffers;
use weir_check::closed::ClosedSet;
use weir_check::robust::RobustSets;
use weir_check::upward::UpwardSets;
use weir_check::{Certificate, Evidence as _, Witness};
use weir_engine::robust::attack;
use weir_engine::{Engine, SearchOptions, Stats, Task, Views, reachable};
use weir_model::answer::{Answer, Evidence as Shows, Verdict};
use weir_model::ids::{QuestionId, SpanId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::question::{Kind, Question as AskedOfStates};

use super::{caveats, claim, under};
use crate::error::Error;
use crate::finding::{
    Basis, Block, Event, Evidence, Finding, Listener, NoProof, Note, Proof, Question, Report, Shown,
};
use crate::load::Loaded;
use crate::report::run::{self, Layout};
use crate::report::statistics::restrictions;
use crate::report::{counted, reason, says};
use crate::solver::{check_some, chosen};
use crate::vacuity::vacuous;
use crate::verifier::Verifier;

/// Asks about the properties of a program, under one memory model or several.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// The names of the properties; all if there are none.
    pub names: Vec<String>,
}

/// The answer of an engine to a question about states.
#[derive(Debug)]
pub struct Answered {
    /// The program.
    pub loaded: Arc<Loaded>,
    /// The memory model.
    pub model: MemoryModel,
    /// The answer.
    pub answer: Answer,
    stats: Arc<Stats>,
    shows: String,
}

/// What is asked under one memory model.
struct Column<'v> {
    model: MemoryModel,
    engine: &'static dyn Engine,
    options: SearchOptions,
    loaded: Arc<Loaded>,
    /// The limit that was reached before the program had a system, if one was.
    stopped: Option<String>,
    /// The questions that are asked, by their numbers, and the place of the first among the findings.
    asked: Vec<usize>,
    first: usize,
    verifier: &'v Verifier,
}

impl Question for Properties {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        let models = &verifier.models()[..];
        let columns = self.columns(verifier)?;
        let loaded = &columns[0].loaded;
        let mut report = Report::new("check", loaded, under(models));
        if let [model] = models {
            report.caveats = caveats(&loaded.source, *model);
        }
        for column in &columns {
            let open = |&i: &usize| open(&column.loaded, column.model, i, verifier);
            report.findings.extend(column.asked.iter().map(open));
        }
        report.notes.extend(
            loaded.source.besides.map(|text| Note { text: text.to_owned(), is_open: false }),
        );
        let live = &loaded.system.program.live;
        let live = if self.names.is_empty() { live.len() } else { 0 };
        report.notes.extend((live > 0).then(|| {
            let (name, were) = (&loaded.source.name, if live == 1 { "was" } else { "were" });
            let formulas = counted(live, "formula");
            let by = verifier.hints_of().live.map(|live| format!(": {live} {name}"));
            let by = by.unwrap_or_default();
            let text = format!("{formulas} about infinite runs {were} not asked{by}");
            Note { text, is_open: true }
        }));
        tell(Event::Asked(&report));
        for column in &columns {
            column.ask(&mut report, tell)?;
        }
        if verifier.is_under_usual_model() && models == [MemoryModel::C11] {
            self.ask_processor(verifier, &mut report, tell)?;
        }
        if let [column] = &columns[..]
            && let Some(stats) = report.findings.first().and_then(|f| f.statistics.clone())
            && column.stopped.is_none()
        {
            report.about += &restrictions(column.model, &stats);
        }
        Ok(report)
    }
}

/// The processor that is asked about what the language leaves unknown: x86.
pub const PROCESSOR: MemoryModel = MemoryModel::TSO;

impl Properties {
    /// Adds the answers for a processor, if some are unknown in the language.
    fn ask_processor(
        &self,
        verifier: &Verifier,
        report: &mut Report,
        tell: Listener<'_>,
    ) -> Result<(), Error> {
        let is_undefined = |finding: &Finding| finding.reason.as_deref() == Some(UNDEFINED);
        let is_unknown = |finding: &Finding| finding.verdict == Verdict::Unknown;
        let has_unknown = report.findings.iter().any(is_unknown);
        if !has_unknown || report.findings.iter().any(is_undefined) {
            return Ok(());
        }
        let verifier = verifier.clone().model(PROCESSOR);
        let Ok(columns) = self.columns(&verifier) else { return Ok(()) };
        for mut column in columns {
            column.first = report.findings.len();
            let open = |&i: &usize| open(&column.loaded, column.model, i, &verifier);
            report.findings.extend(column.asked.iter().map(open));
            tell(Event::Asked(report));
            column.ask(report, tell)?;
        }
        Ok(())
    }

    /// What is asked under each model. Models that ask the same system share it.
    fn columns<'v>(&self, verifier: &'v Verifier) -> Result<Vec<Column<'v>>, Error> {
        let mut columns: Vec<Column<'v>> = Vec::new();
        for model in verifier.models() {
            let (engine, options) = verifier.search(model)?;
            let same = columns
                .iter()
                .find(|c| (c.model == MemoryModel::C11) == (model == MemoryModel::C11));
            let (loaded, stopped) = match same {
                Some(column) => (column.loaded.clone(), column.stopped.clone()),
                None => {
                    let (loaded, stopped) = verifier
                        .load_for(model, false, |program| !program.properties.is_empty())?;
                    (Arc::new(loaded), stopped)
                }
            };
            if let Some(error) = Error::no_property(verifier.name_of(), &loaded.system) {
                return Err(error);
            }
            let asked = chosen(&loaded.system, &self.names)
                .map_err(|message| Error::NoSuch(format!("`{}`: {message}", verifier.name_of())))?;
            let first = columns.last().map_or(0, |last| last.first + last.asked.len());
            columns.push(Column {
                model,
                engine,
                options,
                loaded,
                stopped,
                asked,
                first,
                verifier,
            });
        }
        Ok(columns)
    }
}

impl Column<'_> {
    /// Asks, and puts what is found into a report.
    fn ask(&self, report: &mut Report, tell: Listener<'_>) -> Result<(), Error> {
        let places = self.first..self.first + self.asked.len();
        if let Some(reason) = &self.stopped {
            let stats = Arc::new(Stats::not_begun(reason, &self.verifier.budget()));
            for finding in &mut report.findings[places] {
                *finding = finding.clone().unknown(reason);
                finding.statistics = Some(stats.clone());
            }
            return Ok(());
        }
        let (loaded, system) = (&self.loaded, &self.loaded.system);
        let task = Task::new(system, self.model, &self.options);
        let of = |answer: &Answer, stats: &Arc<Stats>| {
            let place = self.asked.iter().position(|i| *i == answer.property.index());
            let place = self.first + place.unwrap_or_default();
            let answer = (answer.clone(), stats.clone());
            let open = report.findings[place].clone();
            (place, settled(open, loaded, self.model, answer, self.verifier))
        };
        let nothing = Arc::new(Stats::default());
        let hand_over = |answer: &Answer| {
            let (place, finding) = of(answer, &nothing);
            tell(Event::Found(place, &finding));
        };
        // A race makes everything else undefined, so nothing is handed over before it is excluded.
        let has_races = self.asked.iter().any(|&i| system.questions[i].kind == Kind::Races);
        let sink: Option<&(dyn Fn(&Answer) + Sync)> =
            if has_races { None } else { Some(&hand_over) };
        let mut progress = |stats: &Stats| tell(Event::Searching(stats));
        let (mut answers, stats) = check_some(self.engine, task, &self.asked, sink, &mut progress)?;
        leave_undefined(&loaded.system.questions, &mut answers);
        let vacuous = vacuous(task, &answers, &stats, &|span| loaded.line(span));
        let stats = Arc::new(stats);
        let found: Vec<_> = answers.iter().map(|answer| of(answer, &stats)).collect();
        for ((place, finding), vacuity) in found.into_iter().zip(vacuous) {
            report.findings[place] = finding;
            report.findings[place].vacuity = vacuity;
            tell(Event::Found(place, &report.findings[place]));
        }
        Ok(())
    }
}

/// If accesses race, nothing else is known: what the program does is undefined.
fn leave_undefined(questions: &[AskedOfStates], answers: &mut [Answer]) {
    let is_race = |answer: &Answer| questions[answer.property.index()].kind == Kind::Races;
    if answers.iter().any(|answer| is_race(answer) && answer.verdict == Verdict::Violated) {
        for answer in answers.iter_mut().filter(|answer| !is_race(answer)) {
            *answer = Answer::unknown(answer.property, UNDEFINED.to_owned());
        }
    }
}

/// Why nothing else is known of a program with a race.
pub(super) const UNDEFINED: &str = "the program has a data race, so what it does is undefined";

/// A question of a system of which nothing is known.
fn open(loaded: &Loaded, model: MemoryModel, question: usize, verifier: &Verifier) -> Finding {
    let question = &loaded.system.questions[question];
    let mut claim = claim(loaded, &model, &question.name);
    claim.guesses = verifier.guesses_of(model);
    let has_place = question.span != SpanId::NONE;
    let mut finding = Finding::open(claim, question.kind.name());
    finding.line = has_place.then(|| loaded.line(question.span));
    finding.span = has_place.then(|| loaded.source.range(question.span));
    finding.says = says(loaded, question);
    finding.is_neutral = question.outcome(Verdict::Holds).is_some();
    finding
}

/// A finding with the answer to it.
fn settled(
    open: Finding,
    loaded: &Arc<Loaded>,
    model: MemoryModel,
    (answer, stats): (Answer, Arc<Stats>),
    verifier: &Verifier,
) -> Finding {
    let question = &loaded.system.questions[answer.property.index()];
    let (verdict, outcome) = (answer.verdict, question.outcome(answer.verdict));
    let reason = reason(&answer, &stats, verifier.hints_of());
    let shows = format!("{} is {}", question.name, outcome.unwrap_or(verdict.name()));
    let basis = Answered { loaded: loaded.clone(), model, answer, stats: stats.clone(), shows };
    let mut finding = open.settled(verdict, Arc::new(basis));
    finding.outcome = outcome.map(str::to_owned);
    finding.reason = reason;
    finding.statistics = Some(stats);
    finding
}

impl Answered {
    /// The questions whose answers rest on what this one rests on, with their answers.
    fn same<'r, T>(
        &self,
        report: &'r Report,
        pick: impl Fn(&'r Shows) -> Option<T>,
    ) -> Vec<(QuestionId, T)> {
        let all = report.findings.iter().filter_map(Finding::basis::<Self>);
        let mine = all.filter(|other| other.model == self.model);
        mine.filter_map(|other| Some((other.answer.property, pick(&other.answer.evidence)?)))
            .collect()
    }
}

impl Basis for Answered {
    fn evidence(&self) -> Option<Evidence> {
        let stored = self.stats.stored;
        Some(match &self.answer.evidence {
            Shows::Reason(_) => return None,
            Shows::Run(run) => {
                Evidence::new("run", format!("a run of {}", counted(run.steps.len(), "step")))
            }
            Shows::Exhausted if stored == 0 => Evidence::new("code", "the code alone"),
            Shows::Exhausted => Evidence::new(
                "exhaustive search",
                format!("all {}", counted(stored, "configuration")),
            ),
            Shows::Invariant(set) => {
                let count = counted(set.configurations.len(), "configuration");
                Evidence::new("inductive set", format!("an inductive set of {count}"))
            }
            Shows::Upward(set) => {
                let count = counted(set.states.len(), "minimal state");
                Evidence::new("upward-closed set", format!("an upward-closed set with {count}"))
            }
            Shows::Buffers(set) => {
                let count = counted(set.states.len(), "state");
                Evidence::new("buffer automata", format!("{count} with buffer automata"))
            }
            Shows::Robust => {
                Evidence::new("robustness", "robustness: every run has the trace of an SC run")
            }
        })
    }

    fn run(&self) -> Option<Shown<'_>> {
        let Shows::Run(run) = &self.answer.evidence else { return None };
        Some(Shown { loaded: &self.loaded, run, cycle: None, shows: &self.shows })
    }

    fn file(&self) -> Option<String> {
        // The solver has had it checked.
        witness(&self.loaded, &self.answer).map(|witness| witness.to_json() + "\n")
    }

    fn blocks(&self, layout: Layout) -> Vec<Block> {
        let Shows::Run(run) = &self.answer.evidence else { return Vec::new() };
        let name = &self.loaded.system.questions[self.answer.property.index()].name;
        let shows = match self.answer.verdict {
            Verdict::Holds => "how it is reached",
            _ => "how it is violated",
        };
        let count = counted(run.steps.len(), "step");
        let title = format!("{shows}, in {count} of {} under {}", run.form.name(), self.model);
        vec![Block::plain(name, title, run::lines(&self.loaded, run, self.answer.property, layout))]
    }

    fn details(&self) -> Option<serde_json::Value> {
        use weir_model::semantics::Form;
        let form = self.stats.form.unwrap_or_else(|| Form::of(self.model)[0]);
        Some(serde_json::json!({ "semantics": form.name() }))
    }

    fn proof(&self, report: &Report, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let all = report.findings.iter().filter_map(Finding::basis::<Self>);
        let mine = all.filter(|other| other.model == self.model);
        // The first kind in this order of which there is one.
        let rank = |basis: &&Self| match &basis.answer.evidence {
            Shows::Invariant(_) => 0,
            Shows::Upward(_) => 1,
            Shows::Buffers(_) => 2,
            Shows::Robust => 3,
            Shows::Exhausted => 4,
            Shows::Run(_) | Shows::Reason(_) => 5,
        };
        mine.min_by_key(rank).map_or(Ok(None), |best| best.prove(report, budget))
    }
}

impl Answered {
    /// The proof of what rests on the same as this answer.
    fn prove(&self, report: &Report, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let (loaded, system) = (&*self.loaded, &self.loaded.system);
        let threads = budget.threads();
        Ok(Some(match &self.answer.evidence {
            Shows::Run(_) | Shows::Reason(_) => return Ok(None),
            Shows::Invariant(set) => {
                let same =
                    self.same(report, |shows| matches!(shows, Shows::Invariant(_)).then_some(()));
                let properties = same.into_iter().map(|(property, ())| property).collect();
                Proof::accepted(Certificate::new(system, set, properties), loaded, threads)?
            }
            Shows::Upward(_) => {
                let sets = self.same(report, |shows| match shows {
                    Shows::Upward(set) => Some(set.states.as_slice()),
                    _ => None,
                });
                Proof::accepted(UpwardSets::new(system, self.model, &sets), loaded, threads)?
            }
            Shows::Buffers(first) => {
                let same = self.same(report, |shows| {
                    matches!(shows, Shows::Buffers(set) if Arc::ptr_eq(set, first)).then_some(())
                });
                let properties = same.into_iter().map(|(property, ())| property).collect();
                Proof::accepted(Buffers::new(system, first, properties), loaded, threads)?
            }
            Shows::Robust => {
                let same = self.same(report, |shows| matches!(shows, Shows::Robust).then_some(()));
                let properties = same.into_iter().map(|(property, ())| property).collect();
                let sets = attack::closed_sets(system, budget).map_err(NoProof::Unmade)?;
                Proof::accepted(RobustSets::new(system, &sets, properties), loaded, threads)?
            }
            Shows::Exhausted => {
                if !reachable::is_listed(self.model) {
                    return Ok(None);
                }
                let same =
                    self.same(report, |shows| matches!(shows, Shows::Exhausted).then_some(()));
                let properties = same.into_iter().map(|(property, ())| property).collect();
                let set = reachable::configurations(system, self.model, budget)
                    .map_err(|error| NoProof::Unmade(error.to_string()))?;
                Proof::accepted(
                    ClosedSet::new(system, self.model, properties, &set),
                    loaded,
                    threads,
                )?
            }
        }))
    }
}

/// Whether an engine can prove something under a model in a file.
///
/// # Errors
/// If there are no files of proofs under the model, or none of this engine.
pub(crate) fn has_proofs(
    engine: &'static dyn weir_engine::Engine,
    model: MemoryModel,
) -> Result<(), Error> {
    match () {
        () if !Views.decides(model) => Err(Error::NoProofs(None, model)),
        () if !engine.has_proofs(model) => Err(Error::NoProofs(Some(engine.name()), model)),
        () => Ok(()),
    }
}

/// The witness of an answer, if it rests on a run.
pub fn witness(loaded: &Loaded, answer: &Answer) -> Option<Witness> {
    let Shows::Run(run) = &answer.evidence else { return None };
    Some(Witness::new(&loaded.system, run, answer.property, &|span| loaded.line(span)))
}

/// The certificate of all answers that rest on an inductive set, if any does.
pub fn certificate(loaded: &Loaded, answers: &[Answer]) -> Option<Certificate> {
    let shown = answers.iter().filter_map(|a| match &a.evidence {
        Shows::Invariant(invariant) => Some((a.property, invariant)),
        _ => None,
    });
    let shown: Vec<_> = shown.collect();
    let properties = shown.iter().map(|(property, _)| *property).collect();
    Some(Certificate::new(&loaded.system, shown.first()?.1, properties))
}
