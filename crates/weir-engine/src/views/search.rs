//! The search: forward, breadth-first, maximal configurations only.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use weir_model::answer::{Answer, Evidence, Invariant, Run, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{PropertyKind, Quantifier};
use weir_model::semantics::Form;
use weir_model::system::{StateKind, System};

use super::concrete::{self, Event};
use super::letters::TooMany;
use super::places::Places;
use super::space::{Config, Space, Step};
use super::subwords::{Level, MAX_LEVEL};
use super::watch::{asks_memory, settles};
use crate::stats::{Limits, Progress, Stats};

/// Whether this engine decides reachability under a model.
pub fn is_decided(model: MemoryModel) -> bool {
    matches!(Form::of(model)[0], Form::Sc | Form::Tso | Form::Pso | Form::NswFifo)
}

/// How many bad configurations of one property are looked at for a real run
/// before the level is raised.
const TRIES: usize = 64;

/// How many configurations are expanded between two looks at the clock.
const CLOCK: usize = 1 << 8;

/// How coarse a search is.
#[derive(Clone, Copy, Debug)]
struct Round {
    level: Level,
    /// Whether configurations that differ in sets of words only become one.
    joins: bool,
}

/// The rounds, from coarse to fine.
fn rounds() -> impl Iterator<Item = Round> {
    let coarse = Round { level: Level(1), joins: true };
    let finer = (1..=MAX_LEVEL).map(|k| Round { level: Level(k), joins: false });
    std::iter::once(coarse).chain(finer)
}

struct Search<'s> {
    joins: bool,
    space: Space<'s>,
    model: MemoryModel,
    configs: Vec<Config>,
    parents: Vec<Option<(u32, Step)>>,
    /// Whether a later configuration covers this one.
    covered: Vec<bool>,
    /// The sketch of each configuration.
    sketches: Vec<u64>,
    /// The maximal configurations with each state.
    buckets: FxHashMap<Box<[u16]>, Vec<u32>>,
    /// How many of them there are.
    maximal: usize,
    stats: Stats,
}

/// What is known of a property.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// Bad configurations without a run, so many times.
    Spurious(usize),
    Settled(Box<Run>),
}

impl<'s> Search<'s> {
    fn new(system: &'s System, model: MemoryModel, round: Round) -> Self {
        let Round { level, joins } = round;
        Self {
            joins,
            space: Space::new(system, model, level),
            model,
            configs: vec![],
            parents: vec![],
            covered: vec![],
            sketches: vec![],
            buckets: FxHashMap::default(),
            maximal: 0,
            stats: Stats {
                engine: "views",
                level: Some(level.0),
                within_bound: true,
                ..Stats::default()
            },
        }
    }

    /// Stores a configuration unless a stored one covers it.
    fn insert(&mut self, mut config: Config, parent: Option<(u32, Step)>) {
        let id = self.configs.len() as u32;
        let bucket = self.buckets.entry(config.state.clone()).or_default();
        let table = &mut self.space.table;
        let configs = &self.configs;
        let sketches = &self.sketches;
        let sketch = table.sketch(&config.views);
        let may_cover = |a: u64, b: u64| b & !a == 0;
        if bucket.iter().any(|&c| {
            may_cover(sketches[c as usize], sketch)
                && table.all_cover(&configs[c as usize].views, &config.views)
        }) {
            self.stats.covered += 1;
            return;
        }
        if self.joins {
            let alike =
                bucket.iter().find_map(|&c| table.join(&configs[c as usize].views, &config.views));
            config.views = alike.unwrap_or(config.views);
        }
        let sketch = table.sketch(&config.views);
        let covered = &mut self.covered;
        let before = bucket.len();
        bucket.retain(|&c| {
            let worse = may_cover(sketch, sketches[c as usize])
                && table.all_cover(&config.views, &configs[c as usize].views);
            covered[c as usize] |= worse;
            !worse
        });
        self.maximal -= before - bucket.len();
        self.maximal += 1;
        bucket.push(id);
        self.configs.push(config);
        self.parents.push(parent);
        self.covered.push(false);
        self.sketches.push(sketch);
    }

    /// What happened on the way to a configuration, and where that began.
    fn path(&mut self, id: u32) -> Result<(u32, Vec<Event>), TooMany> {
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((parent, step)) = self.parents[at as usize] {
            steps.push((parent, step));
            at = parent;
        }
        let mut events = Vec::new();
        for (parent, step) in steps.into_iter().rev() {
            let places = self.space.places_of(&self.configs[parent as usize], step.process)?;
            events.extend(self.space.events(&places, step));
        }
        Ok((at, events))
    }

    fn run(
        &mut self,
        found: &mut [Found],
        limits: &Limits,
        began: Instant,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<(), TooMany> {
        for config in self.space.initial() {
            self.insert(config, None);
        }
        let mut next = 0;
        while next < self.configs.len() {
            let id = next as u32;
            next += 1;
            if self.covered[id as usize] {
                continue;
            }
            let config = self.configs[id as usize].clone();
            self.look(id, &config, found)?;
            if found.iter().all(|f| matches!(f, Found::Settled(_))) {
                return Ok(());
            }
            let mut reached = Vec::new();
            self.space.successors(&config, &mut |step, next| reached.push((step, next)))?;
            self.stats.steps += reached.len();
            for (step, next) in reached {
                self.insert(next, Some((id, step)));
            }
            self.stats.expanded += 1;
            if self.stats.expanded.is_multiple_of(CLOCK) {
                self.measure(began);
                progress(&self.stats);
                self.stats.stopped = limits.hit(&self.stats);
                if self.stats.stopped.is_some() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What was stored, as evidence.
    fn invariant(&self) -> Invariant {
        let maximal = self.configs.iter().zip(&self.covered).filter(|(_, covered)| !**covered);
        let mut configurations: Vec<_> =
            maximal.map(|(config, _)| self.space.parts(config)).collect();
        // Only the letters that are in use, numbered as they turn up.
        let all = self.space.table.letters.all();
        let mut letters = Vec::new();
        let mut places: FxHashMap<u16, u16> = FxHashMap::default();
        let mut renumber = |letter: &mut u16| {
            *letter = *places.entry(*letter).or_insert_with(|| {
                letters.push(all[usize::from(*letter)].clone());
                (letters.len() - 1) as u16
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
        let n = self.space.system.processes.len();
        let state = 2 * (n + self.space.system.vars.len());
        let config = size_of::<Config>() + state + 4 * n + size_of::<Option<(u32, Step)>>() + 1;
        let bucket = state + size_of::<(Box<[u16]>, Vec<u32>)>() + 8;
        self.configs.len() * config + self.buckets.len() * bucket + self.space.bytes()
    }

    /// Looks whether processes can come to places that settle a property.
    fn look(&mut self, id: u32, config: &Config, found: &mut [Found]) -> Result<(), TooMany> {
        for (index, found) in found.iter_mut().enumerate() {
            let tries = match found {
                Found::Settled(_) => continue,
                Found::Spurious(tries) if *tries >= TRIES => continue,
                Found::Spurious(tries) => *tries,
                Found::Nothing => 0,
            };
            if let Some(ways) = self.settling(config, index)? {
                let (start, mut events) = self.path(id)?;
                events.extend(ways);
                let start = &self.configs[start as usize];
                *found = match concrete::run(self.space.system, self.model, start, &events) {
                    Some(run) => Found::Settled(Box::new(run)),
                    None => Found::Spurious(tries + 1),
                };
            }
        }
        Ok(())
    }

    /// What processes do by themselves to settle a property, if they can.
    fn settling(
        &mut self,
        config: &Config,
        property: usize,
    ) -> Result<Option<Vec<Event>>, TooMany> {
        let system = self.space.system;
        let kind = &system.program.properties[property].kind;
        let last = self.space.rules.lags && asks_memory(kind);
        let memory = &config.state[system.processes.len()..];
        let mut all: Vec<(Rc<Places>, Vec<u32>)> = Vec::with_capacity(system.processes.len());
        for p in system.process_ids() {
            let places = match last {
                true => self.space.last_places_of(config, p)?,
                false => self.space.places_of(config, p)?,
            };
            let mut picks = places.picks[property].clone();
            if *kind == PropertyKind::NoDeadlock {
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
            let place = |(i, (_, picks)): (usize, &(_, Vec<u32>))| picks[chosen[i]];
            let numbers: Vec<u32> = all.iter().enumerate().map(place).collect();
            let control =
                |((places, _), n): (&(Rc<Places>, _), &u32)| places.list[*n as usize].control.0;
            let controls: Vec<u16> = all.iter().zip(&numbers).map(control).collect();
            if settles(system, kind, &controls, memory) {
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

/// Answers every property of the system's program.
///
/// # Panics
/// If [`is_decided`] says no.
pub fn check(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    progress: Progress<'_>,
) -> (Vec<Answer>, Stats) {
    assert!(is_decided(model), "views do not decide {model}");
    let began = Instant::now();
    let properties = &system.program.properties;
    let mut found = vec![Found::Nothing; properties.len()];
    let mut stats = Stats::default();
    let mut proof = Evidence::Exhausted;
    for round in rounds() {
        for f in &mut found {
            if let Found::Spurious(_) = f {
                *f = Found::Nothing;
            }
        }
        let mut search = Search::new(system, model, round);
        if search.run(&mut found, limits, began, progress).is_err() {
            search.stats.stopped = Some("memory has too many states to be told apart".to_owned());
        }
        search.measure(began);
        if limits.certificate {
            proof = Evidence::Invariant(Arc::new(search.invariant()));
        }
        stats = search.stats;
        let refine = found.iter().any(|f| matches!(f, Found::Spurious(_)));
        if stats.stopped.is_some() || !refine {
            break;
        }
    }
    let answers = found.into_iter().enumerate().map(|(index, found)| {
        let exists = matches!(properties[index].kind, PropertyKind::Final(Quantifier::Exists, _));
        let (verdict, evidence) = match found {
            Found::Settled(run) => (!exists, Evidence::Run(*run)),
            Found::Spurious(_) => {
                return unknown(
                    index,
                    format!("not decided by subwords of up to {MAX_LEVEL} letters"),
                );
            }
            Found::Nothing => match &stats.stopped {
                Some(reason) => return unknown(index, reason.clone()),
                None => (exists, proof.clone()),
            },
        };
        let verdict = if verdict { Verdict::Violated } else { Verdict::Holds };
        Answer { property: index, verdict, evidence }
    });
    (answers.collect(), stats.clone())
}

fn unknown(property: usize, reason: String) -> Answer {
    Answer { property, verdict: Verdict::Unknown, evidence: Evidence::Reason(reason) }
}
