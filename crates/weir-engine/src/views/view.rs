//! What one process sees: its place in the history of memory states.
//!
//! A view is the word of memory states from the process's present to the newest
//! one (which is not part of the view: the configuration has it), with the last
//! own write to each variable marked in it, as long as the process has not come
//! past it:
//!
//! ```text
//! segments[0]  marks[0]  segments[1]  marks[1]  …  segments[t]  (newest)
//! ```
//!
//! A segment is a set of words over letters (see `subwords`); a mark is one
//! letter that cannot be lost, for it is what the process reads of its variable.
//! At level 1, where a segment does not say which values occurred together, a mark
//! has only the value of its variable. The other values of that memory state are
//! in the segment behind it, or in the newest memory. Otherwise views would differ
//! in values that no read can tell apart.
//!
//! `past` and `stores` are for the weaker models. Under NSW a process may read
//! each variable from before its present: `past` has the values that it may
//! still see there. Under PSO and NSW a write first waits in a buffer of its
//! variable: `stores` has the values in it, of which only the last cannot be
//! lost (Atig et al. 2012, section 6).

use weir_model::answer::ViewParts;
use weir_model::ids::{ValueId, VarId};
use weir_model::limits::{Budget, Stop};

use super::letters::{Halt, Letter, Letters, MaskId};
use super::subwords::{Level, Subwords, is_subset, single, union};

/// What one process sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct View {
    pub segments: Vec<Subwords>,
    pub marks: Vec<Mark>,
    pub past: Vec<(VarId, Subwords)>,
    pub stores: Vec<Stores>,
}

/// The last own write to a variable, as the memory state that it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    pub var: VarId,
    pub letter: Letter,
}

/// The writes to a variable that wait: the last one and what came before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stores {
    pub var: VarId,
    pub older: Subwords,
    pub last: ValueId,
}

/// What views have in common that differ in sets of words only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    marks: Vec<Mark>,
    stores: Vec<(VarId, ValueId)>,
}

impl Shape {
    /// Whether a view of this shape can cover one of another; see [`View::covers`].
    pub fn may_cover(&self, other: &Self) -> bool {
        self.stores == other.stores && self.marks.ends_with(&other.marks)
    }
}

/// Whether nothing is left of a word of one letter. (At higher levels letters
/// are whole, and a process that sees nothing has no words.)
fn is_blank(word: u64, table: &Letters<'_>) -> bool {
    table.level().letters(&[word]).any(|l| table.is_blank(l))
}

/// Whether a word tells something of a variable.
fn is_seen(word: u64, table: &Letters<'_>, var: VarId) -> bool {
    table.level().letters(&[word]).all(|l| table.value(l, var).is_some())
}

/// How a process reads the history.
pub(super) struct Reader<'a> {
    pub level: Level,
    pub table: &'a Letters<'a>,
    /// The variables that matter to it.
    pub mask: MaskId,
    /// Whether it may read from before its present (`r->r`).
    pub keeps_past: bool,
}

impl View {
    /// At the newest memory, nothing under way.
    pub fn newest() -> Self {
        Self { segments: vec![vec![]], ..Self::default() }
    }

    /// Taken apart, for showing to others.
    pub fn parts(&self, level: Level) -> ViewParts {
        ViewParts {
            segments: self.segments.iter().map(|s| level.spelled(s)).collect(),
            marks: self.marks.iter().map(|m| (m.var, m.letter)).collect(),
            past: self.past.iter().map(|(x, values)| (*x, level.spelled(values))).collect(),
            stores: self.stores.iter().map(|s| (s.var, level.spelled(&s.older), s.last)).collect(),
        }
    }

    /// The number of letters and marks in it.
    pub fn len(&self) -> usize {
        let past = self.past.iter().map(|(_, values)| values.len());
        let stores = self.stores.iter().map(|s| s.older.len() + 1);
        let segments = self.segments.iter().map(Vec::len);
        segments.chain(past).chain(stores).sum::<usize>() + self.marks.len()
    }

    /// The writes to a variable that wait.
    pub fn stores_of(&self, var: VarId) -> Option<&Stores> {
        self.stores.iter().find(|s| s.var == var)
    }

    /// A set of bits such that a view covers another only if it has its bits:
    /// a quick way to see that it does not. What is compared in `covers` is
    /// counted from the newest end of the word.
    pub fn sketch(&self, table: &Letters<'_>) -> u128 {
        let bit = |salt: usize, word: u64| {
            let mixed = (word ^ (salt as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            1_u128 << (mixed >> 57)
        };
        let mut all = 0;
        for (i, segment) in self.segments.iter().rev().enumerate() {
            let mark = self.marks.iter().rev().nth(i);
            let here = mark.map_or(&[][..], |m| table.symbols(m.letter));
            all = segment.iter().chain(here).fold(all, |all, &w| all | bit(2 * i, w));
        }
        for (x, values) in &self.past {
            all = values.iter().fold(all, |all, &w| all | bit(2 * x.index() + 1, w));
        }
        all
    }

    /// Whether everything that `other` may still see this one may see as well:
    /// the words of `other` are subwords of those of this view, or of what is
    /// left of them when the process has come past some of its marks.
    pub fn covers(&self, other: &Self, table: &Letters<'_>) -> bool {
        if self == other {
            return true;
        }
        let stores =
            self.stores.len() == other.stores.len()
                && self.stores.iter().zip(&other.stores).all(|(a, b)| {
                    a.var == b.var && a.last == b.last && is_subset(&b.older, &a.older)
                });
        let past = other
            .past
            .iter()
            .all(|(x, theirs)| self.past.iter().any(|(y, ours)| x == y && is_subset(theirs, ours)));
        if !stores || !past || self.marks.len() < other.marks.len() {
            return false;
        }
        let passed = self.marks.len() - other.marks.len();
        self.marks[passed..] == other.marks
            && other.segments[1..]
                .iter()
                .zip(&self.segments[passed + 1..])
                .all(|(theirs, ours)| is_subset(theirs, ours))
            && match passed {
                0 => is_subset(&other.segments[0], &self.segments[0]),
                _ => {
                    // Standing at the last mark passed is one more place to be.
                    let at_mark = table.symbols(self.marks[passed - 1].letter);
                    is_subset(&other.segments[0], &union(&self.segments[passed], at_mark))
                }
            }
    }

    /// All but the sets of words.
    pub fn shape(&self) -> Shape {
        let stores = self.stores.iter().map(|s| (s.var, s.last)).collect();
        Shape { marks: self.marks.clone(), stores }
    }

    /// What both of two alike views see, in one.
    pub fn join(&self, other: &Self) -> Self {
        let mut joined = self.clone();
        for (ours, theirs) in joined.segments.iter_mut().zip(&other.segments) {
            *ours = union(ours, theirs);
        }
        for (ours, theirs) in joined.stores.iter_mut().zip(&other.stores) {
            ours.older = union(&ours.older, &theirs.older);
        }
        for (x, theirs) in &other.past {
            match joined.past.iter_mut().find(|(y, _)| y == x) {
                Some((_, ours)) => *ours = union(ours, theirs),
                None => joined.past.push((*x, theirs.clone())),
            }
        }
        joined.past.sort_unstable_by_key(|(x, _)| *x);
        joined
    }

    /// Narrows what the process sees to a mask.
    pub fn narrow(
        &mut self,
        level: Level,
        mask: MaskId,
        table: &mut Letters<'_>,
    ) -> Result<(), Halt> {
        if table.is_blind(mask) {
            self.segments = vec![vec![]];
            self.marks.clear();
            self.past.clear();
            return Ok(());
        }
        self.past.retain(|(x, _)| table.keeps(mask, *x));
        for segment in &mut self.segments {
            let narrowed = level.map(segment, |l| table.narrow(l, mask))?;
            *segment = narrowed.into_iter().filter(|w| !is_blank(*w, table)).collect();
        }
        for mark in &mut self.marks {
            mark.letter = table.narrow(mark.letter, mask)?;
        }
        for i in (0..self.marks.len()).rev() {
            if !table.keeps(mask, self.marks[i].var) {
                self.unmark(level, table, i)?;
            }
        }
        Ok(())
    }

    /// Makes a mark a letter like any other.
    pub fn unmark(&mut self, level: Level, table: &Letters<'_>, i: usize) -> Result<(), Stop> {
        let mark = self.marks.remove(i);
        let after = self.segments.remove(i + 1);
        let symbols = table.symbols(mark.letter);
        let before = level.concat(&self.segments[i], symbols, &table.budget)?;
        self.segments[i] = level.concat(&before, &after, &table.budget)?;
        Ok(())
    }

    /// Its process writes a variable: nothing older of it counts.
    pub fn overwrite(&mut self, level: Level, table: &Letters<'_>, var: VarId) -> Result<(), Stop> {
        if let Some(i) = self.marks.iter().position(|m| m.var == var) {
            self.unmark(level, table, i)?;
        }
        self.past.retain(|(x, _)| *x != var);
        Ok(())
    }

    /// A write waits in the buffer of its variable. If it is to stay there for
    /// ever, only its own process ever sees it.
    pub fn store(
        &mut self,
        level: Level,
        var: VarId,
        value: ValueId,
        for_ever: bool,
        budget: &Budget,
    ) -> Result<(), Stop> {
        match self.stores.iter_mut().find(|s| s.var == var) {
            Some(stores) => {
                if !for_ever {
                    stores.older = level.push(&stores.older, stores.last.0, budget)?;
                }
                stores.last = value;
            }
            None => {
                self.stores.push(Stores { var, older: vec![], last: value });
                self.stores.sort_unstable_by_key(|s| s.var);
            }
        }
        Ok(())
    }

    /// Removes stuttering: a segment that has only the letter of the newest memory, or of the mark,
    /// that follows it.
    pub fn tidy(&mut self, table: &Letters<'_>, newest: Letter) {
        for i in 0..self.segments.len() {
            let next = self.marks.get(i).map_or(newest, |m| m.letter);
            if is_subset(&self.segments[i], table.symbols(next)) {
                self.segments[i].clear();
            }
        }
        self.past.retain(|(_, values)| !values.is_empty());
    }

    /// A new memory state: the old one becomes a letter of the word.
    pub fn append(
        &mut self,
        level: Level,
        table: &Letters<'_>,
        (old, new): (Letter, Letter),
        own: Option<VarId>,
    ) -> Result<(), Stop> {
        let last = self.segments.len() - 1;
        if own.is_none() && old == new {
            return Ok(());
        }
        // Where the last mark is the newest memory state so far, the mark stands for it.
        let at_mark = self.marks.last().filter(|_| self.segments[last].is_empty());
        let at_mark =
            at_mark.map(|m| m.letter).filter(|&l| l == table.mark(old, self.marks[last - 1].var));
        let symbols = table.symbols(old).iter().copied();
        let symbols: Subwords =
            symbols.filter(|w| at_mark.is_none_or(|l| *w != single(l))).collect();
        self.segments[last] = level.concat(&self.segments[last], &symbols, &table.budget)?;
        if let Some(var) = own {
            if let Some(i) = self.marks.iter().position(|m| m.var == var) {
                self.unmark(level, table, i)?;
            }
            self.marks.push(Mark { var, letter: table.mark(new, var) });
            self.segments.push(vec![]);
        }
        Ok(())
    }

    /// The values that the process may read of a variable; that of the newest memory left out.
    pub fn values(&self, table: &Letters<'_>, var: VarId) -> Vec<ValueId> {
        if let Some(stores) = self.stores_of(var) {
            return vec![stores.last];
        }
        // What lies before an own write to the variable cannot be read any more.
        let own = self.marks.iter().position(|m| m.var == var);
        let first = own.map_or(0, |i| i + 1);
        let marks = self.marks[own.unwrap_or(0)..].iter().map(|m| m.letter);
        let level = table.level();
        let segments = self.segments[first..].iter().flat_map(|s| level.letters(s));
        let past = self.past.iter().filter(|(x, _)| *x == var && own.is_none());
        let past = past.flat_map(|(_, words)| level.letters(words)).map(ValueId);
        segments.chain(marks).filter_map(|l| table.value(l, var)).chain(past).collect()
    }

    /// The views after the process read a value of a variable, none if it
    /// cannot; `is_newest` says whether the newest memory has that value. The
    /// process moves on only as far as it must.
    pub fn read(
        &self,
        reader: &Reader<'_>,
        var: VarId,
        value: ValueId,
        is_newest: bool,
    ) -> Result<Vec<Self>, Stop> {
        let &Reader { level, table, keeps_past, .. } = reader;
        if let Some(stores) = self.stores_of(var) {
            return Ok(if stores.last == value { vec![self.clone()] } else { vec![] });
        }
        let has = |l: Letter| table.value(l, var) == Some(value);
        let mut view = self.clone();
        if let Some(i) = self.marks.iter().position(|m| m.var == var) {
            if has(self.marks[i].letter) {
                return Ok(vec![view]);
            }
            for _ in 0..=i {
                view.pass_mark(reader)?;
            }
            view.forget(var);
        } else if let Some(i) = self.past.iter().position(|(x, _)| *x == var)
            && level.letters(&self.past[i].1).any(|v| v == value.0)
        {
            view.past[i].1 = level.at_letter(&self.past[i].1, value.0, &table.budget)?;
            return Ok(vec![view]);
        }
        loop {
            let mut places: Vec<Letter> =
                level.letters(&view.segments[0]).filter(|l| has(*l)).collect();
            if level.0 == 1 && !places.is_empty() {
                // At level 1 the letters can be seen again in any order.
                return Ok(vec![view]);
            }
            if !places.is_empty() {
                // By their values: their numbers depend on what was met first.
                places.sort_unstable_by(|&a, &b| table.cells(a).cmp(table.cells(b)));
                let moved = |&letter: &Letter| {
                    let mut moved = view.clone();
                    if keeps_past {
                        moved.segments[0] = level.before(&view.segments[0], letter);
                        moved.remember(reader)?;
                        moved.forget(var);
                    }
                    moved.segments[0] =
                        level.at_letter(&view.segments[0], letter, &table.budget)?;
                    Ok(moved)
                };
                return places.iter().map(moved).collect();
            }
            let Some(&mark) = view.marks.first() else { break };
            view.pass_mark(reader)?;
            view.forget(var);
            if level.0 == 1 || has(mark.letter) {
                // It can stand at the mark.
                let here = table.symbols(mark.letter);
                view.segments[0] = level.concat(here, &view.segments[0], &table.budget)?;
            }
            if has(mark.letter) {
                return Ok(vec![view]);
            }
        }
        if !is_newest {
            return Ok(vec![]);
        }
        if keeps_past {
            view.remember(reader)?;
            view.forget(var);
        }
        view.segments = vec![vec![]];
        Ok(vec![view])
    }

    /// Moves the present past the first segment: what was there can still be
    /// read, as past.
    fn remember(&mut self, reader: &Reader<'_>) -> Result<(), Stop> {
        let &Reader { level, table, mask, .. } = reader;
        for x in table.kept(mask) {
            let seen = self.segments[0].iter().copied().filter(|w| is_seen(*w, table, x));
            let seen: Subwords = seen.collect();
            let value = |l| table.value(l, x).map(|v| v.0).ok_or(());
            let values = level.map(&seen, value).unwrap_or_default();
            if values.is_empty() {
                continue;
            }
            match self.past.iter_mut().find(|(y, _)| *y == x) {
                Some((_, past)) => *past = level.concat(past, &values, &table.budget)?,
                None => {
                    self.past.push((x, values));
                    self.past.sort_unstable_by_key(|(x, _)| *x);
                }
            }
        }
        Ok(())
    }

    /// No value of the variable from before the present can be read any more.
    fn forget(&mut self, var: VarId) {
        self.past.retain(|(x, _)| *x != var);
    }

    /// Moves the present to the first mark, whose write reaches memory: from
    /// then on the process cannot see older values of that variable.
    fn pass_mark(&mut self, reader: &Reader<'_>) -> Result<(), Stop> {
        if reader.keeps_past {
            self.remember(reader)?;
            self.forget(self.marks[0].var);
            self.segments[0] = reader.table.symbols(self.marks[0].letter).to_vec();
            self.remember(reader)?;
        }
        self.marks.remove(0);
        self.segments.remove(0);
        Ok(())
    }
}
