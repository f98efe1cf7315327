//! All views of a search, numbered.
//!
//! A view is worked on once: what becomes of it when it is read, when a write
//! enters the history, when its process comes to another control state, and
//! whether it covers another is remembered by number.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_model::ids::{ValueId, VarId};

use super::letters::{Letter, Letters, MaskId, TooMany};
use super::subwords::Level;
use super::view::{Eyes, View};

/// The number of a view.
pub(super) type ViewId = u32;

type ReadKey = (ViewId, MaskId, VarId, ValueId, bool);

pub(super) struct Table {
    pub level: Level,
    pub letters: Letters,
    /// `r->r`: processes see the past.
    keeps_past: bool,
    views: Vec<View>,
    sketches: Vec<u128>,
    ids: FxHashMap<View, ViewId>,
    covers: FxHashMap<(ViewId, ViewId), bool>,
    /// For a view, a mask and the newest letter: the view, narrowed and tidied.
    settled: FxHashMap<(ViewId, MaskId, Letter), ViewId>,
    /// For a view, the newest letter before and after a write, and whether it
    /// is an own one that is marked: the view after it.
    appended: FxHashMap<(ViewId, Letter, Letter, Option<VarId>), ViewId>,
    /// For a view, a mask, what is read, and whether the newest memory has it:
    /// the views after the read.
    read: FxHashMap<ReadKey, Rc<[ViewId]>>,
    /// About what the views take up, in bytes, and the most letters of one.
    bytes: usize,
    longest: usize,
}

impl Table {
    pub fn new(level: Level, letters: Letters, keeps_past: bool) -> Self {
        Self {
            level,
            letters,
            keeps_past,
            views: vec![],
            sketches: vec![],
            ids: FxHashMap::default(),
            covers: FxHashMap::default(),
            settled: FxHashMap::default(),
            appended: FxHashMap::default(),
            read: FxHashMap::default(),
            bytes: 0,
            longest: 0,
        }
    }

    /// A view by its number.
    pub fn view(&self, id: ViewId) -> &View {
        &self.views[id as usize]
    }

    pub fn intern(&mut self, view: View) -> ViewId {
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

    /// Whether views differ from others in sets of words only, process by process.
    pub fn are_alike(&self, a: &[ViewId], b: &[ViewId]) -> bool {
        a.iter().zip(b).all(|(&a, &b)| a == b || self.view(a).is_like(self.view(b)))
    }

    /// What both of two alike lists of views see, in one.
    pub fn join(&mut self, a: &[ViewId], b: &[ViewId]) -> Box<[ViewId]> {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| if a == b { a } else { self.intern(self.view(a).join(self.view(b))) })
            .collect()
    }

    /// Whether one view covers another.
    pub fn covers(&mut self, a: ViewId, b: ViewId) -> bool {
        if a == b {
            return true;
        }
        let (views, letters) = (&self.views, &self.letters);
        let work_out = || views[a as usize].covers(&views[b as usize], letters);
        *self.covers.entry((a, b)).or_insert_with(work_out)
    }

    /// Whether each view covers the other in its place.
    pub fn all_cover(&mut self, a: &[ViewId], b: &[ViewId]) -> bool {
        a.iter().zip(b).all(|(&a, &b)| self.covers(a, b))
    }

    /// The sketch of a view: it covers another only if it has all its bits.
    pub fn sketch(&self, id: ViewId) -> u128 {
        self.sketches[id as usize]
    }

    /// The most letters of a view.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// About what the views take up, and what is known of them.
    pub fn bytes(&self) -> usize {
        let remembered = self.settled.capacity() + self.appended.capacity() + self.read.capacity();
        self.bytes + self.covers.capacity() * 16 + remembered * 32
    }

    /// The views of a process after it read a value of a variable.
    pub fn read(
        &mut self,
        id: ViewId,
        mask: MaskId,
        var: VarId,
        value: ValueId,
        newest: Letter,
    ) -> Rc<[ViewId]> {
        let is_newest = self.letters.value(newest, var) == Some(value);
        let key = (id, mask, var, value, is_newest);
        if let Some(known) = self.read.get(&key) {
            return known.clone();
        }
        let (table, keeps_past) = (&self.letters, self.keeps_past);
        let eyes = Eyes { level: self.level, table, mask, keeps_past };
        let views = self.view(id).read(&eyes, var, value, is_newest);
        let ids: Rc<[ViewId]> = views.into_iter().map(|v| self.intern(v)).collect();
        self.read.insert(key, ids.clone());
        ids
    }

    /// The view after the newest memory state has changed; `own` is the variable
    /// if it did so by a write that the process reads from now on.
    pub fn append(
        &mut self,
        id: ViewId,
        (old, new): (Letter, Letter),
        own: Option<VarId>,
    ) -> ViewId {
        if own.is_none() && old == new {
            return id;
        }
        let key = (id, old, new, own);
        if let Some(&known) = self.appended.get(&key) {
            return known;
        }
        let mut view = self.view(id).clone();
        view.append(self.level, &self.letters, (old, new), own);
        view.tidy(&self.letters, new);
        let after = self.intern(view);
        self.appended.insert(key, after);
        after
    }

    /// Narrows the view of a process that has come to a control state.
    pub fn settle(&mut self, id: ViewId, mask: MaskId, newest: Letter) -> Result<ViewId, TooMany> {
        let key = (id, mask, newest);
        if let Some(&known) = self.settled.get(&key) {
            return Ok(known);
        }
        let mut view = self.view(id).clone();
        view.narrow(self.level, mask, &mut self.letters)?;
        view.tidy(&self.letters, newest);
        let after = self.intern(view);
        self.settled.insert(key, after);
        Ok(after)
    }
}
