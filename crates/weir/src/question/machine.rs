//! Channel machines: whether control states are reached, or visited again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use weir_channel::evidence::Evidence as File;
use weir_channel::explicit::{self, Again, again};
use weir_channel::lossy::{Reach, reach};
use weir_channel::semantics::{Contents, Goal, Run, Semantics, losses};
use weir_channel::text::show_transition;
use weir_channel::{Machine, SearchOptions, StateId, Word};
use weir_check::{Claim, Evidence as _, Rejected};
use weir_engine::Stats;
use weir_model::answer::Verdict;
use weir_model::limits::Budget;

use crate::error::Error;
use crate::finding::{
    Basis, Block, Event, Evidence, Finding, Line, Listener, NoProof, Proof, Report,
};
use crate::report::counted;
use crate::report::run::Layout;
use crate::report::table::Table;

/// What is asked of a channel machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineQuestion {
    /// Whether it reaches a control state.
    Reach(Goal),
    /// Whether it visits a control state infinitely often.
    Again(StateId),
    /// Which control states it reaches, with channels up to the bound.
    All,
}

/// What shows an answer about a machine.
#[derive(Debug)]
pub struct MachineRun {
    machine: Arc<Machine>,
    goal: Option<Goal>,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    /// A run; one without end repeats its steps from this one on.
    Run {
        run: Run,
        stem: Option<usize>,
    },
    /// The minimal configurations from which the goal is reached.
    Set(Vec<weir_channel::Configuration>),
    /// Every configuration was seen.
    Exhausted,
    Nothing,
}

/// The words of a channel by its name.
type Words<'m> = BTreeMap<&'m str, Vec<&'m str>>;

/// A step of a run, for programs to read.
#[derive(Serialize)]
pub(crate) struct StepReport<'m> {
    transition: usize,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'m str>,
    pub(crate) state: &'m str,
    pub(crate) channels: Words<'m>,
    lost: Words<'m>,
}

impl MachineQuestion {
    /// Answers it. Lossy machines are decided; perfect ones, and lossy ones with a bound, are searched up to the
    /// bound.
    ///
    /// # Errors
    /// If what was found is rejected by its checker.
    pub fn ask(
        &self,
        (file, text): (&str, &str),
        machine: &Arc<Machine>,
        semantics: Semantics,
        options: &SearchOptions,
        tell: Listener<'_>,
    ) -> Result<Report, Error> {
        let word = match semantics {
            Semantics::Perfect => "perfect",
            Semantics::Lossy => "lossy",
        };
        let mut report = Report {
            question: "channel",
            program: machine.name().to_owned(),
            file: file.to_owned(),
            text: text.to_owned(),
            about: format!("with {word} channels"),
            caveats: vec![],
            findings: vec![],
            notes: vec![],
        };
        let open = |state: StateId, kind, says: &str| {
            let claim = Claim {
                program: machine.name().to_owned(),
                fingerprint: weir_channel::evidence::fingerprint(machine),
                model: word.to_owned(),
                question: machine.state_name(state).to_owned(),
                clients: None,
                fairness: None,
                guesses: None,
            };
            let mut finding = Finding::open(claim, kind);
            finding.says = says.to_owned();
            finding
        };
        report.findings = match self {
            Self::Reach(goal) => vec![open(
                goal.state,
                "reach",
                match goal.contents {
                    Contents::Empty => "with empty channels",
                    Contents::Any => "with anything in the channels",
                },
            )],
            Self::Again(state) => vec![open(*state, "again", "again and again")],
            Self::All => machine.states().map(|state| open(state, "reach", "")).collect(),
        };
        tell(Event::Asked(&report));
        let mut progress = |stats: &Stats| tell(Event::Searching(stats));
        match self {
            Self::Reach(goal) => {
                let (answer, stats) = match (semantics, options.bound) {
                    (Semantics::Lossy, None) => reach(machine, goal, options, &mut progress),
                    _ => {
                        let found = explicit::search(
                            machine,
                            semantics,
                            Some(goal),
                            options,
                            &mut progress,
                        );
                        let unknown = || Reach::Unknown("the search has no answer".to_owned());
                        (found.goal.unwrap_or_else(unknown), found.stats)
                    }
                };
                let (verdict, word, reason, shown) = match answer {
                    Reach::Reached(run) => {
                        (Verdict::Violated, "reached", None, Shown::Run { run, stem: None })
                    }
                    Reach::NotReached(set) => {
                        (Verdict::Holds, "not reached", None, Shown::Set(set))
                    }
                    Reach::Unknown(reason) => {
                        (Verdict::Unknown, "unknown", Some(reason), Shown::Nothing)
                    }
                };
                let basis = MachineRun { machine: machine.clone(), goal: Some(*goal), shown };
                basis.accepted()?;
                report.findings[0].settle((verdict, word, reason), basis, &Arc::new(stats));
            }
            Self::Again(state) => {
                let (answer, stats) = again(machine, semantics, *state, options, &mut progress);
                let (verdict, word, reason, shown) = match answer {
                    Again::Visited(lasso) => {
                        let shown = Shown::Run { run: lasso.run, stem: Some(lasso.stem) };
                        (Verdict::Violated, "visited", None, shown)
                    }
                    Again::NotVisited => (Verdict::Holds, "not visited", None, Shown::Exhausted),
                    Again::Unknown(reason) => {
                        (Verdict::Unknown, "unknown", Some(reason), Shown::Nothing)
                    }
                };
                let basis = MachineRun { machine: machine.clone(), goal: None, shown };
                report.findings[0].settle((verdict, word, reason), basis, &Arc::new(stats));
            }
            Self::All => {
                let found = explicit::search(machine, semantics, None, options, &mut progress);
                let stats = Arc::new(found.stats);
                let reason = match (&stats.stopped, stats.bound) {
                    (Some(reason), _) => Some(reason.clone()),
                    (None, Some(bound)) if !stats.within_bound => Some(format!(
                        "channels held up to {bound}, but the machine can fill them further"
                    )),
                    _ => None,
                };
                for (finding, state) in report.findings.iter_mut().zip(machine.states()) {
                    let answer = match (found.states.contains(&state), &reason) {
                        (true, _) => (Verdict::Holds, "reached", None),
                        (false, None) => (Verdict::Holds, "not reached", None),
                        (false, Some(reason)) => {
                            (Verdict::Unknown, "unknown", Some(reason.clone()))
                        }
                    };
                    let basis = MachineRun {
                        machine: machine.clone(),
                        goal: None,
                        shown: Shown::Exhausted,
                    };
                    finding.settle(answer, basis, &stats);
                    // It is listed what is reached; nothing is claimed.
                    finding.is_neutral = true;
                }
            }
        }
        for (i, finding) in report.findings.iter().enumerate() {
            tell(Event::Found(i, finding));
        }
        Ok(report)
    }
}

impl Finding {
    fn settle(
        &mut self,
        (verdict, word, reason): (Verdict, &str, Option<String>),
        basis: MachineRun,
        stats: &Arc<Stats>,
    ) {
        *self = self.clone().settled(verdict, Arc::new(basis));
        self.outcome = Some(word.to_owned());
        self.reason = reason;
        self.statistics = Some(stats.clone());
    }
}

impl MachineRun {
    /// The file of the run, if there is one that can be checked.
    fn run_file(&self) -> Option<File> {
        match (&self.shown, &self.goal) {
            (Shown::Run { run, stem: None }, Some(goal)) => {
                Some(File::of_run(&self.machine, goal, run))
            }
            _ => None,
        }
    }

    /// Has the checker look at the run. One that is too much work to check has no file.
    fn accepted(&self) -> Result<(), Error> {
        let Some(file) = self.run_file() else { return Ok(()) };
        match file.check(&self.machine, 1) {
            Err(why) if !matches!(why, Rejected::TooLarge(_)) => {
                Err(Error::Internal(crate::certify::Unaccepted { what: file.what(), why }))
            }
            _ => Ok(()),
        }
    }

    fn word<'m>(&'m self, word: &Word) -> Vec<&'m str> {
        word.iter().map(|m| self.machine.message_name(*m)).collect()
    }

    /// Words by channel; those that are empty are left out.
    fn words<'m>(&'m self, words: &[Word]) -> Words<'m> {
        let all = self.machine.channels().zip(words);
        let full = all.filter(|(_, w)| !w.is_empty());
        full.map(|(c, w)| (self.machine.channel_name(c), self.word(w))).collect()
    }

    /// The steps of the run, if there is one.
    pub(crate) fn steps(&self) -> Option<Vec<StepReport<'_>>> {
        let Shown::Run { run, .. } = &self.shown else { return None };
        let mut at = self.machine.start();
        let mut steps = Vec::new();
        for step in &run.steps {
            let label = self.machine.transition(step.transition).label;
            steps.push(StepReport {
                transition: self.machine.place_of(step.transition),
                text: show_transition(&self.machine, step.transition),
                label: label.map(|l| self.machine.label_name(l)),
                state: self.machine.state_name(step.after.state),
                channels: self.words(&step.after.channels),
                lost: self.words(&losses(&self.machine, &at, step)),
            });
            at = step.after.clone();
        }
        Some(steps)
    }
}

impl Basis for MachineRun {
    fn evidence(&self) -> Option<Evidence> {
        Some(match &self.shown {
            Shown::Run { run, stem: None } => {
                Evidence::new("run", format!("a run of {}", counted(run.steps.len(), "step")))
            }
            Shown::Run { run, stem: Some(stem) } => {
                let cycle = run.steps.len() - stem;
                let what = format!("{}, then a cycle of {cycle}", counted(*stem, "step"));
                Evidence::new("lasso", what)
            }
            Shown::Set(set) => {
                let count = counted(set.len(), "minimal configuration");
                Evidence::new("upward-closed set", format!("an upward-closed set with {count}"))
            }
            Shown::Exhausted => Evidence::new("exhaustive search", "every configuration"),
            Shown::Nothing => return None,
        })
    }

    fn file(&self) -> Option<String> {
        let file = self.run_file()?;
        file.check(&self.machine, 1).is_ok().then(|| file.to_json() + "\n")
    }

    fn blocks(&self, _: Layout) -> Vec<Block> {
        let (Some(steps), Shown::Run { stem, .. }) = (self.steps(), &self.shown) else {
            return Vec::new();
        };
        let machine = &self.machine;
        let mut table = Table::default();
        // The oldest message is the last one, next to where it comes out.
        let heads = machine.channels().map(|c| format!("{} →", machine.channel_name(c)));
        let head = ["step".to_owned(), "transition".to_owned()];
        table.row(head.into_iter().chain(heads).chain(["lost".to_owned()]));
        for (number, step) in steps.into_iter().enumerate() {
            let held = machine.channels().map(|c| {
                step.channels.get(machine.channel_name(c)).map_or("·".to_owned(), |w| w.join(" "))
            });
            let lost = step.lost.iter().map(|(c, w)| format!("{} of {c}", w.join(" ")));
            let lost: Vec<String> = lost.collect();
            let begin = [format!("{:>4}", number + 1), step.text.clone()];
            table.row(begin.into_iter().chain(held).chain([lost.join(", ")]));
        }
        let mut lines = Vec::new();
        let width = table.width("  ");
        for (number, line) in table.lines("  ").into_iter().enumerate() {
            lines.push(Line::Plain(line));
            if number == 0 {
                lines.push(Line::Plain("─".repeat(width)));
            }
            if *stem == Some(number) {
                lines.push(Line::Plain(ruled("again and again", width)));
            }
        }
        if let Some(stem) = stem {
            lines.push(Line::Plain(ruled(&format!("back to step {}", stem + 1), width)));
        }
        vec![Block { name: String::new(), title: String::new(), lines }]
    }

    fn details(&self) -> Option<Value> {
        let Shown::Run { stem, .. } = &self.shown else { return None };
        let mut steps = self.steps()?;
        Some(match stem {
            None => json!({ "run": steps }),
            Some(stem) => {
                let cycle = steps.split_off(*stem);
                json!({ "stem": steps, "cycle": cycle })
            }
        })
    }

    fn proof(&self, _: &Report, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let (Shown::Set(set), Some(goal)) = (&self.shown, &self.goal) else { return Ok(None) };
        if set.is_empty() {
            return Err(NoProof::TooLarge("the proof has too many configurations".to_owned()));
        }
        let file = File::of_set(&self.machine, goal, set);
        // The checker lists the words of guards, which the search does not.
        if let Err(Rejected::TooLarge(_)) = file.check(&self.machine, 1) {
            return Err(NoProof::TooLarge("the proof is too much work to check".to_owned()));
        }
        Ok(Some(Proof::accepted(file, &*self.machine, budget.threads())?))
    }
}

/// Words in a line across a table.
fn ruled(words: &str, width: usize) -> String {
    format!("── {words} {}", "─".repeat(width.saturating_sub(words.len() + 4)))
}
