//! What a process can do by itself.
//!
//! From where it rests, a process reads what it sees, and lets writes wait that a later
//! one is to overtake. Other processes cannot observe this, so only the places that it
//! can reach matter: its *places*.
//!
//! *Last* places are for `never` formulas that mention memory. The memory of the
//! store-buffer semantics at some moment is one of the states of the history; newer
//! states correspond to buffered writes. If that moment is now, nothing is appended to
//! the history any more: the process continues with writes that only it observes, and
//! every control state that it reaches is combined with this memory.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_model::grow::has_missed;
use weir_model::ids::{ProcessId, StateId, TransitionId, VarId};
use weir_model::limits::Stop;
use weir_model::program::FenceKind;
use weir_model::question::Kind;
use weir_model::system::{Op, Seen, Standing, Transition};

use super::letters::{Halt, Letter};
use super::space::{Config, Space};
use super::table::ViewId;
use super::view::View;

/// A place: a control state with what is seen there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub control: StateId,
    pub view: ViewId,
    /// The place before it and the transition from there.
    from: Option<(u32, TransitionId)>,
}

/// All places that a process can come to by itself; the first is where it rests.
#[derive(Debug)]
pub(super) struct Places {
    pub list: Vec<Place>,
    /// For each question, the places that may settle it.
    pub picks: Vec<Vec<u32>>,
}

impl Places {
    /// One place, which may settle every question.
    pub fn only(control: StateId, view: ViewId, questions: usize) -> Self {
        let list = vec![Place { control, view, from: None }];
        Self { list, picks: vec![vec![0]; questions] }
    }

    /// The transitions to a place.
    pub fn path(&self, place: u32) -> Vec<TransitionId> {
        let mut path = Vec::new();
        let mut at = place;
        while let Some((before, id)) = self.list[at as usize].from {
            path.push(id);
            at = before;
        }
        path.reverse();
        path
    }
}

/// A process, where it rests, its view, what it sees of the newest memory, and
/// whether nothing enters the history any more.
pub(super) type Key = (ProcessId, StateId, ViewId, Letter, bool);

impl Space<'_> {
    pub(super) fn places(
        &mut self,
        p: ProcessId,
        control: StateId,
        view: ViewId,
        newest: Letter,
        last: bool,
    ) -> Result<Rc<Places>, Halt> {
        let key = (p, control, view, newest, last);
        if let Some(known) = self.places.get(&key) {
            return Ok(known.clone());
        }
        let system = self.system;
        let mut list = vec![Place { control, view, from: None }];
        let mut at_control: FxHashMap<StateId, Vec<u32>> = FxHashMap::default();
        at_control.insert(control, vec![0]);
        let mut number = 0;
        while let Some(&here) = list.get(number) {
            // Atomic read-writes are seen by others.
            let table = &self.table;
            let see = |x: VarId, atomic: bool| match atomic || !self.rules.lags {
                true => Seen::Among(vec![]),
                false => {
                    let mut values = table.view(here.view).values(&table.letters, x);
                    values.extend(table.letters.value(newest, x));
                    // By their numbers: those of letters depend on what was met first.
                    values.sort_unstable();
                    Seen::among(values)
                }
            };
            for (id, t) in system.steps(p, here.control, see) {
                self.budget().tick()?;
                for view in self.alone(p, here, t, newest, last)? {
                    let there = at_control.entry(t.to).or_default();
                    let mut is_covered = false;
                    for &i in there.iter() {
                        is_covered |= self.table.covers(list[i as usize].view, view)?;
                        if is_covered {
                            break;
                        }
                    }
                    if !is_covered {
                        there.push(list.len() as u32);
                        let from = Some((number as u32, id));
                        list.push(Place { control: t.to, view, from });
                    }
                }
            }
            number += 1;
        }
        let questions = 0..self.questions.len();
        let picks =
            questions.map(|i| self.picks(p, &list, i, last)).collect::<Result<_, Stop>>()?;
        let places = Rc::new(Places { list, picks });
        // Where something would have had to be created, these are not all places.
        if !has_missed() {
            self.places.insert(key, places.clone());
        }
        Ok(places)
    }

    /// The first of some transitions that a process cannot take by itself, one after another.
    pub(super) fn stuck_at(
        &mut self,
        config: &Config,
        p: ProcessId,
        transitions: &[TransitionId],
        last: bool,
    ) -> Result<Option<TransitionId>, Halt> {
        let (control, newest) = self.rest(config, p, last)?;
        let mut here = vec![Place { control, view: config.views[p.index()], from: None }];
        for &id in transitions {
            let t = self.system.transition(p, id);
            let mut there = Vec::new();
            for place in here {
                let views = self.alone(p, place, t, newest, last)?;
                there.extend(views.into_iter().map(|view| Place { control: t.to, view, ..place }));
            }
            if there.is_empty() {
                return Ok(Some(id));
            }
            here = there;
        }
        Ok(None)
    }

    pub(super) fn places_bytes(&self) -> usize {
        self.places.len() * 256
    }

    /// The views of a process after a transition that other processes do not observe; none
    /// if it is another kind of transition or not possible.
    fn alone(
        &mut self,
        p: ProcessId,
        here: Place,
        t: &Transition,
        newest: Letter,
        last: bool,
    ) -> Result<Vec<ViewId>, Halt> {
        let rules = self.rules;
        let table = &mut self.table;
        let id = here.view;
        let view = table.view(id);
        let idle = view.stores.is_empty();
        let mut views = match t.op {
            Op::Nop => vec![id],
            Op::Read(x, d) if rules.lags => {
                let mask = table.letters.mask_of(p, here.control);
                table.read(id, mask, x, d, newest)?.to_vec()
            }
            Op::Write(_, d) if (last || rules.waits) && d.0 >= table.level.max_letter() => {
                return Err(Halt::TooManyLetters);
            }
            Op::Write(x, d) if last || rules.waits => {
                let mut view = view.clone();
                view.overwrite(table.level, &table.letters, x)?;
                view.store(table.level, x, d, last, &table.letters.budget)?;
                vec![table.intern(view)?]
            }
            Op::Fence(FenceKind::Full) if last && idle => vec![table.intern(View::newest())?],
            Op::Fence(FenceKind::Write) if last || idle || !rules.partial_fences => vec![id],
            Op::Fence(FenceKind::Read) if rules.partial_fences => {
                let mut view = view.clone();
                view.past.clear();
                vec![table.intern(view)?]
            }
            Op::Fence(FenceKind::Read) => vec![id],
            _ => return Ok(vec![]),
        };
        let mask = table.letters.mask_of(p, t.to);
        let newest = table.letters.narrow(newest, mask)?;
        let overtakes = self.overtakes[p.index()].at(self.system, p, t.to);
        // A write that is not overtaken any more would have entered by now.
        let may_wait = |x: VarId| last || overtakes[x.index()];
        views.retain(|&v| table.view(v).stores.iter().all(|s| may_wait(s.var)));
        views.into_iter().map(|v| table.settle(v, mask, newest)).collect()
    }

    /// The places that may settle a question: one of each class that the question distinguishes.
    fn picks(
        &self,
        p: ProcessId,
        list: &[Place],
        number: usize,
        last: bool,
    ) -> Result<Vec<u32>, Stop> {
        let question = &self.questions[number];
        if last != self.is_asked_at_the_end(question) {
            return Ok(vec![]);
        }
        let mut seen = Vec::new();
        let mut picks = Vec::new();
        for (i, place) in list.iter().enumerate() {
            self.budget().work(1 + seen.len() / 256)?;
            let state = self.system.state(p, place.control);
            let is_idle = self.table.view(place.view).stores.is_empty();
            if !question.may_be_at(state) || question.is_about_rest() && !is_idle {
                continue;
            }
            let class = match question.kind {
                // Whether it is stuck depends on memory, and joint states are told apart by all
                // control states.
                Kind::NoDeadlock(_) | Kind::Within(_) => {
                    (vec![i128::from(place.control.0)], Standing::Sound)
                }
                _ => self.watch.class(number, p, place.control),
            };
            if !seen.contains(&class) {
                seen.push(class);
                picks.push(i as u32);
            }
        }
        Ok(picks)
    }
}
