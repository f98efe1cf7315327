//! The course of a search in rounds: what is known of each question, and the precision of the next
//! round.

use weir_model::answer::{Answer, Evidence, Run};
use weir_model::question::numbered;

use super::blame::{Followed, Path};
use super::letters::Halt;
use super::precision::{Blamed, Precision};
use super::space::Space;
use super::subwords::MAX_LEVEL;
use crate::engine::Task;
use crate::stats::Stats;

/// How many spurious paths are looked at before the level is raised: the next path may be a run.
const TRIES: usize = 64;

/// How many spurious paths that joins made possible are collected before the search begins again.
const PATHS: usize = 8;

/// How much longer a round goes on for the sake of the other questions, once it
/// cannot decide one of them.
const CUT_FACTOR: usize = 8;

/// A round that is cut short expands at least [`CUT_FACTOR`] times as many configurations.
const CUT_MINIMUM: usize = 1 << 8;

/// What is known of a question.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// So many spurious paths settle it, and joins are not the reason: the level is too low.
    Folded(usize),
    /// So many spurious paths settle it; joins made all of them possible.
    Joined(usize),
    /// A run that settles it.
    Settled(Box<Run>),
    /// Nothing settles it, as a round showed that was not yet the last.
    Excluded,
}

impl Found {
    /// Whether this round can say no more about it.
    fn is_done(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Folded(tries) => *tries >= TRIES,
            Self::Joined(tries) => *tries >= PATHS,
            Self::Settled(_) | Self::Excluded => true,
        }
    }

    /// Whether a finer search may say more.
    fn is_spurious(&self) -> bool {
        matches!(self, Self::Folded(_) | Self::Joined(_))
    }
}

/// What is known of all questions, and the precision of a round.
#[derive(Clone, Debug)]
pub struct Course {
    found: Vec<Found>,
    precision: Precision,
    /// Where views were joined in this round that should not have been.
    blamed: Vec<Vec<Blamed>>,
    /// The number of expanded configurations at which this round is cut short.
    most: usize,
}

impl Course {
    /// Before the first round, for so many questions.
    pub fn new(questions: usize) -> Self {
        Self {
            found: vec![Found::Nothing; questions],
            precision: Precision::coarse(),
            blamed: vec![],
            most: usize::MAX,
        }
    }

    /// Begins a round.
    pub fn begin(&mut self) {
        for f in self.found.iter_mut().filter(|f| f.is_spurious()) {
            *f = Found::Nothing;
        }
        self.blamed.clear();
        self.most = usize::MAX;
    }

    /// The precision of this round.
    pub(super) fn precision(&self) -> &Precision {
        &self.precision
    }

    /// The number of questions.
    pub fn questions(&self) -> usize {
        self.found.len()
    }

    /// Whether this round may say more about a question.
    pub fn is_open(&self, question: usize) -> bool {
        !self.found[question].is_done()
    }

    /// Whether this round can say no more.
    pub fn is_done(&self) -> bool {
        self.found.iter().all(Found::is_done)
    }

    /// Whether something was not settled in any round so far: then what the last round saw is its
    /// proof.
    pub fn needs_proof(&self) -> bool {
        self.found.iter().any(|f| matches!(f, Found::Nothing))
    }

    /// Whether a round is cut short after a level: once it cannot decide a question, the next round
    /// will be needed, and this one is not to take for ever.
    pub fn is_cut(&mut self, expanded: usize) -> bool {
        if expanded >= self.most {
            return true;
        }
        let is_lost = |f: &Found| f.is_spurious() && f.is_done();
        if self.most == usize::MAX && self.found.iter().any(is_lost) {
            self.most = CUT_FACTOR * (expanded + CUT_MINIMUM);
        }
        false
    }

    /// The run that settles a question, if one is known.
    pub(super) fn run(&self, question: usize) -> Option<&Run> {
        match &self.found[question] {
            Found::Settled(run) => Some(run),
            _ => None,
        }
    }

    /// Looks whether a path that settles a question is a run, and if it is not, why.
    pub(super) fn judge(
        &mut self,
        space: &mut Space<'_>,
        question: usize,
        path: &Path,
    ) -> Result<(), Halt> {
        let found = &mut self.found[question];
        if let Some(run) = space.concrete(&path.configs[0], &path.events)? {
            *found = Found::Settled(Box::new(run));
            return Ok(());
        }
        // Once the level has to be raised, joins do not matter.
        if let Found::Folded(tries) = found {
            *tries += 1;
            return Ok(());
        }
        *found = match space.follow(path, question)? {
            Followed::Run(run) => Found::Settled(run),
            Followed::Stuck(blamed) if !blamed.is_empty() => {
                self.blamed.push(blamed);
                let tries = if let Found::Joined(tries) = found { *tries } else { 0 };
                Found::Joined(tries + 1)
            }
            Followed::Stuck(_) | Followed::Folded => Found::Folded(1),
        };
        Ok(())
    }

    /// Ends a round, which saw everything or did not. Whether there is to be another.
    pub fn close(&mut self, saw_all: bool, has_stopped: bool, certificate: bool) -> bool {
        let refine = !saw_all || self.found.iter().any(Found::is_spurious);
        if has_stopped || !refine {
            return false;
        }
        self.precision.raise(&self.blamed);
        let is_folded = self.found.iter().any(|f| matches!(f, Found::Folded(_)));
        if is_folded && !self.precision.raise_level() {
            return false;
        }
        // A certificate is one set for all that holds: the last round's.
        if saw_all && !certificate {
            for f in self.found.iter_mut().filter(|f| matches!(f, Found::Nothing)) {
                *f = Found::Excluded;
            }
        }
        true
    }

    /// What the search answers; `proof` is there if the last round saw everything.
    pub fn answers(self, task: Task<'_>, proof: Option<&Evidence>, stats: &Stats) -> Vec<Answer> {
        let questions = numbered(task.questions).zip(self.found);
        let answers = questions.map(|((i, question), found)| match found {
            Found::Settled(run) => Answer::settled(i, question, *run),
            Found::Folded(_) | Found::Joined(_) => {
                let undecided =
                    || format!("not decided by words of up to {MAX_LEVEL} memory states");
                Answer::unknown(i, stats.stopped.clone().unwrap_or_else(undecided))
            }
            Found::Nothing => match (proof, &stats.stopped) {
                (Some(proof), _) => Answer::excluded(i, question, proof.clone()),
                (None, Some(reason)) => Answer::unknown(i, reason),
                (None, None) => Answer::unknown(i, "the search was cut short"),
            },
            Found::Excluded => Answer::excluded(i, question, Evidence::Exhausted),
        });
        answers.collect()
    }
}
