//! Why a path is no run: which joins made it possible.
//!
//! The path is followed once more without joins. If a process gets stuck, its view had a value
//! that came from another configuration: a value of the variable that it cannot read now.
//! `precision` says what the next search does differently.

use weir_model::answer::Run;
use weir_model::ids::{ProcessId, TransitionId, VarId};
use weir_model::system::Op;

use super::letters::Halt;
use super::precision::{Blamed, spot};
use super::space::{Config, Space, Step};
use super::view::View;
use crate::concrete::Event;

/// How many configurations that a path leads to are followed without joins.
const MAX_FOLLOWED: usize = 64;

/// Where a path leads if nothing is joined.
pub(super) enum Followed {
    /// To a run, which reaches the same states by other reads.
    Run(Box<Run>),
    /// To a process that is stuck; these views were joined on the way.
    Stuck(Vec<Blamed>),
    /// To the same answer, but to no run: the level is too low.
    Folded,
}

/// A configuration to which a path leads without joins.
struct Reached {
    config: Config,
    /// The place of the one before it, and the step from there; none for the first.
    from: Option<(usize, Step)>,
}

/// The way to a configuration.
pub(super) struct Path {
    /// From an initial configuration on.
    pub configs: Vec<Config>,
    /// The steps between them.
    steps: Vec<Step>,
    /// What happens in the steps, and afterwards.
    pub events: Vec<Event>,
    /// For each step, where its events end.
    ends: Vec<usize>,
}

fn configs(reached: Option<Vec<Reached>>) -> Vec<Config> {
    reached.into_iter().flatten().map(|reached| reached.config).collect()
}

impl Space<'_> {
    /// The way along some configurations, from an initial one on, by the steps between them.
    pub(super) fn path(&mut self, configs: Vec<Config>, steps: Vec<Step>) -> Result<Path, Halt> {
        let mut path = Path { configs, steps, events: vec![], ends: vec![] };
        for (from, &step) in path.configs.iter().zip(&path.steps) {
            let places = self.places_of(from, step.process)?;
            path.events.extend(self.events(&places, step));
            path.ends.push(path.events.len());
        }
        Ok(path)
    }

    /// Follows a path that settles a question but is no run, without joins.
    pub(super) fn follow(&mut self, path: &Path, question: usize) -> Result<Followed, Halt> {
        let first = Reached { config: path.configs[0].clone(), from: None };
        // After each step.
        let mut reached: Vec<Vec<Reached>> = vec![vec![first]];
        for (i, step) in path.steps.iter().enumerate() {
            let to = &path.configs[i + 1];
            let mut next_reached: Vec<Reached> = Vec::new();
            for (from, before) in reached[i].iter().enumerate() {
                self.successors(&before.config, &mut |taken, config| {
                    if (taken.process, taken.action) == (step.process, step.action)
                        && config.state == to.state
                        && next_reached.len() < MAX_FOLLOWED
                        && next_reached.iter().all(|known| known.config != config)
                    {
                        next_reached.push(Reached { config, from: Some((from, taken)) });
                    }
                })?;
            }
            if next_reached.is_empty() {
                let configs = configs(reached.pop());
                let before = self.places_of(&path.configs[i], step.process)?.path(step.place);
                let var = self.unread(&configs, step.process, &before, false)?;
                let blamed = self.joined(path, i, (step.process, var))?;
                return Ok(Followed::Stuck(match blamed.is_empty() {
                    true => self.all_joined(path, i)?,
                    false => blamed,
                }));
            }
            reached.push(next_reached);
        }
        let mut settles = false;
        for number in 0..reached[path.steps.len()].len() {
            let config = reached[path.steps.len()][number].config.clone();
            let Some(ways) = self.settling(&config, question)? else { continue };
            settles = true;
            let mut steps: Vec<(&Config, Step)> = Vec::new();
            let mut at = number;
            for i in (1..reached.len()).rev() {
                let (from, step) = reached[i][at].from.expect("a step leads to it");
                steps.push((&reached[i - 1][from].config, step));
                at = from;
            }
            let mut events = Vec::new();
            for (from, step) in steps.into_iter().rev() {
                let places = self.places_of(from, step.process)?;
                events.extend(self.events(&places, step));
            }
            events.extend(ways);
            if let Some(run) = self.concrete(&reached[0][0].config, &events)? {
                return Ok(Followed::Run(Box::new(run)));
            }
        }
        if settles {
            return Ok(Followed::Folded);
        }
        self.blame_end(path, question, &configs(reached.pop())).map(Followed::Stuck)
    }

    /// Where views were joined such that a path seemed to settle a question at its end.
    fn blame_end(
        &mut self,
        path: &Path,
        question: usize,
        reached: &[Config],
    ) -> Result<Vec<Blamed>, Halt> {
        let last = self.is_asked_at_the_end(&self.questions[question]);
        let ways = &path.events[path.ends.last().copied().unwrap_or(0)..];
        let mut blamed = Vec::new();
        for p in self.system.process_ids() {
            let taken = ways.iter().filter_map(|event| match *event {
                Event::Take(q, id) if q == p => Some(id),
                _ => None,
            });
            let taken: Vec<TransitionId> = taken.collect();
            let var = self.unread(reached, p, &taken, last)?;
            if var.is_some() {
                blamed.extend(self.joined(path, path.steps.len(), (p, var))?);
            }
        }
        match blamed.is_empty() {
            true => self.all_joined(path, path.steps.len()),
            false => Ok(blamed),
        }
    }

    /// Where views of any process were joined on the first steps of a path.
    fn all_joined(&mut self, path: &Path, steps: usize) -> Result<Vec<Blamed>, Halt> {
        let mut blamed = Vec::new();
        for p in self.system.process_ids() {
            blamed.extend(self.joined(path, steps, (p, None))?);
        }
        Ok(blamed)
    }

    /// The variable that a process cannot read when it takes some transitions by itself; none if it
    /// can take them.
    fn unread(
        &mut self,
        configs: &[Config],
        p: ProcessId,
        transitions: &[TransitionId],
        last: bool,
    ) -> Result<Option<VarId>, Halt> {
        let mut var = None;
        for config in configs {
            let Some(id) = self.stuck_at(config, p, transitions, last)? else {
                return Ok(None);
            };
            if let Op::Read(x, _) = self.system.transition(p, id).op {
                var = var.or(Some(x));
            }
        }
        Ok(var)
    }

    /// Where views of a process were joined on the first steps of a path, since the process last saw
    /// the newest memory. From now on they are to be told apart by a variable.
    fn joined(
        &mut self,
        path: &Path,
        steps: usize,
        (process, var): (ProcessId, Option<VarId>),
    ) -> Result<Vec<Blamed>, Halt> {
        let newest = self.table.intern(View::newest())?;
        let mut spots = Vec::new();
        for i in (0..steps).rev() {
            let (from, to) = (&path.configs[i], &path.configs[i + 1]);
            let mut reached = None;
            self.successors(from, &mut |step, next| {
                if step == path.steps[i] {
                    reached = Some(next);
                }
            })?;
            let reached = reached.expect("the step was taken before");
            let view = reached.views[process.index()];
            if view != to.views[process.index()] {
                spots.push((spot(self.system, &reached.state, process), var));
            }
            if view == newest {
                break;
            }
        }
        Ok(spots)
    }
}
