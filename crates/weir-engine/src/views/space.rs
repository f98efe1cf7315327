//! Configurations of views, and the steps between them.
//!
//! A configuration is the control states, the newest memory, and a view for
//! each process.
//!
//! *Rest.* Only three actions of a process depend on the moment at which they happen: a
//! write that enters the history, an atomic read-write, and a full fence. All other
//! actions can be delayed, since a process that reads later sees no less of the history.
//! So in every configuration each process *rests* after such an action, and a step is:
//! one process moves to some place by itself ([`Places`]) and takes the next such action.
//! What processes could reach in between is computed from their places.
//!
//! *Waiting writes.* Under PSO and NSW a write waits in a buffer of its variable only if
//! a later write of the same process is to overtake it; otherwise the process could have
//! issued it when it entered the history. So a write enters at once or waits to be
//! overtaken, and once it has been overtaken it enters the history while its process
//! rests.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_model::answer::ViewConfiguration;
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::question::Question;
use weir_model::system::{Op, Seen, System, Transition};

use super::letters::{Halt, Letter, Letters};
use super::places::Places;
use super::subwords::Level;
use super::table::{Table, ViewId};
use super::view::View;
use super::watch::Watch;
use crate::ahead::{ByPlace, overtakes};
use crate::concrete::Event;
use crate::engine::Task;

/// The observable part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A process takes a transition; a write enters the history at once.
    Take(TransitionId),
    /// A waiting write of a process enters the history, those before it lost:
    /// one of this value, or the last.
    Transfer(VarId, Option<ValueId>),
}

/// A step: from one of its places a process acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub process: ProcessId,
    pub place: u32,
    pub action: Action,
    /// How many fences it goes through before it rests.
    pub fences: u8,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Config {
    /// Control states, newest memory.
    pub state: Box<[Cell]>,
    pub views: Box<[ViewId]>,
}

/// What the memory model is like.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// `w->r`: processes lag behind the newest memory.
    pub lags: bool,
    /// `w->w`: writes may wait in a buffer of their variable.
    pub waits: bool,
    /// RWF.
    pub partial_fences: bool,
}

/// What is fixed in a search, all its views and places.
pub(super) struct Space<'s> {
    pub system: &'s System,
    pub questions: &'s [Question],
    pub model: MemoryModel,
    /// The processes that act; the others never write, nor come to a fence.
    active: Vec<ProcessId>,
    pub rules: Rules,
    pub table: Table<'s>,
    pub watch: Watch<'s>,
    pub(super) places: FxHashMap<super::places::Key, Rc<Places>>,
    /// For each process and control state, the variables of which a write may
    /// yet be overtaken.
    pub(super) overtakes: Vec<ByPlace>,
}

impl<'s> Space<'s> {
    /// Views for SC, TSO, PSO or NSW.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(task: Task<'s>, active: &[ProcessId], level: Level) -> Result<Self, Stop> {
        let Task { system, questions, options, .. } = task;
        let (model, budget) = (task.model.normal(), &options.budget);
        let rules = Rules {
            lags: model.has(Relaxation::WriteRead),
            waits: model.has(Relaxation::WriteWrite),
            partial_fences: model.has(Relaxation::Rwf),
        };
        let letters = Letters::new(system, rules.lags, level, budget)?;
        let overtakes = |p| overtakes(system, p, rules.partial_fences, budget);
        Ok(Self {
            system,
            questions,
            model: task.model,
            active: active.to_vec(),
            rules,
            table: Table::new(level, letters, model.has(Relaxation::ReadRead)),
            watch: Watch::new(system, questions),
            places: FxHashMap::default(),
            overtakes: system.process_ids().map(overtakes).collect::<Result<_, _>>()?,
        })
    }

    /// How much time and memory there is.
    pub fn budget(&self) -> &Budget {
        &self.table.letters.budget
    }

    /// Whether a question asks for memory at a moment at which processes may lag: then the
    /// history ends there.
    pub fn is_asked_at_the_end(&self, question: &Question) -> bool {
        self.rules.lags && question.asks_for_memory_under_way()
    }

    /// A decoded configuration.
    pub fn parts(&self, config: &Config) -> ViewConfiguration {
        ViewConfiguration {
            controls: self.controls(config).iter().map(|&s| StateId(s)).collect(),
            memory: self.memory(config).iter().map(|&v| ValueId(v)).collect(),
            views: config
                .views
                .iter()
                .map(|&v| self.table.view(v).parts(self.table.level))
                .collect(),
        }
    }

    /// About what views and places take up.
    pub fn bytes(&self) -> usize {
        self.table.bytes() + self.places_bytes()
    }

    fn processes(&self) -> usize {
        self.system.processes.len()
    }

    /// The control states of a configuration.
    pub fn controls<'c>(&self, config: &'c Config) -> &'c [Cell] {
        &config.state[..self.processes()]
    }

    /// The newest memory of a configuration.
    pub fn memory<'c>(&self, config: &'c Config) -> &'c [Cell] {
        &config.state[self.processes()..]
    }

    fn control(config: &Config, p: ProcessId) -> StateId {
        StateId(config.state[p.index()])
    }

    /// The initial configurations.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn initial(&mut self) -> Result<impl Iterator<Item = Config> + use<'s>, Stop> {
        let newest = self.table.intern(View::newest())?;
        let views: Box<[ViewId]> = vec![newest; self.processes()].into();
        let system = self.system;
        Ok(system.initial_memories().map(move |memory| {
            let controls = system.processes.iter().map(|p| p.initial.0);
            Config {
                state: controls.chain(memory.iter().map(|v| v.0)).collect(),
                views: views.clone(),
            }
        }))
    }

    /// Where a process rests, and what it sees of the newest memory.
    pub(super) fn rest(
        &mut self,
        config: &Config,
        p: ProcessId,
        last: bool,
    ) -> Result<(StateId, Letter), Halt> {
        let newest = match last {
            true => self.table.letters.see_all(&config.state[self.system.processes.len()..])?,
            false => self.see(config, p)?,
        };
        Ok((Self::control(config, p), newest))
    }

    /// The places that a process can come to by itself.
    pub fn places_of(&mut self, config: &Config, p: ProcessId) -> Result<Rc<Places>, Halt> {
        let (control, newest) = self.rest(config, p, false)?;
        self.places(p, control, config.views[p.index()], newest, false)
    }

    /// The places that a process can come to if nothing enters the history any
    /// more: its writes are seen by itself only.
    pub fn last_places_of(&mut self, config: &Config, p: ProcessId) -> Result<Rc<Places>, Halt> {
        let (control, newest) = self.rest(config, p, true)?;
        self.places(p, control, config.views[p.index()], newest, true)
    }

    /// The place where a process rests, and no other.
    pub fn rest_of(&self, config: &Config, p: ProcessId) -> Rc<Places> {
        let questions = self.questions.len();
        Rc::new(Places::only(Self::control(config, p), config.views[p.index()], questions))
    }

    /// What a process sees of the newest memory.
    fn see(&mut self, config: &Config, p: ProcessId) -> Result<Letter, Halt> {
        let n = self.processes();
        let letters = &mut self.table.letters;
        let mask = letters.mask_of(p, Self::control(config, p));
        letters.see(&config.state[n..], mask)
    }

    /// All steps from a configuration.
    pub fn successors(
        &mut self,
        config: &Config,
        visit: &mut dyn FnMut(Step, Config),
    ) -> Result<(), Halt> {
        let system = self.system;
        for i in 0..self.active.len() {
            let p = self.active[i];
            self.transfers(config, p, visit)?;
            let places = self.places_of(config, p)?;
            for (number, place) in places.list.iter().enumerate() {
                self.budget().tick()?;
                // What it sees by itself has led to the places already.
                let see = |x: VarId, atomic: bool| match atomic || !self.rules.lags {
                    true => Seen::One(ValueId(self.memory(config)[x.index()])),
                    false => Seen::Among(vec![]),
                };
                for (id, t) in system.steps(p, place.control, see) {
                    let Some(mut next) = self.act(config, p, place.view, t)? else { continue };
                    let fences = self.come_to_rest(&mut next, p)?;
                    let (place, action) = (number as u32, Action::Take(id));
                    visit(Step { process: p, place, action, fences }, next);
                }
            }
        }
        Ok(())
    }

    /// A process acts from one of its places, if that is an action that depends
    /// on when it happens.
    fn act(
        &mut self,
        config: &Config,
        p: ProcessId,
        view: ViewId,
        t: &Transition,
    ) -> Result<Option<Config>, Halt> {
        let idle = self.table.view(view).stores.is_empty();
        let newest = |x: VarId| self.memory(config)[x.index()];
        match t.op {
            Op::Read(x, d) if !self.rules.lags && newest(x) == d.0 => {}
            Op::Write(x, _) if self.table.view(view).stores_of(x).is_none() => {}
            Op::Arw(x, d, _) if idle && newest(x) == d.0 => {}
            Op::Fence(FenceKind::Full) if idle => {}
            _ => return Ok(None),
        }
        let mut moved = config.clone();
        moved.state[p.index()] = t.to.0;
        moved.views[p.index()] = view;
        Ok(Some(match t.op {
            Op::Write(x, d) => {
                if self.rules.waits {
                    moved.views[p.index()] = self.overwritten(view, x)?;
                }
                let next = self.append(&moved, x, d, Some(p))?;
                self.settle(next, p)?
            }
            Op::Arw(x, _, e) => {
                let mut next = self.append(&moved, x, e, None)?;
                next.views[p.index()] = self.table.intern(View::newest())?;
                next
            }
            Op::Fence(_) => {
                moved.views[p.index()] = self.table.intern(View::newest())?;
                moved
            }
            Op::Read(..) | Op::Nop => moved,
        }))
    }

    /// A view without anything older of a variable that its process writes.
    fn overwritten(&mut self, view: ViewId, var: VarId) -> Result<ViewId, Stop> {
        let mut view = self.table.view(view).clone();
        view.overwrite(self.table.level, &self.table.letters, var)?;
        self.table.intern(view)
    }

    /// Moves a process past a full fence at once, if it can do nothing else before the fence and no
    /// property distinguishes the two places.
    fn come_to_rest(&mut self, config: &mut Config, p: ProcessId) -> Result<u8, Stop> {
        let mut fences = 0;
        while let Some(to) = self.only_fence(p, Self::control(config, p)) {
            if !self.table.view(config.views[p.index()]).stores.is_empty() || fences == u8::MAX {
                break;
            }
            config.state[p.index()] = to.0;
            config.views[p.index()] = self.table.intern(View::newest())?;
            fences += 1;
        }
        Ok(fences)
    }

    fn only_fence(&self, p: ProcessId, control: StateId) -> Option<StateId> {
        let mut all = self.system.steps(p, control, |_, _| Seen::Among(vec![]));
        let (_, t) = all.next().filter(|(_, t)| t.op == Op::Fence(FenceKind::Full))?;
        let alone = all.next().is_none() && !self.watch.tells_apart(p, control, t.to);
        alone.then_some(t.to)
    }

    /// What happens in a step, one thing after another.
    pub fn events(&self, places: &Places, step: Step) -> Vec<Event> {
        let p = step.process;
        let mut events: Vec<Event> =
            places.path(step.place).into_iter().map(|id| Event::Take(p, id)).collect();
        let mut control = places.list[step.place as usize].control;
        match step.action {
            Action::Transfer(x, value) => events.push(Event::Transfer(p, x, value)),
            Action::Take(id) => {
                events.push(Event::Take(p, id));
                let t = self.system.transition(p, id);
                control = t.to;
                if let Op::Write(x, _) = t.op
                    && self.rules.waits
                {
                    events.push(Event::Transfer(p, x, None));
                }
            }
        }
        for _ in 0..step.fences {
            let only = self.system.steps(p, control, |_, _| Seen::Among(vec![])).next();
            let (id, t) = only.expect("it went through a fence");
            events.push(Event::Take(p, id));
            control = t.to;
        }
        events
    }

    /// The waiting writes of a process that may enter the history next.
    fn transfers(
        &mut self,
        config: &Config,
        p: ProcessId,
        visit: &mut dyn FnMut(Step, Config),
    ) -> Result<(), Halt> {
        let view = self.table.view(config.views[p.index()]);
        if view.stores.is_empty() {
            return Ok(());
        }
        let view = view.clone();
        let level = self.table.level;
        for (i, stores) in view.stores.iter().enumerate() {
            let mut enter = |value: Option<ValueId>| {
                let mut rest = view.clone();
                match value {
                    Some(v) => rest.stores[i].older = level.behind(&stores.older, v.0),
                    None => drop(rest.stores.remove(i)),
                }
                let mut next = config.clone();
                next.views[p.index()] = self.table.intern(rest)?;
                let own = value.is_none().then_some(p);
                let next = self.append(&next, stores.var, value.unwrap_or(stores.last), own)?;
                let mut next = self.settle(next, p)?;
                let fences = self.come_to_rest(&mut next, p)?;
                let action = Action::Transfer(stores.var, value);
                visit(Step { process: p, place: 0, action, fences }, next);
                Ok::<(), Halt>(())
            };
            for value in level.letters(&stores.older) {
                enter(Some(ValueId(value)))?;
            }
            enter(None)?;
        }
        Ok(())
    }

    /// Appends a memory state to the history. `own` says whose write it is if
    /// that is what the writer reads of the variable from now on.
    fn append(
        &mut self,
        config: &Config,
        var: VarId,
        value: ValueId,
        own: Option<ProcessId>,
    ) -> Result<Config, Halt> {
        let mut next = config.clone();
        let n = self.processes();
        next.state[n + var.index()] = value.0;
        for q in self.system.process_ids() {
            let letters = &mut self.table.letters;
            let mask = letters.mask_of(q, Self::control(config, q));
            // A variable that it does not see any more makes no new letter.
            if !letters.keeps(mask, var) {
                continue;
            }
            let own = own.filter(|o| *o == q).map(|_| var);
            let old = letters.see(&config.state[n..], mask)?;
            let new = letters.see(&next.state[n..], mask)?;
            next.views[q.index()] = self.table.append(next.views[q.index()], (old, new), own)?;
        }
        Ok(next)
    }

    /// Narrows the view of a process to what it can see where it is.
    fn settle(&mut self, mut config: Config, p: ProcessId) -> Result<Config, Halt> {
        let mask = self.table.letters.mask_of(p, Self::control(&config, p));
        let newest = self.see(&config, p)?;
        config.views[p.index()] = self.table.settle(config.views[p.index()], mask, newest)?;
        Ok(config)
    }
}
