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
use weir_model::system::StateKind;

use super::kept::Kept;
use super::letters::Halt;
use super::places::Places;
use super::rounds::{EVERYTHING, Round, rounds};
use super::space::{Config, Space, Step};
use super::subwords::{Level, MAX_LEVEL};
use crate::concrete::{self, Event};
use crate::engine::Task;
use crate::stats::{Progress, SearchOptions, Stats};

/// How many configurations that settle one question are looked at for a real run
/// before the level is raised.
const TRIES: usize = 64;

/// How much longer a round goes on for the sake of the other questions, once it
/// cannot decide one of them.
const LONGER: usize = 8;

/// A round that is cut short expands at least [`LONGER`] times as many configurations.
const FEW: usize = 1 << 8;

pub(super) struct Search<'s> {
    round: Round,
    pub(super) space: Space<'s>,
    model: MemoryModel,
    pub(super) kept: Kept,
    parents: Vec<Option<(u32, Step)>>,
    /// The steps that were taken and what has what they lead to, if they are to be drawn.
    pub(super) edges: Vec<(u32, Step, u32)>,
    /// How many configurations are maximal.
    maximal: usize,
    /// Whether any two were joined.
    has_joined: bool,
    /// Whether the round was ended for the sake of the next.
    was_cut: bool,
    stats: Stats,
}

/// What is known of a question.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// Bad configurations without a run, so many times.
    Spurious(usize),
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
            Self::Spurious(tries) => *tries >= TRIES,
            Self::Settled(_) | Self::Excluded => true,
        }
    }
}

impl<'s> Search<'s> {
    /// A search that joins nothing and tells single letters apart, for drawing.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(super) fn to_draw(task: Task<'s>) -> Result<Self, Stop> {
        let active: Vec<ProcessId> = task.system.process_ids().collect();
        let round = Round { level: Level(1), most: EVERYTHING, budget: usize::MAX };
        Self::new(task, &active, round)
    }

    fn new(task: Task<'s>, active: &[ProcessId], round: Round) -> Result<Self, Stop> {
        Ok(Self {
            round,
            space: Space::new(task, active, round.level)?,
            model: task.model,
            kept: Kept::new(
                task.system.processes.len() + task.system.vars.len(),
                task.system.processes.len(),
            ),
            parents: vec![],
            edges: vec![],
            maximal: 0,
            has_joined: false,
            was_cut: false,
            stats: Stats {
                engine: "views",
                level: Some(round.level.0),
                within_bound: true,
                ..Stats::default()
            },
        })
    }

    /// Stores a configuration unless a stored one covers it. Returns the number of the
    /// one that has it.
    fn insert(&mut self, config: &Config, parent: Option<(u32, Step)>) -> Result<u32, Stop> {
        let (table, kept) = (&mut self.space.table, &mut self.kept);
        let number = kept.bucket_of(&config.state, &table.letters.budget)?;
        if let Some(id) = kept.find(number, &config.views) {
            self.stats.covered += 1;
            return Ok(id);
        }
        let bucket = kept.bucket(number);
        let mut views = config.views.clone();
        let mut outline = table.outline(&views);
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
        if count >= self.round.most
            && let Some(c) = kept.nearest(number, &outline)
        {
            self.has_joined = true;
            views = table.join(kept.views(c), &views)?;
            outline = table.outline(&views);
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

    /// What happened on the way to a configuration, and where that began.
    fn path(&mut self, id: u32) -> Result<(u32, Vec<Event>), Halt> {
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((parent, step)) = self.parents[at as usize] {
            steps.push((parent, step));
            at = parent;
        }
        let mut events = Vec::new();
        for (parent, step) in steps.into_iter().rev() {
            let places = self.space.places_of(&self.kept.get(parent), step.process)?;
            events.extend(self.space.events(&places, step));
        }
        Ok((at, events))
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
        let mut most = self.round.budget;
        let mut is_limited = self.round.most == EVERYTHING;
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
            let is_lost = |f: &Found| matches!(f, Found::Spurious(tries) if *tries >= TRIES);
            if !is_limited && found.iter().any(is_lost) {
                is_limited = true;
                most = most.min(LONGER * (self.stats.expanded + FEW));
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
            let tries = match found {
                _ if found.is_done() => continue,
                Found::Spurious(tries) => *tries,
                _ => 0,
            };
            if let Some(ways) = self.settling(config, index)? {
                let (start, mut events) = self.path(id)?;
                events.extend(ways);
                let start = self.kept.get(start);
                let start = self.space.memory(&start);
                let start: Vec<ValueId> = start.iter().map(|&v| v.into()).collect();
                let (system, budget) = (self.space.system, self.space.budget());
                *found = match concrete::run(system, self.model, &start, &events, budget)? {
                    Some(run) => Found::Settled(Box::new(run)),
                    None => Found::Spurious(tries + 1),
                };
            }
        }
        Ok(())
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
            let places = match last {
                // Wherever it goes by itself, it makes no difference to the formula.
                true if !self.space.watch.asks(number, p) => self.space.rest_of(config, p),
                true => self.space.last_places_of(config, p)?,
                false => self.space.places_of(config, p)?,
            };
            let mut picks = places.picks[number].clone();
            if question.kind == Kind::NoDeadlock {
                let control = |i: &u32| places.list[*i as usize].control;
                picks.retain(|i| system.is_stuck(p, control(i), memory));
                // One that has not ended makes it a deadlock.
                picks.sort_by_key(|i| system.state(p, control(i)).kind == StateKind::Ended);
                picks.truncate(1);
            }
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
    let mut stats = Stats::default();
    // What shows that nothing else happens, if the last round saw everything.
    let mut proof = None;
    let mut exhausted = [false; MAX_LEVEL + 1];
    let mut hopeless = Vec::new();
    for round in rounds() {
        // Joining less changes nothing if nothing was joined, nor does a second try
        // if the first could not decide.
        if exhausted[round.level.0] || hopeless.contains(&(round.level.0, round.most)) {
            continue;
        }
        for f in &mut found {
            if let Found::Spurious(_) = f {
                *f = Found::Nothing;
            }
        }
        let mut search = match Search::new(task, active, round) {
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
        exhausted[round.level.0] = saw_all && !search.has_joined;
        stats = search.stats;
        let is_spurious = found.iter().any(|f| matches!(f, Found::Spurious(_)));
        if is_spurious {
            hopeless.push((round.level.0, round.most));
        }
        let refine = !saw_all || is_spurious;
        if stats.stopped.is_some() || !refine {
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
        Found::Spurious(_) => {
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
