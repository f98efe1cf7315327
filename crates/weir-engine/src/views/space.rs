//! Configurations of views, and the steps between them.
//!
//! A configuration is the control states, the newest memory, and a view for
//! each process. Views are numbered, so a configuration is a few numbers, and
//! whether one view covers another is worked out once.
//!
//! *Frozen* configurations serve `never` formulas that ask for memory. The
//! memory of the store-buffer semantics at some moment is one of the history's
//! states; what is newer waits in buffers. Freezing guesses that the moment is
//! now: from then on the history stays as it is, nobody sees new writes but
//! their own process, and so every later configuration has the memory of that
//! moment with control states that go with it.

use rustc_hash::FxHashMap;
use weir_model::answer::ViewConfiguration;
use weir_model::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::system::{Op, System};

use super::letters::{Letter, Letters, MaskId, TooMany};
use super::subwords::{Level, letters};
use super::view::{Eyes, Stores, View};

/// The number of a view.
pub(super) type ViewId = u32;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A process takes a transition.
    Take(ProcessId, TransitionId),
    /// A waiting write of a process enters the history, those before it lost:
    /// one of this value, or the last.
    Transfer(ProcessId, VarId, Option<ValueId>),
    /// The history ends here.
    Freeze,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Config {
    /// Control states, newest memory, and 1 if frozen.
    pub state: Box<[u16]>,
    pub views: Box<[ViewId]>,
}

/// Answers that were worked out before.
#[derive(Default)]
struct Memo {
    /// For a view, a mask and the newest letter: the view, narrowed and tidied.
    settled: FxHashMap<(ViewId, MaskId, Letter), ViewId>,
    /// For a view, the newest letter before and after a write, and whether it
    /// is an own one that is marked: the view after it.
    appended: FxHashMap<(ViewId, Letter, Letter, Option<VarId>), ViewId>,
    /// For a view, a mask, what is read, and whether the newest memory has it:
    /// the views after the read.
    read: FxHashMap<ReadKey, Box<[ViewId]>>,
}

type ReadKey = (ViewId, MaskId, VarId, ValueId, bool);

/// All views of a search, and what is fixed in it.
pub(super) struct Space<'s> {
    pub system: &'s System,
    pub level: Level,
    /// Whether some property needs frozen configurations.
    pub freezes: bool,
    /// `w->w`: writes wait in a buffer per variable first.
    buffered: bool,
    /// `r->r`: processes see the past.
    keeps_past: bool,
    /// RWF.
    partial_fences: bool,
    letters: Letters,
    views: Vec<View>,
    sketches: Vec<u64>,
    ids: FxHashMap<View, ViewId>,
    covers: FxHashMap<(ViewId, ViewId), bool>,
    /// What became of views, so that each question is answered once.
    memo: Memo,
    /// About what the views take up, in bytes, and the most letters of one.
    bytes: usize,
    longest: usize,
}

impl<'s> Space<'s> {
    /// Views for SC, TSO, PSO or NSW.
    pub fn new(system: &'s System, model: MemoryModel, level: Level, freezes: bool) -> Self {
        let model = model.normal();
        let lookahead = model.has(Relaxation::WriteRead);
        Self {
            system,
            level,
            freezes: freezes && lookahead,
            buffered: model.has(Relaxation::WriteWrite),
            keeps_past: model.has(Relaxation::ReadRead),
            partial_fences: model.has(Relaxation::Rwf),
            letters: Letters::new(system, lookahead, level),
            views: vec![],
            sketches: vec![],
            ids: FxHashMap::default(),
            covers: FxHashMap::default(),
            memo: Memo::default(),
            bytes: 0,
            longest: 0,
        }
    }

    /// A view by its number.
    pub fn view(&self, id: ViewId) -> &View {
        &self.views[id as usize]
    }

    fn intern(&mut self, view: View) -> ViewId {
        if let Some(&id) = self.ids.get(&view) {
            return id;
        }
        let id = ViewId::try_from(self.views.len()).expect("fewer views than configurations");
        self.bytes += 2 * (size_of::<View>() + 32 * view.len());
        self.longest = self.longest.max(view.len());
        self.sketches.push(view.sketch(&self.letters));
        self.views.push(view.clone());
        self.ids.insert(view, id);
        id
    }

    /// Two configurations with the same state in one, if their views differ in
    /// sets of words only.
    pub fn join(&mut self, a: &[ViewId], b: &[ViewId]) -> Option<Box<[ViewId]>> {
        let alike = a.iter().zip(b).all(|(&a, &b)| a == b || self.view(a).is_like(self.view(b)));
        if !alike {
            return None;
        }
        let joined = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| if a == b { a } else { self.intern(self.view(a).join(self.view(b))) });
        Some(joined.collect())
    }

    fn view_covers(&mut self, a: ViewId, b: ViewId) -> bool {
        if a == b {
            return true;
        }
        let (views, letters) = (&self.views, &self.letters);
        let work_out = || views[a as usize].covers(&views[b as usize], letters);
        *self.covers.entry((a, b)).or_insert_with(work_out)
    }

    /// The sketches of all views of a configuration, in one.
    pub fn sketch(&self, views: &[ViewId]) -> u64 {
        let turned =
            |(p, &v): (usize, &ViewId)| self.sketches[v as usize].rotate_left(19 * p as u32);
        views.iter().enumerate().map(turned).fold(0, |all, s| all | s)
    }

    /// Whether `a` covers `b`, given that both have the same state.
    pub fn covers(&mut self, a: &[ViewId], b: &[ViewId]) -> bool {
        a.iter().zip(b).all(|(&a, &b)| self.view_covers(a, b))
    }

    /// A configuration, taken apart for showing to others.
    pub fn parts(&self, config: &Config) -> ViewConfiguration {
        ViewConfiguration {
            controls: self.controls(config).iter().map(|&s| StateId(s)).collect(),
            memory: self.memory(config).iter().map(|&v| ValueId(v)).collect(),
            frozen: self.is_frozen(config),
            views: config.views.iter().map(|&v| self.view(v).parts()).collect(),
        }
    }

    /// All letters so far.
    pub fn letters(&self) -> Vec<Vec<Option<ValueId>>> {
        self.letters.all()
    }

    /// The most letters of a view.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// About what the views take up, and what is known of them.
    pub fn bytes(&self) -> usize {
        let memo = &self.memo;
        let remembered = memo.settled.capacity() + memo.appended.capacity() + memo.read.capacity();
        self.bytes + self.covers.capacity() * 16 + remembered * 32
    }

    fn processes(&self) -> usize {
        self.system.processes.len()
    }

    /// The control states of a configuration.
    pub fn controls<'c>(&self, config: &'c Config) -> &'c [u16] {
        &config.state[..self.processes()]
    }

    /// The newest memory of a configuration.
    pub fn memory<'c>(&self, config: &'c Config) -> &'c [u16] {
        let n = self.processes();
        &config.state[n..n + self.system.vars.len()]
    }

    /// Whether a configuration is frozen.
    pub fn is_frozen(&self, config: &Config) -> bool {
        config.state[config.state.len() - 1] == 1
    }

    /// Whether every write is in the history.
    pub fn is_drained(&self, config: &Config) -> bool {
        !self.is_frozen(config) && config.views.iter().all(|&v| self.view(v).stores.is_empty())
    }

    /// The initial configurations.
    pub fn initial(&mut self) -> Vec<Config> {
        let mut states =
            vec![self.system.processes.iter().map(|p| p.initial.0).collect::<Vec<_>>()];
        for var in &self.system.vars {
            states = states
                .into_iter()
                .flat_map(|s| {
                    var.initial.iter().map(move |v| s.iter().copied().chain([v.0]).collect())
                })
                .collect();
        }
        let newest = self.intern(View::newest());
        let views: Box<[ViewId]> = vec![newest; self.processes()].into();
        let config = |mut state: Vec<u16>| {
            state.push(0);
            Config { state: state.into(), views: views.clone() }
        };
        states.into_iter().map(config).collect()
    }

    /// All steps from a configuration.
    pub fn successors(
        &mut self,
        config: &Config,
        visit: &mut dyn FnMut(&mut Self, Action, Config),
    ) -> Result<(), TooMany> {
        let frozen = self.is_frozen(config);
        let system = self.system;
        for p in system.process_ids() {
            let state = StateId(config.state[p.index()]);
            for (id, t) in system.transitions(p, state) {
                for next in self.take(config, p, t.op, t.to, frozen)? {
                    visit(self, Action::Take(p, id), next);
                }
            }
            if !frozen {
                for (action, next) in self.transfers(config, p)? {
                    visit(self, action, next);
                }
            }
        }
        if self.freezes && !frozen {
            let mut next = config.clone();
            let last = next.state.len() - 1;
            next.state[last] = 1;
            visit(self, Action::Freeze, next);
        }
        Ok(())
    }

    fn take(
        &mut self,
        config: &Config,
        p: ProcessId,
        op: Op,
        to: StateId,
        frozen: bool,
    ) -> Result<Vec<Config>, TooMany> {
        let id = config.views[p.index()];
        let view = self.view(id);
        let idle = view.stores.is_empty();
        let mut moved = config.clone();
        moved.state[p.index()] = to.0;
        let views: Box<[ViewId]> = match op {
            Op::Nop => [id].into(),
            Op::Read(x, d) => self.read(config, p, x, d),
            Op::Write(x, d) if self.buffered || frozen => {
                let mut view = view.clone();
                store(&mut view, self.level, x, d, frozen);
                if let Some(i) = view.marks.iter().position(|m| m.var == x) {
                    view.unmark(self.level, &self.letters, i);
                }
                view.past.retain(|(y, _)| *y != x);
                [self.intern(view)].into()
            }
            Op::Write(x, d) => {
                let next = self.append(&moved, x, d, Some((p, true)))?;
                return Ok(vec![self.settle(next, p, to)?]);
            }
            Op::Arw(x, d, e) => {
                if frozen || !idle || self.memory(config)[x.index()] != d.0 {
                    return Ok(vec![]);
                }
                let mut next = self.append(&moved, x, e, None)?;
                next.views[p.index()] = self.intern(View::newest());
                return Ok(vec![next]);
            }
            Op::Fence(FenceKind::Full) if !idle => [].into(),
            Op::Fence(FenceKind::Full) => [self.intern(View::newest())].into(),
            Op::Fence(FenceKind::Write) if self.partial_fences && !idle && !frozen => [].into(),
            Op::Fence(FenceKind::Read) if self.partial_fences => {
                let mut view = view.clone();
                view.past.clear();
                [self.intern(view)].into()
            }
            Op::Fence(_) => [id].into(),
        };
        let with = |&view: &ViewId| {
            let mut next = moved.clone();
            next.views[p.index()] = view;
            self.settle(next, p, to)
        };
        views.iter().map(with).collect()
    }

    /// The views of a process after it read a value of a variable.
    fn read(&mut self, config: &Config, p: ProcessId, var: VarId, value: ValueId) -> Box<[ViewId]> {
        let id = config.views[p.index()];
        let mask = self.letters.mask_of(p, StateId(config.state[p.index()]));
        let is_newest = self.memory(config)[var.index()] == value.0;
        if !self.letters.keeps(mask, var) {
            // Nothing is buffered under SC: the newest memory is all there is.
            return if is_newest { [id].into() } else { [].into() };
        }
        let key = (id, mask, var, value, is_newest);
        if let Some(known) = self.memo.read.get(&key) {
            return known.clone();
        }
        let eyes =
            Eyes { level: self.level, table: &self.letters, mask, keeps_past: self.keeps_past };
        let views = self.view(id).read(&eyes, var, value, is_newest);
        let ids: Box<[ViewId]> = views.into_iter().map(|v| self.intern(v)).collect();
        self.memo.read.insert(key, ids.clone());
        ids
    }

    /// The waiting writes of a process that may enter the history next.
    fn transfers(
        &mut self,
        config: &Config,
        p: ProcessId,
    ) -> Result<Vec<(Action, Config)>, TooMany> {
        let view = self.view(config.views[p.index()]).clone();
        let mut all = Vec::new();
        for (i, stores) in view.stores.iter().enumerate() {
            for value in letters(&stores.older) {
                let mut rest = view.clone();
                rest.stores[i].older = self.level.behind(&stores.older, value);
                let value = ValueId(value);
                let action = Action::Transfer(p, stores.var, Some(value));
                all.push((action, self.transfer(config, p, rest, stores.var, value, false)?));
            }
            let mut rest = view.clone();
            rest.stores.remove(i);
            let action = Action::Transfer(p, stores.var, None);
            all.push((action, self.transfer(config, p, rest, stores.var, stores.last, true)?));
        }
        Ok(all)
    }

    fn transfer(
        &mut self,
        config: &Config,
        p: ProcessId,
        rest: View,
        var: VarId,
        value: ValueId,
        last: bool,
    ) -> Result<Config, TooMany> {
        let mut next = config.clone();
        next.views[p.index()] = self.intern(rest);
        let next = self.append(&next, var, value, Some((p, last)))?;
        self.settle(next, p, StateId(config.state[p.index()]))
    }

    /// Appends a memory state to the history. `own` says whose write it is and
    /// whether it is what the writer reads of the variable from now on.
    fn append(
        &mut self,
        config: &Config,
        var: VarId,
        value: ValueId,
        own: Option<(ProcessId, bool)>,
    ) -> Result<Config, TooMany> {
        let mut next = config.clone();
        next.state[self.processes() + var.index()] = value.0;
        for q in self.system.process_ids() {
            let mask = self.letters.mask_of(q, StateId(config.state[q.index()]));
            let keeps = self.letters.keeps(mask, var);
            let own = own.filter(|o| *o == (q, true) && keeps).map(|_| var);
            // A variable that it does not see any more makes no new letter.
            if !keeps {
                continue;
            }
            let old = self.letters.see(self.memory(config), mask)?;
            let new = self.letters.see(self.memory(&next), mask)?;
            if own.is_none() && old == new {
                continue;
            }
            let id = next.views[q.index()];
            let key = (id, old, new, own);
            next.views[q.index()] = match self.memo.appended.get(&key) {
                Some(&known) => known,
                None => {
                    let mut view = self.view(id).clone();
                    view.append(self.level, &self.letters, (old, new), own);
                    view.tidy(&self.letters, new);
                    let after = self.intern(view);
                    self.memo.appended.insert(key, after);
                    after
                }
            };
        }
        Ok(next)
    }

    /// Narrows the view of a process that has come to a control state.
    fn settle(&mut self, mut config: Config, p: ProcessId, at: StateId) -> Result<Config, TooMany> {
        let mask = self.letters.mask_of(p, at);
        let newest: Letter = self.letters.see(self.memory(&config), mask)?;
        let id = config.views[p.index()];
        let key = (id, mask, newest);
        config.views[p.index()] = match self.memo.settled.get(&key) {
            Some(&known) => known,
            None => {
                let mut view = self.view(id).clone();
                view.narrow(self.level, mask, &mut self.letters)?;
                view.tidy(&self.letters, newest);
                let after = self.intern(view);
                self.memo.settled.insert(key, after);
                after
            }
        };
        Ok(config)
    }
}

/// A write waits in the buffer of its variable. In a frozen configuration it
/// will never leave, so only its own process ever sees it.
fn store(view: &mut View, level: Level, var: VarId, value: ValueId, frozen: bool) {
    match view.stores.iter_mut().find(|s| s.var == var) {
        Some(stores) => {
            if !frozen {
                stores.older = level.push(&stores.older, stores.last.0);
            }
            stores.last = value;
        }
        None => {
            view.stores.push(Stores { var, older: vec![], last: value });
            view.stores.sort_unstable_by_key(|s| s.var);
        }
    }
}
