//! The search: forward, level by level, with maximal configurations only.
//!
//! What is reached from a level is stored at once, and may cover configurations of the
//! level whose turn has not come. They are expanded all the same: so what a level is
//! depends only on what was stored before it, and workers can expand it in any order (`shared`).

use std::sync::Arc;
use std::time::Instant;

use weir_model::answer::{Answer, Evidence, Invariant};
use weir_model::ids::{ProcessId, QuestionId};
use weir_model::limits::{INTERVAL, Stop};

use super::blame::Path;
use super::course::Course;
use super::letters::Halt;
use super::precision::Precision;
use super::shared;
use super::space::{Config, Space, Step};
use super::store::Store;
use crate::engine::Task;
use crate::stats::{Progress, Stats};

pub(super) struct Search<'s> {
    pub(super) space: Space<'s>,
    pub(super) store: Store<Option<(u32, Step)>>,
    /// The steps that were taken and what has what they lead to, if they are to be drawn.
    pub(super) edges: Vec<(u32, Step, u32)>,
    /// How many configurations are initial.
    initial: usize,
    /// Whether the round was ended for the sake of the next.
    was_cut: bool,
    stats: Stats,
}

impl<'s> Search<'s> {
    /// A search that joins nothing and tells single letters apart, for drawing.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(super) fn to_draw(task: Task<'s>) -> Result<Self, Stop> {
        let active: Vec<ProcessId> = task.system.process_ids().collect();
        Self::new(task, &active, &Precision::exact(), Stats::default())
    }

    fn new(
        task: Task<'s>,
        active: &[ProcessId],
        precision: &Precision,
        stats: Stats,
    ) -> Result<Self, Stop> {
        let mut space = Space::new(task, active, precision.level)?;
        let store = Store::new(&mut space, precision);
        Ok(Self { space, store, edges: vec![], initial: 0, was_cut: false, stats })
    }

    /// Stores a configuration unless a stored one covers it. Returns the number of the
    /// one that has it.
    fn insert(&mut self, config: &Config, parent: Option<(u32, Step)>) -> Result<u32, Halt> {
        self.store.insert(&mut self.space, config, parent)
    }

    fn run(
        &mut self,
        course: &mut Course,
        task: Task<'_>,
        began: Instant,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<(), Halt> {
        let options = task.options;
        for config in self.space.initial()? {
            self.space.budget().tick()?;
            self.initial += 1;
            self.insert(&config, None)?;
        }
        let mut first = 0;
        loop {
            let end = self.store.kept.len() as u32;
            let kept = &self.store.kept;
            let level: Vec<u32> = (first..end).filter(|&id| !kept.is_covered(id)).collect();
            first = end;
            if level.is_empty() {
                return Ok(());
            }
            if course.is_cut(self.stats.expanded) {
                self.was_cut = true;
                return Ok(());
            }
            for id in level {
                let config = self.store.kept.get(id);
                self.try_to_settle(id, &config, course, task)?;
                if course.is_done() {
                    return Ok(());
                }
                let mut reached = Vec::new();
                self.space.successors(&config, &mut |step, next| reached.push((step, next)))?;
                self.stats.steps += reached.len();
                for (step, next) in reached {
                    self.insert(&next, Some((id, step)))?;
                }
                self.stats.expanded += 1;
                // One expansion may take long.
                options.budget.check()?;
                if self.stats.expanded.is_multiple_of(INTERVAL) {
                    self.measure(began);
                    progress(&self.stats);
                    options.budget.check_store(self.stats.bytes)?;
                    options.budget.check_freeing(self.stats.bytes)?;
                }
            }
        }
    }

    /// Takes every step from every configuration and keeps which has what it leads to.
    /// Stops when there are more than `most`.
    pub(super) fn draw(&mut self, most: usize) -> Result<(), Halt> {
        for config in self.space.initial()?.take(most + 1) {
            self.insert(&config, None)?;
        }
        let mut edges = Vec::new();
        let mut next = 0;
        while next < self.store.kept.len() && self.store.kept.len() <= most {
            let (id, config) = (next as u32, self.store.kept.get(next as u32));
            self.space.budget().check()?;
            next += 1;
            if self.store.kept.is_covered(id) {
                continue;
            }
            let mut reached = Vec::new();
            self.space.successors(&config, &mut |step, next| reached.push((step, next)))?;
            for (step, next) in reached {
                let to = self.insert(&next, Some((id, step)))?;
                edges.push((id, step, to));
            }
        }
        self.edges = edges;
        Ok(())
    }

    /// What was stored, as evidence.
    fn invariant(&self) -> Invariant {
        let maximal = self.store.maximal();
        self.space.invariant(maximal.map(|id| self.space.parts(&self.store.kept.get(id))).collect())
    }

    fn measure(&mut self, began: Instant) {
        self.stats.stored = self.store.maximal;
        // What was reached and not stored was covered.
        let reached = self.initial + self.stats.steps;
        self.stats.covered = reached.saturating_sub(self.store.kept.len());
        self.stats.longest = Some(self.store.longest);
        self.stats.bytes = self.store.bytes() + self.space.bytes();
        self.stats.elapsed = began.elapsed();
    }

    /// Tries to settle the open questions with the places that processes can reach by themselves.
    fn try_to_settle(
        &mut self,
        id: u32,
        config: &Config,
        course: &mut Course,
        task: Task<'_>,
    ) -> Result<(), Halt> {
        for question in 0..course.questions() {
            if course.is_open(question)
                && let Some(ways) = self.space.settling(config, question)?
            {
                let mut path = self.path(id)?;
                path.events.extend(ways);
                course.judge(&mut self.space, question, &path)?;
                if let Some(run) = course.run(question).filter(|_| task.settled.is_told()) {
                    let (id, asked) = (QuestionId::new(question), &task.questions[question]);
                    task.settled.hand_over(&Answer::settled(id, asked, run.clone()));
                }
            }
        }
        Ok(())
    }

    /// The way to a configuration.
    fn path(&mut self, id: u32) -> Result<Path, Halt> {
        let mut configs = vec![self.store.kept.get(id)];
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((parent, step)) = self.store.parents[at as usize] {
            steps.push(step);
            configs.push(self.store.kept.get(parent));
            at = parent;
        }
        steps.reverse();
        configs.reverse();
        self.space.path(configs, steps)
    }
}

/// Answers what it can about the runs in which only some processes act: a run
/// of these is a run of all. Nothing holds for this reason.
pub fn check_some(
    task: Task<'_>,
    active: &[ProcessId],
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    let (mut answers, mut stats) = check_among(task, active, progress);
    for answer in answers.iter_mut().filter(|a| !a.has_run()) {
        *answer = Answer::unknown(answer.property, "not found with some processes only");
    }
    stats.within_bound = false;
    (answers, stats)
}

pub(super) fn check_among(
    task: Task<'_>,
    active: &[ProcessId],
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    let began = Instant::now();
    let options = task.options;
    let mut course = Course::new(task.questions.len());
    loop {
        course.begin();
        let stats = shared::stats(&course);
        let mut search = match Search::new(task, active, course.precision(), stats) {
            Ok(search) => search,
            Err(stop) => {
                let mut stats = Stats { engine: "views", within_bound: true, ..Stats::default() };
                stats.stopped = Some(stop.to_string());
                stats.elapsed = began.elapsed();
                return (course.answers(task, None, &stats), stats);
            }
        };
        if let Err(halt) = search.run(&mut course, task, began, progress) {
            search.stats.stopped = Some(halt.to_string());
        }
        search.measure(began);
        let has_stopped = search.stats.stopped.is_some();
        let saw_all = !search.was_cut && !has_stopped;
        if course.close(saw_all, has_stopped, options.certificate) {
            continue;
        }
        // What shows that nothing else happens, if this round saw everything.
        let proof = saw_all.then(|| match options.certificate {
            true => Evidence::Invariant(Arc::new(search.invariant())),
            false => Evidence::Exhausted,
        });
        return (course.answers(task, proof.as_ref(), &search.stats), search.stats);
    }
}
