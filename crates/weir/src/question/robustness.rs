//! Robustness: whether a memory model adds anything to SC.

use std::sync::Arc;

use serde_json::{Value, json};
use weir_check::Evidence as _;
use weir_check::robust::states::Shown as ShownStates;
use weir_engine::SearchOptions;
use weir_engine::Stats;
use weir_model::limits::Budget;

use super::{caveats, claim, under};
use crate::error::Error;
use crate::finding::{
    Basis, Block, Event, Evidence, Finding, Listener, NoProof, Proof, Question, Report, Shown,
};
use crate::load::Loaded;
use crate::report::run::{self, Layout};
use crate::report::{counted, growing};
use crate::robust::{self, Kind, States, Traces};
use crate::verifier::Verifier;

/// Asks whether memory models add anything to SC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Robustness;

/// What a model adds to SC.
#[derive(Debug)]
pub struct Compared {
    /// The program.
    pub loaded: Arc<Loaded>,
    /// The answer.
    pub found: robust::Robustness,
    reason: Option<String>,
}

impl Question for Robustness {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        let verifier = &verifier.for_processors();
        let models = &verifier.models()[..];
        if let Some(model) = models.iter().find(|m| !robust::is_decided(**m)) {
            return Err(Error::Model("robustness is", "TSO, PSO and NSW", *model));
        }
        let (loaded, stopped) = verifier.load(false, |program| program.object.is_none())?;
        let loaded = Arc::new(loaded);
        let mut report = Report::new("robust", &loaded, under(models));
        if let [model] = models {
            report.caveats = caveats(&loaded.source, *model);
        }
        let open = |model| Finding::open(claim(&loaded, model, weir_check::robust::NAME), "robust");
        report.findings = models.iter().map(open).collect();
        tell(Event::Asked(&report));
        for (i, &model) in models.iter().enumerate() {
            if let Some(reason) = &stopped {
                report.findings[i] = report.findings[i].clone().unknown(reason);
                continue;
            }
            let options = SearchOptions {
                form: None,
                bound: None,
                guesses: None,
                ..verifier.options(model)?
            };
            let mut progress = |stats: &Stats| tell(Event::Searching(stats));
            let found = robust::check(&loaded, model, &options, &mut progress)?;
            let stats = Arc::new(found.stats.clone());
            let reason = found.reason().map(|reason| growing(reason, &stats, verifier.hints_of()));
            let (verdict, word) = (found.verdict(), found.kind().word());
            let compared = Compared { loaded: loaded.clone(), found, reason: reason.clone() };
            let mut finding = report.findings[i].clone().settled(verdict, Arc::new(compared));
            finding.outcome = Some(word.to_owned());
            finding.reason = reason;
            finding.statistics = Some(stats);
            report.findings[i] = finding;
            tell(Event::Found(i, &report.findings[i]));
        }
        Ok(report)
    }
}

impl Basis for Compared {
    fn evidence(&self) -> Option<Evidence> {
        let steps = |run: &weir_model::answer::Run| counted(run.steps.len(), "step");
        Some(match (self.found.kind(), &self.found.traces, &self.found.states) {
            (Kind::Unknown, ..) => return None,
            (Kind::Shape, ..) => Evidence::new("code", "the code alone"),
            (Kind::Traces, ..) => {
                Evidence::new("robustness", "every run has the trace of an SC run")
            }
            (Kind::States, ..) => Evidence::new("states", "every state is reachable under SC"),
            (Kind::NotRobust, Traces::Different(shown), _) => {
                let edges = counted(shown.1.cycle.len(), "edge");
                let what =
                    format!("a cycle of {edges} in the trace of a run of {}", steps(&shown.0));
                Evidence::new("cycle", what)
            }
            (Kind::NotRobust, _, States::Different(shown)) => {
                let what =
                    format!("a run of {} to a state that SC does not have", steps(&shown.run));
                Evidence::new("run", what)
            }
            (Kind::NotRobust, ..) => return None,
        })
    }

    fn run(&self) -> Option<Shown<'_>> {
        match (&self.found.traces, &self.found.states) {
            (Traces::Different(shown), _) => Some(Shown {
                loaded: &self.loaded,
                run: &shown.0,
                cycle: None,
                shows: "a run that SC does not have",
            }),
            (_, States::Different(shown)) => Some(Shown {
                loaded: &shown.loaded,
                run: &shown.run,
                cycle: None,
                shows: "a state that SC does not have",
            }),
            _ => None,
        }
    }

    fn file(&self) -> Option<String> {
        // Of a program that is robust by its states, the cycle is no answer.
        match (&self.found.traces, &self.found.states) {
            _ if self.found.kind() != Kind::NotRobust => None,
            (Traces::Different(shown), _) => Some(shown.1.to_json() + "\n"),
            (_, States::Different(shown)) => Some(shown.file.to_json() + "\n"),
            _ => None,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let model = self.found.model;
        let traces = match &self.found.traces {
            Traces::Shape => "no operation can overtake another one".to_owned(),
            Traces::Same => "every run has the trace of an SC run".to_owned(),
            Traces::Different(_) => "traces: some run has a trace that no SC run has".to_owned(),
            Traces::Unknown(_) => {
                "traces: unknown whether every run has the trace of an SC run".to_owned()
            }
            Traces::Undecided => String::new(),
        };
        let states = match &self.found.states {
            States::Implied => String::new(),
            States::Same(_) => format!(
                "states: every joint control state and every final memory under {model} is \
                 reachable under SC"
            ),
            States::Different(_) => {
                format!("states: some state under {model} is not reachable under SC")
            }
            States::Unknown(_) => {
                format!("states: unknown whether every state under {model} is reachable under SC")
            }
        };
        [traces, states].into_iter().filter(|fact| !fact.is_empty()).collect()
    }

    fn column(&self) -> Option<String> {
        Some(String::new())
    }

    fn blocks(&self, layout: Layout) -> Vec<Block> {
        let model = self.found.model;
        match (&self.found.traces, &self.found.states) {
            (Traces::Different(shown), _) => {
                let (run, cycle) = &**shown;
                let title = format!(
                    "a cycle of {} in the trace of a run of {} under {model}",
                    counted(cycle.cycle.len(), "edge"),
                    counted(run.steps.len(), "step"),
                );
                let lines = run::cycle_lines(&self.loaded, run, &cycle.cycle, layout);
                vec![Block::plain("", title, lines)]
            }
            (_, States::Different(shown)) => {
                let (count, form) = (counted(shown.run.steps.len(), "step"), shown.run.form.name());
                let title =
                    format!("a state that SC does not have, in {count} of {form} under {model}");
                vec![Block::plain("", title, run::lines(&shown.loaded, &shown.run, None, layout))]
            }
            _ => Vec::new(),
        }
    }

    fn details(&self) -> Option<Value> {
        let traces = match &self.found.traces {
            Traces::Shape | Traces::Same => "same",
            Traces::Different(_) => "different",
            Traces::Unknown(_) => "unknown",
            Traces::Undecided => "undecided",
        };
        let (states, run) = match &self.found.states {
            States::Implied | States::Same(_) => ("same", None),
            States::Different(shown) => match &shown.file.shown {
                ShownStates::Run(run) => ("different", Some(run)),
                _ => ("different", None),
            },
            States::Unknown(_) => ("unknown", None),
        };
        let mut details =
            json!({ "shows": self.found.kind().name(), "traces": traces, "states": states });
        if let Traces::Different(shown) = &self.found.traces {
            details["cycle"] = serde_json::to_value(&shown.1).ok()?;
        }
        if let Some(run) = run {
            details["run"] = serde_json::to_value(run).ok()?;
        }
        Some(details)
    }

    fn proof(&self, _: &Report, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let threads = budget.threads();
        Ok(match self.found.proof(&self.loaded, budget).map_err(NoProof::Unmade)? {
            Some(robust::Proof::Traces(proof)) => {
                Some(Proof::accepted(*proof, &*self.loaded, threads)?)
            }
            Some(robust::Proof::States(proof, loaded)) => {
                Some(Proof::accepted(*proof, loaded, threads)?)
            }
            None => None,
        })
    }
}

impl Compared {
    /// Why something is unknown, and what could be done about it.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}
