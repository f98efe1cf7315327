//! What takes time: the answers to the properties, and fences that repair a program.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use serde_json::Value;
use weir::question::{self, Answered, QUESTIONS, Repaired, Solved};
use weir::{Cancellation, Error, Finding, Limits, MemoryModel, Run, Verdict, Verifier};
use weir_front::weir::LANGUAGE;
use weir_model::limits::Meter;
use weir_model::program::Program;

/// The longest time that an editor may set for a check.
pub const MAX_TIME: Duration = Duration::from_secs(3600);

/// How long a check may take, and what it is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The memory models.
    pub models: Vec<MemoryModel>,
    /// The time for the answers under each model, and for the search for fences.
    pub time: Duration,
    /// What a search may store, in bytes.
    pub memory: usize,
    /// How many threads a search may use.
    pub threads: NonZeroUsize,
    /// What the process may use, in bytes, and what tells how much it uses.
    pub ceiling: Option<(usize, Meter)>,
    /// Finds out whether a text can be read within the limits, in another process: the readers of
    /// some languages execute programs, and a short one can take any amount of memory. Without it
    /// every text is read in this one.
    pub trial: Option<Try>,
}

/// Finds out whether a text can be read; why not, if it cannot.
pub type Try = fn(&Trial<'_>) -> Result<(), String>;

/// A text that is to be read in another process.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'t> {
    /// What reports call it.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
    /// The name of its language.
    pub language: &'static str,
    /// The limits.
    pub time: Duration,
    /// In bytes.
    pub memory: usize,
}

impl Default for Settings {
    /// SC and TSO, five seconds, 1 GiB and one thread: the editor needs a processor, too.
    fn default() -> Self {
        Self {
            models: vec![MemoryModel::SC, MemoryModel::TSO],
            time: Duration::from_secs(5),
            memory: 1 << 30,
            threads: NonZeroUsize::MIN,
            ceiling: None,
            trial: None,
        }
    }
}

impl Settings {
    /// Takes over what an editor sends: `{"weir": {"models": ["sc"], "timeout": 5}}`, or what is
    /// inside. Returns what is wrong with it.
    pub(crate) fn configure(&mut self, settings: &Value) -> Vec<String> {
        let own = settings.get("weir").unwrap_or(settings);
        let mut wrong = Vec::new();
        if let Some(list) = own.get("models").and_then(Value::as_array) {
            self.models.clear();
            for name in list {
                match name.as_str().map(str::parse::<MemoryModel>) {
                    Some(Ok(model)) if self.models.contains(&model) => {}
                    Some(Ok(model)) => self.models.push(model),
                    Some(Err(error)) => wrong.push(format!("weir.models: {error}")),
                    None => wrong.push("weir.models is a list of names".to_owned()),
                }
            }
        }
        if let Some(seconds) = own.get("timeout").and_then(Value::as_f64) {
            match Duration::try_from_secs_f64(seconds) {
                Ok(time) => self.time = time.min(MAX_TIME),
                Err(error) => wrong.push(format!("weir.timeout: {error}")),
            }
        }
        wrong
    }

    /// The limits of one document. They are cancelled together.
    pub fn limits(&self) -> Limits {
        let limits = Limits::none().threads(self.threads).time(self.time).memory(self.memory);
        match self.ceiling {
            Some((bytes, meter)) => limits.ceiling(bytes, meter),
            None => limits,
        }
    }
}

/// The answers under one memory model.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The model.
    pub model: MemoryModel,
    /// The answers.
    pub list: Vec<Answer>,
}

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the property is called.
    pub name: String,
    /// Where it stands; none for a progress property of an object.
    pub span: Option<Range<usize>>,
    /// The answer in a word or two, such as `holds` or `violated in 6 steps`.
    pub says: String,
    /// Why, or what else has to be said.
    pub remark: Option<String>,
    /// What it means for the program.
    pub judgment: Judgment,
    /// Whether it is about reachable states, not about runs without end or games.
    is_about_states: bool,
    /// The run that shows it.
    pub run: Option<Run>,
}

/// What an answer means for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgment {
    /// Nothing is wrong.
    Fine,
    /// A property is violated.
    Violated,
    /// It is unknown; more time may help.
    Unknown,
    /// The program cannot be checked.
    Refused,
}

impl Answer {
    /// Whether fences may help.
    pub fn may_need_fences(&self) -> bool {
        self.judgment == Judgment::Violated && self.is_about_states
    }
}

/// Fences that repair a program under a model.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The model.
    pub model: MemoryModel,
    /// What to replace, and by what.
    pub edits: Vec<(Range<usize>, String)>,
    /// How many fences there are.
    pub fences: usize,
    /// How many orders become stronger.
    pub orders: usize,
}

/// What was found about a text.
#[derive(Debug)]
pub enum Found {
    /// The answers under one model.
    Answers(Answers),
    /// Fences.
    Repair(Repair),
}

/// A text that is to be checked.
#[derive(Debug)]
pub struct Check {
    /// What reports call it.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its program.
    pub program: Program,
    /// The memory models.
    pub models: Vec<MemoryModel>,
    /// The limits of each check.
    pub limits: Limits,
}

impl Check {
    /// Checks the text under each model, then looks for fences. Ends early if it is cancelled.
    pub fn run(&self, found: &mut dyn FnMut(Found)) {
        let cancellation = self.limits.cancellation();
        let mut violated = Vec::new();
        for &model in &self.models {
            let list = self.answers(model);
            if cancellation.is_cancelled() {
                return;
            }
            if list.iter().any(Answer::may_need_fences) {
                violated.push(model);
            }
            found(Found::Answers(Answers { model, list }));
        }
        // What is violated under SC is not repaired by fences.
        if violated.contains(&MemoryModel::SC) {
            return;
        }
        for model in violated {
            if let Some(repair) = self.repair(model, &cancellation) {
                found(Found::Repair(repair));
            }
        }
    }

    fn verifier(&self, model: MemoryModel) -> Verifier {
        Verifier::new(self.text.clone())
            .name(self.name.clone())
            .language(&LANGUAGE)
            .model(model)
            .limits(self.limits.clone())
    }

    /// The answers under one model.
    fn answers(&self, model: MemoryModel) -> Vec<Answer> {
        let verifier = self.verifier(model);
        let mut list = Vec::new();
        for kind in QUESTIONS.iter().filter(|kind| (kind.is_asked)(&self.program, model)) {
            match (kind.ask)(&verifier, &|_| {}) {
                Ok(report) => list.extend(report.findings.iter().map(answer)),
                // Nothing is asked yet, which is fine while a program is written.
                Err(Error::NoProperty(_) | Error::AsksLive(_) | Error::AsksGames(_)) => {}
                Err(error) => list.push(self.refused(&error)),
            }
        }
        list
    }

    /// That a text cannot be checked.
    fn refused(&self, error: &Error) -> Answer {
        let first = error.diagnostics().first();
        Answer {
            name: self.name.clone(),
            span: first.map(|error| error.range.clone()).or(Some(0..0)),
            says: "cannot be checked".to_owned(),
            remark: Some(first.map_or_else(|| error.to_string(), ToString::to_string)),
            judgment: Judgment::Refused,
            is_about_states: false,
            run: None,
        }
    }

    /// The cheapest fences that repair the program, if there are some.
    fn repair(&self, model: MemoryModel, cancellation: &Cancellation) -> Option<Repair> {
        let question = question::Repair { most: Some(1), ..question::Repair::default() };
        let report = self.verifier(model).ask(&question, &|_| {}).ok()?;
        let found = &report.findings.first()?.basis::<Repaired>()?.repairs;
        let set = found.sets.first().filter(|set| !set.changes.is_empty())?;
        if cancellation.is_cancelled() {
            return None;
        }
        let orders = set.changes.iter().filter(|change| change.to.order().is_some()).count();
        let fences = set.changes.len() - orders;
        Some(Repair { model, edits: found.edits(&set.changes), fences, orders })
    }
}

/// An answer in words.
fn answer(finding: &Finding) -> Answer {
    let run = finding.run();
    let steps = run.as_ref().map(|run| counted(run.steps.len(), "step"));
    let says = match (finding.is_neutral, &steps) {
        (true, Some(steps)) => format!("{}, in {steps}", finding.word()),
        (false, Some(steps)) => format!("{} in {steps}", finding.word()),
        (_, None) => finding.word().to_owned(),
    };
    // Who wins a game is neither right nor wrong.
    let is_game = finding.basis::<Solved>().is_some();
    let judgment = match finding.verdict {
        Verdict::Unknown => Judgment::Unknown,
        _ if finding.is_violated() && !is_game => Judgment::Violated,
        _ => Judgment::Fine,
    };
    let remark = finding.reason.clone().or_else(|| finding.vacuity.clone());
    Answer {
        name: finding.name().to_owned(),
        span: finding.span.clone(),
        says,
        remark: remark.or_else(|| finding.remarks().into_iter().next()),
        judgment,
        is_about_states: finding.basis::<Answered>().is_some(),
        run,
    }
}

/// `1 step`, `2 steps`.
fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
