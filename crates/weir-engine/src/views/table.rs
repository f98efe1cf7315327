//! All views of a search, numbered.
//!
//! Each operation on a view is computed once and cached by number: reading, appending a
//! write to the history, moving its process to another control state, and comparing it
//! with another view.

use std::hash::BuildHasher;
use std::rc::Rc;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use weir_model::ids::{ValueId, VarId};
use weir_model::limits::Stop;

use super::kept::Outline;
use super::letters::{Halt, Letter, Letters, MaskId};
use super::precision::Joined;
use super::subwords::Level;
use super::view::{Reader, Shape, View};

/// The number of a view.
pub(super) type ViewId = u32;

/// Views with more letters count as more work.
const LONG: usize = 256;

type ReadKey = (ViewId, MaskId, VarId, ValueId, bool);

pub(super) struct Table<'s> {
    pub level: Level,
    pub letters: Letters<'s>,
    /// `r->r`: processes see the past.
    keeps_past: bool,
    views: Vec<View>,
    sketches: Vec<u128>,
    ids: HashTable<ViewId>,
    /// The shape of each view.
    shape_of: Vec<u32>,
    shapes: Vec<Shape>,
    shape_ids: FxHashMap<Shape, u32>,
    covers: FxHashMap<(ViewId, ViewId), bool>,
    /// For a view and a mask: the view, narrowed.
    seeing: FxHashMap<(ViewId, MaskId), ViewId>,
    /// For a view, a mask and the newest letter: the view, narrowed and tidied.
    settled: FxHashMap<(ViewId, MaskId, Letter), ViewId>,
    /// For a view, the newest letter before and after a write, and whether it
    /// is an own one that is marked: the view after it.
    appended: FxHashMap<(ViewId, Letter, Letter, Option<VarId>), ViewId>,
    /// For a view, a mask, what is read, and whether the newest memory has it:
    /// the views after the read.
    read: FxHashMap<ReadKey, Rc<[ViewId]>>,
    /// About what the views take up, in bytes.
    bytes: usize,
}

impl<'s> Table<'s> {
    pub fn new(level: Level, letters: Letters<'s>, keeps_past: bool) -> Self {
        Self {
            level,
            letters,
            keeps_past,
            views: vec![],
            sketches: vec![],
            ids: HashTable::new(),
            shape_of: vec![],
            shapes: vec![],
            shape_ids: FxHashMap::default(),
            covers: FxHashMap::default(),
            seeing: FxHashMap::default(),
            settled: FxHashMap::default(),
            appended: FxHashMap::default(),
            read: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// A view by its number.
    pub fn view(&self, id: ViewId) -> &View {
        &self.views[id as usize]
    }

    /// The number of a view, new or known.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn intern(&mut self, view: View) -> Result<ViewId, Stop> {
        let hash = FxBuildHasher.hash_one(&view);
        if let Some(&id) = self.ids.find(hash, |id| self.views[*id as usize] == view) {
            return Ok(id);
        }
        let (budget, known) = (&self.letters.budget, &self.ids);
        budget.check_growth(known.len(), known.capacity(), size_of::<View>())?;
        budget.work(1 + view.len() / LONG)?;
        let id = ViewId::try_from(self.views.len()).expect("fewer views than configurations");
        self.bytes += size_of::<View>() + 32 * view.len();
        self.sketches.push(view.sketch(&self.letters));
        let shape = *self.shape_ids.entry(view.shape()).or_insert_with_key(|shape| {
            self.shapes.push(shape.clone());
            (self.shapes.len() - 1) as u32
        });
        self.shape_of.push(shape);
        self.views.push(view);
        let views = &self.views;
        let hash_of = |id: &ViewId| FxBuildHasher.hash_one(&views[*id as usize]);
        self.ids.insert_unique(hash, id, hash_of);
        Ok(id)
    }

    /// What is compared of views before they are.
    pub fn outline(&self, views: &[ViewId]) -> Outline {
        Outline {
            shapes: views.iter().map(|&v| self.shape_of[v as usize]).collect(),
            sketches: views.iter().map(|&v| self.sketches[v as usize]).collect(),
        }
    }

    /// What configurations have in common that are joined, if they are joined with any; `joins`
    /// says for each process which are.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn kind(&mut self, views: &[ViewId], joins: &[Joined]) -> Result<Option<Box<[u64]>>, Halt> {
        if joins.iter().all(|j| *j == Joined::None) {
            return Ok(None);
        }
        let mut kind = Vec::with_capacity(views.len());
        for (&view, joined) in views.iter().zip(joins) {
            let told_apart = match joined {
                Joined::All => 0,
                Joined::Seeing(mask) => self.seeing(view, *mask)?,
                Joined::None => view,
            };
            kind.push(u64::from(self.shape_of[view as usize]) << 32 | u64::from(told_apart));
        }
        Ok(Some(kind.into()))
    }

    /// What a view says of the variables of a mask.
    fn seeing(&mut self, id: ViewId, mask: MaskId) -> Result<ViewId, Halt> {
        if let Some(&known) = self.seeing.get(&(id, mask)) {
            return Ok(known);
        }
        let mut view = self.view(id).clone();
        view.narrow(self.level, mask, &mut self.letters)?;
        let after = self.intern(view)?;
        let (budget, known) = (&self.letters.budget, &self.seeing);
        budget.check_growth(known.len(), known.capacity(), size_of::<(ReadKey, ViewId)>())?;
        self.seeing.insert((id, mask), after);
        Ok(after)
    }

    /// Whether views of some shapes can cover those of others.
    #[inline]
    pub fn may_cover(&self, a: &[u32], b: &[u32]) -> bool {
        let may = |(&a, &b): (&u32, &u32)| {
            a == b || self.shapes[a as usize].may_cover(&self.shapes[b as usize])
        };
        a.iter().zip(b).all(may)
    }

    /// What both of two alike lists of views see, in one.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn join(&mut self, a: &[ViewId], b: &[ViewId]) -> Result<Box<[ViewId]>, Stop> {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| match a == b {
                true => Ok(a),
                false => self.intern(self.view(a).join(self.view(b))),
            })
            .collect()
    }

    /// Whether one view covers another.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn covers(&mut self, a: ViewId, b: ViewId) -> Result<bool, Stop> {
        if a == b {
            return Ok(true);
        }
        if let Some(&known) = self.covers.get(&(a, b)) {
            return Ok(known);
        }
        let (budget, known) = (&self.letters.budget, &self.covers);
        budget.check_growth(
            known.len(),
            known.capacity(),
            size_of::<((ViewId, ViewId), bool)>(),
        )?;
        let (one, other) = (self.view(a), self.view(b));
        budget.work(1 + (one.len() + other.len()) / LONG)?;
        let covers = one.covers(other, &self.letters);
        self.covers.insert((a, b), covers);
        Ok(covers)
    }

    /// Whether each view covers the other in its place.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn all_cover(&mut self, a: &[ViewId], b: &[ViewId]) -> Result<bool, Stop> {
        for (&a, &b) in a.iter().zip(b) {
            if !self.covers(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// About what the views take up, and what is known of them.
    pub fn bytes(&self) -> usize {
        let remembered = self.settled.capacity()
            + self.appended.capacity()
            + self.read.capacity()
            + self.seeing.capacity();
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
    ) -> Result<Rc<[ViewId]>, Stop> {
        let is_newest = self.letters.value(newest, var) == Some(value);
        let key = (id, mask, var, value, is_newest);
        if let Some(known) = self.read.get(&key) {
            return Ok(known.clone());
        }
        let (table, keeps_past) = (&self.letters, self.keeps_past);
        let reader = Reader { level: self.level, table, mask, keeps_past };
        let views = self.view(id).read(&reader, var, value, is_newest)?;
        let ids: Result<Vec<ViewId>, Stop> = views.into_iter().map(|v| self.intern(v)).collect();
        let ids: Rc<[ViewId]> = ids?.into();
        let (budget, known) = (&self.letters.budget, &self.read);
        budget.check_growth(known.len(), known.capacity(), size_of::<(ReadKey, Rc<[ViewId]>)>())?;
        self.read.insert(key, ids.clone());
        Ok(ids)
    }

    /// The view after the newest memory state has changed; `own` is the variable
    /// if it did so by a write that the process reads from now on.
    pub fn append(
        &mut self,
        id: ViewId,
        (old, new): (Letter, Letter),
        own: Option<VarId>,
    ) -> Result<ViewId, Stop> {
        if own.is_none() && old == new {
            return Ok(id);
        }
        let key = (id, old, new, own);
        if let Some(&known) = self.appended.get(&key) {
            return Ok(known);
        }
        let mut view = self.view(id).clone();
        view.append(self.level, &self.letters, (old, new), own)?;
        view.tidy(&self.letters, new);
        let after = self.intern(view)?;
        let (budget, known) = (&self.letters.budget, &self.appended);
        budget.check_growth(known.len(), known.capacity(), size_of::<(ReadKey, ViewId)>())?;
        self.appended.insert(key, after);
        Ok(after)
    }

    /// Narrows the view of a process that has come to a control state.
    pub fn settle(&mut self, id: ViewId, mask: MaskId, newest: Letter) -> Result<ViewId, Halt> {
        let key = (id, mask, newest);
        if let Some(&known) = self.settled.get(&key) {
            return Ok(known);
        }
        let mut view = self.view(id).clone();
        view.narrow(self.level, mask, &mut self.letters)?;
        view.tidy(&self.letters, newest);
        let after = self.intern(view)?;
        let (budget, known) = (&self.letters.budget, &self.settled);
        budget.check_growth(known.len(), known.capacity(), size_of::<(ReadKey, ViewId)>())?;
        self.settled.insert(key, after);
        Ok(after)
    }
}
