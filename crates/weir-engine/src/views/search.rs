//! The search: forward, breadth-first, with maximal configurations only.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use weir_model::answer::{Answer, Evidence, Invariant, Run};
use weir_model::ids::{Cell, ProcessId, ValueId};
use weir_model::limits::{INTERVAL, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Kind;

use super::blame::Followed;
use super::kept::Kept;
use super::letters::Halt;
use super::places::Places;
use super::precision::{Blamed, Joined, Precision, Spot, spot};
use super::space::{Config, Space, Step};
use super::subwords::MAX_LEVEL;
use crate::concrete::{self, Event};
use crate::engine::Task;
use crate::stats::{Progress, SearchOptions, Stats};

/// How many spurious paths are looked at before the level is raised: the next path may be a run.
const TRIES: usize = 64;

/// How many spurious paths that joins made possible are collected before the search begins again.
const PATHS: usize = 8;

/// How much longer a round goes on for the sake of the other questions, once it
/// cannot decide one of them.
const LONGER: usize = 8;

/// A round that is cut short expands at least [`LONGER`] times as many configurations.
const FEW: usize = 1 << 8;

pub(super) struct Search<'s> {
    /// Which views are joined at some places, and elsewhere.
    joined_at: FxHashMap<Spot, Joined>,
    joined_elsewhere: Joined,
    pub(super) space: Space<'s>,
    model: MemoryModel,
    pub(super) kept: Kept,
    pub(super) parents: Vec<Option<(u32, Step)>>,
    /// The steps that were taken and what has what they lead to, if they are to be drawn.
    pub(super) edges: Vec<(u32, Step, u32)>,
    /// How many configurations are maximal.
    maximal: usize,
    /// Where views were joined that should not have been.
    blamed: Vec<Vec<Blamed>>,
    /// Whether the round was ended for the sake of the next.
    was_cut: bool,
    stats: Stats,
}

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

impl<'s> Search<'s> {
    /// A search that joins nothing and tells single letters apart, for drawing.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(super) fn to_draw(task: Task<'s>) -> Result<Self, Stop> {
        let active: Vec<ProcessId> = task.system.process_ids().collect();
        Self::new(task, &active, &Precision::exact())
    }

    fn new(task: Task<'s>, active: &[ProcessId], precision: &Precision) -> Result<Self, Stop> {
        let level = precision.level;
        let mut space = Space::new(task, active, level)?;
        let (joined_at, joined_elsewhere) = precision.joined(&mut space.table.letters);
        Ok(Self {
            joined_at,
            joined_elsewhere,
            space,
            model: task.model,
            kept: Kept::new(
                task.system.processes.len() + task.system.vars.len(),
                task.system.processes.len(),
            ),
            parents: vec![],
            edges: vec![],
            maximal: 0,
            blamed: vec![],
            was_cut: false,
            stats: Stats {
                engine: "views",
                level: Some(level.0),
                within_bound: true,
                ..Stats::default()
            },
        })
    }

    /// For each process, which of its views are joined in a state.
    fn joins(&self, state: &[Cell]) -> Vec<Joined> {
        let system = self.space.system;
        let joined = |p| match self.joined_at.is_empty() {
            true => self.joined_elsewhere,
            false => self
                .joined_at
                .get(&spot(system, state, p))
                .copied()
                .unwrap_or(self.joined_elsewhere),
        };
        system.process_ids().map(joined).collect()
    }

    /// Stores a configuration unless a stored one covers it. Returns the number of the
    /// one that has it.
    fn insert(&mut self, config: &Config, parent: Option<(u32, Step)>) -> Result<u32, Halt> {
        let joins = self.joins(&config.state);
        let (table, kept) = (&mut self.space.table, &mut self.kept);
        let number = kept.bucket_of(&config.state, &table.letters.budget)?;
        if let Some(id) = kept.find(number, &config.views) {
            self.stats.covered += 1;
            return Ok(id);
        }
        let bucket = kept.bucket(number);
        let mut views = config.views.clone();
        let mut outline = table.outline(&views, &joins)?;
        let count = bucket.len();
        table.letters.budget.work(1 + count / 64)?;
        for c in bucket.above(&outline.sketches) {
            if table.may_cover(kept.shapes(c), &outline.shapes)
                && table.all_cover(kept.views(c), &views)?
            {
                self.stats.covered += 1;
                return Ok(c);
            }
        }
        if let Some(kind) = &outline.kind
            && let Some(c) = kept.of_kind(number, kind)
        {
            views = table.join(kept.views(c), &views)?;
            outline = table.outline(&views, &joins)?;
        }
        let mut worse: Vec<u32> = Vec::new();
        for c in bucket.below(&outline.sketches) {
            if table.may_cover(&outline.shapes, kept.shapes(c))
                && table.all_cover(&views, kept.views(c))?
            {
                worse.push(c);
            }
        }
        let id = kept.push(number, &views, &outline);
        self.maximal = self.maximal + 1 - worse.len();
        for c in worse {
            kept.set_covered(c, id);
        }
        self.parents.push(parent);
        Ok(id)
    }

    fn run(
        &mut self,
        found: &mut [Found],
        options: &SearchOptions,
        began: Instant,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<(), Halt> {
        for config in self.space.initial()? {
            self.space.budget().tick()?;
            self.insert(&config, None)?;
        }
        let mut most = usize::MAX;
        let mut next = 0;
        while next < self.kept.len() {
            let id = next as u32;
            next += 1;
            if self.kept.is_covered(id) {
                continue;
            }
            let config = self.kept.get(id);
            self.look(id, &config, found)?;
            if found.iter().all(Found::is_done) {
                return Ok(());
            }
            if self.stats.expanded >= most {
                self.was_cut = true;
                return Ok(());
            }
            // The next round will be needed: this one is not to take for ever.
            let is_lost = |f: &Found| f.is_spurious() && f.is_done();
            if most == usize::MAX && found.iter().any(is_lost) {
                most = LONGER * (self.stats.expanded + FEW);
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
        Ok(())
    }

    /// Takes every step from every configuration and keeps which has what it leads to.
    /// Stops when there are more than `most`.
    pub(super) fn draw(&mut self, most: usize) -> Result<(), Halt> {
        for config in self.space.initial()?.take(most + 1) {
            self.insert(&config, None)?;
        }
        let mut edges = Vec::new();
        let mut next = 0;
        while next < self.kept.len() && self.kept.len() <= most {
            let (id, config) = (next as u32, self.kept.get(next as u32));
            self.space.budget().check()?;
            next += 1;
            if self.kept.is_covered(id) {
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
        let maximal = (0..self.kept.len() as u32).filter(|id| !self.kept.is_covered(*id));
        let mut configurations: Vec<_> =
            maximal.map(|id| self.space.parts(&self.kept.get(id))).collect();
        // Only the letters that are in use, numbered as they turn up.
        let all = self.space.table.letters.all();
        let mut letters = Vec::new();
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut renumber = |letter: &mut u32| {
            *letter = *places.entry(*letter).or_insert_with(|| {
                letters.push(all[*letter as usize].clone());
                (letters.len() - 1) as u32
            });
        };
        for view in configurations.iter_mut().flat_map(|c| &mut c.views) {
            view.segments.iter_mut().flatten().flatten().for_each(&mut renumber);
            view.marks.iter_mut().map(|(_, letter)| letter).for_each(&mut renumber);
        }
        Invariant { model: self.model, level: self.space.table.level.0, letters, configurations }
    }

    fn measure(&mut self, began: Instant) {
        self.stats.stored = self.maximal;
        self.stats.longest = Some(self.space.table.longest());
        self.stats.bytes = self.bytes();
        self.stats.elapsed = began.elapsed();
    }

    /// About what the configurations and views take up.
    fn bytes(&self) -> usize {
        let parents = self.parents.len() * size_of::<Option<(u32, Step)>>();
        self.kept.bytes() + parents + self.space.bytes()
    }

    /// Looks whether processes can come to places that settle a question.
    fn look(&mut self, id: u32, config: &Config, found: &mut [Found]) -> Result<(), Halt> {
        for (index, found) in found.iter_mut().enumerate() {
            if found.is_done() {
                continue;
            }
            if let Some(ways) = self.settling(config, index)? {
                let mut path = self.path(id)?;
                path.events.extend(ways);
                let start = self.kept.get(path.configs[0]);
                if let Some(run) = self.concrete(&start, &path.events)? {
                    *found = Found::Settled(Box::new(run));
                    continue;
                }
                // Once the level has to be raised, joins do not matter.
                if let Found::Folded(tries) = found {
                    *tries += 1;
                    continue;
                }
                *found = match self.follow(&path, index)? {
                    Followed::Run(run) => Found::Settled(run),
                    Followed::Stuck(blamed) if !blamed.is_empty() => {
                        self.blamed.push(blamed);
                        let tries = if let Found::Joined(tries) = found { *tries } else { 0 };
                        Found::Joined(tries + 1)
                    }
                    Followed::Stuck(_) | Followed::Folded => Found::Folded(1),
                };
            }
        }
        Ok(())
    }

    /// The run that events from an initial configuration stand for, if they do.
    pub(super) fn concrete(&self, start: &Config, events: &[Event]) -> Result<Option<Run>, Stop> {
        let start = self.space.memory(start).iter();
        let start: Vec<ValueId> = start.map(|&v| v.into()).collect();
        concrete::run(self.space.system, self.model, &start, events, self.space.budget())
    }

    /// The places of a process, and those at which it may settle a question.
    fn picks(
        &mut self,
        config: &Config,
        number: usize,
        p: ProcessId,
    ) -> Result<(Rc<Places>, Vec<u32>), Halt> {
        let system = self.space.system;
        let question = &self.space.questions[number];
        let places = match self.space.is_asked_at_the_end(question) {
            // Wherever it goes by itself, it makes no difference to the formula.
            true if !self.space.watch.asks(number, p) => self.space.rest_of(config, p),
            true => self.space.last_places_of(config, p)?,
            false => self.space.places_of(config, p)?,
        };
        let mut picks = places.picks[number].clone();
        if let Kind::NoDeadlock(except) = &question.kind {
            let control = |i: &u32| places.list[*i as usize].control;
            let memory = self.space.memory(config);
            picks.retain(|i| system.is_stuck(p, control(i), memory));
            // One that may not stay makes it a deadlock.
            picks.sort_by_key(|i| system.may_stay(p, control(i), except));
            picks.truncate(1);
        }
        Ok((places, picks))
    }

    /// What processes do by themselves to settle a question, if they can.
    pub(super) fn settling(
        &mut self,
        config: &Config,
        number: usize,
    ) -> Result<Option<Vec<Event>>, Halt> {
        let system = self.space.system;
        let question = &self.space.questions[number];
        let last = self.space.is_asked_at_the_end(question);
        let memory = &config.state[system.processes.len()..];
        let mut all: Vec<(Rc<Places>, Vec<u32>)> = Vec::with_capacity(system.processes.len());
        for p in system.process_ids() {
            let (places, picks) = self.picks(config, number, p)?;
            if picks.is_empty() {
                return Ok(None);
            }
            all.push((places, picks));
        }
        let mut chosen = vec![0; all.len()];
        loop {
            self.space.budget().tick()?;
            let place = |(i, (_, picks)): (usize, &(_, Vec<u32>))| picks[chosen[i]];
            let numbers: Vec<u32> = all.iter().enumerate().map(place).collect();
            let control =
                |((places, _), n): (&(Rc<Places>, _), &u32)| places.list[*n as usize].control.0;
            let controls: Vec<Cell> = all.iter().zip(&numbers).map(control).collect();
            if question.is_settled(system, &controls, memory) {
                let mut events: Vec<Event> = last.then_some(Event::End).into_iter().collect();
                for ((p, (places, _)), n) in system.process_ids().zip(&all).zip(numbers) {
                    events.extend(places.path(n).into_iter().map(|id| Event::Take(p, id)));
                }
                return Ok(Some(events));
            }
            // The next choice, counting up.
            let Some(i) = (0..all.len()).find(|&i| chosen[i] + 1 < all[i].1.len()) else {
                return Ok(None);
            };
            chosen[i] += 1;
            chosen[..i].fill(0);
        }
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
    let mut found = vec![Found::Nothing; task.questions.len()];
    let mut stats;
    // What shows that nothing else happens, if the last round saw everything.
    let mut proof;
    let mut precision = Precision::coarse();
    loop {
        for f in found.iter_mut().filter(|f| f.is_spurious()) {
            *f = Found::Nothing;
        }
        let mut search = match Search::new(task, active, &precision) {
            Ok(search) => search,
            Err(stop) => {
                stats = Stats { engine: "views", within_bound: true, ..Stats::default() };
                stats.stopped = Some(stop.to_string());
                stats.elapsed = began.elapsed();
                proof = None;
                break;
            }
        };
        if let Err(halt) = search.run(&mut found, options, began, progress) {
            search.stats.stopped = Some(halt.to_string());
        }
        search.measure(began);
        let saw_all = !search.was_cut && search.stats.stopped.is_none();
        proof = saw_all.then(|| match options.certificate {
            true => Evidence::Invariant(Arc::new(search.invariant())),
            false => Evidence::Exhausted,
        });
        stats = search.stats;
        let refine = !saw_all || found.iter().any(Found::is_spurious);
        if stats.stopped.is_some() || !refine {
            break;
        }
        precision.raise(&search.blamed);
        let is_folded = found.iter().any(|f| matches!(f, Found::Folded(_)));
        if is_folded && !precision.raise_level() {
            break;
        }
        // A certificate is one set for all that holds: the last round's.
        if saw_all && !options.certificate {
            for f in found.iter_mut().filter(|f| matches!(f, Found::Nothing)) {
                *f = Found::Excluded;
            }
        }
    }
    let questions = task.questions.iter().zip(found).enumerate();
    let answers = questions.map(|(i, (question, found))| match found {
        Found::Settled(run) => Answer::settled(i, question, *run),
        Found::Folded(_) | Found::Joined(_) => {
            let undecided = || format!("not decided by subwords of up to {MAX_LEVEL} letters");
            Answer::unknown(i, stats.stopped.clone().unwrap_or_else(undecided))
        }
        Found::Nothing => match (&proof, &stats.stopped) {
            (Some(proof), _) => Answer::excluded(i, question, proof.clone()),
            (None, Some(reason)) => Answer::unknown(i, reason),
            (None, None) => Answer::unknown(i, "the search was cut short"),
        },
        Found::Excluded => Answer::excluded(i, question, Evidence::Exhausted),
    });
    (answers.collect(), stats.clone())
}
